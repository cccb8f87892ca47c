// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual table of SQLite for the events of .elog files: see event_table.h. It uses only
 * the public functions of libelog, and what needs nothing else, as it is an extension of its own,
 * too.
 *
 * Each scan of a table reads the files once more, from the time that the query asks for.
 * A connection belongs to one thread, or SQLite serializes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elog.h>

#include "common/word.h"
#include "sql/event_table.h"
#include "sql/functions.h"
#include "util/file_error.h"
#include "util/json_fields.h"
#include "util/session_number.h"
#include "util/unique_names.h"
#include "util/wall_time.h"

#if defined(ELOG_SQLITE_EXTENSION) || defined(ELOG_SQLITE)
#ifdef ELOG_SQLITE_EXTENSION
SQLITE_EXTENSION_INIT1
#endif

#define CACHE_SLOTS	256	/* definitions that a scan remembers */
#define ARGUMENTS	3	/* of xCreate before those in parentheses */
#define ROWS		1000000	/* as an estimate */

/* The columns of all tables. The fields of an event follow, or what the table of all events has. */
enum { TIME, MONO, SESSION, SESSION_NUMBER, CPU, PID, TID, COMM, INSTANCE, HOST, MACHINE_ID,
       BOOT_ID, FIELDS, PROVIDER = FIELDS, EVENT, LEVEL, JSON, COLUMNS };

_Static_assert(FIELDS == EVENT_TABLE_COMMON, "the header has the number");

static const char *const given[COLUMNS] = {
	"time INTEGER", "mono INTEGER", EVENT_TABLE_SESSION, "session_number INTEGER",
	"cpu INTEGER", "pid INTEGER", "tid INTEGER", "comm TEXT", "instance TEXT", "host TEXT",
	"machine_id TEXT", "boot_id TEXT", "provider TEXT", "event TEXT", "level TEXT",
	"fields TEXT",
};

static const char *const type_names[] = {
	[SQLITE_INTEGER] = "INTEGER", [SQLITE_FLOAT] = "REAL", [SQLITE_TEXT] = "TEXT",
	[SQLITE_BLOB] = "BLOB",
};

/* What a scan omits: bits of idxNum. The value of each has a place in argv, in this order. */
enum { BY_TIME = 1, BY_SESSION = 2, BY_NUMBER = 4 };

/*
 * struct column - a field of an event
 * @name: as in the schema
 * @type: of its values: SQLITE_INTEGER or the like
 */
struct column {
	char *name;
	int type;
};

/*
 * struct event_table - a table
 * @provider: of its events
 * @event: their name; NULL: it has all events
 * @files: names of the files
 * @file_count: number of @files
 * @given: number of columns that do not depend on the event
 * @fields: the columns behind them
 * @field_count: number of @fields
 */
struct event_table {
	sqlite3_vtab base;
	char *provider;
	char *event;
	char **files;
	size_t file_count;
	size_t given;
	struct column *fields;
	size_t field_count;
};

/*
 * struct cached - whether a definition is one of the table
 * @reader: its file; NULL: the slot is empty
 * @descriptor: its descriptor
 * @generation: of the file when this was found out
 * @event: its schema; NULL: it belongs to another table, or is missing
 * @is_eventheader: each record has a schema of its own
 * @fields: its fields by column; NULL elements: it lacks them
 */
struct cached {
	const struct elog_reader *reader;
	uint32_t descriptor;
	uint64_t generation;
	const struct elog_schema_event *event;
	bool is_eventheader;
	const struct elog_schema_field **fields;
};

/*
 * struct scan - a cursor
 * @set: the files
 * @fds: likewise
 * @reader: of the present event
 * @item: the present event
 * @definition: its definition
 * @decoder: of records that describe their fields; NULL: there was none yet
 * @decoded: the definition of such a record; its reader is NULL
 * @row: its number in this scan
 * @selects: only events of @session are wanted
 * @end: there is no further event
 */
