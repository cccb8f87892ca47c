/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists: what LIST does for each of its kinds.
 *
 * A call makes a batch of elements in memory of its own, in steps that hold locks for a limited
 * number of elements, and then copies it to user space without locks.  The state of a caller is
 * its cursor, a key of the list.  Called by user/file.c, with the kinds that tables of ioctls
 * have.
 */
#ifndef EVENTLOG_LIST_H
#define EVENTLOG_LIST_H

#include <linux/types.h>
#include <uapi/linux/eventlog.h>

#include "core/text.h"

struct eventlog_domain;
struct file;

/* Elements that one call looks at, and those while a lock is held. */
#define EVENTLOG_LIST_CALL	1024
#define EVENTLOG_LIST_LOCKED	16

/**
 * struct eventlog_batch - elements for one call
 * @buffer: zeroed; has the elements
 * @room: size of @buffer
 * @bytes: bytes used
 * @count: number of elements
 * @needed: bytes that the next one needs, if it does not fit
 * @cursor: key of the last element that was looked at
 */
struct eventlog_batch {
	char *buffer;
	size_t room;
	size_t bytes;
	u32 count;
	size_t needed;
	u64 cursor;
};

/**
 * struct eventlog_list_ops - a kind of list
 * @fill: add the elements behind the cursor of a batch until it is full, or the call has looked
 *	at enough of them, and move the cursor.  Return: 1; 0: there are no more; or a negative
 *	errno.  Called again with an empty batch if the first element does not fit
 * @capable: the opener of the file needs the capability to trace
 */
struct eventlog_list_ops {
	int (*fill)(struct eventlog_batch *batch, struct eventlog_domain *domain,
		    struct file *filp, const struct eventlog_list *request);
	bool capable;
};

/**
 * eventlog_batch_text() - get the place for the strings of the next element
 * @batch: the batch
 * @fixed: size of the element's struct, in front of its strings
 *
 * Any context.
 */
static inline struct eventlog_text eventlog_batch_text(const struct eventlog_batch *batch,
						       size_t fixed)
{
	return (struct eventlog_text){
		.buffer = batch->buffer, .room = batch->room, .bytes = batch->bytes + fixed,
	};
}

/**
 * eventlog_batch_string() - append a string with its NUL
 * @text: of eventlog_batch_text()
 * @string: the string; NULL: an empty one
 *
 * Any context.
 */
void eventlog_batch_string(struct eventlog_text *text, const char *string);

/**
 * eventlog_batch_put() - add an element
 * @batch: the batch
 * @element: its struct, which begins with struct eventlog_element; that is filled in
 * @fixed: size of the struct
 * @text: its strings, each with its NUL; NULL: it has none
 *
 * Any context.
 *
 * Return: false: it does not fit, and the size that it needs is noted.
 */
bool eventlog_batch_put(struct eventlog_batch *batch, void *element, size_t fixed,
			const struct eventlog_text *text);

/**
 * eventlog_list() - LIST of one kind
 * @kind: the kind
 * @domain: the domain, unlocked
 * @filp: the file
 * @request: the copy of the caller's struct; results are set
 * @user: the caller's struct
 *
 * Process context.
 *
 * Return: 0 or a negative errno.
 */
int eventlog_list(const struct eventlog_list_ops *kind, struct eventlog_domain *domain,
		  struct file *filp, struct eventlog_list *request, void __user *user);

#endif /* EVENTLOG_LIST_H */
