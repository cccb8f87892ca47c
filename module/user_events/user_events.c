// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and unload of the front end user_events: see user_events.h.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/security.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/ops.h"
#include "user_events/data.h"
#include "user_events/dynamic.h"
#include "user_events/enabler.h"
#include "user_events/event.h"
#include "user_events/mm.h"
#include "user_events/process.h"
#include "user_events/tracefs.h"
#include "user_events/user_events.h"

static struct dentry *ue_data, *ue_status;
static bool ue_active;

/* ---- what core/ calls ---- */

static void ue_watch_ended(struct eventlog_watch *watch)
{
	eventlog_ue_enablers_forget(watch);
	eventlog_ue_event_ended(watch);
}

static const struct eventlog_watch_ops ue_watch_ops = {
	.changed = eventlog_ue_enablers_changed,
	.ended = ue_watch_ended,
	.settle = eventlog_ue_enablers_settle,
};

/* ---- load and unload ---- */

static void ue_files_remove(void)
{
	eventlog_ue_dynamic_restore();
	eventlog_ue_tracefs_remove(ue_data);
	eventlog_ue_tracefs_remove(ue_status);
	ue_data = NULL;
	ue_status = NULL;
	eventlog_ue_tracefs_settle();
	eventlog_ue_dynamic_put();
	eventlog_ue_tracefs_unpin();
}

/* Programs look for user_events_data: it comes last. */
static int ue_files_make(bool dynamic)
{
	struct dentry *dentry;
	int ret;

	ret = eventlog_ue_tracefs_pin();
	if (ret)
		return ret;
	dentry = eventlog_ue_tracefs_make("user_events_status", 0440,
					  &eventlog_ue_status_operations);
	ret = PTR_ERR_OR_ZERO(dentry);
	if (ret)
		goto err_remove;
	ue_status = dentry;
	dentry = eventlog_ue_tracefs_make("user_events_data", 0640,
					  &eventlog_ue_data_operations);
	ret = PTR_ERR_OR_ZERO(dentry);
	if (ret)
		goto err_remove;
	ue_data = dentry;
	if (dynamic)
		eventlog_ue_dynamic_take();
	return 0;

err_remove:
	ue_files_remove();
	return ret;
}

void eventlog_ue_init(bool dynamic)
{
	int ret = -ENOMEM;

	if (IS_ENABLED(CONFIG_USER_EVENTS) || security_locked_down(LOCKDOWN_TRACEFS))
		return;
	eventlog_ue_queue = alloc_workqueue("eventlog_user_events", WQ_UNBOUND, 0);
	if (!eventlog_ue_queue)
		goto err;
	eventlog_ue_events_init();
	eventlog_watch_ops = &ue_watch_ops;
	ret = eventlog_ue_process_init();
	if (ret)
		goto err_queue;
	ret = ue_files_make(dynamic);
	if (ret)
		goto err_process;
	ue_active = true;
	return;

err_process:
	eventlog_ue_process_exit();
err_queue:
	destroy_workqueue(eventlog_ue_queue);
err:
	pr_warn("no user_events in tracefs: error %d\n", ret);
}

void eventlog_ue_exit(void)
{
	if (!ue_active)
		return;
	ue_active = false;
	ue_files_remove();
	eventlog_ue_process_exit();
	/* Work items that were running have let go of the module, or this would not run. */
	flush_workqueue(eventlog_ue_queue);
	eventlog_ue_enablers_exit();
	destroy_workqueue(eventlog_ue_queue);
}

#endif /* EVENTLOG_TRACE_EVENTS */
