/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a verb's events come from: files, merged by their times, or a live
 * subscription. Yields those that the options ask for, in order, and everything
 * else that was found.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "input/live.h"
#include "input/select.h"

struct source;

/**
 * struct entry - what was found
 * @item: it; payloads are valid until the next call for the source
 * @cached: of an event: its definition; valid as long as the source
 *	does not find another part or forget its schemas: do not keep it
 * @processes: names of threads
 * @wall_offset: CLOCK_REALTIME - CLOCK_MONOTONIC, ns
 * @reader: the file; NULL: live
 * @file: its name
 */
struct entry {
	struct elog_item item;
	struct cached_event *cached;
	struct elog_processes *processes;
	int64_t wall_offset;
	const struct elog_file_reader *reader;
	const char *file;
};

/** wall_time() - CLOCK_REALTIME; a file may say anything, so the sum may wrap */
static inline int64_t wall_time(uint64_t time, int64_t wall_offset)
{
	return (int64_t)(time + (uint64_t)wall_offset);
}

/**
 * source_open_live() - events of a live subscription
 * @source: set to the new source
 * @live: open; outlives it
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int source_open_live(struct source **source, struct live *live);

/**
 * source_open_files() - events of files
 * @source: set to the new source
 * @options: outlive it; --since is used for seeking, --follow for waiting
 * @names: of the files, "-": stdin; outlive it, too
 * @count: of @names
 *
 * Return: 0, or a negative errno, the reason being told: none can be opened.
 */
int source_open_files(struct source **source, const struct options *options,
		      char *const *names, int count);

/** source_close() - free everything; NULL is fine */
void source_close(struct source *source);

/**
 * source_next() - the next thing found
 * @source: the source
 * @entry: filled in
 *
 * Of a live one: after elog_consumer_flush() or elog_consumer_pause(). Files
 * that cannot be read are told on stderr; they and damage make source_failed()
 * true.
 *
 * Return: 1; 0 the end, of a live one that of the batch; -EAGAIN with --follow:
 * nothing more for now; -EBADMSG a ring was damaged: go on; another negative
 * errno.
 */
int source_next(struct source *source, struct entry *entry);

/** source_tell_damage() - say on stderr what was found, ELOG_ITEM_DAMAGE */
void source_tell_damage(const struct entry *entry);

/** source_failed() - was a file damaged, or not to be read? */
bool source_failed(const struct source *source);

/**
 * source_follows() - does the end depend on us?
 * @source: of files; with --follow
 *
 * Return: false where reading waits by itself, and ends, as of a pipe.
 */
bool source_follows(const struct source *source);

/**
 * source_progress() - how far reading has come
 * @source: of files
 * @done: set to bytes read
 * @total: set to how many there are; 0: not known
 */
void source_progress(const struct source *source, uint64_t *done,
		     uint64_t *total);

/**
 * source_finish() - say what there is to say about the selection at the end
 * @source: the source
 *
 * Return: true if it makes the verb fail.
 */
bool source_finish(const struct source *source);

#endif /* SOURCE_H */
