// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of map.c, which is included so that its allocations can fail. Prints TAP.
 */
#include <stdlib.h>

#include "tap.h"

static unsigned int allocations_left = -1U;

static void *limited_calloc(size_t count, size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return (calloc)(count, size);
}

static void *limited_aligned_alloc(size_t alignment, size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return (aligned_alloc)(alignment, size);
}

#define calloc(count, size) limited_calloc(count, size)
#define aligned_alloc(alignment, size) limited_aligned_alloc(alignment, size)
#include "util/map.c"
#undef aligned_alloc
#undef calloc

struct value {
	uint64_t key;
	uint64_t number;
	char odd[3];
};

static struct value *insert(struct elog_map *map, uint64_t key, uint64_t number)
{
	struct value *value = elog_map_insert(map, elog_map_integer(key));

	if (!value)
		return NULL;
	check_equal(value->key, 0);
	check_equal(value->odd[2], 0);
	value->key = key;
	value->number = number;
	memset(value->odd, 0xff, sizeof(value->odd));
	return value;
}

/* Return: the number of a key; 0: the key is not there. */
static uint64_t find(struct elog_map *map, uint64_t key)
{
	struct value *value = elog_map_find(map, elog_map_integer(key));

	check(value == elog_map_find_integer(map, key));
	if (!value)
		return 0;
	check_equal(value->key, key);
	return value->number;
}

/* Return: true if the map holds these keys, in this order. */
static bool has_order(const struct elog_map *map, const uint64_t *keys, size_t count)
{
	const struct value *value;
	size_t i = 0;

	elog_map_for_each(map, value)
		if (i == count || value->key != keys[i++])
			return false;
	return i == count && map->count == count;
}

static void test_empty(void)
{
	struct elog_map map;

	elog_map_init(&map, sizeof(struct value));
	check_equal(find(&map, 1), 0);
	check(!elog_map_first(&map));
	elog_map_clear(&map);
	elog_map_free(&map);
	check_equal(find(&map, 1), 0);
	check(insert(&map, 1, 2));
	check_equal(find(&map, 1), 2);
	elog_map_free(&map);
	check_equal(map.count, 0);
	check_equal(find(&map, 1), 0);
}

static void test_order(void)
{
	struct elog_map map;
	uint64_t i;

	elog_map_init(&map, sizeof(struct value));
	for (i = 1; i <= 5; i++)
		insert(&map, i, i);
	check(has_order(&map, (const uint64_t []){ 1, 2, 3, 4, 5 }, 5));
	elog_map_touch(&map, elog_map_find_integer(&map, 1));
	elog_map_touch(&map, elog_map_find_integer(&map, 1));
	elog_map_touch(&map, elog_map_find_integer(&map, 3));
	check(has_order(&map, (const uint64_t []){ 2, 4, 5, 1, 3 }, 5));
	elog_map_remove(&map, elog_map_find_integer(&map, 2));
	elog_map_remove(&map, elog_map_find_integer(&map, 3));
	elog_map_remove(&map, elog_map_find_integer(&map, 5));
	check(has_order(&map, (const uint64_t []){ 4, 1 }, 2));
	check_equal(find(&map, 5), 0);
	insert(&map, 6, 6);
	insert(&map, 5, 7);
	check(has_order(&map, (const uint64_t []){ 4, 1, 6, 5 }, 4));
	check_equal(find(&map, 5), 7);
	elog_map_free(&map);
}

static void test_clear(void)
{
	struct elog_map map;
	uint64_t i;

	elog_map_init(&map, sizeof(struct value));
	for (i = 1; i <= 300; i++)
		insert(&map, i, i);
	elog_map_remove(&map, elog_map_find_integer(&map, 7));
	check_equal(find(&map, 300), 300);
	elog_map_clear(&map);
	check_equal(map.count, 0);
	check(!elog_map_first(&map));
	for (i = 1; i <= 300; i++)
		check_equal(find(&map, i), 0);
	/* The table is still allocated. */
	allocations_left = 0;
	for (i = 1; i <= 300; i++)
		check(insert(&map, i, 2 * i));
	allocations_left = -1U;
	for (i = 1; i <= 300; i++)
		check_equal(find(&map, i), 2 * i);
	/* Few values in a large table. */
	for (i = 1; i <= 297; i++)
		elog_map_remove(&map, elog_map_find_integer(&map, i));
	check(has_order(&map, (const uint64_t []){ 298, 299, 300 }, 3));
	elog_map_clear(&map);
	check_equal(map.count, 0);
	for (i = 1; i <= 300; i++)
		check_equal(find(&map, i), 0);
	allocations_left = 0;
	for (i = 1; i <= 300; i++)
		check(insert(&map, i, 3 * i));
	allocations_left = -1U;
	check_equal(find(&map, 300), 900);
	elog_map_free(&map);
}

/* Keys whose places in the index collide, at its end too. */
static void test_collisions(void)
{
	struct elog_map_key keys[12];
	void *values[12];
	struct elog_map map;
	unsigned int removed, i;

	for (removed = 0; removed < 12; removed++) {
		elog_map_init(&map, sizeof(uint64_t));
		for (i = 0; i < 12; i++) {
			/* The index has 32 places: these keys want the last three. */
			keys[i] = (struct elog_map_key){ { 29 + i % 3 + 32 * (i % 2), i } };
			values[i] = elog_map_insert(&map, keys[i]);
			check(values[i]);
		}
		for (i = 0; i < 12; i++)
			check(elog_map_find(&map, keys[i]) == values[i]);
		elog_map_remove(&map, values[removed]);
		for (i = 0; i < 12; i++)
			check(elog_map_find(&map, keys[i]) == (i == removed ? NULL : values[i]));
		elog_map_free(&map);
	}
}

