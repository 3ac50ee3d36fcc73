/* The one C-like printer: values, statements and device kernels in the words of a dialect.
 *
 * Integer arithmetic on data wraps around, so signed + - * << on data goes through the unsigned type.  Arithmetic on
 * subscripts, whose ranges `generate` has proved, is printed plainly.  Data is whatever comes from memory, from a function or
 * from a cast of floating-point, and whatever is stored.
 * SPDX-License-Identifier: MIT
 */
#include "backends/printer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 118 };

/* What is known of a LET or loop variable. */
typedef struct local {
	const char *name;    /* in the program */
	const char *printed; /* in the source */
	heddle_value *value; /* LET: its value */
	bool data;	     /* holds data, or is used as such */
	bool nonnegative;
} local;

typedef struct printer {
	heddle_ctx *ctx;
	heddle_arena *arena; /* of `scratch` */
	heddle_program *scratch;
	const heddle_target *target;
	const heddle_dialect *dialect;
	const heddle_program *program;
	const heddle_launch *launch;
	const char *source_name;
	heddle_text *out;
	int depth;
	int last_line;
	int n_variable;
	local *variable;
	int n_taken; /* printed names */
	const char **taken;
	const char **buffer_name; /* by position */
	const char **size_name;	  /* by position */
	const char *block_name, *thread_name, *shared_name;
	bool uses_block, uses_thread;
	bool *uses_size; /* by position */
	bool failed;
} printer;

static code print_value(printer *p, const heddle_value *v, bool data);

/* ---- text ------------------------------------------------------------------------------------------------------------- */

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

const char *heddle_bind(heddle_arena *arena, code value, int level)
{
	return value.level >= level ? value.text : heddle_arena_printf(arena, "(%s)", value.text);
}

static const char *bind(printer *p, code value, int level) { return heddle_bind(p->arena, value, level); }

static code fault(printer *p, const char *what, const char *detail)
{
	if (!p->failed)
		heddle_error(p->ctx, 457, NULL, "%s cannot write %s%s%s", p->dialect->name, what, *detail ? ": " : "", detail);
	p->failed = true;
	return (code){"0", LEVEL_POSTFIX};
}

