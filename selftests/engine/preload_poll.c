// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll(2) on files of the device: see preload.h. The engine says what it finds; if that is
 * nothing, an event of its own tells when there is something.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "preload.h"

#define POLLS_MAX 64

static unsigned int poll_engine(int fd, short events)
{
	struct message message;
	struct reply reply;

	message_begin(&message, CALL_POLL);
	message.call.arguments[0] = (unsigned short)events;
	return message_send(&message, fd, &reply, NULL) ? POLLHUP : (unsigned int)reply.value;
}

/*
 * Asks the engine about its files, and sets what to wait for: for each of them its event, and,
 * behind all, its connection, whose end is to be seen.
 *
 * Return: how many files have something.
 */
static int ask_engine(struct pollfd *files, nfds_t count, struct pollfd *waits, nfds_t *wait_count)
{
	int found = 0;
	nfds_t i;

	*wait_count = count;
	for (i = 0; i < count; i++) {
		waits[i] = files[i];
		files[i].revents = 0;
		if (!is_engine(files[i].fd))
			continue;
		files[i].revents = (short)poll_engine(files[i].fd, files[i].events);
		found += files[i].revents != 0;
		waits[i] = (struct pollfd){ .fd = event_of(files[i].fd), .events = POLLIN };
		waits[(*wait_count)++] = (struct pollfd){ .fd = files[i].fd };
	}
	return found;
}

static int poll_all(struct pollfd *files, nfds_t count, const struct timespec *timeout,
		    const sigset_t *mask)
{
	static const struct timespec at_once;
	struct pollfd waits[2 * POLLS_MAX];
	nfds_t i, wait_count;
	int found, ret;

	/* When the engine has reported something, ask what it is. The time starts again. */
	for (;;) {
		found = ask_engine(files, count, waits, &wait_count);
		ret = REAL(ppoll)(waits, wait_count, found ? &at_once : timeout, mask);
		if (ret < 0)
			return ret;
		for (i = 0; i < count; i++) {
			if (is_engine(files[i].fd))
				continue;
			files[i].revents = waits[i].revents;
			found += waits[i].revents != 0;
		}
		if (found || !ret)
			return found;
	}
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	bool has_engine = false;
	nfds_t i;

	for (i = 0; i < count && count <= POLLS_MAX; i++)
		has_engine |= is_engine(files[i].fd);
	return has_engine ? poll_all(files, count, timeout, mask) :
			    REAL(ppoll)(files, count, timeout, mask);
}

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
	const struct timespec timeout = {
		.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L,
	};

	return ppoll(files, count, milliseconds < 0 ? NULL : &timeout, NULL);
}

/* What the C library calls with _FORTIFY_SOURCE. */
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
int __poll_chk(struct pollfd *files, nfds_t count, int milliseconds, size_t room);

int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room)
{
	(void)room;
	return ppoll(files, count, timeout, mask);
}

int __poll_chk(struct pollfd *files, nfds_t count, int milliseconds, size_t room)
{
	(void)room;
	return poll(files, count, milliseconds);
}
