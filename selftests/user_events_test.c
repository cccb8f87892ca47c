// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of user_events where the module provides it: what the kernel's own tests cannot see
 * (see user_events_suite_test.sh).  Bits are in the right word and no other bit changes; a
 * child follows; memory of another program is never written; arguments may be hostile.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "module_common.h"
#include "user_events_common.h"

/* ---- bits ---- */

#define PATTERN 0xa5a5a5a5U

TEST(bits_are_in_the_right_word)
{
	/* Aligned to 8: the middle ones are at offsets 0 and 4 of a long. */
	static volatile __u32 words[8] __attribute__((aligned(8)));
	struct switcher switcher;
	int fd = user_events_open(), i;

	for (i = 0; i < 8; i++)
		words[i] = PATTERN;
	reg(fd, "ue_words", (void *)&words[2], 4, 1);
	reg(fd, "ue_words", (void *)&words[3], 4, 3);
	reg(fd, "ue_words", (void *)&words[3], 4, 30);
	reg(fd, "ue_words", (void *)&words[4], 4, 31);
	/* Registering clears a bit that was set. */
	CHECK_EQ(words[4], PATTERN & ~(1U << 31));
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(words[2], PATTERN | 1U << 1);
	CHECK_EQ(words[3], PATTERN | 1U << 3 | 1U << 30);
	CHECK_EQ(words[4], PATTERN);
	CHECK_OK(try_unreg(fd, (void *)&words[3], 30));
	CHECK_EQ(words[3], PATTERN | 1U << 3);
	switch_off(&switcher);
	for (i = 0; i < 8; i++)
		CHECK_EQ(words[i], i == 4 ? PATTERN & ~(1U << 31) : PATTERN);
	CHECK_ERRNO(try_unreg(fd, (void *)&words[3], 30), ENOENT);
}

TEST(bits_of_a_long)
{
	static volatile __u64 words[3] __attribute__((aligned(8)));
	struct switcher switcher;
	int fd = user_events_open();

	if (try_reg(fd, "ue_long", (void *)&words[1], 8, 63) && errno == EINVAL)
		SKIP("a 32-bit kernel has no bits in 64-bit words");
	reg(fd, "ue_long", (void *)&words[1], 8, 0);
	reg(fd, "ue_long", (void *)&words[1], 8, 33);
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(words[1], 1ULL << 63 | 1ULL << 33 | 1);
	switch_off(&switcher);
	CHECK_EQ(words[0] | words[1] | words[2], 0);
}

TEST(bit_of_an_enabled_event_is_set_at_once)
{
	struct switcher switcher;
	__u32 word = 0;
	int fd = user_events_open();

	switcher_open(&switcher);
	switch_on(&switcher);
	reg(fd, "ue_enabled", &word, 4, 7);
	CHECK_EQ(*(volatile __u32 *)&word, 1 << 7);
	/* The last subscriber goes without deleting its rule. */
	consumer_close(&switcher.consumer);
	CHECK_EQ(*(volatile __u32 *)&word, 0);
}

TEST(bit_in_a_missing_page)
{
	struct switcher switcher;
	volatile __u32 *page;
	int fd = user_events_open();

	page = pages_map(page_size());
	reg(fd, "ue_missing", (void *)page, 4, 0);
	CHECK_OK(madvise((void *)page, page_size(), MADV_DONTNEED));
	switcher_open(&switcher);
	switch_on(&switcher);
	WAIT_FOR(*page == 1);
	switch_off(&switcher);
	WAIT_FOR(!*page);
}

TEST(bit_in_unwritable_memory)
{
	struct switcher switcher;
	volatile __u32 *page;
	__u32 word = 0;
	int fd = user_events_open();

	page = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	CHECK_ERRNO(try_reg(fd, "ue_readonly", (void *)page, 4, 0), EFAULT);
	CHECK_ERRNO(try_reg(fd, "ue_readonly", pages_unmapped(), 4, 0), EFAULT);
	/* The same bit can be registered once its memory is writable. */
	CHECK_OK(mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE));
	reg(fd, "ue_readonly", (void *)page, 4, 0);
	reg(fd, "ue_readonly", &word, 4, 0);
	/* It is never written while it is not, and the next change is tried again. */
	CHECK_OK(mprotect((void *)page, page_size(), PROT_READ));
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(*(volatile __u32 *)&word, 1);
	CHECK_EQ(*page, 0);
	switch_off(&switcher);
	CHECK_OK(mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE));
	switch_on(&switcher);
	WAIT_FOR(*page == 1);
	CHECK_OK(munmap((void *)page, page_size()));
	switch_off(&switcher);
	CHECK_EQ(*(volatile __u32 *)&word, 0);
	CHECK_ERRNO(try_unreg(fd, (void *)page, 0), EFAULT);
	CHECK_ERRNO(try_unreg(fd, (void *)page, 0), ENOENT);
}

/* ---- fork, exec, exit ---- */

TEST(child_follows)
{
	volatile __u32 *page, *child_state;
	struct switcher switcher;
	int fd = user_events_open();
	pid_t child;

	page = pages_map(page_size());
	child_state = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(child_state != MAP_FAILED);
	reg(fd, "ue_child", (void *)page, 4, 2);
	page[1] = PATTERN;
	child = test_fork();
	if (!child) {
		/* It does not touch the page before: parent and child share it. */
		WAIT_FOR(page[0] == 1 << 2);
		CHECK_EQ(page[1], PATTERN);
		child_state[0] = 1;
		WAIT_FOR(!page[0]);
		/* Its own bit goes, the parent's stays. */
		child_state[0] = 2;
		WAIT_FOR(page[0] == 1 << 2);
		CHECK_OK(try_unreg(user_events_try_open(), (void *)page, 2));
		CHECK_EQ(page[0], 0);
		CHECK_ERRNO(try_unreg(user_events_try_open(), (void *)page, 2), ENOENT);
		_exit(0);
	}
	switcher_open(&switcher);
	switch_on(&switcher);
	WAIT_FOR(page[0] == 1 << 2 && child_state[0] == 1);
	switch_off(&switcher);
	WAIT_FOR(!page[0] && child_state[0] == 2);
	switch_on(&switcher);
	test_join(child);
	WAIT_FOR(page[0] == 1 << 2);
	CHECK_EQ(page[1], PATTERN);
}

