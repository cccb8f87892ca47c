// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subscribers: see subscriber.h.
 */
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/eventlog.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/domain.h"
#include "core/enable.h"
#include "core/event.h"
#include "core/expression.h"
#include "core/joined.h"
#include "core/leave.h"
#include "core/ops.h"
#include "core/provider.h"
#include "core/sink.h"
#include "core/subscriber.h"
#include "core/user.h"
#include "memory.h"

/* Pages before the data: the header and the consumer page. */
#define EVENTLOG_RING_HEAD_PAGES 2

static enum cpuhp_state eventlog_hotplug_state;
static unsigned int eventlog_rules_max;
bool eventlog_rings_locked;

/* ---- waiting ---- */

static bool eventlog_subscriber_readable(const struct eventlog_subscriber *subscriber)
{
	const struct eventlog_cpu_ring *cpu_ring;
	unsigned int i;

	for (i = 0; i < subscriber->ring_count; i++) {
		cpu_ring = eventlog_subscriber_ring(subscriber, i);
		if (cpu_ring && (eventlog_ring_unread(&cpu_ring->ring) >= subscriber->watermark ||
				 eventlog_ring_unseen_loss(&cpu_ring->ring)))
			return true;
	}
	return false;
}

static void eventlog_subscriber_wake_all(struct eventlog_subscriber *subscriber)
{
	/* Clear @poller before the wake-up: a poller that checks later sets it again. */
	WRITE_ONCE(subscriber->poller, 0);
	smp_mb();
	wake_up_all(&subscriber->wait);
}

static void eventlog_ring_wake_work(struct irq_work *work)
{
	struct eventlog_cpu_ring *cpu_ring = container_of(work, struct eventlog_cpu_ring, wake);

	eventlog_subscriber_wake_all(cpu_ring->subscriber);
}

static void eventlog_subscriber_recheck(struct timer_list *timer)
{
	struct eventlog_subscriber *subscriber = timer_container_of(subscriber, timer, recheck);

	if (eventlog_subscriber_readable(subscriber))
		eventlog_subscriber_wake_all(subscriber);
}

__poll_t eventlog_subscriber_poll(struct eventlog_subscriber *subscriber, struct file *file,
				  struct poll_table_struct *table)
{
	__poll_t events = 0;

	poll_wait(file, &subscriber->wait, table);
	/* eventlog_subscribers_end() sets it before it wakes up all pollers. */
	if (smp_load_acquire(&subscriber->domain->ended))
		return EPOLLHUP | (eventlog_subscriber_readable(subscriber) ?
				   EPOLLIN | EPOLLRDNORM : 0);
	/* eventlog_domain_leave() sets it before it wakes up all pollers. */
	if (eventlog_domain_asks(subscriber->domain, EVENTLOG_LEAVE_SUBSCRIBERS))
		events = EPOLLRDHUP;
	if (!eventlog_subscriber_has_rings(subscriber))
		return events;
	WRITE_ONCE(subscriber->poller, 1);
	smp_mb();
	if (eventlog_subscriber_readable(subscriber))
		return events | EPOLLIN | EPOLLRDNORM;
	/*
	 * A writer has no full barrier between publishing its record and reading
	 * @poller.  So the writer may have missed this poller, and this poller may
	 * have missed the record.  The record is visible one jiffy later.
	 */
	mod_timer(&subscriber->recheck, jiffies + 1);
	return events;
}

void eventlog_subscribers_wake(struct eventlog_domain *domain)
{
	struct eventlog_subscriber *subscriber;

	lockdep_assert_held(&domain->lock);
	list_for_each_entry(subscriber, &domain->subscribers, node)
		eventlog_subscriber_wake_all(subscriber);
}

void eventlog_subscribers_end(struct eventlog_domain *domain)
{
	unsigned int count;

	/* No more can come. */
	eventlog_domain_lock(domain);
	count = domain->subscriber_count;
	eventlog_domain_unlock(domain);
	if (!count)
		return;
	/* Writers that found the old listeners are done after a grace period. */
	synchronize_rcu();
	smp_store_release(&domain->ended, true);
	eventlog_domain_lock(domain);
	eventlog_subscribers_wake(domain);
	eventlog_domain_unlock(domain);
}

/* ---- rings ---- */

