// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a program with typed events.
 *
 *	eventlog-gen -u -o kiosk_eventlog.h kiosk_eventlog_schema.src
 *	cc -o kiosk kiosk.c $(pkg-config --cflags --libs libelog)
 *	elog capture -e kiosk -- ./kiosk 3
 *
 * Serves this number of customers. Each one is a session.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EVENTLOG_KIOSK_DEFINE
#include "kiosk_eventlog.h"

#define APPLES	5

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void serve(unsigned int number, unsigned int *apples)
{
	int8_t fruit = number % 3 ? EVENTLOG_KIOSK_FRUIT_APPLE : EVENTLOG_KIOSK_FRUIT_DURIAN;
	uint16_t count = (uint16_t)(1 + number % 3);
	uint64_t start = now();

	eventlog_kiosk_arrived(number, number % 2 ? "Alice" : "Bob");
	if (fruit == EVENTLOG_KIOSK_FRUIT_APPLE && count > *apples) {
		eventlog_kiosk_empty(number, fruit);
		return;
	}
	if (fruit == EVENTLOG_KIOSK_FRUIT_APPLE)
		*apples -= count;
	eventlog_kiosk_sold(number, fruit, count,
			    EVENTLOG_KIOSK_EXTRA_BAG | EVENTLOG_KIOSK_EXTRA_RECEIPT,
			    120U * count, now() - start);
}

int main(int argc, char **argv)
{
	unsigned int customers = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 1, i;
	struct elog_producer *producer;
	unsigned int apples = APPLES;
	int ret;

	ret = elog_producer_open(&producer, NULL);
	if (!ret)
		ret = eventlog_kiosk_register(producer);
	if (ret)
		fprintf(stderr, "kiosk: no events: %s\n", strerror(-ret));
	for (i = 1; i <= customers; i++)
		serve(i, &apples);
	printf("%u apples are left\n", apples);
	if (!ret)
		elog_producer_close(producer);
	return 0;
}