/* A page that can be protected against writes, which then wait for protect(..., false). */
static void protect(int faults, const volatile void *page, bool on)
{
	struct uffdio_writeprotect request = {
		.range = { .start = PTR(page), .len = page_size() },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	CHECK_OK(ioctl(faults, UFFDIO_WRITEPROTECT, &request));
}

static int protect_open(const volatile void *page)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register range = {
		.range = { .start = PTR(page), .len = page_size() },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    ioctl(faults, UFFDIO_REGISTER, &range))
		SKIP("this kernel cannot have a program wait for writes to a page");
	return faults;
}

static void *unreg_page(void *page)
{
	CHECK_OK(try_unreg(user_events_try_open(), page, 0));
	return NULL;
}

/* A thread forks while another one waits for the page of a bit that it unregisters. */
TEST(child_follows_while_a_bit_is_unregistered)
{
	volatile __u32 *page = pages_map(page_size()), *other = pages_map(page_size());
	int fd = user_events_open(), faults = protect_open(page);
	struct switcher switcher;
	struct uffd_msg message;
	pthread_t thread;
	pid_t child;

	reg(fd, "ue_both", (void *)page, 4, 0);
	reg(fd, "ue_both", (void *)other, 4, 0);
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(page[0], 1);
	protect(faults, page, true);
	CHECK(!pthread_create(&thread, NULL, unreg_page, (void *)page));
	CHECK_EQ(read(faults, &message, sizeof(message)), (ssize_t)sizeof(message));
	child = test_fork();
	if (!child) {
		/* The event is disabled when its bits are 1 no longer. */
		WAIT_FOR(!other[0] && !page[0]);
		_exit(0);
	}
	protect(faults, page, false);
	CHECK(!pthread_join(thread, NULL));
	CHECK_EQ(page[0], 0);
	CHECK_EQ(other[0], 1);
	switch_off(&switcher);
	test_join(child);
}

/*
 * Parent and child have a bit each in one page, which is mapped before the fork.  Before the
 * first write after it, both have the same page, also if it is private.
 */
static void copy_page(int flags, int file)
{
	const bool private = flags & MAP_PRIVATE;
	volatile __u32 *page, *state;
	__u32 words[3] = {};
	struct switcher switcher;
	int fd = user_events_open();
	pid_t child;

	page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, flags, file, 0);
	CHECK(page != MAP_FAILED);
	state = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(state != MAP_FAILED);
	reg(fd, "ue_copy", (void *)page, 4, 0);
	page[2] = PATTERN;
	child = test_fork();
	if (!child) {
		reg(user_events_try_open(), "ue_copy", (void *)&page[1], 4, 1);
		CHECK_OK(try_unreg(user_events_try_open(), (void *)page, 0));
		state[0] = 1;
		WAIT_FOR(state[1] == 1 && page[1] == 1 << 1);
		CHECK_EQ(page[0], private ? 0 : 1);
		state[0] = 2;
		WAIT_FOR(state[1] == 2 && !page[1]);
		CHECK_EQ(page[0], 0);
		CHECK_EQ(page[2], PATTERN);
		_exit(0);
	}
	WAIT_FOR(state[0] == 1);
	CHECK_EQ(page[1], 0);
	switcher_open(&switcher);
	switch_on(&switcher);
	WAIT_FOR(page[0] == 1);
	state[1] = 1;
	WAIT_FOR(state[0] == 2);
	CHECK_EQ(page[1], private ? 0 : 1 << 1);
	if (file >= 0) {
		CHECK_EQ(pread(file, words, sizeof(words), 0), (ssize_t)sizeof(words));
		CHECK_EQ(words[0], private ? 0 : 1);
		CHECK_EQ(words[1], private ? 0 : 1 << 1);
	}
	switch_off(&switcher);
	WAIT_FOR(!page[0]);
	state[1] = 2;
	test_join(child);
	CHECK_EQ(page[1], 0);
	CHECK_EQ(page[2], PATTERN);
}

