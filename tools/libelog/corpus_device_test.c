// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tests of what module and library have in common, in the kernel: the cases of
 * corpus_test, with events and schemas of this process, rules with filters, and what is
 * delivered and counted. Prints TAP. Needs root and the module.
 */
#include <sys/prctl.h>

#include "util/test_corpus.h"

#define RING_BYTES	65536

static struct elog_producer *producer;
static struct elog_consumer *consumer;
static const char *registered;	/* the schema of @event */
static struct elog_event *event;

static int add_rule(const struct eventlog_filter *filter, uint32_t *rule_id)
{
	const struct elog_rule rule = {
		.size = sizeof(rule), .provider = "corpus", .filter = filter,
	};

	return elog_consumer_rule_add(consumer, &rule, rule_id);
}

static unsigned int count_events(const struct corpus_event *emitted)
{
	struct elog_item item;
	unsigned int count = 0;

	check_equal(elog_consumer_flush(consumer), 0);
	while (elog_consumer_next(consumer, &item) > 0)
		count += item.type == ELOG_ITEM_EVENT && item.payload_size >= emitted->size &&
			 !memcmp(item.payload, emitted->payload, emitted->size);
	return count;
}

static void corpus_filter(const struct corpus_event *emitted, const struct elog_filter *filter,
			  const char *text, enum eventlog_verdict verdict)
{
	struct iovec part = { (void *)(uintptr_t)emitted->payload, emitted->size };
	struct eventlog_stat stat = { .size = sizeof(stat) };
	unsigned int count;
	uint32_t rule_id;

	if (registered != emitted->schema) {
		elog_event_unregister(event);
		event = NULL;
		check_equal(elog_event_register_schema(producer, emitted->schema, 0, &event), 0);
		registered = emitted->schema;
	}
	if (!event)
		return;
	check_equal(add_rule(filter->filter, &rule_id), 0);
	check_equal(elog_event_write(event, CORPUS_SESSION, &part, 1), 0);
	count = count_events(emitted);
	check_equal(elog_consumer_rule_stat(consumer, rule_id, &stat), 0);
	if (count != (verdict == EVENTLOG_VERDICT_TRUE) || stat.rejected != !count ||
	    stat.incompatible != (verdict == EVENTLOG_VERDICT_INCOMPATIBLE))
		fail(__FILE__, __LINE__, "%s is not %u: %u delivered, %u rejected, %u incompatible",
		     text, verdict, count, (unsigned int)stat.rejected,
		     (unsigned int)stat.incompatible);
	check_equal(elog_consumer_rule_delete(consumer, rule_id), 0);
}

static void corpus_terms(const struct eventlog_filter *filter, const char *line, int error)
{
	uint32_t rule_id;
	int ret = add_rule(filter, &rule_id);

	if (ret != -error)
		fail(__FILE__, __LINE__, "%s: %s", line, strerror(-ret));
	if (!ret)
		check_equal(elog_consumer_rule_delete(consumer, rule_id), 0);
}

static void corpus_type(const char *schema, const char *line, bool libelog, bool kernel,
			size_t bytes)
{
	unsigned char *payload = calloc(1, bytes + 1);
	struct elog_event *of_type = NULL;
	struct iovec part = { payload, bytes };
	int ret = elog_event_register_schema(producer, schema, 0, &of_type);

	(void)libelog;
	if (ret != (kernel ? 0 : -EINVAL))
		fail(__FILE__, __LINE__, "%s: %s", line, strerror(-ret));
	/* The kernel knows the size: one byte less is too few. */
	if (!ret && bytes > 1) {
		part.iov_len = bytes - 1;
		check_equal(elog_event_write(of_type, 0, &part, 1), -EINVAL);
	}
	elog_event_unregister(of_type);
	free(payload);
}

static void test_types(void)
{
	uint32_t rule_id;

	check_equal(add_rule(NULL, &rule_id), 0);
	run_types_corpus();
	check_equal(elog_consumer_rule_delete(consumer, rule_id), 0);
}

int main(void)
{
	static const struct test tests[] = {
		{ "filters", run_filters_corpus },
		{ "types", test_types },
	};
	const struct elog_consumer_options options = {
		.size = sizeof(options), .ring_bytes = RING_BYTES,
	};
	int ret;

	prctl(PR_SET_NAME, CORPUS_COMM);
	/* Each call has the kernel's answer. */
	setenv("ELOG_STRICT", "1", 1);
	if (elog_producer_open(&producer, NULL) || elog_producer_connect(producer) ||
	    elog_consumer_open(&consumer, &options)) {
		printf("Bail out! no device\n");
		return 1;
	}
	ret = run_tests(tests, ELOG_ARRAY_SIZE(tests), NULL);
	elog_event_unregister(event);
	elog_consumer_close(consumer);
	elog_producer_close(producer);
	return ret;
}
