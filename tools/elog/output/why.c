// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a session went: see why.h.
 *
 * An interval is an event when it ends. So when a wait of the session ends, the waits of the
 * thread that ended it are known, if they were over by then. The last intervals of all other
 * threads are kept for that.
 *
 * Files of several hosts and boots may be read. Sessions and threads of one of them are not those
 * of another, even if their numbers are the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/event_text.h"
#include "output/waits.h"
#include "output/why.h"
#include "output/why_stack.h"
#include "util/array.h"
#include "util/tool.h"

#define RECENT_MAX	(1U << 18)
#define STEPS_MAX	(1U << 27)	/* looks at @recent, in all: about a second */
#define SESSIONS_MAX	WHY_SPANS_MAX	/* of one number: of several providers, boots, instances */
#define THREADS_MAX	65536
#define LIST_MAX	64	/* calls, wakers, and stacks, of one cause */

/* The time in which a thread worked on a session. */
struct why_span {
	int64_t first;
	int64_t last;
	uint64_t off;
};

/* An interval, and the host and boot that it is of. */
struct recent {
	struct interval interval;
	uint64_t scope;
};

struct why {
	bool json;
	const char *provider;
	uint64_t number;
	struct why_session *sessions;
	size_t session_count;
	struct recent *recent;		/* a ring, once it has RECENT_MAX */
	uint64_t recent_count;
	uint64_t steps;			/* up to STEPS_MAX */
	bool cut;			/* STEPS_MAX were not enough */
	struct elog_text bytes;		/* of a key */
	struct why_stacks stacks;
	struct elog_map sums;		/* uint64_t: time of the last sum of a span and thread */
	bool any;			/* event of sched */
};

int why_open(struct why **result, bool json, const char *provider, uint64_t number)
{
	struct why *why = calloc(1, sizeof(*why));

	if (!why)
		return -ENOMEM;
	why->sessions = calloc(SESSIONS_MAX, sizeof(*why->sessions));
	if (!why->sessions) {
		free(why);
		return -ENOMEM;
	}
	why_stacks_init(&why->stacks);
	elog_map_init(&why->sums, sizeof(uint64_t));
	why->json = json;
	why->provider = provider;
	why->number = number;
	*result = why;
	return 0;
}

void why_close(struct why *why)
{
	size_t i, cause;

	if (!why)
		return;
	for (i = 0; i < why->session_count; i++) {
		for (cause = 0; cause < INTERVAL_CAUSES; cause++) {
			free(why->sessions[i].waits[cause].calls);
			free(why->sessions[i].waits[cause].wakers);
			free(why->sessions[i].waits[cause].stacks);
		}
		elog_map_free(&why->sessions[i].threads);
		free(why->sessions[i].fields);
	}
	elog_map_free(&why->sums);
	free(why->sessions);
	free(why->recent);
	why_stacks_free(&why->stacks);
	elog_text_free(&why->bytes);
	free(why);
}

/* ------------------------------------------------------------------------
 * Sessions
 */

static const char *info_of(const struct entry *entry, const char *name)
{
	const char *text = entry->reader ? elog_reader_info(entry->reader, name) : NULL;

	return text ? text : "";
}

/*
 * A number for the host and the boot of an event. The events of a cached definition are of one
 * boot, so it is found once for each definition. Return: 0: no memory.
 */
static uint64_t scope_of(struct why *why, const struct entry *entry)
{
	uint64_t *scope = &entry->cached->row_serial;
	const char *boot = info_of(entry, "boot_id");

	if (*scope)
		return *scope;
	why->bytes.size = 0;
	/* The name of a host may change. */
	elog_text_printf(&why->bytes, "%s %s", boot, *boot || !entry->host_name ? "" :
			 entry->host_name);
	if (why->bytes.error)
		return 0;
	*scope = elog_map_bytes(why->bytes.data, why->bytes.size).words[0] | 1;
	return *scope;
}

