/* Makes definitions: statements over a few extents, with reads that fit them or are guarded.
 * SPDX-License-Identifier: MIT
 */
#include "tests/random/random.h"

#include <string.h>

const char *const random_sizes[RANDOM_N_SIZE] = {"N", "M", "K", "L"};

const char *const random_form_names[RANDOM_N_FORM] = {
	"contraction",	"reduction",	"scalar",   "element",	  "guarded read",    "clamped read", "window",
	"stride",	"triangle",	"band",	    "part range", "affine target", "meeting instances", "concatenation", "in place",
	"recurrence",	"inout",	"gather",   "fixed extent", "integer type",  "narrow type",  "double",
	"temporary",	"several outputs", "choice", "function",  "index in value",  "size in value", "prefix",
	"argmin or argmax", "let", "exists", "library", "logic", "cast", "integer division", "shift", "bits", "negation",
	"division", "bool", "bfloat16", "64-bit integer", "scalar input", "dilation", "quotient in subscript", "declared extents",
	"size range", "nested gather", "product", "extremum", "signed quotient in extent", "signed quotient in bound", "call",
	"nested call", "strides", "permuted strides", "named stride", "alignment", "random number",
};

uint64_t random_next(random_stream *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int random_below(random_stream *r, int n)
{
	return (int)(random_next(r) % (uint64_t)n);
}

bool random_percent(random_stream *r, int percent)
{
	return random_below(r, 100) < percent;
}

typedef struct index_plan {
	const char *name;
	const char *extent; /* of the tensors that it runs along */
	const char *lower, *upper;
	const char *written; /* the extent that is written where the range ends earlier, or NULL */
	bool anchored; /* a read gives its range */
	bool stated;   /* needs its `where` */
	bool reduction;
} index_plan;

typedef struct maker {
	heddle_arena *arena;
	random_stream *r;
	random_definition *d;
	uint64_t *forms;
	int n_extent;
	const char *extent[4];
	int n_input;
	int n_index;
	index_plan index[8];
	random_stmt *stmt;
	heddle_type type;   /* of the statement's target */
	bool has_float, has_double; /* among what it reads */
} maker;

static void form(maker *m, random_form f)
{
	*m->forms |= UINT64_C(1) << f;
}

static random_expr *expr(maker *m, random_kind kind, const char *text, int n, random_expr *a, random_expr *b, random_expr *c)
{
	random_expr *e = HEDDLE_NEW(m->arena, random_expr);
	*e = (random_expr){.kind = kind, .text = text, .n_arg = n, .arg = {a, b, c}};
	return e;
}

static random_expr *text(maker *m, const char *s)
{
	return expr(m, RANDOM_TEXT, s, 0, NULL, NULL, NULL);
}

static heddle_type pick_type(maker *m)
{
	static const heddle_type others[] = {HEDDLE_INT32,  HEDDLE_INT32,  HEDDLE_INT8,	  HEDDLE_UINT8,	   HEDDLE_INT16,
					     HEDDLE_UINT16, HEDDLE_UINT32, HEDDLE_INT64,  HEDDLE_UINT64,   HEDDLE_BOOL,
					     HEDDLE_FLOAT64, HEDDLE_FLOAT64, HEDDLE_FLOAT16, HEDDLE_FLOAT16, HEDDLE_BFLOAT16};
	heddle_type type = random_percent(m->r, 60) ? HEDDLE_FLOAT32 : others[random_below(m->r, (int)HEDDLE_COUNT(others))];
	if (type == HEDDLE_BOOL)
		form(m, RANDOM_FORM_BOOL);
	if (type == HEDDLE_BFLOAT16)
		form(m, RANDOM_FORM_BFLOAT16);
	if (type == HEDDLE_INT64 || type == HEDDLE_UINT64)
		form(m, RANDOM_FORM_WIDE);
	if (!heddle_type_is_float(type))
		form(m, RANDOM_FORM_INTEGER);
	if (heddle_type_size(type) < 4)
		form(m, RANDOM_FORM_NARROW);
	if (type == HEDDLE_FLOAT64)
		form(m, RANDOM_FORM_DOUBLE);
	return type;
}

static int new_tensor(maker *m, heddle_type type, bool input)
{
	int t = m->d->n_tensor++;
	m->d->tensor[t] = (random_tensor){.type = type, .input = input};
	m->d->tensor[t].name = heddle_arena_printf(m->arena, "%c%d", input ? 'A' : 't', t);
	m->n_input += input;
	return t;
}

static void note_type(maker *m, heddle_type type)
{
	m->has_float |= heddle_type_is_float(type);
	m->has_double |= type == HEDDLE_FLOAT64;
}

static bool has_room(const maker *m)
{
	return m->n_input < 4 && m->d->n_tensor < RANDOM_MAX_TENSOR - 5;
}

/* A new input along the indices in `want` (bits), in any order; some with windows or strides. */
static random_expr *read_new(maker *m, unsigned want)
{
	int order[8], n = 0;
	for (int i = 0; i < m->n_index; i++)
		if (want >> i & 1 && n < 4)
			order[n++] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = random_below(m->r, i + 1), o = order[i];
		if (random_percent(m->r, 50)) {
			order[i] = order[k];
			order[k] = o;
		}
	}
	int t = new_tensor(m, pick_type(m), true);
	random_tensor *tensor = &m->d->tensor[t];
	random_expr *e = expr(m, RANDOM_READ, NULL, 0, NULL, NULL, NULL);
	e->tensor = t;
	if (!n)
		form(m, RANDOM_FORM_SCALAR_INPUT);
	for (int i = 0; i < n; i++) {
		index_plan *index = &m->index[order[i]];
		int shape = random_below(m->r, 100), d = tensor->rank++;
		tensor->extent[d] = index->extent;
		e->subscript[d] = index->name;
		if (shape < 5) {
			int by = 1 + random_below(m->r, 3);
			tensor->extent[d] = heddle_arena_printf(m->arena, "%s + %d", index->extent, by);
			e->subscript[d] = heddle_arena_printf(m->arena, "%s + %d", index->name, by);
			form(m, RANDOM_FORM_WINDOW);
		} else if (shape < 9) {
			tensor->extent[d] = heddle_arena_printf(m->arena, "2 * (%s)", index->extent);
			e->subscript[d] = heddle_arena_printf(m->arena, "2 * %s + %d", index->name, random_below(m->r, 2));
			form(m, RANDOM_FORM_STRIDE);
			index->stated = true;
		} else if (shape < 12 && i + 1 < n) {
			/* a window over two indices */
			index_plan *other = &m->index[order[++i]];
			tensor->extent[d] = heddle_arena_printf(m->arena, "%s + %s", index->extent, other->extent);
			bool dilated = random_percent(m->r, 30);
			e->subscript[d] = heddle_arena_printf(m->arena, dilated ? "%s + 2 * %s" : "%s + %s", index->name, other->name);
			if (dilated)
				tensor->extent[d] = heddle_arena_printf(m->arena, "%s + 2 * (%s)", index->extent, other->extent);
			form(m, dilated ? RANDOM_FORM_DILATION : RANDOM_FORM_WINDOW);
			index->stated = other->stated = true;
		} else {
			index->anchored = true;
		}
	}
	note_type(m, tensor->type);
	return e;
}

