"""Rollbacks to versions whose columns carry tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import Layer, PolicyType
from lakeguard_sdk.errors import RollbackBlocked
from lakeguard_sdk.model.definitions import ColumnDefinition, PolicyDefinition
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    numbers,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

N = ColumnDefinition(name="n", type="long")
M = ColumnDefinition(name="m", type="long")
TAGGED = M.model_copy(update={"tags": ("pii",)})
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.BRONZE)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (FORBIDDEN, "column m tagged pii"),
        (
            promise(PolicyType.PII, "forbid columns [m]", applies_to_tag="pii"),
            "column m forbidden by name",
        ),
    ],
    ids=["about the tag", "over the tag"],
)
def test_a_column_carries_the_tag_that_it_had(
    tmp_path: Path, policy: PolicyDefinition, message: str
) -> None:
    client = world(tmp_path, numbers(columns=(N, TAGGED)))
    run_by_hand(client, [1])
    revise(client, numbers(), policies=(policy,))
    run_by_hand(client, [2])
    with pytest.raises(RollbackBlocked, match=message):
        client.operations.rollback(NUMBERS, 1, "as it was")


def test_a_column_carries_the_tag_that_it_has_by_now(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(columns=(N, M)))
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    revise(client, numbers(columns=(N, TAGGED)), policies=(FORBIDDEN,))
    with pytest.raises(RollbackBlocked, match="column m tagged pii"):
        client.operations.rollback(NUMBERS, 1, "as it was")


def test_a_tag_on_a_column_that_the_version_lacks_is_no_matter(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    revise(client, numbers(columns=(N, TAGGED)), policies=(FORBIDDEN,))
    assert client.operations.rollback(NUMBERS, 1, "as it was").version == 1


def test_a_column_carries_what_came_down_to_it_then(tmp_path: Path) -> None:
    silver = built("SELECT n, m FROM bronze.numbers").model_copy(update={"columns": (N, M)})
    client = world(tmp_path, numbers(columns=(N, TAGGED)), silver)
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"))
    in_silver = FORBIDDEN.model_copy(update={"applies_to_layer": Layer.SILVER})
    revise(client, numbers(), built("SELECT n FROM bronze.numbers"), policies=(in_silver,))
    run_by_hand(client, [2])
    run_by_hand(client, [2], client.operations.submit(DOUBLED, "test"))
    with pytest.raises(RollbackBlocked, match=r"from bronze\.numbers\.m, tagged pii"):
        client.operations.rollback(DOUBLED, 1, "as it was")
