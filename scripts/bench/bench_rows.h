/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of the benchmark programs, as lines that scripts/bench/rows.sh describes.  A
 * program declares each row before it measures.  One thread only.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

/**
 * rows_open() - append the results to a file
 * @path: the file; NULL: the results are not kept
 *
 * Return: 0, or -1 with errno set.
 */
int rows_open(const char *path);

/**
 * rows_close() - close the file
 *
 * Return: 0, or -1 with errno set if something was not written.
 */
int rows_close(void);

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
