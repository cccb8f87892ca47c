#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# why_test - elog why reads files with long chains, sums, losses and lies. Prints TAP. What the
# module records is tested in selftests/why.bats.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"

for kind in chain wrong sums late lost other crowd stacks spans threads idle silent kinds \
	failures half; do
	python3 "$here/why_file.py" "$kind" "$kind.elog" || exit 1
done
python3 "$here/why_file.py" machine one.elog one boot-1 5 &&
	python3 "$here/why_file.py" machine two.elog two boot-2 10 &&
	python3 "$here/why_file.py" machine later.elog one boot-3 10 || exit 1
cat later.elog one.elog > boots.elog
python3 "$here/why_file.py" silent heard.elog sched &&
	python3 "$here/why_file.py" many many.elog 70 || exit 1

# why STATUS ARGUMENT...: stdout and stderr are files.
why()
{
	local status=$1 result=0

	shift
	"$elog" why "$@" > stdout 2> stderr || result=$?
	if [ "$result" != "$status" ] || grep -q 'runtime error\|Sanitizer' stderr; then
		echo "status $result, not $status: $*"
		cat stderr
		return 1
	fi
}

# says TEXT: a line of the output starts with it.
says()
{
	grep -q "^$1" stdout || { echo "no '$1' in:"; cat stdout; return 1; }
}

follows_eight_holders()
{
	why 0 1 chain.elog && says 'shop 0x1  21.00 ms' &&
		says '  futex          19.00 ms  90.5 %  .*; released by holder-1 101 (shop 0xb)$' &&
		says '  runnable        1.00 ms   4.8 %$' &&
		[ "$(grep -c meanwhile stdout)" = 8 ] &&
		says ' *holder-8 108 (shop 0x12) meanwhile: futex 14.01 ms' || return 1
	why 0 --format json shop:1 chain.elog &&
		python3 -c 'import json
lines = [json.loads(line) for line in open("stdout")]
assert sum(line["time"] for line in lines[1:]) == lines[0]["wall"] == 21000000, lines
wakers = next(line["wakers"] for line in lines[1:] if line["part"] == "futex")
holders = wakers[0]["holders"]
assert [h["name"] for h in holders] == ["holder-%d" % i for i in range(1, 9)], holders
assert all(h["futex"] <= h["length"] for h in holders), holders'
}

# The culprit is often a thread of the background.
names_a_holder_without_a_session()
{
	why 0 1 idle.elog && says ' \{37\}worker 101 (shop 0xb) meanwhile: futex 15.00 ms' &&
		says ' \{37\}released by compactor 102 (works on no session)$' &&
		[ "$(grep -c 'works on no session' stdout)" = 1 ] || return 1
	why 0 --format json 1 idle.elog && python3 -c 'import json
parts = {line["part"]: line for line in map(json.loads, open("stdout")) if "part" in line}
worker, compactor = parts["futex"]["wakers"][0]["holders"]
assert (compactor["name"], compactor["tid"], compactor["session"], compactor["ended"]) == (
    "compactor", 102, None, "futex"), compactor
assert "on_cpu" in worker and "on_cpu" not in compactor, worker
assert parts["disk"]["wakers"][0]["holders"] == [], parts'
}

