"""Nested columns where they cannot be: out of files of texts, and into those that hold none."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.merged_registry import Whole
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


def nested_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Every nested column that its source cannot bring or its target cannot hold."""
    columns = [column for column in dataset.columns if is_nested(column.type)]
    if not columns:
        return
    target = whole.definition("target", dataset.target) if dataset.target else None
    problems = [_source_problem(dataset, target, whole), _target_problem(target)]
    for problem in filter(None, problems):
        for column in columns:
            at = ("columns", column.name, "type")
            yield WrongValue(
                by_file(dataset, at), key=column.name[:80], problem=problem, hint="", at=list(at)
            )


def nested_in_target_errors(target: TargetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Datasets that are registered and whose columns the target would hold no longer."""
    before = whole.current.definition("target", target.target)
    if not isinstance(before, TargetDefinition):
        return
    if before.format is target.format and bool(before.transform) == bool(target.transform):
        return
    for kind, name in whole.current.library.naming(target.target):
        dataset = whole.definition(kind, name)
        if isinstance(dataset, DatasetDefinition) and dataset.target == target.target:
            yield from nested_errors(dataset, whole) if dataset not in whole.changed else ()


def _source_problem(dataset: DatasetDefinition, target: object, whole: Whole) -> str | None:
    """A transform may make anything of a text."""
    if not isinstance(dataset.build, FromSource):
        return None
    if isinstance(target, TargetDefinition) and target.transform:
        return None
    source = whole.definition("source", dataset.build.source)
    if not isinstance(source, SourceDefinition) or source.format not in TEXT_FORMATS:
        return None
    return (
        f"{source.format} brings texts and no nested values: declare a string here,"
        " and make it nested in a build with from_json"
    )


def _target_problem(target: object) -> str | None:
    if not isinstance(target, TargetDefinition) or target.format in _HELD_BY:
        return None
    return f"target {target.target} is {target.format}, which holds no nested values"
