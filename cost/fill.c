/* Cycles in which the threads of a block fill a shared tile: what the choice of its columns and pad goes by.
 * SPDX-License-Identifier: MIT
 */
#include "cost/choose.h"
#include "cost/reuse.h"

#include "frontend/affine.h"

#include <math.h>

/* Threads go along rows of the tile, some rows at a time. */
typedef struct filler {
	const heddle_group *group;
	heddle_transfer transfer;
	int64_t rows, row_threads, vectors;
	int row;				      /* dimension of the array's rows */
	int64_t stride[HEDDLE_MAX_DIM], pitch[HEDDLE_MAX_DIM]; /* elements to the next one, of the tensor and of the tile's array */
	double sectors, requests, cycles;	      /* cycles: lanes that take part stand next to each other */
	bool meets;				      /* some of those that are served together use one bank */
} filler;

/* Elements of the array before element `value` of its row. */
static int64_t row_offset(const heddle_group *group, int64_t value)
{
	const int64_t place = affine_floor_div(value, group->phases), phase = value - place * group->phases;
	return group->phases == 1 ? value : phase * (heddle_tile_row_length(group) + group->pad) + place;
}

static int64_t pitch_of(const heddle_group *group, int i, int64_t inner)
{
	const int row = heddle_tile_array_row(group), e = group->order[i];
	const bool padded = heddle_tile_in_run(group, row) ? e == group->run : e == row;
	if (e == row && group->phases > 1)
		return group->phases * (heddle_tile_row_length(group) + group->pad);
	return inner * group->size[e] + (padded ? group->pad : 0);
}

static int64_t stride_of(const heddle_scop *scop, const heddle_tensor *tensor, int e)
{
	int64_t stride = 1;
	if (tensor->stride)
		return heddle_scop_estimate(scop, tensor->stride[e]);
	for (int i = e + 1; i < tensor->rank; i++)
		stride *= heddle_scop_estimate(scop, tensor->extent[i]);
	return stride;
}

/* Byte addresses of vector number `vector` of row `row`: in the tensor, and in the tile. */
static void addresses(const filler *f, int64_t row, int64_t vector, int64_t *from, int64_t *to)
{
	const heddle_group *group = f->group;
	const int64_t bytes = heddle_type_size(group->tensor->type);
	int64_t column = vector * group->vector;
	*from = *to = 0;
	for (int e = group->tensor->rank - 1; e >= 0; e--) {
		int64_t *number = heddle_tile_in_run(group, e) ? &column : &row;
		const int64_t index = *number % group->size[e];
		*number /= group->size[e];
		*from += index * f->stride[e] * bytes;
		*to += (e == f->row ? row_offset(group, index) : index * f->pitch[e]) * bytes;
	}
}

/* One request of lanes, which stand at `lane` of their warp, to load from the tensor and store to the tile. */
static void request(filler *f, const int64_t *from, const int64_t *to, const int *lane, int n)
{
	const int element = heddle_type_size(f->group->tensor->type), vector = f->group->vector;
	const bool transposed = !heddle_tile_in_run(f->group, f->row);
	const int stores = transposed ? vector : 1, width = element * (transposed ? 1 : vector), bank = f->transfer.bank_width;
	const int at_once = (int)fmax(1, f->transfer.banks * bank / fmax(width, bank));
	f->sectors += heddle_request_sectors(&f->transfer, from, n, vector * element);
	f->requests += n > 0 ? stores : 0;
	f->cycles += stores * heddle_request_cycles(&f->transfer, to, n, width);
	for (int first = 0, next = 0; first < n; first = next) {
		while (next < n && lane[next] / at_once == lane[first] / at_once)
			next++;
		f->meets = f->meets || heddle_request_cycles(&f->transfer, to + first, next - first, width) > 1;
	}
}

/* The rows that all threads fill together. */
static void fill_rows(filler *f, int warp)
{
	const int threads = f->group->kernel->threads, columns = f->group->columns;
	for (int64_t v = 0; v < f->vectors; v += columns)
		for (int first = 0; first < threads; first += warp) {
			int64_t from[HEDDLE_MOST_LANES], to[HEDDLE_MOST_LANES];
			int lane[HEDDLE_MOST_LANES], n = 0;
			for (int t = first; t < first + warp && t < threads; t++) {
				if (t / columns >= f->row_threads || t / columns >= f->rows || v + t % columns >= f->vectors)
					continue;
				addresses(f, t / columns, v + t % columns, &from[n], &to[n]);
				lane[n++] = t - first;
			}
			request(f, from, to, lane, n);
		}
}

double choose_fill_cycles(const heddle_scop *scop, const heddle_group *group, bool *meets)
{
	enum { CACHE_BYTES = 64 }; /* that a unit's cache gives a cycle */
	const int warp = (int)fmin(HEDDLE_MOST_LANES, (double)choose_quantity(&scop->descriptor->warp, 1));
	filler f = {.group = group, .transfer = heddle_descriptor_transfer(scop->descriptor), .rows = 1,
		    .row_threads = group->kernel->threads / group->columns, .vectors = heddle_tile_run_length(group) / group->vector,
		    .row = heddle_tile_array_row(group)};
	int64_t pitch = 1;
	for (int i = group->tensor->rank - 1; i >= 0; i--) {
		const int e = group->order[i];
		f.stride[i] = stride_of(scop, group->tensor, i);
		f.rows *= heddle_tile_in_run(group, i) ? 1 : group->size[i];
		f.pitch[e] = pitch;
		pitch = pitch_of(group, i, pitch);
	}
	fill_rows(&f, warp);
	/* lanes that the banks serve in turn where those of a request could be served together hold up reads of others too */
	const bool transposed = !heddle_tile_in_run(group, f.row);
	const double bytes = (double)((transposed ? 1 : group->vector) * heddle_type_size(group->tensor->type));
	const double full = f.requests * warp * fmax(1, bytes / f.transfer.bank_width) / f.transfer.banks, conflicts = fmax(0, f.cycles - full);
	*meets = f.meets;
	return ceil((double)f.rows / (double)f.row_threads) * (f.sectors * f.transfer.sector / CACHE_BYTES + f.cycles + conflicts / 2);
}
