/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points in time, and spans of it, as people write them.
 */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/** enum moment_kind - what a moment counts from */
enum moment_kind {
	MOMENT_NONE,		/* not given */
	MOMENT_WALL,		/* CLOCK_REALTIME */
	MOMENT_MONOTONIC,	/* CLOCK_MONOTONIC, as timestamps are shown */
	MOMENT_START,		/* where the earliest file, or the run, begins */
};

/**
 * struct moment - a point in time
 * @kind: what it counts from
 * @time: ns
 */
struct moment {
	enum moment_kind kind;
	int64_t time;
};

/** moment_now() - CLOCK_REALTIME, ns */
int64_t moment_now(void);

/**
 * moment_parse() - understand a point in time
 * @text: "YYYY-MM-DD[ HH:MM[:SS[.FRACTION]]][ZONE]" or
 *	"HH:MM[:SS[.FRACTION]][ZONE]" (today), T for the blank, local time
 *	without ZONE, which is "Z" or "+HH:MM"; "@SECONDS" since 1970; "now",
 *	"today", "yesterday"; "-SPAN" before now; "+SPAN" after the beginning;
 *	"SECONDS" as timestamps are shown
 * @moment: set
 */
bool moment_parse(const char *text, struct moment *moment);

/**
 * moment_parse_around() - understand a span around a point in time
 * @text: "MOMENT±SPAN", or with "+-" for "±"
 * @since: set
 * @until: set
 */
bool moment_parse_around(const char *text, struct moment *since,
			 struct moment *until);

/**
 * struct date - a second of local time, as text
 * @second: CLOCK_REALTIME
 * @text: "YYYY-MM-DDTHH:MM:SS"
 * @zone: "+HH:MM"
 */
struct date {
	int64_t second;
	char text[40];
	char zone[8];
};

/** date_set() - fill in @date, unless it is of that second already */
void date_set(struct date *date, int64_t second);

#endif /* MOMENT_H */
