/* Choosing where tensors live: tiles in shared memory, registers between statements.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/rules.h"

#include <stdlib.h>
#include <string.h>

static int uses(const heddle_kernel *kernel, const heddle_tensor *tensor)
{
	int n = 0;
	for (int s = 0; s < kernel->n_stmt; s++)
		for (int a = 0; a < kernel->stmt[s]->n_access; a++)
			n += kernel->stmt[s]->access[a].tensor == tensor;
	return n;
}

static int64_t box_bytes(const heddle_group *group)
{
	return heddle_tile_elements(group) * heddle_type_size(group->tensor->type);
}

/* The copy that the descriptor would have used wherever it can be; NULL: none. */
static const heddle_copy *preferred_copy(const heddle_descriptor *descriptor, const heddle_group *group)
{
	for (int i = 0; i < descriptor->n_copy; i++)
		if (descriptor->copy[i].preferred && heddle_copy_fits(group, &descriptor->copy[i]))
			return &descriptor->copy[i];
	return NULL;
}

/* Does every round of some dimension read the tile again?  A few rounds are not worth its making where its rows are long: lines of
 * those come in sequence and stay apart in the caches. */
static bool used_in_rounds(const heddle_group *group)
{
	enum { FEW = 4, LONG_ROW = 1024 };
	const int row = heddle_row_dim(group->stmt, group->access);
	int64_t rounds = 1;
	for (int d = 0; d < group->stmt->n_dim; d++)
		if (!choose_depends_on(group->stmt, group->access, d))
			rounds *= group->stmt->dim[d].layout.rounds;
	const bool is_long = row >= 0 && group->stmt->dim[row].layout.tile * heddle_type_size(group->tensor->type) >= LONG_ROW;
	return rounds > (is_long ? FEW : 1);
}

/* Does one thread take, in rounds along the tile's rows, vectors across them?  The tile is filled by rows and turned on the way. */
static bool turned_in_rounds(const heddle_group *group)
{
	const heddle_stmt *stmt = group->stmt;
	const int x = heddle_row_dim(stmt, &stmt->access[0]), y = heddle_row_dim(stmt, group->access);
	return !stmt->reduction && x >= 0 && y >= 0 && x != y && stmt->dim[x].layout.vector > 1 && stmt->dim[y].layout.rounds > 1 &&
	       choose_depends_on(stmt, group->access, x);
}

/* Fewer elements than a warp has threads, and all threads of the block read the same ones: a load serves them as a tile would. */
static bool is_read_alike(const heddle_scop *scop, const heddle_group *group)
{
	bool alike = heddle_tile_elements(group) < choose_quantity(&scop->descriptor->warp, 1);
	for (int d = 0; d < group->stmt->n_dim; d++)
		alike = alike && (group->stmt->dim[d].layout.threads == 1 || !choose_depends_on(group->stmt, group->access, d));
	return alike;
}

/* A tile is worth moving when a block reads its elements more than once, or reads them across rows.  One thread alone has nothing
 * of that, unless it goes over the tile in rounds, or the chip has a copy that it prefers: whole rows then come while the thread
 * does other things. */
static bool worth_staging(const heddle_kernel *kernel, const heddle_group *group, bool copies)
{
	const heddle_stmt *stmt = group->stmt;
	if (!group->tensor->rank || !group->access->affine)
		return false;
	bool reuse = false;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].member >= 0 && stmt->dim[d].layout.tile > 1 && stmt->reduction)
			reuse |= !choose_depends_on(stmt, group->access, d);
	int step = 1;
	for (int d = 0; d < stmt->n_dim; d++)
		if (stmt->dim[d].reduction)
			step *= (int)(stmt->dim[d].layout.tile / stmt->dim[d].layout.threads); /* of a thread: lanes share no step */
	if (kernel->threads == 1)
		return (reuse && (copies || used_in_rounds(group))) || turned_in_rounds(group);
	reuse = reuse && step > 1;
	/* across rows: threads that are neighbours along the target's contiguous dimension do not read neighbours */
	int x = heddle_row_dim(stmt, &stmt->access[0]), y = heddle_row_dim(stmt, group->access);
	bool across = !stmt->reduction && x >= 0 && y >= 0 && x != y && stmt->dim[x].layout.threads > 1 &&
		      stmt->dim[y].layout.tile > 1 && stmt->dim[y].member >= 0 && choose_depends_on(stmt, group->access, x);
	return reuse || across;
}

