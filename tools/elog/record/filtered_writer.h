/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog capture into files, event by event: when not all that the rings have is
 * for the file, when each session has its own, or when the rings overwrite.
 */
#ifndef FILTERED_WRITER_H
#define FILTERED_WRITER_H

#include "input/source.h"
#include "record/trace_writer.h"

struct filtered_writer;

/**
 * filtered_writer_open() - open the file of -o, or the directory of --split
 * @filtered: set to the new filtered
 * @setup: of the files; outlives the filtered. Its capture is set if there may
 *	be several
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int filtered_writer_open(struct filtered_writer **filtered, struct writer_setup *setup);

/** filtered_writer_close() - close all files; NULL is fine */
void filtered_writer_close(struct filtered_writer *filtered);

/** filtered_writer_add() - an event or a loss; 0, or a negative errno */
int filtered_writer_add(struct filtered_writer *filtered, const struct entry *entry);

/**
 * filtered_writer_sync() - all of a batch was added
 * @filtered: the filtered
 * @time: of the batch
 * @rotate: begin a new file, whatever this one's size
 *
 * Return: 0, or a negative errno.
 */
int filtered_writer_sync(struct filtered_writer *filtered, uint64_t time, bool rotate);

/** filtered_writer_end() - the end, after the last filtered_writer_sync(); 0, or a negative errno */
int filtered_writer_end(struct filtered_writer *filtered);

/** filtered_writer_records() - events written so far */
uint64_t filtered_writer_records(const struct filtered_writer *filtered);

/** filtered_writer_size() - bytes that are good, in all files */
uint64_t filtered_writer_size(const struct filtered_writer *filtered);

/** filtered_writer_files() - how many files were begun */
uint64_t filtered_writer_files(const struct filtered_writer *filtered);

/** filtered_writer_path() - what could not be written to */
const char *filtered_writer_path(const struct filtered_writer *filtered);

#endif /* FILTERED_WRITER_H */
