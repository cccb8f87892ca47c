// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracks of a trace: see perfetto_state.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/perfetto_state.h"

#define TRACKS_MAX	(1U << 18)	/* then threads share one */

uint64_t *perfetto_find_track(struct perfetto *perfetto, const char *what, uint64_t number,
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

void perfetto_put_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
			const char *name)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, 0), message = pb_open(text, PACKET_TRACK);

	pb_uint(text, TRACK_ID, track);
	if (parent)
		pb_uint(text, TRACK_PARENT, parent);
	perfetto_put_string(perfetto, TRACK_NAME, name);
	pb_close(text, message);
	pb_close(text, packet);
}

static void put_thread_track(struct perfetto *perfetto, uint64_t track, uint64_t parent,
			     const struct elog_item *item, const char *name)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, 0), inner;
	size_t message = pb_open(text, PACKET_TRACK);

	pb_uint(text, TRACK_ID, track);
	if (parent) {
		pb_uint(text, TRACK_PARENT, parent);
		inner = pb_open(text, TRACK_THREAD);
		pb_uint(text, THREAD_PID, item->pid);
		pb_uint(text, THREAD_TID, item->tid);
		perfetto_put_string(perfetto, THREAD_NAME, name);
	} else {
		inner = pb_open(text, TRACK_PROCESS);
		pb_uint(text, PROCESS_PID, item->pid);
		perfetto_put_string(perfetto, PROCESS_NAME, name);
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
	perfetto_put_track(perfetto, track, parent, label);
}

static uint64_t shared_track(struct perfetto *perfetto)
{
	if (!perfetto->others_track) {
		perfetto->others_track = perfetto->next_track++;
		perfetto_put_track(perfetto, perfetto->others_track, 0, "other threads");
	}
	return perfetto->others_track;
}

static bool is_known(const char *name)
{
	return *name && *name != ':';
}

/*
 * Let a thread or process have a name. What had another one before gets another track: it has
 * called exec, was renamed, or its number is used again. Return: its track must be described.
 */
static bool set_name(struct perfetto *perfetto, struct perfetto_thread *thread, const char *name)
{
	if (thread->track && (!is_known(name) || !strcmp(thread->name, name)))
		return false;
	if (!thread->track || is_known(thread->name))
		thread->track = perfetto->next_track++;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	return true;
}

/* Return: 0: no memory. */
static uint64_t process_track(struct perfetto *perfetto, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const uint32_t boot = perfetto->boot->id;
	struct perfetto_thread *process;
	const char *name;

	process = elog_map_get(&perfetto->threads,
			       elog_map_name("process", (uint64_t)boot << 32 | item->pid));
	if (!process)
		return 0;
	name = process_name(entry);
	if (!set_name(perfetto, process, name))
		return process->track;
	if (!is_known(name))
		name = thread_name(entry);
	if (boot)
		put_named_track(perfetto, process->track, 0, entry, name);
	else
		put_thread_track(perfetto, process->track, 0, item, name);
	return process->track;
}

uint64_t perfetto_thread_track(struct perfetto *perfetto, const struct entry *entry)
{
	const struct elog_item *item = &entry->item;
	const uint32_t boot = perfetto->boot->id;
	const char *name = thread_name(entry);
	struct perfetto_thread *thread;
	struct elog_map_key key;
	uint64_t *latest, parent, track;
	bool found;

	if (!item->tid || perfetto->threads.count > TRACKS_MAX)
		return shared_track(perfetto);
	key = elog_map_pair((uint64_t)boot << 32 | item->tid, item->pid);
	thread = elog_map_get(&perfetto->threads, key);
	latest = perfetto_find_track(perfetto, "thread", (uint64_t)boot << 32 | item->tid, &found);
	if (!thread || !latest)
		return 0;
	if (set_name(perfetto, thread, name)) {
		track = thread->track;
		parent = process_track(perfetto, entry);
		if (!parent)
			return 0;
		if (boot)
			put_named_track(perfetto, track, parent, entry, name);
		else
			put_thread_track(perfetto, track, parent, item, name);
		thread = elog_map_find(&perfetto->threads, key);
	}
	*latest = thread->track;
	return *latest;
}

uint64_t perfetto_known_thread(struct perfetto *perfetto, uint32_t tid)
{
	const uint32_t boot = perfetto->boot->id;
	const uint64_t *track;

	track = elog_map_find(&perfetto->tracks,
			      elog_map_name("thread", (uint64_t)boot << 32 | tid));
	return track ? *track : 0;
}

uint64_t perfetto_lane_track(struct perfetto *perfetto, struct perfetto_group *group,
			     uint32_t lane)
{
	char name[EVENTLOG_NAME_MAX + 16];

	if (!group->track) {
		group->track = perfetto->next_track;
		perfetto->next_track += UINT32_MAX;
		snprintf(name, sizeof(name), "sessions of %s", group->name);
		perfetto_put_track(perfetto, group->track, 0, name);
	}
	for (; group->drawn <= lane; group->drawn++)
		perfetto_put_track(perfetto, group->track + 1 + group->drawn, group->track,
				   "sessions");
	return group->track + 1 + lane;
}
