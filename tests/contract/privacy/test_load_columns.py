"""Columns that a load writes carry the tags of what they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import Deletes, HashStrategy, Layer, LoadType, Outcome, PolicyType
from lakeguard_sdk.expressions.measures import Aggregate
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, FromPython
from lakeguard_sdk.model.evidence import Changes, InputVersion
from lakeguard_sdk.model.lineage import BatchColumn, BatchLineage, SourceColumn
from lakeguard_sdk.model.load import Load
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    TOTALS,
    built,
    decided,
    numbers,
    opened,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

IN_SILVER, IN_GOLD = {"applies_to_layer": Layer.SILVER}, {"applies_to_layer": Layer.GOLD}
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", **IN_SILVER)
UNLESS_MASKED = promise(PolicyType.PII, "forbid tag:pii unless masked by [sha2]", **IN_SILVER)
UNLESS_MD5 = promise(PolicyType.PII, "forbid tag:pii unless masked by [md5]", **IN_SILVER)
INSERTED = {"changes": Changes(inserted=1)}
N = ColumnDefinition(name="n", type="long")
BORN = ColumnDefinition(name="born", type="timestamp", tags=("pii",))
SEEN = ColumnDefinition(name="seen", type="timestamp")
HISTORY = Load(type=LoadType.SCD2, keys=("n",), effective="born")
FULL = Load(type=LoadType.FULL)
BY_TASK = Load(type=LoadType.SCD2, keys=("n",))
ROW_HASH = Load(type=LoadType.INCREMENTAL, keys=("n",), hash=HashStrategy.ROW_HASH)
KEY_HASH = Load(type=LoadType.INCREMENTAL, keys=("n",), hash=HashStrategy.KEY_HASH)
SOFT = Load(type=LoadType.SNAPSHOT, keys=("n",), deletes=Deletes.SOFT)


def people(load: Load, *columns: ColumnDefinition, **more: Any) -> DatasetDefinition:
    return numbers(columns=columns or (N, BORN, SEEN), load=load, **more)


def reading(
    column: str, parent: DatasetName = NUMBERS, name: DatasetName = DOUBLED
) -> DatasetDefinition:
    made = built(f"SELECT {column} AS z FROM {parent}", parent, name)
    return made.model_copy(update={"columns": (ColumnDefinition(name="z", type="string"),)})


def check_of(
    folder: Path, column: str, people: DatasetDefinition, policy: Any = FORBIDDEN
) -> CheckResult:
    """What the policy comes to for a SELECT of the column."""
    client = world(folder, people, reading(column), policies=(policy,))
    run_by_hand(client, [1], **INSERTED)
    return decided(client, DOUBLED)[1]


@pytest.mark.parametrize("column", ["valid_from", "valid_to"])
def test_a_validity_carries_the_tags_of_the_effective_column(tmp_path: Path, column: str) -> None:
    check = check_of(tmp_path, column, people(HISTORY))
    assert check.outcome is Outcome.FAIL
    assert check.message == "column z derives from bronze.numbers.born, tagged pii"


@pytest.mark.parametrize(
    ("load", "column"),
    [
        (BY_TASK, "valid_from"),
        (HISTORY, "is_current"),
        (HISTORY, "n"),
        (KEY_HASH, "key_hash"),
        (SOFT, "is_deleted"),
        (SOFT, "deleted_at"),
    ],
)
def test_what_is_not_made_of_a_tagged_column_is_not_tagged(
    tmp_path: Path, load: Load, column: str
) -> None:
    assert check_of(tmp_path, column, people(load)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [(FORBIDDEN, Outcome.FAIL), (UNLESS_MD5, Outcome.FAIL), (UNLESS_MASKED, Outcome.PASS)],
)
@pytest.mark.parametrize("column", ["row_hash", "key_hash"])
def test_a_hash_is_masked_by_sha2(
    tmp_path: Path, column: str, policy: Any, outcome: Outcome
) -> None:
    tagged = ColumnDefinition(name="n", type="long", tags=("pii",))
    load, columns = (ROW_HASH, (N, BORN)) if column == "row_hash" else (KEY_HASH, (tagged, SEEN))
    assert check_of(tmp_path, column, people(load, *columns), policy).outcome is outcome


def test_a_tag_that_the_effective_column_inherits_comes_along(tmp_path: Path) -> None:
    born = ColumnDefinition(name="born", type="timestamp")
    text = "SELECT n, born FROM bronze.numbers"
    silver = built(text).model_copy(update={"columns": (N, born), "load": HISTORY})
    policy = FORBIDDEN.model_copy(update=IN_GOLD)
    datasets = (people(FULL), silver, reading("valid_from", DOUBLED, TOTALS))
    client = world(tmp_path, *datasets, policies=(policy,))
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"), **INSERTED)
    check = decided(client, TOTALS)[1]
    assert check.message == "column z derives from bronze.numbers.born, tagged pii"


def test_rows_of_another_effective_column_stay_tagged(tmp_path: Path) -> None:
    client = world(tmp_path, people(HISTORY), reading("valid_from"), policies=(FORBIDDEN,))
    run_by_hand(client, [1], **INSERTED)
    later = HISTORY.model_copy(update={"effective": "seen"})
    revise(client, people(later))
    run_by_hand(client, [2], **INSERTED)
    assert decided(client, DOUBLED)[1].outcome is Outcome.FAIL
    assert {"valid_from", "valid_to"} <= set(opened(client).redacted_statistics)


def version(client: Client, name: DatasetName) -> InputVersion:
    dataset_id = client.reader.dataset(name).dataset_id
    return InputVersion(dataset=name, dataset_id=dataset_id, version=1)


def reported(client: Client, parent: DatasetName, **columns: str) -> BatchLineage:
    """A lineage in which each column is one of the parent's."""
    pin = version(client, parent)
    found = tuple(
        BatchColumn(
            column=name,
            sources=(SourceColumn(dataset_id=pin.dataset_id, version=1, column=column),),
        )
        for name, column in columns.items()
    )
    return BatchLineage(columns=found, inputs=(pin,), read=(pin,))


