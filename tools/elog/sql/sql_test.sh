#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sql_test - elog sql, and the extension of SQLite, find in files what the other verbs of
# elog find. Prints TAP.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"
generator=$top/tools/elog/export/export_file.py
if "$elog" sql none.elog query 2>&1 | grep -q 'built without SQLite'; then
	echo '1..0 # SKIP elog was built without SQLite'
	exit
fi
for file in spans types names twins floats equal decoded instances odd own empty; do
	python3 "$generator" "$file" "$file.elog" || exit 1
done
python3 "$generator" many many.elog 3000 || exit 1

# answers STATUS ANSWER ARGUMENT...
answers()
{
	local status=$1 answer=$2 found result=0

	shift 2
	found=$("$elog" sql -q "$@" 2> stderr) || result=$?
	[ "$result" = "$status" ] && [ "$found" = "$answer" ] && return
	printf 'status %s, not %s: %s\n%s\n' "$result" "$status" "$*" "$found"
	cat stderr
	return 1
}

# fails MESSAGE ARGUMENT...
fails()
{
	local message=$1

	shift
	answers 1 '' "$@" && grep -qF -- "$message" stderr && return
	cat stderr
	return 1
}

refuses_wrong_usage()
{
	mkfifo pipe
	fails 'FILE is missing' &&
		fails 'none.elog: No such file' none.elog &&
		fails 'syntax error' spans.elog 'select select' &&
		fails 'no such table: nowhere' spans.elog 'select * from nowhere' &&
		! grep -q 'did you mean' stderr &&
		grep -qx '  tables: events, spans, lost, door_close, door_open, note, query_begin, query_end, request_end, request_start' stderr &&
		fails "no such table: request_ned; did you mean 'request_end'?" spans.elog \
			'select * from request_ned' &&
		fails "did you mean 'shop/a/b'" names.elog 'select * from "shop/a/d"' &&
		grep -qx '  tables: events, spans, lost, "shop/a/b", "shop/c", "shop/sqlite_names", "sqlite_shop/c"' stderr &&
		fails 'a stream cannot be read several times' nats://127.0.0.1:1 'select 1' &&
		fails 'No such file' none.elog 'select 1' &&
		fails 'must be a regular file' pipe 'select 1' &&
		fails 'not a file of elog' "$here/sql_test.sh" 'select * from x' &&
		fails 'invalid format' --format prometheus spans.elog 'select 1'
}

# A command of the program sqlite3 gets a hint, before a file is read.
commands_are_no_queries()
{
	local command

	for command in .tables ' .schema request_end' .help; do
		fails "'$command' is a command of the program sqlite3, not SQL" spans.elog "$command" &&
			grep -qx '  this prints the tables: elog sql spans.elog' stderr || return 1
	done
}

