"""Rows that wait, read from their files; what nobody may be told is masked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection

from lakeguard.gate.policies import forbids_pattern
from lakeguard.ledger.kept_choice import chosen_of
from lakeguard.ledger.kept_reading import quarantine_of
from lakeguard.ledger.kept_rows import Holding
from lakeguard.ledger.openings import accepted_plan, opened_revision
from lakeguard.promotion.heart import Organised
from lakeguard.promotion.hiding import hidden_since
from lakeguard.promotion.replaying import why_not_replayable
from lakeguard.registry.store import current_policies, require_dataset
from lakeguard_sdk.errors import NotReplayable, ReadsAllAnew, TableUnreadable
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.quarantine import KEPT_COLUMNS, KeptChoice, KeptListing
from lakeguard_sdk.sample import LONGEST_TEXT, MASKED, texts
from lakeguard_sdk.storage import join, local_path

Row = dict[str, Any]


@dataclass(frozen=True)
class ListingOrder:
    """What is to be read, and what of it is not told."""

    dataset: DatasetName
    holdings: tuple[Holding, ...]
    hidden: frozenset[str]
    """Columns, in lower case."""
    problem: NotReplayable | None = None
    """What a replay of it is refused with."""


def listing_order(
    connection: Connection, organised: Organised, name: DatasetName, choice: KeptChoice
) -> ListingOrder:
    """What waits and is chosen. Hidden is what was hidden when it was set aside, what got a tag
    since, and what the tags and policies of today hide."""
    org_id = organised.org_id
    dataset = require_dataset(connection, org_id, name)
    found = quarantine_of(connection, org_id, dataset.dataset_id)
    waiting = found.waiting(found.published)
    chosen = chosen_of(dataset.name, waiting, choice)
    policies = current_policies(connection, org_id)
    runs = {item.run_id for item in chosen}
    revisions = [opened_revision(connection, org_id, run_id) or 0 for run_id in runs]
    first = min(revisions, default=dataset.revision)
    hidden = set(hidden_since(connection, org_id, dataset, first))
    for run_id in runs:
        plan = accepted_plan(connection, org_id, run_id)
        hidden |= {*plan.masked, *plan.private}
        if any(policy.active and forbids_pattern(policy) for policy in policies):
            # a rest that passed says nothing of rows that were set aside
            hidden |= set(texts(plan.batch_schema))
    problem = why_not_replayable(connection, organised, dataset, choice) if chosen else None
    folded = frozenset(column.casefold() for column in hidden)
    return ListingOrder(dataset.name, chosen, folded, problem)


def read_listing(order: ListingOrder, lake: str, limit: int) -> KeptListing:
    """At most ``limit`` rows, the oldest files first."""
    rows = list(islice(_rows(order, lake), limit))
    columns = list(dict.fromkeys(name for row in rows for name in row if name not in KEPT_COLUMNS))
    masked = tuple(name for name in columns if name.casefold() in order.hidden)
    shown = (*columns, *KEPT_COLUMNS)
    return KeptListing(
        dataset=order.dataset,
        columns=shown,
        rows=tuple(
            tuple(MASKED if name in masked else _text(row.get(name)) for name in shown)
            for row in rows
        ),
        masked=masked,
        waiting=sum(item.rows for item in order.holdings),
        refused=str(order.problem.fields["reason"]) if order.problem else "",
        read_anew=isinstance(order.problem, ReadsAllAnew),
    )


def _rows(order: ListingOrder, lake: str) -> Iterator[Row]:
    for holding in order.holdings:
        for file in holding.files:
            place = join(lake, file.path)
            try:
                with pq.ParquetFile(local_path(place)) as content:
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
