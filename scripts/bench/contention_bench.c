// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of contention-guest: measures calls of a victim, root, while a user without rights
 * attacks: makes as many calls as it can.
 *
 *	contention_bench measure CALL ATTACK UID
 *	contention_bench hold UID
 *
 * measure prints a line: the number of calls; their mean, median, 95th percentile and
 * the longest one, in us; the time from SIGKILL to the end of the attacker, in us; and the
 * module's parameter "steps", the most steps during one hold of each lock.  stderr has what
 * the attacker did.
 *
 * CALL is register: REGISTER and UNREGISTER of an event; unregister: the same by a file with a
 * producer ring; kick: KICK of such a ring; munmap: ATTACH, mapping it and munmap(); flush: FLUSH;
 * switches: a byte goes to another process and back, while someone listens to the provider sched;
 * instance: REGISTER and UNREGISTER in an instance of the victim's; listing: reading the status
 * listing; a module's FILE.ko: loading and unloading it; or a FILE of tracefs: writing 1 and then 0.
 * The victim sleeps between calls.
 *
 * ATTACK is quiet, which is none; busy, a process that makes no calls, but keeps the CPU
 * busy; or one of attacks[] below.  It begins before the first call that is measured.
 *
 * hold registers events that others can list, prints "ready" and keeps them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/eventlog.h>

#define TRACING "/sys/kernel/tracing/"
#define STEPS "/sys/module/eventlog/parameters/steps"

#define REST_US 1000
#define CALLS_MAX 40
/* The victim makes fewer calls if they take longer than this, but at least so many. */
#define VICTIM_NS 2000000000ULL
/* Calls in an instance: the longest one of a thousand is looked for. */
#define INSTANCE_CALLS 1000
#define INSTANCE_NS 10000000000ULL
#define CALLS_MIN 5
#define LISTED 1000

/*
 * What an instance is filled with, unless it allows less.  Events and rules with slow names
 * are fewer, because matching all of them takes a billion instructions.
 */
#define SUBSCRIBERS 8
#define RULES 256
#define EVENTS 256
#define SLOW_SUBSCRIBERS 4
#define SLOW_EVENTS 8
#define RETAINED 256
#define ENABLERS 2000

struct attack;

/* An attack; the process of the attacker has a copy. */
struct attacker {
	const struct attack *attack;
	unsigned int uid;
	char device[64];
	char instance[32];
	uint32_t instance_id;
	int producer;
	int subscriber;
	uint32_t rule_id;
	unsigned int number;
	/* What root switches meanwhile, or "". */
	char toggled[512];
};

/* Counts of the attacker, in shared memory. */
struct counts {
	uint64_t calls;
	uint64_t denied;
};

static struct counts *counts;

/*
 * setup() makes what the attack needs, as the user; round() makes some calls; both may
 * be missing.  With in_instance, it happens in an instance of the user.
 */
struct attack {
	const char *name;
	bool in_instance;
	void (*setup)(struct attacker *attacker);
	void (*round)(struct attacker *attacker);
};

