/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: the user-space side of eventlog.
 *
 * Producers: struct elog_producer, struct elog_event, struct elog_payload.
 * Consumers: struct elog_consumer, which yields records in global time order.
 * Files: struct elog_file_writer, which stores what a consumer yields raw, and
 * struct elog_file_reader, which yields it in global time order again.
 * All: struct elog_schema (what an event looks like), struct elog_value (one
 * field of one record), struct elog_predicate (which records are wanted),
 * struct elog_text (formatting), struct elog_processes (names of threads).
 *
 * Functions that can fail return 0, or a count, or a negative errno value.
 * Objects are created by *_open() or *_new() and belong to the caller until
 * handed to *_close() or *_free(), which accept NULL. Options begin with their
 * size, so that they can grow; other structs that are the caller's memory have
 * reserved members, which are 0 whoever fills them in, and get a meaning of which 0
 * says nothing new; structs that the library hands out are read-only and may have
 * more members than this header knows.
 *
 * Threads: a producer and its events may be used by any number of threads at
 * once, but for what elog_producer_close() and elog_event_unregister() free. A
 * consumer, or anything else here, belongs to one thread at a time; one with a
 * backlog has a thread of its own besides, and is of no use in the child of a fork(). Nothing on
 * the consumer side is global.
 */
#ifndef ELOG_H
#define ELOG_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>		/* sigset_t, in strict ISO C too */
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/eventlog.h>

#include "elog/device.h"
#include "elog/producer.h"
#include "elog/text.h"
#include "elog/schema.h"
#include "elog/item.h"
#include "elog/expression.h"
#include "elog/processes.h"
#include "elog/consumer.h"
#include "elog/file.h"

#endif /* ELOG_H */
