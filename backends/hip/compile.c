/* Compiling HIP text without a GPU: clang with the vendor's device libraries, and hiprtc; resources from the code object.
 * SPDX-License-Identifier: MIT
 */
#include "backends/hip/hip.h"
#include "base/process.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- metadata: MessagePack in an ELF note --------------------------------------------------------------------------- */

/* A reader over MessagePack; `bad` once the data ends too early or holds what the note never does. */
typedef struct packed {
	const unsigned char *at, *end;
	bool bad;
	int depth;
} packed;

typedef struct packed_value {
	enum { PACKED_OTHER, PACKED_INTEGER, PACKED_STRING, PACKED_ARRAY, PACKED_MAP } kind;
	uint64_t number; /* or length in members */
	const char *text;
} packed_value;

static uint64_t big_endian(packed *p, int bytes)
{
	uint64_t value = 0;
	if (p->end - p->at < bytes) {
		p->bad = true;
		return 0;
	}
	for (int i = 0; i < bytes; i++)
		value = value << 8 | *p->at++;
	return value;
}

static packed_value string_of(packed *p, uint64_t length)
{
	packed_value v = { PACKED_STRING, length, (const char *)p->at };
	if ((uint64_t)(p->end - p->at) < length) {
		p->bad = true;
		return (packed_value){ 0 };
	}
	p->at += length;
	return v;
}

/* The next token; members of arrays and maps follow as tokens of their own. */
static packed_value next_value(packed *p)
{
	unsigned char tag = (unsigned char)big_endian(p, 1);
	if (p->bad)
		return (packed_value){ 0 };
	if (tag < 0x80)
		return (packed_value){ PACKED_INTEGER, tag, NULL };
	if (tag < 0x90)
		return (packed_value){ PACKED_MAP, tag & 0xfu, NULL };
	if (tag < 0xa0)
		return (packed_value){ PACKED_ARRAY, tag & 0xfu, NULL };
	if (tag < 0xc0)
		return string_of(p, tag & 0x1fu);
	if (tag >= 0xe0)
		return (packed_value){ PACKED_INTEGER, (uint64_t)(int64_t)(signed char)tag, NULL };
	switch (tag) {
	case 0xc0: /* nil */
	case 0xc2: /* false */
		return (packed_value){ PACKED_OTHER, 0, NULL };
	case 0xc3: /* true */
		return (packed_value){ PACKED_OTHER, 1, NULL };
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return (packed_value){ PACKED_INTEGER, big_endian(p, 1 << (tag - 0xcc)), NULL };
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return (packed_value){ PACKED_INTEGER, big_endian(p, 1 << (tag - 0xd0)), NULL };
	case 0xd9:
	case 0xda:
	case 0xdb:
		return string_of(p, big_endian(p, 1 << (tag - 0xd9)));
	case 0xdc:
	case 0xdd:
		return (packed_value){ PACKED_ARRAY, big_endian(p, 2 << (tag - 0xdc)), NULL };
	case 0xde:
	case 0xdf:
		return (packed_value){ PACKED_MAP, big_endian(p, 2 << (tag - 0xde)), NULL };
	default:
		p->bad = true;
		return (packed_value){ 0 };
	}
}

static void skip_members(packed *p, packed_value v)
{
	uint64_t n = v.kind == PACKED_MAP ? 2 * v.number : v.kind == PACKED_ARRAY ? v.number : 0;
	if (p->depth++ > 32)
		p->bad = true;
	for (uint64_t i = 0; i < n && !p->bad; i++)
		skip_members(p, next_value(p));
	p->depth--;
}

static bool is_key(packed_value v, const char *key)
{
	return v.kind == PACKED_STRING && v.number == strlen(key) && memcmp(v.text, key, v.number) == 0;
}

