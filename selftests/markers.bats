#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Markers of programs and of modules, from the command line. Needs root.

load elog.bash

setup_file()
{
	find_built
	export TEAHOUSE=$EVENTLOG_TOOLS/examples/teahouse
	export MODULES=${EVENTLOG_KO%/*}/module/ktest
}

teardown()
{
	end_background
	rmmod eventlog_marker_example 2> /dev/null || true
	rmmod eventlog_marker_predicate 2> /dev/null || true
}

@test "programs: every executed marker emits an event" {
	run_elog capture -e 'markers_teahouse' -o "$work/file" -- "$TEAHOUSE" 2
	[ "$status" = 0 ]
	contains "$output" "2 evaluated"
	run_elog show --fields event,fields "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 15 ]
	contains "${lines[0]}" "event=opened fields={\"guests\":2,\"argv_0\":\"$TEAHOUSE\"}"
	contains "$output" 'event=serve fields={"order_guest":"Alice","order_number":1,"order_cups":2,"order_milk":1,"order_celsius":-5,"order":'
	contains "$output" 'event=drink_2 fields={"order_guest":"Alice","with_milk":1}'
	contains "$output" 'event=numbers fields={"signed_char_1":-1,"_0xffffU":65535,"_1L":-1,"_0x1ffff":65535,"_1ULL_40":1099511627776}'
	contains "${lines[14]}" 'event=closed fields={"guests":2}'
}

@test "programs: arguments of disabled markers are not evaluated" {
	run "$TEAHOUSE" 5
	[ "$output" = "0 evaluated" ]
	run_elog capture -e 'markers_teahouse/served' -- "$TEAHOUSE" 3
	[ "$status" = 0 ]
	contains "$output" "0 evaluated"
	[ "$(grep -c 'markers_teahouse - served' <<< "$output")" = 3 ]
}

@test "programs: without the module, and with a module loaded later" {
	rmmod eventlog
	run "$TEAHOUSE" 3
	[ "$output" = "0 evaluated" ]
	ELOG_MARKERS='served=print' run "$TEAHOUSE" 2
	contains "$output" "served examples/teahouse.c:serve:3:"
	# Markers that print are traced as well after it is loaded.
	ELOG_MARKERS='*=trace+print' "$TEAHOUSE" 4000000000 > /dev/null 2> "$work/printed" 3>&- &
	background+=("$!")
	wait_for [ -s "$work/printed" ]
	insmod "$EVENTLOG_KO"
	wait_for "$ELOG" marker list -q --module teahouse served
}

# Starts a program that registers its markers and runs; its process is $started.
start_teahouse()
{
	"$@" 4000000000 > /dev/null 2> "$work/printed" 3>&- &
	started=$!
	background+=("$started")
	wait_for "$ELOG" marker list -q --module "${1##*/}" opened
}

@test "programs: listed with source places while they run" {
	cp "$TEAHOUSE" "$work/kettle"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	start_teahouse "$work/kettle"
	# Also if the file is removed.
	rm "$work/kettle"
	ELOG_MARKERS='drink=trace+print,serve=' start_teahouse "$TEAHOUSE"
	run_elog marker list
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 19 ]
	contains "$(tr -s " " <<< "$output")" " kettle/drink examples/teahouse.c:drink:1 string order_guest; u8 with_milk"
	[ "$(grep -c '^print,trace  *print  *teahouse/drink ' <<< "$output")" = 2 ]
	[ "$(grep -c '^-  *-  *teahouse/serve ' <<< "$output")" = 1 ]
	run_elog marker list --tree --module 'k*' 'drink*' opened
	[ "$status" = 0 ]
	[ "$output" = "kettle
  examples/teahouse.c
    drink
      drink (0, trace)
      drink (1, trace)
    main
      opened (0, trace)" ]
	elog marker list --format json --module teahouse > "$work/json"
	elog marker list --format json "$TEAHOUSE" > "$work/file"
	python3 -c '
import json, sys
live, file = ([json.loads(line) for line in open(name)] for name in sys.argv[2:])
assert len(live) == len(file) == 9
for a, b in zip(live, file):
    assert a["program"] == "teahouse" and b["file"] == "teahouse", (a, b)
    assert a["pids"] == [int(sys.argv[1])] and a["descriptor"] > 0, a
    for name in "tag", "event", "path", "function", "ordinal", "line", "id", "fields":
        assert a[name] == b[name], (a, b)
' "$started" "$work/json" "$work/file"
	# Subscribed markers are enabled.
	start_elog capture -e 'markers_kettle/served' -o "$work/captured"
	[ "$(elog marker list -q --module kettle | grep -c '^trace  *trace ')" = 1 ]
	[ "$(elog marker list -q --module teahouse | grep -c '^trace  *trace ')" = 0 ]
}

