"""One turn of the dispatcher, for a timer to call."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.worker import Redelivery
from lakeguard_sdk.errors import StateUnavailable
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell

AWAY = StateUnavailable(place="postgresql://there", reason="it is gone")


@pytest.mark.parametrize(
    ("error", "given"), [(RuntimeError("odd"), "RuntimeError: odd"), (AWAY, str(AWAY))]
)
def test_what_was_done_is_told_whatever_becomes_of_the_deliveries(
    error: Exception, given: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def catch_up(deliveries: Redelivery) -> int:
        deliveries.warn("serving: connection refused")
        raise error

    numbers_project(tmp_path)
    monkeypatch.setattr(Redelivery, "catch_up", catch_up)
    result = shell("dispatcher", "--once", "--json", "--project", tmp_path)
    assert (result.code, result.data["delivered"]) == (1, 0)
    assert result.data["problems"] == [
        "deliveries: serving: connection refused",
        f"deliveries: {given}",
    ]
