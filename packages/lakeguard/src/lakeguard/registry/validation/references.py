"""What definitions name: it is defined with them or registered, and every arrow is drawn."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.files.job_settings import controls_of
from lakeguard.registry.files.source_locations import OBJECT
from lakeguard.registry.merged_registry import Whole
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


def reference_errors(definition: Definition, whole: Whole) -> Iterator[DefinitionError]:
    """Everything that a definition names and that does not exist."""
    match definition:
        case DatasetDefinition():
            yield from _dataset_errors(definition, whole)
        case TargetDefinition():
            for index, mapping in enumerate(definition.sources):
                at = ("sources", index, "source")
                yield from missing_errors(definition, "source", mapping.source, at, whole)
        case JobDefinition():
            yield from _job_errors(definition, whole)


def _job_errors(job: JobDefinition, whole: Whole) -> Iterator[DefinitionError]:
    if job.dataset is not None:
        yield from missing_errors(job, "dataset", job.dataset, ("dataset",), whole)
    controls = controls_of(job)
    for name in controls.after:
        yield from missing_errors(job, "job", name, ("config", "after"), whole)
    key = "on_update_any" if controls.updates and controls.updates.any else "on_update"
    for dataset in controls.updates.datasets if controls.updates else ():
        yield from missing_errors(job, "dataset", dataset, ("config", key), whole)


def _dataset_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    for index, parent in enumerate(dataset.parents):
        yield from missing_errors(dataset, "dataset", parent, ("parents", index), whole)
    build = dataset.build
    if isinstance(build, FromSource):
        yield from missing_errors(dataset, "source", build.source, ("source", "name"), whole)
        yield from object_errors(dataset, whole)
    if dataset.profile not in BUILT_IN_PROFILES:
        yield from missing_errors(dataset, "profile", dataset.profile, ("schema", "profile"), whole)
    if dataset.target is not None:
        yield from missing_errors(dataset, "target", dataset.target, ("target",), whole)
        yield from mapping_errors(dataset, whole)
        yield from partition_errors(dataset, whole)
    yield from nested_errors(dataset, whole)


def partition_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """A target partitions by columns that the dataset has, and by some where it must."""
    target = whole.definition("target", dataset.target or "")
    if not isinstance(target, TargetDefinition) or dataset.load.partition_by:
        return
    names = {column.name for column in dataset.columns}
    place = by_file(dataset, ())
    for name in target.partition_by:
        if name not in names:
            hint = did_you_mean(name, names)
            problem = f"target {target.target} partitions by {name!r}, which is no column here"
            yield WrongValue(place, key="target", problem=problem, hint=hint, at=["target"])
    if dataset.load.type is LoadType.PARTITION and not target.partition_by:
        problem = f"PARTITION needs partition_by, here or in target {target.target}"
        yield WrongValue(place, key="load", problem=problem, hint="", at=["load", "type"])


def object_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """What is read of a database is a table of it."""
    build = dataset.build
    if not isinstance(build, FromSource):
        return
    source = whole.definition("source", build.source)
    if not isinstance(source, SourceDefinition) or source.format is not SourceFormat.JDBC:
        return
    if not OBJECT.fullmatch(build.object):
        problem = f"source {source.source} is a database; write schema.table as object"
        yield WrongValue(
            by_file(dataset, ()), key="source", problem=problem, hint="", at=["source", "object"]
        )


def mapping_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """What reads a source writes only to a target that the source is mapped to."""
    build = dataset.build
    if dataset.target is None or not isinstance(build, FromSource):
        return
    target = whole.definition("target", dataset.target)
    if not isinstance(target, TargetDefinition):
        return
    if all(mapping.source != build.source for mapping in target.sources):
        place = by_file(dataset, ())
        yield MissingMapping(
            place, dataset=dataset.dataset, source=build.source, target=target.target, at=["target"]
        )


def dependent_errors(target: TargetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Datasets that are registered and would lose the arrow from their source, or partitions."""
    before = whole.current.definition("target", target.target)
    if not isinstance(before, TargetDefinition):
        return
    kept = {m.source for m in before.sources} <= {m.source for m in target.sources}
    if kept and before.partition_by == target.partition_by:
        return
    for kind, name in whole.current.library.naming(target.target):
        dataset = whole.definition(kind, name)
        if isinstance(dataset, DatasetDefinition) and dataset.target == target.target:
            yield from mapping_errors(dataset, whole)
            if dataset not in whole.changed:
                yield from partition_errors(dataset, whole)


def reader_errors(source: SourceDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Datasets that are registered and could not be read from what the source becomes."""
    before = whole.current.definition("source", source.source)
    if not isinstance(before, SourceDefinition) or before.format is source.format:
        return
    for kind, name in whole.current.library.naming(source.source):
        dataset = whole.definition(kind, name)
        if not isinstance(dataset, DatasetDefinition) or dataset in whole.changed:
            continue
        if isinstance(dataset.build, FromSource) and dataset.build.source == source.source:
            yield from object_errors(dataset, whole)
            yield from nested_errors(dataset, whole)


def missing_errors(
    definition: Definition, kind: str, name: str, at: Path, whole: Whole, **more: object
) -> Iterator[DefinitionError]:
    """What is named and does not exist, with the nearest name that does."""
    if whole.has(kind, name):
        return
    now = whole.renamed.get(name) if kind == "dataset" else None
    if now is not None:
        hint = f"; it is {now} now"
    else:
        known = whole.names(kind) - {getattr(definition, kind, "")}
        known |= set(BUILT_IN_PROFILES) if kind == "profile" else set()
        hint = did_you_mean(name, known)
    place = by_file(definition, at)
    yield UnknownReference(place, kind=kind, name=name, hint=hint, at=list(at), **more)
