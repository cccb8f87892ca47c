// SPDX-License-Identifier: LGPL-2.1-only
/*
 * SipHash: see siphash.h. The names are those of the paper.
 */
#include <endian.h>
#include <string.h>

#include "util/siphash.h"

static inline uint64_t rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void rounds(uint64_t v[4], unsigned int count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static inline void start(uint64_t v[4], const struct elog_siphash *key)
{
	v[0] = key->words[0] ^ 0x736f6d6570736575ULL;
	v[1] = key->words[1] ^ 0x646f72616e646f6dULL;
	v[2] = key->words[0] ^ 0x6c7967656e657261ULL;
	v[3] = key->words[1] ^ 0x7465646279746573ULL;
}

static inline void compress(uint64_t v[4], uint64_t m, unsigned int count)
{
	v[3] ^= m;
	rounds(v, count);
	v[0] ^= m;
}

static inline uint64_t load(const unsigned char *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return le64toh(word);
}

static uint64_t load_last(const unsigned char *data, size_t size)
{
	uint64_t word = 0;

	while (size--)
		word = word << 8 | data[size];
	return word;
}

struct elog_siphash elog_siphash(const struct elog_siphash *key, const void *data,
				 size_t size)
{
	const unsigned char *bytes = data;
	struct elog_siphash hash;
	uint64_t v[4];
	size_t left;

	start(v, key);
	v[1] ^= 0xee;
	for (left = size; left >= 8; left -= 8, bytes += 8)
		compress(v, load(bytes), 2);
	compress(v, (uint64_t)size << 56 | load_last(bytes, left), 2);
	v[2] ^= 0xee;
	rounds(v, 4);
	hash.words[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
	v[1] ^= 0xdd;
	rounds(v, 4);
	hash.words[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
	return hash;
}

uint64_t elog_siphash_integer(const struct elog_siphash *key, uint64_t number)
{
	uint64_t v[4];

	start(v, key);
	compress(v, number, 1);
	compress(v, 8ULL << 56, 1);
	v[2] ^= 0xff;
	rounds(v, 3);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
