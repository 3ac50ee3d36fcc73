/* simplify: what the branches around a place say, and what follows from it.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify_parts.h"

/* ---- what branches around say ---------------------------------------------------------------------------------------------- */

/* A comparison as left + c < right. */
typedef struct less {
	heddle_value *left, *right;
	int64_t c;
} less;

/* v = a x: x, and a; 1 and v itself where there is no constant factor. */
static heddle_value *without_factor(heddle_value *v, int64_t *a)
{
	*a = 1;
	for (int side = 0; v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL && side < 2; side++)
		if (v->arg[side]->kind == HEDDLE_VALUE_INT) {
			*a = v->arg[side]->i;
			return v->arg[1 - side];
		}
	return v;
}

static int64_t floor_of(int64_t v, int64_t a)
{
	return v >= 0 ? v / a : -((-v + a - 1) / a);
}

static int64_t common_factor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* g a x + c < g b y is a x + floor(c / g) < b y. */
static void divide_by_factor(heddle_program *p, less *l)
{
	int64_t a, b;
	heddle_value *x = without_factor(l->left, &a), *y = without_factor(l->right, &b);
	int64_t g = common_factor(a, b);
	if (g < 2 || l->c < INT32_MIN || l->c > INT32_MAX)
		return;
	l->left = heddle_value_binary(p, HEDDLE_OP_MUL, x, heddle_value_int(p, x->type, a / g));
	l->right = heddle_value_binary(p, HEDDLE_OP_MUL, y, heddle_value_int(p, y->type, b / g));
	l->c = floor_of(l->c, g);
}

/* c < a - b is b + c < a, and a - b + c < 0 is a + c < b: where nothing wraps around. */
static void split_difference(const rewriter *r, less *l)
{
	const bool right = heddle_value_is_int(l->left, 0);
	heddle_value *plus = right ? l->right : l->left, *minus = NULL;
	if (!right && !heddle_value_is_int(l->right, 0))
		return;
	while (plus->kind == HEDDLE_VALUE_BINARY && plus->op == HEDDLE_OP_SUB && !heddle_ranges_overflow(r->s->ranges, plus)) {
		minus = minus ? heddle_value_binary(r->s->p, HEDDLE_OP_ADD, plus->arg[1], minus) : plus->arg[1];
		if (heddle_ranges_overflow(r->s->ranges, minus))
			return;
		plus = plus->arg[0];
	}
	if (!minus)
		return;
	if (plus->kind == HEDDLE_VALUE_INT) {
		l->c += right ? -plus->i : plus->i;
		plus = heddle_value_int(r->s->p, plus->type, 0);
	}
	l->left = right ? minus : plus;
	l->right = right ? plus : minus;
}

static bool as_less(const rewriter *r, heddle_value *v, less *out)
{
	heddle_program *p = r->s->p;
	int64_t c, d;
	if (v->kind != HEDDLE_VALUE_BINARY || v->op < HEDDLE_OP_LT || v->op > HEDDLE_OP_GE || !heddle_type_is_signed(v->arg[0]->type) ||
	    heddle_type_is_float(v->arg[0]->type))
		return false;
	bool swap = v->op == HEDDLE_OP_GT || v->op == HEDDLE_OP_GE, equal = v->op == HEDDLE_OP_LE || v->op == HEDDLE_OP_GE;
	out->left = simplify_without_constant(v->arg[swap], &c);
	out->right = simplify_without_constant(v->arg[!swap], &d);
	out->c = c - d - equal;
	if (out->left->kind == HEDDLE_VALUE_INT || out->right->kind == HEDDLE_VALUE_INT) { /* constants stand in c */
		if (out->left->kind == HEDDLE_VALUE_INT && out->left->i != 0) {
			out->c += out->left->i;
			out->left = heddle_value_int(p, out->left->type, 0);
		}
		if (out->right->kind == HEDDLE_VALUE_INT && out->right->i != 0) {
			out->c -= out->right->i;
			out->right = heddle_value_int(p, out->right->type, 0);
		}
	}
	split_difference(r, out);
	divide_by_factor(p, out);
	return true;
}

