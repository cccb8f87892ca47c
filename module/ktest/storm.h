/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm, for test modules: threads on all CPUs, their timers, and NMIs on x86 call
 * storm_fire() of the module that includes this file.  The parameter "storm" starts and
 * stops it; the module calls storm_stop() when it exits.  storm_lock protects it.
 */
#ifndef EVENTLOG_KTEST_STORM_H
#define EVENTLOG_KTEST_STORM_H

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#ifdef CONFIG_X86
#include <asm/nmi.h>
#endif

#include "compat.h"

#define STORM_VALUES	300

/* Values are below STORM_VALUES.  Task, hardirq and NMI context. */
static void storm_fire(unsigned int value);

struct storm {
	struct task_struct *thread;
	struct hrtimer timer;
	unsigned int value;
	unsigned int timer_value;
};

static DEFINE_PER_CPU(struct storm, storms);
static DEFINE_MUTEX(storm_lock);
static bool storming;

static enum hrtimer_restart storm_interrupt(struct hrtimer *timer)
{
	struct storm *storm = container_of(timer, struct storm, timer);

	storm_fire(storm->timer_value++ % STORM_VALUES);
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

#ifdef CONFIG_X86
static atomic_t storm_nmis;
module_param_named(nmis, storm_nmis.counter, int, 0444);

static int storm_nmi(unsigned int command, struct pt_regs *registers)
{
	storm_fire((unsigned int)atomic_inc_return(&storm_nmis) % STORM_VALUES);
	return NMI_HANDLED;
}

static int storm_nmi_start(void)
{
	return register_nmi_handler(NMI_LOCAL, storm_nmi, 0, KBUILD_MODNAME);
}

static void storm_nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
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
		storm_fire(storm->value++ % STORM_VALUES);
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
	bool on;
	int ret = kstrtobool(argument, &on);

	if (ret)
		return ret;
	mutex_lock(&storm_lock);
	if (on && !storming)
		ret = storm_start();
	else if (!on && storming)
		storm_stop();
	mutex_unlock(&storm_lock);
	return ret;
}

static const struct kernel_param_ops storm_ops = { .set = storm_set };
module_param_cb(storm, &storm_ops, NULL, 0200);

#endif /* EVENTLOG_KTEST_STORM_H */
