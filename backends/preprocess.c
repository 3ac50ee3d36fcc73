/* Source text to tokens: conditionals decided and macros expanded, by a C preprocessor or, without one, by our own.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype.h"
#include "base/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct macro {
	const char *name;
	bool function; /* takes arguments */
	int n_parameter;
	const char **parameter;
	int n;
	heddle_token *t;
	bool live, pasting;
	bool busy; /* its own text is being expanded */
	int before; /* the one before it in its bucket; -1: none */
} macro;

enum { BUCKETS = 1024, MOST_TOKENS = 2000000, MOST_DEPTH = 40 };

typedef struct preprocessor {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_preprocess_options *options;
	heddle_token_list *out;
	int n_macro;
	macro *macro;
	int bucket[BUCKETS]; /* the newest macro of each; 1 more than its number */
	int made;	     /* tokens, also those on the way: what hostile text would multiply */
	int depth; /* of includes */
	bool told; /* of ## */
} preprocessor;

/* ---- tokens ----------------------------------------------------------------------------------------------------------------- */

static const char *skip_blank(const char *s, int *line)
{
	for (;;) {
		if (*s == '\n')
			++*line;
		if (isspace((unsigned char)*s)) {
			s++;
		} else if (s[0] == '\\' && s[1] == '\n') {
			++*line;
			s += 2;
		} else if (s[0] == '/' && s[1] == '/') {
			while (*s && *s != '\n')
				s++;
		} else if (s[0] == '/' && s[1] == '*') {
			for (s += 2; *s && !(s[0] == '*' && s[1] == '/'); s++)
				*line += *s == '\n';
			s += *s ? 2 : 0;
		} else {
			return s;
		}
	}
}

static const char *literal_end(const char *s)
{
	const char quote = *s++;
	while (*s && *s != quote && *s != '\n')
		s += *s == '\\' && s[1] ? 2 : 1;
	return *s == quote ? s + 1 : s;
}

/* The token at `*at`, which is moved behind it; false at the end. */
static bool next_token(heddle_arena *arena, const char **at, const char *file, int *line, heddle_token *token)
{
	const char *s = skip_blank(*at, line), *begin = s;
	*token = (heddle_token){.file = file, .line = *line, .joined = s == *at};
	if (!*s)
		return false;
	if (isalpha((unsigned char)*s) || *s == '_') {
		token->kind = HEDDLE_TOKEN_WORD;
		while (isalnum((unsigned char)*s) || *s == '_')
			s++;
	} else if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
		token->kind = HEDDLE_TOKEN_NUMBER;
		while (isalnum((unsigned char)*s) || *s == '.' || *s == '_' || (*s == '\'' && isalnum((unsigned char)s[1])) ||
		       ((*s == '+' || *s == '-') && strchr("eEpP", s[-1]) && begin[1] != 'x' && begin[1] != 'X'))
			s++;
	} else if (*s == '"' || *s == '\'') {
		token->kind = HEDDLE_TOKEN_TEXT;
		s = literal_end(s);
	} else {
		token->kind = HEDDLE_TOKEN_MARK;
		s++;
	}
	token->text = heddle_arena_strndup(arena, begin, (size_t)(s - begin));
	*at = s;
	return true;
}

static bool is(const heddle_token *t, const char *text)
{
	return strcmp(t->text, text) == 0;
}

