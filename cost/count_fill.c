/* Counting what fills the tiles of a kernel: rows along the tensor's own, which all threads of a block share.
 * SPDX-License-Identifier: MIT
 */
#include "cost/count_parts.h"

#include "frontend/affine.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 128, MOST_FILLS = 64 };

/* Steps whose tile begins alike and has as much of its tensor: bytes into a sector, its share of the steps, and by dimension of the tensor those of
 * the tile's elements that the tensor has. */
typedef struct alike {
	int64_t begin;
	double share;
	count_ends has[HEDDLE_MAX_DIM];
} alike;

static int64_t rest_of(const counter *c, int64_t bytes)
{
	return (bytes % c->transfer.sector + c->transfer.sector) % c->transfer.sector;
}

/* Adds a step to those of its kind; the last kind takes those that there is no room for. */
static int add_alike(alike *all, int n, int most, int rank, const alike *one)
{
	for (int k = 0; k < n; k++) {
		bool same = all[k].begin == one->begin;
		for (int e = 0; e < rank && same; e++)
			same = all[k].has[e].lower == one->has[e].lower && all[k].has[e].upper == one->has[e].upper;
		if (same || (k == most - 1 && n == most)) {
			all[k].share += one->share;
			return n;
		}
	}
	all[n] = *one;
	return n + 1;
}

/* Do ends or a guard tie dimension d to one of `those`? */
static bool is_tied(const counter *c, const heddle_stmt *stmt, int d, const bool *those)
{
	bool tied = false;
	for (int o = 0; o < stmt->n_dim && !tied; o++)
		tied = those[o] && count_is_tied(c, stmt, d, o);
	return tied;
}

/* Along which dimensions of the statement do tiles go with dimension e of the tensor? */
static void mark_along(const counter *c, const shape *s, const heddle_group *group, int e, bool *along)
{
	int64_t divisor;
	const linear start = count_quotient(c, count_subscript(s->stmt, group->access, e), &divisor);
	for (int d = 0; d < s->stmt->n_dim; d++)
		along[d] = along[d] || start.coefficient[d] != 0;
}

/* Adds to `of` the dimensions of the tensor that ends or a guard tie to those that are there: which tile of one it is says which there are of the
 * other.  They are together one in `done`. */
static void add_tied(const counter *c, const shape *s, const heddle_group *group, bool *of)
{
	bool along[HEDDLE_MAX_DIM] = {0}, own[HEDDLE_MAX_DIM];
	for (int e = 0; e < group->tensor->rank; e++)
		if (of[e])
			mark_along(c, s, group, e, along);
	for (int e = 0; e < group->tensor->rank; e++) {
		bool tied = false;
		memset(own, 0, sizeof(own));
		mark_along(c, s, group, e, own);
		for (int d = 0; d < s->stmt->n_dim; d++)
			tied = tied || (own[d] && (along[d] || is_tied(c, s->stmt, d, along)));
		of[e] = of[e] || tied;
	}
}

/* What the tile has along dimensions `of` of its tensor over the steps, and where it begins by them; their number, 0: too many steps to ask each.
 * `*mean`: elements that the tensor has, on average. */