@test "programs: markers are static probes" {
	local sdt='#include <sys/sdt.h>'

	# shellcheck disable=SC2086 # maybe several words
	${CC:-gcc} -E - <<< "$sdt" > /dev/null 2>&1 || skip "there is no <sys/sdt.h>"
	command -v perf > /dev/null || skip "there is no perf"
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs none /sys/kernel/tracing
	[ -e /sys/kernel/tracing/uprobe_events ] || skip "the kernel has no uprobes"
	# shellcheck disable=SC2086 # maybe several words
	${CC:-gcc} -O2 -DELOG_MARKER_USDT -I"$TREE/tools/libelog/include" -I"$TREE/uapi" \
		-o "$work/teapot" "$TREE/tools/examples/teahouse.c" -L"$EVENTLOG_TOOLS" -lelog \
		-Wl,-rpath,"$EVENTLOG_TOOLS"
	export HOME=$work
	cd "$work"
	[ "$(./teapot 3)" = "0 evaluated" ]
	perf buildid-cache --add ./teapot
	perf list sdt | grep -q sdt_elog:opened
	perf probe -q sdt_elog:evaluated
	run perf record -q -o data -e 'sdt_elog:evaluated' ./teapot 3
	[ "$output" = "3 evaluated" ]
	run_apart perf script -i data
	perf probe -q -d 'sdt_elog:*'
	[ "${#lines[@]}" = 3 ]
	contains "${lines[2]}" "arg1=2"
	# The probe is detached again.
	[ "$(./teapot 3)" = "0 evaluated" ]
}

@test "programs: enabled from outside, running ones and later ones" {
	run_elog marker enable --program kettle --handler print served
	[ "$status" = 0 ]
	contains "$stderr" "0 markers, 0 changed"
	cp "$TEAHOUSE" "$work/kettle"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	run_apart "$work/kettle" 2
	[ "$output" = "0 evaluated" ]
	[ "$(grep -c '^served examples/teahouse.c:serve:3:' <<< "$stderr")" = 2 ]
	run_apart "$TEAHOUSE" 2
	[ -z "$stderr" ]
	start_teahouse "$TEAHOUSE"
	[ ! -s "$work/printed" ]
	run_elog marker enable --program 'tea*' evaluated 'drink*'
	[ "$status" = 0 ]
	contains "$stderr" "3 markers, 3 changed"
	wait_for grep -q '^evaluated .* evaluate_order_number=' "$work/printed"
	run_elog marker list evaluated served
	[ "$(grep -c '^print,trace  *print  *teahouse/evaluated ' <<< "$output")" = 1 ]
	[ "$(grep -c '^trace  *-  *teahouse/served ' <<< "$output")" = 1 ]
	run_elog marker disable --program teahouse 'drink*'
	[ "$status" = 0 ]
	[ "$(elog marker list -q drink | grep -c '^trace ')" = 2 ]
	run_elog marker policies -q
	[ "$status" = 0 ]
	[ "$(sed 's/  */ /g' <<< "$output")" = "+print kettle/served
+print tea*/evaluated
+print tea*/drink*
-print,probe teahouse/drink*" ]
	# A saved set, restored before programs start, as at boot.
	elog marker save -q "$work/set"
	elog marker disable -q --program '*' '*'
	run_elog marker policies --format json
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ "$(elog marker list -q evaluated | grep -c '^trace ')" = 1 ]
	end_background
	background=()
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker save -q "$work/again"
	cmp "$work/set" "$work/again"
	run_apart "$TEAHOUSE" 1
	[ "$(grep -c '^evaluated ' <<< "$stderr")" = 1 ]
	[ "$(grep -c '^drink ' <<< "$stderr")" = 0 ]
	[ "$output" = "1 evaluated" ]
	elog marker disable -q --program '*' '*'
	fails_with "whenever there is a subscriber" marker enable --program x --handler trace y
	fails_with "do not go together" marker enable --program x --module y z
	fails_with "pattern" marker enable --program x
	# Patterns that cannot match, and names that a provider cannot have.
	for marker in '' 'main.c:*' $'a\tb' $'a\nb'; do
		fails_with "of this name" marker enable --program x "$marker"
	done
	fails_with "of this name" marker enable --program '' x
	fails_with "'[' has no ']'" marker enable --program 'ket-tle[-' x
	run_elog marker enable -q --program 'ket-tle.?[!-]\*\[-' x
	run_elog marker policies -q
	[ "$(sed 's/  */ /g' <<< "$output")" = '+print ket_tle_?[!-]___/x' ]
	elog marker disable -q --program '*' '*'
}

