/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running in the background. Each capture in the background has a file in a directory
 * of the user's, which is locked as long as the process runs.
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <sys/types.h>

#include "util/tool.h"

struct background;

/**
 * background_start() - fork a process in the background
 * @background: set in the child
 * @target: the file or the directory that is written identifies the capture
 * @status: set in the parent to its exit status
 *
 * The parent waits until the child calls background_ready() or background_end(), so
 * that it can report early errors.
 *
 * Return: 0 in the child; 1 in the parent, which must exit with @status; or a
 * negative errno; the reason was printed.
 */
int background_start(struct background **background, const char *target, int *status);

/** background_ready() - the capture runs: let the parent exit */
void background_ready(struct background *background);

/**
 * struct background_state - how a capture gets on with its files
 * @error: errno; 0: it writes; otherwise it tries again every second
 * @failures: how many attempts to write have failed
 * @removed: segments that were removed to make room
 * @expired: segments that were removed because of their age
 * @lost: events that were lost until then, for all reasons
 */
struct background_state {
	int error;
	uint64_t failures;
	uint64_t removed;
	uint64_t expired;
	uint64_t lost;
};

/** background_set_state() - state this in the capture's file */
void background_set_state(struct background *background, const struct background_state *state);

/** background_end() - record the exit status and unlock; NULL is allowed */
void background_end(struct background *background, int status);

/**
 * struct background_info - a capture in the background
 * @path: its file in the directory
 * @target: the file or directory that it writes
 */
struct background_info {
	const char *path;
	const char *target;
};

/**
 * background_each() - call a function for each capture of this user, including those
 *	that have ended and that elog stop has not removed
 * @call: the function; a result other than 0 ends the loop
 * @context: passed to @call
 *
 * Return: 0, the result of @call, or a negative errno; the reason was printed.
 */
int background_each(int (*call)(const struct background_info *info, void *context),
		    void *context);

/** background_get_state() - what it stated last; all zeros if nothing happened so far */
void background_get_state(const struct background_info *info, struct background_state *state);

/** background_process() - its process; 0: it has ended */
pid_t background_process(const struct background_info *info);

/** background_same() - does this capture write to @target? */
bool background_same(const struct background_info *info, const char *target);

/**
 * background_stop() - end a capture, print its messages and remove its files
 * @info: the capture
 * @quiet: do not print the messages
 *
 * Return: its exit status.
 */
int background_stop(const struct background_info *info, bool quiet);

#endif /* BACKGROUND_H */
