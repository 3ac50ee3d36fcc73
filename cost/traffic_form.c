/* Integers of a text to sums of variables and of what else is made of them, and their ranges.
 * SPDX-License-Identifier: MIT
 */
#include "cost/traffic_parts.h"

#include <string.h>

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

static int64_t bounded(int64_t x)
{
	return x > TRAFFIC_BIG ? TRAFFIC_BIG : x < -TRAFFIC_BIG ? -TRAFFIC_BIG : x;
}

static int64_t times(int64_t a, int64_t b)
{
	const int64_t x = a < 0 ? -a : a, y = b < 0 ? -b : b;
	if (x && y > TRAFFIC_BIG / x)
		return (a < 0) == (b < 0) ? TRAFFIC_BIG : -TRAFFIC_BIG;
	return a * b;
}

static int64_t floor_of(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool is_point(traffic_range r)
{
	return r.lo == r.hi;
}

static traffic_range product(traffic_range a, traffic_range b)
{
	const int64_t x[4] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
	traffic_range r = {x[0], x[0]};
	for (int i = 1; i < 4; i++) {
		r.lo = x[i] < r.lo ? x[i] : r.lo;
		r.hi = x[i] > r.hi ? x[i] : r.hi;
	}
	return r;
}

static const traffic_range unknown = {-TRAFFIC_BIG, TRAFFIC_BIG}, truth = {0, 1};

static traffic_range quotient(traffic_range a, traffic_range b, bool cut)
{
	if (!is_point(b) || b.lo <= 0)
		return unknown;
	return cut ? (traffic_range){a.lo / b.lo, a.hi / b.lo} : (traffic_range){floor_of(a.lo, b.lo), floor_of(a.hi, b.lo)};
}

static traffic_range rest(traffic_range a, traffic_range b, bool cut)
{
	if (!is_point(b) || b.lo <= 0)
		return unknown;
	if (is_point(a) && cut)
		return (traffic_range){a.lo % b.lo, a.lo % b.lo};
	if (cut && a.lo < 0)
		return (traffic_range){1 - b.lo, b.lo - 1};
	const int64_t whole = floor_of(a.lo, b.lo);
	if (whole != floor_of(a.hi, b.lo))
		return (traffic_range){0, b.lo - 1};
	return (traffic_range){a.lo - whole * b.lo, a.hi - whole * b.lo};
}

static traffic_range bits(heddle_op op, traffic_range a, traffic_range b)
{
	if (!is_point(a) || !is_point(b))
		return unknown;
	int64_t x = 0;
	switch (op) {
	case HEDDLE_OP_BITAND: x = a.lo & b.lo; break;
	case HEDDLE_OP_BITOR: x = a.lo | b.lo; break;
	case HEDDLE_OP_BITXOR: x = a.lo ^ b.lo; break;
	default: return unknown;
	}
	return (traffic_range){x, x};
}

static traffic_range range_of_atom(const traffic_atom *x, traffic_box *box)
{
	traffic_range a[3] = {{0, 0}, {0, 0}, {0, 0}};
	if (++box->work > TRAFFIC_MOST_WORK)
		return unknown;
	for (int i = 0; i < 3 && x->arg[i]; i++)
		a[i] = heddle_traffic_range(x->arg[i], box);
	switch (x->kind) {
	case TRAFFIC_VARIABLE: return box->range[x->variable];
	case TRAFFIC_DIVIDED: return quotient(a[0], a[1], false);
	case TRAFFIC_REST: return rest(a[0], a[1], false);
	case TRAFFIC_CUT_DIVIDED: return quotient(a[0], a[1], true);
	case TRAFFIC_CUT_REST: return rest(a[0], a[1], true);
	case TRAFFIC_LEAST: return (traffic_range){a[0].lo < a[1].lo ? a[0].lo : a[1].lo, a[0].hi < a[1].hi ? a[0].hi : a[1].hi};
	case TRAFFIC_GREATEST: return (traffic_range){a[0].lo > a[1].lo ? a[0].lo : a[1].lo, a[0].hi > a[1].hi ? a[0].hi : a[1].hi};
	case TRAFFIC_PRODUCT: return product(a[0], a[1]);
	case TRAFFIC_NOT_NEGATIVE: return (traffic_range){a[0].lo >= 0, a[0].hi >= 0};
	case TRAFFIC_ZERO: return a[0].lo > 0 || a[0].hi < 0 ? (traffic_range){0, 0} : is_point(a[0]) ? (traffic_range){1, 1} : truth;
	case TRAFFIC_BOTH: return (traffic_range){a[0].lo && a[1].lo, a[0].hi && a[1].hi};
	case TRAFFIC_CHOICE:
		if (is_point(a[0]))
			return a[a[0].lo ? 1 : 2];
		return (traffic_range){a[1].lo < a[2].lo ? a[1].lo : a[2].lo, a[1].hi > a[2].hi ? a[1].hi : a[2].hi};
	case TRAFFIC_BITS: return bits(x->op, a[0], a[1]);
	case TRAFFIC_DOUBT: return truth;
	case TRAFFIC_DATA: break;
	}
	return unknown;
}

traffic_range heddle_traffic_range(const traffic_form *form, traffic_box *box)
{
	traffic_range sum = {form->constant, form->constant};
	for (int t = 0; t < form->n_term; t++) {
		const int64_t by = form->term[t].by;
		const traffic_range r = range_of_atom(form->term[t].atom, box);
		sum.lo += times(by, by > 0 ? r.lo : r.hi);
		sum.hi += times(by, by > 0 ? r.hi : r.lo);
	}
	return (traffic_range){bounded(sum.lo), bounded(sum.hi)};
}

static int widest_of_atom(const traffic_atom *x, traffic_box *box)
{
	if (x->kind == TRAFFIC_VARIABLE)
		return is_point(box->range[x->variable]) ? -1 : x->variable;
	int widest = -1;
	for (int i = 0; i < 3 && x->arg[i] && widest < 0; i++)
		if (!is_point(heddle_traffic_range(x->arg[i], box)))
			widest = heddle_traffic_widest(x->arg[i], box);
	return widest;
}

int heddle_traffic_widest(const traffic_form *form, traffic_box *box)
{
	int widest = -1;
	int64_t most = 0;
	for (int t = 0; t < form->n_term; t++)
		if (form->term[t].atom->kind == TRAFFIC_DATA || form->term[t].atom->kind == TRAFFIC_DOUBT)
			return -1;
	for (int t = 0; t < form->n_term; t++) {
		const traffic_range r = range_of_atom(form->term[t].atom, box);
		int64_t width = times(form->term[t].by, r.hi - r.lo);
		width = width < 0 ? -width : width;
		const int here = width > most ? widest_of_atom(form->term[t].atom, box) : -1;
		if (here >= 0) {
			widest = here;
			most = width;
		}
	}
	return widest;
}

/* ---- sums -------------------------------------------------------------------------------------------------------------------- */

static const traffic_form *number(traffic_reader *reader, int64_t constant)
{
	traffic_form *form = HEDDLE_NEW(reader->arena, traffic_form);
	*form = (traffic_form){.constant = constant};
	return form;
}

static void add_term(traffic_form *form, const traffic_atom *atom, int64_t by)
{
	int t = 0;
	while (t < form->n_term && form->term[t].atom != atom)
		t++;
	if (t == form->n_term)
		form->term[form->n_term++] = (traffic_term){.atom = atom};
	form->term[t].by += by;
	if (form->term[t].by == 0)
		form->term[t] = form->term[--form->n_term];
}

const traffic_form *heddle_traffic_sum(traffic_reader *reader, const traffic_form *a, int64_t by, const traffic_form *b)
{
	traffic_form *sum = HEDDLE_NEW(reader->arena, traffic_form);
	*sum = (traffic_form){.constant = a->constant + by * b->constant,
			      .term = HEDDLE_NEW_ARRAY(reader->arena, traffic_term, a->n_term + b->n_term + 1)};
	for (int t = 0; t < a->n_term; t++)
		add_term(sum, a->term[t].atom, a->term[t].by);
	for (int t = 0; t < b->n_term && by; t++)
		add_term(sum, b->term[t].atom, by * b->term[t].by);
	return sum;
}

/* A number where the whole text knows it. */
static const traffic_form *of_atom(traffic_reader *reader, traffic_atom atom)
{
	traffic_atom *copy = HEDDLE_NEW(reader->arena, traffic_atom);
	*copy = atom;
	const traffic_range r = range_of_atom(copy, &reader->box);
	if (is_point(r))
		return number(reader, r.lo);
	traffic_form *form = HEDDLE_NEW(reader->arena, traffic_form);
	*form = (traffic_form){.n_term = 1, .term = HEDDLE_NEW_ARRAY(reader->arena, traffic_term, 1)};
	form->term[0] = (traffic_term){copy, 1};
	return form;
}

static const traffic_form *made(traffic_reader *reader, traffic_kind kind, const traffic_form *a, const traffic_form *b, const traffic_form *c)
{
	return of_atom(reader, (traffic_atom){.kind = kind, .arg = {a, b, c}});
}

const traffic_form *heddle_traffic_of_variable(traffic_reader *reader, int variable)
{
	return of_atom(reader, (traffic_atom){.kind = TRAFFIC_VARIABLE, .variable = variable});
}

/* ---- variables --------------------------------------------------------------------------------------------------------------- */

static int add_variable(traffic_reader *reader, traffic_range range)
{
	HEDDLE_PUSH(reader->arena, reader->box.range, reader->n_variable, range);
	return reader->n_variable - 1;
}

int heddle_traffic_variable(traffic_reader *reader, int64_t n)
{
	return add_variable(reader, (traffic_range){0, n > 0 ? n - 1 : TRAFFIC_BIG});
}

static void make_digits(traffic_reader *reader, traffic_id *id)
{
	const traffic_form *sum = number(reader, 0);
	id->first = reader->n_variable;
	for (int i = 0; i < id->n_digit; i++) {
		const int digit = add_variable(reader, (traffic_range){0, id->weight[i + 1] / id->weight[i] - 1});
		sum = heddle_traffic_sum(reader, sum, id->weight[i], heddle_traffic_of_variable(reader, digit));
	}
	id->form = sum;
}

void heddle_traffic_ids(traffic_reader *reader)
{
	make_digits(reader, &reader->block);
	make_digits(reader, &reader->thread);
}

/* The digit becomes two, the lower one with `values`, if that divides it. */
static bool split_digit(traffic_id *id, int variable, int64_t values)
{
	const int i = variable - id->first;
	if (i < 0 || i >= id->n_digit || id->n_digit == TRAFFIC_MOST_DIGITS)
		return false;
	const int64_t n = id->weight[i + 1] / id->weight[i];
	if (values <= 1 || values >= n || n % values)
		return false;
	memmove(&id->weight[i + 2], &id->weight[i + 1], sizeof(id->weight[0]) * (size_t)(id->n_digit - i));
	id->weight[i + 1] = id->weight[i] * values;
	id->n_digit++;
	return true;
}

/* ---- division ---------------------------------------------------------------------------------------------------------------- */

/* The form as by * multiple + what is left. */
static void take_multiples(traffic_reader *reader, const traffic_form *form, int64_t by, const traffic_form **multiple, const traffic_form **left)
{
	traffic_form *m = HEDDLE_NEW(reader->arena, traffic_form), *l = HEDDLE_NEW(reader->arena, traffic_form);
	const int64_t whole = floor_of(form->constant, by);
	*m = (traffic_form){.constant = whole, .term = HEDDLE_NEW_ARRAY(reader->arena, traffic_term, form->n_term + 1)};
	*l = (traffic_form){.constant = form->constant - by * whole, .term = HEDDLE_NEW_ARRAY(reader->arena, traffic_term, form->n_term + 1)};
	for (int t = 0; t < form->n_term; t++)
		if (form->term[t].by % by == 0)
			add_term(m, form->term[t].atom, form->term[t].by / by);
		else
			add_term(l, form->term[t].atom, form->term[t].by);
	*multiple = m;
	*left = l;
}

/* A digit that would leave less than `by` if it were two becomes two, in the next reading. */
static void refine(traffic_reader *reader, const traffic_form *left, int64_t by)
{
	/* what has been read so far knows the digits as they were */
	for (int t = 0; t < left->n_term && !reader->again; t++) {
		const traffic_term *term = &left->term[t];
		if (term->atom->kind == TRAFFIC_VARIABLE && term->by > 0 && by % term->by == 0 &&
		    (split_digit(&reader->block, term->atom->variable, by / term->by) ||
		     split_digit(&reader->thread, term->atom->variable, by / term->by)))
			reader->again = true;
	}
}

static const traffic_form *divide(traffic_reader *reader, const traffic_form *a, const traffic_form *b, bool remainder, bool cut)
{
	const traffic_range by = heddle_traffic_range(b, &reader->box), whole = heddle_traffic_range(a, &reader->box);
	cut = cut && whole.lo < 0;
	if (cut || !is_point(by) || by.lo <= 0)
		return made(reader, remainder ? (cut ? TRAFFIC_CUT_REST : TRAFFIC_REST) : cut ? TRAFFIC_CUT_DIVIDED : TRAFFIC_DIVIDED, a, b, NULL);
	const traffic_form *multiple, *left;
	take_multiples(reader, a, by.lo, &multiple, &left);
	const traffic_range r = heddle_traffic_range(left, &reader->box);
	const bool less = r.lo >= 0 && r.hi < by.lo;
	if (!less)
		refine(reader, left, by.lo);
	if (remainder)
		return less ? left : made(reader, TRAFFIC_REST, left, b, NULL);
	return less ? multiple : heddle_traffic_sum(reader, multiple, 1, made(reader, TRAFFIC_DIVIDED, left, b, NULL));
}

/* ---- values of the text ------------------------------------------------------------------------------------------------------ */

static bool is_integer(const heddle_value *v)
{
	return v->width == 1 && !heddle_type_is_float(v->type);
}

static const traffic_form *data(traffic_reader *reader, const heddle_value *v)
{
	const bool place = v->kind == HEDDLE_VALUE_LOAD && v->n_arg == 1 && is_integer(v->arg[0]);
	if (v->kind == HEDDLE_VALUE_CAST && is_integer(v->arg[0]) && v->type != HEDDLE_BOOL)
		return data(reader, v->arg[0]);
	const traffic_form *form = place ? heddle_traffic_read(reader, v->arg[0]) : NULL;
	return of_atom(reader, (traffic_atom){.kind = v->type == HEDDLE_BOOL ? TRAFFIC_DOUBT : TRAFFIC_DATA,
					      .variable = place && v->buffer->role != HEDDLE_BUFFER_SHARED && v->buffer->role != HEDDLE_BUFFER_REGISTER ? 0 : -1,
					      .arg = {form}});
}

static const traffic_form *negated(traffic_reader *reader, const traffic_form *a)
{
	return heddle_traffic_sum(reader, number(reader, 1), -1, a);
}

static const traffic_form *not_negative(traffic_reader *reader, const traffic_form *a, int64_t by, const traffic_form *b, int64_t plus)
{
	const traffic_form *sum = heddle_traffic_sum(reader, number(reader, plus), by, b);
	return made(reader, TRAFFIC_NOT_NEGATIVE, heddle_traffic_sum(reader, sum, -by, a), NULL, NULL);
}

static const traffic_form *shifted(traffic_reader *reader, const heddle_value *v, const traffic_form *a, const traffic_form *b)
{
	const traffic_range by = heddle_traffic_range(b, &reader->box);
	if (!is_point(by) || by.lo < 0 || by.lo > 40)
		return data(reader, v);
	const int64_t power = INT64_C(1) << by.lo;
	return v->op == HEDDLE_OP_SHL ? heddle_traffic_sum(reader, number(reader, 0), power, a) : divide(reader, a, number(reader, power), false, false);
}

static const traffic_form *masked(traffic_reader *reader, const traffic_form *a, const traffic_form *b)
{
	const traffic_range by = heddle_traffic_range(b, &reader->box);
	if (is_point(by) && by.lo > 0 && ((by.lo + 1) & by.lo) == 0)
		return divide(reader, a, number(reader, by.lo + 1), true, false);
	return of_atom(reader, (traffic_atom){.kind = TRAFFIC_BITS, .op = HEDDLE_OP_BITAND, .arg = {a, b}});
}

static const traffic_form *either(traffic_reader *reader, const traffic_form *a, const traffic_form *b)
{
	return negated(reader, made(reader, TRAFFIC_BOTH, negated(reader, a), negated(reader, b), NULL));
}

static const traffic_form *equal(traffic_reader *reader, const traffic_form *a, const traffic_form *b)
{
	return made(reader, TRAFFIC_ZERO, heddle_traffic_sum(reader, a, -1, b), NULL, NULL);
}

static const traffic_form *multiplied(traffic_reader *reader, const traffic_form *a, const traffic_form *b)
{
	const traffic_range x = heddle_traffic_range(a, &reader->box), y = heddle_traffic_range(b, &reader->box);
	if (is_point(y))
		return heddle_traffic_sum(reader, number(reader, 0), y.lo, a);
	if (is_point(x))
		return heddle_traffic_sum(reader, number(reader, 0), x.lo, b);
	return made(reader, TRAFFIC_PRODUCT, a, b, NULL);
}

/* Of two truths. */
static const traffic_form *read_truths(traffic_reader *reader, const heddle_value *v, const traffic_form *a, const traffic_form *b)
{
	switch (v->op) {
	case HEDDLE_OP_AND:
	case HEDDLE_OP_BITAND: return made(reader, TRAFFIC_BOTH, a, b, NULL);
	case HEDDLE_OP_OR:
	case HEDDLE_OP_BITOR: return either(reader, a, b);
	case HEDDLE_OP_EQ: return equal(reader, a, b);
	case HEDDLE_OP_NE:
	case HEDDLE_OP_BITXOR: return negated(reader, equal(reader, a, b));
	default: return data(reader, v);
	}
}

static const traffic_form *read_binary(traffic_reader *reader, const heddle_value *v)
{
	const traffic_form *a = heddle_traffic_read(reader, v->arg[0]), *b = heddle_traffic_read(reader, v->arg[1]);
	if (v->arg[0]->type == HEDDLE_BOOL)
		return read_truths(reader, v, a, b);
	switch (v->op) {
	case HEDDLE_OP_ADD: return heddle_traffic_sum(reader, a, 1, b);
	case HEDDLE_OP_SUB: return heddle_traffic_sum(reader, a, -1, b);
	case HEDDLE_OP_MUL: return multiplied(reader, a, b);
	case HEDDLE_OP_DIV: return divide(reader, a, b, false, true);
	case HEDDLE_OP_MOD: return divide(reader, a, b, true, true);
	case HEDDLE_OP_MIN: return made(reader, TRAFFIC_LEAST, a, b, NULL);
	case HEDDLE_OP_MAX: return made(reader, TRAFFIC_GREATEST, a, b, NULL);
	case HEDDLE_OP_LT: return not_negative(reader, a, 1, b, -1);
	case HEDDLE_OP_LE: return not_negative(reader, a, 1, b, 0);
	case HEDDLE_OP_GT: return not_negative(reader, a, -1, b, -1);
	case HEDDLE_OP_GE: return not_negative(reader, a, -1, b, 0);
	case HEDDLE_OP_EQ: return equal(reader, a, b);
	case HEDDLE_OP_NE: return negated(reader, equal(reader, a, b));
	case HEDDLE_OP_BITAND: return v->arg[0]->kind == HEDDLE_VALUE_INT ? masked(reader, b, a) : masked(reader, a, b);
	case HEDDLE_OP_SHL:
	case HEDDLE_OP_SHR: return shifted(reader, v, a, b);
	case HEDDLE_OP_BITOR:
	case HEDDLE_OP_BITXOR: return of_atom(reader, (traffic_atom){.kind = TRAFFIC_BITS, .op = v->op, .arg = {a, b}});
	default: return data(reader, v);
	}
}

static const traffic_form *read_name(traffic_reader *reader, const heddle_value *v)
{
	traffic_name *name = reader->scope;
	while (name && strcmp(name->name, v->name))
		name = name->outer;
	if (!name)
		return data(reader, v);
	if (!name->form)
		name->form = heddle_traffic_read(reader, name->value);
	return name->form;
}

static const traffic_form *read_plain(traffic_reader *reader, const heddle_value *v)
{
	int64_t known;
	if (!is_integer(v))
		return data(reader, v);
	if (heddle_value_evaluate(v, reader->size, &known) == 0)
		return number(reader, known);
	switch (v->kind) {
	case HEDDLE_VALUE_BLOCK: return reader->block.form;
	case HEDDLE_VALUE_THREAD: return reader->thread.form;
	case HEDDLE_VALUE_VARIABLE: return read_name(reader, v);
	case HEDDLE_VALUE_UNARY: {
		const traffic_form *a = heddle_traffic_read(reader, v->arg[0]);
		return v->op == HEDDLE_OP_NOT ? negated(reader, a) : heddle_traffic_sum(reader, number(reader, 0), -1, a);
	}
	case HEDDLE_VALUE_BINARY: return is_integer(v->arg[0]) ? read_binary(reader, v) : data(reader, v);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		return divide(reader, heddle_traffic_read(reader, v->arg[0]), heddle_traffic_read(reader, v->arg[1]), v->kind == HEDDLE_VALUE_FLOOR_MOD, false);
	case HEDDLE_VALUE_SELECT:
		return made(reader, TRAFFIC_CHOICE, heddle_traffic_read(reader, v->arg[0]), heddle_traffic_read(reader, v->arg[1]),
			    heddle_traffic_read(reader, v->arg[2]));
	case HEDDLE_VALUE_CAST:
		if (!is_integer(v->arg[0]))
			return data(reader, v);
		if (v->type == HEDDLE_BOOL && v->arg[0]->type != HEDDLE_BOOL)
			return negated(reader, equal(reader, heddle_traffic_read(reader, v->arg[0]), number(reader, 0)));
		return heddle_traffic_read(reader, v->arg[0]);
	default: return data(reader, v);
	}
}

/* Has the type room for all of these? */
static bool fits(heddle_type type, traffic_range r)
{
	const int bits = type == HEDDLE_BOOL ? 1 : 8 * heddle_type_size(type) - !heddle_type_is_unsigned(type);
	const bool below = heddle_type_is_unsigned(type); /* it has nothing there */
	if (bits >= 63) /* what is as great as can be known is not known */
		return r.lo < TRAFFIC_BIG && r.hi > -TRAFFIC_BIG && (r.lo >= 0 || !below);
	return r.hi < INT64_C(1) << bits && r.lo >= (below ? 0 : -(INT64_C(1) << bits));
}

const traffic_form *heddle_traffic_read(traffic_reader *reader, const heddle_value *v)
{
	const traffic_form *form = read_plain(reader, v);
	const bool wraps = v->type != HEDDLE_INT32 || v->kind == HEDDLE_VALUE_CAST;
	return wraps && is_integer(v) && !fits(v->type, heddle_traffic_range(form, &reader->box)) ? data(reader, v) : form;
}
