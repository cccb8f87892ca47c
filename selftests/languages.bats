#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples in Rust, Go and JavaScript, with real events. Needs the module. Where a
# language's compiler was not installed when make -C tools ran, its test is skipped.

load elog.bash

setup_file()
{
	find_built
	PATH=$EVENTLOG_TOOLS:$PATH
}

# Captures what an example emits, with these fields, and checks that it says so while the event is disabled.
emits()
{
	local example=$EVENTLOG_TOOLS/examples/$1

	[ -x "$example" ] || skip "no compiler for $1"
	run_apart "$example"
	[ "$status" = 0 ]
	[ "$output" = "the event is disabled; try: elog capture -e hello -- ./hello" ]
	run_elog capture -q --fields "$2" -e hello -- "$example"
	[ "$status" = 0 ]
}

@test "examples: hello.rs emits an event with libelog" {
	emits hello_rs event,session,number,text
	[[ $output =~ ^event=rust\ session=0x[0-9a-f]{16}\ number=42\ text=\"hello,\ world\"$ ]]
}

@test "examples: hello.go emits an event without a library" {
	emits hello_go event,number,text
	[ "$output" = 'event=go number=42 text="hello, world"' ]
}

@test "examples: follow.js prints events as they happen" {
	command -v node > /dev/null || skip "node is not installed"
	run_apart timeout 120 node "$TREE/tools/examples/follow.js" -e js -- \
		"$ELOG" emit -n 2 js/step 'u32 number; __data_loc char[] text' number=3 'text=a "b"'
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[0]} == *" js/step { number: 3, text: 'a \"b\"' }" ]]
	[ "${lines[2]}" = "2 js/step" ]
	run_apart timeout 120 node "$TREE/tools/examples/follow.js" --nonsense
	[ "$status" = 1 ]
}
