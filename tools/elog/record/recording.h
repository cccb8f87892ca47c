/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A .elog file that is being written: what it has to have before records of an
 * event or a thread are in it, records one by one or as rings had them, and
 * beginning a new file when it is large.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "util/tool.h"

struct recording;

/**
 * struct recording_setup - what recordings of a capture have in common
 * @options: --append, --compress, --rotate, COMMAND
 * @consumer: where schemas are asked for
 * @processes: names of threads
 * @threads: for how many names to remember that they were written, a power of
 *	two, from 4 on
 * @capture: see struct elog_file_options; empty: none
 * @start: likewise
 * @told: set to true when one has said what went wrong, as recording_open() does,
 *	and recording_rotate() of the new file
 * @interrupted: see struct elog_file_options
 */
struct recording_setup {
	const struct options *options;
	struct elog_consumer *consumer;
	struct elog_processes *processes;
	size_t threads;
	char capture[20];
	uint64_t start;
	bool *told;
	bool (*interrupted)(void *context);
};

/**
 * recording_open() - open a file, and begin it
 * @recording: set to the new recording
 * @setup: outlives it
 * @path: the file, "-": stdout; copied
 * @append: keep what it has
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int recording_open(struct recording **recording,
		   const struct recording_setup *setup, const char *path,
		   bool append);

/** recording_close() - close it as it is; NULL is fine */
void recording_close(struct recording *recording);

/** recording_path() - its path */
const char *recording_path(const struct recording *recording);

/**
 * recording_mention() - write what has to be there before a record
 * @recording: the recording
 * @descriptor: of its event
 * @pid: its process
 * @tid: its thread
 *
 * Cheap when it was the same the last time.
 *
 * Return: 0, or a negative errno.
 */
int recording_mention(struct recording *recording, uint32_t descriptor,
		      uint32_t pid, uint32_t tid);

/** recording_now() - names of threads may have changed; CLOCK_MONOTONIC ns */
void recording_now(struct recording *recording, uint64_t now);

/**
 * recording_raw() - write records as a ring has them
 * @recording: one that recording_add() is not used with
 * @cpu: the ring's
 * @data: whole records, mentioned before
 * @size: bytes
 * @position: in the ring
 * @records: events among them
 * @info: see elog_file_write_raw()
 *
 * Return: 0, or a negative errno.
 */
int recording_raw(struct recording *recording, unsigned int cpu,
		  const void *data, size_t size, uint64_t position,
		  uint64_t records, const struct elog_file_raw_info *info);

/**
 * recording_add() - add an event or a loss
 * @recording: one that recording_raw() is not used with
 * @item: the event, in the order of its CPU; or a loss
 *
 * It is kept until there are many, or the next recording_sync().
 *
 * Return: 0, or a negative errno.
 */
int recording_add(struct recording *recording, const struct elog_item *item);

/**
 * recording_sync() - state that nothing older follows
 * @recording: the recording
 * @time: than this
 * @losses: of all CPUs, cumulative, for recording_raw(); NULL: what was added
 * @count: of @losses
 *
 * Return: 0, or a negative errno.
 */
int recording_sync(struct recording *recording, uint64_t time,
		   const struct elog_file_loss *losses, size_t count);

/** recording_dirty() - was something written or kept since recording_sync()? */
bool recording_dirty(const struct recording *recording);

/**
 * recording_end() - state that it is complete, after the last recording_sync()
 * @recording: the recording; only recording_close() may follow
 * @lost: how many events were lost; UINT64_MAX: what was added
 *
 * Return: 0, or a negative errno.
 */
int recording_end(struct recording *recording, uint64_t lost);

/** recording_is_full() - is it as large as --rotate says? */
bool recording_is_full(const struct recording *recording);

/**
 * recording_rotate() - end the file, put it aside and begin a new one
 * @recording: right after recording_sync()
 * @time: as given to that, as are the others
 * @losses: the new file tells that these were told before
 * @count: of @losses
 *
 * Return: 0, or a negative errno, see struct recording_setup.
 */
int recording_rotate(struct recording *recording, uint64_t time,
		     const struct elog_file_loss *losses, size_t count);

/** recording_records() - events written so far, to all its files */
uint64_t recording_records(const struct recording *recording);

/** recording_size() - bytes that are good, in all its files */
uint64_t recording_size(const struct recording *recording);

#endif /* RECORDING_H */
