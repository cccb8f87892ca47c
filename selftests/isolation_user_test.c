// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of isolation: what a user does to producer rings, device files and instances does
 * not keep others waiting.  Counts what the module does during one hold of a lock, or what
 * it delivers, loses and charges; never time.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instance_common.h"
#include "mapped_common.h"
#include "module_common.h"
#include "steps_common.h"

/* As many as the module does at most with the lock of a shard; one is added at an end. */
#define SHARD_STEPS 4096

/* ---- producer rings ---- */

#define FULL_BYTES EVENTLOG_MAPPED_BYTES_MAX
#define FULL_RECORDS (FULL_BYTES / sizeof(struct eventlog_mapped_record))

/* A shard with a busy user: rings full of the shortest records, and a subscriber. */
struct crowd {
	int fd;
	struct eventlog_register event;
	struct mapped rings[3];
	struct consumer consumer;
	unsigned int records;
};

static void crowd_fill(struct crowd *crowd, struct mapped *ring)
{
	struct eventlog_mapped_record record = { .write_index = crowd->event.write_index };

	record.time = mapped_time(ring);
	while (mapped_put(ring, record, NULL, 0))
		crowd->records++;
}

/* The rings are asleep: nothing looks at them, until a call has to. */
static void crowd_open(struct crowd *crowd)
{
	unsigned int i;

	memset(crowd, 0, sizeof(*crowd));
	crowd->fd = device_open();
	crowd->event = register_event(crowd->fd, "crowd");
	mapped_consumer_open(&crowd->consumer, 1 << 16);
	rule_add(crowd->consumer.fd, NULL, "crowd");
	for (i = 0; i < ARRAY_SIZE(crowd->rings); i++) {
		mapped_attach(&crowd->rings[i], crowd->fd, FULL_BYTES);
		crowd_fill(crowd, &crowd->rings[i]);
	}
	steps_reset();
}

/* Everything has arrived or was counted. */
static void crowd_check(struct crowd *crowd)
{
	struct eventlog_stat stat;

	flush(crowd->consumer.fd);
	stat = stat_all(crowd->consumer.fd);
	CHECK_EQ(stat.records + lost_sum(stat.lost), crowd->records);
	CHECK(steps_most(STEPS_SHARD) > SHARD_STEPS / 2);
	CHECK(steps_most(STEPS_SHARD) <= SHARD_STEPS);
}

static void crowd_close(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(crowd->rings); i++)
		if (crowd->rings[i].header)
			mapped_unmap(&crowd->rings[i]);
	consumer_close(&crowd->consumer);
	close(crowd->fd);
}

static void flush_crowd(struct crowd *crowd)
{
	flush(crowd->consumer.fd);
}

static void pause_crowd(struct crowd *crowd)
{
	struct eventlog_pause request = { .size = sizeof(request), .paused = 1 };

	CHECK_OK(ioctl(crowd->consumer.fd, EVENTLOG_IOC_PAUSE, &request));
	request.paused = 0;
	CHECK_OK(ioctl(crowd->consumer.fd, EVENTLOG_IOC_PAUSE, &request));
}

static void rules_crowd(struct crowd *crowd)
{
	struct eventlog_rule_delete request = { .size = sizeof(request) };

	request.rule_id = rule_add(crowd->consumer.fd, NULL, "other");
	CHECK_OK(ioctl(crowd->consumer.fd, EVENTLOG_IOC_RULE_DEL, &request));
}

static void unregister_crowd(struct crowd *crowd)
{
	CHECK_OK(try_unregister(crowd->fd, crowd->event.write_index));
}

static void detach_crowd(struct crowd *crowd)
{
	CHECK_OK(try_detach(crowd->fd, crowd->rings[0].attach.ring));
	CHECK_OK(try_detach(crowd->fd, crowd->rings[1].attach.ring));
}

static void close_crowd(struct crowd *crowd)
{
	struct mapped *ring;

	for (ring = crowd->rings; ring < crowd->rings + ARRAY_SIZE(crowd->rings); ring++)
		mapped_unmap(ring);
	close(crowd->fd);
	crowd->fd = device_open();
}

TEST(shards_are_not_held_long)
{
	void (*const calls[])(struct crowd *crowd) = {
		flush_crowd, pause_crowd, rules_crowd, unregister_crowd, detach_crowd,
		close_crowd,
	};
	struct crowd crowd;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		test_note("call %u", i);
		crowd_open(&crowd);
		calls[i](&crowd);
		crowd_check(&crowd);
		crowd_close(&crowd);
	}
}

