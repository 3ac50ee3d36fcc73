/* Prototypes of kernels from tokens: a scanner of declarations, and a look at what bodies and host code do with the names.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct constant {
	const char *name;
	int64_t value;
} constant;

/* `typedef A B;`, `using B = A;`, and type parameters of the instance. */
typedef struct alias {
	const char *name;
	int begin, end; /* tokens */
	const heddle_token *t;
} alias;

typedef struct scanner {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const char *backend;
	const heddle_token *t;
	int n;
	int *partner; /* [n] of each bracket; n or -1: it has none */
	int n_function, *function; /* names of functions with a body */
	int n_launch, *launch;	   /* where host launches and instantiations may be */
	int64_t *work;		   /* tokens of bodies that may still be looked at */
	int n_constant;
	constant *constant;
	int n_alias;
	alias *alias;
	heddle_prototype_list *out;
} scanner;

static bool is(const scanner *s, int i, const char *text)
{
	return i >= 0 && i < s->n && strcmp(s->t[i].text, text) == 0;
}

static bool is_word(const scanner *s, int i)
{
	return i >= 0 && i < s->n && s->t[i].kind == HEDDLE_TOKEN_WORD;
}

static bool is_number(const scanner *s, int i)
{
	return i >= 0 && i < s->n && s->t[i].kind == HEDDLE_TOKEN_NUMBER;
}

static bool among(const char *text, const char *const *list)
{
	while (*list && strcmp(*list, text) != 0)
		list++;
	return *list != NULL;
}

/* The token that closes the bracket at `open`; n when none does. */
static int closing(const scanner *s, int open)
{
	return open >= 0 && open < s->n ? s->partner[open] : s->n;
}

static int opening(const scanner *s, int close)
{
	return close >= 0 && close < s->n ? s->partner[close] : -1;
}

/* Brackets of all kinds count alike: what does not fit is for compilers to say. */
static void find_partners(scanner *s)
{
	int *open = heddle_xalloc(sizeof(int) * (size_t)(s->n + 1)), n = 0;
	s->partner = HEDDLE_NEW_ARRAY(s->arena, int, s->n + 1);
	for (int i = 0; i < s->n; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		s->partner[i] = i; /* no bracket: itself */
		if (c == '(' || c == '[' || c == '{') {
			s->partner[i] = s->n;
			open[n++] = i;
		} else if (c == ')' || c == ']' || c == '}') {
			s->partner[i] = n ? open[n - 1] : -1;
			if (n)
				s->partner[open[--n]] = i;
		}
	}
	free(open);
}

/* The `>` of the template arguments that begin at `open`; -1: it is no such bracket. */
static int closing_angle(const scanner *s, int open)
{
	int depth = 0;
	for (int i = open; i < s->n && i < open + 400; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == '(' || c == '[' || c == '{')
			i = closing(s, i);
		if (c == ';' || c == ')' || c == '}')
			return -1;
		depth += c == '<';
		depth -= c == '>';
		if (depth == 0)
			return i;
	}
	return -1;
}

static int opening_angle(const scanner *s, int close)
{
	int depth = 0;
	for (int i = close; i >= 0 && i > close - 400; i--) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == ')' || c == ']' || c == '}')
			i = opening(s, i);
		if (c == ';' || c == '(' || c == '{')
			return -1;
		depth += c == '>';
		depth -= c == '<';
		if (depth == 0)
			return i;
	}
	return -1;
}

static const char *words(const scanner *s, int begin, int end)
{
	return begin < end ? heddle_tokens_text(s->arena, s->t + begin, s->t + end) : "";
}

/* The end of the part that begins at `i`: a comma of its own depth, or `end`. */
static int part_end(const scanner *s, int i, int end)
{
	while (i < end && !is(s, i, ",")) {
		const int angle = is(s, i, "<") && is_word(s, i - 1) ? closing_angle(s, i) : -1;
		if (is(s, i, "(") || is(s, i, "[") || is(s, i, "{"))
			i = closing(s, i);
		else if (angle > i && angle < end)
			i = angle;
		i++;
	}
	return i < end ? i : end;
}

/* ---- constants and aliases ------------------------------------------------------------------------------------------------------ */

static bool look_up(void *user, const char *name, int64_t *value)
{
	const scanner *s = user;
	for (int i = s->n_constant - 1; i >= 0; i--)
		if (strcmp(s->constant[i].name, name) == 0) {
			*value = s->constant[i].value;
			return true;
		}
	return false;
}

static bool evaluate(scanner *s, int begin, int end, int64_t *value)
{
	return begin < end && heddle_tokens_evaluate(s->t + begin, s->t + end, look_up, s, value);
}

static void add_constant(scanner *s, const char *name, int64_t value)
{
	const constant c = {name, value};
	HEDDLE_PUSH(s->arena, s->constant, s->n_constant, c);
}

/* `constexpr int A = 4, B = A * 2;` and `const unsigned C = 32;` at any depth: a later one of the name wins. */
static void read_constants(scanner *s)
{
	for (int i = 0; i < s->n; i++) {
		if (is(s, i, "enum")) {
			int at = i + 1;
			while (at < s->n && !is(s, at, "{") && !is(s, at, ";"))
				at++;
			const int end = is(s, at, "{") ? closing(s, at) : at;
			int64_t value = -1;
			for (at++; at < end; at++) {
				const int stop = part_end(s, at, end);
				if (is(s, at + 1, "=") ? !evaluate(s, at + 2, stop, &value) : (value++, !is_word(s, at)))
					break;
				add_constant(s, s->t[at].text, value);
				at = stop;
			}
		}
		if (!is(s, i, "constexpr") && !is(s, i, "const"))
			continue;
		int at = i + 1;
		while (is_word(s, at) && !is(s, at + 1, "="))
			at++;
		while (is_word(s, at) && is(s, at + 1, "=")) {
			int stop = at + 2;
			while (stop < s->n && !is(s, stop, ";") && !is(s, stop, ",") && !is(s, stop, "{"))
				stop = is(s, stop, "(") ? closing(s, stop) + 1 : stop + 1;
			int64_t value;
			if (stop > s->n || !evaluate(s, at + 2, stop, &value))
				break;
			add_constant(s, s->t[at].text, value);
			at = is(s, stop, ",") ? stop + 1 : s->n;
		}
	}
}