struct scan {
	sqlite3_vtab_cursor base;
	struct elog_reader_set *set;
	int *fds;
	struct elog_reader **readers;
	struct elog_reader *reader;
	struct elog_item item;
	const struct cached *definition;
	struct cached cache[CACHE_SLOTS];
	struct elog_eventheader *decoder;
	struct cached decoded;
	struct elog_text text;
	sqlite3_int64 row;
	bool selects;
	uint64_t session;
	bool end;
};

static struct event_table *table_of(struct scan *scan)
{
	return (struct event_table *)scan->base.pVtab;
}

/* @reader: of the file, or NULL */
static int table_error(struct event_table *table, const char *what,
		       const struct elog_reader *reader, int error)
{
	char buffer[FILE_ERROR_BYTES];

	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s: %s", what, file_error(reader, error, buffer));
	return error == -ENOMEM ? SQLITE_NOMEM : SQLITE_IOERR;
}

/* ------------------------------------------------------------------------
 * Files
 */

static void close_files(struct scan *scan)
{
	size_t i;

	elog_reader_set_close(scan->set);
	scan->set = NULL;
	for (i = 0; i < table_of(scan)->file_count; i++) {
		if (scan->fds[i] >= 0)
			close(scan->fds[i]);
		scan->fds[i] = -1;
	}
	for (i = 0; i < CACHE_SLOTS; i++)
		scan->cache[i].reader = NULL;
}

static int open_files(struct scan *scan, bool seek, uint64_t from)
{
	struct event_table *table = table_of(scan);
	size_t i;
	int ret;

	ret = elog_reader_set_open(&scan->set);
	if (ret)
		return table_error(table, table->files[0], NULL, ret);
	for (i = 0; i < table->file_count; i++) {
		scan->fds[i] = open(table->files[i], O_RDONLY | O_CLOEXEC);
		ret = scan->fds[i] < 0 ? -errno :
		      elog_reader_set_add(scan->set, scan->fds[i], &scan->readers[i]);
		if (!ret && seek)
			ret = elog_reader_seek(scan->readers[i], from);
		if (ret)
			return table_error(table, table->files[i], scan->readers[i], ret);
	}
	scan->row = 0;
	scan->end = false;
	return SQLITE_OK;
}

static const char *file_of(struct scan *scan, const struct elog_reader *reader)
{
	struct event_table *table = table_of(scan);
	size_t i;

	for (i = 0; i < table->file_count; i++)
		if (scan->readers[i] == reader)
			return table->files[i];
	return "?";
}

/* ------------------------------------------------------------------------
 * Definitions
 */

static const struct elog_schema_field *find_field(const struct elog_schema_event *event,
						  const char *name)
{
	size_t i;

	for (i = 0; i < event->field_count; i++)
		if (!strcmp(event->fields[i]->name, name))
			return event->fields[i];
	return NULL;
}

static bool is_of_table(const struct event_table *table, const struct elog_schema_event *event)
{
	return !table->event || (!strcmp(event->provider->name, table->provider) &&
				 !strcmp(event->name, table->event));
}

/* Find the columns of an event in its schema. Return: false: no memory. */
static bool find_columns(const struct event_table *table, struct cached *cached)
{
	size_t i;

	if (!cached->fields && cached->event) {
		cached->fields = calloc(table->field_count + 1, sizeof(*cached->fields));
		if (!cached->fields)
			return false;
	}
	for (i = 0; cached->event && i < table->field_count; i++)
		cached->fields[i] = find_field(cached->event, table->fields[i].name);
	return true;
}

