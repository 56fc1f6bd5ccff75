"""The definition behind a version."""

from __future__ import annotations

from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.openings import opened_revision, schema_verdict
from lakeguard.ledger.versions import StoredVersion
from lakeguard.registry.editing.drift import drifted, renamed_columns
from lakeguard.registry.store import RegisteredDataset, definition_at
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.types.schema import TableSchema


def definition_of_version(tx: Transaction, version: StoredVersion) -> DatasetDefinition | None:
    """What the dataset was when the version was made, columns that it accepted then included."""
    revision = opened_revision(tx, version.run_id)
    if revision is None:
        return None
    definition = definition_at(tx, version.dataset_id, revision)
    written = {column.name for column in load_columns(definition.load)}
    brought = [column for column in version.table_schema.columns if column.name not in written]
    verdict = schema_verdict(tx, version.run_id)
    renamed = renamed_columns(verdict.differences) if verdict else {}
    return drifted(definition, TableSchema(columns=tuple(brought)), renamed)


# What stands behind a version: the evidence that its decision allowed.


def approved_evidence(
    tx: Transaction, dataset: RegisteredDataset, version: StoredVersion
) -> Evidence:
    """As it was decided on, under the name that the dataset has today."""
    first = decision_by_id(tx, version.decision_id, dataset.name)
    document = get_document(tx, str(first.case.evidence))
    return Evidence.from_json(document).model_copy(update={"dataset": dataset.name})


def filed_under(evidence: Evidence) -> tuple[str, ...]:
    """The rules that quarantine rows then: they were answered when the version was made."""
    files = evidence.quarantined.files if evidence.quarantined else ()
    return tuple(sorted({file.rule_id for file in files}))
