/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: consuming events.
 */
#ifndef ELOG_CONSUMER_H
#define ELOG_CONSUMER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>		/* sigset_t, in strict ISO C too */

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/processes.h"
#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A consumer belongs to one thread. But any thread may call these functions, at any time until
 * the consumer is closed: elog_consumer_fd(), elog_consumer_rings(),
 * elog_consumer_rule_add(), elog_consumer_rule_delete(), elog_consumer_stat(),
 * elog_consumer_rule_stat(), elog_consumer_wake().
 */
struct elog_consumer;

/* Full rings lose the oldest events. To read them, pause them. */
#define ELOG_CONSUMER_OVERWRITE	(1U << 0)
#define ELOG_CONSUMER_NO_RINGS	(1U << 1) /* only keep events enabled */
#define ELOG_CONSUMER_NO_SHARDS	(1U << 2) /* programs write(2) events, with their CPU */

#define ELOG_CONSUMER_FILE	(1U << 3) /* use @file, not a device's path */

/**
 * struct elog_consumer_options - how to subscribe
 * @size: sizeof(struct elog_consumer_options); elog.h says how such structs grow
 * @flags: ELOG_CONSUMER_NO_RINGS; or ELOG_CONSUMER_OVERWRITE, ELOG_CONSUMER_NO_SHARDS, both
 *	or 0. With each of them ELOG_CONSUMER_FILE
 * @ring_bytes: data bytes of each CPU's ring, a power of two; 0: 1 MiB
 * @watermark: unread bytes in one ring that end elog_consumer_wait(); 0: half
 *	of the ring
 * @sub_buffers: number of sub-buffers of a ring, a power of two; 0: 2. A record
 *	cannot be larger than one
 * @file: with ELOG_CONSUMER_FILE: a file of the device that is used for nothing else, for
 *	example of elog_instance_open(). The consumer duplicates it: the caller may close it
 *	after elog_consumer_open(). Otherwise 0
 * @device: path of the device, or NULL for $ELOG_DEVICE, else EVENTLOG_DEVICE or an engine
 * @backlog_bytes: bytes of each CPU's records that may wait in memory, in addition to
 *	those in its ring; 0: none. At most ELOG_BACKLOG_MAX, and not with
 *	ELOG_CONSUMER_OVERWRITE
 * @processes: a table that gets the names of threads that emit events; or NULL. It
 *	must outlive the consumer, and belongs to the same thread
 *
 * With a backlog, a thread of the library removes records from the rings as they fill
 * up. It handles no signals. A slow reader loses nothing until the backlog and a ring
 * are full. The thread also gets the definitions of events and the names of threads
 * while they exist. Everything else works as without a backlog, except that the
 * program must not poll(2) elog_consumer_fd().
 */
struct elog_consumer_options {
	uint32_t size;
	uint32_t flags;
	uint64_t ring_bytes;
	uint64_t watermark;
	uint32_t sub_buffers;
	int32_t file;
	const char *device;
	uint64_t backlog_bytes;
	struct elog_processes *processes;
};

#define ELOG_BACKLOG_MAX	(512ULL << 20)

/**
 * elog_consumer_open() - subscribe
 * @consumer: set to the new consumer
 * @options: NULL for the defaults
 *
 * Nothing is delivered until a rule is added. Without ELOG_CONSUMER_OVERWRITE, a full
 * ring keeps its records and counts the events that it loses.
 *
 * With ELOG_CONSUMER_NO_RINGS nothing is delivered at all. The rules keep events
 * enabled, for tracers and other ways to read them. @options may then have only a
 * device.
 *
 * Return: 0; -ENOENT, -ENXIO, -ENODEV: no module; -EACCES: the device's mode does not
 * permit it; -EPERM: the caller needs CAP_PERFMON or CAP_SYS_ADMIN; -EINVAL; -E2BIG
 * and -ENOMEM: rings of this size cannot be allocated; -E2BIG: an option that this
 * library does not know is set; -EMFILE: too many subscribers;
 * -EAGAIN: too many threads; -EPROTO: this library does not know the layout of the
 * kernel's rings.
 */
int elog_consumer_open(struct elog_consumer **consumer,
		       const struct elog_consumer_options *options);

/** elog_consumer_close() - unsubscribe and free everything; may be NULL */
void elog_consumer_close(struct elog_consumer *consumer);

