#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends parts of a file to a stream in any order, as elog ship sends them, or not quite.

fleet_send.py PORT SUBJECT FILE ID ORDER [HEADER...]
    FILE is divided into parts of 1000 bytes. ORDER has the numbers of the parts to send,
    "FIRST-LAST" or a number, separated by commas. Each HEADER, "KEY: VALUE", is added to
    the part 0. With ORDER "wrong", sends messages that elog ship never sends.
"""
import socket
import sys

PART = 1000


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", int(port)))
        self.replies = self.socket.makefile("rb")
        self.replies.readline()
        self.socket.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB reply 1\r\n')

    def send(self, subject, headers, data):
        """Waits until the stream has stored it."""
        head = "".join(f"{line}\r\n" for line in ["NATS/1.0", *headers, ""]).encode()
        self.socket.sendall(f"HPUB {subject} reply {len(head)} {len(head) + len(data)}\r\n".encode()
                            + head + data + b"\r\n")
        while not self.replies.readline().startswith(b"MSG"):
            pass
        if b'"error"' in self.replies.readline():
            sys.exit("the stream refuses a message")


def numbers(order):
    for each in order.split(","):
        first, _, last = each.partition("-")
        yield from range(int(first), int(last or first) + 1)


def send_wrong(connection, subject):
    good = "Elog-File: " + "1" * 32
    for headers in ([], ["Elog-File: nonsense", "Elog-Offset: 0"], [good],
                    [good, "Elog-Offset: -1"], [good, "Elog-Offset: 99999999999999999999"],
                    [good, "Elog-Offset: 18446744073709551615"],
                    [good, "Elog-Offset: 0", "Elog-Previous: " + "1" * 32],
                    [good, "Elog-Offset: 0", "Elog-Previous-Size: x"],
                    ["Elog-File: " + "1" * 3000, "Elog-Offset: 0"], ["no colon"],
                    [good, "Elog-Offset: 0", "Status: 503"]):
        connection.send(subject, headers, b"garbage")
    for headers in [good, "Elog-Offset: 0"], ["Status: 503"]:
        connection.send(subject, headers, b"")


def main(port, subject, path, file_id, order, *headers):
    connection = Connection(port)
    if order == "wrong":
        send_wrong(connection, subject)
        return
    with open(path, "rb") as file:
        data = file.read()
    for number in numbers(order):
        at = number * PART
        connection.send(subject, [f"Elog-File: {file_id}", f"Elog-Offset: {at}",
                                  *(headers if number == 0 else ())], data[at:at + PART])


if __name__ == "__main__":
    main(*sys.argv[1:])
