/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads, processes, users. processes.c makes them: see processes.h. There are no namespaces.
 */
#ifndef KLINUX_TASK_H
#define KLINUX_TASK_H

#include "kernel/klinux/types.h"

#define TASK_COMM_LEN 16
#define PF_KTHREAD 1
#define PF_IO_WORKER 2

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
};

struct pid_namespace {
	int unused;
};

struct mm_struct {
	unsigned int users;
};

/**
 * struct pid - the number of a thread or a process
 * @users: references
 * @number: the number
 * @task: the thread, or one of the process; NULL: it has ended
 */
struct pid {
	unsigned int users;
	int number;
	struct task_struct *task;
};

struct task_struct {
	int pid;
	int tgid;
	char comm[TASK_COMM_LEN];
	struct mm_struct *mm;
	unsigned int flags;
	struct pid *pids[2];
};

extern struct pid_namespace init_pid_ns;

/* The thread that makes the call; between two calls, the engine's own. */
extern struct task_struct *current;

static inline struct pid *get_pid(struct pid *pid)
{
	if (pid)
		pid->users++;
	return pid;
}

static inline void put_pid(struct pid *pid)
{
	if (pid && !--pid->users)
		free(pid);
}

static inline void mmgrab(struct mm_struct *mm)
{
	mm->users++;
}

static inline void mmdrop(struct mm_struct *mm)
{
	if (!--mm->users)
		free(mm);
}

#define get_task_pid(task, type) get_pid((task)->pids[type])
#define task_pid(task) ((task)->pids[PIDTYPE_PID])
#define task_tgid(task) ((task)->pids[PIDTYPE_TGID])
#define pid_task(pid, type) ((pid) ? (pid)->task : NULL)
#define pid_nr(pid) ((pid)->number)
#define pid_nr_ns(pid, namespace) ((void)(namespace), (pid) ? (pid)->number : 0)
#define task_pid_nr_ns(task, namespace) ((void)(namespace), (task)->pid)
#define task_tgid_nr_ns(task, namespace) ((void)(namespace), (task)->tgid)
#define task_active_pid_ns(task) (&init_pid_ns)
#define get_pid_ns(namespace) (namespace)
#define put_pid_ns(namespace) ((void)(namespace))
#define get_task_comm(to, task) memcpy(to, (task)->comm, TASK_COMM_LEN)
#define fatal_signal_pending(task) ((void)(task), false)

/** find_pid_ns() - find a number of a thread or a process that has made a call */
struct pid *find_pid_ns(int number, struct pid_namespace *namespace);

/* ---- users ---- */

typedef struct {
	u32 val;
} kuid_t;

struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
};

extern struct user_namespace init_user_ns;

struct cred {
	kuid_t euid;
	struct user_namespace *user_ns;
	u64 cap_effective;
};

#define INVALID_UID ((kuid_t){ ~0U })
#define GLOBAL_ROOT_UID ((kuid_t){ 0 })
#define uid_eq(a, b) ((a).val == (b).val)
#define uid_lt(a, b) ((a).val < (b).val)
#define uid_valid(uid) ((uid).val != ~0U)
#define __kuid_val(uid) ((uid).val)
#define get_user_ns(namespace) (namespace)
#define put_user_ns(namespace) ((void)(namespace))

#define CAP_SYS_MODULE 16
#define CAP_SYS_ADMIN 21
#define CAP_SYS_RESOURCE 24
#define CAP_PERFMON 38
#define cap_raised(set, capability) ((set) >> (capability) & 1)
/* Only files of INSTANCE_CREATE ask for it, of which there are none. */
#define capable(capability) ((void)(capability), false)

#endif /* KLINUX_TASK_H */
