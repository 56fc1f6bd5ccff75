"""Converts the steps of a plan to revision rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Table

from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.files.table_locations import table_place
from lakeguard.registry.kinds import Key, hash_of, key_of
from lakeguard.registry.planning.definition_rows import TABLES, new_key, row_of
from lakeguard.registry.snapshot import Opened, RegistryState, registry_head
from lakeguard.state import outbox
from lakeguard.state.schema import quality_rules_revisions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definition,
    RuleDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.plan import Register, Revise


class Revisions:
    """Collects the rows of one apply; ``insert`` writes them in bulk."""

    def __init__(
        self, current: RegistryState, org_id: str, actor: str, apply_id: str, at: datetime
    ) -> None:
        self.current = current
        self.org_id = org_id
        self.actor = actor
        self.apply_id = apply_id
        self.at = at
        self._targets: dict[str, TargetDefinition] = {}
        self._hashes: dict[Key, str] = {
            key: entry.definition_hash for key, entry in current.entries.items()
        }
        self._names = {(entry.kind, entry.key): entry.name for entry in current.entries.values()}
        self._rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in TABLES.values()}
        self._rows[quality_rules_revisions] = []
        self.datasets: dict[str, DatasetDefinition] = {}
        """New definitions of datasets, by id."""

    @property
    def head(self) -> str:
        """The registry head after the insert."""
        return registry_head(self._hashes.values())

    def insert(self, tx: Transaction) -> None:
        for table, rows in self._rows.items():
            outbox.record(tx, table, rows, self.at)

    def take(self, step: Register | Revise) -> None:
        definition = step.definition
        match step:
            case Register():
                self._add(definition, new_key(definition), 1, None)
            case Revise(key=key, revision=revision):
                name = self._names[definition.kind, key]
                before = self.current.open(self.current.entries[definition.kind, name])
                self._hashes.pop((definition.kind, name))
                self._add(definition, key, revision + 1, before)
        if isinstance(definition, TargetDefinition):
            self._targets[definition.target] = definition

    def _add(self, definition: Definition, key: str, revision: int, before: Opened | None) -> None:
        if isinstance(definition, DatasetDefinition) and definition.dataset_id:
            definition = definition.model_copy(update={"dataset_id": ""})
        digest = hash_of(definition)
        self._hashes[key_of(definition)] = digest
        row = {
            **row_of(definition, key, digest),
            **self._stamp(revision),
            "revised_by": self.actor,
        }
        if isinstance(definition, DatasetDefinition):
            row["location"] = before.location if before else self._place(definition)
            self._rules(definition, key, revision, _rules_of(before))
            self.datasets[key] = definition
        self._rows[TABLES[definition.kind]].append(row)

    def _stamp(self, revision: int) -> dict[str, Any]:
        return {
            "org_id": self.org_id,
            "revision": revision,
            "revised_at": self.at,
            "apply_id": self.apply_id,
        }

    def _place(self, dataset: DatasetDefinition) -> str:
        if dataset.target is None:
            return table_place(dataset, None)
        target = self._targets.get(dataset.target)
        if target is None:
            registered = self.current.definition("target", dataset.target)
            target = registered if isinstance(registered, TargetDefinition) else None
        return table_place(dataset, target)

    def _rules(
        self,
        dataset: DatasetDefinition,
        dataset_id: str,
        revision: int,
        before: tuple[RuleDefinition, ...],
    ) -> None:
        """New, changed and removed rules, with the dataset's revision.

        A rule that only moved is unchanged: its row keeps the old position.
        """
        current_ids = {rule.rule_id for rule in dataset.rules}
        gone = [(i, rule, True) for i, rule in enumerate(before) if rule.rule_id not in current_ids]
        changed = [(i, rule, False) for i, rule in enumerate(dataset.rules) if rule not in before]
        for position, rule, removed in (*gone, *changed):
            self._rows[quality_rules_revisions].append(
                {
                    **self._stamp(revision),
                    "rule_id": rule.rule_id,
                    "dataset_id": dataset_id,
                    "layer": dataset.dataset.layer.value,
                    "rule_type": rule.rule_type,
                    "rule_expression": rule.expression,
                    "severity": rule.severity.value,
                    "active": rule.active,
                    "removed": removed,
                    "position": position,
                    "column_name": _only_column(rule),
                    "external_id": rule.external_id or None,
                }
            )


def _rules_of(before: Opened | None) -> tuple[RuleDefinition, ...]:
    if before is None or not isinstance(before.definition, DatasetDefinition):
        return ()
    return before.definition.rules


def _only_column(rule: RuleDefinition) -> str | None:
    """The column of a rule with exactly one column, else None."""
    columns = read_rule(rule.expression).rule.columns
    return columns[0] if len(columns) == 1 else None
