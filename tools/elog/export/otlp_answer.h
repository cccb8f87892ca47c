/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What receivers of OpenTelemetry answer. Nothing of it is trusted. No state, no locks.
 */
#ifndef OTLP_ANSWER_H
#define OTLP_ANSWER_H

#include <stdbool.h>

#include "util/tool.h"

/**
 * struct otlp_message - what a receiver says, a part of its answer
 * @text: not NUL-terminated; NULL: it says nothing
 * @size: bytes of @text
 */
struct otlp_message {
	const char *text;
	size_t size;
};

/**
 * otlp_read_accepted() - read the answer to a request that was accepted
 * @body: the answer
 * @refused: set to the number of records that the receiver says it refuses
 * @message: set
 *
 * Return: false: this is no such answer.
 */
bool otlp_read_accepted(const struct elog_text *body, uint64_t *refused,
			struct otlp_message *message);

/** otlp_read_error() - read the reason of an error; false: there is none that is text */
bool otlp_read_error(const struct elog_text *body, struct otlp_message *message);

#endif /* OTLP_ANSWER_H */
