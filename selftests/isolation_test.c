// SPDX-License-Identifier: GPL-2.0-only
/*
 * One tenant must not stop another: the owner of an instance, a user without rights, adds as
 * many rules, events and policies as are allowed, whose globs take as long as possible.  The
 * tests count the steps during one hold of domain->lock, and the memory that is charged.
 * They need a module that was built with EVENTLOG_TEST_MODULE=1.
 *
 * What meets what:
 *
 *	rules		filters (held_memory, retained_definitions, rules_times_events),
 *			the memory of others (rules_are_charged_to_their_subscriber),
 *			conditions (conditions_come_back), events that end and come back
 *			(rules_of_an_event_that_comes_back), SIGKILL (killed_while_adding,
 *			killed_while_waiting)
 *	events		SIGKILL (killed_while_registering)
 *	policies	rules on the same events (longest_hold), SIGKILL (killed_while_adding,
 *			killed_while_waiting)
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_common.h"
#include "filter_common.h"
#include "instance_common.h"
#include "module_common.h"
#include "steps_common.h"

#define DEVICE "/dev/eventlog-tenant"
#define PROVIDER "markers_tenant"

/* See EVENTLOG_BATCH_STEPS, and the longest element, which has 64 subscribers and 256 rules. */
#define STEPS_MAX 4096

/* The most rules of a subscriber. */
#define RULES 256

static __u32 tenant_id;

/* Makes an instance that the user owns, and whose rate of new definitions is not limited. */
static void tenant_make(void)
{
	struct eventlog_instance_create request = create_request("tenant");

	load_open("");
	request.owner = USER;
	request.mode = 0666;
	request.limits_set = 1U << EVENTLOG_QUOTA_DEFINITIONS;
	request.limits[EVENTLOG_QUOTA_DEFINITIONS] = 1 << 20;
	close(create_with(&request, &tenant_id));
}

static void tenant_remove(void)
{
	delete_instance(tenant_id);
}

/* A file that the owner has opened. */
static int tenant_open(void)
{
	int fd;

	CHECK_OK(seteuid(USER));
	fd = CHECK_OK(open(DEVICE, O_RDWR));
	CHECK_OK(seteuid(0));
	return fd;
}

static int tenant_subscribe(__u64 ring_bytes)
{
	struct eventlog_subscribe request = subscribe_request(ring_bytes);
	int fd = tenant_open();

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request));
	return fd;
}

/* ------------------------------------------------------------------------
 * Steps
 */
/* Something took at least @least steps, and no hold was longer than the limit. */
#define CHECK_STEPS(what, least)					\
	do {								\
		long most = steps_most(STEPS_DOMAIN);			\
									\
		printf("# %s: %ld steps\n", what, most);		\
		CHECK(most >= (least));					\
		CHECK(most <= STEPS_MAX);				\
	} while (0)

/* ------------------------------------------------------------------------
 * Globs, rules and events
 */

/* A name of the greatest length, which begins with many equal characters. */
static const char *long_name(unsigned int number)
{
	static char name[EVENTLOG_NAME_MAX];

	memset(name, 'a', sizeof(name) - 1);
	snprintf(name + 240, sizeof(name) - 240, "b%u", number);
	return name;
}

/* A glob that is compared for long with such a name, and matches it or not. */
static const char *long_glob(bool matches)
{
	static char glob[160];

	memset(glob, 'a', sizeof(glob));
	glob[0] = '*';
	strcpy(glob + 120, matches ? "b*" : "c");
	return glob;
}