TEST(copies_of_a_page)
{
	int file;

	close(user_events_open());
	file = CHECK_OK(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	CHECK_OK(ftruncate(file, (off_t)page_size()));
	copy_page(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	copy_page(MAP_PRIVATE, file);
	copy_page(MAP_SHARED, file);
}

TEST(grandchild_follows)
{
	struct switcher switcher;
	volatile __u32 *page;
	int fd = user_events_open();
	pid_t child, grandchild;

	page = pages_map(page_size());
	reg(fd, "ue_grandchild", (void *)page, 4, 2);
	child = test_fork();
	if (!child) {
		grandchild = test_fork();
		if (!grandchild) {
			WAIT_FOR(page[0] == 1 << 2);
			_exit(0);
		}
		test_join(grandchild);
		_exit(0);
	}
	/* The parent's memory is gone before the grandchild looks. */
	CHECK_OK(try_unreg(fd, (void *)page, 2));
	switcher_open(&switcher);
	switch_on(&switcher);
	test_join(child);
}

#define EXECUTED "USER_EVENTS_TEST_EXECUTED"
#define EXECUTED_AT 0x20000000UL

/*
 * In the program that the case below executes: memory at the address of the bit is that
 * program's, and stays as it is.  Pipes have fixed numbers.
 */
static void __attribute__((constructor)) executed(void)
{
	volatile __u32 *page;
	unsigned int i;
	char byte;

	if (!getenv(EXECUTED))
		return;
	page = mmap((void *)EXECUTED_AT, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page == MAP_FAILED)
		_exit(2);
	for (i = 0; i < 1024; i++)
		page[i] = PATTERN;
	if (write(200, "", 1) != 1 || read(201, &byte, 1) != 1)
		_exit(3);
	for (i = 0; i < 1024; i++)
		if (page[i] != PATTERN)
			_exit(4);
	_exit(0);
}

TEST(executed_program_is_not_written)
{
	int fd = user_events_open(), ready[2], looked[2], i;
	struct switcher switcher;
	volatile __u32 *page;
	pid_t child;
	char byte;

	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(looked));
	switcher_open(&switcher);
	child = test_fork();
	if (!child) {
		page = mmap((void *)EXECUTED_AT, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		CHECK(page != MAP_FAILED);
		for (i = 0; i < 32; i++)
			reg(fd, "ue_executed", (void *)&page[i], 4, i);
		CHECK_OK(dup2(ready[1], 200));
		CHECK_OK(dup2(looked[0], 201));
		setenv(EXECUTED, "1", 1);
		execl("/proc/self/exe", "executed", NULL);
		_exit(1);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	for (i = 0; i < 5; i++) {
		switch_on(&switcher);
		switch_off(&switcher);
	}
	switch_on(&switcher);
	CHECK_EQ(write(looked[1], "", 1), 1);
	test_join(child);
	/* exec has unregistered: only this case's file keeps the event. */
	close(fd);
	WAIT_FOR(!file_has(USER_EVENTS_STATUS, "ue_executed"));
}

TEST(exit_ends_the_event)
{
	pid_t child;

	close(user_events_open());
	child = test_fork();
	if (!child) {
		static __u32 word;
		int fd = user_events_try_open();

		reg(fd, "ue_exit u32 a", &word, 4, 0);
		close(fd);
		CHECK(file_has(USER_EVENTS_STATUS, "ue_exit\n"));
		CHECK(file_exists(USER_EVENTS_GROUP "/ue_exit/enable"));
		_exit(0);
	}
	test_join(child);
	WAIT_FOR(!file_has(USER_EVENTS_STATUS, "ue_exit\n"));
	WAIT_FOR(!file_exists(USER_EVENTS_GROUP "/ue_exit"));
}

/* ---- arguments ---- */

TEST(hostile_registrations)
{
	static __u32 words[4] __attribute__((aligned(8)));
	struct user_reg request;
	char longest[700], large[8192] __attribute__((aligned(8))) = {};
	int fd = user_events_open();

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, NULL), EFAULT);
	CHECK_ERRNO(ioctl(fd, _IO('*', 0), &request), ENOTTY);
	CHECK_ERRNO(ioctl(fd, _IO('*', 3), &request), ENOTTY);
	request = reg_request("ue_x", words, 4, 0);
	request.size--;
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, &request), EINVAL);
	request.size = 1 << 20;
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, &request), E2BIG);
	/* A later version of the struct: zeroes are ignored, anything else is refused. */
	request.size = sizeof(request) + 64;
	memcpy(large, &request, sizeof(request));
	CHECK_OK(ioctl(fd, USER_EVENTS_REG, large));
	CHECK_OK(try_unreg(fd, words, 0));
	large[sizeof(request) + 63] = 1;
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, large), E2BIG);
	request = reg_request("ue_x", words, 4, 0);
	request.flags = 4;
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, &request), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", words, 2, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", words, 0, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", words, 4, 32), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", words, 8, 64), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", (char *)words + 2, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", words + 1, 8, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x", (void *)-4096L, 4, 0), EFAULT);
	CHECK_ERRNO(try_reg(fd, NULL, words, 4, 0), EFAULT);
	CHECK_ERRNO(try_reg(fd, longest, words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue:flag", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x u32\na", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x u32", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x long a", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x u32 a 4", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x char[1025] a", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x char[0] a", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_reg(fd, "ue_x u32[2] a", words, 4, 0), EINVAL);
	CHECK_ERRNO(try_unreg(fd, words, 0), ENOENT);
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, NULL), EFAULT);
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_none"), ENOENT);
	CHECK_EQ(words[0] | words[1] | words[2] | words[3], 0);
}

static void persist_without_rights(void)
{
	static __u32 word;
	struct user_reg request = reg_request("ue_rights", &word, 4, 0);
	int fd = user_events_try_open();

	request.flags = USER_EVENTS_PERSIST;
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_REG, &request), EPERM);
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_kept"), EPERM);
	reg(fd, "ue_rights", &word, 4, 0);
}

TEST(rights)
{
	struct stat file, directory;
	struct user_reg request;
	__u32 word = 0;
	int fd = user_events_open();

	CHECK_OK(stat(USER_EVENTS_DATA, &file));
	CHECK_OK(stat(TRACEFS, &directory));
	CHECK_EQ(file.st_mode, S_IFREG | 0640);
	CHECK_EQ(file.st_gid, directory.st_gid);
	CHECK_OK(stat(USER_EVENTS_STATUS, &file));
	CHECK_EQ(file.st_mode, S_IFREG | 0440);

	request = reg_request("ue_kept", &word, 4, 0);
	request.flags = USER_EVENTS_PERSIST;
	CHECK_OK(ioctl(fd, USER_EVENTS_REG, &request));
	CHECK_OK(try_unreg(fd, &word, 0));
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_kept"), EBUSY);
	close(fd);
	CHECK_OK(chmod(TRACEFS, 0755));
	CHECK_OK(chmod(USER_EVENTS_DATA, 0666));
	as_user(USER, persist_without_rights);
	CHECK_OK(chmod(USER_EVENTS_DATA, 0640));
	fd = user_events_try_open();
	CHECK_OK(ioctl(fd, USER_EVENTS_DEL, "ue_kept"));
	CHECK(!file_exists(USER_EVENTS_GROUP "/ue_kept"));
}

/* Makes a persistent event, which the file registers, and no bit. */
static void register_kept(int fd, const char *command, __u16 flags)
{
	static __u32 word;
	struct user_reg request = reg_request(command, &word, 4, 0);

	request.flags = USER_EVENTS_PERSIST | flags;
	CHECK_OK(ioctl(fd, USER_EVENTS_REG, &request));
	CHECK_OK(try_unreg(fd, &word, 0));
}

