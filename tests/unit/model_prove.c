/* prove sees faults: in mapped kernels that are right, every leaf is dropped, moved, shrunk, widened or put at another place
 * in turn, statements are told to depend on later rounds or to read and write what others do, tiles are moved twice, and each of these
 * faults must be a violation.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest.h"
#include "model/passes.h"
#include "model/rewrite.h"

#include <isl/space.h>
#include <isl/val.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct subject {
	const char *name, *text, *sizes, *config;
	const char *chip; /* NULL: gpu */
} subject;

typedef struct bench {
	heddle_ctx *ctx;
	heddle_arena *arena;
	heddle_module *module;
	heddle_scop *scop;
	heddle_config *config;
	const subject *subject;
	int planted, missed;
} bench;

static void set_up(bench *b, const subject *s)
{
	*b = (bench){.ctx = heddle_ctx_new(), .arena = heddle_arena_new(), .subject = s};
	heddle_size_list *sizes = s->sizes ? heddle_sizes_parse(b->ctx, b->arena, s->sizes) : NULL;
	b->module = heddle_module_parse(b->ctx, s->name, s->text, sizes);
	b->config = heddle_config_parse(b->ctx, b->arena, s->config);
	if (!b->module || !b->config)
		fail_msg("%s: %s", s->name, heddle_ctx_messages(b->ctx));
	heddle_definition *d = heddle_definition_rewrite(b->ctx, b->arena, b->module->definition[0], b->config);
	const heddle_descriptor *descriptor = heddle_descriptor_find(b->ctx, s->chip ? s->chip : "gpu");
	if (!d || !descriptor)
		fail_msg("%s: %s", s->name, heddle_ctx_messages(b->ctx));
	b->scop = heddle_scop_new(b->ctx, b->arena, d, descriptor);
	heddle_pass_options options = {.stop = "map"};
	if (heddle_passes_run(b->scop, b->config, &options) < 0)
		fail_msg("%s: %s", s->name, heddle_ctx_messages(b->ctx));
	if (heddle_pass_prove(b->scop) < 0)
		fail_msg("%s without a fault: %s", s->name, heddle_ctx_messages(b->ctx));
	assert_string_equal(b->scop->proof, "proved");
}

static void tear_down(bench *b)
{
	heddle_scop_free(b->scop);
	heddle_module_free(b->module);
	heddle_arena_free(b->arena);
	heddle_ctx_free(b->ctx);
}

/* A fault stands: prove must say so. */
static void judge(bench *b, const char *what)
{
	heddle_diagnostics_clear(b->ctx);
	bool found = heddle_pass_prove(b->scop) < 0;
	const heddle_diagnostic *d = heddle_diagnostics(b->ctx);
	b->planted++;
	if (found && d && d->code != 970)
		fail_msg("%s, %s: %s", b->subject->name, what, heddle_ctx_messages(b->ctx));
	if (!found) {
		b->missed++;
		print_message("%s: %s: not seen\n", b->subject->name, what);
	}
	heddle_diagnostics_clear(b->ctx);
}

static const char *leaf_name(bench *b, int branch, const heddle_leaf *leaf)
{
	static const char *const kind[] = {"initialise", "compute", "combine", "finish", "store", "move", "copy", "wait", "barrier"};
	const heddle_mapped *mapped = leaf->stmt->kernel->mapped;
	return heddle_arena_printf(b->arena, "%s %s of %s", mapped->branch[branch].interior ? "interior" : "boundary",
				   kind[leaf->kind],
				   leaf->kind == HEDDLE_LEAF_MOVE ? leaf->group->tensor->name : leaf->stmt->name);
}

/* f + 1 in output `e` */
static __isl_give isl_multi_aff *moved(__isl_take isl_multi_aff *f, int e)
{
	isl_aff *aff = isl_multi_aff_get_aff(f, e);
	return isl_multi_aff_set_aff(f, e, isl_aff_add_constant_si(aff, 1));
}

