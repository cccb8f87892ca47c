#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# harness_test - a case that fails, or hangs, takes none of its neighbours along: all its processes
# end, also those that have left its process group or lost their parents. The same for a file of
# scripts/run-tests and a case of bats. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

cat > "$work/cases.c" <<'SOURCE'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include "eventlog_test.h"

const char *test_before_all(void)
{
	return NULL;
}

bool test_after_each(char *text, size_t bytes)
{
	(void)text;
	(void)bytes;
	return true;
}

void test_recover(void)
{
	test_print("recovered");
}

/* Held by the processes that have it open. */
static int lock_try(void)
{
	int fd = CHECK_OK(open(getenv("LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0600));

	return flock(fd, LOCK_EX | LOCK_NB);
}

/* A process with a group of its own, whose parent ends. */
static void leave_behind(void)
{
	int ends[2];
	char byte;

	CHECK_OK(pipe(ends));
	if (!test_fork()) {
		setsid();
		if (test_fork())
			_exit(0);
		setsid();
		CHECK_OK(lock_try());
		CHECK_EQ(write(ends[1], "x", 1), 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(ends[0], &byte, 1), 1);
}

TEST(fails)
{
	leave_behind();
	CHECK(false);
}

TEST(after_a_failure)
{
	CHECK_OK(lock_try());
}

TEST_WITHIN(hangs, 1)
{
	leave_behind();
	WAIT_FOR(false);
}

TEST(after_a_hang)
{
	CHECK_OK(lock_try());
}

TEST(passes)
{
	leave_behind();
}

TEST(after_a_pass)
{
	CHECK_OK(lock_try());
}
SOURCE
export LOCK=$work/lock

run_cases()
{
	gcc -O1 -D_GNU_SOURCE= -I"$top/selftests" -o "$work/cases" "$work/cases.c" \
		"$top/selftests/eventlog_test.c" || return
	"$work/cases" > "$work/out" || true
	cat "$work/out"
}

# result NUMBER NAME WORD: prints the line of a case that passes, or does not.
case_is()
{
	grep -qx "$1 [0-9]* $2" "$work/out"
}

check "the cases run" run_cases
check "a case fails" case_is "not ok" fails
check "the case after it starts clean" case_is ok after_a_failure
check "a case hangs" case_is "not ok" hangs
check "the case after that starts clean" case_is ok after_a_hang
check "a case passes and leaves a process behind" case_is ok passes
check "that process has ended as well" case_is ok after_a_pass
check "each failed case is recovered from, and no other" \
	test "$(grep -cx '# recovered' "$work/out")" = 2

# A file that has left a process behind, and fails.
file_fails()
{
	cat > "$work/file_test" <<'SOURCE'
#!/bin/bash
mkfifo "$LOCK.ready"
( setsid sh -c 'exec 9> "$LOCK"; flock 9; echo > "$LOCK.ready"; while :; do sleep 1000; done' & )
read -r < "$LOCK.ready"
echo "not ok 1 one"
echo "1..1"
exit 1
SOURCE
	chmod 755 "$work/file_test"
	! "$top/scripts/run-tests" "$work/file_test" || return 1
	flock -n "$LOCK" true
}

check "run-tests ends what a failed file has left behind" file_fails

# shellcheck disable=SC2016 # for bats
case_of_bats_fails()
{
	ln -s "$top"/selftests/*.bash "$work/"
	cat > "$work/cases.bats" <<'SOURCE'
load elog.bash
setup_file() { :; }
setup() { background=(); }
@test "leaves processes behind and fails" {
	mkfifo "$LOCK.bats"
	( setsid sh -c 'exec 9> "$LOCK"; flock 9; echo > "$LOCK.bats"
		while :; do sleep 1000; done' & ) 3>&-
	( while :; do sleep 1000; done ) 3>&- &
	read -r < "$LOCK.bats"
	false
}
@test "the next one starts clean" {
	flock -n "$LOCK" true
}
SOURCE
	bats --tap "$work/cases.bats" > "$work/bats" || true
	cat "$work/bats"
	grep -q "^not ok 1" "$work/bats" && grep -q "^ok 2" "$work/bats"
}

check "a failed case of bats leaves no process to the next one" case_of_bats_fails
end_checks
