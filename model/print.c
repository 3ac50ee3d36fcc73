/* A scop as text, for `--dump`.
 * SPDX-License-Identifier: MIT
 */
#include "model/nest.h"
#include "model/passes.h"

#include <stdlib.h>

static void print_stmt(const heddle_stmt *stmt, heddle_text *out)
{
	char *domain = isl_set_to_str(stmt->domain);
	heddle_text_printf(out, "%s: %s\n", stmt->name, domain);
	free(domain);
	for (int i = 0; i < stmt->n_dim; i++) {
		const heddle_dim *dim = &stmt->dim[i];
		heddle_text_printf(out, "\t%s:%s%s", dim->name, dim->reduction ? " reduction" : "",
				   dim->coincident ? " coincident" : "");
		if (dim->member >= 0)
			heddle_text_printf(out, " member %d", dim->member);
		if (dim->layout.tile)
			heddle_text_printf(out, " tile %lld = %lld items x %lld threads x %lld", (long long)dim->layout.tile,
					   (long long)dim->layout.items, (long long)dim->layout.threads,
					   (long long)dim->layout.vector);
		heddle_text_add(out, "\n");
	}
	for (int a = 0; a < stmt->n_access; a++) {
		char *relation = isl_map_to_str(stmt->access[a].relation);
		heddle_text_printf(out, "\t%s %s\n", stmt->access[a].write ? "writes" : "reads", relation);
		free(relation);
	}
}

void heddle_scop_print(const heddle_scop *scop, heddle_text *out)
{
	static const char *const space[] = {"global", "shared", "register"};
	for (int i = 0; i < scop->n_stmt; i++)
		print_stmt(scop->stmt[i], out);
	for (int i = 0; i < scop->n_dependence; i++) {
		if (!heddle_dependence_relation(&scop->dependence[i]))
			continue;
		char *relation = isl_map_to_str(scop->dependence[i].relation);
		heddle_text_printf(out, "%s %s\n", scop->dependence[i].input ? "input" : "dependence", relation);
		free(relation);
	}
	for (int k = 0; k < scop->n_kernel; k++) {
		const heddle_kernel *kernel = scop->kernel[k];
		heddle_text_printf(out, "kernel %d: %d threads, %lld lanes:", k, kernel->threads, (long long)kernel->lanes);
		for (int s = 0; s < kernel->n_stmt; s++)
			heddle_text_printf(out, " %s", kernel->stmt[s]->name);
		heddle_text_add(out, "\n");
		for (int g = 0; g < kernel->n_group; g++)
			heddle_text_printf(out, "\t%s.%d: %s\n", kernel->group[g]->tensor->name, kernel->group[g]->number,
					   space[kernel->group[g]->space]);
		if (kernel->mapped)
			heddle_mapped_print(kernel->mapped, out);
	}
	if (scop->program)
		heddle_program_print(scop->program, out);
}