static void fail(const char *what)
{
	fprintf(stderr, "contention_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail(path);
	return fd;
}

/* ---- calls of the device ---- */

/* Whether a call has failed because of a limit, which an attack is to reach. */
static bool is_limit(void)
{
	return errno == EDQUOT || errno == ENOSPC || errno == EMFILE || errno == ENOMEM;
}

/* Returns false at a limit. */
static bool call(int fd, unsigned long number, void *request, const char *what)
{
	counts->calls++;
	if (!ioctl(fd, number, request))
		return true;
	if (!is_limit())
		fail(what);
	counts->denied++;
	return false;
}

static bool register_event(int fd, const char *command, uint32_t *index)
{
	struct eventlog_register request = {
		.size = sizeof(request),
		.command = (uintptr_t)command,
		.provider = (uintptr_t)"contention",
	};

	if (!call(fd, EVENTLOG_IOC_REGISTER, &request, "REGISTER"))
		return false;
	*index = request.write_index;
	return true;
}

static void unregister_event(int fd, uint32_t index)
{
	struct eventlog_unregister request = { .size = sizeof(request), .write_index = index };

	call(fd, EVENTLOG_IOC_UNREGISTER, &request, "UNREGISTER");
}

static int subscribe(const struct attacker *attacker)
{
	struct eventlog_subscribe request = { .size = sizeof(request) };
	int fd = open_file(attacker->device, O_RDWR);

	call(fd, EVENTLOG_IOC_SUBSCRIBE, &request, "SUBSCRIBE");
	return fd;
}

/* Returns the rule's id, or 0 at a limit. */
static uint32_t add_rule(int fd, const char *event, const struct eventlog_filter *filter)
{
	struct eventlog_rule request = {
		.size = sizeof(request), .event = (uintptr_t)event, .filter = (uintptr_t)filter,
	};

	return call(fd, EVENTLOG_IOC_RULE_ADD, &request, "RULE_ADD") ? request.rule_id : 0;
}

static void delete_rule(int fd, uint32_t rule_id)
{
	struct eventlog_rule_delete request = { .size = sizeof(request), .rule_id = rule_id };

	call(fd, EVENTLOG_IOC_RULE_DEL, &request, "RULE_DEL");
}

/* ---- attacks in the root ---- */

static void set_up_device(struct attacker *attacker)
{
	attacker->producer = open_file(attacker->device, O_RDWR);
}

static void attack_busy(struct attacker *attacker)
{
	(void)attacker;
	for (;;)
		;
}

/* Reads the whole listing, in the smallest parts that make sense for an attack. */
static void attack_listing(struct attacker *attacker)
{
	static char text[4096];
	off_t offset = 0;
	ssize_t bytes;

	while ((bytes = pread(attacker->producer, text, sizeof(text), offset)) > 0) {
		offset += bytes;
		counts->calls++;
	}
	if (bytes < 0)
		fail("read of the listing");
}

/* Reads all definitions that the user may see, with as many calls as possible. */
static void attack_definitions(struct attacker *attacker)
{
	static char buffer[4096];
	struct eventlog_list request = {
		.size = sizeof(request), .kind = EVENTLOG_LIST_DEFINITIONS,
		.buffer = (uintptr_t)buffer,
	};

	do {
		request.buffer_size = sizeof(buffer);
		counts->calls++;
		if (ioctl(attacker->producer, EVENTLOG_IOC_LIST, &request))
			fail("LIST");
	} while (request.cursor);
}

static void register_again(struct attacker *attacker, const char *command)
{
	uint32_t index;

	attacker->number++;
	if (register_event(attacker->producer, command, &index))
		unregister_event(attacker->producer, index);
}

static void attack_churn(struct attacker *attacker)
{
	char command[64];

	snprintf(command, sizeof(command), "churn_%u u32 number", attacker->number);
	register_again(attacker, command);
}

/* The definition with the most fields. */
static void attack_wide(struct attacker *attacker)
{
	static char command[2 * EVENTLOG_COMMAND_MAX];
	size_t bytes = (size_t)sprintf(command, "wide_%u ", attacker->number);
	unsigned int i;

	for (i = 0; i < EVENTLOG_FIELDS_MAX; i++)
		bytes += (size_t)sprintf(command + bytes, "u8 field_%u;", i);
	register_again(attacker, command);
}

/* ---- attacks in an instance at its limits ---- */

/* A name that the glob of slow_glob() does not match, but only after many steps. */
static void slow_name(char *name, unsigned int number)
{
	memset(name, 'a', 240);
	sprintf(name + 240, "%u", number);
}

static const char *slow_glob(void)
{
	static char glob[128];

	memset(glob, 'a', 120);
	glob[0] = '*';
	glob[120] = 'b';
	return glob;
}

/* Many rules whose globs take long, and events whose names do. */
static void set_up_rules(struct attacker *attacker)
{
	char name[256], command[300];
	unsigned int i, j;
	uint32_t index;

	for (i = 0; i < SLOW_SUBSCRIBERS; i++) {
		attacker->subscriber = subscribe(attacker);
		for (j = 0; j < RULES; j++)
			if (!add_rule(attacker->subscriber, slow_glob(), NULL))
				break;
	}
	set_up_device(attacker);
	for (i = 0; i < SLOW_EVENTS; i++) {
		slow_name(name, i);
		snprintf(command, sizeof(command), "%s u32 number", name);
		if (!register_event(attacker->producer, command, &index))
			break;
	}
	attacker->subscriber = subscribe(attacker);
}

/* Wants all events, and none, again and again. */
static void attack_rules(struct attacker *attacker)
{
	uint32_t rule_id = add_rule(attacker->subscriber, "*", NULL);

	if (rule_id)
		delete_rule(attacker->subscriber, rule_id);
}

/* Many rules that want all events. */
static void set_up_arrays(struct attacker *attacker)
{
	char command[64];
	unsigned int i, j;
	uint32_t index, rule_id;

	for (i = 0; i < SUBSCRIBERS; i++) {
		attacker->subscriber = subscribe(attacker);
		for (j = 0; j < RULES; j++) {
			rule_id = add_rule(attacker->subscriber, NULL, NULL);
			if (!rule_id)
				break;
			attacker->rule_id = rule_id;
		}
	}
	set_up_device(attacker);
	for (i = 0; i < EVENTS; i++) {
		snprintf(command, sizeof(command), "event_%u u32 number", i);
		if (!register_event(attacker->producer, command, &index))
			break;
	}
}

/* Has the listeners of all events made again. */
static void attack_arrays(struct attacker *attacker)
{
	if (attacker->rule_id)
		delete_rule(attacker->subscriber, attacker->rule_id);
	attacker->rule_id = add_rule(attacker->subscriber, NULL, NULL);
}

/* Definitions of ended events go at once, while there are many rules with filters. */
static void attack_retained(struct attacker *attacker)
{
	const struct eventlog_term term = {
		.flags = EVENTLOG_TERM_NUMBER, .operation = EVENTLOG_TERM_OP_EQUAL,
		.on_true = EVENTLOG_FILTER_ACCEPT, .on_false = EVENTLOG_FILTER_REJECT, .number = 1,
	};
	const struct eventlog_filter filter = {
		.size = sizeof(filter), .term_count = 1, .term_size = sizeof(term),
		.terms = (uintptr_t)&term, .pool = (uintptr_t)"x", .pool_size = 2,
	};
	int keeper = subscribe(attacker), filtering;
	char command[64];
	uint32_t index;
	unsigned int i;

	for (i = 0; i < RETAINED; i++) {
		snprintf(command, sizeof(command), "ended_%u u32 x", attacker->number++);
		if (!register_event(attacker->producer, command, &index))
			break;
		unregister_event(attacker->producer, index);
	}
	filtering = subscribe(attacker);
	for (i = 0; i < RULES && add_rule(filtering, NULL, &filter); i++)
		;
	close(keeper);
	close(filtering);
}

/* @event: NULL: all */
static int subscribe_overwriting(const struct attacker *attacker, const char *event,
				 __u32 ring_bytes, __u32 flags)
{
	struct eventlog_subscribe request = {
		.size = sizeof(request), .ring_bytes = ring_bytes,
		.flags = flags | EVENTLOG_SUBSCRIBE_OVERWRITE,
	};
	int fd = open_file(attacker->device, O_RDWR);

	if (!call(fd, EVENTLOG_IOC_SUBSCRIBE, &request, "SUBSCRIBE") || !add_rule(fd, event, NULL))
		fail("SUBSCRIBE");
	return fd;
}

/* A subscriber that gets all events of the instance, and an event. */
static void set_up_flood(struct attacker *attacker)
{
	attacker->subscriber = subscribe_overwriting(attacker, NULL, 1 << 16, 0);
	set_up_device(attacker);
	if (!register_event(attacker->producer, "flood u32 number", &attacker->number))
		fail("REGISTER of the flood");
}

static void attack_flood(struct attacker *attacker)
{
	const uint32_t message[] = { attacker->number, 1 };
	unsigned int i;

	for (i = 0; i < 100; i++)
		if (write(attacker->producer, message, sizeof(message)) != sizeof(message))
			fail("write");
	counts->calls += i;
}

/* ---- an attack with a delegated file of user_events ---- */

struct user_events_reg {
	uint32_t size;
	uint8_t enable_bit;
	uint8_t enable_size;
	uint16_t flags;
	uint64_t enable_address;
	uint64_t name;
	uint32_t write_index;
} __attribute__((packed));

#define USER_EVENTS_REG _IOC(_IOC_READ | _IOC_WRITE, '*', 0, 8)

static void set_up_forks(struct attacker *attacker)
{
	char command[64];
	uint32_t *bits = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	unsigned int i;

	if (bits == MAP_FAILED)
		fail("mmap");
	attacker->producer = open_file(TRACING "user_events_data", O_RDWR);
	snprintf(command, sizeof(command), "contention_%u u32 x", attacker->uid);
	for (i = 0; i < ENABLERS; i++) {
		struct user_events_reg request = {
			.size = sizeof(request), .enable_bit = i % 32, .enable_size = 4,
			.enable_address = (uintptr_t)&bits[i / 32], .name = (uintptr_t)command,
		};

		if (!call(attacker->producer, USER_EVENTS_REG, &request, "registering enablers"))
			break;
	}
}

/* A child has copies of all enablers. */
static void attack_forks(struct attacker *attacker)
{
	pid_t child = fork();

	(void)attacker;
	counts->calls++;
	if (!child)
		_exit(0);
	if (child < 0)
		counts->denied++;
	else
		waitpid(child, NULL, 0);
}

/* ---- an attack with producer rings ---- */

/* Default of user_rings_max, and more threads than that. */
#define USER_RINGS 4096
#define RING_HOLDERS 4
#define RING_THREADS 1100
#define FILLED_BYTES EVENTLOG_MAPPED_BYTES_MAX
#define FILLED_RECORD (FILLED_BYTES / 16)
#define FILLED_PAYLOAD (FILLED_RECORD - sizeof(struct eventlog_mapped_record))

/* Returns the ring, or NULL at a limit. */
static struct eventlog_mapped_header *attach_ring(int fd, __u32 data_bytes,
						  struct eventlog_attach *request)
{
	void *ring;

	*request = (struct eventlog_attach){ .size = sizeof(*request), .data_bytes = data_bytes };
	if (!call(fd, EVENTLOG_IOC_ATTACH, request, "ATTACH"))
		return NULL;
	ring = mmap(NULL, request->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, request->offset);
	if (ring == MAP_FAILED)
		fail("mmap of a ring");
	return ring;
}

/* Threads of the process that have called ATTACH, and those that got a ring. */
static unsigned int ring_calls, ring_count;

/* A thread with a ring, which sleeps; or without, at the limit. */
static void *hold_ring(void *file)
{
	struct eventlog_attach request;

	if (attach_ring(*(int *)file, EVENTLOG_MAPPED_BYTES_MIN, &request))
		__atomic_fetch_add(&ring_count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ring_calls, 1, __ATOMIC_RELEASE);
	while (pause() < 0)
		;
	return NULL;
}

static void hold_rings(const struct attacker *attacker, int ready)
{
	int fd = open_file(attacker->device, O_RDWR);
	pthread_attr_t small;
	pthread_t thread;
	unsigned int i;
	uint32_t index;

	if (!register_event(fd, "held", &index))
		fail("REGISTER of the holder");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
	for (i = 0; i < RING_THREADS && !pthread_create(&thread, &small, hold_ring, &fd); i++)
		;
	while (__atomic_load_n(&ring_calls, __ATOMIC_ACQUIRE) < i)
		usleep(REST_US);
	if (write(ready, &ring_count, sizeof(ring_count)) != sizeof(ring_count))
		fail("write");
	for (;;)
		pause();
}

static struct eventlog_mapped_header *filled_ring;

static void set_up_rings(struct attacker *attacker)
{
	struct eventlog_attach request;
	unsigned int i, held, rings = 1;
	char command[64];
	int ready[2];

	set_up_device(attacker);
	snprintf(command, sizeof(command), "filled unsigned char[%zu] data", FILLED_PAYLOAD);
	if (!register_event(attacker->producer, command, &attacker->number))
		fail("REGISTER of the attacker");
	/* Before the limit is reached. */
	filled_ring = attach_ring(attacker->producer, FILLED_BYTES, &request);
	if (!filled_ring || pipe(ready))
		fail("ATTACH of the attacker");
	for (i = 0; i < RING_HOLDERS; i++) {
		const pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child)
			hold_rings(attacker, ready[1]);
		if (read(ready[0], &held, sizeof(held)) != sizeof(held))
			fail("a child that holds rings");
		rings += held;
	}
	errno = EDQUOT;
	if (rings != USER_RINGS)
		fail("ATTACH of all rings");
}