/* With mmap_lock, munmap() delivers neither the records of others nor its own. */
TEST(munmap_delivers_nothing_itself)
{
	struct crowd crowd;
	unsigned int i;

	crowd_open(&crowd);
	for (i = 0; i < ARRAY_SIZE(crowd.rings); i++)
		mapped_unmap(&crowd.rings[i]);
	CHECK_EQ(steps_most(STEPS_MMAP), 0);
	crowd_check(&crowd);
	crowd_close(&crowd);
}

/* A thread with as many rings as it can have, of a file of its own. */
struct ringed {
	pthread_t thread;
	pthread_barrier_t *barrier;
	unsigned int count;
};

static void *attach_rings(void *argument)
{
	struct ringed *ringed = argument;
	struct eventlog_attach attach;
	int fd = device_open();

	register_event(fd, "many");
	for (ringed->count = 0; ringed->count < EVENTLOG_MAPPED_RINGS_MAX; ringed->count++) {
		attach = attach_request(mapped_least_bytes());
		if (ioctl(fd, EVENTLOG_IOC_ATTACH, &attach)) {
			CHECK_EQ(errno, ENOMEM);
			break;
		}
	}
	pthread_barrier_wait(ringed->barrier);
	pthread_barrier_wait(ringed->barrier);
	close(fd);
	return NULL;
}

/* Rings without records cost a step each. */
TEST(many_rings_are_looked_at_in_parts)
{
	enum { THREADS = 3 * SHARD_STEPS / EVENTLOG_MAPPED_RINGS_MAX + 1 };
	struct ringed ringed[THREADS] = { 0 };
	pthread_barrier_t barrier;
	struct consumer consumer;
	unsigned int count = 0, i;
	bool enough;

	load("ring_memory_max=536870912");
	mapped_consumer_open(&consumer, 1 << 16);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		ringed[i].barrier = &barrier;
		CHECK_EQ(pthread_create(&ringed[i].thread, NULL, attach_rings, &ringed[i]), 0);
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < THREADS; i++)
		count += ringed[i].count;
	test_print("%u rings", count);
	enough = count >= 2 * SHARD_STEPS + 1000;
	steps_reset();
	flush(consumer.fd);
	if (enough) {
		CHECK(steps_most(STEPS_SHARD) > SHARD_STEPS / 2);
		CHECK(steps_most(STEPS_SHARD) <= SHARD_STEPS);
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(ringed[i].thread, NULL), 0);
	CHECK(steps_most(STEPS_SHARD) <= SHARD_STEPS);
	consumer_close(&consumer);
	if (!enough)
		SKIP("too little memory for so many rings");
}

/* What a program does by itself looks at its own rings, however many others there are. */
TEST(rings_of_others_cost_nothing)
{
	const unsigned int others = 200 * 8, few = 16;
	struct eventlog_mapped_record record = { 0 };
	struct eventlog_attach attach;
	struct eventlog_register event;
	struct consumer consumer;
	struct mapped ring, next;
	int fd = device_open(), other = device_open();
	unsigned int i;

	register_event(other, "other");
	mapped_consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "own");
	/* In all shards. */
	for (i = 0; i < others; i++) {
		attach = attach_request(mapped_least_bytes());
		CHECK_OK(ioctl(other, EVENTLOG_IOC_ATTACH, &attach));
	}
	event = register_event(fd, "own");
	mapped_attach(&ring, fd, mapped_least_bytes());
	record.write_index = event.write_index;
	record.time = mapped_time(&ring);
	CHECK(mapped_put(&ring, record, NULL, 0));
	steps_reset();
	mapped_unmap(&ring);
	/* Waits for the ring that was unmapped. */
	mapped_attach(&next, fd, mapped_least_bytes());
	record.time = mapped_time(&next);
	CHECK(mapped_put(&next, record, NULL, 0));
	CHECK_OK(try_unregister(fd, event.write_index));
	CHECK(mapped_taken(&next));
	CHECK_EQ(consumer_skip(&consumer), 2);
	CHECK_OK(try_detach(fd, next.attach.ring));
	mapped_unmap(&next);
	close(fd);
	test_print("%lu steps", steps_most(STEPS_SHARD));
	CHECK(steps_most(STEPS_SHARD) >= 2);
	CHECK(steps_most(STEPS_SHARD) <= few);
	/* FLUSH must look at all of them. */
	flush(consumer.fd);
	CHECK(steps_most(STEPS_SHARD) > few);
	close(other);
	consumer_close(&consumer);
}

