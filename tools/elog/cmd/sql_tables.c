// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of elog sql: see sql_tables.h. No state but that of the caller.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef ELOG_SQLITE
#include <sqlite3.h>
#endif

#include "cmd/sql_tables.h"
#include "output/row.h"
#include "sql/event_table.h"
#include "util/nearest.h"
#include "util/signals.h"

#ifdef ELOG_SQLITE
#define TABLES_MAX	30	/* in a message */
#define NAME_WIDTH	30	/* of the column of tables */
#define NO_TABLE	"no such table: "
/* No event has this table: names of providers are not empty. */
#define ALL_EVENTS	"/events"

/* They come first in a list of tables. */
static const char *const own_tables[] = { "events", "spans", "lost" };

int sql_error(const struct sql *sql)
{
	elog_error("%s", sqlite3_errmsg(sql->db));
	return -EINVAL;
}

int sql_run(struct sql *sql, const char *text)
{
	return sqlite3_exec(sql->db, text, NULL, NULL, NULL) ? sql_error(sql) : 0;
}

/* Run and free a text of sqlite3_mprintf() or the like. */
static int run_made(struct sql *sql, char *text)
{
	int ret = text ? sql_run(sql, text) : -ENOMEM;

	sqlite3_free(text);
	return ret;
}

/* ------------------------------------------------------------------------
 * Names and tables
 */

/* The name of the table of each event: memory of SQLite. */
static int name_tables(struct sql *sql)
{
	struct event_kind *kind;

	for (kind = sql->visit->kinds; kind; kind = kind->next) {
		if (kind->is_missing)
			continue;
		kind->data = sqlite3_mprintf("%s/%s", kind->provider, kind->name);
		if (!kind->data)
			return -ENOMEM;
	}
	return 0;
}

void sql_free_names(struct sql *sql)
{
	struct event_kind *kind;

	for (kind = sql->visit ? sql->visit->kinds : NULL; kind; kind = kind->next)
		sqlite3_free(kind->data);
}

static bool is_same_event(const struct event_kind *a, const struct event_kind *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

/*
 * An event whose table would have the same name: SQL does not distinguish A from a, and a slash
 * may belong to either name. Return: NULL: none.
 */
static const struct event_kind *find_twin(const struct sql *sql, const struct event_kind *kind)
{
	const struct event_kind *other;

	for (other = sql->visit->kinds; other; other = other->next)
		if (other->data && !is_same_event(kind, other) &&
		    !sqlite3_stricmp(kind->data, other->data))
			return other;
	return NULL;
}

static bool has_table(const struct sql *sql, const struct event_kind *kind)
{
	return kind->data && !find_twin(sql, kind);
}

/* SQLite refuses views with such names. */
static bool is_reserved(const char *name)
{
	return !sqlite3_strnicmp(name, "sqlite_", strlen("sqlite_"));
}

/* The table PROVIDER/EVENT; @kind: NULL: that of all events. */
static int create_table(struct sql *sql, const struct event_kind *kind)
{
	sqlite3_str *text = sqlite3_str_new(sql->db);
	size_t i;

	sqlite3_str_appendf(text, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.\"%w\" USING %s(",
			    kind ? (const char *)kind->data : ALL_EVENTS,
			    kind ? EVENT_TABLE_MODULE : EVENT_TABLE_ALL);
	if (kind)
		sqlite3_str_appendf(text, "%Q, %Q, ", kind->provider, kind->name);
	for (i = 0; i < sql->files.count; i++)
		sqlite3_str_appendf(text, "%s%Q", i ? ", " : "", sql->files.names[i]);
	sqlite3_str_appendall(text, ")");
	return run_made(sql, sqlite3_str_finish(text));
}

/* Only so does SQLite accept names that begin with sqlite_. */
static void allow_reserved(struct sql *sql, bool allowed)
{
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, allowed, NULL);
}

int sql_create_tables(struct sql *sql)
{
	const struct event_kind *kind;
	int ret = name_tables(sql) ? : create_table(sql, NULL);

	allow_reserved(sql, true);
	for (kind = sql->visit->kinds; kind && !ret; kind = kind->next) {
		if (signals_stops())
			ret = -EINTR;
		else if (has_table(sql, kind))
			ret = create_table(sql, kind);
	}
	allow_reserved(sql, false);
	return ret;
}

/*
 * Do events of several providers have this name, or a table of ours, or may a table
 * PROVIDER/EVENT have it? Then there is no view with this name.
 */
static bool is_ambiguous(const struct sql *sql, const struct event_kind *kind)
{
	const struct event_kind *other;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own_tables); i++)
		if (!sqlite3_stricmp(kind->name, own_tables[i]))
			return true;
	if (strchr(kind->name, '/') || is_reserved(kind->name))
		return true;
	for (other = sql->visit->kinds; other; other = other->next)
		if (!other->is_missing && !sqlite3_stricmp(kind->name, other->name) &&
		    !is_same_event(kind, other))
			return true;
	return false;
}

