// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of trace events, and printing of their records: see layout.h.
 */
#include <linux/ctype.h>
#include <linux/dcache.h>
#include <linux/eventlog.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "compat.h"
#include "common/field_type.h"
#include "core/event.h"
#include "core/schema.h"
#include "memory.h"
#include "core/text.h"
#include "trace/layout.h"

#if EVENTLOG_TRACE_EVENTS

/* A member of an enum or flags type. */
struct eventlog_trace_value {
	u64 value;
	const char *name;
};

/**
 * struct eventlog_trace_field - a field, for printing
 * @name: name of the field
 * @kind: how the field is stored and printed
 * @is_signed: it is a signed number
 * @relative: the offset of a string or bytes counts from behind the word
 * @hex: the number is printed in hexadecimal
 * @position: offset in the record
 * @bytes: size in the fixed part
 * @values: members of the enum or flags type
 * @value_count: number of @values
 * @type: name of the type in ftrace; the long name of a struct is cut
 */
struct eventlog_trace_field {
	const char *name;
	enum eventlog_field_kind kind;
	bool is_signed;
	bool relative;
	bool hex;
	u32 position;
	u32 bytes;
	const struct eventlog_trace_value *values;
	unsigned int value_count;
	char type[72];
};

/* Allocates a part of a layout. */
static void *eventlog_trace_alloc(struct eventlog_trace_layout *layout, size_t bytes)
{
	layout->bytes += kmalloc_size_roundup(bytes);
	return eventlog_alloc(bytes);
}

/* ---- reading a definition ---- */

static unsigned int eventlog_count_fields(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += *text == '\t';
	return count;
}

/* Parses a type of the schema language.  The definition was checked at registration. */
static bool eventlog_trace_type(struct eventlog_trace_field *field, const char *type)
{
	struct eventlog_field_shape shape;

	if (eventlog_field_shape_parse(type, strlen(type), &shape))
		return false;
	field->kind = shape.kind;
	field->bytes = shape.bytes;
	field->is_signed = shape.is_signed;
	field->relative = shape.relative;
	field->hex = shape.kind == EVENTLOG_KIND_PTR;
	if (shape.type)
		strscpy(field->type, eventlog_field_types[shape.type].trace_name,
			sizeof(field->type));
	else if (shape.kind == EVENTLOG_KIND_STRUCT)
		snprintf(field->type, sizeof(field->type), "struct %.*s", (int)shape.name_bytes,
			 shape.name);
	else
		snprintf(field->type, sizeof(field->type), "%.*s[%u]", (int)shape.name_bytes,
			 shape.name, shape.bytes);
	/* ftrace searches types for these words, and processes choose the tag freely. */
	if (shape.kind == EVENTLOG_KIND_STRUCT &&
	    (strstr(field->type, "__data_loc") || strstr(field->type, "__rel_loc")))
		snprintf(field->type, sizeof(field->type), "u8[%u]", field->bytes);
	return true;
}

/* Space needed for the members of all sets that the fields use. */
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

/* Replaces the name of a type by the next line of @shown; returns the text behind it. */
static const char *eventlog_trace_type_show(struct eventlog_trace_field *field, const char *shown)
{
	size_t length;

	if (!shown)
		return NULL;
	length = strcspn(shown, "\n");
	if (field->kind != EVENTLOG_KIND_STRUCT)
		snprintf(field->type, sizeof(field->type), "%.*s", (int)length, shown);
	return shown + length + (shown[length] == '\n');
}

/*
 * Splits the layout's copy of a definition's lines into fields.  Stores a pointer to the
 * type of each field in @types.  @shown: see struct eventlog_fields.types.
 */
static bool eventlog_trace_fields_cut(struct eventlog_trace_layout *layout, const char **types,
				      const char *shown)
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
		shown = eventlog_trace_type_show(field, shown);
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

/* Sets the size of the header before the payload, and moves the fields behind it. */
static void eventlog_trace_header(struct eventlog_trace_layout *layout, bool session)
{
	unsigned int i;

	/* If a field is named "session", the event has no other: names must be unique. */
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
	const struct eventlog_provider *provider = eventlog_event_sets(event);
	struct eventlog_trace_value *value;
	struct eventlog_field_shape shape;
	const struct eventlog_set *set;
	unsigned int i;
	char *name;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		if (pass) {
			layout->values = eventlog_trace_alloc(layout, sets.count * sizeof(*value) +
								      sets.bytes);
			if (!layout->values)
				return false;
			value = layout->values;
			name = (char *)(value + sets.count);
		}
		for (i = 0; i < layout->field_count; i++) {
			struct eventlog_trace_field *field = &layout->fields[i];

			if (eventlog_field_shape_parse(types[i], strlen(types[i]), &shape) ||
			    !eventlog_shape_has_set(&shape))
				continue;
			set = eventlog_set_find(provider, &shape);
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
	/* The members of struct trace_event_fields are const: assign all of them at once. */
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
				      field->is_signed || field->kind == EVENTLOG_KIND_CHARS);
	}
}

