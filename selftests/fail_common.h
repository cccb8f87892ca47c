/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failing allocations and accesses to user memory, for tests: the kernel lets the Nth one of the
 * calling thread fail, once (fail-nth in /proc).  After each failure a test checks that the call
 * has changed nothing, and that others still work.
 */
#ifndef FAIL_COMMON_H
#define FAIL_COMMON_H

#include "eventlog_common.h"

/* More failures than any call has; a call that reaches it never succeeds. */
#define FAILURES_MAX 5000

/**
 * struct fail_call - a call into which failures are injected
 * @name: for messages
 * @call: returns 0, or a negative number and errno.  It undoes what it has done.  Only one failure
 *	is injected, so what it repeats after a failure does not fail
 */
struct fail_call {
	const char *name;
	int (*call)(void);
};

/** fail_prepare() - let allocations of any kind fail; skips without fault injection */
void fail_prepare(void);

/** fail_at() - let the Nth allocation or access of this thread fail; 0: none */
bool fail_at(unsigned int number);

/** fail_left() - how many of them were not made */
long fail_left(void);

/** failed_by_injection() - end the injection; returns whether a failure was injected */
bool failed_by_injection(void);

/**
 * fail_tree_nodes() - let this thread get no more nodes for xarrays, or get them again
 *
 * An xarray tries an allocation twice, so that one that fails once is no failure.
 */
void fail_tree_nodes(bool fail);

/** fail_error() - is this the errno of an injected failure */
bool fail_error(int error);

/**
 * fail_undo() - make a call that removes something, which may only fail with EFAULT; then again
 * @request: of the ioctl
 * @fd: the file
 * @argument: of the ioctl
 *
 * Return: as ioctl(2), of the first call.
 */
int fail_undo(int fd, unsigned long request, void *argument);

/**
 * fail_each() - repeat a call until no failure is injected into it
 * @call: the call, which may succeed despite a failure
 * @fds: files of the domains in which it must leave nothing behind
 * @count: their number
 * @witness: checks after each call that others work
 */
void fail_each(const struct fail_call *call, const int *fds, unsigned int count,
	       void (*witness)(void));

#endif /* FAIL_COMMON_H */
