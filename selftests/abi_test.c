// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the device's ABI: what each ioctl accepts and rejects, and with
 * which errno; definitions, their names, descriptors and enable bits; the
 * status listing.  What DESCRIBE and LIST return is in describe_test.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog_common.h"

#define RING_BYTES (4 * page_size())

/* ------------------------------------------------------------------------
 * The structs of all ioctls
 */
struct call {
	const char *name;
	unsigned int number;
	size_t size;
	size_t least;	/* the least size that the kernel accepts */
	bool results;
};

#define END(type, member) \
	(offsetof(struct type, member) + sizeof(((struct type *)NULL)->member))
#define CALL(name, type, last, results) \
	{ #name, EVENTLOG_IOC_##name, sizeof(struct type), END(type, last), results }

static const struct call calls[] = {
	CALL(INFO, eventlog_info, abi, true),
	CALL(REGISTER, eventlog_register, map_size, true),
	CALL(UNREGISTER, eventlog_unregister, write_index, false),
	CALL(DELETE, eventlog_delete, event, false),
	CALL(LIST, eventlog_list, ring, true),
	CALL(SUBSCRIBE, eventlog_subscribe, shards, true),
	CALL(RULE_ADD, eventlog_rule, filter, true),
	CALL(RULE_DEL, eventlog_rule_delete, rule_id, false),
	CALL(FLUSH, eventlog_flush, generation, true),
	CALL(STAT, eventlog_stat, lost, true),
	CALL(DESCRIBE, eventlog_describe, instance, true),
	CALL(PAUSE, eventlog_pause, paused, false),
	CALL(ATTACH, eventlog_attach, time_offset, true),
	CALL(DETACH, eventlog_detach, ring, false),
	CALL(LEAVE, eventlog_leave, flags, false),
};

/* Calls that the test cannot prepare, and the errno of a minimal request. */
static const struct {
	struct call call;
	int error;
} other_calls[] = {
	{ CALL(MARKER_SET, eventlog_marker_set, policy, true), ENOENT },
	{ CALL(FILTER_GET, eventlog_filter_get, generation, true), ENOENT },
	{ CALL(MARKER_HANDLERS, eventlog_marker_handlers, defaults, false), ENOENT },
	{ CALL(INSTANCE_CREATE, eventlog_instance_create, fd, true), EFAULT },
	{ CALL(INSTANCE_DELETE, eventlog_instance_delete, id, false), ENOENT },
	{ CALL(INSTANCE_OPEN, eventlog_instance_open, fd, true), ENOENT },
	{ CALL(MISSED, eventlog_missed, subscribers, true), ENOENT },
};

/* A file and a request that succeeds on it. */
struct prepared {
	int fd;
	int other;		/* another file, a producer; or -1 */
	union request request;
	char text[256];
};

static void prepare(const struct call *call, struct prepared *prepared)
{
	union request *request = &prepared->request;
	struct eventlog_subscribe subscribe = subscribe_request(0);
	struct eventlog_register registration = register_request("prepared u32 value");
	struct eventlog_attach attach = { .size = sizeof(attach) };

	test_note("%s", call->name);
	memset(prepared, 0, sizeof(*prepared));
	prepared->fd = device_open();
	prepared->other = -1;
	switch (call->number) {
	case EVENTLOG_IOC_REGISTER:
		request->registration = registration;
		break;
	case EVENTLOG_IOC_UNREGISTER:
		register_with(prepared->fd, &registration);
		request->unregister.write_index = registration.write_index;
		break;
	case EVENTLOG_IOC_DELETE:
		prepared->other = device_open();
		registration.flags = EVENTLOG_REGISTER_PERSIST;
		register_with(prepared->other, &registration);
		CHECK_OK(try_unregister(prepared->other, registration.write_index));
		request->delete.event = PTR("prepared");
		break;
	case EVENTLOG_IOC_SUBSCRIBE:
		request->subscribe = subscribe_request(RING_BYTES);
		break;
	case EVENTLOG_IOC_RULE_ADD:
	case EVENTLOG_IOC_RULE_DEL:
	case EVENTLOG_IOC_FLUSH:
	case EVENTLOG_IOC_STAT:
	case EVENTLOG_IOC_PAUSE:
		CHECK_OK(ioctl(prepared->fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe));
		if (call->number == EVENTLOG_IOC_RULE_ADD)
			request->rule.event = PTR("prepared");
		else if (call->number == EVENTLOG_IOC_RULE_DEL)
			request->rule_delete.rule_id = rule_add(prepared->fd, NULL, NULL);
		else if (call->number == EVENTLOG_IOC_STAT)
			request->stat.ring = EVENTLOG_RINGS_ALL;
		break;
	case EVENTLOG_IOC_ATTACH:
	case EVENTLOG_IOC_DETACH:
		register_with(prepared->fd, &registration);
		attach.data_bytes = page_size() > EVENTLOG_MAPPED_BYTES_MIN ?
				    page_size() : EVENTLOG_MAPPED_BYTES_MIN;
		if (call->number == EVENTLOG_IOC_DETACH)
			CHECK_OK(ioctl(prepared->fd, EVENTLOG_IOC_ATTACH, &attach));
		request->attach = attach;
		if (call->number == EVENTLOG_IOC_DETACH)
			request->detach.ring = attach.ring;
		break;
	case EVENTLOG_IOC_DESCRIBE:
		prepared->other = device_open();
		register_with(prepared->other, &registration);
		request->describe.descriptor = registration.descriptor;
		request->describe.text = PTR(prepared->text);
		request->describe.text_size = sizeof(prepared->text);
		break;
	case EVENTLOG_IOC_LIST:
		prepared->other = device_open();
		register_with(prepared->other, &registration);
		request->list.buffer = PTR(prepared->text);
		request->list.buffer_size = sizeof(prepared->text);
		break;
	}
	request->size = call->size;
}

static void finish(const struct call *call, struct prepared *prepared)
{
	if (call->number == EVENTLOG_IOC_DELETE)
		try_delete(prepared->other, NULL, "prepared");
	if (prepared->other >= 0)
		close(prepared->other);
	close(prepared->fd);
}

TEST(bad_struct_pointer_is_efault)
{
	void *const pointers[] = {
		NULL, pages_unmapped(), (void *)-1UL, (void *)-4096UL, (void *)~(-1UL >> 1),
	};
	struct prepared prepared;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (j = 0; j < ARRAY_SIZE(pointers); j++) {
			prepare(&calls[i], &prepared);
			CHECK_ERRNO(ioctl(prepared.fd, calls[i].number, pointers[j]), EFAULT);
			finish(&calls[i], &prepared);
		}
}

TEST(struct_size_too_small_is_einval)
{
	struct prepared prepared;
	unsigned int i;
	__u32 size;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		prepare(&calls[i], &prepared);
		for (size = 0; size < calls[i].least; size++) {
			prepared.request.size = size;
			CHECK_ERRNO(ioctl(prepared.fd, calls[i].number, &prepared.request), EINVAL);
		}
		prepared.request.size = size;
		CHECK_OK(ioctl(prepared.fd, calls[i].number, &prepared.request));
		finish(&calls[i], &prepared);
	}
}

TEST(struct_size_too_small_is_einval_for_other_calls)
{
	int fd = device_open();
	union request request;
	unsigned int i;
	__u32 size;

	for (i = 0; i < ARRAY_SIZE(other_calls); i++) {
		const struct call *call = &other_calls[i].call;

		test_note("%s", call->name);
		memset(&request, 0, sizeof(request));
		if (call->number == EVENTLOG_IOC_FILTER_GET) {
			request.filter_get.term_size = sizeof(struct eventlog_term);
		} else if (call->number == EVENTLOG_IOC_INSTANCE_CREATE) {
			request.instance_create.mode = 0600;
		} else if (call->number == EVENTLOG_IOC_INSTANCE_OPEN) {
			request.instance_open.id = 1;
		}
		for (size = 0; size < call->least; size++) {
			request.size = size;
			CHECK_ERRNO(ioctl(fd, call->number, &request), EINVAL);
		}
		request.size = size;
		CHECK_ERRNO(ioctl(fd, call->number, &request), other_calls[i].error);
	}
	close(fd);
}

/* The struct runs into unmapped memory, at each word at which it can. */
TEST(struct_cut_by_page_is_efault)
{
	struct prepared prepared;
	unsigned int i;
	size_t bytes;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (bytes = 0; bytes < calls[i].size; bytes += 4) {
			void *edge = edge_buffer(bytes ? bytes : 1) + !bytes;

			prepare(&calls[i], &prepared);
			memcpy(edge, &prepared.request, bytes);
			CHECK_ERRNO(ioctl(prepared.fd, calls[i].number, edge), EFAULT);
			finish(&calls[i], &prepared);
		}
}

TEST(struct_at_page_end_is_accepted)
{
	struct prepared prepared;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		void *edge = edge_buffer(calls[i].size);

		prepare(&calls[i], &prepared);
		memcpy(edge, &prepared.request, calls[i].size);
		CHECK_OK(ioctl(prepared.fd, calls[i].number, edge));
		finish(&calls[i], &prepared);
	}
}

TEST(longer_struct_needs_a_zero_tail)
{
	unsigned char *memory = pages_map(4 * page_size());
	const size_t lengths[] = { 1, 4, 8, 100, 1000 };
	struct prepared prepared;
	unsigned int i, j;
	__u32 size;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];

		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			size = call->size + lengths[j];

			/* Make the last byte of the tail nonzero, then the first one. */
			prepare(call, &prepared);
			memset(memory, 0, 4 * page_size());
			prepared.request.size = size;
			memcpy(memory, &prepared.request, call->size);
			memory[size - 1] = 1;
			CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), E2BIG);
			memory[size - 1] = 0;
			memory[call->size] = 0x80;
			CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), E2BIG);

			/* A tail of zeroes is accepted and the bytes after it are not touched. */
			memory[call->size] = 0;
			memory[size] = 0xa5;
			CHECK_OK(ioctl(prepared.fd, call->number, memory));
			CHECK_EQ(memory[size], 0xa5);
			for (; size > call->size; size--)
				CHECK_EQ(memory[size - 1], 0);
			finish(call, &prepared);
		}

		prepare(call, &prepared);
		memset(memory, 0, 4 * page_size());
		memcpy(memory, &prepared.request, call->size);
		size = page_size() + 8;
		memcpy(memory, &size, sizeof(size));
		CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), E2BIG);
		size = 0xffffffff;
		memcpy(memory, &size, sizeof(size));
		CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), E2BIG);
		size = 0x80000000;
		memcpy(memory, &size, sizeof(size));
		CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), E2BIG);
		finish(call, &prepared);
	}
}

