/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The corpora selftests/common/filters and selftests/common/types, for the tests of what
 * module and library have in common: corpus_test and corpus_device_test. Each of them says
 * what happens with a case.
 */
#ifndef LIBELOG_TEST_CORPUS_H
#define LIBELOG_TEST_CORPUS_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "common/filter.h"
#include "elog.h"
#include "util/tap.h"
#include "util/util.h"

#define CORPUS_SESSION	5
#define CORPUS_COMM	"some corpus"

static const char filters_corpus[] =
#include "corpus/filters.h"
;

static const char types_corpus[] =
#include "corpus/types.h"
;

/* An event of the corpus. The dynamic fields are behind the fixed part, in their order. */
struct corpus_event {
	const struct elog_schema_event *event;
	const char *schema;
	unsigned char payload[512];
	size_t size;
	struct eventlog_part parts[16];
	unsigned int part_count;
};

/* One line "RESULT EXPRESSION", and one line "check". */
static void corpus_filter(const struct corpus_event *event, const struct elog_filter *filter,
			  const char *expression, enum eventlog_verdict verdict);
static void corpus_terms(const struct eventlog_filter *filter, const char *line, int error);
static void corpus_type(const char *schema, const char *line, bool libelog, bool kernel,
			size_t bytes);

static void put_dynamic(struct corpus_event *event, const struct elog_schema_field *field,
			const void *data, size_t bytes)
{
	const bool string = field->type == ELOG_TYPE_STRING;
	const uint32_t word = (uint32_t)((bytes + string) << 16 | event->size);

	memcpy(event->payload + field->offset, &word, sizeof(word));
	memcpy(event->payload + event->size, data, bytes);
	event->parts[event->part_count++] = (struct eventlog_part){
		event->payload + event->size, (uint32_t)bytes, string,
	};
	event->size += bytes + string;
}

static size_t parse_hex(const char *text, unsigned char *bytes)
{
	unsigned int byte;
	size_t count = 0;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2, text += *text == ':')
		bytes[count++] = (unsigned char)byte;
	return count;
}

