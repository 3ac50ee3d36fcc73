/* Distinct data and reuse distances of references in a tree of loops; sectors and bank cycles of one request.
 * SPDX-License-Identifier: MIT
 */
#include "cost/reuse.h"

#include "model/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SECTORS = 1024, MOST_KNOWN = 1024, MOST_LOOPS = 128 };

typedef struct touch {
	double bytes, runs; /* as of a heddle_touch */
	double room;        /* bytes of a cache that they occupy: more than they are where they map to few of its sets */
} touch;

typedef struct analysis {
	heddle_load *load;
	const heddle_reuse_loop *loop;
	int n_loop;
	const heddle_reference *reference;
	int n_reference;
	double line;
	const heddle_transfer *transfer; /* NULL: its sets and streams do not matter */
	touch *known; /* [MOST_KNOWN] of each reference and loop, that included or not; bytes -1: not known yet */
	bool crowded[MOST_LOOPS]; /* does an iteration begin more runs than prefetchers follow? */
} analysis;

/* ---- boxes ------------------------------------------------------------------------------------------------------------------- */

/* Is `inner` the loop itself or inside it?  Everything is inside -1. */
static bool is_inside(const analysis *a, int inner, int loop)
{
	while (inner >= 0 && inner != loop)
		inner = a->loop[inner].parent;
	return inner == loop;
}

/* The reference's digits of loops strictly inside `loop`, and of the loop itself if it is `included`, by stride. */
static int digits_inside(const analysis *a, const heddle_reference *r, int loop, bool included, heddle_reuse_digit *out)
{
	int n = 0;
	for (int i = 0; i < r->n_digit; i++) {
		const heddle_reuse_digit d = r->digit[i];
		const bool inside = d.loop < 0 || (d.loop == loop ? included : is_inside(a, d.loop, loop));
		if (!inside || d.extent <= 1 || d.stride == 0)
			continue;
		int at = n++;
		for (; at > 0 && out[at - 1].stride > fabs(d.stride); at--)
			out[at] = out[at - 1];
		out[at] = (heddle_reuse_digit){d.loop, fabs(d.stride), d.extent};
	}
	return n;
}

/* Bytes of the cache that runs of `run` bytes, `bytes` in all, occupy: where their strides map more lines to a set than it has ways,
 * as many ways as they would need. */
static double room_of(const heddle_transfer *t, const heddle_reuse_digit *digit, int n, double run, double bytes)
{
	if (!t || !t->ways || run >= t->way)
		return bytes;
	double covered = run, lines = 1; /* bytes of a way whose sets are used, lines that map to each of these sets */
	for (int i = 0; i < n; i++) {
		const double stride = digit[i].stride, extent = digit[i].extent;
		if (stride < run)
			continue;
		const bool whole_lines = stride < INT32_MAX && fmod(stride, t->line) == 0;
		const double step = whole_lines ? (double)heddle_gcd((int64_t)stride, t->way) : t->line;
		const double places = fmax(1, fmin(extent, t->way / fmax(step, covered)));
		covered *= places;
		lines *= extent / places;
	}
	return lines > t->ways ? fmax(bytes, lines * t->way) : bytes;
}

/* Distinct bytes, in whole lines, and the room that they take: neighbouring digits that continue each other are one run. */
static touch touch_of(const analysis *a, const heddle_reuse_digit *digit, int n, const heddle_reference *r)
{
	const double line = a->line, all = fmax(r->size, line);
	double run = r->bytes, step = 0, several = 1, runs = 1;
	for (int i = 0; i < n; i++) {
		const double stride = digit[i].stride, extent = digit[i].extent;
		if (r->indirect) {
			runs *= extent;
		} else if (step == 0 && stride <= fmax(run, line)) {
			run += stride * (extent - 1);
		} else if (step > 0 && stride <= step * several && fmod(stride, step) == 0) {
			several += stride / step * (extent - 1);
		} else {
			runs *= several;
			step = stride;
			several = extent;
		}
	}
	const double bytes = fmin(all, runs * several * fmax(run, line));
	const bool anywhere = r->indirect || bytes >= all || (n > 0 && digit[n - 1].stride >= r->size); /* or at places that data chose */
	return (touch){.bytes = bytes, .room = anywhere ? bytes : room_of(a->transfer, digit, n, fmax(run, line), bytes)};
}

