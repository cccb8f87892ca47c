// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The filters of a program's markers: see marker_fetch.h.
 *
 * state->filter is replaced atomically. A thread counts itself in one of the reader slots
 * before it loads the pointer. A filter that was replaced goes to the list of retired
 * filters, and the list is freed when all slots have been 0 afterwards. A signal handler
 * that leaves by longjmp() from a marker leaves its slot counted: retired filters then
 * stay, which costs one small mapping for each change of policies.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "elog_marker.h"
#include "elog_marker_names.h"
#include "producer/marker_fetch.h"
#include "producer/marker_filter.h"
#include "producer/producer.h"

#define READER_SLOTS	16
#define CACHE_LINE	64
#define COMM_BYTES	16
/* Policies may change between the query of the sizes and the call that uses them. */
#define FETCH_TRIES	8

/**
 * struct elog_marker_filter - a filter from the kernel, in a mapping of its own
 * @next: in the list of retired filters
 * @bytes: of the mapping
 * @key: atomic; elog_event_filter_key() that the filter was current for
 * @version: the kernel's number of the filter
 * @handlers: ELOG_MARKER_* that run if it is true; 0: it cannot be evaluated
 * @filter: points to the terms and the pool that follow
 * @terms: the terms; the pool follows
 */
struct elog_marker_filter {
	struct elog_marker_filter *next;
	size_t bytes;
	uint64_t key;
	uint32_t version;
	uint32_t handlers;
	struct eventlog_filter filter;
	struct eventlog_term terms[];
};

struct reader_slot {
	unsigned long count;		/* atomic */
} __attribute__((aligned(CACHE_LINE)));

static struct reader_slot readers[READER_SLOTS];
static struct elog_marker_filter *retired;	/* atomic */

/* For filters with pid and tid, without a system call each time; 0: not known. */
static pid_t process_id;			/* atomic */
static __thread pid_t thread_id;

static struct reader_slot *begin_read(void)
{
	static __thread char anchor;
	uint64_t mixed = (uintptr_t)&anchor * 0x9e3779b97f4a7c15ULL;
	struct reader_slot *slot = &readers[mixed >> 60];

	__atomic_fetch_add(&slot->count, 1, __ATOMIC_SEQ_CST);
	return slot;
}

