// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CRC-32C (Castagnoli), the checksum of .elog files: by the CPU's instruction if it has
 * one, else by tables, eight bytes at a time.
 *
 * The instruction takes three cycles, but a CPU starts one in each cycle. So three lanes
 * of a long input are summed at the same time, and the sums are joined: the sum of the
 * bytes before a lane is shifted by the lane's size, as if zeros followed them.
 *
 * The tables are made once per process; any thread may call this.
 */
#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "elog.h"
#include "util/crc32c.h"
#include "util/util.h"

#define POLYNOMIAL	0x82f63b78U	/* reflected */
#define TABLES		8
#define LANE		1024	/* bytes */

/* Constant after tables_once. */
static struct {
	uint32_t bytes[TABLES][256];	/* how a byte changes the sum if n bytes follow it */
	uint32_t shifts[4][256];	/* how byte n of a sum changes it if LANE zeros follow */
	bool has_instruction;		/* of the CPU */
} tables;
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static bool find_instruction(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("sse4.2");
#elif defined(__aarch64__)
	return getauxval(AT_HWCAP) & 1UL << 7;	/* HWCAP_CRC32 */
#else
	return false;
#endif
}

static void make_shifts(void)
{
	uint32_t bits[32], byte, sum, n, i;

	for (i = 0; i < 32; i++) {
		sum = 1U << i;
		for (n = 0; n < LANE; n++)
			sum = sum >> 8 ^ tables.bytes[0][sum & 255];
		bits[i] = sum;
	}
	for (n = 0; n < 4; n++) {
		for (byte = 0; byte < 256; byte++) {
			for (sum = 0, i = 0; i < 8; i++)
				sum ^= byte >> i & 1 ? bits[8 * n + i] : 0;
			tables.shifts[n][byte] = sum;
		}
	}
}

static void prepare(void)
{
	uint32_t byte, bit, sum;
	size_t n;

	for (byte = 0; byte < 256; byte++) {
		for (sum = byte, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
		tables.bytes[0][byte] = sum;
	}
	for (n = 1; n < TABLES; n++)
		for (byte = 0; byte < 256; byte++)
			tables.bytes[n][byte] = tables.bytes[n - 1][byte] >> 8 ^
					  tables.bytes[0][tables.bytes[n - 1][byte] & 255];
	make_shifts();
	tables.has_instruction = find_instruction();
}

uint32_t elog_crc32c_tables(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t word;
	size_t i;

	pthread_once(&tables_once, prepare);
	crc = ~crc;
	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, sizeof(word));
		word = le64toh(word) ^ crc;
		for (crc = 0, i = 0; i < 8; i++)
			crc ^= tables.bytes[7 - i][word >> (8 * i) & 255];
	}
	for (; size; size--)
		crc = crc >> 8 ^ tables.bytes[0][(crc ^ *at++) & 255];
	return ~crc;
}

#if defined(__x86_64__)
#define INSTRUCTION	__attribute__((target("sse4.2")))
#define sum_word(sum, word)	_mm_crc32_u64(sum, word)
#define sum_byte(sum, byte)	_mm_crc32_u8((uint32_t)(sum), byte)
#elif defined(__aarch64__)
#define INSTRUCTION

/* Compilers differ in how a function may use this extension. */
static inline uint64_t sum_word(uint64_t sum, uint64_t word)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(sum) : "r"(le64toh(word)));
	return sum;
}

static inline uint64_t sum_byte(uint64_t sum, unsigned char byte)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(sum) : "r"(byte));
	return sum;
}
#endif

#ifdef INSTRUCTION
/* Read an unaligned word without copying it. */
typedef uint64_t __attribute__((aligned(1), may_alias)) any_word;

/* @sum is not inverted here. */
static INSTRUCTION uint64_t one_lane(uint64_t sum, const unsigned char *at, size_t size)
{
	size_t i;

	for (; size >= 128; size -= 128, at += 128) {
#pragma GCC unroll 16
		for (i = 0; i < 128; i += 8)
			sum = sum_word(sum, *(const any_word *)(at + i));
	}
	for (; size >= 8; size -= 8, at += 8)
		sum = sum_word(sum, *(const any_word *)at);
	for (; size; size--)
		sum = sum_byte(sum, *at++);
	return sum;
}

static uint64_t shift(uint64_t sum)
{
	return tables.shifts[0][sum & 255] ^ tables.shifts[1][sum >> 8 & 255] ^
	       tables.shifts[2][sum >> 16 & 255] ^ tables.shifts[3][sum >> 24 & 255];
}

static INSTRUCTION uint64_t three_lanes(uint64_t sum, const unsigned char *at)
{
	uint64_t second = 0, third = 0;
	size_t i;

#pragma GCC unroll 4
	for (i = 0; i < LANE; i += 8) {
		sum = sum_word(sum, *(const any_word *)(at + i));
		second = sum_word(second, *(const any_word *)(at + LANE + i));
		third = sum_word(third, *(const any_word *)(at + 2 * LANE + i));
	}
	return shift(shift(sum) ^ second) ^ third;
}

static uint32_t by_one_lane(uint32_t crc, const void *data, size_t size)
{
	return ~(uint32_t)one_lane((uint32_t)~crc, data, size);
}

static uint32_t by_three_lanes(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t sum = (uint32_t)~crc;

	for (; size >= 3 * LANE; size -= 3 * LANE, at += 3 * LANE)
		sum = three_lanes(sum, at);
	return ~(uint32_t)one_lane(sum, at, size);
}
#endif

const struct elog_crc32c_variant *elog_crc32c_variants(void)
{
	static const struct elog_crc32c_variant variants[] = {
		{ "tables", elog_crc32c_tables },
#ifdef INSTRUCTION
		{ "instruction, one lane", by_one_lane },
		{ "instruction, three lanes", by_three_lanes },
#endif
		{ NULL, NULL },
	};
	static const struct elog_crc32c_variant none[] = {
		{ "tables", elog_crc32c_tables },
		{ NULL, NULL },
	};

	pthread_once(&tables_once, prepare);
	return tables.has_instruction ? variants : none;
}

uint32_t elog_crc32c(uint32_t crc, const void *data, size_t size)
{
#ifdef INSTRUCTION
	pthread_once(&tables_once, prepare);
	if (tables.has_instruction)
		return by_three_lanes(crc, data, size);
#endif
	return elog_crc32c_tables(crc, data, size);
}
