/* Readers of timings.tsv and of the two public tables.
 * SPDX-License-Identifier: MIT
 */
#include "bench/replay/table.h"

#include "bench/replay/adapters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const heddle_public_form heddle_public_forms[] = {
	{"product", "MWG,NWG,MDIMC,NDIMC,MDIMA,NDIMB,VWM,VWN,SA,SB", 10, NULL, -1, heddle_replay_product},
	{"convolution", "block_x,block_y,tile_x,tile_y,read_only,padding,shared,constant", 8, "read_only", 4, heddle_replay_convolution},
	{NULL, NULL, 0, NULL, -1, NULL},
};

enum { MOST_RUNS = 64, MOST_PARAMETERS = 16 };

typedef struct reader {
	heddle_ctx *ctx;
	heddle_arena *arena;
	const heddle_source *source;
	int line;
	heddle_timings *out;
	int first; /* group of this file */
	const heddle_public_form *form; /* NULL: Heddle's own configs */
	heddle_timing_group head;	/* of the rows that follow */
	int n_run;			/* columns of times; 0: no rows may come yet */
	const char *run[MOST_RUNS];
} reader;

static int wrong(const reader *r, const char *what)
{
	return heddle_error(r->ctx, 0, &(heddle_location){r->source, r->line, 1, 1}, "%s", what);
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The time of a candidate in one run, put into the run's group, which is made where there is none. */
static void add_timing(reader *r, int run, const char *sizes, int list, heddle_timing timing)
{
	heddle_timing_group *g = NULL;
	for (int i = r->first; i < r->out->n && !g; i++)
		if (r->out->group[i].list == list && same(r->out->group[i].run, r->run[run]) && same(r->out->group[i].sizes, sizes))
			g = &r->out->group[i];
	if (!g) {
		heddle_timing_group new = r->head;
		new.run = r->run[run];
		new.machine = heddle_arena_strndup(r->arena, new.run, strcspn(new.run, "/"));
		new.sizes = sizes;
		new.list = list;
		HEDDLE_PUSH(r->arena, r->out->group, r->out->n, new);
		g = &r->out->group[r->out->n - 1];
	}
	HEDDLE_PUSH(r->arena, g->timing, g->n, timing);
}

/* Cut the text at `separator`, at most `most` parts; the number of parts there would be. */
static int cut(char *text, char separator, char **part, int most)
{
	int n = 0;
	for (char *next = text; next; n++) {
		char *end = strchr(next, separator);
		if (end)
			*end = '\0';
		if (n < most)
			part[n] = next;
		next = end ? end + 1 : NULL;
	}
	return n;
}

/* A number that is all of the text. */
static bool number(const char *text, double *value)
{
	char *end;
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value);
}

/* ---- Heddle's own ------------------------------------------------------------------------------------------------------------- */

static int read_head(reader *r, char *line)
{
	char *word[5], *run[MOST_RUNS];
	if (cut(line + 2, ' ', word, 5) != 5)
		return wrong(r, "a list of rows begins with \"@ TARGET FILE DEFINITION SIZES RUN[,RUN...]\"");
	if ((r->n_run = cut(word[4], ',', run, MOST_RUNS)) > MOST_RUNS)
		return wrong(r, "too many runs");
	for (int i = 0; i < r->n_run; i++)
		r->run[i] = run[i];
	r->form = NULL;
	r->first = r->out->n;
	r->head = (heddle_timing_group){.target = word[0], .file = word[1], .definition = word[2], .sizes = word[3]};
	r->out->n_list++;
	return 0;
}

static int read_row(reader *r, char *line)
{
	char *part[2], *cell[MOST_RUNS];
	double seconds;
	if (!r->n_run)
		return wrong(r, "a row before the first line that begins with @");
	if (cut(line, '\t', part, 2) != 2 || !*part[1] || cut(part[0], ',', cell, MOST_RUNS) != r->n_run)
		return wrong(r, "a row is one time for each run, a tab and a config");
	heddle_timed_config *candidate = HEDDLE_NEW(r->arena, heddle_timed_config);
	candidate->config = part[1];
	for (int i = 0; i < r->n_run; i++) {
		if (!*cell[i])
			continue;
		if (!number(cell[i], &seconds) || seconds <= 0)
			return wrong(r, "a time that is no positive number");
		add_timing(r, i, r->head.sizes, r->out->n_list, (heddle_timing){seconds, candidate});
	}
	return 0;
}

/* ---- public tables -------------------------------------------------------------------------------------------------------------- */

