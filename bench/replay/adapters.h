/* Loads of kernels that Heddle did not write, from the parameters of public measurements: they test `rate` alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_REPLAY_ADAPTERS_H
#define HEDDLE_REPLAY_ADAPTERS_H

#include "arch/descriptor.h"
#include "cost/load.h"

/* `parameter`: the row's columns before the chips, in the order of the table (product.csv, convolution.csv).  False: this chip cannot run it. */
bool heddle_replay_product(const heddle_descriptor *descriptor, const int *parameter, heddle_load *load);
bool heddle_replay_convolution(const heddle_descriptor *descriptor, const int *parameter, heddle_load *load);

#endif
