/* What the tensors of a test case contain: values that the definition can take.
 * SPDX-License-Identifier: MIT
 */
#include "harness/cases.h"

#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the uses of an input ask of its values. */
typedef struct demand {
	bool set;
	double low, high;
	bool index; /* low and high come from subscripts: they hold for every fill */
	bool whole; /* asked for by `#: fill A=integers` */
} demand;

typedef struct surveyor {
	heddle_ctx *ctx;
	const heddle_definition *definition;
	const int64_t *size;
	demand *demand; /* [n_tensor] */
	bool impossible;
	bool long_sums; /* so many terms that random signs would leave a sum too small to judge */
} surveyor;

static const heddle_expr *strip_casts(const heddle_expr *x)
{
	while (x->kind == HEDDLE_EXPR_CAST)
		x = x->arg[0];
	return x;
}

static bool is_input_read(const heddle_expr *x)
{
	return x->kind == HEDDLE_EXPR_READ &&
	       (x->tensor->role == HEDDLE_ROLE_INPUT || x->tensor->role == HEDDLE_ROLE_INOUT);
}

static void ask(surveyor *s, const heddle_tensor *tensor, double low, double high)
{
	demand *d = &s->demand[tensor->position];
	if (d->index)
		return;
	if (!d->set) {
		*d = (demand){.set = true, .low = low, .high = high};
	} else if (fmax(d->low, low) <= fmin(d->high, high)) {
		d->low = fmax(d->low, low);
		d->high = fmin(d->high, high);
	}
}

/* All inputs that `x` is a sum, product or maximum of. */
static void ask_through(surveyor *s, const heddle_expr *x, double low, double high)
{
	x = strip_casts(x);
	if (is_input_read(x)) {
		ask(s, x->tensor, low, high);
		return;
	}
	if (x->kind == HEDDLE_EXPR_BINARY && (x->op == HEDDLE_OP_ADD || x->op == HEDDLE_OP_MUL || x->op == HEDDLE_OP_MAX ||
					      x->op == HEDDLE_OP_MIN || x->op == HEDDLE_OP_DIV))
		for (int k = 0; k < 2; ++k)
			ask_through(s, x->arg[k], low, high);
}

/* `subscript` = sign * READ + rest must lie in 0 : extent for every value that `rest` takes. */
static void ask_subscript(surveyor *s, const heddle_expr *x, int64_t extent)
{
	x = strip_casts(x);
	int64_t low = 0, high = 0; /* of rest */
	int sign = 1;
	if (x->kind == HEDDLE_EXPR_BINARY && (x->op == HEDDLE_OP_ADD || x->op == HEDDLE_OP_SUB)) {
		const heddle_expr *a = strip_casts(x->arg[0]), *b = strip_casts(x->arg[1]);
		const heddle_expr *rest = is_input_read(a) ? b : a;
		if (is_input_read(a) == is_input_read(b) || heddle_expr_hull(rest, s->size, &low, &high) < 0)
			return;
		if (x->op == HEDDLE_OP_SUB && rest == b) {
			int64_t t = low;
			low = -high;
			high = -t;
		} else if (x->op == HEDDLE_OP_SUB) {
			sign = -1;
		}
		x = rest == b ? a : b;
	}
	if (!is_input_read(x))
		return;
	/* 0 <= sign * v + r < extent for r in low .. high */
	double from = (double)-low, to = (double)(extent - 1 - high);
	if (sign < 0) {
		double t = from;
		from = -to;
		to = -t;
	}
	demand *d = &s->demand[x->tensor->position];
	if (!d->set || !d->index)
		*d = (demand){.set = true, .index = true, .low = from, .high = to};
	d->low = fmax(d->low, from);
	d->high = fmin(d->high, to);
	if (d->low > d->high)
		s->impossible = true;
}

