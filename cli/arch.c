/* heddle arch: list, show, validate, compare and begin descriptors.
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "backends/driver.h"
#include "harness/probe.h"

#include <stdlib.h>
#include <string.h>

/* The right number of words after `list`, `show`...; 0 or -1. */
static int want_words(heddle_cli *cli, int least, int most)
{
	int n = cli->n_word - 1;
	if (n < least) {
		heddle_error(cli->ctx, 913, NULL, "'arch %s' needs %s", cli->word[0], least == 2 ? "two names" : "a name");
		return heddle_note(cli->ctx, NULL, "usage: heddle arch %s", cli->verb->form), -1;
	}
	if (most >= 0 && n > most)
		return heddle_error(cli->ctx, 914, NULL, "'arch %s' has no use for the argument '%s'", cli->word[0],
				    cli->word[1 + most]);
	return 0;
}

static void add_aliases(const heddle_descriptor *d, heddle_text *rows)
{
	for (int i = 0; i < d->n_alias; i++)
		heddle_text_printf(rows, "%s%s", i ? ", " : "", d->alias[i]);
}

static int list(heddle_cli *cli)
{
	if (want_words(cli, 0, 0) < 0)
		return -1;
	heddle_text rows = {0};
	heddle_text_add(&rows, "name\ttarget\taliases\ttitle\n");
	json_t *all = cli->result ? json_array() : NULL;
	int result = HEDDLE_EXIT_FINE;
	for (const char *const *name = heddle_descriptor_names(cli->ctx); *name; name++) {
		const heddle_descriptor *d = heddle_descriptor_find(cli->ctx, *name);
		if (!d) {
			result = -1;
			continue;
		}
		if (all)
			json_array_append_new(all, heddle_descriptor_json(d));
		heddle_text_printf(&rows, "%s\t%s:%s\t", d->name, d->backend, d->name);
		add_aliases(d, &rows);
		heddle_text_printf(&rows, "\t%s\n", d->title ? d->title : "");
	}
	if (all)
		json_object_set_new(cli->result, "descriptors", all);
	else
		heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	return result;
}

static int show(heddle_cli *cli)
{
	if (want_words(cli, 1, 1) < 0)
		return -1;
	const heddle_descriptor *d = heddle_descriptor_find(cli->ctx, cli->word[1]);
	if (!d)
		return -1;
	if (cli->result)
		json_object_set_new(cli->result, "descriptor", heddle_descriptor_json(d));
	else
		heddle_descriptor_show(d, &cli->out);
	return HEDDLE_EXIT_FINE;
}

/* Is there a dialect for it?  Abstract descriptors may leave it open. */
static bool speaks(heddle_cli *cli, const heddle_descriptor *d)
{
	const char *const *names = heddle_dialect_names(cli->ctx);
	int n = 0;
	for (; names[n]; n++)
		if (d->backend && !strcmp(names[n], d->backend))
			return true;
	if (!d->backend)
		return true;
	heddle_error(cli->ctx, 416, &d->backend_at, "there is no backend `%s`", d->backend);
	const char *nearest = heddle_nearest(d->backend, names, n);
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean `%s`?", nearest);
	return false;
}

static int validate(heddle_cli *cli)
{
	if (want_words(cli, 1, -1) < 0)
		return -1;
	json_t *all = cli->result ? json_array() : NULL;
	int result = HEDDLE_EXIT_FINE;
	for (int i = 1; i < cli->n_word; i++) {
		const heddle_descriptor *d = heddle_descriptor_read(cli->ctx, cli->word[i]);
		if (!d || !speaks(cli, d))
			result = -1;
		else if (all)
			json_array_append_new(all, heddle_descriptor_json(d));
		else
			heddle_text_printf(&cli->out, "%s: %s is valid\n", cli->word[i], d->name);
	}
	if (all)
		json_object_set_new(cli->result, "descriptors", all);
	return result;
}

/* ---- diff ------------------------------------------------------------------------------------------------------------ */

