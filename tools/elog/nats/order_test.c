// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of order.c: messages of several files come as elog ship may have stored them, and
 * what is read must be the files, or a gap must be reported. Prints TAP.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats/order.h"
#include "libelog/file/blocks.h"
#include "libelog/util/tap.h"
#include "libelog/util/test_random.h"
#include "libelog/util/util.h"

#define FILES		4
#define PARTS		100	/* of a file */
#define PART_BYTES	10
#define MESSAGES	(FILES * PARTS)
#define STORED_MAX	(4 * MESSAGES)

struct run {
	struct order *order;
	const unsigned int *stored;	/* numbers of messages, as the stream has them */
	bool read[MESSAGES];
	unsigned int next;		/* the message that should be read */
	unsigned int gaps;
	uint64_t missing;		/* bytes */
};

static void make_message(struct transport_stored *message, unsigned int number,
			 uint64_t sequence)
{
	static const unsigned char data[PART_BYTES];
	const unsigned int file = number / PARTS, part = number % PARTS;

	memset(message, 0, sizeof(*message));
	message->sequence = sequence;
	message->offset = part * PART_BYTES;
	message->data = data;
	message->size = PART_BYTES;
	snprintf(message->file, sizeof(message->file), "%032x", file);
	if (!part && file) {
		snprintf(message->previous, sizeof(message->previous), "%032x", file - 1);
		message->previous_size = PARTS * PART_BYTES;
	}
}

/* Read what can be read. The first message has the sequence 1. */
static void read_on(struct run *run, bool final)
{
	struct order_message message;
	struct order_gap gap;
	unsigned int number;
	int ret;

	while ((ret = order_next(run->order, final, &message, &gap)) > 0) {
		if (ret == 2) {
			run->gaps++;
			run->missing += gap.to - gap.from;
			continue;
		}
		number = run->stored[message.sequence - 1];
		check(number >= run->next);
		check(!run->read[number]);
		check_equal(message.skip, 0);
		check_equal(message.size, PART_BYTES);
		run->read[number] = true;
		run->next = number + 1;
	}
	check_equal(ret, 0);
}

static void read_all(struct run *run, const unsigned int *stored, unsigned int count)
{
	struct transport_stored message;
	unsigned int i;

	memset(run, 0, sizeof(*run));
	run->stored = stored;
	run->order = order_new(false);
	check(run->order);
	for (i = 0; i < count; i++) {
		make_message(&message, stored[i], i + 1);
		check_equal(order_put(run->order, &message), 0);
		read_on(run, false);
	}
	read_on(run, true);
	check(!order_waits(run->order));
}

static unsigned int number_read(const struct run *run)
{
	unsigned int count = 0, i;

	for (i = 0; i < MESSAGES; i++)
		count += run->read[i];
	return count;
}

/*
 * Store the messages as elog ship does: at most 64 wait for a reply, and any of them may be
 * stored next. Some are stored twice. Return: the number of stored messages.
 */
static unsigned int store(unsigned int *stored, const bool *lost)
{
	unsigned int window[ORDER_WINDOW], count = 0, waiting = 0, next = 0, chosen;
	unsigned int oldest;

	while (next < MESSAGES || waiting) {
		while (next < MESSAGES && waiting < ORDER_WINDOW &&
		       (!waiting || next - window[0] < ORDER_WINDOW))
			window[waiting++] = next++;
		chosen = (unsigned int)random_number(random_number(4) ? 1 + waiting / 8 : waiting);
		oldest = window[chosen];
		memmove(&window[chosen], &window[chosen + 1],
			(--waiting - chosen) * sizeof(window[0]));
		if (lost[oldest])
			continue;
		stored[count++] = oldest;
		if (!random_number(10))
			stored[count++] = oldest;
		/* elog ship was started again: it sends from an earlier position on. */
		if (count > 50 && !random_number(50)) {
			stored[count] = stored[count - 40];
			count++;
		}
	}
	return count;
}

