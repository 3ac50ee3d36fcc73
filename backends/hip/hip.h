/* What HIP's driver and compilers share.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_HIP_H
#define HEDDLE_HIP_H

#include "backends/module.h"

extern const heddle_rtc_words heddle_hiprtc_words;

/* Registers, spills, scratch and LDS from the metadata note of a code object (ELF, or ELF in an offload bundle). */
void heddle_amd_resources(heddle_arena *arena, heddle_compiled *out);

#endif
