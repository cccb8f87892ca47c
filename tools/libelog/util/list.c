// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Lists of what the kernel module has. The functions are in elog/device.h. A list belongs to
 * one thread.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/port.h"
#include "util/struct.h"

/* As much as the kernel takes for one call. */
#define BUFFER_BYTES 32768

struct elog_list {
	int fd;
	uint32_t kind;
	uint64_t cursor;	/* of the next call of the kernel */
	bool over;		/* there is no next call */
	char *buffer;		/* a batch */
	uint32_t room;
	uint32_t used;
	uint32_t at;		/* the next element in the batch */
};

int elog_list_open(int fd, uint32_t kind, uint64_t cursor, struct elog_list **list)
{
	struct elog_list *opened = calloc(1, sizeof(*opened));

	if (opened)
		opened->buffer = malloc(BUFFER_BYTES);
	if (!opened || !opened->buffer) {
		free(opened);
		return -ENOMEM;
	}
	opened->fd = fd;
	opened->kind = kind;
	opened->cursor = cursor;
	opened->room = BUFFER_BYTES;
	*list = opened;
	return 0;
}

/* Get the next batch. Return: 0 or a negative errno. */
static int read_batch(struct elog_list *list)
{
	struct eventlog_list request;
	char *larger;
	int ret;

	for (;;) {
		request = (struct eventlog_list){
			.size = sizeof(request),
			.kind = list->kind,
			.cursor = list->cursor,
			.buffer = (uintptr_t)list->buffer,
			.buffer_size = list->room,
		};
		ret = elog_port_call(list->fd, EVENTLOG_IOC_LIST, &request);
		if (!ret)
			break;
		if (ret != -EMSGSIZE || request.buffer_size <= list->room)
			return ret;
		larger = realloc(list->buffer, request.buffer_size);
		if (!larger)
			return -ENOMEM;
		list->buffer = larger;
		list->room = request.buffer_size;
	}
	list->cursor = request.cursor;
	list->over = !request.cursor;
	list->used = request.buffer_size;
	list->at = 0;
	return 0;
}

int elog_list_next(struct elog_list *list, void *element, const char **text)
{
	const uint32_t size = *(const uint32_t *)element;
	const struct eventlog_element *next;
	int ret;

	if (size < sizeof(*next))
		return -EINVAL;
	while (list->at == list->used) {
		ret = list->over ? -ENOENT : read_batch(list);
		if (ret)
			return ret;
	}
	next = (const void *)(list->buffer + list->at);
	list->at += next->size;
	memset(element, 0, size);
	memcpy(element, next, size < next->text_offset ? size : next->text_offset);
	*(uint32_t *)element = size;
	if (text)
		*text = (const char *)next + next->text_offset;
	return 0;
}

void elog_list_close(struct elog_list *list)
{
	if (!list)
		return;
	free(list->buffer);
	free(list);
}
