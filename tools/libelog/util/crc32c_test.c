// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of the checksum: all ways to compute it agree with the definition. Prints TAP.
 */
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/crc32c.h"
#include "util/tap.h"
#include "util/test_random.h"
#include "util/util.h"

#define BYTES		20000	/* several times three lanes */
#define ROUNDS		300

static unsigned char bytes[BYTES + 64];

/* Bit by bit. */
static uint32_t reference(uint32_t crc, const unsigned char *data, size_t size)
{
	unsigned int i;

	for (crc = ~crc; size; size--) {
		crc ^= *data++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void test_known(void)
{
	static const unsigned char zeros[32];
	const struct elog_crc32c_variant *variant;

	for (variant = elog_crc32c_variants(); variant->name; variant++) {
		printf("# %s\n", variant->name);
		check_equal(variant->run(0, "123456789", 9), 0xe3069283);
		check_equal(variant->run(0, zeros, 32), 0x8a9136aa);
		check_equal(variant->run(0, "", 0), 0);
		check_equal(variant->run(7, "", 0), 7);
	}
}

static void check_range(uint32_t crc, size_t from, size_t size)
{
	const uint32_t expected = reference(crc, bytes + from, size);
	const struct elog_crc32c_variant *variant;

	for (variant = elog_crc32c_variants(); variant->name; variant++)
		check_equal(variant->run(crc, bytes + from, size), expected);
	check_equal(elog_crc32c(crc, bytes + from, size), expected);
}

static void test_random_ranges(void)
{
	static const size_t lanes[] = {
		1023, 1024, 3071, 3072, 3073, 3079, 3200, 6143, 6144, 6145,
	};
	size_t i, size, part;
	uint32_t crc;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)random_number(256);
	for (i = 0; i < 300; i++)
		check_range((uint32_t)random_number(1ULL << 32), i % 16, i);
	for (i = 0; i < ELOG_ARRAY_SIZE(lanes); i++)
		check_range((uint32_t)random_number(1ULL << 32), i, lanes[i]);
	for (i = 0; i < ROUNDS; i++) {
		size = random_number(BYTES);
		check_range((uint32_t)random_number(1ULL << 32), random_number(64), size);
		/* In two steps. */
		part = size ? random_number(size) : 0;
		crc = elog_crc32c(0, bytes, part);
		check_equal(elog_crc32c(crc, bytes + part, size - part),
			    reference(0, bytes, size));
	}
}

int main(void)
{
	static const struct test tests[] = {
		{ "known checksums", test_known },
		{ "all variants agree on random ranges", test_random_ranges },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), seed_random);
}