# Without a query; each of the files may be the last argument.
tables_are_listed()
{
	local file

	cat > expected <<-END
		TABLE              ROWS COLUMNS
		events               23 provider TEXT, event TEXT, level TEXT, fields TEXT
		spans                 8 provider TEXT, name TEXT, duration INTEGER
		lost                  3 cause TEXT, count INTEGER, invalid INTEGER
		door_close            1 -
		door_open             1 -
		note                  1 text TEXT
		query_begin           2 -
		query_end             2 "rows" INTEGER
		request_end           8 status INTEGER, bytes INTEGER, note TEXT
		request_start         8 id INTEGER, path TEXT
		# and session, comm, instance, host, machine_id, boot_id TEXT; time, mono,
		# session_number, cpu, pid, tid INTEGER; spans and lost lack some of these
	END
	"$elog" sql spans.elog > listed
	[ $? = 2 ] && diff expected listed || return 1
	[ "$("$elog" sql --format csv spans.elog | sed -n '1p;/^lost/p')" = \
'table,rows,columns
lost,3,"time INTEGER, mono INTEGER, cpu INTEGER, cause TEXT, count INTEGER, invalid INTEGER, host TEXT, machine_id TEXT, boot_id TEXT"' ] ||
		return 1
	for file in spans types names twins decoded empty; do
		"$here/sql_truth.py" "$elog" $file.elog tables || return 1
	done
	"$elog" sql -q spans.elog types.elog > listed
	grep -qx 'events  *27 .*' listed && grep -qx 'typed  *3 .*' listed &&
		"$elog" sql spans.elog | head -n 1 > one && [ -s one ]
}

# An event may be called as a table of elog sql, and a definition may change.
own_tables_keep_their_names()
{
	fails 'no such table: itme' own.elog 'select * from itme' &&
		grep -qx '  tables: events, spans, lost, book_0, .*, book_32 and 77 others' stderr || return 1
	"$elog" sql -q own.elog > listed
	[ "$(grep -c . listed)" = 107 ] && ! grep -q '.\{81\}' listed &&
		grep -qx '"events/events" *1 f_1 INTEGER' listed &&
		grep -qx '"shop/EVENTS" *1 f_2 INTEGER' listed &&
		grep -qx 'item  *2 f_3 INTEGER' listed &&
		grep -qx '"lost/spans" *1 f_5 INTEGER' listed &&
		answers 0 $'105\t1\t1' own.elog 'select (select count(*) from events),
			(select f_1 from "events/events"), (select count(*) from "shop/events")' &&
		answers 0 $'3\t' own.elog 'select max(f_3), max(instance) from item'
}

events_are_one_table()
{
	local file

	for file in spans types twins decoded instances odd; do
		"$here/sql_truth.py" "$elog" $file.elog events || return 1
	done
	answers 2 $'200\t1000' spans.elog "select fields ->> 'status', fields ->> 'bytes' from events
		where event = 'request_end' and session = '0x1'" &&
		answers 0 $'0\t\t' empty.elog \
			'select count(*), max(fields), percentile(time, 50) from events' &&
		answers 2 23 spans.elog 'select count(*) from events a join events b using(mono)
			where a.event = b.event'
}

percentiles_are_those_of_latency()
{
	local query

	"$here/sql_truth.py" "$elog" many.elog percentiles &&
		"$here/sql_truth.py" "$elog" spans.elog percentiles &&
		answers 2 $'door\t1000\nquery\t1000\nrequest\t3000' spans.elog \
			'select name, percentile(duration, 50) from spans group by 1' &&
		answers 2 $'0.003\t-3000\t\t' spans.elog "select percentile(duration / 1e6, 50.0),
			percentile(-duration, 50), percentile(null, 1),
			percentile(duration, 1) filter (where name = 'none') from spans
			where name = 'request'" &&
		answers 2 $'2.5\tinf\t9223372036854775806' spans.elog 'select percentile(x, 50),
			percentile(x, 100), percentile(y, 50) from (select 1 x, 0x7ffffffffffffffe y
			union all select null, 0x7fffffffffffffff union all select 2.5, null
			union all select 9e999, null)' || return 1
	for query in 'duration, 101' 'duration, -0.1' 'duration, 9e999' 'duration, null' \
		"duration, '50'" 'duration, 0.0 / 0' 'duration, rowid'; do
		fails 'p must be a number from 0 to 100, the same in all rows' spans.elog \
			"select percentile($query) from spans" || return 1
	done
	fails 'x must be a number, not text' spans.elog 'select percentile(name, 50) from spans' &&
		fails 'x must be a number, not a blob' spans.elog "select percentile(x'31', 50)"
}

durations_have_units()
{
	local text

	answers 2 $'50000000\t5400000000000\t1500000000\t' spans.elog \
		"select dur('50ms'), dur('1h30m'), dur('1.5'), dur(null)" &&
		answers 2 5 spans.elog "select count(*) from spans where duration > dur('1us')" || return 1
	for text in 50xs '' ' 5ms' -5ms 5MS ms 1e3s 999999999d "it''s"; do
		fails "dur(): '$text' is not a span of time" spans.elog "select dur('$text')" || return 1
	done
	fails "dur(): 5 is not a text, as '50ms'" spans.elog 'select dur(5)' &&
		fails "is not a span of time" spans.elog "select dur('5ms' || char(0))"
}

refuses_text()
{
	fails "a column of numbers is compared with the text '50ms'" "$@" &&
		grep -qxF "  a duration is nanoseconds: dur('50ms')" stderr && return
	echo "$@"
	return 1
}

# Such a query would select nothing, or everything.
numbers_are_not_compared_with_text()
{
	local condition query

	for condition in "> '50ms'" "< '50ms'" "= '50ms'" "!= '50ms'" "<= '50ms'" "between 1 and '50ms'" \
		"between '50ms' and '1h'" "in ('50ms')" "in (1, '50ms')" "in (1, 2, 3, 4, '50ms')" \
		"not in ('50ms', 2, 3)" "is '50ms'" "> (select '50ms')"; do
		refuses_text types.elog "select * from typed where n $condition" &&
			refuses_text types.elog "select * from spans where duration $condition" || return 1
	done
	for condition in "> '50ms'" "in (1, 2, 3, 4, '50ms')"; do
		for query in "* from typed where n $condition or a = 1" "count(*) from typed where not s $condition" \
			"* from typed t join spans s on t.session = s.session and s.duration $condition" \
			"* from typed t left join spans s using(session) where n $condition" \
			"* from (select n x from typed) where x $condition" "n $condition from typed" \
			"case when n $condition then 1 end from typed" \
			"session, n x from typed group by 1 having n $condition"; do
			refuses_text types.elog "select $query" || return 1
		done
	done
	fails "with the text '50ms'" types.elog "create temp table t(x); select * from typed where '50ms' < n" &&
		fails "with the text 'it's'" types.elog "select * from typed where time > 'it''s'" &&
		grep -qx "  a duration, as dur('50ms'), and a time are nanoseconds" stderr
}

# A text that is a number is one, and a column of texts has texts.
other_comparisons_remain()
{
	answers 2 $'1\t1\t6\t7' spans.elog "select count(*) filter (where status = '404'),
		count(*) filter (where status in ('404', 'x' || '')), count(*) filter (where status <= ' 2e2'),
		count(*) filter (where note < '50ms') from request_end" || return 1
	answers 2 2 spans.elog "select count(*) from spans where name in ('query', '50ms', 'a', 'b')" &&
		answers 2 $'abc\t5ms' spans.elog "create temp table t(x integer, y text, z int);
			insert into t values('abc', '5ms', '5ms'); insert into t(x) values('abc');
			delete from t where y is null; select x, z from t"
}

finds_what_other_verbs_find()
{
	answers 2 '7' spans.elog 'select sum(count) from lost' &&
		answers 2 $'guard\t3\t0\ninvalid\t0\t9\nnested\t4\t0' spans.elog \
			'select cause, count, invalid from lost order by 1' &&
		answers 2 $'door\t1\t1000\nquery\t2\t4000\nrequest\t5\t13000' spans.elog \
			'select name, count(*), sum(duration) from spans group by 1 order by 1' &&
		answers 2 "$("$elog" show -q --fields bytes spans.elog | sed -n 's/^bytes=//p' |
			awk '{ sum += $1 } END { print NR "\t" sum }')" spans.elog \
			'select count(*), sum(bytes) from "shop/request_end"' &&
		answers 0 "$("$elog" latency -q --format json request_start request_end many.elog |
			sed -n 's/.*"pairs":\([0-9]*\),.*"min":\([0-9]*\),.*"max":\([0-9]*\),.*/\1\t\2\t\3/p' |
			head -n 1)" many.elog \
			'select count(*), min(duration), max(duration) from spans'
}

