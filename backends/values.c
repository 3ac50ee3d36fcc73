/* The printer's first half: values in the words of a dialect.
 *
 * Integer arithmetic on data wraps around, so signed + - * << on data goes through the unsigned type.  Arithmetic on
 * subscripts, whose ranges `generate` has proved, is printed plainly.  Data is whatever comes from memory, from a function or
 * from a cast of floating-point, and whatever is stored.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static code make(printer *p, int level, const char *format, ...) HEDDLE_PRINTF(3, 4);
static code make(printer *p, int level, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	code result = {heddle_arena_strdup(p->arena, heddle_text_str(&text)), level};
	heddle_text_free(&text);
	return result;
}

static const char *bind(printer *p, code value, int level) { return heddle_bind(p->arena, value, level); }

static code fault(printer *p, const char *what, const char *detail)
{
	if (!p->failed)
		heddle_error(p->ctx, 457, NULL, "%s cannot write %s%s%s", p->dialect->name, what, *detail ? ": " : "", detail);
	p->failed = true;
	return (code){"0", LEVEL_POSTFIX};
}

/* ---- types ------------------------------------------------------------------------------------------------------------- */

const char *heddle_storage_type(const printer *p, heddle_type type)
{
	return heddle_dialect_word(p->dialect, "type.%s.name", heddle_type_name(type));
}

const char *heddle_stem(const printer *p, heddle_type type)
{
	return heddle_dialect_word(p->dialect, "type.%s.stem", heddle_type_name(type));
}

static int word_number(const printer *p, const char *key)
{
	const char *word = heddle_dialect_word(p->dialect, "%s", key);
	return word ? atoi(word) : 0;
}

/* The language has a name of its own for the vector type. */
static bool named_vector(const printer *p, heddle_type type, int width)
{
	return width <= word_number(p, "vector.max_width") &&
	       width * heddle_type_size(type) <= word_number(p, "vector.max_bytes");
}

static const char *vector_of_stem(printer *p, const char *stem, int width)
{
	filler f[] = {{"stem", printer_atom(stem)}, {"width", printer_atom(printer_number(p, width))}};
	return heddle_fill(p->arena, heddle_dialect_word(p->dialect, "vector.name"), f, 2).text;
}

/* A vector as it lies in memory. */
const char *heddle_memory_vector(printer *p, heddle_type type, int width)
{
	if (named_vector(p, type, width))
		return vector_of_stem(p, heddle_stem(p, type), width);
	const char *wide = heddle_dialect_word(p->dialect, "wide.name");
	if (!wide)
		return fault(p, "a vector type", heddle_arena_printf(p->arena, "%s x %d", heddle_type_name(type), width)).text;
	filler f[] = {{"type", printer_atom(heddle_storage_type(p, type))}, {"width", printer_atom(printer_number(p, width))}};
	return heddle_fill(p->arena, wide, f, 2).text;
}

/* The type of a variable. */
const char *heddle_local_type(printer *p, heddle_type type, int width)
{
	if (width == 1) {
		const char *own = heddle_dialect_word(p->dialect, "type.%s.local", heddle_type_name(type));
		return own ? own : heddle_storage_type(p, type);
	}
	const char *condition = heddle_dialect_word(p->dialect, "vector.condition.stem");
	if (type == HEDDLE_BOOL && condition)
		return vector_of_stem(p, condition, width);
	return heddle_memory_vector(p, type, width);
}

static heddle_type unsigned_of(heddle_type type)
{
	switch (type) {
	case HEDDLE_INT8: return HEDDLE_UINT8;
	case HEDDLE_INT16: return HEDDLE_UINT16;
	case HEDDLE_INT32: return HEDDLE_UINT32;
	case HEDDLE_INT64: return HEDDLE_UINT64;
	default: return type;
	}
}

bool heddle_is_half(heddle_type type) { return type == HEDDLE_FLOAT16 || type == HEDDLE_BFLOAT16; }

/* "" for scalars, "_x4" for vectors: the ending of prelude functions. */
static const char *width_suffix(printer *p, int width)
{
	return width == 1 ? "" : heddle_arena_printf(p->arena, "_x%d", width);
}

/* ---- what is data, what cannot be negative ------------------------------------------------------------------------------- */

printer_local *heddle_find_local(printer *p, const char *name)
{
	int at = heddle_name_table_find(&p->variables, name);
	return at < 0 ? NULL : &p->variable[at];
}

bool heddle_holds_data(printer *p, const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_CALL:
		return true;
	case HEDDLE_VALUE_VARIABLE: {
		printer_local *variable = heddle_find_local(p, v->name);
		return variable && variable->data;
	}
	case HEDDLE_VALUE_CAST:
		if (heddle_type_is_float(v->arg[0]->type))
			return true;
		break;
	default:
		break;
	}
	for (int i = 0; i < v->n_arg; i++)
		if (heddle_holds_data(p, v->arg[i]))
			return true;
	return false;
}

bool heddle_is_nonnegative(printer *p, const heddle_value *v)
{
	if (heddle_type_is_unsigned(v->type))
		return true;
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		return v->i >= 0;
	case HEDDLE_VALUE_BLOCK:
	case HEDDLE_VALUE_THREAD:
	case HEDDLE_VALUE_FLOOR_MOD:
		return true;
	case HEDDLE_VALUE_SIZE:
		return p->program->size[v->i].min >= 0;
	case HEDDLE_VALUE_VARIABLE: {
		printer_local *variable = heddle_find_local(p, v->name);
		return variable && variable->nonnegative;
	}
	case HEDDLE_VALUE_CAST:
		return !heddle_type_is_float(v->arg[0]->type) && heddle_type_size(v->type) >= heddle_type_size(v->arg[0]->type) &&
		       heddle_is_nonnegative(p, v->arg[0]);
	case HEDDLE_VALUE_FLOOR_DIV:
		return heddle_is_nonnegative(p, v->arg[0]);
	case HEDDLE_VALUE_SELECT:
		return heddle_is_nonnegative(p, v->arg[1]) && heddle_is_nonnegative(p, v->arg[2]);
	case HEDDLE_VALUE_BINARY:
		switch (v->op) {
		case HEDDLE_OP_ADD:
		case HEDDLE_OP_MUL:
		case HEDDLE_OP_DIV:
		case HEDDLE_OP_MIN:
			return !heddle_holds_data(p, v) && heddle_is_nonnegative(p, v->arg[0]) && heddle_is_nonnegative(p, v->arg[1]);
		case HEDDLE_OP_MAX:
			return heddle_is_nonnegative(p, v->arg[0]) || heddle_is_nonnegative(p, v->arg[1]);
		case HEDDLE_OP_MOD:
			return heddle_is_nonnegative(p, v->arg[0]);
		case HEDDLE_OP_BITAND:
			return heddle_is_nonnegative(p, v->arg[0]) || heddle_is_nonnegative(p, v->arg[1]);
		default:
			return false;
		}
	default:
		return false;
	}
}

