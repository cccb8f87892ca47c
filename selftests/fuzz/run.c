// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the programs of kernel_fuzz.c.
 *
 * A program is run by a process of root, which makes the calls of thread 0 and then forks a
 * process of another user, with its files and mappings.  Each has two threads.  Unless the
 * program races, each call waits for the one before it, for a short time.
 *
 * Numbers that calls make are in shared memory; files and mappings belong to a process.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/eventlog.h>
#include <linux/kcov.h>

#include "fuzz.h"

#define OTHER_UID	65534
#define SLOTS		8
#define MAPS		16
#define NUMBERS		16
#define ROOM_BYTES	69632UL		/* where the kernel may write as much as it likes */
#define MEMORY_BYTES	(4 * ROOM_BYTES)
#define WORDS		8
#define TURN_MS		40	/* for the call before */
#define PROGRAM_MS	3000	/* then the processes are killed */
#define DEATH_MS	30000	/* they must have ended then */

struct map {
	char *address;
	size_t length;
};

/* Of both processes. */
struct shared {
	__u64 numbers[FUZZ_RESOURCES][NUMBERS];
	unsigned int made[FUZZ_RESOURCES];
	int turn;
	pid_t pids[2];
};

bool fuzz_verbose;
static const struct fuzz_program *running;
static const struct fuzz_coverage *kcov;
static struct shared *shared;
static int slots[SLOTS];
static struct map maps[MAPS];
static unsigned int map_count;
static int cgroup;
/* Words for user_events, which the kernel changes. */
static __u64 *bits;

/*
 * struct thread - a thread
 * @memory: MEMORY_BYTES for the arguments of a call, and a page that no one can read
 * @used: of @memory
 * @fail_nth: the file with the number of the allocation that fails; 0: not open yet
 */
struct thread {
	unsigned int number;
	bool root;
	char *memory;
	size_t used;
	int fail_nth;
};

static __thread sigjmp_buf fault;
static __thread volatile bool may_fault;

static void on_fault(int signal)
{
	(void)signal;
	if (may_fault)
		siglongjmp(fault, 1);
	_exit(0);
}

static unsigned long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000UL + time.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------
 * Arguments
 */

static __u64 number(unsigned int resource, __u64 arg)
{
	return arg >> 8 ? (arg >> 8) - 1 : shared->numbers[resource][arg % NUMBERS];
}

static void keep_number(unsigned int resource, __u64 value)
{
	shared->numbers[resource][__atomic_fetch_add(&shared->made[resource], 1,
						     __ATOMIC_RELAXED) % NUMBERS] = value;
}

static int file_of(__u64 arg)
{
	return slots[arg % SLOTS];
}

static void put_file(__u64 arg, int fd)
{
	if (fd < 0)
		return;
	if (slots[arg % SLOTS] >= 0)
		close(slots[arg % SLOTS]);
	slots[arg % SLOTS] = fd;
}

static char *allocate(struct thread *thread, size_t bytes)
{
	char *at;

	bytes = (bytes + 7) & ~7UL;
	if (bytes > MEMORY_BYTES - thread->used)
		thread->used = 0;
	at = thread->memory + thread->used;
	thread->used += bytes;
	return at;
}

/* The address of @bytes at @at or, as the argument says, something wrong. */
static __u64 point(const struct thread *thread, const char *at, size_t bytes, __u64 arg)
{
	const unsigned long end = (unsigned long)thread->memory + MEMORY_BYTES;

	switch (arg >> 60) {
	case 0:
		return (unsigned long)at;
	case 1:
		return 0;
	case 2:
		return end - bytes / 2;
	case 3:
		return -4096UL;
	case 4:
		return 4096;
	case 5:
		return end;
	default:
		return arg;
	}
}

/* Change some characters, to others of the string or to any. */
static void change_text(char *text, size_t length, __u64 seed)
{
	unsigned int times = 1 + seed % 3;
	size_t at;

	seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	while (times-- && length) {
		at = fuzz_random(&seed, length);
		switch (fuzz_random(&seed, 4)) {
		case 0:
			text[at] = fuzz_random(&seed, 256);
			break;
		case 1:
			text[at] = '\0';
			break;
		case 2:
			memmove(text + at, text + at / 2, length - at);
			break;
		default:
			text[at] = text[fuzz_random(&seed, length)];
		}
	}
}

