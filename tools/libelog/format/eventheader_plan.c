// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Plans for decoding eventheader records, made from their metadata: see eventheader.h.
 *
 * The metadata is the event's name and then, for each field, its name, an encoding, perhaps a
 * format, a tag and the length of an array. Names end with a NUL and may have attributes
 * behind ";". If the metadata is damaged, the plan has the fields before the damage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "format/eventheader.h"
#include "format/uses.h"
#include "util/util.h"

#define NAME_BYTES	EVENTLOG_FIELD_NAME_MAX

/* The encoding byte. */
#define FIXED_ARRAY	0x20
#define VARIABLE_ARRAY	0x40
#define MORE		0x80	/* a format follows; in the format: a tag follows */
#define ENCODING_MASK	0x1f
#define FORMAT_MASK	0x7f

enum encoding {
	ENCODING_STRUCT = 1,
	ENCODING_VALUE8,
	ENCODING_VALUE16,
	ENCODING_VALUE32,
	ENCODING_VALUE64,
	ENCODING_VALUE128,
	ENCODING_TERMINATED8,
	ENCODING_TERMINATED16,
	ENCODING_TERMINATED32,
	ENCODING_COUNTED8,
	ENCODING_COUNTED16,
	ENCODING_COUNTED32,
	ENCODING_BINARY,
};

enum format {
	FORMAT_DEFAULT,
	FORMAT_UNSIGNED,
	FORMAT_SIGNED,
	FORMAT_HEX,
	FORMAT_ERRNO,
	FORMAT_PID,
	FORMAT_TIME,
	FORMAT_BOOLEAN,
	FORMAT_FLOAT,
	FORMAT_BYTES,
	FORMAT_STRING8,
	FORMAT_UTF,
	FORMAT_UTF_MARKED,
	FORMAT_XML,
	FORMAT_JSON,
	FORMAT_UUID,
	FORMAT_PORT,
	FORMAT_ADDRESS,		/* of either family, by the size */
	FORMAT_ADDRESS_TOO,
};

struct parser {
	const struct elog_eh_metadata *metadata;
	struct elog_eh_plan *plan;
	uint32_t capacity;	/* of the plan's steps */
	size_t at;
	struct elog_uses used;
	char path[NAME_BYTES];	/* of the structs around the field, each with its "." */
	size_t path_size;
	struct elog_text text;
	uint32_t step_count;	/* of the plan and those that were dropped, whose names are used */
};

/* Names of fields differ, their names in JSON do, and those of the members of a struct do. */
#define SCOPE_NAMES	NULL
#define SCOPE_JSON	((const void *)parser)

/* ------------------------------------------------------------------------
 * Names
 */

static bool is_name_character(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || character == '_' || character == '.';
}

/* Expressions and columns have only these characters. */
static void clean_name(char *name)
{
	for (; *name; name++)
		if (!is_name_character(*name))
			*name = '_';
}

/* Find the name that begins here and go behind its NUL. Return: false: it does not end. */
static bool take_name(struct parser *parser, const char **name, size_t *size)
{
	const unsigned char *from = parser->metadata->data + parser->at;
	const unsigned char *end = memchr(from, '\0', parser->metadata->size - parser->at);
	const unsigned char *attributes;

	if (!end)
		return false;
	parser->at += (size_t)(end - from) + 1;
	attributes = memchr(from, ';', (size_t)(end - from));
	*name = (const char *)from;
	*size = (size_t)((attributes ? attributes : end) - from);
	return true;
}

/* Copy a name; if it is used, with a number. Names of more than @most bytes may be equal. */
static char *make_unique(struct parser *parser, const void *scope, const char *name, size_t most)
{
	struct elog_use use = { .scope = scope, .object = parser };
	char *text = malloc(most + 1), *copy;
	size_t size;

	if (!text)
		return NULL;
	snprintf(text, most + 1, "%s", name);
	use.name = text;
	/* Each round makes it longer. */
	while (elog_uses_find(&parser->used, &use) && strlen(text) < most) {
		size = strlen(text);
		snprintf(text + size, most + 1 - size, "_%u", parser->plan->step_count + 1);
	}
	copy = strdup(text);
	free(text);
	use.name = copy;
	if (copy && elog_uses_add(&parser->used, &use) < 0) {
		free(copy);
		return NULL;
	}
	if (copy)
		parser->plan->bytes += strlen(copy) + 1;
	return copy;
}