# A session is text as the other verbs print it; as a condition, in any of its spellings.
sessions_have_one_spelling()
{
	local high=0x8000000000000001 low=-9223372036854775807 each

	python3 "$generator" sessions sessions.elog || return 1
	answers 0 $'0x1\t1\n0x10\t16\n0x8000000000000001\t-9223372036854775807\n0xffffffffffffffff\t-1' \
		sessions.elog 'select session, session_number from request_start order by session' &&
		answers 0 "$(printf '{"session":"%s","name":"request"}' $high)" --format json \
			sessions.elog "select session, name from spans where session = '$high'" ||
		return 1
	for each in "'$high'" "'0X8000000000000001'" "'9223372036854775809'" "'$low'"; do
		answers 0 "$high" sessions.elog \
			"select session from request_start where session = $each" || return 1
	done
	answers 0 "$high" sessions.elog "select session from request_start where session = $low" &&
		answers 0 "$high" sessions.elog \
			"select session from request_start where session_number = $low" &&
		answers 0 '0x10' sessions.elog \
			"select session from request_start where session = 16 and session_number = '16'" &&
		answers 0 '' sessions.elog \
			"select session from request_start where session = '0x1' and session_number = 2" &&
		answers 0 '' sessions.elog \
			"select session from request_start where session in ('x', '', null, '0x0', 0)" &&
		answers 0 $'0x1\n0x10' sessions.elog \
			"select session from request_start where session in ('1', '0x10', '0x11') order by 1" &&
		answers 0 "$high" sessions.elog "select s.session from request_start s join request_end e
			using(session) where session = '$low'" &&
		answers 0 1 sessions.elog 'select count(*) from request_end where session is null' ||
		return 1
	for each in $high $low 9223372036854775809; do
		[ "$("$elog" show -q -s "$each" sessions.elog | grep -c " $high ")" = 2 ] &&
			[ "$("$elog" export -q --format csv -s "$each" sessions.elog |
				grep -c ",$high,")" = 2 ] || return 1
	done
	[ "$("$elog" show -q -f "session == $high" sessions.elog | grep -c " $high ")" = 2 ]
}

