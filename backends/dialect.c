/* Reads dialects: YAML flattened to words, inheritance, checks of keys and placeholders; the prelude's pieces.
 * SPDX-License-Identifier: MIT
 */
#include "backends/dialect.h"

#include "arch/reader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
	MAX_INHERIT = 8,
	MAX_DEPTH = 8,
	MAX_PARAMETER = 4,
	MAX_PARAMETER_NAMES = 12, /* that get their values together */
	MAX_BYTES = 4 << 20, /* of a file, and of the pieces that one heading makes */
	MAX_NODES = 10000,   /* of a file, those of an alias each time */
	MAX_PIECES = 4096,
};

/* Every key that a dialect may have (a * is one component), and the placeholders that its template may use. */
static const struct {
	const char *key;
	bool required;
	const char *placeholders; /* between spaces */
} known_keys[] = {
	{"name", true, ""},
	{"inherits", false, ""},
	{"title", true, ""},
	{"suffix", true, ""},
	{"host_suffix", false, ""},
	{"reserved.*", false, ""},
	{"language.vector_arithmetic", true, ""},
	{"language.unaligned_vectors", true, ""},
	{"language.shuffles", true, ""},
	{"language.max_vector", true, ""},
	{"language.function_width", false, ""},
	{"language.byte_offsets", true, ""},
	{"language.joint_conditions", false, ""},
	{"language.barriers_at_joins", false, ""},
	{"language.array_bytes", false, ""},
	{"language.any_chip", false, ""},
	{"language.global_threads", false, ""},
	{"options.*.*", false, ""},
	{"options.*.*.*", false, ""},
	{"source.begin", false, ""},
	{"source.policy.*", false, ""},
	{"kernel", true, " name threads "},
	{"kernel_min_blocks", true, " name threads min_blocks min_warps "},
	{"argument.input", true, " type name "},
	{"argument.output", true, " type name "},
	{"argument.scalar", true, " type name "},
	{"argument.offset", false, " type name "},
	{"argument.begin_input", false, " type name "},
	{"argument.begin_output", false, " type name "},
	{"block", true, ""},
	{"thread", true, ""},
	{"barrier", true, ""},
	{"shuffle", false, " value mask "},
	{"copy.*.begin", false, " event "},
	{"copy.*.issue", false, " to from count bits type event "},
	{"copy.*.wait", false, " event "},
	{"element", false, " base offset "},
	{"unroll", true, ""},
	{"unroll_by", false, " n "},
	{"shared.declare", true, " type name dimensions align "},
	{"shared.dynamic", false, " name align "},
	{"shared.view", false, " type name dimensions memory offset "},
	{"register.declare", true, " type name dimensions "},
	{"type.*.name", true, ""},
	{"type.*.local", false, ""},
	{"type.*.stem", true, ""},
	{"type.*.suffix", false, ""},
	{"type.*.host", false, ""},
	{"vector.name", true, " stem width "},
	{"vector.build", true, " vector members "},
	{"vector.splat", true, " vector value members "},
	{"vector.member.*", false, ""},
	{"vector.extract", false, " value i "},
	{"vector.select", false, " condition a b type "},
	{"select", false, " condition a b type "},
	{"cast", false, " type value "},
	{"boolean.true", false, ""},
	{"boolean.false", false, ""},
	{"statement.let", false, " type name value "},
	{"statement.for", false, " type name from to step by "},
	{"statement.if", false, " condition "},
	{"statement.else", false, ""},
	{"prelude", false, " * "},
	{"vector.max_width", true, ""},
	{"vector.max_bytes", true, ""},
	{"vector.load", true, " vector stem width pointer "},
	{"vector.load_ahead", false, " vector stem width pointer ahead "},
	{"vector.store", true, " vector stem width pointer value "},
	{"vector.stream", false, " vector stem width pointer value "},
	{"vector.quotient", false, " a b stem width "},
	{"vector.convert", false, " vector stem width value "},
	{"vector.condition.stem", false, ""},
	{"vector.condition.from_bool", false, " vector stem width value "},
	{"vector.condition.to_bool", false, " vector stem width value "},
	{"vector.condition.narrow", false, " vector stem width value "},
	{"vector.condition.widen", false, " vector stem width value "},
	{"wide.name", false, " type width "},
	{"wide.build", false, " vector members "},
	{"wide.member", false, " i "},
	{"infinity.*", true, ""},
	{"nan.*", true, ""},
	{"integer.*", true, " a b type "},
	{"float.*", true, " a b type suffix "},
	{"convert.*.*", true, " value suffix "},
	{"truncate", true, " type from value "},
	{"vector_op.zip", false, " a b stem width half "},
	{"vector_op.unzip", false, " a b stem width "},
	{"vector_op.*", false, " a b value stem width type suffix "},
	{"function.default.*", true, " function arguments a b c d suffix type width "},
	{"function.*.*", false, " function arguments a b c d suffix type width "},
	{"host.*", false, " * "},
	{"torch.*", false, " * "},
};

