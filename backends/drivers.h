/* Every driver and compiler by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DRIVERS_H
#define HEDDLE_DRIVERS_H

#include "backends/driver.h"

/* X(symbol, name, backend, simulator, slow) for every driver, in the order in which they are tried: a new one is one row here and its
 * file in its backend's folder.  The lists heddle_drivers and heddle_compilers and the harness's runners come from these rows.
 * `slow`: it simulates instructions or compiles a kernel for seconds; `heddle test` takes it where it is named, or --thorough. */
#define HEDDLE_EACH_PROCESSOR_DRIVER(X)   \
	X(pocl, "pocl", "opencl", false, false)      \
	X(rusticl, "rusticl", "opencl", false, true) \
	X(oclgrind, "oclgrind", "opencl", true, true)
#define HEDDLE_EACH_DEVICE_DRIVER(X) \
	X(cuda, "cuda", "cuda", false, false)    \
	X(hip, "hip", "hip", false, false)       \
	X(opencl, "opencl", "opencl", false, false)
/* X(symbol, name, backend) */
#define HEDDLE_EACH_COMPILER(X)         \
	X(nvrtc, "nvrtc", "cuda")         \
	X(clang_amd, "clang-amd", "hip")  \
	X(hiprtc, "hiprtc", "hip")        \
	X(spirv, "spirv", "opencl")

#define HEDDLE_DECLARE_DRIVER(symbol, name, backend, simulator, slow) extern const heddle_driver heddle_driver_##symbol;
#define HEDDLE_DECLARE_COMPILER(symbol, name, backend) extern const heddle_compiler heddle_compiler_##symbol;
HEDDLE_EACH_PROCESSOR_DRIVER(HEDDLE_DECLARE_DRIVER)
HEDDLE_EACH_DEVICE_DRIVER(HEDDLE_DECLARE_DRIVER)
HEDDLE_EACH_COMPILER(HEDDLE_DECLARE_COMPILER)
extern const heddle_driver heddle_driver_opencl_any; /* of heddle_loaders */
#undef HEDDLE_DECLARE_DRIVER
#undef HEDDLE_DECLARE_COMPILER

#endif