/* One kernel's map. */
static void read_kernel(heddle_arena *arena, packed *p, uint64_t members, heddle_compiled *out)
{
	heddle_kernel_resources k = { "?", -1, -1, -1, -1, 0 };
	int64_t vector = -1, accumulate = 0, vector_spills = 0;
	for (uint64_t i = 0; i < members && !p->bad; i++) {
		packed_value key = next_value(p), v = next_value(p);
		if (is_key(key, ".name") && v.kind == PACKED_STRING)
			k.kernel = heddle_arena_strndup(arena, v.text, v.number);
		else if (is_key(key, ".vgpr_count"))
			vector = (int64_t)v.number;
		else if (is_key(key, ".agpr_count"))
			accumulate = (int64_t)v.number;
		else if (is_key(key, ".vgpr_spill_count"))
			vector_spills = (int64_t)v.number;
		else if (is_key(key, ".private_segment_fixed_size"))
			k.stack_bytes = (int)v.number;
		else if (is_key(key, ".group_segment_fixed_size"))
			k.shared_bytes = (int)v.number;
		skip_members(p, v);
	}
	/* vgpr_count already counts both files where they are one (gfx90a and later); alone, the greater decides. */
	k.registers = (int)(vector > accumulate ? vector : accumulate);
	/* Spills of scalar registers are not counted: they go to lanes of vector registers, and cost memory only through the
	 * vector registers that they push out. */
	k.spill_bytes = (int)(4 * vector_spills);
	HEDDLE_PUSH(arena, out->kernel, out->n_kernel, k);
}

static void read_metadata(heddle_arena *arena, const unsigned char *data, size_t size, heddle_compiled *out)
{
	packed p = { data, data + size, false, 0 };
	packed_value top = next_value(&p);
	for (uint64_t i = 0; top.kind == PACKED_MAP && i < top.number && !p.bad; i++) {
		packed_value key = next_value(&p), v = next_value(&p);
		if (!is_key(key, "amdhsa.kernels") || v.kind != PACKED_ARRAY) {
			skip_members(&p, v);
			continue;
		}
		for (uint64_t k = 0; k < v.number && !p.bad; k++) {
			packed_value kernel = next_value(&p);
			if (kernel.kind == PACKED_MAP)
				read_kernel(arena, &p, kernel.number, out);
			else
				skip_members(&p, kernel);
		}
	}
}

enum { NOTE_METADATA = 32 };

static size_t aligned4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void read_notes(heddle_arena *arena, const unsigned char *note, size_t size, heddle_compiled *out)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		memcpy(&head, note, sizeof(head));
		size_t name = sizeof(head), data = name + aligned4(head.n_namesz), end = data + aligned4(head.n_descsz);
		if (end > size || data + head.n_descsz > size)
			return;
		if (head.n_type == NOTE_METADATA && head.n_namesz == 7 && memcmp(note + name, "AMDGPU", 7) == 0)
			read_metadata(arena, note + data, head.n_descsz, out);
		note += end;
		size -= end;
	}
}

static void read_elf(heddle_arena *arena, const unsigned char *elf, size_t size, heddle_compiled *out)
{
	Elf64_Ehdr head;
	if (size < sizeof(head))
		return;
	memcpy(&head, elf, sizeof(head));
	for (unsigned i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr section;
		size_t at = head.e_shoff + (size_t)i * head.e_shentsize;
		if (head.e_shoff > size || at + sizeof(section) > size)
			return;
		memcpy(&section, elf + at, sizeof(section));
		if (section.sh_type == SHT_NOTE && section.sh_offset <= size && section.sh_size <= size - section.sh_offset)
			read_notes(arena, elf + section.sh_offset, section.sh_size, out);
	}
}

void heddle_amd_resources(heddle_arena *arena, heddle_compiled *out)
{
	/* An offload bundle begins with its own header; the code object in it starts with ELF's magic. */
	const unsigned char *data = out->binary;
	for (size_t i = 0; data && i + 4 < out->binary_bytes; i++)
		if (memcmp(data + i, "\177ELF", 4) == 0) {
			read_elf(arena, data + i, out->binary_bytes - i, out);
			return;
		}
}

/* ---- hiprtc ---------------------------------------------------------------------------------------------------------- */

