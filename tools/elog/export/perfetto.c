// SPDX-License-Identifier: GPL-2.0-only
/*
 * elog export --format perfetto: a trace for ui.perfetto.dev and for Perfetto's trace
 * processor. A span is a slice; the slices of a provider share lanes (lanes.h), and a span that is
 * inside another one (nesting.h) is on its lane. All other
 * events are instants on the track of their thread, and losses are instants on tracks of
 * their own.
 *
 * A slice is written when it ends, so that it is certain: Perfetto sorts by time. Until
 * then its START's fields are kept, in PENDING_BYTES at most; beyond that, the START is
 * written as an instant.
 *
 * Times are those of the first boot's CLOCK_MONOTONIC, or of CLOCK_REALTIME if there are
 * several files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/lanes.h"
#include "export/nesting.h"
#include "export/perfetto_numbers.h"
#include "export/protobuf.h"
#include "libelog/util/util.h"

#define PENDING_BYTES	(16U << 20)
#define TRACKS_MAX	(1U << 18)	/* then threads share one */
#define BOOTS_MAX	1024
#define SEQUENCE	1

/*
 * struct boot - a boot of a machine
 * @id: number, from 0
 * @offset: CLOCK_REALTIME - CLOCK_MONOTONIC when its first capture began. It stays the
 *	same, so that setting the clock changes no duration
 * @host, @machine_id: numbers of these strings; 0: not known
 */
struct boot {
	uint32_t id;
	int64_t offset;
	uint64_t host;
	uint64_t machine_id;
};

/*
 * struct names - what a kind's events have in the trace; data of the kind
 * @event: number of the event's name
 * @span: number of the span's name
 * @category: number of the provider's name
 * @annotations: number of the first field's name
 * @group: of the provider's lanes
 */
struct names {
	uint64_t event;
	uint64_t span;
	uint64_t category;
	uint64_t annotations;
	struct group *group;
};

/*
 * struct group - the lanes of a provider
 * @lanes: of its sessions
 * @drawn: lanes that have a track
 * @track: the track above them
 * @next: the next group
 * @name: of the provider
 */
struct group {
	struct lanes lanes;
	uint32_t drawn;
	uint64_t track;
	struct group *next;
	char name[];
};

/*
 * struct start - a START that is pending; data of the span
 * @nest: of the span
 * @names: of its kind
 * @group: of the lane where it is
 * @session: key of the session whose lane it is
 * @time: of it in the trace
 * @track: of its thread
 * @size: bytes of @fields; SIZE_MAX: it was written as an instant
 * @fields: annotations of its event
 */
struct start {
	struct nest nest;
	const struct names *names;
	struct group *group;
	struct elog_map_key session;
	uint64_t time;
	uint64_t track;
	size_t size;
	char fields[];
};

/*
 * struct perfetto - the state
 * @text: of the sink
 * @realtime: times are those of CLOCK_REALTIME
 * @base: of a boot's offset, subtract this
 * @boots: struct boot, by the text of the boot id
 * @reader: the last file, and
 * @boot: its boot
 * @now: time of the last event in the trace
 * @readers: boots by file
 * @tracks: threads and processes that have a track: nothing else
 * @next_name: the next number of a name
 * @next_track: the next number of a track
 * @session_name: number of "session"
 * @instance_name: number of "instance"
 * @host_name: number of "host"
 * @machine_id_name: number of "machine_id"
 * @groups: lanes by provider
 * @nesting: spans that are open
 * @lost_track: above the tracks of losses; 0: there are none
 * @others_track: of events without thread; 0: there are none
 * @pending: bytes of fields in all struct start
 * @value: of a field, as text
 * @fields: annotations of an event
 */
struct perfetto {
	struct elog_text *text;
	bool realtime;
	int64_t base;
	struct elog_map boots;
	const void *reader;
	const struct boot *boot;
	uint64_t now;
	struct elog_map readers;	/* pointers to @boots */
	struct elog_map tracks;		/* uint64_t */
	uint64_t next_name;
	uint64_t next_track;
	uint64_t session_name;
	uint64_t instance_name;
	uint64_t host_name;
	uint64_t machine_id_name;
	struct group *groups;
	struct nesting nesting;
	uint64_t lost_track;
	uint64_t others_track;
	size_t pending;
	struct elog_text value;
	struct elog_text fields;
};

