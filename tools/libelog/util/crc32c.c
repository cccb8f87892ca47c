// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CRC-32C (Castagnoli), the checksum of .elog files: by the CPU's instruction if it has
 * one, else by tables, eight bytes at a time.
 *
 * The tables are made once per process; any thread may call this.
 */
#include <endian.h>
#include <pthread.h>
#include <string.h>
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

#include "elog.h"
#include "util/util.h"

#define POLYNOMIAL	0x82f63b78U	/* reflected */
#define TABLES		8

/* tables[n][byte]: how a byte changes the sum if n bytes follow it. */
static uint32_t tables[TABLES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	uint32_t byte, bit, sum;
	size_t n;

	for (byte = 0; byte < 256; byte++) {
		for (sum = byte, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
		tables[0][byte] = sum;
	}
	for (n = 1; n < TABLES; n++)
		for (byte = 0; byte < 256; byte++)
			tables[n][byte] = tables[n - 1][byte] >> 8 ^
					  tables[0][tables[n - 1][byte] & 255];
}

uint32_t elog_crc32c_tables(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t word;
	size_t i;

	pthread_once(&tables_once, make_tables);
	crc = ~crc;
	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, sizeof(word));
		word = le64toh(word) ^ crc;
		for (crc = 0, i = 0; i < 8; i++)
			crc ^= tables[7 - i][word >> (8 * i) & 255];
	}
	for (; size; size--)
		crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 255];
	return ~crc;
}

#ifdef __x86_64__
/* Read an unaligned word without copying it. */
typedef uint64_t __attribute__((aligned(1), may_alias)) any_word;

static __attribute__((target("sse4.2")))
uint32_t by_instruction(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t sum = (uint32_t)~crc;
	size_t i;

	for (; size >= 128; size -= 128, at += 128) {
#pragma GCC unroll 16
		for (i = 0; i < 128; i += 8)
			sum = _mm_crc32_u64(sum, *(const any_word *)(at + i));
	}
	for (; size >= 8; size -= 8, at += 8)
		sum = _mm_crc32_u64(sum, *(const any_word *)at);
	for (; size; size--)
		sum = _mm_crc32_u8((uint32_t)sum, *at++);
	return (uint32_t)~sum;
}
#endif

uint32_t elog_crc32c(uint32_t crc, const void *data, size_t size)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, size);
#endif
	return elog_crc32c_tables(crc, data, size);
}
