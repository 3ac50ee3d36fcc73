/* The pass `simplify`, step by step: what small programs become, as text.
 * SPDX-License-Identifier: MIT
 */
#include "model/simplify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const heddle_simplify_options scalar_language = {.max_vector = 1};
static const heddle_simplify_options cuda_like = {.max_vector = 4, .max_bytes = 16};
static const heddle_simplify_options opencl_like = {.vector_arithmetic = true, .unaligned_vectors = true, .max_vector = 16};

#define DECLARATIONS                                                                                                   \
	"program t warp 32\nsize N 0..4096\nsize D 0..4096 *8\nsize L 0..2147418112\n"                                           \
	"buffer input A float32 [64] align 16\nbuffer input B float32 [N][D] align 16\nbuffer input H float64 [64] align 16\n" \
	"buffer output C float32 [64] align 16\nbuffer output G float32 [65536][65536] align 16\n"                       \
	"buffer shared S float32 [8][8] pad 1 align 4\nbuffer shared W float32 [8][12] align 4\nbuffer register r float32 [4]\nbuffer register s float32\nbuffer register Q float32 [3][2]\n"

/* The body of a launch of `grid` blocks with 32 threads each, after the pass, must be `wanted`. */
static void becomes_on(const heddle_simplify_options *options, const char *grid, const char *body, const char *wanted)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0}, out = {0};
	heddle_text_printf(&text, "%slaunch t_0 grid %s threads 32 args A, B, H, C, G shared S, W {\n%s}\n", DECLARATIONS, grid, body);
	heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&text));
	if (!p || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if (heddle_simplify(ctx, p, options) < 0 || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_program_print(p, &out);
	const char *got = strstr(strstr(heddle_text_str(&out), "launch"), "{\n") + 2;
	size_t length = strlen(got) - 2; /* "}\n" */
	if (length != strlen(wanted) || memcmp(got, wanted, length) != 0)
		fail_msg("is\n%.*sand not\n%s", (int)length, got, wanted);
	heddle_text_free(&text);
	heddle_text_free(&out);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void becomes(const heddle_simplify_options *options, const char *body, const char *wanted)
{
	becomes_on(options, "4", body, wanted);
}

/* Members that a selection leaves out, all or most of them; conditions inside of one over members; neighbours behind a cast. */
static void members_left_out(void **state)
{
	(void)state;
	becomes(&cuda_like, "for vector i in 0 .. 4 {\nC[thread / 16 * 4 + i] = thread / 16 * 4 + i <= block ? A[thread / 16 * 4 + i] : 0.0\n}\n",
		"\tlet int32 at = thread / 16 * 4\n"
		"\tif at + 2 < block {\n"
		"\t\tlet float32x4 A_v = A[at : 4]\n"
		"\t\tC[at : 4] = A_v\n"
		"\t} else {\n"
		"\t\tif at > block {\n"
		"\t\t\tC[at : 4] = vector(0.0, 0.0, 0.0, 0.0)\n"
		"\t\t} else {\n"
		"\t\t\tfor serial i in 0 .. 4 uniform {\n"
		"\t\t\t\tlet int32 thread_i = at + i\n"
		"\t\t\t\tC[thread_i] = (thread_i <= block ? A[thread_i] : 0.0)\n"
		"\t\t\t}\n"
		"\t\t}\n"
		"\t}\n");
	becomes(&opencl_like, "for vector i in 0 .. 4 {\nC[i] = i + block == thread ? 1.0 : 0.0\n}\n",
		"\tfor serial i in 0 .. 4 uniform {\n"
		"\t\tC[i] = (i + block == thread ? 1.0 : 0.0)\n"
		"\t}\n");
	becomes(&opencl_like, "for vector i in 0 .. 4 {\nif i < thread {\nif block < int32(N) && i + block > 2 {\nC[i] = A[i]\n}\n}\n}\n",
		"\tif block < int32(N) {\n"
		"\t\tif thread > 3 {\n"
		"\t\t\tif block > 2 {\n"
		"\t\t\t\tC[0 : 4] = A[0 : 4]\n"
		"\t\t\t} else {\n"
		"\t\t\t\tfor serial i in 3 - block .. 4 {\n"
		"\t\t\t\t\tC[i] = A[i]\n"
		"\t\t\t\t}\n"
		"\t\t\t}\n"
		"\t\t} else {\n"
		"\t\t\tfor serial i_1 in 0 .. thread {\n"
		"\t\t\t\tif i_1 + block > 2 {\n"
		"\t\t\t\t\tC[i_1] = A[i_1]\n"
		"\t\t\t\t}\n"
		"\t\t\t}\n"
		"\t\t}\n"
		"\t}\n");
	becomes(&cuda_like, "if block < int32(N) {\nif thread < int32(D) {\nC[0] = 1.0\n}\n}\nif block < int32(N) {\nif thread < int32(D) {\nC[1] = 1.0\n}\n}\n",
		"\tif block < int32(N) {\n"
		"\t\tif thread < int32(D) {\n"
		"\t\t\tC[0] = 1.0\n"
		"\t\t\tC[1] = 1.0\n"
		"\t\t}\n"
		"\t}\n");
	/* conditions stand inside of those that ask for a part of them, but for sums that go on from elsewhere */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nr[2] = 0.0\nfor serial i in 0 .. int32(D) {\nif block < int32(N) {\nr[0] = r[0] + A[i]\n}\nif thread < int32(N) {\n"
		"r[1] = r[1] + A[i + 1]\n}\nif block < int32(N) && i < thread {\nr[2] = r[2] + A[i]\n}\nif block < int32(N) && i < 3 {\nr[1] = r[1] + A[i]\n}\n}\n"
		"C[0] = r[0] + r[1] + r[2]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tr[2] = 0.0\n"
		"\tfor serial i in 0 .. int32(D) {\n"
		"\t\tif block < int32(N) {\n"
		"\t\t\tlet float32 A_v = A[i]\n"
		"\t\t\tr[0] = r[0] + A_v\n"
		"\t\t\tif i < thread {\n"
		"\t\t\t\tr[2] = r[2] + A_v\n"
		"\t\t\t}\n"
		"\t\t}\n"
		"\t\tif thread < int32(N) {\n"
		"\t\t\tr[1] = r[1] + A[i + 1]\n"
		"\t\t}\n"
		"\t\tif block < int32(N) && i < 3 {\n"
		"\t\t\tr[1] = r[1] + A[i]\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1] + r[2]\n");
	/* the same parts in another order are the same condition */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nfor serial i in 0 .. int32(D) {\nif block < int32(N) && i < thread {\nr[0] = r[0] + A[i]\n}\n"
		"if i < thread && block < int32(N) {\nr[1] = r[1] + A[i]\n}\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tfor serial i in 0 .. int32(D) {\n"
		"\t\tif block < int32(N) && i < thread {\n"
		"\t\t\tlet float32 A_v = A[i]\n"
		"\t\t\tr[0] = r[0] + A_v\n"
		"\t\t\tr[1] = r[1] + A_v\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* two branches inside of a condition join such outside of it */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block < int32(N) {\nif block < thread {\n"
		"r[1] = A[0]\n} else {\nr[1] = A[2]\n}\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tlet float32 A_v = A[0]\n"
		"\t\tr[0] = A_v\n"
		"\t\tif block < int32(N) {\n"
		"\t\t\tr[1] = A_v\n"
		"\t\t}\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t\tif block < int32(N) {\n"
		"\t\t\tr[1] = A[2]\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* ... but not before what stands in front of them there */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block < int32(N) {\nr[1] = A[3]\nif block < thread {\n"
		"r[1] = r[1] + A[0]\n} else {\nr[1] = r[1] + A[2]\n}\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tr[0] = A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t}\n"
		"\tif block < int32(N) {\n"
		"\t\tr[1] = A[3]\n"
		"\t\tif block < thread {\n"
		"\t\t\tr[1] = r[1] + A[0]\n"
		"\t\t} else {\n"
		"\t\t\tr[1] = r[1] + A[2]\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* a sum that has begun in another branch goes on where it stands */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nfor serial i in 0 .. int32(D) {\nif thread < int32(N) {\nr[1] = r[1] + A[i + 1]\n}\nif block < int32(N) {\n"
		"r[0] = r[0] + A[i]\n}\nif block < int32(N) && i < 3 {\nr[1] = r[1] + A[i]\n}\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tfor serial i in 0 .. int32(D) {\n"
		"\t\tif thread < int32(N) {\n"
		"\t\t\tr[1] = r[1] + A[i + 1]\n"
		"\t\t}\n"
		"\t\tif block < int32(N) {\n"
		"\t\t\tr[0] = r[0] + A[i]\n"
		"\t\t}\n"
		"\t\tif block < int32(N) && i < 3 {\n"
		"\t\t\tr[1] = r[1] + A[i]\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* one that a loop has begun does not go on there */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nfor serial i in 0 .. int32(D) {\nr[0] = r[0] + A[i]\nr[1] = r[1] + A[i + 1]\n}\nif block < int32(N) {\n"
		"r[0] = r[0] + A[4]\n}\nif thread < int32(N) && block < int32(N) {\nr[1] = r[1] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tfor serial i in 0 .. int32(D) {\n"
		"\t\tr[0] = r[0] + A[i]\n"
		"\t\tr[1] = r[1] + A[i + 1]\n"
		"\t}\n"
		"\tif block < int32(N) {\n"
		"\t\tlet float32 A_v = A[4]\n"
		"\t\tr[0] = r[0] + A_v\n"
		"\t\tif thread < int32(N) {\n"
		"\t\t\tr[1] = r[1] + A_v\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* conditions of two branches join past others that leave their registers alone, not past those that do not */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[1] = A[0]\n} else {\nr[1] = A[1]\n}\nif block + 1 < thread {\nr[0 : 2] = B[thread][0 : 2]\n} else {\n"
		"r[3] = A[3]\n}\nif block < thread {\nr[1] = r[1] + A[0]\n} else {\nr[1] = r[1] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tr[1] = A[0]\n"
		"\t} else {\n"
		"\t\tr[1] = A[1]\n"
		"\t}\n"
		"\tif block + 1 < thread {\n"
		"\t\tlet float32x2 t_1 = B[thread * int32(D) : 2]\n"
		"\t\tr[0] = extract(t_1, 0)\n"
		"\t\tr[1] = extract(t_1, 1)\n"
		"\t} else {\n"
		"\t\tr[3] = A[3]\n"
		"\t}\n"
		"\tif block < thread {\n"
		"\t\tr[1] = r[1] + A[0]\n"
		"\t} else {\n"
		"\t\tr[1] = r[1] + A[4]\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block + 1 < thread {\nr[1] = A[2]\n} else {\n"
		"r[1] = A[3]\n}\nif block < thread {\nr[0] = r[0] + A[0]\n} else {\nr[0] = r[0] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tlet float32 A_v = A[0]\n"
		"\t\tr[0] = A_v\n"
		"\t\tr[0] = r[0] + A_v\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t\tr[0] = r[0] + A[4]\n"
		"\t}\n"
		"\tif block + 1 < thread {\n"
		"\t\tr[1] = A[2]\n"
		"\t} else {\n"
		"\t\tr[1] = A[3]\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block < 3 {\nr[1] = shuffle(r[1], 1)\n} else {\n"
		"r[1] = A[3]\n}\nif block < thread {\nr[0] = r[0] + A[0]\n} else {\nr[0] = r[0] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tr[0] = A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t}\n"
		"\tif block < 3 {\n"
		"\t\tr[1] = shuffle(r[1], 1)\n"
		"\t} else {\n"
		"\t\tr[1] = A[3]\n"
		"\t}\n"
		"\tif block < thread {\n"
		"\t\tr[0] = r[0] + A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = r[0] + A[4]\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block + 1 < thread {\nr[0] = A[2]\n} else {\n"
		"r[1] = A[3]\n}\nif block < thread {\nr[0] = r[0] + A[0]\n} else {\nr[0] = r[0] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tr[0] = A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t}\n"
		"\tif block + 1 < thread {\n"
		"\t\tr[0] = A[2]\n"
		"\t} else {\n"
		"\t\tr[1] = A[3]\n"
		"\t}\n"
		"\tif block < thread {\n"
		"\t\tr[0] = r[0] + A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = r[0] + A[4]\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nr[1] = 0.0\nif block < thread {\nr[0] = A[0]\n} else {\nr[0] = A[1]\n}\nif block + 1 < thread {\nr[1] = r[0]\n} else {\n"
		"r[1] = A[3]\n}\nif block < thread {\nr[0] = r[0] + A[0]\n} else {\nr[0] = r[0] + A[4]\n}\nC[0] = r[0] + r[1]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tr[1] = 0.0\n"
		"\tif block < thread {\n"
		"\t\tr[0] = A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = A[1]\n"
		"\t}\n"
		"\tif block + 1 < thread {\n"
		"\t\tr[1] = r[0]\n"
		"\t} else {\n"
		"\t\tr[1] = A[3]\n"
		"\t}\n"
		"\tif block < thread {\n"
		"\t\tr[0] = r[0] + A[0]\n"
		"\t} else {\n"
		"\t\tr[0] = r[0] + A[4]\n"
		"\t}\n"
		"\tC[0] = r[0] + r[1]\n");
	/* a loop's variable is not below any of what its lower bound is the greatest of */
	becomes(&cuda_like, "for serial k in max(0, block - thread) .. 8 {\nif k + thread >= block {\nC[k] = A[k]\n}\n}\n",
		"\tfor serial k in max(0, block - thread) .. 8 {\n"
		"\t\tC[k] = A[k]\n"
		"\t}\n");
	/* what a quotient with a factor leaves has a largest value, whatever is asked around it: 2 (N mod 32) is 62 at most, of multiples of 8 48 */
	becomes(&cuda_like, "if 62 < int32(N) * 2 - floor_div(int32(N), 32) * 64 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n", "\tC[0] = A[1]\n");
	becomes(&cuda_like, "if 61 < int32(N) * 2 - floor_div(int32(N), 32) * 64 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n",
		"\tif int32(N) * 2 - int32(N) / 32 * 64 > 61 {\n\t\tC[0] = A[0]\n\t} else {\n\t\tC[0] = A[1]\n\t}\n");
	becomes(&cuda_like, "if 48 < int32(D) * 2 - floor_div(int32(D), 32) * 64 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n", "\tC[0] = A[1]\n");
	becomes(&cuda_like, "if 47 < int32(D) * 2 - floor_div(int32(D), 32) * 64 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n",
		"\tif int32(D) * 2 - int32(D) / 32 * 64 > 47 {\n\t\tC[0] = A[0]\n\t} else {\n\t\tC[0] = A[1]\n\t}\n");
	becomes(&cuda_like, "if 54 < int32(D) * 2 - floor_div(int32(D) + 3, 32) * 64 + 6 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n", "\tC[0] = A[1]\n");
	becomes(&cuda_like, "if 53 < int32(D) * 2 - floor_div(int32(D) + 3, 32) * 64 + 6 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n",
		"\tif int32(D) * 2 - (int32(D) + 3) / 32 * 64 > 32 {\n\t\tC[0] = A[0]\n\t} else {\n\t\tC[0] = A[1]\n\t}\n");
	becomes(&cuda_like, "if int32(N) * 2 - floor_div(int32(N), 32) * 64 < 63 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n", "\tC[0] = A[0]\n");
	becomes(&cuda_like, "if int32(N) * 2 - floor_div(int32(N), 32) * 64 < 62 {\nC[0] = A[0]\n} else {\nC[0] = A[1]\n}\n",
		"\tif int32(N) * 2 - int32(N) / 32 * 64 < 62 {\n\t\tC[0] = A[0]\n\t} else {\n\t\tC[0] = A[1]\n\t}\n");
	/* what the first step of a loop asks as well is asked once: its variable is not below where it begins */
	becomes(&cuda_like,
		"declare r\nr[0] = 0.0\nfor serial k in block .. 64 {\nif k > block {\nr[0] = r[0] + A[k]\n} else {\nfor serial v in 0 .. min(2, k - block + 1) {\nr[0] = r[0] + A[k] * 2.0\n}\n}\n"
		"if k > block + 2 {\nr[0] = r[0] + A[k] * 3.0\n}\n}\nC[0] = r[0]\n",
		"\tdeclare r\n"
		"\tr[0] = 0.0\n"
		"\tfor serial k in block .. 64 {\n"
		"\t\tlet float32 A_v = A[k]\n"
		"\t\tif k > block {\n"
		"\t\t\tr[0] = r[0] + A_v\n"
		"\t\t} else {\n"
		"\t\t\tfor serial v in 0 .. min(2, k - block + 1) {\n"
		"\t\t\t\tr[0] = r[0] + A_v * 2.0\n"
		"\t\t\t}\n"
		"\t\t}\n"
		"\t\tif k > block + 2 {\n"
		"\t\t\tr[0] = r[0] + A_v * 3.0\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0] = r[0]\n");
	becomes(&cuda_like, "C[thread] = A[int64(thread * 2)] + A[int64(thread * 2 + 1)]\n",
		"\tlet float32x2 A_v = A[int64(thread * 2) : 2]\n"
		"\tC[thread] = extract(A_v, 0) + extract(A_v, 1)\n");
}

static void folding(void **state)
{
	(void)state;
	becomes(&scalar_language, "if block < 4 && N < 5000 {\nC[thread] = 1.0\n}\n", "\tC[thread] = 1.0\n");
	becomes(&scalar_language, "if thread >= 32 {\nC[thread] = 1.0\n} else {\nC[thread] = 2.0\n}\n", "\tC[thread] = 2.0\n");
	becomes(&scalar_language, "for serial i in 5 .. 6 {\nlet int32 j = i\nC[thread + j] = 1.0\n}\n", "\tC[thread + 5] = 1.0\n");
	becomes(&scalar_language, "for serial i in 5 .. 5 {\nC[i] = 1.0\n}\nfor serial i in 0 .. int32(N) {\n}\n", "");
	becomes(&scalar_language, "C[floor_mod(thread, 32)] = A[floor_div(thread, 32)]\n", "\tC[thread] = A[0]\n");
	becomes(&scalar_language, "C[floor_mod(thread + block, 32)] = 1.0\n", "\tC[(thread + block) % 32] = 1.0\n");
	/* what follows from the rest of a condition, and what it keeps from ever holding */
	becomes(&scalar_language, "if block * 16 + 15 < 40 && block * 16 + thread + 15 < 70 {\nC[thread] = 1.0\n}\n",
		"\tif block * 16 < 32 {\n\t\tC[thread] = 1.0\n\t}\n");
	/* what goes in steps is compared with what it can be, so that neighbours' conditions are one */
	becomes(&scalar_language, "if thread * 4 + 1 < 28 {\nC[0] = 1.0\n}\nif thread * 4 + 3 < 28 {\nC[1] = 1.0\n}\nif thread * 4 < 28 {\nC[2] = 1.0\n}\n",
		"\tif thread * 4 < 28 {\n\t\tC[0] = 1.0\n\t\tC[1] = 1.0\n\t\tC[2] = 1.0\n\t}\n");
	becomes(&scalar_language, "if thread * 4 + 1 <= 28 {\nC[0] = 1.0\n}\n", "\tif thread * 4 < 25 {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language, "if thread * 4 - 1 >= 8 {\nC[0] = 1.0\n}\n", "\tif thread * 4 >= 12 {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language, "if thread * 4 - 1 > 7 {\nC[0] = 1.0\n}\n", "\tif thread * 4 > 8 {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language,
		"if block * 32 + 31 < int32(N) {\nC[0] = 1.0\n} else {\nif block * 32 + 15 < int32(N) / 2 {\nC[1] = 1.0\n}\n}\n",
		"\tif block * 32 + 31 < int32(N) {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language, "C[min(thread, 40)] = A[max(thread, 31)]\n", "\tC[thread] = A[31]\n");
	/* an even number is not one more than a multiple of 4, whatever its product may do to its type */
	becomes(&scalar_language,
		"let int32 x = block * 128 + thread * 4 - int32(L) * 4\nif x + 3 < int32(L) * 2 {\nC[0] = 1.0\n} else {\n"
		"if x + 2 < int32(L) * 2 {\nC[1] = 1.0\n}\nif x + 1 < int32(L) * 2 {\nC[2] = 1.0\n}\n}\n",
		"\tlet int32 x = block * 128 + thread * 4 - int32(L) * 4\n\tif x + 3 < int32(L) * 2 {\n\t\tC[0] = 1.0\n"
		"\t} else {\n\t\tif x + 1 < int32(L) * 2 {\n\t\t\tC[2] = 1.0\n\t\t}\n\t}\n");
}

/* What the grid says of a block's coordinates decides conditions on the first elements of its tile, and no others. */
static void coordinates(void **state)
{
	(void)state;
	static const char grid[] = "floor_div(N + 3, 4) * floor_div(D + 1, 2)";
	becomes_on(&scalar_language, "floor_div(N + 3, 4)",
		   "if block * 4 < int32(N) {\nC[0] = 1.0\n}\nif block * 4 + 1 < int32(N) {\nC[1] = 1.0\n}\n"
		   "if int32(N) - block * 4 < 1 {\nC[2] = 1.0\n}\nif min(4, int32(N) - block * 4) > 0 {\nC[3] = 1.0\n}\n"
		   "if min(4, int32(N) - block * 4) > 1 {\nC[4] = 1.0\n}\n",
		   "\tC[0] = 1.0\n\tif block * 4 + 1 < int32(N) {\n\t\tC[1] = 1.0\n\t}\n\tC[3] = 1.0\n"
		   "\tif int32(N) - block * 4 > 1 {\n\t\tC[4] = 1.0\n\t}\n");
	becomes_on(&scalar_language, grid,
		   "let int32 i = floor_mod(block, int32(floor_div(N + 3, 4)))\nlet int32 j = floor_div(block, int32(floor_div(N + 3, 4)))\n"
		   "if i * 4 < int32(N) {\nC[i] = 1.0\n}\nif j * 2 < int32(D) {\nC[j] = 1.0\n}\nif j * 2 + 1 < int32(D) {\nC[1] = 1.0\n}\n",
		   "\tlet int32 N_tiles = (int32(N) + 3) / 4\n\tlet int32 i = block % N_tiles\n\tlet int32 j = block / N_tiles\n"
		   "\tC[i] = 1.0\n\tC[j] = 1.0\n\tif j * 2 + 1 < int32(D) {\n\t\tC[1] = 1.0\n\t}\n");
	/* The divisor is no factor of the grid, and the grid has another factor: nothing is known. */
	becomes_on(&scalar_language, grid,
		   "let int32 j = floor_div(block, int32(floor_div(N + 7, 8)))\nif j * 2 < int32(D) {\nC[j] = 1.0\n}\n"
		   "if block * 4 < int32(N) {\nC[0] = 1.0\n}\n",
		   "\tlet int32 j = block / ((int32(N) + 7) / 8)\n\tif j * 2 < int32(D) {\n\t\tC[j] = 1.0\n\t}\n"
		   "\tif block * 4 < int32(N) {\n\t\tC[0] = 1.0\n\t}\n");
	/* Another variable of the same name is another. */
	becomes_on(&scalar_language, grid,
		   "if thread < 3 {\nlet int32 i = floor_mod(block + thread, int32(N))\nif i < int32(N) {\nC[i] = 1.0\n}\n}\n"
		   "for serial i in 0 .. int32(D) {\nif i < int32(N) {\nC[0] = 1.0\n}\n}\n",
		   "\tif thread < 3 {\n\t\tlet int32 i = (block + thread) % int32(N)\n\t\tC[i] = 1.0\n\t}\n"
		   "\tfor serial i_1 in 0 .. int32(D) {\n\t\tif i_1 < int32(N) {\n\t\t\tC[0] = 1.0\n\t\t}\n\t}\n");
}

static void unrolling(void **state)
{
	(void)state;
	becomes(&scalar_language, "declare r\nfor unroll i in 0 .. 2 {\nlet int32 q = i + thread / 2 * 2\nr[i] = A[q] + A[q]\nC[q] = r[i]\n}\n",
		"\tdeclare r\n"
		"\tlet int32 at = thread / 2 * 2\n"
		"\tlet float32 A_v = A[at]\n"
		"\tr[0] = A_v + A_v\n"
		"\tC[at] = r[0]\n"
		"\tlet float32 A_v_1 = A[at + 1]\n"
		"\tr[1] = A_v_1 + A_v_1\n"
		"\tC[at + 1] = r[1]\n");
	/* Without register arrays, a long loop stays. */
	becomes(&(heddle_simplify_options){.max_vector = 1, .unroll_limit = 8}, "for unroll i in 0 .. 9 {\nC[i] = 1.0\n}\n",
		"\tfor serial i in 0 .. 9 {\n\t\tC[i] = 1.0\n\t}\n");
	/* A window is unrolled all the same. */
	becomes(&(heddle_simplify_options){.max_vector = 1, .unroll_limit = 8}, "for window i in 0 .. 3 {\nC[thread + i] = 1.0\n}\n",
		"\tC[thread] = 1.0\n\tC[thread + 1] = 1.0\n\tC[thread + 2] = 1.0\n");
}

static void vectors(void **state)
{
	(void)state;
	/* Aligned: a vector; by one element off: scalars where alignment is asked for. */
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nC[4 * (thread % 16) + v] = A[4 * (thread % 16) + v] * 2.0\n}\n",
		"\tlet int32 at = thread % 16 * 4\n"
		"\tlet float32x4 A_v = A[at : 4]\n"
		"\tC[at : 4] = vector(extract(A_v, 0) * 2.0, extract(A_v, 1) * 2.0, extract(A_v, 2) * 2.0, extract(A_v, 3) * 2.0)\n");
	becomes(&cuda_like, "for vector v in 0 .. 2 {\nC[2 * thread + v] = A[thread + v]\n}\n",
		"\tC[thread * 2 : 2] = vector(A[thread], A[thread + 1])\n");
	becomes(&cuda_like, "for vector v in 0 .. 2 {\nC[thread + v] = A[thread + 3 + v]\n}\n",
		"\tC[thread] = A[thread + 3]\n\tC[thread + 1] = A[thread + 4]\n");
	becomes(&opencl_like, "for vector v in 0 .. 2 {\nC[thread + v] = A[thread + 3 + v]\n}\n",
		"\tC[thread : 2] = A[thread + 3 : 2]\n");
	/* A divisor proves the alignment; 64-bit elements are at most two in 16 bytes. */
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nC[v] = B[thread][v]\n}\n",
		"\tlet float32x4 B_v = B[thread * int32(D) : 4]\n\tC[0 : 4] = B_v\n");
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nC[v] = float32(H[v])\n}\n",
		"\tlet float64x2 H_v = H[0 : 2]\n"
		"\tC[0 : 2] = vector(float32(extract(H_v, 0)), float32(extract(H_v, 1)))\n"
		"\tlet float64x2 H_v_1 = H[2 : 2]\n"
		"\tC[2 : 2] = vector(float32(extract(H_v_1, 0)), float32(extract(H_v_1, 1)))\n");
	/* The pad of 1 leaves no row of the shared array aligned but the first. */
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nS[thread / 8][v] = A[v]\n}\n",
		"\tlet float32x4 A_v = A[0 : 4]\n"
		"\tlet int32 thread_div8 = thread / 8\n"
		"\tS[thread_div8][0] = extract(A_v, 0)\n"
		"\tS[thread_div8][1] = extract(A_v, 1)\n"
		"\tS[thread_div8][2] = extract(A_v, 2)\n"
		"\tS[thread_div8][3] = extract(A_v, 3)\n");
}

