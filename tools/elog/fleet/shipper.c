// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending spools to a stream: see shipper.h.
 *
 * The window holds the messages without a reply, at most WINDOW of them, with their data:
 * the file may be gone when a message has to be sent again. A message that gets no reply is
 * sent again, because the server that had it may be gone. The stream drops those that it
 * has, by their id, and a reader drops the others, by their position. So the order and the
 * number of messages in the stream do not matter.
 *
 * The position that is saved is that of the oldest message without a reply. After a crash
 * everything from there on is sent again, in the same chunks and with the same ids.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/shipper.h"
#include "fleet/spool.h"
#include "input/live.h"
#include "output/output.h"
#include "util/array.h"
#include "util/file_error.h"
#include "util/output_file.h"
#include "util/tool.h"

#define WINDOW		64	/* messages of at most SPOOL_CHUNK_MAX */
#define RESEND_NS	2000000000ULL	/* without a reply */
#define RESEND_MAX_NS	8000000000ULL	/* it doubles each time, while nothing is stored */
#define REFUSED_NS	500000000ULL	/* after a refusal */
#define STATE_MAX	256	/* bytes of a file with a position */
#define LOCK_TRIES	100	/* times that others may replace it before it is locked */

struct slot {
	bool used;
	unsigned int spool;
	struct spool_chunk chunk;
	unsigned char *data;
	uint64_t due;		/* to be sent (again), CLOCK_MONOTONIC ns */
	uint64_t delay;		/* the next time; 0: it was not sent yet */
};

struct sent_spool {
	struct spool *spool;
	char *state;		/* the file with the position */
	int lock;		/* that file, open and locked; -1: its directory is not there yet */
	struct spool_position saved;
	bool empty;		/* there was nothing to read the last time */
	int error;		/* the last one that was printed */
};

struct shipper {
	const struct transport_ops *ops;
	struct transport *transport;
	const char *directory;
	struct sent_spool *spools;
	size_t spool_count;
	size_t turn;		/* the spool to read next */
	struct slot window[WINDOW];
	bool slow;		/* a message in it waits for longer than RESEND_NS */
	uint64_t oldest;	/* number of the oldest message in the window */
	uint64_t next;		/* of the next message */
	struct shipper_counts counts;
};

struct shipper *shipper_new(const char *state)
{
	struct shipper *shipper = calloc(1, sizeof(*shipper));

	if (shipper)
		shipper->directory = state;
	return shipper;
}

void shipper_free(struct shipper *shipper)
{
	size_t i;

	if (!shipper)
		return;
	for (i = 0; i < WINDOW; i++)
		free(shipper->window[i].data);
	for (i = 0; i < shipper->spool_count; i++) {
		spool_close(shipper->spools[i].spool);
		free(shipper->spools[i].state);
		if (shipper->spools[i].lock >= 0)
			close(shipper->spools[i].lock);
	}
	free(shipper->spools);
	free(shipper);
}

/* ------------------------------------------------------------------------
 * Positions
 */

/* Return: the name, which the caller frees; NULL: no memory. */
static char *state_name(const struct shipper *shipper, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name;
	int ret;

	if (shipper->directory)
		ret = asprintf(&name, "%s/%s.shipped", shipper->directory,
			       slash ? slash + 1 : path);
	else	/* "FILE*" must not match it: it is no capture. */
		ret = asprintf(&name, "%.*s.%s.shipped", slash ? (int)(slash + 1 - path) : 0,
			       path, slash ? slash + 1 : path);
	return ret < 0 ? NULL : name;
}

/*
 * Lock the file with the position. If two processes sent the same files, each would replace the
 * position of the other, and skip events that it has not sent.
 *
 * Return: 0; -ENOENT: there is no directory for it; or another negative errno, and the reason was
 * printed.
 */