void why_add_span(struct why *why, const char *provider, const char *instance, const char *boot,
		  const char *start, uint64_t number, uint64_t from, uint64_t to)
{
	struct why_session *session = &why->sessions[why->session_count++];

	snprintf(session->provider, sizeof(session->provider), "%s", provider);
	snprintf(session->instance, sizeof(session->instance), "%s", instance);
	snprintf(session->boot, sizeof(session->boot), "%s", boot);
	snprintf(session->start, sizeof(session->start), "%s", start);
	session->number = number;
	session->from = from;
	session->to = to;
	elog_map_init(&session->threads, sizeof(struct why_span));
}

static void set_origin(struct why_session *session, const struct entry *entry)
{
	snprintf(session->host, sizeof(session->host), "%s", entry->host_name ? : "");
	snprintf(session->machine, sizeof(session->machine), "%s", info_of(entry, "machine"));
}

static bool is_of(const struct why_session *session, const struct entry *entry,
		  const char *provider)
{
	const char *instance = entry->item.instance ? entry->item.instance : "";

	return session->number == entry->item.session && !strcmp(session->provider, provider) &&
	       !strcmp(session->instance, instance);
}

/*
 * What an event of a provider's session is about: the first one after @session, or of all if that
 * is NULL. Without spans, there is one, which is added. Return: NULL: there is no further one, it
 * is not wanted, or there are too many.
 */
static struct why_session *next_session(struct why *why, const struct entry *entry, uint64_t scope,
					const char *provider, struct why_session *session)
{
	const bool first = !session;

	if ((why->provider && strcmp(why->provider, provider)) || (why->number && !first))
		return NULL;
	for (session = first ? why->sessions : session + 1;
	     session < why->sessions + why->session_count; session++) {
		if (!is_of(session, entry, provider))
			continue;
		if (!session->scope && !strcmp(session->boot, info_of(entry, "boot_id"))) {
			session->scope = scope;
			set_origin(session, entry);
		}
		if (session->scope == scope)
			return session;
	}
	if (!why->number || why->session_count == SESSIONS_MAX)
		return NULL;
	why_add_span(why, provider, entry->item.instance ? : "", info_of(entry, "boot_id"), "",
		     why->number, 0, UINT64_MAX);
	session->scope = scope;
	set_origin(session, entry);
	return session;
}

/* A thread worked on the session from @first to @last. */
static int see_thread(struct why_session *session, uint32_t tid, int64_t first, int64_t last,
		      uint64_t off)
{
	const struct elog_map_key key = elog_map_integer(tid);
	struct why_span *span = elog_map_find(&session->threads, key);
	const bool any = session->threads.count;

	if (!any || first < session->first)
		session->first = first;
	if (!any || last > session->last)
		session->last = last;
	if (!span && session->threads.count == THREADS_MAX)
		return 0;
	if (!span) {
		span = elog_map_insert(&session->threads, key);
		if (!span)
			return -ENOMEM;
		span->first = first;
		span->last = last;
	}
	span->first = first < span->first ? first : span->first;
	span->last = last > span->last ? last : span->last;
	span->off += off;
	return 0;
}

struct why_times why_times(const struct why_session *session)
{
	struct why_times times = {
		.wall = session->to < UINT64_MAX ? session->to - session->from :
			(uint64_t)session->last - (uint64_t)session->first,
		.threads = session->threads.count,
	};
	const struct why_span *span;
	uint64_t length;

	elog_map_for_each(&session->threads, span) {
		length = (uint64_t)span->last - (uint64_t)span->first;
		/* The start of an interval is before what was seen first, or a file lies. */
		if (length < span->off)
			length = span->off;
		times.thread_time += length;
		*(session->intervals ? &times.on_cpu : &times.unknown) += length - span->off;
	}
	if (times.wall > times.thread_time)
		times.none = times.wall - times.thread_time;
	return times;
}

/* ------------------------------------------------------------------------
 * Chains
 */