/* A leaf, or a quantity as one: "3.35 TB/s", then where it was read. */
static void add_leaf(const json_t *value, heddle_text *out)
{
	if (!value) {
		heddle_text_add(out, "unset\t");
		return;
	}
	const json_t *number = json_is_object(value) ? json_object_get(value, "value") : NULL;
	if (number) {
		const char *source = json_string_value(json_object_get(value, "source")), *from = json_string_value(json_object_get(value, "from"));
		bool assumed = json_is_true(json_object_get(value, "assumed"));
		heddle_quantity_show(json_number_value(number), json_string_value(json_object_get(value, "unit")), out);
		heddle_text_printf(out, "\t%s%s%s%s%s", assumed ? "assumed" : "", assumed && source ? ": " : "", source ? source : "",
				   from ? " -- " : "", from ? from : "");
	} else if (json_is_string(value)) {
		heddle_text_printf(out, "%s\t", json_string_value(value));
	} else if (json_is_boolean(value)) {
		heddle_text_printf(out, "%s\t", json_is_true(value) ? "yes" : "no");
	} else {
		char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		heddle_text_printf(out, "%s\t", text ? text : "?");
		free(text);
	}
}

static bool is_branch(const json_t *value)
{
	return json_is_object(value) && !json_object_get(value, "value");
}

static bool same_leaf(const json_t *a, const json_t *b)
{
	if (json_is_object(a) && json_is_object(b))
		return json_equal(json_object_get(a, "value"), json_object_get(b, "value"));
	return a && b && json_equal((json_t *)a, (json_t *)b);
}

static void compare(heddle_cli *cli, const char *prefix, json_t *a, json_t *b, heddle_text *rows, json_t *differences);

static void compare_member(heddle_cli *cli, const char *prefix, const char *key, json_t *a, json_t *b, heddle_text *rows,
			   json_t *differences)
{
	static const char *const identity[] = {"name", "title", "aliases", "inherits", "file"};
	for (size_t i = 0; i < HEDDLE_COUNT(identity); i++)
		if (!*prefix && !strcmp(key, identity[i]))
			return;
	const char *name = heddle_arena_printf(cli->arena, "%s%s", prefix, key);
	if (is_branch(a ? a : b)) {
		compare(cli, heddle_arena_printf(cli->arena, "%s.", name), a, b, rows, differences);
		return;
	}
	if (same_leaf(a, b))
		return;
	heddle_text_printf(rows, "%s\t%s\t", name, cli->word[1]);
	add_leaf(a, rows);
	heddle_text_printf(rows, "\n\t%s\t", cli->word[2]);
	add_leaf(b, rows);
	heddle_text_add(rows, "\n");
	json_object_set_new(differences, name, json_pack("[O?, O?]", a, b));
}

/* Members of a, then those that only b has. */
static void compare(heddle_cli *cli, const char *prefix, json_t *a, json_t *b, heddle_text *rows, json_t *differences)
{
	const char *key;
	json_t *value;
	json_object_foreach(a, key, value)
		compare_member(cli, prefix, key, value, json_object_get(b, key), rows, differences);
	json_object_foreach(b, key, value)
		if (!json_object_get(a, key))
			compare_member(cli, prefix, key, NULL, value, rows, differences);
}

/* Matrix instructions by name: two chips may have them in another order. */
static json_t *comparable(const heddle_descriptor *d)
{
	json_t *j = heddle_descriptor_json(d), *by_name = json_object(), *item;
	size_t i;
	json_array_foreach(json_object_get(j, "matrix"), i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		if (name)
			json_object_set(by_name, name, item);
	}
	json_object_set_new(j, "matrix", by_name);
	return j;
}

static int diff(heddle_cli *cli)
{
	if (want_words(cli, 2, 2) < 0)
		return -1;
	const heddle_descriptor *a = heddle_descriptor_find(cli->ctx, cli->word[1]);
	const heddle_descriptor *b = heddle_descriptor_find(cli->ctx, cli->word[2]);
	if (!a || !b)
		return -1;
	json_t *ja = comparable(a), *jb = comparable(b), *differences = json_object();
	heddle_text rows = {0};
	compare(cli, "", ja, jb, &rows, differences);
	if (cli->result)
		json_object_set(cli->result, "differences", differences);
	else if (!rows.length)
		heddle_text_printf(&cli->out, "%s and %s say the same\n", a->name, b->name);
	else
		heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	json_decref(ja);
	json_decref(jb);
	json_decref(differences);
	return HEDDLE_EXIT_FINE;
}

