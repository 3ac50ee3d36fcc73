/* Running a manifest and its source on a driver.
 *
 * Memory of a tensor on a device:
 *
 *	guard | gap (misalign) | tensor | guard
 *
 * Guards and gap hold all ones: a read from them is NaN in every float type and shows in the results, a write is found when
 * they are looked at afterwards.  A driver that checks each access itself gets no guards, so that its bounds are exact.
 * SPDX-License-Identifier: MIT
 */
#include "harness/device.h"
#include "harness/emulate.h"

#include "base/process.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 4096, POISON = 0xff };

/* One tensor argument on the device. */
typedef struct placed {
	heddle_device_memory *buffer; /* NULL: not in memory (scalar, size) */
	size_t offset;	       /* of element 0 */
	size_t bytes;	       /* of the tensor */
	bool owner;	       /* of the buffer: not so for parts of the workspace */
} placed;

typedef struct session {
	heddle_ctx *ctx;
	const heddle_driver *driver;
	heddle_run *run;
	const heddle_manifest *manifest; /* the variant that runs */
	heddle_device device;
	placed *place; /* [n_argument] */
	heddle_device_memory workspace;
	size_t workspace_bytes;
	int n_launch;
	heddle_kernel_launch *launch;
	int *from; /* [n_launch] the manifest's launch: those with an empty grid are left out */
	bool offsets; /* every kernel takes a byte offset with every tensor */
	bool stop;    /* the verdict is known: do no more */
} session;

size_t heddle_run_moved(const heddle_run *run, const heddle_argument *argument)
{
	size_t element = (size_t)heddle_type_size(argument->type), offset = (size_t)run->misalign * element;
	size_t align = argument->align > 0 ? (size_t)argument->align : element;
	return (offset + align - 1) / align * align;
}

const heddle_manifest *heddle_run_variant(const heddle_run *run, int *which)
{
	const heddle_manifest *m = run->manifest;
	size_t *address = HEDDLE_NEW_ARRAY(run->arena, size_t, m->n_argument + 1);
	for (int i = 0; i < m->n_argument; i++)
		address[i] = heddle_run_moved(run, &m->argument[i]);
	int chosen = heddle_manifest_choose(m, run->size, address);
	if (chosen < 0) /* sizes that no variant is for: the caller's affair */
		chosen = m->n_variant;
	if (which)
		*which = chosen;
	return heddle_manifest_variant_of(run->arena, m, chosen);
}

void heddle_run_finding(heddle_run *run, const char *kind, const char *file, int line, const char *text)
{
	heddle_finding finding = { heddle_arena_strdup(run->arena, kind), file ? heddle_arena_strdup(run->arena, file) : NULL,
				   line, heddle_arena_strdup(run->arena, text) };
	HEDDLE_PUSH(run->arena, run->finding, run->n_finding, finding);
}

static void take_faults(heddle_run *run, const heddle_faults *faults)
{
	for (int i = 0; i < faults->n; i++) {
		const heddle_fault *f = &faults->fault[i];
		heddle_run_finding(run, f->kind, f->file, f->line, f->text);
	}
}

/* The run ends here with this verdict. */
static void verdict(session *s, heddle_verdict v, const char *message)
{
	s->run->verdict = v;
	s->run->message = heddle_arena_strdup(s->run->arena, message);
	s->stop = true;
}

/* The driver refused something.  What the kernel is to blame for becomes a failed verdict; the rest is a fault of ours or
 * the driver's, a diagnostic. */
static int refused(session *s)
{
	if (!s->device.failure)
		return heddle_error(s->ctx, 802, NULL, "%s: %s", s->driver->name, s->device.message);
	if (strcmp(s->device.failure, "unsupported") == 0) {
		verdict(s, HEDDLE_UNSUPPORTED, s->device.message);
		return 0;
	}
	heddle_run_finding(s->run, s->device.failure, s->run->source_path, 0, s->device.message);
	verdict(s, HEDDLE_FAIL, s->device.message);
	return 0;
}

/* ---- manifest ----------------------------------------------------------------------------------------------------------- */

/* Do drivers take options of this name as one text?  Blanks part them then. */
static bool are_joined(const char *name)
{
	for (const heddle_driver *const *driver = heddle_drivers; *driver; driver++)
		if ((*driver)->joined_options && !strcmp((*driver)->options, name))
			return true;
	return false;
}