static int try_register_event(int fd, const char *name)
{
	struct eventlog_register request;
	char command[EVENTLOG_NAME_MAX + 8];

	snprintf(command, sizeof(command), "%s u32 x", name);
	request = register_request(command);
	request.provider = PTR(PROVIDER);
	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

static void register_long(int fd, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		CHECK_OK(try_register_event(fd, long_name(first + i)));
}

static int try_rule(int fd, const char *event, __u64 filter, __u32 *id)
{
	struct eventlog_rule request = rule_request(NULL, event);
	int ret;

	request.filter = filter;
	ret = ioctl(fd, EVENTLOG_IOC_RULE_ADD, &request);
	if (id)
		*id = request.rule_id;
	return ret;
}

/* A filter that no event passes, with as many terms as this. */
static __u64 filter_make(struct filter *filter, unsigned int count)
{
	struct filter_term terms[EVENTLOG_TERMS_MAX] = {};
	unsigned int i;

	for (i = 0; i < count; i++)
		terms[i] = (struct filter_term){
			.name = "x", .flags = EVENTLOG_TERM_NUMBER,
			.operation = EVENTLOG_TERM_OP_EQUAL, .number = 1ULL << 40,
			.on_true = i + 1 < count ? i + 1 : EVENTLOG_FILTER_ACCEPT,
			.on_false = EVENTLOG_FILTER_REJECT,
		};
	return filter_fill(filter, terms, count, NULL);
}

static int try_policy(int fd, const char *marker)
{
	struct eventlog_marker_set request = {
		.size = sizeof(request), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.operation = EVENTLOG_MARKER_OP_ADD,
		.handlers = EVENTLOG_MARKER_PRINT, .marker = PTR(marker),
	};

	return ioctl(fd, EVENTLOG_IOC_MARKER_SET, &request);
}

#define EVENTS 3000

TEST(longest_hold)
{
	int subscribers[8], last, producer, kept, i;
	__u32 id;

	tenant_make();
	producer = tenant_open();
	for (i = 0; i < 8; i++)
		subscribers[i] = tenant_subscribe(i % 2 ? 1 << 13 : 0);
	register_long(producer, 0, EVENTS);

	steps_reset();
	CHECK_OK(try_rule(subscribers[0], long_glob(false), 0, NULL));
	CHECK_STEPS("RULE_ADD without a match", 500);
	steps_reset();
	for (i = 0; i < 4; i++)
		CHECK_OK(try_rule(subscribers[i], long_glob(true), 0, NULL));
	CHECK_STEPS("RULE_ADD", 500);
	steps_reset();
	CHECK_OK(try_policy(subscribers[0], long_glob(true)));
	CHECK_STEPS("MARKER_SET", 500);

	last = tenant_subscribe(1 << 13);
	CHECK_OK(try_rule(last, NULL, 0, &id));
	steps_reset();
	CHECK_OK(try_rule_delete(last, id));
	CHECK_STEPS("RULE_DEL", 500);

	CHECK_OK(try_rule(last, NULL, 0, NULL));
	CHECK_OK(try_rule(last, "a*", 0, NULL));
	steps_reset();
	close(last);
	CHECK_STEPS("close of a subscriber", 500);

	kept = tenant_open();
	register_persistent(kept, PROVIDER, "kept u32 x");
	close(kept);
	steps_reset();
	CHECK_OK(try_delete(producer, PROVIDER, "kept"));
	CHECK_STEPS("DELETE", 500);

	steps_reset();
	close(producer);
	CHECK_STEPS("close of a producer", 1);
	for (i = 0; i < 8; i++)
		close(subscribers[i]);
	tenant_remove();
}

/* The longest names and globs; no rule and no policy matches. */
TEST(no_rule_matches)
{
	int subscribers[2], producer, i, j;

	tenant_make();
	producer = tenant_open();
	for (i = 0; i < 2; i++) {
		subscribers[i] = tenant_subscribe(0);
		for (j = 0; j < RULES; j++)
			CHECK_OK(try_rule(subscribers[i], long_glob(false), 0, NULL));
	}
	for (j = 0; j < 100; j++)
		CHECK_OK(try_policy(producer, long_name(j)));
	steps_reset();
	register_long(producer, 0, 4);
	CHECK_STEPS("REGISTER", 500);
	close(producer);
	for (i = 0; i < 2; i++)
		close(subscribers[i]);
	tenant_remove();
}

/* Many rules match: each event has as many bindings as are allowed. */
TEST(all_rules_match)
{
	int subscribers[8], producer, i, j;

	tenant_make();
	producer = tenant_open();
	for (i = 0; i < 8; i++) {
		subscribers[i] = tenant_subscribe(0);
		for (j = 0; j < RULES; j++)
			CHECK_OK(try_rule(subscribers[i], NULL, 0, NULL));
	}
	steps_reset();
	for (i = 0; i < 8; i++)
		CHECK_OK(try_register_number(producer, "event", i));
	CHECK_STEPS("REGISTER", 500);
	steps_reset();
	CHECK_OK(try_rule_delete(subscribers[0], 1));
	close(subscribers[0]);
	CHECK_STEPS("close of a subscriber", 500);
	steps_reset();
	close(producer);
	CHECK_STEPS("close of a producer", 500);
	for (i = 1; i < 8; i++)
		close(subscribers[i]);
	tenant_remove();
}

/* Ended events are kept until the first subscriber closes; all others have many rules. */
TEST(retained_definitions)
{
	int first, subscribers[4], producer, i, j;
	static struct filter filter;

	tenant_make();
	first = tenant_subscribe(1 << 13);
	CHECK_OK(try_rule(first, NULL, 0, NULL));
	for (i = 0; i < EVENTS / 100; i++) {
		producer = tenant_open();
		for (j = 0; j < 100; j++)
			CHECK_OK(try_register_number(producer, "ended", i * 100 + j));
		close(producer);
	}
	CHECK_EQ(info_of(first).retained, EVENTS);
	for (i = 0; i < 4; i++) {
		subscribers[i] = tenant_subscribe(0);
		for (j = 0; j < RULES; j++)
			CHECK_OK(try_rule(subscribers[i], NULL, filter_make(&filter, 1), NULL));
	}
	steps_reset();
	close(first);
	CHECK_STEPS("close of the first subscriber", 500);
	CHECK_EQ(info_of(subscribers[0]).retained, 0);
	for (i = 0; i < 4; i++)
		close(subscribers[i]);
	tenant_remove();
}

/* ------------------------------------------------------------------------
 * SIGKILL
 */
static int killed_fd;
static bool killed_policy;

static void add_until_killed(void)
{
	if (killed_policy)
		try_policy(killed_fd, long_glob(true));
	else
		try_rule(killed_fd, long_glob(true), 0, NULL);
	_exit(0);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {};

	CHECK_OK(waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT));
	return info.si_pid == child;
}

