// SPDX-License-Identifier: GPL-2.0-only
/*
 * What receivers of OpenTelemetry answer: see otlp_answer.h.
 */
#include "export/otlp_answer.h"
#include "export/protobuf.h"

/* Field 1, if there is one, says how many records the receiver refuses, and why. */
bool otlp_read_accepted(const struct elog_text *body, uint64_t *refused,
			struct otlp_message *message)
{
	const char *at = body->data, *end = at + body->size, *inner;
	struct pb_field field, part;
	int ret = 0, inner_ret;

	*refused = 0;
	*message = (struct otlp_message){ 0 };
	while (body->size && (ret = pb_next(&at, end, &field)) > 0) {
		if (field.number != 1)
			continue;
		if (field.type != PB_BYTES)
			return false;
		inner = field.data;
		while ((inner_ret = pb_next(&inner, field.data + field.size, &part)) > 0) {
			if (part.number == 1 && part.type == PB_VARINT)
				*refused = part.value;
			else if (part.number == 2 && part.type == PB_BYTES)
				*message = (struct otlp_message){ part.data, part.size };
		}
		if (inner_ret)
			return false;
	}
	return !ret;
}

/* It is a protobuf with a text in field 2, or text. */
bool otlp_read_error(const struct elog_text *body, struct otlp_message *message)
{
	const char *at = body->data, *end = at + body->size, *text = at;
	size_t size = body->size;
	struct pb_field field;

	*message = (struct otlp_message){ 0 };
	if (!body->size)
		return false;
	while (pb_next(&at, end, &field) > 0) {
		if (field.number == 2 && field.type == PB_BYTES) {
			text = field.data;
			size = field.size;
		}
	}
	if (text == body->data)
		size = strcspn(text, "\r\n");
	if (!elog_is_text(text, text + size))
		return false;
	*message = (struct otlp_message){ text, size };
	return true;
}