void heddle_option_words(heddle_arena *arena, const heddle_option_set *set, const char ***list, int *n)
{
	const bool joined = are_joined(set->name);
	for (int i = 0; i < set->n; i++)
		for (const char *at = set->option[i]; *(at += joined ? strspn(at, " ") : 0);) {
			const size_t length = joined ? strcspn(at, " ") : strlen(at);
			HEDDLE_PUSH(arena, *list, *n, heddle_arena_strndup(arena, at, length));
			at += length;
		}
}

const char *const *heddle_manifest_options(heddle_arena *arena, const heddle_manifest *manifest, const char *which,
					     const char *source)
{
	const heddle_option_set set = heddle_manifest_option_set(manifest, which);
	int n = 0;
	const char **out = heddle_manifest_flags(arena, manifest, source, &n);
	heddle_option_words(arena, &set, &out, &n);
	HEDDLE_PUSH(arena, out, n, NULL);
	return out;
}

const char *heddle_manifest_arch(heddle_ctx *ctx, const heddle_manifest *manifest)
{
	const heddle_descriptor *descriptor = manifest->arch ? heddle_descriptor_find(ctx, manifest->arch) : NULL;
	return descriptor && descriptor->compile_arch ? descriptor->compile_arch : "";
}

const char *const *heddle_manifest_kernels(heddle_arena *arena, const heddle_manifest *manifest)
{
	const char **out = NULL;
	int n = 0;
	for (int v = 0; v <= manifest->n_variant; v++) {
		const bool own = v == manifest->n_variant;
		const heddle_manifest_launch *launch = own ? manifest->launch : manifest->variant[v].launch;
		const int n_launch = own ? manifest->n_launch : manifest->variant[v].n_launch;
		for (int i = 0; i < n_launch; i++) {
			bool known = false;
			for (int k = 0; k < n; k++)
				known = known || strcmp(out[k], launch[i].kernel) == 0;
			if (!known)
				HEDDLE_PUSH(arena, out, n, launch[i].kernel);
		}
	}
	HEDDLE_PUSH(arena, out, n, NULL);
	return out;
}

static int evaluate(session *s, heddle_formula formula, int64_t *result)
{
	const heddle_manifest *m = s->manifest;
	*result = 0;
	return formula ? heddle_formula_evaluate(s->ctx, formula, m->n_size, m->size, s->run->size, result) : 0;
}

/* Elements from the first to the last: 1 + sum (shape - 1) * stride, 0 when empty. */
static int64_t span_of(const int64_t *shape, const int64_t *stride, int rank)
{
	int64_t span = 1;
	for (int d = 0; d < rank; d++) {
		if (shape[d] == 0)
			return 0;
		span += (shape[d] - 1) * stride[d];
	}
	return span;
}

