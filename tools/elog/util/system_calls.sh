#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# system_calls.sh CC [FLAG...] - prints, as C, the names of system calls by number, from the
# headers of the kernel: a table for each architecture whose header the compiler finds.
set -eu

# table NAME HEADER [DEFINITION...]
table()
{
	name=$1 header=$2
	shift 2
	{
		for definition; do echo "#define $definition"; done
		echo "#include <$header>"
	} > "$work/$name.h"
	$cc -E -dM -x c "$work/$name.h" > "$work/names" 2> /dev/null || return 0
	# ARM has two names for one number; the kernel uses the one that is defined by the other.
	{
		printf '%s\n' syscalls arch_specific_syscall
		sed -n 's/^#define __NR_[a-z0-9_]* *__NR_\([a-z0-9_]*\) *$/\1/p' "$work/names"
	} > "$work/not"
	sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/\1/p' "$work/names" |
		grep -vxFf "$work/not" | sort > "$work/calls"
	[ -s "$work/calls" ] || return 0
	{
		echo "#include \"$work/$name.h\""
		sed 's/.*/SYSTEM_CALL [__NR_&] = "&",/' "$work/calls"
	} > "$work/table.h"
	echo "#define SYSTEM_CALLS_$name"
	echo "static const char *const system_calls_${name}[] = {"
	$cc -E -P -x c "$work/table.h" | sed -n 's/^ *SYSTEM_CALL /	/p'
	echo "};"
}

cc=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "/* Made by system_calls.sh. */"
table x86_64 asm/unistd_64.h
table i386 asm/unistd_32.h
table generic asm-generic/unistd.h __ARCH_WANT_RENAMEAT __ARCH_WANT_NEW_STAT \
	__ARCH_WANT_SET_GET_RLIMIT __ARCH_WANT_TIME32_SYSCALLS __ARCH_WANT_SYS_CLONE3 \
	__ARCH_WANT_MEMFD_SECRET "__BITS_PER_LONG 64"
table native asm/unistd.h