const char *heddle_tokens_text(heddle_arena *arena, const heddle_token *begin, const heddle_token *end)
{
	heddle_text text = {0};
	for (const heddle_token *t = begin; t < end; t++)
		heddle_text_printf(&text, "%s%s", t > begin && !t->joined ? " " : "", t->text);
	const char *out = heddle_arena_strdup(arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return out;
}

/* ---- constant expressions --------------------------------------------------------------------------------------------------- */

typedef struct evaluator {
	const heddle_token *at, *end;
	heddle_token_lookup lookup;
	void *user;
	bool bad;
	int depth;
} evaluator;

static int64_t ternary(evaluator *e);

static bool take(evaluator *e, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(e->end - e->at) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (e->at[i].text[0] != text[i] || e->at[i].kind != HEDDLE_TOKEN_MARK || (i && !e->at[i].joined))
			return false;
	e->at += n;
	return true;
}

static int64_t primary(evaluator *e)
{
	int64_t value = 0;
	if (e->at >= e->end || e->depth > 200) {
		e->bad = true;
		return 0;
	}
	e->depth++;
	const heddle_token *t = e->at;
	if (take(e, "(")) {
		value = ternary(e);
		e->bad = e->bad || !take(e, ")");
	} else if (take(e, "-")) {
		value = (int64_t)(0 - (uint64_t)primary(e));
	} else if (take(e, "+")) {
		value = primary(e);
	} else if (take(e, "!")) {
		value = !primary(e);
	} else if (take(e, "~")) {
		value = ~primary(e);
	} else if (t->kind == HEDDLE_TOKEN_NUMBER) {
		char digits[80], *end;
		size_t n = 0;
		for (const char *s = t->text; *s && n + 1 < sizeof(digits); s++)
			if (*s != '\'')
				digits[n++] = *s;
		digits[n] = 0;
		const bool based = digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
		value = (int64_t)strtoull(based ? digits + 2 : digits, &end, based ? 2 : 0);
		e->bad = e->bad || end == digits || end[strspn(end, "uUlLzZ")];
		e->at++;
	} else if (t->kind == HEDDLE_TOKEN_TEXT && t->text[0] == '\'' && t->text[1] && t->text[2] == '\'') {
		value = t->text[1];
		e->at++;
	} else if (t->kind == HEDDLE_TOKEN_WORD && (is(t, "true") || is(t, "false"))) {
		value = is(t, "true");
		e->at++;
	} else if (t->kind == HEDDLE_TOKEN_WORD && e->lookup && e->lookup(e->user, t->text, &value)) {
		e->at++;
	} else {
		e->bad = true;
	}
	e->depth--;
	return value;
}

/* Loosest first; longer words before their beginnings. */
static const struct {
	const char *text;
	int level;
} operators[] = {{"||", 0}, {"&&", 1}, {"==", 5}, {"!=", 5}, {"<<", 7}, {">>", 7}, {"<=", 6}, {">=", 6}, {"|", 2},
		 {"^", 3},  {"&", 4},  {"<", 6},  {">", 6},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},  {"%", 9}};

static int64_t apply(evaluator *e, const char *op, int64_t a, int64_t b)
{
	const uint64_t x = (uint64_t)a, y = (uint64_t)b;
	switch (op[0]) {
	case '|': return op[1] ? a || b : a | b;
	case '&': return op[1] ? a && b : a & b;
	case '^': return a ^ b;
	case '=': return a == b;
	case '!': return a != b;
	case '<': return op[1] == '<' ? (int64_t)(x << (y & 63)) : op[1] ? a <= b : a < b;
	case '>': return op[1] == '>' ? a >> (y & 63) : op[1] ? a >= b : a > b;
	case '+': return (int64_t)(x + y);
	case '-': return (int64_t)(x - y);
	case '*': return (int64_t)(x * y);
	default:
		if (b == 0 || (b == -1 && a == INT64_MIN)) {
			e->bad = true;
			return 0;
		}
		return op[0] == '/' ? a / b : a % b;
	}
}

static int64_t binary(evaluator *e, int level)
{
	int64_t value = primary(e);
	while (!e->bad) {
		size_t k = 0;
		const heddle_token *before = e->at;
		while (k < HEDDLE_COUNT(operators) && !take(e, operators[k].text))
			k++;
		if (k == HEDDLE_COUNT(operators))
			break;
		if (operators[k].level < level) {
			e->at = before;
			break;
		}
		value = apply(e, operators[k].text, value, binary(e, operators[k].level + 1));
	}
	return value;
}