/* Ranges in which functions of one argument are defined and tame. */
static const struct {
	const char *name;
	double low, high;
} domains[] = {
	{"log", 0.25, 4},     {"log2", 0.25, 4},      {"log10", 0.25, 4},	 {"sqrt", 0.25, 4},	{"rsqrt", 0.25, 4},
	{"pow", 0.25, 2},     {"lgamma", 0.5, 6},     {"tgamma", 0.5, 6},	 {"acosh", 1.125, 4},	{"asin", -0.9, 0.9},
	{"acos", -0.9, 0.9},  {"atanh", -0.9, 0.9},   {"erfinv", -0.9, 0.9}, {"erfcinv", 0.1, 1.9}, {"normcdfinv", 0.05, 0.95},
	{"rcbrt", 0.25, 4},   {"y0", 0.5, 8},	      {"y1", 0.5, 8},	 {"log1p", -0.5, 4},
};

static void survey(surveyor *s, const heddle_expr *x)
{
	if (x->kind == HEDDLE_EXPR_READ)
		for (int d = 0; d < x->n_arg; ++d) {
			int64_t low, high;
			if (heddle_expr_hull(x->tensor->extent[d], s->size, &low, &high) == 0)
				ask_subscript(s, x->arg[d], high);
		}
	if (x->kind == HEDDLE_EXPR_CALL && x->n_arg > 0)
		for (size_t k = 0; k < HEDDLE_COUNT(domains); ++k)
			if (!strcmp(heddle_builtins[x->builtin].name, domains[k].name))
				ask_through(s, x->arg[0], domains[k].low, domains[k].high);
	if (x->kind == HEDDLE_EXPR_CALL && x->n_arg == 2 && !strcmp(heddle_builtins[x->builtin].name, "fdivide"))
		ask_through(s, x->arg[1], 0.5, 2);
	if (x->kind == HEDDLE_EXPR_BINARY) {
		const bool real = heddle_type_is_float(x->type);
		if (x->op == HEDDLE_OP_DIV || x->op == HEDDLE_OP_MOD)
			ask_through(s, x->arg[1], real ? 0.5 : 1, real ? 2 : 9);
		if (x->op == HEDDLE_OP_SHL || x->op == HEDDLE_OP_SHR)
			ask_through(s, x->arg[1], 0, 7);
		/* An integer compared with an index: values that meet it, and one on each side that does not. */
		if (x->op >= HEDDLE_OP_LT && x->op <= HEDDLE_OP_NE)
			for (int k = 0; k < 2; ++k) {
				const heddle_expr *a = strip_casts(x->arg[k]), *b = strip_casts(x->arg[1 - k]);
				int64_t low, high;
				if (is_input_read(a) && !heddle_type_is_float(a->tensor->type) && b->kind != HEDDLE_EXPR_INT &&
				    heddle_expr_hull(b, s->size, &low, &high) == 0 && high >= low)
					ask(s, a->tensor, heddle_type_is_signed(a->tensor->type) ? (double)(low - 1) : (double)low,
					    (double)(high + 1));
			}
	}
	for (int k = 0; k < x->n_arg; ++k)
		survey(s, x->arg[k]);
}

/* "A=0.5:2 B=integers" */
static int apply_fill_line(surveyor *s, heddle_arena *arena, const heddle_pragma *pragma)
{
	char *text = heddle_arena_strdup(arena, pragma->text);
	char *save = NULL;
	for (char *word = strtok_r(text, " ,\t", &save); word; word = strtok_r(NULL, " ,\t", &save)) {
		char *value = strchr(word, '=');
		int found = -1;
		if (value)
			*value++ = 0;
		for (int k = 0; value && k < s->definition->n_tensor; ++k)
			if (!strcmp(s->definition->tensor[k]->name, word))
				found = k;
		if (found < 0)
			return heddle_error(s->ctx, 717, &pragma->location, "'%s' is no TENSOR=CONTENTS of '%s'", word,
					    s->definition->name);
		demand *d = &s->demand[found];
		char *rest;
		if (!strcmp(value, "integers")) {
			*d = (demand){.set = true, .whole = true, .low = -4, .high = 4};
			continue;
		}
		double low = strtod(value, &rest);
		double high = *rest == ':' ? strtod(rest + 1, &rest) : low;
		if (rest == value || *rest || !(low <= high))
			return heddle_error(s->ctx, 717, &pragma->location, "'%s' is neither LOW:HIGH nor integers", value);
		*d = (demand){.set = true, .index = true, .low = low, .high = high};
	}
	return 0;
}