/*
 * The view @name of a table. SQLite would scan a virtual table again for each row of
 * another one: for a query with several, each is copied first, which SQLite can index.
 */
static int create_view(struct sql *sql, const char *name, const char *table, bool copied)
{
	char *text;

	text = sqlite3_mprintf(copied ? "DROP VIEW IF EXISTS temp.\"%w\";"
			       "CREATE VIEW temp.\"%w\" AS WITH x AS MATERIALIZED"
			       " (SELECT * FROM \"%w\") SELECT * FROM x" :
			       "DROP VIEW IF EXISTS temp.\"%w\";"
			       "CREATE VIEW temp.\"%w\" AS SELECT * FROM \"%w\"",
			       name, name, table);
	return run_made(sql, text);
}

int sql_create_views(struct sql *sql, bool copied)
{
	const struct event_kind *kind;
	int ret = create_view(sql, "events", ALL_EVENTS, copied);

	for (kind = sql->visit->kinds; kind && !ret; kind = kind->next)
		if (has_table(sql, kind) && !is_ambiguous(sql, kind))
			ret = create_view(sql, kind->name, kind->data, copied);
	return ret;
}

/* ------------------------------------------------------------------------
 * The list of tables
 */

/*
 * struct table - a table
 * @name: shortest one
 * @source: the table that SQLite describes
 * @rows: number of rows
 */
struct table {
	const char *name;
	const char *source;
	uint64_t rows;
};

/* Is it a name in SQL without quotes? */
static bool is_bare(const char *name)
{
	const char *c = name;

	for (; isalpha((unsigned char)*c) || *c == '_' || (c > name && isdigit((unsigned char)*c));
	     c++)
		;
	return c > name && !*c && !sqlite3_keyword_check(name, (int)strlen(name));
}

/* As a query has it. */
static void put_identifier(struct elog_text *text, const char *name)
{
	char *quoted = sqlite3_mprintf(is_bare(name) ? "%s" : "\"%w\"", name);

	if (quoted)
		elog_text_visible(text, quoted, strlen(quoted));
	sqlite3_free(quoted);
}

static int compare_tables(const void *a, const void *b)
{
	const struct table *one = a, *other = b;

	return sqlite3_stricmp(one->name, other->name) ? : strcmp(one->source, other->source);
}

/* Own tables, then those of events by name. Return: their number; 0: no memory. */
static size_t list_tables(const struct sql *sql, struct table **list)
{
	const uint64_t rows[] = { sql->visit->events, sql->spans, sql->losses };
	const size_t own = ARRAY_SIZE(own_tables);
	struct table *tables = calloc(own + sql->visit->kind_count, sizeof(*tables));
	const struct event_kind *kind;
	size_t i, count = own, merged;

	if (!tables)
		return 0;
	for (i = 0; i < own; i++)
		tables[i] = (struct table){
			own_tables[i], i ? own_tables[i] : ALL_EVENTS, rows[i],
		};
	for (kind = sql->visit->kinds; kind; kind = kind->next)
		if (has_table(sql, kind))
			tables[count++] = (struct table){
				.name = is_ambiguous(sql, kind) ? kind->data : kind->name,
				.source = kind->data, .rows = kind->count,
			};
	qsort(tables + own, count - own, sizeof(*tables), compare_tables);
	/* Definitions of an event that differ are of one table. */
	for (i = merged = own; i < count; i++)
		if (merged > own && !strcmp(tables[merged - 1].source, tables[i].source))
			tables[merged - 1].rows += tables[i].rows;
		else
			tables[merged++] = tables[i];
	*list = tables;
	return merged;
}

/* ------------------------------------------------------------------------
 * Tables that are not there
 */

/* The event that is sought has no table of its own: say how to get one. Return: is it so? */
static bool is_twin_error(const struct sql *sql, const char *name)
{
	const struct event_kind *kind, *twin;

	for (kind = sql->visit->kinds; kind; kind = kind->next) {
		twin = kind->data && !strcmp(kind->data, name) ? find_twin(sql, kind) : NULL;
		if (!twin)
			continue;
		elog_error("no such table: %s: event '%s' of provider '%s' and event '%s' of "
			   "provider '%s' would both have it", name, kind->name, kind->provider,
			   twin->name, twin->provider);
		elog_hint("begin the query with: create virtual table temp.t using "
			  EVENT_TABLE_MODULE "('PROVIDER', 'EVENT', 'FILE');");
		return true;
	}
	return false;
}

