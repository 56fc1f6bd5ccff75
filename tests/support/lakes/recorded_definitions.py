"""The definitions of a short story, row by row: two revisions of nearly everything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Table

from lakeguard.state import outbox
from lakeguard.state import schema as t
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import HashStrategy, LoadType, SourceFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromSource,
    FromSql,
    JobDefinition,
    SourceDefinition,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.schema_changes import ColumnOrigin

ORG = "default"
ODD = 'say "hi" \\ ünï\n'
"""A text that JSON cannot hold as it is."""

AIRLINE = SourceDefinition(
    source="airline",
    format=SourceFormat.CSV,
    path="in/2026/*.csv",
    options={"delimiter": ";", "header": "true"},
    details={"auth": "env:TOKEN", "note": ODD, "path": "elsewhere", "header": "false"},
)
RADAR = SourceDefinition(
    source="radar",
    format=SourceFormat.PARQUET,
    url="https://radar.example/day.parquet?token={token}",
    secrets={"token": "env:RADAR_TOKEN"},
    active=False,
)
CURATED = TargetDefinition(
    target="curated",
    location="lake/curated",
    zone="raw",
    partition_by=("day", ODD),
    sources=(
        SourceMapping(source="airline", description=ODD),
        SourceMapping(source="radar", relationship="backfill", active=False),
    ),
    details={"owner": "platform", "transform": "by hand"},
)
FLIGHTS = DatasetDefinition(
    dataset="bronze.flights",
    domain="aviation",
    owner="ops",
    build=FromSource(source="airline", object="flights"),
    load=Load(
        type=LoadType.INCREMENTAL, keys=("id", ODD), hash=HashStrategy.ROW_HASH, watermark="day"
    ),
    target="curated",
    columns=(
        ColumnDefinition(name="id", type="long"),
        ColumnDefinition(name="day", type="date"),
        ColumnDefinition(name=ODD, type="decimal(10,2)", origin=ColumnOrigin.DRIFT),
    ),
)
WEATHER = FLIGHTS.model_copy(
    update={
        "dataset": "bronze.weather",
        "build": FromSource(source="radar"),
        "load": Load(type=LoadType.FULL),
        "profile": "strict",
        "columns": (ColumnDefinition(name="hour", type="timestamp"),),
    }
)
DELAYS = FLIGHTS.model_copy(
    update={
        "dataset": "silver.delays",
        "build": FromSql(file="sql/d.sql", text="SELECT id FROM bronze.flights"),
        "load": Load(type=LoadType.FULL),
        "parents": ("bronze.flights",),
        "target": None,
        "active": False,
    }
)
NIGHTLY = JobDefinition(
    job="nightly",
    description="every night",
    owner="ops",
    dataset="bronze.flights",
    details={"bucket": "raw", "note": ODD},
    config={"schedule": "0 2 * * *", "trigger#By": "cron"},
)
SWEEP = JobDefinition(job="sweep")


def define(tx: Transaction) -> None:
    """Sources, a target, datasets with rules, a job, a policy, a profile and a rule by name."""
    _applies(tx)
    _sources_and_targets(tx)
    _datasets(tx)
    _rules(tx)
    _jobs(tx)
    _library(tx)


def minute(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)


def add(tx: Transaction, table: Table, *rows: dict[str, Any], at: int = 0) -> None:
    outbox.record(tx, table, [{"org_id": ORG, **row} for row in rows], minute(at))


def revised(revision: int, definition: FrozenModel | None = None) -> dict[str, Any]:
    whole = {}
    if definition is not None:
        whole = {"definition": definition.to_json(), "definition_hash": f"hash {revision}"}
    return {
        **whole,
        "revision": revision,
        "revised_at": minute(revision),
        "revised_by": "somebody",
        "apply_id": f"apl_{revision}",
    }


def _applies(tx: Transaction) -> None:
    same = {"registry_head": "h", "steps": 1, "plan_hash": "p", "applied_by": "somebody"}
    rows = [{**same, "apply_id": f"apl_{n}", "ordinal": n, "applied_at": minute(n)} for n in (1, 2)]
    add(tx, t.registry_applies, *rows)


def _sources_and_targets(tx: Transaction) -> None:
    older = AIRLINE.model_copy(update={"path": "in/*.csv", "options": {"quote": "'"}})
    airline = {"source_system_id": "src_1", "source_name": "airline", "source_type": "csv"}
    radar = {"source_system_id": "src_2", "source_name": "radar", "source_type": "parquet"}
    add(
        tx,
        t.source_systems_revisions,
        {**airline, "active": True, **revised(1, older)},
        {**airline, "active": True, **revised(2, AIRLINE)},
        {**radar, "active": False, **revised(1, RADAR)},
    )
    curated = {
        "target_id": "tgt_1",
        "location": "lake/curated",
        "target_type": "folder",
        "zone": "raw",
        "target_name": "curated",
    }
    bare = CURATED.model_copy(update={"sources": (), "details": {"gone": "x"}})
    add(
        tx,
        t.md_tgt_ctrl_revisions,
        {**curated, "status": "INACTIVE", **revised(1, bare)},
        {**curated, "status": "ACTIVE", **revised(2, CURATED)},
    )


def dataset_row(key: str, dataset: DatasetDefinition, revision: int) -> dict[str, Any]:
    layer = str(dataset.dataset).partition(".")[0]
    return {
        "dataset_id": key,
        "dataset_name": str(dataset.dataset),
        "domain": dataset.domain,
        "layer": layer,
        "owner": dataset.owner,
        "description": "",
        "active": dataset.active,
        "location": str(dataset.dataset).replace(".", "/"),
        **revised(revision, dataset),
    }


def _datasets(tx: Transaction) -> None:
    older = FLIGHTS.model_copy(update={"target": None, "owner": "nobody", "active": False})
    add(
        tx,
        t.dataset_registry_revisions,
        dataset_row("ds_1", older, 1),
        dataset_row("ds_1", FLIGHTS, 2),
        dataset_row("ds_2", WEATHER, 1),
        dataset_row("ds_3", DELAYS, 1),
    )


def rule_row(
    rule_id: str, expression: str, column: str | None, position: int, **changes: Any
) -> dict[str, Any]:
    stamp = revised(changes.pop("revision", 1))
    del stamp["revised_by"]
    return {
        "rule_id": rule_id,
        "dataset_id": "ds_1",
        "layer": "bronze",
        "rule_type": expression.partition("(")[0].upper(),
        "rule_expression": expression,
        "severity": "FAIL",
        "active": True,
        "removed": False,
        "position": position,
        "column_name": column,
        **stamp,
        **changes,
    }


def _rules(tx: Transaction) -> None:
    add(
        tx,
        t.quality_rules_revisions,
        rule_row("id_unique", "unique(id)", "id", 1),
        rule_row("id_present", "not_null(id) fail_if > 5%", "id", 0),
        rule_row("id_present", "not_null(id)", "id", 0, revision=2),
        rule_row("id_gone", "range(id, min=0)", "id", 2),
        rule_row("id_gone", "range(id, min=0)", "id", 2, revision=2, removed=True),
        rule_row("day_mostly", "not_null(day) fail_if > 5%", "day", 3),
        rule_row("day_maybe", "not_null(day)", "day", 4, severity="WARN"),
        rule_row("day_off", "not_null(day)", "day", 5, active=False),
        rule_row("odd_known", f"accepted_values(`x`, ['{ODD}'])", ODD, 6, severity="WARN"),
        rule_row("enough", "row_count(min=1)", None, 7),
    )


def _jobs(tx: Transaction) -> None:
    same = {
        "job_id": "job_1",
        "job_name": "nightly",
        "description": "every night",
        "owner": "ops",
        "job_type": "build",
        "status": "ACTIVE",
        "dataset_name": "bronze.flights",
    }
    older = NIGHTLY.model_copy(update={"config": {"schedule": "daily"}, "details": {}})
    add(
        tx,
        t.md_jobs_revisions,
        {**same, **revised(1, older)},
        {**same, **revised(2, NIGHTLY)},
        {**same, "job_id": "job_2", "job_name": "sweep", "dataset_name": None, **revised(1, SWEEP)},
    )


def _library(tx: Transaction) -> None:
    policy = {
        "policy_id": "no_pii",
        "applies_to_layer": "gold",
        "policy_type": "PII",
        "policy_expression": "forbid tag:pii",
        "enforcement": "ALERT",
        "active": True,
    }
    flags = dict.fromkeys(
        ("allow_column_drop", "allow_type_narrow", "allow_nullable_change", "auto_add_columns"),
        False,
    )
    profile = {"profile_name": "careful", "allow_type_widen": True, "active": True, **flags}
    rule = {"rule_name": "known", "severity": "FAIL", "description": "", "active": True}
    profile["built_in"] = rule["built_in"] = False
    add(
        tx,
        t.policy_rules_revisions,
        {**policy, **revised(1)},
        {**policy, **revised(2), "enforcement": "BLOCK"},
    )
    add(
        tx,
        t.schema_compatibility_rules_revisions,
        {**profile, **revised(1), "description": "first"},
        {**profile, **revised(2), "description": "second"},
    )
    own = {**profile, "profile_name": "own", "description": "", "reactions": '{"WIDEN":"BLOCK"}'}
    add(tx, t.schema_compatibility_rules_revisions, {**own, **revised(1)})
    add(
        tx,
        t.dq_rule_catalog_revisions,
        {**rule, **revised(1), "rule_expression": "unique({column})"},
        {**rule, **revised(2), "rule_expression": "not_null({column})"},
    )
