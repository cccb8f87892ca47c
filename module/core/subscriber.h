/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subscribers: rings, rules, and waiting for events.
 *
 * domain->lock protects the list of rules and the membership in the domain.  The
 * ring of a CPU is published once and stays until the subscriber is freed.  Writers
 * and mappings find it with an acquire load.  A subscriber that ends is removed from
 * the listeners of all events; one RCU grace period later it is freed.
 */
#ifndef EVENTLOG_SUBSCRIBER_H
#define EVENTLOG_SUBSCRIBER_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventlog.h>

#include "core/comms.h"
#include "core/pages.h"
#include "core/types.h"
#include "ring/floor.h"
#include "ring/ring.h"

struct eventlog_callback;
struct mem_cgroup;

/**
 * struct eventlog_cpu_ring - the ring of one CPU, or of one shard
 * @ring: the ring itself, see ring/ring.h
 * @wake: wakes pollers; the writer may be in any context
 * @comms: names of the threads whose records are in the ring
 * @subscriber: its owner
 * @pages: header, consumer page, data
 */
struct eventlog_cpu_ring {
	struct eventlog_ring ring;
	struct irq_work wake;
	struct eventlog_comms comms;
	struct eventlog_subscriber *subscriber;
	struct eventlog_pages pages;
};

/**
 * struct eventlog_subscriber - see the top of the file
 * @rings: by CPU, then by shard, @ring_count entries; an entry is NULL for a CPU that
 *	was never online, or got no memory.  NULL for a subscriber without rings
 * @callback: the callback of an in-kernel subscriber, or NULL
 * @calling: per CPU: mask of the contexts in which @callback is running
 * @pid_namespace: pids and tids are delivered as this namespace sees them
 * @floor: no later record has a time before this; set by FLUSH
 * @poller: a task may be waiting in poll()
 * @paused: nothing is written to the rings
 * @lost: events lost where no ring could count them, by cause
 * @wait: pollers
 * @recheck: timer that checks the rings again, one jiffy after a poller found nothing
 * @watermark: a ring with this many bytes is readable; at least 1
 * @cpu_count: possible CPUs
 * @shard_count: the domain's shards; 0: the subscriber has no shard rings
 * @ring_count: the sum of both
 * @ring_bytes: data bytes of a ring
 * @sub_buffer_bytes: bytes of a sub-buffer
 * @ring_pages: pages of a ring
 * @user: the user that its rings count for, with a reference, or NULL
 * @prepaid_bytes: charged to it for rings that are not made yet
 * @overwrite: rings overwrite their oldest records when they are full
 * @generation: incremented whenever a ring appears
 * @hotplug_node: CPU hotplug instance
 * @missing: bits of CPUs that @fill makes rings for
 * @fill: makes rings of CPUs that come online
 * @memcg: memory cgroup that the rings are charged to, with a reference, or NULL
 * @domain: its domain
 * @node: in the domain's subscribers
 * @sequence: its number among all subscribers the domain ever had
 * @rules: struct eventlog_subscriber_rule
 * @rule_count: their number
 * @in_time: how many rules it had added when producers were no longer asked to leave; UINT_MAX:
 *	they still are; 0: it has subscribed later.  See eventlog_subscriber_missed(); under the
 *	domain's lock
 * @next_rule_id: id of the next rule; ids are not reused; under @update_lock, read without it
 * @filtered: what filters of deleted rules have rejected
 * @missed_event: descriptor of the newest event that it does not get, or not all of, because
 *	there was no memory; 0: there is none
 * @unfit_event: descriptor of an event that is being made and that a rule has too many terms for;
 *	0: there is none
 * @stats: struct eventlog_event_stats, those of events of kernel providers first
 * @flush_lock: serialises FLUSH
 * @pid: the process that subscribed, with a reference; NULL: a callback
 * @comm: its name, or the name of the callback
 */
struct eventlog_subscriber {
	struct eventlog_cpu_ring **rings;
	struct eventlog_callback *callback;
	u8 __percpu *calling;
	struct pid_namespace *pid_namespace;
	struct eventlog_floor floor;
	u32 poller;
	u32 paused;

	atomic_long_t lost[EVENTLOG_LOST_CAUSES] ____cacheline_aligned;
	wait_queue_head_t wait;
	struct timer_list recheck;
	u32 watermark;
	unsigned int cpu_count;
	unsigned int shard_count;
	unsigned int ring_count;
	u32 ring_bytes;
	u32 sub_buffer_bytes;
	unsigned int ring_pages;
	struct eventlog_user *user;
	unsigned long prepaid_bytes;
	bool overwrite;
	u32 generation;
	struct hlist_node hotplug_node;
	unsigned long *missing;
	struct work_struct fill;
	struct mem_cgroup *memcg;

