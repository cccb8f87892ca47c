// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of instances with trace events: names of groups, limits, and deletion while ftrace
 * and perf are attached.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instance_common.h"
#include "module_common.h"
#include "steps_common.h"

static int create_traced(const char *name, __u32 *id)
{
	struct eventlog_instance_create request = create_request(name);

	request.flags = EVENTLOG_INSTANCE_TRACE;
	return create_with(&request, id);
}

/* Path of a file of a trace event; for one thread, the last four stay valid. */
static const char *path_of(const char *group, const char *event, const char *file)
{
	static char paths[4][600];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), TRACE_EVENTS "/%s/%s/%s", group, event, file);
	return path;
}

static bool made(const char *group, const char *event)
{
	return !access(path_of(group, event, "format"), F_OK);
}

/* An event has ended: its trace event goes, or stays if that is what the kernel needs. */
static void await_end(const char *group, const char *event)
{
	if (trace_events_stay())
		CHECK(made(group, event));
	else
		WAIT_FOR(!made(group, event));
}

static void load_traced(const char *parameters)
{
	load(parameters);
	if (!trace_events_exist())
		SKIP("this kernel has no trace events for modules");
}

static struct eventlog_register register_of(int fd, const char *provider, const char *command)
{
	struct eventlog_register request = register_request(command);

	request.provider = PTR(provider);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, &request));
	return request;
}

static void emit_value(int fd, const struct eventlog_register *event)
{
	__u32 value = 7;

	CHECK_EQ(emit(fd, event->write_index, &value, sizeof(value)), 8);
}

static int counter_open(const char *group, const char *event)
{
	return CHECK_OK(perf_open_id(file_number(path_of(group, event, "id")), -1, 0));
}

static __u64 counter_read(int counter)
{
	__u64 count;

	CHECK_EQ(read(counter, &count, sizeof(count)), sizeof(count));
	return count;
}

static bool has_perf(void)
{
	return !access("/proc/sys/kernel/perf_event_paranoid", F_OK);
}

TEST(bad_requests)
{
	static const char *const same[] = { "a.b", "a_b", "a", "a-b.c", "a-b-" };
	struct eventlog_instance_create request;
	unsigned int i;
	int fd, ab;
	__u32 id;

	load_traced("");
	fd = device_open();
	request = create_request("a-b");
	request.flags = EVENTLOG_INSTANCE_TRACE << 1;
	CHECK_ERRNO(try_create(fd, &request), EINVAL);
	request.flags = 0;
	request.limits_set = 1 << EVENTLOG_QUOTA_TRACE_BYTES;
	request.limits[EVENTLOG_QUOTA_TRACE_BYTES] = 1;
	CHECK_ERRNO(try_create(fd, &request), EINVAL);

	/* Names whose groups could be the same. */
	ab = create_traced("a-b", &id);
	for (i = 0; i < ARRAY_SIZE(same); i++) {
		test_note("name '%s'", same[i]);
		request = create_request(same[i]);
		request.flags = EVENTLOG_INSTANCE_TRACE;
		CHECK_ERRNO(try_create(fd, &request), EEXIST);
	}
	/* One without trace events has no groups. */
	close(create("a_b", NULL));
	close(create_traced("ab", NULL));
	close(create_traced("a-bc", NULL));
	close(ab);
	CHECK_OK(try_delete_instance(fd, id));
	close(create_traced("a.b", NULL));
	close(fd);

	load("trace_events_max=0");
	fd = device_open();
	request = create_request("none");
	request.flags = EVENTLOG_INSTANCE_TRACE;
	CHECK_ERRNO(try_create(fd, &request), EOPNOTSUPP);
	close(fd);
	load("");
}

