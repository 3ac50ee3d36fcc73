/* generate: trees of leaves -> program.
 *
 * Enters: mapped kernels.  Leaves: scop->program with launches, buffers, workspace.
 * Guaranteed: each leaf runs exactly the instances of its set; every value in it is computed from loop variables and coordinates.
 * SPDX-License-Identifier: MIT
 */
#include "model/generate.h"
#include "model/plain.h"
#include "model/ranges.h"

#include <isl/id.h>
#include <isl/val.h>
#include <string.h>

/* ---- names and sizes ---------------------------------------------------------------------------------------------------- */

const char *heddle_generate_name(heddle_generator *g, const char *stem)
{
	for (int n = 1;; n++) {
		const char *name = n == 1 ? stem : heddle_arena_printf(g->program->arena, "%s%s%d", stem,
								       stem[strlen(stem) - 1] >= '0' && stem[strlen(stem) - 1] <= '9'
									       ? "_"
									       : "",
								       n);
		bool used = false;
		for (int i = 0; i < g->n_name && !used; i++)
			used = !strcmp(g->name[i], name);
		if (used)
			continue;
		name = heddle_arena_strdup(g->program->arena, name);
		HEDDLE_PUSH(g->program->arena, g->name, g->n_name, name);
		return name;
	}
}

void heddle_generate_vary(heddle_generator *g, const char *name, int64_t extent)
{
	int n = g->n_varying;
	HEDDLE_PUSH(g->program->arena, g->varying, n, name);
	HEDDLE_PUSH(g->program->arena, g->varying_extent, g->n_varying, extent);
}

int heddle_generate_find_varying(const heddle_generator *g, const char *name)
{
	for (int i = 0; i < g->n_varying; i++)
		if (!strcmp(g->varying[i], name))
			return i;
	return -1;
}

bool heddle_generate_varies(const heddle_generator *g, const heddle_value *value)
{
	if (value->kind == HEDDLE_VALUE_THREAD || value->kind == HEDDLE_VALUE_LOAD)
		return true;
	if (value->kind == HEDDLE_VALUE_VARIABLE && heddle_generate_find_varying(g, value->name) >= 0)
		return true;
	for (int i = 0; i < value->n_arg; i++)
		if (heddle_generate_varies(g, value->arg[i]))
			return true;
	return false;
}

static heddle_value *open_size(heddle_generator *g, const char *name, heddle_type type)
{
	for (int i = 0; i < g->program->n_size; i++)
		if (!strcmp(g->program->size[i].name, name))
			return heddle_value_cast(g->program, type, heddle_value_size(g->program, i));
	return NULL;
}

static heddle_value *size_value(heddle_generator *g, const heddle_size *size, heddle_type type)
{
	if (size->min == size->max)
		return heddle_value_int(g->program, type, size->min);
	return open_size(g, size->name, type);
}

heddle_value *heddle_generate_size(heddle_generator *g, const heddle_size *size)
{
	return size_value(g, size, HEDDLE_INT32);
}

heddle_value *heddle_generate_shape(heddle_generator *g, const heddle_expr *expr)
{
	heddle_program *p = g->program;
	switch (expr->kind) {
	case HEDDLE_EXPR_INT:
		return heddle_value_int(p, HEDDLE_INT64, expr->i);
	case HEDDLE_EXPR_SIZE:
		return size_value(g, expr->size, HEDDLE_INT64);
	case HEDDLE_EXPR_CAST:
		return heddle_generate_shape(g, expr->arg[0]);
	case HEDDLE_EXPR_UNARY:
		return heddle_value_unary(p, HEDDLE_OP_NEG, heddle_generate_shape(g, expr->arg[0]));
	case HEDDLE_EXPR_BINARY: {
		heddle_value *a = heddle_generate_shape(g, expr->arg[0]), *b = heddle_generate_shape(g, expr->arg[1]);
		if (expr->op == HEDDLE_OP_DIV)
			return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, a, b);
		if (expr->op == HEDDLE_OP_MOD)
			return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, a, b);
		return heddle_value_binary(p, expr->op, a, b);
	}
	default:
		return heddle_value_int(p, HEDDLE_INT64, 0);
	}
}