/* ------------------------------------------------------------------------
 * Packets
 */

static size_t open_packet(struct perfetto *perfetto, unsigned int flags)
{
	size_t packet = pb_open(perfetto->text, TRACE_PACKET);

	pb_uint(perfetto->text, PACKET_SEQUENCE, SEQUENCE);
	pb_uint(perfetto->text, PACKET_FLAGS, flags);
	return packet;
}

static void put_name(struct perfetto *perfetto, unsigned int what, uint64_t id,
		     const char *name, size_t size)
{
	struct elog_text *text = perfetto->text;
	size_t message = pb_open(text, what);

	perfetto->value.size = 0;
	elog_text_utf8(&perfetto->value, name, size);
	pb_uint(text, NAME_ID, id);
	pb_bytes(text, NAME_TEXT, perfetto->value.data, perfetto->value.size);
	pb_close(text, message);
}

/* Return: the number that stands for the string from now on. */
static uint64_t intern(struct perfetto *perfetto, unsigned int what, const char *string)
{
	put_name(perfetto, what, perfetto->next_name, string, strlen(string));
	return perfetto->next_name++;
}

static void put_utf8_field(struct perfetto *perfetto, unsigned int field, const char *string)
{
	perfetto->value.size = 0;
	elog_text_utf8(&perfetto->value, string, strlen(string));
	pb_bytes(perfetto->text, field, perfetto->value.data, perfetto->value.size);
}

static void put_clock(struct elog_text *text, unsigned int id, uint64_t time)
{
	size_t clock = pb_open(text, CLOCKS_CLOCK);

	pb_uint(text, CLOCK_ID, id);
	pb_uint(text, CLOCK_TIME, time);
	pb_close(text, clock);
}

static void begin_trace(struct perfetto *perfetto)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, FLAG_CLEARED), message;

	message = pb_open(text, PACKET_DEFAULTS);
	pb_uint(text, PACKET_CLOCK_ID, perfetto->realtime ? REALTIME : MONOTONIC);
	pb_close(text, message);
	message = pb_open(text, PACKET_INTERNED);
	perfetto->session_name = intern(perfetto, INTERNED_ANNOTATION, "session");
	perfetto->instance_name = intern(perfetto, INTERNED_ANNOTATION, "instance");
	perfetto->host_name = intern(perfetto, INTERNED_ANNOTATION, "host");
	perfetto->machine_id_name = intern(perfetto, INTERNED_ANNOTATION, "machine_id");
	pb_close(text, message);
	pb_close(text, packet);
}

/* What the clocks of the first boot said at the same time: the others are converted. */
static void put_clocks(struct perfetto *perfetto, uint64_t monotonic, uint64_t boottime,
		       uint64_t realtime)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, 0), message;

	message = pb_open(text, PACKET_CLOCKS);
	put_clock(text, REALTIME, realtime);
	put_clock(text, MONOTONIC, monotonic);
	put_clock(text, BOOTTIME, boottime);
	pb_uint(text, CLOCKS_PRIMARY, perfetto->realtime ? REALTIME : MONOTONIC);
	pb_close(text, message);
	pb_close(text, packet);
}

/* ------------------------------------------------------------------------
 * Boots
 */

/* Let the events of a boot say which machine they are from. */
static void intern_origin(struct perfetto *perfetto, const struct entry *entry, struct boot *boot)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, FLAG_NEEDS_STATE);
	size_t message = pb_open(text, PACKET_INTERNED);

	if (entry->host_name)
		boot->host = intern(perfetto, INTERNED_STRING, entry->host_name);
	if (entry->machine_id)
		boot->machine_id = intern(perfetto, INTERNED_STRING, entry->machine_id);
	pb_close(text, message);
	pb_close(text, packet);
}

