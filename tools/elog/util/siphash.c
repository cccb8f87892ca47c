// SPDX-License-Identifier: GPL-2.0-only
/*
 * SipHash-2-4 with 128 bits: see siphash.h. The names are those of the paper.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "util/siphash.h"

static uint64_t rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned int count)
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

static uint64_t load(const unsigned char *data, size_t size)
{
	uint64_t word = 0;

	while (size--)
		word = word << 8 | data[size];
	return word;
}

struct siphash siphash(const struct siphash *key, const void *data, size_t size)
{
	const uint64_t k0 = key->words[0], k1 = key->words[1];
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL ^ 0xee,
		k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL,
	};
	const unsigned char *bytes = data;
	struct siphash hash;
	size_t left;
	uint64_t m;

	for (left = size; left >= 8; left -= 8, bytes += 8) {
		m = load(bytes, 8);
		v[3] ^= m;
		rounds(v, 2);
		v[0] ^= m;
	}
	m = (uint64_t)size << 56 | load(bytes, left);
	v[3] ^= m;
	rounds(v, 2);
	v[0] ^= m;
	v[2] ^= 0xee;
	rounds(v, 4);
	hash.words[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
	v[1] ^= 0xdd;
	rounds(v, 4);
	hash.words[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
	return hash;
}

int siphash_secret(struct siphash *key)
{
	ssize_t size = getrandom(key, sizeof(*key), 0);

	if (size < 0)
		return -errno;
	return size == sizeof(*key) ? 0 : -EIO;
}

uint64_t siphash_session(const struct siphash *key, const char *provider,
			 uint64_t number)
{
	uint64_t words[2];

	words[0] = number;
	words[1] = siphash(key, provider, strlen(provider)).words[0];
	return siphash(key, words, sizeof(words)).words[0];
}
