/* Compiling with NVRTC to machine code, without a GPU: accepts or rejects, registers, spills, stack, shared memory.
 * SPDX-License-Identifier: MIT
 */
#include "backends/cuda/cuda.h"

#include <ctype.h>
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

/* Over all functions that the text between two entries speaks of: the greatest, or the sum. */
static int all_before(const char *from, const char *end, const char *word, bool sum)
{
	int result = -1;
	for (const char *at = from; at < end;) {
		int number = number_before(at, end, word);
		if (number < 0)
			break;
		result = result < 0 ? number : sum ? result + number : number > result ? number : result;
		at = strstr(at, word) + strlen(word);
	}
	return result;
}

/* The library reduces large arguments of these with an array in local memory: 32 bytes of stack for float, 40 for double and
 * both where both are used (NVRTC 13.0), that no text can avoid. */
static bool calls_reduction(const char *source)
{
	static const char *const functions[] = { "sin", "cos", "tan", "sincos", "j0", "j1", "y0", "y1" };
	for (size_t i = 0; i < HEDDLE_COUNT(functions); i++) {
		size_t n = strlen(functions[i]);
		for (const char *at = strstr(source, functions[i]); at; at = strstr(at + n, functions[i])) {
			bool begins = at == source || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
			const char *after = at + n + (at[n] == 'f');
			if (begins && *after == '(')
				return true;
		}
	}
	return false;
}

/* ptxas -v says, per kernel: "Compiling entry function 'k' for ..", then for it and each function that it calls a line with
 * "bytes stack frame, bytes spill stores, bytes spill loads", then "Used N registers, .. bytes smem". */
static void read_resources(heddle_arena *arena, const char *log, const char *source, heddle_compiled *out)
{
	enum { REDUCTION_STACK = 96 };
	static const char entry[] = "Compiling entry function '";
	for (const char *at = strstr(log, entry); at;) {
		at += strlen(entry);
		const char *next = strstr(at, entry), *end = next ? next : at + strlen(at);
		heddle_kernel_resources k = { .kernel = heddle_arena_strndup(arena, at, strcspn(at, "'")) };
		k.stack_bytes = all_before(at, end, "bytes stack frame", false);
		int stores = all_before(at, end, "bytes spill stores", true), loads = all_before(at, end, "bytes spill loads", true);
		k.spill_bytes = stores > loads ? stores : loads;
		k.registers = number_before(at, end, "registers");
		k.shared_bytes = number_before(at, end, "bytes smem");
		if (k.shared_bytes < 0 && k.registers >= 0)
			k.shared_bytes = 0; /* it says nothing when there is none */
		k.library_stack = calls_reduction(source) ? REDUCTION_STACK : 0;
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
	read_resources(arena, heddle_text_str(&out->log), build->source, out);
	return 0;
}

static const char *const sample[] = { "sm_75", "sm_80", "sm_90a", "sm_120", NULL };

const heddle_compiler heddle_compiler_nvrtc = {
	.name = "nvrtc",
	.backend = "cuda",
	.options = "nvrtc",
	.device_only = true,
	.install = "install NVRTC (no GPU needed): `apt-get install -y python3-pip && python3 -m pip install --target /opt/nvrtc nvidia-cuda-nvrtc nvidia-cuda-runtime "
		   "nvidia-cuda-crt && export CUDA_HOME=/opt/nvrtc/nvidia/cu13`, or the CUDA toolkit",
	.sample_arch = sample,
	.words = &heddle_nvrtc_words,
	.find = find,
	.unknown_arch = "invalid value for --gpu-architecture",
	.takes = takes,
	.compile = compile,
};
