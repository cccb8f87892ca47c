// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters for tests: see filter_common.h.
 */
#include <arpa/inet.h>
#include <string.h>

#include "filter_common.h"

__u32 filter_put(struct filter *filter, const void *bytes, size_t size)
{
	__u32 offset = filter->filter.pool_size;

	CHECK(size <= sizeof(filter->pool) - offset);
	memcpy(filter->pool + offset, bytes, size);
	filter->filter.pool_size += size;
	return offset;
}

static __u32 put_address(struct filter *filter, const struct filter_term *term)
{
	int family = term->flags & EVENTLOG_TERM_IPV4 ? AF_INET : AF_INET6;
	size_t size = family == AF_INET ? 4 : 16;
	unsigned char bytes[32];

	CHECK_EQ(inet_pton(family, term->address, bytes), 1);
	CHECK_EQ(inet_pton(family, term->mask, bytes + size), 1);
	return filter_put(filter, bytes, 2 * size);
}

__u64 filter_fill(struct filter *filter, const struct filter_term *terms, unsigned int count,
		  const char *text)
{
	unsigned int i;

	memset(filter, 0, sizeof(*filter));
	/* Offset 0 is not used: a term that lacks a value does not get one by accident. */
	filter_put(filter, "?", 2);
	for (i = 0; i < count; i++) {
		struct eventlog_term *term = &filter->terms[i];

		term->name = filter_put(filter, terms[i].name, strlen(terms[i].name) + 1);
		term->flags = terms[i].flags;
		term->operation = terms[i].operation;
		term->on_true = terms[i].on_true ?: EVENTLOG_FILTER_ACCEPT;
		term->on_false = terms[i].on_false ?: EVENTLOG_FILTER_REJECT;
		term->number = terms[i].number;
		if (terms[i].string)
			term->string = filter_put(filter, terms[i].string,
						  strlen(terms[i].string) + 1);
		if (terms[i].address)
			term->address = put_address(filter, &terms[i]);
	}
	filter->filter.size = sizeof(filter->filter);
	filter->filter.term_count = count;
	filter->filter.term_size = sizeof(struct eventlog_term);
	filter->filter.terms = PTR(filter->terms);
	filter->filter.pool = PTR(filter->pool);
	if (text) {
		CHECK(strlen(text) < sizeof(filter->text));
		strcpy(filter->text, text);
		filter->filter.text = PTR(filter->text);
		filter->filter.text_size = strlen(text) + 1;
	}
	return PTR(&filter->filter);
}
