// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog.ko: load, parameters, unload.
 *
 * All open files pin the module, so at unload there are no registrations and no
 * subscribers, only instances, persistent events and marker policies.
 */
#define pr_fmt(format) "eventlog: " format

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "core/domain.h"
#include "core/event.h"
#include "core/joined.h"
#include "core/pages.h"
#include "core/subscriber.h"
#include "core/user.h"
#include "marker/ioctl.h"
#include "marker/marker.h"
#include "marker/policy.h"
#include "memory.h"
#include "ring/selftest.h"
#include "trace/trace.h"
#include "trace/kfunc.h"
#include "user/file.h"
#include "user/instance.h"
#include "user/leave.h"
#include "user/mapped.h"

static ushort mode = 0600;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/eventlog (0600)");

static uint events_max = 32768;
module_param(events_max, uint, 0444);
MODULE_PARM_DESC(events_max, "limit of live events, 1 to 65535 (32768)");

static uint subscribers_max = 64;
module_param(subscribers_max, uint, 0444);
MODULE_PARM_DESC(subscribers_max, "limit of subscribers (64)");

static uint rules_max = 256;
module_param(rules_max, uint, 0444);
MODULE_PARM_DESC(rules_max, "limit of rules of one subscriber (256)");

static uint registrations_max = 65536;
module_param(registrations_max, uint, 0444);
MODULE_PARM_DESC(registrations_max, "limit of registrations of one open file (65536)");

static ulong ring_memory_max;
module_param(ring_memory_max, ulong, 0444);
MODULE_PARM_DESC(ring_memory_max, "limit of the memory of all rings, in bytes (half of the memory)");

static uint instances_max = EVENTLOG_INSTANCES_MAX;
module_param(instances_max, uint, 0444);
MODULE_PARM_DESC(instances_max, "limit of instances, 0: none, up to "
				__stringify(EVENTLOG_INSTANCES_MAX) " ("
				__stringify(EVENTLOG_INSTANCES_MAX) ")");

static bool spinlock;
module_param(spinlock, bool, 0444);
MODULE_PARM_DESC(spinlock, "take a spinlock to write to rings, as 32-bit kernels always do (N)");

static uint trace_events_max = 4096;
module_param(trace_events_max, uint, 0444);
MODULE_PARM_DESC(trace_events_max, "limit of events in tracefs, 0: none (4096)");

static bool leaving;
module_param(leaving, bool, 0444);
MODULE_PARM_DESC(leaving, "producers wait until a LEAVE has ended, 10 s at most (N)");

#ifdef EVENTLOG_COUNT_STEPS
unsigned long eventlog_steps_most[EVENTLOG_STEPS_KINDS];
module_param_array_named(steps, eventlog_steps_most, ulong, NULL, 0644);
MODULE_PARM_DESC(steps, "most steps during one hold of a lock, see core/steps.h");
#endif

/* Bytes of a user's trace events for each of trace_events_max: a quarter of small ones. */
#define EVENTLOG_TRACE_EVENT_BYTES 4096

/* Limits of one user, see core/user.h.  0 is a limit, which allows nothing. */
#define EVENTLOG_LIMIT_DEFAULT ULONG_MAX
static ulong user_limits[] = { [0 ... EVENTLOG_QUOTAS - 1] = EVENTLOG_LIMIT_DEFAULT };
module_param_named(user_events_max, user_limits[EVENTLOG_QUOTA_EVENTS], ulong, 0444);
MODULE_PARM_DESC(user_events_max, "limit of a user's live events (a quarter of events_max)");
module_param_named(user_definitions_max, user_limits[EVENTLOG_QUOTA_DEFINITIONS], ulong, 0444);
MODULE_PARM_DESC(user_definitions_max, "limit of a user's new events in a second (1000)");
module_param_named(user_registrations_max, user_limits[EVENTLOG_QUOTA_REGISTRATIONS], ulong, 0444);
MODULE_PARM_DESC(user_registrations_max, "limit of a user's registrations (262144)");
module_param_named(user_trace_bytes_max, user_limits[EVENTLOG_QUOTA_TRACE_BYTES], ulong, 0444);
MODULE_PARM_DESC(user_trace_bytes_max,
		 "limit of the memory of a user's events in tracefs, in bytes (4096 * trace_events_max)");
module_param_named(user_retained_bytes_max, user_limits[EVENTLOG_QUOTA_RETAINED_BYTES], ulong,
		   0444);
MODULE_PARM_DESC(user_retained_bytes_max,
		 "limit of the memory of a user's ended events, in bytes (16 MiB)");
module_param_named(user_ring_memory_max, user_limits[EVENTLOG_QUOTA_RING_BYTES], ulong, 0444);
MODULE_PARM_DESC(user_ring_memory_max,
		 "limit of the memory of a user's rings, in bytes (half of ring_memory_max)");
module_param_named(user_rings_max, user_limits[EVENTLOG_QUOTA_RINGS], ulong, 0444);
MODULE_PARM_DESC(user_rings_max, "limit of a user's producer rings (4096)");

/*
 * Half of the memory.  Rings are mapped for the kernel, which a 32-bit one has little room for, and
 * others need: then a quarter of that, which is about a third with the guard pages.
 */
