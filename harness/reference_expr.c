/* Expressions of the reference evaluator: values and errors of one strip, operation by operation.
 * SPDX-License-Identifier: MIT
 */
#include "harness/reference_machine.h"

#include <float.h>
#include <math.h>

double heddle_unit_roundoff(heddle_type type)
{
	switch (type) {
	case HEDDLE_FLOAT16:
		return 0x1p-11;
	case HEDDLE_BFLOAT16:
		return 0x1p-8;
	case HEDDLE_FLOAT64:
		return 0x1p-53;
	default:
		return 0x1p-24;
	}
}

int64_t heddle_oracle_wrap(heddle_type type, int64_t value)
{
	switch (type) {
	case HEDDLE_BOOL:
		return value != 0;
	case HEDDLE_INT8:
		return (int8_t)(uint8_t)value;
	case HEDDLE_INT16:
		return (int16_t)(uint16_t)value;
	case HEDDLE_INT32:
		return (int32_t)(uint32_t)value;
	case HEDDLE_UINT8:
		return (uint8_t)value;
	case HEDDLE_UINT16:
		return (uint16_t)value;
	case HEDDLE_UINT32:
		return (uint32_t)value;
	default:
		return value;
	}
}

void heddle_oracle_fault(heddle_machine *m, int lane, int code, const heddle_location *location, const char *format, ...)
{
	if (m->failed)
		return;
	m->failed = true;
	heddle_text text = { 0 };
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	heddle_error(m->ctx, code, location, "%s", heddle_text_str(&text));
	heddle_text_clear(&text);
	for (int k = 0; k < m->statement->n_index; ++k)
		heddle_text_printf(&text, "%s%s=%lld", k ? " " : "", m->statement->index[k]->name,
				   (long long)(m->at[k] + (k == m->strip ? lane : 0)));
	if (m->statement->n_index)
		heddle_note(m->ctx, &m->statement->location, "in this statement at %s", heddle_text_str(&text));
	heddle_text_free(&text);
}

/* ---- rounding ---------------------------------------------------------------------------------------------------------- */

void heddle_oracle_round(heddle_type type, long double *value, double *error, unsigned char *mark)
{
	long double near;
	double limit;
	switch (type) {
	case HEDDLE_FLOAT16:
		near = (long double)heddle_float16_to(heddle_float16_from(*value));
		limit = 65504;
		break;
	case HEDDLE_BFLOAT16:
		near = (long double)heddle_bfloat16_to(heddle_bfloat16_from(*value));
		limit = 0x1.FEp127;
		break;
	case HEDDLE_FLOAT64:
		near = (long double)(double)*value;
		limit = DBL_MAX;
		break;
	default:
		near = (long double)(float)*value;
		limit = (double)FLT_MAX;
	}
	if (!isfinite(*value)) {
		if (*error <= DBL_MAX || isnan(*error))
			*error = 0;
		return;
	}
	long double magnitude = fabsl(*value);
	if (*error > 0 && magnitude - *error <= limit && magnitude + *error > limit) {
		*error = INFINITY; /* may or may not overflow */
		*mark |= HEDDLE_MARK_BRANCH;
	} else if (isinf(near)) {
		*value = near;
		*error = 0;
	} else if (near != *value || *error > 0) {
		double smallest = type == HEDDLE_FLOAT16    ? 0x1p-24
				  : type == HEDDLE_BFLOAT16 ? 0x1p-133
				  : type == HEDDLE_FLOAT64  ? 0x1p-1074
							    : 0x1p-149;
		*error += heddle_unit_roundoff(type) * (double)magnitude + smallest;
	}
}

/* Lane `l` of a node becomes v with the inputs' error e, plus its own rounding when v is not representable, or when what is
 * computed in its stead, from inputs that were rounded, need not be.  `unknown`: an input may be anything. */
