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
