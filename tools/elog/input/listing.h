/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts in the device's status listing.
 */
#ifndef LISTING_H
#define LISTING_H

#include <stddef.h>
#include <stdint.h>

#include <elog.h>

/**
 * struct listing - the counts
 * @active: definitions
 * @busy: definitions that have subscribers
 * @max: limit of definitions
 * @subscribers: processes, and parts of the kernel, that subscribe to any event
 */
struct listing {
	uint64_t active;
	uint64_t busy;
	uint64_t max;
	size_t subscribers;
};

/**
 * listing_read() - read the counts from the device
 * @listing: filled in
 *
 * The time it takes grows with the number of definitions.
 *
 * Return: 0 or a negative errno.
 */
int listing_read(struct listing *listing);

/** listing_text() - append the listing of an open device; 0 or a negative errno */
int listing_text(int fd, struct elog_text *text);

#endif /* LISTING_H */