#define LONG_PAYLOAD (EVENTLOG_MAPPED_BYTES_MAX / 16 - sizeof(struct eventlog_mapped_record))

/* Fills rings with records of 64 KiB. */
static void fill_with_long_records(struct mapped *rings, unsigned int count, __u32 write_index)
{
	static const char payload[LONG_PAYLOAD];
	struct eventlog_mapped_record record = { .write_index = write_index };
	unsigned int i;

	for (i = 0; i < count; i++) {
		record.time = mapped_time(&rings[i]);
		while (mapped_put(&rings[i], record, payload, sizeof(payload)))
			;
	}
}

/* The bytes that are copied count, and nothing is copied for no one. */
TEST(long_records_are_delivered_in_parts)
{
	struct eventlog_rule_delete request = { .size = sizeof(request) };
	struct mapped rings[4];
	struct consumer consumer;
	struct eventlog_register event;
	int fd = device_open();
	unsigned int i;

	event = register_event(fd, "long");
	mapped_consumer_open(&consumer, 1 << 22);
	request.rule_id = rule_add(consumer.fd, NULL, "long");
	for (i = 0; i < ARRAY_SIZE(rings); i++)
		mapped_attach(&rings[i], fd, EVENTLOG_MAPPED_BYTES_MAX);
	fill_with_long_records(rings, ARRAY_SIZE(rings), event.write_index);
	steps_reset();
	CHECK_OK(try_detach(fd, rings[0].attach.ring));
	flush(consumer.fd);
	test_print("%lu steps", steps_most(STEPS_SHARD));
	CHECK(steps_most(STEPS_SHARD) > SHARD_STEPS / 2);
	CHECK(steps_most(STEPS_SHARD) <= SHARD_STEPS);
	/* They have no room for a session, or none for their fields: they are not valid. */
	CHECK(consumer_skip(&consumer) + lost_sum(stat_all(consumer.fd).lost) >= 4 * 15);
	CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_RULE_DEL, &request));
	fill_with_long_records(rings + 1, ARRAY_SIZE(rings) - 1, event.write_index);
	steps_reset();
	flush(consumer.fd);
	test_print("%lu steps without a listener", steps_most(STEPS_SHARD));
	CHECK(steps_most(STEPS_SHARD) >= 15);
	CHECK(steps_most(STEPS_SHARD) <= 4 * 20);
	for (i = 0; i < ARRAY_SIZE(rings); i++)
		mapped_unmap(&rings[i]);
	close(fd);
	consumer_close(&consumer);
}

/* The losses of a malformed ring, one for each event that it may be of, cost a step each. */
TEST(losses_of_malformed_rings_are_counted_in_parts)
{
	enum { FILES = 2, EVENTS = 31, RINGS = 512 };
	static struct mapped rings[FILES * RINGS];
	struct mapped *ring = rings;
	struct consumer consumer;
	int fds[FILES], i, j;

	load("ring_memory_max=134217728");
	mapped_consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "*");
	for (i = 0; i < FILES; i++) {
		fds[i] = device_open();
		for (j = 0; j < EVENTS; j++)
			CHECK_OK(try_register_number(fds[i], "malformed", j));
		for (j = 0; j < RINGS; j++, ring++) {
			mapped_attach(ring, fds[i], mapped_least_bytes());
			/* No record has such a size. */
			__atomic_store_n(&ring->header->committed, 4, __ATOMIC_RELEASE);
		}
	}
	steps_reset();
	/* Some end before their losses are counted. */
	for (ring = rings; ring < rings + RINGS / 2; ring++)
		mapped_unmap(ring);
	flush(consumer.fd);
	test_print("%lu steps", steps_most(STEPS_SHARD));
	CHECK(steps_most(STEPS_SHARD) > SHARD_STEPS / 2);
	CHECK(steps_most(STEPS_SHARD) <= SHARD_STEPS);
	CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_ABORTED], FILES * RINGS * EVENTS);
	for (; ring < rings + FILES * RINGS; ring++) {
		CHECK(mapped_ask(ring) & EVENTLOG_MAPPED_ASK_ENDED);
		mapped_unmap(ring);
	}
	for (i = 0; i < FILES; i++)
		close(fds[i]);
	consumer_close(&consumer);
}

