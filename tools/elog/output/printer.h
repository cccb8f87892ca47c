/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Printing events and losses as text, JSON or CSV.
 */
#ifndef PRINTER_H
#define PRINTER_H

#include "input/source.h"
#include "output/print_settings.h"

struct printer;

/**
 * struct printed_span - a span that an event ends
 * @name: of the span
 * @name_size: bytes of @name
 * @duration: ns
 */
struct printed_span {
	const char *name;
	size_t name_size;
	uint64_t duration;
};

/**
 * printer_open() - prepare to print
 * @printer: set to the new printer
 * @settings: outlive the printer
 * @text: to append to; outlives the printer
 * @colour: with colours
 *
 * Return: 0, or a negative errno; the reason was printed.
 */
int printer_open(struct printer **printer, const struct print_settings *settings,
		 struct elog_text *text, bool colour);

/** printer_close() - free it; NULL is allowed */
void printer_close(struct printer *printer);

/** printer_event() - print an event, and the span that it ends, or NULL */
void printer_event(struct printer *printer, const struct entry *entry,
		   const struct printed_span *span);

/** printer_time() - print only the time of an event */
void printer_time(struct printer *printer, const struct entry *entry);

/** printer_lost() - print a loss */
void printer_lost(struct printer *printer, const struct entry *entry);

/** printer_remark() - print another line; only in text */
void printer_remark(struct printer *printer, const char *remark);

#endif /* PRINTER_H */