static void eventlog_trace_patches(struct eventlog_trace_layout *layout)
{
	unsigned int i;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_trace_field *field = &layout->fields[i];
		struct eventlog_trace_patch *patch = &layout->patches[layout->patch_count];

		patch->position = field->position - layout->header_bytes;
		if ((field->kind == EVENTLOG_KIND_STRING || field->kind == EVENTLOG_KIND_BYTES) &&
		    !field->relative)
			patch->fix = EVENTLOG_TRACE_FIX_WORD;
		else if (field->kind == EVENTLOG_KIND_PORT)
			patch->fix = EVENTLOG_TRACE_FIX_PORT;
		else
			continue;
		layout->patch_count++;
	}
}

/* ---- the format ---- */

static const char *eventlog_trace_number_format(const struct eventlog_trace_field *field,
						bool plain)
{
	if (field->hex)
		return field->bytes == 8 ? "0x%llx" : "0x%x";
	if (field->bytes == 8)
		return field->is_signed ? "%lld" : "%llu";
	if (!field->is_signed)
		return "%u";
	/* libtraceevent prints small numbers as unsigned unless the format has their size. */
	if (plain)
		return "%d";
	return field->bytes == 1 ? "%hhd" : field->bytes == 2 ? "%hd" : "%d";
}

static const char *eventlog_trace_format(const struct eventlog_trace_field *field, bool plain)
{
	switch (field->kind) {
	case EVENTLOG_KIND_CHARS:
	case EVENTLOG_KIND_OCTETS:
	case EVENTLOG_KIND_STRING:
	case EVENTLOG_KIND_BYTES:
	case EVENTLOG_KIND_ENUM:
	case EVENTLOG_KIND_FLAGS:
	case EVENTLOG_KIND_STRUCT:
		return "%s";
	case EVENTLOG_KIND_PORT:
		return "%u";
	case EVENTLOG_KIND_IPV4:
		return "%pI4";
	case EVENTLOG_KIND_IPV6:
		return "%pI6c";
	case EVENTLOG_KIND_MAC:
		return "%pM";
	default:
		return eventlog_trace_number_format(field, plain);
	}
}

static void eventlog_trace_values_write(struct eventlog_text *text,
					const struct eventlog_trace_field *field)
{
	unsigned int i;

	if (field->kind == EVENTLOG_KIND_FLAGS)
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
	const char *relative = field->relative ? "rel_" : "";
	const char *name = field->name;

	switch (field->kind) {
	case EVENTLOG_KIND_ENUM:
	case EVENTLOG_KIND_FLAGS:
		eventlog_trace_values_write(text, field);
		break;
	case EVENTLOG_KIND_OCTETS:
		eventlog_text_print(text, "__print_hex(REC->%s, %u)", name, field->bytes);
		break;
	case EVENTLOG_KIND_STRING:
		eventlog_text_print(text, "__get_%sstr(%s)", relative, name);
		break;
	case EVENTLOG_KIND_BYTES:
		eventlog_text_print(text,
				    "__print_hex(__get_%sdynamic_array(%s), "
				    "__get_%sdynamic_array_len(%s))",
				    relative, name, relative, name);
		break;
	default:
		eventlog_text_print(text, "REC->%s", name);
	}
}