static int lock_state(struct sent_spool *spool)
{
	unsigned int tries;
	int fd, ret;

	if (spool->lock >= 0 && output_is_at(spool->lock, spool->state))
		return 0;
	/* The user has removed the file. Another elog ship may have made and locked it again. */
	if (spool->lock >= 0)
		close(spool->lock);
	spool->lock = -1;
	for (tries = 0; tries < LOCK_TRIES; tries++) {
		fd = open(spool->state, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
		if (fd < 0) {
			ret = -errno;
			if (ret != -ENOENT)
				elog_error("%s: %s", spool->state, strerror(-ret));
			return ret;
		}
		ret = output_lock(fd, spool->state);
		if (!ret && output_is_at(fd, spool->state)) {
			spool->lock = fd;
			return 0;
		}
		close(fd);
		if (ret)
			return ret;
		/* Another process has just replaced it. */
	}
	elog_error("%s: other processes replace this file again and again", spool->state);
	return -EBUSY;
}

/* Return: 0; -ENOENT there is no position; or a negative errno. */
static int read_state(const char *name, struct spool_position *position)
{
	char text[STATE_MAX];
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), end = 0, more = 0, ret;
	ssize_t size;

	if (fd < 0)
		return -errno;
	do
		size = read(fd, text, sizeof(text) - 1);
	while (size < 0 && errno == EINTR);
	ret = size < 0 ? -errno : 0;
	close(fd);
	if (ret)
		return ret;
	/* It was made for the lock. */
	if (!size)
		return -ENOENT;
	text[size] = '\0';
	if (sscanf(text, "elog-ship 1\nfile %32[0-9a-f]\noffset %" SCNu64 "\n%n", position->file,
		   &position->offset, &end) == 2 && end &&
	    (!text[end] || (sscanf(text + end, "previous %32[0-9a-f?] %" SCNu64 "\n%n",
				   position->previous, &position->previous_size, &more) == 2 &&
			    end + more == size)))
		return 0;
	memset(position, 0, sizeof(*position));
	return -EBADMSG;
}

/* The position of the oldest message of a spool that is not stored yet. */
static void find_position(const struct shipper *shipper, unsigned int spool,
			  struct spool_position *position)
{
	const struct slot *slot;
	uint64_t number;

	for (number = shipper->oldest; number < shipper->next; number++) {
		slot = &shipper->window[number % WINDOW];
		if (!slot->used || slot->spool != spool)
			continue;
		memcpy(position->file, slot->chunk.file, sizeof(position->file));
		memcpy(position->previous, slot->chunk.previous, sizeof(position->previous));
		position->previous_size = slot->chunk.previous_size;
		position->offset = slot->chunk.offset;
		return;
	}
	spool_position(shipper->spools[spool].spool, position);
}

static int save_position(struct shipper *shipper, unsigned int index)
{
	struct sent_spool *spool = &shipper->spools[index];
	struct spool_position position = { 0 };
	struct elog_text text = { 0 };
	int ret;

	find_position(shipper, index, &position);
	if (!*position.file || (position.offset == spool->saved.offset &&
				!strcmp(position.file, spool->saved.file)))
		return 0;
	ret = lock_state(spool);
	if (ret && ret != -ENOENT)
		return ret;
	elog_text_printf(&text, "elog-ship 1\nfile %s\noffset %" PRIu64 "\n", position.file,
			 position.offset);
	/* Each first message of a file has it, also if it is sent by another elog ship. */
	if (*position.previous)
		elog_text_printf(&text, "previous %s %" PRIu64 "\n", position.previous,
				 position.previous_size);
	if (!ret)
		ret = text.error ? : output_replace_locked(spool->state, &text, &spool->lock);
	elog_text_free(&text);
	if (ret)
		elog_error("%s: %s", spool->state, strerror(-ret));
	else
		spool->saved = position;
	return ret;
}

int shipper_save(struct shipper *shipper)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < shipper->spool_count; i++)
		ret = save_position(shipper, i);
	return ret;
}

/* ------------------------------------------------------------------------
 * Captures
 */

static int resume(struct sent_spool *spool)
{
	int ret = read_state(spool->state, &spool->saved);

	if (ret && ret != -ENOENT && ret != -EBADMSG) {
		elog_error("%s: %s", spool->state, strerror(-ret));
		return ret;
	}
	if (ret == -EBADMSG)
		elog_error("%s: damaged: sending all files of %s again", spool->state,
			   spool_name(spool->spool));
	if (!ret)
		spool_resume(spool->spool, &spool->saved);
	return 0;
}

