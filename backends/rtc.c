/* Run-time compilers of one shape.
 * SPDX-License-Identifier: MIT
 */
#include "backends/rtc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool heddle_symbol(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);
	memcpy(function, &address, sizeof(address)); /* ISO C has no cast from object to function pointer */
	return address != NULL;
}

int heddle_rtc_open(heddle_rtc *rtc, const heddle_rtc_words *words, heddle_arena *arena, const char **why)
{
	memset(rtc, 0, sizeof(*rtc));
	rtc->words = words;
	rtc->library = heddle_library_open(words->libraries);
	if (!rtc->library) {
		*why = heddle_arena_printf(arena, "library %s not found", words->libraries[0]);
		return -1;
	}
	const struct {
		const char *name;
		void *function;
	} table[] = {
		{ words->version, &rtc->version },
		{ words->error, &rtc->error },
		{ words->create, &rtc->create },
		{ words->destroy, &rtc->destroy },
		{ words->add_name, &rtc->add_name },
		{ words->lowered_name, &rtc->lowered_name },
		{ words->compile, &rtc->compile },
		{ words->log_size, &rtc->log_size },
		{ words->log, &rtc->log },
		{ words->binary_size, &rtc->binary_size },
		{ words->binary, &rtc->binary },
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (!heddle_symbol(rtc->library, table[i].name, table[i].function)) {
			*why = heddle_arena_printf(arena, "library without %s", table[i].name);
			heddle_rtc_close(rtc);
			return -1;
		}
	return 0;
}

void heddle_rtc_close(heddle_rtc *rtc)
{
	/* The library stays loaded: some of these compilers do not survive being unloaded. */
	rtc->library = NULL;
}

static const char **options_of(const heddle_rtc *rtc, heddle_arena *arena, const heddle_source_build *build, int *n)
{
	const char **option = NULL;
	*n = 0;
	if (build->arch && *build->arch && rtc->words->arch_option) {
		/* The format is one of our own tables. */
		const char *format = rtc->words->arch_option, *at = strstr(format, "%s");
		HEDDLE_PUSH(arena, option, *n,
			    heddle_arena_printf(arena, "%.*s%s", (int)(at - format), format, build->arch));
	}
	for (const char *const *o = rtc->words->extra_option; o && *o; o++)
		HEDDLE_PUSH(arena, option, *n, *o);
	if (build->foreign && rtc->words->foreign_option)
		HEDDLE_PUSH(arena, option, *n, rtc->words->foreign_option);
	for (const char *const *o = build->option; o && *o; o++)
		HEDDLE_PUSH(arena, option, *n, *o);
	for (const char *const *i = rtc->words->include; i && *i; i++) {
		const char *folder = heddle_path_expand(arena, *i);
		struct stat info;
		if (folder && stat(folder, &info) == 0 && S_ISDIR(info.st_mode))
			HEDDLE_PUSH(arena, option, *n,
				    heddle_arena_printf(arena, "%s%s", rtc->words->include_option, folder));
	}
	return option;
}

/* Headers of C and C++ that sources of kernels name, mostly for their host part; what device code needs of them is built in, but
 * for the types. */
static const char *const standard_names[] = {
	"stdint.h", "cstdint",	"stddef.h", "cstddef",	"stdio.h",   "cstdio",	 "stdlib.h", "cstdlib", "string.h",  "cstring",
	"math.h",   "cmath",	"assert.h", "cassert",	"float.h",   "cfloat",	 "limits.h", "climits", "stdbool.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h",
};
static const char stdint_text[] =
	"#pragma once\n"
	"typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;\n"
	"typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t; typedef unsigned long long uint64_t;\n"
	"typedef long intptr_t; typedef unsigned long uintptr_t;\n";

static const char *standard_text(const char *name)
{
	static const char float_text[] =
		"#pragma once\n#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON 1.192092896e-07f\n"
		"#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n#define DBL_EPSILON 2.2204460492503131e-16\n"
		"#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n#define FLT_DIG 6\n#define DBL_DIG 15\n";
	static const char limits_text[] =
		"#pragma once\n#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"
		"#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n#define INT_MAX 2147483647\n"
		"#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295u\n#define LLONG_MAX 9223372036854775807ll\n"
		"#define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n";
	static const char math_text[] =
		"#pragma once\n#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n#ifndef NAN\n"
		"#define NAN __int_as_float(0x7fffffff)\n#endif\n#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n";
	static const struct {
		const char *part, *text;
	} table[] = {{"stdint", stdint_text}, {"float", float_text}, {"limits", limits_text}, {"math", math_text}};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (strstr(name, table[i].part))
			return table[i].text;
	return "";
}

int heddle_rtc_compile(heddle_rtc *rtc, heddle_arena *arena, const heddle_source_build *build, heddle_compiled *out,
		       const char **lowered, const char **why)
{
	void *program = NULL;
	const int n_header = rtc->words->bare ? (int)HEDDLE_COUNT(standard_names) : 0;
	const char *text[HEDDLE_COUNT(standard_names)];
	for (int i = 0; i < n_header; i++)
		text[i] = standard_text(standard_names[i]);
	int result = rtc->create(&program, build->source, build->name, n_header, n_header ? text : NULL, n_header ? standard_names : NULL);
	int n_option = 0;
	if (result != 0) {
		*why = heddle_arena_printf(arena, "%s: %s", rtc->words->create, rtc->error(result));
		return -1;
	}
	for (const char *const *k = build->kernel; k && *k; k++)
		rtc->add_name(program, *k);
	const char **option = options_of(rtc, arena, build, &n_option);
	result = rtc->compile(program, n_option, option);
	out->fine = result == 0;
	size_t size = 0;
	if (rtc->log_size(program, &size) == 0 && size > 1) {
		char *log = heddle_xalloc(size + 1);
		if (rtc->log(program, log) == 0) {
			log[size] = '\0';
			heddle_text_add(&out->log, log);
		}
		free(log);
	}
	if (!out->fine && !out->log.length)
		heddle_text_printf(&out->log, "%s: error: %s", build->name, rtc->error(result));
	int status = 0;
	if (out->fine) {
		for (int i = 0; lowered && build->kernel && build->kernel[i]; i++) {
			const char *name = NULL;
			lowered[i] = rtc->lowered_name(program, build->kernel[i], &name) == 0 && name ?
					     heddle_arena_strdup(arena, name) :
					     build->kernel[i];
		}
		result = rtc->binary_size(program, &out->binary_bytes);
		if (result == 0 && out->binary_bytes > 0) {
			out->binary = heddle_xalloc(out->binary_bytes);
			result = rtc->binary(program, out->binary);
		}
		if (result != 0) {
			*why = heddle_arena_printf(arena, "%s: %s", rtc->words->binary, rtc->error(result));
			status = -1;
		}
	}
	rtc->destroy(&program);
	return status;
}
