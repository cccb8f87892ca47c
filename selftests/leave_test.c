// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of LEAVE and MISSED: bad requests, what programs and subscribers see while they are asked
 * to leave, and that everything is as before afterwards, however the asker ends.
 *
 * LEAVE meets:	where
 *	events that begin and end, rules	rules_and_events_meanwhile, all_at_once
 *	instances, their creation and deletion	instances_leave
 *	fork(), SIGKILL of the asker		asker_is_killed
 *	programs that do not know it		who_stays_goes_on
 *	producer rings				who_stays_goes_on
 *	handlers of markers			handlers_stay
 *	subscribers that leave and come back	subscribers_return
 *	one that comes back too late		subscriber_is_late
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"

#define RING_BYTES 65536
#define PRODUCERS EVENTLOG_LEAVE_PRODUCERS
#define SUBSCRIBERS EVENTLOG_LEAVE_SUBSCRIBERS
#define IDLE (EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_LEAVE)
#define WANTED (IDLE | EVENTLOG_STATUS_SYNC)

static int try_leave(int fd, __u32 flags)
{
	struct eventlog_leave request = { .size = sizeof(request), .flags = flags };

	return ioctl(fd, EVENTLOG_IOC_LEAVE, &request);
}

static int try_missed(int fd, __u32 write_index, __u32 count, __u32 *subscribers)
{
	struct eventlog_missed request = {
		.size = sizeof(request), .write_index = write_index, .count = count,
		.subscribers = 77,
	};
	int ret = ioctl(fd, EVENTLOG_IOC_MISSED, &request);

	if (!ret)
		*subscribers = request.subscribers;
	return ret;
}

static int try_subscribe(int fd)
{
	struct eventlog_subscribe request = subscribe_request(RING_BYTES);

	return ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request);
}

/* Whether poll() reports POLLRDHUP, to who asks for it. */
static bool is_asked(int fd)
{
	struct pollfd file = { .fd = fd, .events = POLLRDHUP };

	CHECK_OK(poll(&file, 1, 0));
	CHECK_EQ(file.revents & (POLLHUP | POLLERR | POLLNVAL), 0);
	return file.revents & POLLRDHUP;
}

static int shared_fd;

static void without_capability(void)
{
	int fd = device_open();

	CHECK_ERRNO(try_leave(fd, PRODUCERS), EPERM);
	CHECK_ERRNO(try_leave(fd, 0), EPERM);
	/* The rights of the opener count. */
	CHECK_OK(try_leave(shared_fd, PRODUCERS));
	CHECK_OK(try_leave(shared_fd, 0));
}

TEST(bad_requests)
{
	struct eventlog_leave request = { .size = sizeof(request) - 1 };
	int fd = device_open(), other = device_open(), instance;
	struct stat node;
	__u32 id;

	CHECK(info_of(fd).features & EVENTLOG_FEATURE_LEAVE);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LEAVE, &request), EINVAL);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_LEAVE, pages_unmapped()), EFAULT);
	CHECK_ERRNO(try_leave(fd, EVENTLOG_LEAVE_LINGER), EINVAL);
	CHECK_ERRNO(try_leave(fd, 8 | PRODUCERS), EINVAL);
	CHECK_ERRNO(try_leave(fd, ~0U), EINVAL);
	CHECK_OK(stat(EVENTLOG_DEVICE, &node));
	CHECK_OK(chmod(EVENTLOG_DEVICE, 0666));
	shared_fd = fd;
	as_user(USER, without_capability);
	CHECK_OK(chmod(EVENTLOG_DEVICE, node.st_mode & 0777));

	instance = create("leave", &id);
	CHECK_ERRNO(try_leave(instance, PRODUCERS), EPERM);
	CHECK_ERRNO(try_leave(instance, 0), EPERM);
	close(instance);
	delete_instance(id);

	/* One asks at a time, and another one cannot end it. */
	CHECK_OK(try_leave(other, 0));
	CHECK_OK(try_leave(fd, PRODUCERS));
	CHECK_ERRNO(try_leave(other, PRODUCERS), EBUSY);
	CHECK_ERRNO(try_leave(other, 0), EBUSY);
	CHECK_ERRNO(try_register(other, "e"), ESHUTDOWN);
	CHECK_OK(try_leave(fd, PRODUCERS));
	CHECK_OK(try_leave(fd, 0));
	CHECK_OK(try_register(other, "e"));
	CHECK_OK(try_leave(other, PRODUCERS));
	close(other);
	CHECK_OK(try_register(fd, "e"));
	close(fd);
}

