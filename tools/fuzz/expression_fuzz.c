// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: a NUL-terminated expression and a payload. Errors must have a
 * position within the text, and a second match must give the same result. The filter for
 * the kernel must be valid, and true for each event that matches. The payload is also
 * formatted as text and as JSON.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elog.h"
#include "util/test_filter.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema_text[] =
	"eventlog 1\n"
	"provider tcp\n"
	"keyword conn 0x1\n"
	"enum state\n\t1 ONE\n\t-2 TWO\n"
	"flags bits\n\t0 NONE\n\t1 A\n\t6 BC\n"
	"event 1 all info conn\n"
	"	u8 a\n"
	"	s8 b as hex\n"
	"	u64 c\n"
	"	s64 d\n"
	"	bool e\n"
	"	enum:state:s8 f\n"
	"	flags:bits:u16 g\n"
	"	ipv4 h\n"
	"	ipv6 i\n"
	"	port j\n"
	"	mac k\n"
	"	duration l\n"
	"	time m\n"
	"	ptr n\n"
	"	char[4] o\n"
	"	u8[3] p\n"
	"	struct:x:2 q\n"
	"	string r\n"
	"	bytes:rel s\n"
	"event 2 bare error -\n";

static const struct elog_schema *schema;

/* Has it a dynamic field that is damaged? The kernel takes no such event. */
static bool is_damaged(const struct elog_schema_event *record, const struct elog_item *item)
{
	struct elog_value value;
	size_t i;

	for (i = 0; i < record->field_count; i++)
		if (elog_decode(record->fields[i], item->payload, item->payload_size,
				&value) == -EBADMSG)
			return true;
	return false;
}

/* @result: of the expression. @bound: elog_expression_bind() accepted it. */
static void check_filter(const struct elog_expression *expression, unsigned int event,
			 const struct elog_item *item, bool result, bool bound)
{
	const struct elog_schema_event *record = schema->providers[0]->events[event];
	struct eventlog_terms terms;
	struct elog_filter *filter;
	bool holds, incompatible;

	if (elog_expression_compile(&expression, 1, 0, &filter, NULL))
		return;
	terms = terms_of_filter(filter->filter);
	if (eventlog_terms_check(&terms))
		abort();
	holds = record_filter_holds(filter->filter, record, item, "comm", &incompatible);
	if (result && !holds)
		abort();
	if (filter->exact && bound && holds != result && !is_damaged(record, item))
		abort();
	elog_filter_free(filter);
	/* The text may be too long for this. */
	if (!elog_expression_compile(&expression, 1, ELOG_FILTER_WHOLE, &filter, NULL)) {
		terms = terms_of_filter(filter->filter);
		if (eventlog_terms_check(&terms))
			abort();
	}
	elog_filter_free(filter);
}

static void match(const struct elog_expression *expression, unsigned int event,
		  const struct elog_item *item, size_t length)
{
	struct elog_expression_error error = { 0 };
	struct elog_predicate *predicate;
	bool first;
	int ret;

	ret = elog_expression_bind(expression, schema->providers[0]->events[event],
				   &predicate, &error);
	if (ret == -EINVAL && (!error.column || error.column > length + 1 ||
			       !error.message[0]))
		abort();
	if (ret) {
		check_filter(expression, event, item, false, ret == -ENOENT);
		return;
	}
	first = elog_predicate_match(predicate, item, "comm");
	if (elog_predicate_match(predicate, item, "comm") != first)
		abort();
	if (!elog_predicate_needs_comm(predicate) &&
	    elog_predicate_match(predicate, item, NULL) != first)
		abort();
	elog_predicate_free(predicate);
	check_filter(expression, event, item, first, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	struct elog_expression_error error = { 0 };
	struct elog_expression *expression;
	struct elog_schema *parsed;
	struct elog_text text = { 0 };
	struct elog_item item = { .pid = 1 };
	char *payload;
	int ret;

	if (!schema) {
		if (elog_schema_parse(schema_text, sizeof(schema_text) - 1,
				      &parsed, NULL))
			abort();
		schema = parsed;
	}
	if (length == size)
		return 0;
	/*
	 * Let sanitizers detect reads beyond the payload, except for one NUL: those that do
	 * not know REG_STARTEND of regexec() look for a terminator.
	 */
	item.payload_size = size - length - 1;
	payload = calloc(1, item.payload_size + 1);
	if (!payload)
		return 0;
	memcpy(payload, data + length + 1, item.payload_size);
	item.payload = payload;
	ret = elog_expression_parse((const char *)data, &expression, &error);
	if (ret == -EINVAL && (!error.column || error.column > length + 1 ||
			       !error.message[0]))
		abort();
	if (!ret) {
		match(expression, 0, &item, length);
		match(expression, 1, &item, length);
		elog_expression_free(expression);
	}
	elog_format_json_fields(&text, schema->providers[0]->events[0],
				item.payload, item.payload_size);
	elog_format_fields(&text, schema->providers[0]->events[0],
			   item.payload, item.payload_size);
	elog_text_json_string(&text, payload, item.payload_size);
	elog_text_csv(&text, payload, item.payload_size);
	elog_text_free(&text);
	free(payload);
	return 0;
}
