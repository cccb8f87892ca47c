// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of a trace of Perfetto, and the numbers that stand for strings in them: see
 * perfetto_state.h.
 */
#include <string.h>

#include "export/perfetto_state.h"

#define SEQUENCE	1

size_t perfetto_open_packet(struct perfetto *perfetto, unsigned int flags)
{
	size_t packet = pb_open(perfetto->text, TRACE_PACKET);

	pb_uint(perfetto->text, PACKET_SEQUENCE, SEQUENCE);
	pb_uint(perfetto->text, PACKET_FLAGS, flags);
	return packet;
}

void perfetto_put_name(struct perfetto *perfetto, unsigned int what, uint64_t id,
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

uint64_t perfetto_intern(struct perfetto *perfetto, unsigned int what, const char *string)
{
	perfetto_put_name(perfetto, what, perfetto->next_name, string, strlen(string));
	return perfetto->next_name++;
}

void perfetto_put_string(struct perfetto *perfetto, unsigned int field, const char *string)
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

void perfetto_begin_trace(struct perfetto *perfetto)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, FLAG_CLEARED), message;

	message = pb_open(text, PACKET_DEFAULTS);
	pb_uint(text, PACKET_CLOCK_ID, perfetto->realtime ? REALTIME : MONOTONIC);
	pb_close(text, message);
	message = pb_open(text, PACKET_INTERNED);
	perfetto->session_name = perfetto_intern(perfetto, INTERNED_ANNOTATION, "session");
	perfetto->instance_name = perfetto_intern(perfetto, INTERNED_ANNOTATION, "instance");
	perfetto->host_name = perfetto_intern(perfetto, INTERNED_ANNOTATION, "host");
	perfetto->machine_id_name = perfetto_intern(perfetto, INTERNED_ANNOTATION, "machine_id");
	pb_close(text, message);
	pb_close(text, packet);
}

void perfetto_put_clocks(struct perfetto *perfetto, uint64_t monotonic, uint64_t boottime,
			 uint64_t realtime)
{
	struct elog_text *text = perfetto->text;
	size_t packet = perfetto_open_packet(perfetto, 0), message;

	message = pb_open(text, PACKET_CLOCKS);
	put_clock(text, REALTIME, realtime);
	put_clock(text, MONOTONIC, monotonic);
	put_clock(text, BOOTTIME, boottime);
	pb_uint(text, CLOCKS_PRIMARY, perfetto->realtime ? REALTIME : MONOTONIC);
	pb_close(text, message);
	pb_close(text, packet);
}