/* Expressions and columns take few characters, and a word with a digit first is a number. */
static char *make_name(struct parser *parser, const char *name)
{
	char text[NAME_BYTES];

	snprintf(text, sizeof(text), "%s%s",
		 *name == '.' || (*name >= '0' && *name <= '9') ? "_" : "", name);
	clean_name(text);
	return make_unique(parser, SCOPE_NAMES, text, sizeof(text) - 1);
}

/* JSON has all characters. */
static char *make_json_name(struct parser *parser, const void *scope, const char *name,
			    size_t size)
{
	struct elog_text *text = &parser->text;

	text->size = 0;
	elog_text_json_string(text, name, size);
	if (text->error)
		return NULL;
	/* Without the quotes, and with room for a number. */
	text->data[text->size - 1] = '\0';
	return make_unique(parser, scope, text->data + 1, text->size + 10);
}

/* Names of events are printable ASCII everywhere: write other bytes as \xNN. */
static char *make_event_name(const char *name, size_t size)
{
	char text[EVENTLOG_NAME_MAX + 4];
	size_t i, to = 0;

	for (i = 0; i < size && to + 4 < EVENTLOG_NAME_MAX; i++) {
		if (name[i] >= ' ' && name[i] <= '~')
			text[to++] = name[i];
		else
			to += (size_t)sprintf(text + to, "\\x%02x", (unsigned char)name[i]);
	}
	text[to] = '\0';
	return strdup(text);
}

/* ------------------------------------------------------------------------
 * Kinds of values
 */

static void set_number(struct elog_eh_step *step, enum elog_type type, const char *name)
{
	step->kind = ELOG_EH_PLAIN;
	step->field.type = type;
	step->field.type_name = name;
	step->field.size = step->unit;
	step->field.is_signed = type == ELOG_TYPE_SIGNED || type == ELOG_TYPE_SECONDS ||
				type == ELOG_TYPE_ENUM ||
				(type == ELOG_TYPE_BOOL && step->unit == 4);
}

static void set_octets(struct elog_eh_step *step, enum elog_type type, const char *name)
{
	set_number(step, type, name);
	step->kind = ELOG_EH_OCTETS;
}

static void set_text(struct elog_eh_step *step, enum elog_eh_kind kind)
{
	const bool bytes = kind == ELOG_EH_BYTES;

	step->kind = kind;
	step->field.type = bytes ? ELOG_TYPE_BYTES : ELOG_TYPE_STRING;
	step->field.type_name = bytes ? "bytes" : "string";
	step->field.size = sizeof(uint64_t);
}

/* Counted bytes with the format of a number: the size is only known in the data. */
static void set_any(struct elog_eh_step *step, enum elog_eh_kind kind)
{
	step->kind = kind;
	step->field.optional = true;
	step->field.size = sizeof(uint64_t);
}

static void set_value128(struct elog_eh_step *step, unsigned int format)
{
	switch (format) {
	case FORMAT_UUID:
		set_text(step, ELOG_EH_UUID);
		break;
	case FORMAT_ADDRESS:
	case FORMAT_ADDRESS_TOO:
		set_octets(step, ELOG_TYPE_IPV6, "ipv6");
		break;
	default:
		set_octets(step, ELOG_TYPE_OCTETS, "u8[16]");
		break;
	}
}

/* Formats that a size does not have. The value is an unsigned number then. */
static bool is_format_of(unsigned int format, unsigned int unit)
{
	switch (format) {
	case FORMAT_ERRNO:
	case FORMAT_PID:
	case FORMAT_ADDRESS:
	case FORMAT_ADDRESS_TOO:
		return unit == 4;
	case FORMAT_TIME:
	case FORMAT_FLOAT:
		return unit >= 4;
	case FORMAT_BOOLEAN:
		return unit <= 4;
	case FORMAT_STRING8:
		return unit == 1;
	case FORMAT_UTF:
		return unit == 2 || unit == 4;
	case FORMAT_PORT:
		return unit == 2;
	default:
		return true;
	}
}

