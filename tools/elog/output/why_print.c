// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing where the time of a session went: see why.h. In text, a line for each cause, and one
 * for each place in the kernel and each holder of a chain; in JSON, an object for the session and
 * one for each cause.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/row.h"
#include "output/why.h"
#include "output/why_stack.h"
#include "util/system_calls.h"

#define CALLS_SHOWN	3
#define WAKERS_SHOWN	3
#define STACKS_SHOWN	2
#define HOLDER_COLUMN	37

enum { ON_CPU = INTERVAL_CAUSES, UNKNOWN, NONE, PARTS };

/* A part of a session's time. */
struct part {
	unsigned int what;	/* enum interval_cause, or one of the above */
	uint64_t time;
	struct why_wait *wait;	/* NULL: it is none */
};

static const char *part_name(const struct part *part)
{
	return part->what == ON_CPU ? "on CPU" : part->what == UNKNOWN ? "unknown" :
	       part->what == NONE ? "no thread" : interval_cause_name(part->what);
}

static int compare_parts(const void *one, const void *other)
{
	const struct part *a = one, *b = other;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

static int compare_calls(const void *one, const void *other)
{
	const struct why_call *a = one, *b = other;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_wakers(const void *one, const void *other)
{
	const struct why_waker *a = one, *b = other;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->thread.tid < b->thread.tid ? -1 : a->thread.tid > b->thread.tid;
}

static int compare_stacks(const void *one, const void *other)
{
	const struct why_stack *a = one, *b = other;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Return: how many parts there are; the longest is first. */
static size_t make_parts(struct why_session *session, const struct why_times *times,
			 struct part parts[PARTS])
{
	struct why_wait *wait;
	size_t count = 0;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++) {
		wait = &session->waits[i];
		if (!wait->time)
			continue;
		if (wait->call_count)
			qsort(wait->calls, wait->call_count, sizeof(*wait->calls), compare_calls);
		if (wait->waker_count)
			qsort(wait->wakers, wait->waker_count, sizeof(*wait->wakers),
			      compare_wakers);
		if (wait->stack_count)
			qsort(wait->stacks, wait->stack_count, sizeof(*wait->stacks),
			      compare_stacks);
		parts[count++] = (struct part){ .what = i, .time = wait->time, .wait = wait };
	}
	if (session->intervals)
		parts[count++] = (struct part){ .what = ON_CPU, .time = times->on_cpu };
	else
		parts[count++] = (struct part){ .what = UNKNOWN, .time = times->unknown };
	if (times->none)
		parts[count++] = (struct part){ .what = NONE, .time = times->none };
	qsort(parts, count, sizeof(*parts), compare_parts);
	return count;
}

/* Of the time of threads, if several have worked at the same time. */
static double share(const struct why_times *times, uint64_t time)
{
	const uint64_t all = times->wall > times->thread_time ? times->wall : times->thread_time;

	return all ? (double)time / (double)all : 0;
}

/* ------------------------------------------------------------------------
 * Text
 */

static void put_ms(struct elog_text *text, uint64_t time, int width)
{
	elog_text_printf(text, "%*.2f ms", width, (double)time / 1e6);
}

static void put_thread(struct elog_text *text, const struct why_thread *thread)
{
	if (!thread->tid) {
		elog_text_string(text, thread->how & INTERVAL_SOFTIRQ ? "a softirq" :
				 thread->how & INTERVAL_IRQ ? "an interrupt" : "no thread");
		return;
	}
	/* Its work may have been done for another one. */
	if (thread->how & INTERVAL_SOFTIRQ)
		elog_text_string(text, "probably ");
	elog_text_visible(text, thread->name, strlen(thread->name));
	elog_text_printf(text, " %u", thread->tid);
	if (thread->session) {
		elog_text_string(text, " (");
		put_quotable(text, thread->provider);
		elog_text_printf(text, " 0x%" PRIx64 ")", thread->session);
	}
}

static void put_call(struct elog_text *text, const struct why_session *session, int number)
{
	const char *name = system_call_name(session->machine, number);

	if (name)
		elog_text_string(text, name);
	else
		elog_text_printf(text, "call %d", number);
}

/* Return: are there any? */
static bool put_calls(struct elog_text *text, const struct why_session *session,
		      const struct why_wait *wait)
{
	size_t i, shown = 0;

	for (i = 0; i < wait->call_count && shown < CALLS_SHOWN; i++) {
		/* Who only waits for a CPU may do so in any call, or in none. */
		if (wait->calls[i].number < 0)
			continue;
		elog_text_string(text, shown++ ? ", " : "");
		put_call(text, session, wait->calls[i].number);
	}
	return shown;
}

static const char *how_ended(enum interval_cause cause)
{
	return cause == INTERVAL_FUTEX ? "released by " :
	       cause == INTERVAL_PREEMPTED || cause == INTERVAL_YIELD ? "CPU taken by " :
	       "woken by ";
}

static void put_wakers(struct elog_text *text, const struct part *part, bool after_calls)
{
	const struct why_wait *wait = part->wait;
	size_t i;

	if (!wait->waker_count || part->what == INTERVAL_THROTTLED)
		return;
	elog_text_string(text, after_calls ? "; " : "");
	elog_text_string(text, how_ended(part->what));
	for (i = 0; i < wait->waker_count && i < WAKERS_SHOWN; i++) {
		elog_text_string(text, i ? ", " : "");
		put_thread(text, &wait->wakers[i].thread);
		if (wait->waker_count > 1) {
			elog_text_string(text, " (");
			put_ms(text, wait->wakers[i].time, 1);
			elog_text_string(text, ")");
		}
	}
	if (i < wait->waker_count)
		elog_text_printf(text, ", %zu more", wait->waker_count - i);
}

/* The sum may be greater than the length, if a file lies. */
static uint64_t holder_on_cpu(const struct why_holder *holder)
{
	uint64_t left = holder->length;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		left -= holder->waits[i] < left ? holder->waits[i] : left;
	return holder->thread.session ? left : 0;
}

/* Does only its name say who it is? */
static bool has_no_session(const struct why_holder *holder)
{
	uint64_t waits = 0;
	unsigned int i;

	for (i = 0; i < INTERVAL_CAUSES; i++)
		waits |= holder->waits[i];
	return !waits && !holder->thread.session;
}

static void put_holder(struct elog_text *text, const struct why_holder *holder)
{
	struct part parts[PARTS];
	size_t count = 0, i;

	put_blanks(text, HOLDER_COLUMN);
	if (has_no_session(holder)) {
		elog_text_string(text, how_ended(holder->ended));
		put_thread(text, &holder->thread);
		elog_text_string(text, " (works on no session)\n");
		return;
	}
	for (i = 0; i < INTERVAL_CAUSES; i++)
		if (holder->waits[i])
			parts[count++] = (struct part){ .what = i, .time = holder->waits[i] };
	if (holder_on_cpu(holder))
		parts[count++] = (struct part){ .what = ON_CPU, .time = holder_on_cpu(holder) };
	qsort(parts, count, sizeof(*parts), compare_parts);
	put_thread(text, &holder->thread);
	elog_text_string(text, " meanwhile: ");
	for (i = 0; i < count; i++) {
		elog_text_printf(text, "%s%s ", i ? ", " : "", part_name(&parts[i]));
		put_ms(text, parts[i].time, 1);
	}
	elog_text_string(text, "\n");
}

static void put_stacks(struct elog_text *text, const struct why_wait *wait, bool all)
{
	const struct why_stack *stack;
	size_t i, shown = 0;

	for (i = 0; i < wait->stack_count && (all || shown < STACKS_SHOWN); i++) {
		stack = &wait->stacks[i];
		if (!stack->frames)
			continue;
		put_blanks(text, HOLDER_COLUMN);
		if (wait->stack_count > 1)
			put_ms(text, stack->time, 1);
		elog_text_string(text, wait->stack_count > 1 ? " " : "");
		why_stack_put(text, stack->frames);
		elog_text_string(text, "\n");
		if (all)
			why_stack_put_all(text, stack->frames, HOLDER_COLUMN + 2);
		shown++;
	}
}

static void put_part(struct elog_text *text, const struct why_session *session,
		     const struct why_times *times, const struct part *part, bool verbose)
{
	size_t i, j;

	elog_text_printf(text, "  %-10s ", part_name(part));
	put_ms(text, part->time, 9);
	elog_text_printf(text, " %5.1f %%", 100 * share(times, part->time));
	if (part->wait && (part->wait->call_count || part->wait->waker_count)) {
		elog_text_string(text, "  ");
		put_wakers(text, part, put_calls(text, session, part->wait));
	}
	elog_text_string(text, "\n");
	if (part->wait)
		put_stacks(text, part->wait, verbose);
	for (i = 0; part->wait && i < part->wait->waker_count && i < WAKERS_SHOWN; i++)
		for (j = 0; j < part->wait->wakers[i].holder_count; j++)
			put_holder(text, &part->wait->wakers[i].holders[j]);
}

static void print_text(const struct why_session *session, const struct why_times *times,
		       const struct part *parts, size_t count, bool verbose, uint64_t lost,
		       struct elog_text *text)
{
	size_t i;

	put_quotable(text, session->provider);
	if (*session->event) {
		elog_text_string(text, "/");
		put_quotable(text, session->event);
	}
	elog_text_printf(text, " 0x%" PRIx64, session->number);
	if (session->fields && *session->fields)
		elog_text_printf(text, " %s", session->fields);
	elog_text_string(text, "  ");
	put_ms(text, times->wall, 1);
	if (times->threads > 1) {
		elog_text_printf(text, "; %" PRIu64 " threads, ", times->threads);
		put_ms(text, times->thread_time, 1);
		elog_text_string(text, " in all");
	}
	if (session->spans > 1)
		elog_text_printf(text, "; %" PRIu64 " spans", session->spans);
	if (lost)
		elog_text_printf(text, "; %" PRIu64 " event%s lost: times may be missing", lost,
				 plural(lost));
	elog_text_string(text, "\n");
	for (i = 0; i < count; i++)
		put_part(text, session, times, &parts[i], verbose);
}

/* ------------------------------------------------------------------------
 * JSON
 */

static void put_json_thread(struct row *row, const struct why_thread *thread)
{
	row_string(row, "name", NULL, 0, thread->tid ? thread->name : NULL);
	row_number(row, "tid", NULL, 0, thread->tid);
	elog_text_string(row_cell(row, "softirq", NULL, 0),
			 thread->how & INTERVAL_SOFTIRQ ? "true" : "false");
	row_string(row, "provider", NULL, 0, thread->session ? thread->provider : NULL);
	row_session(row, "session", NULL, 0, thread->session);
}

static void put_json_holders(struct elog_text *text, const struct why_waker *waker)
{
	struct row row = { .format = FORMAT_JSON, .text = text };
	const struct why_holder *holder;
	unsigned int i, cause;

	elog_text_string(text, "[");
	for (i = 0; i < waker->holder_count; i++) {
		holder = &waker->holders[i];
		elog_text_string(text, i ? ",{" : "{");
		row.any = false;
		put_json_thread(&row, &holder->thread);
		row_string(&row, "ended", NULL, 0, interval_cause_name(holder->ended));
		row_number(&row, "length", NULL, 0, holder->length);
		if (holder->thread.session)
			row_number(&row, "on_cpu", NULL, 0, holder_on_cpu(holder));
		for (cause = 0; cause < INTERVAL_CAUSES; cause++)
			if (holder->waits[cause])
				row_number(&row, interval_cause_name(cause), NULL, 0,
					   holder->waits[cause]);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "]");
}

static void put_json_stacks(struct elog_text *text, const struct why_wait *wait)
{
	struct row item = { .format = FORMAT_JSON, .text = text };
	const struct why_stack *stack;
	bool any = false;
	size_t i;

	elog_text_string(text, "[");
	for (i = 0; i < wait->stack_count; i++) {
		stack = &wait->stacks[i];
		if (!stack->frames)
			continue;
		elog_text_string(text, any ? ",{" : "{");
		any = true;
		item.any = false;
		row_number(&item, "time", NULL, 0, stack->time);
		why_stack_put_json(row_cell(&item, "frames", NULL, 0), stack->frames);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "]");
}

static void put_json_wait(struct row *row, const struct why_session *session,
			  const struct why_wait *wait)
{
	struct elog_text *text = row->text;
	struct row item = { .format = FORMAT_JSON, .text = text };
	size_t i;

	row_number(row, "intervals", NULL, 0, wait->count);
	elog_text_string(row_cell(row, "calls", NULL, 0), "[");
	for (i = 0; i < wait->call_count; i++) {
		const struct why_call *call = &wait->calls[i];

		elog_text_string(text, i ? ",{" : "{");
		item.any = false;
		elog_text_printf(row_cell(&item, "number", NULL, 0), "%d", call->number);
		row_string(&item, "name", NULL, 0,
			   system_call_name(session->machine, call->number));
		row_number(&item, "time", NULL, 0, call->time);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "]");
	elog_text_string(row_cell(row, "wakers", NULL, 0), "[");
	for (i = 0; i < wait->waker_count; i++) {
		elog_text_string(text, i ? ",{" : "{");
		item.any = false;
		put_json_thread(&item, &wait->wakers[i].thread);
		row_number(&item, "time", NULL, 0, wait->wakers[i].time);
		put_json_holders(row_cell(&item, "holders", NULL, 0), &wait->wakers[i]);
		elog_text_string(text, "}");
	}
	elog_text_string(text, "]");
	put_json_stacks(row_cell(row, "stacks", NULL, 0), wait);
}

static void print_json(const struct why_session *session, const struct why_times *times,
		       const struct part *parts, size_t count, uint64_t lost,
		       struct elog_text *text)
{
	struct row row = { .format = FORMAT_JSON, .text = text };
	size_t i;

	row_begin(&row);
	row_string(&row, "kind", NULL, 0, "session");
	row_string(&row, "host", NULL, 0, *session->host ? session->host : NULL);
	row_string(&row, "boot_id", NULL, 0, *session->boot ? session->boot : NULL);
	row_string(&row, "instance", NULL, 0, *session->instance ? session->instance : NULL);
	row_string(&row, "provider", NULL, 0, session->provider);
	row_session(&row, "session", NULL, 0, session->number);
	elog_text_printf(text, ",%s", session->fields ? session->fields :
			 "\"event\":null,\"fields\":null");
	row_number(&row, "spans", NULL, 0, session->spans);
	row_wall(&row, "start_wall", session->first);
	row_number(&row, "wall", NULL, 0, times->wall);
	row_number(&row, "threads", NULL, 0, times->threads);
	row_number(&row, "thread_time", NULL, 0, times->thread_time);
	row_number(&row, "events", NULL, 0, session->events);
	row_number(&row, "intervals", NULL, 0, session->intervals);
	row_number(&row, "lost", NULL, 0, lost);
	row_end(&row);
	for (i = 0; i < count; i++) {
		row_begin(&row);
		row_string(&row, "kind", NULL, 0, "part");
		row_string(&row, "part", NULL, 0, part_name(&parts[i]));
		row_number(&row, "time", NULL, 0, parts[i].time);
		row_decimal(&row, "share", NULL, 0, share(times, parts[i].time));
		if (parts[i].wait)
			put_json_wait(&row, session, parts[i].wait);
		row_end(&row);
	}
}

void why_print(struct why_session *session, const struct print_settings *settings, uint64_t lost,
	       struct elog_text *text)
{
	const struct why_times times = why_times(session);
	struct part parts[PARTS];
	const size_t count = make_parts(session, &times, parts);

	if (settings->format == FORMAT_JSON)
		print_json(session, &times, parts, count, lost, text);
	else
		print_text(session, &times, parts, count, settings->verbose, lost, text);
}
