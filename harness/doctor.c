/* What is here to validate with, and how to add the rest.
 * SPDX-License-Identifier: MIT
 */
#include "harness/doctor.h"

#include "arch/descriptor.h"
#include "harness/device.h"
#include "harness/level.h"

#include <jansson.h>
#include <string.h>

/* One way to validate: found or not. */
typedef struct entry {
	const char *level, *name, *backend;
	bool available;
	const char *version; /* or the devices, one a line: "name\tversion" */
	const char *devices;
	const char *why; /* when not available */
} entry;

typedef struct report {
	heddle_arena *arena;
	int n;
	entry *entry;
	int n_loader;
	const heddle_driver **loader;
	const char **loader_devices; /* all that each of them shows */
	const char *host;	     /* what the target of this name is; NULL: it cannot be read */
} report;

static void add(report *r, entry e)
{
	HEDDLE_PUSH(r->arena, r->entry, r->n, e);
}

static void add_driver(report *r, const heddle_driver *driver)
{
	heddle_text devices = { 0 };
	entry e = { .level = driver->level, .name = driver->name, .backend = driver->backend };
	e.available = heddle_device_list(r->arena, driver, &devices, &e.why) == 0;
	e.devices = heddle_arena_strdup(r->arena, heddle_text_str(&devices));
	heddle_text_free(&devices);
	add(r, e);
}

static void add_compiler(heddle_ctx *ctx, report *r, const heddle_compiler *compiler)
{
	entry e = { .level = "compile", .name = compiler->name, .backend = compiler->backend };
	e.available = compiler->find(compiler, ctx, r->arena, &e.version, &e.why) == 0;
	add(r, e);
}

static void add_runner(heddle_ctx *ctx, report *r, const heddle_runner *runner)
{
	entry e = { .level = runner->level, .name = runner->name, .backend = runner->backend };
	e.available = runner->available(ctx, &e.why) != 0;
	e.version = e.available ? "a C++ compiler for this machine" : NULL;
	add(r, e);
}

static void collect(heddle_ctx *ctx, report *r)
{
	add(r, (entry){ .level = "interpret", .name = "interpreter", .backend = "*", .available = true, .version = "built in" });
	for (const heddle_runner *const *runner = heddle_runners; *runner; runner++)
		if (strcmp((*runner)->level, "emulate") == 0)
			add_runner(ctx, r, *runner);
	for (const heddle_driver *const *d = heddle_drivers; *d; d++)
		if (strcmp((*d)->level, "device") != 0)
			add_driver(r, *d);
	for (const heddle_compiler *const *c = heddle_compilers; *c; c++)
		add_compiler(ctx, r, *c);
	for (const heddle_driver *const *d = heddle_drivers; *d; d++)
		if (strcmp((*d)->level, "device") == 0)
			add_driver(r, *d);
	for (const heddle_driver *const *d = heddle_loaders; *d; d++) {
		heddle_text devices = { 0 };
		const char *why;
		int n = r->n_loader;
		heddle_device_list(r->arena, *d, &devices, &why);
		HEDDLE_PUSH(r->arena, r->loader_devices, n, heddle_arena_strdup(r->arena, heddle_text_str(&devices)));
		HEDDLE_PUSH(r->arena, r->loader, r->n_loader, *d);
		heddle_text_free(&devices);
	}
}

/* Call `each` for every line "name\tversion". */
static void each_device(report *r, const char *lines, void (*each)(const char *name, const char *version, void *data),
			void *data)
{
	while (lines && *lines) {
		size_t line = strcspn(lines, "\n"), name = strcspn(lines, "\t\n");
		const char *version = name < line ? lines + name + 1 : lines + line;
		each(heddle_arena_strndup(r->arena, lines, name),
		     heddle_arena_strndup(r->arena, version, (size_t)(lines + line - version)), data);
		lines += line + (lines[line] == '\n');
	}
}

static void json_device(const char *name, const char *version, void *data)
{
	json_array_append_new(data, json_pack("{s:s, s:s}", "name", name, "version", version));
}

static json_t *json_devices(report *r, const char *lines)
{
	json_t *list = json_array();
	each_device(r, lines, json_device, list);
	return list;
}

/* The command between ` and ` of a reason; NULL: it has none. */
static const char *command_of(report *r, const char *why)
{
	const char *begin = why ? strchr(why, '`') : NULL, *end = begin ? strchr(begin + 1, '`') : NULL;
	return end ? heddle_arena_strndup(r->arena, begin + 1, (size_t)(end - begin - 1)) : NULL;
}

