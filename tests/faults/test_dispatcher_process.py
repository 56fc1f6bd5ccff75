"""The dispatcher as a process: it works, ends when told, and outlives its State."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from lakeguard.cli.main import answered
from lakeguard_sdk.model.definitions import Definitions
from tests.support.databases.databases import KINDS, shared_server
from tests.support.projects.projects import make_project, states_of
from tests.support.projects.triggered_jobs import job

PATIENCE_SECONDS = 60.0
COMMAND = ("-m", "lakeguard.cli.main")


class Dispatcher:
    """A running ``lakeguard dispatcher``, and what it says."""

    def __init__(self, folder: Path, *options: str, start: Sequence[str] = COMMAND) -> None:
        command = [sys.executable, *start, "dispatcher", *options]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: queue.Queue[str] = queue.Queue()
        streams = [stream for stream in (self.process.stdout, self.process.stderr) if stream]
        self.readers = [threading.Thread(target=self._read, args=(each,)) for each in streams]
        for reader in self.readers:
            reader.start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.lines.put(line)

    def until(self, words: str) -> str:
        """The next line that has these words."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        seen = []
        while time.monotonic() < deadline:
            try:
                seen.append(self.lines.get(timeout=0.2))
            except queue.Empty:
                assert self.process.poll() is None, seen
                continue
            if words in seen[-1]:
                return seen[-1]
        raise AssertionError(f"{words!r} was not said, but: {seen}")

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def dispatching(
    folder: Path, *options: str, start: Sequence[str] = COMMAND
) -> Iterator[Dispatcher]:
    made = Dispatcher(folder, *options, start=start)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        for reader in made.readers:
            reader.join()


def project(folder: Path) -> None:
    jobs = (job("load", on_files="landing/*.csv"),)
    client = make_project(folder, Definitions(jobs=jobs), tick_seconds=1, quiet_seconds=1)
    client.jobs.deploy("tests")


def land(folder: Path, name: str) -> None:
    path = folder / "landing" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")


@pytest.mark.parametrize("kind", KINDS)
def test_it_works_until_it_is_told_to_stop(kind: str, tmp_path: Path) -> None:
    with states_of(kind):
        project(tmp_path)
        with dispatching(tmp_path, "--json") as dispatcher:
            dispatcher.until("polling every 1 s")
            land(tmp_path, "a.csv")
            assert json.loads(dispatcher.until('"triggered"'))["triggered"] == 1
            assert dispatcher.end(signal.SIGTERM) == 0
            assert "stopping" in dispatcher.until("stopping")


@pytest.mark.soak
def test_it_outlives_a_server_that_is_started_again(tmp_path: Path) -> None:
    with states_of("postgresql"):
        project(tmp_path)
        server = shared_server()
        with dispatching(tmp_path) as dispatcher:
            dispatcher.until("polling every 1 s")
            server.stop()
            try:
                dispatcher.until("control plane unavailable, retrying")
            finally:
                server.start()
            dispatcher.until("control plane available again")
            land(tmp_path, "a.csv")
            dispatcher.until("1 triggered")
            server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND application_name = 'lakeguard'"
            )
            land(tmp_path, "b.csv")
            dispatcher.until("1 triggered")
            assert dispatcher.end(signal.SIGINT) == 0


def test_once_is_one_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path)
    land(tmp_path, "a.csv")
    for triggered in (1, 0):
        assert answered(["dispatcher", "--once", "--json", "--project", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().out)["triggered"] == triggered
    assert answered(["dispatcher", "--once", "--listen", "127.0.0.1:0"]) == 2
