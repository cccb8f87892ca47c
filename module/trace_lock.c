// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_mutex: see trace_lock.h.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "compat.h"
#include "trace_lock.h"

#if EVENTLOG_TRACE_EVENTS

#define EVENTLOG_LOCK_EVENT "eventlog_lock"

/* The call under way; of others' doings with the event there is nothing to do. */
static struct {
	const struct task_struct *task;
	void (*function)(void *argument);
	void *argument;
} eventlog_trace_call;

static int eventlog_lock_reg(struct trace_event_call *event, enum trace_reg type, void *data)
{
	void (*function)(void *argument) = eventlog_trace_call.function;

	if ((type != TRACE_REG_REGISTER && type != TRACE_REG_UNREGISTER) ||
	    READ_ONCE(eventlog_trace_call.task) != current || !function)
		return 0;
	eventlog_trace_call.function = NULL;
	function(eventlog_trace_call.argument);
	return 0;
}

static enum print_line_t eventlog_lock_print(struct trace_iterator *iter, int flags,
					     struct trace_event *event)
{
	return TRACE_TYPE_HANDLED;
}

static struct trace_event_fields eventlog_lock_fields[] = { {} };

static struct trace_event_class eventlog_lock_class = {
	.system = "eventlog",
	.reg = eventlog_lock_reg,
	.fields_array = eventlog_lock_fields,
	.fields = LIST_HEAD_INIT(eventlog_lock_class.fields),
	.raw_init = trace_event_raw_init,
};

static struct trace_event_functions eventlog_lock_functions = {
	.trace = eventlog_lock_print,
};

static struct trace_event_call eventlog_lock_event = {
	.class = &eventlog_lock_class,
	.name = EVENTLOG_LOCK_EVENT,
	.event.funcs = &eventlog_lock_functions,
	.print_fmt = "\"\"",
};

/* The kernel makes trace events of what a module has here, before its init. */
static struct trace_event_call *eventlog_lock_pointer
	__used __section("_ftrace_events") = &eventlog_lock_event;

int eventlog_trace_locked(void (*function)(void *argument), void *argument)
{
	int set;

	eventlog_trace_call.function = function;
	eventlog_trace_call.argument = argument;
	WRITE_ONCE(eventlog_trace_call.task, current);
	/* Somebody may have it switched on already: then off is what calls us. */
	for (set = 1; set >= 0; set--)
		if (trace_set_clr_event(eventlog_lock_class.system, EVENTLOG_LOCK_EVENT, set))
			break;
	WRITE_ONCE(eventlog_trace_call.task, NULL);
	return eventlog_trace_call.function ? -ENODEV : 0;
}

#endif /* EVENTLOG_TRACE_EVENTS */