/* An index whose range is that of the extent, or any. */
static int index_along(maker *m, const char *extent)
{
	int start = m->n_index ? random_below(m->r, m->n_index) : 0;
	for (int i = 0; i < m->n_index; i++) {
		int k = (start + i) % m->n_index;
		if (!strcmp(m->index[k].extent, extent))
			return k;
	}
	return -1;
}

static const char *gather(maker *m, const char *fallback)
{
	if (!has_room(m) || !m->n_index)
		return fallback;
	int i = random_below(m->r, m->n_index), t = new_tensor(m, HEDDLE_INT32, true);
	random_tensor *at = &m->d->tensor[t];
	at->rank = 1;
	at->extent[0] = m->index[i].extent;
	at->name = heddle_arena_printf(m->arena, "at%d", t);
	form(m, RANDOM_FORM_GATHER);
	m->index[i].stated = true;
	if (has_room(m) && random_percent(m->r, 25)) {
		int first = new_tensor(m, HEDDLE_INT32, true);
		random_tensor *via = &m->d->tensor[first];
		via->rank = 1;
		via->extent[0] = m->index[i].extent;
		via->name = heddle_arena_printf(m->arena, "at%d", first);
		form(m, RANDOM_FORM_NESTED_GATHER);
		return heddle_arena_printf(m->arena, "%s(%s(%s))", m->d->tensor[t].name, via->name, m->index[i].name);
	}
	return heddle_arena_printf(m->arena, "%s(%s)", at->name, m->index[i].name);
}

/* A read of a tensor that exists, with guards where an index does not run along it. */
static random_expr *read_old(maker *m, int t)
{
	random_tensor *tensor = &m->d->tensor[t];
	random_expr *e = expr(m, RANDOM_READ, NULL, 0, NULL, NULL, NULL);
	heddle_text guard = {0};
	e->tensor = t;
	for (int d = 0; d < tensor->rank; d++) {
		const char *extent = tensor->extent[d];
		int along = index_along(m, extent), how = random_below(m->r, 100);
		index_plan *index = along >= 0 ? &m->index[along] : m->n_index ? &m->index[random_below(m->r, m->n_index)] : NULL;
		if (along >= 0 && how < 70) {
			e->subscript[d] = index->name;
			index->anchored = true;
			continue;
		}
		if (!index || how < 3) {
			e->subscript[d] = how % 2 ? "0" : heddle_arena_printf(m->arena, "%s - 1", extent);
			continue;
		}
		if (how > 90 && tensor->input) {
			e->subscript[d] = gather(m, "0");
			continue;
		}
		static const char *const before[] = {"", "", "2 * ", "2 * ", "", "", "", "3 - ", "(", "3 * "};
		static const char *const after[] = {" + 1", " - 1", "", " - 1", "", " + 2", " / 2", "", " + 1) % 4", " / 2"};
		int shape = random_below(m->r, 10);
		if (shape == 6 || shape > 7)
			form(m, RANDOM_FORM_QUOTIENT);
		const char *at = heddle_arena_printf(m->arena, "%s%s%s", before[shape], index->name, after[shape]);
		if (along >= 0 && random_percent(m->r, 15))
			at = heddle_arena_printf(m->arena, "%s - 1 - %s", extent, index->name);
		index->stated = true;
		if (random_percent(m->r, 20)) {
			e->subscript[d] = heddle_arena_printf(m->arena, "min(max(%s, 0), %s - 1)", at, extent);
			form(m, RANDOM_FORM_CLAMP);
			continue;
		}
		e->subscript[d] = at;
		heddle_text_printf(&guard, "%s%s >= 0 && %s < %s", guard.length ? " && " : "", at, at, extent);
	}
	note_type(m, tensor->type);
	if (guard.length) {
		form(m, RANDOM_FORM_GUARD);
		e = expr(m, RANDOM_SELECT, NULL, 3, text(m, heddle_arena_strdup(m->arena, heddle_text_str(&guard))), e,
			 text(m, random_percent(m->r, 70) ? "0" : "1"));
	}
	heddle_text_free(&guard);
	return e;
}

