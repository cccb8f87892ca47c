// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace events' layouts: see trace_layout.h.
 */
#include <linux/ctype.h>
#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "compat.h"
#include "core/event.h"
#include "memory.h"
#include "core/text.h"
#include "trace/layout.h"

#if EVENTLOG_TRACE_EVENTS

enum eventlog_trace_kind {
	KIND_NUMBER,
	KIND_PORT,
	KIND_IPV4,
	KIND_IPV6,
	KIND_MAC,
	KIND_CHARS,
	KIND_HEX,		/* so many bytes */
	KIND_STRUCT,
	KIND_ENUM,
	KIND_FLAGS,
	KIND_STRING,
	KIND_BYTES,
	KIND_STRING_REL,
	KIND_BYTES_REL,
};

/* A member of an enum or of flags. */
struct eventlog_trace_value {
	u64 value;
	const char *name;
};

/**
 * struct eventlog_trace_field - a field as it is printed
 * @name: its name
 * @kind: how
 * @is_signed: a number that is
 * @hex: a number to be shown so
 * @position: in the record
 * @bytes: of the fixed part
 * @values: of an enum or flags
 * @value_count: their number
 * @type: as ftrace shows it
 */
struct eventlog_trace_field {
	const char *name;
	enum eventlog_trace_kind kind;
	bool is_signed;
	bool hex;
	u32 position;
	u32 bytes;
	const struct eventlog_trace_value *values;
	unsigned int value_count;
	char type[sizeof("struct ") + EVENTLOG_NAME_MAX];
};

/*
 * Types without a parameter.  ftrace takes for a string what has "char" and a
 * bracket in its type's name.
 */
static const struct {
	const char *schema;
	const char *type;
	enum eventlog_trace_kind kind;
	u8 bytes;
	bool is_signed;
	bool hex;
} eventlog_trace_types[] = {
	{ "u8", "u8", KIND_NUMBER, 1 },
	{ "u16", "u16", KIND_NUMBER, 2 },
	{ "u32", "u32", KIND_NUMBER, 4 },
	{ "u64", "u64", KIND_NUMBER, 8 },
	{ "s8", "s8", KIND_NUMBER, 1, .is_signed = true },
	{ "s16", "s16", KIND_NUMBER, 2, .is_signed = true },
	{ "s32", "s32", KIND_NUMBER, 4, .is_signed = true },
	{ "s64", "s64", KIND_NUMBER, 8, .is_signed = true },
	{ "bool", "bool", KIND_NUMBER, 1 },
	{ "time", "u64", KIND_NUMBER, 8 },
	{ "duration", "u64", KIND_NUMBER, 8 },
	{ "ptr", "u64", KIND_NUMBER, 8, .hex = true },
	{ "port", "u16", KIND_PORT, 2 },
	{ "ipv4", "u8[4]", KIND_IPV4, 4 },
	{ "ipv6", "u8[16]", KIND_IPV6, 16 },
	{ "mac", "u8[6]", KIND_MAC, 6 },
	{ "string", "__data_loc char[]", KIND_STRING, 4 },
	{ "bytes", "__data_loc u8[]", KIND_BYTES, 4 },
	{ "string:rel", "__rel_loc char[]", KIND_STRING_REL, 4 },
	{ "bytes:rel", "__rel_loc u8[]", KIND_BYTES_REL, 4 },
};

/* ---- reading a definition ---- */

static unsigned int eventlog_count_fields(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += *text == '\t';
	return count;
}

/* The set of an "enum:NAME:INT" or "flags:NAME:INT"; @rest is behind the first colon. */
static const struct eventlog_set *eventlog_trace_set(const struct eventlog_event *event,
						     const char *rest, bool flags)
{
	const struct eventlog_provider *provider = event->provider->kernel;
	size_t length = strcspn(rest, ":");
	unsigned int i;

	for (i = 0; provider && i < provider->set_count; i++) {
		const struct eventlog_set *set = &provider->sets[i];

		if (set->flags == flags && strlen(set->name) == length &&
		    !strncmp(set->name, rest, length))
			return set;
	}
	return NULL;
}