/* Find the boot of a file's present segment, which may be a new one. */
static int find_boot(struct perfetto *perfetto, const struct entry *entry)
{
	const char *id = elog_reader_info(entry->reader, "boot_id");
	const char *start = elog_reader_info(entry->reader, "start");
	uint64_t monotonic = 0, boottime = 0, realtime = (uint64_t)entry->wall_offset;
	struct boot *boot, **place;
	struct elog_map_key key;

	id = id ? id : "";
	if (start)
		sscanf(start, "%" SCNu64 " %" SCNu64 " %" SCNu64, &monotonic, &boottime,
		       &realtime);
	key = elog_map_bytes(id, strlen(id));
	boot = elog_map_find(&perfetto->boots, key);
	if (!boot) {
		/* A file may claim any number of boots: the last ones share a clock. */
		if (perfetto->boots.count == BOOTS_MAX)
			key = elog_map_bytes("others", sizeof("others"));
		boot = elog_map_get(&perfetto->boots, key);
		if (!boot)
			return -ENOMEM;
		boot->id = perfetto->boots.count - 1;
		boot->offset = (int64_t)(realtime - monotonic);
		if (!boot->id && !perfetto->realtime)
			perfetto->base = boot->offset;
		if (!boot->id && start)
			put_clocks(perfetto, monotonic, boottime, realtime);
		if (boot->id < BOOTS_MAX)
			intern_origin(perfetto, entry, boot);
	}
	key = elog_map_bytes(&entry->reader, sizeof(entry->reader));
	place = elog_map_get(&perfetto->readers, key);
	if (!place)
		return -ENOMEM;
	*place = boot;
	perfetto->reader = entry->reader;
	perfetto->boot = boot;
	return 0;
}

static int take_segment(void *context, const struct entry *entry)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;

	return find_boot(perfetto, entry) ? : sink_commit(&export->sink);
}

/* Know the boot of an event or a loss, and its time in the trace. */
static int set_time(struct perfetto *perfetto, const struct entry *entry)
{
	struct boot **place;
	int ret = 0;

	if (perfetto->reader != entry->reader) {
		place = elog_map_find(&perfetto->readers, elog_map_bytes(&entry->reader,
									 sizeof(entry->reader)));
		ret = place ? 0 : find_boot(perfetto, entry);
		perfetto->boot = place ? *place : perfetto->boot;
		perfetto->reader = entry->reader;
	}
	if (!ret)
		perfetto->now = entry->item.time + (uint64_t)perfetto->boot->offset -
				(uint64_t)perfetto->base;
	return ret;
}

/* ------------------------------------------------------------------------
 * Tracks
 */

/* Return: the track, with its number in *@track; false: there is a new place for it. */
static uint64_t *find_track(struct perfetto *perfetto, const char *what, uint64_t number,
			    bool *found)
{
	struct elog_map_key key = elog_map_name(what, number);
	uint64_t *track = elog_map_find(&perfetto->tracks, key);

	*found = track;
	if (track)
		return track;
	track = elog_map_insert(&perfetto->tracks, key);
	if (track)
		*track = perfetto->next_track++;
	return track;
}

static void put_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
		      const char *name)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, 0), message = pb_open(text, PACKET_TRACK);

	pb_uint(text, TRACK_ID, track);
	if (parent)
		pb_uint(text, TRACK_PARENT, parent);
	put_utf8_field(perfetto, TRACK_NAME, name);
	pb_close(text, message);
	pb_close(text, packet);
}

static void put_thread_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
			     const struct elog_item *item, const char *name)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, 0), message = pb_open(text, PACKET_TRACK), inner;

	pb_uint(text, TRACK_ID, track);
	if (parent) {
		pb_uint(text, TRACK_PARENT, parent);
		inner = pb_open(text, TRACK_THREAD);
		pb_uint(text, THREAD_PID, item->pid);
		pb_uint(text, THREAD_TID, item->tid);
		put_utf8_field(perfetto, THREAD_NAME, name);
	} else {
		inner = pb_open(text, TRACK_PROCESS);
		pb_uint(text, PROCESS_PID, item->pid);
		put_utf8_field(perfetto, PROCESS_NAME, name);
	}
	pb_close(text, inner);
	pb_close(text, message);
	pb_close(text, packet);
}

/* Of another boot, a process may have the same number: its track has a name only. */
static void put_named_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
			    const struct entry *entry, const char *name)
{
	char label[128];

	if (parent)
		snprintf(label, sizeof(label), "%.32s %" PRIu32, name, entry->item.tid);
	else
		snprintf(label, sizeof(label), "%.48s %.32s %" PRIu32, entry->host_name ? : "",
			 name, entry->item.pid);
	put_track(perfetto, track, parent, label);
}

