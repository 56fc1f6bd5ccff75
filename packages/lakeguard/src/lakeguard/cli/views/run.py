"""The end of a run as people read it: what happened, why, what now."""

from __future__ import annotations

from lakeguard.cli.inert import inert, inert_lines
from lakeguard.cli.layout import GAP, Tone, indented, plural, strong, toned
from lakeguard.cli.views.checks import (
    BLOCKING,
    check_lines,
    others_line,
    tally,
    with_outcome,
)
from lakeguard.cli.ways_out import next_for_failure
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.evidence import InputVersion
from lakeguard_sdk.run import RunResult
from lakeguard_sdk.words import Outcome, RunStatus


def run_lines(result: RunResult, published: int | None, again: str = "") -> list[str]:
    """``published`` is the version that readers see now that the run is over; ``again`` what to
    type for another try, where that is no plain run."""
    match result.status:
        case RunStatus.BLOCKED:
            return _blocked(result, published)
        case RunStatus.FAILED:
            return _failed(result, published, again)
        case RunStatus.SUCCESS if result.version is None:
            return _unchanged(result, published)
        case RunStatus.SUCCESS:
            return _promoted(result)


def inputs_text(inputs: tuple[InputVersion, ...]) -> str:
    return ", ".join(f"{item.dataset}@v{item.version}" for item in inputs)


def _promoted(result: RunResult) -> list[str]:
    checks = result.decision.ruling.checks if result.decision else ()
    told = [] if result.rows is None else [plural(result.rows, "row")]
    told += [tally(checks)] if checks else []
    parts = [
        f"{toned('✓ PROMOTED', Tone.GOOD)}  {strong(f'{result.dataset} v{result.version}')}",
        ", ".join(told),
        f"from {inputs_text(result.inputs)}" if result.inputs else "",
    ]
    warned = with_outcome(checks, Outcome.WARN)
    return [GAP.join(part for part in parts if part), *indented(check_lines(warned))]


def _unchanged(result: RunResult, published: int | None) -> list[str]:
    stays = "nothing is published yet" if published is None else f"v{published} stays"
    mark = toned("= UNCHANGED", Tone.GOOD)
    return [f"{mark}  {strong(result.dataset)}{GAP}nothing new; {stays}"]


def _blocked(result: RunResult, published: int | None) -> list[str]:
    head = f"{toned('✗ BLOCKED', Tone.BAD)}  {strong(result.dataset)}"
    return [
        f"{head}{GAP}nothing was published; {_stays(published)}",
        *indented(failing_lines(result.decision)),
        f"Next: lakeguard why {result.dataset}",
    ]


def failing_lines(decision: Decision | None) -> list[str]:
    """The checks that blocked, each with its numbers, then the others counted."""
    if decision is None:
        return []
    checks = decision.ruling.checks
    shown = with_outcome(checks, *BLOCKING)
    lines = check_lines(shown) or [inert(reason) for reason in decision.ruling.reasons]
    rest = others_line(checks, shown)
    return [*lines, rest] if rest else lines


def _failed(result: RunResult, published: int | None, again: str) -> list[str]:
    head = f"{toned('✗ FAILED', Tone.BAD)}  {strong(result.dataset)}"
    lines = [f"{head}{GAP}nothing was published; {_stays(published)}"]
    if result.error is not None:
        first, *more = inert_lines(result.error.message)
        lines += indented([f"{inert(result.error.code)}  {first}", *indented(more)])
    lines.append(f"Next: {next_for_failure(result.error, result.dataset, result.run_id, again)}")
    return lines


def _stays(published: int | None) -> str:
    return "nothing was visible before" if published is None else f"v{published} stays visible"
