#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The elog command and libelog, with the kernel module. Needs root.

load elog.bash

@test "elog: wrong usage prints the reason and a hint" {
	fails_with "usage: elog VERB"
	fails_with "no verb 'frobnicate': must be one of capture, show," frobnicate
	for verb in capture show list info emit; do
		fails_with "no option '--frobnicate'" $verb --frobnicate
		fails_with "no option '-Z'" $verb -Z
		contains "$stderr" "try: elog $verb --help"
		fails_with "'--version=1' takes no argument" $verb --version=1
	done
	fails_with "no option '-Z'" capture --quiet -Zq
	fails_with "-e: invalid PROVIDER[/EVENT] '/x': must be PROVIDER or PROVIDER/EVENT" capture -e /x
	fails_with "-e: invalid PROVIDER[/EVENT] 'x/'" capture -e x/
	fails_with "-e: invalid PROVIDER[/EVENT] 'a/b/c'" capture -e a/b/c
	fails_with "-e: invalid PROVIDER[/EVENT] ''" capture -e ''
	fails_with "'-e' needs an argument" capture -e
	fails_with "-k: invalid keywords 'x y': must be names or masks, separated by commas" capture -k 'x y'
	fails_with "-k: invalid keywords 'x,'" capture -k x,
	fails_with "-k: invalid keywords '0x1,1z'" capture -k 0x1,1z
	fails_with "-k: no keyword 'x'" capture -k x
	fails_with "-k: 'x': keywords of a new event must be numbers" emit -k x event
	fails_with "-k: invalid keywords '0'" capture -k 0
	fails_with "-l: invalid level 'loud': must be one of critical, error, warning, notice, info, debug, verbose, warn, or a number from 1 to 7" capture -l loud
	fails_with "-l: invalid level '8'" capture -l 8
	fails_with "-s: invalid session '-9223372036854775809'" capture -s -9223372036854775809
	fails_with "-s: invalid session '-0x1'" capture -s -0x1
	fails_with "-s: invalid session '0x10000000000000000'" capture -s 0x10000000000000000
	fails_with "-p: invalid pid '0'" capture -p 0
	fails_with "-t: invalid tid 'me'" capture -t me
	fails_with "-C: invalid cpu '1.5'" capture -C 1.5
	fails_with "-n: invalid count '0'" capture -n 0
	fails_with "-d: invalid span '0': column 1: must be like 5m, 1h30m, 100ms" capture -d 0
	fails_with "-d: invalid span '1x': column 2: must be" capture --duration=1x
	fails_with "--sample: invalid N '0'" capture --sample 0
	fails_with "--per-cpu-bytes: invalid size '5K': must be a power of two" capture --per-cpu-bytes 5K
	fails_with "--per-cpu-bytes: invalid size '2G': must be a power of two, at most 1G" capture --per-cpu-bytes 2G
	fails_with "the minimum is two pages" capture --per-cpu-bytes 4K
	fails_with "--time: invalid argument 'tea': must be one of mono, wall, delta" capture --time tea
	fails_with "'ls' is not an option; a command must follow --" capture ls -l
	contains "$stderr" $'\n  events of ls: elog capture -e ls' $'\n  while ls runs: elog capture -- ls ...'
	fails_with "unexpected argument 'ls'" top ls
	contains "$stderr" $'\n  events of ls: elog top -e ls'
	fails_with "no command follows --" capture --
	fails_with "unexpected argument 'b'" list a b
	fails_with "elog info: a: No such file or directory" info a
	fails_with "PROVIDER/EVENT is missing" emit
	fails_with "an event has only one session" emit -s 1 -s 2 a/b
}

@test "elog: each option of a span or a time takes the same words" {
	for span in 5m 1h30m 100000ms 99.5s "5 minutes" "1 hour 30 min" 120; do
		fails_with "no command follows --" capture -d "$span" --
		fails_with "no command follows --" stat --interval "$span" --
		fails_with "unexpected argument 'ls'" top --interval "$span" -d "$span" ls
		fails_with "-d is for live events" latency -d "$span" a b file
		fails_with "PROVIDER/EVENT is missing" emit --wait -d "$span"
		fails_with "URL of a server is missing" ship --max-age "$span"
		fails_with "unexpected argument" upgrade --timeout "$span" a b
		fails_with "No such file" show --around "now+-$span" "$work/none"
		for time in "-$span" "$span ago" "+$span"; do
			fails_with "No such file" show --since "$time" --until "$time" "$work/none"
		done
		fails_with "URL of a server is missing" ship --from "$span ago"
		[ "$span" = 120 ] || fails_with "needs a file" capture --rotate "1M,3,$span"
	done
	for span in "5 parsecs" 5mm "" 1h30 1,5s 1e9s 99999999999999999999s -5m "5m "; do
		fails_with "-d: invalid span '$span': column " capture -d "$span"
		fails_with "--interval: invalid span '$span': column " stat --interval "$span"
		fails_with "--max-age: invalid span '$span': column " ship --max-age "$span"
		fails_with "--timeout: invalid span '$span': column " upgrade --timeout "$span"
		fails_with "--rotate: invalid SIZE[,KEEP][,AGE] '1M,3,$span': column 6: " \
			capture --rotate "1M,3,$span"
		fails_with "--since: invalid time '+$span': column " show --since "+$span"
		fails_with "--from: invalid time '$span ago': column " ship --from "$span ago"
	done
}

