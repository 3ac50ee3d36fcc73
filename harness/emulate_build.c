/* From text to a shared object with access hooks: compile, cache, list its variables, find lines.
 * SPDX-License-Identifier: MIT
 */
#include "base/process.h"
#include "harness/command.h"
#include "harness/emulate.h"
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const compile_flags[] = {
	"-std=c++17", "-g", "-O1", "-fPIC", "-w", "-fno-strict-aliasing", "-fwrapv", "-fno-threadsafe-statics", "-ffp-contract=off",
};

const char *heddle_emulate_compiler(heddle_arena *arena)
{
	const char *chosen = getenv("CXX");
	if (chosen && *chosen)
		return heddle_process_find(arena, chosen);
	static const char *const known[] = {"g++", "clang++", "c++"};
	const char *path = NULL;
	for (size_t i = 0; i < HEDDLE_COUNT(known) && !path; i++)
		path = heddle_process_find(arena, known[i]);
	return path;
}

/* ---- the unit ------------------------------------------------------------------------------------------------------------- */

static int print_bound(int n, const heddle_manifest_launch *launch, heddle_text *out)
{
	for (int i = 0; i < n; i++)
		heddle_text_printf(out, "heddle_emu_bound(\"%s\", &%s),\n", launch[i].kernel, launch[i].kernel);
	return n;
}

/* The kernels of all variants, in order, then the manifest's own. */
static void print_unit(const heddle_run *run, heddle_text *out)
{
	const heddle_manifest *m = run->manifest;
	heddle_text_printf(out, "#include \"core.h\"\n%s", heddle_emulated_find(m->backend)->begin);
	heddle_text_add(out, "#line 1 \"" HEDDLE_EMULATE_SOURCE "\"\n");
	heddle_emulate_rewrite(run->source, out);
	heddle_text_add(out, "\n#line 1 \"" HEDDLE_EMULATE_LAUNCHER "\"\nstatic const heddle_emu_kernel heddle_emu_kernels[] = {\n");
	int n = 0;
	for (int v = 0; v < m->n_variant; v++)
		n += print_bound(m->variant[v].n_launch, m->variant[v].launch, out);
	n += print_bound(m->n_launch, m->launch, out);
	heddle_text_printf(out,
		"};\nextern \"C\" { extern const heddle_emu_object heddle_emu_this; "
		"const heddle_emu_object heddle_emu_this = {&heddle_emu, %d, heddle_emu_kernels, heddle_dynamic_shared, "
		"sizeof(heddle_dynamic_shared)}; }\n", n);
}

/* Options of the manifest that mean something to a host compiler: defines and include paths. */
static void user_options(heddle_arena *arena, const heddle_run *run, const char ***argv, int *n)
{
	const heddle_manifest *m = run->manifest;
	const heddle_option_set set = heddle_manifest_option_set(m, heddle_emulated_find(m->backend)->options);
	const char *slash = m->path ? strrchr(m->path, '/') : NULL;
	int n_flag;
	const char **flag = heddle_manifest_flags(arena, m, NULL, &n_flag);
	for (int i = 0; i < n_flag; i++)
		HEDDLE_PUSH(arena, *argv, *n, flag[i]);
	for (int i = 0; i < set.n; i++) {
		const char *o = set.option[i];
		if (!strncmp(o, "--define-macro=", 15))
			HEDDLE_PUSH(arena, *argv, *n, heddle_arena_printf(arena, "-D%s", o + 15));
		else if (!strncmp(o, "-I", 2) && o[2] && o[2] != '/' && slash)
			HEDDLE_PUSH(arena, *argv, *n,
				    heddle_arena_printf(arena, "-I%.*s/%s", (int)(slash - m->path), m->path, o + 2));
		else if (!strncmp(o, "-D", 2) || !strncmp(o, "-U", 2) || !strncmp(o, "-I", 2))
			HEDDLE_PUSH(arena, *argv, *n, o);
	}
	/* `#include "..."` is looked up beside the source, which a manifest names from its own folder. */
	const char *source = run->source_path ? run->source_path : "";
	if (slash && *source != '/' && m->source && !strcmp(source, m->source))
		source = heddle_arena_printf(arena, "%.*s/%s", (int)(slash - m->path), m->path, source);
	const char *end = strrchr(source, '/');
	HEDDLE_PUSH(arena, *argv, *n, "-iquote");
	HEDDLE_PUSH(arena, *argv, *n, end ? heddle_arena_strndup(arena, source, (size_t)(end - source) + 1) : ".");
}