/* ---- words ---------------------------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
	return strcmp(((const dialect_word *)a)->key, ((const dialect_word *)b)->key);
}

static const dialect_word *find_word(const heddle_dialect *dialect, const char *key)
{
	dialect_word wanted = {.key = key};
	return dialect->n_word == 0 ? NULL
				    : bsearch(&wanted, dialect->word, (size_t)dialect->n_word, sizeof(wanted), compare_words);
}

const char *heddle_dialect_word(const heddle_dialect *dialect, const char *format, ...)
{
	char key[128];
	va_list args;
	if (!strchr(format, '%')) { /* nearly all that printing asks for */
		const dialect_word *plain = find_word(dialect, format);
		return plain ? plain->text : NULL;
	}
	va_start(args, format);
	vsnprintf(key, sizeof(key), format, args);
	va_end(args);
	const dialect_word *word = find_word(dialect, key);
	return word ? word->text : NULL;
}

bool heddle_dialect_flag(const heddle_dialect *dialect, const char *key)
{
	const char *text = heddle_dialect_word(dialect, "%s", key);
	return text && strcmp(text, "true") == 0;
}

const char **heddle_dialect_list(const heddle_dialect *dialect, heddle_arena *arena, const char *key, int *n)
{
	const char **list = NULL;
	*n = 0;
	for (;;) {
		const char *text = heddle_dialect_word(dialect, "%s.%d", key, *n);
		if (!text)
			return list;
		HEDDLE_PUSH(arena, list, *n, text);
	}
}

const char *heddle_dialect_suffix(const heddle_dialect *dialect) { return heddle_dialect_word(dialect, "suffix"); }

const char *heddle_dialect_host_suffix(const heddle_dialect *dialect) { return heddle_dialect_word(dialect, "host_suffix"); }

bool heddle_dialect_has_host(const heddle_dialect *dialect) { return heddle_dialect_word(dialect, "host.launch") != NULL; }

/* Add or override. */
static void put_word(heddle_arena *arena, heddle_dialect *dialect, dialect_word word)
{
	for (int i = 0; i < dialect->n_word; i++)
		if (strcmp(dialect->word[i].key, word.key) == 0) {
			dialect->word[i] = word;
			return;
		}
	HEDDLE_PUSH(arena, dialect->word, dialect->n_word, word);
}

/* ---- YAML -> words --------------------------------------------------------------------------------------------------- */

typedef struct reader {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_source *source;
	yaml_document_t document;
	heddle_dialect *dialect;
	int n_node;
} reader;

static int fail(const heddle_ctx *ctx, const heddle_source *source, size_t line, int code, const char *message,
		const char *detail)
{
	heddle_location location = {source, (int)line + 1, 1, 1};
	return heddle_error((heddle_ctx *)ctx, code, &location, "%s%s%s", message, detail ? ": " : "", detail ? detail : "");
}

/* A list replaces the parent's list or word whole, and a word its list. */
static void drop_words(reader *r, const char *key)
{
	const size_t length = strlen(key);
	int kept = 0;
	for (int i = 0; i < r->dialect->n_word; i++)
		if (strncmp(r->dialect->word[i].key, key, length) != 0 || (r->dialect->word[i].key[length] != '.' && r->dialect->word[i].key[length]))
			r->dialect->word[kept++] = r->dialect->word[i];
	if (kept == r->dialect->n_word)
		return;
	dialect_word *copy = HEDDLE_NEW_ARRAY(r->arena, dialect_word, kept + 1);
	memcpy(copy, r->dialect->word, sizeof(*copy) * (size_t)kept);
	r->dialect->word = NULL;
	r->dialect->n_word = 0;
	for (int i = 0; i < kept; i++)
		HEDDLE_PUSH(r->arena, r->dialect->word, r->dialect->n_word, copy[i]);
}

/* One node of the document under the dotted `prefix`. */
static int flatten(reader *r, yaml_node_t *node, const char *prefix, int depth)
{
	if (depth > MAX_DEPTH)
		return fail(r->ctx, r->source, node->start_mark.line, 451, "nested too deeply", NULL);
	if (++r->n_node > MAX_NODES)
		return fail(r->ctx, r->source, node->start_mark.line, 451, "more words than any dialect has", NULL);
	switch (node->type) {
	case YAML_SCALAR_NODE:
		drop_words(r, prefix);
		put_word(r->arena, r->dialect,
			 (dialect_word){prefix,
					heddle_arena_strndup(r->arena, (const char *)node->data.scalar.value,
							     node->data.scalar.length),
					r->source->name, (int)node->start_mark.line + 1});
		return 0;
	case YAML_SEQUENCE_NODE: {
		drop_words(r, prefix);
		int n = 0;
		for (yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
			if (flatten(r, yaml_document_get_node(&r->document, *item),
				    heddle_arena_printf(r->arena, "%s.%d", prefix, n++), depth + 1) < 0)
				return -1;
		return 0;
	}
	case YAML_MAPPING_NODE:
		for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
			yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
			yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
			if (!key || !value || key->type != YAML_SCALAR_NODE)
				return fail(r->ctx, r->source, node->start_mark.line, 451, "a key must be a word", NULL);
			const char *name = (const char *)key->data.scalar.value;
			if (flatten(r, value, *prefix ? heddle_arena_printf(r->arena, "%s.%s", prefix, name)
						      : heddle_arena_strdup(r->arena, name), depth + 1) < 0)
				return -1;
		}
		return 0;
	case YAML_NO_NODE:
		break;
	}
	return 0;
}

