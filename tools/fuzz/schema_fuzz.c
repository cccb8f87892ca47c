// SPDX-License-Identifier: LGPL-2.1-only
/*
 * libFuzzer target: a schema, a NUL, a payload. An error must name a line. Each event of
 * a valid schema formats the payload, whatever it contains. Swapping the byte order of
 * a payload twice restores it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "file/swap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void format(const struct elog_schema_event *event, const void *payload,
		   size_t size, struct elog_text *text)
{
	unsigned char *turned = malloc(size ? size : 1);

	text->size = 0;
	elog_format_fields(text, event, payload, size);
	if (!turned)
		exit(1);
	memcpy(turned, payload, size);
	elog_swap_payload(event, turned, size);
	elog_format_fields(text, event, turned, size);
	elog_swap_payload(event, turned, size);
	if (memcmp(turned, payload, size))
		abort();
	free(turned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size), i, j;
	struct elog_schema_error error = { 0 };
	struct elog_schema_provider *provider;
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	char *copy, *payload;
	int ret;

	/* Copies of the exact size, so that reads beyond them are detected. */
	copy = malloc(length ? length : 1);
	payload = malloc(size - length + 1);
	if (!copy || !payload)
		exit(1);
	memcpy(copy, data, length);
	ret = elog_schema_parse(copy, length, &schema, &error);
	free(copy);
	if (ret && (!error.line || !error.message[0]))
		abort();
	/* The payload follows the NUL, if there is one. */
	size -= length;
	length += size > 0;
	size -= size > 0;
	payload = realloc(payload, size ? size : 1);
	if (!payload)
		exit(1);
	memcpy(payload, data + length, size);
	for (i = 0; !ret && i < schema->provider_count; i++) {
		provider = schema->providers[i];
		for (j = 0; j < provider->event_count; j++)
			format(provider->events[j], payload, size, &text);
	}
	if (!ret)
		elog_schema_free(schema);
	elog_text_free(&text);
	free(payload);
	return 0;
}
