// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists: see list.h.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/ioctl.h"
#include "core/list.h"
#include "memory.h"

/* The size of a batch, unless its only element needs more. */
#define EVENTLOG_LIST_BYTES 32768

void eventlog_batch_string(struct eventlog_text *text, const char *string)
{
	eventlog_text_print(text, "%s", string ?: "");
	text->bytes++;
}

bool eventlog_batch_put(struct eventlog_batch *batch, void *element, size_t fixed,
			const struct eventlog_text *text)
{
	size_t end = ALIGN(text ? text->bytes : batch->bytes + fixed, EVENTLOG_LIST_ALIGN);

	if (end > batch->room) {
		batch->needed = end - batch->bytes;
		return false;
	}
	*(struct eventlog_element *)element = (struct eventlog_element){
		.size = end - batch->bytes, .text_offset = fixed,
	};
	memcpy(batch->buffer + batch->bytes, element, fixed);
	batch->bytes = end;
	batch->count++;
	return true;
}

/*
 * Makes a batch, for eventlog_free().  Its first element may need more than the usual size,
 * and more again if it has changed meanwhile.
 *
 * Return: as fill; -EMSGSIZE: the request has too few bytes for one element; -ENOMEM.
 */
static int eventlog_batch_make(struct eventlog_batch *batch,
			       const struct eventlog_list_ops *kind,
			       struct eventlog_domain *domain, struct file *filp,
			       const struct eventlog_list *request)
{
	int ret;

	batch->needed = min_t(u32, request->buffer_size, EVENTLOG_LIST_BYTES);
	do {
		eventlog_free(batch->buffer);
		batch->room = batch->needed;
		batch->needed = 0;
		batch->buffer = batch->room ? eventlog_alloc(batch->room) : NULL;
		if (batch->room && !batch->buffer)
			return -ENOMEM;
		ret = kind->fill(batch, domain, filp, request);
		if (ret <= 0 || batch->count)
			return ret;
	} while (batch->needed && batch->needed <= request->buffer_size);
	return batch->needed ? -EMSGSIZE : ret;
}

int eventlog_list(const struct eventlog_list_ops *kind, struct eventlog_domain *domain,
		  struct file *filp, struct eventlog_list *request, void __user *user)
{
	struct eventlog_batch batch = { .cursor = request->cursor };
	int ret;

	if (kind->capable && !eventlog_capable(domain, filp))
		return -EPERM;
	ret = eventlog_batch_make(&batch, kind, domain, filp, request);
	if (ret >= 0) {
		request->cursor = ret ? batch.cursor : 0;
		request->count = batch.count;
		request->buffer_size = batch.bytes;
		ret = batch.bytes ? eventlog_text_put(request->buffer, batch.buffer, batch.bytes) :
				    0;
	} else if (ret == -EMSGSIZE) {
		request->buffer_size = min_t(size_t, batch.needed, U32_MAX);
	}
	eventlog_free(batch.buffer);
	if (ret && ret != -EMSGSIZE)
		return ret;
	return eventlog_argument_put(user, request, sizeof(*request)) ?: ret;
}
