/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the tests share: calls of the device, and a consumer that reads
 * rings and checks every rule of a ring.
 *
 * A function fails the test when something goes wrong, unless it says
 * otherwise.  One thread at a time may use a struct consumer.
 */
#ifndef EVENTLOG_COMMON_H
#define EVENTLOG_COMMON_H

#include <sys/ioctl.h>
#include <sys/types.h>
#include <linux/eventlog.h>

#include "system_common.h"

/* A pointer as the ABI passes it. */
#define PTR(pointer) ((__u64)(unsigned long)(pointer))

/* ------------------------------------------------------------------------
 * The device
 */

/* The request of any call, as struct, as bytes and as numbers. */
union request {
	unsigned char bytes[256];
	__u64 words[32];
	__u32 halves[64];
	__u32 size;
	struct eventlog_info info;
	struct eventlog_register registration;
	struct eventlog_unregister unregister;
	struct eventlog_delete delete;
	struct eventlog_list list;
	struct eventlog_subscribe subscribe;
	struct eventlog_rule rule;
	struct eventlog_rule_delete rule_delete;
	struct eventlog_flush flush;
	struct eventlog_stat stat;
	struct eventlog_describe describe;
	struct eventlog_pause pause;
	struct eventlog_attach attach;
	struct eventlog_detach detach;
	struct eventlog_marker_set marker_set;
	struct eventlog_filter_get filter_get;
	struct eventlog_marker_handlers marker_handlers;
	struct eventlog_instance_create instance_create;
	struct eventlog_instance_delete instance_delete;
	struct eventlog_instance_open instance_open;
	struct eventlog_leave leave;
	struct eventlog_missed missed;
};

/** device_open() - open the device for reading and writing */
int device_open(void);

/** device_open_for() - open the device with these flags of open(2) */
int device_open_for(int flags);

/** list_request() - a LIST request for a kind, with a buffer of so many bytes */
struct eventlog_list list_request(__u32 kind, void *buffer, __u32 bytes);

/** list_count() - how many elements LIST returns for a kind without further arguments */
unsigned int list_count(int fd, __u32 kind);

/** info_of() - the results of INFO */
struct eventlog_info info_of(int fd);

/** device_info() - the results of INFO for a new file */
struct eventlog_info device_info(void);

/**
 * register_request() - a REGISTER request with defaults for all other members
 * @command: must stay valid until the call
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
 * register_with() - REGISTER a request and check what every result must satisfy
 * @fd: the file
 * @request: gets the results
 */
void register_with(int fd, struct eventlog_register *request);

/** register_event() - REGISTER a command */
struct eventlog_register register_event(int fd, const char *command);

/** register_persistent() - REGISTER a command that stays; @provider may be NULL */
struct eventlog_register register_persistent(int fd, const char *provider, const char *command);

/** trace_group() - the group of events of the default provider */
const char *trace_group(void);

/** compare_words() - compare two __u32, for qsort(3) */
int compare_words(const void *left, const void *right);

/** try_unregister() - UNREGISTER; returns as ioctl(2) */
int try_unregister(int fd, __u32 write_index);

/** try_delete() - DELETE by names, either may be NULL; returns as ioctl(2) */
int try_delete(int fd, const char *provider, const char *event);

/**
 * emit() - write one event without a session; does not fail the test
 * @fd: the producer
 * @write_index: of the registration
 * @payload: any address, also an unmapped one
 * @bytes: size of the payload
 *
 * Return: as writev(2)
 */
ssize_t emit(int fd, __u32 write_index, const void *payload, size_t bytes);

/** emit_session() - like emit() for a registration with a session */
ssize_t emit_session(int fd, __u32 write_index, __u64 session, const void *payload, size_t bytes);

/**
 * describe() - the schema text of a definition
 * @fd: any file
 * @descriptor: of the definition
 * @state: gets EVENTLOG_DESCRIBED_*; may be NULL
 *
 * Return: a string that the caller frees, or NULL with errno set.
 */
char *describe(int fd, __u32 descriptor, __u32 *state);

/* The status map as mapped by a producer. */
struct status_map {
	const unsigned char *bytes;
	size_t size;
};

/** status_map() - map the status map of a file that has a registration */
struct status_map status_map(int fd, const struct eventlog_register *registration);

/** status_get() - the status byte of an event */
__u8 status_get(const struct status_map *map, const struct eventlog_register *registration);

/** status_enabled() - whether EVENTLOG_STATUS_ENABLED of an event is set */
bool status_enabled(const struct status_map *map, const struct eventlog_register *registration);

/** status_generation() - the generation, which changes with marker policies */
__u32 status_generation(const struct status_map *map);

/* ------------------------------------------------------------------------
 * The status listing
 */