/* A query has an error: list the tables, if it uses one that is not there. */
int sql_query_error(const struct sql *sql)
{
	const char *message = sqlite3_errmsg(sql->db);
	struct nearest nearest = { .sought = message + strlen(NO_TABLE) };
	struct elog_text list = { 0 };
	struct table *tables = NULL;
	size_t i, count;

	if (strncmp(message, NO_TABLE, strlen(NO_TABLE)))
		return sql_error(sql);
	if (is_twin_error(sql, nearest.sought))
		return -EINVAL;
	count = list_tables(sql, &tables);
	for (i = 0; i < count; i++) {
		nearest_offer(&nearest, tables[i].name);
		if (i < TABLES_MAX) {
			elog_text_string(&list, i ? ", " : "");
			put_identifier(&list, tables[i].name);
		}
	}
	nearest_error(&nearest, "%s", message);
	if (count > TABLES_MAX)
		elog_text_printf(&list, " and %zu others", count - TABLES_MAX);
	elog_hint("tables: %s", list.data ? : "");
	nearest_free(&nearest);
	elog_text_free(&list);
	free(tables);
	return -EINVAL;
}

/* The columns of a table: in text only those that not all tables have. */
static int put_columns(struct sql *sql, struct elog_text *text, const char *table)
{
	const enum output_format format = sql->options->print.format;
	char *query = sqlite3_mprintf("SELECT name, type FROM pragma_table_info(%Q) WHERE name NOT "
				      "IN (SELECT name FROM pragma_table_info(%Q) WHERE cid < %d)",
				      table, ALL_EVENTS,
				      format == FORMAT_TEXT ? EVENT_TABLE_COMMON : 0);
	struct elog_text list = { 0 };
	sqlite3_stmt *statement = NULL;
	const char *name, *type;
	int ret = query ? 0 : -ENOMEM;

	if (!ret && sqlite3_prepare_v2(sql->db, query, -1, &statement, NULL))
		ret = sql_error(sql);
	while (!ret && sqlite3_step(statement) == SQLITE_ROW) {
		name = (const char *)sqlite3_column_text(statement, 0) ? : "";
		type = (const char *)sqlite3_column_text(statement, 1) ? : "";
		elog_text_string(&list, !list.size ? "" : format == FORMAT_JSON ? "," : ", ");
		if (format == FORMAT_JSON)
			elog_text_json_string(&list, name, strlen(name));
		else
			put_identifier(&list, name);
		elog_text_printf(&list, format == FORMAT_JSON ? ":\"%s\"" : " %s", type);
	}
	if (format == FORMAT_CSV)
		put_cell(text, list.data ? : "", list.size);
	else
		elog_text_printf(text, format == FORMAT_JSON ? "{%s}" : "%s",
				 list.size ? list.data : "-");
	if (sqlite3_finalize(statement) && !ret)
		ret = sql_error(sql);
	ret = ret ? : list.error;
	sqlite3_free(query);
	elog_text_free(&list);
	return ret;
}

/* @table: NULL: the heading */
static int put_table(struct sql *sql, const struct table *table, int width)
{
	struct row row = {
		.format = sql->options->print.format, .text = &sql->output.text, .heading = !table,
	};
	struct elog_text *text;
	int ret = 0;

	row_begin(&row);
	if (row.format != FORMAT_TEXT)
		row_string(&row, "table", NULL, 0, table ? table->name : NULL);
	else if ((text = row_cell(&row, NULL, "TABLE", -width)))
		put_identifier(text, table->name);
	row_number(&row, "rows", "ROWS", 9, table ? table->rows : 0);
	text = row_cell(&row, "columns", "COLUMNS", 0);
	if (text)
		ret = put_columns(sql, text, table->source);
	row_end(&row);
	output_check(&sql->output);
	return ret;
}

int sql_print_tables(struct sql *sql)
{
	const bool heading = sql->options->print.format != FORMAT_JSON && !sql->options->quiet;
	struct table *tables = NULL;
	size_t i, count = list_tables(sql, &tables), width = 0;
	struct elog_text name = { 0 };
	int ret = count ? 0 : -ENOMEM;

	for (i = 0; i < count; i++) {
		name.size = 0;
		put_identifier(&name, tables[i].name);
		if (name.size > width && name.size <= NAME_WIDTH)
			width = name.size;
	}
	if (!ret && heading)
		ret = put_table(sql, NULL, (int)width);
	for (i = 0; i < count && !ret && sql_is_going(sql); i++)
		ret = put_table(sql, &tables[i], (int)width);
	if (!ret && heading && sql->options->print.format == FORMAT_TEXT)
		elog_text_string(&sql->output.text,
			"# and session, comm, instance, host, machine_id, boot_id TEXT; time, mono,\n"
			"# session_number, cpu, pid, tid INTEGER; spans and lost lack some of "
			"these\n");
	elog_text_free(&name);
	free(tables);
	return ret;
}
#endif
