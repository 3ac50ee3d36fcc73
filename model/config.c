/* The config line: parsing, printing, looking up.
 * SPDX-License-Identifier: MIT
 */
#include "model/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

heddle_config *heddle_config_new(heddle_arena *arena)
{
	heddle_config *config = HEDDLE_NEW(arena, heddle_config);
	config->arena = arena;
	return config;
}

int64_t heddle_named_get(const heddle_named_list *list, const char *name, int64_t otherwise)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->item[i].name, name))
			return list->item[i].value;
	return otherwise;
}

void heddle_named_set(heddle_config *config, heddle_named_list *list, const char *name, int64_t value)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->item[i].name, name)) {
			list->item[i].value = value;
			return;
		}
	heddle_named_value item = {heddle_arena_strdup(config->arena, name), value};
	HEDDLE_PUSH(config->arena, list->item, list->n, item);
}

heddle_kernel_config *heddle_config_kernel(heddle_config *config, int k)
{
	while (config->n_kernel <= k) {
		heddle_kernel_config empty = {0};
		HEDDLE_PUSH(config->arena, config->kernel, config->n_kernel, empty);
	}
	return &config->kernel[k];
}

heddle_stmt_config *heddle_config_stmt(heddle_config *config, int k, int stmt)
{
	heddle_kernel_config *kernel = heddle_config_kernel(config, k);
	for (int i = 0; i < kernel->n_stmt; i++)
		if (kernel->stmt[i].stmt == stmt)
			return &kernel->stmt[i];
	heddle_stmt_config one = {.stmt = stmt};
	HEDDLE_PUSH(config->arena, kernel->stmt, kernel->n_stmt, one);
	return &kernel->stmt[kernel->n_stmt - 1];
}

heddle_group_config *heddle_config_group(heddle_config *config, int k, const char *tensor, int number, bool create)
{
	heddle_kernel_config *kernel = heddle_config_kernel(config, k);
	for (int i = 0; i < kernel->n_group; i++)
		if (!strcmp(kernel->group[i].tensor, tensor) && kernel->group[i].number == number)
			return &kernel->group[i];
	if (!create)
		return NULL;
	heddle_group_config one = {
		.tensor = heddle_arena_strdup(config->arena, tensor), .number = number, .space = -1, .pad = -1, .vector = 0, .prefetch = -1};
	HEDDLE_PUSH(config->arena, kernel->group, kernel->n_group, one);
	return &kernel->group[kernel->n_group - 1];
}

/* ---- parsing -------------------------------------------------------------------------------------------------------- */

typedef struct reader {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_config *config;
	heddle_source *source;
	const char *at;
	int n_given;
	const char **given; /* the keys of kernels and groups so far: "k0.A.1.pad" */
} reader;

static int bad(reader *r, const char *at, size_t length, const char *what)
{
	heddle_location place = {r->source, 1, (int)(at - r->source->text) + 1, length ? (int)length : 1};
	return heddle_error(r->ctx, 501, &place, "%s", what);
}

static char *word(reader *r)
{
	const char *start = r->at;
	while (isalnum((unsigned char)*r->at) || *r->at == '_')
		r->at++;
	return r->at == start ? NULL : heddle_arena_strndup(r->arena, start, (size_t)(r->at - start));
}

static int number(reader *r, int64_t *value)
{
	char *end;
	*value = 0;
	if (!isdigit((unsigned char)*r->at))
		return bad(r, r->at, 1, "expected a number");
	*value = strtoll(r->at, &end, 10);
	r->at = end;
	if (*value > 1 << 30)
		return bad(r, end - 1, 1, "expected a number from 1 to 2^30");
	return 0;
}

/* The number behind the letter in "k12" and "S3"; -1: none, or more than there can be. */
static int position(const char *word)
{
	char *end;
	long n = strtol(word + 1, &end, 10);
	return *end || n > 1000 ? -1 : (int)n;
}

static void blanks(reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static bool take(reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static bool is_named(const heddle_named_list *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->item[i].name, name))
			return true;
	return false;
}

