# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# hosts.sh - files of captures of several hosts, for tests of streams. A digit stands for a host:
# its name is web-DIGIT. Sourced after servers.sh.
#
#	machine DIGIT		prints the id of the machine
#	events DIGIT FILE FIRST COUNT [ERROR]
#				makes a file with these events, one each ms. ERROR, or else
#				$clock_error, is the error of the host's clock, ns
#	send SUBJECT FILE DIGIT ORDER [HEADER...]
#				sends parts of a file, whose id has this digit, to the only
#				server
#	$make_file		the command that makes files: see fleet_file.py

fleet=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
make_file="python3 $fleet/fleet_file.py"
clock_error=150000
: "${url=}"

machine()
{
	printf "$1%.0s" {1..32}
}

events()
{
	$make_file events "$2" "web-$1" "$(machine "$1")" "$3" "$4" 1000000 "${5:-$clock_error}"
}

send()
{
	python3 "$fleet/fleet_send.py" "${url##*:}" "$1" "$2" "$(machine "$3")" "${@:4}"
}
