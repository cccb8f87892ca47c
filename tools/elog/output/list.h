/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What elog list prints of definitions, besides one line.
 */
#ifndef LIST_H
#define LIST_H

#include "output/output.h"

/**
 * struct definition - a definition that the kernel knows
 * @describe: what it says of it
 * @schema: its schema
 * @event: the event in that
 */
struct definition {
	struct eventlog_describe describe;
	struct elog_schema *schema;
	const struct elog_schema_event *event;
};

/** list_state() - "persistent", "live" or "gone" */
const char *list_state(uint32_t state);

/**
 * list_json() - append an object, in a line
 * @definition: of which @schema is not looked at
 * @schema: its text; NULL: it is not asked for
 * @text: where
 */
void list_json(const struct definition *definition, const char *schema,
	       struct elog_text *text);

/**
 * list_tree() - print a tree: providers, their events, and their fields
 * @definitions: sorted in place
 * @count: of @definitions
 * @verbose: with sizes and offsets
 * @output: where
 *
 * Providers of one name have a node each.
 */
void list_tree(struct definition *definitions, size_t count, bool verbose,
	       struct output *output);

#endif /* LIST_H */
