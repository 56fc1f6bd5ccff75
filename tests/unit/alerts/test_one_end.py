"""However many rounds the end of a process takes, all of them have one deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.relay import background
from lakeguard.state.database import Database
from tests.worlds.channels import block, blocking_world, file_channel, lines_of, messenger


class Busy:
    """Has never delivered all."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.deadlines: list[float | None] = []

    def is_idle(self) -> bool:
        return False

    def drain(self, threads: int = 1, until: float | None = None) -> None:
        self.deadlines.append(until)
        background._behind[self] = threading.Timer(60, self.drain)  # as if somebody had committed


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """No deliverer of another test."""
    others = dict(background._behind)
    background._behind.clear()
    background._end.until = None
    yield
    for timer in background._behind.values():
        if timer is not None:
            timer.cancel()
    background._behind.clear()
    background._behind.update(others)
    background._end.until = None


def test_every_round_has_the_deadline_of_the_first(tmp_path: Path) -> None:
    busy = Busy(messenger(blocking_world(tmp_path, file_channel())).database)
    background._behind[busy] = None
    background.deliver_all()
    background._at_exit()
    assert len(busy.deadlines) == 2 * background.ROUNDS
    (deadline,) = set(busy.deadlines)
    assert deadline is not None
    assert deadline <= time.monotonic() + background.END_SECONDS


def test_what_is_new_has_its_own(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    background.deliver_all()
    first = background._end.until
    block(client)
    background.deliver_all()
    assert first is not None
    assert background._end.until is not None
    assert background._end.until > first
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 1


def test_after_the_deadline_nothing_is_tried(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    sender = messenger(client)
    assert sender.drain(until=time.monotonic()) == []
    assert lines_of(tmp_path / "alerts.jsonl") == []
    assert not sender.is_idle()
    assert [turn.sent for turn in sender.drain(until=time.monotonic() + 60)] == [1]


def test_who_holds_the_channels_is_not_waited_for_longer(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    sender = messenger(client)
    with sender._turn:
        assert sender.drain(until=time.monotonic() + 0.05) == []
    assert not sender.is_idle()
