#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# otlp_test - exports files of events to receivers of OpenTelemetry, which accept, refuse,
# hang or lie, and reads what they got with OpenTelemetry's own generated decoder. Without
# npm or a network, the tests that need the decoder are skipped. Prints TAP.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
# shellcheck source=tools/elog/export/export_common.sh
. "$here/export_common.sh"
unset "${!OTEL_@}" http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
export no_proxy='*'

if "$elog" export --otlp http://127.0.0.1:1 none 2>&1 | grep -q 'built without libcurl'; then
	skip 'events are sent to receivers' 'elog was built without libcurl'
	end_checks
fi
processes=()
trap 'kill "${processes[@]}" 2> /dev/null; rm -rf "$work"' EXIT

for file in spans types bounds odd early equal renamed; do
	python3 "$here/export_file.py" "$file" "$file.elog" || exit 1
done
python3 "$here/export_file.py" many many.elog 3000 &&
	python3 "$here/../output/why_file.py" spans waits.elog &&
	python3 "$here/../output/why_file.py" late late.elog &&
	python3 "$here/../output/why_file.py" threads threads.elog || exit 1

# start_receiver FOLDER [CERTIFICATE KEY]: sets port.
start_receiver()
{
	mkdir -p "$1"
	python3 "$here/otlp_receiver.py" "$@" > "$1.log" 2>&1 &
	processes+=($!)
	until [ -s "$1/port" ]; do
		kill -0 $! 2> /dev/null || { cat "$1.log"; return 1; }
		sleep 0.05
	done
	port=$(cat "$1/port")
}

start_receiver got || exit 1
url=http://127.0.0.1:$port

# send STATUS WHAT FILE...: WHAT is what the receiver does.
send()
{
	local status=$1 what=$2 result=0

	shift 2
	rm -rf "got/$what" got/requests
	"$elog" export --otlp "$url/$what" "$@" > stdout 2> stderr || result=$?
	if [ "$result" != "$status" ] || [ -s stdout ] ||
	   grep -q 'runtime error\|Sanitizer' stderr; then
		echo "status $result, not $status: $what $*"
		cat stdout stderr
		return 1
	fi
}

# says LINE...: the lines are in stderr, from their beginning.
says()
{
	local line

	for line in "$@"; do
		grep -qF -- "$line" stderr || { echo "no line: $line"; cat stderr; return 1; }
	done
}

refuses_wrong_usage()
{
	fails 'FILE is missing' --otlp "$url/ok" &&
		fails '--format does not go with --otlp' --otlp "$url/ok" --format csv spans.elog &&
		fails '-o does not go with --otlp' --otlp "$url/ok" -o out spans.elog &&
		fails 'must be http://HOST' --otlp localhost:4318 spans.elog &&
		fails 'must be http://HOST' --otlp ftp://localhost spans.elog &&
		fails 'has no host' --otlp http:///path spans.elog &&
		fails "must not contain '?' or '#'" --otlp "$url/ok?a=b" spans.elog &&
		fails 'must not contain blanks' --otlp "$url/o k" spans.elog &&
		fails 'must not contain a password' --otlp http://me:geheim@localhost spans.elog &&
		! grep -q geheim stderr &&
		OTEL_EXPORTER_OTLP_TIMEOUT=soon fails 'OTEL_EXPORTER_OTLP_TIMEOUT: must be' \
			--otlp "$url/ok" spans.elog &&
		OTEL_EXPORTER_OTLP_COMPRESSION=zip fails 'must be gzip or none' \
			--otlp "$url/ok" spans.elog &&
		OTEL_EXPORTER_OTLP_HEADERS='geheim' fails 'must be NAME=VALUE' \
			--otlp "$url/ok" spans.elog && ! grep -q geheim stderr &&
		OTEL_EXPORTER_OTLP_HEADERS='a=geheim%0d%0ab:c' fails 'no header' \
			--otlp "$url/ok" spans.elog && ! grep -q geheim stderr &&
		OTEL_EXPORTER_OTLP_HEADERS='a b=geheim' fails 'no header' \
			--otlp "$url/ok" spans.elog && ! grep -q geheim stderr &&
		[ ! -e got/requests ]
}

