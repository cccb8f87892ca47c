// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_user_events.ko: the interface user_events of newer kernels, for programs written for
 * it, on kernels that were built without it.  A front end of eventlog.ko, see core/front_end.h.
 *
 * It makes user_events_data and user_events_status in tracefs.  A program registers events
 * through the first file and gives the address of a bit in its memory.  The bit is set while
 * the event is enabled, by a subscriber or a tracer.  Events of these programs are events of
 * the providers "user_events" and "user_events_multi".
 *
 *	user_events.c	loads and unloads it
 *	tracefs.c	the files in tracefs
 *	dynamic.c	lines for user_events in dynamic_events
 *	data.c		open files user_events_data: their events, ioctls and writes
 *	status.c	user_events_status
 *	command.c	parses what a program registers
 *	event.c		events of this front end, by name
 *	enabler.c	registers bits, and writes them when their events change
 *	set.c		sets of bits, which processes share after fork
 *	space.c		address spaces of processes, and their work items
 *	bit.c		writes one bit in an address space
 *	process.c	fork, exec and exit
 *
 * Lock order: ue_file.lock; event_mutex of ftrace; mmap_lock of the caller;
 * ue_mutex; ue_table_lock.  None of them but mmap_lock is held while the
 * memory of a process is faulted in, because a file system in user space may provide it.
 * ue_dirty_lock is taken last, under ue_mutex or domain->lock.
 *
 * The longest thing that is done under each lock, where users choose how much there is:
 *
 *	event_mutex		ue_enablers_settle(), one hold of ue_mutex
 *	ue_mutex	about UE_BATCH bits or address spaces; no allocation and no
 *				page fault; besides, a look-up in a set, O(log n), and the
 *				wait for the table of users when the last reference to one
 *				goes
 *	ue_table_lock	a look-up in a hash table; changes of lists, and up to
 *				UE_WORKS_MAX_UNLIMITED work items that are queued
 *	ue_dirty_lock		a change of a list
 *	mmap_lock		UE_BATCH bits and one page fault, in the work item of a
 *				address space; one bit and one page fault in calls of the process
 *	ue_file.lock	a look-up in an xarray; only who has the file waits for it
 *	domain->lock		see core; a reader of user_events_status holds it while it
 *				fills a page
 */
#define pr_fmt(format) "eventlog_user_events: " format

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/front_end.h"
#include "core/ops.h"
#include "user_events/data.h"
#include "user_events/dynamic.h"
#include "user_events/enabler.h"
#include "user_events/event.h"
#include "user_events/space.h"
#include "user_events/process.h"
#include "user_events/tracefs.h"

static bool dynamic;
module_param(dynamic, bool, 0444);
MODULE_PARM_DESC(dynamic, "lines of user_events in dynamic_events (N)");

static struct dentry *ue_data, *ue_status;

/* ---- what eventlog.ko calls ---- */

static void ue_watch_changed(struct eventlog_watch *watch)
{
	ue_watch_pin(watch);
	ue_enablers_changed(watch);
}

static void ue_watch_ended(struct eventlog_watch *watch)
{
	ue_enablers_forget(watch);
	ue_event_ended(watch);
}

static const struct eventlog_watch_ops ue_watch_ops = {
	.changed = ue_watch_changed,
	.ended = ue_watch_ended,
	.settle = ue_enablers_settle,
};

/* ---- load and unload ---- */

static void ue_files_remove(void)
{
	ue_dynamic_restore();
	ue_tracefs_remove(ue_data);
	ue_tracefs_remove(ue_status);
	ue_data = NULL;
	ue_status = NULL;
	ue_tracefs_settle();
	ue_dynamic_put();
	ue_tracefs_unpin();
}

/*
 * Programs look for user_events_data: it comes last.  Nothing fails after a program can open a file
 * of this module: the kernel frees a module whose load fails, though a file is open.
 */
static int ue_files_make(void)
{
	struct dentry *dentry;
	int ret;

	ret = ue_tracefs_pin();
	if (ret)
		return ret;
	dentry = ue_tracefs_make("user_events_status", 0440, &simple_dir_operations);
	ret = PTR_ERR_OR_ZERO(dentry);
	if (ret)
		goto err_remove;
	ue_status = dentry;
	dentry = ue_tracefs_make("user_events_data", 0640, &ue_data_operations);
	ret = PTR_ERR_OR_ZERO(dentry);
	if (ret)
		goto err_remove;
	ue_data = dentry;
	ue_tracefs_open(ue_status, &ue_status_operations);
	if (dynamic)
		ue_dynamic_take();
	return 0;

err_remove:
	ue_files_remove();
	return ret;
}

static int __init ue_init(void)
{
	int ret;

	if (IS_ENABLED(CONFIG_USER_EVENTS)) {
		pr_info("not needed: this kernel has user_events\n");
		return -EOPNOTSUPP;
	}
	if (security_locked_down(LOCKDOWN_TRACEFS))
		return -EPERM;
	ue_queue = alloc_workqueue("eventlog_user_events", WQ_UNBOUND, 0);
	if (!ue_queue)
		return -ENOMEM;
	ue_events_init();
	/* Not covered: every kernel with trace events has the tracepoints that this needs. */
	ret = ue_process_init();
	if (ret)
		goto err_queue;
	/* Not covered: only this module registers itself there. */
	ret = eventlog_front_end_register(&ue_watch_ops);
	if (ret)
		goto err_process;
	ret = ue_files_make();
	if (ret)
		goto err_front_end;
	return 0;

err_front_end:
	eventlog_front_end_unregister();
err_process:
	ue_process_exit();
err_queue:
	destroy_workqueue(ue_queue);
	return ret;
}

/* No file is open, because each keeps the module loaded. */
static void __exit ue_exit(void)
{
	ue_files_remove();
	ue_process_exit();
	/* Unload starts only after running work has dropped its reference to the module. */
	flush_workqueue(ue_queue);
	ue_enablers_exit();
	eventlog_front_end_unregister();
	destroy_workqueue(ue_queue);
	/* Wait for the callbacks of call_rcu(). */
	rcu_barrier();
}

EVENTLOG_IMPORT();

#else /* !EVENTLOG_TRACE_EVENTS */

static int __init ue_init(void)
{
	pr_info("modules cannot make trace events on this kernel\n");
	return -EOPNOTSUPP;
}

static void __exit ue_exit(void)
{
}

#endif /* EVENTLOG_TRACE_EVENTS */

module_init(ue_init);
module_exit(ue_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("The interface user_events on kernels without it");
MODULE_VERSION(EVENTLOG_RELEASE);
