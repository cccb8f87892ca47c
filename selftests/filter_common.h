/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters for tests: puts names, strings and addresses into the pool.
 */
#ifndef EVENTLOG_FILTER_COMMON_H
#define EVENTLOG_FILTER_COMMON_H

#include "eventlog_common.h"

/*
 * A term with its values in place of offsets.  on_true 0 is ACCEPT, on_false 0 REJECT:
 * no term can lead to the first one.
 */
struct filter_term {
	const char *name;
	__u32 flags;
	__u16 operation;
	__u16 on_true;
	__u16 on_false;
	__u64 number;
	const char *string;
	/* IPv4 or IPv6, as text; the flags say which. */
	const char *address;
	const char *mask;
};

/* A filter and what it refers to. */
struct filter {
	struct eventlog_filter filter;
	struct eventlog_term terms[EVENTLOG_TERMS_MAX + 1];
	char pool[EVENTLOG_FILTER_POOL_MAX + 8];
	char text[EVENTLOG_FILTER_TEXT_MAX + 8];
};

/* Fills in a filter; returns its address, for requests.  @text: NULL: none. */
__u64 filter_fill(struct filter *filter, const struct filter_term *terms, unsigned int count,
		  const char *text);

/* Appends bytes to the pool; returns their offset. */
__u32 filter_put(struct filter *filter, const void *bytes, size_t size);

#endif /* EVENTLOG_FILTER_COMMON_H */
