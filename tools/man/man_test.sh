#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# man_test - checks the manual pages with mandoc, and against elog.h and elog --help.
# Prints TAP.
#
# EVENTLOG_TOOLS is the build directory of make -C tools (default: build/tools); CC is the
# compiler.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
built=${EVENTLOG_TOOLS:-$top/build/tools}
elog=$built/elog
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"
cd "$here"

lint()
{
	mandoc -T lint -W warning "$1"
}

# Normalizes lines "TYPE NAME(TYPE PARAMETER, ...)" of the header and of the pages: sorts
# them and removes blanks that C does not need.
normalize()
{
	sed -e 's/_Bool/bool/g' -e 's/[[:space:]]\{1,\}/ /g' -e 's/ *\([*(),]\) */\1/g' |
		sort
}

echo '#include <elog_marker.h>' | ${CC:-gcc} -E -P -I"$top/tools/libelog/include" -I"$top/uapi" \
	-x c - | tr '\n' ' ' | tr ';{}' '\n' |
	sed -n 's/^ *\(static inline \)\{0,1\}\([a-z_].*[ *]elog_[a-z0-9_]*([^()]*)\).*/\2/p' |
	grep -v '[=]\|return\|^ *elog\|__attribute__\|^typedef' | normalize > "$work/header"

awk '
	/^\.Sh / { synopsis = $2 == "SYNOPSIS" }
	synopsis && /^\.Ft / { sub("^.Ft ", ""); type = $0 }
	synopsis && /^\.Fn / {
		name = $2
		rest = substr($0, length(".Fn " name " ") + 1)
		gsub("\"", "\001", rest)
		parameters = ""
		while (rest != "") {
			if (match(rest, "^\001[^\001]*\001 *"))
				word = substr(rest, 2, RLENGTH - 2)
			else if (match(rest, "^[^ ]+ *"))
				word = substr(rest, 1, RLENGTH)
			rest = substr(rest, RLENGTH + 1)
			sub("\001? *$", "", word)
			parameters = parameters (parameters ? ", " : "") word
		}
		print type " " name "(" parameters ")"
	}' ./*.3 | normalize > "$work/pages"

prototypes_agree()
{
	[ -s "$work/header" ] && diff "$work/header" "$work/pages"
}

# The NAME section of each page lists the functions of its SYNOPSIS, so that man NAME
# finds the page.
names_agree()
{
	for page in ./*.3; do
		awk '
			/^\.Sh / { section = $2 }
			section == "NAME" && /^\.Nm / { names[$2] = 1; count++ }
			section == "SYNOPSIS" && /^\.Fn / { functions[$2] = 1; made++ }
			END {
				for (name in functions)
					if (!(name in names))
						print bad = FILENAME ": " name
				if (made && made != count)
					print bad = FILENAME ": NAME and SYNOPSIS differ"
				exit bad != ""
			}' "$page" || return 1
	done
}

# Each reference to a page of this project has a target.
references_lead()
{
	{
		for page in *.[1-9]; do
			echo "${page%.*} ${page##*.}"
		done
		for page in *.3; do
			sed -n 's/^\.Fn \([a-z0-9_]*\).*/\1 3/p' "$page"
		done
	} | sort -u > "$work/known"
	sed -n 's/^\.Xr \([a-z0-9_-]*\) \([1-9]\).*/\1 \2/p' ./*.[1-9] |
		grep -E '^(elog|eventlog|libelog)' | sort -u > "$work/referred"
	[ -s "$work/referred" ] && comm -13 "$work/known" "$work/referred" \
		> "$work/nowhere" && cat "$work/nowhere" && [ ! -s "$work/nowhere" ]
}

verbs()
{
	"$elog" --help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'
}

# Compares the options of the help, such as "-e, --event" and "--time", with those in
# OPTIONS of the page.
options_agree()
{
	[ -f "elog-$1.1" ] || { echo "elog-$1.1 does not exist"; return 1; }
	"$elog" "$1" --help |
		sed -n -e 's/^ *\(-[A-Za-z], --[a-z-]*\).*/\1/p' \
			-e 's/^ *\(--[a-z-]*\)\([[ ].*\)\{0,1\}$/\1/p' | sort > "$work/help"
	mandoc -T ascii -O width=200 "elog-$1.1" | sed 's/.\x08//g' |
		sed -n '/^OPTIONS/,/^[A-NP-Z]/p' |
		sed -n -e 's/^     \(-[A-Za-z], --[a-z-]*\).*/\1/p' \
			-e 's/^     \(--[a-z-]*\)\([[ ].*\)\{0,1\}$/\1/p' | sort > "$work/page"
	[ -s "$work/help" ] && diff "$work/help" "$work/page"
}

