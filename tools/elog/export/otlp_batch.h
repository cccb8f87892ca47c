/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records for a receiver of OpenTelemetry, collected by resource, which is a provider in a
 * process, and sent in batches of OTLP_BATCH_BYTES or after a second. For otlp.c.
 */
#ifndef OTLP_BATCH_H
#define OTLP_BATCH_H

#include "export/otlp_queue.h"
#include "export/protobuf.h"
#include "input/source.h"
#include "libelog/util/map.h"
#include "libelog/util/siphash.h"

#define OTLP_BATCH_BYTES	(512U << 10)

/* Numbers of fields in opentelemetry/proto/, of records and their attributes. */
enum {
	OTLP_RECORD = 2,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_BOOL = 2,
	VALUE_INT = 3,
	VALUE_DOUBLE = 4,
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTE = 6,
	LOG_TRACE = 9,
	LOG_SPAN = 10,
	LOG_OBSERVED = 11,
	LOG_EVENT_NAME = 12,
	SPAN_TRACE = 1,
	SPAN_SPAN = 2,
	SPAN_PARENT = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTE = 9,
	SPAN_DROPPED = 10,
};

enum { SEVERITY_WARNING = 13 };

/** struct otlp_provider - a provider; its resources have it as service.name */
struct otlp_provider {
	struct otlp_provider *next;
	char name[];
};

/**
 * struct otlp_group - records with one resource
 * @resource: its attributes
 * @records: of each signal; to be appended to between otlp_batch_begin() and
 *	otlp_batch_end()
 * @trace_key: hashes the sessions of this provider and boot
 * @boot: a hash of the boot
 */
struct otlp_group {
	struct elog_text resource;
	struct elog_text records[OTLP_SIGNALS];
	struct elog_siphash trace_key;
	uint64_t boot;
};

/**
 * struct otlp_batch - the batch
 * @queue: where it is sent to
 * @settings: of the queue
 * @live: the events are those of this machine, as they happen
 * @value: room for a text
 * @complete: called before it is sent, to put what is not in it yet; NULL: nothing. Return: 0 or
 *	-ENOMEM
 * @context: for @complete
 *
 * The rest belongs to otlp_batch.c.
 */
struct otlp_batch {
	struct otlp_queue *queue;
	const struct otlp_settings *settings;
	bool live;
	struct elog_text value;
	int (*complete)(void *context);
	void *context;

	char host[128];				/* name of this machine */
	char boot[64];				/* id of its present boot */
	struct otlp_provider *providers;
	struct elog_map groups;			/* struct otlp_group */
	uint64_t records[OTLP_SIGNALS];
	size_t bytes;				/* of these */
	uint64_t begun;				/* CLOCK_MONOTONIC ns */
	bool quiet;
	uint64_t warned;			/* of a full queue, likewise */
	uint64_t reported[OTLP_SIGNALS];	/* unsent records in reported losses, */
	uint64_t queued[OTLP_SIGNALS];		/* and losses that are in the queue */
};

/**
 * otlp_batch_open() - make an empty batch, and the queue
 * @batch: zeroed; call otlp_batch_close() in any case
 * @url: of --otlp
 * @live: see struct otlp_batch
 * @quiet: print only errors
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int otlp_batch_open(struct otlp_batch *batch, const char *url, bool live, bool quiet);

/** otlp_batch_close() - free what it has, without sending it */
void otlp_batch_close(struct otlp_batch *batch);

/** otlp_batch_send() - send it; return 0 or a negative errno, as otlp_queue_put() */
int otlp_batch_send(struct otlp_batch *batch);

/** otlp_batch_send_late() - send it if a second has passed since it began; likewise */
int otlp_batch_send_late(struct otlp_batch *batch);

/** otlp_batch_begin() - call this before each record: it may send the ones before it */
int otlp_batch_begin(struct otlp_batch *batch);

/**
 * otlp_batch_end() - count a record
 * @batch: the batch
 * @group: where it is
 * @signal: what it is
 * @from: the size of its group's records before it
 *
 * Return: 0 or -ENOMEM.
 */
int otlp_batch_end(struct otlp_batch *batch, struct otlp_group *group, enum otlp_signal signal,
		   size_t from);

/** otlp_batch_provider() - find a provider; NULL: no memory */
struct otlp_provider *otlp_batch_provider(struct otlp_batch *batch, const char *name);

/**
 * otlp_batch_group() - find the records of a resource
 * @batch: the batch
 * @entry: an event or a loss; NULL: the resource is this machine
 * @provider: of the event
 * @pid: of the event; 0: it has no process
 * @process: the name of the process; ":" and its number: not known
 *
 * Return: the group, until the batch is sent; NULL: no memory.
 */
struct otlp_group *otlp_batch_group(struct otlp_batch *batch, const struct entry *entry,
				    const struct otlp_provider *provider, uint32_t pid,
				    const char *process);

/** otlp_time() - CLOCK_REALTIME ns; OpenTelemetry has none before 1970: 0 is not known */
static inline uint64_t otlp_time(int64_t wall)
{
	return wall > 0 ? (uint64_t)wall : 0;
}

/**
 * otlp_batch_open_loss() - begin a record of a loss
 * @group: where it goes
 * @name: of the record
 * @wall: its time, CLOCK_REALTIME ns
 * @record: set, for pb_close()
 *
 * Return: where its attributes go.
 */
struct elog_text *otlp_batch_open_loss(struct otlp_group *group, const char *name, int64_t wall,
				       size_t *record);

/**
 * otlp_batch_put_unsent() - put a record about those that a capture could not send so far
 *
 * It is not counted: a later record would report it as missing.
 */
int otlp_batch_put_unsent(struct otlp_batch *batch);

/** otlp_put_text() - append a field that is text, as valid UTF-8 */
void otlp_put_text(struct otlp_batch *batch, struct elog_text *text, unsigned int field,
		   const char *data, size_t size);

/** otlp_open_attribute() - begin an attribute; return: for pb_close(), after that of @value */
size_t otlp_open_attribute(struct elog_text *text, unsigned int field, const char *key,
			   size_t *value);

/** otlp_put_string() - append an attribute that is text */
void otlp_put_string(struct otlp_batch *batch, struct elog_text *text, unsigned int field,
		     const char *key, const char *string);

/** otlp_put_number() - append an attribute that is a number */
void otlp_put_number(struct elog_text *text, unsigned int field, const char *key,
		     uint64_t number);

#endif /* OTLP_BATCH_H */