# Without a wait, a session may have been on a CPU, or no thread said that it works on it.
says_what_is_unknown()
{
	local pair='request_start request_end'

	why 1 -q 1 silent.elog && says '  unknown        10.00 ms 100.0 %$' &&
		! grep -q CPU stdout &&
		grep -q 'elog why: no event of the provider sched: load eventlog_sched' stderr &&
		why 1 --format json 1 silent.elog && grep -q '"part":"unknown","time":10000000' stdout &&
		! grep -q CPU stdout || return 1
	why 0 1 heard.elog && says '  unknown        10.00 ms 100.0 %$' && ! grep -q CPU stdout &&
		grep -q 'or no thread said that it works on it' stderr &&
		why 0 3 heard.elog && says '  on CPU          5.00 ms  50.0 %$' || return 1
	# shellcheck disable=SC2086 # a list
	! "$elog" latency -q --why $pair silent.elog > stdout 2> stderr &&
		says 'all  *3  unknown 100.0 %$' && says 'slowest 1 %  *3  unknown 100.0 %$' &&
		grep -q "no event 'sched/\*'" stderr || return 1
	# shellcheck disable=SC2086 # a list
	"$elog" latency -q --why --group session --format json $pair heard.elog > stdout &&
		python3 -c 'import json
total, *groups = map(json.loads, open("stdout"))
shares = {line["value"]: line["why"] for line in groups}
assert shares["0x1"]["unknown"] == 1 and shares["0x1"]["on CPU"] == 0, shares
assert shares["0x3"]["unknown"] == 0 and shares["0x3"]["on CPU"] == 0.5, shares
assert total["why"]["unknown"] == 0 and total["why"]["on CPU"] > 0.8, total' || return 1
	# shellcheck disable=SC2086 # a list
	"$elog" latency -q --why --format csv $pair silent.elog 2> stderr | python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert [(row["why_on_cpu"], row["why_unknown"]) for row in rows] == [
    ("0.000000", "1.000000")] * 2, rows'
}

survives_lies()
{
	local format

	for format in text json; do
		why 0 --format $format shop:1 wrong.elog || return 1
		! grep -q $'\x1b' stdout || return 1
	done
	python3 -c 'import json
lines = [json.loads(line) for line in open("stdout", encoding="utf-8")]
assert all(line["time"] < 1 << 63 for line in lines[1:])
assert max(len(line.get("wakers", [])) for line in lines[1:]) == 64' || return 1
	# The provider of some is not known.
	why 1 1 wrong.elog && grep -q 'is one of several providers: shop, ?$' stderr
}

adds_sums()
{
	why 0 1 sums.elog && says 'shop 0x1  10.00 ms' &&
		says '  on CPU          7.00 ms  70.0 %' &&
		says '  futex           2.00 ms  20.0 %' &&
		says '  runnable        1.00 ms  10.0 %' || return 1
	# No event of it tells when that was.
	why 0 2 sums.elog && says 'shop 0x2  0.00 ms' && says '  futex           2.00 ms '
}

says_what_was_lost()
{
	why 2 1 lost.elog && says 'shop 0x1  10.00 ms; 3 events lost: times may be missing' &&
		why 2 --format json 1 lost.elog && grep -q '"lost":3' stdout
}

reads_damaged_files()
{
	head -c $(($(wc -c < chain.elog) - 100)) chain.elog > cut.elog
	why 1 1 cut.elog && says 'shop 0x1' && why 1 1 none.elog &&
		grep -q 'No such file' stderr && why 1 1 "$here/why_test.sh" &&
		grep -q 'not a file of elog' stderr
}

knows_other_schemas()
{
	why 0 1 other.elog && says 'shop 0x1  1.00 ms'
}

# The numbers of sessions and threads are the same on both.
separates_hosts_and_boots()
{
	local several='session 0x1 is one of several hosts or boots: shop of one, boot boot-' files

	why 1 shop:1 one.elog two.elog && grep -q "${several}1; shop of two, boot boot-2\$" stderr &&
		why 1 1 boots.elog && grep -q "${several}3; shop of one, boot boot-1\$" stderr ||
		return 1
	for files in 'one.elog two.elog' boots.elog; do
		# shellcheck disable=SC2086 # a list
		why 0 2 $files &&
			says ' *holder 101 (shop 0xb) meanwhile: disk 15.00 ms, on CPU 4.00' &&
			! grep -q sleep stdout || return 1
	done
	why 0 --format json 1 two.elog && grep -q '"host":"two","boot_id":"boot-2"' stdout
}