static int hiprtc_find(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena, const char **version,
		       const char **why)
{
	(void)ctx;
	heddle_rtc rtc;
	int major = 0, minor = 0;
	if (heddle_rtc_open(&rtc, compiler->words, arena, why) != 0) {
		*why = heddle_arena_printf(arena, "%s: %s", *why, compiler->install);
		return -1;
	}
	rtc.version(&major, &minor);
	*version = heddle_arena_printf(arena, "hiprtc %d.%d", major, minor);
	heddle_rtc_close(&rtc);
	return 0;
}

/* hiprtc 9.0 is ROCm 5.2's: its clang 15 has gfx90a and older only.  Newer ones know more; they say so themselves. */
static int hiprtc_takes(const heddle_compiler *compiler, const char *arch)
{
	static const char *const old[] = { "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1030" };
	if (strncmp(arch, "gfx", 3) != 0)
		return 0;
	for (size_t i = 0; i < HEDDLE_COUNT(old); i++)
		if (strcmp(arch, old[i]) == 0)
			return 1;
	heddle_rtc rtc;
	int major = 0, minor = 0;
	const char *why;
	heddle_arena *arena = heddle_arena_new();
	bool recent = arena && heddle_rtc_open(&rtc, compiler->words, arena, &why) == 0 && rtc.version(&major, &minor) == 0 &&
		      major != 9;
	heddle_arena_free(arena);
	return recent;
}

static int hiprtc_compile(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena,
			  const heddle_source_build *build, heddle_compiled *out)
{
	heddle_rtc rtc;
	const char *why = NULL;
	if (heddle_rtc_open(&rtc, compiler->words, arena, &why) != 0 ||
	    heddle_rtc_compile(&rtc, arena, build, out, NULL, &why) != 0)
		return heddle_error(ctx, 802, NULL, "%s: %s", compiler->name, why);
	heddle_amd_resources(arena, out);
	return 0;
}

static const char *const hiprtc_sample[] = { "gfx90a", NULL };

const heddle_compiler heddle_compiler_hiprtc = {
	.name = "hiprtc",
	.backend = "hip",
	.options = "hipcc",
	.device_only = true,
	.install = "install it (no GPU needed): `apt-get install -y libamdhip64-dev rocm-device-libs`, or ROCm",
	.sample_arch = hiprtc_sample,
	.words = &heddle_hiprtc_words,
	.find = hiprtc_find,
	.takes = hiprtc_takes,
	.compile = hiprtc_compile,
};

/* ---- clang ------------------------------------------------------------------------------------------------------------ */

static const char *const clang_names[] = { "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17" };
static const char *const bitcode_folders[] = { "$ROCM_PATH/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode",
					       "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
					       "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode", "/usr/lib64/amdgcn/bitcode" };

static bool exists(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0;
}

static const char *clang_command(heddle_arena *arena)
{
	for (size_t i = 0; i < HEDDLE_COUNT(clang_names); i++)
		if (heddle_process_find(arena, clang_names[i]))
			return clang_names[i];
	return NULL;
}

static const char *bitcode_folder(heddle_arena *arena)
{
	for (size_t i = 0; i < HEDDLE_COUNT(bitcode_folders); i++) {
		const char *folder = heddle_path_expand(arena, bitcode_folders[i]);
		if (folder && exists(heddle_arena_printf(arena, "%s/ocml.bc", folder)))
			return folder;
	}
	return NULL;
}

/* The ISA library of an arch, or of the nearest older one of its family. */
static const char *isa_library(heddle_arena *arena, const char *folder, const char *arch)
{
	static const struct {
		const char *begin, *isa;
	} near[] = { { "gfx94", "942" }, { "gfx94", "940" }, { "gfx95", "950" }, { "gfx95", "940" }, { "gfx90", "900" },
		     { "gfx12", "1201" }, { "gfx12", "1030" }, { "gfx11", "1100" }, { "gfx11", "1030" }, { "gfx10", "1030" } };
	const char *path = heddle_arena_printf(arena, "%s/oclc_isa_version_%s.bc", folder, arch + 3);
	if (exists(path))
		return path;
	for (size_t i = 0; i < HEDDLE_COUNT(near); i++) {
		path = heddle_arena_printf(arena, "%s/oclc_isa_version_%s.bc", folder, near[i].isa);
		if (strncmp(arch, near[i].begin, strlen(near[i].begin)) == 0 && exists(path))
			return path;
	}
	return NULL;
}