static int parts_along(const counter *c, const shape *s, const heddle_group *group, const bool *of, alike part[MOST_PARTS], double *mean)
{
	const heddle_tensor *tensor = group->tensor;
	int64_t at[HEDDLE_MAX_DIM] = {0}, tiles[HEDDLE_MAX_DIM], divisor[HEDDLE_MAX_DIM];
	bool along[HEDDLE_MAX_DIM] = {0}, weighs[HEDDLE_MAX_DIM]; /* them, and other loops over tiles whose rounds move with them */
	linear start[HEDDLE_MAX_DIM];
	double rounds = 1, sum = 0, ran = 0;
	bool affine = true;
	int n = 0;
	*mean = 1;
	for (int e = 0; e < tensor->rank; e++) {
		if (!of[e])
			continue;
		start[e] = count_quotient(c, count_subscript(s->stmt, group->access, e), &divisor[e]);
		mark_along(c, s, group, e, along);
		affine = affine && start[e].affine;
		*mean *= (double)group->size[e];
	}
	for (int d = 0; d < s->stmt->n_dim; d++) {
		tiles[d] = (s->d[d].extent + s->stmt->dim[d].layout.tile - 1) / s->stmt->dim[d].layout.tile;
		rounds *= along[d] ? (double)tiles[d] : 1;
	}
	for (int d = 0; d < s->stmt->n_dim; d++)
		weighs[d] = !along[d] && s->stmt->dim[d].member < 0 && is_tied(c, s->stmt, d, along);
	if (rounds > MOST_DISTINCT || rounds < 1 || !affine)
		return 0;
	for (double r = 0; r < rounds; r++) {
		alike one = {.share = 1};
		double elements = 1;
		for (int d = 0; d < s->stmt->n_dim; d++)
			if (weighs[d])
				one.share *= count_rounds(c, s->stmt, d, along, at);
			else if (along[d] && !is_tied(c, s->stmt, d, weighs))
				one.share *= count_runs(c, s->stmt, d, along, at);
		for (int e = 0; e < tensor->rank && one.share > 0; e++) {
			const int64_t extent = count_value(c, tensor->extent[e], group->size[e]), stride = count_stride(c, tensor, e) * heddle_type_size(tensor->type);
			int64_t first = of[e] ? start[e].constant : 0;
			if (!of[e])
				continue;
			for (int d = 0; d < s->stmt->n_dim; d++) {
				const int64_t tile = s->stmt->dim[d].layout.tile, factor = start[e].coefficient[d];
				first += factor * tile * at[d] + (factor < 0 ? factor * (tile - 1) : 0);
			}
			first = affine_floor_div(first, divisor[e]);
			const int64_t from = first < 0 ? -first : 0, to = choose_least(group->size[e], extent - first);
			one.begin = rest_of(c, one.begin + first * stride);
			one.has[e] = to > from ? (count_ends){from, to} : (count_ends){0, 0};
			elements *= (double)(one.has[e].upper - one.has[e].lower);
		}
		if (one.share > 0) {
			ran += one.share;
			sum += one.share * elements;
			n = add_alike(part, n, MOST_PARTS, tensor->rank, &one);
		}
		for (int d = 0; d < s->stmt->n_dim; d++) {
			if (!along[d])
				continue;
			if (++at[d] < tiles[d])
				break;
			at[d] = 0;
		}
	}
	for (int k = 0; k < n; k++)
		part[k].share /= ran;
	*mean = ran > 0 ? sum / ran : 0;
	return n;
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

/* Byte addresses of element `vector` of row `row`: in the tensor, and in the tile.  Does the tensor have it?  `has`: NULL: it has all. */
static bool tile_addresses(const heddle_group *group, const tiling *t, int64_t row, int64_t vector, const count_ends *has, int64_t *from, int64_t *to)
{
	const int64_t bytes = heddle_type_size(group->tensor->type);
	int64_t column = vector * group->vector;
	bool there = true;
	*from = *to = 0;
	for (int e = group->tensor->rank - 1; e >= 0; e--) {
		int64_t *number = t->in_run[e] ? &column : &row;
		const int64_t index = *number % group->size[e];
		*number /= group->size[e];
		*from += index * t->stride[e] * bytes;
		*to += (e == t->row ? count_row_offset(group, index) : index * t->pitch[e]) * bytes;
		there = there && (!has || (index >= has[e].lower && index < has[e].upper));
	}
	return there;
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

/* Requests and transactions of one fill, of its first `rows` rows.  `has`: what the tensor has, NULL: all. */
static void count_rows(const counter *c, const heddle_group *group, int64_t rows, int64_t begin, const count_ends *has, round_of *load, round_of *store)
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
				int lane[MOST_WARP], n = 0, asked = 0, served = 0; /* before the part of the warp that banks serve at once */
				for (int thread = first; thread < first + c->warp && thread < c->kernel->threads; thread++) {
					int64_t row = r + thread / t.columns, vector = v + thread % t.columns;
					if (row >= rows || vector >= t.vectors)
						continue;
					asked += tile_addresses(group, &t, row, vector, has, &from[asked], &to[n]);
					lane[n++] = thread - first;
				}
				load->requests += asked > 0 ? (double)pieces : 0;
				for (int k = 0; k < asked; k++)
					from[k] += begin;
				for (int64_t piece = 0; piece < pieces; piece++) {
					load->transactions += count_sectors(c, from, asked, at_once * element);
					for (int k = 0; k < asked; k++)
						from[k] += at_once * element;
				}
				store->requests += n > 0 ? (double)parts : 0;
				for (int at = 0; at < n; at += part)
					store->packed += (double)parts * count_bank_cycles(c, to + at, n - at < part ? n - at : part, width * element);
				for (int next = 0; served < n; served = next) {
					while (next < n && lane[next] / part == lane[served] / part)
						next++;
					store->together += (double)parts;
					store->transactions += (double)parts * count_bank_cycles(c, to + served, next - served, width * element);
				}
			}
}

