"""Checks as people read them: what was asked, what it came to, the gate's own sentence."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, columns, plural, toned
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.words import CheckKind, Outcome

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
    """Failing checks first; within an outcome the gate's own order."""
    return sorted(checks, key=lambda check: _WORST_FIRST.index(check.outcome))


def with_outcome(checks: Sequence[CheckResult], *outcomes: Outcome) -> list[CheckResult]:
    return [check for check in worst_first(checks) if check.outcome in outcomes]


def check_lines(checks: Sequence[CheckResult]) -> list[str]:
    """A line per check; its sentence has the numbers and their limit."""
    return columns([_cells(check) for check in checks])


def others_line(checks: Sequence[CheckResult], shown: Sequence[CheckResult]) -> str | None:
    """What the checks that are not shown came to, in one line."""
    rest = [check for check in checks if check not in shown]
    passed = sum(check.outcome is Outcome.PASS for check in rest)
    warned = sum(check.outcome is Outcome.WARN for check in rest)
    skipped = sum(check.outcome is Outcome.NOT_EVALUATED for check in rest)
    told = []
    if passed:
        other = "other check" if shown else "check"
        told.append(f"{plural(passed, other)} passed")
    if warned:
        told.append(plural(warned, "warning"))
    if skipped:
        told.append(f"{plural(skipped, 'check')} not evaluated")
    return ", ".join(told) or None


def tally(checks: Sequence[CheckResult]) -> str:
    """``14 checks passed, 2 warnings``."""
    passed = sum(check.outcome is Outcome.PASS for check in checks)
    warned = sum(check.outcome is Outcome.WARN for check in checks)
    told = f"{plural(passed, 'check')} passed"
    return f"{told}, {plural(warned, 'warning')}" if warned else told


def _cells(check: CheckResult) -> list[str]:
    mark, tone = _MARKS[check.outcome]
    waived = "" if check.waived_by is None else f"; waived by {check.waived_by}"
    return [inert(_title(check)), toned(mark, tone), inert(check.message + waived)]


def _title(check: CheckResult) -> str:
    match check.kind:
        case CheckKind.RULE:
            return check.expression
        case CheckKind.POLICY:
            return f"policy {check.check_id}: {check.expression}"
        case _:
            return f"{check.kind.value}: {check.check_id}"
