"""Measures of the sampled rows, taken as a run takes them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import AnyMeasure
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.model.source_preview import SourcePreview
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import Values
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.measure import Subject, take_measures
from openlaketx.measure.runner import Relation
from openlaketx.profile.column_kinds import kind_of
from openlaketx.profile.column_profile import column_profile
from openlaketx.source_inspection.sample_rows import SampleColumn, SampleRows
from openlaketx.stage import Candidate

Ask = Callable[[SourcePreview], Sequence[AnyMeasure]]
"""Given a source preview, returns the measures to take on the same rows."""


def asked_of_seen(
    sketch: SourcePreview, rows: SampleRows, columns: Sequence[SampleColumn], ask: Ask
) -> SourcePreview:
    """The preview with a profile of each column and the measured values.

    The rows are written to a file in the proposed types.
    """
    with _written(rows, columns) as subject:
        return _answered(sketch, columns, subject, ask)


def asked_of_table(
    sketch: SourcePreview,
    columns: Sequence[SampleColumn],
    ask: Ask,
    *,
    location: str,
    paths: Sequence[str],
    lacking: Values,
) -> SourcePreview:
    """The same for a whole table, read from its own files."""
    subject = _subject(location, tuple(paths), sketch.rows, columns, lacking)
    return _answered(sketch, columns, subject, ask)


def _answered(
    sketch: SourcePreview, columns: Sequence[SampleColumn], subject: Subject, ask: Ask
) -> SourcePreview:
    profiles = column_profiles(columns, subject)
    columns_profiled = tuple(
        column.model_copy(update={"profile": profiles.get(column.name)})
        for column in sketch.columns
    )
    profiled = sketch.model_copy(update={"columns": columns_profiled})
    measured = take_measures(tuple(ask(profiled)), subject)
    answers = {"measured": measured.values, "unmeasured": measured.unmeasured}
    return profiled.model_copy(update=answers)


@contextmanager
def _written(rows: SampleRows, columns: Sequence[SampleColumn]) -> Iterator[Subject]:
    with tempfile.TemporaryDirectory(prefix="seen-") as folder:
        values = {column.name: column.value for column in columns}
        rows.write(values, str(Path(folder, "seen.parquet")))
        yield _subject(folder, ("seen.parquet",), rows.count, columns, {})


def _subject(
    location: str,
    paths: tuple[str, ...],
    count: int,
    columns: Sequence[SampleColumn],
    lacking: Values,
) -> Subject:
    """All rows are both the batch and the table. Only the total row count matters, not the count
    per file.

    Footers are not read, so every measure is taken on the rows.
    """
    schema = TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in columns))
    files = [
        StagedFile(path=path, size=0, rows=0 if at else count, modified_ms=0, stats="")
        for at, path in enumerate(paths)
    ]
    batch = Candidate(location, tuple(files), ())
    return Subject(batch, schema, paths, count, lacking=lacking)


# Profiles of the columns of the sampled rows.


def column_profiles(columns: Sequence[SampleColumn], subject: Subject) -> dict[str, ColumnProfile]:
    """By name, without sketches: these profiles are never merged."""
    origin = Relation(*subject.origin(Scope.BATCH))
    with duckdb_reader() as reader:
        return {column.name: _profile(reader, origin, subject, column) for column in columns}


def _profile(
    reader: DuckdbReader, origin: Relation, subject: Subject, column: SampleColumn
) -> ColumnProfile:
    kind = kind_of(column.name, column.type)
    if kind is None:
        return ColumnProfile(column=column.name, type=column.type, nulls=column.nulls)
    plain = Column(name=column.name, type=column.type)
    found = column_profile(reader, origin, subject.table_rows, plain, kind)
    return found.model_copy(update={"sketches": ()})
