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

/*
 * What a system call waits for, if it has to wait: EVENTLOG_SCHED_CAUSE_*, where FILE is the file
 * of its first argument, and DISK a disk, whatever the file is; 0: other.  Not all architectures
 * have all of these.
 */
static const u8 sched_calls[] = {
	[__NR_sched_yield] = EVENTLOG_SCHED_CAUSE_YIELD,
#ifdef __NR_futex
	[__NR_futex] = EVENTLOG_SCHED_CAUSE_FUTEX,
#endif
#ifdef __NR_futex_time64
	[__NR_futex_time64] = EVENTLOG_SCHED_CAUSE_FUTEX,
#endif
#ifdef __NR_futex_wait
	[__NR_futex_wait] = EVENTLOG_SCHED_CAUSE_FUTEX,
#endif
#ifdef __NR_futex_waitv
	[__NR_futex_waitv] = EVENTLOG_SCHED_CAUSE_FUTEX,
#endif
#ifdef __NR_pause
	[__NR_pause] = EVENTLOG_SCHED_CAUSE_SLEEP,
#endif
#ifdef __NR_clock_nanosleep_time64
	[__NR_clock_nanosleep_time64] = EVENTLOG_SCHED_CAUSE_SLEEP,
	[__NR_rt_sigtimedwait_time64] = EVENTLOG_SCHED_CAUSE_SLEEP,
#endif
#ifdef __NR_nanosleep
	[__NR_nanosleep] = EVENTLOG_SCHED_CAUSE_SLEEP,
#endif
#ifdef __NR_clock_nanosleep
	[__NR_clock_nanosleep] = EVENTLOG_SCHED_CAUSE_SLEEP,
#endif
	[__NR_rt_sigsuspend] = EVENTLOG_SCHED_CAUSE_SLEEP,
#ifdef __NR_rt_sigtimedwait
	[__NR_rt_sigtimedwait] = EVENTLOG_SCHED_CAUSE_SLEEP,
#endif
#ifdef __NR_poll
	[__NR_poll] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR_select
	[__NR_select] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR__newselect
	[__NR__newselect] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR_epoll_wait
	[__NR_epoll_wait] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR_ppoll_time64
	[__NR_ppoll_time64] = EVENTLOG_SCHED_CAUSE_POLL,
	[__NR_pselect6_time64] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR_ppoll
	[__NR_ppoll] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
#ifdef __NR_pselect6
	[__NR_pselect6] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
	[__NR_epoll_pwait] = EVENTLOG_SCHED_CAUSE_POLL,
#ifdef __NR_epoll_pwait2
	[__NR_epoll_pwait2] = EVENTLOG_SCHED_CAUSE_POLL,
#endif
	[__NR_fsync] = EVENTLOG_SCHED_CAUSE_DISK,
	[__NR_fdatasync] = EVENTLOG_SCHED_CAUSE_DISK,
	[__NR_syncfs] = EVENTLOG_SCHED_CAUSE_DISK,
	[__NR_sync] = EVENTLOG_SCHED_CAUSE_DISK,
#ifdef __NR_sync_file_range
	[__NR_sync_file_range] = EVENTLOG_SCHED_CAUSE_DISK,
#endif
#ifdef __NR_msync
	[__NR_msync] = EVENTLOG_SCHED_CAUSE_DISK,
#endif
	[__NR_read] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_write] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_readv] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_writev] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_pread64] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_pwrite64] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_preadv] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_pwritev] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_preadv2] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_pwritev2] = EVENTLOG_SCHED_CAUSE_FILE,
#ifdef __NR_recvfrom
	[__NR_recvfrom] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_sendto] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_recvmsg] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_sendmsg] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_connect] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_accept4] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_accept
	[__NR_accept] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_recvmmsg
	[__NR_recvmmsg] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_sendmmsg
	[__NR_sendmmsg] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_sendfile
	[__NR_sendfile] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_sendfile64
	[__NR_sendfile64] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
	[__NR_splice] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_tee] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_vmsplice] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_fallocate] = EVENTLOG_SCHED_CAUSE_FILE,
#ifdef __NR_ftruncate
	[__NR_ftruncate] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
