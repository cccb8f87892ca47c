#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lanes_test - each test file of the tree runs in a lane of make check or of make
# check-everything, which runs each file of each lane once, and each target of make help has a row
# there or is said to have none. Prints TAP.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
cd "$top"
tree=$top

unset EVENTLOG_TESTS EVENTLOG_LANES EVENTLOG_PART

# lanes_of EVERYTHING UML: prints "LANE FILE" for each file of each lane.
lanes_of()
(
	everything=$1
	uml=$2
	engine=${3-1}
	declare -A files=()
	# shellcheck source=scripts/lanes
	. scripts/lanes
	choose_files || exit
	for lane in "${!files[@]}"; do
		# shellcheck disable=SC2086 # several files
		printf "$lane %s\n" ${files[$lane]}
	done | sort
)

for everything in '' 1; do
	for uml in '' 1; do
		lanes_of "$everything" "$uml" > "$work/lanes$everything-$uml"
	done
done

tests()
{
	# shellcheck disable=SC2016 # for make to expand
	make -s --no-print-directory -C selftests OUTPUT="$work" \
		--eval='print-programs:;@printf "%s\n" $(notdir $(TEST_GEN_PROGS))' print-programs
	git ls-files '*.bats' '*_test.sh' 'selftests/*/*_test' | sed 's|.*/||'
	git ls-files 'tools/*_test.c' | sed 's|.*/||; s|[.]c$||'
}

# In a lane, started by another test, or a target of its own.
all_files_run()
{
	local name missing=0

	for name in $(tests); do
		grep -q "[ /]$name\$" "$work/lanes1-1" && continue
		grep -rlq --include='*_test.sh' --include=Makefile "/$name" . && continue
		echo "$name runs nowhere"
		missing=1
	done
	return $missing
}

# Without the kernel of User Mode Linux, its files run in other lanes.
nothing_depends_on_uml()
{
	local all

	for all in '' 1; do
		sed 's/.* //' "$work/lanes$all-1" | sort -u > "$work/with"
		sed 's/.* //' "$work/lanes$all-" | sort -u > "$work/without"
		diff "$work/with" "$work/without" || return 1
	done
}

# Prints "OF LANES PART" for each row of make check-everything that runs lanes. OF is --everything
# for scripts/check, a kernel for scripts/check-matrix; LANES are between commas.
rows()
(
	row()
	{
		local part lanes

		[[ "${*:3} " =~ EVENTLOG_LANES=([a-z0-9,-]*)\ (scripts/check |scripts/check-matrix ) ]] ||
			return 0
		lanes=,${BASH_REMATCH[1]},
		for ((part = 1; part <= $2; part++)); do
			echo "${*: -1} $lanes $part/$2"
		done
	}
	# shellcheck source=scripts/rows
	. scripts/rows
)

# runs_once OF LANE FILE...: each file of the lane is in one row, and each of these rows has files.
runs_once()
{
	local of lanes part

	printf '%s\n' "${@:3}" | sort > "$work/files"
	while read -r of lanes part; do
		if [[ $of == "$1" && $lanes == *,"$2",* ]]; then
			EVENTLOG_PART=$part scripts/part "${@:3}" | grep . ||
				echo "no file of $2 in part $part of $1"
		fi
	done < "$work/rows" | sort | diff "$work/files" -
}

# Each file of each lane is in one row of make check-everything; those of check-matrix likewise.
# shellcheck disable=SC2013 # words
everything_has_each_file()
{
	local lane kernel files

	rows > "$work/rows"
	for lane in $(cut -d ' ' -f 1 "$work/lanes1-1" | sort -u); do
		mapfile -t files < <(sed -n "s/^$lane //p" "$work/lanes1-1")
		runs_once --everything "$lane" "${files[@]}" || return 1
	done
	runs_once --everything static static || return 1
	for kernel in $(grep -v ^-- "$work/rows" | cut -d ' ' -f 1 | sort -u); do
		case $kernel in
		*-arm*) set -- i386 i386-trace ;;
		*) set -- smp trace tool ;;
		esac
		for lane; do
			mapfile -t files < <(sed -n "s/^$lane //p" "$work/lanes1-")
			runs_once "$kernel" "$lane" "${files[@]}" || return 1
		done
	done
}

# Without namespaces for the engine, its files run whole in guests.
nothing_depends_on_the_engine()
{
	sed 's/.* //' "$work/lanes-" | sort -u > "$work/with"
	lanes_of '' '' '' | sed 's/.* //' | sort -u | diff "$work/with" -
}

