"""One screen that explains a decision: verdict, checks, what changed, the ways out."""

from __future__ import annotations

from lakeguard.cli.rendering.checks import (
    check_lines,
    example_lines,
    facts_rows,
    notes_lines,
    others_line,
    trend_line,
    with_outcome,
)
from lakeguard.cli.rendering.run_diff import since_lines
from lakeguard.cli.rendering.runs import outcome_of, run_mark
from lakeguard.cli.terminal.layout import (
    columns,
    indented,
    moment,
    strong,
)
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.explain_decision import TOLD, Explanation
from lakeguard.services.plain_text import escaped, escaped_lines, plural
from lakeguard_sdk.core.enums import Outcome, RunStatus
from lakeguard_sdk.model.decision import CheckResult

_BELOW = 4


def why_lines(
    told: Explanation, screen: Screen | None = None, *, every_check: bool = False
) -> list[str]:
    return [
        *_verdict(told),
        *_checks(told, screen or Screen(), every_check),
        *_notes(told),
        *_changes(told),
        *_ways_out(told),
    ]


def _verdict(told: Explanation) -> list[str]:
    run = told.run
    head = f"{run_mark(run.status)}  {strong(run.dataset)}   {_left(told)}"
    facts = [("run", run.run_id), ("ended", moment(run.end_time))]
    if told.decision is not None:
        facts.append(("decision", told.decision.decision_id))
    facts += facts_rows(told.facts)
    lines = [head, *indented(columns(facts))]
    if run.error_message and told.decision is None:
        first, *more = escaped_lines(run.error_message)
        lines += ["", f"{escaped(run.error_code or '')}  {first}", *indented(more)]
    return lines


def _left(told: Explanation) -> str:
    """What the run left behind, and what readers see."""
    now = "nothing is visible" if told.published is None else f"v{told.published} is visible"
    if told.run.status is not RunStatus.SUCCESS:
        return f"nothing was published; {now}"
    return f"{outcome_of(told.run)}; {now}"


def _checks(told: Explanation, screen: Screen, every_check: bool) -> list[str]:
    if told.decision is None:
        return ["", "No decision was made: the run ended before the gate was asked."]
    checks = told.decision.ruling.checks
    shown = with_outcome(checks, *(tuple(Outcome) if every_check else TOLD))
    lines = [
        line
        for check, said in zip(shown, check_lines(shown), strict=True)
        for line in (said, *indented(_below(told, check, screen), _BELOW))
    ]
    lines = lines or [escaped(reason) for reason in told.decision.ruling.reasons]
    rest = others_line(checks, shown)
    if rest:
        lines.append(f"{rest}   (--all shows them)")
    return ["", strong(plural(len(checks), "check")), *indented(lines)]


def _below(told: Explanation, check: CheckResult, screen: Screen) -> list[str]:
    """How the check fared before, and some of the rows that it is about."""
    trend = trend_line(told.trend_of(check), screen)
    rows = example_lines(told.sample_of(check), screen, indent=2 + _BELOW)
    return [*([trend] if trend else []), *rows]


def _notes(told: Explanation) -> list[str]:
    if told.facts is None or not told.facts.notes:
        return []
    return ["", strong("Notes"), *indented(notes_lines(told.facts.notes))]


def _changes(told: Explanation) -> list[str]:
    """A run that builds nothing, such as a rollback, is compared with nothing."""
    if told.since is None:
        return ["", "There is no earlier green run to compare with."]
    if not told.since.compared:
        return []
    title = f"Since v{told.since.version} ({moment(told.since.promoted_at)})"
    return ["", strong(title), *indented(since_lines(told.since))]


def _ways_out(told: Explanation) -> list[str]:
    if not told.ways_out:
        return []
    lines = [
        line
        for way in told.ways_out
        for line in (f"{escaped(way.when)}:", f"  {escaped(way.command)}")
    ]
    return ["", strong("Ways out"), *indented(lines)]