/* Files with the same name in different directories, or a file that is given twice. */
static bool has_state(const struct shipper *shipper, const char *state)
{
	size_t i;

	for (i = 0; i < shipper->spool_count; i++) {
		if (strcmp(shipper->spools[i].state, state))
			continue;
		elog_error("%s: two files cannot store their positions there", state);
		return true;
	}
	return false;
}

int shipper_add(struct shipper *shipper, const char *path, unsigned int part,
		const int64_t *since)
{
	struct sent_spool *spool, *larger;
	int ret;

	larger = array_grow(shipper->spools, shipper->spool_count, sizeof(*larger));
	if (!larger) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	shipper->spools = larger;
	spool = &larger[shipper->spool_count];
	memset(spool, 0, sizeof(*spool));
	spool->lock = -1;
	ret = spool_open(&spool->spool, path, part);
	if (!ret) {
		spool->state = state_name(shipper, spool_name(spool->spool));
		ret = spool->state ? 0 : -ENOMEM;
	}
	if (ret)
		elog_error("out of memory");
	else if (has_state(shipper, spool->state))
		ret = -EEXIST;
	else
		ret = lock_state(spool);
	/* A capture may make the directory later. */
	if (!ret || ret == -ENOENT) {
		ret = 0;
		if (since)
			spool_since(spool->spool, *since);
		else
			ret = resume(spool);
	}
	if (ret) {
		spool_close(spool->spool);
		free(spool->state);
		if (spool->lock >= 0)
			close(spool->lock);
		return ret;
	}
	shipper->spool_count++;
	return 0;
}

/* ------------------------------------------------------------------------
 * The window
 */

void shipper_connect(struct shipper *shipper, const struct transport_ops *ops,
		     struct transport *transport)
{
	shipper->ops = ops;
	shipper->transport = transport;
}

/* Return: false if the message was not sent; it is tried again later. */
static bool send_slot(struct shipper *shipper, uint64_t number, char *why)
{
	struct slot *slot = &shipper->window[number % WINDOW];
	const struct spool_chunk *chunk = &slot->chunk;
	char id[SPOOL_ID_BYTES + 2 * 24];
	const struct transport_message message = {
		.number = number,
		.subject = chunk->subject,
		.id = id,
		.file = chunk->file,
		.previous = chunk->offset ? "" : chunk->previous,
		.previous_size = chunk->previous_size,
		.offset = chunk->offset,
		.data = slot->data,
		.size = chunk->size,
	};
	const bool again = slot->delay;

	/* The end is a part of it: a message never takes the place of a longer one. */
	snprintf(id, sizeof(id), "%s:%" PRIu64 "-%" PRIu64, chunk->file, chunk->offset,
		 chunk->offset + chunk->size);
	if (shipper->ops->publish(shipper->transport, &message, why)) {
		slot->due = monotonic() + REFUSED_NS;
		return false;
	}
	slot->delay = !again ? RESEND_NS :
		      slot->delay < RESEND_MAX_NS ? 2 * slot->delay : RESEND_MAX_NS;
	slot->due = monotonic() + slot->delay;
	shipper->slow |= slot->delay > RESEND_NS;
	shipper->counts.resent += again;
	return true;
}

/* Send the messages that got no reply. Return: 1 if there were some. */
static int send_again(struct shipper *shipper, char *why)
{
	const uint64_t now = monotonic();
	const struct slot *slot;
	uint64_t number;
	int any = 0;

	for (number = shipper->oldest; number < shipper->next; number++) {
		slot = &shipper->window[number % WINDOW];
		if (!slot->used || slot->due > now)
			continue;
		if (!send_slot(shipper, number, why))
			break;
		any = 1;
	}
	return any;
}

/* Read a chunk of a spool into the window. Return: as spool_next(). */
static int read_spool(struct shipper *shipper, unsigned int index)
{
	struct slot *slot = &shipper->window[shipper->next % WINDOW];
	struct sent_spool *spool = &shipper->spools[index];
	char buffer[FILE_ERROR_BYTES];
	int ret;

	if (!slot->data)
		slot->data = malloc(SPOOL_CHUNK_MAX);
	ret = slot->data ? spool_next(spool->spool, slot->data, &slot->chunk) : -ENOMEM;
	spool->empty = ret <= 0;
	if (ret < 0 && ret != spool->error)
		elog_error("%s: %s", spool_name(spool->spool), file_error(NULL, ret, buffer));
	spool->error = ret < 0 ? ret : 0;
	if (ret <= 0)
		return ret;
	slot->used = true;
	slot->spool = index;
	slot->due = 0;
	slot->delay = 0;
	shipper->next++;
	return 1;
}

