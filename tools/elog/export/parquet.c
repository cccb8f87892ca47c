// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --format parquet: a directory with a table for each kind of event, and one
 * each for spans and for losses. A table is a file of its own, because a file of Parquet
 * has one schema. Tables share MEMORY_BYTES for rows that are not written yet; then the
 * largest is written.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "export/table.h"
#include "input/keywords.h"
#include "util/array.h"
#include "util/unique_names.h"

#define MEMORY_BYTES	(16U << 20)
#define FILE_NAME_BYTES	100	/* of a provider or an event, roughly */

/*
 * struct parquet - the state
 * @tables: all tables, in the order of their creation
 * @table_count: number of @tables
 * @bytes: of rows in memory
 * @spans: the table of spans; NULL: there was none yet
 * @losses: the table of losses; likewise
 * @value: a value as text
 * @made: the directory was not there before
 */
struct parquet {
	struct table **tables;
	size_t table_count;
	size_t bytes;
	struct table *spans;
	struct table *losses;
	struct elog_text value;
	bool made;
};

/* The first columns of all events. */
static const struct {
	const char *name;
	enum column_type type;
} common[] = {
	{ "time", COLUMN_TIMESTAMP }, { "mono", COLUMN_U64 }, { "session", COLUMN_TEXT },
	{ "session_number", COLUMN_U64 }, { "cpu", COLUMN_U32 }, { "pid", COLUMN_U32 },
	{ "tid", COLUMN_U32 }, { "comm", COLUMN_TEXT }, { "instance", COLUMN_TEXT },
	{ "host", COLUMN_TEXT }, { "machine_id", COLUMN_TEXT }, { "boot_id", COLUMN_TEXT },
	{ "provider", COLUMN_TEXT }, { "event", COLUMN_TEXT }, { "level", COLUMN_TEXT },
	{ "keywords", COLUMN_TEXT },
};

enum { TIME, MONO, SESSION, SESSION_NUMBER, CPU, PID, TID, COMM, INSTANCE, HOST, MACHINE_ID,
       BOOT_ID, PROVIDER, EVENT, LEVEL, KEYWORDS };

/* Of spans, instead of those after the provider. */
enum { SPAN_NAME = PROVIDER + 1, SPAN_DURATION };

enum { LOSS_TIME, LOSS_MONO, LOSS_CPU, LOSS_CAUSE, LOSS_COUNT, LOSS_INVALID, LOSS_HOST,
       LOSS_MACHINE_ID, LOSS_BOOT_ID, LOSS_INSTANCE };

/* ------------------------------------------------------------------------
 * Tables
 */

/* A name may have any characters; in a file's name, these are plain. A long one is cut. */
static void put_file_name(struct elog_text *path, const char *name)
{
	const size_t most = path->size + FILE_NAME_BYTES;

	for (; *name && path->size < most; name++) {
		if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		    (*name >= '0' && *name <= '9') || *name == '_' || *name == '-')
			elog_text_character(path, *name);
		else
			elog_text_printf(path, "%%%02X", (unsigned char)*name);
	}
}

/* Definitions with different fields share a name, as may cut ones: add a number. */
static char *make_path(const char *directory, const char *provider, const char *name)
{
	struct elog_text path = { 0 };
	unsigned int number = 1;
	struct stat stat;
	size_t size;

	elog_text_printf(&path, "%s/", directory);
	put_file_name(&path, provider);
	elog_text_character(&path, '.');
	put_file_name(&path, name);
	size = path.size;
	do {
		path.size = size;
		if (number++ > 1)
			elog_text_printf(&path, ".%u", number - 1);
		elog_text_string(&path, ".parquet");
	} while (!path.error && !lstat(path.data, &stat));
	if (!path.error)
		return path.data;
	elog_text_free(&path);
	return NULL;
}

