// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emits an event without a library: registers it, tests the bit, writes.
 *
 *	elog capture -e hello -- ./hello
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <linux/eventlog.h>

int main(void)
{
	struct eventlog_register event = {
		.size = sizeof(event),
		.provider = (uintptr_t)"hello",
		.command = (uintptr_t)"greeting u32 number; char[16] text",
	};
	struct { uint32_t number; char text[16]; } payload = { 42, "hello, world" };
	struct iovec parts[2] = { { &event.write_index, 4 }, { &payload, sizeof(payload) } };
	const volatile unsigned char *status;
	int fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, EVENTLOG_IOC_REGISTER, &event)) {
		perror(EVENTLOG_DEVICE);
		return 1;
	}
	status = mmap(NULL, event.map_size, PROT_READ, MAP_SHARED, fd, event.map_offset);
	if (status == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	/*
	 * While the event is disabled, it costs only this test of a byte. Do not fail if the
	 * write fails, for example because the capture has just ended.
	 */
	if (status[event.status_offset] & EVENTLOG_STATUS_ENABLED)
		(void)!writev(fd, parts, 2);
	else
		puts("the event is disabled; try: elog capture -e hello -- ./hello");
	return 0;
}
