// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies for markers of programs: see marker_policy.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "elog_marker_names.h"
#include "marker/marker.h"
#include "marker/marker_policy.h"
#include "util/array.h"

int policies_add(struct policy_list *list, const struct marker_policy *policy)
{
	struct marker_policy *larger = array_grow(list->policies, list->count, sizeof(*larger));
	struct marker_policy *added;

	if (!larger)
		return -ENOMEM;
	list->policies = larger;
	added = &list->policies[list->count++];
	*added = *policy;
	added->program = strdup(policy->program);
	added->marker = strdup(policy->marker);
	if (policy->predicate)
		added->predicate = strdup(policy->predicate);
	return added->program && added->marker && !added->predicate == !policy->predicate ?
	       0 : -ENOMEM;
}

void policies_free(struct policy_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		free(list->policies[i].program);
		free(list->policies[i].marker);
		free(list->policies[i].predicate);
	}
	free(list->policies);
	memset(list, 0, sizeof(*list));
}

int policies_read(int fd, struct policy_list *list)
{
	char text[2 * EVENTLOG_GLOB_MAX + EVENTLOG_FILTER_TEXT_MAX] = "";
	uint32_t id = 0;
	int ret = 0;

	while (!ret) {
		struct eventlog_marker_policy_next next = {
			.size = sizeof(next),
			.id = id,
			.text = (uintptr_t)text,
			.text_size = sizeof(text),
		};
		struct marker_policy policy = { .program = text };

		if (ioctl(fd, EVENTLOG_IOC_POLICY_NEXT, &next))
			return errno == ENOENT ? 0 : -errno;
		id = next.id;
		policy.operation = next.operation;
		policy.handlers = next.handlers;
		policy.marker = text + strlen(text) + 1;
		policy.predicate = policy.marker + strlen(policy.marker) + 1;
		if (!*policy.predicate)
			policy.predicate = NULL;
		ret = policies_add(list, &policy);
	}
	return ret;
}

static int set_policy(int fd, const struct marker_policy *policy,
		      const struct elog_filter *filter,
		      struct eventlog_marker_policy *request)
{
	*request = (struct eventlog_marker_policy){
		.size = sizeof(*request),
		.program = (uintptr_t)policy->program,
		.marker = (uintptr_t)policy->marker,
		.handlers = policy->handlers,
		.operation = policy->operation,
		.filter = marker_filter_pointer(filter),
	};
	return ioctl(fd, EVENTLOG_IOC_POLICY_ADD, request) ? -errno : 0;
}

static void explain(const char *what, int error)
{
	if (error == -ENOSPC)
		elog_error("%s: the limit of %u policies is reached: elog marker policies",
			   what, EVENTLOG_POLICIES_MAX);
	else
		elog_error("%s: %s", what, strerror(-error));
}

/* The end of a character class, or NULL if it is not one. */
static const char *class_end(const char *glob)
{
	glob += glob[1] == '!' ? 2 : 1;
	return *glob ? strchr(glob + 1, ']') : NULL;
}

/*
 * Convert a glob over programs to one over providers, where characters other than
 * letters and digits are '_'. Return: NULL without memory.
 */
static char *program_glob(const char *program)
{
	char *glob = strdup(program), *to = glob;
	const char *end;

	for (; glob && *program; program++) {
		end = *program == '[' ? class_end(program) : NULL;
		if (end) {
			to = mempcpy(to, program, (size_t)(end - program));
			program = end;
			*to++ = ']';
		} else if (*program == '*' || *program == '?') {
			*to++ = *program;
		} else {
			program += *program == '\\' && program[1];
			*to++ = elog_marker_is_word(*program) ? *program : '_';
		}
	}
	if (glob)
		*to = '\0';
	return glob;
}

bool policy_is_possible(const char *program, const char *marker)
{
	return *program && *marker && strlen(program) < EVENTLOG_GLOB_MAX &&
	       strlen(marker) < EVENTLOG_GLOB_MAX && !strpbrk(program, "\t\n") &&
	       !strpbrk(marker, "\t\n:/");
}

static bool parse_handlers(const char *text, uint32_t *handlers)
{
	return markers_handlers_parse(text, handlers) && *handlers &&
	       !(*handlers & ~POLICY_HANDLERS);
}

/* Set the handlers to switch. By default: enable "print", disable all. */
static bool take_handlers(const struct marker_settings *settings, struct marker_policy *policy)
{
	policy->handlers = policy->operation == EVENTLOG_MARKER_OP_ADD ? EVENTLOG_MARKER_PRINT :
								  POLICY_HANDLERS;
	if (!settings->handlers || parse_handlers(settings->handlers, &policy->handlers))
		return true;
	elog_error("'%s': only print and probe can be switched for programs; their markers "
		   "are traced whenever there is a subscriber", settings->handlers);
	return false;
}

