/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions on consumers that libelog.so does not export: elog, which contains the library,
 * reads the bytes of rings on several threads, and merges instances.
 *
 * Programs read events in the order of time, with elog/consumer.h.
 */
#ifndef LIBELOG_UNEXPORTED_CONSUMER_H
#define LIBELOG_UNEXPORTED_CONSUMER_H

#include "elog.h"

/**
 * elog_consumer_shards() - get the number of rings that belong to no CPU
 * @consumer: the consumer
 *
 * These are the last ones of elog_consumer_rings(). They have the events from producer
 * rings, see eventlog(4).
 */
unsigned int elog_consumer_shards(const struct elog_consumer *consumer);

/**
 * elog_consumer_ring_cpu() - get the CPU of a ring
 * @consumer: the consumer
 * @ring: its number, below elog_consumer_rings(); items have it as their stream
 *
 * Return: the CPU; EVENTLOG_CPU_UNKNOWN: not known, or the ring does not exist yet.
 */
unsigned int elog_consumer_ring_cpu(const struct elog_consumer *consumer,
				    unsigned int ring);

/**
 * elog_consumer_raw() - get the unread bytes of a ring
 * @consumer: opened without ELOG_CONSUMER_OVERWRITE and without backlog, and not
 *	used with elog_consumer_next()
 * @ring: its number, below elog_consumer_rings()
 * @data: set to whole records, in the ring itself; valid until they are released.
 *	Padding and lost records are included
 * @size: set to bytes at @data: up to the end of the records, or of the ring's memory
 * @position: set to the ring position of @data
 *
 * There may be more records behind these: call this again after
 * elog_consumer_raw_release(), which may release them in several steps.
 *
 * Return: 1 there are records; 0 there are none; -EINVAL; -EBADMSG the ring was
 * damaged: its contents are skipped.
 */
int elog_consumer_raw(struct elog_consumer *consumer, unsigned int ring,
		      const void **data, size_t *size, uint64_t *position);

/**
 * elog_consumer_raw_release() - return the space of records to the kernel
 * @consumer: the consumer
 * @ring: its number, below elog_consumer_rings()
 * @size: bytes, at most the size from elog_consumer_raw()
 *
 * Return: 0 or -EINVAL.
 */
int elog_consumer_raw_release(struct elog_consumer *consumer, unsigned int ring,
			      size_t size);

/**
 * struct elog_raw_meta - what the kernel knows about some unread bytes of a ring
 * @size: sizeof(struct elog_raw_meta)
 * @records: set to the number of events in the ring before the end of @bytes: lower 32 bits
 * @bytes: set to bytes from the start of the unread ones; they end with a record
 * @look: set to how many of @bytes, from their start, may have events or threads that are
 *	new in the ring, and lost records
 */
struct elog_raw_meta {
	uint32_t size;
	uint32_t records;
	uint64_t bytes;
	uint64_t look;
};

/**
 * elog_consumer_raw_meta() - get what the kernel knows about the next unread bytes
 * @consumer: as for elog_consumer_raw(), which was called just before
 * @ring: its number, below elog_consumer_rings()
 * @meta: filled in; the caller sets its size
 *
 * With this, elog_writer_raw_meta() need not look at each record. The kernel knows it when
 * a sub-buffer is complete: use more sub-buffers than 2.
 *
 * Return: 1; 0 the kernel does not know: use elog_writer_raw(); -EAGAIN it will know later,
 * when the sub-buffer is complete: as 0, or leave the bytes unread until then; -EINVAL.
 */
int elog_consumer_raw_meta(struct elog_consumer *consumer, unsigned int ring,
			   struct elog_raw_meta *meta);

/**
 * elog_consumer_raw_flush_start() - start to get a time from the kernel
 * @consumer: as for elog_consumer_raw()
 *
 * The kernel waits for an RCU grace period, tens of milliseconds. A small ring may fill up
 * meanwhile. So this function returns at once, and a thread of the library waits. The
 * caller continues to read the rings. When the flush is over, elog_consumer_wait() ends. If
 * no thread can be created, this function waits.
 *
 * Return: 0; -EBUSY the previous flush is not ended; -EINVAL; -ENOMEM.
 */
int elog_consumer_raw_flush_start(struct elog_consumer *consumer);