bool heddle_moves(printer *p, const heddle_value *v)
{
	const printer_local *variable = v->kind == HEDDLE_VALUE_VARIABLE ? heddle_find_local(p, v->name) : NULL;
	bool moves = variable && variable->moves;
	for (int i = 0; i < v->n_arg && !moves; i++)
		moves = heddle_moves(p, v->arg[i]);
	return moves;
}

/* ---- literals -------------------------------------------------------------------------------------------------------------- */

/* Round a float to `digits` fraction bits of the given 16-bit format: sign, `exponent` bits, rest. */
static unsigned to_half_bits(double f, int exponent_bits, int fraction_bits)
{
	unsigned sign = signbit(f) ? 0x8000u : 0u;
	unsigned inf = ((1u << exponent_bits) - 1u) << fraction_bits;
	if (isnan(f))
		return inf | (1u << (fraction_bits - 1));
	if (isinf(f))
		return sign | inf;
	if (f == 0)
		return sign;
	int bias = (1 << (exponent_bits - 1)) - 1, e;
	(void)frexp(f, &e); /* |f| in [2^(e-1), 2^e) */
	int place = (e - 1 < 1 - bias ? 1 - bias : e - 1) - fraction_bits; /* weight of the last bit */
	double scaled = nearbyint(ldexp(fabs(f), -place));
	double value = ldexp(scaled, place);
	if (value >= ldexp(1.0, bias + 1))
		return sign | inf;
	(void)frexp(value, &e);
	if (value < ldexp(1.0, 1 - bias))
		return sign | (unsigned)scaled;
	unsigned biased = (unsigned)(e - 1 + bias);
	return sign | (biased << fraction_bits) | ((unsigned)ldexp(value, fraction_bits - (e - 1)) & ((1u << fraction_bits) - 1u));
}

static code float_literal(printer *p, heddle_type type, double f)
{
	if (heddle_is_half(type))
		return make(p, LEVEL_POSTFIX, "0x%04x",
			    type == HEDDLE_FLOAT16 ? to_half_bits(f, 5, 10) : to_half_bits(f, 8, 7));
	const char *name = heddle_type_name(type);
	double rounded = type == HEDDLE_FLOAT32 ? (double)(float)f : f;
	if (isnan(rounded))
		return (code){heddle_dialect_word(p->dialect, "nan.%s", name), LEVEL_POSTFIX};
	if (isinf(rounded)) {
		const char *word = heddle_dialect_word(p->dialect, "infinity.%s", name);
		code positive = {word, heddle_template_level(word)};
		return rounded > 0 ? positive : make(p, LEVEL_UNARY, "-%s", bind(p, positive, LEVEL_UNARY));
	}
	char buffer[40];
	const char *digits = type == HEDDLE_FLOAT32 ? heddle_format_float((float)f, buffer) : heddle_format_double(f, buffer);
	const char *suffix = heddle_dialect_word(p->dialect, "type.%s.suffix", name);
	return make(p, *digits == '-' ? LEVEL_UNARY : LEVEL_POSTFIX, "%s%s%s", digits, strpbrk(digits, ".e") ? "" : ".0",
		    suffix ? suffix : "");
}

/* An integer literal.  `exact`: its C type must be `type` (an argument of a generic function), not just hold the value. */
static code int_literal(printer *p, heddle_type type, int64_t i, bool exact)
{
	if (type == HEDDLE_BOOL) {
		const char *word = heddle_dialect_word(p->dialect, i ? "boolean.true" : "boolean.false");
		return printer_atom(word ? word : i ? "true" : "false");
	}
	const char *suffix = heddle_dialect_word(p->dialect, "type.%s.suffix", heddle_type_name(type));
	bool is_unsigned = heddle_type_is_unsigned(type);
	if (heddle_type_size(type) < 4)
		return exact ? make(p, LEVEL_UNARY, i < 0 ? "(%s)(%lld)" : "(%s)%lld", heddle_storage_type(p, type), (long long)i)
			     : make(p, i < 0 ? LEVEL_UNARY : LEVEL_POSTFIX, "%lld", (long long)i);
	if (is_unsigned)
		return make(p, LEVEL_POSTFIX, "%llu%s",
			    (unsigned long long)(type == HEDDLE_UINT32 ? (uint32_t)i : (uint64_t)i), suffix ? suffix : "");
	if (!suffix || (!exact && i > INT32_MIN && i <= INT32_MAX))
		suffix = "";
	if (type == HEDDLE_INT64 ? i == INT64_MIN : i == INT32_MIN)
		return make(p, LEVEL_SUM, "%lld%s - 1", (long long)i + 1, suffix);
	return make(p, i < 0 ? LEVEL_UNARY : LEVEL_POSTFIX, "%lld%s", (long long)i, suffix);
}

