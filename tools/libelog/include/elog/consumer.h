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

struct elog_consumer;

/* Full rings lose the oldest events, not the newest; read by freezing them. */
#define ELOG_CONSUMER_OVERWRITE	(1U << 0)
#define ELOG_CONSUMER_NO_RINGS	(1U << 1) /* only keeps events enabled */

/**
 * struct elog_consumer_options - how to subscribe
 * @size: sizeof(struct elog_consumer_options)
 * @flags: ELOG_CONSUMER_OVERWRITE, or ELOG_CONSUMER_NO_RINGS, or 0
 * @ring_bytes: data bytes of each CPU's ring, a power of two; 0: 1 MiB
 * @watermark: unread bytes in one ring that end elog_consumer_wait(); 0: half
 *	of the ring
 * @sub_buffers: parts of a ring, a power of two; 0: 2. A record cannot be
 *	larger than one
 * @reserved: 0
 * @device: path of the device, or NULL for EVENTLOG_DEVICE
 * @backlog_bytes: of each CPU's records that many may wait in memory, besides
 *	those in its ring; 0: none. At most ELOG_BACKLOG_MAX, and not with
 *	ELOG_CONSUMER_OVERWRITE
 * @processes: with @backlog_bytes: told the names of threads; or NULL. Outlives the
 *	consumer, and belongs to the same thread
 *
 * With a backlog a thread of the library's, which handles no signals, takes records
 * off the rings as they fill up: whoever is slow to read, or stops for a while, loses
 * nothing until the backlog and a ring are full. That thread also asks for the
 * definitions of events, and for the names of threads, while these exist. All else
 * is as without; but elog_consumer_fd() is not for poll(2) then.
 */
