// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers of running programs: see marker.h.
 *
 * A program registers each of its markers as an event of the provider markers_PROGRAM. The
 * description of the event has the place, see elog_marker_describe(). The kernel lists which
 * processes have registered it, and the handlers that each of them has enabled itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elog_marker_names.h"
#include "marker/marker.h"
#include "util/array.h"

struct registrations {
	struct eventlog_registration_info *entries;	/* by descriptor, handlers, pid */
	size_t count;
};

static int compare_registrations(const void *left, const void *right)
{
	const struct eventlog_registration_info *a = left, *b = right;
	int ret = (a->descriptor > b->descriptor) - (a->descriptor < b->descriptor);

	if (!ret)
		ret = (a->handlers > b->handlers) - (a->handlers < b->handlers);
	if (!ret)
		ret = (a->defaults > b->defaults) - (a->defaults < b->defaults);
	return ret ? ret : (a->pid > b->pid) - (a->pid < b->pid);
}

static int read_registrations(int fd, struct registrations *list)
{
	struct eventlog_registration_info next = { .size = sizeof(next) }, *larger;
	struct elog_list *registrations = NULL;
	int ret = elog_list_open(fd, EVENTLOG_LIST_REGISTRATIONS, 0, &registrations);

	while (!ret && !(ret = elog_list_next(registrations, &next, NULL))) {
		larger = array_grow(list->entries, list->count, sizeof(*larger));
		if (!larger) {
			ret = -ENOMEM;
			break;
		}
		list->entries = larger;
		list->entries[list->count++] = next;
	}
	elog_list_close(registrations);
	if (ret != -ENOENT)
		return ret;
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), compare_registrations);
	return 0;
}

/* The first registration of an event, or the end of the list. */
static size_t find_registration(const struct registrations *list, uint32_t descriptor)
{
	size_t low = 0, high = list->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->entries[middle].descriptor < descriptor)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Turn a text into a string; NULL: out of memory. */
static char *take_string(struct elog_text *text)
{
	char *string = text->error ? NULL : strndup(text->data ? text->data : "", text->size);

	elog_text_free(text);
	return string;
}

static char *list_fields(const struct elog_schema_event *event)
{
	struct elog_text text = { 0 };
	size_t i;

	for (i = 0; i < event->field_count; i++)
		elog_text_printf(&text, "%s%s %s", i ? "; " : "", event->fields[i]->type_name,
				 event->fields[i]->name);
	return take_string(&text);
}

/* Other programs may register events of such a provider, too. */
static int set_place(struct marker *marker, const struct elog_schema_event *event)
{
	struct elog_marker_description description;
	int ret = elog_marker_parse_description(event->description, event->name, &description);

	if (ret == -EINVAL) {
		marker->tag = strdup(event->name);
		marker->path = strdup("");
		marker->function = strdup("");
		marker->place = strdup("-");
	} else {
		marker->tag = description.tag;
		marker->place = description.place;
		marker->has_session = description.has_session;
		marker->next.ordinal = description.ordinal;
		marker->next.line = description.line;
	}
	if (!ret) {
		marker->next.id = elog_marker_hash(marker->place);
		marker->path = strndup(marker->place, description.path_length);
		marker->function = strndup(marker->place + description.path_length + 1,
					   description.function_length);
	}
	return marker->tag && marker->place && marker->path && marker->function ? 0 : -ENOMEM;
}

/* Add the kernel's state of a marker to that of its process. */
static void add_state(struct marker *marker, const struct eventlog_definition *describe)
{
	if (describe->state & EVENTLOG_DESCRIBED_PRINT)
		marker->next.handlers |= EVENTLOG_MARKER_PRINT;
	if (describe->state & EVENTLOG_DESCRIBED_PROBE)
		marker->next.handlers |= EVENTLOG_MARKER_PROBE;
	marker->incompatible = describe->state & EVENTLOG_DESCRIBED_INCOMPATIBLE;
	marker->next.active = marker->next.handlers;
	if (!(describe->state & EVENTLOG_DESCRIBED_ENABLED))
		marker->next.active &= ~EVENTLOG_MARKER_TRACE;
	marker->next.descriptor = describe->descriptor;
}

static int add_marker(struct marker_list *list, const struct elog_schema_provider *provider,
		      const struct eventlog_definition *describe, uint32_t handlers,
		      uint32_t defaults)
{
	const struct elog_schema_event *event = provider->events[0];
	struct marker *marker = markers_add(list);

	if (!marker)
		return -ENOMEM;
	marker->owner = MARKER_OF_PROGRAM;
	marker->module = strdup(provider->name + strlen(EVENTLOG_PROGRAM_PREFIX));
	marker->event = strdup(event->name);
	marker->fields = list_fields(event);
	marker->next.handlers = handlers;
	marker->next.defaults = defaults;
	marker->next.allowed = MARKER_HANDLERS;
	add_state(marker, describe);
	if (!marker->module || !marker->event || !marker->fields)
		return -ENOMEM;
	return set_place(marker, event);
}

