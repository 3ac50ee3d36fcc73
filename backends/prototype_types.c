/* Parameters of kernels: their types, and whether bodies read or write what they point to.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype_scan.h"

#include <string.h>

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

int heddle_scan_scalar_type(const char *name)
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
	int type = heddle_scan_scalar_type(name);
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
		type = heddle_scan_scalar_type(heddle_arena_strndup(s->arena, name, n - k));
		if (type >= 0) {
			*members = ends[i].members;
			return type;
		}
	}
	return -1;
}

const char *const heddle_scan_qualifiers[] = {"const",	 "volatile", "restrict", "__restrict__", "__restrict", "__global",
					 "global",	 "__private", "private",  "struct",	  "typename",	"static",
					 "__grid_constant__", "register", "inline", "read_only", "__read_only", "write_only",
					 "__write_only", NULL};

/* The type that tokens name; -1 with `*what`.  `*pointers` counts stars in aliases. */
int heddle_scan_type_of(const scanner *s, const heddle_token *t, int n, int depth, int *members, int *pointers, const char **what)
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
		if (among(word, heddle_scan_qualifiers))
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
			return heddle_scan_type_of(s, s->alias[i].t + s->alias[i].begin, s->alias[i].end - s->alias[i].begin, depth + 1, members,
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

void heddle_scan_parameter(scanner *s, int begin, int end, heddle_prototype *p)
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
		if (is(s, i, "<") && heddle_scan_closing_angle(s, i) > 0) {
			i = heddle_scan_closing_angle(s, i);
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
		if (is_word(s, i) && !among(s->t[i].text, heddle_scan_qualifiers))
			name = i;
	}
	/* The last word is the name, unless it is the only one, or a type. */
	bool other = false;
	for (int i = begin; i < name; i++)
		other = other || (is_word(s, i) && !among(s->t[i].text, heddle_scan_qualifiers) && !is(s, i, "__local") && !is(s, i, "local") &&
				  !is(s, i, "__constant") && !is(s, i, "constant"));
	int members, none = 0;
	const char *what = NULL;
	if (name >= 0 && (!other || (heddle_scan_scalar_type(s->t[name].text) >= 0 && name + 1 == stop)))
		name = -1;
	if (name >= 0)
		a.name = s->t[name].text;
	heddle_token *type = HEDDLE_NEW_ARRAY(s->arena, heddle_token, end - begin + 1);
	int n = 0;
	for (int i = begin; i < stop; i++)
		if (i != name && !is(s, i, "__local") && !is(s, i, "local") && !is(s, i, "__constant") && !is(s, i, "constant"))
			type[n++] = s->t[i];
	a.type = heddle_tokens_text(s->arena, type, type + n);
	a.element = heddle_scan_type_of(s, type, n, 0, &members, &none, &what);
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

int heddle_scan_use(const scanner *s, const char *name, int begin, int end, int depth);

/* A function of the text: its parameters and body. */
bool heddle_scan_find_function(const scanner *s, const char *name, int *open, int *body)
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
	if (depth > 3 || *s->work < 0 || !heddle_scan_find_function(s, name, &open, &body))
		return HEDDLE_USE_PASSED;
	const int close = closing(s, open);
	int at = open + 1;
	for (int k = 0; k < which && at < close; k++)
		at = heddle_scan_part_end(s, at, close) + 1;
	const int stop = heddle_scan_part_end(s, at, close);
	int last = stop - 1;
	while (last > at && !is_word(s, last))
		last--;
	return is_word(s, last) && last > at ? heddle_scan_use(s, s->t[last].text, body, closing(s, body), depth + 1) : HEDDLE_USE_PASSED;
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
			return heddle_scan_use(s, s->t[before - 1].text, b, end, depth + 1);
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
				const int angle = heddle_scan_opening_angle(s, before);
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
			return heddle_scan_use(s, s->t[a - 2].text, b, end, depth + 1);
		}
		if (is(s, b, ",") || is(s, b, ")")) {
			int open = a - 1, which = 0, level = 0;
			for (; open >= 0 && !(is(s, open, "(") && level == 0); open--) {
				level += is(s, open, ")") || is(s, open, "]");
				level -= is(s, open, "(") || is(s, open, "[");
				which += level == 0 && is(s, open, ",");
			}
			int callee = open - 1;
			if (is(s, callee, ">") && heddle_scan_opening_angle(s, callee) > 0)
				callee = heddle_scan_opening_angle(s, callee) - 1;
			if (is(s, callee, "if") || is(s, callee, "while"))
				return 0;
			return is_word(s, callee) ? use_by_call(s, s->t[callee].text, which, depth) : HEDDLE_USE_PASSED;
		}
		return is(s, b, "?") || is(s, b, "!") || (is(s, b, "=") && is(s, b + 1, "=")) || is(s, a - 1, "!") ? 0
														    : HEDDLE_USE_PASSED;
	}
	return HEDDLE_USE_PASSED;
}

int heddle_scan_use(const scanner *s, const char *name, int begin, int end, int depth)
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
