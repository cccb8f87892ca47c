/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that --rotate keeps: FILE.1, FILE.2 and so on, of all parts of a capture. Parts
 * on several threads share this.
 */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <stdint.h>

struct segments;

/**
 * segments_new() - know the files of a capture
 * @base: FILE; copied
 * @parts: how many files the capture writes at the same time, at least 1
 * @keep: the largest number of a file; 0: nothing is rotated
 *
 * Return: NULL if memory is short.
 */
struct segments *segments_new(const char *base, unsigned int parts, unsigned int keep);

/** segments_free() - free them; NULL is allowed */
void segments_free(struct segments *segments);

/**
 * segments_rotate() - rename the files of a part: FILE becomes FILE.1, that FILE.2, and so on
 * @segments: the files
 * @part: its number; part 0 also renames those of an earlier capture with more parts
 *
 * After an error, the next call continues where this one has failed.
 *
 * Return: 0 or a negative errno.
 */
int segments_rotate(struct segments *segments, unsigned int part);

/**
 * segments_remove() - remove the oldest files, those of all parts, but never FILE
 * @segments: the files
 *
 * They are truncated first: that makes room also if a reader has them open.
 *
 * Return: 1; 0: there is none; or a negative errno.
 */
int segments_remove(struct segments *segments);

/**
 * segments_expire() - remove the oldest files while they are too old, but never FILE
 * @segments: the files
 * @before: CLOCK_REALTIME ns; files that were written later stay
 *
 * A file whose time cannot be read is kept, and so are younger ones.
 *
 * Return: how many segments were removed; or, if none was, 0 or a negative errno.
 */
int segments_expire(struct segments *segments, int64_t before);

#endif /* SEGMENTS_H */