/* `b` holds where `a` does. */
static bool less_implies(const less *a, const less *b)
{
	return b->c <= a->c && heddle_value_equal(a->left, b->left) && heddle_value_equal(a->right, b->right);
}

/* `known` says that `v` holds, which is the comparison `b`; NULL: it is none. */
static bool implies(const rewriter *r, heddle_value *known, heddle_value *v, const less *b)
{
	less a;
	if (known->kind == HEDDLE_VALUE_BINARY && known->op == HEDDLE_OP_AND)
		return implies(r, known->arg[0], v, b) || implies(r, known->arg[1], v, b);
	return heddle_value_equal(known, v) || (b && as_less(r, known, &a) && less_implies(&a, b));
}

static bool fact_implies(const fact *f, const heddle_value *v, const less *b)
{
	return heddle_value_equal(f->condition, v) || (b && f->less && less_implies(f->less, b));
}

enum { MOST_TERMS = 12 };

/* A sum of values with factors, and a constant. */
typedef struct linear {
	int n;
	bool fits; /* there was room, and nothing overflowed */
	heddle_value *term[MOST_TERMS];
	uint32_t mark[MOST_TERMS]; /* equal for equal terms */
	int64_t factor[MOST_TERMS];
	int64_t c;
} linear;

static uint32_t mark_of(const heddle_value *v)
{
	uint32_t h = (uint32_t)v->kind * 31 + (uint32_t)v->op * 7 + (uint32_t)v->i;
	for (const char *c = v->name; c && *c; c++)
		h = h * 33 + (uint32_t)(unsigned char)*c;
	for (int i = 0; i < v->n_arg; i++)
		h = h * 65599 + mark_of(v->arg[i]);
	return h;
}

static void add_term(linear *l, heddle_value *v, uint32_t mark, int64_t factor)
{
	for (int i = 0; i < l->n; i++)
		if (l->mark[i] == mark && heddle_value_equal(l->term[i], v)) {
			l->fits = l->fits && !__builtin_add_overflow(l->factor[i], factor, &l->factor[i]);
			return;
		}
	if (l->n == MOST_TERMS) {
		l->fits = false;
		return;
	}
	l->term[l->n] = v;
	l->mark[l->n] = mark;
	l->factor[l->n++] = factor;
}

static void add_scaled(linear *l, heddle_value *v, uint32_t mark, int64_t factor, int64_t by)
{
	l->fits = l->fits && !__builtin_mul_overflow(factor, by, &factor);
	add_term(l, v, mark, factor);
}

static void add_constant(linear *l, int64_t c, int64_t factor)
{
	l->fits = l->fits && !__builtin_mul_overflow(c, factor, &c) && !__builtin_add_overflow(l->c, c, &l->c);
}

/* l + factor v. */
static void add_value(linear *l, heddle_value *v, int64_t factor)
{
	int64_t scaled, a;
	heddle_value *x;
	if (v->kind == HEDDLE_VALUE_INT) {
		add_constant(l, v->i, factor);
	} else if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB)) {
		add_value(l, v->arg[0], factor);
		add_value(l, v->arg[1], v->op == HEDDLE_OP_SUB ? -factor : factor);
	} else if ((x = without_factor(v, &a)) != v && !__builtin_mul_overflow(a, factor, &scaled)) {
		add_value(l, x, scaled);
	} else {
		add_term(l, v, mark_of(v), factor);
	}
}

bool simplify_same_sum(heddle_value *a, heddle_value *b)
{
	linear difference = {.fits = a->type == b->type && a->width == b->width};
	if (!difference.fits || heddle_type_is_float(a->type))
		return false;
	add_value(&difference, a, 1);
	add_value(&difference, b, -1);
	for (int i = 0; i < difference.n; i++)
		if (difference.factor[i] != 0)
			return false;
	return difference.fits && difference.c == 0;
}

