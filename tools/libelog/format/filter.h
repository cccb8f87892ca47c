/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Evaluation of struct eventlog_filter in user space, with the results that the kernel
 * has: for markers of programs, and for tests.
 *
 * No function allocates memory, takes a lock or makes a system call: they may be called
 * in signal handlers. The time is bounded: each term leads to a later one, and a term
 * reads at most EVENTLOG_TERM_STRING_MAX bytes of a marker's string. Filters are
 * immutable; any number of threads may use them.
 */
#ifndef LIBELOG_FILTER_H
#define LIBELOG_FILTER_H

#include "format/expression.h"

/* A number in a list of flags is shorter. It is decimal or hexadecimal, without unit. */
#define ELOG_FLAG_NUMBER_BYTES	24

/**
 * struct elog_filter_value - a value that a term compares
 * @type: its type
 * @is_signed: the integer is signed
 * @set: of enums and flags: their names; NULL: not known
 * @integer: of integers of all types, extended to 64 bits, in host byte order
 * @data: of other types: the bytes
 * @size: bytes at @data
 */
struct elog_filter_value {
	enum elog_type type;
	bool is_signed;
	const struct elog_schema_set *set;
	uint64_t integer;
	const void *data;
	size_t size;
};

/**
 * struct elog_filter_subject - what a filter is evaluated for
 * @field: gets a field by its name. Returns 0; -ENOENT: there is no such field; another
 *	negative errno: its value cannot be read
 * @common: gets METADATA_CPU, _PID, _TID, _COMM or _SESSION. Returns 0, or a negative
 *	errno: the value is not known
 * @of: argument of both
 */
struct elog_filter_subject {
	int (*field)(const void *of, const char *name, struct elog_filter_value *value);
	int (*common)(const void *of, enum metadata metadata, struct elog_filter_value *value);
	const void *of;
};

/**
 * struct elog_filter_record - the subject "a record"
 * @event: the record's schema
 * @item: the record; its payload need not be valid
 * @comm: the thread's name; may be NULL
 */
struct elog_filter_record {
	const struct elog_schema_event *event;
	const struct elog_item *item;
	const char *comm;
};

/** elog_filter_record_field() - &elog_filter_subject.field of struct elog_filter_record */
int elog_filter_record_field(const void *of, const char *name,
			     struct elog_filter_value *value);

/** elog_filter_record_common() - &elog_filter_subject.common of struct elog_filter_record */
int elog_filter_record_common(const void *of, enum metadata metadata,
			      struct elog_filter_value *value);

/**
 * elog_filter_check() - check a filter, as the kernel does
 * @filter: may come from anywhere; its pointers are valid, and its sizes are true
 *
 * Return: 0: the other functions may be called; -EINVAL: it is not valid, or has an
 * operation or a flag that this library does not know; -E2BIG: a limit is exceeded, or
 * terms have members that this library does not know.
 */
int elog_filter_check(const struct eventlog_filter *filter);

/**
 * elog_filter_fits() - can the subject's fields be compared as the filter says?
 * @filter: checked
 * @subject: the subject; values are not used, only types
 */
bool elog_filter_fits(const struct eventlog_filter *filter,
		      const struct elog_filter_subject *subject);

/**
 * elog_filter_holds() - evaluate a filter
 * @filter: checked
 * @subject: the subject
 * @incompatible: set if a field that was used is missing, or has another type; may be
 *	NULL
 *
 * Return: the result. A term is false if its field is missing, has another type or
 * cannot be read.
 */
bool elog_filter_holds(const struct eventlog_filter *filter,
		       const struct elog_filter_subject *subject, bool *incompatible);

#endif /* LIBELOG_FILTER_H */
