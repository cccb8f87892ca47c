/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of perfetto.c share: the state of an export to Perfetto, and functions that put
 * packets to its text. Each part is in a file of its own: perfetto_packets.c, perfetto_boots.c,
 * perfetto_tracks.c, perfetto_events.c, perfetto_waits.c and perfetto_held.c.
 *
 * The text has the error if memory is short; functions that return none set it.
 */
#ifndef PERFETTO_STATE_H
#define PERFETTO_STATE_H

#include "export/export.h"
#include "export/lanes.h"
#include "export/nesting.h"
#include "export/perfetto_held.h"
#include "export/perfetto_numbers.h"
#include "export/perfetto_waits.h"
#include "export/protobuf.h"
#include "libelog/util/process.h"
#include "libelog/util/util.h"

#define PENDING_BYTES	(16U << 20)

/**
 * struct perfetto_boot - a boot of a machine
 * @id: number, from 0
 * @offset: CLOCK_REALTIME - CLOCK_MONOTONIC when its first capture began. It stays the
 *	same, so that setting the clock changes no duration
 * @host, @machine_id: numbers of these strings; 0: not known
 */
struct perfetto_boot {
	uint32_t id;
	int64_t offset;
	uint64_t host;
	uint64_t machine_id;
};

/**
 * struct perfetto_thread - the track of a thread or process
 * @track: its number; 0: none yet
 * @name: as it was last described
 */
struct perfetto_thread {
	uint64_t track;
	char name[ELOG_COMM_SIZE];
};

/**
 * struct perfetto_names - what a kind's events have in the trace; data of the kind
 * @event: number of the event's name
 * @span: number of the span's name
 * @category: number of the provider's name
 * @annotations: number of the first field's name
 * @group: of the provider's lanes
 */
struct perfetto_names {
	uint64_t event;
	uint64_t span;
	uint64_t category;
	uint64_t annotations;
	struct perfetto_group *group;
};

/**
 * struct perfetto_group - the lanes of a provider
 * @lanes: of its sessions
 * @drawn: lanes that have a track
 * @track: the track above them
 * @next: the next group
 * @name: of the provider
 */
struct perfetto_group {
	struct lanes lanes;
	uint32_t drawn;
	uint64_t track;
	struct perfetto_group *next;
	char name[];
};

/**
 * struct perfetto_start - a START that is pending; data of the span
 * @nest: of the span
 * @names: of its kind
 * @group: of the lane where it is
 * @session: key of the session whose lane it is
 * @time: of it in the trace
 * @track: of its thread
 * @tid: its thread
 * @kept: slices inside of it that wait for it
 * @waits: of its threads; NULL: none
 * @refused: some waits were left out, so that it has none
 * @size: bytes of @fields; SIZE_MAX: it was written as an instant
 * @fields: annotations of its event
 */
struct perfetto_start {
	struct nest nest;
	const struct perfetto_names *names;
	struct perfetto_group *group;
	struct elog_map_key session;
	uint64_t time;
	uint64_t track;
	uint32_t tid;
	struct perfetto_kept kept;
	struct waits *waits;
	bool refused;
	size_t size;
	char fields[];
};

static inline struct perfetto_start *perfetto_start_of(struct nest *nest)
{
	return elog_container_of((uintptr_t)nest, struct perfetto_start, nest);
}

/**
 * struct perfetto - the state
 * @text: of the sink
 * @realtime: times are those of CLOCK_REALTIME
 * @base: of a boot's offset, subtract this
 * @boots: struct perfetto_boot, by the text of the boot id
 * @reader: the last file, and
 * @boot: its boot
 * @now: time of the last event in the trace
 * @readers: boots by file
 * @threads: struct perfetto_thread, by process and thread, and processes
 * @tracks: the last track of each thread id; and of losses
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
 * @pending: bytes of fields in all struct perfetto_start, up to PENDING_BYTES
 * @pending_waits: bytes of waits, likewise
 * @value: of a field, as text
 * @fields: annotations of an event
 * @waits: what intervals need
 * @held: slices that have ended
 */
struct perfetto {
	struct elog_text *text;
	bool realtime;
	int64_t base;
	struct elog_map boots;
	const void *reader;
	const struct perfetto_boot *boot;
	uint64_t now;
	struct elog_map readers;	/* pointers to @boots */
	struct elog_map threads;
	struct elog_map tracks;		/* uint64_t */
	uint64_t next_name;
	uint64_t next_track;
	uint64_t session_name;
	uint64_t instance_name;
	uint64_t host_name;
	uint64_t machine_id_name;
	struct perfetto_group *groups;
	struct nesting nesting;
	uint64_t lost_track;
	uint64_t others_track;
	size_t pending;
	size_t pending_waits;
	struct elog_text value;
	struct elog_text fields;
	struct perfetto_waits waits;
	struct perfetto_held held;
};

