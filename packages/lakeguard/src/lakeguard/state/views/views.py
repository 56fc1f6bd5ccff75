"""Views of the registry tables: the current row per key over append-only revisions."""

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

_VIEWS: dict[str, Callable[[JsonSql], str]] = {
    "dataset_registry": lambda _: current(
        dataset_registry, ("dataset_id",), but={"created_at": _FIRST_REGISTRATION}
    ),
    "quality_rules": lambda _: current(
        quality_rules, ("dataset_id", "rule_id"), where="NOT r.removed AND "
    ),
    "policy_rules": lambda _: current(policy_rules, ("org_id", "policy_id")),
    "source_systems": lambda _: current(source_systems, ("source_system_id",)),
    "promotion_current": lambda _: current(
        promotion_current,
        ("dataset_id", "from_layer", "to_layer"),
        source="promotion_status",
        order="ordinal",
    ),
    **CONTROL_VIEWS,
    **INGESTION_VIEWS,
}


def view_statements(dialect: str) -> dict[str, str]:
    """View names and their SELECTs, in dependency order."""
    return {name: select(JsonSql(dialect)) for name, select in _VIEWS.items()}
