// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes and threads that make calls: see processes.h.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/klinux.h"
#include "core/thread.h"
#include "processes.h"

/* A process gets as many tasks before it is looked whether some have ended. */
#define TASKS_LOOK 64

/**
 * struct process - a process
 * @fd: pidfd; -1: its end is not known
 * @mm: what its mappings and rings are compared with
 * @pid: its number
 * @tasks: struct task_struct by number
 * @count: number of tasks
 * @look: look for those that have ended when there are so many
 */
struct process {
	int fd;
	struct mm_struct *mm;
	struct pid *pid;
	struct xarray tasks;
	unsigned int count;
	unsigned int look;
};

struct pid_namespace init_pid_ns;
struct user_namespace init_user_ns = { .owner = { 0 } };
struct task_struct *current;

/* struct process by number. */
static struct xarray processes;
static struct task_struct *own_task;
static bool (*watch_file)(int fd, struct process *process);

struct pid *find_pid_ns(int number, struct pid_namespace *namespace)
{
	static struct pid found;

	found.number = number;
	return &found;
}

static struct pid *make_pid(int number)
{
	struct pid *pid = calloc(1, sizeof(*pid));

	if (pid)
		*pid = (struct pid){ .users = 1, .number = number };
	return pid;
}

/* ---- threads ---- */

static void forget_task(struct process *process, struct task_struct *task)
{
	struct task_struct *caller = current;

	current = task;
	eventlog_thread_leave(false);
	current = caller;
	xa_erase(&process->tasks, (unsigned int)task->pid);
	process->count--;
	task->pids[PIDTYPE_PID]->task = NULL;
	put_pid(task->pids[PIDTYPE_PID]);
	if (process->pid->task == task)
		process->pid->task = NULL;
	free(task);
}

/* Of threads that have ended nothing is known but that they do not exist. */
static void look_for_ended(struct process *process)
{
	struct task_struct *task;
	unsigned long tid;

	xa_for_each(&process->tasks, tid, task)
		if (syscall(SYS_tgkill, process->pid->number, task->pid, 0) && errno == ESRCH)
			forget_task(process, task);
	process->look = 2 * process->count + TASKS_LOOK;
}

static struct task_struct *make_task(struct process *process, pid_t tid)
{
	struct task_struct *task = calloc(1, sizeof(*task));
	const int tgid = process->pid->number;
	struct pid *pid;

	if (!task)
		return NULL;
	pid = tid == tgid ? get_pid(process->pid) : make_pid(tid);
	if (!pid || xa_is_err(xa_store(&process->tasks, (unsigned int)tid, task, GFP_KERNEL))) {
		put_pid(pid);
		free(task);
		return NULL;
	}
	task->pid = tid;
	task->tgid = tgid;
	task->mm = process->mm;
	task->pids[PIDTYPE_PID] = pid;
	task->pids[PIDTYPE_TGID] = process->pid;
	pid->task = task;
	if (!process->pid->task)
		process->pid->task = task;
	process->count++;
	return task;
}

static struct task_struct *find_task(struct process *process, pid_t tid, const char *comm)
{
	struct task_struct *task = xa_load(&process->tasks, (unsigned int)tid);

	if (!task && process->count >= process->look)
		look_for_ended(process);
	if (!task)
		task = make_task(process, tid);
	if (task) {
		memcpy(task->comm, comm, TASK_COMM_LEN);
		task->comm[TASK_COMM_LEN - 1] = '\0';
	}
	return task;
}

/* ---- processes ---- */

static void free_process(struct process *process)
{
	struct task_struct *task;
	unsigned long tid;

	xa_for_each(&process->tasks, tid, task)
		forget_task(process, task);
	xa_destroy(&process->tasks);
	if (process->fd >= 0)
		close(process->fd);
	xa_erase(&processes, (unsigned int)process->pid->number);
	put_pid(process->pid);
	mmdrop(process->mm);
	free(process);
}

static struct process *make_process(pid_t tgid)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->fd = -1;
	process->look = TASKS_LOOK;
	process->mm = calloc(1, sizeof(*process->mm));
	process->pid = make_pid(tgid);
	if (!process->mm || !process->pid ||
	    xa_is_err(xa_store(&processes, (unsigned int)tgid, process, GFP_KERNEL))) {
		free(process->mm);
		put_pid(process->pid);
		free(process);
		return NULL;
	}
	process->mm->users = 1;
	return process;
}

static struct process *find_process(pid_t tgid)
{
	struct process *process = xa_load(&processes, (unsigned int)tgid);

	if (process)
		return process;
	process = make_process(tgid);
	if (!process)
		return NULL;
	process->fd = (int)syscall(SYS_pidfd_open, tgid, 0);
	if (process->fd < 0 || !watch_file(process->fd, process)) {
		free_process(process);
		return NULL;
	}
	return process;
}

void processes_init(bool (*watch)(int fd, struct process *process))
{
	struct process *process = make_process(getpid());

	watch_file = watch;
	own_task = process ? find_task(process, getpid(), "elog-engine\0\0\0\0") : NULL;
	if (!own_task)
		abort();
	current = own_task;
}

void processes_exit(void)
{
	struct process *process;
	unsigned long tgid;

	xa_for_each(&processes, tgid, process)
		free_process(process);
	current = NULL;
}

bool processes_enter(pid_t tgid, pid_t tid, const char *comm)
{
	struct process *process = find_process(tgid);
	/* The tid is what the caller says: only numbers of threads can be looked for later. */
	struct task_struct *task = process && tid > 0 ? find_task(process, tid, comm) : NULL;

	if (task)
		current = task;
	return task;
}

void processes_leave(void)
{
	current = own_task;
}

void processes_ended(struct process *process, void (*unmap)(const struct mm_struct *mm))
{
	unmap(process->mm);
	free_process(process);
}

/* ---- capabilities ---- */

static bool has_own_namespace(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return !stat("/proc/self/ns/user", &own) && !stat(path, &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

static uint64_t read_capabilities(pid_t pid)
{
	uint64_t capabilities = 0;
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	if (!status)
		return 0;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %" SCNx64, &capabilities) == 1)
			break;
	fclose(status);
	return has_own_namespace(pid) ? capabilities : 0;
}

uint64_t processes_capabilities(pid_t pid, uid_t uid)
{
	return read_capabilities(pid) | (uid == geteuid() ? ~read_capabilities(getpid()) : 0);
}
