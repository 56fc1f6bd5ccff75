"""``lakeguard serve`` as a process: what it logs, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from lakeguard.http.listen_address import parse_place
from tests.support.lakes.policy_datasets import opened
from tests.support.projects.projects import numbers_project

PATIENCE = 60


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = ["serve", "--listen", "127.0.0.1:0", "--project", str(folder)]
    script = "import sys; from lakeguard.cli.main import call; sys.exit(call(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.communicate()


def test_what_is_under_way_is_answered_before_it_ends(tmp_path: Path) -> None:
    plan = opened(numbers_project(tmp_path))
    with served(tmp_path) as (process, url):
        place = parse_place(url.removeprefix("http://"))
        body = b'{"triggered_by": "x"}'
        head = (
            f"POST /api/v1/datasets/bronze.numbers/tasks HTTP/1.1\r\nHost: {place}\r\n"
            f"X-Request-Id: half\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        events = f"{url}/api/v1/runs/{plan.ticket.run_id}/events"
        accept = {"Accept": "text/event-stream"}
        with (
            socket.create_connection((place.host, place.port), timeout=PATIENCE) as half,
            httpx.stream("GET", events, headers=accept, timeout=PATIENCE) as stream,
        ):
            half.sendall(head + body[:5])
            lines = stream.iter_lines()
            assert next(lines).startswith("retry:")
            assert httpx.get(f"{url}/healthz").status_code == 200  # the half one was seen by now
            process.send_signal(signal.SIGTERM)
            assert any(line == "event: opened" for line in lines)
            assert list(lines)[-1:] in ([], [""])
            with pytest.raises(httpx.ConnectError):
                httpx.get(f"{url}/healthz")
            half.sendall(body[5:])
            assert half.recv(100).startswith(b"HTTP/1.1 200 ")
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        logged = [line for line in process.stderr if line.startswith("{")]
    found = [json.loads(line) for line in logged]
    by_operation = {line["operation"]: line for line in found if "operation" in line}
    assert by_operation["operations.submit"]["request_id"] == "half"
    assert by_operation["reader.run_events.stream"]["run_id"] == plan.ticket.run_id
    assert all(line["at"] and line["level"] == "info" for line in found)
