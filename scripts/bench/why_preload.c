// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes nginx say which request it works on, for scripts/bench/why-server, by LD_PRELOAD: from
 * recv(), which reads a request, to the next epoll_wait().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <elog.h>

static struct elog_event *event;
static uint64_t last_session;

/* In the process that serves: a child of the first one. */
static void open_event(void)
{
	struct elog_producer *producer;

	if (elog_producer_open(&producer, NULL) ||
	    elog_event_register(producer, "why_nginx", "request", 0, 0, 0, &event))
		abort();
}

ssize_t recv(int fd, void *buffer, size_t bytes, int flags)
{
	static ssize_t (*next)(int, void *, size_t, int);

	if (!next) {
		next = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
		open_event();
	}
	elog_session_enter(event, ++last_session);
	return next(fd, buffer, bytes, flags);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	static int (*next)(int, struct epoll_event *, int, int);

	if (!next)
		next = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT,
									    "epoll_wait");
	elog_session_enter(event, 0);
	return next(fd, events, count, timeout);
}
