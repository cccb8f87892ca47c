// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removes what programs leave behind: see run.h.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/eventlog.h>

#include "run.h"

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

static void disable_trace_events(void)
{
	const int fd = open("/sys/kernel/tracing/set_event", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

void remove_rest(void)
{
	struct eventlog_leave leave = { .size = sizeof(leave), .flags = EVENTLOG_LEAVE_PRODUCERS };
	static int fd = -1;

	if (fd < 0)
		fd = open(EVENTLOG_DEVICE, O_RDWR | O_CLOEXEC);
	ioctl(fd, EVENTLOG_IOC_LEAVE, &leave);
	leave.flags = 0;
	ioctl(fd, EVENTLOG_IOC_LEAVE, &leave);
	disable_trace_events();
	delete_all(fd, EVENTLOG_LIST_INSTANCES);
	delete_all(fd, EVENTLOG_LIST_DEFINITIONS);
}
