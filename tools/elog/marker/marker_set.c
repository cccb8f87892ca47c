// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of markers: see marker.h.
 *
 * The first line of the file is a header. Each marker is a line of handlers, module, id,
 * tag, place and optional predicate, separated by tabs. Each policy is a line of
 * "policy", handlers, two globs and optional predicate. The last line has the number of
 * markers and policies, so that a truncated file is detected.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "marker/marker.h"
#include "marker/marker_filter.h"
#include "output/output.h"
#include "util/array.h"

/* Files with predicates have the second header, which earlier versions reject. */
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

/* Copy the four strings of a marker. */
static int copy_strings(struct marker *marker, const char *text)
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

/* Make room for the size that the kernel has set. Return: 0, -EMSGSIZE, -ENOMEM. */
static int make_room(char **room, uint32_t *size, uint32_t needed)
{
	char *larger;

	if (needed <= *size)
		return -EMSGSIZE;
	larger = realloc(*room, needed);
	if (!larger)
		return -ENOMEM;
	*room = larger;
	*size = needed;
	return 0;
}

int markers_read(int fd, struct marker_list *list)
{
	uint32_t descriptor = 0, room = 1024, filter_room = EVENTLOG_FILTER_TEXT_MAX;
	char *text = malloc(room), *filter = malloc(filter_room);
	int ret = text && filter ? 0 : -ENOMEM, more_text, more_filter;
	struct eventlog_marker_next next;
	struct marker *marker;

	while (!ret) {
		memset(&next, 0, sizeof(next));
		next.size = sizeof(next);
		next.descriptor = descriptor;
		next.text = (uintptr_t)text;
		next.text_size = room;
		next.filter_text = (uintptr_t)filter;
		next.filter_text_size = filter_room;
		if (ioctl(fd, EVENTLOG_IOC_MARKER_NEXT, &next)) {
			ret = errno == ENOENT ? 1 : -errno;
			if (ret != -EMSGSIZE)
				continue;
			more_text = make_room(&text, &room, next.text_size);
			more_filter = make_room(&filter, &filter_room, next.filter_text_size);
			/* One of them was too small. */
			ret = more_text && more_filter ? more_text : 0;
			continue;
		}
		marker = markers_add(list);
		if (!marker) {
			ret = -ENOMEM;
			break;
		}
		marker->next = next;
		descriptor = next.descriptor;
		ret = copy_strings(marker, text);
		if (!ret && next.filter_text_size)
			marker->predicate = strndup(filter, filter_room);
		if (!ret && next.filter_text_size && !marker->predicate)
			ret = -ENOMEM;
	}
	free(text);
	free(filter);
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
		elog_text_string(text, "policy\t");
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
	/* It must survive a crash: it is for the next boot. */
	if (!ret)
		ret = output_replace(name, &text, true);
	elog_text_free(&text);
	return ret;
}

/* Split the text before the next tab off a line. */
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

/* Split an optional predicate off the end of a line. */
static char *cut_predicate(char *line)
{
	char *tab = strchr(line, '\t');

	if (!tab)
		return NULL;
	*tab = '\0';
	return tab + 1;
}

/* Check that the kernel accepts the predicate, before anything is set. */
static int parse_predicate(const char *text, uint32_t handlers, char **result)
{
	struct elog_expression_error error;
	struct elog_filter *filter;
	int ret;

	if (!handlers)
		return -EINVAL;
	ret = marker_filter_compile(text, &filter, &error);
	if (ret)
		return ret;
	*result = strdup(filter->text);
	elog_filter_free(filter);
	return *result ? 0 : -ENOMEM;
}

static int parse_marker(struct marker_list *list, char *line)
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
	return predicate ? parse_predicate(predicate, mask, &marker->predicate) : 0;
}

/* Parse the rest of a line that starts with "policy" and a tab. */
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
	    (predicate && policy.operation != EVENTLOG_MARKER_OP_ADD) ||
	    policies->count == EVENTLOG_POLICIES_MAX)
		return -EINVAL;
	if (predicate)
		ret = parse_predicate(predicate, policy.handlers, &policy.predicate);
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
	/* Read up to the last line; nothing may follow it. */
	while ((length = getline(&line, &size, file)) > 0) {
		++*number;
		end = memchr(line, '\n', (size_t)length);
		ret = -EINVAL;
		/* A NUL would hide the rest of a line, for example of a predicate. */
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
			ret = strncmp(line, "policy\t", 7) ? parse_marker(list, line) :
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
