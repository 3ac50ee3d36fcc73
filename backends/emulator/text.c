/* Making CUDA and HIP text fit for a host C++ compiler, without moving a line.
 *
 * Four things that macros cannot do: shared arrays get sections and guards of their own, `extern __shared__` arrays are bound
 * to one symbol, host functions that speak to a driver are blanked, inline assembly gets a name that no compiler knows (so
 * that the compiler says where, and only where the preprocessor kept it).
 * SPDX-License-Identifier: MIT
 */
#include "backends/emulator/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables --------------------------------------------------------------------------------------------------------------- */

const heddle_emulated heddle_emulated_rows[] = {
	{.backend = "cuda", .options = "nvrtc", .begin = ""},
	{.backend = "hip", .options = "hipcc", .flag = "-DHEDDLE_HIP", .begin = "#include \"half.h\"\n"},
	{.backend = NULL},
};

#define ROW(its_backend) +1
_Static_assert(HEDDLE_COUNT(heddle_emulated_rows) == HEDDLE_EACH_EMULATED(ROW) + 1, "a row for each emulated backend");
#undef ROW

const heddle_emulated *heddle_emulated_find(const char *backend)
{
	for (const heddle_emulated *row = heddle_emulated_rows; row->backend; row++)
		if (!strcmp(row->backend, backend))
			return row;
	return NULL;
}

#define CORE "#include \"core.h\"\n"
#define HALF "#include \"half.h\"\n"
#define UP_HALF "#include \"../half.h\"\n"

const heddle_emulated_header heddle_emulated_headers[] = {
	{"cuda.h", CORE},
	{"cuda_runtime.h", CORE},
	{"cuda_runtime_api.h", CORE},
	{"device_launch_parameters.h", CORE},
	{"device_functions.h", CORE},
	{"vector_types.h", CORE},
	{"vector_functions.h", CORE},
	{"math_functions.h", CORE},
	{"math_constants.h", CORE},
	{"cuda_fp16.h", HALF},
	{"cuda_fp16.hpp", HALF},
	{"cuda_bf16.h", HALF},
	{"hip/hip_runtime.h", UP_HALF},
	{"hip/hip_runtime_api.h", UP_HALF},
	{"hip/hip_fp16.h", UP_HALF},
	{"hip/hip_bf16.h", UP_HALF},
	{"hip/hip_bfloat16.h", UP_HALF},
	{"hip/hip_vector_types.h", UP_HALF},
	{"hip/math_functions.h", UP_HALF},
	{NULL, NULL},
};

/* Headers of the vendors' libraries may be on this machine, but they are made for the vendors' compilers. */
static const struct {
	const char *begin;
	bool host; /* for host code: what of them device code uses is unknown by itself */
	bool idle; /* device code uses nothing of them */
} foreign_headers[] = {
	{.begin = "cub/"},	  {.begin = "cooperative_groups"}, {.begin = "mma.h"},	      {.begin = "cuda_pipeline"},
	{.begin = "cuda/"},	  {.begin = "thrust/"},		   {.begin = "cute/"},	      {.begin = "cutlass/"},
	{.begin = "hipcub/"},	  {.begin = "rocprim/"},	   {.begin = "rocwmma/"},     {.begin = "crt/mma"},
	{.begin = "cuda_fp8"},	  {.begin = "hip/hip_cooperative"}, {.begin = "hip/hip_fp8"}, {.begin = "curand"},
	{.begin = "hiprand"},	  {.begin = "cuda_awbarrier"},	   {.begin = "cuda_fp6"},     {.begin = "cuda_fp4"},
	{.begin = "torch/", .host = true},
	{.begin = "ATen/", .host = true},
	{.begin = "c10/", .host = true},
	{.begin = "cublas", .host = true, .idle = true},
	{.begin = "cudnn", .host = true, .idle = true},
	{.begin = "cufft", .host = true, .idle = true},
	{.begin = "cusolver", .host = true, .idle = true},
	{.begin = "cusparse", .host = true, .idle = true},
	{.begin = "cuda_profiler_api.h", .host = true, .idle = true},
	{.begin = "hipblas", .host = true, .idle = true},
	{.begin = "nccl.h", .host = true, .idle = true},
	{.begin = "nvToolsExt", .host = true, .idle = true},
	{.begin = "nvtx3/", .host = true, .idle = true},
	{.begin = "rocblas/", .host = true, .idle = true},
};

