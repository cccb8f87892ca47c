/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds comparisons of a column of numbers with a text, as in duration > '50ms': for SQLite
 * each text is greater than each number, so their answer only looks like one.
 */
#ifndef TEXT_COMPARE_H
#define TEXT_COMPARE_H

#ifdef ELOG_SQLITE
#include <sqlite3.h>

/**
 * text_compare_find() - find a text that a statement compares with a column of numbers
 * @statement: the statement
 *
 * A text that is a number, as '404', is one for SQLite as well. Only texts in the statement are
 * found, not results of functions and operators, nor what is compared with such a result.
 *
 * Return: the text, to be freed by sqlite3_free(); NULL: there is none.
 */
char *text_compare_find(sqlite3_stmt *statement);
#endif

#endif /* TEXT_COMPARE_H */
