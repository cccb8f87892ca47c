// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calling a function under event_mutex: see lock.h.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "compat.h"
#include "trace/lock.h"

#if EVENTLOG_TRACE_EVENTS

#define EVENTLOG_LOCK_EVENT "eventlog_lock"

/* The call in progress.  reg() ignores registrations by any task other than @task. */
static struct {
	const struct task_struct *task;
	void (*function)(void *argument);
	void *argument;
} eventlog_trace_call;

/* Calls the function if the current task has requested it.  Returns whether it did. */
static bool eventlog_lock_call(void)
{
	void (*function)(void *argument) = eventlog_trace_call.function;

	if (READ_ONCE(eventlog_trace_call.task) != current || !function)
		return false;
	eventlog_trace_call.function = NULL;
	function(eventlog_trace_call.argument);
	return true;
}

static int eventlog_lock_reg(struct trace_event_call *event, enum trace_reg type, void *data)
{
#ifdef CONFIG_PERF_EVENTS
	if (type == TRACE_REG_PERF_REGISTER)
		return eventlog_lock_call() ? -ECANCELED : -EPERM;
#else
	if (type == TRACE_REG_REGISTER || type == TRACE_REG_UNREGISTER)
		eventlog_lock_call();
#endif
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
	.flags = IS_ENABLED(CONFIG_PERF_EVENTS) ? TRACE_EVENT_FL_IGNORE_ENABLE : 0,
};

/* The kernel creates trace events from this section before the module's init function. */
static struct trace_event_call *eventlog_lock_pointer
	__used __section("_ftrace_events") = &eventlog_lock_event;

#ifdef CONFIG_PERF_EVENTS
/* Requests a counter.  The CPU does not matter, because the request always fails. */
static void eventlog_lock_request(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = eventlog_lock_event.event.type,
		.disabled = 1,
	};
	struct perf_event *counter;

	counter = perf_event_create_kernel_counter(&attributes, 0, NULL, NULL, NULL);
	if (WARN_ON_ONCE(!IS_ERR(counter)))
		perf_event_release_kernel(counter);
}
#else
/*
 * Switches the event on, or off if a user has already switched it on: only a change
 * calls reg().
 */
static void eventlog_lock_request(void)
{
	int set;

	for (set = 1; set >= 0; set--)
		if (trace_set_clr_event(eventlog_lock_class.system, EVENTLOG_LOCK_EVENT, set))
			break;
}
#endif

int eventlog_trace_locked(void (*function)(void *argument), void *argument)
{
	eventlog_trace_call.function = function;
	eventlog_trace_call.argument = argument;
	WRITE_ONCE(eventlog_trace_call.task, current);
	eventlog_lock_request();
	WRITE_ONCE(eventlog_trace_call.task, NULL);
	return eventlog_trace_call.function ? -ENODEV : 0;
}

/*
 * A request for a counter pins the event's module for a short time, so that rmmod would
 * sometimes fail.  No user can hold a counter of this event, so the module need not be
 * pinned.
 */
void eventlog_trace_lock_init(void)
{
	if (IS_ENABLED(CONFIG_PERF_EVENTS))
		eventlog_lock_event.module = NULL;
}

/* ftrace finds the events to remove with a module by this pointer. */
void eventlog_trace_lock_exit(void)
{
	eventlog_lock_event.module = THIS_MODULE;
}

#endif /* EVENTLOG_TRACE_EVENTS */
