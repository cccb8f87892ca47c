// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of the messages of one capture: see order.h.
 *
 * The first message of a file has the file before it and its size. So the next file begins
 * when that many bytes of the present one were read. Messages of files that were read before
 * are duplicates. A file that does not follow the present one begins only when no message that
 * is missing can come any more: the files between the two may be on their way.
 *
 * Reading may begin in the middle of a stream, and the server may have removed the oldest
 * messages: what comes before the first beginning of a file is not read, as its definitions
 * are missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats/order.h"
#include "libelog/file/blocks.h"
#include "util/array.h"

#define OFFSET_MAX	(UINT64_MAX / 4)
#define DONE_MAX	1024	/* files that are remembered */
#define GAP_ID		"?"	/* as the previous file: files may be missing */

struct file_id {
	uint64_t words[2];
};

/* A message that does not continue what was read, or not yet. */
struct held {
	struct file_id file;
	struct file_id previous;
	bool has_previous;
	bool has_gap;		/* files may be missing before it */
	bool ends;		/* an END block is at its end */
	uint64_t previous_size;	/* UINT64_MAX: not known */
	uint64_t offset;
	size_t size;
	uint64_t sequence;
};

/* A file that was read. */
struct done {
	struct file_id file;
	uint64_t end;
};

struct order {
	bool partial;		/* reading begins in the middle */
	struct file_id skipped;	/* the last file whose beginning is missing, and */
	uint64_t skipped_size;	/* how much of it; 0: there is none */
	bool begun;		/* @file is valid */
	uint64_t beginning;	/* number in the stream of the message that began */
	struct file_id file;
	uint64_t position;	/* in it: the next byte */
	bool ended;		/* an END block was before @position */
	struct held held[ORDER_WINDOW + 1];
	size_t held_count;
	struct done *done;
	size_t done_count;	/* so far; the array is a ring */
	uint64_t late;
};

struct order *order_new(bool partial)
{
	struct order *order = calloc(1, sizeof(*order));

	if (order)
		order->partial = partial;
	return order;
}

void order_free(struct order *order)
{
	if (order)
		free(order->done);
	free(order);
}

uint64_t order_late(const struct order *order)
{
	return order->late;
}

bool order_waits(const struct order *order)
{
	return order->held_count;
}

/* Return: false: it is no id of a file. */
static bool parse_id(const char *text, struct file_id *id)
{
	return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32 &&
	       sscanf(text, "%16" SCNx64 "%16" SCNx64, &id->words[0], &id->words[1]) == 2;
}

static bool is_same(const struct file_id *one, const struct file_id *other)
{
	return one->words[0] == other->words[0] && one->words[1] == other->words[1];
}

static void put_gap(struct order_gap *gap, const struct file_id *file, uint64_t from, uint64_t to)
{
	snprintf(gap->file, sizeof(gap->file), "%016" PRIx64 "%016" PRIx64, file->words[0],
		 file->words[1]);
	gap->from = from;
	gap->to = to;
}

/* ------------------------------------------------------------------------
 * Files that were read
 */

static const struct done *find_done(const struct order *order, const struct file_id *file)
{
	const size_t count = order->done_count < DONE_MAX ? order->done_count : DONE_MAX;
	size_t i;

	for (i = 0; i < count; i++)
		if (is_same(&order->done[i].file, file))
			return &order->done[i];
	return NULL;
}