TEST(producers_see_it)
{
	struct eventlog_register idle, wanted, later;
	int fd = device_open(), asker = device_open();
	struct consumer consumer;
	struct status_map map;
	__u8 before;

	idle = register_event(fd, "leave_idle u64 x");
	wanted = register_event(fd, "leave_wanted u64 x");
	map = status_map(fd, &idle);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_wanted");
	before = status_get(&map, &wanted);
	CHECK(before & EVENTLOG_STATUS_ENABLED);

	CHECK_OK(try_leave(asker, PRODUCERS));
	CHECK_EQ(status_get(&map, &idle), IDLE);
	CHECK_EQ(status_get(&map, &wanted), WANTED);
	CHECK_ERRNO(try_register(fd, "leave_later u64 x"), ESHUTDOWN);
	CHECK_ERRNO(try_register(fd, "leave_idle u64 x"), ESHUTDOWN);
	/* Subscribers stay, and others may come. */
	CHECK(!is_asked(consumer.fd));
	consumer_close(&consumer);
	CHECK_EQ(status_get(&map, &wanted), IDLE);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_wanted");
	CHECK_EQ(status_get(&map, &wanted), WANTED);

	/* Closing ends it. */
	close(asker);
	CHECK_EQ(status_get(&map, &idle), 0);
	CHECK_EQ(status_get(&map, &wanted), before);
	later = register_event(fd, "leave_later u64 x");
	CHECK_EQ(status_get(&map, &later), 0);
	consumer_close(&consumer);
	CHECK_EQ(status_get(&map, &wanted), 0);
	munmap((void *)map.bytes, map.size);
	close(fd);
}

/* Events that end, and rules that come, while programs are asked to leave. */
TEST(rules_and_events_meanwhile)
{
	int fd = device_open(), asker = device_open();
	struct eventlog_register kept, ends, again;
	struct consumer consumer;
	struct status_map map;

	kept = register_event(fd, "leave_kept u64 x");
	ends = register_event(fd, "leave_ends u64 x");
	map = status_map(fd, &kept);
	CHECK_OK(try_leave(asker, PRODUCERS));
	CHECK_OK(try_unregister(fd, ends.write_index));
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_*");
	CHECK_EQ(status_get(&map, &kept), WANTED);
	/* The slot is free; whoever still looks at it leaves. */
	CHECK_EQ(status_get(&map, &ends), IDLE);
	CHECK_OK(try_leave(asker, 0));
	CHECK_EQ(status_get(&map, &ends), 0);
	CHECK(status_enabled(&map, &kept));
	CHECK_EQ(status_get(&map, &kept) & EVENTLOG_STATUS_LEAVE, 0);
	again = register_event(fd, "leave_again u64 x");
	CHECK_EQ(again.status_offset, ends.status_offset);
	CHECK_EQ(status_get(&map, &again), status_get(&map, &kept));
	consumer_close(&consumer);
	CHECK_EQ(status_get(&map, &again), 0);
	munmap((void *)map.bytes, map.size);
	close(fd);
	close(asker);
}

TEST(subscribers_see_it)
{
	struct pollfd file = { .events = POLLIN | POLLRDHUP };
	int fd = device_open(), asker = device_open();
	struct eventlog_subscribe large;
	struct eventlog_register event;
	struct consumer consumer;
	pid_t child;

	event = register_event(fd, "leave_event u64 x");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_event");
	/* Who sleeps is woken up. */
	file.fd = consumer.fd;
	child = test_fork();
	if (!child) {
		CHECK_EQ(poll(&file, 1, -1), 1);
		CHECK_EQ(file.revents, POLLRDHUP);
		_exit(0);
	}
	WAIT_FOR(thread_sleeps(child));
	CHECK_OK(try_leave(asker, SUBSCRIBERS));
	test_join(child);
	CHECK(is_asked(consumer.fd));
	/* Nothing changes for who does not ask for it. */
	file.events = POLLIN;
	CHECK_EQ(poll(&file, 1, 0), 0);
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	WAIT_FOR(poll(&file, 1, 0) == 1);
	CHECK_EQ(file.revents, POLLIN);
	CHECK_EQ(consumer_skip(&consumer), 1);
	/* Producers may come, subscribers may not. */
	register_event(fd, "leave_other u64 x");
	CHECK_ERRNO(try_subscribe(asker), ESHUTDOWN);
	/* Who waits costs nothing: no rings are made.  There is no memory for these. */
	large = subscribe_request(EVENTLOG_RING_BYTES_MAX);
	CHECK_ERRNO(ioctl(asker, EVENTLOG_IOC_SUBSCRIBE, &large), ESHUTDOWN);
	CHECK_OK(try_leave(asker, 0));
	CHECK(!is_asked(consumer.fd));
	/* The failed call has left no role. */
	CHECK_OK(try_subscribe(asker));
	consumer_close(&consumer);
	close(fd);
	close(asker);
}

