/* A result against the reference: bounds, NaN, poison, guards.
 * SPDX-License-Identifier: MIT
 */
#include "harness/compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *heddle_element_name(heddle_arena *arena, const char *name, const heddle_array *array, int64_t number)
{
	int64_t subscript[HEDDLE_MAX_RANK];
	heddle_text text = { 0 };
	heddle_array_subscript(array, number, subscript);
	heddle_text_add(&text, name);
	for (int d = 0; d < array->rank; ++d)
		heddle_text_printf(&text, "%s%lld", d ? "," : "[", (long long)subscript[d]);
	if (array->rank)
		heddle_text_add(&text, "]");
	const char *out = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return out;
}

static void print_value(heddle_text *text, heddle_type type, long double value, int64_t integer)
{
	if (heddle_type_is_float(type))
		heddle_text_printf(text, "%.*Lg", type == HEDDLE_FLOAT64 ? 17 : 9, value);
	else if (type == HEDDLE_UINT64)
		heddle_text_printf(text, "%llu", (unsigned long long)integer);
	else
		heddle_text_printf(text, "%lld", (long long)integer);
}

/* How far `got` lies outside: 0 inside, else |difference| / bound or infinity.  `*ratio` in any case. */
static bool judge(const heddle_expected *x, int64_t k, const heddle_array *result, int64_t offset, double *ratio)
{
	const double bound = x->error[k];
	double difference;
	if (x->value) {
		const long double wanted = x->value[k], got = heddle_array_get(result, offset);
		if (isinf(bound)) {
			const bool written = !heddle_array_is_poison(result, offset);
			*ratio = written ? 0 : INFINITY;
			return written;
		}
		if (isnan(wanted) || isnan(got)) {
			bool same = isnan(wanted) && isnan(got) && !heddle_array_is_poison(result, offset);
			*ratio = same ? 0 : INFINITY;
			return same;
		}
		if (isinf(wanted) || isinf(got)) {
			*ratio = wanted == got ? 0 : INFINITY;
			return wanted == got;
		}
		difference = (double)fabsl(got - wanted);
	} else {
		const int64_t wanted = x->integer[k], got = heddle_array_get_int(result, offset);
		if (result->type == HEDDLE_BOOL && got != 0 && got != 1) {
			*ratio = INFINITY;
			return false;
		}
		difference = result->type == HEDDLE_UINT64 ? fabs((double)(uint64_t)got - (double)(uint64_t)wanted)
							   : fabs((double)got - (double)wanted);
		if (got != wanted && difference == 0)
			difference = 1; /* apart by less than a double shows */
	}
	*ratio = difference == 0 ? 0 : bound > 0 ? difference / bound : INFINITY;
	return difference <= bound;
}

static double greatest_value(const heddle_expected *x)
{
	double scale = 0;
	for (int64_t k = 0; k < x->n; ++k) {
		double v = x->value ? (double)fabsl(x->value[k])
			   : x->tensor->type == HEDDLE_UINT64 ? (double)(uint64_t)x->integer[k]
							      : fabs((double)x->integer[k]);
		if (v <= DBL_MAX && v > scale)
			scale = v;
	}
	return scale;
}

static void describe_wrong(heddle_arena *arena, const heddle_expected *x, const heddle_array *result, int64_t worst,
			   heddle_comparison *out)
{
	heddle_text text = { 0 };
	const int64_t number = x->element ? x->element[worst] : worst;
	const int64_t offset = heddle_array_offset(result, number);
	heddle_text_printf(&text, "%s ", heddle_element_name(arena, x->tensor->name, result, number));
	if (heddle_array_is_poison(result, offset)) {
		heddle_text_add(&text, "was never written, expected ");
	} else {
		heddle_text_add(&text, "is ");
		print_value(&text, result->type, x->value ? heddle_array_get(result, offset) : 0,
			    x->value ? 0 : heddle_array_get_int(result, offset));
		heddle_text_add(&text, ", expected ");
	}
	print_value(&text, result->type, x->value ? x->value[worst] : 0, x->value ? 0 : x->integer[worst]);
	if (x->error[worst] > 0)
		heddle_text_printf(&text, " within %.3g", x->error[worst]);
	heddle_text_printf(&text, " (%lld of %lld elements wrong", (long long)out->wrong, (long long)x->n);
	if (x->element)
		heddle_text_printf(&text, " in a sample of %lld", (long long)x->count);
	if (out->untouched)
		heddle_text_printf(&text, ", %lld never written", (long long)out->untouched);
	heddle_text_add(&text, ")");
	out->worst = number;
	out->message = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
}