static void vector_arithmetic(void **state)
{
	(void)state;
	becomes(&opencl_like, "declare r\nfor vector v in 0 .. 4 {\nr[v] = A[v]\n}\nfor vector v in 0 .. 4 {\nC[v] = exp(r[v]) + A[thread]\n}\n",
		"\tdeclare r\n\tr[] = A[0 : 4]\n\tC[0 : 4] = exp(r[]) + splat(A[thread], 4)\n");
	becomes(&opencl_like, "declare s\ns[] = 0.0\nfor vector v in 0 .. 8 {\ns[] = s[] + A[v]\n}\nC[0] = s[]\n",
		"\tdeclare s\n\ts[] = 0.0\n\ts[] = s[] + reduce(+, A[0 : 8])\n\tC[0] = s[]\n");
	/* A guard over the vector: whole vectors inside, members at the edge. */
	becomes(&opencl_like, "for vector v in 0 .. 4 {\nif thread + v < 33 {\nC[thread + v] = A[v]\n}\n}\n",
		"\tif thread + 3 < 33 {\n"
		"\t\tC[thread : 4] = A[0 : 4]\n"
		"\t} else {\n"
		"\t\tfor serial v in 0 .. 33 - thread {\n"
		"\t\t\tC[thread + v] = A[v]\n"
		"\t\t}\n"
		"\t}\n");
	/* What one side reads is there anyway, where the same place of the same shape is stored; else only some members may be. */
	becomes(&opencl_like, "for vector v in 0 .. 4 {\nC[v] = A[v + 8] > 0.0 ? A[v] : 1.0\n}\n",
		"\tC[0 : 4] = (A[8 : 4] > splat(0.0, 4) ? A[0 : 4] : splat(1.0, 4))\n");
	becomes(&cuda_like, "for vector v in 0 .. 2 {\nC[v] = A[v + 8] > 0.0 ? A[v] : 1.0\n}\n",
		"\tlet float32x2 A_v = A[8 : 2]\n\tlet float32x2 A_v_1 = A[0 : 2]\n"
		"\tC[0 : 2] = vector((extract(A_v, 0) > 0.0 ? extract(A_v_1, 0) : 1.0), (extract(A_v, 1) > 0.0 ? extract(A_v_1, 1) : 1.0))\n");
	becomes(&opencl_like, "for vector v in 0 .. 2 {\nC[v] = A[v + 8] > 0.0 ? A[v + 2] : 1.0\n}\n",
		"\tlet float32x2 A_v = A[8 : 2]\n"
		"\tC[0 : 2] = vector((extract(A_v, 0) > 0.0 ? A[2] : 1.0), (extract(A_v, 1) > 0.0 ? A[3] : 1.0))\n");
	/* A recurrence is no vector. */
	becomes(&opencl_like, "for vector v in 0 .. 2 {\nC[v + 1] = C[v] + 1.0\n}\n",
		"\tC[1] = C[0] + 1.0\n\tC[2] = C[1] + 1.0\n");
	/* lanes that take part, of which the number is known: in registers */
	becomes(&opencl_like, "declare r\nfor vector i in 0 .. 4 {\nr[i] = 0.0\n}\nfor serial k in 0 .. 8 {\nfor vector i in 0 .. 4 {\nif i < 3 {\nr[i] = r[i] + A[k * 4 + i]\n}\n}\n}\n"
		"for vector i in 0 .. 4 {\nC[i] = r[i]\n}\n",
		"\tdeclare r\n\tr[] = splat(0.0, 4)\n\tfor serial k in 0 .. 8 {\n"
		"\t\tlet float32x2 A_v = A[k * 4 : 2]\n"
		"\t\tr[] = vector(extract(r[], 0) + extract(A_v, 0), extract(r[], 1) + extract(A_v, 1), extract(r[], 2) + A[k * 4 + 2], extract(r[], 3))\n"
		"\t}\n\tC[0 : 4] = r[]\n");
}