/* Bytes of a temporary by its formulas. */
static int temporary_bytes(session *s, const heddle_argument *a, size_t *bytes)
{
	int64_t shape[HEDDLE_MAX_RANK], stride[HEDDLE_MAX_RANK], dense = 1;
	if (a->rank > HEDDLE_MAX_RANK)
		return heddle_error(s->ctx, 802, NULL, "%s has rank %d", a->name, a->rank);
	for (int d = a->rank - 1; d >= 0; d--) {
		if (evaluate(s, a->shape[d], &shape[d]) != 0)
			return -1;
		stride[d] = dense;
		if (a->strides && evaluate(s, a->strides[d], &stride[d]) != 0)
			return -1;
		dense *= shape[d];
	}
	*bytes = (size_t)span_of(shape, stride, a->rank) * (size_t)heddle_type_size(a->type);
	return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------- */

static size_t moved(const session *s, int i)
{
	return heddle_run_moved(s->run, &s->run->manifest->argument[i]);
}

static size_t guard_before(const session *s)
{
	return s->device.exact_bounds ? 0 : GUARD_BYTES;
}

/* A buffer with guards, all of it poisoned; left untouched for a driver that knows itself what was never written. */
static int make_buffer(session *s, size_t before, size_t bytes, heddle_device_memory *buffer)
{
	size_t after = s->device.exact_bounds ? 0 : GUARD_BYTES, all = before + bytes + after;
	const heddle_driver *d = s->driver;
	if (s->device.memory_bytes && all > s->device.memory_bytes) {
		verdict(s, HEDDLE_UNSUPPORTED,
			heddle_arena_printf(s->run->arena, "a buffer of %zu bytes does not fit into the %llu of %s", all,
					    (unsigned long long)s->device.memory_bytes, s->device.name));
		return 0;
	}
	bool empty = all == 0; /* devices have no empty buffers: one byte, which nobody may write */
	if (empty)
		all = 1;
	if (d->allocate(&s->device, all, buffer) != 0) {
		verdict(s, HEDDLE_UNSUPPORTED, s->device.message);
		return 0;
	}
	if (s->device.exact_bounds && !empty)
		return 0;
	return d->fill(&s->device, buffer, 0, POISON, all) == 0 ? 0 : refused(s);
}

static bool in_memory(const heddle_argument *a)
{
	return a->role == HEDDLE_ARGUMENT_INPUT || a->role == HEDDLE_ARGUMENT_OUTPUT || a->role == HEDDLE_ARGUMENT_INOUT ||
	       a->role == HEDDLE_ARGUMENT_TEMPORARY;
}

static size_t array_bytes(const heddle_array *array)
{
	return (size_t)span_of(array->shape, array->stride, array->rank) * (size_t)heddle_type_size(array->type);
}

/* Place one tensor in a buffer of its own. */
static int place_alone(session *s, int i, size_t bytes)
{
	const heddle_argument *a = &s->manifest->argument[i];
	placed *p = &s->place[i];
	size_t gap = a->role == HEDDLE_ARGUMENT_TEMPORARY ? 0 : moved(s, i);
	if (gap && !s->offsets && !s->driver->can_move(&s->device, guard_before(s) + gap)) {
		verdict(s, HEDDLE_UNSUPPORTED,
			heddle_arena_printf(s->run->arena,
					    "kernels without byte offsets for their tensors: %s cannot be moved by %zu bytes",
					    a->name, gap));
		return 0;
	}
	p->buffer = HEDDLE_NEW(s->run->arena, heddle_device_memory);
	p->bytes = bytes;
	p->offset = guard_before(s) + gap;
	if (!s->offsets && !s->driver->can_move(&s->device, p->offset))
		p->offset = 0; /* no guard before */
	p->owner = true;
	return make_buffer(s, p->offset, bytes, p->buffer);
}

/* The tensor's data, with its gap in one piece where nothing else has filled that. */
static int send(session *s, const placed *p, const void *data)
{
	if (!s->device.exact_bounds || p->offset == 0)
		return s->driver->upload(&s->device, p->buffer, p->offset, data, p->bytes) == 0 ? 0 : refused(s);
	unsigned char *image = heddle_xalloc(p->offset + p->bytes);
	memset(image, POISON, p->offset);
	memcpy(image + p->offset, data, p->bytes);
	int status = s->driver->upload(&s->device, p->buffer, 0, image, p->offset + p->bytes) == 0 ? 0 : refused(s);
	free(image);
	return status;
}

static int place_argument(session *s, int i)
{
	const heddle_argument *a = &s->manifest->argument[i];
	heddle_array *array = s->run->argument[i];
	size_t bytes = 0;
	int64_t offset = 0;
	if (!in_memory(a))
		return 0;
	if (a->role != HEDDLE_ARGUMENT_TEMPORARY) {
		if (!array)
			return heddle_error(s->ctx, 802, NULL, "no data for the argument %s", a->name);
		if (place_alone(s, i, array_bytes(array)) != 0)
			return -1;
		return s->stop ? 0 : send(s, &s->place[i], array->data);
	}
	if (temporary_bytes(s, a, &bytes) != 0 || evaluate(s, a->offset, &offset) != 0)
		return -1;
	/* Without offsets a part of the workspace can be handed over only where the driver can point at it. */
	if (!s->offsets && !s->driver->can_move(&s->device, guard_before(s) + (size_t)offset))
		return place_alone(s, i, bytes);
	if (!s->workspace.handle && make_buffer(s, guard_before(s), s->workspace_bytes, &s->workspace) != 0)
		return -1;
	s->place[i] = (placed){ &s->workspace, guard_before(s) + (size_t)offset, bytes, false };
	return 0;
}

static int place_all(session *s)
{
	int64_t bytes = 0;
	s->place = HEDDLE_NEW_ARRAY(s->run->arena, placed, s->manifest->n_argument + 1);
	if (evaluate(s, s->manifest->workspace_bytes, &bytes) != 0)
		return -1;
	s->workspace_bytes = (size_t)bytes;
	for (int i = 0; i < s->manifest->n_argument && !s->stop; i++)
		if (place_argument(s, i) != 0)
			return -1;
	return 0;
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

static int argument_index(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_argument; i++)
		if (strcmp(m->argument[i].name, name) == 0)
			return i;
	return -1;
}

static int size_index(const heddle_manifest *m, const char *name)
{
	for (int i = 0; i < m->n_size; i++)
		if (strcmp(m->size[i].name, name) == 0)
			return i;
	return -1;
}

/* An integer as the bytes of an argument of this type. */
static void put_integer(heddle_launch_argument *out, heddle_type type, int64_t value)
{
	float f32 = (float)value;
	double f64 = (double)value;
	out->size = (size_t)heddle_type_size(type);
	if (type == HEDDLE_FLOAT32)
		memcpy(out->value, &f32, sizeof(f32));
	else if (type == HEDDLE_FLOAT64)
		memcpy(out->value, &f64, sizeof(f64));
	else
		memcpy(out->value, &value, out->size); /* little-endian hosts: the low bytes */
}

static int put_literal(session *s, const heddle_kernel_argument *from, heddle_launch_argument *out)
{
	float f32 = (float)from->literal;
	if (from->type == HEDDLE_FLOAT16 || from->type == HEDDLE_BFLOAT16)
		return heddle_error(s->ctx, 802, NULL, "a literal argument cannot be %s", heddle_type_name(from->type));
	put_integer(out, from->type, (int64_t)from->literal);
	if (from->type == HEDDLE_FLOAT32)
		memcpy(out->value, &f32, sizeof(f32));
	else if (from->type == HEDDLE_FLOAT64)
		memcpy(out->value, &from->literal, sizeof(from->literal));
	return 0;
}

/* Value arguments: scalars are what the array holds, sizes and literals are converted to their type. */
static int value_argument(session *s, const heddle_kernel_argument *from, heddle_launch_argument *out)
{
	const heddle_manifest *m = s->manifest;
	int64_t bytes;
	if (from->local_bytes) {
		if (evaluate(s, from->local_bytes, &bytes) != 0)
			return -1;
		out->local = true;
		out->size = bytes > 0 ? (size_t)bytes : 1;
		return 0;
	}
	if (from->formula) {
		if (evaluate(s, from->formula, &bytes) != 0)
			return -1;
		put_integer(out, from->type, bytes);
		return 0;
	}
	if (!from->name)
		return put_literal(s, from, out);
	int size = size_index(m, from->name), i = argument_index(m, from->name);
	if (from->size || (i >= 0 && m->argument[i].role == HEDDLE_ARGUMENT_SIZE)) {
		if (size < 0)
			return heddle_error(s->ctx, 802, NULL, "the manifest has no size %s", from->name);
		put_integer(out, from->size ? from->type : m->argument[i].type, s->run->size[size]);
		return 0;
	}
	if (i < 0 || !s->run->argument[i])
		return heddle_error(s->ctx, 802, NULL, "no value for the kernel argument %s", from->name);
	out->size = (size_t)heddle_type_size(m->argument[i].type);
	memcpy(out->value, s->run->argument[i]->data, out->size);
	return 0;
}

/* Everything of a launch but where its tensors lie.  False in `*runs` when its grid is empty. */
static int prepare_launch(session *s, const heddle_manifest_launch *from, heddle_kernel_launch *out, bool *runs)
{
	int64_t shared = 0;
	*runs = true;
	out->n_argument = from->n_argument;
	out->argument = HEDDLE_NEW_ARRAY(s->run->arena, heddle_launch_argument, from->n_argument + 1);
	for (int d = 0; d < 3; d++) {
		out->grid[d] = 1;
		out->block[d] = from->block[d] > 0 ? from->block[d] : 1;
		if (from->grid[d] && evaluate(s, from->grid[d], &out->grid[d]) != 0)
			return -1;
		*runs = *runs && out->grid[d] > 0;
	}
	if (evaluate(s, from->dynamic_shared_bytes, &shared) != 0)
		return -1;
	out->shared_bytes = (size_t)shared;
	int64_t threads = (int64_t)out->block[0] * out->block[1] * out->block[2];
	const char *limit = NULL;
	if (s->device.max_threads && threads > s->device.max_threads)
		limit = heddle_arena_printf(s->run->arena, "%s: a block of %lld threads, %s allows %lld", from->kernel,
					    (long long)threads, s->device.name, (long long)s->device.max_threads);
	else if (s->device.max_shared && shared > s->device.max_shared)
		limit = heddle_arena_printf(s->run->arena, "%s: %lld bytes of dynamic shared memory, %s allows %lld",
					    from->kernel, (long long)shared, s->device.name, (long long)s->device.max_shared);
	if (limit) {
		heddle_run_finding(s->run, "limit", s->run->source_path, 0, limit);
		verdict(s, HEDDLE_FAIL, limit);
		return 0;
	}
	return s->driver->kernel(&s->device, from->kernel, &out->kernel) == 0 ? 0 : refused(s);
}

/* Is there an argument for the byte offset of this tensor? */
static bool has_offset(const heddle_manifest_launch *launch, const char *tensor)
{
	for (int i = 0; i < launch->n_argument; i++)
		if (launch->argument[i].byte_offset && launch->argument[i].name && strcmp(launch->argument[i].name, tensor) == 0)
			return true;
	return false;
}

/* The tensor that this kernel argument is; -1: a value. */
static int tensor_of(const heddle_manifest *m, const heddle_kernel_argument *a)
{
	int i = a->name && !a->size && !a->byte_offset ? argument_index(m, a->name) : -1;
	return i >= 0 && in_memory(&m->argument[i]) ? i : -1;
}

static bool all_have_offsets(const heddle_manifest *m, const heddle_manifest_launch *launch)
{
	for (int i = 0; i < launch->n_argument; i++)
		if (tensor_of(m, &launch->argument[i]) >= 0 && !has_offset(launch, launch->argument[i].name))
			return false;
	return true;
}

/* Kernels, and whether all take offsets: before memory is placed, for that depends on it. */
static int prepare_all(session *s)
{
	const heddle_manifest *m = s->manifest;
	s->launch = HEDDLE_NEW_ARRAY(s->run->arena, heddle_kernel_launch, m->n_launch + 1);
	s->from = HEDDLE_NEW_ARRAY(s->run->arena, int, m->n_launch + 1);
	s->offsets = true;
	for (int i = 0; i < m->n_launch && !s->stop; i++) {
		bool runs = true;
		heddle_kernel_launch *l = &s->launch[s->n_launch];
		if (prepare_launch(s, &m->launch[i], l, &runs) != 0)
			return -1;
		if (s->stop)
			break;
		if (s->driver->check_arguments && s->driver->check_arguments(&s->device, l) != 0)
			return refused(s);
		s->offsets = s->offsets && all_have_offsets(m, &m->launch[i]);
		if (runs)
			s->from[s->n_launch++] = i;
		else
			memset(l, 0, sizeof(*l));
	}
	return 0;
}

/* A tensor goes as its buffer and, where the kernel takes one, a byte offset; else as the address of its element 0. */
static int bind_one(session *s, const heddle_manifest_launch *launch, const heddle_kernel_argument *from,
		    heddle_launch_argument *out)
{
	const heddle_manifest *m = s->manifest;
	int tensor = tensor_of(m, from);
	if (tensor >= 0) {
		out->buffer = s->place[tensor].buffer;
		out->offset = has_offset(launch, from->name) ? 0 : s->place[tensor].offset;
		return 0;
	}
	if (from->byte_offset) {
		tensor = argument_index(m, from->name);
		if (tensor < 0 || !in_memory(&m->argument[tensor]))
			return heddle_error(s->ctx, 802, NULL, "the offset of %s, which is no tensor", from->name);
		put_integer(out, from->type, (int64_t)s->place[tensor].offset);
		return 0;
	}
	return value_argument(s, from, out);
}

/* Arguments once memory is placed. */
static int bind_all(session *s)
{
	const heddle_manifest *m = s->manifest;
	for (int i = 0; i < s->n_launch; i++)
		for (int a = 0; a < s->launch[i].n_argument; a++)
			if (bind_one(s, &m->launch[s->from[i]], &m->launch[s->from[i]].argument[a], &s->launch[i].argument[a]) != 0)
				return -1;
	return 0;
}

/* ---- afterwards ----------------------------------------------------------------------------------------------------------- */

/* First byte of [0, n) that is not poison; -1: none. */
static int64_t first_changed(const unsigned char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] != POISON)
			return (int64_t)i;
	return -1;
}

