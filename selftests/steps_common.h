/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps that a test build of the module counts during one hold of a lock: see
 * module/core/steps.h.
 */
#ifndef STEPS_COMMON_H
#define STEPS_COMMON_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "eventlog_common.h"
#include "system_common.h"

#define STEPS "/sys/module/eventlog/parameters/steps"

/* In the order of enum eventlog_steps_kind. */
enum {
	STEPS_DOMAIN,
	STEPS_EVENT_MUTEX,
	STEPS_TRACES,
	STEPS_USER_EVENTS,
	STEPS_MMAP,
	STEPS_SHARD,
	STEPS_VISIBLE,
};

/** steps_need() - skip the case if the loaded module counts no steps */
static inline void steps_need(void)
{
	if (access(STEPS, F_OK))
		SKIP("the module counts no steps: it needs EVENTLOG_TEST_MODULE=1");
}

/** steps_reset() - begin to count; skips the case as steps_need() */
static inline void steps_reset(void)
{
	steps_need();
	CHECK(file_write(STEPS, "0,0,0,0,0,0,0") > 0);
}

/** steps_most() - the longest hold of a lock of a kind since then */
static inline unsigned long steps_most(unsigned int kind)
{
	char text[256], *next = text;
	unsigned long most;
	ssize_t bytes;
	int fd = CHECK_OK(open(STEPS, O_RDONLY | O_CLOEXEC));

	bytes = CHECK_OK(read(fd, text, sizeof(text) - 1));
	close(fd);
	text[bytes] = '\0';
	for (most = strtoul(next, &next, 10); kind--; most = strtoul(next, &next, 10))
		CHECK(*next++ == ',');
	return most;
}

#endif /* STEPS_COMMON_H */
