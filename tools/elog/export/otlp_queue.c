// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that wait to be sent to a receiver of OpenTelemetry: see otlp_queue.h.
 *
 * A request that got no answer, or an answer that asks to wait, is sent again after a pause.
 * The pauses grow. The receiver may get a request twice if only its answer was lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp_answer.h"
#include "export/otlp_queue.h"
#include "input/live.h"
#include "libelog/util/thread.h"
#include "util/signals.h"

#ifdef ELOG_CURL
#include <zlib.h>
#endif

#define NS_PER_MS	1000000ULL
#define PAUSE_MS	100		/* before the second attempt; doubles */
#define PAUSE_MAX_MS	5000
#define RETRY_AFTER_MAX_MS 60000	/* a receiver may ask for this pause */
#define RETRY_TIMEOUTS	6		/* so long, the requests of files are sent again */
#define REPORT_MS	10000		/* between messages with the same reason */
#define LOOK_MS		100		/* between two checks for signals */
#define CANCEL_MS	3000		/* for the thread to notice that it must end */
#define REASON_MAX	512
#define SHOWN_MAX	200		/* bytes of a receiver's message */

/* struct request - a request that waits */
struct request {
	struct request *next;
	enum otlp_signal signal;
	uint64_t records;
	size_t size;
	char *data;
};

/* What became of an attempt. */
enum outcome { ACCEPTED, REFUSED, RETRY, IMPOSSIBLE, CANCELLED };

/*
 * struct otlp_queue - the queue
 * @settings: what otlp_queue_open() took over
 * @live: see otlp_queue_open()
 * @quiet: likewise
 * @thread: sends
 * @http: of the thread
 * @packed: a compressed request, of the thread
 * @capacity: bytes of @packed
 * @answer: of the thread
 * @reason: why the last attempt failed; of the thread, as are
 * @reported: when it was printed; 0: not since the last success
 * @printed: what was printed
 * @printed_error: it was an error
 * @lock: of all members below
 * @work: there is a request, or the thread must end
 * @done: a request is gone, or the thread has ended
 * @first: the oldest request, which is being sent
 * @last: where the next one goes
 * @bytes: of all requests
 * @counts: what became of the others
 * @closing: no more requests come
 * @cancelled: drop all requests
 * @failed: the thread has given up
 * @over: the thread has ended
 */
struct otlp_queue {
	struct otlp_settings settings;
	bool live;
	bool quiet;
	pthread_t thread;
	struct http *http;
	unsigned char *packed;
	size_t capacity;
	struct http_answer answer;
	char reason[REASON_MAX];
	uint64_t reported;
	char printed[REASON_MAX];
	bool printed_error;

	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	struct request *first;
	struct request **last;
	size_t bytes;
	struct otlp_counts counts;
	bool closing;
	bool cancelled;
	bool failed;
	bool over;
};

static void wait_for(struct otlp_queue *queue, pthread_cond_t *condition, uint64_t milliseconds)
{
	const uint64_t until = monotonic() + milliseconds * NS_PER_MS;
	const struct timespec time = {
		.tv_sec = (time_t)(until / 1000000000),
		.tv_nsec = (long)(until % 1000000000),
	};

	pthread_cond_timedwait(condition, &queue->lock, &time);
}

/* ------------------------------------------------------------------------
 * Answers
 */

/* Describe what a receiver says, unless it repeats a secret. */
static void add_message(struct otlp_queue *queue, const char *message, size_t size)
{
	const struct otlp_settings *settings = &queue->settings;
	const size_t length = strlen(queue->reason);
	struct elog_text text = { 0 };
	const char *secret;
	size_t i;

	for (i = 0; i < settings->secret_count; i++) {
		secret = settings->secrets[i].value;
		/* "Bearer TOKEN": the message may have only the token. */
		if (strrchr(secret, ' ') && strrchr(secret, ' ')[1])
			secret = strrchr(secret, ' ') + 1;
		if (*secret && memmem(message, size, secret, strlen(secret)))
			return;
	}
	elog_text_visible(&text, message, size < SHOWN_MAX ? size : SHOWN_MAX);
	if (!text.error && text.size)
		snprintf(queue->reason + length, sizeof(queue->reason) - length, ": %s", text.data);
	elog_text_free(&text);
}

static enum outcome judge_accepted(struct otlp_queue *queue, struct request *request,
				   uint64_t *refused)
{
	struct otlp_message message;

	if (!otlp_read_accepted(&queue->answer.body, refused, &message)) {
		snprintf(queue->reason, sizeof(queue->reason),
			 "the answer is not one of OpenTelemetry: is this a receiver?");
		return REFUSED;
	}
	/* It cannot refuse more than it got. */
	if (*refused > request->records)
		*refused = request->records;
	if (*refused)
		snprintf(queue->reason, sizeof(queue->reason),
			 "the receiver refused %" PRIu64 " of %" PRIu64 " record%s", *refused,
			 request->records, plural(request->records));
	if (*refused && message.text)
		add_message(queue, message.text, message.size);
	return ACCEPTED;
}