static uint64_t shared_track(struct perfetto *perfetto)
{
	if (!perfetto->others_track) {
		perfetto->others_track = perfetto->next_track++;
		put_track(perfetto, perfetto->others_track, 0, "other threads");
	}
	return perfetto->others_track;
}

/* Return: the track of the event's thread; 0: no memory. */
static uint64_t thread_track(struct perfetto *perfetto, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const uint32_t boot = perfetto->boot->id;
	uint64_t *track, *process;
	const char *name;
	bool found;

	if (!item->tid || perfetto->tracks.count > TRACKS_MAX)
		return shared_track(perfetto);
	track = find_track(perfetto, boot ? "thread" : "", (uint64_t)boot << 32 | item->tid,
			   &found);
	if (!track || found)
		return track ? *track : 0;
	process = find_track(perfetto, "process", (uint64_t)boot << 32 | item->pid, &found);
	if (!process)
		return 0;
	if (!found) {
		name = elog_processes_name(entry->processes, item->pid, item->pid);
		if (*name == ':')
			name = thread_name(entry);
		if (boot)
			put_named_track(perfetto, *process, 0, entry, name);
		else
			put_thread_track(perfetto, *process, 0, item, name);
	}
	if (boot)
		put_named_track(perfetto, *track, *process, entry, thread_name(entry));
	else
		put_thread_track(perfetto, *track, *process, item, thread_name(entry));
	return *track;
}

static uint64_t lane_track(struct perfetto *perfetto, struct group *group, uint32_t lane)
{
	char name[EVENTLOG_NAME_MAX + 16];

	if (!group->track) {
		group->track = perfetto->next_track;
		perfetto->next_track += UINT32_MAX;
		snprintf(name, sizeof(name), "sessions of %s", group->name);
		put_track(perfetto, group->track, 0, name);
	}
	for (; group->drawn <= lane; group->drawn++)
		put_track(perfetto, group->track + 1 + group->drawn, group->track, "sessions");
	return group->track + 1 + lane;
}

/* ------------------------------------------------------------------------
 * Kinds
 */