/* The operator at `s` when it stands between spaces (`s` at the first space), and its level; 0: none. */
static int operator_level(const char *s)
{
	static const struct {
		const char *text;
		int level;
	} table[] = {
		{" ? ", LEVEL_SELECT},	{" : ", LEVEL_SELECT}, {" || ", LEVEL_OR},    {" && ", LEVEL_AND},  {" | ", LEVEL_BITOR},
		{" ^ ", LEVEL_BITXOR},	{" & ", LEVEL_BITAND}, {" == ", LEVEL_EQUAL}, {" != ", LEVEL_EQUAL}, {" < ", LEVEL_LESS},
		{" <= ", LEVEL_LESS},	{" > ", LEVEL_LESS},   {" >= ", LEVEL_LESS},  {" << ", LEVEL_SHIFT}, {" >> ", LEVEL_SHIFT},
		{" + ", LEVEL_SUM},	{" - ", LEVEL_SUM},    {" * ", LEVEL_PRODUCT}, {" / ", LEVEL_PRODUCT}, {" % ", LEVEL_PRODUCT},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (strncmp(s, table[i].text, strlen(table[i].text)) == 0)
			return table[i].level;
	return 0;
}

/* The level of a template's text: its loosest operator outside brackets, else whether it is unary. */
static int template_level(const char *s)
{
	int depth = 0, level = LEVEL_POSTFIX;
	if (strchr("*&-!~", *s))
		level = LEVEL_UNARY;
	for (const char *start = s; *s; s++) {
		if (strchr("([{", *s) || (*s == '<' && s > start && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
			depth++;
		else if (strchr(")]}", *s) || (*s == '>' && depth > 0)) {
			depth--;
			/* "(type){value}": a cast */
			if (*s == ')' && depth == 0 && *start == '(' && level > LEVEL_UNARY && s[1] && s[1] != ' ')
				level = LEVEL_UNARY;
		} else if (*s == ' ' && depth == 0) {
			int here = operator_level(s);
			if (here && here < level)
				level = here;
		}
	}
	return level;
}

/* The level that the value of the placeholder template[from .. to) needs. */
static int placeholder_level(const char *template, size_t from, size_t to)
{
	int need = LEVEL_ANY;
	char after = template[to];
	if (from > 0) {
		char before = template[from - 1];
		if (strchr("*&-!~)", before))
			need = LEVEL_UNARY;
		else if (before == ' ')
			for (size_t k = 2; k <= 4 && k <= from && need == LEVEL_ANY; k++) {
				int level = operator_level(template + from - k);
				if (level && template[from - k] == ' ')
					need = level + 1;
			}
	}
	if (after == '.' || after == '[' || after == '(')
		need = LEVEL_POSTFIX;
	else if (after == ' ') {
		int level = operator_level(template + to);
		if (level > need)
			need = level;
	}
	return need;
}

code heddle_fill(heddle_arena *arena, const char *template, const filler *list, int n)
{
	heddle_text out = {0};
	int level = template_level(template), inherited = -1;
	for (size_t i = 0; template[i];) {
		size_t length = 0;
		if (template[i] == '{')
			for (length = 1; isalnum((unsigned char)template[i + length]) || template[i + length] == '_';)
				length++;
		bool found = false;
		if (length > 1 && template[i + length] == '}') {
			for (int k = 0; k < n && !found; k++)
				if (strlen(list[k].name) == length - 1 && strncmp(list[k].name, template + i + 1, length - 1) == 0) {
					bool whole = i == 0 && template[length + 1] == '\0';
					heddle_text_add(&out, heddle_bind(arena, list[k].value,
									  placeholder_level(template, i, i + length + 1)));
					if (whole)
						inherited = list[k].value.level;
					found = true;
				}
		}
		if (found) {
			i += length + 1;
		} else {
			heddle_text_addn(&out, template + i, 1);
			i++;
		}
	}
	code result = {heddle_arena_strdup(arena, heddle_text_str(&out)), inherited >= 0 ? inherited : level};
	heddle_text_free(&out);
	return result;
}

static code atom(const char *text) { return (code){text, LEVEL_POSTFIX}; }

static const char *number(printer *p, int64_t i) { return heddle_arena_printf(p->arena, "%lld", (long long)i); }

/* ---- types ------------------------------------------------------------------------------------------------------------- */

static const char *storage_type(const printer *p, heddle_type type)
{
	return heddle_dialect_word(p->dialect, "type.%s.name", heddle_type_name(type));
}

static const char *stem_of(const printer *p, heddle_type type)
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
	filler f[] = {{"stem", atom(stem)}, {"width", atom(number(p, width))}};
	return heddle_fill(p->arena, heddle_dialect_word(p->dialect, "vector.name"), f, 2).text;
}

/* A vector as it lies in memory. */
static const char *memory_vector(printer *p, heddle_type type, int width)
{
	if (named_vector(p, type, width))
		return vector_of_stem(p, stem_of(p, type), width);
	const char *wide = heddle_dialect_word(p->dialect, "wide.name");
	if (!wide)
		return fault(p, "a vector type", heddle_arena_printf(p->arena, "%s x %d", heddle_type_name(type), width)).text;
	filler f[] = {{"type", atom(storage_type(p, type))}, {"width", atom(number(p, width))}};
	return heddle_fill(p->arena, wide, f, 2).text;
}

/* The type of a variable. */
static const char *local_type(printer *p, heddle_type type, int width)
{
	if (width == 1) {
		const char *own = heddle_dialect_word(p->dialect, "type.%s.local", heddle_type_name(type));
		return own ? own : storage_type(p, type);
	}
	const char *condition = heddle_dialect_word(p->dialect, "vector.condition.stem");
	if (type == HEDDLE_BOOL && condition)
		return vector_of_stem(p, condition, width);
	return memory_vector(p, type, width);
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

static bool is_half(heddle_type type) { return type == HEDDLE_FLOAT16 || type == HEDDLE_BFLOAT16; }

/* "" for scalars, "_x4" for vectors: the ending of prelude functions. */
static const char *width_suffix(printer *p, int width)
{
	return width == 1 ? "" : heddle_arena_printf(p->arena, "_x%d", width);
}

/* ---- what is data, what cannot be negative ------------------------------------------------------------------------------- */

static local *find_variable(printer *p, const char *name)
{
	for (int i = p->n_variable - 1; i >= 0; i--)
		if (strcmp(p->variable[i].name, name) == 0)
			return &p->variable[i];
	return NULL;
}

static bool holds_data(printer *p, const heddle_value *v)
{
	switch (v->kind) {
	case HEDDLE_VALUE_LOAD:
	case HEDDLE_VALUE_CALL:
		return true;
	case HEDDLE_VALUE_VARIABLE: {
		local *variable = find_variable(p, v->name);
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
		if (holds_data(p, v->arg[i]))
			return true;
	return false;
}

static bool nonnegative(printer *p, const heddle_value *v)
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
		local *variable = find_variable(p, v->name);
		return variable && variable->nonnegative;
	}
	case HEDDLE_VALUE_CAST:
		return !heddle_type_is_float(v->arg[0]->type) && heddle_type_size(v->type) >= heddle_type_size(v->arg[0]->type) &&
		       nonnegative(p, v->arg[0]);
	case HEDDLE_VALUE_FLOOR_DIV:
		return nonnegative(p, v->arg[0]);
	case HEDDLE_VALUE_SELECT:
		return nonnegative(p, v->arg[1]) && nonnegative(p, v->arg[2]);
	case HEDDLE_VALUE_BINARY:
		switch (v->op) {
		case HEDDLE_OP_ADD:
		case HEDDLE_OP_MUL:
		case HEDDLE_OP_DIV:
		case HEDDLE_OP_MIN:
			return !holds_data(p, v) && nonnegative(p, v->arg[0]) && nonnegative(p, v->arg[1]);
		case HEDDLE_OP_MAX:
			return nonnegative(p, v->arg[0]) || nonnegative(p, v->arg[1]);
		case HEDDLE_OP_MOD:
			return nonnegative(p, v->arg[0]);
		case HEDDLE_OP_BITAND:
			return nonnegative(p, v->arg[0]) || nonnegative(p, v->arg[1]);
		default:
			return false;
		}
	default:
		return false;
	}
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
	if (is_half(type))
		return make(p, LEVEL_POSTFIX, "0x%04x",
			    type == HEDDLE_FLOAT16 ? to_half_bits(f, 5, 10) : to_half_bits(f, 8, 7));
	const char *name = heddle_type_name(type);
	double rounded = type == HEDDLE_FLOAT32 ? (double)(float)f : f;
	if (isnan(rounded))
		return (code){heddle_dialect_word(p->dialect, "nan.%s", name), LEVEL_POSTFIX};
	if (isinf(rounded)) {
		const char *word = heddle_dialect_word(p->dialect, "infinity.%s", name);
		code positive = {word, template_level(word)};
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
	if (type == HEDDLE_BOOL)
		return atom(i ? "true" : "false");
	const char *suffix = heddle_dialect_word(p->dialect, "type.%s.suffix", heddle_type_name(type));
	bool is_unsigned = heddle_type_is_unsigned(type);
	if (heddle_type_size(type) < 4)
		return exact ? make(p, LEVEL_UNARY, i < 0 ? "(%s)(%lld)" : "(%s)%lld", storage_type(p, type), (long long)i)
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
	return print_value(p, v, data);
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static code cast_code(printer *p, heddle_type type, int width, code value)
{
	if (width == 1)
		return make(p, LEVEL_UNARY, "(%s)%s", storage_type(p, type), bind(p, value, LEVEL_UNARY));
	const char *convert = heddle_dialect_word(p->dialect, "vector.convert");
	if (!convert)
		return fault(p, "a conversion of vectors", "");
	filler f[] = {{"vector", atom(memory_vector(p, type, width))}, {"stem", atom(stem_of(p, type))},
		      {"width", atom(number(p, width))}, {"value", value}};
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
static code infix(printer *p, heddle_op op, code a, code b, bool loose)
{
	int level = level_of(op), left = level, right = level + 1;
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
	return heddle_type_is_signed(v->type) && heddle_type_size(v->type) >= 4 && (data || holds_data(p, v));
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
	return cast_code(p, type, v->width, print_value(p, v, true));
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
		      {"type", atom(v->width == 1 ? storage_type(p, v->type) : memory_vector(p, v->type, v->width))},
		      {"suffix", atom(suffix ? suffix : "")}};
	return heddle_fill(p->arena, word, f, 4);
}

static bool is_compare(heddle_op op) { return op >= HEDDLE_OP_LT && op <= HEDDLE_OP_NE; }

/* In vectors, conditions are as wide as what was compared: bring them to the dialect's own width. */
static code condition_width(printer *p, code value, heddle_type compared, int width)
{
	if (width == 1 || heddle_type_size(compared) == 4)
		return value;
	const char *narrow = heddle_dialect_word(p->dialect, "vector.condition.narrow");
	if (!narrow)
		return fault(p, "a comparison of vectors", "");
	filler f[] = {{"width", atom(number(p, width))}, {"value", value}};
	return heddle_fill(p->arena, narrow, f, 2);
}

static bool needs_vector_arithmetic(printer *p, const heddle_value *v)
{
	return v->width > 1 && !heddle_dialect_flag(p->dialect, "language.vector_arithmetic");
}

static code print_binary(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0], *b = v->arg[1];
	heddle_type type = a->type;
	if (needs_vector_arithmetic(p, v))
		return fault(p, "arithmetic on vectors", heddle_op_symbol(v->op));
	if (is_half(type))
		return fault(p, "arithmetic in a type that is only stored", heddle_type_name(type));
	if (is_compare(v->op))
		return condition_width(p, infix(p, v->op, print_value(p, a, false), print_value(p, b, false), false), type, v->width);
	if (v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR)
		return infix(p, v->op, print_value(p, a, false), print_value(p, b, false), true);
	if (v->op == HEDDLE_OP_MIN || v->op == HEDDLE_OP_MAX)
		return word_ab(p, heddle_type_is_float(type) ? (v->op == HEDDLE_OP_MIN ? "float.min" : "float.max")
							     : (v->op == HEDDLE_OP_MIN ? "integer.min" : "integer.max"), v, data);
	if (heddle_type_is_float(type)) {
		if (v->op == HEDDLE_OP_MOD)
			return word_ab(p, "float.mod", v, data);
		return infix(p, v->op, print_value(p, a, data), print_value(p, b, data), false);
	}
	data = data || holds_data(p, v);
	bool arithmetic = v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_SUB || v->op == HEDDLE_OP_MUL;
	if (arithmetic && wraps(p, v, data))
		return cast_code(p, v->type, v->width, unsigned_value(p, v));
	if (v->op == HEDDLE_OP_SHL && wraps(p, v, data))
		return cast_code(p, v->type, v->width, infix(p, v->op, unsigned_value(p, a), print_value(p, b, data), false));
	if ((v->op == HEDDLE_OP_DIV || v->op == HEDDLE_OP_MOD) && data && heddle_type_is_signed(type) &&
	    !(b->kind == HEDDLE_VALUE_INT && b->i != 0 && b->i != -1))
		return v->width == 1 ? word_ab(p, v->op == HEDDLE_OP_DIV ? "integer.divide" : "integer.modulo", v, data)
				     : infix(p, v->op, print_value(p, a, data), print_value(p, b, data), false);
	code left = print_value(p, a, data);
	/* C computes in int what is narrower; the product of two uint16 must not overflow there. */
	if (v->width == 1 && type == HEDDLE_UINT16 && v->op == HEDDLE_OP_MUL)
		left = make(p, LEVEL_UNARY, "(%s)%s", storage_type(p, HEDDLE_UINT32), bind(p, left, LEVEL_UNARY));
	code result = infix(p, v->op, left, print_value(p, b, data), true);
	bool narrow = heddle_type_size(type) < 4 && type != HEDDLE_BOOL && v->width == 1;
	return narrow && (arithmetic || v->op == HEDDLE_OP_SHL || v->op == HEDDLE_OP_DIV) ? cast_code(p, type, 1, result) : result;
}

static code print_unary(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	if (needs_vector_arithmetic(p, v))
		return fault(p, "arithmetic on vectors", heddle_op_symbol(v->op));
	code inner = print_value(p, a, data);
	if (v->op == HEDDLE_OP_NOT)
		return make(p, LEVEL_UNARY, "!%s", bind(p, inner, LEVEL_UNARY));
	if (is_half(v->type))
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
	if (nonnegative(p, v->arg[0]))
		return infix(p, div ? HEDDLE_OP_DIV : HEDDLE_OP_MOD, print_value(p, v->arg[0], data), print_value(p, v->arg[1], data),
			     false);
	return word_ab(p, div ? "integer.floor_div" : "integer.floor_mod", v, data);
}

/* To and from 16-bit floats through float32. */
static code convert_half(printer *p, const char *direction, heddle_type half, int width, code value)
{
	const char *word = heddle_dialect_word(p->dialect, "convert.%s.%s", heddle_type_name(half), direction);
	if (!word)
		return fault(p, "a conversion", direction);
	if (needs_vector_arithmetic(p, &(heddle_value){.width = width}))
		return fault(p, "a conversion of vectors", direction);
	filler f[] = {{"value", value}, {"suffix", atom(width_suffix(p, width))}};
	return heddle_fill(p->arena, word, f, 2);
}

static code print_cast(printer *p, const heddle_value *v, bool data)
{
	const heddle_value *a = v->arg[0];
	heddle_type from = a->type, to = v->type;
	if (from == to)
		return print_value(p, a, data);
	if (a->kind == HEDDLE_VALUE_INT && v->width == 1 && heddle_type_is_float(to) && from != HEDDLE_UINT64)
		return float_literal(p, to, (double)a->i);
	if (a->kind == HEDDLE_VALUE_SIZE && p->program->size[a->i].min == p->program->size[a->i].max)
		return heddle_type_is_float(to) ? float_literal(p, to, (double)p->program->size[a->i].min)
						: int_literal(p, to, p->program->size[a->i].min, false);
	if (needs_vector_arithmetic(p, v))
		return fault(p, "a conversion of vectors", heddle_type_name(to));
	code value = print_value(p, a, !heddle_type_is_float(from) && (data || heddle_type_is_float(to)));
	if (is_half(from)) {
		value = convert_half(p, "to_float32", from, v->width, value);
		from = HEDDLE_FLOAT32;
		if (from == to)
			return value;
	}
	if (to == HEDDLE_BOOL)
		return condition_width(p, make(p, LEVEL_EQUAL, "%s != 0", bind(p, value, LEVEL_EQUAL + 1)), from, v->width);
	if (from == HEDDLE_BOOL && v->width > 1)
		value = make(p, LEVEL_BITAND, "%s & 1", bind(p, value, LEVEL_UNARY));
	if (is_half(to)) {
		if (from == HEDDLE_FLOAT64)
			return convert_half(p, "from_float64", to, v->width, value);
		if (from != HEDDLE_FLOAT32)
			value = cast_code(p, HEDDLE_FLOAT32, v->width, value);
		return convert_half(p, "from_float32", to, v->width, value);
	}
	return cast_code(p, to, v->width, value);
}

static code print_select(printer *p, const heddle_value *v, bool data)
{
	code condition = print_value(p, v->arg[0], false);
	if (v->arg[0]->width > 1 && heddle_type_size(v->type) != 4 && v->type != HEDDLE_BOOL) {
		static const heddle_type same_size[] = {[1] = HEDDLE_INT8, [2] = HEDDLE_INT16, [8] = HEDDLE_INT64};
		const char *widen = heddle_dialect_word(p->dialect, "vector.condition.widen");
		if (!widen)
			return fault(p, "a choice between vectors", "");
		filler f[] = {{"vector", atom(memory_vector(p, same_size[heddle_type_size(v->type)], v->width))},
			      {"value", condition}};
		condition = heddle_fill(p->arena, widen, f, 2);
	}
	code a = exact_value(p, v->arg[1], data), b = exact_value(p, v->arg[2], data);
	return make(p, LEVEL_SELECT, "%s ? %s : %s", bind(p, condition, LEVEL_SELECT + 1), bind(p, a, LEVEL_SELECT + 1),
		    bind(p, b, LEVEL_SELECT));
}

static code print_call(printer *p, const heddle_value *v)
{
	const char *function = heddle_builtins[v->i].name, *type = heddle_type_name(v->type);
	if (needs_vector_arithmetic(p, v))
		return fault(p, "a function of vectors", function);
	const char *word = v->width > 1 ? heddle_dialect_word(p->dialect, "function.%s.vector", function) : NULL;
	const char *own = heddle_dialect_word(p->dialect, "function.%s.%s", function, type);
	if (!word && own && v->width > 1) { /* a function of the prelude takes scalars: member by member */
		heddle_value *member[16];
		for (int i = 0; i < v->width; i++) {
			heddle_value *arg[4];
			for (int k = 0; k < v->n_arg; k++)
				arg[k] = heddle_value_extract(p->scratch, v->arg[k], i);
			member[i] = heddle_value_call(p->scratch, (int)v->i, v->type, v->n_arg, arg);
		}
		return print_value(p, heddle_value_build(p->scratch, v->width, member), true);
	}
	if (!word)
		word = own ? own : heddle_dialect_word(p->dialect, "function.default.%s", type);
	if (!word)
		return fault(p, "a function", function);
	heddle_text list = {0};
	filler f[8] = {{"function", atom(function)}, {"width", atom(width_suffix(p, v->width))}};
	static const char *const letter[] = {"a", "b", "c", "d"};
	int n = 2;
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
	filler f[] = {{"i", atom(number(p, i))}};
	const char *word = heddle_dialect_word(p->dialect, "wide.member");
	return word ? heddle_fill(p->arena, word, f, 1).text : fault(p, "a member of a vector", "").text;
}

static code print_members(printer *p, const heddle_value *v, heddle_value *const *arg, bool data)
{
	heddle_text list = {0};
	for (int i = 0; i < v->width; i++)
		heddle_text_printf(&list, "%s%s", i ? ", " : "", print_value(p, arg[i], data).text);
	bool named = named_vector(p, v->type, v->width);
	const char *word = heddle_dialect_word(p->dialect, named ? "vector.build" : "wide.build");
	filler f[] = {{"vector", atom(local_type(p, v->type, v->width))},
		      {"members", (code){heddle_arena_strdup(p->arena, heddle_text_str(&list)), LEVEL_ANY}}};
	heddle_text_free(&list);
	return word ? heddle_fill(p->arena, word, f, 2) : fault(p, "a vector from its members", "");
}

static code print_splat(printer *p, const heddle_value *v, bool data)
{
	heddle_value *members[16];
	for (int i = 0; i < v->width; i++)
		members[i] = v->arg[0];
	if (v->type == HEDDLE_BOOL && heddle_dialect_word(p->dialect, "vector.condition.stem"))
		return make(p, LEVEL_UNARY, "(%s)(%s ? -1 : 0)", local_type(p, v->type, v->width),
			    bind(p, print_value(p, v->arg[0], false), LEVEL_SELECT + 1));
	const char *word = heddle_dialect_word(p->dialect, "vector.splat");
	if (!named_vector(p, v->type, v->width) || strstr(word, "{members}"))
		return print_members(p, v, members, data);
	code value = print_value(p, v->arg[0], data);
	filler f[] = {{"vector", atom(memory_vector(p, v->type, v->width))}, {"value", value}};
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
		code value = type == a->type ? print_value(p, a, data) : cast_code(p, type, a->width, print_value(p, a, true));
		filler f[] = {{"stem", atom(stem_of(p, type))}, {"width", atom(number(p, a->width))}, {"value", value}};
		code result = heddle_fill(p->arena, word, f, 3);
		return type == v->type ? result : cast_code(p, v->type, 1, result);
	}
	heddle_value *part[16];
	for (int i = 0; i < a->width; i++)
		part[i] = heddle_value_extract(p->scratch, (heddle_value *)(uintptr_t)a, i);
	for (int half = a->width / 2; half >= 1; half /= 2)
		for (int i = 0; i < half; i++)
			part[i] = heddle_value_binary(p->scratch, v->op, part[i], part[i + half]);
	return print_value(p, part[0], true);
}

static code print_shuffle(printer *p, const heddle_value *v)
{
	const char *word = heddle_dialect_word(p->dialect, "shuffle");
	if (!word || v->width > 1)
		return fault(p, "an exchange between lanes", "");
	filler f[] = {{"value", exact_value(p, v->arg[0], true)}, {"mask", atom(number(p, v->i))}};
	code result = heddle_fill(p->arena, word, f, 2);
	if (v->type == HEDDLE_BOOL)
		return make(p, LEVEL_EQUAL, "%s != 0", bind(p, result, LEVEL_EQUAL));
	return heddle_type_size(v->type) < 4 ? cast_code(p, v->type, 1, result) : result;
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------------ */

static bool is_global(const heddle_buffer *buffer)
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
		int64_t extent;
		if (heddle_value_evaluate(buffer->extent[i], size, &extent) < 0 || __builtin_mul_overflow(total, extent, &total))
			return INT64_MAX;
	}
	return total;
}

static heddle_value *widen(printer *p, heddle_value *v) { return v->type == HEDDLE_INT64 ? v : heddle_value_cast(p->scratch, HEDDLE_INT64, v); }

/* Row-major: ((i0 * e1) + i1) * e2 + i2, in 64 bits where 32 are not proved enough. */
static heddle_value *linear(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
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

/* buffer[subscripts], an lvalue. */
static code element(printer *p, const heddle_buffer *buffer, int n, heddle_value *const *subscript)
{
	const char *name = p->buffer_name[buffer->position];
	if (n == 0)
		return atom(is_global(buffer) ? heddle_arena_printf(p->arena, "%s[0]", name) : name);
	if (is_global(buffer))
		return make(p, LEVEL_POSTFIX, "%s[%s]", name, print_value(p, linear(p, buffer, n, subscript), false).text);
	heddle_text text = {0};
	heddle_text_add(&text, name);
	for (int i = 0; i < n; i++)
		heddle_text_printf(&text, "[%s]", print_value(p, subscript[i], false).text);
	code result = {heddle_arena_strdup(p->arena, heddle_text_str(&text)), LEVEL_POSTFIX};
	heddle_text_free(&text);
	return result;
}

static code print_load(printer *p, const heddle_value *v)
{
	const heddle_buffer *buffer = v->buffer;
	code place = element(p, buffer, v->n_arg, v->arg);
	if (v->width == buffer->width)
		return place;
	filler f[] = {{"vector", atom(memory_vector(p, buffer->type, v->width))},
		      {"stem", atom(stem_of(p, buffer->type))},
		      {"width", atom(number(p, v->width))},
		      {"pointer", make(p, LEVEL_UNARY, "&%s", place.text)}};
	code result = heddle_fill(p->arena, heddle_dialect_word(p->dialect, "vector.load"), f, 4);
	const char *condition = heddle_dialect_word(p->dialect, "vector.condition.from_bool");
	if (buffer->type != HEDDLE_BOOL || !condition)
		return result;
	filler c[] = {{"width", atom(number(p, v->width))}, {"value", result}};
	return heddle_fill(p->arena, condition, c, 2);
}

static code print_value(printer *p, const heddle_value *v, bool data)
{
	switch (v->kind) {
	case HEDDLE_VALUE_INT:
		return int_literal(p, v->type, v->i, false);
	case HEDDLE_VALUE_FLOAT:
		return float_literal(p, v->type, v->f);
	case HEDDLE_VALUE_VARIABLE: {
		const local *variable = find_variable(p, v->name);
		return variable ? atom(variable->printed) : fault(p, "a variable that is not in scope", v->name);
	}
	case HEDDLE_VALUE_BLOCK:
		return atom(p->block_name);
	case HEDDLE_VALUE_THREAD:
		return atom(p->thread_name);
	case HEDDLE_VALUE_SIZE:
		if (p->program->size[v->i].min == p->program->size[v->i].max)
			return int_literal(p, HEDDLE_INT64, p->program->size[v->i].min, false);
		return atom(p->size_name[v->i]);
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
		if (needs_vector_arithmetic(p, v))
			return fault(p, "arithmetic on vectors", "fma");
		if (!heddle_type_is_float(v->type) || is_half(v->type))
			return fault(p, "a fused product in this type", heddle_type_name(v->type));
		return infix(p, HEDDLE_OP_ADD,
			     infix(p, HEDDLE_OP_MUL, print_value(p, v->arg[0], data), print_value(p, v->arg[1], data), false),
			     print_value(p, v->arg[2], data), false);
	case HEDDLE_VALUE_SPLAT:
		return print_splat(p, v, data);
	case HEDDLE_VALUE_EXTRACT:
		return make(p, LEVEL_POSTFIX, "%s.%s", bind(p, print_value(p, v->arg[0], data), LEVEL_POSTFIX),
			    member_name(p, v->arg[0]->type, v->arg[0]->width, v->i));
	case HEDDLE_VALUE_BUILD:
		return print_members(p, v, v->arg, data);
	case HEDDLE_VALUE_REDUCE:
		return print_reduce(p, v, data);
	case HEDDLE_VALUE_SHUFFLE:
		return print_shuffle(p, v);
	}
	return fault(p, "a value of this kind", "");
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------------- */

/* How good a place the space at `s` is for a line to end: 0 none, else the less the better.  After an assignment comes first,
 * then commas and operators, the loosest first, each less good the deeper it is nested. */
static int break_cost(const char *text, size_t i, int depth)
{
	int level = operator_level(text + i);
	if (i > 0 && (text[i - 1] == ',' || text[i - 1] == ';'))
		return 1 + 16 * depth;
	if (level && level <= LEVEL_PRODUCT)
		return 1 + level + 16 * depth;
	return i > 1 && text[i - 1] == '=' && strchr(" +-*/", text[i - 2]) ? 1 : 0;
}

/* The best place to break `text` before column `limit`, as the number of characters that stay: a line should not be cut early
 * for little.  After an opening bracket only where nothing else is left; 0: nowhere. */
static size_t break_at(const char *text, size_t limit)
{
	size_t best = 0, bracket = 0;
	int best_cost = 0, depth = 0;
	for (size_t i = 0; text[i] && i < limit; i++) {
		if (strchr("([{", text[i])) {
			depth++;
			bracket = text[i] == '(' ? i + 1 : bracket;
		}
		if (strchr(")]}", text[i]))
			depth--;
		if (text[i] == ' ') {
			int cost = break_cost(text, i, depth);
			if (cost && i < limit / 3)
				cost += 64;
			if (cost && (best == 0 || cost <= best_cost)) {
				best_cost = cost;
				best = i;
			}
		}
	}
	return best ? best : bracket;
}

/* `text` on as many lines as it needs, those after the first `extra` deeper; `end` closes the last. */
static void wrapped_text(printer *p, const char *text, const char *end, int extra)
{
	int depth = p->depth;
	heddle_text_indent(p->out, depth);
	for (;;) {
		if (8 * depth + (int)strlen(text) <= LINE_WIDTH)
			break;
		int room = LINE_WIDTH - 8 * depth;
		size_t at = room > 30 ? break_at(text, (size_t)room) : 0;
		if (at == 0)
			break;
		heddle_text_addn(p->out, text, at);
		heddle_text_add(p->out, "\n");
		depth = p->depth + extra;
		heddle_text_indent(p->out, depth);
		text += at + (text[at] == ' ');
	}
	heddle_text_printf(p->out, "%s%s\n", text, end);
}

static void line_text(printer *p, const char *text, const char *end) { wrapped_text(p, text, end, 1); }

static void line(printer *p, const char *format, ...) HEDDLE_PRINTF(2, 3);
static void line(printer *p, const char *format, ...)
{
	heddle_text text = {0};
	va_list args;
	va_start(args, format);
	heddle_text_vprintf(&text, format, args);
	va_end(args);
	line_text(p, heddle_text_str(&text), "");
	heddle_text_free(&text);
}

/* A line that says where it comes from, when that changed. */
static void mapped_line(printer *p, int source_line, const char *text)
{
	const char *end = "";
	if (source_line > 0 && source_line != p->last_line && p->source_name) {
		end = heddle_arena_printf(p->arena, " // %s:%d", p->source_name, source_line);
		p->last_line = source_line;
	}
	line_text(p, text, end);
}

/* Lines of comment, broken between words where they are long. */
static void comment(printer *p, const char *text)
{
	size_t room = (size_t)(LINE_WIDTH - 8 * p->depth - 3);
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		if (n > room) {
			n = room;
			while (n > 0 && text[n] != ' ')
				n--;
			if (n == 0)
				n = strcspn(text, " \n");
		}
		heddle_text_indent(p->out, p->depth);
		heddle_text_printf(p->out, "// %.*s\n", (int)n, text);
		text += n + (text[n] != '\0');
	}
}

/* ---- statements -------------------------------------------------------------------------------------------------------------------- */

static void print_node(printer *p, const heddle_node *node);

static const char *dimensions(printer *p, const heddle_buffer *buffer)
{
	heddle_text text = {0};
	for (int i = 0; i < buffer->rank; i++)
		heddle_text_printf(&text, "[%lld]",
				   (long long)(buffer->extent[i]->i + (i == buffer->rank - 1 ? buffer->pad : 0)));
	const char *result = heddle_arena_strdup(p->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

static const char *buffer_comment(printer *p, const heddle_buffer *buffer)
{
	if (buffer->comment && buffer->of)
		return heddle_arena_printf(p->arena, " // %s: %s", buffer->of, buffer->comment);
	if (buffer->comment || buffer->of)
		return heddle_arena_printf(p->arena, " // %s%s", buffer->comment ? "" : "tile of ",
					   buffer->comment ? buffer->comment : buffer->of);
	return "";
}

static void print_declare(printer *p, const heddle_buffer *buffer)
{
	filler f[] = {{"type", atom(local_type(p, buffer->type, buffer->width))},
		      {"name", atom(p->buffer_name[buffer->position])},
		      {"dimensions", atom(dimensions(p, buffer))}};
	if (buffer->type == HEDDLE_BOOL && buffer->width == 1)
		f[0].value = atom(storage_type(p, buffer->type));
	line_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "register.declare"), f, 3).text,
		  buffer_comment(p, buffer));
}

static bool same_place(const heddle_node *store, const heddle_value *load)
{
	if (load->kind != HEDDLE_VALUE_LOAD || load->buffer != store->buffer || load->n_arg != store->n_value - 1 ||
	    load->width != store->value[0]->width)
		return false;
	for (int i = 0; i < load->n_arg; i++)
		if (!heddle_value_equal(load->arg[i], store->value[i + 1]))
			return false;
	return true;
}

/* `x = x op e` is `x op= e` where no conversion hides in it; NULL: it is not of that form. */
static const char *compound(printer *p, const heddle_node *store, code place)
{
	const heddle_value *v = store->value[0];
	bool plain = heddle_type_is_float(v->type) ? !is_half(v->type)
						   : heddle_type_is_unsigned(v->type) && heddle_type_size(v->type) >= 4;
	if (!plain || v->width != store->buffer->width || needs_vector_arithmetic(p, v))
		return NULL;
	if (v->kind == HEDDLE_VALUE_FMA && same_place(store, v->arg[2])) {
		code product = infix(p, HEDDLE_OP_MUL, print_value(p, v->arg[0], true), print_value(p, v->arg[1], true), false);
		return heddle_arena_printf(p->arena, "%s += %s;", place.text, product.text);
	}
	if (v->kind != HEDDLE_VALUE_BINARY)
		return NULL;
	bool commutes = v->op == HEDDLE_OP_ADD || v->op == HEDDLE_OP_MUL;
	if (!commutes && v->op != HEDDLE_OP_SUB && v->op != HEDDLE_OP_DIV)
		return NULL;
	const heddle_value *other = NULL;
	if (same_place(store, v->arg[0]))
		other = v->arg[1];
	else if (commutes && same_place(store, v->arg[1]))
		other = v->arg[0];
	if (!other)
		return NULL;
	return heddle_arena_printf(p->arena, "%s %s= %s;", place.text, heddle_op_symbol(v->op), print_value(p, other, true).text);
}

static void print_store(printer *p, const heddle_node *node)
{
	const heddle_buffer *buffer = node->buffer;
	const heddle_value *v = node->value[0];
	code place = element(p, buffer, node->n_value - 1, node->value + 1);
	const char *text = compound(p, node, place);
	if (!text) {
		code value = print_value(p, v, true);
		const char *to_bool = heddle_dialect_word(p->dialect, "vector.condition.to_bool");
		if (v->type == HEDDLE_BOOL && v->width > 1 && v->width != buffer->width && to_bool) {
			filler c[] = {{"width", atom(number(p, v->width))}, {"value", value}};
			value = heddle_fill(p->arena, to_bool, c, 2);
		}
		if (v->width == buffer->width) {
			text = heddle_arena_printf(p->arena, "%s = %s;", place.text, value.text);
		} else {
			filler f[] = {{"vector", atom(memory_vector(p, buffer->type, v->width))},
				      {"stem", atom(stem_of(p, buffer->type))},
				      {"width", atom(number(p, v->width))},
				      {"pointer", make(p, LEVEL_UNARY, "&%s", place.text)},
				      {"value", value}};
			text = heddle_fill(p->arena, heddle_dialect_word(p->dialect, "vector.store"), f, 5).text;
		}
	}
	mapped_line(p, node->line, text);
}

static void print_body(printer *p, const heddle_node *body)
{
	p->depth++;
	int kept = p->n_variable;
	if (body->kind == HEDDLE_NODE_BLOCK)
		for (int i = 0; i < body->n_child; i++)
			print_node(p, body->child[i]);
	else
		print_node(p, body);
	(void)kept;
	p->depth--;
}

static void print_for(printer *p, const heddle_node *node)
{
	if (node->loop != HEDDLE_LOOP_SERIAL)
		line(p, "%s", heddle_dialect_word(p->dialect, "unroll"));
	const char *name = find_variable(p, node->name)->printed;
	const char *step = node->i == 1 ? heddle_arena_printf(p->arena, "%s++", name)
					: heddle_arena_printf(p->arena, "%s += %lld", name, (long long)node->i);
	const char *text = heddle_arena_printf(p->arena, "for (%s %s = %s; %s < %s; %s) {", local_type(p, node->value[0]->type, 1),
					       name, print_value(p, node->value[0], false).text, name,
					       bind(p, print_value(p, node->value[1], false), LEVEL_LESS + 1), step);
	mapped_line(p, node->line, text);
	print_body(p, node->child[0]);
	line(p, "}");
}

static const heddle_node *only_if(const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_BLOCK && node->n_child == 1)
		return only_if(node->child[0]);
	return node->kind == HEDDLE_NODE_IF ? node : NULL;
}