/* Look at one stretch of poison; a write is a finding. */
static int look_at_guard(session *s, const char *name, const heddle_device_memory *buffer, size_t offset, size_t bytes,
			 size_t tensor_offset, size_t tensor_bytes)
{
	unsigned char *data = heddle_xalloc(bytes + 1);
	if (s->driver->download(&s->device, buffer, offset, data, bytes) != 0) {
		free(data);
		return refused(s);
	}
	int64_t at = first_changed(data, bytes);
	free(data);
	if (at < 0)
		return 0;
	int64_t from_begin = (int64_t)offset + at - (int64_t)tensor_offset;
	const char *text = from_begin < 0 ?
				   heddle_arena_printf(s->run->arena, "a write %lld bytes before %s", (long long)-from_begin, name) :
				   heddle_arena_printf(s->run->arena, "a write %lld bytes after the last element of %s",
						       (long long)(from_begin - (int64_t)tensor_bytes), name);
	heddle_run_finding(s->run, "bounds", s->run->source_path, 0, text);
	return 0;
}

static int look_around(session *s, const char *name, const heddle_device_memory *buffer, size_t offset, size_t bytes)
{
	size_t end = offset + bytes;
	if (look_at_guard(s, name, buffer, 0, offset, offset, bytes) != 0)
		return -1;
	return look_at_guard(s, name, buffer, end, buffer->bytes - end, offset, bytes);
}

