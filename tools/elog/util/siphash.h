/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SipHash-2-4 with 128 bits, as Aumasson and Bernstein define it: who does not
 * know the key cannot make two messages that have the same hash.
 */
#ifndef SIPHASH_H
#define SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/** struct siphash - a hash, or a key: its bytes as little-endian words */
struct siphash {
	uint64_t words[2];
};

/**
 * siphash() - hash a message
 * @key: random, and secret
 * @data: the message
 * @size: bytes of it
 */
struct siphash siphash(const struct siphash *key, const void *data, size_t size);

/** siphash_secret() - a random key; 0 or a negative errno */
int siphash_secret(struct siphash *key);

/**
 * siphash_session() - hash a provider's name and a number
 * @key: random, and secret: whoever emits chooses both
 * @provider: the name
 * @number: of a session, a process, ...
 */
uint64_t siphash_session(const struct siphash *key, const char *provider,
			 uint64_t number);

#endif /* SIPHASH_H */
