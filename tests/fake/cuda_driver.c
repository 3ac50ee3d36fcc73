/* A stand-in for libcuda.so.1 that a test opens in its place: the calls, their order, arguments and errors are those of the
 * driver API, "kernels" are host functions found by name.  It shows that Heddle's driver code calls the API rightly; it says
 * nothing about kernels.
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700 };

/* A test double keeps the state that the device would. */
static int initialized, current, failed;
static int big_shared[8];

#define READY                                                                                                          \
	if (!initialized || !current)                                                                                  \
	return !initialized ? NOT_INITIALIZED : INVALID_CONTEXT

int cuInit(unsigned flags) { initialized = flags == 0; return flags ? INVALID_VALUE : 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return initialized ? 0 : NOT_INITIALIZED; }
int cuDeviceGet(int *device, int number) { *device = number; return number ? INVALID_VALUE : 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, getenv("HEDDLE_STAND_IN") ? getenv("HEDDLE_STAND_IN") : "Stand-in", (size_t)size); return device; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 1u << 30; return device; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	switch (attribute) {
	case 1: *value = 1024; return device;
	case 8: *value = 48 << 10; return device;
	case 97: *value = 227 << 10; return device;
	case 10: *value = 32; return device;
	case 75: *value = 9; return device;
	case 76: *value = 0; return device;
	default: return INVALID_VALUE;
	}
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &current; return device; }
int cuDevicePrimaryCtxRelease_v2(int device) { current = 0; return device; }
int cuCtxSetCurrent(void *context) { current = context == &current; return current ? 0 : INVALID_CONTEXT; }
int cuCtxSynchronize(void) { READY; return failed; }
int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	READY;
	*address = (uint64_t)(uintptr_t)malloc(bytes);
	return bytes == 0 ? INVALID_VALUE : *address ? 0 : OUT_OF_MEMORY;
}
int cuMemFree_v2(uint64_t address) { free((void *)(uintptr_t)address); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { READY; memcpy((void *)(uintptr_t)to, from, n); return failed; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { READY; memcpy(to, (void *)(uintptr_t)from, n); return failed; }
int cuMemsetD8_v2(uint64_t to, unsigned char byte, size_t n) { READY; memset((void *)(uintptr_t)to, byte, n); return failed; }

int cuModuleLoadData(void **module, const void *image)
{
	const unsigned char *elf = image;
	READY;
	*module = &big_shared;
	return memcmp(elf, "\177ELF", 4) == 0 && elf[18] == 190 ? 0 : INVALID_IMAGE;
}
int cuModuleUnload(void *module) { return module != &big_shared; }

static const char *const names[] = { "scale", "add", "outside", "fault", "big" };
int cuModuleGetFunction(void **function, void *module, const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0) {
			*function = &big_shared[i];
			return module != &big_shared;
		}
	return NOT_FOUND;
}
int cuFuncSetAttribute(void *function, int attribute, int value)
{
	*(int *)function = value;
	return attribute == 8 ? 0 : INVALID_VALUE;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameter, void **extra)
{
	READY;
	size_t which = (size_t)((int *)function - big_shared);
	if (shared > 48u << 10 && big_shared[which] < (int)shared)
		return INVALID_VALUE;
	if (!gx || !gy || !gz || bx * by * bz > 1024 || stream || extra)
		return INVALID_VALUE;
	for (int i = 0; i < (int)(gx * bx); i++) {
		if (which == 0 && i < *(int *)parameter[3])
			(*(float **)parameter[1])[i] = (*(float **)parameter[0])[i] * *(float *)parameter[2];
		if (which == 1 && i < *(int *)parameter[3])
			(*(float **)parameter[2])[i] = (*(float **)parameter[0])[i] + (*(float **)parameter[1])[i];
		if (which == 2)
			(*(float **)parameter[1])[i] = 1;
	}
	failed = which == 3 ? ILLEGAL_ADDRESS : 0;
	return 0;
}

int cuEventCreate(void **event, unsigned flags) { *event = malloc(sizeof(struct timespec)); return (int)flags; }
int cuEventRecord(void *event, void *stream) { clock_gettime(CLOCK_MONOTONIC, event); return stream != NULL; }
int cuEventSynchronize(void *event) { return event == NULL; }
int cuEventElapsedTime(float *milliseconds, void *begin, void *end)
{
	const struct timespec *a = begin, *b = end;
	*milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
	return 0;
}
int cuEventDestroy_v2(void *event) { free(event); return 0; }
int cuGetErrorName(int error, const char **name)
{
	*name = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
	return 0;
}