/* The reduced dimensions of a result mean nothing, nor does the place of a combination: its loops are all that counts. */
static bool means_nothing(const heddle_leaf *leaf, int e)
{
	if (!leaf || leaf->kind == HEDDLE_LEAF_COMPUTE || leaf->kind == HEDDLE_LEAF_MOVE)
		return false;
	return leaf->kind == HEDDLE_LEAF_COMBINE || leaf->stmt->dim[e].reduction;
}

static void move_each(bench *b, const heddle_leaf *owner, isl_multi_aff **f, const char *leaf, const char *what)
{
	if (!*f)
		return;
	isl_size n = isl_multi_aff_dim(*f, isl_dim_out);
	for (int e = 0; e < n; e++) {
		if (means_nothing(owner, e))
			continue;
		isl_multi_aff *right = isl_multi_aff_copy(*f);
		*f = moved(*f, e);
		judge(b, heddle_arena_printf(b->arena, "%s: %s + 1 in dimension %d", leaf, what, e));
		isl_multi_aff_free(*f);
		*f = right;
	}
}

/* Nothing is changed where the blocks of the branch have the same instances. */
static void with_set(bench *b, int branch, const heddle_leaf *leaf, isl_set **which, __isl_take isl_set *set, const char *what)
{
	isl_set *blocks = leaf->stmt->kernel->mapped->branch[branch].blocks, *right = *which;
	isl_set *before = isl_set_intersect_params(isl_set_copy(right), isl_set_copy(blocks));
	isl_set *after = isl_set_intersect_params(isl_set_copy(set), isl_set_copy(blocks));
	if (which == &leaf->valid) {
		before = isl_set_intersect(before, isl_set_copy(leaf->domain));
		after = isl_set_intersect(after, isl_set_copy(leaf->domain));
	}
	if (isl_set_is_equal(before, after) != isl_bool_true) {
		*which = set;
		judge(b, what);
		*which = right;
	}
	isl_set_free(before);
	isl_set_free(after);
	isl_set_free(set);
}

static void change_domain(bench *b, int branch, heddle_leaf *leaf, const char *name)
{
	isl_size n = isl_set_dim(leaf->domain, isl_dim_set), params = isl_set_dim(leaf->domain, isl_dim_param);
	isl_set *empty = isl_set_empty(isl_set_get_space(leaf->domain));
	with_set(b, branch, leaf, &leaf->domain, empty, heddle_arena_printf(b->arena, "%s: never", name));
	for (int i = 0; i < n; i++) {
		isl_set *less = isl_set_lower_bound_si(isl_set_copy(leaf->domain), isl_dim_set, (unsigned)i, 1);
		with_set(b, branch, leaf, &leaf->domain, less, heddle_arena_printf(b->arena, "%s: not in the first round of loop %d", name, i));
		if (leaf->loop[i]->part != HEDDLE_PART_TILE)
			continue;
		isl_set *first = isl_set_upper_bound_si(isl_set_copy(leaf->domain), isl_dim_set, (unsigned)i, 0);
		with_set(b, branch, leaf, &leaf->domain, first, heddle_arena_printf(b->arena, "%s: only the first round of loop %d", name, i));
	}
	for (int i = 0; i < params && !leaf->fill; i++) { /* some of what is filled is not read */
		const char *param = isl_set_get_dim_name(leaf->domain, isl_dim_param, (unsigned)i);
		size_t length = strlen(param);
		bool block = length > 6 && !strcmp(param + length - 6, "_block");
		if (!strncmp(param, "N_", 2) || (leaf->kind == HEDDLE_LEAF_BARRIER && !block))
			continue;
		isl_set *less = isl_set_copy(leaf->domain);
		less = isl_set_lower_bound_si(less, isl_dim_param, (unsigned)i, 1);
		with_set(b, branch, leaf, &leaf->domain, less, heddle_arena_printf(b->arena, "%s: not where %s = 0", name, param));
	}
	/* without what bounds it, but for loops, the tiles that run, and coordinates; rounds outside may begin sums that nobody adds to */
	const bool nobodys = leaf->kind == HEDDLE_LEAF_INITIALISE && leaf->stmt->kernel->rounds_outside;
	if (leaf->kind != HEDDLE_LEAF_BARRIER && leaf->kind != HEDDLE_LEAF_COMBINE && !nobodys) {
		int tiles = 0;
		while (tiles < n && leaf->loop[tiles]->part == HEDDLE_PART_TILE)
			tiles++;
		isl_set *more = isl_set_project_out(isl_set_copy(leaf->domain), isl_dim_set, (unsigned)tiles, (unsigned)(n - tiles));
		for (int i = params - 1; i >= 0; i--) {
			const char *param = isl_set_get_dim_name(more, isl_dim_param, (unsigned)i);
			size_t length = strlen(param);
			if (strncmp(param, "N_", 2) && !(length > 6 && !strcmp(param + length - 6, "_block")))
				more = isl_set_project_out(more, isl_dim_param, (unsigned)i, 1);
		}
		more = isl_set_add_dims(more, isl_dim_set, (unsigned)(n - tiles));
		for (int i = tiles; i < n; i++) {
			more = isl_set_lower_bound_si(more, isl_dim_set, (unsigned)i, 0);
			more = isl_set_upper_bound_si(more, isl_dim_set, (unsigned)i, (int)leaf->loop[i]->extent - 1);
		}
		more = isl_set_set_tuple_name(more, leaf->name);
		more = isl_set_intersect_params(more, isl_set_copy(leaf->stmt->kernel->mapped->context));
		with_set(b, branch, leaf, &leaf->domain, more, heddle_arena_printf(b->arena, "%s: unguarded", name));
	}
}

