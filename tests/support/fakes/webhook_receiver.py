"""A real web server of this machine that takes alerts, checks who sent them, and misbehaves."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "a secret of tests"


@dataclass
class Receiver:
    """``answers`` are given in turn, 200 after the last; below 0 it says nothing until it ends,
    at 0 a byte now and then."""

    port: int = 0
    answers: list[int] = field(default_factory=list)
    came: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    signed: bool = True
    """Whether it takes signed messages alone."""
    reply: bytes | None = None
    """What is said beside the answer's number; None promises far more than ever comes."""
    framing: str = "length"
    """How its end is told: by ``length``, ``chunks`` or ``close``; a ``short`` one breaks off."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/alerts"

    @property
    def kinds(self) -> list[str]:
        return [str(body["kind"]) for body in self.bodies]

    @property
    def deliveries(self) -> list[str]:
        return [headers["x-lakeguard-delivery"] for headers in self.came]


@contextmanager
def receiver(*answers: int) -> Iterator[Receiver]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    made = Receiver(int(server.server_address[1]), list(answers))
    server.RequestHandlerClass = _handler(made)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield made
    finally:
        made.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def is_signed(headers: dict[str, str], body: bytes) -> bool:
    """As a receiver in any other language would find it out."""
    reported = headers["x-lakeguard-timestamp"].encode() + b"." + body
    wanted = hmac.new(SECRET.encode(), reported, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers["x-lakeguard-signature"], f"sha256={wanted}")


def _handler(site: Receiver) -> Callable[..., Any]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = site.answers.pop(0) if site.answers else 200
            site.came.append(headers)
            site.bodies.append(json.loads(body))
            if site.signed and not is_signed(headers, body):
                answer = 401
            if answer <= 0:
                self._linger(trickle=answer == 0)
                return
            self.send_response(answer)
            if 300 <= answer < 400:
                self.send_header("Location", f"http://127.0.0.1:{site.port}/elsewhere")
            if site.reply is None:
                self._promise(2**40)
            else:
                self._say(site.reply)
            self.close_connection = True

        def _promise(self, length: int) -> None:
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def _say(self, reply: bytes) -> None:
            if site.framing in ("length", "short"):
                self._promise(len(reply) + (site.framing == "short"))
            elif site.framing == "close":
                self.end_headers()
            else:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                parts = [reply[start : start + 100] for start in range(0, len(reply), 100)]
                reply = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
            self.wfile.write(reply)

        def _linger(self, *, trickle: bool) -> None:
            self.close_connection = True
            while not site.ended.wait(0.1):
                if trickle:
                    self.wfile.write(b"H")
                    self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """The test's own output stays clean."""

        def handle(self) -> None:
            """Whoever hangs up has heard enough."""
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True

    return Handler