/* A value where its C type matters. */
static code exact_value(printer *p, const heddle_value *v, bool data)
{
	if (v->kind == HEDDLE_VALUE_INT)
		return int_literal(p, v->type, v->i, true);
	if (v->kind == HEDDLE_VALUE_SIZE && p->program->size[v->i].min == p->program->size[v->i].max)
		return int_literal(p, v->type, p->program->size[v->i].min, true);
	return heddle_print_value(p, v, data);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static code cast_code(printer *p, heddle_type type, int width, code value)
{
	const char *own = heddle_dialect_word(p->dialect, "cast");
	if (width == 1 && own) {
		filler c[] = {{"type", printer_atom(heddle_storage_type(p, type))}, {"value", value}};
		return heddle_fill(p->arena, own, c, 2);
	}
	if (width == 1)
		return make(p, LEVEL_UNARY, "(%s)%s", heddle_storage_type(p, type), bind(p, value, LEVEL_UNARY));
	const char *convert = heddle_dialect_word(p->dialect, "vector.convert");
	if (!convert)
		return fault(p, "a conversion of vectors", "");
	filler f[] = {{"vector", printer_atom(heddle_memory_vector(p, type, width))}, {"stem", printer_atom(heddle_stem(p, type))},
		      {"width", printer_atom(printer_number(p, width))}, {"value", value}};
	return heddle_fill(p->arena, convert, f, 4);
}

static int level_of(heddle_op op)
{
	switch (op) {
	case HEDDLE_OP_ADD:
	case HEDDLE_OP_SUB: return LEVEL_SUM;
	case HEDDLE_OP_MUL:
	case HEDDLE_OP_DIV:
	case HEDDLE_OP_MOD: return LEVEL_PRODUCT;
	case HEDDLE_OP_LT:
	case HEDDLE_OP_LE:
	case HEDDLE_OP_GT:
	case HEDDLE_OP_GE: return LEVEL_LESS;
	case HEDDLE_OP_EQ:
	case HEDDLE_OP_NE: return LEVEL_EQUAL;
	case HEDDLE_OP_AND: return LEVEL_AND;
	case HEDDLE_OP_OR: return LEVEL_OR;
	case HEDDLE_OP_BITAND: return LEVEL_BITAND;
	case HEDDLE_OP_BITOR: return LEVEL_BITOR;
	case HEDDLE_OP_BITXOR: return LEVEL_BITXOR;
	case HEDDLE_OP_SHL:
	case HEDDLE_OP_SHR: return LEVEL_SHIFT;
	default: return LEVEL_UNARY;
	}
}

/* `a op b` in C's syntax.  `loose`: the operator is associative here, so the right side may keep its own chain bare. */
/* A / or % outside of parentheses: x * (y / z) is not x * y / z. */
static bool divides_openly(const char *text)
{
	int depth = 0;
	for (; *text; text++) {
		depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
		if (depth == 0 && (*text == '/' || *text == '%'))
			return true;
	}
	return false;
}

static code infix(printer *p, heddle_op op, code a, code b, bool loose)
{
	int level = level_of(op), left = level, right = level + 1;
	loose = loose && (op != HEDDLE_OP_MUL || b.level != LEVEL_PRODUCT || !divides_openly(b.text));
	if (loose && (op == HEDDLE_OP_ADD || op == HEDDLE_OP_MUL || op == HEDDLE_OP_AND || op == HEDDLE_OP_OR))
		right = level;
	/* Mixed && and ||, bits and shifts: parentheses that C does not need and readers do. */
	if (op == HEDDLE_OP_OR) {
		left = a.level == LEVEL_AND ? LEVEL_EQUAL : left;
		right = b.level == LEVEL_AND ? LEVEL_EQUAL : right;
	}
	if (level >= LEVEL_BITOR && level <= LEVEL_BITAND) {
		left = a.level == level ? level : LEVEL_UNARY;
		right = LEVEL_UNARY;
	}
	if (level == LEVEL_SHIFT)
		left = right = LEVEL_UNARY;
	if (op == HEDDLE_OP_ADD && b.text[0] == '-' && b.level >= LEVEL_PRODUCT && (isdigit((unsigned char)b.text[1])))
		return make(p, level, "%s - %s", bind(p, a, left), b.text + 1);
	const char *rhs = bind(p, b, right);
	if (op == HEDDLE_OP_SUB && *rhs == '-')
		rhs = heddle_arena_printf(p->arena, "(%s)", rhs);
	return make(p, level, "%s %s %s", bind(p, a, left), heddle_op_symbol(op), rhs);
}

static bool wraps(printer *p, const heddle_value *v, bool data)
{
	return heddle_type_is_signed(v->type) && heddle_type_size(v->type) >= 4 && (data || heddle_holds_data(p, v));
}

/* The value reinterpreted as the unsigned type, sums and products computed in it. */
static code unsigned_value(printer *p, const heddle_value *v)
{
	heddle_type type = unsigned_of(v->type);
	if (v->kind == HEDDLE_VALUE_INT)
		return int_literal(p, type, v->i, true);
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB || v->op == HEDDLE_OP_MUL))
		return infix(p, v->op, unsigned_value(p, v->arg[0]), unsigned_value(p, v->arg[1]), true);
	if (v->kind == HEDDLE_VALUE_UNARY && v->op == HEDDLE_OP_NEG)
		return make(p, LEVEL_SUM, "%s - %s", int_literal(p, type, 0, true).text,
			    bind(p, unsigned_value(p, v->arg[0]), LEVEL_PRODUCT));
	return cast_code(p, type, v->width, heddle_print_value(p, v, true));
}

/* A word with sides a and b. */
static code word_ab(printer *p, const char *key, const heddle_value *v, bool data)
{
	const char *word = heddle_dialect_word(p->dialect, "%s", key);
	if (!word)
		return fault(p, key, "");
	const char *suffix = heddle_dialect_word(p->dialect, "type.%s.suffix", heddle_type_name(v->type));
	filler f[] = {{"a", exact_value(p, v->arg[0], data)},
		      {"b", exact_value(p, v->arg[1], data)},
		      {"type", printer_atom(v->width == 1 ? heddle_storage_type(p, v->type) : heddle_memory_vector(p, v->type, v->width))},
		      {"suffix", printer_atom(suffix ? suffix : "")}};
	return heddle_fill(p->arena, word, f, 4);
}

bool heddle_is_compare(heddle_op op) { return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE; }

/* In vectors, conditions are as wide as what was compared: bring them to the dialect's own width. */
static code condition_width(printer *p, code value, heddle_type compared, int width)
{
	if (width == 1 || heddle_type_size(compared) == 4)
		return value;
	const char *narrow = heddle_dialect_word(p->dialect, "vector.condition.narrow");
	if (!narrow)
		return fault(p, "a comparison of vectors", "");
	filler f[] = {{"width", printer_atom(printer_number(p, width))}, {"value", value}};
	return heddle_fill(p->arena, narrow, f, 2);
}

bool heddle_needs_vector_arithmetic(const printer *p, const heddle_value *v)
{
	return v->width > 1 && !heddle_dialect_flag(p->dialect, "language.vector_arithmetic");
}

/* May evaluating it where the program does not go wrong: reads outside of a tensor, divisions by 0. */
static bool may_fault(const heddle_value *v)
{
	const bool divides = v->kind == HEDDLE_VALUE_FLOOR_DIV || v->kind == HEDDLE_VALUE_FLOOR_MOD ||
			     (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD));
	if (v->kind == HEDDLE_VALUE_LOAD || (divides && v->n_arg == 2 && !(v->arg[1]->kind == HEDDLE_VALUE_INT && v->arg[1]->i > 0)))
		return true;
	for (int i = 0; i < v->n_arg; i++)
		if (may_fault(v->arg[i]))
			return true;
	return false;
}

