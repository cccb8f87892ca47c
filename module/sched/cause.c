// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a thread was blocked: see cause.h.
 */
#include <linux/audit.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stat.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "compat.h"
#include "core/thread.h"
#include "sched/cause.h"
#include "sched_eventlog.h"

/* What the system call waits for, if it has to wait. */
enum sched_wait {
	SCHED_WAIT_OTHER,
	SCHED_WAIT_YIELD,
	SCHED_WAIT_FUTEX,
	SCHED_WAIT_SLEEP,
	SCHED_WAIT_POLL,
	SCHED_WAIT_FILE,	/* of its first argument */
	SCHED_WAIT_DISK,	/* it waits for a disk, whatever the file is */
};

/* Not all architectures have all of these. */
static enum sched_wait sched_wait(int call)
{
	switch (call) {
	case __NR_sched_yield:
		return SCHED_WAIT_YIELD;
#ifdef __NR_futex
	case __NR_futex:
#endif
#ifdef __NR_futex_time64
	case __NR_futex_time64:
#endif
#ifdef __NR_futex_wait
	case __NR_futex_wait:
#endif
#ifdef __NR_futex_waitv
	case __NR_futex_waitv:
#endif
		return SCHED_WAIT_FUTEX;
#ifdef __NR_pause
	case __NR_pause:
#endif
#ifdef __NR_clock_nanosleep_time64
	case __NR_clock_nanosleep_time64:
	case __NR_rt_sigtimedwait_time64:
#endif
#ifdef __NR_nanosleep
	case __NR_nanosleep:
#endif
#ifdef __NR_clock_nanosleep
	case __NR_clock_nanosleep:
#endif
	case __NR_rt_sigsuspend:
#ifdef __NR_rt_sigtimedwait
	case __NR_rt_sigtimedwait:
#endif
		return SCHED_WAIT_SLEEP;
#ifdef __NR_poll
	case __NR_poll:
#endif
#ifdef __NR_select
	case __NR_select:
#endif
#ifdef __NR__newselect
	case __NR__newselect:
#endif
#ifdef __NR_epoll_wait
	case __NR_epoll_wait:
#endif
#ifdef __NR_ppoll_time64
	case __NR_ppoll_time64:
	case __NR_pselect6_time64:
#endif
#ifdef __NR_ppoll
	case __NR_ppoll:
#endif
#ifdef __NR_pselect6
	case __NR_pselect6:
#endif
	case __NR_epoll_pwait:
#ifdef __NR_epoll_pwait2
	case __NR_epoll_pwait2:
#endif
		return SCHED_WAIT_POLL;
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_syncfs:
	case __NR_sync:
#ifdef __NR_sync_file_range
	case __NR_sync_file_range:
#endif
#ifdef __NR_msync
	case __NR_msync:
#endif
		return SCHED_WAIT_DISK;
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
#ifdef __NR_recvfrom
	case __NR_recvfrom:
	case __NR_sendto:
	case __NR_recvmsg:
	case __NR_sendmsg:
	case __NR_connect:
	case __NR_accept4:
#endif
#ifdef __NR_accept
	case __NR_accept:
#endif
#ifdef __NR_recvmmsg
	case __NR_recvmmsg:
#endif
#ifdef __NR_sendmmsg
	case __NR_sendmmsg:
#endif
#ifdef __NR_sendfile
	case __NR_sendfile:
#endif
#ifdef __NR_sendfile64
	case __NR_sendfile64:
#endif
	case __NR_splice:
	case __NR_tee:
	case __NR_vmsplice:
	case __NR_fallocate:
#ifdef __NR_ftruncate
	case __NR_ftruncate:
#endif
#ifdef __NR_getdents64
	case __NR_getdents64:
#endif
	case __NR_close:
	case __NR_flock:
	case __NR_ioctl:
		return SCHED_WAIT_FILE;
	}
	return SCHED_WAIT_OTHER;
}

