// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_predicate.ko: markers for tests of predicates: one with fields of
 * every type, and one that fires on all CPUs, in threads and in the interrupts and NMIs
 * that interrupt them.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/eventlog_marker.h>

#ifdef CONFIG_X86
#include <asm/nmi.h>
#endif

#include "compat.h"

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

#define STORM_VALUES	300

struct storm {
	struct task_struct *thread;
	struct hrtimer timer;
	unsigned int value;
	unsigned int timer_value;
};

static DEFINE_PER_CPU(struct storm, storms);
static DEFINE_MUTEX(storm_lock);
static bool storming;

static noinline void fire_storm(unsigned int value)
{
	eventlog_marker(stormed, 0, FIELD(u32, value));
}

static enum hrtimer_restart storm_interrupt(struct hrtimer *timer)
{
	struct storm *storm = container_of(timer, struct storm, timer);

	fire_storm(storm->timer_value++ % STORM_VALUES);
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

#ifdef CONFIG_X86
static atomic_t storm_nmis;

static int nmis_get(char *text, const struct kernel_param *parameter)
{
	return sprintf(text, "%d\n", atomic_read(&storm_nmis));
}

static const struct kernel_param_ops nmis_ops = { .get = nmis_get };
module_param_cb(nmis, &nmis_ops, NULL, 0444);

static int storm_nmi(unsigned int command, struct pt_regs *registers)
{
	fire_storm((unsigned int)atomic_inc_return(&storm_nmis) % STORM_VALUES);
	return NMI_HANDLED;
}

static int storm_nmi_start(void)
{
	return register_nmi_handler(NMI_LOCAL, storm_nmi, 0, "marker_predicate");
}

static void storm_nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, "marker_predicate");
}
#else
static int storm_nmi_start(void)
{
	return 0;
}

static void storm_nmi_stop(void)
{
}
#endif

static int storm_run(void *argument)
{
	struct storm *storm = argument;

	hrtimer_setup(&storm->timer, storm_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&storm->timer, 0, HRTIMER_MODE_REL_PINNED_HARD);
	while (!kthread_should_stop()) {
		fire_storm(storm->value++ % STORM_VALUES);
		cond_resched();
	}
	hrtimer_cancel(&storm->timer);
	return 0;
}

static void storm_stop(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct storm *storm = per_cpu_ptr(&storms, cpu);

		if (storm->thread)
			kthread_stop(storm->thread);
		storm->thread = NULL;
	}
	if (storming)
		storm_nmi_stop();
	storming = false;
}

static int storm_start(void)
{
	struct task_struct *thread;
	int cpu, ret = storm_nmi_start();

	if (ret)
		return ret;
	storming = true;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct storm *storm = per_cpu_ptr(&storms, cpu);

		thread = kthread_create(storm_run, storm, "storm/%d", cpu);
		ret = PTR_ERR_OR_ZERO(thread);
		if (ret)
			break;
		kthread_bind(thread, cpu);
		storm->thread = thread;
		wake_up_process(thread);
	}
	cpus_read_unlock();
	if (ret)
		storm_stop();
	return ret;
}

static int storm_set(const char *argument, const struct kernel_param *parameter)
{
	bool enable;
	int ret = kstrtobool(argument, &enable);

	if (ret)
		return ret;
	mutex_lock(&storm_lock);
	if (enable && !storming)
		ret = storm_start();
	else if (!enable && storming)
		storm_stop();
	mutex_unlock(&storm_lock);
	return ret;
}

static const struct kernel_param_ops storm_ops = { .set = storm_set };
module_param_cb(storm, &storm_ops, NULL, 0200);

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