bool heddle_rules_rows_aligned(const heddle_tensor *tensor, int64_t v)
{
	if (!tensor->stride)
		return heddle_extent_multiple(tensor->extent[tensor->rank - 1], v);
	bool aligned = heddle_tensor_inner(tensor) == tensor->rank - 1;
	for (int e = 0; e + 1 < tensor->rank && aligned; e++)
		aligned = heddle_extent_multiple(tensor->stride[e], v);
	return aligned;
}

/* Do rows of the move begin at multiples of v elements, a power of two, in the tensor? */
static bool runs_aligned(const heddle_group *group, int64_t v)
{
	const heddle_tensor *tensor = group->tensor;
	const int row = heddle_tile_row(group);
	if (!heddle_tile_begins_at(group, v))
		return false;
	if (group->run == row)
		return heddle_rules_rows_aligned(tensor, v);
	return group->run == 0 || heddle_extent_multiple(tensor->extent[group->run], heddle_tile_run_unit(group, v));
}

/* The dimension of the tensor along which the statement takes vectors, where that is not the one of its rows, else the one of most
 * threads; -1: there is none. */
static int vectors_across(const heddle_group *group, int row)
{
	int across = -1;
	int64_t most = 1;
	for (int e = 0; e < group->tensor->rank; e++) {
		const int d = heddle_access_dim(group->stmt, group->access, e);
		if (e == row || d < 0)
			continue;
		const heddle_layout *layout = &group->stmt->dim[d].layout;
		const int64_t along = layout->vector > 1 ? INT64_MAX : group->stmt->dim[d].reduction ? 1 : layout->threads;
		if (along > most || along == INT64_MAX) {
			most = along;
			across = e;
		}
	}
	return across;
}

/* Threads along a row of a tile and elements free at the end of its array's rows, and the cycles that fill it. */
typedef struct filling {
	double cycles;
	int columns, pad;
	bool meets; /* lanes, in banks */
} filling;

/* Of columns alike the fewest, which have the fewest conflicts. */
static void keep_better(filling *best, const filling *f)
{
	if (f->cycles < best->cycles || (f->cycles == best->cycles && f->pad == best->pad))
		*best = *f;
}

/* As many threads along a row of the tile as it has vectors for, and the usual elements free, unless others save a sixteenth of the fill's
 * cycles: conflicts of banks, sectors that are read twice, threads that idle.  Where lanes would meet in banks, others by which they do not
 * may take a sixteenth more.  `unit`: elements that are read at once from the array. */
static void choose_columns(const heddle_scop *scop, const heddle_group *tile, int unit, heddle_group_config *choice)
{
	enum { MOST_PAD = 8 };
	const double usual = 0.9375;
	const int first = tile->pad % unit, most_pad = MOST_PAD * tile->phases, most = heddle_tile_most_columns(tile);
	heddle_group group = *tile;
	filling f = {0}, best = {.pad = choice->pad}, apart = {.pad = choice->pad};
	group.columns = most;
	const double all = choose_fill_cycles(scop, &group, &best.meets);
	best.cycles = usual * all;
	apart.cycles = all / usual;
	for (int units = 0; units * unit <= most_pad; units++)
		for (group.columns = most; group.columns >= 1; group.columns /= 2) {
			group.pad = units > 0 ? first + units * unit : tile->pad;
			f.columns = group.columns == most ? 0 : group.columns;
			f.pad = group.pad;
			f.cycles = choose_fill_cycles(scop, &group, &f.meets);
			keep_better(&best, &f);
			if (!f.meets)
				keep_better(&apart, &f);
		}
	if (best.meets && apart.cycles < all / usual && apart.cycles * usual <= best.cycles)
		best = apart;
	choice->columns = best.columns;
	choice->pad = best.pad;
}

bool choose_takes_apart(int64_t step)
{
	return step == 2 || step == 4;
}

