/* Every barrier, guard, store, index, bound and combination of generated programs is removed or changed in turn: each mutant
 * must be found by validation, by the interpreter or by its numbers.
 *
 *   test_mutation [-n EVERY] [-p SUBJECT] [-v]
 *
 * -n: only each nth mutant; -p: only the subject of this number; -v: what each mutant was found by.  A mutant that survives is an
 * equivalent one, listed below with its reason, or a fault of the tests, or a construct that the program does not need.
 * SPDX-License-Identifier: MIT
 */
#include "compile/compile.h"
#include "harness/mutate.h"
#include "tests/programs/pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Configs are small, so that small sizes have interior and boundary blocks, several steps and a remainder. */
typedef struct subject {
	const char *file, *target, *config, *sizes;
	int n_tile;
	heddle_tile_hint tile[6];
	double cost;
	const char *more[12]; /* further sizes: remainders that the tile sizes do not give */
	const char *infinite; /* an input with some infinite elements: what is left out must not be multiplied by 0 instead */
	/* mutants that mean the same: a part of the description, and why */
	const char *same[24][2];
	int unreached; /* mutants in code that no size reaches */
} subject;

static const subject subjects[] = {
	{.file = "layers/matmul_bias_relu.tc",
	 .target = "cuda:h200",
	 .config = "fuse=0,0; k0.S0: tile=i:8,j:16,k:4 thread=i:4,j:4 vector=j:2; k0.product.0: space=register; "
		   "k0.A.0: space=shared order=1,0 pad=1; k0.B.0: space=shared vector=4",
	 .n_tile = 3,
	 .tile = {{"i", 8, 1}, {"j", 16, 1}, {"k", 4, 1}},
	 .cost = 2e4,
	 .more = {"M=8,N=30,K=5", "M=13,N=29,K=6", "M=11,N=24,K=7", "M=14,N=22,K=8", "M=9,N=31,K=5", "M=15,N=17,K=3", "M=8,N=16,K=1"},
	 .same = {{"<= for < in the condition of ?:", "what the tile holds outside of the tensor is never read"},
		  {"the condition of ?: always true", "the same, where it lies in the buffer"},
		  {"was K_rest > 0", "a step of no elements does nothing"},
		  {"upper bound of the loop over k_item3 + 1", "the tile is filled with 0 behind K: a further step adds nothing"},
		  {"upper bound of the loop over k_tile + 1", "a further round moves zeros and sums nothing"}}},
	{.file = "layers/matmul_bias_relu.tc",
	 .target = "opencl:cpu",
	 .config = "fuse=0,0; k0.S0: tile=i:2,j:8,k:2 vector=j:4; k0.product.0: space=register",
	 .n_tile = 3,
	 .tile = {{"i", 2, 1}, {"j", 8, 1}, {"k", 2, 1}},
	 .cost = 5e3,
	 .more = {"M=4,N=14,K=5", "M=5,N=13,K=4", "M=2,N=10,K=3", "M=4,N=23,K=3", "M=3,N=18,K=2"},
	 .same = {{"was i_block * 2 < int32(M)", "each block has a first row"},
		  {"was j_block * 8 + 4 < int32(N)", "a vector of no members is read, and written back as it was"},
		  {"upper bound of the loop over k_tile + 1", "a further round sums nothing"}}},
	{.file = "tests/programs/copied.tc",
	 .target = "opencl:gpu",
	 .config = "fuse=0; k0.S0: tile=i:8,j:8,k:4 thread=i:4,j:4; k0.A.0: space=shared copy=async_work_group_copy; "
		   "k0.B.0: space=shared copy=async_work_group_copy",
	 .n_tile = 3,
	 .tile = {{"i", 8, 1}, {"j", 8, 1}, {"k", 4, 1}},
	 .cost = 2e4,
	 .more = {"M=8,N=15,K=5", "M=13,N=14,K=6", "M=11,N=12,K=7", "M=14,N=11,K=8", "M=9,N=16,K=5", "M=15,N=9,K=3", "M=8,N=8,K=1"},
	 .same = {{"node 32 (line 5): barrier removed", "after the wait all threads see what was copied; nothing else was written"},
		  {"node 56 (line 5): barrier removed", "the same in the last step"},
		  {"was K_rest > 0", "a step of no elements does nothing"},
		  {"was column4_k >= int32(K)", "zeros behind K are not read: the sum ends there"},
		  {"was row8_k >= int32(K)", "the same"}}},
	{.file = "tests/mutation/softmax.tc",
	 .target = "cuda:h200",
	 .config = "fuse=0,0,0; k0: threads=64; k0.S0: tile=d:64 thread=d:64 reduce=d:lanes; "
		   "k0.S1: tile=d:64 thread=d:64 reduce=d:lanes; k0.S2: tile=d:64 thread=d:64; k0.largest.0: space=register; "
		   "k0.total.0: space=register",
	 .n_tile = 1,
	 .tile = {{"d", 64, 1}},
	 .cost = 2e4},
	{.file = "tests/mutation/softmax.tc",
	 .target = "opencl:cpu",
	 .config = "fuse=0,0,0; k0.S0: tile=d:4 vector=d:4 reduce=d:lanes; k0.S1: tile=d:4 vector=d:4 reduce=d:lanes; "
		   "k0.S2: tile=d:4 vector=d:4; k0.largest.0: space=register; k0.total.0: space=register",
	 .n_tile = 1,
	 .tile = {{"d", 4, 1}},
	 .cost = 5e3,
	 .same = {{"was D_rest > 0", "a step of no elements puts back what it took"}}},
	{.file = "layers/conv2d.tc",
	 .target = "cuda:h200",
	 .config = "fuse=0; k0.S0: tile=m:4,w:8,kh:3,kw:3 thread=m:2,w:4; k0.I.0: space=shared; k0.weight.0: space=shared",
	 .n_tile = 2,
	 .tile = {{"m", 4, 1}, {"w", 8, 1}},
	 .cost = 4e4,
	 .more = {"N=1,C=3,M=5,H=5,W=31", "N=1,C=2,M=4,H=6,W=32", "N=1,C=0,M=4,H=6,W=32", "N=1,C=4,M=7,H=4,W=34", "N=1,C=5,M=6,H=3,W=29",
		  "N=2,C=1,M=9,H=7,W=38", "N=1,C=1,M=36,H=4,W=32"},
	 .infinite = "weight",
	 .same = {{"> for >= in the condition of the if with an else", "the other branch does the same"},
		  {"was h_block * 2 >= 1", "an even number"},
		  {"was at > 2", "what is loaded ahead behind the tile is not stored"},
		  {"was h_block * 2 <= int32(H)", "each block has a row"},
		  {"was h_block * 2 < int32(H)", "each block has a row"},
		  {"<= for < in the condition of ?:", "what the tile holds outside of the tensor is never read"},
		  {">= for > in the condition of ?:", "the same"},
		  {"the condition of ?: always true", "the same, where it lies in the buffer"},
		  {"<= for < in the condition of the if, was m", "nobody keeps the sums of a channel that does not exist"},
		  {"<= for < in the condition of the if, was w", "nobody keeps the sums of a column that does not exist"},
		  {"< for <= in the condition of the if, was w <= int32(W)", "w < int32(W) stands beside it: that column exists"}}},
	{.file = "layers/conv2d.tc",
	 .target = "opencl:cpu",
	 .config = "fuse=0; k0.S0: tile=m:2,w:4,kh:3,kw:3 vector=w:4",
	 .n_tile = 2,
	 .tile = {{"m", 2, 1}, {"w", 4, 1}},
	 .cost = 2e4,
	 .more = {"N=1,C=2,M=4,H=5,W=15", "N=2,C=1,M=3,H=6,W=14", "N=1,C=1,M=5,H=4,W=22", "N=1,C=2,M=2,H=3,W=6",
		  "N=1,C=2,M=4,H=6,W=20", "N=1,C=1,M=3,H=5,W=13"},
	 .infinite = "weight",
	 .same = {{"> for >= in the condition of the if with an else", "the other branch does the same"},
		  {"was m_block * 2 < int32(M)", "each block has a first channel"},
		  {"was w_block * 8 + 6 < int32(W)", "nobody keeps the sums of a column that does not exist"},
		  {"was w_block * 8 + w_vec", "nobody keeps the sums of a column that does not exist"}}},
};