TEST(unmapped_tail_is_efault)
{
	struct prepared prepared;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		void *edge = edge_buffer(calls[i].size);

		prepare(&calls[i], &prepared);
		prepared.request.size += 8;
		memcpy(edge, &prepared.request, calls[i].size);
		CHECK_ERRNO(ioctl(prepared.fd, calls[i].number, edge), EFAULT);
		finish(&calls[i], &prepared);
	}
}

/* The results cannot be stored: the call fails with EFAULT and has no effect. */
TEST(read_only_struct_has_no_effect)
{
	unsigned char *memory = pages_map(page_size());
	struct eventlog_subscribe subscribe;
	struct eventlog_rule rule;
	struct prepared prepared;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];

		prepare(call, &prepared);
		CHECK_OK(mprotect(memory, page_size(), PROT_READ | PROT_WRITE));
		memcpy(memory, &prepared.request, call->size);
		CHECK_OK(mprotect(memory, page_size(), PROT_READ));
		if (!call->results) {
			CHECK_OK(ioctl(prepared.fd, call->number, memory));
			finish(call, &prepared);
			continue;
		}
		CHECK_ERRNO(ioctl(prepared.fd, call->number, memory), EFAULT);
		switch (call->number) {
		case EVENTLOG_IOC_REGISTER:
			WAIT_FOR(!status_now("Active: "));
			subscribe = subscribe_request(0);
			CHECK_OK(ioctl(prepared.fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe));
			break;
		case EVENTLOG_IOC_SUBSCRIBE:
			register_event(prepared.fd, "other");
			break;
		case EVENTLOG_IOC_RULE_ADD:
			prepared.other = device_open();
			register_event(prepared.other, "prepared");
			CHECK_EQ(status_now("Active: "), 1);
			CHECK_EQ(status_now("Busy: "), 0);
			rule = prepared.request.rule;
			rule_add_with(prepared.fd, &rule);
			CHECK_EQ(status_now("Busy: "), 1);
			break;
		}
		finish(call, &prepared);
	}
}

/* A short struct: missing members count as zero and are not written. */
TEST(shorter_struct_counts_as_zero)
{
	unsigned char memory[1024];
	struct eventlog_register request;
	struct eventlog_info info;
	int fd = device_open();
	unsigned int i;
	__u32 size;

	for (size = 8; size <= sizeof(info); size++) {
		memset(memory, 0xa5, sizeof(memory));
		memcpy(memory, &size, sizeof(size));
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_INFO, memory));
		memcpy(&info, memory, sizeof(info));
		CHECK_EQ(info.abi, EVENTLOG_ABI_VERSION);
		for (i = size; i < sizeof(memory); i++)
			CHECK_EQ(memory[i], 0xa5);
	}

	/* The struct ends before its reserved member, whose place is not read as one. */
	request = register_request("short_one u32 value");
	request.size = offsetof(struct eventlog_register, reserved);
	memset(memory, 0xa5, sizeof(memory));
	memcpy(memory, &request, request.size);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, memory));
	for (i = request.size; i < sizeof(memory); i++)
		CHECK_EQ(memory[i], 0xa5);
	CHECK_EQ(status_now("Active: "), 1);
	close(fd);
}

TEST(unknown_ioctls_are_enotty)
{
	static const unsigned int types[] = { 0, 1, '*', 0xe6, 0xe8, 0xff };
	unsigned char memory[4096];
	struct consumer consumer;
	unsigned int role, type, nr;
	int fds[3];

	fds[0] = device_open();
	fds[1] = device_open();
	register_event(fds[1], "known");
	consumer_open(&consumer, RING_BYTES);
	fds[2] = consumer.fd;
	memset(memory, 0, sizeof(memory));
	memory[0] = memory[1] = 16;
	for (role = 0; role < ARRAY_SIZE(fds); role++) {
		for (nr = 4; nr < 256; nr++) {
			if (nr == 5 || (nr >= 8 && nr <= 14) || nr == 17 || nr == 20 || nr == 21 ||
			    (nr >= 24 && nr <= 31 && nr != 28))
				continue;
			test_note("nr %u", nr);
			CHECK_ERRNO(ioctl(fds[role], EVENTLOG_IOC(nr), memory), ENOTTY);
			CHECK_ERRNO(ioctl(fds[role], _IOWR(EVENTLOG_IOC_TYPE, nr, __u64), memory),
				    ENOTTY);
			CHECK_ERRNO(ioctl(fds[role], _IO(EVENTLOG_IOC_TYPE, nr), 0), ENOTTY);
		}
		for (type = 0; type < ARRAY_SIZE(types); type++)
			for (nr = 0; nr < 16; nr++) {
				test_note("type %u nr %u", types[type], nr);
				CHECK_ERRNO2(ioctl(fds[role], _IOWR(types[type], nr, __u32),
						   memory), ENOTTY, EINVAL);
			}
	}
	consumer_close(&consumer);
	close(fds[0]);
	close(fds[1]);
}

/* INFO answers however a program of another ABI version encodes it. */
TEST(info_ignores_size_and_direction)
{
	struct eventlog_info info = { .size = sizeof(info) };
	/* The structs of ABI versions 1 and 2; abi is at offset 4. */
	unsigned char first[64] = { sizeof(first) }, second[72] = { sizeof(second) };
	int fd = device_open();
	__u32 abi;

	CHECK_OK(ioctl(fd, _IO(EVENTLOG_IOC_TYPE, 0), &info));
	CHECK_EQ(info.abi, EVENTLOG_ABI_VERSION);
	info.abi = 0;
	CHECK_OK(ioctl(fd, _IOW(EVENTLOG_IOC_TYPE, 0, char[123]), &info));
	CHECK_EQ(info.abi, EVENTLOG_ABI_VERSION);
	CHECK_OK(ioctl(fd, _IOWR(EVENTLOG_IOC_TYPE, 0, char[64]), first));
	memcpy(&abi, first + 4, sizeof(abi));
	CHECK_EQ(abi, EVENTLOG_ABI_VERSION);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC(0), second));
	memcpy(&abi, second + 4, sizeof(abi));
	CHECK_EQ(abi, EVENTLOG_ABI_VERSION);
	close(fd);
}

/* All other calls must be encoded exactly: a request of ABI version 1 has no effect. */
TEST(other_encodings_fail)
{
	static const unsigned int directions[] = { _IOC_NONE, _IOC_READ, _IOC_WRITE,
						   _IOC_READ | _IOC_WRITE };
	const long active = status_now("Active: ");
	struct prepared prepared;
	union request before;
	unsigned int i, j, number, sizes[4];

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number == EVENTLOG_IOC_INFO)
			continue;
		prepare(&calls[i], &prepared);
		before = prepared.request;
		sizes[0] = 0;
		sizes[1] = sizeof(__u32);
		sizes[2] = sizeof(__u64);
		sizes[3] = calls[i].size;
		for (j = 0; j < ARRAY_SIZE(directions) * ARRAY_SIZE(sizes); j++) {
			number = _IOC(directions[j % 4], EVENTLOG_IOC_TYPE,
				      _IOC_NR(calls[i].number), sizes[j / 4]);
			if (number == calls[i].number)
				continue;
			test_note("%s, direction %u, size %u", calls[i].name, directions[j % 4],
				  sizes[j / 4]);
			CHECK_ERRNO(ioctl(prepared.fd, number, &prepared.request), ENOTTY);
			CHECK(!memcmp(&before, &prepared.request, sizeof(before)));
		}
		CHECK_OK(ioctl(prepared.fd, calls[i].number, &prepared.request));
		finish(&calls[i], &prepared);
	}
	WAIT_FOR(status_now("Active: ") == active);
}

#ifdef __x86_64__
/* Make a system call through the 32-bit entry. */
static long call_32(unsigned int number, unsigned int first, unsigned int second,
		    unsigned int third)
{
	long result;

	asm volatile("int $0x80"
		     : "=a"(result)
		     : "0"((unsigned long)number), "b"((unsigned long)first),
		       "c"((unsigned long)second), "d"((unsigned long)third)
		     : "memory", "r8", "r9", "r10", "r11");
	if (result >= 0 || result < -4095)
		return (int)result;
	errno = -result;
	return -1;
}

enum { CALL_32_WRITE = 4, CALL_32_GETPID = 20, CALL_32_IOCTL = 54, CALL_32_WRITEV = 146 };

static unsigned int low(const void *pointer)
{
	CHECK((unsigned long)pointer >> 32 == 0);
	return (unsigned long)pointer;
}

/*
 * Without IA32 emulation the call raises SIGSEGV.  The kernel logs a general protection
 * fault, which would fail the case, unless the process has a handler.
 */
static void no_emulation(int number)
{
	(void)number;
	_exit(1);
}