/**
 * elog_consumer_raw_flush_end() - finish what elog_consumer_raw_flush_start() has started
 * @consumer: the consumer
 *
 * After this call has returned 1, new rings are mapped. Read all rings once more: after that,
 * no record older than elog_consumer_time() will appear any more.
 *
 * Return: 1; 0 the flush is not over: call this again later; -EINVAL none was started;
 * or as elog_consumer_flush().
 */
int elog_consumer_raw_flush_end(struct elog_consumer *consumer);

/**
 * elog_consumer_raw_lost() - get the losses of a ring
 * @consumer: as for elog_consumer_raw()
 * @ring: its number, below elog_consumer_rings(); ELOG_STREAM_NONE: CPUs that have no
 *	ring
 * @lost: filled in: the number of lost events by cause, since the start
 * @count: elements of @lost; those behind EVENTLOG_LOST_CAUSES become 0
 *
 * Return: 1; 0 the ring has unread records, which may tell the place of the losses
 * more exactly; or a negative errno of EVENTLOG_IOC_STAT.
 */
int elog_consumer_raw_lost(struct elog_consumer *consumer, unsigned int ring,
			   uint64_t *lost, size_t count);

/*
 * Several threads can read one subscription: each opens a part of the consumer, which has
 * some of its rings. A part is a consumer. It belongs to its thread, and parts need no
 * locks between them.
 *
 * Any thread may call elog_consumer_flush_wait(), too, until the consumer is closed.
 */

/**
 * struct elog_part_options - which rings a part has
 * @size: sizeof(struct elog_part_options); elog.h says how such structs grow
 * @part: number of the part, below @parts
 * @parts: number of parts. A part has the rings whose number modulo @parts is @part
 * @reserved: 0
 * @processes: as in struct elog_consumer_options, for the thread of this part; or NULL
 */
struct elog_part_options {
	uint32_t size;
	uint32_t part;
	uint32_t parts;
	uint32_t reserved;
	struct elog_processes *processes;
};

/**
 * elog_consumer_part_open() - read some of a consumer's rings on another thread
 * @part: set to the new consumer, for elog_consumer_close()
 * @consumer: opened without backlog and without ELOG_CONSUMER_OVERWRITE. Its rings have
 *	not been read yet, and from now on only its parts read them. It may be closed
 *	before its parts
 * @options: which rings
 *
 * A part reads its rings like any other consumer: by elog_consumer_raw(), or in the order
 * of time by elog_consumer_next(). Losses of CPUs without ring belong to part 0.
 *
 * Return: 0; -EINVAL; -E2BIG an option that this library does not know is set; -EMFILE;
 * -ENOMEM; or as elog_consumer_open() when it maps rings.
 */
int elog_consumer_part_open(struct elog_consumer **part,
			    const struct elog_consumer *consumer,
			    const struct elog_part_options *options);

/**
 * elog_consumer_flush_wait() - get a time from the kernel, for all parts
 * @consumer: a consumer without ELOG_CONSUMER_OVERWRITE, or one of its parts
 * @flush: the caller sets its size; filled in up to there
 *
 * Waits for an RCU grace period. So call it on a thread that does not read rings, and
 * pass the result to all parts.
 *
 * Return: 0; -EINVAL; -EINTR; -ENOMEM.
 */
int elog_consumer_flush_wait(const struct elog_consumer *consumer,
			     struct eventlog_flush *flush);

/**
 * elog_consumer_raw_flushed() - use the result of elog_consumer_flush_wait()
 * @consumer: a consumer without backlog, usually a part
 * @flush: the result
 *
 * After this call, everything is as after elog_consumer_raw_flush_end().
 *
 * Return: 0; -E2BIG; -ENOMEM, -EPROTO: a new ring cannot be mapped.
 */
int elog_consumer_raw_flushed(struct elog_consumer *consumer,
			      const struct eventlog_flush *flush);

/**
 * elog_consumer_flush_until() - start a batch with everything older than a time
 * @consumer: the consumer
 * @flush: the result of elog_consumer_flush_wait(); its time may be made smaller
 *
 * To merge the records of several consumers, get a time from each of them, and start their
 * batches with the smallest. Then there are no gaps. Otherwise as elog_consumer_flush().
 *
 * Return: 0; -E2BIG; -ENOMEM, -EPROTO.
 */
int elog_consumer_flush_until(struct elog_consumer *consumer,
			      const struct eventlog_flush *flush);

#endif /* LIBELOG_UNEXPORTED_CONSUMER_H */