/* Loads side by side: one vector where its address is aligned and all of it is loaded for sure. */
static void neighbours(void **state)
{
	(void)state;
	becomes(&cuda_like, "C[thread] = A[thread % 4 * 4] + A[thread % 4 * 4 + 3]\nC[thread + 32] = A[thread % 4 * 4 + 2] + A[thread % 4 * 4 + 1]\n",
		"\tlet float32x4 A_v = A[thread % 4 * 4 : 4]\n"
		"\tC[thread] = extract(A_v, 0) + extract(A_v, 3)\n"
		"\tC[thread + 32] = extract(A_v, 2) + extract(A_v, 1)\n");
	/* global memory: not beyond its alignment, nor over a store to it */
	becomes(&cuda_like, "C[thread] = A[thread] + A[thread + 1]\n", "\tC[thread] = A[thread] + A[thread + 1]\n");
	becomes(&cuda_like, "C[thread] = B[thread % 2][4] + B[thread % 2][5]\n",
		"\tlet float32x2 B_v = B[thread % 2 * int32(D) + 4 : 2]\n\tC[thread] = extract(B_v, 0) + extract(B_v, 1)\n");
	becomes(&cuda_like, "C[4] = C[0] * 2.0\nC[5] = C[1]\n", "\tC[4] = C[0] * 2.0\n\tC[5] = C[1]\n");
	becomes(&cuda_like, "C[0] = W[thread / 8][4] * 2.0\nC[1] = W[thread / 8][5] + W[thread / 8][7]\nC[2] = W[thread / 8][6]\nC[3] = W[thread / 8][8]\n",
		"\tlet int32 thread_div8 = thread / 8\n"
		"\tlet float32x4 W_v = W[thread_div8][4 : 4]\n"
		"\tC[0] = extract(W_v, 0) * 2.0\n"
		"\tC[1] = extract(W_v, 1) + extract(W_v, 3)\n"
		"\tC[2] = extract(W_v, 2)\n"
		"\tC[3] = W[thread_div8][8]\n");
	/* two where four are not there, or not aligned; none at an odd place */
	becomes(&cuda_like, "C[0] = W[0][thread % 2 * 2 + 1]\nC[1] = W[0][thread % 2 * 2 + 2]\nC[2] = W[0][thread % 2 * 2 + 3]\n",
		"\tlet int32 at = thread % 2 * 2\n"
		"\tC[0] = W[0][at + 1]\n"
		"\tlet float32x2 W_v = W[0][at + 2 : 2]\n"
		"\tC[1] = extract(W_v, 0)\n"
		"\tC[2] = extract(W_v, 1)\n");
	/* not of different places or rows */
	becomes(&cuda_like, "C[0] = W[0][thread % 2 * 4]\nC[1] = W[0][1]\nC[2] = W[0][thread % 4 + 1]\nC[3] = W[1][thread % 2 * 4 + 1]\n",
		"\tlet int32 at = thread % 2 * 4\n"
		"\tC[0] = W[0][at]\n\tC[1] = W[0][1]\n\tC[2] = W[0][thread % 4 + 1]\n\tC[3] = W[1][at + 1]\n");
	/* not over a store to the array, and not where one of them may not happen */
	becomes(&cuda_like, "C[0] = W[0][0]\nW[0][1] = 2.0\nC[1] = W[0][1]\n", "\tC[0] = W[0][0]\n\tW[0][1] = 2.0\n\tC[1] = W[0][1]\n");
	becomes(&cuda_like, "C[0] = W[0][0]\nC[1] = thread < 5 ? W[0][1] : 0.0\n", "\tC[0] = W[0][0]\n\tC[1] = (thread < 5 ? W[0][1] : 0.0)\n");
	becomes(&scalar_language, "C[0] = W[0][0]\nC[1] = W[0][1]\n", "\tC[0] = W[0][0]\n\tC[1] = W[0][1]\n");
	/* branches take from a vector that stands before them what nothing has been stored to since */
	becomes(&cuda_like, "C[0] = W[0][0] + W[0][1]\nif thread < 5 {\nC[1] = W[0][1]\n} else {\nC[2] = W[0][0]\n}\nif thread < 7 {\nif block < 2 {\nC[3] = W[0][1]\n}\n}\n",
		"\tlet float32x2 W_v = W[0][0 : 2]\n"
		"\tC[0] = extract(W_v, 0) + extract(W_v, 1)\n"
		"\tif thread < 5 {\n\t\tC[1] = extract(W_v, 1)\n\t} else {\n\t\tC[2] = extract(W_v, 0)\n\t}\n"
		"\tif thread < 7 {\n\t\tif block < 2 {\n\t\t\tC[3] = extract(W_v, 1)\n\t\t}\n\t}\n");
	becomes(&cuda_like, "C[0] = W[0][0] + W[0][1]\nif thread < 5 {\nW[0][1] = 2.0\nC[1] = W[0][1]\n}\nif block < 2 {\nC[2] = W[0][1]\n}\n",
		"\tlet float32x2 W_v = W[0][0 : 2]\n"
		"\tC[0] = extract(W_v, 0) + extract(W_v, 1)\n"
		"\tif thread < 5 {\n\t\tW[0][1] = 2.0\n\t\tC[1] = W[0][1]\n\t}\n"
		"\tif block < 2 {\n\t\tC[2] = W[0][1]\n\t}\n");
	becomes(&cuda_like, "C[0] = W[0][0] + W[0][1]\nW[0][1] = 2.0\nif thread < 5 {\nC[1] = W[0][1]\n}\n",
		"\tlet float32x2 W_v = W[0][0 : 2]\n"
		"\tC[0] = extract(W_v, 0) + extract(W_v, 1)\n"
		"\tW[0][1] = 2.0\n"
		"\tif thread < 5 {\n\t\tC[1] = W[0][1]\n\t}\n");
	becomes(&cuda_like, "C[0] = W[0][0] + W[0][1]\nbarrier\nif thread < 5 {\nC[1] = W[0][1]\n}\n",
		"\tlet float32x2 W_v = W[0][0 : 2]\n"
		"\tC[0] = extract(W_v, 0) + extract(W_v, 1)\n"
		"\tbarrier\n"
		"\tif thread < 5 {\n\t\tC[1] = W[0][1]\n\t}\n");
}

