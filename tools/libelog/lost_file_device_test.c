// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of libelog in programs that close its files, as daemons do, and use their numbers for
 * files of their own; that start without the files 0, 1 and 2; and that drop rights before they
 * emit. Prints TAP.
 */
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "util/test_device.h"
#include "util/util.h"

#define OWN	"mine\n"
#define FILES	64	/* the program's own files have numbers below */
/* More than a ring of any size holds: the kernel must be asked to drain it. */
#define MANY	20000

static struct elog_producer *producer;
static struct elog_event *event;

/* Returns only in the child, whose failures are its exit status: see end_child(). */
static bool in_child(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		failures = 0;
		return true;
	}
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
	return false;
}

static void end_child(void)
{
	fflush(stdout);
	_exit(failures != 0);
}

static void open_producer(unsigned int flags)
{
	const struct elog_producer_options options = { .size = sizeof(options), .flags = flags };

	check_equal(elog_producer_open(&producer, &options), 0);
	event = add_event(producer, "event u32 number");
}

static void emit(struct elog_event *to, uint32_t from, uint32_t count)
{
	unsigned int failed = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		failed += write_number(to, 0, from + i) != 0;
	check_equal(failed, 0);
}

static void close_all(void)
{
	int fd;

	for (fd = STDERR_FILENO + 1; fd < FILES; fd++)
		close(fd);
}

/* The program's own file, with all numbers; what is written to one of them is added to it. */
static void use_all(void)
{
	int fd;

	close_all();
	fd = memfd_create("own", 0);
	check(write(fd, OWN, strlen(OWN)) == (ssize_t)strlen(OWN));
	while (fd >= 0 && fd < FILES - 1)
		fd = fcntl(fd, F_DUPFD, fd + 1);
}

/* Every number is still that of the program's own file, which was not written. */
static void check_own(void)
{
	struct stat stat;
	int fd;

	for (fd = STDERR_FILENO + 1; fd < FILES; fd++) {
		if (fstat(fd, &stat)) {
			fail(__FILE__, __LINE__, "file %d was closed", fd);
			continue;
		}
		check_equal(stat.st_size, strlen(OWN));
	}
}

/* Reads all events and counts them; @lost: set to the number of those that were lost. */
static unsigned int count_all(struct elog_consumer *consumer, uint64_t *lost)
{
	unsigned int count = 0, i;
	struct elog_item item;

	*lost = 0;
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0) {
		count += item.type == ELOG_ITEM_EVENT;
		for (i = 0; i < item.lost_count; i++)
			*lost += item.lost[i];
	}
	return count;
}

static void check_events(struct elog_consumer *consumer, unsigned int count)
{
	uint64_t lost;

	check_equal(count_all(consumer, &lost), count);
	check_equal(lost, 0);
}

/* What a daemon does: @before, @after: events before and after it closes all files. */
static void be_daemon(unsigned int flags, uint32_t before, uint32_t after)
{
	open_producer(flags);
	emit(event, 0, before);
	use_all();
	emit(event, before, after);
	check_own();
	if (in_child()) {
		check_own();
		emit(event, 0, after ? 3 : 0);
		check_own();
		end_child();
	}
	elog_producer_close(producer);
	check_own();
	end_child();
}

static void test_daemon(void)
{
	static const uint32_t counts[][2] = { { 0, 20 }, { 1, 1 }, { 20, 20 }, { 50, MANY } };
	struct elog_consumer *consumer = subscribe(1 << 22);
	unsigned int i;

	for (i = 0; i < 2 * ELOG_ARRAY_SIZE(counts); i++) {
		if (in_child())
			be_daemon(i % 2 ? ELOG_PRODUCER_NO_RINGS : 0, counts[i / 2][0],
				  counts[i / 2][1]);
		check_events(consumer, counts[i / 2][0] + counts[i / 2][1] + 3);
	}
	elog_consumer_close(consumer);
	/* No one listens. */
	if (in_child())
		be_daemon(0, 0, 0);
}

/* The number is free, and not that of another file. */
static void test_closed(void)
{
	struct elog_consumer *consumer = subscribe(1 << 20);
	struct elog_event *later;

	if (in_child()) {
		open_producer(0);
		emit(event, 0, 50);
		close_all();
		emit(event, 50, 50);
		close_all();
		later = add_event(producer, "later u32 number");
		emit(later, 0, 1);
		close_all();
		check_equal(elog_producer_connect(producer), 0);
		emit(event, 100, 1);
		close_all();
		elog_event_unregister(later);
		emit(event, 101, 1);
		end_child();
	}
	check_events(consumer, 103);
	elog_consumer_close(consumer);
}