	struct eventlog_domain *domain;
	struct list_head node;
	u64 sequence;
	struct list_head rules;
	unsigned int rule_count;
	unsigned int in_time;
	u32 next_rule_id;
	struct eventlog_filter_counts filtered;
	u32 missed_event;
	u32 unfit_event;
	struct list_head stats;
	struct mutex flush_lock;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
};

/* Writers of rings take a lock.  Constant after load. */
extern bool eventlog_rings_locked;

/* For all mappings of the device: a mapping cannot be moved, grown or split. */
extern const struct vm_operations_struct eventlog_vm_ops;

/**
 * eventlog_subscriber_init() - once, at load
 * @rules_max: limit of the rules of one subscriber
 * @rings_locked: writers of rings take a lock
 *
 * Return: 0 or an error of cpuhp_setup_state_multi().
 */
int eventlog_subscriber_init(unsigned int rules_max, bool rings_locked);

/**
 * eventlog_subscriber_exit() - once, at unload
 */
void eventlog_subscriber_exit(void);

/**
 * eventlog_subscriber_new() - SUBSCRIBE
 * @domain: unlocked
 * @user: whose rings they are; NULL: one without limits
 * @request: the ioctl's argument; results are filled in
 *
 * Process context; sleeps.
 *
 * Return: the subscriber, a member of the domain, or ERR_PTR: -EINVAL, -E2BIG,
 * -ENOMEM, -EDQUOT (too much memory for rings), -EMFILE (too many subscribers), -ENODEV,
 * -ESHUTDOWN (subscribers are asked to leave; finding that out is cheap), -EINTR.
 */
struct eventlog_subscriber *eventlog_subscriber_new(struct eventlog_domain *domain,
						    struct eventlog_user *user,
						    struct eventlog_subscribe *request);

/**
 * eventlog_subscriber_free() - end a subscriber
 * @subscriber: the subscriber; the caller has the only reference
 *
 * Process context; sleeps for an RCU grace period.
 */
void eventlog_subscriber_free(struct eventlog_subscriber *subscriber);

/**
 * eventlog_subscriber_new_callback() - make an in-kernel subscriber
 * @domain: unlocked
 * @callback: its deliver() is called for each event
 *
 * Process context.
 *
 * Return: the subscriber, a member of the domain, or ERR_PTR: -ENOMEM, -EMFILE.
 */
struct eventlog_subscriber *eventlog_subscriber_new_callback(struct eventlog_domain *domain,
							     struct eventlog_callback *callback);

/* How events reach a subscriber, in the order of the listeners of an event. */
enum eventlog_subscriber_kind {
	EVENTLOG_SUBSCRIBER_RINGS,
	EVENTLOG_SUBSCRIBER_CALLBACK,
	EVENTLOG_SUBSCRIBER_PASSIVE,	/* only keeps events enabled */
	EVENTLOG_SUBSCRIBER_KINDS,
};

/**
 * eventlog_subscriber_kind() - how do events reach a subscriber
 * @subscriber: the subscriber
 */
static inline enum eventlog_subscriber_kind
eventlog_subscriber_kind(const struct eventlog_subscriber *subscriber)
{
	if (subscriber->rings)
		return EVENTLOG_SUBSCRIBER_RINGS;
	return subscriber->callback ? EVENTLOG_SUBSCRIBER_CALLBACK : EVENTLOG_SUBSCRIBER_PASSIVE;
}

/**
 * eventlog_subscriber_has_rings() - does a subscriber have rings
 * @subscriber: the subscriber
 */
static inline bool eventlog_subscriber_has_rings(const struct eventlog_subscriber *subscriber)
{
	return subscriber->rings;
}

/**
 * eventlog_subscriber_ring() - a ring of a subscriber
 * @subscriber: the subscriber
 * @index: any number; the number of a CPU, or a shard behind those
 *
 * Any context.
 *
 * Return: the ring, or NULL when there is none.
 */
static inline struct eventlog_cpu_ring *
eventlog_subscriber_ring(const struct eventlog_subscriber *subscriber, unsigned int index)
{
	if (!subscriber->rings || index >= subscriber->ring_count)
		return NULL;
	index = array_index_nospec(index, subscriber->ring_count);
	return smp_load_acquire(&subscriber->rings[index]);
}

