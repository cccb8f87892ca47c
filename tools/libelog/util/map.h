/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The hash map of libelog and elog: values of one size, found by a key.
 *
 * A key is a number, bytes of any length, or a name with a number. The map keeps
 * 16 bytes of it, so an entry takes the same memory whatever its key is. Hashes are
 * keyed with a random secret of the process, so crafted input cannot make keys
 * collide.
 *
 * Values are kept in the order of their insertion. They never move: a pointer to a
 * value is valid until the value is removed. The map takes no locks, the caller
 * serializes. It is internal: libelog.so does not export it, elog links libelog.a.
 */
#ifndef ELOG_MAP_H
#define ELOG_MAP_H

#include <stddef.h>
#include <stdint.h>

#define ELOG_MAP_CHUNKS	28
#define ELOG_MAP_RECENT	16

/** struct elog_map_key - what the map keeps of a key; comparable by its words only */
struct elog_map_key {
	uint64_t words[2];
};

/**
 * struct elog_map - a map
 * @count: values in it; to be read by anyone
 *
 * The rest belongs to map.c.
 */
struct elog_map {
	uint32_t count;
	uint32_t size;		/* slots: 0 or a power of two */
	uint32_t mask;		/* number of places in @index, less 1 */
	uint32_t used;		/* slots that ever held a value */
	uint32_t free;		/* the first free one of these; 0: none */
	uint32_t oldest;
	uint32_t newest;
	size_t value_size;
	size_t slot_size;
	struct elog_map_place *index;
	uint32_t recent[ELOG_MAP_RECENT];	/* slots that elog_map_find_integer() found */
	unsigned char *chunks[ELOG_MAP_CHUNKS];
};

/**
 * elog_map_init() - make an empty map
 * @map: the map
 * @value_size: bytes of each value, aligned to 8
 *
 * Allocates nothing and cannot fail.
 */
void elog_map_init(struct elog_map *map, size_t value_size);

/** elog_map_free() - free all memory; the map is empty and usable then */
void elog_map_free(struct elog_map *map);

/**
 * elog_map_clear() - remove all values
 * @map: the map
 *
 * Keeps the memory: as many values can be inserted again without failure.
 */
void elog_map_clear(struct elog_map *map);

/**
 * elog_map_integer() - the key of a number
 *
 * Call elog_map_init() before this and the other functions that make keys. All keys
 * of a map are made by elog_map_integer(), or none is.
 */
struct elog_map_key elog_map_integer(uint64_t number);

/** elog_map_bytes() - the key of some bytes */
struct elog_map_key elog_map_bytes(const void *data, size_t size);

/**
 * elog_map_pair() - the key of a hash and a number
 * @hash: the first word of another key, whose bytes need not be hashed again
 * @number: the number
 */
struct elog_map_key elog_map_pair(uint64_t hash, uint64_t number);

/** elog_map_name() - the key of a name and a number, for example of a session */
struct elog_map_key elog_map_name(const char *name, uint64_t number);

/** elog_map_find() - the value of a key, or NULL */
void *elog_map_find(const struct elog_map *map, struct elog_map_key key);

/**
 * elog_map_find_integer() - the value of the key elog_map_integer(), or NULL
 * @map: the map; all its keys are made by elog_map_integer()
 * @integer: the key
 *
 * Faster than elog_map_find() when the same few keys are looked up again and again.
 */
void *elog_map_find_integer(struct elog_map *map, uint64_t integer);

/**
 * elog_map_insert() - add a value
 * @map: the map
 * @key: a key that is not in the map
 *
 * Return: the new value, filled with zeros; NULL: no memory, nothing was changed.
 */
void *elog_map_insert(struct elog_map *map, struct elog_map_key key);

/** elog_map_get() - find the value, or insert one; NULL: no memory */
void *elog_map_get(struct elog_map *map, struct elog_map_key key);

/**
 * elog_map_remove() - remove a value
 * @map: the map
 * @value: what elog_map_find() or another function returned
 *
 * The next value that is inserted takes its memory; until then it stays readable.
 */
void elog_map_remove(struct elog_map *map, void *value);

/** elog_map_touch() - move a value to the end of the order, as if just inserted */
void elog_map_touch(struct elog_map *map, void *value);

/** elog_map_first() - the oldest value, or NULL */
void *elog_map_first(const struct elog_map *map);

/** elog_map_next() - the value inserted after this one, or NULL */
void *elog_map_next(const struct elog_map *map, const void *value);

/* A loop body that removes @value must call elog_map_next() first. */
#define elog_map_for_each(map, value)				\
	for ((value) = elog_map_first(map); (value);		\
	     (value) = elog_map_next(map, value))

#endif /* ELOG_MAP_H */
