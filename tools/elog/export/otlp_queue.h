/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that wait to be sent to a receiver of OpenTelemetry, and the thread that sends
 * them. The queue has at most OTLP_QUEUE_BYTES. When it is full, an export of files waits,
 * and a capture drops the newest requests: a receiver never delays a capture.
 *
 * A lock protects the queue. The functions are for the process's own thread.
 */
#ifndef OTLP_QUEUE_H
#define OTLP_QUEUE_H

#include "export/otlp_settings.h"

#define OTLP_QUEUE_BYTES	(16U << 20)

struct otlp_queue;

/**
 * struct otlp_counts - what became of records, by signal
 * @sent: the receiver has accepted them
 * @refused: the receiver has refused them, or its answer is not one of OpenTelemetry
 * @unsent: they did not fit in the queue, or no answer came
 * @requests: that were answered
 * @bytes: of these, as sent
 */
struct otlp_counts {
	uint64_t sent[OTLP_SIGNALS];
	uint64_t refused[OTLP_SIGNALS];
	uint64_t unsent[OTLP_SIGNALS];
	uint64_t requests;
	uint64_t bytes;
};

/**
 * otlp_queue_open() - start the thread
 * @queue: set to the new queue
 * @settings: which it takes over, also if this fails
 * @live: drop requests when the queue is full, and try for ever; else an error ends all
 * @quiet: print only errors
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int otlp_queue_open(struct otlp_queue **queue, struct otlp_settings *settings, bool live,
		    bool quiet);

/** otlp_queue_settings() - the settings */
const struct otlp_settings *otlp_queue_settings(const struct otlp_queue *queue);

/**
 * otlp_queue_put() - add a request
 * @queue: the queue
 * @signal: where to
 * @text: the request; it is empty then
 * @records: in it
 *
 * Return: 0; -ENOBUFS: of a capture: there is no room; -ENOMEM; -EIO: the thread has given up,
 * the reason was printed. In all cases the records are counted.
 */
int otlp_queue_put(struct otlp_queue *queue, enum otlp_signal signal, struct elog_text *text,
		   uint64_t records);

/** otlp_queue_counts() - what became of the records so far */
void otlp_queue_counts(struct otlp_queue *queue, struct otlp_counts *counts);

/**
 * otlp_queue_finish() - wait until all is sent; after that only close it
 * @queue: the queue
 * @hurry: wait no longer than for one request; a signal ends this, too, and so does a second one
 *	that came before
 * @counts: what became of all records: what is left is not sent
 */
void otlp_queue_finish(struct otlp_queue *queue, bool hurry, struct otlp_counts *counts);

/** otlp_queue_close() - end the thread and free everything; NULL is allowed */
void otlp_queue_close(struct otlp_queue *queue);

#endif /* OTLP_QUEUE_H */