static void test_any_order(void)
{
	static const bool lost[MESSAGES];
	static unsigned int stored[STORED_MAX];
	struct run run;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		read_all(&run, stored, store(stored, lost));
		check_equal(number_read(&run), MESSAGES);
		check_equal(run.gaps, 0);
		check_equal(order_late(run.order), 0);
		order_free(run.order);
	}
}

/* Each message that is missing is reported, and no other one. */
static void test_gaps(void)
{
	static unsigned int stored[STORED_MAX];
	bool lost[MESSAGES];
	unsigned int i, number, count;
	struct run run;

	for (i = 0; i < 50; i++) {
		memset(lost, 0, sizeof(lost));
		for (count = 0; count < 5;) {
			number = 1 + (unsigned int)random_number(MESSAGES - 2);
			/* Without a beginning, it is not known where the previous file ends. */
			count += !lost[number] && number % PARTS;
			lost[number] |= number % PARTS != 0;
		}
		read_all(&run, stored, store(stored, lost));
		check_equal(number_read(&run), MESSAGES - 5);
		check_equal(run.missing, 5 * PART_BYTES);
		order_free(run.order);
	}
}

/* The first message of a file is missing. */
static void test_no_beginning(void)
{
	static unsigned int stored[MESSAGES];
	unsigned int i, count = 0;
	struct run run;

	for (i = 0; i < MESSAGES; i++)
		if (i != PARTS)
			stored[count++] = i;
	read_all(&run, stored, count);
	check_equal(number_read(&run), MESSAGES - 1);
	check(run.gaps);
	order_free(run.order);
}

/* The servers have removed the oldest messages. */
static void test_removed(void)
{
	static unsigned int stored[MESSAGES];
	unsigned int i, count = 0;
	struct run run;

	for (i = PARTS / 2; i < MESSAGES; i++)
		stored[count++] = i;
	read_all(&run, stored, count);
	check_equal(number_read(&run), MESSAGES - PARTS);
	check_equal(run.gaps, 1);
	order_free(run.order);
}

/* An incomplete block was sent, and again when it was complete. */
static void test_overlap(void)
{
	struct order *order = order_new(false);
	struct transport_stored stored;
	struct order_message message;
	struct order_gap gap;

	make_message(&stored, 0, 1);
	check_equal(order_put(order, &stored), 0);
	check_equal(order_next(order, false, &message, &gap), 1);
	make_message(&stored, 0, 2);
	stored.offset = 4;
	check_equal(order_put(order, &stored), 0);
	check_equal(order_next(order, false, &message, &gap), 1);
	check_equal(message.sequence, 2);
	check_equal(message.skip, 6);
	check_equal(order_next(order, false, &message, &gap), 0);
	order_free(order);
}

static void test_wrong(void)
{
	struct order *order = order_new(false);
	struct transport_stored good, wrong;

	make_message(&good, PARTS, 1);
	wrong = good;
	wrong.file[3] = 'X';
	check_equal(order_put(order, &wrong), -EBADMSG);
	wrong = good;
	wrong.file[31] = '\0';
	check_equal(order_put(order, &wrong), -EBADMSG);
	wrong = good;
	memcpy(wrong.previous, wrong.file, sizeof(wrong.previous));
	check_equal(order_put(order, &wrong), -EBADMSG);
	wrong = good;
	wrong.offset = UINT64_MAX;
	check_equal(order_put(order, &wrong), -EBADMSG);
	wrong = good;
	wrong.size = 0;
	check_equal(order_put(order, &wrong), -EBADMSG);
	check(!order_waits(order));
	order_free(order);
}

