// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing of command strings, and validation of payloads: see fields.h.
 */
#include <linux/ctype.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/string.h>

#include "compat.h"
#include "common/field_type.h"
#include "core/fields.h"
#include "memory.h"

/* How a field is stored: in place, or as a word that refers to its data. */
enum eventlog_kind {
	KIND_FIXED,
	KIND_DATA_LOC,
	KIND_REL_LOC,
};

#define EVENTLOG_PARSER_BUCKETS 128

/*
 * State of parsing a command and writing its schema text.  The names of the fields are
 * hashed: a name is compared with few others.  @buckets and @next have the number of a
 * field plus 1, or 0.
 */
struct eventlog_parser {
	struct eventlog_fields *fields;
	const char *names[EVENTLOG_FIELDS_MAX];
	u16 buckets[EVENTLOG_PARSER_BUCKETS];
	u16 next[EVENTLOG_FIELDS_MAX];
	u32 hash_key;
	unsigned int count;
	size_t text_bytes;
	size_t text_room;
};

/* Cuts the next blank-separated word off *@rest.  Returns NULL if there is none. */
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

/* Parses a decimal number of 1 to EVENTLOG_PAYLOAD_MAX; rejects any other text. */
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

/* Adds a name; fails if another field has it. */
static int eventlog_field_name_add(struct eventlog_parser *parser, const char *name)
{
	u32 hash = jhash(name, strlen(name), parser->hash_key);
	u16 *bucket = &parser->buckets[hash % EVENTLOG_PARSER_BUCKETS];
	unsigned int i;

	if (parser->count == EVENTLOG_FIELDS_MAX)
		return -E2BIG;
	for (i = *bucket; i; i = parser->next[i - 1])
		if (!strcmp(parser->names[i - 1], name))
			return -EINVAL;
	parser->names[parser->count] = name;
	parser->next[parser->count] = *bucket;
	*bucket = ++parser->count;
	return 0;
}

static int eventlog_field_add(struct eventlog_parser *parser, enum eventlog_kind kind,
			      bool string, u32 bytes, const char *type, const char *name)
{
	struct eventlog_layout *layout = parser->fields->layout;
	int ret;

	if (!eventlog_fields_name_valid(name))
		return -EINVAL;
	ret = eventlog_field_name_add(parser, name);
	if (ret)
		return ret;

	if (kind != KIND_FIXED) {
		struct eventlog_dynamic *dynamic = &layout->dynamic[layout->dynamic_count++];

		dynamic->position = layout->fixed_bytes;
		dynamic->base = kind == KIND_REL_LOC ? layout->fixed_bytes + sizeof(u32) : 0;
		dynamic->string = string;
	}
	/* Both are at most EVENTLOG_PAYLOAD_MAX: the sum cannot overflow. */
	layout->fixed_bytes += bytes;
	if (layout->fixed_bytes > EVENTLOG_PAYLOAD_MAX)
		return -E2BIG;
	return eventlog_text_add(parser, "\t%s %s\n", type, name);
}

/* Parses "char[16]" or "unsigned char[16]"; @array starts at the bracket. */
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

