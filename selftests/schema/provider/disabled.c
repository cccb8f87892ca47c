// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a disabled event: the test checks its instructions.
 */
#include "tcp_eventlog.h"

void everything_disabled(u64 session, u8 value);

void everything_disabled(u64 session, u8 value)
{
	eventlog_tcp_one(session, value);
}
