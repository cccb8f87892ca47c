// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog sql: answers a query in SQL about the events of files. A table for each event reads
 * the files when it is scanned (sql/event_table.c); losses and spans are copied into tables
 * of their own, which SQLite keeps on the disk when they are large.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef ELOG_SQLITE
#include <sqlite3.h>
#endif

#include "cmd/sql_tables.h"
#include "cmd/verb.h"
#include "nats/stream.h"
#include "sql/event_table.h"
#include "sql/text_compare.h"
#include "util/session_number.h"
#include "util/signals.h"
#include "util/time_spec.h"

#ifdef ELOG_SQLITE
#define CHECK_STEPS	10000	/* of SQLite between two looks at signals */

static const char *const definitions[] = {
	"CREATE TEMP TABLE lost(time INTEGER, mono INTEGER, cpu INTEGER, cause TEXT,"
	" count INTEGER, invalid INTEGER, host TEXT, machine_id TEXT, boot_id TEXT)",
	"CREATE TEMP TABLE spans(time INTEGER, mono INTEGER, " EVENT_TABLE_SESSION ","
	" session_number INTEGER, cpu INTEGER, pid INTEGER, tid INTEGER, provider TEXT,"
	" name TEXT, duration INTEGER, host TEXT, machine_id TEXT, boot_id TEXT)",
};

/* ------------------------------------------------------------------------
 * Tables
 */

static int insert(sqlite3_stmt *statement)
{
	int ret = sqlite3_step(statement);

	sqlite3_reset(statement);
	return ret == SQLITE_DONE ? 0 : ret == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

static void bind_cpu(sqlite3_stmt *statement, int column, unsigned int cpu)
{
	if (cpu == EVENTLOG_CPU_UNKNOWN)
		sqlite3_bind_null(statement, column);
	else
		sqlite3_bind_int64(statement, column, cpu);
}

/* A null without a value. */
static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
}

static void bind_session(sqlite3_stmt *statement, int column, uint64_t session)
{
	char text[SESSION_TEXT_BYTES];

	snprintf(text, sizeof(text), "0x%" PRIx64, session);
	if (session) {
		sqlite3_bind_text(statement, column, text, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(statement, column + 1, (sqlite3_int64)session);
	} else {
		sqlite3_bind_null(statement, column);
		sqlite3_bind_null(statement, column + 1);
	}
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct sql *sql = context;
	sqlite3_stmt *statement = sql->insert_loss;
	const struct elog_item *item = &entry->item;
	unsigned int i;
	int ret = 0;

	(void)count;
	for (i = 0; i < item->lost_count && !ret; i++) {
		if (!item->lost[i])
			continue;
		sqlite3_bind_int64(statement, 1, wall_time(item->time, entry->wall_offset));
		sqlite3_bind_int64(statement, 2, (sqlite3_int64)item->time);
		bind_cpu(statement, 3, item->cpu);
		bind_text(statement, 4, i == CAUSE_INVALID ? "invalid" :
			  elog_lost_name(i) ? : "unknown");
		sqlite3_bind_int64(statement, 5, i == CAUSE_INVALID ? 0 :
				   (sqlite3_int64)item->lost[i]);
		sqlite3_bind_int64(statement, 6, i == CAUSE_INVALID ?
				   (sqlite3_int64)item->lost[i] : 0);
		bind_text(statement, 7, entry->host_name);
		bind_text(statement, 8, entry->machine_id);
		bind_text(statement, 9, entry->boot_id);
		ret = insert(statement);
		sql->losses++;
	}
	return ret;
}

static int take_event(void *context, struct visit_event *event)
{
	struct sql *sql = context;
	sqlite3_stmt *statement = sql->insert_span;
	const struct span *span = &event->match.span;

	event->kind->count++;
	sql->spans += event->match.ended;
	if (!event->match.ended || !statement)
		return 0;
	sqlite3_bind_int64(statement, 1, span->wall);
	sqlite3_bind_int64(statement, 2, (sqlite3_int64)span->time);
	bind_session(statement, 3, span->session);
	bind_cpu(statement, 5, span->cpu);
	sqlite3_bind_int64(statement, 6, span->pid);
	sqlite3_bind_int64(statement, 7, span->tid);
	bind_text(statement, 8, event->kind->provider);
	sqlite3_bind_text(statement, 9, span->role->start.name,
			  (int)span->role->start.name_size, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 10, (sqlite3_int64)span->duration);
	bind_text(statement, 11, event->entry->host_name);
	bind_text(statement, 12, event->entry->machine_id);
	bind_text(statement, 13, event->entry->boot_id);
	sqlite3_bind_int64(statement, 14, (sqlite3_int64)span->number);
	return insert(statement);
}

static const struct visit_ops visit_ops = { .event = take_event, .lost = take_loss };

/* Read the files once: damage and losses are reported, and the events are known. */
static int read_files(struct sql *sql)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(definitions) && !ret; i++)
		ret = sql_run(sql, definitions[i]);
	if (ret)
		return ret;
	if (sqlite3_prepare_v2(sql->db, "INSERT INTO lost VALUES(?,?,?,?,?,?,?,?,?)", -1,
			       &sql->insert_loss, NULL) ||
	    (sql->query && strcasestr(sql->query, "spans") &&
	     sqlite3_prepare_v2(sql->db, "INSERT INTO spans(time, mono, session, session_number,"
				" cpu, pid, tid, provider, name, duration, host, machine_id,"
				" boot_id, rowid) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
				-1, &sql->insert_span, NULL)))
		return sql_error(sql);
	ret = sql_run(sql, "BEGIN");
	if (!ret)
		ret = visit_run(sql->visit);
	if (ret)
		return ret == -EIO ? sql_error(sql) : ret;
	if (visit_is_unreadable(sql->visit))
		return -EBADMSG;
	ret = sql_run(sql, "COMMIT") ? : sql_create_tables(sql);
	return ret ? : sql_create_views(sql, false);
}

