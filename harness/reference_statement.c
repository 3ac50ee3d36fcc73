/* One statement under the oracle: its instances in strips, sums and their rounding, what cancels.
 *
 * A statement is a nest of loops over its indices, the last of them taken in strips.  Where the order of instances is free the
 * strip index is the one with the most instances; a statement that reads its own target runs one instance at a time in the order
 * of the definition.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does `expr` name an index for which `chosen` [by position] is `value`? */
bool heddle_oracle_names_index(const heddle_expr *expr, const bool *chosen, bool value)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return chosen[expr->index->position] == value;
	for (int k = 0; k < expr->n_arg; ++k)
		if (heddle_oracle_names_index(expr->arg[k], chosen, value))
			return true;
	return false;
}

/* Does `expr` name the index at `position`? */
static bool names_one(const heddle_expr *expr, int position)
{
	if (expr->kind == HEDDLE_EXPR_INDEX)
		return expr->index->position == position;
	for (int k = 0; k < expr->n_arg; ++k)
		if (names_one(expr->arg[k], position))
			return true;
	return false;
}

bool heddle_oracle_reads_tensor(const heddle_expr *expr, const heddle_tensor *tensor)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor == tensor)
		return true;
	for (int k = 0; k < expr->n_arg; ++k)
		if (heddle_oracle_reads_tensor(expr->arg[k], tensor))
			return true;
	return false;
}

/* A subscript that may be the same for many values of an index: min, max, a quotient, a gather. */
static bool has_plateau(const heddle_expr *expr, bool subscript)
{
	bool flat = expr->kind == HEDDLE_EXPR_READ ||
		    (expr->kind == HEDDLE_EXPR_BINARY && (expr->op == HEDDLE_OP_MIN || expr->op == HEDDLE_OP_MAX ||
							  expr->op == HEDDLE_OP_DIV || expr->op == HEDDLE_OP_MOD));
	if (subscript && flat)
		return true;
	for (int k = 0; k < expr->n_arg; ++k)
		if (has_plateau(expr->arg[k], subscript || expr->kind == HEDDLE_EXPR_READ))
			return true;
	return false;
}

/* Does `expr` read what a statement computed, which may be anything, and the same at many places? */
static bool reads_computed(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_READ && expr->tensor->role != HEDDLE_ROLE_INPUT)
		return true;
	for (int k = 0; k < expr->n_arg; ++k)
		if (reads_computed(expr->arg[k]))
			return true;
	return false;
}

/* May a sum have many equal terms? */
static bool repeats_terms(const heddle_statement *s)
{
	for (int k = 0; k < s->n_index; ++k)
		if (s->index[k]->reduction && !names_one(s->value, k))
			return true;
	return has_plateau(s->value, false) || reads_computed(s->value);
}

/* ---- one statement ----------------------------------------------------------------------------------------------------- */

enum { SKETCHES = 16 };

typedef struct bound {
	const heddle_expr *lower, *upper;
	bool constant;
	bool late; /* refers to an index that the nest has not fixed yet: the hull is looped over, the leaf checks */
	int64_t low, high; /* constant or late: low <= i < high */
} bound;

typedef struct plan {
	heddle_machine *m;
	const heddle_statement *statement;
	heddle_oracle_node *value;
	heddle_access *target;
	heddle_store *store;
	bound *bound; /* [n_index] */
	int *order;   /* nest from outer to inner */
	int n_order;
	int lanes;     /* greatest strip */
	bool any_late;
	bool sequential; /* reads its own target: each update rounds at once, in order */
	double *absolute; /* [store->n] float sums: sum |terms| */
	double *term;	  /* [store->n] their number */
	double *large, *small; /* [store->n] float products: of all factors > 1, of all < 1 */
	int32_t *sketch;  /* [store->n * SKETCHES] float sums that may have equal terms: of how often each term occurs */
	bool updating;	  /* false: the initialisation runs */
} plan;

static long double identity_float(heddle_assign assign)
{
	return assign == HEDDLE_ASSIGN_MUL   ? 1
	       : assign == HEDDLE_ASSIGN_MIN ? INFINITY
	       : assign == HEDDLE_ASSIGN_MAX ? -INFINITY
					     : 0;
}

