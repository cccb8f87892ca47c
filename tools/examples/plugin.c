// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A library with a marker and typed events that a program loads and unloads, as a plugin.
 * rings_device_test does that. No locks: one thread uses it.
 */
#include <elog.h>
#include <elog_marker.h>

#define EVENTLOG_KIOSK_DEFINE
#include "kiosk_eventlog.h"

static struct elog_producer *producer;

__attribute__((constructor)) static void begin(void)
{
	if (!elog_producer_open(&producer, NULL))
		eventlog_kiosk_register(producer);
}

__attribute__((destructor)) static void end(void)
{
	if (!producer)
		return;
	eventlog_kiosk_unregister();
	elog_producer_close(producer);
}

void plugin_emit(uint32_t number);

void plugin_emit(uint32_t number)
{
	ELOG_MARKER(in_plugin, FIELD(u32, number));
	eventlog_kiosk_sold(0, EVENTLOG_KIOSK_FRUIT_PEAR, 1, 0, 2, number);
}
