"""Rendering of ``why``: verdict, checks, changes, next steps."""

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
from lakeguard.cli.rendering.runs import dead_run_text, outcome_of, run_mark
from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    moment,
    strong,
    toned,
)
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.explain_decision import EXPLAINED, Explanation
from lakeguard.services.plain_text import escaped, escaped_lines, plural
from lakeguard_sdk.core.enums import Outcome, RunStatus
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.read_models import OpenRun

_BELOW = 4


def why_lines(
    explanation: Explanation, screen: Screen | None = None, *, every_check: bool = False
) -> list[str]:
    return [
        *_verdict(explanation),
        *_checks(explanation, screen or Screen(), every_check),
        *_new_columns(explanation),
        *_notes(explanation),
        *_changes(explanation),
        *_next_commands(explanation),
    ]


def open_run_lines(run: OpenRun) -> list[str]:
    """A run that has not ended."""
    name = strong(run.dataset)
    if run.dead:
        return [f"{toned('† DEAD', Tone.BAD)}  {name}   {dead_run_text(run)}"]
    mark, by = toned("▶ RUNNING", Tone.WARN), escaped(run.triggered_by)
    return [f"{mark}  {name}   {run.run_id}, begun at {moment(run.begun_at)} by {by}"]


def _verdict(explanation: Explanation) -> list[str]:
    run = explanation.run
    head = f"{run_mark(run.status)}  {strong(run.dataset)}   {_left(explanation)}"
    facts = [("run", run.run_id), ("ended", moment(run.end_time))]
    if explanation.decision is not None:
        facts.append(("decision", explanation.decision.decision_id))
    facts += facts_rows(explanation.facts)
    lines = [head, *indented(columns(facts))]
    if run.error_message and explanation.decision is None:
        first, *more = escaped_lines(run.error_message)
        lines += ["", f"{escaped(run.error_code or '')}  {first}", *indented(more)]
    return lines


def _left(explanation: Explanation) -> str:
    """What the run produced, and the visible version."""
    now = (
        "nothing is visible"
        if explanation.published is None
        else f"v{explanation.published} is visible"
    )
    if explanation.run.status is not RunStatus.SUCCESS:
        return f"nothing was published; {now}"
    return f"{outcome_of(explanation.run)}; {now}"


def _checks(explanation: Explanation, screen: Screen, every_check: bool) -> list[str]:
    if explanation.decision is None:
        return ["", "No decision was made: the run ended before the gate."]
    checks = explanation.decision.ruling.checks
    shown = with_outcome(checks, *(tuple(Outcome) if every_check else EXPLAINED))
    lines = [
        line
        for check, line_of_check in zip(shown, check_lines(shown), strict=True)
        for line in (line_of_check, *indented(_below(explanation, check, screen), _BELOW))
    ]
    lines = lines or [escaped(reason) for reason in explanation.decision.ruling.reasons]
    rest = others_line(checks, shown)
    if rest:
        lines.append(f"{rest}   (--all shows them)")
    return ["", strong(plural(len(checks), "check")), *indented(lines)]


def _new_columns(explanation: Explanation) -> list[str]:
    """Also after a run that read nothing."""
    found = [f"{escaped(item.column)} ({item.found})" for item in explanation.new_columns]
    return ["", f"In the input, but not in the table: {', '.join(found)}"] if found else []


def _below(explanation: Explanation, check: CheckResult, screen: Screen) -> list[str]:
    """Trend and sample rows of the check."""
    trend = trend_line(explanation.trend_of(check), screen)
    rows = example_lines(explanation.sample_of(check), screen, indent=2 + _BELOW)
    return [*([trend] if trend else []), *rows]


def _notes(explanation: Explanation) -> list[str]:
    if explanation.facts is None or not explanation.facts.notes:
        return []
    return ["", strong("Notes"), *indented(notes_lines(explanation.facts.notes))]


def _changes(explanation: Explanation) -> list[str]:
    """A run that builds nothing, such as a rollback, has no comparison."""
    if explanation.since is None:
        return ["", "There is no earlier successful run to compare with."]
    if not explanation.since.compared:
        return []
    title = f"Since v{explanation.since.version} ({moment(explanation.since.promoted_at)})"
    return ["", strong(title), *indented(since_lines(explanation.since))]


def _next_commands(explanation: Explanation) -> list[str]:
    if not explanation.next_commands:
        return []
    lines = [
        line
        for way in explanation.next_commands
        for line in (f"{escaped(way.when)}:", f"  {escaped(way.command)}")
    ]
    return ["", strong("Next steps"), *indented(lines)]
