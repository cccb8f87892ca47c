/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Random numbers for libelog's tests, the same in each run. Each test program includes
 * it once.
 */
#ifndef LIBELOG_TEST_RANDOM_H
#define LIBELOG_TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

/* Marsaglia's xorshift64. */
static inline uint64_t random_number(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* Passed to run_tests(), which calls it before each test. */
static inline void seed_random(void)
{
	random_state = 88172645463325252ULL;
}

#endif /* LIBELOG_TEST_RANDOM_H */
