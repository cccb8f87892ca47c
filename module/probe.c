// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts that compile only if the kernel has something that distributions backport, so that its
 * version does not say whether it is there.  Kbuild compiles each part with PROBE_<name> defined,
 * and writes the results to probes.h, for compat.h.  No part is linked into a module.
 *
 * Without a name this must compile: otherwise the compiler, its flags or the headers are wrong.
 */
#include <linux/kernel.h>

#ifdef PROBE_UNALIGNED
#include <linux/unaligned.h>
#endif

#ifdef PROBE_HEX
#include <linux/hex.h>
#endif

#ifdef PROBE_CT_IDLE
#include <linux/context_tracking.h>

void probe(void);
void probe(void)
{
	ct_idle_enter();
	ct_idle_exit();
}
#endif

#ifdef PROBE_VM_FLAGS_SET
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYWRITE);
}
#endif

#ifdef PROBE_CGROUP_ANCESTORS
#include <linux/cgroup.h>

struct cgroup *probe(const struct cgroup *cgroup);
struct cgroup *probe(const struct cgroup *cgroup)
{
	return cgroup->ancestors[0];
}
#endif

#ifdef PROBE_TIMER_DELETE
#include <linux/timer.h>

int probe(struct timer_list *timer);
int probe(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}
#endif

#ifdef PROBE_HRTIMER_SETUP
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *));
void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_setup_on_stack(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
#endif

#ifdef PROBE_TCP_RESET_REASON
#include <net/rstreason.h>
#include <trace/events/tcp.h>

void probe(void (*handler)(void *, const struct sock *, const struct sk_buff *,
			   const enum sk_rst_reason));
void probe(void (*handler)(void *, const struct sock *, const struct sk_buff *,
			   const enum sk_rst_reason))
{
	register_trace_tcp_send_reset(handler, NULL);
}
#endif

#ifdef PROBE_NAMESPACE_IDENTIFIER
#include <linux/module.h>

MODULE_IMPORT_NS(EVENTLOG_PROBE);
#endif

#ifdef PROBE_GUP_VMAS
#include <linux/mm.h>

long probe(struct mm_struct *mm, struct page **page);
long probe(struct mm_struct *mm, struct page **page)
{
	return get_user_pages_remote(mm, 0, 1, 0, page, NULL, NULL) +
	       pin_user_pages_remote(mm, 0, 1, 0, page, NULL, NULL);
}
#endif

#ifdef PROBE_LOOKUP_NOPERM
#include <linux/namei.h>

struct dentry *probe(struct dentry *directory);
struct dentry *probe(struct dentry *directory)
{
	return lookup_noperm(&QSTR("name"), directory);
}
#endif

#ifdef PROBE_INODE_INIT_TS
#include <linux/fs.h>

void probe(struct inode *inode);
void probe(struct inode *inode)
{
	simple_inode_init_ts(inode);
}
#endif

#ifdef PROBE_SNAPSHOT_ID
#include <linux/timekeeping.h>

void probe(struct system_time_snapshot *snapshot);
void probe(struct system_time_snapshot *snapshot)
{
	ktime_get_snapshot_id(CLOCK_MONOTONIC, snapshot);
}
#endif

#ifdef PROBE_TRACE_FILE_REF
#include <linux/trace_events.h>

int probe(struct trace_event_file *file);
int probe(struct trace_event_file *file)
{
	return atomic_read(&file->ref);
}
#endif

#ifdef PROBE_TRACE_FILE_DIR
#include <linux/trace_events.h>

struct dentry *probe(struct trace_event_file *file);
struct dentry *probe(struct trace_event_file *file)
{
	return file->dir;
}
#endif

#ifdef PROBE_LOOKUP_FD
#include <linux/fdtable.h>

struct file *probe(struct files_struct *files);
struct file *probe(struct files_struct *files)
{
	return files_lookup_fd_raw(files, 0);
}
#endif
