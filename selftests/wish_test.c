// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wishes for markers of programs: what is refused, which bits they set, for events
 * that are there and those that come, which one counts.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventlog_common.h"

#define PRINT EVENTLOG_MARKER_PRINT
#define PROBE EVENTLOG_MARKER_PROBE

static struct eventlog_marker_wish wish_request(const char *program, const char *marker,
						__u32 handlers)
{
	return (struct eventlog_marker_wish){
		.size = sizeof(struct eventlog_marker_wish),
		.program = PTR(program),
		.marker = PTR(marker),
		.handlers = handlers,
	};
}

static struct eventlog_marker_wish wish(int fd, const char *program, const char *marker,
					__u32 handlers)
{
	struct eventlog_marker_wish request = wish_request(program, marker, handlers);

	test_note("wish %s %s %u", program, marker, handlers);
	CHECK_OK(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request));
	return request;
}

struct found {
	struct eventlog_marker_wish_next next;
	char text[2 * EVENTLOG_GLOB_MAX];
	const char *marker;
};

static int wish_next(int fd, __u32 index, struct found *found)
{
	found->next = (struct eventlog_marker_wish_next){
		.size = sizeof(found->next),
		.index = index,
		.text = PTR(found->text),
		.text_size = sizeof(found->text),
	};
	if (ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found->next))
		return -1;
	found->marker = found->text + strlen(found->text) + 1;
	CHECK_EQ(found->marker + strlen(found->marker) + 1 - found->text,
		 found->next.text_size);
	return 0;
}

/* All wishes, as "program/marker:handlers ". */
static void check_wishes(int fd, const char *expected)
{
	struct found found;
	char all[1024] = "";
	size_t length = 0;
	__u32 i;

	for (i = 0; !wish_next(fd, i, &found); i++)
		length += snprintf(all + length, sizeof(all) - length, "%s/%s:%u ", found.text,
				   found.marker, found.next.handlers);
	CHECK_EQ(errno, ENOENT);
	test_note("wishes '%s', not '%s'", all, expected);
	CHECK(!strcmp(all, expected));
}

static void forget_all(int fd)
{
	wish(fd, NULL, NULL, 0);
	check_wishes(fd, "");
}

/* A marker of a program: its registration, and the bits. */
struct marker {
	int fd;
	struct eventlog_register registration;
	struct bitmap bitmap;
};

static void marker_open(struct marker *marker, const char *provider, const char *command)
{
	marker->fd = device_open();
	marker->registration = register_request(command);
	marker->registration.provider = PTR(provider);
	register_with(marker->fd, &marker->registration);
	marker->bitmap = bitmap_map(marker->fd, &marker->registration);
}

static void marker_close(struct marker *marker)
{
	munmap((void *)marker->bitmap.bytes, marker->bitmap.size);
	close(marker->fd);
}

static __u32 handlers_of(const struct marker *marker)
{
	__u32 bit = marker->registration.handlers_bit;
	__u32 state, handlers;

	CHECK_EQ(bit / 8, marker->registration.status_bit / 8);
	CHECK_EQ((bit + 1) / 8, bit / 8);
	handlers = (bitmap_get(&marker->bitmap, bit) ? PRINT : 0) |
		   (bitmap_get(&marker->bitmap, bit + 1) ? PROBE : 0);
	free(describe(marker->fd, marker->registration.descriptor, &state));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PRINT), !!(handlers & PRINT));
	CHECK_EQ(!!(state & EVENTLOG_DESCRIBED_PROBE), !!(handlers & PROBE));
	return handlers;
}

