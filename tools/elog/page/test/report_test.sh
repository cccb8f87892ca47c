#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# report_test - tests elog report: what is in the page equals what other verbs print, and the
# page works in Chromium. Prints TAP.
#
# EVENTLOG_TOOLS is the build directory of make -C tools (default: build/tools). Screenshots
# and the packages of npm are kept in build/report.
set -eu

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../../.." && pwd -P)
tools=${EVENTLOG_TOOLS:-$top/build/tools}
output=$top/build/report
puppeteer="puppeteer-core@23.11.1"
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
PATH=$tools:$PATH
export PATH LC_ALL=C.UTF-8 TZ=Asia/Kolkata

# The first python3 in PATH may be a wrapper.
python=$(python3 -c 'import sys; print(sys.executable)')
mkdir -p "$work/files"
LD_LIBRARY_PATH=$tools PYTHONPATH=$top/tools/python:$top/tools/python/tests \
	PYTHONDONTWRITEBYTECODE=1 "$python" "$here/report_files.py" "$work/files"
cd "$work/files"

# makes STATUS PAGE ARGUMENT...: elog report exits with this status, and writes a whole page
# without saying more than a summary.
makes()
{
	expected=$1 page=$2 status=0
	shift 2
	elog report "$@" -o "$page" 2> "$work/said" || status=$?
	cat "$work/said"
	[ "$status" = "$expected" ] || { echo "exits with $status"; return 1; }
	[ "$(tail -n 1 "$page")" = "</html>" ] || { echo "the page has no end"; return 1; }
}

# agrees STATUS FILE CHECK...: the page of a file agrees with the commands in it.
agrees()
{
	status=$1 file=$2
	shift 2
	makes "$status" "$file.html" "$file.elog" &&
	"$python" "$here/report_data.py" "$file.html" "$@"
}

selections_agree()
{
	for selection in '-e web' '-e web/request_* -l info' '-p 400' '-C 1' '-s 0x1003 -s 0x1006' \
			 '-f size>300' '--since +1s' '--until +1.5s' '--since +0.5s --until +2s' \
			 '-l warning' '-t 77'; do
		shown=0
		# shellcheck disable=SC2086 # several words
		elog show -q $selection normal.elog > "$work/shown" || shown=$?
		# shellcheck disable=SC2086 # several words
		makes $shown selected.html $selection normal.elog &&
		"$python" "$here/report_data.py" selected.html "selection != ''" ||
			{ echo "with $selection"; return 1; }
	done
}

chosen_spans_agree()
{
	makes 2 spans.html --span web/query_begin:web/request_end --span 'request_s*:query_e*' \
		normal.elog &&
	"$python" "$here/report_data.py" spans.html 'len(spans) == 2' \
		'spans[0]["name"] == "request_s*:query_e*"' \
		'spans[1]["name"] == "web/query_begin:web/request_end"' &&
	makes 2 by.html --by pid normal.elog &&
	"$python" "$here/report_data.py" by.html 'spans[0]["pairs"] > 10'
}

several_files_agree()
{
	makes 2 several.html normal.elog more.elog &&
	"$python" "$here/report_data.py" several.html 'len(files) == 2'
}

kinds_agree()
{
	agrees 0 kinds '{span["name"]: span["pairs"] for span in spans} == {"cpp/request": 60,
			"cpp/flush": 22, "cpp/job": 9, "cpp/job:job_failed": 5, "cpp/alone": 0}' \
		'len({span["command"] for span in spans}) == 5' \
		'[(span["starts"], span["ends"]) for span in spans if span["pairs"] < 6] == [(18, 6), (1, 1)]'
}

# A session of an instance is not that of the root or of another one, with the same number.
instances_agree()
{
	LD_LIBRARY_PATH=$tools "$python" "$here/../../export/export_file.py" \
		instances instances.elog &&
	agrees 2 instances 'events == 9' 'lost == 7' 'spans[0]["pairs"] == 3' \
		'[slow.get("instance") for slow in spans[0]["slowest"]] == [None, "web", "db"]' \
		'{len(slow["events"]) for slow in spans[0]["slowest"]} == {3}' \
		'[(i["instance"], i["events"], i["lost"]) for i in instances] == [("", 3, 0), ("web", 3, 3), ("db", 3, 4)]'
}

# A number that is used again, and another name: another process. Only a name that was not known
# before is that of the earlier events, too.
processes_are_apart()
{
	LD_LIBRARY_PATH=$tools "$python" "$here/../../export/export_file.py" reused reused.elog &&
	agrees 0 reused \
		'[[row["pid"], row["name"], row["events"]] for row in processes] == [[100, "new", 6],
			[90, "a\\x01", 3], [300, "java", 2], [90, "a\\x02", 1], [90, "old", 1],
			[300, "perl", 1]]' \
		'[slow["thread"] for span in spans for slow in span["slowest"]] == [
			"new 100", "new 100", "worker 100"]' || return 1
	elog stat -q --by pid --format prometheus reused.elog > "$work/metrics"
	[ "$(grep -c '^eventlog_events_total{' "$work/metrics")" = 6 ] &&
	[ "$(sed 's/ [0-9]*$//' "$work/metrics" | sort | uniq -d)" = '' ] &&
	elog latency -q --by tid shop/request_start shop/request_end reused.elog > "$work/pairs"
	grep -q '^0 pairs' "$work/pairs"
}