/* Elements that are filled although they exist, or taken although they do not. */
static void change_valid(bench *b, int branch, heddle_leaf *leaf, const char *name)
{
	if (leaf->kind != HEDDLE_LEAF_MOVE)
		return;
	isl_set *all = isl_set_copy(leaf->domain);
	with_set(b, branch, leaf, &leaf->valid, all, heddle_arena_printf(b->arena, "%s: nothing is filled", name));
	for (int i = 0; i < leaf->n_loop; i++) {
		isl_set *less = isl_set_lower_bound_si(isl_set_copy(leaf->valid), isl_dim_set, (unsigned)i, 1);
		with_set(b, branch, leaf, &leaf->valid, less, heddle_arena_printf(b->arena, "%s: filled in the first round of loop %d", name, i));
	}
}

static int number_of(const heddle_nest *nest, const heddle_leaf *leaf, heddle_leaf_kind kind, bool *found)
{
	int n = 0;
	if (nest->kind == HEDDLE_NEST_LEAF) {
		*found |= nest->leaf == leaf;
		return !*found && nest->leaf->kind == kind;
	}
	for (int i = 0; i < nest->n_child && !*found; i++)
		n += number_of(nest->child[i], leaf, kind, found);
	return n;
}

static bool holds_kind(const heddle_nest *nest, heddle_leaf_kind kind, const heddle_stmt *stmt)
{
	if (nest->kind == HEDDLE_NEST_LEAF)
		return nest->leaf->kind == kind && nest->leaf->stmt == stmt;
	for (int i = 0; i < nest->n_child; i++)
		if (holds_kind(nest->child[i], kind, stmt))
			return true;
	return false;
}

/* Two moves, a wait and a barrier, or two parts of one statement, or of two, that do not depend on each other, may change places. */
static bool exchangeable(const heddle_scop *scop, const heddle_nest *a, const heddle_nest *b, const heddle_stmt *stmt)
{
	const heddle_nest *next = b;
	while (next->kind != HEDDLE_NEST_LEAF)
		next = next->child[0];
	if (next->leaf->stmt != stmt && next->leaf->kind != HEDDLE_LEAF_BARRIER && !heddle_stmt_constrains(scop, stmt, next->leaf->stmt))
		return true;
	bool both = holds_kind(a, HEDDLE_LEAF_COMPUTE, stmt) && holds_kind(b, HEDDLE_LEAF_COMPUTE, stmt);
	bool move_a = holds_kind(a, HEDDLE_LEAF_MOVE, stmt) || holds_kind(a, HEDDLE_LEAF_COPY, stmt);
	bool move_b = holds_kind(b, HEDDLE_LEAF_MOVE, stmt) || holds_kind(b, HEDDLE_LEAF_COPY, stmt);
	/* after a wait all threads see what was copied, so it may stand on either side of the barrier */
	bool sync = a->kind == HEDDLE_NEST_LEAF && a->leaf->kind == HEDDLE_LEAF_WAIT && b->kind == HEDDLE_NEST_LEAF &&
		    b->leaf->kind == HEDDLE_LEAF_BARRIER;
	/* the zeros that threads write need the barrier only */
	bool fill = holds_kind(a, HEDDLE_LEAF_MOVE, stmt) && holds_kind(b, HEDDLE_LEAF_WAIT, stmt);
	return both || (move_a && move_b) || sync || fill;
}

