// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_predicate.ko: markers for tests of predicates: one with fields of
 * every type, and one that fires on all CPUs, in threads and in the interrupts and NMIs
 * that interrupt them.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/eventlog_marker.h>

#include "compat.h"
#include "ktest/storm.h"

static noinline void fire_types(u64 value, const char *text)
{
	eventlog_marker(types, 0, FIELD_NAMED(u8, as_u8, value), FIELD_NAMED(u16, as_u16, value),
			FIELD_NAMED(u32, as_u32, value), FIELD_NAMED(u64, as_u64, value),
			FIELD_NAMED(s8, as_s8, value), FIELD_NAMED(s16, as_s16, value),
			FIELD_NAMED(s32, as_s32, value), FIELD_NAMED(s64, as_s64, value),
			FIELD_NAMED(bool, as_bool, value),
			FIELD_NAMED(ptr, as_ptr, (void *)(unsigned long)value),
			FIELD_NAMED(time, as_time, value),
			FIELD_NAMED(duration, as_duration, value),
			FIELD_NAMED(ipv4, as_ipv4, cpu_to_be32(value)),
			FIELD_NAMED(port, as_port, (__force u16)cpu_to_be16(value)),
			FIELD_NAMED(string, text, text));
	/* A field has precedence over the common value of the same name. */
	eventlog_marker(shadowing, 0, FIELD_NAMED(u32, pid, value));
	eventlog_marker(fieldless, 0);
}

/* Parses "NUMBER[ TEXT]"; without TEXT the string is NULL. */
static int fire_set(const char *argument, const struct kernel_param *parameter)
{
	char *copy = kstrdup(argument, GFP_KERNEL), *text = copy, *number;
	u64 value;
	int ret;

	if (!copy)
		return -ENOMEM;
	if (*copy)
		strchrnul(copy, '\n')[0] = '\0';
	number = strsep(&text, " ");
	ret = kstrtou64(number, 0, &value);
	if (!ret)
		fire_types(value, text);
	kfree(copy);
	return ret;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

/* ---- a marker that fires on all CPUs ---- */

static noinline void fire_storm(unsigned int value)
{
	eventlog_marker(stormed, 0, FIELD(u32, value));
}

static void storm_fire(unsigned int value)
{
	fire_storm(value);
}

static int __init predicate_init(void)
{
	return eventlog_module_markers();
}

static void __exit predicate_exit(void)
{
	storm_stop();
}

module_init(predicate_init);
module_exit(predicate_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Markers for tests of predicates");
