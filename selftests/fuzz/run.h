/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processes of a program share, between run.c, which has the processes and threads, and
 * calls.c, which makes the calls.
 */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include <sys/types.h>

#include "fuzz.h"

#define SLOTS		8	/* open files */
#define MAPS		16
#define NUMBERS		16
#define WORDS		8
#define ROOM_BYTES	69632UL	/* where the kernel may write as much as it likes */
#define MEMORY_BYTES	(4 * ROOM_BYTES)

struct map {
	char *address;
	size_t length;
};

/*
 * struct shared - of both processes
 * @numbers: the latest ones that calls have made, by resource; @made: how many
 * @turn: the call that may be made
 * @pids: of root, and of the other user
 */
struct shared {
	__u64 numbers[FUZZ_RESOURCES][NUMBERS];
	unsigned int made[FUZZ_RESOURCES];
	int turn;
	pid_t pids[2];
};

/*
 * struct process - of one process; a fork copies it
 * @slots: open files; -1: none
 * @maps: what was mapped, @map_count so far
 * @cgroup: an open directory
 * @bits: words for user_events, which the kernel changes
 */
struct process {
	int slots[SLOTS];
	struct map maps[MAPS];
	unsigned int map_count;
	int cgroup;
	__u64 *bits;
};

extern struct shared *shared;
extern struct process process;

/*
 * struct thread - a thread
 * @memory: MEMORY_BYTES for the arguments of a call, and a page that no one can read
 * @used: of @memory
 * @fail_nth: the file with the number of the allocation that fails; 0: not open yet
 */
struct thread {
	unsigned int number;
	bool root;
	char *memory;
	size_t used;
	int fail_nth;
};

/** catch_faults() - let calls survive invalid addresses */
void catch_faults(void);

/** make_call() - make a call; its results are in @shared and @process */
void make_call(struct thread *thread, const struct fuzz_call *call);

/**
 * remove_rest() - remove what outlives a program
 *
 * Trace events that are on, a request to leave, instances, and persistent events: or the next
 * program would find something else each time.  Marker policies and triggers stay.
 */
void remove_rest(void);

#endif /* FUZZ_RUN_H */