/* Create a table with the first @count columns of all events. */
static int new_table(struct export *export, const char *provider, const char *name,
		     size_t count, struct table **result)
{
	struct parquet *parquet = export->state;
	struct table **tables, *table;
	size_t i;
	int ret = 0;

	tables = array_grow(parquet->tables, parquet->table_count, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	parquet->tables = tables;
	table = table_open(make_path(export->output, provider, name));
	if (!table)
		return -errno;
	tables[parquet->table_count++] = table;
	for (i = 0; i < count && !ret; i++)
		ret = table_add_column(table, common[i].name, common[i].type);
	*result = table;
	return ret;
}

static enum column_type column_type(const struct elog_schema_field *field)
{
	switch (field->type) {
	case ELOG_TYPE_UNSIGNED:
		return field->size == 1 ? COLUMN_U8 : field->size == 2 ? COLUMN_U16 :
		       field->size == 4 ? COLUMN_U32 : COLUMN_U64;
	case ELOG_TYPE_SIGNED:
		return field->size == 1 ? COLUMN_S8 : field->size == 2 ? COLUMN_S16 :
		       field->size == 4 ? COLUMN_S32 : COLUMN_S64;
	case ELOG_TYPE_FLOAT:
		return COLUMN_DOUBLE;
	case ELOG_TYPE_SECONDS:
		return COLUMN_S64;
	case ELOG_TYPE_BOOL:
		return COLUMN_BOOL;
	case ELOG_TYPE_PORT:
		return COLUMN_U16;
	case ELOG_TYPE_TIME:
	case ELOG_TYPE_DURATION:
	case ELOG_TYPE_PTR:
		return COLUMN_U64;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		return COLUMN_BINARY;
	default:
		return COLUMN_TEXT;
	}
}

static int add_field(struct export *export, struct table *table, struct unique_names *names,
		     const struct elog_schema_field *field)
{
	struct elog_text *name = &((struct parquet *)export->state)->value;

	name->size = 0;
	elog_text_utf8(name, field->name, strlen(field->name));
	return unique_names_give(names, field->name, name) ? :
	       table_add_column(table, name->data, column_type(field));
}

static int add_fields(struct export *export, struct table *table,
		      const struct elog_schema_event *schema)
{
	struct unique_names names = { .compare = strcasecmp };
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(common); i++)
		unique_names_add(&names.given, common[i].name, strlen(common[i].name));
	for (i = 0; i < schema->field_count; i++)
		unique_names_add(&names.fields, schema->fields[i]->name,
				 strlen(schema->fields[i]->name));
	for (i = 0; !ret && i < schema->field_count; i++)
		ret = add_field(export, table, &names, schema->fields[i]);
	unique_names_free(&names);
	return ret;
}

static int new_event_table(struct export *export, const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	struct table *table;
	int ret;

	ret = new_table(export, event->kind->provider, event->kind->name, ARRAY_SIZE(common),
			&table);
	if (!ret && schema)
		ret = add_fields(export, table, schema);
	if (!ret && !schema)
		ret = table_add_column(table, "payload", COLUMN_BINARY);
	if (!ret)
		event->kind->data = table;
	return ret;
}

/* Take a row into account: beyond the limit, write the table with the most bytes. */
static int end_row(struct parquet *parquet, struct table *table, size_t before)
{
	struct table *largest = table;
	size_t i;
	int ret;

	ret = table_end_row(table);
	parquet->bytes += table->bytes - before;
	if (ret || parquet->bytes <= MEMORY_BYTES)
		return ret;
	for (i = 0; i < parquet->table_count; i++)
		if (parquet->tables[i]->bytes > largest->bytes)
			largest = parquet->tables[i];
	parquet->bytes -= largest->bytes;
	return table_flush(largest);
}

/* ------------------------------------------------------------------------
 * Rows
 */

static void put_text(struct parquet *parquet, struct table *table, size_t column,
		     const char *text, size_t size)
{
	const unsigned char *end = (const unsigned char *)text + size;

	/* Valid, if it was before. */
	if (table_repeats(table, column, text, size))
		return;
	/* Most text is plain. */
	if (elog_plain_end((const unsigned char *)text, end) == end) {
		table_bytes(table, column, text, size);
		return;
	}
	parquet->value.size = 0;
	elog_text_utf8(&parquet->value, text, size);
	table_bytes(table, column, parquet->value.data, parquet->value.size);
}

static void put_cpu(struct table *table, size_t column, unsigned int cpu)
{
	if (cpu == EVENTLOG_CPU_UNKNOWN)
		table_null(table, column);
	else
		table_integer(table, column, cpu);
}

static void put_session(struct table *table, uint64_t session)
{
	char text[2 + ELOG_HEX_MAX] = "0x";

	if (session) {
		table_bytes(table, SESSION, text,
			    (size_t)(elog_put_hex(text + 2, session) - text));
		table_integer(table, SESSION_NUMBER, session);
	} else {
		table_null(table, SESSION);
		table_null(table, SESSION_NUMBER);
	}
}