@test "programs: a predicate selects what is printed" {
	run_elog marker enable --program teahouse --if 'guests > 2' opened
	[ "$status" = 0 ]
	# It applies to markers that have the fields, and does not change others.
	run_elog marker enable --program 'tea*' --handler print \
		--if 'order_guest ~ "^Al" && order_number >= 3' '*'
	[ "$status" = 0 ]
	run --separate-stderr "$TEAHOUSE" 2
	[ -z "$stderr" ]
	run --separate-stderr "$TEAHOUSE" 6
	[ "$(cut -d ' ' -f 1 <<< "$stderr")" = "opened
serve
serve" ]
	contains "$stderr" 'order_guest="Alice" order_number=3'
	contains "$stderr" 'order_guest="Alice" order_number=5'
	run_elog marker policies -q
	[ "$(sed 's/  */ /g' <<< "$output")" = '+print teahouse/opened if guests > 2
+print tea*/* if order_guest ~ "^Al" && order_number >= 3' ]
	run_elog marker policies --format json
	contains "$output" '"operation":"enable","handlers":["print"],"predicate":"guests > 2"'
	# It applies to running programs. Tracers get all events.
	start_teahouse "$TEAHOUSE"
	wait_for [ -s "$work/printed" ]
	run_elog capture -e markers_teahouse/serve -n 4 --fields fields
	[ "$status" = 0 ]
	[ "$(grep -c order_guest <<< "$output")" = 4 ]
	contains "$output" Bob
	[ "$(grep -c Bob "$work/printed")" = 0 ]
	run_elog marker enable --program teahouse --if 'cups > 1' serve
	[ "$status" = 0 ]
	contains "$stderr" "incompatible with the fields of 1 marker:"
	run_elog marker list serve
	contains "$output" "print,trace"
	elog marker save -q "$work/set"
	elog marker disable -q --program teahouse opened serve
	[ "$(elog marker list -q serve | grep -c '^trace ')" = 1 ]
	elog marker restore -q "$work/set"
	elog marker save -q "$work/again"
	cmp "$work/set" "$work/again"
	[ "$(elog marker list -q serve | grep -c '^print,trace ')" = 1 ]
	elog marker disable -q --program '*' '*'
	[ "$(elog marker list -q serve | grep -c '^trace ')" = 1 ]
	# It also applies to markers that a file overrides.
	cat > "$work/redirected.c" <<-'SOURCE'
		#include <stdint.h>
		#include <stdio.h>
		struct elog_marker;
		static void redirected(const struct elog_marker *marker,
				       const uint64_t *values, void *context);
		#define ELOG_LOCAL_MARKERS_HANDLER redirected
		#include <elog_marker.h>
		static void redirected(const struct elog_marker *marker,
				       const uint64_t *values, void *context)
		{
			printf("%s %d %d\n", elog_marker_place(marker), (int)values[0], !context);
		}
		int main(void)
		{
			int i;
			for (i = -2; i < 3; i++)
				ELOG_MARKER(here, FIELD(auto, i));
			return 0;
		}
	SOURCE
	# shellcheck disable=SC2086 # maybe several words
	(cd "$work" && ${CC:-gcc} -O2 -I"$TREE/tools/libelog/include" -I"$TREE/uapi" -o redirected \
		redirected.c -L"$EVENTLOG_TOOLS" -lelog -Wl,-rpath,"$EVENTLOG_TOOLS")
	elog marker enable -q --program redirected --if 'i < -1 || i == 1' here
	run "$work/redirected"
	[ "$output" = "redirected.c:main:0 -2 1
redirected.c:main:0 1 1" ]
	elog marker disable -q --program '*' '*'
	fails_with "of this name" marker enable --program "$(printf '%01200d')" y
	fails_with "--if" marker enable --program x --if 'a ~ "x$"' y
	fails_with "--if needs enable" marker disable --program x --if 'a == 1' y
	[ -z "$(elog marker policies -q)" ]
}

# Compiles $work/$1.c with markers; the other arguments are flags.
compile_program()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # maybe several words
	(cd "$work" && ${CC:-gcc} -O2 -I"$TREE/tools/libelog/include" -I"$TREE/uapi" \
		-o "$name" "$name.c" "$@" -L"$EVENTLOG_TOOLS" -lelog -ldl \
		-Wl,-rpath,"$EVENTLOG_TOOLS" -Wl,-rpath,"$work")
}

@test "programs: a predicate that is false makes no system call" {
	command -v strace > /dev/null || skip "strace is not installed"
	cat > "$work/silent.c" <<-'SOURCE'
		#include <elog_marker.h>
		#include <unistd.h>
		static void fire(int i, const char *name)
		{
			ELOG_MARKER(here, FIELD(auto, i), FIELD(auto, name));
		}
		int main(void)
		{
			int i;
			fire(0, "tea");
			(void)!write(1, "begin\n", 6);
			for (i = 0; i < 1000; i++)
				fire(i, "tea");
			(void)!write(1, "end\n", 4);
			fire(1000, "tea");
			return 0;
		}
	SOURCE
	compile_program silent
	elog marker enable -q --program silent --handler print,probe --if 'i == 1000 &&
		pid > 1 && tid > 1 && cpu < 4096 && session == 0 || name ~ "^coffee"' here
	run_apart strace -f -o "$work/calls" "$work/silent"
	[ "$status" = 0 ]
	[ "$output" = "begin
end" ]
	[ "$(grep -c '^here .* i=1000 name="tea"$' <<< "$stderr")" = 1 ]
	[ "$(grep -c '^here ' <<< "$stderr")" = 1 ]
	# Only the calls of the program are between "begin" and "end".
	[ "$(sed -n '/begin/,/end/p' "$work/calls" | wc -l)" = 2 ]
	# The predicate was fetched: its sizes, then itself.
	[ "$(grep -c 'ioctl(.*0xe7, 0x14' "$work/calls")" = 2 ]
	elog marker disable -q --program '*' '*'
}

# Executes each argument as a command, and fires here with 0 to 3 in a library afterwards.
write_steps()
{
	cat > "$work/libstep.so.c" <<-'SOURCE'
		#include <elog_marker.h>
		void step(int number);
		void step(int number)
		{
			int i;
			for (i = 0; i < 4; i++)
				ELOG_MARKER(here, FIELD(auto, number), FIELD(auto, i));
		}
	SOURCE
	compile_program libstep.so -shared -fPIC
	cat > "$work/steps.c" <<-'SOURCE'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int is_forking = !strcmp(argv[1], "fork"), i;
			int is_unloading = !strcmp(argv[1], "unload");
			void (*step)(int) = 0;
			void *library = 0;
			char pid[16];
			for (i = 2; i < argc; i++) {
				if (!library)
					library = dlopen("libstep.so", RTLD_NOW);
				if (!library)
					return 1;
				step = (void (*)(int))dlsym(library, "step");
				sprintf(pid, "%d", (int)getpid());
				setenv("PID", pid, 1);
				if (system(argv[i]))
					return 2;
				step(i - 1);
				if (is_forking && !fork()) {
					step(100 + i - 1);
					_exit(0);
				}
				while (wait(0) > 0)
					;
				if (is_unloading && !dlclose(library))
					library = 0;
			}
			return 0;
		}
	SOURCE
	compile_program steps
}

@test "programs: a running program sees each change of its predicate" {
	local enable="elog marker enable -q --program steps"

	write_steps
	for mode in stay unload; do
		run_apart "$work/steps" "$mode" "$enable --if 'i == 1' here" \
			"$enable --if 'i > 2' here" "$enable --program other --if 'j == 2' there" \
			"$enable here" "$enable --if 'number == 6 && i == 2' here" true \
			"elog marker disable -q --program '*' '*'"
		[ "$status" = 0 ]
		[ "$(grep -o 'number=.*' <<< "$stderr")" = "number=1 i=1
number=2 i=3
number=3 i=3
number=4 i=0
number=4 i=1
number=4 i=2
number=4 i=3
number=6 i=2" ]
	done
}

@test "programs: predicates with pid in the child of fork" {
	local enable="elog marker enable -q --program steps"

	write_steps
	# shellcheck disable=SC2016 # the program expands PID
	run_apart "$work/steps" fork "$enable"' --if "pid == $PID && i == 1" here' \
		"$enable"' --if "pid != $PID && tid != $PID && i == 2" here' \
		"$enable --if 'i == 3' here"
	[ "$status" = 0 ]
	[ "$(grep -o 'number=.*' <<< "$stderr")" = "number=1 i=1
number=102 i=2
number=3 i=3
number=103 i=3" ]
	elog marker disable -q --program '*' '*'
}

@test "programs: a predicate that the library does not know" {
	write_steps
	# A newer kernel returns an operation of the future.
	cat > "$work/future.so.c" <<-'SOURCE'
		#include <dlfcn.h>
		#include <linux/eventlog.h>
		#include <stdarg.h>
		int ioctl(int fd, unsigned long number, ...);
		int ioctl(int fd, unsigned long number, ...)
		{
			int (*next)(int, unsigned long, void *) =
				(int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
			struct eventlog_filter_get *get;
			va_list list;
			void *argument;
			int ret;
			va_start(list, number);
			argument = va_arg(list, void *);
			va_end(list);
			ret = next(fd, number, argument);
			get = argument;
			if ((unsigned int)number == EVENTLOG_IOC_FILTER_GET && !ret && !get->flags &&
			    get->term_count)
				((struct eventlog_term *)(unsigned long)get->terms)->operation = 99;
			return ret;
		}
	SOURCE
	compile_program future.so -shared -fPIC -D_GNU_SOURCE
	elog marker enable -q --program steps --if 'i == 1' here
	# shellcheck disable=SC2016 # the program expands work
	work=$work LD_PRELOAD=$work/future.so run_apart "$work/steps" stay true \
		'unset LD_PRELOAD; elog marker list -q here > "$work/list" &&
		elog marker list --tree here > "$work/tree" &&
		elog marker list --format json here > "$work/json"' \
		'unset LD_PRELOAD; elog marker enable -q --program steps here;
		elog marker list -q here > "$work/later"'
	[ "$status" = 0 ]
	[ "$(grep -o 'number=.*' <<< "$stderr")" = "number=3 i=0
number=3 i=1
number=3 i=2
number=3 i=3" ]
	[ "$(grep -c 'steps/here .*(incompatible)$' "$work/list")" = 1 ]
	grep -q ', incompatible)$' "$work/tree"
	grep -q '"incompatible":true' "$work/json"
	[ "$(grep -c 'incompatible' "$work/later")" = 0 ]
	elog marker disable -q --program '*' '*'
}

@test "files: markers of a module's file equal those of the loaded module" {
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker list --format json > "$work/loaded"
	elog marker list --format json "$MODULES/eventlog_marker_example.ko" > "$work/file"
	python3 -c '
import json, sys
loaded, file = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
key = lambda marker: [marker[name] for name in ("path", "function", "ordinal", "tag",
    "line", "id", "defaults", "allowed")]
assert len(loaded) == len(file) == 11
assert sorted(map(key, loaded)) == sorted(map(key, file)), (loaded, file)
' "$work/loaded" "$work/file"
}

@test "modules: listed, as a tree, as JSON" {
	fails_with "no marker" marker list
	insmod "$MODULES/eventlog_marker_example.ko"
	run_elog marker list
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 12 ]
	contains "$output" "eventlog_marker_example/only_traced"
	contains "$output" "module/ktest/marker_example.c:serve:3"
	run_elog marker list -q 'only_*' '*:drink:1'
	[ "${#lines[@]}" = 2 ]
	fails_with "no module 'no*' with markers" marker list --module 'no*'
	run_elog marker list --tree
	[ "$status" = 0 ]
	contains "$output" "eventlog_marker_example
  module/ktest/marker_example.c
    drink
      drink (0, trace)
      drink (1, trace)
    serve
      order (0, trace)"
	run_elog marker list --format json order
	python3 -c '
import json, sys
marker = json.loads(sys.argv[1])
assert marker["module"] == "eventlog_marker_example", marker
assert marker["tag"] == "order" and marker["ordinal"] == 0, marker
assert marker["path"] == "module/ktest/marker_example.c", marker
assert marker["function"] == "serve" and marker["line"] > 0, marker
assert marker["handlers"] == ["trace"] and marker["active"] == [], marker
assert marker["allowed"] == ["print", "trace", "probe"], marker
value = 0xcbf29ce484222325
for byte in b"module/ktest/marker_example.c:serve:0":
    value = (value ^ byte) * 0x100000001b3 % 2**64
assert int(marker["id"], 16) == value, marker
' "$output"
}

@test "modules: enabled by pattern" {
	insmod "$MODULES/eventlog_marker_example.ko"
	run_elog marker enable --handler print,probe evaluated '*:drink:*'
	[ "$status" = 0 ]
	contains "$stderr" "3 markers, 3 changed"
	run_elog marker list -q evaluated drink
	[ "$(grep -c '^print,trace,probe ' <<< "$output")" = 2 ]
	[ "$(grep -c '^print,probe ' <<< "$output")" = 1 ]
	echo 3 > /sys/module/eventlog_marker_example/parameters/serve
	[ "$(< /sys/module/eventlog_marker_example/parameters/evaluated)" = 1 ]
	dmesg | grep -q 'eventlog: evaluated module/ktest/marker_example.c:serve:2: evaluate_order_number=1'
	run_elog marker disable evaluated
	[ "$status" = 0 ]
	echo 3 > /sys/module/eventlog_marker_example/parameters/serve
	[ "$(< /sys/module/eventlog_marker_example/parameters/evaluated)" = 1 ]
	fails_with "1 marker does not allow it" marker enable --handler print only_traced
	fails_with "no marker 'no such'" marker enable 'no such'
	fails_with "pattern" marker enable
	fails_with "nonsense" marker enable --handler nonsense '*'
	fails_with "nonsense" marker nonsense
	run_elog marker
	[ "$status" = 1 ]
}

@test "modules: a set is saved and restored" {
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker enable -q --handler print 'serve*' nothing
	elog marker disable -q 'drink'
	# Markers of a header have one place.
	run_elog marker set --handler probe 'p*r@2'
	[ "$stderr" = "elog: 1 marker, 1 changed" ]
	[ "$(elog marker list -q pour | grep -c '^probe ')" = 1 ]
	fails_with "there are not 9 markers 'pour'" marker set --handler probe 'pour@9'
	fails_with "no marker 'power'" marker set --handler probe 'power@1'
	run_elog marker save "$work/set"
	[ "$status" = 0 ]
	elog marker list > "$work/before"
	elog marker disable -q '*'
	elog marker list > "$work/disabled"
	run_apart cmp "$work/before" "$work/disabled"
	[ "$status" = 1 ]
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker list | diff "$work/before" -
	# A set for a module that is not loaded.
	rmmod eventlog_marker_example
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	contains "$stderr" "11 do not exist"
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker restore "$work/set"
	elog marker list | diff "$work/before" -
	# An invalid or truncated file changes nothing.
	head -c 30 "$work/set" > "$work/short"
	printf 'nonsense\n' > "$work/nonsense"
	{ cat "$work/set"; printf 'shout\t*\t1\tx\tx\n'; } > "$work/bad"
	elog marker disable -q '*'
	elog marker list > "$work/off"
	for file in short nonsense bad missing; do
		run_elog marker restore "$work/$file"
		[ "$status" = 1 ]
		elog marker list | diff "$work/off" -
	done
	run_elog marker save /no/such/directory/file
	[ "$status" = 1 ]
}

@test "modules: handlers are called if a predicate is true" {
	insmod "$MODULES/eventlog_marker_predicate.ko"
	hit=/sys/module/eventlog_marker_predicate/parameters/fire
	run_elog marker enable --if $'as_u8 == 3 &&\n\ttext ~ "^tea"' types
	[ "$status" = 0 ]
	contains "$stderr" "1 marker, 1 changed"
	run_elog marker list -q types
	contains "$output" ' if as_u8 == 3 && text ~ "^tea" (0 rejected)'
	run_elog capture -e 'markers_*/types' -- sh -c \
		"echo 3 teapot > $hit; echo 3 coffee > $hit; echo 4 tea > $hit; echo 3 tea > $hit"
	[ "$status" = 0 ]
	[ "$(grep -c 'text="\?tea' <<< "$output")" = 2 ]
	[ "$(grep -c ' types ' <<< "$output")" = 2 ]
	run_elog marker list --tree types
	contains "$output" 'types (0, trace) if as_u8 == 3 && text ~ "^tea" (2 rejected)'
	run_elog marker list --format json types
	python3 -c '
import json, sys
marker = json.loads(sys.argv[1])
assert marker["predicate"] == "as_u8 == 3 && text ~ \"^tea\"", marker
assert marker["rejected"] == 2 and marker["suppressed"] == 0, marker
' "$output"

	# Expressions of elog_filter(7).
	for case in 'as_s8 < -1:255:0' 'as_s8 < -1:254:1' 'as_u16 & 0x100|2:257:1' \
		'as_ipv4 == 10.1.0.0/16:167837955:1' 'as_ipv4 == 10.1.0.0/16:184615171:0' \
		'as_ipv4 == ::ffff:10.1.2.3:167838211:1' 'as_bool == true:256:1' \
		'as_port == 443:443:1' 'as_duration > 1.5us:1501:1' 'as_duration > 1.5us:1500:0' \
		'!(as_u8 == 1) || text:1:1' 'pid == 0:1:0' '@comm != nobody:1:1' 'as_u32:0:0' \
		'(as_u8 == 1 || as_u8 == 2) && as_u16 > 255:258:1' 'text == "a b":1:0'; do
		predicate=${case%:*:*}
		rest=${case#"$predicate":}
		elog marker enable -q --if "$predicate" types
		run_elog capture -q -e 'markers_*/types' -- sh -c "echo ${rest%:*} > $hit"
		[ "${case##*:} $predicate" = "$(grep -c ' types ' <<< "$output") $predicate" ]
	done

	# Other markers that match the glob do not change.
	run_elog marker enable --handler probe --if as_u8 '*'
	[ "$status" = 0 ]
	contains "$stderr" "incompatible with the fields of 3 markers"
	run_elog marker list -q fieldless
	[[ "$output" = "- "* ]]

	# A rejected predicate changes nothing.
	elog marker list > "$work/before"
	for case in 'no_such == 1:incompatible with the fields' 'text > 5:incompatible with the fields' \
		'as_u8 == tea:incompatible with the fields' 'text ~ "a.c":only plain text' 'text ~ tea:only plain text' \
		'@level == 1:@session' 'as_u8 ==:column 9' ':column 1' \
		'as_u8 > tea:not a number' "text == $(printf '%0256d' 0 | tr 0 x):255 bytes"; do
		fails_with "${case##*:}" marker enable --if "${case%:*}" types
		elog marker list | diff "$work/before" -
	done
	fails_with "--if 'as_u8 == 1 || txet == tea': column 15: no field 'txet'; did you mean 'text'?" \
		marker enable --if 'as_u8 == 1 || txet == tea' types
	[[ $stderr != *"no field 'as_u8'"* ]]
	fails_with "64 comparisons" marker enable \
		--if "$(printf 'as_u8!=%d||' {1..64})as_u8" types
	fails_with "1023 bytes" marker enable \
		--if "as_u8 == 1$(printf ' || as_u8 == %0100d' {1..10})" types
	fails_with "enable" marker disable --if 'as_u8 == 1' types
	elog marker list | diff "$work/before" -

	# Enabling without a predicate removes it.
	elog marker enable -q types
	run_elog marker list -q types
	[[ "$output" != *" if "* ]]
}

@test "modules: predicates are saved and restored" {
	insmod "$MODULES/eventlog_marker_example.ko"
	insmod "$MODULES/eventlog_marker_predicate.ko"
	elog marker enable -q --handler print --if 'text == "a	b" || as_u8 > 200' types
	elog marker enable -q --if 'pid == 7' fieldless shadowing
	elog marker save -q "$work/set"
	elog marker list > "$work/before"
	elog marker enable -q --handler print --if 'as_u8 == 1' types
	elog marker disable -q fieldless
	elog marker enable -q shadowing
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker list | diff "$work/before" -

	# Predicates that do not fit or are not allowed are reported; others are set.
	rmmod eventlog_marker_predicate
	insmod "$MODULES/eventlog_marker_predicate.ko"
	place=$(elog marker list -q only_traced | tr -s ' ' | cut -d ' ' -f 4)
	sed -e 's/as_u8 > 200/no_such/' -e "s|--handler trace\(.*$place\)|--handler print\1|" \
		"$work/set" > "$work/misfit"
	fails_with "the predicate of 1 marker is incompatible with its fields" marker restore "$work/misfit"
	contains "$stderr" "1 marker does not allow it"
	run_elog marker list -q types fieldless only_traced
	[ "$(grep -c '^- .*/types ' <<< "$output")" = 1 ]
	[ "$(grep -c '^trace .*/fieldless .* if pid == 7 ' <<< "$output")" = 1 ]
	[ "$(grep -c '^trace .*/only_traced ' <<< "$output")" = 1 ]
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	elog marker list | diff "$work/before" -

	# A file with an invalid predicate is invalid.
	elog marker disable -q '*'
	elog marker list > "$work/off"
	sed 's/as_u8 > 200/as_u8 >/' "$work/set" > "$work/wrong"
	sed 's/as_u8 > 200/text ~ ".*"/' "$work/set" > "$work/regular"
	sed 's/--handler print --if/--handler - --if/' "$work/set" > "$work/nothing"
	for file in wrong regular nothing; do
		fails_with "not a set of markers" marker restore "$work/$file"
		elog marker list | diff "$work/off" -
	done

	# So is a file with a truncated predicate.
	sed 's/as_u8 > 200/as_u8 > 2\x00/' "$work/set" > "$work/hidden"
	fails_with "not a set of markers" marker restore "$work/hidden"
	elog marker list | diff "$work/off" -

	# A predicate of another program, with text that is no expression.
	python3 -c '
import ctypes, fcntl, struct
term = struct.pack("=IIHHHHIIQQ", 0, 0, 0, 0xffff, 0xfffe, 0, 0, 0, 0, 0)
strings = [ctypes.create_string_buffer(text)
	   for text in (b"types", b"not elog\x27s", term, b"as_u8")]
marker, text, terms, pool = map(ctypes.addressof, strings)
condition = ctypes.create_string_buffer(struct.pack("=IIIIQQIIQ", 48, 0, 1, 40, terms, pool, 6, 11,
						    text))
request = struct.pack("=IIQQQQIIIIIIII", 72, 0, 0, marker, 0, ctypes.addressof(condition), 1, 0,
		      0, 0, 0, 0, 0, 0)
fcntl.ioctl(open("/dev/eventlog"), 3 << 30 | 4 << 16 | 0xe7 << 8 | 17, bytearray(request))
'
	run_elog marker list -q types
	contains "$output" " if not elog's (0 rejected)"
	cp "$work/set" "$work/kept"
	fails_with "the predicate 'not elog's' could not be restored" marker save "$work/kept"
	cmp "$work/set" "$work/kept"

	# Of a module that was unloaded.
	rmmod eventlog_marker_predicate
	run_elog marker restore "$work/set"
	[ "$status" = 0 ]
	contains "$stderr" "4 do not exist"
}

@test "modules: lines dropped by the rate limit are counted" {
	insmod "$MODULES/eventlog_marker_example.ko"
	elog marker enable -q --handler print served
	for i in {1..200}; do
		echo 1 > /sys/module/eventlog_marker_example/parameters/serve
	done
	run_elog marker list -q served
	[[ "$output" =~ \([0-9]+\ lines\ dropped\)$ ]]
}
