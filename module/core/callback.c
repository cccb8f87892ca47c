// SPDX-License-Identifier: GPL-2.0-only
/*
 * In-kernel subscribers: the part of include/linux/eventlog.h that registers
 * callbacks.  Their calling is emission's, see emit.c.
 *
 * A callback's owner keeps its own calls on it in order; there is no lock here.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/mm.h>

#include "core/domain.h"
#include "core/event.h"
#include "memory.h"
#include "core/schema.h"
#include "core/subscriber.h"

int eventlog_callback_register(struct eventlog_callback *callback)
{
	struct eventlog_subscriber *subscriber;

	if (!callback->name || !callback->deliver || callback->flags & ~EVENTLOG_CALLBACK_NMI)
		return -EINVAL;
	if (callback->subscriber)
		return -EBUSY;
	subscriber = eventlog_subscriber_new_callback(&eventlog_root_domain, callback);
	if (IS_ERR(subscriber))
		return PTR_ERR(subscriber);
	callback->subscriber = subscriber;
	return 0;
}
EXPORT_SYMBOL_GPL(eventlog_callback_register);

void eventlog_callback_unregister(struct eventlog_callback *callback)
{
	if (!callback->subscriber)
		return;
	eventlog_subscriber_free(callback->subscriber);
	callback->subscriber = NULL;
}
EXPORT_SYMBOL_GPL(eventlog_callback_unregister);

int eventlog_callback_rule_add(struct eventlog_callback *callback,
			       const struct eventlog_wish *wish)
{
	struct eventlog_rule request = {
		.flags = wish->flags,
		.keywords_any = wish->keywords_any,
		.keywords_all = wish->keywords_all,
		.session = wish->session,
		.pid = wish->pid,
		.level = wish->level,
		.sample = wish->sample,
	};
	int ret;

	if (!callback->subscriber)
		return -EINVAL;
	ret = eventlog_subscriber_rule_add(callback->subscriber, &request, wish->provider ?: "*",
					   wish->event ?: "*");
	return ret ?: request.rule_id;
}
EXPORT_SYMBOL_GPL(eventlog_callback_rule_add);

int eventlog_callback_rule_delete(struct eventlog_callback *callback, u32 rule_id)
{
	if (!callback->subscriber)
		return -ENOENT;
	return eventlog_subscriber_rule_delete(callback->subscriber, rule_id);
}
EXPORT_SYMBOL_GPL(eventlog_callback_rule_delete);

u64 eventlog_callback_lost(const struct eventlog_callback *callback, enum eventlog_lost cause)
{
	if (!callback->subscriber || (unsigned int)cause >= EVENTLOG_LOST_CAUSES)
		return 0;
	return (unsigned long)atomic_long_read(&callback->subscriber->lost[cause]);
}
EXPORT_SYMBOL_GPL(eventlog_callback_lost);

u32 eventlog_delivery_copy(const struct eventlog_delivery *delivery, void *to, u32 room)
{
	u32 done = 0, bytes;
	unsigned int i;

	for (i = 0; i < delivery->count; i++) {
		const struct eventlog_part *part = &delivery->parts[i];

		bytes = min(part->bytes, room - done);
		memcpy(to + done, part->data, bytes);
		done += bytes;
		if (part->string && done < room)
			((u8 *)to)[done++] = '\0';
	}
	return done;
}
EXPORT_SYMBOL_GPL(eventlog_delivery_copy);

char *eventlog_describe(u32 descriptor)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_event *event;
	char *text = NULL, *copy;
	u32 bytes;

	mutex_lock(&domain->lock);
	event = xa_load(&domain->definitions, descriptor);
	if (event)
		text = eventlog_schema_text(event, &bytes);
	mutex_unlock(&domain->lock);
	if (!event)
		return ERR_PTR(-ENOENT);
	/* One's own: the counted one must not outlive the module. */
	copy = text ? kvmalloc(bytes, GFP_KERNEL) : NULL;
	if (copy)
		memcpy(copy, text, bytes);
	eventlog_free(text);
	return copy ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_GPL(eventlog_describe);
