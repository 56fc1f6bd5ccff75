"""Columns of which a back-test tells no value: by what is said of them today, and was then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection

from lakeguard.gate.extremes import tagged_columns
from lakeguard.insight.replaying import RecordedCase
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.heart import Organised, PinnedRules
from lakeguard.promotion.privacy import private_in
from lakeguard.promotion.sampling import masked_columns, patterns_passed
from lakeguard.promotion.subjects import pin_rules
from lakeguard.promotion.travelling import possible_tags
from lakeguard.registry.store import RegisteredDataset, current_policies, current_target
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.sample import texts


@dataclass(frozen=True)
class Hidden:
    """What profiles would not tell either: columns with a tag, those that may have one from above,
    those that a PII policy is about; and texts, where one may hold what a policy forbids."""

    of: Organised
    pinned: PinnedRules
    today: frozenset[str]
    """Of the columns as they are registered, and as they are drafted."""

    @classmethod
    def read(
        cls,
        connection: Connection,
        of: Organised,
        dataset: RegisteredDataset,
        draft: DatasetDefinition,
    ) -> Hidden:
        published = pointer(connection, dataset.dataset_id)
        pinned = pin_rules(connection, of, dataset, published=published)
        named = (_hidden(connection, of, item, pinned) for item in (dataset.definition, draft))
        return cls(of, pinned, frozenset(chain.from_iterable(named)))

    def in_run(self, connection: Connection, run_id: str, case: RecordedCase) -> frozenset[str]:
        """Today, and in the run itself when it was made."""
        found = {*self.today, *tagged_columns(case.facts.tags, case.facts.subject)}
        org_id = self.of.org_id
        with suppress(UnknownRun):  # what was never opened has only the facts of its case
            plan = opening_of(connection, org_id, run_id).plan
            verdict = schema_verdict(connection, org_id, run_id)
            plan = plan if verdict is None else plan.under(verdict)
            found |= {*plan.masked, *plan.private}
        decision = decision_of_run(connection, org_id, run_id, case.facts.dataset)
        asked = {"policies": (*self.pinned.policies, *case.policies)}
        pinned = self.pinned.model_copy(update=asked)
        if decision is None or not patterns_passed(pinned, decision):
            found |= set(texts(case.facts.declared))
        return frozenset(found)


def _hidden(
    connection: Connection, of: Organised, definition: DatasetDefinition, pinned: PinnedRules
) -> Iterator[str]:
    target = current_target(connection, of.org_id, definition.target or "")
    transformed = target is not None and bool(target.transform)
    possible = possible_tags(connection, of.org_id, definition, transformed=transformed)
    policies = current_policies(connection, of.org_id)
    private = private_in(definition, policies, pinned, possible)
    yield from masked_columns(definition, pinned, private, possible)
    yield from (column.name for column in definition.columns if column.tags)