static void print_if(printer *p, const heddle_node *node)
{
	const char *start = "";
	for (;;) {
		mapped_line(p, *start ? 0 : node->line,
			    heddle_arena_printf(p->arena, "%sif (%s) {", start, print_value(p, node->value[0], false).text));
		print_body(p, node->child[0]);
		const heddle_node *otherwise = node->n_child == 2 ? node->child[1] : NULL;
		if (!otherwise || (otherwise->kind == HEDDLE_NODE_BLOCK && otherwise->n_child == 0)) {
			line(p, "}");
			return;
		}
		const heddle_node *next = only_if(otherwise);
		if (!next) {
			line(p, "} else {");
			print_body(p, otherwise);
			line(p, "}");
			return;
		}
		start = "} else ";
		node = next;
	}
}

static bool opens_scope(const heddle_node *block)
{
	for (int i = 0; i < block->n_child; i++)
		if (block->child[i]->kind == HEDDLE_NODE_LET || block->child[i]->kind == HEDDLE_NODE_DECLARE)
			return true;
	return false;
}

static void print_node(printer *p, const heddle_node *node)
{
	switch (node->kind) {
	case HEDDLE_NODE_BLOCK:
		if (opens_scope(node)) {
			line(p, "{");
			print_body(p, node);
			line(p, "}");
		} else {
			for (int i = 0; i < node->n_child; i++)
				print_node(p, node->child[i]);
		}
		break;
	case HEDDLE_NODE_FOR:
		print_for(p, node);
		break;
	case HEDDLE_NODE_IF:
		print_if(p, node);
		break;
	case HEDDLE_NODE_LET: {
		const heddle_value *v = node->value[0];
		const local *variable = find_variable(p, node->name);
		const char *text = heddle_arena_printf(p->arena, "const %s %s = %s;", local_type(p, v->type, v->width),
						       variable->printed, print_value(p, v, variable->data).text);
		mapped_line(p, node->line, text);
		break;
	}
	case HEDDLE_NODE_DECLARE:
		print_declare(p, node->buffer);
		break;
	case HEDDLE_NODE_STORE:
		print_store(p, node);
		break;
	case HEDDLE_NODE_BARRIER:
		line(p, "%s", heddle_dialect_word(p->dialect, "barrier"));
		break;
	case HEDDLE_NODE_COMMENT:
		comment(p, node->name);
		break;
	}
}