/* A name has one format and several ones; DEL fails because of one of them, and deletes none. */
TEST(deletes_all_or_none)
{
	int fd = user_events_open(), one = user_events_try_open(), multi = user_events_try_open();

	register_kept(one, "ue_kept u32 a", 0);
	register_kept(multi, "ue_kept u64 b", USER_EVENTS_MULTI);
	close(one);
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_kept"), EBUSY);
	CHECK(file_has(USER_EVENTS_STATUS, "Active: 2\n"));
	close(multi);
	CHECK(file_write(USER_EVENTS_GROUP "/ue_kept/enable", "1") > 0);
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_kept"), EBUSY);
	CHECK(file_has(USER_EVENTS_STATUS, "Active: 2\n"));
	CHECK(file_write(USER_EVENTS_GROUP "/ue_kept/enable", "0") > 0);
	CHECK_OK(ioctl(fd, USER_EVENTS_DEL, "ue_kept"));
	CHECK(file_has(USER_EVENTS_STATUS, "Active: 0\n"));
	CHECK_ERRNO(ioctl(fd, USER_EVENTS_DEL, "ue_kept"), ENOENT);
}

static void fork_beyond_the_limit(void)
{
	static __u32 words[3];
	int fd = user_events_try_open();
	pid_t child;

	/* The file's registration and two bits are three of four; the child is the fourth. */
	reg(fd, "ue_limit", &words[0], 4, 0);
	reg(fd, "ue_limit", &words[1], 4, 0);
	child = test_fork();
	if (!child) {
		/* It cannot have bits of its own: the other one is lost. */
		CHECK_OK(try_unreg(fd, &words[0], 0));
		CHECK_ERRNO(try_unreg(fd, &words[1], 0), ENOENT);
		_exit(0);
	}
	test_join(child);
	/* The limit counts children only while they live. */
	WAIT_FOR(!try_reg(fd, "ue_limit", &words[2], 4, 0));
	CHECK_ERRNO(try_reg(fd, "ue_limit", &words[2], 4, 1), EMFILE);
}

TEST(limit_of_a_user)
{
	close(user_events_open());
	load_open("user_registrations_max=4");
	CHECK_OK(chmod(TRACEFS, 0755));
	CHECK_OK(chmod(USER_EVENTS_DATA, 0666));
	as_user(USER, fork_beyond_the_limit);
}

/* ---- events ---- */

TEST(names_and_types)
{
	static __u32 words[2];
	int fd = user_events_open();

	reg(fd, "ue_types int a;unsigned char[0x14] b; __rel_loc u8[] c; struct pair d 8; char e",
	    &words[0], 4, 0);
	CHECK(file_has(USER_EVENTS_GROUP "/ue_types/format",
		       "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
		       "\tfield:unsigned char b[20];\toffset:12;\tsize:20;\tsigned:0;\n"));
	CHECK(file_has(USER_EVENTS_GROUP "/ue_types/format",
		       "\tfield:struct pair d;\toffset:36;\tsize:8;\tsigned:0;\n"
		       "\tfield:char e;\toffset:44;\tsize:1;\tsigned:1;\n"));
	/* Types that are written in another way are another format. */
	CHECK_ERRNO(try_reg(fd, "ue_types s32 a;unsigned char[0x14] b; __rel_loc u8[] c; "
			    "struct pair d 8; char e", &words[1], 4, 0), EADDRINUSE);
	reg(fd, "Some-Provider.x%n\"_L4K1fGgroup u8 eventheader_flags", &words[1], 4, 0);
	CHECK(file_exists(USER_EVENTS_GROUP "/Some-Provider.x%n\"_L4K1fGgroup/format"));
	reg(fd, "../ue/up", &words[1], 4, 1);
	CHECK(file_exists(USER_EVENTS_GROUP "/_._ue_up/format"));
	CHECK(file_has(USER_EVENTS_STATUS, "../ue/up\n"));
}

TEST(level_and_keywords_of_eventheader)
{
	static volatile __u32 words[4];
	struct consumer consumer;
	struct eventlog_rule rule;
	int fd = user_events_open();

	reg(fd, "Ue_L2K10 u8 eventheader_flags; u8 version", (void *)&words[0], 4, 0);
	reg(fd, "Ue_L5K1 u8 eventheader_flags; u8 version", (void *)&words[1], 4, 0);
	/* Not eventheader's: no such field; a level that does not exist. */
	reg(fd, "Ue_L1K1 u8 other", (void *)&words[2], 4, 0);
	reg(fd, "Ue_L9K1 u8 eventheader_flags", (void *)&words[3], 4, 0);
	consumer_open(&consumer, 1 << 16);
	rule = rule_request("user_events", "*");
	rule.level = EVENTLOG_LEVEL_ERROR;
	rule_add_with(consumer.fd, &rule);
	CHECK_EQ(words[0], 1);
	CHECK_EQ(words[1] | words[2] | words[3], 0);
	CHECK_OK(try_rule_delete(consumer.fd, rule.rule_id));
	rule = rule_request("user_events", "*");
	rule.keywords_any = 0x1;
	rule_add_with(consumer.fd, &rule);
	CHECK_EQ(words[1], 1);
	CHECK_EQ(words[0] | words[2] | words[3], 0);
	CHECK_OK(try_rule_delete(consumer.fd, rule.rule_id));
	rule = rule_request("user_events", "*");
	rule.level = EVENTLOG_LEVEL_INFO;
	rule_add_with(consumer.fd, &rule);
	CHECK_EQ(words[0] & words[2] & words[3], 1);
	CHECK_EQ(words[1], 0);
}