heddle_value *heddle_generate_parameter(heddle_generator *g, const char *param)
{
	heddle_value *size = !strncmp(param, "N_", 2) ? open_size(g, param + 2, HEDDLE_INT32) : NULL;
	return size ? size : heddle_generate_coordinate(g, param);
}

heddle_value *heddle_generate_coordinate(heddle_generator *g, const char *param)
{
	for (int i = 0; i < g->n_alias; i++)
		if (!strcmp(g->alias_param[i], param))
			param = g->alias_name[i];
	return heddle_value_variable(g->program, HEDDLE_INT32, 1, heddle_arena_strdup(g->program->arena, param));
}

/* ---- launches ------------------------------------------------------------------------------------------------------------------ */

/* Number of tiles along a member: ceil(extent / tile), the greatest over its statements. */
static heddle_value *tiles_along(heddle_generator *g, const heddle_kernel *kernel, int m)
{
	heddle_program *p = g->program;
	heddle_value *extent = NULL;
	int64_t tile = kernel->member[m].layout.tile;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *stmt = kernel->stmt[s];
		for (int d = 0; d < stmt->n_dim; d++) {
			if (stmt->dim[d].member != m)
				continue;
			/* bounds that depend on other indices: the greatest value, from isl */
			isl_pw_aff *most = isl_set_dim_max(isl_set_copy(stmt->lhs), d);
			isl_pw_aff *upper = heddle_scop_bound(g->scop, stmt, stmt->source->index[d]->upper);
			bool plain = upper && !isl_pw_aff_involves_dims(upper, isl_dim_in, 0, (unsigned)stmt->n_dim);
			isl_pw_aff_free(upper);
			heddle_value *here;
			if (plain) {
				here = heddle_generate_shape(g, stmt->source->index[d]->upper);
				isl_pw_aff_free(most);
			} else {
				/* and -1 where there is nothing to run */
				isl_local_space *sizes = isl_local_space_from_space(isl_set_get_space(g->scop->context));
				isl_aff *none = isl_aff_add_constant_si(isl_aff_zero_on_domain(sizes), -1);
				most = isl_pw_aff_union_max(most, isl_pw_aff_from_aff(none));
				here = heddle_generate_pieces(g, most, isl_set_copy(g->scop->context), NULL);
				here = heddle_value_binary(p, HEDDLE_OP_ADD, heddle_value_cast(p, HEDDLE_INT64, here),
							   heddle_value_int(p, HEDDLE_INT64, 1));
			}
			if (!extent)
				extent = here;
			else if (!heddle_value_equal(extent, here))
				extent = heddle_value_binary(p, HEDDLE_OP_MAX, extent, here);
		}
	}
	extent = heddle_value_binary(p, HEDDLE_OP_ADD, extent, heddle_value_int(p, HEDDLE_INT64, tile - 1));
	return heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, extent, heddle_value_int(p, HEDDLE_INT64, tile));
}

/* The isl parameter "c_i_block" becomes the variable i_block ("N_M_rounds": M_rounds); `threads`: how many values it has in a block if threads differ. */
static heddle_value *let(heddle_generator *g, heddle_node *block, const char *param, heddle_value *value, int64_t threads)
{
	const char *name = heddle_generate_name(g, param + strlen("c_")); /* or "N_" */
	int n = g->n_alias;
	HEDDLE_PUSH(g->program->arena, g->alias_param, n, param);
	HEDDLE_PUSH(g->program->arena, g->alias_name, g->n_alias, name);
	if (threads)
		heddle_generate_vary(g, name, threads);
	heddle_node_append(g->program, block, heddle_node_let(g->program, name, value));
	return heddle_value_variable(g->program, value->type, 1, name);
}