/* The structs have the same layout for 32-bit and 64-bit programs. */
TEST(ioctls_of_32_bit_programs)
{
	struct {
		union request request;
		char command[64];
		struct {
			__u32 base;
			__u32 length;
		} vector[2];
		struct {
			__u32 index;
			char payload[8];
		} message;
	} *memory;
	struct consumer consumer;
	struct record record;
	int status, fd;
	pid_t child;
	__u32 index;

	child = test_fork();
	if (!child) {
		signal(SIGSEGV, no_emulation);
		_exit(call_32(CALL_32_GETPID, 0, 0, 0) != getpid());
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		SKIP("the kernel does not run 32-bit programs");

	memory = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK(memory != MAP_FAILED);
	fd = device_open();
	memory->request.size = sizeof(struct eventlog_info);
	CHECK_OK(call_32(CALL_32_IOCTL, fd, EVENTLOG_IOC_INFO, low(memory)));
	CHECK_EQ(memory->request.info.abi, EVENTLOG_ABI_VERSION);
	CHECK_EQ(memory->request.info.payload_max, EVENTLOG_PAYLOAD_MAX);
	CHECK_EQ(memory->request.info.quotas[EVENTLOG_QUOTAS - 1].limit, ~0ULL);
	CHECK_ERRNO(call_32(CALL_32_IOCTL, fd, EVENTLOG_IOC_INFO, 0), EFAULT);
	CHECK_ERRNO(call_32(CALL_32_IOCTL, fd, _IO(EVENTLOG_IOC_TYPE, 99), 0), ENOTTY);

	strcpy(memory->command, "narrow char[8] text");
	memory->request.registration = register_request(memory->command);
	CHECK_OK(call_32(CALL_32_IOCTL, fd, EVENTLOG_IOC_REGISTER, low(memory)));
	index = memory->request.registration.write_index;
	CHECK(index && memory->request.registration.map_size);

	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "narrow");
	memory->message.index = index;
	memcpy(memory->message.payload, "32 bits.", 8);
	CHECK_EQ(call_32(CALL_32_WRITE, fd, low(&memory->message), 12), 12);
	consumer_one(&consumer, &record);
	CHECK(!memcmp(record.payload, "32 bits.", 8));
	memory->vector[0].base = low(&memory->message);
	memory->vector[0].length = 7;
	memory->vector[1].base = low(&memory->message) + 7;
	memory->vector[1].length = 5;
	CHECK_EQ(call_32(CALL_32_WRITEV, fd, low(memory->vector), 2), 12);
	consumer_one(&consumer, &record);
	CHECK(!memcmp(record.payload, "32 bits.", 8));
	CHECK_EQ(record.header->descriptor, memory->request.registration.descriptor);
	consumer_close(&consumer);
	close(fd);
}
#endif

TEST(unknown_flags_and_reserved_bits_are_rejected)
{
	static const struct {
		unsigned int number;
		size_t offset;
		__u32 known;
	} words[] = {
#define FLAGS(call, type, member, known) \
		{ EVENTLOG_IOC_##call, offsetof(struct type, member), known }
		FLAGS(REGISTER, eventlog_register, reserved, 0),
		FLAGS(REGISTER, eventlog_register, flags,
		      EVENTLOG_REGISTER_PERSIST | EVENTLOG_REGISTER_SESSION),
		FLAGS(DELETE, eventlog_delete, flags, 0),
		FLAGS(LIST, eventlog_list, flags, 0),
		FLAGS(LIST, eventlog_list, ring, 0),
		FLAGS(LIST, eventlog_list, since, 0),
		FLAGS(SUBSCRIBE, eventlog_subscribe, flags,
		      EVENTLOG_SUBSCRIBE_OVERWRITE | EVENTLOG_SUBSCRIBE_MAPPED),
		FLAGS(RULE_ADD, eventlog_rule, flags, EVENTLOG_RULE_SESSION | EVENTLOG_RULE_PID |
		      EVENTLOG_RULE_CGROUP),
		FLAGS(RULE_ADD, eventlog_rule, reserved, 0),
		FLAGS(FLUSH, eventlog_flush, flags, 0),
		FLAGS(FLUSH, eventlog_flush, reserved, 0),
		FLAGS(STAT, eventlog_stat, flags, 0),
		FLAGS(STAT, eventlog_stat, reserved, 0),
		FLAGS(DESCRIBE, eventlog_describe, flags, 0),
		FLAGS(DESCRIBE, eventlog_describe, reserved, 0),
		FLAGS(PAUSE, eventlog_pause, paused, 1),
		FLAGS(ATTACH, eventlog_attach, flags, EVENTLOG_ATTACH_CYCLES),
#undef FLAGS
	};
	struct prepared prepared;
	unsigned int i, j, bit;
	__u32 word;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		for (j = 0; calls[j].number != words[i].number; j++)
			;
		prepare(&calls[j], &prepared);
		for (bit = 0; bit < 32; bit++) {
			if (words[i].known & 1U << bit)
				continue;
			word = 1U << bit;
			test_note("%s, word at %zu, 0x%x", calls[j].name, words[i].offset, word);
			memcpy(prepared.request.bytes + words[i].offset, &word, sizeof(word));
			CHECK_ERRNO(ioctl(prepared.fd, calls[j].number, &prepared.request), EINVAL);
		}
		word = 0;
		memcpy(prepared.request.bytes + words[i].offset, &word, sizeof(word));
		CHECK_OK(ioctl(prepared.fd, calls[j].number, &prepared.request));
		finish(&calls[j], &prepared);
	}
}

TEST(info_in_every_role)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct eventlog_info info;
	struct consumer consumer;
	unsigned int i, quota;
	int fd;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		memset(&info, 0xff, sizeof(info));
		info.size = sizeof(info);
		fd = device_open_for(modes[i]);
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_INFO, &info));
		CHECK_EQ(info.abi, EVENTLOG_ABI_VERSION);
		CHECK_EQ(info.features & ~(EVENTLOG_FEATURE_TRACE | EVENTLOG_FEATURE_INSTANCES |
				    EVENTLOG_FEATURE_CGROUP),
			 EVENTLOG_FEATURE_SESSIONS | EVENTLOG_FEATURE_LEAVE);
		CHECK_EQ(info.ring_bytes_max, EVENTLOG_RING_BYTES_MAX);
		CHECK_EQ(info.payload_max, EVENTLOG_PAYLOAD_MAX);
		CHECK_EQ(info.command_max, EVENTLOG_COMMAND_MAX);
		CHECK(info.events_max);
		CHECK(info.subscribers_max);
		CHECK(info.rules_max);
		CHECK(info.registrations_max);
		CHECK(info.policies_max);
		CHECK(info.terms_max);
		CHECK(info.release[0]);
		CHECK(strnlen(info.release, sizeof(info.release)) < sizeof(info.release));
		CHECK_EQ(info.instance, 0);
		/* What this version does not know is 0. */
		for (quota = 0; quota < EVENTLOG_QUOTAS_MAX; quota++)
			CHECK_EQ(info.quotas[quota].limit, quota < EVENTLOG_QUOTAS ? ~0ULL : 0);
		close(fd);
	}

	/* INFO works in the other roles too. */
	fd = device_open();
	register_event(fd, "role");
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_INFO, &info));
	close(fd);
	consumer_open(&consumer, RING_BYTES);
	CHECK_OK(ioctl(consumer.fd, EVENTLOG_IOC_INFO, &info));
	consumer_close(&consumer);
}

/* The kernel's own user_events will use these names. */
TEST(register_refuses_the_kernels_providers)
{
	static const char *const names[] = { "user_events", "user_events_multi" };
	struct eventlog_register request = register_request("refused u32 value");
	const long active = status_now("Active: ");
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		request.provider = PTR(names[i]);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EPERM);
		CHECK_EQ(request.write_index, 0);
	}
	CHECK_EQ(status_now("Active: "), active);
	request.provider = PTR("user_events_");
	register_with(fd, &request);
	close(fd);
}

TEST(counts_follow_what_exists)
{
	struct eventlog_info before, now;
	struct eventlog_register one, two;
	struct consumer consumer;
	int fd = device_open(), other = device_open_for(O_RDONLY);

	before = info_of(other);
	CHECK_EQ(before.events, status_now("Active: "));
	CHECK_EQ(before.enabled, status_now("Busy: "));
	one = register_event(fd, "counted_one");
	two = register_event(fd, "counted_two");
	register_event(fd, "counted_two");
	now = info_of(fd);
	CHECK_EQ(now.events, before.events + 2);
	CHECK_EQ(now.enabled, before.enabled);
	CHECK_EQ(now.subscribers, before.subscribers);

	consumer_open(&consumer, RING_BYTES);
	CHECK_EQ(info_of(other).subscribers, before.subscribers + 1);
	rule_add(consumer.fd, NULL, "counted_*");
	now = info_of(consumer.fd);
	CHECK_EQ(now.enabled, before.enabled + 2);
	CHECK_OK(try_unregister(fd, one.write_index));
	now = info_of(other);
	CHECK_EQ(now.events, before.events + 1);
	CHECK_EQ(now.enabled, before.enabled + 1);
	CHECK_EQ(now.retained, before.retained + 1);
	CHECK_OK(try_unregister(fd, two.write_index));
	CHECK_EQ(info_of(other).events, before.events + 1);
	consumer_close(&consumer);
	now = info_of(other);
	CHECK_EQ(now.retained, before.retained);
	CHECK_EQ(now.subscribers, before.subscribers);
	CHECK_EQ(now.enabled, before.enabled);
	CHECK_EQ(now.providers, before.providers);
	CHECK_EQ(now.policies, before.policies);
	close(fd);
	CHECK_EQ(info_of(other).events, before.events);
	close(other);
}

/* ------------------------------------------------------------------------
 * REGISTER: rejected requests
 */
TEST(register_rejects_bad_commands)
{
	static const char *const commands[] = {
		"", " ", "\t", " \n ", "n\xc3\xa4me", "na\x01me", "na\x7fme", "\x1b[1m u32 a",
		"name(u32 a)",
		"name u32", "name u32;", "name u32 ;u32 a", "name u32 a;u32",
		"name foo a", "name a", "name u32a", "name U32 a", "name u128 a", "name uint32_t a",
		"name long a", "name unsigned long a", "name long long a", "name float a",
		"name double a", "name bool a", "name void a", "name unsigned a",
		"name signed int a",
		"name unsigned u32 a", "name int int a", "name const int a", "name u32 *a",
		"name char* a", "name char *a",
		"name u32 a b", "name u32 a,b", "name u32 a=1", "name u32 a:3", "name u32 a[4]",
		"name u32 9a", "name u32 a-b", "name u32 a.b", "name u32 a/", "name u32 \"a\"",
		"name u32 a;u32 a", "name u32 a;u8 b;char[4] a", "name u32 a garbage",
		"name char[] a", "name char[0] a", "name char[x] a", "name char[-1] a",
		"name char[4 a", "name char4] a", "name char[4]] a", "name char[[4]] a",
		"name char[4x] a", "name char[4.5] a", "name char[4][4] a", "name char[+4] a",
		"name unsigned char[] a", "name unsigned char[0] a", "name u32[4] a",
		"name int[2] a",
		"name short[2] a", "name u8[2] a",
		"name __data_loc a", "name __data_loc char a", "name __data_loc char[4] a",
		"name __data_loc u32 a", "name __data_loc u8[] a", "name __data_loc int[] a",
		"name __data_loc char[]", "name __rel_loc char a", "name __rel_loc u32[] a",
		"name __rel_loc char[8] a", "name __data_loc __rel_loc char[] a",
		"name __data_loc unsigned char a", "name __dyn_loc char[] a",
		"name struct a", "name struct foo", "name struct foo a", "name struct foo a x",
		"name struct foo a 0", "name struct foo a -1", "name struct foo a 4 4",
		"name struct 9foo a 4", "name struct foo a 4x", "name struct foo 4", "name struct",
		"name struct foo 9a 4", "name struct foo[2] a 4", "name struct foo *a 8",
	};
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		test_note("\"%s\"", commands[i]);
		CHECK_ERRNO(try_register(fd, commands[i]), EINVAL);
	}
	CHECK_EQ(status_now("Active: "), 0);

	/* None of them gave the file a role: it can still become a consumer. */
	consumer_close(&(struct consumer){ .fd = fd });
}

