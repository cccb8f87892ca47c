/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subscribers: a file's rings, its rules, its waiting.
 *
 * The rule list and the membership in the domain are under domain->lock.  The
 * rings appear once per CPU and stay until the subscriber is freed; writers and
 * mappings find them with an acquire load.  A subscriber is freed after it was
 * taken out of every event's wanted array and an RCU grace period has passed.
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
#include <linux/xarray.h>
#include <uapi/linux/eventlog.h>

#include "ring/floor.h"
#include "ring/ring.h"

struct eventlog_callback;
struct eventlog_domain;
struct eventlog_event;
struct eventlog_link;
struct eventlog_subscriber_rule;

/**
 * struct eventlog_cpu_ring - a ring with what the kernel adds to the core
 * @ring: the core
 * @wake: wakes pollers, from whatever context the writer is in
 * @subscriber: whose it is
 * @pages: the mapped pages: header, consumer page, data
 * @page_count: their number
 * @address: where the kernel sees them, contiguous
 */
struct eventlog_cpu_ring {
	struct eventlog_ring ring;
	struct irq_work wake;
	struct eventlog_subscriber *subscriber;
	struct page **pages;
	unsigned int page_count;
	void *address;
};

/**
 * struct eventlog_subscriber - see the top of the file
 * @rings: by CPU, cpu_count entries, NULL for a CPU that was never online;
 *	NULL as a whole for a subscriber without rings
 * @callback: of an in-kernel subscriber, else NULL
 * @calling: of a callback, on each CPU: the contexts it is being called in
 * @pid_namespace: in whose numbers pids are delivered
 * @floor: no later record's time is before this; set by FLUSH
 * @poller: somebody may be waiting
 * @paused: nothing is written to the rings
 * @lost: events lost where no ring could count them, by cause
 * @wait: pollers
 * @recheck: looks once more, a jiffy after a poller saw nothing
 * @watermark: bytes in a ring that make it readable, at least 1
 * @cpu_count: possible CPUs
 * @ring_bytes: data bytes of a ring
 * @sub_buffer_bytes: of a ring
 * @ring_pages: pages of a ring
 * @overwrite: mode
 * @generation: counts rings that appeared
 * @hotplug_node: CPU hotplug instance
 * @domain: its domain
 * @node: in the domain's subscribers
 * @sequence: position among all subscribers there ever were in the domain
 * @rules: struct eventlog_subscriber_rule
 * @rule_count: their number
 * @next_rule_id: id of the next rule; ids are not reused
 * @links: struct eventlog_link by descriptor
 * @flush_lock: serialises FLUSH
 * @pid: process that subscribed, as init sees it
 * @comm: its name
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
	u32 ring_bytes;
	u32 sub_buffer_bytes;
	unsigned int ring_pages;
	bool overwrite;
	u32 generation;
	struct hlist_node hotplug_node;

	struct eventlog_domain *domain;
	struct list_head node;
	u64 sequence;
	struct list_head rules;
	unsigned int rule_count;
	u32 next_rule_id;
	struct xarray links;
	struct mutex flush_lock;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/* Of every mapping of the device: neither moved, grown nor cut. */
extern const struct vm_operations_struct eventlog_vm_ops;

/**
 * eventlog_subscriber_init() - once, at load
 * @ring_pages_max: how many pages all rings together may take
 * @rules_max: rules one subscriber may have
 * @rings_locked: rings are written under a lock
 *
 * Return: 0 or the hotplug machinery's error.
 */
int eventlog_subscriber_init(unsigned long ring_pages_max, unsigned int rules_max,
			     bool rings_locked);

/**
 * eventlog_subscriber_exit() - once, at unload
 */
void eventlog_subscriber_exit(void);

/**
 * eventlog_subscriber_new() - make a subscriber as asked
 * @domain: unlocked
 * @request: the ioctl's argument; results are filled in
 *
 * Process context; sleeps.
 *
 * Return: the subscriber, a member of the domain, or ERR_PTR: -EINVAL, -E2BIG,
 * -ENOMEM, -EMFILE (too many subscribers), -EINTR.
 */
struct eventlog_subscriber *eventlog_subscriber_new(struct eventlog_domain *domain,
						    struct eventlog_subscribe *request);

/**
 * eventlog_subscriber_free() - end a subscriber
 * @subscriber: that no other thread can call into any more
 *
 * Process context; sleeps for an RCU grace period.
 */
void eventlog_subscriber_free(struct eventlog_subscriber *subscriber);

/**
 * eventlog_subscriber_new_callback() - make an in-kernel subscriber
 * @domain: unlocked
 * @callback: whose deliver() is called
 *
 * Process context.
 *
 * Return: the subscriber, a member of the domain, or ERR_PTR: -ENOMEM, -EMFILE.
 */
