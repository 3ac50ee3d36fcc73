/* random_bits of the notation: the first word of Philox4x32-10 (J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers:
 * as easy as 1, 2, 3", SC 2011), with the seed as key and the counter as the lower half of the counter.
 * SPDX-License-Identifier: MIT
 */
#include "harness/special.h"

uint32_t heddle_special_random_bits(uint64_t seed, uint64_t counter)
{
	uint32_t x[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	for (int round = 0; round < 10; round++) {
		const uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
		x[0] = (uint32_t)(b >> 32) ^ x[1] ^ key[0];
		x[1] = (uint32_t)b;
		x[2] = (uint32_t)(a >> 32) ^ x[3] ^ key[1];
		x[3] = (uint32_t)a;
		key[0] += 0x9E3779B9u;
		key[1] += 0xBB67AE85u;
	}
	return x[0];
}
