/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What elog adds to the language of SQLite: the functions percentile() and dur(), and the
 * order of sessions.
 */
#ifndef SQL_FUNCTIONS_H
#define SQL_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef ELOG_SQLITE_EXTENSION
#include <sqlite3ext.h>
#elif defined(ELOG_SQLITE)
#include <sqlite3.h>
#endif

#if defined(ELOG_SQLITE_EXTENSION) || defined(ELOG_SQLITE)
/** sql_functions_register() - add them to a connection; return: a result of SQLite */
int sql_functions_register(sqlite3 *db);

/** sql_session_parse() - parse a session of @size bytes; return: false if it is none */
bool sql_session_parse(const void *text, int size, uint64_t *session);
#endif

#endif /* SQL_FUNCTIONS_H */
