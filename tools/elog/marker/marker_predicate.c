// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of markers: see marker_predicate.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "marker/marker_predicate.h"

static bool blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

/* Two characters, of which the second does not end a string. */
static const char *put_escaped(struct elog_text *text, const char *from)
{
	elog_text_printf(text, "%.2s", from);
	return from + 2;
}

/*
 * A text that is right, with one blank for any between its words and with escapes in
 * its strings for what does not go on a line: it means the same.
 */
static void put_line(struct elog_text *text, const char *from)
{
	bool string = false, gap = false;

	while (*from) {
		if (!string && blank(*from)) {
			gap = text->size;
			from++;
			continue;
		}
		if (gap)
			elog_text_string(text, " ");
		gap = false;
		if (string && *from == '\\') {
			from = put_escaped(text, from);
			continue;
		}
		if (*from == '"')
			string = !string;
		if ((unsigned char)*from < ' ' || *from == 0x7f)
			elog_text_printf(text, "\\x%02x", (unsigned char)*from);
		else
			elog_text_printf(text, "%c", *from);
		from++;
	}
}

int marker_predicate_parse(const char *text, struct marker_predicate *predicate,
			   struct elog_expression_error *error)
{
	struct elog_expression *expression;
	struct elog_text line = { 0 };
	int ret;

	memset(predicate, 0, sizeof(*predicate));
	ret = elog_expression_parse(text, &expression, error);
	if (ret)
		return ret;
	ret = elog_expression_terms(expression, predicate->terms, &predicate->count, error);
	elog_expression_free(expression);
	if (ret)
		return ret;
	put_line(&line, text);
	if (line.error) {
		ret = -ENOMEM;
	} else if (line.size >= sizeof(predicate->text)) {
		error->column = sizeof(predicate->text);
		snprintf(error->message, sizeof(error->message),
			 "the kernel keeps no more than %zu bytes of a predicate",
			 sizeof(predicate->text) - 1);
		ret = -EINVAL;
	} else {
		memcpy(predicate->text, line.data, line.size);
	}
	elog_text_free(&line);
	return ret;
}

void marker_predicate_put(const struct marker_predicate *predicate, __u64 *terms,
			  __u32 *count, __u64 *text)
{
	if (!predicate->count)
		return;
	*terms = (uintptr_t)predicate->terms;
	*count = predicate->count;
	*text = (uintptr_t)predicate->text;
}
