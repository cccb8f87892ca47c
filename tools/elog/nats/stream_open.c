// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connecting to a stream, and finding where to begin: see stream.h and stream_state.h.
 *
 * A message is never older than its events, so those since a time are in the messages that
 * were stored since then. But a file can only be read from its beginning, where its
 * definitions are: search it in steps that double.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats/stream_state.h"
#include "util/signals.h"
#include "util/tool.h"

#define OPEN_TRIES	30	/* a second each: servers may be starting */
#define CLOCKS_NS	60000000000LL	/* the servers' clocks may differ from the hosts' */
#define STEP		64	/* the first step of a search */

/* ------------------------------------------------------------------------
 * URLs
 */

bool stream_is_url(const char *name)
{
	return !strncmp(name, "nats://", 7) || !strncmp(name, "tls://", 6);
}

bool stream_check_url(const char *url)
{
	/* All users of the machine can read arguments. */
	if (strchr(url, '@')) {
		elog_error("the URL must not contain a password: set NATS_USER and NATS_PASSWORD");
		return false;
	}
	if (!stream_is_url(url) || !strstr(url, "://")[3] || strstr(url, "://")[3] == '/') {
		elog_error("'%s': must be nats://HOST[:PORT][,HOST...], or tls://", url);
		return false;
	}
	return true;
}

char *stream_split_url(const char *url, char *name)
{
	char *servers = strdup(url), *slash, *next;

	if (!servers) {
		elog_error("out of memory");
		return NULL;
	}
	/* Each host may have the scheme. */
	for (slash = servers; (next = strstr(slash, "://")); slash = next + 3)
		;
	slash = strchr(slash, '/');
	if (slash)
		*slash++ = '\0';
	if (!slash || !*slash)
		slash = (char *)STREAM_DEFAULT;
	if (strlen(slash) < STREAM_NAME_BYTES && !strpbrk(slash, " .*>/\\\"") &&
	    snprintf(name, STREAM_NAME_BYTES, "%s", slash))
		return servers;
	elog_error("'%s': not the name of a stream", slash);
	free(servers);
	return NULL;
}

/* ------------------------------------------------------------------------
 * Where to begin
 */

/* Start a search among the messages of a subject, which may have wildcards. */
static void begin_search(struct stream *stream, struct stream_capture *search,
			 const char *subject)
{
	*search = (struct stream_capture){ .stream = stream, .index = TAIL_INDEX };
	snprintf(search->subject, sizeof(search->subject), "%s", subject);
}

/*
 * The requests of a search are those of stream.tail, which has none meanwhile. Return: as
 * stream_wait(), and @stored is filled in; its contents are freed.
 */
static int look_at(struct stream_capture *search, uint64_t sequence,
		   struct transport_stored *stored)
{
	struct stream *stream = search->stream;
	struct stream_capture tail = stream->tail;
	int ret;

	stream->tail = *search;
	ret = stream_wait(&stream->tail, sequence, true);
	if (!ret || ret == -EBADMSG) {
		*stored = stream->tail.reply;
		stream->ops->release(&stream->tail.reply);
		/* It may not be a message of elog ship, but has a number and a time. */
		ret = 0;
	}
	stream->tail = tail;
	return ret;
}

/* Find the first message that was stored at a time or later. As stream_wait(). */
static int find_time(struct stream *stream, int64_t since, uint64_t *first)
{
	uint64_t from = stream->info.first, to = stream->info.last + 1, middle;
	struct transport_stored stored;
	struct stream_capture search;
	int ret;

	begin_search(stream, &search, SUBJECT_PREFIX ">");
	while (from < to) {
		middle = from + (to - from) / 2;
		ret = look_at(&search, middle, &stored);
		if (ret && ret != -ENOENT)
			return ret;
		if (ret || stored.sequence >= to || stored.time >= since)
			to = middle;
		else
			from = stored.sequence + 1;
	}
	*first = from;
	return 0;
}

