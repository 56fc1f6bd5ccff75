"""What the values of rows that were looked at look like: the profile of a version without one."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.profile import ColumnProfile
from lakeguard_sdk.schema import Column
from lakeguard_sdk.words import Scope
from openlaketx.inspect.seen_columns import SeenColumn
from openlaketx.measure import Subject
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.measure.measuring import Relation
from openlaketx.profile.column import column_profile
from openlaketx.profile.kinds import kind_of


def column_profiles(columns: Sequence[SeenColumn], subject: Subject) -> dict[str, ColumnProfile]:
    """By name. Sketches are left out: nothing will ever be merged with them."""
    origin = Relation(*subject.origin(Scope.BATCH))
    with duckdb_reader() as reader:
        return {column.name: _profile(reader, origin, subject, column) for column in columns}


def _profile(
    reader: DuckdbReader, origin: Relation, subject: Subject, column: SeenColumn
) -> ColumnProfile:
    kind = kind_of(column.name, column.type)
    if kind is None:
        return ColumnProfile(column=column.name, type=column.type, nulls=column.nulls)
    told = Column(name=column.name, type=column.type)
    found = column_profile(reader, origin, subject.table_rows, told, kind)
    return found.model_copy(update={"sketches": ()})
