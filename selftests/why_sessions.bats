#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Sessions that events begin and end by themselves, because their schema says start or end; and
# sessions of threads that have no ring. Needs the module, eventlog_sched.ko and root.
#
# What such an event meets	tested in
#	rings, or none		each test runs with both
#	disabled, enabled	a disabled event; an enabled event
#	C, C++			a disabled event
#	Python, Go		a thread of Python; the thread of a goroutine
#	elog_event_write()	an event that is written
#	elog_session_enter()	sessions in each other
#	a capture that ends	captures one after the other
#	other threads, forks	an end in another thread or process

load elog.bash

setup_file()
{
	find_built
	export TREE ELOG EVENTLOG_TOOLS
}

setup()
{
	begin
	[ -d /sys/module/eventlog_sched ] ||
		insmod "$(dirname "$EVENTLOG_KO")/module/sched/eventlog_sched.ko" min_us=10
	printf '%s\n' 'eventlog 1' 'provider shop' \
		'event 1 request_start info - start' $'\tstring path' \
		'event 2 request_end info - end' $'\tu32 status' \
		'event 3 other info -' $'\tu32 number' > "$work/shop_eventlog_schema.src"
	sed 's/provider shop/provider base/' "$work/shop_eventlog_schema.src" \
		> "$work/base_eventlog_schema.src"
	"$TREE/tools/gen/eventlog-gen" -u -o "$work/shop_eventlog.h" \
		"$work/shop_eventlog_schema.src"
	"$TREE/tools/gen/eventlog-gen" -u -o "$work/base_eventlog.h" \
		"$work/base_eventlog_schema.src"
	cat > "$work/common.h" <<-'CODE'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/resource.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		#include <elog.h>
		#define EVENTLOG_SHOP_DEFINE
		#include "shop_eventlog.h"
		#define EVENTLOG_BASE_DEFINE
		#include "base_eventlog.h"

		static struct elog_producer *producer;

		static void begin(void)
		{
			if (elog_producer_open(&producer, NULL) || elog_producer_connect(producer) ||
			    eventlog_shop_register(producer) || eventlog_base_register(producer))
				exit(1);
		}

		/* Sleeps, and really stops running. */
		static void rest(void)
		{
			const struct timespec time = { 0, 1000000 };
			struct rusage before, after;

			getrusage(RUSAGE_THREAD, &before);
			do {
				nanosleep(&time, NULL);
				getrusage(RUSAGE_THREAD, &after);
			} while (after.ru_nvcsw == before.ru_nvcsw);
		}
	CODE
}

teardown()
{
	end_background
	[ ! -d /sys/module/eventlog_sched ] || rmmod eventlog_sched
}

# build COMPILER: job.c
build()
{
	"$1" -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -pthread -I"$TREE/uapi" -I"$TREE/tools/libelog/include" \
		-I"$work" -o "$work/job" "$work/job.c" -L"$EVENTLOG_TOOLS" -lelog \
		-Wl,-rpath,"$EVENTLOG_TOOLS"
}

# sessions_of ARGUMENTS: of the sleeps, in their order, one line each. Losses do not matter.
sessions_of()
{
	"$ELOG" capture -q "$@" -o "$work/file" -- "$work/job"
	"$ELOG" show -q -e sched/off -f 'cause == sleep' --fields session "$work/file" |
		sed '/^# lost/d' | uniq
}

both_ways()
{
	for rings in 0 1; do
		export ELOG_RINGS=$rings
		"$@"
	done
}

nested()
{
	run sessions_of -e sched
	[ "$output" = $'session=0x7\nsession=0x8\nsession=0x7\nsession=0x9' ]
	# They were disabled.
	run_elog show -q -e shop "$work/file"
	[ -z "$output" ]
}

@test "a disabled event begins and ends a session, in C and C++" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		int main(void)
		{
			begin();
			rest();
			eventlog_shop_request_start(7, "/");
			rest();
			eventlog_shop_other(7, 1);
			eventlog_base_request_start(8, "inner");
			rest();
			/* It is not this one's, and not of this provider. */
			eventlog_base_request_end(7, 0);
			eventlog_shop_request_end(8, 0);
			rest();
			eventlog_base_request_end(8, 0);
			rest();
			/* What was begun in it ends with it. */
			eventlog_base_request_start(8, "inner");
			eventlog_shop_request_end(7, 200);
			rest();
			eventlog_shop_request_start(0, "none");
			rest();
			eventlog_shop_request_start(9, "/");
			eventlog_shop_request_start(9, "again");
			rest();
			eventlog_shop_request_end(9, 200);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways nested
	build g++
	both_ways nested
}

