// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that a user with access to user_events_data cannot hold up others: what happens under
 * locks does not grow with its enablers, forks and pages; it is limited; and the bits of its
 * children are right nevertheless.  The counts are those of module/core/steps.h.
 *
 * What meets what:
 *
 *	many enablers	forks: forks_take_few_steps, children_follow; missing pages:
 *			faults_take_few_steps; SIGKILL: killed_while_bits_change
 *	forks		the limit of a user: lost_children_are_counted; blocked work items:
 *			waiting_children_are_limited; register and unregister in a child:
 *			children_change_their_bits, in another thread:
 *			registers_while_another_thread_forks; unload: killed_while_bits_change,
 *			and unload_clears_bits_of_many_processes of user_events_test
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "module_common.h"
#include "steps_common.h"
#include "user_events_common.h"

/* The module does 128 steps under a lock; one of them may be a little longer. */
#define STEPS_MOST 160
#define FEW_STEPS(kind) CHECK(steps_most(kind) <= STEPS_MOST)

#define EVENT "ue_isolated u32 a"
#define UNRELATED TRACE_EVENTS "/sched/sched_switch/enable"

/* Every case starts with it; every user may open user_events_data then. */
static void start(const char *parameters)
{
	close(user_events_open());
	steps_need();
	/* Work items of the last case pin the module. */
	WAIT_FOR(!is_loaded() || !try_unload());
	load_open(parameters);
	CHECK_OK(chmod(TRACEFS, 0755));
	CHECK_OK(chmod(USER_EVENTS_DATA, 0666));
	steps_reset();
}

/* Memory that all processes of a case share. */
static volatile __u32 *state;

static void state_make(void)
{
	state = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(state != MAP_FAILED);
}

/* Registers bits, each in a word of its own, so many bytes apart. */
static void register_words(int fd, volatile __u32 *words, unsigned int count, size_t distance)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		reg(fd, EVENT, (char *)words + i * distance, 4, 0);
}

static bool words_are(volatile __u32 *words, unsigned int count, size_t distance, __u32 value)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (*(volatile __u32 *)((char *)words + i * distance) != value)
			return false;
	return true;
}

static void enable(const char *path, const char *value)
{
	CHECK_EQ(file_write(path, value), 1);
}

/* ---- steps ---- */

#define FORKING_ENABLERS 500

/* Has two processes fork as fast as they can, until the case is over. */
static void fork_for_ever(void)
{
	volatile __u32 *words = pages_map(FORKING_ENABLERS * sizeof(__u32));
	int fd = user_events_try_open();
	pid_t child;

	register_words(fd, words, FORKING_ENABLERS, sizeof(__u32));
	CHECK_OK(fork());
	while (!state[1]) {
		child = CHECK_OK(fork());
		if (!child)
			_exit(0);
		CHECK_OK(waitpid(child, NULL, 0));
		__atomic_fetch_add(&state[0], 1, __ATOMIC_RELAXED);
	}
	while (wait(NULL) > 0)
		;
}

TEST(forks_take_few_steps)
{
	struct switcher switcher;
	unsigned int i;
	__u32 forks;
	pid_t user;

	start("");
	state_make();
	switcher_open(&switcher);
	user = fork_user(USER, fork_for_ever);
	WAIT_FOR(state[0] > 10);
	for (i = 0; i < 10; i++) {
		forks = state[0];
		enable(UNRELATED, "1");
		enable(USER_EVENTS_GROUP "/ue_isolated/enable", "1");
		switch_on(&switcher);
		WAIT_FOR(state[0] > forks + 10);
		switch_off(&switcher);
		enable(USER_EVENTS_GROUP "/ue_isolated/enable", "0");
		enable(UNRELATED, "0");
	}
	state[1] = 1;
	test_join(user);
	test_print("%u forks, at most %lu steps, %lu under mmap_lock", state[0],
		   steps_most(STEPS_USER_EVENTS), steps_most(STEPS_MMAP));
	FEW_STEPS(STEPS_USER_EVENTS);
	FEW_STEPS(STEPS_MMAP);
	CHECK(!file_has(USER_EVENTS_STATUS, "Lost:"));
}

#define FAULTING_ENABLERS 1500

