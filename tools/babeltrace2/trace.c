// SPDX-License-Identifier: GPL-2.0-only
/*
 * The objects of babeltrace2 that describe a segment of a file, which is what one capture
 * wrote: trace, clock, streams and classes of events. Called by iterator.c.
 *
 * A segment is a trace with a stream for each CPU, as LTTng makes them, of the root and of each
 * instance, because a loss is one of a stream. The names of context fields are those of LTTng, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "babeltrace2/plugin.h"
#include "libelog/util/text.h"

#define SECOND		1000000000
#define BOOTS_MAX	1024	/* clocks that a component keeps */

/*
 * struct boot_clock - the clock of a boot
 * @uuid: the boot id
 * @clock: the clock
 * @base: its offset from 1970, ns
 */
struct boot_clock {
	struct boot_clock *next;
	uint8_t uuid[16];
	bt_clock_class *clock;
	int64_t base;
};

/* ------------------------------------------------------------------------
 * Clocks
 */

static bool parse_uuid(const char *text, uint8_t *uuid)
{
	unsigned int byte;
	size_t i;

	for (i = 0; i < 16; i++) {
		if (text[0] == '-')
			text++;
		if (!text[0] || !text[1] || sscanf(text, "%2x", &byte) != 1)
			return false;
		uuid[i] = (uint8_t)byte;
		text += 2;
	}
	return !*text;
}

static bt_clock_class *make_clock(const struct component *component, const uint8_t *uuid,
				  int64_t base)
{
	bt_clock_class *clock = bt_clock_class_create(component->self);
	int64_t seconds = base / SECOND, rest = base % SECOND;

	if (!clock)
		return NULL;
	if (rest < 0) {
		rest += SECOND;
		seconds--;
	}
	bt_clock_class_set_offset(clock, seconds, (uint64_t)rest);
	if (uuid)
		bt_clock_class_set_uuid(clock, uuid);
	if (!bt_clock_class_set_name(clock, "monotonic") &&
	    !bt_clock_class_set_description(clock, "CLOCK_MONOTONIC"))
		return clock;
	bt_clock_class_put_ref(clock);
	return NULL;
}

/*
 * The clock of the boot of a file. All its files have the same clock: times of day differ
 * between files by the time it takes to read clocks. The first file decides.
 */
static int find_clock(struct segment *segment, struct component *component,
		      const struct elog_reader *reader)
{
	const char *boot = elog_reader_info(reader, "boot_id");
	int64_t base = elog_reader_wall_offset(reader);
	struct boot_clock **end = &component->clocks, *found;
	size_t count = 0;
	uint8_t uuid[16];
	bool known = boot && parse_uuid(boot, uuid);

	base = base > CLOCK_MAX ? CLOCK_MAX : base < -CLOCK_MAX ? -CLOCK_MAX : base;
	for (; known && *end; end = &(*end)->next, count++) {
		if (memcmp((*end)->uuid, uuid, sizeof(uuid)))
			continue;
		segment->clock = (*end)->clock;
		segment->base = (*end)->base;
		bt_clock_class_get_ref(segment->clock);
		return 0;
	}
	segment->clock = make_clock(component, known ? uuid : NULL, base);
	segment->base = base;
	if (!segment->clock)
		return -ENOMEM;
	if (!known || count == BOOTS_MAX)
		return 0;
	found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	memcpy(found->uuid, uuid, sizeof(uuid));
	found->clock = segment->clock;
	found->base = base;
	bt_clock_class_get_ref(found->clock);
	*end = found;
	return 0;
}

void clocks_free(struct component *component)
{
	struct boot_clock *clock, *next;

	for (clock = component->clocks; clock; clock = next) {
		next = clock->next;
		bt_clock_class_put_ref(clock->clock);
		free(clock);
	}
	component->clocks = NULL;
}