static unsigned long eventlog_subscriber_ring_bytes(const struct eventlog_subscriber *subscriber)
{
	return (unsigned long)subscriber->ring_pages << PAGE_SHIFT;
}

/* SUBSCRIBE has charged rings for all CPUs that were online. */
static bool eventlog_subscriber_charge_ring(struct eventlog_subscriber *subscriber)
{
	unsigned long bytes = eventlog_subscriber_ring_bytes(subscriber);

	if (subscriber->prepaid_bytes < bytes)
		return eventlog_user_charge(subscriber->user, EVENTLOG_QUOTA_RING_BYTES, bytes);
	subscriber->prepaid_bytes -= bytes;
	return true;
}

static void eventlog_cpu_ring_free(struct eventlog_cpu_ring *cpu_ring)
{
	struct eventlog_subscriber *subscriber = cpu_ring->subscriber;

	eventlog_pages_free(&cpu_ring->pages);
	eventlog_user_uncharge(subscriber->user, EVENTLOG_QUOTA_RING_BYTES,
			       eventlog_subscriber_ring_bytes(subscriber));
	eventlog_free(cpu_ring);
}

/* @cpu: EVENTLOG_CPU_UNKNOWN: the ring of a shard. */
static struct eventlog_cpu_ring *eventlog_cpu_ring_new(struct eventlog_subscriber *subscriber,
						       unsigned int cpu)
{
	int node = cpu == EVENTLOG_CPU_UNKNOWN ? NUMA_NO_NODE : cpu_to_node(cpu);
	struct eventlog_cpu_ring *cpu_ring;

	if (!eventlog_subscriber_charge_ring(subscriber))
		return NULL;
	cpu_ring = eventlog_alloc(sizeof(*cpu_ring));
	if (!cpu_ring) {
		eventlog_user_uncharge(subscriber->user, EVENTLOG_QUOTA_RING_BYTES,
				       eventlog_subscriber_ring_bytes(subscriber));
		return NULL;
	}
	cpu_ring->subscriber = subscriber;
	if (eventlog_pages_alloc(&cpu_ring->pages, subscriber->ring_pages, node,
				 subscriber->user)) {
		eventlog_cpu_ring_free(cpu_ring);
		return NULL;
	}
	init_irq_work(&cpu_ring->wake, eventlog_ring_wake_work);
	eventlog_ring_init(&cpu_ring->ring, cpu_ring->pages.address, PAGE_SIZE,
			   subscriber->ring_bytes, subscriber->sub_buffer_bytes, cpu,
			   subscriber->overwrite, eventlog_rings_locked);
	return cpu_ring;
}

/*
 * The prepare stage of CPU hotplug, before the CPU runs any code.  All users of CPU hotplug
 * wait meanwhile, so the ring is allocated by a work item.  A CPU that was online before
 * still has its ring.
 */
static int eventlog_subscriber_cpu_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct eventlog_subscriber *subscriber =
		hlist_entry(node, struct eventlog_subscriber, hotplug_node);

	if (cpu >= subscriber->cpu_count || smp_load_acquire(&subscriber->rings[cpu]))
		return 0;
	set_bit(cpu, subscriber->missing);
	schedule_work(&subscriber->fill);
	return 0;
}

/*
 * Allocates rings of CPUs that have come online, charged to the memory cgroup of the process
 * that has subscribed.  Until then, or if there is no memory or the user is at its limit, each
 * event of the CPU is counted as lost.
 */
static void eventlog_subscriber_fill(struct work_struct *work)
{
	struct eventlog_subscriber *subscriber =
		container_of(work, struct eventlog_subscriber, fill);
	struct mem_cgroup *previous = set_active_memcg(subscriber->memcg);
	struct eventlog_cpu_ring *cpu_ring;
	unsigned int cpu;

	for_each_set_bit(cpu, subscriber->missing, subscriber->cpu_count) {
		clear_bit(cpu, subscriber->missing);
		cpu_ring = subscriber->rings[cpu] ? NULL : eventlog_cpu_ring_new(subscriber, cpu);
		if (!cpu_ring)
			continue;
		smp_store_release(&subscriber->rings[cpu], cpu_ring);
		WRITE_ONCE(subscriber->generation, subscriber->generation + 1);
	}
	set_active_memcg(previous);
}

/* ---- mapping ---- */

static int eventlog_vma_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int eventlog_vma_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

