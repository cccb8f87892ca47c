/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals, for the verbs that run until they are told to stop. Signals only
 * count; they are let in while the process sleeps, writes or waits, and nowhere
 * else, so that what they say is never missed between a look and a sleep.
 *
 * A process has one set of signals: what is here is for its only thread that takes
 * any.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define SIGNALS_SNAPSHOT	(1U << 0)	/* SIGUSR1 counts as well */
#define SIGNALS_ROTATE		(1U << 1)	/* SIGHUP does not stop but counts */

/**
 * signals_catch() - from now on count signals
 * @flags: SIGNALS_*
 *
 * SIGINT, SIGTERM and SIGHUP tell to stop. A SIGHUP that was ignored stays so:
 * nohup means it. SIGPIPE is ignored.
 */
void signals_catch(unsigned int flags);

/** signals_restore() - in a child, before it executes something else */
void signals_restore(void);

/** signals_let_in() - signals come from here to signals_hold() */
void signals_let_in(void);

/** signals_hold() - signals come no more */
void signals_hold(void);

/** signals_mask() - the mask to sleep with, for ppoll(2); NULL: none are caught */
const sigset_t *signals_mask(void);

/** signals_sleep() - for so many milliseconds, -1: for ever, or until a signal */
void signals_sleep(int milliseconds);

/** signals_stops() - how often we were told to stop */
int signals_stops(void);

/**
 * signals_stop() - the signal that last told to stop
 * @from_terminal: set to whether it was a key: whatever runs there got it, too
 */
int signals_stop(bool *from_terminal);

/** signals_snapshots() - how often SIGUSR1 came */
int signals_snapshots(void);

/** signals_rotations() - how often SIGHUP came, with SIGNALS_ROTATE */
int signals_rotations(void);

#endif /* SIGNALS_H */
