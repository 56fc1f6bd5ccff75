"""Tags on their way down the lineage of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import Layer, Outcome, PolicyType
from lakeguard_sdk.model.definitions import ColumnDefinition, FromPython
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    TOTALS,
    built,
    decided,
    numbers,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")


PYTHON = FromPython(file="build.py", function="build", sha256="0" * 64)
TAGGED = numbers(columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),))
IN_GOLD = {"applies_to_layer": Layer.GOLD}
N = ColumnDefinition(name="n", type="long")
M = ColumnDefinition(name="m", type="long")
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)


@pytest.mark.parametrize(
    ("silver", "gold", "outcome"),
    [
        ("SELECT n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.FAIL),
        ("SELECT n * 2 AS n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.FAIL),
        ("SELECT md5(n) AS n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.PASS),
        ("SELECT n FROM bronze.numbers", "SELECT md5(n) AS n FROM silver.doubled", Outcome.PASS),
        (
            "SELECT n FROM bronze.numbers",
            "SELECT n + md5(n) AS n FROM silver.doubled",
            Outcome.FAIL,
        ),
        ("SELECT n FROM bronze.numbers", "SELECT count(*) AS n FROM silver.doubled", Outcome.PASS),
    ],
)
def test_a_tag_travels_until_it_is_masked(
    tmp_path: Path, silver: str, gold: str, outcome: Outcome
) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii unless masked by [md5]", **IN_GOLD)
    datasets = (TAGGED, built(silver), built(gold, DOUBLED, TOTALS))
    client = world(tmp_path, *datasets, policies=(policy,))
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"))
    refused, check, run_id = decided(client, TOTALS)
    assert check.outcome is outcome, check.message
    assert (refused is not None) is (outcome is Outcome.FAIL)
    if refused is not None:
        assert "derives from bronze.numbers.n, tagged pii" in check.message
        assert not (tmp_path / "gold").exists()
    assert client.reader.replay(run_id).identical


def test_a_column_that_cannot_be_followed_carries_everything(tmp_path: Path) -> None:
    text = "SELECT m FROM bronze.numbers LATERAL VIEW explode(array(n)) e AS m"
    columns = (ColumnDefinition(name="m", type="long"),)
    silver = built(text).model_copy(update={"columns": columns})
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = world(tmp_path, TAGGED, silver, policies=(policy,))
    run_by_hand(client, [1])
    task = client.operations.submit(DOUBLED, "test")
    assert isinstance(client.runs.open_run(task, this_process("test")), RunResult)


@pytest.mark.parametrize("column", ["N", "m"])
def test_a_python_build_is_judged_when_it_has_reported_its_lineage(
    tmp_path: Path, column: str
) -> None:
    columns = (ColumnDefinition(name=column, type="long"),)
    silver = numbers(dataset=DOUBLED, parents=(NUMBERS,), build=PYTHON, columns=columns)
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = world(tmp_path, TAGGED, silver, policies=(policy,))
    run_by_hand(client, [1])
    refused, check, _ = decided(client, DOUBLED)
    assert refused is None
    assert check.outcome is Outcome.FAIL, "it reported none"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT v AS m FROM bronze.numbers UNPIVOT (v FOR k IN (n))",
        "SELECT a AS m FROM bronze.numbers PIVOT (max(n) FOR o IN (1 AS a))",
        "SELECT col AS m FROM (SELECT explode(array(n)) FROM bronze.numbers)",
        "SELECT length(date_trunc(n, timestamp '2020-01-01')) AS m FROM bronze.numbers",
        "SELECT size(collect_set(struct(n = 1))) AS m FROM bronze.numbers",
        "SELECT s.m FROM (SELECT named_struct('m', n) AS s FROM bronze.numbers)",
    ],
)
def test_a_value_that_cannot_be_followed_carries_every_tag(tmp_path: Path, text: str) -> None:
    bronze = numbers(
        columns=(*TAGGED.columns, ColumnDefinition(name="o", type="long")),
    )
    silver = built(text).model_copy(update={"columns": (M,)})
    client = world(tmp_path, bronze, silver, policies=(FORBIDDEN,))
    run_by_hand(client, [1])
    _, check, _ = decided(client, DOUBLED)
    assert check.message == "column m derives from bronze.numbers.n, tagged pii"


@pytest.mark.parametrize(
    "text", ["SELECT n, m FROM bronze.numbers", "SELECT * FROM bronze.numbers"]
)
def test_a_tag_stays_with_a_version_that_has_the_column(tmp_path: Path, text: str) -> None:
    """The definition of the parent drops the column; what is read was made with it."""
    bronze = numbers(columns=(N, M.model_copy(update={"tags": ("pii",)})))
    adding = {"profile": "additive"}  # otherwise silver must stop reading the column first
    silver = built(text).model_copy(update={"columns": (N, M)})
    client = world(tmp_path, bronze.model_copy(update=adding), silver, policies=(FORBIDDEN,))
    run_by_hand(client, [1])
    revise(client, numbers(columns=(N,)).model_copy(update=adding))
    _, check, _ = decided(client, DOUBLED)
    assert check.outcome is Outcome.FAIL
    assert check.message == "column m derives from bronze.numbers.m, tagged pii"


def test_a_tag_stays_with_the_versions_that_a_version_was_made_of(tmp_path: Path) -> None:
    silver = built("SELECT n FROM bronze.numbers")
    gold = built("SELECT n FROM silver.doubled", DOUBLED, TOTALS)
    policy = promise(PolicyType.PII, "forbid tag:pii", **IN_GOLD)
    client = world(tmp_path, TAGGED, silver, gold, policies=(policy,))
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"))
    revise(client, numbers(columns=(M,)), built("SELECT m AS n FROM bronze.numbers"))
    _, check, _ = decided(client, TOTALS)
    assert check.message == "column n derives from bronze.numbers.n, tagged pii"


def test_a_new_tag_counts_for_what_is_published_already(tmp_path: Path) -> None:
    silver = built("SELECT n FROM bronze.numbers")
    client = world(tmp_path, numbers(), silver, policies=(FORBIDDEN,))
    run_by_hand(client, [1])
    assert decided(client, DOUBLED)[1].outcome is Outcome.PASS
    revise(client, TAGGED)
    assert decided(client, DOUBLED)[1].outcome is Outcome.FAIL


def test_a_column_that_the_select_does_not_show_carries_everything(tmp_path: Path) -> None:
    bronze = numbers(columns=(N, M.model_copy(update={"tags": ("pii",)})))
    other = ColumnDefinition(name="other", type="long")
    silver = built("SELECT n FROM bronze.numbers").model_copy(update={"columns": (N, other)})
    client = world(tmp_path, bronze, silver, policies=(FORBIDDEN,))
    run_by_hand(client, [1])
    _, check, _ = decided(client, DOUBLED)
    assert check.message == "column other derives from bronze.numbers.m, tagged pii"