static unsigned random_subset(maker *m)
{
	unsigned all = (1u << m->n_index) - 1;
	return random_percent(m->r, 50) ? all : (unsigned)random_next(m->r) & all;
}

/* A number that depends on a seed and on a counter, that is on indices. */
static random_expr *random_number(maker *m)
{
	static const char *const seeds[] = {"7", "-1", "0x123456789", "0"};
	index_plan *index = &m->index[random_below(m->r, m->n_index)], *other = &m->index[random_below(m->r, m->n_index)];
	bool bits = !heddle_type_is_float(m->type) && random_percent(m->r, 70);
	int how = random_below(m->r, 5);
	index->stated = true;
	other->stated |= how == 4;
	m->has_float |= !bits;
	form(m, RANDOM_FORM_RANDOM);
	const char *counter = how == 0	 ? index->name
			      : how == 1 ? heddle_arena_printf(m->arena, "3 * %s + 1", index->name)
			      : how == 2 ? heddle_arena_printf(m->arena, "int64(%s) << 33", index->name)
			      : how == 3 ? heddle_arena_printf(m->arena, "%s - 5", index->name)
					 : heddle_arena_printf(m->arena, "%s * 64 + %s", index->name, other->name);
	return expr(m, RANDOM_CALL, bits ? "random_bits" : "random", 2, text(m, seeds[random_below(m->r, 4)]), text(m, counter), NULL);
}

static random_expr *leaf(maker *m)
{
	int how = random_below(m->r, 100), written = 0;
	for (int t = 0; t < m->d->n_tensor; t++)
		written += !m->d->tensor[t].input && m->d->n_stmt && t != m->stmt->target;
	if (how < 4)
		return text(m, heddle_arena_printf(m->arena, "%d", random_below(m->r, 4)));
	if (how < 5)
		return text(m, "0x1F");
	if (how < 6 && !strchr("0123456789", m->extent[0][0])) {
		form(m, RANDOM_FORM_SIZE_VALUE);
		return text(m, m->extent[0]);
	}
	if (m->stmt->n_let && how < 30)
		return text(m, random_percent(m->r, 50) ? "v0" : heddle_arena_printf(m->arena, "v%d", m->stmt->n_let - 1));
	if (how < 10) {
		static const char *const constants[] = {"0.5", "1.25", ".75", "1e-1", "0x1p-1", "3."};
		m->has_float = true;
		return text(m, constants[random_below(m->r, 6)]);
	}
	if (how < 14 && m->n_index) {
		index_plan *index = &m->index[random_below(m->r, m->n_index)];
		form(m, RANDOM_FORM_INDEX_VALUE);
		index->stated = true;
		return text(m, index->name);
	}
	if (how < 17 && m->n_index)
		return random_number(m);
	if (written && how < 60) {
		int t;
		do
			t = random_below(m->r, m->d->n_tensor);
		while (m->d->tensor[t].input || t == m->stmt->target);
		return read_old(m, t);
	}
	if (has_room(m) && (how < 85 || !m->n_input))
		return read_new(m, random_subset(m));
	for (int tries = 0; tries < 8; tries++) {
		int t = random_below(m->r, m->d->n_tensor);
		if (t != m->stmt->target && strncmp(m->d->tensor[t].name, "at", 2))
			return read_old(m, t);
	}
	return text(m, "2");
}

static random_expr *value(maker *m, int depth);
static random_expr *leaf(maker *m);

static random_expr *condition(maker *m, int depth)
{
	static const char *const compare[] = {"<", ">=", ">", "<=", "==", "!="};
	int how = random_below(m->r, 100);
	if (depth > 0 && how < 25) {
		random_expr *a = condition(m, depth - 1);
		form(m, RANDOM_FORM_LOGIC);
		if (how < 5)
			return expr(m, RANDOM_CALL, "!", 1, a, NULL, NULL);
		return expr(m, RANDOM_BINARY, how < 15 ? "&&" : "||", 2, a, condition(m, depth - 1), NULL);
	}
	random_expr *a = value(m, depth > 1 ? 1 : 0);
	/* equality of sums is for whole numbers */
	return expr(m, RANDOM_BINARY, compare[random_below(m->r, m->has_float ? 4 : 6)], 2, a, text(m, how % 3 ? "0" : "1"), NULL);
}

static random_expr *whole_operation(maker *m, random_expr *a, int depth)
{
	static const char *const divisors[] = {"2", "3", "5", "7", "-2", "4"};
	static const char *const bits[] = {"&", "|", "^"};
	int how = random_below(m->r, 100);
	if (how < 45) {
		form(m, RANDOM_FORM_INTEGER_DIVISION);
		return expr(m, RANDOM_BINARY, how % 2 ? "/" : "%", 2, a, text(m, divisors[random_below(m->r, 6)]), NULL);
	}
	if (how < 65) {
		form(m, RANDOM_FORM_SHIFT);
		return expr(m, RANDOM_BINARY, how % 2 ? "<<" : ">>", 2, a, text(m, how % 3 ? "1" : "3"), NULL);
	}
	random_expr *b = value(m, depth - 1);
	if (m->has_float)
		return expr(m, RANDOM_BINARY, "-", 2, a, b, NULL);
	form(m, RANDOM_FORM_BITS);
	return expr(m, RANDOM_BINARY, bits[how % 3], 2, a, b, NULL);
}

