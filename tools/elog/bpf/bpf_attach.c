// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaching the programs of a BPF object: see bpf_attach.h.
 *
 * Trace events appear some time after their events, by a worker of the kernel
 * module's: what is not there yet is waited for.
 */
#ifdef ELOG_BPF

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/bpf_attach.h"
#include "bpf/bpf_load.h"
#include "input/live.h"
#include "input/select.h"
#include "util/signals.h"

#define APPEARING_NS	10000000000ULL
#define PAUSE_MS	10
#define GROUP_MAX	(EVENTLOG_NAME_MAX + sizeof("eventlog_"))

struct bpf_attached {
	struct bpf_link **links;
	size_t count;
	bool wants_events;
	int device;		/* for definitions; -1: not open */
};

static const char *tracefs(void)
{
	static const char *const mounts[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(path, sizeof(path), "%s/events", mounts[i]);
		if (!access(path, X_OK))
			return mounts[i];
	}
	return NULL;
}

/* Names of groups that no provider gets: as eventlog(4) says. */
static bool group_taken(const char *group)
{
	static const char *const taken[] = {
		"ftrace", "eventlog", "enable", "header_page", "header_event",
		"TRACE_SYSTEM",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		if (!strcmp(group, taken[i]))
			return true;
	return false;
}

/* The group that a provider's trace events are in, as the kernel module has it. */
static void group_of(const char *provider, char *group, size_t size)
{
	char name[EVENTLOG_NAME_MAX], path[64], *at;

	snprintf(name, sizeof(name), "%.*s", EVENTLOG_NAME_MAX - 1, provider);
	for (at = name; *at; at++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
			    *at))
			*at = '_';
	snprintf(path, sizeof(path), "%s/user_events_data", tracefs());
	if (!strcmp(name, EVENTLOG_DEFAULT_PROVIDER) && !access(path, F_OK))
		snprintf(group, size, "eventlog_user");
	else
		snprintf(group, size, "%s%s", group_taken(name) ? "eventlog_" : "", name);
}

/* Return: false if it does not appear, or a signal says stop. */
static bool trace_event_appears(const char *group, const char *event)
{
	const uint64_t started = monotonic();
	char path[512];

	if (!tracefs() || snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs(),
				   group, event) >= (int)sizeof(path))
		return false;
	while (access(path, F_OK)) {
		if (signals_stops() || monotonic() - started >= APPEARING_NS)
			return false;
		signals_sleep(PAUSE_MS);
	}
	return true;
}

static int keep(struct bpf_attached *attached, struct bpf_link *link)
{
	struct bpf_link **larger;

	larger = realloc(attached->links, (attached->count + 1) * sizeof(*larger));
	if (!larger) {
		bpf_link__destroy(link);
		elog_error("out of memory");
		return -ENOMEM;
	}
	larger[attached->count++] = link;
	attached->links = larger;
	return 0;
}

/* ------------------------------------------------------------------------
 * Programs for any trace event
 */

static int attach_to(struct bpf_attached *attached, struct bpf_program *program,
		     const char *group, const char *event)
{
	struct bpf_link *link;
	char what[512];
	int error;

	link = bpf_program__attach_tracepoint(program, group, event);
	if (link)
		return keep(attached, link);
	error = -errno;
	snprintf(what, sizeof(what), "%s at %s:%s", bpf_program__name(program), group,
		 event);
	bpf_explain(what, error);
	if (error == -EACCES)
		elog_hint("the program reads beyond the event's fields: see %s/events/%s/%s/format",
			  tracefs(), group, event);
	return -EINVAL;
}

/* NAME, and NAME.NUMBER: further definitions of the name. */
static bool is_of_event(const char *name, const char *event)
{
	size_t size = strlen(event);

	return !strncmp(name, event, size) && (!name[size] || name[size] == '.');
}

/*
 * An event's name, with its provider's; a trace event's, with its group's. Each of
 * these is longer than an event's or a provider's by what the kernel module adds.
 */
struct name {
	char provider[GROUP_MAX];
	char event[EVENTLOG_NAME_MAX + sizeof(".4294967295")];
};