enabled()
{
	run sessions_of -e sched -e shop
	[ "$output" = $'session=0x7' ]
	run_elog show -q -e shop --fields session,event "$work/file"
	[ "$output" = $'session=0x7 event=request_start\nsession=0x7 event=request_end' ]
	# Without a listener to sched, nothing but the events.
	"$ELOG" capture -q -e shop -o "$work/file" -- "$work/job"
	[ "$("$ELOG" show -q "$work/file" | wc -l)" = 2 ]
}

@test "an enabled event begins and ends a session, and is emitted" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		int main(void)
		{
			begin();
			eventlog_shop_request_start(7, "/");
			rest();
			eventlog_shop_request_end(7, 200);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways enabled
}

written()
{
	run sessions_of "$@" -e sched
	[ "$output" = $'session=0x7\nsession=0x8' ]
}

@test "an event that is written with elog_event_write()" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		int main(void)
		{
			struct elog_event *start, *end;
			struct elog_payload payload;
			unsigned char bytes[4];

			begin();
			if (elog_event_register_schema(producer, "eventlog 1\nprovider words\n"
				"event 1 start info - start \"a description\"\n", 0, &start) ||
			    elog_event_register_schema(producer, "eventlog 1\nprovider words\n"
				"event 2 end info - end\n\tu32 status\n", 0, &end))
				return 1;
			elog_event_write(start, 7, NULL, 0);
			rest();
			elog_payload_init(&payload, bytes, sizeof(bytes));
			elog_payload_u32(&payload, 1);
			elog_event_emit(end, 7, &payload);
			rest();
			/* It does so as well if there are too many values. */
			elog_event_write(start, 8, NULL, 0);
			rest();
			elog_payload_init(&payload, bytes, sizeof(bytes));
			elog_payload_u64(&payload, 1);
			if (!elog_event_emit(end, 8, &payload))
				return 1;
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways written
	both_ways written -e words
}

explicit()
{
	run sessions_of -e sched
	[ "$output" = $'session=0x5\nsession=0x7\nsession=0x6\nsession=0x7\nsession=0x5' ]
}

@test "sessions in each other, of events and of elog_session_enter()" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		int main(void)
		{
			struct elog_running outer, inner, none;

			begin();
			outer = elog_session_enter(eventlog_base_other_event.event, 5);
			rest();
			eventlog_shop_request_start(7, "/");
			rest();
			inner = elog_session_enter(eventlog_base_other_event.event, 6);
			rest();
			none = elog_session_enter(eventlog_base_other_event.event, 0);
			rest();
			elog_session_leave(eventlog_base_other_event.event, none);
			elog_session_leave(eventlog_base_other_event.event, inner);
			rest();
			eventlog_shop_request_end(7, 200);
			rest();
			elog_session_leave(eventlog_base_other_event.event, outer);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways explicit
}

overtaken()
{
	run sessions_of -e sched
	[ "$output" = $'session=0x7\nsession=0x6\nsession=0x9\nsession=0x6\nsession=0x9' ]
}

@test "an end event leaves alone what the program has entered since the start" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		int main(void)
		{
			struct elog_running before;

			begin();
			eventlog_shop_request_start(7, "/");
			rest();
			/* The request goes on elsewhere; other work meanwhile. */
			elog_session_enter(eventlog_base_other_event.event, 0);
			rest();
			elog_session_enter(eventlog_base_other_event.event, 6);
			rest();
			eventlog_shop_request_end(7, 200);
			rest();
			/* In each other, but not properly. */
			before = elog_session_enter(eventlog_base_other_event.event, 0);
			elog_session_enter(eventlog_base_other_event.event, 5);
			eventlog_shop_request_start(9, "/");
			rest();
			elog_session_leave(eventlog_base_other_event.event, before);
			rest();
			eventlog_shop_request_end(9, 200);
			rest();
			/* It begins again, after other work: that goes on when it is over. */
			eventlog_shop_request_start(9, "/");
			elog_session_enter(eventlog_base_other_event.event, 0);
			eventlog_shop_request_start(9, "/");
			rest();
			eventlog_shop_request_end(9, 200);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways overtaken
}

# The first capture ends within request 7, whose end is not noticed then.
captures()
{
	mkfifo "$work/go"
	start_elog capture -e sched -o "$work/first"
	"$work/job" > "$work/output" < "$work/go" 3>&- &
	background+=($!)
	job=$!
	exec 7> "$work/go"
	wait_for grep -q 1 "$work/output"
	stop_elog INT
	echo >&7
	wait_for grep -q 2 "$work/output"
	start_elog capture -e sched -e two -o "$work/second"
	echo >&7
	exec 7>&-
	wait "$job"
	stop_elog INT
	run "$ELOG" show -q -e sched/off -f 'cause == sleep' --fields session "$work/first"
	[ "$output" = "session=0x7" ]
	run "$ELOG" show -q -e sched/off -f 'cause == sleep' --fields session "$work/second"
	[ "$output" = "session=0x8" ]
	rm "$work/go"
}

