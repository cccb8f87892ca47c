// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of what module and library have in common, in user space: filters and types, with
 * the cases that corpus_device_test gives to the kernel. Each filter is evaluated for the
 * payload in one piece, in parts, and by libelog's evaluator of expressions. Prints TAP.
 */
#include "util/test_corpus.h"
#include "util/test_filter.h"

static void corpus_filter(const struct corpus_event *event, const struct elog_filter *filter,
			  const char *text, enum eventlog_verdict verdict)
{
	const struct eventlog_subject subject = { find_record_field, event->event };
	const struct eventlog_terms terms = terms_of_filter(filter->filter);
	/* Exact sizes, for sanitizers. */
	unsigned char *payload = memcpy(malloc(event->size), event->payload, event->size);
	char comm[EVENTLOG_COMM_BYTES] = CORPUS_COMM;
	const struct eventlog_identity identity = {
		.session = CORPUS_SESSION, .cpu = 1, .pid = 2, .tid = 3, .comm = comm,
	};
	const struct eventlog_operands whole = {
		.payload = payload, .bytes = (uint32_t)event->size,
	};
	const struct eventlog_operands parts = {
		.payload = payload, .bytes = event->parts[0].bytes,
		.parts = event->parts, .count = event->part_count,
	};
	const struct elog_item item = {
		.session = CORPUS_SESSION, .cpu = 1, .pid = 2, .tid = 3,
		.payload = payload, .payload_size = event->size,
	};
	struct eventlog_test tests[EVENTLOG_TERMS_MAX] = { 0 };
	struct elog_predicate *predicate = NULL;
	struct elog_expression *expression;

	check_equal(eventlog_terms_check(&terms), 0);
	eventlog_terms_bind(&terms, &subject, tests);
	if (eventlog_tests_evaluate(tests, terms.count, &whole, &identity) != verdict)
		fail(__FILE__, __LINE__, "%s is not %u", text, verdict);
	if (eventlog_tests_evaluate(tests, terms.count, &parts, &identity) != verdict)
		fail(__FILE__, __LINE__, "%s in parts is not %u", text, verdict);
	if (verdict == EVENTLOG_VERDICT_INCOMPATIBLE && eventlog_terms_fit(&terms, &subject))
		fail(__FILE__, __LINE__, "%s fits", text);
	/* Binding fails for fields that cannot be compared. */
	check_equal(elog_expression_parse(text, &expression, NULL), 0);
	if (!elog_expression_bind(expression, event->event, &predicate, NULL) &&
	    elog_predicate_match(predicate, &item, comm) != (verdict == EVENTLOG_VERDICT_TRUE))
		fail(__FILE__, __LINE__, "the expression %s is not %u", text, verdict);
	elog_predicate_free(predicate);
	elog_expression_free(expression);
	free(payload);
}

static void corpus_terms(const struct eventlog_filter *filter, const char *line, int error)
{
	const struct eventlog_terms terms = terms_of_filter(filter);
	const int ret = eventlog_terms_check(&terms);

	if (ret != -error)
		fail(__FILE__, __LINE__, "%s: %s", line, strerror(-ret));
}

static void corpus_type(const char *text, const char *line, bool libelog, bool kernel,
			size_t bytes)
{
	const struct elog_schema_event *event;
	struct elog_schema *schema = NULL;
	struct elog_schema_error error;
	int ret = elog_schema_parse(text, strlen(text), &schema, &error);

	(void)kernel;
	if (!ret != libelog || (ret && (ret != -EINVAL || !error.line || !*error.message)))
		fail(__FILE__, __LINE__, "%s: %s", line, ret ? error.message : "accepted");
	if (ret)
		return;
	event = schema->providers[0]->events[0];
	if (event->fixed_size != bytes)
		fail(__FILE__, __LINE__, "%s: %zu bytes", line, event->fixed_size);
	elog_schema_free(schema);
}

/* What is not known is not different from a number, either. */
static void test_unknown(void)
{
	static const char pool[] = "cpu\0comm\0x";
	const struct eventlog_term terms[] = {
		{ .operation = EVENTLOG_TERM_OP_NOT_EQUAL, .on_false = 1,
		  .flags = EVENTLOG_TERM_COMMON | EVENTLOG_TERM_NUMBER, .number = 3,
		  .on_true = EVENTLOG_FILTER_ACCEPT },
		{ .name = 4, .operation = EVENTLOG_TERM_OP_NOT_EQUAL,
		  .flags = EVENTLOG_TERM_COMMON | EVENTLOG_TERM_STRING, .string = 9,
		  .on_true = EVENTLOG_FILTER_ACCEPT, .on_false = EVENTLOG_FILTER_REJECT },
	};
	const struct eventlog_terms both = { terms, 2, pool, sizeof(pool) };
	struct eventlog_identity identity = { .cpu = EVENTLOG_CPU_UNKNOWN };
	const struct eventlog_operands operands = { .payload = NULL };
	struct eventlog_test tests[2] = { 0 };

	check_equal(eventlog_terms_check(&both), 0);
	check_equal(eventlog_terms_bind(&both, &(const struct eventlog_subject){ 0 }, tests),
		    1U << EVENTLOG_SOURCE_CPU | 1U << EVENTLOG_SOURCE_COMM);
	check_equal(eventlog_tests_evaluate(tests, 2, &operands, &identity),
		    EVENTLOG_VERDICT_FALSE);
	identity.cpu = 4;
	check_equal(eventlog_tests_evaluate(tests, 2, &operands, &identity),
		    EVENTLOG_VERDICT_TRUE);
}

int main(void)
{
	static const struct test tests[] = {
		{ "filters", run_filters_corpus },
		{ "types", run_types_corpus },
		{ "unknown values", test_unknown },
	};

	return run_tests(tests, ELOG_ARRAY_SIZE(tests), NULL);
}