heddle_value *simplify_quotient(const rewriter *r, heddle_value *v, int64_t *d)
{
	bool floors = v->kind == HEDDLE_VALUE_FLOOR_DIV || (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_DIV &&
							     heddle_ranges_of(r->s->ranges, v->arg[0]).lo >= 0);
	if (!floors || v->arg[1]->kind != HEDDLE_VALUE_INT || v->arg[1]->i <= 0)
		return NULL;
	*d = v->arg[1]->i;
	return v->arg[0];
}

/* Of a sum with a floor(y / d): the same without it.  The sum s - floor(y / d) is below 0 where d (s + 1) <= y, floor(y / d) + s where
 * y + d s < 0. */
static bool without_quotient(const rewriter *r, linear *l)
{
	int64_t d;
	for (int i = 0; i < l->n; i++) {
		const int64_t sign = l->factor[i];
		heddle_value *y = sign == 1 || sign == -1 ? simplify_quotient(r, l->term[i], &d) : NULL;
		if (!y)
			continue;
		linear whole = {.fits = l->fits};
		for (int k = 0; k < l->n; k++)
			if (k != i)
				add_scaled(&whole, l->term[k], l->mark[k], l->factor[k], d);
		add_constant(&whole, l->c, d);
		if (sign < 0)
			add_constant(&whole, d - 1, 1);
		add_value(&whole, y, sign);
		*l = whole;
		return true;
	}
	return false;
}

/* A comparison as `out` < 0. */
static bool as_negative(const rewriter *r, const less *x, linear *out)
{
	enum { DEPTH = 4 };
	out->n = 0;
	out->fits = true;
	out->c = 0;
	add_value(out, x->left, 1);
	add_constant(out, x->c, 1);
	add_value(out, x->right, -1);
	for (int k = 0; k < DEPTH && out->fits && without_quotient(r, out); k++)
		;
	return out->fits;
}

/* What `sign` times a sum is at most, by the ranges of its terms; false: nothing is known. */
static bool greatest(const rewriter *r, const linear *l, int sign, int64_t *most)
{
	int64_t bound;
	*most = sign * l->c;
	for (int i = 0; i < l->n; i++) {
		const int64_t factor = sign * l->factor[i];
		if (factor == 0)
			continue;
		heddle_range range = heddle_ranges_of(r->s->ranges, l->term[i]);
		int64_t end = factor > 0 ? range.hi : range.lo;
		if (end > INT32_MAX || end < INT32_MIN || __builtin_mul_overflow(end, factor, &bound) ||
		    __builtin_add_overflow(*most, bound, most))
			return false;
	}
	return true;
}

/* a < 0 is known: b < 0 holds when b - k a is never above k - 1. */
static bool implies_times(const rewriter *r, const linear *a, const linear *wanted, int64_t k)
{
	linear b = *wanted;
	for (int i = 0; i < a->n; i++)
		add_scaled(&b, a->term[i], a->mark[i], a->factor[i], -k);
	add_constant(&b, a->c, -k);
	int64_t most;
	return b.fits && greatest(r, &b, 1, &most) && most < k;
}

/* a < 0 is known, of tiles perhaps: b < 0 holds by itself, or by k times it, where that leaves a term of b's out. */
static bool implies_by_bound(const rewriter *r, const linear *a, const linear *wanted)
{
	/* without anything in common ranges alone would say it */
	bool common = false;
	int64_t times = 1;
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < wanted->n; j++) {
			if (a->mark[i] != wanted->mark[j])
				continue;
			common = true;
			if (a->factor[i] && wanted->factor[j] % a->factor[i] == 0 && wanted->factor[j] / a->factor[i] > times)
				times = wanted->factor[j] / a->factor[i];
		}
	return common && (implies_times(r, a, wanted, 1) || (times > 1 && implies_times(r, a, wanted, times)));
}

static uint64_t about(const heddle_value *v)
{
	uint64_t bits = v->n_arg || v->kind == HEDDLE_VALUE_INT ? 0 : UINT64_C(1) << mark_of(v) % 64;
	for (int k = 0; k < v->n_arg; k++)
		bits |= about(v->arg[k]);
	return bits;
}

