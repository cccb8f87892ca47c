/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eventlog_sched.ko, for tests: its events, loading and unloading, and threads with sessions.  A
 * function fails the test when something goes wrong.
 */
#ifndef SCHED_COMMON_H
#define SCHED_COMMON_H

#include "mapped_common.h"

#define SESSION 0x5e55ULL

/** struct off - the payload of the event off */
struct off {
	__u32 of;
	__u64 blocked;
	__u64 runnable;
	__u8 cause;
	__u8 how;
	__s16 call;
	__u32 by_tid;
	char by[16];
	__u32 by_of;
	__u64 by_session;
	__u64 arg;
	__u32 stack;
} __attribute__((packed));

/** struct sum - the payload of the event sum */
struct sum {
	__u32 of;
	__u32 count;
	__u64 runnable;
	__u64 causes[13];
} __attribute__((packed));

/** sched_load() - load the module, again if it is loaded; skips the test without EVENTLOG_KO */
void sched_load(const char *parameters);

/** sched_unload() - unload it */
void sched_unload(void);

/** struct sched_watch - a producer, and a subscriber to the provider sched */
struct sched_watch {
	int fd;
	struct eventlog_register event;
	struct consumer consumer;
};

/** sched_watch_open() - load the module with parameters, and open the others */
void sched_watch_open(struct sched_watch *watch, const char *parameters);

/** sched_watch_close() - close them, and unload the module */
void sched_watch_close(struct sched_watch *watch);

/** session_set() - the thread of a ring works on a session; 0, 0: on none */
void session_set(struct mapped *ring, __u32 of, __u64 session);

/**
 * sleep_once() - sleep for at least a millisecond
 *
 * On an emulated machine that time may be over before the thread stops running: then it sleeps
 * again.
 */
void sleep_once(void);

#endif /* SCHED_COMMON_H */
