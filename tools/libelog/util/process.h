/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The table of threads' names, beyond what elog.h has of it. A table belongs to one
 * thread.
 */
#ifndef LIBELOG_PROCESS_H
#define LIBELOG_PROCESS_H

#include "elog.h"

#define ELOG_COMM_SIZE	16

/**
 * elog_process_read_name() - ask /proc for the name of a thread
 * @pid: its process
 * @tid: the thread
 * @name: ELOG_COMM_SIZE bytes, set to it
 * @guessed: set to whether it is the process's, for the thread is gone
 *
 * Return: false: both are gone.
 */
bool elog_process_read_name(uint32_t pid, uint32_t tid, char *name, bool *guessed);

/**
 * elog_processes_update() - what /proc has said just now
 * @processes: the table
 * @pid: as for elog_process_read_name(), as are the others
 * @tid: the thread
 * @name: its name
 * @guessed: of no use if there was a name before
 */
void elog_processes_update(struct elog_processes *processes, uint32_t pid,
			 uint32_t tid, const char *name, bool guessed);

/**
 * elog_processes_due() - is it time to ask for the name of a thread?
 * @processes: a table that is used for nothing else: it learns no names
 * @pid: its process
 * @tid: the thread
 * @now: CLOCK_MONOTONIC_COARSE, ns
 *
 * However many threads take turns, and whatever their ids are: as long as the table
 * has room for them each is due once in a second.
 *
 * Return: true if it was not due before in the last second.
 */
bool elog_processes_due(struct elog_processes *processes, uint32_t pid,
			uint32_t tid, uint64_t now);

/** elog_processes_new_offline() - a table that knows what it was told, and not /proc */
struct elog_processes *elog_processes_new_offline(void);

#endif /* LIBELOG_PROCESS_H */