static int64_t ternary(evaluator *e)
{
	int64_t value = binary(e, 0);
	if (!take(e, "?"))
		return value;
	int64_t yes = ternary(e);
	e->bad = e->bad || !take(e, ":");
	int64_t no = ternary(e);
	return value ? yes : no;
}

bool heddle_tokens_evaluate(const heddle_token *begin, const heddle_token *end, heddle_token_lookup lookup, void *user,
			    int64_t *value)
{
	evaluator e = {.at = begin, .end = end, .lookup = lookup, .user = user};
	*value = ternary(&e);
	return !e.bad && e.at == end;
}

/* ---- what a language predefines ----------------------------------------------------------------------------------------------- */

static const char *const *predefined(const char *backend)
{
	static const char *const cuda[] = {"__CUDACC__=1", "__NVCC__=1", "__CUDACC_VER_MAJOR__=12", "__CUDACC_VER_MINOR__=0",
					   "__CUDA_ARCH__=900", "__cplusplus=201703L", NULL};
	static const char *const hip[] = {"__HIP__=1", "__HIPCC__=1", "__HIP_PLATFORM_AMD__=1", "__HIP_DEVICE_COMPILE__=1",
					  "__AMDGCN_WAVEFRONT_SIZE=64", "__AMDGCN_WAVEFRONT_SIZE__=64", "__cplusplus=201703L", NULL};
	static const char *const opencl[] = {"__OPENCL_VERSION__=120", "__OPENCL_C_VERSION__=120", "CL_VERSION_1_0=100",
					     "CL_VERSION_1_1=110", "CL_VERSION_1_2=120", "__ENDIAN_LITTLE__=1", NULL};
	return strcmp(backend, "cuda") == 0 ? cuda : strcmp(backend, "hip") == 0 ? hip : opencl;
}

/* ---- a compiler's preprocessor ------------------------------------------------------------------------------------------------ */

static const char *preprocessor_command(heddle_arena *arena)
{
	static const char *const known[] = {"g++", "clang++", "c++", "cpp"};
	const char *chosen = getenv("CXX"), *path = chosen && *chosen ? heddle_process_find(arena, chosen) : NULL;
	for (size_t i = 0; i < HEDDLE_COUNT(known) && !path; i++)
		path = heddle_process_find(arena, known[i]);
	return path;
}

/* The text without `#include <..>`, line for line: headers of the vendors may not be here, and no kernel of the user's is in
 * them. */
static void blank_headers(const char *text, heddle_text *out)
{
	while (*text) {
		const size_t n = strcspn(text, "\n");
		const char *s = text;
		while (*s == ' ' || *s == '\t')
			s++;
		bool header = *s == '#';
		for (s++; header && (*s == ' ' || *s == '\t'); s++)
			;
		header = header && strncmp(s, "include", 7) == 0 && s[7 + strspn(s + 7, " \t")] == '<';
		if (!header)
			heddle_text_addn(out, text, n);
		heddle_text_add(out, "\n");
		text += n + (text[n] == '\n');
	}
}

