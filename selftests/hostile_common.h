/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests with hostile users share: random calls of the device, and a check
 * that correct users still work.
 */
#ifndef HOSTILE_COMMON_H
#define HOSTILE_COMMON_H

#include "eventlog_common.h"
#include "filter_common.h"

/* Files that a hostile user has open, and parts of them that it has mapped. */
#define HOSTILE_FILES 12
#define HOSTILE_MAPS 6

struct hostile_map {
	void *address;
	size_t bytes;
};

/**
 * struct hostile - a user that makes random calls
 * @fds: its files; -1: none.  Several threads may use one struct with a @seed each.
 * @maps: its mappings
 * @text: two pages that requests refer to
 * @filter: the filter that requests refer to
 * @seed: state of test_random()
 */
struct hostile {
	int fds[HOSTILE_FILES];
	struct hostile_map maps[HOSTILE_MAPS];
	char *text;
	struct filter filter;
	__u64 seed;
};

/** hostile_begin() - open the files; does not fail the test if the module is not loaded */
void hostile_begin(struct hostile *hostile, __u64 seed);

/** hostile_call() - make a random call of any kind */
void hostile_call(struct hostile *hostile);

/** hostile_end() - unmap and close everything */
void hostile_end(struct hostile *hostile);

/** random_word() - a number that is often special: 0, small, a power of two, all bits set */
__u64 random_word(__u64 *seed);

/** delete_persistent() - delete all persistent events that are not in use */
void delete_persistent(void);

/** check_working() - check that a new user can register, subscribe, emit and receive */
void check_working(void);

#endif /* HOSTILE_COMMON_H */
