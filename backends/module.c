/* Drivers of one shape: contexts, modules, kernels by name, events.
 * SPDX-License-Identifier: MIT
 */
#include "backends/module.h"

#include <stdlib.h>
#include <string.h>

typedef struct module_state {
	const heddle_module_words *words;
	heddle_rtc rtc;
	int device;
	void *context, *module;
	int n_kernel;
	const char *const *kernel; /* as the manifest calls them */
	const char **lowered;	   /* as the binary does */
	int (*init)(unsigned flags);
	int (*version)(int *version);
	int (*count)(int *count);
	int (*get)(int *device, int number);
	int (*device_name)(char *name, int size, int device);
	int (*memory)(size_t *bytes, int device);
	int (*attribute)(int *value, int attribute, int device);
	int (*retain)(void **context, int device);
	int (*release)(int device);
	int (*current)(void *context);
	int (*select)(int device);
	int (*properties)(void *properties, int device);
	int (*allocate)(uint64_t *address, size_t bytes);
	int (*free)(uint64_t address);
	int (*upload)(uint64_t to, const void *from, size_t bytes);
	int (*download)(void *to, uint64_t from, size_t bytes);
	int (*fill)(uint64_t to, unsigned char byte, size_t bytes);
	int (*synchronize)(void);
	int (*load)(void **module, const void *image);
	int (*unload)(void *module);
	int (*function)(void **function, void *module, const char *name);
	int (*set_attribute)(void *function, int attribute, int value);
	int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		      unsigned shared, void *stream, void **parameters, void **extra);
	int (*event_create)(void **event, unsigned flags);
	int (*event_record)(void *event, void *stream);
	int (*event_synchronize)(void *event);
	int (*event_elapsed)(float *milliseconds, void *begin, void *end);
	int (*event_destroy)(void *event);
	const char *(*error_name)(int result);
	int (*error_name_by_out)(int result, const char **name);
} module_state;

static const char *error_name(const module_state *s, int result)
{
	const char *name = NULL;
	if (s->error_name)
		name = s->error_name(result);
	else if (s->error_name_by_out)
		s->error_name_by_out(result, &name);
	return name ? name : "unknown error";
}

/* Turn a result into 0 or -1 with a message. */
static int check(heddle_device *device, const char *what, int result)
{
	if (result == 0)
		return 0;
	const module_state *s = device->state;
	device->message = heddle_arena_printf(device->arena, "%s: %s (%d)", what, error_name(s, result), result);
	device->failure = NULL;
	for (const struct heddle_module_fault *f = s->words->fault; f && f->result; f++)
		if (f->result == result)
			device->failure = f->kind;
	return -1;
}

