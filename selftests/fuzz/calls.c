// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the calls of a program: see run.h.  What an argument means is in abi.grammar.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/eventlog.h>

#include "run.h"

bool fuzz_verbose;

static __thread sigjmp_buf fault;
static __thread volatile bool may_fault;

static void on_fault(int signal)
{
	(void)signal;
	if (may_fault)
		siglongjmp(fault, 1);
	_exit(0);
}

void catch_faults(void)
{
	const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
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
	return process.slots[arg % SLOTS];
}

static void put_file(__u64 arg, int fd)
{
	if (fd < 0)
		return;
	if (process.slots[arg % SLOTS] >= 0)
		close(process.slots[arg % SLOTS]);
	process.slots[arg % SLOTS] = fd;
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
		return arg == 1 ? (__u64)process.cgroup : arg == 2 ? (__u64)file_of(0) : arg;
	case FUZZ_PID:
		return pid_argument(thread, arg);
	case FUZZ_BIT:
		return point(thread, (const char *)&process.bits[arg % WORDS], 8, arg);
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

/*
 * A payload.  In its highest 4 bits @seed says what: 1: words as those of __data_loc fields, each
 * refers to the last byte; 2: as those of __rel_loc fields; otherwise these 8 bytes again and
 * again.  The bit below: there is a session first.  Bits 52 to 55: where the words begin.
 */
static void fill_bytes(char *to, size_t bytes, __u64 seed)
{
	const size_t session = seed >> 59 & 1 ? 8 : 0;
	const unsigned int mode = seed >> 60;
	size_t i, from;
	__u32 word;

	for (i = 0; i < bytes; i++)
		to[i] = seed ? (seed >> i % 8 * 8) & 0xff : 0;
	for (i = session + (seed >> 52 & 15); (mode == 1 || mode == 2) && i + 5 <= bytes; i += 4) {
		from = mode == 1 ? session : i + 4;
		word = 1 << 16 | ((bytes - 1 - from) & 0xffff);
		memcpy(to + i, &word, 4);
	}
	if (bytes)
		to[bytes - 1] = 0;
}

static void write_bytes(int fd, const void *bytes, size_t size)
{
	if (write(fd, bytes, size) < 0 && fuzz_verbose)
		fprintf(stderr, "write: %s\n", strerror(errno));
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
	write_bytes(fd, at, header_bytes + 4 + bytes);
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
	write_bytes(file_of(args[0]), at, 4 + count * step);
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

static void use_tracefs(struct thread *thread, const __u64 *args)
{
	const struct fuzz_field *fields = fuzz_ops[FUZZ_OP_TRACE].fields;
	const char *path = (const char *)string_argument(thread, &fields[FUZZ_TRACE_PATH],
							 args[FUZZ_TRACE_PATH]);
	const char *text = (const char *)string_argument(thread, &fields[FUZZ_TRACE_TEXT],
							 args[FUZZ_TRACE_TEXT]);
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	char buffer[4096];

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && fuzz_verbose)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	lseek(fd, 0, SEEK_SET);
	if (read(fd, buffer, sizeof(buffer)) < 0 && fuzz_verbose)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	close(fd);
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
	index = __atomic_fetch_add(&process.map_count, 1, __ATOMIC_RELAXED) % MAPS;
	if (process.maps[index].address)
		munmap(process.maps[index].address, process.maps[index].length);
	process.maps[index] = (struct map){ address, length };
}

static struct map *find_map(__u64 arg)
{
	return &process.maps[arg % MAPS];
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
			if (write(process.slots[i], words, sizeof(words)) < 0)
				continue;
		}
		break;
	case 3:
		for (i = 0; i < SLOTS; i++)
			if (process.slots[i] >= 0)
				fcntl(process.slots[i], F_SETFD, 0);
		execve("/bin/true", arguments, NULL);
		break;
	case 4:
		for (i = 0; i < MAPS; i++)
			if (process.maps[i].address)
				munmap(process.maps[i].address, process.maps[i].length);
	}
	_exit(0);
}

static void call_other(struct thread *thread, unsigned int op, const __u64 *args)
{
	const struct fuzz_field *field = fuzz_ops[op].fields;
	struct eventlog_write_session session;
	unsigned char message[64] = {};
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
		process.slots[args[0] % SLOTS] = -1;
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
	case FUZZ_OP_WRITE_SESSION:
		session = (struct eventlog_write_session){
			.write_index = args[FUZZ_WRITE_SESSION_MARKER],
			.session_of = number(FUZZ_RESOURCE_DESCRIPTOR, args[FUZZ_WRITE_SESSION_OF]),
			.session = args[FUZZ_WRITE_SESSION_SESSION],
		};
		memcpy(message, &session, sizeof(session));
		write_bytes(file_of(args[0]), message,
			    args[FUZZ_WRITE_SESSION_BYTES] % (sizeof(message) + 1));
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
		/* pause: a part of the program, so that the kernel works on its own */
		usleep(args[FUZZ_WAIT_MILLISECONDS] % 64 * 1000);
		break;
	case FUZZ_OP_TRACE:
		use_tracefs(thread, args);
		break;
	case FUZZ_OP_UE_DELETE:
		delete_user_event(thread, args);
		break;
	}
}

void make_call(struct thread *thread, const struct fuzz_call *call)
{
	/*
	 * Not in files of tracefs: when the kernel enables an event and has no memory for the
	 * names of threads, it warns as soon as the event is disabled.
	 */
	const unsigned int fail = call->op == FUZZ_OP_TRACE ? 0 : call->fail;
	char text[8];

	if (fail && !thread->fail_nth)
		thread->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail && thread->fail_nth >= 0) {
		snprintf(text, sizeof(text), "%u", fail);
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
	if (fail && thread->fail_nth >= 0 && pwrite(thread->fail_nth, "0", 1, 0) < 0)
		thread->fail_nth = -1;
}
