/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of markers, as the kernel takes them. Belongs to its caller.
 */
#ifndef MARKER_PREDICATE_H
#define MARKER_PREDICATE_H

#include "util/tool.h"

/**
 * struct marker_predicate - a predicate
 * @count: of @terms; 0: there is none
 * @terms: what the kernel compares
 * @text: how it is written, on one line without tabs
 */
struct marker_predicate {
	uint32_t count;
	struct eventlog_term terms[EVENTLOG_TERMS_MAX];
	char text[EVENTLOG_PREDICATE_MAX];
};

/**
 * marker_predicate_parse() - understand a predicate
 * @text: an expression, elog_filter(7)
 * @predicate: filled in
 * @error: filled in on -EINVAL
 *
 * Return: 0; -EINVAL: it is wrong, or the kernel does not do it; -ENOMEM.
 */
int marker_predicate_parse(const char *text, struct marker_predicate *predicate,
			   struct elog_expression_error *error);

/**
 * marker_predicate_put() - have a request set it
 * @predicate: outlives the request
 * @terms: the request's
 * @count: likewise
 * @text: likewise
 */
void marker_predicate_put(const struct marker_predicate *predicate, __u64 *terms,
			  __u32 *count, __u64 *text);

#endif /* MARKER_PREDICATE_H */