static const char *describe_guard(heddle_arena *arena, const heddle_expected *x, const heddle_array *result,
				  int64_t distance)
{
	const int64_t size = heddle_type_size(result->type), end = heddle_array_span(result) * size;
	if (distance < 0)
		return heddle_arena_printf(arena, "memory %lld bytes before '%s' was written", (long long)-distance,
					   x->tensor->name);
	if (distance >= end)
		return heddle_arena_printf(arena, "memory %lld bytes past the end of '%s' was written",
					   (long long)(distance - end + 1), x->tensor->name);
	return heddle_arena_printf(arena, "the padding of '%s' was written, at %lld elements from its start", x->tensor->name,
				   (long long)(distance / size));
}

void heddle_compare(heddle_arena *arena, const heddle_expected *x, const heddle_array *result, heddle_comparison *out)
{
	memset(out, 0, sizeof(*out));
	out->worst = -1;
	if (result->type != x->tensor->type || heddle_array_count(result) != x->count) {
		out->message = heddle_arena_printf(arena, "'%s' has the wrong type or length", x->tensor->name);
		return;
	}
	out->scale = greatest_value(x);
	/* Results that are all zero (the variance of one element) are measured by what cancelled; without that, only errors at the edge
	 * of the subnormals are fine. */
	const double widest = out->scale > 0 ? out->scale / 10 : fmax(x->weight / 100, 1e-37);
	int64_t worst = -1, vague = -1;
	double worst_ratio = -1;
	for (int64_t k = 0; k < x->n; ++k) {
		const int64_t offset = heddle_array_offset(result, x->element ? x->element[k] : k);
		if (x->error[k] > widest) {
			if (!x->branch[k]) {
				vague = k;
			} else {
				++out->unchecked;
				continue;
			}
		}
		++out->checked;
		if (x->error[k] > out->bound)
			out->bound = x->error[k];
		double ratio;
		bool fine = judge(x, k, result, offset, &ratio);
		if (fine) {
			out->ratio = fmax(out->ratio, ratio);
			continue;
		}
		++out->wrong;
		out->untouched += heddle_array_is_poison(result, offset);
		if (ratio > worst_ratio) {
			worst_ratio = ratio;
			worst = k;
		}
	}
	int64_t distance;
	if (worst >= 0) {
		out->ratio = worst_ratio;
		describe_wrong(arena, x, result, worst, out);
		return;
	}
	if (!heddle_array_guards_intact(result, &distance)) {
		out->message = describe_guard(arena, x, result, distance);
		return;
	}
	if (vague >= 0 || (out->unchecked > 1 && out->unchecked * 10 > x->n)) {
		out->vacuous = true;
		out->message = vague >= 0
				       ? heddle_arena_printf(arena, "the bound of %s is %.3g where values reach %.3g: choose other inputs",
							     heddle_element_name(arena, x->tensor->name, result,
										 x->element ? x->element[vague] : vague),
							     x->error[vague], out->scale)
				       : heddle_arena_printf(arena,
							     "%lld of %lld elements of '%s' hang on comparisons within their error: "
							     "choose other inputs",
							     (long long)out->unchecked, (long long)x->n, x->tensor->name);
		return;
	}
	out->pass = true;
}

int64_t heddle_compare_bits(const heddle_array *a, const heddle_array *b)
{
	const size_t size = (size_t)heddle_type_size(a->type);
	const int64_t n = heddle_array_count(a);
	for (int64_t k = 0; k < n; ++k)
		if (memcmp(a->data + (size_t)heddle_array_offset(a, k) * size,
			   b->data + (size_t)heddle_array_offset(b, k) * size, size))
			return k;
	return -1;
}
