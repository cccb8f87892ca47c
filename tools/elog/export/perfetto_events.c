// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a trace, with their fields as annotations: see perfetto_state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_state.h"
#include "util/unique_names.h"

static struct perfetto_group *find_group(struct perfetto *perfetto, const char *provider)
{
	struct perfetto_group *group;

	for (group = perfetto->groups; group; group = group->next)
		if (!strcmp(group->name, provider))
			return group;
	group = calloc(1, sizeof(*group) + strlen(provider) + 1);
	if (!group)
		return NULL;
	strcpy(group->name, provider);
	lanes_init(&group->lanes);
	group->next = perfetto->groups;
	perfetto->groups = group;
	return group;
}

/* Perfetto's own readers take a point for an underscore. */
static int intern_field(struct perfetto *perfetto, const char *field, struct unique_names *names)
{
	struct elog_text name = { 0 };
	size_t i;
	int ret;

	for (i = 0; field[i]; i++)
		elog_text_character(&name, field[i] == '.' ? '_' : field[i]);
	ret = unique_names_give(names, field, &name);
	if (!ret)
		perfetto_intern(perfetto, INTERNED_ANNOTATION, name.data);
	elog_text_free(&name);
	return ret;
}

/* Fields have no name of another argument. */
static int intern_fields(struct perfetto *perfetto, const struct elog_schema_event *schema)
{
	static const char *const ours[] = { "session", "instance", "host", "machine_id" };
	struct unique_names names = { .compare = strcmp };
	size_t i;
	int ret = 0;

	for (i = 0; i < ELOG_ARRAY_SIZE(ours); i++)
		unique_names_add(&names.given, ours[i], strlen(ours[i]));
	for (i = 0; i < schema->field_count; i++)
		unique_names_add(&names.fields, schema->fields[i]->name,
				 strlen(schema->fields[i]->name));
	for (i = 0; !ret && i < schema->field_count; i++)
		ret = intern_field(perfetto, schema->fields[i]->name, &names);
	unique_names_free(&names);
	return ret;
}

struct perfetto_names *perfetto_new_names(struct perfetto *perfetto,
					  const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct event_kind *kind = event->kind;
	struct elog_text *text = perfetto->text;
	struct perfetto_names *names = calloc(1, sizeof(*names));
	size_t packet, message;

	if (!names)
		return NULL;
	names->group = find_group(perfetto, kind->provider);
	if (!names->group) {
		free(names);
		return NULL;
	}
	packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE);
	message = pb_open(text, PACKET_INTERNED);
	names->event = perfetto_intern(perfetto, INTERNED_EVENT, kind->name);
	names->span = perfetto->next_name++;
	if (kind->role.is_start)
		perfetto_put_name(perfetto, INTERNED_EVENT, names->span, kind->role.start.name,
				  kind->role.start.name_size);
	names->category = perfetto_intern(perfetto, INTERNED_CATEGORY, kind->provider);
	names->annotations = perfetto->next_name;
	if (schema && intern_fields(perfetto, schema))
		text->error = -ENOMEM;
	if (!schema)
		perfetto_intern(perfetto, INTERNED_ANNOTATION, "payload");
	pb_close(text, message);
	pb_close(text, packet);
	return names;
}

static void put_value(struct perfetto *perfetto, struct elog_text *text,
		      const struct elog_schema_field *field, const struct elog_value *value)
{
	switch (field->type) {
	case ELOG_TYPE_UNSIGNED:
		pb_uint(text, field->display == ELOG_DISPLAY_HEX ? ANNOTATION_POINTER :
			ANNOTATION_UINT, value->integer);
		break;
	case ELOG_TYPE_TIME:
	case ELOG_TYPE_DURATION:
	case ELOG_TYPE_PORT:
		pb_uint(text, ANNOTATION_UINT, value->integer);
		break;
	case ELOG_TYPE_SIGNED:
	case ELOG_TYPE_SECONDS:
		pb_uint(text, ANNOTATION_INT, value->integer);
		break;
	case ELOG_TYPE_FLOAT:
		pb_fixed64(text, ANNOTATION_DOUBLE, value->integer);
		break;
	case ELOG_TYPE_BOOL:
		pb_uint(text, value->integer > 1 ? ANNOTATION_INT : ANNOTATION_BOOL,
			value->integer);
		break;
	case ELOG_TYPE_PTR:
		pb_uint(text, ANNOTATION_POINTER, value->integer);
		break;
	default:
		perfetto->value.size = 0;
		if (is_text(field))
			elog_text_utf8(&perfetto->value, value->data, value->size);
		else
			elog_format_value(&perfetto->value, field, value);
		pb_bytes(text, ANNOTATION_STRING, perfetto->value.data, perfetto->value.size);
		break;
	}
}