static int64_t identity_int(heddle_assign assign, heddle_type type)
{
	if (assign == HEDDLE_ASSIGN_ADD || assign == HEDDLE_ASSIGN_SET)
		return 0;
	if (assign == HEDDLE_ASSIGN_MUL)
		return 1;
	const bool is_signed = heddle_type_is_signed(type), max = assign == HEDDLE_ASSIGN_MAX;
	if (type == HEDDLE_BOOL)
		return !max;
	if (!is_signed)
		return max ? 0 : heddle_oracle_wrap(type, -1);
	const int bits = 8 * heddle_type_size(type);
	const int64_t top = (int64_t)(UINT64_MAX >> (65 - bits));
	return max ? -top - 1 : top;
}

/* target (op)= one value, for everything but sums of floats outside recurrences. */
static void update(plan *p, int64_t o, long double v, int64_t i, double e, unsigned char q)
{
	heddle_store *t = p->store;
	const heddle_assign assign = p->statement->assign;
	const heddle_type type = t->tensor->type;
	const bool real = t->value != NULL;
	const bool max = assign == HEDDLE_ASSIGN_MAX;
	t->mark[o] |= HEDDLE_MARK_TOUCHED | HEDDLE_MARK_WRITTEN;
	if (assign == HEDDLE_ASSIGN_SET) {
		if (real)
			t->value[o] = v;
		else
			t->integer[o] = i;
		t->error[o] = e;
		t->mark[o] = (unsigned char)((t->mark[o] & ~HEDDLE_MARK_BRANCH) | q);
		return;
	}
	const double old = t->error[o];
	unsigned char mark = t->mark[o] | q;
	if (!real) {
		const int64_t a = t->integer[o];
		double gap, error;
		bool keep;
		switch (assign) {
		case HEDDLE_ASSIGN_ADD:
			t->integer[o] = heddle_oracle_wrap(type, (int64_t)((uint64_t)a + (uint64_t)i));
			error = old + e;
			break;
		case HEDDLE_ASSIGN_MUL:
			t->integer[o] = heddle_oracle_wrap(type, (int64_t)((uint64_t)a * (uint64_t)i));
			error = old > 0 || e > 0 ? fabs((double)a) * e + fabs((double)i) * old + old * e : 0;
			break;
		default:
			keep = heddle_type_is_unsigned(type) ? (max ? (uint64_t)a >= (uint64_t)i : (uint64_t)a <= (uint64_t)i)
							     : (max ? a >= i : a <= i);
			t->integer[o] = keep ? a : i;
			gap = fabs((double)a - (double)i);
			error = gap > old + e ? (keep ? old : e) : fmax(old, e);
			if (gap > old + e)
				mark = (unsigned char)((mark & ~HEDDLE_MARK_BRANCH) |
						       ((keep ? t->mark[o] : q) & HEDDLE_MARK_BRANCH));
		}
		t->error[o] = isnan(error) ? INFINITY : error;
		t->mark[o] = mark;
		return;
	}
	const long double a = t->value[o];
	const heddle_type arithmetic = type == HEDDLE_FLOAT64 ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32;
	long double r;
	double error;
	if (assign == HEDDLE_ASSIGN_ADD || assign == HEDDLE_ASSIGN_MUL) {
		bool unknown = isinf(old) || isinf(e);
		r = assign == HEDDLE_ASSIGN_ADD ? a + v : a * v;
		error = assign == HEDDLE_ASSIGN_ADD ? old + e : (double)fabsl(a) * e + (double)fabsl(v) * old + old * e;
		if (unknown || (isfinite(r) && isnan(error)))
			error = INFINITY;
		else
			heddle_oracle_round(arithmetic, &r, &error, &mark);
	} else {
		bool keep = isnan(a) || (!isnan(v) && (max ? a >= v : a <= v));
		r = keep ? a : v;
		double gap = isnan(r) || a == v ? 0 : (double)fabsl(a - v);
		error = gap > old + e ? (keep ? old : e) : fmax(old, e);
		if (gap > old + e)
			mark = (unsigned char)((mark & ~HEDDLE_MARK_BRANCH) | ((keep ? t->mark[o] : q) & HEDDLE_MARK_BRANCH));
	}
	t->value[o] = r;
	t->error[o] = error;
	t->mark[o] = mark;
}

