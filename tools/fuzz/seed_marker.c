// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers, compiled into files that marker_fuzz begins with.
 */
#include "elog_marker.h"

void seed(int number, const char *text);

void seed(int number, const char *text)
{
	ELOG_MARKER(seed, FIELD(auto, number), FIELD(string, text));
	ELOG_MARKER(other);
}