/* Steps along the tile's rows from one result to the next, that threads and vectors take: where they are alike, what lies between them
 * is for other members of a window, and apart from theirs banks serve neighbours together. */
static int read_phases(const heddle_group *group)
{
	enum { LEAST = 4 };
	const heddle_stmt *stmt = group->stmt;
	const int row = heddle_tile_array_row(group);
	int64_t step = 0;
	for (int d = 0; d < stmt->n_dim; d++) {
		const int64_t own = llabs(choose_stride(stmt, group->access, row, d));
		if (stmt->dim[d].reduction || !own || stmt->dim[d].layout.threads * stmt->dim[d].layout.vector == 1)
			continue;
		if (step && step != own)
			return 1;
		step = own;
	}
	return choose_takes_apart(step) && group->run == row && group->size[row] >= step * LEAST ? (int)step : 1;
}

/* Elements of a row of the array, from one result to the next, that a thread may read at once: its vector's. */
static int read_along(const heddle_scop *scop, const heddle_group *group)
{
	const int row = heddle_tile_array_row(group);
	int64_t most = 1;
	for (int d = 0; d < group->stmt->n_dim; d++)
		if (!group->stmt->dim[d].reduction && choose_stride(group->stmt, group->access, row, d) == group->phases)
			most = choose_least(choose_wide(scop, group->tensor->type), group->stmt->dim[d].layout.vector);
	return (int)most;
}

/* Elements along dimension e of the tensor that a thread may read at once. */
static int read_at_once(const heddle_scop *scop, const heddle_group *group, int e)
{
	const int d = heddle_access_dim(group->stmt, group->access, e);
	return d < 0 ? 1 : (int)choose_least(choose_wide(scop, group->tensor->type), group->stmt->dim[d].layout.vector);
}

/* Turned: what threads take vectors of comes last, before it the rest in the tensor's order. */
static void turn_tile(heddle_group *group, int row, heddle_group_config *choice)
{
	const int across = vectors_across(group, row), rank = group->tensor->rank;
	int n = 0;
	for (int e = 0; e < rank; e++)
		if (e != across)
			group->order[n++] = e;
	if (across >= 0)
		group->order[n++] = across;
	heddle_tile_run(group);
	for (int e = 0; e < rank; e++)
		choice->order[e] = group->order[e];
	choice->n_order = rank;
}

/* Can the tile be moved by vectors, of which its rows take a few elements more where that is all it takes?  Those of a copy are as they are. */
static bool moves_whole(heddle_group *group, int64_t v, bool copied)
{
	if (!copied)
		heddle_tile_whole_vectors(group, v);
	return heddle_tile_run_length(group) % v == 0;
}