# The messages have the reason, and what became of all records. Only receivers that do not
# answer get a short time.
reasons_are_given()
{
	local what timeout reason result

	while IFS='|' read -r what timeout reason result; do
		OTEL_EXPORTER_OTLP_TIMEOUT=$timeout \
			OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20geheim' \
			send 1 "$what" spans.elog && says "$url/$what/v1/logs: $reason" "$result" ||
			return 1
		! grep -q geheim stderr || { echo "a secret is shown: $what"; return 1; }
		! grep -q $'\e' stderr || { echo "a terminal is controlled: $what"; return 1; }
	done <<-'RECEIVERS'
		400||the receiver answers 400: no \x1b[31mway|refused 25 log records and 0 spans
		401||the receiver answers 401|refused 25 log records and 0 spans
		413||the receiver answers 413|refused 25 log records and 0 spans
		500||the receiver answers 500|refused 25 log records and 0 spans
		echo||the receiver answers 400|refused 25 log records and 0 spans
		token||the receiver answers 400|refused 25 log records and 0 spans
		moved||the receiver answers 302, a redirection, which is not followed|refused 25 log
		html||the answer is not one of OpenTelemetry|refused 25 log records and 0 spans
		json||the answer is not one of OpenTelemetry|refused 25 log records and 0 spans
		long||the answer has more than 65536 bytes|refused 25 log records and 0 spans
		empty|200||25 log records and 8 spans were not sent
		half|200||25 log records and 8 spans were not sent
		hang|200||25 log records and 8 spans were not sent
	RECEIVERS
	# What refuses the first request gets no second one; the others are tried again.
	send 1 500 spans.elog && [ "$(wc -l < got/requests)" = 1 ] &&
		OTEL_EXPORTER_OTLP_TIMEOUT=1000 send 1 503 spans.elog &&
		says 'the receiver answers 503' '25 log records and 8 spans were not sent' &&
		[ "$(wc -l < got/requests)" -gt 1 ]
}

unreachable_receivers()
{
	local address

	# The first port has no listener, the second one does not support TLS.
	for address in http://127.0.0.1:1 "https://127.0.0.1:$port/ok" http://nowhere.invalid; do
		OTEL_EXPORTER_OTLP_TIMEOUT=100 fails '25 log records and 8 spans were not sent' \
			--otlp "$address" spans.elog || return 1
		says "$address/v1/logs: " || return 1
	done
}

# Some requests are accepted, but not all of their records.
partial_success_is_counted()
{
	send 1 partial spans.elog &&
		says 'the receiver refused 2 of 25 records: two are bad' \
			'sent 23 log records and 6 spans in 2 requests' \
			'the receiver refused 2 log records and 2 spans' || return 1
	send 1 liar spans.elog &&
		says 'sent 0 log records and 0 spans' 'refused 25 log records and 8 spans'
}

busy_receivers_get_all()
{
	rm -rf got/busy
	send 2 busy spans.elog &&
		says 'the receiver answers 503; trying again' \
			'the receiver answers 429: slowly; trying again' \
			'the receiver answers 502; trying again' \
			'the receiver answers 504; trying again' \
			'sent 25 log records and 8 spans in 2 requests' &&
		! grep -q 'refused\|not sent' stderr &&
		[ "$(grep -c /v1/logs got/requests)" = 6 ]
}

headers_are_sent()
{
	OTEL_EXPORTER_OTLP_HEADERS='x-a=1, authorization = Bearer%20secret ,x-empty=' \
		send 2 key spans.elog && says 'sent 25 log records and 8 spans in 2 requests'
}

certificates_are_checked()
{
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 \
		-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2> openssl.log ||
		{ cat openssl.log; return 1; }
	start_receiver safe cert.pem key.pem || return 1
	# Nothing is tried again, and nothing was sent.
	fails '25 log records and 8 spans were not sent' --otlp "https://127.0.0.1:$port/ok" \
		spans.elog && grep -qi certificate stderr && ! grep -q 'trying again' stderr &&
		[ ! -e safe/requests ] || return 1
	OTEL_EXPORTER_OTLP_CERTIFICATE=cert.pem \
		"$elog" export --otlp "https://127.0.0.1:$port/ok" spans.elog 2> stderr
	[ $? = 2 ] && says 'sent 25 log records and 8 spans in 2 requests' &&
		OTEL_EXPORTER_OTLP_CERTIFICATE=none.pem fails 'were not sent' \
			--otlp "https://127.0.0.1:$port/ok" spans.elog
}

# A signal ends waiting for a receiver; what it does not have is counted.
signals_end_waiting()
{
	local status=0 pid

	rm -f got/requests
	"$elog" export --otlp "$url/hang" spans.elog 2> stderr &
	pid=$!
	until [ -s got/requests ]; do
		sleep 0.05
	done
	# The first one limits the time, the second one ends it.
	while kill -INT "$pid" 2> /dev/null; do
		sleep 0.2
	done
	wait "$pid" || status=$?
	[ "$status" = 1 ] && says '25 log records and 8 spans were not sent'
}

# Memory is limited by the queue, whatever the receiver does.
memory_is_limited()
{
	python3 "$here/export_file.py" many more.elog 60000 || return 1
	rm -rf got/ok
	OTEL_EXPORTER_OTLP_TIMEOUT=200 OTEL_EXPORTER_OTLP_COMPRESSION=none \
		python3 - "$EVENTLOG_TOOLS/elog" "$url" <<-'CODE'
		import resource, subprocess, sys
		for what in "hang", "ok":
		    subprocess.run([sys.argv[1], "export", "-q", "--otlp", f"{sys.argv[2]}/{what}",
		                    "more.elog"], stderr=subprocess.DEVNULL)
		used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		print(used, "KiB")
		sys.exit(used > 64 << 10)
	CODE
}

damage_is_reported()
{
	head -c $(($(stat -c %s many.elog) * 2 / 3)) many.elog > torn.elog
	send 1 ok torn.elog && grep -q 'torn.elog: .* byte [0-9]' stderr &&
		says "sent $("$elog" show -q torn.elog 2> /dev/null | wc -l) log records"
}

# Bytes that change anywhere do no harm.
any_damage_is_harmless()
{
	local offset status

	for offset in 40 333 700 1100 1500 1900 2222 2600 2900; do
		cp spans.elog hostile.elog
		printf '\377\003\200' | dd of=hostile.elog bs=1 seek=$offset conv=notrunc status=none
		status=0
		"$elog" export --otlp "$url/ok" hostile.elog 2> stderr || status=$?
		if [ "$status" -gt 2 ] || grep -q 'runtime error\|Sanitizer\|refused' stderr; then
			cat stderr
			return 1
		fi
	done
}

# in_spans TEXT: so often it is in what the receiver got of spans
in_spans()
{
	cat got/ok/*.traces | grep -ao "$1" | wc -l
}

# Spans beyond the memory have no times of waits, and no other span gets theirs. They keep the
# fields of START.
waits_are_limited()
{
	python3 "$here/../output/why_file.py" wide wide.elog 80000 && send 0 ok wide.elog || return 1
	[ "$(in_spans elog.why.futex_ns)" -gt 10000 ] &&
		[ "$(in_spans elog.why.futex_ns)" -lt 80000 ] &&
		[ "$(in_spans elog.why.disk_ns)" = 0 ] && [ "$(in_spans elog.why.pipe_ns)" = 0 ] &&
		[ "$(in_spans lateness)" = 2 ]
}

check 'wrong usage gives the reason' refuses_wrong_usage
check 'receivers that refuse, hang or lie are reported' reasons_are_given
check 'receivers that cannot be reached are reported' unreachable_receivers
check 'a partial success is counted' partial_success_is_counted
check 'a receiver that is busy gets everything later' busy_receivers_get_all
check 'the headers of the environment are sent' headers_are_sent
if command -v openssl > /dev/null; then
	check 'certificates are checked' certificates_are_checked
else
	skip 'certificates are checked' 'there is no openssl'
fi
check 'signals end waiting for a receiver' signals_end_waiting
check 'the queue limits the memory' memory_is_limited
check 'waits take limited memory' waits_are_limited
check 'damage is reported with its position' damage_is_reported
check 'damage anywhere is harmless' any_damage_is_harmless

# ------------------------------------------------------------------------
# What receivers got

find_readers

# read_back WHAT [json]: with OpenTelemetry's decoder.
read_back()
{
	node "$here/otlp_read.cjs" "$readers" "got/$1" "${@:2}" > found 2> node.log ||
		{ cat found node.log; return 1; }
}

receivers_get_all()
{
	local file status

	for file in spans many torn; do
		case $file in
		spans) status=2 ;;
		many) status=0 ;;
		torn) status=1 ;;
		esac
		send $status ok "$file.elog" && read_back ok || return 1
		expected "$file.elog" > wanted 2> /dev/null
		diff wanted found || return 1
	done
	# Without compression, and several files.
	expected spans.elog many.elog > wanted 2> /dev/null
	OTEL_EXPORTER_OTLP_COMPRESSION=none send 2 ok spans.elog many.elog &&
		[ "$(awk '{ print $3 }' got/requests | sort -u)" = None ] && read_back ok &&
		diff wanted found
}

# selected FILTER: with jq, in what was found.
selected()
{
	jq -sc "$1" found
}

records_have_resources()
{
	local boot

	boot=$(cat /proc/sys/kernel/random/boot_id)
	OTEL_RESOURCE_ATTRIBUTES='deployment.environment=a%2Cb,host.name=box' \
		send 2 ok spans.elog && read_back ok json || return 1
	[ "$(selected 'map(.resource | [."service.name", ."host.name", ."process.pid",
		."deployment.environment"]) | unique')" = \
		'[["eventlog","box",null,"a,b"],["shop","box",100,"a,b"]]' ] &&
		[ "$(selected 'map(.resource."eventlog.boot_id") | unique')" = "[\"$boot\"]" ] &&
		OTEL_SERVICE_NAME=mine send 2 ok spans.elog && read_back ok json &&
		[ "$(selected 'map(.resource."service.name") | unique')" = '["mine"]' ]
}

# What threads waited for since the span began, and the span of who ended it.
spans_have_waits()
{
	send 0 ok waits.elog && read_back ok json || return 1
	python3 <<-'END'
		import json
		spans = [span for span in map(json.loads, open("found")) if "name" in span]
		one, other = sorted(spans, key=lambda span: span["duration"])
		why = {key: value for key, value in one["attributes"].items() if "why" in key}
		assert why == {"elog.why.futex_ns": 19000000, "elog.why.runnable_ns": 1000000,
		    "elog.why.preempted_ns": 2000000, "elog.why.on_cpu_ns": 8000000}, why
		assert [(wait["name"], wait["after"]) for wait in one["waits"]] == \
		    [("futex", 0), ("preempted", 23000000)], one["waits"]
		futex = one["waits"][0]["attributes"]
		assert futex["elog.wait.by.thread.name"] == "other", futex
		assert futex["elog.wait.by.session"] == "shop:0x2", futex
		assert one["links"] == [other["span"]], one
		assert not other["waits"] and not other["links"], other
	END
}

# Each span has 10 ms. What is left of a sum in the next span was in the one before.
spans_have_sums()
{
	send 0 ok late.elog && read_back ok json || return 1
	python3 <<-'END'
		import json
		spans = [span for span in map(json.loads, open("found")) if "name" in span]
		why = [{key[9:-3]: value // 10 ** 6 for key, value in span["attributes"].items()
		        if key.startswith("elog.why.")} for span in spans]
		assert why == [{"disk": 2, "futex": 5, "runnable": 1, "on_cpu": 2},
		               {"pipe": 2, "on_cpu": 8}, {"futex": 1, "on_cpu": 9}], why
	END
	# What ends when a span begins or ends.
	python3 "$here/../output/why_file.py" edge edge.elog && send 0 ok edge.elog &&
		read_back ok json || return 1
	[ "$(selected '[.[] | select(.name).attributes |
		[."elog.why.futex_ns", ."elog.why.disk_ns", ."elog.why.on_cpu_ns"]]')" = \
		'[[10000000,null,10000000],[null,4000000,0],[null,null,null]]' ]
}

# deep COUNT TIMES LINKS [EARLY]: of COUNT spans inside one another, the TIMES innermost ones have
# times of waits, and the outermost one of these has LINKS links. EARLY: see why_file.py
deep()
{
	python3 "$here/../output/why_file.py" deep deep.elog "$1" "${4:-0}" && send 0 ok deep.elog &&
		read_back ok json || return 1
	python3 - "$@" <<-'END'
		import json, sys
		count, times, links = map(int, sys.argv[1:4])
		spans = [span for span in map(json.loads, open("found")) if "name" in span]
		assert len(spans) == 2 * count, len(spans)
		names = {span["name"] for span in spans
		         if "elog.why.futex_ns" in span["attributes"]}
		assert names == {f"level{level}" for level in range(count - times, count)}, names
		found = [len(span["links"]) for span in spans if span["waits"]]
		assert found == [0] * (len(sys.argv) > 4) + [links], found
	END
}

# As elog-export(1) says. The span that ended the wait is outside of COUNT - 1 others.
spans_are_deep()
{
	deep 64 64 1 && deep 65 64 0 && deep 66 64 0 64
}

# The parts are those of the time of all threads; who ended a wait may have ended its span, too.
spans_have_several_threads()
{
	send 2 ok threads.elog && read_back ok json || return 1
	python3 <<-'END'
		import json
		spans = [span for span in map(json.loads, open("found")) if "name" in span]
		long, = (span for span in spans if span["duration"] == 20 * 10 ** 6)
		why = {key[9:-3]: value // 10 ** 6 for key, value in long["attributes"].items()
		       if key.startswith("elog.why.")}
		assert why.pop("thread_time") == sum(why.values()) == 33, why
		assert why["futex"] == 10 and why["disk"] == 8 and why["sleep"] == 1, why
		inner, = (span for span in spans if span["name"] == "query")
		ended, = (span for span in spans if span["duration"] == 10 * 10 ** 6)
		assert inner["links"] == [ended["span"], inner["span"]], inner
		web, = (span for span in spans if span["duration"] == 5 * 10 ** 6)
		assert web["attributes"]["elog.why.futex_ns"] == 2 * 10 ** 6, web
	END
}

# All of a session is one trace, and the START and the END of a span name it.
traces_are_sessions()
{
	send 2 ok spans.elog && read_back ok json || { cat found; return 1; }
	[ "$(selected '[.[] | select(.attributes."eventlog.session" == "0x1").trace] |
		unique | length')" = 1 ] &&
		[ "$(selected '[.[] | select(.attributes."eventlog.session").trace] |
			unique | length')" = 9 ] &&
		[ "$(selected '[.[] | select(.attributes."eventlog.session" | not).trace] |
			unique')" = '[""]' ] &&
		[ "$(selected '[.[] | select(.name == "request" and .attributes.id == 10).span] as $span |
			[.[] | select(.log and .span == $span[0]).log]')" = '["request_start","request_end"]' ] ||
		return 1
	cp found before
	# The ids are the same each time.
	send 2 ok spans.elog && read_back ok json && diff before found
}

losses_are_records()
{
	[ "$(jq -c 'select(.resource."service.name" == "eventlog") |
		[.log, .severity, .attributes]' before)" = \
'["lost",13,{"cpu.logical_number":1,"count":7,"guard":3,"nested":4}]
["invalid records",13,{"cpu.logical_number":1,"count":0,"invalid":9}]' ]
}

values_have_types()
{
	send 0 ok types.elog && read_back ok json || return 1
	[ "$(jq -c 'select(.log == "typed") | [.severity, (.attributes | .a, .b, .c, .d, .e, .g,
		.i, .k, .n, .o, .p, .q, ."eventlog.session")]' found | head -n 1)" = \
'[13,171,"18446744073709551615",-300,true,"four","café","192.0.2.1",8080,2000,"0x8000000000000001","LOW","FIRST|SECOND","0xffffffffffffffff"]' ] &&
		[ "$(jq -c 'select(.log == "?").attributes.payload' found)" = '"0102"' ] ||
		{ cat found; return 1; }
	python3 "$here/export_file.py" decoded decoded.elog &&
		send 0 ok decoded.elog && read_back ok json || return 1
	[ "$(jq -c '.attributes | [.price, .at]' found)" = '[2.5,-1000]' ] || { cat found; return 1; }
}

ids_of_programs_are_kept()
{
	python3 "$here/export_file.py" traces traces.elog &&
		send 0 ok traces.elog && read_back ok json || return 1
	[ "$(selected '[.[] | [.name // .log, .parent // .span]]')" = \
'[["work_start","a0a1a2a3a4a5a6a7"],["work_end","b0b1b2b3b4b5b6b7"],["work","a0a1a2a3a4a5a6a7"]]' ] &&
		[ "$(selected '[.[].trace] | unique')" = '["000102030405060708090a0b0c0d0e0f"]' ] &&
		[ "$(selected '[.[] | select(.name) | .attributes | [.note, .bytes]]')" = '[["second",7]]' ] ||
		{ cat found; return 1; }
}

# A span is in the trace of its parent, and a log record in the span of its session.
spans_have_parents()
{
	python3 "$here/export_file.py" nested nested.elog &&
		send 0 ok nested.elog && read_back ok json || return 1
	[ "$(selected '[.[] | select(.name)] as $spans | [$spans | sort_by(.time)[] | . as $span |
		[.name, ($spans[] | select(.span == $span.parent and .trace == $span.trace).name) // "-"]]')" = \
		'[["request","-"],["query","request"],["statement","query"],["lock","statement"],["request","-"],["query","-"],["request","-"],["request","-"],["statement","-"],["query","request"],["request","-"],["statement","-"],["statement","-"]]' ] &&
		[ "$(selected '[.[] | select(.name).parent] | unique | length')" = 5 ] &&
		[ "$(selected '(.[] | select(.log == "note")) as $note |
			[.[] | select(.name and .span == $note.span and .trace == $note.trace).name]')" = '["query"]' ] &&
		[ "$(selected '[.[] | select(.attributes."eventlog.session" == "0x4d").trace] +
			[.[] | select(.attributes."eventlog.session" == "0x1").trace] | unique | length')" = 1 ] ||
		{ cat found; return 1; }
}

# Each type at its bounds, odd names and odd texts.
values_are_true()
{
	local file

	for file in bounds odd; do
		send 0 ok $file.elog && read_back ok json && is_true $file.elog attributes found || return 1
	done
}

# A process that executes another program, and a number that is used again, have another resource.
processes_keep_their_names()
{
	send 0 ok renamed.elog && read_back ok json || return 1
	[ "$(selected 'map([.attributes.n, .attributes."thread.name", .resource."process.pid",
		.resource."process.executable.name"]) | sort')" = \
		'[[1,"worker",90,"old"],[2,"bash",200,"bash"],[3,"pool",300,"java"],[4,"new",100,"new"],[5,"server",200,"server"],[6,"http",300,"java"],[7,":100",90,"old"]]' ] ||
		{ cat found; return 1; }
}

# Not inside of a span of the thread that had its number before; and of the process that began it.
spans_stay_with_their_process()
{
	python3 "$here/export_file.py" reused reused.elog && send 0 ok reused.elog &&
		read_back ok json || return 1
	[ "$(selected '[.[] | select(.name) | [.name, .parent, .resource."process.pid",
		.resource."process.executable.name"]] | unique')" = \
		'[["query","",100,"new"],["request","",90,"old"]]' ] ||
		{ cat found; return 1; }
}

# A query that begins or ends with its request is inside of it.
equal_times_have_parents()
{
	send 0 ok equal.elog && read_back ok json || return 1
	[ "$(selected '[.[] | select(.name)] as $spans | [$spans[] | . as $span | .name + " " +
		([$spans[] | select(.span == $span.parent).name][0] // "-")] | unique')" = \
		'["query -","query request","request -"]' ] &&
		[ "$(selected '[.[] | select(.name).span] | length - (unique | length)')" = 0 ] ||
		{ cat found; return 1; }
}

# Before 1970 there is no time.
early_times_are_unknown()
{
	send 0 ok early.elog || return 1
	node "$here/otlp_read.cjs" "$readers" got/ok json > found 2> node.log
	grep -q 'a log record is empty' found
}

# A session of an instance is a trace of its own, and its losses say whose they are.
instances_have_traces()
{
	python3 "$here/export_file.py" instances instances.elog &&
		send 2 ok instances.elog && read_back ok json || return 1
	[ "$(selected '[.[] | select(.resource."service.name" == "shop" and .log)] |
		group_by(.trace) | map([.[].attributes."eventlog.instance"] | unique) | sort')" = \
		'[[null],["db"],["web"]]' ] &&
		[ "$(selected '[.[] | select(.log == "lost").attributes |
			[."eventlog.instance", .count]]')" = '[["web",3],["db",4]]' ] ||
		{ cat found; return 1; }
}

while read -r function name; do
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		check "$name" "$function"
	fi
done <<'TESTS'
receivers_get_all OpenTelemetry's decoder finds all
records_have_resources records have a host, a boot and a process
traces_are_sessions a trace is a session
losses_are_records losses are log records
values_have_types fields keep their types
values_are_true values, names and texts are those of elog show
processes_keep_their_names processes keep their names
spans_stay_with_their_process spans are of the process that began them
equal_times_have_parents equal times have parents
early_times_are_unknown times before 1970 are not known
ids_of_programs_are_kept the ids of programs are kept
spans_have_parents spans have parents, and log records have spans
spans_have_waits spans have what threads waited for
spans_have_sums spans have sums, which come late
spans_are_deep spans that are very deep lack times
spans_have_several_threads spans have threads that work at the same time
instances_have_traces instances have traces and losses of their own
TESTS
end_checks