/* Decode the present event. Return: its definition, or NULL: no memory. */
static const struct cached *decode_record(struct scan *scan, const struct cached *recorded)
{
	struct cached *decoded = &scan->decoded;
	struct elog_eventheader_record record;

	if (!scan->decoder && elog_eventheader_open(&scan->decoder))
		return NULL;
	if (elog_eventheader_decode(scan->decoder, recorded->event, scan->item.payload,
				    scan->item.payload_size, &record))
		return NULL;
	scan->item.payload = record.payload;
	scan->item.payload_size = record.payload_size;
	if (decoded->event == record.event && decoded->generation == record.generation)
		return decoded;
	decoded->generation = record.generation;
	decoded->event = is_of_table(table_of(scan), record.event) ? record.event : NULL;
	return find_columns(table_of(scan), decoded) ? decoded : NULL;
}

/* Return: the definition of the present event, or NULL: no memory. */
static const struct cached *find_definition(struct scan *scan)
{
	struct cached *cached = &scan->cache[scan->item.descriptor % CACHE_SLOTS];
	struct event_table *table = table_of(scan);
	const struct elog_schema_event *event;
	int ret;

	if (cached->reader == scan->reader && cached->descriptor == scan->item.descriptor &&
	    cached->generation == elog_reader_generation(scan->reader))
		return cached->is_eventheader ? decode_record(scan, cached) : cached;
	ret = elog_reader_describe(scan->reader, scan->item.descriptor, &event);
	if (ret == -ENOMEM)
		return NULL;
	if (ret)
		event = NULL;
	cached->is_eventheader = elog_is_eventheader(event);
	if (event && !cached->is_eventheader && !is_of_table(table, event))
		event = NULL;
	cached->reader = scan->reader;
	cached->descriptor = scan->item.descriptor;
	cached->generation = elog_reader_generation(scan->reader);
	cached->event = event;
	if (cached->is_eventheader)
		return decode_record(scan, cached);
	return find_columns(table, cached) ? cached : NULL;
}

/* Go to the next event of the table. */
static int next_event(struct scan *scan)
{
	int ret;

	while ((ret = elog_reader_set_next(scan->set, &scan->item, &scan->reader)) > 0) {
		if (scan->item.type == ELOG_ITEM_DAMAGE)
			sqlite3_log(SQLITE_WARNING, "%s: damaged at byte %llu",
				    file_of(scan, scan->reader),
				    (unsigned long long)scan->item.offset);
		if (scan->item.type != ELOG_ITEM_EVENT ||
		    (scan->selects && scan->item.session != scan->session))
			continue;
		scan->definition = find_definition(scan);
		if (!scan->definition)
			return SQLITE_NOMEM;
		if (!scan->definition->event && table_of(scan)->event)
			continue;
		scan->row++;
		return SQLITE_OK;
	}
	scan->end = true;
	return ret ? table_error(table_of(scan), file_of(scan, scan->reader), scan->reader, ret) :
		     SQLITE_OK;
}

/* ------------------------------------------------------------------------
 * Cursors
 */

static int close_scan(sqlite3_vtab_cursor *cursor)
{
	struct scan *scan = (struct scan *)cursor;
	size_t i;

	if (scan->fds)
		close_files(scan);
	for (i = 0; i < CACHE_SLOTS; i++)
		free(scan->cache[i].fields);
	free(scan->decoded.fields);
	elog_eventheader_close(scan->decoder);
	elog_text_free(&scan->text);
	free(scan->fds);
	free(scan->readers);
	free(scan);
	return SQLITE_OK;
}

static int open_scan(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
	struct event_table *table = (struct event_table *)base;
	struct scan *scan = calloc(1, sizeof(*scan));
	size_t i;

	if (!scan)
		return SQLITE_NOMEM;
	scan->base.pVtab = base;
	scan->fds = calloc(table->file_count, sizeof(*scan->fds));
	scan->readers = calloc(table->file_count, sizeof(struct elog_reader *));
	for (i = 0; scan->fds && i < table->file_count; i++)
		scan->fds[i] = -1;
	if (!scan->fds || !scan->readers) {
		close_scan(&scan->base);
		return SQLITE_NOMEM;
	}
	*cursor = &scan->base;
	return SQLITE_OK;
}

