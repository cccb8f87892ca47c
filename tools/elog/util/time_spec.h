/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points in time, and time spans, as users write them.
 */
#ifndef TIME_SPEC_H
#define TIME_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "util/wall_time.h"

/** enum time_spec_kind - what a point in time counts from */
enum time_spec_kind {
	TIME_SPEC_NONE,		/* not given */
	TIME_SPEC_WALL,		/* CLOCK_REALTIME */
	TIME_SPEC_MONOTONIC,	/* CLOCK_MONOTONIC, as timestamps are shown */
	TIME_SPEC_START,	/* the start of the earliest file, or of the run */
};

/**
 * struct time_spec - a point in time
 * @kind: what it counts from
 * @time: ns
 */
struct time_spec {
	enum time_spec_kind kind;
	int64_t time;
};

/** realtime_now() - CLOCK_REALTIME, ns */
int64_t realtime_now(void);

/**
 * time_span_parse() - parse a span of time
 * @text: "20ms", "1.5s", "2h30m", "5 minutes"; a number alone is of seconds
 * @nanoseconds: set
 *
 * Return: NULL; or where in @text it is wrong.
 */
const char *time_span_parse(const char *text, int64_t *nanoseconds);

/**
 * time_spec_parse() - parse a point in time
 * @text: "DAY[ HH:MM[:SS[.FRACTION]]][ZONE]" or "HH:MM[:SS[.FRACTION]][ZONE]"
 *	(today), T for the blank, where DAY is "YYYY-MM-DD", "today" or
 *	"yesterday"; local time without ZONE, which is "Z" or "+HH:MM";
 *	"@SECONDS" since 1970; "now"; "-SPAN" or "SPAN ago", before now;
 *	"+SPAN" after the start; "SECONDS" of CLOCK_MONOTONIC, as timestamps are
 *	shown
 * @spec: set
 *
 * Return: NULL; or where in @text it is wrong.
 */
const char *time_spec_parse(const char *text, struct time_spec *spec);

/**
 * time_spec_parse_around() - parse a span around a point in time
 * @text: "TIME±SPAN", or with "+-" for "±"
 * @since: set
 * @until: set
 *
 * Return: NULL; or where in @text it is wrong.
 */
const char *time_spec_parse_around(const char *text, struct time_spec *since,
				   struct time_spec *until);

/**
 * struct date - a second, as text
 * @utc: of universal time, not of local time
 * @second: CLOCK_REALTIME
 * @text: "YYYY-MM-DDTHH:MM:SS"
 * @zone: "+HH:MM"; of universal time "Z"
 */
struct date {
	bool utc;
	int64_t second;
	char text[40];
	char zone[8];
};

/** date_set() - fill in @date, unless it already is of that second */
void date_set(struct date *date, int64_t second);

#endif /* TIME_SPEC_H */
