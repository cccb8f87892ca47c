/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The status map of a producer, which the kernel writes: one byte for each event.
 *
 * A thread that tests an event may have loaded the address of a status map that is about to
 * be unmapped. Therefore this address stays readable forever: an anonymous page
 * replaces the mapping, and the next mapping replaces the page.
 *
 * The producer's lock protects everything here.
 */
#ifndef LIBELOG_STATUS_MAP_H
#define LIBELOG_STATUS_MAP_H

#include "producer/state.h"

/* The status of events that may be registered later: all bits are set. */
extern const unsigned char elog_status_maybe __attribute__((visibility("hidden")));

/**
 * elog_status_map() - map the status map, unless it is mapped
 * @producer: locked
 * @fd: its file
 * @request: the result of a REGISTER
 *
 * Return: 0 or a negative errno.
 */
int elog_status_map(struct elog_producer *producer, int fd,
		    const struct eventlog_register *request);

/** elog_status_unmap() - replace the status map, if it is mapped; the producer is locked */
void elog_status_unmap(struct elog_producer *producer);

#endif /* LIBELOG_STATUS_MAP_H */
