"""What stands behind a version: the evidence that its decision allowed."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.versions import StoredVersion
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.evidence import Evidence


def approved_evidence(
    connection: Connection, heart: Heart, dataset: RegisteredDataset, version: StoredVersion
) -> Evidence:
    """As it was decided on, under the name that the dataset has today."""
    first = decision_by_id(connection, heart.org_id, version.decision_id, dataset.name)
    document = get_document(connection, heart.org_id, str(first.case.evidence))
    return Evidence.from_json(document).model_copy(update={"dataset": dataset.name})


def filed_under(evidence: Evidence) -> tuple[str, ...]:
    """The rules that set rows aside then: they were answered when the version was made."""
    files = evidence.aside.files if evidence.aside else ()
    return tuple(sorted({file.rule_id for file in files}))
