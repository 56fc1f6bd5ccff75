"""Views with the tables of the ingestion framework, over definitions, runs and decisions."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import BigInteger, Boolean, Column, Integer, Table

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

source_objects = Table(
    "source_objects",
    view_metadata,
    Column("source_object_id", Id),
    Column("source_system_id", Id),
    Column("object_name", Name),
    Column("layer", Word),
    Column("load_type", Word),
    Column("hash_strategy", Word),
    Column("business_keys", Long),
    Column("watermark_column", Name),
    Column("schema_compat_profile", Name),
    Column("dq_fail_behavior", Word),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("dataset_id", Id),
    Column("dataset_name", Name),
    Column("revision", Integer),
    Column("dq_enabled", Boolean),
)

source_object_columns = Table(
    "source_object_columns",
    view_metadata,
    Column("source_object_id", Id),
    Column("column_name", Name),
    Column("ordinal_position", Integer),
    Column("data_type", Name),
    Column("is_nullable", Boolean),
    Column("dq_rule_set", Long),
    Column("dq_severity", Word),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("origin", Word),
    Column("source_name", Name),
    Column("source_type", Name),
)

schema_compatibility_rules = Table(
    "schema_compatibility_rules",
    view_metadata,
    Column("profile_name", Name),
    Column("allow_column_drop", Boolean),
    Column("allow_type_widen", Boolean),
    Column("allow_type_narrow", Boolean),
    Column("allow_nullable_change", Boolean),
    Column("auto_add_columns", Boolean),
    Column("description", Long),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("reactions", Long),
    Column("built_in", Boolean),
)

dq_rule_catalog = Table(
    "dq_rule_catalog",
    view_metadata,
    Column("rule_name", Name),
    Column("rule_expression", Long),
    Column("severity", Word),
    Column("description", Long),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("built_in", Boolean),
)

schema_history = Table(
    "schema_history",
    view_metadata,
    Column("run_id", Id),
    Column("source_object_id", Id),
    Column("schema_hash", Hash),
    Column("schema_json", Long),
    Column("captured_at", UtcTime),
    Column("org_id", Id),
    Column("dataset_id", Id),
)

schema_change_log = Table(
    "schema_change_log",
    view_metadata,
    Column("run_id", Id),
    Column("source_object_id", Id),
    Column("change_ordinal", Integer),
    Column("column_name", Name),
    Column("change_type", Word),
    Column("declared_type", Name),
    Column("found_type", Name),
    Column("compatibility", Word),
    Column("action_taken", Word),
    Column("detected_at", UtcTime),
    Column("org_id", Id),
    Column("found_name", Name),
    Column("dataset_id", Id),
)

data_quality_results = Table(
    "data_quality_results",
    view_metadata,
    Column("run_id", Id),
    Column("source_object_id", Id),
    Column("check_ordinal", Integer),
    Column("rule_id", Name),
    Column("rule_expression", Long),
    Column("result", Word),
    Column("failed_rows", BigInteger),
    Column("scope_rows", BigInteger),
    Column("message", Long),
    Column("evaluated_at", UtcTime),
    Column("decision_id", Id),
    Column("org_id", Id),
    Column("observed_value", Long),
    Column("allowed", Long),
    Column("ruleset_hash", Hash),
    Column("rule_fingerprint", Hash),
    Column("rule_type", Word),
    Column("parameters", Long),
    Column("samples", Long),
    Column("severity", Word),
    Column("column_name", Name),
    Column("dataset_id", Id),
    Column("check_id", Name),
)

run_audit = Table(
    "run_audit",
    view_metadata,
    Column("run_id", Id),
    Column("source_object_id", Id),
    Column("start_time", UtcTime),
    Column("end_time", UtcTime),
    Column("status", Word),
    Column("rows_written", BigInteger),
    Column("error_code", Word),
    Column("error_message", Long),
    Column("triggered_by", Name),
    Column("version", BigInteger),
    Column("org_id", Id),
    Column("dataset_id", Id),
)

_RULES_OF_COLUMN = (
    "quality_rules q WHERE q.dataset_id = r.dataset_id AND q.active AND q.column_name = "
)
_REFUSES_EVERY_NULL = (
    "q.rule_type = 'NOT_NULL' AND q.severity = 'FAIL'"
    " AND replace(q.rule_expression, ') ', '') = q.rule_expression"
)
"""A rule that only warns, or has further clauses, still allows nulls."""


def _objects(json: JsonSql) -> str:
    definition = "r.definition"
    fails = (
        "EXISTS (SELECT 1 FROM quality_rules q WHERE q.dataset_id = r.dataset_id"
        " AND q.active AND q.severity = 'FAIL')"
    )
    return (
        "SELECT r.dataset_id AS source_object_id, s.source_system_id,"
        f" coalesce(nullif({json.text(definition, 'build', 'object')}, ''),"
        f" {json.text(definition, 'build', 'source')}) AS object_name, r.layer,"
        f" {json.text(definition, 'load', 'type')} AS load_type,"
        f" {json.text(definition, 'load', 'hash')} AS hash_strategy,"
        f" {json.text(definition, 'load', 'keys')} AS business_keys,"
        f" nullif({json.text(definition, 'load', 'watermark')}, '') AS watermark_column,"
        f" {json.text(definition, 'profile')} AS schema_compat_profile,"
        f" coalesce({json.text(definition, 'build', 'dq_fail_behavior')},"
        f" CASE WHEN {fails} THEN 'FAIL' ELSE 'WARN' END) AS dq_fail_behavior,"
        " r.active, r.org_id, r.dataset_id, r.dataset_name, r.revision,"
        f" {json.text(definition, 'build', 'dq_enabled')} IS NULL AS dq_enabled"
        " FROM dataset_registry r JOIN source_systems s ON s.org_id = r.org_id"
        f" AND s.source_name = {json.text(definition, 'build', 'source')}"
    )


def _object_columns(json: JsonSql) -> str:
    name = json.item_text("c", "name")
    rules = f"{_RULES_OF_COLUMN}{name}"
    required = f"{rules} AND {_REFUSES_EVERY_NULL}"
    return (
        f"SELECT r.dataset_id AS source_object_id, {name} AS column_name,"
        f" {json.position('c')} AS ordinal_position, {json.item_text('c', 'type')} AS data_type,"
        f" NOT EXISTS (SELECT 1 FROM {required}) AS is_nullable,"
        f" coalesce({json.item_text('c', 'dq_rule_set')},"
        f" {json.array_of('q.rule_expression', rules, 'q.position, q.rule_id')}) AS dq_rule_set,"
        f" coalesce({json.item_text('c', 'dq_severity')},"
        f" CASE WHEN EXISTS (SELECT 1 FROM {rules} AND q.severity = 'FAIL') THEN 'FAIL'"
        " ELSE 'WARN' END) AS dq_severity, r.active, r.org_id,"
        f" coalesce({json.item_text('c', 'origin')}, 'declared') AS origin,"
        f" coalesce({json.item_text('c', 'source_name')}, {name}) AS source_name,"
        f" coalesce({json.item_text('c', 'source_type')}, {json.item_text('c', 'type')})"
        " AS source_type"
        f" FROM dataset_registry r, {json.items('r.definition', 'columns', 'c')}"
        f" WHERE {json.text('r.definition', 'build', 'build')} = 'source'"
    )


def _object_of(json: JsonSql, dataset_id: str, revision: str) -> str:
    """The source object of a dataset in a revision; NULL if the dataset then read no source."""
    return (
        "(SELECT f.dataset_id FROM dataset_registry_revisions f"
        f" WHERE f.dataset_id = {dataset_id} AND f.revision = {revision}"
        f" AND {json.text('f.definition', 'build', 'build')} = 'source')"
    )


def _revision_at(at: str) -> str:
    """The revision of the dataset that a run ``r`` opened, else the one at a time."""
    return (
        "coalesce((SELECT o.dataset_revision FROM run_openings o WHERE o.run_id = r.run_id),"
        " (SELECT max(l.revision) FROM dataset_registry_revisions l"
        f" WHERE l.dataset_id = r.dataset_id AND l.revised_at <= {at}), 1)"
    )


def _object_at(json: JsonSql, at: str) -> str:
    return _object_of(json, "r.dataset_id", _revision_at(at))


def _histories(json: JsonSql) -> str:
    found = _object_of(json, "o.dataset_id", "o.dataset_revision")
    return (
        f"SELECT s.run_id, {found} AS source_object_id, s.live_hash AS schema_hash,"
        " d.body AS schema_json, s.submitted_at AS captured_at, s.org_id, o.dataset_id"
        " FROM run_schemas s"
        " JOIN run_openings o ON o.run_id = s.run_id"
        " JOIN documents d ON d.org_id = s.org_id AND d.content_hash = s.live_hash"
    )


def _changes(json: JsonSql) -> str:
    reaction = json.item_text("c", "reaction")
    found = _object_of(json, "o.dataset_id", "o.dataset_revision")
    return (
        f"SELECT s.run_id, {found} AS source_object_id,"
        f" {json.position('c')} AS change_ordinal, {json.item_text('c', 'column')} AS column_name,"
        f" {json.item_text('c', 'change')} AS change_type,"
        f" {json.item_text('c', 'declared')} AS declared_type,"
        f" {json.item_text('c', 'found')} AS found_type,"
        f" CASE WHEN {reaction} = 'BLOCK' THEN 'INCOMPATIBLE' ELSE 'COMPATIBLE' END"
        f" AS compatibility, {reaction} AS action_taken, s.submitted_at AS detected_at, s.org_id,"
        f" {json.item_text('c', 'other')} AS found_name, o.dataset_id"
        " FROM run_schemas s JOIN run_openings o ON o.run_id = s.run_id"
        " JOIN documents d ON d.org_id = s.org_id AND d.content_hash = s.verdict_hash"
        f" CROSS JOIN {json.items('d.body', 'differences', 'c')}"
    )


_SAMPLE = (
    "(SELECT '{\"columns\":' || s.sample_columns || ',\"masked\":' || s.masked_columns"
    " || ',\"rows\":' || s.sample_rows || '}' FROM rule_samples s"
    " WHERE s.run_id = r.run_id AND s.rule_id = "
)


def _results(json: JsonSql) -> str:
    check, expression = json.item_text("c", "check_id"), json.item_text("c", "expression")
    return (
        f"SELECT r.run_id, {_object_at(json, 'r.decided_at')} AS source_object_id,"
        f" {json.position('c')} AS check_ordinal,"
        f" (SELECT f.dataset_name || '.' FROM dataset_registry_revisions f WHERE f.dataset_id ="
        f" r.dataset_id AND f.revision = {_revision_at('r.decided_at')}) || {check} AS rule_id,"
        f" {expression} AS rule_expression,"
        f" {json.item_text('c', 'outcome')} AS result,"
        f" {json.item_number('c', 'failed_rows')} AS failed_rows,"
        f" {json.item_number('c', 'scope_rows')} AS scope_rows,"
        f" {json.item_text('c', 'message')} AS message, r.decided_at AS evaluated_at,"
        f" r.decision_id, r.org_id, {json.item_text('c', 'observed')} AS observed_value,"
        f" {json.item_text('c', 'limit')} AS allowed, r.ruleset_hash,"
        f" {json.item_text('c', 'fingerprint')} AS rule_fingerprint,"
        f" upper({json.text_before(expression, '(')}) AS rule_type,"
        f" coalesce({json.item_text('c', 'parameters')}, '{{}}') AS parameters,"
        f" {_SAMPLE}{check}) AS samples,"
        f" {json.item_text('c', 'severity')} AS severity,"
        f" {json.item_text('c', 'column')} AS column_name, r.dataset_id, {check} AS check_id"
        f" FROM decisions r, {json.items('r.ruling', 'checks', 'c')}"
        f" WHERE {json.item_text('c', 'kind')} = 'rule'"
    )


def _audit(json: JsonSql) -> str:
    return (
        f"SELECT r.run_id, {_object_at(json, 'r.start_time')} AS source_object_id,"
        " r.start_time, r.end_time, r.status,"
        f" {json.number('r.result', 'rows')} AS rows_written, r.error_code, r.error_message,"
        " r.triggered_by, r.version, r.org_id, r.dataset_id FROM run_history r"
    )


INGESTION_VIEWS: dict[str, Callable[[JsonSql], str]] = {
    "source_objects": _objects,
    "source_object_columns": _object_columns,
    "schema_compatibility_rules": lambda _: current(
        schema_compatibility_rules, ("org_id", "profile_name")
    ),
    "dq_rule_catalog": lambda _: current(dq_rule_catalog, ("org_id", "rule_name")),
    "schema_history": _histories,
    "schema_change_log": _changes,
    "data_quality_results": _results,
    "run_audit": _audit,
}
"""View names and their SELECTs."""
