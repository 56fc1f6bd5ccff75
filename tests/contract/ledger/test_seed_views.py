"""Every view tells exactly what the tables hold, in the same bytes on each kind of database."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import insert, select

from lakeguard.relay.rows import state_rows
from lakeguard.relay.tables import derived_tables
from lakeguard.state import schema as t
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.views.view_metadata import view_metadata
from lakeguard_sdk.core.canonical_json import canonical_json, content_hash
from lakeguard_sdk.core.frozen_model import FrozenModel
from tests.support.lakes.recorded_definitions import (
    AIRLINE,
    CURATED,
    DELAYS,
    FLIGHTS,
    NIGHTLY,
    ODD,
    ORG,
    RADAR,
    SWEEP,
    WEATHER,
    dataset_row,
    define,
    minute,
    revised,
)
from tests.support.lakes.recorded_runs import (
    LIVE,
    PRESENT,
    SAMPLE,
    run,
    wait,
)
from tests.support.lakes.recorded_tasks import EXECUTIONS, launch
from tools.docs.table_notes import NOTES

ODD_JSON = '"say \\"hi\\" \\\\ ünï\\n"'
SHOWN = canonical_json({"columns": SAMPLE.columns, "masked": SAMPLE.masked, "rows": SAMPLE.rows})
ODD_RULE = f"accepted_values(`x`, ['{ODD}'])"


def whole(revision: int, definition: FrozenModel) -> tuple[int, str, str]:
    return revision, f"hash {revision}", definition.to_json()


def stamped(revision: int) -> tuple[Any, ...]:
    return minute(revision), "somebody", f"apl_{revision}"


def registered(key: str, dataset: Any, revision: int) -> tuple[Any, ...]:
    row = dataset_row(key, dataset, revision)
    shown = ("dataset_name", "domain", "layer", "owner", "description", "active")
    return (
        key,
        *(row[name] for name in shown),
        minute(1),
        *whole(revision, dataset),
        row["location"],
        *stamped(revision),
    )


REGISTRY: dict[str, list[tuple[Any, ...]]] = {
    "dataset_registry": [
        registered("ds_1", FLIGHTS, 2),
        registered("ds_2", WEATHER, 1),
        registered("ds_3", DELAYS, 1),
    ],
    "quality_rules": [
        (f"bronze.flights.{rule_id}", "ds_1", "bronze", kind, text, severity, active, revision,
         position, column, rule_id, None)
        for rule_id, kind, text, severity, active, revision, position, column in [
            ("id_unique", "UNIQUE", "unique(id)", "FAIL", True, 1, 1, "id"),
            ("id_present", "NOT_NULL", "not_null(id)", "FAIL", True, 2, 0, "id"),
            ("day_mostly", "NOT_NULL", "not_null(day) fail_if > 5%", "FAIL", True, 1, 3, "day"),
            ("day_maybe", "NOT_NULL", "not_null(day)", "WARN", True, 1, 4, "day"),
            ("day_off", "NOT_NULL", "not_null(day)", "FAIL", False, 1, 5, "day"),
            ("odd_known", "ACCEPTED_VALUES", ODD_RULE, "WARN", True, 1, 6, ODD),
            ("enough", "ROW_COUNT", "row_count(min=1)", "FAIL", True, 1, 7, None),
        ]
    ],
    "policy_rules": [
        ("no_pii", "gold", "PII", "forbid tag:pii", "BLOCK", True, 2, None, None, None),
    ],
    "source_systems": [
        ("src_1", "airline", "csv", True, *whole(2, AIRLINE), None),
        ("src_2", "radar", "parquet", False, *whole(1, RADAR), "env:RADAR_TOKEN"),
    ],
    "promotion_current": [
        ("ds_1", "source", "bronze", False, minute(42), "because 4", 3, "BLOCKED",
         "run_4", "dec_4"),
        ("ds_2", "source", "bronze", False, minute(50), "source radar is disabled", 4,
         "REGISTERED", None, None),
        ("ds_3", "source", "silver", False, minute(22), "dataset silver.delays is disabled", 2,
         "PROMOTED", "run_2", "dec_2"),
    ],
}  # fmt: skip

CONTROL: dict[str, list[tuple[Any, ...]]] = {
    "md_jobs": [
        ("job_1", "nightly", "every night", "ops", "build", "ACTIVE", "bronze.flights",
         *whole(2, NIGHTLY)),
        ("job_2", "sweep", "every night", "ops", "build", "ACTIVE", None, *whole(1, SWEEP)),
        *(
            (key, name, f"Runs of {name} without a job", "ops", "build", status, name, 0, "", "{}")
            for key, name, status in (
                ("ds_1", "bronze.flights", "ACTIVE"),
                ("ds_2", "bronze.weather", "ACTIVE"),
                ("ds_3", "silver.delays", "INACTIVE"),
            )
        ),
    ],
    "md_jobs_det": [("job_1", "bucket", "raw"), ("job_1", "note", ODD)],
    "md_jobconfig": [
        ("job_1", "schedule", "0 2 * * *"),
        ("job_1", "trigger#By", "cron"),
    ],
    "md_job_execution": [
        ("run_1", "ds_1", minute(10), None, "STARTED", None, "ds_1", "tsk_1", 1, "bundle 1"),
        ("run_2", "job_1", minute(20), minute(25), "COMPLETED", None, "ds_1", "tsk_2", 1,
         "bundle 2"),
        ("run_3", "job_1", minute(30), minute(35), "FAILED", "LG-5004", "ds_1", "tsk_3", 1, None),
        ("run_4", "job_1", minute(40), minute(45), "FAILED", "BLOCKED", "ds_3", "tsk_4", 1,
         "bundle 4"),
        *EXECUTIONS,
    ],
    "md_datasets": [
        ("ds_1", "aviation", "bronze", "flights", "tgt_1", "ACTIVE", "bronze.flights"),
        ("ds_2", "aviation", "bronze", "weather", "tgt_1", "ACTIVE", "bronze.weather"),
        ("ds_3", "aviation", "silver", "delays", "lake_default", "INACTIVE", "silver.delays"),
    ],
    "md_src_ctrl": [("src_1", "airline", True), ("src_2", "radar", False)],
    "md_src_det": [
        ("src_1", "format", "csv"),
        ("src_1", "path", "in/2026/*.csv"),
        ("src_1", "delimiter", ";"),
        ("src_1", "header", "true"),
        ("src_1", "auth", "env:TOKEN"),
        ("src_1", "note", ODD),
        ("src_2", "format", "parquet"),
        ("src_2", "url", "https://radar.example/day.parquet?token={token}"),
        ("src_2", "token", "env:RADAR_TOKEN"),
    ],
    "md_tgt_ctrl": [
        ("tgt_1", "lake/curated", "folder", "raw", "ACTIVE", "curated", *whole(2, CURATED)),
        ("lake_default", ".", "folder", "lake", "ACTIVE", "the lake", 0, "", "{}"),
    ],
    "md_tgt_det": [
        ("tgt_1", "format", "delta"),
        ("tgt_1", "partition_by", f'["day",{ODD_JSON}]'),
        ("tgt_1", "owner", "platform"),
        ("tgt_1", "transform", "by hand"),
    ],
    "md_src_tgt_ctrl": [
        ("src_1", "tgt_1", "ingestion", ODD, True),
        ("src_2", "tgt_1", "backfill", "", False),
    ],
}  # fmt: skip

INGESTION: dict[str, list[tuple[Any, ...]]] = {
    "source_objects": [
        ("ds_1", "src_1", "flights", "bronze", "INCREMENTAL", "ROW_HASH", f'["id",{ODD_JSON}]',
         "day", "default", "FAIL", True, "ds_1", "bronze.flights", 2, True),
        ("ds_2", "src_2", "radar", "bronze", "FULL", "NONE", "[]", None,
         "strict", "WARN", True, "ds_2", "bronze.weather", 1, True),
    ],
    "source_object_columns": [
        ("ds_1", "id", 1, "long", False, '["not_null(id)","unique(id)"]', "FAIL", True,
         "declared", "id", "long"),
        ("ds_1", "day", 2, "date", True, '["not_null(day) fail_if > 5%","not_null(day)"]',
         "FAIL", True, "declared", "day", "date"),
        ("ds_1", ODD, 3, "decimal(10,2)", True,
         canonical_json([ODD_RULE]), "WARN", True, "drift", ODD, "decimal(10,2)"),
        ("ds_2", "hour", 1, "timestamp", True, "[]", "WARN", True, "declared", "hour", "timestamp"),
    ],
    "schema_compatibility_rules": [
        ("careful", False, True, False, False, False, "second", True, 2, None, False),
        ("own", False, True, False, False, False, "", True, 1, '{"WIDEN":"BLOCK"}',
         False),
    ],
    "dq_rule_catalog": [("known", "not_null({column})", "FAIL", "", True, 2, False)],
    "schema_history": [
        (f"run_{n}", source, content_hash(LIVE.to_data()), LIVE.to_json(), minute(10 * n + 1),
         dataset)
        for n, source, dataset in ((2, "ds_1", "ds_1"), (4, None, "ds_3"))
    ],
    "schema_change_log": [
        ("run_4", None, 1, "id", "NARROW", "long", "integer", "COMPATIBLE", "ACCEPT_CAST",
         minute(41), None, "ds_3"),
        ("run_4", None, 2, ODD, "ADD_NULLABLE", None, "string", "COMPATIBLE", "LEFT_OUT",
         minute(41), None, "ds_3"),
        ("run_4", None, 3, "day", "DROP_NULLABLE", "date", None, "INCOMPATIBLE", "BLOCK",
         minute(41), None, "ds_3"),
        ("run_4", None, 4, "hour", "RENAME", "date", "date", "INCOMPATIBLE", "BLOCK", minute(41),
         "hours", "ds_3"),
    ],
    "data_quality_results": [
        ("run_2", "ds_1", 2, "bronze.flights.enough", "row_count(min=1)", "PASS", None, None,
         "7 rows", minute(22), "dec_2", "7", "at least 1", "h", "sha256:2", "ROW_COUNT", "{}", None,
         "FAIL", None, "ds_1", "enough"),
        ("run_4", None, 2, "silver.delays.id_present", "not_null(id)", "FAIL", 2**60, 2**61, ODD,
         minute(42), "dec_4", None, None, "h", "sha256:1", "NOT_NULL",
         canonical_json(PRESENT.parameters), SHOWN, "FAIL", "id", "ds_3", "id_present"),
        ("run_4", None, 3, "silver.delays.enough", "row_count(min=1)", "PASS", None, None,
         "7 rows", minute(42), "dec_4", "7", "at least 1", "h", "sha256:2", "ROW_COUNT", "{}", None,
         "FAIL", None, "ds_3", "enough"),
    ],
    "run_audit": [
        ("run_2", "ds_1", minute(20), minute(25), "SUCCESS", 7, None, None, "manual", 1, "ds_1"),
        ("run_3", "ds_1", minute(30), minute(35), "FAILED", None, "LG-5004", ODD, "manual", None,
         "ds_1"),
        ("run_4", None, minute(40), minute(45), "BLOCKED", None, None, None, "manual", None,
         "ds_3"),
    ],
}  # fmt: skip

EXPECTED = {**REGISTRY, **CONTROL, **INGESTION}


@pytest.fixture
def defined_state(database: Database) -> Database:
    """Once on SQLite, once on PostgreSQL."""
    database.migrate()
    with OrganisationState.of(database, ORG).write() as tx:
        define(tx)
        run(tx)
        wait(tx)
        launch(tx)
    return database


def shown(database: Database, view: str) -> list[tuple[Any, ...]]:
    """The rows of a view, in which the organisation is left out."""
    columns = [column for column in view_metadata.tables[view].columns if column.name != "org_id"]
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def test_every_view_tells_the_truth(defined_state: Database) -> None:
    assert set(EXPECTED) == set(view_metadata.tables)
    for view, rows in EXPECTED.items():
        assert sorted(shown(defined_state, view), key=repr) == sorted(rows, key=repr), view


def test_keys_and_nulls_are_what_the_reference_says(defined_state: Database) -> None:
    for view in view_metadata.sorted_tables:
        note = NOTES[view.name]
        with defined_state.read() as connection:
            rows = [row._mapping for row in connection.execute(select(view))]
        keys = [tuple(row[name] for name in note.key) for row in rows]
        assert len(set(keys)) == len(keys) > 0, view.name
        null = {name for row in rows for name, value in row.items() if value is None}
        assert null == set(note.nullable), view.name


def test_a_rule_set_is_a_json_array_of_rule_texts(defined_state: Database) -> None:
    sets = {row[1]: json.loads(row[5]) for row in shown(defined_state, "source_object_columns")}
    assert sets["id"] == ["not_null(id)", "unique(id)"]
    assert sets[ODD] == [ODD_RULE]
    assert sets["hour"] == []


def test_what_the_ledger_is_given_is_as_plain_on_both(defined_state: Database) -> None:
    """Flags are flags and numbers are numbers, whatever the database makes of them."""
    for name, table in derived_tables().items():
        with OrganisationState.of(defined_state, ORG).read() as tx:
            rows = state_rows(tx, table, table.source.c.org_id == ORG)
        for row in rows:
            for column, value in zip(table.columns, row, strict=True):
                wanted = {"flag": bool, "number": int}.get(table.kind_of(column), str)
                assert value is None or type(value) is wanted, f"{name}.{column}"


def test_a_character_that_a_database_cannot_hold_hides_nothing(defined_state: Database) -> None:
    written = {"nul": "a\0\0b", "text": "\\u0000", "both": "\\\0", "control": "\x01"}
    source = AIRLINE.model_copy(update={"details": written})
    row = {"source_system_id": "src_1", "source_name": "airline", "source_type": "csv"}
    extra = {**row, "active": True, "org_id": ORG, **revised(3, source), "apply_id": "apl_2"}
    with defined_state.write() as connection:
        connection.execute(insert(t.source_systems_revisions), [extra])
    details = {
        name: value for key, name, value in shown(defined_state, "md_src_det") if key == "src_1"
    }
    assert {name: details[name] for name in written} == {
        "nul": "a\ufffd\ufffdb", "text": "\\u0000", "both": "\\\ufffd", "control": "\x01",
    }  # fmt: skip
    assert len(shown(defined_state, "source_objects")) == len(EXPECTED["source_objects"])


def test_every_row_names_its_organisation(defined_state: Database) -> None:
    with defined_state.read() as connection:
        for view in view_metadata.sorted_tables:
            assert set(connection.scalars(select(view.c.org_id))) == {ORG}, view.name
