/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of markers: the kernel, or the program, decides all of them.
 */
#ifndef MARKER_FILTER_H
#define MARKER_FILTER_H

#include "util/tool.h"

struct marker_choice;

/**
 * marker_filter_compile() - compile the filter of a marker
 * @text: an expression, elog_filter(7); NULL: there is no filter
 * @filter: set to the result, for elog_filter_free(); NULL without @text
 * @error: filled in on -EINVAL
 *
 * Return: 0; -EINVAL: it is invalid, or the kernel does not support it; -ENOMEM.
 */
int marker_filter_compile(const char *text, struct elog_filter **filter,
			  struct elog_expression_error *error);

/**
 * marker_filter_explain() - print the fields in --if that no marker of a module has
 * @predicate: --if
 * @fd: the device
 * @choice: which markers are meant
 *
 * Prints nothing if memory is short.
 */
void marker_filter_explain(const char *predicate, int fd, const struct marker_choice *choice);

/** marker_filter_pointer() - the member "filter" of a request; 0 for NULL */
static inline __u64 marker_filter_pointer(const struct elog_filter *filter)
{
	return filter ? (uintptr_t)filter->filter : 0;
}

#endif /* MARKER_FILTER_H */
