#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# babeltrace2_test - babeltrace2, its plugins and its Python bindings find in files of
# events, and in the traces that they make of them, what elog finds. Prints TAP.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"

skip_all()
{
	echo "1..0 # SKIP $1"
	exit
}

command -v babeltrace2 > /dev/null || skip_all 'there is no babeltrace2'
[ -e "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" ] ||
	skip_all 'the plugin was not built: libbabeltrace2-dev is missing'
python=
for name in /usr/bin/python3 python3; do
	[ -n "$python" ] || ! "$name" -c 'import bt2' 2> /dev/null || python=$name
done
[ -n "$python" ] || skip_all 'Python has no module bt2'

# babeltrace2 looks at all files in the directory, but not at links.
mkdir plugins
cp "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" plugins
export BABELTRACE_PLUGIN_PATH=$work/plugins
generator=$top/tools/elog/export/export_file.py
for file in spans types names instances; do
	"$python" "$generator" "$file" "$file.elog" || exit 1
done
"$python" "$generator" many many.elog 3000 || exit 1

reader()
{
	"$python" "$here/babeltrace2_test.py" "$@"
}

# lines FILE: what elog finds, one line for each event and loss.
lines()
{
	"$elog" export -q --format jsonl -o "$1.jsonl" "$1" || [ $? = 2 ]
}

# fails MESSAGE ARGUMENT...
fails()
{
	local message=$1

	shift
	if babeltrace2 "$@" > stdout 2> stderr || ! grep -qF -- "$message" stderr; then
		echo "babeltrace2 $*: no '$message'"
		cat stderr
		return 1
	fi
}

refuses_wrong_usage()
{
	local source='-c source.elog.file'

	# shellcheck disable=SC2086 # several words
	fails 'inputs: must be an array' $source &&
		fails 'inputs: must be an array' $source --params='inputs=[]' &&
		fails 'inputs: must be an array' $source --params='inputs=[1]' &&
		fails 'the parameters are inputs' $source --params='inputs=["spans.elog"],x=1' &&
		fails 'filter: must be a string' $source --params='inputs=["spans.elog"],filter=1' &&
		fails 'filter: column 8: ' $source --params='inputs=["spans.elog"],filter="bytes >"' &&
		fails 'since: must be' $source --params='inputs=["spans.elog"],since=-1' &&
		fails 'none.elog: No such file' $source --params='inputs=["none.elog"]' &&
		fails 'not a file of elog' $source --params="inputs=[\"$here/plugin.h\"]" &&
		fails 'No trace was found' "$here" &&
		fails 'type and input: must be' query source.elog.file babeltrace.support-info
}

# Several files on the command line are one component.
finds_files()
{
	babeltrace2 query source.elog.file babeltrace.support-info \
		--params='type="file",input="spans.elog"' > found || return 1
	grep -q 'weight: 1' found && grep -q 'group: elog' found || return 1
	mkdir -p folder && cp spans.elog many.elog folder
	[ "$(babeltrace2 many.elog types.elog 2> /dev/null | wc -l)" = 6004 ] &&
		[ "$(babeltrace2 folder 2> /dev/null | wc -l)" = 6023 ] &&
		babeltrace2 many.elog types.elog 2> /dev/null | sed 's/^\[\([^]]*\).*/\1/' | sort -c
}

finds_what_elog_finds()
{
	local file

	for file in spans many types instances; do
		lines $file.elog && reader same $file.elog $file.elog.jsonl $file.elog || return 1
	done
	[ "$(reader count spans.elog)" = "$("$elog" stat -q --format json spans.elog |
		jq -rs 'map(select(.provider)) | "\(map(.events) | add)"') 7" ]
}