static inline void settle(heddle_oracle_node *n, int l, long double v, double e, unsigned char q, bool unknown)
{
	heddle_strip *s = &n->s;
	long double near = n->wide ? (long double)(double)v : (long double)(float)v;
	if (near != v || (e > 0 && isfinite(v))) {
		if (isnan(v)) {
			e = 0;
		} else if (isinf(near)) {
			/* Overflow, unless the error reaches back below the limit. */
			long double limit = n->wide ? (long double)DBL_MAX : (long double)FLT_MAX;
			if (fabsl(v) - e * 2 <= limit)
				e = INFINITY;
			else
				e = 0;
			v = near;
		} else {
			e += n->u * (double)fabsl(v) + n->tiny;
		}
	} else if (isinf(v)) {
		e = 0;
	}
	if (v != 0 && fabsl(v) < (long double)n->flush + e)
		e += n->flush;
	if (unknown || !(e <= DBL_MAX)) {
		e = INFINITY;
		q = HEDDLE_MARK_BRANCH;
	} else if (e > 0 && isfinite(v) && fabsl(v) + e > (n->wide ? (long double)DBL_MAX : (long double)FLT_MAX)) {
		e = INFINITY;
		q = HEDDLE_MARK_BRANCH;
	}
	s->v[l] = v;
	s->e[l] = e;
	s->q[l] = q;
	if (e > 0 || q)
		s->clean = false;
}

/* ---- operations ---------------------------------------------------------------------------------------------------------- */

/* Lane `l` of an integer node. */
static inline void settle_int(heddle_oracle_node *n, int l, int64_t i, double e, unsigned char q)
{
	heddle_strip *s = &n->s;
	s->i[l] = heddle_oracle_wrap(n->type, i);
	s->e[l] = isnan(e) ? INFINITY : e;
	s->q[l] = q;
	if (e != 0 || q)
		s->clean = false;
}

/* f(x) moved by each argument's error to either side: the greatest change, added over the arguments.  `*jump`: f changed by
 * more than a function without jumps could, or is undefined on one side. */
typedef long double (*evaluator)(const heddle_oracle_node *n, const long double *x);

static double secants(const heddle_oracle_node *n, evaluator f, int n_arg, long double *x, const double *e, long double v,
		      bool *jump)
{
	double total = 0;
	for (int k = 0; k < n_arg; ++k) {
		if (e[k] == 0)
			continue;
		const long double here = x[k];
		long double worst = 0;
		for (int side = -1; side <= 1; side += 2) {
			x[k] = here + side * (long double)e[k];
			long double moved = f(n, x);
			if (isnan(moved) != isnan(v) || (isinf(moved) != isinf(v)))
				worst = INFINITY;
			else if (!isnan(v) && !isinf(v))
				worst = fmaxl(worst, fabsl(moved - v));
		}
		x[k] = here;
		if (isinf(worst))
			*jump = true;
		total += (double)worst;
	}
	return total;
}

static long double modulo(const heddle_oracle_node *n, const long double *x)
{
	(void)n;
	return fmodl(x[0], x[1]);
}

static long double quotient(const heddle_oracle_node *n, const long double *x)
{
	(void)n;
	return x[0] / x[1];
}

static long double call(const heddle_oracle_node *n, const long double *x)
{
	if (!n->special->nextafter)
		return heddle_special_value(n->special, x);
	return n->wide ? (long double)nextafter((double)x[0], (double)x[1])
		       : (long double)nextafterf((float)x[0], (float)x[1]);
}

/* A function of floats; `pole`: it has a pole where its last argument is zero. */
static void apply(heddle_machine *m, heddle_oracle_node *n, evaluator f, int n_arg, double ulp, double absolute, bool step,
		  bool pole)
{
	n->s.clean = true;
	for (int l = 0; l < m->n; ++l) {
		long double x[4] = { 0 };
		double e[4] = { 0 }, moved = 0;
		unsigned char q = 0;
		bool unknown = false, dirty = false, jump = false;
		if (m->mask && m->mask[l] == HEDDLE_LANE_OFF) {
			settle(n, l, 0, 0, 0, false);
			continue;
		}
		for (int k = 0; k < n_arg; ++k) {
			x[k] = n->arg[k]->s.v[l];
			e[k] = n->arg[k]->s.e[l];
			q |= n->arg[k]->s.q[l];
			unknown = unknown || isinf(e[k]);
			dirty = dirty || e[k] > 0;
		}
		long double v = f(n, x);
		if (dirty && !unknown) {
			double in = 0;
			for (int k = 0; k < n_arg; ++k)
				in += e[k];
			moved = secants(n, f, n_arg, x, e, v, &jump);
			if (pole && fabsl(x[n_arg - 1]) <= e[n_arg - 1])
				jump = true; /* the last argument may be zero: unbounded between the two sides */
			if (step && moved > 2 * in)
				q = HEDDLE_MARK_BRANCH;
		}
		if (ulp > 0.5 && isfinite(v))
			moved += n->loose * (2 * ulp * (double)fabsl(v) + absolute) * n->u + n->tiny;
		settle(n, l, v, moved, q, unknown || jump);
	}
}

