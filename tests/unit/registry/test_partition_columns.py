"""Partition columns of a target exist in its datasets; a dataset may override them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definitions,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.registries import small_registry


def definitions(*partition_by: str, own: tuple[str, ...] = ()) -> Definitions:
    found = numbers_definitions(LoadType.FULL)
    target = TargetDefinition(
        target="raw_zone",
        location="raw",
        zone="raw",
        partition_by=partition_by,
        sources=(SourceMapping(source="numbers"),),
    )
    load = Load(type=LoadType.FULL, partition_by=own)
    change: dict[str, object] = {"target": "raw_zone", "load": load}
    datasets: tuple[DatasetDefinition, ...] = (found.datasets[0].model_copy(update=change),)
    return found.model_copy(update={"targets": (target,), "datasets": datasets})


def test_a_column_that_is_there() -> None:
    assert len(make_plan(definitions("n"), RegistryState.of({})).steps) == 3


def test_a_column_that_is_not() -> None:
    with pytest.raises(InvalidDefinitions) as refused:
        make_plan(definitions("m"), RegistryState.of({}))
    (error,) = refused.value.errors
    assert "target raw_zone partitions by 'm', which is not a column" in str(error)


def test_the_dataset_says_it_itself() -> None:
    assert len(make_plan(definitions("m", own=("n",)), RegistryState.of({})).steps) == 3


def partition_load(*by_target: str, own: tuple[str, ...] = ()) -> Definitions:
    found = definitions(*by_target)
    load = Load(type=LoadType.PARTITION, partition_by=own)
    return found.model_copy(
        update={"datasets": (found.datasets[0].model_copy(update={"load": load}),)}
    )


def test_a_load_by_partitions_takes_those_of_its_target() -> None:
    assert len(make_plan(partition_load("n"), RegistryState.of({})).steps) == 3
    assert len(make_plan(partition_load(own=("n",)), RegistryState.of({})).steps) == 3


def test_a_load_by_partitions_without_any() -> None:
    with pytest.raises(InvalidDefinitions) as refused:
        make_plan(partition_load(), RegistryState.of({}))
    (error,) = refused.value.errors
    assert "PARTITION needs partition_by, here or in target raw_zone" in str(error)


def test_a_target_keeps_the_partitions_that_a_load_lives_on(tmp_path: Path) -> None:
    with small_registry(tmp_path) as registry:
        registry.register(partition_load("n"))
        bare = partition_load().targets[0]
        with pytest.raises(InvalidDefinitions) as refused:
            registry.plan(Definitions(targets=(bare,)))
    assert ["PARTITION needs" in str(error) for error in refused.value.errors] == [True]