@test "elog: --help and --version are complete" {
	run_elog --help
	[ "$status" = 0 ]
	contains "$output" capture show list info emit
	for verb in capture show list info emit; do
		run_elog $verb --help
		[ "$status" = 0 ]
		contains "$output" "usage: elog $verb" "Exit status" --help --version
		run_elog $verb -V
		[ "$status" = 0 ]
		contains "$output" "elog " "(ABI 3)"
	done
	run_elog capture -h
	options=(-e -k -l -s -p -t -C -n -d -q -v --sample --per-cpu-bytes --overwrite
		--trigger --time -o --append)
	contains "$output" "${options[@]/#/ }"
	run_elog emit -h
	options=(-s -l -k -n --wait -d -v)
	contains "$output" "${options[@]/#/ }"
	# Output that cannot be written is an error.
	run bash -c '"$ELOG" --help > /dev/full'
	[ "$status" = 1 ]
	[[ $output == *"cannot write"* ]]
}

# elog emit succeeds without a message, so that a script goes on.
emits_nothing()
{
	run_elog emit -n 2 a/b 'u32 x' x=1
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
	# Nor does the writer of a pipe get SIGPIPE.
	run_apart bash -o pipefail -c 'seq 100000 | "$ELOG" emit --stdin a/b'
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
}

engine_has_ended()
{
	[ -z "$(grep -lsx elog-engine /proc/[0-9]*/comm)" ]
}

@test "elog: without the module, an error tells how to load it" {
	rmmod eventlog
	emits_nothing
	fails_with "the kernel module eventlog is not loaded" emit --wait -d 1 a/b
	ELOG_STRICT=1 fails_with "the kernel module eventlog is not loaded" emit a/b
	run_elog emit -v a/b
	[ "$status" = 0 ]
	contains "$stderr" "the kernel module eventlog is not loaded" insmod
	# Arguments are wrong with and without a module.
	fails_with "PROVIDER/EVENT is missing" emit
	fails_with "PROVIDER/EVENT is missing" emit --stdin
	fails_with "no option '--stricter'" emit --stricter a/b
	# A script goes on, as with logger(1).
	run sh "$TREE/tools/examples/job.sh"
	[ "$status" = 0 ]
	[ -z "$output" ]
	for arguments in stat "latency a b" list info "emit --strict a/b" \
		"emit --stdin --strict a/b"; do
		# shellcheck disable=SC2086 # several words
		fails_with "the kernel module eventlog is not loaded" $arguments
		contains "$stderr" insmod
	done
	command=$(sed -n 's/^  run: //p' <<< "$stderr")
	# Events of programs are captured nevertheless, if elog has 64 bits.
	if [[ $stderr == *"elog capture -- COMMAND"* ]]; then
		run_elog capture -- "$ELOG" emit a/b 'u32 x' x=1
		[ "$status" = 0 ]
		contains "$stderr" "need the module eventlog"
		contains "$output" "a - b x=1"
		# Otherwise the next commands find it.
		wait_for engine_has_ended
	else
		fails_with "the kernel module eventlog is not loaded" capture
	fi
	# The suggested command works if the module is where make puts it.
	if [ -e "$EVENTLOG_TOOLS/../$(uname -r)/eventlog.ko" ]; then
		[ -n "$command" ]
		eval "$command"
	else
		insmod "$EVENTLOG_KO"
	fi
	run_elog info
	[ "$status" = 0 ]

	# The module is loaded, but the device node is missing.
	rm /dev/eventlog
	emits_nothing
	fails_with "is loaded, but there is no /dev/eventlog" list
	command=$(sed -n 's/^  run: //p' <<< "$stderr")
	[[ $command == mknod* ]]
	eval "$command"
	run_elog list
	[ "$status" = 0 ]
	# The kernel removes its device node, and creates it again.
	rm /dev/eventlog
	rmmod eventlog
	insmod "$EVENTLOG_KO"
	[ -c /dev/eventlog ]
}

@test "elog: without permission, an error tells what is needed" {
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" emit a/b
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
	for verb in capture list info "emit --strict a/b"; do
		# shellcheck disable=SC2086 # several words
		run_apart setpriv --reuid=65534 --clear-groups "$ELOG" $verb
		[ "$status" = 1 ]
		contains "$stderr" "permission denied" "root:root" "mode 0600" sudo
	done
	chmod 0666 /dev/eventlog
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" capture
	[ "$status" = 1 ]
	contains "$stderr" CAP_PERFMON "sudo setcap cap_perfmon+ep"
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" emit -v a/b
	[ "$status" = 0 ]
	contains "$stderr" "a/b has no listeners"
	chgrp daemon /dev/eventlog
	chmod 0660 /dev/eventlog
	run_apart setpriv --reuid=65534 --clear-groups "$ELOG" emit --strict a/b
	[ "$status" = 1 ]
	contains "$stderr" "usermod -a -G daemon"
	chgrp root /dev/eventlog
	chmod 0600 /dev/eventlog
}