/* A value between two candidates, for min and max of numbers that may be NaN. */
static void eval_minmax(heddle_machine *m, heddle_oracle_node *n, bool max)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	heddle_strip *s = &n->s;
	const bool u = heddle_type_is_unsigned(n->arg[0]->type);
	s->clean = a->clean && b->clean;
	for (int l = 0; l < m->n; ++l) {
		bool first;
		double gap;
		if (n->real) {
			first = isnan(a->v[l]) || (!isnan(b->v[l]) && (max ? a->v[l] >= b->v[l] : a->v[l] <= b->v[l]));
			s->v[l] = first ? a->v[l] : b->v[l];
			gap = isnan(s->v[l]) ? 0 : a->v[l] == b->v[l] ? 0 : (double)fabsl(a->v[l] - b->v[l]);
		} else {
			bool less = u ? (uint64_t)a->i[l] < (uint64_t)b->i[l] : a->i[l] < b->i[l];
			first = less != max;
			s->i[l] = first ? a->i[l] : b->i[l];
			gap = fabs((double)a->i[l] - (double)b->i[l]);
		}
		double ea = a->e[l], eb = b->e[l];
		s->e[l] = gap > ea + eb ? (first ? ea : eb) : fmax(ea, eb);
		s->q[l] = gap > ea + eb ? (first ? a->q[l] : b->q[l]) : a->q[l] | b->q[l];
	}
}

static bool compare(heddle_op op, int order)
{
	switch (op) {
	case HEDDLE_OP_LT:
		return order < 0;
	case HEDDLE_OP_LE:
		return order <= 0;
	case HEDDLE_OP_GT:
		return order > 0;
	case HEDDLE_OP_GE:
		return order >= 0;
	case HEDDLE_OP_EQ:
		return order == 0;
	default:
		return order != 0;
	}
}

/* A comparison is certain when its operands lie further apart than their errors, or are the same value with the same error
 * (both are then read from one result: argmax compares an element with the maximum that it gave). */
static void eval_compare(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	const bool real = n->arg[0]->real, u = heddle_type_is_unsigned(n->arg[0]->type);
	const heddle_op op = n->expr->op;
	n->s.clean = true;
	for (int l = 0; l < m->n; ++l) {
		const double slack = a->e[l] + b->e[l];
		int order;
		double gap;
		if (real) {
			if (isnan(a->v[l]) || isnan(b->v[l])) {
				bool unknown = isinf(slack);
				settle_int(n, l, op == HEDDLE_OP_NE, unknown ? 1 : 0, unknown);
				continue;
			}
			order = a->v[l] < b->v[l] ? -1 : a->v[l] > b->v[l];
			gap = order ? (double)fabsl(a->v[l] - b->v[l]) : 0;
		} else {
			order = u ? ((uint64_t)a->i[l] < (uint64_t)b->i[l] ? -1 : (uint64_t)a->i[l] > (uint64_t)b->i[l])
				  : (a->i[l] < b->i[l] ? -1 : a->i[l] > b->i[l]);
			gap = fabs((double)a->i[l] - (double)b->i[l]);
		}
		bool certain = slack == 0 || gap > slack || (order == 0 && a->e[l] == b->e[l] && !isinf(slack));
		settle_int(n, l, compare(op, order), certain ? 0 : 1, !certain);
	}
}

static void eval_logical(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	const bool and = n->expr->op == HEDDLE_OP_AND;
	n->s.clean = true;
	for (int l = 0; l < m->n; ++l) {
		bool x = a->i[l] != 0, y = b->i[l] != 0;
		/* A certain side that decides makes the result certain: false for and, true for or. */
		bool decided = (a->e[l] == 0 && x != and) || (b->e[l] == 0 && y != and);
		bool unsure = !decided && (a->e[l] > 0 || b->e[l] > 0);
		settle_int(n, l, and ? x && y : x || y, unsure ? 1 : 0, unsure);
	}
}