/* gfx10 and later have both; earlier ones 64 lanes only. */
static bool has_two_warps(const char *arch)
{
	return strncmp(arch, "gfx1", 4) == 0 && strlen(arch) == 7;
}

static int clang_find(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena, const char **version,
		      const char **why)
{
	const char *clang = clang_command(arena), *folder = bitcode_folder(arena);
	if (!clang || !folder || !heddle_process_find(arena, heddle_arena_printf(arena, "ld.lld-%s", clang + 6))) {
		*why = heddle_arena_printf(arena, "%s not found: %s",
					   !clang	? "clang 17 or newer" :
					   !folder	? "the device libraries (ocml.bc)" :
							  "lld of clang's version",
					   compiler->install);
		return -1;
	}
	const char *line = heddle_process_first_line(ctx, arena, (const char *const[]){ clang, "--version", NULL });
	*version = line ? line : clang;
	return 0;
}

static int clang_takes(const heddle_compiler *compiler, const char *arch)
{
	(void)compiler;
	return strncmp(arch, "gfx", 3) == 0;
}

typedef struct arguments {
	heddle_arena *arena;
	const char **argv;
	int n;
} arguments;

static void argument(arguments *a, const char *text)
{
	HEDDLE_PUSH(a->arena, a->argv, a->n, text);
}

static void link_bitcode(arguments *a, const char *path)
{
	argument(a, "-Xclang");
	argument(a, "-mlink-builtin-bitcode");
	argument(a, "-Xclang");
	argument(a, path);
}

static const char *const *clang_line(heddle_arena *arena, const heddle_source_build *build, const char *work)
{
	static const char *const libraries[] = { "ocml",	      "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off",
						 "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on",
						 "oclc_abi_version_500" };
	const char *folder = bitcode_folder(arena), *isa = folder ? isa_library(arena, folder, build->arch) : NULL;
	const char *clang = clang_command(arena);
	arguments a = { arena, NULL, 0 };
	if (!isa || !clang)
		return NULL;
	const char *const fixed[] = { clang, "-x", "hip", heddle_arena_printf(arena, "--offload-arch=%s", build->arch),
				      "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3",
				      "-std=c++17", "-D__HIPCC_RTC__=1", "-D__HIP_PLATFORM_AMD__=1",
				      heddle_arena_printf(arena, "-I%s/include", work), "-include", "heddle_clang_shim.h" };
	for (size_t i = 0; i < HEDDLE_COUNT(fixed); i++)
		argument(&a, fixed[i]);
	for (const char *const *o = build->option; o && *o; o++)
		argument(&a, *o);
	bool wide = !has_two_warps(build->arch) || build->warp == 64;
	if (has_two_warps(build->arch) && build->warp == 64)
		argument(&a, "-mwavefrontsize64");
	for (size_t i = 0; i < HEDDLE_COUNT(libraries); i++)
		link_bitcode(&a, heddle_arena_printf(arena, "%s/%s.bc", folder, libraries[i]));
	link_bitcode(&a, heddle_arena_printf(arena, "%s/oclc_wavefrontsize64_%s.bc", folder, wide ? "on" : "off"));
	link_bitcode(&a, isa);
	argument(&a, heddle_arena_printf(arena, "%s/kernel.hip", work));
	argument(&a, "-o");
	argument(&a, heddle_arena_printf(arena, "%s/kernel.co", work));
	argument(&a, NULL);
	return a.argv;
}

