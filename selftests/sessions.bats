#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Sessions, and ids and names of threads, from the command line. Needs root.

load files.bash

@test "comm: a thread that has exited has its name" {
	# A process is known by the name of the link.
	ln -s "$ELOG" "$work/brief"
	export BRIEF=$work/brief
	for arguments in "" "-o $work/file" "-o $work/filtered -f i>0" "--overwrite"; do
		# shellcheck disable=SC2086 # several words
		start_capture $arguments
		while_stopped "$capture" bash -c 'for i in 1 2 3; do
			"$BRIEF" emit short/lived "u32 i" i=$i
		done'
		stop_capture INT
		[ "$status" = 0 ]
		[[ $arguments != -o* ]] || "$ELOG" show -q "$(cut -d ' ' -f 2 <<< "$arguments")" > "$work/out"
		[ "$(awk '$3 == "brief" && /lived i=/' "$work/out" | wc -l)" = 3 ]
	done
	"$ELOG" show -q --ids hex "$work/file" > "$work/hex"
	while read -r _ tid _ pid_tid; do
		[ "$((16#$tid))" = "$pid_tid" ]
	done < <(paste -d ' ' <(cut -c 1-14 "$work/hex") \
		<("$ELOG" show -q --fields tid "$work/file" | sed 's/tid=//'))
}

@test "--ids decimal: pid and tid as ps prints them" {
	fails_with "--ids: invalid argument 'octal': must be one of hex, decimal" show --ids octal "$work/file"
	ELOG_IDS=octal fails_with "ELOG_IDS: 'octal' is not one of hex, decimal" \
		show "$work/file"
	# Verbs that print no such ids do not look at it.
	ELOG_IDS=octal run_elog info
	[ "$status" = 0 ]

	run_elog capture -q --ids decimal -- bash -c 'echo "$$" > "$0"; exec "$ELOG" emit a/b' "$work/pid"
	[ "$status" = 0 ]
	read -r _ pid tid comm _ <<< "$output"
	[ "$pid $tid $comm" = "$(< "$work/pid") $(< "$work/pid") elog" ]
	"$ELOG" capture -q -o "$work/file" -- "$PRODUCER" 0 4 0 > /dev/null
	"$ELOG" show -q --fields pid,tid,comm "$work/file" | sed 's/[a-z]*=//g; s/"//g' > "$work/ids"
	[ "$(wc -l < "$work/ids")" = 4 ]
	"$ELOG" show -q --ids decimal "$work/file" > "$work/option"
	ELOG_IDS=decimal "$ELOG" show -q "$work/file" | diff - "$work/option"
	awk '{ print $2, $3, $4 }' "$work/option" | diff - "$work/ids"
	# The option is stronger than the variable, and hexadecimal is the default.
	ELOG_IDS=decimal "$ELOG" show -q --ids hex "$work/file" > "$work/hex"
	"$ELOG" show -q "$work/file" | diff - "$work/hex"
	awk '{ print $3 }' "$work/hex" | diff - <(cut -d ' ' -f 3 "$work/ids")
}

@test "sessions: providers with the same number stay apart" {
	"$ELOG" capture -q --split "$work/split" -- bash -c '
		"$ELOG" capture -q -o "$0" -- bash -c "
			\"\$ELOG\" emit -s 7 one/start
			\"\$ELOG\" emit -s 7 two/start
			\"\$ELOG\" emit -s 7 two/end
			\"\$ELOG\" emit -s 7 one/end"' "$work/file"
	[ "$(cd "$work/split" && echo *)" = "losses.elog one-0x7.elog two-0x7.elog" ]
	run_elog stat -q --by session --sort name "$work/file"
	[ "$(awk '{ print $NF, $2 }' <<< "$output")" = $'one/0x7 2\ntwo/0x7 2\ntotal 4' ]
	run_elog show -q --session-summary --format csv "$work/file"
	[ "$(cut -d , -f 4,5,6 <<< "$output")" = $'provider,session,events\none,0x7,2\ntwo,0x7,2' ]
	run_elog latency --format json start end "$work/file"
	contains "$output" '"by":"provider,session"' '"pairs":2,' '"restarted":0,'
	# START and END that name two providers state that these share their numbers.
	run_elog latency --format json one/start two/end "$work/file"
	contains "$output" '"by":"session"' '"pairs":1,'
}

@test "sessions: markers of a program, with numbers from the library" {
	cat > "$work/job.c" <<'SOURCE'
#include <elog_marker.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void job(void)
{
	uint64_t session = elog_session_new();

	ELOG_MARKER_SESSION(session, begun);
	ELOG_MARKER_SESSION(5, five, FIELD(u32, 1));
	ELOG_MARKER_SESSION(session, ended, FIELD(string, "job"));
	ELOG_MARKER(alone);
	printf("0x%llx\n", (unsigned long long)session);
	fflush(stdout);
}

int main(void)
{
	job();
	if (!fork()) {
		job();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
SOURCE
	${CC:-gcc} -O2 -I"$TREE/tools/libelog/include" -I"$TREE/uapi" -o "$work/job" \
		"$work/job.c" "$EVENTLOG_TOOLS/libelog.so"
	export LD_LIBRARY_PATH=$EVENTLOG_TOOLS
	run_elog capture -q -o "$work/file" -e 'markers_job' -- "$work/job"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 2 ]
	[ "${lines[0]}" != "${lines[1]}" ]
	for session in "${lines[@]}"; do
		[[ $session == 0x[89a-f]??????????????? ]]
	done
	"$ELOG" show -q --fields session,event "$work/file" | sed 's/[a-z]*=//g' > "$work/events"
	for session in "${lines[@]}"; do
		printf '%s\n' "$session begun" "0x5 five" "$session ended" "- alone"
	done | diff - "$work/events"

	run_elog marker list -q "$work/job"
	[ "$status" = 0 ]
	[ "$(grep -c '(session)$' <<< "$output")" = 3 ]
	[[ $(grep alone <<< "$output") != *session* ]]
	run_elog marker list --format json "$work/job"
	[ "$(grep -c '"session":true' <<< "$output")" = 3 ]
	# A predicate may compare the session.
	"$ELOG" marker enable -q --program job --handler print --if 'session == 5' '*'
	"$work/job" 2> "$work/printed" > /dev/null
	[ "$(sed 's/ .*: / /' "$work/printed")" = $'five session=0x5 _1=1\nfive session=0x5 _1=1' ]
}