static void coordinates(heddle_generator *g, heddle_node *block, heddle_value **tiles)
{
	heddle_program *p = g->program;
	const heddle_kernel *kernel = g->kernel;
	heddle_type type = HEDDLE_INT32;
	heddle_value *thread = heddle_value_cast(p, type, heddle_value_thread(p));
	heddle_value *rest = heddle_value_cast(p, type, heddle_value_block(p));
	for (int i = kernel->n_member - 1; i >= 0; i--) {
		int m = kernel->member_order[i];
		heddle_value *count = heddle_value_cast(p, type, tiles[m]);
		heddle_value *here = i ? heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, rest, count) : rest;
		let(g, block, heddle_block_param(g->scop, &kernel->member[m]), here, 0);
		if (i)
			rest = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, rest, count);
	}
	for (int i = 0; i < g->mapped->n_quotient; i++) {
		const heddle_quotient *quotient = &g->mapped->quotient[i];
		let(g, block, quotient->param, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, heddle_generate_size(g, quotient->size),
								  heddle_value_int(p, type, quotient->by)), 0);
	}
	for (int m = 0; m < kernel->n_member; m++) {
		const heddle_member *member = &kernel->member[m];
		if (member->layout.threads == 1)
			continue;
		heddle_value *v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread,
						     heddle_value_int(p, type, member->thread_stride));
		if (member->thread_stride * member->layout.threads < kernel->threads)
			v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, v, heddle_value_int(p, type, member->layout.threads));
		let(g, block, heddle_thread_param(g->scop, member), v, member->layout.threads);
	}
	if (kernel->lanes > 1) {
		heddle_value *v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread,
						     heddle_value_int(p, type, kernel->lane_stride));
		if (kernel->lane_stride * kernel->lanes < kernel->threads)
			v = heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, v, heddle_value_int(p, type, kernel->lanes));
		let(g, block, "c_lane", v, kernel->lanes);
	}
	for (int i = 0; i < g->mapped->n_columns; i++) {
		int64_t columns = g->mapped->columns[i];
		heddle_value *width = heddle_value_int(p, type, columns);
		let(g, block, heddle_arena_printf(p->arena, "c_row%lld", (long long)columns),
		    heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, thread, width), (kernel->threads + columns - 1) / columns);
		let(g, block, heddle_arena_printf(p->arena, "c_column%lld", (long long)columns),
		    heddle_value_floor(p, HEDDLE_VALUE_FLOOR_MOD, thread, width), columns);
	}
}

/* Coordinates that nothing uses go. */
static void drop_unused(heddle_node *block)
{
	int n = 0;
	for (int i = 0; i < block->n_child; i++) {
		heddle_node *child = block->child[i];
		bool used = child->kind != HEDDLE_NODE_LET;
		for (int j = i + 1; j < block->n_child && !used; j++)
			used = heddle_node_depends(block->child[j], child->name);
		if (used)
			block->child[n++] = child;
	}
	block->n_child = n;
}

heddle_buffer *heddle_generate_registers(heddle_generator *g, heddle_registers *r, const char *of)
{
	if (r->buffer)
		return r->buffer;
	bool edge = !g->branch->interior && g->mapped->n_branch > 1;
	const char *stem = heddle_arena_printf(g->program->arena, "%s%s%s", r->name, of ? "_reg" : "", edge ? "_edge" : "");
	const char *name = stem;
	for (int n = 2;; n++) {
		bool used = false;
		for (int i = 0; i < g->program->n_buffer; i++)
			used |= !strcmp(g->program->buffer[i]->name, name);
		if (!used)
			break;
		name = heddle_arena_printf(g->program->arena, "%s_%d", stem, n);
	}
	r->buffer = heddle_buffer_new(g->program, name, HEDDLE_BUFFER_REGISTER, r->type, r->n);
	for (int i = 0; i < r->n; i++)
		r->buffer->extent[i] = heddle_value_int(g->program, HEDDLE_INT64, r->c[i].extent);
	r->buffer->of = of ? heddle_arena_strdup(g->program->arena, of) : NULL;
	heddle_node_append(g->program, g->top, heddle_node_declare(g->program, r->buffer));
	return r->buffer;
}

