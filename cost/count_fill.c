/* Counting what fills the tiles of a kernel: rows along the tensor's own, which all threads of a block share.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include <math.h>

/* Elements of the tile that its tensor has along dimension e, on average over the steps. */
static double existing(const counter *c, const shape *s, const heddle_group *group, const linear *subscript, int e)
{
	const heddle_tensor *tensor = group->tensor;
	int64_t extent = count_value(c, tensor->extent[e], group->size[e]), at[HEDDLE_MAX_DIM] = {0};
	double rounds = 1, sum = 0;
	for (int d = 0; d < s->stmt->n_dim; d++)
		rounds *= subscript[e].coefficient[d] ? ceil(s->d[d].outer) : 1; /* as many at most: ranges that move have fewer on average */
	if (rounds > MOST_DISTINCT || rounds < 1)
		return (double)group->size[e];
	for (double r = 0; r < rounds; r++) {
		int64_t first = subscript[e].constant;
		for (int d = 0; d < s->stmt->n_dim; d++) {
			int64_t tile = s->stmt->dim[d].layout.tile, factor = subscript[e].coefficient[d];
			first += factor * tile * at[d] + (factor < 0 ? factor * (tile - 1) : 0);
		}
		int64_t from = first < 0 ? 0 : first, to = choose_least(first + group->size[e], extent);
		sum += to > from ? (double)(to - from) : 0;
		for (int d = 0; d < s->stmt->n_dim; d++) {
			if (!subscript[e].coefficient[d])
				continue;
			if (++at[d] < (int64_t)ceil(s->d[d].outer))
				break;
			at[d] = 0;
		}
	}
	return sum / rounds;
}

/* How threads share a tile: those of a row, rows at a time.  By dimension of the tensor: elements to the next one, of the tensor and of the tile's
 * array, and whether a row goes along it. */
typedef struct tiling {
	int64_t rows, vectors, columns;
	int64_t stride[HEDDLE_MAX_DIM], pitch[HEDDLE_MAX_DIM];
	bool in_run[HEDDLE_MAX_DIM];
	int row; /* dimension of the array's rows */
} tiling;

static tiling tiling_of(const counter *c, const heddle_group *group)
{
	tiling t = {.rows = 1, .vectors = heddle_tile_run_length(group) / group->vector, .columns = group->columns, .row = heddle_tile_array_row(group)};
	int64_t pitch = 1;
	for (int e = 0; e < group->tensor->rank; e++) {
		t.in_run[e] = heddle_tile_in_run(group, e);
		t.stride[e] = count_stride(c, group->tensor, e);
		t.rows *= t.in_run[e] ? 1 : group->size[e];
	}
	for (int i = group->tensor->rank - 1; i >= 0; i--) {
		t.pitch[group->order[i]] = pitch;
		pitch = count_tile_pitch(group, i, pitch);
	}
	return t;
}

/* Byte addresses of element `vector` of row `row`: in the tensor, and in the tile. */
static void tile_addresses(const heddle_group *group, const tiling *t, int64_t row, int64_t vector, int64_t *from, int64_t *to)
{
	const int64_t bytes = heddle_type_size(group->tensor->type);
	int64_t column = vector * group->vector;
	*from = *to = 0;
	for (int e = group->tensor->rank - 1; e >= 0; e--) {
		int64_t *number = t->in_run[e] ? &column : &row;
		const int64_t index = *number % group->size[e];
		*number /= group->size[e];
		*from += index * t->stride[e] * bytes;
		*to += (e == t->row ? count_row_offset(group, index) : index * t->pitch[e]) * bytes;
	}
}

/* Members of the vectors by which one thread fills a tile that lies across the tensor's rows: its lines are turned
 * (model/simplify_turn.c); 1: element by element. */
static int64_t fill_width(const counter *c, const heddle_group *group, const tiling *t)
{
	enum { LEAST = 4 };
	int inner = -1; /* the loop around the one along the rows */
	for (int e = 0; e < group->tensor->rank; e++)
		inner = !heddle_tile_in_run(group, e) && group->size[e] > 1 ? e : inner;
	if (!c->language->zips || !c->language->unaligned || c->kernel->threads > 1 || group->vector > 1 || inner < 0 || inner != heddle_tile_array_row(group))
		return 1;
	int64_t w = c->language->max_vector;
	while (w >= LEAST && (group->size[inner] % w || t->vectors % w))
		w /= 2;
	return w < LEAST ? 1 : w;
}