/* Only an instance that asks for them has trace events. */
TEST(groups)
{
	static const char group[] = "eventlog_web_1_user";
	char name[EVENTLOG_INSTANCE_NAME_MAX], provider[EVENTLOG_NAME_MAX], longest[256];
	struct eventlog_register event;
	int traced, untraced;
	__u32 value = 0;
	unsigned int count = 0;
	struct dirent *entry;
	DIR *directory;

	load_traced("");
	traced = create_traced("web-1", NULL);
	untraced = create("other", NULL);
	register_event(untraced, "same u32 value");
	event = register_event(traced, "same u32 value");
	WAIT_FOR(made(group, "same"));
	CHECK(!made("eventlog_other_user", "same"));
	CHECK(!made(trace_group(), "same"));
	register_of(traced, "a b", "spaced u32 value");
	WAIT_FOR(made("eventlog_web_1_a_b", "spaced"));

	/* ftrace enables the event. */
	CHECK_ERRNO(emit(traced, event.write_index, &value, sizeof(value)), EBADF);
	CHECK_OK(file_write(path_of(group, "same", "enable"), "1"));
	emit_value(traced, &event);
	CHECK_OK(file_write(path_of(group, "same", "enable"), "0"));
	CHECK_ERRNO(emit(traced, event.write_index, &value, sizeof(value)), EBADF);

	/* The longest names. */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(provider, 'p', sizeof(provider) - 1);
	provider[sizeof(provider) - 1] = '\0';
	close(untraced);
	untraced = create_traced(name, NULL);
	register_of(untraced, provider, "long u32 value");
	snprintf(longest, sizeof(longest), "eventlog_%s_ppp", name);
	WAIT_FOR(({
		directory = opendir(TRACE_EVENTS);
		CHECK(directory);
		for (count = 0; (entry = readdir(directory));)
			count += !strncmp(entry->d_name, longest, strlen(longest));
		closedir(directory);
		count;
	}));
	CHECK_EQ(count, 1);
	close(untraced);
	close(traced);
	await_end(group, "same");
	load("");
}

/* A provider of the root has the same group: each event still has a name of its own. */
TEST(group_of_the_root)
{
	static const char group[] = "eventlog_web_c";
	struct eventlog_register events[2];
	char second[64];
	int fds[2], counters[2], i;

	load_traced("");
	if (!has_perf())
		SKIP("this kernel lacks perf");
	cpu_pin(0);
	fds[0] = device_open();
	events[0] = register_of(fds[0], "web_c", "same u32 value");
	WAIT_FOR(made(group, "same"));
	fds[1] = create_traced("web", NULL);
	events[1] = register_of(fds[1], "c", "same u32 value");
	snprintf(second, sizeof(second), "same.%x", events[1].descriptor);
	WAIT_FOR(made(group, second));
	counters[0] = counter_open(group, "same");
	counters[1] = counter_open(group, second);
	emit_value(fds[0], &events[0]);
	for (i = 0; i < 3; i++)
		emit_value(fds[1], &events[1]);
	CHECK_EQ(counter_read(counters[0]), 1);
	CHECK_EQ(counter_read(counters[1]), 3);
	for (i = 0; i < 2; i++) {
		close(counters[i]);
		close(fds[i]);
	}
	load("");
}

/* Events beyond the instance's limit get no trace event, and take none from the root. */
TEST(limit)
{
	struct eventlog_instance_create request = create_request("few");
	static const char group[] = "eventlog_few_user";
	struct eventlog_register first;
	int fd, root;
	__u64 bytes;
	__u32 id;

	load_traced("");
	CHECK(trace_events_exist());
	request.flags = EVENTLOG_INSTANCE_TRACE;
	/* What two events take. */
	fd = create_with(&request, &id);
	register_event(fd, "one u32 value");
	register_event(fd, "two u32 value");
	bytes = quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use;
	CHECK(bytes);
	close(fd);
	delete_instance(id);
	load("");
	request.limits_set = 1 << EVENTLOG_QUOTA_TRACE_BYTES;
	request.limits[EVENTLOG_QUOTA_TRACE_BYTES] = bytes;
	fd = create_with(&request, NULL);
	first = register_event(fd, "one u32 value");
	register_event(fd, "two u32 value");
	register_event(fd, "three u32 value");
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, bytes);
	CHECK_EQ(status_now("Not in tracefs: "), -1);
	root = device_open();
	register_event(root, "of_root u32 value");
	WAIT_FOR(made(trace_group(), "of_root"));
	WAIT_FOR(made(group, "one") && made(group, "two"));
	CHECK(!made(group, "three"));
	CHECK_OK(try_unregister(fd, first.write_index));
	if (trace_events_stay()) {
		/* It stays for the definition, and counts. */
		await_end(group, "one");
		CHECK_EQ(quota(fd, EVENTLOG_QUOTA_TRACE_BYTES).use, bytes);
		CHECK(!made(group, "three"));
	} else {
		WAIT_FOR(made(group, "three"));
		CHECK(!made(group, "one"));
	}
	close(root);
	close(fd);
	load("");
}