@test "emit: errors name the field and the reason" {
	fails_with "': invalid name of an event" emit $'o\033ne'
	fails_with "': invalid name of an event or provider" emit $'a\tb/c'
	fails_with "does not understand the field 'foo b'" emit a/b 'u32 a; foo b' a=1 b=2
	contains "$stderr" "types: u8"
	fails_with "does not understand the field 'long a'" emit a/b 'long a' a=1
	fails_with "have different names" emit a/b 'u8 a; u8 a' a=1
	fails_with "field b (u8) is missing" emit a/b 'u8 a; u8 b' a=1
	fails_with "field a has two values" emit a/b 'u8 a' a=1 a=2
	fails_with "no field 'c'" emit a/b 'u8 a' a=1 c=2
	fails_with "no field 'a'" emit a/b a=1
	fails_with "'x' is not FIELD=VALUE" emit a/b 'u8 a' a=1 x
	fails_with "a=256: out of range, u8 holds 0 to 255" emit a/b 'u8 a' a=256
	fails_with "a=-1: out of range" emit a/b 'u8 a' a=-1
	fails_with "a=128: out of range, s8 holds -128 to 127" emit a/b 's8 a' a=128
	fails_with "a=-129: out of range" emit a/b 's8 a' a=-129
	fails_with "out of range" emit a/b 'u64 a' a=18446744073709551616
	fails_with "out of range" emit a/b 's64 a' a=-9223372036854775809
	fails_with "a=x: this is not a number" emit a/b 'u32 a' a=x
	fails_with "a=: this is not a number" emit a/b 'u32 a' a=
	fails_with "a=1x: this is not a number" emit a/b 'u32 a' a=1x
	fails_with "a=0x: this is not a number" emit a/b 'u32 a' a=0x
	fails_with "'abcde' is too long, char[4] holds 4" emit a/b 'char[4] a' a=abcde
	fails_with "bytes must be hexadecimal" emit a/b 'unsigned char[4] a' a=xy
	fails_with "bytes must be hexadecimal" emit a/b 'unsigned char[4] a' a=123
	fails_with "3 bytes are too many, u8[2] holds 2" emit a/b 'unsigned char[2] a' a=010203
	fails_with "a/b was not enabled" emit --wait -d 0.05 a/b
}

@test "emit: string and bytes are short names of types, and nothing else" {
	run_elog capture -q -e short -- "$ELOG" emit short/one \
		$'string a;bytes b; u8 string; \tstring  c ;char[8] d; struct string e 4; __data_loc char[] f' \
		a='one; string' b=00ff string=3 c= d=string e=01020304 f=six
	[ "$status" = 0 ]
	contains "$output" 'one a="one; string" b=00ff string=3 c="" d="string" e=01020304 f="six"'
	# The same event as with the kernel's names.
	"$ELOG" create short/two 'string a; bytes b'
	run_elog list -q short/two
	contains "$output" "short/two  string a; bytes b"
	run_elog emit short/two '__data_loc char[] a; __data_loc unsigned char[] b' a=x b=01
	[ "$status" = 0 ]
	"$ELOG" delete short/two
	fails_with "the kernel does not understand the field 'strings a'" emit short/three 'u8 b; strings a' b=1 a=x
	fails_with "the kernel does not understand the field 'string'" emit short/three 'u8 b; string' b=1
	fails_with "the kernel does not understand the field 'string[] a'" emit short/three 'string[] a' a=x
}

@test "emit: values of all types arrive unchanged" {
	types='u8 a; u16 b; u32 c; u64 d; s8 e; s16 f; s32 g; s64 h; int i;'
	types+='unsigned char j; char[8] k; unsigned char[4] l;'
	types+='__data_loc char[] m; __rel_loc char[] n;'
	types+='__data_loc unsigned char[] o; __rel_loc unsigned char[] p;'
	types+='struct point q 8'
	run_elog capture -e 'test_types/*' -- "$ELOG" emit -s 0xdeadbeef00000001 \
		test_types/all "$types" \
		a=255 b=65535 c=0xffffffff d=18446744073709551615 e=-128 \
		f=-32768 g=-2147483648 h=-9223372036854775808 i=-5 j=7 \
		k='a "b"' l=0aFF m='' n='ä=ö; $x' o=00ff p= q=0102030405060708
	[ "$status" = 0 ]
	contains "$output" "test_types 0xdeadbeef00000001 all a=255 b=65535 c=4294967295 d=18446744073709551615 e=-128 f=-32768 g=-2147483648 h=-9223372036854775808 i=-5 j=7 k=\"a \\\"b\\\"\" l=0aff0000 m=\"\" n=\"ä=ö; \$x\" o=00ff p= q=0102030405060708"
	contains "$stderr" "1 event in" "lost 0"

	# Escape sequences do not reach the terminal; default provider.
	run_elog capture -- "$ELOG" emit plain '__data_loc char[] s' s=$'\e[2J\n'
	[ "$status" = 0 ]
	contains "$output" 'user - plain s="\x1b[2J\n"'

	# Leading zeroes are ignored.
	run_elog capture -q -- "$ELOG" emit -s 010 test_types/zeros 'u8 a; s8 b; u8 c' \
		a=010 b=-09 c=0x0a
	[ "$status" = 0 ]
	contains "$output" "test_types 0xa zeros a=10 b=-9 c=10"

	run_elog emit -v -n 3 test_types/none
	[ "$status" = 0 ]
	contains "$stderr" "test_types/none has no listeners"
}

@test "capture: runs COMMAND and reports its status" {
	run_elog capture -q -- sh -c 'echo out; "$ELOG" emit a/b; exit 7'
	[ "$status" = 7 ]
	contains "$output" "out" " a - b"
	[ -z "$stderr" ]
	run_elog capture -- sh -c 'exit 3'
	[ "$status" = 3 ]
	contains "$stderr" "sh ended with status 3" "0 events"
	run_elog capture -- sh -c 'kill -USR1 $$'
	[ "$status" = 138 ]
	contains "$stderr" "ended by signal 10"
	run -127 --separate-stderr "$ELOG" capture -- /nonexistent/command 3>&-
	contains "$stderr" "No such file"
	run_elog capture -- /dev/null
	[ "$status" = 126 ]
	contains "$stderr" "Permission denied"
	# Options after -- and the standard input are those of the command.
	run bash -c 'echo input | "$ELOG" capture -q -- cat -A'
	[ "$status" = 0 ]
	[ "$output" = 'input$' ]

	# elog forwards signals to the command.
	"$ELOG" capture -- sh -c 'echo ready; exec sleep 1000' \
		> "$work/out" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for has_lines "$work/out" 1
	stop_capture TERM
	[ "$status" = 143 ]
	contains "$(< "$work/err")" "sh was ended by signal 15"

	# If the capture ends first, it ends the command.
	run_elog capture -n 1 -- sh -c '"$ELOG" emit a/b; exec sleep 1000'
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	run_elog capture -d 0.2 -- sleep 1000
	[ "$status" = 0 ]
}