# Without a limit it looks at more than 500 million intervals.
limits_steps()
{
	why 0 1 crowd.elog && grep -q 'some chains of threads are cut off' stderr &&
		says '  futex '
}

shows_stacks()
{
	local at=' \{37\}'

	why 0 1 stacks.elog && says '  disk            9.00 ms' &&
		says "${at}4.00 ms at io_schedule < folio_wait_bit_common < filemap_fault < a < b < c \.\.\.$" &&
		says "${at}3.00 ms at other$" &&
		says "${at}in a page fault, at handle_userfault < handle_mm_fault" &&
		! grep -q 'wrong\|zero\|short\| schedule <' stdout && ! grep -q $'\x1b' stdout ||
		return 1
	why 0 -v 1 stacks.elog && says "${at}  __schedule+0x2a/0x8a0$" &&
		says "${at}  a+0x1/0x2 \[ext4\]$" && ! grep -q $'\x1b' stdout || return 1
	why 0 --format json 1 stacks.elog && python3 -c 'import json
parts = {line["part"]: line for line in map(json.loads, open("stdout", encoding="utf-8"))
         if line["kind"] == "part"}
stacks = parts["disk"]["stacks"]
assert [s["time"] for s in stacks] == [4000000, 3000000], stacks
assert stacks[0]["frames"][0] == "__schedule+0x2a/0x8a0" and len(stacks[0]["frames"]) == 9
assert stacks[1]["frames"] == ["other+0x1/0x2"], stacks
assert len(parts["futex"]["stacks"][0]["frames"]) == 5, parts
assert parts["sleep"]["stacks"] == [], parts'
}

# A filter would drop the waits, too.
refuses_filters()
{
	! "$elog" latency --why -f 'bytes > 1' request_start request_end spans.elog 2> stderr &&
		grep -q -e '--why does not go with -f' stderr || return 1
	"$elog" latency --why request_start request_end spans.elog > stdout &&
		grep -q futex stdout
}

# Each pair has 10 ms. What is left of a sum in the next span was in the one before.
adds_sums_to_shares()
{
	local pair='request_start request_end'

	# shellcheck disable=SC2086 # a list
	"$elog" latency --why --group session --format json $pair late.elog > stdout || return 1
	python3 -c 'import json
lines = [json.loads(line) for line in open("stdout")]
def parts(why):
    assert abs(sum(why.values()) - 1) < 1e-5, why
    return {name: round(share, 4) for name, share in why.items() if share}
total = lines[0]
assert parts(total["why"]) == {"on CPU": 0.6333, "futex": 0.2, "disk": 0.0667, "pipe": 0.0667,
    "runnable": 0.0333}, total
assert total["why_several"] == 0, total
groups = {line["value"]: parts(line["why"]) for line in lines if line["kind"] == "group"}
assert groups == {"0x1": {"on CPU": 0.55, "futex": 0.3, "disk": 0.1, "runnable": 0.05},
    "0x2": {"on CPU": 0.8, "pipe": 0.2}}, groups
assert total["slowest_pairs"] == 3 and total["slowest_why"] == total["why"], total' || return 1
	# shellcheck disable=SC2086 # a list
	"$elog" latency -q --why $pair late.elog > stdout &&
		says 'all  *3  on CPU 63.3 %, futex 20.0 %, disk 6.7 %, pipe 6.7 %, runnable 3.3 %$' ||
		return 1
	# shellcheck disable=SC2086 # a list
	"$elog" latency --why --group session --format csv $pair late.elog > stdout &&
		python3 -c 'import csv
rows = list(csv.DictReader(open("stdout")))
assert [(row["kind"], row["pairs"], row["why_futex"], row["why_on_cpu"]) for row in rows] == [
    ("total", "3", "0.200000", "0.633333"), ("slowest_hundredth", "3", "0.200000", "0.633333"),
    ("group", "2", "0.300000", "0.550000"), ("group", "1", "0.000000", "0.800000")], rows'
}

