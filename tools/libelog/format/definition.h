/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Definitions: schemas of one event each, as the kernel and .elog files have them.
 */
#ifndef LIBELOG_DEFINITION_H
#define LIBELOG_DEFINITION_H

#include <errno.h>

#include "elog/schema.h"

/* Approximate memory usage of a definition, in addition to its text. */
#define ELOG_DEFINITION_OVERHEAD 256

/**
 * elog_definition_event() - get the event of a definition
 * @schema: the parsed text, or NULL
 * @event: set
 *
 * Return: 0; -EINVAL there is no schema, or it does not have exactly one event.
 */
static inline int elog_definition_event(const struct elog_schema *schema,
					const struct elog_schema_event **event)
{
	if (!schema || schema->provider_count != 1 ||
	    schema->providers[0]->event_count != 1)
		return -EINVAL;
	*event = schema->providers[0]->events[0];
	return 0;
}

#endif /* LIBELOG_DEFINITION_H */
