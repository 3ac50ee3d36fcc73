/* Shared by amd.c and nvidia.c: an approximate instruction as an exact result that is off by as much as its document allows,
 * up or down by a hash of the argument, so that no kind luck is measured.  With HEDDLE_EXACT defined they are rounded correctly:
 * then the library's own errors are measured.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static _Thread_local int heddle_block, heddle_thread;

extern void functions_0(void *, void *, void *, void *, void *);
void heddle_host_call(int block, int thread, void *const *argument);
void heddle_host_call(int block, int thread, void *const *argument)
{
	heddle_block = block;
	heddle_thread = thread;
	functions_0(argument[0], argument[1], argument[2], argument[3], argument[4]);
}

static uint32_t bits_of(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static uint32_t hash(uint64_t bits)
{
	bits *= 0x9E3779B97F4A7C15u;
	bits ^= bits >> 29;
	bits *= 0xBF58476D1CE4E5B9u;
	return (uint32_t)(bits >> 32);
}

static inline float flush(float x)
{
	return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* One of the floats next to `exact` (itself, where it is a float), then up to `more` further away. */
static inline float off_by_ulp(long double exact, float argument, int more)
{
	float near = (float)exact;
#ifdef HEDDLE_EXACT
	(void)argument, (void)more;
	return near;
#endif
	if ((long double)near == exact || !isfinite(near))
		return near;
	uint32_t h = hash(bits_of(argument));
	float low = (long double)near < exact ? near : nextafterf(near, -INFINITY);
	float result = h & 1 ? low : nextafterf(low, INFINITY);
	for (int k = 0; k < more; k++)
		result = nextafterf(result, h & 1 ? -INFINITY : INFINITY);
	return result;
}

/* exact (1 + e), |e| <= relative. */
static inline long double off_by(long double exact, uint64_t argument, double relative)
{
#ifdef HEDDLE_EXACT
	(void)argument, (void)relative;
	return exact;
#endif
	return exact * (1 + (long double)(relative * (((double)(hash(argument) >> 1) * 0x1p-30) - 1)));
}

static inline uint64_t bits_of_double(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}
