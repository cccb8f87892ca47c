# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# recover.bash - ends what a failed test has left behind, so that the next one starts clean. Sourced
# by what runs tests, as root. selftests/recover_common.c does the same for cases in C.
#
# ELOG	the command (default: elog in PATH)

# Prints the processes whose environment has this NAME=VALUE.
processes_with()
{
	grep -lzxF -- "$1" /proc/[0-9]*/environ 2> /dev/null | cut -d / -f 3
}

# Prints the descendants of a process, parents first, but not the caller's own.
descendants_of()
{
	local self=$BASHPID

	ps -A -o pid=,ppid= | awk -v root="$1" -v self="$self" '
		$1 != self && $2 != self { children[$2] = children[$2] " " $1 }
		function visit(process,    count, child, i) {
			count = split(children[process], child, " ")
			for (i = 1; i <= count; i++) {
				print child[i]
				visit(child[i])
			}
		}
		END { visit(root) }'
}

# kill_all COMMAND...: kills the processes that it prints, until it prints none.
kill_all()
{
	local tries processes pid command

	for ((tries = 0; tries < 100; tries++)); do
		mapfile -t processes < <("$@")
		[ ${#processes[@]} -gt 0 ] || return 0
		for pid in "${processes[@]}"; do
			command=$(tr '\0' ' ' 2> /dev/null < "/proc/$pid/cmdline" | head -c 200) || true
			if [ -n "$command" ]; then
				echo "# ended: $command(pid $pid)"
			fi
			kill -KILL "$pid" 2> /dev/null || true
		done
		# Zombies of this shell.
		wait "${processes[@]}" 2> /dev/null || true
	done
}

# Prints the processes that have files of the modules open or mapped.
users_of_module()
{
	find /proc/[0-9]*/fd /proc/[0-9]*/map_files \
		\( -lname '/dev/eventlog*' -o -lname '*/user_events_*' \) 2> /dev/null |
		cut -d / -f 3 | sort -u
}

# Removes what uses modules in the trace file system, and all the rest there: for guests.
clear_tracefs()
{
	local tracefs=/sys/kernel/tracing file

	[ -e $tracefs/set_event ] || return 0
	rmdir "$tracefs"/instances/* 2> /dev/null || true
	echo nop > $tracefs/current_tracer || true
	echo > $tracefs/set_event || true
	for file in "$tracefs"/events/eventlog*/*/trigger; do
		[ -e "$file" ] || continue
		grep -v '^#' "$file" | while read -r line; do
			echo "!$line" > "$file" || true
		done
	done
	for file in dynamic_events kprobe_events uprobe_events; do
		if [ -e $tracefs/$file ]; then
			echo > $tracefs/$file || true
		fi
	done
} 2> /dev/null

# Deletes all persistent events.
delete_persistent()
{
	"${ELOG:-elog}" list -q 2> /dev/null | awk '$2 ~ /^persistent/ { print $5 }' |
		sort -u | xargs -r "${ELOG:-elog}" delete
}

# Unloads the modules that use a module, and those that tests have loaded; succeeds if it is the
# only one that is left.
unload_users()
{
	local directory name left=0

	for directory in "/sys/module/$1/holders"/* /sys/module/eventlog*; do
		name=${directory##*/}
		[ -e "/sys/module/$name/initstate" ] && [ "$name" != "$1" ] || continue
		rmmod "$name" 2> /dev/null || left=1
	done
	return $left
}