static void test_pointers(void)
{
	static struct value *values[5000];
	struct elog_map map;
	uint64_t i;

	elog_map_init(&map, sizeof(struct value));
	for (i = 0; i < 5000; i++)
		values[i] = insert(&map, i, i);
	for (i = 0; i < 5000; i++) {
		check(elog_map_find_integer(&map, i) == values[i]);
		check(elog_map_get(&map, elog_map_integer(i)) == values[i]);
		check_equal(values[i]->number, i);
	}
	check_equal(map.count, 5000);
	elog_map_free(&map);
}

/* Growth needs two allocations: either may fail. */
static void test_no_memory(void)
{
	unsigned int allowed;
	struct elog_map map;
	uint64_t i, failed = 0;

	elog_map_init(&map, sizeof(struct value));
	for (i = 1; i <= 2000; i++) {
		for (allowed = 0; allowed < 2; allowed++) {
			allocations_left = allowed;
			if (insert(&map, i, i))
				break;
			failed++;
			check_equal(map.count, i - 1);
			check_equal(find(&map, i), 0);
			check_equal(find(&map, i - 1), i - 1);
		}
		allocations_left = -1U;
		if (allowed == 2)
			check(insert(&map, i, i));
	}
	/* Sizes 16, 32 ... 2048. */
	check_equal(failed, 2 * 8);
	for (i = 1; i <= 2000; i++)
		check_equal(find(&map, i), i);
	elog_map_free(&map);
}

/* Random operations are compared with a plain array. */
static void test_any(void)
{
	static uint64_t model[2000];
	uint64_t random = 88172645463325252ULL, time, key;
	struct value *value;
	struct elog_map map;
	uint32_t count = 0;

	elog_map_init(&map, sizeof(struct value));
	for (time = 1; time < 200000; time++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		key = random % 2000;
		check_equal(find(&map, key), model[key]);
		if (random >> 32 & 1 && model[key]) {
			elog_map_find_integer(&map, key);
			elog_map_remove(&map, elog_map_find_integer(&map, key));
			model[key] = 0;
			count--;
		} else if (!model[key]) {
			insert(&map, key, time);
			model[key] = time;
			count++;
		}
		check_equal(map.count, count);
	}
	/* No value was touched, so they are in order of insertion. */
	time = 0;
	elog_map_for_each(&map, value) {
		check(value->number > time);
		check_equal(model[value->key], value->number);
		time = value->number;
		count--;
	}
	check_equal(count, 0);
	elog_map_free(&map);
}

static bool equal(struct elog_map_key one, struct elog_map_key other)
{
	return one.words[0] == other.words[0] && one.words[1] == other.words[1];
}

static void test_keys(void)
{
	const char bytes[] = "a\0b";
	struct elog_map map;

	elog_map_init(&map, 0);
	check(equal(elog_map_bytes(bytes, 3), elog_map_bytes(bytes, 3)));
	check(!equal(elog_map_bytes(bytes, 3), elog_map_bytes(bytes, 2)));
	check(!equal(elog_map_bytes(bytes, 1), elog_map_bytes(bytes, 0)));
	check(equal(elog_map_name("name", 1), elog_map_name("name", 1)));
	check(!equal(elog_map_name("name", 1), elog_map_name("name", 2)));
	check(!equal(elog_map_name("name", 1), elog_map_name("nam", 1)));
	check(equal(elog_map_pair(1, 2), elog_map_pair(1, 2)));
	check(!equal(elog_map_pair(1, 2), elog_map_pair(1, 3)));
	check(!equal(elog_map_pair(1, 2), elog_map_pair(2, 2)));
	check(elog_map_get(&map, elog_map_name("", 0)));
	check(elog_map_get(&map, elog_map_bytes(bytes, 3)));
	check(elog_map_get(&map, elog_map_bytes(bytes, 3)));
	check_equal(map.count, 2);
	elog_map_free(&map);
}

/* Regular numbers, which a weak hash puts into few buckets. */
static void test_spread(void)
{
	static const struct elog_siphash zero;
	unsigned int chains[1024] = { 0 }, i, longest = 0;
	struct elog_map map;

	elog_map_init(&map, 0);
	check(elog_map_integer(1).words[0] != elog_siphash_integer(&zero, 1));
	for (i = 0; i < 16 * 1024; i++)
		chains[elog_map_integer((uint64_t)i << 40).words[0] % 1024]++;
	for (i = 0; i < 1024; i++)
		if (chains[i] > longest)
			longest = chains[i];
	check(longest < 64);
	elog_map_free(&map);
}

int main(void)
{
	static const struct test tests[] = {
		{ "an empty map", test_empty },
		{ "insertion order, touch and removal", test_order },
		{ "clearing keeps the memory", test_clear },
		{ "colliding keys and removal", test_collisions },
		{ "growth moves no value", test_pointers },
		{ "a failed allocation changes nothing", test_no_memory },
		{ "random operations against an array", test_any },
		{ "keys", test_keys },
		{ "a secret hash spreads regular numbers", test_spread },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests), NULL);
}