/* Runs in the order in which they are touched, the innermost loop first.  A loop makes them longer if it goes on where each ends, or a
 * line further, unless prefetchers have forgotten them when it comes back; else it begins others. */
static double runs_of(const analysis *a, const heddle_reference *r, int loop, bool included)
{
	double run = fmax(r->bytes, a->line), runs = 1;
	heddle_reuse_digit own[HEDDLE_REFERENCE_DIGITS];
	int n = 0;
	for (int i = 0; i < r->n_digit; i++) {
		int at = r->digit[i].loop < 0 ? n++ : -1;
		for (; at > 0 && fabs(own[at - 1].stride) > fabs(r->digit[i].stride); at--)
			own[at] = own[at - 1];
		if (at >= 0)
			own[at] = r->digit[i];
	}
	for (int l = r->loop, i = 0; i < n || (l >= 0 && (l != loop || included));) {
		const bool inner = i < n, goes_on = inner || l >= MOST_LOOPS || !a->crowded[l];
		for (int d = 0; d < (inner ? 1 : r->n_digit); d++) {
			const heddle_reuse_digit digit = inner ? own[i] : r->digit[d];
			const double stride = fabs(digit.stride);
			if ((!inner && digit.loop != l) || digit.extent <= 1 || stride == 0)
				continue;
			if (goes_on && !r->indirect && stride <= run + a->line)
				run += stride * (digit.extent - 1);
			else
				runs *= digit.extent;
		}
		if (inner)
			i++;
		else
			l = l == loop ? -1 : a->loop[l].parent;
	}
	return runs;
}

static touch touched(const analysis *a, const heddle_reference *r, int loop, bool included)
{
	heddle_reuse_digit digit[HEDDLE_REFERENCE_DIGITS];
	const ptrdiff_t at = ((r - a->reference) * (a->n_loop + 1) + loop + 1) * 2 + included;
	touch *known = at < MOST_KNOWN ? &a->known[at] : NULL;
	if (known && known->bytes >= 0)
		return *known;
	touch here = touch_of(a, digit, digits_inside(a, r, loop, included, digit), r);
	here.runs = r->streamed ? 0 : fmin(runs_of(a, r, loop, included), here.bytes / a->line);
	if (known)
		*known = here;
	return here;
}

/* Does a block come back to what the reference touches in the whole loop?  It is in a cache then. */
static bool comes_back(const analysis *a, const heddle_reference *r, int loop)
{
	bool again = false;
	for (int l = a->loop[loop].parent; l >= 0 && !a->loop[l].grid && !again; l = a->loop[l].parent) {
		again = a->loop[l].trips > 1;
		for (int i = 0; i < r->n_digit; i++)
			again = again && (r->digit[i].loop != l || r->digit[i].stride == 0);
	}
	return again;
}

/* Runs of data that an iteration touches and the one before did not. */
static double new_runs(const analysis *a, int loop)
{
	double runs = 0;
	for (int i = 0; i < a->n_reference; i++) {
		double most = 0;
		bool first = true;
		for (int j = 0; j < a->n_reference && first; j++) {
			const heddle_reference *r = &a->reference[j];
			if (r->array != a->reference[i].array || !is_inside(a, r->loop, loop))
				continue;
			first = j >= i;
			const touch one = touched(a, r, loop, false);
			if (!comes_back(a, r, loop) && touched(a, r, loop, true).bytes > one.bytes)
				most = fmax(most, one.runs);
		}
		runs += first ? most : 0;
	}
	return runs;
}