static void put_optional(struct parquet *parquet, struct table *table, size_t column,
			 const char *text)
{
	if (text)
		put_text(parquet, table, column, text, strlen(text));
	else
		table_null(table, column);
}

/* Where an event is from. */
static void put_origin(struct parquet *parquet, struct table *table, const struct entry *entry)
{
	put_optional(parquet, table, INSTANCE, entry->item.instance);
	put_optional(parquet, table, HOST, entry->host_name);
	put_optional(parquet, table, MACHINE_ID, entry->machine_id);
	put_optional(parquet, table, BOOT_ID, entry->boot_id);
}

/* What an event is. */
static void put_type(struct parquet *parquet, struct table *table,
		     const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	char number[16];

	put_optional(parquet, table, PROVIDER, event->kind->provider);
	if (!schema)
		snprintf(number, sizeof(number), "#%" PRIu32, event->entry->item.descriptor);
	put_optional(parquet, table, EVENT, schema ? schema->name : number);
	put_optional(parquet, table, LEVEL, schema ? elog_level_name(schema->level) : NULL);
	if (!schema || !schema->keywords) {
		table_null(table, KEYWORDS);
		return;
	}
	parquet->value.size = 0;
	put_keywords(&parquet->value, schema);
	table_bytes(table, KEYWORDS, parquet->value.data, parquet->value.size);
}

static void put_common(struct parquet *parquet, struct table *table,
		       const struct visit_event *event)
{
	const struct entry *entry = event->entry;
	const struct elog_item *item = &entry->item;
	const char *name = thread_name(entry);

	table_integer(table, TIME, (uint64_t)wall_time(item->time, entry->wall_offset));
	table_integer(table, MONO, item->time);
	put_session(table, item->session);
	put_cpu(table, CPU, item->cpu);
	table_integer(table, PID, item->pid);
	table_integer(table, TID, item->tid);
	put_text(parquet, table, COMM, name, strlen(name));
	put_origin(parquet, table, entry);
	put_type(parquet, table, event);
}

static void put_field(struct parquet *parquet, struct table *table, size_t column,
		      const struct elog_schema_field *field, const struct elog_item *item)
{
	struct elog_value value;

	if (elog_decode(field, item->payload, item->payload_size, &value)) {
		table_null(table, column);
		return;
	}
	switch (column_type(field)) {
	case COLUMN_TEXT:
		if (is_text(field)) {
			put_text(parquet, table, column, value.data, value.size);
			break;
		}
		parquet->value.size = 0;
		elog_format_value(&parquet->value, field, &value);
		table_bytes(table, column, parquet->value.data, parquet->value.size);
		break;
	case COLUMN_BINARY:
		table_bytes(table, column, value.data, value.size);
		break;
	default:
		table_integer(table, column, value.integer);
		break;
	}
}

static int put_span(struct export *export, const struct visit_event *event)
{
	struct parquet *parquet = export->state;
	const struct entry *entry = event->entry;
	const struct span *span = &event->match.span;
	struct table *table = parquet->spans;
	size_t before;
	int ret;

	if (!table) {
		ret = new_table(export, EXPORT_PROVIDER, "spans", PROVIDER + 1, &table);
		if (!ret)
			ret = table_add_column(table, "name", COLUMN_TEXT);
		if (!ret)
			ret = table_add_column(table, "duration", COLUMN_U64);
		if (ret)
			return ret;
		parquet->spans = table;
	}
	before = table->bytes;
	table_integer(table, TIME, (uint64_t)span->wall);
	table_integer(table, MONO, span->time);
	put_session(table, span->session);
	put_cpu(table, CPU, span->cpu);
	table_integer(table, PID, span->pid);
	table_integer(table, TID, span->tid);
	put_text(parquet, table, COMM, span->thread, strlen(span->thread));
	put_origin(parquet, table, entry);
	put_optional(parquet, table, PROVIDER, event->kind->provider);
	put_text(parquet, table, SPAN_NAME, span->role->start.name, span->role->start.name_size);
	table_integer(table, SPAN_DURATION, span->duration);
	return end_row(parquet, table, before);
}