static __u64 string_argument(struct thread *thread, const struct fuzz_field *field, __u64 arg)
{
	const struct fuzz_alphabet *alphabet = &fuzz_alphabets[field->extra];
	unsigned int index = arg & 0xff, more;
	const struct fuzz_string *string;
	char *at;

	if (field->kind == FUZZ_STRING_OR_0) {
		if (!arg)
			return 0;
		index--;
	}
	more = field->more >= 0 ? fuzz_alphabets[field->more].count : 0;
	index %= alphabet->count + more;
	if (index >= alphabet->count)
		string = &fuzz_alphabets[field->more].strings[index - alphabet->count];
	else
		string = &alphabet->strings[index];
	at = allocate(thread, string->bytes);
	memcpy(at, string->text, string->bytes);
	if (arg >> 8 & 0xffffffff)
		change_text(at, string->bytes - 1, arg >> 8 & 0xffffffff);
	return point(thread, at, string->bytes, arg);
}

static __u64 pool_argument(struct thread *thread, const struct fuzz_field *field, __u64 arg)
{
	const struct fuzz_alphabet *alphabet = &fuzz_alphabets[field->extra];
	char *at = allocate(thread, EVENTLOG_FILTER_POOL_MAX), *to = at;
	unsigned int i;

	for (i = 0; i < alphabet->count; i++) {
		memcpy(to, alphabet->strings[i].text, alphabet->strings[i].bytes);
		to += alphabet->strings[i].bytes;
	}
	return point(thread, at, EVENTLOG_FILTER_POOL_MAX, arg);
}

static __u64 pool_place(const struct fuzz_field *field, __u64 arg)
{
	const struct fuzz_alphabet *alphabet = &fuzz_alphabets[field->extra];
	unsigned int index = arg % alphabet->count, i;
	__u64 at = 0;

	if (arg >> 8)
		return (arg >> 8) - 1;
	for (i = 0; i < index; i++)
		at += alphabet->strings[i].bytes;
	return at;
}

static __u64 pid_argument(struct thread *thread, __u64 arg)
{
	if (!arg || arg > 2)
		return arg;
	return shared->pids[(arg == 1) == thread->root ? 0 : 1];
}

/* @blocks: the structs of the call */
static __u64 argument(struct thread *thread, const struct fuzz_field *field, __u64 arg,
		      const __u64 *blocks)
{
	switch (field->kind) {
	case FUZZ_SIZE:
		return arg ? arg : field->extra;
	case FUZZ_STRING:
	case FUZZ_STRING_OR_0:
		return string_argument(thread, field, arg);
	case FUZZ_ROOM:
		return point(thread, allocate(thread, ROOM_BYTES), ROOM_BYTES, arg);
	case FUZZ_POINTER:
	case FUZZ_POINTER_OR_0:
		if (!arg && field->kind == FUZZ_POINTER_OR_0)
			return 0;
		return point(thread, (const char *)blocks[field->extra], 64, arg);
	case FUZZ_POOL:
		return pool_argument(thread, field, arg);
	case FUZZ_PLACE:
		return pool_place(field, arg);
	case FUZZ_USE:
	case FUZZ_MAKE_USE:
		return number(field->extra, arg);
	case FUZZ_DIRECTORY:
		return arg == 1 ? (__u64)cgroup : arg == 2 ? (__u64)file_of(0) : arg;
	case FUZZ_PID:
		return pid_argument(thread, arg);
	case FUZZ_BIT:
		return point(thread, (const char *)&bits[arg % WORDS], 8, arg);
	default:
		return arg;
	}
}

/* ------------------------------------------------------------------------
 * ioctl()
 */

static void fill_struct(struct thread *thread, const struct fuzz_op *op, const __u64 *args,
			const __u64 *blocks)
{
	const struct fuzz_field *field;
	unsigned int i, at;
	__u64 value;
	char *to;

	for (i = 0; i < op->field_count; i++) {
		field = &op->fields[i];
		if (field->block < 0 || field->kind == FUZZ_MAKE_SLOT)
			continue;
		value = argument(thread, field, args[i], blocks);
		to = (char *)blocks[field->block] + field->offset;
		for (at = 0; at < field->size; at += 8)
			memcpy(to + at, &value, field->size < 8 ? field->size : 8);
	}
}

