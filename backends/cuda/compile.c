/* Compiling with NVRTC to machine code, without a GPU: accepts or rejects, registers, spills, stack, shared memory.
 * SPDX-License-Identifier: MIT
 */
#include "backends/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static int find(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena, const char **version,
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
	*version = heddle_arena_printf(arena, "NVRTC %d.%d", major, minor);
	heddle_rtc_close(&rtc);
	return 0;
}

static int takes(const heddle_compiler *compiler, const char *arch)
{
	(void)compiler;
	return strncmp(arch, "sm_", 3) == 0;
}

/* The number before `word` in [from, end): "32 registers"; -1: none. */
static int number_before(const char *from, const char *end, const char *word)
{
	const char *at = strstr(from, word);
	if (!at || at >= end)
		return -1;
	while (at > from && at[-1] == ' ')
		at--;
	while (at > from && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return atoi(at);
}

/* ptxas -v says, per kernel: "Compiling entry function 'k' for ..", then a line with "bytes stack frame, bytes spill
 * stores, bytes spill loads", then "Used N registers, .. bytes smem". */
static void read_resources(heddle_arena *arena, const char *log, heddle_compiled *out)
{
	static const char entry[] = "Compiling entry function '";
	for (const char *at = strstr(log, entry); at;) {
		at += strlen(entry);
		const char *next = strstr(at, entry), *end = next ? next : at + strlen(at);
		heddle_kernel_resources k = { .kernel = heddle_arena_strndup(arena, at, strcspn(at, "'")) };
		k.stack_bytes = number_before(at, end, "bytes stack frame");
		int stores = number_before(at, end, "bytes spill stores"), loads = number_before(at, end, "bytes spill loads");
		k.spill_bytes = stores > loads ? stores : loads;
		k.registers = number_before(at, end, "registers");
		k.shared_bytes = number_before(at, end, "bytes smem");
		if (k.shared_bytes < 0 && k.registers >= 0)
			k.shared_bytes = 0; /* it says nothing when there is none */
		HEDDLE_PUSH(arena, out->kernel, out->n_kernel, k);
		at = next;
	}
}

static int compile(const heddle_compiler *compiler, heddle_ctx *ctx, heddle_arena *arena,
		   const heddle_source_build *build, heddle_compiled *out)
{
	heddle_rtc rtc;
	const char *why = NULL;
	if (heddle_rtc_open(&rtc, compiler->words, arena, &why) != 0 ||
	    heddle_rtc_compile(&rtc, arena, build, out, NULL, &why) != 0)
		return heddle_error(ctx, 802, NULL, "%s: %s", compiler->name, why);
	read_resources(arena, heddle_text_str(&out->log), out);
	return 0;
}

static const char *const sample[] = { "sm_75", "sm_80", "sm_90a", "sm_120", NULL };

const heddle_compiler heddle_compiler_nvrtc = {
	.name = "nvrtc",
	.backend = "cuda",
	.options = "nvrtc",
	.install = "install NVRTC (no GPU needed): the package cuda-nvrtc-13-0 of NVIDIA's repository, or "
		   "pip install nvidia-cuda-nvrtc with its folder in LD_LIBRARY_PATH",
	.sample_arch = sample,
	.words = &heddle_nvrtc_words,
	.find = find,
	.takes = takes,
	.compile = compile,
};
