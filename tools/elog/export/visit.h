/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Visits everything in files once, in the order of time, for exports and reports: events
 * that are selected with the spans that they start and end, losses, and the segments
 * of captures. Prints damage and progress on stderr, and the summary at the end.
 */
#ifndef VISIT_H
#define VISIT_H

#include "export/spans.h"
#include "input/source.h"
#include "output/progress.h"

#define VISIT_KINDS_MAX	4096	/* kinds of events */

/**
 * struct visit_settings - what to visit
 * @select: which events
 * @source: how to read files
 * @spans: which spans
 * @names: of the files, or the URL of a stream
 * @name_count: of @names; 0: live
 * @count: end after so many events; 0: no limit
 * @to_stdout: the output goes there: no progress if it is a terminal
 * @quiet: no summary, no progress
 */
struct visit_settings {
	const struct selection_spec *select;
	const struct source_settings *source;
	const struct span_settings *spans;
	char *const *names;
	int name_count;
	uint64_t count;
	bool to_stdout;
	bool quiet;
};

/**
 * struct event_kind - events with the same provider, name and types of fields
 * @provider: "?" if the definition is missing
 * @name: of the event; "?" likewise
 * @role: START, END, both or none
 * @data: for the owner of the visit, for example a table; initially NULL
 * @next: the kind that was seen next
 */
struct event_kind {
	char *provider;
	char *name;
	struct span_role role;
	void *data;
	struct event_kind *next;
};

/** invalid_records() - the invalid records that a loss counts, which are no lost events */
static inline uint64_t invalid_records(const struct elog_item *item)
{
	return item->lost_count > CAUSE_INVALID ? item->lost[CAUSE_INVALID] : 0;
}

/**
 * struct visit_event - an event
 * @entry: the event; entry->cached->event is the schema, or NULL if it is missing
 * @kind: its kind, which stays until visit_close()
 * @match: the span that it ends or starts. The callee may set match.start->data
 */
struct visit_event {
	const struct entry *entry;
	struct event_kind *kind;
	struct span_match match;
};

/**
 * struct visit_ops - what to do; each may be NULL
 * @segment: a segment of a capture begins: entry->reader has its clocks and its origin
 * @event: an event
 * @lost: a loss of @count events, or, with a @count of 0, only invalid records
 * @drop: a START gets no END: it is replaced, forgotten where events are missing, or
 *	pending at the end. Its data must be freed
 * @damage: damage, which was printed, or an unfinished file
 * @sync: between events now and then
 *
 * @segment, @event, @lost, @damage and @sync return 0 or a negative errno, which ends the visit.
 */
struct visit_ops {
	int (*segment)(void *context, const struct entry *entry);
	int (*event)(void *context, struct visit_event *event);
	int (*lost)(void *context, const struct entry *entry, uint64_t count);
	void (*drop)(void *context, struct span *start);
	int (*damage)(void *context, const struct entry *entry);
	int (*sync)(void *context, const struct entry *entry);
};

/**
 * struct visit - a visit; to be read by anyone
 * @settings: what to visit
 * @spans: pending STARTs, and counts
 * @kinds: all kinds in the order in which they were seen
 * @kind_count: number of @kinds
 * @events: number of events
 * @unknown: events whose definition is missing
 * @lost: lost events by cause
 * @first: time of the first event or loss, CLOCK_REALTIME ns
 * @last: time of the last one
 * @any: there was one
 * @stopped: a signal ended the visit
 *
 * The rest belongs to visit.c.
 */
struct visit {
	const struct visit_settings *settings;
	struct spans spans;
	struct event_kind *kinds;
	size_t kind_count;
	uint64_t events;
	uint64_t unknown;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	int64_t first;
	int64_t last;
	bool any;
	bool stopped;

	const struct visit_ops *ops;
	void *context;
	struct source *source;
	struct progress progress;
	struct elog_map kind_map;	/* pointers to @kinds */
	struct event_kind **kind_end;
	struct elog_text key;
	bool enough;			/* -n is reached */
};

/**
 * visit_open() - open the files
 * @visit: set to the new visit
 * @settings: outlive it
 * @ops: outlive it
 * @context: for @ops
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int visit_open(struct visit **visit, const struct visit_settings *settings,
	       const struct visit_ops *ops, void *context);

/**
 * visit_open_live() - prepare for the events of a live run
 * @visit: set to the new visit
 * @settings: outlive it
 * @ops: outlive it
 * @context: for @ops
 *
 * The caller passes each item to visit_take() and calls visit_end() at the end. It must not
 * call visit_run() and visit_finish().
 *
 * Return: as visit_open().
 */
int visit_open_live(struct visit **visit, const struct visit_settings *settings,
		    const struct visit_ops *ops, void *context);

/** visit_take() - visit an event or a loss of a live run; return: as visit_run() */
int visit_take(struct visit *visit, const struct entry *entry);

/** visit_end() - no event comes any more: drop the pending STARTs */
void visit_end(struct visit *visit);

/** visit_print_spans() - print on stderr why spans may be missing */
void visit_print_spans(const struct visit *visit);

/**
 * visit_run() - visit everything
 * @visit: just opened
 *
 * Damage and a signal to stop end nothing in between: what was visited so far is as valid
 * as all of it.
 *
 * Return: 0, or a negative errno: of an operation, or -ENOMEM, or -E2BIG: too many kinds.
 */
int visit_run(struct visit *visit);

/**
 * visit_finish() - print the summary, and what is known only at the end
 * @visit: after visit_run()
 * @failed: there was an error, which was printed
 *
 * Return: the exit status.
 */
int visit_finish(struct visit *visit, bool failed);

/** visit_is_unreadable() - could nothing be read of any file? The reasons were printed */
bool visit_is_unreadable(const struct visit *visit);

/** visit_close() - free everything; NULL is allowed */
void visit_close(struct visit *visit);

#endif /* VISIT_H */
