/* The HIP runtime with hiprtc: their words for the shape of backends/module.h.
 * SPDX-License-Identifier: MIT
 */
#include "backends/hip/hip.h"

/* Before 5.3 the compiler was a part of the runtime's library. */
static const char *const rtc_libraries[] = { "libhiprtc.so.7",
					     "libhiprtc.so.6",
					     "libhiprtc.so.5",
					     "libhiprtc.so",
					     "$ROCM_PATH/lib/libhiprtc.so",
					     "/opt/rocm/lib/libhiprtc.so",
					     "libamdhip64.so.5",
					     "libamdhip64.so",
					     NULL };

const heddle_rtc_words heddle_hiprtc_words = {
	.libraries = rtc_libraries,
	.version = "hiprtcVersion",
	.error = "hiprtcGetErrorString",
	.create = "hiprtcCreateProgram",
	.destroy = "hiprtcDestroyProgram",
	.add_name = "hiprtcAddNameExpression",
	.lowered_name = "hiprtcGetLoweredName",
	.compile = "hiprtcCompileProgram",
	.log_size = "hiprtcGetProgramLogSize",
	.log = "hiprtcGetProgramLog",
	.binary_size = "hiprtcGetCodeSize",
	.binary = "hiprtcGetCode",
	.arch_option = "--offload-arch=%s",
};

static const char *const libraries[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
					 "$ROCM_PATH/lib/libamdhip64.so", "/opt/rocm/lib/libamdhip64.so", NULL };

static const struct heddle_module_fault faults[] = {
	{ 700, "bounds" }, /* illegal address */
	{ 701, "limit" },  /* launch out of resources */
	{ 702, "timeout" },
	{ 710, "crash" }, /* assert */
	{ 719, "crash" }, /* launch failure */
	{ 1, "limit" },	  /* invalid value */
	{ 9, "limit" },	  /* invalid configuration */
	{ 0, NULL },
};

static const heddle_module_words words = {
	.libraries = libraries,
	.compiler = &heddle_hiprtc_words,
	.init = "hipInit",
	.version = "hipRuntimeGetVersion",
	.count = "hipGetDeviceCount",
	.get = "hipDeviceGet",
	.device_name = "hipDeviceGetName",
	.memory = "hipDeviceTotalMem",
	.attribute = "hipDeviceGetAttribute",
	.select = "hipSetDevice",
	.properties = "hipGetDeviceProperties",
	.allocate = "hipMalloc",
	.free = "hipFree",
	.upload = "hipMemcpyHtoD",
	.download = "hipMemcpyDtoH",
	.fill = "hipMemsetD8",
	.synchronize = "hipDeviceSynchronize",
	.load = "hipModuleLoadData",
	.unload = "hipModuleUnload",
	.function = "hipModuleGetFunction",
	.launch = "hipModuleLaunchKernel",
	.event_create = "hipEventCreateWithFlags",
	.event_record = "hipEventRecord",
	.event_synchronize = "hipEventSynchronize",
	.event_elapsed = "hipEventElapsedTime",
	.event_destroy = "hipEventDestroy",
	.error_name = "hipGetErrorName",
	/* The numbers of the attributes have changed between major versions: not asked. */
	.attribute_threads = -1,
	.attribute_shared = -1,
	.attribute_warp = -1,
	.attribute_shared_optin = -1,
	.attribute_major = -1,
	.attribute_minor = -1,
	.fault = faults,
};

const heddle_driver heddle_driver_hip = {
	.level = "device",
	.name = "hip",
	.backend = "hip",
	.options = "hipcc",
	.device_only = true,
	.install = "needs an AMD GPU, its kernel driver (/dev/kfd) and ROCm's libamdhip64 and libhiprtc",
	.words = &words,
	HEDDLE_MODULE_FUNCTIONS,
};