@test "capture: prints events as they happen; a signal ends it without loss" {
	for signal in INT TERM HUP; do
		start_capture -e live
		elog emit live/first
		wait_for has_lines "$work/out" 1
		elog emit -n 2 live/second 'u32 a' a=5
		wait_for has_lines "$work/out" 3
		elog emit live/third
		stop_capture $signal
		[ "$status" = 0 ]
		[ "$(awk '{ print $5, $7, $8 }' "$work/out")" = "live first 
live second a=5
live second a=5
live third " ]
		contains "$(< "$work/err")" "4 events in" "lost 0" "4 records"
	done
	[ ! -s /sys/module/eventlog/refcnt ] || [ "$(< /sys/module/eventlog/refcnt)" = 0 ]
}

@test "capture: ends after -n events, -d seconds, or when the reader has gone" {
	start_capture -n 5
	elog emit -n 20 a/b
	wait_for has_lines "$work/out" 5
	status=0
	wait "$capture" || status=$?
	[ "$status" = 0 ]
	[ "$(wc -l < "$work/out")" = 5 ]
	contains "$(< "$work/err")" "5 events in"

	run_elog capture -d 0.3
	[ "$status" = 0 ]
	contains "$stderr" "0 events in"
	run_elog capture -q -d .1
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]

	run timeout "$HANG_SECONDS" bash -c '
		"$ELOG" capture -q -- sh -c "\"\$ELOG\" emit -n 5000 a/b; exec sleep 1000" | head -n 1
		echo "status ${PIPESTATUS[0]}"' 3>&-
	contains "${lines[1]}" "status 0"
	[ "${#lines[@]}" = 2 ]
	run bash -c '"$ELOG" capture -- "$ELOG" emit a/b > /dev/full'
	[ "$status" = 1 ]
	contains "$output" "No space left"
}

@test "capture: -p and -t select processes and threads" {
	for i in 1 2 3; do
		"$ELOG" emit --wait -n 10 processes/tick 3>&- &
		background+=($!)
	done
	first=${background[0]}
	wait_for eval '"$ELOG" list -q processes/tick > /dev/null 2>&1'
	run_elog capture -p "$first" -n 10
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 10 ]
	[ "$(awk '{ print $2 }' <<< "$output" | uniq)" = "$(printf %04x "$first")" ]
	wait "${background[@]}"
	background=()

	for i in 1 2 3; do
		"$ELOG" emit --wait -n 10 processes/tick 3>&- &
		background+=($!)
	done
	first=${background[0]}
	second=${background[1]}
	run_elog capture -t "$first" -t "$second" -n 20
	[ "$status" = 0 ]
	[ "$(awk '{ print $2 }' <<< "$output" | sort -u)" = \
		"$(printf '%04x\n%04x\n' "$first" "$second" | sort)" ]
	wait "${background[@]}"
	background=()

	# Each -e takes three rules, and their number is limited.
	run_elog info
	most=$(awk '/^rules of a subscriber/ { print $NF }' <<< "$output")
	read -ra arguments < <(seq -s ' ' -f '-p %.0f' $((most + 1)))
	fails_with "use fewer" capture "${arguments[@]}"
}

@test "capture: losses are reported in the output, summary and status" {
	run_elog capture --per-cpu-bytes 8K -e 'loss/*' -- bash -c \
		'while_stopped $PPID taskset -c 0 "$ELOG" emit -n 2000 loss/much "u64 a" a=1'
	[ "$status" = 2 ]
	shown=$(grep -c 'loss - much a=1$' <<< "$output")
	lost=$(sed -n 's/^# lost \([0-9]*\) events on CPU 0: no room \1$/\1/p' <<< "$output" |
		awk '{ sum += $1 } END { print sum }')
	[ "$((shown + lost))" = 2000 ]
	[ "$lost" -gt 0 ]
	contains "$stderr" "$shown events in" "lost $lost: no room $lost" \
		"lost $lost of loss/much"

	# The loss has its place: later events follow it.
	start_capture --per-cpu-bytes 8K
	while_stopped "$capture" taskset -c 0 "$ELOG" emit -n 2000 loss/much
	wait_for grep -q '^# lost' "$work/out"
	taskset -c 0 "$ELOG" emit loss/last
	stop_capture INT
	[ "$status" = 2 ]
	mapfile -t lines < "$work/out"
	contains "${lines[-2]}" "# lost "
	contains "${lines[-1]}" "loss - last"

	# The largest event fits; a larger one is lost as too large.
	run_elog capture --per-cpu-bytes 8K -- "$ELOG" emit large/one \
		'__data_loc char[] s' s="$(printf '%05000d' 0)"
	[ "$status" = 2 ]
	contains "$stderr" "lost 1: too large 1" "lost 1 of large/one"
	contains "$output" "# lost 1 event on CPU" "too large 1"

	# The command's status takes precedence; the loss is still reported.
	run_elog capture --per-cpu-bytes 8K -- bash -c \
		'while_stopped $PPID "$ELOG" emit -n 2000 loss/much; exit 9'
	[ "$status" = 9 ]
	contains "$stderr" "no room" "sh ended with status 9"
}