static int load_yaml(reader *r)
{
	yaml_parser_t parser;
	if (r->source->length > MAX_BYTES)
		return fail(r->ctx, r->source, 0, 451, "larger than any dialect", NULL);
	if (heddle_yaml_is_deep(r->source))
		return fail(r->ctx, r->source, 0, 451, "nested deeper than any dialect", NULL);
	if (!yaml_parser_initialize(&parser))
		return heddle_error(r->ctx, 950, NULL, "libyaml does not start");
	yaml_parser_set_input_string(&parser, (const unsigned char *)r->source->text, r->source->length);
	int result = 0;
	if (!yaml_parser_load(&parser, &r->document)) {
		result = fail(r->ctx, r->source, parser.problem_mark.line, 451, "not YAML", parser.problem);
	} else {
		yaml_node_t *root = yaml_document_get_root_node(&r->document);
		if (!root || root->type != YAML_MAPPING_NODE)
			result = fail(r->ctx, r->source, 0, 451, "a dialect is a mapping", NULL);
		else
			result = flatten(r, root, "", 0);
		yaml_document_delete(&r->document);
	}
	yaml_parser_delete(&parser);
	return result;
}

/* ---- checks ----------------------------------------------------------------------------------------------------------- */

static bool key_matches(const char *pattern, const char *key)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			size_t n = strcspn(key, ".");
			if (n == 0)
				return false;
			key += n;
		} else if (*pattern != *key++) {
			return false;
		}
	}
	return *key == '\0';
}

/* The length of the placeholder {name} at `s`, 0 when it is none. */
static size_t placeholder(const char *s)
{
	if (*s != '{')
		return 0;
	size_t n = 1;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n > 1 && s[n] == '}' ? n + 1 : 0;
}

static int check_placeholders(heddle_ctx *ctx, const dialect_word *word, const char *allowed, const heddle_source *source)
{
	if (strcmp(allowed, " * ") == 0)
		return 0;
	for (const char *s = word->text; *s; s++) {
		size_t n = placeholder(s);
		if (n == 0)
			continue;
		char name[64];
		snprintf(name, sizeof(name), " %.*s ", (int)(n - 2 > 60 ? 60 : n - 2), s + 1);
		if (!strstr(allowed, name)) {
			heddle_location location = {source, word->line, 1, 1};
			return heddle_error(ctx, 453, &location, "%s: no placeholder {%.*s} here; there are:%s", word->key,
					    (int)(n - 2), s + 1, *allowed ? allowed : " none");
		}
	}
	return 0;
}

static int check_words(heddle_ctx *ctx, const heddle_dialect *dialect, const heddle_source *source)
{
	for (int i = 0; i < dialect->n_word; i++) {
		const dialect_word *word = &dialect->word[i];
		const char *allowed = NULL;
		if (word->file != source->name) /* a parent's, checked there */
			continue;
		for (size_t k = 0; k < HEDDLE_COUNT(known_keys) && !allowed; k++)
			if (key_matches(known_keys[k].key, word->key))
				allowed = known_keys[k].placeholders;
		if (!allowed) {
			heddle_location location = {source, word->line, 1, 1};
			return heddle_error(ctx, 452, &location, "a dialect has no key `%s`", word->key);
		}
		if (check_placeholders(ctx, word, allowed, source) < 0)
			return -1;
	}
	for (size_t k = 0; k < HEDDLE_COUNT(known_keys); k++) {
		bool found = !known_keys[k].required || find_word(dialect, known_keys[k].key);
		for (int i = 0; i < dialect->n_word && !found; i++)
			found = key_matches(known_keys[k].key, dialect->word[i].key);
		if (!found) {
			heddle_location location = {source, 1, 1, 1};
			return heddle_error(ctx, 454, &location, "the dialect %s says nothing for `%s`",
					    dialect->name ? dialect->name : "", known_keys[k].key);
		}
	}
	for (int t = 0; t < HEDDLE_N_TYPE; t++)
		for (int k = 0; k < (heddle_dialect_has_host(dialect) ? 3 : 2); k++) {
			static const char *const part[] = {"name", "stem", "host"};
			if (!heddle_dialect_word(dialect, "type.%s.%s", heddle_type_name((heddle_type)t), part[k])) {
				heddle_location location = {source, 1, 1, 1};
				return heddle_error(ctx, 454, &location, "the dialect %s says nothing for `type.%s.%s`",
						    dialect->name, heddle_type_name((heddle_type)t), part[k]);
			}
		}
	return 0;
}

