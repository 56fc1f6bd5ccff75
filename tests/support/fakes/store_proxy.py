"""A proxy before an S3 server that loses answers, refuses and delays, and counts requests.

It runs in threads of the test's process, so that it cannot serve calls that hold Python's lock, as
delta-rs does while it restores a table.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from tests.support.fakes.temporary_keys import TemporaryKeys

_HOP = {"connection", "transfer-encoding", "keep-alive"}
_PATIENCE_SECONDS = 30.0
"""Longer than any client of a test waits."""
_PIECES = 20
_PAUSE_SECONDS = 0.03
REFUSALS = {
    "503": (503, "SlowDown", "Please reduce your request rate."),
    "expired": (403, "ExpiredToken", "The provided token has expired."),
}


@dataclass(frozen=True)
class Request:
    method: str
    path: str


@dataclass
class StoreProxy:
    """``fault`` says what happens to a request: "" forwards it, "lost" forwards it and closes the
    connection without an answer, "silent" forwards it and never answers, "slow" delays the answer,
    "trickled" sends it in small pieces, and one of ``REFUSALS`` refuses it. With ``keys`` it is
    AWS's service for temporary keys too, and the store refuses all others; then it can also leave
    out the conditions of requests."""

    server: str
    fault: Callable[[Request], str] = lambda _: ""
    endpoint: str = ""
    keys: TemporaryKeys | None = None
    leaves_out_conditions: bool = False
    requests: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def counted(self, request: Request) -> str:
        with self.lock:
            self.requests[request.method] += 1
            fault = self.fault(request)
            self.faults[fault] += bool(fault)
            return fault

    @contextmanager
    def with_fault(self, fault: Callable[[Request], str]) -> Iterator[None]:
        """A test whose requests do not meet the fault fails."""
        before, self.fault = self.faults.total(), fault
        try:
            yield
        finally:
            self.fault = lambda _: ""
        assert self.faults.total() > before, "no request met the fault"


def once(fault: str, matches: Callable[[Request], bool]) -> Callable[[Request], str]:
    """The fault happens to the first request that matches."""
    left = [fault]
    return lambda request: left.pop() if left and matches(request) else ""


def always(fault: str, matches: Callable[[Request], bool]) -> Callable[[Request], str]:
    """The fault happens to every request that matches."""
    return lambda request: fault if matches(request) else ""


def every(fault: str, number: int) -> Callable[[Request], str]:
    """The fault happens to one of so many requests, whatever they ask for."""
    seen = iter(range(1_000_000))
    return lambda _: fault if next(seen) % number == number - 1 else ""


def nth_write(fault: str, number: int) -> Callable[[Request], str]:
    """The fault happens to one write; the others are forwarded."""
    seen = iter(range(1_000_000))
    return lambda request: fault if request.method == "PUT" and next(seen) == number else ""


@contextmanager
def store_proxy(server: str) -> Iterator[StoreProxy]:
    proxy = StoreProxy(server)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        listening.daemon_threads = True
        proxy.endpoint = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield proxy
        listening.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: StoreProxy

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.proxy.keys is not None and (self.command, self.path) == ("POST", "/"):
            self._issue_keys(self.proxy.keys, body)
            return
        fault = self.proxy.counted(Request(self.command, self.path))
        if not fault and not self._has_good_keys():
            fault = "expired"
        if fault in REFUSALS:
            self._refuse(*REFUSALS[fault])
            return
        status, headers, content = self._forwarded(body)
        if fault == "silent":
            self.connection.settimeout(_PATIENCE_SECONDS)
            self.connection.recv(1)  # until the client gives up
        if fault in ("lost", "silent"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if fault == "slow":
            time.sleep(2)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self._send(content, _PIECES if fault == "trickled" else 1)

    def _issue_keys(self, keys: TemporaryKeys, body: bytes) -> None:
        issued = keys.issue(dict(parse_qsl(body.decode())))
        if issued is None:
            self._refuse(403, "AccessDenied", "not an identity that may have keys")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(issued.encode())))
        self.end_headers()
        self.wfile.write(issued.encode())

    def _has_good_keys(self) -> bool:
        return self.proxy.keys is None or self.proxy.keys.are_good(self._lower_headers())

    def _lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _headers_to_forward(self, body: bytes) -> dict[str, str]:
        if self.proxy.keys is None:
            return dict(self.headers.items())
        address, headers = f"{self.proxy.server}{self.path}", self._lower_headers()
        if self.proxy.leaves_out_conditions:
            headers = {name: value for name, value in headers.items() if name[:3] != "if-"}
        return {
            **self.proxy.keys.signed_again(self.command, address, headers, body),
            "Host": urlsplit(self.proxy.server).netloc,
            "Content-Length": str(len(body)),
        }

    def _refuse(self, status: int, code: str, message: str) -> None:
        """As S3 does, with the key that was used."""
        key = f"<AWSAccessKeyId>{self.headers.get('Authorization')}</AWSAccessKeyId>"
        error = f"<Error><Code>{code}</Code><Message>{message}</Message>{key}</Error>"
        content = b"" if self.command == "HEAD" else error.encode()
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _forwarded(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        forward = http.client.HTTPConnection(urlsplit(self.proxy.server).netloc, timeout=30)
        forward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self._headers_to_forward(body).items():
            forward.putheader(name, value)
        forward.endheaders(body or None)
        found = forward.getresponse()
        content = found.read()
        forward.close()
        headers = [(name, value) for name, value in found.getheaders() if name.lower() not in _HOP]
        if found.getheader("Content-Length") is None:
            headers.append(("Content-Length", str(len(content))))
        return found.status, headers, content

    def _send(self, content: bytes, pieces: int) -> None:
        size = max(1, -(-len(content) // pieces))
        for start in range(0, len(content), size):
            self.wfile.write(content[start : start + size])
            self.wfile.flush()
            if pieces > 1:
                time.sleep(_PAUSE_SECONDS)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer

    def log_message(self, *words: object) -> None:
        """Quiet."""
