/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Filters of records, for tests: evaluates a struct eventlog_filter for a record, as the
 * kernel does when the event is emitted.
 */
#ifndef LIBELOG_TEST_FILTER_H
#define LIBELOG_TEST_FILTER_H

#include "common/filter.h"
#include "elog.h"

static inline struct eventlog_terms terms_of_filter(const struct eventlog_filter *filter)
{
	return (struct eventlog_terms){
		.array = (const struct eventlog_term *)(uintptr_t)filter->terms,
		.count = filter->term_count,
		.pool = (const char *)(uintptr_t)filter->pool,
		.pool_size = filter->pool_size,
	};
}

static bool find_set_member(const void *set, const char *name, size_t length, uint64_t *value)
{
	const struct elog_schema_set *names = set;
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (strncmp(names->names[i]->name, name, length) || names->names[i]->name[length])
			continue;
		*value = names->names[i]->value;
		return true;
	}
	return false;
}

static int find_record_field(const void *of, const char *name, struct eventlog_operand *operand)
{
	const struct elog_schema_event *event = of;
	const struct elog_schema_field *field;
	size_t i;

	for (i = 0; i < event->field_count; i++) {
		field = event->fields[i];
		if (strcmp(field->name, name))
			continue;
		*operand = (struct eventlog_operand){
			.source = field->type == ELOG_TYPE_STRING || field->type == ELOG_TYPE_BYTES ?
				  EVENTLOG_SOURCE_DYNAMIC : EVENTLOG_SOURCE_FIXED,
			.kind = (uint8_t)field->type,
			.is_signed = field->is_signed,
			.relative = field->relative,
			.position = (uint32_t)field->offset,
			.bytes = (uint32_t)field->size,
			.member = field->set ? find_set_member : NULL,
			.set = field->set,
		};
		return 0;
	}
	return -ENOENT;
}

static inline bool record_filter_fits(const struct eventlog_filter *filter,
				      const struct elog_schema_event *event)
{
	const struct eventlog_subject subject = { find_record_field, event };
	const struct eventlog_terms terms = terms_of_filter(filter);

	return eventlog_terms_fit(&terms, &subject);
}

/* @incompatible: set if a field that was used is missing, or has another type. */
static inline bool record_filter_holds(const struct eventlog_filter *filter,
				       const struct elog_schema_event *event,
				       const struct elog_item *item, const char *comm,
				       bool *incompatible)
{
	const struct eventlog_subject subject = { find_record_field, event };
	const struct eventlog_terms terms = terms_of_filter(filter);
	const struct eventlog_operands operands = {
		.payload = item->payload, .bytes = (uint32_t)item->payload_size,
	};
	struct eventlog_identity identity = {
		.session = item->session, .cpu = item->cpu, .pid = item->pid, .tid = item->tid,
	};
	struct eventlog_test tests[EVENTLOG_TERMS_MAX] = { 0 };
	char name[EVENTLOG_COMM_BYTES] = "";
	enum eventlog_verdict verdict;

	if (comm)
		identity.comm = strncpy(name, comm, sizeof(name) - 1);
	eventlog_terms_bind(&terms, &subject, tests);
	verdict = eventlog_tests_evaluate(tests, terms.count, &operands, &identity);
	*incompatible = verdict == EVENTLOG_VERDICT_INCOMPATIBLE;
	return verdict == EVENTLOG_VERDICT_TRUE;
}

#endif /* LIBELOG_TEST_FILTER_H */