# A name that is wrong would take a case out of all lanes.
listed_cases_exist()
{
	local file name source

	grep -v '^#' selftests/engine/cases | cut -f 1,3 | while IFS=$'\t' read -r file name; do
		case $file in
		*.bats) source=$(sed 's/\\\(.\)/\1/g' "selftests/$file") name="@test \"$name\" {" ;;
		*_device_test) source=$(cat "tools/libelog/$file.c") name="\"$name\"" ;;
		*) source=$(cat "selftests/$file.c") name="($name" ;;
		esac
		if ! grep -qF -- "$name" <<< "$source"; then
			echo "$file has no case $name"
			touch "$work/wrong"
		fi
	done
	[ ! -e "$work/wrong" ]
}

unknown_lanes_are_refused()
{
	! EVENTLOG_LANES=smp,nonsense lanes_of 1 1 > "$work/out" 2>&1 &&
		grep -q 'no lane nonsense' "$work/out"
}

parts_are_restricted()
{
	grep -E '^(smp|uml) ' "$work/lanes1-1" > "$work/all"
	for part in 1/2 2/2; do
		EVENTLOG_PART=$part EVENTLOG_LANES=smp,uml lanes_of 1 1 > "$work/part"
		[ -s "$work/part" ] && [ "$(wc -l < "$work/part")" -lt "$(wc -l < "$work/all")" ] ||
			return 1
		cat "$work/part"
	done | sort | diff "$work/all" -
	! EVENTLOG_PART=3/2 lanes_of 1 1 2> "$work/out" && grep -q '3/2' "$work/out"
}

lanes_are_restricted()
{
	EVENTLOG_LANES=smp,uml lanes_of '' 1 > "$work/some"
	[ "$(cut -d ' ' -f 1 "$work/some" | sort -u | tr '\n' ' ')" = 'smp uml ' ]
}

everything_has_more()
{
	sed 's/.* //' "$work/lanes-1" | sort -u > "$work/less"
	sed 's/.* //' "$work/lanes1-1" | sort -u > "$work/more"
	[ -z "$(comm -23 "$work/less" "$work/more")" ] &&
		[ -n "$(comm -13 "$work/less" "$work/more")" ]
}

# In check-everything, no file of a guest depends on one kernel alone.
uml_is_not_all()
{
	sed -n 's/^uml\(-tool\)* //p' "$work/lanes1-1" | sort > "$work/uml"
	sed -nE 's/^(smp|tool|trace) //p' "$work/lanes1-1" | sort > "$work/stock"
	[ -s "$work/uml" ] && [ -z "$(comm -23 "$work/uml" "$work/stock" | tee /dev/stderr)" ]
}

no_file_twice_in_a_lane()
{
	local list

	for list in "$work"/lanes*-*; do
		[ -z "$(uniq -d "$list")" ] || { uniq -d "$list"; return 1; }
	done
}

# The names in the first column of make help.
targets()
{
	make -s help | sed -n 's/^  \([a-z][a-z0-9, -]*\)   *.*/\1/p; s/^  \([a-z0-9-]*\)$/\1/p' |
		sed 's/  .*//' | tr -d , | tr ' ' '\n' | grep -v '^$'
}

all_targets_are_known()
{
	local name known missing=0

	known=" $(scripts/check-everything --list | sed 's|/.*||; s|-[0-9]*$||') "
	known+=" $(scripts/check-everything --others) "
	for name in $(targets); do
		[[ ${known//$'\n'/ } == *" $name "* ]] && continue
		echo "check-everything does not know the target $name"
		missing=1
	done
	return $missing
}

check "each test file runs somewhere" all_files_run
check "no file depends on User Mode Linux" nothing_depends_on_uml
check "no file depends on the engine" nothing_depends_on_the_engine
check "the cases that selftests/engine/cases names exist" listed_cases_exist
check "check-everything runs what check runs, and more" everything_has_more
check "with everything, files of User Mode Linux also run on a stock kernel" uml_is_not_all
check "check-everything runs each file of each lane once" everything_has_each_file
check "EVENTLOG_LANES restricts the lanes" lanes_are_restricted
check "EVENTLOG_PART restricts them to parts, which are the whole" parts_are_restricted
check "unknown lanes are refused" unknown_lanes_are_refused
check "no file is twice in a lane" no_file_twice_in_a_lane
check "check-everything knows all targets of make help" all_targets_are_known
end_checks