static int take_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct parquet *parquet = export->state;
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct elog_item *item = &event->entry->item;
	struct table *table;
	size_t before, i;
	int ret = 0;

	if (!event->kind->data)
		ret = new_event_table(export, event);
	if (!ret && event->match.ended)
		ret = put_span(export, event);
	if (ret)
		return ret;
	table = event->kind->data;
	before = table->bytes;
	put_common(parquet, table, event);
	for (i = 0; schema && i < schema->field_count; i++)
		put_field(parquet, table, ARRAY_SIZE(common) + i, schema->fields[i], item);
	if (!schema)
		table_bytes(table, ARRAY_SIZE(common), item->payload, item->payload_size);
	return end_row(parquet, table, before) ? : parquet->value.error;
}

/* A row for each cause, and one for invalid records, which are no lost events. */
static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	static const struct {
		const char *name;
		enum column_type type;
	} columns[] = {
		{ "time", COLUMN_TIMESTAMP }, { "mono", COLUMN_U64 }, { "cpu", COLUMN_U32 },
		{ "cause", COLUMN_TEXT }, { "count", COLUMN_U64 }, { "invalid", COLUMN_U64 },
		{ "host", COLUMN_TEXT }, { "machine_id", COLUMN_TEXT },
		{ "boot_id", COLUMN_TEXT }, { "instance", COLUMN_TEXT },
	};
	struct export *export = context;
	struct parquet *parquet = export->state;
	const struct elog_item *item = &entry->item;
	struct table *table = parquet->losses;
	const char *cause;
	size_t before, i;
	bool invalid;
	int ret = 0;

	(void)count;
	if (!table) {
		ret = new_table(export, EXPORT_PROVIDER, "lost", 0, &table);
		for (i = 0; i < ARRAY_SIZE(columns) && !ret; i++)
			ret = table_add_column(table, columns[i].name, columns[i].type);
		if (!ret)
			parquet->losses = table;
	}
	for (i = 0; i < item->lost_count && !ret; i++) {
		if (!item->lost[i])
			continue;
		before = table->bytes;
		invalid = i == CAUSE_INVALID;
		cause = invalid ? "invalid" : elog_lost_name((unsigned int)i) ? : "unknown";
		table_integer(table, LOSS_TIME, (uint64_t)wall_time(item->time,
								    entry->wall_offset));
		table_integer(table, LOSS_MONO, item->time);
		put_cpu(table, LOSS_CPU, item->cpu);
		table_bytes(table, LOSS_CAUSE, cause, strlen(cause));
		table_integer(table, LOSS_COUNT, invalid ? 0 : item->lost[i]);
		table_integer(table, LOSS_INVALID, invalid ? item->lost[i] : 0);
		put_optional(parquet, table, LOSS_HOST, entry->host_name);
		put_optional(parquet, table, LOSS_MACHINE_ID, entry->machine_id);
		put_optional(parquet, table, LOSS_BOOT_ID, entry->boot_id);
		put_optional(parquet, table, LOSS_INSTANCE, item->instance);
		ret = end_row(parquet, table, before);
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

/* Return: 0: the directory has no files; or a negative errno. */
static int check_empty(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)) && !ret)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			ret = -ENOTEMPTY;
	closedir(directory);
	return ret;
}

/* Tables of another export beside these would look as if they belonged to it. */
static int open_parquet(struct export *export)
{
	struct parquet *parquet;
	bool made = false;
	int ret = 0;

	if (mkdir(export->output, 0777))
		ret = errno == EEXIST ? check_empty(export->output) : -errno;
	else
		made = true;
	if (ret) {
		elog_error("%s: %s", export->output, strerror(-ret));
		return ret;
	}
	parquet = calloc(1, sizeof(*parquet));
	if (!parquet)
		return -ENOMEM;
	parquet->made = made;
	export->state = parquet;
	return 0;
}

static int finish_parquet(struct export *export)
{
	struct parquet *parquet = export->state;
	int ret = 0, error;
	size_t i;

	for (i = 0; i < parquet->table_count; i++) {
		error = table_close(parquet->tables[i]);
		ret = ret ? : error;
	}
	parquet->table_count = 0;
	return ret;
}

static void close_parquet(struct export *export)
{
	struct parquet *parquet = export->state;

	if (!parquet)
		return;
	finish_parquet(export);
	/* Nothing could be read: it is empty. */
	if (parquet->made && visit_is_unreadable(export->visit))
		rmdir(export->output);
	elog_text_free(&parquet->value);
	free(parquet->tables);
	free(parquet);
}

const struct export_format export_parquet = {
	.ops = { .event = take_event, .lost = take_loss },
	.directory = true,
	.open = open_parquet,
	.finish = finish_parquet,
	.close = close_parquet,
};
