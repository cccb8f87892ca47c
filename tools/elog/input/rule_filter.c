// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter of the rules of a live run: see rule_filter.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/rule_filter.h"

int rule_filter_parse(const struct selection_spec *spec, struct elog_expression **expressions)
{
	struct elog_expression_error error;
	size_t i;
	int ret;

	for (i = 0; i < spec->expressions.count; i++) {
		ret = elog_expression_parse(spec->expressions.strings[i], &expressions[i], &error);
		if (ret == -EINVAL) {
			elog_error("-f '%s': column %u: %s", spec->expressions.strings[i],
				   error.column, error.message);
			elog_hint("man 7 elog_filter");
		} else if (ret) {
			elog_error("out of memory");
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* Say who decides what. */
static void print_filter(const struct selection_spec *spec, const struct elog_filter *filter)
{
	struct elog_text text = { 0 };
	const char *between = "";
	size_t i;

	elog_text_string(&text, "elog: filter in ");
	if (filter) {
		elog_text_printf(&text, "the kernel: %s", filter->text);
		between = "; in ";
	}
	if (!filter || !filter->exact) {
		elog_text_printf(&text, "%selog: ", between);
		between = "";
		for (i = 0; i < spec->expressions.count; i++, between = " && ")
			elog_text_printf(&text, spec->expressions.count > 1 ? "%s(%s)" : "%s%s",
					 between, spec->expressions.strings[i]);
	}
	if (!text.error)
		fprintf(stderr, "%s\n", text.data);
	elog_text_free(&text);
}

int rule_filter_compile(const struct selection_spec *spec, bool verbose,
			struct elog_filter **filter)
{
	size_t count = spec->expressions.count, i;
	struct elog_expression **expressions;
	int ret;

	*filter = NULL;
	if (!count)
		return 0;
	expressions = calloc(count, sizeof(*expressions));
	if (!expressions) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	ret = rule_filter_parse(spec, expressions);
	if (ret)
		goto out;
	ret = elog_expression_compile((const struct elog_expression *const *)expressions, count,
				      0, filter, NULL);
	if (ret == -ENOENT)
		ret = 0;
	if (ret)
		elog_error("out of memory");
	else if (verbose)
		print_filter(spec, *filter);
out:
	for (i = 0; i < count; i++)
		elog_expression_free(expressions[i]);
	free(expressions);
	return ret;
}