static void take_results(const struct fuzz_op *op, const __u64 *args, const __u64 *blocks)
{
	const struct fuzz_field *field;
	unsigned int i;
	__u64 value;

	for (i = 0; i < op->field_count; i++) {
		field = &op->fields[i];
		if (field->block < 0 || field->size > 8)
			continue;
		value = 0;
		memcpy(&value, (char *)blocks[field->block] + field->offset, field->size);
		if (field->kind == FUZZ_MAKE || field->kind == FUZZ_MAKE_USE)
			keep_number(field->extra, value);
		else if (field->kind == FUZZ_MAKE_SLOT)
			put_file(args[i], (int)value);
	}
}

static void call_ioctl(struct thread *thread, const struct fuzz_op *op, const __u64 *args)
{
	__u64 blocks[FUZZ_BLOCKS_MAX];
	unsigned int i;

	for (i = 0; i < op->block_count; i++) {
		blocks[i] = (unsigned long)allocate(thread, op->block_bytes[i]);
		memset((char *)blocks[i], 0, op->block_bytes[i]);
	}
	fill_struct(thread, op, args, blocks);
	if (!ioctl(file_of(args[0]), op->request, blocks[0]))
		take_results(op, args, blocks);
	else if (fuzz_verbose)
		fprintf(stderr, "%s: %s\n", op->name, strerror(errno));
}

/* ------------------------------------------------------------------------
 * Files
 */

static void fill_bytes(char *to, size_t bytes, __u64 seed)
{
	size_t i;

	/* With few different bytes, words of dynamic fields are often right. */
	for (i = 0; i < bytes; i++)
		to[i] = seed ? (seed >> i % 8 * 8) & 0xff : 0;
}

/* Index and payload; the index follows @header bytes. */
static void write_message(struct thread *thread, int fd, const void *header, size_t header_bytes,
			  __u32 index, size_t bytes, __u64 seed)
{
	char *at;

	if (bytes > 2 * ROOM_BYTES)
		bytes = 2 * ROOM_BYTES;
	at = allocate(thread, header_bytes + 4 + bytes);
	memcpy(at, header, header_bytes);
	memcpy(at + header_bytes, &index, 4);
	fill_bytes(at + header_bytes + 4, bytes, seed);
	if (write(fd, at, header_bytes + 4 + bytes) < 0)
		return;
}

static void write_batch(struct thread *thread, const __u64 *args)
{
	const __u32 index = number(FUZZ_RESOURCE_INDEX, args[FUZZ_WRITE_BATCH_INDEX]);
	const __u32 bytes = args[FUZZ_WRITE_BATCH_BYTES], marker = args[FUZZ_WRITE_BATCH_MARKER];
	unsigned int count = args[FUZZ_WRITE_BATCH_COUNT];
	const size_t step = 8 + (bytes & 0xfff);
	const __u32 size = 4 + bytes;
	char *at, *to;

	if (count > (ROOM_BYTES - 4) / step)
		count = (ROOM_BYTES - 4) / step;
	at = allocate(thread, 4 + count * step);
	memcpy(at, &marker, 4);
	for (to = at + 4; to < at + 4 + count * step; to += step) {
		memcpy(to, &size, 4);
		memcpy(to + 4, &index, 4);
		fill_bytes(to + 8, step - 8, args[FUZZ_WRITE_BATCH_SEED]);
	}
	if (write(file_of(args[0]), at, 4 + count * step) < 0)
		return;
}

static void write_many(struct thread *thread, const __u64 *args)
{
	const __u32 index = number(FUZZ_RESOURCE_INDEX, args[FUZZ_WRITE_MANY_INDEX]);
	const size_t bytes = args[FUZZ_WRITE_MANY_BYTES] % 8192;
	unsigned int count = args[FUZZ_WRITE_MANY_COUNT] % 5000;
	char *at = allocate(thread, bytes + 4);

	memcpy(at, &index, 4);
	memset(at + 4, 0, bytes);
	while (count--)
		if (write(file_of(args[0]), at, bytes + 4) < 0)
			return;
}