static heddle_node *branch_body(heddle_generator *g, const heddle_branch *branch)
{
	g->branch = branch;
	g->top = heddle_node_block(g->program);
	for (int i = 0; i < g->kernel->n_group; i++)
		g->kernel->group[i]->registers.buffer = NULL;
	for (int s = 0; s < g->kernel->n_stmt; s++)
		g->kernel->stmt[s]->accumulator.buffer = g->kernel->stmt[s]->total.buffer = NULL;
	heddle_node *body = heddle_generate_branch(g);
	heddle_node_append(g->program, g->top, body);
	return g->top;
}

static heddle_value *branch_condition(heddle_generator *g, const heddle_branch *branch)
{
	isl_set *context = isl_set_params(isl_set_copy(g->mapped->context));
	return heddle_generate_condition(g, isl_set_gist_params(isl_set_copy(branch->blocks), context), NULL);
}

/* Bytes: vectors in a tile that begin at a multiple of their size do not cross lines. */
static int widest_vector(const heddle_descriptor *descriptor)
{
	enum { LEAST = 16 };
	return descriptor->vector_bytes.set && descriptor->vector_bytes.value > LEAST ? (int)descriptor->vector_bytes.value : LEAST;
}

static void shared_tiles(heddle_generator *g)
{
	heddle_program *p = g->program;
	g->shared = HEDDLE_NEW_ARRAY(p->arena, heddle_buffer *, g->kernel->n_group + 1);
	for (int i = 0; i < g->kernel->n_group; i++) {
		heddle_group *group = g->kernel->group[i];
		if (group->space != HEDDLE_SPACE_SHARED)
			continue;
		int rank = 0;
		for (int at = 0; at < group->tensor->rank; at++)
			rank += heddle_tile_extent(group, at) > 1;
		rank += group->phases > 1;
		const char *name = heddle_arena_printf(p->arena, "%s_tile%s", group->tensor->name, "");
		for (int n = 2;; n++) {
			bool used = false;
			for (int b = 0; b < p->n_buffer; b++)
				used |= !strcmp(p->buffer[b]->name, name);
			if (!used)
				break;
			name = heddle_arena_printf(p->arena, "%s_tile%d", group->tensor->name, n);
		}
		heddle_buffer *buffer = heddle_buffer_new(p, name, HEDDLE_BUFFER_SHARED, group->tensor->type, rank);
		int n = 0;
		for (int at = 0; at < group->tensor->rank; at++)
			if (heddle_tile_extent(group, at) > 1)
				buffer->extent[n++] = heddle_value_int(p, HEDDLE_INT64, heddle_tile_extent(group, at));
		if (group->phases > 1) {
			buffer->extent[n - 1] = heddle_value_int(p, HEDDLE_INT64, group->phases);
			buffer->extent[n++] = heddle_value_int(p, HEDDLE_INT64, heddle_tile_row_length(group));
		}
		buffer->pad = rank ? group->pad : 0;
		buffer->early = group->early;
		buffer->align = widest_vector(g->scop->descriptor);
		buffer->of = heddle_arena_strdup(p->arena, group->tensor->name);
		g->shared[i] = group->shared = buffer;
		HEDDLE_PUSH(p->arena, g->launch->shared, g->launch->n_shared, buffer);
	}
}

/* The launch takes a buffer in global memory that it touches. */
static void use_global(heddle_generator *g, heddle_buffer *buffer)
{
	if (buffer->role > HEDDLE_BUFFER_TEMPORARY)
		return;
	for (int i = 0; i < g->launch->n_buffer; i++)
		if (g->launch->buffer[i] == buffer)
			return;
	HEDDLE_PUSH(g->program->arena, g->launch->buffer, g->launch->n_buffer, buffer);
}

static void collect_value(heddle_generator *g, const heddle_value *value)
{
	if (value->kind == HEDDLE_VALUE_LOAD)
		use_global(g, value->buffer);
	for (int i = 0; i < value->n_arg; i++)
		collect_value(g, value->arg[i]);
}

static void collect_global(heddle_generator *g, const heddle_node *node)
{
	if (node->kind == HEDDLE_NODE_STORE)
		use_global(g, node->buffer);
	if (node->kind == HEDDLE_NODE_COPY)
		use_global(g, node->source);
	for (int i = 0; i < node->n_value; i++)
		collect_value(g, node->value[i]);
	for (int i = 0; i < node->n_child; i++)
		collect_global(g, node->child[i]);
}