/* The name of an event ends at the first blank; before it, all printable ASCII is valid. */
TEST(register_takes_printable_names)
{
	static const struct {
		const char *command;
		const char *name;	/* in the schema text */
	} cases[] = {
		{ "9name u32 a", "\"9name\"" }, { "na-me u32 a", "\"na-me\"" },
		{ "na.me u32 a", "\"na.me\"" }, { "na/me u32 a", "\"na/me\"" },
		{ "na,me u32 a", "\"na,me\"" }, { "name*\tu32 a", "\"name*\"" },
		{ "  name; u32 a", "\"name;\"" }, { "say\"\\ u32 a", "\"say\\\"\\\\\"" },
		{ "-name u32 a", "\"-name\"" }, { "_ u32 a", "_" }, { "; u32 a", "\";\"" },
	};
	struct eventlog_register event;
	int fd = device_open();
	char *text, want[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		test_note("\"%s\"", cases[i].command);
		event = register_request(cases[i].command);
		event.provider = PTR("a b");
		register_with(fd, &event);
		text = describe(fd, event.descriptor, NULL);
		CHECK(text);
		snprintf(want, sizeof(want),
			 "eventlog 1\nprovider \"a b\"\nevent %u %s info -\n\tu32 a\n", i + 1,
			 cases[i].name);
		CHECK(!strcmp(text, want));
		free(text);
	}
	close(fd);
}

/* A backslash in a glob takes the next character as it is. */
TEST(globs_have_escapes)
{
	struct eventlog_register star, other;
	struct consumer consumer;
	struct status_map map;
	int fd = device_open();

	star = register_event(fd, "a*[b]\\ u32 a");
	other = register_event(fd, "axb");
	map = status_map(fd, &star);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, "user", "a\\*\\[b\\]\\\\");
	CHECK(status_enabled(&map, &star));
	CHECK(!status_enabled(&map, &other));
	consumer_close(&consumer);
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
}

TEST(register_rejects_large_payloads)
{
	static const char *const commands[] = {
		"name char[65537] a", "name unsigned char[65537] a", "name struct s a 65537",
		"name char[65536] a;u8 b", "name u8 a;char[65536] b", "name char[4294967295] a",
		"name char[32768] a;char[32769] b", "name struct s a 65535;u16 b",
		"name char[65533] a;__data_loc char[] b",
	};
	static const char *const huge[] = {
		"name char[4294967296] a", "name char[4294967300] a",
		"name char[18446744073709551615] a", "name char[18446744073709551616] a",
		"name char[18446744073709551620] a", "name struct s a 4294967300",
		"name struct s a 18446744073709551620",
		"name char[99999999999999999999999999999999] a",
		"name char[4294967292] a;u32 b",
		"name char[2147483648] a;char[2147483648] b;u32 c",
	};
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		test_note("\"%s\"", commands[i]);
		CHECK_ERRNO(try_register(fd, commands[i]), E2BIG);
	}
	/* Numbers that no type can hold: too large or invalid. */
	for (i = 0; i < ARRAY_SIZE(huge); i++) {
		test_note("\"%s\"", huge[i]);
		CHECK_ERRNO2(try_register(fd, huge[i]), E2BIG, EINVAL);
	}
	CHECK_EQ(status_now("Active: "), 0);
	CHECK_OK(try_register(fd, "name char[65536] a"));
	CHECK_OK(try_register(fd, "name struct s a 65532;u32 b"));
	CHECK_OK(try_register(fd, "name char[65532] a;__rel_loc char[] b"));
	close(fd);
}

TEST(register_rejects_bad_pointers)
{
	struct eventlog_register request = register_request("name");
	const char *unmapped = pages_unmapped();
	char *edge = edge_buffer(8);
	int fd = device_open();

	CHECK_ERRNO(try_register(fd, NULL), EFAULT);
	CHECK_ERRNO(try_register(fd, unmapped), EFAULT);
	/* On User Mode Linux the byte after the last address is the first one. */
	if (!user_mode_linux())
		CHECK_ERRNO(try_register(fd, (const char *)-1L), EFAULT);
	memset(edge, 'a', 8);
	CHECK_ERRNO(try_register(fd, edge), EFAULT);
	request.provider = PTR(unmapped);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EFAULT);
	request.provider = PTR(edge);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EFAULT);
	request.provider = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EFAULT);

	/* The terminating NUL is the last mapped byte. */
	edge[7] = '\0';
	request.provider = PTR(edge);
	request.command = PTR(edge);
	register_with(fd, &request);
	close(fd);
}

TEST(register_limits_command_length)
{
	char *command = malloc(EVENTLOG_COMMAND_MAX + 1);
	char *long_one = pages_map(1 << 20);
	struct eventlog_register request;
	int fd = device_open();
	int bytes, i;

	/* White space fills the command up to the limit, then one byte beyond. */
	memset(command, ' ', EVENTLOG_COMMAND_MAX);
	memcpy(command, "name", 4);
	memcpy(command + EVENTLOG_COMMAND_MAX - 6, "u32 a", 6);
	CHECK_EQ(strlen(command), EVENTLOG_COMMAND_MAX - 1);
	CHECK_OK(try_register(fd, command));
	memcpy(command + EVENTLOG_COMMAND_MAX - 6, " u32 a", 7);
	CHECK_EQ(strlen(command), EVENTLOG_COMMAND_MAX);
	CHECK_ERRNO(try_register(fd, command), E2BIG);

	/* A megabyte without a NUL, as command and as provider. */
	memset(long_one, 'a', 1 << 20);
	CHECK_ERRNO(try_register(fd, long_one), E2BIG);
	memset(long_one, ' ', 1 << 20);
	CHECK_ERRNO(try_register(fd, long_one), E2BIG);
	request = register_request("name");
	memset(long_one, 'a', 1 << 20);
	request.provider = PTR(long_one);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);

	/* 256 fields fill the command to its last byte. */
	bytes = sprintf(command, "full ");
	for (i = 0; i < EVENTLOG_FIELDS_MAX; i++)
		bytes += sprintf(command + bytes, "u8 f%0*d;", i < 250 ? 11 : 10, i);
	CHECK_EQ(bytes, EVENTLOG_COMMAND_MAX - 1);
	CHECK_OK(try_register(fd, command));
	close(fd);
}

TEST(register_limits_fields)
{
	static char command[EVENTLOG_COMMAND_MAX];
	struct eventlog_register registration = { 0 };
	unsigned char payload[EVENTLOG_FIELDS_MAX] = { 0 };
	struct consumer consumer;
	int fd = device_open();
	int count, bytes;

	for (count = EVENTLOG_FIELDS_MAX; count <= EVENTLOG_FIELDS_MAX + 1; count++) {
		int i;

		bytes = sprintf(command, "many_%d ", count);
		for (i = 0; i < count; i++)
			bytes += sprintf(command + bytes, "u8 f%d;", i);
		if (count <= EVENTLOG_FIELDS_MAX)
			registration = register_event(fd, command);
		else
			CHECK_ERRNO(try_register(fd, command), E2BIG);
	}
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_ERRNO(emit(fd, registration.write_index, payload, EVENTLOG_FIELDS_MAX - 1), EINVAL);
	CHECK_OK(emit(fd, registration.write_index, payload, EVENTLOG_FIELDS_MAX));
	consumer_close(&consumer);
	close(fd);
}

/* Names of fields, structs, events and providers have up to 255 characters. */
static void name_length(int fd, int length, int max, const char *const *formats,
			unsigned int count)
{
	const int error = length >= max ? EINVAL : 0;
	char name[EVENTLOG_NAME_MAX + 1], command[512];
	unsigned int i;

	memset(name, 'n', length);
	name[length] = '\0';
	for (i = 0; i < count; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(command, sizeof(command), formats[i], name);
#pragma GCC diagnostic pop
		test_note("%d characters in \"%s\"", length, formats[i]);
		if (error)
			CHECK_ERRNO(try_register(fd, command), error);
		else
			CHECK_OK(try_register(fd, command));
	}
}

TEST(register_limits_name_length)
{
	static const char *const fields[] = {
		"e u32 %s", "e u32 a; u8 %s;", "e struct %s a 4", "e struct s %s 4",
		"e __data_loc char[] %s",
	}, *const events[] = { "%s", "%s u32 a" };
	char name[EVENTLOG_NAME_MAX + 1];
	struct eventlog_register request;
	int fd = device_open();
	int length;

	for (length = EVENTLOG_FIELD_NAME_MAX - 1; length <= EVENTLOG_FIELD_NAME_MAX; length++)
		name_length(fd, length, EVENTLOG_FIELD_NAME_MAX, fields, ARRAY_SIZE(fields));
	for (length = EVENTLOG_NAME_MAX - 1; length <= EVENTLOG_NAME_MAX; length++) {
		const int error = length == EVENTLOG_NAME_MAX ? EINVAL : 0;

		name_length(fd, length, EVENTLOG_NAME_MAX, events, ARRAY_SIZE(events));
		memset(name, 'n', length);
		name[length] = '\0';
		request = register_request("e");
		request.provider = PTR(name);
		test_note("%d characters of provider", length);
		if (error)
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), error);
		else
			register_with(fd, &request);
	}
	close(fd);
}

