/* The lists of drivers and compilers, from the rows of drivers.h.
 * SPDX-License-Identifier: MIT
 */
#include "backends/drivers.h"

#define DRIVER(symbol, name, backend, simulator, slow) &heddle_driver_##symbol,
#define COMPILER(symbol, name, backend) &heddle_compiler_##symbol,

const heddle_driver *const heddle_drivers[] = {HEDDLE_EACH_PROCESSOR_DRIVER(DRIVER) HEDDLE_EACH_DEVICE_DRIVER(DRIVER) NULL};
const heddle_compiler *const heddle_compilers[] = {HEDDLE_EACH_COMPILER(COMPILER) NULL};

const heddle_driver *const heddle_loaders[] = {&heddle_driver_opencl_any, NULL};
