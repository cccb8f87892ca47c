/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a capture to .elog files: the only interface that elog capture sees.
 *
 * There are three kinds of writers. A raw writer copies the rings without looking at
 * payloads. A parallel writer has several raw writers, each on a thread of its own, with
 * some of the rings and a file of its own. A filtered writer takes single events; it is
 * for captures that keep only some of what the rings hold, for --split and for
 * --overwrite. All of them write files with trace_writer.h. For the process's own thread.
 */
#ifndef WRITER_H
#define WRITER_H

#include <errno.h>

#include "input/source.h"

struct segments;
struct trace_writer;
struct writer;

#define WRITERS_AUTO	UINT32_MAX	/* one for each CPU */

/**
 * struct record_settings - what files to write
 * @output: the file; "-": stdout; NULL: there is @split
 * @split: the directory of a file for each session; NULL: there is @output
 * @append: append to @output
 * @compress: zstd's level; 0: do not compress
 * @rotate_size: start a new file at this size, bytes; 0: do not
 * @rotate_keep: keep so many old files
 * @rotate_age: remove old files whose last event is older, ns; 0: do not
 * @writers: how many files to write at the same time, or WRITERS_AUTO; 0: one
 * @overwrite: a flight recorder
 */
struct record_settings {
	const char *output;
	const char *split;
	bool append;
	unsigned int compress;
	uint64_t rotate_size;
	unsigned int rotate_keep;
	uint64_t rotate_age;
	unsigned int writers;
	bool overwrite;
};

/**
 * rotation_parse() - parse the argument of --rotate
 * @settings: its @rotate_size, @rotate_keep and @rotate_age are set, also if it is not valid
 * @argument: "SIZE[,KEEP][,AGE]", KEEP and AGE in any order, or AGE instead of SIZE
 *
 * Return: NULL; or where in @argument it is wrong.
 */
const char *rotation_parse(struct record_settings *settings, const char *argument);

/**
 * struct writer_ops - what a kind of writer does
 * @add: see writer_add(); only of a filtered writer
 * @drain: see writer_drain(); NULL: a filtered writer
 * @sync: see writer_sync()
 * @end: see writer_end()
 * @close: close the files as they are and free the writer
 */
struct writer_ops {
	int (*add)(struct writer *writer, const struct entry *entry);
	int (*drain)(struct writer *writer);
	int (*sync)(struct writer *writer, bool rotate);
	int (*end)(struct writer *writer);
	void (*close)(struct writer *writer);
};

/**
 * struct writer_wait - what a writer knows of a disk that is full or fails
 * @possible: the capture has begun: wait for the disk; before that, an error ends it
 * @final: the capture ends: an error is final
 * @error: errno, until everything was written again; 0: the writer does not wait
 * @retry: when to try again, CLOCK_MONOTONIC ns
 * @failures: how many attempts to write have failed
 * @removed: segments that were removed to make room
 * @made_room: one was removed just now
 */
struct writer_wait {
	bool possible;
	bool final;
	int error;
	uint64_t retry;
	uint64_t failures;
	uint64_t removed;
	bool made_room;
};

/**
 * struct writer_age - what a writer knows of the age of its files; all zeros at first
 * @begun: when the present file got its first event, CLOCK_BOOTTIME ns; 0: it has none
 * @asked: the @begun for which a rotation was requested
 * @check: when to look for old segments, CLOCK_BOOTTIME ns
 * @failed: the reason why they cannot be removed was printed
 * @expired: segments that were removed because of their age
 */
struct writer_age {
	uint64_t begun;
	uint64_t asked;
	uint64_t check;
	bool failed;
	uint64_t expired;
};