TEST(writes)
{
	static volatile __u32 word;
	struct switcher switcher;
	struct record record;
	struct {
		__u32 index;
		__u32 number;
		__u32 text_at;
		__u32 bytes_at;
		char text[3];
		__u8 bytes[5];
	} __attribute__((packed)) message = {
		.number = 42, .text_at = 3 << 16 | (8 + 12), .bytes_at = 5 << 16 | 3,
		.text = "hi", .bytes = { 1, 2, 3, 4, 5 },
	};
	const size_t fixed = 16;
	char *large;
	int fd = user_events_open();

	message.index = reg(fd, "ue_write u32 a; __data_loc char[] b; __rel_loc u8[] c",
			    (void *)&word, 4, 0);
	CHECK_ERRNO(write(fd, &message, 3), EFAULT);
	/* Too short comes before not enabled. */
	CHECK_ERRNO(write(fd, &message, fixed - 1), EINVAL);
	CHECK_ERRNO(write(fd, &message, sizeof(message)), EBADF);
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(word, 1);
	CHECK_EQ(write(fd, &message, sizeof(message)), (ssize_t)sizeof(message));
	consumer_one(&switcher.consumer, &record);
	/* Offsets of records count from the payload. */
	CHECK_EQ(((const __u32 *)record.payload)[0], 42);
	CHECK_EQ(((const __u32 *)record.payload)[1], 3 << 16 | 12);
	CHECK_EQ(((const __u32 *)record.payload)[2], 5 << 16 | 3);
	CHECK(!memcmp(record.payload + 12, "hi\0\1\2\3\4\5", 8));

	message.index = 1;
	CHECK_ERRNO(write(fd, &message, sizeof(message)), ENOENT);
	message.index = -1;
	CHECK_ERRNO(write(fd, &message, sizeof(message)), EINVAL);
	message.index = 0;
	message.text_at = 3 << 16 | 7;	/* in the header */
	CHECK_ERRNO(write(fd, &message, sizeof(message)), EFAULT);
	message.text_at = 3 << 16 | (8 + 12);
	message.text[2] = 'x';		/* not terminated */
	CHECK_ERRNO(write(fd, &message, sizeof(message)), EFAULT);
	message.text[2] = '\0';
	message.bytes_at = 6 << 16 | 3;	/* beyond the end */
	CHECK_ERRNO(write(fd, &message, sizeof(message)), EFAULT);
	message.bytes_at = 5 << 16 | 3;
	CHECK_ERRNO(write(fd, (char *)pages_unmapped(), sizeof(message)), EFAULT);
	CHECK_EQ(consumer_skip(&switcher.consumer), 0);

	large = calloc(1, 1 << 17);
	CHECK(large);
	memcpy(large, &message, sizeof(message));
	CHECK_ERRNO(write(fd, large, 1 << 17), E2BIG);
	CHECK_EQ(write(fd, large, 2000), 2000);
	consumer_one(&switcher.consumer, &record);
	CHECK_EQ(record.bytes, ((2000 - 4) + 7) & ~7);
}

TEST(other_files_have_other_indices)
{
	static __u32 words[4];
	int fd = user_events_open(), other = user_events_open();

	CHECK_EQ(reg(fd, "ue_first", &words[0], 4, 0), 0);
	CHECK_EQ(reg(fd, "ue_second", &words[1], 4, 0), 1);
	CHECK_EQ(reg(other, "ue_second", &words[2], 4, 0), 0);
	CHECK_EQ(reg(fd, "ue_second", &words[3], 4, 0), 1);
	CHECK_ERRNO(try_reg(other, "ue_first", &words[3], 4, 0), EADDRINUSE);
}

/* ---- status ---- */

#define LISTED_EVENTS 100

/* The name is long, so that the list does not fit in one page. */
static void listed_name(char *name, size_t size, int number)
{
	snprintf(name, size, "ue_listed_%03d_%0200d", number, 0);
}

/* Reads the file to its end, @most bytes at a time; the first part is read already. */
static void rest_read(int fd, char *text, size_t used, size_t size, size_t most)
{
	ssize_t got;

	while ((got = CHECK_OK(read(fd, text + used, most)))) {
		used += (size_t)got;
		CHECK(used + most < size);
	}
	text[used] = '\0';
}

static unsigned int occurrences(const char *text, const char *part)
{
	unsigned int count = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		count++;
	}
	return count;
}

TEST(status_in_parts)
{
	static __u32 words[LISTED_EVENTS];
	const size_t size = 1 << 16;
	char name[256], *text = malloc(size);
	int i, fd = user_events_open(), short_lived = user_events_open(), status;
	unsigned int active;

	CHECK(text);
	for (i = 0; i < LISTED_EVENTS; i++) {
		listed_name(name, sizeof(name), i);
		reg(i % 2 ? short_lived : fd, name, &words[i], 4, 0);
	}
	for (i = 1; i < LISTED_EVENTS; i += 2)
		CHECK_OK(try_unreg(short_lived, &words[i], 0));
	status = CHECK_OK(open(USER_EVENTS_STATUS, O_RDONLY | O_CLOEXEC));
	/* Events that end and events that begin between two reads. */
	CHECK_EQ(read(status, text, 100), 100);
	close(short_lived);
	listed_name(name, sizeof(name), 999);
	reg(fd, name, &words[1], 4, 0);
	rest_read(status, text, 100, size, 77);
	for (i = 0; i < LISTED_EVENTS; i += 2) {
		listed_name(name, sizeof(name), i);
		CHECK_EQ(occurrences(text, name), 1);
	}
	CHECK(strstr(text, "\n\nActive: "));
	active = (unsigned int)atoi(strstr(text, "\n\nActive: ") + 10);
	CHECK_EQ(active, occurrences(text, "\nue_") + 1);
	CHECK_EQ(occurrences(text, "\nBusy: 0\n"), 1);
	CHECK_EQ(read(status, text, 100), 0);

	/* From the start, and from the middle. */
	CHECK_OK(lseek(status, 0, SEEK_SET));
	rest_read(status, text, 0, size, 4096);
	CHECK_EQ(occurrences(text, "ue_listed_"), LISTED_EVENTS / 2 + 1);
	CHECK_EQ(pread(status, text + size / 2, 1000, 5001), 1000);
	CHECK(!memcmp(text + 5001, text + size / 2, 1000));
	/* Open, and in the middle, when all events end. */
	CHECK_OK(lseek(status, 3000, SEEK_SET));
	CHECK_EQ(read(status, text, 10), 10);
	close(fd);
	for (i = 0; i < LISTED_EVENTS; i += 2)
		CHECK_OK(try_unreg(user_events_try_open(), &words[i], 0));
	CHECK_OK(try_unreg(user_events_try_open(), &words[1], 0));
	rest_read(status, text, 0, size, 4096);
	close(status);
}