/* Sectors of a request for what lies so far from each of these addresses, wherever in a sector the tile begins. */
static double sectors_of(const int64_t *from, int n, int64_t far, int64_t bytes, const double begin[SECTOR])
{
	double sum = 0;
	for (int b = 0; b < SECTOR; b++) {
		int64_t at[MOST_WARP];
		for (int k = 0; k < n && begin[b] > 0; k++)
			at[k] = from[k] + far + b;
		sum += begin[b] > 0 ? begin[b] * count_sectors(at, n, bytes) : 0;
	}
	return sum;
}

/* Shares of the steps whose tile begins so many bytes into a sector. */
static void find_beginnings(const counter *c, const shape *s, const heddle_group *group, const linear *subscript, double begin[SECTOR])
{
	const int64_t bytes = heddle_type_size(group->tensor->type);
	int64_t first = 0;
	for (int e = 0; e < group->tensor->rank; e++)
		first += subscript[e].constant * count_stride(c, group->tensor, e) * bytes;
	for (int d = 0; d < s->stmt->n_dim; d++)
		for (int e = 0; e < group->tensor->rank; e++)
			first += choose_least(0, subscript[e].coefficient[d] * (s->stmt->dim[d].layout.tile - 1)) * count_stride(c, group->tensor, e) * bytes;
	begin[(first % SECTOR + SECTOR) % SECTOR] = 1;
	for (int d = 0; d < s->stmt->n_dim; d++) {
		int64_t step = 0;
		for (int e = 0; e < group->tensor->rank; e++)
			step += subscript[e].coefficient[d] * count_stride(c, group->tensor, e);
		count_go_on(begin, s->d[d].outer, step * s->stmt->dim[d].layout.tile * bytes);
	}
}

/* Requests and transactions of one fill, of its first `rows` rows. */
static void count_rows(const counter *c, const heddle_group *group, int64_t rows, const double begin[SECTOR], round_of *load, round_of *store)
{
	const tiling t = tiling_of(c, group);
	int64_t row_threads = c->kernel->threads / t.columns, element = heddle_type_size(group->tensor->type);
	bool turned = !heddle_tile_in_run(group, heddle_tile_array_row(group));
	/* longer vectors than the language has are moved in parts */
	const int64_t at_once = c->language ? choose_least(group->vector, c->language->max_vector) : group->vector, pieces = group->vector / at_once;
	int64_t parts = turned ? group->vector : pieces, width = turned ? 1 : at_once;
	const int part = count_lanes_at_once(c, width * element);
	for (int64_t r = 0; r < rows; r += row_threads)
		for (int64_t v = 0; v < t.vectors; v += t.columns)
			for (int first = 0; first < c->kernel->threads; first += c->warp) {
				int64_t from[MOST_WARP], to[MOST_WARP];
				int lane[MOST_WARP], n = 0, served = 0; /* before the part of the warp that banks serve at once */
				for (int thread = first; thread < first + c->warp && thread < c->kernel->threads; thread++) {
					int64_t row = r + thread / t.columns, vector = v + thread % t.columns;
					if (row >= rows || vector >= t.vectors)
						continue;
					tile_addresses(group, &t, row, vector, &from[n], &to[n]);
					lane[n++] = thread - first;
				}
				load->requests += n > 0 ? (double)pieces : 0;
				for (int64_t piece = 0; piece < pieces; piece++)
					load->transactions += sectors_of(from, n, piece * at_once * element, at_once * element, begin);
				store->requests += n > 0 ? (double)parts : 0;
				for (int at = 0; at < n; at += part)
					store->packed += (double)parts * count_bank_cycles(to + at, n - at < part ? n - at : part, width * element);
				for (int next = 0; served < n; served = next) {
					while (next < n && lane[next] / part == lane[served] / part)
						next++;
					store->together += (double)parts;
					store->transactions += (double)parts * count_bank_cycles(to + served, next - served, width * element);
				}
			}
}