/* Factors are multiplied in any order: the greatest and the least partial product. */
static void add_factor(plan *p, int64_t o, double v)
{
	if (v > 1)
		p->large[o] *= v;
	else if (v > 0)
		p->small[o] *= v;
}

/* What cancelled where lane `l` of a node is 0: the sums of the magnitudes of what was added and subtracted, through products,
 * quotients and tensors; else its magnitude. */
static double weight_of(const heddle_oracle_node *n, int l)
{
	const double v = n->real ? fabs((double)n->s.v[l]) : fabs((double)n->s.i[l]);
	double weight = 0;
	if (v != 0)
		return v;
	switch (n->kind) {
	case HEDDLE_EXPR_READ: {
		const heddle_access *a = n->access;
		const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
		return a->store->weight && o >= 0 ? a->store->weight[o] : 0;
	}
	case HEDDLE_EXPR_SELECT:
		return weight_of(n->arg[n->arg[0]->s.i[l] ? 1 : 2], l);
	case HEDDLE_EXPR_BINARY:
		if (n->expr->op == HEDDLE_OP_ADD || n->expr->op == HEDDLE_OP_SUB)
			return weight_of(n->arg[0], l) + weight_of(n->arg[1], l);
		if (n->expr->op == HEDDLE_OP_MUL)
			return weight_of(n->arg[0], l) * weight_of(n->arg[1], l);
		if (n->expr->op == HEDDLE_OP_DIV) {
			const double divisor = weight_of(n->arg[1], l);
			return divisor > 0 ? weight_of(n->arg[0], l) / divisor : 0;
		}
		break;
	default:
		break;
	}
	for (int k = 0; k < n->n_arg; ++k)
		weight = fmax(weight, weight_of(n->arg[k], l));
	return weight;
}

/* The weights of the zeros among a leaf's values, for their elements. */
static void weigh_zeros(plan *p)
{
	const heddle_access *a = p->target;
	double *weight = p->store->weight;
	for (int l = 0; l < p->m->n; ++l) {
		if (p->value->s.v[l] != 0)
			continue;
		const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
		const double w = weight_of(p->value, l);
		weight[o] = p->statement->assign == HEDDLE_ASSIGN_SET ? w : p->absolute ? weight[o] + w : fmax(weight[o], w);
	}
}

/* One more term of a sketch: each counter goes up or down as a hash of the term says, so that the square of any of them is, in
 * the mean, the sum over the different terms of how often each occurs, squared. */
static void sketch_term(int32_t *sketch, long double v)
{
	const double value = (double)v;
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	bits = heddle_random(bits, 7);
	for (int j = 0; j < SKETCHES; ++j)
		sketch[j] += bits >> j & 1 ? 1 : -1;
}

/* The roundings of a sum of k + 1 terms, in units of u sum |terms|.  Those of different terms have their signs by chance; those of
 * equal ones go the same way, all of them.  So with n_v terms of value v they add up to about sqrt(sum over v of n_v^2), which is
 * sqrt k where all differ and k where none does. */
static double roundings(const plan *p, int64_t o, double k)
{
	double squares = 0;
	for (int j = 0; p->sketch && j < SKETCHES; ++j) {
		const double s = p->sketch[o * SKETCHES + j];
		squares += s * s / SKETCHES;
	}
	return fmin(k, 4 * sqrt(fmax(k, squares)));
}

static inline bool is_whole(long double v)
{
	return fabsl(v) < 0x1p62L && (long double)(int64_t)v == v;
}

