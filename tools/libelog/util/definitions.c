// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lists of all definitions. The functions are in elog/device.h. A list belongs to one
 * thread.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "elog.h"
#include "util/struct.h"

/* As much as the kernel takes for one call. */
#define BUFFER_BYTES 32768

struct elog_definitions {
	int fd;
	uint32_t descriptor;	/* position of the next call of the kernel */
	bool single;		/* the kernel lacks DEFINITIONS: call DESCRIBE */
	char *buffer;		/* a batch; or the text, if single */
	uint32_t room;
	uint32_t used;
	uint32_t at;		/* the next definition in the batch */
};

int elog_definitions_open(int fd, struct elog_definitions **definitions)
{
	struct elog_definitions *opened = calloc(1, sizeof(*opened));

	if (opened)
		opened->buffer = malloc(BUFFER_BYTES);
	if (!opened || !opened->buffer) {
		free(opened);
		return -ENOMEM;
	}
	opened->fd = fd;
	opened->room = BUFFER_BYTES;
	*definitions = opened;
	return 0;
}

/* Get the next batch, which is not empty. */
static int read_batch(struct elog_definitions *definitions)
{
	struct eventlog_definitions request;
	char *larger;

	do {
		request = (struct eventlog_definitions){
			.size = sizeof(request),
			.descriptor = definitions->descriptor,
			.buffer = (uintptr_t)definitions->buffer,
			.buffer_size = definitions->room,
		};
		if (!ioctl(definitions->fd, EVENTLOG_IOC_DEFINITIONS, &request)) {
			definitions->descriptor = request.descriptor;
			definitions->used = request.buffer_size;
			definitions->at = 0;
			continue;
		}
		if (errno != EMSGSIZE || request.buffer_size <= definitions->room)
			return -errno;
		larger = realloc(definitions->buffer, request.buffer_size);
		if (!larger)
			return -ENOMEM;
		definitions->buffer = larger;
		definitions->room = request.buffer_size;
	} while (definitions->at == definitions->used);
	return 0;
}

static int describe_next(struct elog_definitions *definitions, struct eventlog_describe *found)
{
	char *text;
	int ret;

	*found = (struct eventlog_describe){
		.size = sizeof(*found),
		.flags = EVENTLOG_DESCRIBE_NEXT,
		.descriptor = definitions->descriptor,
	};
	ret = elog_device_describe(definitions->fd, found, &text);
	if (ret)
		return ret;
	definitions->descriptor = found->descriptor;
	free(definitions->buffer);
	definitions->buffer = text;
	return 0;
}

int elog_definitions_next(struct elog_definitions *definitions,
			  struct eventlog_describe *definition, const char **text)
{
	const struct eventlog_definition *next;
	struct eventlog_describe found;
	int ret = 0;

	if (definition->size < ELOG_SIZE_TO(struct eventlog_describe, instance))
		return -EINVAL;
	if (!definitions->single && definitions->at == definitions->used) {
		ret = read_batch(definitions);
		definitions->single = ret == -ENOTTY;
	}
	if (definitions->single) {
		ret = describe_next(definitions, &found);
		*text = definitions->buffer;
	} else if (!ret) {
		next = (const void *)(definitions->buffer + definitions->at);
		definitions->at += next->size;
		found = (struct eventlog_describe){
			.descriptor = next->descriptor,
			.text_size = next->text_size,
			.state = next->state,
			.provider_id = next->provider_id,
			.instance = next->instance,
			.sync = next->sync,
			.sync_pid = next->sync_pid,
		};
		*text = (const char *)next + next->text_offset;
	}
	if (!ret)
		elog_struct_put(definition, &found, sizeof(found));
	return ret;
}

void elog_definitions_close(struct elog_definitions *definitions)
{
	if (!definitions)
		return;
	free(definitions->buffer);
	free(definitions);
}
