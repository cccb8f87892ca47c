// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Markers of programs: see elog_marker.h.
 *
 * Markers are in groups: one for the program, one for each library that it loads, and
 * one for the C++ markers of each. A group has what this file adds to its markers:
 * names, places, events.
 *
 * markers_lock protects everything except what passing a marker reads atomically:
 * marker->status, which says whether there is anything to do, marker->handlers, and
 * marker->state, which is complete before the others lead to it.
 *
 * A program may end while its threads continue. Therefore the state of a marker, and
 * its event, are never freed; for filters, see producer/marker_fetch.c. They retire, and
 * are used again by the next marker with the same place, for example when a library is
 * loaded again.
 *
 * markers_lock is taken before any lock of a producer, and first by fork().
 */
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elog_marker.h"
#include "format/text.h"
#include "common/field_type.h"
#include "elog_marker_names.h"
#include "producer/marker_fetch.h"
#include "producer/producer.h"

/* A line on stderr; it is truncated to this. */
#define LINE_BYTES	2048
/* Strings are truncated to this, so that other fields have room. */
#define STRING_BYTES	512
/* Each marker prints at most LINES_MAX lines in LINES_SECONDS. */
#define LINES_MAX	10
#define LINES_SECONDS	5
#define RETIRED_LISTS	256
/* The kernel has policies for these handlers. */
#define POLICY_HANDLERS	(ELOG_MARKER_PRINT | ELOG_MARKER_PROBE)
#define ALL_HANDLERS	(ELOG_MARKER_PRINT | ELOG_MARKER_TRACE | ELOG_MARKER_PROBE)
#define POLICY_STATUS	(EVENTLOG_STATUS_PRINT | EVENTLOG_STATUS_PROBE | EVENTLOG_STATUS_FILTER)

struct group {
	struct group *next;
	struct elog_marker **begin;	/* NULL: a group of C++ */
	size_t count;
	struct elog_marker **markers;	/* by place */
};

/* C++ markers that wait for elog_markers_register(). */
static struct {
	struct elog_marker **markers;
	size_t count;			/* atomic when read without the lock */
} markers_added;

/* From elog_markers_switch() or ELOG_MARKERS; the newest is the first. */
struct policy {
	struct policy *next;
	unsigned int handlers;
	char pattern[];
};

static pthread_mutex_t markers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t markers_once = PTHREAD_ONCE_INIT;
static struct elog_producer *markers_producer;
static struct group *markers_groups;
static struct policy *markers_policies;
static struct elog_marker_state *markers_retired[RETIRED_LISTS];	/* by id */

/*
 * The function that ELOG_MARKER_PROBE calls. A thread may be about to call a function
 * that was replaced, so all of them are kept, each one once.
 */
struct probe {
	struct probe *next;
	elog_marker_function *function;
	void *context;
};
static struct probe *markers_probes;		/* atomic; all that were ever set */
static const struct probe *markers_probe;	/* atomic; NULL: none */

/* The status of markers that print or call a function without a subscriber. */
static const unsigned char always_byte = 0xff;

/* ------------------------------------------------------------------------
 * Switching
 */

/* Set the status byte that the marker tests: that of its event, or a constant one. */
static void update_marker(struct elog_marker *marker)
{
	unsigned int handlers = __atomic_load_n(&marker->handlers, __ATOMIC_RELAXED);
	bool is_on = handlers & ~ELOG_MARKER_TRACE;

	if (marker->state->registered) {
		elog_event_report_handlers(marker->state->event, handlers,
					   marker->state->defaults);
		elog_event_follow(marker->state->event, is_on ? NULL : &marker->status);
	}
	if (is_on || !marker->state->registered)
		__atomic_store_n(&marker->status, is_on ? &always_byte : &elog_marker_never,
				 __ATOMIC_RELEASE);
}

static bool matches(const struct elog_marker *marker, const char *pattern)
{
	const struct elog_marker_state *state = marker->state;
	size_t length = elog_marker_tag_length(marker);
	char tag[EVENTLOG_NAME_MAX];

	snprintf(tag, sizeof(tag), "%.*s", (int)length, marker->text);
	return !fnmatch(pattern, tag, 0) || !fnmatch(pattern, state->place, 0);
}

