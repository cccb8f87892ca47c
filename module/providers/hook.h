/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: probes that a provider registers on tracepoints of the kernel while its events
 * are enabled.
 *
 * The table belongs to the provider.  Only its init and exit functions and its enable()
 * call the functions below; these never run concurrently.
 */
#ifndef EVENTLOG_HOOK_H
#define EVENTLOG_HOOK_H

#include <linux/build_bug.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

/**
 * struct eventlog_hook - one probe on one tracepoint
 * @name: name of the tracepoint
 * @probe: the probe function; its arguments are an unused void * and those of the
 *	tracepoint
 * @point: the tracepoint, NULL if not found
 * @hooked: the probe is registered
 */
struct eventlog_hook {
	const char *name;
	void *probe;
	struct tracepoint *point;
	bool hooked;
};

/* Tests whether a function has exactly the type that a tracepoint calls. */
#define EVENTLOG_HOOK_FITS(point, function)						\
	__builtin_types_compatible_p(typeof(check_trace_callback_type_##point),	\
				     void (typeof(&(function))))

/*
 * An entry of a table.  The arguments of some tracepoints differ between kernel
 * versions: EVENTLOG_HOOK_EITHER() selects the function with the right type, because
 * the tracepoint calls it through a pointer of that type.
 */
#define EVENTLOG_HOOK(point, function) EVENTLOG_HOOK_EITHER(point, function, function)
#define EVENTLOG_HOOK_EITHER(point, one, other) {					\
	.name = #point,									\
	.probe = __builtin_choose_expr(EVENTLOG_HOOK_FITS(point, one),			\
				       (void *)(one), (void *)(other)) +		\
		 BUILD_BUG_ON_ZERO(!EVENTLOG_HOOK_FITS(point, one) &&			\
				   !EVENTLOG_HOOK_FITS(point, other)),			\
}

/* Sets the tracepoint of the entries with its name; the last entry has no name. */
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
 * Logs a warning for each tracepoint that this kernel does not have; its events are
 * never emitted.
 *
 * Context: process context.
 */
static inline void eventlog_hooks_find(struct eventlog_hook *hooks)
{
	struct eventlog_hook *hook;

	for_each_kernel_tracepoint(eventlog_hook_match, hooks);
	for (hook = hooks; hook->name; hook++)
		if (!hook->point)
			pr_warn("tracepoint %s not found\n", hook->name);
}

/**
 * eventlog_hook_set() - register or unregister a probe on its tracepoint
 * @hook: an entry of a table passed to eventlog_hooks_find()
 * @wanted: true: register; false: unregister
 *
 * After unregistration the probe may still run until
 * tracepoint_synchronize_unregister() has returned.
 *
 * Context: process context.
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
		pr_warn_once("failed to register a probe on tracepoint %s\n", hook->name);
	else
		hook->hooked = true;
}

#endif /* EVENTLOG_HOOK_H */
