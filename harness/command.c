/* The commands that a descriptor names.
 * SPDX-License-Identifier: MIT
 */
#include "harness/command.h"

#include "base/process.h"
#include "harness/compile_level.h"
#include "harness/device.h"
#include "harness/wire.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct placeholders {
	const char *source, *output, *arch;
	const char *const *option;
} placeholders;

/* One word of a command with what stands for its placeholders; NULL with a diagnostic. */
static const char *fill_in(heddle_ctx *ctx, heddle_arena *arena, const char *word, const placeholders *p)
{
	const struct {
		const char *name, *value;
	} table[] = { { "{source}", p->source }, { "{output}", p->output }, { "{arch}", p->arch } };
	const char *out = "";
	while (*word) {
		size_t plain = strcspn(word, "{");
		out = heddle_arena_printf(arena, "%s%.*s", out, (int)plain, word);
		word += plain;
		if (!*word)
			break;
		bool known = false;
		for (size_t i = 0; i < HEDDLE_COUNT(table) && !known; i++)
			if (strncmp(word, table[i].name, strlen(table[i].name)) == 0) {
				out = heddle_arena_printf(arena, "%s%s", out, table[i].value);
				word += strlen(table[i].name);
				known = true;
			}
		if (!known) {
			heddle_error(ctx, 803, NULL, "unknown placeholder in a command: %s", word);
			return NULL;
		}
	}
	return out;
}

/* The command line; {options} alone in a word stands for all options. */
static const char *const *command_line(heddle_ctx *ctx, heddle_arena *arena, const heddle_command *command,
				       const placeholders *p)
{
	const char **argv = NULL;
	int n = 0;
	for (int i = 0; i < command->n; i++) {
		if (strcmp(command->argv[i], "{options}") == 0) {
			for (const char *const *o = p->option; *o; o++)
				HEDDLE_PUSH(arena, argv, n, *o);
			continue;
		}
		const char *word = fill_in(ctx, arena, command->argv[i], p);
		if (!word)
			return NULL;
		HEDDLE_PUSH(arena, argv, n, word);
	}
	HEDDLE_PUSH(arena, argv, n, NULL);
	return argv;
}

/* The manifest keeps options per compiler: those of its backend's, or, for a language of one's own, all that there are. */
static const char *const *options_of_backend(heddle_arena *arena, const heddle_manifest *manifest)
{
	const char **list = NULL;
	int n = 0;
	for (const heddle_compiler *const *c = heddle_compilers; *c; c++)
		if (strcmp((*c)->backend, manifest->backend) == 0)
			return heddle_manifest_options(arena, manifest, (*c)->options, NULL);
	for (int i = 0; i < manifest->n_option_set; i++)
		if (strcmp(manifest->option_set[i].name, "host") != 0)
			heddle_option_words(arena, &manifest->option_set[i], &list, &n);
	HEDDLE_PUSH(arena, list, n, NULL);
	return list;
}

/* What the command printed, as findings. */
static void blame(heddle_run *run, const char *kind, const heddle_process *process)
{
	heddle_text log = { 0 };
	heddle_faults faults = { 0 };
	heddle_text_printf(&log, "%s%s", heddle_text_str(&process->error), heddle_text_str(&process->output));
	if (!log.length)
		heddle_process_describe(process, &log);
	heddle_log_errors(run->arena, heddle_text_str(&log), run->source, run->source_path, &faults);
	for (int i = 0; i < faults.n; i++)
		heddle_run_finding(run, kind, faults.fault[i].file, faults.fault[i].line, faults.fault[i].text);
	run->verdict = HEDDLE_FAIL;
	heddle_text_free(&log);
}

/* The number behind `key=` in a line; -1: there is none. */
static int number_after(const char *line, size_t length, const char *key)
{
	size_t n = strlen(key);
	for (const char *at = line; at + n < line + length; at++)
		if ((at == line || isspace((unsigned char)at[-1])) && strncmp(at, key, n) == 0 && isdigit((unsigned char)at[n]))
			return (int)strtol(at + n, NULL, 10);
	return -1;
}