const struct vm_operations_struct eventlog_vm_ops = {
	.may_split = eventlog_vma_split,
	.mremap = eventlog_vma_mremap,
};

int eventlog_subscriber_mmap(struct eventlog_subscriber *subscriber, struct vm_area_struct *vma)
{
	unsigned long pages = vma_pages(vma);
	unsigned int first;
	struct eventlog_cpu_ring *cpu_ring;
	bool consumer_page;

	if (!eventlog_subscriber_has_rings(subscriber))
		return -EINVAL;
	/* These are page offsets, which cannot overflow. */
	first = vma->vm_pgoff % subscriber->ring_pages;
	if (vma->vm_pgoff / subscriber->ring_pages >= subscriber->ring_count)
		return -EINVAL;
	consumer_page = first == 1 && pages == 1;
	if (!consumer_page && (first || pages != subscriber->ring_pages))
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE && !consumer_page)
		return -EPERM;
	cpu_ring = eventlog_subscriber_ring(subscriber, vma->vm_pgoff / subscriber->ring_pages);
	if (!cpu_ring)
		return -ENXIO;

	if (!consumer_page)
		vm_flags_clear(vma, VM_MAYWRITE);
	return eventlog_pages_map(&cpu_ring->pages, first, vma);
}

/* ---- rules ---- */

static bool eventlog_rule_valid(const struct eventlog_rule *request, const char *provider,
				const char *event)
{
	u32 flags = request->flags;

	if (flags & ~(EVENTLOG_RULE_SESSION | EVENTLOG_RULE_PID | EVENTLOG_RULE_CGROUP))
		return false;
	if (request->reserved || (request->cgroup && !(flags & EVENTLOG_RULE_CGROUP)))
		return false;
	if (request->session && !(flags & EVENTLOG_RULE_SESSION))
		return false;
	if (!request->pid != !(flags & EVENTLOG_RULE_PID))
		return false;
	if (request->level > EVENTLOG_LEVEL_VERBOSE)
		return false;
	return *provider && *event;
}

/* Allocates a rule that is in no list. */
static struct eventlog_subscriber_rule *
eventlog_rule_new(struct eventlog_subscriber *subscriber, const struct eventlog_rule *request,
		  const struct eventlog_cgroup *cgroup, struct eventlog_expression *expression,
		  const char *provider, const char *event)
{
	size_t provider_bytes = strlen(provider) + 1, event_bytes = strlen(event) + 1;
	struct eventlog_subscriber_rule *rule;
	char *text;

	rule = eventlog_alloc(sizeof(*rule) + provider_bytes + event_bytes);
	if (!rule)
		return NULL;
	rule->subscriber = subscriber;
	rule->place.rule = rule;
	INIT_LIST_HEAD(&rule->bindings);
	refcount_set(&rule->users, 1);
	text = (char *)(rule + 1);
	rule->provider = memcpy(text, provider, provider_bytes);
	rule->event = memcpy(text + provider_bytes, event, event_bytes);
	rule->flags = request->flags;
	rule->keywords_any = request->keywords_any;
	rule->keywords_all = request->keywords_all;
	rule->session = request->session;
	rule->pid = request->pid;
	rule->cgroup = *cgroup;
	/* When an event of a producer ring is delivered, its thread may have ended. */
	rule->sync = request->flags & EVENTLOG_RULE_CGROUP;
	rule->level = request->level;
	rule->sample = request->sample > 1 ? request->sample : 0;
	if (eventlog_sinks_charged(subscriber->domain))
		rule->memcg = get_mem_cgroup_from_mm(current->mm);
	if (!expression)
		return rule;

	rule->counts = alloc_percpu_gfp(struct eventlog_filter_counts,
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!rule->counts) {
		mem_cgroup_put(rule->memcg);
		eventlog_free(rule);
		return NULL;
	}
	refcount_inc(&expression->users);
	rule->expression = expression;
	rule->sync |= eventlog_expression_names(expression, "cpu") ||
		      eventlog_expression_names(expression, "comm");
	return rule;
}

static bool eventlog_subscriber_takes_rules(const struct eventlog_subscriber *subscriber)
{
	return subscriber->rule_count < eventlog_rules_max && subscriber->next_rule_id != U32_MAX;
}

/* Adds what a rule's filter has rejected since the last time to the subscriber's total. */
static void eventlog_subscriber_fold(struct eventlog_subscriber *subscriber,
				     struct eventlog_subscriber_rule *rule)
{
	struct eventlog_filter_counts counts = eventlog_rule_counts(rule);