static fact new_fact(const rewriter *r, heddle_value *condition, bool holds)
{
	fact f = {.condition = condition, .holds = holds, .up = r->facts, .about = about(condition)};
	heddle_value *true_here = holds ? condition : simplify_opposite(r->s->p, condition);
	linear form;
	less x;
	if (as_less(r, condition, &x)) {
		f.less = HEDDLE_NEW(r->s->p->arena, less);
		*f.less = x;
	}
	if (true_here && (true_here == condition ? f.less != NULL : as_less(r, true_here, &x)) && as_negative(r, &x, &form)) {
		f.form = HEDDLE_NEW(r->s->p->arena, linear);
		*f.form = form;
	}
	return f;
}

static bool is_int32(int64_t lo, int64_t hi)
{
	return lo >= INT32_MIN && hi <= INT32_MAX;
}

/* x < min(a, b) is x < a and x < b, and so is max(a, b) < x: the comparison of the extremum on `side` with its operand k in
 * its place; of min(a, b) + c with a number, where that does not overflow, the one of min(a, b) with what is c less.  `either`: the same of
 * min(a, b) < x, for which one of the two is enough.  NULL: there is none. */
static heddle_value *with_operand(const rewriter *r, heddle_value *v, int side, int k, bool either)
{
	heddle_program *p = r->s->p;
	if (v->kind != HEDDLE_VALUE_BINARY || v->op < HEDDLE_OP_LT || v->op > HEDDLE_OP_GE || heddle_type_is_float(v->arg[0]->type))
		return NULL; /* floats: an operand that is NaN is not compared */
	const bool swap = v->op == HEDDLE_OP_GT || v->op == HEDDLE_OP_GE;
	heddle_value *x = v->arg[side], *other = v->arg[1 - side];
	if (other->kind == HEDDLE_VALUE_INT && x->kind == HEDDLE_VALUE_BINARY && x->op == HEDDLE_OP_ADD && x->arg[1]->kind == HEDDLE_VALUE_INT &&
	    is_int32(other->i, other->i) && is_int32(x->arg[1]->i, x->arg[1]->i) && !heddle_ranges_overflow(r->s->ranges, x)) {
		const int64_t rest = other->i - x->arg[1]->i;
		if (!is_int32(rest, rest))
			return NULL;
		other = heddle_value_int(p, other->type, rest);
		x = x->arg[0];
	}
	if (x->kind != HEDDLE_VALUE_BINARY || x->op != ((side == swap) == either ? HEDDLE_OP_MIN : HEDDLE_OP_MAX))
		return NULL;
	return heddle_value_binary(p, v->op, side ? other : x->arg[k], side ? x->arg[k] : other);
}

static heddle_value *of_each(const rewriter *r, heddle_value *v, int side, int k)
{
	return with_operand(r, v, side, k, false);
}

/* `also`, NULL or a condition, and the facts say that all conjuncts of `v` hold. */
bool simplify_is_known(const rewriter *r, heddle_value *v, heddle_value *also)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND)
		return simplify_is_known(r, v->arg[0], also) && simplify_is_known(r, v->arg[1], also);
	for (int side = 0; side < 2; side++) {
		heddle_value *first = of_each(r, v, side, 0);
		if (first && simplify_is_known(r, first, also) && simplify_is_known(r, of_each(r, v, side, 1), also))
			return true;
		for (int k = 0; k < 2; k++) {
			heddle_value *one = with_operand(r, v, side, k, true);
			if (one && simplify_is_known(r, one, also))
				return true;
		}
	}
	less x;
	const less *compared = (also || r->facts) && as_less(r, v, &x) ? &x : NULL;
	if (also && implies(r, also, v, compared))
		return true;
	linear wanted;
	const bool bounded = r->facts && compared && as_negative(r, compared, &wanted);
	const uint64_t mine = r->facts ? about(v) : 0;
	for (const fact *f = r->facts; f; f = f->up) {
		if (!(f->about & mine))
			continue;
		if (f->holds && fact_implies(f, v, compared))
			return true;
		if (bounded && f->form && implies_by_bound(r, f->form, &wanted))
			return true;
	}
	return heddle_ranges_decide(r->s->ranges, v) == 1;
}