# An instance has streams of its own, so a loss says whose it is; CTF keeps all of them.
instances_have_streams()
{
	rm -rf ctf
	babeltrace2 instances.elog -o ctf -w ctf 2> stderr || { cat stderr; return 1; }
	for input in instances.elog ctf; do
		babeltrace2 "$input" > found 2> stderr || { cat stderr; return 1; }
		[ "$(grep -c 'instance = "web"' found)" = 3 ] && [ "$(grep -c 'instance = ""' found)" = 3 ] &&
			[ "$(grep -c 'cpu_id = 1 ' found)" = 9 ] || { cat found; return 1; }
		[ "$(sed -n 's/.* discarded \([0-9]*\) event.* stream "\([^"]*\)".*/\1 \2/p' stderr |
			sed 's,[^ ]*/,,' | sort | xargs)" = "3 cpu1-web 4 cpu1-db" ] || { cat stderr; return 1; }
	done
}

# The number that elog counts, and a sum.
sums_are_equal()
{
	babeltrace2 many.elog | sed -n 's/.* bytes = \([0-9]*\),.*/\1/p' |
		awk '{ sum += $1 } END { print NR, sum }' > found
	"$elog" show -q --fields bytes many.elog | sed -n 's/^bytes=//p' |
		awk '{ sum += $1 } END { print NR, sum }' | diff - found
}

text_is_readable()
{
	babeltrace2 types.elog > text 2> stderr || return 1
	for part in ' all:typed: { cpu_id = 1 }, { session = 0xFFFFFFFFFFFFFFFF, keywords = 0x102,' \
		'pid = 100, tid = 101, procname = "worker", instance = "" }' ' a = 0xAB, ' ' c = -300, d = true, ' \
		'f = [ [0] = 0x1, [1] = 0x2, [2] = 0x3 ], g = "café", ' ' i = "192.0.2.1", ' \
		' p = ( "LOW" : container = -2 ), ' ' ?:?: '; do
		grep -qF -- "$part" text || { echo "$part"; cat text; return 1; }
	done
	grep -q 'types.elog: all/typed at 4000 ns: fields are missing or invalid' stderr || return 1
	# The CPU of the second event is not known.
	[ "$(sed -n 2p text | grep -c cpu_id)" = 0 ] || return 1
	babeltrace2 spans.elog 2>&1 > text | grep -q 'Tracer discarded 7 events between .* "cpu1"'
}

# What sink.ctf.fs writes is what it was made from.
traces_in_ctf_are_equal()
{
	local file

	for file in spans many types; do
		babeltrace2 $file.elog -o ctf -w $file.ctf > stdout 2> stderr || {
			cat stderr
			return 1
		}
		reader same $file.elog $file.elog.jsonl $file.ctf || return 1
	done
	babeltrace2 spans.ctf 2>&1 > text | grep -q 'Tracer discarded 7 events between' || return 1
	# Names that C or CTF reserve.
	reader write names reserved.elog && babeltrace2 reserved.elog -o ctf -w reserved.ctf > stdout &&
		babeltrace2 reserved.elog > text && babeltrace2 reserved.ctf > text2 || return 1
	grep -q 'a b"c:x/y:z: .* int = 2, struct = 3, _a = 4' text &&
		grep -q 'shop:empty: .* e = ( "BIG" : container = 300 )' text &&
		[ "$(sed 's/__b_len = 0, //' text2 | sed 's/ reserved.ctf//' | wc -l)" = "$(wc -l < text)" ]
}

# Records that have their definitions: CTF 1.8 has no optional fields, but variants.
records_are_decoded()
{
	reader write decoded decoded.elog && lines decoded.elog || return 1
	babeltrace2 decoded.elog > text 2> stderr || return 1
	for part in ' Shop:Order: ' ' item_a_b = "tea", item_x = ( "true" : container = 1 ), ' \
		'item_x = ( <unknown> : container = 255 )' ' price = 2.5, at = "1969-12-31T23:43:20Z"' \
		' n = { 200 }, s = { -2 }, x = { 0xABCD }, ' ' n = <none>, s = <none>, x = <none>, '; do
		grep -qF -- "$part" text || { echo "$part"; cat text; return 1; }
	done
	! grep eventheader_flags text || return 1
	babeltrace2 decoded.elog -o ctf -w decoded.ctf > stdout 2> stderr || { cat stderr; return 1; }
	reader decoded decoded.elog.jsonl decoded.elog && reader decoded decoded.elog.jsonl decoded.ctf &&
		[ "$(reader count decoded.elog 'price > 2 && item.x == true')" = '3 0' ] &&
		[ "$(reader count decoded.elog 'n < 10')" = '1 0' ]
}

# A trace of LTTng begins in the middle of the file, and each of its events is between two.
traces_of_lttng_are_merged()
{
	local from

	from=$(babeltrace2 --clock-gmt --clock-seconds --no-delta many.elog |
		sed -n '3000s/^\[\([0-9]*\)\.\([0-9]*\)\].*/\1\2/p')
	reader lttng kernel $((10#$from + 500)) 1000 100 &&
		babeltrace2 kernel many.elog > text || return 1
	[ "$(wc -l < text)" = 6100 ] && sed 's/^\[\([^]]*\).*/\1/' text | sort -c || return 1
	[ "$(sed -n '2999,3003p' text | sed 's/.*\(sched_switch\|shop\):.*/\1/' | tr '\n' ' ')" = \
		'shop shop sched_switch shop sched_switch ' ] || {
		sed -n 2995,3005p text
		return 1
	}
	# Both in one trace of CTF.
	babeltrace2 kernel many.elog -o ctf -w both.ctf > stdout &&
		[ "$(babeltrace2 both.ctf | wc -l)" = 6100 ]
}

parameters_select()
{
	local from

	from=$("$elog" export -q --format jsonl many.elog | jq -s '.[4000].mono')
	[ "$(reader count spans.elog 'bytes > 2500')" = '4 7' ] &&
		[ "$(reader count types.elog 'comm == worker')" = '2 0' ] &&
		[ "$(reader count spans.elog 'none == 1')" = '0 7' ] || return 1
	from=$(babeltrace2 --clock-seconds --no-delta many.elog |
		sed -n '4001s/^\[\([0-9]*\)\.\([0-9]*\)\].*/\1\2/p')
	[ "$(reader count many.elog '' "$from")" = '2000 0' ] || return 1
	from=${from:0:-9}.${from: -9}
	[ "$(babeltrace2 --clock-seconds --begin "$from" many.elog | wc -l)" = 2000 ] &&
		[ "$(babeltrace2 --clock-seconds --end "$from" many.elog | wc -l)" = 4001 ]
}

damage_is_reported()
{
	local size

	size=$(stat -c %s many.elog)
	head -c $((size * 2 / 3)) many.elog > torn.elog
	cp many.elog damaged.elog
	printf 'damage' | dd of=damaged.elog bs=1 seek=$((size / 2)) conv=notrunc status=none
	for file in torn damaged; do
		babeltrace2 $file.elog > text 2> stderr || return 1
		grep -q "^source.elog.file: $file.elog: .* byte [0-9]" stderr &&
			[ "$(wc -l < text)" -gt 1000 ] &&
			[ "$(wc -l < text)" = "$("$elog" show -q $file.elog 2> /dev/null | wc -l)" ] ||
			return 1
	done
	babeltrace2 --log-level=ERROR torn.elog 2> stderr > text && [ ! -s stderr ]
}

any_damage_is_harmless()
{
	reader write small small.elog && reader cut small.elog cut.elog &&
		reader change spans.elog changed.elog && reader change decoded.elog changed.elog
}

# Clocks that no machine has; more kinds of events than a file may have; large payloads.
hostile_files_are_read()
{
	reader write times times.elog && [ "$(reader count times.elog)" = '4 0' ] || return 1
	reader write kinds kinds.elog && ! babeltrace2 kinds.elog > text 2> stderr || return 1
	grep -q 'kinds.elog: more than 4096 kinds of events' stderr && [ "$(wc -l < text)" = 4096 ] ||
		return 1
	# A second capture that begins before the end of the first one.
	cat many.elog spans.elog many.elog > three.elog
	babeltrace2 three.elog > text 2> stderr && [ "$(wc -l < text)" = 12023 ] &&
		sed 's/^\[\([^]]*\).*/\1/' text | sort -c &&
		[ "$(grep -c 'three.elog: a capture in it begins before' stderr)" = 2 ]
}

memory_is_bounded()
{
	local i

	reader write large large.elog || return 1
	for ((i = 0; i < 100; i++)); do
		cat many.elog
	done > repeated.elog
	"$python" - <<-'CODE'
		import resource, subprocess
		for path in ("repeated.elog", "large.elog"):
		    subprocess.run(["babeltrace2", path, "-c", "sink.utils.counter"], check=True,
		                   stdout=open(path + ".count", "w"), stderr=subprocess.DEVNULL)
		    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		    assert most < 65536, (path, most)
	CODE
	grep -q '  *600000 Event' repeated.elog.count && grep -q '  *200 Event' large.elog.count
}

readers_may_leave()
{
	reader leave many.elog && reader leave spans.elog
}

check 'wrong usage gives the reason' refuses_wrong_usage
check 'babeltrace2 finds files by itself' finds_files
check 'all events, fields, times and losses are those of elog' finds_what_elog_finds
check 'instances have streams' instances_have_streams
check 'numbers and sums are equal' sums_are_equal
check 'text is readable' text_is_readable
check 'traces in CTF have the same events and losses' traces_in_ctf_are_equal
check 'records that describe their fields are decoded' records_are_decoded
check 'traces of LTTng are merged by time' traces_of_lttng_are_merged
check 'parameters select' parameters_select
check 'damage is reported with its position' damage_is_reported
check 'damage anywhere is harmless' any_damage_is_harmless
check 'hostile files are read' hostile_files_are_read
check 'memory is bounded' memory_is_bounded
check 'readers may leave early, or begin again' readers_may_leave
end_checks
