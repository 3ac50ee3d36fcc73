/* What emitted CUDA text takes from the vendor's headers, for a clang without them: each function is the library's __nv_ one,
 * as in the vendor's compiler (calls.sh compares the two).
 * SPDX-License-Identifier: MIT
 */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define HEDDLE_LIBRARY extern "C" __device__ __attribute__((const))
#define HEDDLE_HERE static __device__ inline __attribute__((always_inline))

#define threadIdx heddle_thread_place()
#define blockIdx heddle_block_place()
struct heddle_x { int x; };
HEDDLE_HERE heddle_x heddle_thread_place() { return {(int)__nvvm_read_ptx_sreg_tid_x()}; }
HEDDLE_HERE heddle_x heddle_block_place() { return {(int)__nvvm_read_ptx_sreg_ctaid_x()}; }

HEDDLE_HERE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
HEDDLE_HERE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
HEDDLE_HERE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }

#define F1(n) \
	HEDDLE_LIBRARY float __nv_##n##f(float); HEDDLE_LIBRARY double __nv_##n(double); \
	HEDDLE_HERE float n##f(float x) { return __nv_##n##f(x); } HEDDLE_HERE double n(double x) { return __nv_##n(x); }
#define F2(n) \
	HEDDLE_LIBRARY float __nv_##n##f(float, float); HEDDLE_LIBRARY double __nv_##n(double, double); \
	HEDDLE_HERE float n##f(float x, float y) { return __nv_##n##f(x, y); } \
	HEDDLE_HERE double n(double x, double y) { return __nv_##n(x, y); }
#define F3(n) \
	HEDDLE_LIBRARY float __nv_##n##f(float, float, float); HEDDLE_LIBRARY double __nv_##n(double, double, double); \
	HEDDLE_HERE float n##f(float x, float y, float z) { return __nv_##n##f(x, y, z); } \
	HEDDLE_HERE double n(double x, double y, double z) { return __nv_##n(x, y, z); }
#define F4(n) \
	HEDDLE_LIBRARY float __nv_##n##f(float, float, float, float); HEDDLE_LIBRARY double __nv_##n(double, double, double, double); \
	HEDDLE_HERE float n##f(float x, float y, float z, float w) { return __nv_##n##f(x, y, z, w); } \
	HEDDLE_HERE double n(double x, double y, double z, double w) { return __nv_##n(x, y, z, w); }
F1(acos) F1(acosh) F1(asin) F1(asinh) F1(atan) F1(atanh) F1(cbrt) F1(ceil) F1(cos) F1(cosh) F1(cospi) F1(cyl_bessel_i0)
F1(cyl_bessel_i1) F1(erf) F1(erfc) F1(erfcinv) F1(erfcx) F1(erfinv) F1(exp) F1(exp10) F1(exp2) F1(expm1) F1(fabs) F1(floor)
F1(j0) F1(j1) F1(lgamma) F1(log) F1(log10) F1(log1p) F1(log2) F1(logb) F1(normcdf) F1(normcdfinv) F1(rcbrt) F1(round)
F1(rsqrt) F1(sin) F1(sinh) F1(sinpi) F1(sqrt) F1(tan) F1(tanh) F1(tgamma) F1(trunc) F1(y0) F1(y1)
F2(atan2) F2(copysign) F2(fdim) F2(fmax) F2(fmin) F2(fmod) F2(hypot) F2(nextafter) F2(pow) F2(remainder) F2(rhypot)
F3(fma) F3(norm3d) F3(rnorm3d) F4(norm4d) F4(rnorm4d)
