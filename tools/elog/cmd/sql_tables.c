// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of elog sql: see sql_tables.h. No state but that of the caller.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#ifdef ELOG_SQLITE
#include <sqlite3.h>
#endif

#include "cmd/sql_tables.h"
#include "sql/event_table.h"
#include "util/nearest.h"

#ifdef ELOG_SQLITE
#define TABLES_MAX	30	/* in a message */
#define NO_TABLE	"no such table: "
#define ALL_EVENTS	"/events"	/* no event has this table: names of providers are not empty */

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
	for (kind = sql->visit->kinds; kind && !ret; kind = kind->next)
		if (has_table(sql, kind))
			ret = create_table(sql, kind);
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
 * Tables that are not there
 */

/* Is it a name in SQL without quotes? */
static bool is_bare(const char *name)
{
	const char *c = name;

	for (; isalpha((unsigned char)*c) || *c == '_' || (c > name && isdigit((unsigned char)*c));
	     c++)
		;
	return c > name && !*c && !sqlite3_keyword_check(name, (int)strlen(name));
}

static void offer_table(struct nearest *nearest, struct elog_text *list, size_t *count,
			const char *name)
{
	char *quoted;

	nearest_offer(nearest, name);
	if ((*count)++ >= TABLES_MAX)
		return;
	quoted = sqlite3_mprintf(is_bare(name) ? "%s" : "\"%w\"", name);
	elog_text_printf(list, "%s%s", list->size ? ", " : "", quoted ? : name);
	sqlite3_free(quoted);
}

/* The event that is sought has no table of its own: say how to get one. Return: whether it is so. */
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
		elog_hint("begin the query with: create virtual table temp.t using " EVENT_TABLE_MODULE
			  "('PROVIDER', 'EVENT', 'FILE');");
		return true;
	}
	return false;
}

/* A query has an error: list the tables, if it uses one that is not there. */
int sql_query_error(const struct sql *sql)
{
	const char *message = sqlite3_errmsg(sql->db);
	struct nearest nearest = { .sought = message + strlen(NO_TABLE) };
	const struct event_kind *kind;
	struct elog_text list = { 0 };
	size_t i, count = 0;

	if (strncmp(message, NO_TABLE, strlen(NO_TABLE)))
		return sql_error(sql);
	if (is_twin_error(sql, nearest.sought))
		return -EINVAL;
	for (kind = sql->visit->kinds; kind; kind = kind->next)
		if (has_table(sql, kind))
			offer_table(&nearest, &list, &count,
				    is_ambiguous(sql, kind) ? kind->data : kind->name);
	for (i = 0; i < ARRAY_SIZE(own_tables); i++)
		offer_table(&nearest, &list, &count, own_tables[i]);
	nearest_error(&nearest, "%s", message);
	if (count > TABLES_MAX)
		elog_text_printf(&list, " and %zu others", count - TABLES_MAX);
	elog_hint("tables: %s", list.data ? : "");
	nearest_free(&nearest);
	elog_text_free(&list);
	return -EINVAL;
}
#endif