/* Dropped, exchanged with the next one, then the faults of one leaf. */
static void walk(bench *b, int branch, heddle_nest *nest)
{
	if (nest->kind == HEDDLE_NEST_LEAF) {
		heddle_leaf *leaf = nest->leaf;
		bool found = false;
		const heddle_nest *root = leaf->stmt->kernel->mapped->branch[branch].nest;
		const char *name = heddle_arena_printf(b->arena, "%s #%d", leaf_name(b, branch, leaf),
						       number_of(root, leaf, leaf->kind, &found));
		change_domain(b, branch, leaf, name);
		change_valid(b, branch, leaf, name);
		move_each(b, leaf, &leaf->instance, name, "instance");
		move_each(b, leaf, &leaf->element, name, "element");
		move_each(b, leaf, &leaf->position, name, "position");
		return;
	}
	for (int i = 0; i < nest->n_child; i++) {
		heddle_nest *child = nest->child[i];
		if (nest->kind == HEDDLE_NEST_SEQUENCE) {
			heddle_nest *inside = child;
			while (inside->kind != HEDDLE_NEST_LEAF)
				inside = inside->child[0];
			bool found = false;
			const heddle_nest *root = inside->leaf->stmt->kernel->mapped->branch[branch].nest;
			const char *name = heddle_arena_printf(b->arena, "%s #%d", leaf_name(b, branch, inside->leaf),
							       number_of(root, inside->leaf, inside->leaf->kind, &found));
			memmove(&nest->child[i], &nest->child[i + 1], sizeof(nest) * (size_t)(nest->n_child - i - 1));
			nest->n_child--;
			judge(b, heddle_arena_printf(b->arena, "%s: dropped", name));
			memmove(&nest->child[i + 1], &nest->child[i], sizeof(nest) * (size_t)(nest->n_child - i));
			nest->child[i] = child;
			nest->n_child++;
			if (i + 1 < nest->n_child && !exchangeable(b->scop, child, nest->child[i + 1], inside->leaf->stmt)) {
				nest->child[i] = nest->child[i + 1];
				nest->child[i + 1] = child;
				judge(b, heddle_arena_printf(b->arena, "%s: after the next", name));
				nest->child[i + 1] = nest->child[i];
				nest->child[i] = child;
			}
		}
		walk(b, branch, child);
	}
}

/* A place that the passes would not choose. */
static void misplace(bench *b)
{
	for (int k = 0; k < b->scop->n_kernel; k++)
		for (int g = 0; g < b->scop->kernel[k]->n_group; g++) {
			heddle_group *group = b->scop->kernel[k]->group[g];
			for (int e = 0; group->space == HEDDLE_SPACE_SHARED && e < group->tensor->rank; e++) {
				group->size[e]--;
				judge(b, heddle_arena_printf(b->arena, "%s: tile smaller in dimension %d", group->tensor->name, e));
				group->size[e]++;
			}
			move_each(b, NULL, &group->offset, group->tensor->name, "offset");
		}
}

/* The access with another subscript in one dimension. */
static void with_subscript(bench *b, heddle_access *access, int e, __isl_take isl_pw_aff *subscript, const char *what)
{
	isl_multi_pw_aff *right = isl_multi_pw_aff_copy(access->index);
	access->index = isl_multi_pw_aff_set_pw_aff(access->index, e, subscript);
	judge(b, what);
	isl_multi_pw_aff_free(access->index);
	access->index = right;
}

