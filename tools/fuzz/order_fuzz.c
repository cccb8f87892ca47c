// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: messages of a stream whose headers say anything. What is read next is a
 * message that was put, not more than it has, and reading ends.
 *
 * Each message takes 8 bytes: few files, few offsets and few sizes, so that they meet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE_BYTES	8
#define GAPS_MAX	4	/* for each message, and for the end */

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Small numbers, and those at the limits. */
static uint64_t number(uint8_t byte)
{
	return byte < 0xf0 ? byte : UINT64_MAX >> (byte & 15) * 4;
}

static void put_id(char *to, uint8_t byte)
{
	if (byte == 255)
		strcpy(to, "?");
	else if (byte == 254)
		strcpy(to, "no id");
	else if (byte)
		snprintf(to, TRANSPORT_ID_BYTES, "%032x", byte & 7);
}

static void make_message(struct transport_stored *message, const uint8_t *bytes,
			 uint64_t sequence)
{
	static const unsigned char contents[256];

	*message = (struct transport_stored){
		.sequence = bytes[0] & 0x80 ? number(bytes[0] & 0x7f) : sequence,
		.previous_size = number(bytes[3]),
		.offset = number(bytes[4]),
		.size = number(bytes[5]),
	};
	put_id(message->file, bytes[1]);
	put_id(message->previous, bytes[2]);
	if (message->size <= sizeof(contents) && bytes[6] & 1)
		message->data = contents;
}

static void read_on(struct order *order, bool final, unsigned int *gaps)
{
	struct order_message message;
	struct order_gap gap;
	int ret;

	while ((ret = order_next(order, final, &message, &gap)) > 0) {
		if (ret == 1) {
			expect(message.skip < message.size);
			continue;
		}
		expect(memchr(gap.file, '\0', sizeof(gap.file)));
		expect((*gaps)--);
	}
	expect(!ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t count = size / MESSAGE_BYTES;
	unsigned int gaps = (unsigned int)(GAPS_MAX * (count + 1));
	struct transport_stored message;
	struct order *order;
	size_t i;
	int ret;

	order = order_new(size % 2);
	if (!order)
		exit(1);
	for (i = 0; i < count; i++) {
		make_message(&message, data + i * MESSAGE_BYTES, i + 1);
		ret = order_put(order, &message);
		expect(!ret || ret == -EBADMSG);
		read_on(order, false, &gaps);
	}
	read_on(order, true, &gaps);
	expect(!order_waits(order));
	order_free(order);
	return 0;
}