/* Messages must not go back in time. */
static int shift_clock(struct segment *segment, const struct input_file *file, int64_t time,
		       int64_t earliest)
{
	int64_t base;

	if (earliest == INT64_MIN || segment->base >= earliest - time)
		return 0;
	base = earliest - time;
	component_warn(file, "a capture in it begins before the end of the previous one: its events"
		       " are shown %" PRIu64 " ns later", (uint64_t)base - (uint64_t)segment->base);
	bt_clock_class_put_ref(segment->clock);
	segment->base = base < CLOCK_MAX ? base : CLOCK_MAX;
	segment->clock = make_clock(file->component, NULL, segment->base);
	return segment->clock ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------
 * Traces
 */

/* The properties of a segment that are known by other names elsewhere, or as they are. */
static const char *const properties[][2] = {
	{ "host", "hostname" }, { "kernel", "kernel_release" }, { "machine", "architecture" },
	{ "boot_id", "boot_id" }, { "command", "command" }, { "elog", "tracer_version" },
};

static int set_property(struct segment *segment, const char *name, const char *value,
			struct elog_text *text)
{
	text->size = 0;
	elog_text_utf8(text, value, strlen(value));
	if (text->error || bt_trace_set_environment_entry_string(segment->trace, name,
								 text->data ? : ""))
		return -ENOMEM;
	return 0;
}

static int make_trace(struct segment *segment, const struct elog_reader *reader)
{
	struct elog_text text = { 0 };
	const char *value;
	int ret;
	size_t i;

	segment->trace = bt_trace_create(segment->trace_class);
	if (!segment->trace)
		return -ENOMEM;
	ret = set_property(segment, "tracer_name", "eventlog", &text);
	for (i = 0; i < sizeof(properties) / sizeof(properties[0]) && !ret; i++) {
		value = elog_reader_info(reader, properties[i][0]);
		if (value)
			ret = set_property(segment, properties[i][1], value, &text);
		/* sink.ctf.fs makes a directory with this name. */
		if (!ret && value && !i && *value &&
		    bt_trace_set_name(segment->trace, text.data))
			ret = -ENOMEM;
	}
	elog_text_free(&text);
	return ret;
}

static bt_field_class *make_context(bt_trace_class *trace_class)
{
	bt_field_class *class = bt_field_class_structure_create(trace_class);

	if (class && !add_member(class, "session", make_integer(trace_class, 64, true)) &&
	    !add_member(class, "keywords", make_integer(trace_class, 64, true)) &&
	    !add_member(class, "pid", make_integer(trace_class, 32, false)) &&
	    !add_member(class, "tid", make_integer(trace_class, 32, false)) &&
	    !add_member(class, "procname", bt_field_class_string_create(trace_class)) &&
	    !add_member(class, "instance", bt_field_class_string_create(trace_class)))
		return class;
	bt_field_class_put_ref(class);
	return NULL;
}

static int set_classes(bt_stream_class *class, bt_field_class *context, bt_field_class *packet)
{
	if (!context || bt_stream_class_set_event_common_context_field_class(class, context))
		return -ENOMEM;
	return packet && bt_stream_class_set_packet_context_field_class(class, packet) ?
	       -ENOMEM : 0;
}

/* The class of streams. CTF has the number of the CPU in each packet. */
static bt_stream_class *make_stream_class(const struct segment *segment, bool cpu_known)
{
	bt_stream_class *class = bt_stream_class_create(segment->trace_class);
	bt_field_class *context, *packet = NULL;
	int ret = -ENOMEM;

	if (!class)
		return NULL;
	bt_stream_class_set_assigns_automatic_stream_id(class, BT_FALSE);
	if (bt_stream_class_set_default_clock_class(class, segment->clock))
		goto out;
	bt_stream_class_set_supports_packets(class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(class, BT_TRUE, BT_TRUE);
	if (cpu_known) {
		packet = bt_field_class_structure_create(segment->trace_class);
		if (!packet || add_member(packet, "cpu_id",
					  make_integer(segment->trace_class, 32, false)))
			goto out_packet;
	}
	context = make_context(segment->trace_class);
	ret = set_classes(class, context, packet);
	bt_field_class_put_ref(context);
out_packet:
	bt_field_class_put_ref(packet);
out:
	if (!ret)
		return class;
	bt_stream_class_put_ref(class);
	return NULL;
}

int segment_begin(struct segment *segment, const struct input_file *file,
		  const struct elog_reader *reader, int64_t time, int64_t earliest)
{
	int ret;
	size_t i;

	elog_map_init(&segment->instance_streams, sizeof(struct cpu_stream));
	elog_map_init(&segment->kinds, sizeof(struct event_kind));
	elog_map_init(&segment->descriptors, sizeof(struct known_event));
	elog_map_init(&segment->decoded, sizeof(struct event_kind *));
	segment->unknown = (struct event_kind){ .selected = !file->component->expression };
	ret = find_clock(segment, file->component, reader);
	if (!ret)
		ret = shift_clock(segment, file, time, earliest);
	if (ret)
		return ret;
	segment->trace_class = bt_trace_class_create(file->component->self);
	if (!segment->trace_class)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		segment->classes[i] = make_stream_class(segment, !i);
		if (!segment->classes[i])
			return -ENOMEM;
	}
	return make_trace(segment, reader);
}

static void drop_kind(struct event_kind *kind)
{
	bt_event_class_put_ref(kind->classes[0]);
	bt_event_class_put_ref(kind->classes[1]);
	elog_predicate_free(kind->predicate);
}

void segment_end(struct segment *segment)
{
	struct cpu_stream *stream = NULL;
	struct event_kind *kind;

	while ((stream = segment_each_stream(segment, stream))) {
		bt_packet_put_ref(stream->packet);
		bt_stream_put_ref(stream->stream);
	}
	elog_map_free(&segment->instance_streams);
	elog_map_for_each(&segment->kinds, kind)
		drop_kind(kind);
	drop_kind(&segment->unknown);
	elog_map_free(&segment->kinds);
	elog_map_free(&segment->descriptors);
	elog_map_free(&segment->decoded);
	elog_eventheader_close(segment->decoder);
	bt_trace_put_ref(segment->trace);
	bt_stream_class_put_ref(segment->classes[0]);
	bt_stream_class_put_ref(segment->classes[1]);
	bt_trace_class_put_ref(segment->trace_class);
	bt_clock_class_put_ref(segment->clock);
	memset(segment, 0, sizeof(*segment));
}

struct cpu_stream *segment_stream(struct segment *segment, unsigned int cpu,
				  const char *instance, bool *begun)
{
	const bool known = cpu < CPUS_MAX;
	const unsigned int number = known ? cpu : CPUS_MAX;
	struct cpu_stream *stream = &segment->streams[number];
	char name[32 + EVENTLOG_INSTANCE_NAME_MAX], label[16];
	uint64_t id = known ? cpu : 0;

	if (instance) {
		stream = elog_map_get(&segment->instance_streams, elog_map_name(instance, number));
		/* No CPU of the root has this id. */
		id = CPUS_MAX + segment->instance_streams.count;
	}
	*begun = stream && stream->stream;
	if (!stream || stream->stream)
		return stream;
	snprintf(label, sizeof(label), known ? "cpu%u" : "cpu-", cpu);
	snprintf(name, sizeof(name), "%s%s%s", label, instance ? "-" : "",
		 instance ? instance : "");
	stream->cpu = cpu;
	stream->stream = bt_stream_create_with_id(segment->classes[!known], segment->trace, id);
	if (!stream->stream || bt_stream_set_name(stream->stream, name))
		return NULL;
	return stream;
}

struct cpu_stream *segment_each_stream(struct segment *segment, struct cpu_stream *stream)
{
	struct cpu_stream *const end = segment->streams + CPUS_MAX + 1;
	const bool in_root = !stream || (stream >= segment->streams && stream < end);

	if (in_root) {
		stream = stream ? stream + 1 : segment->streams;
		while (stream < end && !stream->stream)
			stream++;
		if (stream < end)
			return stream;
		return elog_map_first(&segment->instance_streams);
	}
	return elog_map_next(&segment->instance_streams, stream);
}

/* ------------------------------------------------------------------------
 * Events
 */

static const bt_event_class_log_level levels[] = {
	[EVENTLOG_LEVEL_CRITICAL] = BT_EVENT_CLASS_LOG_LEVEL_CRITICAL,
	[EVENTLOG_LEVEL_ERROR] = BT_EVENT_CLASS_LOG_LEVEL_ERROR,
	[EVENTLOG_LEVEL_WARNING] = BT_EVENT_CLASS_LOG_LEVEL_WARNING,
	[EVENTLOG_LEVEL_NOTICE] = BT_EVENT_CLASS_LOG_LEVEL_NOTICE,
	[EVENTLOG_LEVEL_INFO] = BT_EVENT_CLASS_LOG_LEVEL_INFO,
	[EVENTLOG_LEVEL_DEBUG] = BT_EVENT_CLASS_LOG_LEVEL_DEBUG,
	[EVENTLOG_LEVEL_VERBOSE] = BT_EVENT_CLASS_LOG_LEVEL_DEBUG_LINE,
};

/* The name is PROVIDER:EVENT, as LTTng has it. */
static int set_name(bt_event_class *class, const struct elog_schema_event *schema)
{
	struct elog_text name = { 0 };
	int ret = -ENOMEM;

	elog_text_printf(&name, "%s:%s", schema ? schema->provider->name : "?",
			 schema ? schema->name : "?");
	if (!name.error && !bt_event_class_set_name(class, name.data))
		ret = 0;
	elog_text_free(&name);
	return ret;
}

bt_event_class *segment_event_class(struct segment *segment, struct event_kind *kind,
				    const struct elog_schema_event *schema, bool cpu_known)
{
	bt_event_class **place = &kind->classes[!cpu_known], *class;
	bt_field_class *payload;

	if (*place)
		return *place;
	class = bt_event_class_create(segment->classes[!cpu_known]);
	payload = make_payload(segment->trace_class, schema, kind->decoded);
	if (!class || !payload || set_name(class, schema) ||
	    bt_event_class_set_payload_field_class(class, payload)) {
		bt_field_class_put_ref(payload);
		bt_event_class_put_ref(class);
		return NULL;
	}
	bt_field_class_put_ref(payload);
	if (schema && schema->level >= EVENTLOG_LEVEL_CRITICAL &&
	    schema->level <= EVENTLOG_LEVEL_VERBOSE)
		bt_event_class_set_log_level(class, levels[schema->level]);
	*place = class;
	return class;
}

static int bind_filter(const struct input_file *file, const struct elog_schema_event *schema,
		       struct event_kind *kind)
{
	struct elog_expression_error error;
	int ret;

	kind->selected = true;
	if (!file->component->expression)
		return 0;
	ret = elog_expression_bind(file->component->expression, schema, &kind->predicate, &error);
	if (ret == -ENOMEM)
		return ret;
	if (ret == -EINVAL)
		component_warn(file, "the filter does not fit %s/%s: %s", schema->provider->name,
			       schema->name, error.message);
	kind->selected = !ret;
	return 0;
}

static int get_kind(struct segment *segment, const struct input_file *file,
		    struct elog_map_key key, const struct elog_schema_event *schema,
		    struct event_kind **kind)
{
	*kind = elog_map_find(&segment->kinds, key);
	if (*kind)
		return 0;
	if (segment->kinds.count == KINDS_MAX)
		return -E2BIG;
	*kind = elog_map_insert(&segment->kinds, key);
	return *kind ? bind_filter(file, schema, *kind) : -ENOMEM;
}

/* Programs register the same events again and again: one definition is one kind. */
static int find_kind(struct segment *segment, const struct input_file *file,
		     struct elog_reader *reader, uint32_t descriptor, struct known_event *known)
{
	const char *text;
	int ret;

	if (elog_is_eventheader(known->schema))
		return 0;
	ret = elog_reader_definition(reader, descriptor, &text);
	if (ret)
		return ret;
	return get_kind(segment, file, elog_map_bytes(text, strlen(text)), known->schema,
			&known->kind);
}

int segment_find_event(struct segment *segment, const struct input_file *file,
		       struct elog_reader *reader, uint32_t descriptor,
		       const struct known_event **result)
{
	struct known_event *known = elog_map_find_integer(&segment->descriptors, descriptor);
	int ret;

	*result = known;
	if (known && known->generation == elog_reader_generation(reader))
		return 0;
	if (!known)
		known = elog_map_insert(&segment->descriptors, elog_map_integer(descriptor));
	if (!known)
		return -ENOMEM;
	ret = elog_reader_describe(reader, descriptor, &known->schema);
	if (!ret)
		ret = find_kind(segment, file, reader, descriptor, known);
	known->generation = elog_reader_generation(reader);
	*result = known;
	if (!ret)
		return 0;
	/* The definition may come later. */
	elog_map_remove(&segment->descriptors, known);
	*result = NULL;
	return ret == -ENOENT || ret == -EINVAL ? 0 : ret;
}

/* The whole definition. It begins with a NUL, as no text does. */
static int make_key(struct elog_text *text, const struct elog_schema_event *schema)
{
	const struct elog_schema_field *field;
	size_t i;

	elog_text_put(text, "", 1);
	elog_text_put(text, schema->provider->name, strlen(schema->provider->name) + 1);
	elog_text_put(text, schema->name, strlen(schema->name) + 1);
	elog_text_printf(text, "%u %" PRIx64, schema->level, schema->keywords);
	for (i = 0; i < schema->field_count; i++) {
		field = schema->fields[i];
		elog_text_printf(text, " %s %d %d %zu %zu %d %d", field->name, (int)field->type,
				 (int)field->display, field->offset, field->size,
				 field->is_signed, field->optional);
	}
	return text->error;
}

static int find_decoded_kind(struct segment *segment, const struct input_file *file,
			     const struct elog_schema_event *schema, struct event_kind **kind)
{
	const struct elog_map_key address = elog_map_integer((uintptr_t)schema);
	struct event_kind **place = elog_map_find(&segment->decoded, address);
	struct elog_text text = { 0 };
	int ret;

	if (place) {
		*kind = *place;
		return 0;
	}
	ret = make_key(&text, schema);
	if (!ret)
		ret = get_kind(segment, file, elog_map_bytes(text.data, text.size), schema, kind);
	elog_text_free(&text);
	if (ret)
		return ret;
	(*kind)->decoded = true;
	place = elog_map_insert(&segment->decoded, address);
	if (!place)
		return -ENOMEM;
	*place = *kind;
	return 0;
}

int segment_decode(struct segment *segment, const struct input_file *file,
		   const struct known_event *known, struct elog_item *item,
		   const struct elog_schema_event **schema, struct event_kind **kind)
{
	struct elog_eventheader_record record;
	int ret;

	ret = segment->decoder ? 0 : elog_eventheader_open(&segment->decoder);
	if (!ret)
		ret = elog_eventheader_decode(segment->decoder, known->schema, item->payload,
					      item->payload_size, &record);
	if (ret)
		return ret;
	if (record.generation != segment->generation)
		elog_map_clear(&segment->decoded);
	segment->generation = record.generation;
	item->payload = record.payload;
	item->payload_size = record.payload_size;
	*schema = record.event;
	return find_decoded_kind(segment, file, record.event, kind);
}