/* ------------------------------------------------------------------------
 * Results
 */

static void put_hex(struct elog_text *text, const unsigned char *data, int size)
{
	int i;

	for (i = 0; i < size; i++)
		elog_text_hex(text, data[i], 2);
}

static void put_bytes(const struct sql *sql, struct elog_text *text, const char *data, size_t size)
{
	if (sql->options->print.format == FORMAT_JSON)
		elog_text_json_string(text, data, size);
	else if (sql->options->print.format == FORMAT_CSV)
		put_cell(text, data, size);
	else
		elog_text_visible(text, data, size);
}

/* All digits, which SQLite's text has not, and as the other verbs print it. */
static void put_float(struct elog_text *text, bool json, double number)
{
	static const struct elog_schema_field field = { .type = ELOG_TYPE_FLOAT, .size = 8 };
	struct elog_value value = { .size = 8 };

	memcpy(&value.integer, &number, sizeof(number));
	(json ? elog_format_json_value : elog_format_value)(text, &field, &value);
}

static void put_value(const struct sql *sql, struct elog_text *text, sqlite3_stmt *statement,
		      int column)
{
	bool json = sql->options->print.format == FORMAT_JSON;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		elog_text_string(text, json ? "null" : "");
		break;
	case SQLITE_INTEGER:
		elog_text_printf(text, "%lld", sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		put_float(text, json, sqlite3_column_double(statement, column));
		break;
	case SQLITE_BLOB:
		elog_text_string(text, json ? "\"" : "");
		put_hex(text, sqlite3_column_blob(statement, column),
			sqlite3_column_bytes(statement, column));
		elog_text_string(text, json ? "\"" : "");
		break;
	default:
		put_bytes(sql, text, (const char *)sqlite3_column_text(statement, column),
			  (size_t)sqlite3_column_bytes(statement, column));
		break;
	}
}