/* Whatever messages say, order_next() ends, and no more than a window is held. */
static void test_random(void)
{
	struct order *order = order_new(false);
	struct transport_stored stored;
	struct order_message message;
	struct order_gap gap;
	unsigned int i;
	int ret;

	for (i = 1; i < 200000; i++) {
		make_message(&stored, (unsigned int)random_number(MESSAGES), i);
		stored.offset = random_number(3) * random_number(1000);
		stored.size = 1 + random_number(PART_BYTES);
		snprintf(stored.file, sizeof(stored.file), "%032x",
			 (unsigned int)random_number(20000));
		*stored.previous = '\0';
		if (!stored.offset && random_number(2))
			snprintf(stored.previous, sizeof(stored.previous), "%032x",
				 (unsigned int)random_number(20000));
		ret = order_put(order, &stored);
		check(!ret || ret == -EBADMSG);
		while ((ret = order_next(order, false, &message, &gap)) > 0)
			if (ret == 1)
				check(message.skip < message.size);
		check_equal(ret, 0);
	}
	order_free(order);
}

/* ------------------------------------------------------------------------
 * Three files of two messages, in all orders. Each file ends with an END block.
 */

#define SMALL_FILES	3
#define SMALL_PARTS	2
#define SMALL		(SMALL_FILES * SMALL_PARTS)
#define SMALL_BYTES	128	/* of a message */
#define ORDERS		720	/* of six messages */
#define NONE		SMALL	/* as the number of a message */

/* How elog ship stored them, or did not. */
struct small {
	unsigned int unlinked;	/* a file whose first message does not have the one before */
	unsigned int lost;	/* a message */
	unsigned int twice;	/* a window that is sent again: this many messages */
	bool known;		/* the size of the previous file is known */
};

static void make_small(struct transport_stored *message, unsigned int number,
		       uint64_t sequence, const struct small *how)
{
	static unsigned char data[SMALL_FILES][SMALL_PARTS * SMALL_BYTES];
	const unsigned int file = number / SMALL_PARTS, part = number % SMALL_PARTS;
	struct elog_block_header header = {
		.magic = ELOG_FILE_MAGIC,
		.type = htole32(ELOG_BLOCK_END),
		.size = htole32(sizeof(struct elog_block_end)),
		.raw_size = htole32(sizeof(struct elog_block_end)),
	};

	header.header_crc = htole32(elog_crc32c(0, &header, offsetof(struct elog_block_header,
								     header_crc)));
	memcpy(data[file] + sizeof(data[file]) - sizeof(struct elog_block_end) - sizeof(header),
	       &header, sizeof(header));
	*message = (struct transport_stored){
		.sequence = sequence,
		.offset = part * SMALL_BYTES,
		.data = data[file] + part * SMALL_BYTES,
		.size = SMALL_BYTES,
	};
	snprintf(message->file, sizeof(message->file), "%032x", file + 1);
	if (part || !file || file == how->unlinked)
		return;
	snprintf(message->previous, sizeof(message->previous), "%032x", file);
	message->previous_size = how->known ? SMALL_PARTS * SMALL_BYTES : 0;
}

/* Put an order of the numbers from 0 to SMALL - 1 into @order: the one with this number. */
static void make_order(unsigned int *order, unsigned int number)
{
	unsigned int left[SMALL], i, chosen, count;

	for (i = 0; i < SMALL; i++)
		left[i] = i;
	for (i = 0; i < SMALL; i++) {
		count = SMALL - i;
		chosen = number % count;
		number /= count;
		order[i] = left[chosen];
		left[chosen] = left[count - 1];
	}
}

/* Read on, in order. Return: the number of gaps. */
static unsigned int read_small(struct order *order, const unsigned int *stored, bool final,
			       unsigned int *next)
{
	struct order_message message;
	unsigned int gaps = 0;
	struct order_gap gap;
	int ret;

	while ((ret = order_next(order, final, &message, &gap)) > 0) {
		if (ret == 2) {
			gaps++;
			continue;
		}
		check(stored[message.sequence - 1] >= *next);
		check_equal(message.skip, 0);
		*next = stored[message.sequence - 1] + 1;
	}
	check_equal(ret, 0);
	return gaps;
}

