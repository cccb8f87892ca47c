/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a definition looks as a trace event: ftrace's table of fields, the format
 * that perf and trace-cmd print by, and how the kernel itself prints a record.
 *
 * A record of the trace event is ftrace's header, the session, and the payload
 * with its words of dynamic fields counting from the record's start and its
 * ports in host order.  Events of the default provider have no session: there
 * programs written for user_events find what they expect.
 *
 * A layout is constant once made, but for the name's suffix; no locks.
 */
#ifndef EVENTLOG_TRACE_LAYOUT_H
#define EVENTLOG_TRACE_LAYOUT_H

#include <linux/trace_events.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_event;
struct trace_seq;

/* What has to be changed in a payload on its way into a record. */
enum eventlog_trace_fix {
	EVENTLOG_TRACE_FIX_WORD,	/* a __data_loc word: counts from the record's start */
	EVENTLOG_TRACE_FIX_PORT,	/* network to host order */
};

/**
 * struct eventlog_trace_patch - a place in the payload to be changed
 * @position: bytes from the payload's start
 * @fix: how
 */
struct eventlog_trace_patch {
	u32 position;
	enum eventlog_trace_fix fix;
};

struct eventlog_trace_field;
struct eventlog_trace_value;

/**
 * struct eventlog_trace_layout - see the top of the file
 * @session: records have one
 * @validate: payloads may have dynamic fields that others change meanwhile
 * @header_bytes: of a record, before the payload
 * @fixed_bytes: of a record without its dynamic part
 * @group: name of the group
 * @name: name of the event, with room for a suffix that makes it unique
 * @print_fmt: for perf and trace-cmd
 * @ftrace_fields: for ftrace; ends with an empty one
 * @patches: what to change
 * @patch_count: their number
 * @fields: for printing
 * @field_count: their number
 * @values: members of the enums and flags used
 * @text: what names point into
 */
struct eventlog_trace_layout {
	bool session;
	bool validate;
	u32 header_bytes;
	u32 fixed_bytes;
	char group[EVENTLOG_NAME_MAX + sizeof("eventlog_")];
	char name[EVENTLOG_NAME_MAX + sizeof(".12345678")];
	char *print_fmt;
	struct trace_event_fields *ftrace_fields;
	struct eventlog_trace_patch *patches;
	unsigned int patch_count;
	struct eventlog_trace_field *fields;
	unsigned int field_count;
	struct eventlog_trace_value *values;
	char *text;
};

/**
 * eventlog_trace_layout_new() - lay a definition out
 * @event: its domain locked
 *
 * Process context; charged to the calling process.
 *
 * Return: the layout, or NULL (no memory, or more fields than ftrace can have).
 */
struct eventlog_trace_layout *eventlog_trace_layout_new(const struct eventlog_event *event);

/**
 * eventlog_trace_layout_free() - free a layout
 * @layout: the layout, or NULL
 */
void eventlog_trace_layout_free(struct eventlog_trace_layout *layout);

/**
 * eventlog_trace_layout_print() - print a record
 * @layout: the layout
 * @seq: where to
 * @record: from ftrace's header on; a stranger's, if it was recorded under an
 *	id that was given to another event since
 * @bytes: of the record
 *
 * Any context that ftrace prints in.
 */
void eventlog_trace_layout_print(const struct eventlog_trace_layout *layout,
				 struct trace_seq *seq, const void *record, u32 bytes);

#endif /* EVENTLOG_TRACE_LAYOUT_H */
