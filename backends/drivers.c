/* The lists of drivers and compilers: a new one is one row here and its file in its backend's folder.
 * SPDX-License-Identifier: MIT
 */
#include "backends/drivers.h"

const heddle_driver *const heddle_drivers[] = {
	&heddle_driver_pocl, &heddle_driver_rusticl, &heddle_driver_oclgrind, &heddle_driver_cuda,
	&heddle_driver_hip,  &heddle_driver_opencl,  NULL,
};

const heddle_compiler *const heddle_compilers[] = {
	&heddle_compiler_nvrtc, &heddle_compiler_clang_amd, &heddle_compiler_hiprtc, &heddle_compiler_spirv, NULL,
};