/* Terms of the longest sum of floats. */
static double longest_sum(const heddle_definition *d, const int64_t *size)
{
	double most = 0;
	for (int s = 0; s < d->n_statement; ++s) {
		const heddle_statement *statement = d->statement[s];
		double terms = 1;
		for (int k = 0; k < statement->n_index; ++k) {
			int64_t low, high;
			if (statement->index[k]->reduction && heddle_index_hull(statement->index[k], size, &low, &high) == 0)
				terms *= (double)(high - low + 1);
		}
		if (statement->assign == HEDDLE_ASSIGN_ADD && heddle_type_is_float(statement->target->type) && terms > most)
			most = terms;
	}
	return most;
}

static void fill_array(heddle_array *array, const demand *d, heddle_fill fill, bool long_sums, uint64_t seed)
{
	const bool real = heddle_type_is_float(array->type);
	if (d->set && (d->index || !real) && !d->whole) {
		heddle_array_fill_uniform(array, seed, d->low, d->high);
	} else if (fill == HEDDLE_FILL_INTEGERS || d->whole) {
		if (d->set && d->low >= 0)
			heddle_array_fill_uniform(array, seed, ceil(d->low), ceil(d->low) + 3);
		else
			heddle_array_fill_integers(array, seed, array->type == HEDDLE_BOOL ? 1 : 3);
		if (real) /* uniform gives fractions */
			for (int64_t k = 0, n = heddle_array_count(array); k < n; ++k) {
				int64_t o = heddle_array_offset(array, k);
				heddle_array_set(array, o, roundl(heddle_array_get(array, o)));
			}
	} else if (d->set) {
		heddle_array_fill_uniform(array, seed, d->low, d->high);
	} else if (real && long_sums) {
		heddle_array_fill_uniform(array, seed, -0.25, 1);
	} else {
		heddle_array_fill_random(array, seed);
	}
}

static void survey_statements(surveyor *s)
{
	const heddle_definition *d = s->definition;
	for (int k = 0; k < d->n_statement; ++k) {
		const heddle_statement *statement = d->statement[k];
		survey(s, statement->value);
		for (int j = 0; j < statement->n_lhs; ++j)
			survey(s, statement->lhs[j]);
		if (statement->assign == HEDDLE_ASSIGN_MUL && heddle_type_is_float(statement->value->type))
			ask_through(s, statement->value, 0.8, 1.25); /* products neither vanish nor overflow */
	}
}

bool heddle_case_gathers_fit(const heddle_definition *definition, const int64_t *size)
{
	heddle_arena *arena = heddle_arena_new();
	surveyor s = {.definition = definition, .size = size};
	s.demand = HEDDLE_NEW_ARRAY(arena, demand, definition->n_tensor);
	survey_statements(&s);
	heddle_arena_free(arena);
	return !s.impossible;
}

static int survey_definition(surveyor *s, heddle_arena *arena, const heddle_module *module)
{
	const heddle_definition *d = s->definition;
	survey_statements(s);
	int at = 0;
	for (const heddle_pragma *pragma; (pragma = heddle_pragma_next(module, d, "fill", &at));)
		if (apply_fill_line(s, arena, pragma) < 0)
			return -1;
	if (s->impossible)
		return heddle_error(s->ctx, 716, &d->location, "no index values keep the gathers of '%s' inside their tensors",
				    d->name);
	return 0;
}

/* Bytes of a tensor with its strides, INT64_MAX: more than can be; -1 with a diagnostic where it has no shape. */
static int64_t tensor_bytes(heddle_ctx *ctx, const heddle_tensor *t, const int64_t *size)
{
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK], dense = heddle_type_size(t->type), last = 0, step;
	if (t->rank > HEDDLE_MAX_RANK || heddle_tensor_shape(t, size, shape) < 0)
		return heddle_error(ctx, 714, &t->location, "the shape of '%s' cannot be computed for these sizes", t->name);
	for (int d = 0; d < t->rank; d++)
		if (__builtin_mul_overflow(dense, shape[d], &dense))
			return INT64_MAX;
	if (heddle_tensor_strides(t, size, stride) < 0)
		return heddle_error(ctx, 714, &t->location, "the strides of '%s' cannot be computed for these sizes", t->name);
	for (int d = 0; d < t->rank; d++)
		if (__builtin_mul_overflow(shape[d] ? shape[d] - 1 : 0, stride[d], &step) || __builtin_add_overflow(last, step, &last))
			return INT64_MAX;
	return __builtin_mul_overflow(last + 1, heddle_type_size(t->type), &last) ? INT64_MAX : last;
}