code heddle_print_joint(printer *p, const heddle_value *v)
{
	if (v->kind != HEDDLE_VALUE_BINARY || (v->op != HEDDLE_OP_AND && v->op != HEDDLE_OP_OR) || v->width > 1 || may_fault(v))
		return heddle_print_value(p, v, false);
	return infix(p, v->op == HEDDLE_OP_AND ? HEDDLE_OP_BITAND : HEDDLE_OP_BITOR, heddle_print_joint(p, v->arg[0]),
		     heddle_print_joint(p, v->arg[1]), true);
}

static bool is_widening(const heddle_value *v)
{
	return v->kind == HEDDLE_VALUE_CAST && v->type == HEDDLE_INT64 && v->width == 1 && v->arg[0]->type == HEDDLE_INT32;
}

/* The expression is a long in C; constants and sizes with one value print as what may be an int. */
static bool prints_as_long(const printer *p, const heddle_value *v)
{
	if (v->type != HEDDLE_INT64 || v->width != 1)
		return false;
	if (v->kind == HEDDLE_VALUE_SIZE)
		return p->program->size[v->i].min != p->program->size[v->i].max;
	if (v->kind == HEDDLE_VALUE_BINARY && (v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB || v->op == HEDDLE_OP_MUL))
		return prints_as_long(p, v->arg[0]) || prints_as_long(p, v->arg[1]) || is_widening(v->arg[0]) || is_widening(v->arg[1]);
	return v->kind == HEDDLE_VALUE_VARIABLE;
}

/* C converts an int beside a long by itself: there a cast to long is not printed. */
static const heddle_value *without_widening(const printer *p, const heddle_value *v, const heddle_value *beside)
{
	return is_widening(v) && prints_as_long(p, beside) ? v->arg[0] : v;
}

/* `v`, an operation or a cast of vectors that the language does for single members only. */
static code print_by_members(printer *p, const heddle_value *v)
{
	heddle_value *member[16];
	for (int i = 0; i < v->width; i++) {
		heddle_value *a = heddle_value_extract(p->scratch, v->arg[0], i);
		member[i] = v->kind == HEDDLE_VALUE_CAST ? heddle_value_cast(p->scratch, v->type, a)
							 : heddle_value_binary(p->scratch, v->op, a, heddle_value_extract(p->scratch, v->arg[1], i));
	}
	return heddle_print_value(p, heddle_value_build(p->scratch, v->width, member), true);
}

/* A shift's count, modulo the width: of a constant it is known to be less. */
static code shift_count(printer *p, const heddle_value *b, heddle_type shifted, bool data)
{
	const int width = 8 * heddle_type_size(shifted);
	if (b->kind == HEDDLE_VALUE_INT && b->i >= 0 && b->i < width)
		return heddle_print_value(p, b, data);
	return make(p, LEVEL_BITAND, "%s & %d", bind(p, heddle_print_value(p, b, data), LEVEL_UNARY), width - 1);
}

/* A vector over one scalar: the language's own way for it; NULL text: it has none, or a plain division does as well. */
static code print_quotient(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *b = v->arg[1];
	const char *word = heddle_dialect_word(p->dialect, "vector.quotient");
	int exponent;
	if (!word || v->op != HEDDLE_OP_DIV || v->width == 1 || b->kind != HEDDLE_VALUE_SPLAT ||
	    (b->arg[0]->kind == HEDDLE_VALUE_FLOAT && fabs(frexp(b->arg[0]->f, &exponent)) == 0.5)) /* exact by its inverse */
		return (code){0};
	filler f[] = {{"a", heddle_print_value(p, v->arg[0], data)},
		      {"b", heddle_print_value(p, b->arg[0], data)},
		      {"stem", printer_atom(heddle_stem(p, v->type))},
		      {"width", printer_atom(printer_number(p, v->width))}};
	return heddle_fill(p->arena, word, f, 4);
}

static code print_binary(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0], *b = v->arg[1];
	heddle_type type = a->type;
	if (heddle_needs_vector_arithmetic(p, v))
		return fault(p, "arithmetic on vectors", heddle_op_symbol(v->op));
	if (heddle_is_half(type))
		return fault(p, "arithmetic in a type that is only stored", heddle_type_name(type));
	if (heddle_is_compare(v->op))
		return condition_width(p, infix(p, v->op, heddle_print_value(p, a, false), heddle_print_value(p, b, false), false), type, v->width);
	if (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR)
		return infix(p, v->op, heddle_print_value(p, a, false), heddle_print_value(p, b, false), true);
	/* both sides run, unlike those of || and &&: they may be shuffles */
	const heddle_op of_truths = type == HEDDLE_BOOL ? heddle_op_of_truths(v->op) : v->op;
	if (of_truths != v->op)
		return infix(p, of_truths == HEDDLE_OP_OR ? HEDDLE_OP_BITOR : HEDDLE_OP_BITAND, heddle_print_value(p, a, data),
			     heddle_print_value(p, b, data), true);
	if (v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX)
		return word_ab(p, heddle_type_is_float(type) ? (v->op == HEDDLE_OP_MIN ? "float.min" : "float.max")
							     : (v->op == HEDDLE_OP_MIN ? "integer.min" : "integer.max"), v, data);
	if (heddle_type_is_float(type)) {
		if (v->op == HEDDLE_OP_MOD)
			return word_ab(p, "float.mod", v, data);
		const code quotient = print_quotient(p, v, data);
		if (quotient.text)
			return quotient;
		return infix(p, v->op, heddle_print_value(p, a, data), heddle_print_value(p, b, data), false);
	}
	data = data || heddle_holds_data(p, v);
	bool arithmetic = v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB || v->op == HEDDLE_OP_MUL;
	if (arithmetic && wraps(p, v, data))
		return cast_code(p, v->type, v->width, unsigned_value(p, v));
	const bool shifts = v->op == HEDDLE_OP_SHL || v->op == HEDDLE_OP_SHR, divides = v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD;
	const bool known = b->kind == HEDDLE_VALUE_INT && b->i != 0 && (b->i != -1 || !heddle_type_is_signed(type));
	if (v->width > 1 && ((shifts && b->kind != HEDDLE_VALUE_INT) || (divides && data && !known)))
		return print_by_members(p, v);
	if (v->op == HEDDLE_OP_SHL && wraps(p, v, data))
		return cast_code(p, v->type, v->width, infix(p, v->op, unsigned_value(p, a), shift_count(p, b, type, data), false));
	if (divides && data && !known && type != HEDDLE_BOOL)
		return word_ab(p, v->op == HEDDLE_OP_DIV ? "integer.divide" : "integer.modulo", v, data);
	if (arithmetic) {
		const heddle_value *plain = without_widening(p, a, b);
		b = without_widening(p, b, a);
		a = plain;
	}
	code left = heddle_print_value(p, a, data);
	/* C computes in int what is narrower; the product of two uint16 must not overflow there. */
	if (v->width == 1 && type == HEDDLE_UINT16 && v->op == HEDDLE_OP_MUL)
		left = make(p, LEVEL_UNARY, "(%s)%s", heddle_storage_type(p, HEDDLE_UINT32), bind(p, left, LEVEL_UNARY));
	code result = infix(p, v->op, left, shifts && v->width == 1 ? shift_count(p, b, type, data) : heddle_print_value(p, b, data), true);
	bool narrow = heddle_type_size(type) < 4 && type != HEDDLE_BOOL && v->width == 1;
	return narrow && (arithmetic || v->op == HEDDLE_OP_SHL || v->op == HEDDLE_OP_DIV) ? cast_code(p, type, 1, result) : result;
}

