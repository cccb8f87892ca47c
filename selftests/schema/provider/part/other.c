// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source file in another directory than the schema.
 */
#include "tcp_eventlog.h"

void everything_close(u64 session);

void everything_close(u64 session)
{
	eventlog_tcp_closed(session);
}