/* Do the tensors fit the memory of this machine three times: as they are given, for the reference and for what is tested?  0, or
 * -1 with a diagnostic. */
static int check_memory(heddle_ctx *ctx, const heddle_definition *definition, const int64_t *size)
{
	const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	double all = 0;
	for (int k = 0; k < definition->n_tensor; ++k) {
		const heddle_tensor *t = definition->tensor[k];
		const int64_t bytes = tensor_bytes(ctx, t, size);
		if (bytes < 0)
			return -1;
		all += 3 * (double)bytes;
		if (all > memory)
			return heddle_error(ctx, 620, &t->location, "'%s' is too large for the memory here", t->name);
	}
	return 0;
}

int heddle_case_arrays(heddle_ctx *ctx, const heddle_module *module, const heddle_definition *definition,
		       const int64_t *size, heddle_fill fill, uint64_t seed, heddle_array **array)
{
	heddle_arena *arena = heddle_arena_new();
	surveyor s = {.ctx = ctx, .definition = definition, .size = size};
	s.demand = HEDDLE_NEW_ARRAY(arena, demand, definition->n_tensor);
	s.long_sums = longest_sum(definition, size) > 1000;
	for (int k = 0; k < definition->n_tensor; ++k)
		array[k] = NULL;
	int rc = check_memory(ctx, definition, size);
	if (rc == 0)
		rc = survey_definition(&s, arena, module);
	for (int k = 0; k < definition->n_tensor && rc == 0; ++k) {
		const heddle_tensor *t = definition->tensor[k];
		if (t->role == HEDDLE_ROLE_TEMPORARY)
			continue;
		array[k] = heddle_tensor_array(t, size);
		if (!array[k]) {
			rc = heddle_error(ctx, 714, &t->location, "the shape of '%s' cannot be computed for these sizes", t->name);
			break;
		}
		if (t->role != HEDDLE_ROLE_OUTPUT)
			fill_array(array[k], &s.demand[k], fill, s.long_sums, heddle_random(seed, (uint64_t)k));
	}
	heddle_arena_free(arena);
	if (rc < 0)
		heddle_case_arrays_free(definition, array);
	return rc;
}

void heddle_case_arrays_free(const heddle_definition *definition, heddle_array **array)
{
	for (int k = 0; k < definition->n_tensor; ++k)
		array[k] = heddle_array_free(array[k]);
}

/* ---- exactness ---------------------------------------------------------------------------------------------------------------- */

static bool exact_expr(const heddle_expr *x)
{
	static const char *const exact_calls[] = {"fabs", "fmax", "fmin",     "floor",	   "ceil",
						  "round", "trunc", "fma",    "copysign",  "fdim", "fmod"};
	if (x->kind == HEDDLE_EXPR_FLOAT && x->f != floor(x->f))
		return false;
	if (x->kind == HEDDLE_EXPR_BINARY && x->op == HEDDLE_OP_DIV && heddle_type_is_float(x->type))
		return false;
	if (x->kind == HEDDLE_EXPR_CALL) {
		bool found = false;
		for (size_t k = 0; k < HEDDLE_COUNT(exact_calls); ++k)
			found = found || !strcmp(heddle_builtins[x->builtin].name, exact_calls[k]);
		if (!found)
			return false;
	}
	for (int k = 0; k < x->n_arg; ++k)
		if (!exact_expr(x->arg[k]))
			return false;
	return true;
}

bool heddle_definition_may_be_exact(const heddle_definition *definition)
{
	for (int s = 0; s < definition->n_statement; ++s)
		if (!exact_expr(definition->statement[s]->value))
			return false;
	return true;
}