TEST(register_checks_provider_names)
{
	static const char *const bad[] = {
		"", "a\nb", "\n", "a\tb", "\x1b[1m", "p\x7f", "\xc3\xa4", "\x80", "a\x01",
	};
	static const char *const good[] = {
		"p", "_", "P9", "a-b", "a.b", "web.shop-1_x", "a-", " ", "9p", "-p", ".p", "a b",
		"a/b", "a:b", "a#b", "a*", "p ", " p", "a,b", "\"", "\\", "~",
	};
	struct eventlog_register request;
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_note("\"%s\"", bad[i]);
		request = register_request("e");
		request.provider = PTR(bad[i]);
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	}
	CHECK_EQ(status_now("Active: "), 0);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		test_note("\"%s\"", good[i]);
		request = register_request("e");
		request.provider = PTR(good[i]);
		register_with(fd, &request);
	}
	CHECK_EQ(status_now("Active: "), ARRAY_SIZE(good));
	close(fd);
}

TEST(register_checks_levels)
{
	static const __u32 bad[] = { 8, 9, 15, 16, 255, 256, 0x10004, 0x80000000, 0xffffffff };
	struct eventlog_register request;
	int fd = device_open();
	unsigned int i;
	__u32 level;

	for (level = 0; level <= EVENTLOG_LEVEL_VERBOSE; level++) {
		request = register_request("e");
		request.level = level;
		register_with(fd, &request);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		request = register_request("e");
		request.level = bad[i];
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EINVAL);
	}
	close(fd);
}

TEST(file_modes_are_checked)
{
	struct eventlog_subscribe subscribe;
	struct eventlog_register request;
	char buffer[64];
	int fd;

	fd = device_open_for(O_RDONLY);
	request = register_request("e");
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EBADF);
	subscribe = subscribe_request(RING_BYTES);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBADF);
	subscribe = subscribe_request(3);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBADF);
	CHECK_ERRNO(write(fd, buffer, 4), EBADF);
	CHECK(read(fd, buffer, sizeof(buffer)) > 0);
	close(fd);

	fd = device_open_for(O_WRONLY);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_REGISTER, &request), EBADF);
	subscribe = subscribe_request(RING_BYTES);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBADF);
	CHECK_ERRNO(write(fd, buffer, 4), EINVAL);
	CHECK_ERRNO(read(fd, buffer, sizeof(buffer)), EBADF);
	close(fd);
	CHECK_EQ(status_now("Active: "), 0);

	/* Flags of open(2) without a meaning here are accepted. */
	fd = device_open_for(O_RDWR | O_NONBLOCK | O_APPEND);
	register_event(fd, "e");
	close(fd);
	fd = device_open_for(O_RDWR | O_TRUNC);
	close(fd);
}

/* ------------------------------------------------------------------------
 * Roles
 */
TEST(role_cannot_change)
{
	struct eventlog_subscribe subscribe = subscribe_request(RING_BYTES);
	struct pollfd poll_request = { .events = POLLIN | POLLOUT };
	struct eventlog_rule rule = rule_request(NULL, NULL);
	struct eventlog_flush flush_call = { .size = sizeof(flush_call) };
	struct eventlog_stat stat_call = { .size = sizeof(stat_call), .ring = EVENTLOG_RINGS_ALL };
	struct eventlog_pause pause_call = { .size = sizeof(pause_call) };
	struct eventlog_register registration;
	char buffer[16] = { 0 };
	int producer = device_open(), none = device_open(), subscriber = device_open();
	int fds[2] = { none, producer };
	unsigned int i;

	registration = register_event(producer, "e");
	CHECK_OK(ioctl(subscriber, EVENTLOG_IOC_SUBSCRIBE, &subscribe));

	/* A file cannot change its role or take the same role again. */
	subscribe = subscribe_request(RING_BYTES);
	CHECK_ERRNO(ioctl(producer, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBUSY);
	CHECK_ERRNO(ioctl(subscriber, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBUSY);
	subscribe = subscribe_request(3);
	CHECK_ERRNO(ioctl(producer, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBUSY);
	CHECK_ERRNO(ioctl(subscriber, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBUSY);
	CHECK_ERRNO(try_register(subscriber, "e"), EBUSY);
	CHECK_ERRNO(try_unregister(subscriber, registration.write_index), EBUSY);

	/* A producer without registrations stays a producer. */
	CHECK_OK(try_unregister(producer, registration.write_index));
	subscribe = subscribe_request(RING_BYTES);
	CHECK_ERRNO(ioctl(producer, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EBUSY);
	registration = register_event(producer, "e");

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_RULE_ADD, &rule), EINVAL);
		CHECK_ERRNO(try_rule_delete(fds[i], 1), EINVAL);
		CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_FLUSH, &flush_call), EINVAL);
		CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_STAT, &stat_call), EINVAL);
		CHECK_ERRNO(ioctl(fds[i], EVENTLOG_IOC_PAUSE, &pause_call), EINVAL);
		poll_request.fd = fds[i];
		CHECK_EQ(poll(&poll_request, 1, 0), 1);
		CHECK_EQ(poll_request.revents & POLLERR, POLLERR);
	}
	CHECK_ERRNO(try_unregister(none, registration.write_index), ENOENT);

	CHECK_ERRNO(read(producer, buffer, sizeof(buffer)), EINVAL);
	CHECK_ERRNO(read(subscriber, buffer, sizeof(buffer)), EINVAL);
	CHECK(read(none, buffer, sizeof(buffer)) > 0);
	CHECK_ERRNO(emit(none, registration.write_index, buffer, 4), EINVAL);
	CHECK_ERRNO(emit(subscriber, registration.write_index, buffer, 4), EINVAL);

	/* Reading the listing does not give the file a role. */
	register_event(none, "late");
	close(producer);
	close(none);
	close(subscriber);
}

/* A failed call does not give the file a role. */
TEST(failed_calls_leave_no_role)
{
	struct eventlog_subscribe subscribe = subscribe_request(3);
	int fd = device_open();

	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe), EINVAL);
	register_event(fd, "e");
	close(fd);

	fd = device_open();
	CHECK_ERRNO(try_register(fd, "e long a"), EINVAL);
	CHECK_ERRNO(try_unregister(fd, 1), ENOENT);
	subscribe = subscribe_request(RING_BYTES);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &subscribe));
	close(fd);
}

/* ------------------------------------------------------------------------
 * Write indexes
 */
TEST(wrong_write_index_is_rejected)
{
	struct eventlog_register mine, theirs = { 0 };
	struct consumer consumer;
	int fd = device_open(), other = device_open();
	unsigned int i;

	mine = register_event(fd, "mine");
	for (i = 0; i < 10; i++)
		theirs = register_event(other, "theirs");
	CHECK(mine.write_index != theirs.write_index);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);

	CHECK_ERRNO(emit(fd, 0, "", 0), ENOENT);
	CHECK_ERRNO(emit(fd, 0xffffffff, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, 0x80000000, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, 0x80000000 | mine.write_index, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, EVENTLOG_WRITE_BATCH, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, EVENTLOG_WRITE_KICK, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, EVENTLOG_WRITE_SESSION, "", 0), EINVAL);
	CHECK_ERRNO(emit(fd, 0x7fffffff, "", 0), ENOENT);
	CHECK_ERRNO(emit(fd, theirs.write_index, "", 0), ENOENT);
	CHECK_ERRNO(emit(fd, mine.write_index + 1, "", 0), ENOENT);
	CHECK_EQ(emit(fd, mine.write_index, "", 0), 4);
	CHECK_EQ(emit(other, theirs.write_index, "", 0), 4);
	CHECK_EQ(consumer_skip(&consumer), 2);
	consumer_close(&consumer);
	close(fd);
	close(other);
}

TEST(unregister_rejects_wrong_index)
{
	struct eventlog_register mine, theirs = { 0 };
	int fd = device_open(), other = device_open();
	unsigned int i;

	mine = register_event(fd, "mine");
	for (i = 0; i < 10; i++)
		theirs = register_event(other, "theirs");
	CHECK_ERRNO(try_unregister(fd, 0), ENOENT);
	CHECK_ERRNO(try_unregister(fd, 0xffffffff), ENOENT);
	CHECK_ERRNO(try_unregister(fd, 0x80000000), ENOENT);
	CHECK_ERRNO(try_unregister(fd, EVENTLOG_WRITE_BATCH), ENOENT);
	CHECK_ERRNO(try_unregister(fd, theirs.write_index), ENOENT);
	CHECK_ERRNO(try_unregister(fd, mine.write_index + 1), ENOENT);
	CHECK_OK(try_unregister(fd, mine.write_index));
	CHECK_ERRNO(try_unregister(fd, mine.write_index), ENOENT);
	CHECK_ERRNO(emit(fd, mine.write_index, "", 0), ENOENT);
	WAIT_FOR(status_now("Active: ") == 1);
	close(fd);
	close(other);
}

/* Two registrations of one definition are independent users of it. */
TEST(unregister_one_of_several)
{
	struct eventlog_register first, second;
	struct consumer consumer;
	struct record record;
	int fd = device_open();

	first = register_event(fd, "twice u32 value");
	second = register_event(fd, "twice u32 value");
	CHECK(first.write_index != second.write_index);
	CHECK_EQ(first.descriptor, second.descriptor);
	CHECK_EQ(first.status_offset, second.status_offset);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "twice");
	CHECK_OK(try_unregister(fd, first.write_index));
	CHECK_ERRNO(emit(fd, first.write_index, "abcd", 4), ENOENT);
	CHECK_OK(emit(fd, second.write_index, "abcd", 4));
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->descriptor, second.descriptor);
	consumer_close(&consumer);
	close(fd);
}

