"""Nested columns are refused if the source or target does not support them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.rows.vendor_types import column_type
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.core.enums import LoadType, SourceFormat, TargetFormat
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    Definitions,
    SourceMapping,
    TargetDefinition,
)
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.registries import small_registry


def definitions(
    source: SourceFormat,
    target: TargetFormat = TargetFormat.DELTA,
    transform: str = "",
    kind: str = "array<long>",
) -> Definitions:
    found = numbers_definitions(LoadType.FULL)
    place = TargetDefinition(
        target="raw_zone",
        location="raw",
        zone="raw",
        format=target,
        transform=transform,
        sources=(SourceMapping(source="numbers"),),
    )
    columns = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="l", type=kind))
    dataset = found.datasets[0].model_copy(
        update={"target": "raw_zone", "columns": columns, "rules": ()}
    )
    sources = (found.sources[0].model_copy(update={"format": source, "options": {}}),)
    return found.model_copy(
        update={"targets": (place,), "datasets": (dataset,), "sources": sources}
    )


def plan_problems(given: Definitions) -> list[str]:
    try:
        make_plan(given, RegistryState.of({}))
    except InvalidDefinitions as refused:
        return [str(error) for error in refused.errors]
    return []


@pytest.mark.parametrize("source", [SourceFormat.CSV, SourceFormat.JSONL])
def test_a_text_source_brings_none(source: SourceFormat) -> None:
    (problem,) = plan_problems(definitions(source))
    assert problem.startswith(f"l: {source} has no nested values")
    assert "from_json" in problem
    assert plan_problems(definitions(source, kind="string")) == []
    made = "SELECT n, from_json(l, 'array<long>') AS l FROM batch"
    assert plan_problems(definitions(source, transform=made)) == []


@pytest.mark.parametrize("target", [TargetFormat.CSV, TargetFormat.JSONL])
def test_a_target_of_texts_holds_none(target: TargetFormat) -> None:
    (problem,) = plan_problems(definitions(SourceFormat.PARQUET, target))
    assert problem == f"l: target raw_zone is {target}, which does not support nested values"
    assert plan_problems(definitions(SourceFormat.PARQUET, target, kind="string")) == []


@pytest.mark.parametrize("target", [TargetFormat.DELTA, TargetFormat.PARQUET])
def test_others_do(target: TargetFormat) -> None:
    assert plan_problems(definitions(SourceFormat.PARQUET, target)) == []


def test_what_is_registered_keeps_its_source_and_its_target(tmp_path: Path) -> None:
    good = definitions(SourceFormat.PARQUET)
    with small_registry(tmp_path) as registry:
        registry.register(good)
        worse = definitions(SourceFormat.CSV, TargetFormat.CSV)
        for changed in (Definitions(sources=worse.sources), Definitions(targets=worse.targets)):
            with pytest.raises(InvalidDefinitions) as refused:
                registry.plan(changed)
            assert ["nested values" in str(error) for error in refused.value.errors] == [True]


def test_rows_say_nested_types_in_our_words() -> None:
    assert column_type("STRUCT<Id: INT, `b c`: text>") == "struct<Id:integer,`b c`:string>"
    assert column_type("array<varchar(10)>") is None
