// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Functions of the device that a file of any role may call. No state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elog.h"
#include "util/abi.h"
#include "util/engine.h"
#include "util/own_file.h"
#include "util/port.h"
#include "util/struct.h"

#define OPEN_TRIES 60

int elog_abi_check(uint32_t abi)
{
	return abi == EVENTLOG_ABI_VERSION ? 0 : -EPROTONOSUPPORT;
}

int elog_device_check(int fd)
{
	struct eventlog_info info = { .size = ELOG_SIZE_TO(struct eventlog_info, abi) };

	return elog_device_info(fd, &info) ? 0 : elog_abi_check(info.abi);
}

static int open_node(const char *path)
{
	int fd = elog_file_raise(elog_port_open(path));
	struct stat node;

	/*
	 * devtmpfs takes the permissions of a node away when it removes it. So who keeps the node
	 * of a deleted instance gets EACCES, unless that is root; the node has no name any more.
	 */
	if (fd == -EACCES && !stat(path, &node) && S_ISCHR(node.st_mode) && !node.st_nlink)
		return -ENODEV;
	return fd;
}

int elog_node_open(const char *path)
{
	int fd = open_node(path ? path : EVENTLOG_DEVICE), engine;
	char found[ELOG_ENGINE_PATH_BYTES];

	/* If the module is being replaced, the device comes back. */
	if (path || fd >= 0 || fd == -ESHUTDOWN)
		return fd;
	engine = elog_engine_find(found);
	return engine >= 0 || engine == -ETIMEDOUT ? engine : fd;
}

int elog_device_open(const char *device)
{
	const char *path = elog_device_chosen(device);
	int tries = OPEN_TRIES, fd, ret;

	/* An engine has a second to answer. Only programs that emit do not wait longer. */
	do
		fd = elog_node_open(path);
	while (fd == -ETIMEDOUT && --tries);
	if (fd < 0)
		return fd;
	elog_port_patient(fd);
	ret = elog_device_check(fd);
	if (ret) {
		elog_port_close(fd);
		return ret;
	}
	return fd;
}

int elog_device_info(int fd, struct eventlog_info *info)
{
	int ret = elog_struct_clear(info, ELOG_SIZE_TO(struct eventlog_info, abi));

	if (ret)
		return ret;
	return elog_port_call(fd, EVENTLOG_IOC_INFO, info);
}

int elog_device_describe(int fd, struct eventlog_describe *request,
			 char **text)
{
	struct eventlog_describe given, describe;
	char *buffer = NULL, *larger;
	uint32_t size = 1024;
	int ret;

	ret = elog_struct_get(&given, sizeof(given), request);
	if (ret)
		return ret;
	if (given.size < ELOG_SIZE_TO(struct eventlog_describe, instance))
		return -EINVAL;

	/* The text may grow between two calls, so repeat until it fits. */
	for (;;) {
		larger = realloc(buffer, size);
		if (!larger) {
			free(buffer);
			return -ENOMEM;
		}
		buffer = larger;
		memset(&describe, 0, sizeof(describe));
		describe.size = sizeof(describe);
		describe.flags = given.flags;
		describe.descriptor = given.descriptor;
		describe.text_size = size;
		describe.text = (uintptr_t)buffer;
		ret = elog_port_call(fd, EVENTLOG_IOC_DESCRIBE, &describe);
		if (!ret)
			break;
		if (ret != -EMSGSIZE || describe.text_size <= size) {
			free(buffer);
			return ret;
		}
		size = describe.text_size;
	}
	buffer[size - 1] = '\0';
	describe.text = given.text;
	elog_struct_put(request, &describe, sizeof(describe));
	*text = buffer;
	return 0;
}

int elog_device_delete(int fd, const char *provider, const char *event)
{
	struct eventlog_delete request = {
		.size = sizeof(request),
		.provider = (uintptr_t)provider,
		.event = (uintptr_t)event,
	};

	return elog_port_call(fd, EVENTLOG_IOC_DELETE, &request);
}

/* A file of the kernel, whatever its number was before. */
static int device_file(int fd)
{
	fd = elog_file_raise(fd);
	if (elog_port_maybe(fd))
		elog_engine_forget(fd);
	return fd;
}

int elog_instance_create(int fd, const char *name, struct eventlog_instance_create *request)
{
	struct eventlog_instance_create given;
	int ret = elog_struct_get(&given, sizeof(given), request);

	if (ret)
		return ret;
	if (given.size < ELOG_SIZE_TO(struct eventlog_instance_create, fd))
		return -EINVAL;
	given.size = sizeof(given);
	given.name = (uintptr_t)name;
	ret = elog_port_call(fd, EVENTLOG_IOC_INSTANCE_CREATE, &given);
	if (ret)
		return ret;
	request->id = given.id;
	return device_file(given.fd);
}

int elog_instance_delete(int fd, uint32_t id)
{
	struct eventlog_instance_delete request = { .size = sizeof(request), .id = id };

	return elog_port_call(fd, EVENTLOG_IOC_INSTANCE_DELETE, &request);
}

int elog_instance_open(int fd, uint32_t id)
{
	struct eventlog_instance_open request = { .size = sizeof(request), .id = id };
	int ret = elog_port_call(fd, EVENTLOG_IOC_INSTANCE_OPEN, &request);

	return ret ? ret : device_file(request.fd);
}