/* The right to write goes with the file: through dup() and to another process. */
TEST(write_index_goes_with_the_file)
{
	struct eventlog_register registration;
	struct consumer consumer;
	struct record record;
	int fd = device_open(), copy, pair[2];
	pid_t child;

	registration = register_event(fd, "passed");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "passed");

	copy = CHECK_OK(dup(fd));
	CHECK_OK(emit(copy, registration.write_index, "", 0));
	consumer_one(&consumer, &record);
	close(copy);
	CHECK_OK(emit(fd, registration.write_index, "", 0));
	consumer_one(&consumer, &record);

	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = test_fork();
	if (!child) {
		close(fd);
		fd = descriptor_receive(pair[1]);
		CHECK_OK(emit(fd, registration.write_index, "", 0));
		_exit(0);
	}
	descriptor_send(pair[0], fd);
	close(fd);
	test_join(child);
	consumer_one(&consumer, &record);
	CHECK_EQ(record.header->pid, child);
	CHECK_EQ(record.header->descriptor, registration.descriptor);

	/* Two files of one process do not share write indexes. */
	fd = device_open();
	CHECK_ERRNO(emit(fd, registration.write_index, "", 0), EINVAL);
	register_event(fd, "filler");
	register_event(fd, "filler");
	CHECK_OK(try_unregister(fd, registration.write_index));
	CHECK_ERRNO(emit(fd, registration.write_index, "", 0), ENOENT);
	close(fd);
	consumer_close(&consumer);
}

/* ------------------------------------------------------------------------
 * Definitions
 */
TEST(equal_registrations_share_a_definition)
{
	int fd = device_open(), other = device_open();
	struct eventlog_register first, second;

	first = register_event(fd, "shared u32 a; char[4] b");
	second = register_event(other, " shared  u32  a ;char[4] b ; ");
	CHECK_EQ(first.descriptor, second.descriptor);
	CHECK_EQ(first.status_offset, second.status_offset);
	CHECK_EQ(status_now("Active: "), 1);

	/* Spelling out the defaults gives the same definition. */
	second = register_request("shared u32 a;char[4] b");
	second.level = EVENTLOG_LEVEL_INFO;
	second.provider = PTR(EVENTLOG_DEFAULT_PROVIDER);
	register_with(other, &second);
	CHECK_EQ(first.descriptor, second.descriptor);

	/* A session flag does not make another definition. */
	second = register_request("shared u32 a;char[4] b");
	second.flags = EVENTLOG_REGISTER_SESSION;
	register_with(other, &second);
	CHECK_EQ(first.descriptor, second.descriptor);
	CHECK_EQ(status_now("Active: "), 1);

	/* The definition lives until its last user is gone. */
	close(fd);
	CHECK_EQ(status_now("Active: "), 1);
	close(other);
	WAIT_FOR(!status_now("Active: "));
}

TEST(different_registrations_make_definitions)
{
	static const char *const commands[] = {
		"same", "same u32 a", "same u32 b", "same s32 a", "same u32 a;u32 b",
		"same u32 b;u32 a", "same char[4] a", "same char[5] a", "same unsigned char[4] a",
		"same __data_loc char[] a", "same __rel_loc char[] a",
		"same __data_loc unsigned char[] a", "same __rel_loc unsigned char[] a",
		"same struct s a 4", "same struct t a 4", "same struct s a 5", "Same", "same_",
	};
	struct eventlog_register all[ARRAY_SIZE(commands) + 12];
	unsigned int count = 0, i, j;
	int fd = device_open();

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		all[count++] = register_event(fd, commands[i]);
	for (i = 1; i <= EVENTLOG_LEVEL_VERBOSE; i++) {
		if (i == EVENTLOG_LEVEL_INFO)
			continue;
		all[count] = register_request("same");
		all[count].level = i;
		register_with(fd, &all[count++]);
	}
	for (i = 1; i <= 3; i++) {
		all[count] = register_request("same");
		all[count].keywords = i == 3 ? 1ULL << 63 : i;
		register_with(fd, &all[count++]);
	}
	all[count] = register_request("same");
	all[count].provider = PTR("other");
	register_with(fd, &all[count++]);

	CHECK_EQ(status_now("Active: "), count);
	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++) {
			CHECK(all[i].descriptor != all[j].descriptor);
			CHECK(all[i].status_offset != all[j].status_offset);
			CHECK(all[i].write_index != all[j].write_index);
		}
	close(fd);
}

TEST(descriptors_never_reused)
{
	enum { ROUNDS = 50, EACH = 20 };
	static __u32 seen[ROUNDS * EACH];
	unsigned int count = 0, i, round;
	char command[64];
	int fd;

	for (round = 0; round < ROUNDS; round++) {
		fd = device_open();
		for (i = 0; i < EACH; i++) {
			sprintf(command, "fleeting_%u_%u", round, i);
			seen[count++] = register_event(fd, command).descriptor;
		}
		close(fd);
	}
	qsort(seen, count, sizeof(*seen), compare_words);
	for (i = 1; i < count; i++)
		CHECK(seen[i] != seen[i - 1]);
}

/* The smallest accepted payload shows the size of the fixed part. */
TEST(fixed_size_of_field_types)
{
	static const struct {
		const char *fields;
		unsigned int bytes;
	} types[] = {
		{ "", 0 },
		{ "u8 a", 1 }, { "u16 a", 2 }, { "u32 a", 4 }, { "u64 a", 8 },
		{ "s8 a", 1 }, { "s16 a", 2 }, { "s32 a", 4 }, { "s64 a", 8 },
		{ "char a", 1 }, { "unsigned char a", 1 }, { "short a", 2 },
		{ "unsigned short a", 2 }, { "int a", 4 }, { "unsigned int a", 4 },
		{ "char[1] a", 1 }, { "char[13] a", 13 }, { "unsigned char[7] a", 7 },
		{ "char[65535] a", 65535 }, { "struct s a 1", 1 }, { "struct s a 99", 99 },
		{ "__data_loc unsigned char[] a", 4 }, { "__rel_loc unsigned char[] a", 4 },
		{ "u8 a;u64 b;u16 c", 11 }, { "u8 a;struct s b 3;char[2] c;s32 d;", 10 },
		{ "u8 a;__data_loc unsigned char[] b;u8 c", 6 },
	};
	char *payload = calloc(1, EVENTLOG_PAYLOAD_MAX);
	struct eventlog_register registration;
	struct consumer consumer;
	struct record record;
	int fd = device_open();
	char command[128];
	unsigned int i;

	consumer_open(&consumer, 4 * EVENTLOG_PAYLOAD_MAX);
	rule_add(consumer.fd, NULL, "sized_*");
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		snprintf(command, sizeof(command), "sized_%u %s", i, types[i].fields);
		test_note("\"%s\"", command);
		registration = register_event(fd, command);
		if (types[i].bytes)
			CHECK_ERRNO(emit(fd, registration.write_index, payload,
					 types[i].bytes - 1), EINVAL);
		CHECK_EQ(consumer_skip(&consumer), 0);
		CHECK_EQ(emit(fd, registration.write_index, payload, types[i].bytes),
			 types[i].bytes + 4);
		consumer_one(&consumer, &record);
		CHECK_EQ(record.header->descriptor, registration.descriptor);
		CHECK_EQ(record.bytes, ALIGN_UP(types[i].bytes, 8));
		CHECK_OK(emit(fd, registration.write_index, payload, types[i].bytes + 1));
		consumer_one(&consumer, &record);
	}
	consumer_close(&consumer);
	close(fd);
}

TEST(white_space_in_commands_is_ignored)
{
	static const char *const variants[] = {
		"spaced unsigned char[4] a;__data_loc char[] b;struct s c 9",
		"spaced unsigned char[4] a;__data_loc char[] b;struct s c 9;",
		"  spaced   unsigned   char[4]   a  ;  __data_loc   char[]   b ; struct  s  c  9 ",
		"spaced\tunsigned\tchar[4]\ta;\n__data_loc\tchar[]\tb;\n\tstruct\ts\tc\t9\n;\n",
		"spaced unsigned char[4] a ;__data_loc char[] b ;struct s c 9 ; ",
		/* Empty fields do not count. */
		"spaced ;unsigned char[4] a;;__data_loc char[] b; ;struct s c 9;;",
	};
	struct eventlog_register first, other;
	int fd = device_open();
	unsigned int i;

	first = register_event(fd, variants[0]);
	for (i = 1; i < ARRAY_SIZE(variants); i++) {
		test_note("\"%s\"", variants[i]);
		other = register_event(fd, variants[i]);
		CHECK_EQ(other.descriptor, first.descriptor);
	}
	close(fd);
}

/* ------------------------------------------------------------------------
 * Limits
 */
TEST_WITHIN(events_max, 900)
{
	const __u32 max = device_info().events_max;
	struct eventlog_register *all = calloc(max, sizeof(*all));
	unsigned char *bytes_seen;
	struct consumer consumer;
	struct status_map map;
	struct record record;
	unsigned int round, i, got = 0;
	char command[64];
	int fd;

	CHECK(all);
	for (round = 0; round < 2; round++) {
		fd = device_open();
		for (i = 0; i < max; i++) {
			snprintf(command, sizeof(command), "crowd_%u u32 value", i);
			all[i] = register_event(fd, command);
		}
		CHECK_ERRNO(try_register(fd, "one_too_many"), ENOSPC);
		/* An existing definition can still be shared. */
		CHECK_OK(try_unregister(fd, register_event(fd, "crowd_0 u32 value").write_index));
		CHECK_EQ(status_now("Active: "), max);

		bytes_seen = calloc(1, all[0].map_size);
		map = status_map(fd, &all[0]);
		consumer_open(&consumer, 1 << 20);
		rule_add(consumer.fd, NULL, "crowd_*");
		for (i = 0; i < max; i++) {
			CHECK_EQ(status_get(&map, &all[i]),
				 EVENTLOG_STATUS_ENABLED | EVENTLOG_STATUS_SYNC);
			CHECK(!bytes_seen[all[i].status_offset]);
			bytes_seen[all[i].status_offset] = 1;
		}
		CHECK_EQ(status_now("Busy: "), max);
		got = 0;
		for (i = 0; i < max; i++) {
			CHECK_OK(emit(fd, all[i].write_index, &i, sizeof(i)));
			if (i % 1024 && i != max - 1)
				continue;
			while (consumer_next(&consumer, &record))
				got++;
		}
		CHECK_EQ(got, max);
		CHECK_EQ(lost_sum(stat_all(consumer.fd).lost), 0);

		/* A new definition can take the slot of an old one. */
		CHECK_OK(try_unregister(fd, all[max / 2].write_index));
		WAIT_FOR(status_now("Active: ") == (long)max - 1);
		all[max / 2] = register_event(fd, "crowd_newcomer");
		CHECK(status_enabled(&map, &all[max / 2]));
		CHECK_ERRNO(try_register(fd, "one_too_many"), ENOSPC);

		consumer_close(&consumer);
		for (i = 0; i < max; i++)
			CHECK(!status_enabled(&map, &all[i]));
		CHECK_OK(munmap((void *)map.bytes, map.size));
		free(bytes_seen);
		close(fd);
		WAIT_FOR(!status_now("Active: "));
	}
}

