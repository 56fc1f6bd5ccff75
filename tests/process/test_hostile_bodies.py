"""Bodies that are made to exhaust a service: each is refused, and its memory stays as it is."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from select import select

import pytest

from lakeguard.http.listen_address import Place, parse_place
from lakeguard.http.middleware import LARGEST_BODY, MOST_DROPPED
from tests.process.test_serve import served
from tests.support.projects.projects import numbers_project

TASKS = "/api/v1/datasets/bronze.numbers/tasks"
MORE_BYTES = 50 * 1024 * 1024
"""By less than this may the memory of the service grow beyond what plain large bodies take."""
GIGABYTE = 1024**3
PIECE = b" " * 1_000_000


GOOD = b'{"triggered_by": "x"}'


@dataclass(frozen=True)
class Service:
    place: Place
    pid: int

    def most_bytes(self) -> int:
        """The most memory that its process ever had."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("numbers")
    numbers_project(folder)
    with served(folder) as (process, url):
        found = Service(parse_place(url.removeprefix("http://")), process.pid)
        assert answer(found.place, [GOOD]) == 200
        for _ in range(3):  # bodies may be as large, one of them not collected yet
            assert answer(found.place, [whole(b'"%b"' % (b"x" * 15_000_000))]) == 422
        yield found


def answer(place: Place, pieces: Iterable[bytes], header: str = "") -> int:
    """The status of the answer to a body that comes in chunks. A sender that listens stops when it
    is answered."""
    head = f"POST {TASKS} HTTP/1.1\r\nHost: {place}\r\n{header}Transfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((place.host, place.port), 60) as sock:
        sock.sendall(head.encode())
        for piece in pieces:
            if select([sock], [], [], 0)[0]:
                break
            sock.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        else:
            sock.sendall(b"0\r\n\r\n")
        return int(sock.recv(65_536).split(maxsplit=2)[1])


def whole(inner: bytes) -> bytes:
    return b'{"triggered_by": "x", "key": %b}' % inner


BODIES = {
    "deep": whole(b"[" * 100_000 + b"]" * 100_000),
    "deep objects": whole(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "never closed": b'{"triggered_by": ' + b"[" * 1_000_000,
    "digits": whole(b"9" * 10_000),
    "a million digits": whole(b"9" * 1_000_000),
    "an exponent": whole(b"1e" + b"9" * 10_000),
    "a fraction": whole(b"0." + b"9" * 1_000_000),
    "NaN": whole(b"NaN"),
    "infinity": whole(b"-Infinity"),
    "twice": b'{"triggered_by": "x", "triggered_by": "y"}',
    "NUL": whole(b'"a\\u0000"'),
    "half a character": whole(b'"\\ud800"'),
    "half a name": b'{"triggered_by": "x", "\\udfff": 1}',
    "not UTF-8": whole(b'"\xff"'),
    "UTF-16": '{"triggered_by": "x"}'.encode("utf-16"),
    "a long name": b'{"triggered_by": "x", "' + b"a" * 4_000_000 + b'": 1}',
    "many credentials that are none": whole(b'["' + b"-eyJ" * 500_000 + b'.a"]'),
    "many lists": whole(b"[" + b"[]," * 2_500_000 + b"[]]"),
    "many objects": whole(b"[" + b'{"a":1},' * 1_000_000 + b"{}]"),
    "many texts": whole(b"[" + b'"ab",' * 1_600_000 + b'""]'),
    "an open text": whole(b"[" * 300 + b'"' + b'\\"' * 1_000_000),
    "an open text and many": whole(b"[]," * 500_000 + b'"' + b'\\",' * 1_000_000),
    "gzip without a header": gzip.compress(b"x" * 10_000_000),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_that_costs_more_than_it_says_is_refused(service: Service, kind: str) -> None:
    before = service.most_bytes()
    body = BODIES[kind]
    pieces = [body[at : at + len(PIECE)] for at in range(0, len(body), len(PIECE))]
    assert answer(service.place, pieces) == 422
    assert service.most_bytes() - before < MORE_BYTES
    assert answer(service.place, [GOOD]) == 200


def test_a_gigabyte_in_chunks_is_stopped_at_the_limit(service: Service) -> None:
    before, sent = service.most_bytes(), count()
    pieces = (PIECE for _ in takewhile(lambda n: n * len(PIECE) < GIGABYTE, sent))
    assert answer(service.place, pieces) == 413
    assert next(sent) * len(PIECE) < LARGEST_BODY + MOST_DROPPED
    assert service.most_bytes() - before < MORE_BYTES
    assert answer(service.place, [GOOD]) == 200


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip", "GZIP"])
def test_a_packed_body_is_not_unpacked(service: Service, encoding: str) -> None:
    before = service.most_bytes()
    bomb = gzip.compress(bytes(100_000_000))
    assert answer(service.place, [bomb], f"Content-Encoding: {encoding}\r\n") == 415
    assert service.most_bytes() - before < MORE_BYTES


def test_a_header_without_end_is_refused(service: Service) -> None:
    """Before anything is made of it."""
    before = service.most_bytes()
    with socket.create_connection((service.place.host, service.place.port), 60) as sock:
        sock.sendall(f"GET /api/v1/datasets HTTP/1.1\r\nHost: {service.place}\r\nX: ".encode())
        for _ in range(1_000):
            if select([sock], [], [], 0)[0]:
                break
            with suppress(ConnectionError):
                sock.sendall(b"a" * 100_000)
        assert sock.recv(65_536).startswith(b"HTTP/1.1 4")
    assert service.most_bytes() - before < MORE_BYTES
    assert answer(service.place, [GOOD]) == 200
