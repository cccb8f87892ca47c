/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A summary of sessions, for elog show --session-summary.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "input/source.h"
#include "output/output.h"
#include "output/print_settings.h"

struct sessions;

/** sessions_open() - no sessions yet; 0, or -ENOMEM after an error message */
int sessions_open(struct sessions **sessions, const struct print_settings *settings);

/** sessions_close() - free them; NULL is allowed */
void sessions_close(struct sessions *sessions);

/** sessions_add() - count an event for its session; 0 or -ENOMEM */
int sessions_add(struct sessions *sessions, const struct entry *entry);

/** sessions_print() - print them in the order of their first events; 0 or -ENOMEM */
int sessions_print(struct sessions *sessions, struct output *output);

#endif /* SESSIONS_H */