static void apply_policies(struct elog_marker *marker)
{
	const struct policy *policy;

	for (policy = markers_policies; policy; policy = policy->next) {
		if (!matches(marker, policy->pattern))
			continue;
		__atomic_store_n(&marker->handlers, policy->handlers, __ATOMIC_RELAXED);
		return;
	}
}

static bool add_policy(const char *pattern, size_t length, unsigned int handlers)
{
	struct policy *policy = malloc(sizeof(*policy) + length + 1), *old, **link;

	if (!policy)
		return false;
	/* It replaces the previous policy for this pattern. */
	for (link = &markers_policies; (old = *link); link = &old->next) {
		if (strncmp(old->pattern, pattern, length) || old->pattern[length])
			continue;
		*link = old->next;
		free(old);
		break;
	}
	memcpy(policy->pattern, pattern, length);
	policy->pattern[length] = '\0';
	policy->handlers = handlers;
	policy->next = markers_policies;
	markers_policies = policy;
	return true;
}

/* Parse "PATTERN=print+trace,...". Ignore malformed parts. */
static void read_environment(void)
{
	static const char *const names[] = { "print", "trace", "probe" };
	const char *text = secure_getenv("ELOG_MARKERS"), *equals, *word;
	unsigned int handlers, i;
	size_t length, bytes;

	for (; text && *text; text += length, text += *text == ',') {
		length = strcspn(text, ",");
		equals = memchr(text, '=', length);
		if (!equals)
			continue;
		handlers = 0;
		for (word = equals; word < text + length; word += bytes) {
			bytes = strcspn(++word, "+,");
			for (i = 0; i < 3; i++)
				if (bytes == strlen(names[i]) &&
				    !strncmp(word, names[i], bytes))
					handlers |= 1U << i;
		}
		add_policy(text, (size_t)(equals - text), handlers);
	}
}

/* ------------------------------------------------------------------------
 * Coming and going
 */

static void before_fork(void)
{
	pthread_mutex_lock(&markers_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&markers_lock);
}

static void after_fork_in_child(void)
{
	elog_marker_filters_after_fork();
	after_fork();
}

/* The producer sets its fork handlers first, so they run inside of these. */
static void begin_markers(void)
{
	if (elog_producer_open(&markers_producer, NULL))
		markers_producer = NULL;
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	read_environment();
}

/* In commands that register events, strings have a different name than in schemas. */
static const char *command_type(unsigned int type)
{
	return type == ELOG_MARKER_STRING ? "__data_loc char[]" :
					    elog_marker_type_name(type);
}

/* Return: NULL without memory. */
static char *make_command(const struct elog_marker *marker, bool is_described)
{
	const struct elog_marker_state *state = marker->state;
	char *command = NULL;
	unsigned int i;
	size_t size;
	FILE *text;

	text = open_memstream(&command, &size);
	if (!text)
		return NULL;
	fputs(state->name, text);
	if (is_described) {
		fputc(' ', text);
		elog_marker_describe(text, marker);
	}
	for (i = 0; i < marker->types[0]; i++)
		fprintf(text, "%s%s %s", i ? ";" : " ",
			command_type(marker->types[1 + i]), state->fields[i]);
	if (fclose(text)) {
		free(command);
		return NULL;
	}
	return command;
}

static struct elog_marker_state **retired_list(const struct elog_marker_state *state)
{
	return &markers_retired[state->id % RETIRED_LISTS];
}

/* Use the retired state of a marker with the same place, name and fields, if any. */
static void revive_state(struct elog_marker *marker)
{
	struct elog_marker_state *state = marker->state, *old, **link;

	for (link = retired_list(state); (old = *link); link = &old->next)
		if (old->id == state->id && !strcmp(old->place, state->place) &&
		    !strcmp(old->command, state->command))
			break;
	if (!old)
		return;
	*link = old->next;
	__atomic_store_n(&marker->state, old, __ATOMIC_RELEASE);
	elog_marker_state_free(state);
}

static void register_event(struct elog_marker *marker, const char *provider)
{
	struct elog_marker_state *state = marker->state;
	struct elog_event *event;

	if (state->event) {
		/* If this fails, the event stays disabled and is in no list of the producer. */
		state->registered = !elog_event_revive(state->event);
		return;
	}
	if (!markers_producer ||
	    elog_event_register(markers_producer, provider, state->command,
				EVENTLOG_LEVEL_DEBUG, 0, 0, &event))
		return;
	state->registered = true;
	__atomic_store_n(&state->event, event, __ATOMIC_RELEASE);
}