/* ---- reserved identifiers --------------------------------------------------------------------------------------------- */

static int compare_strings(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool in_sorted(const char *const *list, int n, const char *s)
{
	return n > 0 && bsearch(&s, list, (size_t)n, sizeof(*list), compare_strings) != NULL;
}

/* Every identifier of a template, but not placeholders and members. */
static void reserve_identifiers(heddle_arena *arena, heddle_dialect *dialect, const char *s)
{
	for (const char *start = s; *s;) {
		size_t n = placeholder(s);
		if (*s == '"') { /* text, not code */
			n = 1 + strcspn(s + 1, "\"");
			n += s[n] == '"';
		} else if (n == 0 && (isalpha((unsigned char)*s) || *s == '_')) {
			while (isalnum((unsigned char)s[n]) || s[n] == '_')
				n++;
			if (s == start || (s[-1] != '.' && s[-1] != '}'))
				HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, heddle_arena_strndup(arena, s, n));
		} else if (n == 0) {
			n = 1;
			if (isdigit((unsigned char)*s))
				while (isalnum((unsigned char)s[n]))
					n++;
		}
		s += n;
	}
}

/* `key` is `start`, in which * is one component, or below it. */
static bool starts_with_key(const char *key, const char *start)
{
	for (; *start; start++) {
		if (*start == '*')
			key += strcspn(key, ".");
		else if (*start != *key++)
			return false;
	}
	return *key == '\0' || *key == '.';
}

/* Keywords of C and C++, and what their headers define as macros. */
static const char *const c_keywords[] = {
	"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
	"extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
	"short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
	"volatile", "while", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic", "_Imaginary",
	"_Noreturn", "_Static_assert", "_Thread_local", "typeof", "alignas", "alignof", "and", "and_eq", "asm",
	"bitand", "bitor", "bool", "catch", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
	"co_yield", "compl", "concept", "const_cast", "consteval", "constexpr", "constinit", "decltype",
	"delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable", "namespace", "new",
	"noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
	"reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this", "thread_local",
	"throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
	"__asm", "__asm__", "__attribute__", "__builtin_expect", "__const", "__constant", "__constant__", "__device__", "__extension__",
	"__global", "__global__", "__half", "__host__", "__inline", "__inline__", "__kernel", "__local", "__private", "__restrict",
	"__restrict__", "__shared__", "__signed__", "__thread", "__typeof__", "__volatile__",
	"main", "NULL", "NAN", "INFINITY", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "MAXFLOAT", "EOF", "RAND_MAX",
	"EXIT_FAILURE", "EXIT_SUCCESS", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "SCHAR_MAX", "SCHAR_MIN",
	"UCHAR_MAX", "SHRT_MAX", "SHRT_MIN", "USHRT_MAX", "INT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX",
	"LONG_MIN", "ULONG_MAX", "SIZE_MAX", "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "FLT_DIG", "FLT_RADIX",
	"DBL_MAX", "DBL_MIN", "DBL_EPSILON", "DBL_DIG", "M_E", "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10", "M_PI",
	"M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2", "assert", "errno", "stdin",
	"stdout", "stderr", "linux", "unix", "i386", "isnan", "isinf", "isfinite", "isnormal", "signbit",
	"fpclassify", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "int8_t", "int16_t", "int32_t",
	"int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float_t", "double_t", "time_t", "clock_t", "div_t", "off_t", "pid_t",
	"va_list", "FILE",
};

/* Functions that headers of C and of its systems declare: what Heddle writes may be compiled behind any of them. */
static const char *const c_functions[] = {
	"abort", "abs", "accept", "access", "alarm", "atexit", "atoi", "bcmp", "bcopy", "bind", "bsearch", "bzero",
	"calloc", "clock", "close", "connect", "creat", "difftime", "div", "drem", "dup", "exit", "ffs", "finite",
	"fork", "fpclassify", "free", "frexp", "gamma", "getc", "getenv", "getopt", "gets", "ilogb", "index",
	"isalpha", "isatty", "isdigit", "isspace", "kill", "labs", "ldexp", "ldiv", "link", "listen", "llabs", "lldiv",
	"llrint", "llround", "localtime", "longjmp", "lrint", "lround", "malloc", "memcmp", "memcpy", "memmove",
	"memset", "mktime", "modf", "nan", "nearbyint", "nexttoward", "open", "pause", "perror", "pipe", "printf",
	"putc", "puts", "qsort", "raise", "rand", "random", "read", "realloc", "recv", "remove", "remquo", "rename",
	"rewind", "rindex", "rint", "scalb", "scalbln", "scalbn", "scanf", "select", "send", "setjmp", "signal",
	"significand", "sincos", "sleep", "socket", "sprintf", "srand", "sscanf", "stat", "strcmp", "strcpy", "strdup",
	"strlen", "strtol", "swab", "symlink", "sync", "system", "tanpi", "time", "times", "tolower", "toupper",
	"truncate", "ungetc", "unlink", "utime", "wait", "write",
};