static random_expr *operation(maker *m, int depth)
{
	static const char *const both[] = {"+", "-", "*", "+", "*"};
	int how = random_below(m->r, 100);
	if (how < 10) {
		form(m, RANDOM_FORM_CHOICE);
		random_expr *c = condition(m, depth);
		random_expr *a = value(m, depth - 1);
		return expr(m, RANDOM_SELECT, NULL, 3, c, a, depth > 1 ? leaf(m) : text(m, "0"));
	}
	random_expr *a = value(m, depth - 1);
	if (how < 14) {
		form(m, RANDOM_FORM_NEGATION);
		return expr(m, RANDOM_CALL, "-", 1, a, NULL, NULL);
	}
	if (how < 18) {
		static const char *const types[] = {"int32", "int16", "float32", "int64", "uint8"};
		int type = random_below(m->r, 5);
		form(m, RANDOM_FORM_CAST);
		if (m->has_float && type != 2) {
			a = expr(m, RANDOM_CALL, "fmax", 2, a, text(m, type == 4 ? "0" : "-90"), NULL);
			a = expr(m, RANDOM_CALL, "fmin", 2, a, text(m, "90"), NULL);
		}
		m->has_float |= type == 2;
		return expr(m, RANDOM_CALL, types[type], 1, a, NULL, NULL);
	}
	bool whole = !m->has_float;
	if (how < 50 && whole)
		return whole_operation(m, a, depth);
	random_expr *b = value(m, depth - 1);
	if (how < 62)
		return expr(m, RANDOM_CALL, how < 56 ? "min" : "max", 2, a, b, NULL);
	if (how < 66 && m->has_float) {
		form(m, RANDOM_FORM_DIVISION);
		return expr(m, RANDOM_BINARY, "/", 2, a,
			    expr(m, RANDOM_BINARY, "+", 2, text(m, "1.5"), expr(m, RANDOM_CALL, "fabs", 1, b, NULL, NULL), NULL), NULL);
	}
	return expr(m, RANDOM_BINARY, both[random_below(m->r, 5)], 2, a, b, NULL);
}

/* A function whose argument is kept where it is defined and of moderate slope. */
static random_expr *function(maker *m, random_expr *a)
{
	static const char *const anywhere[] = {"tanh", "fabs", "sin", "cos", "floor", "ceil", "trunc", "round", "erf", "atan",
					       "cbrt", "asinh", "normcdf", "erfc"};
	static const char *const positive[] = {"sqrt", "log1p", "log", "log2", "rsqrt", "lgamma"};
	static const char *const two[] = {"fmin", "fmax", "hypot", "atan2", "copysign", "fdim"};
	static const char *const growing[] = {"exp", "exp2", "expm1", "sinh", "cosh"};
	int how = random_below(m->r, 100);
	form(m, RANDOM_FORM_FUNCTION);
	m->has_float = true;
	if (how < 45)
		return expr(m, RANDOM_CALL, anywhere[random_below(m->r, (int)HEDDLE_COUNT(anywhere))], 1, a, NULL, NULL);
	if (how < 60) {
		a = expr(m, RANDOM_BINARY, "+", 2, text(m, "1"), expr(m, RANDOM_CALL, "fabs", 1, a, NULL, NULL), NULL);
		return expr(m, RANDOM_CALL, positive[random_below(m->r, 6)], 1, a, NULL, NULL);
	}
	if (how < 75) {
		a = expr(m, RANDOM_CALL, "fmax", 2, expr(m, RANDOM_CALL, "fmin", 2, a, text(m, "1"), NULL), text(m, "-3"), NULL);
		return expr(m, RANDOM_CALL, growing[random_below(m->r, 5)], 1, a, NULL, NULL);
	}
	if (how < 95)
		return expr(m, RANDOM_CALL, two[random_below(m->r, 6)], 2, a, leaf(m), NULL);
	return expr(m, RANDOM_CALL, "fma", 3, a, text(m, "0.5"), leaf(m));
}

static random_expr *value(maker *m, int depth)
{
	if (depth <= 0)
		return leaf(m);
	int how = random_below(m->r, 100);
	if (how < 25)
		return leaf(m);
	if (how < 35 && heddle_type_is_float(m->type))
		return function(m, value(m, depth - 1));
	return operation(m, depth);
}

/* The statement's value as its target's type takes it. */
static random_expr *converted(maker *m, random_expr *e)
{
	bool is_float = heddle_type_is_float(m->type);
	if (!is_float && m->has_float) {
		bool positive = !heddle_type_is_signed(m->type);
		e = expr(m, RANDOM_CALL, "fmax", 2, e, text(m, positive ? "0" : "-100"), NULL);
		e = expr(m, RANDOM_CALL, "fmin", 2, e, text(m, positive ? "200" : "100"), NULL);
	}
	if (!is_float || (m->has_double && m->type != HEDDLE_FLOAT64) || m->type == HEDDLE_FLOAT16)
		e = expr(m, RANDOM_CALL, heddle_type_name(m->type), 1, e, NULL, NULL);
	return e;
}