/* Lines "heddle: kernel=NAME registers=40 spill_bytes=0 stack_bytes=0 shared_bytes=1024" of a compiler that says such things. */
static void take_resources(heddle_run *run, const char *arch, const char *log)
{
	static const char mark[] = "heddle: kernel=";
	for (const char *line = log; (line = strstr(line, mark)); line++) {
		if (line > log && line[-1] != '\n')
			continue;
		size_t length = strcspn(line, "\n");
		const char *name = line + sizeof(mark) - 1;
		heddle_kernel_resources k = {
			.kernel = heddle_arena_strndup(run->arena, name, strcspn(name, " \t\n")),
			.registers = number_after(line, length, "registers="),
			.spill_bytes = number_after(line, length, "spill_bytes="),
			.stack_bytes = number_after(line, length, "stack_bytes="),
			.shared_bytes = number_after(line, length, "shared_bytes="),
			.library_stack = number_after(line, length, "library_stack_bytes="),
		};
		if (k.library_stack < 0)
			k.library_stack = 0;
		heddle_compile_judge(run, arch, &k);
	}
}

/* Run one of the descriptor's commands over the source in `work`.  *ran says whether it ended well. */
static int command_in(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor, const heddle_command *command,
		      const char *work, const char *output, const char *kind, bool *ran)
{
	const char *dot = run->manifest->source ? strrchr(run->manifest->source, '.') : NULL;
	const placeholders p = {
		.source = heddle_arena_printf(run->arena, "%s/kernel%s", work, dot ? dot : ""),
		.output = output,
		.arch = descriptor->compile_arch ? descriptor->compile_arch : "",
		.option = options_of_backend(run->arena, run->manifest),
	};
	*ran = false;
	const char *const *argv = command_line(ctx, run->arena, command, &p);
	if (!argv || heddle_file_write(ctx, p.source, run->source, strlen(run->source)) != 0)
		return -1;
	if (!argv[0] || !heddle_process_find(run->arena, argv[0])) {
		run->verdict = HEDDLE_MISSING;
		run->message = heddle_arena_printf(run->arena, "%s, a command of the descriptor %s, is not there",
						   argv[0] ? argv[0] : "nothing", descriptor->name);
		return 0;
	}
	heddle_process process = { .argv = argv, .timeout = run->timeout > 0 ? run->timeout : 60 };
	int status = heddle_process_run(ctx, &process);
	if (status == 0 && process.status != 0)
		blame(run, process.timed_out ? "timeout" : process.signal ? "crash" : kind, &process);
	*ran = status == 0 && process.status == 0;
	if (*ran && command == &descriptor->compiler) {
		take_resources(run, *p.arch ? p.arch : descriptor->name, heddle_text_str(&process.output));
		take_resources(run, *p.arch ? p.arch : descriptor->name, heddle_text_str(&process.error));
	}
	if (status == 0)
		heddle_compile_summarise(run, argv[0], p.arch);
	heddle_process_free(&process);
	return status;
}

const heddle_descriptor *heddle_manifest_descriptor(heddle_ctx *ctx, const heddle_manifest *manifest)
{
	bool clean = heddle_diagnostics(ctx) == NULL;
	const heddle_descriptor *d = manifest->arch && *manifest->arch ? heddle_descriptor_find(ctx, manifest->arch) : NULL;
	if (!d && clean)
		heddle_diagnostics_clear(ctx);
	return d;
}

bool heddle_command_named(heddle_ctx *ctx, const heddle_manifest *manifest, bool runner)
{
	const heddle_descriptor *d = heddle_manifest_descriptor(ctx, manifest);
	return d && (runner ? d->runner.n : d->compiler.n) > 0;
}

static void none(heddle_run *run, const char *key)
{
	run->verdict = HEDDLE_MISSING;
	run->message = heddle_arena_printf(run->arena, "the descriptor %s names no command of its own: the key `%s` adds one",
					   run->manifest->arch ? run->manifest->arch : "(none)", key);
}

int heddle_command_compile(heddle_ctx *ctx, heddle_run *run)
{
	char work[512];
	bool ran;
	const heddle_descriptor *descriptor = heddle_manifest_descriptor(ctx, run->manifest);
	heddle_run_begin(run);
	if (!descriptor || descriptor->compiler.n == 0) {
		none(run, "compiler");
		return 0;
	}
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = command_in(ctx, run, descriptor, &descriptor->compiler, work,
				heddle_arena_printf(run->arena, "%s/kernel.out", work), "compile", &ran);
	heddle_dir_remove(work);
	return status;
}

/* ---- the runner ------------------------------------------------------------------------------------------------------------ */

static const char *array_path(const heddle_run *run, int i, const char *work)
{
	return heddle_arena_printf(run->arena, "%s/%s.npy", work, run->manifest->argument[i].name);
}