# One pair has a thread of 20 ms and, in it, one of 13 ms.
knows_threads_at_once()
{
	why 0 --until 1.0205 1 threads.elog && says 'shop/request_start 0x1  20.00 ms; 2 threads, 33.00 ms in all; 2 spans$' &&
		says '  on CPU         10.00 ms  30.3 %$' || return 1
	"$elog" latency -q --why request_start request_end threads.elog > stdout
	says 'In 1 pair, threads worked at the same time: the shares are those' || return 1
	"$elog" latency --why --format json -s 1 request_start request_end threads.elog > stdout
	python3 -c 'import json
total = json.loads(open("stdout").readline())
assert total["pairs"] == 2 and total["why_several"] == 1, total
assert abs(total["why"]["futex"] - (10 / 33 + 2 / 5) / 2) < 1e-6, total
assert abs(total["why"]["on CPU"] - (10 / 33 + 2 / 5) / 2) < 1e-6, total
assert abs(sum(total["why"].values()) - 1) < 1e-5, total'
}

# latency STATUS ARGUMENT...: as why.
latency()
{
	local status=$1 result=0

	shift
	"$elog" latency "$@" > stdout 2> stderr || result=$?
	[ "$result" = "$status" ] || { echo "status $result, not $status: $*"; cat stderr; return 1; }
}

# Of two kinds with the same numbers of sessions. The parts are those of the span only.
explains_the_slowest()
{
	local get='shop/request_start 0x5 method="GET" path="/item/312"'

	why 0 kinds.elog && says "$get  200.00 ms$" &&
		says '  futex          80.00 ms  40.0 %' && says '  disk           10.00 ms   5.0 %' &&
		says '  pipe            1.54 ms   0.8 %' && [ "$(grep -c '^shop' stdout)" = 1 ] &&
		grep -qx 'elog: next: elog show -s 0x5 kinds.elog' stderr || return 1
	why 0 --slowest 9 kinds.elog && [ "$(grep -c '^shop/[a-z_]* 0x' stdout)" = 4 ] &&
		says 'shop/flush_start 0x5 pages=7  100.00 ms$' &&
		says '  disk           45.00 ms  45.0 %' &&
		says 'shop/request_start 0x6 method="PUT" path="/.x1b\[31m'\''.nx*…  50.00 ms$' &&
		says 'shop/request_start 0x5 method="GET" path="/item/1"  10.00 ms$' &&
		says '  pipe            1.00 ms  10.0 %' || return 1
	why 0 -q --format json --slowest 2 kinds.elog && [ ! -s stderr ] && python3 -c 'import json
request, flush = (line for line in map(json.loads, open("stdout")) if line["kind"] == "session")
assert request["event"] == "request_start" and request["wall"] == 200000000, request
assert request["fields"] == {"method": "GET", "path": "/item/312"}, request
assert flush["session"] == request["session"] and flush["fields"] == {"pages": 7}, flush' ||
		return 1
	# The whole session.
	why 0 5 kinds.elog && says 'shop/request_start 0x5 .*"/item/1"  900.00 ms; 3 spans$' ||
		return 1
	# An inner span, several files, and more kinds than latency has.
	why 2 --slowest 2 threads.elog && says 'shop/request_start 0x1  20.00 ms; 2 threads, 33.00 ms' &&
		says 'shop/query_start 0x1  11.00 ms; 2 threads, 21.00 ms in all; 1 event lost' &&
		why 0 failures.elog kinds.elog && says "$get  200.00 ms$" &&
		why 1 many.elog && says 'shop/work69_start 0x1  0.07 ms$'
}

