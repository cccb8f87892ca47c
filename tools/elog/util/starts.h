/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that wait for the event that ends them: a table by key, of bounded
 * size. The key is a keyed hash, so that a start takes the same memory whatever
 * it is paired by.
 */
#ifndef STARTS_H
#define STARTS_H

#include "util/siphash.h"

/**
 * struct start - an event that begins something
 * @time: CLOCK_MONOTONIC ns
 * @wall: CLOCK_REALTIME ns
 * @session: its session
 * @pid: its process
 * @tid: its thread
 */
struct start {
	uint64_t time;
	int64_t wall;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
};

struct starts;

/** starts_open() - an empty table, of @most starts; NULL: no memory */
struct starts *starts_open(uint32_t most);

/** starts_close() - free it; NULL is fine */
void starts_close(struct starts *starts);

/** enum starts_added - what starts_add() has done; or -ENOMEM */
enum starts_added {
	STARTS_ADDED,
	STARTS_REPLACED,	/* one of the same key is gone */
	STARTS_EVICTED,		/* it was full: the oldest one is gone */
};

/** starts_add() - a start waits; the time of none before is later */
int starts_add(struct starts *starts, const struct siphash *key,
	       const struct start *start);

/** starts_take() - take the one of this key out; 1, or 0: there is none */
int starts_take(struct starts *starts, const struct siphash *key,
		struct start *start);

/** starts_count() - how many wait */
uint32_t starts_count(const struct starts *starts);

/** starts_forget() - none waits any more */
void starts_forget(struct starts *starts);

#endif /* STARTS_H */