static void poll_file(const __u64 *args)
{
	struct pollfd file = { file_of(args[FUZZ_POLL_FD]), args[FUZZ_POLL_EVENTS], 0 };

	poll(&file, 1, 2);
}

static void read_file(struct thread *thread, const __u64 *args)
{
	const size_t bytes = args[FUZZ_READ_BYTES] < ROOM_BYTES ? args[FUZZ_READ_BYTES] : 4096;
	char *at = allocate(thread, bytes);
	const long position = args[FUZZ_READ_POSITION];
	const int fd = file_of(args[FUZZ_READ_FD]);

	if ((position < 0 ? read(fd, at, bytes) : pread(fd, at, bytes, position)) < 0)
		return;
}

static void delete_user_event(struct thread *thread, const __u64 *args)
{
	const struct fuzz_op *op = &fuzz_ops[FUZZ_OP_UE_DELETE];
	const __u64 name = argument(thread, &op->fields[FUZZ_UE_DELETE_NAME],
				    args[FUZZ_UE_DELETE_NAME], NULL);

	ioctl(file_of(args[FUZZ_UE_DELETE_FD]), _IOW('*', 1, char *), name);
}

/* ------------------------------------------------------------------------
 * Mappings
 */

static void map_file(const __u64 *args)
{
	__u64 offset = number(FUZZ_RESOURCE_OFFSET, args[FUZZ_MMAP_OFFSET]);
	__u64 length = number(FUZZ_RESOURCE_LENGTH, args[FUZZ_MMAP_LENGTH]);
	const __u64 more = args[FUZZ_MMAP_MORE];
	unsigned int index;
	void *address;

	/* As a subscriber does: the consumer's page alone, or the ring of another CPU. */
	if (args[FUZZ_MMAP_PART] == 1) {
		offset += 4096;
		length = 4096;
	} else if (args[FUZZ_MMAP_PART] == 2) {
		offset += length;
	}
	if (more > 3)
		length += more;
	if (length > 64UL << 20)
		length = 64UL << 20;
	address = mmap(NULL, length, args[FUZZ_MMAP_PROTECTION] & 7,
		       args[FUZZ_MMAP_SHARED] == 2 ? MAP_PRIVATE : MAP_SHARED,
		       file_of(args[FUZZ_MMAP_FD]), offset);
	if (address == MAP_FAILED) {
		if (fuzz_verbose)
			fprintf(stderr, "mmap: %s\n", strerror(errno));
		return;
	}
	index = __atomic_fetch_add(&map_count, 1, __ATOMIC_RELAXED) % MAPS;
	if (maps[index].address)
		munmap(maps[index].address, maps[index].length);
	maps[index] = (struct map){ address, length };
}

static struct map *find_map(__u64 arg)
{
	return &maps[arg % MAPS];
}

static void unmap_file(const __u64 *args)
{
	struct map *map = find_map(args[FUZZ_MUNMAP_MAP]);
	const size_t part = args[FUZZ_MUNMAP_PART] == 1 ? 4096 : 0;

	if (!map->address)
		return;
	if (args[FUZZ_MUNMAP_PART] == 2 && map->length > 4096) {
		munmap(map->address + 4096, 4096);
		return;
	}
	munmap(map->address, part ? part : map->length);
	*map = (struct map){ 0 };
}

static void remap_file(const __u64 *args)
{
	struct map *map = find_map(args[FUZZ_REMAP_MAP]);

	if (!map->address)
		return;
	switch (args[FUZZ_REMAP_HOW]) {
	case 0:
		mprotect(map->address, map->length, PROT_READ | PROT_WRITE);
		break;
	case 1:
		madvise(map->address, map->length, MADV_DONTNEED);
		break;
	case 2:
		if (mremap(map->address, map->length, map->length + 4096, MREMAP_MAYMOVE) !=
		    MAP_FAILED)
			*map = (struct map){ 0 };
		break;
	case 3:
		madvise(map->address, map->length, MADV_DOFORK);
		break;
	default:
		mprotect(map->address, 4096, PROT_READ | PROT_EXEC);
	}
}

