/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * SipHash, as Aumasson and Bernstein define it: without the key it is not
 * possible to produce messages whose hashes collide.
 */
#ifndef ELOG_SIPHASH_H
#define ELOG_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/** struct elog_siphash - a hash, or a key: its bytes as little-endian words */
struct elog_siphash {
	uint64_t words[2];
};

/**
 * elog_siphash() - SipHash-2-4 with 128 bits
 * @key: random and secret
 * @data: the message
 * @size: bytes of it
 */
struct elog_siphash elog_siphash(const struct elog_siphash *key, const void *data,
				 size_t size);

/**
 * elog_siphash_integer() - SipHash-1-3 with 64 bits, of 8 little-endian bytes
 * @key: random and secret
 * @number: the message
 */
uint64_t elog_siphash_integer(const struct elog_siphash *key, uint64_t number);

#endif /* ELOG_SIPHASH_H */
