// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emission: see emit.h.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat.h"
#include "emit.h"
#include "enable.h"
#include "event.h"
#include "subscriber.h"

static __always_inline u32 eventlog_context_flags(void)
{
	enum eventlog_context context = EVENTLOG_CONTEXT_TASK;

	if (likely(in_task()))
		return 0;
	if (in_nmi())
		context = EVENTLOG_CONTEXT_NMI;
	else if (in_hardirq())
		context = EVENTLOG_CONTEXT_HARDIRQ;
	else if (in_serving_softirq())
		context = EVENTLOG_CONTEXT_SOFTIRQ;
	return context << EVENTLOG_RECORD_CONTEXT_SHIFT;
}

/* The numbers a subscriber knows the current task by; the root's need no look-up. */
static __always_inline u32 eventlog_current_pid(struct pid_namespace *namespace)
{
	return likely(namespace == &init_pid_ns) ? current->tgid :
						   task_tgid_nr_ns(current, namespace);
}

static __always_inline u32 eventlog_current_tid(struct pid_namespace *namespace)
{
	return likely(namespace == &init_pid_ns) ? current->pid :
						   task_pid_nr_ns(current, namespace);
}

/* Does any of the rules, of which each has something left to test, let the event through? */
static bool eventlog_rules_pass(const struct eventlog_wanted_entry *entry, u64 session)
{
	unsigned int i;

	for (i = 0; i < entry->rule_count; i++) {
		struct eventlog_subscriber_rule *rule = entry->rules[i];

		if (rule->flags & EVENTLOG_RULE_SESSION && rule->session != session)
			continue;
		if (rule->flags & EVENTLOG_RULE_PID &&
		    rule->pid != eventlog_current_pid(entry->subscriber->pid_namespace))
			continue;
		/* The 1st, the N+1st, …: a rare event shows at least once. */
		if (rule->sample &&
		    ((u32)atomic_inc_return_relaxed(&rule->sampled) - 1) % rule->sample)
			continue;
		return true;
	}
	return false;
}

void eventlog_emit(const struct eventlog_event *event, u64 session, const void *payload,
		   u32 bytes)
{
	const struct eventlog_wanted *wanted;
	u32 context = eventlog_context_flags();
	unsigned int cpu, i;

	/*
	 * Not migrate_disable(): a ring's nest counts on strictly nested
	 * writers.  Preemption off is an RCU section too.
	 */
	preempt_disable_notrace();
	wanted = rcu_dereference_sched(event->wanted);
	if (!wanted)
		goto out;
	cpu = smp_processor_id();
	for (i = 0; i < wanted->count; i++) {
		const struct eventlog_wanted_entry *entry = &wanted->entries[i];
		struct eventlog_subscriber *subscriber = entry->subscriber;
		struct eventlog_cpu_ring *cpu_ring;
		struct eventlog_ring_slot slot;
		struct eventlog_record *record;

		if (entry->rule_count && !eventlog_rules_pass(entry, session))
			continue;
		cpu_ring = smp_load_acquire(&subscriber->rings[cpu]);
		if (unlikely(!cpu_ring)) {
			atomic_long_inc(&subscriber->lost_no_ring);
			atomic_long_inc(&entry->link->lost);
			continue;
		}
		if (unlikely(READ_ONCE(subscriber->paused))) {
			eventlog_ring_drop(&cpu_ring->ring, EVENTLOG_LOST_PAUSED);
			atomic_long_inc(&entry->link->lost);
			eventlog_subscriber_wake(cpu_ring);
			continue;
		}
		if (unlikely(!eventlog_ring_reserve(&cpu_ring->ring, bytes,
						    READ_ONCE(subscriber->floor), &slot))) {
			atomic_long_inc(&entry->link->lost);
			eventlog_subscriber_wake(cpu_ring);
			continue;
		}
		record = slot.record;
		record->size_flags |= context;
		record->descriptor = event->descriptor;
		record->session = session;
		record->pid = eventlog_current_pid(subscriber->pid_namespace);
		record->tid = eventlog_current_tid(subscriber->pid_namespace);
		memcpy(record + 1, payload, bytes);
		if (eventlog_ring_commit(&cpu_ring->ring, &slot))
			eventlog_subscriber_wake(cpu_ring);
	}
out:
	preempt_enable_notrace();
}
