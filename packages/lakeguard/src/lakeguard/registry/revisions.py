"""The rows that a plan's steps become: one visitor over the steps that ``plan`` shows."""

from __future__ import annotations

from datetime import datetime
from functools import singledispatchmethod
from typing import Any

from sqlalchemy import Connection, Table

from lakeguard.gate.grammar import read_rule
from lakeguard.registry.current import RegistryState, registry_head
from lakeguard.state import facts
from lakeguard.state.tables import (
    dataset_registry_revisions,
    policy_rules_revisions,
    quality_rules_revisions,
    source_systems_revisions,
)
from lakeguard_sdk.definition import (
    DatasetDefinition,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
    definition_hash,
)
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.planning import (
    RegisterDataset,
    RegisterPolicy,
    RegisterSource,
    ReviseDataset,
    RevisePolicy,
    ReviseSource,
)


class Revisions:
    """Collects the rows of one apply; ``insert`` writes them, table by table, in bulk."""

    def __init__(
        self, current: RegistryState, org_id: str, actor: str, apply_id: str, at: datetime
    ) -> None:
        self.current = current
        self.org_id = org_id
        self.actor = actor
        self.apply_id = apply_id
        self.at = at
        self._hashes: dict[tuple[str, str], str] = {
            **{("source", s.definition.source): s.definition_hash for s in current.sources},
            **{("dataset", d.name): d.definition_hash for d in current.datasets},
            **{
                ("policy", p.definition.policy): p.definition.content_hash()
                for p in current.policies
            },
        }
        self._rows: dict[Table, list[dict[str, Any]]] = {
            source_systems_revisions: [],
            dataset_registry_revisions: [],
            quality_rules_revisions: [],
            policy_rules_revisions: [],
        }

    @property
    def head(self) -> str:
        """Of the registry once the rows are in."""
        return registry_head(self._hashes.values())

    def insert(self, connection: Connection) -> None:
        for table, rows in self._rows.items():
            facts.record(connection, table, rows, self.at)

    @singledispatchmethod
    def take(self, step: object) -> None:
        raise TypeError(f"{type(step).__name__} is not a step of a plan")

    @take.register
    def _(self, step: RegisterSource) -> None:
        self._source(step.definition, new_id("src"), 1)

    @take.register
    def _(self, step: ReviseSource) -> None:
        self._source(step.definition, step.source_id, step.revision + 1)

    @take.register
    def _(self, step: RegisterDataset) -> None:
        name = step.definition.dataset
        location = f"{name.layer}/{name.name}"
        self._dataset(step.definition, new_id("ds"), 1, location)

    @take.register
    def _(self, step: ReviseDataset) -> None:
        known = self.current.dataset_by_name[step.definition.dataset]
        self._dataset(
            step.definition,
            step.dataset_id,
            step.revision + 1,
            known.location,
            known.definition.rules,
        )

    @take.register
    def _(self, step: RegisterPolicy) -> None:
        self._policy(step.definition, 1)

    @take.register
    def _(self, step: RevisePolicy) -> None:
        self._policy(step.definition, step.revision + 1)

    def _stamp(self, revision: int) -> dict[str, Any]:
        return {
            "org_id": self.org_id,
            "revision": revision,
            "revised_at": self.at,
            "apply_id": self.apply_id,
        }

    def _source(self, source: SourceDefinition, source_id: str, revision: int) -> None:
        self._hashes["source", source.source] = source.content_hash()
        self._rows[source_systems_revisions].append(
            {
                **self._stamp(revision),
                "source_system_id": source_id,
                "source_name": source.source,
                "source_type": source.format.value,
                "active": source.active,
                "definition_hash": source.content_hash(),
                "definition": source.to_json(),
                "revised_by": self.actor,
            }
        )

    def _dataset(
        self,
        dataset: DatasetDefinition,
        dataset_id: str,
        revision: int,
        location: str,
        before: tuple[RuleDefinition, ...] = (),
    ) -> None:
        digest = definition_hash(dataset)
        self._hashes["dataset", dataset.dataset] = digest
        self._rows[dataset_registry_revisions].append(
            {
                **self._stamp(revision),
                "dataset_id": dataset_id,
                "dataset_name": str(dataset.dataset),
                "domain": dataset.domain,
                "layer": dataset.dataset.layer.value,
                "owner": dataset.owner,
                "description": dataset.description,
                "active": dataset.active,
                "definition_hash": digest,
                "definition": dataset.to_json(),
                "location": location,
                "revised_by": self.actor,
            }
        )
        self._rules(dataset, dataset_id, revision, before)

    def _rules(
        self,
        dataset: DatasetDefinition,
        dataset_id: str,
        revision: int,
        before: tuple[RuleDefinition, ...],
    ) -> None:
        """New and changed rules, and those that are gone, under the dataset's revision.

        A rule that only moved has not changed: its row, and the position in it, stays.
        """
        kept = {rule.rule_id for rule in dataset.rules}
        gone = [(i, rule, True) for i, rule in enumerate(before) if rule.rule_id not in kept]
        said = [(i, rule, False) for i, rule in enumerate(dataset.rules) if rule not in before]
        for position, rule, removed in (*gone, *said):
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
                }
            )

    def _policy(self, policy: PolicyDefinition, revision: int) -> None:
        self._hashes["policy", policy.policy] = policy.content_hash()
        self._rows[policy_rules_revisions].append(
            {
                **self._stamp(revision),
                "policy_id": policy.policy,
                "applies_to_layer": policy.applies_to_layer.value,
                "policy_type": policy.type.value,
                "policy_expression": policy.expression,
                "enforcement": policy.enforcement.value,
                "active": policy.active,
                "revised_by": self.actor,
            }
        )


def _only_column(rule: RuleDefinition) -> str | None:
    """The column that a rule speaks of, where it is one."""
    columns = read_rule(rule.expression).rule.columns
    return columns[0] if len(columns) == 1 else None
