"""Compares original and rebuilt rows, independent of order and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.history import RebuildPlan, Rebuilt
from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.compact.row_sums import RowSum, row_sum
from openlaketx.engine.delta_table import Values
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.loads import Loaded
from openlaketx.measure.duckdb_columns import rows_with_log_columns
from openlaketx.measure.sql.condition_sql import quoted


class _Apart(NamedTuple):
    """Rows that only one side has, and the columns that differ."""

    missing: int = 0
    extra: int = 0
    columns: tuple[str, ...] = ()


def compare(plan: RebuildPlan, loaded: Loaded, schema: TableSchema) -> Rebuilt:
    """Both sides are read back from their files."""
    evidence = plan.evidence
    then, now = evidence.table_schema, schema
    common = TableSchema(columns=tuple(c for c in then.columns if c in now.columns))
    with duckdb_reader() as reader:
        old = _sum(reader, plan.run.location, evidence.files, common)
        new = _sum(reader, loaded.candidate.location, loaded.candidate.files, common)
        apart = _Apart()
        if old != new and common.columns:
            apart = _apart(reader, plan, loaded, common)
    return Rebuilt(
        run_id=plan.run.ticket.run_id,
        dataset=plan.run.dataset,
        version=plan.version,
        rows=old.rows,
        rows_now=new.rows,
        missing=apart.missing,
        extra=apart.extra,
        columns=apart.columns,
        schema_changes=_schema_changes(then, now),
        removed_otherwise=set(loaded.removes) != set(evidence.removes),
        digest=old.text(),
        digest_now=new.text(),
    )


def _sum(
    reader: DuckdbReader, location: str, files: Sequence[StagedFile], schema: TableSchema
) -> RowSum:
    return row_sum(reader, [join(location, file.path) for file in files], schema)


def _apart(reader: DuckdbReader, plan: RebuildPlan, loaded: Loaded, common: TableSchema) -> _Apart:
    """Rows that only one side has, and the columns whose values differ."""
    old, parameters = _rows(plan.run.location, plan.evidence.files, common, "old_")
    new, more = _rows(loaded.candidate.location, loaded.candidate.files, common, "new_")
    bound = {**parameters, **more}
    names = ", ".join(quoted(column.name) for column in common.columns)

    def only(one: str, other: str) -> int:
        query = f"SELECT {names} FROM {one} EXCEPT ALL SELECT {names} FROM {other}"  # noqa: S608
        return int(reader.row(f"SELECT count(*) FROM ({query})", bound)[0])  # noqa: S608

    sums = ", ".join(f"sum(hash({quoted(column.name)})::HUGEINT)" for column in common.columns)
    before = reader.row(f"SELECT {sums} FROM {old}", parameters)  # noqa: S608
    after = reader.row(f"SELECT {sums} FROM {new}", more)  # noqa: S608
    sums_by_column = zip(common.names, before, after, strict=True)
    columns = tuple(name for name, a, b in sums_by_column if a != b)
    return _Apart(only(old, new), only(new, old), columns)


def _rows(
    location: str, files: Sequence[StagedFile], schema: TableSchema, prefix: str
) -> tuple[str, dict[str, object]]:
    lacking: Values = {}
    paths = [file.path for file in files]
    return rows_with_log_columns(location, schema, paths, lacking, prefix=prefix)


def _schema_changes(then: TableSchema, now: TableSchema) -> tuple[str, ...]:
    names = [*then.names, *(name for name in now.names if name not in then.names)]
    types = ((name, then.type_of(name), now.type_of(name)) for name in names)
    return tuple(
        f"{name}: {old or 'not there'} then, {new or 'not there'} now"
        for name, old, new in types
        if old != new
    )