static code print_unary(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	if (heddle_needs_vector_arithmetic(p, v))
		return fault(p, "arithmetic on vectors", heddle_op_symbol(v->op));
	code inner = heddle_print_value(p, a, data);
	if (v->op == HEDDLE_OP_NOT)
		return make(p, LEVEL_UNARY, "!%s", bind(p, inner, LEVEL_UNARY));
	if (heddle_is_half(v->type))
		return fault(p, "arithmetic in a type that is only stored", heddle_type_name(v->type));
	if (wraps(p, v, data))
		return cast_code(p, v->type, v->width, unsigned_value(p, v));
	const char *text = bind(p, inner, LEVEL_UNARY);
	code result = make(p, LEVEL_UNARY, *text == '-' ? "-(%s)" : "-%s", text);
	bool narrow = !heddle_type_is_float(v->type) && heddle_type_size(v->type) < 4 && v->width == 1;
	return narrow ? cast_code(p, v->type, 1, result) : result;
}

static code print_floor(printer *p, const heddle_value *v, bool data)
{
	bool div = v->kind == HEDDLE_VALUE_FLOOR_DIV;
	if (heddle_is_nonnegative(p, v->arg[0]))
		return infix(p, div ? HEDDLE_OP_DIV : HEDDLE_OP_MOD, heddle_print_value(p, v->arg[0], data), heddle_print_value(p, v->arg[1], data),
			     false);
	return word_ab(p, div ? "integer.floor_div" : "integer.floor_mod", v, data);
}

/* To and from 16-bit floats through float32. */
static code convert_half(printer *p, const char *direction, heddle_type half, int width, code value)
{
	const char *word = heddle_dialect_word(p->dialect, "convert.%s.%s", heddle_type_name(half), direction);
	if (!word)
		return fault(p, "a conversion", direction);
	if (heddle_needs_vector_arithmetic(p, &(heddle_value){.width = width}))
		return fault(p, "a conversion of vectors", direction);
	filler f[] = {{"value", value}, {"suffix", printer_atom(width_suffix(p, width))}};
	return heddle_fill(p->arena, word, f, 2);
}

static code print_cast(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	heddle_type from = a->type, to = v->type;
	if (from == to)
		return heddle_print_value(p, a, data);
	if (a->kind == HEDDLE_VALUE_INT && v->width == 1 && heddle_type_is_float(to) && from != HEDDLE_UINT64)
		return float_literal(p, to, (double)a->i);
	if (a->kind == HEDDLE_VALUE_SIZE && p->program->size[a->i].min == p->program->size[a->i].max)
		return heddle_type_is_float(to) ? float_literal(p, to, (double)p->program->size[a->i].min)
						: int_literal(p, to, p->program->size[a->i].min, false);
	if (heddle_needs_vector_arithmetic(p, v))
		return fault(p, "a conversion of vectors", heddle_type_name(to));
	code value = heddle_print_value(p, a, !heddle_type_is_float(from) && (data || heddle_type_is_float(to)));
	if (heddle_is_half(from)) {
		value = convert_half(p, "to_float32", from, v->width, value);
		from = HEDDLE_FLOAT32;
		if (from == to)
			return value;
	}
	if (to == HEDDLE_BOOL)
		return condition_width(p, make(p, LEVEL_EQUAL, "%s != 0", bind(p, value, LEVEL_EQUAL + 1)), from, v->width);
	if (from == HEDDLE_BOOL && v->width > 1)
		value = make(p, LEVEL_BITAND, "%s & 1", bind(p, value, LEVEL_UNARY));
	if (heddle_is_half(to)) {
		if (from == HEDDLE_FLOAT64)
			return convert_half(p, "from_float64", to, v->width, value);
		if (from != HEDDLE_FLOAT32)
			value = cast_code(p, HEDDLE_FLOAT32, v->width, value);
		return convert_half(p, "from_float32", to, v->width, value);
	}
	if (!heddle_type_is_float(from) || heddle_type_is_float(to))
		return cast_code(p, to, v->width, value);
	/* towards zero, the nearest value beyond the range, 0 for NaN */
	const char *word = heddle_dialect_word(p->dialect, "truncate");
	if (!word)
		return fault(p, "a conversion", heddle_type_name(to));
	filler f[] = {{"type", printer_atom(v->width == 1 ? heddle_storage_type(p, to) : heddle_memory_vector(p, to, v->width))},
		      {"from", printer_atom(v->width == 1 ? heddle_storage_type(p, from) : heddle_memory_vector(p, from, v->width))},
		      {"value", value}};
	return heddle_fill(p->arena, word, f, 3);
}

static code print_select(printer *p, const heddle_value *v, bool data)
{
	code condition = heddle_print_value(p, v->arg[0], false);
	if (v->arg[0]->width > 1 && heddle_type_size(v->type) != 4 && v->type != HEDDLE_BOOL) {
		static const heddle_type same_size[] = {[1] = HEDDLE_INT8, [2] = HEDDLE_INT16, [8] = HEDDLE_INT64};
		const char *widen = heddle_dialect_word(p->dialect, "vector.condition.widen");
		if (!widen)
			return fault(p, "a choice between vectors", "");
		filler f[] = {{"vector", printer_atom(heddle_memory_vector(p, same_size[heddle_type_size(v->type)], v->width))},
			      {"value", condition}};
		condition = heddle_fill(p->arena, widen, f, 2);
	}
	code a = exact_value(p, v->arg[1], data), b = exact_value(p, v->arg[2], data);
	const char *own = heddle_dialect_word(p->dialect, v->arg[0]->width > 1 ? "vector.select" : "select");
	if (own) {
		filler s[] = {{"condition", condition}, {"a", a}, {"b", b}, {"type", printer_atom(heddle_local_type(p, v->type, v->width))}};
		return heddle_fill(p->arena, own, s, 4);
	}
	return make(p, LEVEL_SELECT, "%s ? %s : %s", bind(p, condition, LEVEL_SELECT + 1), bind(p, a, LEVEL_SELECT + 1),
		    bind(p, b, LEVEL_SELECT));
}

