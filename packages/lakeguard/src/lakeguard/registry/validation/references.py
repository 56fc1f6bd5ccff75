"""Checks references between definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lakeguard.gate.schema.profiles import BUILT_IN, answers_of
from lakeguard.registry.files.job_settings import controls_of
from lakeguard.registry.files.source_locations import OBJECT, path_problem
from lakeguard.registry.files.table_locations import on_disk, root_of, table_place
from lakeguard.registry.merged_registry import MergedRegistry
from lakeguard.registry.sql.sql_builds import check_columns, check_sql, sql_error
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard.registry.text.definition_positions import by_file
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard.registry.validation.nested_columns import nested_errors
from lakeguard_sdk.core.dataset_name import DatasetName
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
    FromSql,
    JobDefinition,
    Pending,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.storage.reserved_places import (
    delivery_folders,
    delivery_problem,
    reserved_source,
)
from lakeguard_sdk.storage.storage import join, located

_ADDS_COLUMNS = (SchemaChange.ADD_NULLABLE, SchemaChange.ADD_REQUIRED, SchemaChange.RENAME)


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
    yield from _origin_errors(dataset, merged)
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
    yield from _sql_errors(dataset, merged)


# Columns that SQL builds read from their parents.


def _sql_errors(
    dataset: DatasetDefinition, merged: MergedRegistry, lost: Collection[str] | None = None
) -> Iterator[DefinitionError]:
    """Every name in the SQL, or only of these, that is no column of its parents, if they declare
    all they have."""
    build = dataset.build
    parents = frozenset(dataset.parents)
    if not isinstance(build, FromSql) or check_sql(build.text, parents, columns=None):
        return
    merged.open_datasets(dataset.parents)
    tables: dict[DatasetName, KnownTable] = {}
    for name in dataset.parents:
        parent = merged.definition("dataset", name)
        if not isinstance(parent, DatasetDefinition):
            return
        has_more = _may_have_more(parent, merged)
        tables[name] = KnownTable(tuple(parent.table_schema.names), has_more)
    open_ended = any(table.has_more for table in tables.values())
    declared = {column for table in tables.values() for column in table.columns}
    problems = check_sql(build.text, parents, None if open_ended else declared)
    known = {problem.offset for problem in problems}
    missing = (found for found in check_columns(build.text, tables) if found.offset not in known)
    for problem in (*problems, *missing):
        column = build.text[problem.offset : problem.offset + problem.length].strip("`")
        if lost is None or column.casefold() in lost:
            yield sql_error(build.file, build.text, problem)


def _may_have_more(dataset: DatasetDefinition, merged: MergedRegistry) -> bool:
    """Whether its table may have columns that it does not declare."""
    if isinstance(dataset.build, Pending) or not dataset.columns:
        return True
    own = merged.definition("profile", dataset.profile)
    if not isinstance(own, ProfileDefinition) and dataset.profile not in BUILT_IN:
        return True
    answers = answers_of(own) if isinstance(own, ProfileDefinition) else BUILT_IN[dataset.profile]
    return any(answers[change] is Reaction.ACCEPT for change in _ADDS_COLUMNS)


def lost_column_errors(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    """Registered SQL builds that read columns which this dataset would lose."""
    before = merged.superseded(dataset)
    if before is None or before.dataset != dataset.dataset:
        return
    now = {name.casefold() for name in dataset.table_schema.names}
    lost = {name.casefold() for name in before.table_schema.names} - now
    for kind, name in merged.current.library.naming(dataset.dataset) if lost else ():
        child = merged.definition(kind, name)
        if (
            isinstance(child, DatasetDefinition)
            and child not in merged.changed
            and dataset.dataset in child.parents
            and not child.refusal
        ):
            yield from _sql_errors(child, merged, lost)


def reserved_errors(
    item: DatasetDefinition | SourceDefinition, merged: MergedRegistry, lake: str
) -> Iterator[DefinitionError]:
    """A source, or an object of one, inside a governed table or a folder of LakeGuard."""
    path: str = ""
    at: tuple[str, ...] = ("path",)
    if isinstance(item, SourceDefinition):
        path = item.path
    elif isinstance(item.build, FromSource) and item.build.object:
        source = merged.definition("source", item.build.source)
        if isinstance(source, SourceDefinition) and source.path:
            path, at = join(source.path, item.build.object), ("source", "object")
    if not _is_readable(path):
        return
    problem = reserved_source(path, lake, _is_governed) or _delivery_problem(path, merged, lake)
    if problem is not None:
        yield WrongValue(by_file(item, at), key=at[-1], problem=problem, hint="", at=list(at))


def _delivery_problem(path: str, merged: MergedRegistry, lake: str) -> str | None:
    """The problem of a place where a dataset will be delivered, before its first delivery."""
    folders = delivery_folders(located(lake, path))
    if not folders:
        return None
    places = [*merged.current.library.locations().items()]
    for item in merged.changed:
        if isinstance(item, DatasetDefinition):
            target = merged.definition("target", item.target or "")
            found = target if isinstance(target, TargetDefinition) else None
            places.append((table_place(item, found), item.dataset))
    root = root_of(lake)
    for place, name in places:
        if folder := folders.get(on_disk(place, root)):
            return delivery_problem(folder, name)
    return None


def _is_governed(location: str) -> bool:
    from lakeguard.lake.delta import is_governed  # delta-rs; few sources are Delta tables

    return is_governed(location)


def _is_readable(path: str) -> bool:
    """Whether the path is one; what is wrong with others is said elsewhere."""
    return bool(path) and path_problem(path) is None


def _origin_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Columns that others are declared to be derived from exist."""
    for column in dataset.columns:
        for index, path in enumerate(column.derived_from):
            at = ("columns", column.name, "derived_from", index)
            name, _, source = path.rpartition(".")
            found = merged.definition("dataset", name)
            if not isinstance(found, DatasetDefinition):
                known = merged.names("dataset")
                hint, problem = did_you_mean(name, known), f"{path[:200]!r}: no such dataset"
            elif source.casefold() in (item.name.casefold() for item in found.columns):
                continue
            else:
                names = found.table_schema.names
                hint, problem = did_you_mean(source, names), f"{name} has no column {source[:80]!r}"
            place = by_file(dataset, at)
            yield WrongValue(place, key="derived_from", problem=problem, hint=hint, at=list(at))


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


def id_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """A dataset keeps its id, and no two have the same."""
    given = dataset.dataset_id
    if not given:
        return
    own = merged.current.superseded(dataset)
    others = [
        entry.name for entry in merged.current.entries.values()
        if entry.kind == "dataset" and entry.key == given and entry != own
    ]  # fmt: skip
    others += [
        item.dataset for item in merged.changed
        if isinstance(item, DatasetDefinition) and item.dataset_id == given and item != dataset
    ]  # fmt: skip
    problem = f"{given} is the id of {others[0]}" if others else ""
    if own is not None and own.key != given:
        problem = f"the id of {dataset.dataset} is {own.key} and never changes"
    if problem:
        place = by_file(dataset, ())
        yield WrongValue(place, key="dataset_id", problem=problem, hint="", at=["dataset_id"])
