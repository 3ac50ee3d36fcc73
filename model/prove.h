/* prove: checks the mapped kernels against the definition's domains and dependences.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_PROVE_H
#define HEDDLE_PROVE_H

#include "model/nest.h"

#endif