/* The one conjunct that keeps a condition from holding; NULL when there are several. */
static heddle_value *only_unknown(const rewriter *r, heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BINARY || v->op != HEDDLE_OP_AND)
		return v;
	if (simplify_is_known(r, v->arg[0], NULL))
		return only_unknown(r, v->arg[1]);
	return simplify_is_known(r, v->arg[1], NULL) ? only_unknown(r, v->arg[0]) : NULL;
}

/* What `known` being `holds` says of left - right: it raises *lo or lowers *hi. */
static void narrow_by(const less *k, bool holds, const less *v, int64_t *lo, int64_t *hi)
{
	if (heddle_value_equal(k->left, v->right) && heddle_value_equal(k->right, v->left)) { /* the other way around */
		if (holds && k->c + 1 > *lo)
			*lo = k->c + 1;
		if (!holds && k->c < *hi)
			*hi = k->c;
		return;
	}
	if (!heddle_value_equal(k->left, v->left) || !heddle_value_equal(k->right, v->right))
		return;
	if (holds && -k->c - 1 < *hi)
		*hi = -k->c - 1;
	if (!holds && -k->c > *lo)
		*lo = -k->c;
}

/* What left - right can be: of that as one value, in which terms may cancel; where its type may be too small for it, of the
 * two sides, and of what divides both even where they wrap around. */
static heddle_range difference(const rewriter *r, const less *x)
{
	heddle_value *d = heddle_value_binary(r->s->p, HEDDLE_OP_SUB, x->left, x->right);
	if (!heddle_ranges_overflow(r->s->ranges, d))
		return heddle_ranges_of(r->s->ranges, d);
	const int64_t a = heddle_ranges_step(r->s->ranges, x->left), b = heddle_ranges_step(r->s->ranges, x->right);
	heddle_range range = heddle_range_difference(heddle_ranges_of(r->s->ranges, x->left), heddle_ranges_of(r->s->ranges, x->right));
	if (range.modulus != 0 && (a < b ? a : b) > range.modulus) {
		range.modulus = a < b ? a : b;
		range.residue = 0;
	}
	return range;
}

/* The same by what quotients leave, where left - right has an f floor(y / d) whose f is a multiple of d: that is f / d (y - y mod d),
 * and y's terms may cancel others.  `range` with the ends that this moves inward. */
static heddle_range by_remainders(const rewriter *r, const less *x, heddle_range range)
{
	linear sum = {.fits = true}, whole = {.fits = true};
	int64_t d, lo = 0, hi = 0, most;
	bool quotients = false;
	add_value(&sum, x->left, 1);
	add_value(&sum, x->right, -1);
	for (int i = 0; i < sum.n && sum.fits; i++) {
		const int64_t factor = sum.factor[i];
		heddle_value *y = factor < -INT32_MAX || factor > INT32_MAX ? NULL : simplify_quotient(r, sum.term[i], &d);
		if (!y || factor == 0 || factor % d != 0 || heddle_ranges_overflow(r->s->ranges, y)) {
			add_term(&whole, sum.term[i], sum.mark[i], factor);
			continue;
		}
		const int64_t f = factor / d;
		const heddle_range whole_y = heddle_ranges_of(r->s->ranges, y);
		const int64_t step = heddle_gcd(whole_y.modulus, d), first = heddle_range_residue(whole_y, step), last = d - step + first;
		add_value(&whole, y, f);
		lo -= f * (f > 0 ? last : first);
		hi -= f * (f > 0 ? first : last);
		quotients = true;
	}
	add_constant(&whole, sum.c, 1);
	if (!quotients || !sum.fits || !whole.fits)
		return range;
	if (greatest(r, &whole, 1, &most) && most < INT32_MAX && most + hi < range.hi)
		range.hi = most + hi;
	if (greatest(r, &whole, -1, &most) && most < INT32_MAX && lo - most > range.lo)
		range.lo = lo - most;
	return range;
}