size_t heddle_foreign_header(const char *text, bool host)
{
	for (size_t k = 0; k < HEDDLE_COUNT(foreign_headers); k++)
		if ((host || !foreign_headers[k].host) && !strncmp(text, foreign_headers[k].begin, strlen(foreign_headers[k].begin)))
			return strcspn(text, ">\"\n\r");
	return 0;
}

bool heddle_emulate_is_vendors(const char *name)
{
	const heddle_embedded *file = heddle_embedded_find("backends/emulator/names.txt");
	const size_t length = strlen(name);
	for (const char *at = file ? file->data : ""; *at;) {
		if (*at == '#') {
			at += strcspn(at, "\n");
			continue;
		}
		const size_t n = strcspn(at, " \n");
		const bool family = n && at[n - 1] == '*';
		if (n && (family ? !strncmp(at, name, n - 1) : n == length && !strncmp(at, name, n)))
			return true;
		at += n + (at[n] != 0);
	}
	return false;
}

/* ---- tokens --------------------------------------------------------------------------------------------------------------- */

typedef enum token_kind { TOKEN_WORD, TOKEN_MARK, TOKEN_TEXT, TOKEN_DIRECTIVE } token_kind;

typedef struct token {
	token_kind kind;
	size_t begin, end;
} token;

/* Instead of [begin, end): `text`; NULL: blanks. */
typedef struct edit {
	size_t begin, end;
	const char *text;
	int order;
} edit;

typedef struct rewriter {
	heddle_arena *arena;
	const char *source;
	int n, capacity;
	token *t;
	int n_edit;
	edit *edit;
	int n_shared;
} rewriter;

static size_t skip_comment(const char *s, size_t i)
{
	if (s[i] == '/' && s[i + 1] == '/') {
		while (s[i] && s[i] != '\n')
			i += s[i] == '\\' && s[i + 1] ? 2 : 1;
		return i;
	}
	if (s[i] == '/' && s[i + 1] == '*') {
		const char *end = strstr(s + i + 2, "*/");
		return end ? (size_t)(end - s) + 2 : strlen(s);
	}
	return i;
}

static size_t skip_directive(const char *s, size_t i)
{
	while (s[i] && s[i] != '\n') {
		size_t next = skip_comment(s, i);
		if (next > i)
			i = next;
		else
			i += s[i] == '\\' && s[i + 1] ? 2 : 1;
	}
	return i;
}

/* A string or character literal that begins with its quote at `i`; `raw`: of the form R"x(...)x". */
static size_t skip_quoted(const char *s, size_t i, bool raw)
{
	if (raw) {
		size_t open = i + 1;
		while (s[open] && s[open] != '(' && open - i < 18)
			open++;
		for (size_t k = open; s[k]; k++)
			if (s[k] == ')' && !strncmp(s + k + 1, s + i + 1, open - i - 1) && s[k + open - i] == '"')
				return k + (open - i) + 1;
		return strlen(s);
	}
	char quote = s[i++];
	while (s[i] && s[i] != quote && s[i] != '\n')
		i += s[i] == '\\' && s[i + 1] ? 2 : 1;
	return s[i] == quote ? i + 1 : i;
}

static void push_token(rewriter *w, token_kind kind, size_t begin, size_t end)
{
	if (w->n == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 1024;
		w->t = heddle_xrealloc(w->t, sizeof(*w->t) * (size_t)w->capacity);
	}
	w->t[w->n++] = (token){kind, begin, end};
}

