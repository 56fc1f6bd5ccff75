"""Built-in schema profiles and catalogue rules, as rows beside those that people define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Table, select

from lakeguard.gate.schema.profiles import BUILT_IN, FLAGS, POSSIBLE
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.planning.definition_rows import catalogue_rule_row, profile_row
from lakeguard.state import outbox
from lakeguard.state.schema import (
    dq_rule_catalog_revisions,
    schema_compatibility_rules_revisions,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import ProfileDefinition

AUTHOR = "lakeguard"
_DESCRIPTIONS = {
    "default": "Ignores new columns, casts narrower types, blocks what is missing or other.",
    "strict": "Blocks every difference.",
    "additive": "Accepts new nullable columns only.",
    "backward": "Accepts what readers of the new schema can read of old data.",
    "forward": "Accepts what readers of the old schema can read of new data.",
    "full": "Accepts what both backward and forward accept.",
    "permissive": "Accepts whatever can be read; rows that do not fit are quarantined.",
}


_BEFORE_ALL = -1_000_000
"""Revisions of built-in rows count from here, below those of a definition with the same name."""


def built_in_profiles() -> Iterator[ProfileDefinition]:
    """Each with a reaction to every class of change that has more than one."""
    for name, answers in BUILT_IN.items():
        flags = {
            flag: all(answers[change] is reaction for change, reaction in enabled.items())
            for flag, enabled in FLAGS.items()
        }
        reactions = {change: answers[change] for change in answers if len(POSSIBLE[change]) > 1}
        yield ProfileDefinition(
            profile=name, reactions=reactions, description=_DESCRIPTIONS[name], **flags
        )


def record_built_ins(tx: Transaction, apply_id: str, at: datetime) -> None:
    """Record what this version brings and the registry does not have yet."""
    profiles = {item.profile: profile_row(item) for item in built_in_profiles()}
    rules = {name: catalogue_rule_row(item) for name, item in built_in_rules().items()}
    for table, key, wanted in (
        (schema_compatibility_rules_revisions, "profile_name", profiles),
        (dq_rule_catalog_revisions, "rule_name", rules),
    ):
        rows = [
            {**row, "org_id": tx.org_id, "revised_at": at, "apply_id": apply_id}
            for row in _new(tx, table, key, wanted)
        ]
        outbox.record(tx, table, rows, at)


def _new(
    tx: Transaction, table: Table, key: str, wanted: Mapping[str, dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    query = select(table).where(table.c.org_id == tx.org_id, table.c.built_in)
    found = tx.execute(query.order_by(table.c.revision))
    known = {row._mapping[key]: dict(row._mapping) for row in found}
    for name, row in wanted.items():
        before = known.get(name, {})
        if any(before.get(column) != value for column, value in row.items()):
            revision = before.get("revision", _BEFORE_ALL) + 1
            yield {**row, "revision": revision, "revised_by": AUTHOR, "built_in": True}