/* ---- what a launch uses ---------------------------------------------------------------------------------------------------------- */

typedef struct visitor {
	void (*value)(void *user, const heddle_value *v, bool data);
	void (*node)(void *user, const heddle_node *node);
	void *user;
} visitor;

static void visit_value(const visitor *visit, const heddle_value *v, bool data)
{
	visit->value(visit->user, v, data);
	for (int i = 0; i < v->n_arg; i++) {
		bool inner = data;
		if (v->kind == HEDDLE_VALUE_LOAD || (v->kind == HEDDLE_VALUE_SELECT && i == 0) ||
		    (v->kind == HEDDLE_VALUE_BINARY && (is_compare(v->op) || v->op == HEDDLE_OP_AND || v->op == HEDDLE_OP_OR)))
			inner = false;
		else if (v->kind == HEDDLE_VALUE_CAST && heddle_type_is_float(v->type))
			inner = true;
		visit_value(visit, v->arg[i], inner);
	}
}

static void visit_node(const visitor *visit, const heddle_node *node)
{
	if (visit->node)
		visit->node(visit->user, node);
	for (int i = 0; i < node->n_value; i++)
		visit_value(visit, node->value[i], node->kind == HEDDLE_NODE_STORE && i == 0);
	for (int i = 0; i < node->n_child; i++)
		visit_node(visit, node->child[i]);
}