static void tokenise(rewriter *w)
{
	const char *s = w->source;
	bool line_start = true;
	for (size_t i = 0; s[i];) {
		size_t begin = i, next = skip_comment(s, i);
		if (next > i) {
			i = next;
		} else if (isspace((unsigned char)s[i])) {
			line_start |= s[i++] == '\n';
		} else if (s[i] == '#' && line_start) {
			i = skip_directive(s, i);
			push_token(w, TOKEN_DIRECTIVE, begin, i);
		} else {
			line_start = false;
			token_kind kind = TOKEN_MARK;
			if (isalpha((unsigned char)s[i]) || s[i] == '_') {
				kind = TOKEN_WORD;
				while (isalnum((unsigned char)s[i]) || s[i] == '_')
					i++;
				bool raw = s[i] == '"' && s[i - 1] == 'R' && i - begin <= 3;
				if (raw) {
					kind = TOKEN_TEXT;
					i = skip_quoted(s, i, true);
				}
			} else if (isdigit((unsigned char)s[i])) {
				kind = TOKEN_TEXT;
				while (isalnum((unsigned char)s[i]) || s[i] == '_' || s[i] == '.' ||
				       (s[i] == '\'' && isalnum((unsigned char)s[i + 1])) ||
				       ((s[i] == '+' || s[i] == '-') && strchr("eEpP", s[i - 1]) && s[begin + 1] != 'x'))
					i++;
			} else if (s[i] == '"' || s[i] == '\'') {
				kind = TOKEN_TEXT;
				i = skip_quoted(s, i, false);
			} else {
				i++;
			}
			push_token(w, kind, begin, i);
		}
	}
}

static bool is(const rewriter *w, int i, const char *text)
{
	if (i < 0 || i >= w->n)
		return false;
	size_t n = w->t[i].end - w->t[i].begin;
	return strlen(text) == n && !memcmp(w->source + w->t[i].begin, text, n);
}

static bool starts(const rewriter *w, int i, const char *text)
{
	size_t n = w->t[i].end - w->t[i].begin;
	return n > strlen(text) && !memcmp(w->source + w->t[i].begin, text, strlen(text));
}

static void change(rewriter *w, size_t begin, size_t end, const char *text)
{
	edit e = {begin, end, text, w->n_edit};
	HEDDLE_PUSH(w->arena, w->edit, w->n_edit, e);
}

static void replace(rewriter *w, int i, const char *text)
{
	change(w, w->t[i].begin, w->t[i].end, text);
}

/* ---- shared memory ---------------------------------------------------------------------------------------------------------- */

/* `extern __shared__ T name[][8];` becomes a constant pointer to the emulator's memory, for labels of extern arrays get lost in
 * templates.  False: it is of another form. */
static bool bind_dynamic(rewriter *w, int first, int at, int array_end)
{
	int open = array_end;
	while (open > at && !is(w, open, "["))
		open--;
	while (open > at && is(w, open - 1, "]")) { /* the first of several dimensions */
		open -= 2;
		while (open > at && !is(w, open, "["))
			open--;
	}
	if (open <= at || !is(w, open + 1, "]") || w->t[open - 1].kind != TOKEN_WORD || !is(w, array_end + 1, ";"))
		return false;
	for (int i = first; i <= at; i++)
		if (is(w, i, "extern") || is(w, i, "__shared__"))
			replace(w, i, NULL);
	change(w, w->t[open - 1].begin, w->t[open - 1].begin, " (*const ");
	change(w, w->t[open].begin, w->t[open + 1].end, ")");
	change(w, w->t[array_end].end, w->t[array_end].end, " = heddle_emu_shared{}");
	return true;
}

static void rewrite_shared(rewriter *w, int at)
{
	int first = at, last = at, array_end = -1, depth = 0;
	while (first > 0 && w->t[first - 1].kind != TOKEN_DIRECTIVE && !is(w, first - 1, ";") && !is(w, first - 1, "{") &&
	       !is(w, first - 1, "}") && !(is(w, first - 1, ":") && !is(w, first - 2, ":")))
		first--;
	bool is_extern = false, is_static = false;
	for (int i = first; i < w->n && !(depth == 0 && is(w, i, ";")); i++) {
		is_extern |= is(w, i, "extern");
		is_static |= is(w, i, "static");
		depth += is(w, i, "(") || is(w, i, "{") || is(w, i, "[");
		depth -= is(w, i, ")") || is(w, i, "}") || is(w, i, "]");
		if (depth == 0 && is(w, i, "]") && !is(w, i + 1, "[") && array_end < 0 && i > at)
			array_end = i;
		last = i;
	}
	if (is_extern && bind_dynamic(w, first, at, array_end))
		return;
	if (is_extern) {
		replace(w, at, NULL);
		size_t end = w->t[array_end >= 0 ? array_end : last].end;
		change(w, end, end, " __asm(\"heddle_dynamic_shared\")");
		return;
	}
	int number = ++w->n_shared;
	const char *section = heddle_arena_printf(w->arena, "section(\"heddle_shared.%d\")", number);
	change(w, w->t[first].begin, w->t[first].begin,
	       heddle_arena_printf(w->arena, "static __attribute__((used, %s)) char " HEDDLE_EMULATE_GUARD "%d[64]; ", section,
				   number));
	replace(w, at, heddle_arena_printf(w->arena, "%s__attribute__((%s))", is_static ? "" : "static ", section));
}

