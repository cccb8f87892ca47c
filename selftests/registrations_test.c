// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of LIST of registrations and of MARKER_HANDLERS, which list who has registered which
 * events, and of descriptions in commands.
 *
 * They meet: UNREGISTER and close() (registrations_come_and_end), fork and file passing
 * (processes), pid namespaces and users (visibility), instances, policies and filters
 * (descriptions), and each other in several threads (race).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter_common.h"
#include "instance_common.h"
#include "module_common.h"
#include "steps_common.h"

#define PRINT EVENTLOG_MARKER_PRINT
#define TRACE EVENTLOG_MARKER_TRACE
#define PROBE EVENTLOG_MARKER_PROBE

/* A registration, and where the next call continues. */
struct registered {
	struct eventlog_registration_info info;
	__u64 cursor;
	bool over;
};

/* Gets the registration behind that of @request; false: there are no more. */
static bool next(int fd, struct registered *request)
{
	struct eventlog_list list = list_request(EVENTLOG_LIST_REGISTRATIONS, &request->info,
						 sizeof(request->info));

	do {
		list.cursor = request->cursor;
		list.buffer_size = sizeof(request->info);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &list));
		request->over = !list.cursor;
		request->cursor = list.cursor;
	} while (!list.count && !request->over);
	return list.count;
}

/* The number of registrations of an event, or of all with 0, and the last of them. */
static unsigned int count_of(int fd, __u32 descriptor, struct registered *last)
{
	struct registered request = {};
	unsigned int count = 0;

	memset(last, 0, sizeof(*last));
	while (!request.over && next(fd, &request)) {
		if (descriptor && request.info.descriptor != descriptor)
			continue;
		*last = request;
		count++;
	}
	return count;
}

static int try_handlers(int fd, __u32 write_index, __u32 handlers, __u32 defaults)
{
	struct eventlog_marker_handlers request = {
		.size = sizeof(request), .write_index = write_index,
		.handlers = handlers, .defaults = defaults,
	};

	return ioctl(fd, EVENTLOG_IOC_MARKER_HANDLERS, &request);
}

TEST(registrations_come_and_end)
{
	int fd = device_open(), other = device_open(), reader = device_open_for(O_RDONLY);
	struct registered last;
	struct eventlog_register first, second;

	first = register_event(fd, "listed u32 x");
	CHECK_EQ(count_of(reader, first.descriptor, &last), 1);
	CHECK_EQ(last.info.pid, getpid());
	CHECK_EQ(last.info.handlers, TRACE);
	CHECK_EQ(last.info.defaults, TRACE);
	second = register_event(fd, "listed u32 x");
	register_event(other, "listed u32 x");
	CHECK_EQ(count_of(reader, first.descriptor, &last), 3);
	CHECK_OK(try_unregister(fd, second.write_index));
	CHECK_EQ(count_of(reader, first.descriptor, &last), 2);
	close(fd);
	CHECK_EQ(count_of(reader, first.descriptor, &last), 1);
	close(other);
	CHECK_EQ(count_of(reader, first.descriptor, &last), 0);
	close(reader);
}

TEST(handlers_are_listed)
{
	struct eventlog_subscribe subscribe = subscribe_request(0);
	int fd = device_open(), subscriber = device_open();
	struct eventlog_register registration;
	struct registered last;
	unsigned int bit;

	registration = register_event(fd, "listed u32 x");
	CHECK_OK(try_handlers(fd, registration.write_index, PRINT | PROBE, PRINT | TRACE));
	CHECK_EQ(count_of(fd, registration.descriptor, &last), 1);
	CHECK_EQ(last.info.handlers, PRINT | PROBE);
	CHECK_EQ(last.info.defaults, PRINT | TRACE);
	for (bit = 3; bit < 32; bit++) {
		CHECK_ERRNO(try_handlers(fd, registration.write_index, 1U << bit, 0), EINVAL);
		CHECK_ERRNO(try_handlers(fd, registration.write_index, 0, 1U << bit), EINVAL);
	}
	CHECK_ERRNO(try_handlers(fd, registration.write_index + 1, 0, 0), ENOENT);
	CHECK_ERRNO(try_handlers(fd, 0, 0, 0), ENOENT);
	CHECK_EQ(count_of(fd, registration.descriptor, &last), 1);
	CHECK_EQ(last.info.handlers, PRINT | PROBE);
	CHECK_OK(ioctl(subscriber, EVENTLOG_IOC_SUBSCRIBE, &subscribe));
	CHECK_ERRNO(try_handlers(subscriber, 1, 0, 0), EBUSY);
	/* Subscribers list as well. */
	CHECK_EQ(count_of(subscriber, registration.descriptor, &last), 1);
	/* A new registration starts again. */
	CHECK_OK(try_unregister(fd, registration.write_index));
	CHECK_ERRNO(try_handlers(fd, registration.write_index, 0, 0), ENOENT);
	registration = register_event(fd, "listed u32 x");
	CHECK_EQ(count_of(fd, registration.descriptor, &last), 1);
	CHECK_EQ(last.info.handlers, TRACE);
	close(subscriber);
	close(fd);
}

