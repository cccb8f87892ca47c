// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random calls: see hostile_common.h.  Each request is first filled in so that it would
 * succeed; then some of its words are replaced by random ones.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hostile_common.h"

#define RING_BYTES (16 * page_size())
#define TEXT_BYTES 4096

/* Cuts off the name that a line of the listing starts with, and removes its quotes. */
static char *name_cut(char **line)
{
	char *start = *line, *end = start, *c = start;

	if (*c == '"') {
		for (c++; *c && *c != '"'; c++) {
			if (*c == '\\')
				c++;
			*end++ = *c;
		}
		CHECK(*c == '"');
		c++;
	} else {
		c += strcspn(c, "/ ");
		end = c;
	}
	*line = *c ? c + 1 : c;
	*end = '\0';
	return start;
}

void delete_persistent(void)
{
	char *text = status_read(), *line, *next, *provider;
	int fd = device_open();

	CHECK(text);
	for (line = text; *line && *line != '\n'; line = next) {
		next = strchr(line, '\n');
		CHECK(next);
		*next++ = '\0';
		line = strchr(line, ':');
		CHECK(line);
		line++;
		provider = name_cut(&line);
		/* One call may delete several definitions of the name. */
		if (try_delete(fd, provider, name_cut(&line)))
			CHECK(errno == ENOENT || errno == EBUSY);
	}
	free(text);
	close(fd);
}

void check_working(void)
{
	struct eventlog_register event;
	struct consumer consumer;
	struct record record;
	int fd = device_open();

	event = register_event(fd, "checked u64 value");
	consumer_open(&consumer, RING_BYTES);
	rule_add(consumer.fd, NULL, "checked");
	CHECK_EQ(emit(fd, event.write_index, "12345678", 8), 12);
	consumer_one(&consumer, &record);
	CHECK(!memcmp(record.payload, "12345678", 8));
	consumer_close(&consumer);
	close(fd);
}

static __u64 pick(struct hostile *hostile, __u64 count)
{
	return test_random(&hostile->seed) % count;
}

/* Almost valid text. */
static void random_command(char *text, size_t room, __u64 *seed)
{
	static const char *const words[] = {
		"name", "other", "a", "b", "c", "u8", "u16", "u32", "u64", "s8", "s64", "int",
		"unsigned", "char", "short", "long", "[4]", "[]", "[65536]", "[0]", "[99999999999]",
		"struct", "__data_loc", "__rel_loc", ";", ";", ";", " ", " ", "  ", "4", "0", "-1",
		"*", "\t", "\x80", "char[16]", "__data_loc char[] s", "u32 x;", "struct s y 8;",
		"unsigned char[3] z", "?", "[a-z]", "[!", "\\",
	};
	size_t used = 0;

	text[0] = '\0';
	for (;;) {
		const char *word = words[test_random(seed) % ARRAY_SIZE(words)];

		if (used + strlen(word) + 2 > room || test_random(seed) % 12 == 0)
			return;
		used += sprintf(text + used, "%s%s", word, test_random(seed) % 4 ? " " : "");
	}
}

__u64 random_word(__u64 *seed)
{
	switch (test_random(seed) % 8) {
	case 0:
		return test_random(seed);
	case 1:
		return test_random(seed) % 16;
	case 2:
		return 1ULL << test_random(seed) % 64;
	case 3:
		return (1ULL << test_random(seed) % 64) - 1;
	case 4:
		return -(test_random(seed) % 16);
	default:
		return 0;
	}
}

/* Names that several users share; NULL: the default. */
static __u64 random_name(struct hostile *hostile)
{
	static const char *const names[] = {
		NULL, "name", "other", "hostile", "markers_hostile", "user", "*", "markers_*",
		"kernel", "n?me",
	};

	return PTR(names[pick(hostile, ARRAY_SIZE(names))]);
}

/* A command, or with @schema a schema text. */
static __u64 random_definition(struct hostile *hostile, bool schema)
{
	static const char *const commands[] = {
		"name u32 x", "other __data_loc char[] text; u64 x", "name", "c char[16] comm",
	};
	static const char *const schemas[] = {
		"eventlog 1\nprovider hostile\nevent 1 name info -\n\tu32 x\n",
		"eventlog 1\nprovider markers_hostile\nevent 2 name error 0x1\n\tu64 x\n",
		"eventlog 1\nprovider user\nevent 3 other verbose -\n",
	};

	if (pick(hostile, 2)) {
		random_command(hostile->text, 200, &hostile->seed);
		return PTR(hostile->text);
	}
	if (schema)
		return PTR(schemas[pick(hostile, ARRAY_SIZE(schemas))]);
	return PTR(commands[pick(hostile, ARRAY_SIZE(commands))]);
}

