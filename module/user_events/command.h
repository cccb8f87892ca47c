/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses commands of user_events: "NAME [TYPE FIELD [SIZE]; ...]".  No state, no locks.
 */
#ifndef EVENTLOG_USER_EVENTS_COMMAND_H
#define EVENTLOG_USER_EVENTS_COMMAND_H

#include <linux/types.h>

#include "core/fields.h"

/**
 * struct ue_command - a parsed command
 * @text: owned; @fields refers to it
 * @fields: name, fields, and types as the trace event shows them; owned
 * @level: that of an eventheader's name, or INFO
 * @keywords: likewise, or 0
 */
struct ue_command {
	char *text;
	struct eventlog_fields fields;
	u8 level;
	u64 keywords;
};

/**
 * ue_command_parse() - parse a command
 * @command: output; on success the caller frees it with ue_command_free()
 * @text: the command
 * @multi: the name may have several formats
 *
 * Context: process context.
 *
 * Return: 0; -EINVAL: syntax error; -E2BIG: the fields are too large; -ENOMEM.
 */
int ue_command_parse(struct ue_command *command, const char *text, bool multi);

/**
 * ue_command_free() - free the members of a parsed command
 * @command: parsed
 */
void ue_command_free(struct ue_command *command);

#endif /* EVENTLOG_USER_EVENTS_COMMAND_H */