/* Sums of floats: value, term errors, sum |terms| and count apart; rounding is added when the statement ends. */
static void add_terms(plan *p, const heddle_strip *s, int n)
{
	heddle_store *t = p->store;
	const heddle_access *a = p->target;
	if (a->linear && a->step == 0) {
		long double sum = 0;
		double error = 0, absolute = 0;
		unsigned char mark = 0;
		for (int l = 0; l < n; ++l) {
			sum += s->v[l];
			absolute += fabs((double)s->v[l]);
		}
		if (!s->clean)
			for (int l = 0; l < n; ++l) {
				error += s->e[l];
				mark |= s->q[l];
			}
		for (int l = 0; l < n; ++l)
			if (!is_whole(s->v[l])) {
				mark |= HEDDLE_MARK_FRACTION;
				break;
			}
		const int64_t o = a->offset[0];
		t->value[o] += sum;
		t->error[o] += error;
		t->mark[o] |= mark | HEDDLE_MARK_TOUCHED | HEDDLE_MARK_WRITTEN;
		p->absolute[o] += absolute;
		p->term[o] += n;
		for (int l = 0; p->sketch && l < n; ++l)
			sketch_term(&p->sketch[o * SKETCHES], s->v[l]);
		return;
	}
	for (int l = 0; l < n; ++l) {
		const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
		t->value[o] += s->v[l];
		t->error[o] += s->e[l];
		t->mark[o] |= s->q[l] | HEDDLE_MARK_TOUCHED | HEDDLE_MARK_WRITTEN |
			      (is_whole(s->v[l]) ? 0 : HEDDLE_MARK_FRACTION);
		p->absolute[o] += fabs((double)s->v[l]);
		p->term[o] += 1;
		if (p->sketch)
			sketch_term(&p->sketch[o * SKETCHES], s->v[l]);
	}
}

static bool late_bounds_hold(const plan *p)
{
	const heddle_machine *m = p->m;
	for (int k = 0; k < p->statement->n_index; ++k) {
		int64_t low, high;
		if (!p->bound[k].late)
			continue;
		if (heddle_oracle_scalar(p->bound[k].lower, m->size, m->at, &low) < 0 || heddle_oracle_scalar(p->bound[k].upper, m->size, m->at, &high) < 0)
			return false;
		if (m->at[k] < low || m->at[k] >= high)
			return false;
	}
	return true;
}

static void leaf(plan *p)
{
	heddle_machine *m = p->m;
	heddle_store *t = p->store;
	if (p->any_late && p->updating && !late_bounds_hold(p))
		return;
	heddle_oracle_locate(m, p->target);
	if (m->failed)
		return;
	const heddle_access *a = p->target;
	if (!a->linear)
		for (int l = 0; l < m->n; ++l)
			if (a->offset[l] < 0) {
				heddle_oracle_fault(m, l, 710, p->target->location,
						    "the place where '%s' is written depends on rounding", t->tensor->name);
				return;
			}
	if (!p->updating) {
		for (int l = 0; l < m->n; ++l) {
			const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
			if (t->value)
				t->value[o] = identity_float(p->statement->assign);
			else
				t->integer[o] = identity_int(p->statement->assign, t->tensor->type);
			t->error[o] = 0;
			t->mark[o] = HEDDLE_MARK_WRITTEN | HEDDLE_MARK_TOUCHED;
			if (t->weight)
				t->weight[o] = 0;
			if (p->absolute)
				p->absolute[o] = p->term[o] = 0;
			if (p->large)
				p->large[o] = p->small[o] = 1;
			if (p->sketch)
				memset(&p->sketch[o * SKETCHES], 0, sizeof(int32_t) * SKETCHES);
		}
		return;
	}
	m->instances += m->n;
	heddle_oracle_eval(m, p->value);
	if (m->failed)
		return;
	const heddle_strip *s = &p->value->s;
	if (p->statement->assign != HEDDLE_ASSIGN_SET && !p->statement->initialise)
		for (int l = 0; l < m->n; ++l) {
			const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
			if (!(t->mark[o] & HEDDLE_MARK_WRITTEN)) {
				heddle_oracle_fault(m, l, 711, &p->statement->location,
						    "'%s' is accumulated into before it has a value", t->tensor->name);
				return;
			}
		}
	if (t->weight)
		weigh_zeros(p);
	if (p->absolute) {
		add_terms(p, s, m->n);
		return;
	}
	bool short_float = t->value && heddle_type_size(t->tensor->type) == 2;
	for (int l = 0; l < m->n; ++l) {
		const int64_t o = a->linear ? a->offset[0] + l * a->step : a->offset[l];
		update(p, o, s->v[l], s->i[l], s->e[l], s->q[l]);
		if (p->large)
			add_factor(p, o, fabs((double)s->v[l]));
		/* a later instance reads what was stored; otherwise `finish` rounds, once */
		if (p->sequential && short_float)
			heddle_oracle_round(t->tensor->type, &t->value[o], &t->error[o], &t->mark[o]);
	}
}