static bool eventlog_trace_plain_type(struct eventlog_trace_field *field, const char *type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eventlog_trace_types); i++) {
		if (strcmp(type, eventlog_trace_types[i].schema))
			continue;
		field->kind = eventlog_trace_types[i].kind;
		field->bytes = eventlog_trace_types[i].bytes;
		field->is_signed = eventlog_trace_types[i].is_signed;
		field->hex = eventlog_trace_types[i].hex;
		strscpy(field->type, eventlog_trace_types[i].type, sizeof(field->type));
		return true;
	}
	return false;
}

/*
 * Understands a type of the schema language; the definition has been checked
 * when it was made.
 */
static bool eventlog_trace_type(struct eventlog_trace_field *field, const char *type)
{
	const char *colon = strchr(type, ':'), *integer = colon ? strchr(colon + 1, ':') : NULL;

	if (eventlog_trace_plain_type(field, type))
		return true;
	if (sscanf(type, "char[%u]", &field->bytes) == 1) {
		field->kind = KIND_CHARS;
		strscpy(field->type, type, sizeof(field->type));
		return true;
	}
	if (sscanf(type, "u8[%u]", &field->bytes) == 1) {
		field->kind = KIND_HEX;
		strscpy(field->type, type, sizeof(field->type));
		return true;
	}
	if (!integer)
		return false;
	if (!strncmp(type, "struct:", 7)) {
		field->kind = KIND_STRUCT;
		if (kstrtou32(integer + 1, 10, &field->bytes))
			return false;
		snprintf(field->type, sizeof(field->type), "struct %.*s",
			 (int)(integer - colon - 1), colon + 1);
		/* Processes choose tags; ftrace looks for these words anywhere in a type. */
		if (strstr(field->type, "__data_loc") || strstr(field->type, "__rel_loc"))
			snprintf(field->type, sizeof(field->type), "u8[%u]", field->bytes);
		return true;
	}
	if (!eventlog_trace_plain_type(field, integer + 1))
		return false;
	field->kind = strncmp(type, "enum:", 5) ? KIND_FLAGS : KIND_ENUM;
	return true;
}

/* How much the members of all sets that the fields use take. */
struct eventlog_trace_sets {
	unsigned int count;
	size_t bytes;
};

static void eventlog_trace_set_measure(struct eventlog_trace_sets *sets,
				       const struct eventlog_set *set)
{
	unsigned int i;

	for (i = 0; i < set->value_count; i++)
		sets->bytes += strlen(set->values[i].name) + 1;
	sets->count += set->value_count;
}

static void eventlog_trace_set_copy(struct eventlog_trace_field *field,
				    const struct eventlog_set *set,
				    struct eventlog_trace_value **value, char **name)
{
	unsigned int i;

	field->values = *value;
	field->value_count = set->value_count;
	for (i = 0; i < set->value_count; i++, (*value)++) {
		(*value)->value = set->values[i].value;
		(*value)->name = *name;
		*name += strlen(strcpy(*name, set->values[i].name)) + 1;
	}
}

/*
 * Cuts the layout's copy of a definition's lines into fields.  @types gets
 * where each one's type is.
 */
static bool eventlog_trace_fields_cut(struct eventlog_trace_layout *layout, const char **types)
{
	char *rest = layout->text, *line;
	u32 position = 0;

	while ((line = strsep(&rest, "\n"))) {
		struct eventlog_trace_field *field = &layout->fields[layout->field_count];
		char *as;

		if (*line++ != '\t')
			continue;
		types[layout->field_count] = strsep(&line, " ");
		field->name = strsep(&line, " ");
		if (!field->name || !eventlog_trace_type(field, types[layout->field_count]))
			return false;
		as = line ? strsep(&line, " ") : NULL;
		if (as && !strcmp(as, "as"))
			field->hex = !strncmp(line, "hex", 3);
		field->position = position;
		position += field->bytes;
		layout->field_count++;
	}
	layout->fixed_bytes = position;
	return true;
}

