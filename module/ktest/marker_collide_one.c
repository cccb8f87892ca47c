// SPDX-License-Identifier: GPL-2.0-only
/*
 * eventlog_marker_collide_one.ko: the first of two markers with the same id.
 */
#include "marker_collide.h"

#line 1 "collide.c"
COLLIDE_FUNCTION(COLLIDE_ONE)
COLLIDE_MODULE(COLLIDE_ONE);
