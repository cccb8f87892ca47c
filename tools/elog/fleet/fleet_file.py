#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files for tests of elog ship and elog info.

fleet_file.py make FILE SIZE MACHINE    a file of at least SIZE bytes, of a machine (32 digits)
fleet_file.py events FILE HOST MACHINE FIRST COUNT STEP ERROR [GROUP]
    a file with COUNT events that can be decoded, numbered from FIRST, of the CPU 0: the
    number is the time in STEP ns. The error of the clock is ERROR ns. GROUP events are a
    message of elog ship.
fleet_file.py record DIR HOST MACHINE
    Behaves like elog capture --rotate: writes files of events to DIR/x.elog, as above, until
    there is a file DIR/stop. DIR/all has links to all of them.
fleet_file.py version VERSION FILE  a file that says that it has this version
fleet_file.py strip FILE KEY...         removes lines from the FILE block
fleet_file.py capture DIR SIZE COUNT KEEP MACHINE STEP
    Behaves like elog capture --rotate: writes COUNT files of SIZE bytes to DIR/x.elog, STEP
    bytes at a time, with the lock of a capture. DIR/all has links to all of them. If it was
    killed, it appends to the newest file.
"""
import fcntl
import os
import random
import struct
import sys
import time

MAGIC = b"\x89ELOG\r\n\x1a"
FILE, SCHEMA, PROCESSES, DATA, SYNC, END = 1, 2, 3, 4, 5, 7
EPOCH = 1700000000000000000
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def block(kind, body, crc=None):
    head = MAGIC + struct.pack("<5I", kind, 0, len(body), len(body),
                               crc32c(body) if crc is None else crc)
    return head + struct.pack("<I", crc32c(head)) + body + bytes(-len(body) % 8)


def head(machine):
    now = time.clock_gettime_ns(time.CLOCK_REALTIME)
    boot = "0123456789ab-cdef"
    return block(FILE, (f"version 2\nflags 0x0\nbyte_order little\npage_size 4096\nhost test\n"
                        f"kernel 6.1\nmachine x86_64\nelog 1\nmachine_id {machine}\n"
                        f"boot_id {boot}\nclock_error 1500\ncpus 1\n"
                        f"start {now} {now} {now}\n").encode())


# elog ship does not look at the contents, so their checksum need not be right.
def data(generator):
    size = generator.choice((24, 1000, 40000, 300000)) // 8 * 8
    return block(DATA, generator.randbytes(size), 0)


def sync():
    return block(SYNC, bytes(40) + struct.pack("<II", 48, 8))


def contents(size, machine, generator):
    result = head(machine)
    while len(result) < size:
        result += data(generator)
        if generator.random() < 0.2:
            result += sync()
    return result + sync() + block(END, bytes(40))


def make(path, size, machine):
    with open(path, "wb") as file:
        file.write(contents(int(size), machine, random.Random(path)))


def event_blocks(host, machine, first, count, step, error, group=500):
    """Blocks of a file with events; a SYNC block follows each group of them. The clocks of
    all machines started at EPOCH."""
    boot = f"{machine[:8]}-boot"
    begin = first * step
    position = 0

    def sync(time_now):
        return block(SYNC, struct.pack("<QQQQIIII", time_now, time_now, time_now,
                                       EPOCH + time_now, 0, 0, 48, 8))

    schema = b"eventlog 1\nprovider test\nevent 1 numbered info -\n\tu64 number\n"
    yield (block(FILE, (f"version 2\nflags 0x0\nbyte_order little\npage_size 4096\n"
                        f"host {host}\nkernel 6.1\nmachine x86_64\nelog 1\n"
                        f"machine_id {machine}\nboot_id {boot}\n"
                        f"clock_error {error}\ncpus 1\n"
                        f"start {begin} {begin} {EPOCH + begin}\n").encode())
           + block(SCHEMA, struct.pack("<IIII", 1, 7, 0, 16) + schema)
           + block(PROCESSES, struct.pack("<IIII16s", 8, 24, 100, 100, host.encode())))
    for number in range(first, first + count, group):
        last = min(number + group, first + count)
        records = b"".join(struct.pack("<IIQQIIQ", 40, 1, each * step, 0, 100, 100, each)
                           for each in range(number, last))
        yield (block(DATA, struct.pack("<IIQII", 0, 0, position, 0, 24) + records)
               + sync(last * step))
        position += len(records)
    yield block(END, struct.pack("<QQQQQ", count, 0, 0, 0, 0))


def events(path, host, machine, first, count, step, error, group=500):
    with open(path, "wb") as file:
        file.writelines(event_blocks(host, machine, int(first), int(count), int(step), error,
                                     int(group)))


def version(number, path):
    with open(path, "wb") as file:
        file.write(block(FILE, f"version {number}\nflags 0x0\nbyte_order little\n".encode()))


def strip(path, *keys):
    with open(path, "rb") as file:
        old = file.read()
    size = struct.unpack_from("<I", old, 16)[0]
    lines = old[32:32 + size].decode().splitlines(keepends=True)
    body = "".join(line for line in lines if line.split()[0] not in keys).encode()
    with open(path, "wb") as file:
        file.write(block(FILE, body) + old[32 + (size + 7) // 8 * 8:])


def rotate(path, keep):
    for number in range(keep, 0, -1):
        source = f"{path}.{number - 1}" if number > 1 else path
        if os.path.exists(source):
            os.rename(source, f"{path}.{number}")


def write_file(path, copy, parts, pause):
    """A killed capture leaves an incomplete block; the next one appends its part."""
    with open(path, "ab") as file:
        if not os.path.exists(copy):
            os.link(path, copy)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        for part in parts:
            os.write(file.fileno(), part)
            time.sleep(pause)


def capture(directory, size, count, keep, machine, step):
    path, copies = f"{directory}/x.elog", f"{directory}/all"
    os.makedirs(copies, exist_ok=True)
    done = len(os.listdir(copies))
    # It was killed while it wrote the last file that has a link, or later: before the next file was
    # there, or had a link.
    number = done
    if done and os.path.exists(path) and os.path.samefile(path, f"{copies}/{done - 1:04}"):
        number = done - 1
    while number < int(count):
        whole = contents(int(size), machine, random.Random(f"{machine}{number}"))
        write_file(path, f"{copies}/{number:04}",
                   [whole[at:at + int(step)] for at in range(0, len(whole), int(step))], 0.002)
        number += 1
        if number < int(count):
            rotate(path, int(keep))


RECORD_EVENTS = 200     # of a file


def record(directory, host, machine):
    path, copies = f"{directory}/x.elog", f"{directory}/all"
    os.makedirs(copies)
    number = 0
    while not os.path.exists(f"{directory}/stop"):
        if number:
            rotate(path, 9999)
        blocks = event_blocks(host, machine, number * RECORD_EVENTS, RECORD_EVENTS, 1000000,
                              1500, 50)
        write_file(path, f"{copies}/{number:04}", blocks, 0.03)
        number += 1


if __name__ == "__main__":
    {"make": make, "events": events, "strip": strip, "capture": capture,
     "record": record, "version": version}[sys.argv[1]](*sys.argv[2:])
