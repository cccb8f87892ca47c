#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A receiver of OpenTelemetry for tests: otlp_receiver.py DIR [CERTIFICATE KEY]

Listens on a port of 127.0.0.1, or on that of OTLP_PORT, and writes its number to DIR/port.
The path of a request begins with what the receiver does with it:

ok, nothing accepts it, and stores it as DIR/WHAT/NUMBER.logs or .traces
busy        answers 503, 429 with a Retry-After, 502 and 504, and closes the connection; then
            accepts
key         accepts only requests with the header "authorization: Bearer secret"
partial     accepts it, but says that it refuses two records
liar        likewise, but more records than it got
html, json  answers 200 with something that OpenTelemetry does not know
empty       closes the connection without an answer
half        closes the connection within the answer
long        answers with too many bytes
hang        never answers
late        accepts it when the file DIR/go exists
echo        answers 400 with the header authorization in the message
token       likewise, but only with its last word
moved       redirects to ok
NUMBER      answers with this status, and a message

The names of all requests are appended to DIR/requests.
"""
import http.server
import os
import ssl
import sys
import threading
import time
import zlib

folder = sys.argv[1]
lock = threading.Lock()
counts = {}


def message(text):
    """A google.rpc.Status: 2 is its text."""
    return b"\x08\x03\x12" + bytes([len(text)]) + text


def refused(number):
    """An ExportLogsServiceResponse with a partial_success."""
    varint = bytearray()
    while number > 127:
        varint.append(number & 127 | 128)
        number >>= 7
    varint.append(number)
    inner = b"\x08" + bytes(varint) + b"\x12\x0btwo are bad"
    return b"\x0a" + bytes([len(inner)]) + inner


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/x-protobuf", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def accept(self, what, path, body, answer=b""):
        with lock:
            counts[what] = counts.get(what, 0) + 1
            number = counts[what]
        os.makedirs(f"{folder}/{what}", exist_ok=True)
        if self.headers["Content-Encoding"] == "gzip":
            body = zlib.decompress(body, 31)
        assert self.headers["Content-Type"] == "application/x-protobuf"
        suffix = {"/v1/logs": "logs", "/v1/traces": "traces"}[path]
        with open(f"{folder}/{what}/{number:06}.{suffix}", "wb") as file:
            file.write(body)
        self.answer(200, answer)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/v1/"):
            self.path = "/ok" + self.path
        what, path = self.path[1:].split("/", 1)
        path = "/" + path
        with lock:
            counts["+" + what] = counts.get("+" + what, 0) + 1
            number = counts["+" + what]
            with open(f"{folder}/requests", "a") as file:
                file.write(f"{what} {path} {self.headers['Content-Encoding']}\n")
        if what == "ok" or (what == "busy" and number > 5):
            self.accept(what, path, body)
        elif what == "busy" and number == 1:
            self.answer(503)
        elif what == "busy" and number == 2:
            self.answer(429, message(b"slowly"), Retry_After="1")
        elif what == "busy" and number < 5:
            self.answer(502 if number == 3 else 504)
        elif what in ("busy", "empty"):
            self.close_connection = True
        elif what == "key":
            if self.headers["authorization"] == "Bearer secret":
                self.accept(what, path, body)
            else:
                self.answer(401, message(b"who are you"))
        elif what == "late":
            while not os.path.exists(f"{folder}/go"):
                time.sleep(0.1)
            self.accept(what, path, body)
        elif what == "partial":
            self.accept(what, path, body, refused(2))
        elif what == "liar":
            self.accept(what, path, body, refused(2 ** 40))
        elif what == "html":
            self.answer(200, b"<html>hello</html>", "text/html")
        elif what == "json":
            self.answer(200, b"{}", "application/json")
        elif what == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            self.close_connection = True
        elif what == "long":
            self.answer(200, bytes(1 << 20))
        elif what == "hang":
            time.sleep(3600)
        elif what == "echo":
            self.answer(400, message(b"I got " + self.headers["authorization"].encode()))
        elif what == "token":
            self.answer(400, message(b"not " + self.headers["authorization"].split()[-1].encode()))
        elif what == "moved":
            self.answer(302, Location="/ok" + path)
        else:
            self.answer(int(what), message(b"no \x1b[31mway"))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", int(os.environ.get("OTLP_PORT", 0))), Receiver)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
with open(f"{folder}/port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(f"{folder}/port.new", f"{folder}/port")
server.serve_forever()