bool heddle_entry_is_reserved(const char *name)
{
	for (size_t i = 0; i < HEDDLE_COUNT(c_keywords); i++)
		if (!strcmp(c_keywords[i], name))
			return true;
	for (size_t i = 0; i < HEDDLE_COUNT(c_functions); i++)
		if (!strcmp(c_functions[i], name))
			return true;
	for (int i = 0; heddle_builtins[i].name; i++) {
		size_t n = strlen(heddle_builtins[i].name);
		if (!strncmp(heddle_builtins[i].name, name, n) && (!name[n] || !strcmp(name + n, "f") || !strcmp(name + n, "l")))
			return true;
	}
	return false;
}

/* "float4" of the stem "float". */
static void reserve_vectors(heddle_arena *arena, heddle_dialect *dialect, const char *stem)
{
	static const int widths[] = {1, 2, 3, 4, 8, 16, 32, 64};
	for (size_t i = 0; i < HEDDLE_COUNT(widths); i++)
		HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, heddle_arena_printf(arena, "%s%d", stem, widths[i]));
}

static void reserve(heddle_arena *arena, heddle_dialect *dialect)
{
	dialect->reserved = NULL;
	dialect->n_reserved = 0;
	for (size_t i = 0; i < HEDDLE_COUNT(c_keywords); i++)
		HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, c_keywords[i]);
	static const char *const not_code[] = {"name",	      "inherits", "title",	  "suffix",	   "host",	   "torch",	   "host_suffix", "options",
					       "language",    "prelude", "source",	  "vector.member", "wide.member",  "type.*.suffix", "type.*.stem",
					       "type.*.host", "vector.condition.stem"};
	for (int i = 0; i < dialect->n_word; i++) {
		bool code = true;
		for (size_t k = 0; k < HEDDLE_COUNT(not_code); k++)
			code = code && !starts_with_key(dialect->word[i].key, not_code[k]);
		if (code)
			reserve_identifiers(arena, dialect, dialect->word[i].text);
		if (key_matches("type.*.stem", dialect->word[i].key))
			reserve_vectors(arena, dialect, dialect->word[i].text);
	}
	for (int i = 0; heddle_builtins[i].name; i++) {
		HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, heddle_builtins[i].name);
		HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, heddle_arena_printf(arena, "%sf", heddle_builtins[i].name));
	}
	for (int i = 0; i < dialect->n_piece; i++)
		HEDDLE_PUSH(arena, dialect->reserved, dialect->n_reserved, dialect->piece[i].name);
	qsort(dialect->reserved, (size_t)dialect->n_reserved, sizeof(*dialect->reserved), compare_strings);
}

bool heddle_dialect_reserves(const heddle_dialect *dialect, const char *identifier)
{
	return in_sorted(dialect->reserved, dialect->n_reserved, identifier);
}

/* ---- the prelude -------------------------------------------------------------------------------------------------------- */

/* The length of the word of letters, digits and underscores that starts here: a number's, too, which no piece is named like. */
static size_t identifier_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* `width/half=2/1,4/2`: names and, per choice, one value each. */
typedef struct parameter {
	int n_name, n_choice;
	char name[MAX_PARAMETER_NAMES][32];
	const char *choices; /* "2/1,4/2" */
} parameter;

/* Part `part` of choice `choice` into `out`; false when there is no such choice. */
static bool parameter_value(const parameter *p, int choice, int part, char *out, size_t size)
{
	const char *s = p->choices;
	for (int i = 0; i < choice; i++) {
		s = strchr(s, ',');
		if (!s)
			return false;
		s++;
	}
	size_t n = strcspn(s, ",");
	for (int i = 0; i < part; i++) {
		size_t k = strcspn(s, "/,");
		if (k >= n)
			return false;
		s += k + 1;
		n -= k + 1;
	}
	n = strcspn(s, "/,");
	n = n < size ? n : size - 1;
	memcpy(out, s, n); /* and not snprintf: preludes have thousands of them */
	out[n] = '\0';
	return true;
}