origins_are_columns()
{
	answers 0 "1$(printf '\t%s' "$(uname -n)" "$(cat /etc/machine-id 2> /dev/null)")" \
		many.elog 'select count(distinct host), host, machine_id from request_start
			group by host, machine_id' &&
		answers 2 "$(uname -n)" spans.elog 'select distinct host from spans' &&
		answers 2 "$(uname -n)" spans.elog 'select distinct host from lost'
}

other_versions_are_named()
{
	local verb reason="version.elog: a file of version 3, but this elog reads version 2"

	python3 "$top/tools/elog/fleet/fleet_file.py" version 3 version.elog || return 1
	for verb in "sql version.elog select(1)" "show version.elog" "info version.elog" \
		"stat version.elog" "latency shop/a shop/b version.elog" \
		"export --format csv version.elog" "report -o page.html version.elog"; do
		# shellcheck disable=SC2086 # several words
		! "$elog" $verb > stdout 2> stderr && grep -qF "$reason" stderr || return 1
		case $verb in
		export*) ;;
		*) [ ! -s stdout ] && [ ! -e page.html ] || return 1 ;;
		esac
	done
	fails "$reason" spans.elog version.elog 'select count(*) from note'
}

spans_may_be_others()
{
	answers 2 $'request_start:note\t2000' --span request_start:note --by tid spans.elog \
		'select name, duration from spans' || return 1
	answers 2 1 --span note:request_end --by tid spans.elog \
		'select count(*) from spans where session is null'
}