	lockdep_assert_held(&subscriber->domain->lock);
	subscriber->filtered.rejected += counts.rejected - rule->folded.rejected;
	subscriber->filtered.incompatible += counts.incompatible - rule->folded.incompatible;
	rule->folded = counts;
}

int eventlog_subscriber_rule_add(struct eventlog_subscriber *subscriber,
				 struct eventlog_rule *request,
				 struct eventlog_expression *expression, const char *provider,
				 const char *event)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_subscriber_rule *rule;
	struct eventlog_cgroup cgroup = {};
	int ret;

	if (!eventlog_rule_valid(request, provider, event))
		return -EINVAL;
	ret = request->flags & EVENTLOG_RULE_CGROUP ?
	      eventlog_cgroup_get(request->cgroup, &cgroup) : 0;
	if (ret)
		return ret;
	if (expression && eventlog_joined_prepare())
		return -ENOMEM;
	/* The rule applies to events that are emitted from now on. */
	ret = eventlog_mapped_ops->drain(domain);
	if (ret)
		return ret;
	rule = eventlog_rule_new(subscriber, request, &cgroup, expression, provider, event);
	if (!rule)
		return -ENOMEM;

	/* Rules are added and removed with update_lock: their number does not change. */
	ret = eventlog_update_begin_killable(domain);
	if (ret) {
		eventlog_rule_put(rule);
		return ret;
	}
	if (!eventlog_subscriber_takes_rules(subscriber)) {
		eventlog_update_end(domain, NULL, NULL);
		eventlog_rule_put(rule);
		return -EMFILE;
	}
	rule->id = subscriber->next_rule_id;
	ret = eventlog_enable_rule_add(subscriber, rule);
	if (!ret) {
		WRITE_ONCE(subscriber->next_rule_id, subscriber->next_rule_id + 1);
		subscriber->rule_count++;
		WRITE_ONCE(domain->rule_count, domain->rule_count + 1);
		request->rule_id = rule->id;
	}
	eventlog_update_end(domain, subscriber, ret ? NULL : rule);
	if (ret) {
		/* Writers may still be testing the rule. */
		synchronize_rcu();
		eventlog_rule_put(rule);
	}
	return ret;
}

int eventlog_subscriber_rule_delete(struct eventlog_subscriber *subscriber, u32 rule_id,
				    bool killable)
{
	struct eventlog_domain *domain = subscriber->domain;
	struct eventlog_subscriber_rule *rule;

	if (!killable)
		eventlog_update_begin(domain);
	else if (eventlog_update_begin_killable(domain))
		return -EINTR;
	eventlog_domain_lock(domain);
	list_for_each_entry(rule, &subscriber->rules, node) {
		if (rule->id == rule_id)
			goto found;
	}
	eventlog_domain_unlock(domain);
	eventlog_update_end(domain, NULL, NULL);
	return -ENOENT;
found:
	/* With update_lock, the rule stays. */
	eventlog_domain_unlock(domain);
	eventlog_enable_rule_remove(rule);
	eventlog_domain_lock(domain);
	list_del(&rule->node);
	eventlog_subscriber_fold(subscriber, rule);
	subscriber->rule_count--;
	WRITE_ONCE(domain->rule_count, domain->rule_count - 1);
	eventlog_domain_unlock(domain);
	eventlog_update_end(domain, NULL, NULL);
	/* Writers that found the old arrays may still be testing the rule. */
	synchronize_rcu();
	eventlog_domain_lock(domain);
	eventlog_subscriber_fold(subscriber, rule);
	eventlog_domain_unlock(domain);
	eventlog_rule_put(rule);
	return 0;
}

/* ---- flush and counts ---- */

/*
 * A grace period that a task waits for.  A signal may end the wait first, so the task
 * and the RCU callback have a reference each.
 */
struct eventlog_grace {
	struct rcu_head rcu;
	struct completion done;
	refcount_t users;
};

static void eventlog_grace_put(struct eventlog_grace *grace)
{
	if (refcount_dec_and_test(&grace->users))
		eventlog_free(grace);
}

static void eventlog_grace_ended(struct rcu_head *rcu)
{
	struct eventlog_grace *grace = container_of(rcu, struct eventlog_grace, rcu);

	complete(&grace->done);
	eventlog_grace_put(grace);
}