/* A load under a condition shares with one that happens anyway; not with another one under a condition, nor over a store. */
static void shared_loads(void **state)
{
	(void)state;
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block] * 2.0\n}\nC[1] = A[block]\n",
		"\tlet float32 A_v = A[block]\n\tif thread < 5 {\n\t\tC[0] = A_v * 2.0\n\t}\n\tC[1] = A_v\n");
	/* One condition follows from the other, whichever comes first; or neither does. */
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block]\n}\nif thread < 7 {\nC[1] = A[block]\n}\n",
		"\tlet float32 A_v = (thread < 7 ? A[block] : 0.0)\n\tif thread < 5 {\n\t\tC[0] = A_v\n\t}\n\tif thread < 7 {\n\t\tC[1] = A_v\n\t}\n");
	becomes(&scalar_language, "if thread < 7 {\nC[0] = A[block]\n}\nif thread < 5 && block < 2 {\nC[1] = A[block]\n}\n",
		"\tlet float32 A_v = (thread < 7 ? A[block] : 0.0)\n\tif thread < 7 {\n\t\tC[0] = A_v\n\t}\n\tif thread < 5 && block < 2 {\n\t\tC[1] = A_v\n\t}\n");
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block]\n}\nif block < 2 {\nC[1] = A[block]\n}\n",
		"\tif thread < 5 {\n\t\tC[0] = A[block]\n\t}\n\tif block < 2 {\n\t\tC[1] = A[block]\n\t}\n");
	/* Of two sides only one is loaded; of both and a third one: */
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block]\n} else {\nC[1] = A[block] * 2.0\nif thread < 7 {\nC[2] = W[0][block]\n}\n}\n",
		"\tif thread < 5 {\n\t\tC[0] = A[block]\n\t} else {\n\t\tC[1] = A[block] * 2.0\n\t\tif thread < 7 {\n\t\t\tC[2] = W[0][block]\n\t\t}\n\t}\n");
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block]\n} else {\nif thread < 7 {\nC[1] = A[block] * 2.0\n}\n}\nif thread < 6 {\nC[2] = A[block]\n}\n",
		"\tlet float32 A_v = (thread < 7 ? A[block] : 0.0)\n\tif thread < 5 {\n\t\tC[0] = A_v\n\t} else {\n\t\tif thread < 7 {\n\t\t\tC[1] = A_v * 2.0\n\t\t}\n\t}\n"
		"\tif thread < 6 {\n\t\tC[2] = A_v\n\t}\n");
	/* A sum leaves out what there is not: a zero would ask twice.  Where one of the conditions surely holds nothing is asked. */
	becomes(&scalar_language, "declare s\ns[] = 0.0\nif thread < 5 {\ns[] = s[] + A[block]\n}\nif thread < 7 {\ns[] = s[] + A[block]\n}\nC[0] = s[]\n",
		"\tdeclare s\n\ts[] = 0.0\n\tif thread < 5 {\n\t\ts[] = s[] + A[block]\n\t}\n\tif thread < 7 {\n\t\ts[] = s[] + A[block]\n\t}\n\tC[0] = s[]\n");
	becomes(&scalar_language, "let int32 m = floor_mod(thread, int32(D))\ndeclare s\ns[] = 0.0\nif m + 2 < int32(D) {\ns[] = s[] + A[block]\n} else {\nfor serial i in m .. int32(D) {\n"
		"s[] = s[] + A[block] * 2.0\n}\n}\nif m + 1 < int32(D) {\ns[] = s[] + A[block]\n}\nC[0] = s[]\n",
		"\tlet int32 m = thread % int32(D)\n\tdeclare s\n\ts[] = 0.0\n\tlet float32 A_v = A[block]\n\tif m + 2 < int32(D) {\n\t\ts[] = s[] + A_v\n\t} else {\n"
		"\t\tfor serial i in m .. int32(D) {\n\t\t\ts[] = s[] + A_v * 2.0\n\t\t}\n\t}\n\tif m + 1 < int32(D) {\n\t\ts[] = s[] + A_v\n\t}\n\tC[0] = s[]\n");
	/* So does the first one of a block, as the grid has no others. */
	becomes_on(&scalar_language, "floor_div(N + 3, 4)",
		   "declare s\ns[] = 0.0\nif block * 4 + 2 < int32(N) {\ns[] = s[] + A[thread]\n} else {\nfor serial i in block * 4 .. int32(N) {\n"
		   "s[] = s[] + A[thread] * 2.0\n}\n}\nif block * 4 + 1 < int32(N) {\ns[] = s[] + A[thread]\n}\nC[0] = s[]\n",
		   "\tdeclare s\n\ts[] = 0.0\n\tlet float32 A_v = A[thread]\n\tif block * 4 + 2 < int32(N) {\n\t\ts[] = s[] + A_v\n\t} else {\n"
		   "\t\tfor serial i in block * 4 .. int32(N) {\n\t\t\ts[] = s[] + A_v * 2.0\n\t\t}\n\t}\n\tif block * 4 + 1 < int32(N) {\n\t\ts[] = s[] + A_v\n\t}\n\tC[0] = s[]\n");
	/* Loops over what is left share with what stands beside them, but for what they change; long ones do not. */
	becomes(&scalar_language, "if thread < 5 {\nC[0] = A[block]\n} else {\nC[1] = A[block]\n}\nfor serial i in 0 .. min(4, int32(D)) {\nC[i + 2] = A[block]\n}\n",
		"\tlet float32 A_v = A[block]\n\tif thread < 5 {\n\t\tC[0] = A_v\n\t} else {\n\t\tC[1] = A_v\n\t}\n\tfor serial i in 0 .. min(4, int32(D)) {\n\t\tC[i + 2] = A_v\n\t}\n");
	becomes(&scalar_language, "C[0] = A[block]\nfor serial i in 0 .. min(4, int32(D)) {\nC[i + 2] = A[block]\n}\n",
		"\tlet float32 A_v = A[block]\n\tC[0] = A_v\n\tfor serial i in 0 .. min(4, int32(D)) {\n\t\tC[i + 2] = A_v\n\t}\n");
	becomes(&scalar_language, "C[0] = W[0][block]\nfor serial i in 0 .. min(4, int32(D)) {\nW[0][i] = W[0][block]\n}\n",
		"\tC[0] = W[0][block]\n\tfor serial i in 0 .. min(4, int32(D)) {\n\t\tW[0][i] = W[0][block]\n\t}\n");
	becomes(&scalar_language, "C[0] = A[block]\nfor serial i in 0 .. int32(D) {\nC[i + 2] = A[block]\n}\n",
		"\tC[0] = A[block]\n\tfor serial i in 0 .. int32(D) {\n\t\tC[i + 2] = A[block]\n\t}\n");
	/* What a test leaves out does not make it sure, and uses what is. */
	becomes(&scalar_language, "C[0] = thread < 5 && A[block] < 1.0 ? 1.0 : 2.0\nC[1] = A[block]\n",
		"\tC[0] = (thread < 5 && A[block] < 1.0 ? 1.0 : 2.0)\n\tC[1] = A[block]\n");
	/* Nor does what a selection leaves out; what decides it happens anyway. */
	becomes(&scalar_language, "C[0] = A[block] > 0.0 ? A[block] : 2.0 * exp(A[block])\n",
		"\tlet float32 A_v = A[block]\n\tC[0] = (A_v > 0.0 ? A_v : 2.0 * exp(A_v))\n");
	becomes(&scalar_language, "C[0] = thread < 5 ? A[block] : 2.0 * A[block]\n", "\tC[0] = (thread < 5 ? A[block] : 2.0 * A[block])\n");
	becomes(&scalar_language, "C[0] = thread < 5 ? A[block] : 2.0\nC[1] = A[block] < 1.0 ? A[block] : 1.0\n",
		"\tC[0] = (thread < 5 ? A[block] : 2.0)\n\tlet float32 A_v = A[block]\n\tC[1] = (A_v < 1.0 ? A_v : 1.0)\n");
	/* The line that is furthest is asked for. */
	becomes(&scalar_language, "C[0] = A[block]\nC[1] = A[block ahead 16]\n", "\tlet float32 A_v = A[block ahead 16]\n\tC[0] = A_v\n\tC[1] = A_v\n");
	becomes(&scalar_language, "if thread < 5 {\nC[0] = W[0][block]\nW[0][block] = 1.0\n}\nC[1] = W[0][block]\n",
		"\tif thread < 5 {\n\t\tC[0] = W[0][block]\n\t\tW[0][block] = 1.0\n\t}\n\tC[1] = W[0][block]\n");
}

