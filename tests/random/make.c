/* Makes definitions: statements over a few extents, with reads that fit them or are guarded.
 * SPDX-License-Identifier: MIT
 */
#include "tests/random/random.h"

#include <string.h>

const char *const random_sizes[RANDOM_N_SIZE] = {"N", "M", "K", "L"};

const char *const random_form_names[RANDOM_N_FORM] = {
	"contraction",	"reduction",	"scalar",   "element",	  "guarded read",    "clamped read", "window",
	"stride",	"triangle",	"band",	    "part range", "affine target",   "concatenation", "in place",
	"recurrence",	"inout",	"gather",   "fixed extent", "integer type",  "narrow type",  "double",
	"temporary",	"several outputs", "choice", "function",  "index in value",
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
	static const heddle_type others[] = {HEDDLE_INT32, HEDDLE_INT8, HEDDLE_UINT8, HEDDLE_FLOAT64, HEDDLE_FLOAT16};
	heddle_type type = random_percent(m->r, 70) ? HEDDLE_FLOAT32 : others[random_below(m->r, 5)];
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
			e->subscript[d] = heddle_arena_printf(m->arena, "%s + %s", index->name, other->name);
			form(m, RANDOM_FORM_WINDOW);
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
		if (how > 96 && tensor->input) {
			e->subscript[d] = gather(m, "0");
			continue;
		}
		static const char *const before[] = {"", "", "2 * ", "2 * ", "", "", "", "3 - "};
		static const char *const after[] = {" + 1", " - 1", "", " - 1", "", " + 2", " / 2", ""};
		int shape = random_below(m->r, 8);
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

static random_expr *leaf(maker *m)
{
	int how = random_below(m->r, 100), written = 0;
	for (int t = 0; t < m->d->n_tensor; t++)
		written += !m->d->tensor[t].input && m->d->n_stmt && t != m->stmt->target;
	if (how < 6)
		return text(m, heddle_arena_printf(m->arena, "%d", random_below(m->r, 4)));
	if (how < 10) {
		m->has_float = true;
		return text(m, random_percent(m->r, 50) ? "0.5" : "1.25");
	}
	if (how < 14 && m->n_index) {
		index_plan *index = &m->index[random_below(m->r, m->n_index)];
		form(m, RANDOM_FORM_INDEX_VALUE);
		index->stated = true;
		return text(m, index->name);
	}
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

static random_expr *operation(maker *m, int depth, bool integer)
{
	static const char *const both[] = {"+", "-", "*", "+", "*"};
	static const char *const whole[] = {"&", "|", "^"};
	random_expr *a = value(m, depth - 1);
	bool left = m->has_float;
	random_expr *b = value(m, depth - 1);
	int how = random_below(m->r, 100);
	if (how < 12)
		return expr(m, RANDOM_CALL, how < 6 ? "min" : "max", 2, a, b, NULL);
	if (how < 22) {
		form(m, RANDOM_FORM_CHOICE);
		random_expr *c = expr(m, RANDOM_BINARY, how % 2 ? "<" : ">=", 2, a, text(m, how % 3 ? "0" : "1"), NULL);
		return expr(m, RANDOM_SELECT, NULL, 3, c, b, depth > 1 ? leaf(m) : text(m, "0"));
	}
	if (how < 28 && integer && !left && !m->has_float)
		return expr(m, RANDOM_BINARY, whole[how % 3], 2, a, b, NULL);
	return expr(m, RANDOM_BINARY, both[random_below(m->r, 5)], 2, a, b, NULL);
}

static random_expr *value(maker *m, int depth)
{
	static const char *const functions[] = {"tanh", "fabs", "sin", "floor"};
	if (depth <= 0)
		return leaf(m);
	int how = random_below(m->r, 100);
	if (how < 25)
		return leaf(m);
	if (how < 33 && heddle_type_is_float(m->type)) {
		random_expr *a = value(m, depth - 1);
		form(m, RANDOM_FORM_FUNCTION);
		if (how < 27)
			return expr(m, RANDOM_CALL, "exp", 1, expr(m, RANDOM_CALL, "fmin", 2, a, text(m, "1"), NULL), NULL, NULL);
		return expr(m, RANDOM_CALL, functions[how % 4], 1, a, NULL, NULL);
	}
	return operation(m, depth, !heddle_type_is_float(m->type));
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
			index->upper = heddle_arena_printf(m->arena, "(%s + 1) / 2", index->extent);
			index->stated = true;
			form(m, RANDOM_FORM_PART);
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
		e = value(m, 2 + random_below(m->r, 2));
	}
	s->value = converted(m, e);
	bool moved = false;
	for (int i = 0; i < rank; i++) {
		int how = random_below(m->r, 100);
		index_plan *index = &m->index[i];
		bool plain = !strcmp(index->upper, index->extent);
		s->lhs[i] = index->name;
		target->extent[i] = index->extent;
		if (strchr(index->upper, '/'))
			target->extent[i] = index->upper;
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
		}
		if (moved)
			index->stated = true;
	}
	if (moved)
		form(m, RANDOM_FORM_AFFINE_TARGET);
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
		}
	}
}

