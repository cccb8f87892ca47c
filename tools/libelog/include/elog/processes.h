/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: names of threads.
 */
#ifndef ELOG_PROCESSES_H
#define ELOG_PROCESSES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct elog_processes;

/** elog_processes_new() - an empty table of threads; NULL: no memory */
struct elog_processes *elog_processes_new(void);

/** elog_processes_free() - free the table; NULL is fine */
void elog_processes_free(struct elog_processes *processes);

/**
 * elog_processes_name() - the name ("comm") of a thread
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 *
 * Read from /proc when the thread is first asked for, and again when that is
 * more than a second ago; of a thread that is gone the last known name, or
 * ":tid".
 *
 * Return: the name, valid until the next call.
 */
const char *elog_processes_name(struct elog_processes *processes, uint32_t pid,
				uint32_t tid);

/**
 * elog_processes_learn() - what to call a thread if /proc can no longer tell
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 * @name: its name
 */
void elog_processes_learn(struct elog_processes *processes, uint32_t pid,
			  uint32_t tid, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_PROCESSES_H */