static char *instantiate(heddle_arena *arena, const char *text, const parameter *list, int n, const int *choice)
{
	heddle_text out = {0};
	for (const char *s = text; *s;) {
		size_t length = placeholder(s);
		bool replaced = false;
		for (int i = 0; i < n && length && !replaced; i++)
			for (int k = 0; k < list[i].n_name && !replaced; k++)
				if (strlen(list[i].name[k]) == length - 2 && strncmp(list[i].name[k], s + 1, length - 2) == 0) {
					char value[64];
					parameter_value(&list[i], choice[i], k, value, sizeof(value));
					heddle_text_add(&out, value);
					replaced = true;
				}
		if (!replaced) {
			length = 1 + strcspn(s + 1, "{");
			heddle_text_addn(&out, s, length);
		}
		s += length;
	}
	char *result = heddle_arena_strdup(arena, heddle_text_str(&out));
	heddle_text_free(&out);
	return result;
}

static void put_piece(heddle_arena *arena, heddle_dialect *dialect, dialect_piece piece)
{
	const int there = heddle_name_table_find(&dialect->piece_at, piece.name);
	if (there >= 0) {
		dialect->piece[there] = piece;
		return;
	}
	heddle_name_table_put(arena, &dialect->piece_at, piece.name, dialect->n_piece);
	HEDDLE_PUSH(arena, dialect->piece, dialect->n_piece, piece);
}

/* Does a heading make more pieces of so many bytes than there is place for?  -1 with a diagnostic. */
static int check_choices(reader *r, const parameter *list, int n, size_t size, const heddle_source *source, int line)
{
	int count = 1;
	for (int i = 0; i <= n; i++) {
		if (count > MAX_PIECES - r->dialect->n_piece)
			return fail(r->ctx, source, (size_t)line, 455, "more pieces than any prelude has", NULL);
		count *= i < n ? list[i].n_choice : 1;
	}
	if (size > (size_t)(MAX_BYTES / count))
		return fail(r->ctx, source, (size_t)line, 455, "longer pieces than any prelude has", NULL);
	return 0;
}

/* The pieces of a line `name parameters...` with the text below it. */
static int add_pieces(reader *r, char *heading, const char *text, const heddle_source *source, int line)
{
	parameter list[MAX_PARAMETER];
	int n = 0;
	char *save = NULL;
	const char *name = strtok_r(heading, " \t", &save);
	if (!name)
		return fail(r->ctx, source, (size_t)line, 455, "a piece without a name", NULL);
	for (char *word; (word = strtok_r(NULL, " \t", &save));) {
		char *equals = strchr(word, '=');
		if (!equals || n == MAX_PARAMETER)
			return fail(r->ctx, source, (size_t)line, 455, "a parameter is name=value,value", word);
		*equals = '\0';
		parameter *p = &list[n++];
		memset(p, 0, sizeof(*p));
		p->choices = equals + 1;
		char *inner = NULL;
		for (char *part = strtok_r(word, "/", &inner); part; part = strtok_r(NULL, "/", &inner)) {
			if (p->n_name == MAX_PARAMETER_NAMES)
				return fail(r->ctx, source, (size_t)line, 455, "more names than a parameter can have", part);
			snprintf(p->name[p->n_name++], sizeof(p->name[0]), "%s", part);
		}
		char value[64];
		for (; p->n_choice <= MAX_PIECES && parameter_value(p, p->n_choice, 0, value, sizeof(value)); p->n_choice++)
			for (int k = 0; k < p->n_name; k++)
				if (!parameter_value(p, p->n_choice, k, value, sizeof(value)))
					return fail(r->ctx, source, (size_t)line, 455, "a choice with too few values", p->choices);
	}
	if (check_choices(r, list, n, strlen(text), source, line) < 0)
		return -1;
	int choice[MAX_PARAMETER] = {0};
	for (;;) {
		const dialect_piece piece = {instantiate(r->arena, name, list, n, choice), instantiate(r->arena, text, list, n, choice)};
		if (identifier_length(piece.name) != strlen(piece.name))
			return fail(r->ctx, source, (size_t)line, 455, "the name of a piece is an identifier", piece.name);
		put_piece(r->arena, r->dialect, piece);
		int i = n - 1;
		while (i >= 0 && ++choice[i] == list[i].n_choice)
			choice[i--] = 0;
		if (i < 0)
			return 0;
	}
}

static int read_prelude(reader *r, const heddle_source *source)
{
	const char *s = source->text;
	int line = 0;
	while (*s) {
		size_t n = strcspn(s, "\n");
		if (strncmp(s, "//: ", 4) != 0) { /* before the first piece: the file's own comment */
			s += n + (s[n] == '\n');
			line++;
			continue;
		}
		char *heading = heddle_arena_strndup(r->arena, s + 4, n - 4);
		int at = line;
		s += n + (s[n] == '\n');
		line++;
		const char *start = s;
		while (*s && strncmp(s, "//: ", 4) != 0) {
			n = strcspn(s, "\n");
			s += n + (s[n] == '\n');
			line++;
		}
		const char *end = s;
		while (end > start && isspace((unsigned char)end[-1]))
			end--;
		if (add_pieces(r, heading, heddle_arena_strndup(r->arena, start, (size_t)(end - start)), source, at) < 0)
			return -1;
	}
	return 0;
}