/*
 * A thread that stamps all of its records with an old time, and always has a full ring: its
 * records come first, but a pass takes no more of them than there were when it began.
 */
TEST(a_busy_ring_does_not_starve_others)
{
	const unsigned int kicks = 2 * FULL_RECORDS / SHARD_STEPS + 3;
	struct eventlog_mapped_record record = { 0 };
	struct mapped hostile, honest, filler;
	struct consumer consumer;
	struct record received;
	unsigned int i;
	int fd = device_open();
	bool found = false;

	mapped_consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "honest");
	record.write_index = register_event(fd, "hostile").write_index;
	mapped_attach(&hostile, fd, FULL_BYTES);
	record.time = mapped_time(&hostile);
	/* Rings of a user are spread over the shards: the next one shares the first's. */
	for (i = 1; i < consumer.setup.shards; i++)
		mapped_attach(&filler, fd, mapped_least_bytes());
	mapped_attach(&honest, fd, mapped_least_bytes());
	CHECK_EQ(mapped_kick(&hostile), 8);
	CHECK(mapped_put(&honest, (struct eventlog_mapped_record){
		.write_index = register_event(fd, "honest").write_index,
		.time = mapped_time(&honest),
	}, NULL, 0));
	for (i = 0; i < kicks && !mapped_taken(&honest); i++) {
		while (mapped_put(&hostile, record, NULL, 0))
			;
		CHECK_EQ(mapped_kick(&honest), 8);
	}
	CHECK(mapped_taken(&honest));
	while (consumer_next(&consumer, &received))
		found = true;
	CHECK(found);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);
	mapped_unmap(&hostile);
	mapped_unmap(&honest);
	consumer_close(&consumer);
	close(fd);
}

/* Results that cannot be copied out: the ring is not taken over, and no new one is left. */
TEST(attach_changes_nothing_on_error)
{
	struct eventlog_attach *request = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct eventlog_mapped_record record = { 0 };
	struct consumer consumer;
	struct record received;
	struct mapped ring;
	int fd = device_open();
	pid_t thread;

	CHECK(request != MAP_FAILED);
	mapped_consumer_open(&consumer, 1 << 16);
	rule_add(consumer.fd, NULL, "owned");
	record.write_index = register_event(fd, "owned").write_index;
	mapped_attach(&ring, fd, mapped_least_bytes());
	*request = attach_request(mapped_least_bytes());
	CHECK_OK(mprotect(request, page_size(), PROT_READ));
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_ATTACH, request), EFAULT);
	CHECK_ERRNO(try_detach(fd, ring.attach.ring + 1), ENOENT);
	CHECK_OK(mprotect(request, page_size(), PROT_READ | PROT_WRITE));
	request->ring = ring.attach.ring;
	CHECK_OK(mprotect(request, page_size(), PROT_READ));

	/* A child with the same memory, as a thread would be, fails to take it over. */
	thread = vfork();
	if (!thread) {
		if (!ioctl(fd, EVENTLOG_IOC_ATTACH, request) || errno != EFAULT)
			_exit(1);
		_exit(0);
	}
	test_join(thread);
	record.time = mapped_time(&ring);
	CHECK(mapped_put(&ring, record, NULL, 0));
	CHECK_EQ(mapped_kick(&ring), 8);
	consumer_one(&consumer, &received);
	CHECK_EQ(received.header->pid, getpid());
	CHECK_EQ(received.header->tid, thread_id());
	munmap(request, page_size());
	mapped_unmap(&ring);
	consumer_close(&consumer);
	close(fd);
}

/* ---- users that register a definition ---- */

