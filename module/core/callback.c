// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of in-kernel subscribers, see include/linux/eventlog.h.  emit.c calls
 * the callbacks.
 *
 * There is no lock here: the owner of a callback serialises its own calls.
 */
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/mm.h>

#include "core/domain.h"
#include "core/event.h"
#include "core/ops.h"
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
			       const struct eventlog_callback_rule *rule)
{
	struct eventlog_rule request = {
		.flags = rule->flags,
		.keywords_any = rule->keywords_any,
		.keywords_all = rule->keywords_all,
		.session = rule->session,
		.pid = rule->pid,
		.level = rule->level,
		.sample = rule->sample,
	};
	int ret;

	/* Its cgroup would be a file of whatever process calls. */
	if (!callback->subscriber || rule->flags & EVENTLOG_RULE_CGROUP)
		return -EINVAL;
	ret = eventlog_subscriber_rule_add(callback->subscriber, &request, NULL,
					   rule->provider ?: "*", rule->event ?: "*");
	return ret ?: request.rule_id;
}
EXPORT_SYMBOL_GPL(eventlog_callback_rule_add);

int eventlog_callback_rule_delete(struct eventlog_callback *callback, u32 rule_id)
{
	if (!callback->subscriber)
		return -ENOENT;
	/* The caller cannot keep the rule: a fatal signal ends the wait, not the call. */
	eventlog_mapped_ops->drain(callback->subscriber->domain);
	return eventlog_subscriber_rule_delete(callback->subscriber, rule_id, false);
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

	eventlog_domain_lock(domain);
	event = xa_load(&domain->definitions, descriptor);
	if (event)
		text = eventlog_schema_text(event, &bytes);
	eventlog_domain_unlock(domain);
	if (!event)
		return ERR_PTR(-ENOENT);
	/* Return a copy: memory of eventlog_alloc() must be freed before the module exits. */
	copy = text ? kvmalloc(bytes, GFP_KERNEL) : NULL;
	if (copy)
		memcpy(copy, text, bytes);
	eventlog_free(text);
	return copy ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_GPL(eventlog_describe);
