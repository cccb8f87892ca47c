/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a long reading has come, on a terminal's stderr.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "input/source.h"
#include "output/output.h"

/**
 * struct progress - a line that is written over
 * @wanted: there is somebody to see it
 * @shown: it is there
 * @next: when to write it again, CLOCK_MONOTONIC ns
 */
struct progress {
	bool wanted;
	bool shown;
	uint64_t next;
};

/**
 * progress_start() - decide whether to show any
 * @progress: filled in
 * @options: -q and --follow: none
 * @output: on a terminal itself: none
 */
void progress_start(struct progress *progress, const struct options *options,
		    const struct output *output);

/** progress_update() - show it, if it is time; cheap when it is not */
void progress_update(struct progress *progress, const struct source *source,
		     uint64_t events);

/** progress_clear() - wipe it away, before anything else is said on stderr */
void progress_clear(struct progress *progress);

#endif /* PROGRESS_H */
