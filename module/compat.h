/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernel versions.  The rest of the module is written for the
 * newest kernel.  Each entry names the version that made a change, and the change.
 *
 * Distributions backport changes: a kernel 5.14 may have functions of 6.10; so does the kernel
 * itself, in its stable releases.  So an entry looks for the change itself, with a macro or a type
 * if that suffices, else with a part of probe.c (EVENTLOG_HAS_...).  The version decides where the
 * older code is right on newer kernels as well, or where no header shows the change.
 */
#ifndef EVENTLOG_COMPAT_H
#define EVENTLOG_COMPAT_H

#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/timer.h>
#include <linux/version.h>

#include "probes.h"

/* 6.9 added __uninitialized.  A compiler without the attribute does not initialise either. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized __attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* 6.12 moved asm/unaligned.h. */
#if EVENTLOG_HAS_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* 7.2 took hex.h, which 6.4 added, out of kernel.h. */
#if EVENTLOG_HAS_HEX
#include <linux/hex.h>
#endif

/* 6.0 moved what the idle loop calls from RCU to context tracking. */
#if !EVENTLOG_HAS_CT_IDLE
#define ct_idle_enter() rcu_idle_enter()
#define ct_idle_exit() rcu_idle_exit()
#endif

/* 6.3 made vm_flags read-only and added accessors. */
#if !EVENTLOG_HAS_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* 6.1 replaced the ids of a cgroup's ancestors by pointers. */
#ifdef CONFIG_CGROUPS
static __always_inline u64 eventlog_cgroup_ancestor_id(const struct cgroup *cgroup, int level)
{
#if EVENTLOG_HAS_CGROUP_ANCESTORS
	return cgroup_id(cgroup->ancestors[level]);
#else
	return cgroup->ancestor_ids[level];
#endif
}
#endif

/* 5.11 renamed vm_operations_struct.split to may_split. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define may_split split
#endif

/* 5.11 added in_hardirq(), the new name of in_irq(). */
#ifndef in_hardirq
#define in_hardirq() in_irq()
#endif

/*
 * Before 5.11, a page charged to a memory cgroup as kernel memory had a page type, and
 * vm_insert_page() rejects pages with a type.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define EVENTLOG_GFP_MAPPED GFP_KERNEL
#else
#define EVENTLOG_GFP_MAPPED GFP_KERNEL_ACCOUNT
#endif

/*
 * Before 5.14, modules could not use set_active_memcg(), because what interrupts use of it was
 * not exported.  This is the part for tasks.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0) && defined(CONFIG_MEMCG)
static inline struct mem_cgroup *eventlog_set_active_memcg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *previous = current->active_memcg;

	current->active_memcg = memcg;
	return previous;
}

#define set_active_memcg eventlog_set_active_memcg
#endif

/* 6.2 added timer_delete_sync(), 6.15 removed del_timer_sync(). */
#if !EVENTLOG_HAS_TIMER_DELETE
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

/* 6.13 added hrtimer_setup() and its variant for the stack, 6.15 removed hrtimer_init(). */
#if !EVENTLOG_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

static inline void hrtimer_setup_on_stack(struct hrtimer *timer,
					  enum hrtimer_restart (*function)(struct hrtimer *),
					  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init_on_stack(timer, clock, mode);
	timer->function = function;
}
#endif

/* 6.16 renamed from_timer(). */
#ifndef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname) \
	from_timer(var, callback_timer, timer_fieldname)
#endif

/* 6.10 added a reason to the tracepoint tcp_send_reset. */
#if EVENTLOG_HAS_TCP_RESET_REASON
#include <net/rstreason.h>
#define EVENTLOG_TCP_RESET_REASON , const enum sk_rst_reason reason
#else
#define EVENTLOG_TCP_RESET_REASON
#endif

/*
 * Before it had a reason, the tracepoint tcp_send_reset did not fire for resets without a full
 * socket.  A kprobe finds these, if its handler can read arguments of functions.
 */
#if !EVENTLOG_HAS_TCP_RESET_REASON && defined(CONFIG_KPROBES) && \
	defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define EVENTLOG_TCP_RESET_KPROBE 1
#else
#define EVENTLOG_TCP_RESET_KPROBE 0
#endif