/* A guard over the vector, and what does not change with it. */
static void guards(void **state)
{
	(void)state;
	/* What all members ask is asked once, and a load that happens either way is not. */
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nC[4 * (thread % 16) + v] = thread < 5 ? A[v] : 0.0\n}\n",
		"\tlet float32x4 A_v = (thread < 5 ? A[0 : 4] : splat(0.0, 4))\n\tC[thread % 16 * 4 : 4] = A_v\n");
	becomes(&cuda_like, "for vector v in 0 .. 4 {\nC[4 * (thread % 16) + v] = thread < 5 ? A[v] * A[v + 8] : A[v + 8]\n}\n",
		"\tlet float32x4 A_v = (thread < 5 ? A[0 : 4] : splat(0.0, 4))\n"
		"\tlet float32x4 A_v_1 = A[8 : 4]\n"
		"\tC[thread % 16 * 4 : 4] = vector((thread < 5 ? extract(A_v, 0) * extract(A_v_1, 0) : extract(A_v_1, 0)), "
		"(thread < 5 ? extract(A_v, 1) * extract(A_v_1, 1) : extract(A_v_1, 1)), "
		"(thread < 5 ? extract(A_v, 2) * extract(A_v_1, 2) : extract(A_v_1, 2)), "
		"(thread < 5 ? extract(A_v, 3) * extract(A_v_1, 3) : extract(A_v_1, 3)))\n");
	/* Without vector arithmetic registers need constant subscripts: all members but the one that the test has ruled out. */
	becomes(&cuda_like, "declare r\nfor unroll v in 0 .. 4 {\nr[v] = 1.0\n}\nfor vector v in 0 .. 4 {\n"
			    "if 4 * thread + v < int32(N) && block < 2 {\nC[4 * (thread % 16) + v] = r[v]\n}\n}\n",
		"\tdeclare r\n\tr[0] = 1.0\n\tr[1] = 1.0\n\tr[2] = 1.0\n\tr[3] = 1.0\n"
		"\tif block < 2 {\n"
		"\t\tlet int32 C_at = thread % 16 * 4\n"
		"\t\tif 4 * thread + 3 < int32(N) {\n"
		"\t\t\tC[C_at : 4] = vector(r[0], r[1], r[2], r[3])\n"
		"\t\t} else {\n"
		"\t\t\tif 4 * thread < int32(N) {\n\t\t\t\tC[C_at] = r[0]\n\t\t\t}\n"
		"\t\t\tif 4 * thread + 1 < int32(N) {\n\t\t\t\tC[C_at + 1] = r[1]\n\t\t\t}\n"
		"\t\t\tif 4 * thread + 2 < int32(N) {\n\t\t\t\tC[C_at + 2] = r[2]\n\t\t\t}\n"
		"\t\t}\n\t}\n");
	/* 49 leaves 1 of 4, and no other number. */
	becomes(&cuda_like, "declare r\nfor unroll v in 0 .. 4 {\nr[v] = 1.0\n}\nfor vector v in 0 .. 4 {\n"
			    "if 4 * thread + v < 49 {\nC[4 * (thread % 16) + v] = r[v]\n}\n}\n",
		"\tdeclare r\n\tr[0] = 1.0\n\tr[1] = 1.0\n\tr[2] = 1.0\n\tr[3] = 1.0\n"
		"\tif 4 * thread < 48 {\n"
		"\t\tC[thread * 4 : 4] = vector(r[0], r[1], r[2], r[3])\n"
		"\t} else {\n"
		"\t\tif 4 * thread < 49 {\n\t\t\tC[48] = r[0]\n\t\t}\n"
		"\t}\n");
	/* With it they lend a copy to a loop. */
	becomes(&opencl_like, "declare r\nfor vector v in 0 .. 4 {\nr[v] = 1.0\n}\nfor vector v in 0 .. 4 {\n"
			      "if thread + v < int32(N) {\nr[v] = r[v] + A[thread + v]\n}\n}\nfor vector v in 0 .. 4 {\nC[v] = r[v]\n}\n",
		"\tdeclare r\n\tr[] = splat(1.0, 4)\n"
		"\tif thread + 3 < int32(N) {\n"
		"\t\tr[] = r[] + A[thread : 4]\n"
		"\t} else {\n"
		"\t\tif thread < int32(N) {\n"
		"\t\t\tdeclare r_part\n"
		"\t\t\tr_part[0 : 4] = r[]\n"
		"\t\t\tfor serial v in 0 .. min(4, int32(N) - thread) {\n"
		"\t\t\t\tr_part[v] = r_part[v] + A[thread + v]\n"
		"\t\t\t}\n"
		"\t\t\tr[] = r_part[0 : 4]\n"
		"\t\t}\n"
		"\t}\n"
		"\tC[0 : 4] = r[]\n");
	/* Of an even number all of two take part, or none; also where it may have wrapped around. */
	becomes(&opencl_like, "for vector v in 0 .. 2 {\nif 2 * thread + v < 2 * int32(L) {\nC[2 * (thread % 16) + v] = A[v]\n}\n}\n",
		"\tif 2 * thread < int32(L) * 2 {\n\t\tC[thread % 16 * 2 : 2] = A[0 : 2]\n\t}\n");
	/* The other direction, and a step of 2. */
	becomes(&opencl_like, "for vector v in 0 .. 8 {\nif thread + 2 * v >= int32(N) {\nC[v] = A[v]\n}\n}\n",
		"\tif thread >= int32(N) {\n"
		"\t\tC[0 : 8] = A[0 : 8]\n"
		"\t} else {\n"
		"\t\tfor serial v in max(0, floor_div(int32(N) - thread + 1, 2)) .. 8 {\n"
		"\t\t\tC[v] = A[v]\n"
		"\t\t}\n"
		"\t}\n");
	/* What is too great to be known is computed anyway; one more of it could be too great, one more than what is left of it is not. */
	becomes(&opencl_like, "for vector v in 0 .. 8 {\nif v >= int32(L) - thread * 65536 * 1024 - block * 65536 * 1024 {\nC[v] = A[v]\n}\n}\n",
		"\tlet int32 L_left = int32(L) - thread * 65536 * 1024 - block * 65536 * 1024\n"
		"\tif L_left < 1 {\n\t\tC[0 : 8] = A[0 : 8]\n\t} else {\n"
		"\t\tfor serial v in max(0, L_left) .. 8 {\n\t\t\tC[v] = A[v]\n\t\t}\n\t}\n");
	becomes(&opencl_like, "for vector v in 0 .. 8 {\nif v > int32(L) - thread * 65536 * 1024 - block * 65536 * 1024 {\nC[v] = A[v]\n}\n}\n",
		"\tlet int32 L_left = int32(L) - thread * 65536 * 1024 - block * 65536 * 1024\n"
		"\tif L_left < 0 {\n\t\tC[0 : 8] = A[0 : 8]\n\t} else {\n"
		"\t\tfor serial v in min(max(-1, L_left), 7) + 1 .. 8 {\n\t\t\tC[v] = A[v]\n\t\t}\n\t}\n");
	becomes(&opencl_like, "for vector v in 0 .. 8 {\nif v <= int32(L) - thread * 65536 * 1024 - block * 65536 * 1024 {\nC[v] = A[v]\n}\n}\n",
		"\tlet int32 L_left = int32(L) - thread * 65536 * 1024 - block * 65536 * 1024\n"
		"\tif L_left >= 7 {\n\t\tC[0 : 8] = A[0 : 8]\n\t} else {\n"
		"\t\tfor serial v in 0 .. min(7, L_left) + 1 {\n\t\t\tC[v] = A[v]\n\t\t}\n\t}\n");
}

/* What the branches around say is not asked again. */
static void facts(void **state)
{
	(void)state;
	becomes(&scalar_language,
		"if block + 3 < int32(N) && thread + 7 < int32(D) {\nC[0] = 1.0\n} else {\n"
		"if block + 3 < int32(N) {\nif thread + 8 <= int32(D) {\nC[1] = 1.0\n} else {\nC[2] = 1.0\n}\n}\n"
		"if thread + 9 < int32(D) {\nif block + 2 < int32(N) {\nC[3] = 1.0\n}\n}\n}\n",
		"\tif block + 3 < int32(N) && thread + 7 < int32(D) {\n\t\tC[0] = 1.0\n\t} else {\n"
		"\t\tif block + 3 < int32(N) {\n\t\t\tC[2] = 1.0\n\t\t}\n"
		"\t\tif thread + 9 < int32(D) {\n\t\t\tif block + 2 < int32(N) {\n\t\t\t\tC[3] = 1.0\n\t\t\t}\n\t\t}\n\t}\n");
	/* They narrow what variables can be. */
	becomes(&scalar_language, "if block * 8 + 7 < 28 {\nC[0] = 1.0\n} else {\nC[block] = A[block * 8 + 1]\n}\n",
		"\tif block * 8 < 24 {\n\t\tC[0] = 1.0\n\t} else {\n\t\tC[3] = A[25]\n\t}\n");
	becomes(&scalar_language, "if block == 0 && thread < 5 {\nC[0] = 1.0\n} else {\nif thread < 4 {\nif block == 0 {\nC[1] = 1.0\n} else {\n"
				  "C[block] = 2.0\n}\n}\n}\n",
		"\tif block == 0 && thread < 5 {\n\t\tC[0] = 1.0\n\t} else {\n\t\tif thread < 4 {\n\t\t\tC[block] = 2.0\n\t\t}\n\t}\n");
	becomes(&scalar_language, "if thread + 7 < int32(N) {\nif thread + 3 < int32(N) && block < int32(D) {\nC[0] = 1.0\n}\n}\n",
		"\tif thread + 7 < int32(N) {\n\t\tif block < int32(D) {\n\t\t\tC[0] = 1.0\n\t\t}\n\t}\n");
	/* one of three conjuncts follows from another, wherever they stand */
	becomes(&scalar_language, "if block < int32(D) && thread < int32(N) && thread + 1 < int32(N) {\nC[0] = 1.0\n}\n",
		"\tif block < int32(D) && thread + 1 < int32(N) {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language, "if thread + 1 < int32(N) && block < int32(D) && thread < int32(N) {\nC[0] = 1.0\n}\n",
		"\tif thread + 1 < int32(N) && block < int32(D) {\n\t\tC[0] = 1.0\n\t}\n");
	/* what was divided is below the next multiple of the quotient */
	becomes(&scalar_language, "let int32 whole = int32(N) / 16\nC[whole] = 1.0\nif whole * 16 + 15 < int32(N) {\nC[0] = 1.0\n} else {\nC[1] = 1.0\n}\n"
				  "if whole * 16 + 14 < int32(N) {\nC[2] = 1.0\n}\n",
		"\tlet int32 whole = int32(N) / 16\n\tC[whole] = 1.0\n\tC[1] = 1.0\n\tif whole * 16 + 14 < int32(N) {\n\t\tC[2] = 1.0\n\t}\n");
	/* the loop ends where the branch says that the tile does */
	becomes(&scalar_language,
		"if block * 8 + 7 < int32(N) {\nC[0] = 1.0\n} else {\nfor serial i in block * 8 .. int32(N) {\nif i - block * 8 < 7 {\nC[1] = 1.0\n} else {\n"
		"C[2] = 1.0\n}\n}\n}\n",
		"\tif block * 8 + 7 < int32(N) {\n\t\tC[0] = 1.0\n\t} else {\n\t\tfor serial i in block * 8 .. int32(N) {\n\t\t\tC[1] = 1.0\n\t\t}\n\t}\n");
	/* where no part of 8 is left a loop over a part has nothing to do, and registers that nothing reads go with it */
	becomes(&scalar_language,
		"for serial i in 0 .. 4 {\nif i * 8 + 7 < int32(D) {\nC[i] = 1.0\n} else {\ndeclare r\nr[0] = 1.0\n"
		"for serial j in 0 .. min(8, int32(D) - i * 8) {\nC[j] = r[0]\n}\n}\n}\n",
		"\tfor serial i in 0 .. 4 {\n\t\tif i * 8 + 7 < int32(D) {\n\t\t\tC[i] = 1.0\n\t\t}\n\t}\n");
}