/* One bit in each page; the pages go, and come back when the bits are written. */
static void miss_pages(void)
{
	const size_t bytes = FAULTING_ENABLERS * page_size();
	volatile __u32 *pages = pages_map(bytes);
	int fd = user_events_try_open();

	register_words(fd, pages, FAULTING_ENABLERS, page_size());
	CHECK_OK(madvise((void *)pages, bytes, MADV_DONTNEED));
	state[0] = 1;
	/* Looking would map pages that cannot be written. */
	WAIT_FOR(state[1] == 1);
	WAIT_FOR(words_are(pages, FAULTING_ENABLERS, page_size(), 1));
	CHECK_OK(madvise((void *)pages, bytes, MADV_DONTNEED));
	state[0] = 2;
	WAIT_FOR(state[1] == 2);
	WAIT_FOR(words_are(pages, FAULTING_ENABLERS, page_size(), 0));
}

TEST(faults_take_few_steps)
{
	struct switcher switcher;
	pid_t user;

	start("");
	state_make();
	switcher_open(&switcher);
	user = fork_user(USER, miss_pages);
	WAIT_FOR(state[0] == 1);
	switch_on(&switcher);
	state[1] = 1;
	WAIT_FOR(state[0] == 2);
	switch_off(&switcher);
	state[1] = 2;
	test_join(user);
	test_print("at most %lu steps, %lu under mmap_lock", steps_most(STEPS_USER_EVENTS),
		   steps_most(STEPS_MMAP));
	FEW_STEPS(STEPS_USER_EVENTS);
	FEW_STEPS(STEPS_MMAP);
}

/* ---- the listing ---- */

#define BATCH_STEPS 1024	/* as EVENTLOG_BATCH_STEPS */

/* After this, a reader is before the second event. */
static int read_a_byte(void)
{
	int fd = CHECK_OK(open(USER_EVENTS_STATUS, O_RDONLY | O_CLOEXEC));
	char byte;

	CHECK_EQ(read(fd, &byte, 1), 1);
	return fd;
}

static void check_listing(int fd)
{
	char text[4096];
	ssize_t got = CHECK_OK(read(fd, text, sizeof(text) - 1));

	text[got] = '\0';
	CHECK(strstr(text, "ue_isolated_b"));
	CHECK(strstr(text, "Active: 2"));
}

/* Any number of readers may have stopped at the same place: who passes them does so in parts. */
TEST(readers_of_the_listing_are_passed_in_parts)
{
	const unsigned int readers = 5000, first = BATCH_STEPS - 16;
	const struct rlimit files = { readers + 64, readers + 64 };
	volatile __u32 *words = pages_map(page_size());
	int fd, late, around[32];
	unsigned int i;

	start("");
	CHECK_OK(setrlimit(RLIMIT_NOFILE, &files));
	fd = user_events_try_open();
	reg(fd, "ue_isolated_a u32 a", (void *)words, 4, 0);
	reg(fd, "ue_isolated_b u32 a", (void *)words, 4, 1);
	late = read_a_byte();
	for (i = 0; i < readers; i++) {
		fd = read_a_byte();
		if (i - first < ARRAY_SIZE(around))
			around[i - first] = fd;
	}
	steps_reset();
	CHECK(file_has(USER_EVENTS_STATUS, "ue_isolated_b"));
	CHECK(file_has(USER_EVENTS_STATUS, "Active: 2"));
	/* One that has stopped there finds the same. */
	check_listing(late);
	test_print("%lu steps", steps_most(STEPS_DOMAIN));
	CHECK(steps_most(STEPS_DOMAIN) > 512);
	CHECK(steps_most(STEPS_DOMAIN) <= 4096);
	/* One that rewinds comes to its own place, perhaps at the end of a part. The last one first. */
	for (i = ARRAY_SIZE(around); i-- > 0;) {
		CHECK_OK(lseek(around[i], 0, SEEK_SET));
		check_listing(around[i]);
	}
	for (i = 3; i < files.rlim_cur; i++)
		close(i);
}

/* ---- children ---- */

/* More than 16, so that work items write their bits; few, because all of them poll. */
#define CHILDREN 20
#define CHILD_ENABLERS 300

static void have_children(void)
{
	volatile __u32 *words = pages_map(CHILD_ENABLERS * 64);
	pid_t children[CHILDREN];
	int fd = user_events_try_open(), i;

	register_words(fd, words, CHILD_ENABLERS, 64);
	for (i = 0; i < CHILDREN; i++) {
		children[i] = test_fork();
		if (children[i])
			continue;
		WAIT_FOR(words_are(words, CHILD_ENABLERS, 64, 1));
		__atomic_fetch_add(&state[0], 1, __ATOMIC_RELAXED);
		WAIT_FOR(words_are(words, CHILD_ENABLERS, 64, 0));
		__atomic_fetch_add(&state[0], 1, __ATOMIC_RELAXED);
		_exit(0);
	}
	state[1] = 1;
	for (i = 0; i < CHILDREN; i++)
		test_join(children[i]);
}