/* The manifest with the sizes of this run, and every array. */
static int write_run(heddle_ctx *ctx, heddle_run *run, const char *work)
{
	heddle_manifest manifest = *heddle_run_variant(run, NULL); /* a runner of one's own need not know variants */
	heddle_text json = { 0 };
	manifest.size = HEDDLE_NEW_ARRAY(run->arena, heddle_manifest_size, manifest.n_size + 1);
	for (int i = 0; i < manifest.n_size; i++) {
		manifest.size[i] = run->manifest->size[i];
		manifest.size[i].min = manifest.size[i].max = run->size[i];
	}
	heddle_manifest_print(&manifest, &json);
	int status = heddle_file_write(ctx, heddle_arena_printf(run->arena, "%s/manifest.json", work), heddle_text_str(&json),
				       json.length);
	if (status == 0) {
		heddle_text_clear(&json);
		heddle_text_printf(&json, "{\"repeat\": %d, \"timeout\": %g, \"seed\": %lld}\n", run->repeat,
				   run->timeout > 0 ? run->timeout : 60, (long long)(run->seed & INT64_MAX));
		status = heddle_file_write(ctx, heddle_arena_printf(run->arena, "%s/run.json", work), heddle_text_str(&json),
					   json.length);
	}
	heddle_text_free(&json);
	for (int i = 0; i < manifest.n_argument && status == 0; i++)
		if (run->argument[i] && heddle_npy_write(ctx, array_path(run, i, work), run->argument[i]) < 0)
			status = -1;
	return status;
}

static bool same_shape(const heddle_array *a, const heddle_array *b)
{
	bool same = a->rank == b->rank;
	for (int d = 0; d < a->rank && same; d++)
		same = a->shape[d] == b->shape[d];
	return same;
}

/* The results from their files into the run's arrays, which may have strides. */
static int read_results(heddle_ctx *ctx, heddle_run *run, const char *work)
{
	for (int i = 0; i < run->manifest->n_argument; i++) {
		const heddle_argument *a = &run->manifest->argument[i];
		heddle_array *to = run->argument[i];
		if (!to || (a->role != HEDDLE_ARGUMENT_OUTPUT && a->role != HEDDLE_ARGUMENT_INOUT))
			continue;
		heddle_array *from = heddle_npy_read(ctx, array_path(run, i, work), (int)to->type);
		if (!from)
			return -1;
		size_t element = (size_t)heddle_type_size(to->type);
		bool same = same_shape(from, to);
		for (int64_t n = 0; same && n < heddle_array_count(to); n++)
			memcpy(to->data + (size_t)heddle_array_offset(to, n) * element,
			       from->data + (size_t)heddle_array_offset(from, n) * element, element);
		heddle_array_free(from);
		if (!same)
			return heddle_error(ctx, 802, NULL, "the runner left %s in another shape", a->name);
	}
	return 0;
}

/* What a runner that knows more than "it ran" left in answer.json: a verdict, findings, times. */
static int read_answer(heddle_ctx *ctx, heddle_run *run, const char *work)
{
	const char *path = heddle_arena_printf(run->arena, "%s/answer.json", work), *why;
	FILE *there = fopen(path, "r");
	if (!there)
		return 0;
	fclose(there);
	size_t length;
	char *text = heddle_file_read(ctx, path, &length);
	if (!text)
		return -1;
	const char *message = run->message;
	int status = heddle_wire_read_answer(run, 0, text, length, false, &why);
	free(text);
	if (!run->message)
		run->message = message;
	return status == 0 ? 0 : heddle_error(ctx, 802, NULL, "answer.json of the runner: %s", why);
}

static int run_in_folder(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor)
{
	char work[512];
	bool ran = false;
	if (run->misalign) {
		run->verdict = HEDDLE_UNSUPPORTED;
		run->message = "a runner over a folder places its arrays itself";
		return 0;
	}
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = write_run(ctx, run, work);
	if (status == 0)
		status = command_in(ctx, run, descriptor, &descriptor->runner, work, work, "crash", &ran);
	if (status == 0 && ran)
		status = read_answer(ctx, run, work);
	if (status == 0 && ran && run->verdict == HEDDLE_PASS)
		status = read_results(ctx, run, work);
	heddle_dir_remove(work);
	return status;
}

/* ---- the runner that stays ------------------------------------------------------------------------------------------------------ */

/* Seconds beyond a run's own limit for the answer, also to hello. */
enum { GRACE = 3 };

static double limit_of(const heddle_run *run) { return (run->timeout > 0 ? run->timeout : 60) + GRACE; }

/* The runner of one descriptor, in a list at the context. */
typedef struct resident {
	const char *key;   /* its command */
	heddle_peer *peer; /* NULL: it died, or was not started yet */
	const char *name;  /* as it calls itself */
	const char *silent; /* why it did not say hello: it is not asked again; NULL: it did, or was not asked */
	int64_t requests;
	struct resident *next;
} resident;

