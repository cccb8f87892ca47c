#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# observability_test - the configurations in this folder, and the commands of
# tools/doc/observability.md. Prints TAP.
#
# Neither Debian nor npm has the OpenTelemetry Collector, Loki, Tempo or Grafana: it is checked
# that the parts of the configurations fit together, and that elog sends to the port on which the
# collector listens. The commands for the journal run as they are in the page.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
page=$top/tools/doc/observability.md
PATH=$EVENTLOG_TOOLS:$PATH

python3 "$top/tools/elog/export/export_file.py" spans job.elog || exit 1

# Each pipeline consists of components that exist, and each component is used.
parts_fit()
{
	python3 - "$here/collector.yaml" "$here/grafana.yaml" <<-'CODE'
		import sys, yaml
		collector, grafana = (yaml.safe_load(open(name)) for name in sys.argv[1:])
		pipelines = collector["service"]["pipelines"]
		assert set(pipelines) == {"logs", "traces"}, pipelines
		for kind in "receivers", "processors", "exporters":
		    used = {name for line in pipelines.values() for name in line[kind]}
		    assert used == set(collector[kind]), (kind, used)
		for line in pipelines.values():
		    # The limit of memory must be first, to refuse what does not fit.
		    assert line["processors"][0] == "memory_limiter"
		loki = collector["exporters"]["otlphttp/loki"]["endpoint"]
		sources = {source["type"]: source for source in grafana["datasources"]}
		assert loki == sources["loki"]["url"] + "/otlp"
		assert sources["loki"]["jsonData"]["derivedFields"][0]["datasourceUid"] == \
		    sources["tempo"]["uid"]
		assert sources["tempo"]["jsonData"]["tracesToLogsV2"]["datasourceUid"] == \
		    sources["loki"]["uid"]
	CODE
}

# In a network of its own, a receiver listens where the collector would, and gets what the
# command in the page sends.
elog_sends_there()
{
	local port command

	port=$(sed -n 's/^ *endpoint: 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$here/collector.yaml")
	command=$(sed -n 's/^    \(elog export --otlp .*\)$/\1/p' "$page")
	[ -n "$port" ] && [ -n "$command" ] || return 1
	# shellcheck disable=SC2016 # the shell in the network expands them
	unshare --user --map-root-user --net bash -c '
		ip link set lo up && mkdir got || exit
		OTLP_PORT=$1 python3 "$2" got > /dev/null 2>&1 &
		until [ -s got/port ]; do kill -0 $! || exit; sleep 0.05; done
		unset "${!OTEL_@}" http_proxy HTTP_PROXY
		eval "$3"
		status=$?
		kill $!
		# The file has losses.
		[ "$status" = 2 ]' - "$port" "$top/tools/elog/export/otlp_receiver.py" "$command" &&
		[ -n "$(find got -name '*.logs')" ] && [ -n "$(find got -name '*.traces')" ]
}

# The block of the page, and then each field of each event, as elog show prints it.
journal_has_all_events()
{
	local name count fields

	mkdir -p tools/dist/observability
	cp "$here/journal.jq" tools/dist/observability
	awk '/^```sh$/ { inside = 1; text = ""; next }
		/^```/ { if (inside && text ~ /journal\.jq/) printf "%s", text; inside = 0 }
		inside { text = text $0 "\n" }' "$page" > block
	[ -s block ] && bash -e block > printed || return 1
	elog show -q --format json job.elog | jq -c 'select(.event)' > shown
	while read -r count name; do
		[ "$(journalctl -q --file eventlog.journal -o json "EVENTLOG_EVENT=$name" | wc -l)" = \
			"$count" ] || { echo "not $count events $name"; return 1; }
	done < <(jq -r .event shown | sort | uniq -c)
	journalctl -q --file eventlog.journal -o json > journal
	fields=$(jq -r '.fields | to_entries[] | "EVENTLOG_\(.key | ascii_upcase)=\(.value)" |
		gsub("\n"; "\\n")' shown |
		sort | uniq -c)
	[ -n "$fields" ] && [ "$fields" = "$(jq -r 'select(.EVENTLOG_PROVIDER != "eventlog") |
		del(.EVENTLOG_PROVIDER, .EVENTLOG_EVENT, .EVENTLOG_SESSION) | to_entries[] |
		select(.key | startswith("EVENTLOG_")) | "\(.key)=\(.value)"' journal |
		sort | uniq -c)" ] || { echo 'other fields'; return 1; }
	jq -se 'any(.EVENTLOG_PROVIDER == "eventlog" and .EVENTLOG_EVENT == "lost") and
		all(.PRIORITY | tonumber | . >= 2 and . <= 7)' journal
}

# No row is mixed up with the others, and none is missing in the sum.
metrics_have_others()
{
	python3 "$top/tools/elog/export/export_file.py" crowd crowd.elog || return 1
	elog stat -q --by session --format prometheus crowd.elog > metrics || return 1
	sed -n 's/^eventlog_events_total{\(.*\)} \([0-9]*\)$/\2 \1/p' metrics > rows
	[ "$(grep -v 'provider="shop"' rows | sort | cut -d ' ' -f 2)" = \
		'provider="(others)",session="0x9"
others="true"' ] && grep -q '^67 provider="(others)"' rows &&
		[ "$(cut -d ' ' -f 2- rows | sort | uniq -d)" = '' ] &&
		[ "$(awk '{ sum += $1 } END { print sum }' rows)" = \
			"$(elog stat -q --format csv crowd.elog | awk -F , '{ sum += $3 } END { print sum }')" ] ||
		{ grep -v shop rows; return 1; }
}

have()
{
	command -v "$1" > /dev/null
}

check 'metrics of others are apart, and their sum is the total' metrics_have_others
if python3 -c 'import yaml' 2> /dev/null; then
	check 'the parts of the configurations fit together' parts_fit
else
	skip 'the parts of the configurations fit together' 'there is no python3-yaml'
fi
if ! unshare --user --map-root-user --net true 2> /dev/null; then
	skip 'elog sends to the port of the collector' 'networks cannot be made'
elif "$elog" export --otlp http://127.0.0.1:1 none 2>&1 | grep -q 'built without libcurl'; then
	skip 'elog sends to the port of the collector' 'elog was built without libcurl'
else
	check 'elog sends to the port of the collector' elog_sends_there
fi
if have jq && have journalctl && [ -x /lib/systemd/systemd-journal-remote ]; then
	check 'the journal has all events and fields' journal_has_all_events
else
	skip 'the journal has all events and fields' 'there is no systemd-journal-remote'
fi
end_checks