/* Only events of a session can fulfill the query. Return: false: none can. */
static bool select_session(struct scan *scan, sqlite3_value *value)
{
	uint64_t session;

	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return false;
	case SQLITE_INTEGER:
		session = (uint64_t)sqlite3_value_int64(value);
		break;
	case SQLITE_TEXT:
		if (!sql_session_parse(sqlite3_value_text(value), sqlite3_value_bytes(value),
				       &session))
			return false;
		break;
	default:	/* SQLite compares it. */
		return true;
	}
	if (scan->selects && scan->session != session)
		return false;
	scan->selects = true;
	scan->session = session;
	return true;
}

/* What is earlier than a time may be omitted, by the index in the files. */
static int filter_scan(sqlite3_vtab_cursor *cursor, int index, const char *name, int count,
		       sqlite3_value **values)
{
	struct scan *scan = (struct scan *)cursor;
	sqlite3_int64 from = 0;
	bool any = true;
	int ret, used = 0;

	(void)name;
	scan->selects = false;
	if (index & BY_TIME && used < count)
		from = sqlite3_value_int64(values[used++]);
	if (index & BY_SESSION && used < count)
		any = select_session(scan, values[used++]);
	if (index & BY_NUMBER && used < count && any)
		any = select_session(scan, values[used++]);
	close_files(scan);
	scan->end = true;
	if (!any)
		return SQLITE_OK;
	ret = open_files(scan, from > 0, (uint64_t)from);
	return ret ? : next_event(scan);
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	return next_event((struct scan *)cursor);
}

static int is_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct scan *)cursor)->end;
}

static int get_row(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
	*row = ((struct scan *)cursor)->row;
	return SQLITE_OK;
}

/* Bytes that are not UTF-8 become U+FFFD: Python refuses a text that has them, for example. */
static void put_text(sqlite3_context *context, const char *data, size_t size)
{
	static const char instead[] = "\xef\xbf\xbd";
	const uint8_t *from = (const uint8_t *)data, *end = from + size;
	unsigned int bytes, step;
	char *text, *to;

	if (!data)
		return;
	text = to = sqlite3_malloc64((sizeof(instead) - 1) * (sqlite3_uint64)size + 1);
	if (!text) {
		sqlite3_result_error_nomem(context);
		return;
	}
	for (; from < end; from += step) {
		bytes = *from < 0x80 ? 1 : eventlog_utf8_bytes(from, end);
		step = bytes ? bytes : 1;
		memcpy(to, bytes ? (const char *)from : instead,
		       bytes ? bytes : sizeof(instead) - 1);
		to += bytes ? bytes : sizeof(instead) - 1;
	}
	sqlite3_result_text(context, text, (int)(to - text), sqlite3_free);
}

static int type_of(const struct elog_schema_field *field)
{
	switch (field->type) {
	case ELOG_TYPE_UNSIGNED:
	case ELOG_TYPE_SIGNED:
	case ELOG_TYPE_BOOL:
	case ELOG_TYPE_PORT:
	case ELOG_TYPE_TIME:
	case ELOG_TYPE_DURATION:
	case ELOG_TYPE_PTR:
	case ELOG_TYPE_SECONDS:
		return SQLITE_INTEGER;
	case ELOG_TYPE_FLOAT:
		return SQLITE_FLOAT;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_BYTES:
	case ELOG_TYPE_STRUCT:
		return SQLITE_BLOB;
	default:
		return SQLITE_TEXT;
	}
}

static bool has_characters(const struct elog_schema_field *field)
{
	return field->type == ELOG_TYPE_CHARS || field->type == ELOG_TYPE_STRING ||
	       field->type == ELOG_TYPE_ARRAY;
}