/** status_read() - the whole listing, freed by the caller; NULL with errno on failure */
char *status_read(void);

/** status_number() - the number after "Active: ", "Busy: " or "Max: " in a listing */
long status_number(const char *text, const char *word);

/** status_now() - read the listing and return such a number; -1 if it is missing */
long status_now(const char *word);

/* ------------------------------------------------------------------------
 * A consumer
 */

/**
 * struct ring - the mapped ring of one CPU, or of one shard
 * @header: first page; NULL if the CPU has no ring
 * @consumer: second page
 * @data: record data
 * @position: position of the next record to read
 * @limit: last known value of committed
 * @last_time: time of the last record
 * @held_position: value of committed at the last consumer_hold()
 * @held_time: records from held_position on must not be older than this
 * @earlier_time: no record may be older than this
 * @records: number of events read
 * @lost: highest counts found in lost records
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
 * ring_load() - load a word of a ring's header with acquire semantics
 * @header: header of a ring that may have a writer
 * @word: the word
 * @upper: the copy of its upper half, for readers that load 32 bits at a time
 */
__u64 ring_load(const struct eventlog_ring_header *header, const __u64 *word,
		const __u32 *upper);
#define RING_LOAD(header, word) ring_load(header, &(header)->word, &(header)->word##_upper)

/**
 * struct consumer - a subscriber and its rings
 * @fd: the file
 * @setup: the results of SUBSCRIBE
 * @rings: one for each possible CPU, then one for each shard, setup.rings of them
 * @turn: index of the ring to read next
 */
struct consumer {
	int fd;
	struct eventlog_subscribe setup;
	struct ring *rings;
	unsigned int turn;
};

/**
 * struct record - an event in a ring, valid until the next consumer_next()
 * @header: the record
 * @payload: its payload
 * @bytes: size of the payload, with the zeroes up to a multiple of 8
 * @cpu: CPU that wrote the record, or EVENTLOG_CPU_UNKNOWN
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

/** consumer_open_with() - the same with the caller's SUBSCRIBE request */
void consumer_open_with(struct consumer *consumer, const struct eventlog_subscribe *request);

/** consumer_open_file() - the same with an open file, which it takes over */
void consumer_open_file(struct consumer *consumer, int fd,
			const struct eventlog_subscribe *request);

/**
 * consumer_map() - map a ring unless it is already mapped
 * @consumer: the consumer
 * @cpu: its index, below consumer->setup.rings
 *
 * Return: whether the CPU has a ring.
 */
bool consumer_map(struct consumer *consumer, unsigned int cpu);

/** consumer_close() - unmap and close */
void consumer_close(struct consumer *consumer);

/** rule_request() - a RULE_ADD request; names are globs or NULL */
struct eventlog_rule rule_request(const char *provider, const char *event);

/** rule_add() - add a rule for these globs; returns its id */
__u32 rule_add(int fd, const char *provider, const char *event);

/** rule_add_with() - add the rule of a request; returns its id */
__u32 rule_add_with(int fd, struct eventlog_rule *rule);

/** try_rule_delete() - RULE_DEL; returns as ioctl(2) */
int try_rule_delete(int fd, __u32 rule_id);

/** flush() - FLUSH; returns the time */
__u64 flush(int fd);

/** stat_all() - STAT over all CPUs */
struct eventlog_stat stat_all(int fd);

/** stat_event_lost() - how many records of one event were lost */
__u64 stat_event_lost(int fd, __u32 descriptor);

/** lost_sum() - the sum over all causes */
__u64 lost_sum(const __u64 lost[EVENTLOG_LOST_CAUSES]);

/**
 * consumer_next() - the next event in any ring
 * @consumer: the consumer
 * @record: the event
 *
 * Reads the rings one after the other and releases a ring when it is empty.
 * Checks everything that the ABI promises about a ring: sizes, alignment,
 * padding, sub-buffers, order of time, growing lost counts, reserved bits.
 *
 * Return: false if all rings are empty.
 */
bool consumer_next(struct consumer *consumer, struct record *record);

/**
 * consumer_hold() - from now on newly visible records must have at least this time
 * @consumer: must have read everything that was visible at the previous call
 * @time: the oldest permitted time
 */
void consumer_hold(struct consumer *consumer, __u64 time);

/** consumer_release() - release everything read so far to the rings' writers */
void consumer_release(struct consumer *consumer);

/** consumer_skip() - read all records; returns the number of events */
unsigned int consumer_skip(struct consumer *consumer);

/** consumer_one() - read an event; fails unless there is exactly one */
void consumer_one(struct consumer *consumer, struct record *record);

#endif /* EVENTLOG_COMMON_H */