void perfetto_put_origin(const struct perfetto *perfetto, struct elog_text *text)
{
	const struct perfetto_boot *boot = perfetto->boot;
	size_t message, i;

	for (i = 0; i < 2; i++) {
		if (!(i ? boot->machine_id : boot->host))
			continue;
		message = pb_open(text, EVENT_ANNOTATION);
		pb_uint(text, ANNOTATION_NAME_ID, i ? perfetto->machine_id_name :
			perfetto->host_name);
		pb_uint(text, ANNOTATION_STRING_ID, i ? boot->machine_id : boot->host);
		pb_close(text, message);
	}
}

void perfetto_put_instance(const struct perfetto *perfetto, struct elog_text *text,
			   const struct elog_item *item)
{
	size_t message;

	if (!item->instance)
		return;
	message = pb_open(text, EVENT_ANNOTATION);
	pb_uint(text, ANNOTATION_NAME_ID, perfetto->instance_name);
	pb_bytes(text, ANNOTATION_STRING, item->instance, strlen(item->instance));
	pb_close(text, message);
}

void perfetto_put_common(const struct perfetto *perfetto, struct elog_text *text,
			 const struct elog_item *item)
{
	size_t message;

	perfetto_put_origin(perfetto, text);
	if (item->session) {
		message = pb_open(text, EVENT_ANNOTATION);
		pb_uint(text, ANNOTATION_NAME_ID, perfetto->session_name);
		pb_uint(text, ANNOTATION_POINTER, item->session);
		pb_close(text, message);
	}
	perfetto_put_instance(perfetto, text, item);
}

void perfetto_make_fields(struct perfetto *perfetto, const struct visit_event *event, bool first)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct elog_item *item = &event->entry->item;
	const struct perfetto_names *names = event->kind->data;
	struct elog_text *text = &perfetto->fields;
	struct elog_value value;
	size_t message, i;

	text->size = 0;
	if (first)
		perfetto_put_common(perfetto, text, item);
	else
		perfetto_put_instance(perfetto, text, item);
	for (i = 0; schema && i < schema->field_count; i++) {
		if (elog_decode(schema->fields[i], item->payload, item->payload_size, &value))
			continue;
		message = pb_open(text, EVENT_ANNOTATION);
		pb_uint(text, ANNOTATION_NAME_ID, names->annotations + i);
		put_value(perfetto, text, schema->fields[i], &value);
		pb_close(text, message);
	}
	if (!schema) {
		message = pb_open(text, EVENT_ANNOTATION);
		pb_uint(text, ANNOTATION_NAME_ID, names->annotations);
		perfetto->value.size = 0;
		for (i = 0; i < item->payload_size; i++)
			elog_text_hex(&perfetto->value,
				      ((const unsigned char *)item->payload)[i], 2);
		pb_bytes(text, ANNOTATION_STRING, perfetto->value.data, perfetto->value.size);
		pb_close(text, message);
	}
}

void perfetto_put_event(struct perfetto *perfetto, const struct perfetto_names *names,
			unsigned int type, uint64_t name, uint64_t track, uint64_t time,
			const char *fields, size_t size)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE), message;

	pb_uint(text, PACKET_TIME, time);
	message = pb_open(text, PACKET_TRACK_EVENT);
	pb_uint(text, EVENT_TYPE, type);
	pb_uint(text, EVENT_TRACK, track);
	pb_uint(text, EVENT_NAME_ID, name);
	pb_uint(text, EVENT_CATEGORY_ID, names->category);
	elog_text_put(text, fields, size);
	pb_close(text, message);
	pb_close(text, packet);
}

int perfetto_put_instant(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct perfetto_names *names = event->kind->data;
	uint64_t track = perfetto_thread_track(perfetto, event->entry);

	if (!track)
		return -ENOMEM;
	perfetto_make_fields(perfetto, event, true);
	perfetto_put_event(perfetto, names, INSTANT, names->event, track, perfetto->now,
			   perfetto->fields.data, perfetto->fields.size);
	return 0;
}
