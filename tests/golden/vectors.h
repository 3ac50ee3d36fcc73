/* SPDX-License-Identifier: 0BSD */
#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA and HIP: pointers to device memory; `stream` is a cudaStream_t or hipStream_t.
 *   x: float32(N), input
 *   h: float16(N), input
 *   b: bfloat16(N), input
 *   d: float64(N), input
 *   n: int32(N), input
 *   flag: bool(N), input
 *   y: float32(N), output
 *   yh: float16(N), output
 *   yb: bfloat16(N), output
 *   yn: int32(N), output
 *   yd: float64(N), output
 *   yflag: bool(N), output
 *   N: size, 16 to 100000, a multiple of 16
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef VECTORS_CODES
#define VECTORS_CODES
enum {
	VECTORS_OK = 0, // no error
	VECTORS_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	VECTORS_NULL_POINTER, // a tensor is null
	VECTORS_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	VECTORS_SMALL_WORKSPACE, // the workspace is null or too small
	VECTORS_PRECONDITION, // a precondition does not hold
	VECTORS_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	VECTORS_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t vectors_workspace(int64_t N);
int vectors(const void *x, const void *h, const void *b, const void *d, const void *n, const void *flag, void *y,
	void *yh, void *yb, void *yn, void *yd, void *yflag, int64_t N, void *workspace, size_t bytes, void *stream);
const char *vectors_strerror(int code);

/* OpenCL: each tensor is a cl_mem and a byte offset into it; `queue` is an in-order cl_command_queue.
 *   x: float32(N), input
 *   h: float16(N), input
 *   b: bfloat16(N), input
 *   d: float64(N), input
 *   n: int32(N), input
 *   flag: bool(N), input
 *   y: float32(N), output
 *   yh: float16(N), output
 *   yb: bfloat16(N), output
 *   yn: int32(N), output
 *   yd: float64(N), output
 *   yflag: bool(N), output
 *   N: size, 16 to 100000, a multiple of 16
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef VECTORS_OPENCL_CODES
#define VECTORS_OPENCL_CODES
enum {
	VECTORS_OPENCL_OK = 0, // no error
	VECTORS_OPENCL_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	VECTORS_OPENCL_NULL_POINTER, // a tensor is null
	VECTORS_OPENCL_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	VECTORS_OPENCL_SMALL_WORKSPACE, // the workspace is null or too small
	VECTORS_OPENCL_PRECONDITION, // a precondition does not hold
	VECTORS_OPENCL_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	VECTORS_OPENCL_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t vectors_opencl_workspace(int64_t N);
int vectors_opencl(void *x, size_t x_offset, void *h, size_t h_offset, void *b, size_t b_offset, void *d,
	size_t d_offset, void *n, size_t n_offset, void *flag, size_t flag_offset, void *y, size_t y_offset,
	void *yh, size_t yh_offset, void *yb, size_t yb_offset, void *yn, size_t yn_offset, void *yd,
	size_t yd_offset, void *yflag, size_t yflag_offset, int64_t N, void *workspace, size_t workspace_offset,
	size_t bytes, void *queue);
const char *vectors_opencl_strerror(int code);
void vectors_opencl_release(void);

#ifdef __cplusplus
}
#endif
#endif