static void where(maker *m, const char *clause)
{
	if (m->stmt->n_where < 8)
		m->stmt->where[m->stmt->n_where++] = clause;
}

static void add_index(maker *m, bool reduction)
{
	static const char *const names[] = {"i", "j", "p", "q", "u", "v", "w", "z"};
	index_plan *index = &m->index[m->n_index];
	*index = (index_plan){.name = names[m->n_index], .reduction = reduction};
	index->extent = m->extent[random_below(m->r, m->n_extent)];
	index->lower = "0";
	index->upper = index->extent;
	m->n_index++;
}

/* Ranges other than the whole extent. */
static void shape_ranges(maker *m)
{
	for (int i = 0; i < m->n_index; i++) {
		index_plan *index = &m->index[i];
		int how = random_below(m->r, 100), other = i ? random_below(m->r, i) : -1;
		if (other >= 0 && strcmp(m->index[other].extent, index->extent))
			other = -1;
		if (other >= 0 && how < 30) {
			const char *o = m->index[other].name;
			form(m, how < 20 ? RANDOM_FORM_TRIANGLE : RANDOM_FORM_BAND);
			if (how < 10) {
				index->upper = heddle_arena_printf(m->arena, "%s + 1", o);
				if (index->reduction && !m->index[other].reduction)
					form(m, RANDOM_FORM_PREFIX);
			} else if (how < 20) {
				index->lower = o;
			} else {
				index->lower = heddle_arena_printf(m->arena, "max(0, %s - 2)", o);
				index->upper = heddle_arena_printf(m->arena, "min(%s, %s + 2)", index->extent, o);
			}
			index->stated = true;
		} else if (how < 35) {
			index->lower = "1";
			index->stated = true;
			form(m, RANDOM_FORM_PART);
		} else if (how < 38) {
			index->upper = index->written = heddle_arena_printf(m->arena, "(%s + 1) / 2", index->extent);
			index->stated = true;
			form(m, RANDOM_FORM_PART);
		} else if (how < 43) {
			/* what is below 0 rounds down */
			const char *less = random_sizes[random_below(m->r, RANDOM_N_SIZE)];
			int by = 2 + random_below(m->r, 2), more = 1 + random_below(m->r, 3);
			const char *quotient = heddle_arena_printf(m->arena, how % 4 ? "(%s - %s) / %d + %d" : "(%s - %s) %% %d + %d",
								   index->extent, less, by, more);
			if (how < 41)
				index->upper = index->written = heddle_arena_printf(m->arena, "min(%s, %s)", index->extent, quotient);
			else
				index->lower = heddle_arena_printf(m->arena, "min(%s, max(0, %s))", index->extent, quotient);
			index->stated = true;
			form(m, RANDOM_FORM_SIGNED_QUOTIENT_BOUND);
		}
	}
}

static void state_ranges(maker *m)
{
	for (int i = 0; i < m->n_index; i++) {
		index_plan *index = &m->index[i];
		if (index->stated || !index->anchored || random_percent(m->r, 30))
			where(m, heddle_arena_printf(m->arena, "%s in %s:%s", index->name, index->lower, index->upper));
	}
}

static const char *const reductions[] = {"+=!", "+=!", "+=!", "max=!", "min=!", "*=!"};