struct names {
	struct name *names;
	size_t count;
};

/* Definitions of the same name are one. */
static int add_name(struct names *names, const char *provider, const char *event)
{
	struct name *larger;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!strcmp(names->names[i].provider, provider) &&
		    !strcmp(names->names[i].event, event))
			return 0;
	larger = realloc(names->names, (names->count + 1) * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	names->names = larger;
	larger += names->count++;
	snprintf(larger->provider, sizeof(larger->provider), "%s", provider);
	snprintf(larger->event, sizeof(larger->event), "%s", event);
	return 0;
}

/*
 * Attaches to those of the event's trace events that are not among the names yet.
 * The group's directory is not read: that an entry goes meanwhile is something that
 * Linux 6.12, with eventfs, does not survive.
 *
 * Return: whether there were any; -ENOMEM, or what attach_to() returns, with a message.
 */
static int attach_to_listed(struct bpf_attached *attached, struct bpf_program *program,
			    const char *group, const char *event, struct names *names)
{
	const size_t known = names->count, group_size = strlen(group);
	char path[64], *line = NULL;
	size_t size = 0, i;
	ssize_t length;
	FILE *file;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/available_events", tracefs());
	file = fopen(path, "re");
	while (file && !ret && (length = getline(&line, &size, file)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (strncmp(line, group, group_size) || line[group_size] != ':' ||
		    !is_of_event(line + group_size + 1, event))
			continue;
		ret = add_name(names, group, line + group_size + 1);
		if (ret)
			elog_error("out of memory");
	}
	free(line);
	if (file)
		fclose(file);
	for (i = known; !ret && i < names->count; i++)
		ret = attach_to(attached, program, group, names->names[i].event);
	return ret ? ret : names->count > known;
}

static int attach_to_event(struct bpf_attached *attached,
			   struct bpf_program *program, const char *provider,
			   const char *event)
{
	struct names names = { 0 };
	char group[GROUP_MAX];
	int ret;

	group_of(provider, group, sizeof(group));
	if (!trace_event_appears(group, event)) {
		if (!signals_stops()) {
			elog_error("there is no trace event %s:%s", group, event);
			elog_hint("see /sys/kernel/tracing/events, and trace_events_max= of the kernel module");
		}
		return -ENOENT;
	}
	/*
	 * The list is read a page at a time, each from where the last ended by count:
	 * one that goes meanwhile hides another, until the list is read again.
	 */
	do {
		ret = attach_to_listed(attached, program, group, event, &names);
	} while (ret > 0);
	if (!ret && !names.count)
		ret = -ENOENT;
	free(names.names);
	return ret;
}

/* The definition's name, if the glob matches it. */
static int match(const char *text, const char *glob, struct names *names)
{
	const struct elog_schema_event *event;
	struct elog_schema *schema;
	int ret;

	ret = elog_schema_parse(text, strlen(text), &schema, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (schema->provider_count && schema->providers[0]->event_count) {
		event = schema->providers[0]->events[0];
		if (glob_matches(glob, event))
			ret = add_name(names, event->provider->name, event->name);
	}
	elog_schema_free(schema);
	return ret;
}

static int find_names(int device, const char *glob, struct names *names)
{
	struct eventlog_describe describe = { 0 };
	char *text;
	int ret;

	do {
		describe.flags = EVENTLOG_DESCRIBE_NEXT;
		ret = elog_device_describe(device, &describe, &text);
		if (ret)
			break;
		if (describe.state & EVENTLOG_DESCRIBED_LIVE)
			ret = match(text, glob, names);
		free(text);
	} while (!ret);
	return ret == -ENOENT ? 0 : ret;
}

static int attach_to_glob(struct bpf_attached *attached,
			  struct bpf_program *program, const char *glob)
{
	struct names names = { 0 };
	size_t i;
	int ret;

	ret = find_names(attached->device, glob, &names);
	if (ret)
		elog_error("%s", strerror(-ret));
	if (!ret && !names.count) {
		elog_error("no event matches '%s'", glob);
		elog_hint("elog create makes one before any program does");
		ret = -ENOENT;
	}
	for (i = 0; !ret && i < names.count; i++)
		ret = attach_to_event(attached, program, names.names[i].provider,
				      names.names[i].event);
	free(names.names);
	return ret;
}

static int attach_to_globs(struct bpf_attached *attached,
			   struct bpf_program *program,
			   const struct options *options)
{
	size_t i;
	int ret = 0;

	if (!options->glob_count) {
		elog_error("the program %s names no event: add --event PROVIDER/EVENT",
			   bpf_program__name(program));
		return -EINVAL;
	}
	if (attached->device < 0)
		attached->device = elog_device_open(NULL);
	if (attached->device < 0) {
		explain_device_error(attached->device, PURPOSE_QUERY);
		return attached->device;
	}
	for (i = 0; !ret && i < options->glob_count; i++)
		ret = attach_to_glob(attached, program, options->globs[i]);
	return ret;
}

/* ------------------------------------------------------------------------
 * All programs
 */

/* What is behind "tp/" or "tracepoint/" in its section; "" for "tp"; NULL: another kind. */
static const char *trace_event_of(const struct bpf_program *program)
{
	static const char *const kinds[] = { "tp", "tracepoint" };
	const char *section = bpf_program__section_name(program);
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		size = strlen(kinds[i]);
		if (strncmp(section, kinds[i], size))
			continue;
		if (!section[size])
			return "";
		if (section[size] == '/')
			return section + size + 1;
	}
	return NULL;
}

/* "GROUP/EVENT"; whether it is there is for libbpf to say. */
static void await(const char *trace_event)
{
	const char *slash = strchr(trace_event, '/');
	char group[128];

	if (!slash || slash - trace_event >= (ssize_t)sizeof(group))
		return;
	memcpy(group, trace_event, (size_t)(slash - trace_event));
	group[slash - trace_event] = '\0';
	trace_event_appears(group, slash + 1);
}

static void explain_program(const struct bpf_program *program, int error)
{
	const char *section = bpf_program__section_name(program);
	char what[512];

	snprintf(what, sizeof(what), "%s, SEC(\"%s\")", bpf_program__name(program),
		 section);
	if (error == -EOPNOTSUPP) {
		elog_error("%s: the section does not say what to attach it to", what);
		return;
	}
	bpf_explain(what, error);
	if (error == -ENOENT && trace_event_of(program))
		elog_hint("elog create makes an event before any program does");
	else if (error == -ENOENT && strstr(section, BPF_TRACEPOINT))
		elog_hint("the kernel module eventlog is not loaded, or older than this elog");
}

static int attach_program(struct bpf_attached *attached,
			  struct bpf_program *program,
			  const struct options *options)
{
	const char *trace_event = trace_event_of(program);
	struct bpf_link *link;

	if (trace_event && !*trace_event)
		return attach_to_globs(attached, program, options);
	if (trace_event)
		await(trace_event);
	else
		attached->wants_events = true;
	link = bpf_program__attach(program);
	if (link)
		return keep(attached, link);
	explain_program(program, -errno);
	return -EINVAL;
}

int bpf_attach(struct bpf_attached **result, struct bpf_object *object,
	       const struct options *options)
{
	struct bpf_attached *attached = calloc(1, sizeof(*attached));
	struct bpf_program *program;
	int ret = 0;

	*result = attached;
	if (!attached) {
		elog_error("out of memory");
		return -ENOMEM;
	}
	attached->device = -1;
	bpf_object__for_each_program(program, object) {
		if (!ret && bpf_program__autoload(program))
			ret = attach_program(attached, program, options);
	}
	if (!ret && !attached->count) {
		elog_error("there is no program in it");
		ret = -EINVAL;
	}
	return ret;
}

void bpf_detach(struct bpf_attached *attached)
{
	size_t i;

	if (!attached)
		return;
	for (i = 0; i < attached->count; i++)
		bpf_link__destroy(attached->links[i]);
	if (attached->device >= 0)
		close(attached->device);
	free(attached->links);
	free(attached);
}

bool bpf_wants_events(const struct bpf_attached *attached)
{
	return attached->wants_events;
}

#endif /* ELOG_BPF */