/* Bring a tensor back.  Inputs must be as they were. */
static int bring_back(session *s, int i)
{
	const heddle_argument *a = &s->manifest->argument[i];
	const placed *p = &s->place[i];
	heddle_array *array = s->run->argument[i];
	if (a->role == HEDDLE_ARGUMENT_OUTPUT || a->role == HEDDLE_ARGUMENT_INOUT)
		return s->driver->download(&s->device, p->buffer, p->offset, array->data, p->bytes) == 0 ? 0 : refused(s);
	if (a->role != HEDDLE_ARGUMENT_INPUT)
		return 0;
	unsigned char *data = heddle_xalloc(p->bytes + 1);
	int status = s->driver->download(&s->device, p->buffer, p->offset, data, p->bytes) == 0 ? 0 : refused(s);
	if (status == 0 && !s->stop && p->bytes && memcmp(data, array->data, p->bytes) != 0)
		heddle_run_finding(s->run, "bounds", s->run->source_path, 0,
				   heddle_arena_printf(s->run->arena, "the input %s was written to", a->name));
	free(data);
	return status;
}

static int check_memory(session *s)
{
	const heddle_manifest *m = s->manifest;
	for (int i = 0; i < m->n_argument && !s->stop; i++) {
		const placed *p = &s->place[i];
		if (!p->buffer)
			continue;
		if (bring_back(s, i) != 0)
			return -1;
		if (!s->stop && p->owner && look_around(s, m->argument[i].name, p->buffer, p->offset, p->bytes) != 0)
			return -1;
	}
	if (!s->stop && s->workspace.handle)
		return look_around(s, "the workspace", &s->workspace, guard_before(s), s->workspace_bytes);
	return 0;
}

