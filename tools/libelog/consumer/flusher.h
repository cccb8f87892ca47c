/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A thread that waits for FLUSH, so that its consumer can read meanwhile: see flusher.c.
 */
#ifndef LIBELOG_FLUSHER_H
#define LIBELOG_FLUSHER_H

#include "elog.h"

struct elog_flusher;

/**
 * elog_flusher_open() - start the thread, if that is possible
 * @flusher: set
 * @consumer: outlives the flusher; elog_consumer_wake() is called after each FLUSH
 *
 * All functions belong to the consumer's thread.
 *
 * Return: 0 or -ENOMEM.
 */
int elog_flusher_open(struct elog_flusher **flusher, struct elog_consumer *consumer);

/** elog_flusher_close() - end the thread, after the current FLUSH; may be NULL */
void elog_flusher_close(struct elog_flusher *flusher);

/** elog_flusher_start() - start a FLUSH; return 0, or -EBUSY: one was started before */
int elog_flusher_start(struct elog_flusher *flusher);

/** elog_flusher_over() - is there a result for elog_flusher_end()? */
bool elog_flusher_over(struct elog_flusher *flusher);

/**
 * elog_flusher_end() - get the result of the FLUSH
 * @flusher: the flusher
 * @flush: filled in
 *
 * Return: 1; 0 the FLUSH is not over; -EINVAL none was started; or a negative errno of FLUSH.
 */
int elog_flusher_end(struct elog_flusher *flusher, struct eventlog_flush *flush);

#endif /* LIBELOG_FLUSHER_H */
