"""Promises about time, where no run comes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from lakeguard.gate.policies import breaches
from lakeguard_sdk.core.enums import PolicyType
from tests.unit.gate.cases import CLOCK, policy


@pytest.mark.parametrize(
    ("text", "promoted_at", "message"),
    [
        ("freshness <= 24h", CLOCK - timedelta(hours=24), None),
        ("freshness <= 24h", CLOCK - timedelta(hours=30), "last promoted 1 d 6 h ago, limit 24h"),
        ("freshness <= 24h", None, None),
        ("arrival by 06:00", CLOCK - timedelta(hours=11), None),
        (
            "arrival by 06:00",
            CLOCK - timedelta(hours=13),
            "due by 2026-01-31 06:00 UTC, last promoted 2026-01-30 23:00 UTC",
        ),
        ("duration <= 1m", CLOCK - timedelta(days=900), None),
        ("arrival by tea", CLOCK, "invalid policy"),
    ],
)
def test_what_is_late(text: str, promoted_at: datetime | None, message: str | None) -> None:
    found = breaches((policy(text, PolicyType.SLA),), promoted_at, CLOCK)
    assert [breach.policy for breach in found] == ([] if message is None else ["guarantee"])
    if message is not None:
        assert message in found[0].message


def test_only_active_promises_about_time_count() -> None:
    old = CLOCK - timedelta(days=30)
    others = (
        policy("freshness <= 1h", PolicyType.SLA, active=False),
        policy("forbid tag:pii"),
    )
    assert breaches(others, old, CLOCK) == ()
