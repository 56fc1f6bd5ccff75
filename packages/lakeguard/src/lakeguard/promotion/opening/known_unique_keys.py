"""Keys known to be unique in the base, so that a run need not check them again."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.ledger.versions import require_version
from lakeguard.promotion.records.version_facts import approved_evidence
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import DuplicateRows, Measure, measure_key
from lakeguard_sdk.model.run import TableBase


def proven_unique(
    tx: Transaction, dataset: RegisteredDataset, base: TableBase | None, measures: Sequence[Measure]
) -> tuple[str, ...]:
    """Key measures with zero duplicates in the base's evidence."""
    asked = [
        measure_key(measure)
        for measure in measures
        if isinstance(measure, DuplicateRows) and measure.scope is Scope.TABLE
    ]
    if base is None or not asked:
        return ()
    version = require_version(tx, dataset.dataset_id, base.version)
    evidence = approved_evidence(tx, dataset, version)
    return tuple(key for key in asked if evidence.measures.get(key) == 0)