static void print_json(report *r, heddle_text *out)
{
	json_t *levels = json_array();
	for (int i = 0; i < r->n; i++) {
		const entry *e = &r->entry[i];
		json_array_append_new(levels, json_pack("{s:s, s:s, s:s, s:b, s:s?, s:o, s:s?, s:s?}", "level", e->level, "name", e->name,
							"backend", e->backend, "available", (int)e->available, "version", e->version,
							"devices", json_devices(r, e->devices), "add", e->available ? NULL : e->why, "command",
							e->available ? NULL : command_of(r, e->why)));
	}
	json_t *top = json_pack("{s:s, s:s, s:o}", "schema", "heddle.doctor/1", "version", HEDDLE_VERSION, "levels", levels);
	if (r->host)
		json_object_set_new(top, "host", json_string(r->host));
	for (int i = 0; i < r->n_loader; i++)
		json_object_set_new(top, heddle_arena_printf(r->arena, "%s_devices", r->loader[i]->backend), json_devices(r, r->loader_devices[i]));
	char *text = json_dumps(top, JSON_INDENT(1));
	heddle_text_add(out, text ? text : "{}");
	heddle_text_add(out, "\n");
	void (*release)(void *);
	json_get_alloc_funcs(NULL, &release);
	release(text);
	json_decref(top);
}

static void text_device(const char *name, const char *version, void *data)
{
	heddle_text_printf(data, "    %s (%s)\n", name, version);
}

/* "  emulate, emulator: no C++ compiler" and the command below it, to be copied. */
static void print_missing(report *r, int number, heddle_text *out)
{
	const entry *e = &r->entry[number];
	const char *command = command_of(r, e->why);
	for (int i = 0; i < number; i++)
		if (!r->entry[i].available && !strcmp(r->entry[i].level, e->level) && !strcmp(r->entry[i].name, e->name))
			return; /* the same for another backend */
	heddle_text_printf(out, "  %s, %s: ", e->level, e->name);
	const char *why = e->why ? e->why : "unknown reason", *begin = command ? strchr(why, '`') : NULL;
	if (begin)
		heddle_text_printf(out, "%.*sthe command below%s\n", (int)(begin - why), why, begin + strlen(command) + 2);
	else
		heddle_text_printf(out, "%s\n", why);
	if (command)
		heddle_text_printf(out, "      %s\n", command);
}

/* All packages of one manager in one line, each once. */
static void print_all_packages(report *r, heddle_text *out)
{
	static const char install[] = "apt-get install -y ";
	const char *all = "";
	int n = 0;
	for (int i = 0; i < r->n; i++) {
		const char *command = r->entry[i].available ? NULL : command_of(r, r->entry[i].why);
		if (!command || strncmp(command, install, strlen(install)) != 0 || strchr(command, '&'))
			continue;
		for (const char *at = command + strlen(install); *at;) {
			const size_t length = strcspn(at, " ");
			const char *word = heddle_arena_printf(r->arena, " %.*s ", (int)length, at);
			if (!strstr(all, word)) {
				all = heddle_arena_printf(r->arena, "%s%s%s", all, *all ? "" : " ", word + 1);
				n++;
			}
			at += length + (at[length] == ' ');
		}
	}
	if (n > 1)
		heddle_text_printf(out, "\nAll packages at once:\n      apt-get update && apt-get install -y %.*s\n", (int)strlen(all) - 2, all + 1);
}

static void print_text(report *r, heddle_text *out)
{
	int missing = 0;
	heddle_text_printf(out, "Heddle %s\n\n%-12s%-13s%-9s%s\n", HEDDLE_VERSION, "level", "with", "for", "found");
	for (int i = 0; i < r->n; i++) {
		const entry *e = &r->entry[i];
		heddle_text_printf(out, "%-12s%-13s%-9s%s%s%s\n", e->level, e->name, strcmp(e->backend, "*") == 0 ? "all" : e->backend,
				   e->available ? "yes" : "no", e->available && e->version ? ", " : "",
				   e->available && e->version ? e->version : "");
		if (e->available)
			each_device(r, e->devices, text_device, out);
		missing += !e->available;
	}
	if (r->host)
		heddle_text_printf(out, "\nThe target host is %s.\n", r->host);
	if (missing)
		heddle_text_add(out, "\nTo add what is missing:\n");
	for (int i = 0; i < r->n; i++)
		if (!r->entry[i].available)
			print_missing(r, i, out);
	print_all_packages(r, out);
	for (int i = 0; i < r->n_loader; i++)
		if (*r->loader_devices[i]) {
			heddle_text_printf(out, "\nAll %s devices that the loader shows:\n", r->loader[i]->name);
			each_device(r, r->loader_devices[i], text_device, out);
		}
}

/* What the target `host` stands for; NULL with a diagnostic. */
static const char *host_title(heddle_ctx *ctx)
{
	const heddle_descriptor *host = heddle_descriptor_find(ctx, "host");
	return host ? host->title : NULL;
}

void heddle_doctor(heddle_ctx *ctx, bool json, heddle_text *out)
{
	report r = { .arena = heddle_arena_new() };
	if (!r.arena)
		return;
	collect(ctx, &r);
	r.host = host_title(ctx);
	if (json)
		print_json(&r, out);
	else
		print_text(&r, out);
	heddle_arena_free(r.arena);
}