/* Fills a ring with the longest records, and rests. */
static void attack_rings(struct attacker *attacker)
{
	struct eventlog_mapped_record *record;
	char *data = (char *)filled_ring + filled_ring->data_offset;
	uint32_t i;

	for (i = 0; i < FILLED_BYTES; i += FILLED_RECORD) {
		record = (void *)(data + i);
		record->size = FILLED_RECORD;
		record->write_index = attacker->number;
		record->time = 1;
	}
	if (__atomic_load_n(&filled_ring->position, __ATOMIC_ACQUIRE) == filled_ring->committed) {
		const uint32_t message[] = { EVENTLOG_WRITE_KICK, filled_ring->ring };

		__atomic_store_n(&filled_ring->committed, filled_ring->committed + FILLED_BYTES,
				 __ATOMIC_RELEASE);
		if (write(attacker->producer, message, sizeof(message)) != sizeof(message))
			fail("KICK");
		counts->calls++;
	}
	usleep(REST_US);
}

static const struct attack attacks[] = {
	{ "busy", false, NULL, attack_busy },
	{ "listing", false, set_up_device, attack_listing },
	{ "definitions", false, set_up_device, attack_definitions },
	{ "wide", false, set_up_device, attack_wide },
	{ "churn", false, set_up_device, attack_churn },
	{ "rules", true, set_up_rules, attack_rules },
	{ "arrays", true, set_up_arrays, attack_arrays },
	{ "retained", true, set_up_device, attack_retained },
	{ "flood", true, set_up_flood, attack_flood },
	{ "forks", false, set_up_forks, attack_forks },
	{ "rings", false, set_up_rings, attack_rings },
};