static void get_field(struct scan *scan, sqlite3_context *context,
		      const struct elog_schema_field *field)
{
	struct elog_value value;
	double number;

	if (!field || elog_decode(field, scan->item.payload, scan->item.payload_size, &value))
		return;
	switch (type_of(field)) {
	case SQLITE_INTEGER:
		sqlite3_result_int64(context, (sqlite3_int64)value.integer);
		break;
	case SQLITE_FLOAT:
		memcpy(&number, &value.integer, sizeof(number));
		sqlite3_result_double(context, number);
		break;
	case SQLITE_BLOB:
		sqlite3_result_blob(context, value.data, (int)value.size, SQLITE_TRANSIENT);
		break;
	default:
		if (has_characters(field)) {
			put_text(context, value.data, value.size);
			break;
		}
		scan->text.size = 0;
		elog_format_value(&scan->text, field, &value);
		put_text(context, scan->text.data, scan->text.size);
		break;
	}
}

/* A column of the table of all events, as elog show prints it. */
static void get_any(struct scan *scan, sqlite3_context *context, int column)
{
	const struct elog_schema_event *event = scan->definition->event;
	const char *level = event ? elog_level_name(event->level) : NULL;
	struct elog_text *text = &scan->text;

	text->size = 0;
	if (column == JSON)
		put_json_fields(text, event, &scan->item);
	else if (column == LEVEL)
		elog_text_string(text, level ? : "");
	else if (event)
		elog_text_string(text, column == EVENT ? event->name : event->provider->name);
	else if (column == EVENT)
		elog_text_printf(text, "#%u", scan->item.descriptor);
	else
		elog_text_string(text, "?");
	if (text->error)
		sqlite3_result_error_nomem(context);
	else if (column != LEVEL || level)
		put_text(context, text->data, text->size);
}

/* A machine without an id has zeros. */
static void get_info(struct scan *scan, sqlite3_context *context, const char *key)
{
	const char *value = elog_reader_info(scan->reader, key);

	if (value && strspn(value, "0") != strlen(value))
		put_text(context, value, strlen(value));
}

/* A column without a result is NULL. */
static int get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct scan *scan = (struct scan *)cursor;
	const struct elog_item *item = &scan->item;
	char session[SESSION_TEXT_BYTES];
	const char *name;

	switch (column) {
	case TIME:
		sqlite3_result_int64(context, wall_time(item->time,
							elog_reader_wall_offset(scan->reader)));
		break;
	case MONO:
		sqlite3_result_int64(context, (sqlite3_int64)item->time);
		break;
	case SESSION:
		if (item->session)
			sqlite3_result_text(context, session, snprintf(session, sizeof(session),
					    "0x%" PRIx64, item->session), SQLITE_TRANSIENT);
		break;
	case SESSION_NUMBER:
		if (item->session)
			sqlite3_result_int64(context, (sqlite3_int64)item->session);
		break;
	case CPU:
		if (item->cpu != EVENTLOG_CPU_UNKNOWN)
			sqlite3_result_int64(context, item->cpu);
		break;
	case PID:
		sqlite3_result_int64(context, item->pid);
		break;
	case TID:
		sqlite3_result_int64(context, item->tid);
		break;
	case COMM:
		name = item->tid ? elog_processes_name(elog_reader_processes(scan->reader),
						       item->pid, item->tid) : "";
		if (name)
			put_text(context, name, strlen(name));
		break;
	case INSTANCE:
		if (item->instance)
			put_text(context, item->instance, strlen(item->instance));
		break;
	case HOST:
		get_info(scan, context, "host");
		break;
	case MACHINE_ID:
		get_info(scan, context, "machine_id");
		break;
	case BOOT_ID:
		get_info(scan, context, "boot_id");
		break;
	default:
		if (table_of(scan)->event)
			get_field(scan, context, scan->definition->fields[column - FIELDS]);
		else
			get_any(scan, context, column);
		break;
	}
	return SQLITE_OK;
}