TEST_WITHIN(registrations_max, 900)
{
	const __u32 max = device_info().registrations_max;
	struct eventlog_register request, last = { 0 };
	int fd = device_open(), other;
	struct consumer consumer;
	__u32 i;

	for (i = 0; i < max; i++) {
		last = register_request("often");
		CHECK_OK(ioctl(fd, EVENTLOG_IOC_REGISTER, &last));
	}
	CHECK_ERRNO(try_register(fd, "often"), EMFILE);
	CHECK_ERRNO(try_register(fd, "seldom"), EMFILE);
	CHECK_EQ(status_now("Active: "), 1);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	CHECK_OK(emit(fd, last.write_index, "", 0));
	CHECK_OK(try_unregister(fd, last.write_index));
	request = register_event(fd, "often");
	CHECK_OK(emit(fd, request.write_index, "", 0));
	CHECK_EQ(consumer_skip(&consumer), 2);

	/* The limit is per file. */
	other = device_open();
	register_event(other, "often");
	close(other);
	close(fd);
	consumer_close(&consumer);
}

/* ------------------------------------------------------------------------
 * Bits
 */
TEST(status_bits_follow_rules)
{
	enum { EVENTS = 200 };
	struct eventlog_register all[EVENTS];
	unsigned int i, group;
	struct status_map map;
	struct consumer first, second, third;
	__u32 rules[10];
	int fd = device_open();
	char text[64];

	for (i = 0; i < EVENTS; i++) {
		snprintf(text, sizeof(text), "bit_%u_%u", i % 10, i);
		all[i] = register_event(fd, text);
	}
	map = status_map(fd, &all[0]);
	for (i = 0; i < EVENTS; i++) {
		CHECK(!status_enabled(&map, &all[i]));
		CHECK(!(status_get(&map, &all[i]) & EVENTLOG_STATUS_SYNC));
	}

	/* Add and delete rules of one subscriber. */
	consumer_open(&first, RING_BYTES);
	for (group = 0; group < 10; group++) {
		snprintf(text, sizeof(text), "bit_%u_*", group);
		rules[group] = rule_add(first.fd, NULL, text);
		for (i = 0; i < EVENTS; i++)
			CHECK_EQ(status_enabled(&map, &all[i]), i % 10 <= group);
		CHECK_EQ(status_now("Busy: "), EVENTS / 10 * (group + 1));
	}
	for (group = 0; group < 10; group++) {
		CHECK_OK(try_rule_delete(first.fd, rules[group]));
		for (i = 0; i < EVENTS; i++)
			CHECK_EQ(status_enabled(&map, &all[i]), i % 10 > group);
	}

	/* Several subscribers, one without rings: the bit stays set until the last one closes. */
	consumer_open(&second, 0);
	consumer_open(&third, RING_BYTES);
	rule_add(first.fd, NULL, "bit_1_*");
	rule_add(first.fd, NULL, "bit_1_*");
	rule_add(second.fd, NULL, "bit_[12]_*");
	rule_add(third.fd, NULL, "bit_[123]_*");
	for (i = 0; i < EVENTS; i++)
		CHECK_EQ(status_enabled(&map, &all[i]), i % 10 >= 1 && i % 10 <= 3);
	consumer_close(&third);
	for (i = 0; i < EVENTS; i++)
		CHECK_EQ(status_enabled(&map, &all[i]), i % 10 >= 1 && i % 10 <= 2);
	consumer_close(&second);
	for (i = 0; i < EVENTS; i++)
		CHECK_EQ(status_enabled(&map, &all[i]), i % 10 == 1);
	consumer_close(&first);
	for (i = 0; i < EVENTS; i++) {
		CHECK(!status_enabled(&map, &all[i]));
		CHECK(!(status_get(&map, &all[i]) & EVENTLOG_STATUS_SYNC));
	}
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
}

/* A rule applies to events that are registered later; a reused bit starts clear. */
TEST(status_bits_when_the_rule_is_first)
{
	struct eventlog_register enabled, disabled;
	struct consumer consumer;
	struct status_map map;
	unsigned int round;
	int fd = device_open();

	enabled = register_event(fd, "keeper");
	map = status_map(fd, &enabled);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "enabled");
	for (round = 0; round < 100; round++) {
		enabled = register_event(fd, "enabled");
		disabled = register_event(fd, "disabled");
		CHECK(status_enabled(&map, &enabled));
		CHECK(!status_enabled(&map, &disabled));
		CHECK_OK(emit(fd, enabled.write_index, "", 0));
		CHECK_ERRNO(emit(fd, disabled.write_index, "", 0), EBADF);
		/* Reverse the order every round, so that the events swap their bits. */
		CHECK_OK(try_unregister(fd, round % 2 ? enabled.write_index :
					disabled.write_index));
		CHECK_OK(try_unregister(fd, round % 2 ? disabled.write_index :
					enabled.write_index));
	}
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
	consumer_close(&consumer);
}

/* ------------------------------------------------------------------------
 * Persistent events and DELETE
 */
TEST(delete_rejects_bad_names)
{
	char long_name[EVENTLOG_NAME_MAX + 1];
	static const char *const bad[] = { "", "\t", "a\x7f", "\xc3\xa4", "a\nb" };
	static const char *const none[] = { " ", "9a", "a b", "a*", "*", "a-b" };
	int fd = device_open();
	unsigned int i;

	memset(long_name, 'n', EVENTLOG_NAME_MAX);
	long_name[EVENTLOG_NAME_MAX] = '\0';
	CHECK_ERRNO(try_delete(fd, NULL, NULL), EFAULT);
	CHECK_ERRNO(try_delete(fd, NULL, pages_unmapped()), EFAULT);
	CHECK_ERRNO(try_delete(fd, pages_unmapped(), "e"), EFAULT);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		test_note("\"%s\"", bad[i]);
		CHECK_ERRNO(try_delete(fd, NULL, bad[i]), EINVAL);
	}
	CHECK_ERRNO(try_delete(fd, NULL, long_name), EINVAL);
	CHECK_ERRNO(try_delete(fd, long_name, "e"), EINVAL);
	CHECK_ERRNO(try_delete(fd, "a\nb", "e"), EINVAL);
	CHECK_ERRNO(try_delete(fd, "", "e"), EINVAL);
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		CHECK_ERRNO(try_delete(fd, NULL, none[i]), ENOENT);
		CHECK_ERRNO(try_delete(fd, none[i], "e"), ENOENT);
	}
	CHECK_ERRNO(try_delete(fd, NULL, "e"), ENOENT);
	CHECK_ERRNO(try_delete(fd, "unknown", "e"), ENOENT);

	/* An event that is not persistent cannot be deleted. */
	register_event(fd, "e");
	CHECK_ERRNO(try_delete(fd, NULL, "e"), ENOENT);
	CHECK_EQ(status_now("Active: "), 1);
	close(fd);
}

TEST(persistent_definition_stays)
{
	struct eventlog_register first, again;
	struct status_map map;
	struct consumer consumer;
	int fd = device_open(), deleter = device_open();
	__u32 state;
	char *text;

	first = register_persistent(fd, NULL, "stays u32 value");
	CHECK_ERRNO(try_delete(deleter, NULL, "stays"), EBUSY);
	CHECK_ERRNO(try_delete(fd, NULL, "stays"), EBUSY);
	close(fd);
	CHECK_EQ(status_now("Active: "), 1);
	text = describe(deleter, first.descriptor, &state);
	CHECK(text);
	free(text);
	CHECK_EQ(state, EVENTLOG_DESCRIBED_LIVE | EVENTLOG_DESCRIBED_PERSIST);

	/* The denied deletes changed nothing: the next user gets the same definition. */
	fd = device_open();
	again = register_event(fd, "stays u32 value");
	CHECK_EQ(again.descriptor, first.descriptor);
	CHECK_EQ(again.status_offset, first.status_offset);
	CHECK_ERRNO(try_delete(deleter, NULL, "stays"), EBUSY);
	CHECK_ERRNO(try_delete(deleter, "other", "stays"), ENOENT);
	CHECK_OK(try_unregister(fd, again.write_index));

	/* A subscriber does not keep the definition, and DELETE clears its bit. */
	again = register_event(fd, "bitmap_holder");
	map = status_map(fd, &again);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "stays");
	CHECK(status_enabled(&map, &first));
	CHECK_OK(try_delete(deleter, NULL, "stays"));
	WAIT_FOR(!status_enabled(&map, &first));
	WAIT_FOR(status_now("Active: ") == 1);
	CHECK_ERRNO(try_delete(deleter, NULL, "stays"), ENOENT);

	/* Registering the name again makes another definition. */
	again = register_event(fd, "stays u32 other");
	CHECK(again.descriptor != first.descriptor);
	consumer_close(&consumer);
	CHECK_OK(munmap((void *)map.bytes, map.size));
	close(fd);
	close(deleter);
}

/* A second registration may make a definition persistent. */
TEST(existing_definition_becomes_persistent)
{
	struct eventlog_register first, second;
	int fd = device_open(), other = device_open();

	first = register_event(fd, "late");
	second = register_persistent(other, NULL, "late");
	CHECK_EQ(first.descriptor, second.descriptor);
	close(other);
	CHECK_ERRNO(try_delete(fd, NULL, "late"), EBUSY);
	close(fd);
	CHECK_EQ(status_now("Active: "), 1);
	fd = device_open();
	CHECK_OK(try_delete(fd, EVENTLOG_DEFAULT_PROVIDER, "late"));
	CHECK_EQ(status_now("Active: "), 0);
	close(fd);
}

