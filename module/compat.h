/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between the kernels eventlog builds against, and nothing
 * else: the rest of the module is written for the newest one.  Each entry says
 * in which version the change came and what it was.
 */
#ifndef EVENTLOG_COMPAT_H
#define EVENTLOG_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/timer.h>
#include <linux/version.h>

/* 6.9 added __uninitialized; a compiler without the attribute initializes nothing, either. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized __attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* 6.12 moved asm/unaligned.h. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

/* 6.3 made vm_flags read-only and added accessors. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* 5.11 renamed vm_operations_struct.split to may_split. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define may_split split
#endif

/* 5.11 added in_hardirq(), the new name of in_irq(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define in_hardirq() in_irq()
#endif

/*
 * Before 5.11 a page charged to a memory cgroup as kernel memory carried a page
 * type, and vm_insert_page() refuses typed pages.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define EVENTLOG_GFP_MAPPED GFP_KERNEL
#else
#define EVENTLOG_GFP_MAPPED GFP_KERNEL_ACCOUNT
#endif

/* 6.2 added timer_delete_sync(), 6.15 removed del_timer_sync(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

/* 6.13 added hrtimer_setup() and its variant for the stack, 6.15 removed hrtimer_init(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
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
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, callback_timer, timer_fieldname) \
	from_timer(var, callback_timer, timer_fieldname)
#endif

/* 6.10 added a reason to the tracepoint tcp_send_reset. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define EVENTLOG_TCP_RESET_REASON
#else
#include <net/rstreason.h>
#define EVENTLOG_TCP_RESET_REASON , const enum sk_rst_reason reason
#endif

/* 5.17 made netns_ipv4.tcp_death_row a pointer, 6.1 an object again. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#define eventlog_tcp_table(net) ((net)->ipv4.tcp_death_row->hashinfo)
#else
#define eventlog_tcp_table(net) ((net)->ipv4.tcp_death_row.hashinfo)
#endif

/* 6.10 dropped __assign_str()'s second argument: __string() has it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define eventlog_assign_str(field, text) __assign_str(field, text)
#else
#define eventlog_assign_str(field, text) __assign_str(field)
#endif

/*
 * Trace events made at run time need trace_add_event_call() and
 * trace_remove_event_call(), which 5.10 does not export, calls that count who
 * holds them, and fields of a given length: all of that is in 6.1.  On older
 * kernels there is the tracepoint alone.
 */
#if defined(CONFIG_EVENT_TRACING) && defined(CONFIG_MODULES) && \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
#define EVENTLOG_TRACE_EVENTS 1
#else
#define EVENTLOG_TRACE_EVENTS 0
#endif

/*
 * 7.0 made tracepoint_synchronize_unregister() wait for readers of
 * tracepoint_srcu alone, before for those who have preemption disabled too: it
 * is what ftrace and perf wait for before they free what an event was to be
 * delivered to.
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

/* kfuncs of modules, with flags: 6.0. */
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

/* 6.9 gave sets of kfuncs macros of their own. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif
#endif /* EVENTLOG_KFUNCS */

/*
 * By 6.12 programs of kprobes, and of trace events, may call kfuncs; in 6.1
 * asking for that is an error, after which nobody can call them.
 */
#define EVENTLOG_KFUNCS_KPROBE (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

#endif /* EVENTLOG_COMPAT_H */