int policies_switch(const struct marker_settings *settings, int fd, uint32_t operation,
		    const struct elog_filter *filter)
{
	struct marker_policy policy = { .operation = operation };
	uint32_t matched = 0, changed = 0, incompatible = 0;
	struct eventlog_marker_policy request;
	int i, ret, status = STATUS_OK;

	if (!take_handlers(settings, &policy))
		return STATUS_ERROR;
	policy.program = program_glob(settings->program);
	if (!policy.program) {
		explain("--program", -ENOMEM);
		return STATUS_ERROR;
	}
	for (i = 1; i < settings->argument_count; i++) {
		policy.marker = settings->arguments[i];
		if (!policy_is_possible(policy.program, policy.marker)) {
			elog_error("'%s' '%s': no program can have an event of this name",
				   settings->program, policy.marker);
			status = STATUS_ERROR;
			continue;
		}
		ret = set_policy(fd, &policy, filter, &request);
		if (ret) {
			explain(policy.marker, ret);
			status = STATUS_ERROR;
			continue;
		}
		matched += request.matched;
		changed += request.changed;
		incompatible += request.incompatible;
	}
	if (!settings->quiet && incompatible)
		fprintf(stderr, "elog: the predicate is incompatible with the fields of %u "
			"marker%s unchanged\n", incompatible,
			incompatible == 1 ? ": it is" : "s: they are");
	if (!settings->quiet)
		fprintf(stderr, "elog: %u marker%s, %u changed\n", matched, plural(matched),
			changed);
	free(policy.program);
	return status;
}

int policies_restore(const struct policy_list *list, int fd)
{
	static char all[] = "*";
	const struct marker_policy nothing = {
		.program = all,
		.marker = all,
		.operation = EVENTLOG_MARKER_OP_REMOVE,
		.handlers = POLICY_HANDLERS,
	};
	struct elog_expression_error error;
	struct eventlog_marker_policy request;
	struct elog_filter *filter;
	size_t i;
	int ret;

	ret = set_policy(fd, &nothing, NULL, &request);
	for (i = 0; i < list->count && !ret; i++) {
		ret = marker_filter_compile(list->policies[i].predicate, &filter, &error);
		if (!ret)
			ret = set_policy(fd, &list->policies[i], filter, &request);
		elog_filter_free(filter);
	}
	if (ret)
		explain("policies", ret);
	return ret;
}

void policy_put_handlers(struct elog_text *text, const struct marker_policy *policy)
{
	elog_text_string(text, policy->operation == EVENTLOG_MARKER_OP_ADD ? "+" : "-");
	markers_handlers_put(text, policy->handlers);
}

bool policy_parse_handlers(const char *text, struct marker_policy *policy)
{
	if (*text != '+' && *text != '-')
		return false;
	policy->operation = *text == '+' ? EVENTLOG_MARKER_OP_ADD : EVENTLOG_MARKER_OP_REMOVE;
	return parse_handlers(text + 1, &policy->handlers);
}

static void put_policy(struct elog_text *text, const struct marker_policy *policy, bool is_json)
{
	struct elog_text handlers = { 0 };

	policy_put_handlers(&handlers, policy);
	if (is_json) {
		elog_text_string(text, "{");
		json_member(text, "program", policy->program);
		elog_text_string(text, ",");
		json_member(text, "marker", policy->marker);
		elog_text_string(text, ",");
		json_member(text, "operation",
			    policy->operation == EVENTLOG_MARKER_OP_ADD ? "enable" : "disable");
		markers_handlers_put_json(text, "handlers", policy->handlers);
		if (policy->predicate) {
			elog_text_string(text, ",");
			json_member(text, "predicate", policy->predicate);
		}
		elog_text_string(text, "}\n");
	} else {
		elog_text_printf(text, "%-17.*s %s/%s", (int)handlers.size,
				 handlers.data ? handlers.data : "", policy->program,
				 policy->marker);
		if (policy->predicate)
			elog_text_printf(text, " if %s", policy->predicate);
		elog_text_string(text, "\n");
	}
	elog_text_free(&handlers);
}

int policies_print(const struct marker_settings *settings, const struct policy_list *list)
{
	bool is_json = settings->format == FORMAT_JSON;
	struct elog_text text = { 0 };
	size_t i;

	if (!is_json && !settings->quiet)
		elog_text_printf(&text, "%-17s %s\n", "HANDLERS", "PROGRAM/MARKER");
	for (i = 0; i < list->count; i++)
		put_policy(&text, &list->policies[i], is_json);
	return text_print(&text);
}
