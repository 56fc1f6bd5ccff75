"""A dataset cannot change its layer."""

from __future__ import annotations

import pytest

from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import Opened, RegistryState, entry_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import InvalidDefinitions, LayerChanged
from lakeguard_sdk.model.definitions import Definitions
from tests.support.projects.definitions import dataset, source


def test_a_dataset_keeps_its_layer() -> None:
    before = dataset("bronze.orders")
    current = RegistryState.of(
        {
            entry_of(source(), "src_1", 1): Opened(source()),
            entry_of(before, "ds_1", 1): Opened(before, "bronze/orders"),
        }
    )
    parent = dataset("bronze.parent")
    moved = dataset("silver.orders", "bronze.parent", renamed_from=DatasetName("bronze.orders"))
    with pytest.raises(InvalidDefinitions) as refusal:
        make_plan(Definitions(datasets=(parent, moved)), current)
    assert [type(error) for error in refusal.value.errors] == [LayerChanged]