static bool name_taken(const printer *p, const char *name)
{
	for (int i = 0; i < p->n_taken; i++)
		if (strcmp(p->taken[i], name) == 0)
			return true;
	return false;
}

/* An identifier that the language does not use and that is not taken. */
static const char *fresh_name(printer *p, const char *wanted)
{
	const char *name = wanted;
	while (heddle_dialect_reserves(p->dialect, name) || name_taken(p, name))
		name = heddle_arena_printf(p->arena, "%s_", name);
	HEDDLE_PUSH(p->arena, p->taken, p->n_taken, name);
	return name;
}

/* The name as it is, unless the language owns it. */
static const char *own_name(printer *p, const char *wanted)
{
	if (heddle_dialect_reserves(p->dialect, wanted))
		return fresh_name(p, wanted);
	HEDDLE_PUSH(p->arena, p->taken, p->n_taken, wanted);
	return wanted;
}

static void collect_value(void *user, const heddle_value *v, bool data)
{
	printer *p = user;
	(void)data;
	if (v->kind == HEDDLE_VALUE_SIZE)
		p->uses_size[v->i] = true;
	p->uses_block = p->uses_block || v->kind == HEDDLE_VALUE_BLOCK;
	p->uses_thread = p->uses_thread || v->kind == HEDDLE_VALUE_THREAD;
	/* Linearising on print brings in the sizes of the tensor's extents. */
	if (v->kind == HEDDLE_VALUE_LOAD && is_global(v->buffer) && v->n_arg > 1)
		for (int i = 1; i < v->buffer->rank; i++)
			visit_value(&(visitor){collect_value, NULL, p}, v->buffer->extent[i], false);
}