/* One fill, where the tensor has all of the tile's elements or those that it has. */
static void count_fill(const counter *c, const heddle_group *group, const alike *steps, bool all, round_of *load, round_of *store)
{
	const tiling t = tiling_of(c, group);
	const int64_t element = heddle_type_size(group->tensor->type), w = fill_width(c, group, &t);
	*load = *store = (round_of){0};
	count_rows(c, group, t.rows, steps->begin, all ? NULL : steps->has, load, store);
	if (w > 1) {
		load->requests /= (double)w;
		store->requests /= (double)w;
		load->transactions = load->requests * ceil((double)(w * element) / c->transfer.sector);
		store->transactions = store->requests * ceil((double)(w * element) / (c->transfer.banks * c->transfer.bank_width));
	}
}

/* Sectors in which the elements of a tile lie that begins so many bytes into one; rows that follow one another share them. */
static double sectors_at(const counter *c, const tiling *t, const heddle_group *group, int64_t begin)
{
	const int64_t bytes = t->vectors * group->vector * heddle_type_size(group->tensor->type);
	int64_t from, to, last = INT64_MIN;
	double n = 0;
	for (int64_t r = 0; r < t->rows; r++) {
		tile_addresses(group, t, r, 0, NULL, &from, &to);
		const int64_t first = (from + begin) / c->transfer.sector, end = (from + begin + bytes - 1) / c->transfer.sector;
		n += (double)(end - first + (first == last ? 0 : 1));
		last = end;
	}
	return n;
}

/* The kinds of steps, all dimensions together; their number.  `*valid`: elements of a tile that the tensor has, on average; `*share`: of the tile's
 * along dimensions whose steps are too many to be asked. */
static int kinds_of_steps(const counter *c, const shape *s, const heddle_group *group, alike kind[MOST_FILLS], double *valid, double *share)
{
	alike part[MOST_PARTS], more[MOST_FILLS];
	bool done[HEDDLE_MAX_DIM] = {0};
	const int rank = group->tensor->rank;
	int n = 1;
	kind[0] = (alike){.share = 1};
	*valid = *share = 1;
	for (int first = 0; first < rank; first++) {
		bool of[HEDDLE_MAX_DIM] = {0};
		double mean, all = 1;
		if (done[first])
			continue;
		of[first] = true;
		add_tied(c, s, group, of);
		int parts = parts_along(c, s, group, of, part, &mean), next = 0;
		if (parts == 0) { /* too many together */
			memset(of, 0, sizeof(of));
			of[first] = true;
			parts = parts_along(c, s, group, of, part, &mean);
		}
		*valid *= mean;
		for (int e = 0; e < rank; e++) {
			done[e] = done[e] || of[e];
			all *= of[e] ? (double)group->size[e] : 1;
		}
		for (int k = 0; k < n; k++) {
			for (int e = 0; e < rank; e++)
				kind[k].has[e] = of[e] ? (count_ends){0, group->size[e]} : kind[k].has[e];
			for (int p = 0; p < parts; p++) {
				alike one = kind[k];
				one.begin = rest_of(c, one.begin + part[p].begin);
				one.share *= part[p].share;
				for (int e = 0; e < rank; e++)
					one.has[e] = of[e] ? part[p].has[e] : one.has[e];
				next = add_alike(more, next, MOST_FILLS, rank, &one);
			}
		}
		if (parts) {
			memcpy(kind, more, sizeof(*kind) * (size_t)next);
			n = next;
		} else {
			*share *= mean / all;
		}
	}
	return n;
}