/* A statement that reads the element beside the one that its thread has, or whose instances all write one. */
static void other_elements(bench *b)
{
	for (int i = 0; i < b->scop->n_stmt; i++)
		for (int a = 0; a < b->scop->stmt[i]->n_access; a++) {
			heddle_access *access = &b->scop->stmt[i]->access[a];
			const char *stmt = b->scop->stmt[i]->name, *tensor = access->tensor->name;
			for (int e = 0; e < access->tensor->rank; e++) {
				const int d = heddle_access_dim(b->scop->stmt[i], access, e);
				const bool spread = d >= 0 && b->scop->stmt[i]->dim[d].member >= 0; /* over blocks and threads */
				isl_pw_aff *at = isl_multi_pw_aff_get_pw_aff(access->index, e);
				if (a && access->group->space == HEDDLE_SPACE_REGISTER)
					with_subscript(b, access, e, isl_pw_aff_add_constant_val(isl_pw_aff_copy(at), isl_val_one(b->scop->isl)),
						       heddle_arena_printf(b->arena, "%s reads %s + 1 in dimension %d", stmt, tensor, e));
				if (!a && spread && access->group->space == HEDDLE_SPACE_GLOBAL)
					with_subscript(b, access, e, isl_pw_aff_scale_val(isl_pw_aff_copy(at), isl_val_zero(b->scop->isl)),
						       heddle_arena_printf(b->arena, "%s writes %s at 0 in dimension %d", stmt, tensor, e));
				isl_pw_aff_free(at);
			}
		}
}

/* Does it share loops over rounds, or over tiles, with the statement before it? */
static bool shares_loops(bench *b, const heddle_stmt *stmt)
{
	bool joins = stmt->kernel->rounds_outside;
	for (int s = 1; s < stmt->kernel->n_stmt && !joins; s++)
		joins = stmt->kernel->stmt[s] == stmt && heddle_joins(b->scop->arena, b->scop, stmt->kernel)[s];
	return joins;
}

/* Statements that share loops, of which one would need what the other computes in a later round. */
static void disorder(bench *b)
{
	for (int k = 0; k < b->scop->n_dependence; k++) {
		heddle_dependence *dependence = &b->scop->dependence[k];
		const heddle_stmt *sink = dependence->sink;
		if (dependence->input || dependence->source == sink || !shares_loops(b, sink))
			continue;
		for (int e = 0; e < sink->n_dim; e++) {
			if (sink->dim[e].member >= 0 && !sink->kernel->rounds_outside) /* blocks */
				continue;
			isl_map *right = dependence->relation;
			isl_space *space = isl_space_range(isl_map_get_space(right));
			isl_multi_aff *later = moved(isl_multi_aff_identity(isl_space_map_from_set(space)), e);
			/* { a -> b - 1 } of { a -> b } */
			dependence->relation = isl_map_apply_range(isl_map_copy(right), isl_map_reverse(isl_map_from_multi_aff(later)));
			judge(b, heddle_arena_printf(b->arena, "%s needs %s of the next `%s`", sink->name, dependence->source->name,
						     sink->dim[e].name));
			isl_map_free(dependence->relation);
			dependence->relation = right;
		}
	}
}

static void faults(void **state)
{
	bench b;
	set_up(&b, *state);
	for (int k = 0; k < b.scop->n_kernel; k++) {
		heddle_mapped *mapped = b.scop->kernel[k]->mapped;
		for (int i = 0; i < mapped->n_branch; i++)
			walk(&b, i, mapped->branch[i].nest);
	}
	misplace(&b);
	other_elements(&b);
	disorder(&b);
	/* everything was put back */
	if (heddle_pass_prove(b.scop) < 0)
		fail_msg("%s: %s", b.subject->name, heddle_ctx_messages(b.ctx));
	assert_true(b.planted > 10);
	print_message("%s: %d faults, %d not as expected\n", b.subject->name, b.planted, b.missed);
	assert_int_equal(b.missed, 0);
	tear_down(&b);
}