/* ---- the attacker's process ---- */

/* Returns a file of the instance. */
static int create_instance(const char *name, unsigned int uid, uint32_t *id)
{
	struct eventlog_instance_create request = {
		.size = sizeof(request), .flags = EVENTLOG_INSTANCE_TRACE,
		.name = (uintptr_t)name, .owner = uid, .group = uid, .mode = 0600,
	};
	int fd = open_file(EVENTLOG_DEVICE, O_RDWR);

	if (ioctl(fd, EVENTLOG_IOC_INSTANCE_CREATE, &request))
		fail("INSTANCE_CREATE");
	close(fd);
	*id = request.id;
	return request.fd;
}

static void make_instance(struct attacker *attacker)
{
	snprintf(attacker->instance, sizeof(attacker->instance), "bench%u", attacker->uid);
	close(create_instance(attacker->instance, attacker->uid, &attacker->instance_id));
	snprintf(attacker->device, sizeof(attacker->device), EVENTLOG_DEVICE "-%s",
		 attacker->instance);
}

static void delete_instance(uint32_t id)
{
	struct eventlog_instance_delete request = { .size = sizeof(request), .id = id };
	int fd = open_file(EVENTLOG_DEVICE, O_RDWR);

	if (ioctl(fd, EVENTLOG_IOC_INSTANCE_DELETE, &request))
		fail("INSTANCE_DELETE");
	close(fd);
}