/* Forks a child that adds a rule or a policy. */
static pid_t fork_adding(void)
{
	pid_t child = test_fork();

	if (!child)
		add_until_killed();
	return child;
}

/* The same, and waits until the child has released the lock for the first time, or has ended. */
static pid_t start_adding(void)
{
	pid_t child;

	killed_fd = tenant_subscribe(0);
	steps_reset();
	child = fork_adding();
	while (!steps_most(STEPS_DOMAIN) && !has_ended(child))
		;
	return child;
}

/* Returns whether a signal has killed the child. */
static bool kill_adding(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	CHECK_EQ(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status);
}

static void remove_policies(void)
{
	struct eventlog_marker_set all = {
		.size = sizeof(all), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.operation = EVENTLOG_MARKER_OP_REMOVE,
		.handlers = EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE,
	};

	if (killed_policy)
		CHECK_OK(ioctl(killed_fd, EVENTLOG_IOC_MARKER_SET, &all));
}

/* Kills a child that adds.  Returns whether it added nothing; the signal may have come too late. */
static bool killed_in_time(void)
{
	const bool killed = kill_adding(start_adding());
	const struct eventlog_info info = info_of(killed_fd);

	remove_policies();
	/* A rule that was not added has no number. */
	if (!killed_policy && !info.enabled)
		CHECK_ERRNO(try_rule_delete(killed_fd, 1), ENOENT);
	close(killed_fd);
	return killed && !info.enabled && !info.policies;
}

/*
 * Kills a child that waits while another one adds.  Returns whether it ended before the other
 * one; that may have been faster.
 */