/* Loops p->order[level ..) inside the values fixed so far; the last one in strips. */
static void nest(plan *p, int level)
{
	heddle_machine *m = p->m;
	if (m->failed)
		return;
	if (level == p->n_order) {
		m->strip = -1;
		m->n = 1;
		leaf(p);
		return;
	}
	const int k = p->order[level];
	const bound *b = &p->bound[k];
	int64_t low = b->low, high = b->high;
	if (!b->constant && !b->late &&
	    (heddle_oracle_scalar(b->lower, m->size, m->at, &low) < 0 || heddle_oracle_scalar(b->upper, m->size, m->at, &high) < 0)) {
		heddle_oracle_fault(m, 0, 950, &p->statement->index[k]->location, "the range of '%s' cannot be computed",
				    p->statement->index[k]->name);
		return;
	}
	if (level + 1 < p->n_order) {
		for (int64_t i = low; i < high && !m->failed; ++i) {
			m->at[k] = i;
			nest(p, level + 1);
		}
		return;
	}
	m->strip = k;
	for (int64_t i = low; i < high && !m->failed; i += p->lanes) {
		m->at[k] = i;
		m->n = (int)(high - i < p->lanes ? high - i : p->lanes);
		leaf(p);
	}
	m->strip = -1;
}

/* Put the indices chosen by `take` into p->order, each after those that its bounds name; `fixed` ones have values already.
 * `natural`: keep the definition's order, marking bounds that come too early as late. */
static int order_indices(plan *p, const bool *take, const bool *fixed, bool natural)
{
	const heddle_statement *s = p->statement;
	const int n = s->n_index;
	bool *known = HEDDLE_NEW_ARRAY(p->m->arena, bool, n);
	memcpy(known, fixed, sizeof(bool) * (size_t)n);
	p->n_order = 0;
	p->any_late = false;
	int wanted = 0;
	for (int k = 0; k < n; ++k)
		wanted += take[k];
	while (p->n_order < wanted) {
		int next = -1;
		for (int k = 0; k < n && next < 0; ++k)
			if (take[k] && !known[k] &&
			    (natural || (!heddle_oracle_names_index(s->index[k]->lower, known, false) &&
					 !heddle_oracle_names_index(s->index[k]->upper, known, false))))
				next = k;
		if (next < 0)
			return -1;
		bound *b = &p->bound[next];
		b->lower = s->index[next]->lower;
		b->upper = s->index[next]->upper;
		b->late = heddle_oracle_names_index(b->lower, known, false) || heddle_oracle_names_index(b->upper, known, false);
		b->constant = !b->late && !heddle_oracle_names_index(b->lower, known, true) && !heddle_oracle_names_index(b->upper, known, true);
		p->any_late = p->any_late || b->late;
		if (b->late) {
			if (heddle_index_hull(s->index[next], p->m->size, &b->low, &b->high) < 0)
				return -1;
			b->high += 1;
		} else if (b->constant && (heddle_oracle_scalar(b->lower, p->m->size, p->m->at, &b->low) < 0 ||
					   heddle_oracle_scalar(b->upper, p->m->size, p->m->at, &b->high) < 0)) {
			return -1;
		}
		known[next] = true;
		p->order[p->n_order++] = next;
	}
	return 0;
}

