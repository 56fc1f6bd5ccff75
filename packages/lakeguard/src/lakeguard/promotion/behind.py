"""The definition behind a version."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.openings import opened_revision, schema_verdict
from lakeguard.ledger.versions import StoredVersion
from lakeguard.registry.drift import drifted, renamed_columns
from lakeguard.registry.store import definition_at
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.load import load_columns
from lakeguard_sdk.schema import TableSchema


def definition_behind(
    connection: Connection, org_id: str, version: StoredVersion
) -> DatasetDefinition | None:
    """What the dataset was when the version was made, columns that it accepted then included."""
    revision = opened_revision(connection, org_id, version.run_id)
    if revision is None:
        return None
    definition = definition_at(connection, version.dataset_id, revision)
    written = {column.name for column in load_columns(definition.load)}
    brought = [column for column in version.table_schema.columns if column.name not in written]
    verdict = schema_verdict(connection, org_id, version.run_id)
    renamed = renamed_columns(verdict.differences) if verdict else {}
    return drifted(definition, TableSchema(columns=tuple(brought)), renamed)
