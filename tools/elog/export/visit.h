/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Visits everything in files, or in a live run, in the order of time: events that are
 * selected, with the spans that they start and end, losses, and the segments of captures.
 * This is the loop of the verbs that show, count or export; what they do with an item is in
 * their struct visit_ops. Prints damage and progress on stderr, and a summary at the end.
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
 * @spans: which spans; NULL: events have no kinds and no spans
 * @names: of the files, or the URL of a stream
 * @name_count: of @names; 0: live
 * @count: end after so many events; 0: no limit
 * @skip_kinds: skip events of more kinds than VISIT_KINDS_MAX, instead of ending: any program
 *	can make up kinds
 * @duration: with --follow: end after this time, ns; 0: no limit
 * @to_stdout: the output goes there: no progress if it is a terminal
 * @whole: a signal to stop ends the visit between two items, so that the output is whole;
 *	otherwise it ends the process, unless the owner catches it
 * @quiet: no summary, no progress
 */
struct visit_settings {
	const struct selection_spec *select;
	const struct source_settings *source;
	const struct span_settings *spans;
	char *const *names;
	int name_count;
	uint64_t count;
	uint64_t duration;
	bool skip_kinds;
	bool to_stdout;
	bool whole;
	bool quiet;
};

/**
 * struct event_kind - events with the same provider, name, attribute and types of fields
 * @provider: "?" if the definition is missing
 * @name: of the event; "?" likewise
 * @is_missing: the definition is: a provider may also be called "?"
 * @role: START, END, both or none
 * @data: for the owner of the visit, for example a table; initially NULL
 * @count: likewise, of events; initially 0
 * @next: the kind that was seen next
 */
struct event_kind {
	char *provider;
	char *name;
	bool is_missing;
	struct span_role role;
	void *data;
	uint64_t count;
	struct event_kind *next;
};

/** event_kind_of() - the kind that a role is a member of */
static inline const struct event_kind *event_kind_of(const struct span_role *role)
{
	return (const void *)((const char *)role - offsetof(struct event_kind, role));
}

/** invalid_records() - the invalid records that a loss counts, which are no lost events */
static inline uint64_t invalid_records(const struct elog_item *item)
{
	return item->lost_count > CAUSE_INVALID ? item->lost[CAUSE_INVALID] : 0;
}

/**
 * struct visit_event - an event
 * @entry: the event; entry->cached->event is the schema, or NULL if it is missing
 * @kind: its kind, which stays until visit_close(); NULL without spans
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
 * @broken: a ring was damaged: records are missing here
 * @idle: nothing is to be read for now: the visit sleeps after this, or ends if @over. Also
 *	about every 100 ms while the servers of a stream do not answer
 * @left: for how many milliseconds it may sleep at most; NULL: until there is an event
 *
 * All but @drop and @left return 0 or a negative errno, which ends the visit. After -EAGAIN
 * of @event or @lost, the next visit_batch() calls it again for the same item.
 */
struct visit_ops {
	int (*segment)(void *context, const struct entry *entry);
	int (*event)(void *context, struct visit_event *event);
	int (*lost)(void *context, const struct entry *entry, uint64_t count);
	void (*drop)(void *context, struct span *start);
	int (*damage)(void *context, const struct entry *entry);
	int (*sync)(void *context, const struct entry *entry);
	int (*broken)(void *context);
	int (*idle)(void *context, bool over);
	int (*left)(void *context);
};

/**
 * struct visit - a visit; to be read by anyone, who may also set @enough, @silent and
 *	@pairing
 * @settings: what to visit
 * @spans: pending STARTs, and counts
 * @pairing: pending STARTs to forget where events are missing: those of @spans; or NULL
 * @kinds: all kinds in the order in which they were seen
 * @kind_count: number of @kinds
 * @events: number of events
 * @unknown: events whose definition is missing
 * @skipped: events that are skipped because there are too many kinds
 * @lost: lost events by cause
 * @first: time of the first event or loss, CLOCK_REALTIME ns
 * @last: time of the last one
 * @any: there was one
 * @enough: end the visit: -n is reached
 * @silent: print no summary
 * @stopped: a signal ended the visit, and later events are missing
 * @damaged: a ring was damaged
 * @drained: in @idle: everything was read that there is for now
 * @held: an operation has returned -EAGAIN: the item will be offered again
 *
 * The rest belongs to visit.c.
 */