/* Every symbol of the table; those with a NULL name are not wanted. */
static int resolve(module_state *s, void *library, heddle_arena *arena, const char **why)
{
	const heddle_module_words *w = s->words;
	const struct {
		const char *name;
		void *function;
	} table[] = {
		{ w->init, &s->init },
		{ w->version, &s->version },
		{ w->count, &s->count },
		{ w->get, &s->get },
		{ w->device_name, &s->device_name },
		{ w->memory, &s->memory },
		{ w->attribute, &s->attribute },
		{ w->retain, &s->retain },
		{ w->release, &s->release },
		{ w->current, &s->current },
		{ w->select, &s->select },
		{ w->properties, &s->properties },
		{ w->allocate, &s->allocate },
		{ w->free, &s->free },
		{ w->upload, &s->upload },
		{ w->download, &s->download },
		{ w->fill, &s->fill },
		{ w->synchronize, &s->synchronize },
		{ w->load, &s->load },
		{ w->unload, &s->unload },
		{ w->function, &s->function },
		{ w->set_attribute, &s->set_attribute },
		{ w->launch, &s->launch },
		{ w->event_create, &s->event_create },
		{ w->event_record, &s->event_record },
		{ w->event_synchronize, &s->event_synchronize },
		{ w->event_elapsed, &s->event_elapsed },
		{ w->event_destroy, &s->event_destroy },
		{ w->error_name, &s->error_name },
		{ w->error_name_by_out, &s->error_name_by_out },
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (table[i].name && !heddle_symbol(library, table[i].name, table[i].function)) {
			*why = heddle_arena_printf(arena, "the driver library has no %s", table[i].name);
			return -1;
		}
	return 0;
}

/* The first that is no environment variable: what a user knows it by. */
static const char *first_library(const char *const *names)
{
	while (**names == '$' && names[1])
		names++;
	return *names;
}

/* Library, symbols, initialisation and at least one device. */
static module_state *state_new(const heddle_driver *driver, heddle_arena *arena, int *n_device, const char **why)
{
	module_state *s = HEDDLE_NEW(arena, module_state);
	s->words = driver->words;
	void *library = heddle_library_open(s->words->libraries);
	if (!library) {
		*why = heddle_arena_printf(arena, "no driver (%s): %s", first_library(s->words->libraries),
					   driver->install);
		return NULL;
	}
	if (resolve(s, library, arena, why) != 0)
		return NULL;
	int result = s->init(0);
	if (result != 0) {
		*why = heddle_arena_printf(arena, "the driver does not start: %s (%d): %s", error_name(s, result), result,
					   driver->install);
		return NULL;
	}
	result = s->count(n_device);
	if (result != 0 || *n_device < 1) {
		*why = heddle_arena_printf(arena, "the driver sees no device%s%s", result ? ": " : "",
					   result ? error_name(s, result) : "");
		return NULL;
	}
	return s;
}

static const char *name_of(module_state *s, heddle_arena *arena, int number, int *device)
{
	char name[256] = "";
	if (s->get(device, number) != 0 || s->device_name(name, (int)sizeof(name) - 1, *device) != 0)
		return NULL;
	return heddle_arena_strdup(arena, name);
}

static const char *version_of(module_state *s, heddle_arena *arena)
{
	int version = 0;
	return s->version(&version) == 0 ? heddle_arena_printf(arena, "driver %d", version) : "driver of unknown version";
}

int heddle_module_list(const heddle_driver *driver, heddle_arena *arena, heddle_text *out, const char **why)
{
	int n = 0, device;
	module_state *s = state_new(driver, arena, &n, why);
	if (!s)
		return -1;
	for (int i = 0; i < n; i++) {
		const char *name = name_of(s, arena, i, &device);
		if (name)
			heddle_text_printf(out, "%s\t%s\n", name, version_of(s, arena));
	}
	return 0;
}

static int64_t attribute_of(const module_state *s, int attribute)
{
	int value = 0;
	return attribute >= 0 && s->attribute(&value, attribute, s->device) == 0 ? value : 0;
}

/* What the compiler calls the device.  Where no attribute says it, the properties hold the name: their layout differs
 * between versions of the driver, the name does not. */
static const char *arch_of(const module_state *s, heddle_arena *arena)
{
	if (s->words->attribute_major >= 0)
		return heddle_arena_printf(arena, "sm_%d%d", (int)attribute_of(s, s->words->attribute_major),
					   (int)attribute_of(s, s->words->attribute_minor));
	enum { ROOM = 16384 };
	char *properties = HEDDLE_NEW_ARRAY(arena, char, ROOM + 1);
	if (!s->properties || s->properties(properties, s->device) != 0)
		return "";
	for (int i = 0; i < ROOM - 4; i++)
		if (memcmp(properties + i, "gfx", 3) == 0)
			return heddle_arena_strndup(arena, properties + i, strcspn(properties + i, ":"));
	return "";
}

/* The device's number by "1" or a part of its name; -1 with `*why`. */
static int choose(module_state *s, heddle_arena *arena, const char *which, int n, const char **why)
{
	int device;
	if (!which)
		return 0;
	char *end;
	long number = strtol(which, &end, 10);
	if (*which && !*end && number >= 0 && number < n)
		return (int)number;
	for (int i = 0; i < n; i++) {
		const char *name = name_of(s, arena, i, &device);
		if (name && strstr(name, which))
			return i;
	}
	*why = heddle_arena_printf(arena, "no device '%s' among %d", which, n);
	return -1;
}

int heddle_module_open(const heddle_driver *driver, heddle_arena *arena, const char *which, heddle_device *device,
		       const char **why)
{
	int n = 0;
	memset(device, 0, sizeof(*device));
	module_state *s = state_new(driver, arena, &n, why);
	if (!s)
		return -1;
	*device = (heddle_device){ .driver = driver, .arena = arena, .state = s, .arch = "" };
	int number = choose(s, arena, which, n, why);
	if (number < 0)
		return -1;
	if (heddle_rtc_open(&s->rtc, s->words->compiler, arena, why) != 0)
		return -1;
	device->name = name_of(s, arena, number, &s->device);
	device->version = version_of(s, arena);
	int result = s->select ? s->select(s->device) : s->retain(&s->context, s->device);
	if (result == 0 && s->current)
		result = s->current(s->context);
	if (result != 0) {
		*why = heddle_arena_printf(arena, "no context on %s: %s", device->name, error_name(s, result));
		return -1;
	}
	size_t bytes = 0;
	device->memory_bytes = s->memory(&bytes, s->device) == 0 ? bytes : 0;
	device->max_threads = attribute_of(s, s->words->attribute_threads);
	device->max_shared = attribute_of(s, s->words->attribute_shared);
	int64_t optin = attribute_of(s, s->words->attribute_shared_optin);
	if (optin > device->max_shared)
		device->max_shared = optin;
	device->warp = attribute_of(s, s->words->attribute_warp);
	device->arch = arch_of(s, arena);
	return 0;
}

void heddle_module_close(heddle_device *device)
{
	module_state *s = device->state;
	if (s->module)
		s->unload(s->module);
	if (s->context && s->release)
		s->release(s->device);
	heddle_rtc_close(&s->rtc);
	device->state = NULL;
}

int heddle_module_build(heddle_device *device, const heddle_source_build *build, heddle_text *log)
{
	module_state *s = device->state;
	heddle_compiled compiled = { 0 };
	while (build->kernel && build->kernel[s->n_kernel])
		s->n_kernel++;
	s->kernel = build->kernel;
	s->lowered = HEDDLE_NEW_ARRAY(device->arena, const char *, s->n_kernel + 1);
	const char *why = NULL;
	int status = heddle_rtc_compile(&s->rtc, device->arena, build, &compiled, s->lowered, &why);
	heddle_text_add(log, heddle_text_str(&compiled.log));
	if (status != 0 || !compiled.fine) {
		device->message = status != 0 ? why : "the source does not compile";
		device->failure = status != 0 ? NULL : "compile";
		status = -1;
	} else {
		status = check(device, s->words->load, s->load(&s->module, compiled.binary));
	}
	heddle_compiled_free(&compiled);
	return status;
}

int heddle_module_kernel(heddle_device *device, const char *name, void **kernel)
{
	module_state *s = device->state;
	const char *lowered = name;
	for (int i = 0; i < s->n_kernel; i++)
		if (strcmp(s->kernel[i], name) == 0 && s->lowered[i])
			lowered = s->lowered[i];
	return check(device, heddle_arena_printf(device->arena, "%s(\"%s\")", s->words->function, lowered),
		     s->function(kernel, s->module, lowered));
}

int heddle_module_can_move(heddle_device *device, size_t offset)
{
	(void)device;
	(void)offset;
	return 1;
}

int heddle_module_allocate(heddle_device *device, size_t bytes, heddle_device_memory *buffer)
{
	module_state *s = device->state;
	*buffer = (heddle_device_memory){ 0, bytes };
	if (check(device, heddle_arena_printf(device->arena, "%s(%zu bytes)", s->words->allocate, bytes),
		  s->allocate(&buffer->handle, bytes)) != 0) {
		buffer->handle = 0;
		return -1;
	}
	return 0;
}

void heddle_module_release(heddle_device *device, heddle_device_memory *buffer)
{
	module_state *s = device->state;
	if (buffer->handle)
		s->free(buffer->handle);
	buffer->handle = 0;
}

int heddle_module_upload(heddle_device *device, const heddle_device_memory *buffer, size_t offset, const void *data,
			 size_t bytes)
{
	module_state *s = device->state;
	return bytes ? check(device, s->words->upload, s->upload(buffer->handle + offset, data, bytes)) : 0;
}

int heddle_module_download(heddle_device *device, const heddle_device_memory *buffer, size_t offset, void *data, size_t bytes)
{
	module_state *s = device->state;
	return bytes ? check(device, s->words->download, s->download(data, buffer->handle + offset, bytes)) : 0;
}

int heddle_module_fill(heddle_device *device, const heddle_device_memory *buffer, size_t offset, unsigned char byte,
		       size_t bytes)
{
	module_state *s = device->state;
	return bytes ? check(device, s->words->fill, s->fill(buffer->handle + offset, byte, bytes)) : 0;
}

static int launch_one(heddle_device *device, const heddle_kernel_launch *launch)
{
	enum { MOST = 256 };
	module_state *s = device->state;
	uint64_t address[MOST];
	void *parameter[MOST];
	if (launch->n_argument > MOST) {
		device->message = "more than 256 kernel arguments";
		device->failure = "limit";
		return -1;
	}
	for (int i = 0; i < launch->n_argument; i++) {
		heddle_launch_argument *a = &launch->argument[i];
		if (a->local) {
			device->message = "a kernel argument in shared memory, which only OpenCL has";
			device->failure = "unsupported";
			return -1;
		}
		if (a->buffer)
			address[i] = a->buffer->handle + a->offset;
		parameter[i] = a->buffer ? (void *)&address[i] : (void *)a->value;
	}
	return check(device, s->words->launch,
		     s->launch(launch->kernel, (unsigned)launch->grid[0], (unsigned)launch->grid[1],
			       (unsigned)launch->grid[2], (unsigned)launch->block[0], (unsigned)launch->block[1],
			       (unsigned)launch->block[2], (unsigned)launch->shared_bytes, NULL, parameter, NULL));
}

static int launch_all(heddle_device *device, int n, const heddle_kernel_launch *launch)
{
	for (int i = 0; i < n; i++)
		if (launch_one(device, &launch[i]) != 0)
			return -1;
	return 0;
}

/* Marks between the runs, without waiting in between: the device never idles, so the host's launch time is hidden. */
static int launch_timed(heddle_device *device, int n, const heddle_kernel_launch *launch, int repeat, double *seconds)
{
	module_state *s = device->state;
	void **event = HEDDLE_NEW_ARRAY(device->arena, void *, repeat + 1);
	int status = 0, made = 0;
	while (status == 0 && made <= repeat) {
		status = check(device, s->words->event_create, s->event_create(&event[made], 0));
		made += status == 0;
	}
	if (status == 0)
		status = check(device, s->words->event_record, s->event_record(event[0], NULL));
	for (int r = 0; r < repeat && status == 0; r++) {
		status = launch_all(device, n, launch);
		if (status == 0)
			status = check(device, s->words->event_record, s->event_record(event[r + 1], NULL));
	}
	if (status == 0)
		status = check(device, s->words->event_synchronize, s->event_synchronize(event[repeat]));
	for (int r = 0; r < repeat && status == 0; r++) {
		float milliseconds = 0;
		status = check(device, s->words->event_elapsed, s->event_elapsed(&milliseconds, event[r], event[r + 1]));
		seconds[r] = (double)milliseconds * 1e-3;
	}
	for (int i = 0; i < made; i++)
		s->event_destroy(event[i]);
	return status;
}

int heddle_module_launch(heddle_device *device, int n, const heddle_kernel_launch *launch, int repeat, double *seconds)
{
	module_state *s = device->state;
	for (int i = 0; i < n; i++)
		if (s->set_attribute && launch[i].shared_bytes > (size_t)s->words->shared_static_limit &&
		    check(device, s->words->set_attribute,
			  s->set_attribute(launch[i].kernel, s->words->set_attribute_shared,
					   (int)launch[i].shared_bytes)) != 0)
			return -1;
	if (repeat > 0)
		return launch_timed(device, n, launch, repeat, seconds);
	if (launch_all(device, n, launch) != 0)
		return -1;
	return check(device, s->words->synchronize, s->synchronize());
}