static bool killed_while_waiting(void)
{
	pid_t first = start_adding(), second = fork_adding();
	bool in_time;

	while (thread_state(second) != 'D' && !has_ended(first) && !has_ended(second))
		;
	in_time = kill_adding(second) && !has_ended(first);
	kill_adding(first);
	if (in_time)
		CHECK(info_of(killed_fd).policies <= killed_policy);
	remove_policies();
	close(killed_fd);
	return in_time;
}

static void kill_until(bool (*in_time)(void))
{
	int producer;

	tenant_make();
	producer = tenant_open();
	register_long(producer, 0, 2 * EVENTS);
	WAIT_FOR(in_time());
	killed_policy = true;
	WAIT_FOR(in_time());
	close(producer);
	tenant_remove();
}

TEST(killed_while_adding)
{
	kill_until(killed_in_time);
}

TEST(killed_while_waiting)
{
	kill_until(killed_while_waiting);
}

/*
 * Kills a child that registers an event, which is compared with all rules before it is made.
 * Returns whether there is none; the signal may have come too late.
 */
static bool killed_while_registering(int fd)
{
	pid_t child;

	steps_reset();
	child = test_fork();
	if (!child) {
		try_register_event(fd, long_name(0));
		_exit(0);
	}
	while (!steps_most(STEPS_DOMAIN) && !has_ended(child))
		;
	return kill_adding(child) && !info_of(fd).events;
}

TEST(killed_while_registering)
{
	int subscribers[16], fd, i, j;
	bool killed;

	tenant_make();
	for (i = 0; i < 16; i++) {
		subscribers[i] = tenant_subscribe(0);
		for (j = 0; j < RULES; j++)
			CHECK_OK(try_rule(subscribers[i], long_glob(false), 0, NULL));
	}
	do {
		fd = tenant_open();
		killed = killed_while_registering(fd);
		close(fd);
	} while (!killed);
	for (i = 0; i < 16; i++)
		close(subscribers[i]);
	tenant_remove();
}

/* ------------------------------------------------------------------------
 * Memory
 */

static __u64 missed(int subscriber)
{
	return stat_all(subscriber).lost[EVENTLOG_LOST_NO_MEMORY];
}

/*
 * Rules with large filters that match many events reach the limit of the instance.  They do not
 * make programs fail: the subscriber misses events, and learns of it.
 */
TEST(rules_times_events)
{
	static struct filter filter;
	int subscriber, producer, i;
	__u32 id, last = 0;
	__u64 misses;

	tenant_make();
	producer = tenant_open();
	for (i = 0; i < 400; i++)
		CHECK_OK(try_register_number(producer, "event", i));
	subscriber = tenant_subscribe(0);
	filter_make(&filter, EVENTLOG_TERMS_MAX);
	for (i = 0; i < RULES; i++) {
		if (try_rule(subscriber, NULL, PTR(&filter.filter), &id))
			break;
		last = id;
	}
	/* The rule that does not fit matches nothing and has no number. */
	CHECK(i > 4 && i < RULES);
	CHECK_ERRNO(try_rule(subscriber, NULL, PTR(&filter.filter), NULL), EDQUOT);
	CHECK_ERRNO(try_rule_delete(subscriber, last + 1), ENOENT);
	/* There is room for about as many events. */
	for (i = 0; !missed(subscriber); i++) {
		CHECK(i < 1000);
		CHECK_OK(try_register_number(producer, "more", i));
	}
	CHECK(i > 200);
	CHECK((int)info_of(producer).enabled >= 400 + i - 1);
	for (i = 0; i < 100; i++)
		CHECK_OK(try_register_number(producer, "missed", i));
	CHECK_OK(try_register_number(producer, "event", 0));
	/* Each event counts once, however many of the rules would have matched it. */
	misses = missed(subscriber);
	CHECK_EQ(misses, 101);
	/* A rule less makes room. */
	CHECK_OK(try_rule_delete(subscriber, last));
	for (i = 0; i < 10; i++)
		CHECK_OK(try_register_number(producer, "late", i));
	CHECK_EQ(missed(subscriber), misses);
	close(subscriber);
	close(producer);
	tenant_remove();
}

