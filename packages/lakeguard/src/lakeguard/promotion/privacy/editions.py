"""Editions of a dataset: versions that were built under the same declared tags."""

from __future__ import annotations

from collections.abc import Hashable

from lakeguard.ledger.openings import opened_revision
from lakeguard.ledger.versions import require_version
from lakeguard.registry.store import definition_at
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import SourceColumn


class Editions:
    """The tags and origins that a dataset declared when a version was built. A version of another
    edition may hold values that the latest one does not speak of."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._revisions: dict[tuple[str, int], int | None] = {}
        self._found: dict[tuple[str, int | None], Hashable] = {}

    def __call__(self, item: InputVersion | SourceColumn) -> Hashable:
        version = item.dataset_id, item.version
        if version not in self._revisions:
            stored = require_version(self._tx, *version)
            self._revisions[version] = opened_revision(self._tx, stored.run_id)
        key = item.dataset_id, self._revisions[version]
        if key not in self._found:
            self._found[key] = self._declared(*key)
        return self._found[key]

    def _declared(self, dataset_id: str, revision: int | None) -> Hashable:
        if revision is None:
            return None
        columns = definition_at(self._tx, dataset_id, revision).columns
        spoken = (item for item in columns if item.tags or item.clean or item.derived_from)
        return frozenset(
            (item.name.casefold(), item.tags, item.derived_from, bool(item.clean))
            for item in spoken
        )