/* ------------------------------------------------------------------------
 * Tables
 */

/* Return: the bit of idxNum for a condition; 0: it is of no use. */
static int condition_of(int column, unsigned char operator)
{
	const bool equal = operator == SQLITE_INDEX_CONSTRAINT_EQ;

	switch (column) {
	case TIME:
		return equal || operator == SQLITE_INDEX_CONSTRAINT_GE ||
		       operator == SQLITE_INDEX_CONSTRAINT_GT ? BY_TIME : 0;
	case SESSION:
		return equal ? BY_SESSION : 0;
	case SESSION_NUMBER:
		return equal ? BY_NUMBER : 0;
	default:
		return 0;
	}
}

/* SQLite checks the conditions again: a scan may return more. */
static int plan_scan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	int i, bit, used = 0;

	(void)base;
	info->estimatedCost = ROWS;
	info->estimatedRows = ROWS;
	for (bit = BY_TIME; bit <= BY_NUMBER; bit <<= 1) {
		for (i = 0; i < info->nConstraint; i++)
			if (info->aConstraint[i].usable &&
			    condition_of(info->aConstraint[i].iColumn,
					 info->aConstraint[i].op) == bit)
				break;
		if (i == info->nConstraint)
			continue;
		info->aConstraintUsage[i].argvIndex = ++used;
		info->idxNum |= bit;
		info->estimatedCost /= 2;
		info->estimatedRows /= 2;
	}
	return SQLITE_OK;
}

static int close_table(sqlite3_vtab *base)
{
	struct event_table *table = (struct event_table *)base;
	size_t i;

	for (i = 0; i < table->file_count; i++)
		free(table->files[i]);
	for (i = 0; i < table->field_count; i++)
		free(table->fields[i].name);
	free(table->provider);
	free(table->event);
	free(table->files);
	free(table->fields);
	free(table);
	return SQLITE_OK;
}

/* A string of SQL, whose quotes are doubled, or any other word. */
static char *unquote(const char *text)
{
	const char quote = *text;
	char *copy = strdup(text), *to = copy;

	if (!copy || (quote != '\'' && quote != '"'))
		return copy;
	for (text++; *text; text++) {
		if (*text == quote && *++text != quote)
			break;
		*to++ = *text;
	}
	*to = '\0';
	return copy;
}