/* One producer gets the number that the other one had. */
static void test_swapped(void)
{
	struct elog_consumer *consumer = subscribe(1 << 20);
	struct elog_producer *second;
	struct elog_event *events[2];
	unsigned int counts[2] = { 0 };
	uint32_t *descriptors;
	struct elog_item item;
	int i;

	descriptors = mmap(NULL, sizeof(*descriptors) * 2, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(descriptors != MAP_FAILED);
	if (in_child()) {
		check_equal(elog_producer_open(&second, NULL), 0);
		open_producer(0);
		events[0] = event;
		events[1] = add_event(second, "other u32 number");
		for (i = 0; i < 2; i++)
			descriptors[i] = elog_event_descriptor(events[i]);
		close_all();
		for (i = 0; i < 10; i++)
			emit(events[i % 2], 0, 1);
		for (i = 0; i < 2; i++)
			check_equal(elog_event_descriptor(events[i]), descriptors[i]);
		elog_producer_close(producer);
		emit(events[1], 0, 1);
		end_child();
	}
	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		for (i = 0; i < 2; i++)
			counts[i] += item.descriptor == descriptors[i];
	check_equal(counts[0], 5);
	check_equal(counts[1], 6);
	munmap(descriptors, sizeof(*descriptors) * 2);
	elog_consumer_close(consumer);
}

/* Events that cannot be emitted are counted, if the device can be opened later. */
static void test_counted(void)
{
	struct elog_consumer *consumer = subscribe(1 << 20);
	unsigned int i, failed = 0;
	uint64_t lost;

	if (in_child()) {
		open_producer(0);
		emit(event, 0, 1);
		use_all();
		check_equal(seteuid(65534), 0);
		for (i = 0; i < 10; i++)
			failed += write_number(event, 0, i) == -EBADF;
		check_equal(failed, 10);
		check_own();
		check_equal(seteuid(0), 0);
		close_all();
		check(becomes_enabled(event));
		emit(event, 1, 1);
		end_child();
	}
	/* becomes_enabled() tests the event as well, but only write_number() is an event. */
	check_equal(count_all(consumer, &lost), 2);
	check(lost >= 10);
	elog_consumer_close(consumer);
}

static void drop_rights(unsigned int ways, const char *root)
{
	if (ways & 1)
		check(!chroot(root) && !chdir("/"));
	if (ways & 2)
		check(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
}

/* A server and its workers, which drop rights before they emit. */
static void test_rights(void)
{
	struct elog_consumer *consumer = subscribe(1 << 20);
	char root[] = "/tmp/elog_root_XXXXXX";
	unsigned int ways;

	check(mkdtemp(root) != NULL);
	open_producer(0);
	emit(event, 0, 1);
	for (ways = 1; ways < 4; ways++) {
		if (!in_child())
			continue;
		drop_rights(ways, root);
		emit(event, 0, 100);
		/* A worker's own child. */
		if (in_child()) {
			emit(event, 0, 10);
			end_child();
		}
		elog_producer_release(producer, 0);
		end_child();
	}
	/* Rights are dropped by a grandchild, whose parent has not connected. */
	if (in_child()) {
		if (in_child()) {
			drop_rights(3, root);
			emit(event, 0, 1);
			end_child();
		}
		end_child();
	}
	/* The same process goes on. */
	if (in_child()) {
		emit(event, 0, 1);
		drop_rights(3, root);
		emit(event, 1, 99);
		end_child();
	}
	check_events(consumer, 1 + 3 * 110 + 1 + 100);
	/* With a file of the device one can emit, but no more. */
	if (in_child()) {
		struct elog_consumer_options options = {
			.size = sizeof(options), .flags = ELOG_CONSUMER_FILE,
		};
		int fd = elog_device_open(NULL);

		drop_rights(3, root);
		options.file = elog_instance_open(fd, 0);
		check(options.file >= 0);
		check_equal(elog_consumer_open(&consumer, &options), -EPERM);
		end_child();
	}
	elog_producer_close(producer);
	elog_consumer_close(consumer);
	rmdir(root);
}

static void test_standard_files(void)
{
	struct elog_consumer *consumer;
	int fd, open_files = 0;

	if (in_child()) {
		int saved = fcntl(STDOUT_FILENO, F_DUPFD, FILES);

		for (fd = 0; fd <= STDERR_FILENO; fd++)
			close(fd);
		backlog_bytes = 1 << 20;
		consumer = subscribe(1 << 16);
		open_producer(0);
		emit(event, 0, 1);
		check_equal(elog_consumer_flush(consumer), 0);
		for (fd = 0; fd <= STDERR_FILENO; fd++)
			open_files += fcntl(fd, F_GETFD) >= 0;
		dup2(saved, STDOUT_FILENO);
		check_equal(open_files, 0);
		end_child();
	}
}

/* A consumer whose files the program has closed neither writes, reads nor closes others. */
static void test_consumer(void)
{
	struct elog_consumer *consumer;
	int i;

	for (i = 0; i < 2; i++) {
		if (!in_child())
			continue;
		backlog_bytes = i ? 1 << 20 : 0;
		consumer = subscribe(1 << 16);
		use_all();
		elog_consumer_wake(consumer);
		check_equal(elog_consumer_wait(consumer, 0, NULL), -EBADF);
		check_equal(elog_consumer_flush(consumer), -EBADF);
		check_own();
		elog_consumer_close(consumer);
		check_own();
		end_child();
	}
}

int main(void)
{
	static const struct test tests[] = {
		{ "a daemon's own files are neither written nor closed", test_daemon },
		{ "a producer goes on whose file was closed", test_closed },
		{ "a producer does not use another one's file", test_swapped },
		{ "what cannot be emitted meanwhile is counted", test_counted },
		{ "processes emit that have dropped rights", test_rights },
		{ "no file gets the number 0, 1 or 2", test_standard_files },
		{ "a consumer leaves other files alone", test_consumer },
	};

	return run_device_tests(tests, ELOG_ARRAY_SIZE(tests));
}
