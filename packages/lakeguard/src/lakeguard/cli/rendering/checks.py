"""Rendering of checks, their trends, sample rows and run facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    number,
    toned,
    width,
)
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.read_models import RunFacts
from lakeguard_sdk.model.row_sample import MASKED, RowSample
from lakeguard_sdk.model.run_comparison import CheckPoint, CheckTrend

BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_WORST_FIRST = (
    Outcome.ERROR,
    Outcome.FAIL,
    Outcome.WARN,
    Outcome.NOT_EVALUATED,
    Outcome.PASS,
)
_MARKS = {
    Outcome.ERROR: ("✗ ERROR", Tone.BAD),
    Outcome.FAIL: ("✗ FAIL", Tone.BAD),
    Outcome.WARN: ("! WARN", Tone.WARN),
    Outcome.NOT_EVALUATED: ("○ NOT EVALUATED", Tone.QUIET),
    Outcome.PASS: ("✓ PASS", Tone.GOOD),
}


def worst_first(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Failing checks first; within an outcome in the gate's order."""
    return sorted(checks, key=lambda check: _WORST_FIRST.index(check.outcome))


def with_outcome(checks: Sequence[CheckResult], *outcomes: Outcome) -> list[CheckResult]:
    return [check for check in worst_first(checks) if check.outcome in outcomes]


def check_lines(checks: Sequence[CheckResult]) -> list[str]:
    """One line per check, with its numbers and limit."""
    return columns([_cells(check) for check in checks])


def others_line(checks: Sequence[CheckResult], shown: Sequence[CheckResult]) -> str | None:
    """Outcome counts of the checks that are not shown."""
    rest = [check for check in checks if check not in shown]
    passed = sum(check.outcome is Outcome.PASS for check in rest)
    warned = sum(check.outcome is Outcome.WARN for check in rest)
    skipped = sum(check.outcome is Outcome.NOT_EVALUATED for check in rest)
    parts = []
    if passed:
        other = "other check" if shown else "check"
        parts.append(f"{plural(passed, other)} passed")
    if warned:
        parts.append(plural(warned, "warning"))
    if skipped:
        parts.append(f"{plural(skipped, 'check')} not evaluated")
    return ", ".join(parts) or None


def tally(checks: Sequence[CheckResult]) -> str:
    """``14 checks passed, 2 warnings``."""
    passed = sum(check.outcome is Outcome.PASS for check in checks)
    warned = sum(check.outcome is Outcome.WARN for check in checks)
    text = f"{plural(passed, 'check')} passed"
    return f"{text}, {plural(warned, 'warning')}" if warned else text


def _cells(check: CheckResult) -> list[str]:
    mark, tone = _MARKS[check.outcome]
    waived = "" if check.waived_by is None else f"; waived by {check.waived_by}"
    return [escaped(_title(check)), toned(mark, tone), escaped(check.message + waived)]


def _title(check: CheckResult) -> str:
    match check.kind:
        case CheckKind.RULE:
            return check.expression
        case CheckKind.POLICY:
            return f"policy {check.check_id}: {check.expression}"
        case _:
            return f"{check.kind.value}: {check.check_id}"


# Sample of the failing rows of a check.

MOST_SHOWN = 5
_LONGEST = 32
_NULL = "NULL"
_CUT = "…"


def example_lines(sample: RowSample | None, screen: Screen, indent: int) -> list[str]:
    """A header and at most five rows, cut to the screen width; masked columns are marked."""
    if sample is None or not sample.rows:
        return []
    header = [_header(name, sample) for name in sample.columns]
    rows = [_example_cells(row, sample) for row in sample.rows[:MOST_SHOWN]]
    more = len(sample.rows) - len(rows)
    lines = columns([header, *rows])
    if more:
        lines.append(f"{plural(more, 'more example')} with --json")
    return [fitted(line, screen.width - indent) for line in lines]


def _header(name: str, sample: RowSample) -> str:
    return short(name) + (" (masked)" if name in sample.masked else "")


def _example_cells(row: tuple[str | None, ...], sample: RowSample) -> list[str]:
    """Masked columns show no value, whatever the sample holds."""
    return [
        MASKED if name in sample.masked else _NULL if value is None else short(value)
        for name, value in zip(sample.columns, row, strict=False)
    ]