# Signals a capture again; succeeds when it has ended.
insist()
{
	! kill -INT "$1" 2> /dev/null
}

@test "capture: a second signal ends it even if nothing reads its output" {
	mkfifo "$work/fifo"
	exec {out}<> "$work/fifo"
	# dd fills the pipe and leaves it non-blocking.
	dd if=/dev/zero bs=4096 oflag=nonblock >&"$out" 2> "$work/dd" || true
	"$ELOG" capture -v >&"$out" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
	elog emit a/b
	wait_for insist "$capture"
	status=0
	wait "$capture" || status=$?
	background=()
	[ "$status" = 2 ]
	contains "$(< "$work/err")" "0 events in" "1 not written"
}

@test "capture: --overwrite keeps the newest events, a signal prints a snapshot" {
	fails_with "--trigger needs a flight recorder: add --overwrite" \
		capture --trigger recorder/alarm
	fails_with "--trigger: invalid PROVIDER[/EVENT] 'x/'" capture --overwrite --trigger x/
	[ ! -e /sys/devices/system/cpu/cpu1 ] || local pin=(taskset -c 0)

	# Ten times the size of the ring; nothing is printed before the signal.
	start_capture --overwrite --per-cpu-bytes 8K -e 'recorder/*'
	"${pin[@]}" "$ELOG" emit -n 1000 recorder/step 'u32 number; char[20] text' number=1 text=old
	"${pin[@]}" "$ELOG" emit -n 50 recorder/step 'u32 number; char[20] text' number=2 text=new
	[ ! -s "$work/out" ]
	kill -USR1 "$capture"
	wait_for grep -q 'number=2' "$work/out"
	head -n 1 "$work/out" | grep -qx '# snapshot 1: requested'
	wait_for has_lines "$work/out" 52
	[ "$(grep -c 'number=2' "$work/out")" = 50 ]
	[ "$(grep -c 'number=1' "$work/out")" -lt 200 ]
	tail -n 1 "$work/out" | grep -q 'number=2'

	# Events are printed once; the end is a snapshot as well.
	"$ELOG" emit -n 3 recorder/step 'u32 number; char[20] text' number=3 text=newest
	stop_capture INT
	[ "$status" = 0 ]
	[ "$(grep -c 'number=3' "$work/out")" = 3 ]
	[ "$(grep -c 'number=2' "$work/out")" = 50 ]
	grep -qx '# snapshot 2: the end' "$work/out"
	grep -q 'lost 0$' "$work/err"
}

@test "capture: --trigger makes a snapshot that contains the trigger" {
	start_capture --overwrite -e 'recorder/*' --trigger 'recorder/ala*' --trigger other/alarm
	"$ELOG" emit recorder/step 'u32 number' number=1
	[ ! -s "$work/out" ]
	"$ELOG" emit recorder/alarm 'u32 code' code=7
	wait_for grep -q 'code=7' "$work/out"
	grep -qx '# snapshot 1: triggered' "$work/out"
	[ "$(grep -c 'number=1' "$work/out")" = 1 ]
	# The trigger need not be one of the recorded events.
	"$ELOG" emit recorder/step 'u32 number' number=2
	"$ELOG" emit other/alarm
	wait_for grep -q 'number=2' "$work/out"
	grep -qx '# snapshot 2: triggered' "$work/out"
	[ "$(grep -c 'other' "$work/out")" = 0 ]
	stop_capture TERM
	[ "$status" = 0 ] || [ "$status" = 2 ]
	grep -qx '# snapshot 3: the end' "$work/out"

	# The capture ends with the command.
	run_apart "$ELOG" capture --overwrite -e 'recorder/*' -- \
		"$ELOG" emit -n 5 recorder/step 'u32 number' number=4
	[ "$status" = 0 ]
	[ "$(grep -c 'number=4' <<< "$output")" = 5 ]
	[ "${lines[0]}" = '# snapshot 1: the end' ]

	# Also if the command ends during a snapshot.
	run_apart timeout "$HANG_SECONDS" "$ELOG" capture --overwrite -e 'recorder/*' \
		--trigger recorder/alarm -- "$ELOG" emit recorder/alarm
	[ "$status" = 0 ] || [ "$status" = 2 ]
	[ "$(grep -c 'alarm' <<< "$output")" = 1 ]
	[[ $output == *": the end" ]]

	# With -d it ends after that time.
	run_apart "$ELOG" capture --overwrite -d 0.1 -e 'recorder/*'
	[ "$status" = 0 ]
	[ "$output" = '# snapshot 1: the end' ]
}

@test "capture: --overwrite handles signals while it writes a snapshot" {
	mkfifo "$work/pipe"
	exec 5<> "$work/pipe"
	"$ELOG" capture -v --overwrite -e 'recorder/*' > "$work/pipe" 2> "$work/err" 3>&- 5>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
	"$ELOG" emit -n 2000 recorder/step 'u32 number; char[20] text' number=1 text=long
	# More than fits in a pipe: the snapshot waits for a reader.
	kill -USR1 "$capture"
	wait_full 5
	kill -USR1 "$capture"
	kill -TERM "$capture"
	timeout "$HANG_SECONDS" grep -q -m 1 '# snapshot 2: the end' "$work/pipe"
	exec 5>&-
	wait_for grep -q 'lost 0$' "$work/err"
	background=()
}

