"""Approve a schema: edit the definition file and apply it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lakeguard.promotion.opening.load_checks import load_problems
from lakeguard.registry.editing.column_edits import edited_columns
from lakeguard.registry.editing.drift import redrifted
from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.editing.schema_approval import (
    approved_definition,
    declarable,
    left_to_profile,
)
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.text.definition_positions import file_of
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import InvalidDefinitions, NotApprovable, NothingToApprove, UnknownVersion
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.model.plan import Applied, Plan
from lakeguard_sdk.model.read_models import ClassedDifference, SchemaDiff


@dataclass(frozen=True)
class Approved:
    """The approved differences, the edited file and the applied plan."""

    dataset: DatasetName
    differences: tuple[ClassedDifference, ...]
    file: str | None
    """None if the dataset has no definition file."""
    plan: Plan
    applied: Applied
    reason: str

    def to_data(self) -> dict[str, object]:
        return {
            "dataset": self.dataset,
            "differences": [item.to_data() for item in self.differences],
            "file": self.file,
            "plan": self.plan.to_data(),
            "applied": self.applied.to_data(),
            "reason": self.reason,
        }


def approve(
    client: Client, project: Path, asked: DatasetName, columns: tuple[str, ...], reason: str
) -> Approved:
    """Declares the found schema. If the registry or the load refuses it, nothing is written and
    the file is restored."""
    name = client.reader.dataset(asked).dataset_name
    file = project / "definitions" / name.layer.value / f"{name.name}.yaml"
    written = _on_disk(project, name) if file.is_file() else None
    registered = client.reader.definition(name)
    before = redrifted(written or registered, registered)
    diff = client.reader.schema_diff(name, before)
    if diff is None:
        raise NothingToApprove(dataset=name, reason="no run has recorded one yet")
    of_file = client.reader.schema_diff(name, written) if written else None
    chosen = _chosen(before, diff, of_file, columns)
    after = approved_definition(before, diff.live, chosen)
    declared = approved_definition(written, diff.live, chosen) if written else after
    plan = client.registry.plan(
        Definitions(datasets=(redrifted(declared, after),)), keep_drift=False
    )
    _require_loadable(client, plan)
    old = file.read_bytes() if written else b""
    if written:
        file.write_bytes(_edited(project, file, written, declared))
    try:
        applied = client.registry.apply(plan, reason, keep_drift=False)
    except BaseException:
        if written:
            file.write_bytes(old)
        raise
    place = file_of(declared) if written else None
    return Approved(name, tuple(chosen), place, plan, applied, reason)


def _require_loadable(client: Client, plan: Plan) -> None:
    """``NotApprovable`` if the next run would be refused at its start."""
    targets = {target.target: target for target in client.registry.definitions().targets}
    for step in plan.steps:
        definition = step.definition
        if not isinstance(definition, DatasetDefinition):
            continue
        try:
            shown = client.reader.resolve(Address(dataset=definition.dataset))
        except UnknownVersion:
            continue
        partition_by = definition.partition_columns(targets.get(definition.target or ""))
        problems = load_problems(definition, shown.table_schema, shown.version, partition_by)
        for problem in problems:
            raise NotApprovable(dataset=definition.dataset, reason=problem)


def _on_disk(project: Path, name: DatasetName) -> DatasetDefinition | None:
    found = load_folder(project).datasets
    return next((dataset for dataset in found if dataset.dataset == name), None)


def _chosen(
    before: DatasetDefinition,
    diff: SchemaDiff,
    of_file: SchemaDiff | None,
    columns: tuple[str, ...],
) -> list[ClassedDifference]:
    """The named differences, else all that the load accepts."""
    name = before.dataset
    found = declarable(diff.differences, of_file.differences if of_file else ())
    if not found:
        raise NothingToApprove(dataset=name, reason="the latest schema is already declared")
    names = {item.column for item in found} | {item.other for item in found}
    for column in columns:
        if column not in names:
            raise NothingToApprove(dataset=name, reason=f"column {column} does not differ")
    if columns:
        return [item for item in found if item.column in columns or item.other in columns]
    rebuilt = before.load.type is LoadType.FULL
    taken = [item for item in found if rebuilt or not left_to_profile(item, diff.profile)]
    if not taken:
        gone = ", ".join(item.column for item in found)
        reason = f"the table keeps {gone}, and profile {diff.profile} accepts its absence"
        raise NothingToApprove(dataset=name, reason=reason)
    return taken


def _edited(
    project: Path, file: Path, before: DatasetDefinition, after: DatasetDefinition
) -> bytes:
    """The file with the new columns; regenerated without comments if it cannot be edited."""
    old = file.read_bytes()
    edited = edited_columns(file_of(before), old, before, after)
    if edited is not None:
        file.write_bytes(edited)
        try:
            same = _on_disk(project, after.dataset) == after
        except InvalidDefinitions:
            same = False
        finally:
            file.write_bytes(old)
        if same:
            return edited
    return definition_files(Definitions(datasets=(after,)))[file_of(after)].encode()
