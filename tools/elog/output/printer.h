/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events and losses as text, JSON or CSV, as --format, --fields and --time say.
 */
#ifndef PRINTER_H
#define PRINTER_H

#include "input/source.h"
#include "output/output.h"

struct printer;

/**
 * printer_open() - prepare to print
 * @printer: set to the new printer
 * @options: outlive it
 * @output: where to; outlives it
 *
 * Return: 0, or a negative errno, the reason being told.
 */
int printer_open(struct printer **printer, const struct options *options,
		 struct output *output);

/** printer_close() - free it; NULL is fine */
void printer_close(struct printer *printer);

/** printer_event() - print an event */
void printer_event(struct printer *printer, const struct entry *entry);

/** printer_lost() - print a loss */
void printer_lost(struct printer *printer, const struct entry *entry);

/** printer_remark() - a line that is neither; nothing but text has room for it */
void printer_remark(struct printer *printer, const char *remark);

#endif /* PRINTER_H */
