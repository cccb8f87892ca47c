# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# mutants.sh - deliberate faults, and which test notices each. Sourced by
# scripts/mutants-kernel and selftests/native/mutants.
#
# A mutant is a copy of the sources with one fault, a sed expression. One that changes
# nothing, because the code has changed, is a failure. Prints TAP.

names=() forms=() files=() scripts=() rules=()

# mutant NAME FORM FILE SED RULE: FORM says what must fail, RULE what the fault breaks.
mutant()
{
	names+=("$1") forms+=("$2") files+=("$3") scripts+=("$4") rules+=("$5")
}

# mutants_arguments ARGUMENT...: handles [-l] [NAME...]. usage() prints the help. Sets chosen
# to the indices of the named mutants, or of all.
mutants_arguments()
{
	local option list=false i

	while getopts lh option; do
		case $option in
		l) list=true ;;
		h) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	chosen=()
	for i in "${!names[@]}"; do
		if [ $# -eq 0 ] || [[ " $* " == *" ${names[i]} "* ]]; then
			chosen+=("$i")
		fi
	done
	if [ ${#chosen[@]} -eq 0 ]; then
		echo "${0##*/}: no such mutant" >&2
		exit 2
	fi
	if $list; then
		for i in "${chosen[@]}"; do
			printf '%-20s %-6s %s\n' "${names[i]}" "${forms[i]}" "${rules[i]}"
		done
		exit 0
	fi
}

failed=0
number=0

# result ok|"not ok" NAME TEXT
result()
{
	number=$((number + 1))
	printf '%s %d %s # %s\n' "$1" "$number" "$2" "$3"
	if [ "$1" != ok ]; then
		failed=$((failed + 1))
	fi
}

# mutants_apply INDEX FILE ORIGINAL: applies the fault to FILE, whose original it keeps. Prints
# the result of a fault that does not apply, and fails.
mutants_apply()
{
	cp "$2" "$3"
	sed -E -i "${scripts[$1]}" "$2"
	! cmp -s "$2" "$3" ||
		{ result 'not ok' "${names[$1]}" "the code that it changes no longer exists"; false; }
}

# mutants_case LOG: the first test that failed.
mutants_case()
{
	sed -n 's/^not ok [0-9]* \(- \)\?\(.*\)/\2/p' "$1" | sed 's/ *#.*//' | head -n 1
}

# mutants_run FUNCTION: calls it with the index of each chosen mutant.
mutants_run()
{
	local i

	echo "TAP version 13"
	echo "1..${#chosen[@]}"
	for i in "${chosen[@]}"; do
		"$1" "$i"
	done
	echo "# $failed of $number not detected"
	[ "$failed" -eq 0 ]
}
