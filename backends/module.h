/* Drivers of one shape: contexts, modules, kernels by name, events.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_MODULE_H
#define HEDDLE_MODULE_H

#include "backends/rtc.h"

/* How one vendor calls the functions of that shape; NULL: it has none. */
typedef struct heddle_module_words {
	const char *const *libraries;
	const heddle_rtc_words *compiler;
	const char *init;				     /* int (unsigned flags) */
	const char *version;				     /* int (int *) */
	const char *count;				     /* int (int *) */
	const char *get;				     /* int (int *device, int number) */
	const char *device_name;			     /* int (char *, int size, int device) */
	const char *memory;				     /* int (size_t *, int device) */
	const char *attribute;				     /* int (int *, int attribute, int device) */
	const char *retain, *release, *current;		     /* int (void **context, int device), (int), (void *context) */
	const char *select;				     /* instead of those three: int (int device) */
	const char *properties;				     /* int (void *, int device): for the arch's name */
	const char *allocate, *free;			     /* int (uint64_t *, size_t), (uint64_t) */
	const char *upload, *download, *fill;		     /* (uint64_t, const void *, size_t) .. (uint64_t, byte, size_t) */
	const char *synchronize;			     /* int (void) */
	const char *load, *unload, *function;		     /* int (void **, const void *), (void *), (void **, void *, name) */
	const char *set_attribute;			     /* int (void *function, int attribute, int value) */
	const char *launch;				     /* 11 arguments */
	const char *event_create, *event_record, *event_synchronize, *event_elapsed, *event_destroy;
	const char *error_name;		/* const char *(int), or ... */
	const char *error_name_by_out;	/* int (int, const char **) */
	int attribute_threads, attribute_shared, attribute_warp;   /* numbers for `attribute`; -1: none */
	int attribute_shared_optin, attribute_major, attribute_minor;
	int shared_static_limit;	/* bytes; more must be asked for by set_attribute */
	int set_attribute_shared;
	const struct heddle_module_fault {
		int result;
		const char *kind; /* what a kernel did to get it */
	} *fault;			/* ended by result 0 */
} heddle_module_words;

/* The functions of heddle_driver for drivers of this shape; driver->words is a heddle_module_words. */
int heddle_module_list(const heddle_driver *driver, heddle_arena *arena, heddle_text *out, const char **why);
int heddle_module_open(const heddle_driver *driver, heddle_arena *arena, const char *which, heddle_device *device,
		       const char **why);
void heddle_module_close(heddle_device *device);
int heddle_module_build(heddle_device *device, const heddle_source_build *build, heddle_text *log);
int heddle_module_kernel(heddle_device *device, const char *name, void **kernel);
int heddle_module_can_move(heddle_device *device, size_t offset);
int heddle_module_allocate(heddle_device *device, size_t bytes, heddle_device_memory *buffer);
void heddle_module_release(heddle_device *device, heddle_device_memory *buffer);
int heddle_module_upload(heddle_device *device, const heddle_device_memory *buffer, size_t offset, const void *data,
			 size_t bytes);
int heddle_module_download(heddle_device *device, const heddle_device_memory *buffer, size_t offset, void *data, size_t bytes);
int heddle_module_fill(heddle_device *device, const heddle_device_memory *buffer, size_t offset, unsigned char byte,
		       size_t bytes);
int heddle_module_launch(heddle_device *device, int n, const heddle_kernel_launch *launch, int repeat, double *seconds);

/* All of them, for a driver's table. */
#define HEDDLE_MODULE_FUNCTIONS                                                                                        \
	.list = heddle_module_list, .open = heddle_module_open, .close = heddle_module_close,                          \
	.build = heddle_module_build, .kernel = heddle_module_kernel,                                                  \
	.can_move = heddle_module_can_move,                                                                             \
	.allocate = heddle_module_allocate, .release = heddle_module_release, .upload = heddle_module_upload,          \
	.download = heddle_module_download, .fill = heddle_module_fill, .launch = heddle_module_launch

#endif
