// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_events_status, which lists all events of this front end: see data.h.
 */
#include <linux/module.h>
#include <linux/seq_file.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "user_events/data.h"
#include "user_events/event.h"
#include "user_events/process.h"

static int ue_status_show(struct seq_file *seq, void *unused)
{
	unsigned long lost = eventlog_ue_forks_lost();

	eventlog_ue_events_show(seq);
	/* The kernel's user_events has no such line. */
	if (lost)
		seq_printf(seq, "Lost: %lu\n", lost);
	return 0;
}

static int ue_status_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, ue_status_show, NULL);
}

const struct file_operations eventlog_ue_status_operations = {
	.owner = THIS_MODULE,
	.open = ue_status_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

#endif /* EVENTLOG_TRACE_EVENTS */
