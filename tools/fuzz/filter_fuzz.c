// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the terms and the pool of a filter, as a program passes them to the kernel,
 * and the payload of an event.  Terms that the check accepts can be bound and evaluated, for any
 * payload, with the same result each time, and all that they refer to is within the pool.
 *
 * The input: the number of terms, the bytes of the pool, the terms, the pool, the payload.
 */
#include <stdlib.h>

#include "elog.h"
#include "util/test_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema_text[] =
	"eventlog 1\nprovider tcp\nenum state\n\t1 ONE\n\t-2 TWO\nflags bits\n\t1 A\n\t6 BC\n"
	"event 1 all info -\n\tu8 a\n\ts8 b\n\tu64 c\n\ts64 d\n\tbool e\n\tenum:state:s8 f\n"
	"\tflags:bits:u16 g\n\tipv4 h\n\tipv6 i\n\tport j\n\tmac k\n\tchar[4] l\n\tu8[3] m\n"
	"\tstruct:x:2 n\n\tstring o\n\tbytes:rel p\n";

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* A copy of the exact size, so that reads beyond it are detected. */
static void *take(const uint8_t **data, size_t *left, size_t bytes)
{
	void *copy;

	if (bytes > *left)
		bytes = *left;
	copy = malloc(bytes ? bytes : 1);
	expect(copy);
	memcpy(copy, *data, bytes);
	*data += bytes;
	*left -= bytes;
	return copy;
}

static void evaluate(const struct eventlog_filter *filter, const struct elog_item *item)
{
	static struct elog_schema *schema;
	const struct elog_schema_event *event;
	bool incompatible, again, holds;

	if (!schema)
		expect(!elog_schema_parse(schema_text, sizeof(schema_text) - 1, &schema, NULL));
	event = schema->providers[0]->events[0];
	holds = record_filter_holds(filter, event, item, "comm", &incompatible);
	expect(!(holds && incompatible));
	expect(record_filter_holds(filter, event, item, "comm", &again) == holds);
	expect(again == incompatible);
	/* No term that a compatible filter reads is missing. */
	expect(!(record_filter_fits(filter, event) && incompatible));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elog_item item = { .pid = 1, .tid = 2, .cpu = 3, .session = 4 };
	struct eventlog_filter filter = { .term_size = sizeof(struct eventlog_term) };
	void *array, *pool, *payload;
	struct eventlog_terms terms;
	size_t bytes;

	if (size < 2)
		return 0;
	filter.term_count = 1 + data[0] % EVENTLOG_TERMS_MAX;
	filter.pool_size = data[1];
	bytes = filter.term_count * sizeof(struct eventlog_term);
	data += 2;
	size -= 2;
	if (size < bytes + filter.pool_size)
		return 0;
	array = take(&data, &size, bytes);
	pool = take(&data, &size, filter.pool_size);
	item.payload_size = size;
	payload = take(&data, &size, size);
	item.payload = payload;
	filter.terms = (uintptr_t)array;
	filter.pool = (uintptr_t)pool;
	terms = terms_of_filter(&filter);
	if (!eventlog_terms_check(&terms))
		evaluate(&filter, &item);
	free(array);
	free(pool);
	free(payload);
	return 0;
}
