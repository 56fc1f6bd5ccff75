"""Views of the registry tables: the current row per key over append-only revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from lakeguard.state.views.control import CONTROL_VIEWS
from lakeguard.state.views.ingestion import INGESTION_VIEWS
from lakeguard.state.views.view_metadata import current, view_metadata

dataset_registry = Table(
    "dataset_registry",
    view_metadata,
    Column("dataset_id", Id),
    Column("dataset_name", Name),
    Column("domain", Name),
    Column("layer", Word),
    Column("owner", Name),
    Column("description", Long),
    Column("active", Boolean),
    Column("created_at", UtcTime),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("definition_hash", Hash),
    Column("definition", Long),
    Column("location", Name),
    Column("revised_at", UtcTime),
    Column("revised_by", Name),
    Column("apply_id", Id),
)

quality_rules = Table(
    "quality_rules",
    view_metadata,
    Column("rule_id", Name),
    Column("dataset_id", Id),
    Column("layer", Word),
    Column("rule_type", Word),
    Column("rule_expression", Long),
    Column("severity", Word),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("position", Integer),
    Column("column_name", Name),
    Column("check_id", Name),
    Column("external_id", Name),
)

policy_rules = Table(
    "policy_rules",
    view_metadata,
    Column("policy_id", Name),
    Column("applies_to_layer", Word),
    Column("policy_type", Word),
    Column("policy_expression", Long),
    Column("enforcement", Word),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("applies_to_domain", Name),
    Column("applies_to_tag", Name),
    Column("external_id", Name),
)

source_systems = Table(
    "source_systems",
    view_metadata,
    Column("source_system_id", Id),
    Column("source_name", Name),
    Column("source_type", Word),
    Column("active", Boolean),
    Column("org_id", Id),
    Column("revision", Integer),
    Column("definition_hash", Hash),
    Column("definition", Long),
    Column("secret_reference", Long),
)

promotion_current = Table(
    "promotion_current",
    view_metadata,
    Column("dataset_id", Id),
    Column("from_layer", Word),
    Column("to_layer", Word),
    Column("allowed", Boolean),
    Column("evaluated_at", UtcTime),
    Column("reason", Long),
    Column("org_id", Id),
    Column("ordinal", BigInteger),
    Column("state", Word),
    Column("run_id", Id),
    Column("decision_id", Id),
)


_FIRST_REGISTRATION = (
    "(SELECT f.revised_at FROM dataset_registry_revisions f"
    " WHERE f.dataset_id = r.dataset_id AND f.revision = 1) AS created_at"
)

_OPEN_FINDING = (
    "SELECT f.message FROM table_findings f"
    " WHERE f.dataset_id = d.dataset_id AND f.state = 'FOUND' AND f.ordinal ="
    " (SELECT MAX(l.ordinal) FROM table_findings l WHERE l.dataset_id = d.dataset_id)"
)
"""What is wrong with the table of a dataset, as long as it is."""

_UNIQUE_RULE = (
    "(SELECT d.dataset_name || '.' || r.rule_id FROM dataset_registry d"
    " WHERE d.dataset_id = r.dataset_id) AS rule_id"
)
"""Unique in the organisation; ``check_id`` is unique in its dataset."""


def _credentials(json: JsonSql) -> str:
    """The reference that rows gave as such, else those that the source is read with."""
    given = [
        f"nullif({json.text('r.definition', 'details', name)}, '')"
        for name in ("secret_reference", "secret_name")
    ]
    named = json.member_values("r.definition", "secrets")
    return f"coalesce({', '.join([*given, named])}) AS secret_reference"


def _promotion(json: JsonSql) -> str:
    """The last answer on each step; no, whatever it was, while something stands against it."""
    refusal = f"(CASE {' '.join(_refusals(json))} END)"
    present = {
        "allowed": f"(r.allowed AND {refusal} IS NULL) AS allowed",
        "reason": f"coalesce({refusal}, r.reason) AS reason",
    }
    columns = ", ".join(present.get(c.name, f"r.{c.name}") for c in promotion_current.columns)
    step = ("dataset_id", "from_layer", "to_layer")
    same = " AND ".join(f"n.{key} = r.{key}" for key in step)
    return (
        f"SELECT {columns} FROM promotion_status r"
        " JOIN dataset_registry d ON d.dataset_id = r.dataset_id WHERE NOT EXISTS"
        f" (SELECT 1 FROM promotion_status n WHERE {same} AND n.ordinal > r.ordinal)"
    )


def _refusals(json: JsonSql) -> Iterator[str]:
    """What stands against a dataset ``d`` at present, the first of it as the reason."""
    yield f"WHEN EXISTS ({_OPEN_FINDING}) THEN ({_OPEN_FINDING})"
    source = json.text("d.definition", "build", "source")
    target = json.text("d.definition", "target")
    of_target = f"t.org_id = d.org_id AND t.target_name = {target}"
    mapping = (
        f"EXISTS (SELECT 1 FROM md_tgt_ctrl t, {json.items('t.definition', 'sources', 'm')}"
        f" WHERE {of_target} AND {json.item_text('m', 'source')} = {source}"
        f" AND NOT {json.item_flag('m', 'active')})"
    )
    status = f"coalesce({json.text('d.definition', 'status')}, 'active')"
    yield (
        f"WHEN NOT d.active THEN 'dataset ' || d.dataset_name || CASE {status}"
        " WHEN 'draft' THEN ' is a draft' WHEN 'retired' THEN ' is retired'"
        " ELSE ' is disabled' END"
    )
    yield (
        "WHEN EXISTS (SELECT 1 FROM source_systems s WHERE s.org_id = d.org_id"
        f" AND s.source_name = {source} AND NOT s.active) THEN 'source ' || {source}"
        " || ' is disabled'"
    )
    yield (
        f"WHEN EXISTS (SELECT 1 FROM md_tgt_ctrl t WHERE {of_target} AND t.status <> 'ACTIVE')"
        f" THEN 'target ' || {target} || ' is disabled'"
    )
    words = f"'the mapping from ' || {source} || ' to ' || {target} || ' is disabled'"
    yield f"WHEN {mapping} THEN {words}"
    late = (
        "FROM notifications n WHERE n.org_id = d.org_id AND n.kind = 'late'"
        f" AND {json.text('n.payload', 'dataset_id')} = d.dataset_id"
        " AND NOT EXISTS (SELECT 1 FROM data_versions v WHERE v.dataset_id = d.dataset_id"
        " AND v.promoted_at >= n.raised_at)"
        " AND EXISTS (SELECT 1 FROM policy_rules p WHERE p.org_id = n.org_id AND p.active"
        f" AND p.policy_id = {json.text('n.payload', 'check')}"
        f" AND p.policy_expression = {json.text('n.payload', 'details', 'expression')})"
    )
    message = json.text("n.payload", "message")
    yield f"WHEN EXISTS (SELECT 1 {late}) THEN (SELECT 'late: ' || min({message}) {late})"


_VIEWS: dict[str, Callable[[JsonSql], str]] = {
    "dataset_registry": lambda _: current(
        dataset_registry, ("dataset_id",), but={"created_at": _FIRST_REGISTRATION}
    ),
    "quality_rules": lambda _: current(
        quality_rules,
        ("dataset_id", "rule_id"),
        but={"rule_id": _UNIQUE_RULE, "check_id": "r.rule_id AS check_id"},
        where="NOT r.removed AND ",
    ),
    "policy_rules": lambda _: current(policy_rules, ("org_id", "policy_id")),
    "source_systems": lambda json: current(
        source_systems, ("source_system_id",), but={"secret_reference": _credentials(json)}
    ),
    **CONTROL_VIEWS,
    **INGESTION_VIEWS,
    "promotion_current": _promotion,
}


def view_statements(dialect: str) -> dict[str, str]:
    """View names and their SELECTs, in dependency order."""
    return {name: select(JsonSql(dialect)) for name, select in _VIEWS.items()}