/* A filter of a few terms, or none. */
static __u64 random_filter(struct hostile *hostile)
{
	static const char *const fields[] = { "x", "text", "comm", "pid", "cpu", "session" };
	struct filter_term terms[4] = { 0 };
	struct filter *filter = &hostile->filter;
	unsigned int count = 1 + pick(hostile, ARRAY_SIZE(terms)), i;

	if (pick(hostile, 4))
		return 0;
	for (i = 0; i < count; i++) {
		terms[i].name = fields[pick(hostile, ARRAY_SIZE(fields))];
		terms[i].flags = EVENTLOG_TERM_NUMBER | (pick(hostile, 2) ? EVENTLOG_TERM_COMMON : 0);
		terms[i].operation = pick(hostile, 12);
		terms[i].on_true = i + 1 < count && pick(hostile, 2) ? i + 1 : 0;
		terms[i].number = random_word(&hostile->seed);
		terms[i].string = pick(hostile, 2) ? "text" : NULL;
	}
	filter_fill(filter, terms, count, pick(hostile, 2) ? "x == 1" : NULL);
	for (i = pick(hostile, 3); i; i--)
		switch (pick(hostile, 3)) {
		case 0:
			((__u64 *)&filter->filter)[pick(hostile, sizeof(filter->filter) / 8)] =
				random_word(&hostile->seed);
			break;
		case 1:
			((__u32 *)filter->terms)[pick(hostile, count * sizeof(*filter->terms) / 4)] =
				random_word(&hostile->seed);
			break;
		default:
			filter->pool[pick(hostile, 64)] = random_word(&hostile->seed);
		}
	return PTR(&filter->filter);
}

static const struct {
	unsigned int number;
	size_t bytes;
} calls[] = {
#define CALL(number, type) { number, sizeof(struct type) }
	CALL(0, eventlog_info), CALL(1, eventlog_register), CALL(1, eventlog_register),
	CALL(2, eventlog_unregister), CALL(3, eventlog_delete),
	CALL(5, eventlog_list), CALL(5, eventlog_list),
	CALL(8, eventlog_subscribe), CALL(9, eventlog_rule),
	CALL(10, eventlog_rule_delete), CALL(11, eventlog_flush), CALL(12, eventlog_stat),
	CALL(13, eventlog_describe), CALL(14, eventlog_pause),
	CALL(17, eventlog_marker_set), CALL(17, eventlog_marker_set),
	CALL(20, eventlog_filter_get), CALL(21, eventlog_marker_handlers),
	CALL(24, eventlog_attach), CALL(25, eventlog_detach),
	/* Not INSTANCE_CREATE: instances would outlive the test. */
	CALL(27, eventlog_instance_delete),
	CALL(29, eventlog_instance_open),
#undef CALL
};

/* Sets what a request needs to succeed. */
static void request_fill(struct hostile *hostile, union request *request, unsigned int number)
{
	const __u64 out = PTR(hostile->text + TEXT_BYTES);

	switch (number) {
	case 1:
		request->registration.flags = pick(hostile, 8);
		request->registration.command =
			random_definition(hostile, request->registration.flags &
					  EVENTLOG_REGISTER_SCHEMA);
		if (!(request->registration.flags & EVENTLOG_REGISTER_SCHEMA))
			request->registration.provider = random_name(hostile);
		break;
	case 2:
	case 10:
		request->halves[1] = pick(hostile, 8);
		break;
	case 3:
		request->delete.provider = random_name(hostile);
		request->delete.event = PTR("name");
		break;
	case 5:
		request->list.kind = pick(hostile, 8);
		request->list.cursor = pick(hostile, 4) ? 0 : pick(hostile, 300);
		request->list.buffer = out;
		request->list.buffer_size = pick(hostile, 8) ? TEXT_BYTES : pick(hostile, 64);
		break;
	case 8:
		request->subscribe.ring_bytes = pick(hostile, 4) ? RING_BYTES : 0;
		request->subscribe.flags = request->subscribe.ring_bytes ? pick(hostile, 4) : 0;
		break;
	case 9:
		random_command(hostile->text, 200, &hostile->seed);
		request->rule.event = pick(hostile, 2) ? PTR(hostile->text) : 0;
		request->rule.filter = random_filter(hostile);
		break;
	case 12:
		request->stat.ring = pick(hostile, 2) ? EVENTLOG_RINGS_ALL : 0;
		break;
	case 13:
		request->describe.descriptor = pick(hostile, 64);
		request->describe.text = out;
		request->describe.text_size = TEXT_BYTES;
		break;
	case 14:
		request->pause.paused = pick(hostile, 2);
		break;
	case 17:
		request->marker_set.flags = pick(hostile, 2) ? EVENTLOG_MARKER_SET_PROGRAMS : 0;
		request->marker_set.owner = random_name(hostile);
		request->marker_set.marker = pick(hostile, 2) ? random_name(hostile) : 0;
		request->marker_set.handlers = pick(hostile, 8);
		request->marker_set.operation = pick(hostile, 3);
		request->marker_set.filter = random_filter(hostile);
		break;
	case 20:
		request->filter_get.write_index = pick(hostile, 6);
		request->filter_get.term_size = sizeof(struct eventlog_term);
		request->filter_get.terms = out;
		request->filter_get.terms_size = TEXT_BYTES / 2;
		request->filter_get.pool = out + TEXT_BYTES / 2;
		request->filter_get.pool_size = TEXT_BYTES / 2;
		break;
	case 21:
		request->marker_handlers.write_index = pick(hostile, 6);
		request->marker_handlers.handlers = pick(hostile, 8);
		request->marker_handlers.defaults = pick(hostile, 8);
		break;
	case 24:
		request->attach.ring = pick(hostile, 2) * pick(hostile, 4);
		request->attach.data_bytes = page_size() << (1 + pick(hostile, 3));
		break;
	case 25:
		request->detach.ring = 1 + pick(hostile, 4);
		break;
	}
}