#ifdef __NR_getdents64
	[__NR_getdents64] = EVENTLOG_SCHED_CAUSE_FILE,
#endif
	[__NR_close] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_flock] = EVENTLOG_SCHED_CAUSE_FILE,
	[__NR_ioctl] = EVENTLOG_SCHED_CAUSE_FILE,
};

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

static unsigned long sched_first_argument(struct task_struct *task)
{
	unsigned long args[6];

	syscall_get_arguments(task, task_pt_regs(task), args);
	return args[0];
}

/* By the type of a file of the task, whose table the task keeps.  Sets @number to its inode's. */
static noinline u8 sched_cause_of_file(struct task_struct *task, unsigned int fd, u64 *number)
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

		*number = inode->i_ino;
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

/* The number of the system call that the task is in; below 0: none, or it is not known. */
static __always_inline int sched_call_number(struct task_struct *task)
{
	int call = syscall_get_nr(task, task_pt_regs(task));

#ifdef __X32_SYSCALL_BIT
	if (call >= 0)
		call &= ~__X32_SYSCALL_BIT;
#endif
	return call;
}

static __always_inline u8 sched_call_cause(int call)
{
	return (unsigned int)call < ARRAY_SIZE(sched_calls) ? sched_calls[call] : 0;
}

static noinline u8 sched_cause_of_first(struct task_struct *task)
{
	u64 number;

	return sched_cause_of_file(task, sched_first_argument(task), &number);
}

DEFINE_PER_CPU(u32, sched_idles);

/*
 * A CPU does not become idle while a thread may run on it.  So if it did, the thread's cgroup was
 * throttled, even if other threads ran first.  After a move to another CPU this is not known.
 */
static bool sched_was_throttled(const struct task_struct *task,
				const struct eventlog_interval *interval)
{
	return interval->throttled || (interval->migrations == (u32)task->se.nr_migrations &&
				       interval->idles != this_cpu_read(sched_idles));
}

u8 sched_cause(struct task_struct *task, const struct eventlog_interval *interval)
{
	const bool known = sched_call_is_native(task);
	const int call = sched_call_number(task);
	const u8 cause = known ? sched_call_cause(call) : 0;

	if (!interval->state) {
		if (sched_was_throttled(task, interval))
			return EVENTLOG_SCHED_CAUSE_THROTTLED;
		return cause == EVENTLOG_SCHED_CAUSE_YIELD ? cause : EVENTLOG_SCHED_CAUSE_PREEMPTED;
	}
	if (unlikely(interval->state & (__TASK_STOPPED | __TASK_TRACED)))
		return EVENTLOG_SCHED_CAUSE_STOPPED;
	if (known && call < 0)
		return EVENTLOG_SCHED_CAUSE_FAULT;
	/* The kernel has counted some waits as those for a device. */
	if (!cause || cause == EVENTLOG_SCHED_CAUSE_YIELD)
		return interval->iowait ? EVENTLOG_SCHED_CAUSE_DISK : EVENTLOG_SCHED_CAUSE_OTHER;
	if (cause == EVENTLOG_SCHED_CAUSE_FILE)
		return interval->iowait ? EVENTLOG_SCHED_CAUSE_DISK : sched_cause_of_first(task);
	return cause;
}

u64 sched_argument(struct task_struct *task, const struct eventlog_interval *interval, u8 cause,
		   s16 *call)
{
	const bool known = sched_call_is_native(task);
	const int number = known ? sched_call_number(task) : -1;
	u64 inode = 0;

	*call = clamp_t(int, number, -1, S16_MAX);
	if (!interval->state || cause == EVENTLOG_SCHED_CAUSE_STOPPED)
		return 0;
	if (cause == EVENTLOG_SCHED_CAUSE_FAULT)
		return instruction_pointer(task_pt_regs(task));
	if (cause == EVENTLOG_SCHED_CAUSE_FUTEX)
		return sched_first_argument(task);
	if (known && sched_call_cause(number) == EVENTLOG_SCHED_CAUSE_FILE)
		sched_cause_of_file(task, sched_first_argument(task), &inode);
	return inode;
}
