"""Which datasets are late, whether a run comes or not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.gate.case import CaseFacts
from lakeguard.gate.policies import governs
from lakeguard.gate.service_levels import breaches
from lakeguard.gate.subject import Subject
from lakeguard.ledger.versions import last_promotion
from lakeguard.promotion.travelling import travelled_tags
from lakeguard.registry.store import current_policies, require_dataset
from lakeguard_sdk.reading import Breach, DatasetRow
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import PolicyType


def broken_promises(
    connection: Connection, org_id: str, datasets: Iterable[DatasetRow], clock: datetime
) -> dict[str, tuple[Breach, ...]]:
    """By dataset id, what the policies over it promise about time and is broken now.

    What is switched off promises nothing.
    """
    promises = [
        policy
        for policy in current_policies(connection, org_id)
        if policy.type is PolicyType.SLA and policy.active
    ]
    with_tags = any(policy.applies_to_tag for policy in promises)
    found: dict[str, tuple[Breach, ...]] = {}
    for row in datasets if promises else ():
        if not row.active:
            continue
        facts = _facts(connection, org_id, row, with_tags=with_tags)
        over_it = [policy for policy in promises if governs(policy, facts)]
        if over_it:
            promoted_at = last_promotion(connection, row.dataset_id)
            found[row.dataset_id] = breaches(over_it, promoted_at, clock)
    return found


def _facts(connection: Connection, org_id: str, row: DatasetRow, *, with_tags: bool) -> CaseFacts:
    """As much of a dataset as says which policies are over it."""
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
        definition = require_dataset(connection, org_id, row.dataset_name).definition
        tags = {column.name: column.tags for column in definition.columns}
        travelled = travelled_tags(connection, org_id, definition)
        subject = subject.model_copy(update={"travelled": travelled})
    return CaseFacts(
        dataset=row.dataset_name, declared=TableSchema(columns=()), tags=tags, subject=subject
    )