#define HELD_SUBSCRIBERS 32
#define HELD_EVENTS 60

static int hold[2], held[2];

/* Makes rules that match all events, and removes some of them again. */
static void hold_memory(void)
{
	int fds[HELD_SUBSCRIBERS], producer, i, j;
	char byte;

	for (i = 0; i < HELD_SUBSCRIBERS; i++) {
		struct eventlog_subscribe request = subscribe_request(0);

		fds[i] = CHECK_OK(open(DEVICE, O_RDWR));
		CHECK_OK(ioctl(fds[i], EVENTLOG_IOC_SUBSCRIBE, &request));
		for (j = 0; j < RULES; j++)
			CHECK_OK(try_rule(fds[i], NULL, 0, NULL));
	}
	producer = CHECK_OK(open(DEVICE, O_RDWR));
	CHECK_EQ(write(held[1], "", 1), 1);
	CHECK_EQ(read(hold[0], &byte, 1), 1);
	for (i = 0; i < HELD_EVENTS; i++)
		CHECK_OK(try_register_number(producer, "held", i));
	for (j = 0; j < 4; j++)
		CHECK_OK(try_rule_delete(fds[j], 1));
	CHECK_EQ(write(held[1], "", 1), 1);
	pause();
}

static long memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	CHECK(kib >= 0);
	fclose(file);
	return kib << 10;
}

/* What the owner of an instance makes the kernel keep is charged to its memory cgroup. */
TEST(held_memory)
{
	long available, current, taken, charged;
	pid_t child;
	char byte;

	/* It keeps memory of its own for each object, and so does KASAN, which comes with it. */
	if (!access("/sys/kernel/debug/kmemleak", F_OK))
		SKIP("kmemleak takes memory that is charged to nobody");
	tenant_make();
	cgroup_make(128 << 20);
	CHECK_OK(pipe(hold));
	CHECK_OK(pipe(held));
	child = test_fork();
	if (!child) {
		cgroup_enter();
		CHECK_OK(setgid(USER));
		CHECK_OK(setuid(USER));
		hold_memory();
		_exit(0);
	}
	CHECK_EQ(read(held[0], &byte, 1), 1);
	available = memory_available();
	current = cgroup_number("memory.current");
	CHECK_EQ(write(hold[1], "", 1), 1);
	CHECK_EQ(read(held[0], &byte, 1), 1);
	taken = available - memory_available();
	charged = cgroup_number("memory.current") - current;
	test_note("%ld KiB taken, %ld KiB charged", taken >> 10, charged >> 10);
	/* Other memory of the system changes by some MiB. */
	CHECK(taken <= charged + charged / 10 + (4 << 20));
	kill(child, SIGKILL);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	cgroup_remove();
	tenant_remove();
}

#define PAID_RULES 128
#define PAID_EVENTS 200

static void register_paid(void)
{
	int producer = CHECK_OK(open(DEVICE, O_RDWR)), i;
	char byte;

	for (i = 0; i < PAID_EVENTS; i++)
		CHECK_OK(try_register_number(producer, "paid", i));
	CHECK_EQ(write(held[1], "", 1), 1);
	CHECK_EQ(read(hold[0], &byte, 1), 1);
	close(producer);
}

/* Who captures pays for what its rules need of an event, not who registers the event. */
TEST(rules_are_charged_to_their_subscriber)
{
	/* A struct eventlog_binding takes at least 64 bytes, and an event less than 4 KiB. */
	const long least = PAID_RULES * PAID_EVENTS * 64L, most = PAID_EVENTS * 4096L;
	int subscriber, i;
	long charged;
	pid_t child;
	char byte;

	tenant_make();
	subscriber = tenant_subscribe(0);
	for (i = 0; i < PAID_RULES; i++)
		CHECK_OK(try_rule(subscriber, NULL, 0, NULL));
	cgroup_make(128 << 20);
	CHECK_OK(pipe(hold));
	CHECK_OK(pipe(held));
	child = test_fork();
	if (!child) {
		cgroup_enter();
		CHECK_OK(setuid(USER));
		register_paid();
		_exit(0);
	}
	CHECK_EQ(read(held[0], &byte, 1), 1);
	charged = cgroup_number("memory.current");
	printf("# %ld KiB charged to the program\n", charged >> 10);
	CHECK_EQ(info_of(subscriber).enabled, PAID_EVENTS);
	CHECK(charged < most && most < least);
	CHECK_EQ(write(hold[1], "", 1), 1);
	test_join(child);
	cgroup_remove();
	close(subscriber);
	tenant_remove();
}