/* What is known of a tile says it of its elements: so many times as much. */
static void facts_of_tiles(void **state)
{
	(void)state;
	becomes(&scalar_language, "for serial i in block * 4 .. block * 4 + 4 {\nfor serial j in 0 .. 2 {\nif i * 2 + j - block * 8 < 8 {\nC[j] = 1.0\n}\n}\n}\n",
		"\tfor serial i in block * 4 .. block * 4 + 4 {\n\t\tfor serial j in 0 .. 2 {\n\t\t\tC[j] = 1.0\n\t\t}\n\t}\n");
	becomes(&scalar_language, "for serial i in block * 4 .. block * 4 + 4 {\nfor serial j in 0 .. 3 {\nif i * 2 + j - block * 8 < 8 {\nC[j] = 1.0\n}\n}\n}\n",
		"\tfor serial i in block * 4 .. block * 4 + 4 {\n\t\tfor serial j in 0 .. 3 {\n\t\t\tif i * 2 + j - block * 8 < 8 {\n\t\t\t\tC[j] = 1.0\n\t\t\t}\n\t\t}\n\t}\n");
}

/* Text as a person would write it. */
static void wording(void **state)
{
	(void)state;
	becomes(&scalar_language, "for serial i in 0 .. floor_div(int32(N) - 1, 8) + 1 {\nC[i % 64] = 1.0\n}\n",
		"\tfor serial i in 0 .. (int32(N) + 7) / 8 {\n\t\tC[i % 64] = 1.0\n\t}\n");
	becomes(&scalar_language, "for serial i in 0 .. min(7, block * -8 + int32(N) - 1) + 1 {\nC[i] = 1.0\n}\n",
		"\tfor serial i in 0 .. min(8, int32(N) - block * 8) {\n\t\tC[i] = 1.0\n\t}\n");
	becomes(&scalar_language, "if int32(N) % 8 >= 1 && thread - 1 <= floor_mod(int32(N) + 7, 8) - 2 {\nC[0] = 1.0\n}\n",
		"\tif int32(N) % 8 > 0 && thread < (int32(N) + 7) % 8 {\n\t\tC[0] = 1.0\n\t}\n");
	becomes(&scalar_language, "if floor_mod(int32(N), 8) >= 1 {\nif thread <= floor_mod(int32(N) + 7, 8) {\nC[0] = 1.0\n}\n}\n",
		"\tlet int32 N_rest = int32(N) % 8\n\tif N_rest > 0 {\n\t\tif thread < N_rest {\n\t\t\tC[0] = 1.0\n\t\t}\n\t}\n");
	becomes(&scalar_language, "C[floor_div(int32(N) - 1, 7) - floor_div(int32(N) + 6, 14) * 2 + 1] = 1.0\n",
		"\tC[(int32(N) + 6) / 7 % 2] = 1.0\n");
	becomes(&scalar_language, "if int32(N) >= thread + 1 {\nC[0] = 1.0\n}\nif int32(N) >= thread + 1 {\nC[1] = 1.0\n}\n",
		"\tif thread < int32(N) {\n\t\tC[0] = 1.0\n\t\tC[1] = 1.0\n\t}\n");
}

#define IN_D "[thread][block]"
#define IN_D_NEXT "[thread][block + 1]"
#define BRANCHES(before, let, at, next, other, after) \
	before "\tif block < 2 {\n\t\tfor serial k in 0 .. int32(N) {\n\t\t\tC[0] = C[0] + A[k % 64]\n\t\t}\n" let "\t\tC[1] = B" at " - B" next "\n" \
	"\t} else {\n\t\tfor serial i in 0 .. int32(N) {\n\t\t\tC[0] = C[0] * A[i % 64]\n\t\t}\n\t\tC[1] = B" other "\n\t}\n" after

static void indices(void **state)
{
	(void)state;
	/* 2^32 elements: 64 bits; the part that the loop does not change is outside it. */
	becomes(&scalar_language, "for serial i in 0 .. int32(N) {\nG[block][i + 2 * thread] = 0.0\n}\n",
		"\tlet int32 G_at = block * 65536 + thread * 2\n"
		"\tfor serial i in 0 .. int32(N) {\n"
		"\t\tG[int64(G_at) + int64(i)] = 0.0\n"
		"\t}\n");
	becomes(&scalar_language, "for serial i in 0 .. int32(N) {\nC[0] = B[i][thread] + B[i][thread + 1]\n}\n",
		"\tfor serial i in 0 .. int32(N) {\n"
		"\t\tlet int32 B_at = thread + i * int32(D)\n"
		"\t\tC[0] = B[B_at] + B[B_at + 1]\n"
		"\t}\n");
	/* what both branches use after loops is computed after them, unless it is used before or after the branches as well */
	becomes(&scalar_language, BRANCHES("", "", IN_D, IN_D_NEXT, IN_D, ""),
		BRANCHES("", "\t\tlet int32 B_at = thread * int32(D) + block\n", "[B_at]", "[B_at + 1]", "[thread * int32(D) + block]", ""));
	becomes(&scalar_language, BRANCHES("\tC[2] = B[thread][block + 2]\n", "", IN_D, IN_D_NEXT, IN_D, ""),
		BRANCHES("\tlet int32 B_at = thread * int32(D) + block\n\tC[2] = B[B_at + 2]\n", "", "[B_at]", "[B_at + 1]", "[B_at]", ""));
	becomes(&scalar_language, BRANCHES("", "", IN_D, IN_D_NEXT, IN_D, "\tC[2] = B[thread][block + 2]\n"),
		BRANCHES("\tlet int32 B_at = thread * int32(D) + block\n", "", "[B_at]", "[B_at + 1]", "[B_at]", "\tC[2] = B[B_at + 2]\n"));
}

#define ROUNDS(inside) "declare Q\nfor serial a in 0 .. 3 {\nQ[a][0] = 0.0\nQ[a][1] = 0.0\n}\nfor serial i in 0 .. 3 {\n" inside "}\n" \
	"for serial c in 0 .. 3 {\nC[c] = Q[c][0] + Q[c][1]\n}\n"
#define FILLED "\tdeclare Q\n\tfor serial a in 0 .. 3 {\n\t\tQ[a][0] = 0.0\n\t\tQ[a][1] = 0.0\n\t}\n\tfor serial i in 0 .. 3 {\n"
#define USED "\t}\n\tfor serial c in 0 .. 3 {\n\t\tC[c] = Q[c][0] + Q[c][1]\n\t}\n"

/* What a round changes under conditions that its loops decide is copied; nothing else is. */
static void rounds(void **state)
{
	(void)state;
	becomes(&scalar_language,
		ROUNDS("for serial k in 0 .. 32 {\nif k > i {\nQ[i][0] = Q[i][0] + A[k]\n}\nQ[i][1] = Q[i][1] + 1.0\n}\n"),
		FILLED "\t\tdeclare Q_round\n"
		"\t\tfor hint i_1 in 0 .. 2 uniform {\n\t\t\tQ_round[i_1] = Q[i][i_1]\n\t\t}\n"
		"\t\tfor serial k in 0 .. 32 {\n\t\t\tif k > i {\n\t\t\t\tQ_round[0] = Q_round[0] + A[k]\n\t\t\t}\n"
		"\t\t\tQ_round[1] = Q_round[1] + 1.0\n\t\t}\n"
		"\t\tfor hint i_2 in 0 .. 2 uniform {\n\t\t\tQ[i][i_2] = Q_round[i_2]\n\t\t}\n" USED);
	/* no condition: compilers see that themselves */
	becomes(&scalar_language, ROUNDS("for serial k in 0 .. 32 {\nQ[i][0] = Q[i][0] + A[k]\nQ[i][1] = Q[i][1] + A[k]\n}\n"),
		FILLED "\t\tfor serial k in 0 .. 32 {\n\t\t\tlet float32 A_v = A[k]\n\t\t\tQ[i][0] = Q[i][0] + A_v\n"
		"\t\t\tQ[i][1] = Q[i][1] + A_v\n\t\t}\n" USED);
	/* whether the round has the element is asked outside of its loops */
	becomes(&scalar_language,
		ROUNDS("for serial k in 0 .. 32 {\nif k > i {\nif i + thread < int32(N) {\nQ[i][0] = Q[i][0] + A[k]\n}\n}\n}\n"),
		FILLED "\t\tfor serial k in 0 .. 32 {\n\t\t\tif k > i {\n\t\t\t\tif i + thread < int32(N) {\n"
		"\t\t\t\t\tQ[i][0] = Q[i][0] + A[k]\n\t\t\t\t}\n\t\t\t}\n\t\t}\n" USED);
	/* what it was before may be nothing */
	becomes(&scalar_language, ROUNDS("for serial k in 0 .. 32 {\nif k > i {\nQ[i][0] = A[k]\nC[k] = Q[i][0]\n}\n}\n"),
		FILLED "\t\tfor serial k in 0 .. 32 {\n\t\t\tif k > i {\n\t\t\t\tQ[i][0] = A[k]\n\t\t\t\tC[k] = Q[i][0]\n"
		"\t\t\t}\n\t\t}\n" USED);
	/* where the variable is in scope */
	becomes(&scalar_language, ROUNDS("for serial k in 0 .. 3 {\nfor serial l in 0 .. 32 {\nif l > k + i {\nQ[k][0] = Q[k][0] + A[l]\n}\n}\n}\n"),
		FILLED "\t\tfor serial k in 0 .. 3 {\n\t\t\tdeclare Q_round\n"
		"\t\t\tQ_round[0] = Q[k][0]\n"
		"\t\t\tfor serial l in 0 .. 32 {\n\t\t\t\tif l > k + i {\n\t\t\t\t\tQ_round[0] = Q_round[0] + A[l]\n\t\t\t\t}\n\t\t\t}\n"
		"\t\t\tQ[k][0] = Q_round[0]\n\t\t}\n" USED);
	/* the other element is another round's, too */
	becomes(&scalar_language, ROUNDS("for serial k in 0 .. 3 {\nif k + thread > i {\nQ[i][0] = Q[i][0] + Q[k][1]\n}\n}\n"),
		FILLED "\t\tfor serial k in 0 .. 3 {\n\t\t\tif k + thread > i {\n\t\t\t\tQ[i][0] = Q[i][0] + Q[k][1]\n\t\t\t}\n\t\t}\n" USED);
}

