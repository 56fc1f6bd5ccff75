"""ALERT policies violated by published versions, and SLA breaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from lakeguard.ledger.promotion_times import effective_promotions
from lakeguard.registry.store import current_policies, require_dataset
from lakeguard.state.schema import (
    data_versions,
    dataset_pointers,
    dataset_registry_revisions,
    decisions,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CheckKind, Enforcement, Outcome, PolicyType
from lakeguard_sdk.model.decision import Ruling
from lakeguard_sdk.model.read_models import Breach, DatasetRow
from lakeguard_sdk.types.schema import TableSchema

if TYPE_CHECKING:
    from lakeguard.gate.evaluation.case import CaseFacts


def alerts_let_through(tx: Transaction) -> dict[str, tuple[Breach, ...]]:
    """Alerts of the published version's decision, by dataset id.

    Uses the decision that created the version: rollbacks and compactions check less.
    """
    datasets = dataset_registry_revisions.c
    moves, later = dataset_pointers.c, dataset_pointers.alias("later")
    last = select(func.max(later.c.ordinal)).where(later.c.dataset_id == datasets.dataset_id)
    version, decided = data_versions.c, decisions.c
    rows = tx.execute(
        select(moves.dataset_id, decided.ruling)
        .select_from(dataset_registry_revisions)
        .join(
            dataset_pointers,
            (moves.dataset_id == datasets.dataset_id) & (moves.ordinal == last.scalar_subquery()),
        )
        .join(
            data_versions,
            (version.dataset_id == moves.dataset_id) & (version.version == moves.version),
        )
        .join(decisions, decided.decision_id == version.decision_id)
        .where(
            datasets.org_id == tx.org_id,
            datasets.revision == 1,
            decided.ruling.contains('"kind":"policy"'),
            decided.ruling.contains('"outcome":"WARN"'),
        )
    )
    return {row.dataset_id: tuple(_broken(Ruling.from_json(row.ruling))) for row in rows}


def _broken(ruling: Ruling) -> Iterator[Breach]:
    for check in ruling.checks:
        if check.kind is CheckKind.POLICY and check.outcome is Outcome.WARN:
            waived = "" if check.waived_by is None else f"; waived by {check.waived_by}"
            yield Breach(
                policy=check.check_id,
                expression=check.expression,
                enforcement=Enforcement.ALERT,
                message=check.message + waived,
            )


# SLA breaches.


def broken_promises(
    tx: Transaction, datasets: Iterable[DatasetRow], clock: datetime
) -> dict[str, tuple[Breach, ...]]:
    """Current SLA breaches by dataset id; inactive datasets have none."""
    promises = [
        policy for policy in current_policies(tx) if policy.type is PolicyType.SLA and policy.active
    ]
    if not promises:
        return {}
    from lakeguard.gate.policies import breaches, governs  # few projects have an SLA

    with_tags = any(policy.applies_to_tag for policy in promises)
    found: dict[str, tuple[Breach, ...]] = {}
    promoted = effective_promotions(tx)
    for row in datasets:
        if not row.active:
            continue
        facts = _facts(tx, row, with_tags=with_tags)
        over_it = [policy for policy in promises if governs(policy, facts)]
        if over_it:
            found[row.dataset_id] = breaches(over_it, promoted.get(row.dataset_id), clock)
    return found


def _facts(tx: Transaction, row: DatasetRow, *, with_tags: bool) -> CaseFacts:
    """The facts of a dataset that select its policies."""
    from lakeguard.gate.evaluation.case import CaseFacts
    from lakeguard.gate.subject import Subject
    from lakeguard.promotion.privacy.tag_propagation import travelled_tags

    subject = Subject(
        domain=row.domain,
        owner=row.owner,
        description=row.description,
        parents=(),
        keys=(),
        rules=(),
    )
    tags: dict[str, tuple[str, ...]] = {}
    if with_tags:
        definition = require_dataset(tx, row.dataset_name).definition
        tags = {column.name: column.tags for column in definition.columns}
        travelled = travelled_tags(tx, definition)
        subject = subject.model_copy(update={"travelled": travelled})
    return CaseFacts(
        dataset=row.dataset_name, declared=TableSchema(columns=()), tags=tags, subject=subject
    )
