/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The names that the kernel keeps of the threads that have records in a ring. No state.
 */
#ifndef LIBELOG_NAMES_H
#define LIBELOG_NAMES_H

#include "elog.h"

/**
 * elog_names_read() - get the names that are new in a ring
 * @fd: the subscriber
 * @ring: its index
 * @since: time of the newest name that was read before; updated
 * @names: room for EVENTLOG_NAMES_MAX
 *
 * A name is in the kernel's table before its first record can be read.
 *
 * Return: number of names; 0 also if they cannot be read.
 */
unsigned int elog_names_read(int fd, unsigned int ring, uint64_t *since,
			     struct eventlog_name *names);

/**
 * elog_names_learn() - add the names that are new in a ring to a table
 * @fd: the subscriber
 * @ring: its index; the unread records are known
 * @since: as for elog_names_read()
 * @processes: the table; NULL: do nothing
 */
void elog_names_learn(int fd, unsigned int ring, uint64_t *since,
		      struct elog_processes *processes);

#endif /* LIBELOG_NAMES_H */
