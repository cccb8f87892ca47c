// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_bench_events.ko: measures events emitted by kernel code, by the generated
 * functions of a provider and by tracepoints with the same fields.  For benchmark
 * kernels only.
 *
 * An ioctl of /dev/eventlog_bench_events runs a batch.  There is no shared state, and
 * therefore no lock.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <linux/uaccess.h>

#include "eventlog_bench.h"

#define EVENTLOG_EVENT_BENCH_DEFINE
#include "event_bench_eventlog.h"

#define CREATE_TRACE_POINTS
#include "eventlog_bench_trace.h"

/* Not const, so that the compiler does not know its length. */
static char bench_name[] = "fifteen letters";

/*
 * One function for each event.  Its loop only emits the event, with the loop counter as
 * the value of the fields.
 */
#define BENCH_LOOP(function, emit)						\
static noinline void function(struct eventlog_bench_emit *batch)		\
{										\
	const char *name = bench_name;						\
	const u32 count = batch->count;						\
	u64 cycles, time;							\
	u32 i;									\
										\
	OPTIMIZER_HIDE_VAR(name);						\
	time = ktime_get_ns();							\
	cycles = get_cycles();							\
	for (i = 0; i < count; i++) {						\
		OPTIMIZER_HIDE_VAR(i);						\
		emit;								\
	}									\
	batch->cycles = get_cycles() - cycles;					\
	batch->nanoseconds = ktime_get_ns() - time;				\
}

#define FIXED i, i, i, i, i
#define TEXT i, i, i, name
#define WIDE i, i, i, i, i, i, i, i

BENCH_LOOP(bench_nothing, (void)name)
BENCH_LOOP(bench_fixed_off, eventlog_event_bench_fixed_off(i, FIXED))
BENCH_LOOP(bench_fixed_discard, eventlog_event_bench_fixed_discard(i, FIXED))
BENCH_LOOP(bench_fixed_overwrite, eventlog_event_bench_fixed_overwrite(i, FIXED))
BENCH_LOOP(bench_text_off, eventlog_event_bench_text_off(i, TEXT))
BENCH_LOOP(bench_text_discard, eventlog_event_bench_text_discard(i, TEXT))
BENCH_LOOP(bench_text_overwrite, eventlog_event_bench_text_overwrite(i, TEXT))
BENCH_LOOP(bench_trace_fixed_off, trace_eventlog_bench_fixed_off(FIXED))
BENCH_LOOP(bench_trace_fixed_own, trace_eventlog_bench_fixed_own(FIXED))
BENCH_LOOP(bench_trace_fixed_mono, trace_eventlog_bench_fixed_mono(FIXED))
BENCH_LOOP(bench_trace_fixed_lttng, trace_eventlog_bench_fixed_lttng(FIXED))
BENCH_LOOP(bench_trace_text_off, trace_eventlog_bench_text_off(TEXT))
BENCH_LOOP(bench_trace_text_own, trace_eventlog_bench_text_own(TEXT))
BENCH_LOOP(bench_trace_text_mono, trace_eventlog_bench_text_mono(TEXT))
BENCH_LOOP(bench_trace_text_lttng, trace_eventlog_bench_text_lttng(TEXT))
BENCH_LOOP(bench_wide, eventlog_event_bench_wide(i, WIDE))
BENCH_LOOP(bench_trace_wide, trace_eventlog_bench_wide(WIDE))

static void (*const bench_events[EVENTLOG_BENCH_EVENTS])(struct eventlog_bench_emit *batch) = {
	[EVENTLOG_BENCH_NOTHING] = bench_nothing,
	[EVENTLOG_BENCH_FIXED_OFF] = bench_fixed_off,
	[EVENTLOG_BENCH_FIXED_DISCARD] = bench_fixed_discard,
	[EVENTLOG_BENCH_FIXED_OVERWRITE] = bench_fixed_overwrite,
	[EVENTLOG_BENCH_TEXT_OFF] = bench_text_off,
	[EVENTLOG_BENCH_TEXT_DISCARD] = bench_text_discard,
	[EVENTLOG_BENCH_TEXT_OVERWRITE] = bench_text_overwrite,
	[EVENTLOG_BENCH_TRACE_FIXED_OFF] = bench_trace_fixed_off,
	[EVENTLOG_BENCH_TRACE_FIXED_OWN] = bench_trace_fixed_own,
	[EVENTLOG_BENCH_TRACE_FIXED_MONO] = bench_trace_fixed_mono,
	[EVENTLOG_BENCH_TRACE_FIXED_LTTNG] = bench_trace_fixed_lttng,
	[EVENTLOG_BENCH_TRACE_TEXT_OFF] = bench_trace_text_off,
	[EVENTLOG_BENCH_TRACE_TEXT_OWN] = bench_trace_text_own,
	[EVENTLOG_BENCH_TRACE_TEXT_MONO] = bench_trace_text_mono,
	[EVENTLOG_BENCH_TRACE_TEXT_LTTNG] = bench_trace_text_lttng,
	[EVENTLOG_BENCH_WIDE] = bench_wide,
	[EVENTLOG_BENCH_TRACE_WIDE] = bench_trace_wide,
};

static long bench_ioctl(struct file *filp, unsigned int command, unsigned long user)
{
	struct eventlog_bench_emit batch;

	if (command != EVENTLOG_BENCH_IOC_EMIT)
		return -ENOTTY;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&batch, (void __user *)user, sizeof(batch)))
		return -EFAULT;
	if (batch.event >= EVENTLOG_BENCH_EVENTS || batch.count > EVENTLOG_BENCH_COUNT_MAX)
		return -EINVAL;
	bench_events[batch.event](&batch);
	return copy_to_user((void __user *)user, &batch, sizeof(batch)) ? -EFAULT : 0;
}

static const struct file_operations bench_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = bench_ioctl,
};

static struct miscdevice bench_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog_bench_events",
	.fops = &bench_operations,
};

static int __init bench_init(void)
{
	int ret = eventlog_provider_register(&eventlog_event_bench);

	if (ret)
		return ret;
	ret = misc_register(&bench_device);
	if (ret)
		eventlog_provider_unregister(&eventlog_event_bench);
	return ret;
}

static void __exit bench_exit(void)
{
	misc_deregister(&bench_device);
	eventlog_provider_unregister(&eventlog_event_bench);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("eventlog benchmark: events of kernel code");