/* Says what stands before the payload, and places the fields behind it. */
static void eventlog_trace_header(struct eventlog_trace_layout *layout, bool session)
{
	unsigned int i;

	/* A field of that name is meant to be found by it. */
	for (i = 0; i < layout->field_count; i++)
		session = session && strcmp(layout->fields[i].name, "session");
	layout->session = session;
	layout->header_bytes = sizeof(struct trace_entry) + (session ? sizeof(u64) : 0);
	layout->fixed_bytes += layout->header_bytes;
	for (i = 0; i < layout->field_count; i++)
		layout->fields[i].position += layout->header_bytes;
}

static bool eventlog_trace_sets_copy(struct eventlog_trace_layout *layout,
				     const struct eventlog_event *event, const char **types)
{
	struct eventlog_trace_sets sets = {};
	struct eventlog_trace_value *value;
	const struct eventlog_set *set;
	unsigned int i;
	char *name;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		if (pass) {
			layout->values = eventlog_alloc(sets.count * sizeof(*value) + sets.bytes);
			if (!layout->values)
				return false;
			value = layout->values;
			name = (char *)(value + sets.count);
		}
		for (i = 0; i < layout->field_count; i++) {
			struct eventlog_trace_field *field = &layout->fields[i];

			if (field->kind != KIND_ENUM && field->kind != KIND_FLAGS)
				continue;
			set = eventlog_trace_set(event, strchr(types[i], ':') + 1,
						 field->kind == KIND_FLAGS);
			if (set && pass)
				eventlog_trace_set_copy(field, set, &value, &name);
			else if (set)
				eventlog_trace_set_measure(&sets, set);
		}
		if (!sets.count)
			break;
	}
	return true;
}

/* ---- for ftrace ---- */

static void eventlog_ftrace_field(struct trace_event_fields *to, const char *type,
				  const char *name, u32 bytes, bool is_signed)
{
	const char *bracket = strchr(type, '[');
	/* Its members are constant. */
	const struct trace_event_fields field = {
		.type = type,
		.name = name,
		.size = bytes,
		.align = 1,
		.is_signed = is_signed,
		.filter_type = FILTER_OTHER,
		.len = bracket && bracket[1] != ']' ? bytes : 0,
	};

	memcpy(to, &field, sizeof(field));
}

static void eventlog_ftrace_fields(struct eventlog_trace_layout *layout)
{
	struct trace_event_fields *to = layout->ftrace_fields;
	unsigned int i;

	if (layout->session)
		eventlog_ftrace_field(to++, "u64", "session", sizeof(u64), false);
	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];

		eventlog_ftrace_field(to++, field->type, field->name, field->bytes,
				      field->is_signed || field->kind == KIND_CHARS);
	}
}

static void eventlog_trace_patches(struct eventlog_trace_layout *layout)
{
	unsigned int i;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];
		struct eventlog_trace_patch *patch = &layout->patches[layout->patch_count];

		patch->position = field->position - layout->header_bytes;
		if (field->kind == KIND_STRING || field->kind == KIND_BYTES)
			patch->fix = EVENTLOG_TRACE_FIX_WORD;
		else if (field->kind == KIND_PORT)
			patch->fix = EVENTLOG_TRACE_FIX_PORT;
		else
			continue;
		layout->patch_count++;
	}
}

/* ---- the format ---- */

static const char *eventlog_trace_number_format(const struct eventlog_trace_field *field)
{
	if (field->hex)
		return field->bytes == 8 ? "0x%llx" : "0x%x";
	if (field->bytes == 8)
		return field->is_signed ? "%lld" : "%llu";
	if (!field->is_signed)
		return "%u";
	/* libtraceevent takes small numbers for unsigned unless it is told their size. */
	return field->bytes == 1 ? "%hhd" : field->bytes == 2 ? "%hd" : "%d";
}