/* DELETE removes all definitions of a name, or none. */
TEST(delete_removes_all_of_a_name)
{
	int fd = device_open(), deleter = device_open();
	struct eventlog_register user;

	register_persistent(fd, NULL, "several");
	register_persistent(fd, NULL, "several u32 a");
	register_persistent(fd, NULL, "several u64 a");
	register_persistent(fd, "other", "several");
	register_persistent(fd, NULL, "several_more");
	close(fd);
	CHECK_EQ(status_now("Active: "), 5);
	fd = device_open();
	user = register_event(fd, "several u32 a");
	CHECK_ERRNO(try_delete(deleter, NULL, "several"), EBUSY);
	CHECK_EQ(status_now("Active: "), 5);
	CHECK_OK(try_unregister(fd, user.write_index));
	CHECK_OK(try_delete(deleter, NULL, "several"));
	CHECK_EQ(status_now("Active: "), 2);
	CHECK_OK(try_delete(deleter, NULL, "several_more"));
	CHECK_OK(try_delete(deleter, "other", "several"));
	CHECK_EQ(status_now("Active: "), 0);
	close(fd);
	close(deleter);
}

/* ------------------------------------------------------------------------
 * Capabilities
 */
static int try_subscribe(int fd, __u64 ring_bytes)
{
	struct eventlog_subscribe request = subscribe_request(ring_bytes);

	return ioctl(fd, EVENTLOG_IOC_SUBSCRIBE, &request);
}

static int try_persist(int fd)
{
	struct eventlog_register request = register_request("private");

	request.flags = EVENTLOG_REGISTER_PERSIST;
	return ioctl(fd, EVENTLOG_IOC_REGISTER, &request);
}

TEST(capabilities_are_needed)
{
	static const struct {
		__u64 keep;
		bool enough;
	} cases[] = {
		{ 0, false },
		{ CAPABILITY_ALL & ~CAPABILITY_PERFMON & ~CAPABILITY_SYS_ADMIN, false },
		{ CAPABILITY_PERFMON, true },
		{ CAPABILITY_SYS_ADMIN, true },
		{ CAPABILITY_ALL, true },
	};
	unsigned int i;
	pid_t child;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = device_open();
		register_persistent(fd, NULL, "public");
		close(fd);
		child = test_fork();
		if (child) {
			test_join(child);
			fd = device_open();
			if (cases[i].enough)
				CHECK_ERRNO(try_delete(fd, NULL, "public"), ENOENT);
			else
				CHECK_OK(try_delete(fd, NULL, "public"));
			if (cases[i].enough)
				CHECK_OK(try_delete(fd, NULL, "private"));
			else
				CHECK_ERRNO(try_delete(fd, NULL, "private"), ENOENT);
			close(fd);
			continue;
		}

		capabilities_keep(cases[i].keep);
		test_note("capabilities 0x%llx", (unsigned long long)cases[i].keep);
		fd = device_open();
		if (cases[i].enough) {
			CHECK_OK(try_subscribe(fd, RING_BYTES));
			close(fd);
			fd = device_open();
			CHECK_OK(try_persist(fd));
			CHECK_OK(try_delete(fd, NULL, "public"));
			_exit(0);
		}
		CHECK_ERRNO(try_subscribe(fd, RING_BYTES), EPERM);
		CHECK_ERRNO(try_subscribe(fd, 3), EPERM);
		CHECK_ERRNO(try_persist(fd), EPERM);
		CHECK_ERRNO(try_delete(fd, NULL, "public"), EPERM);
		CHECK_ERRNO(try_delete(fd, NULL, "no_such"), EPERM);
		/* A producer needs only the open file. */
		register_event(fd, "ordinary");
		CHECK_ERRNO(try_subscribe(fd, RING_BYTES), EPERM);
		_exit(0);
	}
}

/* The capabilities of the process that opened the file count. */
TEST(capabilities_are_the_openers)
{
	int pair[2], fd, other;
	pid_t child;

	/* Opened with capabilities, used without them. */
	fd = device_open();
	other = device_open();
	child = test_fork();
	if (!child) {
		CHECK_OK(setgid(65534));
		CHECK_OK(setuid(65534));
		CHECK_ERRNO(open(EVENTLOG_DEVICE, O_RDWR), EACCES);
		CHECK_OK(try_subscribe(fd, RING_BYTES));
		CHECK_ERRNO(try_delete(other, NULL, "no_such"), ENOENT);
		_exit(0);
	}
	test_join(child);
	close(fd);
	close(other);

	/* Opened without capabilities, used with them. */
	CHECK_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = test_fork();
	if (!child) {
		capabilities_keep(0);
		descriptor_send(pair[1], device_open());
		_exit(0);
	}
	fd = descriptor_receive(pair[0]);
	test_join(child);
	CHECK_ERRNO(try_subscribe(fd, RING_BYTES), EPERM);
	CHECK_ERRNO(try_delete(fd, NULL, "no_such"), EPERM);
	register_event(fd, "ordinary");
	close(fd);
}

/* ------------------------------------------------------------------------
 * The status listing
 */
/* Reads the listing without a last line about tracefs, where events of earlier tests may stay. */
static char *status_without_tracefs(void)
{
	char *text = status_read(), *line = text ? strstr(text, "Not in tracefs: ") : NULL;

	if (line)
		*line = '\0';
	return text;
}

TEST(status_text)
{
	struct eventlog_register one, two, three;
	char want[1024], *text;
	struct consumer consumer, other;
	int fd = device_open();

	snprintf(want, sizeof(want), "\nActive: 0\nBusy: 0\nMax: %u\n",
		 device_info().events_max);
	text = status_without_tracefs();
	CHECK(text);
	test_note("\"%s\"", text);
	CHECK(!strcmp(text, want));
	free(text);

	CHECK_OK(prctl(PR_SET_NAME, "listed", 0, 0, 0));
	one = register_event(fd, "one");
	two = register_request("two u32 a");
	two.provider = PTR("some.provider");
	register_with(fd, &two);
	three = register_persistent(fd, NULL, "three");
	CHECK_OK(try_unregister(fd, three.write_index));
	CHECK(one.status_offset < two.status_offset && two.status_offset < three.status_offset);
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, "some.*", NULL);
	rule_add(consumer.fd, "*", "two");
	consumer_open(&other, 0);
	rule_add(other.fd, "some.*", "tw?");
	rule_add(other.fd, NULL, "three");
	snprintf(want, sizeof(want),
		 "%u:user/one\n"
		 "%u:some.provider/two # Used by listed[%d](sync) listed[%d]\n"
		 "%u:user/three # Used by listed[%d]\n"
		 "\nActive: 3\nBusy: 2\nMax: %u\n",
		 one.status_offset, two.status_offset, getpid(), getpid(), three.status_offset,
		 getpid(),
		 device_info().events_max);
	text = status_without_tracefs();
	CHECK(text);
	test_note("\"%s\"", text);
	CHECK(!strcmp(text, want));
	free(text);
	consumer_close(&other);
	consumer_close(&consumer);
	CHECK_OK(try_delete(fd, NULL, "three"));
	close(fd);
}

/* The text is the same when read byte by byte, in odd chunks and with pread(). */
TEST(status_text_in_chunks)
{
	enum { EVENTS = 300 };
	int fd = device_open(), reader;
	char *text, *chunk = malloc(1 << 16), command[64];
	size_t length, at, step;
	unsigned int i;
	ssize_t bytes;

	for (i = 0; i < EVENTS; i++) {
		snprintf(command, sizeof(command), "listed_with_a_rather_long_name_%u", i);
		register_event(fd, command);
	}
	/* Events of earlier tests may still be in tracefs; where they stay, there may be no room. */
	WAIT_FOR(trace_events_stay() || status_now("Not in tracefs:") == -1);
	text = status_read();
	CHECK(text);
	length = strlen(text);
	CHECK(length > 2 * 4096);
	for (step = 1; step < 5000; step = step * 7 + 3) {
		reader = device_open_for(O_RDONLY);
		for (at = 0; at < length; at += bytes) {
			bytes = CHECK_OK(read(reader, chunk, step));
			CHECK(bytes > 0 && (size_t)bytes <= step);
			CHECK(at + bytes <= length);
			CHECK(!memcmp(chunk, text + at, bytes));
		}
		CHECK_EQ(read(reader, chunk, step), 0);
		close(reader);
	}
	reader = device_open_for(O_RDONLY);
	CHECK_ERRNO(read(reader, pages_unmapped(), 100), EFAULT);
	bytes = CHECK_OK(read(reader, chunk, 100));
	CHECK(!memcmp(chunk, text, bytes));
	close(reader);
	reader = device_open_for(O_RDONLY);
	CHECK_EQ(pread(reader, chunk, 100, 1000), 100);
	CHECK(!memcmp(chunk, text + 1000, 100));
	CHECK_EQ(pread(reader, chunk, 100, length), 0);
	CHECK_EQ(pread(reader, chunk, 100, 1ULL << 40), 0);
	CHECK_ERRNO(pread(reader, chunk, 100, -1), EINVAL);
	close(reader);
	close(fd);
}

/* A process name cannot forge lines of the listing. */
TEST(process_name_cannot_forge_lines)
{
	char *before, *after, *byte;
	struct consumer consumer;
	unsigned int lines = 0;
	int fd = device_open();

	register_event(fd, "honest");
	before = status_read();
	CHECK_OK(prctl(PR_SET_NAME, "a\n9:b/c\n\x1b[2J", 0, 0, 0));
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, NULL);
	after = status_read();
	CHECK(before && after);
	for (byte = before; *byte; byte++)
		lines += *byte == '\n';
	for (byte = after; *byte; byte++) {
		lines -= *byte == '\n';
		CHECK(*byte == '\n' || (*byte >= ' ' && *byte < 0x7f));
	}
	CHECK_EQ(lines, 0);
	consumer_close(&consumer);
	close(fd);
}