# What begins first is first, also if it ends at the same time as what is inside of it.
equal_times_have_an_order()
{
	local order='order by time, rowid) group by session_number'

	answers 0 '1|request,query
2|request,query
3|request,request
4|request,query,query
5|request,query,query
6|query' equal.elog "select session_number || '|' || group_concat(name) from
		(select * from spans where session_number < 10 $order" &&
		answers 0 '301|request' equal.elog "select count(*) || '|' || min(name) from
			(select name from spans where session_number = 100 order by time, rowid limit 1),
			(select 1 from spans where session_number = 100)"
}

# A join copies the tables, so its time does not grow with the product of their sizes.
joins_are_indexed()
{
	answers 0 $'3000\t4498500' many.elog 'select count(*), sum(s.id) from request_start s
		join request_end e using(session) where e.bytes = s.id + 100' &&
		answers 0 3000 many.elog 'select count(*) from request_start s
			join request_end e using(session)'
}

times_select()
{
	local from

	from=$("$elog" sql -q many.elog 'select time from request_start order by time limit 1 offset 2000')
	answers 0 1000 many.elog "select count(*) from request_start where time >= $from" &&
		answers 0 1 many.elog "select count(*) from request_start where time = $from" &&
		answers 0 2000 many.elog "select count(*) from request_start where time < $from"
}

types_are_kept()
{
	answers 0 '{"a":171,"b":-1,"c":-300,"d":1,"e":"four","f":"010203","g":"café","i":"192.0.2.1","k":8080,"p":"LOW","q":"FIRST|SECOND","s":-9223372036854775808,"session":"0xffffffffffffffff","time_":7}
{"a":171,"b":-1,"c":-300,"d":1,"e":"four","f":"010203","g":"��(\u0001","i":"192.0.2.1","k":8080,"p":"LOW","q":"FIRST|SECOND","s":-9223372036854775808,"session":null,"time_":7}
{"a":171,"b":-1,"c":-300,"d":1,"e":null,"f":null,"g":null,"i":null,"k":null,"p":null,"q":null,"s":null,"session":null,"time_":null}' \
		--format json types.elog \
		'select a, b, c, d, e, f, g, i, k, p, q, s, session, time_ from typed' &&
		answers 0 $'636166C3A9\nEFBFBDEFBFBD2801' --format csv types.elog 'select hex(g) from typed' &&
		answers 0 '{"a":"Infinity","b":"-Infinity"}' --format json types.elog \
			'select 9e999 a, -9e999 b' &&
		answers 0 $'worker,1\nworker,\n,1' --format csv types.elog 'select comm, cpu from typed'
}

# As the other verbs print them; SQLite has no number that is none.
floats_keep_their_digits()
{
	answers 0 '{"third":0.3333333333333333,"most":1.7976931348623157e+308,"least":4.94065645841247e-324,"inf":"Infinity","ninf":"-Infinity","nan":null}' \
		--format json floats.elog 'select third, most, least, inf, ninf, nan from Odd' &&
		answers 0 $'0.3333333333333333\t1.7976931348623157e+308\tinf\t0\t1\t2\t255' floats.elog \
			'select third, most, inf, b0, b1, b2, b255 from Odd'
}

# Events are found by exactly their name, or not at all.
names_are_exact()
{
	local table

	answers 0 $'6\t6' twins.elog 'select count(*), min(time__) from "sqlite_x/sqlite_y"' &&
		answers 0 $'5\t55' twins.elog 'select count(*), min(time_) from "?/?"' &&
		answers 0 5 twins.elog 'select count(*) from "?"' || return 1
	for table in shop/sale SHOP/Sale a/b/c; do
		fails "no such table: $table: event " twins.elog "select count(*) from \"$table\"" &&
			grep -qF "using elog('PROVIDER', 'EVENT', 'FILE');" stderr || return 1
	done
	fails 'no such table: sale' twins.elog 'select count(*) from sale' &&
		grep -qxF '  tables: events, spans, lost, "?", "se""ll", "select", "sqlite_x/sqlite_y"' stderr &&
		answers 0 $'2\t2' twins.elog "create virtual table temp.t using
			elog('SHOP', 'Sale', 'twins.elog'); select count(*), min(time__) from t" &&
		fails 'no such column' twins.elog 'select count(*) from "?" where "tiem" = 0'
}

# Such names do not keep the other events from being tables.
names_may_be_those_of_sqlite()
{
	answers 0 $'1\t2\t3' names.elog 'select time_, time__, TIME___ from "shop/sqlite_names"' &&
		answers 0 1 names.elog 'select count(*) from "shop/a/b"' &&
		answers 0 1 names.elog 'select count(*) from "shop/c"'
}

several_files_are_one_table()
{
	answers 2 3008 spans.elog many.elog 'select count(*) from request_end'
}

damage_is_reported()
{
	head -c $(($(stat -c %s many.elog) / 2)) many.elog > torn.elog
	answers 1 "$("$elog" show -q -e shop/request_start torn.elog 2> /dev/null | wc -l)" torn.elog \
		'select count(*) from request_start' &&
		grep -q 'torn.elog: .* byte [0-9]' stderr
}

readers_may_leave()
{
	"$elog" sql -q many.elog 'select * from request_start' 2> stderr | head -n 1 > one
	[ "${PIPESTATUS[0]}" = 0 ] && [ -s one ] && [ ! -s stderr ]
}

# The program of SQLite loads the same tables.
extension_has_the_tables()
{
	sqlite3 :memory: > found 2>&1 <<-SQL
		.load $EVENTLOG_TOOLS/elog_sqlite
		create virtual table ends using elog('shop', 'request_end', 'spans.elog', 'many.elog');
		select count(*), sum(status = 404) from ends;
		select count(*) from ends where session = 3000 or session = '0x1';
		create virtual table none using elog('shop', 'none', 'spans.elog');
		create virtual table wrong using elog('shop');
		create virtual table everything using elog_events('spans.elog');
		select event, fields from everything where session = 9 limit 1;
		select dur('1ms'), percentile(status, 50) from ends;
		create virtual table missing using elog_events();
		create virtual table missing using elog_events('none.elog');
	SQL
	grep -qx '3008|1' found && grep -qx 3 found && grep -q 'no event shop/none in the files' found &&
		grep -q 'elog: arguments must be PROVIDER, EVENT, FILE' found &&
		grep -qx 'door_open|{}' found && grep -qx '1000000|201' found &&
		grep -q 'elog_events: arguments must be FILE' found &&
		grep -q 'none.elog: No such file' found && return
	cat found
	return 1
}

check 'wrong usage gives the reason' refuses_wrong_usage
check 'commands of sqlite3 get a hint' commands_are_no_queries
check 'tables are listed with their columns' tables_are_listed
check 'own tables keep their names' own_tables_keep_their_names
check 'all events are a table' events_are_one_table
check 'percentiles are those of elog latency' percentiles_are_those_of_latency
check 'durations have units' durations_have_units
check 'numbers are not compared with text' numbers_are_not_compared_with_text
check 'other comparisons remain' other_comparisons_remain
check 'tables have what other verbs find' finds_what_other_verbs_find
check 'a session has one spelling' sessions_have_one_spelling
check 'hosts and machines are columns' origins_are_columns
check 'files of another version are refused' other_versions_are_named
check '--span and --by make other spans' spans_may_be_others
check 'equal times have an order' equal_times_have_an_order
check 'tables are joined' joins_are_indexed
check 'conditions on time select' times_select
check 'fields keep their types' types_are_kept
check 'floats keep their digits' floats_keep_their_digits
check 'names are exact, or there is an error' names_are_exact
check 'names may be those of SQLite' names_may_be_those_of_sqlite
check 'several files are one table' several_files_are_one_table
check 'damage is reported with its position' damage_is_reported
check 'a pipe may be closed early' readers_may_leave
if ! command -v sqlite3 > /dev/null; then
	skip 'SQLite loads the extension' 'there is no sqlite3'
elif [ ! -e "$EVENTLOG_TOOLS/elog_sqlite.so" ]; then
	skip 'SQLite loads the extension' 'it was not built'
else
	check 'SQLite loads the extension' extension_has_the_tables
fi
end_checks