int stream_find_file(struct stream *stream, const struct transport_stored *message,
		     uint64_t *first)
{
	const uint64_t begin = stream->info.first, sequence = message->sequence;
	struct transport_stored stored = *message;
	struct stream_capture search;
	uint64_t step;
	int ret;

	begin_search(stream, &search, message->subject);
	*first = sequence;
	for (step = STEP; stored.offset && *first > begin; step *= 2) {
		*first = sequence - begin > step ? sequence - step : begin;
		ret = look_at(&search, *first, &stored);
		/* The servers have removed it meanwhile. */
		if (ret)
			return ret == -ENOENT ? 0 : ret;
		if (strcmp(stored.file, message->file))
			break;
	}
	return 0;
}

static int take_subject(void *context, const char *subject)
{
	struct stream *stream = context;

	return stream_add_capture(stream, subject, stream->info.first, stream->info.last,
				  stream->partial);
}

static int compare(const void *one, const void *other)
{
	return strcmp((*(struct stream_capture *const *)one)->subject,
		      (*(struct stream_capture *const *)other)->subject);
}

/* The servers list them in any order, and events of the same time are in this one. */
static void sort_captures(struct stream *stream)
{
	size_t i;

	qsort(stream->captures, stream->capture_count, sizeof(stream->captures[0]), compare);
	for (i = 0; i < stream->capture_count; i++)
		stream->captures[i]->index = i;
}

/* Let the captures begin at a time, and remove those that have nothing since then. */
static int begin_since(struct stream *stream, int64_t since)
{
	struct transport_stored stored;
	struct stream_capture *capture, search;
	uint64_t first = 0;
	size_t i;
	int ret;

	ret = find_time(stream, since - CLOCKS_NS, &first);
	for (i = 0; !ret && i < stream->capture_count; i++) {
		capture = stream->captures[i];
		begin_search(stream, &search, capture->subject);
		ret = look_at(&search, first, &stored);
		if (ret == -ENOENT) {
			capture->cursor = capture->last + 1;
			ret = 0;
		} else if (!ret) {
			ret = stream_find_file(stream, &stored, &capture->cursor);
		}
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * Opening
 */

static int find_captures(struct stream *stream, char *why)
{
	int ret, tries;

	for (tries = 1; ; tries++) {
		ret = stream->ops->info(stream->transport, stream->name, &stream->info, why);
		if (!ret)
			ret = stream->ops->subjects(stream->transport, stream->name,
						    SUBJECT_PREFIX ">", take_subject, stream,
						    why);
		/* This may be why there was no reply. */
		if (ret == -EAGAIN && stream->ops->take_error(stream->transport, why) &&
		    strcasestr(why, "permissions violation"))
			ret = -EACCES;
		if (ret != -EAGAIN || tries == OPEN_TRIES || signals_stops())
			return ret;
		signals_sleep(1000);
	}
}

int stream_open(struct stream **result, const char *url, bool follow, const int64_t *since,
		bool quiet)
{
	const struct transport_ops *ops = stream_check_url(url) ? transport_load() : NULL;
	struct stream *stream = ops ? calloc(1, sizeof(*stream)) : NULL;
	char why[TRANSPORT_WHY_MAX] = "";
	char *servers = NULL;
	int ret = -EINVAL;

	if (ops && !stream)
		elog_error("out of memory");
	if (!stream)
		return -EINVAL;
	stream->ops = ops;
	stream->follow = follow;
	stream->quiet = quiet;
	stream->partial = since;
	servers = stream_split_url(url, stream->name);
	if (servers)
		ret = ops->open(&stream->transport, servers, why);
	stream->connected = !ret;
	if (!ret)
		ret = find_captures(stream, why);
	if (ret && *why)
		elog_error("%s", why);
	if (stream->capture_count)
		sort_captures(stream);
	if (!ret && since && stream->info.last >= stream->info.first)
		ret = begin_since(stream, *since);
	begin_search(stream, &stream->tail, SUBJECT_PREFIX ">");
	stream->tail.cursor = stream->info.last + 1;
	free(servers);
	if (ret) {
		stream_close(stream);
		return ret;
	}
	*result = stream;
	return 0;
}