/* A subscriber with two rules. */
static void come_back(struct consumer *consumer, int *first_rule)
{
	consumer_open(consumer, RING_BYTES);
	*first_rule = (int)rule_add(consumer->fd, NULL, "leave_a");
	rule_add(consumer->fd, NULL, "leave_b");
}

/* Ways in which the request ends. */
enum way { BY_ASKING, BY_CLOSING, BY_TIME, WAYS };

static void end_request(int *asker, enum way way)
{
	if (way == BY_ASKING) {
		CHECK_OK(try_leave(*asker, 0));
	} else {
		close(*asker);
		if (way == BY_TIME)
			WAIT_FOR((*asker = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC)) >= 0);
		else
			*asker = device_open();
	}
}

/* However the request ends, producers wait until subscribers are back, with all of their rules. */
TEST(subscribers_return)
{
	struct consumer consumers[2];
	struct eventlog_register event;
	int fd, asker, rule;
	__u32 subscribers = 0;
	enum way way;

	for (way = 0; way < WAYS; way++) {
		test_note("way %d", way);
		fd = device_open();
		asker = device_open();
		event = register_event(fd, "leave_a u64 x");
		come_back(&consumers[0], &rule);
		come_back(&consumers[1], &rule);
		CHECK_OK(try_leave(asker, PRODUCERS));
		CHECK_OK(try_unregister(fd, event.write_index));
		CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS |
				   (way == BY_TIME ? EVENTLOG_LEAVE_LINGER : 0)));
		consumer_close(&consumers[0]);
		consumer_close(&consumers[1]);
		end_request(&asker, way);
		CHECK_ERRNO(try_register(fd, "leave_a u64 x"), ESHUTDOWN);
		come_back(&consumers[0], &rule);
		CHECK_ERRNO(try_register(fd, "leave_a u64 x"), ESHUTDOWN);
		/* Another one may ask meanwhile, and change its mind. */
		CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS));
		CHECK_OK(try_leave(asker, 0));
		consumer_open(&consumers[1], RING_BYTES);
		rule_add(consumers[1].fd, NULL, "leave_a");
		CHECK_ERRNO(try_register(fd, "leave_a u64 x"), ESHUTDOWN);
		rule_add(consumers[1].fd, NULL, "leave_b");
		WAIT_FOR(!try_register(fd, "leave_a u64 x"));
		/* They have missed nothing. */
		CHECK_OK(try_missed(consumers[0].fd, 0, 0, &subscribers));
		CHECK_EQ(subscribers, 0);
		CHECK_OK(try_missed(consumers[1].fd, 0, 0, &subscribers));
		CHECK_EQ(subscribers, 0);
		CHECK_EQ(lost_sum(stat_all(consumers[1].fd).lost), 0);
		consumer_close(&consumers[0]);
		consumer_close(&consumers[1]);
		close(asker);
		close(fd);
	}
}

/* Rules of another instance do not stand for those that producers wait for. */
TEST(rules_of_another_instance)
{
	struct eventlog_subscribe request = subscribe_request(RING_BYTES);
	int fd = device_open(), asker = device_open(), other, rule;
	struct consumer consumer, stranger;
	__u32 id;

	other = create("leave_other", &id);
	come_back(&consumer, &rule);
	CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS));
	consumer_close(&consumer);
	CHECK_OK(try_leave(asker, 0));
	consumer_open_file(&stranger, open_instance(other), &request);
	rule_add(stranger.fd, NULL, NULL);
	rule_add(stranger.fd, NULL, NULL);
	/* It is looked at again. */
	CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS));
	CHECK_OK(try_leave(asker, 0));
	CHECK_ERRNO(try_register(fd, "leave_a u64 x"), ESHUTDOWN);
	come_back(&consumer, &rule);
	WAIT_FOR(!try_register(fd, "leave_a u64 x"));
	consumer_close(&consumer);
	consumer_close(&stranger);
	close(other);
	delete_instance(id);
	close(asker);
	close(fd);
}

