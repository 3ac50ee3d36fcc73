/* Prototypes of kernels from tokens: templates, blocks, shared memory, what levels may not take.
 * SPDX-License-Identifier: MIT
 */
#include "backends/prototype_scan.h"

#include <string.h>

/* ---- kernels ---------------------------------------------------------------------------------------------------------------------------- */

static void read_template(scanner *s, int open, heddle_prototype *p)
{
	const int close = heddle_scan_closing_angle(s, open);
	for (int i = open + 1; i < close;) {
		/* angles inside are of defaults */
		int stop = heddle_scan_part_end(s, i, close), equal = i;
		while (equal < stop && !is(s, equal, "="))
			equal++;
		heddle_template_parameter a = {.type = is(s, i, "typename") || is(s, i, "class")};
		a.name = is_word(s, equal - 1) ? s->t[equal - 1].text : "";
		a.value = equal < stop ? heddle_scan_words(s, equal + 1, stop) : NULL;
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
	heddle_scan_partners(&inner);
	int at = 0;
	for (int i = 0; i < p->n_template; i++) {
		const heddle_template_parameter *a = &p->template_parameter[i];
		const int stop = at < inner.n ? heddle_scan_part_end(&inner, at, inner.n) : at;
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
		} else if (n > 0 && heddle_tokens_evaluate(from, from + n, heddle_scan_look_up, s, &value)) {
			heddle_scan_add_constant(s, a->name, value);
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
			const int stop = heddle_scan_part_end(s, at, close);
			known = known && (heddle_scan_evaluate(s, at, stop, &value[n]) || (n && !exact && !flat));
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
		if (depth < 3 && is_word(s, i) && (is(s, i + 1, "(") || is(s, i + 1, "<")) && !among(s->t[i].text, heddle_scan_qualifiers) &&
		    !is(s, i, "if") && !is(s, i, "for") && !is(s, i, "while") && heddle_scan_find_function(s, s->t[i].text, &open, &body) &&
		    body > end && mentions(s, body, closing(s, body), word, depth + 1))
			return true;
		if (depth < 3 && is_word(s, i) && is(s, i + 1, "(") && heddle_scan_find_function(s, s->t[i].text, &open, &body) && body < begin &&
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
		p->dynamic_shared = heddle_arena_printf(s->arena, "%s %s[]", is(s, i, "extern") ? heddle_scan_words(s, at - 1, at) : heddle_scan_words(s, i + 2, at - 1),
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
			out = heddle_arena_printf(s->arena, "%s::%s", heddle_scan_words(s, begin + 2, i), out);
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
	heddle_scan_host_launches(s, &p);
	const char *chosen = p.n_instance == 1 ? p.instance[0] : NULL;
	for (int i = 0; i < n_instance; i++)
		if (heddle_scan_names(&p, heddle_arena_strndup(s->arena, instance[i], strcspn(instance[i], "< "))))
			chosen = instance[i];
	if (p.n_template)
		bind_template(s, &p, chosen);
	for (int i = open + 1; i < close;) {
		const int stop = heddle_scan_part_end(s, i, close);
		if (!(stop == i + 1 && is(s, i, "void")))
			heddle_scan_parameter(s, i, stop, &p);
		i = stop + 1;
	}
	for (int i = 0; i < p.n_parameter; i++)
		if (p.parameter[i].pointer && *p.parameter[i].name)
			p.parameter[i].use = heddle_scan_use(s, p.parameter[i].name, body, end, 0);
	/* Formulas of the host speak of parameters, which are known only now. */
	p.n_host = 0;
	p.host = NULL;
	heddle_scan_host_launches(s, &p);
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
	heddle_scan_partners(&s);
	find_places(&s);
	heddle_scan_constants(&s);
	heddle_scan_aliases(&s);
	read_features(&s);
	for (int i = 0; i < s.n; i++)
		if (is_kernel_word(&s, i)) {
			const int next = read_kernel(&s, i, n_instance, instance);
			i = next > i ? next : i;
		}
	return 0;
}
