/* heddle emit: sources, header and manifests, all of them or nothing.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct output_file {
	const char *name; /* without folder */
	const char *text;
	size_t length;
	bool shared; /* the header: the same for all targets */
} output_file;

typedef struct output_list {
	int n;
	output_file *file;
} output_list;

static const output_file *find_file(const output_list *list, const char *name)
{
	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->file[i].name, name))
			return &list->file[i];
	return NULL;
}

static int add_file(heddle_cli *cli, output_list *list, const char *name, const heddle_text *text, bool shared)
{
	const output_file *same = find_file(list, name);
	if (same && shared && same->shared && !strcmp(same->text, heddle_text_str(text)))
		return 0;
	if (same)
		return heddle_error(cli->ctx, 919, NULL, "two different files would be called '%s'", name),
		       heddle_note(cli->ctx, NULL, "tell them apart with --prefix"), -1;
	output_file file = {.name = heddle_arena_strdup(cli->arena, name),
			    .text = heddle_arena_strndup(cli->arena, heddle_text_str(text), text->length),
			    .length = text->length,
			    .shared = shared};
	HEDDLE_PUSH(cli->arena, list->file, list->n, file);
	return 0;
}

/* Source, host entry, manifest and header of one target. */
static int add_kernel(heddle_cli *cli, output_list *list, const heddle_kernel_files *kernel)
{
	heddle_text manifest = {0};
	heddle_manifest_print(kernel->manifest, &manifest);
	int result = add_file(cli, list, kernel->manifest->source, &kernel->source, false);
	if (result == 0 && kernel->host_name)
		result = add_file(cli, list, kernel->host_name, &kernel->host, false);
	if (result == 0)
		result = add_file(cli, list, heddle_arena_printf(cli->arena, "%s.json", kernel->base), &manifest, false);
	if (result == 0)
		result = add_file(cli, list, heddle_arena_printf(cli->arena, "%s.h", kernel->header_name), &kernel->header, true);
	heddle_text_free(&manifest);
	return result;
}

/* Everything goes to a folder beside the final places first; only when all of it is on the disk are the files renamed. */
static int write_files(heddle_cli *cli, const char *folder, const output_list *list)
{
	struct stat status;
	bool existed = stat(folder, &status) == 0;
	if (heddle_dir_make(cli->ctx, folder) < 0)
		return -1;
	const char *aside = heddle_arena_printf(cli->arena, "%s/.heddle-%ld.tmp", folder, (long)getpid());
	int result = heddle_dir_make(cli->ctx, aside);
	for (int i = 0; i < list->n && result == 0; i++)
		result = heddle_file_write(cli->ctx, heddle_arena_printf(cli->arena, "%s/%s", aside, list->file[i].name),
					   list->file[i].text, list->file[i].length);
	for (int i = 0; i < list->n && result == 0; i++) {
		const char *to = heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name);
		if (stat(to, &status) == 0 && S_ISDIR(status.st_mode))
			result = heddle_error(cli->ctx, 902, NULL, "cannot write '%s': %s", to, strerror(EISDIR));
	}
	for (int i = 0; i < list->n && result == 0; i++) {
		const char *from = heddle_arena_printf(cli->arena, "%s/%s", aside, list->file[i].name);
		const char *to = heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name);
		if (rename(from, to) < 0)
			result = heddle_error(cli->ctx, 902, NULL, "cannot write '%s': %s", to, strerror(errno));
	}
	heddle_dir_remove(aside);
	if (result < 0 && !existed)
		rmdir(folder);
	return result;
}

/* --check: every file as it would be written; those that differ are named. */
static int compare_files(heddle_cli *cli, const char *folder, const output_list *list, json_t *different)
{
	int result = HEDDLE_EXIT_FINE;
	for (int i = 0; i < list->n; i++) {
		const char *path = heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name);
		size_t length = 0;
		char *text = access(path, R_OK) == 0 ? heddle_file_read(cli->ctx, path, &length) : NULL;
		if (!text || length != list->file[i].length || memcmp(text, list->file[i].text, length) != 0) {
			heddle_text_printf(&cli->err, "%s: %s\n", path, text ? "differs" : "is missing");
			if (different)
				json_array_append_new(different, json_string(path));
			result = HEDDLE_EXIT_FAILED;
		}
		free(text);
	}
	return result;
}

static void report_files(heddle_cli *cli, const char *folder, const output_list *list)
{
	json_t *files = cli->result ? json_array() : NULL;
	for (int i = 0; i < list->n; i++) {
		const char *path = heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name);
		if (files)
			json_array_append_new(files, heddle_cli_json_string(path));
		else
			heddle_text_printf(&cli->out, "%s\n", path);
	}
	if (files)
		json_object_set_new(cli->result, "files", files);
}

/* The entry is a C function of the definition's name, in all languages. */
static int check_entry_name(heddle_cli *cli, const char *name)
{
	const char *prefix = heddle_cli_value(cli, HEDDLE_OPTION_PREFIX);
	const char *entry = heddle_arena_printf(cli->arena, "%s%s", prefix ? prefix : "", name);
	if (!heddle_entry_is_reserved(entry))
		return 0;
	heddle_error(cli->ctx, 922, NULL, "no function can be called '%s': it is a word or a function of C or C++", entry);
	return heddle_note(cli->ctx, NULL, "put something before it with --prefix"), -1;
}

static int emit_definition(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition,
			   const heddle_target *target, int n_target, output_list *list)
{
	int result = check_entry_name(cli, definition->name);
	for (int i = 0; i < n_target && result == 0; i++) {
		heddle_kernel_files kernel;
		if (heddle_cli_compile(cli, module, definition, &target[i], &kernel) < 0 || add_kernel(cli, list, &kernel) < 0)
			result = -1;
		heddle_kernel_files_free(&kernel);
	}
	return result;
}

/* All definitions of the file, or that of --def, under the sizes given. */
static int emit_module(heddle_cli *cli, heddle_module *module, const heddle_target *target, int n_target, output_list *list)
{
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	if (only && !heddle_module_find(cli->ctx, module, only))
		return -1;
	int result = 0;
	for (int i = 0; i < module->n_definition; i++)
		if (!only || !strcmp(only, module->definition[i]->name))
			if (emit_definition(cli, module, module->definition[i], target, n_target, list) < 0)
				result = -1;
	return result;
}

int heddle_cli_emit(heddle_cli *cli)
{
	static const char *const standard[] = {"cuda:h100", "hip:mi300x", "opencl:cpu", NULL};
	heddle_target *target;
	int n_target;
	heddle_size_list *sizes;
	output_list list = {0};
	if (heddle_cli_targets(cli, standard, &target, &n_target) < 0 || heddle_cli_sizes(cli, 0, &sizes) < 0)
		return -1;
	heddle_module *module = heddle_cli_module(cli, cli->word[0], sizes);
	if (!module)
		return -1;
	int result = emit_module(cli, module, target, n_target, &list);
	const char *folder = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT);
	folder = folder ? folder : ".";
	if (result == 0 && heddle_cli_flag(cli, HEDDLE_OPTION_CHECK)) {
		json_t *different = cli->result ? json_array() : NULL;
		result = compare_files(cli, folder, &list, different);
		if (different)
			json_object_set_new(cli->result, "different", different);
	} else if (result == 0) {
		result = write_files(cli, folder, &list);
		if (result == 0)
			report_files(cli, folder, &list);
	}
	if (result < 0 && !heddle_cli_flag(cli, HEDDLE_OPTION_CHECK))
		heddle_note(cli->ctx, NULL, "nothing was written");
	heddle_module_free(module);
	return result;
}