struct eventlog_subscriber *eventlog_subscriber_new_callback(struct eventlog_domain *domain,
							     struct eventlog_callback *callback);

/* How a subscriber is served; in this order they stand in an event's wanted array. */
enum eventlog_subscriber_kind {
	EVENTLOG_SUBSCRIBER_RINGS,
	EVENTLOG_SUBSCRIBER_CALLBACK,
	EVENTLOG_SUBSCRIBER_PASSIVE,	/* only keeps events enabled */
	EVENTLOG_SUBSCRIBER_KINDS,
};

/**
 * eventlog_subscriber_kind() - how is it served
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
 * eventlog_subscriber_has_rings() - has it rings
 * @subscriber: the subscriber
 */
static inline bool eventlog_subscriber_has_rings(const struct eventlog_subscriber *subscriber)
{
	return subscriber->rings;
}

/**
 * eventlog_subscriber_ring() - the ring of a CPU
 * @subscriber: the subscriber
 * @cpu: any number
 *
 * Any context.
 *
 * Return: the ring, or NULL when there is none.
 */
static inline struct eventlog_cpu_ring *
eventlog_subscriber_ring(const struct eventlog_subscriber *subscriber, unsigned int cpu)
{
	if (!subscriber->rings || cpu >= subscriber->cpu_count)
		return NULL;
	cpu = array_index_nospec(cpu, subscriber->cpu_count);
	return smp_load_acquire(&subscriber->rings[cpu]);
}

/**
 * eventlog_subscriber_link() - what the subscriber keeps of an event
 * @subscriber: its domain locked
 * @event: the event
 * @make: make it when there is none
 *
 * Return: the link, alive until the subscriber is freed or the definition
 * forgotten, or NULL.
 */
struct eventlog_link *eventlog_subscriber_link(struct eventlog_subscriber *subscriber,
					       const struct eventlog_event *event, bool make);

/**
 * eventlog_subscribers_unlink() - a definition is forgotten: so is what subscribers keep of it
 * @event: its domain locked; writers may still be using the links, in RCU sections
 */
void eventlog_subscribers_unlink(const struct eventlog_event *event);

/**
 * eventlog_subscriber_oldest() - the one open for longest
 * @domain: locked
 *
 * Return: it, or NULL.
 */
struct eventlog_subscriber *eventlog_subscriber_oldest(struct eventlog_domain *domain);

/**
 * eventlog_subscriber_rule_add() - RULE_ADD
 * @subscriber: the subscriber
 * @request: the ioctl's argument; rule_id is filled in
 * @provider: glob, copied
 * @event: glob, copied
 *
 * Process context; sleeps, neither file nor domain locked.  On return kernel
 * providers have been told, and have emitted their rundowns.
 *
 * Return: 0, -EINVAL, -EMFILE (too many rules), -ENOMEM.
 */
int eventlog_subscriber_rule_add(struct eventlog_subscriber *subscriber,
				 struct eventlog_rule *request, const char *provider,
				 const char *event);

/**
 * eventlog_subscriber_rule_delete() - RULE_DEL
 * @subscriber: the subscriber
 * @rule_id: from RULE_ADD
 *
 * Process context; sleeps for an RCU grace period: nothing is delivered by the
 * rule afterwards.
 *
 * Return: 0 or -ENOENT.
 */
int eventlog_subscriber_rule_delete(struct eventlog_subscriber *subscriber, u32 rule_id);

/**
 * eventlog_subscriber_flush() - FLUSH
 * @subscriber: the subscriber
 * @time: set to T0; no record before it will appear later
 *
 * Process context; sleeps for an RCU grace period.
 *
 * Return: 0, -EINTR (fatal signal), -ENOMEM.
 */
int eventlog_subscriber_flush(struct eventlog_subscriber *subscriber, u64 *time);

/**
 * eventlog_subscriber_pause() - PAUSE
 * @subscriber: the subscriber
 * @paused: stop, or resume
 *
 * Process context; to stop, sleeps for an RCU grace period: no writer is in the
 * rings afterwards.
 */
void eventlog_subscriber_pause(struct eventlog_subscriber *subscriber, bool paused);

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
 * @vma: a shared mapping, its PROT_WRITE not yet judged
 *
 * Takes no lock of ours (the caller holds mmap_lock).
 *
 * Return: 0, -EINVAL (not exactly a ring or a consumer page), -ENXIO (a CPU
 * without ring), -EPERM (writable where that is not allowed).
 */
int eventlog_subscriber_mmap(struct eventlog_subscriber *subscriber, struct vm_area_struct *vma);

/**
 * eventlog_subscriber_wake() - after a commit by the outermost writer
 * @cpu_ring: the ring written to
 *
 * Any context, preemption off.  Costs a load when nobody waits.
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