static const char *eventlog_trace_format(const struct eventlog_trace_field *field)
{
	switch (field->kind) {
	case KIND_NUMBER:
		return eventlog_trace_number_format(field);
	case KIND_PORT:
		return "%u";
	case KIND_IPV4:
		return "%pI4";
	case KIND_IPV6:
		return "%pI6c";
	case KIND_MAC:
		return "%pM";
	default:
		return "%s";
	}
}

static void eventlog_trace_values_write(struct eventlog_text *text,
					const struct eventlog_trace_field *field)
{
	unsigned int i;

	if (field->kind == KIND_FLAGS)
		eventlog_text_print(text, "__print_flags(REC->%s, \"|\"", field->name);
	else
		eventlog_text_print(text, "__print_symbolic(REC->%s", field->name);
	for (i = 0; i < field->value_count; i++)
		eventlog_text_print(text, field->is_signed ? ", { %lld, \"%s\" }" :
							     ", { 0x%llx, \"%s\" }",
				    field->values[i].value, field->values[i].name);
	eventlog_text_print(text, ")");
}

static void eventlog_trace_argument_write(struct eventlog_text *text,
					  const struct eventlog_trace_field *field)
{
	const char *name = field->name;

	switch (field->kind) {
	case KIND_ENUM:
	case KIND_FLAGS:
		eventlog_trace_values_write(text, field);
		break;
	case KIND_HEX:
		eventlog_text_print(text, "__print_hex(REC->%s, %u)", name, field->bytes);
		break;
	case KIND_STRING:
		eventlog_text_print(text, "__get_str(%s)", name);
		break;
	case KIND_STRING_REL:
		eventlog_text_print(text, "__get_rel_str(%s)", name);
		break;
	case KIND_BYTES:
		eventlog_text_print(text,
				    "__print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))",
				    name, name);
		break;
	case KIND_BYTES_REL:
		eventlog_text_print(text,
				    "__print_hex(__get_rel_dynamic_array(%s), __get_rel_dynamic_array_len(%s))",
				    name, name);
		break;
	default:
		eventlog_text_print(text, "REC->%s", name);
	}
}

/* Nobody but its program knows what is in a struct: it is left out. */
static bool eventlog_trace_printable(const struct eventlog_trace_field *field)
{
	return field->kind != KIND_STRUCT;
}

static void eventlog_trace_format_write(struct eventlog_text *text, const void *context)
{
	const struct eventlog_trace_layout *layout = context;
	const char *blank = "";
	unsigned int i;

	eventlog_text_print(text, "\"");
	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];

		if (!eventlog_trace_printable(field))
			continue;
		eventlog_text_print(text, "%s%s=%s", blank, field->name,
				    eventlog_trace_format(field));
		blank = " ";
	}
	eventlog_text_print(text, layout->session ? "%ssession=%%llu\"" : "\"", blank);
	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];

		if (!eventlog_trace_printable(field))
			continue;
		eventlog_text_print(text, ", ");
		eventlog_trace_argument_write(text, field);
	}
	if (layout->session)
		eventlog_text_print(text, ", REC->session");
}

/* ---- printing ---- */

static u64 eventlog_trace_number(const struct eventlog_trace_field *field, const u8 *at)
{
	switch (field->bytes) {
	case 1:
		return field->is_signed ? (s8)*at : *at;
	case 2:
		return field->is_signed ? (s16)get_unaligned((u16 *)at) : get_unaligned((u16 *)at);
	case 4:
		return field->is_signed ? (s32)get_unaligned((u32 *)at) : get_unaligned((u32 *)at);
	default:
		return get_unaligned((u64 *)at);
	}
}

static void eventlog_trace_number_print(const struct eventlog_trace_field *field,
					struct trace_seq *seq, u64 number)
{
	trace_seq_printf(seq, field->hex ? "0x%llx" : field->is_signed ? "%lld" : "%llu", number);
}

static void eventlog_trace_enum_print(const struct eventlog_trace_field *field,
				      struct trace_seq *seq, u64 number)
{
	unsigned int i;

