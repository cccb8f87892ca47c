/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of eventlog share: calls of the device, a consumer that reads
 * rings and checks every rule a ring must keep, and small things of the system.
 *
 * Unless a function says otherwise it fails the test when something goes wrong.
 * A struct consumer is used by one thread at a time.
 */
#ifndef EVENTLOG_COMMON_H
#define EVENTLOG_COMMON_H

#include <sys/ioctl.h>
#include <sys/types.h>
#include <linux/eventlog.h>

#include "eventlog_test.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* A pointer as the ABI carries it. */
#define PTR(pointer) ((__u64)(unsigned long)(pointer))

#define ALIGN_UP(value, to) (((value) + ((to) - 1)) / (to) * (to))

/* ------------------------------------------------------------------------
 * The device
 */

/** device_open() - open the device for reading and writing */
int device_open(void);

/** device_open_for() - open the device with these flags of open(2) */
int device_open_for(int flags);

/** device_version() - what VERSION says */
struct eventlog_version device_version(void);

/**
 * register_request() - a REGISTER request with everything else at its default
 * @command: stays the caller's
 */
struct eventlog_register register_request(const char *command);

/**
 * try_register() - REGISTER a command; does not fail the test
 * @fd: the file
 * @command: the command
 *
 * Return: as ioctl(2)
 */
int try_register(int fd, const char *command);

/**
 * register_with() - REGISTER a request and check what is promised of any result
 * @fd: the file
 * @request: completed with the results
 */
void register_with(int fd, struct eventlog_register *request);

/** register_event() - REGISTER a command */
struct eventlog_register register_event(int fd, const char *command);

/** try_unregister() - UNREGISTER; returns as ioctl(2) */
int try_unregister(int fd, __u32 write_index);

/** try_delete() - DELETE by names, either may be NULL; returns as ioctl(2) */
int try_delete(int fd, const char *provider, const char *event);

/**
 * emit() - write one event of a registration without session
 * @fd: the producer
 * @write_index: of the registration
 * @payload: may be anything, unmapped too
 * @bytes: of the payload
 *
 * Return: as writev(2); does not fail the test.
 */
ssize_t emit(int fd, __u32 write_index, const void *payload, size_t bytes);

/** emit_session() - like emit() for a registration with a session */
ssize_t emit_session(int fd, __u32 write_index, __u64 session, const void *payload, size_t bytes);

/**
 * describe() - the schema text of a definition
 * @fd: any file
 * @descriptor: of the definition
 * @state: EVENTLOG_DESCRIBED_*, may be NULL
 *
 * Return: a string to free, or NULL with errno set.
 */
char *describe(int fd, __u32 descriptor, __u32 *state);

/* The enable bits as a producer maps them. */
struct bitmap {
	const unsigned char *bytes;
	size_t size;
};

/** bitmap_map() - map the bits after a registration on a file */
struct bitmap bitmap_map(int fd, const struct eventlog_register *registration);

/** bitmap_get() - a bit */
bool bitmap_get(const struct bitmap *bitmap, __u32 bit);

/* ------------------------------------------------------------------------
 * The status listing
 */

/** status_read() - the whole listing, to free; NULL with errno if it cannot be read */
char *status_read(void);

/** status_number() - the number behind "Active: ", "Busy: " or "Max: " in a listing */
long status_number(const char *text, const char *word);

/** status_now() - the same of a listing read just now; -1 if there is none */
long status_now(const char *word);

/* ------------------------------------------------------------------------
 * A consumer
 */

/**
 * struct ring - one CPU's ring, mapped
 * @header: its first page; NULL: this CPU has no ring
 * @consumer: its second page
 * @data: its data
 * @position: read up to here
 * @limit: what is committed as far as known
 * @last_time: of the last record
 * @held_position: what comes from here on was not visible at consumer_hold()
 * @held_time: and must not be older than this
 * @earlier_time: nor what comes before than this
 * @records: events read
 * @lost: the maximum of what lost records said
 */
struct ring {
	const struct eventlog_ring_header *header;
	struct eventlog_ring_consumer *consumer;
	const unsigned char *data;
	__u64 position;
	__u64 limit;
	__u64 last_time;
	__u64 held_position;
	__u64 held_time;
	__u64 earlier_time;
	__u64 records;
	__u64 lost[EVENTLOG_LOST_CAUSES];
};

/**
 * ring_load() - load a word of a ring's header as the ABI says, acquire
 * @header: of the ring, which may be being written
 * @word: the word
 * @upper: its copy
 */
__u64 ring_load(const struct eventlog_ring_header *header, const __u64 *word,
		const __u32 *upper);
#define RING_LOAD(header, word) ring_load(header, &(header)->word, &(header)->word##_upper)

/**
 * struct consumer - a subscriber and its rings
 * @fd: the file
 * @setup: what SUBSCRIBE said
 * @rings: one for each CPU number, setup.cpus of them
 * @turn: the ring to look into first
 */
struct consumer {
	int fd;
	struct eventlog_subscribe setup;
	struct ring *rings;
	unsigned int turn;
};

/**
 * struct record - an event in a ring, good until the next consumer_next()
 * @header: the record
 * @payload: its payload
 * @bytes: of the payload, rounded up by zeroes to a multiple of 8
 * @cpu: where it happened
 */
