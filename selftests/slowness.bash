# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# slowness.bash - how slow is this machine now? Sourced by what has time limits: they are made for a
# quiet emulated guest, and multiplied where the machine is slower.

measure_slowness()
{
	local begin=${EPOCHREALTIME/[.,]/} usual_us=150000 us i

	for ((i = 0; i < 5000; i++)); do
		:
	done
	us=$((${EPOCHREALTIME/[.,]/} - begin))
	us=$((us / usual_us))
	echo $((us < 1 ? 1 : us > 20 ? 20 : us))
}

# Prints how many times as slow it is, 1 to 20.
slowness()
{
	local -

	# In a test, the trap of bats for each command would take most of the time.
	set +T
	measure_slowness
}

# Sets $up to seconds that no test can change; SECONDS follows the clock, which tests set.
read_up()
{
	read -r up _ < /proc/uptime
	up=${up%.*}
}

# end_late PROCESS SECONDS FILE: ends it when it has run for so many seconds of a quiet machine, and
# makes the file. How slow the machine is, is measured then.
end_late()
{
	local begin up

	read_up
	begin=$up
	while [ $((up - begin)) -lt "$2" ] ||
	      [ $((up - begin)) -lt $(($2 * $(slowness))) ]; do
		sleep 5
		read_up
	done
	: > "$3"
	kill "$1"
}