struct visit {
	const struct visit_settings *settings;
	struct spans spans;
	struct pairing *pairing;
	struct event_kind *kinds;
	size_t kind_count;
	uint64_t events;
	uint64_t unknown;
	uint64_t skipped;
	uint64_t lost[ELOG_LOST_CAUSES_MAX];
	int64_t first;
	int64_t last;
	bool any;
	bool enough;
	bool silent;
	bool stopped;
	bool damaged;
	bool drained;
	bool held;

	const struct visit_ops *ops;
	void *context;
	struct source *source;
	struct source_settings reading;	/* of @settings */
	uint64_t started;		/* CLOCK_MONOTONIC ns */
	int error;			/* of @idle, while the servers did not answer */
	struct entry entry;		/* the last item */
	struct live *live;		/* NULL: files */
	bool over;			/* the live run */
	struct progress progress;
	struct elog_map kind_map;	/* pointers to @kinds */
	struct event_kind **kind_end;
	struct elog_text key;
};

/**
 * visit_open() - open the files
 * @visit: set to the new visit
 * @settings: must outlive the visit
 * @ops: must outlive the visit
 * @context: for @ops
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int visit_open(struct visit **visit, const struct visit_settings *settings,
	       const struct visit_ops *ops, void *context);

/**
 * visit_open_live() - prepare for the events of a live run
 * @visit: set to the new visit
 * @settings: must outlive the visit
 * @live: open; the caller calls live_start() before the visit and live_end() after it
 * @ops: must outlive the visit
 * @context: for @ops
 *
 * Return: as visit_open().
 */
int visit_open_live(struct visit **visit, const struct visit_settings *settings,
		    struct live *live, const struct visit_ops *ops, void *context);

/** visit_end() - no event comes any more: drop the pending STARTs */
void visit_end(struct visit *visit);

/** visit_print_spans() - print on stderr why spans may be missing */
void visit_print_spans(const struct visit *visit);

/**
 * visit_run() - visit everything
 * @visit: just opened
 *
 * Damage and a signal to stop end nothing in between: what was visited so far is as valid
 * as all of it. A live run ends as live_over() says, after a last batch.
 *
 * Return: 0, or a negative errno: of an operation, or -ENOMEM, or -E2BIG: too many kinds.
 */
int visit_run(struct visit *visit);

/**
 * visit_batch() - visit what can be read now
 * @visit: open
 *
 * For the owner of a live visit that has a loop of its own, after elog_consumer_flush().
 *
 * Return: 1: there is no more for now; 0: this is the end, or enough; -EAGAIN: an item is
 * held; or an error as visit_run().
 */
int visit_batch(struct visit *visit);

/**
 * visit_again() - visit files once more, for what can be searched only now
 * @settings: of the visit before, which has printed what is wrong with the files; its @spans and
 *	@count do not count
 * @ops: what to do
 * @context: for @ops
 * @failed_before: visit_has_failed() of that visit
 *
 * Messages are printed only if something else has failed.
 *
 * Return: 0; 1 if they cannot be read any more, after a message; or a negative errno.
 */
int visit_again(const struct visit_settings *settings, const struct visit_ops *ops, void *context,
		bool failed_before);

/**
 * visit_finish() - print the summary, and what is known only at the end
 * @visit: after visit_run()
 * @failed: there was an error, which was printed
 *
 * Return: the exit status.
 */
int visit_finish(struct visit *visit, bool failed);

/**
 * visit_status() - print what is known only at the end, and find the exit status
 * @visit: after visit_run()
 * @failed: there was an error, which was printed
 * @lost: number of lost events
 */
int visit_status(struct visit *visit, bool failed, uint64_t lost);

/** visit_is_connected() - is there a connection to the servers? True if no stream is visited */
bool visit_is_connected(const struct visit *visit);

/** visit_has_failed() - was a file damaged, or could it not be read? It was printed */
bool visit_has_failed(const struct visit *visit);

/** visit_is_unreadable() - could nothing be read of any file? The reasons were printed */
bool visit_is_unreadable(const struct visit *visit);

/** visit_close() - free everything; NULL is allowed */
void visit_close(struct visit *visit);

#endif /* VISIT_H */