/* What it has missed is not known, but that it has. */
TEST(subscriber_is_late)
{
	struct consumer in_time, without_rule, with_one, replaces, late;
	int fd = device_open(), asker = device_open(), rule;
	__u32 subscribers = 0, replaced;

	/* Four rules: producers wait for the last one of who is in time. */
	come_back(&in_time, &rule);
	come_back(&late, &rule);
	CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS));
	consumer_close(&in_time);
	consumer_close(&late);
	close(asker);
	consumer_open(&without_rule, RING_BYTES);
	consumer_open(&with_one, RING_BYTES);
	rule_add(with_one.fd, NULL, "leave_a");
	consumer_open(&replaces, RING_BYTES);
	replaced = rule_add(replaces.fd, NULL, "leave_a");
	come_back(&in_time, &rule);
	WAIT_FOR(!try_register(fd, "leave_a u64 x"));
	rule_add(without_rule.fd, NULL, "leave_a");
	rule_add(with_one.fd, NULL, "leave_b");
	CHECK_OK(try_rule_delete(replaces.fd, replaced));
	rule_add(replaces.fd, NULL, "leave_b");
	come_back(&late, &rule);
	CHECK_ERRNO(try_missed(late.fd, 0, 1, &subscribers), EINVAL);
	CHECK_OK(try_missed(in_time.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 0);
	CHECK_OK(try_missed(without_rule.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 1);
	CHECK_OK(try_missed(with_one.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 1);
	CHECK_OK(try_missed(replaces.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 1);
	CHECK_OK(try_missed(late.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 1);
	/* Once. */
	CHECK_OK(try_missed(late.fd, 0, 0, &subscribers));
	CHECK_EQ(subscribers, 0);
	CHECK_EQ(lost_sum(stat_all(in_time.fd).lost), 0);
	CHECK_EQ(stat_all(without_rule.fd).lost[EVENTLOG_LOST_AWAY], 1);
	CHECK_EQ(stat_all(late.fd).lost[EVENTLOG_LOST_AWAY], 1);
	CHECK_EQ(lost_sum(stat_all(late.fd).lost), 1);
	consumer_close(&in_time);
	consumer_close(&without_rule);
	consumer_close(&with_one);
	consumer_close(&replaces);
	consumer_close(&late);
	close(fd);
}

/* A program that knows nothing of LEAVE, with and without a ring. */
TEST(who_stays_goes_on)
{
	int fd = device_open(), asker = device_open();
	struct eventlog_register event, idle;
	struct consumer consumer;
	struct mapped ring;
	unsigned int i;
	__u64 x = 0;

	event = register_event(fd, "leave_event u64 x");
	idle = register_event(fd, "leave_idle u64 x");
	mapped_attach(&ring, fd, mapped_least_bytes());
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_event");
	for (i = 0; i < 3; i++) {
		CHECK_OK(try_leave(asker, i == 1 ? PRODUCERS | SUBSCRIBERS : 0));
		CHECK_OK(emit(fd, event.write_index, &x, sizeof(x)));
		CHECK_ERRNO(emit(fd, idle.write_index, &x, sizeof(x)), EBADF);
		mapped_emit(&ring, event.write_index, &x, sizeof(x));
		mapped_emit(&ring, idle.write_index, &x, sizeof(x));
		CHECK_OK(mapped_kick(&ring));
		CHECK_EQ(consumer_skip(&consumer), 2);
	}
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	consumer_close(&consumer);
	mapped_unmap(&ring);
	close(fd);
	close(asker);
}

TEST(handlers_stay)
{
	struct eventlog_marker_set set = {
		.size = sizeof(set), .flags = EVENTLOG_MARKER_SET_PROGRAMS,
		.handlers = EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE,
		.marker = PTR("leave_marker"),
	};
	const __u8 both = EVENTLOG_STATUS_PRINT | EVENTLOG_STATUS_PROBE;
	int fd = device_open(), asker = device_open();
	struct eventlog_register event;
	struct status_map map;

	event = register_event(fd, "leave_marker u64 x");
	map = status_map(fd, &event);
	if (ioctl(asker, EVENTLOG_IOC_MARKER_SET, &set))
		SKIP("MARKER_SET: %s", strerror(errno));
	CHECK_OK(try_leave(asker, PRODUCERS));
	CHECK_EQ(status_get(&map, &event) & IDLE, IDLE);
	CHECK_EQ(status_get(&map, &event) & both, status_get(&map, &event) & ~IDLE);
	CHECK_OK(try_leave(asker, 0));
	CHECK_EQ(status_get(&map, &event) & ~both, 0);
	munmap((void *)map.bytes, map.size);
	close(fd);
	close(asker);
}

TEST(instances_leave)
{
	struct eventlog_instance_create request = create_request("leave_other");
	int asker = device_open(), fd, kept_fd;
	struct eventlog_register event, kept;
	struct status_map map, kept_map;
	struct consumer consumer;
	__u32 id, kept_id;

	fd = create("leave", &id);
	kept_fd = create("leave_kept", &kept_id);
	event = register_event(fd, "event u64 x");
	kept = register_event(kept_fd, "event u64 x");
	map = status_map(fd, &event);
	kept_map = status_map(kept_fd, &kept);
	consumer_open_file(&consumer, open_instance(kept_fd),
			   &(struct eventlog_subscribe){ .size = sizeof(struct eventlog_subscribe),
							 .ring_bytes = RING_BYTES });
	rule_add(consumer.fd, NULL, NULL);
	CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS));
	CHECK_EQ(status_get(&map, &event), IDLE);
	CHECK_EQ(status_get(&kept_map, &kept), WANTED);
	CHECK(is_asked(consumer.fd));
	CHECK_ERRNO(try_register(fd, "other"), ESHUTDOWN);
	CHECK_ERRNO(try_create(asker, &request), ESHUTDOWN);
	/* One that is deleted meanwhile is dead, and stays so. */
	delete_instance(id);
	CHECK_EQ(status_get(&map, &event), EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC);
	close(asker);
	CHECK_EQ(status_get(&map, &event), EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC);
	CHECK_EQ(status_get(&kept_map, &kept) & EVENTLOG_STATUS_LEAVE, 0);
	CHECK(status_enabled(&kept_map, &kept));
	CHECK(!is_asked(consumer.fd));
	/* The name that was refused can be used. */
	close(create("leave_other", &id));
	delete_instance(id);
	consumer_close(&consumer);
	delete_instance(kept_id);
	munmap((void *)map.bytes, map.size);
	munmap((void *)kept_map.bytes, kept_map.size);
	close(fd);
	close(kept_fd);
}

/* A child has the file of the asker, too: closing it elsewhere ends nothing, killing it does. */
TEST(asker_is_killed)
{
	int fd = device_open(), asker = device_open();
	struct eventlog_register event;
	struct status_map map;
	pid_t child;

	event = register_event(fd, "leave_event u64 x");
	map = status_map(fd, &event);
	child = test_fork();
	if (!child) {
		CHECK_OK(try_leave(asker, PRODUCERS));
		for (;;)
			pause();
	}
	WAIT_FOR(status_get(&map, &event) == IDLE);
	close(asker);
	CHECK_EQ(status_get(&map, &event), IDLE);
	kill(child, SIGKILL);
	test_join_signal(child, SIGKILL);
	CHECK_EQ(status_get(&map, &event), 0);
	munmap((void *)map.bytes, map.size);
	close(fd);
}

/* The request goes on after close(), until another file asks, or a second has passed. */
TEST(it_lingers)
{
	int fd = device_open(), asker, other;
	struct eventlog_register event;
	struct status_map map;
	unsigned int i;

	event = register_event(fd, "leave_event u64 x");
	map = status_map(fd, &event);
	for (i = 0; i < 3; i++) {
		asker = device_open();
		other = device_open();
		CHECK_OK(try_leave(asker, PRODUCERS | EVENTLOG_LEAVE_LINGER));
		close(device_open());
		close(asker);
		CHECK_ERRNO(open(EVENTLOG_DEVICE, O_RDWR), ESHUTDOWN);
		CHECK_EQ(status_get(&map, &event), IDLE);
		CHECK_ERRNO(try_register(fd, "leave_other u64 x"), ESHUTDOWN);
		if (i == 2)
			break;
		CHECK_OK(try_leave(other, i ? PRODUCERS : 0));
		CHECK_EQ(status_get(&map, &event), i ? IDLE : 0);
		close(other);
		CHECK_EQ(status_get(&map, &event), 0);
	}
	WAIT_FOR(status_get(&map, &event) == 0);
	close(other);
	close(device_open());
	CHECK_OK(try_register(fd, "leave_other u64 x"));
	munmap((void *)map.bytes, map.size);
	close(fd);
}

/* No program is back before the module is gone, and the pending request does not outlive it. */
TEST(unload_while_it_lingers)
{
	int asker = device_open();

	if (!module_path())
		SKIP("no EVENTLOG_KO");
	CHECK_OK(try_leave(asker, PRODUCERS | SUBSCRIBERS | EVENTLOG_LEAVE_LINGER));
	CHECK_ERRNO2(try_unload(), EWOULDBLOCK, EBUSY);
	close(asker);
	CHECK_OK(try_unload());
	load("");
	asker = device_open();
	CHECK_OK(try_register(asker, "leave_event u64 x"));
	close(asker);
}

/* Loaded with leaving=1: as if a file had asked producers, until one has done so. */
TEST(load_and_hold)
{
	int fd, asker;

	load("leaving=1");
	fd = device_open();
	CHECK_ERRNO(try_register(fd, "leave_event u64 x"), ESHUTDOWN);
	CHECK_OK(try_subscribe(fd));
	close(fd);
	fd = device_open();
	CHECK_ERRNO(try_register(fd, "leave_event u64 x"), ESHUTDOWN);
	asker = device_open();
	CHECK_OK(try_leave(asker, PRODUCERS));
	close(asker);
	CHECK_OK(try_register(fd, "leave_event u64 x"));
	close(fd);
	load("");
}

TEST(missed)
{
	struct pollfd file = { .events = POLLIN };
	struct eventlog_register event, other;
	struct consumer consumer, second;
	struct eventlog_stat stat;
	int fd = device_open();
	__u32 subscribers = 0;

	CHECK_ERRNO(try_missed(fd, 1, 1, &subscribers), ENOENT);
	event = register_event(fd, "leave_event u64 x");
	other = register_event(fd, "leave_other u64 x");
	CHECK_ERRNO(try_missed(fd, 0, 1, &subscribers), ENOENT);
	CHECK_OK(try_missed(fd, event.write_index, 1, &subscribers));
	CHECK_EQ(subscribers, 0);

	consumer_open(&consumer, RING_BYTES);
	consumer_open(&second, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_event");
	rule_add(second.fd, NULL, "leave_event");
	rule_add(second.fd, NULL, "leave_other");
	CHECK_ERRNO(try_missed(consumer.fd, event.write_index, 1, &subscribers), EBUSY);
	CHECK_OK(try_missed(fd, event.write_index, 0, &subscribers));
	CHECK_EQ(subscribers, 0);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	CHECK_OK(try_missed(fd, event.write_index, 5, &subscribers));
	CHECK_EQ(subscribers, 2);
	CHECK_OK(try_missed(fd, event.write_index, 2, &subscribers));
	CHECK_EQ(subscribers, 2);
	/* The limit is the same in several calls as in one. */
	CHECK_OK(try_missed(fd, other.write_index, INT_MAX - 7, &subscribers));
	CHECK_EQ(subscribers, 1);
	CHECK_OK(try_missed(fd, other.write_index, 3, &subscribers));
	CHECK_EQ(stat_event_lost(second.fd, other.descriptor), INT_MAX - 4);
	CHECK_OK(try_missed(fd, other.write_index, ~0U, &subscribers));
	CHECK_EQ(subscribers, 1);
	CHECK_EQ(stat_event_lost(second.fd, other.descriptor), INT_MAX);
	/* That was more than a registration may count. */
	CHECK_ERRNO(try_missed(fd, other.write_index, 1, &subscribers), ENODATA);
	CHECK_OK(try_missed(fd, other.write_index, 0, &subscribers));
	CHECK_OK(try_missed(fd, event.write_index, 1, &subscribers));
	stat = stat_all(consumer.fd);
	CHECK_EQ(stat.lost[EVENTLOG_LOST_AWAY], 8);
	CHECK_EQ(lost_sum(stat.lost), 8);
	CHECK_EQ(stat_event_lost(consumer.fd, event.descriptor), 8);
	CHECK_EQ(stat_all(second.fd).lost[EVENTLOG_LOST_AWAY], 8 + (__u64)INT_MAX);
	/* It is a loss as any other: readers wake up, and find it before the next record. */
	file.fd = consumer.fd;
	CHECK_EQ(poll(&file, 1, 0), 1);
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	CHECK_EQ(consumer_skip(&consumer), 1);
	CHECK_OK(try_unregister(fd, event.write_index));
	CHECK_ERRNO(try_missed(fd, event.write_index, 1, &subscribers), ENOENT);
	consumer_close(&consumer);
	consumer_close(&second);
	close(fd);
}

/* Only subscribers count that would have got an event of this program. */
TEST(missed_by_rules)
{
	static const struct {
		__u32 flags;
		bool self;
		bool counts;
	} cases[] = {
		{ EVENTLOG_RULE_PID, true, true },
		{ EVENTLOG_RULE_PID, false, false },
		{ EVENTLOG_RULE_SESSION, true, false },
		{ EVENTLOG_RULE_PID | EVENTLOG_RULE_SESSION, true, false },
	};
	struct consumer consumers[ARRAY_SIZE(cases)];
	struct eventlog_register event;
	int fd = device_open();
	__u32 subscribers = 0;
	unsigned int i;

	event = register_event(fd, "leave_event u64 x");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct eventlog_rule rule = rule_request(NULL, "leave_event");

		consumer_open(&consumers[i], RING_BYTES);
		rule.flags = cases[i].flags;
		/* The parent is another process. */
		if (rule.flags & EVENTLOG_RULE_PID)
			rule.pid = cases[i].self ? getpid() : getppid();
		rule_add_with(consumers[i].fd, &rule);
	}
	CHECK_OK(try_missed(fd, event.write_index, 3, &subscribers));
	CHECK_EQ(subscribers, 1);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("rule %u", i);
		CHECK_EQ(lost_sum(stat_all(consumers[i].fd).lost), cases[i].counts ? 3 : 0);
	}
	/* One rule of several is enough. */
	rule_add(consumers[1].fd, NULL, "leave_event");
	CHECK_OK(try_missed(fd, event.write_index, 4, &subscribers));
	CHECK_EQ(subscribers, 2);
	CHECK_EQ(lost_sum(stat_all(consumers[1].fd).lost), 4);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		consumer_close(&consumers[i]);
	close(fd);
}

static bool is_over;

/* Registers and ends events, with and without a listener. */
static void *churn(void *context)
{
	int fd = device_open();
	struct eventlog_register request;
	unsigned int i;

	(void)context;
	for (i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
		request = register_request(i & 1 ? "leave_a u64 x" : "leave_b u64 x");
		if (ioctl(fd, EVENTLOG_IOC_REGISTER, &request)) {
			CHECK_EQ(errno, ESHUTDOWN);
			continue;
		}
		(void)!emit(fd, request.write_index, "12345678", 8);
		CHECK_OK(try_unregister(fd, request.write_index));
	}
	close(fd);
	return NULL;
}

/* Everything at once, then all bytes are as if there had been no LEAVE. */
TEST(all_at_once)
{
	struct eventlog_register events[40], free_slot;
	int fd = device_open(), asker;
	struct consumer consumer;
	struct status_map map;
	pthread_t threads[2];
	char command[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		snprintf(command, sizeof(command), "leave_many_%u u64 x", i);
		events[i] = register_event(fd, command);
	}
	map = status_map(fd, &events[0]);
	is_over = false;
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (i = 0; i < 300; i++) {
		asker = device_open();
		CHECK_OK(try_leave(asker, i % 3 + 1));
		CHECK_OK(try_leave(asker, i % 4 == 3 ? PRODUCERS : 0));
		if (i % 3 == 0) {
			consumer_open(&consumer, RING_BYTES);
			rule_add(consumer.fd, NULL, "leave_*[02468a]");
		}
		close(asker);
		if (i % 3 == 0)
			consumer_close(&consumer);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		CHECK_EQ(status_get(&map, &events[i]), 0);
	free_slot = register_event(fd, "leave_free u64 x");
	CHECK_EQ(status_get(&map, &free_slot), 0);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "leave_*");
	for (i = 1; i < ARRAY_SIZE(events); i++)
		CHECK_EQ(status_get(&map, &events[i]), status_get(&map, &events[0]));
	CHECK(status_enabled(&map, &events[0]));
	consumer_close(&consumer);
	munmap((void *)map.bytes, map.size);
	close(fd);
}
