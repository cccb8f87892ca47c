#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Markers of running programs are listed from what the programs have registered. They meet:
# several processes, libraries that are loaded and unloaded, other users, mount and pid
# namespaces, fork, processes that end, policies, instances, a module that is loaded later.
# Needs root.

load elog.bash

setup_file()
{
	find_built
	export HERD_DIR=$BATS_FILE_TMPDIR
	build_herd
}

# A program with markers, and a library with one, which does what it reads from stdin.
build_herd()
{
	cat > "$HERD_DIR/liblamb.so.c" <<-'SOURCE'
		#include <elog_marker.h>
		void lamb(int number);
		void lamb(int number)
		{
			ELOG_MARKER(lamb, FIELD(auto, number));
		}
	SOURCE
	cat > "$HERD_DIR/herd.c" <<-'SOURCE'
		#include <dlfcn.h>
		#include <elog_marker.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		static void graze(const char *where)
		{
			ELOG_MARKER(graze, FIELD(auto, where));
			ELOG_MARKER_SESSION(7, graze);
		}
		int main(void)
		{
			void *library = NULL;
			char word[64];
			while (scanf("%63s", word) == 1) {
				if (!strcmp(word, "load"))
					library = dlopen("liblamb.so", RTLD_NOW);
				else if (!strcmp(word, "unload"))
					dlclose(library);
				else if (!strcmp(word, "print"))
					elog_markers_switch("graze", ELOG_MARKER_PRINT);
				else if (!strcmp(word, "default"))
					elog_markers_switch("graze", ELOG_MARKER_TRACE);
				else if (!strcmp(word, "fork") && fork())
					for (;;)
						pause();
				else if (!strcmp(word, "pass"))
					graze("hill");
				else if (!strcmp(word, "end"))
					break;
				printf("%s %d\n", word, (int)getpid());
				fflush(stdout);
			}
			return 0;
		}
	SOURCE
	compile liblamb.so -shared -fPIC
	compile herd
	chmod 755 "$HERD_DIR"
}

# compile NAME [FLAG...]
compile()
{
	# shellcheck disable=SC2086 # maybe several words
	(cd "$HERD_DIR" && ${CC:-gcc} -O2 -I"$TREE/tools/libelog/include" -I"$TREE/uapi" -o "$1" \
		"$1.c" "${@:2}" -L"$EVENTLOG_TOOLS" -lelog -ldl -Wl,-rpath,"$EVENTLOG_TOOLS" \
		-Wl,-rpath,"$HERD_DIR")
}

# start_herd NAME [COMMAND...]: starts it; its process is $started.
start_herd()
{
	local name=$1

	shift
	mkfifo "$work/$name.in"
	"$@" "$HERD_DIR/herd" < "$work/$name.in" > "$work/$name.out" 2> "$work/$name.err" 3>&- &
	started=$!
	background+=("$started")
	exec {to}> "$work/$name.in"
	declare -g "to_$name=$to"
	order "$name" begin
}

# order NAME WORD...: lets it do something, and waits until it has done that.
order()
{
	local name=$1 variable=to_$1 word before

	shift
	for word in "$@"; do
		before=$(wc -l < "$work/$name.out")
		echo "$word" >&"${!variable}"
		wait_for has_lines "$work/$name.out" $((before + 1))
	done
}

# Lines of the list, with single blanks.
listed()
{
	"$ELOG" marker list -q "$@" | tr -s ' '
}

json()
{
	"$ELOG" marker list --format json "$@" | python3 -c "
import json, sys
markers = [json.loads(line) for line in sys.stdin]
assert $check, markers"
}