/* Add one marker for all processes whose handlers are the same. Moves @at past them. */
static int add_processes(struct marker_list *list, const struct elog_schema_provider *provider,
			 const struct eventlog_definition *describe,
			 const struct registrations *registrations, size_t *at)
{
	const struct eventlog_registration_info *first = &registrations->entries[*at];
	const struct eventlog_registration_info *end, *entry = first;
	struct elog_text pids = { 0 };
	uint32_t pid = 0;
	int ret;

	end = registrations->entries + registrations->count;
	ret = add_marker(list, provider, describe, first->handlers, first->defaults);
	if (ret)
		return ret;
	for (; entry < end && entry->descriptor == first->descriptor &&
	       entry->handlers == first->handlers && entry->defaults == first->defaults; entry++) {
		/* A process may have registered it twice; one that is hidden has no pid. */
		if (entry->pid != pid)
			elog_text_printf(&pids, "%s%u", pid ? "," : "", entry->pid);
		pid = entry->pid;
	}
	*at = (size_t)(entry - registrations->entries);
	list->markers[list->count - 1].pids = take_string(&pids);
	return list->markers[list->count - 1].pids ? 0 : -ENOMEM;
}

static int add_definition(struct marker_list *list, const struct eventlog_definition *describe,
			  const char *text, const struct registrations *registrations)
{
	const struct elog_schema_provider *provider;
	struct elog_schema_error error;
	struct elog_schema *schema;
	size_t at;
	int ret;

	ret = elog_schema_parse(text, strlen(text), &schema, &error);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	provider = schema->provider_count ? schema->providers[0] : NULL;
	if (!provider || !provider->event_count ||
	    strncmp(provider->name, EVENTLOG_PROGRAM_PREFIX, strlen(EVENTLOG_PROGRAM_PREFIX)))
		goto out;
	at = find_registration(registrations, describe->descriptor);
	/* It may have been registered after the registrations were read. */
	if (at == registrations->count ||
	    registrations->entries[at].descriptor != describe->descriptor)
		ret = add_marker(list, provider, describe, EVENTLOG_MARKER_TRACE,
				 EVENTLOG_MARKER_TRACE);
	while (!ret && at < registrations->count &&
	       registrations->entries[at].descriptor == describe->descriptor)
		ret = add_processes(list, provider, describe, registrations, &at);
out:
	elog_schema_free(schema);
	return ret;
}

static int compare_markers(const void *left, const void *right)
{
	const struct marker *a = left, *b = right;
	int ret = strcmp(a->module, b->module);

	if (!ret)
		ret = strcmp(a->path, b->path);
	if (!ret)
		ret = strcmp(a->function, b->function);
	if (!ret)
		ret = (a->next.ordinal > b->next.ordinal) - (a->next.ordinal < b->next.ordinal);
	if (!ret)
		ret = strcmp(a->event, b->event);
	if (!ret)
		ret = (a->next.descriptor > b->next.descriptor) -
		      (a->next.descriptor < b->next.descriptor);
	if (!ret)
		ret = (a->next.handlers > b->next.handlers) -
		      (a->next.handlers < b->next.handlers);
	return ret;
}

int markers_read_programs(int fd, struct marker_list *list)
{
	struct eventlog_definition describe = { .size = sizeof(describe) };
	struct elog_list *definitions = NULL;
	struct registrations registrations = { 0 };
	const size_t old_count = list->count;
	const char *text;
	int ret;

	ret = read_registrations(fd, &registrations);
	if (!ret)
		ret = elog_list_open(fd, EVENTLOG_LIST_DEFINITIONS, 0, &definitions);
	while (!ret) {
		ret = elog_list_next(definitions, &describe, &text);
		if (!ret && describe.state & EVENTLOG_DESCRIBED_LIVE &&
		    !(describe.state & EVENTLOG_DESCRIBED_KERNEL))
			ret = add_definition(list, &describe, text, &registrations);
	}
	elog_list_close(definitions);
	free(registrations.entries);
	if (ret == -ENOENT && list->count > old_count)
		qsort(list->markers + old_count, list->count - old_count, sizeof(*list->markers),
		      compare_markers);
	return ret == -ENOENT ? 0 : ret;
}