static int add_done(struct order *order, const struct file_id *file, uint64_t end)
{
	struct done *larger;

	if (order->done_count < DONE_MAX) {
		larger = array_grow(order->done, order->done_count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		order->done = larger;
	}
	order->done[order->done_count++ % DONE_MAX] = (struct done){ *file, end };
	return 0;
}

/* ------------------------------------------------------------------------
 * Messages
 */

/* Is an END block at the end? It may be longer one day: then the next file waits for more. */
static bool has_end(const unsigned char *data, size_t size)
{
	const size_t bytes = HEADER_BYTES + sizeof(struct elog_block_end);
	struct elog_block_header header;

	/* Without its contents, a file is taken for complete. */
	if (!data)
		return true;
	if (size < bytes)
		return false;
	memcpy(&header, data + size - bytes, sizeof(header));
	return elog_block_decode(&header) && header.type == ELOG_BLOCK_END &&
	       header.size == sizeof(struct elog_block_end);
}

/* Return: false: what the message says is not valid. */
static bool parse(const struct transport_stored *message, struct held *held)
{
	*held = (struct held){
		.offset = message->offset,
		.size = message->size,
		.sequence = message->sequence,
		.previous_size = message->previous_size ? : UINT64_MAX,
	};
	if (!parse_id(message->file, &held->file) || !held->size || held->offset > OFFSET_MAX)
		return false;
	held->has_gap = !strcmp(message->previous, GAP_ID);
	if (*message->previous && !held->has_gap) {
		if (held->offset || !parse_id(message->previous, &held->previous) ||
		    is_same(&held->previous, &held->file))
			return false;
		held->has_previous = true;
	}
	held->ends = has_end(message->data, message->size);
	return true;
}

static bool is_duplicate(struct order *order, const struct held *held)
{
	const struct done *done = find_done(order, &held->file);
	const uint64_t end = held->offset + held->size;
	size_t i;

	if (done) {
		order->late += end > done->end;
		return true;
	}
	if (order->begun && is_same(&held->file, &order->file) && end <= order->position)
		return true;
	for (i = 0; i < order->held_count; i++)
		if (is_same(&order->held[i].file, &held->file) &&
		    order->held[i].offset <= held->offset &&
		    order->held[i].offset + order->held[i].size >= end)
			return true;
	return false;
}

int order_put(struct order *order, const struct transport_stored *message)
{
	struct held held;

	if (!parse(message, &held))
		return -EBADMSG;
	if (is_duplicate(order, &held))
		return 0;
	/* order_next() was not called until it returned 0. */
	if (order->held_count > ORDER_WINDOW)
		return -ENOMEM;
	order->held[order->held_count++] = held;
	return 0;
}

static void remove_held(struct order *order, size_t index)
{
	order->held_count--;
	memmove(&order->held[index], &order->held[index + 1],
		(order->held_count - index) * sizeof(order->held[0]));
}

/* Remove what was read up to @end of a file, or, at its end, all that is of this file. */
static void remove_read(struct order *order, const struct file_id *file, uint64_t end, bool all)
{
	const struct held *held;
	size_t i;

	for (i = order->held_count; i-- > 0;) {
		held = &order->held[i];
		if (!is_same(&held->file, file))
			continue;
		if (held->offset + held->size > end && !all)
			continue;
		order->late += held->offset + held->size > end;
		remove_held(order, i);
	}
}

/* ------------------------------------------------------------------------
 * The next message
 */

/* Return: true if a message continues the file. */
static bool take_next(struct order *order, struct order_message *message)
{
	const struct held *held;
	size_t i;

	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (!is_same(&held->file, &order->file) || held->offset > order->position)
			continue;
		message->sequence = held->sequence;
		message->skip = (size_t)(order->position - held->offset);
		message->size = held->size;
		order->position = held->offset + held->size;
		order->ended = held->ends;
		remove_held(order, i);
		remove_read(order, &order->file, order->position, false);
		return true;
	}
	return false;
}

/* Go on with another file. Return: 0 or -ENOMEM. */
static int begin_file(struct order *order, const struct held *held)
{
	const struct held first = *held;
	struct done done = { order->file, order->position };
	int ret = 0;

	/* Reading begins behind the beginning of the file before. */
	if (!order->begun) {
		done = (struct done){ first.previous, UINT64_MAX };
		order->beginning = first.sequence;
	}
	if (order->begun || first.has_previous) {
		ret = add_done(order, &done.file, done.end);
		remove_read(order, &done.file, done.end, true);
	}
	order->begun = true;
	order->file = first.file;
	order->position = 0;
	order->ended = false;
	return ret;
}

/* Find a message of a file. @first: only its first one */
static const struct held *find_file(const struct order *order, const struct file_id *file,
				    bool first)
{
	const struct held *held;
	size_t i;

	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (is_same(&held->file, file) && !(first && held->offset))
			return held;
	}
	return NULL;
}

/* Find the first message of the file that follows the present one. */
static const struct held *find_follower(const struct order *order)
{
	const struct held *held;
	size_t i;

	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (!held->offset && held->has_previous && is_same(&held->previous, &order->file))
			return held;
	}
	return NULL;
}

/*
 * Find the file that comes before the others which are held. There is at least one.
 *
 * Return: its first message, or another one if that is missing.
 */
static const struct held *find_earliest(const struct order *order)
{
	const struct held *found = NULL, *highest = order->held, *first, *before;
	size_t i;

	for (i = 0; i < order->held_count && !found; i++) {
		if (!order->held[i].offset)
			found = &order->held[i];
		/* The end of a file comes before the middle of the next one. */
		if (order->held[i].offset > highest->offset)
			highest = &order->held[i];
	}
	if (!found)
		return highest;
	/* Not for ever: each file may say that the other one is before it. */
	for (i = 0; i < order->held_count; i++) {
		first = find_file(order, &found->file, true);
		before = first && first->has_previous ?
			 find_file(order, &first->previous, false) : NULL;
		if (!before)
			break;
		found = before;
	}
	first = find_file(order, &found->file, true);
	return first ? first : found;
}