static void put_row(struct sql *sql, sqlite3_stmt *statement, bool header)
{
	const bool json = sql->options->print.format == FORMAT_JSON;
	const char *separator = sql->options->print.format == FORMAT_TEXT ? "\t" : ",";
	struct elog_text *text = &sql->output.text;
	const char *name;
	int i;

	for (i = 0; i < sqlite3_column_count(statement); i++) {
		name = sqlite3_column_name(statement, i) ? : "";
		elog_text_string(text, i ? separator : json ? "{" : "");
		if (header || json)
			put_bytes(sql, text, name, strlen(name));
		if (json)
			elog_text_string(text, ":");
		if (!header)
			put_value(sql, text, statement, i);
	}
	elog_text_string(text, json ? "}\n" : "\n");
	output_check(&sql->output);
}

/* It would select nothing, or everything. */
static int check_comparisons(sqlite3_stmt *statement)
{
	char *text = text_compare_find(statement);
	int64_t span;

	if (!text)
		return 0;
	elog_error("a column of numbers is compared with the text '%s'", text);
	if (!time_span_parse(text, &span))
		elog_hint("a duration is nanoseconds: dur('%s')", text);
	else
		elog_hint("a duration, as dur('50ms'), and a time are nanoseconds");
	sqlite3_free(text);
	return -EINVAL;
}

static int run_statement(struct sql *sql, sqlite3_stmt *statement)
{
	int ret = check_comparisons(statement);

	if (ret)
		return ret;
	ret = SQLITE_DONE;
	if (sqlite3_column_count(statement) && sql->options->print.format != FORMAT_JSON &&
	    !sql->options->quiet)
		put_row(sql, statement, true);
	while (sql_is_going(sql) && (ret = sqlite3_step(statement)) == SQLITE_ROW)
		put_row(sql, statement, false);
	return ret == SQLITE_DONE || ret == SQLITE_ROW ? 0 : sql_error(sql);
}

/* Return: the number of scans of virtual tables in the plan; negative: an error. */
static int count_scans(struct sql *sql, const char *query)
{
	char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", query);
	sqlite3_stmt *statement = NULL;
	const char *detail;
	int count = 0;

	/* A query that is not valid fails again when it is run. */
	if (text && !sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL)) {
		while (statement && sqlite3_step(statement) == SQLITE_ROW) {
			detail = (const char *)sqlite3_column_text(statement, 3);
			count += detail && strstr(detail, "VIRTUAL TABLE INDEX");
		}
	}
	sqlite3_finalize(statement);
	sqlite3_free(text);
	return count;
}