# selftests/examples.bats and examples_stock.bats run the examples.
verbs_have_examples()
{
	for verb in $(verbs); do
		grep -q '^\.Sh EXAMPLES' "elog-$verb.1" &&
			grep -q "run_page elog-$verb\.1\$" "$top"/selftests/examples*.bats ||
			{ echo "$verb"; return 1; }
	done
}

# elog(1) refers to the page of each verb, and each page refers to elog(1).
verbs_are_named()
{
	verbs > "$work/verbs"
	[ -s "$work/verbs" ] || return 1
	while read -r verb; do
		if ! grep -q "^\.It Xr elog-$verb 1" elog.1 ||
		   ! grep -q '^\.Xr elog 1' "elog-$verb.1"; then
			echo "$verb"
			return 1
		fi
	done < "$work/verbs"
	for page in elog-*.1; do
		page=${page#elog-}
		grep -qx "${page%.1}" "$work/verbs" ||
			{ echo "elog has no verb ${page%.1}"; return 1; }
	done
}

# No list or SEE ALSO of a page names the same page twice, and long options have two dashes.
pages_repeat_nothing()
{
	for page in ./*.[1-9]; do
		awk '
			/^\.Sh / { split("", seen) }
			/^\.Sh SEE/ { see = 1 }
			(/^\.It Xr/ && seen[$3]++) || (see && /^\.Xr/ && seen[$2, $3]++) {
				print FILENAME ": " $0
				bad = 1
			}
			END { exit bad }' "$page" || return 1
	done
	for page in *.1; do
		mandoc -T ascii -O width=200 "$page" | sed 's/.\x08//g' > "$work/page"
		# -span is an argument of elog show.
		if grep -E '(^|[ (|])-[a-z]{2,}' "$work/page" | grep -v ' -span '; then
			echo "$page"
			return 1
		fi
	done
}

# Compiles and runs the program in the EXAMPLES of libelog(3).
example_compiles()
{
	awk '/^\.Sh EXAMPLES/ { examples = 1 }
		/^\.Ed/ { literal = 0 }
		examples && literal { gsub("\\\\e", "\\"); print }
		/^\.Bd -literal/ { literal = 1 }' libelog.3 > "$work/example.c"
	[ -s "$work/example.c" ] &&
	${CC:-gcc} -std=c11 -Wall -Wextra -Werror -I"$top/tools/libelog/include" \
		-I"$top/uapi" -o "$work/example" "$work/example.c" \
		"$built/libelog.so" &&
	echo line | LD_LIBRARY_PATH=$built "$work/example"
}

for page in *.[1-9]; do
	check "mandoc finds no errors in $page" lint "$page"
done
check "each function of elog.h is in one SYNOPSIS with its prototype" prototypes_agree
check "NAME and SYNOPSIS of each page agree" names_agree
check "all references have a target" references_lead
check "elog(1) refers to the page of each verb" verbs_are_named
check "the page of each verb has examples, which are tested" verbs_have_examples
for verb in $(verbs); do
	check "elog-$verb(1) lists the options of elog $verb" options_agree "$verb"
done
check "pages list each page once, and long options with two dashes" pages_repeat_nothing
check "the example of libelog(3) compiles and runs" example_compiles
end_checks
