/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: expressions, and predicates on records: elog_filter(7) describes the language.
 */
#ifndef ELOG_EXPRESSION_H
#define ELOG_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

struct elog_expression;
struct elog_predicate;

/* The longest text of an expression, and the deepest nesting in it. */
#define ELOG_EXPRESSION_MAX	65536
#define ELOG_EXPRESSION_DEPTH	64

/**
 * struct elog_expression_error - an error in an expression
 * @column: byte of the text, from 1
 * @message: the error; printable
 * @reserved: 0
 */
struct elog_expression_error {
	unsigned int column;
	char message[160];
	unsigned int reserved[3];
};

/**
 * elog_expression_parse() - parse an expression
 * @text: the text
 * @expression: set to the result. It is immutable: any number of threads may use it
 * @error: filled in on -EINVAL; may be NULL
 *
 * Memory usage is linear in the length of the text.
 *
 * Return: 0; -EINVAL the text has an error; -ENOMEM.
 */
int elog_expression_parse(const char *text, struct elog_expression **expression,
			  struct elog_expression_error *error);

/** elog_expression_free() - free an expression after its predicates; may be NULL */
void elog_expression_free(struct elog_expression *expression);

/**
 * elog_expression_bind() - make a predicate on the records of one event
 * @expression: must outlive the predicate
 * @event: the event's schema; not needed afterwards
 * @predicate: set to the result, or to NULL
 * @error: filled in on -EINVAL; may be NULL
 *
 * Looks up all names. Comparisons that cannot affect the result for this event need
 * not fit it. Example: "provider == tcp && state == LISTEN" for an event of another
 * provider.
 *
 * Return: 0; -ENOENT no record of the event can match, because the event lacks a
 * field, or has another provider, name or level; -EINVAL the expression does not fit
 * the types of the event's fields; -ENOMEM.
 */
int elog_expression_bind(const struct elog_expression *expression,
			 const struct elog_schema_event *event,
			 struct elog_predicate **predicate,
			 struct elog_expression_error *error);

/** enum elog_name_type - what a name in an expression is of */
enum elog_name_type {
	ELOG_NAME_NONE,		/* of a property that all records have */
	ELOG_NAME_FIELD,
	ELOG_NAME_PROVIDER,
	ELOG_NAME_EVENT,
	ELOG_NAME_KEYWORDS,
};

/**
 * struct elog_sought_name - a name that events may lack
 * @type: what it is of
 * @column: byte of the text, from 1
 * @name: the name, or keywords and masks separated by "|"; belongs to the expression
 * @reserved: 0
 */
struct elog_sought_name {
	enum elog_name_type type;
	unsigned int column;
	const char *name;
	uint64_t reserved[2];
};

/**
 * elog_expression_name() - get the name that a comparison looks up
 * @expression: the expression
 * @index: of the comparison, from 0
 * @name: filled in
 *
 * For messages about misspelled names: a name that no event has is not an error of the
 * expression. "byts > 1" has the field byts, and "provider == tpc" the provider tpc. An
 * event may have fields called provider, event or keywords; then the value of the
 * comparison is not the name of a provider, an event or a keyword.
 *
 * Return: 0; -ENOENT there are no more comparisons.
 */
int elog_expression_name(const struct elog_expression *expression, size_t index,
			 struct elog_sought_name *name);

/**
 * struct elog_filter - a filter that the kernel evaluates
 * @filter: for EVENTLOG_IOC_RULE_ADD and _MARKER_SET. It belongs to this
 *	struct, and so do the terms, the pool and the text that it points to
 * @text: the filter as an expression, on one line without control characters. Unlike
 *	the text in @filter, its length is not limited
 * @exact: the filter is true for an event exactly if all expressions are, provided that
 *	elog_expression_bind() accepts them for the event, and that the strings of the
 *	payload end within it, which the kernel verifies
 *
 * Only the library allocates this struct: it may grow at the end.
 */
struct elog_filter {
	const struct eventlog_filter *filter;
	const char *text;
	bool exact;
};

#define ELOG_FILTER_WHOLE (1U << 0) /* for markers: fail unless the kernel can decide everything */

/**
 * elog_expression_compile() - translate expressions for the kernel
 * @expressions: not needed afterwards; an event must match all of them
 * @count: of @expressions, at least 1
 * @flags: ELOG_FILTER_WHOLE, or 0
 * @filter: set to the result, or to NULL; the caller frees it with elog_filter_free()
 * @error: filled in on -EINVAL; may be NULL
 *
 * The kernel makes at most EVENTLOG_TERMS_MAX comparisons, with strings of less than
 * EVENTLOG_TERM_STRING_MAX bytes. It knows no regular expressions except plain text
 * behind "^". Besides fields it compares cpu, pid, tid, comm and session.
 *
 * The filter is true for each event that all expressions are true for. It may be true
 * for more events, unless it is exact: then the caller must evaluate the expressions,
 * too. Example: of "bytes > 1000 && path ~ x", the filter is "bytes > 1000".
 *
 * With ELOG_FILTER_WHOLE the filter is exact, and has the text of the expression.
 *
 * Return: 0; -ENOENT the kernel can decide nothing that would reject an event; -EINVAL
 * with ELOG_FILTER_WHOLE: the kernel cannot decide everything; -ENOMEM.
 */
int elog_expression_compile(const struct elog_expression *const *expressions, size_t count,
			    unsigned int flags, struct elog_filter **filter,
			    struct elog_expression_error *error);

/** elog_filter_free() - free a filter; may be NULL */
void elog_filter_free(struct elog_filter *filter);

/** elog_predicate_free() - free a predicate; may be NULL */
void elog_predicate_free(struct elog_predicate *predicate);

/**
 * elog_predicate_match() - test whether a record matches
 * @predicate: of the record's event; any number of threads may use it
 * @item: the record, an ELOG_ITEM_EVENT; its payload need not be valid
 * @comm: the thread's name; may be NULL unless elog_predicate_needs_comm()
 *
 * Stops as soon as the result is known. Allocates memory only for regular expressions
 * that are more than plain text with "^" or "$". Without memory for one, what it tests does not
 * hold, and errno becomes ENOMEM.
 */
bool elog_predicate_match(const struct elog_predicate *predicate,
			  const struct elog_item *item, const char *comm);

/** elog_predicate_needs_comm() - does the result depend on the thread's name? */
bool elog_predicate_needs_comm(const struct elog_predicate *predicate);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_EXPRESSION_H */