static int launch_and_check(session *s)
{
	heddle_faults faults = { 0 };
	int status = s->driver->launch(&s->device, s->n_launch, s->launch, 0, NULL) == 0 ? 0 : refused(s);
	if (status == 0 && !s->stop)
		status = check_memory(s);
	/* What the checker saw explains also a launch that failed. */
	if (status == 0 && s->driver->faults) {
		if (s->driver->faults(&s->device, s->run->source_path, &faults) != 0)
			return heddle_error(s->ctx, 802, NULL, "%s: %s", s->driver->name, s->device.message);
		take_faults(s->run, &faults);
	}
	if (status == 0 && !s->stop && s->run->n_finding > 0)
		/* A checker that gave up says nothing about the kernel; what it had found before stands. */
		verdict(s, strcmp(s->run->finding[0].kind, "unsupported") == 0 ? HEDDLE_UNSUPPORTED : HEDDLE_FAIL,
			heddle_arena_printf(s->run->arena, "%s: %.*s", s->run->finding[0].kind,
					    (int)strcspn(s->run->finding[0].text, "\n"), s->run->finding[0].text));
	return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The manifest's arch where it is this device's with more features ("sm_90a" on "sm_90"), else the device's own. */
static const char *arch_for(session *s, const char **remark)
{
	const char *wanted = heddle_manifest_arch(s->ctx, s->run->manifest);
	if (!*s->device.arch || (*wanted && begins(wanted, s->device.arch)))
		return *s->device.arch ? wanted : "";
	if (*wanted)
		*remark = heddle_arena_printf(s->run->arena, ", text for %s compiled for %s", wanted, s->device.arch);
	return s->device.arch;
}

static int build(session *s, const char **remark)
{
	heddle_text log = { 0 };
	heddle_source_build b = {
		.source = s->driver->device_only ? heddle_emulate_device_text(s->run->arena, s->run->source) : s->run->source,
		.foreign = s->run->manifest->path != NULL,
		.name = s->run->source_path ? s->run->source_path : "kernel",
		.arch = arch_for(s, remark),
		.warp = s->run->manifest->warp,
		.option = heddle_manifest_options(s->run->arena, s->run->manifest, s->driver->options, s->run->source),
		.kernel = heddle_manifest_kernels(s->run->arena, s->run->manifest),
	};
	int status = 0;
	if (s->driver->build(&s->device, &b, &log) != 0) {
		if (s->device.failure && strcmp(s->device.failure, "compile") == 0) {
			heddle_faults faults = { 0 };
			heddle_log_errors(s->run->arena, heddle_text_str(&log), s->run->source, s->run->source_path, &faults);
			take_faults(s->run, &faults);
			verdict(s, HEDDLE_FAIL,
				heddle_arena_printf(s->run->arena, "%s does not compile it: %.*s", s->driver->name,
						    (int)strcspn(faults.fault[0].text, "\n"), faults.fault[0].text));
		} else {
			status = refused(s);
		}
	}
	heddle_text_free(&log);
	return status;
}

/* Threads that have not run for a while share a processor until the system moves them, and processors raise their clocks when they
 * have work: what is timed begins after some launches that are not.  `*each`: seconds of one. */
static int warm_up(session *s, double *each)
{
	enum { FIRST = 3, MORE = 16 };
	const double seconds = 0.1, begin = heddle_now();
	double one[MORE] = {0};
	int status = s->driver->launch(&s->device, s->n_launch, s->launch, FIRST, one);
	*each = one[FIRST - 1];
	while (status == 0 && heddle_now() - begin < seconds) {
		status = s->driver->launch(&s->device, s->n_launch, s->launch, MORE, one);
		*each = one[MORE - 1];
	}
	return status;
}

/* They sleep again as soon as there is nothing more to launch: short launches that are timed are asked for together with some before them that
 * are not. */
static int time_it(session *s)
{
	enum { BEFORE = 2 };
	const double lasting = 0.02; /* seconds in which threads are moved */
	double each = 0;
	if (warm_up(s, &each) != 0)
		return refused(s);
	const int before = each < lasting ? BEFORE : 0;
	double *seconds = HEDDLE_NEW_ARRAY(s->run->arena, double, s->run->repeat + before);
	if (s->driver->launch(&s->device, s->n_launch, s->launch, s->run->repeat + before, seconds) != 0)
		return refused(s);
	s->run->seconds = seconds + before;
	return 0;
}

static int steps(session *s)
{
	const char *remark = "";
	int status = build(s, &remark);
	/* What is timed has the device for itself: several processes may compile and compare side by side. */
	const int lock = s->run->repeat > 0 ? heddle_lock_take("timing") : -1;
	if (status == 0 && !s->stop)
		status = prepare_all(s);
	if (status == 0 && !s->stop)
		status = place_all(s);
	if (status == 0 && !s->stop)
		status = bind_all(s);
	if (status == 0 && !s->stop)
		status = launch_and_check(s);
	if (status == 0 && !s->stop && s->run->repeat > 0)
		status = time_it(s);
	heddle_lock_drop(lock);
	if (status == 0 && !s->stop)
		verdict(s, HEDDLE_PASS,
			heddle_arena_printf(s->run->arena, "ran on %s (%s)%s%s%s", s->device.name, s->device.version, remark,
					    s->device.remark ? ", " : "", s->device.remark ? s->device.remark : ""));
	return status;
}

static void release_all(session *s)
{
	for (int i = 0; s->place && i < s->manifest->n_argument; i++)
		if (s->place[i].owner)
			s->driver->release(&s->device, s->place[i].buffer);
	s->driver->release(&s->device, &s->workspace);
}

int heddle_device_run(heddle_ctx *ctx, const heddle_driver *driver, heddle_run *run)
{
	session s = { .ctx = ctx, .driver = driver, .run = run, .manifest = heddle_run_variant(run, NULL) };
	const char *why = NULL;
	run->registers = run->spill_bytes = run->stack_bytes = run->shared_bytes = -1;
	run->n_finding = 0;
	run->finding = NULL;
	run->seconds = NULL;
	if (driver->open(driver, run->arena, run->device, &s.device, &why) != 0) {
		verdict(&s, HEDDLE_MISSING, heddle_arena_printf(run->arena, "%s: %s", driver->name, why));
		return 0;
	}
	int status;
	if (s.device.warp > 0 && run->manifest->warp > 1 && s.device.warp != run->manifest->warp) {
		verdict(&s, HEDDLE_UNSUPPORTED,
			heddle_arena_printf(run->arena, "the text is for warps of %d, %s has %lld", run->manifest->warp,
					    s.device.name, (long long)s.device.warp));
		status = 0;
	} else {
		status = steps(&s);
	}
	release_all(&s);
	driver->close(&s.device);
	return status;
}

int heddle_device_hold(heddle_ctx *ctx, const heddle_driver *driver)
{
	heddle_device *held = HEDDLE_NEW(heddle_ctx_arena(ctx), heddle_device);
	const char *why;
	return driver->open(driver, heddle_ctx_arena(ctx), NULL, held, &why);
}

/* ---- asking in a child ------------------------------------------------------------------------------------------------------ */

typedef struct question {
	const heddle_driver *driver;
	heddle_arena *arena;
} question;

/* The first byte of the answer says which: 'd' for devices, 'w' for a reason. */
static void ask(void *data, heddle_text *out)
{
	question *q = data;
	heddle_text devices = { 0 };
	const char *why = "";
	if (q->driver->list(q->driver, q->arena, &devices, &why) == 0)
		heddle_text_printf(out, "d%s", heddle_text_str(&devices));
	else
		heddle_text_printf(out, "w%s", why);
	heddle_text_free(&devices);
}

int heddle_device_list(heddle_arena *arena, const heddle_driver *driver, heddle_text *out, const char **why)
{
	question q = { driver, arena };
	heddle_text answer = { 0 };
	int status = heddle_process_call(arena, 60, ask, &q, &answer, why);
	if (status == 0 && heddle_text_str(&answer)[0] == 'd') {
		heddle_text_add(out, heddle_text_str(&answer) + 1);
	} else {
		*why = status == 0 ? heddle_arena_strdup(arena, heddle_text_str(&answer) + 1) :
				     heddle_arena_printf(arena, "looking for its devices: %s", *why);
		status = -1;
	}
	heddle_text_free(&answer);
	return status;
}

int heddle_device_available(heddle_ctx *ctx, const heddle_driver *driver, const char **why)
{
	heddle_text devices = { 0 };
	int status = heddle_device_list(heddle_ctx_arena(ctx), driver, &devices, why);
	const char *found = heddle_text_str(&devices);
	if (status == 0)
		*why = heddle_arena_strndup(heddle_ctx_arena(ctx), found, strcspn(found, "\t\n"));
	heddle_text_free(&devices);
	return status == 0;
}
