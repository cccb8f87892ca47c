/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Printing definitions as JSON or as a tree, for elog list.
 */
#ifndef LIST_H
#define LIST_H

#include "output/output.h"

/**
 * struct definition - a definition of an event
 * @describe: the kernel's description
 * @schema: the parsed schema
 * @event: the event in @schema
 */
struct definition {
	struct eventlog_definition describe;
	struct elog_schema *schema;
	const struct elog_schema_event *event;
};

/** list_state() - append the state of an event, and why it is written synchronously */
void list_state(struct elog_text *text, const struct eventlog_definition *describe);

/**
 * list_json() - append an object in one line
 * @definition: its @schema is not used
 * @schema: the text of the schema; NULL: leave it out
 * @text: to append to
 */
void list_json(const struct definition *definition, const char *schema,
	       struct elog_text *text);

/**
 * list_tree() - print a tree: providers, their events, and their fields
 * @definitions: sorted in place
 * @count: of @definitions
 * @verbose: with sizes and offsets
 * @output: to print to
 *
 * Different providers with the same name have separate nodes.
 */
void list_tree(struct definition *definitions, size_t count, bool verbose,
	       struct output *output);

#endif /* LIST_H */
