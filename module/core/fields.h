/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields: what a command string says of an event's payload, as a layout that
 * payloads are validated against and as schema text.  No state, no locks.
 */
#ifndef EVENTLOG_FIELDS_H
#define EVENTLOG_FIELDS_H

#include <linux/errno.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/**
 * struct eventlog_dynamic - a __data_loc or __rel_loc word
 * @position: where the word is, bytes from the payload's start
 * @base: what its offset counts from, likewise
 * @string: must end with a NUL
 */
struct eventlog_dynamic {
	u32 position;
	u32 base;
	bool string;
};

/**
 * struct eventlog_layout - how a payload is built
 * @fixed_bytes: of the part that every payload has
 * @dynamic_count: number of words to check
 * @dynamic: the words
 */
struct eventlog_layout {
	u32 fixed_bytes;
	u32 dynamic_count;
	struct eventlog_dynamic dynamic[];
};

/**
 * struct eventlog_fields - a parsed command
 * @name: the event's
 * @text: its fields in the schema language, a line each; owned
 * @layout: owned
 */
struct eventlog_fields {
	char name[EVENTLOG_NAME_MAX];
	char *text;
	struct eventlog_layout *layout;
};

/**
 * eventlog_fields_parse() - understand a command string
 * @command: the string; overwritten
 * @fields: filled; give it to eventlog_fields_free() after success
 *
 * Process context.
 *
 * Return: 0, -EINVAL (not a command), -E2BIG (too many fields, or a fixed part
 * larger than EVENTLOG_PAYLOAD_MAX), -ENOMEM.
 */
int eventlog_fields_parse(char *command, struct eventlog_fields *fields);

/**
 * eventlog_fields_free() - free what parsing allocated
 * @fields: parsed, or with members taken over and set to NULL
 */
void eventlog_fields_free(struct eventlog_fields *fields);

/**
 * eventlog_fields_name_valid() - is this an identifier of usable length
 * @name: event or field name
 */
bool eventlog_fields_name_valid(const char *name);

/**
 * eventlog_provider_name_valid() - likewise, for providers, which may have '.' and '-' inside
 * @name: provider name
 */
bool eventlog_provider_name_valid(const char *name);

/* The words of a payload whose fixed part is complete: see eventlog_layout_validate(). */
int eventlog_dynamic_validate(const struct eventlog_layout *layout, const u8 *payload, u32 bytes);

/**
 * eventlog_layout_validate() - is this payload what its layout promises
 * @layout: the layout
 * @payload: the kernel's own copy
 * @bytes: its size
 *
 * Any context.
 *
 * Return: 0, -EINVAL (fixed part incomplete) or -EBADMSG (a dynamic field
 * reaches outside, or a string is not terminated).
 */
static __always_inline int eventlog_layout_validate(const struct eventlog_layout *layout,
						    const u8 *payload, u32 bytes)
{
	if (bytes < layout->fixed_bytes)
		return -EINVAL;
	return layout->dynamic_count ? eventlog_dynamic_validate(layout, payload, bytes) : 0;
}

#endif /* EVENTLOG_FIELDS_H */
