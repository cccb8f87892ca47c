# SPDX-License-Identifier: GPL-2.0-only
#
# Converts the lines of elog export --format jsonl to the journal export format of systemd:
#
#	elog export -q --format jsonl FILE | jq -r -f journal.jq |
#		/lib/systemd/systemd-journal-remote -o eventlog.journal -
#	journalctl --file eventlog.journal

# The level of eventlog as the priority of syslog.
def priority:
	{critical: 2, error: 3, warning: 4, notice: 5, info: 6, debug: 7, verbose: 7}[. // ""] // 6;

# A value on one line.
def line: if type == "string" then . else tojson end | gsub("\n"; "\\n");

def microseconds:
	(.[:19] + "Z" | fromdate | tostring) + .[20:26];

[
	"__REALTIME_TIMESTAMP=\(.time | microseconds)",
	"__MONOTONIC_TIMESTAMP=\(.mono / 1000 | floor)",
	"PRIORITY=\(.level | priority)",
	"SYSLOG_IDENTIFIER=eventlog",
	"_HOSTNAME=\(.host // "localhost")",
	"_MACHINE_ID=\(.machine_id // empty)",
	"_PID=\(.pid)",
	"_COMM=\(.comm | line)",
	"EVENTLOG_PROVIDER=\(.provider | line)",
	"EVENTLOG_EVENT=\(.event | line)",
	"EVENTLOG_SESSION=\(.session // empty)",
	(.fields | to_entries[] | "EVENTLOG_\(.key | ascii_upcase)=\(.value | line)"),
	"MESSAGE=\(.provider | line)/\(.event | line) \(.fields | to_entries |
		map("\(.key)=\(.value | line)") | join(" "))",
	""
] | .[]
