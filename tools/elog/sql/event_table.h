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

/*
 * CREATE VIRTUAL TABLE name USING elog_events(FILE, ...): all events, with the columns that
 * the others have in common, and provider, event, level and fields.
 */
#define EVENT_TABLE_ALL		"elog_events"
#define EVENT_TABLE_COMMON	12	/* columns */

/*
 * The column of sessions: text as elog prints it. It is equal to any other way to write the
 * same number, and sorted as a number.
 */
#define EVENT_TABLE_SESSION	"session TEXT COLLATE elog_session"

#if defined(ELOG_SQLITE_EXTENSION) || defined(ELOG_SQLITE)
/** event_table_register() - add what is above to a connection; return: a result of SQLite */
int event_table_register(sqlite3 *db);
#endif

#endif /* EVENT_TABLE_H */
