/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progress of reading files, on stderr if it is a terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "input/source.h"
#include "output/output.h"

/**
 * struct progress - a line that is overwritten
 * @enabled: progress is printed
 * @shown: the line is on the terminal
 * @next: time of the next update, CLOCK_MONOTONIC ns
 */
struct progress {
	bool enabled;
	bool shown;
	uint64_t next;
};

/**
 * progress_start() - decide whether to show progress
 * @progress: filled in
 * @wanted: if it is possible
 * @output: disables it if it is a terminal
 */
void progress_start(struct progress *progress, bool wanted, const struct output *output);

/** progress_update() - update the line if it is due; cheap otherwise */
void progress_update(struct progress *progress, const struct source *source,
		     uint64_t events);

/** progress_clear() - erase the line, before any other output to stderr */
void progress_clear(struct progress *progress);

#endif /* PROGRESS_H */
