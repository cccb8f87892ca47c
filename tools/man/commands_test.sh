#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# commands_test - elog accepts the commands that pages show, those in the text included. Prints
# TAP, a line for each page. scripts/doc-commands finds the commands.
#
# Each runs where there is no device and no server: elog reads all of its arguments, and then
# says that the module is not loaded, or reads a file that stands for each name of a file in the
# command. So a command is wrong if elog refuses its arguments. Of make there must be the target,
# of modprobe and insmod the module with its parameters. Other commands do nothing.
#
# In the text, a command may be a part of one: an argument may be missing. Words in capital
# letters stand for values.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)
top=$(cd "$here/../.." && pwd -P)
# shellcheck source=scripts/elog_tap.sh
. "$top/scripts/elog_tap.sh"

# Commands that fail, and why this is right. Each must still be in a page, and fail.
exceptions=(
	'insmod door.ko' 'the page builds it'
)

values=(
	-e 's/\bFILE\b/job.elog/g' -e 's/\bSESSION\b/0x1007/g'
	-e 's/\bVERB\b/show/g' -e 's/\bSIZE,KEEP\b/64M,15/g'
	-e 's/\bTIME\b/-1h/g' -e 's,\bhttp://localhost:[0-9]*,http://localhost:1,g'
	-e 's,\bnats://[a-z]*\(\,[a-z]*\)*,nats://localhost:1,g'
)

# What elog says if its arguments are right: about the machine, and about the events of a file
# that is another one than in the page.
right='the kernel module eventlog is not loaded|stdin and stdout must be a terminal'
right+='|cannot connect: .*|.*: No such file or directory|.*: no background capture writes to it'
right+="|no (event|provider) '[^']*'|-f '[^']*': column [0-9]*: no field '[^']*'"
right+='|there is no background capture'
right+='|no event of the provider sched: load eventlog_sched, .*|no event has the session .*'
right+='|stdin: not a file of elog capture -o, or its start is damaged|.*; trying again'
partial="|.* is missing(: .*)?|'-[-a-z]*' needs an argument|--[a-z-]* needs a file: add -o FILE"
partial+='|-[a-z] takes one file'

mkdir bin place
cat > bin/elog <<-STUB
	#!$BASH
	"$elog" "\$@" 2>> "\$errors"
STUB
cat > bin/make <<-STUB
	#!$BASH
	for word; do
		[ "\$word" != -C ] || exit 0
		[[ \$word == *=* ]] || grep -qx -- "\$word" "$work/targets" ||
			echo "elog make: no target \$word" >> "\$errors"
	done
STUB
cat > bin/modprobe <<-STUB
	#!$BASH
	for word; do
		case \$word in
		-a) ;;
		*=*) grep -rq "module_param.*\\b\${word%%=*}\\b" "$top/module" ;;
		-r|eventlog|eventlog_user_events|eventlog_sched) ;;
		*) [ -e "$top/module/providers/\$word.c" ] ;;
		esac || echo "elog modprobe: \$word is not known" >> "\$errors"
	done
STUB
cat > bin/eventlog-gen <<-STUB
	#!$BASH
	"$top/tools/gen/eventlog-gen" "\$@" 2>> "\$errors"
STUB
chmod +x bin/*
ln -s modprobe bin/insmod
for tool in awk bash cat chmod dirname env grep head jq ls mktemp mv readlink rm sed sh sort \
		true uname; do
	ln -s "$(command -v $tool)" bin || exit 1
done
timeout=$(command -v timeout)
make -s --no-print-directory -C "$top" -pRrq : 2> /dev/null |
	sed -n 's/^\([a-z][a-z0-9_-]*\):.*/\1/p' > targets
