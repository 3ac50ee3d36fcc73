/* Names with a number each, found by hashing: for lists that may grow with the program.
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"

#include <string.h>

static size_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ (hash >> 29));
}

/* Where the name is, or the free place where it would be. */
static heddle_name_slot *slot_of(const heddle_name_table *names, const char *name)
{
	size_t at = hash_of(name) & (names->n_slot - 1);
	while (names->slot[at].name && strcmp(names->slot[at].name, name))
		at = (at + 1) & (names->n_slot - 1);
	return &names->slot[at];
}

int heddle_name_table_find(const heddle_name_table *names, const char *name)
{
	const heddle_name_slot *slot = names->n_slot ? slot_of(names, name) : NULL;
	return slot && slot->name ? slot->number : -1;
}

static void make_room(heddle_arena *arena, heddle_name_table *names)
{
	const heddle_name_table old = *names;
	names->n_slot = old.n_slot ? 2 * old.n_slot : 64;
	names->slot = HEDDLE_NEW_ARRAY(arena, heddle_name_slot, names->n_slot);
	for (size_t i = 0; i < old.n_slot; i++)
		if (old.slot[i].name)
			*slot_of(names, old.slot[i].name) = old.slot[i];
}

void heddle_name_table_put(heddle_arena *arena, heddle_name_table *names, const char *name, int number)
{
	if (2 * (names->n + 1) > names->n_slot)
		make_room(arena, names);
	heddle_name_slot *slot = slot_of(names, name);
	if (!slot->name)
		names->n++;
	*slot = (heddle_name_slot){name, number};
}

void heddle_name_table_clear(heddle_name_table *names)
{
	if (names->n)
		memset(names->slot, 0, sizeof(*names->slot) * names->n_slot);
	names->n = 0;
}