static void set_value(struct parser *parser, struct elog_eh_step *step, unsigned int format)
{
	static const char *const unsigned_names[] = { [1] = "u8", [2] = "u16", [4] = "u32",
						      [8] = "u64" };
	static const char *const signed_names[] = { [1] = "s8", [2] = "s16", [4] = "s32",
						    [8] = "s64" };

	if (!is_format_of(format, step->unit))
		format = FORMAT_DEFAULT;
	switch (format) {
	case FORMAT_SIGNED:
	case FORMAT_PID:
		set_number(step, ELOG_TYPE_SIGNED, signed_names[step->unit]);
		break;
	case FORMAT_HEX:
		set_number(step, ELOG_TYPE_UNSIGNED, unsigned_names[step->unit]);
		step->field.display = ELOG_DISPLAY_HEX;
		break;
	case FORMAT_ERRNO:
		set_number(step, ELOG_TYPE_ENUM, "an error number");
		step->field.set = parser->metadata->errors;
		break;
	case FORMAT_TIME:
		set_number(step, ELOG_TYPE_SECONDS, "a date");
		break;
	case FORMAT_BOOLEAN:
		set_number(step, ELOG_TYPE_BOOL, "bool");
		break;
	case FORMAT_FLOAT:
		set_number(step, ELOG_TYPE_FLOAT, step->unit == 4 ? "f32" : "f64");
		break;
	case FORMAT_BYTES:
		set_octets(step, ELOG_TYPE_OCTETS, "bytes");
		break;
	case FORMAT_STRING8:
	case FORMAT_UTF:
		set_text(step, ELOG_EH_CHARACTER);
		break;
	case FORMAT_PORT:
		set_octets(step, ELOG_TYPE_PORT, "port");
		break;
	case FORMAT_ADDRESS:
	case FORMAT_ADDRESS_TOO:
		set_octets(step, ELOG_TYPE_IPV4, "ipv4");
		break;
	default:
		set_number(step, ELOG_TYPE_UNSIGNED, unsigned_names[step->unit]);
		break;
	}
}

/* Strings of counted bytes may have all formats: those of values make an optional value. */
static void set_string(struct parser *parser, struct elog_eh_step *step, unsigned int format,
		       bool is_binary)
{
	const bool bytes = step->unit == 1 && step->length == ELOG_EH_COUNTED;

	switch (format) {
	case FORMAT_BYTES:
		set_text(step, ELOG_EH_BYTES);
		return;
	case FORMAT_STRING8:
		set_text(step, step->unit == 1 ? ELOG_EH_TEXT_LATIN : ELOG_EH_TEXT);
		return;
	case FORMAT_UTF:
		set_text(step, ELOG_EH_TEXT);
		return;
	case FORMAT_UTF_MARKED:
	case FORMAT_XML:
	case FORMAT_JSON:
		set_text(step, ELOG_EH_TEXT_MARKED);
		return;
	default:
		set_text(step, is_binary ? ELOG_EH_BYTES : ELOG_EH_TEXT);
		break;
	}
	if (!bytes)
		return;
	switch (format) {
	case FORMAT_UUID:
		set_text(step, ELOG_EH_ANY_UUID);
		step->field.optional = true;
		return;
	case FORMAT_ADDRESS:
	case FORMAT_ADDRESS_TOO:
		set_text(step, ELOG_EH_ANY_ADDRESS);
		step->field.optional = true;
		return;
	case FORMAT_PORT:
		step->unit = 2;
		break;
	case FORMAT_ERRNO:
	case FORMAT_PID:
	case FORMAT_BOOLEAN:
		step->unit = 4;
		break;
	case FORMAT_UNSIGNED:
	case FORMAT_SIGNED:
	case FORMAT_HEX:
	case FORMAT_TIME:
	case FORMAT_FLOAT:
		step->unit = 8;
		break;
	default:
		return;
	}
	/* The type is that of the largest value. */
	set_value(parser, step, format);
	set_any(step, format == FORMAT_PORT ? ELOG_EH_ANY_PORT : ELOG_EH_ANY_NUMBER);
	step->unit = 1;
}