/* `__constant__ float w[9];` has no contents here: the host fills it through the vendor's runtime.  Initialised ones have. */
static void rewrite_constant(rewriter *w, int at)
{
	int end = at, depth = 0;
	for (; end < w->n && !(depth == 0 && (is(w, end, ";") || is(w, end, "=") || is(w, end, "{") || is(w, end, ")"))); end++) {
		depth += is(w, end, "[") || is(w, end, "(");
		depth -= is(w, end, "]") || is(w, end, ")");
	}
	bool is_extern = false;
	for (int i = at; i > 0 && i > at - 6 && !is(w, i, ";") && !is(w, i, "}"); i--)
		is_extern |= is(w, i, "extern");
	if (is(w, end, ";") && !is_extern)
		replace(w, at, "HEDDLE_UNSUPPORTED_constant_memory_that_the_host_fills");
}

/* ---- host functions ----------------------------------------------------------------------------------------------------------- */

static int matching_brace(const rewriter *w, int open)
{
	int depth = 0;
	for (int i = open; i < w->n; i++) {
		depth += is(w, i, "{");
		depth -= is(w, i, "}");
		if (depth == 0)
			return i;
	}
	return -1;
}

static bool is_launch(const rewriter *w, int i)
{
	return is(w, i, "<") && is(w, i + 1, "<") && is(w, i + 2, "<") && w->t[i].end == w->t[i + 1].begin &&
	       w->t[i + 1].end == w->t[i + 2].begin;
}

/* A name of a vendor's host interface. */
static bool is_driver_name(const rewriter *w, int i)
{
	static const char *const device[] = {"hipThreadIdx_", "hipBlockIdx_", "hipBlockDim_", "hipGridDim_"};
	static const char *const host[] = {"cuda", "hip", "cu", "cublas", "hiprtc", "nvrtc", "CUDA_", "torch", "at", "c10"};
	if (w->t[i].kind != TOKEN_WORD)
		return false;
	for (size_t k = 0; k < HEDDLE_COUNT(device); k++)
		if (starts(w, i, device[k]))
			return false;
	if (is(w, i, "torch") || is(w, i, "c10") || is(w, i, "main") || is(w, i, "hipLaunchKernelGGL"))
		return true;
	for (size_t k = 0; k < HEDDLE_COUNT(host); k++)
		if (starts(w, i, host[k]) && isupper((unsigned char)w->source[w->t[i].begin + strlen(host[k])]))
			return true;
	return false;
}

static bool is_class_head(const rewriter *w, int first, int open)
{
	int depth = 0;
	for (int i = first; i < open; i++) {
		depth += is(w, i, "<") || is(w, i, "(");
		depth -= is(w, i, ">") || is(w, i, ")");
		if (depth == 0 && (is(w, i, "struct") || is(w, i, "class") || is(w, i, "union") || is(w, i, "enum")))
			return true;
		if (depth > 0 && is(w, i, "(") )
			return false;
	}
	return false;
}

