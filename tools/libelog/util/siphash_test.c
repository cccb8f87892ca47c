// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of siphash.c against hashes of "openssl mac -macopt hexkey:000102...0f
 * -macopt size:16 SipHash" over the bytes 0, 1, 2 ...; for integers with "-macopt
 * size:8 -macopt c-rounds:1 -macopt d-rounds:3" over 8 bytes. Prints TAP.
 */
#include "tap.h"
#include "util/siphash.h"

static const struct {
	size_t size;
	const char *hash;
} vectors[] = {
	{ 0, "a3817f04ba25a8e66df67214c7550293" },
	{ 1, "da87c1d86b99af44347659119b22fc45" },
	{ 7, "a1f1ebbed8dbc153c0b84aa61ff08239" },
	{ 8, "3b62a9ba6258f5610f83e264f31497b4" },
	{ 9, "264499060ad9baabc47f8b02bb6d71ed" },
	{ 15, "5493e99933b0a8117e08ec0f97cfc3d9" },
	{ 16, "6ee2a4ca67b054bbfd3315bf85230577" },
	{ 63, "5150d1772f50834a503e069a973fbd7c" },
	{ 64, "1eaf077dc0d4cd3f8cad4d383658a74b" },
	{ 255, "1c9bb67528165f8e468248e3799b0eab" },
};

static const struct elog_siphash key = {
	{ 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL },
};

static void test_bytes(void)
{
	unsigned char message[256];
	struct elog_siphash hash;
	char text[40];
	size_t i, j;

	for (i = 0; i < sizeof(message); i++)
		message[i] = (unsigned char)i;
	for (i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		hash = elog_siphash(&key, message, vectors[i].size);
		for (j = 0; j < 16; j++)
			snprintf(text + 2 * j, 3, "%02x", (unsigned int)
				 (hash.words[j / 8] >> 8 * (j % 8) & 0xff));
		check_string(text, vectors[i].hash);
	}
}

/* openssl prints the bytes of the hash, the first one is the lowest of the integer. */
static void test_integers(void)
{
	check_equal(elog_siphash_integer(&key, 0x0706050403020100ULL),
		    0x369095118d299a8eULL);
	check_equal(elog_siphash_integer(&key, 0), 0x5cb96f6ba2a4fcfcULL);
	check_equal(elog_siphash_integer(&key, UINT64_MAX), 0x823f307311453347ULL);
}

int main(void)
{
	static const struct test tests[] = {
		{ "hashes of bytes equal those of openssl", test_bytes },
		{ "hashes of integers equal those of openssl", test_integers },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests), NULL);
}