/* Launch arguments in program order. */
static void sort_buffers(heddle_launch *launch)
{
	for (int i = 1; i < launch->n_buffer; i++)
		for (int j = i; j > 0 && launch->buffer[j]->position < launch->buffer[j - 1]->position; j--) {
			heddle_buffer *swap = launch->buffer[j];
			launch->buffer[j] = launch->buffer[j - 1];
			launch->buffer[j - 1] = swap;
		}
}

/* What the config has stored past the caches. */
static void stream_buffers(heddle_generator *g)
{
	const heddle_kernel_config *config = g->kernel->config;
	for (int b = 0; b < g->launch->n_buffer; b++)
		for (int i = 0; i < config->n_stream; i++)
			if (!strcmp(g->launch->buffer[b]->name, config->stream[i])) {
				HEDDLE_PUSH(g->program->arena, g->launch->streamed, g->launch->n_streamed, g->launch->buffer[b]);
				break;
			}
}

/* Sizes for which no grid is small enough are refused here; for the others the host entry checks. */
static int check_blocks(const heddle_generator *g, const heddle_kernel *kernel, heddle_value *const *tiles)
{
	const int64_t most = heddle_descriptor_grid_limit(g->scop->descriptor);
	double least = 1;
	heddle_ranges *ranges = heddle_ranges_new(g->program, NULL);
	for (int m = 0; m < kernel->n_member; m++)
		least *= (double)heddle_ranges_of(ranges, tiles[m]).lo;
	heddle_ranges_free(ranges);
	if (least <= (double)most)
		return 0;
	heddle_error(g->scop->ctx, 613, &kernel->stmt[0]->source->location,
		     "%s would be launched with at least %.3g blocks for these sizes; %s takes %lld", g->launch->name, least,
		     g->scop->descriptor->name, (long long)most);
	return heddle_note(g->scop->ctx, NULL, "give smaller sizes (-s) or larger tiles (`tile=` of --config)"), -1;
}

static int launch_kernel(heddle_generator *g, heddle_kernel *kernel)
{
	heddle_program *p = g->program;
	heddle_launch *launch = HEDDLE_NEW(p->arena, heddle_launch);
	heddle_value *tiles[HEDDLE_MAX_DIM];
	heddle_text config = {0};
	g->kernel = kernel;
	g->launch = launch;
	g->n_name = g->n_varying = g->n_alias = 0;
	/* words of the program's text form, then what the user named */
	static const char *const word[] = {"block", "thread", "true", "false", "inf", "nan"};
	for (size_t i = 0; i < HEDDLE_COUNT(word); i++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, word[i]);
	for (int t = 0; t < g->scop->definition->n_tensor; t++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, g->scop->definition->tensor[t]->name);
	for (int i = 0; i < g->scop->definition->n_size; i++)
		HEDDLE_PUSH(p->arena, g->name, g->n_name, g->scop->definition->size[i]->name);
	launch->name = heddle_arena_printf(p->arena, "%s_%d", g->scop->definition->name, kernel->position);
	launch->threads = kernel->threads;
	/* Said aloud: without it some compilers aim at full occupancy and spill to get there; with it others do not unroll until
	 * registers are all that limits occupancy. */
	launch->min_blocks = kernel->threads == 1 ? 0 : kernel->config->resident ? kernel->config->resident : 1;
	launch->grid = heddle_value_int(p, HEDDLE_INT64, 1);
	for (int m = 0; m < kernel->n_member; m++) {
		tiles[m] = tiles_along(g, kernel, m);
		launch->grid = heddle_value_binary(p, HEDDLE_OP_MUL, launch->grid, tiles[m]);
	}
	if (check_blocks(g, kernel, tiles) < 0)
		return -1;
	if (kernel->position < g->scop->config->n_kernel)
		heddle_config_print_kernel(g->scop->config, kernel->position, &config);
	launch->config = heddle_arena_strdup(p->arena, heddle_text_str(&config));
	heddle_text_free(&config);
	HEDDLE_PUSH(p->arena, p->launch, p->n_launch, launch);
	g->mapped = kernel->mapped;
	launch->body = heddle_node_block(p);
	coordinates(g, launch->body, tiles);
	shared_tiles(g);
	int n_branch = g->mapped->n_branch; /* none: nothing runs for any of the sizes */
	heddle_node *last = n_branch ? branch_body(g, &g->mapped->branch[n_branch - 1]) : heddle_node_block(p);
	if (n_branch == 2) {
		heddle_node *first = branch_body(g, &g->mapped->branch[0]);
		last = heddle_node_if(p, branch_condition(g, &g->mapped->branch[0]), first, last);
		last->uniform = true;
	}
	heddle_node_append(p, launch->body, last);
	drop_unused(launch->body);
	collect_global(g, launch->body);
	sort_buffers(launch);
	stream_buffers(g);
	return heddle_scop_check(g->scop, "generate");
}