@test "capture: timestamps" {
	before=$(awk '{ print int($1) }' /proc/uptime)
	run_elog capture -q -- "$ELOG" emit a/b
	after=$(awk '{ print int($1) + 1 }' /proc/uptime)
	[[ $output =~ ^\ [01]\ [0-9a-f]{4,}\ .*\ ([0-9]+)\.[0-9]{9}\ a\ -\ b$ ]]
	[ "$before" -le "${BASH_REMATCH[1]}" ]
	[ "${BASH_REMATCH[1]}" -le "$after" ]
	before=$(date +%s)
	run_elog capture -q --time wall -- "$ELOG" emit a/b
	after=$(date +%s)
	[[ $output =~ ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8})\.[0-9]{9}\ a\ -\ b$ ]]
	stamp=$(date -d "${BASH_REMATCH[1]}" +%s)
	[ "$before" -le "$stamp" ]
	[ "$stamp" -le "$after" ]
	run_elog capture -q --time delta -- "$ELOG" emit -n 2 a/b
	[[ ${lines[0]} =~ \ 0\.000000000\ a ]]
	[[ ${lines[1]} =~ \ [0-9]+\.[0-9]{9}\ a ]]
	[[ ! ${lines[1]} =~ \ 0\.000000000\ a ]]
}

@test "list and info print events, subscribers and counts" {
	"$ELOG" emit --wait -k 0x10 -l warning things/thing 'u32 a; __data_loc char[] b' \
		a=1 b=x 3>&- &
	background+=($!)
	wait_for eval '"$ELOG" list -q things > "$work/list" 2> /dev/null'
	[[ $(< "$work/list") =~ ^\ +[0-9]+\ live\ +warning\ 0x10\ +things/thing\ \ u32\ a\;\ string\ b$ ]]
	run_elog list
	[ "$status" = 0 ]
	contains "${lines[0]}" ID STATE LEVEL KEYWORDS PROVIDER/EVENT
	run_elog list -q -v 't*/t?ing'
	contains "$output" "eventlog 1" "provider things" "event " "	string b"
	run_elog list nothing/here
	[ "$status" = 1 ]
	contains "$stderr" "no event 'nothing/here'"
	run_elog info -v
	[ "$status" = 0 ]
	contains "$output" "things/thing" "Active: 1"
	[[ $output =~ abi\ +3 ]]
	[[ $output =~ events\ +1 ]]

	"$EVENTLOG_TOOLS/examples/request_server" > "$work/port" 3>&- &
	background+=($!)
	wait_for has_lines "$work/port" 1
	run_elog capture -q -e request_server -- "$ELOG" list -q request_server/accept
	[ "$status" = 0 ]
	contains "$output" "live,enabled" "u32 connection; u16 port"
	run_elog list -q request_server/accept
	[[ $output =~ \ live\ +notice ]]
}

complete_words()
{
	# shellcheck disable=SC2016 # for the other shell
	bash -c 'source "$TREE/tools/elog/elog.bash-completion"
		_elog_print "$ELOG" "$@"' bash "${@:2}"
}