static void random_ioctl(struct hostile *hostile)
{
	const unsigned int which = pick(hostile, ARRAY_SIZE(calls));
	const unsigned int number = pick(hostile, 50) ? calls[which].number : pick(hostile, 256);
	const size_t bytes = calls[which].bytes;
	const int fd = hostile->fds[pick(hostile, HOSTILE_FILES)];
	int *opened = &hostile->fds[pick(hostile, HOSTILE_FILES)];
	union request request;
	unsigned int i;
	int result;

	memset(&request, 0, sizeof(request));
	request_fill(hostile, &request, number);
	/* Corrupt up to three words of the request. */
	for (i = pick(hostile, 4); i; i--) {
		if (pick(hostile, 2))
			request.words[pick(hostile, bytes / 8)] = random_word(&hostile->seed);
		else
			request.halves[pick(hostile, bytes / 4)] = random_word(&hostile->seed);
	}
	request.size = pick(hostile, 16) ? bytes : random_word(&hostile->seed) % sizeof(request);
	/* Large rings take long and have a test of their own: subscribe_huge_rings. */
	if (number == 8 && request.subscribe.ring_bytes > 1 << 21)
		request.subscribe.ring_bytes %= 1 << 21;
	/* Other encodings are not decoded further, except for INFO. */
	result = ioctl(fd, pick(hostile, 16) ? EVENTLOG_IOC(number) :
		       _IOWR(EVENTLOG_IOC_TYPE, number, __u64),
		       pick(hostile, 100) ? (void *)&request :
		       (void *)(unsigned long)random_word(&hostile->seed));
	/* If another thread has duplicated it meanwhile, an open file keeps definitions alive. */
	if (!result && number == 29) {
		close(*opened);
		*opened = request.instance_open.fd;
	}
}

static void random_unmap(struct hostile *hostile, struct hostile_map *map)
{
	size_t bytes = map->bytes + pick(hostile, 2) * page_size();
	void *moved;

	if (!map->address)
		return;
	switch (pick(hostile, 4)) {
	case 0:
		mprotect(map->address, page_size(), pick(hostile, 8));
		break;
	case 1:
		madvise(map->address, page_size(), pick(hostile, 24));
		break;
	case 2:
		moved = mremap(map->address, map->bytes, bytes, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED)
			*map = (struct hostile_map){ moved, bytes };
		return;
	}
	munmap(map->address, map->bytes);
	map->address = NULL;
}

static void random_map(struct hostile *hostile)
{
	struct hostile_map *map = &hostile->maps[pick(hostile, HOSTILE_MAPS)];
	const int fd = hostile->fds[pick(hostile, HOSTILE_FILES)];
	const size_t bytes = page_size() << pick(hostile, 8);
	const bool writable = !pick(hostile, 3);
	__u32 word = random_word(&hostile->seed);
	void *address;

	random_unmap(hostile, map);
	if (map->address)
		return;
	/* Page 1 of a ring is the consumer's, which it may write. */
	address = mmap(NULL, writable ? page_size() : bytes,
		       writable ? PROT_READ | PROT_WRITE : PROT_READ,
		       pick(hostile, 16) ? MAP_SHARED : MAP_PRIVATE, fd,
		       (pick(hostile, 2) ? pick(hostile, 3) :
			random_word(&hostile->seed) & 0xffffff) * page_size());
	if (address == MAP_FAILED)
		return;
	map->address = address;
	map->bytes = writable ? page_size() : bytes;
	if (writable)
		*(volatile __u32 *)address = word;
}