static unsigned long eventlog_ring_pages_default(void)
{
	unsigned long pages = totalram_pages() / 2;

#ifndef CONFIG_64BIT
	pages = min(pages, (unsigned long)VMALLOC_TOTAL >> (PAGE_SHIFT + 2));
#endif
	return pages;
}

/* Replaces limits that were not set. */
static void eventlog_user_limits_set(unsigned long ring_pages_max)
{
	const unsigned long limits[EVENTLOG_QUOTAS] = {
		[EVENTLOG_QUOTA_EVENTS] = DIV_ROUND_UP(events_max, 4),
		[EVENTLOG_QUOTA_DEFINITIONS] = 1000,
		[EVENTLOG_QUOTA_REGISTRATIONS] = 262144,
		[EVENTLOG_QUOTA_TRACE_BYTES] = (unsigned long)trace_events_max *
					       EVENTLOG_TRACE_EVENT_BYTES,
		[EVENTLOG_QUOTA_RETAINED_BYTES] = 16 << 20,
		[EVENTLOG_QUOTA_RING_BYTES] = min(ring_pages_max, LONG_MAX / PAGE_SIZE) *
					      PAGE_SIZE / 2,
		[EVENTLOG_QUOTA_RINGS] = 4096,
	};
	unsigned int i;

	for (i = 0; i < EVENTLOG_QUOTAS; i++)
		if (user_limits[i] == EVENTLOG_LIMIT_DEFAULT)
			user_limits[i] = limits[i];
	eventlog_users_init(user_limits);
}

/* Removes what outlives open files: persistent events and marker policies. */
static void eventlog_domain_empty(struct eventlog_domain *domain)
{
	eventlog_domain_lock(domain);
	eventlog_events_drop_all(domain);
	eventlog_policies_drop_all(domain);
	eventlog_domain_unlock(domain);
}

static void eventlog_root_destroy(void)
{
	eventlog_domain_empty(&eventlog_root_domain);
	eventlog_domain_destroy(&eventlog_root_domain);
}

static int __init eventlog_init(void)
{
	unsigned long ring_pages_max = ring_memory_max >> PAGE_SHIFT;
	int ret;

	if (!events_max || events_max > EVENTLOG_EVENTS_MAX || !subscribers_max || !rules_max ||
	    !registrations_max || instances_max > EVENTLOG_INSTANCES_MAX || mode & ~0777) {
		pr_err("module parameter out of range, see modinfo eventlog\n");
		return -EINVAL;
	}
	if (!ring_memory_max)
		ring_pages_max = eventlog_ring_pages_default();

	eventlog_user_limits_set(ring_pages_max);
	eventlog_pages_init(ring_pages_max);

	ret = eventlog_ring_selftest();
	if (ret)
		return ret;
	ret = eventlog_domain_init(&eventlog_root_domain, events_max, subscribers_max);
	if (ret)
		return ret;
	eventlog_policies_init();
	ret = eventlog_mapped_init(&eventlog_root_domain);
	if (ret)
		goto err_domain;
	ret = eventlog_subscriber_init(rules_max, spinlock);
	if (ret)
		goto err_mapped;
	ret = eventlog_trace_init(trace_events_max);
	if (ret)
		goto err_subscriber;
	/* Not covered: a kernel without BTF, such as UML, registers nothing. */
	ret = eventlog_kfunc_init();
	if (ret)
		goto err_trace;
	/* Not covered: the kernel refuses a module's notifier only if it has it already. */
	ret = eventlog_markers_init();
	if (ret)
		goto err_trace;
	ret = eventlog_instances_init(&eventlog_root_domain, instances_max, eventlog_domain_empty);
	if (ret)
		goto err_markers;
	if (leaving)
		eventlog_leave_hold();
	ret = eventlog_device_init(mode, rules_max, registrations_max, &eventlog_marker_ioctls);
	if (ret)
		goto err_leave;
	if (!EVENTLOG_TRACE_EVENTS)
		pr_info("trace events are not supported on this kernel, only the tracepoint eventlog_emit\n");
	return 0;

err_leave:
	eventlog_leave_exit();
	eventlog_instances_exit();
err_markers:
	eventlog_markers_exit();
err_trace:
	eventlog_trace_exit();
err_subscriber:
	eventlog_subscriber_exit();
err_mapped:
	eventlog_mapped_exit(&eventlog_root_domain);
err_domain:
	eventlog_root_destroy();
	return ret;
}

static void __exit eventlog_exit(void)
{
	long left;

	eventlog_device_exit();
	eventlog_leave_exit();
	eventlog_instances_exit();
	eventlog_markers_exit();
	eventlog_subscriber_exit();
	eventlog_mapped_exit(&eventlog_root_domain);
	eventlog_root_destroy();
	eventlog_trace_exit();
	eventlog_joined_exit();
	eventlog_users_exit();
	/* Wait for the callbacks of call_rcu(). */
	rcu_barrier();
	left = eventlog_allocations_left();
	WARN(left, "eventlog: %ld allocations left\n", left);
}

module_init(eventlog_init);
module_exit(eventlog_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The eventlog developers");
MODULE_DESCRIPTION("Structured event logging for Linux");
MODULE_VERSION(EVENTLOG_RELEASE);
/* modprobe loads it as well.  It is not needed where the kernel has user_events. */
#if EVENTLOG_TRACE_EVENTS && !IS_ENABLED(CONFIG_USER_EVENTS)
MODULE_SOFTDEP("post: eventlog_user_events");
#endif
