/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer ring, for tests: follows the rules of the ABI, or breaks them on demand.
 * One thread at a time may use a struct mapped.
 */
#ifndef MAPPED_COMMON_H
#define MAPPED_COMMON_H

#include "eventlog_common.h"

/**
 * struct mapped - a ring as the producer sees it
 * @fd: the file
 * @attach: the results of ATTACH
 * @header: the first page; the kernel writes to it
 * @data: the data
 * @head: end of the last record
 */
struct mapped {
	int fd;
	struct eventlog_attach attach;
	struct eventlog_mapped_header *header;
	unsigned char *data;
	__u32 head;
};

/** mapped_least_bytes() - data_bytes of the smallest ring */
__u32 mapped_least_bytes(void);

/** mapped_consumer_open() - open a subscriber that has shard rings */
void mapped_consumer_open(struct consumer *consumer, __u64 ring_bytes);

/** attach_request() - an ATTACH request for a new ring */
struct eventlog_attach attach_request(__u32 data_bytes);

/** try_detach() - DETACH; returns as ioctl(2) */
int try_detach(int fd, __u32 ring);

/** try_map() - map the ring of an ATTACH; returns as mmap(2) */
void *try_map(int fd, const struct eventlog_attach *attach);

/** mapped_attach() - get and map a new ring, and check what every ring must satisfy */
void mapped_attach(struct mapped *mapped, int fd, __u32 data_bytes);

/**
 * mapped_attach_cycles() - mapped_attach() with EVENTLOG_ATTACH_CYCLES
 *
 * Return: false if the kernel's clock is another one; then there is no ring.
 */
bool mapped_attach_cycles(struct mapped *mapped, int fd, __u32 data_bytes);

/** mapped_unmap() - unmap the ring, which ends it */
void mapped_unmap(struct mapped *mapped);

/** mapped_ask() - what the kernel asks for */
__u32 mapped_ask(const struct mapped *mapped);

/** mapped_taken() - whether the kernel has taken all records */
bool mapped_taken(const struct mapped *mapped);

/** cycles_now() - the cycle counter */
__u64 cycles_now(void);

/** mapped_time() - the time of an event that is emitted now, as the ring wants it */
__u64 mapped_time(const struct mapped *mapped);

/**
 * mapped_put() - write a record and commit it
 * @mapped: the ring
 * @record: write_index, time and session
 * @payload: any bytes
 * @bytes: their number
 *
 * Return: false if there is no room.
 */
bool mapped_put(struct mapped *mapped, struct eventlog_mapped_record record,
		const void *payload, __u32 bytes);

/** mapped_kick() - KICK without a message; returns as write(2) */
ssize_t mapped_kick(const struct mapped *mapped);

/**
 * mapped_kick_with() - KICK with an event
 * @mapped: the ring
 * @write_index: of a registration without session
 * @payload: any bytes
 * @bytes: their number
 *
 * Return: as write(2).
 */
ssize_t mapped_kick_with(const struct mapped *mapped, __u32 write_index, const void *payload,
			 __u32 bytes);

/** mapped_kick_session() - mapped_kick_with(), of a registration with session */
ssize_t mapped_kick_session(const struct mapped *mapped, __u32 write_index, __u64 session,
			    const void *payload, __u32 bytes);

/** session_write() - write() of EVENTLOG_WRITE_SESSION; returns as write(2) */
ssize_t session_write(int fd, __u32 of, __u64 session);

/**
 * mapped_emit() - emit an event, as a producer does that follows the rules
 * @mapped: the ring
 * @write_index: of a registration without session
 * @payload: any bytes
 * @bytes: their number
 */
void mapped_emit(struct mapped *mapped, __u32 write_index, const void *payload, __u32 bytes);

#endif /* MAPPED_COMMON_H */
