/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a definition as a trace event: ftrace's table of fields, the print
 * format that perf and trace-cmd use, and the printing of records in the kernel.
 *
 * A record of the trace event consists of ftrace's header, the session, and the payload.
 * In the record, the words of dynamic fields are relative to the start of the record,
 * and ports are in host byte order.  Events of the default provider have no session, so
 * that they have the layout that programs written for user_events expect.
 *
 * A layout is constant except for the suffix of its name.  There are no locks.
 */
#ifndef EVENTLOG_TRACE_LAYOUT_H
#define EVENTLOG_TRACE_LAYOUT_H

#include <linux/trace_events.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

struct eventlog_event;
struct trace_seq;

/* How a value in the payload is converted when it is copied to a record. */
enum eventlog_trace_fix {
	EVENTLOG_TRACE_FIX_WORD,	/* make a __data_loc word relative to the record */
	EVENTLOG_TRACE_FIX_PORT,	/* network to host byte order */
};

/**
 * struct eventlog_trace_patch - a value in the payload that is converted
 * @position: offset in the payload
 * @fix: enum eventlog_trace_fix
 */
struct eventlog_trace_patch {
	u32 position;
	enum eventlog_trace_fix fix;
};

struct eventlog_trace_field;
/* Length of ".12345678". */
#define EVENTLOG_TRACE_SUFFIX 9

struct eventlog_trace_value;

/**
 * struct eventlog_trace_layout - layout of a trace event
 * @session: records contain the session
 * @unique: the name always gets a suffix
 * @plain: the format is that of user_events
 * @validate: validate the words of dynamic fields again when they are copied: a BPF
 *	program's memory may have changed since it was validated
 * @header_bytes: size of a record before the payload
 * @fixed_bytes: size of a record without its dynamic part
 * @group: name of the group in tracefs; owned
 * @name: name of the event, with space for EVENTLOG_TRACE_SUFFIX characters that make it
 *	unique; owned
 * @print_fmt: print format for perf and trace-cmd
 * @ftrace_fields: table for ftrace; the last entry is empty
 * @patches: values to convert
 * @patch_count: number of @patches
 * @fields: the fields, for printing
 * @field_count: number of @fields
 * @values: members of the enum and flags types used
 * @text: copy of the definition's text; the names in @fields point into it
 * @bytes: memory of the layout
 */
struct eventlog_trace_layout {
	bool session;
	bool unique;
	bool plain;
	bool validate;
	u32 header_bytes;
	u32 fixed_bytes;
	char *group;
	char *name;
	char *print_fmt;
	struct trace_event_fields *ftrace_fields;
	struct eventlog_trace_patch *patches;
	unsigned int patch_count;
	struct eventlog_trace_field *fields;
	unsigned int field_count;
	struct eventlog_trace_value *values;
	char *text;
	size_t bytes;
};

/**
 * eventlog_trace_layout_new() - make the layout of a definition
 * @event: the definition; the caller holds domain->lock, or the event is not published yet
 *
 * The memory is charged to the calling process.
 *
 * Context: process context.
 *
 * Return: the layout; NULL: out of memory, or the fixed part is too large for ftrace.
 */
struct eventlog_trace_layout *eventlog_trace_layout_new(const struct eventlog_event *event);

/**
 * eventlog_trace_layout_bytes() - memory that a trace event with a layout takes
 * @layout: the layout
 *
 * Return: bytes of the layout, and of what ftrace makes in its first instance.  Further instances,
 * which only root makes, are not counted.
 */
size_t eventlog_trace_layout_bytes(const struct eventlog_trace_layout *layout);

/**
 * eventlog_trace_group_bytes() - memory that ftrace takes for the group of a trace event
 * @layout: of the first one in the group
 */
size_t eventlog_trace_group_bytes(const struct eventlog_trace_layout *layout);

/**
 * eventlog_trace_layout_free() - free a layout
 * @layout: the layout, or NULL
 */
void eventlog_trace_layout_free(struct eventlog_trace_layout *layout);

/**
 * eventlog_trace_layout_print() - print a record
 * @layout: the layout
 * @seq: destination
 * @record: the record, starting with ftrace's header.  It may belong to another event:
 *	ftrace reuses the ids of removed events
 * @bytes: size of @record
 *
 * Context: any that ftrace prints in.
 */
void eventlog_trace_layout_print(const struct eventlog_trace_layout *layout,
				 struct trace_seq *seq, const void *record, u32 bytes);

#endif /* EVENTLOG_TRACE_LAYOUT_H */
