"""Quarantined rows: what became of them, and that all of them are accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from lakeguard.ledger.openings import accepted_plan, opened_revision
from lakeguard.ledger.quarantine.facts import datasets_with_holdings, holdings_of
from lakeguard.ledger.quarantine.load import chosen_of, quarantine_of, rows_read_by
from lakeguard.ledger.quarantine.state import Holding, oldest
from lakeguard.registry.store import current_policies, dataset_by_id, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotReplayable, ReadsWholeSource, TableUnreadable
from lakeguard_sdk.model.quarantine import (
    QUARANTINE_COLUMNS,
    QuarantineBalance,
    QuarantineEntry,
    QuarantineListing,
    QuarantineSelection,
)
from lakeguard_sdk.model.row_sample import LONGEST_TEXT, MASKED, texts
from lakeguard_sdk.storage.storage import join, readable_file


def quarantined_rows(tx: Transaction, name: DatasetName | None) -> tuple[QuarantineEntry, ...]:
    """Quarantined rows by run and rule, by dataset, oldest first."""
    if name is not None:
        datasets = [require_dataset(tx, name)]
    else:
        held = datasets_with_holdings(tx)
        datasets = [dataset_by_id(tx, dataset_id) for dataset_id in held]
    found: list[QuarantineEntry] = []
    for dataset in sorted(datasets, key=lambda item: item.name):
        quarantine = quarantine_of(tx, dataset.dataset_id)
        found += quarantine.entries(dataset.name)
    return tuple(found)


def rows_in_quarantine(tx: Transaction) -> dict[str, tuple[int, datetime | None]]:
    """Quarantined row counts and the oldest time, by dataset."""
    found = {}
    for dataset_id in datasets_with_holdings(tx):
        quarantine = quarantine_of(tx, dataset_id)
        quarantined = quarantine.quarantined(quarantine.published)
        found[dataset_id] = sum(item.rows for item in quarantined), oldest(quarantined)
    return found


def quarantined_by_version(tx: Transaction, dataset_id: str) -> dict[int, int]:
    """Quarantined row counts by version."""
    found: dict[int, int] = {}
    for holding in holdings_of(tx, dataset_id):
        found[holding.version] = found.get(holding.version, 0) + holding.rows
    return found


def balance_of(tx: Transaction, name: DatasetName) -> QuarantineBalance:
    """As of the published version."""
    dataset = require_dataset(tx, name)
    quarantine = quarantine_of(tx, dataset.dataset_id, whole=True)
    version = quarantine.published
    line = quarantine.line(version)
    read = rows_read_by(tx, dataset.dataset_id, line)
    return quarantine.balance(dataset.name, version, read)


# Quarantined rows, read from their files; what nobody may be told is masked.

Row = dict[str, Any]


@dataclass(frozen=True)
class ListingOrder:
    """Files to read, and columns to mask."""

    dataset: DatasetName
    holdings: tuple[Holding, ...]
    hidden: frozenset[str]
    """Lower-case column names."""
    problem: NotReplayable | None = None
    """Why a replay would be refused."""


def listing_order(tx: Transaction, name: DatasetName, choice: QuarantineSelection) -> ListingOrder:
    """What waits and is chosen. Hidden is what was hidden when it was quarantined, what got a tag
    since, and what the tags and policies of today hide."""
    from lakeguard.gate.policies import forbids_pattern
    from lakeguard.promotion.privacy.private_columns import hidden_since
    from lakeguard.promotion.quarantine.replay import why_not_replayable

    dataset = require_dataset(tx, name)
    found = quarantine_of(tx, dataset.dataset_id)
    quarantined = found.quarantined(found.published)
    chosen = chosen_of(dataset.name, quarantined, choice)
    policies = current_policies(tx)
    runs = {item.run_id for item in chosen}
    revisions = [opened_revision(tx, run_id) or 0 for run_id in runs]
    first = min(revisions, default=dataset.revision)
    hidden = set(hidden_since(tx, dataset, first))
    for run_id in runs:
        plan = accepted_plan(tx, run_id)
        hidden |= {*plan.masked, *plan.private}
        if any(policy.active and forbids_pattern(policy) for policy in policies):
            # a rest that passed says nothing of quarantined rows
            hidden |= set(texts(plan.batch_schema))
    problem = why_not_replayable(tx, dataset, choice) if chosen else None
    folded = frozenset(column.casefold() for column in hidden)
    return ListingOrder(dataset.name, chosen, folded, problem)


def read_listing(order: ListingOrder, lake: str, limit: int) -> QuarantineListing:
    """At most ``limit`` rows, oldest files first."""
    rows = list(islice(_rows(order, lake), limit))
    columns = list(
        dict.fromkeys(name for row in rows for name in row if name not in QUARANTINE_COLUMNS)
    )
    masked = tuple(name for name in columns if name.casefold() in order.hidden)
    shown = (*columns, *QUARANTINE_COLUMNS)
    return QuarantineListing(
        dataset=order.dataset,
        columns=shown,
        rows=tuple(
            tuple(MASKED if name in masked else _text(row.get(name)) for name in shown)
            for row in rows
        ),
        masked=masked,
        quarantined=sum(item.rows for item in order.holdings),
        refused=str(order.problem.fields["reason"]) if order.problem else "",
        read_anew=isinstance(order.problem, ReadsWholeSource),
    )


def _rows(order: ListingOrder, lake: str) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for holding in order.holdings:
        for file in holding.files:
            place = join(lake, file.path)
            try:
                with pq.ParquetFile(readable_file(place)) as content:
                    for batch in content.iter_batches(batch_size=100):
                        yield from batch.to_pylist()
            except (OSError, pa.ArrowException) as error:
                raise TableUnreadable(
                    dataset=order.dataset, location=place, reason=str(error)
                ) from error


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ") + " UTC"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return str(value)[:LONGEST_TEXT]