/* ---- programs ---- */

#define DOTNET "Dotnet.Test"

static const char dotnet_extension[17] = "\2an activity's id";
static const char dotnet_payload[] = "payload";

/*
 * What .NET's runtime does: it gets the file from a tool over a socket.  Built without the
 * kernel's header, its request has the padding of a struct that is not packed.  A record is
 * written in parts.
 */
static void dotnet_run(int socket, bool unregisters)
{
	static volatile __u32 enabled;
	struct {
		struct user_reg reg;
		__u32 padding;
	} request = {
		.reg = reg_request(DOTNET " u8 version; u16 event_id; __rel_loc u8[] extension; "
				   "__rel_loc u8[] payload", (void *)&enabled, 4, 31),
	};
	const __u32 extension = sizeof(dotnet_extension) << 16 | 4;
	const __u32 payload = sizeof(dotnet_payload) << 16 | sizeof(dotnet_extension);
	const __u16 event_id = 42;
	const __u8 version = 1;
	const struct iovec parts[] = {
		{ &request.reg.write_index, 4 }, { (void *)&version, 1 }, { (void *)&event_id, 2 },
		{ (void *)&extension, 4 }, { (void *)&payload, 4 },
		{ (void *)dotnet_extension, sizeof(dotnet_extension) },
		{ (void *)dotnet_payload, sizeof(dotnet_payload) },
	};
	int fd = descriptor_receive(socket);

	request.reg.size = sizeof(request);
	CHECK_OK(ioctl(fd, USER_EVENTS_REG, &request));
	CHECK_EQ(request.padding, 0);
	WAIT_FOR(enabled);
	CHECK_EQ(enabled, 1U << 31);
	CHECK_EQ(writev(fd, parts, ARRAY_SIZE(parts)),
		 4 + 11 + sizeof(dotnet_extension) + sizeof(dotnet_payload));
	if (unregisters) {
		CHECK_OK(try_unreg(fd, (void *)&enabled, 31));
		CHECK_EQ(enabled, 0);
	}
}

TEST(program_like_dotnet)
{
	struct switcher switcher;
	struct record record;
	int sockets[2], i;

	close(user_events_open());
	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	switcher_open(&switcher);
	for (i = 0; i < 2; i++) {
		int fd = user_events_open();
		pid_t child = test_fork();

		if (!child) {
			dotnet_run(sockets[1], i);
			_exit(0);
		}
		descriptor_send(sockets[0], fd);
		close(fd);
		WAIT_FOR(file_exists(USER_EVENTS_GROUP "/" DOTNET "/enable"));
		switch_on(&switcher);
		test_join(child);
		consumer_one(&switcher.consumer, &record);
		CHECK_EQ(record.payload[0], 1);
		CHECK_EQ(record.payload[1] | record.payload[2] << 8, 42);
		CHECK(!memcmp(record.payload + 11, dotnet_extension, sizeof(dotnet_extension)));
		CHECK(!memcmp(record.payload + 11 + sizeof(dotnet_extension), dotnet_payload,
			      sizeof(dotnet_payload)));
		switch_off(&switcher);
		WAIT_FOR(!file_has(USER_EVENTS_STATUS, DOTNET) &&
			 !file_exists(USER_EVENTS_GROUP "/" DOTNET));
	}
}

/* ---- files of trace events ---- */

/*
 * From 6.6 to 6.10 the kernel uses freed memory when an event goes away while its files are
 * in use: trigger and hist while they are open, enable and filter during open().  This
 * is a bug of the kernel, not of the module.  On older kernels the module prevents it.
 */
static bool files_survive(void)
{
	return kernel_before(6, 6) || !kernel_before(6, 11);
}

static const char *path_of(const char *event, const char *file)
{
	static char path[sizeof(USER_EVENTS_GROUP) + 300];

	snprintf(path, sizeof(path), USER_EVENTS_GROUP "/%s/%s", event, file);
	return path;
}

/* A trace event is removed while its files are open, and its name is used again. */
TEST(files_open_across_removal)
{
	static const char *const files[] = { "format", "enable", "filter", "id", "hist", "trigger" };
	unsigned int count = ARRAY_SIZE(files) - 2 * !files_survive(), i;
	int fds[ARRAY_SIZE(files)], fd = user_events_open();
	static __u32 word;
	char text[100];

	reg(fd, "ue_open u32 value; u64 more", &word, 4, 0);
	for (i = 0; i < count; i++) {
		fds[i] = open(path_of("ue_open", files[i]), O_RDONLY | O_CLOEXEC);
		/* All kernels have the first file; the others may be missing. */
		CHECK(i ? fds[i] >= 0 || errno == ENOENT : fds[i] >= 0);
		CHECK(fds[i] < 0 || read(fds[i], text, 1) >= 0);
	}
	CHECK_OK(try_unreg(fd, &word, 0));
	close(fd);
	WAIT_FOR(!file_exists(path_of("ue_open", "enable")));
	/* Other events reuse its memory. */
	fd = user_events_open();
	reg(fd, "ue_open u64 other", &word, 4, 0);
	CHECK(file_has(path_of("ue_open", "format"), "field:u64 other;"));
	for (i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "ue_open_%u u32 value_%u", i, i);
		reg(fd, text, &word, 4, 1 + i);
	}
	for (i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		CHECK_OK(lseek(fds[i], 0, SEEK_SET));
		while (read(fds[i], text, sizeof(text)) > 0)
			;
		close(fds[i]);
	}
	close(fd);
}

#define OPENED_EVENTS 4
#define OPENED_ROUNDS 5
#define OPENED_INSTANCE TRACEFS "/instances/eventlog_opened"

static int opened_over;

