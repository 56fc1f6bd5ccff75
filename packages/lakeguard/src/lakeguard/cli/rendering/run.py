"""Rendering of run results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeguard.cli.rendering.checks import (
    BLOCKING,
    check_lines,
    others_line,
    tally,
    with_outcome,
)
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    indented,
    number,
    strong,
    table,
    toned,
)
from lakeguard.services.next_commands import next_for_failure
from lakeguard.services.plain_text import escaped, escaped_lines, plural
from lakeguard.services.run_graph import Ended
from lakeguard.services.run_graph import Outcome as BuildOutcome
from lakeguard_sdk.core import enums
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, RunStatus
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.read_models import OpenRun, RunRow
from lakeguard_sdk.model.run import RunResult


def run_lines(result: RunResult, published: int | None, again: str = "") -> list[str]:
    """``published`` is the version visible after the run; ``again`` the command that repeats it,
    if that is not a plain run."""
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
    parts_of_summary = [] if result.rows is None else [plural(result.rows, "row")]
    parts_of_summary += [tally(checks)] if checks else []
    parts = [
        f"{toned('✓ PROMOTED', Tone.GOOD)}  {strong(f'{result.dataset} v{result.version}')}",
        ", ".join(parts_of_summary),
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
    """The blocking checks with their numbers, and a count of the others."""
    if decision is None:
        return []
    checks = decision.ruling.checks
    shown = with_outcome(checks, *BLOCKING)
    lines = check_lines(shown) or [escaped(reason) for reason in decision.ruling.reasons]
    rest = others_line(checks, shown)
    return [*lines, rest] if rest else lines


def _failed(result: RunResult, published: int | None, again: str) -> list[str]:
    head = f"{toned('✗ FAILED', Tone.BAD)}  {strong(result.dataset)}"
    lines = [f"{head}{GAP}nothing was published; {_stays(published)}"]
    if result.error is not None:
        first, *more = escaped_lines(result.error.message)
        lines += indented([f"{escaped(result.error.code)}  {first}", *indented(more)])
    lines.append(f"Next: {next_for_failure(result.error, result.dataset, result.run_id, again)}")
    return lines


def _stays(published: int | None) -> str:
    return "nothing is visible" if published is None else f"v{published} stays visible"


def interrupted_lines(
    name: DatasetName, runs: Sequence[RunRow], open_runs: Sequence[OpenRun]
) -> list[str]:
    """What became of a run that was interrupted."""
    if open_runs:
        run = open_runs[0].run_id or open_runs[0].task_id
        return [f"{name}: {run} has not ended; the next command that writes ends it"]
    if not runs:
        return [f"{name}: no run had begun"]
    last, again = runs[0], f"again: lakeguard run {name}"
    if last.version is not None:
        return [f"{name}: {last.run_id} was published as v{last.version} before it was interrupted"]
    return [f"{name}: {last.run_id} was interrupted and ended; nothing was published. {again}"]


# Results of several runs: problems first, then one line each.

Published = Mapping[DatasetName, int | None]

_MARKS = {
    BuildOutcome.PROMOTED: ("✓ PROMOTED", Tone.GOOD),
    BuildOutcome.UNCHANGED: ("= UNCHANGED", Tone.GOOD),
    BuildOutcome.BLOCKED: ("✗ BLOCKED", Tone.BAD),
    BuildOutcome.FAILED: ("! FAILED", Tone.BAD),
    BuildOutcome.NOT_RUN: ("○ NOT RUN", Tone.WARN),
}
_WORDS = {outcome: outcome.value.replace("_", " ").lower() for outcome in BuildOutcome}
_ILL = (BuildOutcome.BLOCKED, BuildOutcome.FAILED)


def many_lines(
    ended: Sequence[Ended], published: Published, left_out: Mapping[DatasetName, str]
) -> list[str]:
    """``published`` are the versions visible after all runs."""
    skipped = [f"skipped: {name}, {why}" for name, why in sorted(left_out.items())]
    if not ended:
        return [*skipped, "nothing to run", "Next: lakeguard status"]
    rows = [_cells(item, published) for item in ended]
    headers = ("OUTCOME", "DATASET", "VISIBLE", "ROWS", "TOOK", "WHY")
    lines = [line for item in ended for line in _ill_lines(item, published)]
    return [*lines, *table(headers, rows, right=frozenset({3, 4})), "", *skipped, *_summary(ended)]


def ended_line(item: Ended) -> str:
    """Progress line of one finished dataset."""
    version = item.result.version if item.result else None
    detail = f"v{version}" if version is not None else _reason(item)
    return f"{item.dataset} {_WORDS[item.outcome]}{f': {detail}' if detail else ''}"


def _ill_lines(item: Ended, published: Published) -> list[str]:
    if item.outcome not in _ILL:
        return []
    if item.result is not None:
        return [*run_lines(item.result, published.get(item.dataset)), ""]
    lines = [f"{toned('✗ FAILED', Tone.BAD)}  {strong(item.dataset)}"]
    if item.error is not None:
        first, *more = escaped_lines(item.error.message)
        lines += indented([f"{escaped(item.error.code)}  {first}", *indented(more)])
    return [*lines, ""]


def _cells(item: Ended, published: Published) -> list[str]:
    version, result = published.get(item.dataset), item.result
    return [
        toned(*_MARKS[item.outcome]),
        item.dataset,
        "-" if version is None else f"v{version}",
        "-" if result is None or result.rows is None else number(result.rows),
        "-" if item.waits_for else f"{item.seconds:.1f} s",
        _reason(item),
    ]


def _reason(item: Ended) -> str:
    if item.waits_for:
        return f"waits for {', '.join(item.waits_for)}"
    error = item.error or (item.result.error if item.result else None)
    if error is not None:
        return escaped(error.code)
    decision = item.result.decision if item.result else None
    checks = decision.ruling.checks if decision else ()
    bad = with_outcome(checks, enums.Outcome.FAIL, enums.Outcome.ERROR)
    warned = with_outcome(checks, enums.Outcome.WARN)
    alerts = [check.check_id for check in warned if check.kind is enums.CheckKind.POLICY]
    problems = [plural(len(bad), "check") + " failed"] if bad else []
    problems += [plural(len(warned), "warning")] if warned else []
    problems += [f"policy {name} alerts" for name in alerts]
    return ", ".join(problems)


def _summary(ended: Sequence[Ended]) -> list[str]:
    counts = {outcome: sum(item.outcome is outcome for item in ended) for outcome in BuildOutcome}
    summary = ", ".join(
        f"{count:,} {_WORDS[outcome]}" for outcome, count in counts.items() if count
    )
    lines = [f"{plural(len(ended), 'dataset')}: {summary}"]
    ill = next((item for item in ended if item.outcome in _ILL), None)
    return [*lines, f"Next: lakeguard why {ill.dataset}"] if ill else lines
