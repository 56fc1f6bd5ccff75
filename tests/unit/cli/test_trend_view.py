"""A check over the last runs: marks that rise with the number, and words that say the same."""

from __future__ import annotations

import io
import sys

import pytest

from lakeguard.cli.rendering.checks import trend_line
from lakeguard.cli.terminal.output import BLOCKS, Screen, this_screen
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.run_comparison import CheckPoint, CheckTrend
from tests.support.cases import models

PLAIN = Screen(marks="12345678", gap="-")


def observed(*values: MeasureValue) -> CheckTrend:
    return CheckTrend(
        kind=CheckKind.RULE,
        check_id="mean",
        points=tuple(
            CheckPoint(run_id=f"run_{n}", ended_at=models.NOW, outcome=Outcome.PASS, observed=value)
            for n, value in enumerate(values)
        ),
    )


def failed(*counts: tuple[int, int | None]) -> CheckTrend:
    points = [
        CheckPoint(
            run_id=f"run_{n}",
            ended_at=models.NOW,
            outcome=Outcome.FAIL,
            failed_rows=count,
            scope_rows=scope,
            observed=13200,
        )
        for n, (count, scope) in enumerate(counts)
    ]
    return CheckTrend(kind=CheckKind.RULE, check_id="range", points=tuple(points))


@pytest.mark.parametrize(
    ("trend", "line"),
    [
        (observed(12.5, 12.5, 419.763), "▁▁█  3 runs: 12.5 first, 419.763 now"),
        (observed(-5, 0, 5), "▁▅█  3 runs: -5 first, 5 now"),
        (observed("1.50", "2.50"), "▁█  2 runs: 1.50 first, 2.50 now"),
        (observed(7, 7), "▁▁  2 runs: 7 first, 7 now"),
        (observed(None, 7), "·▁  2 runs: 7 in one of them, 1 without a number (·)"),
        (observed(1, 2, None), "▁█·  3 runs: 1 first, 2 last, 1 without a number (·)"),
        (observed("NaN", 1, 2), "·▁█  3 runs: 1 first, 2 now, 1 without a number (·)"),
        (observed(-1.7e308, 0, 1.7e308), "▁▅█  3 runs: -1.7e+308 first, 1.7e+308 now"),
        (observed(0, 5e-324), "▁▁  2 runs: 0 first, 4.94066e-324 now"),
        (observed(10**400, 1, 2), "·▁█  3 runs: 1 first, 2 now, 1 without a number (·)"),
        (failed((1, 1000), (10, 20)), "▁█  2 runs: 1 of 1,000 rows first, 10 of 20 rows now"),
        (failed((0, 0), (1, 1)), "▁█  2 runs: 0 of 0 rows first, 1 of 1 row now"),
        (failed((3, None), (1, None)), "█▃  2 runs: 3 rows first, 1 row now"),
        (failed((0, 9), (0, 9)), "▁▁  2 runs: 0 of 9 rows first, 0 of 9 rows now"),
    ],
)
def test_lines(trend: CheckTrend, line: str) -> None:
    assert trend_line(trend, Screen()) == line


def test_shares_of_failing_rows_are_compared_and_not_their_counts() -> None:
    """Half of a small batch is worse than some of a large one."""
    line = trend_line(failed((50, 1000), (10, 20)), Screen())
    assert line is not None
    assert line.startswith("▂█")


@pytest.mark.parametrize("trend", [None, observed(1), observed(None, None), observed("a", "b")])
def test_nothing_to_draw(trend: CheckTrend | None) -> None:
    assert trend_line(trend, Screen()) is None


def test_every_height_has_its_mark() -> None:
    line = trend_line(observed(*range(8)), Screen())
    assert line is not None
    assert line.startswith(BLOCKS)
    plain = trend_line(observed(*range(8), None), PLAIN)
    assert plain == "12345678-  9 runs: 0 first, 7 last, 1 without a number (-)"
    assert plain.isascii()


@pytest.mark.parametrize(
    ("encoding", "marks"),
    [("utf-8", BLOCKS), ("ascii", PLAIN.marks), ("iso-8859-1", PLAIN.marks)],
)
def test_a_terminal_without_blocks_gets_digits(
    monkeypatch: pytest.MonkeyPatch, encoding: str, marks: str
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    monkeypatch.setenv("COLUMNS", "60")
    screen = this_screen()
    assert (screen.marks, screen.width) == (marks, 60)
    screen.gap.encode(encoding)