static code print_call(printer *p, const heddle_value *v)
{
	const char *function = heddle_builtins[v->i].name, *type = heddle_type_name(v->type);
	if (heddle_needs_vector_arithmetic(p, v))
		return fault(p, "a function of vectors", function);
	const char *word = v->width > 1 ? heddle_dialect_word(p->dialect, "function.%s.vector", function) : NULL;
	const char *own = heddle_dialect_word(p->dialect, "function.%s.%s", function, type);
	const char *most = heddle_dialect_word(p->dialect, "language.function_width");
	if (!word && v->width > 1 && (own || (most && v->width > atoi(most)))) { /* it takes scalars: member by member */
		heddle_value *member[HEDDLE_MAX_VECTOR];
		for (int i = 0; i < v->width; i++) {
			heddle_value *arg[4];
			for (int k = 0; k < v->n_arg; k++)
				arg[k] = heddle_value_extract(p->scratch, v->arg[k], i);
			member[i] = heddle_value_call(p->scratch, (int)v->i, v->type, v->n_arg, arg);
		}
		return heddle_print_value(p, heddle_value_build(p->scratch, v->width, member), true);
	}
	if (!word)
		word = own ? own : heddle_dialect_word(p->dialect, "function.default.%s", type);
	if (!word)
		return fault(p, "a function", function);
	heddle_text list = {0};
	filler f[8] = {{"function", printer_atom(function)},
		       {"type", printer_atom(heddle_storage_type(p, v->type))},
		       {"width", printer_atom(width_suffix(p, v->width))}};
	static const char *const letter[] = {"a", "b", "c", "d"};
	int n = 3;
	for (int i = 0; i < v->n_arg && i < 4; i++) {
		code argument = exact_value(p, v->arg[i], true);
		heddle_text_printf(&list, "%s%s", i ? ", " : "", argument.text);
		f[n++] = (filler){letter[i], argument};
	}
	f[n++] = (filler){"arguments", (code){heddle_arena_strdup(p->arena, heddle_text_str(&list)), LEVEL_ANY}};
	heddle_text_free(&list);
	return heddle_fill(p->arena, word, f, n);
}

static const char *member_name(printer *p, heddle_type type, int width, int64_t i)
{
	if (named_vector(p, type, width) || (type == HEDDLE_BOOL && heddle_dialect_word(p->dialect, "vector.condition.stem")))
		return heddle_dialect_word(p->dialect, "vector.member.%d", (int)i);
	filler f[] = {{"i", printer_atom(printer_number(p, i))}};
	const char *word = heddle_dialect_word(p->dialect, "wide.member");
	return word ? heddle_fill(p->arena, word, f, 1).text : fault(p, "a member of a vector", "").text;
}

/* One member of a vector; of a vector of conditions, where -1 is true. */
static code print_extract(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	const char *own = heddle_dialect_word(p->dialect, "vector.extract");
	code vector = heddle_print_value(p, a, data), member;
	if (own) {
		filler f[] = {{"value", vector}, {"i", printer_atom(printer_number(p, v->i))}};
		member = heddle_fill(p->arena, own, f, 2);
	} else {
		member = make(p, LEVEL_POSTFIX, "%s.%s", bind(p, vector, LEVEL_POSTFIX), member_name(p, a->type, a->width, v->i));
	}
	if (v->type == HEDDLE_BOOL && heddle_dialect_word(p->dialect, "vector.condition.stem"))
		return make(p, LEVEL_EQUAL, "%s != 0", bind(p, member, LEVEL_EQUAL + 1));
	return member;
}

static code print_members(printer *p, const heddle_value *v, heddle_value *const *arg, bool data)
{
	heddle_text list = {0};
	bool condition = v->type == HEDDLE_BOOL && heddle_dialect_word(p->dialect, "vector.condition.stem");
	for (int i = 0; i < v->width; i++) {
		code member = heddle_print_value(p, arg[i], data);
		if (condition)
			member = make(p, LEVEL_SELECT, "%s ? -1 : 0", bind(p, member, LEVEL_SELECT + 1));
		heddle_text_printf(&list, "%s%s", i ? ", " : "", member.text);
	}
	bool named = named_vector(p, v->type, v->width);
	const char *word = heddle_dialect_word(p->dialect, named ? "vector.build" : "wide.build");
	filler f[] = {{"vector", printer_atom(heddle_local_type(p, v->type, v->width))},
		      {"members", (code){heddle_arena_strdup(p->arena, heddle_text_str(&list)), LEVEL_ANY}}};
	heddle_text_free(&list);
	return word ? heddle_fill(p->arena, word, f, 2) : fault(p, "a vector from its members", "");
}

static code print_splat(printer *p, const heddle_value *v, bool data)
{
	heddle_value *members[HEDDLE_MAX_VECTOR];
	for (int i = 0; i < v->width; i++)
		members[i] = v->arg[0];
	const bool condition = v->type == HEDDLE_BOOL && heddle_dialect_word(p->dialect, "vector.condition.stem");
	if (condition && v->arg[0]->kind == HEDDLE_VALUE_INT)
		return make(p, LEVEL_UNARY, "(%s)(%s)", heddle_local_type(p, v->type, v->width), v->arg[0]->i ? "-1" : "0");
	if (condition)
		return make(p, LEVEL_UNARY, "(%s)(%s ? -1 : 0)", heddle_local_type(p, v->type, v->width),
			    bind(p, heddle_print_value(p, v->arg[0], false), LEVEL_SELECT + 1));
	const char *word = heddle_dialect_word(p->dialect, "vector.splat");
	if (!named_vector(p, v->type, v->width) || strstr(word, "{members}"))
		return print_members(p, v, members, data);
	code value = heddle_print_value(p, v->arg[0], data);
	filler f[] = {{"vector", printer_atom(heddle_memory_vector(p, v->type, v->width))}, {"value", value}};
	return heddle_fill(p->arena, word, f, 2);
}

