// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The hash map of libelog and elog: see map.h.
 *
 * Slots are numbered from 1, 0 is none. They are in chunks, each as large as all
 * before it, so that values never move. A used slot is in the chain of its hash and
 * in the list of all by age, a free one in a list of its own.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "util/map.h"
#include "util/siphash.h"

#define CHUNK_MIN	16U	/* slots of the first chunk */
#define CHUNK_ALIGN	64	/* a cache line; divides the size of each chunk */
#define SLOTS_MAX	(1U << 31)

struct slot {
	struct elog_map_key key;
	uint32_t number;	/* its own; 0: it is free */
	uint32_t chain;		/* the next one of this hash, or the next free one */
	uint32_t older;
	uint32_t newer;
	uint64_t value[];
};

static struct elog_siphash secret;
static pthread_once_t secret_once = PTHREAD_ONCE_INIT;

static void make_secret(void)
{
	const void *random;

	if (getrandom(&secret, sizeof(secret), 0) == sizeof(secret))
		return;
	/* Every process gets 16 random bytes from the kernel. */
	random = (const void *)getauxval(AT_RANDOM);
	if (random)
		memcpy(&secret, random, sizeof(secret));
}

void elog_map_init(struct elog_map *map, size_t value_size)
{
	pthread_once(&secret_once, make_secret);
	memset(map, 0, sizeof(*map));
	map->value_size = value_size;
	map->slot_size = sizeof(struct slot) + (value_size + 7) / 8 * 8;
}

void elog_map_free(struct elog_map *map)
{
	size_t i;

	for (i = 0; i < ELOG_MAP_CHUNKS; i++)
		free(map->chunks[i]);
	free(map->chains);
	elog_map_init(map, map->value_size);
}

void elog_map_clear(struct elog_map *map)
{
	if (map->count)
		memset(map->chains, 0, map->size * sizeof(*map->chains));
	memset(map->recent, 0, sizeof(map->recent));
	map->count = 0;
	map->used = 0;
	map->free = 0;
	map->oldest = 0;
	map->newest = 0;
}

/* ------------------------------------------------------------------------
 * Keys
 */

struct elog_map_key elog_map_integer(uint64_t number)
{
	return (struct elog_map_key){
		{ elog_siphash_integer(&secret, number), number }
	};
}

struct elog_map_key elog_map_bytes(const void *data, size_t size)
{
	const struct elog_siphash hash = elog_siphash(&secret, data, size);

	return (struct elog_map_key){ { hash.words[0], hash.words[1] } };
}

struct elog_map_key elog_map_name(const char *name, uint64_t number)
{
	const struct elog_siphash hash = elog_siphash(&secret, name, strlen(name));
	const uint64_t words[] = { number, hash.words[0], hash.words[1] };

	return elog_map_bytes(words, sizeof(words));
}

/* ------------------------------------------------------------------------
 * Slots
 */

static struct slot *slot_at(const struct elog_map *map, uint32_t number)
{
	uint32_t index = number - 1, chunk = 0;

	if (index >= CHUNK_MIN) {
		chunk = 28 - (uint32_t)__builtin_clz(index);
		index -= CHUNK_MIN / 2 << chunk;
	}
	return (struct slot *)(map->chunks[chunk] + index * map->slot_size);
}

static struct slot *slot_of(const void *value)
{
	return (struct slot *)((unsigned char *)value - offsetof(struct slot, value));
}

static uint32_t *chain_of(const struct elog_map *map, const struct elog_map_key *key)
{
	return &map->chains[key->words[0] & (map->size - 1)];
}

