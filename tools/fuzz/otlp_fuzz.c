// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: what a receiver of OpenTelemetry answers, to a request that it accepts and to
 * one that fails. What it says is within the answer.
 */
#include <stdlib.h>
#include <string.h>

#include "export/otlp_answer.h"
#include "libelog/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const struct otlp_message *message, const struct elog_text *body)
{
	if (!message->text)
		return;
	if (message->text < body->data || message->size > body->size ||
	    message->text > body->data + (body->size - message->size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elog_text body = { 0 };
	struct otlp_message message;
	uint64_t refused;

	/* It ends with a NUL, which is not part of it, as the body of an answer does. */
	body.data = malloc(size + 1);
	if (!body.data)
		exit(1);
	memcpy(body.data, data, size);
	body.data[size] = '\0';
	body.size = size;
	if (!otlp_read_accepted(&body, &refused, &message) && refused && !size)
		abort();
	check_message(&message, &body);
	if (otlp_read_error(&body, &message)) {
		check_message(&message, &body);
		if (!elog_is_text(message.text, message.text + message.size))
			abort();
	}
	free(body.data);
	return 0;
}
