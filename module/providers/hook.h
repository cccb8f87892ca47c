/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: functions a provider puts on tracepoints of the kernel's own while
 * their events are wanted.
 *
 * The table is the provider's; all calls come from its init, exit and enable(),
 * which do not run at once.
 */
#ifndef EVENTLOG_HOOK_H
#define EVENTLOG_HOOK_H

#include <linux/build_bug.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

/**
 * struct eventlog_hook - one function on one tracepoint
 * @name: the tracepoint's
 * @probe: the function; its first argument is a void *, not used, then come
 *	the tracepoint's
 * @point: the tracepoint, once found
 * @hooked: the function is on it
 */
struct eventlog_hook {
	const char *name;
	void *probe;
	struct tracepoint *point;
	bool hooked;
};

/* Is a function of exactly the type that a tracepoint calls? */
#define EVENTLOG_HOOK_FITS(point, function)						\
	__builtin_types_compatible_p(typeof(check_trace_callback_type_##point),	\
				     void (typeof(&(function))))

/*
 * An entry of a table.  Kernels differ in what some tracepoints give: the one of
 * two functions that fits is taken, so that a call through a pointer is one of
 * the right type.
 */
#define EVENTLOG_HOOK(point, function) EVENTLOG_HOOK_EITHER(point, function, function)
#define EVENTLOG_HOOK_EITHER(point, one, other) {					\
	.name = #point,									\
	.probe = __builtin_choose_expr(EVENTLOG_HOOK_FITS(point, one),			\
				       (void *)(one), (void *)(other)) +		\
		 BUILD_BUG_ON_ZERO(!EVENTLOG_HOOK_FITS(point, one) &&			\
				   !EVENTLOG_HOOK_FITS(point, other)),			\
}

/* Ends with an entry without a name. */
static inline void eventlog_hook_match(struct tracepoint *point, void *hooks)
{
	struct eventlog_hook *hook;

	for (hook = hooks; hook->name; hook++)
		if (!strcmp(hook->name, point->name))
			hook->point = point;
}

/**
 * eventlog_hooks_find() - find the tracepoints of a table
 * @hooks: the table; its last entry has no name
 *
 * Process context.  A tracepoint that this kernel does not have is named in the
 * kernel log; its events then never come.
 */
static inline void eventlog_hooks_find(struct eventlog_hook *hooks)
{
	struct eventlog_hook *hook;

	for_each_kernel_tracepoint(eventlog_hook_match, hooks);
	for (hook = hooks; hook->name; hook++)
		if (!hook->point)
			pr_warn("this kernel has no tracepoint %s\n", hook->name);
}

/**
 * eventlog_hook_set() - put a function on its tracepoint, or take it off
 * @hook: found
 * @wanted: which
 *
 * Process context.  A function taken off may still be running until
 * tracepoint_synchronize_unregister() has returned.
 */
static inline void eventlog_hook_set(struct eventlog_hook *hook, bool wanted)
{
	if (!hook->point || hook->hooked == wanted)
		return;
	if (!wanted) {
		tracepoint_probe_unregister(hook->point, hook->probe, NULL);
		hook->hooked = false;
		return;
	}
	if (tracepoint_probe_register(hook->point, hook->probe, NULL))
		pr_warn("no memory to hook the tracepoint %s\n", hook->name);
	else
		hook->hooked = true;
}

#endif /* EVENTLOG_HOOK_H */
