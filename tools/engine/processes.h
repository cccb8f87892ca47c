/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes and threads that make calls, in place of the kernel's.
 *
 * A process is known by the credentials of its messages, and its end by a pidfd. A thread is known
 * by what its messages say, which can be a lie about the caller itself only.
 */
#ifndef ENGINE_PROCESSES_H
#define ENGINE_PROCESSES_H

#include <sys/types.h>

struct mm_struct;
struct process;
struct task_struct;

/**
 * processes_init() - once, first: makes the engine's own task
 * @watch: have processes_ended() called when a file is readable; false: not possible
 */
void processes_init(bool (*watch)(int fd, struct process *process));

/** processes_exit() - forget all processes; no file is open */
void processes_exit(void);

/**
 * processes_enter() - make a thread the current task
 * @tgid: its process, as the kernel says
 * @tid: as the caller says
 * @comm: likewise, TASK_COMM_LEN
 *
 * Return: false: there is no memory.
 */
bool processes_enter(pid_t tgid, pid_t tid, const char *comm);

/** processes_leave() - make the engine's own task the current one */
void processes_leave(void);

/**
 * processes_ended() - a process has ended: end what its threads have said of themselves
 * @process: the process
 * @unmap: called first: its mappings are gone
 */
void processes_ended(struct process *process, void (*unmap)(const struct mm_struct *mm));

/**
 * processes_capabilities() - what a process may do
 * @pid: the process
 * @uid: its user
 *
 * A process of the engine's own user has all capabilities that the engine itself lacks: it could as
 * well start an engine.
 *
 * Return: its capabilities in the engine's user namespace.
 */
uint64_t processes_capabilities(pid_t pid, uid_t uid);

#endif /* ENGINE_PROCESSES_H */