TEST(cursors)
{
	struct registered request = {}, last;
	int fd = device_open(), none = device_open();
	__u64 cursor;

	CHECK(!next(none, &request));
	CHECK_EQ(request.cursor, 0);
	register_event(fd, "listed u32 x");
	CHECK(next(none, &request));
	CHECK_EQ(count_of(none, 0, &last), 1);
	/* Positions behind all producers, and in one that does not exist. */
	for (cursor = ~0ULL; cursor > 1ULL << 62; cursor >>= 1) {
		request.cursor = cursor;
		CHECK(!next(none, &request));
		CHECK_EQ(request.cursor, 0);
	}
	close(none);
	close(fd);
}

/* Producers without registrations, more than are passed at once, and gaps between indices. */
TEST(gaps)
{
	enum { FILES = 300, EVENTS = 5 };
	struct eventlog_register registrations[EVENTS];
	struct registered last;
	int files[FILES], fd = device_open();
	unsigned int i, j, count = 0;
	char command[32];

	for (i = 0; i < FILES; i++) {
		files[i] = device_open();
		for (j = 0; j < EVENTS; j++) {
			sprintf(command, "listed_%u", j);
			registrations[j] = register_event(files[i], command);
		}
		for (j = 0; j < EVENTS; j++) {
			/* In the last file, and in few others, some stay. */
			if ((i == FILES - 1 || i % 90 == 5) && j % 2)
				count++;
			else
				CHECK_OK(try_unregister(files[i], registrations[j].write_index));
		}
	}
	CHECK_EQ(count_of(fd, 0, &last), count);
	CHECK_EQ(count_of(fd, registrations[1].descriptor, &last), count / 2);
	for (i = 0; i < FILES; i++)
		close(files[i]);
	close(fd);
}