/* Blank functions that are the host's and use a driver, at namespace level. */
static void remove_host(rewriter *w)
{
	int first = 0;
	for (int i = 0; i < w->n; i++) {
		if (w->t[i].kind == TOKEN_DIRECTIVE || is(w, i, ";") || is(w, i, "}")) {
			first = i + 1;
			continue;
		}
		if (!is(w, i, "{"))
			continue;
		bool names = is(w, first, "namespace") || is(w, first + 1, "namespace") ||
			     (is(w, first, "extern") && w->t[first + 1].kind == TOKEN_TEXT && i == first + 2);
		if (names) {
			first = i + 1;
			continue;
		}
		int close = matching_brace(w, i);
		if (close < 0)
			return;
		bool device = false, driver = false, function = false;
		for (int k = first; k < i; k++) {
			device |= is(w, k, "__global__") || is(w, k, "__device__");
			function |= is(w, k, "(");
		}
		for (int k = first; k < close; k++)
			driver |= is_launch(w, k) || is_driver_name(w, k);
		if (function && !device && driver && !is_class_head(w, first, i)) {
			change(w, w->t[first].begin, w->t[close].end, NULL);
			w->t[close].kind = TOKEN_DIRECTIVE; /* other edits inside are dropped with it */
		}
		i = close;
		first = close + 1;
	}
}

/* ---- all together ------------------------------------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
	const edit *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order - y->order;
}

static void apply(rewriter *w, heddle_text *out)
{
	size_t at = 0;
	if (w->n_edit)
		qsort(w->edit, (size_t)w->n_edit, sizeof(*w->edit), by_place);
	for (int i = 0; i < w->n_edit; i++) {
		const edit *e = &w->edit[i];
		if (e->begin < at)
			continue;
		heddle_text_addn(out, w->source + at, e->begin - at);
		if (e->text)
			heddle_text_add(out, e->text);
		for (size_t k = e->begin; !e->text && k < e->end; k++)
			heddle_text_addn(out, w->source[k] == '\n' ? "\n" : " ", 1);
		at = e->end;
	}
	heddle_text_add(out, w->source + at);
}

static bool is_idle_header(const char *text)
{
	bool idle = false;
	for (size_t k = 0; k < HEDDLE_COUNT(foreign_headers); k++)
		idle = idle || (foreign_headers[k].idle && !strncmp(text, foreign_headers[k].begin, strlen(foreign_headers[k].begin)));
	return idle;
}

/* What the preprocessor keeps of foreign headers is said to be unsupported, at its line. */
static void rewrite_include(rewriter *w, int i)
{
	const char *text = w->source + w->t[i].begin + 1;
	text += strspn(text, " \t");
	if (strncmp(text, "include", 7) != 0)
		return;
	text += 7 + strspn(text + 7, " \t");
	if (*text != '<' && *text != '"')
		return;
	size_t n = heddle_foreign_header(text + 1, false);
	if (is_idle_header(text + 1))
		replace(w, i, NULL);
	else if (n)
		replace(w, i, heddle_arena_printf(w->arena, "#error HEDDLE_UNSUPPORTED_header %.*s", (int)n, text + 1));
}

void heddle_emulate_rewrite(const char *source, heddle_text *out)
{
	rewriter w = {.arena = heddle_arena_new(), .source = source};
	tokenise(&w);
	remove_host(&w);
	for (int i = 0; i < w.n; i++) {
		if (w.t[i].kind == TOKEN_MARK && is_launch(&w, i))
			change(&w, w.t[i].begin, w.t[i].begin, " HEDDLE_UNSUPPORTED_kernel_launch ");
		if (w.t[i].kind == TOKEN_DIRECTIVE)
			rewrite_include(&w, i);
		if (w.t[i].kind != TOKEN_WORD)
			continue;
		if (is(&w, i, "__shared__"))
			rewrite_shared(&w, i);
		else if (is(&w, i, "asm") || is(&w, i, "__asm__") || is(&w, i, "__asm"))
			replace(&w, i, "HEDDLE_UNSUPPORTED_inline_assembly");
		else if (is(&w, i, "__constant__"))
			rewrite_constant(&w, i);
		else if (is(&w, i, "__noinline__"))
			replace(&w, i, "HEDDLE_NOINLINE");
	}
	apply(&w, out);
	free(w.t);
	heddle_arena_free(w.arena);
}

const char *heddle_emulate_device_text(heddle_arena *arena, const char *source)
{
	rewriter w = {.arena = heddle_arena_new(), .source = source};
	heddle_text out = {0};
	tokenise(&w);
	remove_host(&w);
	apply(&w, &out);
	const char *text = heddle_arena_strdup(arena, heddle_text_str(&out));
	heddle_text_free(&out);
	free(w.t);
	heddle_arena_free(w.arena);
	return text;
}