static void forget(const analysis *a)
{
	for (int i = 0; i < MOST_KNOWN && i < a->n_reference * (a->n_loop + 1) * 2; i++)
		a->known[i].bytes = -1;
}

/* Loops from the innermost on: runs of an outer one depend on those inside. */
static void find_crowded(analysis *a)
{
	const double streams = a->transfer ? a->transfer->streams : 0;
	for (int l = (a->n_loop < MOST_LOOPS ? a->n_loop : MOST_LOOPS) - 1; l >= 0 && streams > 0; l--) {
		a->crowded[l] = new_runs(a, l) > streams;
		if (a->crowded[l])
			forget(a);
	}
}

static touch greater(touch a, touch b)
{
	return a.bytes < b.bytes ? b : a;
}

/* Distinct data of one iteration of `loop` (-1: of all), of references from `begin` to `end`: of those to one array the greatest, since their
 * data may coincide.  `average`: less where each runs in some iterations only (edges, interiors). */
static touch distinct(const analysis *a, int loop, int begin, int end, bool average)
{
	touch all = {0};
	for (int i = begin; i < end; i++) {
		touch most = {0};
		double sum = 0;
		bool first = true;
		if (!is_inside(a, a->reference[i].loop, loop))
			continue;
		for (int j = begin; j < end && first; j++) {
			if (a->reference[j].array != a->reference[i].array || !is_inside(a, a->reference[j].loop, loop))
				continue;
			const touch here = touched(a, &a->reference[j], loop, false);
			first = j >= i;
			most = greater(most, here);
			sum += fmin(1, a->reference[j].times) * here.bytes;
		}
		const double share = first ? (average ? fmin(1, sum / most.bytes) : 1) : 0;
		all.bytes += share * most.bytes;
		all.runs += share * most.runs;
		all.room += share * most.room;
	}
	return all;
}

static touch iteration(const analysis *a, int loop)
{
	return distinct(a, loop, 0, a->n_reference, false);
}

/* ---- reuse ------------------------------------------------------------------------------------------------------------------- */

/* How often a block runs the loop's body; -1: once. */
static double runs_of_body(const analysis *a, int loop)
{
	double n = 1;
	for (; loop >= 0; loop = a->loop[loop].parent)
		n *= a->loop[loop].grid ? 1 : a->loop[loop].trips;
	return n;
}

/* `times` what is touched `n` times less what is `fresh`. */
static void add_again(analysis *a, double distance, double times, touch one, double n, touch fresh)
{
	int i = distance > 1 ? (int)log2(distance) : 0;
	i = i < HEDDLE_LOAD_DISTANCES ? i : HEDDLE_LOAD_DISTANCES - 1;
	heddle_touch *to = &a->load->again[i];
	to->bytes += times * fmax(n * one.bytes - fresh.bytes, 0);
	to->runs += times * fmax(n * one.runs - fresh.runs, 0);
}

/* The child of `loop` around the reference, or a number of its own where it stands in the body itself. */
static int branch_of(const analysis *a, int reference, int loop)
{
	int at = a->reference[reference].loop;
	if (at == loop)
		return a->n_loop + reference;
	while (a->loop[at].parent != loop)
		at = a->loop[at].parent;
	return at;
}

/* Is reference i the first of its array in its branch of the loop's body?  *most: the data of that array there. */
static bool leads_branch(const analysis *a, int i, int loop, touch *most)
{
	const int branch = branch_of(a, i, loop);
	*most = (touch){0};
	for (int j = 0; j < a->n_reference; j++) {
		const heddle_reference *r = &a->reference[j];
		if (r->array != a->reference[i].array || !is_inside(a, r->loop, loop) || branch_of(a, j, loop) != branch)
			continue;
		if (j < i)
			return false;
		*most = greater(*most, touched(a, r, loop, false));
	}
	return true;
}

/* Parts of the body that touch the same array one after the other: all but the one that touches most find its data again, after what the body
 * touches from the nearest of them on. */