	for (i = 0; i < field->value_count; i++) {
		if (field->values[i].value == number) {
			trace_seq_puts(seq, field->values[i].name);
			return;
		}
	}
	eventlog_trace_number_print(field, seq, number);
}

static void eventlog_trace_flags_print(const struct eventlog_trace_field *field,
				       struct trace_seq *seq, u64 number)
{
	const char *bar = "";
	unsigned int i;

	for (i = 0; i < field->value_count; i++) {
		u64 mask = field->values[i].value;

		if (!mask || (number & mask) != mask)
			continue;
		number &= ~mask;
		trace_seq_printf(seq, "%s%s", bar, field->values[i].name);
		bar = "|";
	}
	if (number || !*bar)
		trace_seq_printf(seq, "%s0x%llx", bar, number);
}

static void eventlog_trace_hex_print(struct trace_seq *seq, const u8 *at, u32 bytes)
{
	while (bytes--)
		trace_seq_printf(seq, "%02x", *at++);
}

/* Whoever wrote a text may have meant to forge lines. */
static void eventlog_trace_text_print(struct trace_seq *seq, const u8 *at, u32 bytes)
{
	trace_seq_printf(seq, "%*pE", (int)strnlen(at, bytes), at);
}

/* A dynamic field; the record may be a stranger's, so its words are not trusted. */
static void eventlog_trace_dynamic_print(const struct eventlog_trace_field *field,
					 struct trace_seq *seq, const u8 *record, u32 bytes)
{
	u32 word = get_unaligned((u32 *)(record + field->position));
	bool relative = field->kind == KIND_STRING_REL || field->kind == KIND_BYTES_REL;
	u32 start = (word & 0xffff) + (relative ? field->position + field->bytes : 0);
	u32 size = word >> 16;

	if (start > bytes || size > bytes - start)
		trace_seq_puts(seq, "?");
	else if (field->kind == KIND_STRING || field->kind == KIND_STRING_REL)
		eventlog_trace_text_print(seq, record + start, size);
	else
		eventlog_trace_hex_print(seq, record + start, size);
}

static void eventlog_trace_field_print(const struct eventlog_trace_field *field,
				       struct trace_seq *seq, const u8 *record, u32 bytes)
{
	const u8 *at = record + field->position;

	switch (field->kind) {
	case KIND_NUMBER:
	case KIND_PORT:
		eventlog_trace_number_print(field, seq, eventlog_trace_number(field, at));
		break;
	case KIND_ENUM:
		eventlog_trace_enum_print(field, seq, eventlog_trace_number(field, at));
		break;
	case KIND_FLAGS:
		eventlog_trace_flags_print(field, seq, eventlog_trace_number(field, at));
		break;
	case KIND_IPV4:
		trace_seq_printf(seq, "%pI4", at);
		break;
	case KIND_IPV6:
		trace_seq_printf(seq, "%pI6c", at);
		break;
	case KIND_MAC:
		trace_seq_printf(seq, "%pM", at);
		break;
	case KIND_CHARS:
		eventlog_trace_text_print(seq, at, field->bytes);
		break;
	case KIND_HEX:
	case KIND_STRUCT:
		eventlog_trace_hex_print(seq, at, field->bytes);
		break;
	default:
		eventlog_trace_dynamic_print(field, seq, record, bytes);
	}
}

void eventlog_trace_layout_print(const struct eventlog_trace_layout *layout,
				 struct trace_seq *seq, const void *record, u32 bytes)
{
	unsigned int i;

	trace_seq_printf(seq, "%s:", layout->name);
	if (bytes < layout->fixed_bytes) {
		trace_seq_puts(seq, " (recorded by an event that is no more)\n");
		return;
	}
	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];

		if (!eventlog_trace_printable(field))
			continue;
		trace_seq_printf(seq, " %s=", field->name);
		eventlog_trace_field_print(field, seq, record, bytes);
	}
	if (layout->session)
		trace_seq_printf(seq, " session=%llu",
				 get_unaligned((u64 *)(record + sizeof(struct trace_entry))));
	trace_seq_putc(seq, '\n');
}

