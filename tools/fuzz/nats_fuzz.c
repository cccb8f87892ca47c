// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: what a NATS server answers, with or without a message, and the headers of a
 * message. The texts of reasons end, and the data of a message are within the answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nats/nats_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* A copy of the exact size, so that reads beyond it are detected. */
static char *copy_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		exit(1);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void read_reply(const uint8_t *data, size_t size)
{
	struct transport_reply reply = { 0 };
	char *text = copy_text(data, size);

	nats_read_reply(text, &reply);
	expect(memchr(reply.why, '\0', sizeof(reply.why)));
	expect(reply.stored || !reply.duplicate);
	free(text);
}

static void check_stored(const struct transport_stored *stored)
{
	expect(memchr(stored->why, '\0', sizeof(stored->why)));
	expect(memchr(stored->subject, '\0', sizeof(stored->subject)));
	expect(memchr(stored->file, '\0', sizeof(stored->file)));
	expect(memchr(stored->previous, '\0', sizeof(stored->previous)));
}

static void read_message(const uint8_t *data, size_t size)
{
	struct transport_stored stored = { 0 };
	char *text = copy_text(data, size);

	nats_read_message(text, &stored);
	check_stored(&stored);
	if (!stored.error) {
		expect((const char *)stored.data >= text);
		expect((const char *)stored.data + stored.size <= text + size);
	}
	free(text);
}

/* The headers as libnats finds them: texts, each with its NUL. An empty one is missing. */
static void read_headers(const uint8_t *data, size_t size)
{
	struct transport_stored stored = { 0 };
	char *text = copy_text(data, size), *at = text, *values[6];
	struct nats_headers headers;
	uint64_t number;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		values[i] = at < text + size && *at ? at : NULL;
		at += at < text + size ? strlen(at) + 1 : 0;
	}
	headers = (struct nats_headers){ values[0], values[1], values[2], values[3] };
	nats_take_headers(&stored, &headers);
	nats_parse_time(values[4], &stored.time);
	nats_parse_number(values[5], &number);
	check_stored(&stored);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data % 3) {
	case 0:
		read_message(data + 1, size - 1);
		break;
	case 1:
		read_reply(data + 1, size - 1);
		break;
	default:
		read_headers(data + 1, size - 1);
	}
	return 0;
}