/* A comparison that the facts about its two sides decide: 1, 0, or -1 for neither. */
static int decide_by_facts(const rewriter *r, heddle_value *v)
{
	less x;
	if (!as_less(r, v, &x))
		return -1;
	heddle_range range = by_remainders(r, &x, difference(r, &x));
	int64_t lo = range.lo, hi = range.hi, m = range.modulus;
	const uint64_t mine = r->facts ? about(v) : 0;
	for (const fact *f = r->facts; f; f = f->up) {
		heddle_value *one = !(f->about & mine) ? NULL : f->holds ? f->condition : only_unknown(r, f->condition);
		less k;
		if (one && (one == f->condition ? f->less != NULL : as_less(r, one, &k)))
			narrow_by(one == f->condition ? f->less : &k, f->holds, &x, &lo, &hi);
	}
	if (m > 1 && lo > INT32_MIN && lo < INT32_MAX)
		lo += ((range.residue - lo) % m + m) % m;
	if (m > 1 && hi > INT32_MIN && hi < INT32_MAX)
		hi -= ((hi - range.residue) % m + m) % m;
	return hi < -x.c ? 1 : lo >= -x.c ? 0 : -1;
}

static void narrow_variables(rewriter *r, heddle_value *v, bool holds);

/* A conjunction by ranges and facts: 1, 0, or -1. */
static int decide_here(const rewriter *r, heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND) {
		int a = decide_here(r, v->arg[0]), b = a ? decide_here(r, v->arg[1]) : 0;
		return !a || !b ? 0 : a < 0 || b < 0 ? -1 : 1;
	}
	int decided = heddle_ranges_decide(r->s->ranges, v);
	return decided >= 0 ? decided : decide_by_facts(r, v);
}

/* A fact that cannot hold beside the others: nothing comes here. */
static bool is_contradicted(const rewriter *r)
{
	for (const fact *f = r->facts; f; f = f->up)
		if (f->holds && heddle_ranges_decide(r->s->ranges, f->condition) == 0)
			return true;
	return false;
}

/* What `v` is when a conjunct of `broken` fails, whichever it is: 1, 0, or -1 when that differs or is not known; 2 when none
 * of them can fail. */
static int decide_in_each_case(rewriter *r, heddle_value *broken, heddle_value *v)
{
	if (broken->kind == HEDDLE_VALUE_BINARY && broken->op == HEDDLE_OP_AND) {
		int a = decide_in_each_case(r, broken->arg[0], v), b = a < 0 ? -1 : decide_in_each_case(r, broken->arg[1], v);
		return a == 2 ? b : b == 2 || a == b ? a : -1;
	}
	if (simplify_is_known(r, broken, NULL))
		return 2;
	fact assumed = new_fact(r, broken, false);
	rewriter in_case = *r;
	in_case.facts = &assumed;
	int mark = heddle_ranges_mark(r->s->ranges);
	narrow_variables(&in_case, broken, false);
	int decided = is_contradicted(&in_case) ? 2 : decide_here(&in_case, v);
	heddle_ranges_unwind(r->s->ranges, mark);
	return decided;
}

heddle_value *simplify_opposite(heddle_program *p, heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BINARY || heddle_type_is_float(v->arg[0]->type))
		return NULL;
	switch (v->op) {
	case HEDDLE_OP_LT:
		return heddle_value_binary(p, HEDDLE_OP_GE, v->arg[0], v->arg[1]);
	case HEDDLE_OP_LE:
		return heddle_value_binary(p, HEDDLE_OP_GT, v->arg[0], v->arg[1]);
	case HEDDLE_OP_GT:
		return heddle_value_binary(p, HEDDLE_OP_LE, v->arg[0], v->arg[1]);
	case HEDDLE_OP_GE:
		return heddle_value_binary(p, HEDDLE_OP_LT, v->arg[0], v->arg[1]);
	default:
		return NULL;
	}
}