TEST(refused)
{
	struct eventlog_marker_wish request;
	unsigned char longer[sizeof(request) + 8] = { 0 };
	char glob[EVENTLOG_GLOB_MAX + 1];
	struct marker marker;
	struct found found;
	int fd = device_open(), other;
	unsigned int bit;

	marker_open(&marker, "markers_refused", "refused");
	for (bit = 0; bit < 32; bit++) {
		test_note("bit %u", bit);
		request = wish_request("*", "*", PRINT);
		request.flags = 1U << bit;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		request = wish_request("*", "*", PRINT);
		request.reserved = 1U << bit;
		CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		request = wish_request("*", "*", 1U << bit);
		if (!(1U << bit & (PRINT | PROBE)))
			CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EINVAL);
		marker.registration.reserved = 1U << bit;
		CHECK_ERRNO(ioctl(marker.fd, EVENTLOG_IOC_REGISTER, &marker.registration),
			    EINVAL);
		marker.registration.reserved = 0;
	}
	memset(glob, 'x', sizeof(glob));
	glob[EVENTLOG_GLOB_MAX] = '\0';
	request = wish_request(glob, "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), E2BIG);
	request = wish_request("*", glob, PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), E2BIG);
	request = wish_request(pages_unmapped(), "*", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EFAULT);
	request = wish_request("*", pages_unmapped(), PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), EFAULT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, pages_unmapped()), EFAULT);
	request = wish_request("*", "*", PRINT);
	memcpy(longer, &request, sizeof(request));
	longer[0] = sizeof(longer);
	longer[sizeof(longer) - 1] = 1;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, longer), E2BIG);
	CHECK_EQ(handlers_of(&marker), 0);
	check_wishes(fd, "");

	wish(fd, "program", "marker", PRINT);
	CHECK_OK(wish_next(fd, 0, &found));
	CHECK_ERRNO(wish_next(fd, 1, &found), ENOENT);
	CHECK_ERRNO(wish_next(fd, ~0U, &found), ENOENT);
	CHECK_OK(wish_next(fd, 0, &found));
	CHECK_EQ(found.next.text_size, sizeof("program") + sizeof("marker"));
	found.next.text_size--;
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found.next), EMSGSIZE);
	CHECK_EQ(found.next.text_size, sizeof("program") + sizeof("marker"));
	found.next.text = PTR(pages_unmapped());
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH_NEXT, &found.next), EFAULT);
	forget_all(fd);

	/* Who has opened the file counts. */
	capabilities_keep(CAPABILITY_ALL & ~(CAPABILITY_SYS_ADMIN | CAPABILITY_PERFMON));
	other = device_open();
	request = wish_request("*", "*", PRINT);
	CHECK_ERRNO(ioctl(other, EVENTLOG_IOC_MARKER_WISH, &request), EPERM);
	CHECK_ERRNO(wish_next(other, 0, &found), EPERM);
	close(other);
	check_wishes(fd, "");
	marker_close(&marker);
	close(fd);
}

/* Under the name of a program, whatever is called so by others. */
TEST(matches)
{
	struct marker first, second, other, no_marker;
	struct eventlog_marker_wish request;
	struct consumer consumer;
	int fd = device_open();

	marker_open(&first, "markers_one", "first u32 value");
	marker_open(&second, "markers_one", "second");
	marker_open(&other, "markers_other", "first u32 value");
	marker_open(&no_marker, "one", "first u32 value");
	request = wish(fd, "one", "first", PRINT);
	CHECK_EQ(request.matched, 1);
	CHECK_EQ(request.changed, 1);
	CHECK_EQ(handlers_of(&first), PRINT);
	CHECK_EQ(handlers_of(&second), 0);
	CHECK_EQ(handlers_of(&other), 0);
	CHECK_EQ(handlers_of(&no_marker), 0);
	request = wish(fd, NULL, "f*", PRINT | PROBE);
	CHECK_EQ(request.matched, 2);
	CHECK_EQ(request.changed, 2);
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(handlers_of(&other), PRINT | PROBE);
	request = wish(fd, NULL, "f*", PRINT | PROBE);
	CHECK_EQ(request.matched, 2);
	CHECK_EQ(request.changed, 0);
	/* Nobody wants to have the event for that, and nobody is disturbed who does. */
	CHECK(!bitmap_get(&first.bitmap, first.registration.status_bit));
	CHECK(!bitmap_get(&first.bitmap, first.registration.sync_bit));
	CHECK_ERRNO(emit(first.fd, first.registration.write_index, "1234", 4), EBADF);
	consumer_open(&consumer, 65536);
	rule_add(consumer.fd, NULL, NULL);
	CHECK(bitmap_get(&first.bitmap, first.registration.status_bit));
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(handlers_of(&second), 0);
	consumer_close(&consumer);
	CHECK_EQ(handlers_of(&first), PRINT | PROBE);
	CHECK_EQ(status_now("Busy: "), 0);
	forget_all(fd);
	CHECK_EQ(handlers_of(&first), 0);
	CHECK_EQ(handlers_of(&other), 0);
	marker_close(&first);
	marker_close(&second);
	marker_close(&other);
	marker_close(&no_marker);
	close(fd);
}