/* "mychip" of "chips/mychip.yaml": a descriptor is found by its file's name.  NULL: the file has no such name. */
static const char *name_of_file(heddle_cli *cli, const char *file)
{
	static const char suffix[] = ".yaml";
	const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
	const size_t n = base ? strlen(base) : 0, tail = sizeof(suffix) - 1;
	return n > tail && !strcmp(base + n - tail, suffix) ? heddle_arena_strndup(cli->arena, base, n - tail) : NULL;
}

/* ---- new ------------------------------------------------------------------------------------------------------------- */

static int begin(heddle_cli *cli)
{
	const char *from = heddle_cli_value(cli, HEDDLE_OPTION_FROM);
	if (want_words(cli, 0, 1) < 0)
		return -1;
	if (!from)
		return heddle_error(cli->ctx, 913, NULL, "'arch new' needs --from NAME: the descriptor to start from");
	const heddle_descriptor *parent = heddle_descriptor_find(cli->ctx, from);
	if (!parent)
		return -1;
	const char *file = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT), *stem = name_of_file(cli, file);
	const char *name = cli->n_word > 1 ? cli->word[1] : stem ? stem : "mychip";
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
		return heddle_error(cli->ctx, 915, NULL, "`%s` cannot be the name of a chip: letters, digits, _ and -", name);
	if (file && (!stem || strcmp(stem, name) != 0))
		return heddle_error(cli->ctx, 915, NULL, "the descriptor of `%s` is found as %s.yaml, not as '%s'", name, name, file);
	heddle_text text = {0};
	heddle_descriptor_begin(parent, name, &text);
	int result = HEDDLE_EXIT_FINE;
	if (file) {
		FILE *there = fopen(file, "r");
		if (there) {
			fclose(there);
			result = heddle_error(cli->ctx, 902, NULL, "'%s' is there already", file);
		} else if (heddle_file_write(cli->ctx, file, heddle_text_str(&text), text.length) < 0) {
			result = -1;
		}
	}
	if (cli->result)
		json_object_set_new(cli->result, "yaml", json_string(heddle_text_str(&text)));
	else if (!file)
		heddle_text_add(&cli->out, heddle_text_str(&text));
	heddle_text_free(&text);
	return result;
}

/* ---- probe ----------------------------------------------------------------------------------------------------------- */

/* The generic descriptor of what a driver runs on. */
static const heddle_descriptor *generic_descriptor(heddle_cli *cli, const heddle_driver *driver)
{
	return heddle_descriptor_find(cli->ctx, strcmp(driver->level, "device") ? heddle_host_nearest(cli->ctx) : "gpu");
}

/* May the driver's device be this chip?  NULL: any. */
static bool drives(heddle_cli *cli, const heddle_driver *driver, const heddle_descriptor *chip)
{
	const heddle_descriptor *generic = generic_descriptor(cli, driver);
	return generic && (!chip || (!strcmp(driver->backend, chip->backend) && generic->execution == chip->execution));
}

/* The driver of --level, or the first real device's, else a processor's; of those that may drive `chip`. */
static const heddle_driver *probe_driver(heddle_cli *cli, const heddle_descriptor *chip, heddle_probe *probe)
{
	const char *level = heddle_cli_value(cli, HEDDLE_OPTION_LEVEL), *why = NULL, *levels = "";
	for (int devices = 1; devices >= 0; devices--)
		for (const heddle_driver *const *at = heddle_drivers; *at; at++) {
			const heddle_driver *d = *at;
			const char *name = heddle_arena_printf(cli->arena, "%s:%s", d->level, d->name);
			if (d->simulator || (strcmp(d->level, "device") == 0) != (devices == 1) || !drives(cli, d, chip))
				continue;
			levels = heddle_arena_printf(cli->arena, "%s%s%s", levels, *levels ? ", " : "", name);
			if (level && strcmp(level, name) != 0)
				continue;
			if (heddle_probe_run(cli->ctx, cli->arena, d, generic_descriptor(cli, d), chip, probe, &why) == 0)
				return d;
		}
	heddle_error(cli->ctx, 810, NULL, "there is no device to probe%s%s%s%s", chip ? " for " : "", chip ? chip->name : "", level ? " at " : "",
		     level ? level : "");
	if (why)
		heddle_note(cli->ctx, NULL, "%s", why);
	else
		heddle_note(cli->ctx, NULL, "levels that can be probed%s%s: %s", chip ? " for " : "", chip ? chip->name : "", *levels ? levels : "none");
	return NULL;
}