typedef struct killer {
	heddle_ctx *ctx;
	const subject *subject;
	heddle_target target;
	pipeline_cases cases;
	int *order; /* cases, the ones that found the last mutants first */
	pipeline_coverage coverage;
	uint64_t limit;
	bool verbose;
} killer;

/* One infinite element for each 9, two places further each time: one tap of each 3x3 filter, and no two of them side by side. */
static bool one_tap(int64_t number)
{
	return number % 9 == 2 * (number / 9) % 9;
}

/* Does the description name a node that ran in no case? */
static bool unreached(const killer *k, const heddle_program *program, const char *description)
{
	char name[256];
	int node;
	if (sscanf(description, "launch %255[^,], node %d", name, &node) != 2)
		return false;
	for (int i = 0; i < program->n_launch && i < 64; i++)
		if (!strcmp(program->launch[i]->name, name))
			return node < k->coverage.n[i] && !k->coverage.ran[i][node];
	return false;
}

/* Why the mutant means the same as the program, or NULL. */
static const char *equivalent(const subject *s, const char *description)
{
	for (size_t i = 0; i < HEDDLE_COUNT(s->same) && s->same[i][0]; i++)
		if (strstr(description, s->same[i][0]))
			return s->same[i][1];
	return NULL;
}

/* What finds the mutant, or NULL. */
static const char *killed(killer *k, heddle_arena *arena, heddle_program *mutant)
{
	if (heddle_program_validate(k->ctx, mutant) < 0) {
		heddle_diagnostics_clear(k->ctx);
		return "not valid";
	}
	for (int i = 0; i < k->cases.n; i++) {
		int c = k->order[i];
		/* blocks in another order may show what one order hides */
		for (uint64_t seed = 3; seed < 5; seed++) {
			const char *wrong = pipeline_run(k->ctx, arena, mutant, &k->target, &k->cases.item[c], seed, k->limit, NULL);
			if (!wrong)
				continue;
			memmove(k->order + 1, k->order, sizeof(*k->order) * (size_t)i);
			k->order[0] = c;
			return wrong;
		}
	}
	return NULL;
}

