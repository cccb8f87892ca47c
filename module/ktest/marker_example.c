// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_example.ko: an example with ten markers in three files.
 *
 *	insmod eventlog_marker_example.ko
 *	elog marker list --module eventlog_marker_example
 *	elog capture -e 'markers_*' -- sh -c \
 *		'echo 3 > /sys/module/eventlog_marker_example/parameters/serve'
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "marker_example.h"

static unsigned int orders;

/* How often evaluate() was called; a marker that is off does not evaluate its fields. */
static unsigned int evaluated;
module_param(evaluated, uint, 0444);

static unsigned int evaluate(unsigned int value)
{
	evaluated++;
	return value;
}

static void drink(const struct marker_example_order *order)
{
	eventlog_marker(drink, EVENTLOG_MARKER_TRACE, FIELD(string, order->guest));
	if (order->milk)
		eventlog_marker(drink, EVENTLOG_MARKER_TRACE, FIELD(string, order->guest),
				FIELD_NAMED(bool, with_milk, order->milk));
}

static void serve(unsigned int cups)
{
	struct marker_example_order order = {
		.guest = current->comm,
		.number = ++orders,
		.cups = cups,
		.milk = cups & 1,
		.celsius = -5,
		.ordered_at = ktime_get_mono_fast_ns(),
	};

	eventlog_marker(order, EVENTLOG_MARKER_TRACE, FIELD(auto, order.guest),
			FIELD(auto, order.number), FIELD(u8, order.cups), FIELD(auto, order.milk),
			FIELD(auto, order.celsius), FIELD(time, order.ordered_at),
			FIELD(ptr, &order));
	eventlog_marker(nothing, 0);
	eventlog_marker(evaluated, 0, FIELD(u32, evaluate(order.number)));
	eventlog_marker(only_traced, EVENTLOG_MARKER_TRACE |
			EVENTLOG_MARKER_ALLOW(EVENTLOG_MARKER_TRACE), FIELD(s32, -1));
	marker_example_pour(&order);
	drink(&order);
	marker_example_forced(order.number);
	marker_example_overridden(order.number);
	eventlog_marker(served, EVENTLOG_MARKER_TRACE,
			FIELD_NAMED(duration, took, ktime_get_mono_fast_ns() - order.ordered_at));
}

static int serve_set(const char *value, const struct kernel_param *parameter)
{
	unsigned int cups;
	int ret = kstrtouint(value, 0, &cups);

	if (!ret)
		serve(cups);
	return ret;
}

static const struct kernel_param_ops serve_ops = { .set = serve_set };
module_param_cb(serve, &serve_ops, NULL, 0200);
MODULE_PARM_DESC(serve, "write a number of cups to run through every marker");

module_param_named(seen, marker_example_seen, uint, 0444);

static int __init marker_example_init(void)
{
	return eventlog_module_markers();
}

static void __exit marker_example_exit(void)
{
}

module_init(marker_example_init);
module_exit(marker_example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Example of eventlog markers");
