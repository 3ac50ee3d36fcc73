/* heddle emit: sources, header and manifests, all of them or nothing.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"
#include "cli/lock.h"
#include "compile/binding.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

enum { LONGEST_NAME = 240 }; /* bytes, of a file: the usual 255 less what stands behind the name while it is written */

static int add_file(heddle_cli *cli, output_list *list, const char *name, const heddle_text *text, bool shared)
{
	const output_file *same = find_file(list, name);
	if (strlen(name) > LONGEST_NAME) {
		heddle_error(cli->ctx, 902, NULL, "'%.40s..' is too long for the name of a file: %zu bytes, %d are possible", name, strlen(name),
			     LONGEST_NAME);
		return heddle_note(cli->ctx, NULL, "files are called by their definition: give it a shorter name"), -1;
	}
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

/* The folder's lock, held while it is written to; -1: somebody has it, or there are no locks here.  Closed by the caller. */
static int lock_folder(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* What killed ones left: folders of processes that are no more, also elsewhere, where numbers of processes are others. */
static void remove_abandoned(heddle_cli *cli, const char *folder)
{
	DIR *dir = opendir(folder);
	for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
		long pid = 0;
		int end = 0;
		if (sscanf(entry->d_name, ".heddle-%ld.tmp%n", &pid, &end) != 1 || !end || entry->d_name[end] || pid < 1 ||
		    kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		const char *path = heddle_arena_printf(cli->arena, "%s/%s", folder, entry->d_name);
		const int lock = lock_folder(path);
		if (lock < 0)
			continue;
		heddle_dir_remove(path);
		close(lock);
	}
	if (dir)
		closedir(dir);
}

/* Everything goes to a folder beside the final places first; only when all of it is on the disk are the files renamed. */
static int write_files(heddle_cli *cli, const char *folder, const output_list *list)
{
	struct stat status;
	bool existed = stat(folder, &status) == 0;
	if (heddle_dir_make(cli->ctx, folder) < 0)
		return -1;
	remove_abandoned(cli, folder);
	const char *aside = heddle_arena_printf(cli->arena, "%s/.heddle-%ld.tmp", folder, (long)getpid());
	int result = heddle_dir_make(cli->ctx, aside);
	const int lock = lock_folder(aside);
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
	if (lock >= 0)
		close(lock);
	if (result < 0 && !existed)
		rmdir(folder);
	return result;
}

/* ---- --check ------------------------------------------------------------------------------------------------------------ */

enum { SHOWN = 6 }; /* lines of either side */

static int count_lines(const char *text, size_t length)
{
	int n = length && text[length - 1] != '\n';
	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n';
	return n;
}

/* Up to SHOWN lines of a stretch, each behind `mark`. */
static void show_lines(heddle_text *out, char mark, const char *text, size_t length)
{
	const char *end = text + length;
	const int n = count_lines(text, length);
	for (int i = 0; i < n && i < SHOWN; i++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		heddle_text_printf(out, "%c%.*s\n", mark, (int)(stop - text), text);
		text = stop < end ? stop + 1 : end;
	}
	if (n > SHOWN)
		heddle_text_printf(out, "%c ... and %d lines more\n", mark, n - SHOWN);
}

/* What lies between the lines that two texts begin and end with alike, as a diff would show it. */
static void show_difference(heddle_text *out, const char *path, const char *old, size_t n_old, const char *new, size_t n_new)
{
	size_t first = 0, last = 0, least = n_old < n_new ? n_old : n_new;
	int line = 1;
	for (size_t i = 0; i < least && old[i] == new[i]; i++)
		if (old[i] == '\n')
			first = i + 1, line++;
	for (size_t i = 0; i < least - first && old[n_old - 1 - i] == new[n_new - 1 - i]; i++)
		if (i + 1 == least - first || old[n_old - 2 - i] == '\n')
			last = i + 1;
	/* The stretch ends where a line does in both. */
	while (last && ((n_old - last > first && old[n_old - last - 1] != '\n') || (n_new - last > first && new[n_new - last - 1] != '\n')))
		last--;
	heddle_text_printf(out, "--- %s\n+++ %s, as it would be written\n@@ line %d @@\n", path, path, line);
	show_lines(out, '-', old + first, n_old - last - first);
	show_lines(out, '+', new + first, n_new - last - first);
}

/* One file as it would be written; 0 when it is so already. */
static int compare_file(heddle_cli *cli, const char *path, const char *text, size_t length, json_t *different)
{
	size_t n = 0;
	char *there = access(path, R_OK) == 0 ? heddle_file_read(cli->ctx, path, &n) : NULL;
	const bool same = there && n == length && memcmp(there, text, n) == 0;
	if (!there)
		heddle_text_printf(&cli->err, "%s: is missing\n", path);
	else if (!same)
		show_difference(&cli->err, path, there, n, text, length);
	if (!same && different)
		json_array_append_new(different, json_string(path));
	free(there);
	return !same;
}

/* Every file, and the lock; HEDDLE_EXIT_FAILED when one differs. */
static int compare_files(heddle_cli *cli, const char *folder, const output_list *list)
{
	int n_different = 0;
	json_t *different = cli->result ? json_array() : NULL;
	for (int i = 0; i < list->n; i++)
		n_different += compare_file(cli, heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name), list->file[i].text,
					    list->file[i].length, different);
	if (cli->lock) {
		heddle_text lock = {0};
		heddle_lock_print(cli->lock, &lock);
		n_different += compare_file(cli, heddle_lock_path(cli->lock), heddle_text_str(&lock), lock.length, different);
		heddle_text_free(&lock);
	}
	if (different)
		json_object_set_new(cli->result, "different", different);
	if (n_different)
		heddle_text_printf(&cli->err, "%d of %d files differ from what heddle %s writes\n", n_different, list->n + (cli->lock != NULL),
				   heddle_version());
	return n_different ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_FINE;
}

/* ---- --depfile and --lock --------------------------------------------------------------------------------------------------- */

/* A name as make reads it. */
static void add_make_name(heddle_text *out, const char *name)
{
	for (const char *s = name; *s; s++) {
		if (*s == ' ' || *s == '#' || *s == '\\' || *s == ':')
			heddle_text_add(out, "\\");
		else if (*s == '$')
			heddle_text_add(out, "$");
		heddle_text_addn(out, s, 1);
	}
}

/* "files written: files read": the source, descriptors and dialects from folders of the user's, the lock. */
static int write_depfile(heddle_cli *cli, const char *folder, const output_list *list, const char *const *read)
{
	const char *path = heddle_cli_value(cli, HEDDLE_OPTION_DEPFILE);
	heddle_text text = {0};
	for (int i = 0; i < list->n; i++) {
		heddle_text_add(&text, i ? " \\\n  " : "");
		add_make_name(&text, heddle_arena_printf(cli->arena, "%s/%s", folder, list->file[i].name));
	}
	heddle_text_add(&text, ":");
	for (; *read; read++)
		if (strcmp(*read, "/dev/stdin") != 0) {
			heddle_text_add(&text, " \\\n  ");
			add_make_name(&text, *read);
		}
	heddle_text_add(&text, "\n");
	int result = heddle_file_write(cli->ctx, path, heddle_text_str(&text), text.length);
	heddle_text_free(&text);
	return result;
}

static int write_lock(heddle_cli *cli)
{
	if (!cli->lock || !heddle_lock_changed(cli->lock))
		return 0;
	heddle_text text = {0};
	heddle_lock_print(cli->lock, &text);
	int result = heddle_file_write(cli->ctx, heddle_lock_path(cli->lock), heddle_text_str(&text), text.length);
	heddle_text_free(&text);
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

/* --list: the names without their contents. */
static int name_kernel(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, heddle_kernel_files *kernel,
		       output_list *list)
{
	const heddle_text nothing = {0};
	heddle_cli_file_names(cli, definition, target, kernel);
	int result = add_file(cli, list, kernel->source_name, &nothing, false);
	if (result == 0 && kernel->host_name)
		result = add_file(cli, list, kernel->host_name, &nothing, false);
	if (result == 0)
		result = add_file(cli, list, heddle_arena_printf(cli->arena, "%s.json", kernel->base), &nothing, false);
	if (result == 0)
		result = add_file(cli, list, heddle_arena_printf(cli->arena, "%s.h", kernel->header_name), &nothing, true);
	return result;
}

/* Before anything is compiled: can the files of a definition have their names? */
static int check_file_names(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, int n_target)
{
	output_list list = {0};
	int result = 0;
	for (int i = 0; i < n_target && result == 0; i++) {
		heddle_kernel_files kernel = {0};
		result = name_kernel(cli, definition, &target[i], &kernel, &list);
	}
	return result;
}

static const char *binding_file(heddle_cli *cli, const heddle_kernel_files *kernel)
{
	return heddle_arena_printf(cli->arena, "%s__torch.cpp", kernel->header_name);
}

/* --binding: one file for all targets of the definition. */
static int add_binding(heddle_cli *cli, output_list *list, const heddle_kernel_files *kernel, int n)
{
	heddle_text text = {0};
	heddle_binding_target *target = HEDDLE_NEW_ARRAY(cli->arena, heddle_binding_target, n + 1);
	for (int i = 0; i < n; i++)
		target[i] = (heddle_binding_target){kernel[i].target.dialect, kernel[i].manifest};
	int result = heddle_torch_print(cli->ctx, kernel->header_name, n, target, &text);
	if (result == 0)
		result = add_file(cli, list, binding_file(cli, kernel), &text, false);
	heddle_text_free(&text);
	return result;
}

/* The file as it was checked under each --sizes. */
typedef struct module_list {
	int n;
	heddle_module **module;
	int *only; /* the definition that these sizes are for, by position; -1: all */
} module_list;

static int emit_definition(heddle_cli *cli, heddle_steps *steps, const heddle_module *module, int n, const heddle_definition *const *definition,
			   const heddle_target *target, int n_target, output_list *list)
{
	int result = check_entry_name(cli, definition[0]->name);
	if (result == 0)
		result = check_file_names(cli, definition[0], target, n_target);
	const bool names = heddle_cli_flag(cli, HEDDLE_OPTION_LIST), binding = heddle_cli_flag(cli, HEDDLE_OPTION_BINDING);
	heddle_kernel_files *kernel = HEDDLE_NEW_ARRAY(cli->arena, heddle_kernel_files, n_target + 1);
	for (int i = 0; i < n_target && result == 0; i++, steps->done++) {
		heddle_steps_say(cli->ctx, steps, "%s for %s", definition[0]->name, target[i].text);
		if (names)
			result = name_kernel(cli, definition[0], &target[i], &kernel[i], list);
		else if (heddle_cli_compile(cli, module, n, definition, &target[i], NULL, &kernel[i]) < 0 || add_kernel(cli, list, &kernel[i]) < 0)
			result = -1;
	}
	if (result == 0 && binding && names)
		result = add_file(cli, list, binding_file(cli, kernel), &(heddle_text){0}, false);
	else if (result == 0 && binding)
		result = add_binding(cli, list, kernel, n_target);
	for (int i = 0; i < n_target; i++)
		heddle_kernel_files_free(&kernel[i]);
	return result;
}

/* All definitions of the file, or that of --def, under all the sizes given. */
static int emit_modules(heddle_cli *cli, const module_list *modules, const heddle_target *target, int n_target, output_list *list)
{
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	heddle_module *first = modules->module[0];
	if (only && !heddle_module_find(cli->ctx, first, only))
		return -1;
	heddle_steps steps = heddle_steps_new(n_target * (only ? 1 : first->n_definition));
	int result = 0;
	for (int i = 0; i < first->n_definition; i++) {
		const heddle_definition **definition = HEDDLE_NEW_ARRAY(cli->arena, const heddle_definition *, modules->n);
		if (only && strcmp(only, first->definition[i]->name))
			continue;
		int n = 0;
		for (int m = 0; m < modules->n; m++)
			if (modules->only[m] < 0 || modules->only[m] == i)
				definition[n++] = modules->module[m]->definition[i];
		if (emit_definition(cli, &steps, first, n, definition, target, n_target, list) < 0)
			result = -1;
	}
	return result;
}

static void say_took(heddle_cli *cli, const module_list *modules, const heddle_target *target, int n_target)
{
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	heddle_module *first = modules->module[0];
	const heddle_definition *const one = only ? heddle_module_find(cli->ctx, first, only) : NULL;
	heddle_took took = {.n_definition = one ? 1 : first->n_definition,
			    .definition = one ? &one : (const heddle_definition *const *)first->definition,
			    .n_target = n_target,
			    .target = target,
			    .sizes_are_told = !heddle_cli_flag(cli, HEDDLE_OPTION_SIZES_AUTO)};
	if (modules->n > 1)
		took.sizes = heddle_arena_printf(cli->arena, "%d variants of sizes", modules->n);
	if (!only || one)
		heddle_cli_say_took(cli, &took);
}

/* What the verb was asked for, once all texts are there. */
static int finish(heddle_cli *cli, const output_list *list)
{
	const char *folder = heddle_cli_value(cli, HEDDLE_OPTION_OUTPUT);
	folder = folder ? folder : ".";
	const char *const *read = heddle_files_read(cli->ctx);
	int result = 0;
	heddle_lock_report(cli);
	if (heddle_cli_flag(cli, HEDDLE_OPTION_CHECK))
		return compare_files(cli, folder, list);
	if (!heddle_cli_flag(cli, HEDDLE_OPTION_LIST)) {
		result = write_lock(cli);
		if (result == 0)
			result = write_files(cli, folder, list);
		if (result == 0 && heddle_cli_flag(cli, HEDDLE_OPTION_DEPFILE))
			result = write_depfile(cli, folder, list, read);
	}
	if (result == 0)
		report_files(cli, folder, list);
	return result;
}

static int add_module(heddle_cli *cli, module_list *modules, const heddle_size_list *sizes, int only)
{
	heddle_module *module = heddle_cli_module(cli, cli->word[0], sizes);
	if (!module)
		return -1;
	int n = modules->n;
	HEDDLE_PUSH(cli->arena, modules->only, n, only);
	HEDDLE_PUSH(cli->arena, modules->module, modules->n, module);
	return 0;
}

/* One module per --sizes; a single one without any. */
static int read_modules(heddle_cli *cli, module_list *modules)
{
	const int n = cli->option[HEDDLE_OPTION_SIZES].n;
	for (int i = 0; i == 0 || i < n; i++) {
		heddle_size_list *sizes;
		if (heddle_cli_sizes(cli, i, &sizes) < 0 || add_module(cli, modules, sizes, -1) < 0)
			return -1;
	}
	return 0;
}

/* ---- --sizes-auto ----------------------------------------------------------------------------------------------------------- */

enum { EVEN = 16 }; /* a divisor that suits the widest vectors */

static bool has_size(const heddle_size_list *list, const char *name)
{
	for (int i = 0; list && i < list->n; i++)
		if (!strcmp(list->range[i].name, name))
			return true;
	return false;
}

/* Those of `more` whose sizes are not in `list` yet, behind it. */
static void append_sizes(heddle_cli *cli, heddle_size_list *list, const heddle_size_list *more)
{
	for (int i = 0; more && i < more->n; i++)
		if (!has_size(list, more->range[i].name))
			HEDDLE_PUSH(cli->arena, list->range, list->n, more->range[i]);
}

static bool is_wanted(const heddle_cli *cli, const heddle_module *module, int definition)
{
	const char *only = heddle_cli_value(cli, HEDDLE_OPTION_DEF);
	return definition < module->n_definition && (!only || !strcmp(only, module->definition[definition]->name));
}

/* `given`, and "N=16*" for every size that it leaves open; NULL: it leaves none. */
static heddle_size_list *even_sizes(heddle_cli *cli, const heddle_module *module, const heddle_size_list *given)
{
	heddle_size_list *all = HEDDLE_NEW(cli->arena, heddle_size_list);
	append_sizes(cli, all, given);
	const int n_given = all->n;
	for (int d = 0; d < module->n_definition; d++)
		for (int i = 0; is_wanted(cli, module, d) && i < module->definition[d]->n_size; i++) {
			const heddle_size *size = module->definition[d]->size[i];
			if (size->min != size->max && size->divisor <= 1 && size->max >= EVEN)
				append_sizes(cli, all, heddle_sizes_parse(cli->ctx, cli->arena, heddle_arena_printf(cli->arena, "%s=%d*", size->name, EVEN)));
		}
	return all->n > n_given ? all : NULL;
}

/* --sizes-auto: a variant for the sizes of each `#: bench` line, one for sizes that suit vectors, and the widest, of --sizes alone. */
static int read_auto_modules(heddle_cli *cli, module_list *modules)
{
	heddle_size_list *given;
	if (cli->option[HEDDLE_OPTION_SIZES].n > 1)
		return heddle_error(cli->ctx, 912, NULL, "--sizes-auto makes the variants: give --sizes once, for all of them");
	if (heddle_cli_sizes(cli, 0, &given) < 0 || add_module(cli, modules, given, -1) < 0)
		return -1;
	heddle_module *widest = modules->module[0];
	modules->n = 0;
	int result = 0;
	for (int i = 0; i < widest->n_pragma && result == 0; i++) {
		const heddle_pragma *pragma = &widest->pragma[i];
		heddle_size_list all = {0};
		if (strcmp(pragma->key, "bench") != 0 || !is_wanted(cli, widest, pragma->definition))
			continue;
		append_sizes(cli, &all, given);
		append_sizes(cli, &all, heddle_sizes_parse(cli->ctx, cli->arena, pragma->text));
		result = heddle_error_count(cli->ctx) ? -1 : add_module(cli, modules, &all, pragma->definition);
	}
	const heddle_size_list *even = result == 0 ? even_sizes(cli, widest, given) : NULL;
	if (even)
		result = add_module(cli, modules, even, -1);
	int n = modules->n;
	HEDDLE_PUSH(cli->arena, modules->only, n, -1);
	HEDDLE_PUSH(cli->arena, modules->module, modules->n, widest);
	return result;
}

int heddle_cli_emit(heddle_cli *cli)
{
	heddle_target *target;
	int n_target;
	module_list modules = {0};
	output_list list = {0};
	const char *binding = heddle_cli_value(cli, HEDDLE_OPTION_BINDING);
	if (binding && strcmp(binding, "torch") != 0)
		return heddle_error(cli->ctx, 915, NULL, "option '--binding' knows 'torch' and not '%s'", binding);
	if (heddle_cli_targets(cli, heddle_usual_targets, &target, &n_target) < 0)
		return -1;
	int result = heddle_cli_flag(cli, HEDDLE_OPTION_SIZES_AUTO) ? read_auto_modules(cli, &modules) : read_modules(cli, &modules);
	if (result == 0) {
		say_took(cli, &modules, target, n_target);
		result = heddle_lock_open(cli, &cli->lock);
	}
	if (result == 0)
		result = emit_modules(cli, &modules, target, n_target, &list);
	if (result == 0)
		result = finish(cli, &list);
	if (result < 0 && !heddle_cli_flag(cli, HEDDLE_OPTION_CHECK) && !heddle_cli_flag(cli, HEDDLE_OPTION_LIST))
		heddle_note(cli->ctx, NULL, "nothing was written");
	for (int i = 0; i < modules.n; i++)
		heddle_module_free(modules.module[i]);
	return result;
}