/* The value of an enum's member, or a number. */
static uint64_t parse_number(const struct elog_schema_field *field, const char *text)
{
	size_t i;

	for (i = 0; field->set && i < field->set->count; i++)
		if (!strcmp(field->set->names[i]->name, text))
			return field->set->names[i]->value;
	return *text == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

static void put_value(struct corpus_event *event, const struct elog_schema_field *field,
		      const char *text)
{
	unsigned char *to = event->payload + field->offset, bytes[16] = { 0 };
	uint64_t number;
	size_t i;

	if (!strcmp(text, "-"))
		text = "";
	switch (field->type) {
	case ELOG_TYPE_CHARS:
		memcpy(to, text, strnlen(text, field->size));
		break;
	case ELOG_TYPE_STRING:
		put_dynamic(event, field, text, strlen(text));
		break;
	case ELOG_TYPE_BYTES:
		put_dynamic(event, field, bytes, parse_hex(text, bytes));
		break;
	case ELOG_TYPE_OCTETS:
	case ELOG_TYPE_STRUCT:
	case ELOG_TYPE_MAC:
		parse_hex(text, to);
		break;
	case ELOG_TYPE_IPV4:
	case ELOG_TYPE_IPV6:
		check_equal(inet_pton(field->size == 4 ? AF_INET : AF_INET6, text, to), 1);
		break;
	default:
		number = parse_number(field, text);
		if (field->type == ELOG_TYPE_PORT)
			number = htons((uint16_t)number);
		for (i = 0; i < field->size; i++)
			to[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : field->size - 1 - i] =
				(unsigned char)(number >> 8 * i);
		break;
	}
}

static void corpus_payload(struct corpus_event *event, char *values)
{
	char *value = NULL, *rest = values;
	size_t i;

	memset(event->payload, 0, sizeof(event->payload));
	event->size = event->event->fixed_size;
	event->parts[0] = (struct eventlog_part){ event->payload, (uint32_t)event->size, false };
	event->part_count = 1;
	for (i = 0; i < event->event->field_count; i++) {
		value = strsep(&rest, " ");
		if (value)
			put_value(event, event->event->fields[i], value);
	}
	check(value && !rest);
}

static void corpus_case(const struct corpus_event *event, const char *word,
			const char *expression_text)
{
	static const char *const verdicts[] = {
		[EVENTLOG_VERDICT_TRUE] = "true",
		[EVENTLOG_VERDICT_FALSE] = "false",
		[EVENTLOG_VERDICT_INCOMPATIBLE] = "incompatible",
	};
	struct elog_expression *expression = NULL;
	const struct elog_expression *expressions[1];
	struct elog_filter *filter = NULL;
	unsigned int verdict = 0;

	while (verdict < ELOG_ARRAY_SIZE(verdicts) && strcmp(verdicts[verdict], word))
		verdict++;
	if (verdict == ELOG_ARRAY_SIZE(verdicts) ||
	    elog_expression_parse(expression_text, &expression, NULL)) {
		fail(__FILE__, __LINE__, "wrong line: %s %s", word, expression_text);
		return;
	}
	expressions[0] = expression;
	if (elog_expression_compile(expressions, 1, 0, &filter, NULL) || !filter->exact)
		fail(__FILE__, __LINE__, "not for the kernel: %s", expression_text);
	else
		corpus_filter(event, filter, expression_text, (enum eventlog_verdict)verdict);
	elog_filter_free(filter);
	elog_expression_free(expression);
}

/*
 * What offsets in "check" lines refer to: 0 "a", 3 "cpu", 7 "1a", 10 255 characters, 266 256 of
 * them, 523 an address in its mask, 531 one with a bit outside of it, 539 no NUL.
 */
static void corpus_check(const char *word, char *members)
{
	static const char name[] = "a\0\0cpu\0" "1a";
	static const unsigned char addresses[] = {
		10, 0, 0, 0, 255, 0, 0, 0, 10, 1, 0, 0, 255, 0, 0, 0, 'x',
	};
	struct eventlog_term term = {
		.operation = EVENTLOG_TERM_OP_EQUAL, .flags = EVENTLOG_TERM_NUMBER, .number = 1,
		.on_true = EVENTLOG_FILTER_ACCEPT, .on_false = EVENTLOG_FILTER_REJECT,
	};
	char pool[523 + sizeof(addresses)] = "", line[128], *member, *rest = members, *value;
	const struct eventlog_filter filter = {
		.size = sizeof(filter), .term_count = 1, .term_size = sizeof(term),
		.terms = (uintptr_t)&term, .pool = (uintptr_t)pool, .pool_size = sizeof(pool),
	};
	uint64_t number;

	memcpy(pool, name, sizeof(name));
	memset(pool + 10, 'x', 255);
	memset(pool + 266, 'x', 256);
	memcpy(pool + 523, addresses, sizeof(addresses));
	snprintf(line, sizeof(line), "check %s %s", word, members ? members : "");
	while ((member = strsep(&rest, " "))) {
		value = strchr(member, '=');
		if (!value)
			break;
		*value++ = '\0';
		number = strtoull(value, NULL, 0);
#define SET_MEMBER(of) else if (!strcmp(member, #of)) term.of = (__typeof__(term.of))number
		if (!*member)
			break;
		SET_MEMBER(operation);
		SET_MEMBER(flags);
		SET_MEMBER(name);
		SET_MEMBER(number);
		SET_MEMBER(string);
		SET_MEMBER(address);
		SET_MEMBER(on_true);
		SET_MEMBER(on_false);
		SET_MEMBER(reserved);
		SET_MEMBER(reserved2);
		else
			break;
	}
	if (member)
		fail(__FILE__, __LINE__, "wrong line: %s", line);
	corpus_terms(&filter, line, !strcmp(word, "EINVAL") ? EINVAL :
				    !strcmp(word, "E2BIG") ? E2BIG : 0);
}

static void run_filters_corpus(void)
{
	char *copy = strdup(filters_corpus), *rest = copy, *line, *word, *end;
	struct corpus_event event = { 0 };
	struct elog_schema *schema = NULL;
	struct elog_schema_error error;
	unsigned int cases = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		if (!strcmp(line, "schema")) {
			end = strstr(rest, "\nend\n");
			end[1] = '\0';
			elog_schema_free(schema);
			if (elog_schema_parse(rest, strlen(rest), &schema, &error)) {
				fail(__FILE__, __LINE__, "line %u: %s", error.line, error.message);
				break;
			}
			event.schema = rest;
			event.event = schema->providers[0]->events[0];
			rest = end + strlen("\nend\n");
			continue;
		}
		word = strsep(&line, " ");
		if (!strcmp(word, "payload"))
			corpus_payload(&event, line);
		else if (!strcmp(word, "check"))
			word = strsep(&line, " "), corpus_check(word, line);
		else
			corpus_case(&event, word, line);
		cases++;
	}
	printf("# %u lines\n", cases);
	check(cases > 200);
	elog_schema_free(schema);
	free(copy);
}

static void run_types_corpus(void)
{
	char *copy = strdup(types_corpus), *rest = copy, *line, *who, *bytes, *type, *part;
	const char *event;
	unsigned int cases = 0;
	char schema[512], whole[256];
	int size;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		snprintf(whole, sizeof(whole), "%s", line);
		who = strsep(&line, " ");
		bytes = strsep(&line, " ");
		type = strsep(&line, " ");
		size = snprintf(schema, sizeof(schema), "eventlog 1\nprovider corpus\n");
		event = "event 1 types info -";
		for (part = strsep(&line, ";"); part; part = strsep(&line, ";")) {
			if (!strncmp(part, "event", 5)) {
				event = part;
				continue;
			}
			size += snprintf(schema + size, sizeof(schema) - (size_t)size, "%s%s\n",
					 !strncmp(part, "enum", 4) || !strncmp(part, "flags", 5) ?
					 "" : "\t", part);
		}
		snprintf(schema + size, sizeof(schema) - (size_t)size, "%s\n\t%s field\n",
			 event, type);
		corpus_type(schema, whole, strcmp(who, "none"), !strcmp(who, "both"),
			    strtoul(bytes, NULL, 10));
		cases++;
	}
	printf("# %u lines\n", cases);
	check(cases > 80);
	free(copy);
}

#endif /* LIBELOG_TEST_CORPUS_H */