/* The pid is that of the process that registers, not of the one that opened the file. */
TEST(processes)
{
	int fd = device_open(), reader = device_open(), turn[2];
	struct eventlog_register registration;
	struct registered last;
	pid_t child;
	char byte;

	CHECK_OK(pipe(turn));
	child = test_fork();
	if (!child) {
		register_event(fd, "listed u32 x");
		CHECK_EQ(write(turn[1], "", 1), 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(turn[0], &byte, 1), 1);
	registration = register_event(fd, "listed u32 x");
	CHECK_EQ(count_of(reader, registration.descriptor, &last), 2);
	CHECK_EQ(last.info.pid, child);
	/* Its pid may be that of another process by now. */
	CHECK_OK(kill(child, SIGKILL));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK_EQ(count_of(reader, registration.descriptor, &last), 2);
	CHECK_EQ(last.info.pid, 0);
	close(fd);
	close(reader);
	close(turn[0]);
	close(turn[1]);
}

static int shared_turn[2];
static struct eventlog_register of_root;

static void look_as_user(void)
{
	int fd = device_open(), reader = device_open();
	struct eventlog_register mine;
	struct registered last;

	CHECK_EQ(count_of(fd, 0, &last), 0);
	/* The event is root's, too, but not its registration. */
	mine = register_event(fd, "shared u32 x");
	CHECK_EQ(mine.descriptor, of_root.descriptor);
	CHECK_EQ(count_of(reader, mine.descriptor, &last), 1);
	CHECK_EQ(last.info.pid, getpid());
	CHECK_EQ(write(shared_turn[1], "", 1), 1);
	CHECK_OK(try_handlers(fd, mine.write_index, PROBE, 0));
	CHECK_EQ(count_of(reader, mine.descriptor, &last), 1);
	CHECK_EQ(last.info.handlers, PROBE);
	CHECK_EQ(write(shared_turn[1], "", 1), 1);
	pause();
}

TEST(visibility)
{
	struct registered last;
	int fd, reader;
	pid_t child;
	char byte;

	load_open("");
	CHECK_OK(pipe(shared_turn));
	fd = device_open();
	reader = device_open();
	of_root = register_event(fd, "shared u32 x");
	child = fork_user(USER, look_as_user);
	CHECK_EQ(read(shared_turn[0], &byte, 1), 1);
	CHECK_EQ(read(shared_turn[0], &byte, 1), 1);
	CHECK_EQ(count_of(reader, of_root.descriptor, &last), 2);
	CHECK_EQ(last.info.pid, child);
	CHECK_EQ(last.info.handlers, PROBE);
	CHECK_OK(kill(child, SIGKILL));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	WAIT_FOR(count_of(reader, of_root.descriptor, &last) == 1);
	close(fd);
	close(reader);
}

TEST(pid_namespaces)
{
	struct eventlog_register registration;
	int fd = device_open(), turn[2], back[2];
	struct registered last;
	pid_t child;
	char byte;

	registration = register_event(fd, "outside u32 x");
	CHECK_OK(pipe(turn));
	CHECK_OK(pipe(back));
	if (unshare(CLONE_NEWPID))
		SKIP("unshare: %s", test_errno_name(errno));
	child = test_fork();
	if (!child) {
		int inside = device_open();

		CHECK_EQ(count_of(inside, registration.descriptor, &last), 1);
		CHECK_EQ(last.info.pid, 0);
		registration = register_event(inside, "inside u32 x");
		CHECK_EQ(count_of(inside, registration.descriptor, &last), 1);
		CHECK_EQ(last.info.pid, 1);
		CHECK_EQ(write(turn[1], &registration.descriptor, 4), 4);
		CHECK_EQ(read(back[0], &byte, 1), 1);
		_exit(0);
	}
	CHECK_EQ(read(turn[0], &registration.descriptor, 4), 4);
	CHECK_EQ(count_of(fd, registration.descriptor, &last), 1);
	CHECK_EQ(last.info.pid, child);
	CHECK_EQ(write(back[1], "", 1), 1);
	test_join(child);
	close(fd);
}

TEST(instances_have_their_own)
{
	int root = device_open(), instance, other;
	struct eventlog_register registration;
	struct registered last;
	__u32 id;

	instance = create("listed", &id);
	other = open_instance(instance);
	registration = register_event(instance, "listed u32 x");
	CHECK_EQ(count_of(root, registration.descriptor, &last), 0);
	CHECK_EQ(count_of(other, registration.descriptor, &last), 1);
	delete_instance(id);
	/* Until the file is closed. */
	CHECK_EQ(count_of(other, registration.descriptor, &last), 1);
	CHECK_OK(try_handlers(instance, registration.write_index, PRINT, PRINT));
	close(instance);
	CHECK_EQ(count_of(other, registration.descriptor, &last), 0);
	close(other);
	close(root);
}

static volatile bool stop;

static void *register_and_close(void *unused)
{
	char command[32];
	unsigned int i;

	while (!stop) {
		int fd = device_open();

		for (i = 0; i < 40; i++) {
			struct eventlog_register registration;

			sprintf(command, "raced_%u u32 x", i);
			registration = register_event(fd, command);
			CHECK_OK(try_handlers(fd, registration.write_index, i % 8, i % 8));
			if (i % 3 == 0)
				CHECK_OK(try_unregister(fd, registration.write_index));
		}
		close(fd);
	}
	return unused;
}

TEST(race)
{
	struct registered request, last;
	unsigned int i, found = 0;
	pthread_t threads[3];
	int fd = device_open();

	stop = false;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, register_and_close, NULL), 0);
	for (i = 0; i < 300 || found < 100; i++) {
		memset(&request, 0, sizeof(request));
		while (!request.over && next(fd, &request)) {
			CHECK_EQ(request.info.pid, getpid());
			CHECK(request.info.descriptor);
			CHECK(request.info.handlers < 8);
			found++;
		}
	}
	stop = true;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
	CHECK_EQ(count_of(fd, 0, &last), 0);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Descriptions
 */

static void check_text(int fd, __u32 descriptor, const char *want)
{
	char text[512];
	struct eventlog_describe request = {
		.size = sizeof(request), .descriptor = descriptor,
		.text = PTR(text), .text_size = sizeof(text),
	};
	const char *at;

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_DESCRIBE, &request));
	at = strstr(text, " described ");
	test_note("\"%s\"", text);
	CHECK(at && !strcmp(at, want));
}