@test "completion: verbs, options, and existing events" {
	"$ELOG" emit --wait things/thing 3>&- &
	background+=($!)
	wait_for eval '"$ELOG" list -q things > /dev/null 2>&1'
	[ "$(complete_words elog cap)" = capture ]
	[ "$(complete_words elog hel)" = help ]
	[ "$(complete_words elog help lat)" = latency ]
	[ "$(complete_words elog capture --sam)" = --sample ]
	[ "$(complete_words elog capture -e thi)" = 'things
things/thing' ]
	[ "$(complete_words elog capture -l w)" = warning ]
	[ "$(complete_words elog list thi)" = 'things
things/thing' ]
	[ "$(complete_words elog emit --w)" = --wait ]
	[ "$(complete_words elog emit --std)" = $'--stdin\n--stdin=text\n--stdin=json' ]
	contains "$(complete_words elog capture -- sh)" sh
	# Every option of --help.
	for verb in $("$ELOG" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
		words=$(complete_words elog $verb --)
		mapfile -t options < <("$ELOG" $verb --help |
			sed -n 's/^ *\(-., \)*\(--[a-z-]*\).*/\2/p')
		[ "${#options[@]}" -ge 2 ]
		options=("${options[@]/#/$'\n'}")
		contains $'\n'"$words"$'\n' "${options[@]/%/$'\n'}"
	done
}

@test "completion: -e has the names of the events of files" {
	export ELOG_COMPLETION_SECONDS=300
	"$ELOG" capture -q -o "$work/one" -- "$ELOG" emit first/event
	"$ELOG" capture -q -o "$work/two" -- "$ELOG" emit second/event
	"$ELOG" create live/event
	[ "$(complete_words elog show "$work/one" -e '')" = $'first\nfirst/event' ]
	[ "$(complete_words elog stat "$work/one" "$work/two" -e '')" = \
		$'first\nfirst/event\nsecond\nsecond/event' ]
	[ "$(complete_words elog capture -o "$work/one" -e liv)" = $'live\nlive/event' ]
	[ "$(complete_words elog show -e liv)" = $'live\nlive/event' ]
	"$ELOG" delete live/event
}

@test "completion: zsh and fish complete what bash does" {
	local line shell words

	[ "$(command -v zsh)$(command -v fish)" ] || skip "there is neither zsh nor fish"
	export PATH=$EVENTLOG_TOOLS:$PATH ELOG_COMPLETION_SECONDS=300
	"$ELOG" capture -q -o "$work/file" -- "$ELOG" emit first/event
	ln -s "$TREE/tools/elog/elog.zsh-completion" "$work/_elog"
	cat > "$work/zshrc" <<-'ZSH'
		fpath=($1 $fpath)
		# compinit would read hundreds of files. It would call _elog, as this does.
		autoload -Uz _elog
		# What would be offered.
		compadd() { shift; print -l -- ${(M)@:#${words[CURRENT]}*} }
		_files() { print files }
		_normal() { print "command $words[1]" }
		words=("${@:2}"); CURRENT=$#words
		_elog
	ZSH
	for line in "elog cap" "elog capture --ro" "elog show $work/file -e f" "elog capture -l w" \
		"elog latency --time u"; do
		# shellcheck disable=SC2206 # these are words
		words=($line)
		for shell in zsh fish; do
			command -v $shell > /dev/null || continue
			if [ $shell = zsh ]; then
				zsh -f "$work/zshrc" "$work" "${words[@]}" > "$work/offered"
			else
				fish --no-config -c "source $TREE/tools/elog/elog.fish-completion
					complete -C '$line'" > "$work/offered"
			fi
			diff "$work/offered" <(complete_words "${words[@]}")
		done
	done
	! command -v zsh > /dev/null ||
		[ "$(zsh -f "$work/zshrc" "$work" elog capture -- l)" = "command l" ]
}

@test "capture -o, show: events are printed in order" {
	cat > "$work/producers" <<'PRODUCERS'
for i in 1 2 3; do
	for n in $(seq 5); do
		"$ELOG" emit -s "$i" -l "$i" -k "$i" file/step 'u32 number' "number=$n"
	done &
done
wait
PRODUCERS
	# A second capture at the same time prints the same events.
	start_capture -q -e file/step
	run_elog capture -o "$work/file" -e file/step -- bash "$work/producers"
	[ "$status" = 0 ]
	[ -z "$output" ]
	size=$(stat -c %s "$work/file")
	contains "$stderr" "15 events in" "$size bytes, lost 0"
	wait_for has_lines "$work/out" 15
	stop_capture INT
	run_elog show "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "15 events, lost 0"
	# Except times, which each reads itself, and names, which are looked up later.
	diff <(awk '{ $3 = $4 = ""; print }' "$work/out" | sort) \
		<(awk '{ $3 = $4 = ""; print }' <<< "$output" | sort)
	awk '{ print $4 }' <<< "$output" | sort -C -n
	awk '$3 ~ /^(elog|:[0-9]+|bash)$/ { n++ } END { exit n != 15 }' <<< "$output"

	# The options select events as those of capture do.
	run_elog show -q -s 2 "$work/file"
	[ "${#lines[@]}" = 5 ]
	[ "$(grep -c ' 0x2 step number=' <<< "$output")" = 5 ]
	[ "$("$ELOG" show -q -l error "$work/file" | wc -l)" = 10 ]
	[ "$("$ELOG" show -q -l warning "$work/file" | wc -l)" = 15 ]
	[ "$("$ELOG" show -q -k 2 "$work/file" | wc -l)" = 10 ]
	[ "$("$ELOG" show -q -k 4 "$work/file" | wc -l)" = 0 ]
	[ "$("$ELOG" show -q -e 'f*/st?p' "$work/file" | wc -l)" = 15 ]
	[ "$("$ELOG" show -q -e other -e file/other "$work/file" | wc -l)" = 0 ]
	[ "$("$ELOG" show -q -n 7 "$work/file" | wc -l)" = 7 ]
	[ "$("$ELOG" show -q -C 0 "$work/file" | awk '$1 != 0' | wc -l)" = 0 ]
	run_elog show -q -n 1 --time wall "$work/file"
	[[ $output == *" $(date +%Y-)"* ]]
	run_elog show -v -n 1 "$work/file"
	contains "$stderr" "kernel=\"$(uname -r)\"" "command=\"bash $work/producers\""
	run_elog show "$work/file" - "$work/file" < "$work/file"
	contains "$stderr" "45 events, lost 0"

	# Append to a file, replace a file.
	run_elog capture -q -o "$work/file" --append -- "$ELOG" emit -n 3 file/more
	[ "$status" = 0 ]
	run_elog show "$work/file"
	[ "$status" = 0 ]
	contains "$stderr" "18 events, lost 0"
	run_elog capture -q -o "$work/file" -- "$ELOG" emit -n 3 file/more
	run_elog show "$work/file"
	contains "$stderr" "3 events, lost 0"
}

@test "capture -o: through a pipe, with more events than fit in small rings" {
	# COMMAND's output does not mix with it.
	run bash -c '"$ELOG" capture -q -o - --per-cpu-bytes 64K -e pipe/x -- \
		sh -c "echo hello; \"\$ELOG\" emit -n 500 pipe/x \"u32 a\" a=9" |
		"$ELOG" show -' 3>&-
	[ "$status" = 0 ]
	contains "$output" hello "500 events, lost 0"
	[ "$(grep -c 'pipe - x a=9$' <<< "$output")" = 500 ]

	# Events are shown during the capture.
	mkfifo "$work/fifo"
	"$ELOG" show - < "$work/fifo" > "$work/shown" 2> "$work/shown.err" 3>&- &
	background+=("$!")
	"$ELOG" capture -v -o - > "$work/fifo" 2> "$work/err" 3>&- &
	capture=$!
	background+=("$capture")
	wait_for has_begun "$work/err" 'elog: capturing'
	for i in 1 2 3; do
		elog emit -n 1000 pipe/alive
		wait_for has_lines "$work/shown" $((1000 * i))
	done
	stop_capture INT
	[ "$status" = 0 ]
	contains "$(< "$work/err")" "3000 events in"
	wait_for grep -q "3000 events, lost 0" "$work/shown.err"
}

@test "capture -o: losses are in the file, and in the status of both" {
	run_elog capture --per-cpu-bytes 8K -o "$work/file" -e 'loss/*' -- bash -c \
		'for i in 1 2 3; do
			while_stopped $PPID taskset -c 0 "$ELOG" emit -n 1000 loss/much "u64 a" a=1
		done'
	[ "$status" = 2 ]
	lost=$(sed -n 's/.*lost \([0-9]*\): no room.*/\1/p' <<< "$stderr")
	[ "$lost" -gt 0 ]
	run_elog show "$work/file"
	[ "$status" = 2 ]
	shown=$(grep -c 'loss - much a=1$' <<< "$output")
	[ "$((shown + lost))" = 3000 ]
	contains "$stderr" "$shown events, lost $lost: no room $lost"
	told=$(sed -n 's/^# lost \([0-9]*\) events* on CPU 0: no room \1$/\1/p' <<< "$output" |
		awk '{ sum += $1 } END { print sum }')
	[ "$told" = "$lost" ]
}

@test "capture -o: a full disk, SIGKILL and damage leave a readable file" {
	mkdir "$work/small"
	mount -t tmpfs -o size=1M none "$work/small"
	run_elog capture -o "$work/small/file" -- \
		"$ELOG" emit -n 60000 full/x 'u64 a' a=1
	full=$status
	message=$stderr
	run_elog show "$work/small/file"
	umount "$work/small"
	[ "$full" = 1 ]
	contains "$message" "small/file: No space left on device" "elog show can print"
	[ "$status" = 2 ]
	contains "$stderr" "not written "
	[ "$(grep -c 'full - x a=1$' <<< "$output")" -gt 1000 ]
	contains "$message" "elog: $(grep -c 'full - x' <<< "$output") events"

	start_capture -o "$work/file" -e kill/x
	elog emit -n 1000 kill/x
	shows_all()
	{
		[ "$("$ELOG" show -q "$work/file" 2> /dev/null | wc -l)" = 1000 ]
	}
	wait_for shows_all
	kill -KILL "$capture"
	wait "$capture" || true
	run_elog show "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "the capture was cut off" "1000 events, lost 0"

	# Append one more event, then change a byte of the first part.
	run_elog capture -q -o "$work/file" --append -- "$ELOG" emit -n 10 kill/y
	[ "$status" = 0 ]
	run_elog show "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "1010 events"
	printf X | dd of="$work/file" bs=1 seek=2000 conv=notrunc status=none
	run_elog show "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "are damaged: skipped"
	[ "$(grep -c 'kill - y$' <<< "$output")" = 10 ]
}

@test "capture -o, show: wrong usage" {
	fails_with "--time does not go with -o" capture -o "$work/file" --time wall
	fails_with "--format does not go with -o" capture -o "$work/file" --format json
	fails_with "--fields does not go with --split" capture --split "$work/dir" --fields time
	fails_with "-o does not go with --split" capture --split "$work/dir" -o "$work/file"
	fails_with "--rotate does not go with --split" capture --split "$work/dir" --rotate 1M
	fails_with "--overwrite does not go with --split" capture --split "$work/dir" --overwrite
	fails_with "--rotate needs a file with a name" capture -o - --rotate 1M
	fails_with "--rotate: invalid SIZE[,KEEP][,AGE] '1K': column 1: must be a size from 64K" capture -o "$work/file" --rotate 1K
	fails_with "--rotate: invalid SIZE[,KEEP][,AGE] '1M,0'" capture -o "$work/file" --rotate 1M,0
	fails_with "--compress: invalid level '20': must be a number from 1 to 19" capture -o "$work/file" --compress=20
	fails_with "add -o FILE" capture --compress
	fails_with "add -o FILE" capture --rotate 1M
	fails_with "--background needs -o FILE" capture --background
	fails_with "--background needs -o FILE" capture --background -o -
	fails_with "--background needs -o FILE" capture --background -o "$work/file" -- true
	fails_with "no background capture writes to it" stop "$work/file"
	fails_with "there is no background capture" stop
	fails_with "add -o FILE" capture --append
	fails_with "-o: invalid file ''" capture -o ''
	fails_with "No such file" capture -o "$work/none/file"
	fails_with "No space left on device" capture -o /dev/full
	[ ! -e "$work/file" ]
	fails_with "FILE is missing" show
	fails_with "--follow needs exactly one FILE" show --follow "$work/a" "$work/b"
	fails_with "--fields does not go with" show --fields time --session-summary "$work/a"
	fails_with "column 4" show -f "a >" "$work/file"
	fails_with "--since: invalid time 'someday': column 1: must be like -5m" show --since someday "$work/file"
	fails_with "--around: invalid TIME+-SPAN '5'" show --around 5 "$work/file"
	fails_with "--format: invalid format 'prometheus': must be one of text, json, csv" show --format prometheus "$work/file"
	fails_with "--color: invalid argument 'maybe': must be one of auto, always, never" show --color maybe "$work/file"
	fails_with "No such file" show "$work/file"
	fails_with "Is a directory" show "$work"
	fails_with "not a file of elog capture -o" show /dev/null
	fails_with "not a file of elog capture -o" show "$ELOG"
	run script -qec '"$ELOG" capture -o -' /dev/null 3>&-
	[ "$status" = 1 ]
	[[ $output == *"binary data: not to a terminal"* ]]
}

@test "examples: demo.sh works" {
	run env EVENTLOG_BUILD="$EVENTLOG_BUILD" bash "$TREE/tools/examples/demo.sh" 3>&-
	echo "$output"
	[ "$status" = 0 ]
	contains "$output" "events were captured in order; no events were lost"
}