static int keep_recent(struct why *why, const struct interval *interval, uint64_t scope)
{
	struct recent *larger;

	if (why->recent_count < RECENT_MAX) {
		larger = array_grow(why->recent, why->recent_count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		why->recent = larger;
	}
	why->recent[why->recent_count++ % RECENT_MAX] =
		(struct recent){ .interval = *interval, .scope = scope };
	return 0;
}

/* A while, CLOCK_REALTIME ns. */
struct period {
	int64_t from;
	int64_t to;
};

static uint64_t overlap(const struct period *one, int64_t from, int64_t to)
{
	from = from > one->from ? from : one->from;
	to = to < one->to ? to : one->to;
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

static struct period wait_of(const struct interval *interval)
{
	return (struct period){
		.from = interval_begin(interval),
		.to = (int64_t)((uint64_t)interval->end - interval->runnable),
	};
}

static void set_thread(struct why_thread *thread, const struct interval *interval,
		       const char *provider)
{
	*thread = (struct why_thread){
		.tid = interval->by_tid,
		.how = interval->how,
		.session = interval->by_session,
	};
	memcpy(thread->name, interval->by, sizeof(thread->name));
	if (interval->by_session)
		snprintf(thread->provider, sizeof(thread->provider), "%s", provider);
}

static uint64_t count_recent(const struct why *why)
{
	return why->recent_count < RECENT_MAX ? why->recent_count : RECENT_MAX;
}

/*
 * Adds up what a thread waited for in a period. Return: its longest wait in it, or NULL.
 */
static const struct interval *find_waits(struct why *why, uint64_t scope,
					 const struct period *period, struct why_holder *holder)
{
	const uint64_t kept = count_recent(why);
	const struct interval *interval, *longest = NULL;
	const struct recent *recent;
	uint64_t i, blocked, runnable, most = 0;
	struct period wait;

	for (i = 1; i <= kept; i++) {
		recent = &why->recent[(why->recent_count - i) % RECENT_MAX];
		interval = &recent->interval;
		why->steps++;
		if (interval->end <= period->from)
			break;
		if (interval->tid != holder->thread.tid || recent->scope != scope)
			continue;
		wait = wait_of(interval);
		blocked = overlap(period, wait.from, wait.to);
		runnable = overlap(period, wait.to, interval->end);
		holder->waits[interval->cause] += blocked;
		holder->waits[interval_waits(interval) ? INTERVAL_RUNNABLE : interval->cause] +=
			runnable;
		if (blocked > most) {
			most = blocked;
			longest = interval;
		}
	}
	return longest;
}

/* Follows who ended a wait, and who ended the longest wait of that thread meanwhile. */
static void follow(struct why *why, const struct entry *entry, uint64_t scope,
		   const struct interval *interval, struct why_waker *waker)
{
	struct period period = wait_of(interval), wait;
	struct why_holder *holder;

	waker->holder_count = 0;
	while (interval && interval->by_tid && !(interval->how & INTERVAL_KTHREAD) &&
	       waker->holder_count < WHY_HOLDERS_MAX) {
		/* In a file with wrong times, each wait may be as long as the file. */
		if (why->steps + count_recent(why) > STEPS_MAX) {
			why->cut = true;
			return;
		}
		holder = &waker->holders[waker->holder_count];
		memset(holder, 0, sizeof(*holder));
		set_thread(&holder->thread, interval,
			   interval_provider(entry, NULL, interval->by_of));
		holder->length = overlap(&period, period.from, period.to);
		holder->ended = interval->cause;
		interval = find_waits(why, scope, &period, holder);
		/* Only its name is known, which the waker of the session has, too. */
		if (!interval && !holder->thread.session && !waker->holder_count)
			return;
		waker->holder_count++;
		if (!interval)
			return;
		wait = wait_of(interval);
		period.from = wait.from > period.from ? wait.from : period.from;
		period.to = wait.to < period.to ? wait.to : period.to;
	}
}

/* ------------------------------------------------------------------------
 * Intervals
 */

static int add_call(struct why_wait *wait, int number, uint64_t time)
{
	struct why_call *larger;
	size_t i;

	for (i = 0; i < wait->call_count; i++) {
		if (wait->calls[i].number != number)
			continue;
		wait->calls[i].time += time;
		return 0;
	}
	if (wait->call_count == LIST_MAX)
		return 0;
	larger = array_grow(wait->calls, wait->call_count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	wait->calls = larger;
	larger[wait->call_count++] = (struct why_call){ .number = number, .time = time };
	return 0;
}

static int add_stack(struct why_wait *wait, uint32_t number, uint64_t time)
{
	struct why_stack *larger;
	size_t i;

	if (!number)
		return 0;
	for (i = 0; i < wait->stack_count; i++) {
		if (wait->stacks[i].number != number)
			continue;
		wait->stacks[i].time += time;
		return 0;
	}
	if (wait->stack_count == LIST_MAX)
		return 0;
	larger = array_grow(wait->stacks, wait->stack_count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	wait->stacks = larger;
	larger[wait->stack_count++] = (struct why_stack){ .number = number, .time = time };
	return 0;
}

/* Two numbers may mean the same stack. */
static void find_stacks(const struct why *why, const struct why_session *session,
			struct why_wait *wait)
{
	size_t i, j, count = 0;

	for (i = 0; i < wait->stack_count; i++) {
		struct why_stack stack = wait->stacks[i];

		stack.frames = why_stacks_find(&why->stacks, session->scope, stack.number);
		for (j = 0; stack.frames && j < count; j++)
			if (wait->stacks[j].frames && !strcmp(wait->stacks[j].frames, stack.frames))
				break;
		if (stack.frames && j < count)
			wait->stacks[j].time += stack.time;
		else
			wait->stacks[count++] = stack;
	}
	wait->stack_count = count;
}

static bool is_same(const struct why_thread *one, const struct why_thread *other)
{
	return one->tid == other->tid && one->session == other->session &&
	       !strcmp(one->name, other->name) && !strcmp(one->provider, other->provider);
}

/* Return: NULL: no memory, or there are too many: see @full. */
static struct why_waker *get_waker(struct why_wait *wait, const struct why_thread *thread,
				   bool *full)
{
	struct why_waker *larger;
	size_t i;

	*full = false;
	for (i = 0; i < wait->waker_count; i++)
		if (is_same(&wait->wakers[i].thread, thread))
			return &wait->wakers[i];
	*full = wait->waker_count == LIST_MAX;
	if (*full)
		return NULL;
	larger = array_grow(wait->wakers, wait->waker_count, sizeof(*larger));
	if (!larger)
		return NULL;
	wait->wakers = larger;
	memset(&larger[i], 0, sizeof(*larger));
	larger[i].thread = *thread;
	wait->waker_count++;
	return &larger[i];
}

static int add_waker(struct why *why, const struct entry *entry, uint64_t scope,
		     struct why_wait *wait, const struct interval *interval, uint64_t time)
{
	struct why_thread thread;
	struct why_waker *waker;
	bool full;

	set_thread(&thread, interval, interval_provider(entry, NULL, interval->by_of));
	waker = get_waker(wait, &thread, &full);
	if (!waker)
		return full ? 0 : -ENOMEM;
	waker->thread.how |= interval->how;
	waker->time += time;
	if (interval_waits(interval) && time > waker->longest) {
		waker->longest = time;
		follow(why, entry, scope, interval, waker);
	}
	return 0;
}

static int add_interval(struct why *why, struct why_session *session, const struct entry *entry,
			uint64_t scope, const struct interval *interval)
{
	const uint64_t time = interval_waits(interval) ? interval->blocked : interval->runnable;
	struct why_wait *wait;
	int ret;

	wait = &session->waits[interval->cause];
	wait->time += time;
	wait->count++;
	session->intervals++;
	if (interval_waits(interval)) {
		session->waits[INTERVAL_RUNNABLE].time += interval->runnable;
		session->waits[INTERVAL_RUNNABLE].count += interval->runnable != 0;
	}
	ret = see_thread(session, interval->tid, wait_of(interval).from, interval->end,
			 interval_time(interval));
	if (!ret)
		ret = add_call(wait, interval->call, time);
	if (!ret)
		ret = add_stack(wait, interval->stack, time);
	return ret ? ret : add_waker(why, entry, scope, wait, interval, time);
}

static int take_interval(struct why *why, const struct entry *entry, uint64_t scope,
			 const struct interval *interval)
{
	const char *provider = interval_provider(entry, NULL, interval->of);
	struct why_session *session = NULL;
	struct interval part;
	int ret = 0;

	while (!ret && (session = next_session(why, entry, scope, provider, session))) {
		part = *interval;
		if (!why->number)
			interval_cut(&part, entry->item.time, session->from, session->to);
		if (why->number || interval_time(&part))
			ret = add_interval(why, session, entry, scope, &part);
	}
	return ret;
}

/*
 * When it is emitted, the thread may have left the session long ago. The part of it in a span is
 * estimated as in a report. Return: 0 or -ENOMEM.
 */
static int add_sum(struct why *why, struct why_session *session, uint64_t now,
		   struct interval_sum sum)
{
	struct why_span *span = elog_map_find(&session->threads, elog_map_integer(sum.tid));
	struct waits waits = {
		.threads = { { .tid = sum.tid, .off = span ? span->off : 0 } }, .thread_count = 1,
	};
	uint64_t *last, since = 0;
	unsigned int i;

	/* Of a whole session, all counts. */
	if (!why->number && why->sums.count < THREADS_MAX) {
		last = elog_map_get(&why->sums, elog_map_pair((uintptr_t)session, sum.tid));
		if (!last)
			return -ENOMEM;
		since = *last;
		*last = now;
	}
	if (!interval_cut_sum(&sum, since, now, session->from, session->to) ||
	    !waits_take(&waits, &sum, session->to - session->from))
		return 0;
	session->intervals += sum.count;
	for (i = 0; i < INTERVAL_CAUSES; i++) {
		session->waits[i].time += waits.times[i];
		if (span)
			span->off += waits.times[i];
	}
	return 0;
}

static int take_sum(struct why *why, const struct entry *entry, uint64_t scope,
		    const struct interval_sum *sum)
{
	const char *provider = interval_provider(entry, NULL, sum->of);
	struct why_session *session = NULL;
	int ret = 0;

	while (!ret && (session = next_session(why, entry, scope, provider, session)))
		ret = add_sum(why, session, entry->item.time, *sum);
	return ret;
}

/* Keep what the first START says, or that of the span. */
static int see_start(const struct why *why, struct why_session *session, const struct entry *entry)
{
	const struct elog_schema_event *event = entry->cached->event;
	struct elog_text text = { 0 };

	if (*session->event || (*session->start && strcmp(session->start, event->name)))
		return 0;
	snprintf(session->event, sizeof(session->event), "%s", event->name);
	if (why->json)
		put_event_json(&text, entry);
	else
		put_event_fields(&text, entry);
	session->fields = text.data;
	return text.error;
}

static int take_event(struct why *why, const struct entry *entry, uint64_t scope, bool is_start)
{
	const struct elog_schema_event *event = entry->cached->event;
	const char *provider = event ? event->provider->name : "?";
	const int64_t time = wall_time(entry->item.time, entry->wall_offset);
	struct why_session *session = NULL;
	int ret = 0;

	while (!ret && (session = next_session(why, entry, scope, provider, session))) {
		if (entry->item.time < session->from || entry->item.time > session->to)
			continue;
		session->events++;
		session->spans += is_start;
		ret = see_thread(session, entry->item.tid, time, time, 0) ? :
		      is_start ? see_start(why, session, entry) : 0;
	}
	return ret;
}

static bool is_wanted(const struct why *why, uint64_t session)
{
	size_t i;

	if (why->number)
		return session == why->number;
	for (i = 0; i < why->session_count; i++)
		if (why->sessions[i].number == session)
			return true;
	return false;
}

int why_take(struct why *why, const struct entry *entry, bool is_start)
{
	const bool is_target = is_wanted(why, entry->item.session);
	const bool is_interval = interval_is_event(entry->cached->event);
	struct interval_stack stack;
	struct interval interval;
	struct interval_sum sum;
	uint64_t scope;

	why->any |= is_interval;
	if (!is_target && !is_interval)
		return 0;
	scope = scope_of(why, entry);
	if (!scope)
		return -ENOMEM;
	if (!is_interval)
		return take_event(why, entry, scope, is_start);
	if (interval_read(entry, &interval))
		return (is_target ? take_interval(why, entry, scope, &interval) : 0) ?:
		       keep_recent(why, &interval, scope);
	if (interval_read_stack(entry, &stack))
		return why_stacks_add(&why->stacks, scope, stack.number, stack.frames, stack.size);
	if (is_target && interval_read_sum(entry, &sum))
		return take_sum(why, entry, scope, &sum);
	return 0;
}

/* ------------------------------------------------------------------------
 * The end
 */

bool why_knows(const struct why *why)
{
	return why->any;
}

static bool is_of_one_boot(const struct why *why)
{
	size_t i;

	for (i = 1; i < why->session_count; i++)
		if (why->sessions[i].scope != why->sessions[0].scope)
			return false;
	return true;
}

static void put_place(struct elog_text *text, const struct why_session *session)
{
	elog_text_string(text, " of ");
	put_quotable(text, *session->host ? session->host : "?");
	elog_text_string(text, ", boot ");
	put_quotable(text, *session->boot ? session->boot : "?");
}

static void say_several(const struct why *why)
{
	const bool one_boot = is_of_one_boot(why);
	const struct why_session *session;
	struct elog_text text = { 0 };
	size_t i;

	for (i = 0; i < why->session_count; i++) {
		session = &why->sessions[i];
		elog_text_string(&text, !i ? "" : one_boot ? ", " : "; ");
		put_quotable(&text, session->provider);
		if (*session->instance) {
			elog_text_string(&text, " in the instance ");
			put_quotable(&text, session->instance);
		}
		if (!one_boot)
			put_place(&text, session);
	}
	elog_error("session 0x%" PRIx64 " is one of several %s: %s", why->number,
		   one_boot ? "providers" : "hosts or boots", text.data ? text.data : "");
	if (!one_boot)
		elog_hint("select one with --host, --since or --until, or name fewer files");
	else if (!why->provider)
		elog_hint("add the provider: PROVIDER:0x%" PRIx64, why->number);
	elog_text_free(&text);
}

/* On one host, of one provider, if only one has intervals. */
static struct why_session *choose(const struct why *why)
{
	struct why_session *chosen = NULL;
	size_t i, count = 0;

	if (why->session_count == 1)
		return why->sessions;
	for (i = 0; i < why->session_count; i++) {
		if (!why->sessions[i].intervals)
			continue;
		chosen = &why->sessions[i];
		count++;
	}
	return count == 1 && is_of_one_boot(why) ? chosen : NULL;
}

struct why_session *why_find(struct why *why, bool quiet, size_t *count)
{
	struct why_session *session = why->number ? NULL : why->sessions;
	bool without = false;
	unsigned int i;
	size_t at;

	*count = why->number ? 1 : why->session_count;
	if (why->number && why->session_count) {
		session = choose(why);
		if (!session) {
			say_several(why);
			return NULL;
		}
	}
	if (!session) {
		elog_error("no event has the session %s%s0x%" PRIx64, why->provider ?
			   why->provider : "", why->provider ? ":" : "", why->number);
		return NULL;
	}
	for (at = 0; at < *count; at++) {
		without |= !session[at].intervals;
		for (i = 0; i < INTERVAL_CAUSES; i++)
			find_stacks(why, &session[at], &session[at].waits[i]);
	}
	if (!why->any)
		elog_error("no event of the provider sched: load eventlog_sched, and capture with "
			   "-e sched, too");
	if (quiet)
		return session;
	if (why->any && without)
		fprintf(stderr, "elog: the session was on a CPU all the time, or no thread said "
			"that it works on it: see elog_session_enter(3)\n");
	if (why->cut)
		fprintf(stderr, "elog: some chains of threads are cut off: too many intervals "
			"are at the same time\n");
	return session;
}
