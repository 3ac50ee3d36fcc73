/* A processor of 256-bit vectors for PoCL: preloaded, it takes AVX-512 from what LLVM 15 says of the host.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FEATURES _ZN4llvm3sys18getHostCPUFeaturesERNS_9StringMapIbNS_15MallocAllocatorEEE
#define NAME(symbol) #symbol
#define NAME_OF(symbol) NAME(symbol)

/* llvm::StringMap<bool>: an entry is the length of its key, the value, and the key. */
typedef struct string_map {
	struct {
		size_t length;
		bool value;
	} **entry;
	unsigned n_bucket, n_item, n_tombstone, size;
} string_map;
enum { KEY = 16, TOMBSTONE = -8 };

typedef struct string_ref {
	const char *text;
	size_t length;
} string_ref;

bool FEATURES(string_map *map);
string_ref _ZN4llvm3sys14getHostCPUNameEv(void);

bool FEATURES(string_map *map)
{
	void *llvm = dlopen("libLLVM-15.so.1", RTLD_LAZY | RTLD_NOLOAD);
	bool (*real)(string_map *) = NULL;
	*(void **)&real = llvm ? dlsym(llvm, NAME_OF(FEATURES)) : NULL;
	if (!real || real == FEATURES || !real(map))
		return false;
	for (unsigned b = 0; b < map->n_bucket; b++)
		if (map->entry[b] && (intptr_t)map->entry[b] != TOMBSTONE && !strncmp((const char *)map->entry[b] + KEY, "avx512", 6))
			map->entry[b]->value = false;
	return true;
}

string_ref _ZN4llvm3sys14getHostCPUNameEv(void) { return (string_ref){"haswell", 7}; }