/* Many users register what everyone registers: no one has to search through all of them. */
TEST(users_of_a_definition_are_found_quickly)
{
	const unsigned int users = 4096, depth = 2 * 12 + 2;
	const struct rlimit files = { users + 64, users + 64 };
	char text[4096];
	unsigned int i;
	int *fds = calloc(users, sizeof(*fds));

	CHECK(fds);
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &files));
	load_open("");
	steps_reset();
	for (i = 0; i < users; i++) {
		CHECK_OK(seteuid(USER + i));
		fds[i] = device_open();
		CHECK_OK(seteuid(0));
		CHECK_OK(try_register(fds[i], "popular u32 x"));
	}
	CHECK_OK(seteuid(USER + users));
	i = device_open();
	CHECK_OK(seteuid(0));
	CHECK_OK(read(i, text, sizeof(text)));
	close(i);
	for (i = 0; i < users; i++)
		close(fds[i]);
	test_print("%lu steps", steps_most(STEPS_VISIBLE));
	CHECK(steps_most(STEPS_VISIBLE) >= 12);
	CHECK(steps_most(STEPS_VISIBLE) <= depth);
	free(fds);
}

/* ---- CPU hotplug ---- */

#define CGROUPS "/tmp/eventlog_cgroups"

static void cgroup_path(char path[128], const char *group, const char *file)
{
	snprintf(path, 128, CGROUPS "/%s/%s", group, file);
}

/* Mounts the hierarchy, once for the whole test. */
static void cgroups_begin(void)
{
	mkdir(CGROUPS, 0700);
	if (access(CGROUPS "/cgroup.procs", F_OK) &&
	    mount("cgroup2", CGROUPS, "cgroup2", 0, NULL))
		SKIP("no cgroup2: %s", test_errno_name(errno));
	if (file_write(CGROUPS "/cgroup.subtree_control", "+memory") < 0)
		SKIP("no memory cgroups: %s", test_errno_name(errno));
}

static void cgroup_enter(const char *group)
{
	char path[128];

	cgroup_path(path, group, "");
	CHECK(!mkdir(path, 0700) || errno == EEXIST);
	cgroup_path(path, group, "cgroup.procs");
	CHECK(file_write(path, "0") > 0);
}

static long cgroup_bytes(const char *group)
{
	char path[128];

	cgroup_path(path, group, "memory.current");
	return CHECK_OK(file_number(path));
}

static void cpu_switch(unsigned int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	CHECK_EQ(file_write(path, online ? "1" : "0"), 1);
}

/*
 * The ring of a CPU that comes online is memory of the subscriber's cgroup.  Who brings the
 * CPU online neither pays for it nor waits for it.
 */
TEST(rings_of_later_cpus_are_charged_to_the_subscriber)
{
	const long ring_bytes = 8 << 20, least = ring_bytes / 2;
	unsigned int cpus[256], count = cpus_allowed(cpus, ARRAY_SIZE(cpus)), last;
	struct eventlog_stat stat = { .size = sizeof(stat) };
	long tenant, admin;
	struct consumer consumer;
	char path[64];
	pid_t child;

	last = cpus[count - 1];
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", last);
	if (count < 2 || file_number(path) != 1)
		SKIP("no CPU can be taken offline");
	cgroups_begin();
	cpu_switch(last, false);
	cgroup_enter("tenant");
	consumer_open(&consumer, ring_bytes);
	cgroup_enter("admin");
	tenant = cgroup_bytes("tenant");
	admin = cgroup_bytes("admin");
	CHECK(tenant >= least);
	child = test_fork();
	if (!child) {
		cpu_switch(last, true);
		_exit(0);
	}
	test_join(child);
	stat.ring = last;
	WAIT_FOR(!ioctl(consumer.fd, EVENTLOG_IOC_STAT, &stat));
	test_print("tenant %ld, admin %ld bytes more", cgroup_bytes("tenant") - tenant,
		   cgroup_bytes("admin") - admin);
	CHECK(cgroup_bytes("tenant") - tenant >= least);
	CHECK(cgroup_bytes("admin") - admin < least);
	consumer_close(&consumer);
	CHECK(file_write(CGROUPS "/cgroup.procs", "0") > 0);
}

/* ---- memory of rings ---- */

#define RING_MEMORY (16UL << 20)

static void take_all_rings(void)
{
	struct eventlog_attach attach;
	int fd = device_open();

	register_event(fd, "greedy");
	do
		attach = attach_request(mapped_least_bytes());
	while (!ioctl(fd, EVENTLOG_IOC_ATTACH, &attach));
	CHECK_EQ(errno, ENOMEM);
	/* Until the test is over. */
	CHECK_OK(kill(getpid(), SIGSTOP));
	close(fd);
}

