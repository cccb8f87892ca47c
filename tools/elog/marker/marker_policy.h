/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies for markers of programs: which handlers to switch on or off besides
 * tracing. The kernel keeps them, for running programs and those that start later.
 * A list of policies belongs to its caller.
 */
#ifndef MARKER_POLICY_H
#define MARKER_POLICY_H

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
 * policy_is_possible() - may these globs match anything?
 * @program: glob over names of programs
 * @marker: glob over names of events
 */
bool policy_is_possible(const char *program, const char *marker);

/**
 * policy_program_glob() - convert a glob over programs to one over their providers
 * @program: the glob
 *
 * In names of providers, characters other than letters and digits are '_'.
 *
 * Return: the glob, which the caller frees; NULL: out of memory.
 */
char *policy_program_glob(const char *program);

/**
 * policies_print() - print policies
 * @list: the list
 * @is_json: as objects, one a line
 * @header: print a header unless @is_json
 *
 * Return: the exit status.
 */
int policies_print(const struct policy_list *list, bool is_json, bool header);

#endif /* MARKER_POLICY_H */
