// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the benchmark programs share: see bench_rows.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_rows.h"

static FILE *rows;

void fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

void rows_option(int option, const char *help, unsigned int *batches)
{
	switch (option) {
	case 'b':
		*batches = strtoul(optarg, NULL, 10);
		if (!*batches || *batches > 1000000)
			fail("--batches: not a number of batches: %s", optarg);
		break;
	case 'r':
		rows = fopen(optarg, "ae");
		if (!rows)
			fail("%s: %s", optarg, strerror(errno));
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		fputs(help, stderr);
		exit(2);
	}
}

void rows_close(void)
{
	if (rows && fclose(rows))
		fail("cannot write the results: %s", strerror(errno));
	rows = NULL;
}

/* Tabs and newlines separate words and lines. */
static void put_text(const char *text)
{
	for (; *text; text++)
		putc((unsigned char)*text < ' ' ? ' ' : *text, rows);
}

/* The rows survive a program that is killed. */
static void end_line(void)
{
	putc('\n', rows);
	fflush(rows);
}

void rows_declare(const char *key, const char *unit, const char *format, ...)
{
	char text[256];
	va_list arguments;

	if (!rows)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(rows, "row\t%s\t%s\tless\t", key, unit);
	put_text(text);
	end_line();
}

void rows_value(const char *key, double minimum, double median)
{
	if (!rows)
		return;
	fprintf(rows, "value\t%s\t%.3f\t%.3f", key, minimum, median);
	end_line();
}

void rows_not_run(const char *key, const char *reason)
{
	if (!rows)
		return;
	fprintf(rows, "not_run\t%s\t", key);
	put_text(reason);
	end_line();
}

void rows_bar(const char *key, const char *relation, double limit, double value, const char *text)
{
	if (!rows)
		return;
	fprintf(rows, "bar\t%s\t%s\t%.3f\t%.3f\t", key, relation, limit, value);
	put_text(text);
	end_line();
}

void rows_bar_unknown(const char *key, const char *relation, double limit, const char *text)
{
	if (!rows)
		return;
	fprintf(rows, "bar\t%s\t%s\t%.3f\t-\t", key, relation, limit);
	put_text(text);
	end_line();
}
