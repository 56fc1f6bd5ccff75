"""Refuses nested columns where the source or target format does not support them."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.merged_registry import MergedRegistry
from lakeguard.registry.text.definition_positions import by_file
from lakeguard_sdk.core.enums import TEXT_FORMATS, TargetFormat
from lakeguard_sdk.errors import DefinitionError, WrongValue
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    FromSource,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.types.schema import is_nested

_HELD_BY = (TargetFormat.DELTA, TargetFormat.PARQUET)


def nested_errors(dataset: DatasetDefinition, merged: MergedRegistry) -> Iterator[DefinitionError]:
    """Every nested column that its source or target does not support."""
    columns = [column for column in dataset.columns if is_nested(column.type)]
    if not columns:
        return
    target = merged.definition("target", dataset.target) if dataset.target else None
    problems = [_source_problem(dataset, target, merged), _target_problem(target)]
    for problem in filter(None, problems):
        for column in columns:
            at = ("columns", column.name, "type")
            yield WrongValue(
                by_file(dataset, at), key=column.name[:80], problem=problem, hint="", at=list(at)
            )


def nested_in_target_errors(
    target: TargetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    """Registered datasets with columns that the changed target would not support."""
    before = merged.current.definition("target", target.target)
    if not isinstance(before, TargetDefinition):
        return
    if before.format is target.format and bool(before.transform) == bool(target.transform):
        return
    for kind, name in merged.current.library.naming(target.target):
        dataset = merged.definition(kind, name)
        if isinstance(dataset, DatasetDefinition) and dataset.target == target.target:
            yield from nested_errors(dataset, merged) if dataset not in merged.changed else ()


def _source_problem(
    dataset: DatasetDefinition, target: object, merged: MergedRegistry
) -> str | None:
    """A transform may produce nested values from text."""
    if not isinstance(dataset.build, FromSource):
        return None
    if isinstance(target, TargetDefinition) and target.transform:
        return None
    source = merged.definition("source", dataset.build.source)
    if not isinstance(source, SourceDefinition) or source.format not in TEXT_FORMATS:
        return None
    return (
        f"{source.format} has no nested values; declare a string here"
        " and parse it with from_json in a build"
    )


def _target_problem(target: object) -> str | None:
    if not isinstance(target, TargetDefinition) or target.format in _HELD_BY:
        return None
    return f"target {target.target} is {target.format}, which does not support nested values"
