#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keys and tokens for tests of NATS_CREDS, as the program nsc makes them.

fleet_jwt.py DIR SUBJECT
    Writes DIR/jwt.conf, lines for a server: an operator and an account with JetStream. Writes
    DIR/host.creds, a user who may publish to SUBJECT, and DIR/other.creds, a user whom an
    account of another operator has signed.
"""
import base64
import json
import subprocess
import sys
import tempfile
import time

SEED, OPERATOR, ACCOUNT, USER = 18 << 3, 14 << 3, 0, 20 << 3
LIMITS = ("subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage",
          "disk_storage", "streams", "consumer")


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc


def encode(data):
    return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    """An Ed25519 key of openssl, whose DER formats end with the 32 bytes of the key."""

    def __init__(self, kind):
        self.der = subprocess.check_output(
            ["openssl", "genpkey", "-algorithm", "ed25519", "-outform", "DER"])
        public = subprocess.run(
            ["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"],
            input=self.der, stdout=subprocess.PIPE, check=True).stdout
        self.name = encode(bytes([kind]) + public[-32:])
        self.seed = encode(bytes([SEED | kind >> 5, (kind & 31) << 3]) + self.der[-32:])

    def sign(self, text):
        with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as data:
            key.write(self.der)
            key.flush()
            data.write(text.encode())
            data.flush()
            return subprocess.check_output(
                ["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey",
                 key.name, "-in", data.name])

    def token(self, subject, name, kind, claims):
        """A token about another key, which this key signs."""
        header = {"typ": "JWT", "alg": "ed25519-nkey"}
        body = {"jti": name, "iat": int(time.time()), "iss": self.name, "name": name,
                "sub": subject.name, "nats": {**claims, "type": kind, "version": 2}}
        text = ".".join(base64url(json.dumps(part).encode()) for part in (header, body))
        return text + "." + base64url(self.sign(text))


def account_token(operator, account, name):
    limits = {limit: -1 for limit in LIMITS if name != "system" or "st" not in limit}
    return operator.token(account, name, "account",
                          {"limits": {**limits, "wildcards": True}})


def write_creds(path, account, subject):
    user = Key(USER)
    token = account.token(user, "host", "user", {
        "pub": {"allow": [subject, "$JS.API.>"]}, "sub": {"allow": ["_INBOX.>"]},
        "subs": -1, "data": -1, "payload": -1})
    with open(path, "w") as file:
        file.write(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                   f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n"
                   f"------END USER NKEY SEED------\n")


def main(directory, subject):
    operator, system, account, other = Key(OPERATOR), Key(ACCOUNT), Key(ACCOUNT), Key(ACCOUNT)
    with open(f"{directory}/jwt.conf", "w") as file:
        file.write(f"operator: {operator.token(operator, 'test', 'operator', {})}\n"
                   f"system_account: {system.name}\nresolver: MEMORY\nresolver_preload: {{\n"
                   f"{system.name}: {account_token(operator, system, 'system')}\n"
                   f"{account.name}: {account_token(operator, account, 'hosts')}\n}}\n")
    write_creds(f"{directory}/host.creds", account, subject)
    write_creds(f"{directory}/other.creds", other, subject)


if __name__ == "__main__":
    main(*sys.argv[1:])