/* Fill the window, taking turns between the spools. Return: 1 something was sent; 0; -errno. */
static int read_more(struct shipper *shipper, char *why)
{
	size_t empty = 0;
	int ret = 0, any = 0, error = 0;

	while (empty < shipper->spool_count && shipper->next - shipper->oldest < WINDOW) {
		shipper->turn = (shipper->turn + 1) % shipper->spool_count;
		ret = read_spool(shipper, (unsigned int)shipper->turn);
		empty = ret > 0 ? 0 : empty + 1;
		if (ret < 0)
			error = ret;
		if (ret <= 0)
			continue;
		any = 1;
		if (!send_slot(shipper, shipper->next - 1, why))
			break;
	}
	return any ? any : error;
}

/*
 * The stream stores messages again: send those soon that have waited for longer and longer.
 * A reader waits only for a while for a message that is missing between others.
 */
static void hurry(struct shipper *shipper)
{
	const uint64_t due = monotonic() + RESEND_NS;
	struct slot *slot;
	uint64_t number;

	if (!shipper->slow)
		return;
	shipper->slow = false;
	for (number = shipper->oldest; number < shipper->next; number++) {
		slot = &shipper->window[number % WINDOW];
		if (!slot->used || slot->delay <= RESEND_NS)
			continue;
		/* It doubles when it is sent again. */
		slot->delay = RESEND_NS / 2;
		if (slot->due > due)
			slot->due = due;
	}
}

static void take_reply(struct shipper *shipper, const struct transport_reply *reply, char *why)
{
	struct slot *slot = &shipper->window[reply->number % WINDOW];

	if (!reply->stored) {
		shipper->counts.refused++;
		memcpy(why, reply->why, sizeof(reply->why));
	}
	if (reply->number < shipper->oldest || reply->number >= shipper->next || !slot->used)
		return;
	if (!reply->stored) {
		slot->due = monotonic() + REFUSED_NS;
		return;
	}
	slot->used = false;
	shipper->counts.stored = realtime_now();
	if (reply->duplicate) {
		shipper->counts.duplicates++;
	} else {
		shipper->counts.messages++;
		shipper->counts.bytes += slot->chunk.size;
	}
	while (shipper->oldest < shipper->next && !shipper->window[shipper->oldest % WINDOW].used)
		shipper->oldest++;
	hurry(shipper);
}

int shipper_run(struct shipper *shipper, bool read, int milliseconds, char *why)
{
	struct transport_reply reply;
	int any = 0, ret = 0;

	if (shipper->ops->state(shipper->transport) == TRANSPORT_CONNECTED) {
		any = send_again(shipper, why);
		if (read)
			ret = read_more(shipper, why);
	}
	any |= ret > 0;
	while (shipper->ops->reply(shipper->transport, any ? 0 : milliseconds, &reply)) {
		take_reply(shipper, &reply, why);
		any = 1;
	}
	return any ? any : ret;
}

bool shipper_waits(const struct shipper *shipper)
{
	return shipper->oldest < shipper->next;
}

bool shipper_is_idle(const struct shipper *shipper)
{
	size_t i;

	for (i = 0; i < shipper->spool_count; i++)
		if (!shipper->spools[i].empty || shipper->spools[i].error ||
		    spool_searches(shipper->spools[i].spool))
			return false;
	return !shipper_waits(shipper);
}

void shipper_count(const struct shipper *shipper, struct shipper_counts *counts)
{
	uint64_t number;
	size_t i;

	*counts = shipper->counts;
	for (i = 0; i < shipper->spool_count; i++) {
		counts->gaps += spool_gaps(shipper->spools[i].spool);
		counts->lag += spool_lag(shipper->spools[i].spool);
	}
	for (number = shipper->oldest; number < shipper->next; number++) {
		if (!shipper->window[number % WINDOW].used)
			continue;
		counts->lag += shipper->window[number % WINDOW].chunk.size;
		counts->waiting++;
	}
}