/**
 * eventlog_subscriber_rule_add() - RULE_ADD
 * @subscriber: the subscriber
 * @request: the ioctl's argument; rule_id is filled in
 * @expression: the filter, valid, or NULL; the rule takes a reference
 * @provider: glob, copied
 * @event: glob, copied
 *
 * Process context; sleeps; neither file nor domain locked.  On return kernel
 * providers have been notified and have dumped their state.
 *
 * Return: 0, -EINVAL, -EMFILE (too many rules), -EDQUOT (too much memory for what rules
 * match), -EINTR (a fatal signal), -ENODEV (the domain is dead), -ENOMEM.
 */
int eventlog_subscriber_rule_add(struct eventlog_subscriber *subscriber,
				 struct eventlog_rule *request,
				 struct eventlog_expression *expression, const char *provider,
				 const char *event);

/**
 * eventlog_subscriber_rule_delete() - RULE_DEL
 * @subscriber: the subscriber
 * @rule_id: from RULE_ADD
 * @killable: a fatal signal may end the wait for other changes
 *
 * Process context; sleeps for an RCU grace period, after which the rule delivers
 * nothing.  Does not drain producer rings: what is in them may be lost for the rule.
 *
 * Return: 0, -ENOENT, or -EINTR: a fatal signal arrived, and the rule stays.
 */
int eventlog_subscriber_rule_delete(struct eventlog_subscriber *subscriber, u32 rule_id,
				    bool killable);

/**
 * eventlog_subscribers_wake() - have all pollers look again
 * @domain: locked
 */
void eventlog_subscribers_wake(struct eventlog_domain *domain);

/**
 * eventlog_subscribers_end() - wake up the pollers of a dead domain, with POLLHUP
 * @domain: dead, not locked
 *
 * Waits until no writer uses the old listeners: the rings do not change any more.
 */
void eventlog_subscribers_end(struct eventlog_domain *domain);

/**
 * eventlog_subscriber_flush() - FLUSH
 * @subscriber: the subscriber
 * @time: set to the floor: no record that appears later has a time before it
 *
 * Process context; sleeps for an RCU grace period.
 *
 * Return: 0, -EINTR (fatal signal), -ENOMEM.
 */
int eventlog_subscriber_flush(struct eventlog_subscriber *subscriber, u64 *time);

/**
 * eventlog_subscriber_pause() - PAUSE
 * @subscriber: the subscriber
 * @paused: pause, or resume
 *
 * Process context.  Pausing sleeps for an RCU grace period, after which no writer
 * is in the rings.
 *
 * Return: 0, or -EINTR: a fatal signal arrived, and nothing has changed.
 */
int eventlog_subscriber_pause(struct eventlog_subscriber *subscriber, bool paused);

/**
 * eventlog_subscriber_stat() - STAT
 * @subscriber: the subscriber
 * @stat: cpu and descriptor are read, results filled in
 *
 * Return: 0, -EINVAL, -ENXIO (no such ring), -ENOENT (no such event).
 */
int eventlog_subscriber_stat(struct eventlog_subscriber *subscriber, struct eventlog_stat *stat);

/**
 * eventlog_subscriber_poll() - poll()
 * @subscriber: the subscriber
 * @file: its file
 * @table: as given to the file operation
 */
__poll_t eventlog_subscriber_poll(struct eventlog_subscriber *subscriber, struct file *file,
				  struct poll_table_struct *table);

/**
 * eventlog_subscriber_mmap() - map a ring or its consumer page
 * @subscriber: the subscriber
 * @vma: a shared mapping; the caller has not checked whether it may be writable
 *
 * Takes no lock of this module, because the caller holds mmap_lock.
 *
 * Return: 0, -EINVAL (not exactly a ring or a consumer page), -ENXIO (a CPU
 * without ring), -EPERM (it must not be writable).
 */
int eventlog_subscriber_mmap(struct eventlog_subscriber *subscriber, struct vm_area_struct *vma);

/**
 * eventlog_subscriber_wake() - wake pollers after a commit by the outermost writer
 * @cpu_ring: the ring written to
 *
 * Any context, preemption off.  Costs one load if there is no poller.
 */
static __always_inline void eventlog_subscriber_wake(struct eventlog_cpu_ring *cpu_ring)
{
	const struct eventlog_subscriber *subscriber = cpu_ring->subscriber;

	if (likely(!READ_ONCE(subscriber->poller)))
		return;
	if (eventlog_ring_unread(&cpu_ring->ring) >= subscriber->watermark ||
	    eventlog_ring_unseen_loss(&cpu_ring->ring))
		irq_work_queue(&cpu_ring->wake);
}

#endif /* EVENTLOG_SUBSCRIBER_H */
