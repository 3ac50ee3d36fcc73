/* Every driver and compiler by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DRIVERS_H
#define HEDDLE_DRIVERS_H

#include "backends/driver.h"

extern const heddle_driver heddle_driver_cuda;
extern const heddle_driver heddle_driver_hip;
extern const heddle_driver heddle_driver_opencl;   /* GPUs and accelerators */
extern const heddle_driver heddle_driver_opencl_any; /* whatever the loader shows: to be listed, not in heddle_drivers */
extern const heddle_driver heddle_driver_pocl;
extern const heddle_driver heddle_driver_rusticl;
extern const heddle_driver heddle_driver_oclgrind; /* a simulator that checks every access */

extern const heddle_compiler heddle_compiler_nvrtc;
extern const heddle_compiler heddle_compiler_clang_amd;
extern const heddle_compiler heddle_compiler_hiprtc;
extern const heddle_compiler heddle_compiler_spirv;

#endif