/* All members combined by halves. */
static code print_reduce(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	static const char *const names[] = {[HEDDLE_OP_ADD] = "add", [HEDDLE_OP_MUL] = "mul", [HEDDLE_OP_MIN] = "min", [HEDDLE_OP_MAX] = "max"};
	const char *word = v->op < (heddle_op)HEDDLE_COUNT(names) && names[v->op]
				   ? heddle_dialect_word(p->dialect, "vector_op.reduce_%s", names[v->op])
				   : NULL;
	bool sum = v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_MUL;
	if (word) {
		heddle_type type = sum ? unsigned_of(a->type) : a->type;
		code value = type == a->type ? heddle_print_value(p, a, data) : cast_code(p, type, a->width, heddle_print_value(p, a, true));
		filler f[] = {{"stem", printer_atom(heddle_stem(p, type))}, {"width", printer_atom(printer_number(p, a->width))}, {"value", value}};
		code result = heddle_fill(p->arena, word, f, 3);
		return type == v->type ? result : cast_code(p, v->type, 1, result);
	}
	heddle_value *part[HEDDLE_MAX_VECTOR];
	for (int i = 0; i < a->width; i++)
		part[i] = heddle_value_extract(p->scratch, (heddle_value *)(uintptr_t)a, i);
	for (int half = a->width / 2; half >= 1; half /= 2)
		for (int i = 0; i < half; i++)
			part[i] = heddle_value_binary(p->scratch, v->op, part[i], part[i + half]);
	return heddle_print_value(p, part[0], true);
}

static code print_zip(printer *p, const heddle_value *v)
{
	const char *word = heddle_dialect_word(p->dialect, v->kind == HEDDLE_VALUE_ZIP ? "vector_op.zip" : "vector_op.unzip");
	if (!word)
		return fault(p, "vectors that are zipped or unzipped", "");
	filler f[] = {{"stem", printer_atom(heddle_stem(p, v->type))}, {"width", printer_atom(printer_number(p, v->width))},
		      {"half", printer_atom(v->i ? "hi" : "lo")}, {"a", heddle_print_value(p, v->arg[0], true)},
		      {"b", heddle_print_value(p, v->arg[1], true)}};
	return heddle_fill(p->arena, word, f, 5);
}

static code print_shuffle(printer *p, const heddle_value *v)
{
	const char *word = heddle_dialect_word(p->dialect, "shuffle");
	if (!word || v->width > 1)
		return fault(p, "an exchange between lanes", "");
	filler f[] = {{"value", exact_value(p, v->arg[0], true)}, {"mask", printer_atom(printer_number(p, v->i))}};
	code result = heddle_fill(p->arena, word, f, 2);
	if (v->type == HEDDLE_BOOL)
		return make(p, LEVEL_EQUAL, "%s != 0", bind(p, result, LEVEL_EQUAL));
	return heddle_type_size(v->type) < 4 ? cast_code(p, v->type, 1, result) : result;
}

