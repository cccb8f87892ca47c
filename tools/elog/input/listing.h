/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device's status listing says, as numbers.
 */
#ifndef LISTING_H
#define LISTING_H

#include <stddef.h>
#include <stdint.h>

#include <elog.h>

/**
 * struct listing - what it says
 * @active: definitions there are
 * @busy: those that somebody wants
 * @max: how many there may be
 * @subscribers: processes, and parts of the kernel, that want any of them
 */
struct listing {
	uint64_t active;
	uint64_t busy;
	uint64_t max;
	size_t subscribers;
};

/**
 * listing_read() - ask the device
 * @listing: filled in
 *
 * Takes time with the number of definitions.
 *
 * Return: 0 or a negative errno.
 */
int listing_read(struct listing *listing);

/** listing_text() - append all of it, from the device; 0 or a negative errno */
int listing_text(int fd, struct elog_text *text);

#endif /* LISTING_H */
