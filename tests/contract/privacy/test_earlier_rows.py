"""Tags of rows that stay in the table, after the build that made them has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Address, Client, DatasetName
from lakeguard_sdk.core.enums import Layer, LoadType, Outcome, PolicyType
from lakeguard_sdk.errors import RollbackBlocked
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromPython,
)
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineSelection
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    TOTALS,
    built,
    decided,
    numbers,
    opened,
    promise,
    promised,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.lakes.quarantined_by_hand import RULES, ByHand
from tests.support.projects.planes import NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

OTHER = DatasetName("silver.other")
PARENT = numbers(
    columns=(
        ColumnDefinition(name="n", type="long"),
        ColumnDefinition(name="mail", type="long", tags=("pii",)),
    )
)
MAIL, PLAIN = "SELECT mail AS n FROM bronze.numbers", "SELECT n FROM bronze.numbers"
UNKNOWN = "SELECT v AS n FROM bronze.numbers UNPIVOT (v FOR k IN (n, mail))"
APPEND = Load(type=LoadType.APPEND)
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.GOLD)
IN_SILVER = FORBIDDEN.model_copy(update={"applies_to_layer": Layer.SILVER})
DERIVES = "column n derives from bronze.numbers.mail, tagged pii"


def silver(text: str, load: Load = APPEND, **changes: Any) -> DatasetDefinition:
    return built(text).model_copy(update={"load": load, **changes})


def gold(parent: DatasetName = DOUBLED) -> DatasetDefinition:
    return built(f"SELECT n FROM {parent}", parent, TOTALS)


def started(folder: Path, *datasets: DatasetDefinition, policy: Any = FORBIDDEN) -> Client:
    client = world(folder, PARENT, *datasets, policies=(policy,))
    assert run_by_hand(client, [1]).version == 1
    return client


def publish(
    client: Client, number: int, name: DatasetName = DOUBLED, changes: Changes | None = None
) -> None:
    task = client.operations.submit(name, "test")
    assert run_by_hand(client, [number], task, changes=changes).version is not None


def check_of(client: Client, name: DatasetName = TOTALS) -> CheckResult:
    """What the policy comes to; the decision replays."""
    _, check, run_id = decided(client, name)
    assert client.reader.replay(run_id).identical
    return check


@pytest.mark.parametrize(
    "load",
    [
        APPEND,
        Load(type=LoadType.INCREMENTAL, keys=("n",)),
        Load(type=LoadType.SCD2, keys=("n",)),
    ],
    ids=lambda load: str(load.type),
)
def test_rows_of_an_earlier_select_keep_their_tags(tmp_path: Path, load: Load) -> None:
    changes = None if load.type is LoadType.APPEND else Changes(inserted=1)
    client = started(tmp_path, silver(MAIL, load), gold())
    publish(client, 1, changes=changes)
    assert check_of(client).message == DERIVES
    revise(client, silver(PLAIN, load))
    publish(client, 2, changes=changes)
    publish(client, 3, changes=changes)
    assert check_of(client).message == DERIVES


def test_a_full_load_replaces_them(tmp_path: Path) -> None:
    client = started(tmp_path, silver(MAIL), gold())
    publish(client, 1)
    revise(client, silver(PLAIN, Load(type=LoadType.FULL)))
    publish(client, 2)
    assert check_of(client).outcome is Outcome.PASS
    revise(client, silver(PLAIN))
    publish(client, 3)
    assert check_of(client).outcome is Outcome.PASS


def test_rows_of_an_earlier_full_load_keep_their_tags(tmp_path: Path) -> None:
    client = started(tmp_path, silver(MAIL, Load(type=LoadType.FULL)), gold())
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    assert check_of(client).message == DERIVES


def test_what_an_earlier_select_masked_stays_masked(tmp_path: Path) -> None:
    policy = promise(
        PolicyType.PII, "forbid tag:pii unless masked by [md5]", applies_to_layer=Layer.GOLD
    )
    client = started(
        tmp_path, silver("SELECT md5(mail) AS n FROM bronze.numbers"), gold(), policy=policy
    )
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    assert check_of(client).outcome is Outcome.PASS


def test_a_column_that_an_earlier_select_hid_carries_everything(tmp_path: Path) -> None:
    client = started(tmp_path, silver(UNKNOWN), gold())
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    assert check_of(client).message == DERIVES


def test_a_hidden_column_of_an_untagged_parent_is_not_tagged(tmp_path: Path) -> None:
    text = "SELECT v AS n FROM silver.doubled UNPIVOT (v FOR k IN (n))"
    other = built(text, DOUBLED, OTHER)
    client = started(tmp_path, silver(PLAIN), other, gold(OTHER))
    publish(client, 1)
    publish(client, 1, OTHER)
    assert check_of(client).outcome is Outcome.PASS


@pytest.mark.parametrize("load", [LoadType.FULL, LoadType.APPEND])
def test_rows_keep_what_their_parent_was_made_of(tmp_path: Path, load: LoadType) -> None:
    """The SELECT is the same; that of its parent has changed."""
    other = built("SELECT n FROM silver.doubled", DOUBLED, OTHER)
    other = other.model_copy(update={"load": APPEND})
    client = started(tmp_path, silver(MAIL, Load(type=load)), other, gold(OTHER))
    publish(client, 1)
    publish(client, 1, OTHER)
    revise(client, silver(PLAIN, Load(type=LoadType.FULL)))
    publish(client, 2)
    publish(client, 2, OTHER)
    assert check_of(client).message == DERIVES


@pytest.mark.parametrize("text", [MAIL, UNKNOWN], ids=["followed", "unknown"])
def test_rows_keep_the_tag_that_their_parent_declared_then(tmp_path: Path, text: str) -> None:
    """Its later versions no longer carry it, and later rows are made of them."""
    client = started(tmp_path, silver(text), gold())
    publish(client, 1)
    plain = PARENT.columns[1].model_copy(update={"tags": ()})
    revise(client, PARENT.model_copy(update={"columns": (PARENT.columns[0], plain)}))
    assert run_by_hand(client, [2]).version == 2
    for number in (2, 3):
        publish(client, number)
        assert check_of(client).message == DERIVES


PYTHON = FromPython(file="builds/b.py", function="b", sha256="0" * 64)


def test_rows_of_a_python_build_keep_their_tags_under_sql(tmp_path: Path) -> None:
    client = started(tmp_path, silver(MAIL, build=PYTHON), gold())
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    check = check_of(client)
    assert check.outcome is Outcome.FAIL
    assert "bronze.numbers.mail" in check.message


def test_rows_of_sql_keep_their_tags_under_a_source(tmp_path: Path) -> None:
    copy = DatasetName("bronze.copy")
    first = built(MAIL, name=copy).model_copy(update={"load": APPEND})
    client = started(tmp_path, first, built("SELECT n FROM bronze.copy", copy), gold())
    publish(client, 1, copy)
    revise(client, numbers(dataset=copy, load=APPEND))
    publish(client, 2, copy)
    publish(client, 1)
    assert check_of(client).message == DERIVES


def test_quarantined_rows_keep_the_tags_of_their_select(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = started(tmp_path, silver(MAIL, rules=RULES))
    hand = ByHand(client, clock=turned_clock)
    plan = hand.opened(client.operations.submit(DOUBLED, "test"))
    assert hand.decide(plan, [1, -2], position=None).allowed
    hand.publish(plan)
    revise(client, silver(PLAIN, rules=RULES), policies=(IN_SILVER,))
    plan = hand.opened(client.operations.submit_replay(DOUBLED, "test", QuarantineSelection()))
    decision = hand.decide(plan, [2])
    assert promised(decision.ruling.checks).message == DERIVES
    assert client.reader.replay(plan.ticket.run_id).identical


def test_a_policy_of_later_sees_the_rows_of_an_earlier_select(tmp_path: Path) -> None:
    """The dataset under the policy has such rows itself."""
    client = started(tmp_path, silver(MAIL))
    publish(client, 1)
    revise(client, silver(PLAIN), policies=(IN_SILVER,))
    assert check_of(client, DOUBLED).message == DERIVES


def test_a_rollback_sees_the_rows_of_an_earlier_select(tmp_path: Path) -> None:
    client = started(tmp_path, silver(MAIL))
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    revise(client, silver(PLAIN, Load(type=LoadType.FULL)), policies=(IN_SILVER,))
    publish(client, 3)
    with pytest.raises(RollbackBlocked, match=r"from bronze\.numbers\.mail, tagged pii"):
        client.operations.rollback(DOUBLED, 2, "as it was")


def test_values_of_an_earlier_select_stay_confidential(tmp_path: Path) -> None:
    client = started(tmp_path, silver(MAIL))
    publish(client, 1)
    revise(client, silver(PLAIN))
    plan = opened(client, DOUBLED)
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared))
    assert (plan.masked, plan.redacted_statistics) == (("n",), ("n",))


def test_a_profile_hides_values_of_an_earlier_select(tmp_path: Path) -> None:
    client = world(tmp_path, PARENT, silver(MAIL))
    run_by_hand(client, [1])
    publish(client, 1)
    revise(client, silver(PLAIN))
    publish(client, 2)
    assert client.operations.plan_profile(Address(dataset=DOUBLED)).masked == ("n",)


def test_an_unchanged_select_is_recorded_with_its_inputs(tmp_path: Path) -> None:
    policy = promise(PolicyType.LINEAGE_PARENT, "inputs known", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, silver(PLAIN), policy=policy)
    assert check_of(client, DOUBLED).message == "read from declared inputs"
    publish(client, 1)
    (row,) = client.reader.versions(DOUBLED)
    assert [(item.dataset, item.version) for item in row.inputs] == [(NUMBERS, 1)]