/* A statement that makes a new tensor. */
static void fresh(maker *m)
{
	random_stmt *s = m->stmt;
	static const int ranks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3};
	int rank = ranks[random_below(m->r, 10)], n_reduced = random_percent(m->r, 50) ? 0 : 1 + random_below(m->r, 20) / 9;
	m->type = pick_type(m);
	s->target = new_tensor(m, m->type, false);
	random_tensor *target = &m->d->tensor[s->target];
	s->typed = m->type != HEDDLE_FLOAT32 || random_percent(m->r, 20);
	target->rank = rank;
	for (int i = 0; i < rank; i++)
		add_index(m, false);
	for (int i = 0; i < n_reduced; i++)
		add_index(m, true);
	shape_ranges(m);
	form(m, !n_reduced ? RANDOM_FORM_ELEMENT : RANDOM_FORM_REDUCTION);
	if (!rank)
		form(m, RANDOM_FORM_SCALAR);
	random_expr *e;
	if (n_reduced) {
		unsigned reduced = ((1u << n_reduced) - 1) << rank;
		s->assign = reductions[random_below(m->r, 6)];
		if (m->type == HEDDLE_INT32 && random_percent(m->r, 90)) {
			s->assign = random_percent(m->r, 50) ? "argmax=!" : "argmin=!";
			form(m, RANDOM_FORM_ARGMAX);
		}
		if (s->assign[0] == '*')
			form(m, RANDOM_FORM_PRODUCT);
		if (s->assign[0] == 'm')
			form(m, RANDOM_FORM_EXTREMUM);
		e = has_room(m) ? read_new(m, reduced | (unsigned)random_next(m->r) % (1u << rank)) : leaf(m);
		if (random_percent(m->r, 60)) {
			form(m, RANDOM_FORM_CONTRACTION);
			e = expr(m, RANDOM_BINARY, "*", 2, e,
				 has_room(m) && random_percent(m->r, 70)
					 ? read_new(m, reduced | (unsigned)random_next(m->r) % (1u << rank))
					 : value(m, 1),
				 NULL);
		}
		if (!strcmp(s->assign, "*=!") && heddle_type_is_float(m->type)) {
			e = expr(m, RANDOM_BINARY, "*", 2, text(m, "0.1"), e, NULL);
			e = expr(m, RANDOM_BINARY, "+", 2, text(m, "1"), e, NULL);
			m->has_float = true;
		}
	} else {
		s->assign = "=";
		for (int i = random_below(m->r, 14); i > 11 && s->n_let < 2; i--) {
			random_expr *let = value(m, 1);
			s->let[s->n_let++] = let;
			form(m, RANDOM_FORM_LET);
		}
		e = value(m, 2 + random_below(m->r, 2));
	}
	if (has_room(m) && random_percent(m->r, 4)) {
		bool real = m->has_float, wide = m->has_double;
		s->exists = read_new(m, random_subset(m));
		m->has_float = real; /* it is no part of the value */
		m->has_double = wide;
		form(m, RANDOM_FORM_EXISTS);
	}
	s->library = random_percent(m->r, 2);
	if (s->library)
		form(m, RANDOM_FORM_LIBRARY);
	s->value = s->assign[0] == 'a' ? e : converted(m, e);
	bool moved = false;
	for (int i = 0; i < rank; i++) {
		int how = random_below(m->r, 100);
		index_plan *index = &m->index[i];
		bool plain = !strcmp(index->upper, index->extent);
		s->lhs[i] = index->name;
		target->extent[i] = index->extent;
		if (index->written)
			target->extent[i] = index->written;
		if (how < 4 && plain && !moved) {
			s->lhs[i] = heddle_arena_printf(m->arena, "%s + 1", index->name);
			target->extent[i] = heddle_arena_printf(m->arena, "%s + 1", index->extent);
			moved = true;
		} else if (how < 7 && plain && !moved) {
			s->lhs[i] = heddle_arena_printf(m->arena, "%s - 1 - %s", index->extent, index->name);
			moved = true;
		} else if (how < 9 && plain && !moved) {
			s->lhs[i] = heddle_arena_printf(m->arena, "2 * %s", index->name);
			target->extent[i] = heddle_arena_printf(m->arena, "2 * (%s) - 1", index->extent);
			moved = true;
		} else if (how < 12 && plain && !moved) {
			s->lhs[i] = heddle_arena_printf(m->arena, "%s / 2", index->name);
			target->extent[i] = heddle_arena_printf(m->arena, "(%s + 1) / 2", index->extent);
			moved = true;
			form(m, RANDOM_FORM_MEET);
		} else if (how < 15 && plain && !moved && i + 1 < rank && !strcmp(m->index[i + 1].upper, m->index[i + 1].extent)) {
			const index_plan *next = &m->index[i + 1];
			s->lhs[i] = heddle_arena_printf(m->arena, "%s + %s", index->name, next->name);
			target->extent[i] = heddle_arena_printf(m->arena, "max(%s + %s - 1, 0)", index->extent, next->extent);
			s->lhs[i + 1] = heddle_arena_printf(m->arena, "%s / 2", next->name);
			target->extent[i + 1] = heddle_arena_printf(m->arena, "(%s + 1) / 2", next->extent);
			m->index[i].stated = m->index[i + 1].stated = true;
			moved = true;
			form(m, RANDOM_FORM_MEET);
			i++;
		}
		if (moved)
			index->stated = true;
	}
	if (moved)
		form(m, RANDOM_FORM_AFFINE_TARGET);
	target->declared = !moved && random_percent(m->r, 8);
	state_ranges(m);
}

/* The indices run along an existing tensor. */
static void along(maker *m, const random_tensor *target)
{
	for (int i = 0; i < target->rank; i++) {
		add_index(m, false);
		m->index[i].extent = m->index[i].upper = target->extent[i];
		m->index[i].stated = true;
		m->stmt->lhs[i] = m->index[i].name;
	}
}

/* A statement that changes a tensor: element by element, by a recurrence, or adds rows. */
static void again(maker *m, int t)
{
	random_stmt *s = m->stmt;
	random_tensor *target = &m->d->tensor[t];
	int how = random_below(m->r, 100);
	s->target = t;
	m->type = target->type;
	along(m, target);
	bool in_place = false;
	if (how < 40) {
		static const char *const assigns[] = {"+=", "*=", "max=", "min="};
		s->assign = assigns[random_below(m->r, 3)];
		if (random_percent(m->r, 30))
			add_index(m, true);
		if (random_percent(m->r, 30))
			shape_ranges(m);
		s->value = converted(m, m->n_index > target->rank && has_room(m) ? read_new(m, (1u << m->n_index) - 1) : value(m, 1));
		in_place = true;
	} else if (how < 80 && target->rank) {
		/* T(i, j) = T(i - 1, j) * 0.5 + ... */
		int d = random_below(m->r, target->rank), by = random_percent(m->r, 70) ? 1 : 2;
		bool later = random_percent(m->r, 20);
		random_expr *own = expr(m, RANDOM_READ, NULL, 0, NULL, NULL, NULL);
		own->tensor = t;
		for (int i = 0; i < target->rank; i++)
			own->subscript[i] = m->index[i].name;
		own->subscript[d] = heddle_arena_printf(m->arena, "%s %c %d", m->index[d].name, later ? '+' : '-', by);
		if (later)
			m->index[d].upper = heddle_arena_printf(m->arena, "%s - %d", target->extent[d], by);
		else
			m->index[d].lower = by == 1 ? "1" : "2";
		note_type(m, target->type);
		random_expr *half = heddle_type_is_float(m->type) ? expr(m, RANDOM_BINARY, "*", 2, own, text(m, "0.5"), NULL)
								  : expr(m, RANDOM_BINARY, "/", 2, own, text(m, "2"), NULL);
		s->assign = random_percent(m->r, 80) ? "=" : "+=";
		s->value = converted(m, expr(m, RANDOM_BINARY, "+", 2, half, value(m, 1), NULL));
		form(m, RANDOM_FORM_RECURRENCE);
	} else if (target->rank && !target->inout && strlen(target->extent[0]) < 8) {
		/* more rows behind */
		add_index(m, false);
		index_plan *index = &m->index[m->n_index - 1];
		const char *extent = target->extent[0];
		m->index[0] = *index;
		m->n_index--;
		m->index[0].name = "i";
		m->index[0].stated = true;
		s->lhs[0] = heddle_arena_printf(m->arena, "i + %s", extent);
		s->assign = "=";
		s->value = converted(m, value(m, 1));
		target->extent[0] = heddle_arena_printf(m->arena, "%s + %s", extent, m->index[0].extent);
		target->declared = false;
		form(m, RANDOM_FORM_CONCATENATION);
	} else {
		random_expr *own = expr(m, RANDOM_READ, NULL, 0, NULL, NULL, NULL);
		own->tensor = t;
		for (int i = 0; i < target->rank; i++)
			own->subscript[i] = m->index[i].name;
		note_type(m, target->type);
		s->assign = "=";
		s->value = converted(m, expr(m, RANDOM_BINARY, "+", 2, own, value(m, 1), NULL));
		in_place = true;
	}
	if (in_place)
		form(m, RANDOM_FORM_IN_PLACE);
	state_ranges(m);
}