/* What the descriptor states under a dotted key; NULL: nothing. */
static const json_t *stated(const json_t *descriptor, const char *key)
{
	const json_t *at = descriptor;
	while (at && *key) {
		char part[64];
		size_t n = strcspn(key, ".");
		snprintf(part, sizeof(part), "%.*s", (int)n, key);
		at = json_object_get(at, part);
		key += n + (key[n] == '.');
	}
	return json_object_get(at, "value");
}

static void add_measured(const heddle_probe *p, const heddle_probe_figure *f, const char *key, const char *indent, heddle_text *out)
{
	char number[40];
	if (f->spread < 0)
		heddle_text_printf(out, "%s%s: { value: %s, unit: %s, source: \"the driver of %s\" }\n", indent, key,
				   heddle_format_double(f->value, number), f->unit, p->device);
	else
		heddle_text_printf(out, "%s%s: { value: %.4g, unit: %s, source: \"measured by heddle arch probe on %s, spread %.0f %%\" }\n", indent,
				   key, f->value, f->unit, p->device, 100 * f->spread);
}

/* What a descriptor that inherits all else states as measured; the sweeps as comments. */
static void probe_yaml(const heddle_probe *p, heddle_text *out)
{
	for (int i = 0; i < p->n; i++)
		if (!strchr(p->figure[i].key, '.'))
			add_measured(p, &p->figure[i], p->figure[i].key, "", out);
	heddle_text_add(out, "memory:\n  global:\n");
	for (int i = 0; i < p->n; i++)
		if (!strncmp(p->figure[i].key, "memory.global.", 14))
			add_measured(p, &p->figure[i], p->figure[i].key + 14, "    ", out);
	heddle_text_add(out, "rates:\n");
	for (int i = 0; i < p->n; i++)
		if (!strncmp(p->figure[i].key, "rates.", 6))
			add_measured(p, &p->figure[i], p->figure[i].key + 6, "  ", out);
	heddle_text_add(out, "# Working sets of all blocks together: where the figure falls, a cache ends.\n");
	for (int i = 0; i < p->n; i++) {
		const heddle_probe_figure *f = &p->figure[i];
		char bytes[32];
		if (strncmp(f->key, "sweep.", 6))
			continue;
		heddle_text_printf(out, "#   %-10s %10s  ", f->key + 6, heddle_cli_bytes(f->bytes, bytes));
		heddle_quantity_show(f->value, f->unit, out);
		heddle_text_printf(out, ", spread %.0f %%\n", 100 * f->spread);
	}
}

/* Measured against stated. */
static void probe_compare(heddle_cli *cli, const heddle_probe *p, const heddle_descriptor *d)
{
	heddle_text rows = {0};
	json_t *descriptor = heddle_descriptor_json(d);
	heddle_text_printf(&rows, "%s\tmeasured\tstated\tmeasured / stated\n", d->name);
	for (int i = 0; i < p->n; i++) {
		const heddle_probe_figure *f = &p->figure[i];
		const json_t *value = stated(descriptor, f->key);
		if (!strncmp(f->key, "sweep.", 6))
			continue;
		heddle_text_printf(&rows, "%s\t", f->key);
		heddle_quantity_show(f->value, f->unit, &rows);
		heddle_text_add(&rows, "\t");
		if (value) {
			heddle_quantity_show(json_number_value(value), f->unit, &rows);
			heddle_text_printf(&rows, "\t%.2f\n", f->value / json_number_value(value));
		} else {
			heddle_text_add(&rows, "unset\t-\n");
		}
	}
	heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	json_decref(descriptor);
}