/* Lines `# 12 "file"` say where what follows comes from. */
static void read_output(preprocessor *p, const char *text)
{
	const char *file = p->options->path;
	int line = 1;
	while (*text) {
		const size_t n = strcspn(text, "\n");
		if (text[0] == '#' && text[1] == ' ' && isdigit((unsigned char)text[2])) {
			char *name;
			line = (int)strtol(text + 2, &name, 10);
			const char *begin = strchr(name, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
			if (begin && end && end < text + n)
				file = heddle_arena_strndup(p->arena, begin + 1, (size_t)(end - begin - 1));
			if (strcmp(file, "<stdin>") == 0)
				file = p->options->path;
		} else if (text[0] != '#') { /* #pragma */
			const char *piece = heddle_arena_strndup(p->arena, text, n), *at = piece;
			heddle_token token;
			int inside = line;
			while (p->out->n < MOST_TOKENS && next_token(p->arena, &at, file, &inside, &token))
				HEDDLE_PUSH(p->arena, p->out->t, p->out->n, token);
			line++;
		} else {
			line++;
		}
		text += n + (text[n] == '\n');
	}
}

/* 1 done, 0 it could not, -1 with a diagnostic. */
static int by_command(preprocessor *p, const char *text)
{
	const char *command = preprocessor_command(p->arena), **argv = NULL;
	const char *slash = strrchr(p->options->path, '/');
	int n = 0;
	if (!command)
		return 0;
	const bool opencl = strcmp(p->options->backend, "opencl") == 0;
	const char *const fixed[] = {command, "-E", "-x", opencl ? "c" : "c++", "-undef", "-nostdinc", "-w"};
	for (size_t i = 0; i < HEDDLE_COUNT(fixed); i++)
		HEDDLE_PUSH(p->arena, argv, n, fixed[i]);
	if (!opencl)
		HEDDLE_PUSH(p->arena, argv, n, "-std=c++17");
	for (const char *const *d = predefined(p->options->backend); *d; d++)
		if (strncmp(*d, "__cplusplus", 11) != 0) /* the language's own */
			HEDDLE_PUSH(p->arena, argv, n, heddle_arena_printf(p->arena, "-D%s", *d));
	for (int i = 0; i < p->options->n_flag; i++)
		HEDDLE_PUSH(p->arena, argv, n, p->options->flag[i]);
	HEDDLE_PUSH(p->arena, argv, n, "-iquote");
	HEDDLE_PUSH(p->arena, argv, n,
		    slash ? heddle_arena_strndup(p->arena, p->options->path, (size_t)(slash - p->options->path) + 1) : ".");
	HEDDLE_PUSH(p->arena, argv, n, "-");
	HEDDLE_PUSH(p->arena, argv, n, (const char *)NULL);
	heddle_text input = {0};
	static const char *const environment[] = {"LC_ALL=C", "LANGUAGE=C", NULL};
	blank_headers(text, &input);
	heddle_process process = {.argv = argv, .input = heddle_text_str(&input), .input_length = input.length,
				  .environment = environment, .timeout = 4, .limit = 64 << 20};
	int status = heddle_process_run(p->ctx, &process);
	if (status == 0 && process.status == 0) {
		read_output(p, heddle_text_str(&process.output));
		status = 1;
	} else if (status == 0) { /* it may lack a file, or be no preprocessor: ours says what is wrong */
		status = 0;
	}
	heddle_process_free(&process);
	heddle_text_free(&input);
	return status;
}

/* ---- our own ------------------------------------------------------------------------------------------------------------------ */

static unsigned bucket_of(const char *name)
{
	unsigned hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % BUCKETS;
}

static macro *find_macro(preprocessor *p, const char *name)
{
	for (int i = p->bucket[bucket_of(name)] - 1; i >= 0; i = p->macro[i].before)
		if (strcmp(p->macro[i].name, name) == 0)
			return p->macro[i].live ? &p->macro[i] : NULL;
	return NULL;
}

static void add_macro(preprocessor *p, macro m)
{
	int *bucket = &p->bucket[bucket_of(m.name)];
	m.before = *bucket - 1;
	HEDDLE_PUSH(p->arena, p->macro, p->n_macro, m);
	*bucket = p->n_macro;
}

/* "NAME body" or "NAME(a, b) body". */
static void define(preprocessor *p, const char *text, const char *file, int line)
{
	heddle_token token;
	const char *at = text;
	if (!next_token(p->arena, &at, file, &line, &token) || token.kind != HEDDLE_TOKEN_WORD)
		return;
	macro m = {.name = token.text, .live = true, .function = *at == '('};
	if (m.function) {
		at++;
		while (next_token(p->arena, &at, file, &line, &token) && !is(&token, ")"))
			if (token.kind == HEDDLE_TOKEN_WORD)
				HEDDLE_PUSH(p->arena, m.parameter, m.n_parameter, token.text);
			else if (is(&token, "."))
				m.pasting = true; /* variadic: not ours */
	}
	while (next_token(p->arena, &at, file, &line, &token)) {
		m.pasting = m.pasting || is(&token, "#");
		HEDDLE_PUSH(p->arena, m.t, m.n, token);
	}
	add_macro(p, m);
}

static void undefine(preprocessor *p, const char *name)
{
	add_macro(p, (macro){.name = name});
}

static void expand(preprocessor *p, const heddle_token *t, int n, int depth, heddle_token_list *out);

/* The arguments of a call at t[0] = "(": number of tokens up to and with ")"; 0: none.  arg[k] .. arg[k + 1] - 1 are the k-th. */
static int call_arguments(const heddle_token *t, int n, heddle_arena *arena, int **argument, int *n_argument)
{
	int depth = 0;
	*argument = NULL;
	*n_argument = 0;
	for (int i = 0; i < n; i++) {
		const char c = t[i].kind == HEDDLE_TOKEN_MARK ? t[i].text[0] : 0;
		depth += c == '(' || c == '[' || c == '{';
		depth -= c == ')' || c == ']' || c == '}';
		if (depth == 1 && (c == ',' || (c == '(' && i == 0)))
			HEDDLE_PUSH(arena, *argument, *n_argument, i + 1);
		if (depth == 0) {
			HEDDLE_PUSH(arena, *argument, *n_argument, i + 1);
			return i + 1;
		}
	}
	return 0;
}

static void substitute(preprocessor *p, const macro *m, const heddle_token *t, const int *argument, int n_argument,
		       const heddle_token *at, int depth, heddle_token_list *out)
{
	heddle_token_list body = {.arena = p->arena};
	for (int i = 0; i < m->n; i++) {
		int k = 0;
		while (k < m->n_parameter && strcmp(m->parameter[k], m->t[i].text) != 0)
			k++;
		if (m->t[i].kind == HEDDLE_TOKEN_WORD && k < m->n_parameter && k + 1 < n_argument) {
			expand(p, t + argument[k], argument[k + 1] - 1 - argument[k], depth + 1, &body);
			continue;
		}
		heddle_token token = m->t[i];
		token.file = at->file;
		token.line = at->line;
		p->made++;
		HEDDLE_PUSH(p->arena, body.t, body.n, token);
	}
	/* The macro itself is not expanded again in what it gives. */
	macro *self = find_macro(p, m->name);
	if (self)
		self->busy = true;
	const int position = self ? (int)(self - p->macro) : -1;
	expand(p, body.t, body.n, depth + 1, out);
	if (position >= 0)
		p->macro[position].busy = false;
}

static void expand(preprocessor *p, const heddle_token *t, int n, int depth, heddle_token_list *out)
{
	for (int i = 0; i < n && p->made < MOST_TOKENS; i++) {
		macro *m = t[i].kind == HEDDLE_TOKEN_WORD && !t[i].fixed && depth < MOST_DEPTH ? find_macro(p, t[i].text) : NULL;
		const bool own = m && m->busy;
		m = own ? NULL : m;
		int *argument = NULL, n_argument = 0, used = 0;
		if (m && m->function && i + 1 < n && is(&t[i + 1], "("))
			used = call_arguments(t + i + 1, n - i - 1, p->arena, &argument, &n_argument);
		if (m && (!m->function || used) && m->pasting && !p->told) {
			const heddle_location place = {0};
			heddle_warning(p->ctx, 788, &place, "%s:%d: macro '%s' uses # or ..., which needs a C preprocessor: apt install cpp",
				       t[i].file, t[i].line, m->name);
			p->told = true;
		}
		if (m && !m->pasting && (!m->function || used)) {
			const macro copy = *m;
			substitute(p, &copy, t + i + 1, argument, n_argument, &t[i], depth, out);
			i += used;
		} else {
			heddle_token token = t[i];
			token.fixed = token.fixed || own;
			p->made++;
			HEDDLE_PUSH(p->arena, out->t, out->n, token);
		}
	}
}

/* Names that are no macro are 0 in #if. */
static bool zero(void *user, const char *name, int64_t *value)
{
	(void)user;
	(void)name;
	*value = 0;
	return true;
}

static bool condition(preprocessor *p, const char *text, const char *file, int line)
{
	heddle_token_list raw = {.arena = p->arena}, list = {.arena = p->arena};
	heddle_token token;
	while (next_token(p->arena, &text, file, &line, &token))
		HEDDLE_PUSH(p->arena, raw.t, raw.n, token);
	/* `defined X` first, for X is not to be expanded. */
	int n = 0;
	for (int i = 0; i < raw.n; i++) {
		if (!is(&raw.t[i], "defined")) {
			raw.t[n++] = raw.t[i];
			continue;
		}
		const bool bracket = i + 1 < raw.n && is(&raw.t[i + 1], "(");
		i += bracket ? 2 : 1;
		token = raw.t[i < raw.n ? i : raw.n - 1];
		token.text = find_macro(p, token.text) ? "1" : "0";
		token.kind = HEDDLE_TOKEN_NUMBER;
		raw.t[n++] = token;
		i += bracket;
	}
	expand(p, raw.t, n, 0, &list);
	int64_t value = 0;
	return list.n && heddle_tokens_evaluate(list.t, list.t + list.n, zero, NULL, &value) && value;
}

static void preprocess_text(preprocessor *p, const char *text, const char *file);

static void include(preprocessor *p, const char *text, const char *file, int line)
{
	text += strspn(text, " \t");
	if (*text != '"')
		return;
	const char *end = strchr(text + 1, '"'), *slash = strrchr(file, '/');
	if (!end || p->depth > 20)
		return;
	const char *name = heddle_arena_strndup(p->arena, text + 1, (size_t)(end - text - 1));
	heddle_ctx *quiet = heddle_ctx_new();
	const char *path = slash && *name != '/' ? heddle_arena_printf(p->arena, "%.*s/%s", (int)(slash - file), file, name) : name;
	char *body = heddle_file_read(quiet, path, NULL);
	for (int i = 0; i < p->options->n_flag && !body; i++)
		if (strncmp(p->options->flag[i], "-I", 2) == 0) {
			path = heddle_arena_printf(p->arena, "%s/%s", p->options->flag[i] + 2, name);
			body = heddle_file_read(quiet, path, NULL);
		}
	heddle_ctx_free(quiet);
	if (body) {
		p->depth++;
		preprocess_text(p, body, path);
		p->depth--;
	} else {
		heddle_warning(p->ctx, 788, NULL, "%s:%d: header \"%s\" is not found; give its folder with -I", file, line, name);
	}
	free(body);
}

/* Expand what has been gathered and give it away. */
static void flush(preprocessor *p, heddle_token_list *held)
{
	expand(p, held->t, held->n, 0, p->out);
	held->n = 0;
	held->t = NULL;
}

static void preprocess_text(preprocessor *p, const char *text, const char *file)
{
	enum { MOST_LEVELS = 64 };
	struct {
		bool taking, taken;
	} level[MOST_LEVELS] = {{true, true}};
	heddle_token_list held = {.arena = p->arena};
	int depth = 0, line = 1;
	for (;;) {
		const char *s = skip_blank(text, &line);
		const bool line_start = s == text ? text[0] == '#' && line == 1 : memchr(text, '\n', (size_t)(s - text)) != NULL || line == 1;
		if (*s != '#' || !line_start) {
			heddle_token token;
			const bool joined = s == text;
			text = s;
			if (!next_token(p->arena, &text, file, &line, &token))
				break;
			token.joined = joined;
			if (level[depth].taking)
				HEDDLE_PUSH(p->arena, held.t, held.n, token);
			continue;
		}
		/* A directive: one line, with its continuations and without its comments. */
		heddle_text words = {0};
		const int at = line;
		for (s++; *s && *s != '\n';) {
			if (s[0] == '\\' && s[1] == '\n') {
				line++;
				s += 2;
			} else if (s[0] == '/' && (s[1] == '/' || s[1] == '*')) {
				if (s[1] == '/') {
					s += strcspn(s, "\n");
				} else {
					for (s += 2; *s && !(s[0] == '*' && s[1] == '/'); s++)
						line += *s == '\n';
					s += *s ? 2 : 0;
				}
				heddle_text_add(&words, " ");
			} else {
				heddle_text_addn(&words, s++, 1);
			}
		}
		text = s;
		const char *word = heddle_text_str(&words) + strspn(heddle_text_str(&words), " \t");
		const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");
		const char *rest = heddle_arena_strdup(p->arena, word + n + strspn(word + n, " \t"));
		const char *name = heddle_arena_strndup(p->arena, word, n);
		heddle_text_free(&words);
		const char *symbol = heddle_arena_strndup(p->arena, rest, strcspn(rest, " \t("));
		const bool outer = level[depth].taking;
		if (!strcmp(name, "if") || !strcmp(name, "ifdef") || !strcmp(name, "ifndef")) {
			if (depth + 1 < MOST_LEVELS) {
				const bool yes = outer && (!strcmp(name, "if") ? condition(p, rest, file, at)
									       : (find_macro(p, symbol) != NULL) == !strcmp(name, "ifdef"));
				depth++;
				level[depth].taking = outer && yes;
				level[depth].taken = yes || !outer;
			}
		} else if (depth && (!strcmp(name, "elif") || !strcmp(name, "else"))) {
			const bool yes = !level[depth].taken && (!strcmp(name, "else") || condition(p, rest, file, at));
			level[depth].taking = yes && level[depth - 1].taking;
			level[depth].taken = level[depth].taken || yes;
		} else if (depth && !strcmp(name, "endif")) {
			depth--;
		} else if (outer && !strcmp(name, "define")) {
			flush(p, &held);
			define(p, rest, file, at);
		} else if (outer && !strcmp(name, "undef")) {
			flush(p, &held);
			undefine(p, symbol);
		} else if (outer && !strcmp(name, "include")) {
			flush(p, &held);
			include(p, rest, file, at);
		}
	}
	flush(p, &held);
}

static void by_ourselves(preprocessor *p, const char *text)
{
	for (const char *const *d = predefined(p->options->backend); *d; d++) {
		char *copy = heddle_arena_strdup(p->arena, *d);
		*strchr(copy, '=') = ' ';
		define(p, copy, "", 0);
	}
	for (int i = 0; i < p->options->n_flag; i++) {
		const char *flag = p->options->flag[i];
		if (strncmp(flag, "-U", 2) == 0)
			undefine(p, flag + 2);
		if (strncmp(flag, "-D", 2) != 0)
			continue;
		char *copy = heddle_arena_printf(p->arena, "%s%s", flag + 2, strchr(flag, '=') ? "" : "=1");
		*strchr(copy, '=') = ' ';
		define(p, copy, "", 0);
	}
	preprocess_text(p, text, p->options->path);
}

int heddle_preprocess(heddle_ctx *ctx, const char *text, const heddle_preprocess_options *options, heddle_token_list *out)
{
	preprocessor p = {.ctx = ctx, .arena = out->arena, .options = options, .out = out};
	int done = options->own ? 0 : by_command(&p, text);
	if (done < 0)
		return -1;
	if (done == 0)
		by_ourselves(&p, text);
	if (p.made >= MOST_TOKENS || out->n >= MOST_TOKENS)
		return heddle_error(ctx, 787, NULL, "unsupported: more than %d words of source in '%s'", MOST_TOKENS, options->path);
	return 0;
}
