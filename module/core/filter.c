// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: see filter.h.
 */
#include <linux/build_bug.h>
#include <linux/eventlog.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common/field_type.h"
#include "core/filter.h"
#include "memory.h"

/* The types of markers are the first ones of the table. */
static_assert(EVENTLOG_MARKER_U8 == (int)EVENTLOG_TYPE_U8);
static_assert(EVENTLOG_MARKER_S64 == (int)EVENTLOG_TYPE_S64);
static_assert(EVENTLOG_MARKER_BOOL == (int)EVENTLOG_TYPE_BOOL);
static_assert(EVENTLOG_MARKER_STRING == (int)EVENTLOG_TYPE_STRING);
static_assert(EVENTLOG_COMM_BYTES == TASK_COMM_LEN);

bool eventlog_set_member(const void *set, const char *name, size_t length, u64 *value)
{
	const struct eventlog_set *members = set;
	unsigned int i;

	for (i = 0; i < members->value_count; i++) {
		if (strncmp(members->values[i].name, name, length) ||
		    members->values[i].name[length])
			continue;
		*value = members->values[i].value;
		return true;
	}
	return false;
}

struct eventlog_predicate *eventlog_predicate_bind(struct eventlog_expression *expression,
						   const struct eventlog_subject *subject,
						   bool counted,
						   enum eventlog_charge charge)
{
	struct eventlog_predicate *predicate;
	unsigned int sources;

	predicate = eventlog_alloc_as(struct_size(predicate, tests, expression->terms.count),
				      charge);
	if (!predicate)
		return NULL;
	if (counted)
		predicate->rejected = alloc_percpu_gfp(unsigned long,
						       GFP_KERNEL | __GFP_NOWARN);
	if (counted && !predicate->rejected) {
		eventlog_free(predicate);
		return NULL;
	}
	refcount_inc(&expression->users);
	predicate->expression = expression;
	predicate->of = subject->of;
	predicate->count = expression->terms.count;
	sources = eventlog_terms_bind(&expression->terms, subject, predicate->tests);
	predicate->dynamic = sources & (1U << EVENTLOG_SOURCE_DYNAMIC);
	return predicate;
}

static void eventlog_predicate_free_rcu(struct rcu_head *rcu)
{
	struct eventlog_predicate *predicate = container_of(rcu, struct eventlog_predicate, rcu);

	eventlog_expression_put(predicate->expression);
	free_percpu(predicate->rejected);
	eventlog_free(predicate);
}

void eventlog_predicates_free(struct eventlog_predicate *predicates)
{
	struct eventlog_predicate *next;

	for (; predicates; predicates = next) {
		next = predicates->next;
		call_rcu(&predicates->rcu, eventlog_predicate_free_rcu);
	}
}

notrace bool eventlog_predicate_holds(const struct eventlog_predicate *predicate,
				      const u64 *values)
{
	const struct eventlog_operands operands = { .values = values };
	struct pid_namespace *pids = predicate->expression->pids;
	const bool initial = pids == &init_pid_ns;
	const struct eventlog_identity identity = {
		.cpu = smp_processor_id(),
		.pid = initial ? current->tgid : task_tgid_nr_ns(current, pids),
		.tid = initial ? current->pid : task_pid_nr_ns(current, pids),
		.comm = current->comm,
	};

	if (eventlog_predicate_evaluate(predicate, &operands, &identity) == EVENTLOG_VERDICT_TRUE)
		return true;
	if (predicate->rejected)
		this_cpu_inc(*predicate->rejected);
	return false;
}

u64 eventlog_predicate_rejected(const struct eventlog_predicate *predicate)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(predicate->rejected, cpu));
	return sum;
}