@test "captures one after the other: a session ends with the listener" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		static void step(const char *text)
		{
			puts(text);
			fflush(stdout);
			getchar();
		}
		int main(void)
		{
			struct elog_producer *second;
			struct elog_event *event;

			begin();
			if (elog_producer_open(&second, NULL) ||
			    elog_event_register(second, "two", "event", 0, 0, 0, &event))
				return 1;
			eventlog_shop_request_start(7, "/");
			rest();
			step("1");
			eventlog_shop_request_end(7, 200);
			step("2");
			rest();
			/* Enough for a ring of the other producer, which gets no old session. */
			for (int i = 0; i < 20; i++)
				elog_event_write(event, 0, NULL, 0);
			rest();
			eventlog_shop_request_start(8, "/");
			rest();
			eventlog_shop_request_end(8, 200);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways captures
}

elsewhere()
{
	run sessions_of -e sched
	[ "$output" = $'session=0x7\nsession=0x8\nsession=0x7\nsession=0x9' ]
}

@test "an end in another thread or process ends nothing there" {
	cat > "$work/job.c" <<-'CODE'
		#include "common.h"
		static void *other(void *unused)
		{
			eventlog_shop_request_end(7, 200);
			rest();
			eventlog_shop_request_start(8, "/");
			rest();
			/* It exits within the session. */
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			pid_t child;

			begin();
			eventlog_shop_request_start(7, "/");
			rest();
			pthread_create(&thread, NULL, other, NULL);
			pthread_join(thread, NULL);
			rest();
			child = fork();
			if (!child) {
				rest();
				eventlog_shop_request_end(7, 200);
				eventlog_shop_request_start(9, "/");
				rest();
				_exit(0);
			}
			waitpid(child, NULL, 0);
			eventlog_shop_request_end(7, 200);
			rest();
			return 0;
		}
	CODE
	build gcc
	both_ways elsewhere
}

in_python()
{
	run sessions_of -e sched
	[ "$output" = "session=0x7" ]
}

@test "a thread of Python, with rings and without" {
	cat > "$work/job" <<-PYTHON
		#!/usr/bin/env python3
		import eventlog, time
		event = eventlog.Event("snake/event")
		time.sleep(0.002)
		with eventlog.running(event, 7):
		    time.sleep(0.002)
		time.sleep(0.002)
	PYTHON
	chmod +x "$work/job"
	export PYTHONPATH=$TREE/tools/python LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	both_ways in_python
}

@test "the thread of a goroutine, without a library" {
	local go=$EVENTLOG_TOOLS/examples/hello_go

	[ -x "$go" ] || skip "no compiler for Go"
	"$ELOG" capture -q -e sched -e hello -o "$work/file" -- "$go"
	run "$ELOG" show -q -e hello --fields session "$work/file"
	session=$output
	[[ $session == session=0x* ]]
	# It waits for the timer, or for other threads of the program.
	run "$ELOG" show -q -e sched/off --fields session "$work/file"
	[ "$(sort -u <<< "$output")" = "$session" ]
	run_elog why "${session#session=}" "$work/file"
	[ "$status" = 0 ]
}

@test "a disabled event is three instructions, also with an attribute" {
	[ "$(uname -m)" = x86_64 ] || skip "not x86"
	cat > "$work/code.c" <<-'CODE'
		#include "shop_eventlog.h"
		void begins(void);
		void begins(void) { eventlog_shop_request_start(7, "/"); }
		void others(void);
		void others(void) { eventlog_shop_other(7, 1); }
	CODE
	gcc -O2 -I"$TREE/uapi" -I"$TREE/tools/libelog/include" -I"$work" -c -o "$work/code.o" \
		"$work/code.c"
	for function in begins others; do
		objdump -d --no-show-raw-insn "$work/code.o" |
			awk -v name="<$function>:" '$0 ~ name { inside = 1; next }
				inside && /[[:space:]]ret/ { exit }
				inside && !/endbr64/ { print }' > "$work/code"
		[ "$(wc -l < "$work/code")" = 3 ]
		run ! grep -E '[[:space:]](call|push|sub)' "$work/code"
		[ "$(grep -cE '[[:space:]]j[a-z]+ ' "$work/code")" = 1 ]
		if [ "$function" = begins ]; then
			grep -q 'testb  *\$0x21,' "$work/code"
		else
			grep -q 'testb  *\$0x1,' "$work/code"
		fi
	done
}
