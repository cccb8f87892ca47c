// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Consumers that share a subscription: each has some of the rings, so that several
 * threads can read at the same time.
 *
 * All of them poll the same file. poll(2) also reports a ring at its watermark if the ring
 * belongs to another part. Then a part cannot change what poll(2) reports, so it sleeps for
 * BLIND_MS instead of polling again at once. A wait queue for each part would need an open
 * file for each part, and a subscriber in the kernel that several files share.
 *
 * Only the part's own thread calls these functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "consumer/state.h"
#include "util/port.h"
#include "util/struct.h"

#define BLIND_MS	1

int elog_consumer_part_open(struct elog_consumer **result,
			    const struct elog_consumer *consumer,
			    const struct elog_part_options *given)
{
	struct elog_part_options options;
	struct elog_consumer *part;
	int ret;

	ret = elog_struct_get(&options, sizeof(options), given);
	if (ret)
		return ret;
	if (options.part >= options.parts || options.reserved || consumer->backlog ||
	    consumer->parts > 1 || !consumer->rings ||
	    consumer->subscribed.flags & EVENTLOG_SUBSCRIBE_OVERWRITE)
		return -EINVAL;
	part = calloc(1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	elog_map_init(&part->described, sizeof(struct elog_schema *));
	part->subscribed = consumer->subscribed;
	part->generation = consumer->subscribed.generation;
	part->part = options.part;
	part->parts = options.parts;
	part->processes = options.processes;
	part->no_ring = consumer->no_ring;
	/* The mark is that of the file, whichever number it has. */
	part->file = consumer->file;
	part->file.fd = elog_port_dup(consumer_file(consumer));
	part->wake = elog_file_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	part->rings = calloc(part->subscribed.rings, sizeof(*part->rings));
	part->merge.rings = calloc(part->subscribed.rings, sizeof(*part->merge.rings));
	if (part->file.fd < 0 || part->wake < 0)
		ret = -EMFILE;
	else if (!part->rings || !part->merge.rings)
		ret = -ENOMEM;
	else
		ret = elog_consumer_map(part);
	if (ret) {
		elog_consumer_close(part);
		return ret;
	}
	*result = part;
	return 0;
}

/* Would poll(2) report one of the part's own rings? */
static bool is_ready(const struct elog_consumer *part)
{
	uint64_t unread, watermark = part->subscribed.watermark;
	const struct ring *ring;
	unsigned int index, i;
	uint32_t lost;

	for (index = part->part; index < part->subscribed.rings; index += part->parts) {
		ring = &part->rings[index];
		if (!ring->header)
			continue;
		unread = elog_ring_committed(ring) - ring->reader.position;
		if (unread && unread >= watermark)
			return true;
		for (lost = 0, i = 0; i < EVENTLOG_LOST_CAUSES; i++)
			lost += (uint32_t)elog_header_lost(ring->header, i);
		if (lost != ring->consumer->lost_seen)
			return true;
	}
	return false;
}

static uint64_t now_ms(void)
{
	return elog_clock_read(CLOCK_MONOTONIC) / 1000000;
}

int elog_part_wait(struct elog_consumer *part, int milliseconds, const sigset_t *mask)
{
	const uint64_t end = now_ms() + (milliseconds < 0 ? 0 : (uint64_t)milliseconds);
	struct pollfd wake = { .fd = part->wake, .events = POLLIN };
	int left = milliseconds, ret;
	uint64_t now;
	bool woken;

	for (;;) {
		ret = elog_wait_once(part, left, mask, &woken);
		if (ret <= 0 || woken || is_ready(part))
			return ret;
		ret = elog_port_poll(&wake, 1, BLIND_MS, mask);
		if (ret < 0)
			return -errno;
		if (milliseconds < 0)
			continue;
		now = now_ms();
		if (now >= end)
			return 0;
		left = (int)(end - now);
	}
}
