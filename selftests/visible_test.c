// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what one process may see of another: names of events, names and pids of
 * processes, and the subscribers of events.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "module_common.h"

#define MINE "mine u32 x"
#define SECRET "secret u32 x"

static struct eventlog_register secret;
static struct consumer watcher;

/* Loads the module; root registers an event and listens to all events. */
static int begin(void)
{
	int fd;

	load_open("");
	fd = device_open();
	secret = register_event(fd, SECRET);
	CHECK_OK(prctl(PR_SET_NAME, "watcher"));
	consumer_open(&watcher, 0);
	rule_add(watcher.fd, NULL, NULL);
	return fd;
}

static void end(int fd)
{
	consumer_close(&watcher);
	close(fd);
}

/* Reads the listing of an open file. */
static char *listing_of(int fd)
{
	char *text = malloc(1 << 16);
	ssize_t bytes;
	size_t at = 0;

	while ((bytes = CHECK_OK(pread(fd, text + at, (1 << 16) - 1 - at, at))) > 0)
		at += bytes;
	text[at] = '\0';
	return text;
}

static void check_listing(int fd, const char *has, const char *has_not)
{
	char *text = listing_of(fd);

	test_note("\"%s\"", text);
	CHECK(strstr(text, has));
	CHECK(!strstr(text, has_not));
	free(text);
}

static bool sees(int fd, __u32 descriptor, __u32 *state)
{
	char *text = describe(fd, descriptor, state);

	if (!text)
		CHECK_EQ(errno, ENOENT);
	free(text);
	return text;
}

/* Counts the definitions that a file may see. */
static unsigned int count_definitions(int fd)
{
	return list_count(fd, EVENTLOG_LIST_DEFINITIONS);
}

static __u32 is_restricted(int fd)
{
	return info_of(fd).restricted;
}

/* Checks what every opener without the capability sees of root's event. */
static void check_restricted(int fd)
{
	CHECK_EQ(is_restricted(fd), 1);
	CHECK(!sees(fd, secret.descriptor, NULL));
	check_listing(fd, "Not listed: ", "secret");
	check_listing(fd, "Active: ", "watcher");
}

static void look_around(void)
{
	struct eventlog_subscribe subscribe = subscribe_request(0);
	struct eventlog_register mine;
	int fd = device_open(), file = device_open();
	__u32 state;

	check_restricted(fd);
	CHECK_EQ(count_definitions(fd), 0);
	CHECK_ERRNO(ioctl(file, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EPERM);
	mine = register_event(fd, MINE);
	/* Every file of the user sees the event, but not its subscribers. */
	check_restricted(file);
	check_listing(file, "user/mine # Used by ?\n", "watcher");
	CHECK(sees(file, mine.descriptor, &state));
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_ENABLED);
	CHECK_EQ(count_definitions(file), 1);
	/* The watcher keeps the text of the ended event, for itself. */
	CHECK_OK(try_unregister(fd, mine.write_index));
	CHECK(!sees(file, mine.descriptor, NULL));
	CHECK_EQ(count_definitions(file), 0);
	close(file);
	close(fd);
}

TEST(a_user_sees_its_own_events)
{
	int fd = begin();

	as_user(USER, look_around);
	CHECK_EQ(is_restricted(fd), 0);
	CHECK_EQ(count_definitions(watcher.fd), 2);
	CHECK(sees(watcher.fd, secret.descriptor, NULL));
	end(fd);
}

static int turns[2];

/* Shares a definition with root, which another user has made, too. */
static void share(void)
{
	int fd = device_open(), file = device_open();
	struct eventlog_register mine;

	mine = register_event(fd, SECRET);
	CHECK_EQ(mine.descriptor, secret.descriptor);
	register_event(fd, SECRET);
	CHECK(sees(file, mine.descriptor, NULL));
	check_listing(file, "user/secret", "watcher");
	CHECK_OK(try_unregister(fd, mine.write_index));
	CHECK(sees(file, mine.descriptor, NULL));
	CHECK_EQ(write(turns[1], "", 1), 1);
	/* Another user that has not registered the event does not see it. */
	close(fd);
	CHECK(!sees(file, mine.descriptor, NULL));
	close(file);
}

TEST(users_share_a_definition)
{
	int fd = begin();

	CHECK_OK(pipe(turns));
	as_user(USER, share);
	as_user(OTHER, share);
	as_user(OTHER, look_around);
	end(fd);
}

/* Names of kernel providers are public, but not which of their events are enabled. */
static void look_at_the_kernel(void)
{
	__u64 buffer[512];
	struct eventlog_list list = list_request(EVENTLOG_LIST_DEFINITIONS, buffer, 0);
	const struct eventlog_definition *definition;
	int fd = device_open();
	unsigned int count = 0, i;
	const char *next;

	do {
		list.buffer_size = sizeof(buffer);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_LIST, &list));
		for (i = 0, next = (char *)buffer; i < list.count; i++, next += definition->size) {
			definition = (void *)next;
			CHECK(strstr(next + definition->text_offset,
				     "provider markers_eventlog_marker_example"));
			CHECK_EQ(definition->state,
				 EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_KERNEL);
		}
		count += list.count;
	} while (list.cursor);
	CHECK(count >= 10);
	check_listing(fd, "Not listed: ", "eventlog_marker_example");
	close(fd);
}

TEST(names_of_the_kernel_are_public)
{
	int fd;

	if (user_mode_linux())
		SKIP("this kernel lacks jump labels, which markers need");
	fd = begin();
	CHECK_OK(module_load("eventlog_marker_example"));
	as_user(USER, look_at_the_kernel);
	end(fd);
	CHECK_OK(module_unload("eventlog_marker_example"));
}

