// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of struct.c: structs whose first member is the size that the caller was compiled
 * with. Prints TAP.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"
#include "util/struct.h"

/* The library's struct. */
struct known {
	uint32_t size;
	uint32_t flags;
	uint64_t number;
};

/* That of a program with a newer header, with room to notice writes behind it. */
struct newer {
	struct known known;
	uint64_t more[2];
	uint64_t guard;
};

#define NEWER	offsetof(struct newer, guard)

static void test_get_short(void)
{
	struct newer from = { .known = { 8, 1, 2 }, .more = { 3, 4 } };
	struct known to;

	check_equal(elog_struct_get(&to, sizeof(to), &from), 0);
	check_equal(to.size, 8);
	check_equal(to.flags, 1);
	check_equal(to.number, 0);
	/* The end of the struct is within a member. */
	memset(&from.known.number, 0xff, sizeof(from.known.number));
	from.known.size = 9;
	check_equal(elog_struct_get(&to, sizeof(to), &from), 0);
	check(!memcmp(&to.number, "\xff\0\0\0\0\0\0", 8));
}

static void test_get_too_short(void)
{
	struct known from = { 0, 1, 2 }, to = { 9, 9, 9 };
	uint32_t size;

	for (size = 0; size < 8; size++) {
		from.size = size;
		check_equal(elog_struct_get(&to, sizeof(to), &from), -EINVAL);
	}
	check(to.size == 9 && to.flags == 9 && to.number == 9);
}

static void test_get_long(void)
{
	struct newer from = { .known = { NEWER, 1, 2 }, .guard = 5 };
	struct known to = { 9, 9, 9 };
	size_t at;

	for (at = sizeof(struct known); at < NEWER; at++) {
		((char *)&from)[at] = 1;
		check_equal(elog_struct_get(&to, sizeof(to), &from), -E2BIG);
		((char *)&from)[at] = 0;
	}
	check(to.size == 9 && to.flags == 9 && to.number == 9);
	check_equal(elog_struct_get(&to, sizeof(to), &from), 0);
	check(to.size == NEWER && to.flags == 1 && to.number == 2);
}

static void test_put(void)
{
	const struct known from = { sizeof(from), 1, 0x0807060504030201 };
	struct newer to, before;
	size_t size, i;

	for (size = 8; size <= NEWER; size++) {
		memset(&to, 0xaa, sizeof(to));
		to.known.size = (uint32_t)size;
		before = to;
		elog_struct_put(&to, &from, sizeof(from));
		check_equal(to.known.size, size);
		check_equal(to.known.flags, 1);
		for (i = 8; i < size; i++)
			if (((unsigned char *)&to)[i] !=
			    (i < sizeof(from) ? ((const unsigned char *)&from)[i] : 0))
				break;
		check_equal(i, size);
		check(!memcmp((char *)&to + size, (char *)&before + size, sizeof(to) - size));
	}
}

static void test_clear(void)
{
	struct newer to;

	memset(&to, 0xaa, sizeof(to));
	to.known.size = 15;
	check_equal(elog_struct_clear(&to, 16), -EINVAL);
	to.known.size = 7;
	check_equal(elog_struct_clear(&to, 4), -EINVAL);
	check_equal(to.known.flags, 0xaaaaaaaa);
	to.known.size = NEWER;
	check_equal(elog_struct_clear(&to, 16), 0);
	check_equal(to.known.size, NEWER);
	check_equal(to.known.flags, 0);
	check(!to.known.number && !to.more[0] && !to.more[1]);
	check(to.guard == 0xaaaaaaaaaaaaaaaa);
}

int main(void)
{
	static const struct test tests[] = {
		{ "a shorter struct is filled with zeros", test_get_short },
		{ "a struct without flags is refused", test_get_too_short },
		{ "a longer struct must be zero at the end", test_get_long },
		{ "results stay within the caller's struct", test_put },
		{ "a struct is cleared up to its size", test_clear },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests), NULL);
}
