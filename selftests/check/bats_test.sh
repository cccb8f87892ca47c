#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# bats_test - scripts/check-bats finds each kind of assertion that cannot fail, and
# nothing else. Prints TAP.
# shellcheck disable=SC2016 # lines of bats files
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd -P)
# shellcheck source=scripts/tap.sh
. "$top/scripts/tap.sh"

# checks WHAT: stdin is the beginning of a test; its last line is at fault, or nothing.
checks()
{
	{
		echo '@test "one" {'
		cat
	} > "$work/one.bats"
	place="$work/one.bats:$(wc -l < "$work/one.bats"): "
	printf '\tlast command\n}\n' >> "$work/one.bats"
	status=0
	"$top/scripts/check-bats" "$work/one.bats" > "$work/out" || status=$?
	cat "$work/one.bats" "$work/out"
	if [ "$1" = nothing ]; then
		[ "$status" = 0 ] && [ ! -s "$work/out" ]
	else
		[ "$status" = 1 ] && [ "$(wc -l < "$work/out")" = 1 ] &&
			grep -qF "$place$1" "$work/out"
	fi
}

# finds WHAT LINE...
finds()
{
	what=$1
	shift
	printf '\t%s\n' "$@" > "$work/lines"
	check "$1" checks "$what" < "$work/lines"
}

finds '"! command"' '! grep -q word file'
finds '"! command"' '! elog list | cmp -s - before'
finds '"! command"' 'true; ! grep -q word file; true'
finds '"! command"' '[ -e file ] && ! grep -q word file'
finds '"! command"' '[ -e file ] || ! grep -q word file'
finds '"A && B"' '[ "$a" -le "$b" ] && [ "$b" -le "$c" ]'
finds '"A && B"' '[[ $a == b ]] && [[ $c == "d || e" ]]'
finds '"A && B"' 'for file in *; do [ -e "$file" ] && grep -q "$file" list; done'
finds '"|| true"' '[ "$status" = 0 ] || true'
finds '"|| true"' 'grep -q word "$work/out" || :'
finds '"|| true"' 'elog show file || true'
finds '"|| true"' '"$ELOG" show -q file > "$work/out" || true'
finds '"|| grep' '[ "$(< "$work/err")" = "elog: attached" ] || grep -v libbpf "$work/err"'
finds '"|| cat' '[[ $output == *word* ]] || cat "$work/out"'
finds '"|| echo' 'contains "$output" word || echo "$output"'

finds nothing 'if ! grep -q word file; then true; fi'
finds nothing 'while ! grep -q word file && sleep 1; do true; done'
finds nothing '[[ $a -le $b && $b -le $c ]]'
finds nothing 'test -e file && return'
finds nothing '[ -e file ] || skip "no file"'
finds nothing 'cmp a b && cmp b c || return 1'
finds nothing '[ -e file ] || { cat "$work/err"; false; }'
finds nothing 'kill "$process" || true'
finds nothing 'cat <<EOF' '! text' 'a && b' 'EOF'
finds nothing 'sh -c "a && b; ! c" # && ! d'
finds nothing '(cd "$work" && make)'
finds nothing 'count=$(grep -c word file || true)'

last_command()
{
	printf '@test "one" {\n\ttrue\n\t! grep -q word file\n}\nok()\n{\n\ta && b\n}\n' \
		> "$work/one.bats"
	"$top/scripts/check-bats" "$work/one.bats"
}

in_teardown()
{
	printf 'teardown()\n{\n\telog stop || true\n\ttrue\n}\n' > "$work/one.bats"
	"$top/scripts/check-bats" "$work/one.bats"
}

check "the last command of a test may be any of them" last_command
check "teardown may ignore what fails" in_teardown
end_checks