/* Starts the attack in a process group of its own, and returns when it has begun. */
static pid_t attack_begin(struct attacker *attacker)
{
	const struct attack *attack = attacker->attack;
	int ready[2];
	pid_t child;
	char byte;

	if (attack->in_instance)
		make_instance(attacker);
	if (pipe(ready))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		if (setpgid(0, 0) || setgid(attacker->uid) || setuid(attacker->uid))
			fail("setuid");
		if (attack->setup)
			attack->setup(attacker);
		if (attack->round != attack_busy)
			attack->round(attacker);
		if (write(ready[1], "", 1) != 1)
			fail("write");
		for (;;)
			attack->round(attacker);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		fprintf(stderr, "contention_bench: %s has ended early\n", attack->name);
		exit(1);
	}
	close(ready[0]);
	return child;
}

/* Ends it; returns how long that took, in ns. */
static uint64_t attack_end(const struct attacker *attacker, pid_t child)
{
	uint64_t begin = now_ns();
	int status;

	kill(-child, SIGKILL);
	if (waitpid(child, &status, 0) != child)
		fail("waitpid");
	begin = now_ns() - begin;
	if (!WIFSIGNALED(status)) {
		fprintf(stderr, "contention_bench: %s has failed\n", attacker->attack->name);
		exit(1);
	}
	if (attacker->attack->in_instance)
		delete_instance(attacker->instance_id);
	return begin;
}

