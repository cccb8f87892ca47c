#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# symbols_test - checks the symbols, variables and sections of libelog.so. Prints TAP.
#
# EVENTLOG_TOOLS is the output of make -C tools (default: build/tools); CC is the compiler.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
built=${EVENTLOG_TOOLS:-$top/build/tools}
library=$built/libelog.so
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

# Let the compiler list the functions: comments and layout do not matter then.
echo '#include <elog_marker.h>' > "$work/header.c"
${CC:-gcc} -fsyntax-only -aux-info "$work/prototypes" -I"$here/include" -I"$top/uapi" \
	"$work/header.c"
grep -E '/elog(_marker|/[a-z]+)?\.h:' "$work/prototypes" | grep -v ' \*/ static ' |
	sed -n 's/.*[ *]\([A-Za-z0-9_]*\) (.*/\1/p' | sort > "$work/declared"

sed -n 's/^[[:space:]]\{1,\}\([A-Za-z0-9_]\{1,\}\);.*/\1/p' "$here/libelog.map" |
	sort > "$work/mapped"
nm -D --defined-only "$library" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' |
	sort > "$work/exported"

same()
{
	[ -s "$1" ] || { echo "$1 is empty"; return 1; }
	diff "$1" "$2"
}

all_versioned()
{
	nm -D --defined-only "$library" |
		awk '$2 != "A" && $3 !~ /@@LIBELOG_([0-9]+\.[0-9]+|PRIVATE)$/ { print; bad = 1 }
			END { exit bad || !NR }'
}

names_are_ours()
{
	! grep -v '^elog_' "$work/declared"
}

# Variables of the library exist in every program that uses it. The permitted ones are:
# the producers, which must be found when a process forks; the tables of
# CRC-32C and the secret of hash maps, both created on first use; a byte that identifies
# threads, and one that is set while a thread is in a probe; the state of the process's
# markers; and for their filters: how many threads read one, the replaced filters that
# such threads may still use, and the ids that filters compare without a system call; for
# rings of threads: each thread's, the key that tells when a thread ends, and their memory; for
# engines: which files are connections, and where to look for one.
# The compiler and the C library add completed, __dso_handle and __cpu_*.
known_variables='anchor
elog_port_engines
elog_rings_epoch
elog_thread_rings
fork_handlers_once
has_thread_key
is_called
markers_added
markers_groups
markers_lock
markers_once
markers_policies
markers_probe
markers_probes
markers_producer
markers_retired
process_bytes
process_id
producers
producers_lock
readers
retired
runtime_directory
secret
secret_once
session_none
session_page
tables
tables_once
thread_id
thread_key'

variables_are_known()
{
	readelf -SW "$library" |
		sed -n 's/^ *\[ *\([0-9]*\)\] \(\.[^ ]*\) .*/\1 \2/p' |
		awk '$2 ~ /^\.(data|bss|tdata|tbss)$/ { print $1 }' > "$work/sections"
	readelf -sW "$library" |
		awk 'NR == FNR { writable[$1] = 1; next }
			$7 in writable && $4 != "SECTION" && $3 > 0 {
				sub("\\.[0-9]+$", "", $8); print $8
			}' "$work/sections" - |
		grep -vE '^(completed|__dso_handle|__TMC_END__|__cpu_.*)$' |
		sort -u > "$work/variables"
	echo "$known_variables" | diff - "$work/variables"
}

soname_is()
{
	readelf -dW "$library" > "$work/dynamic"
	grep -F "Library soname: [$1]" "$work/dynamic" &&
		[ "$(readlink "$library")" = "$1" ] &&
		[ -f "$(readlink -f "$library")" ]
}

# No text relocations; symbols are resolved when the library is loaded, then read-only.
hardened()
{
	readelf -dW "$library" > "$work/dynamic"
	readelf -lW "$library" > "$work/segments"
	! grep -F TEXTREL "$work/dynamic" && grep -q NOW "$work/dynamic" &&
		grep -q GNU_RELRO "$work/segments" &&
		grep 'GNU_STACK.* RW ' "$work/segments"
}

# A program that uses all public functions links with this form of the library.
links_with()
{
	{
		echo '#include <elog_marker.h>'
		echo '#include <stdio.h>'
		echo 'void (*const functions[])(void) = {'
		sed 's/.*/	(void (*)(void))&,/' "$work/declared"
		echo '};'
		echo 'int main(void) { return !functions[0]; }'
	} > "$work/all.c"
	# shellcheck disable=SC2046 # several words
	${CC:-gcc} -Wno-cast-function-type -I"$here/include" -I"$top/uapi" -o "$work/all" \
		"$work/all.c" "$1" $(sed -n 's/^Libs.private: //p' "$built/libelog.pc") &&
		LD_LIBRARY_PATH=$built "$work/all"
}

check "all names begin with elog_" names_are_ours
check "libelog.map has the functions of elog.h" same "$work/declared" "$work/mapped"
check "the library exports the functions of elog.h" \
	same "$work/declared" "$work/exported"
check "each function has a version" all_versioned
check "the soname is libelog.so.0" soname_is libelog.so.0
check "the library has only the permitted variables" variables_are_known
check "relocations are read-only, the stack is not executable" hardened
check "a program links with libelog.so" links_with "$library"
check "a program links with libelog.a" links_with "$built/libelog.a"
end_checks
