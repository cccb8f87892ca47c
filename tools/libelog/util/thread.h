/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Starting threads. No state.
 */
#ifndef LIBELOG_THREAD_H
#define LIBELOG_THREAD_H

#include <pthread.h>
#include <signal.h>

/**
 * elog_thread_start() - start a thread that handles no signals
 * @thread: set
 * @run: what it does
 * @context: passed to @run
 *
 * The program's own threads handle signals.
 *
 * Return: 0 or a negative errno, for example -EAGAIN: too many threads.
 */
static inline int elog_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

#endif /* LIBELOG_THREAD_H */