/* ---- root's work on what belongs to the attacker ---- */

/* What root switches: a trace event of the attacker's. */
static void choose_toggled(struct attacker *attacker)
{
	char name[256] = "event_0";

	if (attacker->attack->setup == set_up_rules)
		slow_name(name, 0);
	if (attacker->attack->setup == set_up_forks)
		snprintf(attacker->toggled, sizeof(attacker->toggled),
			 TRACING "events/user_events/contention_%u/enable", attacker->uid);
	else if (attacker->attack->setup == set_up_rules ||
		 attacker->attack->setup == set_up_arrays)
		snprintf(attacker->toggled, sizeof(attacker->toggled),
			 TRACING "events/eventlog_%s_contention/%s/enable", attacker->instance,
			 name);
}

/* Switches it now and then.  It may be missing: an instance need not have trace events. */
static pid_t toggle_begin(const struct attacker *attacker)
{
	pid_t child;
	int fd;

	if (!attacker->toggled[0] || access(attacker->toggled, W_OK))
		return 0;
	child = fork();
	if (child < 0)
		fail("fork");
	if (child)
		return child;
	fd = open_file(attacker->toggled, O_WRONLY);
	for (;;) {
		if (pwrite(fd, "1", 1, 0) != 1 || pwrite(fd, "0", 1, 0) != 1)
			fail(attacker->toggled);
		usleep(10 * REST_US);
	}
}

/* Leaves it off.  It may be gone, if the attacker had ended early. */
static void toggle_end(const struct attacker *attacker, pid_t child)
{
	int fd;

	if (!child)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fd = open(attacker->toggled, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		fprintf(stderr, "contention_bench: %s: %s\n", attacker->toggled, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* ---- the victim ---- */

enum call_kind {
	CALL_REGISTER, CALL_INSTANCE, CALL_LISTING, CALL_MODULE, CALL_FILE,
	CALL_KICK, CALL_MUNMAP, CALL_FLUSH, CALL_SWITCHES,
};

struct victim {
	enum call_kind kind;
	int fd;
	struct eventlog_attach attach;
	int to, from;		/* of the process that a byte goes to */
	uint32_t instance_id;
	char module[64];
	double us[INSTANCE_CALLS];
	unsigned int count;
};

static void victim_produce(struct victim *victim)
{
	uint32_t index;

	victim->fd = open_file(EVENTLOG_DEVICE, O_RDWR);
	if (!register_event(victim->fd, "of_victim u32 number", &index))
		fail("REGISTER of the victim");
}

/* Everyone's events, and those of the provider sched. */
static void victim_subscribe(struct victim *victim)
{
	struct eventlog_subscribe request = {
		.size = sizeof(request), .ring_bytes = 1 << 16,
		.flags = EVENTLOG_SUBSCRIBE_OVERWRITE | EVENTLOG_SUBSCRIBE_MAPPED,
	};

	victim->fd = open_file(EVENTLOG_DEVICE, O_RDWR);
	if (!call(victim->fd, EVENTLOG_IOC_SUBSCRIBE, &request, "SUBSCRIBE") ||
	    !add_rule(victim->fd, NULL, NULL))
		fail("SUBSCRIBE of the victim");
}

/* A process that sends each byte back. */
static void victim_echo(struct victim *victim)
{
	int there[2], back[2];
	pid_t child;
	char byte;

	if (pipe(there) || pipe(back))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) != 1)
				fail("write");
		_exit(0);
	}
	close(there[0]);
	victim->to = there[1];
	victim->from = back[0];
}

