// SPDX-License-Identifier: GPL-2.0-only
/*
 * The boots that the events of a trace are of: see perfetto_state.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/perfetto_state.h"

#define BOOTS_MAX	1024

/* Let the events of a boot say which machine they are from. */
static void intern_origin(struct perfetto *perfetto, const struct entry *entry,
			  struct perfetto_boot *boot)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, FLAG_NEEDS_STATE);
	size_t message = pb_open(text, PACKET_INTERNED);

	if (entry->host_name)
		boot->host = perfetto_intern(perfetto, INTERNED_STRING, entry->host_name);
	if (entry->machine_id)
		boot->machine_id = perfetto_intern(perfetto, INTERNED_STRING, entry->machine_id);
	pb_close(text, message);
	pb_close(text, packet);
}

int perfetto_find_boot(struct perfetto *perfetto, const struct entry *entry)
{
	const char *id = elog_reader_info(entry->reader, "boot_id");
	const char *start = elog_reader_info(entry->reader, "start");
	uint64_t monotonic = 0, boottime = 0, realtime = (uint64_t)entry->wall_offset;
	struct perfetto_boot *boot, **place;
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
			perfetto_put_clocks(perfetto, monotonic, boottime, realtime);
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

int perfetto_set_time(struct perfetto *perfetto, const struct entry *entry)
{
	struct perfetto_boot **place;
	int ret = 0;

	if (perfetto->reader != entry->reader) {
		place = elog_map_find(&perfetto->readers, elog_map_bytes(&entry->reader,
									 sizeof(entry->reader)));
		ret = place ? 0 : perfetto_find_boot(perfetto, entry);
		perfetto->boot = place ? *place : perfetto->boot;
		perfetto->reader = entry->reader;
	}
	if (!ret)
		perfetto->now = entry->item.time + (uint64_t)perfetto->boot->offset -
				(uint64_t)perfetto->base;
	return ret;
}