/* name:value,name:value */
static int named(reader *r, heddle_named_list *list, bool reduce)
{
	do {
		const char *start = r->at;
		char *name = word(r);
		int64_t value = 0;
		if (!name || !take(r, ':'))
			return bad(r, start, 1, "expected DIMENSION:VALUE");
		if (is_named(list, name))
			return bad(r, start, strlen(name), heddle_arena_printf(r->arena, "`%s` is given twice", name));
		if (reduce) {
			start = r->at;
			char *how = word(r);
			if (how && !strcmp(how, "sequential"))
				value = HEDDLE_REDUCE_SEQUENTIAL;
			else if (how && !strcmp(how, "lanes"))
				value = HEDDLE_REDUCE_LANES;
			else
				return bad(r, start, 1, "expected sequential or lanes");
		} else if (number(r, &value) < 0) {
			return -1;
		} else if (value < 1 || value > 1 << 30) {
			return bad(r, r->at - 1, 1, "expected a number from 1 to 2^30");
		}
		heddle_named_set(r->config, list, name, value);
	} while (take(r, ','));
	return 0;
}

static int parse_split(reader *r)
{
	if (r->config->has_split)
		return bad(r, r->at, 1, "split is given twice");
	r->config->has_split = true;
	if (strncmp(r->at, "none", 4) == 0) {
		r->at += 4;
		return 0;
	}
	do {
		int64_t stmt, chunk;
		const char *start = r->at;
		if (number(r, &stmt) < 0)
			return -1;
		char *dim = take(r, ':') ? word(r) : NULL;
		if (!dim || !take(r, ':'))
			return bad(r, start, 1, "expected STATEMENT:DIMENSION:CHUNK");
		if (number(r, &chunk) < 0)
			return -1;
		if (chunk < 1)
			return bad(r, start, 1, "a chunk has at least 1 element");
		heddle_split split = {(int)stmt, dim, chunk};
		HEDDLE_PUSH(r->arena, r->config->split, r->config->n_split, split);
	} while (take(r, ','));
	return 0;
}

static int parse_share(reader *r)
{
	if (r->config->has_share)
		return bad(r, r->at, 1, "share is given twice");
	r->config->has_share = true;
	if (strncmp(r->at, "none", 4) == 0) {
		r->at += 4;
		return 0;
	}
	do {
		int64_t stmt;
		if (number(r, &stmt) < 0)
			return -1;
		HEDDLE_PUSH(r->arena, r->config->share, r->config->n_share, (int)stmt);
	} while (take(r, ','));
	return 0;
}

static int parse_turn(reader *r)
{
	if (r->config->has_turn)
		return bad(r, r->at, 1, "turn is given twice");
	r->config->has_turn = true;
	if (strncmp(r->at, "none", 4) == 0) {
		r->at += 4;
		return 0;
	}
	do {
		int64_t stmt;
		const char *start = r->at;
		if (number(r, &stmt) < 0)
			return -1;
		char *tensor = take(r, ':') ? word(r) : NULL;
		char *index = tensor && take(r, ':') ? word(r) : NULL;
		if (!index)
			return bad(r, start, 1, "expected STATEMENT:TENSOR:DIMENSION");
		heddle_turn turn = {(int)stmt, tensor, index};
		HEDDLE_PUSH(r->arena, r->config->turn, r->config->n_turn, turn);
	} while (take(r, ','));
	return 0;
}

static int parse_fuse(reader *r)
{
	if (r->config->has_fuse)
		return bad(r, r->at, 1, "fuse is given twice");
	r->config->has_fuse = true;
	do {
		int64_t k;
		if (number(r, &k) < 0)
			return -1;
		HEDDLE_PUSH(r->arena, r->config->fuse, r->config->n_fuse, (int)k);
	} while (take(r, ','));
	return 0;
}