int eventlog_subscriber_flush(struct eventlog_subscriber *subscriber, u64 *time)
{
	struct eventlog_grace *grace = eventlog_alloc(sizeof(*grace));
	u64 now;
	int ret;

	if (!grace)
		return -ENOMEM;
	init_completion(&grace->done);
	refcount_set(&grace->users, 2);

	/* Drain before the floor is raised: the floor would change the times of the events. */
	now = eventlog_ring_clock();
	ret = eventlog_mapped_ops->drain(subscriber->domain);
	if (ret) {
		eventlog_free(grace);
		return ret;
	}
	/* The floor never decreases. */
	mutex_lock(&subscriber->flush_lock);
	now = max(now, eventlog_floor_read(&subscriber->floor));
	eventlog_floor_raise(&subscriber->floor, now);
	mutex_unlock(&subscriber->flush_lock);

	/*
	 * Preemption is off while a writer reads the floor and the clock and
	 * publishes its record.  A writer that began before the floor was raised is
	 * done when the grace period ends.  A writer that began later sees the floor.
	 */
	call_rcu(&grace->rcu, eventlog_grace_ended);
	ret = wait_for_completion_killable(&grace->done) ? -EINTR : 0;
	eventlog_grace_put(grace);
	*time = now;
	return ret;
}

int eventlog_subscriber_pause(struct eventlog_subscriber *subscriber, bool paused)
{
	/* What was emitted so far is delivered, or lost, as the previous call said. */
	int ret = eventlog_mapped_ops->drain(subscriber->domain);

	if (ret)
		return ret;
	WRITE_ONCE(subscriber->paused, paused);
	/* A writer that read the old value keeps preemption off until it is done. */
	if (paused)
		synchronize_rcu();
	return 0;
}

static void eventlog_ring_stat_add(const struct eventlog_ring *ring, struct eventlog_stat *stat)
{
	const struct eventlog_ring_header *header = ring->header;
	unsigned int cause;

	stat->records += eventlog_word_read(&header->records, &header->records_upper);
	stat->bytes += eventlog_word_read(&header->committed, &header->committed_upper);
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		stat->lost[cause] += eventlog_word_read(&header->lost[cause],
							&header->lost_upper[cause]);
}

static int eventlog_subscriber_stat_event(struct eventlog_subscriber *subscriber,
					  struct eventlog_stat *stat)
{
	struct eventlog_domain *domain = subscriber->domain;
	const struct eventlog_event *event;
	const struct eventlog_event_stats *stats = NULL;

	if (stat->ring != EVENTLOG_RINGS_ALL)
		return -EINVAL;
	eventlog_domain_lock(domain);
	event = xa_load(&domain->definitions, stat->descriptor);
	if (event)
		stats = eventlog_event_stats(event, subscriber);
	if (stats) {
		stat->lost[EVENTLOG_LOST_ABORTED] =
			(unsigned long)atomic_long_read(&stats->invalid);
		smp_rmb();	/* as eventlog_emit_invalid() says */
		stat->event_lost = (unsigned long)atomic_long_read(&stats->lost) +
				   eventlog_event_stats_rcu_idle(stats);
	}
	eventlog_domain_unlock(domain);
	return stats ? 0 : -ENOENT;
}

static void eventlog_filter_counts_add(struct eventlog_stat *stat,
				       struct eventlog_filter_counts counts)
{
	stat->rejected += counts.rejected;
	stat->incompatible += counts.incompatible;
}

/* Sets what the filter of a rule has rejected, or with rule_id 0 those of all rules. */
static int eventlog_subscriber_stat_rules(struct eventlog_subscriber *subscriber,
					  struct eventlog_stat *stat)
{
	struct eventlog_domain *domain = subscriber->domain;
	const struct eventlog_subscriber_rule *rule;
	bool found = !stat->rule_id;

	eventlog_domain_lock(domain);
	list_for_each_entry(rule, &subscriber->rules, node) {
		eventlog_domain_work(domain, 1);
		if (stat->rule_id && stat->rule_id != rule->id)
			continue;
		eventlog_filter_counts_add(stat, eventlog_rule_counts(rule));
		found = true;
	}
	if (!stat->rule_id)
		eventlog_filter_counts_add(stat, subscriber->filtered);
	eventlog_domain_unlock(domain);
	return found ? 0 : -ENOENT;
}