static bool has_all(const heddle_group *group, const alike *steps)
{
	for (int e = 0; e < group->tensor->rank; e++)
		if (steps->has[e].lower != 0 || steps->has[e].upper != group->size[e])
			return false;
	return true;
}

bool count_fills_before(const counter *c, const shape *s)
{
	for (int d = 0; d < s->stmt->n_dim; d++)
		if (!s->d[d].unrolled && s->stmt->dim[d].layout.items > 1)
			return false;
	for (int g = 0; g < c->kernel->n_group; g++) {
		const heddle_group *group = c->kernel->group[g];
		const int64_t columns = group->columns > 0 ? group->columns : 1;
		int64_t rows = 1;
		if (group->stmt != s->stmt || group->space != HEDDLE_SPACE_SHARED)
			continue;
		for (int e = 0; e < group->tensor->rank; e++)
			rows *= heddle_tile_in_run(group, e) ? 1 : group->size[e];
		if (rows % (c->kernel->threads / columns) || heddle_tile_run_length(group) / group->vector % columns)
			return true;
	}
	return false;
}

/* A shared tile is filled before each step: rows along the tensor's own, by all threads. */
void count_fills(counter *c, const shape *s, const heddle_group *group)
{
	const tiling t = tiling_of(c, group);
	const double bytes = heddle_type_size(group->tensor->type);
	double steps = count_busy(c, s->stmt), all = 1, valid, share;
	alike kind[MOST_FILLS];
	heddle_movement one = {0}; /* of a fill, on average */
	count_subscripts(c, s->stmt, group->access); /* are they affine? */
	for (int d = 0; d < s->stmt->n_dim; d++)
		steps *= s->d[d].outer;
	for (int e = 0; e < group->tensor->rank; e++)
		all *= (double)group->size[e];
	const int n = kinds_of_steps(c, s, group, kind, &valid, &share);
	for (int k = 0; k < n; k++) {
		const bool whole = has_all(group, &kind[k]);
		round_of load, store;
		count_fill(c, group, &kind[k], whole, &load, &store);
		one.load_requests += kind[k].share * share * load.requests;
		one.load_transactions += kind[k].share * share * load.transactions;
		one.store_requests += kind[k].share * store.requests;
		one.store_transactions += kind[k].share * store.transactions;
		if (whole)
			c->out->again += steps * kind[k].share * share * fmax(0, load.transactions - sectors_at(c, &t, group, kind[k].begin));
	}
	c->out->shared.store_bytes += steps * all * bytes;
	c->out->shared.store_requests += steps * one.store_requests;
	c->out->shared.store_transactions += steps * one.store_transactions;
	for (int g = -1; g < c->kernel->n_group; g++) {
		heddle_movement *to = g < 0 ? &c->out->global : &c->out->group[g];
		if (g >= 0 && c->kernel->group[g] != group)
			continue;
		to->load_bytes += steps * valid * bytes;
		to->load_requests += steps * one.load_requests;
		to->load_transactions += steps * one.load_transactions;
	}
}

double heddle_cost_fill(const heddle_scop *scop, const heddle_group *group, const int64_t *size, bool *meets)
{
	enum { CACHE_BYTES = 64 }; /* that a unit's cache gives a cycle */
	const counter c = {.scop = scop, .kernel = group->kernel, .size = size, .warp = count_warp(scop),
			   .transfer = heddle_descriptor_transfer(scop->descriptor)};
	const tiling t = tiling_of(&c, group);
	const int64_t at_once = group->kernel->threads / t.columns;
	round_of load = {0}, store = {0};
	count_rows(&c, group, choose_least(at_once, t.rows), 0, NULL, &load, &store);
	/* lanes that the banks serve in turn where those of a request could be served together hold up reads of others too; idle ones are taken
	 * as if the others stood together */
	const bool turned = !heddle_tile_in_run(group, heddle_tile_array_row(group));
	const double bytes = (double)((turned ? 1 : group->vector) * heddle_type_size(group->tensor->type));
	const double full = store.requests * c.warp * fmax(1, bytes / c.transfer.bank_width) / c.transfer.banks, conflicts = fmax(0, store.packed - full);
	*meets = store.transactions > store.together;
	return ceil((double)t.rows / (double)at_once) * (load.transactions * c.transfer.sector / CACHE_BYTES + store.packed + conflicts / 2);
}
