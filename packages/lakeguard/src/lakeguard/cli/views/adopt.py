"""An adoption as people read it: what was proposed, what the gate said, what now."""

from __future__ import annotations

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import GAP, Tone, indented, plural, strong, toned
from lakeguard.cli.views.checks import tally
from lakeguard.cli.views.run import failing_lines
from lakeguard.cli.views.source import seen_text, suggested_lines
from lakeguard.insight.suggesting import Suggestion
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import RunResult
from lakeguard_sdk.sketch import SourceSketch
from lakeguard_sdk.words import RunStatus


class Adopted(Noun):
    """Which table was to become which dataset, and what was written for it."""

    dataset: DatasetName
    location: str
    commit: int
    files: tuple[str, ...] = ()
    """Definitions that were proposed; none where there was one already."""
    sketch: SourceSketch | None = None
    suggested: tuple[Suggestion, ...] = ()
    """Rules in those definitions that the profile of the table speaks for."""


def adopted_lines(adopted: Adopted, result: RunResult, published: int | None) -> list[str]:
    return [*_proposed(adopted), *_ended(adopted, result, published)]


def _proposed(adopted: Adopted) -> list[str]:
    if adopted.sketch is None:
        return []
    head = f"{toned('✓ proposed', Tone.GOOD)}  {strong(adopted.dataset)}"
    return [
        f"{head}{GAP}{inert(adopted.location)}",
        *indented([f"looked at {seen_text(adopted.sketch)}"]),
        *indented(suggested_lines(len(adopted.suggested), adopted.sketch)),
        *indented([f"wrote {inert(name)}" for name in adopted.files]),
    ]


def _ended(adopted: Adopted, result: RunResult, published: int | None) -> list[str]:
    checks = result.decision.ruling.checks if result.decision else ()
    again = f"lakeguard adopt {adopted.dataset} {inert(adopted.location)}"
    if result.status is RunStatus.SUCCESS:
        rows = [] if result.rows is None else [plural(result.rows, "row")]
        said = ", ".join([*rows, tally(checks)])
        head = f"{toned('✓ ADOPTED', Tone.GOOD)}  {strong(f'{adopted.dataset} v{published}')}"
        return [f"{head}{GAP}{said}", f"Next: lakeguard show {adopted.dataset}"]
    if result.status is RunStatus.BLOCKED:
        head = f"{toned('✗ BLOCKED', Tone.BAD)}  {strong(adopted.dataset)}"
        way = f"edit its definition or correct the table, then: {again}"
        return [
            f"{head}{GAP}the table is exactly as it was",
            *indented(failing_lines(result.decision)),
            f"Next: {way}",
        ]
    head = f"{toned('✗ FAILED', Tone.BAD)}  {strong(adopted.dataset)}"
    told = f"{inert(result.error.code)}  {inert(result.error.message)}" if result.error else ""
    return [f"{head}{GAP}nothing was published", *indented([told]), f"Next: {again}"]
