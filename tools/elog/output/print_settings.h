/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How events and tables are printed.
 */
#ifndef PRINT_SETTINGS_H
#define PRINT_SETTINGS_H

#include "util/tool.h"

/**
 * struct print_settings - how to print
 * @format: of all
 * @time: of times
 * @ids: of threads, in text
 * @fields: names of columns, separated by commas; NULL: the default
 * @complete: as elog export: all columns in each line, and a line for each loss
 * @hosts: events are of several hosts: print a column of their names
 * @instances: events may be of several instances: likewise
 * @quiet: no headings
 * @verbose: print more
 */
struct print_settings {
	enum output_format format;
	enum time_format time;
	enum ids_format ids;
	const char *fields;
	bool complete;
	bool hosts;
	bool instances;
	bool quiet;
	bool verbose;
};

#endif /* PRINT_SETTINGS_H */
