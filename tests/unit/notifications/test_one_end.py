"""However many rounds the end of a process takes, all of them have one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeguard.relay.delivery_loop import END_SECONDS, ROUNDS, DeliveryLoop
from tests.support.databases.databases import fresh_database
from tests.support.projects.alert_channels import (
    alert_sender,
    block,
    blocking_world,
    file_channel,
    lines_of,
)


class Busy:
    """Has never delivered all."""

    def __init__(self) -> None:
        self.deadlines: list[float | None] = []

    def is_idle(self) -> bool:
        return False

    def drain(self, threads: int = 1, until: float | None = None) -> None:
        self.deadlines.append(until)


def test_every_round_has_the_deadline_of_the_first(tmp_path: Path) -> None:
    busy = Busy()
    DeliveryLoop(fresh_database("sqlite", tmp_path), [busy]).close()
    assert len(busy.deadlines) == ROUNDS
    (deadline,) = set(busy.deadlines)
    assert deadline is not None
    assert deadline <= time.monotonic() + END_SECONDS


def test_what_is_new_is_delivered_by_the_next_end(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    client.close()
    block(client)
    assert lines_of(tmp_path / "alerts.jsonl") == []
    client.close()
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 1


def test_a_loop_delivers_soon_after_a_commit_and_asks_nothing_in_between(tmp_path: Path) -> None:
    database = fresh_database("sqlite", tmp_path)
    busy = Busy()
    loop = DeliveryLoop(database, [busy], seconds=0.01)
    loop.start()
    for turn in (1, 2):
        wait_for(lambda turn=turn: len(busy.deadlines) == turn)
        time.sleep(0.05)
        assert busy.deadlines == [None] * turn, "once for each commit"
        with database.write():
            pass
    loop.close()


def test_a_loop_outlives_a_failure_and_the_end_tells_it(tmp_path: Path) -> None:
    class Broken(Busy):
        def drain(self, threads: int = 1, until: float | None = None) -> None:
            super().drain(threads, until)
            raise RuntimeError("broken")

    broken = Broken()
    loop = DeliveryLoop(fresh_database("sqlite", tmp_path), [broken], seconds=0.01)
    loop.start()
    wait_for(lambda: len(broken.deadlines) >= 2)
    with pytest.raises(RuntimeError, match="broken"):
        loop.close()


def test_a_client_delivers_in_the_background_until_it_is_closed(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    with client:
        block(client)
        wait_for(lambda: len(lines_of(tmp_path / "alerts.jsonl")) == 1)
        block(client)
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 2
    assert client.ledger.sync().rows == 0


def wait_for(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_after_the_deadline_nothing_is_tried(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    sender = alert_sender(client)
    assert sender.drain(until=time.monotonic()) == []
    assert lines_of(tmp_path / "alerts.jsonl") == []
    assert not sender.is_idle()
    assert [turn.sent for turn in sender.drain(until=time.monotonic() + 60)] == [1]


def test_who_holds_the_channels_is_not_waited_for_longer(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    sender = alert_sender(client)
    with sender._lock:
        assert sender.drain(until=time.monotonic() + 0.05) == []
    assert not sender.is_idle()