int eventlog_subscriber_stat(struct eventlog_subscriber *subscriber, struct eventlog_stat *stat)
{
	const struct eventlog_cpu_ring *cpu_ring;
	unsigned int i, cause;

	stat->generation = READ_ONCE(subscriber->generation);
	if (stat->rule_id && (stat->descriptor || stat->ring != EVENTLOG_RINGS_ALL))
		return -EINVAL;
	if (stat->rule_id)
		return eventlog_subscriber_stat_rules(subscriber, stat);
	if (stat->descriptor)
		return eventlog_subscriber_stat_event(subscriber, stat);
	if (stat->ring != EVENTLOG_RINGS_ALL) {
		cpu_ring = eventlog_subscriber_ring(subscriber, stat->ring);
		if (!cpu_ring)
			return -ENXIO;
		eventlog_ring_stat_add(&cpu_ring->ring, stat);
		return 0;
	}
	for (i = 0; i < subscriber->ring_count; i++) {
		cpu_ring = eventlog_subscriber_ring(subscriber, i);
		if (cpu_ring)
			eventlog_ring_stat_add(&cpu_ring->ring, stat);
	}
	for (cause = 0; cause < EVENTLOG_LOST_CAUSES; cause++)
		stat->lost[cause] += (unsigned long)atomic_long_read(&subscriber->lost[cause]);
	eventlog_domain_lock(subscriber->domain);
	stat->lost[EVENTLOG_LOST_DEPTH] += eventlog_subscriber_rcu_idle(subscriber);
	eventlog_domain_unlock(subscriber->domain);
	return eventlog_subscriber_stat_rules(subscriber, stat);
}

/* ---- life ---- */

static int eventlog_subscribe_check(const struct eventlog_subscribe *request)
{
	u32 sub_buffers = request->sub_buffers ?: 2;

	if (request->flags & ~(EVENTLOG_SUBSCRIBE_OVERWRITE | EVENTLOG_SUBSCRIBE_MAPPED))
		return -EINVAL;
	if (!request->ring_bytes)
		return request->flags || request->watermark || request->sub_buffers ? -EINVAL : 0;
	/* is_power_of_2() takes a long, which may be too small. */
	if (request->ring_bytes & (request->ring_bytes - 1) || sub_buffers < 2 ||
	    sub_buffers > EVENTLOG_SUB_BUFFERS_MAX || !is_power_of_2(sub_buffers))
		return -EINVAL;
	if (request->ring_bytes > EVENTLOG_RING_BYTES_MAX)
		return -E2BIG;
	if ((u32)request->ring_bytes / sub_buffers < PAGE_SIZE ||
	    request->watermark > request->ring_bytes)
		return -EINVAL;
	return 0;
}

/* Frees a subscriber and its rings.  There is no other reference to it. */
static void eventlog_subscriber_release(struct eventlog_subscriber *subscriber)
{
	struct eventlog_subscriber_rule *rule, *next;
	unsigned int i;

	if (subscriber->rings) {
		if (!hlist_unhashed(&subscriber->hotplug_node))
			cpuhp_state_remove_instance_nocalls(eventlog_hotplug_state,
							    &subscriber->hotplug_node);
		cancel_work_sync(&subscriber->fill);
		timer_delete_sync(&subscriber->recheck);
		for (i = 0; i < subscriber->ring_count; i++) {
			if (!subscriber->rings[i])
				continue;
			irq_work_sync(&subscriber->rings[i]->wake);
			eventlog_cpu_ring_free(subscriber->rings[i]);
		}
		eventlog_free(subscriber->rings);
	}
	eventlog_free(subscriber->missing);
	mem_cgroup_put(subscriber->memcg);
	eventlog_user_uncharge(subscriber->user, EVENTLOG_QUOTA_RING_BYTES,
			       subscriber->prepaid_bytes);
	eventlog_user_put(subscriber->user);
	list_for_each_entry_safe(rule, next, &subscriber->rules, node)
		eventlog_rule_put(rule);
	eventlog_subscriber_stats_free(subscriber);
	free_percpu(subscriber->calling);
	put_pid_ns(subscriber->pid_namespace);
	put_pid(subscriber->pid);
	eventlog_free(subscriber);
}