/* Deletion does not wait for tracers.  What is attached stays until it is detached. */
TEST(deletion)
{
	static const char group[] = "eventlog_doomed_user";
	struct eventlog_register events[3], of_root;
	int fd, root, enable, counter = -1;
	__u32 id, value = 0;

	load_traced("");
	cpu_pin(0);
	root = device_open();
	of_root = register_event(root, "of_root u32 value");
	WAIT_FOR(made(trace_group(), "of_root"));
	fd = create_traced("doomed", &id);
	events[0] = register_event(fd, "recorded u32 value");
	events[1] = register_event(fd, "counted u32 value");
	events[2] = register_event(fd, "ended u32 value");
	WAIT_FOR(made(group, "recorded") && made(group, "counted") && made(group, "ended"));
	enable = CHECK_OK(open(path_of(group, "recorded", "enable"), O_RDWR));
	CHECK_EQ(write(enable, "1", 1), 1);
	if (has_perf())
		counter = counter_open(group, "counted");
	CHECK_OK(try_unregister(fd, events[2].write_index));
	emit_value(fd, &events[0]);
	if (has_perf())
		emit_value(fd, &events[1]);

	CHECK_OK(try_delete_instance(root, id));
	CHECK_ERRNO(emit(fd, events[0].write_index, &value, sizeof(value)), ENODEV);
	close(fd);
	/* Nothing uses this one. */
	await_end(group, "ended");
	CHECK(made(group, "recorded"));
	CHECK_EQ(try_unload(), -1);
	CHECK_EQ(write(enable, "0", 1), 1);
	CHECK_OK(lseek(enable, 0, SEEK_SET));
	CHECK_EQ(write(enable, "1", 1), 1);
	CHECK_EQ(write(enable, "0", 1), 1);
	close(enable);
	await_end(group, "recorded");
	if (has_perf()) {
		CHECK(made(group, "counted"));
		CHECK_EQ(counter_read(counter), 1);
		close(counter);
	}
	await_end(group, "counted");

	/* Nothing of the root has changed. */
	CHECK(made(trace_group(), "of_root"));
	CHECK_OK(file_write(path_of(trace_group(), "of_root", "enable"), "1"));
	emit_value(root, &of_root);
	CHECK_OK(file_write(path_of(trace_group(), "of_root", "enable"), "0"));
	close(root);
	load("");
}

/* A container starts again, with a new instance of the same name, while it is traced. */
TEST(new_instance_of_the_same_name)
{
	static const char group[] = "eventlog_again_user";
	struct eventlog_register event;
	int fd, counter, round;
	__u32 id;

	load_traced("");
	if (!has_perf())
		SKIP("this kernel lacks perf");
	cpu_pin(0);
	fd = create_traced("again", &id);
	event = register_event(fd, "traced u32 value");
	WAIT_FOR(made(group, "traced"));
	counter = counter_open(group, "traced");
	for (round = 1; round <= 3; round++) {
		emit_value(fd, &event);
		CHECK_EQ(counter_read(counter), round);
		close(fd);
		delete_instance(id);
		fd = create_traced("again", &id);
		event = register_event(fd, "traced u32 value");
	}
	close(counter);
	CHECK(made(group, "traced"));
	delete_instance(id);
	close(fd);
	await_end(group, "traced");
	load("");
}

static bool stop;

/* Switches all events of the instances on and off. */
static void *switch_events(void *unused)
{
	static const char *const settings[] = {
		"eventlog_churn_user:*\n", "!eventlog_churn_user:*\n",
	};
	unsigned int i = 0;

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* There may be no such events. */
		(void)file_write(TRACEFS "/set_event", settings[i++ % 2]);
		(void)file_number(TRACE_EVENTS "/eventlog_churn_user/event_1/id");
	}
	return NULL;
}

/* Emits to the instance, whatever happens to it. */
static void *use_instance(void *argument)
{
	int fd = *(int *)argument;
	unsigned int i, number;
	__u32 value = 0;

	for (i = 0; i < 50; i++) {
		struct eventlog_register request;
		char command[32];

		number = i % 4;
		sprintf(command, "event_%u u32 value", number);
		request = register_request(command);
		if (ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
			CHECK_EQ(errno, ENODEV);
			break;
		}
		/* EBADF: nothing listens. */
		if (emit(fd, request.write_index, &value, sizeof(value)) < 0)
			CHECK(errno == EBADF || errno == ENODEV);
		if (i % 8 == 7)
			CHECK_OK(try_unregister(fd, request.write_index));
	}
	return NULL;
}

