// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_mutex: see trace_lock.h.
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

/* The call under way; of others' doings with the event there is nothing to do. */
static struct {
	const struct task_struct *task;
	void (*function)(void *argument);
	void *argument;
} eventlog_trace_call;

/* Returns whether the call was made. */
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

/* The kernel makes trace events of what a module has here, before its init. */
static struct trace_event_call *eventlog_lock_pointer
	__used __section("_ftrace_events") = &eventlog_lock_event;

#ifdef CONFIG_PERF_EVENTS
/* Asks for a counter, on whatever CPU: it does not come that far. */
static void eventlog_lock_ask(void)
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
/* Somebody may have it switched on already: then off is what calls us. */
static void eventlog_lock_ask(void)
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
	eventlog_lock_ask();
	WRITE_ONCE(eventlog_trace_call.task, NULL);
	return eventlog_trace_call.function ? -ENODEV : 0;
}

/*
 * Whoever asks for a counter pins the event's module, and rmmod would fail now
 * and then.  Nobody else can hold the event, so that it need not be pinned.
 */
void eventlog_trace_lock_init(void)
{
	if (IS_ENABLED(CONFIG_PERF_EVENTS))
		eventlog_lock_event.module = NULL;
}

/* ftrace removes the events of a module by that. */
void eventlog_trace_lock_exit(void)
{
	eventlog_lock_event.module = THIS_MODULE;
}

#endif /* EVENTLOG_TRACE_EVENTS */
