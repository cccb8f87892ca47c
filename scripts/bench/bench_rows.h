/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmark programs share: errors, options, and results as lines that
 * scripts/bench/rows.sh describes.  A program declares each row before it measures.  One
 * thread only.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

/** fail() - print the reason and exit with status 2: the measurement is not valid */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The options that rows_option() handles, for getopt_long(). */
#define ROWS_LETTERS "b:r:h"
#define ROWS_OPTIONS \
	{ "batches", required_argument, NULL, 'b' }, \
	{ "rows", required_argument, NULL, 'r' }, \
	{ "help", no_argument, NULL, 'h' }

/**
 * rows_option() - handle --batches, --rows and --help
 * @option: from getopt_long(); exits with status 2 if it is another one
 * @help: the usage text
 * @batches: set by --batches
 *
 * --rows opens the file to which the results are appended.
 */
void rows_option(int option, const char *help, unsigned int *batches);

/** rows_close() - close the file of the results; fails if something was not written */
void rows_close(void);

/**
 * rows_declare() - declare a row of which less is better
 * @key: for the JSON
 * @unit: of the value
 * @format: what the row is
 */
void rows_declare(const char *key, const char *unit, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * rows_value() - set the result of a row
 * @key: declared
 * @minimum: the fastest batch
 * @median: the median batch
 */
void rows_value(const char *key, double minimum, double median);

/**
 * rows_not_run() - set the reason why a row has no result
 * @key: declared
 * @reason: from anywhere; control characters are replaced
 */
void rows_not_run(const char *key, const char *reason);

/**
 * rows_bar() - add a goal
 * @key: for the JSON
 * @relation: "below", "at-most" or "at-least"
 * @limit: the goal
 * @value: the result
 * @text: what is compared
 */
void rows_bar(const char *key, const char *relation, double limit, double value,
	      const char *text);

/**
 * rows_bar_unknown() - add a goal that cannot be checked
 * @key: for the JSON
 * @relation: as in rows_bar()
 * @limit: the goal
 * @text: what is compared
 */
void rows_bar_unknown(const char *key, const char *relation, double limit, const char *text);

#endif /* BENCH_ROWS_H */
