/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats of elog export. Each is a set of functions for the visit of all files; the
 * verb opens the output, visits, and closes it.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include "export/sink.h"
#include "export/visit.h"

/* Losses, and spans in tables of their own, have the provider's name of the module. */
#define EXPORT_PROVIDER	"eventlog"

/**
 * struct export - an export
 * @settings: what is visited
 * @csv: comma-separated values instead of JSON Lines
 * @receiver: the URL of a receiver, or NULL
 * @output: -o, or "-"
 * @sink: the output; not of a format that writes a directory
 * @live: the events are those of this machine, as they happen
 * @visit: the visit
 * @state: of the format
 */
struct export {
	const struct visit_settings *settings;
	bool csv;
	const char *receiver;
	const char *output;
	struct sink sink;
	bool live;
	struct visit *visit;
	void *state;
};

/**
 * struct export_format - a format
 * @ops: its context is struct export
 * @directory: the output is a directory, which the format creates
 * @remote: the output is a receiver: there is no sink
 * @binary: not for a terminal
 * @open: before the visit, but after the sink was opened; may be NULL. Return: 0 or a
 *	negative errno; only -ENOMEM was not printed
 * @finish: after the visit, also after an error: complete what is valid. Return: likewise, or
 *	-EREMOTEIO: the reason was printed; may be NULL
 * @close_kind: free the data of a kind; may be NULL
 * @close: free the state; may be NULL
 */
struct export_format {
	struct visit_ops ops;
	bool directory;
	bool remote;
	bool binary;
	int (*open)(struct export *export);
	int (*finish)(struct export *export);
	void (*close_kind)(struct event_kind *kind);
	void (*close)(struct export *export);
};

extern const struct export_format export_lines;	/* jsonl and csv */
extern const struct export_format export_perfetto;
extern const struct export_format export_parquet;
extern const struct export_format export_otlp;

/** is_text() - is the value of a field of this type text, as it is in the payload? */
static inline bool is_text(const struct elog_schema_field *field)
{
	return field->type == ELOG_TYPE_CHARS || field->type == ELOG_TYPE_STRING;
}

/** thread_name() - the name of an event's thread; "": it has no thread */
static inline const char *thread_name(const struct entry *entry)
{
	return entry->item.tid ? elog_processes_name(entry->processes, entry->item.pid,
						     entry->item.tid) : "";
}

/** thread_key() - a number for a thread: its id may be used again by another process */
static inline uint64_t thread_key(const struct elog_item *item)
{
	return (uint64_t)item->pid << 32 | item->tid;
}

/** process_name() - the name of its process; ":" and its number: not known */
static inline const char *process_name(const struct entry *entry)
{
	return entry->item.pid ? elog_processes_name(entry->processes, entry->item.pid,
						     entry->item.pid) : "";
}

#endif /* EXPORT_H */
