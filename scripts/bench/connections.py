#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""connections.py HOST PORT COUNT - connects to a server of NATS as COUNT hosts do that have
nothing to send, prints "ready" when it has answered all, and waits until its input ends."""
import asyncio
import resource
import sys


async def connect(host, port, number):
    reader, writer = await asyncio.open_connection(host, port)
    await reader.readline()
    writer.write(b'CONNECT {"verbose":false,"headers":true}\r\n'
                 b"SUB _INBOX.%d.* 1\r\nPING\r\n" % number)
    while not (await reader.readline()).startswith(b"PONG"):
        pass
    return writer


async def main(host, port, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100,) * 2)
    writers = []
    for first in range(0, count, 100):
        writers += await asyncio.gather(
            *(connect(host, port, number) for number in range(first, min(first + 100, count))))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    return writers


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