static void victim_open(struct victim *victim, const char *what)
{
	size_t bytes = strlen(what);
	char *dash;

	if (!strcmp(what, "register")) {
		victim->kind = CALL_REGISTER;
		victim->fd = open_file(EVENTLOG_DEVICE, O_RDWR);
	} else if (!strcmp(what, "unregister") || !strcmp(what, "kick")) {
		victim->kind = *what == 'k' ? CALL_KICK : CALL_REGISTER;
		victim_produce(victim);
		if (!attach_ring(victim->fd, EVENTLOG_MAPPED_BYTES_MIN, &victim->attach))
			fail("ATTACH of the victim");
	} else if (!strcmp(what, "munmap")) {
		victim->kind = CALL_MUNMAP;
		victim_produce(victim);
	} else if (!strcmp(what, "flush")) {
		victim->kind = CALL_FLUSH;
		victim_subscribe(victim);
	} else if (!strcmp(what, "switches")) {
		victim->kind = CALL_SWITCHES;
		victim_subscribe(victim);
		victim_echo(victim);
	} else if (!strcmp(what, "instance")) {
		victim->kind = CALL_INSTANCE;
		victim->fd = create_instance("victim", 0, &victim->instance_id);
	} else if (!strcmp(what, "listing")) {
		victim->kind = CALL_LISTING;
		victim->fd = open_file(EVENTLOG_DEVICE, O_RDONLY);
	} else if (bytes > 3 && !strcmp(what + bytes - 3, ".ko")) {
		victim->kind = CALL_MODULE;
		victim->fd = open_file(what, O_RDONLY);
		snprintf(victim->module, sizeof(victim->module), "%s", strrchr(what, '/') + 1);
		*strrchr(victim->module, '.') = '\0';
		while ((dash = strchr(victim->module, '-')))
			*dash = '_';
	} else {
		victim->kind = CALL_FILE;
		victim->fd = open_file(what, O_WRONLY);
	}
}

static void victim_call(struct victim *victim)
{
	struct eventlog_flush flush = { .size = sizeof(flush) };
	void *ring;
	static char text[65536];
	ssize_t bytes;
	off_t offset = 0;
	uint32_t index;

	switch (victim->kind) {
	case CALL_REGISTER:
	case CALL_INSTANCE:
		if (!register_event(victim->fd, "victim u32 number; u64 size", &index))
			fail("REGISTER of the victim");
		unregister_event(victim->fd, index);
		break;
	case CALL_LISTING:
		while ((bytes = pread(victim->fd, text, sizeof(text), offset)) > 0)
			offset += bytes;
		if (bytes < 0)
			fail("reading the listing");
		break;
	case CALL_KICK:
		if (write(victim->fd, (uint32_t[]){ EVENTLOG_WRITE_KICK, victim->attach.ring },
			  8) != 8)
			fail("KICK of the victim");
		break;
	case CALL_MUNMAP:
		ring = attach_ring(victim->fd, EVENTLOG_MAPPED_BYTES_MIN, &victim->attach);
		if (!ring || munmap(ring, victim->attach.length))
			fail("munmap of the victim");
		break;
	case CALL_FLUSH:
		if (ioctl(victim->fd, EVENTLOG_IOC_FLUSH, &flush))
			fail("FLUSH");
		break;
	case CALL_SWITCHES:
		if (write(victim->to, "", 1) != 1 || read(victim->from, text, 1) != 1)
			fail("pipe of the victim");
		break;
	case CALL_MODULE:
		if (syscall(SYS_finit_module, victim->fd, "", 0))
			fail("loading the module");
		if (syscall(SYS_delete_module, victim->module, O_NONBLOCK))
			fail("unloading the module");
		break;
	case CALL_FILE:
		if (pwrite(victim->fd, "1", 1, 0) != 1 || pwrite(victim->fd, "0", 1, 0) != 1)
			fail("write to tracefs");
	}
}

static int compare(const void *left, const void *right)
{
	const double *one = left, *other = right;

	return (*one > *other) - (*one < *other);
}

static void victim_measure(struct victim *victim)
{
	const bool in_instance = victim->kind == CALL_INSTANCE;
	const unsigned int most = in_instance ? INSTANCE_CALLS : CALLS_MAX;
	const uint64_t ns = in_instance ? INSTANCE_NS : VICTIM_NS;
	uint64_t start = now_ns(), begin;

	while (victim->count < most &&
	       ((begin = now_ns()) - start < ns || victim->count < CALLS_MIN)) {
		victim_call(victim);
		victim->us[victim->count++] = (double)(now_ns() - begin) / 1000;
		usleep(REST_US);
	}
	qsort(victim->us, victim->count, sizeof(victim->us[0]), compare);
}

