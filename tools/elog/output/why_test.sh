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

for kind in chain wrong sums late lost other crowd stacks spans threads idle silent; do
	python3 "$here/why_file.py" "$kind" "$kind.elog" || exit 1
done
python3 "$here/why_file.py" machine one.elog one boot-1 5 &&
	python3 "$here/why_file.py" machine two.elog two boot-2 10 &&
	python3 "$here/why_file.py" machine later.elog one boot-3 10 || exit 1
cat later.elog one.elog > boots.elog
python3 "$here/why_file.py" silent heard.elog sched || exit 1

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
	why 0 --until 1.0205 1 threads.elog && says 'shop 0x1  20.00 ms; 2 threads, 33.00 ms in all$' &&
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
end_checks
