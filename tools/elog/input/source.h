/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a verb: of files, merged by time, or of a live subscription. Returns the
 * events that are selected, in order, and losses, damage and the like.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "input/live.h"
#include "input/select.h"

struct source;
struct stream_gap;

/**
 * struct source_settings - how to read files
 * @follow: at the end wait for more
 * @host: a glob: of a stream, only hosts with this name or machine id; NULL: all
 * @fields: fields that are printed: see names.h; or NULL
 * @waiting: of a stream: is called about every 100 ms while the servers do not answer. It returns
 *	true to end reading; NULL: a signal ends it
 * @context: for @waiting
 * @quiet: no warnings
 */
struct source_settings {
	bool follow;
	const char *host;
	const char *fields;
	bool (*waiting)(void *context);
	void *context;
	bool quiet;
};

/**
 * struct entry - an item of a source
 * @item: the item; its payload is valid until the next call for the source
 * @cached: the definition of an event; do not keep it: the source may drop it with the
 *	next item
 * @processes: names of threads
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the file; NULL: live
 * @file: name of the file
 * @host: name of the host, when a stream is read; otherwise NULL
 * @host_name: name of the host that the file is of; NULL: not known, or live
 * @machine_id: its machine id; likewise
 * @boot_id: the boot of the host; likewise
 * @gap: damage: what is missing in a stream; otherwise NULL
 * @unfinished: damage: this is the end of a file that a capture still writes
 * @recorded: of an event: its payload before it was decoded; else NULL
 * @recorded_size: bytes of it
 */
struct entry {
	struct elog_item item;
	struct cached_event *cached;
	struct elog_processes *processes;
	int64_t wall_offset;
	const struct elog_reader *reader;
	const char *file;
	const char *host;
	const char *host_name;
	const char *machine_id;
	const char *boot_id;
	const struct stream_gap *gap;
	bool unfinished;
	const void *recorded;
	size_t recorded_size;
};

/** entry_size() - bytes of an event's payload, as it was recorded */
static inline size_t entry_size(const struct entry *entry)
{
	return entry->recorded ? entry->recorded_size : entry->item.payload_size;
}

/** source_allow_files() - raise the limit of open files, if so many need it and it can be */
void source_allow_files(unsigned int count);

/**
 * source_open_live() - events of a live subscription
 * @source: set to the new source
 * @live: open; outlives the source
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int source_open_live(struct source **source, struct live *live);

/**
 * source_open_files() - events of files
 * @source: set to the new source
 * @spec: outlives the source; its @since is used for seeking
 * @settings: outlive the source
 * @names: of the files, "-": stdin; or the URL of a stream; outlive the source
 * @count: of @names
 *
 * Return: 0; a negative errno if no file can be opened; the reason was printed.
 */
int source_open_files(struct source **source, const struct selection_spec *spec,
		      const struct source_settings *settings, char *const *names, int count);

/** source_is_stream() - are the names of files the URL of a stream? */
bool source_is_stream(char *const *names, int count);

/** source_is_file() - does an argument name what can be read: a file, "-", or a stream? */
bool source_is_file(const char *name);

/** source_is_connected() - is there a connection to the servers? True if it is not of a stream */
bool source_is_connected(const struct source *source);

/** source_close() - free everything; NULL is allowed */
void source_close(struct source *source);

/**
 * source_next() - the next item
 * @source: the source
 * @entry: filled in
 *
 * For a live source: after elog_consumer_flush() or elog_consumer_pause(). Prints
 * which files cannot be read. Such files and damage make source_failed() true.
 *
 * Return: 1; 0 at the end, or at the end of a live batch; -EAGAIN with --follow: no more
 * items for now; -EBADMSG: a ring was damaged, continue; another negative errno.
 */
int source_next(struct source *source, struct entry *entry);

/**
 * source_wait() - wait for more items
 * @source: live; or it follows files, after source_next() has returned -EAGAIN
 * @most: milliseconds at most; -1: no limit
 * @over: set: the run must end, or a signal has requested that. Of a live source, a last
 *	batch is to be taken then, too
 *
 * Starts the next batch of a live source, with elog_consumer_flush().
 *
 * Return: 1: call source_next(); 0: there is nothing; or a negative errno.
 */
int source_wait(struct source *source, int most, bool *over);

/** source_put_damage() - append a description of an ELOG_ITEM_DAMAGE, or an unfinished file */
void source_put_damage(const struct entry *entry, struct elog_text *text);

/** source_print_damage() - print it on stderr */
void source_print_damage(const struct entry *entry);

/** source_failed() - was a file damaged or unreadable? */
bool source_failed(const struct source *source);

/** source_is_unreadable() - could nothing be read of any file? Then a result has no meaning */
bool source_is_unreadable(const struct source *source);

/**
 * source_follows() - must the caller wait for more items?
 * @source: of files; with --follow
 *
 * Return: false if reading blocks and ends by itself, as with a pipe.
 */
bool source_follows(const struct source *source);

/**
 * source_progress() - how much was read
 * @source: of files
 * @done: set to the bytes read
 * @total: set to the bytes of all files; 0: unknown
 */
void source_progress(const struct source *source, uint64_t *done,
		     uint64_t *total);

/**
 * source_finish() - print what is known only at the end: misspelled names and the like
 * @source: the source
 *
 * Return: true if there was an error.
 */
bool source_finish(struct source *source);

#endif /* SOURCE_H */
