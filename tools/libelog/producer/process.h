/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The producers of the process, for what happens to it as a whole: forks, and ends of threads.
 */
#ifndef LIBELOG_PROCESS_H
#define LIBELOG_PROCESS_H

#include "producer/state.h"

/**
 * elog_process_add() - add a new producer, and choose a place for its rings
 * @producer: not connected
 * @has_rings: whether it may have rings at all
 *
 * Takes the lock of all producers.
 */
void elog_process_add(struct elog_producer *producer, bool has_rings);

/**
 * elog_process_remove() - remove a producer, and free its rings
 * @producer: not connected; no thread uses it
 *
 * Takes the lock of all producers.
 */
void elog_process_remove(struct elog_producer *producer);

#endif /* LIBELOG_PROCESS_H */
