"""A dataset keeps its history under a new name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SecretInReason
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.schema_changes import ColumnOrigin
from tests.contract.schema.test_schema_drift import LIVE, numbers, publish, world
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")
FIGURES = DatasetName("bronze.figures")


def renamed() -> Definitions:
    found = numbers_definitions(LoadType.APPEND)
    name = {"dataset": FIGURES, "renamed_from": NUMBERS}
    return Definitions(datasets=(found.datasets[0].model_copy(update=name),))


def test_a_renamed_dataset_can_be_rolled_back_to_what_it_was(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    client.registry.apply(client.registry.plan(renamed()))
    assert [row.version for row in client.reader.versions(FIGURES)] == [2, 1]
    client.operations.rollback(FIGURES, 1, "back to the old days")
    assert shown(tmp_path) == [1]
    assert client.ledger.verify(replay=True).findings == ()


def test_a_renamed_dataset_keeps_the_columns_that_came_with_the_data(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, LIVE, [1])
    name = {"dataset": FIGURES, "renamed_from": NUMBERS}
    declared = numbers().model_copy(update=name)
    client.registry.apply(client.registry.plan(Definitions(datasets=(declared,))))
    columns = client.reader.definition(FIGURES).columns
    assert [(column.name, column.origin) for column in columns] == [
        ("n", ColumnOrigin.DECLARED),
        ("extra", ColumnOrigin.DRIFT),
    ]


def test_a_reason_that_holds_a_secret_is_not_written(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    with pytest.raises(SecretInReason) as refused:
        client.operations.rollback(NUMBERS, 1, f"because of {token}")
    assert token not in str(refused.value)
    assert shown(tmp_path) == [1, 2]