/* Of the indices that no other bound names, move the one with the most instances to the end: it becomes the strip. */
static void choose_strip(plan *p)
{
	int best = -1;
	int64_t best_extent = -1;
	for (int k = 0; k < p->n_order; ++k) {
		const int index = p->order[k];
		bool named = false;
		for (int j = 0; j < p->n_order; ++j)
			named = named || names_one(p->statement->index[p->order[j]]->lower, index) ||
				names_one(p->statement->index[p->order[j]]->upper, index);
		int64_t low, high;
		if (named || heddle_index_hull(p->statement->index[index], p->m->size, &low, &high) < 0)
			continue;
		int64_t extent = high - low + 1 < HEDDLE_STRIP ? high - low + 1 : HEDDLE_STRIP;
		if (extent >= best_extent) {
			best_extent = extent;
			best = k;
		}
	}
	if (best < 0)
		return;
	const int index = p->order[best];
	memmove(&p->order[best], &p->order[best + 1], sizeof(int) * (size_t)(p->n_order - best - 1));
	p->order[p->n_order - 1] = index;
}

/* ---- running a statement ------------------------------------------------------------------------------------------------- */

/* Over all values of the indices in `take`; `update`: the assignment, else the initialisation. */
static int sweep(plan *p, const bool *take, const bool *fixed, bool updating)
{
	/* Free order: sums, products, extrema and plain assignments whose target elements are distinct. */
	bool natural = updating && p->sequential;
	bool last_wins = false;
	for (int k = 0; k < p->statement->n_index; ++k)
		last_wins = last_wins || p->statement->index[k]->reduction;
	last_wins = last_wins && p->statement->assign == HEDDLE_ASSIGN_SET;
	for (int d = 0; d < p->statement->n_lhs; ++d)
		if (p->statement->lhs[d]->kind != HEDDLE_EXPR_INDEX && p->statement->assign == HEDDLE_ASSIGN_SET)
			last_wins = true;
	natural = natural || (updating && last_wins);
	if (order_indices(p, take, fixed, natural) < 0) {
		heddle_oracle_fault(p->m, 0, 950, &p->statement->location, "the ranges of this statement cannot be computed");
		return -1;
	}
	if (!natural)
		choose_strip(p);
	p->lanes = p->sequential || p->any_late ? 1 : HEDDLE_STRIP;
	p->updating = updating;
	nest(p, 0);
	return p->m->failed ? -1 : 0;
}

/* The rounding of sums, and of the store, for every element that the statement changed. */
static void finish(plan *p)
{
	heddle_store *t = p->store;
	const heddle_type type = t->tensor->type;
	const bool wide = type == HEDDLE_FLOAT64;
	const double u = wide ? 0x1p-53 : 0x1p-24;
	const bool flush = p->m->definition->policy == HEDDLE_POLICY_RELAXED;
	const double least = wide ? 0x1p-1074 : 0x1p-149, normal = wide ? 0x1p-1022 : 0x1p-126;
	const double whole = wide ? 0x1p53 : 0x1p24, most = wide ? 0x1p1023 : 0x1p127;
	for (int64_t o = 0; o < t->n; ++o) {
		if (!(t->mark[o] & HEDDLE_MARK_TOUCHED))
			continue;
		if (p->absolute) {
			double k = p->term[o] - 1;
			t->weight[o] += p->absolute[o];
			bool exact = !(t->mark[o] & HEDDLE_MARK_FRACTION) && p->absolute[o] <= whole;
			if (!isfinite(t->value[o])) {
				if (!isinf(t->error[o]))
					t->error[o] = 0;
			} else {
				if (!exact && k > 0) /* each partial sum is rounded, or may be flushed */
					t->error[o] += roundings(p, o, k) * u * p->absolute[o] + (flush ? k * normal : least);
				if (isnan(t->error[o]))
					t->error[o] = INFINITY;
				/* The roundings are counted above; this finds overflow. */
				double before = t->error[o];
				heddle_oracle_round(wide ? HEDDLE_FLOAT64 : HEDDLE_FLOAT32, &t->value[o], &t->error[o], &t->mark[o]);
				if (isfinite(t->value[o]) && isfinite(t->error[o]))
					t->error[o] = before;
			}
		}
		/* the other factors do not undo a partial product's overflow, or its lost digits */
		if (p->large && p->large[o] > 1 && (p->large[o] > most || p->small[o] < normal))
			t->error[o] = INFINITY;
		if (t->value && heddle_type_size(type) == 2 && !p->sequential)
			heddle_oracle_round(type, &t->value[o], &t->error[o], &t->mark[o]);
		t->mark[o] &= (unsigned char)~(HEDDLE_MARK_TOUCHED | HEDDLE_MARK_FRACTION);
	}
}

