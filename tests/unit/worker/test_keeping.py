"""The heart of a worker beats on, whatever it meets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lakeguard.worker import heartbeat
from lakeguard.worker.heartbeat import heartbeats
from lakeguard_sdk.model.run import RunTicket
from tests.support.projects.assignments import attempt_of


class Failing:
    """A dispatcher that fails as nobody foresaw, then as somebody did, and then answers."""

    def __init__(self) -> None:
        self.beats = threading.Semaphore(0)
        self.outcomes: list[Exception] = [
            RuntimeError("broken"),
            RuntimeError("broken"),
            OSError("away"),
        ]

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        self.beats.release()
        if self.outcomes:
            raise self.outcomes.pop(0)
        return {ticket.run_id: 120.0 for ticket in tickets}


def test_leases_are_kept_after_a_failure_that_nobody_foresaw(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(heartbeat, "_LOOK_SECONDS", 0.001)
    attempt, dispatch = attempt_of(), Failing()
    port: Any = dispatch
    with caplog.at_level(logging.ERROR), heartbeats(port, lambda: [attempt], 0.001):
        for _ in range(6):
            assert dispatch.beats.acquire(timeout=10)
    assert not attempt.is_lost, "nothing is known of it"
    (reported,) = caplog.records
    assert "broken" in str(reported.exc_info), "told once, with all that is known of it"
