/* The CUDA driver API with NVRTC: their words for the shape of backends/module.h.
 * SPDX-License-Identifier: MIT
 */
#include "backends/cuda/cuda.h"

static const char *const rtc_libraries[] = { "libnvrtc.so.13",
					     "libnvrtc.so.12",
					     "libnvrtc.so.11.2",
					     "libnvrtc.so",
					     "$CUDA_HOME/lib64/libnvrtc.so",
					     "$CUDA_HOME/lib/libnvrtc.so.13",
					     "$CUDA_HOME/lib/libnvrtc.so.12",
					     "$CUDA_PATH/lib64/libnvrtc.so",
					     "/usr/local/cuda/lib64/libnvrtc.so",
					     NULL };
static const char *const includes[] = { "$CUDA_HOME/include", "$CUDA_PATH/include", "/usr/local/cuda/include", NULL };
static const char *const extra[] = { "--ptxas-options=-v", NULL };

const heddle_rtc_words heddle_nvrtc_words = {
	.libraries = rtc_libraries,
	.version = "nvrtcVersion",
	.error = "nvrtcGetErrorString",
	.create = "nvrtcCreateProgram",
	.destroy = "nvrtcDestroyProgram",
	.add_name = "nvrtcAddNameExpression",
	.lowered_name = "nvrtcGetLoweredName",
	.compile = "nvrtcCompileProgram",
	.log_size = "nvrtcGetProgramLogSize",
	.log = "nvrtcGetProgramLog",
	.binary_size = "nvrtcGetCUBINSize",
	.binary = "nvrtcGetCUBIN",
	.arch_option = "--gpu-architecture=%s",
	.include = includes,
	.include_option = "--include-path=",
	.extra_option = extra,
	.foreign_option = "--device-as-default-execution-space",
	.bare = true,
};

static const char *const libraries[] = { "$HEDDLE_LIBCUDA", "libcuda.so.1", NULL };

static const struct heddle_module_fault faults[] = {
	{ 700, "bounds" },  /* illegal address */
	{ 716, "bounds" },  /* misaligned address */
	{ 717, "bounds" },  /* invalid address space */
	{ 718, "crash" },   /* invalid program counter */
	{ 702, "timeout" }, /* launch timeout */
	{ 701, "limit" },   /* launch out of resources */
	{ 710, "crash" },   /* device-side assert */
	{ 714, "crash" },   /* hardware stack error */
	{ 715, "crash" },   /* illegal instruction */
	{ 719, "crash" },   /* launch failed */
	{ 1, "limit" },	    /* invalid value: grid, block or shared memory out of range */
	{ 0, NULL },
};

static const heddle_module_words words = {
	.libraries = libraries,
	.compiler = &heddle_nvrtc_words,
	.init = "cuInit",
	.version = "cuDriverGetVersion",
	.count = "cuDeviceGetCount",
	.get = "cuDeviceGet",
	.device_name = "cuDeviceGetName",
	.memory = "cuDeviceTotalMem_v2",
	.attribute = "cuDeviceGetAttribute",
	.retain = "cuDevicePrimaryCtxRetain",
	.release = "cuDevicePrimaryCtxRelease_v2",
	.current = "cuCtxSetCurrent",
	.allocate = "cuMemAlloc_v2",
	.free = "cuMemFree_v2",
	.upload = "cuMemcpyHtoD_v2",
	.download = "cuMemcpyDtoH_v2",
	.fill = "cuMemsetD8_v2",
	.synchronize = "cuCtxSynchronize",
	.load = "cuModuleLoadData",
	.unload = "cuModuleUnload",
	.function = "cuModuleGetFunction",
	.set_attribute = "cuFuncSetAttribute",
	.launch = "cuLaunchKernel",
	.event_create = "cuEventCreate",
	.event_record = "cuEventRecord",
	.event_synchronize = "cuEventSynchronize",
	.event_elapsed = "cuEventElapsedTime",
	.event_destroy = "cuEventDestroy_v2",
	.error_name_by_out = "cuGetErrorName",
	.attribute_threads = 1,
	.attribute_shared = 8,
	.attribute_warp = 10,
	.attribute_shared_optin = 97,
	.attribute_major = 75,
	.attribute_minor = 76,
	.shared_static_limit = 48 << 10,
	.set_attribute_shared = 8,
	.fault = faults,
};

const heddle_driver heddle_driver_cuda = {
	.level = "device",
	.name = "cuda",
	.backend = "cuda",
	.options = "nvrtc",
	.device_only = true,
	.install = "needs an NVIDIA GPU, its driver (libcuda.so.1) and NVRTC of the CUDA toolkit",
	.words = &words,
	HEDDLE_MODULE_FUNCTIONS,
};
