// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies for markers of programs: see marker_policy.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elog_marker_names.h"
#include "marker/marker.h"
#include "marker/marker_policy.h"
#include "util/array.h"

static int add_policy(struct policy_list *list, const struct marker_policy *policy)
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
	struct eventlog_policy_info info = { .size = sizeof(info) };
	struct elog_list *policies = NULL;
	const char *text;
	int ret = elog_list_open(fd, EVENTLOG_LIST_POLICIES, 0, &policies);

	while (!ret && !(ret = elog_list_next(policies, &info, &text))) {
		const char *marker = text + strlen(text) + 1;
		const char *predicate = marker + strlen(marker) + 1;
		/* add_policy() copies the strings. */
		const struct marker_policy policy = {
			.operation = info.operation,
			.handlers = info.handlers,
			.program = (char *)text,
			.marker = (char *)marker,
			.predicate = *predicate ? (char *)predicate : NULL,
		};

		ret = add_policy(list, &policy);
	}
	elog_list_close(policies);
	return ret == -ENOENT ? 0 : ret;
}

/* The end of a character class, or NULL if it is not one. */
static const char *class_end(const char *glob)
{
	glob += glob[1] == '!' ? 2 : 1;
	return *glob ? strchr(glob + 1, ']') : NULL;
}

char *policy_program_glob(const char *program)
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

static void put_handlers(struct elog_text *text, const struct marker_policy *policy)
{
	elog_text_string(text, policy->operation == EVENTLOG_MARKER_OP_ADD ? "+" : "-");
	markers_handlers_put(text, policy->handlers);
}

static void put_policy(struct elog_text *text, const struct marker_policy *policy, bool is_json)
{
	struct elog_text handlers = { 0 };

	put_handlers(&handlers, policy);
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

int policies_print(const struct policy_list *list, bool is_json, bool header)
{
	struct elog_text text = { 0 };
	size_t i;

	if (!is_json && header)
		elog_text_printf(&text, "%-17s %s\n", "HANDLERS", "PROGRAM/MARKER");
	for (i = 0; i < list->count; i++)
		put_policy(&text, &list->policies[i], is_json);
	return text_print(&text);
}
