// SPDX-License-Identifier: GPL-2.0-only
/*
 * produce_mapped - emits numbered events through a producer ring, for the tests of elog.
 *
 * usage: produce_mapped FIRST COUNT HOW [EMITTED]
 *
 * Emits COUNT events number/step, numbered from FIRST.  With COUNT 0 it emits until it is
 * killed, and after each event stores the number of events in the first 8 bytes of the file
 * EMITTED.  HOW is
 *	mapped	through the ring, or by write() if EVENTLOG_STATUS_SYNC is set
 *	both	in turn through the ring and by write()
 *	pairs	as mapped, and after each event number/done by write()
 *	invalid	as mapped, and each event is followed by a record that is not valid
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapped_common.h"

#define DATA_BYTES 65536

struct payload {
	__u64 number;
	char word[16];
} __attribute__((packed));

static void write_event(const struct mapped *ring, __u32 write_index,
			const struct payload *payload)
{
	/* The last subscriber may have ended. */
	if (mapped_kick_with(ring, write_index, payload, sizeof(*payload)) < 0)
		CHECK_EQ(errno, EBADF);
}

static volatile __u64 *map_counter(const char *path)
{
	int fd = CHECK_OK(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
	void *page;

	CHECK_OK(ftruncate(fd, sizeof(__u64)));
	page = mmap(NULL, sizeof(__u64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	close(fd);
	return page;
}

int main(int argc, char **argv)
{
	struct eventlog_register event = register_request("step u64 number; char[16] word");
	struct eventlog_register end = register_request("done u64 number; char[16] word");
	struct payload payload = { .word = "word" };
	volatile __u64 *emitted = NULL;
	struct status_map map;
	struct mapped ring;
	bool both, pairs, invalid;
	__u64 count, done;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: produce_mapped FIRST COUNT HOW [EMITTED]\n");
		return 2;
	}
	payload.number = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	both = !strcmp(argv[3], "both");
	pairs = !strcmp(argv[3], "pairs");
	invalid = !strcmp(argv[3], "invalid");
	if (argc > 4)
		emitted = map_counter(argv[4]);
	fd = device_open();
	event.provider = PTR("number");
	end.provider = event.provider;
	register_with(fd, &event);
	if (pairs)
		register_with(fd, &end);
	map = status_map(fd, &event);
	mapped_attach(&ring, fd, DATA_BYTES);
	for (done = 0; !count || done < count; done++, payload.number++) {
		/* pause: do not overrun the reader of an endless series. */
		if (!count && done && done % 100 == 0)
			usleep(5000);
		if (status_get(&map, &event) & EVENTLOG_STATUS_SYNC || (both && done % 2))
			write_event(&ring, event.write_index, &payload);
		else
			mapped_emit(&ring, event.write_index, &payload, sizeof(payload));
		if (pairs)
			write_event(&ring, end.write_index, &payload);
		/* The payload is too short. */
		if (invalid)
			mapped_emit(&ring, event.write_index, &payload, 1);
		if (emitted)
			*emitted = done + 1;
	}
	printf("%llu\n", (unsigned long long)done);
	return 0;
}
