/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of all verbs: names, arguments, help, and what each sets. Constant; only the parser
 * of the command line, options.c, uses it.
 */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "output/print_settings.h"

#define OPTIONS_MAX	128	/* in the table */

/**
 * struct option_definition - an option
 * @option: its letter, or enum long_option
 * @name: its long name
 * @argument: NULL: takes none; an argument in brackets is optional
 * @help: NULL: the verb has it
 * @take: takes the argument; NULL: the caller does
 * @member: offset in struct options of what it sets
 * @must: what the argument must be, for an error; NULL: see error_argument()
 */
struct option_definition {
	int option;
	const char *name;
	const char *argument;
	const char *help;
	bool (*take)(void *member, const char *argument);
	size_t member;
	const char *must;
};

/** option_formats - words of --format, by enum format */
extern const char *const option_formats[FORMATS];

/** option_column - where the last argument is wrong, from 1; 0: it has no such place */
extern unsigned int option_column;

/** option_find() - find an option by its letter or enum long_option; NULL: there is none */
const struct option_definition *option_find(int option);

#endif /* OPTION_TABLE_H */