/** perfetto_open_packet() - begin a packet; @flags: FLAG_*. Return: for pb_close() */
size_t perfetto_open_packet(struct perfetto *perfetto, unsigned int flags);

/**
 * perfetto_put_name() - let a number stand for a string, in an open INTERNED message
 * @perfetto: the state
 * @what: INTERNED_*
 * @id: the number
 * @name: the string, perhaps not UTF-8
 * @size: bytes of @name
 */
void perfetto_put_name(struct perfetto *perfetto, unsigned int what, uint64_t id,
		       const char *name, size_t size);

/** perfetto_intern() - likewise; return: the number that stands for the string from now on */
uint64_t perfetto_intern(struct perfetto *perfetto, unsigned int what, const char *string);

/** perfetto_put_string() - put a field that is a string, perhaps not UTF-8 */
void perfetto_put_string(struct perfetto *perfetto, unsigned int field, const char *string);

/** perfetto_begin_trace() - put the first packet */
void perfetto_begin_trace(struct perfetto *perfetto);

/** perfetto_put_clocks() - put what the clocks of the first boot said: others are converted */
void perfetto_put_clocks(struct perfetto *perfetto, uint64_t monotonic, uint64_t boottime,
			 uint64_t realtime);

/** perfetto_find_boot() - find the boot of a file's present segment; return: 0 or -ENOMEM */
int perfetto_find_boot(struct perfetto *perfetto, const struct entry *entry);

/** perfetto_set_time() - set @boot and @now to those of an event or a loss; 0 or -ENOMEM */
int perfetto_set_time(struct perfetto *perfetto, const struct entry *entry);

/**
 * perfetto_find_track() - find a track, or a number for it
 * @perfetto: the state
 * @what: kind of the track
 * @number: of it
 * @found: set; false: it is new, and its description must be put
 *
 * Return: its number; NULL: no memory.
 */
uint64_t *perfetto_find_track(struct perfetto *perfetto, const char *what, uint64_t number,
			      bool *found);

/** perfetto_put_track() - describe a track; @parent: the track above it, 0: none */
void perfetto_put_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
			const char *name);

/** perfetto_thread_track() - the track of an event's thread; 0: no memory */
uint64_t perfetto_thread_track(struct perfetto *perfetto, const struct entry *entry);

/** perfetto_known_thread() - the track of a thread of the present boot; 0: it has none yet */
uint64_t perfetto_known_thread(struct perfetto *perfetto, uint32_t tid);

/** perfetto_lane_track() - the track of a lane */
uint64_t perfetto_lane_track(struct perfetto *perfetto, struct perfetto_group *group,
			     uint32_t lane);

/** perfetto_new_names() - make the data of an event's kind; NULL: no memory */
struct perfetto_names *perfetto_new_names(struct perfetto *perfetto,
					  const struct visit_event *event);

/** perfetto_put_origin() - put annotations with the host and the machine */
void perfetto_put_origin(const struct perfetto *perfetto, struct elog_text *text);

/** perfetto_put_instance() - put an annotation with the instance, if there is one */
void perfetto_put_instance(const struct perfetto *perfetto, struct elog_text *text,
			   const struct elog_item *item);

/** perfetto_put_common() - put annotations with the origin, the session and the instance */
void perfetto_put_common(const struct perfetto *perfetto, struct elog_text *text,
			 const struct elog_item *item);

/**
 * perfetto_make_fields() - set @fields to the annotations of an event
 * @perfetto: the state
 * @event: whose kind has data
 * @first: also those that both events of a slice have
 */
void perfetto_make_fields(struct perfetto *perfetto, const struct visit_event *event, bool first);

/**
 * perfetto_put_event() - put an event of a track
 * @perfetto: the state
 * @names: of its kind
 * @type: SLICE_BEGIN, SLICE_END or INSTANT
 * @name: number of its name
 * @track: where it is
 * @time: in the trace
 * @fields: annotations
 * @size: bytes of @fields
 */
void perfetto_put_event(struct perfetto *perfetto, const struct perfetto_names *names,
			unsigned int type, uint64_t name, uint64_t track, uint64_t time,
			const char *fields, size_t size);

/** perfetto_put_instant() - put an event on the track of its thread; 0 or -ENOMEM */
int perfetto_put_instant(struct perfetto *perfetto, const struct visit_event *event);

/**
 * perfetto_put_wait() - put the slices of an interval
 * @export: whose state is struct perfetto
 * @event: the event off, whose kind has data; its definition may be dropped
 * @interval: likewise
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_put_wait(struct export *export, const struct visit_event *event,
		      const struct interval *interval);

/** perfetto_add_sum() - add a sum to the spans of its session; as perfetto_put_wait() */
int perfetto_add_sum(struct export *export, const struct entry *entry,
		     const struct interval_sum *sum);

#endif /* PERFETTO_STATE_H */
