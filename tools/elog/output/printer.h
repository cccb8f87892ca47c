/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Printing events and losses as text, JSON or CSV.
 */
#ifndef PRINTER_H
#define PRINTER_H

#include "input/source.h"
#include "output/output.h"
#include "output/print_settings.h"

struct printer;

/**
 * printer_open() - prepare to print
 * @printer: set to the new printer
 * @settings: outlive the printer
 * @output: to print to; outlives the printer
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int printer_open(struct printer **printer, const struct print_settings *settings,
		 struct output *output);

/** printer_close() - free it; NULL is allowed */
void printer_close(struct printer *printer);

/** printer_event() - print an event */
void printer_event(struct printer *printer, const struct entry *entry);

/** printer_lost() - print a loss */
void printer_lost(struct printer *printer, const struct entry *entry);

/** printer_remark() - print another line; only in text */
void printer_remark(struct printer *printer, const char *remark);

#endif /* PRINTER_H */