code heddle_print_product(printer *p, const heddle_value *a, const heddle_value *b)
{
	return infix(p, HEDDLE_OP_MUL, heddle_print_value(p, a, true), heddle_print_value(p, b, true), false);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------------ */

bool heddle_is_global(const heddle_buffer *buffer)
{
	return buffer->role != HEDDLE_BUFFER_SHARED && buffer->role != HEDDLE_BUFFER_REGISTER && buffer->role != HEDDLE_BUFFER_SCALAR;
}

/* The greatest number of elements over all allowed sizes; INT64_MAX when unknown. */
static int64_t most_elements(printer *p, const heddle_buffer *buffer)
{
	int64_t *size = HEDDLE_NEW_ARRAY(p->arena, int64_t, p->program->n_size + 1), total = 1;
	for (int i = 0; i < p->program->n_size; i++)
		size[i] = p->program->size[i].max;
	for (int i = 0; i < buffer->rank; i++) {
		int64_t extent, stride;
		if (heddle_value_evaluate(buffer->extent[i], size, &extent) < 0)
			return INT64_MAX;
		if (!buffer->stride && __builtin_mul_overflow(total, extent, &total))
			return INT64_MAX;
		if (buffer->stride && (heddle_value_evaluate(buffer->stride[i], size, &stride) < 0 ||
				       __builtin_mul_overflow(stride, extent, &stride) || __builtin_add_overflow(total, stride, &total)))
			return INT64_MAX;
	}
	return total;
}

static heddle_value *widen(printer *p, heddle_value *v) { return v->type == HEDDLE_INT64 ? v : heddle_value_cast(p->scratch, HEDDLE_INT64, v); }

/* i0 * s0 + i1 * s1 + ..., in 64 bits where 32 are not proved enough. */
static heddle_value *strided(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	bool wide = most_elements(p, buffer) > INT32_MAX;
	heddle_value *result = NULL;
	for (int i = 0; i < n; i++)
		wide = wide || subscript[i]->type != HEDDLE_INT32 || buffer->stride[i]->kind != HEDDLE_VALUE_INT;
	for (int i = 0; i < n; i++) {
		heddle_value *stride = wide ? buffer->stride[i] : heddle_value_int(p->scratch, HEDDLE_INT32, buffer->stride[i]->i);
		heddle_value *term = heddle_value_binary(p->scratch, HEDDLE_OP_MUL, wide ? widen(p, subscript[i]) : subscript[i], stride);
		result = result ? heddle_value_binary(p->scratch, HEDDLE_OP_ADD, result, term) : term;
	}
	return result;
}

/* Row-major: ((i0 * e1) + i1) * e2 + i2, in 64 bits where 32 are not proved enough. */
static heddle_value *linear(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	if (buffer->stride && n == buffer->rank)
		return strided(p, buffer, n, subscript);
	if (n == 1)
		return subscript[0];
	bool wide = most_elements(p, buffer) > INT32_MAX;
	for (int i = 0; i < n; i++)
		wide = wide || subscript[i]->type != HEDDLE_INT32 || (i > 0 && buffer->extent[i]->kind != HEDDLE_VALUE_INT);
	heddle_value *result = wide ? widen(p, subscript[0]) : subscript[0];
	for (int i = 1; i < n; i++) {
		heddle_value *extent = buffer->extent[i];
		if (!wide)
			extent = heddle_value_int(p->scratch, HEDDLE_INT32, extent->i);
		result = heddle_value_binary(p->scratch, HEDDLE_OP_MUL, result, extent);
		result = heddle_value_binary(p->scratch, HEDDLE_OP_ADD, result, wide ? widen(p, subscript[i]) : subscript[i]);
	}
	return result;
}

/* Can chips add the offset, unsigned and of 32 bits, to a base that all threads share?  Bytes fit it, whatever the sizes, and it is not
 * negative.  Only what goes with a loop is worth it: other addresses are computed once. */
static bool offset_fits(printer *p, const heddle_buffer *buffer, const heddle_value *offset)
{
	const int64_t most = most_elements(p, buffer), size = heddle_type_size(buffer->type);
	return offset->type == HEDDLE_INT32 && most <= (INT64_C(1) << 32) / size && heddle_moves(p, offset) && !heddle_holds_data(p, offset) &&
	       heddle_is_nonnegative(p, offset);
}

/* buffer[subscript], where the language has a way of its own as base[offset] with the constant in the base. */
static code print_global(printer *p, const heddle_buffer *buffer, heddle_value *subscript)
{
	const char *name = p->buffer_name[buffer->position], *word = heddle_dialect_word(p->dialect, "element");
	const bool sum = subscript->kind == HEDDLE_VALUE_BINARY && subscript->op == HEDDLE_OP_ADD && subscript->arg[1]->kind == HEDDLE_VALUE_INT &&
			 subscript->arg[1]->i > 0;
	const heddle_value *offset = sum ? subscript->arg[0] : subscript;
	if (!word || !offset_fits(p, buffer, offset))
		return make(p, LEVEL_POSTFIX, "%s[%s]", name, heddle_print_value(p, subscript, false).text);
	code base = sum ? make(p, LEVEL_SUM, "%s + %s", name, printer_number(p, subscript->arg[1]->i)) : printer_atom(name);
	filler f[] = {{"base", base}, {"offset", heddle_print_value(p, offset, false)}};
	return heddle_fill(p->arena, word, f, 2);
}

/* buffer[subscripts], an lvalue. */
code heddle_print_element(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	const char *name = p->buffer_name[buffer->position];
	if (n == 0)
		return printer_atom(heddle_is_global(buffer) ? heddle_arena_printf(p->arena, "%s[0]", name) : name);
	if (heddle_is_global(buffer))
		return print_global(p, buffer, linear(p, buffer, n, subscript));
	heddle_text text = {0};
	heddle_text_add(&text, name);
	for (int i = 0; i < n; i++)
		heddle_text_printf(&text, "[%s]", heddle_print_value(p, subscript[i], false).text);
	code result = {heddle_arena_strdup(p->arena, heddle_text_str(&text)), LEVEL_POSTFIX};
	heddle_text_free(&text);
	return result;
}

static code print_load(printer *p, const heddle_value *v)
{
	const heddle_buffer *buffer = v->buffer;
	code place = heddle_print_element(p, buffer, v->n_arg, v->arg);
	if (v->width == buffer->width)
		return place;
	filler f[] = {{"vector", printer_atom(heddle_memory_vector(p, buffer->type, v->width))},
		      {"stem", printer_atom(heddle_stem(p, buffer->type))},
		      {"width", printer_atom(printer_number(p, v->width))},
		      {"pointer", make(p, LEVEL_UNARY, "&%s", place.text)},
		      {"ahead", int_literal(p, HEDDLE_INT64, v->i, false)}};
	const char *ahead = v->i ? heddle_dialect_word(p->dialect, "vector.load_ahead") : NULL;
	code result = heddle_fill(p->arena, ahead ? ahead : heddle_dialect_word(p->dialect, "vector.load"), f, 5);
	const char *condition = heddle_dialect_word(p->dialect, "vector.condition.from_bool");
	if (buffer->type != HEDDLE_BOOL || !condition)
		return result;
	filler c[] = {{"width", printer_atom(printer_number(p, v->width))}, {"value", result}};
	return heddle_fill(p->arena, condition, c, 2);
}

code heddle_print_value(printer *p, const heddle_value *v, bool data)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		return int_literal(p, v->type, v->i, false);
	case HEDDLE_VALUE_FLOAT:
		return float_literal(p, v->type, v->f);
	case HEDDLE_VALUE_VARIABLE: {
		const printer_local *variable = heddle_find_local(p, v->name);
		return variable ? printer_atom(variable->printed) : fault(p, "a variable that is not in scope", v->name);
	}
	case HEDDLE_VALUE_BLOCK:
		return printer_atom(p->block_name);
	case HEDDLE_VALUE_THREAD:
		return printer_atom(p->thread_name);
	case HEDDLE_VALUE_SIZE:
		if (p->program->size[v->i].min == p->program->size[v->i].max)
			return int_literal(p, HEDDLE_INT64, p->program->size[v->i].min, false);
		return printer_atom(p->size_name[v->i]);
	case HEDDLE_VALUE_LOAD:
		return print_load(p, v);
	case HEDDLE_VALUE_UNARY:
		return print_unary(p, v, data);
	case HEDDLE_VALUE_BINARY:
		return print_binary(p, v, data);
	case HEDDLE_VALUE_FLOOR_DIV:
	case HEDDLE_VALUE_FLOOR_MOD:
		return print_floor(p, v, data);
	case HEDDLE_VALUE_SELECT:
		return print_select(p, v, data);
	case HEDDLE_VALUE_CAST:
		return print_cast(p, v, data);
	case HEDDLE_VALUE_CALL:
		return print_call(p, v);
	case HEDDLE_VALUE_FMA:
		if (heddle_needs_vector_arithmetic(p, v))
			return fault(p, "arithmetic on vectors", "fma");
		if (!heddle_type_is_float(v->type) || heddle_is_half(v->type))
			return fault(p, "a fused product in this type", heddle_type_name(v->type));
		return infix(p, HEDDLE_OP_ADD,
			     infix(p, HEDDLE_OP_MUL, heddle_print_value(p, v->arg[0], data), heddle_print_value(p, v->arg[1], data), false),
			     heddle_print_value(p, v->arg[2], data), false);
	case HEDDLE_VALUE_SPLAT:
		return print_splat(p, v, data);
	case HEDDLE_VALUE_EXTRACT:
		return print_extract(p, v, data);
	case HEDDLE_VALUE_BUILD:
		return print_members(p, v, v->arg, data);
	case HEDDLE_VALUE_ZIP:
	case HEDDLE_VALUE_UNZIP:
		return print_zip(p, v);
	case HEDDLE_VALUE_REDUCE:
		return print_reduce(p, v, data);
	case HEDDLE_VALUE_SHUFFLE:
		return print_shuffle(p, v);
	}
	return fault(p, "a value of this kind", "");
}