static void collect_node(void *user, const heddle_node *node)
{
	printer *p = user;
	if (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET) {
		local *known = find_variable(p, node->name);
		local new = {.name = node->name, .value = node->kind == HEDDLE_NODE_LET ? node->value[0] : NULL};
		if (known) { /* two branches may use one name */
			new.printed = known->printed;
			new.data = known->data;
			*known = new;
			return;
		}
		new.printed = own_name(p, node->name);
		HEDDLE_PUSH(p->arena, p->variable, p->n_variable, new);
	}
	if (node->kind == HEDDLE_NODE_STORE && is_global(node->buffer) && node->n_value > 2)
		for (int i = 1; i < node->buffer->rank; i++)
			visit_value(&(visitor){collect_value, NULL, p}, node->buffer->extent[i], false);
}

/* A product that subscripts do not have: of two values that vary, or by a great number.  (Subscripts are affine, their ranges
 * are proved; arithmetic on data that a pass gave a name of its own must still wrap around.) */
static bool has_great_product(const heddle_value *v)
{
	if (v->kind == HEDDLE_VALUE_BINARY && v->op == HEDDLE_OP_MUL) {
		const heddle_value *a = v->arg[0], *b = v->arg[1];
		bool small = (a->kind == HEDDLE_VALUE_INT && llabs(a->i) < 65536) || (b->kind == HEDDLE_VALUE_INT && llabs(b->i) < 65536);
		if (!small)
			return true;
	}
	for (int i = 0; i < v->n_arg; i++)
		if (has_great_product(v->arg[i]))
			return true;
	return false;
}

