"""Whether a load can evolve the existing table to the declared schema, without reading data."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.schema.types import grows_into
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.partitions import partition_problem
from lakeguard_sdk.types.schema import Column, TableSchema


def load_problems(
    definition: DatasetDefinition,
    had: TableSchema,
    version: int,
    partition_by: tuple[str, ...],
    *,
    windowed: bool = False,
) -> Iterator[str]:
    """Why a run cannot evolve the table from ``version`` to the declared schema.

    Only a full load can drop or rewrite columns.
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
    """Whether the column is unchanged or widened; keys must not change."""
    kind = wanted.type_of(column.name)
    if kind == column.type:
        return True
    return kind is not None and column.name not in fixed and grows_into(column.type, kind)


# Partitioning, fixed when the table is created.


def check_partitioning(
    context: PlaneContext, dataset: RegisteredDataset, wanted: tuple[str, ...], findings: Findings
) -> None:
    """Refuse invalid partition columns, and any change of existing partitioning."""
    problem = partition_problem(wanted, dataset.definition.table_schema)
    if problem is not None:
        findings.refuse("partition", f"{dataset.name} cannot be partitioned so: {problem}")
        return
    location = context.location_of(dataset)
    if not context.tables.exists(location):
        return
    found = context.tables.origin(location).partition_by
    if found == wanted:
        return
    findings.refuse(
        "partition",
        f"the table of {dataset.name} {_partitioning(found)} and its definition now says"
        f" partition_by {_listed(wanted)}: a table keeps the partitioning it was created with, and"
        " a FULL load does not change it in place; set partition_by back to"
        f" {_listed(found)}, or build a new dataset with the new one",
    )


def _partitioning(columns: tuple[str, ...]) -> str:
    return f"is partitioned by {_listed(columns)}" if columns else "is not partitioned"


def _listed(columns: tuple[str, ...]) -> str:
    return f"[{', '.join(columns)}]"