@pytest.mark.parametrize(
    ("policy", "load", "column", "outcome"),
    [
        (FORBIDDEN, HISTORY, "valid_from", Outcome.FAIL),
        (FORBIDDEN, ROW_HASH, "row_hash", Outcome.FAIL),
        (UNLESS_MASKED, ROW_HASH, "row_hash", Outcome.PASS),
        (FORBIDDEN, HISTORY, "is_current", Outcome.PASS),
    ],
)
def test_a_lineage_that_runs_report_is_followed_through_the_load(
    tmp_path: Path, policy: Any, load: Load, column: str, outcome: Outcome
) -> None:
    python = FromPython(file="build.py", function="build", sha256="0" * 64)
    born = ColumnDefinition(name="born", type="timestamp")
    silver = numbers(
        dataset=DOUBLED, parents=(NUMBERS,), build=python, columns=(N, born), load=load
    )
    last = reading(column, DOUBLED, TOTALS).model_copy(update={"build": python})
    policy = policy.model_copy(update=IN_GOLD)
    client = world(tmp_path, people(FULL), silver, last, policies=(policy,))
    run_by_hand(client, [1])
    plan, lake = opened(client, DOUBLED), DeltaLake()
    lineage = reported(client, NUMBERS, n="n", born="born")
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared, lineage))
    evidence = evidence_of(lake, plan, [1]).model_copy(update=INSERTED)
    assert client.runs.submit_evidence(plan.ticket, evidence).allowed
    client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))
    plan = opened(client, TOTALS)
    lineage = reported(client, DOUBLED, z=column)
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared, lineage))
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [1]))
    assert decision.allowed is (outcome is Outcome.PASS)


# Samples, statistics and measures


@pytest.mark.parametrize("policies", [(), (FORBIDDEN,)])
def test_values_of_columns_made_of_tagged_ones_are_hidden(tmp_path: Path, policies: Any) -> None:
    client = world(tmp_path, people(HISTORY), policies=policies)
    plan = opened(client)
    hidden = {"born", "valid_from", "valid_to"}
    assert set(plan.masked) == set(plan.redacted_statistics) == hidden
    assert hidden <= set(plan.private)
    revise(client, people(ROW_HASH))
    assert set(opened(client).redacted_statistics) == {"born", "row_hash"}


def test_a_column_that_is_private_by_its_name_hides_its_validity(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid columns [born]", **IN_SILVER)
    untagged = ColumnDefinition(name="born", type="timestamp")
    client = world(tmp_path, people(HISTORY, N, untagged), policies=(policy,))
    assert set(opened(client).redacted_statistics) == {"born", "valid_from", "valid_to"}


@pytest.mark.parametrize(("load", "measured"), [(HISTORY, False), (BY_TASK, True)])
def test_a_rule_asks_for_extremes_of_a_validity_of_no_tagged_column(
    tmp_path: Path, load: Load, measured: bool
) -> None:
    rule = parse_rule("range(valid_from, max='2030-01-01T00:00:00Z')")
    rules = (define_rule(rule, rule_id=None, severity=None),)
    client = world(tmp_path, people(load, rules=rules))
    assert (Aggregate in map(type, opened(client).measures)) is measured
