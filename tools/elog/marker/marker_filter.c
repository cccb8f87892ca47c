// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of markers: see marker_filter.h.
 */
#include "marker/marker_filter.h"

int marker_filter_compile(const char *text, struct elog_filter **filter,
			  struct elog_expression_error *error)
{
	const struct elog_expression *expressions[1];
	struct elog_expression *expression;
	int ret;

	*filter = NULL;
	if (!text)
		return 0;
	ret = elog_expression_parse(text, &expression, error);
	if (ret)
		return ret;
	expressions[0] = expression;
	ret = elog_expression_compile(expressions, 1, ELOG_FILTER_WHOLE, filter, error);
	elog_expression_free(expression);
	return ret;
}