static int eventlog_subscriber_rings_new(struct eventlog_subscriber *subscriber,
					 const struct eventlog_subscribe *request)
{
	unsigned int cpu, i;
	int ret;

	subscriber->ring_bytes = request->ring_bytes;
	subscriber->sub_buffer_bytes = subscriber->ring_bytes / (request->sub_buffers ?: 2);
	subscriber->ring_pages = EVENTLOG_RING_HEAD_PAGES + (request->ring_bytes >> PAGE_SHIFT);
	subscriber->watermark = request->watermark ?: 1;
	subscriber->overwrite = request->flags & EVENTLOG_SUBSCRIBE_OVERWRITE;
	INIT_WORK(&subscriber->fill, eventlog_subscriber_fill);
	subscriber->rings = eventlog_alloc(subscriber->ring_count * sizeof(*subscriber->rings));
	subscriber->missing = eventlog_alloc(BITS_TO_LONGS(subscriber->cpu_count) * sizeof(long));
	if (!subscriber->rings || !subscriber->missing)
		return -ENOMEM;
	/* Before hotplug knows of the subscriber: nothing else waits for the memory. */
	for_each_online_cpu(cpu) {
		subscriber->rings[cpu] = eventlog_cpu_ring_new(subscriber, cpu);
		if (!subscriber->rings[cpu])
			return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
	}
	for (i = subscriber->cpu_count; i < subscriber->ring_count; i++) {
		subscriber->rings[i] = eventlog_cpu_ring_new(subscriber, EVENTLOG_CPU_UNKNOWN);
		if (!subscriber->rings[i])
			return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
	}
	subscriber->memcg = get_mem_cgroup_from_mm(current->mm);
	ret = cpuhp_state_add_instance_nocalls(eventlog_hotplug_state, &subscriber->hotplug_node);
	if (ret)
		return ret;
	/* Those that have come online in between. */
	for_each_online_cpu(cpu)
		eventlog_subscriber_cpu_prepare(cpu, &subscriber->hotplug_node);
	return 0;
}

/* Allocates a subscriber that has no rings and is in no list yet. */
static struct eventlog_subscriber *eventlog_subscriber_make(struct eventlog_domain *domain,
							    struct pid_namespace *namespace)
{
	struct eventlog_subscriber *subscriber = eventlog_alloc(sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	subscriber->domain = domain;
	subscriber->cpu_count = nr_cpu_ids;
	subscriber->ring_count = nr_cpu_ids;
	subscriber->pid_namespace = get_pid_ns(namespace);
	subscriber->next_rule_id = 1;
	init_waitqueue_head(&subscriber->wait);
	timer_setup(&subscriber->recheck, eventlog_subscriber_recheck, 0);
	INIT_LIST_HEAD(&subscriber->rules);
	INIT_LIST_HEAD(&subscriber->stats);
	mutex_init(&subscriber->flush_lock);
	return subscriber;
}

/* @stays: it is in the kernel, and is not asked to leave. */
static int eventlog_subscriber_may_join(const struct eventlog_domain *domain, bool stays)
{
	lockdep_assert_held(&domain->lock);
	if (domain->dead)
		return -ENODEV;
	if (domain->leaving & EVENTLOG_LEAVE_SUBSCRIBERS && !stays)
		return -ESHUTDOWN;
	return domain->subscriber_count < domain->subscribers_max ? 0 : -EMFILE;
}

/* Makes a subscriber a member of its domain. */
static int eventlog_subscriber_join(struct eventlog_subscriber *subscriber)
{
	struct eventlog_domain *domain = subscriber->domain;
	int ret;

	eventlog_domain_lock(domain);
	ret = eventlog_subscriber_may_join(domain, subscriber->callback);
	if (!ret) {
		subscriber->in_time = domain->leaving & EVENTLOG_LEAVE_PRODUCERS ? UINT_MAX : 0;
		subscriber->sequence = domain->subscriber_sequence++;
		list_add_tail(&subscriber->node, &domain->subscribers);
		domain->subscriber_count++;
	}
	eventlog_domain_unlock(domain);
	return ret;
}

/* Charges the rings of all CPUs that are online, and of shards. */
static bool eventlog_subscriber_charge(struct eventlog_subscriber *subscriber,
				       struct eventlog_user *user, u64 ring_bytes)
{
	unsigned long bytes;

