"""Views with the control tables of jobs, sources and targets (`md_*`)."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Boolean, Column, Integer, Table

from lakeguard.state.json_sql import JsonSql
from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    Word,
)
from lakeguard.state.views.view_metadata import current, view_metadata

md_jobs = Table(
    "md_jobs",
    view_metadata,
    Column("job_id", Id),
    Column("job_name", Name),
    Column("description", Long),
    Column("owner", Name),
    Column("job_type", Name),
    Column("status", Word),
    Column("dataset_name", Name),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("definition_hash", Hash),
    Column("definition", Long),
)

md_jobs_det = Table(
    "md_jobs_det",
    view_metadata,
    Column("job_id", Id),
    Column("detail_name", Name),
    Column("detail_value", Long),
    Column("org_id", Id),
)

md_jobconfig = Table(
    "md_jobconfig",
    view_metadata,
    Column("job_id", Id),
    Column("config_name", Name),
    Column("config_value", Long),
    Column("org_id", Id),
)

md_job_execution = Table(
    "md_job_execution",
    view_metadata,
    Column("execution_id", Id),
    Column("job_id", Id),
    Column("start_time", UtcTime),
    Column("end_time", UtcTime),
    Column("status", Word),
    Column("error_code", Word),
    Column("org_id", Id),
    Column("dataset_id", Id),
    Column("task_id", Id),
    Column("attempt", Integer),
    Column("config_hash", Hash),
)

md_datasets = Table(
    "md_datasets",
    view_metadata,
    Column("dataset_id", Id),
    Column("database", Name),
    Column("schema", Word),
    Column("table_name", Name),
    Column("target_id", Id),
    Column("status", Word),
    Column("org_id", Id),
    Column("dataset_name", Name),
)

md_src_ctrl = Table(
    "md_src_ctrl",
    view_metadata,
    Column("source_id", Id),
    Column("source_name", Name),
    Column("enabled", Boolean),
    Column("org_id", Id),
)

md_src_det = Table(
    "md_src_det",
    view_metadata,
    Column("source_id", Id),
    Column("detail_name", Name),
    Column("detail_value", Long),
    Column("org_id", Id),
)

md_tgt_ctrl = Table(
    "md_tgt_ctrl",
    view_metadata,
    Column("target_id", Id),
    Column("location", Name),
    Column("target_type", Word),
    Column("zone", Name),
    Column("status", Word),
    Column("target_name", Name),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("definition_hash", Hash),
    Column("definition", Long),
)

md_tgt_det = Table(
    "md_tgt_det",
    view_metadata,
    Column("target_id", Id),
    Column("detail_name", Name),
    Column("detail_value", Long),
    Column("org_id", Id),
)

md_src_tgt_ctrl = Table(
    "md_src_tgt_ctrl",
    view_metadata,
    Column("source_id", Id),
    Column("target_id", Id),
    Column("relationship_type", Name),
    Column("description", Long),
    Column("enabled", Boolean),
    Column("org_id", Id),
)

_JOB = "coalesce(t.job_id, t.dataset_id) AS job_id"
"""A task without a job belongs to the dataset's own, which has the dataset's id."""
_DATASET = "nullif(t.dataset_id, t.job_id) AS dataset_id"
"""The dataset of a task, or its job if it builds none."""
_ENDED = "coalesce(h.status, r.status)"
_STATUS = (
    f"CASE WHEN {_ENDED} IS NULL THEN 'STARTED' WHEN {_ENDED} = 'SUCCESS' THEN 'COMPLETED'"
    " ELSE 'FAILED' END"
)
_CODE = (
    "CASE WHEN h.status = 'BLOCKED' THEN coalesce(h.error_code, 'BLOCKED')"
    " ELSE coalesce(h.error_code, r.error_code) END"
)


_SWITCHED_OFF = (
    "EXISTS (SELECT 1 FROM job_switches s WHERE s.org_id = r.org_id AND s.job_id = r.job_id"
    " AND NOT s.enabled AND NOT EXISTS (SELECT 1 FROM job_switches l WHERE l.org_id = s.org_id"
    " AND l.job_id = s.job_id AND l.number > s.number))"
)
_JOB_STATUS = (
    f"CASE WHEN r.status = 'ACTIVE' AND {_SWITCHED_OFF} THEN 'DISABLED' ELSE r.status END AS status"
)
"""The last switch by an operator, if the definition enables the job."""


def _named_values(
    source: str, key: tuple[str, str], view: Table, json: JsonSql, **parts: tuple[str, ...]
) -> str:
    """Rows (id, name, value): ``fields`` of a definition, and the members of its ``objects``.

    Names are unique: the first in these lists wins.
    """
    column, alias = key
    _, name, value, _ = (each.name for each in view.columns)
    is_stated = {
        field: f"coalesce({json.text('r.definition', field)}, '') NOT IN ('', '[]')"
        for field in parts.get("fields", ())
    }
    selects = [
        f"SELECT r.{column} AS {alias}, '{field}' AS {name},"
        f" {json.text('r.definition', field)} AS {value}, r.org_id FROM {source} r"
        f" WHERE {condition}"
        for field, condition in is_stated.items()
    ]
    taken = [f"NOT (d.key = '{field}' AND {condition})" for field, condition in is_stated.items()]
    for member in parts["objects"]:
        free = f" WHERE {' AND '.join(taken)}" if taken else ""
        selects.append(
            f"SELECT r.{column} AS {alias}, d.key AS {name}, d.value AS {value}, r.org_id"
            f" FROM {source} r, {json.members('r.definition', member, 'd')}{free}"
        )
        members = json.members("r.definition", member, "e")
        taken.append(f"NOT EXISTS (SELECT 1 FROM {members} WHERE e.key = d.key)")
    return " UNION ALL ".join(selects)


_REFUSED = "x.to_state IN ('blocked', 'canceled')"
_BEFORE = (
    "EXISTS (SELECT 1 FROM task_transitions e WHERE e.task_id = x.task_id"
    " AND e.number < x.number AND e.to_state IN ('blocked', 'canceled'))"
)


def _executions(json: JsonSql) -> str:
    """Attempts, and ends of tasks that never started: under the task's id if that was its first
    transition, else with the transition's number."""
    del json
    refused = (
        f"x.at, 'FAILED', coalesce(x.code, upper(x.to_state)), t.org_id, {_DATASET}, t.task_id,"
        " 0, NULL FROM task_transitions x JOIN tasks t ON t.task_id = x.task_id"
    )
    return (
        f"SELECT a.run_id AS execution_id, {_JOB}, a.started_at AS start_time,"
        f" coalesce(h.end_time, r.ended_at) AS end_time, {_STATUS} AS status,"
        f" {_CODE} AS error_code, a.org_id, {_DATASET}, a.task_id, a.attempt,"
        " coalesce(o.bundle_hash, a.config_hash) AS config_hash"
        " FROM task_attempts a JOIN tasks t ON t.task_id = a.task_id"
        " LEFT JOIN run_history h ON h.run_id = a.run_id"
        " LEFT JOIN task_results r ON r.run_id = a.run_id"
        " LEFT JOIN run_openings o ON o.run_id = a.run_id"
        f" UNION ALL SELECT t.task_id, {_JOB}, t.created_at, {refused}"
        f" WHERE x.attempt = 0 AND {_REFUSED} AND NOT {_BEFORE}"
        f" UNION ALL SELECT x.task_id || '.' || x.number, {_JOB}, q.at, {refused}"
        " JOIN task_transitions q ON q.task_id = x.task_id AND q.number = x.number - 1"
        f" WHERE x.from_state = 'queued' AND {_REFUSED} AND (x.attempt > 0 OR {_BEFORE})"
    )