/* Do not read what is held of a file: its beginning is missing. */
static void skip_file(struct order *order, const struct held *held)
{
	const struct file_id file = held->file;
	uint64_t end;
	size_t i;

	if (!order->skipped_size || !is_same(&order->skipped, &file))
		order->skipped_size = 0;
	order->skipped = file;
	for (i = order->held_count; i-- > 0;) {
		if (!is_same(&order->held[i].file, &file))
			continue;
		end = order->held[i].offset + order->held[i].size;
		if (end > order->skipped_size)
			order->skipped_size = end;
		remove_held(order, i);
	}
}

/* Report what was skipped. Return: 2 there is a gap; 1 there is none. */
static int take_skipped(struct order *order, struct order_gap *gap)
{
	const uint64_t size = order->skipped_size;

	order->skipped_size = 0;
	if (!size || order->partial)
		return 1;
	put_gap(gap, &order->skipped, 0, size);
	return 2;
}

/* Is the present file complete, and does @held begin the next one? */
static bool is_complete(const struct order *order, const struct held *held)
{
	return held->previous_size != UINT64_MAX ? order->position >= held->previous_size :
						   order->ended;
}

/* Return: 2 there is a gap; 1 go on; or -ENOMEM. */
static int end_file(struct order *order, const struct held *held, struct order_gap *gap)
{
	const struct file_id file = order->file;
	const uint64_t position = order->position;
	const bool follows = held->has_previous && is_same(&held->previous, &file);
	const uint64_t end = follows ? held->previous_size : UINT64_MAX;
	/* A file without a previous one is the first that this elog ship has sent. */
	const bool missing = held->has_gap || held->offset ||
			     (held->has_previous ? !follows : !order->ended);
	int ret;

	ret = begin_file(order, held);
	if (ret)
		return ret;
	if (end != UINT64_MAX && position < end)
		put_gap(gap, &file, position, end);
	else if (missing)
		put_gap(gap, &file, position, 0);
	else
		return 1;
	return 2;
}

/*
 * Find a message that was stored before the one that reading began with, and whose file has
 * no beginning: the servers have removed it.
 */
static const struct held *find_removed(const struct order *order)
{
	const struct held *held;
	size_t i;

	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (held->sequence < order->beginning && !is_same(&held->file, &order->file) &&
		    !find_file(order, &held->file, true))
			return held;
	}
	return NULL;
}

/* Messages are missing: go on behind them. As end_file(). */
static int pass_gap(struct order *order, struct order_gap *gap)
{
	const struct held *held = find_removed(order), *lowest = NULL;
	size_t i;

	if (held) {
		skip_file(order, held);
		return take_skipped(order, gap);
	}
	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (is_same(&held->file, &order->file) &&
		    (!lowest || held->offset < lowest->offset))
			lowest = held;
	}
	if (lowest) {
		put_gap(gap, &order->file, order->position, lowest->offset);
		order->position = lowest->offset;
		return 2;
	}
	held = find_follower(order);
	return end_file(order, held ? held : find_earliest(order), gap);
}

/* Find the beginning of the capture, or with @partial that of a file. */
static const struct held *find_beginning(const struct order *order)
{
	const struct held *held;
	size_t i;

	for (i = 0; i < order->held_count; i++) {
		held = &order->held[i];
		if (!held->offset && (order->partial || (!held->has_previous && !held->has_gap)))
			return held;
	}
	return NULL;
}

/*
 * Find where to begin. @forced: no message that is missing will come
 *
 * Return: 2 there is a gap; 1 go on; 0 not yet; or -ENOMEM.
 */
static int begin(struct order *order, bool forced, bool final, struct order_gap *gap)
{
	const struct held *first = find_beginning(order);
	int ret;

	if (!first && !forced)
		return 0;
	if (!first)
		first = find_earliest(order);
	if (first->offset) {
		skip_file(order, first);
		return final && !order->held_count ? take_skipped(order, gap) : 1;
	}
	ret = begin_file(order, first);
	return ret ? ret : take_skipped(order, gap);
}

int order_next(struct order *order, bool final, struct order_message *message,
	       struct order_gap *gap)
{
	const struct held *held;
	bool forced;
	int ret = 1;

	while (ret == 1 && order->held_count) {
		forced = final || order->held_count > ORDER_WINDOW;
		if (!order->begun) {
			ret = begin(order, forced, final, gap);
			continue;
		}
		if (take_next(order, message))
			return 1;
		held = find_follower(order);
		if (held && is_complete(order, held))
			ret = end_file(order, held, gap);
		else
			ret = forced ? pass_gap(order, gap) : 0;
	}
	return ret == 1 ? 0 : ret;
}