static void eval_float_binary(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	const bool clean = a->clean && b->clean;
	n->s.clean = true;
	switch (n->expr->op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB: {
		const int sign = n->expr->op == HEDDLE_OP_ADD ? 1 : -1;
		for (int l = 0; l < m->n; ++l)
			settle(n, l, a->v[l] + sign * b->v[l], a->e[l] + b->e[l], a->q[l] | b->q[l],
			       isinf(a->e[l]) || isinf(b->e[l]));
		return;
	}
	case HEDDLE_OP_MUL:
		if (clean) {
			for (int l = 0; l < m->n; ++l)
				settle(n, l, a->v[l] * b->v[l], 0, 0, false);
			return;
		}
		for (int l = 0; l < m->n; ++l)
			settle(n, l, a->v[l] * b->v[l],
			       (double)fabsl(a->v[l]) * b->e[l] + (double)fabsl(b->v[l]) * a->e[l] + a->e[l] * b->e[l],
			       a->q[l] | b->q[l], isinf(a->e[l]) || isinf(b->e[l]));
		return;
	case HEDDLE_OP_DIV:
		/* OpenCL allows 2.5 ulp; a divisor that may be zero makes either side's result right. */
		apply(m, n, quotient, 2, 2.5, 0, false, true);
		return;
	case HEDDLE_OP_MOD:
		apply(m, n, modulo, 2, 0, 0, true, true);
		return;
	default:
		heddle_oracle_fault(m, 0, 950, &n->expr->location, "operator '%s' has no meaning for floats",
				    heddle_op_symbol(n->expr->op));
	}
}

/* One integer operation on 64-bit patterns of equal type; a / 0 is 0 and a % 0 is a, shift counts are taken modulo the width. */
static bool integer_op(heddle_op op, heddle_type type, int64_t a, int64_t b, int64_t *r)
{
	const uint64_t x = (uint64_t)a, y = (uint64_t)b;
	const bool u = heddle_type_is_unsigned(type);
	switch (op) {
	case HEDDLE_OP_ADD:
		*r = (int64_t)(x + y);
		return true;
	case HEDDLE_OP_SUB:
		*r = (int64_t)(x - y);
		return true;
	case HEDDLE_OP_MUL:
		*r = (int64_t)(x * y);
		return true;
	case HEDDLE_OP_DIV:
		*r = !b ? 0 : u ? (int64_t)(x / y) : b == -1 ? (int64_t)(0 - x) : a / b;
		return true;
	case HEDDLE_OP_MOD:
		*r = !b ? a : u ? (int64_t)(x % y) : b == -1 ? 0 : a % b;
		return true;
	case HEDDLE_OP_BITAND:
		*r = (int64_t)(x & y);
		return true;
	case HEDDLE_OP_BITOR:
		*r = (int64_t)(x | y);
		return true;
	case HEDDLE_OP_BITXOR:
		*r = (int64_t)(x ^ y);
		return true;
	case HEDDLE_OP_SHL:
	case HEDDLE_OP_SHR:
		b &= 8 * heddle_type_size(type) - 1;
		*r = op == HEDDLE_OP_SHL ? (int64_t)(x << b) : u ? (int64_t)(x >> b) : a >> b;
		return true;
	default:
		return false;
	}
}

/* Other bits wherever the seed or the counter is not certain. */
static void eval_random(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	n->s.clean = a->clean && b->clean;
	for (int l = 0; l < m->n; ++l) {
		const uint32_t bits = heddle_special_random_bits((uint64_t)a->i[l], (uint64_t)b->i[l]);
		n->s.i[l] = (int64_t)bits;
		n->s.v[l] = (long double)bits;
		n->s.e[l] = n->s.clean || (a->e[l] == 0 && b->e[l] == 0) ? 0 : (double)INFINITY;
		n->s.q[l] = n->s.clean ? 0 : a->q[l] | b->q[l];
	}
}

static double integer_error(heddle_op op, int64_t a, double ea, int64_t b, double eb)
{
	switch (op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB:
		return ea + eb;
	case HEDDLE_OP_MUL:
		return fabs((double)a) * eb + fabs((double)b) * ea + ea * eb;
	default:
		return INFINITY;
	}
}

