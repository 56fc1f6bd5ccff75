"""Views under the seed's names: one current row per key over append-only revisions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, Table

from lakeguard.state.column_types import Hash, Id, Long, Name, UtcTime, Word

view_metadata = MetaData()

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


def _columns(view: Table, *, but: dict[str, str] | None = None) -> str:
    return ", ".join((but or {}).get(c.name, f"r.{c.name}") for c in view.columns)


def _current(view: Table, keys: tuple[str, ...], order: str = "revision") -> str:
    same = " AND ".join(f"n.{key} = r.{key}" for key in keys)
    return f"NOT EXISTS (SELECT 1 FROM {_source(view)} n WHERE {same} AND n.{order} > r.{order})"  # noqa: S608 - names of ours


def _source(view: Table) -> str:
    return {"promotion_current": "promotion_status"}.get(view.name, f"{view.name}_revisions")


_FIRST_REGISTRATION = (
    "(SELECT f.revised_at FROM dataset_registry_revisions f"
    " WHERE f.dataset_id = r.dataset_id AND f.revision = 1) AS created_at"
)

VIEWS: dict[str, str] = {
    "dataset_registry": (
        f"SELECT {_columns(dataset_registry, but={'created_at': _FIRST_REGISTRATION})}"  # noqa: S608
        f" FROM dataset_registry_revisions r WHERE {_current(dataset_registry, ('dataset_id',))}"
    ),
    "quality_rules": (
        f"SELECT {_columns(quality_rules)} FROM quality_rules_revisions r"  # noqa: S608
        f" WHERE NOT r.removed AND {_current(quality_rules, ('dataset_id', 'rule_id'))}"
    ),
    "policy_rules": (
        f"SELECT {_columns(policy_rules)} FROM policy_rules_revisions r"  # noqa: S608
        f" WHERE {_current(policy_rules, ('org_id', 'policy_id'))}"
    ),
    "source_systems": (
        f"SELECT {_columns(source_systems)} FROM source_systems_revisions r"  # noqa: S608
        f" WHERE {_current(source_systems, ('source_system_id',))}"
    ),
    "promotion_current": (
        f"SELECT {_columns(promotion_current)} FROM promotion_status r WHERE "  # noqa: S608
        + _current(promotion_current, ("dataset_id", "from_layer", "to_layer"), "ordinal")
    ),
}
"""Name of each view and the SELECT that makes it."""
