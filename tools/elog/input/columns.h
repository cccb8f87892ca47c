/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The properties that all events have, by which --fields names them.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

/** enum column - a property, or what a name in --fields stands for */
enum column {
	COLUMN_TIME,
	COLUMN_CPU,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_COMM,
	COLUMN_PROVIDER,
	COLUMN_SESSION,
	COLUMN_EVENT,
	COLUMN_LEVEL,
	COLUMN_KEYWORDS,
	COLUMN_INSTANCE,
	COLUMN_RECORD_FLAGS,		/* of a record from a producer ring */
	COLUMN_HOST,			/* that has written the file */
	COLUMN_FIELDS,		/* all fields of the event */
	COLUMN_FIELD,		/* one field */

	/* Only in what elog export writes: --fields means a field with such a name. */
	COLUMN_MONO,		/* CLOCK_MONOTONIC, ns */
	COLUMN_SPAN,		/* that the event ends */
	COLUMN_DURATION,	/* of the span, ns */
	COLUMN_MACHINE_ID,
	COLUMN_BOOT_ID,
	COLUMNS,
};

/* The names of all but COLUMN_FIELD. */
extern const char *const column_names[COLUMNS];

/** column_find() - the property of a name; COLUMN_FIELD if there is none */
enum column column_find(const char *name);

#endif /* COLUMNS_H */
