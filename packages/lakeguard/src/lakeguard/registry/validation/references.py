"""Checks references between definitions."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.files.job_settings import controls_of
from lakeguard.registry.files.source_locations import OBJECT
from lakeguard.registry.merged_registry import MergedRegistry
from lakeguard.registry.text.definition_positions import by_file
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard.registry.validation.nested_columns import nested_errors
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import BUILT_IN_PROFILES, LoadType, SourceFormat
from lakeguard_sdk.errors import (
    DefinitionError,
    MissingMapping,
    UnknownReference,
    WrongValue,
)
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definition,
    FromSource,
    JobDefinition,
    SourceDefinition,
    TargetDefinition,
)


def reference_errors(definition: Definition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Every reference of a definition to something that does not exist."""
    match definition:
        case DatasetDefinition():
            yield from _dataset_errors(definition, merged)
        case TargetDefinition():
            for index, mapping in enumerate(definition.sources):
                at = ("sources", index, "source")
                yield from missing_errors(definition, "source", mapping.source, at, merged)
        case JobDefinition():
            yield from _job_errors(definition, merged)


def _job_errors(job: JobDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    if job.dataset is not None:
        yield from missing_errors(job, "dataset", job.dataset, ("dataset",), merged)
    controls = controls_of(job)
    for name in controls.after:
        yield from missing_errors(job, "job", name, ("config", "after"), merged)
    key = "on_update_any" if controls.updates and controls.updates.any else "on_update"
    for dataset in controls.updates.datasets if controls.updates else ():
        yield from missing_errors(job, "dataset", dataset, ("config", key), merged)


def _dataset_errors(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    for index, parent in enumerate(dataset.parents):
        yield from missing_errors(dataset, "dataset", parent, ("parents", index), merged)
    build = dataset.build
    if isinstance(build, FromSource):
        yield from missing_errors(dataset, "source", build.source, ("source", "name"), merged)
        yield from object_errors(dataset, merged)
    if dataset.profile not in BUILT_IN_PROFILES:
        yield from missing_errors(
            dataset, "profile", dataset.profile, ("schema", "profile"), merged
        )
    if dataset.target is not None:
        yield from missing_errors(dataset, "target", dataset.target, ("target",), merged)
        yield from mapping_errors(dataset, merged)
        yield from partition_errors(dataset, merged)
    yield from nested_errors(dataset, merged)


def partition_errors(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    """The target's partition columns exist, and PARTITION loads have some."""
    target = merged.definition("target", dataset.target or "")
    if not isinstance(target, TargetDefinition) or dataset.load.partition_by:
        return
    names = {column.name for column in dataset.columns}
    place = by_file(dataset, ())
    for name in target.partition_by:
        if name not in names:
            hint = did_you_mean(name, names)
            problem = f"target {target.target} partitions by {name!r}, which is not a column"
            yield WrongValue(place, key="target", problem=problem, hint=hint, at=["target"])
    if dataset.load.type is LoadType.PARTITION and not target.partition_by:
        problem = f"PARTITION needs partition_by, here or in target {target.target}"
        yield WrongValue(place, key="load", problem=problem, hint="", at=["load", "type"])


def object_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """A database source needs a table."""
    build = dataset.build
    if not isinstance(build, FromSource):
        return
    source = merged.definition("source", build.source)
    if not isinstance(source, SourceDefinition) or source.format is not SourceFormat.JDBC:
        return
    if not OBJECT.fullmatch(build.object):
        problem = f"source {source.source} is a database; write schema.table as object"
        yield WrongValue(
            by_file(dataset, ()), key="source", problem=problem, hint="", at=["source", "object"]
        )


def mapping_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """A dataset may write its source only to targets mapped to that source."""
    build = dataset.build
    if dataset.target is None or not isinstance(build, FromSource):
        return
    target = merged.definition("target", dataset.target)
    if not isinstance(target, TargetDefinition):
        return
    if all(mapping.source != build.source for mapping in target.sources):
        place = by_file(dataset, ())
        yield MissingMapping(
            place, dataset=dataset.dataset, source=build.source, target=target.target, at=["target"]
        )


def dependent_errors(target: TargetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Registered datasets that would lose their source mapping or partition columns."""
    before = merged.current.definition("target", target.target)
    if not isinstance(before, TargetDefinition):
        return
    unchanged = {m.source for m in before.sources} <= {m.source for m in target.sources}
    if unchanged and before.partition_by == target.partition_by:
        return
    for kind, name in merged.current.library.naming(target.target):
        dataset = merged.definition(kind, name)
        if isinstance(dataset, DatasetDefinition) and dataset.target == target.target:
            yield from mapping_errors(dataset, merged)
            if dataset not in merged.changed:
                yield from partition_errors(dataset, merged)


def reader_errors(source: SourceDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Registered datasets that the changed source would no longer support."""
    before = merged.current.definition("source", source.source)
    if not isinstance(before, SourceDefinition) or before.format is source.format:
        return
    for kind, name in merged.current.library.naming(source.source):
        dataset = merged.definition(kind, name)
        if not isinstance(dataset, DatasetDefinition) or dataset in merged.changed:
            continue
        if isinstance(dataset.build, FromSource) and dataset.build.source == source.source:
            yield from object_errors(dataset, merged)
            yield from nested_errors(dataset, merged)


def missing_errors(
    definition: Definition, kind: str, name: str, at: Path, merged: MergedRegistry, **more: object
) -> Iterator[DefinitionError]:
    """An error if the reference does not exist, with the nearest existing name."""
    if merged.has(kind, name):
        return
    now = merged.renamed.get(name) if kind == "dataset" else None
    if now is not None:
        hint = f"; it is renamed to {now}"
    else:
        known = merged.names(kind) - {getattr(definition, kind, "")}
        known |= set(BUILT_IN_PROFILES) if kind == "profile" else set()
        hint = did_you_mean(name, known)
    place = by_file(definition, at)
    yield UnknownReference(place, kind=kind, name=name, hint=hint, at=list(at), **more)