/* Those of the pieces whose names occur in `text` become used, and open. */
static void use_pieces(const heddle_dialect *dialect, const char *text, bool *used, int *open, int *n_open)
{
	heddle_text name = {0};
	for (const char *s = text; *s;) {
		const size_t n = identifier_length(s);
		if (n > 0) {
			heddle_text_clear(&name);
			heddle_text_addn(&name, s, n);
			const int i = heddle_name_table_find(&dialect->piece_at, heddle_text_str(&name));
			if (i >= 0 && !used[i]) {
				used[i] = true;
				open[(*n_open)++] = i;
			}
		}
		s += n > 0 ? n : 1;
	}
	heddle_text_free(&name);
}

void heddle_prelude_print(const heddle_dialect *dialect, const char *text, heddle_text *out)
{
	bool *used = heddle_xalloc(sizeof(bool) * (size_t)(dialect->n_piece + 1));
	int *open = heddle_xalloc(sizeof(int) * (size_t)(dialect->n_piece + 1)), n_open = 0; /* used, its text not searched yet */
	memset(used, 0, sizeof(bool) * (size_t)(dialect->n_piece + 1));
	use_pieces(dialect, text, used, open, &n_open);
	while (n_open > 0)
		use_pieces(dialect, dialect->piece[open[--n_open]].text, used, open, &n_open);
	for (int i = 0; i < dialect->n_piece; i++)
		if (used[i])
			heddle_text_printf(out, "%s\n\n", dialect->piece[i].text);
	free(open);
	free(used);
}

/* ---- finding and reading ----------------------------------------------------------------------------------------------- */

/* `path` (as in the source tree) from the search path, else from the binary; NULL without a diagnostic: none. */
static const heddle_source *data_file(heddle_ctx *ctx, const char *path)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	for (const char *const *folder = heddle_ctx_paths(ctx); *folder; folder++) {
		const char *full = heddle_arena_printf(arena, "%s/%s", *folder, path);
		FILE *there = fopen(full, "r");
		if (!there)
			continue;
		fclose(there);
		size_t length = 0;
		char *text = heddle_file_read(ctx, full, &length);
		if (!text)
			return NULL;
		*source = (heddle_source){full, heddle_arena_strndup(arena, text, length), length};
		free(text);
		return source;
	}
	const heddle_embedded *file = heddle_embedded_find(path);
	if (!file)
		return NULL;
	*source = (heddle_source){path, file->data, file->length};
	return source;
}

static const heddle_dialect *read_chain(heddle_ctx *ctx, const heddle_source *source, const char *prelude,
					const heddle_dialect *const *known, int depth);

/* Dialects that were found by name along this search path. */
typedef struct found_dialects {
	const char *const *paths;
	heddle_name_table at;
	int n;
	const heddle_dialect **dialect;
} found_dialects;

static void leave_to_arena(void *data) { (void)data; }

static found_dialects *found_in(heddle_ctx *ctx)
{
	found_dialects *found = heddle_ctx_attached(ctx, "dialects");
	if (!found || found->paths != heddle_ctx_paths(ctx)) { /* whoever changes the path makes a new list of folders */
		found = HEDDLE_NEW(heddle_ctx_arena(ctx), found_dialects);
		*found = (found_dialects){.paths = heddle_ctx_paths(ctx)};
		heddle_ctx_attach(ctx, "dialects", found, leave_to_arena);
	}
	return found;
}

/* `known`, ended by NULL: taken by name before any search. */
static const heddle_dialect *find_chain(heddle_ctx *ctx, const char *name, const heddle_dialect *const *known, int depth)
{
	for (; known && *known; known++)
		if (!strcmp((*known)->name, name))
			return *known;
	heddle_arena *arena = heddle_ctx_arena(ctx);
	found_dialects *found = found_in(ctx);
	const int at = heddle_name_table_find(&found->at, name);
	if (at >= 0)
		return found->dialect[at];
	if (strchr(name, '/') || strchr(name, '.')) {
		heddle_error(ctx, 450, NULL, "`%s` is not the name of a dialect", name);
		return NULL;
	}
	const heddle_source *source = data_file(ctx, heddle_arena_printf(arena, "backends/%s/dialect.yaml", name));
	if (!source) {
		const char *const *names = heddle_dialect_names(ctx);
		int n = 0;
		while (names[n])
			n++;
		heddle_error(ctx, 450, NULL, "there is no backend `%s`", name);
		const char *near = heddle_nearest(name, names, n);
		if (near)
			heddle_note(ctx, NULL, "did you mean `%s`?", near);
		return NULL;
	}
	const heddle_dialect *dialect = read_chain(ctx, source, NULL, NULL, depth);
	if (dialect) {
		heddle_name_table_put(arena, &found->at, heddle_arena_strdup(arena, name), found->n);
		HEDDLE_PUSH(arena, found->dialect, found->n, dialect);
	}
	return dialect;
}

