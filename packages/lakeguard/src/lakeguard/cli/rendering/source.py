"""Rendering of sources and of adoptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeguard.cli.rendering.checks import tally
from lakeguard.cli.rendering.run import failing_lines
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    columns,
    indented,
    number,
    strong,
    table,
    toned,
)
from lakeguard.insight.suggestions import Suggestion
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus, SourceFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import SourceDefinition
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.source_preview import PreviewColumn, SourcePreview

TEXTS = (SourceFormat.CSV, SourceFormat.JSONL)


def added_lines(
    dataset: DatasetName,
    path: str,
    sketch: SourcePreview,
    written: Sequence[str],
    suggested: int = 0,
) -> list[str]:
    looked = f"inspected {seen_text(sketch)}"
    return [
        f"{toned('✓ proposed', Tone.GOOD)}  {strong(dataset)}   {_how(sketch)}, {escaped(path)}",
        *indented([looked, _sure(sketch), *columns(_columns(sketch)), ""]),
        *indented(suggested_lines(suggested, sketch)),
        *indented([f"wrote {escaped(name)}" for name in written]),
        "Next: review them, then: lakeguard plan",
    ]


def suggested_lines(count: int, sketch: SourcePreview) -> list[str]:
    """Count of suggested rules; empty if there are none."""
    if not count:
        return []
    return [f"{plural(count, 'rule')} suggested from {plural(sketch.rows, 'row')}"]


def seen_text(sketch: SourcePreview) -> str:
    """``3 files, 120,000 rows, 9.4 MB``."""
    files = plural(sketch.files, "file")
    if sketch.files < sketch.files_found:
        files = f"{sketch.files:,} of {plural(sketch.files_found, 'file')}"
    return f"{files}, {plural(sketch.rows, 'row')}, {_size(sketch.bytes)}"


def _size(count: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{number(count)} bytes"


def _how(sketch: SourcePreview) -> str:
    options = [f"{key} {escaped(repr(value))}" for key, value in sorted(sketch.options.items())]
    return ", ".join([sketch.format.value, *options])


def _sure(sketch: SourcePreview) -> str:
    if not sketch.rows:
        return _how_unsure(sketch)
    if sketch.whole:
        return "all rows inspected: types and keys hold for all of them"
    return "not all rows inspected: types and keys hold for the first rows of each file"


def _how_unsure(sketch: SourcePreview) -> str:
    """Typed formats have types even without rows."""
    if sketch.format in TEXTS:
        return "no rows: every column is proposed as a string; set the types yourself"
    return "no rows: keys are unknown"


def _columns(sketch: SourcePreview) -> list[list[str]]:
    return [
        [escaped(column.name), column.type, _remarks(column, sketch)] for column in sketch.columns
    ]


def _remarks(column: PreviewColumn, sketch: SourcePreview) -> str:
    remarks = ["key" if len(sketch.keys) == 1 else "part of the key"]
    remarks = remarks if column.name in sketch.keys else []
    if column.found_as != column.name:
        remarks.append(f"from {escaped(repr(column.found_as))}")
    if column.nulls and column.nulls == sketch.rows:
        remarks.append("always null")
    elif column.nulls:
        remarks.append(f"{plural(column.nulls, 'null')}")
    return ", ".join(remarks)


def sources_lines(
    sources: Sequence[SourceDefinition], readers: Mapping[str, Sequence[DatasetName]]
) -> list[str]:
    """One line per source, with its readers."""
    if not sources:
        return ["no sources are registered", "Next: lakeguard source add NAME PATTERN"]
    rows = [
        [
            source.source,
            source.format.value,
            escaped(source.path or source.url),
            ", ".join(readers.get(source.source, ())) or "-",
            escaped(source.owner) or "-",
            "" if source.active else "off",
        ]
        for source in sources
    ]
    return table(("SOURCE", "FORMAT", "WHERE", "READ BY", "OWNER", "ACTIVE"), rows)


# Adoptions.


class Adopted(FrozenModel):
    """The adopted table, and the definitions written for it."""

    dataset: DatasetName
    location: str
    commit: int
    files: tuple[str, ...] = ()
    """Proposed definition files; empty if there was a definition."""
    sketch: SourcePreview | None = None
    suggested: tuple[Suggestion, ...] = ()
    """Rules in those definitions that were derived from the table's profile."""


def adopted_lines(adopted: Adopted, result: RunResult, published: int | None) -> list[str]:
    return [*_proposed(adopted), *_ended(adopted, result, published)]


def _proposed(adopted: Adopted) -> list[str]:
    if adopted.sketch is None:
        return []
    head = f"{toned('✓ proposed', Tone.GOOD)}  {strong(adopted.dataset)}"
    return [
        f"{head}{GAP}{escaped(adopted.location)}",
        *indented([f"inspected {seen_text(adopted.sketch)}"]),
        *indented(suggested_lines(len(adopted.suggested), adopted.sketch)),
        *indented([f"wrote {escaped(name)}" for name in adopted.files]),
    ]


def _ended(adopted: Adopted, result: RunResult, published: int | None) -> list[str]:
    checks = result.decision.ruling.checks if result.decision else ()
    again = f"lakeguard adopt {adopted.dataset} {escaped(adopted.location)}"
    if result.status is RunStatus.SUCCESS:
        rows = [] if result.rows is None else [plural(result.rows, "row")]
        summary = ", ".join([*rows, tally(checks)])
        head = f"{toned('✓ ADOPTED', Tone.GOOD)}  {strong(f'{adopted.dataset} v{published}')}"
        return [f"{head}{GAP}{summary}", f"Next: lakeguard show {adopted.dataset}"]
    if result.status is RunStatus.BLOCKED:
        head = f"{toned('✗ BLOCKED', Tone.BAD)}  {strong(adopted.dataset)}"
        way = f"edit its definition or fix the table, then: {again}"
        return [
            f"{head}{GAP}the table is unchanged",
            *indented(failing_lines(result.decision)),
            f"Next: {way}",
        ]
    head = f"{toned('✗ FAILED', Tone.BAD)}  {strong(adopted.dataset)}"
    error = f"{escaped(result.error.code)}  {escaped(result.error.message)}" if result.error else ""
    return [f"{head}{GAP}nothing was published", *indented([error]), f"Next: {again}"]