/* Before it is registered, and when it is registered again. */
TEST(pending)
{
	struct marker marker, again;
	struct consumer consumer;
	int fd = device_open();

	wish(fd, "later", "mark*", PROBE);
	close(fd);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(handlers_of(&marker), PROBE);
	marker_open(&again, "markers_later", "marker");
	CHECK_EQ(again.registration.descriptor, marker.registration.descriptor);
	CHECK_EQ(handlers_of(&again), PROBE);
	marker_close(&again);
	CHECK_EQ(handlers_of(&marker), PROBE);
	marker_close(&marker);
	/* Its slot, for another; and one that comes back is as it was to be. */
	consumer_open(&consumer, 65536);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(handlers_of(&marker), PROBE);
	again = marker;
	marker_close(&marker);
	marker_open(&marker, "markers_later", "other");
	CHECK_EQ(marker.registration.status_bit, again.registration.status_bit);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
	marker_open(&marker, "markers_later", "marker");
	CHECK_EQ(marker.registration.descriptor, again.registration.descriptor);
	CHECK_EQ(handlers_of(&marker), PROBE);
	consumer_close(&consumer);
	forget_all(marker.fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
}

/* What was built before there were wishes has a shorter struct, and no room for the bit. */
TEST(older_callers)
{
	struct eventlog_register request = register_request("older");
	struct bitmap bitmap;
	int fd = device_open();

	request.provider = PTR("markers_older");
	request.size = offsetof(struct eventlog_register, handlers_bit);
	request.handlers_bit = request.reserved = 0xa5a5a5a5;
	register_with(fd, &request);
	CHECK_EQ(request.handlers_bit, 0xa5a5a5a5);
	CHECK_EQ(request.reserved, 0xa5a5a5a5);
	CHECK_EQ(request.size, offsetof(struct eventlog_register, handlers_bit));
	bitmap = bitmap_map(fd, &request);
	wish(fd, "older", NULL, PRINT | PROBE);
	CHECK(!bitmap_get(&bitmap, request.status_bit));
	CHECK(!bitmap_get(&bitmap, request.sync_bit));
	CHECK_EQ(bitmap.bytes[request.status_bit / 8] >> request.status_bit % 8 & 15, 12);
	forget_all(fd);
	munmap((void *)bitmap.bytes, bitmap.size);
	close(fd);
}

TEST(latest_counts)
{
	int fd = device_open();
	struct marker marker;

	marker_open(&marker, "markers_p", "m");
	/* Nothing need not be wished for where nothing is. */
	wish(fd, "p", "m", 0);
	check_wishes(fd, "");
	wish(fd, "p", "m", PRINT);
	wish(fd, "p*", "m", PROBE);
	check_wishes(fd, "p/m:1 p*/m:4 ");
	CHECK_EQ(handlers_of(&marker), PROBE);
	wish(fd, "p", "m", PRINT | PROBE);
	check_wishes(fd, "p*/m:4 p/m:5 ");
	CHECK_EQ(handlers_of(&marker), PRINT | PROBE);
	wish(fd, "p", "m", 0);
	check_wishes(fd, "p*/m:4 p/m:0 ");
	CHECK_EQ(handlers_of(&marker), 0);
	wish(fd, "p*", "m", PRINT);
	check_wishes(fd, "p/m:0 p*/m:1 ");
	CHECK_EQ(handlers_of(&marker), PRINT);
	wish(fd, "p*", "*", PROBE);
	check_wishes(fd, "p/m:0 p*/*:4 ");
	wish(fd, "*", "m", 0);
	check_wishes(fd, "p*/*:4 */m:0 ");
	CHECK_EQ(handlers_of(&marker), 0);
	wish(fd, "*", "*", PRINT);
	check_wishes(fd, "*/*:1 ");
	CHECK_EQ(handlers_of(&marker), PRINT);
	forget_all(fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
	close(fd);
}

TEST(limit)
{
	struct eventlog_marker_wish request;
	int fd = device_open();
	struct found found;
	char name[16];
	unsigned int i;

	for (i = 0; i < EVENTLOG_WISHES_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		wish(fd, name, "m", PRINT);
	}
	request = wish_request("one", "more", PRINT);
	CHECK_ERRNO(ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request), ENOSPC);
	CHECK_OK(wish_next(fd, EVENTLOG_WISHES_MAX - 1, &found));
	CHECK(!strcmp(found.text, name));
	CHECK_ERRNO(wish_next(fd, EVENTLOG_WISHES_MAX, &found), ENOENT);
	/* What takes another one's place has room. */
	wish(fd, "p0", "m", PROBE);
	CHECK_OK(wish_next(fd, EVENTLOG_WISHES_MAX - 1, &found));
	CHECK(!strcmp(found.text, "p0"));
	CHECK_ERRNO(wish_next(fd, EVENTLOG_WISHES_MAX, &found), ENOENT);
	forget_all(fd);
	close(fd);
}

/* Markers come and go while others wish. */
static bool over;

static void *come_and_go(void *unused)
{
	struct marker marker;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		marker_open(&marker, "markers_busy", "m");
		marker_close(&marker);
	}
	return unused;
}

static void *change(void *unused)
{
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		wish(fd, i % 3 ? "busy" : "b*", i % 5 ? "m" : "*", i % 2 ? PRINT : PROBE);
		if (i % 7 == 0)
			wish(fd, "*", "*", 0);
	}
	close(fd);
	return unused;
}

TEST(concurrently)
{
	pthread_t threads[4];
	struct marker marker;
	unsigned int i;

	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, i < 2 ? come_and_go : change, NULL));
	for (i = 2; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
	marker_open(&marker, "markers_busy", "m");
	wish(marker.fd, "busy", "m", PROBE);
	CHECK_EQ(handlers_of(&marker), PROBE);
	forget_all(marker.fd);
	CHECK_EQ(handlers_of(&marker), 0);
	marker_close(&marker);
}

void test_after_all(void)
{
	struct eventlog_marker_wish request = wish_request("*", "*", 0);
	int fd = device_open();

	/* A case that failed half-way may have left some. */
	(void)!ioctl(fd, EVENTLOG_IOC_MARKER_WISH, &request);
	close(fd);
}