TEST(descriptions)
{
	struct eventlog_register plain, first, second, same;
	int fd = device_open();

	plain = register_event(fd, "described u32 x");
	check_text(fd, plain.descriptor, " described info -\n\tu32 x\n");
	first = register_event(fd, "described \"main.c:main:0\" u32 x");
	check_text(fd, first.descriptor, " described info - \"main.c:main:0\"\n\tu32 x\n");
	second = register_event(fd, "described   \"\\\"a\\\\b\\\"; c\" u32 x;u8 y");
	check_text(fd, second.descriptor,
		   " described info - \"\\\"a\\\\b\\\"; c\"\n\tu32 x\n\tu8 y\n");
	same = register_event(fd, "described \"main.c:main:0\" u32 x");
	CHECK_EQ(same.descriptor, first.descriptor);
	CHECK(plain.descriptor != first.descriptor);
	same = register_event(fd, "described \"alone\"");
	check_text(fd, same.descriptor, " described info - \"alone\"\n");
	close(fd);
}

TEST(descriptions_that_are_wrong)
{
	static const char *const commands[] = {
		"described \"", "described \"\"", "described \"\" u32 x", "described \"a",
		"described \"a\\\"", "described \"a\\n\"", "described \"a\"u32 x",
		"described \"a\nb\" u32 x", "described \"a\tb\" u32 x", "described \"\303\244\" u32 x",
		"described \"a\x7f\" u32 x", "described \"a\" \"b\" u32 x", "described u32 x \"a\"",
		"described u32 x; \"a\" u8 y", "\"described\" \"a\" u32 ", "described \"a\\",
	};
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		test_note("%s", commands[i]);
		CHECK_ERRNO(try_register(fd, commands[i]), EINVAL);
	}
	close(fd);
}

/* A program that is compiled again has other descriptions, but the same trace events. */
TEST(trace_events_without_descriptions)
{
	struct eventlog_register again;
	char path[128];
	int fd;

	if (!trace_events_exist() || !trace_events_stay())
		SKIP("no trace events that stay");
	fd = device_open();
	register_event(fd, "traced \"a.c:main:0, line 7\" u32 x");
	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/traced", trace_group());
	WAIT_FOR(!access(path, F_OK));
	close(fd);
	fd = device_open();
	again = register_event(fd, "traced \"a.c:main:0, line 8\" u32 x");
	/* They are made in this order. */
	register_event(fd, "traced_later u32 x");
	strcat(path, "_later");
	WAIT_FOR(!access(path, F_OK));
	sprintf(strrchr(path, '_'), ".%x", again.descriptor);
	CHECK_ERRNO(access(path, F_OK), ENOENT);
	close(fd);
}

#define DESCRIPTIONS 512

/* Definitions that differ only in their descriptions do not lengthen each other's look-ups. */
TEST(trace_events_of_many_descriptions)
{
	unsigned int i, round;
	char command[64];
	long most;
	int fd;

	if (!trace_events_exist())
		SKIP("no trace events");
	for (round = 0; round < 2; round++) {
		fd = device_open();
		steps_reset();
		for (i = 0; i < DESCRIPTIONS; i++) {
			snprintf(command, sizeof(command), "traced_many \"line %u\" u32 x", i);
			register_event(fd, command);
		}
		most = steps_most(STEPS_TRACES);
		test_note("round %u: %ld steps", round, most);
		CHECK(most > 0 && most <= DESCRIPTIONS / 4);
		close(fd);
	}
}

/* Filters of rules and of policies find the fields behind a description. */
TEST(filters_of_described_events)
{
	const struct filter_term term = {
		.name = "x", .number = 7, .flags = EVENTLOG_TERM_NUMBER,
		.operation = EVENTLOG_TERM_OP_EQUAL,
	};
	struct eventlog_marker_set policy = {
		.size = sizeof(policy), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.owner = PTR("listed"), .handlers = PRINT,
	};
	struct eventlog_register request;
	struct eventlog_filter_get get = { .size = sizeof(get) };
	int fd = device_open();
	struct filter filter;

	policy.filter = filter_fill(&filter, &term, 1, "x == 7");
	request = register_request("described \"u32 z\" u8 y;u32 x");
	request.provider = PTR(EVENTLOG_PROGRAM_PREFIX "listed");
	register_with(fd, &request);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &policy));
	CHECK_EQ(policy.matched, 1);
	CHECK_EQ(policy.incompatible, 0);
	get.write_index = request.write_index;
	get.term_size = sizeof(struct eventlog_term);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_FILTER_GET, &get), EMSGSIZE);
	CHECK_EQ(get.term_count, 1);
	policy.operation = EVENTLOG_MARKER_OP_REMOVE;
	policy.handlers = PRINT | PROBE;
	policy.filter = 0;
	policy.owner = 0;
	policy.policy = 0;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_SET, &policy));
	close(fd);
}