static void scribble(const __u64 *args)
{
	const struct map *map = find_map(args[FUZZ_SCRIBBLE_MAP]);
	const __u64 offset = args[FUZZ_SCRIBBLE_OFFSET] & ~3ULL;
	__u32 *word = (void *)(map->address + offset);

	if (!map->address || offset + 4 > map->length)
		return;
	switch (args[FUZZ_SCRIBBLE_HOW]) {
	case 0:
		__atomic_store_n(word, args[FUZZ_SCRIBBLE_VALUE], __ATOMIC_RELEASE);
		break;
	case 1:
		__atomic_add_fetch(word, args[FUZZ_SCRIBBLE_VALUE], __ATOMIC_RELEASE);
		break;
	default:
		fill_bytes((char *)word, map->length - offset < 512 ? map->length - offset : 512,
			   args[FUZZ_SCRIBBLE_VALUE]);
	}
}

/* Put a record in a producer ring, or one with something wrong, and commit it. */
static void produce(const __u64 *args)
{
	const struct map *map = find_map(args[FUZZ_PRODUCE_MAP]);
	struct eventlog_mapped_header *header = (void *)map->address;
	const __u64 wrong = args[FUZZ_PRODUCE_WRONG];
	struct eventlog_mapped_record *record;
	struct timespec time;
	__u32 bytes, head;

	if (map->length < 8192 || header->magic != EVENTLOG_MAPPED_MAGIC)
		return;
	if (header->data_bytes > map->length || header->data_offset > 65536)
		return;
	bytes = sizeof(*record) + args[FUZZ_PRODUCE_BYTES] % 8192;
	head = header->committed & (header->data_bytes - 1) & ~7U;
	if (head + bytes > header->data_bytes) {
		record = (void *)(map->address + header->data_offset + head);
		*record = (struct eventlog_mapped_record){ header->data_bytes - head, 0, 0, 0 };
		header->committed += header->data_bytes - head;
		head = 0;
	}
	if (header->data_offset + head + bytes > map->length)
		return;
	clock_gettime(CLOCK_MONOTONIC, &time);
	record = (void *)(map->address + header->data_offset + head);
	record->size = bytes;
	record->write_index = number(FUZZ_RESOURCE_INDEX, args[FUZZ_PRODUCE_INDEX]);
	record->time = time.tv_sec * 1000000000ULL + time.tv_nsec;
	record->session = 7;
	fill_bytes((char *)(record + 1), bytes - sizeof(*record), args[FUZZ_PRODUCE_SEED]);
	if (wrong == 1)
		record->size = args[FUZZ_PRODUCE_SEED];
	else if (wrong == 2)
		record->time = args[FUZZ_PRODUCE_SEED];
	else if (wrong == 3)
		record->write_index = args[FUZZ_PRODUCE_SEED];
	else if (wrong == 4)
		bytes += 16;
	else if (wrong == 5)
		record->time -= 1000000000;
	__atomic_store_n(&header->committed, header->committed + ((bytes + 7) & ~7U),
			 __ATOMIC_RELEASE);
}

/* Store what the ring says was written to the consumer's page. */
static void consume(const __u64 *args)
{
	const struct map *map = find_map(args[FUZZ_CONSUME_MAP]);
	const struct map *page = find_map(args[FUZZ_CONSUME_PAGE]);
	const struct eventlog_ring_header *header = (void *)map->address;
	struct eventlog_ring_consumer *consumer = (void *)page->address;

	if (map->length < 8192 || header->magic != EVENTLOG_RING_MAGIC || page->length != 4096)
		return;
	__atomic_store_n(&consumer->position, (__u32)header->committed, __ATOMIC_RELEASE);
	consumer->lost_seen = header->lost_total;
}

/* ------------------------------------------------------------------------
 * Processes
 */