static void mark_data_use(void *user, const heddle_value *v, bool data)
{
	printer *p = user;
	if (v->kind == HEDDLE_VALUE_VARIABLE && data) {
		local *variable = find_variable(p, v->name);
		if (variable && variable->value && has_great_product(variable->value))
			variable->data = true;
	}
}

/* Data flows from LETs that hold it, and into LETs that are used as such, to a fixed point. */
static void mark_data(printer *p)
{
	visit_node(&(visitor){mark_data_use, NULL, p}, p->launch->body);
	for (bool changed = true; changed;) {
		changed = false;
		for (int i = 0; i < p->n_variable; i++) {
			local *variable = &p->variable[i];
			if (variable->value && !variable->data && holds_data(p, variable->value))
				variable->data = changed = true;
		}
	}
	for (int i = p->n_variable - 1; i >= 0; i--) /* later ones use earlier ones */
		if (p->variable[i].value && p->variable[i].data)
			visit_value(&(visitor){mark_data_use, NULL, p}, p->variable[i].value, true);
}

static void mark_nonnegative(void *user, const heddle_node *node)
{
	printer *p = user;
	if (node->kind == HEDDLE_NODE_FOR || node->kind == HEDDLE_NODE_LET) {
		local *variable = find_variable(p, node->name);
		/* One name in two branches: only when both are. */
		variable->nonnegative = !heddle_type_is_float(node->value[0]->type) && !variable->data && nonnegative(p, node->value[0]);
	}
}

static void no_value(void *user, const heddle_value *v, bool data)
{
	(void)user;
	(void)v;
	(void)data;
}

static bool same_names(const printer *p)
{
	for (int i = 0; i < p->program->n_buffer; i++)
		if (p->program->buffer[i]->position != i)
			return false;
	return true;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------ */

typedef struct usage {
	const heddle_program *program;
	bool *size;   /* by position */
	bool *scalar; /* by buffer position */
} usage;

static void use_value(void *user, const heddle_value *v, bool data)
{
	usage *use = user;
	(void)data;
	if (v->kind == HEDDLE_VALUE_SIZE)
		use->size[v->i] = true;
	if (v->kind != HEDDLE_VALUE_LOAD)
		return;
	if (v->buffer->role == HEDDLE_BUFFER_SCALAR)
		use->scalar[v->buffer->position] = true;
	else if (is_global(v->buffer) && v->n_arg > 1)
		for (int i = 1; i < v->buffer->rank; i++)
			visit_value(&(visitor){use_value, NULL, use}, v->buffer->extent[i], false);
}

static void use_node(void *user, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE && is_global(node->buffer) && node->n_value > 2)
		for (int i = 1; i < node->buffer->rank; i++)
			visit_value(&(visitor){use_value, NULL, user}, node->buffer->extent[i], false);
}

void heddle_kernel_arguments(heddle_arena *arena, const heddle_program *program, const heddle_launch *launch,
			     kernel_arguments *arguments)
{
	*arguments = (kernel_arguments){0};
	usage use = {program, HEDDLE_NEW_ARRAY(arena, bool, program->n_size + 1), HEDDLE_NEW_ARRAY(arena, bool, program->n_buffer + 1)};
	visit_node(&(visitor){use_value, use_node, &use}, launch->body);
	for (int i = 0; i < launch->n_buffer; i++) {
		if (launch->buffer[i]->role == HEDDLE_BUFFER_SCALAR)
			use.scalar[launch->buffer[i]->position] = true;
		else
			HEDDLE_PUSH(arena, arguments->tensor, arguments->n_tensor, launch->buffer[i]);
	}
	for (int i = 0; i < program->n_buffer; i++)
		if (program->buffer[i]->role == HEDDLE_BUFFER_SCALAR && use.scalar[program->buffer[i]->position])
			HEDDLE_PUSH(arena, arguments->scalar, arguments->n_scalar, program->buffer[i]);
	for (int i = 0; i < program->n_size; i++)
		if (use.size[i] && program->size[i].min != program->size[i].max)
			HEDDLE_PUSH(arena, arguments->size, arguments->n_size, i);
}

static int shared_align(const heddle_buffer *buffer)
{
	int least = heddle_type_size(buffer->type) * buffer->width;
	return buffer->align > least ? buffer->align : least > 16 ? 16 : least;
}

static int64_t shared_bytes(const heddle_buffer *buffer)
{
	int64_t n = (int64_t)heddle_type_size(buffer->type) * buffer->width;
	for (int i = 0; i < buffer->rank; i++)
		n *= buffer->extent[i]->i + (i == buffer->rank - 1 ? buffer->pad : 0);
	return n;
}

void heddle_kernel_memory(heddle_arena *arena, const heddle_target *target, const heddle_launch *launch, kernel_memory *memory)
{
	*memory = (kernel_memory){.offset = HEDDLE_NEW_ARRAY(arena, int64_t, launch->n_shared + 1)};
	for (int i = 0; i < launch->n_shared; i++) {
		int64_t align = shared_align(launch->shared[i]);
		memory->offset[i] = (memory->bytes + align - 1) / align * align;
		memory->bytes = memory->offset[i] + shared_bytes(launch->shared[i]);
	}
	const heddle_quantity *limit = &target->descriptor->shared_per_block_static;
	memory->dynamic = limit->set && (double)memory->bytes > limit->value && heddle_dialect_word(target->dialect, "shared.dynamic");
}

typedef struct align_use {
	const heddle_buffer *buffer;
	bool wide;
} align_use;

static void find_wide_load(void *user, const heddle_value *v, bool data)
{
	align_use *use = user;
	(void)data;
	if (v->kind == HEDDLE_VALUE_LOAD && v->buffer == use->buffer && v->width > v->buffer->width)
		use->wide = true;
}

static void find_wide_store(void *user, const heddle_node *node)
{
	align_use *use = user;
	if (node->kind == HEDDLE_NODE_STORE && node->buffer == use->buffer && node->value[0]->width > node->buffer->width)
		use->wide = true;
}

