// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The hash map of libelog and elog: see map.h.
 *
 * Slots are numbered from 1, 0 is none. They are in chunks, each as large as all
 * before it, so that values never move. A used slot is in the list of all by age, a free
 * one in a list of its own.
 *
 * The index is an open-addressed table with linear probing, at most half full. It keeps
 * 32 bits of each hash, so that a search rarely reads a slot of another key, and growing
 * reads no slot.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/map.h"
#include "util/siphash.h"

#define CHUNK_MIN	16U	/* slots of the first chunk */
#define CHUNK_ALIGN	64	/* a cache line; divides the size of each chunk */
#define SLOTS_MAX	(1U << 30)
#define LARGE_BYTES	(4U << 20)	/* worth large pages */
#define CLEAR_SHARE	32

struct slot {
	struct elog_map_key key;
	uint32_t number;	/* its own; 0: it is free */
	uint32_t older;
	uint32_t newer;		/* or the next free one */
	uint64_t value[] __attribute__((aligned(8)));
};

struct elog_map_place {
	uint32_t hash;		/* the low bits of the key's first word */
	uint32_t number;	/* of the slot; 0: this place is empty */
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
	free(map->index);
	elog_map_init(map, map->value_size);
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

/* Both terms of the sum are secret, so a user cannot choose numbers that collide. */
struct elog_map_key elog_map_pair(uint64_t hash, uint64_t number)
{
	return (struct elog_map_key){
		{ hash + elog_siphash_integer(&secret, number), number }
	};
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

static uint32_t next_place(const struct elog_map *map, uint32_t at)
{
	return (at + 1) & map->mask;
}

static void fill_place(struct elog_map *map, struct elog_map_place place)
{
	uint32_t at = place.hash & map->mask;

	while (map->index[at].number)
		at = next_place(map, at);
	map->index[at] = place;
}

/* Move later places of the same run back, so that no search ends at the gap. */
static void empty_place(struct elog_map *map, const struct slot *slot)
{
	uint32_t gap = (uint32_t)slot->key.words[0] & map->mask, at, home;

	while (map->index[gap].number != slot->number)
		gap = next_place(map, gap);
	for (at = next_place(map, gap); map->index[at].number; at = next_place(map, at)) {
		home = map->index[at].hash & map->mask;
		if (((at - home) & map->mask) < ((at - gap) & map->mask))
			continue;
		map->index[gap] = map->index[at];
		gap = at;
	}
	map->index[gap].number = 0;
}

/* A search reads one place of a large table: most of its time are misses of the TLB. */
static void use_large_pages(void *memory, size_t size)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory;
	const uintptr_t from = (start + page - 1) & ~(page - 1), to = (start + size) & ~(page - 1);

	if (size >= LARGE_BYTES)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Double the slots and places. Return: false, nothing being changed, without memory. */
static bool grow(struct elog_map *map)
{
	uint32_t added = map->size ? map->size : CHUNK_MIN, at;
	const uint32_t places = map->size ? map->mask + 1 : 0;
	const size_t size = ((size_t)map->size + added) * 2;
	struct elog_map_place *index, *old = map->index;
	unsigned char **chunk = map->chunks;

	if (added >= SLOTS_MAX)
		return false;
	while (*chunk)
		chunk++;
	*chunk = added <= SIZE_MAX / map->slot_size ?
		 aligned_alloc(CHUNK_ALIGN, added * map->slot_size) : NULL;
	index = calloc(size, sizeof(*index));
	if (!*chunk || !index) {
		free(*chunk);
		free(index);
		*chunk = NULL;
		return false;
	}
	use_large_pages(*chunk, added * map->slot_size);
	use_large_pages(index, size * sizeof(*index));
	map->index = index;
	map->mask = (uint32_t)(size - 1);
	map->size += added;
	for (at = 0; at < places; at++)
		if (old[at].number)
			fill_place(map, old[at]);
	free(old);
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
	const uint32_t hash = (uint32_t)key.words[0];
	struct slot *slot;
	uint32_t at;

	if (!map->count)
		return NULL;
	for (at = hash & map->mask; map->index[at].number; at = next_place(map, at)) {
		if (map->index[at].hash != hash)
			continue;
		slot = slot_at(map, map->index[at].number);
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
	uint32_t number = map->free;
	struct slot *slot;

	if (!number) {
		if (map->used == map->size && !grow(map))
			return NULL;
		number = ++map->used;
	}
	slot = slot_at(map, number);
	if (map->free)
		map->free = slot->newer;
	memset(slot->value, 0, map->value_size);
	slot->key = key;
	slot->number = number;
	fill_place(map, (struct elog_map_place){ (uint32_t)key.words[0], number });
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

	empty_place(map, slot);
	unlink_age(map, slot);
	slot->newer = map->free;
	map->free = slot->number;
	slot->number = 0;
	map->count--;
}

void elog_map_clear(struct elog_map *map)
{
	/* Clear a large table that holds few values one by one. */
	while (map->count && map->count < map->size / CLEAR_SHARE)
		elog_map_remove(map, elog_map_first(map));
	if (map->count)
		memset(map->index, 0, ((size_t)map->mask + 1) * sizeof(*map->index));
	memset(map->recent, 0, sizeof(map->recent));
	map->count = 0;
	map->used = 0;
	map->free = 0;
	map->oldest = 0;
	map->newest = 0;
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