/* Opens files of events that are added and removed, of one instance of ftrace. */
static void *opened_open(void *events)
{
	static const char *const files[] = { "enable", "filter", "hist", "trigger", "format" };
	char path[300], byte;
	unsigned int i;
	int fd;

	for (i = 0; !__atomic_load_n(&opened_over, __ATOMIC_RELAXED); i++) {
		snprintf(path, sizeof(path), "%s/user_events/ue_opened_%u/%s", (char *)events,
			 i / 2 % OPENED_EVENTS, i % 2 ? files[i % 5] : "enable");
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		(void)!read(fd, &byte, 1);
		close(fd);
	}
	return NULL;
}

/* Programs that wait for the end of an event open its files again and again. */
TEST(files_opened_during_removal)
{
	char *places[] = { TRACE_EVENTS, TRACE_EVENTS, OPENED_INSTANCE "/events" };
	pthread_t threads[ARRAY_SIZE(places)];
	static __u32 words[OPENED_EVENTS];
	unsigned int round, i;
	char command[100];

	close(user_events_open());
	if (!files_survive())
		SKIP("this kernel uses freed memory when files of removed events are opened");
	rmdir(OPENED_INSTANCE);
	CHECK_OK(mkdir(OPENED_INSTANCE, 0700));
	for (i = 0; i < ARRAY_SIZE(places); i++)
		CHECK(!pthread_create(&threads[i], NULL, opened_open, places[i]));
	for (round = 0; round < OPENED_ROUNDS; round++) {
		int fd = user_events_open();

		for (i = 0; i < OPENED_EVENTS; i++) {
			snprintf(command, sizeof(command), "ue_opened_%u u32 value", i);
			reg(fd, command, &words[i], 4, 0);
		}
		for (i = 0; i < OPENED_EVENTS; i++)
			CHECK_OK(try_unreg(fd, &words[i], 0));
		close(fd);
		for (i = 0; i < OPENED_EVENTS; i++) {
			snprintf(command, sizeof(command), "ue_opened_%u", i);
			WAIT_FOR(!file_exists(path_of(command, "id")));
		}
	}
	__atomic_store_n(&opened_over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(places); i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_OK(rmdir(OPENED_INSTANCE));
}

/* ---- unload ---- */

TEST(unload_clears_bits)
{
	volatile __u32 *page;
	struct switcher switcher;
	int fd = user_events_open();

	page = pages_map(page_size());
	page[1] = PATTERN;
	reg(fd, "ue_unload", (void *)page, 4, 5);
	reg(fd, "ue_unload", (void *)&page[1], 4, 0);
	CHECK_ERRNO(try_unload(), EAGAIN);
	close(fd);
	switcher_open(&switcher);
	switch_on(&switcher);
	CHECK_EQ(page[0], 1 << 5);
	/* The bit cannot be cleared when the event is disabled. */
	CHECK_OK(mprotect((void *)page, page_size(), PROT_READ));
	consumer_close(&switcher.consumer);
	CHECK_OK(mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE));
	while (try_unload()) {
		CHECK_EQ(errno, EAGAIN);
		test_pause();
	}
	CHECK_EQ(page[0], 0);
	CHECK_EQ(page[1], PATTERN & ~1U);
	CHECK(!file_exists(USER_EVENTS_DATA));
	CHECK_OK(try_load(""));
	fd = user_events_try_open();
	reg(fd, "ue_unload", (void *)page, 4, 5);
	CHECK_ERRNO(try_reg(fd, "ue_unload", (void *)page, 4, 5), EADDRINUSE);
}

/* An event that ends pins the module while it is traced, but not once it is back. */
TEST(unload_after_an_event_came_back)
{
	static __u32 word;
	int fd = user_events_open(), counter;

	if (!module_path())
		SKIP("EVENTLOG_KO does not name the module's file");
	reg(fd, "ue_back u32 a", &word, 4, 0);
	counter = perf_open_id(file_number(USER_EVENTS_GROUP "/ue_back/id"), -1, 0);
	if (counter < 0)
		SKIP("this kernel lacks perf");
	CHECK_OK(try_unreg(fd, &word, 0));
	close(fd);
	CHECK(!file_has(USER_EVENTS_STATUS, "ue_back"));
	fd = user_events_open();
	reg(fd, "ue_back u32 a", &word, 4, 0);
	close(fd);
	CHECK_ERRNO(try_unload(), EAGAIN);
	close(counter);
	while (try_unload()) {
		CHECK_EQ(errno, EAGAIN);
		test_pause();
	}
	CHECK_OK(try_load(""));
}

/* Unloads the module of user_events when the last work items have let go of it. */
static void user_events_unload(void)
{
	WAIT_FOR(!module_unload(USER_EVENTS_MODULE));
}

/* Only user_events are unloaded: eventlog stays, and so do tracers of events that have ended. */
TEST(unload_without_eventlog)
{
	static volatile __u32 word;
	int device = device_open(), fd = user_events_open(), counter;
	__u32 index = register_event(device, "ue_other u32 a").write_index;
	long id;

	reg(fd, "ue_alone u32 a", (void *)&word, 4, 3);
	CHECK_ERRNO(module_unload("eventlog"), EAGAIN);
	CHECK_ERRNO(module_unload(USER_EVENTS_MODULE), EAGAIN);
	id = file_number(USER_EVENTS_GROUP "/ue_alone/id");
	counter = perf_open_id(id, -1, 0);
	if (counter < 0)
		SKIP("this kernel lacks perf");
	WAIT_FOR(word == 1 << 3);
	close(fd);
	/* An event that is traced keeps the module. */
	CHECK_ERRNO(module_unload(USER_EVENTS_MODULE), EAGAIN);
	fd = user_events_try_open();
	CHECK_OK(try_unreg(fd, (void *)&word, 3));
	close(fd);
	user_events_unload();
	CHECK(!file_exists(USER_EVENTS_DATA));
	CHECK(!file_exists(USER_EVENTS_STATUS));
	CHECK_ERRNO(emit(device, index, &(__u32){ 1 }, 4), EBADF);
	/* The tracer is still attached when the event comes back. */
	user_events_load();
	fd = user_events_try_open();
	reg(fd, "ue_alone u32 a", (void *)&word, 4, 3);
	CHECK_EQ(file_number(USER_EVENTS_GROUP "/ue_alone/id"), id);
	CHECK_EQ(word, 1 << 3);
	close(counter);
	WAIT_FOR(!word);
	close(fd);
	/* Nothing but a bit is left. */
	user_events_unload();
	close(device);
	user_events_load();
}