# Whatever reads the spans of a file: the same one is the slowest, in each kind.
agrees_with_latency_and_report()
{
	local file

	for file in kinds threads spans late failures; do
		"$elog" why -q --format json --slowest 64 $file.elog > why.json 2> /dev/null
		"$elog" latency -q --format json --slowest 15 $file.elog > latency.json 2> /dev/null
		"$elog" report -q -o page.html $file.elog 2> /dev/null
		elog=$elog python3 - <<'END' || { echo $file; return 1; }
import json
import re
import shlex
import subprocess
def lines(text):
    return list(map(json.loads, text.splitlines()))
def spans(lines):
    return [(line["session"], line["latency"]) for line in lines if line["kind"] == "slowest"]
why = [(line["session"], line["wall"]) for line in lines(open("why.json").read())
       if line["kind"] == "session"]
latency = lines(open("latency.json").read())
page = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S)[1])
totals = {(line["start"], line["end"]): line for line in latency if line["kind"] == "total"}
found = [span for span in page["spans"] if span["pairs"]]
assert len(totals) == len(found) and why, (totals, found)
listed = []
for span in found:
    named = lines(subprocess.run(span["command"].replace("elog ", "\"$elog\" ", 1) +
        " -q --slowest 15 --format json 2> /dev/null", shell=True, stdout=subprocess.PIPE).stdout)
    one = [line for line in latency if (line.get("start"), line.get("end")) ==
           (named[0]["start"], named[0]["end"])]
    assert one[0]["pairs"] == named[0]["pairs"] == span["pairs"], (one, named)
    for key in ("min", "mean", "p50", "p99", "max", "histogram"):
        assert one[0][key] == named[0][key], (key, one, named)
    slowest = [(slow["session"], slow["latency"]) for slow in span["slowest"]]
    assert spans(one) == spans(named) == slowest, (one, named, slowest)
    listed += slowest
assert sorted(listed) == sorted(why) and why[0][1] == max(listed, key=lambda s: s[1])[1], why
END
	done
}