static const subject subjects[] = {
	{"staged contraction",
	 "def f(float(M, K) A, float(K, N) B, float(N) bias) -> (C) {\n"
	 "	p(i, j) +=! A(i, k) * B(k, j)\n"
	 "	C(i, j) = p(i, j) + bias(j)\n"
	 "}\n",
	 NULL,
	 "fuse=0,0; k0.S0: tile=i:8,j:8,k:4 thread=i:4,j:4; k0.p.0: space=register; k0.A.0: space=shared; k0.B.0: space=shared",
	 NULL},
	{"rows with lanes",
	 "def f(float(N, D) I) -> (O) {\n"
	 "	m(n) max=! I(n, d)\n"
	 "	s(n) +=! I(n, d) - m(n)\n"
	 "	O(n, d) = I(n, d) / s(n)\n"
	 "}\n",
	 NULL,
	 "fuse=0,0,0; k0: threads=8; k0.S0: tile=d:16 thread=d:8 vector=d:2 reduce=d:lanes; k0.S1: tile=d:8 thread=d:8 reduce=d:lanes; "
	 "k0.S2: tile=d:8 thread=d:8; k0.m.0: space=register; k0.s.0: space=register",
	 NULL},
	{"rounds outside of two statements",
	 "def f(float(M, 6) A, float(6, N) B, float(N) bias) -> (C) {\n"
	 "	p(i, j) +=! A(i, k) * B(k, j)\n"
	 "	C(i, j) = p(i, j) + bias(j)\n"
	 "}\n",
	 NULL, "fuse=0,0; k0.S0: tile=i:8,j:8,k:6 round=i:4,j:2; k0.p.0: space=register; k0.B.0: space=shared",
	 NULL},
	{"steps of several statements",
	 "def f(float(N, D) I, float(N) shift) -> (s, O) {\n"
	 "	t(n, d) = I(n, d) - shift(n)\n"
	 "	s(n) +=! t(n, d) * I(n, d)\n"
	 "	q(n) max=! t(n, d)\n"
	 "	O(n, d) = t(n, d) * q(n)\n"
	 "}\n",
	 "D=40",
	 "fuse=0,0,0,0; k0.S0: tile=d:16 vector=d:8; k0.S1: tile=d:16 vector=d:8 reduce=d:lanes; k0.S2: tile=d:16 vector=d:8 reduce=d:lanes; "
	 "k0.S3: tile=d:16 vector=d:8; k0.t.0: space=register; k0.q.0: space=register",
	 "cpu"},
	{"transposition",
	 "def f(float(N, M) I) -> (O) {\n"
	 "	O(j, i) = I(i, j)\n"
	 "}\n",
	 NULL, "fuse=0; k0.S0: tile=i:8,j:8 thread=i:8,j:2; k0.I.0: space=shared pad=1",
	 NULL},
	{"copied tiles",
	 "def f(float(M, K) A, float(K, N) B) -> (C) {\n"
	 "	C(i, j) +=! A(i, k) * B(k, j)\n"
	 "}\n",
	 NULL,
	 "fuse=0; k0.S0: tile=i:8,j:8,k:4 thread=i:4,j:4; k0.A.0: space=shared copy=async_work_group_copy; k0.B.0: space=shared "
	 "copy=async_work_group_copy",
	 NULL},
	{"recurrence",
	 "def f(float(T, C) x, float(C) a) -> (h) {\n"
	 "	h(t, c) = x(t, c) where t in 0:1\n"
	 "	h(t, c) = a(c) * h(t-1, c) + x(t, c) where t in 1:T\n"
	 "}\n",
	 "T=1:1000", "fuse=0,0; k0.S0: tile=c:8 thread=c:8",
	 NULL},
	{"split reduction",
	 "def f(float(N, M) A) -> (s) {\n"
	 "	s(n) +=! A(n, m)\n"
	 "}\n",
	 NULL, "split=0:m:64; fuse=0,1; k0: threads=8; k0.S0: tile=m:8 thread=m:8 reduce=m:lanes; k1.S1: thread=n:4",
	 NULL},
	{"through a global temporary",
	 "def f(float(N, D) A) -> (O) {\n"
	 "	t(n, d) = A(n, d) * 2\n"
	 "	O(n, d) = t(n, D - 1 - d) where d in 0:D\n"
	 "}\n",
	 NULL, "fuse=0,0; k0: threads=8; k0.S0: tile=d:8 thread=d:8; k0.S1: tile=d:8 thread=d:8",
	 NULL},
};