struct record {
	const struct eventlog_record *header;
	const unsigned char *payload;
	size_t bytes;
	unsigned int cpu;
};

/**
 * subscribe_request() - a SUBSCRIBE request
 * @ring_bytes: data bytes of each ring
 */
struct eventlog_subscribe subscribe_request(__u64 ring_bytes);

/** consumer_open() - open the device, subscribe, map the rings; no rules yet */
void consumer_open(struct consumer *consumer, __u64 ring_bytes);

/** consumer_open_with() - the same with a SUBSCRIBE request of the caller's */
void consumer_open_with(struct consumer *consumer, const struct eventlog_subscribe *request);

/**
 * consumer_map() - map the ring of a CPU unless it is mapped
 * @consumer: the consumer
 * @cpu: below consumer->setup.cpus
 *
 * Return: whether the CPU has a ring.
 */
bool consumer_map(struct consumer *consumer, unsigned int cpu);

/** consumer_close() - unmap and close */
void consumer_close(struct consumer *consumer);

/** rule_request() - a RULE_ADD request; names are globs or NULL */
struct eventlog_rule rule_request(const char *provider, const char *event);

/** rule_add() - RULE_ADD by globs; returns the id */
__u32 rule_add(int fd, const char *provider, const char *event);

/** rule_add_with() - RULE_ADD a request; returns the id */
__u32 rule_add_with(int fd, struct eventlog_rule *rule);

/** try_rule_delete() - RULE_DEL; returns as ioctl(2) */
int try_rule_delete(int fd, __u32 rule_id);

/** flush() - FLUSH; returns the time */
__u64 flush(int fd);

/** stat_all() - STAT over all CPUs */
struct eventlog_stat stat_all(int fd);

/** stat_event_lost() - losses of one event */
__u64 stat_event_lost(int fd, __u32 descriptor);

/** lost_sum() - all causes together */
__u64 lost_sum(const __u64 lost[EVENTLOG_LOST_CAUSES]);

/**
 * consumer_next() - the next event in any ring
 * @consumer: the consumer
 * @record: the event
 *
 * Rings are emptied one after the other; a ring's position is given back when
 * it is empty.  Checks everything a ring promises: sizes, alignment, padding,
 * sub-buffers, order of time, growth of lost counts, reserved bits.
 *
 * Return: false if all rings are empty.
 */
bool consumer_next(struct consumer *consumer, struct record *record);

/**
 * consumer_hold() - hold what becomes visible from now on to a time
 * @consumer: has read all that was visible at the previous call
 * @time: records that are older than this fail the test from now on
 */
void consumer_hold(struct consumer *consumer, __u64 time);

/** consumer_release() - give everything read so far back to the rings */
void consumer_release(struct consumer *consumer);

/** consumer_skip() - read all that is there; returns the number of events */
unsigned int consumer_skip(struct consumer *consumer);

/** consumer_one() - the only event there is; fails if there are fewer or more */
void consumer_one(struct consumer *consumer, struct record *record);

/* ------------------------------------------------------------------------
 * The system
 */

/** page_size() - bytes */
size_t page_size(void);

/** pages_map() - zeroed memory of its own pages */
void *pages_map(size_t bytes);

/** pages_unmapped() - an address in a page nobody may touch */
void *pages_unmapped(void);

/** edge_buffer() - memory of this size right before a page nobody may touch */
void *edge_buffer(size_t bytes);

/** clock_now() - CLOCK_MONOTONIC, ns */
__u64 clock_now(void);

/** cpus_allowed() - the CPUs this thread may run on, into a list of up to max; their number */
unsigned int cpus_allowed(unsigned int *cpus, unsigned int max);

/** cpu_pin() - the calling thread runs on this CPU from now on */
void cpu_pin(unsigned int cpu);

/** thread_id() - of the calling thread */
pid_t thread_id(void);

/** thread_sleeps() - is a thread, of this process or another, asleep */
bool thread_sleeps(pid_t thread);

/** capabilities_keep() - give up every capability but those in this mask */
void capabilities_keep(__u64 mask);

#define CAPABILITY_SYS_ADMIN (1ULL << 21)
#define CAPABILITY_PERFMON (1ULL << 38)
#define CAPABILITY_ALL ((1ULL << 41) - 1)

/** descriptor_send() - pass an open file through a socket */
void descriptor_send(int socket, int fd);

/** descriptor_receive() - take one out of a socket */
int descriptor_receive(int socket);

/** user_mode_linux() - is this kernel a process, without jump labels, NMIs, perf */
bool user_mode_linux(void);

/* Where ftrace shows events. */
#define TRACEFS "/sys/kernel/tracing"
#define TRACE_EVENTS TRACEFS "/events"

/**
 * trace_events_there() - mount tracefs if need be, and make it fit for tests
 *
 * Return: whether the module, which is loaded, makes trace events.
 */
bool trace_events_there(void);

/** trace_group() - the group of events of the default provider */
const char *trace_group(void);

/** file_number() - the number a file of /proc or /sys holds; -1 if it cannot be read */
long file_number(const char *path);

/** file_write() - write a text into a file of /proc or /sys; as write(2) */
ssize_t file_write(const char *path, const char *text);

#endif /* EVENTLOG_COMMON_H */