static void count_fill(const counter *c, const heddle_group *group, const double begin[SECTOR], round_of *load, round_of *store)
{
	const tiling t = tiling_of(c, group);
	const int64_t element = heddle_type_size(group->tensor->type), w = fill_width(c, group, &t);
	count_rows(c, group, t.rows, begin, load, store);
	if (w > 1) {
		load->requests = store->requests = load->requests / (double)w;
		load->transactions = load->requests * ceil((double)(w * element) / SECTOR);
		store->transactions = store->requests * ceil((double)(w * element) / (BANKS * BANK_WIDTH));
	}
}

/* Sectors in which the elements of a tile lie that begins so many bytes into one; rows that follow one another share them. */
static double sectors_at(const tiling *t, const heddle_group *group, int64_t begin)
{
	const int64_t bytes = t->vectors * group->vector * heddle_type_size(group->tensor->type);
	int64_t from, to, last = INT64_MIN;
	double n = 0;
	for (int64_t r = 0; r < t->rows; r++) {
		tile_addresses(group, t, r, 0, &from, &to);
		const int64_t first = (from + begin) / SECTOR, end = (from + begin + bytes - 1) / SECTOR;
		n += (double)(end - first + (first == last ? 0 : 1));
		last = end;
	}
	return n;
}

static double tile_sectors(const counter *c, const heddle_group *group, const double begin[SECTOR])
{
	const tiling t = tiling_of(c, group);
	double sum = 0;
	for (int b = 0; b < SECTOR; b++)
		sum += begin[b] > 0 ? begin[b] * sectors_at(&t, group, b) : 0;
	return sum;
}

/* A shared tile is filled before each step: rows along the tensor's own, by all threads. */
void count_fills(counter *c, const shape *s, const heddle_group *group)
{
	const heddle_tensor *tensor = group->tensor;
	double steps = 1, all = 1, valid = 1, bytes = heddle_type_size(tensor->type);
	for (int d = 0; d < s->stmt->n_dim; d++)
		steps *= s->d[d].outer;
	steps *= count_busy(c, s->stmt);
	linear *subscript = count_subscripts(c, s->stmt, group->access);
	for (int e = 0; e < tensor->rank; e++) {
		all *= (double)group->size[e];
		valid *= existing(c, s, group, subscript, e);
	}
	round_of load = {0}, store = {0};
	double begin[SECTOR] = {0};
	find_beginnings(c, s, group, subscript, begin);
	count_fill(c, group, begin, &load, &store);
	double share = all > 0 ? valid / all : 0;
	heddle_movement *shared = &c->out->shared, *global = &c->out->global;
	c->out->again += steps * share * fmax(0, load.transactions - tile_sectors(c, group, begin));
	shared->store_bytes += steps * all * bytes;
	shared->store_requests += steps * store.requests;
	shared->store_transactions += steps * store.transactions;
	for (int g = -1; g < c->kernel->n_group; g++) {
		heddle_movement *to = g < 0 ? global : &c->out->group[g];
		if (g >= 0 && c->kernel->group[g] != group)
			continue;
		to->load_bytes += steps * valid * bytes;
		to->load_requests += steps * load.requests;
		to->load_transactions += steps * load.transactions * share;
	}
}

double heddle_cost_fill(const heddle_scop *scop, const heddle_group *group, const int64_t *size, bool *meets)
{
	const counter c = {.scop = scop, .kernel = group->kernel, .size = size, .warp = count_warp(scop)};
	const tiling t = tiling_of(&c, group);
	const int64_t at_once = group->kernel->threads / t.columns;
	const double begin[SECTOR] = {1};
	round_of load = {0}, store = {0};
	count_rows(&c, group, choose_least(at_once, t.rows), begin, &load, &store);
	/* lanes that the banks serve in turn where those of a request could be served together hold up reads of others too; idle ones are taken
	 * as if the others stood together */
	const bool turned = !heddle_tile_in_run(group, heddle_tile_array_row(group));
	const double bytes = (double)((turned ? 1 : group->vector) * heddle_type_size(group->tensor->type));
	const double full = store.requests * c.warp * fmax(1, bytes / BANK_WIDTH) / BANKS, conflicts = fmax(0, store.packed - full);
	*meets = store.transactions > store.together;
	return ceil((double)t.rows / (double)at_once) * (load.transactions / 2 + store.packed + conflicts / 2);
}