/* Many hidden events lie between two that are visible: more than a call looks at. */
static void look_far(void)
{
	int fd = device_open(), reader = device_open();
	unsigned int i;

	register_event(fd, "first");
	CHECK_EQ(write(turns[1], "", 1), 1);
	WAIT_FOR(status_now("Active: ") >= 1102);
	register_event(fd, "last");
	CHECK_EQ(count_definitions(fd), 2);
	for (i = 0; i < 2; i++)
		check_listing(reader, "Not listed: 1101\n", "hidden");
	close(reader);
	close(fd);
}

TEST(hidden_events_are_skipped)
{
	int fd = begin();
	unsigned int i;
	pid_t child;
	char byte;

	CHECK_OK(pipe(turns));
	child = fork_user(USER, look_far);
	CHECK_EQ(read(turns[0], &byte, 1), 1);
	for (i = 0; i < 1100; i++)
		CHECK_OK(try_register_number(fd, "hidden", i));
	test_join(child);
	end(fd);
}

/* How often the process of a user has looked. */
static __u64 *looks;

static void list_for_ever(void)
{
	int fd = device_open();

	for (;; __atomic_fetch_add(looks, 1, __ATOMIC_RELEASE))
		count_definitions(fd);
}

static void read_for_ever(void)
{
	for (;; __atomic_fetch_add(looks, 1, __ATOMIC_RELEASE))
		free(status_read());
}

/* It spends most of its time on events that it does not see, so that is where it is killed. */
TEST(killed_while_events_are_skipped)
{
	static void (*const functions[])(void) = { list_for_ever, read_for_ever };
	int fd = begin();
	unsigned int i;
	pid_t child;

	looks = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(looks != MAP_FAILED);
	for (i = 0; i < 1100; i++)
		CHECK_OK(try_register_number(fd, "hidden", i));
	for (i = 0; i < 20; i++) {
		*looks = 0;
		child = fork_user(USER, functions[i % ARRAY_SIZE(functions)]);
		WAIT_FOR(__atomic_load_n(looks, __ATOMIC_ACQUIRE) > 1);
		CHECK_OK(kill(child, SIGKILL));
		test_join_signal(child, SIGKILL);
	}
	CHECK_EQ(count_definitions(fd), 1101);
	end(fd);
}

/* The rights of the opener count, not those of the process that uses the file. */
TEST(open_files_keep_their_rights)
{
	int fd = begin(), pair[2], file;
	pid_t child;

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = test_fork();
	if (!child) {
		CHECK_OK(setuid(USER));
		descriptor_send(pair[1], device_open());
		file = descriptor_receive(pair[1]);
		CHECK_EQ(is_restricted(file), 0);
		check_listing(file, "user/secret", "Not listed");
		_exit(0);
	}
	file = descriptor_receive(pair[0]);
	check_restricted(file);
	/* What is registered with the file counts for its opener. */
	register_event(file, MINE);
	CHECK_EQ(count_definitions(file), 1);
	close(file);
	descriptor_send(pair[0], device_open());
	test_join(child);
	end(fd);
}

/* Root without capabilities, as in a container, is a user like others. */
TEST(root_without_capabilities_is_restricted)
{
	int fd = begin(), file;
	pid_t child = test_fork();

	if (!child) {
		capabilities_keep(CAPABILITY_PERFMON);
		file = device_open();
		CHECK_EQ(is_restricted(file), 0);
		CHECK(sees(file, secret.descriptor, NULL));
		close(file);
		capabilities_keep(0);
		file = device_open();
		CHECK_EQ(is_restricted(file), 1);
		/* Root has registered it. */
		check_listing(file, "user/secret # Used by ?\n", "watcher");
		close(file);
		_exit(0);
	}
	test_join(child);
	as_user(USER, look_around);
	end(fd);
}

/* All capabilities in a user namespace give no rights in the initial one. */
static void look_out_of_namespace(void)
{
	struct eventlog_subscribe subscribe = subscribe_request(0);
	int outside = device_open(), fd, file;

	register_event(outside, MINE);
	CHECK_OK(unshare(CLONE_NEWUSER));
	fd = device_open();
	file = device_open();
	check_restricted(fd);
	CHECK_ERRNO(ioctl(file, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EPERM);
	/* The same user, in another namespace. */
	CHECK_EQ(count_definitions(fd), 1);
	close(fd);
	close(file);
	close(outside);
}

TEST(user_namespaces_give_no_rights)
{
	int fd;

	if (access("/proc/self/ns/user", F_OK))
		SKIP("no user namespaces");
	fd = begin();
	as_user(USER, look_out_of_namespace);
	end(fd);
}

/* Processes outside of the reader's pid namespace have neither pid nor name. */
TEST(pid_namespaces_hide_processes)
{
	int fd = begin(), reader = device_open();
	struct consumer inside;
	pid_t child;

	if (unshare(CLONE_NEWPID))
		SKIP("unshare: %s", test_errno_name(errno));
	child = test_fork();
	if (!child) {
		CHECK_OK(prctl(PR_SET_NAME, "inside"));
		consumer_open(&inside, 0);
		rule_add(inside.fd, NULL, NULL);
		check_listing(reader, "user/secret # Used by ? inside[1]\n", "watcher");
		consumer_close(&inside);
		_exit(0);
	}
	test_join(child);
	check_listing(reader, "# Used by watcher[", "?");
	close(reader);
	end(fd);
}