@test "processes of a program share lines while their handlers are the same" {
	start_herd first
	first=$started
	start_herd second
	second=$started
	[ "$(listed)" = "trace - herd/graze herd.c:graze:0 string where
trace - herd/graze herd.c:graze:1 (session)" ]
	check="all(m['pids'] == sorted([$first, $second]) for m in markers) and len(markers) == 2" json
	check="markers[1]['event'] == 'graze_2' and markers[1]['tag'] == 'graze'" json
	check="markers[0]['defaults'] == ['trace'] and markers[0]['line'] == 9" json
	order second print
	[ "$(listed | sort)" = "print print herd/graze herd.c:graze:0 string where
print print herd/graze herd.c:graze:1 (session)
trace - herd/graze herd.c:graze:0 string where
trace - herd/graze herd.c:graze:1 (session)" ]
	check="[m['pids'] for m in markers] == [[$second], [$first]] * 2" json
	order second default
	[ "$(listed | wc -l)" = 2 ]
	# What a running program has equals what its file has.
	[ "$(listed)" = "$(listed "$HERD_DIR/herd")" ]
	kill -KILL "$first"
	wait "$first" || true
	check="all(m['pids'] == [$second] for m in markers) and len(markers) == 2" json
	kill -KILL "$second"
	wait "$second" || true
	fails_with "there are no markers" marker list
}

@test "handlers that the environment sets are those at first, too" {
	start_herd first env ELOG_MARKERS='graze=probe+print'
	[ "$(listed | cut -d ' ' -f 1 | sort -u)" = print,probe ]
	check="all(m['defaults'] == ['trace'] for m in markers)" json
}

@test "a library is listed while it is loaded" {
	start_herd first
	order first load
	run_elog marker list --tree
	[ "$output" = "herd
  herd.c
    graze
      graze (0, trace)
      graze (1, trace)
  liblamb.so.c
    lamb
      lamb (0, trace)" ]
	order first unload
	[ "$(listed | grep -c lamb)" = 0 ]
	[ "$(listed | wc -l)" = 2 ]
	order first load
	[ "$(listed lamb)" = "trace - herd/lamb liblamb.so.c:lamb:0 s32 number" ]
}

@test "each user sees its own programs, and root sees all" {
	chmod 666 /dev/eventlog
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
	start_herd first
	start_herd second "${user[@]}"
	second=$started
	check="len(markers[0]['pids']) == 2" json
	"${user[@]}" "$ELOG" marker list --format json > "$work/json" 2> "$work/err"
	grep -q "markers of modules and of other users are not shown" "$work/err"
	[ "$(wc -l < "$work/json")" = 2 ]
	[ "$(grep -c "\"pids\":\[$second\]" "$work/json")" = 2 ]
	# Without a program of its own, it sees nothing; with the capability, all.
	other=(setpriv --reuid 65533 --regid 65533 --clear-groups)
	run_apart "${other[@]}" --inh-caps=-all "$ELOG" marker list
	[ "$status" = 1 ]
	[[ $output$stderr != *herd* ]]
	run_apart "${other[@]}" --inh-caps=-all,+perfmon --ambient-caps=-all,+perfmon \
		"$ELOG" marker list -q
	chmod 600 /dev/eventlog
	[ "$status" = 0 ]
	[ "$(tr -s ' ' <<< "${lines[0]}")" = "trace - herd/graze herd.c:graze:0 string where" ]
}

@test "the file may be out of reach, or another one" {
	# shellcheck disable=SC2016 # for the other shell
	start_herd first unshare -m sh -c 'mount -t tmpfs none /mnt && mkdir /mnt/own &&
		cp "$0" /mnt/own/goat && exec /mnt/own/goat'
	[ ! -e /mnt/own ]
	cp "$HERD_DIR/herd" "$work/sheep"
	mkfifo "$work/sheep.in"
	"$work/sheep" < "$work/sheep.in" > /dev/null 3>&- &
	background+=("$!")
	exec 7> "$work/sheep.in"
	wait_for "$ELOG" marker list -q --program sheep graze
	cp "$TREE/build/tools/examples/teahouse" "$work/new"
	mv "$work/new" "$work/sheep"
	[ "$(listed)" = "trace - goat/graze herd.c:graze:0 string where
trace - goat/graze herd.c:graze:1 (session)
trace - sheep/graze herd.c:graze:0 string where
trace - sheep/graze herd.c:graze:1 (session)" ]
	exec 7>&-
}

@test "a child of fork is listed once it passes a marker" {
	start_herd first
	order first fork
	child=$(sed -n 's/^fork //p' "$work/first.out")
	background+=("$child")
	order first pass
	check="markers[0]['pids'] == sorted([$started, $child])" json
	kill -KILL "$started"
	wait "$started" || true
	wait_for test ! -e "/proc/$started"
	check="markers[0]['pids'] == [$child]" json
}

# list_while COMMAND...: runs it while markers are listed; sets $status, $text and $errors.
list_while()
{
	local listing

	"$ELOG" marker list -q > "$work/list" 2> "$work/list.err" 3>&- &
	listing=$!
	"$@"
	status=0
	wait "$listing" || status=$?
	text=$(tr -s ' ' < "$work/list")
	errors=$(< "$work/list.err")
}

# end_herd NAME: lets it end.
end_herd()
{
	local variable=to_$1

	echo end >&"${!variable}"
}

# Ends program $1 - 1, and starts program $1.
replace_herd()
{
	end_herd "kid$(($1 - 1))"
	start_herd "kid$1"
}

@test "programs start and end while they are listed" {
	all="trace - herd/graze herd.c:graze:0 string where
trace - herd/graze herd.c:graze:1 (session)"
	# One of them runs all the time. A marker has the place if it is listed.
	start_herd first
	start_herd kid0
	for ((i = 1; i <= 20; i++)); do
		list_while replace_herd "$i"
		[ "$status" = 0 ]
		[ "$text" = "$all" ]
	done
	end_herd first
	wait "${background[0]}"
	# The only one ends, and was listed or not.
	for ((; i <= 40; i++)); do
		list_while end_herd "kid$((i - 1))"
		if [ "$status" = 0 ]; then
			[ "$text" = "$all" ]
		else
			contains "$errors" "there are no markers"
		fi
		wait "$started"
		start_herd "kid$i"
	done
}

@test "policies come before the program, the module after it" {
	elog marker enable -q --program herd --if 'where == hill' graze
	rmmod eventlog
	start_herd first
	order first pass
	insmod "$EVENTLOG_KO"
	fails_with "there are no markers" marker list
	wait_for passes_and_is_listed
	[ "$(listed | cut -d ' ' -f 1 | sort -u)" = trace ]
	elog marker enable -q --program herd --if 'where == hill' graze
	start_herd second
	order second pass
	grep -q 'graze herd.c:graze:0: where="hill"' "$work/second.err"
	[ "$(listed graze | head -n 1)" = "print,trace print herd/graze herd.c:graze:0 string where" ]
	elog marker disable -q --program '*' '*'
}

passes_and_is_listed()
{
	order first pass
	"$ELOG" marker list > /dev/null 2>&1
}

@test "instances: each has its own programs" {
	elog create --instance herd
	start_herd first env ELOG_DEVICE=/dev/eventlog-herd
	fails_with "there are no markers" marker list
	[ "$(listed -D /dev/eventlog-herd | wc -l)" = 2 ]
	end_background
	elog delete --instance herd
}

@test "places with any characters, and events without a place" {
	cat > "$work/w:ei*rd, line 3, tag x.c" <<-'SOURCE'
		#include <elog_marker.h>
		#include <unistd.h>
		int main(void)
		{
			ELOG_MARKER(opened);
			pause();
			return 0;
		}
	SOURCE
	# shellcheck disable=SC2086 # maybe several words
	(cd "$work" && ${CC:-gcc} -O2 -I"$TREE/tools/libelog/include" -I"$TREE/uapi" -o odd-one \
		./*.c -L"$EVENTLOG_TOOLS" -lelog -Wl,-rpath,"$EVENTLOG_TOOLS")
	"$work/odd-one" 3>&- &
	background+=("$!")
	wait_for "$ELOG" marker list -q --program 'odd-one' opened
	[ "$(listed)" = 'trace - odd_one/opened w:ei*rd, line 3, tag x.c:main:0' ]
	check="markers[0]['line'] == 5 and markers[0]['tag'] == 'opened'" json
	# Programs without the library.
	python3 -c '
import ctypes, fcntl, os, struct, sys, time
fd = os.open("/dev/eventlog", os.O_RDWR)
provider = ctypes.create_string_buffer(b"markers_bare")
keep = []
for command in b"opened u32 x", b"other \"of: x:\" u32 x", b"third \"a:b:9x, line 4x\"":
    keep.append(ctypes.create_string_buffer(command))
    request = struct.pack("=IIQQQIIIIQII", 64, 0, ctypes.addressof(keep[-1]),
                          ctypes.addressof(provider), 0, 6, 0, 0, 0, 0, 0, 0)
    fcntl.ioctl(fd, 3 << 30 | 4 << 16 | 0xe7 << 8 | 1, bytearray(request))
time.sleep(10000)
' 3>&- &
	bare=$!
	background+=("$bare")
	wait_for "$ELOG" marker list -q --program bare third
	[ "$(listed --program bare)" = "trace - bare/opened - u32 x
trace - bare/other - u32 x
trace - bare/third -" ]
	check="all(m['pids'] == [$bare] for m in markers)" json --program bare
}

@test "the description of the event has the place" {
	start_herd first
	run_elog list --tree markers_herd/graze
	contains "$output" "herd.c:graze:0, line 9"
}

@test "a set is a file of commands, for elog or a shell" {
	elog marker enable -q --program 'he*' --if 'where == "it'\''s"' graze
	elog marker disable -q --program 'herd' --handler probe 'g*'
	elog marker save -q "$work/set"
	[ "$(sed '1d' "$work/set")" = "elog marker disable -q --program '*' '*'
elog marker enable -q --handler print --if 'where == \"it'\\''s\"' --program 'he*' -- 'graze'
elog marker disable -q --handler probe --program 'herd' -- 'g*'
# end" ]
	elog marker policies > "$work/before"
	elog marker disable -q --program '*' '*'
	PATH=$EVENTLOG_TOOLS:$PATH sh "$work/set"
	elog marker policies | diff "$work/before" -
	elog marker disable -q --program '*' '*'
	# Comments, blank lines and other spellings.
	{ printf '\n# mine\n\t\nelog marker en --program=kid "b*" c\n'; cat "$work/set"; } > "$work/own"
	run_elog marker restore "$work/own"
	[ "$status" = 0 ]
	elog marker policies | diff "$work/before" -
	elog marker disable -q --program '*' '*'
	# Anything else changes nothing.
	i=0
	for line in 'elog marker list' 'elog marker save x' 'elog marker restore x' 'elog marker' \
		'elog' 'elog show' 'ls' 'elog marker enable -D /dev/x --program a b' \
		'elog marker enable --program a' 'elog marker enable --nonsense --program a b' \
		'elog marker enable --help' 'elog marker enable --program a b; ls' \
		"elog marker enable --program a 'b" 'elog marker enable --program a $(ls)' \
		'elog marker enable --program a --handler trace b' \
		'elog marker enable --program a --if "b ==" c' \
		'elog marker disable --program a --if "b == 1" c' \
		'elog marker set --program a --handler print b' 'elog marker set --module a b' \
		'elog marker set --handler - --if "b == 1" c' 'elog marker enable --program a b*' \
		'elog marker enable --program a "$X"'; do
		printf '%s\n%s\n# end\n' "elog marker enable --program kid b" "$line" > "$work/bad"
		run_elog marker restore "$work/bad"
		echo "$line: $stderr"
		[ "$status" = 1 ]
		[[ $stderr = *"line 2: not a set of markers"* ]]
		[ -z "$(elog marker policies -q)" ]
		i=$((i + 1))
	done
	[ $i = 22 ]
	# A set that was cut at any byte.
	size=$(stat -c %s "$work/set")
	for ((i = 0; i < size; i += 41)); do
		head -c "$i" "$work/set" > "$work/cut"
		run_elog marker restore "$work/cut"
		[ "$status" = 1 ]
		[ -z "$(elog marker policies -q)" ]
	done
}