static void end_read(struct reader_slot *slot)
{
	__atomic_fetch_sub(&slot->count, 1, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------------
 * Freeing
 */

static void free_filter(struct elog_marker_filter *filter)
{
	munmap(filter, filter->bytes);
}

static void retire(struct elog_marker_filter *filter)
{
	if (!filter)
		return;
	filter->next = __atomic_load_n(&retired, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&retired, &filter->next, filter, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/* Free the retired filters if no thread can be using one; not in a reader's section. */
static void free_retired(void)
{
	struct elog_marker_filter *filter, *next;
	bool used = false;
	unsigned int i;

	if (!__atomic_load_n(&retired, __ATOMIC_RELAXED))
		return;
	filter = __atomic_exchange_n(&retired, NULL, __ATOMIC_SEQ_CST);
	for (i = 0; i < READER_SLOTS; i++)
		used |= __atomic_load_n(&readers[i].count, __ATOMIC_SEQ_CST) != 0;
	for (; filter; filter = next) {
		next = filter->next;
		if (used)
			retire(filter);
		else
			free_filter(filter);
	}
}

void elog_marker_filter_forget(struct elog_marker_state *state)
{
	retire(__atomic_exchange_n(&state->filter, NULL, __ATOMIC_SEQ_CST));
	free_retired();
}

void elog_marker_filters_after_fork(void)
{
	__atomic_store_n(&process_id, 0, __ATOMIC_RELAXED);
	thread_id = 0;
}

/* ------------------------------------------------------------------------
 * Evaluating
 */

static uint64_t get_pid(void)
{
	pid_t pid = __atomic_load_n(&process_id, __ATOMIC_RELAXED);

	if (!pid) {
		pid = getpid();
		__atomic_store_n(&process_id, pid, __ATOMIC_RELAXED);
	}
	return (uint64_t)pid;
}

static uint64_t get_tid(void)
{
	if (!thread_id)
		thread_id = gettid();
	return (uint64_t)thread_id;
}

/* The subject: a marker that fires. @values must be the first member. */
struct subject {
	struct elog_marker_values values;
	char comm[COMM_BYTES + 1];
};

static int get_common(const void *of, enum metadata metadata, struct elog_filter_value *value)
{
	struct subject *subject = (struct subject *)(uintptr_t)of;

	value->type = ELOG_TYPE_UNSIGNED;
	value->is_signed = false;
	switch (metadata) {
	case METADATA_CPU:
		value->integer = (uint64_t)sched_getcpu();
		return 0;
	case METADATA_PID:
		value->integer = get_pid();
		return 0;
	case METADATA_TID:
		value->integer = get_tid();
		return 0;
	case METADATA_SESSION:
		value->integer = 0;
		return 0;
	case METADATA_COMM:
		if (prctl(PR_GET_NAME, subject->comm))
			return -errno;
		value->type = ELOG_TYPE_STRING;
		value->data = subject->comm;
		value->size = strlen(subject->comm);
		return 0;
	default:
		return -ENOENT;
	}
}

static void set_subject(struct subject *subject, const struct elog_marker *marker,
			const struct elog_marker_state *state, const uint64_t *values)
{
	subject->values = (struct elog_marker_values){
		.types = &marker->types[1],
		.names = state->fields,
		.values = values,
		.count = marker->types[0],
	};
	memset(subject->comm, 0, sizeof(subject->comm));
}

static unsigned int evaluate(const struct elog_marker_filter *filter,
			     const struct elog_filter_subject *subject)
{
	if (!filter->handlers || !elog_filter_holds(&filter->filter, subject, NULL))
		return 0;
	return filter->handlers;
}

/* ------------------------------------------------------------------------
 * Fetching
 */

static uint64_t key_of(uint64_t key, uint32_t generation)
{
	return (key & ~(uint64_t)UINT32_MAX) | generation;
}

static struct elog_marker_filter *new_filter(size_t terms_size, size_t pool_size)
{
	size_t bytes = sizeof(struct elog_marker_filter) + terms_size + pool_size;
	struct elog_marker_filter *filter;

	filter = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filter == MAP_FAILED)
		return NULL;
	filter->bytes = bytes;
	return filter;
}

/* Tell the kernel, for listings, that this library does not understand the filter. */
static void report_incompatible(const struct elog_event *event, uint32_t version)
{
	struct eventlog_filter_get report = {
		.flags = EVENTLOG_FILTER_GET_INCOMPATIBLE,
		.version = version,
	};

	/* -ESTALE: there is another filter by now. */
	(void)elog_event_filter_get(event, &report);
}

/* Use the kernel's answer; @complete: it includes the terms. */
static void finish(struct elog_marker_filter *filter, const struct elog_event *event,
		   const struct elog_filter_subject *subject,
		   const struct eventlog_filter_get *answer, bool complete)
{
	filter->version = answer->version;
	filter->handlers = answer->handlers & (ELOG_MARKER_PRINT | ELOG_MARKER_PROBE);
	filter->filter = (struct eventlog_filter){
		.size = sizeof(filter->filter),
		.term_count = answer->term_count,
		.term_size = answer->term_size,
		.terms = answer->terms,
		.pool = answer->pool,
		.pool_size = answer->pool_size,
	};
	if (complete && !elog_filter_check(&filter->filter) &&
	    elog_filter_fits(&filter->filter, subject))
		return;
	filter->handlers = 0;
	report_incompatible(event, filter->version);
}

/**
 * fetch() - get the filter from the kernel
 * @event: the marker's event
 * @subject: the marker that fires
 * @old: the filter that was kept before, or NULL
 * @handlers: set to the handlers if there is no filter any more
 *
 * Return: @old if it is still current, otherwise a new filter; NULL: there is none, or it
 * cannot be fetched.
 */
static struct elog_marker_filter *fetch(const struct elog_event *event,
					const struct elog_filter_subject *subject,
					struct elog_marker_filter *old, unsigned int *handlers)
{
	uint64_t key = elog_event_filter_key(event), old_key;
	struct eventlog_filter_get request, answer;
	struct elog_marker_filter *filter;
	unsigned int i;
	int ret;

	for (i = 0; i < FETCH_TRIES; i++) {
		request = (struct eventlog_filter_get){ .term_size = sizeof(struct eventlog_term) };
		ret = elog_event_filter_get(event, &request);
		if (!ret && !request.term_count) {
			*handlers = request.handlers & (ELOG_MARKER_PRINT | ELOG_MARKER_PROBE);
			return NULL;
		}
		if (ret != -EMSGSIZE)
			return NULL;
		old_key = old ? __atomic_load_n(&old->key, __ATOMIC_RELAXED) : 0;
		if (old && old->version == request.version && old_key >> 32 == key >> 32) {
			__atomic_store_n(&old->key, key_of(key, request.generation),
					 __ATOMIC_RELAXED);
			return old;
		}
		filter = new_filter(request.terms_size, request.pool_size);
		if (!filter)
			return NULL;
		request.terms = (uintptr_t)filter->terms;
		request.pool = request.terms + request.terms_size;
		answer = request;
		ret = elog_event_filter_get(event, &answer);
		/* -E2BIG: the terms have members that this library does not know. */
		if ((!ret || ret == -E2BIG) && answer.term_count) {
			finish(filter, event, subject, &answer, !ret);
			filter->key = key_of(key, answer.generation);
			return filter;
		}
		free_filter(filter);
		if (ret && ret != -EMSGSIZE)
			return NULL;
	}
	return NULL;
}

unsigned int elog_marker_filter_handlers(const struct elog_marker *marker,
					 struct elog_marker_state *state,
					 const struct elog_event *event,
					 const uint64_t *values)
{
	struct subject values_of_marker;
	const struct elog_filter_subject subject = {
		.field = elog_marker_filter_field,
		.common = get_common,
		.of = &values_of_marker,
	};
	struct elog_marker_filter *filter, *fetched;
	bool changed = false;
	struct reader_slot *slot;
	unsigned int handlers = 0;
	int error = errno;

	set_subject(&values_of_marker, marker, state, values);
	slot = begin_read();
	filter = __atomic_load_n(&state->filter, __ATOMIC_SEQ_CST);
	if (!filter || __atomic_load_n(&filter->key, __ATOMIC_RELAXED) !=
	    elog_event_filter_key(event)) {
		fetched = fetch(event, &subject, filter, &handlers);
		changed = fetched && fetched != filter;
		/* Another thread may have fetched it, too: keep one of them. */
		if (changed && __atomic_compare_exchange_n(&state->filter, &filter, fetched, false,
							   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			retire(filter);
		else if (changed)
			retire(fetched);
		filter = fetched;
	}
	if (filter)
		handlers = evaluate(filter, &subject);
	end_read(slot);
	if (changed)
		free_retired();
	errno = error;
	return handlers;
}