measures_the_spans_of_a_file()
{
	local kind lost

	# As with names, if there is one kind.
	for kind in '' '--why' '--slowest 2' '--group tid' '--format json' '--by tid' '-n 1' \
		'-s 1'; do
		# shellcheck disable=SC2086 # a list
		latency 0 $kind request_start request_end spans.elog && mv stdout named &&
			latency 0 $kind spans.elog &&
			cmp <(sed 's,"shop/,",g; s,shop/request_\(start\|end\),request_\1,g
				s/\("kind":"group",\)"start":"[a-z_]*","end":"[a-z_]*",/\1/' stdout) \
			<(sed 's,"shop/,",g; s,shop/request_start,request_start,' named) || return 1
	done
	latency 0 -q --slowest 1 --why --group status kinds.elog &&
		says '4 pairs in 0.700 s, 5.7/s; 2 kinds of spans; unpaired: 1 start, 0 ends; res' &&
		says 'shop/request: from shop/request_start to shop/request_end, by provider,ses' &&
		says 'shop/flush: from shop/flush_start to shop/flush_end, by provider,session$' &&
		says '   200ms 1.100000000  *0x5 .* 100  shop/request_start method="GET" path="/item/312"$' &&
		says '404  *1 ' && [ ! -s stderr ] &&
		latency 0 --slowest 1 kinds.elog &&
		grep -qx 'elog: next: elog why kinds.elog' stderr || return 1
	latency 0 --format json kinds.elog && python3 -c 'import json
rows = [json.loads(line) for line in open("stdout")]
assert [(row["kind"], row["start"], row["pairs"], row["unpaired_starts"]) for row in rows] == [
    ("spans", None, 4, 1), ("total", "shop/request_start", 3, None),
    ("total", "shop/flush_start", 1, None)], rows' || return 1
	# ENDs of two kinds, several files, standard input, and too many kinds.
	latency 0 -q failures.elog && says '3 pairs .* unpaired: 0 starts, 1 end;' &&
		says 'shop/request: from shop/request_start to shop/request_failed,' &&
		latency 0 -q kinds.elog failures.elog && says '7 pairs .*; 3 kinds of spans' &&
		latency 0 -q - < kinds.elog && says '4 pairs' &&
		latency 0 --format json many.elog && [ "$(grep -c '"total"' stdout)" = 64 ] &&
		grep -qx 'elog: more than 64 kinds of spans: others are left out' stderr
}

# A file that grows has its spans, too.
follows_the_spans_of_a_file()
{
	latency 0 -q --follow -n 2 kinds.elog && says '2 pairs' || return 1
	latency 1 --follow --interval 1 kinds.elog &&
		grep -q -e '--interval needs START and END' stderr &&
		latency 1 --format csv kinds.elog && grep -q -e '--format csv needs START' stderr
}

names_what_is_missing()
{
	local verb

	for verb in latency why; do
		$verb 1 half.elog && [ ! -s stdout ] && [ "$(wc -l < stderr)" = 1 ] &&
			grep -q "elog $verb: no spans: .*_end, see elog_schema(5); 1 START and 0 ENDs" \
				stderr && $verb 1 other.elog && grep -q '; 0 STARTs and 0 ENDs' stderr &&
			$verb 1 none.elog && grep -q "there is no file" stderr || return 1
	done
	for verb in 'kinds.elog none.elog' 'none.elog kinds.elog'; do
		# shellcheck disable=SC2086 # two names
		latency 1 $verb && grep -qx "elog latency: there is no file 'none.elog'" stderr ||
			return 1
	done
	why 1 - < kinds.elog && grep -q 'standard input cannot be read twice' stderr &&
		why 1 --slowest 2 5 kinds.elog && grep -q 'exclude each other' stderr &&
		why 1 --slowest 65 kinds.elog && grep -q -e '--slowest: 64 at most' stderr &&
		why 1 5 && grep -q 'FILE is missing' stderr &&
		why 1 silent.elog && says '  unknown        10.00 ms 100.0 %$' &&
		why 1 kinds.elog none.elog && says 'shop/request_start 0x5' &&
		[ "$(grep -c 'No such file' stderr)" = 1 ] || return 1
	# A number is a session, and a name is quoted for a shell.
	cp kinds.elog 0x5 && cp kinds.elog "./-it's" &&
		why 1 0x5 && why 0 ./0x5 && says 'shop/request_start 0x5' &&
		why 0 -- "-it's" && grep -qx "elog: next: elog show -s 0x5 ./'-it'\\\\''s'" stderr
}

# A START may be pending for long, and many may be.
limits_pending_starts()
{
	latency 0 --pending 1 --slowest 3 late.elog && says '3 pairs' &&
		latency 0 --pending 1 kinds.elog && says '4 pairs' &&
		why 0 --pending 1 spans.elog && grep -q 'dropped 1 START, as more than 1' stderr &&
		says 'shop/request_start 0x1  30.00 ms$'
}

check 'eight holders of locks are followed' follows_eight_holders
check 'a holder that works on no session is named' names_a_holder_without_a_session
check 'time is unknown without waits' says_what_is_unknown
check 'values that are wrong' survives_lies
check 'sums that come late' adds_sums
check 'losses are said' says_what_was_lost
check 'files that are damaged, and no files' reads_damaged_files
check 'another schema of the provider sched' knows_other_schemas
check 'hosts and boots with the same numbers' separates_hosts_and_boots
check 'the steps of a search are limited' limits_steps
check 'stacks of long waits' shows_stacks
check 'latency --why refuses a filter' refuses_filters
check 'latency --why adds sums, which come late' adds_sums_to_shares
check 'threads that work on a session at the same time' knows_threads_at_once
check 'why FILE explains the slowest span' explains_the_slowest
check 'why, latency and report name the same slowest spans' agrees_with_latency_and_report
check 'latency FILE measures the spans of a file' measures_the_spans_of_a_file
check 'latency --follow FILE does the same' follows_the_spans_of_a_file
check 'no spans, no file, and names of files' names_what_is_missing
check 'pending starts are limited' limits_pending_starts
end_checks
