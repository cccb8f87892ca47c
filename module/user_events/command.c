// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands of user_events: see command.h.
 *
 * A command is converted to a command of eventlog, whose parser then checks it.  The types
 * are kept as the program wrote them, because ftrace shows them so.
 */
#include <linux/ctype.h>
#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "compat.h"

#if EVENTLOG_TRACE_EVENTS

#include "core/text.h"
#include "core/types.h"
#include "memory.h"
#include "user_events/abi.h"
#include "user_events/command.h"

/* The beginnings of types of two or three words. */
static const char *const ue_prefixes[] = {
	"unsigned ", "struct ", "__data_loc unsigned ", "__data_loc ", "__rel_loc unsigned ",
	"__rel_loc ",
};

/* A field of a command; the texts are parts of a copy of it. */
struct ue_field {
	char *type;
	char *name;
	char *size;
};

/* Cuts a field into its words.  Returns -EINVAL if their number is wrong. */
static int ue_field_cut(char *text, struct ue_field *field)
{
	size_t prefix = 0, i;
	char *rest;

	field->type = skip_spaces(text);
	for (i = 0; i < ARRAY_SIZE(ue_prefixes); i++)
		prefix = max(prefix, str_has_prefix(field->type, ue_prefixes[i]));
	rest = field->type + prefix;
	rest += strcspn(rest, " ");
	if (!*rest)
		return -EINVAL;
	*rest++ = '\0';
	field->name = strsep(&rest, " ");
	field->size = strsep(&rest, " ");
	if (!*field->name || rest)
		return -EINVAL;
	/* Only a struct has a size, and it must have one. */
	return !field->size == !str_has_prefix(field->type, "struct ") ? 0 : -EINVAL;
}

/* The size in brackets, in any base; as strict as the kernel's user_events. */
static int ue_array_size(const char *bracket, unsigned int *size)
{
	char digits[8];
	size_t length = strcspn(bracket + 1, "]");

	if (strcmp(bracket + 1 + length, "]") || !length || length >= sizeof(digits) - 1)
		return -EINVAL;
	memcpy(digits, bracket + 1, length);
	digits[length] = '\0';
	if (kstrtouint(digits, 0, size) || !*size || *size > UE_ARRAY_MAX)
		return -EINVAL;
	return 0;
}

/* The name of a loc type without its elements, or NULL for other types. */
static const char *ue_loc(const char *type)
{
	if (str_has_prefix(type, "__data_loc "))
		return "__data_loc";
	return str_has_prefix(type, "__rel_loc ") ? "__rel_loc" : NULL;
}

/* Appends a field to eventlog's command. */
static int ue_field_write(struct eventlog_text *text, const struct ue_field *field)
{
	const char *loc = ue_loc(field->type), *bracket = strchr(field->type, '[');
	unsigned int size;
	int ret;

	if (loc) {
		/* Only elements whose type contains "char" are text, as in user_events. */
		eventlog_text_print(text, "%s %s %s;", loc,
				    strstr(field->type, "char") ? "char[]" : "unsigned char[]",
				    field->name);
	} else if (field->size) {
		eventlog_text_print(text, "%s %s %s;", field->type, field->name, field->size);
	} else if (bracket) {
		ret = ue_array_size(bracket, &size);
		if (ret)
			return ret;
		eventlog_text_print(text, "%.*s[%u] %s;", (int)(bracket - field->type),
				    field->type, size, field->name);
	} else {
		eventlog_text_print(text, "%s %s;", field->type, field->name);
	}
	return 0;
}

/* ---- level and keywords ---- */

/* What eventheader's levels 1 to 5 are here; others do not exist. */
static const u8 ue_levels[] = {
	[1] = EVENTLOG_LEVEL_CRITICAL,
	[2] = EVENTLOG_LEVEL_ERROR,
	[3] = EVENTLOG_LEVEL_WARNING,
	[4] = EVENTLOG_LEVEL_INFO,
	[5] = EVENTLOG_LEVEL_VERBOSE,
};

