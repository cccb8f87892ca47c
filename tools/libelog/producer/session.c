// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Numbers for sessions: see elog_session_new().
 *
 * The first number of a process is random, and each further one is greater by one. So two
 * processes have a number in common only if their ranges of 63-bit numbers overlap.
 *
 * The counter is on a page that the kernel clears in the child of a fork, however the
 * child was made. 0 means that there is no first number yet. Everything is lock-free:
 * signal handlers may call this. If there is no such page, each number is random.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "elog.h"

/* Numbers that a program chooses itself rarely have this bit. */
#define SESSION_BIT	(1ULL << 63)

#ifndef GRND_INSECURE
#define GRND_INSECURE	4
#endif

static uint64_t *session_page;		/* atomic; NULL: not mapped yet */
static uint64_t session_none;		/* in place of a page that cannot be mapped */

/* Never waits for the kernel to gather entropy, which only early boot lacks. */
static uint64_t random_number(void)
{
	struct timespec now;
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_INSECURE) == sizeof(number) ||
	    getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number))
		return number | SESSION_BIT;
	clock_gettime(CLOCK_MONOTONIC, &now);
	number = ((uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec) ^
		 (uint64_t)getpid() << 40 ^ (uint64_t)gettid() << 20;
	return number | SESSION_BIT;
}

static uint64_t *map_page(void)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *page, *expected = NULL;
	void *mapped;

	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page = mapped == MAP_FAILED ? &session_none : mapped;
	if (mapped != MAP_FAILED && madvise(mapped, bytes, MADV_WIPEONFORK)) {
		munmap(mapped, bytes);
		page = &session_none;
	}
	if (__atomic_compare_exchange_n(&session_page, &expected, page, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return page;
	if (page != &session_none)
		munmap(mapped, bytes);
	return expected;
}

static uint64_t next_number(void)
{
	uint64_t *next = __atomic_load_n(&session_page, __ATOMIC_ACQUIRE), none = 0;

	if (!next)
		next = map_page();
	if (next == &session_none)
		return random_number();
	if (!__atomic_load_n(next, __ATOMIC_RELAXED))
		__atomic_compare_exchange_n(next, &none, random_number(), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED) | SESSION_BIT;
}

uint64_t elog_session_new(void)
{
	int error = errno;
	uint64_t number = next_number();

	errno = error;
	return number;
}