random_definition *random_make(heddle_arena *arena, random_stream *r, uint64_t *forms)
{
	static const int counts[] = {1, 1, 2, 2, 2, 3, 3, 4};
	maker m = {.arena = arena, .r = r, .forms = forms, .d = HEDDLE_NEW(arena, random_definition)};
	int n = counts[random_below(r, 8)], outputs = 0;
	choose_extents(&m);
	if (random_percent(r, 10))
		make_inout(&m);
	for (int i = 0; i < n; i++)
		make_stmt(&m);
	for (int t = 0; t < m.d->n_tensor; t++) {
		random_tensor *tensor = &m.d->tensor[t];
		if (tensor->input)
			continue;
		tensor->output |= t == m.d->stmt[m.d->n_stmt - 1].target || random_percent(r, 40);
		outputs += tensor->output;
		if (!tensor->output)
			form(&m, RANDOM_FORM_TEMPORARY);
	}
	if (outputs > 1)
		form(&m, RANDOM_FORM_SEVERAL_OUTPUTS);
	return m.d;
}

/* ---- text ------------------------------------------------------------------------------------------------------------ */

static void print_expr(const random_definition *d, const random_expr *e, heddle_text *out)
{
	switch (e->kind) {
	case RANDOM_TEXT:
		heddle_text_add(out, e->text);
		break;
	case RANDOM_READ:
		heddle_text_add(out, d->tensor[e->tensor].name);
		for (int i = 0; i < d->tensor[e->tensor].rank; i++)
			heddle_text_printf(out, "%s%s", i ? ", " : "(", e->subscript[i]);
		heddle_text_add(out, d->tensor[e->tensor].rank ? ")" : "");
		break;
	case RANDOM_CALL:
		heddle_text_printf(out, "%s(", e->text);
		for (int i = 0; i < e->n_arg; i++) {
			heddle_text_add(out, i ? ", " : "");
			print_expr(d, e->arg[i], out);
		}
		heddle_text_add(out, ")");
		break;
	default:
		heddle_text_add(out, "(");
		for (int i = 0; i < e->n_arg; i++) {
			bool choice = e->kind == RANDOM_SELECT;
			if (i)
				heddle_text_printf(out, " %s ", choice ? (i == 1 ? "?" : ":") : e->text);
			print_expr(d, e->arg[i], out);
		}
		heddle_text_add(out, ")");
	}
}

static void print_stmt(const random_definition *d, const random_stmt *s, heddle_text *out)
{
	const random_tensor *target = &d->tensor[s->target];
	heddle_text_add(out, "\t");
	if (s->typed && !target->inout)
		heddle_text_printf(out, "%s ", heddle_type_name(target->type));
	heddle_text_add(out, target->name);
	for (int i = 0; i < target->rank; i++)
		heddle_text_printf(out, "%s%s", i ? ", " : "(", s->lhs[i]);
	heddle_text_printf(out, "%s %s ", target->rank ? ")" : "", s->assign);
	print_expr(d, s->value, out);
	for (int i = 0; i < s->n_where; i++)
		heddle_text_printf(out, "%s %s", i ? "," : " where", s->where[i]);
	heddle_text_add(out, "\n");
}

/* Does `name` stand in `text` as a word? */
static bool mentions(const char *text, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n = strlen(name);
	for (const char *at = text; (at = strstr(at, name)); at += n)
		if ((at == text || !strchr(letters, at[-1])) && (!at[n] || !strchr(letters, at[n])))
			return true;
	return false;
}

static void print_shape(const random_tensor *t, heddle_text *out)
{
	heddle_text_add(out, heddle_type_name(t->type));
	for (int i = 0; i < t->rank; i++)
		heddle_text_printf(out, "%s%s", i ? ", " : "(", t->extent[i]);
	heddle_text_printf(out, "%s %s", t->rank ? ")" : "", t->name);
}

void random_print(const random_definition *d, heddle_text *out)
{
	heddle_text body = {0}, inputs = {0}, outputs = {0};
	bool written[RANDOM_MAX_TENSOR] = {0};
	for (int s = 0; s < d->n_stmt; s++) {
		print_stmt(d, &d->stmt[s], &body);
		written[d->stmt[s].target] = true;
	}
	for (int t = 0; t < d->n_tensor; t++) {
		const random_tensor *tensor = &d->tensor[t];
		if (tensor->input && mentions(heddle_text_str(&body), tensor->name)) {
			heddle_text_add(&inputs, inputs.length ? ", " : "");
			print_shape(tensor, &inputs);
		}
		if (tensor->output && written[t]) {
			heddle_text_add(&outputs, outputs.length ? ", " : "");
			if (tensor->inout) {
				heddle_text_add(&outputs, "inout ");
				print_shape(tensor, &outputs);
			} else {
				heddle_text_add(&outputs, tensor->name);
			}
		}
	}
	for (int i = 0; i < RANDOM_N_SIZE; i++)
		if (!mentions(heddle_text_str(&inputs), random_sizes[i]) &&
		    (mentions(heddle_text_str(&body), random_sizes[i]) || mentions(heddle_text_str(&outputs), random_sizes[i])))
			heddle_text_printf(&inputs, "%ssize %s", inputs.length ? ", " : "", random_sizes[i]);
	heddle_text_printf(out, "def f(%s) -> (%s) {\n%s}\n", heddle_text_str(&inputs), heddle_text_str(&outputs),
			   heddle_text_str(&body));
	heddle_text_free(&body);
	heddle_text_free(&inputs);
	heddle_text_free(&outputs);
}