/* The value of the top-level key `inherits`, without a parse: it must be known before the words are merged. */
static char *parent_of(heddle_arena *arena, const char *text)
{
	for (const char *s = text; s; s = strchr(s, '\n'), s = s ? s + 1 : NULL)
		if (strncmp(s, "inherits:", 9) == 0) {
			s += 9;
			s += strspn(s, " \t\"'");
			return heddle_arena_strndup(arena, s, strcspn(s, " \t\"'\r\n#"));
		}
	return NULL;
}

/* A source that diagnostics may point into for as long as the context lives. */
static const heddle_source *lasting_source(heddle_arena *arena, const char *name, const char *text)
{
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){name, heddle_arena_strdup(arena, text), strlen(text)};
	return source;
}

static const heddle_dialect *read_chain(heddle_ctx *ctx, const heddle_source *source, const char *prelude,
					const heddle_dialect *const *known, int depth)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	if (depth > MAX_INHERIT) {
		fail(ctx, source, 0, 451, "dialects inherit each other in a circle", NULL);
		return NULL;
	}
	heddle_dialect *dialect = HEDDLE_NEW(arena, heddle_dialect);
	const char *parent_name = parent_of(arena, source->text);
	if (parent_name) {
		const heddle_dialect *parent = find_chain(ctx, parent_name, known, depth + 1);
		if (!parent)
			return NULL;
		for (int i = 0; i < parent->n_word; i++)
			HEDDLE_PUSH(arena, dialect->word, dialect->n_word, parent->word[i]);
		for (int i = 0; i < parent->n_piece; i++)
			put_piece(arena, dialect, parent->piece[i]);
	}
	reader r = {.ctx = ctx, .arena = arena, .source = source, .dialect = dialect};
	if (load_yaml(&r) < 0)
		return NULL;
	if (dialect->n_word > 0)
		qsort(dialect->word, (size_t)dialect->n_word, sizeof(*dialect->word), compare_words);
	dialect->name = heddle_dialect_word(dialect, "name");
	if (check_words(ctx, dialect, source) < 0)
		return NULL;
	const heddle_source *file = NULL;
	if (prelude)
		file = lasting_source(arena, "prelude", prelude);
	else if (strstr(source->name, "dialect.yaml"))
		file = data_file(ctx, heddle_arena_printf(arena, "backends/%s/prelude%s", dialect->name,
							  heddle_dialect_suffix(dialect)));
	if (file && read_prelude(&r, file) < 0)
		return NULL;
	/* Pieces may also stand in the file itself. */
	const char *own = heddle_dialect_word(dialect, "prelude");
	if (own && read_prelude(&r, lasting_source(arena, source->name, own)) < 0)
		return NULL;
	reserve(arena, dialect);
	return dialect;
}

const heddle_dialect *heddle_dialect_find(heddle_ctx *ctx, const char *name) { return find_chain(ctx, name, NULL, 0); }

const heddle_dialect *heddle_dialect_read(heddle_ctx *ctx, const char *file, const char *text, const char *prelude,
					  const heddle_dialect *const *known)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){heddle_arena_strdup(arena, file), heddle_arena_strdup(arena, text), strlen(text)};
	return read_chain(ctx, source, prelude, known, 0);
}

static void add_name(heddle_arena *arena, const char ***list, int *n, const char *name)
{
	for (int i = 0; i < *n; i++)
		if (strcmp((*list)[i], name) == 0)
			return;
	HEDDLE_PUSH(arena, *list, *n, name);
}

const char *const *heddle_dialect_names(heddle_ctx *ctx)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	const char **list = NULL;
	int n = 0;
	for (const heddle_embedded *file = heddle_embedded_files; file->path; file++) {
		const char *end = strstr(file->path, "/dialect.yaml");
		if (end && strncmp(file->path, "backends/", 9) == 0)
			add_name(arena, &list, &n, heddle_arena_strndup(arena, file->path + 9, (size_t)(end - file->path - 9)));
	}
	for (const char *const *folder = heddle_ctx_paths(ctx); *folder; folder++) {
		DIR *dir = opendir(heddle_arena_printf(arena, "%s/backends", *folder));
		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			FILE *there = fopen(heddle_arena_printf(arena, "%s/backends/%s/dialect.yaml", *folder, entry->d_name), "r");
			if (there) {
				fclose(there);
				add_name(arena, &list, &n, heddle_arena_strdup(arena, entry->d_name));
			}
		}
		if (dir)
			closedir(dir);
	}
	if (n > 1)
		qsort(list, (size_t)n, sizeof(*list), compare_strings);
	HEDDLE_PUSH(arena, list, n, NULL);
	return list;
}