/* A user that may have all memory of rings leaves a sixteenth to root. */
TEST(ring_memory_is_kept_for_root)
{
	struct consumer consumer;
	char parameters[128];
	pid_t child;
	int status;

	snprintf(parameters, sizeof(parameters), "ring_memory_max=%lu user_ring_memory_max=%lu",
		 RING_MEMORY, 2 * RING_MEMORY);
	load_open(parameters);
	child = fork_user(USER, take_all_rings);
	CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
	CHECK(WIFSTOPPED(status));
	consumer_open(&consumer, 2 * page_size());
	consumer_close(&consumer);
	CHECK_OK(kill(child, SIGCONT));
	test_join(child);
}

/* A CPU that has come online, and for whose ring there is no memory: its losses are counted. */
TEST(missed_where_a_cpu_has_no_ring)
{
	struct eventlog_missed request = { .size = sizeof(request), .count = 5 };
	unsigned int cpus[256], count = cpus_allowed(cpus, ARRAY_SIZE(cpus)), last;
	struct eventlog_register event;
	struct consumer consumer;
	char parameters[64], path[64];
	int fd;

	last = cpus[count - 1];
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", last);
	if (count != 2 || file_number(path) != 1)
		SKIP("not two CPUs, one of which can be taken offline");
	/* Room for one ring, not for two. */
	snprintf(parameters, sizeof(parameters), "ring_memory_max=%u", 3 << 19);
	load_open(parameters);
	fd = device_open();
	event = register_event(fd, "event u64 value");
	cpu_pin(cpus[0]);
	cpu_switch(last, false);
	consumer_open(&consumer, 1 << 20);
	rule_add(consumer.fd, NULL, "event");
	cpu_switch(last, true);
	cpu_pin(last);
	request.write_index = event.write_index;
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MISSED, &request));
	CHECK_EQ(request.subscribers, 1);
	CHECK_OK(emit(fd, event.write_index, "12345678", 8));
	/* All of them are in the count that consumers read for CPUs without a ring. */
	CHECK_EQ(stat_all(consumer.fd).lost[EVENTLOG_LOST_NO_MEMORY], 6);
	CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 6);
	CHECK_EQ(stat_event_lost(consumer.fd, event.descriptor), 6);
	consumer_close(&consumer);
	close(fd);
}

/* ---- the lock of a file ---- */

static int reader_fd;
static pid_t reader_thread;

static void *read_listing(void *page)
{
	__atomic_store_n(&reader_thread, thread_id(), __ATOMIC_RELEASE);
	CHECK(read(reader_fd, page, page_size()) > 0);
	return NULL;
}

/* read() into memory that is not there yet, while another thread uses the file. */
TEST(read_waits_for_memory_without_the_lock)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *page = pages_map(page_size()), *zeroes = pages_map(page_size());
	struct uffdio_register watch = {
		.range = { (unsigned long)page, page_size() },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_copy copy = {
		.dst = (unsigned long)page, .src = (unsigned long)zeroes, .len = page_size(),
	};
	struct uffd_msg message;
	pthread_t thread;
	int faults;

	memset(zeroes, 0, page_size());
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0)
		SKIP("userfaultfd: %s", test_errno_name(errno));
	CHECK_OK(ioctl(faults, UFFDIO_API, &api));
	CHECK_OK(ioctl(faults, UFFDIO_REGISTER, &watch));
	reader_fd = device_open();
	CHECK_EQ(pthread_create(&thread, NULL, read_listing, page), 0);
	CHECK_EQ(read(faults, &message, sizeof(message)), sizeof(message));
	CHECK_EQ(message.event, UFFD_EVENT_PAGEFAULT);
	/* With the lock, this would never end. */
	CHECK_OK(try_register(reader_fd, "meanwhile u32 x"));
	CHECK_OK(ioctl(faults, UFFDIO_COPY, &copy));
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(strstr(page, "Active: "));
	close(faults);
	close(reader_fd);
}

/* ---- user namespaces ---- */

static void enter_namespace(void)
{
	if (access("/proc/self/ns/user", F_OK))
		SKIP("no user namespaces");
	CHECK_OK(unshare(CLONE_NEWUSER));
}