def short(text: str) -> str:
    """Escaped, and cut to the width of a cell."""
    return fitted(escaped(text), _LONGEST)


def fitted(text: str, most: int) -> str:
    """Cut to ``most`` cells; … marks a cut."""
    if width(text) <= most:
        return text
    cut = text[: max(0, most - 1)]
    while cut and width(cut) > most - 1:
        cut = cut[:-1]
    return cut + _CUT


# Trend of a check over the last runs.

Height = Callable[[CheckPoint], float | None]


def trend_line(trend: CheckTrend | None, screen: Screen) -> str | None:
    """A chart with its first and last value; None without earlier runs or numbers."""
    if trend is None or len(trend.points) < 2:
        return None
    rows = any(point.failed_rows is not None for point in trend.points)
    height = _share if rows else _observed
    measured = [point for point in trend.points if height(point) is not None]
    if not measured:
        return None
    runs, ends = plural(len(trend.points), "run"), _ends(trend.points, measured, rows)
    missing = len(trend.points) - len(measured)
    gaps = f", {missing} without a number ({screen.gap})" if missing else ""
    return f"{_chart(trend.points, height, screen, from_zero=rows)}  {runs}: {ends}{gaps}"


def _chart(points: Sequence[CheckPoint], height: Height, screen: Screen, *, from_zero: bool) -> str:
    """Oldest first; failing rows are scaled from 0, other numbers from their minimum."""
    heights = [height(point) for point in points]
    known = [value for value in heights if value is not None]
    least, most = (0.0 if from_zero else min(known)), max(known)
    return "".join(
        screen.gap if value is None else _mark(value, least, most, screen.marks)
        for value in heights
    )


def _mark(value: float, least: float, most: float, marks: str) -> str:
    """Computed on halves, because the full range may overflow a float."""
    span = most / 2 - least / 2
    if span == 0:
        return marks[0]
    return marks[round((value / 2 - least / 2) / span * (len(marks) - 1))]


def _ends(points: Sequence[CheckPoint], measured: Sequence[CheckPoint], rows: bool) -> str:
    first, last = measured[0], measured[-1]
    if first is last:
        return f"{_words(last, rows)} in one of them"
    now = "now" if last is points[-1] else "last"
    return f"{_words(first, rows)} first, {_words(last, rows)} {now}"


def _words(point: CheckPoint, rows: bool) -> str:
    if not rows:
        return number(point.observed)
    if point.scope_rows is None:
        return plural(point.failed_rows or 0, "row")
    return f"{number(point.failed_rows)} of {plural(point.scope_rows, 'row')}"


def _share(point: CheckPoint) -> float | None:
    """Share of the checked rows, because batches differ in size."""
    if point.failed_rows is None:
        return None
    return point.failed_rows / point.scope_rows if point.scope_rows else float(point.failed_rows)


def _observed(point: CheckPoint) -> float | None:
    return _finite(point.observed)


def _finite(value: MeasureValue) -> float | None:
    """The value as a finite float, else None."""
    try:
        found = float(value) if value is not None else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and isfinite(found) else None


# Facts of a run besides its verdict: changes of the table, and build notes.

_LONGEST_FACT = 160


def facts_rows(facts: RunFacts | None) -> list[tuple[str, str]]:
    """Row changes, rejected lines and quarantined rows."""
    if facts is None:
        return []
    rows = [("changes", _changes_text(facts.changes))] if facts.changes else []
    if facts.rejected:
        rows.append(("rejected", plural(facts.rejected, "malformed line")))
    if facts.quarantined:
        rows.append(("quarantined", plural(facts.quarantined, "row")))
    return rows


def _changes_text(changes: Changes) -> str:
    """``120 inserted, 3 updated``; counts of 0 are left out."""
    counts = [(name, getattr(changes, name)) for name in type(changes).model_fields]
    parts = [f"{number(count)} {name}" for name, count in counts if count]
    return ", ".join(parts) or "none"


def notes_lines(notes: Mapping[str, Any]) -> list[str]:
    """One line per note, sorted by name."""
    return columns([(escaped(name), escaped(_text(notes[name]))) for name in sorted(notes)])


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_FACT else f"{text[:_LONGEST_FACT]}…"