static struct group *find_group(struct perfetto *perfetto, const char *provider)
{
	struct group *group;

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

static struct names *new_names(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct event_kind *kind = event->kind;
	struct elog_text *text = perfetto->text;
	struct names *names = calloc(1, sizeof(*names));
	size_t packet, message, i;

	if (!names)
		return NULL;
	names->group = find_group(perfetto, kind->provider);
	if (!names->group) {
		free(names);
		return NULL;
	}
	packet = open_packet(perfetto, FLAG_NEEDS_STATE);
	message = pb_open(text, PACKET_INTERNED);
	names->event = intern(perfetto, INTERNED_EVENT, kind->name);
	names->span = perfetto->next_name++;
	if (kind->role.is_start)
		put_name(perfetto, INTERNED_EVENT, names->span, kind->role.start.name,
			 kind->role.start.name_size);
	names->category = intern(perfetto, INTERNED_CATEGORY, kind->provider);
	names->annotations = perfetto->next_name;
	for (i = 0; schema && i < schema->field_count; i++)
		intern(perfetto, INTERNED_ANNOTATION, schema->fields[i]->name);
	if (!schema)
		intern(perfetto, INTERNED_ANNOTATION, "payload");
	pb_close(text, message);
	pb_close(text, packet);
	return names;
}

/* ------------------------------------------------------------------------
 * Events
 */

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

static void put_origin(const struct perfetto *perfetto, struct elog_text *text)
{
	const struct boot *boot = perfetto->boot;
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

static void put_instance(const struct perfetto *perfetto, struct elog_text *text,
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

/* Make the annotations of an event. @first: also those that both events of a slice have */
static void make_fields(struct perfetto *perfetto, const struct visit_event *event, bool first)
{
	const struct elog_schema_event *schema = event->entry->cached->event;
	const struct elog_item *item = &event->entry->item;
	const struct names *names = event->kind->data;
	struct elog_text *text = &perfetto->fields;
	struct elog_value value;
	size_t message, i;

	text->size = 0;
	if (first)
		put_origin(perfetto, text);
	if (first && item->session) {
		message = pb_open(text, EVENT_ANNOTATION);
		pb_uint(text, ANNOTATION_NAME_ID, perfetto->session_name);
		pb_uint(text, ANNOTATION_POINTER, item->session);
		pb_close(text, message);
	}
	put_instance(perfetto, text, item);
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

static void put_event(struct perfetto *perfetto, const struct names *names, unsigned int type,
		      uint64_t name, uint64_t track, uint64_t time, const char *fields,
		      size_t size)
{
	struct elog_text *text = perfetto->text;
	size_t packet = open_packet(perfetto, FLAG_NEEDS_STATE), message;

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

static int put_instant(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct names *names = event->kind->data;
	uint64_t track = thread_track(perfetto, event->entry);

	if (!track)
		return -ENOMEM;
	make_fields(perfetto, event, true);
	put_event(perfetto, names, INSTANT, names->event, track, perfetto->now,
		  perfetto->fields.data, perfetto->fields.size);
	return 0;
}

/* Open a span: on the lane of the span that it is inside of, or on one of its own. */
static int open_span(struct perfetto *perfetto, const struct visit_event *event,
		     struct start *start)
{
	const uint32_t tid = event->entry->item.tid;
	const struct start *parent;
	struct nest *outer;
	int ret;

	start->nest = (struct nest){
		.key = { event->match.key, elog_map_pair(perfetto->boot->id, tid) },
		.has_key = { true, tid }, .kind = start->names,
	};
	ret = nesting_start(&perfetto->nesting, &start->nest);
	if (ret)
		return ret;
	outer = nesting_parent(&start->nest);
	parent = outer ? elog_container_of((uintptr_t)outer, struct start, nest) : NULL;
	start->group = parent ? parent->group : start->names->group;
	start->session = parent ? parent->session : event->match.key;
	ret = lanes_start(&start->group->lanes, start->session, perfetto->now);
	if (ret)
		nesting_end(&perfetto->nesting, &start->nest);
	return ret;
}

static int begin_slice(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct names *names = event->kind->data;
	uint64_t track = thread_track(perfetto, event->entry);
	struct start *start;
	bool full;
	int ret;

	if (!track)
		return -ENOMEM;
	make_fields(perfetto, event, true);
	full = perfetto->pending + perfetto->fields.size > PENDING_BYTES;
	start = malloc(sizeof(*start) + (full ? 0 : perfetto->fields.size));
	if (!start)
		return -ENOMEM;
	start->names = names;
	ret = open_span(perfetto, event, start);
	if (ret) {
		free(start);
		return ret;
	}
	start->time = perfetto->now;
	start->track = track;
	event->match.start->data = start;
	start->size = full ? SIZE_MAX : perfetto->fields.size;
	if (full)
		return put_instant(perfetto, event);
	perfetto->pending += start->size;
	if (start->size)
		memcpy(start->fields, perfetto->fields.data, start->size);
	return 0;
}

static void free_start(struct perfetto *perfetto, struct start *start)
{
	nesting_end(&perfetto->nesting, &start->nest);
	if (start->size != SIZE_MAX)
		perfetto->pending -= start->size;
	free(start);
}

static void end_slice(struct perfetto *perfetto, const struct visit_event *event)
{
	const struct span *span = &event->match.span;
	struct start *start = span->data;
	const struct names *names = start->names;
	const uint64_t end = start->time + span->duration;
	uint64_t track;

	track = lane_track(perfetto, start->group,
			   lanes_end(&start->group->lanes, start->session, start->time, end));
	put_event(perfetto, names, SLICE_BEGIN, names->span, track,
		  start->time, start->fields, start->size == SIZE_MAX ? 0 : start->size);
	make_fields(perfetto, event, false);
	put_event(perfetto, names, SLICE_END, names->span, track, end,
		  perfetto->fields.data, perfetto->fields.size);
	free_start(perfetto, start);
}

static int take_event(void *context, struct visit_event *event)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	int ret;

	ret = set_time(perfetto, event->entry);
	if (ret)
		return ret;
	if (!event->kind->data)
		event->kind->data = new_names(perfetto, event);
	if (!event->kind->data)
		return -ENOMEM;
	if (event->match.ended)
		end_slice(perfetto, event);
	if (event->match.start)
		ret = begin_slice(perfetto, event);
	else if (!event->match.ended)
		ret = put_instant(perfetto, event);
	if (!ret)
		ret = perfetto->value.error ? : perfetto->fields.error;
	return ret ? : sink_commit(&export->sink);
}

/* A START without END is an instant. */
static void drop_start(void *context, struct span *span)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	struct start *start = span->data;

	if (!start)
		return;
	lanes_drop(&start->group->lanes, start->session, start->time, perfetto->now);
	if (start->size != SIZE_MAX)
		put_event(perfetto, start->names, INSTANT, start->names->event, start->track,
			  start->time, start->fields, start->size);
	free_start(perfetto, start);
	sink_commit(&export->sink);
}

static void put_count(struct elog_text *text, const char *name, uint64_t count)
{
	size_t message = pb_open(text, EVENT_ANNOTATION);

	pb_string(text, ANNOTATION_NAME, name);
	pb_uint(text, ANNOTATION_UINT, count);
	pb_close(text, message);
}

static int take_loss(void *context, const struct entry *entry, uint64_t count)
{
	struct export *export = context;
	struct perfetto *perfetto = export->state;
	const struct elog_item *item = &entry->item;
	struct elog_text *text = perfetto->text;
	size_t packet, message, i;
	uint64_t *track;
	char name[32];
	bool found;
	int ret;

	ret = set_time(perfetto, entry);
	if (ret)
		return ret;
	if (!perfetto->lost_track) {
		perfetto->lost_track = perfetto->next_track++;
		put_track(perfetto, perfetto->lost_track, 0, "lost events");
	}
	track = find_track(perfetto, "lost", item->cpu, &found);
	if (!track)
		return -ENOMEM;
	if (!found) {
		if (item->cpu == EVENTLOG_CPU_UNKNOWN)
			strcpy(name, "unknown CPU");
		else
			snprintf(name, sizeof(name), "CPU %u", item->cpu);
		put_track(perfetto, *track, perfetto->lost_track, name);
	}
	packet = open_packet(perfetto, FLAG_NEEDS_STATE);
	pb_uint(text, PACKET_TIME, perfetto->now);
	message = pb_open(text, PACKET_TRACK_EVENT);
	pb_uint(text, EVENT_TYPE, INSTANT);
	pb_uint(text, EVENT_TRACK, *track);
	pb_string(text, EVENT_CATEGORY, EXPORT_PROVIDER);
	pb_string(text, EVENT_NAME, count ? "lost" : "invalid records");
	put_origin(perfetto, text);
	put_instance(perfetto, text, item);
	put_count(text, "count", count);
	if (invalid_records(item))
		put_count(text, "invalid", invalid_records(item));
	for (i = 0; i < item->lost_count; i++)
		if (item->lost[i] && i != CAUSE_INVALID)
			put_count(text, elog_lost_name((unsigned int)i) ? : "unknown",
				  item->lost[i]);
	pb_close(text, message);
	pb_close(text, packet);
	return sink_commit(&export->sink);
}

/* ------------------------------------------------------------------------
 * The beginning and the end
 */

static int open_perfetto(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return -ENOMEM;
	export->state = perfetto;
	perfetto->text = &export->sink.text;
	perfetto->realtime = export->visit->spans.pairing.many_files;
	perfetto->next_name = 1;
	perfetto->next_track = 1;
	elog_map_init(&perfetto->boots, sizeof(struct boot));
	elog_map_init(&perfetto->readers, sizeof(struct boot *));
	elog_map_init(&perfetto->tracks, sizeof(uint64_t));
	nesting_init(&perfetto->nesting);
	begin_trace(perfetto);
	return 0;
}

static void close_names(struct event_kind *kind)
{
	free(kind->data);
}

static void close_perfetto(struct export *export)
{
	struct perfetto *perfetto = export->state;
	struct group *group, *next;

	if (!perfetto)
		return;
	elog_map_free(&perfetto->boots);
	elog_map_free(&perfetto->readers);
	elog_map_free(&perfetto->tracks);
	for (group = perfetto->groups; group; group = next) {
		next = group->next;
		lanes_free(&group->lanes);
		free(group);
	}
	nesting_free(&perfetto->nesting);
	elog_text_free(&perfetto->value);
	elog_text_free(&perfetto->fields);
	free(perfetto);
}

const struct export_format export_perfetto = {
	.ops = {
		.segment = take_segment,
		.event = take_event,
		.lost = take_loss,
		.drop = drop_start,
	},
	.binary = true,
	.open = open_perfetto,
	.close_kind = close_names,
	.close = close_perfetto,
};