static bool have_namespaces(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(unshare(CLONE_NEWUSER) ? 1 : 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Registers all events of a user, and keeps them until a byte arrives. */
static pid_t container_fork(int quit[2], const char *prefix, int error)
{
	int ready[2], fd;
	pid_t child;
	char byte;

	CHECK_OK(pipe(ready));
	child = test_fork();
	if (child) {
		close(ready[1]);
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		return child;
	}
	enter_namespace();
	fd = device_open();
	CHECK_EQ(quota(fd, EVENTLOG_QUOTA_EVENTS).limit, 8);
	if (error)
		CHECK_ERRNO(try_register(fd, prefix), error);
	else
		CHECK_EQ(register_many(fd, prefix, EDQUOT), 8);
	CHECK_EQ(write(ready[1], "", 1), 1);
	CHECK_EQ(read(quit[0], &byte, 1), 1);
	_exit(0);
}

/* Each user namespace that root makes has limits of its own. */
TEST(containers_of_root_have_their_own_limits)
{
	pid_t children[2];
	int quit[2], i;

	if (!have_namespaces())
		SKIP("no user namespaces");
	load_open("user_events_max=8");
	CHECK_OK(pipe(quit));
	for (i = 0; i < 2; i++)
		children[i] = container_fork(quit, i ? "second" : "first", 0);
	CHECK_EQ(write(quit[1], "12", 2), 2);
	for (i = 0; i < 2; i++)
		test_join(children[i]);
}

static void multiply(void)
{
	pid_t children[2];
	int quit[2], i;

	CHECK_OK(pipe(quit));
	for (i = 0; i < 2; i++)
		children[i] = container_fork(quit, i ? "second" : "first", i ? EDQUOT : 0);
	CHECK_EQ(write(quit[1], "12", 2), 2);
	for (i = 0; i < 2; i++)
		test_join(children[i]);
}

/* Another user does not get more by making more of them. */
TEST(containers_of_a_user_share_its_limits)
{
	if (!have_namespaces())
		SKIP("no user namespaces");
	load_open("user_events_max=8");
	as_user(USER, multiply);
}

#define DEVICE "/dev/eventlog-mine"

/* The owner tries to capture from a user namespace of its own. */
static void container_captures(int error)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	int fd;

	enter_namespace();
	fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
	if (error)
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup), error);
	else
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup));
	/* What is a right of everyone stays one. */
	close(fd);
	fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
	CHECK_OK(try_register(fd, "anyone u32 x"));
	close(fd);
}

static void captures(void)
{
	container_captures(0);
}

static void is_refused(void)
{
	container_captures(EPERM);
}

/* Who has no ids in a namespace could make none inside. */
static void enter_own_namespace(void)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	enter_namespace();
	CHECK_OK(prctl(PR_SET_DUMPABLE, 1));
	CHECK(file_write("/proc/self/uid_map", uids) > 0);
	CHECK(file_write("/proc/self/setgroups", "deny") > 0);
	CHECK(file_write("/proc/self/gid_map", gids) > 0);
}

/* A container that uses its instance: a file is open until a byte arrives. */
static int use_ready[2], use_quit[2];

static int make_mine(__u32 *id)
{
	struct eventlog_instance_create request = create_request("mine");

	if (!have_namespaces())
		SKIP("no user namespaces");
	load_open("");
	CHECK_OK(pipe(use_ready));
	CHECK_OK(pipe(use_quit));
	request.owner = USER;
	return create_with(&request, id);
}

static void uses(void)
{
	pid_t child;
	char byte;
	int fd;

	enter_own_namespace();
	fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
	CHECK_OK(try_register(fd, "used u32 x"));
	/* A namespace inside belongs to the container. */
	child = test_fork();
	if (!child) {
		captures();
		_exit(0);
	}
	test_join(child);
	CHECK_EQ(write(use_ready[1], "", 1), 1);
	CHECK_EQ(read(use_quit[0], &byte, 1), 1);
	close(fd);
}

static void captures_outside(void)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	int fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));

	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup));
	close(fd);
}

/* Two containers of one owner: while one uses an instance, the other one cannot capture it. */
TEST(an_instance_belongs_to_one_container)
{
	__u32 id;
	int fd = make_mine(&id);
	pid_t user;
	char byte;

	user = fork_user(USER, uses);
	close(use_ready[1]);
	CHECK_EQ(read(use_ready[0], &byte, 1), 1);
	as_user(USER, is_refused);
	/* The owner itself is above its containers. */
	as_user(USER, captures_outside);
	CHECK_EQ(write(use_quit[1], "", 1), 1);
	test_join(user);
	/* The container has ended, and another one gets the instance. */
	as_user(USER, captures);
	as_user(USER, captures);
	delete_instance(id);
	close(fd);
}