/* Instances are deleted while ftrace attaches to their events and detaches from them. */
TEST(deletion_while_tracers_change)
{
	pthread_t switcher, users[2];
	unsigned int round, i;
	__u32 id;
	int fd;

	load_traced("");
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	CHECK_EQ(pthread_create(&switcher, NULL, switch_events, NULL), 0);
	for (round = 0; round < 30; round++) {
		fd = create_traced("churn", &id);
		for (i = 0; i < ARRAY_SIZE(users); i++)
			CHECK_EQ(pthread_create(&users[i], NULL, use_instance, &fd), 0);
		if (round % 2)
			WAIT_FOR(made("eventlog_churn_user", "event_3"));
		delete_instance(id);
		for (i = 0; i < ARRAY_SIZE(users); i++)
			CHECK_EQ(pthread_join(users[i], NULL), 0);
		close(fd);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	CHECK_EQ(pthread_join(switcher, NULL), 0);
	(void)file_write(TRACEFS "/set_event", "!eventlog_churn_user:*\n");
	if (!trace_events_stay())
		WAIT_FOR(access(TRACE_EVENTS "/eventlog_churn_user", F_OK));
	load("");
}

/* ---- an owner who keeps the lock of an instance busy ---- */

#define PARAMETERS "/sys/module/eventlog/parameters"
#define SCHED_SWITCH TRACE_EVENTS "/sched/sched_switch/enable"

/* Has a process hold the lock of an event's domain until it is killed. */
static pid_t hold_lock(const struct eventlog_register *event)
{
	char text[16];
	pid_t child = test_fork();

	if (!child) {
		sprintf(text, "%u", event->descriptor);
		file_write(PARAMETERS "/hold", text);
		_exit(1);
	}
	WAIT_FOR(file_number(PARAMETERS "/hold") == 1);
	return child;
}

static void release_lock(pid_t child)
{
	CHECK_OK(kill(child, SIGKILL));
	test_join_signal(child, SIGKILL);
}

static bool is_enabled(int fd, const struct eventlog_register *event)
{
	__u32 value = 7;

	return emit(fd, event->write_index, &value, sizeof(value)) > 0;
}

/*
 * While the lock of an instance, or of the root, is held, tracers attach and detach, and all
 * of tracing goes on.  The event follows when the lock is free.
 */
TEST(held_lock)
{
	const char *const groups[] = { "eventlog_held_user", trace_group() };
	static const char *const settings[] = { "1", "0" };
	struct eventlog_register events[2];
	int fds[2], i, j;
	pid_t child;
	__u32 id;

	load_traced("");
	steps_need();
	fds[0] = create_traced("held", &id);
	fds[1] = device_open();
	for (i = 0; i < 2; i++) {
		events[i] = register_event(fds[i], "same u32 value");
		WAIT_FOR(made(groups[i], "same"));
	}
	steps_reset();
	for (i = 0; i < 2; i++) {
		for (j = 0; j < 2; j++) {
			test_note("%s, %s", groups[i], settings[j]);
			child = hold_lock(&events[i]);
			CHECK_OK(file_write(path_of(groups[i], "same", "enable"), settings[j]));
			CHECK_OK(file_write(SCHED_SWITCH, settings[j]));
			/* The other event log is not affected. */
			CHECK_OK(file_write(path_of(groups[!i], "same", "enable"), settings[j]));
			CHECK_EQ(is_enabled(fds[!i], &events[!i]), !j);
			CHECK_EQ(is_enabled(fds[i], &events[i]), j);
			CHECK_EQ(file_number(PARAMETERS "/hold"), 1);
			release_lock(child);
			WAIT_FOR(is_enabled(fds[i], &events[i]) == !j);
			CHECK_OK(file_write(path_of(groups[!i], "same", "enable"), "0"));
		}
	}
	CHECK(steps_most(STEPS_EVENT_MUTEX) <= 16);

	/* The instance is deleted, and the module unloaded, with a change that is left to do. */
	child = hold_lock(&events[0]);
	CHECK_OK(file_write(path_of(groups[0], "same", "enable"), "1"));
	release_lock(child);
	close(fds[0]);
	delete_instance(id);
	CHECK_OK(file_write(path_of(groups[0], "same", "enable"), "0"));
	close(fds[1]);
	load("");
}

/* Adds a rule in a process that waits for a lock. */
static pid_t wait_for_rule(const struct consumer *consumer)
{
	pid_t child = test_fork();

	if (!child) {
		rule_add(consumer->fd, "locked", "*");
		_exit(0);
	}
	WAIT_FOR(thread_state(child) == 'D');
	return child;
}

/* A process that waits for another one to add its rule can be killed. */
TEST(waiting_for_a_rule_can_be_killed)
{
	struct consumer consumers[2];
	struct eventlog_register event;
	pid_t holder, children[2];
	int device, i;

	load_traced("");
	steps_need();
	device = device_open();
	event = register_event(device, "locked u32 a");
	for (i = 0; i < 2; i++)
		consumer_open(&consumers[i], 1 << 16);
	holder = hold_lock(&event);
	for (i = 0; i < 2; i++)
		children[i] = wait_for_rule(&consumers[i]);
	CHECK_OK(kill(children[1], SIGKILL));
	test_join_signal(children[1], SIGKILL);
	CHECK_EQ(file_number(PARAMETERS "/hold"), 1);
	release_lock(holder);
	test_join(children[0]);
	for (i = 0; i < 2; i++)
		consumer_close(&consumers[i]);
	close(device);
}

#define BUSY_EVENTS 16
#define BUSY_SUBSCRIBERS 4

/*
 * The most steps under event_mutex, and under the lock that its holders wait for, while root
 * traces the events of an instance whose owner has so many rules per subscriber.  The
 * patterns take long to match.
 */
static unsigned long steps_with_rules(unsigned int rules)
{
	struct eventlog_subscribe request = { .size = sizeof(request) };
	struct eventlog_rule rule = { .size = sizeof(rule) };
	char pattern[200], command[250];
	int fds[BUSY_SUBSCRIBERS], fd, i;
	unsigned long most;
	unsigned int j;
	__u32 id;

	memset(pattern, 'a', sizeof(pattern) - 1);
	pattern[sizeof(pattern) - 1] = '\0';
	pattern[0] = '*';
	pattern[100] = 'b';
	rule.event = PTR(pattern);
	fd = create_traced("busy", &id);
	for (i = 0; i < BUSY_SUBSCRIBERS; i++) {
		fds[i] = open_instance(fd);
		CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		for (j = 0; j < rules; j++)
			CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_RULE_ADD, &rule));
	}
	for (i = 0; i < BUSY_EVENTS; i++) {
		memset(command, 'a', 200);
		sprintf(command + 200, "%d u32 value", i);
		register_event(fd, command);
	}
	snprintf(command + 200, 50, "%d", BUSY_EVENTS - 1);
	WAIT_FOR(made("eventlog_busy_user", command));
	steps_reset();
	CHECK_OK(file_write(SCHED_SWITCH, "1"));
	CHECK_OK(file_write(TRACE_EVENTS "/eventlog_busy_user/enable", "1"));
	CHECK_OK(file_write(SCHED_SWITCH, "0"));
	CHECK_OK(file_write(TRACE_EVENTS "/eventlog_busy_user/enable", "0"));
	most = steps_most(STEPS_EVENT_MUTEX) + steps_most(STEPS_TRACES);
	for (i = 0; i < BUSY_SUBSCRIBERS; i++)
		close(fds[i]);
	close(fd);
	delete_instance(id);
	return most;
}

TEST(rules_of_an_owner)
{
	unsigned long most;

	load_traced("");
	steps_need();
	most = steps_with_rules(0);
	CHECK(most);
	CHECK_EQ(steps_with_rules(20), most);
	load("");
}

/* The module can be unloaded with an instance that has trace events. */
TEST(unload)
{
	int fd;

	load_traced("");
	fd = create_traced("left", NULL);
	register_event(fd, "some u32 value");
	WAIT_FOR(made("eventlog_left_user", "some"));
	close(fd);
	CHECK_OK(try_unload());
	CHECK_ERRNO(access(TRACE_EVENTS "/eventlog_left_user", F_OK), ENOENT);
	CHECK_OK(try_load(""));
}
