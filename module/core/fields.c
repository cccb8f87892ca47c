// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields: see fields.h.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "compat.h"
#include "core/fields.h"
#include "memory.h"

/* Kinds of field a type name can stand for. */
enum eventlog_kind {
	KIND_FIXED,
	KIND_DATA_LOC,
	KIND_REL_LOC,
};

static const struct {
	const char *command;
	const char *schema;
	u8 bytes;
} eventlog_types[] = {
	{ "u8", "u8", 1 },		{ "u16", "u16", 2 },
	{ "u32", "u32", 4 },		{ "u64", "u64", 8 },
	{ "s8", "s8", 1 },		{ "s16", "s16", 2 },
	{ "s32", "s32", 4 },		{ "s64", "s64", 8 },
	{ "char", "s8", 1 },		{ "unsigned char", "u8", 1 },
	{ "short", "s16", 2 },		{ "unsigned short", "u16", 2 },
	{ "int", "s32", 4 },		{ "unsigned int", "u32", 4 },
};

/* A command being parsed, and the schema text being written. */
struct eventlog_parser {
	struct eventlog_fields *fields;
	const char *names[EVENTLOG_FIELDS_MAX];
	unsigned int count;
	size_t text_bytes;
	size_t text_room;
};

bool eventlog_fields_name_valid(const char *name)
{
	size_t length = strnlen(name, EVENTLOG_NAME_MAX);
	size_t i;

	if (!length || length == EVENTLOG_NAME_MAX || isdigit(*name))
		return false;
	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || name[i] == '_'))
			return false;
	return true;
}

bool eventlog_provider_name_valid(const char *name)
{
	size_t length = strnlen(name, EVENTLOG_NAME_MAX);
	size_t i;

	if (!length || length == EVENTLOG_NAME_MAX)
		return false;
	if (!isascii(*name) || !(isalpha(*name) || *name == '_'))
		return false;
	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || strchr("_.-", name[i])))
			return false;
	return true;
}

/* Cuts the next blank-separated word off *@rest; NULL when there is none. */
static char *eventlog_word(char **rest)
{
	char *word = skip_spaces(*rest);
	char *end = word;

	if (!*word)
		return NULL;
	while (*end && !isspace(*end))
		end++;
	if (*end)
		*end++ = '\0';
	*rest = end;
	return word;
}

/* A decimal number of 1 to EVENTLOG_PAYLOAD_MAX, nothing else. */
static int eventlog_number(const char *text, u32 *number)
{
	unsigned long long value;

	if (!isdigit(*text) || kstrtoull(text, 10, &value) || !value)
		return -EINVAL;
	if (value > EVENTLOG_PAYLOAD_MAX)
		return -E2BIG;
	*number = value;
	return 0;
}

__printf(2, 3)
static int eventlog_text_add(struct eventlog_parser *parser, const char *format, ...)
{
	size_t room = parser->text_room - parser->text_bytes;
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(parser->fields->text + parser->text_bytes, room, format, args);
	va_end(args);
	if (WARN_ON_ONCE(bytes >= room))
		return -E2BIG;
	parser->text_bytes += bytes;
	return 0;
}

static int eventlog_field_add(struct eventlog_parser *parser, enum eventlog_kind kind,
			      bool string, u32 bytes, const char *type, const char *name)
{
	struct eventlog_layout *layout = parser->fields->layout;
	unsigned int i;

	if (!eventlog_fields_name_valid(name))
		return -EINVAL;
	if (parser->count == EVENTLOG_FIELDS_MAX)
		return -E2BIG;
	for (i = 0; i < parser->count; i++)
		if (!strcmp(parser->names[i], name))
			return -EINVAL;
	parser->names[parser->count++] = name;

	if (kind != KIND_FIXED) {
		struct eventlog_dynamic *dynamic = &layout->dynamic[layout->dynamic_count++];

		dynamic->position = layout->fixed_bytes;
		dynamic->base = kind == KIND_REL_LOC ? layout->fixed_bytes + sizeof(u32) : 0;
		dynamic->string = string;
	}
	/* Both at most EVENTLOG_PAYLOAD_MAX: the sum cannot wrap. */
	layout->fixed_bytes += bytes;
	if (layout->fixed_bytes > EVENTLOG_PAYLOAD_MAX)
		return -E2BIG;
	return eventlog_text_add(parser, "\t%s %s\n", type, name);
}

/* "char[16]" and "unsigned char[16]": @array is what stands from the bracket on. */
static int eventlog_array_parse(const char *element, char *array, u32 *bytes, char *type,
				size_t type_room)
{
	size_t length = strlen(array);
	int ret;

	if (length < 3 || array[length - 1] != ']')
		return -EINVAL;
	array[length - 1] = '\0';
	ret = eventlog_number(array + 1, bytes);
	if (ret)
		return ret;
	snprintf(type, type_room, "%s[%u]", element, *bytes);
	return 0;
}