/* Threads that have passed the test continue with the state that they have read. */
static void retire_state(struct elog_marker *marker)
{
	struct elog_marker_state *state = marker->state;

	__atomic_store_n(&marker->state, NULL, __ATOMIC_RELEASE);
	if (state->registered)
		elog_event_retire(state->event);
	/* After that: a connection would set it again. */
	__atomic_store_n(&marker->status, &elog_marker_never, __ATOMIC_RELEASE);
	state->registered = false;
	elog_marker_filter_forget(state);
	state->next = *retired_list(state);
	*retired_list(state) = state;
}

/* Free the states of a group whose markers were never on. */
static void drop_states(struct group *group)
{
	struct elog_marker_state *state;
	size_t i;

	for (i = 0; i < group->count; i++) {
		state = group->markers[i]->state;
		group->markers[i]->state = NULL;
		if (state)
			elog_marker_state_free(state);
	}
}

static void retire_states(struct group *group)
{
	size_t i;

	for (i = 0; i < group->count; i++)
		retire_state(group->markers[i]);
}

static void free_group(struct group *group)
{
	free(group->markers);
	free(group);
}

/* Make a group of the markers that this library knows and that are not registered. */
static struct group *new_group(struct elog_marker **own, struct elog_marker **begin,
			       struct elog_marker **end)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->begin = own;
	group->markers = calloc((size_t)(end - begin) + 1, sizeof(*group->markers));
	if (!group->markers) {
		free(group);
		return NULL;
	}
	for (; begin != end; begin++)
		if (*begin && (*begin)->magic == ELOG_MARKER_MAGIC && !(*begin)->state)
			group->markers[group->count++] = *begin;
	return group;
}

static bool name_commands(struct group *group)
{
	struct elog_marker *marker;
	size_t i;

	for (i = 0; i < group->count; i++) {
		marker = group->markers[i];
		marker->state->command = make_command(marker, true);
		if (marker->state->command &&
		    strlen(marker->state->command) >= EVENTLOG_COMMAND_MAX) {
			free(marker->state->command);
			marker->state->command = make_command(marker, false);
		}
		if (!marker->state->command)
			return false;
	}
	return true;
}

/* @own identifies the group; NULL: it has no identity. */
static void register_group(struct elog_marker **own, struct elog_marker **begin,
			   struct elog_marker **end)
{
	char provider[EVENTLOG_NAME_MAX];
	struct group *group;
	size_t i;

	for (group = markers_groups; own && group; group = group->next)
		if (group->begin == own)
			return;
	group = new_group(own, begin, end);
	if (!group)
		return;
	if (!elog_markers_name(group->markers, group->count) || !name_commands(group)) {
		drop_states(group);
		free_group(group);
		return;
	}
	elog_marker_provider(provider, sizeof(provider), program_invocation_short_name);
	for (i = 0; i < group->count; i++) {
		revive_state(group->markers[i]);
		group->markers[i]->state->defaults = group->markers[i]->handlers;
		register_event(group->markers[i], provider);
		apply_policies(group->markers[i]);
		update_marker(group->markers[i]);
	}
	group->next = markers_groups;
	markers_groups = group;
}