/* Return: the number of gaps. @read: set to the number of messages that were read */
static unsigned int read_order(unsigned int *stored, unsigned int number,
			       const struct small *how, unsigned int *read)
{
	struct order *order = order_new(false);
	struct transport_stored message;
	unsigned int gaps = 0, next = 0, i;

	check(order);
	make_order(stored, number);
	for (i = 0; i < how->twice; i++)
		stored[SMALL + i] = stored[SMALL - how->twice + i];
	*read = 0;
	for (i = 0; i < SMALL + how->twice; i++) {
		if (stored[i] == how->lost)
			continue;
		make_small(&message, stored[i], i + 1, how);
		check_equal(order_put(order, &message), 0);
		gaps += read_small(order, stored, false, &next);
	}
	gaps += read_small(order, stored, true, &next);
	*read = next;
	check_equal(order_late(order), 0);
	check(!order_waits(order));
	order_free(order);
	return gaps;
}

static void test_all_orders(void)
{
	unsigned int stored[2 * SMALL], number, read;
	struct small how = { .lost = NONE };

	for (how.twice = 0; how.twice <= SMALL; how.twice += 2)
		for (how.known = false; ; how.known = true) {
			for (number = 0; number < ORDERS; number++) {
				check_equal(read_order(stored, number, &how, &read), 0);
				check_equal(read, SMALL);
			}
			if (how.known)
				break;
		}
}

/* Does the capture seem to begin with its first file, although another one is unlinked? */
static bool begins_well(unsigned int *stored, unsigned int number, unsigned int unlinked)
{
	unsigned int i;

	make_order(stored, number);
	for (i = 0; stored[i] && stored[i] != unlinked * SMALL_PARTS; i++)
		;
	return !stored[i];
}

/* As elog ship did, when it was started again at the beginning of a file. */
static void test_unlinked(void)
{
	struct small how = { .lost = NONE, .known = true };
	unsigned int stored[SMALL], number, read;

	for (how.unlinked = 1; how.unlinked < SMALL_FILES; how.unlinked++)
		for (number = 0; number < ORDERS; number++) {
			if (!begins_well(stored, number, how.unlinked))
				continue;
			check_equal(read_order(stored, number, &how, &read), 0);
			check_equal(read, SMALL);
		}
}

/* Behind the last message nothing shows that it is missing. */
static void test_lost_in_all_orders(void)
{
	struct small how = { .known = true };
	unsigned int stored[SMALL], number, read;

	for (how.lost = 0; how.lost < SMALL - 1; how.lost++)
		for (number = 0; number < ORDERS; number++) {
			check(read_order(stored, number, &how, &read) >= 1);
			/* Without its beginning, the last file may not be read at all. */
			check(read == SMALL || how.lost == SMALL - SMALL_PARTS);
		}
	/* The END block of the file before is missing. */
	how = (struct small){ .unlinked = 1, .lost = 1 };
	for (number = 0; number < ORDERS; number++)
		if (begins_well(stored, number, how.unlinked))
			check(read_order(stored, number, &how, &read));
}

int main(void)
{
	static const struct test tests[] = {
		{ "messages in another order and twice", test_any_order },
		{ "gaps", test_gaps },
		{ "a file without its beginning", test_no_beginning },
		{ "a stream whose oldest messages were removed", test_removed },
		{ "a part that was sent before it was complete", test_overlap },
		{ "messages that are not valid", test_wrong },
		{ "random messages", test_random },
		{ "three files in all orders", test_all_orders },
		{ "three files in all orders, one of them unlinked", test_unlinked },
		{ "three files in all orders, with a gap", test_lost_in_all_orders },
	};

	return run_tests(tests, sizeof(tests) / sizeof(tests[0]), seed_random);
}
