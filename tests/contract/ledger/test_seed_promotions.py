"""`promotion_current`, registration before a build, and the life of a dataset, by loaded rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.insight.reader.policy_alerts import broken_promises
from lakeguard.notifications.sla_sweep import sweep
from lakeguard_sdk import DatasetName
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.loaded_rows import (
    COLUMN,
    OBJECT,
    ROWS,
    SILVER,
    SYSTEM,
    judged,
    load,
    rows_project,
    shown,
)
from tests.support.projects.planes import NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state")

TARGET = """
INSERT INTO md_tgt_ctrl (target_id, target_name, location, zone, status)
    VALUES (2, 'Raw Zone', 'raw', 'RAW', 'ENABLED');
INSERT INTO md_src_tgt_ctrl (source_id, target_id, enabled) VALUES (1, 2, TRUE);
"""
IN_TARGET = OBJECT.replace("dq_enabled", "target_id, dq_enabled").replace(
    "'test', 1", "'test', 2, 1"
)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("md_src_ctrl (source_id, enabled) VALUES (1, 0)", "source number_feed is disabled"),
        ("md_tgt_ctrl (target_id, status) VALUES (2, 'DISABLED')", "target raw_zone is disabled"),
        ("md_src_tgt_ctrl (source_id, target_id, enabled) VALUES (1, 2, 0)",
         "the mapping from number_feed to raw_zone is disabled"),
        ("source_objects (source_object_id, source_system_id, active) VALUES (7, 1, 0)",
         "dataset bronze.numbers is disabled"),
    ],
)  # fmt: skip
def test_promotion_says_no_while_something_is_disabled(
    tmp_path: Path, row: str, reason: str
) -> None:
    client = rows_project(tmp_path, SYSTEM + TARGET + IN_TARGET + COLUMN)
    judged(client)
    columns = ("allowed", "reason", "state")
    before = shown(tmp_path, "promotion_current", *columns)
    assert before == [(True, "all checks passed", "PROMOTED")]
    load(client, tmp_path, f"INSERT INTO {row};")
    assert shown(tmp_path, "promotion_current", *columns) == [(False, reason, "PROMOTED")]
    load(client, tmp_path, SYSTEM + TARGET + IN_TARGET.replace("dq_enabled", "active, dq_enabled")
         .replace("'test', 2, 1", "'test', 2, 1, 1")
         + "INSERT INTO md_src_ctrl (source_id, enabled) VALUES (1, 1);")  # fmt: skip
    assert shown(tmp_path, "promotion_current", *columns) == before


def test_promotion_says_no_while_an_sla_is_late(tmp_path: Path, turned_clock: Clock) -> None:
    policy = (
        "INSERT INTO policy_rules (policy_id, policy_type, policy_expression, enforcement)"
        " VALUES ('daily', 'SLA', 'freshness <= 24h', 'ALERT');"
    )
    client = rows_project(tmp_path, ROWS + policy)
    judged(client)
    turned_clock.pass_time(86_401)
    sweep(client.operations.context, turned_clock(), broken_promises)
    ((allowed, reason),) = shown(tmp_path, "promotion_current", "allowed", "reason")
    assert not allowed
    assert reason.startswith("late: ")
    client.ledger.sync()
    lake = DeltaTable(tmp_path / "_lakeguard" / "default" / "promotion_current").to_pyarrow_table()
    assert lake.select(["allowed", "reason"]).to_pylist() == [{"allowed": False, "reason": reason}]
    judged(client)
    assert shown(tmp_path, "promotion_current", "allowed") == [(True,)]


EIGHT = """
INSERT INTO dataset_registry (dataset_id, dataset_name, domain, layer, owner, description, active,
    created_at) VALUES ('D-9', 'revenue', 'sales', '{}', 'finance', 'By day.', TRUE, '2026-01-01');
"""


@pytest.mark.parametrize("layer", ["bronze", "silver", "gold"])
def test_a_row_of_the_seeds_eight_columns_waits_for_its_build(tmp_path: Path, layer: str) -> None:
    client = rows_project(tmp_path, EIGHT.format(layer))
    name = DatasetName(f"{layer}.revenue")
    row = ("dataset_name", "domain", "layer", "owner", "description", "active")
    assert shown(tmp_path, "dataset_registry", *row) == [
        (name, "sales", layer, "finance", "By day.", True)
    ]
    result = client.runs.open_run(client.operations.submit(name, "ada"), this_process("test"))
    assert isinstance(result, RunResult)
    assert result.decision is not None
    told = f"build: {name} is pending: define its source or its build, then apply"
    assert told in result.decision.ruling.reasons
    assert load(client, tmp_path, EIGHT.format(layer)).steps == 0


def test_a_pending_dataset_gets_its_build_later(tmp_path: Path) -> None:
    client = rows_project(tmp_path, ROWS + EIGHT.format("silver"))
    build = SILVER.replace("8", "'D-9'").replace("'numbers', 'test'", "'revenue', 'sales'")
    assert load(client, tmp_path, build).steps == 1
    judged(client)
    assert judged(client, name=DatasetName("silver.revenue")).allowed


STATUS = "INSERT INTO md_datasets (dataset_id, status) VALUES ('bronze.numbers', '{}');"


@pytest.mark.parametrize(
    ("status", "active", "told"),
    [
        ("DRAFT", False, "is a draft (status: draft)"),
        ("RETIRED", False, "is retired (status: retired)"),
        ("INACTIVE", False, "is disabled (active: false)"),
    ],
)
def test_a_dataset_runs_only_in_its_active_life(
    tmp_path: Path, status: str, active: bool, told: str
) -> None:
    client = rows_project(tmp_path)
    load(client, tmp_path, STATUS.format(status))
    assert shown(tmp_path, "md_datasets", "status") == [(status,)]
    assert shown(tmp_path, "dataset_registry", "active") == [(active,)]
    task = client.operations.submit(NUMBERS, "ada")
    result = client.runs.open_run(task, this_process("test"))
    assert isinstance(result, RunResult)
    assert result.decision is not None
    assert f"dataset: dataset bronze.numbers {told}" in result.decision.ruling.reasons
    load(client, tmp_path, STATUS.format("ACTIVE"))
    assert judged(client).allowed


def test_who_builds_on_a_deprecated_dataset_is_warned(tmp_path: Path) -> None:
    client = rows_project(tmp_path, ROWS + SILVER)
    load(client, tmp_path, STATUS.format("DEPRECATED"))
    assert ("bronze.numbers", "DEPRECATED") in shown(
        tmp_path, "md_datasets", "dataset_name", "status"
    )
    assert judged(client).allowed
    decision = judged(client, name=DatasetName("silver.numbers"))
    assert decision.allowed
    told = "parent bronze.numbers is deprecated; ask tests"
    assert told in [check.message for check in decision.ruling.checks]
    ((reason,),) = [
        row[1:]
        for row in shown(tmp_path, "promotion_current", "to_layer", "reason")
        if row[0] == "silver"
    ]
    assert reason.startswith(f"warning: parent:bronze.numbers: {told}")
