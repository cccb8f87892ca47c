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
/* Policies may change between the query of the sizes and the call that uses them. */
#define FETCH_TRIES	8

/**
 * struct elog_marker_filter - a filter from the kernel, in a mapping of its own
 * @next: in the list of retired filters
 * @bytes: of the mapping
 * @key: atomic; elog_event_filter_key() that the filter was current for
 * @version: the kernel's number of the filter
 * @handlers: ELOG_MARKER_* that run if it is true; 0: it cannot be evaluated
 * @sources: bit 1 << enum eventlog_source of each value that the tests read
 * @count: number of @tests
 * @tests: the filter, bound to the marker; the terms and the pool follow
 */
struct elog_marker_filter {
	struct elog_marker_filter *next;
	size_t bytes;
	uint64_t key;
	uint32_t version;
	uint32_t handlers;
	unsigned int sources;
	uint32_t count;
	struct eventlog_test tests[];
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

static uint32_t get_pid(void)
{
	pid_t pid = __atomic_load_n(&process_id, __ATOMIC_RELAXED);

	if (!pid) {
		pid = getpid();
		__atomic_store_n(&process_id, pid, __ATOMIC_RELAXED);
	}
	return (uint32_t)pid;
}

static uint32_t get_tid(void)
{
	if (!thread_id)
		thread_id = gettid();
	return (uint32_t)thread_id;
}

/* Calls what only some filters need: only for those that do. */
static unsigned int evaluate(const struct elog_marker_filter *filter, const uint64_t *values,
			     unsigned int count)
{
	const struct eventlog_operands operands = { .values = values };
	struct eventlog_identity identity = { .session = values[count] };
	char comm[EVENTLOG_COMM_BYTES];

	if (filter->sources & 1U << EVENTLOG_SOURCE_CPU)
		identity.cpu = (uint32_t)sched_getcpu();
	if (filter->sources & 1U << EVENTLOG_SOURCE_PID)
		identity.pid = get_pid();
	if (filter->sources & 1U << EVENTLOG_SOURCE_TID)
		identity.tid = get_tid();
	if (filter->sources & 1U << EVENTLOG_SOURCE_COMM && !prctl(PR_GET_NAME, comm))
		identity.comm = comm;
	if (eventlog_tests_evaluate(filter->tests, filter->count, &operands, &identity) !=
	    EVENTLOG_VERDICT_TRUE)
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

static struct elog_marker_filter *new_filter(const struct eventlog_filter_get *request)
{
	size_t bytes = sizeof(struct elog_marker_filter) +
		       request->term_count * sizeof(struct eventlog_test) +
		       request->terms_size + request->pool_size;
	struct elog_marker_filter *filter;

	filter = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filter == MAP_FAILED)
		return NULL;
	filter->bytes = bytes;
	filter->count = request->term_count;
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
		   const struct eventlog_subject *subject,
		   const struct eventlog_filter_get *answer, bool complete)
{
	const struct eventlog_terms terms = {
		.array = (const struct eventlog_term *)(uintptr_t)answer->terms,
		.count = answer->term_count,
		.pool = (const char *)(uintptr_t)answer->pool,
		.pool_size = answer->pool_size,
	};

	filter->version = answer->version;
	filter->handlers = answer->handlers & (ELOG_MARKER_PRINT | ELOG_MARKER_PROBE);
	if (complete && terms.count <= filter->count && !eventlog_terms_check(&terms) &&
	    eventlog_terms_fit(&terms, subject)) {
		filter->count = terms.count;
		filter->sources = eventlog_terms_bind(&terms, subject, filter->tests);
		return;
	}
	filter->handlers = 0;
	report_incompatible(event, filter->version);
}

/**
 * fetch() - get the filter from the kernel
 * @event: the marker's event
 * @subject: the marker
 * @old: the filter that was kept before, or NULL
 * @handlers: set to the handlers if there is no filter any more
 *
 * Return: @old if it is still current, otherwise a new filter; NULL: there is none, or it
 * cannot be fetched.
 */
static struct elog_marker_filter *fetch(const struct elog_event *event,
					const struct eventlog_subject *subject,
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
		filter = new_filter(&request);
		if (!filter)
			return NULL;
		request.terms = (uintptr_t)&filter->tests[request.term_count];
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
	const struct elog_marker_fields fields = {
		.types = &marker->types[1], .names = state->fields, .count = marker->types[0],
	};
	const struct eventlog_subject subject = { elog_marker_field_find, &fields };
	struct elog_marker_filter *filter, *fetched;
	bool changed = false;
	struct reader_slot *slot;
	unsigned int handlers = 0;
	int error = errno;

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
	if (filter && filter->handlers)
		handlers = evaluate(filter, values, fields.count);
	end_read(slot);
	if (changed)
		free_retired();
	errno = error;
	return handlers;
}
