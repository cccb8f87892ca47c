// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of instances for tests: see instance_common.h.
 */
#include <fcntl.h>
#include <unistd.h>

#include "instance_common.h"

struct eventlog_instance_create create_request(const char *name)
{
	struct eventlog_instance_create request = {
		.size = sizeof(request), .name = PTR(name), .mode = 0600,
	};

	return request;
}

int try_create(int fd, struct eventlog_instance_create *request)
{
	return ioctl(fd, EVENTLOG_IOC_INSTANCE_CREATE, request);
}

int create_with(struct eventlog_instance_create *request, __u32 *id)
{
	int fd = device_open();

	CHECK_OK(try_create(fd, request));
	CHECK(request->id);
	CHECK_EQ(fcntl(request->fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	if (id)
		*id = request->id;
	return request->fd;
}

int create(const char *name, __u32 *id)
{
	struct eventlog_instance_create request = create_request(name);

	return create_with(&request, id);
}

int try_delete_instance(int fd, __u32 id)
{
	struct eventlog_instance_delete request = { .size = sizeof(request), .id = id };

	return ioctl(fd, EVENTLOG_IOC_INSTANCE_DELETE, &request);
}

void delete_instance(__u32 id)
{
	int fd = device_open();

	CHECK_OK(try_delete_instance(fd, id));
	close(fd);
}

int try_open_instance(int fd, __u32 id)
{
	struct eventlog_instance_open request = { .size = sizeof(request), .id = id };

	return ioctl(fd, EVENTLOG_IOC_INSTANCE_OPEN, &request) ? -1 : request.fd;
}

int open_instance(int fd)
{
	return CHECK_OK(try_open_instance(fd, 0));
}
