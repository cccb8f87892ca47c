// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_collide_two.ko: the second of two markers with the same id.
 */
#include "marker_collide.h"

#line 1 "collide.c"
COLLIDE_FUNCTION(COLLIDE_TWO)
COLLIDE_MODULE(COLLIDE_TWO);
