// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers for payloads of several parts: see joined.h.
 */
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/smp.h>

#include "core/joined.h"
#include "memory.h"

/* Buffers of one CPU, one per context. */
struct eventlog_joined {
	bool busy[EVENTLOG_CONTEXT_NMI + 1];
	u8 payload[EVENTLOG_CONTEXT_NMI + 1][EVENTLOG_JOINED_MAX];
};

/* Serialises the allocation. */
static DEFINE_MUTEX(eventlog_joined_lock);

/* Indexed by CPU. */
static struct eventlog_joined **eventlog_joined;

static struct eventlog_joined **eventlog_joined_new(void)
{
	struct eventlog_joined **joined;
	unsigned int cpu;

	joined = eventlog_alloc(nr_cpu_ids * sizeof(*joined));
	if (!joined)
		return NULL;
	for_each_possible_cpu(cpu) {
		joined[cpu] = eventlog_alloc(sizeof(*joined[cpu]));
		if (!joined[cpu])
			goto err_free;
	}
	return joined;

err_free:
	for_each_possible_cpu(cpu)
		eventlog_free(joined[cpu]);
	eventlog_free(joined);
	return NULL;
}

int eventlog_joined_prepare(void)
{
	struct eventlog_joined **joined;

	if (smp_load_acquire(&eventlog_joined))
		return 0;
	mutex_lock(&eventlog_joined_lock);
	joined = eventlog_joined;
	if (!joined) {
		joined = eventlog_joined_new();
		smp_store_release(&eventlog_joined, joined);
	}
	mutex_unlock(&eventlog_joined_lock);
	return joined ? 0 : -ENOMEM;
}

void eventlog_joined_exit(void)
{
	unsigned int cpu;

	if (!eventlog_joined)
		return;
	for_each_possible_cpu(cpu)
		eventlog_free(eventlog_joined[cpu]);
	eventlog_free(eventlog_joined);
}

notrace u8 *eventlog_joined_get(enum eventlog_context context)
{
	struct eventlog_joined **all = smp_load_acquire(&eventlog_joined);
	struct eventlog_joined *joined = all ? all[smp_processor_id()] : NULL;

	if (!joined || joined->busy[context])
		return NULL;
	WRITE_ONCE(joined->busy[context], true);
	barrier();
	return joined->payload[context];
}

notrace void eventlog_joined_put(enum eventlog_context context)
{
	barrier();
	WRITE_ONCE(eventlog_joined[smp_processor_id()]->busy[context], false);
}
