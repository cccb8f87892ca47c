// SPDX-License-Identifier: GPL-2.0-only
/*
 * A marker fires: its values are traced, printed and given to probes.
 *
 * Preemption is off throughout.  This makes the RCU read-side section that protects
 * predicate, probes, and names of fields.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "core/emit.h"
#include "common/field_type.h"
#include "core/filter.h"
#include "marker/marker.h"

#define CREATE_TRACE_POINTS
#include "marker/trace_point.h"

/* Size of a line of the kernel log; longer lines are cut off. */
#define EVENTLOG_MARKER_LINE 256

u64 eventlog_marker_value(const struct eventlog_marker *marker, const u64 *values,
			  unsigned int field)
{
	if (field >= marker->event.field_count)
		return 0;
	return eventlog_field_value(marker->types[1 + field], values[field]);
}
EXPORT_SYMBOL_GPL(eventlog_marker_value);

static u8 *eventlog_value_put(u8 *to, u8 bytes, u64 value)
{
	switch (bytes) {
	case 1:
		*to = value;
		break;
	case 2:
		put_unaligned((u16)value, (u16 *)to);
		break;
	case 4:
		put_unaligned((u32)value, (u32 *)to);
		break;
	default:
		put_unaligned(value, (u64 *)to);
		break;
	}
	return to + bytes;
}

static noinline notrace void eventlog_marker_emit(struct eventlog_marker *marker,
						  const u64 *values)
{
	struct eventlog_part parts[1 + EVENTLOG_MARKER_FIELDS_MAX] __uninitialized;
	u8 fixed[8 * EVENTLOG_MARKER_FIELDS_MAX] __uninitialized, *to = fixed;
	u32 end = marker->event.fixed_bytes;
	unsigned int i, count = 1;

	for (i = 0; i < marker->event.field_count; i++) {
		u8 type = marker->types[1 + i];
		u64 value = values[i];

		if (type == EVENTLOG_MARKER_STRING)
			value = eventlog_part_string(&parts[count++],
						     (const char *)(unsigned long)value, &end);
		to = eventlog_value_put(to, eventlog_field_types[type].bytes, value);
	}
	if (count == 1) {
		eventlog_provider_emit(&marker->event, 0, fixed, to - fixed);
		return;
	}
	parts[0].data = fixed;
	parts[0].bytes = to - fixed;
	parts[0].string = false;
	eventlog_provider_emit_parts(&marker->event, 0, parts, count);
}

static int eventlog_string_print(char *to, size_t room, const char *text)
{
	/* Escape what could forge lines of the log. */
	return scnprintf(to, room, "\"%*pE\"", (int)strnlen(text, room), text);
}

static int eventlog_value_print(char *to, size_t room, u8 type, u64 value)
{
	u32 address = value;

	value = eventlog_field_value(type, value);
	switch (type) {
	case EVENTLOG_MARKER_STRING:
		return eventlog_string_print(to, room,
					     (const char *)(unsigned long)value ?: "(null)");
	case EVENTLOG_MARKER_PTR:
		return scnprintf(to, room, "%p", (void *)(unsigned long)value);
	case EVENTLOG_MARKER_IPV4:
		return scnprintf(to, room, "%pI4", &address);
	default:
		return scnprintf(to, room,
				 eventlog_field_types[type].kind == EVENTLOG_KIND_SIGNED ?
				 "%lld" : "%llu", value);
	}
}

static noinline void eventlog_marker_print(struct eventlog_marker *marker, const u64 *values)
{
	char line[EVENTLOG_MARKER_LINE] __uninitialized;
	size_t length = 0;
	unsigned int i;

	if (in_nmi() || !eventlog_watched() || !___ratelimit(&marker->limit, marker->tag)) {
		atomic_long_inc(&marker->suppressed);
		return;
	}
	line[0] = '\0';
	for (i = 0; i < marker->event.field_count; i++) {
		length += scnprintf(line + length, sizeof(line) - length, " %s=",
				    marker->event.fields[i].name);
		length += eventlog_value_print(line + length, sizeof(line) - length,
					       marker->types[1 + i], values[i]);
	}
	pr_info("%s %s:%s\n", marker->event.name, marker->event.description, line);
}

/* Mask of the contexts in which probes are running on this CPU. */
static DEFINE_PER_CPU(u8, eventlog_probing);

/*
 * Markers that fire while a probe runs in the same context do not call probes, or
 * they could recurse without end.  The mask need not be atomic, because a context
 * that interrupts another one restores it.
 */
static noinline notrace void eventlog_marker_probe(const struct eventlog_marker *marker,
						   const u64 *values)
{
	const struct eventlog_marker_link *link;
	u8 *probing = this_cpu_ptr(&eventlog_probing);
	u8 context = 1 << eventlog_context();

	if (READ_ONCE(*probing) & context)
		return;
	WRITE_ONCE(*probing, *probing | context);
	barrier();
	hlist_for_each_entry_rcu(link, &marker->probes, node, rcu_read_lock_sched_held())
		link->probe->fire(link->probe, marker, values);
	trace_eventlog_marker(marker, values);
	barrier();
	WRITE_ONCE(*probing, *probing & ~context);
}

/* Copies the variable arguments to an array. */
#define eventlog_marker_values(marker, values) do {				\
	va_list arguments;							\
	unsigned int i;								\
										\
	va_start(arguments, marker);						\
	for (i = 0; i < (marker)->types[0]; i++)				\
		(values)[i] = va_arg(arguments, u64);				\
	va_end(arguments);							\
} while (0)

/*
 * Is the predicate true?  Where RCU is not watching, it cannot be read: return true, and
 * the handlers only count a loss.
 */
static noinline notrace bool eventlog_marker_passes(const struct eventlog_marker *marker,
						    const u64 *values)
{
	return !eventlog_watched() ||
	       eventlog_predicate_holds(rcu_dereference_sched(marker->predicate), values);
}

notrace void eventlog_marker_fire(struct eventlog_marker *marker, ...)
{
	u64 values[EVENTLOG_MARKER_FIELDS_MAX] __uninitialized;
	u8 active;

	eventlog_marker_values(marker, values);
	preempt_disable_notrace();
	active = smp_load_acquire(&marker->active);
	if (unlikely(active & EVENTLOG_MARKER_CONDITIONAL) &&
	    !eventlog_marker_passes(marker, values))
		goto out;
	if (active & EVENTLOG_MARKER_TRACE)
		eventlog_marker_emit(marker, values);
	if (active & EVENTLOG_MARKER_PRINT)
		eventlog_marker_print(marker, values);
	if (active & EVENTLOG_MARKER_PROBE && eventlog_watched())
		eventlog_marker_probe(marker, values);
out:
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_marker_fire);

notrace void eventlog_marker_override(eventlog_marker_function *function,
				      struct eventlog_marker *marker, ...)
{
	u64 values[EVENTLOG_MARKER_FIELDS_MAX] __uninitialized;
	bool passes = true;

	eventlog_marker_values(marker, values);
	preempt_disable_notrace();
	if (smp_load_acquire(&marker->active) & EVENTLOG_MARKER_CONDITIONAL)
		passes = eventlog_watched() && eventlog_marker_passes(marker, values);
	preempt_enable_notrace();
	if (passes)
		function(marker, values);
}
EXPORT_SYMBOL_GPL(eventlog_marker_override);
