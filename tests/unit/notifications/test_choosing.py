"""When an alert is tried again, and what a receiver can rely on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.notifications.messages import message_of
from lakeguard.notifications.sender import due, pause_after
from lakeguard.settings import AlertChannel, ChannelType
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertKind,
    ChannelDelivery,
    DeliveryOutcome,
    alert_key,
)
from lakeguard_sdk.security.signed_webhook import signature

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "alerts.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOOK = AlertChannel(name="hook", type=ChannelType.WEBHOOK)
ALERT = Alert(
    alert_id="alr_1",
    kind=AlertKind.BLOCKED,
    severity=Severity.FAIL,
    organisation="default",
    dataset=DatasetName("gold.sales"),
    dataset_id="ds_1",
    layer=Layer.GOLD,
    domain="sales",
    owner="ada",
    message="no\nlines \N{SNOWMAN}",
    raised_at=NOW,
    dedupe_key=alert_key(AlertKind.BLOCKED, "dec_1"),
)


def tried(
    attempts: int, ago: timedelta, outcome: DeliveryOutcome = DeliveryOutcome.FAILED
) -> ChannelDelivery:
    return ChannelDelivery(channel="hook", outcome=outcome, attempts=attempts, tried_at=NOW - ago)


def test_pauses_grow_and_end_growing() -> None:
    pauses = [pause_after(HOOK, attempts) for attempts in range(1, 101)]
    assert pauses[:3] == [timedelta(seconds=seconds) for seconds in (30, 90, 270)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == timedelta(hours=6)


def raised(ago: timedelta) -> Alert:
    return ALERT.model_copy(update={"raised_at": NOW - ago, "alert_id": f"alr_{ago}"})


def is_due(last: ChannelDelivery | None) -> bool:
    return bool(due(HOOK, [(raised(timedelta(days=4)), last)], NOW))


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_it_is_due_when_its_pause_is_over(attempts: int) -> None:
    pause = pause_after(HOOK, attempts)
    assert is_due(None)
    assert is_due(tried(attempts, pause))
    assert not is_due(tried(attempts, pause - timedelta(seconds=1)))


def test_what_was_given_up_is_not_due() -> None:
    assert not is_due(tried(8, timedelta(days=3), DeliveryOutcome.DEAD))


@pytest.mark.parametrize("outcome", [DeliveryOutcome.FAILED, DeliveryOutcome.DEAD])
def test_a_channel_rests_after_a_failure_but_for_what_is_new(outcome: DeliveryOutcome) -> None:
    second = timedelta(seconds=1)
    failed = (raised(60 * second), tried(9, 20 * second, outcome))
    before, after = (raised(30 * second), None), (raised(10 * second), None)
    assert due(HOOK, [failed, before, after], NOW) == [after]
    assert due(HOOK, [failed, before, after], NOW + 10 * second) == [before, after]


def test_the_same_thing_has_the_same_id_whoever_raises_it() -> None:
    raised_again = ALERT.model_copy(update={"alert_id": "alr_2"})
    first = message_of(ALERT, "hook")
    assert message_of(ALERT, "hook") == first
    assert message_of(raised_again, "hook").delivery == first.delivery
    assert message_of(ALERT, "other").delivery != first.delivery
    other = ALERT.model_copy(update={"organisation": "shop"})
    assert message_of(other, "hook").delivery != first.delivery


def test_a_message_is_one_line() -> None:
    assert b"\n" not in message_of(ALERT, "hook").body


def test_the_signature_that_the_page_shows() -> None:
    found = signature("hush", "1767225600", b'{"kind":"test"}')
    assert found in PAGE.read_text("utf-8")
    assert found != signature("hush", "1767225601", b'{"kind":"test"}')
    assert found != signature("hush", "1767225600", b'{"kind":"best"}')
    assert found != signature("Hush", "1767225600", b'{"kind":"test"}')