bool heddle_buffer_needs_align(const heddle_target *target, const heddle_program *program, const heddle_buffer *buffer)
{
	if (heddle_dialect_language(target->dialect).unaligned_vectors)
		return false;
	align_use use = {buffer, false};
	for (int i = 0; i < program->n_launch; i++)
		visit_node(&(visitor){find_wide_load, find_wide_store, &use}, program->launch[i]->body);
	return use.wide;
}

int heddle_buffer_alignment(const heddle_target *target, const heddle_program *program, const heddle_buffer *buffer)
{
	int size = heddle_type_size(buffer->type);
	return buffer->align > size && heddle_buffer_needs_align(target, program, buffer) ? buffer->align : size;
}

static void print_signature(printer *p, const kernel_arguments *arguments)
{
	heddle_arena *arena = p->arena;
	heddle_text list = {0};
	const char *offset = heddle_dialect_word(p->dialect, "argument.offset");
	const char *separator = "";
	for (int i = 0; i < arguments->n_tensor; i++) {
		const heddle_buffer *buffer = arguments->tensor[i];
		filler f[] = {{"type", atom(storage_type(p, buffer->type))}, {"name", atom(p->buffer_name[buffer->position])}};
		const char *key = buffer->role == HEDDLE_BUFFER_INPUT ? "argument.input" : "argument.output";
		heddle_text_printf(&list, "%s%s", separator, heddle_fill(arena, heddle_dialect_word(p->dialect, "%s", key), f, 2).text);
		separator = ", ";
		if (offset)
			heddle_text_printf(&list, ", %s", heddle_fill(arena, offset, f, 2).text);
	}
	for (int i = 0; i < arguments->n_scalar + arguments->n_size; i++) {
		bool scalar = i < arguments->n_scalar;
		const heddle_buffer *buffer = scalar ? arguments->scalar[i] : NULL;
		filler f[] = {{"type", atom(storage_type(p, scalar ? buffer->type : HEDDLE_INT64))},
			      {"name", atom(scalar ? p->buffer_name[buffer->position]
						   : p->size_name[arguments->size[i - arguments->n_scalar]])}};
		heddle_text_printf(&list, "%s%s", separator,
				   heddle_fill(arena, heddle_dialect_word(p->dialect, "argument.scalar"), f, 2).text);
		separator = ", ";
	}
	filler f[] = {{"name", atom(p->launch->name)},
		      {"threads", atom(number(p, p->launch->threads))},
		      {"min_blocks", atom(number(p, p->launch->min_blocks))}};
	bool bounded = p->launch->min_blocks > 0;
	const char *head = heddle_fill(arena, heddle_dialect_word(p->dialect, bounded ? "kernel_min_blocks" : "kernel"), f, 3).text;
	const char *all = heddle_text_str(&list);
	if (strlen(head) + strlen(all) + 2 <= LINE_WIDTH) {
		line(p, "%s(%s)", head, all);
	} else {
		line(p, "%s(", head);
		p->depth++;
		wrapped_text(p, all, ")", 0);
		p->depth--;
	}
	heddle_text_free(&list);
}

static void print_shared(printer *p, const kernel_memory *memory)
{
	if (memory->dynamic) {
		filler f[] = {{"name", atom(p->shared_name)}, {"align", atom("16")}};
		line(p, "%s", heddle_fill(p->arena, heddle_dialect_word(p->dialect, "shared.dynamic"), f, 2).text);
	}
	for (int i = 0; i < p->launch->n_shared; i++) {
		const heddle_buffer *buffer = p->launch->shared[i];
		const char *size = buffer->rank ? dimensions(p, buffer) : "";
		filler f[] = {{"type", atom(buffer->width == 1 ? storage_type(p, buffer->type)
							       : local_type(p, buffer->type, buffer->width))},
			      {"name", atom(p->buffer_name[buffer->position])},
			      {"dimensions", atom(size)},
			      {"align", atom(number(p, shared_align(buffer)))},
			      {"memory", atom(p->shared_name)},
			      {"offset", atom(number(p, memory->offset[i]))}};
		const char *key = memory->dynamic ? "shared.view" : "shared.declare";
		line_text(p, heddle_fill(p->arena, heddle_dialect_word(p->dialect, "%s", key), f, 6).text, buffer_comment(p, buffer));
	}
}

static void print_begin(printer *p, const kernel_arguments *arguments, const kernel_memory *memory)
{
	for (int i = 0; i < arguments->n_tensor; i++) {
		const heddle_buffer *buffer = arguments->tensor[i];
		const char *word = heddle_dialect_word(p->dialect, "argument.begin_%s",
						       buffer->role == HEDDLE_BUFFER_INPUT ? "input" : "output");
		filler f[] = {{"type", atom(storage_type(p, buffer->type))}, {"name", atom(p->buffer_name[buffer->position])}};
		if (word)
			line(p, "%s", heddle_fill(p->arena, word, f, 2).text);
	}
	print_shared(p, memory);
	const char *type = storage_type(p, HEDDLE_INT32);
	if (p->uses_block)
		line(p, "const %s %s = %s;", type, p->block_name, heddle_dialect_word(p->dialect, "block"));
	if (p->uses_thread)
		line(p, "const %s %s = %s;", type, p->thread_name, heddle_dialect_word(p->dialect, "thread"));
}

static void name_everything(printer *p)
{
	const heddle_program *program = p->program;
	p->buffer_name = HEDDLE_NEW_ARRAY(p->arena, const char *, program->n_buffer + 1);
	p->size_name = HEDDLE_NEW_ARRAY(p->arena, const char *, program->n_size + 1);
	p->uses_size = HEDDLE_NEW_ARRAY(p->arena, bool, program->n_size + 1);
	HEDDLE_PUSH(p->arena, p->taken, p->n_taken, p->launch->name);
	for (int i = 0; i < program->n_size; i++)
		p->size_name[i] = own_name(p, program->size[i].name);
	for (int i = 0; i < program->n_buffer; i++)
		p->buffer_name[program->buffer[i]->position] = own_name(p, program->buffer[i]->name);
	visit_node(&(visitor){collect_value, collect_node, p}, p->launch->body);
	p->block_name = fresh_name(p, "block");
	p->thread_name = fresh_name(p, "thread");
	p->shared_name = fresh_name(p, "shared_memory");
	mark_data(p);
	visit_node(&(visitor){no_value, mark_nonnegative, p}, p->launch->body);
}

int heddle_kernel_print(heddle_ctx *ctx, const heddle_target *target, const heddle_program *program,
			const heddle_launch *launch, const heddle_emit_options *options, heddle_text *out)
{
	heddle_program *scratch = heddle_program_new(program->name);
	printer p = {
		.ctx = ctx,
		.arena = scratch->arena,
		.scratch = scratch,
		.target = target,
		.dialect = target->dialect,
		.program = program,
		.launch = launch,
		.source_name = options ? options->source_name : NULL,
		.out = out,
	};
	if (!same_names(&p)) {
		heddle_program_free(scratch);
		return heddle_error(ctx, 950, NULL, "buffers of %s are not numbered", program->name);
	}
	kernel_arguments arguments;
	kernel_memory memory;
	heddle_kernel_arguments(p.arena, program, launch, &arguments);
	heddle_kernel_memory(p.arena, target, launch, &memory);
	name_everything(&p);
	if (launch->config && *launch->config)
		comment(&p, launch->config);
	print_signature(&p, &arguments);
	line(&p, "{");
	p.depth++;
	print_begin(&p, &arguments, &memory);
	p.depth--;
	print_body(&p, launch->body);
	line(&p, "}");
	bool failed = p.failed;
	heddle_program_free(scratch);
	return failed ? -1 : 0;
}