/* They have one set, which is larger than what is written at once. */
TEST(children_follow)
{
	struct switcher switcher;
	pid_t user;

	start("");
	state_make();
	switcher_open(&switcher);
	user = fork_user(USER, have_children);
	WAIT_FOR(state[1] == 1);
	switch_on(&switcher);
	WAIT_FOR(state[0] == CHILDREN);
	switch_off(&switcher);
	test_join(user);
	CHECK_EQ(state[0], 2 * CHILDREN);
	FEW_STEPS(STEPS_USER_EVENTS);
	CHECK(!file_has(USER_EVENTS_STATUS, "Lost:"));
}

/* Waits until the words of a process are these, and says so. */
static void await_words(volatile __u32 *words, const __u32 *wanted, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		WAIT_FOR(words[i] == wanted[i]);
	__atomic_fetch_add(&state[0], 1, __ATOMIC_RELAXED);
}

TEST(children_change_their_bits)
{
	static const __u32 of_parent[4] = { 1, 1, 1, 0 }, of_child[4] = { 1, 7, 1, 1 };
	static const __u32 of_grandchild[4] = { 1, 7, 9, 1 };
	static const __u32 off_child[4] = { 0, 7, 0, 0 }, off_grandchild[4] = { 0, 7, 9, 0 };
	struct switcher switcher;
	volatile __u32 *words;
	pid_t child, grandchild;
	int fd;

	start("");
	state_make();
	switcher_open(&switcher);
	words = pages_map(page_size());
	fd = user_events_open();
	register_words(fd, words, 3, 4);
	child = test_fork();
	if (!child) {
		CHECK_ERRNO(try_reg(fd, EVENT, (void *)&words[0], 4, 0), EADDRINUSE);
		CHECK_ERRNO(try_unreg(fd, (void *)&words[3], 0), ENOENT);
		CHECK_OK(try_unreg(fd, (void *)&words[1], 0));
		/* The word is the program's now. */
		words[1] = 7;
		reg(fd, EVENT, (void *)&words[3], 4, 0);
		grandchild = test_fork();
		if (!grandchild) {
			/* The parent changes its bits again, and it does not concern its child. */
			CHECK_OK(try_unreg(fd, (void *)&words[2], 0));
			words[2] = 9;
			state[1] = 1;
			await_words(words, of_grandchild, 4);
			await_words(words, off_grandchild, 4);
			_exit(0);
		}
		await_words(words, of_child, 4);
		await_words(words, off_child, 4);
		test_join(grandchild);
		_exit(0);
	}
	WAIT_FOR(state[1] == 1);
	switch_on(&switcher);
	await_words(words, of_parent, 4);
	WAIT_FOR(state[0] == 3);
	switch_off(&switcher);
	test_join(child);
	WAIT_FOR(words_are(words, 4, 4, 0));
}

static void *fork_in_thread(void *unused)
{
	(void)unused;
	while (!state[1]) {
		pid_t child = CHECK_OK(fork());

		if (!child)
			_exit(0);
		CHECK_OK(waitpid(child, NULL, 0));
	}
	return NULL;
}

TEST(registers_while_another_thread_forks)
{
	volatile __u32 *words;
	struct switcher switcher;
	pthread_t thread;
	int fd, i;

	start("");
	state_make();
	switcher_open(&switcher);
	words = pages_map(page_size());
	fd = user_events_open();
	register_words(fd, words, 100, 4);
	CHECK(!pthread_create(&thread, NULL, fork_in_thread, NULL));
	for (i = 0; i < 50; i++) {
		reg(fd, EVENT, (void *)&words[100 + i], 4, 0);
		CHECK_OK(try_unreg(fd, (void *)&words[i], 0));
		CHECK_ERRNO(try_unreg(fd, (void *)&words[i], 0), ENOENT);
	}
	switch_on(&switcher);
	WAIT_FOR(words_are(words + 50, 100, 4, 1));
	CHECK(words_are(words, 50, 4, 0));
	state[1] = 1;
	CHECK(!pthread_join(thread, NULL));
	for (i = 50; i < 150; i++)
		CHECK_OK(try_unreg(fd, (void *)&words[i], 0));
	CHECK(words_are(words, 150, 4, 0));
	FEW_STEPS(STEPS_USER_EVENTS);
}

/* ---- limits ---- */

#define LIMITED_CHILDREN 60
#define LIMIT 50