static int kernel_key(reader *r, int k, const char *key, const char *start)
{
	heddle_kernel_config *kernel = heddle_config_kernel(r->config, k);
	int64_t value;
	if (!strcmp(key, "threads")) {
		if (number(r, &value) < 0)
			return -1;
		if (value < 1 || value > 4096)
			return bad(r, start, 1, "threads must be from 1 to 4096");
		kernel->threads = (int)value;
		return 0;
	}
	if (!strcmp(key, "resident")) {
		if (number(r, &value) < 0)
			return -1;
		if (value < 1 || value > 64)
			return bad(r, start, 1, "resident must be from 1 to 64 blocks");
		kernel->resident = (int)value;
		return 0;
	}
	if (!strcmp(key, "lanes")) {
		char *how = word(r);
		if (!how || (strcmp(how, "inner") && strcmp(how, "outer")))
			return bad(r, start, 1, "expected lanes=inner or lanes=outer");
		kernel->lanes_outer = how[0] == 'o';
		return 0;
	}
	if (!strcmp(key, "order")) {
		kernel->n_order = 0;
		do {
			char *name = word(r);
			if (!name)
				return bad(r, r->at, 1, "expected a dimension");
			HEDDLE_PUSH(r->arena, kernel->order, kernel->n_order, name);
		} while (take(r, ','));
		return 0;
	}
	if (!strcmp(key, "stream")) {
		kernel->has_stream = true;
		kernel->n_stream = 0;
		do {
			char *name = word(r);
			if (!name)
				return bad(r, r->at, 1, "expected a tensor, or none");
			if (strcmp(name, "none"))
				HEDDLE_PUSH(r->arena, kernel->stream, kernel->n_stream, name);
		} while (take(r, ','));
		return 0;
	}
	return bad(r, start, strlen(key), "unknown key; a kernel has threads, resident, order, lanes and stream");
}

static int stmt_key(reader *r, int k, int s, const char *key, const char *start)
{
	heddle_stmt_config *stmt = heddle_config_stmt(r->config, k, s);
	if (!strcmp(key, "tile"))
		return named(r, &stmt->tile, false);
	if (!strcmp(key, "round"))
		return named(r, &stmt->round, false);
	if (!strcmp(key, "thread"))
		return named(r, &stmt->thread, false);
	if (!strcmp(key, "vector"))
		return named(r, &stmt->vector, false);
	if (!strcmp(key, "reduce"))
		return named(r, &stmt->reduce, true);
	return bad(r, start, strlen(key), "unknown key; a statement has tile, round, thread, vector and reduce");
}

static int group_key(reader *r, int k, const char *tensor, int n, const char *key, const char *start)
{
	static const char *const space[] = {"global", "shared", "register"};
	heddle_group_config *group = heddle_config_group(r->config, k, tensor, n, true);
	int64_t value;
	if (!strcmp(key, "space")) {
		char *name = word(r);
		for (int i = 0; name && i < 3; i++)
			if (!strcmp(name, space[i])) {
				group->space = i;
				return 0;
			}
		return bad(r, start, 1, "expected space=global, shared or register");
	}
	if (!strcmp(key, "pad") || !strcmp(key, "vector") || !strcmp(key, "columns") || !strcmp(key, "phases") ||
	    !strcmp(key, "prefetch")) {
		if (number(r, &value) < 0)
			return -1;
		if (value > 1024)
			return bad(r, start, 1, "value too large");
		if (value < 1 && (key[0] == 'c' || key[0] == 'v' || !strcmp(key, "phases")))
			return bad(r, start, 1, heddle_arena_printf(r->arena, "%s must be at least 1", key));
		if (!strcmp(key, "prefetch"))
			group->prefetch = (int)value;
		else if (key[0] == 'c')
			group->columns = (int)value;
		else if (!strcmp(key, "phases"))
			group->phases = (int)value;
		else if (key[0] == 'p')
			group->pad = (int)value;
		else
			group->vector = (int)value;
		return 0;
	}
	if (!strcmp(key, "order")) {
		group->n_order = 0;
		do {
			if (number(r, &value) < 0)
				return -1;
			if (group->n_order >= 16 || value > 15)
				return bad(r, start, 1, "order lists the tensor's dimensions once each");
			group->order[group->n_order++] = (int)value;
		} while (take(r, ','));
		return 0;
	}
	if (!strcmp(key, "copy")) {
		group->copy = word(r);
		return group->copy ? 0 : bad(r, start, 1, "expected copy=NAME, a copy of the descriptor");
	}
	return bad(r, start, strlen(key), "unknown key; a group has space, order, pad, vector, columns, phases, prefetch and copy");
}

/* Was the key given for this kernel or group?  From now on it was. */
static bool given_before(reader *r, const char *key)
{
	for (int i = 0; i < r->n_given; i++)
		if (!strcmp(r->given[i], key))
			return true;
	HEDDLE_PUSH(r->arena, r->given, r->n_given, key);
	return false;
}