/* Elements that may not exist: asked once for all of them, at the corner where the sides are nearest. */
static void turning_some(void **state)
{
	(void)state;
	static const heddle_simplify_options four = {.vector_arithmetic = true, .unaligned_vectors = true, .zips = true, .max_vector = 4};
	static const char *const corner = "if thread * 8 + 7 < int32(N) && thread * 8 > 0 {";
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text source = {0}, out = {0};
	heddle_text_printf(&source, "%slaunch t_0 grid 4 threads 32 args A, B, H, C, G shared S, W {\n"
			   "for serial j in 0 .. 8 {\nfor serial i in 0 .. 8 {\n"
			   "S[i][j] = (thread * 8 + j < int32(N) && thread * 8 + 4 > 2 + i ? G[thread * 8 + j][i] : 0.0)\n}\n}\n}\n", DECLARATIONS);
	heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&source));
	assert_non_null(p);
	assert_int_equal(heddle_simplify(ctx, p, &four), 0);
	assert_int_equal(heddle_program_validate(ctx, p), 0);
	heddle_program_print(p, &out);
	if (!strstr(heddle_text_str(&out), corner) || !strstr(heddle_text_str(&out), "} else {\n\t\tfor serial j in 0 .. 8 {"))
		fail_msg("not %s: %s", corner, heddle_text_str(&out));
	heddle_text_free(&source);
	heddle_text_free(&out);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

/* Of how many copies a loop is made follows from what it asks global memory for; one that waits stays as it is. */
static void copies(void **state)
{
	(void)state;
	static const struct {
		const char *body, *wanted;
		double in_flight; /* of 4 blocks of 32 threads */
	} cases[] = {
		/* 4 bytes a round: eight at most, in rounds of equal length; all of few */
		{"for serial i in 0 .. 64 {\nC[i] = A[i]\n}\n", "0 .. 64 copies 8 {", 0},
		{"for serial i in 0 .. 20 {\nC[i] = A[i]\n}\n", "0 .. 20 copies 7 {", 0},
		{"for serial i in 0 .. 5 {\nC[i] = A[i]\n}\n", "0 .. 5 copies 5 {", 0},
		{"for serial i in 0 .. thread {\nC[i] = A[i]\n}\n", "0 .. thread copies 8 {", 0},
		/* open bounds: a power of two, where 12 bytes a round would make five */
		{"for serial i in 0 .. thread {\nC[i] = A[i] + A[i + 1] * A[i + 2]\n}\n", "0 .. thread copies 4 {", 0},
		/* 16 bytes a round */
		{"for serial i in 0 .. 16 {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n", "0 .. 16 copies 4 {", 0},
		/* none of global memory */
		{"for serial i in 0 .. 8 {\nC[i] = S[0][i]\n}\n", "0 .. 8 copies 4 {", 0},
		/* none, but sums of what is in shared memory: eight, where these are all rounds */
		{"declare s\ns[] = 0.0\nfor serial i in 0 .. 16 {\ns[] = s[] + W[i / 2][0]\n}\nC[0] = s[]\n", "0 .. 16 copies 8 {", 0},
		{"declare s\ns[] = 0.0\nfor serial i in 0 .. 12 {\ns[] = s[] + W[i / 2][0]\n}\nC[0] = s[]\n", "0 .. 12 copies 4 {", 0},
		/* a window: all of it, or its rows alone */
		{"for serial i in 0 .. 3 {\nfor serial j in 0 .. 3 {\nC[i * 3 + j] = A[i * 3 + j]\n}\n}\n", "0 .. 3 copies 3 {\n\t\tfor serial j in 0 .. 3 copies 3 {", 0},
		{"for serial i in 0 .. 7 {\nfor serial j in 0 .. 7 {\nC[i * 7 + j] = A[i * 7 + j]\n}\n}\n", "0 .. 7 copies 1 {", 0},
		{"for serial i in 0 .. 8 {\nS[0][0] = A[i]\nbarrier\n}\n", "0 .. 8 copies 1 {", 0},
		/* few threads ask for their share, 64 bytes at least and 256 at most, but not where it is over soon or a condition keeps loads apart */
		{"for serial i in 0 .. 64 {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n", "0 .. 64 copies 8 {", 128 * 128},
		{"for serial i in 0 .. 64 {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n", "0 .. 64 copies 16 {", 1e9},
		{"for serial i in 0 .. 64 {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n", "0 .. 64 copies 4 {", 128},
		{"for serial i in 0 .. 32 {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n", "0 .. 32 copies 4 {", 1e9},
		{"for serial i in 0 .. 64 {\nif thread < i {\nC[i * 4 : 4] = A[i * 4 : 4]\n}\n}\n", "0 .. 64 copies 4 {", 1e9},
		/* what is the same in all rounds is loaded once */
		{"for serial i in 0 .. 64 {\nC[i * 4 : 4] = A[i * 4 : 4] * A[thread * 4 : 4]\n}\n", "copies 4 {", 0},
	};
	for (size_t k = 0; k < HEDDLE_COUNT(cases); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0}, out = {0};
		heddle_text_printf(&text, "%slaunch t_0 grid 4 threads 32 args A, B, H, C, G shared S, W {\n%s}\n", DECLARATIONS, cases[k].body);
		heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&text));
		assert_non_null(p);
		assert_int_equal(heddle_simplify(ctx, p, &(heddle_simplify_options){.max_vector = 4, .copies = true, .in_flight = cases[k].in_flight}), 0);
		heddle_program_print(p, &out);
		if (!strstr(heddle_text_str(&out), cases[k].wanted))
			fail_msg("no %s in\n%s", cases[k].wanted, heddle_text_str(&out));
		heddle_text_free(&text);
		heddle_text_free(&out);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
	becomes(&scalar_language, "for serial i in 0 .. 64 {\nC[i] = A[i]\n}\n", "\tfor serial i in 0 .. 64 {\n\t\tC[i] = A[i]\n\t}\n");
}

/* Four rows are read by vectors where vectors were gathered across them. */
static void turning(void **state)
{
	(void)state;
	static const heddle_simplify_options zips = {.vector_arithmetic = true, .unaligned_vectors = true, .zips = true, .max_vector = 2};
	static const char lines[] = "\t\tlet float32x2 G_line = G[G_at : 2]\n\t\tlet float32x2 G_line_1 = G[G_at + 65536 : 2]\n"
				    "\t\tlet float32x2 G_turned = zip(G_line, G_line_1, 0)\n"
				    "\t\tlet float32x2 G_turned_1 = zip(G_line, G_line_1, 1)\n";
	heddle_text wanted = {0};
	heddle_text_printf(&wanted, "\tfor serial i in 0 .. 8 step 2 {\n\t\tlet int64 G_at = int64(thread) * 131072 + int64(i)\n%s"
				    "\t\tS[i][0 : 2] = G_turned\n\t\tS[i + 1][0 : 2] = G_turned_1\n\t}\n", lines);
	becomes(&zips, "for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[i][j] = G[thread * 2 + j][i]\n}\n}\n", heddle_text_str(&wanted));
	heddle_text_free(&wanted);
	/* two vectors that end where the members do; one output is not known to be written between them */
	becomes(&zips, "for vector i in 0 .. 2 {\nC[i] = A[i * 2 + 1]\n}\n", "\tC[0 : 2] = unzip(A[1 : 2], A[2 : 2])\n");
	becomes(&zips, "for vector i in 0 .. 2 {\nC[i] = G[0][i * 2]\n}\n", "\tC[0 : 2] = vector(G[0_int64], G[2_int64])\n");
	/* seven iterations are not four times two; a language without zips gathers; the same element twice; an element of the
	 * target; elements that may not exist */
	static const char *const kept[] = {
		"for serial i in 0 .. 7 {\nfor vector j in 0 .. 2 {\nS[i][j] = G[thread * 2 + j][i]\n}\n}\n",
		"for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[0][j] = G[thread * 2 + j][i]\n}\n}\n",
		"for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[i][j] = G[thread * 2 + j][i * 2]\n}\n}\n",
		"for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[i][j] = G[thread * 2 + j + i][i]\n}\n}\n",
		"for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[i][j] = S[thread + j][i]\n}\n}\n",
		"for serial i in 0 .. 8 {\nfor vector j in 0 .. 2 {\nS[i][j] = (i + thread < int32(N) ? G[thread * 2 + j][i] : 0.0)\n}\n}\n",
	};
	for (size_t k = 0; k < HEDDLE_COUNT(kept); k++) {
		heddle_ctx *ctx = heddle_ctx_new();
		heddle_text text = {0}, out = {0};
		heddle_text_printf(&text, "%slaunch t_0 grid 4 threads 32 args A, B, H, C, G shared S, W {\n%s}\n", DECLARATIONS, kept[k]);
		heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&text));
		assert_non_null(p);
		assert_int_equal(heddle_simplify(ctx, p, &zips), 0);
		heddle_program_print(p, &out);
		if (strstr(heddle_text_str(&out), "zip("))
			fail_msg("turned: %s", heddle_text_str(&out));
		heddle_text_free(&text);
		heddle_text_free(&out);
		heddle_program_free(p);
		heddle_ctx_free(ctx);
	}
}