/**
 * struct writer - a writer; its kind embeds it. The caller of writer_open() only reads
 * @ops: of its kind
 * @settings: what to write
 * @live: the subscription
 * @start: when the capture began, by the clock of records
 * @capture: identifies the files of one capture; empty: there is only one file
 * @parts: how many files the capture writes at the same time; 0: one
 * @file: the file of -o; with --split the one that lists losses
 * @segments: the files of --rotate, or NULL
 * @wait: does it wait for the disk?
 * @age: for --rotate with an age
 * @missed: events of snapshots that did not fit, and are in no file
 * @gone: events that other programs have removed from the files, at most
 * @parallel: threads drain the rings, and writer_drain() only collects their counters
 * @pending: records were written since the last writer_sync(), of a raw or parallel writer
 * @records: events in all files so far
 * @bytes: valid bytes in all files so far
 * @files: how many files were created
 * @failed_path: the file that an error belongs to, or NULL
 * @explained: the reason of the error was printed
 * @damaged: a ring was damaged
 */
struct writer {
	const struct writer_ops *ops;
	const struct record_settings *settings;
	struct live *live;
	uint64_t start;
	char capture[20];
	unsigned int parts;
	struct trace_writer *file;
	struct segments *segments;
	struct writer_wait wait;
	struct writer_age age;
	uint64_t missed;
	uint64_t gone;
	bool parallel;
	bool pending;
	uint64_t records;
	uint64_t bytes;
	uint64_t files;
	char *failed_path;
	bool explained;
	bool damaged;
};

/** writer_identify() - make up @capture; return 0 or a negative errno */
int writer_identify(struct writer *writer);

/** writer_is_raw() - is everything that the rings hold to be written to one place? */
bool writer_is_raw(const struct record_settings *settings, const struct selection_spec *spec,
		   const struct live_settings *live_settings);

/**
 * writer_open() - create the file of -o, or the directory of --split
 * @writer: set to the new writer
 * @settings: what to write; outlive the writer
 * @live: the subscription; outlives the writer
 * @start: when the capture began, by the clock of records
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int writer_open(struct writer **writer, const struct record_settings *settings,
		struct live *live, uint64_t start);

/** writer_close() - close the files as they are; NULL is allowed */
void writer_close(struct writer *writer);

/** boottime() - CLOCK_BOOTTIME, ns: it goes on while the machine sleeps */
uint64_t boottime(void);

/**
 * writer_check_age() - remove segments that are older than --rotate allows
 * @writer: call it often, also while no event arrives
 *
 * Return: true, once for each file: the present file is old enough for writer_sync() to start
 * a new one.
 */
bool writer_check_age(struct writer *writer);

/** writer_age_ms() - ms until writer_check_age() has something to do, at most; -1: never */
int writer_age_ms(const struct writer *writer);

/** writer_waits() - is the next attempt to write later than now? */
static inline bool writer_waits(const struct writer *writer)
{
	return writer->wait.error && !writer->wait.final && monotonic() < writer->wait.retry;
}

/** writer_is_stuck() - does it wait because the disk is full? */
static inline bool writer_is_stuck(const struct writer *writer)
{
	return writer->wait.error == ENOSPC || writer->wait.error == EDQUOT;
}

/** writer_add() - write an event or a loss; 0, -EAGAIN: wait; or another negative errno */
static inline int writer_add(struct writer *writer, const struct entry *entry)
{
	return writer->ops->add(writer, entry);
}

/** writer_drain() - write what the rings hold; 0 or a negative errno */
static inline int writer_drain(struct writer *writer)
{
	return writer->ops->drain(writer);
}

/**
 * writer_sync() - tell readers that nothing older follows
 * @writer: a raw writer drains the rings first and starts a FLUSH; a later writer_drain()
 *	writes the SYNC block when the FLUSH is over
 * @rotate: start a new file after the SYNC block, however small the present one is
 *
 * Also starts a new file if the present one has reached the size of --rotate.
 *
 * Return: 0 or a negative errno.
 */
static inline int writer_sync(struct writer *writer, bool rotate)
{
	return writer->ops->sync(writer, rotate);
}

/** writer_end() - the last writer_sync(); mark all files as complete */
static inline int writer_end(struct writer *writer)
{
	return writer->ops->end(writer);
}

/* The kinds; only for writer_open(). */
struct writer *parallel_writer_new(struct live *live, unsigned int parts);
int parallel_writer_open(struct writer *writer);
struct writer *filtered_writer_new(void);
int filtered_writer_open_directory(struct writer *writer);

#endif /* WRITER_H */
