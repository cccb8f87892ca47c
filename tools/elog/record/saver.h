/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elog capture -o: from the rings into a file, without looking at payloads.
 */
#ifndef SAVER_H
#define SAVER_H

#include "record/recording.h"

struct saver;

/**
 * saver_open() - open the file of -o, and begin it
 * @saver: set to the new saver
 * @setup: of the recording; outlives the saver
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int saver_open(struct saver **saver, const struct recording_setup *setup);

/** saver_close() - close the file; NULL is fine */
void saver_close(struct saver *saver);

/** saver_drain() - write what the rings hold; 0, or what writing fails with */
int saver_drain(struct saver *saver);

/** saver_pending() - was anything written since the last saver_sync()? */
bool saver_pending(const struct saver *saver);

/**
 * saver_sync() - let a reader know up to when the file is complete
 * @saver: the saver
 * @rotate: begin a new file, whatever this one's size
 *
 * Begins a new file if this one is large enough.
 *
 * Return: 0, or what the kernel or writing fails with.
 */
int saver_sync(struct saver *saver, bool rotate);

/** saver_end() - the last saver_sync(), and the end; returns as that */
int saver_end(struct saver *saver);

/** saver_recording() - what is being written */
const struct recording *saver_recording(const struct saver *saver);

/** saver_damaged() - was a ring damaged? */
bool saver_damaged(const struct saver *saver);

#endif /* SAVER_H */