def _jobs(json: JsonSql) -> str:
    """Defined jobs, and for each dataset a job of its own, to which runs without a job belong."""
    del json
    return (
        f"{current(md_jobs, ('job_id',), but={'status': _JOB_STATUS})} UNION ALL"
        " SELECT d.dataset_id, d.dataset_name, 'Runs of ' || d.dataset_name || ' without a job',"
        " d.owner, 'build', CASE WHEN d.active THEN 'ACTIVE' ELSE 'INACTIVE' END, d.dataset_name,"
        " d.org_id, 0, '', '{}' FROM dataset_registry d"
    )


def _targets(json: JsonSql) -> str:
    """Defined targets, and the lake itself, where tables without a target lie."""
    del json
    return (
        f"{current(md_tgt_ctrl, ('target_id',))} UNION ALL"
        f" SELECT {_LAKE.format('a')}, '.', 'folder', 'lake', 'ACTIVE', 'the lake', a.org_id, 0,"
        " '', '{}' FROM registry_applies a WHERE a.ordinal = 1"
    )


_LAKE = "'lake_' || {}.org_id"


def _datasets(json: JsonSql) -> str:
    return (
        "SELECT r.dataset_id, r.domain AS database, r.layer AS schema,"
        " substr(r.dataset_name, length(r.layer) + 2) AS table_name,"
        f" coalesce(t.target_id, {_LAKE.format('r')}) AS target_id,"
        f" CASE WHEN {json.text('r.definition', 'active')} IN ('false', '0') THEN 'INACTIVE'"
        f" ELSE upper(coalesce({json.text('r.definition', 'status')}, 'active')) END AS status,"
        " r.org_id, r.dataset_name"
        " FROM dataset_registry r LEFT JOIN md_tgt_ctrl t ON t.org_id = r.org_id"
        f" AND t.target_name = {json.text('r.definition', 'target')}"
    )


def _mappings(json: JsonSql) -> str:
    return (
        "SELECT s.source_system_id AS source_id, r.target_id,"
        f" {json.item_text('m', 'relationship')} AS relationship_type,"
        f" {json.item_text('m', 'description')} AS description,"
        f" {json.item_flag('m', 'active')} AS enabled, r.org_id"
        f" FROM md_tgt_ctrl r, {json.items('r.definition', 'sources', 'm')}, source_systems s"
        f" WHERE s.org_id = r.org_id AND s.source_name = {json.item_text('m', 'source')}"
    )


CONTROL_VIEWS: dict[str, Callable[[JsonSql], str]] = {
    "md_jobs": _jobs,
    "md_jobs_det": lambda json: _named_values(
        "md_jobs", ("job_id", "job_id"), md_jobs_det, json, objects=("details",)
    ),
    "md_jobconfig": lambda json: _named_values(
        "md_jobs", ("job_id", "job_id"), md_jobconfig, json, objects=("config",)
    ),
    "md_job_execution": _executions,
    "md_tgt_ctrl": _targets,
    "md_tgt_det": lambda json: _named_values(
        "md_tgt_ctrl",
        ("target_id", "target_id"),
        md_tgt_det,
        json,
        fields=("format", "url", "partition_by", "transform"),
        objects=("details",),
    ),
    "md_datasets": _datasets,
    "md_src_ctrl": lambda _: (
        "SELECT source_system_id AS source_id, source_name, active AS enabled, org_id"
        " FROM source_systems"
    ),
    "md_src_det": lambda json: _named_values(
        "source_systems",
        ("source_system_id", "source_id"),
        md_src_det,
        json,
        fields=("format", "path", "url"),
        objects=("options", "details", "secrets"),
    ),
    "md_src_tgt_ctrl": _mappings,
}
"""View names and their SELECTs, in dependency order."""