/* There are more threads than rows of the tile: those that are left take the rows again. */
static void move_again(bench *b, heddle_leaf *leaf, const char *row, int64_t rows)
{
	const heddle_leaf right = *leaf;
	isl_aff *at = isl_multi_aff_get_aff(leaf->position, 0);
	isl_aff *again = isl_aff_mod_val(isl_aff_copy(at), isl_val_int_from_si(b->scop->isl, (long)rows));
	isl_aff *element = isl_aff_add(isl_aff_sub(isl_multi_aff_get_aff(leaf->element, 0), at), isl_aff_copy(again));
	leaf->position = isl_multi_aff_set_aff(isl_multi_aff_copy(right.position), 0, again);
	leaf->element = isl_multi_aff_set_aff(isl_multi_aff_copy(right.element), 0, element);
	const int param = isl_set_find_dim_by_name(right.domain, isl_dim_param, row);
	assert_true(param >= 0);
	leaf->domain = isl_set_project_out(isl_set_copy(right.domain), isl_dim_param, (unsigned)param, 1);
	leaf->domain = isl_set_set_tuple_name(leaf->domain, leaf->name);
	leaf->domain = isl_set_intersect_params(leaf->domain, isl_set_copy(leaf->stmt->kernel->mapped->context));
	leaf->valid = isl_set_copy(leaf->domain);
	assert_int_equal(heddle_pass_prove(b->scop), -1);
	assert_non_null(strstr(heddle_ctx_messages(b->ctx), "threads would race on an element"));
	heddle_diagnostics_clear(b->ctx);
	isl_multi_aff_free(leaf->position);
	isl_multi_aff_free(leaf->element);
	isl_set_free(leaf->domain);
	isl_set_free(leaf->valid);
	*leaf = right;
}

/* All moves of the branch; returns how many there are. */
static int move_each_again(bench *b, const heddle_nest *nest)
{
	int n = 0;
	for (int i = 0; i < nest->n_child; i++)
		n += move_each_again(b, nest->child[i]);
	if (nest->kind != HEDDLE_NEST_LEAF || nest->leaf->kind != HEDDLE_LEAF_MOVE)
		return n;
	const bool a = !strcmp(nest->leaf->group->tensor->name, "A");
	move_again(b, nest->leaf, a ? "c_row2" : "c_row8", a ? 8 : 2);
	return n + 1;
}

static void moved_by_two_threads(void **state)
{
	(void)state;
	static const subject s = {
		"idle threads", "def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }", "M=16,N=16,K=8",
		"fuse=0; k0.S0: tile=i:8,j:8,k:2 thread=i:8,j:8; k0.A.0: space=shared; k0.B.0: space=shared", NULL};
	bench b;
	set_up(&b, &s);
	assert_int_equal(b.scop->kernel[0]->mapped->n_branch, 1);
	assert_int_equal(move_each_again(&b, b.scop->kernel[0]->mapped->branch[0].nest), 2);
	assert_int_equal(heddle_pass_prove(b.scop), 0);
	tear_down(&b);
}

int main(void)
{
	struct CMUnitTest tests[HEDDLE_COUNT(subjects) + 1];
	for (size_t i = 0; i < HEDDLE_COUNT(subjects); i++)
		tests[i] = (struct CMUnitTest){subjects[i].name, faults, NULL, NULL, (void *)(uintptr_t)&subjects[i]};
	tests[HEDDLE_COUNT(subjects)] = (struct CMUnitTest)cmocka_unit_test(moved_by_two_threads);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