static void make_stmt(maker *m)
{
	int n = 0, written[RANDOM_MAX_TENSOR];
	m->stmt = &m->d->stmt[m->d->n_stmt];
	*m->stmt = (random_stmt){.target = -1};
	m->n_index = 0;
	m->has_float = m->has_double = false;
	for (int t = 0; t < m->d->n_tensor; t++)
		if (!m->d->tensor[t].input)
			written[n++] = t;
	if (n && random_percent(m->r, 22))
		again(m, written[random_below(m->r, n)]);
	else
		fresh(m);
	m->d->n_stmt++;
}

/* An argument that the caller has filled. */
static void make_inout(maker *m)
{
	int t = new_tensor(m, random_percent(m->r, 70) ? HEDDLE_FLOAT32 : HEDDLE_INT32, false);
	random_tensor *tensor = &m->d->tensor[t];
	tensor->inout = tensor->output = true;
	tensor->rank = random_below(m->r, 3);
	for (int i = 0; i < tensor->rank; i++)
		tensor->extent[i] = m->extent[random_below(m->r, m->n_extent)];
	m->stmt = &m->d->stmt[m->d->n_stmt];
	*m->stmt = (random_stmt){.target = -1};
	m->n_index = 0;
	m->has_float = m->has_double = false;
	again(m, t);
	m->d->n_stmt++;
	form(m, RANDOM_FORM_INOUT);
}

static void choose_extents(maker *m)
{
	static const char *const fixed[] = {"1", "2", "3", "4", "5", "7", "8", "16", "33"};
	m->n_extent = 1 + random_below(m->r, 3) + random_percent(m->r, 30);
	for (int i = 0; i < m->n_extent; i++) {
		int how = random_below(m->r, 100);
		m->extent[i] = random_sizes[i];
		if (how < 18) {
			m->extent[i] = fixed[random_below(m->r, 9)];
			form(m, RANDOM_FORM_CONSTANT_EXTENT);
		} else if (how < 24 && i) {
			m->extent[i] = heddle_arena_printf(m->arena, "%s + %d", random_sizes[i - 1], 1 + random_below(m->r, 3));
		} else if (how < 30) {
			/* what is below 0 rounds down */
			const char *less = random_sizes[(i + 1 + random_below(m->r, RANDOM_N_SIZE - 1)) % RANDOM_N_SIZE];
			int by = 2 + random_below(m->r, 2), more = 1 + random_below(m->r, 4);
			m->extent[i] = heddle_arena_printf(m->arena, how % 3 ? "(%s - %s) / %d + %d" : "(%s - %s) %% %d + %d",
							   random_sizes[i], less, by, more);
			form(m, RANDOM_FORM_SIGNED_QUOTIENT_EXTENT);
		}
	}
}

/* Which of the tensors that are written become outputs. */
static void choose_outputs(maker *m)
{
	int outputs = 0;
	for (int t = 0; t < m->d->n_tensor; t++) {
		random_tensor *tensor = &m->d->tensor[t];
		if (tensor->input)
			continue;
		tensor->output |= t == m->d->stmt[m->d->n_stmt - 1].target || random_percent(m->r, 40);
		outputs += tensor->output;
		if (!tensor->output)
			form(m, RANDOM_FORM_TEMPORARY);
	}
	if (outputs > 1)
		form(m, RANDOM_FORM_SEVERAL_OUTPUTS);
}

/* ---- calls ------------------------------------------------------------------------------------------------------------- */

