/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: the user-space library of eventlog.
 *
 * Producers: struct elog_producer, struct elog_event, struct elog_payload, struct
 * elog_typed_event.
 * Consumers: struct elog_consumer, which returns records in the order of their times.
 * Files: struct elog_writer stores what a consumer returns raw; struct
 * elog_reader returns it in the order of times again.
 * For all of them: struct elog_schema (the layout of an event), struct elog_value
 * (one field of one record), struct elog_predicate (a filter of records), struct
 * elog_text (formatting), struct elog_processes (names of threads).
 *
 * Return values: functions that can fail return 0, or a count, or a negative errno
 * value.
 *
 * Ownership: *_open() and *_new() create objects. They belong to the caller until
 * *_close() or *_free() frees them; these functions accept NULL.
 *
 * Extension: a struct whose first member is its size can grow. The caller sets the size to
 * the sizeof of the struct. The rules are those of linux/eventlog.h:
 * - the library reads or writes no byte behind the size;
 * - a struct that is shorter than the library's is filled with zeros at the end;
 * - a longer one must be zero behind what the library knows, otherwise -E2BIG;
 * - results that the library or the kernel does not know are 0;
 * - -EINVAL: the size is too small for the members of the first release, or is 0.
 * Other structs in the caller's memory never change their size. They have reserved
 * members. These must be 0, whoever fills them in, and 0 will always mean the present
 * behaviour. Structs that the library allocates are read-only and may grow at the end:
 * do not copy them, and do not make arrays of them.
 *
 * Threads: any number of threads may use a producer and its events at the same time,
 * except while elog_producer_close() or elog_event_unregister() frees them. One thread
 * at a time may use any other object. A consumer with a backlog runs a thread of its
 * own and does not work in the child of a fork(). Consumers share no global state.
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
#include "elog/typed.h"
#include "elog/text.h"
#include "elog/schema.h"
#include "elog/eventheader.h"
#include "elog/item.h"
#include "elog/expression.h"
#include "elog/processes.h"
#include "elog/consumer.h"
#include "elog/reader.h"
#include "elog/writer.h"

#endif /* ELOG_H */
