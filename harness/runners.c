/* The list of ways to run or compile a source: a new one is one row here.
 * SPDX-License-Identifier: MIT
 */
#include "backends/drivers.h"
#include "harness/command.h"
#include "harness/compile_level.h"
#include "harness/device.h"
#include "harness/emulate.h"
#include "harness/level.h"

/* A runner of the generic device code with one driver. */
#define ON_DRIVER(driver, its_level, its_name, its_backend, is_slow)                                                          \
	static int driver##_available(heddle_ctx *ctx, const char **why)                                               \
	{                                                                                                              \
		return heddle_device_available(ctx, &heddle_driver_##driver, why);                                     \
	}                                                                                                              \
	static int driver##_run(heddle_ctx *ctx, heddle_run *run)                                                      \
	{                                                                                                              \
		return heddle_device_run(ctx, &heddle_driver_##driver, run);                                           \
	}                                                                                                              \
	static const heddle_runner runner_##driver = { its_level, its_name, its_backend, driver##_available, driver##_run, false, is_slow }

/* A runner of the generic compile code with one compiler. */
#define ON_COMPILER(compiler, its_name, its_backend)                                                                   \
	static int compiler##_available(heddle_ctx *ctx, const char **why)                                             \
	{                                                                                                              \
		return heddle_compile_available(ctx, &heddle_compiler_##compiler, why);                                \
	}                                                                                                              \
	static int compiler##_run(heddle_ctx *ctx, heddle_run *run)                                                    \
	{                                                                                                              \
		return heddle_compile_run(ctx, &heddle_compiler_##compiler, run);                                      \
	}                                                                                                              \
	static const heddle_runner runner_##compiler = { "compile", its_name, its_backend, compiler##_available, compiler##_run, false, false }

ON_DRIVER(pocl, "opencl-cpu", "pocl", "opencl", false);
ON_DRIVER(rusticl, "opencl-cpu", "rusticl", "opencl", false);
ON_DRIVER(oclgrind, "opencl-cpu", "oclgrind", "opencl", true);
ON_DRIVER(cuda, "device", "cuda", "cuda", false);
ON_DRIVER(hip, "device", "hip", "hip", false);
ON_DRIVER(opencl, "device", "opencl", "opencl", false);
ON_COMPILER(nvrtc, "nvrtc", "cuda");
ON_COMPILER(clang_amd, "clang-amd", "hip");
ON_COMPILER(hiprtc, "hiprtc", "hip");
ON_COMPILER(spirv, "spirv", "opencl");

/* Whether there is a command depends on the manifest's descriptor: the run says it. */
static int command_available(heddle_ctx *ctx, const char **why)
{
	(void)ctx;
	(void)why;
	return 1;
}

static const heddle_runner compiler_command = { "compile", "command", "*", command_available, heddle_command_compile, true, false };
static const heddle_runner runner_command = { "device", "command", "*", command_available, heddle_command_run, true, false };

const heddle_runner *const heddle_runners[] = {
	&heddle_runner_emulate_cuda,
	&heddle_runner_emulate_hip,
	&runner_pocl,
	&runner_rusticl,
	&runner_oclgrind,
	&runner_nvrtc,
	&runner_clang_amd,
	&runner_hiprtc,
	&runner_spirv,
	&compiler_command,
	&runner_cuda,
	&runner_hip,
	&runner_opencl,
	&runner_command,
	NULL,
};
