#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the commands in the EXAMPLES sections of the manual pages of elog's verbs, and those
# of README.md and of pages in tools/doc. Needs the module.
#
# examples.bash says how the commands of a page run. elog-marker(1) and elog-stat(1) are in
# examples_stock.bats.
#
# In these pages, a block that begins with "```sh" has commands. It runs as a whole, unless
# such a comment, as <!-- test: not run, because REASON -->, stands before it.

load examples.bash

@test "examples: elog(1)" {
	run_page elog.1
}

@test "examples: elog-capture(1)" {
	run_page elog-capture.1
}

@test "examples: elog-create(1)" {
	run_page elog-create.1
}

@test "examples: elog-delete(1)" {
	run_page elog-delete.1
}

@test "examples: elog-emit(1)" {
	run_page elog-emit.1
}

@test "examples: elog-export(1)" {
	run_page elog-export.1
}

@test "examples: elog-info(1)" {
	run_page elog-info.1
}

@test "examples: elog-latency(1)" {
	run_page elog-latency.1
}

@test "examples: elog-list(1)" {
	run_page elog-list.1
}

@test "examples: elog-report(1)" {
	run_page elog-report.1
}

@test "examples: elog-ship(1)" {
	start_server
	run_page elog-ship.1
}

@test "examples: elog-show(1)" {
	start_server
	run_page elog-show.1
}

@test "examples: elog-sql(1)" {
	run_page elog-sql.1
}

@test "examples: elog-stop(1)" {
	run_page elog-stop.1
}

@test "examples: elog-upgrade(1)" {
	run_page elog-upgrade.1
}

@test "examples: elog-engine(1)" {
	run_page elog-engine.1
}

@test "examples: elog-top(1)" {
	start_server
	run_page elog-top.1
}

@test "examples: elog-why(1)" {
	run_page elog-why.1
}

@test "examples: at most five commands of the pages are not run" {
	[ "$(cut -f 2 "$BATS_FILE_TMPDIR/commands" | grep -c '^not-run$')" -le 5 ]
}

# Runs the blocks of a Markdown page that begin with "```sh". They expect an installed eventlog,
# its source tree and sudo; here are functions and variables instead.
sudo()
{
	"$@"
}

make()
{
	[ -x "build/tools/$1" ] || [ "$1" = tools ]
}

modprobe()
{
	local name

	for name; do
		[ "$name" = -a ] || [ -d "/sys/module/$name" ] ||
			insmod "$MODULES"/*/"$name.ko" || return 1
	done
}

# run_markdown PAGE: all is what the blocks have printed.
run_markdown()
{
	local block=0 blocks

	export CPATH=$TREE/tools/libelog/include:$TREE/uapi
	export LIBRARY_PATH=$TOOLS LD_LIBRARY_PATH=$TOOLS
	export -f sudo make modprobe
	mkdir "$BATS_TEST_TMPDIR/page"
	cd "$BATS_TEST_TMPDIR/page"
	mkdir build
	ln -s "$TOOLS" build/tools
	"$TREE/scripts/doc-files" "$TREE/$1" .
	: > comments
	awk '
		/^<!-- test: / { skip = 1; print > "comments" }
		/^```/ && inside { inside = 0; close("block" count) ; next }
		/^```sh$/ && !skip { inside = 1; count++; next }
		/^```/ { skip = 0 }
		inside { print > ("block" count) }
		END { print count + 0 > "count" }' "$TREE/$1"
	run grep -v '^<!-- test: not run, because .* -->$' comments
	[ "$output" = "" ]
	read -r blocks < count
	[ "$blocks" -ge 1 ]
	while [ $((++block)) -le "$blocks" ]; do
		bash -e "block$block" > out 2>&1 3>&- || {
			cat "block$block" out
			return 1
		}
		cat out >> all
	done
}

@test "examples: README.md" {
	run_markdown README.md
	contains "$(< all)" 'greeting number=3 text="hello"' '"number":2' \
		'3000 pairs in' 'unpaired: 0 starts, 0 ends' 'request_server/request_start 0x' \
		'elog: next: elog show -s 0x'
	grep -q '</html>' job.html
	run elog why "$(awk '/SLOWEST START/ { getline; print $3 }' all)" job.elog
	[ "$status" = 0 ]
	contains "$output" 'request_server/request_start 0x'
	# Only threads that say which request they work on have events of sched.
	run elog show -e sched job.elog
	contains "$output" ' request_worker '
}

@test "examples: tools/doc/emit.md" {
	run_markdown tools/doc/emit.md
	contains "$(< all)" 'backup - done bytes=4096 path="/srv"' \
		'shop - log logger="cart" message="book added" fields="{\"user\": 7}"' \
		'greeting greet.c:main:0: number=3'
}

@test "examples: tools/doc/providers.md" {
	run_markdown tools/doc/providers.md
	contains "$(< all)" 'exit code=0 signal=0 core=false comm="ls"'
}

# fleet.md needs several machines: make check-fleet has them.
@test "examples: a page has blocks that run, or a reason for each block" {
	local page

	for page in "$TREE"/tools/doc/*.md; do
		[ "${page##*/}" != fleet.md ] || continue
		awk '
			/^<!-- test: not run, because ./ { reason = 1; next }
			/^```sh$/ { if (!reason) bare++ }
			/^```/ { reason = 0 }
			END { exit bare > 0 }' "$page" ||
			grep -q "run_markdown ${page#"$TREE/"}$" "$TREE/selftests/examples.bats" ||
			{ echo "$page"; return 1; }
	done
}
