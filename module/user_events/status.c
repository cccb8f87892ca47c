// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_events_status, which lists all events of this front end: see data.h.
 *
 * A reader holds domain->lock while it fills a buffer, not for the whole list.  In between,
 * a cursor in the list, under the same lock, is its position.  There may be any number of cursors,
 * so who passes them releases the lock after a batch.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/ops.h"
#include "core/text.h"
#include "user_events/data.h"
#include "user_events/event.h"
#include "user_events/space.h"

/**
 * struct ue_status - an open user_events_status
 * @cursor: before the next event; not in the list before the first and after the last read
 * @active: the events before it
 * @busy: those of them that are enabled
 */
struct ue_status {
	struct eventlog_watch cursor;
	unsigned int active;
	unsigned int busy;
};

/* Stands for the lines behind the events. */
static struct eventlog_watch ue_status_end;

/* The event behind @node, or the lines behind all events. */
static struct eventlog_watch *ue_status_after(struct ue_status *status, struct list_head *node)
{
	struct eventlog_domain *domain = ue_domain();

	while ((node = node->next) != &ue_events) {
		struct eventlog_watch *watch = list_entry(node, struct eventlog_watch, all_node);

		eventlog_domain_work(domain, 1);
		if (watch->event)
			return watch;
		if (domain->work < EVENTLOG_BATCH_STEPS)
			continue;
		/* Behind the cursor of another reader. */
		list_move(&status->cursor.all_node, node);
		node = &status->cursor.all_node;
		eventlog_domain_pause(domain);
	}
	return &ue_status_end;
}

static void *ue_status_start(struct seq_file *seq, loff_t *position)
{
	struct ue_status *status = seq->private;

	eventlog_domain_lock(ue_domain());
	if (!*position) {
		/* After lseek(), it may be ahead. */
		list_del_init(&status->cursor.all_node);
		status->active = 0;
		status->busy = 0;
		return ue_status_after(status, &ue_events);
	}
	if (list_empty(&status->cursor.all_node))
		return NULL;
	return ue_status_after(status, &status->cursor.all_node);
}

static void *ue_status_next(struct seq_file *seq, void *item, loff_t *position)
{
	struct ue_status *status = seq->private;
	struct eventlog_watch *watch = item;

	++*position;
	if (watch == &ue_status_end)
		return NULL;
	status->active++;
	if (rcu_access_pointer(watch->event->listeners))
		status->busy++;
	return ue_status_after(status, &watch->all_node);
}

static void ue_status_stop(struct seq_file *seq, void *item)
{
	struct ue_status *status = seq->private;
	struct eventlog_watch *watch = item;

	if (!watch)
		list_del_init(&status->cursor.all_node);
	else if (watch == &ue_status_end)
		list_move_tail(&status->cursor.all_node, &ue_events);
	else
		list_move_tail(&status->cursor.all_node, &watch->all_node);
	eventlog_domain_unlock(ue_domain());
}

static void ue_status_show_users(struct seq_file *seq, const struct eventlog_event *event)
{
	const struct eventlog_listeners *listeners;
	char users[32] = "";
	struct eventlog_text text = { .buffer = users, .room = sizeof(users) };

	listeners = rcu_dereference_protected(event->listeners,
					      lockdep_is_held(&event->domain->lock));
	if (!listeners)
		return;
	if (eventlog_trace_ops)
		eventlog_trace_ops->status(&text, event);
	if (listeners->listed)
		eventlog_text_print(&text, " other");
	seq_printf(seq, " # Used by%s", users);
}

static int ue_status_show(struct seq_file *seq, void *item)
{
	const struct ue_status *status = seq->private;
	const struct eventlog_watch *watch = item;
	unsigned long lost = ue_children_lost();

	if (watch != &ue_status_end) {
		seq_puts(seq, watch->event->name);
		if (watch->multi)
			seq_printf(seq, ".%x", watch->event->descriptor);
		ue_status_show_users(seq, watch->event);
		seq_putc(seq, '\n');
		return 0;
	}
	seq_printf(seq, "\nActive: %u\nBusy: %u\n", status->active, status->busy);
	/* The kernel's user_events has no such line. */
	if (lost)
		seq_printf(seq, "Lost: %lu\n", lost);
	return 0;
}

static const struct seq_operations ue_status_seq = {
	.start = ue_status_start,
	.next = ue_status_next,
	.stop = ue_status_stop,
	.show = ue_status_show,
};

static int ue_status_open(struct inode *inode, struct file *filp)
{
	struct ue_status *status = __seq_open_private(filp, &ue_status_seq, sizeof(*status));

	if (!status)
		return -ENOMEM;
	INIT_LIST_HEAD(&status->cursor.all_node);
	return 0;
}

static int ue_status_release(struct inode *inode, struct file *filp)
{
	const struct seq_file *seq = filp->private_data;
	struct ue_status *status = seq->private;

	eventlog_domain_lock(ue_domain());
	list_del(&status->cursor.all_node);
	eventlog_domain_unlock(ue_domain());
	return seq_release_private(inode, filp);
}

const struct file_operations ue_status_operations = {
	.owner = THIS_MODULE,
	.open = ue_status_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = ue_status_release,
};

#endif /* EVENTLOG_TRACE_EVENTS */
