/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of elog sql: their names, a table and a view for each event, the list of them, and
 * the error of a query that uses one that is not there. cmd/sql.c reads the files first, and owns
 * the state.
 */
#ifndef SQL_TABLES_H
#define SQL_TABLES_H

#ifdef ELOG_SQLITE
#include <sqlite3.h>

#include "cmd/options.h"
#include "export/visit.h"
#include "input/parts.h"
#include "output/output.h"

/**
 * struct sql - the state of elog sql
 * @options: of the command line
 * @query: NULL: the tables are listed
 * @files: their names
 * @visit: of the files; the data of its kinds of events is the name PROVIDER/EVENT of a table
 * @output: what is printed
 * @db: the connection
 * @insert_loss: inserts into lost
 * @insert_span: inserts into spans; NULL: the query does not use them
 * @spans: number of spans
 * @losses: number of rows of lost
 */
struct sql {
	const struct options *options;
	const char *query;
	struct file_list files;
	struct visit *visit;
	struct output output;
	sqlite3 *db;
	sqlite3_stmt *insert_loss;
	sqlite3_stmt *insert_span;
	uint64_t spans;
	uint64_t losses;
};

/** sql_is_going() - can the output still be written? */
static inline bool sql_is_going(const struct sql *sql)
{
	return !sql->output.closed && !sql->output.error;
}

/** sql_error() - print the error of SQLite; return -EINVAL */
int sql_error(const struct sql *sql);

/** sql_run() - run statements without an answer; return 0 or a negative errno */
int sql_run(struct sql *sql, const char *text);

/** sql_create_tables() - create a table of each event that was visited, and of all */
int sql_create_tables(struct sql *sql);

/**
 * sql_create_views() - create or replace the view EVENT of each table PROVIDER/EVENT
 * @sql: the state
 * @copied: for a query with several tables: SQLite would scan a virtual table again for each
 *	row of another one, so each is copied first, which SQLite can index
 */
int sql_create_views(struct sql *sql, bool copied);

/** sql_query_error() - print the error of a query, and the tables if it lacks one */
int sql_query_error(const struct sql *sql);

/** sql_print_tables() - print all tables with their columns; return 0 or a negative errno */
int sql_print_tables(struct sql *sql);

/** sql_free_names() - free the names of tables */
void sql_free_names(struct sql *sql);
#endif

#endif /* SQL_TABLES_H */