/* Parses "struct NAME field SIZE"; @rest starts behind "struct". */
static int eventlog_struct_parse(struct eventlog_parser *parser, char *rest)
{
	char type[sizeof("struct::") + EVENTLOG_FIELD_NAME_MAX + 10];
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

/*
 * Finds an integer type by its name in the schema language or in C.  If @is_unsigned,
 * @word is the C name without "unsigned".
 */
static const struct eventlog_field_type *eventlog_integer_find(const char *word, bool is_unsigned)
{
	unsigned int i;

	for (i = 0; i < EVENTLOG_FIELD_TYPES; i++) {
		const struct eventlog_field_type *type = &eventlog_field_types[i];
		const char *c_name = type->c_name;

		if (!eventlog_field_type_is_integer(i))
			continue;
		if (!is_unsigned && !strcmp(type->name, word))
			return type;
		if (is_unsigned && c_name)
			c_name = strstarts(c_name, "unsigned ") ? c_name + 9 : NULL;
		if (c_name && !strcmp(c_name, word))
			return type;
	}
	return NULL;
}

static int eventlog_field_parse(struct eventlog_parser *parser, char *rest)
{
	enum eventlog_kind kind = KIND_FIXED;
	const struct eventlog_field_type *type;
	const char *schema = NULL;
	bool is_unsigned = false;
	char array_type[32];
	char *word, *name, *bracket;
	u32 bytes = 0;
	int ret;

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

	type = eventlog_integer_find(word, is_unsigned);
	if (!type)
		return -EINVAL;
	return eventlog_field_add(parser, KIND_FIXED, false, type->bytes, type->name, name);
}

/* Copies text and layout to memory of the right size, because they may be kept for long. */
static int eventlog_fields_shrink(struct eventlog_fields *fields)
{
	size_t layout_bytes = struct_size(fields->layout, dynamic, fields->layout->dynamic_count);
	struct eventlog_layout *layout = eventlog_alloc(layout_bytes);
	size_t text_bytes = strlen(fields->text) + 1;
	char *text = eventlog_alloc(text_bytes);

	if (!layout || !text) {
		eventlog_free(layout);
		eventlog_free(text);
		return -ENOMEM;
	}
	memcpy(layout, fields->layout, layout_bytes);
	memcpy(text, fields->text, text_bytes);
	eventlog_free(fields->layout);
	eventlog_free(fields->text);
	fields->layout = layout;
	fields->text = text;
	return 0;
}

/*
 * Moves the description at *@rest, a string of the schema language in printable ASCII, to the
 * first line of the text.
 */
static int eventlog_description_take(struct eventlog_parser *parser, char **rest)
{
	char *end = *rest + 1;

	if (*end == '"')
		return -EINVAL;
	for (; *end != '"'; end++) {
		if (*end == '\\' && *++end != '"' && *end != '\\')
			return -EINVAL;
		if (!isascii(*end) || !isprint(*end))
			return -EINVAL;
	}
	if (*++end && !isspace(*end))
		return -EINVAL;
	if (*end)
		*end++ = '\0';
	swap(*rest, end);
	return eventlog_text_add(parser, "%s\n", end);
}

int eventlog_fields_parse(char *command, bool described, struct eventlog_fields *fields)
{
	struct eventlog_parser *parser;
	size_t length = strlen(command);
	char *rest = command, *name, *field;
	unsigned int dynamic_max;
	int ret;

	memset(fields, 0, sizeof(*fields));
	name = skip_spaces(rest);
	rest = name;
	while (*rest && !isspace(*rest))
		rest++;
	if (*rest)
		*rest++ = '\0';
	if (!eventlog_name_valid(name))
		return -EINVAL;
	fields->name = name;

	/* The text of a dynamic field is longer than 16 characters. */
	dynamic_max = min_t(size_t, length / 16 + 1, EVENTLOG_FIELDS_MAX);
	parser = eventlog_alloc(sizeof(*parser));
	if (!parser)
		return -ENOMEM;
	parser->fields = fields;
	/* Secret, or a process could choose names that all hash to one bucket. */
	parser->hash_key = get_random_u32();
	/*
	 * A line of the schema text is at most a few characters longer than its part of
	 * the command: for example "\tstruct:N:S f\n" instead of "struct N f S;".
	 */
	parser->text_room = 2 * length + 64;
	ret = -ENOMEM;
	fields->text = eventlog_alloc(parser->text_room);
	fields->layout = eventlog_alloc(struct_size(fields->layout, dynamic, dynamic_max));
	if (!fields->text || !fields->layout)
		goto out;

	ret = 0;
	rest = skip_spaces(rest);
	if (described && *rest == '"')
		ret = eventlog_description_take(parser, &rest);
	while (!ret && (field = strsep(&rest, ";")))
		ret = eventlog_field_parse(parser, field);
	if (!ret)
		ret = eventlog_fields_shrink(fields);
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
	eventlog_free(fields->tables);
	eventlog_free(fields->types);
	fields->types = NULL;
	fields->text = NULL;
	fields->layout = NULL;
	fields->tables = NULL;
}

int eventlog_dynamic_validate(const struct eventlog_layout *layout, const u8 *payload, u32 bytes)
{
	u32 i;

	for (i = 0; i < layout->dynamic_count; i++) {
		const struct eventlog_dynamic *dynamic = &layout->dynamic[i];
		u32 word = get_unaligned((const u32 *)(payload + dynamic->position));
		u32 size = word >> 16;
		/* Offset and size are below 64 KiB, the base is small: no overflow. */
		u32 end = dynamic->base + (word & 0xffff) + size;

		if (end > bytes)
			return -EBADMSG;
		/*
		 * The NUL must not be inside the fixed part, because the words there are
		 * modified for tracers.
		 */
		if (dynamic->string && (!size || end <= layout->fixed_bytes || payload[end - 1]))
			return -EBADMSG;
	}
	return 0;
}
