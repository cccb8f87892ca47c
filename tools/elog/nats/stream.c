// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the captures in a stream: see stream.h.
 *
 * The stream as it was at the beginning is read by asking for the next message of a subject.
 * When all captures were read up to that end, stream_poll() asks for the next message of any
 * subject, and puts it in the queue of its capture.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nats/order.h"
#include "nats/stream.h"
#include "nats/stream_state.h"
#include "libelog/util/util.h"
#include "util/array.h"
#include "util/signals.h"
#include "util/tool.h"

#define WAIT_MS		100
#define AGAIN_NS	2000000000ULL	/* ask again without a reply */
#define GIVE_UP_NS	60000000000ULL	/* unless it follows */
#define GAP_NS		30000000000ULL	/* a message that is missing will not come */
#define POLL_NS		200000000ULL
#define POLL_MAX	64		/* messages that stream_poll() gets at most */
#define AHEAD_MAX	64		/* messages that are asked for in advance */

static uint64_t now(void)
{
	return elog_clock_read(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------------------
 * Requests
 */

void stream_check_connection(struct stream *stream)
{
	const bool connected = stream->ops->state(stream->transport) == TRANSPORT_CONNECTED;

	if (connected != stream->connected && !stream->quiet)
		elog_error(connected ? "connected again" : "lost the connection");
	stream->connected = connected;
}

static void release_reply(struct stream_capture *capture)
{
	if (capture->has_reply)
		capture->stream->ops->release(&capture->reply);
	capture->has_reply = false;
}

void stream_ask(struct stream_capture *capture, uint64_t sequence, bool certain)
{
	struct stream *stream = capture->stream;
	char why[TRANSPORT_WHY_MAX];
	const struct transport_get get = {
		.number = ++stream->requests * CAPTURES_MAX + capture->index,
		.stream = stream->name,
		.subject = capture->subject,
		.sequence = sequence,
		.certain = certain,
	};

	release_reply(capture);
	stream->asked += !capture->pending;
	capture->pending = get.number;
	capture->asked = sequence;
	capture->asked_at = now();
	/* If it fails, there is no reply, and it is tried again. */
	stream->ops->get(stream->transport, &get, why);
}

static struct stream_capture *by_index(struct stream *stream, uint64_t index)
{
	if (index == TAIL_INDEX)
		return &stream->tail;
	return index < stream->capture_count ? stream->captures[index] : NULL;
}

/* Wait for a reply to any request. */
static void receive(struct stream *stream)
{
	struct transport_stored stored;
	struct stream_capture *capture;

	if (!stream->ops->got(stream->transport, WAIT_MS, &stored))
		return;
	capture = by_index(stream, stored.number % CAPTURES_MAX);
	if (stored.number == UINT64_MAX) {
		memcpy(stream->why, stored.why, sizeof(stream->why));
		signals_sleep(WAIT_MS);
	}
	if (!capture || capture->pending != stored.number) {
		stream->ops->release(&stored);
		return;
	}
	capture->pending = 0;
	stream->asked--;
	capture->reply = stored;
	capture->has_reply = true;
}

/* Is the message what was asked for? */
static bool is_valid(const struct stream_capture *capture, const struct transport_stored *reply)
{
	const size_t size = strcspn(capture->subject, ">");

	if (reply->sequence < capture->asked)
		return false;
	return capture->subject[size] ? !strncmp(reply->subject, capture->subject, size) :
					!strcmp(reply->subject, capture->subject);
}

/*
 * Is there a reply that is worth something? Otherwise ask again, if it is time: the leader, as
 * the headers of a message may make the replies of other servers useless.
 */
static bool has_answer(struct stream_capture *capture)
{
	struct stream *stream = capture->stream;

	if (!capture->has_reply) {
		if (stream->connected && now() - capture->asked_at > AGAIN_NS)
			stream_ask(capture, capture->asked, true);
		return false;
	}
	if ((!capture->reply.error || capture->reply.error == -EBADMSG) &&
	    !is_valid(capture, &capture->reply)) {
		capture->reply.error = -EAGAIN;
		snprintf(capture->reply.why, sizeof(capture->reply.why),
			 "a server has sent another message than the one it was asked for");
	}
	if (capture->reply.error != -EAGAIN)
		return true;
	memcpy(stream->why, capture->reply.why, sizeof(stream->why));
	release_reply(capture);
	signals_sleep(WAIT_MS);
	/* So that it is asked again. */
	capture->asked_at = 0;
	return false;
}

/* A request that is not permitted gets no reply. */
static bool is_denied(struct stream *stream)
{
	char why[TRANSPORT_WHY_MAX];

	if (!stream->ops->take_error(stream->transport, why) ||
	    !strcasestr(why, "permissions violation"))
		return false;
	elog_error("%s", why);
	stream->error = -EACCES;
	return true;
}

void stream_on_wait(struct stream *stream, bool (*waiting)(void *context), void *context)
{
	stream->waiting = waiting;
	stream->waiting_context = context;
	stream->waited = now();
}

bool stream_is_connected(const struct stream *stream)
{
	return stream->connected;
}

/* Must reading end? */
static bool is_stopped(struct stream *stream)
{
	if (signals_stops())
		return true;
	if (!stream->waiting || now() - stream->waited < WAIT_MS * 1000000ULL)
		return false;
	stream->waited = now();
	return stream->waiting(stream->waiting_context);
}

int stream_wait(struct stream_capture *capture, uint64_t sequence, bool certain)
{
	struct stream *stream = capture->stream;
	const uint64_t began = now();
	int ret;

	if ((!capture->pending && !capture->has_reply) || capture->asked != sequence || certain)
		stream_ask(capture, sequence, certain);
	*stream->why = '\0';
	while (!has_answer(capture)) {
		if (is_stopped(stream))
			return -EINTR;
		if (stream->ops->state(stream->transport) == TRANSPORT_CLOSED ||
		    (!stream->follow && now() - began > GIVE_UP_NS)) {
			elog_error("the servers do not answer%s%s", *stream->why ? ": " : "",
				   stream->why);
			stream->error = -ETIMEDOUT;
			return stream->error;
		}
		if (is_denied(stream))
			return stream->error;
		receive(stream);
		stream_check_connection(stream);
	}
	ret = capture->reply.error;
	/* The next time there may be one. */
	if (ret == -ENOENT)
		release_reply(capture);
	return ret;
}

/* ------------------------------------------------------------------------
 * Captures
 */

const char *stream_split_subject(const char *subject, char *machine)
{
	const char *id = subject + strlen(SUBJECT_PREFIX), *boot, *name, *c;

	if (strncmp(subject, SUBJECT_PREFIX, strlen(SUBJECT_PREFIX)))
		return NULL;
	for (c = subject; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"\\*>", *c))
			return NULL;
	boot = strchr(id, '.');
	name = boot ? strchr(boot + 1, '.') : NULL;
	if (!name || strchr(name + 1, '.') || !name[1] ||
	    snprintf(machine, STREAM_MACHINE_BYTES, "%.*s", (int)(boot - id), id) >=
	    STREAM_MACHINE_BYTES)
		return NULL;
	return name + 1;
}

static void free_capture(struct stream_capture *capture)
{
	struct queued *queued;

	if (!capture)
		return;
	release_reply(capture);
	if (capture->has_current)
		capture->stream->ops->release(&capture->current);
	while ((queued = capture->queue)) {
		capture->queue = queued->next;
		capture->stream->ops->release(&queued->stored);
		free(queued);
	}
	order_free(capture->order);
	free(capture);
}

int stream_add_capture(struct stream *stream, const char *subject, uint64_t first, uint64_t last,
		       bool partial)
{
	struct stream_capture *capture, **larger;

	if (stream->capture_count == TAIL_INDEX) {
		elog_error("the stream has more than %u captures", (unsigned int)TAIL_INDEX);
		return -E2BIG;
	}
	larger = array_grow(stream->captures, stream->capture_count, sizeof(*larger));
	if (larger)
		stream->captures = larger;
	capture = larger ? calloc(1, sizeof(*capture)) : NULL;
	if (capture)
		capture->order = order_new(partial);
	if (!capture || !capture->order) {
		elog_error("out of memory");
		free(capture);
		return -ENOMEM;
	}
	capture->stream = stream;
	capture->index = stream->capture_count;
	capture->cursor = first;
	capture->last = last;
	capture->queue_end = &capture->queue;
	/* What is no subject of elog ship is not read. */
	if (snprintf(capture->subject, sizeof(capture->subject), "%s", subject) >=
	    (int)sizeof(capture->subject) ||
	    !(capture->name = stream_split_subject(capture->subject, capture->machine))) {
		free_capture(capture);
		return 0;
	}
	stream->captures[stream->capture_count++] = capture;
	return 0;
}

struct stream_capture *stream_new_capture(struct stream *stream)
{
	return stream->returned < stream->capture_count ? stream->captures[stream->returned++] :
							  NULL;
}

const char *stream_machine(const struct stream_capture *capture)
{
	return capture->machine;
}

const char *stream_name(const struct stream_capture *capture)
{
	return capture->name;
}

void stream_drop(struct stream_capture *capture)
{
	capture->dropped = true;
}

bool stream_is_at_end(const struct stream_capture *capture)
{
	return capture->dropped || capture->ended;
}

bool stream_is_empty(const struct stream_capture *capture)
{
	return !capture->any;
}

/* ------------------------------------------------------------------------
 * Gaps
 */

static int add_gap(struct stream_capture *capture, const struct order_gap *gap,
		   uint64_t sequence)
{
	struct stream *stream = capture->stream;
	struct stream_gap *larger, *last;

	/* Any number of messages may be invalid: these are one gap. */
	last = stream->gap_count ? &stream->gaps[stream->gap_count - 1] : NULL;
	if (sequence && last && last->count && last->capture == capture) {
		last->last = sequence;
		last->count++;
		return 0;
	}
	larger = array_grow(stream->gaps, stream->gap_count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	stream->gaps = larger;
	larger[stream->gap_count++] = (struct stream_gap){
		.capture = capture,
		.gap = gap ? *gap : (struct order_gap){ .to = 0 },
		.sequence = sequence,
		.last = sequence,
		.count = !!sequence,
	};
	return 0;
}

bool stream_take_gap(struct stream *stream, struct stream_gap *gap)
{
	if (!stream->gap_count)
		return false;
	*gap = stream->gaps[0];
	stream->gap_count--;
	memmove(stream->gaps, stream->gaps + 1, stream->gap_count * sizeof(*gap));
	return true;
}

uint64_t stream_late(const struct stream *stream)
{
	uint64_t late = 0;
	size_t i;

	for (i = 0; i < stream->capture_count; i++)
		late += order_late(stream->captures[i]->order);
	return late;
}

/* ------------------------------------------------------------------------
 * Reading
 */

/* Take a message that poll has put in the queue. Return: false: there is none. */
static bool take_queued(struct stream_capture *capture, struct transport_stored *stored)
{
	struct queued *queued = capture->queue;

	if (!queued)
		return false;
	*stored = queued->stored;
	capture->queue = queued->next;
	if (!capture->queue)
		capture->queue_end = &capture->queue;
	free(queued);
	return true;
}

/*
 * Get the next message of the subject.
 *
 * Return: 0; -EAGAIN there is none; or another negative errno, and the reason was printed.
 */
static int next_message(struct stream_capture *capture, struct transport_stored *stored)
{
	struct stream *stream = capture->stream;
	int ret = -ENOENT;

	if (capture->cursor <= capture->last) {
		ret = stream_wait(capture, capture->cursor, false);
		/* Another server than the leader may not have it yet. */
		if (ret == -ENOENT)
			ret = stream_wait(capture, capture->cursor, true);
	}
	if (!ret || ret == -EBADMSG) {
		*stored = capture->reply;
		capture->has_reply = false;
		if (stored->sequence >= capture->cursor && stored->sequence <= capture->last) {
			capture->cursor = stored->sequence + 1;
			if (capture->cursor <= capture->last && stream->asked < AHEAD_MAX)
				stream_ask(capture, capture->cursor, false);
			return 0;
		}
		stream->ops->release(stored);
		ret = -ENOENT;
	}
	if (ret != -ENOENT)
		return ret;
	capture->cursor = capture->last + 1;
	return take_queued(capture, stored) ? 0 : -EAGAIN;
}

/* Get the message again that is next. Return: 0; -EBADMSG: it is not there any more. */
static int get_again(struct stream_capture *capture, const struct order_message *message,
		     struct transport_stored *stored)
{
	struct stream *stream = capture->stream;
	int ret;

	ret = stream_wait(capture, message->sequence, true);
	if (ret && ret != -EBADMSG)
		return ret == -ENOENT ? -EBADMSG : ret;
	*stored = capture->reply;
	capture->has_reply = false;
	if (!ret && stored->sequence == message->sequence && stored->size == message->size)
		return 0;
	stream->ops->release(stored);
	return -EBADMSG;
}

/* Use a message. @stored: the last one of the subject, which is freed if it is another */
static int use_message(struct stream_capture *capture, const struct order_message *message,
		       struct transport_stored *stored, bool *has_stored)
{
	int ret = 0;

	if (*has_stored && stored->sequence == message->sequence) {
		capture->current = *stored;
		*has_stored = false;
	} else {
		ret = get_again(capture, message, &capture->current);
	}
	if (ret == -EBADMSG)
		return add_gap(capture, NULL, message->sequence) ? : -EBADMSG;
	if (ret)
		return ret;
	capture->has_current = true;
	capture->used = message->skip;
	capture->waiting_since = 0;
	return 0;
}

/* Will the messages that are missing not come any more? */
static bool is_final(struct stream_capture *capture, bool at_end)
{
	if (!at_end || !order_waits(capture->order))
		return at_end && !capture->stream->follow;
	if (!capture->stream->follow)
		return true;
	if (!capture->waiting_since)
		capture->waiting_since = now();
	return now() - capture->waiting_since > GAP_NS;
}

/* Put a message into the order. Return: 0 or a negative errno. */
static int put_message(struct stream_capture *capture, const struct transport_stored *stored)
{
	int ret = stored->error ? stored->error : order_put(capture->order, stored);

	return ret == -EBADMSG ? add_gap(capture, NULL, stored->sequence) : ret;
}

/* Get the message that continues what was read. As stream_read(), 1: there is one. */
static int find_current(struct stream_capture *capture)
{
	struct transport_stored stored = { 0 };
	struct order_message message;
	struct order_gap gap;
	bool has_stored = false, at_end = false;
	int ret = 0;

	while (!ret && !capture->has_current) {
		ret = order_next(capture->order, is_final(capture, at_end), &message, &gap);
		if (ret == 2)
			ret = add_gap(capture, &gap, 0);
		else if (ret == 1)
			ret = use_message(capture, &message, &stored, &has_stored);
		else if (!ret && at_end)
			ret = -EAGAIN;
		else if (!ret) {
			if (has_stored)
				capture->stream->ops->release(&stored);
			ret = next_message(capture, &stored);
			has_stored = !ret;
			at_end = ret == -EAGAIN;
			if (at_end)
				ret = 0;
			else if (!ret)
				ret = put_message(capture, &stored);
		}
		/* It was reported. */
		if (ret == -EBADMSG)
			ret = 0;
	}
	if (has_stored)
		capture->stream->ops->release(&stored);
	return ret ? ret : 1;
}

ssize_t stream_read(void *context, void *data, size_t size)
{
	struct stream_capture *capture = context;
	size_t left;
	int ret;

	if (capture->dropped || capture->ended)
		return 0;
	if (capture->stream->error)
		return capture->stream->error;
	if (!capture->has_current) {
		ret = find_current(capture);
		if (ret == -EINTR || (ret == -EAGAIN && !capture->stream->follow)) {
			capture->ended = true;
			return 0;
		}
		if (ret < 0)
			return ret;
	}
	left = capture->current.size - capture->used;
	if (size > left)
		size = left;
	memcpy(data, capture->current.data + capture->used, size);
	capture->used += size;
	capture->any = true;
	if (size == left) {
		capture->stream->ops->release(&capture->current);
		capture->has_current = false;
	}
	return (ssize_t)size;
}

/* ------------------------------------------------------------------------
 * What the stream gets later
 */

static struct stream_capture *find_capture(struct stream *stream, const char *subject)
{
	size_t i;

	for (i = 0; i < stream->capture_count; i++)
		if (!strcmp(stream->captures[i]->subject, subject))
			return stream->captures[i];
	return NULL;
}

static int queue_message(struct stream_capture *capture, const struct transport_stored *stored)
{
	struct queued *queued = malloc(sizeof(*queued));

	if (!queued) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	queued->stored = *stored;
	queued->next = NULL;
	*capture->queue_end = queued;
	capture->queue_end = &queued->next;
	return 0;
}

/* Give a message to its capture, which may be new. Frees it if it fails. */
static int deliver(struct stream *stream, struct transport_stored *stored)
{
	struct stream_capture *capture = find_capture(stream, stored->subject);
	int ret = 0;

	if (!capture) {
		ret = stream_add_capture(stream, stored->subject, stored->sequence,
					 stored->sequence - 1, stream->partial);
		capture = ret ? NULL : find_capture(stream, stored->subject);
		/* What it has stored before may be older than --since. */
		if (capture && stored->offset)
			ret = stream_find_file(stream, stored, &capture->cursor);
	}
	if (!ret && capture && !capture->dropped)
		ret = queue_message(capture, stored);
	else
		stream->ops->release(stored);
	return ret;
}

int stream_poll(struct stream *stream)
{
	struct stream_capture *tail = &stream->tail;
	struct transport_stored stored;
	int ret = 0, count;

	if (stream->error)
		return stream->error;
	if (now() - stream->polled < POLL_NS)
		return 0;
	for (count = 0; count < POLL_MAX; count++) {
		ret = stream_wait(tail, tail->cursor, false);
		if (ret && ret != -EBADMSG)
			break;
		stored = tail->reply;
		tail->has_reply = false;
		tail->cursor = stored.sequence + 1;
		ret = deliver(stream, &stored);
		if (ret)
			break;
	}
	if (ret == -ENOENT)
		stream->polled = now();
	if (ret == -ENOENT || ret == -EINTR)
		ret = 0;
	return ret < 0 ? ret : count > 0;
}

void stream_close(struct stream *stream)
{
	size_t i;

	if (!stream)
		return;
	for (i = 0; i < stream->capture_count; i++)
		free_capture(stream->captures[i]);
	release_reply(&stream->tail);
	if (stream->transport)
		stream->ops->close(stream->transport);
	free(stream->captures);
	free(stream->gaps);
	free(stream);
}