static void eval_integer_binary(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s, *b = &n->arg[1]->s;
	const heddle_op op = n->expr->op;
	n->s.clean = true;
	for (int l = 0; l < m->n; ++l) {
		int64_t r = 0;
		if (m->mask && m->mask[l] == HEDDLE_LANE_OFF) {
			settle_int(n, l, 0, 0, 0);
			continue;
		}
		double e = a->e[l] > 0 || b->e[l] > 0 ? integer_error(op, a->i[l], a->e[l], b->i[l], b->e[l]) : 0;
		if (!integer_op(op, n->arg[0]->type, a->i[l], b->i[l], &r))
			heddle_oracle_fault(m, l, 950, &n->expr->location, "operator '%s' has no meaning for integers",
					    heddle_op_symbol(op));
		settle_int(n, l, r, e, (a->q[l] | b->q[l]) || isinf(e));
	}
}

static void eval_unary(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s;
	n->s.clean = a->clean;
	for (int l = 0; l < m->n; ++l) {
		n->s.v[l] = -a->v[l];
		if (!n->real)
			n->s.i[l] = n->expr->op == HEDDLE_OP_NOT
					    ? !a->i[l]
					    : heddle_oracle_wrap(n->type, (int64_t)(0 - (uint64_t)a->i[l]));
		n->s.e[l] = a->e[l];
		n->s.q[l] = a->q[l];
	}
}

/* Towards zero, the nearest value of the type beyond its range, 0 for NaN. */
static long double whole_in_range(heddle_type type, long double v)
{
	const int bits = 8 * heddle_type_size(type);
	const bool is_signed = heddle_type_is_signed(type);
	const long double high = ldexpl(1, is_signed ? bits - 1 : bits), low = is_signed ? -high : 0;
	return isnan(v) ? 0 : fminl(fmaxl(truncl(v), low), high - 1);
}

static void float_to_int(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *a = &n->arg[0]->s;
	for (int l = 0; l < m->n; ++l) {
		const long double v = a->v[l];
		if (n->type == HEDDLE_BOOL) {
			bool unsure = a->e[l] > 0 && fabsl(v) <= a->e[l];
			settle_int(n, l, v != 0, unsure ? 1 : 0, unsure || a->q[l]);
			continue;
		}
		if (isinf(a->e[l])) {
			settle_int(n, l, 0, m->mask && m->mask[l] == HEDDLE_LANE_OFF ? 0 : INFINITY, HEDDLE_MARK_BRANCH);
			continue;
		}
		const long double whole = whole_in_range(n->type, v);
		double e = 0;
		if (a->e[l] > 0)
			e = (double)fmaxl(fabsl(whole_in_range(n->type, v + a->e[l]) - whole),
					  fabsl(whole_in_range(n->type, v - a->e[l]) - whole));
		settle_int(n, l, n->type == HEDDLE_UINT64 ? (int64_t)(uint64_t)whole : (int64_t)whole, e, a->q[l] || e > 0);
	}
}

static void eval_cast(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_oracle_node *from = n->arg[0];
	const heddle_strip *a = &from->s;
	n->s.clean = true;
	if (!n->real && from->real) {
		float_to_int(m, n);
	} else if (!n->real) {
		for (int l = 0; l < m->n; ++l)
			settle_int(n, l, a->i[l], n->type == HEDDLE_BOOL && a->e[l] > 0 ? 1 : a->e[l], a->q[l]);
	} else {
		const bool from_u64 = from->type == HEDDLE_UINT64;
		for (int l = 0; l < m->n; ++l) {
			long double v = from->real ? a->v[l]
				      : from_u64   ? (long double)(uint64_t)a->i[l]
						   : (long double)a->i[l];
			settle(n, l, v, a->e[l], a->q[l], isinf(a->e[l]));
			if (heddle_type_size(n->type) == 2) {
				/* Rounded here or kept in float32 until the store: both are right. */
				double before = n->s.e[l];
				heddle_oracle_round(n->type, &n->s.v[l], &n->s.e[l], &n->s.q[l]);
				if (n->s.e[l] != before || n->s.q[l])
					n->s.clean = false;
			}
		}
	}
}

/* Evaluate a branch under its own mask; false when no lane takes it. */
static bool eval_branch(heddle_machine *m, heddle_oracle_node *branch, const unsigned char *mask)
{
	bool any = false;
	for (int l = 0; l < m->n; ++l)
		any = any || mask[l];
	if (!any)
		return false;
	const unsigned char *outer = m->mask;
	m->mask = mask;
	heddle_oracle_eval(m, branch);
	m->mask = outer;
	return true;
}

