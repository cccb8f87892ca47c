#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# elog with events of user_events whose records describe their own fields. Needs root and
# the module.

load files.bash

# capture OPTION...: runs elog capture while two events of each kind are emitted: see
# produce_eventheader.c.
capture()
{
	run_elog capture "$@" -- "$EVENTLOG_BUILD/selftests/produce_eventheader" 2
}

has_data_file()
{
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	load_user_events
}

@test "eventheader: records become events with their own names and fields" {
	has_data_file
	capture -o "$work/file" -e 'user_events/Prov_*'
	[ "$status" = 0 ]
	run_elog show -q --fields provider,event,level,fields "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 4 ]
	contains "$output" 'provider=Prov event=Order level=info' \
		'provider=Prov event=Failed level=error' '"error":"ENOENT","event_id":7'
	run_elog show -q -e Prov/Order "$work/file"
	[ "${#lines[@]}" = 2 ]
	contains "${lines[1]}" " Prov " \
		'number=1 item.name="tea" item.price=2.5 sizes=[10,20] paid=255 rest=5 event_id=7'
	run_elog show -q -e 'user_events/*' --format json "$work/file"
	[ "${#lines[@]}" = 4 ]
	contains "$output" '"event":"Order"' \
		'"number":1,"item.name":"tea","item.price":2.5,"sizes":[10,20],"paid":255,"rest":5,"event_id":7' \
		'"number":0,' '"paid":false,"rest":null,'
	# Padding of a record is not data.
	[[ $output != *undecoded* ]]
	run_elog show -q -l error --fields error "$work/file"
	[ "$output" = $'error=ENOENT\nerror=ENOENT' ]
	run_elog show -q -k 0x10 --fields number "$work/file"
	[ "$output" = $'number=0\nnumber=1' ]
}

@test "eventheader: conditions on decoded fields" {
	has_data_file
	capture -o "$work/file" -e 'user_events/*'
	run_elog show -q -f 'number == 1 && item.name ~ "^t" && item.price > 2.25' \
		--fields number "$work/file"
	[ "$output" = number=1 ]
	run_elog show -q -f 'event == Failed && error == ENOENT' --fields event "$work/file"
	[ "$output" = $'event=Failed\nevent=Failed' ]
	run_elog show -q -f 'nomber == 1' "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "no field 'nomber'"
	run_elog show -q -f 'item.price ~ 2' "$work/file"
	[ "$status" = 1 ]
	contains "$stderr" "item.price is f64: ~ is not supported"
	# The kernel cannot see these fields: elog decides, and other events stay in the kernel.
	for glob in 'user_events/*' '*' 'user_events/Prov_*' 'user_events/Prov*' \
		    'user_events/Prov_L4*' 'user_events/Prov_L4K1fGgroup'; do
		capture -q -e "$glob" -f 'number == 1' --fields number
		[ "$status" = 0 ]
		[ "$output" = number=1 ]
	done
	capture -q -o "$work/filtered" -e 'user_events/*' -f 'item.name == tea && number > 0'
	run_elog show -q --fields number "$work/filtered"
	[ "$output" = number=1 ]
}

@test "eventheader: export and sql see the decoded events" {
	has_data_file
	capture -o "$work/file" -e 'user_events/*'
	run_elog export -q --format jsonl "$work/file"
	[ "$status" = 0 ]
	contains "$output" '"Order"' \
		'"number":1,"item.name":"tea","item.price":2.5,"sizes":[10,20],"paid":255,"rest":5,"event_id":7'
	run_elog export -q --format csv "$work/file"
	[ "$status" = 0 ]
	contains "$output" Order Failed tea
	run_elog sql -q "$work/file" 'SELECT number, "item.name", "item.price", rest FROM "Prov/Order"
		WHERE rest IS NULL OR rest > 4'
	[ "$status" = 0 ]
	contains "$output" $'0\ttea\t2.5\t' $'1\ttea\t2.5\t5'
}

@test "eventheader: babeltrace2 sees the decoded events" {
	has_data_file
	command -v babeltrace2 > /dev/null || skip "there is no babeltrace2"
	[ -e "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" ] || skip "the plugin was not built"
	capture -o "$work/file" -e 'user_events/*'
	mkdir "$work/plugins"
	cp "$EVENTLOG_TOOLS/babeltrace2-plugin-elog.so" "$work/plugins"
	run_apart babeltrace2 --plugin-path "$work/plugins" "$work/file"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 4 ]
	contains "$output" ' Prov:Order: ' 'number = 1, item_name = "tea", item_price = 2.5' \
		'rest = <none>, ' 'rest = { 5 }, ' ' Prov:Failed: ' 'error = ( "ENOENT" : container = 2 )'
}

@test "eventheader: the command of eventlog-user_events(7)" {
	local command page=$TREE/tools/man/eventlog-user_events.7

	has_data_file
	command=$("$TREE/scripts/doc-commands" "$page" | sed -n 's/.*\tblock\t\(elog capture .*\)/\1/p')
	[ -n "$command" ]
	cd "$work"
	eval "$command -- $EVENTLOG_BUILD/selftests/produce_eventheader 2"
	run_elog show -q -e 'Prov/*' file.elog
	[ "${#lines[@]}" = 4 ]
}
