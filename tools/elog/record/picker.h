/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog capture into files, event by event: when not all that the rings have is
 * for the file, when each session has its own, or when the rings overwrite.
 */
#ifndef PICKER_H
#define PICKER_H

#include "input/source.h"
#include "record/recording.h"

struct picker;

/**
 * picker_open() - open the file of -o, or the directory of --split
 * @picker: set to the new picker
 * @setup: of the recordings; outlives the picker. Its capture is set if there may
 *	be several
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int picker_open(struct picker **picker, struct recording_setup *setup);

/** picker_close() - close all files; NULL is fine */
void picker_close(struct picker *picker);

/** picker_add() - an event or a loss; 0, or a negative errno */
int picker_add(struct picker *picker, const struct entry *entry);

/**
 * picker_sync() - all of a batch was added
 * @picker: the picker
 * @time: of the batch
 * @rotate: begin a new file, whatever this one's size
 *
 * Return: 0, or a negative errno.
 */
int picker_sync(struct picker *picker, uint64_t time, bool rotate);

/** picker_end() - the end, after the last picker_sync(); 0, or a negative errno */
int picker_end(struct picker *picker);

/** picker_records() - events written so far */
uint64_t picker_records(const struct picker *picker);

/** picker_size() - bytes that are good, in all files */
uint64_t picker_size(const struct picker *picker);

/** picker_files() - how many files were begun */
uint64_t picker_files(const struct picker *picker);

/** picker_path() - what could not be written to */
const char *picker_path(const struct picker *picker);

#endif /* PICKER_H */