/* Two containers inside a namespace, which itself captures what the first one does. */
static void nests(void)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	pid_t user, other;
	char byte;
	int fd;

	enter_own_namespace();
	user = test_fork();
	if (!user) {
		uses();
		_exit(0);
	}
	CHECK_EQ(read(use_ready[0], &byte, 1), 1);
	fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup));
	other = test_fork();
	if (!other) {
		is_refused();
		_exit(0);
	}
	test_join(other);
	CHECK_EQ(write(use_quit[1], "", 1), 1);
	test_join(user);
	close(fd);
}

/* Who opens an instance above a container does not open it for other containers. */
TEST(a_capture_from_above_lets_no_other_container_in)
{
	__u32 id;
	int fd = make_mine(&id);

	as_user(USER, nests);
	delete_instance(id);
	close(fd);
}

/* A container that opens an instance above one in it, which then ends; it keeps the file. */
static void outlives(void)
{
	struct eventlog_subscribe setup = subscribe_request(0);
	int ready[2], quit[2];
	pid_t inner;
	char byte;
	int fd;

	enter_own_namespace();
	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(quit));
	inner = test_fork();
	if (!inner) {
		enter_own_namespace();
		CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
		CHECK_EQ(write(ready[1], "", 1), 1);
		CHECK_EQ(read(quit[0], &byte, 1), 1);
		_exit(0);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	fd = CHECK_OK(open(DEVICE, O_RDWR | O_CLOEXEC));
	CHECK_EQ(write(quit[1], "", 1), 1);
	test_join(inner);
	CHECK_EQ(write(use_ready[1], "", 1), 1);
	CHECK_EQ(read(use_quit[0], &byte, 1), 1);
	/* The file has kept its rights. */
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &setup));
	close(fd);
}

/* A file from above, whose rights stay, must not see what another container does later. */
TEST(a_capture_from_above_keeps_the_instance)
{
	__u32 id;
	int fd = make_mine(&id);
	pid_t user;
	char byte;

	user = fork_user(USER, outlives);
	CHECK_EQ(read(use_ready[0], &byte, 1), 1);
	as_user(USER, is_refused);
	CHECK_EQ(write(use_quit[1], "", 1), 1);
	test_join(user);
	as_user(USER, captures);
	delete_instance(id);
	close(fd);
}

/* ---- descriptors ---- */

static void no_descriptor_is_left(void)
{
	int fd = device_open();

	CHECK_OK(try_register(fd, "last u32 x"));
	CHECK_ERRNO(try_register(fd, "late u32 x"), ENOSPC);
	close(fd);
}

/* The last sixteenth of the descriptors is for root. */
TEST(descriptors_are_kept_for_root)
{
	int fd;

	steps_reset();
	/* -(2^32 / 16) - 2 */
	load_open("descriptors=-268435458");
	fd = device_open();
	CHECK_OK(try_register(fd, "first u32 x"));
	as_user(USER, no_descriptor_is_left);
	CHECK_OK(try_register(fd, "second u32 x"));
	close(fd);
	load("");
}

/* Instances of one owner share how many definitions they may make. */
TEST(instances_of_an_owner_share_descriptors)
{
	struct eventlog_instance_create request = create_request("first");
	unsigned int count = 0, i;
	__u32 ids[40], other;
	char name[16];
	__u64 begin;
	int fd;

	load("user_definitions_max=2");
	begin = clock_now();
	/* Each instance may make 8 at once, and all of them 128. */
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		snprintf(name, sizeof(name), "many%u", i);
		request = create_request(name);
		request.owner = USER;
		fd = create_with(&request, &ids[i]);
		while (!try_register_number(fd, "new", count))
			count++;
		CHECK_EQ(errno, EDQUOT);
		close(fd);
	}
	test_print("%u definitions", count);
	CHECK(count >= 128);
	/* Some came while the test ran: two in a second. */
	CHECK(count <= 128 + 2 * (1 + (clock_now() - begin) / 1000000000));
	/* An owner of its own is not affected. */
	request = create_request("other");
	request.owner = OTHER;
	fd = create_with(&request, &other);
	CHECK(register_many(fd, "other", EDQUOT) >= 8);
	close(fd);
	delete_instance(other);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		delete_instance(ids[i]);
}
