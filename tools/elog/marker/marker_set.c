// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of markers: see marker.h.
 *
 * A file of them has a first line, for each marker its handlers, module, id, tag,
 * place and, if there is one, predicate with tabs between, for each policy "policy",
 * handlers, two globs and, if there is one, predicate, and a last line with their
 * number: so that one that is cut off is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "marker/marker.h"
#include "marker/marker_predicate.h"
#include "output/output.h"
#include "util/array.h"

/* The second one may have predicates, which who knows only the first would not see. */
#define SET_HEADER	"elog markers 1"
#define SET_HEADER_2	"elog markers 2"

static const char *const handler_names[] = { "print", "trace", "probe" };

void markers_handlers_put(struct elog_text *text, uint32_t handlers)
{
	const char *comma = "";
	unsigned int i;

	if (!handlers)
		elog_text_string(text, "-");
	for (i = 0; i < ARRAY_SIZE(handler_names); i++) {
		if (!(handlers & 1U << i))
			continue;
		elog_text_printf(text, "%s%s", comma, handler_names[i]);
		comma = ",";
	}
}

void markers_handlers_put_json(struct elog_text *text, const char *name, uint32_t handlers)
{
	const char *comma = "";
	unsigned int i;

	elog_text_printf(text, ",\"%s\":[", name);
	for (i = 0; i < ARRAY_SIZE(handler_names); i++) {
		if (!(handlers & 1U << i))
			continue;
		elog_text_printf(text, "%s\"%s\"", comma, handler_names[i]);
		comma = ",";
	}
	elog_text_string(text, "]");
}

bool markers_handlers_parse(const char *text, uint32_t *handlers)
{
	size_t length, i;

	*handlers = 0;
	if (!strcmp(text, "-"))
		return true;
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		for (i = 0; i < ARRAY_SIZE(handler_names); i++)
			if (strlen(handler_names[i]) == length &&
			    !strncmp(handler_names[i], text, length))
				break;
		if (i == ARRAY_SIZE(handler_names))
			return false;
		*handlers |= 1U << i;
		if (!text[length])
			return true;
	}
}

void marker_free(struct marker *marker)
{
	free(marker->module);
	free(marker->tag);
	free(marker->event);
	free(marker->fields);
	free(marker->pids);
	free(marker->path);
	free(marker->function);
	free(marker->place);
	free(marker->predicate);
}

void markers_free(struct marker_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		marker_free(&list->markers[i]);
	free(list->markers);
	memset(list, 0, sizeof(*list));
}

struct marker *markers_add(struct marker_list *list)
{
	struct marker *larger = array_grow(list->markers, list->count, sizeof(*larger));

	if (!larger)
		return NULL;
	list->markers = larger;
	memset(&list->markers[list->count], 0, sizeof(*list->markers));
	return &list->markers[list->count++];
}

/* The four strings that came with a marker. */
static int take_strings(struct marker *marker, const char *text)
{
	char **const strings[] = {
		&marker->module, &marker->tag, &marker->path, &marker->function,
	};
	const char *end = text + marker->next.text_size;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(strings); i++) {
		size_t length = strnlen(text, (size_t)(end - text));

		if (text + length == end)
			return -EPROTO;
		*strings[i] = strdup(text);
		if (!*strings[i])
			return -ENOMEM;
		text += length + 1;
	}
	if (asprintf(&marker->place, "%s:%s:%u", marker->path, marker->function,
		     marker->next.ordinal) < 0) {
		marker->place = NULL;
		return -ENOMEM;
	}
	return 0;
}

int markers_read(int fd, struct marker_list *list)
{
	struct eventlog_marker_next next;
	char predicate[EVENTLOG_PREDICATE_MAX];
	uint32_t descriptor = 0, room = 1024;
	char *text = malloc(room), *larger;
	struct marker *marker;
	int ret = text ? 0 : -ENOMEM;

	while (!ret) {
		memset(&next, 0, sizeof(next));
		next.size = sizeof(next);
		next.descriptor = descriptor;
		next.text = (uintptr_t)text;
		next.text_size = room;
		next.predicate = (uintptr_t)predicate;
		if (ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &next)) {
			ret = errno == ENOENT ? 1 : -errno;
			if (ret != -EMSGSIZE || next.text_size <= room)
				continue;
			room = next.text_size;
			larger = realloc(text, room);
			ret = larger ? 0 : -ENOMEM;
			text = larger ? larger : text;
			continue;
		}
		marker = markers_add(list);
		if (!marker) {
			ret = -ENOMEM;
			break;
		}
		marker->next = next;
		descriptor = next.descriptor;
		ret = take_strings(marker, text);
		if (!ret && next.predicate_size)
			marker->predicate = strndup(predicate, sizeof(predicate) - 1);
		if (!ret && next.predicate_size && !marker->predicate)
			ret = -ENOMEM;
	}
	free(text);
	return ret > 0 ? 0 : ret;
}