/* The number in the line "Lost:" of user_events_status. */
static long lost(void)
{
	char text[4096], *line;
	int fd = CHECK_OK(open(USER_EVENTS_STATUS, O_RDONLY | O_CLOEXEC));
	ssize_t got = CHECK_OK(read(fd, text, sizeof(text) - 1));

	close(fd);
	text[got] = '\0';
	line = strstr(text, "\nLost: ");
	return line ? strtol(line + 7, NULL, 10) : 0;
}

/* Children that live until the case lets them end; each counts its bit if that is set. */
static void fork_children(int fd, unsigned int count)
{
	volatile __u32 *word = pages_map(page_size());
	unsigned int i;

	reg(fd, EVENT, (void *)word, 4, 0);
	for (i = 0; i < count; i++) {
		if (CHECK_OK(fork()))
			continue;
		WAIT_FOR(state[1] == 1);
		__atomic_fetch_add(&state[2], 1, __ATOMIC_RELAXED);
		WAIT_FOR(state[1] == 2 || *word == 1);
		if (*word == 1)
			__atomic_fetch_add(&state[3], 1, __ATOMIC_RELAXED);
		WAIT_FOR(state[1] == 2);
		_exit(0);
	}
	state[0] = 1;
	while (wait(NULL) > 0)
		;
	state[0] = 2;
}

static void fork_beyond_the_limit(void)
{
	fork_children(user_events_try_open(), LIMITED_CHILDREN);
	WAIT_FOR(state[1] == 3);
}

/* The user's registrations are its file, its bit, and its children. */
TEST(lost_children_are_counted)
{
	char parameters[64];
	struct switcher switcher;
	int device;
	pid_t user;

	snprintf(parameters, sizeof(parameters), "user_registrations_max=%d", LIMIT);
	start(parameters);
	state_make();
	switcher_open(&switcher);
	CHECK_OK(seteuid(USER));
	device = device_open();
	CHECK_OK(seteuid(0));
	CHECK_EQ(lost(), 0);
	user = fork_user(USER, fork_beyond_the_limit);
	WAIT_FOR(state[0] == 1);
	CHECK_EQ(lost(), LIMITED_CHILDREN - (LIMIT - 2));
	CHECK_EQ(quota(device, EVENTLOG_QUOTA_REGISTRATIONS).use, LIMIT);
	switch_on(&switcher);
	state[1] = 1;
	WAIT_FOR(state[2] == LIMITED_CHILDREN);
	WAIT_FOR(state[3] == LIMIT - 2);
	state[1] = 2;
	WAIT_FOR(state[0] == 2);
	CHECK_EQ(state[3], LIMIT - 2);
	/* The limit counts children only while they live. */
	WAIT_FOR(quota(device, EVENTLOG_QUOTA_REGISTRATIONS).use == 2);
	state[1] = 3;
	test_join(user);
	WAIT_FOR(!quota(device, EVENTLOG_QUOTA_REGISTRATIONS).use);
	CHECK_EQ(lost(), LIMITED_CHILDREN - (LIMIT - 2));
}

/* Children that may wait for their work item, and work items of a user, see mm.c. */
#define WAITING_MOST 1024
#define WORKS_MOST 4

/* A process whose bit is in a page that never comes: its work item waits until it ends. */
static void block(void)
{
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	volatile __u32 *page = pages_map(page_size());
	int fault = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffd_msg message;
	int fd;

	if (fault < 0) {
		state[8] = 1;
		return;
	}
	CHECK_OK(setgid(USER));
	CHECK_OK(setuid(USER));
	fd = user_events_try_open();
	reg(fd, "ue_blocked", (void *)page, 4, 0);
	CHECK_OK(ioctl(fault, UFFDIO_API, &api));
	range.range.start = PTR(page);
	range.range.len = page_size();
	CHECK_OK(ioctl(fault, UFFDIO_REGISTER, &range));
	CHECK_OK(madvise((void *)page, page_size(), MADV_DONTNEED));
	__atomic_fetch_add(&state[8], 1 << 8, __ATOMIC_RELAXED);
	CHECK_EQ(read(fault, &message, sizeof(message)), (ssize_t)sizeof(message));
	__atomic_fetch_add(&state[9], 1, __ATOMIC_RELAXED);
	WAIT_FOR(state[1] == 2);
}

/* The kernel's number of mm_structs. */
static long memories(void)
{
	FILE *file = fopen("/proc/slabinfo", "r");
	char line[512];
	long count = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "mm_struct ", 10))
			count = strtol(line + 10, NULL, 10);
	if (file)
		fclose(file);
	return count;
}

#define WAITING_CHILDREN (WAITING_MOST + 40)
#define EXITED_CHILDREN 500