/* A child uses the parent's files and mappings, and ends in one of several ways. */
static void fork_child(const __u64 *args)
{
	char *const arguments[] = { "true", NULL };
	unsigned int i;
	__u32 words[3];
	pid_t pid;

	pid = fork();
	if (pid > 0) {
		if (args[FUZZ_FORK_HOW] == 2)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
	if (pid)
		return;
	switch (args[FUZZ_FORK_HOW]) {
	case 1:
		for (i = 0; i < SLOTS; i++) {
			words[0] = shared->numbers[FUZZ_RESOURCE_INDEX][i];
			if (write(slots[i], words, sizeof(words)) < 0)
				continue;
		}
		break;
	case 3:
		for (i = 0; i < SLOTS; i++)
			if (slots[i] >= 0)
				fcntl(slots[i], F_SETFD, 0);
		execve("/bin/true", arguments, NULL);
		break;
	case 4:
		for (i = 0; i < MAPS; i++)
			if (maps[i].address)
				munmap(maps[i].address, maps[i].length);
	}
	_exit(0);
}

static void call_other(struct thread *thread, unsigned int op, const __u64 *args)
{
	const struct fuzz_field *field = fuzz_ops[op].fields;
	__u32 words[2];

	switch (op) {
	case FUZZ_OP_OPEN:
		put_file(args[FUZZ_OPEN_FD],
			 open((const char *)string_argument(thread, &field[FUZZ_OPEN_PATH],
							    args[FUZZ_OPEN_PATH]),
			      ((args[FUZZ_OPEN_FLAGS] & (O_ACCMODE | O_NONBLOCK)) ^ O_RDWR) |
			      O_CLOEXEC));
		break;
	case FUZZ_OP_CLOSE:
		if (file_of(args[0]) >= 0)
			close(file_of(args[0]));
		slots[args[0] % SLOTS] = -1;
		break;
	case FUZZ_OP_DUP:
		put_file(args[FUZZ_DUP_TO], dup(file_of(args[FUZZ_DUP_FD])));
		break;
	case FUZZ_OP_WRITE:
		write_message(thread, file_of(args[0]), NULL, 0,
			      number(FUZZ_RESOURCE_INDEX, args[FUZZ_WRITE_INDEX]),
			      args[FUZZ_WRITE_BYTES], args[FUZZ_WRITE_SEED]);
		break;
	case FUZZ_OP_WRITE_BATCH:
		write_batch(thread, args);
		break;
	case FUZZ_OP_WRITE_KICK:
		words[0] = args[FUZZ_WRITE_KICK_MARKER];
		words[1] = number(FUZZ_RESOURCE_RING, args[FUZZ_WRITE_KICK_RING]);
		write_message(thread, file_of(args[0]), words, sizeof(words),
			      number(FUZZ_RESOURCE_INDEX, args[FUZZ_WRITE_KICK_INDEX]),
			      args[FUZZ_WRITE_KICK_BYTES], args[FUZZ_WRITE_KICK_SEED]);
		break;
	case FUZZ_OP_WRITE_MANY:
		write_many(thread, args);
		break;
	case FUZZ_OP_MMAP:
		map_file(args);
		break;
	case FUZZ_OP_MUNMAP:
		unmap_file(args);
		break;
	case FUZZ_OP_REMAP:
		remap_file(args);
		break;
	case FUZZ_OP_SCRIBBLE:
		scribble(args);
		break;
	case FUZZ_OP_PRODUCE:
		produce(args);
		break;
	case FUZZ_OP_CONSUME:
		consume(args);
		break;
	case FUZZ_OP_POLL:
		poll_file(args);
		break;
	case FUZZ_OP_READ:
		read_file(thread, args);
		break;
	case FUZZ_OP_FORK:
		fork_child(args);
		break;
	case FUZZ_OP_WAIT:
		usleep(args[FUZZ_WAIT_MILLISECONDS] % 64 * 1000);
		break;
	case FUZZ_OP_UE_DELETE:
		delete_user_event(thread, args);
		break;
	}
}

static void make_call(struct thread *thread, const struct fuzz_call *call)
{
	char text[8];

	if (call->fail && !thread->fail_nth)
		thread->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (call->fail && thread->fail_nth >= 0) {
		snprintf(text, sizeof(text), "%u", call->fail);
		if (pwrite(thread->fail_nth, text, strlen(text), 0) < 0)
			thread->fail_nth = -1;
	}
	may_fault = true;
	if (!sigsetjmp(fault, 1)) {
		if (fuzz_ops[call->op].request)
			call_ioctl(thread, &fuzz_ops[call->op], call->args);
		else
			call_other(thread, call->op, call->args);
	}
	may_fault = false;
	if (call->fail && thread->fail_nth >= 0 && pwrite(thread->fail_nth, "0", 1, 0) < 0)
		thread->fail_nth = -1;
}

/* ------------------------------------------------------------------------
 * Threads
 */

static void wait_for_turn(int index)
{
	const struct timespec step = { .tv_nsec = 5000000 };
	const unsigned long end = now_ms() + TURN_MS;
	int turn;

	while ((turn = __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE)) < index && now_ms() < end)
		syscall(SYS_futex, &shared->turn, FUTEX_WAIT, turn, &step, NULL, 0);
}