static void eval_select(heddle_machine *m, heddle_oracle_node *n)
{
	const heddle_strip *c = &n->arg[0]->s, *a = &n->arg[1]->s, *b = &n->arg[2]->s;
	unsigned char *then = n->mask, *otherwise = n->mask + HEDDLE_STRIP;
	heddle_strip *s = &n->s;
	heddle_oracle_eval(m, n->arg[0]);
	for (int l = 0; l < m->n; ++l) {
		unsigned char on = m->mask ? m->mask[l] : HEDDLE_LANE_ON;
		bool unsure = c->e[l] > 0;
		then[l] = !on ? HEDDLE_LANE_OFF : unsure ? HEDDLE_LANE_MAYBE : c->i[l] ? on : HEDDLE_LANE_OFF;
		otherwise[l] = !on ? HEDDLE_LANE_OFF : unsure ? HEDDLE_LANE_MAYBE : c->i[l] ? HEDDLE_LANE_OFF : on;
	}
	eval_branch(m, n->arg[1], then);
	if (!m->failed)
		eval_branch(m, n->arg[2], otherwise);
	if (m->failed)
		return;
	s->clean = true;
	for (int l = 0; l < m->n; ++l) {
		if (m->mask && m->mask[l] == HEDDLE_LANE_OFF) {
			s->v[l] = 0;
			s->i[l] = 0;
			s->e[l] = 0;
			s->q[l] = 0;
			continue;
		}
		const heddle_strip *t = c->i[l] ? a : b, *o = c->i[l] ? b : a;
		s->v[l] = t->v[l];
		s->i[l] = t->i[l];
		s->e[l] = t->e[l];
		s->q[l] = t->q[l];
		if (c->e[l] > 0) {
			bool same = n->real ? t->v[l] == o->v[l] || (isnan(t->v[l]) && isnan(o->v[l])) : t->i[l] == o->i[l];
			double gap = same      ? 0
				     : n->real ? (double)fabsl(t->v[l] - o->v[l])
					       : fabs((double)t->i[l] - (double)o->i[l]);
			if (isnan(gap))
				gap = INFINITY;
			s->e[l] = fmax(t->e[l], gap + o->e[l]);
			s->q[l] |= o->q[l] | (same ? 0 : HEDDLE_MARK_BRANCH);
		}
		if (s->e[l] > 0 || s->q[l])
			s->clean = false;
	}
}

void heddle_oracle_eval(heddle_machine *m, heddle_oracle_node *n)
{
	if (m->failed)
		return;
	switch (n->kind) {
	case HEDDLE_EXPR_INT:
	case HEDDLE_EXPR_FLOAT:
	case HEDDLE_EXPR_SIZE:
		return;
	case HEDDLE_EXPR_READ:
		heddle_oracle_read(m, n);
		return;
	case HEDDLE_EXPR_SELECT:
		eval_select(m, n);
		return;
	case HEDDLE_EXPR_INDEX: {
		int64_t start = m->at[n->position], step = n->position == m->strip;
		n->s.clean = true;
		for (int l = 0; l < m->n; ++l) {
			n->s.i[l] = start + l * step;
			n->s.v[l] = (long double)n->s.i[l];
			n->s.e[l] = 0;
			n->s.q[l] = 0;
		}
		return;
	}
	default:
		break;
	}
	for (int k = 0; k < n->n_arg; ++k)
		heddle_oracle_eval(m, n->arg[k]);
	if (m->failed)
		return;
	switch (n->kind) {
	case HEDDLE_EXPR_UNARY:
		eval_unary(m, n);
		return;
	case HEDDLE_EXPR_CAST:
		eval_cast(m, n);
		return;
	case HEDDLE_EXPR_CALL:
		if (!n->special) {
			eval_random(m, n);
			return;
		}
		apply(m, n, call, n->n_arg, n->special->ulp, n->special->absolute, n->special->step,
		      n->special->pole);
		return;
	default:
		break;
	}
	const heddle_op op = n->expr->op;
	if (op == HEDDLE_OP_MIN || op == HEDDLE_OP_MAX)
		eval_minmax(m, n, op == HEDDLE_OP_MAX);
	else if (op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE)
		eval_compare(m, n);
	else if (op == HEDDLE_OP_AND || op == HEDDLE_OP_OR)
		eval_logical(m, n);
	else if (n->real)
		eval_float_binary(m, n);
	else
		eval_integer_binary(m, n);
}