/* "struct NAME field SIZE", from behind the first word. */
static int eventlog_struct_parse(struct eventlog_parser *parser, char *rest)
{
	char type[sizeof("struct::") + EVENTLOG_NAME_MAX + 10];
	char *tag = eventlog_word(&rest);
	char *name = eventlog_word(&rest);
	char *size = eventlog_word(&rest);
	u32 bytes;
	int ret;

	if (!tag || !name || !size || eventlog_word(&rest) || !eventlog_fields_name_valid(tag))
		return -EINVAL;
	ret = eventlog_number(size, &bytes);
	if (ret)
		return ret;
	snprintf(type, sizeof(type), "struct:%s:%u", tag, bytes);
	return eventlog_field_add(parser, KIND_FIXED, false, bytes, type, name);
}

static int eventlog_field_parse(struct eventlog_parser *parser, char *rest)
{
	enum eventlog_kind kind = KIND_FIXED;
	const char *schema = NULL;
	bool is_unsigned = false;
	char array_type[32];
	char *word, *name, *bracket;
	u32 bytes = 0;
	int ret, i;

	word = eventlog_word(&rest);
	if (!word)
		return 0;
	if (!strcmp(word, "struct"))
		return eventlog_struct_parse(parser, rest);

	if (!strcmp(word, "__data_loc"))
		kind = KIND_DATA_LOC;
	else if (!strcmp(word, "__rel_loc"))
		kind = KIND_REL_LOC;
	if (kind != KIND_FIXED)
		word = eventlog_word(&rest);
	if (word && !strcmp(word, "unsigned")) {
		is_unsigned = true;
		word = eventlog_word(&rest);
	}
	name = eventlog_word(&rest);
	if (!word || !name || eventlog_word(&rest))
		return -EINVAL;

	if (kind != KIND_FIXED) {
		if (strcmp(word, "char[]"))
			return -EINVAL;
		if (kind == KIND_DATA_LOC)
			schema = is_unsigned ? "bytes" : "string";
		else
			schema = is_unsigned ? "bytes:rel" : "string:rel";
		return eventlog_field_add(parser, kind, !is_unsigned, sizeof(u32), schema, name);
	}

	bracket = strchr(word, '[');
	if (bracket) {
		if (strncmp(word, "char[", 5))
			return -EINVAL;
		ret = eventlog_array_parse(is_unsigned ? "u8" : "char", bracket, &bytes,
					   array_type, sizeof(array_type));
		if (ret)
			return ret;
		return eventlog_field_add(parser, KIND_FIXED, false, bytes, array_type, name);
	}

	for (i = 0; i < ARRAY_SIZE(eventlog_types); i++) {
		const char *type = eventlog_types[i].command;

		if (is_unsigned) {
			if (strncmp(type, "unsigned ", 9))
				continue;
			type += 9;
		}
		if (!strcmp(type, word))
			return eventlog_field_add(parser, KIND_FIXED, false,
						  eventlog_types[i].bytes,
						  eventlog_types[i].schema, name);
	}
	return -EINVAL;
}

int eventlog_fields_parse(char *command, struct eventlog_fields *fields)
{
	struct eventlog_parser *parser;
	size_t length = strlen(command);
	char *rest = command, *name, *field;
	unsigned int dynamic_max;
	int ret;

	memset(fields, 0, sizeof(*fields));
	name = skip_spaces(rest);
	rest = name;
	while (*rest && !isspace(*rest) && *rest != ';')
		rest++;
	if (*rest)
		*rest++ = '\0';
	if (!eventlog_fields_name_valid(name))
		return -EINVAL;
	strscpy(fields->name, name, sizeof(fields->name));

	/* A dynamic field takes more than 16 characters of the command. */
	dynamic_max = min_t(size_t, length / 16 + 1, EVENTLOG_FIELDS_MAX);
	parser = eventlog_alloc(sizeof(*parser));
	if (!parser)
		return -ENOMEM;
	parser->fields = fields;
	/*
	 * A schema line is longer than its part of the command by a few
	 * characters at most: "struct:N:S f" for "struct N f S", tab and newline
	 * for the separator.
	 */
	parser->text_room = 2 * length + 64;
	ret = -ENOMEM;
	fields->text = eventlog_alloc(parser->text_room);
	fields->layout = eventlog_alloc(struct_size(fields->layout, dynamic, dynamic_max));
	if (!fields->text || !fields->layout)
		goto out;

	ret = 0;
	while (!ret && (field = strsep(&rest, ";")))
		ret = eventlog_field_parse(parser, field);
out:
	eventlog_free(parser);
	if (ret)
		eventlog_fields_free(fields);
	return ret;
}

void eventlog_fields_free(struct eventlog_fields *fields)
{
	eventlog_free(fields->text);
	eventlog_free(fields->layout);
	fields->text = NULL;
	fields->layout = NULL;
}

int eventlog_dynamic_validate(const struct eventlog_layout *layout, const u8 *payload, u32 bytes)
{
	u32 i;

	for (i = 0; i < layout->dynamic_count; i++) {
		const struct eventlog_dynamic *dynamic = &layout->dynamic[i];
		u32 word = get_unaligned((const u32 *)(payload + dynamic->position));
		u32 size = word >> 16;
		/* At most 64 KiB, twice, and the base: far from wrapping. */
		u32 end = dynamic->base + (word & 0xffff) + size;

		if (end > bytes)
			return -EBADMSG;
		/* Its NUL must stay one when words in the fixed part are changed for tracers. */
		if (dynamic->string && (!size || end <= layout->fixed_bytes || payload[end - 1]))
			return -EBADMSG;
	}
	return 0;
}
