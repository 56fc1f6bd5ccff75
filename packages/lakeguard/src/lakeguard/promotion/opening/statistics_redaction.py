"""Columns whose min and max are omitted from statistics, in evidence and in the table's log.

Evidence is kept for ever, even of blocked and discarded runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from lakeguard.gate.policies import forbids_pattern
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.versions import StoredVersion, pointer
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.promotion.privacy.private_columns import private_in
from lakeguard.promotion.privacy.row_samples import masked_columns
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.registry.store import RegisteredDataset, current_policies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.row_sample import texts
from lakeguard_sdk.types.schema import TableSchema

_EXTREMES = ("minValues", "maxValues")


def columns_to_redact(
    schema: TableSchema, pinned: PinnedRules, masked: Iterable[str]
) -> tuple[str, ...]:
    """Columns masked in samples, and all texts if a policy searches texts for a pattern."""
    found = {*masked}
    if any(map(forbids_pattern, pinned.policies)):
        found |= set(texts(schema))
    return tuple(sorted(found))


def redacted_in_version(
    tx: Transaction, dataset: RegisteredDataset, stored: StoredVersion
) -> tuple[str, ...]:
    """Redacted columns of the version's run, plus those of today's tags and policies."""
    published = pointer(tx, dataset.dataset_id)
    pinned = pin_rules(tx, dataset, published=published, shown=stored)
    policies = current_policies(tx)
    private = private_in(dataset.definition, policies, pinned, ())
    masked = masked_columns(dataset.definition, pinned, private, ())
    then = opening_of(tx, stored.run_id).plan.redacted_statistics
    return columns_to_redact(stored.table_schema, pinned, {*masked, *then})


def disclosed_statistics(
    files: Iterable[StagedFile], redacted_statistics: Iterable[str]
) -> str | None:
    """Files with statistics of private columns, without the values."""
    hidden = {name.casefold() for name in redacted_statistics}
    for file in files:
        disclosed = sorted(name for name in _bounded(file.stats) if name.casefold() in hidden)
        if disclosed:
            return f"the statistics of {file.path!r} tell values of column {', '.join(disclosed)}"
    return None


def _bounded(stats: str) -> set[str]:
    """Columns with bounds; unreadable statistics are refused elsewhere."""
    try:
        statistics = json.loads(stats)
        return {name for key in _EXTREMES for name in statistics.get(key, {})}
    except (ValueError, TypeError, AttributeError):
        return set()