/* ---- buffers --------------------------------------------------------------------------------------------------------------------- */

static bool needs_memory(const heddle_scop *scop, const heddle_tensor *tensor)
{
	if (tensor->role != HEDDLE_ROLE_TEMPORARY)
		return true;
	for (int k = 0; k < scop->n_kernel; k++)
		for (int i = 0; i < scop->kernel[k]->n_group; i++) {
			const heddle_group *group = scop->kernel[k]->group[i];
			if (group->tensor == tensor && (group->space != HEDDLE_SPACE_REGISTER || group->live_out))
				return true;
		}
	return false;
}

static void add_buffer(heddle_generator *g, const heddle_tensor *tensor, heddle_buffer_role role)
{
	heddle_program *p = g->program;
	tensor = tensor->flat ? tensor->flat : tensor;
	heddle_buffer *buffer = heddle_buffer_new(p, heddle_arena_strdup(p->arena, tensor->name), role, tensor->type, tensor->rank);
	for (int i = 0; i < tensor->rank; i++)
		buffer->extent[i] = heddle_generate_shape(g, tensor->extent[i]);
	buffer->stride = tensor->stride ? HEDDLE_NEW_ARRAY(p->arena, heddle_value *, tensor->rank) : NULL;
	for (int i = 0; i < tensor->rank && tensor->stride; i++)
		buffer->stride[i] = heddle_generate_shape(g, tensor->stride[i]);
	buffer->align = tensor->align ? (int)tensor->align : 16;
	g->global[tensor->position] = buffer;
}

/* A stretch of the workspace that temporaries with disjoint lives share. */
typedef struct slot {
	heddle_value *bytes; /* the greatest of its temporaries, in whole units */
	int last;	     /* kernel that last touches the newest of them */
	int n;
	heddle_buffer **buffer;
} slot;

static bool touches(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 0; a < kernel->stmt[s]->n_access; a++)
			if (kernel->stmt[s]->access[a].tensor == tensor)
				return true;
	return false;
}

/* First come, first served: a temporary takes the first slot whose tensors are dead before its own first kernel. */
static void lay_out_workspace(heddle_generator *g)
{
	heddle_program *p = g->program;
	const heddle_scop *scop = g->scop;
	slot *slots = NULL;
	int n = 0;
	for (int k = 0; k < scop->n_kernel; k++)
		for (int t = 0; t < scop->definition->n_tensor; t++) {
			const heddle_tensor *tensor = scop->definition->tensor[t];
			heddle_buffer *buffer = g->global[t];
			bool first = buffer && buffer->role == HEDDLE_BUFFER_TEMPORARY && touches(scop->kernel[k], tensor);
			int last = k, free = 0;
			for (int j = 0; j < k && first; j++)
				first = !touches(scop->kernel[j], tensor);
			if (!first)
				continue;
			for (int j = k + 1; j < scop->n_kernel; j++)
				last = touches(scop->kernel[j], tensor) ? j : last;
			while (free < n && slots[free].last >= k)
				free++;
			if (free == n) {
				slot empty = {.bytes = heddle_value_int(p, HEDDLE_INT64, 0)};
				HEDDLE_PUSH(p->arena, slots, n, empty);
			}
			heddle_value *bytes = heddle_program_slot(p, buffer);
			bool same = heddle_value_equal(bytes, slots[free].bytes);
			slots[free].bytes = !slots[free].n ? bytes
					    : same	   ? bytes
							   : heddle_value_binary(p, HEDDLE_OP_MAX, slots[free].bytes, bytes);
			slots[free].last = last;
			HEDDLE_PUSH(p->arena, slots[free].buffer, slots[free].n, buffer);
		}
	p->workspace = heddle_value_int(p, HEDDLE_INT64, 0);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < slots[i].n; j++)
			slots[i].buffer[j]->offset = p->workspace;
		p->workspace = heddle_value_binary(p, HEDDLE_OP_ADD, p->workspace, slots[i].bytes);
	}
}

