/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual table of SQLite for the events of .elog files, for elog sql and for SQLite's
 * own programs, which load it as an extension.
 */
#ifndef EVENT_TABLE_H
#define EVENT_TABLE_H

#ifdef ELOG_SQLITE_EXTENSION
#include <sqlite3ext.h>
#elif defined(ELOG_SQLITE)
#include <sqlite3.h>
#endif

/* CREATE VIRTUAL TABLE name USING elog(PROVIDER, EVENT, FILE, ...), each a string. */
#define EVENT_TABLE_MODULE	"elog"

#if defined(ELOG_SQLITE_EXTENSION) || defined(ELOG_SQLITE)
/** event_table_register() - add the module to a connection; return: a result of SQLite */
int event_table_register(sqlite3 *db);
#endif

#endif /* EVENT_TABLE_H */