/* For -o, or as the figures that `host` takes from now on.  0 or -1. */
static int write_measured(heddle_cli *cli, const heddle_probe *p, const char *parent, const char *file, heddle_text *yaml)
{
	const char *name = name_of_file(cli, file);
	const char *cache = file || strcmp(parent, "host") ? NULL : heddle_host_cache(cli->ctx);
	if (cache && heddle_host_begin(cli->ctx, yaml) < 0)
		return -1;
	heddle_text_printf(yaml, "# Measured on %s (%s).\n", p->device, p->version);
	if (!cache)
		heddle_text_printf(yaml, "name: %s\ninherits: %s\ntitle: %s\n", name ? name : "measured", parent, name ? name : "measured");
	probe_yaml(p, yaml);
	if (cache && heddle_dir_make(cli->ctx, heddle_arena_strndup(cli->arena, cache, (size_t)(strrchr(cache, '/') - cache))) < 0)
		return -1;
	if (cache)
		heddle_text_printf(&cli->err, "%s: the target host takes these figures from now on\n", cache);
	return file || cache ? heddle_file_write(cli->ctx, file ? file : cache, heddle_text_str(yaml), yaml->length) : 0;
}

static int probe_device(heddle_cli *cli)
{
	if (want_words(cli, 0, 1) < 0)
		return -1;
	const heddle_descriptor *d = cli->n_word > 1 ? heddle_descriptor_find(cli->ctx, cli->word[1]) : NULL;
	const char *file = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT);
	heddle_probe probe;
	if (cli->n_word > 1 && !d)
		return -1;
	const heddle_driver *driver = probe_driver(cli, d, &probe);
	if (!driver)
		return -1;
	/* A block of a processor's descriptor is one thread, whatever its driver allows. */
	int kept = 0;
	const bool processor = (d ? d : generic_descriptor(cli, driver))->execution == HEDDLE_SIMD;
	for (int i = 0; i < probe.n; i++)
		if (!processor || (strcmp(probe.figure[i].key, "threads_per_block") != 0 && strcmp(probe.figure[i].key, "warp") != 0 &&
				   strcmp(probe.figure[i].key, "shared_per_block") != 0))
			probe.figure[kept++] = probe.figure[i];
	probe.n = kept;
	const char *parent = d ? d->name : generic_descriptor(cli, driver)->name;
	heddle_text yaml = {0};
	const int result = write_measured(cli, &probe, parent, file, &yaml);
	json_t *figures = cli->result ? json_array() : NULL;
	for (int i = 0; i < probe.n && figures; i++)
		json_array_append_new(figures, json_pack("{s:s, s:s, s:f, s:f, s:f}", "key", probe.figure[i].key, "unit", probe.figure[i].unit,
							 "value", probe.figure[i].value, "spread", probe.figure[i].spread, "bytes",
							 probe.figure[i].bytes));
	if (figures) {
		json_object_set_new(cli->result, "device", heddle_cli_json_string(probe.device));
		json_object_set_new(cli->result, "figures", figures);
	} else if (d) {
		probe_compare(cli, &probe, d);
	} else if (!file) {
		heddle_text_add(&cli->out, heddle_text_str(&yaml));
	}
	heddle_text_free(&yaml);
	return result;
}

/* ---- fields ------------------------------------------------------------------------------------------------------------ */

/* The tables of doc/arch.md, which a test compares with these. */
static int fields(heddle_cli *cli)
{
	if (want_words(cli, 0, 0) < 0)
		return -1;
	if (cli->result)
		json_object_set_new(cli->result, "fields", heddle_descriptor_reference_json());
	else
		heddle_descriptor_reference(&cli->out);
	return HEDDLE_EXIT_FINE;
}

static const struct {
	const char *name;
	int (*run)(heddle_cli *cli);
} actions[] = {{"list", list}, {"show", show}, {"validate", validate}, {"diff", diff},
	     {"new", begin}, {"fields", fields}, {"probe", probe_device}};

int heddle_cli_arch(heddle_cli *cli)
{
	const char *names[HEDDLE_COUNT(actions)];
	for (size_t i = 0; i < HEDDLE_COUNT(actions); i++) {
		names[i] = actions[i].name;
		if (!strcmp(cli->word[0], actions[i].name))
			return actions[i].run(cli);
	}
	heddle_error(cli->ctx, 915, NULL, "'arch' cannot '%s'", cli->word[0]);
	const char *nearest = heddle_nearest(cli->word[0], names, (int)HEDDLE_COUNT(actions));
	if (nearest)
		heddle_note(cli->ctx, NULL, "did you mean '%s'?", nearest);
	else
		heddle_note(cli->ctx, NULL, "usage: heddle arch %s", cli->verb->form);
	return HEDDLE_EXIT_USAGE;
}
