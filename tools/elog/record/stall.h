/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages about a writer whose disk is full or fails, and about segments that were removed
 * to make room. For the process's own thread.
 */
#ifndef STALL_H
#define STALL_H

#include "record/writer.h"
#include "util/background.h"

/**
 * struct stall - what was reported; all zeros at first
 * @since: when the writer began to wait, CLOCK_MONOTONIC ns; 0: it does not wait
 * @printed: when a message was printed, likewise
 * @open: the message that it waits was printed, and the one that it ended was not
 * @error: errno that it waits for
 * @before: events that were lost before
 * @removed: segments in messages so far
 * @removed_printed: when a message about them was printed, CLOCK_MONOTONIC ns
 * @state: as stated in the file of the background capture
 */
struct stall {
	uint64_t since;
	uint64_t printed;
	bool open;
	int error;
	uint64_t before;
	uint64_t removed;
	uint64_t removed_printed;
	struct background_state state;
};

/**
 * stall_report() - print what has changed since the last call
 * @stall: of this writer
 * @writer: the writer
 * @background: states the same, for elog stat; NULL is allowed
 * @over: the last call
 *
 * Prints one message when the writer begins to wait, and one when it has written everything
 * again, and of a disk that does this often one of each in 10 seconds.
 */
void stall_report(struct stall *stall, const struct writer *writer,
		  struct background *background, bool over);

#endif /* STALL_H */