static void reuse_between(analysis *a, int loop)
{
	const double times = runs_of_body(a, loop);
	for (int i = 0; i < a->n_reference; i++) {
		touch mine, other, most = {0};
		if (!is_inside(a, a->reference[i].loop, loop) || !leads_branch(a, i, loop, &mine))
			continue;
		bool last = true; /* of equals the first is the one that touches first */
		int near = -1;
		for (int j = 0; j < a->n_reference; j++) {
			if (j == i || a->reference[j].array != a->reference[i].array || !is_inside(a, a->reference[j].loop, loop) ||
			    !leads_branch(a, j, loop, &other))
				continue;
			most = greater(most, other);
			near = j < i || near < 0 ? j : near;
			last = last && (other.bytes < mine.bytes || (other.bytes == mine.bytes && j > i));
		}
		if (last)
			continue;
		const double distance = distinct(a, loop, near < i ? near : i, near < i ? i : near, false).room;
		add_again(a, distance, times, mine, 1, (touch){0});
	}
}

/* An iteration comes back to what iterations before it touched. */
static void reuse_across(analysis *a, int loop, double distance)
{
	const double times = runs_of_body(a, a->loop[loop].parent), trips = a->loop[loop].trips;
	for (int i = 0; i < a->n_reference; i++) {
		const heddle_reference *r = &a->reference[i];
		touch mine;
		if (!is_inside(a, r->loop, loop) || !leads_branch(a, i, loop, &mine))
			continue;
		const touch one = touched(a, r, loop, false), all = touched(a, r, loop, true);
		add_again(a, distance, times * r->times, one, trips, all);
	}
}

static void add_span(heddle_load *load, double blocks, touch all)
{
	if (load->n_span == HEDDLE_LOAD_SPANS) /* the last one stays the whole grid */
		load->n_span--;
	load->span[load->n_span++] = (heddle_span){blocks, {all.bytes, all.runs}};
}

/* Does the reference touch the same data in all blocks? */
static bool is_common(const analysis *a, const heddle_reference *r)
{
	bool common = !r->indirect;
	for (int i = 0; i < r->n_digit && common; i++)
		common = r->digit[i].loop < 0 || !a->loop[r->digit[i].loop].grid;
	return common;
}

/* Data of one block, the greatest of each array's references. */
static double common_bytes(const analysis *a, int grid)
{
	double all = 0;
	for (int i = 0; i < a->n_reference; i++) {
		double most = 0;
		bool first = true;
		for (int j = 0; j < a->n_reference; j++) {
			const heddle_reference *r = &a->reference[j];
			if (r->array != a->reference[i].array || !is_common(a, r))
				continue;
			first = first && j >= i;
			most = fmax(most, touched(a, r, grid, false).bytes);
		}
		all += first && is_common(a, &a->reference[i]) ? most : 0;
	}
	return all;
}

/* The fastest dimension of the grid; -1: none. */
static int last_grid(const heddle_reuse_loop *loop, int n_loop)
{
	int grid = -1;
	for (int i = 0; i < n_loop; i++)
		grid = loop[i].grid ? i : grid;
	return grid;
}

double heddle_reuse_average(const heddle_reuse_loop *loop, int n_loop, const heddle_reference *reference, int n_reference, double line)
{
	touch known[MOST_KNOWN];
	const analysis a = {NULL, loop, n_loop, reference, n_reference, line, NULL, known, {false}};
	forget(&a);
	return distinct(&a, last_grid(loop, n_loop), 0, n_reference, true).bytes;
}

