/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans of an export or a report: from an event START to the next END. Events with the
 * attributes start and end are START and END. By name, START
 * and END are X_start and X_end, X_begin and X_end, or X_open and X_close, and the span is
 * X; --span START:END replaces these. A pair is what elog latency START END counts as one:
 * of one provider and session, or of what --by names.
 */
#ifndef SPANS_H
#define SPANS_H

#include "libelog/util/process.h"
#include "output/latency_key.h"
#include "output/pairing.h"

#define SPANS_PENDING	(1U << 17)	/* without --pending */

/**
 * struct span_settings - which spans there are
 * @rules: START:END of each; none: those by name
 * @by: what START and END have in common: see latency_key.h; NULL: the session
 * @pending: how many STARTs to keep that wait for their END; 0: SPANS_PENDING
 */
struct span_settings {
	struct string_list rules;
	const char *by;
	uint32_t pending;
};

/**
 * struct span_kind - spans with one name
 * @name: of the spans
 * @name_size: bytes of @name
 * @hash: different for each rule or name
 *
 * The rest belongs to spans.c.
 */
struct span_kind {
	const char *name;
	size_t name_size;
	struct elog_map_key hash;

	bool by_provider;
};

/**
 * struct span_role - what the events of a definition are for spans
 * @is_start: a START
 * @is_end: an END, perhaps of other spans
 * @start: the spans that it starts
 * @end: the spans that it ends
 */
struct span_role {
	bool is_start;
	bool is_end;
	struct span_kind start;
	struct span_kind end;
};

/**
 * struct span - a START, and a span once there is an END
 * @time: of the START, CLOCK_MONOTONIC ns
 * @wall: of the START, CLOCK_REALTIME ns
 * @duration: ns; of a START: 0
 * @number: of the START among all STARTs: several may have the same time
 * @session: of the START
 * @pid: of the START
 * @tid: of the START
 * @cpu: of the START
 * @thread: its thread's name at that time, which may contain anything; "": it has none
 * @process: its process's, likewise
 * @role: of the START: its @start is the kind of the span. Valid as long as the owner of
 *	struct span_role keeps it
 * @data: for the owner of the spans; initially NULL
 */
struct span {
	uint64_t time;
	int64_t wall;
	uint64_t duration;
	uint64_t number;
	uint64_t session;
	uint32_t pid;
	uint32_t tid;
	unsigned int cpu;
	char thread[ELOG_COMM_SIZE];
	char process[ELOG_COMM_SIZE];
	const struct span_role *role;
	void *data;
};

/**
 * struct span_match - what an event is for spans
 * @key: what the events of a pair have in common: the session. Different sessions have
 *	different keys; spans with different names in one session have the same key. Only
 *	valid if there is @span or @start, and of @start if there are both
 * @ended: it is the END of @span
 * @span: the span that it ends
 * @start: the START that it is, which is pending now; NULL: none
 */
struct span_match {
	struct elog_map_key key;
	bool ended;
	struct span span;
	struct span *start;
};

/**
 * struct spans - the pending STARTs
 * @pairing: and counts; the owner may set its drop and context after spans_open()
 *
 * The rest belongs to spans.c.
 */
struct spans {
	struct pairing pairing;
	struct latency_key keys[2];	/* of any provider, of one provider */
	struct span_rule *rules;	/* of --span */
	size_t rule_count;
};

/**
 * spans_open() - parse --span and --by
 * @spans: zeroed; close it in any case
 * @settings: outlive it
 * @many_files: events come from several files
 *
 * Return: 0; -EINVAL, after an error message; -ENOMEM.
 */
int spans_open(struct spans *spans, const struct span_settings *settings, bool many_files);

/** spans_close() - free what it has; drops the pending STARTs */
void spans_close(struct spans *spans);

/**
 * spans_find_role() - find out what a definition's events are
 * @spans: the rules
 * @event: the definition; NULL: unknown
 * @role: filled in; its names are valid as long as @event and @spans
 */
void spans_find_role(const struct spans *spans, const struct elog_schema_event *event,
		     struct span_role *role);

/** spans_explain_none() - print the error that there are no spans. @starts, @ends: events */
void spans_explain_none(uint64_t starts, uint64_t ends);

/**
 * spans_take() - take an event
 * @spans: the pending STARTs
 * @entry: the event
 * @role: of its definition
 * @match: filled in
 *
 * Return: 0 or -ENOMEM.
 */
int spans_take(struct spans *spans, const struct entry *entry, const struct span_role *role,
	       struct span_match *match);

/**
 * spans_session() - make the key of an event's session, as struct span_match has it
 * @spans: the pending STARTs
 * @entry: an event that neither starts nor ends a span
 * @key: set
 *
 * Return: 1; 0: the event lacks what is paired by; -ENOMEM.
 */
int spans_session(struct spans *spans, const struct entry *entry, struct elog_map_key *key);

/**
 * spans_session_of() - the same for a session that an event is about
 * @spans: the pending STARTs
 * @entry: an event of the same boot
 * @provider: of the session
 * @session: its number
 * @key: set
 *
 * Return: 1; 0: pairs have something else in common than the session; -ENOMEM.
 */
int spans_session_of(struct spans *spans, const struct entry *entry, const char *provider,
		     uint64_t session, struct elog_map_key *key);

#endif /* SPANS_H */
