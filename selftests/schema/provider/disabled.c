// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event costs that nobody wants: the test looks at the instructions.
 */
#include "tcp_eventlog.h"

void everything_disabled(u64 session, u8 value);

void everything_disabled(u64 session, u8 value)
{
	eventlog_tcp_one(session, value);
}
