/* fuse: statements become device kernels, and dimensions shared by all statements of a kernel become its members.
 *
 * Enters: dependences, and the config's kernel of each statement.  Leaves: scop->kernel, dim.member.
 * Guaranteed: kernels in order respect all dependences; dependent instances inside a kernel agree in every member, so
 * blocks cut along members never depend on each other.
 * SPDX-License-Identifier: MIT
 */
#include "model/scop.h"

#include <string.h>

/* All order constraints from `source` to `sink` agree in source dimension i and sink dimension j.  `any` tells whether there
 * was one. */
static bool aligned(const heddle_scop *scop, const heddle_stmt *source, int i, const heddle_stmt *sink, int j, bool input,
		    bool *any)
{
	bool some = false;
	const int *first = &scop->first_dependence[source->position * scop->n_stmt + sink->position];
	for (int d = first[0]; d < first[1]; d++) {
		heddle_dependence *dependence = &scop->dependence[d];
		if (dependence->input != input || !heddle_dependence_relation(dependence))
			continue;
		*any = true;
		bool equal = heddle_dependence_aligned(dependence, i, j);
		if (!input && !equal)
			return false;
		some |= equal;
	}
	return !input || some;
}

static int dim_of_member(const heddle_stmt *stmt, int m)
{
	for (int i = 0; i < stmt->n_dim; i++)
		if (stmt->dim[i].member == m)
			return i;
	return -1;
}

/* Could dimension j of `sink` stand for member m?  Order constraints decide; without any, common reads do. */
static bool fits(const heddle_scop *scop, const heddle_kernel *kernel, int m, const heddle_stmt *sink, int j, bool input)
{
	bool any = false, some = false;
	for (int s = 0; s < kernel->n_stmt; s++) {
		const heddle_stmt *source = kernel->stmt[s];
		bool here = false;
		if (source == sink)
			break;
		bool equal = aligned(scop, source, dim_of_member(source, m), sink, j, input, &here);
		if (!input && !equal)
			return false;
		some |= here && equal;
		any |= here;
	}
	return input ? some : any;
}

static bool depends(const heddle_scop *scop, const heddle_kernel *kernel, const heddle_stmt *sink)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s] != sink && heddle_stmt_constrains(scop, kernel->stmt[s], sink))
			return true;
	return false;
}

static void drop_member(heddle_kernel *kernel, int m)
{
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int i = 0; i < kernel->stmt[s]->n_dim; i++) {
			heddle_dim *dim = &kernel->stmt[s]->dim[i];
			if (dim->member == m)
				dim->member = -1;
			else if (dim->member > m)
				dim->member--;
		}
	memmove(&kernel->member[m], &kernel->member[m + 1], sizeof(heddle_member) * (size_t)(kernel->n_member - m - 1));
	kernel->n_member--;
}

static void align_one(const heddle_scop *scop, heddle_kernel *kernel, heddle_stmt *sink)
{
	bool input = !depends(scop, kernel, sink);
	for (int m = 0; m < kernel->n_member;) {
		int found = -1;
		for (int j = 0; j < sink->n_dim && found < 0; j++)
			if (sink->dim[j].coincident && sink->dim[j].member < 0 && fits(scop, kernel, m, sink, j, input))
				found = j;
		if (found < 0) {
			drop_member(kernel, m);
			continue;
		}
		sink->dim[found].member = m++;
	}
}

void heddle_kernel_align(const heddle_scop *scop, heddle_kernel *kernel)
{
	kernel->n_member = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int i = 0; i < kernel->stmt[s]->n_dim; i++)
			kernel->stmt[s]->dim[i].member = -1;
	for (int s = 0; s < kernel->n_stmt; s++) {
		heddle_stmt *stmt = kernel->stmt[s];
		if (s) {
			align_one(scop, kernel, stmt);
			continue;
		}
		for (int i = 0; i < stmt->n_dim; i++)
			if (stmt->dim[i].coincident) {
				kernel->member[kernel->n_member] = (heddle_member){.name = stmt->dim[i].name};
				stmt->dim[i].member = kernel->n_member++;
			}
	}
}

bool heddle_fuse_legal(const heddle_scop *scop, const int *kernel_of, int n)
{
	for (int d = 0; d < scop->n_dependence; d++) {
		const heddle_dependence *dependence = &scop->dependence[d];
		int a = dependence->source->position, b = dependence->sink->position;
		if (!dependence->input && a < n && b < n && kernel_of[a] > kernel_of[b])
			return false;
	}
	return true;
}

/* Without a common member a kernel has one block; then any statements may share it.  With members, every dependence inside
 * agrees in them by construction. */
int heddle_pass_fuse(heddle_scop *scop)
{
	const heddle_config *config = scop->config;
	int n_kernel = 0;
	if (config->n_fuse != scop->n_stmt)
		return heddle_error(scop->ctx, 511, NULL, "`fuse` lists %d statements, the definition has %d (with those of splits; a recurrence and its first step are one)",
				    config->n_fuse, scop->n_stmt);
	for (int i = 0; i < scop->n_stmt; i++)
		if (config->fuse[i] + 1 > n_kernel)
			n_kernel = config->fuse[i] + 1;
	if (n_kernel > scop->n_stmt || !heddle_fuse_legal(scop, config->fuse, scop->n_stmt))
		return heddle_error(scop->ctx, 512, NULL, "`fuse` does not respect the order of the statements");
	for (int k = 0; k < n_kernel; k++) {
		heddle_kernel *kernel = HEDDLE_NEW(scop->arena, heddle_kernel);
		kernel->position = k;
		for (int i = 0; i < scop->n_stmt; i++)
			if (config->fuse[i] == k) {
				scop->stmt[i]->kernel = kernel;
				HEDDLE_PUSH(scop->arena, kernel->stmt, kernel->n_stmt, scop->stmt[i]);
			}
		if (!kernel->n_stmt)
			return heddle_error(scop->ctx, 511, NULL, "`fuse` has no statement in kernel %d", k);
		heddle_kernel_align(scop, kernel);
		HEDDLE_PUSH(scop->arena, scop->kernel, scop->n_kernel, kernel);
	}
	return heddle_scop_check(scop, "fuse");
}
