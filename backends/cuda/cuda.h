/* What CUDA's driver and compiler share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H

#include "backends/module.h"

extern const heddle_rtc_words heddle_nvrtc_words;

#endif