	ring_bytes = (ring_bytes + EVENTLOG_RING_HEAD_PAGES * PAGE_SIZE) *
		     (num_online_cpus() + subscriber->shard_count);
	bytes = min_t(u64, ring_bytes, LONG_MAX);
	if (!eventlog_user_charge(user, EVENTLOG_QUOTA_RING_BYTES, bytes))
		return false;
	subscriber->user = eventlog_user_get(user);
	subscriber->prepaid_bytes = bytes;
	return true;
}

struct eventlog_subscriber *eventlog_subscriber_new(struct eventlog_domain *domain,
						    struct eventlog_user *user,
						    struct eventlog_subscribe *request)
{
	struct eventlog_subscriber *subscriber;
	int ret;

	ret = eventlog_subscribe_check(request);
	if (ret)
		return ERR_PTR(ret);
	/* Before memory is allocated: who waits for a LEAVE to end calls again and again. */
	eventlog_domain_lock(domain);
	ret = eventlog_subscriber_may_join(domain, false);
	eventlog_domain_unlock(domain);
	if (ret)
		return ERR_PTR(ret);
	subscriber = eventlog_subscriber_make(domain, task_active_pid_ns(current));
	if (!subscriber)
		return ERR_PTR(-ENOMEM);
	subscriber->pid = get_pid(task_tgid(current));
	get_task_comm(subscriber->comm, current);
	if (request->flags & EVENTLOG_SUBSCRIBE_MAPPED) {
		subscriber->shard_count = domain->shard_count;
		subscriber->ring_count += domain->shard_count;
	}
	if (request->ring_bytes) {
		ret = -EDQUOT;
		if (!eventlog_subscriber_charge(subscriber, user, request->ring_bytes))
			goto err_release;
		ret = eventlog_subscriber_rings_new(subscriber, request);
		if (ret)
			goto err_release;
	}
	ret = eventlog_subscriber_join(subscriber);
	if (ret)
		goto err_release;

	request->rings = subscriber->ring_count;
	request->shards = subscriber->shard_count;
	request->ring_offset = 0;
	request->ring_stride = (u64)subscriber->ring_pages << PAGE_SHIFT;
	request->generation = READ_ONCE(subscriber->generation);
	return subscriber;

err_release:
	eventlog_subscriber_release(subscriber);
	return ERR_PTR(ret);
}

struct eventlog_subscriber *eventlog_subscriber_new_callback(struct eventlog_domain *domain,
							     struct eventlog_callback *callback)
{
	struct eventlog_subscriber *subscriber;
	int ret;

	subscriber = eventlog_subscriber_make(domain, &init_pid_ns);
	if (!subscriber)
		return ERR_PTR(-ENOMEM);
	subscriber->callback = callback;
	strscpy(subscriber->comm, callback->name, sizeof(subscriber->comm));
	ret = -ENOMEM;
	subscriber->calling = alloc_percpu(u8);
	if (!subscriber->calling)
		goto err_release;
	ret = eventlog_subscriber_join(subscriber);
	if (ret)
		goto err_release;
	return subscriber;

err_release:
	eventlog_subscriber_release(subscriber);
	return ERR_PTR(ret);
}

void eventlog_subscriber_free(struct eventlog_subscriber *subscriber)
{
	struct eventlog_domain *domain = subscriber->domain;

	eventlog_update_begin(domain);
	eventlog_domain_lock(domain);
	list_del(&subscriber->node);
	domain->subscriber_count--;
	eventlog_domain_unlock(domain);
	eventlog_enable_subscriber_remove(subscriber);
	WRITE_ONCE(domain->rule_count, domain->rule_count - subscriber->rule_count);
	eventlog_events_release_retained(domain);
	eventlog_update_end(domain, NULL, NULL);
	/* Writers may still use its rings or run its callback. */
	synchronize_rcu();
	eventlog_subscriber_release(subscriber);
}

int eventlog_subscriber_init(unsigned int rules_max, bool rings_locked)
{
	int ret;

	eventlog_rules_max = rules_max;
	eventlog_rings_locked = rings_locked;
	ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "eventlog:prepare",
				      eventlog_subscriber_cpu_prepare, NULL);
	if (ret < 0)
		return ret;
	eventlog_hotplug_state = ret;
	return 0;
}

void eventlog_subscriber_exit(void)
{
	cpuhp_remove_multi_state(eventlog_hotplug_state);
}