/* The source and a folder of headers under the names that HIP text includes. */
static int write_inputs(heddle_ctx *ctx, heddle_arena *arena, const heddle_source_build *build, const char *work)
{
	static const char *const headers[] = { "hip_runtime", "hip_fp16", "hip_bf16", "hip_bfloat16", "hip_vector_types",
					       "hip_complex" };
	static const char include[] = "#include \"heddle_clang_shim.h\"\n";
	const heddle_embedded *shim = heddle_embedded_find("backends/hip/clang_shim.h");
	if (!shim)
		return heddle_error(ctx, 950, NULL, "backends/hip/clang_shim.h is not in this program");
	/* Instances of templates are compiled only when something asks for them. */
	const char *asked = "";
	for (const char *const *k = build->kernel; k && *k; k++)
		if (strchr(*k, '<'))
			asked = heddle_arena_printf(arena, "%stemplate __global__ decltype(%s) %s;\n", asked, *k, *k);
	const char *text = *asked ? heddle_arena_printf(arena, "%s\n%s", build->source, asked) : build->source;
	if (heddle_dir_make(ctx, heddle_arena_printf(arena, "%s/include/hip", work)) != 0 ||
	    heddle_file_write(ctx, heddle_arena_printf(arena, "%s/kernel.hip", work), text, strlen(text)) != 0 ||
	    heddle_file_write(ctx, heddle_arena_printf(arena, "%s/include/heddle_clang_shim.h", work), shim->data,
			      shim->length) != 0)
		return -1;
	for (size_t i = 0; i < HEDDLE_COUNT(headers); i++)
		if (heddle_file_write(ctx, heddle_arena_printf(arena, "%s/include/hip/%s.h", work, headers[i]), include,
				      strlen(include)) != 0)
			return -1;
	return 0;
}

static void read_binary(heddle_ctx *ctx, const char *path, heddle_compiled *out)
{
	size_t length = 0;
	char *data = heddle_file_read(ctx, path, &length);
	out->binary = data;
	out->binary_bytes = data ? length : 0;
}

static int clang_in(heddle_ctx *ctx, heddle_arena *arena, const heddle_source_build *build, const char *work,
		    heddle_compiled *out)
{
	const char *const *argv = clang_line(arena, build, work);
	if (!argv)
		return heddle_error(ctx, 802, NULL, "no device library for %s", build->arch);
	if (write_inputs(ctx, arena, build, work) != 0)
		return -1;
	heddle_process process = { .argv = argv, .timeout = 120 };
	int status = heddle_process_run(ctx, &process);
	if (status == 0) {
		out->fine = process.status == 0;
		heddle_text_add(&out->log, heddle_text_str(&process.error));
		if (!out->fine && !out->log.length) {
			heddle_text_printf(&out->log, "error: %s: ", argv[0]);
			heddle_process_describe(&process, &out->log);
		}
		if (out->fine) {
			read_binary(ctx, heddle_arena_printf(arena, "%s/kernel.co", work), out);
			heddle_amd_resources(arena, out);
		}
	}
	heddle_process_free(&process);
	return status;
}

static int clang_compile(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena,
			 const heddle_source_build *build, heddle_compiled *out)
{
	(void)compiler;
	char work[512];
	if (heddle_dir_temporary(ctx, work) != 0)
		return -1;
	int status = clang_in(ctx, arena, build, work, out);
	heddle_dir_remove(work);
	return status;
}

static const char *const clang_sample[] = { "gfx90a", "gfx942", "gfx1100", "gfx1201", NULL };

const heddle_compiler heddle_compiler_clang_amd = {
	.name = "clang-amd",
	.backend = "hip",
	.options = "hipcc",
	.device_only = true,
	.install = "install it (no ROCm, no GPU needed): `apt-get install -y clang-19 lld-19 rocm-device-libs`",
	.own_headers = true,
	.sample_arch = clang_sample,
	.find = clang_find,
	.unknown_arch = "invalid target ID",
	.takes = clang_takes,
	.compile = clang_compile,
};
