# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What files.bats and show.bats share: see there.

load elog.bash

setup_file()
{
	find_built
	export PRODUCER=$BATS_FILE_TMPDIR/producer.py
	write_producer > "$PRODUCER"
	# Not the wrapper that may be in PATH, which takes its time.
	PYTHON=$(python3 -c 'import sys; print(sys.executable)')
	export PYTHON TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR PAGER ELOG_PAGER LESS
}

# producer.py FIRST COUNT SESSIONS [STOP]: emits number/step, numbered from FIRST,
# COUNT times, and then waits for a file STOP if that is given; of COUNT 0 in hundreds
# until there is one. Of SESSIONS sessions in turn, 0: of none. Prints how many that
# were.
write_producer()
{
	cat <<'PRODUCER'
import ctypes, fcntl, os, struct, sys, time

first, count, sessions = (int(argument) for argument in sys.argv[1:4])
stop = sys.argv[4] if len(sys.argv) > 4 else None
REGISTER, WITH_SESSION = 3 << 30 | 64 << 16 | 0xe7 << 8 | 1, 2
device = os.open("/dev/eventlog", os.O_RDWR)
command = ctypes.create_string_buffer(b"step u64 number; char[16] word")
provider = ctypes.create_string_buffer(b"number")
request = bytearray(struct.pack("=IIQQQIIIIIIQ", 64, WITH_SESSION,
                                ctypes.addressof(command), ctypes.addressof(provider),
                                0, 0, 0, 0, 0, 0, 0, 0))
fcntl.ioctl(device, REGISTER, request)
index = struct.unpack_from("=I", request, 36)[0]
event = struct.Struct("=IQQ16s")
done = 0
while done < count if count or stop is None else done % 100 or not os.path.exists(stop):
    session = done % sessions + 1 if sessions else 0
    os.write(device, event.pack(index, session, first + done, b"word"))
    done += 1
print(done, flush=True)
while stop and not os.path.exists(stop):
    time.sleep(0.05)
PRODUCER
}

setup()
{
	begin
	mounted=()
}

teardown()
{
	"$ELOG" stop -q 2> /dev/null || true
	end_background
	for directory in "${mounted[@]}"; do
		umount "$directory" 2> /dev/null || true
	done
}

produce()
{
	"$PYTHON" "$PRODUCER" "$@"
}

# The numbers of number/step in files, as they are shown.
numbers()
{
	"$ELOG" show -q --fields number "$@" | sed -n 's/^number=//p'
}

# Fails unless stdin has the numbers from FIRST on, COUNT of them, each once, in
# whatever order.
are_numbers()
{
	diff <(sort -n) <(seq "$1" $(($1 + $2 - 1))) | head -n 5
	[ "${PIPESTATUS[0]}" = 0 ]
}

shows()
{
	[ "$("$ELOG" show -q "${@:2}" 2> /dev/null | grep -vc '^#')" = "$1" ]
}

exists()
{
	[ -e "$1" ]
}

small_disk()
{
	mkdir "$1"
	mount -t tmpfs -o "size=$2" none "$1"
	mounted+=("$1")
}