/* The condition without what is known; constant when all is. */
heddle_value *simplify_with_facts(rewriter *r, heddle_value *v)
{
	heddle_program *p = r->s->p;
	if (v->kind == HEDDLE_VALUE_INT || !simplify_is_pure(v))
		return v;
	for (const fact *f = r->facts; f; f = f->up)
		if (!f->holds && simplify_is_known(r, f->condition, v))
			return heddle_value_int(p, HEDDLE_BOOL, 0);
	if (simplify_is_known(r, v, NULL))
		return heddle_value_int(p, HEDDLE_BOOL, 1);
	heddle_value *against = simplify_opposite(p, v);
	if (against && simplify_is_known(r, against, NULL))
		return heddle_value_int(p, HEDDLE_BOOL, 0);
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < 2; k++) {
			heddle_value *each = of_each(r, v, side, k);
			if (each && simplify_is_known(r, each, NULL))
				return simplify_with_facts(r, of_each(r, v, side, 1 - k));
			if (each && decide_by_facts(r, each) == 0)
				return heddle_value_int(p, HEDDLE_BOOL, 0);
		}
	int decided = decide_by_facts(r, v);
	const uint64_t mine = r->facts ? about(v) : 0;
	for (const fact *f = r->facts; f && decided < 0; f = f->up)
		if (!f->holds && (f->about & mine) && f->condition->kind == HEDDLE_VALUE_BINARY && f->condition->op == HEDDLE_OP_AND)
			decided = decide_in_each_case(r, f->condition, v);
	if (decided >= 0 && decided < 2)
		return heddle_value_int(p, HEDDLE_BOOL, decided);
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND)
		return heddle_value_binary(p, HEDDLE_OP_AND, simplify_with_facts(r, v->arg[0]), simplify_with_facts(r, v->arg[1]));
	return v;
}

static const char *name_of(const heddle_value *x)
{
	return x->width != 1			  ? NULL
	       : x->kind == HEDDLE_VALUE_BLOCK	  ? "block"
	       : x->kind == HEDDLE_VALUE_THREAD	  ? "thread"
	       : x->kind == HEDDLE_VALUE_VARIABLE ? x->name
						  : NULL;
}

/* x = right, or not. */
static void narrow_by_equality(heddle_ranges *ranges, heddle_value *x, heddle_value *right_value, bool holds)
{
	heddle_range range = heddle_ranges_of(ranges, x), right = heddle_ranges_of(ranges, right_value);
	int64_t lo = INT64_MIN, hi = INT64_MAX;
	if (!name_of(x) || !is_int32(right.lo, right.hi))
		return;
	if (holds) {
		lo = right.lo;
		hi = right.hi;
	} else {
		lo = right.lo == right.hi && right.lo == range.lo ? range.lo + 1 : lo;
		hi = right.lo == right.hi && right.lo == range.hi ? range.hi - 1 : hi;
	}
	heddle_ranges_define(ranges, name_of(x), heddle_range_narrowed(range, lo, hi));
}

