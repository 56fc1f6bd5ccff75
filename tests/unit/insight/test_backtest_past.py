"""The walk along a pointer's moves finds, at any time, what a look at all moves before finds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.insight.history.backtest_past import Walk
from lakeguard.promotion.deciding.measure_history import led_to
from lakeguard_sdk.core.enums import MoveKind

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = st.lists(st.tuples(st.sampled_from(["publish", "back", "compact"]), st.integers(0, 9)))


def moves_of(steps: list[tuple[str, int]]) -> list[Any]:
    """A history as pointers have it: a rollback shows any version that there was."""
    found: list[Any] = []
    made = 0
    for at, (step, choice) in enumerate(steps):
        kind, version = MoveKind.PUBLISH, made + 1
        if step == "back" and made:
            kind, version = MoveKind.ROLLBACK, 1 + choice % made
        elif step == "compact":
            kind = MoveKind.COMPACTION
        made = max(made, version)
        moved_at = BEGUN + timedelta(seconds=at // 2)
        found.append(SimpleNamespace(kind=kind.value, version=version, moved_at=moved_at))
    return found


@given(steps=STEPS, most=st.integers(1, 5))
def test_the_walk_is_the_look_at_all_moves(steps: list[tuple[str, int]], most: int) -> None:
    moves = moves_of(steps)
    walk = Walk(cast("list[Any]", moves))
    for second in range(len(steps) // 2 + 2):
        at = BEGUN + timedelta(seconds=second)
        before = led_to(move for move in moves if move.moved_at < at)
        assert walk.before(at, most) == before[-most:][::-1]
    gone: set[int] = set()
    for place, move in enumerate(moves):
        if move.kind == MoveKind.ROLLBACK.value:
            gone |= set(led_to(moves[:place])) - set(led_to(moves[: place + 1]))
    assert walk.rolled_back == gone
