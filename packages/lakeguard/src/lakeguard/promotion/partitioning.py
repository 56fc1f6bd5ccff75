"""How a table is partitioned: by its load or its target, once and for all."""

from __future__ import annotations

from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.definition import DatasetDefinition, TargetDefinition
from lakeguard_sdk.partitions import partition_problem


def partition_columns(
    definition: DatasetDefinition, target: TargetDefinition | None
) -> tuple[str, ...]:
    """Those of the dataset's load; where it names none, those of its target."""
    return definition.load.partition_by or (target.partition_by if target else ())


def check_partitioning(
    heart: Heart, dataset: RegisteredDataset, wanted: tuple[str, ...], findings: Findings
) -> None:
    """Refuse columns that cannot partition, and any change of what a table was created with."""
    problem = partition_problem(wanted, dataset.definition.table_schema)
    if problem is not None:
        findings.refuse("partition", f"{dataset.name} cannot be partitioned so: {problem}")
        return
    location = heart.location_of(dataset)
    if not heart.tables.exists(location):
        return
    found = heart.tables.origin(location).partition_by
    if found == wanted:
        return
    findings.refuse(
        "partition",
        f"the table of {dataset.name} {_told(found)} and its definition now says"
        f" partition_by {_listed(wanted)}: a table keeps the partitioning it was created with, and"
        " a FULL load does not change it in place; set partition_by back to"
        f" {_listed(found)}, or build a new dataset with the new one",
    )


def _told(columns: tuple[str, ...]) -> str:
    return f"is partitioned by {_listed(columns)}" if columns else "is not partitioned"


def _listed(columns: tuple[str, ...]) -> str:
    return f"[{', '.join(columns)}]"
