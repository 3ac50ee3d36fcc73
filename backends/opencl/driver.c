/* OpenCL drivers through the ICD loader (or a library that is a driver of its own): CPU drivers, a checking simulator, GPUs.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include "backends/rtc.h"

#include <CL/cl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What tells one driver from another. */
typedef struct opencl_words {
	const char *const *libraries; /* NULL-ended */
	const char *platform;	      /* part of its name; NULL: any that has a device of this type */
	cl_device_type type;
	const char *const *environment; /* "NAME=value" set before the library is loaded, unless set already; NULL-ended */
	const char *log;		/* environment variable that names a file for its checker's findings; NULL: none */
	const char *options;		/* added to every build; NULL: none */
} opencl_words;

#define FUNCTIONS(X)                                                                                                   \
	X(clGetPlatformIDs)                                                                                            \
	X(clGetPlatformInfo)                                                                                           \
	X(clGetDeviceIDs)                                                                                              \
	X(clGetDeviceInfo)                                                                                             \
	X(clCreateContext)                                                                                             \
	X(clReleaseContext)                                                                                            \
	X(clCreateCommandQueue)                                                                                        \
	X(clReleaseCommandQueue)                                                                                       \
	X(clCreateProgramWithSource)                                                                                   \
	X(clBuildProgram)                                                                                              \
	X(clGetProgramBuildInfo)                                                                                       \
	X(clReleaseProgram)                                                                                            \
	X(clCreateKernel)                                                                                              \
	X(clReleaseKernel)                                                                                             \
	X(clGetKernelInfo)                                                                                             \
	X(clSetKernelArg)                                                                                              \
	X(clCreateBuffer)                                                                                              \
	X(clCreateSubBuffer)                                                                                           \
	X(clReleaseMemObject)                                                                                          \
	X(clEnqueueReadBuffer)                                                                                         \
	X(clEnqueueWriteBuffer)                                                                                        \
	X(clEnqueueFillBuffer)                                                                                         \
	X(clEnqueueNDRangeKernel)                                                                                      \
	X(clGetEventProfilingInfo)                                                                                     \
	X(clReleaseEvent)                                                                                              \
	X(clFinish)

typedef struct opencl_state {
	const opencl_words *words;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	size_t base_align; /* bytes to which a sub-buffer must be aligned */
	bool has_float64;
	bool ignore_uninitialised; /* what the checker says of those is not to be believed for this text */
	int n_kernel;
	cl_kernel *kernel;
	char log[64]; /* the checker's file, or "" */
#define DECLARE(name) __typeof__(name) *name;
	FUNCTIONS(DECLARE)
#undef DECLARE
} opencl_state;