/* What `op=` adds to: the element's value counts as a term of the sum. */
static void begin_sum(plan *p)
{
	heddle_store *t = p->store;
	p->absolute = heddle_xalloc(sizeof(double) * (size_t)(t->n ? t->n : 1));
	p->term = heddle_xalloc(sizeof(double) * (size_t)(t->n ? t->n : 1));
	if (repeats_terms(p->statement))
		p->sketch = heddle_xalloc(sizeof(int32_t) * SKETCHES * (size_t)(t->n ? t->n : 1));
	for (int64_t o = 0; o < t->n; ++o) {
		p->absolute[o] = fabs((double)t->value[o]);
		p->term[o] = 1;
		if (p->sketch) {
			memset(&p->sketch[o * SKETCHES], 0, sizeof(int32_t) * SKETCHES);
			sketch_term(&p->sketch[o * SKETCHES], t->value[o]);
		}
		if (!is_whole(t->value[o]))
			t->mark[o] |= HEDDLE_MARK_FRACTION;
	}
}

/* The same of `*=`. */
static void begin_product(plan *p)
{
	heddle_store *t = p->store;
	p->large = heddle_xalloc(sizeof(double) * (size_t)(t->n ? t->n : 1));
	p->small = heddle_xalloc(sizeof(double) * (size_t)(t->n ? t->n : 1));
	for (int64_t o = 0; o < t->n; ++o) {
		p->large[o] = p->small[o] = 1;
		add_factor(p, o, fabs((double)t->value[o]));
	}
}

/* The indices to initialise over: those of the left side that do not stand still, and what their ranges depend on. */
static void initial_indices(const heddle_statement *s, const bool *fixed, bool *left)
{
	for (int k = 0; k < s->n_index; ++k)
		left[k] = !fixed[k] && !s->index[k]->reduction;
	for (bool more = true; more;) {
		more = false;
		for (int k = 0; k < s->n_index; ++k)
			for (int j = 0; j < s->n_index && left[k]; ++j)
				if (!left[j] && !fixed[j] && (names_one(s->index[k]->lower, j) || names_one(s->index[k]->upper, j)))
					left[j] = more = true;
	}
}

/* The statement where its first `n_fixed` left-hand indices are those of the row-major numbers, one after the other: `*which` is the
 * number's position meanwhile. */
static int run_at(plan *p, int n_fixed, int64_t n_number, const int64_t *number, int64_t *which)
{
	heddle_machine *m = p->m;
	const heddle_statement *s = p->statement;
	const int n = s->n_index;
	bool *fixed = HEDDLE_NEW_ARRAY(m->arena, bool, n), *left = HEDDLE_NEW_ARRAY(m->arena, bool, n);
	bool *take = HEDDLE_NEW_ARRAY(m->arena, bool, n);
	for (int d = 0; d < n_fixed; ++d)
		fixed[s->lhs[d]->index->position] = true;
	for (int k = 0; k < n; ++k)
		take[k] = !fixed[k];
	initial_indices(s, fixed, left);
	for (int64_t e = 0; e < n_number && !m->failed; ++e) {
		int64_t rest = number[e];
		bool inside = true;
		for (int d = n_fixed - 1; d >= 0; --d) {
			m->at[s->lhs[d]->index->position] = rest % p->store->extent[d];
			rest /= p->store->extent[d];
		}
		for (int k = 0; k < n && inside; ++k) {
			int64_t low, high;
			if (!fixed[k])
				continue;
			inside = heddle_oracle_scalar(s->index[k]->lower, m->size, m->at, &low) == 0 &&
				 heddle_oracle_scalar(s->index[k]->upper, m->size, m->at, &high) == 0 && m->at[k] >= low && m->at[k] < high;
		}
		if (!inside)
			continue;
		*which = e;
		if ((s->initialise && sweep(p, left, fixed, false) < 0) || sweep(p, take, fixed, true) < 0)
			return -1;
	}
	return m->failed ? -1 : 0;
}