static void victim_print(const struct victim *victim)
{
	const unsigned int last = victim->count - 1;
	double sum = 0;
	unsigned int i;

	for (i = 0; i < victim->count; i++)
		sum += victim->us[i];
	printf("%u %.1f %.1f %.1f %.1f ", victim->count, sum / victim->count,
	       victim->us[last / 2], victim->us[(last * 95 + 99) / 100], victim->us[last]);
}

/* ---- steps ---- */

/* As the module prints them: numbers with commas; "-" if it does not count. */
static void steps_read(char *text, size_t room)
{
	int fd = open(STEPS, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = 0;

	if (fd >= 0 && (bytes = read(fd, text, room - 1)) < 0)
		fail(STEPS);
	text[bytes] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	else
		strcpy(text, "-");
}

static void steps_reset(void)
{
	char text[256], zeroes[256] = "0";
	const char *comma = text;
	int fd;

	steps_read(text, sizeof(text));
	if (!strcmp(text, "-"))
		return;
	while ((comma = strchr(comma, ',')) && comma++)
		strcat(zeroes, ",0");
	fd = open_file(STEPS, O_WRONLY);
	if (write(fd, zeroes, strlen(zeroes)) < 0)
		fail(STEPS);
	close(fd);
}

static void measure(const char *what, struct attacker *attacker)
{
	static struct victim victim = { .fd = -1 };
	struct counts of_victim = { 0 }, *of_attacker = counts;
	uint64_t end_ns = 0;
	char steps[256];
	pid_t child = 0, toggler = 0;

	if (attacker->attack) {
		if (attacker->attack->setup == set_up_rings)
			subscribe_overwriting(attacker, "filled", FILLED_BYTES,
					      EVENTLOG_SUBSCRIBE_MAPPED);
		child = attack_begin(attacker);
		choose_toggled(attacker);
		toggler = toggle_begin(attacker);
	}
	counts = &of_victim;
	victim_open(&victim, what);
	/* The first call does what is done once. */
	victim_call(&victim);
	steps_reset();
	victim_measure(&victim);
	steps_read(steps, sizeof(steps));
	victim_print(&victim);
	if (victim.kind == CALL_INSTANCE)
		delete_instance(victim.instance_id);
	toggle_end(attacker, toggler);
	if (child)
		end_ns = attack_end(attacker, child);
	printf("%.1f %s\n", (double)end_ns / 1000, steps);
	if (child)
		fprintf(stderr, "%s: %" PRIu64 " calls, %" PRIu64 " denied%s\n",
			attacker->attack->name, of_attacker->calls, of_attacker->denied,
			toggler || !attacker->toggled[0] ? "" : ", no trace event");
}

static void hold(unsigned int uid)
{
	char command[64];
	unsigned int i;
	uint32_t index;
	int fd;

	if (setgid(uid) || setuid(uid))
		fail("setuid");
	fd = open_file(EVENTLOG_DEVICE, O_RDWR);
	for (i = 0; i < LISTED; i++) {
		snprintf(command, sizeof(command), "hold_%u u32 number", i);
		if (!register_event(fd, command, &index))
			fail("REGISTER of an event to list");
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct attacker attacker = { .device = EVENTLOG_DEVICE };
	unsigned int i;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (counts == MAP_FAILED)
		fail("mmap");
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold((unsigned int)atoi(argv[2]));
	if (argc != 5 || strcmp(argv[1], "measure")) {
		fprintf(stderr, "usage: contention_bench measure CALL ATTACK UID\n"
				"       contention_bench hold UID\n");
		return 2;
	}
	attacker.uid = (unsigned int)atoi(argv[4]);
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (!strcmp(attacks[i].name, argv[3]))
			attacker.attack = &attacks[i];
	if (!attacker.attack && strcmp(argv[3], "quiet")) {
		errno = EINVAL;
		fail(argv[3]);
	}
	measure(argv[2], &attacker);
	return 0;
}