/* The descriptor that a column's name means: RTX_3090_us is rtx3090; NULL: it is no chip's column. */
static const char *chip_of(reader *r, const char *column)
{
	const size_t length = strlen(column);
	if (length <= 3 || !same(column + length - 3, "_us"))
		return NULL;
	char *name = heddle_arena_strdup(r->arena, column), *to = name;
	for (const char *from = column; from < column + length - 3; from++)
		if (*from != '_')
			*to++ = (char)tolower((unsigned char)*from);
	*to = '\0';
	return name;
}

static bool begins_form(const heddle_public_form *form, const char *line)
{
	const size_t length = strlen(form->columns);
	return strncmp(line, form->columns, length) == 0 && line[length] == ',';
}

static int read_columns(reader *r, char *line)
{
	char *column[MOST_RUNS];
	r->form = NULL;
	for (const heddle_public_form *form = heddle_public_forms; form->name && !r->form; form++)
		r->form = begins_form(form, line) ? form : NULL;
	if (!r->form)
		return wrong(r, "neither a row, nor the columns of a table that is known");
	if ((r->n_run = cut(line + strlen(r->form->columns) + 1, ',', column, MOST_RUNS)) > MOST_RUNS)
		return wrong(r, "too many columns");
	for (int i = 0; i < r->n_run; i++)
		if (!(r->run[i] = chip_of(r, column[i])))
			return wrong(r, "a chip's column is called CHIP_us");
	r->first = r->out->n;
	r->head = (heddle_timing_group){.target = "public", .file = "-", .definition = r->form->name, .form = r->form};
	r->out->n_list += r->n_run; /* each chip rates its own candidates */
	return 0;
}

static int read_public_row(reader *r, char *line)
{
	char *cell[MOST_PARAMETERS + MOST_RUNS];
	const int n = r->form->n_parameter;
	int *parameter = HEDDLE_NEW_ARRAY(r->arena, int, n);
	double value;
	if (cut(line, ',', cell, MOST_PARAMETERS + MOST_RUNS) != n + r->n_run)
		return wrong(r, "a row of more or fewer columns than the first");
	for (int i = 0; i < n; i++) {
		if (!number(cell[i], &value) || value < 0 || value > 1e6 || value > floor(value))
			return wrong(r, "a parameter that is no whole number");
		parameter[i] = (int)value;
	}
	const char *part = r->form->split ? heddle_arena_printf(r->arena, "%s=%d", r->form->split, parameter[r->form->split_at]) : "-";
	for (int i = 0; i < r->n_run; i++) {
		if (!*cell[n + i])
			continue;
		if (!number(cell[n + i], &value) || value <= 0)
			return wrong(r, "a time that is no positive number");
		heddle_timed_config *candidate = HEDDLE_NEW(r->arena, heddle_timed_config);
		candidate->parameter = parameter;
		add_timing(r, i, part, r->out->n_list - i, (heddle_timing){1e-6 * value, candidate});
	}
	return 0;
}

/* ---- both ----------------------------------------------------------------------------------------------------------------------- */

static int read_line(reader *r, char *line)
{
	if (*line == '#' || !*line)
		return 0;
	if (line[0] == '@' && line[1] == ' ')
		return read_head(r, line);
	if (r->form && isdigit((unsigned char)*line))
		return read_public_row(r, line);
	if (isalpha((unsigned char)*line))
		return read_columns(r, line);
	return read_row(r, line);
}

int heddle_timings_parse(heddle_ctx *ctx, heddle_arena *arena, const char *path, const char *text, heddle_timings *out)
{
	heddle_source *source = HEDDLE_NEW(arena, heddle_source);
	*source = (heddle_source){heddle_arena_strdup(arena, path), heddle_arena_strdup(arena, text), strlen(text)};
	reader r = {.ctx = ctx, .arena = arena, .source = source, .out = out, .first = out->n};
	for (char *next = heddle_arena_strdup(arena, text); next && *next;) {
		char *end = strchr(next, '\n');
		if (end)
			*end = '\0';
		r.line++;
		if (read_line(&r, next) < 0)
			return -1;
		next = end ? end + 1 : NULL;
	}
	return 0;
}

int heddle_timings_read(heddle_ctx *ctx, heddle_arena *arena, const char *path, heddle_timings *out)
{
	char *text = heddle_file_read(ctx, path, NULL);
	const int status = text ? heddle_timings_parse(ctx, arena, path, text, out) : -1;
	free(text);
	return status;
}
