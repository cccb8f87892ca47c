/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of an event as an object in JSON. Inline, as session_number.h.
 */
#ifndef JSON_FIELDS_H
#define JSON_FIELDS_H

#include "libelog/util/text.h"

/** put_json_fields() - append the fields; @event: NULL: its definition is missing */
static inline void put_json_fields(struct elog_text *text, const struct elog_schema_event *event,
				   const struct elog_item *item)
{
	elog_text_put(text, "{", 1);
	if (event) {
		elog_format_json_fields(text, event, item->payload, item->payload_size);
	} else {
		elog_text_string(text, "\"payload\":");
		elog_text_json_string(text, item->payload, item->payload_size);
	}
	elog_text_put(text, "}", 1);
}

#endif /* JSON_FIELDS_H */
