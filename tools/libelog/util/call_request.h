/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the structs of requests point to: the pieces of a CALL_IOCTL, see call.h. No state.
 *
 * Who includes this has functions to build a message: message_add(), message_add_string(), and
 * peek(), which copies memory that the caller names. Two have: the library, whose memory is good,
 * and tests, which must not fail where the kernel says EFAULT.
 */
#ifndef LIBELOG_CALL_REQUEST_H
#define LIBELOG_CALL_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <linux/eventlog.h>

#include "call.h"

/* Strings and buffers that are longer are cut. */
#define CALL_STRING_MAX	(32768 + 8)
#define CALL_NAME_MAX	2048
#define CALL_BUFFER_MAX	(120U << 10)

/* A request as the caller has it: members that it does not reach are 0. */
union call_request {
	uint32_t size;
	struct eventlog_register registration;
	struct eventlog_delete delete;
	struct eventlog_list list;
	struct eventlog_rule rule;
	struct eventlog_describe describe;
	struct eventlog_marker_set marker_set;
	struct eventlog_filter_get filter_get;
};

static size_t call_at_most(uint64_t bytes, size_t most)
{
	return bytes < most ? (size_t)bytes : most;
}

static void call_add_filter(struct message *message, uint64_t address)
{
	struct eventlog_filter filter = { 0 };

	if (!address || peek(&filter, address, sizeof(filter.size)) != sizeof(filter.size))
		return;
	message_add(message, address, filter.size < sizeof(filter.size) ? sizeof(filter.size) :
		    call_at_most(filter.size, 4096), PIECE_IN);
	peek(&filter, address, call_at_most(filter.size, sizeof(filter)));
	message_add(message, filter.terms,
		    call_at_most((uint64_t)filter.term_count * filter.term_size, 65536), PIECE_IN);
	message_add(message, filter.pool, call_at_most(filter.pool_size, 16384), PIECE_IN);
	message_add(message, filter.text, call_at_most(filter.text_size, 4096), PIECE_IN);
}

/* Adds the struct of a request, which begins with its size, and what it points to. */
static void call_add_request(struct message *message, unsigned int number, uint64_t address)
{
	union call_request request = { 0 };
	uint32_t size = 0;

	peek(&size, address, sizeof(size));
	message_add(message, address, size < sizeof(size) ? sizeof(size) :
		    call_at_most(size, 8192), PIECE_IN | PIECE_OUT);
	peek(&request, address, call_at_most(size, sizeof(request)));
	switch (_IOC_NR(number)) {
	case _IOC_NR(EVENTLOG_IOC_REGISTER):
		message_add_string(message, request.registration.command, CALL_STRING_MAX);
		message_add_string(message, request.registration.provider, CALL_NAME_MAX);
		break;
	case _IOC_NR(EVENTLOG_IOC_DELETE):
		message_add_string(message, request.delete.provider, CALL_NAME_MAX);
		message_add_string(message, request.delete.event, CALL_NAME_MAX);
		break;
	case _IOC_NR(EVENTLOG_IOC_LIST):
		message_add(message, request.list.buffer,
			    call_at_most(request.list.buffer_size, CALL_BUFFER_MAX), PIECE_OUT);
		break;
	case _IOC_NR(EVENTLOG_IOC_RULE_ADD):
		message_add_string(message, request.rule.provider, CALL_NAME_MAX);
		message_add_string(message, request.rule.event, CALL_NAME_MAX);
		call_add_filter(message, request.rule.filter);
		break;
	case _IOC_NR(EVENTLOG_IOC_DESCRIBE):
		message_add(message, request.describe.text,
			    call_at_most(request.describe.text_size, CALL_BUFFER_MAX), PIECE_OUT);
		break;
	case _IOC_NR(EVENTLOG_IOC_MARKER_SET):
		message_add_string(message, request.marker_set.owner, CALL_NAME_MAX);
		message_add_string(message, request.marker_set.marker, CALL_NAME_MAX);
		call_add_filter(message, request.marker_set.filter);
		break;
	case _IOC_NR(EVENTLOG_IOC_FILTER_GET):
		message_add(message, request.filter_get.terms,
			    call_at_most(request.filter_get.terms_size, 65536), PIECE_OUT);
		message_add(message, request.filter_get.pool,
			    call_at_most(request.filter_get.pool_size, 65536), PIECE_OUT);
		break;
	}
}

#endif /* LIBELOG_CALL_REQUEST_H */