/* The body of a launch with the early tiles E and F, after the pass, must hold `wanted`; NULL: nothing is loaded ahead. */
static void ahead_becomes(const char *body, const char *wanted)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0}, out = {0};
	heddle_text_printf(&text, "program t\nsize N 0..4096\nbuffer input A float32 [4096] align 16\nbuffer output C float32 [4096] align 16\n"
			   "buffer shared E float32 [4][32] align 16 of A early\nbuffer shared F float32 [4][32] align 16 early\n"
			   "buffer shared L float32 [4][32] align 16\nbuffer register s float32\n"
			   "launch t_0 grid 4 threads 32 args A, C shared E, F, L {\ndeclare s\ns[] = 0.0\n%sC[thread] = s[]\n}\n", body);
	heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&text));
	if (!p || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	if (heddle_simplify(ctx, p, &cuda_like) < 0 || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_program_print(p, &out);
	if (wanted ? !strstr(heddle_text_str(&out), wanted) : strstr(heddle_text_str(&out), "_next") != NULL)
		fail_msg("%s", heddle_text_str(&out));
	assert_null(strstr(heddle_text_str(&out), " early"));
	heddle_text_free(&text);
	heddle_text_free(&out);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

#define USE "barrier\ns[] = s[] + E[0][31 - thread]\nbarrier\n}\n"

static void loading_ahead(void **state)
{
	(void)state;
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = A[k * 32 + thread]\n" USE,
		      "\tA_next[] = A[thread]\n\tfor serial k in 0 .. 8 {\n\t\tE[0][thread] = A_next[]\n\t\tbarrier\n\t\tif k + 1 < 8 {\n"
		      "\t\t\tA_next[] = A[thread + (k + 1) * 32]\n\t\t}\n\t\ts[] = s[] + E[0][31 - thread]\n\t\tbarrier\n\t}\n");
	ahead_becomes("for serial k in 0 .. int32(N) {\nE[0][thread] = A[k + thread]\n" USE, "\tif int32(N) > 0 {\n\t\tA_next[] = A[thread]\n\t}\n");
	ahead_becomes("for serial k in 0 .. 8 {\nlet float32x4 v = A[k * 128 + thread * 4 : 4]\nE[0][thread] = extract(v, 0)\nE[1][thread] = extract(v, 3)\n"
		      "if thread < 8 {\nF[0][thread] = thread > k ? A[k + thread] : 1.0\n}\n" USE,
		      "\t\tif k + 1 < 8 {\n\t\t\tA_next[] = A[thread * 4 + (k + 1) * 128 : 4]\n\t\t\tif thread < 8 {\n"
		      "\t\t\t\tF_next[] = (thread > k + 1 ? A[thread + (k + 1)] : 1.0)\n");
	/* what is no fill: another tile, what is in registers or in a tile, what the loop changes, no barrier at its end, nothing of global memory, a loop */
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = A[k * 32 + thread]\nL[0][thread] = A[k]\n" USE, NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = A[k * 32 + thread] + s[]\n" USE, NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = A[k * 32 + thread] * L[0][thread]\n" USE, NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = C[k * 32 + thread]\nbarrier\nC[thread] = E[0][31 - thread]\nbarrier\n}\n", NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = A[k * 32 + thread]\nbarrier\ns[] = s[] + E[0][31 - thread]\n}\n", NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nE[0][thread] = 1.0\n" USE, NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nfor serial r in 0 .. thread {\nE[0][thread] = A[k * 32 + r]\n}\n" USE, NULL);
	ahead_becomes("for serial k in 0 .. 8 {\nlet float32 v = A[k * 32 + thread]\nE[0][thread] = v\nbarrier\ns[] = s[] + E[0][31 - thread] + v\n"
		      "barrier\n}\n", NULL);
}

/* So many elements go from step to step in registers. */
static void carried(const char *body, int registers)
{
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_text text = {0}, out = {0};
	heddle_text_printf(&text, "%slaunch t_0 grid 4 threads 32 args A, B, H, C, G shared S, W {\n%s}\n", DECLARATIONS, body);
	heddle_program *p = heddle_program_parse(ctx, "t", heddle_text_str(&text));
	if (!p || heddle_program_validate(ctx, p) < 0 || heddle_simplify(ctx, p, &cuda_like) < 0 || heddle_program_validate(ctx, p) < 0)
		fail_msg("%s", heddle_ctx_messages(ctx));
	heddle_program_print(p, &out);
	int n = 0;
	for (const char *at = heddle_text_str(&out); (at = strstr(at, "declare G_last")); at++)
		n++;
	if (n != registers)
		fail_msg("%d registers, not %d:\n%s", n, registers, heddle_text_str(&out));
	heddle_text_free(&text);
	heddle_text_free(&out);
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

static void from_step_to_step(void **state)
{
	(void)state;
	becomes(&cuda_like, "for serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\n}\n",
		"\tdeclare G_last\n"
		"\tG_last[] = G[int64(thread)]\n"
		"\tfor serial t in 1 .. 8 {\n"
		"\t\tlet float32 G_new = G_last[] * 2.0\n"
		"\t\tG[int64(thread) + int64(t) * 65536] = G_new\n"
		"\t\tG_last[] = G_new\n"
		"\t}\n");
	/* the first step does not read it */
	becomes(&cuda_like, "for serial t in 0 .. 8 {\nG[t][thread] = t > 0 ? G[t - 1][thread] + A[t] : A[t]\n}\n",
		"\tdeclare G_last\n"
		"\tlet float32 G_new_1 = A[0]\n"
		"\tG[int64(thread)] = G_new_1\n"
		"\tG_last[] = G_new_1\n"
		"\tfor serial t in 1 .. 8 {\n"
		"\t\tlet float32 G_new = G_last[] + A[t]\n"
		"\t\tG[int64(thread) + int64(t) * 65536] = G_new\n"
		"\t\tG_last[] = G_new\n"
		"\t}\n");
	becomes(&cuda_like, "for serial t in 0 .. int32(N) {\nG[t][thread] = t > 0 ? G[t - 1][thread] + A[t] : A[t]\n}\n",
		"\tdeclare G_last\n"
		"\tif int32(N) > 0 {\n"
		"\t\tlet float32 G_new_1 = A[0]\n"
		"\t\tG[int64(thread)] = G_new_1\n"
		"\t\tG_last[] = G_new_1\n"
		"\t}\n"
		"\tfor serial t in 1 .. int32(N) {\n"
		"\t\tlet float32 G_new = G_last[] + A[t]\n"
		"\t\tG[int64(thread) + int64(t) * 65536] = G_new\n"
		"\t\tG_last[] = G_new\n"
		"\t}\n");
	/* what is stored before is known, of vectors too */
	becomes(&cuda_like, "G[0][thread * 4 : 4] = A[thread * 2 : 4]\nfor serial t in 1 .. 8 {\nG[t][thread * 4 : 4] = G[t - 1][thread * 4 : 4] * splat(A[t], 4)\n}\n",
		"\tlet float32x4 G_new = A[thread * 2 : 4]\n"
		"\tG[int64(thread * 4) : 4] = G_new\n"
		"\tdeclare G_last\n"
		"\tG_last[] = G_new\n"
		"\tfor serial t in 1 .. 8 {\n"
		"\t\tlet float32x4 G_new_1 = G_last[] * splat(A[t], 4)\n"
		"\t\tG[int64(thread) * 4 + int64(t) * 65536 : 4] = G_new_1\n"
		"\t\tG_last[] = G_new_1\n"
		"\t}\n");
	/* ... but not where something may have been stored since */
	becomes(&cuda_like, "G[0][thread] = A[thread]\nG[0][block] = 1.0\nfor serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\n}\n",
		"\tG[int64(thread)] = A[thread]\n\tG[int64(block)] = 1.0\n\tdeclare G_last\n\tG_last[] = G[int64(thread)]\n\tfor serial t in 1 .. 8 {\n"
		"\t\tlet float32 G_new = G_last[] * 2.0\n\t\tG[int64(thread) + int64(t) * 65536] = G_new\n\t\tG_last[] = G_new\n\t}\n");
	/* under a condition that is the same in all steps */
	becomes(&cuda_like, "for serial t in 1 .. 8 {\nif thread < 20 {\nG[t][thread] = G[t - 1][thread] * 2.0\n}\n}\n",
		"\tdeclare G_last\n"
		"\tG_last[] = (thread < 20 ? G[int64(thread)] : 0.0)\n"
		"\tfor serial t in 1 .. 8 {\n"
		"\t\tif thread < 20 {\n"
		"\t\t\tlet float32 G_new = G_last[] * 2.0\n"
		"\t\t\tG[int64(thread) + int64(t) * 65536] = G_new\n"
		"\t\t\tG_last[] = G_new\n"
		"\t\t}\n"
		"\t}\n");
	carried("for serial t in 1 .. 8 {\nif A[t] < 20.0 {\nG[t][thread] = G[t - 1][thread] * 2.0\n}\n}\n", 0);
	carried("for serial t in 1 .. 8 {\nif t < thread {\nG[t][thread] = G[t - 1][thread] * 2.0\n}\n}\n", 0);
	/* elements beside each other, those that may be the same, and those of two steps before */
	carried("for serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\nG[t][thread + 32] = G[t - 1][thread + 32] * 2.0\n}\n", 2);
	carried("for serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\nG[t][block] = 1.0\n}\n", 0);
	carried("for serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\nG[t + 1][thread] = 1.0\n}\n", 0);
	carried("for serial t in 2 .. 8 {\nG[t][thread] = G[t - 2][thread] * 2.0\n}\n", 0);
	carried("for serial t in 2 .. 8 {\nG[t][thread] = G[t - 1][thread] * G[t - 2][thread]\n}\n", 1);
	/* other threads may have stored it, or a loop inside, or it is read when it is not the last one any more */
	carried("for serial t in 1 .. 8 {\nG[t][thread] = G[t - 1][thread] * 2.0\nbarrier\n}\n", 0);
	carried("for serial t in 1 .. 8 {\nfor serial k in 0 .. int32(N) {\nG[t][k] = G[t - 1][k] * 2.0\n}\n}\n", 0);
	carried("for serial t in 1 .. 8 {\nG[t][thread] = 2.0\nC[thread] = G[t - 1][thread]\n}\n", 0);
	/* a sum that stays where it is */
	carried("for serial t in 1 .. 8 {\nG[0][thread] = G[0][thread] + A[t]\n}\n", 0);
	/* either side of a branch has its own */
	carried("for serial t in 1 .. 8 {\nif thread < 20 {\nG[t][thread] = G[t - 1][thread] * 2.0\n} else {\nG[t][thread] = G[t - 1][thread] * 3.0\n}\n}\n", 2);
}

static void register_rule(void **state)
{
	(void)state;
	heddle_ctx *ctx = heddle_ctx_new();
	heddle_program *p = heddle_program_parse(
		ctx, "t",
		"program t\nbuffer output C float32 [4096]\nbuffer register r float32 [4096]\nlaunch t_0 grid 1 threads 1 args C {\n"
		"declare r\nfor unroll i in 0 .. 4096 {\nr[i] = 1.0\n}\nfor serial i in 0 .. 4096 {\nC[i] = r[0]\n}\n}\n");
	assert_non_null(p);
	assert_int_equal(heddle_simplify(ctx, p, &(heddle_simplify_options){.max_vector = 1, .unroll_limit = 100}), -1);
	assert_non_null(strstr(heddle_ctx_messages(ctx), "[E0601]"));
	assert_non_null(strstr(heddle_ctx_messages(ctx), "register array r"));
	heddle_program_free(p);
	heddle_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_left_out), cmocka_unit_test(folding),
		cmocka_unit_test(coordinates), cmocka_unit_test(unrolling), cmocka_unit_test(vectors),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(shared_loads),
		cmocka_unit_test(vector_arithmetic), cmocka_unit_test(guards), cmocka_unit_test(facts), cmocka_unit_test(facts_of_tiles), cmocka_unit_test(wording), cmocka_unit_test(indices), cmocka_unit_test(rounds), cmocka_unit_test(turning), cmocka_unit_test(copies), cmocka_unit_test(turning_some),
		cmocka_unit_test(loading_ahead), cmocka_unit_test(from_step_to_step),
		cmocka_unit_test(register_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