/* @arguments: PROVIDER, EVENT, unless the table is of all events, and the files */
static int read_arguments(struct event_table *table, bool all, int count,
			  const char *const *arguments)
{
	table->given = all ? COLUMNS : FIELDS;
	table->files = calloc((size_t)count, sizeof(*table->files));
	if (!table->files)
		return SQLITE_NOMEM;
	if (!all) {
		table->provider = unquote(*arguments++);
		table->event = unquote(*arguments++);
		count -= 2;
		if (!table->provider || !table->event)
			return SQLITE_NOMEM;
	}
	for (; count; count--) {
		table->files[table->file_count] = unquote(*arguments++);
		if (!table->files[table->file_count++])
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* The columns are those of the first definition. */
static int read_fields(struct event_table *table, const struct elog_schema_event *event)
{
	size_t i;

	table->fields = calloc(event->field_count + 1, sizeof(*table->fields));
	if (!table->fields)
		return SQLITE_NOMEM;
	for (i = 0; i < event->field_count; i++) {
		table->fields[i].name = strdup(event->fields[i]->name);
		table->fields[i].type = type_of(event->fields[i]);
		if (!table->fields[i].name)
			return SQLITE_NOMEM;
		table->field_count++;
	}
	return SQLITE_OK;
}

static int find_event(struct event_table *table)
{
	sqlite3_vtab_cursor *cursor;
	struct scan *scan;
	int ret;

	ret = open_scan(&table->base, &cursor);
	if (ret)
		return ret;
	cursor->pVtab = &table->base;
	scan = (struct scan *)cursor;
	ret = filter_scan(cursor, 0, NULL, 0, NULL);
	if (!ret && scan->end && table->event) {
		table->base.zErrMsg = sqlite3_mprintf("no event %s/%s in the files",
						      table->provider, table->event);
		ret = SQLITE_ERROR;
	}
	if (!ret && table->event)
		ret = read_fields(table, scan->definition->event);
	close_scan(cursor);
	return ret;
}

/* Give the fields names, separated by NULs. Return: 0 or -ENOMEM. */
static int name_columns(const struct event_table *table, struct unique_names *names)
{
	struct elog_text name = { 0 };
	size_t i;
	int ret;

	for (i = 0; i < table->given; i++)
		unique_names_add(&names->given, given[i], strcspn(given[i], " "));
	for (i = 0; i < table->field_count; i++)
		unique_names_add(&names->fields, table->fields[i].name,
				 strlen(table->fields[i].name));
	ret = names->given.error ? : names->fields.error;
	for (i = 0; !ret && i < table->field_count; i++) {
		name.size = 0;
		elog_text_string(&name, table->fields[i].name);
		ret = unique_names_give(names, table->fields[i].name, &name);
	}
	elog_text_free(&name);
	return ret;
}

static int declare(sqlite3 *db, const struct event_table *table)
{
	struct unique_names names = { .compare = sqlite3_stricmp };
	int ret = name_columns(table, &names) ? SQLITE_NOMEM : SQLITE_OK;
	const char *name = names.given.data;
	sqlite3_str *sql;
	char *text;
	size_t i;

	sql = sqlite3_str_new(db);
	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (i = 0; !ret && i < table->given + table->field_count; i++, name += strlen(name) + 1)
		if (i < table->given)
			sqlite3_str_appendf(sql, "%s%s", i ? ", " : "", given[i]);
		else
			sqlite3_str_appendf(sql, ", \"%w\" %s", name,
					    type_names[table->fields[i - table->given].type]);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	ret = text && !ret ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	unique_names_free(&names);
	return ret;
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments,
			 sqlite3_vtab **result, char **error)
{
	const bool all = !sqlite3_stricmp(arguments[0], EVENT_TABLE_ALL);
	struct event_table *table;
	int ret;

	(void)context;
	if (count < ARGUMENTS + (all ? 1 : 3)) {
		*error = sqlite3_mprintf("%s: arguments must be %sFILE...", arguments[0],
					 all ? "" : "PROVIDER, EVENT, ");
		return SQLITE_ERROR;
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	ret = read_arguments(table, all, count - ARGUMENTS, arguments + ARGUMENTS);
	if (!ret)
		ret = find_event(table);
	if (!ret)
		ret = declare(db, table);
	if (ret) {
		*error = table->base.zErrMsg;
		close_table(&table->base);
		return ret;
	}
	*result = &table->base;
	return SQLITE_OK;
}

static const sqlite3_module event_module = {
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = plan_scan,
	.xDisconnect = close_table,
	.xDestroy = close_table,
	.xOpen = open_scan,
	.xClose = close_scan,
	.xFilter = filter_scan,
	.xNext = next_row,
	.xEof = is_end,
	.xColumn = get_column,
	.xRowid = get_row,
};

int event_table_register(sqlite3 *db)
{
	int ret = sql_functions_register(db);

	if (!ret)
		ret = sqlite3_create_module(db, EVENT_TABLE_MODULE, &event_module, NULL);
	return ret ? : sqlite3_create_module(db, EVENT_TABLE_ALL, &event_module, NULL);
}

#ifdef ELOG_SQLITE_EXTENSION
#pragma GCC visibility push(default)
int sqlite3_elogsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);
#pragma GCC visibility pop

/* Called by SQLite for load_extension('elog_sqlite'). */
int sqlite3_elogsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	(void)error;
	return event_table_register(db);
}
#endif
#endif