/* Variables whose range a comparison with something else limits: a x + c < right, left + c < a x, or x = right. */
static void narrow_variables(rewriter *r, heddle_value *v, bool holds)
{
	heddle_ranges *ranges = r->s->ranges;
	less k;
	int64_t a, b;
	if (holds && v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_AND) {
		narrow_variables(r, v->arg[0], true);
		narrow_variables(r, v->arg[1], true);
		return;
	}
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_EQ && heddle_type_is_signed(v->arg[0]->type) &&
	    !heddle_type_is_float(v->arg[0]->type)) {
		narrow_by_equality(ranges, v->arg[0], v->arg[1], holds);
		return;
	}
	if (!as_less(r, v, &k) || !is_int32(k.c, k.c))
		return;
	heddle_value *x = without_factor(k.left, &a), *y = without_factor(k.right, &b);
	heddle_range left = heddle_ranges_of(ranges, k.left), right = heddle_ranges_of(ranges, k.right);
	bool left_is_zero = k.left->kind == HEDDLE_VALUE_INT, right_is_zero = k.right->kind == HEDDLE_VALUE_INT;
	/* c < -m y is m y + c < 0, and -m x + c < 0 is c < m x */
	if (left_is_zero && b < 0) {
		x = y;
		a = -b;
		y = k.left;
		right = left;
	} else if (right_is_zero && a < 0) {
		y = x;
		b = -a;
		x = k.right;
		left = right;
	}
	if (name_of(x) && a > 0 && is_int32(right.lo, right.hi)) {
		int64_t most = floor_of((holds ? right.hi : right.lo) - k.c - 1, a);
		heddle_range range = heddle_ranges_of(ranges, x);
		heddle_ranges_narrow(ranges, name_of(x), heddle_range_narrowed(range, holds ? INT64_MIN : most + 1, holds ? most : INT64_MAX));
	}
	if (name_of(y) && b > 0 && is_int32(left.lo, left.hi)) {
		int64_t limit = floor_of((holds ? left.lo : left.hi) + k.c, b);
		heddle_range range = heddle_ranges_of(ranges, y);
		heddle_ranges_narrow(ranges, name_of(y), heddle_range_narrowed(range, holds ? limit + 1 : INT64_MIN, holds ? INT64_MAX : limit));
	}
}

/* A fact for what is emitted until r->facts is set back; it lives in the arena.  !(a || b) is !a and !b. */
void simplify_push_fact(rewriter *r, heddle_value *condition, bool holds)
{
	if (condition->kind == HEDDLE_VALUE_BINARY && condition->op == (holds ? HEDDLE_OP_AND : HEDDLE_OP_OR)) {
		simplify_push_fact(r, condition->arg[0], holds);
		simplify_push_fact(r, condition->arg[1], holds);
		return;
	}
	for (int side = 0; holds && side < 2; side++)
		for (int k = 0; k < 2; k++) {
			heddle_value *each = of_each(r, condition, side, k);
			if (each)
				simplify_push_fact(r, each, true);
		}
	fact *new = HEDDLE_NEW(r->s->p->arena, fact);
	*new = new_fact(r, condition, holds);
	r->facts = new;
	if (holds)
		narrow_variables(r, condition, true);
}

/* Of two facts a < 0 and b < 0 in which a term cancels out follows a + b + 1 < 0; false: none does, or there is no room. */
static bool add_forms(const linear *a, const linear *b, linear *sum)
{
	bool cancels = false;
	*sum = *a;
	for (int i = 0; i < b->n; i++)
		add_scaled(sum, b->term[i], b->mark[i], b->factor[i], 1);
	add_constant(sum, b->c, 1);
	add_constant(sum, 1, 1);
	for (int i = 0; i < a->n; i++)
		cancels = cancels || (a->factor[i] && !sum->factor[i]);
	return cancels && sum->fits;
}

void simplify_chain_facts(rewriter *r)
{
	const fact *last = r->facts;
	linear sum;
	for (const fact *f = last ? last->up : NULL; f && last->form; f = f->up) {
		/* a fact without a comparison is such a sum itself */
		if (!f->form || !f->less || !(f->about & last->about) || !add_forms(last->form, f->form, &sum))
			continue;
		fact *new = HEDDLE_NEW(r->s->p->arena, fact);
		*new = (fact){.condition = last->condition, .holds = last->holds, .up = r->facts, .about = last->about | f->about};
		new->form = HEDDLE_NEW(r->s->p->arena, linear);
		*new->form = sum;
		r->facts = new;
	}
}

/* What facts say of variables, now that more is known. */
void simplify_use_facts(rewriter *r)
{
	for (const fact *f = r->facts; f; f = f->up) {
		/* of a negated conjunction the one that is left decides conditions, but makes no number of a variable: what this branch reads with
		 * what is around it would look different */
		if (f->holds || f->condition->kind != HEDDLE_VALUE_BINARY || f->condition->op != HEDDLE_OP_AND)
			narrow_variables(r, f->condition, f->holds);
	}
}
