/* SPDX-License-Identifier: 0BSD */
#ifndef KINDS_H
#define KINDS_H

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
 *   i8: int8(N), input
 *   u16: uint16(N), input
 *   i32: int32(N), input
 *   i64: int64(N), input
 *   flag: bool(N), input
 *   eps: float32, scalar, by value
 *   half: float16, scalar, by value
 *   on: bool, scalar, by value
 *   y: float32(N), output
 *   yh: float16(N), output
 *   yb: bfloat16(N), output
 *   yi: int32(N), output
 *   yi8: int8(N), output
 *   yu16: uint16(N), output
 *   yl: int64(N), output
 *   yflag: bool(N), output
 *   yd: float64(N), output
 *   N: size, 0 to 1000000, a multiple of 4
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef KINDS_CODES
#define KINDS_CODES
enum {
	KINDS_OK = 0, // no error
	KINDS_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	KINDS_NULL_POINTER, // a tensor is null
	KINDS_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	KINDS_SMALL_WORKSPACE, // the workspace is null or too small
	KINDS_PRECONDITION, // a precondition does not hold
	KINDS_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	KINDS_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t kinds_workspace(int64_t N);
int kinds(const void *x, const void *h, const void *b, const void *d, const void *i8, const void *u16,
	const void *i32, const void *i64, const void *flag, void *y, void *yh, void *yb, void *yi, void *yi8,
	void *yu16, void *yl, void *yflag, void *yd, float eps, uint16_t half, uint8_t on, int64_t N,
	void *workspace, size_t bytes, void *stream);
const char *kinds_strerror(int code);

/* OpenCL: each tensor is a cl_mem and a byte offset into it; `queue` is an in-order cl_command_queue.
 *   x: float32(N), input
 *   h: float16(N), input
 *   b: bfloat16(N), input
 *   d: float64(N), input
 *   i8: int8(N), input
 *   u16: uint16(N), input
 *   i32: int32(N), input
 *   i64: int64(N), input
 *   flag: bool(N), input
 *   eps: float32, scalar, by value
 *   half_: float16, scalar, by value
 *   on: bool, scalar, by value
 *   y: float32(N), output
 *   yh: float16(N), output
 *   yb: bfloat16(N), output
 *   yi: int32(N), output
 *   yi8: int8(N), output
 *   yu16: uint16(N), output
 *   yl: int64(N), output
 *   yflag: bool(N), output
 *   yd: float64(N), output
 *   N: size, 0 to 1000000, a multiple of 4
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef KINDS_OPENCL_CODES
#define KINDS_OPENCL_CODES
enum {
	KINDS_OPENCL_OK = 0, // no error
	KINDS_OPENCL_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	KINDS_OPENCL_NULL_POINTER, // a tensor is null
	KINDS_OPENCL_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	KINDS_OPENCL_SMALL_WORKSPACE, // the workspace is null or too small
	KINDS_OPENCL_PRECONDITION, // a precondition does not hold
	KINDS_OPENCL_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	KINDS_OPENCL_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t kinds_opencl_workspace(int64_t N);
int kinds_opencl(void *x, size_t x_offset, void *h, size_t h_offset, void *b, size_t b_offset, void *d,
	size_t d_offset, void *i8, size_t i8_offset, void *u16, size_t u16_offset, void *i32, size_t i32_offset,
	void *i64, size_t i64_offset, void *flag, size_t flag_offset, void *y, size_t y_offset, void *yh,
	size_t yh_offset, void *yb, size_t yb_offset, void *yi, size_t yi_offset, void *yi8, size_t yi8_offset,
	void *yu16, size_t yu16_offset, void *yl, size_t yl_offset, void *yflag, size_t yflag_offset, void *yd,
	size_t yd_offset, float eps, uint16_t half_, uint8_t on, int64_t N, void *workspace, size_t workspace_offset,
	size_t bytes, void *queue);
const char *kinds_opencl_strerror(int code);
void kinds_opencl_release(void);

#ifdef __cplusplus
}
#endif
#endif
