#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""deny.py locks|statx COMMAND...: runs a command in a sandbox that denies system calls.

locks: locks of open files fail with ENOLCK, as in a file system that has none. statx: statx(2)
fails with EPERM, as with a seccomp profile that is older. Exits with 77 if that is not possible.
"""
import ctypes
import errno
import os
import struct
import sys

NUMBERS = {"x86_64": (72, 332), "aarch64": (25, 291)}	# fcntl, statx
SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
OFD_GETLK, OFD_SETLK = 36, 37
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7fff0000, 0x00050000
NUMBER, SECOND_ARGUMENT = 0, 24	# in struct seccomp_data

what, *command = sys.argv[1:]
if os.uname().machine not in NUMBERS:
    sys.exit(77)
fcntl, statx = NUMBERS[os.uname().machine]
code = {"locks": [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 4, fcntl), (LOAD, 0, 0, SECOND_ARGUMENT),
                  (EQUAL, 1, 0, OFD_SETLK), (EQUAL, 0, 1, OFD_GETLK),
                  (RETURN, 0, 0, ERRNO | errno.ENOLCK), (RETURN, 0, 0, ALLOW)],
        "statx": [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 1, statx),
                  (RETURN, 0, 0, ERRNO | errno.EPERM), (RETURN, 0, 0, ALLOW)]}[what]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
prctl = ctypes.CDLL(None).prctl
if prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(SET_SECCOMP, FILTER, head):
    sys.exit(77)
os.execvp(command[0], command)