static int mutate(killer *k, const heddle_program *program, int every)
{
	int n = heddle_mutant_count(program), survivors = 0, same = 0, tried = 0, dead = 0;
	for (int m = 0; m < n; m += every, tried++) {
		heddle_arena *arena = heddle_arena_new();
		heddle_text what = {0};
		heddle_program *mutant = heddle_mutant(program, m, &what);
		const char *by = killed(k, arena, mutant), *why = by ? NULL : equivalent(k->subject, heddle_text_str(&what));
		if (!by && !why && unreached(k, program, heddle_text_str(&what))) {
			dead++;
			why = "not reached";
		} else {
			same += why != NULL;
		}
		survivors += !by && !why;
		if (!by && !why)
			printf("  SURVIVES: %s\n", heddle_text_str(&what));
		else if (k->verbose)
			printf("  %s: %s: %s\n", why ? "same" : "found", heddle_text_str(&what), why ? why : by);
		heddle_program_free(mutant);
		heddle_text_free(&what);
		heddle_arena_free(arena);
	}
	printf("%s %s: %d of %d mutants, %d mean the same, %d are not reached (%d at most), %d survive\n", k->subject->file,
	       k->subject->target, tried, n, same, dead, k->subject->unreached, survivors);
	return survivors > 0 || dead > k->subject->unreached;
}

static int run(const subject *s, int every, bool verbose)
{
	killer k = {.ctx = heddle_ctx_new(), .subject = s, .verbose = verbose, .limit = 200000000};
	heddle_arena *arena = heddle_arena_new();
	char *text = heddle_file_read(k.ctx, s->file, NULL);
	heddle_module *module = text ? heddle_module_parse(k.ctx, s->file, text, NULL) : NULL;
	heddle_case_options options = {.n_tile = s->n_tile, .tile = s->tile, .cost = s->cost};
	heddle_compile_options compile = {.config = s->config, .effort = HEDDLE_EFFORT_CLOSED_FORM};
	heddle_program *program = NULL;
	int status = 1;
	if (module && heddle_target_parse(k.ctx, s->target, &k.target) == 0)
		program = heddle_compile(k.ctx, module->definition[0], &k.target, &compile);
	if (!program)
		printf("%s %s: %s\n", s->file, s->target, heddle_ctx_messages(k.ctx));
	heddle_diagnostics_clear(k.ctx);
	bool ready = program && pipeline_cases_make(k.ctx, arena, module, module->definition[0], &options, true, &k.cases) == 0;
	for (int i = 0; ready && i < 12 && s->more[i]; i++)
		ready = pipeline_cases_add(k.ctx, arena, module, module->definition[0], s->more[i], &k.cases) == 0;
	for (int i = 0; ready && s->infinite && i + 1 < k.cases.n; i++) /* the last case stays finite: it counts the terms */
		ready = pipeline_case_infinite(k.ctx, &k.cases.item[i], s->infinite, one_tap) == 0;
	if (ready) {
		double start = heddle_now();
		status = 0;
		heddle_program_number(program);
		k.order = HEDDLE_NEW_ARRAY(arena, int, k.cases.n);
		for (int i = 0; i < k.cases.n; i++)
			k.order[i] = i;
		for (int i = 0; i < k.cases.n; i++) {
			const char *wrong = pipeline_run(k.ctx, arena, program, &k.target, &k.cases.item[i], 3, 0, &k.coverage);
			if (wrong)
				printf("%s %s %s without a fault: %s\n", s->file, s->target, k.cases.item[i].name, wrong), status = 1;
		}
		if (status == 0)
			status = mutate(&k, program, every);
		if (status && verbose) {
			heddle_text out = {0};
			heddle_program_print(program, &out);
			puts(heddle_text_str(&out));
			heddle_text_free(&out);
		}
		printf("  %d cases, %.1f s\n", k.cases.n, heddle_now() - start);
	}
	pipeline_cases_free(&k.cases);
	heddle_program_free(program);
	heddle_module_free(module);
	free(text);
	heddle_arena_free(arena);
	heddle_ctx_free(k.ctx);
	return status;
}

int main(int argc, char **argv)
{
	int every = 1, part = -1, c, status = 0;
	bool verbose = false;
	while ((c = getopt(argc, argv, "n:p:v")) > 0)
		if (c == 'n')
			every = atoi(optarg);
		else if (c == 'p')
			part = atoi(optarg);
		else if (c == 'v')
			verbose = true;
		else
			return 2;
	for (int i = 0; i < (int)HEDDLE_COUNT(subjects); i++)
		if (part < 0 || part == i)
			status |= run(&subjects[i], every < 1 ? 1 : every, verbose);
	return status;
}