/* Is the number of the task's system call one of the kernel's own ABI? */
static bool sched_call_is_native(struct task_struct *task)
{
#if defined(CONFIG_X86_64)
	return syscall_get_arch(task) == AUDIT_ARCH_X86_64;
#elif defined(CONFIG_ARM64)
	return syscall_get_arch(task) == AUDIT_ARCH_AARCH64;
#else
	/* The others may keep the number of the last call. */
	return IS_ENABLED(CONFIG_X86);
#endif
}

/* By the type of a file of the task, whose table the task keeps. */
static u8 sched_cause_of_file(struct task_struct *task, unsigned int fd, u64 *arg)
{
	struct files_struct *files = READ_ONCE(task->files);
	u8 cause = EVENTLOG_SCHED_CAUSE_OTHER;
	const struct inode *inode;
	struct file *file;

	if (!files)
		return cause;
	rcu_read_lock();
	file = eventlog_file_of(files, fd);
	inode = file ? READ_ONCE(file->f_inode) : NULL;
	if (inode) {
		const umode_t mode = READ_ONCE(inode->i_mode);

		*arg = inode->i_ino;
		if (S_ISSOCK(mode))
			cause = EVENTLOG_SCHED_CAUSE_SOCKET;
		else if (S_ISFIFO(mode))
			cause = EVENTLOG_SCHED_CAUSE_PIPE;
		else if (S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode))
			cause = EVENTLOG_SCHED_CAUSE_FILE;
	}
	rcu_read_unlock();
	return cause;
}

/* The kernel has counted the wait as one for a device, or the call is one that waits for it. */
static u8 sched_cause_blocked(struct task_struct *task, struct pt_regs *regs, int call,
			      bool iowait, u64 *arg)
{
	const enum sched_wait wait = sched_wait(call);
	unsigned long args[6];
	u8 cause;

	if (wait == SCHED_WAIT_SLEEP)
		return EVENTLOG_SCHED_CAUSE_SLEEP;
	if (wait == SCHED_WAIT_POLL)
		return EVENTLOG_SCHED_CAUSE_POLL;
	if (wait == SCHED_WAIT_FUTEX || wait == SCHED_WAIT_FILE) {
		syscall_get_arguments(task, regs, args);
		if (wait == SCHED_WAIT_FUTEX) {
			*arg = args[0];
			return EVENTLOG_SCHED_CAUSE_FUTEX;
		}
		cause = sched_cause_of_file(task, args[0], arg);
		return iowait ? EVENTLOG_SCHED_CAUSE_DISK : cause;
	}
	return iowait || wait == SCHED_WAIT_DISK ? EVENTLOG_SCHED_CAUSE_DISK :
						   EVENTLOG_SCHED_CAUSE_OTHER;
}

struct sched_reason sched_reason(struct task_struct *task,
				 const struct eventlog_interval *interval)
{
	struct pt_regs *regs = task_pt_regs(task);
	struct sched_reason reason = { .cause = EVENTLOG_SCHED_CAUSE_OTHER, .call = -1 };
	const bool known = sched_call_is_native(task);
	int call = syscall_get_nr(task, regs);

#ifdef __X32_SYSCALL_BIT
	if (call >= 0)
		call &= ~__X32_SYSCALL_BIT;
#endif
	if (known)
		reason.call = clamp_t(int, call, -1, S16_MAX);
	if (!interval->blocked) {
		if (known && sched_wait(call) == SCHED_WAIT_YIELD)
			reason.cause = EVENTLOG_SCHED_CAUSE_YIELD;
		else
			reason.cause = interval->idle_next ? EVENTLOG_SCHED_CAUSE_THROTTLED :
							     EVENTLOG_SCHED_CAUSE_PREEMPTED;
	} else if (interval->stopped) {
		reason.cause = EVENTLOG_SCHED_CAUSE_STOPPED;
	} else if (known && call < 0) {
		reason.arg = instruction_pointer(regs);
		reason.cause = EVENTLOG_SCHED_CAUSE_FAULT;
	} else if (known) {
		reason.cause = sched_cause_blocked(task, regs, call, interval->iowait,
						   &reason.arg);
	} else if (interval->iowait) {
		reason.cause = EVENTLOG_SCHED_CAUSE_DISK;
	}
	return reason;
}
