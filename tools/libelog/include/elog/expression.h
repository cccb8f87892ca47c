/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libelog: expressions, and predicates on records: elog_filter(7) describes the language.
 */
#ifndef ELOG_EXPRESSION_H
#define ELOG_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/eventlog.h>

#include "elog/item.h"
#include "elog/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

struct elog_expression;
struct elog_predicate;

/* The longest text of an expression, and what is nested deepest in one. */
#define ELOG_EXPRESSION_MAX	65536
#define ELOG_EXPRESSION_DEPTH	64

/**
 * struct elog_expression_error - where and why an expression is wrong
 * @column: byte of the text, from 1
 * @message: what is wrong there; printable
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
 * @expression: set to the result, which never changes: any number of threads
 *	may use it
 * @error: filled in on -EINVAL; may be NULL
 *
 * Memory grows linearly with the text.
 *
 * Return: 0, -EINVAL for a wrong text, -ENOMEM.
 */
int elog_expression_parse(const char *text, struct elog_expression **expression,
			  struct elog_expression_error *error);

/** elog_expression_free() - free an expression no predicate of which is left; NULL is fine */
void elog_expression_free(struct elog_expression *expression);

/**
 * elog_expression_bind() - make a predicate on the records of one event
 * @expression: which must outlive the predicate
 * @event: the event's schema; not needed any more afterwards
 * @predicate: set to the result, or to NULL
 * @error: filled in on -EINVAL; may be NULL
 *
 * All names are looked up here. What cannot matter for this event, as in
 * "provider == tcp && state == LISTEN" for one of another provider, need not fit
 * it.
 *
 * Return: 0; -ENOENT no record of the event can match, for it lacks fields, or
 * is of another provider, name or level; -EINVAL the expression does not fit
 * the types of the event's fields; -ENOMEM.
 */
int elog_expression_bind(const struct elog_expression *expression,
			 const struct elog_schema_event *event,
			 struct elog_predicate **predicate,
			 struct elog_expression_error *error);

/**
 * elog_expression_terms() - what the kernel takes for an expression
 * @expression: not needed any more afterwards
 * @terms: room for EVENTLOG_TERMS_MAX
 * @count: set to how many there are
 * @error: filled in on -EINVAL; may be NULL
 *
 * For EVENTLOG_IOC_MARKER_SET, which see for what a marker has to have. The kernel
 * makes EVENTLOG_TERMS_MAX comparisons at most, knows no regular expressions but
 * plain text behind "^", and besides fields only cpu, pid, tid and comm.
 *
 * Return: 0; -EINVAL the expression has what the kernel does not do.
 */
int elog_expression_terms(const struct elog_expression *expression,
			  struct eventlog_term *terms, uint32_t *count,
			  struct elog_expression_error *error);

/** elog_predicate_free() - free a predicate; NULL is fine */
void elog_predicate_free(struct elog_predicate *predicate);

/**
 * elog_predicate_match() - does a record match?
 * @predicate: of the record's event; any number of threads may use it
 * @item: the record, an ELOG_ITEM_EVENT; its payload is trusted in nothing
 * @comm: the thread's name; may be NULL without elog_predicate_needs_comm()
 *
 * Looks at no more than it takes. Only regular expressions that are more than
 * plain text, with "^" or "$" at most, allocate memory.
 */
bool elog_predicate_match(const struct elog_predicate *predicate,
			  const struct elog_item *item, const char *comm);

/** elog_predicate_needs_comm() - does the thread's name matter? */
bool elog_predicate_needs_comm(const struct elog_predicate *predicate);

#ifdef __cplusplus
}
#endif

#endif /* ELOG_EXPRESSION_H */