/* ------------------------------------------------------------------------
 * Rules that change
 */

#define SESSIONS 16

struct ruled {
	struct consumer consumer;
	struct eventlog_register event;
	int producer;
	__u32 ids[SESSIONS];	/* of rules for a session; 0: there is none */
	__u32 plain;		/* of a rule without conditions */
};

static __u32 rule_for_session(int fd, __u64 session)
{
	struct eventlog_rule request = rule_request(NULL, NULL);

	request.flags = EVENTLOG_RULE_SESSION;
	request.session = session;
	return rule_add_with(fd, &request);
}

/* Emits an event of each session; those arrive that a rule is for. */
static void ruled_check(struct ruled *ruled)
{
	unsigned int i;
	__u32 x = 0;

	for (i = 0; i < SESSIONS; i++) {
		/* Without any rule the event is disabled. */
		if (emit_session(ruled->producer, ruled->event.write_index, i + 1, &x,
				 sizeof(x)) < 0)
			CHECK_EQ(errno, EBADF);
		CHECK_EQ(consumer_skip(&ruled->consumer), ruled->plain || ruled->ids[i] ? 1 : 0);
	}
}

static void ruled_change(struct ruled *ruled, __u32 *id, __u64 session)
{
	int fd = ruled->consumer.fd;

	if (*id) {
		CHECK_OK(try_rule_delete(fd, *id));
		*id = 0;
	} else {
		*id = session ? rule_for_session(fd, session) : rule_add(fd, NULL, NULL);
	}
}

static void ruled_register(struct ruled *ruled)
{
	ruled->event = register_request("ruled u32 x");
	ruled->event.flags = EVENTLOG_REGISTER_SESSION;
	ruled->producer = device_open();
	register_with(ruled->producer, &ruled->event);
}

static void ruled_close(struct ruled *ruled)
{
	close(ruled->producer);
	consumer_close(&ruled->consumer);
}

/* Adds or removes a rule, for a session or without a condition. */
static void ruled_change_any(struct ruled *ruled, __u64 *state)
{
	unsigned int session = test_random(state) % (SESSIONS + 2);

	if (session < SESSIONS)
		ruled_change(ruled, &ruled->ids[session], session + 1);
	else
		ruled_change(ruled, &ruled->plain, 0);
}

TEST(conditions_come_back)
{
	__u64 state = test_seed();
	struct ruled ruled = {};
	unsigned int i;

	consumer_open(&ruled.consumer, 1 << 16);
	ruled_register(&ruled);
	for (i = 0; i < 120; i++) {
		ruled_change_any(&ruled, &state);
		if (i % 4 == 0)
			ruled_check(&ruled);
	}
	ruled_close(&ruled);
}

/* The event ends and is registered again, with rules that were added and removed meanwhile. */
TEST(rules_of_an_event_that_comes_back)
{
	struct ruled ruled = {};
	unsigned int i;
	__u32 descriptor;

	consumer_open(&ruled.consumer, 1 << 16);
	ruled_register(&ruled);
	descriptor = ruled.event.descriptor;
	for (i = 0; i < SESSIONS; i++) {
		ruled_change(&ruled, &ruled.ids[i], i + 1);
		if (i % 3 == 0)
			ruled_check(&ruled);
		close(ruled.producer);
		if (i % 2)
			ruled_change(&ruled, &ruled.ids[i / 2], i / 2 + 1);
		ruled_register(&ruled);
		CHECK_EQ(ruled.event.descriptor, descriptor);
		ruled_check(&ruled);
	}
	ruled_close(&ruled);
}