static void put_set(struct elog_text *text, const struct marker_list *list,
		    const struct policy_list *policies)
{
	const char *header = SET_HEADER;
	size_t i, count = list->count;

	for (i = 0; i < list->count; i++)
		if (list->markers[i].predicate)
			header = SET_HEADER_2;
	for (i = 0; i < policies->count; i++)
		if (policies->policies[i].predicate)
			header = SET_HEADER_2;
	elog_text_printf(text, "%s\n", header);
	for (i = 0; i < list->count; i++) {
		const struct marker *marker = &list->markers[i];

		markers_handlers_put(text, marker->next.handlers);
		elog_text_printf(text, "\t%s\t%016" PRIx64 "\t%s\t%s", marker->module,
				 (uint64_t)marker->next.id, marker->tag, marker->place);
		if (marker->predicate)
			elog_text_printf(text, "\t%s", marker->predicate);
		elog_text_string(text, "\n");
	}
	for (i = 0; i < policies->count; i++) {
		const struct marker_policy *policy = &policies->policies[i];

		/* Other programs may have set policies that match nothing. */
		if (!policy_is_possible(policy->program, policy->marker))
			continue;
		count++;
		elog_text_string(text, "policy\\t");
		policy_put_handlers(text, policy);
		elog_text_printf(text, "\t%s\t%s", policy->program, policy->marker);
		if (policy->predicate)
			elog_text_printf(text, "\t%s", policy->predicate);
		elog_text_string(text, "\n");
	}
	elog_text_printf(text, "%zu markers\n", count);
}

int markers_save(const struct marker_list *list, const struct policy_list *policies,
		 const char *name)
{
	struct elog_text text = { 0 };
	int ret;

	put_set(&text, list, policies);
	ret = text.error;
	/* It is for the next boot, however this one ends. */
	if (!ret)
		ret = output_replace(name, &text, true);
	elog_text_free(&text);
	return ret;
}

/* Takes what is before the next tab off a line. */
static char *take_word(char **line)
{
	char *word = *line, *tab = word ? strchr(word, '\t') : NULL;

	*line = NULL;
	if (!tab)
		return NULL;
	*tab = '\0';
	*line = tab + 1;
	return word;
}

/* What is behind the last word of a line, if there is something, is no part of that. */
static char *cut_predicate(char *line)
{
	char *tab = strchr(line, '\t');

	if (!tab)
		return NULL;
	*tab = '\0';
	return tab + 1;
}

/* It has to be one that the kernel takes, before anything is set. */
static int take_predicate(const char *text, uint32_t handlers, char **taken)
{
	struct elog_expression_error error;
	struct marker_predicate predicate;
	int ret;

	if (!handlers)
		return -EINVAL;
	ret = marker_predicate_parse(text, &predicate, &error);
	if (ret)
		return ret;
	*taken = strdup(predicate.text);
	return *taken ? 0 : -ENOMEM;
}

static int take_marker(struct marker_list *list, char *line)
{
	const char *handlers = take_word(&line), *module = take_word(&line);
	const char *id = take_word(&line), *tag = take_word(&line);
	struct marker *marker;
	char *end, *predicate;
	uint32_t mask;

	if (!tag || !*line || !*module || strlen(id) != 16 ||
	    strspn(id, "0123456789abcdef") != 16 ||
	    !markers_handlers_parse(handlers, &mask))
		return -EINVAL;
	marker = markers_add(list);
	if (!marker)
		return -ENOMEM;
	marker->next.handlers = mask;
	marker->next.id = strtoull(id, &end, 16);
	marker->module = strdup(module);
	marker->tag = strdup(tag);
	predicate = cut_predicate(line);
	marker->place = strdup(line);
	if (!marker->module || !marker->tag || !marker->place)
		return -ENOMEM;
	return predicate ? take_predicate(predicate, mask, &marker->predicate) : 0;
}

/* The rest of a line that begins with "policy" and a tab. */
static int parse_policy(struct policy_list *policies, char *line)
{
	const char *handlers = take_word(&line);
	struct marker_policy policy = { .program = take_word(&line) };
	char *predicate;
	int ret = 0;

	policy.marker = line;
	if (!policy.program || !policy_parse_handlers(handlers, &policy))
		return -EINVAL;
	predicate = cut_predicate(line);
	if (!policy_is_possible(policy.program, policy.marker) ||
	    (predicate && policy.operation != EVENTLOG_MARKER_ADD) ||
	    policies->count == EVENTLOG_WISHES_MAX)
		return -EINVAL;
	if (predicate)
		ret = take_predicate(predicate, policy.handlers, &policy.predicate);
	if (!ret)
		ret = policies_add(policies, &policy);
	free(policy.predicate);
	return ret;
}

int markers_load(struct marker_list *list, struct policy_list *policies, const char *name,
		 unsigned int *number)
{
	FILE *file = fopen(name, "re");
	char *line = NULL, *end, expected[64];
	size_t size = 0;
	ssize_t length;
	int ret = -EINVAL;

	*number = 0;
	if (!file)
		return -errno;
	/* Until the last line, behind which there is nothing. */
	while ((length = getline(&line, &size, file)) > 0) {
		++*number;
		end = memchr(line, '\n', (size_t)length);
		ret = -EINVAL;
		/* A NUL would hide the rest of a line, such as half of a predicate. */
		if (!end || end != line + length - 1 || memchr(line, '\0', (size_t)length))
			break;
		*end = '\0';
		snprintf(expected, sizeof(expected), "%zu markers",
			 list->count + policies->count);
		if (*number == 1) {
			if (strcmp(line, SET_HEADER) && strcmp(line, SET_HEADER_2))
				break;
		} else if (!strcmp(line, expected)) {
			ret = getc(file) == EOF ? 0 : -EINVAL;
			break;
		} else {
			ret = strncmp(line, "policy\\t", 7) ? take_marker(list, line) :
							   parse_policy(policies, line + 7);
			if (ret)
				break;
			ret = -EINVAL;
		}
	}
	if (ferror(file))
		ret = -EIO;
	free(line);
	fclose(file);
	return ret;
}