/* `k0`, `k0.S1` or `k0.A.0`, then `: key=value key=value` up to `;`.  A kernel or group has a key once; a statement's may come again
 * with more dimensions. */
static int parse_part(reader *r, int k)
{
	char *owner = NULL;
	int64_t n = -1;
	bool group = false;
	if (k < 0)
		return bad(r, r->at, 1, "no such kernel");
	if (take(r, '.')) {
		owner = word(r);
		if (!owner)
			return bad(r, r->at, 1, "expected a statement (S0) or a group (A.0)");
		if (take(r, '.')) {
			if (number(r, &n) < 0)
				return -1;
			group = true;
		} else if (owner[0] == 'S' && isdigit((unsigned char)owner[1])) {
			n = position(owner);
			if (n < 0)
				return bad(r, r->at, 1, "no such statement");
		} else {
			return bad(r, r->at, 1, "expected a statement (S0) or a group (A.0)");
		}
	}
	if (!take(r, ':'))
		return bad(r, r->at, 1, "expected `:`");
	heddle_config_kernel(r->config, k);
	for (;;) {
		blanks(r);
		if (!*r->at || *r->at == ';')
			return 0;
		const char *start = r->at;
		char *key = word(r);
		if (!key || !take(r, '='))
			return bad(r, start, 1, "expected KEY=VALUE");
		const bool once = !owner || group;
		if (once && given_before(r, heddle_arena_printf(r->arena, "k%d.%s.%lld.%s", k, owner ? owner : "", (long long)n, key)))
			return bad(r, start, strlen(key), heddle_arena_printf(r->arena, "%s is given twice", key));
		int status = !owner	? kernel_key(r, k, key, start)
			     : group	? group_key(r, k, owner, (int)n, key, start)
					: stmt_key(r, k, (int)n, key, start);
		if (status < 0)
			return -1;
	}
}

heddle_config *heddle_config_parse(heddle_ctx *ctx, heddle_arena *arena, const char *text)
{
	heddle_config *config = heddle_config_new(arena);
	if (!text)
		return config;
	heddle_source *source = HEDDLE_NEW(heddle_ctx_arena(ctx), heddle_source);
	source->name = "config";
	source->text = heddle_arena_strdup(heddle_ctx_arena(ctx), text);
	source->length = strlen(text);
	reader r = {.ctx = ctx, .arena = arena, .config = config, .source = source, .at = source->text};
	for (;;) {
		blanks(&r);
		if (!*r.at)
			return config;
		const char *start = r.at;
		char *key = word(&r);
		int status;
		if (key && !strcmp(key, "split") && take(&r, '='))
			status = parse_split(&r);
		else if (key && !strcmp(key, "share") && take(&r, '='))
			status = parse_share(&r);
		else if (key && !strcmp(key, "turn") && take(&r, '='))
			status = parse_turn(&r);
		else if (key && !strcmp(key, "fuse") && take(&r, '='))
			status = parse_fuse(&r);
		else if (key && key[0] == 'k' && isdigit((unsigned char)key[1]))
			status = parse_part(&r, position(key));
		else
			status = bad(&r, start, key ? strlen(key) : 1, "expected split=, share=, turn=, fuse= or a kernel (k0:)");
		if (status < 0)
			return NULL;
		blanks(&r);
		if (*r.at && !take(&r, ';')) {
			bad(&r, r.at, 1, "expected `;`");
			return NULL;
		}
	}
}

/* ---- printing ------------------------------------------------------------------------------------------------------- */

static void print_named(const char *key, const heddle_named_list *list, bool reduce, heddle_text *out)
{
	if (!list->n)
		return;
	heddle_text_printf(out, " %s=", key);
	for (int i = 0; i < list->n; i++) {
		heddle_text_printf(out, "%s%s:", i ? "," : "", list->item[i].name);
		if (reduce)
			heddle_text_add(out, list->item[i].value == HEDDLE_REDUCE_LANES ? "lanes" : "sequential");
		else
			heddle_text_printf(out, "%lld", (long long)list->item[i].value);
	}
}

