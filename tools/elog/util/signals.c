// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals: see signals.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "libelog/util/port.h"
#include "util/signals.h"
#include "util/tool.h"

static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t stops;
static volatile sig_atomic_t last_stop;
static volatile sig_atomic_t stop_from_terminal;
static volatile sig_atomic_t snapshots;
static volatile sig_atomic_t rotations;

static struct {
	bool catching;
	unsigned int flags;
	sigset_t blocked;	/* by default */
	sigset_t open;		/* the mask while sleeping, writing, waiting */
	struct sigaction stopping[ARRAY_SIZE(stopping)]; /* before signals_catch() */
	struct sigaction snapshot;
	struct sigaction alarm;
} signals;

/*
 * A signal may arrive between the last look at a count and a system call that waits. So from the
 * first signal to stop on, a timer interrupts such calls again and again.
 */
#define AGAIN_US	100000

static void on_stop(int signal, siginfo_t *info, void *context)
{
	static const struct itimerval again = { { 0, AGAIN_US }, { 0, AGAIN_US } };

	(void)context;
	last_stop = signal;
	stop_from_terminal = info->si_code == SI_KERNEL;
	stops++;
	setitimer(ITIMER_REAL, &again, NULL);
}

static void on_snapshot(int signal)
{
	(void)signal;
	snapshots++;
}

static void on_rotate(int signal)
{
	(void)signal;
	rotations++;
}

/* Of a child, or of the timer: only interrupts. */
static void on_other(int signal)
{
	(void)signal;
}

void signals_catch(unsigned int flags)
{
	struct sigaction stop = { .sa_sigaction = on_stop,
				  .sa_flags = SA_SIGINFO };
	struct sigaction snapshot = { .sa_handler = on_snapshot };
	struct sigaction rotate = { .sa_handler = on_rotate };
	struct sigaction other = { .sa_handler = on_other };
	struct sigaction *old;
	size_t i;

	/* A second call would take the blocked signals for those of before. */
	if (signals.catching)
		return;
	signals.flags = flags;
	sigemptyset(&signals.blocked);
	sigaddset(&signals.blocked, SIGCHLD);
	sigaction(SIGCHLD, &other, NULL);
	sigaddset(&signals.blocked, SIGALRM);
	sigaction(SIGALRM, &other, &signals.alarm);
	for (i = 0; i < ARRAY_SIZE(stopping); i++) {
		old = &signals.stopping[i];
		sigaction(stopping[i], NULL, old);
		sigaddset(&signals.blocked, stopping[i]);
		if (stopping[i] == SIGHUP && flags & SIGNALS_ROTATE)
			sigaction(SIGHUP, &rotate, NULL);
		/* Respect nohup. SIGINT is also ignored after a shell's "&": override that. */
		else if (stopping[i] != SIGHUP || old->sa_handler != SIG_IGN)
			sigaction(stopping[i], &stop, NULL);
	}
	if (flags & SIGNALS_SNAPSHOT) {
		sigaddset(&signals.blocked, SIGUSR1);
		sigaction(SIGUSR1, &snapshot, &signals.snapshot);
	}
	pthread_sigmask(SIG_BLOCK, &signals.blocked, &signals.open);
	signals.catching = true;
	signal(SIGPIPE, SIG_IGN);
	/* A file that reaches the limit of setrlimit(2) is an error of writing. */
	signal(SIGXFSZ, SIG_IGN);
}

void signals_restore(void)
{
	size_t i;

	signal(SIGPIPE, SIG_DFL);
	if (!signals.catching)
		return;
	signal(SIGXFSZ, SIG_DFL);
	for (i = 0; i < ARRAY_SIZE(stopping); i++)
		sigaction(stopping[i], &signals.stopping[i], NULL);
	if (signals.flags & SIGNALS_SNAPSHOT)
		sigaction(SIGUSR1, &signals.snapshot, NULL);
	sigaction(SIGALRM, &signals.alarm, NULL);
	pthread_sigmask(SIG_SETMASK, &signals.open, NULL);
}

void signals_let_in(void)
{
	if (signals.catching)
		pthread_sigmask(SIG_SETMASK, &signals.open, NULL);
}

void signals_hold(void)
{
	if (signals.catching)
		pthread_sigmask(SIG_BLOCK, &signals.blocked, NULL);
}

const sigset_t *signals_mask(void)
{
	return signals.catching ? &signals.open : NULL;
}

int signals_poll(struct pollfd *files, nfds_t count, int milliseconds)
{
	return elog_port_poll(files, count, milliseconds, signals_mask());
}

int signals_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do {
		signals_let_in();
		fd = open(path, flags, mode);
		if (fd < 0)
			fd = -errno;
		signals_hold();
	} while (fd == -EINTR && !stops);
	return fd;
}

ssize_t signals_write(int fd, const void *data, size_t size)
{
	struct pollfd file = { .fd = fd, .events = POLLOUT };
	ssize_t ret;

	if (stops > 1 && signals_poll(&file, 1, 0) <= 0)
		return -EINTR;
	signals_let_in();
	ret = write(fd, data, size);
	if (ret < 0)
		ret = -errno;
	signals_hold();
	return ret;
}

void signals_sleep(int milliseconds)
{
	signals_poll(NULL, 0, milliseconds);
}

int signals_stops(void)
{
	return stops;
}

int signals_stop(bool *from_terminal)
{
	*from_terminal = stop_from_terminal;
	return last_stop;
}

int signals_snapshots(void)
{
	return snapshots;
}

int signals_rotations(void)
{
	return rotations;
}