/* Return: false: the encoding is not known, and so the size is not. */
static bool set_kind(struct parser *parser, struct elog_eh_step *step, unsigned int encoding,
		     unsigned int format)
{
	switch (encoding) {
	case ENCODING_VALUE8:
	case ENCODING_VALUE16:
	case ENCODING_VALUE32:
	case ENCODING_VALUE64:
		step->unit = 1U << (encoding - ENCODING_VALUE8);
		set_value(parser, step, format);
		return true;
	case ENCODING_VALUE128:
		step->unit = 16;
		set_value128(step, format);
		return true;
	case ENCODING_TERMINATED8:
	case ENCODING_TERMINATED16:
	case ENCODING_TERMINATED32:
		step->unit = 1U << (encoding - ENCODING_TERMINATED8);
		step->length = ELOG_EH_TERMINATED;
		set_string(parser, step, format, false);
		return true;
	case ENCODING_COUNTED8:
	case ENCODING_COUNTED16:
	case ENCODING_COUNTED32:
		step->unit = 1U << (encoding - ENCODING_COUNTED8);
		step->length = ELOG_EH_COUNTED;
		set_string(parser, step, format, false);
		return true;
	case ENCODING_BINARY:
		step->unit = 1;
		step->length = ELOG_EH_COUNTED;
		set_string(parser, step, format, true);
		return true;
	default:
		return false;
	}
}

/* ------------------------------------------------------------------------
 * Fields
 */

