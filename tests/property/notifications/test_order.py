"""Whatever was tried before, and whenever it is looked: each sequence is sent in order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.notifications.sender import due, given_up, pause_after
from lakeguard.settings import ChannelType, EventChannel
from lakeguard_sdk.model.notifications import ChannelDelivery, DeliveryOutcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHANNEL = EventChannel(name="hook", type=ChannelType.WEBHOOK)


@dataclass(frozen=True)
class Piece:
    number: int
    sequence: str
    raised_at: datetime


def deliveries() -> st.SearchStrategy[ChannelDelivery | None]:
    tried = st.builds(
        lambda attempts, ago, dead: ChannelDelivery(
            channel="hook",
            outcome=DeliveryOutcome.DEAD if dead else DeliveryOutcome.FAILED,
            attempts=attempts,
            tried_at=NOW - timedelta(seconds=ago),
        ),
        st.integers(1, 30),
        st.integers(0, 900),
        st.booleans(),
    )
    return st.none() | tried


@st.composite
def waiting(draw: st.DrawFn) -> list[tuple[Piece, ChannelDelivery | None]]:
    ages = sorted(draw(st.lists(st.integers(0, 900), max_size=12)), reverse=True)
    return [
        (
            Piece(number, draw(st.sampled_from("abc")), NOW - timedelta(seconds=age)),
            draw(deliveries()),
        )
        for number, age in enumerate(ages)
    ]


@given(waiting())
def test_nothing_overtakes_what_still_waits_in_its_sequence(
    found: list[tuple[Piece, ChannelDelivery | None]],
) -> None:
    chosen = [piece.number for piece, _ in due(CHANNEL, found, NOW)]
    assert chosen == sorted(chosen)
    for piece, _ in found:
        before = [
            other.number
            for other, last in found
            if other.sequence == piece.sequence
            and other.number < piece.number
            and not given_up(last)
        ]
        if piece.number in chosen:
            assert set(before) <= set(chosen)


@given(waiting())
def test_what_was_given_up_is_left_and_holds_up_nobody(
    found: list[tuple[Piece, ChannelDelivery | None]],
) -> None:
    later = NOW + timedelta(days=1)
    chosen = {piece.number for piece, _ in due(CHANNEL, found, later)}
    assert chosen == {piece.number for piece, last in found if not given_up(last)}


@given(st.integers(1, 100))
def test_pauses_are_bounded(attempts: int) -> None:
    pause = pause_after(CHANNEL, attempts)
    assert timedelta(seconds=1) <= pause <= timedelta(minutes=5)
    assert pause <= pause_after(CHANNEL, attempts + 1)