/* ---- all of it ---- */

/* A group of that name is the kernel's, or has things of another kind in it. */
static bool eventlog_trace_group_taken(const char *group)
{
	/* The second line: what is in tracefs beside the groups, or means none. */
	static const char *const taken[] = {
		"ftrace", "eventlog",
		"enable", "header_page", "header_event", "TRACE_SYSTEM",
	};

	return match_string(taken, ARRAY_SIZE(taken), group) >= 0 ||
	       (IS_ENABLED(CONFIG_USER_EVENTS) && !strcmp(group, EVENTLOG_DEFAULT_PROVIDER));
}

static void eventlog_trace_names(struct eventlog_trace_layout *layout,
				 const struct eventlog_event *event)
{
	char group[EVENTLOG_NAME_MAX], *c;

	strscpy(layout->name, event->name, sizeof(layout->name));
	strscpy(group, event->provider->name, sizeof(group));
	for (c = group; *c; c++)
		if (!isascii(*c) || !isalnum(*c))
			*c = '_';
	if (!eventlog_trace_group_taken(group))
		strscpy(layout->group, group, sizeof(layout->group));
	/* As the kernel's user_events has that group, "eventlog_user" is what people look for. */
	else if (!strcmp(group, EVENTLOG_DEFAULT_PROVIDER))
		strscpy(layout->group, "eventlog_user", sizeof(layout->group));
	else
		snprintf(layout->group, sizeof(layout->group), "eventlog_%s", group);
}

/* ftrace's own limit: a field's offset and size are 16 bits for some of its users. */
#define EVENTLOG_TRACE_FIXED_MAX U16_MAX

struct eventlog_trace_layout *eventlog_trace_layout_new(const struct eventlog_event *event)
{
	unsigned int count = eventlog_count_fields(event->fields_text);
	struct eventlog_trace_layout *layout;
	const char **types;
	bool done = false;

	layout = eventlog_alloc(sizeof(*layout));
	types = eventlog_alloc((count + 1) * sizeof(*types));
	if (!layout || !types)
		goto out;
	layout->text = eventlog_alloc(strlen(event->fields_text) + 1);
	layout->fields = eventlog_alloc((count + 1) * sizeof(*layout->fields));
	layout->patches = eventlog_alloc((count + 1) * sizeof(*layout->patches));
	layout->ftrace_fields = eventlog_alloc((count + 2) * sizeof(*layout->ftrace_fields));
	if (!layout->text || !layout->fields || !layout->patches || !layout->ftrace_fields)
		goto out;
	strcpy(layout->text, event->fields_text);
	eventlog_trace_names(layout, event);
	if (!eventlog_trace_fields_cut(layout, types) ||
	    !eventlog_trace_sets_copy(layout, event, types))
		goto out;
	/* Kernel providers answer for theirs, as nobody but they can emit them. */
	layout->validate = event->layout->dynamic_count && !event->provider->preamble;
	eventlog_trace_header(layout, strcmp(event->provider->name, EVENTLOG_DEFAULT_PROVIDER));
	if (layout->fixed_bytes > EVENTLOG_TRACE_FIXED_MAX)
		goto out;
	eventlog_ftrace_fields(layout);
	eventlog_trace_patches(layout);
	layout->print_fmt = eventlog_text_make(eventlog_trace_format_write, layout, NULL);
	done = layout->print_fmt;
out:
	eventlog_free(types);
	if (done)
		return layout;
	eventlog_trace_layout_free(layout);
	return NULL;
}

void eventlog_trace_layout_free(struct eventlog_trace_layout *layout)
{
	if (!layout)
		return;
	eventlog_free(layout->print_fmt);
	eventlog_free(layout->ftrace_fields);
	eventlog_free(layout->patches);
	eventlog_free(layout->fields);
	eventlog_free(layout->values);
	eventlog_free(layout->text);
	eventlog_free(layout);
}

#endif /* EVENTLOG_TRACE_EVENTS */