# Of spans that take the same time, the first ones are the slowest.
ties_have_an_order()
{
	LD_LIBRARY_PATH=$tools "$python" "$here/../../export/export_file.py" ties ties.elog &&
	agrees 0 ties '[span["name"] for span in spans] == ["shop/query", "shop/request"]' \
		'[slow["session"] for slow in spans[0]["slowest"]] == [
			hex(n) for n in (41, *range(1, 28, 2))]'
}

count_ends()
{
	makes 0 count.html -n 10 normal.elog &&
	"$python" - count.html <<-'END'
		import json, re, sys
		data = json.loads(re.search(r'id="data">\n(.*?)\n</script>',
		                            open(sys.argv[1]).read(), re.S)[1])
		listed = sum(len(slow["events"]) for span in data["spans"]
		             for slow in span["slowest"])
		sys.exit(data["events"] != 10 or listed > 20)
	END
}

times_are_universal()
{
	TZ=EET-2 makes 2 utc.html --time utc normal.elog &&
	TZ=UTC makes 2 same.html normal.elog &&
	TZ=EET-2 makes 2 east.html normal.elog &&
	grep -q '"zone":"+00:00"' utc.html &&
	grep -q '"zone":"+02:00"' east.html &&
	[ "$(grep -o '"start":"[^"]*' utc.html)" = "$(grep -o '"start":"[^"]*' same.html)Z" ] &&
	[ "$(grep -o '"day_ns":[0-9]*' utc.html)" = "$(grep -o '"day_ns":[0-9]*' same.html)" ] &&
	elog report --time mono normal.elog -o no.html 2>&1 |
		grep -q "'mono': must be one of wall, utc"
}

reads_stdin()
{
	elog report -q - -o - < normal.elog > stdin.html || [ $? = 2 ] || return 1
	"$python" "$here/report_data.py" stdin.html 'not listed' 'events > 1000' \
		'commands["show"] is None' 'not spans[0]["slowest"][0]["events"]' &&
	elog report -q normal.elog | head -c 1000 > /dev/null
}

# Names of files, events and threads are text, in the page and in its commands.
hostile_names_agree()
{
	agrees 0 hostile 'events == 80' 'len(spans) == 2' &&
	makes 2 named.html "x'<b>
\$(touch owned).elog" &&
	"$python" "$here/report_data.py" named.html 'events > 1000' &&
	[ ! -e owned ]
}

damage_is_reported()
{
	agrees 1 torn 'len(damage) == 1' 'events > 100' &&
	grep -q 'torn.elog' "$work/said" &&
	agrees 1 damaged 'len(damage) >= 1' 'events > 100' &&
	[ "$(grep -c 'elog report: damaged.elog' "$work/said")" -ge 1 ] &&
	[ "$(sort "$work/said" | uniq -d | wc -l)" = 0 ]
}

small_files_agree()
{
	agrees 0 none 'events == 0' 'not spans' 'time["bins"] == 0' &&
	agrees 0 one 'events == 1' 'time["span"] == 0' &&
	agrees 2 loss 'events == 0' 'lost == 2 ** 40' 'len(losses) == 1' &&
	agrees 0 invalid 'lost == 0' 'invalid == 3' 'not losses' 'spans[0]["pairs"] == 1' &&
	agrees 0 nospan 'events == 50' 'not spans' &&
	agrees 0 steps 'events == 10' '3.9e12 < time["span"] < 4.1e12' &&
	agrees 0 wide 'events == 2' &&
	agrees 0 extreme 'len(spans) == 2'
}

# Of a wait, the part between START and END counts; and sums count, also those that come late.
waits_of_sessions_agree()
{
	agrees 0 waits 'spans[0]["slowest"][0]["latency"] == 50 * 10 ** 6' \
		'spans[0]["slowest"][0]["waits"] == {"runnable": 10 ** 6, "preempted": 7 * 10 ** 6,
			"futex": 5 * 10 ** 6, "disk": 29 * 10 ** 6}' \
		'spans[0]["slowest"][0]["thread_time"] == 50 * 10 ** 6' \
		'spans[0]["slowest"][1]["waits"] == {"futex": 6 * 10 ** 6, "disk": 8 * 10 ** 6}' \
		'spans[0]["slowest"][1]["thread_time"] == 18 * 10 ** 6' \
		'spans[0]["slowest"][2]["waits"] == {"futex": 400000}' \
		'"waits" not in spans[0]["slowest"][3]' || return 1
	# What ends when a span begins or ends.
	LD_LIBRARY_PATH=$tools "$python" "$here/../../output/why_file.py" edge edge.elog &&
	agrees 0 edge '[slow.get("waits") for slow in spans[0]["slowest"]] == [
		{"futex": 10 ** 7}, None, {"runnable": 10 ** 6, "disk": 4 * 10 ** 6}]'
}