static void read_aliases(scanner *s)
{
	for (int i = 0; i < s->n; i++) {
		int end = i;
		while (end < s->n && !is(s, end, ";") && !is(s, end, "{"))
			end++;
		if (is(s, i, "typedef") && is(s, end, ";") && is_word(s, end - 1)) {
			const alias a = {s->t[end - 1].text, i + 1, end - 1, s->t};
			HEDDLE_PUSH(s->arena, s->alias, s->n_alias, a);
		} else if (is(s, i, "using") && is_word(s, i + 1) && is(s, i + 2, "=") && is(s, end, ";")) {
			const alias a = {s->t[i + 1].text, i + 3, end, s->t};
			HEDDLE_PUSH(s->arena, s->alias, s->n_alias, a);
		}
	}
}

/* ---- types ------------------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	heddle_type type;
} type_names[] = {
	{"bool", HEDDLE_BOOL}, {"char", HEDDLE_INT8}, {"int8_t", HEDDLE_INT8}, {"short", HEDDLE_INT16}, {"int16_t", HEDDLE_INT16},
	{"int", HEDDLE_INT32}, {"int32_t", HEDDLE_INT32}, {"long", HEDDLE_INT64}, {"int64_t", HEDDLE_INT64},
	{"longlong", HEDDLE_INT64}, {"ptrdiff_t", HEDDLE_INT64}, {"ssize_t", HEDDLE_INT64}, {"uchar", HEDDLE_UINT8},
	{"uint8_t", HEDDLE_UINT8}, {"ushort", HEDDLE_UINT16}, {"uint16_t", HEDDLE_UINT16}, {"uint", HEDDLE_UINT32},
	{"uint32_t", HEDDLE_UINT32}, {"ulong", HEDDLE_UINT64}, {"uint64_t", HEDDLE_UINT64}, {"ulonglong", HEDDLE_UINT64},
	{"size_t", HEDDLE_UINT64}, {"half", HEDDLE_FLOAT16}, {"__half", HEDDLE_FLOAT16}, {"_Float16", HEDDLE_FLOAT16},
	{"__fp16", HEDDLE_FLOAT16}, {"__nv_bfloat16", HEDDLE_BFLOAT16}, {"nv_bfloat16", HEDDLE_BFLOAT16},
	{"__hip_bfloat16", HEDDLE_BFLOAT16}, {"hip_bfloat16", HEDDLE_BFLOAT16}, {"__bf16", HEDDLE_BFLOAT16},
	{"float", HEDDLE_FLOAT32}, {"double", HEDDLE_FLOAT64}, {"unsigned", HEDDLE_UINT32}, {"signed", HEDDLE_INT32},
};

static int scalar_type(const char *name)
{
	for (size_t i = 0; i < HEDDLE_COUNT(type_names); i++)
		if (strcmp(type_names[i].name, name) == 0)
			return (int)type_names[i].type;
	return -1;
}

/* "float4", "half2", "__nv_bfloat162": the scalar and how many. */
static int named_type(const scanner *s, const char *name, int *members)
{
	const size_t n = strlen(name);
	*members = 1;
	int type = scalar_type(name);
	if (type >= 0 || n < 2)
		return type;
	static const struct {
		const char *end;
		int members;
	} ends[] = {{"16", 16}, {"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"1", 1}};
	for (size_t i = 0; i < HEDDLE_COUNT(ends); i++) {
		const size_t k = strlen(ends[i].end);
		if (n <= k || strcmp(name + n - k, ends[i].end) != 0)
			continue;
		type = scalar_type(heddle_arena_strndup(s->arena, name, n - k));
		if (type >= 0) {
			*members = ends[i].members;
			return type;
		}
	}
	return -1;
}

static const char *const qualifiers[] = {"const",	 "volatile", "restrict", "__restrict__", "__restrict", "__global",
					 "global",	 "__private", "private",  "struct",	  "typename",	"static",
					 "__grid_constant__", "register", "inline", "read_only", "__read_only", "write_only",
					 "__write_only", NULL};

/* The type that tokens name; -1 with `*what`.  `*pointers` counts stars in aliases. */
static int type_of(const scanner *s, const heddle_token *t, int n, int depth, int *members, int *pointers, const char **what)
{
	int n_long = 0, type = -1;
	bool is_unsigned = false, is_signed = false, any = false;
	const char *base = NULL;
	*members = 1;
	for (int i = 0; i < n; i++) {
		if (t[i].kind != HEDDLE_TOKEN_WORD) {
			*pointers += strcmp(t[i].text, "*") == 0;
			if (strcmp(t[i].text, "<") == 0)
				break;
			continue;
		}
		const char *word = t[i].text;
		if (among(word, qualifiers))
			continue;
		any = true;
		if (strcmp(word, "unsigned") == 0)
			is_unsigned = true;
		else if (strcmp(word, "signed") == 0)
			is_signed = true;
		else if (strcmp(word, "long") == 0)
			n_long++;
		else if (!(base && strcmp(word, "int") == 0)) /* "short int" */
			base = word;
	}
	if (!any) {
		*what = "no type";
		return -1;
	}
	if (!base || (n_long && strcmp(base, "int") == 0))
		base = n_long ? "long" : "int";
	for (int i = s->n_alias - 1; i >= 0 && depth < 8; i--)
		if (strcmp(s->alias[i].name, base) == 0)
			return type_of(s, s->alias[i].t + s->alias[i].begin, s->alias[i].end - s->alias[i].begin, depth + 1, members,
				       pointers, what);
	type = named_type(s, base, members);
	if (type < 0)
		*what = base;
	if (is_unsigned && type >= HEDDLE_INT8 && type <= HEDDLE_INT64)
		type += HEDDLE_UINT8 - HEDDLE_INT8;
	(void)is_signed;
	return type;
}

/* Things of the languages that no launch here can make. */
static const char *unpassable(const char *what)
{
	static const char *const list[] = {"cudaTextureObject_t", "cudaSurfaceObject_t", "hipTextureObject_t", "hipSurfaceObject_t",
					   "texture",		  "image1d_t",		 "image2d_t",	       "image3d_t",
					   "image2d_array_t",	  "image1d_buffer_t",	 "image1d_array_t",    "sampler_t",
					   "event_t",		  "pipe",		 "CUtensorMap",	       "queue_t", NULL};
	return among(what, list) ? what : NULL;
}

static void read_parameter(scanner *s, int begin, int end, heddle_prototype *p)
{
	heddle_parameter a = {.name = "", .line = s->t[begin].line, .element = -1, .members = 1, .align = 1};
	int stars = 0, references = 0, name = -1, stop = end;
	for (int i = begin; i < end; i++) {
		if (is(s, i, "=") || is(s, i, "[")) {
			stars += is(s, i, "[");
			stop = i < stop ? i : stop;
			i = is(s, i, "[") ? closing(s, i) : end;
			continue;
		}
		if (is(s, i, "<") && closing_angle(s, i) > 0) {
			i = closing_angle(s, i);
			continue;
		}
		if (is(s, i, "__attribute__") || is(s, i, "alignas") || is(s, i, "__align__")) {
			i = closing(s, i + 1);
			continue;
		}
		stars += is(s, i, "*");
		references += is(s, i, "&");
		a.constant = a.constant || (is(s, i, "const") && !stars) || is(s, i, "__constant") || is(s, i, "constant");
		a.local = a.local || is(s, i, "__local") || is(s, i, "local");
		if (is_word(s, i) && !among(s->t[i].text, qualifiers))
			name = i;
	}
	/* The last word is the name, unless it is the only one, or a type. */
	bool other = false;
	for (int i = begin; i < name; i++)
		other = other || (is_word(s, i) && !among(s->t[i].text, qualifiers) && !is(s, i, "__local") && !is(s, i, "local") &&
				  !is(s, i, "__constant") && !is(s, i, "constant"));
	int members, none = 0;
	const char *what = NULL;
	if (name >= 0 && (!other || (scalar_type(s->t[name].text) >= 0 && name + 1 == stop)))
		name = -1;
	if (name >= 0)
		a.name = s->t[name].text;
	heddle_token *type = HEDDLE_NEW_ARRAY(s->arena, heddle_token, end - begin + 1);
	int n = 0;
	for (int i = begin; i < stop; i++)
		if (i != name && !is(s, i, "__local") && !is(s, i, "local") && !is(s, i, "__constant") && !is(s, i, "constant"))
			type[n++] = s->t[i];
	a.type = heddle_tokens_text(s->arena, type, type + n);
	a.element = type_of(s, type, n, 0, &members, &none, &what);
	if (none > stars)
		stars = none;
	a.members = members == 3 && strcmp(s->backend, "opencl") == 0 ? 4 : members;
	a.what = what;
	a.pointer = stars > 0;
	if (a.element >= 0) {
		a.align = heddle_type_size((heddle_type)a.element) * (a.members == 3 ? 1 : a.members);
		a.align = a.align > 16 && strcmp(s->backend, "opencl") != 0 ? 16 : a.align;
	}
	if (stars > 1)
		a.unsupported = "a pointer to pointers";
	else if (references && !stars)
		a.unsupported = "a reference";
	else if (what && unpassable(what))
		a.unsupported = what;
	else if (!stars && a.members > 1)
		a.unsupported = heddle_arena_printf(s->arena, "%s by value", a.type);
	HEDDLE_PUSH(s->arena, p->parameter, p->n_parameter, a);
}

/* ---- what bodies do with pointers ------------------------------------------------------------------------------------------------- */

static int use_of(const scanner *s, const char *name, int begin, int end, int depth);

/* A function of the text: its parameters and body. */
static bool find_function(const scanner *s, const char *name, int *open, int *body)
{
	*s->work -= s->n_function;
	for (int k = 0; k < s->n_function && *s->work >= 0; k++) {
		const int i = s->function[k];
		if (!is(s, i, name))
			continue;
		int at = closing(s, i + 1) + 1;
		while (is(s, at, "const") || is(s, at, "noexcept"))
			at++;
		*open = i + 1;
		*body = at;
		return true;
	}
	return false;
}

/* What the function `name` does with its argument number `which`. */
static int use_by_call(const scanner *s, const char *name, int which, int depth)
{
	if (strncmp(name, "atomic", 6) == 0 || strncmp(name, "atom_", 5) == 0 || strncmp(name, "unsafeAtomic", 12) == 0)
		return HEDDLE_USE_READ | HEDDLE_USE_WRITE;
	if (strncmp(name, "__ld", 4) == 0 || strncmp(name, "vload", 5) == 0)
		return HEDDLE_USE_READ;
	if (strncmp(name, "__st", 4) == 0 || strncmp(name, "vstore", 6) == 0)
		return HEDDLE_USE_WRITE;
	int open, body;
	if (depth > 3 || *s->work < 0 || !find_function(s, name, &open, &body))
		return HEDDLE_USE_PASSED;
	const int close = closing(s, open);
	int at = open + 1;
	for (int k = 0; k < which && at < close; k++)
		at = part_end(s, at, close) + 1;
	const int stop = part_end(s, at, close);
	int last = stop - 1;
	while (last > at && !is_word(s, last))
		last--;
	return is_word(s, last) && last > at ? use_of(s, s->t[last].text, body, closing(s, body), depth + 1) : HEDDLE_USE_PASSED;
}

/* An element is reached by the tokens [a, b): is it read, written or both? */
static int use_of_element(const scanner *s, int a, int b, int depth)
{
	while (is(s, b, ".") && is_word(s, b + 1))
		b += 2;
	if (is(s, b, "[")) /* a member of a member */
		return use_of_element(s, a, closing(s, b) + 1, depth);
	if (is(s, a - 1, "&") && !is_word(s, a - 2) && !is(s, a - 2, ")") && !is(s, a - 2, "]") && !is(s, a - 2, "&")) {
		/* its address: an argument, or the begin of another name for it */
		const int before = a - 2;
		if (is(s, before, "=") && is_word(s, before - 1)) {
			int end = b;
			while (end < s->n && !is(s, end, "}"))
				end = is(s, end, "{") ? closing(s, end) + 1 : end + 1;
			return use_of(s, s->t[before - 1].text, b, end, depth + 1);
		}
		int open = before, which = 0, level = 0;
		for (; open >= 0 && !(is(s, open, "(") && level == 0); open--) {
			level += is(s, open, ")") || is(s, open, "]");
			level -= is(s, open, "(") || is(s, open, "[");
			which += level == 0 && is(s, open, ",");
		}
		return open > 0 && is_word(s, open - 1) ? use_by_call(s, s->t[open - 1].text, which, depth) : HEDDLE_USE_PASSED;
	}
	const bool stepped = (is(s, b, "+") && is(s, b + 1, "+") && s->t[b + 1].joined) ||
			     (is(s, b, "-") && is(s, b + 1, "-") && s->t[b + 1].joined) ||
			     (is(s, a - 1, "+") && is(s, a - 2, "+") && s->t[a - 1].joined) ||
			     (is(s, a - 1, "-") && is(s, a - 2, "-") && s->t[a - 1].joined);
	if (stepped)
		return HEDDLE_USE_READ | HEDDLE_USE_WRITE;
	if (is(s, b, "=") && !(is(s, b + 1, "=") && s->t[b + 1].joined))
		return HEDDLE_USE_WRITE;
	if (b < s->n && strchr("+-*/%&|^", s->t[b].text[0]) && is(s, b + 1, "=") && s->t[b + 1].joined)
		return HEDDLE_USE_READ | HEDDLE_USE_WRITE;
	if (b < s->n && strchr("<>", s->t[b].text[0]) && is(s, b + 1, s->t[b].text) && is(s, b + 2, "=") && s->t[b + 2].joined)
		return HEDDLE_USE_READ | HEDDLE_USE_WRITE;
	return HEDDLE_USE_READ;
}

/* What happens to the pointer that the tokens [a, b) give. */
static int use_of_pointer(const scanner *s, int a, int b, const char *name, int end, int depth)
{
	for (int step = 0; step < 12; step++) {
		if (is(s, b, "["))
			return use_of_element(s, a, closing(s, b) + 1, depth);
		if (is(s, b, "-") && is(s, b + 1, ">") && s->t[b + 1].joined)
			return use_of_element(s, a, b + 3, depth);
		if (is(s, a - 1, "*") && !is_word(s, a - 2) && !is_number(s, a - 2) && !is(s, a - 2, "]") &&
		    !is(s, a - 2, ")"))
			return use_of_element(s, a - 1, b, depth);
		if (is(s, b, "=") && !is(s, b + 1, "="))
			return 0; /* itself is moved on */
		if ((is(s, b, "+") || is(s, b, "-")) && (is(s, b + 1, "=") || is(s, b + 1, s->t[b].text)) && s->t[b + 1].joined)
			return 0;
		/* "(float4 *)p" */
		if (is(s, a - 1, ")") && is(s, a - 2, "*")) {
			a = opening(s, a - 1);
			continue;
		}
		if ((is(s, b, "+") || is(s, b, "-")) || is(s, a - 1, "+")) {
			while (b < end && !is(s, b, ")") && !is(s, b, ",") && !is(s, b, ";") && !is(s, b, "]"))
				b = is(s, b, "(") || is(s, b, "[") ? closing(s, b) + 1 : b + 1;
			while (a > 0 && !is(s, a - 1, "(") && !is(s, a - 1, ",") && !is(s, a - 1, ";") && !is(s, a - 1, "=") &&
			       !is(s, a - 1, "{") && !is(s, a - 1, "return") && !is(s, a - 1, "[") && !is(s, a - 1, "?"))
				a = is(s, a - 1, ")") || is(s, a - 1, "]") ? opening(s, a - 1) : a - 1;
			if (!is(s, b, ")") && !is(s, b, ",") && !is(s, b, ";"))
				return HEDDLE_USE_PASSED;
			/* fall through with the whole sum */
		}
		if (is(s, a - 1, "(") && is(s, b, ")")) {
			int before = a - 2;
			if (is(s, before, ">")) {
				const int angle = opening_angle(s, before);
				if (angle > 0 && is_word(s, angle - 1) && strstr(s->t[angle - 1].text, "_cast")) {
					a = angle - 1;
					b++;
					continue;
				}
				before = angle > 0 ? angle - 1 : before;
			}
			if (!is_word(s, before) || is(s, before, "return")) {
				a--;
				b++;
				continue;
			}
		}
		if (is(s, a - 1, "=") && is_word(s, a - 2) && (is(s, b, ";") || is(s, b, ","))) {
			if (strcmp(s->t[a - 2].text, name) == 0 || depth > 4)
				return 0;
			return use_of(s, s->t[a - 2].text, b, end, depth + 1);
		}
		if (is(s, b, ",") || is(s, b, ")")) {
			int open = a - 1, which = 0, level = 0;
			for (; open >= 0 && !(is(s, open, "(") && level == 0); open--) {
				level += is(s, open, ")") || is(s, open, "]");
				level -= is(s, open, "(") || is(s, open, "[");
				which += level == 0 && is(s, open, ",");
			}
			int callee = open - 1;
			if (is(s, callee, ">") && opening_angle(s, callee) > 0)
				callee = opening_angle(s, callee) - 1;
			if (is(s, callee, "if") || is(s, callee, "while"))
				return 0;
			return is_word(s, callee) ? use_by_call(s, s->t[callee].text, which, depth) : HEDDLE_USE_PASSED;
		}
		return is(s, b, "?") || is(s, b, "!") || (is(s, b, "=") && is(s, b + 1, "=")) || is(s, a - 1, "!") ? 0
														    : HEDDLE_USE_PASSED;
	}
	return HEDDLE_USE_PASSED;
}

static int use_of(const scanner *s, const char *name, int begin, int end, int depth)
{
	int use = 0;
	*s->work -= end - begin;
	if (depth > 6 || *s->work < 0)
		return HEDDLE_USE_PASSED;
	for (int i = begin; i < end && *s->work >= 0; i++)
		if (is_word(s, i) && strcmp(s->t[i].text, name) == 0 && !is(s, i - 1, ".") &&
		    !(is(s, i - 1, ">") && is(s, i - 2, "-") && s->t[i - 1].joined) && !(is(s, i - 1, "*") && is_word(s, i - 2) && is(s, i + 1, "=")))
			use |= use_of_pointer(s, i, i + 1, name, end, depth);
	return use;
}

/* ---- host launches ------------------------------------------------------------------------------------------------------------------ */

typedef struct host {
	const scanner *s;
	int at;		/* the launch */
	int n;		/* arguments and what kernel parameter each is */
	const char **argument;
	const heddle_prototype *kernel;
} host;

/* Where the host variable `name` gets its value before the launch: [*begin, *end). */
static bool find_value(const host *h, const char *name, int *begin, int *end)
{
	for (int i = h->at - 1; i > 0 && i > h->at - 4000; i--) {
		if (!is(h->s, i, name))
			continue;
		/* "dim3 a(..)", "dim3 a(..), b(..)" */
		bool dim = is(h->s, i - 1, "dim3");
		for (int k = i - 1; !dim && is(h->s, i - 1, ",") && k > i - 200 && k > 0 && !is(h->s, k, ";") && !is(h->s, k, "{"); k--)
			dim = is(h->s, k, "dim3") && is_word(h->s, k + 1);
		if (dim && (is(h->s, i + 1, "(") || is(h->s, i + 1, "{"))) {
			*begin = i + 2;
			*end = closing(h->s, i + 1);
			return true;
		}
		if (is(h->s, i + 1, "=") && !is(h->s, i + 2, "=")) {
			*begin = i + 2;
			if (is(h->s, *begin, "dim3") && (is(h->s, *begin + 1, "(") || is(h->s, *begin + 1, "{"))) {
				*end = closing(h->s, *begin + 1);
				*begin += 2;
				return true;
			}
			*end = part_end(h->s, *begin, h->at);
			for (int k = *begin; k < *end; k++)
				if (is(h->s, k, ";"))
					*end = k;
			return *begin < *end;
		}
	}
	return false;
}

/* [begin, end) as a formula over the kernel's parameters; NULL: it has something else in it. */
static const char *formula(const host *h, int begin, int end, int depth)
{
	const scanner *s = h->s;
	heddle_text text = {0};
	bool bad = begin >= end || depth > 6;
	for (int i = begin; i < end && !bad; i++) {
		const heddle_token *t = &s->t[i];
		int64_t value;
		if (t->kind == HEDDLE_TOKEN_NUMBER) {
			bad = !evaluate((scanner *)(uintptr_t)s, i, i + 1, &value);
			heddle_text_printf(&text, "%lld", (long long)value);
			continue;
		}
		if (t->kind == HEDDLE_TOKEN_MARK) {
			/* "(int)x" */
			if (is(s, i, "(") && is(s, i + 2, ")") && is_word(s, i + 1) && scalar_type(s->t[i + 1].text) >= 0) {
				i += 2;
				continue;
			}
			bad = !strchr("+-*/%()", t->text[0]);
			heddle_text_add(&text, t->text);
			continue;
		}
		int a, b;
		int which = 0;
		while (which < h->n && strcmp(h->argument[which], t->text) != 0)
			which++;
		if (which < h->n && which < h->kernel->n_parameter && !h->kernel->parameter[which].pointer) {
			heddle_text_add(&text, h->kernel->parameter[which].name);
		} else if ((is(s, i, "sizeof")) && is(s, i + 1, "(")) {
			int members, none = 0;
			const char *what;
			const int close = closing(s, i + 1);
			const int type = type_of(s, s->t + i + 2, close - i - 2, 0, &members, &none, &what);
			bad = type < 0 || none;
			heddle_text_printf(&text, "%d", type < 0 ? 0 : heddle_type_size((heddle_type)type) * members);
			i = close;
		} else if (look_up((void *)(uintptr_t)s, t->text, &value)) {
			heddle_text_printf(&text, "%lld", (long long)value);
		} else if (is(s, i, "static_cast") && is(s, i + 1, "<") && closing_angle(s, i + 1) > 0) {
			i = closing_angle(s, i + 1);
		} else if (is(s, i + 1, "(") && (strstr(t->text, "div") || strstr(t->text, "Div") || strstr(t->text, "DIV"))) {
			const int close = closing(s, i + 1), comma = part_end(s, i + 2, close);
			const char *x = formula(h, i + 2, comma, depth + 1), *y = comma < close ? formula(h, comma + 1, close, depth + 1) : NULL;
			bad = !x || !y;
			heddle_text_printf(&text, "((%s+%s-1)/%s)", x ? x : "", y ? y : "", y ? y : "");
			i = close;
		} else if (find_value(h, t->text, &a, &b) && part_end(s, a, b) == b) {
			const char *inner = formula(h, a, b, depth + 1);
			bad = !inner;
			heddle_text_printf(&text, b - a == 1 ? "%s" : "(%s)", inner ? inner : "");
		} else if (t->kind == HEDDLE_TOKEN_WORD && !is(s, i + 1, "(") && !is(s, i + 1, ".") && !is(s, i + 1, "[") &&
			   !is(s, i + 1, ":") && !is(s, i + 1, "<") && !(is(s, i + 1, "-") && is(s, i + 2, ">"))) {
			heddle_text_printf(&text, "$%s", t->text);
		} else {
			bad = true;
		}
	}
	const char *out = bad ? NULL : heddle_arena_strdup(s->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return out;
}

/* Up to three formulas: of "a, b", of "dim3(a, b)", of a variable. */
static int formulas(const host *h, int begin, int end, const char *out[3])
{
	const scanner *s = h->s;
	int a, b, n = 0;
	out[0] = out[1] = out[2] = "1";
	if (end - begin == 1 && is_word(s, begin) && find_value(h, s->t[begin].text, &a, &b)) {
		begin = a;
		end = b;
	} else if (is(s, begin, "dim3") && closing(s, begin + 1) == end - 1) {
		begin += 2;
		end--;
	} else if (is(s, begin, "{")) {
		begin++;
		end--;
	}
	while (begin < end && n < 3) {
		const int stop = part_end(s, begin, end);
		out[n++] = formula(h, begin, stop, 0);
		begin = stop + 1;
	}
	return n;
}

/* The name before tokens that end at `end`: "ns::k<float, 128>"; its begin, or -1. */
static int name_begin(const scanner *s, int end, int *name)
{
	int at = end - 1;
	if (is(s, at, ">")) {
		at = opening_angle(s, at) - 1;
		if (at < 0)
			return -1;
	}
	*name = at;
	if (!is_word(s, at))
		return -1;
	while (is(s, at - 1, ":") && is(s, at - 2, ":") && is_word(s, at - 3))
		at -= 3;
	return at;
}

static void add_instance(const scanner *s, heddle_prototype *p, const char *instance)
{
	for (int i = 0; i < p->n_instance; i++)
		if (strcmp(p->instance[i], instance) == 0)
			return;
	HEDDLE_PUSH(s->arena, p->instance, p->n_instance, instance);
}

/* The bracket that closes around `at`, which is inside of it. */
static int opening_end(const scanner *s, int at)
{
	int depth = 0;
	for (int i = at + 1; i < s->n; i++) {
		const char c = s->t[i].kind == HEDDLE_TOKEN_MARK ? s->t[i].text[0] : 0;
		if (c == ')' && depth == 0)
			return i;
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
	}
	return s->n;
}

static void add_host_launch(const scanner *s, heddle_prototype *p, int name, int end, const int part[5], int n_part, int arguments)
{
	host h = {.s = s, .at = name, .kernel = p};
	int close = is(s, arguments, "(") ? closing(s, arguments) : opening_end(s, arguments);
	const host outside = h;
	const char **formula_of = NULL;
	int n_formula = 0;
	for (int i = arguments + 1; i < close;) {
		const int stop = part_end(s, i, close);
		HEDDLE_PUSH(s->arena, h.argument, h.n, words(s, i, stop));
		HEDDLE_PUSH(s->arena, formula_of, n_formula, formula(&outside, i, stop, 0));
		i = stop + 1;
	}
	heddle_host_launch l = {.n_argument = n_formula, .argument = formula_of, .line = s->t[name].line, .instance = words(s, name, end), .shared = "0"};
	const char *block[3];
	formulas(&h, part[0], part[1] - 1, l.grid);
	if (n_part > 1) {
		formulas(&h, part[1], part[2] - 1, block);
		for (int d = 0; d < 3; d++)
			l.block[d] = block[d] && strspn(block[d], "0123456789()+-*/") == strlen(block[d]) ? atoi(block[d]) : 0;
		for (int d = 0; d < 3; d++) {
			heddle_token_list list = {.arena = s->arena};
			const heddle_preprocess_options options = {.path = "", .backend = s->backend, .own = true};
			int64_t value;
			if (block[d] && heddle_preprocess(s->ctx, block[d], &options, &list) == 0 &&
			    heddle_tokens_evaluate(list.t, list.t + list.n, NULL, NULL, &value) && value > 0 && value < 65536)
				l.block[d] = (int)value;
		}
	}
	if (n_part > 2)
		l.shared = formula(&h, part[2], part[3] - 1, 0);
	l.text = words(s, part[0], part[n_part] - 1);
	if (strchr(l.instance, '<'))
		add_instance(s, p, l.instance);
	HEDDLE_PUSH(s->arena, p->host, p->n_host, l);
}

static bool names(const heddle_prototype *p, const char *name)
{
	const char *colon = strrchr(p->name, ':');
	return strcmp(p->name, name) == 0 || strcmp(colon ? colon + 1 : p->name, name) == 0;
}

static void read_host_launches(scanner *s, heddle_prototype *p)
{
	for (int k = 0; k < s->n_launch; k++) {
		const int i = s->launch[k];
		int name, begin, part[5], n = 0;
		if (is(s, i, "<") && is(s, i + 1, "<") && is(s, i + 2, "<") && s->t[i + 1].joined && s->t[i + 2].joined) {
			begin = name_begin(s, i, &name);
			int end = i + 3;
			while (end < s->n && !(is(s, end, ">") && is(s, end + 1, ">") && is(s, end + 2, ">")))
				end = is(s, end, "(") || is(s, end, "{") ? closing(s, end) + 1 : end + 1;
			if (begin < 0 || !names(p, s->t[name].text) || !is(s, end + 3, "("))
				continue;
			for (int at = i + 3; at < end && n < 4; at = part[n])
				part[n] = at, n++, part[n] = part_end(s, at, end) + 1;
			if (n)
				add_host_launch(s, p, begin, i, part, n, end + 3);
		} else if (is(s, i, "hipLaunchKernelGGL") && is(s, i + 1, "(")) {
			/* (kernel, grid, block, shared, stream, arguments..), the kernel perhaps in HIP_KERNEL_NAME(..) */
			const int close = closing(s, i + 1);
			int end = part_end(s, i + 2, close), first = i + 2;
			for (int at = end + 1; at < close && n < 4; at = part[n])
				part[n] = at, n++, part[n] = part_end(s, at, close) + 1;
			const int after = end;
			while (is(s, first, "(") || is(s, first, "HIP_KERNEL_NAME")) {
				end = is(s, first, "(") ? closing(s, first) : closing(s, first + 1);
				first += is(s, first, "(") ? 1 : 2;
			}
			begin = name_begin(s, end, &name);
			if (begin == first && n == 4 && after < close && names(p, s->t[name].text))
				add_host_launch(s, p, begin, end, part, n, part[4] - 1);
		} else if (is(s, i, "template") && !is(s, i + 1, "<")) {
			/* explicit instantiation: "template __global__ void k<float, 128>(..);" */
			int at = i + 1;
			while (at < s->n && !is(s, at, "(") && !is(s, at, ";"))
				at = is(s, at, "__launch_bounds__") ? closing(s, at + 1) + 1 : at + 1;
			begin = name_begin(s, at, &name);
			if (begin > 0 && names(p, s->t[name].text) && is(s, at - 1, ">"))
				add_instance(s, p, words(s, begin, at));
		}
	}
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------------------- */

static void read_template(scanner *s, int open, heddle_prototype *p)
{
	const int close = closing_angle(s, open);
	for (int i = open + 1; i < close;) {
		/* angles inside are of defaults */
		int stop = part_end(s, i, close), equal = i;
		while (equal < stop && !is(s, equal, "="))
			equal++;
		heddle_template_parameter a = {.type = is(s, i, "typename") || is(s, i, "class")};
		a.name = is_word(s, equal - 1) ? s->t[equal - 1].text : "";
		a.value = equal < stop ? words(s, equal + 1, stop) : NULL;
		HEDDLE_PUSH(s->arena, p->template_parameter, p->n_template, a);
		i = stop + 1;
	}
}

/* Values of the template's parameters: those of the instance, then defaults. */
static void bind_template(scanner *s, heddle_prototype *p, const char *instance)
{
	const char *angle = instance ? strchr(instance, '<') : NULL;
	heddle_token_list *list = HEDDLE_NEW(s->arena, heddle_token_list);
	const heddle_preprocess_options options = {.path = "", .backend = s->backend, .own = true};
	list->arena = s->arena;
	if (angle && heddle_preprocess(s->ctx, angle + 1, &options, list) < 0)
		return;
	scanner inner = {.ctx = s->ctx, .arena = s->arena, .backend = s->backend, .t = list->t, .n = list->n ? list->n - 1 : 0};
	find_partners(&inner);
	int at = 0;
	for (int i = 0; i < p->n_template; i++) {
		const heddle_template_parameter *a = &p->template_parameter[i];
		const int stop = at < inner.n ? part_end(&inner, at, inner.n) : at;
		const heddle_token *from = list->t + at;
		int n = stop - at;
		if (n <= 0 && a->value) {
			heddle_token_list *value = HEDDLE_NEW(s->arena, heddle_token_list);
			value->arena = s->arena;
			if (heddle_preprocess(s->ctx, a->value, &options, value) == 0) {
				from = value->t;
				n = value->n;
			}
		}
		int64_t value;
		if (n > 0 && a->type) {
			const alias new = {a->name, 0, n, from};
			HEDDLE_PUSH(s->arena, s->alias, s->n_alias, new);
		} else if (n > 0 && heddle_tokens_evaluate(from, from + n, look_up, s, &value)) {
			add_constant(s, a->name, value);
		}
		at = stop + 1;
	}
}

/* `__launch_bounds__(256, 2)`, `reqd_work_group_size(8, 8, 1)`, `amdgpu_flat_work_group_size(1, 256)` between [begin, end). */
static void read_block(scanner *s, int begin, int end, heddle_prototype *p)
{
	for (int i = begin; i < end; i++) {
		const bool exact = is(s, i, "reqd_work_group_size") || is(s, i, "__reqd_work_group_size__");
		const bool flat = is(s, i, "amdgpu_flat_work_group_size");
		if ((!exact && !flat && !is(s, i, "__launch_bounds__")) || !is(s, i + 1, "("))
			continue;
		const int close = closing(s, i + 1);
		int64_t value[3] = {0, 1, 1};
		int n = 0;
		bool known = true;
		for (int at = i + 2; at < close && n < 3; n++) {
			const int stop = part_end(s, at, close);
			known = known && (evaluate(s, at, stop, &value[n]) || (n && !exact && !flat));
			at = stop + 1;
		}
		p->block_line = s->t[i].line;
		p->block_exact = exact;
		for (int d = 0; d < 3 && known; d++) {
			const int64_t v = exact ? value[d] : d ? 1 : flat ? value[1] : value[0];
			p->block[d] = v > 0 && v <= 65536 ? (int)v : 0;
		}
	}
}

/* Does the body [begin, end), or a function that it calls, have this word? */
static bool mentions(const scanner *s, int begin, int end, const char *word, int depth)
{
	*s->work -= end - begin;
	for (int i = begin; i < end && *s->work >= 0; i++) {
		if (is(s, i, word))
			return true;
		int open, body;
		if (depth < 3 && is_word(s, i) && (is(s, i + 1, "(") || is(s, i + 1, "<")) && !among(s->t[i].text, qualifiers) &&
		    !is(s, i, "if") && !is(s, i, "for") && !is(s, i, "while") && find_function(s, s->t[i].text, &open, &body) &&
		    body > end && mentions(s, body, closing(s, body), word, depth + 1))
			return true;
		if (depth < 3 && is_word(s, i) && is(s, i + 1, "(") && find_function(s, s->t[i].text, &open, &body) && body < begin &&
		    mentions(s, body, closing(s, body), word, depth + 1))
			return true;
	}
	return false;
}

static void read_dynamic(scanner *s, int begin, int end, heddle_prototype *p)
{
	for (int i = 0; i < s->n && !p->dynamic_shared; i++) {
		int at = i, stop = i;
		if (is(s, i, "HIP_DYNAMIC_SHARED") && is(s, i + 1, "(")) {
			stop = closing(s, i + 1);
			at = stop - 1;
		} else if (is(s, i, "extern")) {
			bool shared = false;
			while (stop < s->n && !is(s, stop, ";") && !is(s, stop, "{"))
				shared = is(s, stop++, "__shared__") || shared;
			for (at = i; at < stop && !is(s, at, "["); at++)
				if (is(s, at, "(")) /* of alignas */
					at = closing(s, at);
			at--;
			if (!shared || !is_word(s, at))
				continue;
		} else {
			continue;
		}
		/* Inside of the kernel, or of something that it uses. */
		if ((i < begin || i >= end) && !mentions(s, begin, end, s->t[at].text, 0))
			continue;
		p->dynamic_shared = heddle_arena_printf(s->arena, "%s %s[]", is(s, i, "extern") ? words(s, at - 1, at) : words(s, i + 2, at - 1),
							s->t[at].text);
		p->dynamic_line = s->t[i].line;
	}
}

static bool is_kernel_word(const scanner *s, int i)
{
	if (strcmp(s->backend, "opencl") == 0)
		return is(s, i, "__kernel") || is(s, i, "kernel");
	return is(s, i, "__global__");
}

/* Functions with bodies, and places of launches, looked for once. */
static void find_places(scanner *s)
{
	for (int i = 1; i + 1 < s->n; i++) {
		if ((is(s, i, "<") && is(s, i + 1, "<") && is(s, i + 2, "<")) || is(s, i, "hipLaunchKernelGGL") || is(s, i, "template"))
			HEDDLE_PUSH(s->arena, s->launch, s->n_launch, i);
		if (!is_word(s, i) || !is(s, i + 1, "(") || !(is_word(s, i - 1) || is(s, i - 1, "*") || is(s, i - 1, ">")) ||
		    is(s, i - 1, "return") || is(s, i - 1, "else"))
			continue;
		int at = closing(s, i + 1) + 1;
		while (is(s, at, "const") || is(s, at, "noexcept"))
			at++;
		if (is(s, at, "{"))
			HEDDLE_PUSH(s->arena, s->function, s->n_function, i);
	}
}

/* The namespaces around a place: outwards, from bracket to bracket. */
static const char *namespaces(const scanner *s, int at)
{
	enum { MOST = 32 };
	const char *out = "";
	int n = 0;
	for (int i = at; i > 0 && n < MOST; i--) {
		if (is(s, i, "}") && opening(s, i) >= 0) {
			i = opening(s, i);
			continue;
		}
		if (!is(s, i, "{"))
			continue;
		int begin = i - 1;
		while (is_word(s, begin) || is(s, begin, ":"))
			begin--;
		if (is(s, begin + 1, "namespace") && begin + 2 < i && ++n)
			out = heddle_arena_printf(s->arena, "%s::%s", words(s, begin + 2, i), out);
	}
	return out;
}

/* The kernel whose `__global__` stands at `at`.  The token after it. */
static int read_kernel(scanner *s, int at, int n_instance, const char *const *instance)
{
	int begin = at, open = at + 1;
	while (begin > 0 && !is(s, begin - 1, ";") && !is(s, begin - 1, "}") && !is(s, begin - 1, "{"))
		begin--;
	/* The name is the word before the first bracket that is not an attribute's. */
	while (open < s->n && !(is(s, open, "(") && is_word(s, open - 1) && !is(s, open - 1, "__launch_bounds__") &&
				!is(s, open - 1, "__attribute__") && !is(s, open - 1, "alignas") && !is(s, open - 1, "__cluster_dims__") &&
				!is(s, open - 1, "__maxnreg__"))) {
		if (is(s, open, ";") || is(s, open, "{") || is(s, open, "}") || is(s, open, "="))
			return open;
		open = is(s, open, "(") ? closing(s, open) + 1 : open + 1;
	}
	const int close = closing(s, open);
	int body = close + 1;
	while (body < s->n && !is(s, body, "{") && !is(s, body, ";"))
		body = is(s, body, "(") ? closing(s, body) + 1 : body + 1;
	if (!is(s, body, "{") || (is(s, begin, "template") && !is(s, begin + 1, "<")))
		return body;
	const int end = closing(s, body);
	heddle_prototype p = {.name = heddle_arena_printf(s->arena, "%s%s", namespaces(s, begin), s->t[open - 1].text),
			      .file = s->t[open - 1].file, .line = s->t[open - 1].line};
	if (is(s, begin, "template") && is(s, begin + 1, "<"))
		read_template(s, begin + 1, &p);
	const int n_alias = s->n_alias, n_constant = s->n_constant;
	read_host_launches(s, &p);
	const char *chosen = p.n_instance == 1 ? p.instance[0] : NULL;
	for (int i = 0; i < n_instance; i++)
		if (names(&p, heddle_arena_strndup(s->arena, instance[i], strcspn(instance[i], "< "))))
			chosen = instance[i];
	if (p.n_template)
		bind_template(s, &p, chosen);
	for (int i = open + 1; i < close;) {
		const int stop = part_end(s, i, close);
		if (!(stop == i + 1 && is(s, i, "void")))
			read_parameter(s, i, stop, &p);
		i = stop + 1;
	}
	for (int i = 0; i < p.n_parameter; i++)
		if (p.parameter[i].pointer && *p.parameter[i].name)
			p.parameter[i].use = use_of(s, p.parameter[i].name, body, end, 0);
	/* Formulas of the host speak of parameters, which are known only now. */
	p.n_host = 0;
	p.host = NULL;
	read_host_launches(s, &p);
	read_block(s, begin, body, &p);
	read_dynamic(s, body, end, &p);
	s->n_alias = n_alias;
	s->n_constant = n_constant;
	HEDDLE_PUSH(s->arena, s->out->item, s->out->n, p);
	return end;
}

/* ---- what levels may not take --------------------------------------------------------------------------------------------------------------- */

static void read_features(scanner *s)
{
	static const struct {
		const char *word, *what;
	} list[] = {{"asm", "inline assembly"}, {"__asm__", "inline assembly"}, {"__asm", "inline assembly"},
		    {"cooperative_groups", "cooperative_groups"}, {"wmma", "wmma"}, {"nvcuda", "wmma"}, {"cub", "cub"},
		    {"hipcub", "hipcub"}, {"thrust", "thrust"}, {"cute", "cute"}, {"cutlass", "cutlass"}, {"tex1Dfetch", "textures"},
		    {"tex2D", "textures"}, {"tex3D", "textures"}, {"surf2Dread", "surfaces"}, {"read_imagef", "images"},
		    {"read_imagei", "images"}, {"write_imagef", "images"}, {"rocwmma", "rocwmma"}};
	for (int i = 0; i < s->n; i++)
		for (size_t k = 0; k < HEDDLE_COUNT(list); k++) {
			if (!is_word(s, i) || !is(s, i, list[k].word))
				continue;
			bool seen = false;
			for (int j = 0; j < s->out->n_feature; j++)
				seen = seen || strcmp(s->out->feature[j].what, list[k].what) == 0;
			const heddle_text_feature f = {list[k].what, s->t[i].file, s->t[i].line};
			if (!seen)
				HEDDLE_PUSH(s->arena, s->out->feature, s->out->n_feature, f);
		}
}

int heddle_prototypes_find(heddle_ctx *ctx, const heddle_token_list *tokens, const char *backend, int n_instance,
			   const char *const *instance, heddle_prototype_list *out)
{
	int64_t work = 100000000;
	scanner s = {.ctx = ctx, .arena = out->arena, .backend = backend, .t = tokens->t, .n = tokens->n, .out = out, .work = &work};
	find_partners(&s);
	find_places(&s);
	read_constants(&s);
	read_aliases(&s);
	read_features(&s);
	for (int i = 0; i < s.n; i++)
		if (is_kernel_word(&s, i)) {
			const int next = read_kernel(&s, i, n_instance, instance);
			i = next > i ? next : i;
		}
	return 0;
}