void elog_markers_register(struct elog_marker **begin, struct elog_marker **end)
{
	/* Every file of a program calls this, but only the first call has an effect. */
	if (begin == end && !__atomic_load_n(&markers_added.count, __ATOMIC_RELAXED))
		return;
	pthread_once(&markers_once, begin_markers);
	pthread_mutex_lock(&markers_lock);
	if (begin != end)
		register_group(begin, begin, end);
	if (markers_added.count) {
		register_group(NULL, markers_added.markers,
			       markers_added.markers + markers_added.count);
		free(markers_added.markers);
		markers_added.markers = NULL;
		__atomic_store_n(&markers_added.count, 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&markers_lock);
}

void elog_marker_add(struct elog_marker *marker)
{
	struct elog_marker **larger;

	pthread_mutex_lock(&markers_lock);
	larger = reallocarray(markers_added.markers, markers_added.count + 1,
			      sizeof(*larger));
	if (larger) {
		larger[markers_added.count] = marker;
		markers_added.markers = larger;
		__atomic_store_n(&markers_added.count, markers_added.count + 1,
				 __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&markers_lock);
}

/* Remove a marker from a list. Return: false if it is not in the list. */
static bool take_out(struct elog_marker **markers, size_t *count,
		     const struct elog_marker *marker)
{
	size_t i;

	for (i = 0; i < *count && markers[i] != marker; i++)
		;
	if (i == *count)
		return false;
	memmove(&markers[i], &markers[i + 1], (--*count - i) * sizeof(*markers));
	return true;
}

void elog_marker_remove(struct elog_marker *marker)
{
	struct group *group, **link;

	pthread_mutex_lock(&markers_lock);
	if (take_out(markers_added.markers, &markers_added.count, marker))
		goto out;
	for (link = &markers_groups; (group = *link); link = &group->next) {
		if (group->begin || !take_out(group->markers, &group->count, marker))
			continue;
		retire_state(marker);
		if (!group->count) {
			*link = group->next;
			free_group(group);
		}
		break;
	}
out:
	pthread_mutex_unlock(&markers_lock);
}

void elog_markers_unregister(struct elog_marker **begin)
{
	struct group *group, **link;

	if (!begin)
		return;
	pthread_mutex_lock(&markers_lock);
	for (link = &markers_groups; (group = *link); link = &group->next) {
		if (group->begin != begin)
			continue;
		*link = group->next;
		retire_states(group);
		free_group(group);
		break;
	}
	pthread_mutex_unlock(&markers_lock);
}

int elog_markers_switch(const char *pattern, unsigned int handlers)
{
	struct group *group;
	int count = 0;
	size_t i;

	if (handlers & ~ALL_HANDLERS)
		return -EINVAL;
	pthread_once(&markers_once, begin_markers);
	pthread_mutex_lock(&markers_lock);
	if (!add_policy(pattern, strlen(pattern), handlers)) {
		pthread_mutex_unlock(&markers_lock);
		return -ENOMEM;
	}
	for (group = markers_groups; group; group = group->next) {
		for (i = 0; i < group->count; i++) {
			struct elog_marker *marker = group->markers[i];

			if (!matches(marker, pattern))
				continue;
			__atomic_store_n(&marker->handlers, handlers, __ATOMIC_RELAXED);
			update_marker(marker);
			count++;
		}
	}
	pthread_mutex_unlock(&markers_lock);
	return count;
}

/* Return an existing one or a new one; NULL: out of memory. */
static const struct probe *find_probe(elog_marker_function *function, void *context)
{
	struct probe *probe, *first;

	first = __atomic_load_n(&markers_probes, __ATOMIC_ACQUIRE);
	for (probe = first; probe; probe = probe->next)
		if (probe->function == function && probe->context == context)
			return probe;
	probe = malloc(sizeof(*probe));
	if (!probe)
		return NULL;
	probe->function = function;
	probe->context = context;
	probe->next = first;
	while (!__atomic_compare_exchange_n(&markers_probes, &probe->next, probe, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return probe;
}

void elog_markers_probe(elog_marker_function *function, void *context)
{
	const struct probe *probe = function ? find_probe(function, context) : NULL;

	__atomic_store_n(&markers_probe, probe, __ATOMIC_RELEASE);
}

/* Read it only once: the marker may be unregistered meanwhile. */
static struct elog_marker_state *state_of(const struct elog_marker *marker)
{
	return __atomic_load_n(&marker->state, __ATOMIC_ACQUIRE);
}

const char *elog_marker_place(const struct elog_marker *marker)
{
	const struct elog_marker_state *state = state_of(marker);

	return state ? state->place : NULL;
}

uint64_t elog_marker_id(const struct elog_marker *marker)
{
	const struct elog_marker_state *state = state_of(marker);

	return state ? state->id : 0;
}

/* ------------------------------------------------------------------------
 * Passing a marker
 */

/* EVENTLOG_STATUS_* of the event; 0 without one. Tracing needs the program's TRACE, too. */
static unsigned int marker_status(const struct elog_marker_state *state, unsigned int handlers,
				  const struct elog_event **event)
{
	unsigned int bits;

	*event = __atomic_load_n(&state->event, __ATOMIC_ACQUIRE);
	bits = *event ? elog_event_status(*event) & ELOG_MARKER_BITS : 0;
	return handlers & ELOG_MARKER_TRACE ? bits : bits & ~EVENTLOG_STATUS_ENABLED;
}

bool elog_marker_enabled_slow(const struct elog_marker *marker)
{
	const struct elog_marker_state *state = state_of(marker);
	const struct elog_event *event;
	unsigned int handlers;

	if (!state)
		return false;
	handlers = __atomic_load_n(&marker->handlers, __ATOMIC_RELAXED);
	if (handlers & ~ELOG_MARKER_TRACE)
		return true;
	return marker_status(state, handlers, &event);
}

static unsigned int size_of(unsigned int type)
{
	return eventlog_field_types[elog_marker_field_types[type]].bytes;
}

static uint64_t extended(unsigned int type, uint64_t value)
{
	return eventlog_field_value(elog_marker_field_types[type], value);
}

static size_t fixed_bytes(const struct elog_marker *marker)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < marker->types[0]; i++)
		bytes += size_of(marker->types[1 + i]);
	return bytes;
}

static void write_event(const struct elog_marker *marker,
			const struct elog_event *event, const uint64_t *values)
{
	unsigned char fixed[8 * ELOG_MARKER_FIELDS_MAX], *to = fixed;
	struct iovec parts[1 + ELOG_MARKER_FIELDS_MAX];
	unsigned int i, count = 1;
	size_t end = 0;

	for (i = 0; i < marker->types[0]; i++) {
		unsigned int type = marker->types[1 + i];
		unsigned int size = size_of(type);
		uint64_t value = values[i];

		if (type == ELOG_MARKER_STRING) {
			const char *text = (const char *)(uintptr_t)value;

			if (!text)
				text = "(null)";
			if (!end)
				end = fixed_bytes(marker);
			parts[count].iov_base = (void *)(uintptr_t)text;
			parts[count].iov_len = strnlen(text, EVENTLOG_PAYLOAD_MAX) + 1;
			/* Too large sizes stay too large, so the kernel denies the event. */
			value = (uint32_t)(parts[count].iov_len << 16 | (end & 0xffff));
			end += parts[count++].iov_len;
		}
		/* 8 bytes, of which @size are kept: there is room for 8 bytes a field. */
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			value <<= 64 - 8 * size;
		memcpy(to, &value, sizeof(value));
		to += size;
	}
	parts[0].iov_base = fixed;
	parts[0].iov_len = (size_t)(to - fixed);
	elog_event_write_parts(event, elog_marker_session(marker, values), parts, count);
}

/* Limit the lines per interval; an interval starts at its first line. */
static bool line_allowed(struct elog_marker_state *state)
{
	struct timespec now;
	uint64_t since;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	since = __atomic_load_n(&state->lines_since, __ATOMIC_RELAXED);
	if ((uint64_t)now.tv_sec - since >= LINES_SECONDS &&
	    __atomic_compare_exchange_n(&state->lines_since, &since, (uint64_t)now.tv_sec,
					false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&state->lines, 0, __ATOMIC_RELAXED);
	return __atomic_fetch_add(&state->lines, 1, __ATOMIC_RELAXED) < LINES_MAX;
}

static void put_value(struct elog_text *text, unsigned int type, uint64_t value)
{
	const char *string = (const char *)(uintptr_t)value;

	if (type == ELOG_MARKER_STRING) {
		string = string ? string : "(null)";
		elog_text_quoted(text, string, strnlen(string, STRING_BYTES));
	} else if (type == ELOG_MARKER_PTR) {
		elog_text_string(text, "0x");
		elog_text_hex(text, value, 1);
	} else if (type >= ELOG_MARKER_S8 && type <= ELOG_MARKER_S64 && (int64_t)value < 0) {
		elog_text_string(text, "-");
		elog_text_unsigned(text, 0 - value, 1, ' ');
	} else {
		elog_text_unsigned(text, value, 1, ' ');
	}
}

/* Use only the stack and no locks: this may run in a signal handler. */
static void print_line(const struct elog_marker *marker,
		       struct elog_marker_state *state, const uint64_t *values)
{
	static const char cut_off[] = "...";
	char room[LINE_BYTES];
	struct elog_text text = {
		.data = room,
		.capacity = sizeof(room) - sizeof(cut_off),
		.reserved = { ELOG_TEXT_FIXED },
	};
	unsigned int i;

	if (!line_allowed(state))
		return;
	elog_text_string(&text, state->name);
	elog_text_string(&text, " ");
	elog_text_string(&text, state->place);
	elog_text_string(&text, ":");
	if (marker->flags & ELOG_MARKER_HAS_SESSION) {
		elog_text_string(&text, " session=0x");
		elog_text_hex(&text, elog_marker_session(marker, values), 1);
	}
	for (i = 0; i < marker->types[0]; i++) {
		elog_text_string(&text, " ");
		elog_text_string(&text, state->fields[i]);
		elog_text_string(&text, "=");
		put_value(&text, marker->types[1 + i],
			  extended(marker->types[1 + i], values[i]));
	}
	if (text.error) {
		memcpy(room + text.size, cut_off, sizeof(cut_off) - 1);
		text.size += sizeof(cut_off) - 1;
	}
	room[text.size++] = '\n';
	(void)!write(STDERR_FILENO, room, text.size);
}

static void call_probe(const struct elog_marker *marker, uint64_t *values)
{
	/* Markers that the function or a signal handler passes meanwhile do not call it. */
	static __thread bool is_called;
	const struct probe *probe;
	unsigned int i;

	probe = __atomic_load_n(&markers_probe, __ATOMIC_ACQUIRE);
	if (!probe || is_called)
		return;
	for (i = 0; i < marker->types[0]; i++)
		values[i] = extended(marker->types[1 + i], values[i]);
	is_called = true;
	probe->function(marker, values, probe->context);
	is_called = false;
}

/* The values of the fields, then the session. */
static void take_values(const struct elog_marker *marker, va_list arguments,
			uint64_t *values)
{
	unsigned int i;

	values[marker->types[0]] = marker->flags & ELOG_MARKER_HAS_SESSION ?
				   va_arg(arguments, uint64_t) : 0;
	for (i = 0; i < marker->types[0]; i++)
		values[i] = va_arg(arguments, uint64_t);
}

void elog_marker_fire(const struct elog_marker *marker, ...)
{
	struct elog_marker_state *state = state_of(marker);
	uint64_t values[ELOG_MARKER_FIELDS_MAX + 1];
	const struct elog_event *event;
	unsigned int handlers, status;
	int error;
	va_list arguments;

	if (!state)
		return;
	va_start(arguments, marker);
	take_values(marker, arguments, values);
	va_end(arguments);
	handlers = __atomic_load_n(&marker->handlers, __ATOMIC_RELAXED);
	status = marker_status(state, handlers, &event);
	if (status & EVENTLOG_STATUS_ENABLED)
		write_event(marker, event, values);
	if (!(handlers & POLICY_HANDLERS) && !(status & POLICY_STATUS))
		return;
	error = errno;
	/* The kernel's actions add to the program's own. */
	if (status & EVENTLOG_STATUS_FILTER)
		handlers |= elog_marker_filter_handlers(marker, state, event, values);
	else
		handlers |= (status & EVENTLOG_STATUS_PRINT ? ELOG_MARKER_PRINT : 0) |
			    (status & EVENTLOG_STATUS_PROBE ? ELOG_MARKER_PROBE : 0);
	if (handlers & ELOG_MARKER_PRINT)
		print_line(marker, state, values);
	if (handlers & ELOG_MARKER_PROBE)
		call_probe(marker, values);
	errno = error;
}

/* False if the marker is on only because of a filter, and that is false. */
static bool is_overridden(const struct elog_marker *marker, const uint64_t *values)
{
	unsigned int handlers = __atomic_load_n(&marker->handlers, __ATOMIC_RELAXED);
	struct elog_marker_state *state = state_of(marker);
	const struct elog_event *event;
	unsigned int status;

	if (!state || handlers & ~ELOG_MARKER_TRACE)
		return true;
	status = marker_status(state, handlers, &event);
	return !(status & EVENTLOG_STATUS_FILTER) || status & EVENTLOG_STATUS_ENABLED ||
	       elog_marker_filter_handlers(marker, state, event, values);
}

void elog_marker_override(elog_marker_function *function,
			  const struct elog_marker *marker, ...)
{
	uint64_t values[ELOG_MARKER_FIELDS_MAX + 1];
	va_list arguments;
	unsigned int i;

	va_start(arguments, marker);
	take_values(marker, arguments, values);
	va_end(arguments);
	if (!is_overridden(marker, values))
		return;
	for (i = 0; i < marker->types[0]; i++)
		values[i] = extended(marker->types[1 + i], values[i]);
	function(marker, values, NULL);
}