static int run_full(plan *p)
{
	const heddle_statement *s = p->statement;
	const int n = s->n_index;
	heddle_arena *arena = p->m->arena;
	bool *left = HEDDLE_NEW_ARRAY(arena, bool, n), *all = HEDDLE_NEW_ARRAY(arena, bool, n);
	const bool *none = HEDDLE_NEW_ARRAY(arena, bool, n);
	for (int k = 0; k < n; ++k)
		all[k] = true;
	/* A left-hand range that depends on a reduction index needs that one too. */
	initial_indices(s, none, left);
	if (s->initialise && sweep(p, left, none, false) < 0)
		return -1;
	return sweep(p, all, none, true);
}

/* Single elements, or slices. */
static int run_sampled(plan *p)
{
	heddle_machine *m = p->m;
	return m->n_prefix ? run_at(p, m->n_prefix, m->n_slice, m->slices, &m->slice) :
			     run_at(p, p->statement->n_lhs, p->store->n, p->store->sample, &m->sample);
}

/* The value in the target's type.  A cast to 16 bits at the end of a plain assignment is the rounding of the store, which
 * `finish` counts: here the value stays as it was computed. */
static heddle_oracle_node *stored_value(heddle_machine *m, const heddle_statement *s)
{
	const heddle_type type = s->target->type;
	const heddle_expr *value = s->value;
	const bool narrow = heddle_type_is_float(type) && heddle_type_size(type) == 2;
	if (narrow && s->assign == HEDDLE_ASSIGN_SET && value->kind == HEDDLE_EXPR_CAST && value->type == type &&
	    heddle_type_is_float(value->arg[0]->type))
		return heddle_oracle_compile(m, value->arg[0]);
	return heddle_oracle_convert(m, heddle_oracle_compile(m, value), type);
}

int heddle_oracle_run(heddle_machine *m, const heddle_statement *s)
{
	/* Nodes and tables of one statement: an arena of its own, freed when it has run. */
	heddle_arena *outer = m->arena;
	m->arena = heddle_arena_new();
	if (!m->arena) {
		m->arena = outer;
		return -1;
	}
	m->statement = s;
	m->strip = -1;
	m->n = 1;
	m->mask = NULL;
	m->at = HEDDLE_NEW_ARRAY(m->arena, int64_t, s->n_index);
	plan p = { .m = m, .statement = s, .store = &m->store[s->target->position] };
	p.bound = HEDDLE_NEW_ARRAY(m->arena, bound, s->n_index);
	p.order = HEDDLE_NEW_ARRAY(m->arena, int, s->n_index);
	p.sequential = heddle_oracle_reads_tensor(s->value, s->target);
	for (int d = 0; d < s->n_lhs; ++d)
		p.sequential = p.sequential || heddle_oracle_reads_tensor(s->lhs[d], s->target);
	p.value = stored_value(m, s);
	p.target = heddle_oracle_access(m, p.store, s->n_lhs, s->lhs, &s->location);
	if (!m->failed) {
		if (p.store->value && s->assign == HEDDLE_ASSIGN_ADD && !p.sequential)
			begin_sum(&p);
		else if (p.store->value && s->assign == HEDDLE_ASSIGN_MUL && !p.sequential)
			begin_product(&p);
		int rc = p.store->sampled ? run_sampled(&p) : run_full(&p);
		if (rc == 0)
			finish(&p);
	}
	free(p.absolute);
	free(p.term);
	free(p.large);
	free(p.small);
	free(p.sketch);
	heddle_arena_free(m->arena);
	m->arena = outer;
	return m->failed ? -1 : 0;
}