/* Parses hexadecimal digits, at most @most; returns their number. */
static size_t ue_hex(const char *text, size_t most, u64 *value)
{
	size_t length;

	*value = 0;
	for (length = 0; length < most && isxdigit(text[length]); length++)
		*value = *value << 4 | hex_to_bin(text[length]);
	return length;
}

/* Names of eventheader end in "_L<level>K<keywords>", perhaps with "G<group>". */
static void ue_header_parse(struct ue_command *command)
{
	const char *suffix = strrchr(command->fields.name, '_');
	u64 level, keywords;
	size_t length;

	command->level = EVENTLOG_LEVEL_INFO;
	command->keywords = 0;
	if (!suffix || suffix[1] != 'L' ||
	    strncmp(command->fields.text, "\tu8 eventheader_flags\n", 22))
		return;
	suffix += 2;
	length = ue_hex(suffix, 2, &level);
	if (!length || !level || level >= ARRAY_SIZE(ue_levels) || suffix[length] != 'K')
		return;
	suffix += length + 1;
	length = ue_hex(suffix, 16, &keywords);
	if (!length || (suffix[length] && !isupper(suffix[length])))
		return;
	command->level = ue_levels[level];
	command->keywords = keywords;
}

/* ---- commands ---- */

/* Types and names are shown in files of lines. */
static bool ue_command_printable(const char *text)
{
	for (; *text; text++)
		if (!isascii(*text) || !isprint(*text))
			return false;
	return true;
}

/* Writes eventlog's command to @to, and the types, one a line. */
static int ue_command_rewrite(char *from, struct eventlog_text *to, struct eventlog_text *types)
{
	char *name = strsep(&from, " "), *part;
	struct ue_field field;
	int ret;

	/* Behind a colon there are flags, and none is defined. */
	if (strchr(name, ':'))
		return -EINVAL;
	eventlog_text_print(to, "%s ", name);
	while ((part = strsep(&from, ";"))) {
		if (!*skip_spaces(part))
			continue;
		ret = ue_field_cut(part, &field);
		if (!ret)
			ret = ue_field_write(to, &field);
		if (ret)
			return ret;
		eventlog_text_print(types, "%s\n", field.type);
	}
	return 0;
}

int ue_command_parse(struct ue_command *command, const char *source, bool multi)
{
	/* A field grows by a few characters: "__rel_loc X a;" is the shortest that does. */
	size_t room = 3 * strlen(source) + 64;
	struct eventlog_text text = { .room = room }, types = { .room = room };
	char *copy;
	int ret;

	memset(command, 0, sizeof(*command));
	if (!ue_command_printable(source))
		return -EINVAL;
	copy = eventlog_alloc(room);
	text.buffer = eventlog_alloc(room);
	types.buffer = eventlog_alloc(room);
	ret = -ENOMEM;
	if (!copy || !text.buffer || !types.buffer)
		goto err_free;
	strcpy(copy, source);
	ret = ue_command_rewrite(copy, &text, &types);
	if (!ret && WARN_ON_ONCE(text.bytes >= room || types.bytes >= room))
		ret = -E2BIG;
	if (!ret)
		ret = eventlog_fields_parse(text.buffer, false, &command->fields);
	if (ret)
		goto err_free;
	eventlog_free(copy);
	command->text = text.buffer;
	command->fields.types = types.buffer;
	command->fields.trace_flags = EVENTLOG_TRACE_PLAIN | (multi ? EVENTLOG_TRACE_UNIQUE : 0);
	ue_header_parse(command);
	return 0;

err_free:
	eventlog_free(types.buffer);
	eventlog_free(text.buffer);
	eventlog_free(copy);
	return ret;
}

void ue_command_free(struct ue_command *command)
{
	eventlog_fields_free(&command->fields);
	eventlog_free(command->text);
}

#endif /* EVENTLOG_TRACE_EVENTS */