static void print_group(const heddle_group_config *group, int k, heddle_text *out)
{
	static const char *const space[] = {"global", "shared", "register"};
	if (group->space < 0 && !group->n_order && group->pad <= 0 && group->vector <= 1 && group->columns <= 0 &&
	    group->phases <= 1 && group->prefetch < 0 && !group->copy)
		return; /* nothing was chosen */
	heddle_text_printf(out, "; k%d.%s.%d:", k, group->tensor, group->number);
	if (group->space >= 0)
		heddle_text_printf(out, " space=%s", space[group->space]);
	for (int i = 0; i < group->n_order; i++)
		heddle_text_printf(out, "%s%d", i ? "," : " order=", group->order[i]);
	if (group->pad > 0)
		heddle_text_printf(out, " pad=%d", group->pad);
	if (group->vector > 1)
		heddle_text_printf(out, " vector=%d", group->vector);
	if (group->columns > 0)
		heddle_text_printf(out, " columns=%d", group->columns);
	if (group->phases > 1)
		heddle_text_printf(out, " phases=%d", group->phases);
	if (group->prefetch >= 0)
		heddle_text_printf(out, " prefetch=%d", group->prefetch);
	if (group->copy)
		heddle_text_printf(out, " copy=%s", group->copy);
}

void heddle_config_print_kernel(const heddle_config *config, int k, heddle_text *out)
{
	const heddle_kernel_config *kernel = &config->kernel[k];
	heddle_text_printf(out, "k%d:", k);
	if (kernel->threads)
		heddle_text_printf(out, " threads=%d", kernel->threads);
	if (kernel->resident)
		heddle_text_printf(out, " resident=%d", kernel->resident);
	for (int i = 0; i < kernel->n_order; i++)
		heddle_text_printf(out, "%s%s", i ? "," : " order=", kernel->order[i]);
	if (kernel->lanes_outer)
		heddle_text_add(out, " lanes=outer");
	for (int i = 0; i < kernel->n_stream; i++)
		heddle_text_printf(out, "%s%s", i ? "," : " stream=", kernel->stream[i]);
	if (kernel->has_stream && !kernel->n_stream)
		heddle_text_add(out, " stream=none");
	for (int i = 0; i < kernel->n_stmt; i++) {
		const heddle_stmt_config *stmt = &kernel->stmt[i];
		if (!stmt->tile.n && !stmt->round.n && !stmt->thread.n && !stmt->vector.n && !stmt->reduce.n)
			continue; /* nothing was chosen: every dimension one by one */
		heddle_text_printf(out, "; k%d.S%d:", k, stmt->stmt);
		print_named("tile", &stmt->tile, false, out);
		print_named("round", &stmt->round, false, out);
		print_named("thread", &stmt->thread, false, out);
		print_named("vector", &stmt->vector, false, out);
		print_named("reduce", &stmt->reduce, true, out);
	}
	for (int i = 0; i < kernel->n_group; i++)
		print_group(&kernel->group[i], k, out);
}

void heddle_config_print(const heddle_config *config, heddle_text *out)
{
	const char *between = "";
	if (config->has_split) {
		heddle_text_add(out, config->n_split ? "split=" : "split=none");
		for (int i = 0; i < config->n_split; i++)
			heddle_text_printf(out, "%s%d:%s:%lld", i ? "," : "", config->split[i].stmt, config->split[i].dim,
					   (long long)config->split[i].chunk);
		between = "; ";
	}
	if (config->has_share) {
		heddle_text_printf(out, "%s%s", between, config->n_share ? "share=" : "share=none");
		for (int i = 0; i < config->n_share; i++)
			heddle_text_printf(out, "%s%d", i ? "," : "", config->share[i]);
		between = "; ";
	}
	if (config->has_turn) {
		heddle_text_printf(out, "%s%s", between, config->n_turn ? "turn=" : "turn=none");
		for (int i = 0; i < config->n_turn; i++)
			heddle_text_printf(out, "%s%d:%s:%s", i ? "," : "", config->turn[i].stmt, config->turn[i].tensor, config->turn[i].index);
		between = "; ";
	}
	if (config->n_fuse) {
		heddle_text_printf(out, "%sfuse=", between);
		for (int i = 0; i < config->n_fuse; i++)
			heddle_text_printf(out, "%s%d", i ? "," : "", config->fuse[i]);
		between = "; ";
	}
	for (int k = 0; k < config->n_kernel; k++) {
		heddle_text_add(out, between);
		heddle_config_print_kernel(config, k, out);
		between = "; ";
	}
}
