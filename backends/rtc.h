/* Run-time compilers of one shape: a library that takes source text and gives a device binary.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_RTC_H
#define HEDDLE_RTC_H

#include "backends/driver.h"

/* How one vendor calls the functions of that shape. */
typedef struct heddle_rtc_words {
	const char *const *libraries; /* NULL-ended, tried in order */
	const char *version;	      /* int (int *major, int *minor) */
	const char *error;	      /* const char *(int result) */
	const char *create;	      /* int (program *, source, name, n_header, headers, names) */
	const char *destroy;	      /* int (program *) */
	const char *add_name;	      /* int (program, name expression) */
	const char *lowered_name;     /* int (program, name expression, const char **) */
	const char *compile;	      /* int (program, n_option, options) */
	const char *log_size, *log;   /* int (program, size_t *), int (program, char *) */
	const char *binary_size, *binary;
	const char *arch_option;	 /* format: "--gpu-architecture=%s" */
	const char *const *include;	 /* folders tried, NULL-ended; "$NAME/.." */
	const char *include_option;	 /* format */
	const char *const *extra_option; /* always given, NULL-ended */
	const char *foreign_option;	 /* for text of others; NULL: none */
	bool bare; /* it has no standard headers of its own: those that sources commonly name are given to it */
} heddle_rtc_words;

typedef struct heddle_rtc {
	const heddle_rtc_words *words;
	void *library;
	int (*version)(int *major, int *minor);
	const char *(*error)(int result);
	int (*create)(void **program, const char *source, const char *name, int n_header, const char *const *header,
		      const char *const *include_name);
	int (*destroy)(void **program);
	int (*add_name)(void *program, const char *name);
	int (*lowered_name)(void *program, const char *name, const char **lowered);
	int (*compile)(void *program, int n_option, const char *const *option);
	int (*log_size)(void *program, size_t *size);
	int (*log)(void *program, char *log);
	int (*binary_size)(void *program, size_t *size);
	int (*binary)(void *program, char *binary);
} heddle_rtc;

/* Open the library; 0, or -1 with `*why`. */
int heddle_rtc_open(heddle_rtc *rtc, const heddle_rtc_words *words, heddle_arena *arena, const char **why);
void heddle_rtc_close(heddle_rtc *rtc);
/* Compile.  out->fine says whether it was accepted; lowered[i] (may be NULL) becomes the name in the binary of
 * build->kernel[i].  0, or -1 with `*why` when the library itself failed. */
int heddle_rtc_compile(heddle_rtc *rtc, heddle_arena *arena, const heddle_source_build *build, heddle_compiled *out,
		       const char **lowered, const char **why);
/* Fill a function pointer from a library; false when it has no such symbol. */
bool heddle_symbol(void *library, const char *name, void *function);

#endif
