// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of markers: see marker_filter.h.
 */
#include <stdlib.h>
#include <string.h>

#include "input/select.h"
#include "marker/marker.h"
#include "marker/marker_filter.h"
#include "util/nearest.h"

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

/* Has a marker's event the field that is sought? Offer its other fields. */
static bool has_field(int fd, const struct marker *marker, struct nearest *nearest)
{
	struct eventlog_describe describe = {
		.size = sizeof(describe), .descriptor = marker->next.descriptor,
	};
	const struct elog_schema_event *event;
	struct elog_schema *schema = NULL;
	bool found = false;
	char *text;
	size_t i;

	if (elog_device_describe(fd, &describe, &text))
		return false;
	if (!elog_schema_parse(text, strlen(text), &schema, NULL) && schema->provider_count &&
	    schema->providers[0]->event_count) {
		event = schema->providers[0]->events[0];
		found = find_field(event, nearest->sought) != NULL;
		for (i = 0; i < event->field_count; i++)
			nearest_offer(nearest, event->fields[i]->name);
	}
	elog_schema_free(schema);
	free(text);
	return found;
}

void marker_filter_explain(const char *predicate, int fd, const struct marker_choice *choice)
{
	struct elog_expression *expression = NULL;
	struct marker_list list = { 0 };
	struct elog_sought_name name;
	size_t index, i;

	if (markers_read(fd, &list) || elog_expression_parse(predicate, &expression, NULL))
		goto out;
	for (index = 0; !elog_expression_name(expression, index, &name); index++) {
		struct nearest nearest = { .sought = name.name };

		if (name.type != ELOG_NAME_FIELD)
			continue;
		for (i = 0; i < list.count; i++)
			if (marker_is_chosen(choice, &list.markers[i]) &&
			    has_field(fd, &list.markers[i], &nearest))
				break;
		if (i == list.count)
			nearest_error(&nearest, "--if '%s': column %u: no field '%s'",
				      predicate, name.column, name.name);
		nearest_free(&nearest);
	}
out:
	elog_expression_free(expression);
	markers_free(&list);
}
