/* SPDX-License-Identifier: 0BSD */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA and HIP: pointers to device memory; `stream` is a cudaStream_t or hipStream_t.
 *   A: float32(M, K), input
 *   B: float32(K, 64), input
 *   C: float32(M, 64), output
 *   alpha: float32, scalar, by value
 *   M: size, 1 to 8192
 *   K: size, 16 to 4096, a multiple of 16
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef PRODUCT_CODES
#define PRODUCT_CODES
enum {
	PRODUCT_OK = 0, // no error
	PRODUCT_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	PRODUCT_NULL_POINTER, // a tensor is null
	PRODUCT_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	PRODUCT_SMALL_WORKSPACE, // the workspace is null or too small
	PRODUCT_PRECONDITION, // a precondition does not hold
	PRODUCT_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	PRODUCT_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t product_workspace(int64_t M, int64_t K);
int product(const void *A, const void *B, void *C, float alpha, int64_t M, int64_t K, void *workspace, size_t bytes,
	void *stream);
const char *product_strerror(int code);

/* OpenCL: each tensor is a cl_mem and a byte offset into it; `queue` is an in-order cl_command_queue.
 *   A: float32(M, K), input
 *   B: float32(K, 64), input
 *   C: float32(M, 64), output
 *   alpha: float32, scalar, by value
 *   M: size, 1 to 8192
 *   K: size, 16 to 4096, a multiple of 16
 * NAME_workspace gives the bytes that `workspace` must have.  0, or a code for NAME_strerror. */
#ifndef PRODUCT_OPENCL_CODES
#define PRODUCT_OPENCL_CODES
enum {
	PRODUCT_OPENCL_OK = 0, // no error
	PRODUCT_OPENCL_BAD_SIZE, // a size is outside its range or not a multiple of its divisor
	PRODUCT_OPENCL_NULL_POINTER, // a tensor is null
	PRODUCT_OPENCL_MISALIGNED, // a tensor or the workspace is not aligned as the manifest asks
	PRODUCT_OPENCL_SMALL_WORKSPACE, // the workspace is null or too small
	PRODUCT_OPENCL_PRECONDITION, // a precondition does not hold
	PRODUCT_OPENCL_TOO_MANY_BLOCKS, // a grid has more blocks than the device takes
	PRODUCT_OPENCL_VENDOR = 1000, // and above: the vendor's own code is what is left
};
#endif
size_t product_opencl_workspace(int64_t M, int64_t K);
int product_opencl(void *A, size_t A_offset, void *B, size_t B_offset, void *C, size_t C_offset, float alpha,
	int64_t M, int64_t K, void *workspace, size_t workspace_offset, size_t bytes, void *queue);
const char *product_opencl_strerror(int code);
void product_opencl_release(void);

#ifdef __cplusplus
}
#endif
#endif