/* Structs are not printed: only the program knows their content. */
static bool eventlog_trace_printable(const struct eventlog_trace_field *field)
{
	return field->kind != EVENTLOG_KIND_STRUCT;
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
				    eventlog_trace_format(field, layout->plain));
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
	return eventlog_integer_load(at, field->bytes, field->is_signed);
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
	const bool none = !number;
	const char *bar = "";
	unsigned int i;

	for (i = 0; i < field->value_count; i++) {
		u64 mask = field->values[i].value;

		/* A flag without bits names the value 0. */
		if (mask ? (number & mask) != mask : !none)
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

/* Escapes a string, so that its producer cannot forge lines of the trace. */
static void eventlog_trace_text_print(struct trace_seq *seq, const u8 *at, u32 bytes)
{
	trace_seq_printf(seq, "%*pE", (int)strnlen(at, bytes), at);
}

/* Prints a dynamic field.  Its word is not trusted: the record may be of another event. */
static void eventlog_trace_dynamic_print(const struct eventlog_trace_field *field,
					 struct trace_seq *seq, const u8 *record, u32 bytes)
{
	u32 word = get_unaligned((u32 *)(record + field->position));
	u32 start = (word & 0xffff) + (field->relative ? field->position + field->bytes : 0);
	u32 size = word >> 16;

	if (start > bytes || size > bytes - start)
		trace_seq_puts(seq, "?");
	else if (field->kind == EVENTLOG_KIND_STRING)
		eventlog_trace_text_print(seq, record + start, size);
	else
		eventlog_trace_hex_print(seq, record + start, size);
}

static void eventlog_trace_field_print(const struct eventlog_trace_field *field,
				       struct trace_seq *seq, const u8 *record, u32 bytes)
{
	const u8 *at = record + field->position;

	switch (field->kind) {
	case EVENTLOG_KIND_ENUM:
		eventlog_trace_enum_print(field, seq, eventlog_trace_number(field, at));
		break;
	case EVENTLOG_KIND_FLAGS:
		eventlog_trace_flags_print(field, seq, eventlog_trace_number(field, at));
		break;
	case EVENTLOG_KIND_IPV4:
		trace_seq_printf(seq, "%pI4", at);
		break;
	case EVENTLOG_KIND_IPV6:
		trace_seq_printf(seq, "%pI6c", at);
		break;
	case EVENTLOG_KIND_MAC:
		trace_seq_printf(seq, "%pM", at);
		break;
	case EVENTLOG_KIND_CHARS:
		eventlog_trace_text_print(seq, at, field->bytes);
		break;
	case EVENTLOG_KIND_OCTETS:
	case EVENTLOG_KIND_STRUCT:
		eventlog_trace_hex_print(seq, at, field->bytes);
		break;
	case EVENTLOG_KIND_STRING:
	case EVENTLOG_KIND_BYTES:
		eventlog_trace_dynamic_print(field, seq, record, bytes);
		break;
	default:
		eventlog_trace_number_print(field, seq, eventlog_trace_number(field, at));
	}
}

void eventlog_trace_layout_print(const struct eventlog_trace_layout *layout,
				 struct trace_seq *seq, const void *record, u32 bytes)
{
	unsigned int i;

	trace_seq_printf(seq, "%s:", layout->name);
	if (bytes < layout->fixed_bytes) {
		trace_seq_puts(seq, " (recorded by a removed event)\n");
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

/* ---- making a layout ---- */

static bool eventlog_trace_name_allows(char c, bool first, bool plain)
{
	if (isascii(c) && (isalnum(c) || c == '_'))
		return true;
	return plain && isascii(c) && isgraph(c) && c != '/' && !(first && c == '.');
}

/*
 * Makes the name of a directory in tracefs: @prefix, and @name with "_" for characters
 * that identifiers do not have; if @plain, only for those that file names cannot have.  A
 * name that is too long ends in "_" and a hash.
 */
static char *eventlog_trace_name_make(struct eventlog_trace_layout *layout, const char *prefix,
				      const char *name, bool plain)
{
	size_t prefix_bytes = strlen(prefix), bytes = strlen(name);
	char *made = eventlog_trace_alloc(layout, prefix_bytes + bytes + EVENTLOG_TRACE_SUFFIX + 1);
	char *c;
	const size_t most = NAME_MAX - EVENTLOG_TRACE_SUFFIX - prefix_bytes;

	if (!made)
		return NULL;
	memcpy(made, prefix, prefix_bytes);
	c = memcpy(made + prefix_bytes, name, bytes + 1);
	for (; *c; c++)
		if (!eventlog_trace_name_allows(*c, c == made + prefix_bytes, plain))
			*c = '_';
	if (bytes > most)
		sprintf(made + prefix_bytes + most - 9, "_%08x", jhash(name, bytes, 0));
	return made;
}

/* Limit of ftrace: some of its code has 16 bits for the offset and size of a field. */
#define EVENTLOG_TRACE_FIXED_MAX U16_MAX

struct eventlog_trace_layout *eventlog_trace_layout_new(const struct eventlog_event *event)
{
	unsigned int count = eventlog_count_fields(event->fields_text);
	struct eventlog_trace_layout *layout;
	bool plain = event->trace.flags & EVENTLOG_TRACE_PLAIN;
	const char **types;
	bool done = false;

	layout = eventlog_alloc(sizeof(*layout));
	types = eventlog_alloc((count + 1) * sizeof(*types));
	if (!layout || !types)
		goto out;
	layout->bytes = kmalloc_size_roundup(sizeof(*layout));
	layout->text = eventlog_trace_alloc(layout, strlen(event->fields_text) + 1);
	layout->fields = eventlog_trace_alloc(layout, (count + 1) * sizeof(*layout->fields));
	layout->patches = eventlog_trace_alloc(layout, (count + 1) * sizeof(*layout->patches));
	layout->ftrace_fields = eventlog_trace_alloc(layout, (count + 2) *
							     sizeof(*layout->ftrace_fields));
	layout->group = eventlog_trace_name_make(layout, plain ? "" : event->domain->trace_group,
						 event->provider->name, plain);
	layout->name = eventlog_trace_name_make(layout, "", event->name, plain);
	if (!layout->text || !layout->fields || !layout->patches || !layout->ftrace_fields ||
	    !layout->group || !layout->name)
		goto out;
	strcpy(layout->text, event->fields_text);
	layout->plain = plain;
	layout->unique = event->trace.flags & EVENTLOG_TRACE_UNIQUE;
	if (!eventlog_trace_fields_cut(layout, types, event->types) ||
	    !eventlog_trace_sets_copy(layout, event, types))
		goto out;
	/* A kernel provider emits its events itself: its payloads are trusted. */
	layout->validate = event->layout->dynamic_count && !event->provider->preamble;
	eventlog_trace_header(layout, !plain && strcmp(event->provider->name,
						       EVENTLOG_DEFAULT_PROVIDER));
	if (layout->fixed_bytes > EVENTLOG_TRACE_FIXED_MAX)
		goto out;
	eventlog_ftrace_fields(layout);
	eventlog_trace_patches(layout);
	layout->print_fmt = eventlog_text_make(eventlog_trace_format_write, layout, NULL,
					       eventlog_alloc);
	done = layout->print_fmt;
	if (done)
		layout->bytes += kmalloc_size_roundup(strlen(layout->print_fmt) + 1);
out:
	eventlog_free(types);
	if (done)
		return layout;
	eventlog_trace_layout_free(layout);
	return NULL;
}

/* ---- memory ---- */

/* A copy of struct ftrace_event_field, which the kernel does not export. */
struct eventlog_ftrace_event_field {
	struct list_head link;
	const char *name;
	const char *type;
	int filter_type;
	int offset;
	int size;
	int is_signed;
	int len;
};

/* The files of an event in tracefs, and its directory. */
#define EVENTLOG_TRACE_INODES (5 + IS_ENABLED(CONFIG_PERF_EVENTS) + \
			       IS_ENABLED(CONFIG_HIST_TRIGGERS) + \
			       IS_ENABLED(CONFIG_HIST_TRIGGERS_DEBUG) + \
			       IS_ENABLED(CONFIG_TRACE_EVENT_INJECT))

/* The files enable and filter of a group, and its directory. */
#define EVENTLOG_TRACE_GROUP_INODES 3

/*
 * Memory of a directory in tracefs: an inode and a dentry for each file, or since 6.6 one
 * struct (the rest is a cache, which the kernel frees when it needs memory).
 */
static size_t eventlog_tracefs_bytes(const char *name, unsigned int inodes)
{
	size_t name_bytes = strlen(name) + 1, bytes;

	if (EVENTLOG_TRACE_FILES)
		/* tracefs adds a few words to an inode. */
		bytes = inodes * (sizeof(struct dentry) + sizeof(struct inode) + 4 * sizeof(long));
	else
		bytes = 128 + kmalloc_size_roundup(name_bytes);
	if (EVENTLOG_TRACE_FILES && name_bytes > DNAME_INLINE_LEN)
		bytes += kmalloc_size_roundup(name_bytes + 3 * sizeof(long));
	return bytes;
}

size_t eventlog_trace_layout_bytes(const struct eventlog_trace_layout *layout)
{
	return layout->bytes + sizeof(struct trace_event_file) +
	       (layout->field_count + layout->session) *
	       sizeof(struct eventlog_ftrace_event_field) +
	       eventlog_tracefs_bytes(layout->name, EVENTLOG_TRACE_INODES);
}

/* ftrace has two small structs for it, and a copy of its name. */
size_t eventlog_trace_group_bytes(const struct eventlog_trace_layout *layout)
{
	return eventlog_tracefs_bytes(layout->group, EVENTLOG_TRACE_GROUP_INODES) + 128 +
	       kmalloc_size_roundup(strlen(layout->group) + 1);
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
	eventlog_free(layout->name);
	eventlog_free(layout->group);
	eventlog_free(layout);
}

#endif /* EVENTLOG_TRACE_EVENTS */
