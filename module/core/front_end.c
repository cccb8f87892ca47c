// SPDX-License-Identifier: GPL-2.0-only
/*
 * Front ends, and what is exported for them: see front_end.h.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/srcu.h>

#include "compat.h"
#include "core/domain.h"
#include "core/emit.h"
#include "core/event.h"
#include "core/fields.h"
#include "core/front_end.h"
#include "core/ops.h"
#include "core/text.h"
#include "core/user.h"
#include "memory.h"

/* Changes under the root's lock; settle() is called without it, under this SRCU. */
const struct eventlog_watch_ops *eventlog_watch_ops;
DEFINE_STATIC_SRCU(eventlog_watch_settling);

int eventlog_front_end_register(const struct eventlog_watch_ops *ops)
{
	bool first;

	eventlog_domain_lock(&eventlog_root_domain);
	first = !eventlog_watch_ops;
	if (first)
		WRITE_ONCE(eventlog_watch_ops, ops);
	eventlog_domain_unlock(&eventlog_root_domain);
	return first ? 0 : -EBUSY;
}

void eventlog_front_end_unregister(void)
{
	/* Whoever calls one of the other functions has the lock. */
	eventlog_domain_lock(&eventlog_root_domain);
	WRITE_ONCE(eventlog_watch_ops, NULL);
	eventlog_domain_unlock(&eventlog_root_domain);
	synchronize_srcu(&eventlog_watch_settling);
}

void eventlog_watch_settle(void)
{
	int reader = srcu_read_lock(&eventlog_watch_settling);
	const struct eventlog_watch_ops *ops = READ_ONCE(eventlog_watch_ops);

	if (ops)
		ops->settle();
	srcu_read_unlock(&eventlog_watch_settling, reader);
}

/* ---- exports ---- */

EVENTLOG_EXPORT(eventlog_front_end_register);
EVENTLOG_EXPORT(eventlog_front_end_unregister);
/* memory.h */
EVENTLOG_EXPORT(eventlog_alloc);
EVENTLOG_EXPORT(eventlog_alloc_locked);
EVENTLOG_EXPORT(eventlog_alloc_atomic);
EVENTLOG_EXPORT(eventlog_free);
/* core/user.h */
EVENTLOG_EXPORT(eventlog_user_open);
EVENTLOG_EXPORT(eventlog_user_get);
EVENTLOG_EXPORT(eventlog_user_put);
EVENTLOG_EXPORT(eventlog_user_charge);
EVENTLOG_EXPORT(eventlog_user_uncharge);
/* core/fields.h, core/text.h */
EVENTLOG_EXPORT(eventlog_fields_parse);
EVENTLOG_EXPORT(eventlog_fields_free);
EVENTLOG_EXPORT(eventlog_dynamic_validate);
EVENTLOG_EXPORT(eventlog_text_print);
/* core/event.h */
EVENTLOG_EXPORT(eventlog_event_register);
EVENTLOG_EXPORT(eventlog_event_unregister);
EVENTLOG_EXPORT(eventlog_event_use);
EVENTLOG_EXPORT(eventlog_event_persist);
EVENTLOG_EXPORT(eventlog_event_delete);
/* core/emit.h */
EVENTLOG_EXPORT(eventlog_emit);
/* core/domain.h, core/ops.h */
EVENTLOG_EXPORT(eventlog_root_domain);
EVENTLOG_EXPORT(eventlog_trace_ops);
#ifdef EVENTLOG_COUNT_STEPS
EVENTLOG_EXPORT(eventlog_steps_most);
#endif