static void pass_turn(int index)
{
	int turn = __atomic_load_n(&shared->turn, __ATOMIC_RELAXED);

	while (turn <= index &&
	       !__atomic_compare_exchange_n(&shared->turn, &turn, index + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 100, NULL, NULL, 0);
}

static void begin_coverage(unsigned int number)
{
	if (kcov[number].fd >= 0)
		ioctl(kcov[number].fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

static void end_coverage(unsigned int number)
{
	if (kcov[number].fd >= 0)
		ioctl(kcov[number].fd, KCOV_DISABLE, 0);
}

/* With few mappings: each one takes time in fork() and exit(). */
static void prepare(struct thread *thread)
{
	thread->memory = mmap(NULL, MEMORY_BYTES + 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread->memory == MAP_FAILED ||
	    mprotect(thread->memory + MEMORY_BYTES, 4096, PROT_NONE))
		_exit(1);
}

static void make_calls(struct thread *thread, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < running->count; i++) {
		if (running->calls[i].thread != number)
			continue;
		if (number && !(running->flags & FUZZ_RACE))
			wait_for_turn(i);
		make_call(thread, &running->calls[i]);
		pass_turn(i);
	}
}

static void *run_second(void *argument)
{
	struct thread *thread = argument;

	prepare(thread);
	begin_coverage(thread->number);
	make_calls(thread, thread->number);
	end_coverage(thread->number);
	return NULL;
}

static bool has_thread(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < running->count; i++)
		if (running->calls[i].thread == number)
			return true;
	return false;
}

/* The calls of two threads; then all is closed, so that this is covered as well. */
static void run_threads(struct thread *first, unsigned int number)
{
	struct thread second = { .number = number + 1, .root = first->root };
	pthread_t thread;
	bool started;
	unsigned int i;

	started = has_thread(number + 1) && !pthread_create(&thread, NULL, run_second, &second);
	make_calls(first, number);
	if (started)
		pthread_join(thread, NULL);
	for (i = 0; i < MAPS; i++)
		if (maps[i].address)
			munmap(maps[i].address, maps[i].length);
	for (i = 0; i < SLOTS; i++)
		if (slots[i] >= 0)
			close(slots[i]);
	end_coverage(number);
	_exit(0);
}

static void become_other_user(void)
{
	if (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	if (running->flags & FUZZ_NAMESPACE && unshare(CLONE_NEWUSER))
		_exit(0);
}

static void run_other(void)
{
	struct thread thread = { .number = 3 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_other_user();
	shared->pids[1] = getpid();
	prepare(&thread);
	begin_coverage(3);
	run_threads(&thread, 3);
}

static void run_root(void)
{
	struct thread thread = { .number = 1, .root = true };
	const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	pid_t pid;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pids[0] = getpid();
	prepare(&thread);
	begin_coverage(1);
	make_calls(&thread, 0);
	if (has_thread(3) || has_thread(4)) {
		pid = fork();
		if (!pid)
			run_other();
	}
	run_threads(&thread, 1);
}

/* ------------------------------------------------------------------------
 * Afterwards
 */

/* Copy a name, without its quotes. Return: what follows it. */
static const char *copy_name(char *to, size_t room, const char *from)
{
	const bool quoted = *from == '"';

	for (from += quoted; *from && room > 1; from++) {
		if (quoted ? *from == '"' : *from == ' ' || *from == '\n')
			break;
		if (quoted && *from == '\\' && from[1])
			from++;
		*to++ = *from;
		room--;
	}
	*to = '\0';
	return from;
}

static void delete_event(int fd, const char *schema)
{
	char provider[EVENTLOG_NAME_MAX], event[EVENTLOG_NAME_MAX];
	struct eventlog_delete request = {
		.size = sizeof(request),
		.provider = (unsigned long)provider,
		.event = (unsigned long)event,
	};

	schema = strstr(schema, "\nprovider ");
	if (!schema)
		return;
	schema = copy_name(provider, sizeof(provider), schema + strlen("\nprovider "));
	schema = strstr(schema, "\nevent ");
	schema = schema ? strchr(schema + strlen("\nevent "), ' ') : NULL;
	if (!schema)
		return;
	copy_name(event, sizeof(event), schema + 1);
	ioctl(fd, EVENTLOG_IOC_DELETE, &request);
}

static void delete_instance(int fd, __u32 id)
{
	struct eventlog_instance_delete request = { .size = sizeof(request), .id = id };

	ioctl(fd, EVENTLOG_IOC_INSTANCE_DELETE, &request);
}

static void delete_all(int fd, __u32 kind)
{
	static char buffer[65536] __attribute__((aligned(8)));
	struct eventlog_list list = {
		.size = sizeof(list), .kind = kind, .buffer = (unsigned long)buffer,
	};
	const struct eventlog_definition *definition;
	const struct eventlog_element *element;
	char *at;

	do {
		list.buffer_size = sizeof(buffer);
		if (ioctl(fd, EVENTLOG_IOC_LIST, &list))
			return;
		for (at = buffer; list.count--; at += element->size) {
			element = (void *)at;
			definition = (void *)at;
			if (kind == EVENTLOG_LIST_INSTANCES)
				delete_instance(fd, ((struct eventlog_instance_info *)at)->id);
			else if (definition->state & EVENTLOG_DESCRIBED_PERSIST)
				delete_event(fd, at + element->text_offset);
		}
	} while (list.cursor);
}

/*
 * Remove what outlives a program, or the next one would find something else each time: a request
 * to leave, instances, and persistent events. Marker policies stay.
 */
static void remove_rest(void)
{
	struct eventlog_leave leave = { .size = sizeof(leave), .flags = EVENTLOG_LEAVE_PRODUCERS };
	static int fd = -1;

	if (fd < 0)
		fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
	ioctl(fd, EVENTLOG_IOC_LEAVE, &leave);
	leave.flags = 0;
	ioctl(fd, EVENTLOG_IOC_LEAVE, &leave);
	delete_all(fd, EVENTLOG_LIST_INSTANCES);
	delete_all(fd, EVENTLOG_LIST_DEFINITIONS);
}

/* Wait until all children have ended. Return: false: they have not. */
static bool wait_for_children(unsigned long milliseconds)
{
	const unsigned long end = now_ms() + milliseconds;
	unsigned int pause = 200;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (pid)
			continue;
		if (now_ms() >= end)
			return false;
		usleep(pause);
		pause += pause < 5000 ? pause : 0;
	}
	return true;
}

bool fuzz_run(const struct fuzz_program *program, const struct fuzz_coverage *coverage)
{
	pid_t pid;
	unsigned int i;

	if (!shared) {
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		bits = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED || bits == MAP_FAILED)
			exit(1);
		cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (i = 0; i < SLOTS; i++)
			slots[i] = -1;
		/* The other process becomes this one's child when its parent ends. */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	memset(shared, 0, sizeof(*shared));
	running = program;
	kcov = coverage;
	pid = fork();
	if (!pid)
		run_root();
	if (pid < 0)
		return true;
	if (wait_for_children(PROGRAM_MS)) {
		remove_rest();
		return true;
	}
	/* Both, and what they have forked, are in no group of their own. */
	kill(shared->pids[0], SIGKILL);
	if (shared->pids[1])
		kill(shared->pids[1], SIGKILL);
	if (!wait_for_children(DEATH_MS))
		return false;
	remove_rest();
	return true;
}
