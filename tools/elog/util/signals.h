/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals, for the verbs that run until they are stopped.
 *
 * Handlers only count. Signals are blocked except while the process sleeps, writes or
 * waits, so that none is missed between checking a count and sleeping. From the first one to stop
 * on, what waits while signals_let_in() holds is interrupted every 100 ms.
 *
 * Only one thread of the process may receive signals and call these functions.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define SIGNALS_SNAPSHOT	(1U << 0)	/* SIGUSR1 is counted */
#define SIGNALS_ROTATE		(1U << 1)	/* SIGHUP is counted and does not stop */

/**
 * signals_catch() - start to count signals
 * @flags: SIGNALS_*
 *
 * SIGINT, SIGTERM and SIGHUP request a stop. SIGHUP stays ignored if it was, as by
 * nohup. SIGPIPE is ignored. A second call does nothing.
 */
void signals_catch(unsigned int flags);

/** signals_restore() - restore all dispositions, in a child before exec */
void signals_restore(void);

/** signals_let_in() - unblock signals until signals_hold() */
void signals_let_in(void);

/** signals_hold() - block signals */
void signals_hold(void);

/** signals_mask() - the mask for ppoll(2); NULL before signals_catch() */
const sigset_t *signals_mask(void);

/**
 * signals_poll() - wait for files, or a signal
 * @files: as for poll(2)
 * @count: of @files
 * @milliseconds: at most so long; -1: no limit
 *
 * Return: as poll(2).
 */
int signals_poll(struct pollfd *files, nfds_t count, int milliseconds);

/**
 * signals_open() - open a file for writing, which may be a pipe without a reader
 * @path: the file
 * @flags: as for open(2)
 * @mode: of a new file
 *
 * Signals may arrive meanwhile, and end the wait for a reader.
 *
 * Return: a file descriptor, or a negative errno; -EINTR: a signal to stop has arrived.
 */
int signals_open(const char *path, int flags, mode_t mode);

/**
 * signals_write() - write to a file whose reader may not read
 * @fd: the file
 * @data: the data
 * @size: bytes of @data
 *
 * Signals may arrive meanwhile. From the second one to stop on it hardly waits.
 *
 * Return: bytes that were written; or a negative errno, -EINTR: a signal has arrived, or the
 * second one to stop has.
 */
ssize_t signals_write(int fd, const void *data, size_t size);

/** signals_sleep() - sleep until a signal, at most so long; -1: no limit */
void signals_sleep(int milliseconds);

/** signals_stops() - how many signals requested a stop */
int signals_stops(void);

/**
 * signals_stop() - the last signal that requested a stop
 * @from_terminal: set to true if a key sent it: then children received it, too
 */
int signals_stop(bool *from_terminal);

/** signals_snapshots() - how many SIGUSR1 arrived */
int signals_snapshots(void);

/** signals_rotations() - how many SIGHUP arrived, with SIGNALS_ROTATE */
int signals_rotations(void);

#endif /* SIGNALS_H */