/* Forks children that sleep until the end of the pipe. */
static void fork_sleepers(unsigned int count)
{
	int ends[2];
	char byte;

	CHECK_OK(pipe2(ends, O_CLOEXEC));
	while (count--) {
		if (CHECK_OK(fork()))
			continue;
		close(ends[1]);
		_exit((int)read(ends[0], &byte, 1));
	}
	state[0] = 1;
	WAIT_FOR(state[1] == 2);
	close(ends[1]);
	while (wait(NULL) > 0)
		;
}

static void fork_beyond_the_queue(void)
{
	int fd = user_events_try_open(), i;
	volatile __u32 *word;

	/* Children that exit at once do not wait. */
	word = pages_map(page_size());
	reg(fd, EVENT, (void *)word, 4, 0);
	for (i = 0; i < EXITED_CHILDREN; i++) {
		pid_t child = CHECK_OK(fork());

		if (!child)
			_exit(0);
		CHECK_OK(waitpid(child, NULL, 0));
	}
	state[4] = 1;
	WAIT_FOR(state[1] == 4);
	fork_sleepers(WAITING_CHILDREN);
}

TEST_WITHIN(waiting_children_are_limited, 600)
{
	pid_t user, blockers[WORKS_MOST];
	struct switcher switcher;
	long before, most = 0;
	int i;

	start("");
	state_make();
	before = memories();
	if (before < 0)
		SKIP("this kernel does not count mm_structs");
	switcher_open(&switcher);
	for (i = 0; i < WORKS_MOST; i++) {
		blockers[i] = test_fork();
		if (!blockers[i]) {
			block();
			_exit(0);
		}
	}
	WAIT_FOR(state[8] & 1 || state[8] >> 8 == WORKS_MOST);
	if (state[8] & 1) {
		state[1] = 2;
		SKIP("this kernel has no userfaultfd");
	}
	switch_on(&switcher);
	WAIT_FOR(state[9] == WORKS_MOST);
	user = fork_user(USER, fork_beyond_the_queue);
	while (!state[4]) {
		long now = memories();

		most = now > most ? now : most;
	}
	test_print("%ld mm_structs before, at most %ld", before, most);
	CHECK(most < before + WAITING_MOST + 256);
	CHECK_EQ(lost(), 0);
	state[1] = 4;
	WAIT_FOR(state[0] == 1);
	/* The last ones that have exited may still be looked at. */
	test_print("%ld children lost", lost());
	CHECK(lost() >= WAITING_CHILDREN - WAITING_MOST);
	FEW_STEPS(STEPS_USER_EVENTS);
	state[1] = 2;
	for (i = 0; i < WORKS_MOST; i++)
		test_join(blockers[i]);
	test_join(user);
	WAIT_FOR(memories() < before + 256);
}

/* ---- ends ---- */

static void fork_and_miss_pages(void)
{
	const size_t bytes = FAULTING_ENABLERS * page_size();
	volatile __u32 *pages = pages_map(bytes);
	int fd = user_events_try_open();

	register_words(fd, pages, FAULTING_ENABLERS, page_size());
	for (;;) {
		pid_t child = CHECK_OK(fork());

		if (!child) {
			/* Its first change copies the set. */
			try_unreg(fd, (void *)pages, 0);
			pause();
		}
		if (++state[0] == 20)
			break;
	}
	for (;;)
		CHECK_OK(madvise((void *)pages, bytes, MADV_DONTNEED));
}

/* Whatever the user's processes are doing, nothing of them is left, and the module can go. */
TEST(killed_while_bits_change)
{
	struct switcher switcher;
	int device;
	pid_t user;

	start("");
	state_make();
	switcher_open(&switcher);
	CHECK_OK(seteuid(USER));
	device = device_open();
	CHECK_OK(seteuid(0));
	user = test_fork();
	if (!user) {
		CHECK_OK(setpgid(0, 0));
		CHECK_OK(setgid(USER));
		CHECK_OK(setuid(USER));
		fork_and_miss_pages();
	}
	WAIT_FOR(state[0] == 20);
	switch_on(&switcher);
	switch_off(&switcher);
	switch_on(&switcher);
	CHECK_OK(kill(-user, SIGKILL));
	test_join_signal(user, SIGKILL);
	WAIT_FOR(!quota(device, EVENTLOG_QUOTA_REGISTRATIONS).use);
	WAIT_FOR(!file_has(USER_EVENTS_STATUS, "ue_isolated"));
	FEW_STEPS(STEPS_USER_EVENTS);
	FEW_STEPS(STEPS_MMAP);
	consumer_close(&switcher.consumer);
	close(device);
	WAIT_FOR(!try_unload());
	CHECK_OK(try_load(""));
}
