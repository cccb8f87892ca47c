// SPDX-License-Identifier: GPL-2.0-only
/*
 * produce_eventheader - emits events with an eventheader through user_events_data, for the
 * tests of elog.
 *
 * usage: produce_eventheader COUNT | hold
 *
 * Registers Prov_L4K1fGgroup and Prov_L2K1, as the libraries of such events do, and emits
 * COUNT events of each that is enabled: Order, numbered from 0, and Failed.  With "hold" it
 * keeps them registered until a signal.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "user_events_common.h"

#define TYPES " u8 eventheader_flags; u8 version; u16 id; u16 tag; u8 opcode; u8 level"

struct header {
	__u8 flags;
	__u8 version;
	__u16 id;
	__u16 tag;
	__u8 opcode;
	__u8 level;
	__u16 size;
	__u16 kind;
} __attribute__((packed));

static volatile __u32 enabled[2];

/* Flags: the byte order and the pointers of this machine, and extensions. */
static __u8 flags(void)
{
	const __u16 one = 1;

	return (__u8)(4 | (sizeof(void *) == 8) | *(const __u8 *)&one << 1);
}

static void emit_record(int fd, __u32 index, __u8 level, const void *metadata, size_t size,
			const void *data, size_t data_size)
{
	struct header header = {
		.flags = flags(), .id = 7, .level = level, .size = (__u16)size, .kind = 1,
	};
	const struct iovec parts[] = {
		{ &index, sizeof(index) }, { &header, sizeof(header) },
		{ (void *)metadata, size }, { (void *)data, data_size },
	};

	CHECK_OK(writev(fd, parts, 4));
}

int main(int argc, char **argv)
{
	static const char order[] = "Order\0number\0\x04item\0\x81\2name\0\x0a" "price\0\x85\x08"
				    "sizes\0\x43" "paid\0\x82\7rest\0\x8d\1";
	static const char failed[] = "Failed\0error\0\x84\4";
	struct {
		__u32 number;
		__u16 length;
		char name[3];
		double price;
		__u16 count;
		__u16 sizes[2];
		__u8 paid;
		__u16 rest_size;
		__u32 rest;
	} __attribute__((packed)) data = {
		.length = 3, .name = "tea", .price = 2.5, .count = 2, .sizes = { 10, 20 },
		.rest = 5,
	};
	const __u32 error = ENOENT;
	__u32 indexes[2], i, count;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: produce_eventheader COUNT | hold\n");
		return 2;
	}
	count = (__u32)strtoul(argv[1], NULL, 10);
	fd = CHECK_OK(open(USER_EVENTS_DATA, O_RDWR | O_CLOEXEC));
	indexes[0] = reg(fd, "Prov_L4K1fGgroup" TYPES, (void *)&enabled[0], 4, 0);
	indexes[1] = reg(fd, "Prov_L2K1" TYPES, (void *)&enabled[1], 4, 0);
	while (!strcmp(argv[1], "hold"))
		pause();
	for (i = 0; i < count; i++) {
		data.number = i;
		data.paid = (__u8)i * 255;
		/* The first one has no value. */
		data.rest_size = i ? sizeof(data.rest) : 0;
		if (enabled[0])
			emit_record(fd, indexes[0], 4, order, sizeof(order) - 1, &data,
				    sizeof(data) - sizeof(data.rest) + data.rest_size);
		if (enabled[1])
			emit_record(fd, indexes[1], 2, failed, sizeof(failed) - 1, &error,
				    sizeof(error));
	}
	return 0;
}
