"""Each assertion passes when it should; otherwise its message describes what happened."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import WrongArgument
from lakeguard_sdk.testing import (
    Lake,
    assert_blocked,
    assert_failed,
    assert_lineage,
    assert_promoted,
    assert_published,
    assert_quarantined,
    assert_rows,
    assert_versions,
    assert_warned,
)
from tests.support.lakes.ended_runs import walked_lake

pytestmark = pytest.mark.spark

Claim = Callable[[Lake], None]
ORDERS = [
    {"id": 1, "amount": Decimal("1.50"), "note": "seven"},
    {"id": 2, "amount": 2, "note": None},
]


@pytest.fixture(scope="module")
def walked(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return walked_lake(tmp_path_factory.mktemp("walked"))


TRUE: dict[str, Claim] = {
    "promoted": lambda lake: assert_promoted(lake, "bronze.orders"),
    "promoted to": lambda lake: assert_promoted(lake, "bronze.orders", version=2),
    "blocked": lambda lake: assert_blocked(lake, "silver.orders"),
    "blocked by a rule": lambda lake: assert_blocked(lake, "silver.orders", rule="unique.id"),
    "blocked by so many rows": lambda lake: assert_blocked(
        lake, "silver.orders", rule="unique.id", failed_rows=2
    ),
    "blocked by a policy": lambda lake: assert_blocked(
        lake, "gold.orders", policy="one_row_in_gold"
    ),
    "blocked by a check": lambda lake: assert_blocked(lake, "silver.orders", check="range.amount"),
    "warned": lambda lake: assert_warned(lake, "silver.orders"),
    "warned by a policy": lambda lake: assert_warned(lake, "silver.orders", policy="described"),
    "quarantined": lambda lake: assert_quarantined(lake, "silver.kept"),
    "quarantined by a rule": lambda lake: assert_quarantined(
        lake, "silver.kept", rule="range.amount", rows=1
    ),
    "none quarantined by a rule": lambda lake: assert_quarantined(
        lake, "silver.kept", rule="unique.id", rows=0
    ),
    "failed": lambda lake: assert_failed(lake, "silver.numbers"),
    "failed with": lambda lake: assert_failed(lake, "silver.numbers", code="LG-5004"),
    "published": lambda lake: assert_published(lake, "silver.copies", 1),
    "nothing published": lambda lake: assert_published(lake, "silver.unbuilt", None),
    "versions": lambda lake: assert_versions(lake, "silver.copies", 2),
    "no versions": lambda lake: assert_versions(lake, "silver.numbers", 0),
    "rows": lambda lake: assert_rows(lake, "silver.orders", ORDERS[::-1]),
    "rows of a version": lambda lake: assert_rows(
        lake, "silver.copies@v2", [{"id": 2}, {"id": 1}, {"id": 2}]
    ),
    "lineage": lambda lake: assert_lineage(lake, "silver.orders", "bronze.orders"),
    "lineage of a version": lambda lake: assert_lineage(lake, "silver.copies", "bronze.orders@v1"),
}


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_what_is_so_passes(walked: Lake, claim: Claim) -> None:
    claim(walked)


FALSE: dict[str, tuple[Claim, list[str]]] = {
    "promoted, but blocked": (
        lambda lake: assert_promoted(lake, "silver.orders"),
        [
            "silver.orders was not promoted to a version",
            "the last run was BLOCKED, v1 is published",
            "FAIL rule unique.id (unique(id)): 2 of 3 rows of the table",
            "FAIL rule range.amount",
            "WARN policy described",
        ],
    ),
    "promoted to another": (
        lambda lake: assert_promoted(lake, "bronze.orders", version=1),
        ["not promoted to v1", "the last run promoted v2, v2 is published"],
    ),
    "promoted, but rolled back": (
        lambda lake: assert_promoted(lake, "silver.copies"),
        ["v2 of silver.copies was promoted, but v1 is published"],
    ),
    "promoted, but failed": (
        lambda lake: assert_promoted(lake, "silver.numbers"),
        ["the last run FAILED, LG-5004: silver.numbers could not be built"],
    ),
    "promoted, but never ran": (
        lambda lake: assert_promoted(lake, "silver.unbuilt"),
        ["silver.unbuilt never ran", "lake.run('silver.unbuilt')"],
    ),
    "blocked, but promoted": (
        lambda lake: assert_blocked(lake, "bronze.orders"),
        ["bronze.orders was not blocked", "the last run promoted v2"],
    ),
    "blocked, but failed": (
        lambda lake: assert_blocked(lake, "silver.numbers"),
        ["silver.numbers was not blocked", "LG-5004"],
    ),
    "blocked by a rule that warned": (
        lambda lake: assert_blocked(lake, "silver.orders", rule="not_null.note"),
        ["not_null.note did not block", "FAIL rule unique.id"],
    ),
    "blocked by other rows": (
        lambda lake: assert_blocked(lake, "silver.orders", rule="unique.id", failed_rows=1),
        ["unique.id was expected to fail for 1 row, it was 2"],
    ),
    "blocked by rows that nobody counts": (
        lambda lake: assert_blocked(lake, "gold.orders", policy="one_row_in_gold", failed_rows=1),
        ["expected to fail for 1 row, none was counted"],
    ),
    "blocked by a policy of another layer": (
        lambda lake: assert_blocked(lake, "silver.orders", policy="one_row_in_gold"),
        ["the policy one_row_in_gold was not judged", "judged were: described"],
    ),
    "warned, but blocked": (
        lambda lake: assert_warned(lake, "silver.orders", rule="unique.id"),
        ["unique.id did not warn", "FAIL rule unique.id"],
    ),
    "warned, but all passed": (
        lambda lake: assert_warned(lake, "bronze.orders"),
        ["no check of bronze.orders warned", "the last run promoted v2"],
    ),
    "quarantined, but none": (
        lambda lake: assert_quarantined(lake, "silver.orders"),
        ["silver.orders was expected to quarantine rows; quarantined: none", "was BLOCKED"],
    ),
    "quarantined, other rows": (
        lambda lake: assert_quarantined(lake, "silver.kept", rows=2),
        ["expected to quarantine 2 rows; quarantined: range.amount (1 row)"],
    ),
    "quarantined by another rule": (
        lambda lake: assert_quarantined(lake, "silver.kept", rule="unique.id"),
        ["silver.kept was expected to quarantine rows under unique.id; quarantined: range.amount"],
    ),
    "failed, but promoted": (
        lambda lake: assert_failed(lake, "bronze.orders"),
        ["bronze.orders did not fail"],
    ),
    "failed with another code": (
        lambda lake: assert_failed(lake, "silver.numbers", code="LG-5003"),
        ["did not fail with LG-5003", "LG-5004"],
    ),
    "published, another": (
        lambda lake: assert_published(lake, "silver.copies", 2),
        ["silver.copies was expected to show v2, but v1 is published"],
    ),
    "versions": (
        lambda lake: assert_versions(lake, "silver.copies", 1),
        ["expected to have 1 version, it has 2: v1 (2 rows), v2 (3 rows); v1 is published"],
    ),
    "rows": (
        lambda lake: assert_rows(lake, "silver.copies", [{"id": 1}, {"id": 1}, {"id": 3}]),
        [
            "silver.copies@v1 was expected to show 3 rows, it has 2",
            "  missing: {'id': 1}\n  missing: {'id': 3}\n  not expected: {'id': 2}",
        ],
    ),
    "no rows": (
        lambda lake: assert_rows(lake, "silver.copies", []),
        ["expected to show 0 rows, it has 2", "not expected: {'id': 1}"],
    ),
    "rows of no version": (
        lambda lake: assert_rows(lake, "silver.copies@v3", []),
        ["silver.copies has no version"],
    ),
    "lineage of another version": (
        lambda lake: assert_lineage(lake, "silver.copies", "bronze.orders@v2"),
        ["silver.copies v1 was not made of bronze.orders@v2; it was made of bronze.orders@v1"],
    ),
    "lineage of a stranger": (
        lambda lake: assert_lineage(lake, "silver.copies", "silver.orders"),
        ["was not made of silver.orders; it was made of bronze.orders@v1"],
    ),
    "lineage of nothing": (
        lambda lake: assert_lineage(lake, "gold.orders", "silver.orders"),
        ["nothing of gold.orders is published"],
    ),
}


@pytest.mark.parametrize(("claim", "expected"), FALSE.values(), ids=FALSE)
def test_what_is_not_so_fails_and_tells(walked: Lake, claim: Claim, expected: list[str]) -> None:
    with pytest.raises(AssertionError) as failed:
        claim(walked)
    for fragment in expected:
        assert fragment in str(failed.value)


def no_such(kind: str, name: str, near: str) -> str:
    return f"no such {kind} '{name}'; did you mean {near}?; there are: "


MISSPELT: dict[str, tuple[Claim, str]] = {
    "dataset": (
        lambda lake: assert_blocked(lake, "silver.ordres"),
        no_such("dataset", "silver.ordres", "silver.orders"),
    ),
    "layer": (
        lambda lake: assert_versions(lake, "silber.orders", 0),
        no_such("dataset", "silber.orders", "silver.orders"),
    ),
    "dataset without runs": (
        lambda lake: assert_published(lake, "silver.unbuild", None),
        no_such("dataset", "silver.unbuild", "silver.unbuilt"),
    ),
    "dataset of rows": (
        lambda lake: assert_rows(lake, "silver.copie", []),
        no_such("dataset", "silver.copie", "silver.copies"),
    ),
    "child": (
        lambda lake: assert_lineage(lake, "silver.copie", "bronze.orders"),
        no_such("dataset", "silver.copie", "silver.copies"),
    ),
    "parent": (
        lambda lake: assert_lineage(lake, "silver.copies", "bronze.order"),
        no_such("dataset", "bronze.order", "bronze.orders"),
    ),
    "layer of a parent": (
        lambda lake: assert_lineage(lake, "silver.copies", "bronse.orders"),
        no_such("dataset", "bronse.orders", "bronze.orders"),
    ),
    "rule": (
        lambda lake: assert_blocked(lake, "silver.orders", rule="unique.ids"),
        no_such("rule", "unique.ids", "unique.id") + "not_null.note, range.amount, unique.id",
    ),
    "rule of a promoted run": (
        lambda lake: assert_warned(lake, "silver.copies", rule="unique.id"),
        "no such rule 'unique.id'; there is none",
    ),
    "rule that quarantines": (
        lambda lake: assert_quarantined(lake, "silver.kept", rule="range.amuont", rows=0),
        no_such("rule", "range.amuont", "range.amount"),
    ),
    "policy": (
        lambda lake: assert_blocked(lake, "gold.orders", policy="one_row_in_gould"),
        no_such("policy", "one_row_in_gould", "one_row_in_gold"),
    ),
    "check": (
        lambda lake: assert_warned(lake, "silver.orders", check="descried"),
        no_such("check", "descried", "described"),
    ),
    "column": (
        lambda lake: assert_rows(lake, "silver.copies", [{"idd": 1}]),
        no_such("column", "idd", "id"),
    ),
}


@pytest.mark.parametrize(("claim", "expected"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_name_is_never_right(walked: Lake, claim: Claim, expected: str) -> None:
    with pytest.raises(AssertionError) as failed:
        claim(walked)
    assert expected in str(failed.value)


SENSELESS: dict[str, Claim] = {
    "two at once": lambda lake: assert_blocked(
        lake, "silver.orders", rule="unique.id", policy="described"
    ),
    "rows of no rule": lambda lake: assert_blocked(lake, "silver.orders", failed_rows=2),
    "lineage at a time": lambda lake: assert_lineage(
        lake, "silver.copies", "bronze.orders@2026-01-31T00:00Z"
    ),
    "rows with different columns": lambda lake: assert_rows(
        lake, "silver.orders", [{"id": 1}, {"amount": 2}]
    ),
}


@pytest.mark.parametrize("claim", SENSELESS.values(), ids=SENSELESS)
def test_what_cannot_be_meant_is_refused(walked: Lake, claim: Claim) -> None:
    with pytest.raises(WrongArgument):
        claim(walked)


def test_a_run_with_nothing_new_promotes_nothing(walked: Lake) -> None:
    assert walked.run("bronze.orders").status is RunStatus.SUCCESS
    with pytest.raises(AssertionError, match="the last run had nothing new, v2 is published"):
        assert_promoted(walked, "bronze.orders")


KEPT = """
source: orders
format: csv
path: exports/*.csv
---
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: long}
rules:
  - range(id, max=9) on_fail quarantine
"""


def test_quarantined_rows_are_sent_again(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.apply(KEPT)
    lake.write("exports/1.csv", [{"id": 9}, {"id": 10}])
    lake.run("bronze.orders")
    assert_quarantined(lake, "bronze.orders", rule="range.id", rows=1)
    assert lake.send_again("bronze.orders").version is None
    assert [item.rows for item in lake.client.reader.quarantine(DatasetName("bronze.orders"))] == [
        1
    ]
    assert_rows(lake, "bronze.orders", [{"id": 9}])

    lake.apply(KEPT.replace("max=9", "max=10"))
    lake.send_again("bronze.orders", rule="range.id")
    assert_quarantined(lake, "bronze.orders", rows=0)
    assert_rows(lake, "bronze.orders", [{"id": 9}, {"id": 10}])


def test_a_frame_is_published_and_read_without_spark(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    frame = lake.spark.createDataFrame(
        [(2, ["b"], {"k": 1}), (1, None, None)],
        "id long, tags array<string>, counts map<string, int>",
    )
    assert lake.publish("silver.tags", frame).version == 1
    assert lake.rows("silver.tags") == [
        {"id": 1, "tags": None, "counts": None},
        {"id": 2, "tags": ["b"], "counts": [("k", 1)]},
    ]
    assert_rows(
        lake,
        "silver.tags",
        [{"id": 2, "tags": ["b"]}, {"id": 1, "tags": None}],
    )