/* Fills a producer ring with records, most of them valid, and has them drained. */
static void random_records(struct hostile *hostile, int fd, const struct eventlog_attach *attach,
			   struct eventlog_mapped_header *header)
{
	struct eventlog_mapped_record *record;
	__u32 head = header->committed & ~31U;
	unsigned int i;

	for (i = pick(hostile, 100); i; i--) {
		const __u32 message[] = {
			pick(hostile, 8) ? EVENTLOG_WRITE_KICK :
			pick(hostile, 2) ? EVENTLOG_WRITE_BATCH : EVENTLOG_WRITE_SESSION,
			attach->ring, pick(hostile, 6), random_word(&hostile->seed), 0, 0,
		};

		switch (pick(hostile, 16)) {
		case 0:
			((volatile __u32 *)header)[pick(hostile, attach->length / 4)] =
				random_word(&hostile->seed);
			break;
		case 1:
			if (write(fd, message, pick(hostile, sizeof(message) + 1)) < 0)
				CHECK(errno != ENOTTY);
			break;
		default:
			record = (void *)((char *)header + page_size() +
					  head % attach->data_bytes);
			*record = (struct eventlog_mapped_record){
				.size = 32, .write_index = 1 + pick(hostile, 5),
				.time = pick(hostile, 8) ? clock_now() :
					random_word(&hostile->seed),
			};
			head += 32;
			__atomic_store_n(&header->committed, head, __ATOMIC_RELEASE);
		}
	}
}

/* Gets a producer ring, a new one or one that exists, and writes to it. */
static void random_ring(struct hostile *hostile)
{
	struct hostile_map *map = &hostile->maps[pick(hostile, HOSTILE_MAPS)];
	const int fd = hostile->fds[pick(hostile, HOSTILE_FILES)];
	struct eventlog_attach attach = { .size = sizeof(attach) };
	void *address;

	random_unmap(hostile, map);
	attach.ring = pick(hostile, 2) * pick(hostile, 4);
	attach.data_bytes = page_size() << (1 + pick(hostile, 2));
	if (map->address || ioctl(fd, EVENTLOG_IOC_ATTACH, &attach))
		return;
	address = mmap(NULL, attach.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, attach.offset);
	if (address == MAP_FAILED)
		return;
	map->address = address;
	map->bytes = attach.length;
	random_records(hostile, fd, &attach, address);
}

static void random_other(struct hostile *hostile)
{
	int *fd = &hostile->fds[pick(hostile, HOSTILE_FILES)];
	unsigned char buffer[256];
	struct pollfd request = { *fd, POLLIN, 0 };
	__u32 index = pick(hostile, 6);

	switch (pick(hostile, 14)) {
	case 0:
		close(*fd);
		*fd = open(EVENTLOG_DEVICE, (pick(hostile, 8) ? O_RDWR : (int)pick(hostile, 3)) |
			   O_CLOEXEC);
		break;
	case 1:
		close(*fd);
		*fd = dup(hostile->fds[pick(hostile, HOSTILE_FILES)]);
		break;
	case 2:
		poll(&request, 1, 0);
		break;
	case 3:
		CHECK(pread(*fd, buffer, sizeof(buffer), pick(hostile, 4096)) <=
		      (ssize_t)sizeof(buffer));
		break;
	case 4:
	case 5:
		random_map(hostile);
		break;
	case 6:
	case 7:
		random_ring(hostile);
		break;
	case 8:
		fcntl(*fd, F_SETFL, pick(hostile, 2) ? O_NONBLOCK | O_ASYNC : 0);
		lseek(*fd, random_word(&hostile->seed), pick(hostile, 3));
		break;
	default:
		memset(buffer, test_random(&hostile->seed), sizeof(buffer));
		emit(*fd, index, buffer, pick(hostile, sizeof(buffer)));
	}
}

void hostile_call(struct hostile *hostile)
{
	if (pick(hostile, 4))
		random_ioctl(hostile);
	else
		random_other(hostile);
}

void hostile_begin(struct hostile *hostile, __u64 seed)
{
	unsigned int i;

	memset(hostile, 0, sizeof(*hostile));
	hostile->seed = seed;
	hostile->text = pages_map(2 * TEXT_BYTES);
	for (i = 0; i < HOSTILE_FILES; i++)
		hostile->fds[i] = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
}

void hostile_end(struct hostile *hostile)
{
	unsigned int i;

	for (i = 0; i < HOSTILE_MAPS; i++)
		if (hostile->maps[i].address)
			munmap(hostile->maps[i].address, hostile->maps[i].bytes);
	for (i = 0; i < HOSTILE_FILES; i++)
		close(hostile->fds[i]);
	munmap(hostile->text, 2 * TEXT_BYTES);
}