static int run_query(struct sql *sql)
{
	const char *rest = sql->query;
	sqlite3_stmt *statement;
	int ret = 0;

	if (count_scans(sql, sql->query) > 1)
		ret = sql_create_views(sql, true);
	while (!ret && *rest && sql_is_going(sql)) {
		if (sqlite3_prepare_v2(sql->db, rest, -1, &statement, &rest))
			return sql_query_error(sql);
		if (statement)
			ret = run_statement(sql, statement);
		sqlite3_finalize(statement);
	}
	return ret;
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

/* Called by SQLite now and then. */
static int is_stopped(void *context)
{
	(void)context;
	signals_let_in();
	signals_hold();
	return signals_stops() != 0;
}

static int open_sql(struct sql *sql)
{
	if (sqlite3_open(":memory:", &sql->db))
		return sql->db ? sql_error(sql) : -ENOMEM;
	if (event_table_register(sql->db))
		return sql_error(sql);
	sqlite3_progress_handler(sql->db, CHECK_STEPS, is_stopped, NULL);
	/* A misspelled "column" is an error, not a text. */
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	return read_files(sql) ? : sql->query ? run_query(sql) : sql_print_tables(sql);
}

/* Is there a query behind the files? Without one the last argument is a file, too. */
static const char *find_query(const struct options *options)
{
	const char *last = options->arguments[options->argument_count - 1];

	return options->argument_count > 1 && access(last, F_OK) ? last : NULL;
}

/* They are read several times. */
static int check_files(const struct options *options, int count, const char *query)
{
	struct stat info;
	int i;

	for (i = 0; i < count; i++) {
		if (stream_is_url(options->arguments[i])) {
			elog_error("%s: a stream cannot be read several times, as SQL needs it; "
				   "write its events to tables: elog export --format parquet",
				   options->arguments[i]);
			return -EINVAL;
		}
		if (stat(options->arguments[i], &info) || S_ISREG(info.st_mode))
			continue;
		elog_error("%s: must be a regular file: it is read several times",
			   options->arguments[i]);
		return -EINVAL;
	}
	if (query && query[strspn(query, " \t\n")] == '.') {
		elog_error("'%s' is a command of the program sqlite3, not SQL", query);
		elog_hint("this prints the tables: elog sql %s", options->arguments[0]);
		return -EINVAL;
	}
	return 0;
}

static int run_sql(const struct options *options)
{
	struct visit_settings files = options->visit;	/* without the query */
	struct sql sql = { .options = options };
	int ret, error, status = STATUS_ERROR;

	if (!options->argument_count) {
		elog_error("FILE is missing");
		elog_hint("try: elog sql --help");
		return STATUS_ERROR;
	}
	sql.query = find_query(options);
	files.name_count -= sql.query != NULL;
	if (check_files(options, files.name_count, sql.query))
		return STATUS_ERROR;
	signal(SIGPIPE, SIG_IGN);
	/* Each scan of a table opens all files. */
	source_allow_files(UINT_MAX);
	output_open(&sql.output, options->color, options->separated);
	if (parts_find(&sql.files, files.names, files.name_count))
		elog_error("out of memory");
	else if (!visit_open(&sql.visit, &files, &visit_ops, &sql)) {
		ret = open_sql(&sql);
		if (ret == -ENOMEM)
			elog_error("out of memory");
		else if (ret == -E2BIG)
			elog_error("the files have more than %d kinds of events", VISIT_KINDS_MAX);
		error = output_close(&sql.output);
		if (error)
			elog_error("cannot write to stdout: %s", strerror(-error));
		status = visit_finish(sql.visit, ret || error);
	}
	output_close(&sql.output);
	sqlite3_finalize(sql.insert_loss);
	sqlite3_finalize(sql.insert_span);
	sqlite3_close(sql.db);
	sql_free_names(&sql);
	visit_close(sql.visit);
	parts_free(&sql.files);
	return status;
}
#else
static int run_sql(const struct options *options)
{
	(void)options;
	elog_error("this elog was built without SQLite");
	return STATUS_ERROR;
}
#endif

static const struct verb_option sql_options[] = {
	{ OPTION_FORMAT, "text (default): columns separated by tabs; json: one object\n"
	  "per line; or csv" },
	{ OPTION_SPAN, NULL },
	{ OPTION_BY, "START and END have equal values of these, instead of the same\n"
	  "session: names of fields, session, pid, tid, cpu, separated by\n"
	  "commas" },
	{ OPTION_PENDING, "keep at most N STARTs that wait for their END; default 131072" },
	{ 'q', "no summary, no progress, no names of columns" },
	{ 0, NULL },
};

const struct verb verb_sql = {
	.name = "sql",
	.summary = "answer a query in SQL about the events of files",
	.usage = "[OPTION...] FILE... [QUERY]",
	.description =
	"Answers QUERY about the events of FILEs, which elog capture -o wrote. Each event is a\n"
	"table with the columns time (ns since 1970), mono (ns of the monotonic clock), session\n"
	"(as text, '0x1'), session_number, cpu, pid, tid, comm, instance, host, machine_id,\n"
	"boot_id, and its fields. The table events has all events, their fields as JSON; lost\n"
	"the losses; and spans the time from each START to its END.\n"
	"\n"
	"Without QUERY it lists the tables and their columns. The name of a table is that of\n"
	"the event, or \"PROVIDER/EVENT\". percentile(duration, 99) is a percentile, and\n"
	"dur('50ms') a duration in nanoseconds.\n"
	"\n"
	"Exit status: 0 success; 1 an error, or a FILE was damaged; 2 events were lost\n"
	"during the capture.\n",
	.options = sql_options,
	.formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
	.run = run_sql,
};