static void choose_shared(heddle_scop *scop, heddle_config *config, int k, heddle_group *group, int64_t *budget)
{
	bool copies = false;
	for (int i = 0; i < scop->descriptor->n_copy; i++)
		copies = copies || scop->descriptor->copy[i].preferred;
	if (!worth_staging(scop->kernel[k], group, copies) || !heddle_tile_box(scop, group->stmt, group->access, group))
		return;
	int rank = group->tensor->rank;
	for (int e = 0; e < rank; e++)
		group->order[e] = e;
	group->run = heddle_tile_row(group);
	if (is_read_alike(scop, group))
		return;
	heddle_group_config *choice = heddle_config_group(config, k, group->tensor->name, group->number, true);
	const int inner = heddle_tensor_inner(group->tensor), row = inner < 0 ? rank - 1 : inner;
	if (scop->kernel[k]->threads == 1) {
		const heddle_copy *copy = group->size[row] > 1 ? preferred_copy(scop->descriptor, group) : NULL;
		const int across = copy ? -1 : vectors_across(group, row);
		const int64_t bytes = box_bytes(group);
		const bool fits = bytes <= *budget && (copy || used_in_rounds(group) || turned_in_rounds(group));
		choice->space = fits ? HEDDLE_SPACE_SHARED : HEDDLE_SPACE_GLOBAL;
		if (!fits)
			return;
		*budget -= bytes;
		choice->copy = copy ? copy->name : NULL;
		int64_t v = copy ? 1 : choose_power_below(choose_quantity(&scop->descriptor->vector_bytes, 16) / heddle_type_size(group->tensor->type));
		while (v > 1 && group->size[row] % v)
			v /= 2;
		choice->vector = across < 0 ? (int)v : 1;
		for (int e = 0; e < rank && across >= 0; e++) /* turned: the dimension of the vectors comes last */
			choice->order[e] = e < across ? e : e + 1 < rank ? e + 1 : across;
		choice->n_order = across < 0 ? choice->n_order : rank;
		return;
	}
	int64_t v = 16 / heddle_type_size(group->tensor->type);
	/* transposed in shared memory when the row of the tensor runs along a reduction */
	int y = heddle_row_dim(group->stmt, group->access);
	bool turn = rank >= 2 && y >= 0 && group->stmt->dim[y].reduction;
	if (turn) {
		turn_tile(group, row, choice);
		choice->pad = (int)choose_wide(scop, group->tensor->type);
	} else if (!group->stmt->reduction) {
		choice->pad = 1;
	}
	heddle_tile_run(group);
	const heddle_copy *copy = preferred_copy(scop->descriptor, group);
	if (copy && !choice->copy)
		choice->copy = copy->name;
	while (v > 1 && ((!group->stmt->reduction && !choose_fills_bank(scop, group->tensor->type)) || !runs_aligned(group, v) ||
			 !moves_whole(group, v, choice->copy != NULL)))
		v /= 2;
	group->vector = (int)v;
	group->pad = choice->pad > 0 ? choice->pad : 0;
	group->phases = turn || choice->copy || !group->stmt->reduction ? 1 : read_phases(group);
	choice->phases = group->phases;
	if (!turn && !choice->copy && group->stmt->reduction) {
		const int64_t at_once = read_along(scop, group), length = heddle_tile_row_length(group);
		group->pad = choice->pad = (int)((length + at_once - 1) / at_once * at_once - length);
	}
	group->pad = 0;
	const bool fits = box_bytes(group) <= *budget;
	group->pad = choice->pad > 0 ? choice->pad : 0;
	if (!choice->copy && fits) /* a tile that does not may have any number of rows */
		choose_columns(scop, group, turn ? read_at_once(scop, group, group->order[rank - 1]) : group->stmt->reduction ? 4 : 1, choice);
	group->pad = choice->pad > 0 ? choice->pad : 0;
	int64_t bytes = box_bytes(group);
	if (bytes > *budget) {
		choice->space = HEDDLE_SPACE_GLOBAL;
		choice->n_order = choice->columns = choice->phases = 0;
		choice->pad = -1;
		choice->copy = NULL;
		return;
	}
	*budget -= bytes;
	choice->space = HEDDLE_SPACE_SHARED;
	choice->vector = (int)v;
}

/* Bytes of the arrays in which the kernel's sums of all rounds are. */
static int64_t sums_bytes(const heddle_kernel *kernel)
{
	int64_t bytes = 0;
	heddle_registers sums, total;
	for (int s = 0; s < kernel->n_stmt; s++)
		if (kernel->stmt[s]->reduction && heddle_stmt_sums(kernel->stmt[s], &sums, &total))
			bytes += heddle_array_bytes(&sums);
	return bytes;
}

/* Do the tiles that the statement goes through stand in shared memory, filled by threads, with nothing said of when? */
static bool says_nothing(const heddle_config *config, const heddle_kernel *kernel, const heddle_stmt *stmt)
{
	for (int g = 0; g < kernel->n_group; g++) {
		const heddle_group *group = kernel->group[g];
		const heddle_group_config *choice =
			heddle_config_group((heddle_config *)config, kernel->position, group->tensor->name, group->number, false);
		if (group->stmt == stmt && group->space == HEDDLE_SPACE_SHARED && (!choice || choice->copy || choice->prefetch >= 0))
			return false;
	}
	return true;
}