/* 5.17 made netns_ipv4.tcp_death_row a pointer, 6.1 an object again. */
#define eventlog_tcp_table(net) \
	(__builtin_choose_expr(__builtin_types_compatible_p(typeof((net)->ipv4.tcp_death_row), \
							    struct inet_timewait_death_row), \
			       &(net)->ipv4.tcp_death_row, (net)->ipv4.tcp_death_row)->hashinfo)

/*
 * 6.10 removed the second argument of __assign_str(), which is known from __string().  All
 * versions reserve room for the text, which here is never NULL, and its end.
 */
#define eventlog_assign_str(field, text) memcpy(__get_str(field), text, strlen(text) + 1)

/* 6.13 made the namespace of exported symbols a string. */
#if EVENTLOG_HAS_NAMESPACE_IDENTIFIER
#define EVENTLOG_EXPORT_TO(symbol, namespace) EXPORT_SYMBOL_NS_GPL(symbol, namespace)
#define EVENTLOG_IMPORT_FROM(namespace) MODULE_IMPORT_NS(namespace)
#else
#define EVENTLOG_EXPORT_TO(symbol, namespace) EXPORT_SYMBOL_NS_GPL(symbol, __stringify(namespace))
#define EVENTLOG_IMPORT_FROM(namespace) MODULE_IMPORT_NS(__stringify(namespace))
#endif
#define EVENTLOG_EXPORT(symbol) EVENTLOG_EXPORT_TO(symbol, EVENTLOG_FRONT_END)
#define EVENTLOG_IMPORT() EVENTLOG_IMPORT_FROM(EVENTLOG_FRONT_END)

/* 5.11, and later releases of 5.10, renamed __fcheck_files(). */
#if EVENTLOG_HAS_LOOKUP_FD
#define eventlog_file_of(files, fd) files_lookup_fd_raw(files, fd)
#else
#define eventlog_file_of(files, fd) __fcheck_files(files, fd)
#endif

/* 5.14 renamed task_struct.state; 5.18 made it an argument of the tracepoint sched_switch. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
#define eventlog_task_state(task) READ_ONCE((task)->state)
#else
#define eventlog_task_state(task) READ_ONCE((task)->__state)
#endif

/*
 * Unwinding the stack of another task.  6.1 does not export stack_trace_save_tsk(), as 6.12 does,
 * and it leaves out the functions of the scheduler.  The unwinders of x86 are exported by all.
 */
#if defined(CONFIG_X86) && !defined(CONFIG_UNWINDER_GUESS)
#include <asm/unwind.h>
#define EVENTLOG_UNWIND 1
#else
#define EVENTLOG_UNWIND 0
#endif

/*
 * Since 6.18, a thread whose cgroup has used up its CPU time stops running when it returns to its
 * program, and then is marked.  Before, the whole cgroup stops, which marks no thread.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0) && defined(CONFIG_CFS_BANDWIDTH)
#define eventlog_task_throttled(task) ((task)->throttled)
#else
#define eventlog_task_throttled(task) false
#endif

/*
 * Trace events created at run time need trace_add_event_call() and
 * trace_remove_event_call(), which 5.10 does not export, reference counts of event
 * calls, and fields with a given length.  6.1 has all of these.  On older kernels there
 * is only the tracepoint eventlog_emit.
 */
#if defined(CONFIG_EVENT_TRACING) && defined(CONFIG_MODULES) && \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
#define EVENTLOG_TRACE_EVENTS 1
#else
#define EVENTLOG_TRACE_EVENTS 0
#endif

/* 6.3 made the device const that device_type.devnode() gets. */
#define eventlog_devnode_device \
	typeof(*__builtin_choose_expr( \
		__builtin_types_compatible_p(typeof(((struct device_type *)0)->devnode), \
					     char *(*)(const struct device *, umode_t *, kuid_t *, \
						       kgid_t *)), \
		(const struct device *)0, (struct device *)0))

/* 6.5 removed an argument of pin_user_pages_remote() and get_user_pages_remote(). */
#if EVENTLOG_HAS_GUP_VMAS
#define eventlog_pin_page(mm, address, flags, page) \
	pin_user_pages_remote(mm, address, 1, flags, page, NULL, NULL)
#define eventlog_get_page(mm, address, flags, page) \
	get_user_pages_remote(mm, address, 1, flags, page, NULL, NULL)
#else
#define eventlog_pin_page(mm, address, flags, page) \
	pin_user_pages_remote(mm, address, 1, flags, page, NULL)
#define eventlog_get_page(mm, address, flags, page) \
	get_user_pages_remote(mm, address, 1, flags, page, NULL)
