/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event is, in a few words: its name and its fields, as elog show prints them.
 */
#ifndef EVENT_TEXT_H
#define EVENT_TEXT_H

#include "input/source.h"

#define EVENT_TEXT_MAX	400U	/* bytes of fields, where there is one line for an event */

/** put_event_name() - append PROVIDER/EVENT */
void put_event_name(struct elog_text *text, const struct elog_schema_event *event);

/** put_event_fields() - append "field=value field=value...", but only EVENT_TEXT_MAX bytes of it */
void put_event_fields(struct elog_text *text, const struct entry *entry);

/**
 * put_event_json() - append the members event and fields of a JSON object
 * @text: to append to
 * @entry: an event that has a definition
 *
 * Fields of more than 4096 bytes are null.
 */
void put_event_json(struct elog_text *text, const struct entry *entry);

#endif /* EVENT_TEXT_H */