static void explain_status(struct otlp_queue *queue)
{
	struct otlp_message message;

	snprintf(queue->reason, sizeof(queue->reason), "the receiver answers %ld%s",
		 queue->answer.status, queue->answer.status / 100 == 3 ?
		 ", a redirection, which is not followed" : "");
	if (otlp_read_error(&queue->answer.body, &message))
		add_message(queue, message.text, message.size);
}

static enum outcome judge_status(struct otlp_queue *queue, struct request *request,
				 uint64_t *refused)
{
	switch (queue->answer.status) {
	case 200 ... 299:
		return judge_accepted(queue, request, refused);
	case 429:
	case 502:
	case 503:
	case 504:
		explain_status(queue);
		return RETRY;
	default:
		explain_status(queue);
		return REFUSED;
	}
}

/* ------------------------------------------------------------------------
 * Sending; these functions are for the thread
 */

#ifdef ELOG_CURL
/* Compress into @packed. Return: bytes of it; 0: no memory. */
static size_t compress_request(struct otlp_queue *queue, const struct request *request)
{
	z_stream stream = { 0 };
	size_t bound, size = 0;

	/* 16: with the header of gzip. */
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return 0;
	bound = deflateBound(&stream, (uLong)request->size);
	if (bound > queue->capacity) {
		free(queue->packed);
		queue->packed = malloc(bound);
		queue->capacity = queue->packed ? bound : 0;
	}
	if (queue->packed) {
		stream.next_in = (unsigned char *)request->data;
		stream.avail_in = (unsigned int)request->size;
		stream.next_out = queue->packed;
		stream.avail_out = (unsigned int)queue->capacity;
		if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
			size = stream.total_out;
	}
	deflateEnd(&stream);
	return size;
}
#else
static size_t compress_request(struct otlp_queue *queue, const struct request *request)
{
	(void)queue;
	(void)request;
	return 0;
}
#endif

/* Print why an attempt failed, but the same reason not again and again. */
static void report(struct otlp_queue *queue, const struct request *request, bool error)
{
	const uint64_t now = monotonic();

	if (queue->reported && now - queue->reported < REPORT_MS * NS_PER_MS &&
	    error == queue->printed_error && !strcmp(queue->reason, queue->printed))
		return;
	queue->reported = now;
	queue->printed_error = error;
	strcpy(queue->printed, queue->reason);
	if (error)
		elog_error("%s: %s", queue->settings.urls[request->signal], queue->reason);
	else if (!queue->quiet)
		fprintf(stderr, "elog: %s: %s; trying again\n",
			queue->settings.urls[request->signal], queue->reason);
}

static enum outcome attempt(struct otlp_queue *queue, struct request *request,
			    const void *data, size_t size, uint64_t *refused)
{
	switch (http_post(queue->http, queue->settings.urls[request->signal], data, size,
			  &queue->answer)) {
	case HTTP_ANSWERED:
		return judge_status(queue, request, refused);
	case HTTP_CANCELLED:
		return CANCELLED;
	case HTTP_NO_ANSWER:
		strcpy(queue->reason, queue->answer.reason);
		return RETRY;
	case HTTP_BAD_ANSWER:
		strcpy(queue->reason, queue->answer.reason);
		return REFUSED;
	default:
		/* Perhaps its certificate gets renewed: a capture can wait for that. */
		strcpy(queue->reason, queue->answer.reason);
		return queue->live ? RETRY : IMPOSSIBLE;
	}
}

/* The pause before an attempt, in ms. All that were refused at once must not return at once. */
static uint64_t pause_before(const struct otlp_queue *queue, unsigned int attempts)
{
	uint64_t most = attempts < 6 ? (uint64_t)PAUSE_MS << attempts : PAUSE_MAX_MS;
	uint64_t asked = queue->answer.retry_after;

	if (asked > RETRY_AFTER_MAX_MS / 1000)
		asked = RETRY_AFTER_MAX_MS / 1000;
	most = most / 2 + monotonic() / 1000 % (most / 2);
	return asked * 1000 > most ? asked * 1000 : most;
}