void heddle_reuse(heddle_load *load, const heddle_reuse_loop *loop, int n_loop, const heddle_reference *reference, int n_reference,
		  double line, const heddle_transfer *transfer)
{
	touch known[MOST_KNOWN];
	analysis a = {load, loop, n_loop, reference, n_reference, line, transfer, known, {false}};
	double blocks = 1;
	const int grid = last_grid(loop, n_loop);
	forget(&a);
	find_crowded(&a);
	load->n_span = 0;
	load->common = grid >= 0 ? common_bytes(&a, grid) : 0;
	load->ahead = 0;
	memset(load->again, 0, sizeof(load->again));
	add_span(load, 1, iteration(&a, grid));
	for (int i = 0; i < n_reference; i++) {
		bool first = reference[i].ahead;
		for (int j = 0; j < i && first; j++)
			first = reference[j].array != reference[i].array;
		load->ahead += first ? touched(&a, &reference[i], grid, false).bytes : 0;
	}
	for (int g = grid; g >= 0; g = loop[g].parent) {
		blocks *= loop[g].trips;
		add_span(load, blocks, iteration(&a, loop[g].parent));
	}
	for (int i = grid; i < n_loop; i++) {
		const double distance = iteration(&a, i).room;
		reuse_between(&a, i);
		if (i >= 0 && !loop[i].grid)
			reuse_across(&a, i, distance);
	}
}

/* ---- requests ---------------------------------------------------------------------------------------------------------------- */

/* Different pieces of memory, each of `size` bytes, that a request touches. */
static int distinct_pieces(int size, const int64_t *address, int n, int bytes)
{
	int64_t seen[MOST_SECTORS], greatest = INT64_MIN;
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int64_t s = address[i] / size; s <= (address[i] + bytes - 1) / size; s++) {
			int at = s > greatest ? -1 : count - 1;
			while (at >= 0 && seen[at] != s)
				at--;
			if (at < 0 && count < MOST_SECTORS)
				seen[count++] = s;
			greatest = s > greatest ? s : greatest;
		}
	return count;
}

double heddle_request_sectors(const heddle_transfer *transfer, const int64_t *address, int n, int bytes)
{
	const int count = distinct_pieces(transfer->sector, address, n, bytes);
	/* lanes that read the same are served one after the other as well, as wide as the way to the registers is */
	return fmax(count, (double)n * bytes / transfer->sector);
}

/* Words of one bank that lanes `from` to `to` need, those of the bank that needs most. */
static int conflict_degree(int banks, int bank_width, const int64_t *address, int from, int to, int bytes)
{
	int64_t word[HEDDLE_MOST_BANKS][HEDDLE_MOST_LANES];
	int count[HEDDLE_MOST_BANKS] = {0}, most = 0;
	for (int i = from; i < to; i++)
		for (int64_t w = address[i] / bank_width; w <= (address[i] + bytes - 1) / bank_width; w++) {
			const int bank = (int)(w % banks);
			int at = count[bank] - 1;
			while (at >= 0 && word[bank][at] != w)
				at--;
			if (at < 0 && count[bank] < HEDDLE_MOST_LANES)
				word[bank][count[bank]++] = w;
			most = count[bank] > most ? count[bank] : most;
		}
	return most;
}

/* As many lanes are served together as banks have words for them, whether or not they use all bytes of a word. */
static double bank_cycles(int banks, int bank_width, const int64_t *address, int n, int bytes)
{
	const int words = (bytes + bank_width - 1) / bank_width, step = words < banks ? banks / words : 1;
	double cycles = 0;
	for (int i = 0; i < n; i += step)
		cycles += conflict_degree(banks, bank_width, address, i, i + step < n ? i + step : n, bytes);
	return cycles;
}

double heddle_request_cycles(const heddle_transfer *transfer, const int64_t *address, int n, int bytes)
{
	return bank_cycles(transfer->banks, transfer->bank_width, address, n, bytes);
}

double heddle_request_cache_cycles(const heddle_transfer *transfer, const int64_t *address, int n, int bytes)
{
	const double lines = distinct_pieces(transfer->line, address, n, bytes) / transfer->lines;
	return transfer->cache_banks ? fmax(lines, bank_cycles(transfer->cache_banks, transfer->bank_width, address, n, bytes)) : lines;
}