/* The callee's inputs are passed on and its outputs taken, under names of the caller's own. */
static void make_call(maker *m, random_definition *callee)
{
	random_stmt *s = &m->d->stmt[m->d->n_stmt++];
	*s = (random_stmt){.target = -1, .call = true};
	m->d->callee = callee;
	for (int t = 0; t < callee->n_tensor; t++) {
		const random_tensor *from = &callee->tensor[t];
		s->passed[t] = -1;
		if (!from->input && !from->output)
			continue;
		int own = s->passed[t] = m->d->n_tensor++;
		random_tensor *tensor = &m->d->tensor[own];
		*tensor = *from;
		tensor->declared = false;
		tensor->output = from->inout;
		bool gathers = !strncmp(from->name, "at", 2);
		tensor->name = heddle_arena_printf(m->arena, "%s%d", gathers ? "at" : from->input ? "A" : "t", own);
		m->n_input += tensor->input;
		if (from->output)
			s->target = own;
		if (from->input && !from->rank && from->type == HEDDLE_FLOAT32 && random_percent(m->r, 50))
			s->scalar[t] = random_percent(m->r, 50) ? "0.75" : heddle_arena_printf(m->arena, "%s * 0.5", tensor->name);
	}
	for (int i = 0; i < RANDOM_N_SIZE; i++)
		if (random_percent(m->r, 15))
			s->size_argument[i] = heddle_arena_printf(m->arena, "%s + 1", random_sizes[i]);
	form(m, RANDOM_FORM_CALL);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------------- */

/* Strides from the inside out, with room between rows. */
static const char *strides(maker *m, const random_tensor *t, int number)
{
	int order[RANDOM_MAX_DIM];
	const char *stride[RANDOM_MAX_DIM], *inner = random_percent(m->r, 8) ? "2" : "1";
	heddle_text text = {0};
	for (int i = 0; i < t->rank; i++)
		order[i] = i;
	if (t->rank > 1 && random_percent(m->r, 40)) {
		int i = random_below(m->r, t->rank), k = (i + 1 + random_below(m->r, t->rank - 1)) % t->rank;
		order[i] = k;
		order[k] = i;
		form(m, RANDOM_FORM_PERMUTED_STRIDES);
	}
	for (int i = t->rank - 1; i >= 0; i--) {
		const char *extent = t->extent[order[i]];
		int room = random_below(m->r, 4);
		stride[order[i]] = inner;
		if (room)
			extent = heddle_arena_printf(m->arena, "%s + %d", extent, room);
		inner = !strcmp(inner, "1") ? extent : heddle_arena_printf(m->arena, "(%s) * (%s)", extent, inner);
	}
	if (t->rank == 2 && random_percent(m->r, 40)) {
		stride[order[0]] = heddle_arena_printf(m->arena, "ld%d", number);
		form(m, RANDOM_FORM_NAMED_STRIDE);
	} else if (t->input && random_percent(m->r, 10)) {
		stride[random_below(m->r, t->rank)] = "0";
	}
	for (int i = 0; i < t->rank; i++)
		heddle_text_printf(&text, "%s%s", i ? ", " : " strides (", stride[i]);
	heddle_text_add(&text, ")");
	const char *result = heddle_arena_strdup(m->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	form(m, RANDOM_FORM_STRIDES);
	return result;
}

static void lay_out(maker *m)
{
	for (int t = 0; t < m->d->n_tensor; t++) {
		random_tensor *tensor = &m->d->tensor[t];
		if ((!tensor->input && !tensor->output) || !tensor->rank || random_percent(m->r, 40))
			continue;
		tensor->layout = random_percent(m->r, 80) ? strides(m, tensor, t) : "";
		if (random_percent(m->r, 30)) {
			int bytes = (int)heddle_type_size(tensor->type) << random_below(m->r, 4);
			tensor->layout = heddle_arena_printf(m->arena, "%s align %d", tensor->layout, bytes);
			form(m, RANDOM_FORM_ALIGNMENT);
		}
		tensor->declared = tensor->output; /* what has a layout has its type and extents before its name */
	}
}

/* ---- definitions ------------------------------------------------------------------------------------------------------- */

/* `depth`: how many callers it has. */
static void make_definition(maker *m, int depth)
{
	static const int counts[] = {1, 1, 2, 2, 2, 3, 3, 4}, few[] = {0, 1, 1, 2};
	static const char *const names[] = {"f", "g", "h"};
	int n = counts[random_below(m->r, 8)];
	if (depth < 2 && random_percent(m->r, depth ? 20 : 12)) {
		maker callee = *m;
		callee.d = HEDDLE_NEW(m->arena, random_definition);
		make_definition(&callee, depth + 1);
		m->n_extent = callee.n_extent;
		memcpy(m->extent, callee.extent, sizeof(m->extent));
		make_call(m, callee.d);
		if (depth)
			form(m, RANDOM_FORM_NESTED_CALL);
		n = few[random_below(m->r, 4)];
	} else {
		choose_extents(m);
		if (random_percent(m->r, 10))
			make_inout(m);
	}
	for (int i = 0; i < n; i++)
		make_stmt(m);
	choose_outputs(m);
	m->d->name = names[depth];
	m->d->callee_last = random_percent(m->r, 50);
	if (!depth && random_percent(m->r, 18))
		lay_out(m);
	for (int t = 0; t < m->d->n_tensor; t++)
		if (m->d->tensor[t].declared && m->d->tensor[t].output && !m->d->tensor[t].inout)
			form(m, RANDOM_FORM_DECLARED);
}

random_definition *random_make(heddle_arena *arena, random_stream *r, uint64_t *forms)
{
	maker m = {.arena = arena, .r = r, .forms = forms, .d = HEDDLE_NEW(arena, random_definition)};
	make_definition(&m, 0);
	return m.d;
}
