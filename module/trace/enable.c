// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling of traced events: see enable.h.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/domain.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/ops.h"
#include "core/provider.h"
#include "trace/attach.h"
#include "trace/enable.h"
#include "trace/worker.h"

/* Most that ftrace waits for the work item, and how long it does not wait after that. */
#define EVENTLOG_TRACE_WAIT (HZ / 10)
#define EVENTLOG_TRACE_NO_WAIT HZ

/* Interval of attempts to lock an instance. */
#define EVENTLOG_TRACE_RETRY_INSTANCE (HZ / 100)

static void eventlog_trace_root_work(struct work_struct *work);
static void eventlog_trace_instances_work(struct work_struct *work);
static void eventlog_trace_notify_work(struct work_struct *work);

/*
 * What is left to do.  @root and @instances contain &struct eventlog_trace_event.changed_node.
 * They and @asked, which counts changes, are under the table's lock.  The changes of the root
 * up to number @done, which the work item writes, are carried out.
 */
static struct {
	struct list_head root;
	struct list_head instances;
	unsigned long asked;
	unsigned long done;
	wait_queue_head_t wait;
	struct work_struct root_work;
	struct delayed_work instances_work;
	struct work_struct notify_work;
} eventlog_trace_changes = {
	.root = LIST_HEAD_INIT(eventlog_trace_changes.root),
	.instances = LIST_HEAD_INIT(eventlog_trace_changes.instances),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(eventlog_trace_changes.wait),
	.root_work = __WORK_INITIALIZER(eventlog_trace_changes.root_work,
					eventlog_trace_root_work),
	.instances_work = __DELAYED_WORK_INITIALIZER(eventlog_trace_changes.instances_work,
						     eventlog_trace_instances_work, 0),
	.notify_work = __WORK_INITIALIZER(eventlog_trace_changes.notify_work,
					  eventlog_trace_notify_work),
};

/* Readers use the domain of a trace event, which may be an instance that is deleted. */
DEFINE_STATIC_SRCU(eventlog_trace_readers);

void eventlog_trace_enable_settle(void)
{
	synchronize_srcu(&eventlog_trace_readers);
}

/* ---- without event_mutex ---- */

/*
 * The definition of a trace event if it belongs to a domain, which is locked: it stays live.  The
 * worker may take the trace event from it meanwhile, under the table's lock alone.
 */
static struct eventlog_event *eventlog_trace_event_of(const struct eventlog_trace_event *trace,
						      const struct eventlog_domain *domain)
{
	struct eventlog_event *event;

	lockdep_assert_held(&domain->lock);
	eventlog_traces_lock();
	event = trace->domain == domain ? trace->event : NULL;
	eventlog_traces_unlock();
	return event;
}

static void eventlog_trace_enable_locked(struct eventlog_trace_event *trace,
					 struct eventlog_domain *domain)
{
	struct eventlog_event *event = eventlog_trace_event_of(trace, domain);

	if (event)
		eventlog_enable_tracers_changed(event);
}

static struct eventlog_trace_event *eventlog_trace_changed_take(struct list_head *list)
{
	struct eventlog_trace_event *trace;

	trace = list_first_entry_or_null(list, struct eventlog_trace_event, changed_node);
	if (trace)
		list_del_init(&trace->changed_node);
	return trace;
}

static void eventlog_trace_root_work(struct work_struct *work)
{
	struct eventlog_domain *domain = &eventlog_root_domain;
	struct eventlog_trace_event *trace;
	unsigned long asked;

	for (;;) {
		eventlog_traces_lock();
		asked = eventlog_trace_changes.asked;
		trace = eventlog_trace_changed_take(&eventlog_trace_changes.root);
		eventlog_traces_unlock();
		if (!trace)
			break;
		eventlog_domain_lock(domain);
		eventlog_trace_enable_locked(trace, domain);
		eventlog_domain_unlock(domain);
	}
	/*
	 * Kernel providers with enable() are notified by another work item, because the function
	 * may need event_mutex, whose holder may be waiting for this one.
	 */
	if (!eventlog_update_try(domain))
		queue_work(eventlog_traces.queue, &eventlog_trace_changes.notify_work);
	eventlog_watch_settle();
	WRITE_ONCE(eventlog_trace_changes.done, asked);
	wake_up_all(&eventlog_trace_changes.wait);
}

static void eventlog_trace_notify_work(struct work_struct *work)
{
	eventlog_update_begin(&eventlog_root_domain);
	eventlog_update_end(&eventlog_root_domain, NULL, NULL);
}

/*
 * Tries each change once, and again a little later: an owner who keeps the lock of an instance
 * busy must not delay the others.
 */
static void eventlog_trace_instances_work(struct work_struct *work)
{
	struct eventlog_trace_event *trace;
	struct eventlog_domain *domain;
	LIST_HEAD(list);
	int reader;

	reader = srcu_read_lock(&eventlog_trace_readers);
	eventlog_traces_lock();
	list_splice_init(&eventlog_trace_changes.instances, &list);
	while ((trace = eventlog_trace_changed_take(&list))) {
		domain = trace->domain;
		if (!domain)
			continue;
		if (!eventlog_domain_trylock(domain)) {
			list_add_tail(&trace->changed_node, &eventlog_trace_changes.instances);
			eventlog_steps_add(&eventlog_traces.steps, 1);
			continue;
		}
		eventlog_traces_unlock();
		eventlog_trace_enable_locked(trace, domain);
		eventlog_domain_unlock(domain);
		eventlog_traces_lock();
	}
	if (!list_empty(&eventlog_trace_changes.instances))
		queue_delayed_work(eventlog_traces.queue, &eventlog_trace_changes.instances_work,
				   EVENTLOG_TRACE_RETRY_INSTANCE);
	eventlog_traces_unlock();
	srcu_read_unlock(&eventlog_trace_readers, reader);
}

