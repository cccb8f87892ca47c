/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of markers in the kernel's format. A predicate belongs to its caller.
 */
#ifndef MARKER_PREDICATE_H
#define MARKER_PREDICATE_H

#include "util/tool.h"

/**
 * struct marker_predicate - a predicate
 * @count: of @terms; 0: no predicate
 * @terms: the kernel's format
 * @text: as text, on one line without tabs
 */
struct marker_predicate {
	uint32_t count;
	struct eventlog_term terms[EVENTLOG_TERMS_MAX];
	char text[EVENTLOG_PREDICATE_MAX];
};

/**
 * marker_predicate_parse() - parse a predicate
 * @text: an expression, elog_filter(7)
 * @predicate: filled in
 * @error: filled in on -EINVAL
 *
 * Return: 0; -EINVAL: it is invalid, or the kernel does not support it; -ENOMEM.
 */
int marker_predicate_parse(const char *text, struct marker_predicate *predicate,
			   struct elog_expression_error *error);

/**
 * marker_predicate_put() - store a predicate in a request
 * @predicate: outlives the request
 * @terms: member of the request
 * @count: member of the request
 * @text: member of the request
 */
void marker_predicate_put(const struct marker_predicate *predicate, __u64 *terms,
			  __u32 *count, __u64 *text);

#endif /* MARKER_PREDICATE_H */
