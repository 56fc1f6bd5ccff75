"""A file of alerts: whole lines, each once, whatever the file turns out to be."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakeguard.notifications import transports
from lakeguard.notifications.messages import Message, message_of
from lakeguard.notifications.transports import DeliveryFailed, LinesFile
from lakeguard_sdk.model.notifications import AlertKind, alert_key
from tests.support.projects.alert_channels import lines_of
from tests.unit.notifications.test_choosing import ALERT


def message(number: int) -> Message:
    key = alert_key(AlertKind.BLOCKED, f"dec_{number}")
    return message_of(ALERT.model_copy(update={"dedupe_key": key}), "file")


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process grows beyond it, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_line_is_there_once(tmp_path: Path) -> None:
    file = LinesFile(tmp_path / "new" / "alerts.jsonl")
    for number in (1, 2, 1, 2, 3):
        file.send(message(number), 1)
    found = [line["delivery"] for line in lines_of(file.path)]
    assert found == [message(number).delivery for number in (1, 2, 3)]


def test_the_tail_is_looked_at_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = LinesFile(tmp_path / "alerts.jsonl")
    monkeypatch.setattr(transports, "TAIL_BYTES", 2 * len(message(1).body) + 2)
    for number in (1, 2, 3, 2, 1):
        file.send(message(number), 1)
    assert len(lines_of(file.path)) == 4


@pytest.mark.parametrize("room", [0, 1, 100])
def test_half_a_line_is_taken_back(room: int, tmp_path: Path) -> None:
    file = LinesFile(tmp_path / "alerts.jsonl")
    file.send(message(1), 1)
    before = file.path.read_bytes()
    with room_for(len(before) + room), pytest.raises(DeliveryFailed):
        file.send(message(2), 1)
    assert file.path.read_bytes() == before
    file.send(message(2), 1)
    assert len(lines_of(file.path)) == 2


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DeliveryFailed, match="no plain file"):
        LinesFile(tmp_path / "pipe").send(message(1), 1)


def test_who_holds_the_file_is_not_waited_for_long(tmp_path: Path) -> None:
    file = LinesFile(tmp_path / "alerts.jsonl")
    with (
        transports.sole_by_file(tmp_path / "alerts.jsonl.lock", 0),
        pytest.raises(DeliveryFailed, match="another process"),
    ):
        file.send(message(1), 0.1)