#endif

/* 6.16 added lookup_noperm(), which replaced lookup_one_len(). */
#if EVENTLOG_HAS_LOOKUP_NOPERM
#define eventlog_lookup(name, directory) lookup_noperm(&QSTR(name), directory)
#else
#define eventlog_lookup(name, directory) lookup_one_len(name, directory, strlen(name))
#endif

/* 6.6 made the times of inodes private and added a function that sets them. */
#if !EVENTLOG_HAS_INODE_INIT_TS
#define simple_inode_init_ts(inode) \
	((inode)->i_atime = (inode)->i_mtime = (inode)->i_ctime = current_time(inode))
#endif

/* 7.2 replaced ktime_get_snapshot() by ktime_get_snapshot_id(), for any clock. */
#if !EVENTLOG_HAS_SNAPSHOT_ID
#define ktime_get_snapshot_id(clock, snapshot) ktime_get_snapshot(snapshot)
#endif

/* 7.2 exports tracefs_create_file(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define EVENTLOG_TRACEFS_CREATE 0
#else
#include <linux/tracefs.h>
#define EVENTLOG_TRACEFS_CREATE 1
#endif

/*
 * Before 6.6, tracefs makes the files of a trace event (struct trace_event_file) when the
 * event is added, and opens them without a reference to the struct: it uses freed memory if
 * the event is removed at that time.  trace/files.c prevents that.  6.6 makes the files
 * on demand, so that the struct has no directory, and 6.6.31, 6.8.10 and 6.9 keep the struct as
 * long as it is referred to.
 */
#if EVENTLOG_HAS_TRACE_FILE_DIR
#define EVENTLOG_TRACE_FILES 1
#else
#define EVENTLOG_TRACE_FILES 0
#endif

/* 6.1.64 and 6.5.13 added a count of open files to struct trace_event_file. */
#if EVENTLOG_HAS_TRACE_FILE_REF
#define eventlog_trace_file_opens(file) (atomic_read(&(file)->ref) - 1)
#else
#define eventlog_trace_file_opens(file) 0
#endif

/*
 * Trace events stay until the module is unloaded, because removing them is dangerous.  From 6.6
 * to 6.10, tracefs can use freed memory if a trigger or hist file stays open while a trace event
 * is removed.  6.12 did so in a test in which a directory was listed at that time.  On older
 * kernels, see EVENTLOG_TRACE_FILES.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define EVENTLOG_TRACE_POOL 1
#else
#define EVENTLOG_TRACE_POOL 0
#endif

/*
 * ftrace and perf call tracepoint_synchronize_unregister() before they free the targets
 * that an event is delivered to.  Since 7.0 it waits only for readers of
 * tracepoint_srcu; before that it also waited for code with preemption disabled.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define eventlog_tracers_lock() do { } while (0)
#define eventlog_tracers_unlock() do { } while (0)
#else
#include <linux/tracepoint.h>
#define eventlog_tracers_lock() \
	struct srcu_ctr __percpu *eventlog_tracers_srcu = \
		srcu_read_lock_fast_notrace(&tracepoint_srcu)
#define eventlog_tracers_unlock() \
	srcu_read_unlock_fast_notrace(&tracepoint_srcu, eventlog_tracers_srcu)
#endif

/* 6.10 added a tracepoint before execve() changes the task. */
#define EVENTLOG_PREPARE_EXEC (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0))

/* 6.0 added kfuncs with flags in modules; this code supports them from 6.1. */
#if defined(CONFIG_DEBUG_INFO_BTF_MODULES) && defined(CONFIG_BPF_EVENTS) && \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
#define EVENTLOG_KFUNCS 1
#else
#define EVENTLOG_KFUNCS 0
#endif

#if EVENTLOG_KFUNCS
#include <linux/btf.h>
#include <linux/btf_ids.h>

/* 6.3 added __bpf_kfunc. */
#ifndef __bpf_kfunc
#define __bpf_kfunc __used noinline
#endif

/* 6.9 added macros for sets of kfuncs. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif
#endif /* EVENTLOG_KFUNCS */

/*
 * Since 6.12 at the latest, programs attached to kprobes and trace events may call
 * kfuncs.  On 6.1, registering for them fails, and then no program can call the kfuncs.
 */
#define EVENTLOG_KFUNCS_KPROBE (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

#endif /* EVENTLOG_COMPAT_H */