static int write_shim(heddle_ctx *ctx, heddle_arena *arena, const char *folder)
{
	static const char *const files[] = {"abi.h", "core.h", "half.h"};
	for (size_t i = 0; i < HEDDLE_COUNT(files); i++) {
		const char *path = heddle_arena_printf(arena, "backends/emulator/%s", files[i]);
		const heddle_embedded *file = heddle_embedded_find(path);
		if (!file)
			return heddle_error(ctx, 950, NULL, "%s is not in the binary", path);
		if (heddle_file_write(ctx, heddle_arena_printf(arena, "%s/%s", folder, files[i]), file->data, file->length) < 0)
			return -1;
	}
	for (const heddle_emulated_header *header = heddle_emulated_headers; header->name; header++) {
		const char *path = heddle_arena_printf(arena, "%s/%s", folder, header->name), *slash = strrchr(path, '/');
		if (heddle_dir_make(ctx, heddle_arena_strndup(arena, path, (size_t)(slash - path))) < 0 ||
		    heddle_file_write(ctx, path, header->text, strlen(header->text)) < 0)
			return -1;
	}
	return 0;
}

/* ---- the cache ------------------------------------------------------------------------------------------------------------ */

static void mix(uint64_t hash[2], const void *data, size_t n)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < n; i++) {
		hash[0] = (hash[0] ^ p[i]) * UINT64_C(0x100000001b3);
		hash[1] = (hash[1] + p[i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
		hash[1] ^= hash[1] >> 29;
	}
	hash[0] ^= n;
	hash[1] += n * UINT64_C(0xff51afd7ed558ccd);
}

static void mix_string(uint64_t hash[2], const char *s)
{
	mix(hash, s, strlen(s) + 1);
}

/* A folder of our own where objects are kept; NULL: none.  One that others can write to is not trusted: what is loaded from
 * it runs. */
static const char *cache_folder(heddle_ctx *ctx, heddle_arena *arena)
{
	const char *off = getenv("HEDDLE_CACHE"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (off && !strcmp(off, "off"))
		return NULL;
	const char *folder = base && *base == '/' ? heddle_arena_printf(arena, "%s/heddle/emulate", base) :
			     home && *home == '/' ? heddle_arena_printf(arena, "%s/.cache/heddle/emulate", home) :
						    heddle_arena_printf(arena, "/tmp/heddle-%u", (unsigned)getuid());
	struct stat s;
	if (lstat(folder, &s) != 0) {
		char *slash = strrchr(folder, '/');
		const char *parent = heddle_arena_strndup(arena, folder, (size_t)(slash - folder));
		if (access(parent, W_OK) != 0) {
			heddle_ctx *quiet = heddle_ctx_new();
			int made = heddle_dir_make(quiet, parent);
			heddle_ctx_free(quiet);
			if (made < 0)
				return NULL;
		}
		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			return NULL;
		if (lstat(folder, &s) != 0)
			return NULL;
	}
	(void)ctx;
	return S_ISDIR(s.st_mode) && s.st_uid == getuid() && !(s.st_mode & 022) ? folder : NULL;
}

static const char *cache_path(heddle_ctx *ctx, heddle_arena *arena, const char *compiler, const char *const *argv,
			      const char *unit, const char *source)
{
	/* Text that reads other files of the user would need those in the key. */
	const char *folder = strstr(source, "#include \"") || strstr(source, "#  include \"") ? NULL : cache_folder(ctx, arena);
	struct stat s;
	if (!folder || stat(compiler, &s) != 0)
		return NULL;
	uint64_t hash[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x51ed270b27b4f3cf)};
	mix_string(hash, compiler);
	mix(hash, &s.st_size, sizeof(s.st_size));
	mix(hash, &s.st_mtime, sizeof(s.st_mtime));
	for (int i = 0; argv[i]; i++)
		mix_string(hash, argv[i]);
	mix_string(hash, unit);
	for (const heddle_embedded *f = heddle_embedded_files; f->path; f++)
		if (!strncmp(f->path, "backends/emulator/", 18))
			mix(hash, f->data, f->length);
	return heddle_arena_printf(arena, "%s/%016llx%016llx.so", folder, (unsigned long long)hash[0],
				   (unsigned long long)hash[1]);
}

/* ---- names of files ---------------------------------------------------------------------------------------------------------- */

bool heddle_emulate_is_shim(const char *name)
{
	static const char *const own[] = {"core.h", "half.h", HEDDLE_EMULATE_LAUNCHER};
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	bool is_own = false;
	for (size_t i = 0; i < HEDDLE_COUNT(own); i++)
		is_own = is_own || !strcmp(base, own[i]);
	return is_own;
}

const char *heddle_emulate_file(heddle_arena *arena, const char *name, const char *source_path)
{
	if (!strncmp(name, "./", 2))
		name += 2;
	const char *slash = strrchr(name, '/');
	if (!strcmp(slash ? slash + 1 : name, HEDDLE_EMULATE_SOURCE))
		return source_path;
	return heddle_arena_strdup(arena, name);
}

/* ---- variables of the object ---------------------------------------------------------------------------------------------------- */

/* "_ZZ4kernE1s" and "_ZZ4kernE1s_0" -> "s"; other names as they are. */
static const char *plain_name(heddle_arena *arena, const char *name)
{
	if (strncmp(name, "_Z", 2))
		return heddle_arena_strdup(arena, name);
	for (const char *p = name + strlen(name); p > name + 2; p--) {
		if (!isdigit((unsigned char)*p) || isdigit((unsigned char)p[-1]))
			continue;
		char *end;
		unsigned long n = strtoul(p, &end, 10);
		size_t left = strlen(end);
		if (n && (n == left || (n < left && (end[n] == '_' || end[n] == 'E'))))
			return heddle_arena_strndup(arena, end, n);
	}
	return heddle_arena_strdup(arena, name);
}

static int by_offset(const void *a, const void *b)
{
	const heddle_emulate_variable *x = a, *y = b;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void list_variables(heddle_arena *arena, const unsigned char *image, size_t length, heddle_emulate_build *build)
{
	const Elf64_Ehdr *header = (const void *)image;
	if (length < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64)
		return;
	const Elf64_Shdr *section = (const void *)(image + header->e_shoff);
	const char *section_names = (const char *)image + section[header->e_shstrndx].sh_offset;
	for (int k = 0; k < header->e_shnum; k++) {
		if (section[k].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbol = (const void *)(image + section[k].sh_offset);
		const char *names = (const char *)image + section[section[k].sh_link].sh_offset;
		for (size_t i = 0; i < section[k].sh_size / sizeof(*symbol); i++) {
			const Elf64_Sym *s = &symbol[i];
			const char *name = names + s->st_name;
			if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || !s->st_size || s->st_shndx >= header->e_shnum ||
			    !(section[s->st_shndx].sh_flags & SHF_WRITE) || strstr(name, HEDDLE_EMULATE_GUARD) ||
			    !strncmp(name, "heddle_", 7) || !strncmp(name, "_ZL10heddle_emu", 15) ||
			    !strncmp(name, "_ZL18heddle_emu_kernels", 23))
				continue;
			const char *in = section_names + section[s->st_shndx].sh_name;
			heddle_emulate_variable v = {
				.name = plain_name(arena, name),
				.offset = s->st_value,
				.size = s->st_size,
				/* Variables of templates keep out of named sections (g++ bug 41091): any static variable of a
				 * function is taken for shared. */
				.shared = !strncmp(in, "heddle_shared", 13) || !strncmp(name, "_ZZ", 3),
				/* g++ asks once whether arrays of classes are constructed, even where nothing is to do. */
				.flag = !strncmp(name, "_ZGV", 4),
			};
			HEDDLE_PUSH(arena, build->variable, build->n_variable, v);
		}
	}
	if (build->n_variable)
		qsort(build->variable, (size_t)build->n_variable, sizeof(*build->variable), by_offset);
}

/* ---- compiling ------------------------------------------------------------------------------------------------------------------- */

static int run_tool(heddle_ctx *ctx, heddle_arena *arena, const char *const *argv, const heddle_run *run,
		    heddle_emulate_build *build)
{
	static const char *const environment[] = {"LC_ALL=C", "LANGUAGE=C", NULL};
	heddle_process p = {.argv = argv, .environment = environment, .timeout = 120};
	if (heddle_process_run(ctx, &p) < 0)
		return -1;
	if (p.status != 0) {
		if (p.timed_out || p.signal) {
			heddle_text why = {0};
			heddle_process_describe(&p, &why);
			build->verdict = HEDDLE_UNSUPPORTED;
			build->message = heddle_arena_printf(arena, "the host compiler: %s", heddle_text_str(&why));
			heddle_text_free(&why);
		} else {
			heddle_emulate_judge(arena, run, heddle_text_str(&p.error), build);
		}
	}
	heddle_process_free(&p);
	return 0;
}

static int compile_unit(heddle_ctx *ctx, const heddle_run *run, const char *compiler, const char **options, int n_option,
			const char *unit, heddle_emulate_build *build)
{
	heddle_arena *arena = run->arena;
	const char *folder = build->folder, *source = heddle_arena_printf(arena, "%s/unit.cpp", folder);
	const char *object = heddle_arena_printf(arena, "%s/unit.o", folder);
	if (write_shim(ctx, arena, folder) < 0 || heddle_file_write(ctx, source, unit, strlen(unit)) < 0)
		return -1;
	const char **argv = NULL;
	int n = 0;
	HEDDLE_PUSH(arena, argv, n, compiler);
	for (int i = 0; i < n_option; i++)
		HEDDLE_PUSH(arena, argv, n, options[i]);
	HEDDLE_PUSH(arena, argv, n, heddle_arena_printf(arena, "-I%s", folder));
	HEDDLE_PUSH(arena, argv, n, heddle_arena_printf(arena, "-fdebug-prefix-map=%s=.", folder));
	HEDDLE_PUSH(arena, argv, n, "-c");
	HEDDLE_PUSH(arena, argv, n, source);
	HEDDLE_PUSH(arena, argv, n, "-o");
	HEDDLE_PUSH(arena, argv, n, object);
	HEDDLE_PUSH(arena, argv, n, (const char *)NULL);
	if (run_tool(ctx, arena, argv, run, build) < 0)
		return -1;
	if (build->verdict != HEDDLE_PASS)
		return 0;
	const char *const link[] = {compiler, "-shared", "-Wl,-Bsymbolic", "-Wl,-z,now", "-o", build->path, object, "-lm", NULL};
	return run_tool(ctx, arena, link, run, build);
}

int heddle_emulate_compile(heddle_ctx *ctx, const heddle_run *run, heddle_emulate_build *build)
{
	heddle_arena *arena = run->arena;
	memset(build, 0, sizeof(*build));
	const char *compiler = heddle_emulate_compiler(arena);
	if (!compiler) {
		build->verdict = HEDDLE_MISSING;
		build->message = "no C++ compiler: `apt-get install -y g++`, or set CXX";
		return 0;
	}
	const heddle_emulated *emulated = heddle_emulated_find(run->manifest->backend);
	if (!emulated) {
		build->verdict = HEDDLE_UNSUPPORTED;
		build->message = heddle_arena_printf(arena, "text of the backend `%s`", run->manifest->backend);
		return 0;
	}
	const char **options = NULL;
	int n_option = 0;
	for (size_t i = 0; i < HEDDLE_COUNT(compile_flags); i++)
		HEDDLE_PUSH(arena, options, n_option, compile_flags[i]);
	HEDDLE_PUSH(arena, options, n_option, heddle_arena_printf(arena, "-DHEDDLE_WARP=%d", run->manifest->warp));
	if (emulated->flag)
		HEDDLE_PUSH(arena, options, n_option, emulated->flag);
	const heddle_descriptor *chip = heddle_manifest_descriptor(ctx, run->manifest);
	for (int i = 0; chip && i < chip->n_define; i++)
		HEDDLE_PUSH(arena, options, n_option, heddle_arena_printf(arena, "-D%s", chip->define[i]));
	bool clang = strstr(compiler, "clang") != NULL;
	if (clang) { /* else `x += y` shows its write only */
		HEDDLE_PUSH(arena, options, n_option, "-mllvm");
		HEDDLE_PUSH(arena, options, n_option, "-tsan-instrument-read-before-write=1");
	}
	if (!clang) /* unique symbols keep an object, and its variables, from being unloaded */
		HEDDLE_PUSH(arena, options, n_option, "-fno-gnu-unique");
	HEDDLE_PUSH(arena, options, n_option,
		    clang ? "-fsanitize=thread,alignment,array-bounds,integer-divide-by-zero" :
			    "-fsanitize=thread,alignment,bounds,integer-divide-by-zero");
	user_options(arena, run, &options, &n_option);
	int n_key = n_option;
	HEDDLE_PUSH(arena, options, n_key, (const char *)NULL);
	heddle_text unit = {0};
	print_unit(run, &unit);
	const char *kept = cache_path(ctx, arena, compiler, options, heddle_text_str(&unit), run->source);
	int failed = 0;
	if (kept && access(kept, R_OK) == 0) {
		snprintf(build->path, sizeof(build->path), "%s", kept);
	} else if (heddle_dir_temporary(ctx, build->folder) < 0) {
		failed = -1;
	} else {
		snprintf(build->path, sizeof(build->path), "%s/unit.so", build->folder);
		if (kept)
			snprintf(build->path, sizeof(build->path), "%s.%ld.new", kept, (long)getpid());
		failed = compile_unit(ctx, run, compiler, options, n_option, heddle_text_str(&unit), build);
		if (kept && failed == 0 && build->verdict == HEDDLE_PASS && rename(build->path, kept) == 0)
			snprintf(build->path, sizeof(build->path), "%s", kept);
		else if (kept)
			remove(build->path);
		if (kept || failed || build->verdict != HEDDLE_PASS) {
			heddle_dir_remove(build->folder);
			build->folder[0] = 0;
		}
	}
	heddle_text_free(&unit);
	if (failed || build->verdict != HEDDLE_PASS)
		return failed;
	size_t length = 0;
	char *image = heddle_file_read(ctx, build->path, &length);
	if (!image)
		return -1;
	list_variables(arena, (const unsigned char *)image, length, build);
	free(image);
	return 0;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------------------- */

/* What surrounds the source in the file that is compiled. */
static bool is_unit(const char *frame, const char *source_path)
{
	static const char unit[] = "unit.cpp";
	const char *slash = strrchr(frame, '/'), *own = source_path ? strrchr(source_path, '/') : NULL;
	own = own ? own + 1 : source_path;
	return !strcmp(slash ? slash + 1 : frame, unit) && (!own || strcmp(own, unit) != 0);
}

void heddle_emulate_lines(heddle_ctx *ctx, heddle_arena *arena, const heddle_emulate_build *build, const char *source_path,
			  int n, const uint64_t *offset, const char **file, int *line)
{
	for (int i = 0; i < n; i++) {
		file[i] = NULL;
		line[i] = 0;
	}
	const char *tool = heddle_process_find(arena, "addr2line");
	if (!tool)
		tool = heddle_process_find(arena, "llvm-addr2line");
	if (!tool || !n)
		return;
	const char **argv = NULL;
	int n_arg = 0;
	HEDDLE_PUSH(arena, argv, n_arg, tool);
	HEDDLE_PUSH(arena, argv, n_arg, "-a");
	HEDDLE_PUSH(arena, argv, n_arg, "-i");
	HEDDLE_PUSH(arena, argv, n_arg, "-e");
	HEDDLE_PUSH(arena, argv, n_arg, build->path);
	for (int i = 0; i < n; i++) /* the call, not what follows it */
		HEDDLE_PUSH(arena, argv, n_arg, heddle_arena_printf(arena, "0x%llx", (unsigned long long)offset[i] - 1));
	HEDDLE_PUSH(arena, argv, n_arg, (const char *)NULL);
	heddle_process p = {.argv = argv};
	if (heddle_process_run(ctx, &p) < 0)
		return;
	int at = -1;
	for (const char *text = heddle_text_str(&p.output); *text;) {
		size_t length = strcspn(text, "\n");
		char *frame = heddle_arena_strndup(arena, text, length);
		text += length + (text[length] == '\n');
		if (!strncmp(frame, "0x", 2)) {
			at++;
			continue;
		}
		char *colon = strrchr(frame, ':');
		if (at < 0 || at >= n || !colon || file[at])
			continue;
		*colon = 0;
		int number = atoi(colon + 1);
		if (number <= 0 || heddle_emulate_is_shim(frame) || is_unit(frame, source_path))
			continue; /* the shim's own: the frame that it was inlined into follows */
		file[at] = heddle_emulate_file(arena, frame, source_path);
		line[at] = number;
	}
	heddle_process_free(&p);
}