cp "$top"/tools/examples/*_schema.src place
for page in "$top"/tools/doc/pro*.md; do
	"$top/scripts/doc-files" "$page" place > /dev/null || exit 1
done
python3 - <<-CODE || exit 1
	import struct, sys
	sys.path[:0] = ["$top/tools/python", "$top/tools/python/tests"]
	from elogfile import ElogFile
	head = "eventlog 1\nprovider job\nevent {0} {1} info - {1}\n"
	end = "\tu32 status\n\tu64 bytes\n\tduration duration\n\tstring path\n"
	with ElogFile("job.elog", {1: head.format(1, "start") + "\tstring path\n",
	                           2: head.format(2, "end") + end}) as file:
	    file.event(1, struct.pack("<I", 5 << 16 | 4) + b"/etc\0", session=0x1007)
	    file.event(2, struct.pack("<IQQI", 0, 2000, 10, 5 << 16 | 24) + b"/etc\0",
	               session=0x1007)
CODE

# accepted KIND COMMAND: runs it, and prints what is wrong. Each has a file of its own for what
# elog prints: one that was ended after a second may print later, while the next one runs.
runs=0
accepted()
{
	local command pattern=$right word seconds=60 status=0

	command=$(sed "${values[@]}" <<< "$2")
	[ "$1" = block ] || pattern+=$partial
	# These would try again, or wait for more.
	[[ $command != *@(elog ship|--otlp|--follow)* ]] || seconds=1
	cd "$work/place" || return 1
	for word in $command; do
		[[ $word == *.elog* && $word != /* ]] || continue
		word=${word%%.elog*}.elog
		[[ $word != */* ]] || mkdir -p "${word%/*}"
		cp "$work/job.elog" "$word" || return 1
	done
	runs=$((runs + 1))
	export errors=$work/errors.$runs
	: > "$errors"
	PATH=$work/bin ELOG_DEVICE=$work/none HOME=$work "$timeout" $seconds "$BASH" -c "
		sudo() { \"\$@\"; }
		command_not_found_handle() { :; }
		$command" < /dev/null > "$work/output" 2>&1 || status=$?
	cd "$work" || return 1
	pattern+='|[0-9]+ events?.*|no event matched .*|next: elog .*'
	sed -n 's/^\(elog\( [a-z]*\)\{0,1\}\|eventlog-gen\): //p' "$errors" |
		grep -vxE "($pattern)" > refused
	if [ -s refused ] || { [ $status != 0 ] && [ ! -s "$errors" ]; }; then
		echo "$2: status $status"
		cat refused output
		return 1
	fi
}

is_exception()
{
	local i

	for ((i = 0; i < ${#exceptions[@]}; i += 2)); do
		[ "$1" != "${exceptions[i]}" ] || return 0
	done
	return 1
}

page_is_right()
{
	local place kind command result=0

	while IFS=$'\t' read -r -u 8 place kind command; do
		is_exception "$command" || accepted "$kind" "$command" || {
			echo "in $place"
			result=1
		}
	done 8< <(grep -F "$1" commands | sort -u)
	return $result
}

exceptions_are_needed()
{
	local i

	for ((i = 0; i < ${#exceptions[@]}; i += 2)); do
		if ! cut -f 3 commands | grep -qxF -- "${exceptions[i]}" ||
		   accepted block "${exceptions[i]}" > unused; then
			echo "${exceptions[i]}"
			return 1
		fi
	done
}

# A wrong command is found, in each way in which one can be wrong.
wrong_commands_are_found()
{
	local command

	for command in "elog capture 'user_events*/*'" 'elog capture -o' 'elog show --since x job.elog' \
		'elog nothing' 'elog sql job.elog select count(*) from job/end' 'elog show job.elog --x' \
		'elog show -f "bytes >" job.elog' 'make nothing' 'modprobe eventlog_nothing' \
		'modprobe eventlog nothing=1' 'eventlog-gen -u none.src' 'eventlog-gen -x' \
		'elog list | elog show'; do
		! accepted block "$command" > unused || { echo "$command"; return 1; }
	done
	for command in 'elog list' 'elog show job.elog' 'elog sql job.elog "select path from start"' \
		'make check' 'sudo modprobe eventlog_user_events dynamic=1' 'elog ship --once nats://one job.elog'; do
		accepted block "$command" || return 1
	done
	accepted text 'elog capture -o'
}

cd "$top" || exit 1
pages=(README.md tools/doc/*.md tools/python/README.md tools/man/*.[1-9])
scripts/doc-commands "${pages[@]}" > "$work/commands"
cd "$work" || exit 1
check 'wrong commands are found' wrong_commands_are_found
for page in "${pages[@]}"; do
	grep -qF "$page" commands && check "elog accepts the commands in $page" page_is_right "$page"
done
check 'each exception is needed' exceptions_are_needed
end_checks