/* Append a step. Return: 0 or -ENOMEM. */
static int add_step(struct parser *parser, const struct elog_eh_step *step, uint32_t *index)
{
	struct elog_eh_plan *plan = parser->plan;
	struct elog_eh_step *larger;
	uint32_t capacity;

	if (plan->step_count == parser->capacity) {
		capacity = parser->capacity ? 2 * parser->capacity : 8;
		larger = realloc(plan->steps, capacity * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		plan->steps = larger;
		parser->capacity = capacity;
	}
	*index = plan->step_count++;
	plan->steps[*index] = *step;
	plan->steps[*index].end = *index + 1;
	return 0;
}

static void drop_steps(struct elog_eh_plan *plan, uint32_t count)
{
	while (plan->step_count > count) {
		plan->step_count--;
		free(plan->steps[plan->step_count].name);
		free(plan->steps[plan->step_count].json_name);
	}
}

/*
 * Name a step. @scope: of the struct in an array that it is a member of; NULL: of none, and
 * it gets a slot.
 */
static int name_step(struct parser *parser, struct elog_eh_step *step, const char *name,
		     size_t size, const void *scope)
{
	struct elog_eh_plan *plan = parser->plan;
	char path[2 * NAME_BYTES];

	if (scope) {
		step->name = make_json_name(parser, scope, size ? name : "_", size ? size : 1);
		return step->name ? 0 : -ENOMEM;
	}
	snprintf(path, sizeof(path), "%.*s%.*s", (int)parser->path_size, parser->path,
		 size ? (int)(size < NAME_BYTES ? size : NAME_BYTES) : 1, size ? name : "_");
	step->name = make_name(parser, path);
	step->json_name = make_json_name(parser, SCOPE_JSON, path, strlen(path));
	if (!step->name || !step->json_name)
		return -ENOMEM;
	step->slot = plan->fixed_size;
	plan->fixed_size += step->array == ELOG_EH_NO_ARRAY ? step->field.size : sizeof(uint64_t);
	plan->field_count++;
	return 0;
}

/* Return: 0; -EBADMSG there are too many; -ENOMEM. */
static int put_step(struct parser *parser, struct elog_eh_step *step, const char *name,
		    size_t size, const void *scope, uint32_t *index)
{
	int ret;

	if (parser->plan->step_count == ELOG_EH_FIELDS_MAX)
		return -EBADMSG;
	ret = name_step(parser, step, name, size, scope);
	if (!ret)
		ret = add_step(parser, step, index);
	if (ret) {
		free(step->name);
		free(step->json_name);
	}
	return ret;
}

static int take_field(struct parser *parser, unsigned int depth, const void *scope);

/* The metadata may end before the last member, but not before the first one. */
static int take_members(struct parser *parser, unsigned int count, unsigned int depth,
			const void *scope)
{
	int ret;

	if (!count || depth == ELOG_EH_DEPTH_MAX)
		return -EBADMSG;
	do
		ret = take_field(parser, depth + 1, scope);
	while (!ret && --count && parser->at < parser->metadata->size);
	return ret;
}

/* A struct outside of arrays is only a part of its members' names. */
static int take_struct(struct parser *parser, const char *name, size_t size,
		       unsigned int count, unsigned int depth)
{
	const size_t path_size = parser->path_size;
	size_t room = sizeof(parser->path) - path_size;
	int length, ret;

	length = snprintf(parser->path + path_size, room, "%.*s.",
			  size ? (int)(size < room ? size : room) : 1, size ? name : "_");
	parser->path_size = (size_t)length < room ? path_size + (size_t)length :
						    sizeof(parser->path) - 1;
	ret = take_members(parser, count, depth, NULL);
	parser->path_size = path_size;
	return ret;
}

static int take_struct_step(struct parser *parser, struct elog_eh_step *step, const char *name,
			    size_t size, unsigned int count, unsigned int depth,
			    const void *scope)
{
	struct elog_eh_plan *plan = parser->plan;
	uint32_t index;
	int ret;

	step->kind = ELOG_EH_STRUCT;
	step->field.type_name = "a struct";
	ret = put_step(parser, step, name, size, scope, &index);
	if (ret)
		return ret;
	/* The number makes an address that no other scope has. */
	ret = take_members(parser, count, depth, (const void *)(uintptr_t)(index + 1));
	plan->steps[index].end = plan->step_count;
	if (ret == -EBADMSG && !scope) {
		/* Without all members, the size of the elements is not known. */
		parser->step_count = plan->step_count;
		plan->step_count = index;
		plan->field_count--;
		plan->fixed_size -= sizeof(uint64_t);
	}
	return ret;
}

/* Take the bytes behind the name. Return: false: they are not all there, or not valid. */
static bool take_type(struct parser *parser, struct elog_eh_step *step, unsigned int *encoding,
		      unsigned int *format)
{
	const unsigned char *data = parser->metadata->data;
	size_t left = parser->metadata->size - parser->at;
	size_t need;

	if (!left)
		return false;
	*encoding = data[parser->at];
	need = *encoding & MORE ? 2 : 1;
	if (left < need)
		return false;
	*format = *encoding & MORE ? data[parser->at + 1] : 0;
	need += (*format & MORE ? 2 : 0) + (*encoding & FIXED_ARRAY ? 2 : 0);
	if (left < need)
		return false;
	parser->at += need;
	if (*encoding & FIXED_ARRAY) {
		step->array = ELOG_EH_FIXED_ARRAY;
		step->count = elog_eh_load16(data + parser->at - 2, parser->metadata->swap);
		if (!step->count || *encoding & VARIABLE_ARRAY)
			return false;
	} else if (*encoding & VARIABLE_ARRAY) {
		step->array = ELOG_EH_VARIABLE_ARRAY;
	}
	*encoding &= ENCODING_MASK;
	*format &= FORMAT_MASK;
	return true;
}

/*
 * Take the definition of a field. @depth: number of structs around it. @scope: see
 * name_step(). Return: 0; -EBADMSG, and the plan's torn_at is set; -ENOMEM.
 */
static int take_field(struct parser *parser, unsigned int depth, const void *scope)
{
	struct elog_eh_step step = { 0 };
	const size_t from = parser->at;
	unsigned int encoding, format;
	bool is_struct = false;
	const char *name;
	uint32_t index;
	size_t size;
	int ret = -EBADMSG;

	if (take_name(parser, &name, &size) && take_type(parser, &step, &encoding, &format)) {
		is_struct = encoding == ENCODING_STRUCT;
		if (is_struct && !scope && step.array == ELOG_EH_NO_ARRAY)
			ret = take_struct(parser, name, size, format, depth);
		else if (is_struct)
			ret = take_struct_step(parser, &step, name, size, format, depth, scope);
		else if (set_kind(parser, &step, encoding, format))
			ret = put_step(parser, &step, name, size, scope, &index);
	}
	/* A member outside of arrays has set it already, more exactly. */
	if (ret == -EBADMSG && (!is_struct || scope || step.array != ELOG_EH_NO_ARRAY ||
				!parser->plan->torn))
		parser->plan->torn_at = from;
	parser->plan->torn |= ret == -EBADMSG;
	return ret;
}

/* ------------------------------------------------------------------------
 * Plans
 */

static const struct {
	const char *name;
	enum elog_type type;
	unsigned int slot;
	unsigned int size;
} extras[ELOG_EH_EXTRAS] = {
	[ELOG_EH_METADATA] = { "metadata", ELOG_TYPE_BYTES, 0, 8 },
	[ELOG_EH_UNDECODED] = { "undecoded", ELOG_TYPE_BYTES, 8, 8 },
	[ELOG_EH_ACTIVITY] = { "activity_id", ELOG_TYPE_STRING, 16, 8 },
	[ELOG_EH_RELATED] = { "related_activity_id", ELOG_TYPE_STRING, 24, 8 },
	[ELOG_EH_METADATA_AT] = { "metadata_at", ELOG_TYPE_UNSIGNED, 32, 4 },
	[ELOG_EH_UNDECODED_AT] = { "undecoded_at", ELOG_TYPE_UNSIGNED, 36, 4 },
	[ELOG_EH_ID] = { "event_id", ELOG_TYPE_UNSIGNED, 40, 2 },
	[ELOG_EH_TAG] = { "event_tag", ELOG_TYPE_UNSIGNED, 42, 2 },
	[ELOG_EH_VERSION] = { "event_version", ELOG_TYPE_UNSIGNED, 44, 1 },
	[ELOG_EH_OPCODE] = { "opcode", ELOG_TYPE_ENUM, 45, 1 },
	[ELOG_EH_LEVEL] = { "header_level", ELOG_TYPE_UNSIGNED, 46, 1 },
};

#define EXTRAS_SIZE	48

size_t elog_eh_extra_slot(enum elog_eh_extra extra)
{
	return extras[extra].slot;
}

static int name_plan(struct parser *parser)
{
	const struct elog_eh_metadata *metadata = parser->metadata;
	const struct elog_schema_event *event = metadata->event;
	struct elog_eh_plan *plan = parser->plan;
	const char *name = "";
	size_t size = 0;

	if (metadata->data && !take_name(parser, &name, &size))
		plan->torn = true;
	plan->event.name = size ? make_event_name(name, size) : strdup(event->name);
	plan->event.description = "";
	plan->event.provider = &plan->provider;
	plan->event.id = event->id;
	plan->event.level = metadata->level;
	plan->event.keywords = metadata->keywords;
	plan->provider.name = metadata->provider_size ?
			      strndup(event->name, metadata->provider_size) :
			      strdup(event->provider->name);
	plan->provider.description = "";
	return plan->event.name && plan->provider.name ? 0 : -ENOMEM;
}

static int name_extras(struct parser *parser)
{
	unsigned int i;

	for (i = 0; i < ELOG_EH_EXTRAS; i++) {
		parser->plan->extra_names[i] = make_name(parser, extras[i].name);
		parser->plan->extra_json_names[i] = make_json_name(parser, SCOPE_JSON,
								   extras[i].name,
								   strlen(extras[i].name));
		if (!parser->plan->extra_names[i] || !parser->plan->extra_json_names[i])
			return -ENOMEM;
	}
	return 0;
}

struct elog_eh_plan *elog_eh_plan_new(const struct elog_eh_metadata *metadata)
{
	struct parser parser = { .metadata = metadata };
	struct elog_eh_plan *plan = calloc(1, sizeof(*plan));
	uint32_t used;
	int ret;

	if (!plan)
		return NULL;
	parser.plan = plan;
	plan->fixed_size = EXTRAS_SIZE;
	elog_uses_init(&parser.used);
	ret = name_plan(&parser);
	while (!ret && metadata->data && !plan->torn && parser.at < metadata->size)
		ret = take_field(&parser, 0, NULL);
	if (ret != -ENOMEM)
		ret = name_extras(&parser);
	elog_uses_free(&parser.used);
	elog_text_free(&parser.text);
	/* Their names were in use. */
	used = plan->step_count;
	plan->step_count = parser.step_count > used ? parser.step_count : used;
	drop_steps(plan, used);
	plan->bytes += sizeof(*plan) + plan->step_count * sizeof(*plan->steps);
	if (ret) {
		elog_eh_plan_free(plan);
		return NULL;
	}
	return plan;
}

void elog_eh_plan_free(struct elog_eh_plan *plan)
{
	struct elog_eh_variant *variant;
	unsigned int i;

	if (!plan)
		return;
	drop_steps(plan, 0);
	free(plan->steps);
	for (i = 0; i < ELOG_EH_EXTRAS; i++) {
		free(plan->extra_names[i]);
		free(plan->extra_json_names[i]);
	}
	while ((variant = plan->variants)) {
		plan->variants = variant->next;
		free(variant);
	}
	free((char *)plan->event.name);
	free((char *)plan->provider.name);
	free(plan);
}

/* ------------------------------------------------------------------------
 * Variants
 */

/* No payload is so long: the field is missing in it. */
#define NOWHERE	(SIZE_MAX / 2)

static void add_field(struct elog_eh_variant *variant, const struct elog_schema_field *field)
{
	struct elog_schema_event *event = &variant->event;

	variant->fields[event->field_count] = *field;
	event->fields[event->field_count] = &variant->fields[event->field_count];
	event->field_count++;
}

static void add_step_field(struct elog_eh_variant *variant, const struct elog_eh_step *step,
			   bool is_missing)
{
	struct elog_schema_field field = step->field;

	if (step->array != ELOG_EH_NO_ARRAY) {
		memset(&field, 0, sizeof(field));
		field.type = ELOG_TYPE_ARRAY;
		field.type_name = "an array";
		field.size = sizeof(uint64_t);
	}
	field.name = step->name;
	field.json_name = step->json_name;
	field.description = "";
	field.offset = is_missing ? NOWHERE : step->slot;
	add_field(variant, &field);
}

static void add_extra_field(struct elog_eh_variant *variant, const struct elog_eh_plan *plan,
			    enum elog_eh_extra extra, const struct elog_schema_set *opcodes)
{
	struct elog_schema_field field = {
		.name = plan->extra_names[extra],
		.json_name = plan->extra_json_names[extra],
		.type_name = extras[extra].name,
		.description = "",
		.type = extras[extra].type,
		.offset = extras[extra].slot,
		.size = extras[extra].size,
		.set = extra == ELOG_EH_OPCODE ? opcodes : NULL,
	};

	add_field(variant, &field);
}

static struct elog_eh_variant *new_variant(struct elog_eh_plan *plan, uint32_t stop,
					   uint32_t mask, const struct elog_schema_set *opcodes)
{
	const size_t room = plan->field_count + ELOG_EH_EXTRAS;
	struct elog_eh_variant *variant;
	uint32_t i, index = 0;
	size_t bytes;

	bytes = sizeof(*variant) + room * (sizeof(*variant->fields) + sizeof(void *));
	variant = calloc(1, bytes);
	if (!variant)
		return NULL;
	variant->stop = stop;
	variant->extras = mask;
	variant->event = plan->event;
	variant->event.fixed_size = plan->fixed_size;
	variant->event.fields = (struct elog_schema_field **)&variant->fields[room];
	for (i = 0; i < plan->step_count; i = plan->steps[i].end)
		add_step_field(variant, &plan->steps[i], index++ >= stop);
	for (i = 0; i < ELOG_EH_EXTRAS; i++)
		if (mask & 1U << i)
			add_extra_field(variant, plan, i, opcodes);
	plan->bytes += bytes;
	variant->next = plan->variants;
	plan->variants = variant;
	return variant;
}

const struct elog_schema_event *elog_eh_plan_variant(struct elog_eh_plan *plan, uint32_t stop,
						     uint32_t mask,
						     const struct elog_schema_set *opcodes)
{
	struct elog_eh_variant *variant;

	for (variant = plan->variants; variant; variant = variant->next)
		if (variant->stop == stop && variant->extras == mask)
			return &variant->event;
	variant = new_variant(plan, stop, mask, opcodes);
	return variant ? &variant->event : NULL;
}
