"""Rows of the registry and of the status as models."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from lakeguard.ledger.versions import LatestPointer
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.read_models import (
    DatasetRow,
    DatasetStatus,
    PolicyRow,
    RuleRow,
    RunRow,
)


def rule_row(row: Row[Any]) -> RuleRow:
    """The rule under its id within the dataset, as commands take it."""
    known = {key: row._mapping[key] for key in RuleRow.model_fields}
    return RuleRow(**{**known, "rule_id": row.check_id})


def policy_row(row: Row[Any]) -> PolicyRow:
    """Unset policy fields are empty."""
    fields = {key: row._mapping[key] for key in PolicyRow.model_fields}
    fields["applies_to_layer"] = fields["applies_to_layer"] or None
    return PolicyRow(**{key: value for key, value in fields.items() if value is not None})


def status_row(
    row: DatasetRow, published: LatestPointer | None, last_run: RunRow | None, **found: Any
) -> DatasetStatus:
    """``found`` has further fields of the status."""
    if published is None:
        return DatasetStatus(
            dataset=row,
            published=None,
            published_at=None,
            table_rows=None,
            last_run=last_run,
            **found,
        )
    return DatasetStatus(
        dataset=row,
        published=published.version,
        published_at=published.moved_at,
        table_rows=published.table_rows,
        last_run=last_run,
        rolled_back=published.kind is MoveKind.ROLLBACK,
        **found,
    )
