"""What a load can make of a table that is there, as its definition says: nothing is read for it."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.schema_types import grows_into
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.words import LoadType


def load_problems(
    definition: DatasetDefinition,
    had: TableSchema,
    version: int,
    partition_by: tuple[str, ...],
    *,
    windowed: bool = False,
) -> Iterator[str]:
    """Why a run could not bring the table from what ``version`` has to what is declared.

    Only what replaces the whole table can drop or rewrite a column of it.
    """
    fixed = {*definition.load.keys, *partition_by}
    wanted = definition.table_schema
    lost = [column for column in had.columns if not _holds(wanted, column, fixed)]
    if lost and (windowed or definition.load.type is not LoadType.FULL):
        names = ", ".join(sorted(column.name for column in lost))
        yield (
            f"{names} of {definition.dataset} changed since v{version}:"
            f" {definition.load.type} can add columns and widen types, but not rewrite or"
            " drop what is there; set load type FULL for the next run"
        )
    if wanted.has_local_times and not had.has_local_times:
        yield (
            f"the table of {definition.dataset} was created without a timestamp_ntz column, and"
            " Delta takes none later: declare timestamp, or build a new dataset"
        )


def _holds(wanted: TableSchema, column: Column, fixed: set[str]) -> bool:
    """Whether the column is declared as the table has it, or wider; keys stay as they are."""
    kind = wanted.type_of(column.name)
    if kind == column.type:
        return True
    return kind is not None and column.name not in fixed and grows_into(column.type, kind)