TEST(persistent_events_keep_the_module)
{
	struct user_reg request;
	__u32 word = 0;
	int fd = user_events_open();

	request = reg_request("ue_kept", &word, 4, 0);
	request.flags = USER_EVENTS_PERSIST;
	CHECK_OK(ioctl(fd, USER_EVENTS_REG, &request));
	CHECK_OK(try_unreg(fd, &word, 0));
	close(fd);
	CHECK_ERRNO(module_unload(USER_EVENTS_MODULE), EAGAIN);
	fd = user_events_try_open();
	CHECK_OK(ioctl(fd, USER_EVENTS_DEL, "ue_kept"));
	close(fd);
	user_events_unload();
	user_events_load();
}

/* ---- stress ---- */

#define STRESSED_EVENTS 7

/*
 * What the processes of a round have in common.  End of file on a pipe is the signal.
 */
struct round {
	int settled[2];			/* all processes that stay have registered their bits */
	int unloaded[2];		/* the module is unloaded */
};

static bool stays(unsigned int number)
{
	return number % 5 == 2;
}

/* Waits for the end of a pipe. */
static void await_end(const int *ends)
{
	char byte;

	close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		;
}

/*
 * Registers, writes, forks, executes or exits, as its number says.  The exit status says what
 * was wrong.
 */
static void live(unsigned int number, const struct round *round)
{
	const __u32 bit = 1U << number % 32, message[2] = { 0, number };
	volatile __u32 *page = pages_map(page_size());
	char name[64];
	int fd = user_events_try_open(), status = 0;
	pid_t child;

	snprintf(name, sizeof(name), "ue_stress_%u u32 a", number % STRESSED_EVENTS);
	if (fd < 0 || try_reg(fd, name, (void *)page, 4, number % 32))
		_exit(4);
	page[1] = PATTERN;
	if (write(fd, message, sizeof(message)) != sizeof(message) && errno != EBADF)
		_exit(5);
	child = number % 3 ? fork() : -1;
	if (page[1] != PATTERN || page[0] & ~bit)
		_exit(6);
	if (!child && number % 2)
		execl("/bin/true", "true", NULL);
	if (number % 5 == 1 && try_unreg(fd, (void *)page, number % 32))
		_exit(7);
	if (round && stays(number)) {
		close(fd);
		close(round->settled[1]);
		await_end(round->unloaded);
		if (page[1] != PATTERN || page[0])
			_exit(8);
	}
	if (child > 0)
		CHECK_EQ(waitpid(child, &status, 0), child);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

/* Has ftrace record all events, or none.  There may be no event at this time. */
static void trace_all(const char *enable)
{
	int fd = open(USER_EVENTS_GROUP "/enable", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	CHECK(write(fd, enable, 1) == 1 || errno == ENODEV || errno == EINVAL);
	close(fd);
}

/* Starts and ends tracers and captures until @over is set. */
static void trace_until(const volatile __u32 *over)
{
	unsigned int i;

	for (i = 0; !*over; i++) {
		struct switcher switcher;
		char id[64];
		int counter;

		snprintf(id, sizeof(id), USER_EVENTS_GROUP "/ue_stress_%u/id", i % STRESSED_EVENTS);
		trace_all("1");
		/* Without perf, or without the event, this fails. */
		counter = perf_open_id(file_number(id), -1, 0);
		switcher_open(&switcher);
		switch_on(&switcher);
		consumer_skip(&switcher.consumer);
		trace_all("0");
		if (i % 2)
			switch_off(&switcher);
		consumer_skip(&switcher.consumer);
		consumer_close(&switcher.consumer);
		if (counter >= 0)
			close(counter);
	}
	trace_all("0");
}

static void join_any(void)
{
	int status;

	CHECK_OK(wait(&status));
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

/*
 * Runs processes, some at a time, while tracers start and end.  In a round some stay.
 * Returns how many do.
 */
static unsigned int run_round(const struct round *round)
{
	volatile __u32 *over = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const unsigned int count = test_is_long() ? 1000 : 30;
	unsigned int number, running = 0, staying = 0;
	pid_t tracer;

	CHECK(over != MAP_FAILED);
	tracer = test_fork();
	if (!tracer) {
		if (round)
			close(round->settled[1]);
		trace_until(over);
		_exit(0);
	}
	for (number = 0; number < count; number++) {
		pid_t child = CHECK_OK(fork());

		if (!child)
			live(number, round);
		if (round && stays(number)) {
			staying++;
		} else if (++running == 8) {
			join_any();
			running--;
		}
	}
	while (running--)
		join_any();
	*over = 1;
	test_join(tracer);
	return staying;
}

TEST_WITHIN(processes_start_and_end, 1800)
{
	close(user_events_open());
	do {
		run_round(NULL);
	} while (test_has_time());
	WAIT_FOR(!file_has(USER_EVENTS_STATUS, "ue_stress"));
}

TEST_WITHIN(unload_clears_bits_of_many_processes, 1800)
{
	struct round round;
	unsigned int staying;

	close(user_events_open());
	if (!module_path())
		SKIP("EVENTLOG_KO does not name the module's file");
	CHECK_OK(pipe2(round.settled, O_CLOEXEC));
	CHECK_OK(pipe2(round.unloaded, O_CLOEXEC));
	staying = run_round(&round);
	await_end(round.settled);
	CHECK(file_has(USER_EVENTS_STATUS, "ue_stress"));
	while (try_unload()) {
		CHECK_EQ(errno, EAGAIN);
		test_pause();
	}
	CHECK(!file_exists(USER_EVENTS_DATA));
	close(round.unloaded[1]);
	while (staying--)
		join_any();
	CHECK_OK(try_load(""));
}
