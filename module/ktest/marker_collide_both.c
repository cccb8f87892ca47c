// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_collide_both.ko: two markers with the same id.
 */
#include "marker_collide.h"

#line 1 "collide.c"
COLLIDE_FUNCTION(COLLIDE_ONE)
COLLIDE_FUNCTION(COLLIDE_TWO)

static void pass_both(unsigned int value)
{
	COLLIDE_ONE(value);
	COLLIDE_TWO(value);
}

COLLIDE_MODULE(pass_both);
