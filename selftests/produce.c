// SPDX-License-Identifier: GPL-2.0-only
/*
 * produce - emits numbered events, for the tests of elog; written in C because it is
 * started often.
 *
 * usage: produce FIRST COUNT SESSIONS [STOP]
 *
 * Emits COUNT events number/step, numbered from FIRST, and then waits for the file STOP
 * if it is given. With COUNT 0 it emits hundreds of events until STOP exists. The
 * events take turns in SESSIONS sessions; 0 means no session. Prints the number of
 * events. Fails if no subscriber enables the event.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/eventlog.h>

struct event {
	uint32_t index;
	uint64_t session;
	uint64_t number;
	char word[16];
} __attribute__((packed));

static bool is_over(const char *stop, uint64_t done, uint64_t count)
{
	if (count || !stop)
		return done >= count;
	return done % 100 == 0 && !access(stop, F_OK);
}

int main(int argc, char **argv)
{
	struct eventlog_register request = {
		.size = sizeof(request),
		.flags = EVENTLOG_REGISTER_SESSION,
		.command = (uintptr_t)"step u64 number; char[16] word",
		.provider = (uintptr_t)"number",
	};
	const char *stop = argc > 4 ? argv[4] : NULL;
	struct event event = { .word = "word" };
	uint64_t first, count, sessions, done;
	int fd;

	if (argc < 4) {
		fprintf(stderr, "usage: produce FIRST COUNT SESSIONS [STOP]\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	sessions = strtoull(argv[3], NULL, 10);
	fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
		perror(EVENTLOG_DEVICE);
		return 1;
	}
	event.index = request.write_index;
	for (done = 0; !is_over(stop, done, count); done++) {
		/* pause: do not overrun the reader of an endless series. */
		if (!count && done && done % 100 == 0)
			usleep(5000);
		event.session = sessions ? done % sessions + 1 : 0;
		event.number = first + done;
		if (write(fd, &event, sizeof(event)) != sizeof(event)) {
			perror("write");
			return 1;
		}
	}
	printf("%llu\n", (unsigned long long)done);
	fflush(stdout);
	while (stop && access(stop, F_OK))
		usleep(50000);
	return 0;
}