long_sessions_are_cut()
{
	agrees 0 long 'len(spans[0]["slowest"][0]["events"]) == 80' \
		'spans[0]["slowest"][0]["before"] == 270' 'spans[0]["slowest"][0]["after"] == 252' \
		'spans[0]["slowest"][0]["events"][30][0] == 0' \
		'len(spans[0]["slowest"][0]["events"][0][5]) < 410'
}

refuses()
{
	reason=$1
	shift
	if elog report "$@" > "$work/out" 2> "$work/said"; then
		echo "accepts $*"
		return 1
	fi
	cat "$work/said"
	[ ! -s "$work/out" ] && grep -q "$reason" "$work/said"
}

mistakes_are_named()
{
	cp normal.elog input.elog
	echo text > page.txt
	refuses 'FILE is missing' &&
	refuses 'input file' input.elog -o input.elog && cmp normal.elog input.elog &&
	refuses 'No such file' missing.elog -o missing.html && [ ! -e missing.html ] &&
	refuses 'not a file of elog' page.txt -o text.html && [ ! -e text.html ] &&
	refuses 'START:END' --span x normal.elog -o x.html &&
	refuses 'no option' --slowest 3 normal.elog -o x.html &&
	refuses "no event 'web/nothing'" -e web/nothing normal.elog -o unknown.html
}

# The page is as it was, and no other file stays.
full_disk_changes_nothing()
{
	refuses 'No space left' normal.elog -o /dev/full || return 1
	if elog report -q normal.elog > /dev/full; then
		return 1
	fi
	mkdir small
	echo old > small/page.html
	refuses 'File too large\|No such file\|Permission\|denied' normal.elog \
		-o missing/page.html || return 1
	(ulimit -f 8; trap '' XFSZ
	 refuses 'File too large' normal.elog -o small/page.html) &&
	[ "$(cat small/page.html)" = old ] && [ "$(ls small)" = page.html ]
}

memory_is_bounded()
{
	"$python" - <<-'END'
		import resource, subprocess, sys
		subprocess.run(["elog", "report", "-q", "normal.elog", "-o", "memory.html"])
		most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		print(most, "KiB")
		sys.exit(most > 64 * 1024)
	END
}

# Only the folder's own packages: no lock file, and nothing that a package brings runs.
install_puppeteer()
{
	[ ! -d "$output/node_modules/puppeteer-core" ] || return 0
	mkdir -p "$output"
	echo '{ "private": true }' > "$output/package.json"
	npm install --prefix "$output" --no-package-lock --no-audit --no-fund --ignore-scripts \
		"$puppeteer" > "$output/npm.log" 2>&1
}

browse()
{
	timeout 900 node "$here/report_browser.cjs" "$output" "$browser" "$output" \
		"$work/files/normal.html" "$work/files/hostile.html" "$work/files/none.html" \
		"$work/files/one.html" "$work/files/loss.html" "$work/files/nospan.html" \
		"$work/files/wide.html" "$work/files/extreme.html" "$work/files/torn.html" \
		"$work/files/stdin.html" "$work/files/waits.html"
}

browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name || :)
done

vendored_files_are_unchanged()
{
	sed -n '/^[0-9a-f]\{64\}  /p' "$top/tools/vendor/uplot/README" > "$work/sums"
	[ "$(wc -l < "$work/sums")" = 3 ] &&
	(cd "$top/tools/vendor/uplot" && sha256sum -c "$work/sums")
}

check "uPlot's files are those of its package" vendored_files_are_unchanged
check "a page equals what elog stat, latency and show print" agrees 2 normal 'len(spans) == 2' \
	'len(losses) == 2' 'time["zone"] == "+05:30"'
check "so does one with a selection" selections_agree
check "so does one with --span and --by" chosen_spans_agree
check "so does one of several files" several_files_agree
check "so does one of a provider with several pairs by attribute" kinds_agree
check "instances have sessions and losses of their own" instances_agree
check "a process whose name changes is another one" processes_are_apart
check "spans that take the same time have an order" ties_have_an_order
check "-n ends the page, too" count_ends
check "--time utc shows universal time" times_are_universal
check "the standard input has no commands" reads_stdin
check "names and strings of a file are only text" hostile_names_agree
check "damage is reported once, and in the page" damage_is_reported
check "few events, or none, make a page" small_files_agree
check "of a session it shows what it waited for" waits_of_sessions_agree
check "of a long session some events are listed" long_sessions_are_cut
check "mistakes are named" mistakes_are_named
check "a full disk leaves the file as it was" full_disk_changes_nothing
check "the page takes at most 64 MiB" memory_is_bounded
name="Chromium shows the pages, requests nothing and reports no error"
if [ -z "$browser" ]; then
	skip "$name" "there is no Chromium"
elif ! command -v npm > /dev/null || ! command -v node > /dev/null; then
	skip "$name" "there is no npm"
elif ! install_puppeteer; then
	skip "$name" "npm cannot install $puppeteer"
else
	check "$name" browse
fi
end_checks