/* Double the slots and chains. Return: false, nothing being changed, without memory. */
static bool grow(struct elog_map *map)
{
	uint32_t added = map->size ? map->size : CHUNK_MIN, size = map->size + added;
	unsigned char **chunk = map->chunks;
	uint32_t *chains, *chain, number;
	struct slot *slot;

	if (added >= SLOTS_MAX)
		return false;
	while (*chunk)
		chunk++;
	*chunk = added <= SIZE_MAX / map->slot_size ?
		 aligned_alloc(CHUNK_ALIGN, added * map->slot_size) : NULL;
	chains = calloc(size, sizeof(*chains));
	if (!*chunk || !chains) {
		free(*chunk);
		free(chains);
		*chunk = NULL;
		return false;
	}
	free(map->chains);
	map->chains = chains;
	map->size = size;
	for (number = map->oldest; number; number = slot->newer) {
		slot = slot_at(map, number);
		chain = chain_of(map, &slot->key);
		slot->chain = *chain;
		*chain = number;
	}
	return true;
}

static void link_newest(struct elog_map *map, struct slot *slot)
{
	slot->newer = 0;
	slot->older = map->newest;
	if (map->newest)
		slot_at(map, map->newest)->newer = slot->number;
	else
		map->oldest = slot->number;
	map->newest = slot->number;
}

static void unlink_age(struct elog_map *map, const struct slot *slot)
{
	if (slot->older)
		slot_at(map, slot->older)->newer = slot->newer;
	else
		map->oldest = slot->newer;
	if (slot->newer)
		slot_at(map, slot->newer)->older = slot->older;
	else
		map->newest = slot->older;
}

/* ------------------------------------------------------------------------
 * Values
 */

void *elog_map_find(const struct elog_map *map, struct elog_map_key key)
{
	struct slot *slot;
	uint32_t number;

	if (!map->count)
		return NULL;
	for (number = *chain_of(map, &key); number; number = slot->chain) {
		slot = slot_at(map, number);
		if (slot->key.words[0] == key.words[0] &&
		    slot->key.words[1] == key.words[1])
			return slot->value;
	}
	return NULL;
}

void *elog_map_find_integer(struct elog_map *map, uint64_t integer)
{
	uint32_t *recent = &map->recent[integer & (ELOG_MAP_RECENT - 1)];
	struct slot *slot;
	void *value;

	if (*recent) {
		slot = slot_at(map, *recent);
		if (slot->number && slot->key.words[1] == integer)
			return slot->value;
	}
	value = elog_map_find(map, elog_map_integer(integer));
	if (value)
		*recent = slot_of(value)->number;
	return value;
}

void *elog_map_insert(struct elog_map *map, struct elog_map_key key)
{
	uint32_t number = map->free, *chain;
	struct slot *slot;

	if (!number) {
		if (map->used == map->size && !grow(map))
			return NULL;
		number = ++map->used;
	}
	slot = slot_at(map, number);
	if (map->free)
		map->free = slot->chain;
	memset(slot->value, 0, map->value_size);
	chain = chain_of(map, &key);
	slot->key = key;
	slot->number = number;
	slot->chain = *chain;
	*chain = number;
	link_newest(map, slot);
	map->count++;
	return slot->value;
}

void *elog_map_get(struct elog_map *map, struct elog_map_key key)
{
	void *value = elog_map_find(map, key);

	return value ? value : elog_map_insert(map, key);
}

void elog_map_remove(struct elog_map *map, void *value)
{
	struct slot *slot = slot_of(value);
	uint32_t *link = chain_of(map, &slot->key);

	while (*link != slot->number)
		link = &slot_at(map, *link)->chain;
	*link = slot->chain;
	unlink_age(map, slot);
	slot->chain = map->free;
	map->free = slot->number;
	slot->number = 0;
	map->count--;
}

void elog_map_touch(struct elog_map *map, void *value)
{
	struct slot *slot = slot_of(value);

	unlink_age(map, slot);
	link_newest(map, slot);
}

void *elog_map_first(const struct elog_map *map)
{
	return map->oldest ? slot_at(map, map->oldest)->value : NULL;
}

void *elog_map_next(const struct elog_map *map, const void *value)
{
	const struct slot *slot = slot_of(value);

	return slot->newer ? slot_at(map, slot->newer)->value : NULL;
}