/* Which tiles are loaded a step ahead, and for how many blocks registers are shared out. */
static void choose_steps_ahead(const heddle_scop *scop, heddle_config *config, heddle_kernel *kernel, double kept)
{
	heddle_kernel_config *chosen = heddle_config_kernel(config, kernel->position);
	const bool open = !chosen->resident;
	if (open)
		chosen->resident = choose_resident(scop, kernel, kept);
	for (int s = 0; s < kernel->n_stmt; s++) {
		int resident;
		if (!says_nothing(config, kernel, kernel->stmt[s]) || !choose_early(scop, kernel, kernel->stmt[s], kept, &resident))
			continue;
		chosen = heddle_config_kernel(config, kernel->position);
		if (open)
			chosen->resident = resident;
		for (int g = 0; g < kernel->n_group; g++)
			if (kernel->group[g]->early)
				heddle_config_group(config, kernel->position, kernel->group[g]->tensor->name, kernel->group[g]->number, true)->prefetch = 1;
	}
}

/* Does the statement, without tiles of its own, go through its steps with others of which one has them in order?  What that one leaves each
 * step then stays in registers, and a tile would save less than that. */
static bool goes_along(const heddle_kernel *kernel, const bool *joins, const heddle_stmt *stmt)
{
	int at = 0, first, last;
	if (!joins)
		return false;
	while (kernel->stmt[at] != stmt)
		at++;
	for (first = at; first > 0 && joins[first]; first--)
		;
	for (last = at; last + 1 < kernel->n_stmt && joins[last + 1]; last++)
		;
	bool ordered = false;
	for (int s = first; s <= last && last > first; s++)
		ordered = ordered || heddle_goes_in_order(kernel->stmt[s]);
	return ordered;
}

int choose_spaces(heddle_scop *scop, heddle_config *config)
{
	for (int k = 0; k < scop->n_kernel; k++) {
		heddle_kernel *kernel = scop->kernel[k];
		int64_t budget = choose_quantity(&scop->descriptor->shared_per_block_static,
					  choose_quantity(&scop->descriptor->shared_per_block, 0));
		/* leave room for the exchange of lanes */
		const int64_t room = budget > 8192 && kernel->threads > 1 ? 4096 : 0, lanes = heddle_lanes_bytes(scop, kernel);
		budget -= lanes > room ? lanes : room;
		double kept = 0;
		int64_t arrays = HEDDLE_MAX_ARRAY_BYTES - sums_bytes(kernel); /* left for the elements of all tiles or rounds */
		bool in_order = false; /* few kernels have such steps; what joins takes longer to find */
		heddle_make_groups(scop, kernel);
		for (int s = 0; s < kernel->n_stmt; s++)
			in_order = in_order || heddle_goes_in_order(kernel->stmt[s]);
		const bool *joins = in_order ? heddle_joins(scop->arena, scop, kernel) : NULL;
		for (int g = 0; g < kernel->n_group; g++) {
			heddle_group *group = kernel->group[g];
			const heddle_group_config *given =
				heddle_config_group(config, k, group->tensor->name, group->number, false);
			if (given && given->space >= 0)
				continue;
			if (group->stmt && !goes_along(kernel, joins, group->stmt)) {
				choose_shared(scop, config, k, group, &budget);
				continue;
			}
			heddle_registers registers;
			if (group->stmt || uses(kernel, group->tensor) < 2 || !heddle_register_legal(scop, kernel, group->tensor, &registers) ||
			    heddle_array_bytes(&registers) > arrays)
				continue;
			arrays -= heddle_array_bytes(&registers);
			kept += choose_kept_words(kernel, group->tensor, &registers);
			heddle_config_group(config, k, group->tensor->name, group->number, true)->space = HEDDLE_SPACE_REGISTER;
		}
		choose_lines(scop, config, k);
		if (k < config->n_kernel)
			kernel->config = &config->kernel[k];
		for (int g = 0; g < kernel->n_group; g++) {
			heddle_group *group = kernel->group[g];
			const heddle_group_config *choice = heddle_config_group(config, k, group->tensor->name, group->number, false);
			group->space = choice && choice->space >= 0 ? (heddle_space)choice->space : HEDDLE_SPACE_GLOBAL;
			group->early = group->space == HEDDLE_SPACE_SHARED && choice->prefetch == 1;
		}
		choose_steps_ahead(scop, config, kernel, kept);
	}
	return 0;
}