static void add_buffers(heddle_generator *g)
{
	const heddle_definition *definition = g->scop->definition;
	g->global = HEDDLE_NEW_ARRAY(g->program->arena, heddle_buffer *, definition->n_tensor);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < definition->n_tensor; i++) {
			const heddle_tensor *tensor = definition->tensor[i];
			bool scalar = tensor->role == HEDDLE_ROLE_INPUT && tensor->rank == 0;
			if (pass == 0 && tensor->role == HEDDLE_ROLE_INPUT && !scalar)
				add_buffer(g, tensor, HEDDLE_BUFFER_INPUT);
			else if (pass == 0 && tensor->role == HEDDLE_ROLE_OUTPUT)
				add_buffer(g, tensor, HEDDLE_BUFFER_OUTPUT);
			else if (pass == 0 && tensor->role == HEDDLE_ROLE_INOUT)
				add_buffer(g, tensor, HEDDLE_BUFFER_INOUT);
			else if (pass == 1 && scalar)
				add_buffer(g, tensor, HEDDLE_BUFFER_SCALAR);
			else if (pass == 2 && tensor->role == HEDDLE_ROLE_TEMPORARY && needs_memory(g->scop, tensor))
				add_buffer(g, tensor, HEDDLE_BUFFER_TEMPORARY);
		}
	lay_out_workspace(g);
}

static void add_preconditions(heddle_generator *g);

int heddle_pass_generate(heddle_scop *scop)
{
	heddle_program *p = heddle_program_new(scop->definition->name);
	heddle_generator g = {.scop = scop, .program = p};
	scop->program = p;
	p->warp = scop->descriptor->warp.set ? (int)scop->descriptor->warp.value : 1;
	p->size = HEDDLE_NEW_ARRAY(p->arena, heddle_program_size, scop->definition->n_size);
	for (int i = 0; i < scop->definition->n_size; i++) {
		const heddle_size *size = scop->definition->size[i];
		p->size[p->n_size++] =
			(heddle_program_size){heddle_arena_strdup(p->arena, size->name), size->min, size->max, size->divisor};
	}
	add_buffers(&g);
	for (int k = 0; k < scop->n_kernel; k++)
		if (launch_kernel(&g, scop->kernel[k]) < 0)
			return -1;
	add_preconditions(&g);
	return heddle_error_count(scop->ctx) ? -1 : 0;
}

/* Preconditions over sizes only; those that read tensors are checked where code is interpreted. */
static bool over_sizes(const heddle_expr *expr)
{
	if (expr->kind == HEDDLE_EXPR_READ || expr->kind == HEDDLE_EXPR_INDEX || expr->kind == HEDDLE_EXPR_CALL)
		return false;
	for (int i = 0; i < expr->n_arg; i++)
		if (!over_sizes(expr->arg[i]))
			return false;
	return true;
}

static void add_preconditions(heddle_generator *g)
{
	heddle_program *p = g->program;
	for (int i = 0; i < g->scop->definition->n_precondition; i++) {
		const heddle_expr *condition = g->scop->definition->precondition[i];
		if (over_sizes(condition))
			HEDDLE_PUSH(p->arena, p->precondition, p->n_precondition, heddle_generate_shape(g, condition));
	}
}
