// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the module's parsers of what programs register: a schema, or a command, a
 * NUL, and a payload.  What the module accepts, libelog accepts in a listing, and a payload that
 * the module accepts has all the data that its words refer to.
 *
 * The parsers are compiled for user space, see kernel.h.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* A copy of the exact size, so that reads beyond it are detected. */
static char *copy(const uint8_t *data, size_t size, size_t more)
{
	char *bytes = calloc(1, size + more + 1);

	expect(bytes);
	memcpy(bytes, data, size);
	return realloc(bytes, size + more ? size + more : 1);
}

/* @listing: as DESCRIBE returns it. */
static void check_listing(const char *listing, const uint8_t *data, size_t size, bool accepted)
{
	const struct elog_schema_event *event;
	struct elog_text text = { 0 };
	struct elog_schema *schema;
	char *payload = copy(data, size, 0);

	expect(!elog_schema_parse(listing, strlen(listing), &schema, NULL));
	expect(schema->provider_count == 1);
	expect(schema->providers[0]->event_count == 1);
	event = schema->providers[0]->events[0];
	expect(!accepted || size >= event->fixed_size);
	elog_format_fields(&text, event, payload, size);
	elog_text_free(&text);
	elog_schema_free(schema);
	free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t length = strnlen((const char *)data, size);
	const uint8_t *payload = data + length + (length < size);
	const size_t payload_size = size - (size_t)(payload - data);
	char *text = copy(data, length, 1), *listing, *bytes;
	bool accepted;

	bytes = copy(payload, payload_size, 0);
	listing = parser_schema(text, bytes, payload_size, &accepted);
	if (!listing)
		listing = parser_command(text, bytes, payload_size, &accepted);
	if (listing)
		check_listing(listing, payload, payload_size, accepted);
	free(listing);
	free(bytes);
	free(text);
	return 0;
}