struct elog_consumer_options {
	uint32_t size;
	uint32_t flags;
	uint64_t ring_bytes;
	uint64_t watermark;
	uint32_t sub_buffers;
	uint32_t reserved;
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
 * Nothing is delivered until a rule is added. Without ELOG_CONSUMER_OVERWRITE
 * full rings keep what they have, and count what they lose.
 *
 * With ELOG_CONSUMER_NO_RINGS nothing is delivered at all: its rules keep events
 * enabled, for those who look at them by other ways. @options has nothing else
 * then but a device.
 *
 * Return: 0; -ENOENT, -ENXIO, -ENODEV: no module; -EACCES: the device's mode
 * forbids; -EPERM: CAP_PERFMON or CAP_SYS_ADMIN is needed; -EINVAL; -E2BIG and
 * -ENOMEM: rings of that size are not to be had; -EMFILE: too many
 * subscribers; -EAGAIN: too many threads; -EPROTO: the kernel's rings are not what
 * this library knows.
 */
int elog_consumer_open(struct elog_consumer **consumer,
		       const struct elog_consumer_options *options);

/** elog_consumer_close() - unsubscribe and free everything; NULL is fine */
void elog_consumer_close(struct elog_consumer *consumer);

/**
 * elog_consumer_fd() - the file, for one's own poll(2)
 * @consumer: the consumer
 *
 * Readable at the watermark, or after loss; with a backlog only
 * elog_consumer_wait() tells.
 */
int elog_consumer_fd(const struct elog_consumer *consumer);

/**
 * struct elog_rule - what to deliver; all members that are given must match
 * @size: sizeof(struct elog_rule)
 * @flags: EVENTLOG_RULE_SESSION, EVENTLOG_RULE_PID: those members count
 * @provider: glob, NULL for all
 * @event: glob, NULL for all
 * @keywords_any: has one of these; 0: not tested
 * @keywords_all: has all of these
 * @session: the session
 * @pid: the process
 * @level: at most this verbose; 0: all
 * @sample: the first of every so many; 0 and 1: all
 * @reserved: 0
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
	uint32_t reserved;
};

/**
 * elog_consumer_rule_add() - ask for events
 * @consumer: the consumer
 * @rule: which
 * @rule_id: set to the rule's id; may be NULL
 *
 * An event is delivered once if any rule matches. When this returns, events
 * written from then on are delivered.
 *
 * Return: 0, or what EVENTLOG_IOC_RULE_ADD fails with.
 */
int elog_consumer_rule_add(struct elog_consumer *consumer,
			   const struct elog_rule *rule, uint32_t *rule_id);

/** elog_consumer_rule_delete() - take a rule back; -ENOENT: there is none */
int elog_consumer_rule_delete(struct elog_consumer *consumer, uint32_t rule_id);

/**
 * elog_consumer_wait() - sleep until there is enough to read
 * @consumer: the consumer
 * @milliseconds: at most; -1: no limit
 * @mask: signal mask while sleeping, as for ppoll(2); NULL: unchanged
 *
 * For lively output wait 100 ms or so, then, whatever the result, ask
 * elog_consumer_pending().
 *
 * Return: 1 watermark or loss, 0 time over, -EINTR a signal, -EIO.
 */
int elog_consumer_wait(struct elog_consumer *consumer, int milliseconds,
		       const sigset_t *mask);

/**
 * elog_consumer_pending() - is there anything to read?
 * @consumer: the consumer
 *
 * Cheap: looks at the mapped rings, and asks the kernel whether there are new
 * ones.
 *
 * Return: 1 there are records or losses not yet read, 0 there are none, or
 * what EVENTLOG_IOC_STAT fails with.
 */
int elog_consumer_pending(struct elog_consumer *consumer);

/**
 * elog_consumer_flush() - start a batch: everything older than now
 * @consumer: the consumer
 *
 * Asks the kernel for a time before which no record can appear any more, maps
 * rings that are new, and makes elog_consumer_next() yield all records older
 * than that, in the order of their times. A batch not read to its end goes on
 * in the next one.
 *
 * Return: 0, -EINTR, -ENOMEM, -EPROTO.
 */
int elog_consumer_flush(struct elog_consumer *consumer);

/** elog_consumer_time() - the time of the last flush, CLOCK_MONOTONIC ns */
uint64_t elog_consumer_time(const struct elog_consumer *consumer);

/**
 * elog_consumer_pause() - begin a batch of what overwriting rings hold
 * @consumer: opened with ELOG_CONSUMER_OVERWRITE
 *
 * Nothing is written to the rings until elog_consumer_resume(); what is emitted
 * meanwhile is counted as lost. elog_consumer_next() then returns what the
 * rings hold and no earlier batch had, in order. Takes an RCU grace period.
 *
 * Return: 0, -EINVAL (not an overwriting consumer), or what mapping a new
 * CPU's ring failed with; then the rings are not frozen.
 */
int elog_consumer_pause(struct elog_consumer *consumer);

/**
 * elog_consumer_resume() - go on writing to frozen rings
 * @consumer: the consumer; the batch is over
 *
 * Return: 0 or a negative errno.
 */
int elog_consumer_resume(struct elog_consumer *consumer);

/**
 * elog_consumer_next() - the next record of the batch
 * @consumer: the consumer
 * @item: filled in
 *
 * Gives the record before it back to the kernel, soon: ring positions are
 * written every eighth of a ring, and at the end of the batch.
 *
 * Return: 1 there is one; 0 the batch is over; -EBADMSG a ring was damaged:
 * what was in it is skipped, and the call may be repeated; with a backlog -ENOMEM.
 */
int elog_consumer_next(struct elog_consumer *consumer, struct elog_item *item);

/**
 * elog_consumer_describe() - the schema of an event
 * @consumer: the consumer
 * @descriptor: struct elog_item.descriptor
 * @event: set; belongs to the consumer, and is valid as long as
 *	elog_consumer_generation() says the same
 *
 * What the kernel answered is remembered as long as it is not too much.
 *
 * Return: 0, -ENOENT there is none, -EINVAL the text is not understood,
 * -ENOMEM.
 */
int elog_consumer_describe(struct elog_consumer *consumer, uint32_t descriptor,
			   const struct elog_schema_event **event);

/**
 * elog_consumer_definition() - get the schema text of an event
 * @consumer: the consumer
 * @request: its descriptor is that of an event that was yielded; flags are 0
 * @text: set to the text, NUL-terminated, which the caller frees
 *
 * As elog_device_describe(), but with a backlog also of a definition that is gone by
 * now.
 *
 * Return: as elog_device_describe().
 */
int elog_consumer_definition(struct elog_consumer *consumer,
			     struct eventlog_describe *request, char **text);

/**
 * elog_consumer_generation() - whether descriptions are still what they were
 * @consumer: the consumer
 *
 * For who keeps what elog_consumer_describe() gave, by descriptor. Failures are
 * not to be kept.
 *
 * Return: a count that is another one as soon as any of them has become invalid,
 * which only elog_consumer_describe() makes them.
 */
uint64_t elog_consumer_generation(const struct elog_consumer *consumer);

/**
 * elog_consumer_stat() - what was delivered and lost so far
 * @consumer: the consumer
 * @cpu: one, or EVENTLOG_CPU_ALL
 * @descriptor: one event, with EVENTLOG_CPU_ALL, or 0
 * @stat: filled in
 *
 * Return: 0; -ENXIO the CPU has no ring; -ENOENT the event never matched.
 */
int elog_consumer_stat(struct elog_consumer *consumer, uint32_t cpu,
		       uint32_t descriptor, struct eventlog_stat *stat);

/**
 * elog_consumer_cpus() - one more than the highest number of a ring
 * @consumer: the consumer
 *
 * 0 with ELOG_CONSUMER_NO_RINGS.
 */
unsigned int elog_consumer_cpus(const struct elog_consumer *consumer);

/**
 * elog_consumer_raw() - what a ring holds, as it is
 * @consumer: opened without ELOG_CONSUMER_OVERWRITE and without backlog, and not
 *	used with elog_consumer_next()
 * @cpu: the ring's
 * @data: set to whole records, padding and lost records among them, in the ring
 *	itself; valid until they are released
 * @size: set to bytes at @data: up to the end of what is written, or of the
 *	ring's memory
 * @position: set to the ring position of the first one
 *
 * There may be more behind it: ask again after elog_consumer_raw_release(), which
 * may be given a part of it.
 *
 * Return: 1 there is something; 0 there is nothing; -EINVAL; -EBADMSG the ring
 * was damaged: what was in it is skipped.
 */
int elog_consumer_raw(struct elog_consumer *consumer, unsigned int cpu,
		      const void **data, size_t *size, uint64_t *position);

/**
 * elog_consumer_raw_release() - give records back to the kernel
 * @consumer: the consumer
 * @cpu: the ring's
 * @size: bytes, at most what elog_consumer_raw() said
 *
 * Return: 0 or -EINVAL.
 */
int elog_consumer_raw_release(struct elog_consumer *consumer, unsigned int cpu,
			      size_t size);

/**
 * elog_consumer_raw_flush() - ask for a time, and map rings that are new
 * @consumer: as for elog_consumer_raw()
 *
 * When all rings have been read once more after this, nothing that is older
 * than elog_consumer_time() will come any more.
 *
 * Return: as elog_consumer_flush().
 */
int elog_consumer_raw_flush(struct elog_consumer *consumer);

/**
 * elog_consumer_raw_lost() - what a ring has lost so far
 * @consumer: as for elog_consumer_raw()
 * @cpu: the ring's, or EVENTLOG_CPU_ALL: CPUs that have no ring
 * @lost: EVENTLOG_LOST_CAUSES counts, filled in
 *
 * Return: 1; 0 the ring has unread records, which may tell better where it was;
 * or what EVENTLOG_IOC_STAT fails with.
 */
int elog_consumer_raw_lost(struct elog_consumer *consumer, unsigned int cpu,
			   uint64_t *lost);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_CONSUMER_H */