/* Return: false if the pause was interrupted: all is cancelled. */
static bool sleep_until(struct otlp_queue *queue, uint64_t until)
{
	bool cancelled;
	uint64_t now;

	pthread_mutex_lock(&queue->lock);
	while (!queue->cancelled && (now = monotonic()) < until)
		wait_for(queue, &queue->work, (until - now) / NS_PER_MS + 1);
	cancelled = queue->cancelled;
	pthread_mutex_unlock(&queue->lock);
	return !cancelled;
}

/* Send a request until the outcome is not RETRY, or the time for retries is over. */
static enum outcome send_request(struct otlp_queue *queue, struct request *request,
				 uint64_t *refused, size_t *sent)
{
	const uint64_t end = monotonic() +
			     queue->settings.http.timeout * NS_PER_MS * RETRY_TIMEOUTS;
	const void *data = request->data;
	unsigned int attempts = 0;
	enum outcome outcome;
	uint64_t next;

	*sent = request->size;
	if (queue->settings.gzip) {
		*sent = compress_request(queue, request);
		data = queue->packed;
	}
	if (!*sent) {
		strcpy(queue->reason, "out of memory");
		return IMPOSSIBLE;
	}
	for (;;) {
		outcome = attempt(queue, request, data, *sent, refused);
		if (outcome != RETRY)
			return outcome;
		next = monotonic() + pause_before(queue, attempts++) * NS_PER_MS;
		if (!queue->live && next > end) {
			/* Try once more at the end. */
			if (monotonic() >= end)
				return RETRY;
			next = end;
		}
		report(queue, request, false);
		if (!sleep_until(queue, next))
			return CANCELLED;
	}
}

/* The caller holds the lock. */
static void count_outcome(struct otlp_queue *queue, const struct request *request,
			  enum outcome outcome, uint64_t refused, size_t sent)
{
	struct otlp_counts *counts = &queue->counts;
	bool first = !counts->requests;

	if (outcome == ACCEPTED || outcome == REFUSED)
		counts->requests++;
	switch (outcome) {
	case ACCEPTED:
		counts->bytes += sent;
		counts->sent[request->signal] += request->records - refused;
		counts->refused[request->signal] += refused;
		break;
	case REFUSED:
		counts->refused[request->signal] += request->records;
		/* A receiver that refuses the first request will refuse all others. */
		queue->failed |= first && !queue->live;
		break;
	default:
		counts->unsent[request->signal] += request->records;
		queue->failed |= outcome != CANCELLED && !queue->live;
		break;
	}
}

static void free_request(struct request *request)
{
	free(request->data);
	free(request);
}

/* Take the first request out. The caller holds the lock. */
static void remove_first(struct otlp_queue *queue)
{
	struct request *request = queue->first;

	queue->first = request->next;
	if (!queue->first)
		queue->last = &queue->first;
	queue->bytes -= request->size;
	free_request(request);
	pthread_cond_broadcast(&queue->done);
}

/* Return: the next request; NULL: the thread ends. The caller holds the lock. */
static struct request *next_request(struct otlp_queue *queue)
{
	for (;;) {
		while (queue->first && (queue->cancelled || queue->failed)) {
			queue->counts.unsent[queue->first->signal] += queue->first->records;
			remove_first(queue);
		}
		if (queue->first || queue->closing)
			return queue->first;
		pthread_cond_wait(&queue->work, &queue->lock);
	}
}

static void *send_all(void *context)
{
	struct otlp_queue *queue = context;
	struct request *request;
	enum outcome outcome;
	uint64_t refused;
	size_t sent;

	pthread_mutex_lock(&queue->lock);
	while ((request = next_request(queue))) {
		pthread_mutex_unlock(&queue->lock);
		refused = 0;
		outcome = send_request(queue, request, &refused, &sent);
		if (outcome == ACCEPTED && !refused)
			queue->reported = 0;
		else if (outcome != CANCELLED)
			report(queue, request, true);
		pthread_mutex_lock(&queue->lock);
		count_outcome(queue, request, outcome, refused, sent);
		remove_first(queue);
	}
	queue->over = true;
	pthread_cond_broadcast(&queue->done);
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/* ------------------------------------------------------------------------
 * The process's own thread
 */

static void free_queue(struct otlp_queue *queue)
{
	http_close(queue->http);
	otlp_settings_free(&queue->settings);
	elog_text_free(&queue->answer.body);
	free(queue->packed);
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->work);
	pthread_cond_destroy(&queue->done);
	free(queue);
}

