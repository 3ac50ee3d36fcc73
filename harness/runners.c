/* The list of ways to run or compile a source, from the rows of the backends.
 * SPDX-License-Identifier: MIT
 */
#include "backends/drivers.h"
#include "harness/command.h"
#include "harness/compile_level.h"
#include "harness/device.h"
#include "harness/emulate.h"
#include "harness/level.h"

#define EMULATED(its_backend)                                                                                  \
	static const heddle_runner emulate_##its_backend = { .level = "emulate", .name = "emulator", .backend = #its_backend, \
							     .available = heddle_emulate_available, .run = heddle_emulate_run, \
							     .grace = 120 };

/* A runner of the generic device code with one driver. */
#define ON_DRIVER(its_level, driver, its_name, its_backend, is_simulator, is_slow, its_hold)                           \
	static int driver##_available(heddle_ctx *ctx, const char **why)                                               \
	{                                                                                                              \
		return heddle_device_available(ctx, &heddle_driver_##driver, why);                                     \
	}                                                                                                              \
	static int driver##_run(heddle_ctx *ctx, heddle_run *run)                                                      \
	{                                                                                                              \
		return heddle_device_run(ctx, &heddle_driver_##driver, run);                                           \
	}                                                                                                              \
	static const heddle_runner runner_##driver = { its_level, its_name, its_backend, driver##_available, driver##_run,     \
						       false, is_simulator, is_slow, its_hold, 0 };
#define ON_PROCESSOR(driver, its_name, its_backend, is_simulator, is_slow) \
	ON_DRIVER("opencl-cpu", driver, its_name, its_backend, is_simulator, is_slow, NULL)
#define ON_DEVICE(driver, its_name, its_backend, is_simulator, is_slow)                 \
	static int driver##_hold(heddle_ctx *ctx)                                       \
	{                                                                               \
		return heddle_device_hold(ctx, &heddle_driver_##driver);                \
	}                                                                               \
	ON_DRIVER("device", driver, its_name, its_backend, is_simulator, is_slow, driver##_hold)

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
	static const heddle_runner compiler_##compiler = { "compile", its_name, its_backend, compiler##_available, compiler##_run, false, false, false, NULL, 0 };

HEDDLE_EACH_EMULATED(EMULATED)
HEDDLE_EACH_PROCESSOR_DRIVER(ON_PROCESSOR)
HEDDLE_EACH_DEVICE_DRIVER(ON_DEVICE)
HEDDLE_EACH_COMPILER(ON_COMPILER)

/* Whether there is a command depends on the manifest's descriptor: the run says it. */
static int command_available(heddle_ctx *ctx, const char **why)
{
	(void)ctx;
	(void)why;
	return 1;
}

static const heddle_runner compiler_command = { "compile", "command", "*", command_available, heddle_command_compile, true, false, false, NULL, 0 };
static const heddle_runner runner_command = { "device", "command", "*", command_available, heddle_command_run, true, false, false, NULL, 0 };

#define EMULATED_ROW(backend) &emulate_##backend,
#define DRIVER_ROW(driver, name, backend, simulator, slow) &runner_##driver,
#define COMPILER_ROW(compiler, name, backend) &compiler_##compiler,

const heddle_runner *const heddle_runners[] = {
	HEDDLE_EACH_EMULATED(EMULATED_ROW)
	HEDDLE_EACH_PROCESSOR_DRIVER(DRIVER_ROW)
	HEDDLE_EACH_COMPILER(COMPILER_ROW)
	&compiler_command,
	HEDDLE_EACH_DEVICE_DRIVER(DRIVER_ROW)
	&runner_command,
	NULL,
};
