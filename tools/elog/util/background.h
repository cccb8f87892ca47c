/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Going on in the background, and being found there: by a file in a directory
 * of the user's, locked as long as the process runs.
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <sys/types.h>

#include "util/tool.h"

struct background;

/**
 * background_start() - go to the background
 * @background: in the process that goes on there: set
 * @options: the file of -o or the directory of --split names it
 * @status: in the process that was called: set to its exit status
 *
 * The process that was called waits until background_ready() or
 * background_end(), so that what goes wrong at the beginning is told there.
 *
 * Return: 0 in the background; 1 in the process that was called, which is to end
 * with @status; or a negative errno, the reason being told.
 */
int background_start(struct background **background,
		     const struct options *options, int *status);

/** background_ready() - all is open: the terminal may have its prompt back */
void background_ready(struct background *background);

/** background_end() - the end, with this exit status; NULL is fine */
void background_end(struct background *background, int status);

/**
 * struct background_info - a capture in the background
 * @path: of its file in the directory
 * @target: what it writes to
 */
struct background_info {
	const char *path;
	const char *target;
};

/**
 * background_each() - look at those of this user, also at those that have ended
 *	and were not asked about
 * @call: called for each; what it returns, unless 0, ends it
 * @context: for @call
 *
 * Return: 0, what @call returned, or a negative errno, the reason being told.
 */
int background_each(int (*call)(const struct background_info *info, void *context),
		    void *context);

/** background_process() - its process; 0: it has ended */
pid_t background_process(const struct background_info *info);

/** background_same() - would a capture to @target be this one? */
bool background_same(const struct background_info *info, const char *target);

/**
 * background_stop() - tell it to end, wait, repeat what it said, and forget it
 * @info: which
 * @quiet: do not repeat
 *
 * Return: its exit status.
 */
int background_stop(const struct background_info *info, bool quiet);

#endif /* BACKGROUND_H */
