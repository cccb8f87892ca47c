/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies for markers of programs: which handlers to switch on or off besides
 * tracing. The kernel keeps them, for running programs and those that start later.
 * A list of policies belongs to its caller.
 */
#ifndef MARKER_POLICY_H
#define MARKER_POLICY_H

#include "marker/marker_filter.h"
#include "marker/marker_settings.h"
#include "util/tool.h"

/* The handlers that a policy can switch. */
#define POLICY_HANDLERS	(EVENTLOG_MARKER_PRINT | EVENTLOG_MARKER_PROBE)

/**
 * struct marker_policy - a policy
 * @program: glob over names of programs
 * @marker: glob over names of events
 * @predicate: handlers run if this is true; NULL: always
 * @operation: EVENTLOG_MARKER_OP_ADD or EVENTLOG_MARKER_OP_REMOVE
 * @handlers: EVENTLOG_MARKER_*
 */
struct marker_policy {
	char *program;
	char *marker;
	char *predicate;
	uint32_t operation;
	uint32_t handlers;
};

/**
 * struct policy_list - policies
 * @count: of @policies
 * @policies: the earliest first
 */
struct policy_list {
	size_t count;
	struct marker_policy *policies;
};

/**
 * policies_add() - append a policy
 * @list: call policies_free() also after an error
 * @policy: copied, with its strings
 *
 * Return: 0 or -ENOMEM.
 */
int policies_add(struct policy_list *list, const struct marker_policy *policy);

/**
 * policies_read() - read all policies from the kernel
 * @fd: the device
 * @list: empty; call policies_free() also after an error
 *
 * Return: 0 or a negative errno.
 */
int policies_read(int fd, struct policy_list *list);

/** policies_free() - free the policies of a list */
void policies_free(struct policy_list *list);

/**
 * policies_switch() - elog marker enable and disable, of programs
 * @settings: with a program, and patterns
 * @fd: the device
 * @operation: EVENTLOG_MARKER_OP_ADD or EVENTLOG_MARKER_OP_REMOVE
 * @filter: --if, with EVENTLOG_MARKER_OP_ADD; NULL: there is none
 *
 * Return: the exit status.
 */
int policies_switch(const struct marker_settings *settings, int fd, uint32_t operation,
		    const struct elog_filter *filter);

/**
 * policy_put_handlers() - append the effect of a policy: "+print", "-print,probe"
 * @text: the text
 * @policy: the policy
 */
void policy_put_handlers(struct elog_text *text, const struct marker_policy *policy);

/**
 * policy_parse_handlers() - parse the output of policy_put_handlers()
 * @text: the word
 * @policy: its operation and handlers are set
 *
 * Return: false if it is not valid.
 */
bool policy_parse_handlers(const char *text, struct marker_policy *policy);

/**
 * policy_is_possible() - may these globs match anything, and be saved in a set?
 * @program: glob over names of programs
 * @marker: glob over names of events
 */
bool policy_is_possible(const char *program, const char *marker);

/**
 * policies_restore() - replace the kernel's policies by a list
 * @list: the list
 * @fd: the device
 *
 * Return: 0 or the error of the first policy that fails, a negative errno.
 */
int policies_restore(const struct policy_list *list, int fd);

/**
 * policies_print() - elog marker policies
 * @settings: how to print
 * @list: the list
 *
 * Return: the exit status.
 */
int policies_print(const struct marker_settings *settings, const struct policy_list *list);

#endif /* MARKER_POLICY_H */