int otlp_queue_open(struct otlp_queue **result, struct otlp_settings *settings, bool live,
		    bool quiet)
{
	struct otlp_queue *queue = calloc(1, sizeof(*queue));
	pthread_condattr_t attributes;
	int ret;

	if (!queue) {
		elog_error("out of memory");
		otlp_settings_free(settings);
		return -ENOMEM;
	}
	queue->settings = *settings;
	memset(settings, 0, sizeof(*settings));
	queue->live = live;
	queue->quiet = quiet;
	queue->last = &queue->first;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->work, &attributes);
	pthread_cond_init(&queue->done, &attributes);
	pthread_condattr_destroy(&attributes);
	ret = http_open(&queue->http, &queue->settings.http);
	if (ret)
		goto fail;
	ret = elog_thread_start(&queue->thread, send_all, queue);
	if (ret) {
		elog_error("cannot start a thread: %s", strerror(-ret));
		goto fail;
	}
	*result = queue;
	return 0;
fail:
	free_queue(queue);
	return ret;
}

const struct otlp_settings *otlp_queue_settings(const struct otlp_queue *queue)
{
	return &queue->settings;
}

static struct request *new_request(enum otlp_signal signal, struct elog_text *text,
				   uint64_t records)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->signal = signal;
	request->records = records;
	request->size = text->size;
	/* Shrinking it makes the bound of the queue one of memory. */
	request->data = realloc(text->data, text->size) ? : text->data;
	memset(text, 0, sizeof(*text));
	return request;
}

/* Wait for room, but not after a signal. The caller holds the lock. */
static void wait_for_room(struct otlp_queue *queue, size_t size)
{
	signals_let_in();
	while (queue->bytes && queue->bytes + size > OTLP_QUEUE_BYTES && !queue->failed &&
	       !signals_stops())
		wait_for(queue, &queue->done, LOOK_MS);
	signals_hold();
}

int otlp_queue_put(struct otlp_queue *queue, enum otlp_signal signal, struct elog_text *text,
		   uint64_t records)
{
	const size_t size = text->size;
	struct request *request = NULL;
	bool fits;
	int ret;

	pthread_mutex_lock(&queue->lock);
	if (!queue->live)
		wait_for_room(queue, size);
	fits = !queue->bytes || queue->bytes + size <= OTLP_QUEUE_BYTES;
	if (!queue->failed && fits)
		request = new_request(signal, text, records);
	if (request) {
		*queue->last = request;
		queue->last = &request->next;
		queue->bytes += size;
		pthread_cond_signal(&queue->work);
	} else {
		queue->counts.unsent[signal] += records;
		text->size = 0;
	}
	ret = queue->failed ? -EIO : request ? 0 : queue->live ? -ENOBUFS : fits ? -ENOMEM : 0;
	pthread_mutex_unlock(&queue->lock);
	return ret;
}

void otlp_queue_counts(struct otlp_queue *queue, struct otlp_counts *counts)
{
	pthread_mutex_lock(&queue->lock);
	*counts = queue->counts;
	pthread_mutex_unlock(&queue->lock);
}

/* Drop all requests, and let the thread end. The caller holds the lock. */
static void end_thread(struct otlp_queue *queue)
{
	uint64_t until = monotonic() + CANCEL_MS * NS_PER_MS;

	queue->closing = true;
	queue->cancelled = true;
	pthread_cond_broadcast(&queue->work);
	http_cancel(queue->http);
	while (!queue->over && monotonic() < until)
		wait_for(queue, &queue->done, LOOK_MS);
}

void otlp_queue_finish(struct otlp_queue *queue, bool hurry, struct otlp_counts *counts)
{
	const uint64_t grace = queue->settings.http.timeout * NS_PER_MS;
	const struct request *request;
	int stops = signals_stops();
	/* A second signal may have come before. */
	uint64_t until = stops > 1 ? 0 : hurry ? monotonic() + grace : UINT64_MAX;

	pthread_mutex_lock(&queue->lock);
	queue->closing = true;
	pthread_cond_broadcast(&queue->work);
	signals_let_in();
	while (!queue->over && monotonic() < until) {
		wait_for(queue, &queue->done, LOOK_MS);
		if (signals_stops() == stops)
			continue;
		stops = signals_stops();
		until = hurry ? 0 : monotonic() + grace;
		hurry = true;
	}
	signals_hold();
	end_thread(queue);
	*counts = queue->counts;
	/* The thread hangs. */
	for (request = queue->first; request; request = request->next)
		counts->unsent[request->signal] += request->records;
	pthread_mutex_unlock(&queue->lock);
}

void otlp_queue_close(struct otlp_queue *queue)
{
	bool over;

	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	end_thread(queue);
	over = queue->over;
	pthread_mutex_unlock(&queue->lock);
	/*
	 * A resolver of names can hold the thread for long: the process ends without waiting
	 * for it, and its memory stays.
	 */
	if (!over) {
		pthread_detach(queue->thread);
		return;
	}
	pthread_join(queue->thread, NULL);
	free_queue(queue);
}