/**
 * elog_consumer_fd() - get the file, for poll(2)
 * @consumer: the consumer, of a device and without backlog; otherwise use elog_consumer_wait()
 *
 * Readable at the watermark or after a loss.
 */
int elog_consumer_fd(const struct elog_consumer *consumer);

/**
 * struct elog_rule - selects events to deliver; all given members must match
 * @size: sizeof(struct elog_rule)
 * @flags: EVENTLOG_RULE_SESSION, EVENTLOG_RULE_PID, EVENTLOG_RULE_CGROUP: compare these members
 * @provider: glob, NULL for all
 * @event: glob, NULL for all
 * @keywords_any: the event has one of these; 0: not tested
 * @keywords_all: the event has all of these
 * @session: the session
 * @pid: the process
 * @level: the most verbose level; 0: all
 * @sample: deliver the first of every @sample events that match, and pass the filter; 0
 *	and 1: all
 * @cgroup: an open directory of cgroup2: the thread must be in this cgroup, or in one below it.
 *	Not needed after the call. 0 without EVENTLOG_RULE_CGROUP
 * @filter: the event must also pass this filter, for example that of a struct
 *	elog_filter; NULL: there is none. Not needed after the call
 */
struct elog_rule {
	uint32_t size;
	uint32_t flags;
	const char *provider;
	const char *event;
	uint64_t keywords_any;
	uint64_t keywords_all;
	uint64_t session;
	uint32_t pid;
	uint32_t level;
	uint32_t sample;
	int32_t cgroup;
	const struct eventlog_filter *filter;
};

/**
 * elog_consumer_rule_add() - subscribe to events
 * @consumer: the consumer
 * @rule: selects the events
 * @rule_id: set to the rule's id; may be NULL
 *
 * An event is delivered once if any rule matches it. Events that are written after
 * this function has returned are delivered.
 *
 * Return: 0; -E2BIG @rule has a member that this library does not know; or a negative
 * errno of EVENTLOG_IOC_RULE_ADD.
 */
int elog_consumer_rule_add(struct elog_consumer *consumer,
			   const struct elog_rule *rule, uint32_t *rule_id);

/** elog_consumer_rule_delete() - delete a rule; return 0, or -ENOENT: there is none */
int elog_consumer_rule_delete(struct elog_consumer *consumer, uint32_t rule_id);

/**
 * elog_consumer_wait() - sleep until there is enough to read
 * @consumer: the consumer
 * @milliseconds: at most; -1: no limit
 * @mask: signal mask while sleeping, as for ppoll(2); NULL: unchanged
 *
 * To print events soon after they happen, wait for about 100 ms at a time. Then call
 * elog_consumer_pending(), whatever the result.
 *
 * Return: 1 watermark, loss or elog_consumer_wake(); 0 timeout; -EINTR a signal; -ENODEV: the
 * device's instance was deleted, and no more events come; -EIO.
 */
int elog_consumer_wait(struct elog_consumer *consumer, int milliseconds,
		       const sigset_t *mask);

/**
 * elog_consumer_wake() - end elog_consumer_wait(), now or when it is called next
 * @consumer: the consumer
 *
 * Any thread may call this, and a signal handler.
 */
void elog_consumer_wake(struct elog_consumer *consumer);

/**
 * elog_consumer_pending() - test whether there is anything to read
 * @consumer: the consumer
 *
 * This is cheap: it reads the mapped rings, and asks the kernel whether there are new
 * rings.
 *
 * Return: 1 there are unread records or losses; 0 there are none; or a negative errno of
 * EVENTLOG_IOC_STAT.
 */
int elog_consumer_pending(struct elog_consumer *consumer);

/**
 * elog_consumer_flush() - start a batch with everything older than now
 * @consumer: the consumer
 *
 * Gets a time from the kernel before which no record can appear any more, and maps new
 * rings. After that, elog_consumer_next() returns all records before this time, in the
 * order of their times. The rest of an unfinished batch becomes part of the next one.
 *
 * Return: 0, -EINTR, -ENOMEM, -EPROTO.
 */
int elog_consumer_flush(struct elog_consumer *consumer);

/** elog_consumer_time() - get the time of the last flush, CLOCK_MONOTONIC ns */
uint64_t elog_consumer_time(const struct elog_consumer *consumer);

