"""Processes of this machine: dead is only what is certain to be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling import process_identity
from lakeguard_sdk.scheduling.process_identity import is_gone, this_process


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Lives until its input ends."""
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as child:
        yield child


def worker(child: subprocess.Popen[bytes]) -> WorkerIdentity:
    here = this_process("worker")
    return here.model_copy(
        update={"pid": child.pid, "process_mark": process_identity._mark(child.pid)}
    )


def test_what_ended_is_gone(other: subprocess.Popen[bytes]) -> None:
    identity = worker(other)
    assert not is_gone(identity)
    other.kill()
    other.wait()
    assert is_gone(identity)


def test_what_has_the_number_of_another_is_gone() -> None:
    here = this_process("worker")
    another = here.process_mark + "1"
    assert is_gone(here.model_copy(update={"process_mark": another}))


def test_what_cannot_be_seen_is_not_gone(
    other: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the system shows a user none but his own processes."""
    identity = worker(other)
    monkeypatch.setattr(process_identity, "PROCESSES", tmp_path)
    assert not is_gone(identity)
    other.kill()
    other.wait()
    assert is_gone(identity)


def test_what_may_not_be_spoken_to_is_not_gone(
    other: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(pid, number)

    identity = worker(other)
    monkeypatch.setattr(process_identity, "PROCESSES", tmp_path)
    monkeypatch.setattr("os.kill", refuse)
    assert not is_gone(identity)
