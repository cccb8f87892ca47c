# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# cases.bash - reads lists of cases like selftests/engine/cases, and chooses cases of a test file.
# Sourced by what runs tests.

# listed LIST FILE [HOW]: prints the names of the file's cases that the list has, one a line.
listed()
{
	awk -F '\t' -v file="${2##*/}" -v how="${3-}" '
		!/^#/ && $1 == file && (how == "" || $2 == how) { print $3 }' "$1"
}

# Prints the names of all cases of a file, one a line.
cases_of()
{
	case $1 in
	*.bats)
		# Without the quotes, and what is behind a backslash without it.
		sed -n 's/^@test "\(.*\)" {$/\1/p' "$1" | sed 's/\\\(.\)/\1/g' ;;
	*) "$1" -l ;;
	esac
}

# only FILE: reads names of cases, and prints the arguments that run only these, one a line; nothing
# without a name, and for a program that takes no names.
only()
{
	case $1 in
	*.bats) sed 's/[][\.*^$+?(){}|/]/\\&/g' | paste -sd '|' | sed -n 's/..*/--filter\n^(&)$/p' ;;
	*_device_test) ;;
	*) cat ;;
	esac
}
