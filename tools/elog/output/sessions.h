/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions summed up: what elog show --session-summary prints.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "input/source.h"
#include "output/output.h"

struct sessions;

/** sessions_open() - none yet; 0, or a negative errno, the reason being told */
int sessions_open(struct sessions **sessions, const struct options *options);

/** sessions_close() - free them; NULL is fine */
void sessions_close(struct sessions *sessions);

/** sessions_add() - count an event for its session; 0 or -ENOMEM */
int sessions_add(struct sessions *sessions, const struct entry *entry);

/** sessions_print() - print them in the order of their first events; 0 or -ENOMEM */
int sessions_print(struct sessions *sessions, struct output *output);

#endif /* SESSIONS_H */