/**
 * elog_consumer_pause() - stop writing to overwriting rings, and start a batch
 * @consumer: opened with ELOG_CONSUMER_OVERWRITE
 *
 * The kernel writes nothing to the rings until elog_consumer_resume(), and counts the
 * events of this time as lost. elog_consumer_next() then returns, in order, the
 * records in the rings that no earlier batch had. Takes an RCU grace period.
 *
 * Return: 0; -EINVAL this is not an overwriting consumer; or a negative errno from
 * mapping a new CPU's ring; then the rings are not paused.
 */
int elog_consumer_pause(struct elog_consumer *consumer);

/**
 * elog_consumer_resume() - continue to write to paused rings
 * @consumer: the consumer; the batch ends
 *
 * Return: 0 or a negative errno.
 */
int elog_consumer_resume(struct elog_consumer *consumer);

/**
 * elog_consumer_next() - get the next record of the batch
 * @consumer: the consumer
 * @item: filled in
 *
 * Returns the space of earlier records to the kernel from time to time: after every
 * eighth of a ring, and at the end of the batch.
 *
 * Return: 1 there is a record; 0 the batch is over; -EBADMSG a ring was damaged: its
 * contents are skipped, and the call may be repeated; with a backlog -ENOMEM.
 */
int elog_consumer_next(struct elog_consumer *consumer, struct elog_item *item);

/**
 * elog_consumer_describe() - get the schema of an event
 * @consumer: the consumer
 * @descriptor: struct elog_item.descriptor
 * @event: set; belongs to the consumer, and is valid as long as
 *	elog_consumer_generation() returns the same number
 *
 * Caches the kernel's answers, up to a limit.
 *
 * Return: 0; -ENOENT there is none; -EINVAL the text has an error; -ENOMEM.
 */
int elog_consumer_describe(struct elog_consumer *consumer, uint32_t descriptor,
			   const struct elog_schema_event **event);

/**
 * elog_consumer_definition() - get the schema text of an event
 * @consumer: the consumer
 * @request: the caller sets its size; its descriptor is that of a returned event; its
 *	flags are 0
 * @text: set to the text, NUL-terminated; the caller frees it
 *
 * As elog_device_describe(). With a backlog, it also finds definitions that have been
 * removed from the kernel since.
 *
 * Return: as elog_device_describe().
 */
int elog_consumer_definition(struct elog_consumer *consumer,
			     struct eventlog_describe *request, char **text);

/**
 * elog_consumer_generation() - find out whether schemas are still valid
 * @consumer: the consumer
 *
 * For callers that cache the results of elog_consumer_describe() by descriptor. Do not
 * cache failures.
 *
 * Return: a number that changes when a schema becomes invalid. Only
 * elog_consumer_describe() invalidates schemas.
 */
uint64_t elog_consumer_generation(const struct elog_consumer *consumer);

/**
 * elog_consumer_stat() - get the number of delivered and lost events
 * @consumer: the consumer
 * @ring: one ring, below elog_consumer_rings(), or EVENTLOG_RINGS_ALL
 * @descriptor: one event, with EVENTLOG_RINGS_ALL, or 0
 * @stat: the caller sets its size; filled in up to there. For one event, these are
 *	event_lost, its losses, and lost[EVENTLOG_LOST_ABORTED], the invalid ones of them
 *
 * Return: 0; -EINVAL @stat->size is too small; -ENXIO there is no such ring; -ENOENT the
 * event never matched a rule.
 */
int elog_consumer_stat(struct elog_consumer *consumer, uint32_t ring,
		       uint32_t descriptor, struct eventlog_stat *stat);

/**
 * elog_consumer_rule_stat() - get the number of events that a rule's filter has rejected
 * @consumer: the consumer
 * @rule_id: of elog_consumer_rule_add()
 * @stat: the caller sets its size; filled in up to there: only rejected and
 *	incompatible, see eventlog(4)
 *
 * Return: 0; -EINVAL @stat->size is too small; -ENOENT there is no such rule.
 */
int elog_consumer_rule_stat(struct elog_consumer *consumer, uint32_t rule_id,
			    struct eventlog_stat *stat);

/**
 * elog_consumer_rings() - get the number of rings, including those that do not exist yet
 * @consumer: the consumer
 *
 * Several rings may share a CPU. 0 with ELOG_CONSUMER_NO_RINGS.
 */
unsigned int elog_consumer_rings(const struct elog_consumer *consumer);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_CONSUMER_H */
