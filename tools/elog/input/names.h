/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names in the command line that a definition must have: events and providers in -e and
 * --trigger, keywords in -k, fields in --fields, and all of these in -f. A misspelled
 * name selects nothing, so a message about it has the known names that are nearest.
 */
#ifndef NAMES_H
#define NAMES_H

#include "input/select.h"
#include "util/nearest.h"
#include "util/tool.h"

struct names;

/**
 * names_open() - collect the names
 * @names: set; NULL: there are none
 * @spec: outlives @names
 * @fields: --fields; NULL: none
 * @triggers: --trigger, of a live run; NULL: none
 *
 * Return: 0, -ENOMEM.
 */
int names_open(struct names **names, const struct selection_spec *spec, const char *fields,
	       const struct string_list *triggers);

/**
 * names_expect_no_records() - see only definitions of the kernel
 * @names: NULL is allowed
 *
 * A definition whose records describe their fields has all names then.
 */
void names_expect_no_records(struct names *names);

/** names_close() - free them; NULL is allowed */
void names_close(struct names *names);

/** names_see() - note what a known definition has; NULL @names are allowed */
void names_see(struct names *names, const struct elog_schema_event *event);

/**
 * names_report() - print a message for each name that is not known
 * @names: NULL is allowed; does nothing the second time
 * @when: appended to "no event 'x'", as " yet"
 *
 * Fields are not reported if no definition matched -e, -k and -l.
 *
 * Return: true if there were any.
 */
bool names_report(struct names *names, const char *when);

/**
 * names_warn() - at the start of a live run, warn about names that are not known
 * @names: NULL is allowed
 * @may_come: a COMMAND may register them: warn only if a kernel module has the name
 */
void names_warn(struct names *names, bool may_come);

/**
 * names_warn_end() - at the end of a live run, warn about those that are still not known
 * @names: NULL is allowed
 * @none: no event was selected: repeat a warning if it had no near names, and has now
 *
 * Return: true if there are any.
 */
bool names_warn_end(struct names *names, bool none);

/** names_any() - was a definition seen? */
bool names_any(const struct names *names);

/**
 * definitions_each() - call a function for each definition that the device lists
 * @fd: the device
 * @see: the function; false: stop
 * @context: for @see
 *
 * Skips schemas that cannot be parsed, and stops at an error of the device.
 *
 * Return: 0, -ENOMEM.
 */
int definitions_each(int fd, bool (*see)(void *context, const struct eventlog_definition *describe,
					 const struct elog_schema_event *event), void *context);

/** nearest_offer_event() - consider a known event for a glob, PROVIDER[/EVENT] */
void nearest_offer_event(struct nearest *nearest, const struct elog_schema_event *event);

#endif /* NAMES_H */
