/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The table of thread names: functions that elog.h does not have. A table belongs to
 * one thread.
 */
#ifndef LIBELOG_PROCESS_H
#define LIBELOG_PROCESS_H

#include "elog.h"

#define ELOG_COMM_SIZE	16

/**
 * elog_process_read_name() - read the name of a thread from /proc
 * @pid: its process
 * @tid: the thread
 * @name: ELOG_COMM_SIZE bytes, set to it
 * @guessed: set to whether this is the process's name, because the thread has exited
 *
 * Return: false if the process has exited, too.
 */
bool elog_process_read_name(uint32_t pid, uint32_t tid, char *name, bool *guessed);

/**
 * elog_processes_learn() - set the name of a thread that may have exited
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 * @name: its name
 */
void elog_processes_learn(struct elog_processes *processes, uint32_t pid,
			  uint32_t tid, const char *name);

/**
 * elog_processes_update() - set a name that was just read from /proc
 * @processes: the table
 * @pid: as for elog_process_read_name()
 * @tid: the thread
 * @name: its name
 * @guessed: as from elog_process_read_name(); does not replace a known name
 */
void elog_processes_update(struct elog_processes *processes, uint32_t pid,
			 uint32_t tid, const char *name, bool guessed);

/**
 * elog_processes_keep() - set a name that the kernel has kept of a thread with events
 * @processes: the table
 * @name: from EVENTLOG_LIST_NAMES
 *
 * Replaces names from /proc and older names.
 */
void elog_processes_keep(struct elog_processes *processes, const struct eventlog_name *name);

/**
 * elog_processes_due() - is it time to read the name of a thread?
 * @processes: a table used only for this
 * @pid: its process
 * @tid: the thread
 * @now: CLOCK_MONOTONIC_COARSE, ns
 *
 * As long as the table has room, each thread is due once a second, unless its name is
 * from the kernel.
 *
 * Return: true if the thread was not due in the last second.
 */
bool elog_processes_due(struct elog_processes *processes, uint32_t pid,
			uint32_t tid, uint64_t now);

/**
 * elog_processes_new_offline() - make a table that does not read /proc
 */
struct elog_processes *elog_processes_new_offline(void);

#endif /* LIBELOG_PROCESS_H */
