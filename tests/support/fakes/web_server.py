"""A real web server of this machine that answers as it is told, well or badly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Page:
    """What a path answers; ``length`` is what the server claims, right by default."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = -1
    pause: float = 0.0


@dataclass
class Site:
    """``asked`` holds every request line that came, secrets and all."""

    port: int
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web_site() -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    site = Site(int(server.server_address[1]))
    server.RequestHandlerClass = _handler(site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(site: Site) -> Callable[..., Any]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            page = site.pages.get(self.path.partition("?")[0], Page(status=404))
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if page.length is not None:
                length = len(page.body) if page.length < 0 else page.length
                self.send_header("Content-Length", str(length))
            self.end_headers()
            half = len(page.body) // 2
            self.wfile.write(page.body[:half])
            self.wfile.flush()
            time.sleep(page.pause)
            self.wfile.write(page.body[half:])

        def log_message(self, *_: object) -> None:
            """The test's own output stays clean."""

        def handle(self) -> None:
            """Whoever hangs up has heard enough."""
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True

    return Handler
