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

/** elog_processes_new() - make an empty table of threads; NULL: no memory */
struct elog_processes *elog_processes_new(void);

/** elog_processes_free() - free the table; may be NULL */
void elog_processes_free(struct elog_processes *processes);

/**
 * elog_processes_name() - get the name ("comm") of a thread
 * @processes: the table
 * @pid: its process
 * @tid: the thread
 *
 * Reads /proc when the thread is first looked up, and again if that was more than a
 * second ago.
 *
 * Return: the name, valid until the next call. If the thread has exited: its last known
 * name, or ":tid".
 */
const char *elog_processes_name(struct elog_processes *processes, uint32_t pid,
				uint32_t tid);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_PROCESSES_H */
