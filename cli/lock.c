/* heddle.lock: the configs of emitted kernels, each under what it was chosen for.
 *
 * An entry is found by file, definition, sizes, target and the part of the config that the user fixed.  While the definition
 * says the same, its config is taken as it stands, whichever version of Heddle chose it; so an upgrade of the cost model
 * changes no kernel until --update-lock asks for it.
 * SPDX-License-Identifier: MIT
 */
#include "cli/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCHEMA "heddle.lock/1"

typedef struct lock_entry {
	const char *key[5]; /* by `keys` */
	const char *hash;   /* of the definition's text */
	const char *heddle; /* the version that chose it */
	const char *config;
	bool used;
} lock_entry;

static const char *const keys[] = {"file", "definition", "sizes", "target", "given"};
enum { FILE_KEY, DEFINITION_KEY, SIZES_KEY, TARGET_KEY, GIVEN_KEY, N_KEY };
_Static_assert(HEDDLE_COUNT(keys) == N_KEY, "one name per key");

struct heddle_lock {
	const char *path;
	const char *before; /* the file's text; NULL: there was none */
	bool update;
	int n;
	lock_entry *entry;
};

static int compare(const void *a, const void *b)
{
	const lock_entry *x = a, *y = b;
	int result = 0;
	for (int i = 0; i < N_KEY && !result; i++)
		result = strcmp(x->key[i], y->key[i]);
	return result;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------ */

static const char *member(heddle_cli *cli, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? heddle_arena_strdup(cli->arena, text) : NULL;
}

static int read_entry(heddle_cli *cli, heddle_lock *lock, const json_t *object)
{
	lock_entry entry = {.hash = member(cli, object, "hash"),
			    .heddle = member(cli, object, "heddle"),
			    .config = member(cli, object, "config")};
	bool whole = json_object_size(object) == N_KEY + 3 && entry.hash && entry.heddle && entry.config;
	for (int i = 0; i < N_KEY; i++) {
		entry.key[i] = member(cli, object, keys[i]);
		whole = whole && entry.key[i];
	}
	if (!whole)
		return heddle_error(cli->ctx, 923, NULL, "%s: entry %d does not have the members that it should", lock->path, lock->n + 1);
	HEDDLE_PUSH(cli->arena, lock->entry, lock->n, entry);
	return 0;
}

static int read_lock(heddle_cli *cli, heddle_lock *lock, const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return heddle_error(cli->ctx, 923, NULL, "%s:%d: %s", lock->path, error.line, error.text);
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *list = json_object_get(root, "kernels");
	int result = 0;
	if (!schema || strcmp(schema, SCHEMA) != 0 || !json_is_array(list)) {
		result = heddle_error(cli->ctx, 923, NULL, "%s is no lock of this version: \"schema\" is to be \"%s\"", lock->path, SCHEMA);
	} else {
		size_t i;
		json_t *object;
		json_array_foreach(list, i, object)
			if (result == 0)
				result = read_entry(cli, lock, object);
	}
	json_decref(root);
	return result;
}

int heddle_lock_open(heddle_cli *cli, heddle_lock **lock)
{
	const char *path = heddle_cli_value(cli, HEDDLE_OPTION_LOCK);
	struct stat status;
	*lock = NULL;
	if (!path && heddle_cli_flag(cli, HEDDLE_OPTION_UPDATE_LOCK))
		return heddle_error(cli->ctx, 912, NULL, "option '--update-lock' needs the lock's name: --lock FILE");
	if (!path)
		return 0;
	*lock = HEDDLE_NEW(cli->arena, heddle_lock);
	(*lock)->path = path;
	(*lock)->update = heddle_cli_flag(cli, HEDDLE_OPTION_UPDATE_LOCK);
	if (stat(path, &status) < 0 && errno == ENOENT)
		return 0;
	char *text = heddle_file_read(cli->ctx, path, NULL);
	if (!text)
		return -1;
	(*lock)->before = heddle_arena_strdup(cli->arena, text);
	free(text);
	return read_lock(cli, *lock, (*lock)->before);
}

/* ---- finding ------------------------------------------------------------------------------------------------------------ */

/* FNV-1a of 64 bits: it tells texts apart, nothing more. */
static const char *hash_of(heddle_cli *cli, const heddle_definition *definition)
{
	heddle_text text = {0};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	heddle_definition_print(definition, &text);
	for (const char *s = heddle_text_str(&text); *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	heddle_text_free(&text);
	return heddle_arena_printf(cli->arena, "%016llx", (unsigned long long)hash);
}

static const char *sizes_of(heddle_cli *cli, const heddle_definition *definition)
{
	heddle_text text = {0};
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *size = definition->size[i];
		heddle_text_printf(&text, "%s%s=%lld", i ? "," : "", size->name, (long long)size->min);
		if (size->min != size->max)
			heddle_text_printf(&text, ":%lld", (long long)size->max);
		if (size->divisor > 1 && size->min != size->max)
			heddle_text_printf(&text, "*%lld", (long long)size->divisor);
	}
	const char *copy = heddle_arena_strdup(cli->arena, heddle_text_str(&text));
	heddle_text_free(&text);
	return copy;
}

static lock_entry entry_for(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target)
{
	const char *file = definition->location.source ? definition->location.source->name : "";
	const char *slash = strrchr(file, '/'), *given = heddle_cli_value(cli, HEDDLE_OPTION_CONFIG);
	return (lock_entry){.key = {[FILE_KEY] = slash ? slash + 1 : file,
				    [DEFINITION_KEY] = definition->name,
				    [SIZES_KEY] = sizes_of(cli, definition),
				    [TARGET_KEY] = target->text,
				    [GIVEN_KEY] = given ? given : ""},
			    .hash = hash_of(cli, definition),
			    .heddle = heddle_version(),
			    .used = true};
}

static lock_entry *find(const heddle_lock *lock, const lock_entry *wanted)
{
	for (int i = 0; i < lock->n; i++)
		if (compare(&lock->entry[i], wanted) == 0)
			return &lock->entry[i];
	return NULL;
}

const char *heddle_lock_config(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target)
{
	if (!cli->lock || cli->lock->update)
		return NULL;
	const lock_entry wanted = entry_for(cli, definition, target);
	const lock_entry *entry = find(cli->lock, &wanted);
	if (!entry)
		return NULL;
	if (strcmp(entry->hash, wanted.hash) == 0)
		return entry->config;
	heddle_warning(cli->ctx, 924, &definition->location, "%s has '%s' for %s with another text: its config is chosen anew",
		       cli->lock->path, definition->name, target->text);
	return NULL;
}

void heddle_lock_pin(heddle_cli *cli, const heddle_definition *definition, const heddle_target *target, const char *config)
{
	if (!cli->lock)
		return;
	lock_entry made = entry_for(cli, definition, target);
	lock_entry *entry = find(cli->lock, &made);
	made.config = heddle_arena_strdup(cli->arena, config);
	for (int i = 0; i < N_KEY; i++)
		made.key[i] = heddle_arena_strdup(cli->arena, made.key[i]);
	if (!entry)
		HEDDLE_PUSH(cli->arena, cli->lock->entry, cli->lock->n, made);
	else if (cli->lock->update || strcmp(entry->hash, made.hash) != 0)
		*entry = made;
	else
		entry->used = true;
	qsort(cli->lock->entry, (size_t)cli->lock->n, sizeof(lock_entry), compare);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------ */

static void print_member(heddle_text *out, const char *name, const char *value, const char *end)
{
	json_t *string = json_string(value);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	heddle_text_printf(out, "\"%s\": %s%s", name, text ? text : "\"\"", end);
	free(text);
	json_decref(string);
}

void heddle_lock_print(const heddle_lock *lock, heddle_text *out)
{
	heddle_text_add(out, "{\n  \"schema\": \"" SCHEMA "\",\n  \"kernels\": [");
	for (int i = 0; i < lock->n; i++) {
		const lock_entry *entry = &lock->entry[i];
		heddle_text_add(out, i ? ",\n    {" : "\n    {");
		for (int k = 0; k < N_KEY; k++)
			print_member(out, keys[k], entry->key[k], ", ");
		print_member(out, "hash", entry->hash, ", ");
		print_member(out, "heddle", entry->heddle, ",\n     ");
		print_member(out, "config", entry->config, "}");
	}
	heddle_text_add(out, lock->n ? "\n  ]\n}\n" : "]\n}\n");
}

bool heddle_lock_changed(const heddle_lock *lock)
{
	heddle_text text = {0};
	heddle_lock_print(lock, &text);
	bool same = lock->before && strcmp(lock->before, heddle_text_str(&text)) == 0;
	heddle_text_free(&text);
	return !same;
}

const char *heddle_lock_path(const heddle_lock *lock) { return lock->path; }

void heddle_lock_report(heddle_cli *cli)
{
	const heddle_lock *lock = cli->lock;
	int n = 0;
	const char *version = NULL;
	for (int i = 0; lock && i < lock->n; i++)
		if (lock->entry[i].used && strcmp(lock->entry[i].heddle, heddle_version()) != 0) {
			version = version ? version : lock->entry[i].heddle;
			n++;
		}
	if (n)
		heddle_text_printf(&cli->err, "%s: %d config%s pinned by another Heddle (%s; this is %s): --update-lock chooses anew\n",
				   lock->path, n, n > 1 ? "s were" : " was", version, heddle_version());
}