static const char *error_name(cl_int error)
{
	static const struct {
		cl_int error;
		const char *name;
	} table[] = {
		{ -1, "CL_DEVICE_NOT_FOUND" },
		{ -2, "CL_DEVICE_NOT_AVAILABLE" },
		{ -3, "CL_COMPILER_NOT_AVAILABLE" },
		{ -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE" },
		{ -5, "CL_OUT_OF_RESOURCES" },
		{ -6, "CL_OUT_OF_HOST_MEMORY" },
		{ -11, "CL_BUILD_PROGRAM_FAILURE" },
		{ -14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST" },
		{ -30, "CL_INVALID_VALUE" },
		{ -36, "CL_INVALID_COMMAND_QUEUE" },
		{ -43, "CL_INVALID_BUILD_OPTIONS" },
		{ -45, "CL_INVALID_PROGRAM_EXECUTABLE" },
		{ -46, "CL_INVALID_KERNEL_NAME" },
		{ -48, "CL_INVALID_KERNEL" },
		{ -49, "CL_INVALID_ARG_INDEX" },
		{ -50, "CL_INVALID_ARG_VALUE" },
		{ -51, "CL_INVALID_ARG_SIZE" },
		{ -52, "CL_INVALID_KERNEL_ARGS" },
		{ -53, "CL_INVALID_WORK_DIMENSION" },
		{ -54, "CL_INVALID_WORK_GROUP_SIZE" },
		{ -55, "CL_INVALID_WORK_ITEM_SIZE" },
		{ -61, "CL_INVALID_BUFFER_SIZE" },
		{ -63, "CL_INVALID_GLOBAL_WORK_SIZE" },
		{ -13, "CL_MISALIGNED_SUB_BUFFER_OFFSET" },
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (table[i].error == error)
			return table[i].name;
	return "OpenCL error";
}

/* A result as 0 or -1 with a message; what a kernel's own demands can cause is its failure. */
static int check(heddle_device *device, const char *what, cl_int error)
{
	if (error == CL_SUCCESS)
		return 0;
	device->message = heddle_arena_printf(device->arena, "%s: %s (%d)", what, error_name(error), (int)error);
	device->failure = NULL;
	if (error == CL_OUT_OF_RESOURCES || error == CL_INVALID_WORK_GROUP_SIZE || error == CL_INVALID_WORK_ITEM_SIZE ||
	    error == CL_INVALID_GLOBAL_WORK_SIZE || error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
		device->failure = "limit";
	return -1;
}

static void set_environment(opencl_state *s)
{
	for (const char *const *e = s->words->environment; e && *e; e++) {
		const char *equal = strchr(*e, '=');
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(equal - *e), *e);
		setenv(name, equal + 1, 0);
	}
	if (s->words->log) {
		snprintf(s->log, sizeof(s->log), "/tmp/heddle-check-XXXXXX");
		int fd = mkstemp(s->log);
		if (fd >= 0)
			close(fd);
		setenv(s->words->log, s->log, 1);
#ifdef M_PERTURB
		/* the shadow of a buffer that nobody has written comes from malloc as it is: fresh pages are all zero, "initialised" */
		mallopt(M_PERTURB, 0x5A);
#endif
	}
}

static int load(opencl_state *s, const heddle_driver *driver, heddle_arena *arena, const char **why)
{
	set_environment(s);
	void *library = heddle_library_open(s->words->libraries);
	if (!library) {
		*why = heddle_arena_printf(arena, "library %s not found: %s", s->words->libraries[0], driver->install);
		return -1;
	}
#define RESOLVE(name)                                                                                                  \
	if (!heddle_symbol(library, #name, &s->name)) {                                                                \
		*why = "the OpenCL library has no " #name;                                                             \
		return -1;                                                                                             \
	}
	FUNCTIONS(RESOLVE)
#undef RESOLVE
	return 0;
}

static const char *platform_text(const opencl_state *s, heddle_arena *arena, cl_platform_id platform,
				 cl_platform_info what)
{
	char text[1024] = "";
	s->clGetPlatformInfo(platform, what, sizeof(text) - 1, text, NULL);
	return heddle_arena_strdup(arena, text);
}

static const char *device_text(const opencl_state *s, heddle_arena *arena, cl_device_id device, cl_device_info what)
{
	char text[1024] = "";
	s->clGetDeviceInfo(device, what, sizeof(text) - 1, text, NULL);
	return heddle_arena_strdup(arena, text);
}

static uint64_t device_number(const opencl_state *s, cl_device_info what, size_t size)
{
	uint64_t value = 0;
	uint32_t value32 = 0;
	if (size == sizeof(value32))
		return s->clGetDeviceInfo(s->device, what, size, &value32, NULL) == CL_SUCCESS ? value32 : 0;
	return s->clGetDeviceInfo(s->device, what, size, &value, NULL) == CL_SUCCESS ? value : 0;
}

enum { MOST = 32 };

/* Call `each` with every device of the driver; it returns true to stop. */
static void each_device(const opencl_state *s, heddle_arena *arena,
			bool (*each)(const opencl_state *s, heddle_arena *arena, cl_platform_id platform,
				     cl_device_id device, void *data),
			void *data)
{
	cl_platform_id platform[MOST];
	cl_device_id device[MOST];
	cl_uint n_platform = 0, n_device;
	if (s->clGetPlatformIDs(MOST, platform, &n_platform) != CL_SUCCESS)
		return;
	for (cl_uint p = 0; p < n_platform && p < MOST; p++) {
		if (s->words->platform && !strstr(platform_text(s, arena, platform[p], CL_PLATFORM_NAME), s->words->platform))
			continue;
		n_device = 0;
		if (s->clGetDeviceIDs(platform[p], s->words->type, MOST, device, &n_device) != CL_SUCCESS)
			continue;
		for (cl_uint d = 0; d < n_device && d < MOST; d++)
			if (each(s, arena, platform[p], device[d], data))
				return;
	}
}

static bool list_one(const opencl_state *s, heddle_arena *arena, cl_platform_id platform, cl_device_id device, void *data)
{
	heddle_text *out = data;
	cl_uint floats = 0; /* of the vectors of its registers: what a descriptor's vector_bytes should say */
	if (s->clGetDeviceInfo(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(floats), &floats, NULL) != CL_SUCCESS)
		floats = 0;
	heddle_text_printf(out, "%s\t%s, %s, %s", device_text(s, arena, device, CL_DEVICE_NAME),
			   platform_text(s, arena, platform, CL_PLATFORM_NAME),
			   platform_text(s, arena, platform, CL_PLATFORM_VERSION),
			   device_text(s, arena, device, CL_DRIVER_VERSION));
	if (floats > 1)
		heddle_text_printf(out, ", vectors of %u bytes", (unsigned)(floats * sizeof(cl_float)));
	heddle_text_add(out, "\n");
	return false;
}

static void forget_log(opencl_state *s)
{
	if (s->log[0])
		unlink(s->log);
	s->log[0] = '\0';
}

static int opencl_list(const heddle_driver *driver, heddle_arena *arena, heddle_text *out, const char **why)
{
	opencl_state *s = HEDDLE_NEW(arena, opencl_state);
	s->words = driver->words;
	size_t before = out->length;
	int status = load(s, driver, arena, why);
	if (status == 0)
		each_device(s, arena, list_one, out);
	if (status == 0 && out->length == before) {
		*why = heddle_arena_printf(arena, "no such OpenCL device: %s", driver->install);
		status = -1;
	}
	forget_log(s);
	return status;
}

typedef struct choice {
	const char *which;
	int number; /* of the device now looked at */
	cl_platform_id platform;
	cl_device_id device;
} choice;

static bool choose_one(const opencl_state *s, heddle_arena *arena, cl_platform_id platform, cl_device_id device, void *data)
{
	choice *c = data;
	char *end = NULL;
	long wanted = c->which ? strtol(c->which, &end, 10) : 0;
	bool by_number = !c->which || (*c->which && !*end);
	bool fits = by_number ? wanted == c->number : strstr(device_text(s, arena, device, CL_DEVICE_NAME), c->which) != NULL;
	c->number++;
	if (fits) {
		c->platform = platform;
		c->device = device;
	}
	return fits;
}

static int opencl_open(const heddle_driver *driver, heddle_arena *arena, const char *which, heddle_device *device,
		       const char **why)
{
	opencl_state *s = HEDDLE_NEW(arena, opencl_state);
	s->words = driver->words;
	*device = (heddle_device){ .driver = driver, .arena = arena, .state = s, .arch = "" };
	if (load(s, driver, arena, why) != 0) {
		forget_log(s);
		return -1;
	}
	choice c = { .which = which };
	each_device(s, arena, choose_one, &c);
	if (!c.device) {
		*why = c.number ? heddle_arena_printf(arena, "no device '%s' among %d", which, c.number) :
				  heddle_arena_printf(arena, "no such OpenCL device: %s", driver->install);
		forget_log(s);
		return -1;
	}
	s->platform = c.platform;
	s->device = c.device;
	cl_int error = CL_SUCCESS;
	cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)s->platform, 0 };
	s->context = s->clCreateContext(properties, 1, &s->device, NULL, NULL, &error);
	if (error == CL_SUCCESS)
		s->queue = s->clCreateCommandQueue(s->context, s->device, CL_QUEUE_PROFILING_ENABLE, &error);
	device->name = device_text(s, arena, s->device, CL_DEVICE_NAME);
	if (error != CL_SUCCESS) {
		*why = heddle_arena_printf(arena, "no context on %s: %s", device->name, error_name(error));
		forget_log(s);
		return -1;
	}
	device->version = platform_text(s, arena, s->platform, CL_PLATFORM_VERSION);
	device->memory_bytes = device_number(s, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
	device->max_threads = (int64_t)device_number(s, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
	device->max_shared = (int64_t)device_number(s, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
	device->exact_bounds = s->words->log != NULL;
	s->has_float64 = device_number(s, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config)) != 0;
	s->base_align = (size_t)device_number(s, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint)) / 8;
	return 0;
}

static void opencl_close(heddle_device *device)
{
	opencl_state *s = device->state;
	for (int i = 0; i < s->n_kernel; i++)
		s->clReleaseKernel(s->kernel[i]);
	if (s->program)
		s->clReleaseProgram(s->program);
	if (s->queue)
		s->clReleaseCommandQueue(s->queue);
	if (s->context)
		s->clReleaseContext(s->context);
	forget_log(s);
	device->state = NULL;
}

static void read_build_log(opencl_state *s, heddle_text *log)
{
	size_t size = 0;
	if (s->clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size < 2)
		return;
	char *text = heddle_xalloc(size + 1);
	if (s->clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS) {
		text[size] = '\0';
		heddle_text_add(log, text);
	}
	free(text);
}

/* Does the text take several members of a vector at once (".hi", ".s0123", ".wzyx")? */
static bool has_swizzle(const char *source)
{
	static const char *const halves[] = { "hi", "lo", "even", "odd" };
	for (const char *at = strchr(source, '.'); at; at = strchr(at + 1, '.')) {
		size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		for (size_t i = 0; i < HEDDLE_COUNT(halves); i++)
			if (n == strlen(halves[i]) && strncmp(at + 1, halves[i], n) == 0)
				return true;
		bool numbered = (at[1] == 's' || at[1] == 'S') && strspn(at + 2, "0123456789abcdefABCDEF") == n - 1;
		if (n >= 3 && numbered)
			return true;
		if (n >= 2 && strspn(at + 1, "xyzw") == n)
			return true;
	}
	return false;
}

static int opencl_build(heddle_device *device, const heddle_source_build *build, heddle_text *log)
{
	opencl_state *s = device->state;
	heddle_text options = { 0 };
	for (const char *const *o = build->option; o && *o; o++)
		heddle_text_printf(&options, "%s%s", options.length ? " " : "", *o);
	if (s->words->options)
		heddle_text_printf(&options, "%s%s", options.length ? " " : "", s->words->options);
	if (s->words->log && has_swizzle(build->source)) {
		s->ignore_uninitialised = true;
		device->remark = "uninitialised reads not judged: the checker misreads vector swizzles";
	}
	cl_int error;
	const char *source = build->source;
	s->program = s->clCreateProgramWithSource(s->context, 1, &source, NULL, &error);
	if (error == CL_SUCCESS) {
		error = s->clBuildProgram(s->program, 1, &s->device, heddle_text_str(&options), NULL, NULL);
		read_build_log(s, log);
	}
	heddle_text_free(&options);
	if (check(device, "clBuildProgram", error) == 0)
		return 0;
	if (error == CL_BUILD_PROGRAM_FAILURE)
		device->failure = "compile";
	if (error == CL_BUILD_PROGRAM_FAILURE && !s->has_float64 && strstr(build->source, "cl_khr_fp64")) {
		device->failure = "unsupported";
		device->message = heddle_arena_printf(device->arena, "the text needs float64, %s has none", device->name);
	}
	return -1;
}

static int opencl_kernel(heddle_device *device, const char *name, void **kernel)
{
	opencl_state *s = device->state;
	cl_int error;
	cl_kernel made = s->clCreateKernel(s->program, name, &error);
	if (check(device, heddle_arena_printf(device->arena, "clCreateKernel(\"%s\")", name), error) != 0) {
		device->failure = error == CL_INVALID_KERNEL_NAME ? "compile" : NULL;
		return -1;
	}
	HEDDLE_PUSH(device->arena, s->kernel, s->n_kernel, made);
	*kernel = made;
	return 0;
}

static int opencl_check_arguments(heddle_device *device, const heddle_kernel_launch *launch)
{
	opencl_state *s = device->state;
	cl_uint count = 0;
	if (check(device, "clGetKernelInfo",
		  s->clGetKernelInfo(launch->kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL)) != 0)
		return -1;
	/* Dynamic shared memory is one __local pointer after all others. */
	if ((int)count == launch->n_argument + (launch->shared_bytes > 0))
		return 0;
	device->message = heddle_arena_printf(device->arena, "the kernel takes %u arguments, the manifest names %d", count,
					      launch->n_argument);
	device->failure = "compile";
	return -1;
}

static int opencl_can_move(heddle_device *device, size_t offset)
{
	const opencl_state *s = device->state;
	return s->base_align == 0 ? offset == 0 : offset % s->base_align == 0;
}

static cl_mem object_of(const heddle_device_memory *buffer)
{
	return (cl_mem)(uintptr_t)buffer->handle;
}

static int opencl_allocate(heddle_device *device, size_t bytes, heddle_device_memory *buffer)
{
	opencl_state *s = device->state;
	cl_int error;
	cl_mem memory = s->clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
	*buffer = (heddle_device_memory){ 0, bytes };
	if (check(device, heddle_arena_printf(device->arena, "clCreateBuffer(%zu bytes)", bytes), error) != 0)
		return -1;
	buffer->handle = (uint64_t)(uintptr_t)memory;
	return 0;
}

static void opencl_release(heddle_device *device, heddle_device_memory *buffer)
{
	opencl_state *s = device->state;
	if (buffer->handle)
		s->clReleaseMemObject(object_of(buffer));
	buffer->handle = 0;
}

static int opencl_upload(heddle_device *device, const heddle_device_memory *buffer, size_t offset, const void *data, size_t bytes)
{
	opencl_state *s = device->state;
	if (bytes == 0)
		return 0;
	return check(device, "clEnqueueWriteBuffer",
		     s->clEnqueueWriteBuffer(s->queue, object_of(buffer), CL_TRUE, offset, bytes, data, 0, NULL, NULL));
}

static int opencl_download(heddle_device *device, const heddle_device_memory *buffer, size_t offset, void *data, size_t bytes)
{
	opencl_state *s = device->state;
	if (bytes == 0)
		return 0;
	return check(device, "clEnqueueReadBuffer",
		     s->clEnqueueReadBuffer(s->queue, object_of(buffer), CL_TRUE, offset, bytes, data, 0, NULL, NULL));
}

static int opencl_fill(heddle_device *device, const heddle_device_memory *buffer, size_t offset, unsigned char byte, size_t bytes)
{
	opencl_state *s = device->state;
	if (bytes == 0)
		return 0;
	if (check(device, "clEnqueueFillBuffer",
		  s->clEnqueueFillBuffer(s->queue, object_of(buffer), &byte, 1, offset, bytes, 0, NULL, NULL)) != 0)
		return -1;
	return check(device, "clFinish", s->clFinish(s->queue));
}

/* The part of a buffer that begins at the offset, for a kernel that takes no byte offset. */
static cl_mem part_of(opencl_state *s, const heddle_launch_argument *a, cl_int *error)
{
	cl_buffer_region region = { a->offset, a->buffer->bytes - a->offset };
	return s->clCreateSubBuffer(object_of(a->buffer), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, error);
}

/* Set all arguments; sub-buffers made for them are kept in `part` until the launch is over. */
static int set_arguments(heddle_device *device, const heddle_kernel_launch *launch, cl_mem *part, int *n_part)
{
	opencl_state *s = device->state;
	cl_uint index = 0;
	cl_int error = CL_SUCCESS;
	for (int i = 0; i < launch->n_argument && error == CL_SUCCESS; i++) {
		const heddle_launch_argument *a = &launch->argument[i];
		if (!a->buffer) {
			error = s->clSetKernelArg(launch->kernel, index++, a->size, a->local ? NULL : a->value);
			continue;
		}
		cl_mem memory = object_of(a->buffer);
		if (a->offset > 0) {
			memory = part_of(s, a, &error);
			if (error != CL_SUCCESS)
				break;
			part[(*n_part)++] = memory;
		}
		error = s->clSetKernelArg(launch->kernel, index++, sizeof(memory), &memory);
	}
	if (error == CL_SUCCESS && launch->shared_bytes > 0)
		error = s->clSetKernelArg(launch->kernel, index++, launch->shared_bytes, NULL);
	return check(device, heddle_arena_printf(device->arena, "clSetKernelArg(%u)", index ? index - 1 : 0), error);
}

static double seconds_of(opencl_state *s, cl_event event)
{
	cl_ulong begin = 0, end = 0;
	s->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begin), &begin, NULL);
	s->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
	return end > begin ? (double)(end - begin) * 1e-9 : 0;
}

static int enqueue(heddle_device *device, const heddle_kernel_launch *launch, cl_event *event)
{
	opencl_state *s = device->state;
	size_t global[3], local[3];
	for (int d = 0; d < 3; d++) {
		local[d] = (size_t)launch->block[d];
		global[d] = (size_t)launch->grid[d] * local[d];
	}
	cl_mem *part = HEDDLE_NEW_ARRAY(device->arena, cl_mem, launch->n_argument + 1);
	int n_part = 0, status = set_arguments(device, launch, part, &n_part);
	if (status == 0)
		status = check(device, "clEnqueueNDRangeKernel",
			       s->clEnqueueNDRangeKernel(s->queue, launch->kernel, 3, NULL, global, local, 0, NULL, event));
	for (int i = 0; i < n_part; i++)
		s->clReleaseMemObject(part[i]); /* the command keeps it while it needs it */
	return status;
}

/* What runs is waited for; `seconds` by round, or NULL. */
static int finish(heddle_device *device, int n_event, cl_event *event, int per_round, double *seconds)
{
	opencl_state *s = device->state;
	int status = check(device, "clFinish", s->clFinish(s->queue));
	for (int i = 0; i < n_event; i++) {
		if (status == 0 && seconds)
			seconds[i / per_round] += seconds_of(s, event[i]);
		s->clReleaseEvent(event[i]);
	}
	return status;
}

/* Without rounds to time one launch after the other, so that an error is that of its launch.  With them many are in the queue at once:
 * threads that sleep between two launches would be woken within the time. */
/* The checker that is a library takes the shadow of memory that the host has not written from its heap as it finds it there
 * (Oclgrind 21.10): left over zeros say that a temporary is initialised.  All ones say that it is not. */
static void fill_free_memory(void)
{
	enum { CACHED = 7, LARGEST_CACHED = 1032, LARGEST = 1 << 16 }; /* glibc keeps so many small pieces of each size */
	void *piece[CACHED];
	for (size_t bytes = 8; bytes <= LARGEST; bytes = bytes < LARGEST_CACHED ? bytes + 16 : 2 * bytes) {
		for (int i = 0; i < CACHED; i++)
			memset(piece[i] = heddle_xalloc(bytes), 0xff, bytes);
		for (int i = 0; i < CACHED; i++)
			free(piece[i]);
	}
}

static int opencl_launch(heddle_device *device, int n, const heddle_kernel_launch *launch, int repeat, double *seconds)
{
	enum { IN_FLIGHT = 64 };
	const int batch = repeat <= 0 || n >= IN_FLIGHT ? 1 : IN_FLIGHT / n;
	cl_event *event = HEDDLE_NEW_ARRAY(device->arena, cl_event, batch * n);
	int n_event = 0, status = 0, first = 0;
	if (((const opencl_state *)device->state)->words->log)
		fill_free_memory();
	for (int r = 0; r < repeat; r++)
		seconds[r] = 0;
	for (int r = 0; r < (repeat > 0 ? repeat : 1) && status == 0; r++) {
		for (int i = 0; i < n && status == 0; i++) {
			status = enqueue(device, &launch[i], &event[n_event]);
			n_event += status == 0;
			if (repeat <= 0) {
				const int end = finish(device, n_event, event, n, NULL);
				status = status ? status : end;
				n_event = 0;
			}
		}
		if (repeat > 0 && (status || r + 1 == repeat || r + 1 - first == batch)) {
			const int end = finish(device, n_event, event, n, seconds + first);
			status = status ? status : end;
			first = r + 1;
			n_event = 0;
		}
	}
	return status ? -1 : 0;
}

/* ---- oclgrind's log --------------------------------------------------------------------------------------------------- */

/* A report is a paragraph: its first line says what, indented lines say where ("At line 5 of input.cl:"). */
static const char *kind_of(const char *head)
{
	static const struct {
		const char *words, *kind;
	} table[] = {
		{ "FATAL ERROR", "unsupported" }, { "data race", "race" },	  { "Uninitialized", "uninitialised" }, { "uninitialized", "uninitialised" },
		{ "barrier", "barrier" },	  { "divergence", "barrier" },		{ "Invalid read", "bounds" },
		{ "Invalid write", "bounds" },	  { "out of bounds", "bounds" },	{ "Invalid load", "bounds" },
		{ "Invalid store", "bounds" },	  { "unaligned", "bounds" },		{ "Unaligned", "bounds" },
		{ "NULL pointer", "bounds" },	  { "suppressing further errors", "more" },
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++)
		if (strstr(head, table[i].words))
			return table[i].kind;
	return "crash";
}

/* "At line 5 (column 7) of FILE:": the file, named as by us, and the line.  False: it is no such line. */
static bool read_place(heddle_arena *arena, const char *text, const char *source_path, const char **file, int *line)
{
	static const char at_line[] = "At line ", main_file[] = "input.cl";
	text += strspn(text, " \t");
	const char *of = strstr(text, " of "), *end = text + strcspn(text, "\n");
	if (strncmp(text, at_line, strlen(at_line)) != 0)
		return false;
	*line = atoi(text + strlen(at_line));
	*file = source_path;
	if (!of || of > end || end[-1] != ':')
		return true;
	of += strlen(" of ");
	of += strncmp(of, "./", 2) == 0 ? 2 : 0;
	const char *named = heddle_arena_strndup(arena, of, (size_t)(end - 1 - of));
	if (strcmp(named, main_file) != 0)
		*file = named;
	return true;
}

/* The report with our names of files, and without the lines that it quotes: for an included file it takes them from the including
 * one.  *file and *line: the first place. */
static const char *read_report(heddle_arena *arena, const char *report, const char *source_path, const char **file, int *line)
{
	heddle_text out = { 0 };
	bool quoted = false;
	*file = source_path;
	*line = 0;
	for (const char *at = report; *at;) {
		const char *here;
		int number;
		size_t n = strcspn(at, "\n");
		bool place = read_place(arena, at, source_path, &here, &number);
		if (place) {
			heddle_text_printf(&out, "\n\tat %s:%d", here, number);
			*file = *line ? *file : here;
			*line = *line ? *line : number;
		} else if (!quoted && strspn(at, " \t") < n) {
			heddle_text_printf(&out, "%s%.*s", out.length ? "\n" : "", (int)n, at);
		}
		quoted = place;
		at += n + (at[n] == '\n');
	}
	const char *text = heddle_arena_strdup(arena, heddle_text_str(&out));
	heddle_text_free(&out);
	return text;
}

static void one_report(heddle_arena *arena, const char *text, size_t length, const char *source_path,
		       bool ignore_uninitialised, heddle_faults *out)
{
	const char *file;
	int line;
	const char *report = read_report(arena, heddle_arena_strndup(arena, text, length), source_path, &file, &line);
	size_t head = strcspn(report, "\n");
	const char *kind = kind_of(heddle_arena_strndup(arena, report, head));
	if (strcmp(kind, "more") == 0)
		return; /* not a report: those before it are */
	if (ignore_uninitialised && strcmp(kind, "uninitialised") == 0)
		return;
	for (int i = 0; i < out->n; i++) {
		const heddle_fault *f = &out->fault[i];
		if (line && f->line == line && strcmp(f->kind, kind) == 0 && strcmp(f->file ? f->file : "", file ? file : "") == 0)
			return; /* the same place again, in another thread */
	}
	heddle_fault_add(arena, out, kind, file, line, report);
}

static int opencl_faults(heddle_device *device, const char *source_path, heddle_faults *out)
{
	enum { MOST_FAULTS = 50 };
	opencl_state *s = device->state;
	heddle_text text = { 0 };
	FILE *file = s->log[0] ? fopen(s->log, "r") : NULL;
	char chunk[4096];
	if (!file) {
		device->message = "the checker's log cannot be read";
		return -1;
	}
	for (size_t n = fread(chunk, 1, sizeof(chunk), file); n > 0; n = fread(chunk, 1, sizeof(chunk), file))
		heddle_text_addn(&text, chunk, n);
	fclose(file);
	const char *at = heddle_text_str(&text);
	while (*at && out->n < MOST_FAULTS) {
		at += strspn(at, "\n");
		const char *end = strstr(at, "\n\n");
		size_t length = end ? (size_t)(end - at) : strlen(at);
		if (length > 0)
			one_report(device->arena, at, length, source_path, s->ignore_uninitialised, out);
		at += length;
	}
	heddle_text_free(&text);
	return 0;
}

/* ---- the drivers -------------------------------------------------------------------------------------------------------- */

#define OPENCL_FUNCTIONS                                                                                               \
	.backend = "opencl", .options = "opencl", .joined_options = true, .list = opencl_list, .open = opencl_open, .close = opencl_close,      \
	.build = opencl_build, .kernel = opencl_kernel, .check_arguments = opencl_check_arguments,                         \
	.can_move = opencl_can_move, .allocate = opencl_allocate, .release = opencl_release, .upload = opencl_upload,  \
	.download = opencl_download, .fill = opencl_fill, .launch = opencl_launch

static const char *const loader[] = { "libOpenCL.so.1", "libOpenCL.so", NULL };

static const opencl_words pocl_words = { .libraries = loader, .platform = "Portable Computing Language", .type = CL_DEVICE_TYPE_CPU };
const heddle_driver heddle_driver_pocl = {
	.level = "opencl-cpu",
	.name = "pocl",
	.install = "install it: `apt-get install -y pocl-opencl-icd ocl-icd-libopencl1`",
	.words = &pocl_words,
	OPENCL_FUNCTIONS,
};

static const char *const rusticl_environment[] = { "RUSTICL_ENABLE=llvmpipe", NULL };
static const opencl_words rusticl_words = { .libraries = loader, .platform = "rusticl", .type = CL_DEVICE_TYPE_ALL, .environment = rusticl_environment };
const heddle_driver heddle_driver_rusticl = {
	.level = "opencl-cpu",
	.name = "rusticl",
	.install = "install it: `apt-get install -y mesa-opencl-icd ocl-icd-libopencl1`",
	.words = &rusticl_words,
	OPENCL_FUNCTIONS,
};

/* It is a library with the functions of OpenCL, to be opened in the loader's place.  Version 21.10 takes memory for
 * uninitialised for ever, also after a kernel has written it, once the host has written to its buffer anywhere but from the
 * begin (clEnqueueFillBuffer included): `exact_bounds` keeps us from doing so.  Its checker does not know the instruction
 * freeze and crashes in some vector code, both of which only optimised code has; and the shadow of a swizzle is taken from the
 * wrong place (float8 w = v.hi of an initialised float16 v is uninitialised, in some runs). */
static const char *const oclgrind_libraries[] = { "/usr/lib/oclgrind/liboclgrind-rt.so",
						  "/usr/local/lib/oclgrind/liboclgrind-rt.so",
						  "$OCLGRIND_HOME/lib/oclgrind/liboclgrind-rt.so", "liboclgrind-rt.so", NULL };
/* Its device has 32 KiB of local memory unless told otherwise: a processor's tiles may be larger, within its caches. */
static const char *const oclgrind_environment[] = { "OCLGRIND_DATA_RACES=1", "OCLGRIND_UNINITIALIZED=1", "OCLGRIND_MAX_ERRORS=100",
						    "OCLGRIND_LOCAL_MEM_SIZE=1048576", NULL };
static const opencl_words oclgrind_words = { .libraries = oclgrind_libraries,
					     .platform = "Oclgrind",
					     .type = CL_DEVICE_TYPE_ALL,
					     .environment = oclgrind_environment,
					     .log = "OCLGRIND_LOG",
					     .options = "-cl-opt-disable" };
const heddle_driver heddle_driver_oclgrind = {
	.level = "opencl-cpu",
	.name = "oclgrind",
	.simulator = true,
	.install = "install it: `apt-get install -y oclgrind`",
	.words = &oclgrind_words,
	OPENCL_FUNCTIONS,
	.faults = opencl_faults,
};

static const opencl_words gpu_words = { .libraries = loader, .type = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR };
const heddle_driver heddle_driver_opencl = {
	.level = "device",
	.name = "opencl",
	.install = "needs a GPU with an OpenCL driver: the GPU's vendor's package, or mesa-opencl-icd or intel-opencl-icd",
	.words = &gpu_words,
	OPENCL_FUNCTIONS,
};

static const opencl_words any_words = { .libraries = loader, .type = CL_DEVICE_TYPE_ALL, .environment = rusticl_environment };
const heddle_driver heddle_driver_opencl_any = {
	.level = "",
	.name = "OpenCL",
	.install = "install a driver: `apt-get install -y pocl-opencl-icd ocl-icd-libopencl1`",
	.words = &any_words,
	OPENCL_FUNCTIONS,
};