typedef struct residents {
	resident *first;
} residents;

static void end_residents(void *data)
{
	for (resident *r = ((residents *)data)->first; r; r = r->next)
		r->peer = heddle_peer_free(r->peer);
}

static resident *resident_of(heddle_ctx *ctx, const char *const *argv)
{
	heddle_arena *arena = heddle_ctx_arena(ctx);
	residents *all = heddle_ctx_attached(ctx, "residents");
	const char *key = "";
	if (!all) {
		all = HEDDLE_NEW(arena, residents);
		heddle_ctx_attach(ctx, "residents", all, end_residents);
	}
	for (const char *const *word = argv; *word; word++)
		key = heddle_arena_printf(arena, "%s%s\n", key, *word);
	for (resident *r = all->first; r; r = r->next)
		if (!strcmp(r->key, key))
			return r;
	resident *r = HEDDLE_NEW(arena, resident);
	r->key = key;
	r->next = all->first;
	all->first = r;
	return r;
}

/* Start it when it is not there; false: the run's message says why it cannot be. */
static bool make_ready(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor, const char *const *argv, resident *r)
{
	const char *why = r->silent;
	heddle_text line = { 0 }, answer = { 0 };
	if (r->peer && !heddle_peer_is_ours(r->peer))
		r->peer = NULL; /* the parent's: it goes on with it */
	if (r->peer)
		return true;
	if (!why && !heddle_process_find(run->arena, argv[0]))
		why = "it is not there";
	else if (!why && !(r->peer = heddle_peer_start(ctx, argv)))
		why = "it cannot be started";
	if (!why) {
		heddle_wire_hello(&line);
		if (heddle_peer_ask(r->peer, run->arena, heddle_text_str(&line), line.length, limit_of(run), &answer, &why) == 0)
			r->name = heddle_wire_read_greeting(heddle_ctx_arena(ctx), heddle_text_str(&answer), answer.length, &why);
	}
	heddle_text_free(&line);
	heddle_text_free(&answer);
	if (!why)
		return true;
	r->peer = heddle_peer_free(r->peer);
	r->silent = heddle_arena_strdup(heddle_ctx_arena(ctx), why);
	run->verdict = HEDDLE_MISSING;
	run->message = heddle_arena_printf(run->arena, "%s, the runner of the descriptor %s, does not say hello: %s", argv[0],
					   descriptor->name, why);
	return false;
}

static int run_in_lines(heddle_ctx *ctx, heddle_run *run, const heddle_descriptor *descriptor)
{
	const char *const none_of[] = { NULL };
	const placeholders p = { .source = "", .output = "", .arch = descriptor->compile_arch ? descriptor->compile_arch : "",
				 .option = none_of };
	const char *const *argv = command_line(ctx, run->arena, &descriptor->runner, &p);
	if (!argv)
		return -1;
	resident *r = resident_of(ctx, argv);
	if (!make_ready(ctx, run, descriptor, argv, r))
		return 0;
	heddle_text line = { 0 }, answer = { 0 };
	const char *why = NULL;
	int status = 0;
	int64_t number = ++r->requests;
	heddle_wire_request(run, number, &line);
	if (heddle_peer_ask(r->peer, run->arena, heddle_text_str(&line), line.length, limit_of(run), &answer, &why) != 0) {
		heddle_run_finding(run, strncmp(why, "no answer", 9) ? "crash" : "timeout", run->source_path, 0, why);
		run->verdict = HEDDLE_FAIL;
		run->message = heddle_arena_printf(run->arena, "%s: %s", r->name, why);
		r->peer = heddle_peer_free(r->peer); /* the next run starts it again */
	} else if (heddle_wire_read_answer(run, number, heddle_text_str(&answer), answer.length, true, &why) != 0) {
		status = heddle_error(ctx, 802, NULL, "the runner %s: %s", r->name, why);
		r->peer = heddle_peer_free(r->peer);
	} else if (!run->message) {
		run->message = heddle_arena_printf(run->arena, "ran on %s", r->name);
	}
	heddle_text_free(&line);
	heddle_text_free(&answer);
	return status;
}

int heddle_command_run(heddle_ctx *ctx, heddle_run *run)
{
	const heddle_descriptor *descriptor = heddle_manifest_descriptor(ctx, run->manifest);
	heddle_run_begin(run);
	if (!descriptor || descriptor->runner.n == 0) {
		none(run, "runner");
		return 0;
	}
	return descriptor->runner_lines ? run_in_lines(ctx, run, descriptor) : run_in_folder(ctx, run, descriptor);
}
