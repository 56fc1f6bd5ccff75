"""The end of many runs as people read it: what went wrong first, then a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeguard.cli.inert import inert, inert_lines
from lakeguard.cli.layout import Tone, indented, number, plural, strong, table, toned
from lakeguard.cli.views.checks import with_outcome
from lakeguard.cli.views.run import run_lines
from lakeguard.cli.walking import Ended, Outcome
from lakeguard_sdk import words
from lakeguard_sdk.names import DatasetName

Published = Mapping[DatasetName, int | None]

_MARKS = {
    Outcome.PROMOTED: ("✓ PROMOTED", Tone.GOOD),
    Outcome.UNCHANGED: ("= UNCHANGED", Tone.GOOD),
    Outcome.BLOCKED: ("✗ BLOCKED", Tone.BAD),
    Outcome.FAILED: ("! FAILED", Tone.BAD),
    Outcome.NOT_RUN: ("○ NOT RUN", Tone.WARN),
}
_WORDS = {outcome: outcome.value.replace("_", " ").lower() for outcome in Outcome}
_ILL = (Outcome.BLOCKED, Outcome.FAILED)


def many_lines(
    ended: Sequence[Ended], published: Published, left_out: Mapping[DatasetName, str]
) -> list[str]:
    """``published`` are the versions that readers see now that all runs are over."""
    aside = [f"left out: {name}, {why}" for name, why in sorted(left_out.items())]
    if not ended:
        return [*aside, "there is nothing to run", "Next: lakeguard status"]
    rows = [_cells(item, published) for item in ended]
    headers = ("OUTCOME", "DATASET", "VISIBLE", "ROWS", "TOOK", "WHY")
    lines = [line for item in ended for line in _ill_lines(item, published)]
    return [*lines, *table(headers, rows, right=frozenset({3, 4})), "", *aside, *_summary(ended)]


def ended_line(item: Ended) -> str:
    """For who waits: one dataset is over."""
    version = item.result.version if item.result else None
    told = f"v{version}" if version is not None else _told(item)
    return f"{item.dataset} {_WORDS[item.outcome]}{f': {told}' if told else ''}"


def _ill_lines(item: Ended, published: Published) -> list[str]:
    if item.outcome not in _ILL:
        return []
    if item.result is not None:
        return [*run_lines(item.result, published.get(item.dataset)), ""]
    lines = [f"{toned('✗ FAILED', Tone.BAD)}  {strong(item.dataset)}"]
    if item.error is not None:
        first, *more = inert_lines(item.error.message)
        lines += indented([f"{inert(item.error.code)}  {first}", *indented(more)])
    return [*lines, ""]


def _cells(item: Ended, published: Published) -> list[str]:
    version, result = published.get(item.dataset), item.result
    return [
        toned(*_MARKS[item.outcome]),
        item.dataset,
        "-" if version is None else f"v{version}",
        "-" if result is None or result.rows is None else number(result.rows),
        "-" if item.waits_for else f"{item.seconds:.1f} s",
        _told(item),
    ]


def _told(item: Ended) -> str:
    if item.waits_for:
        return f"waits for {', '.join(item.waits_for)}"
    error = item.error or (item.result.error if item.result else None)
    if error is not None:
        return inert(error.code)
    decision = item.result.decision if item.result else None
    checks = decision.ruling.checks if decision else ()
    bad = with_outcome(checks, words.Outcome.FAIL, words.Outcome.ERROR)
    warned = with_outcome(checks, words.Outcome.WARN)
    alerts = [check.check_id for check in warned if check.kind is words.CheckKind.POLICY]
    told = [plural(len(bad), "check") + " failed"] if bad else []
    told += [plural(len(warned), "warning")] if warned else []
    told += [f"policy {name} alerts" for name in alerts]
    return ", ".join(told)


def _summary(ended: Sequence[Ended]) -> list[str]:
    counts = {outcome: sum(item.outcome is outcome for item in ended) for outcome in Outcome}
    told = ", ".join(f"{count:,} {_WORDS[outcome]}" for outcome, count in counts.items() if count)
    lines = [f"{plural(len(ended), 'dataset')}: {told}"]
    ill = next((item for item in ended if item.outcome in _ILL), None)
    return [*lines, f"Next: lakeguard why {ill.dataset}"] if ill else lines
