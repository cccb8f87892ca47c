// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emits every event, with arguments of typical types.
 */
#include "tcp_eventlog.h"

void everything_emit(u64 session, const struct in6_addr *address, const u8 *octets, __be32 ipv4);

void everything_emit(u64 session, const struct in6_addr *address, const u8 *octets, __be32 ipv4)
{
	if (eventlog_tcp_state_change_enabled())
		eventlog_tcp_state_change(session, EVENTLOG_TCP_STATE_SYN_SENT,
					  EVENTLOG_TCP_TCPFLAGS_FIN | EVENTLOG_TCP_TCPFLAGS_BIG, 1,
					  "peer", octets, 3, ipv4, address, 443, octets, 5, 6,
					  &session, true, "name", octets, octets, -7,
					  EVENTLOG_TCP_WIDE_ALL);
	eventlog_tcp_closed(0);
	eventlog_tcp_one(session, 1);
}