/* ---- under event_mutex ---- */

/* Waits for the work item of the root, unless that has taken too long a short time ago. */
static void eventlog_trace_root_wait(unsigned long number, struct eventlog_steps *steps)
{
	static unsigned long no_wait_until;
	static bool no_wait;

	if (no_wait && time_before(jiffies, no_wait_until))
		return;
	eventlog_steps_add(steps, 1);
	no_wait = !wait_event_timeout(eventlog_trace_changes.wait,
				      (long)(READ_ONCE(eventlog_trace_changes.done) - number) >= 0,
				      EVENTLOG_TRACE_WAIT);
	no_wait_until = jiffies + EVENTLOG_TRACE_NO_WAIT;
}

/* Has a work item enable or disable the event.  @domain is that of its definition. */
static void eventlog_trace_enable_later(struct eventlog_trace_event *trace,
					const struct eventlog_domain *domain,
					struct eventlog_steps *steps)
{
	bool of_root = domain == &eventlog_root_domain;
	unsigned long number;

	eventlog_traces_lock();
	number = ++eventlog_trace_changes.asked;
	list_move_tail(&trace->changed_node, of_root ? &eventlog_trace_changes.root :
						       &eventlog_trace_changes.instances);
	eventlog_traces_unlock();
	if (of_root) {
		queue_work(eventlog_traces.queue, &eventlog_trace_changes.root_work);
		eventlog_trace_root_wait(number, steps);
	} else {
		queue_delayed_work(eventlog_traces.queue, &eventlog_trace_changes.instances_work,
				   0);
	}
}

/* Enables or disables the event at once, if nothing has to be waited for. */
static bool eventlog_trace_enable_now(struct eventlog_trace_event *trace,
				      struct eventlog_domain *domain, struct eventlog_steps *steps)
{
	struct eventlog_event *event;
	bool done;

	if (!eventlog_domain_trylock(domain))
		return false;
	event = eventlog_trace_event_of(trace, domain);
	done = !event || !(event->provider->kernel || event->watch);
	if (event && done)
		eventlog_enable_tracers_changed(event);
	eventlog_steps_add_all(steps, &domain->steps);
	eventlog_domain_unlock(domain);
	return done;
}

void eventlog_trace_enable(struct eventlog_trace_event *trace, struct eventlog_steps *steps)
{
	struct eventlog_domain *domain;
	int reader;

	reader = srcu_read_lock(&eventlog_trace_readers);
	domain = READ_ONCE(trace->domain);
	if (domain && !eventlog_trace_enable_now(trace, domain, steps))
		eventlog_trace_enable_later(trace, domain, steps);
	srcu_read_unlock(&eventlog_trace_readers, reader);
}

void eventlog_trace_enable_drop(struct eventlog_trace_event *trace)
{
	lockdep_assert_held(&eventlog_traces.lock);
	list_del_init(&trace->changed_node);
}

void eventlog_trace_enable_exit(void)
{
	cancel_work_sync(&eventlog_trace_changes.root_work);
	cancel_delayed_work_sync(&eventlog_trace_changes.instances_work);
	cancel_work_sync(&eventlog_trace_changes.notify_work);
}

/* ---- for tests ---- */

#ifdef EVENTLOG_COUNT_STEPS

/* How many tasks hold a lock because of the parameter "hold". */
static atomic_t eventlog_trace_holders;

/* The domain of a traced event, locked; or NULL. */
static struct eventlog_domain *eventlog_trace_hold_lock(u32 descriptor)
{
	struct eventlog_domain *domain = NULL;
	struct eventlog_trace_event *trace;
	int reader;

	reader = srcu_read_lock(&eventlog_trace_readers);
	eventlog_traces_lock();
	list_for_each_entry(trace, &eventlog_traces.all, all_node)
		if (trace->event && trace->event->descriptor == descriptor)
			domain = trace->domain;
	eventlog_traces_unlock();
	if (domain)
		eventlog_domain_lock(domain);
	srcu_read_unlock(&eventlog_trace_readers, reader);
	return domain;
}

/* Holds domain->lock of an event until the writer gets a signal, as slow calls would. */
static int eventlog_trace_hold_set(const char *value, const struct kernel_param *parameter)
{
	struct eventlog_domain *domain;
	u32 descriptor;
	int ret;

	ret = kstrtou32(value, 0, &descriptor);
	if (ret)
		return ret;
	domain = eventlog_trace_hold_lock(descriptor);
	if (!domain)
		return -ENOENT;
	kernel_param_unlock(THIS_MODULE);
	atomic_inc(&eventlog_trace_holders);
	while (!signal_pending(current))
		schedule_timeout_interruptible(HZ / 100);
	atomic_dec(&eventlog_trace_holders);
	eventlog_domain_unlock(domain);
	kernel_param_lock(THIS_MODULE);
	return -EINTR;
}

static int eventlog_trace_hold_get(char *buffer, const struct kernel_param *parameter)
{
	return sprintf(buffer, "%d\n", atomic_read(&eventlog_trace_holders));
}

static const struct kernel_param_ops eventlog_trace_hold_ops = {
	.set = eventlog_trace_hold_set,
	.get = eventlog_trace_hold_get,
};
module_param_cb(hold, &eventlog_trace_hold_ops, NULL, 0600);
MODULE_PARM_DESC(hold, "for tests: hold the lock of this event's domain until a signal comes");

#endif /* EVENTLOG_COUNT_STEPS */

#endif /* EVENTLOG_TRACE_EVENTS */
