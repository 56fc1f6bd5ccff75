"""Records an invalidation of a range of a dataset."""

from __future__ import annotations

from collections.abc import Collection

from lakeguard.ledger.invalidations import Invalidation, record_invalidation
from lakeguard.ledger.partitions import partitions_at
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.publishing.invalidate_replaced import MOST_NAMED
from lakeguard.registry.store import RegisteredDataset, current_target, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotFullyRebuilt, SecretInReason, UnknownRowRange
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.model.partitions import partition_key, partition_values
from lakeguard_sdk.model.row_ranges import WHOLE, RowRange
from lakeguard_sdk.model.windows import window_problem
from lakeguard_sdk.scheduling.invalidations import Reason
from lakeguard_sdk.security.secret_values import holds_secret


def invalidate(
    context: PlaneContext, name: DatasetName, reach: RowRange, reason: Reason, why: str
) -> Invalidation:
    """Invalidate a range and everything built from it."""
    if holds_secret(why):
        raise SecretInReason()
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        return record_invalidation(
            tx,
            dataset.dataset_id,
            checked_reach(tx, dataset, reach),
            reason,
            at=tx.now(),
            actor=tx.actor,
            why=why or None,
        )


def checked_reach(tx: Transaction, dataset: RegisteredDataset, reach: RowRange) -> RowRange:
    """The range with partitions in the ledger's spelling. Raises ``UnknownRowRange`` if the
    dataset has none such, ``NotFullyRebuilt`` if no run could ever repair it."""
    published = pointer(tx, dataset.dataset_id)
    if published is None:
        raise UnknownRowRange(dataset=dataset.name, problem="it has no version yet")
    if reach.window is not None and (
        problem := window_problem(reach.window, dataset.definition.declared)
    ):
        raise UnknownRowRange(dataset=dataset.name, problem=problem)
    if reach.window is not None:
        return reach
    target = current_target(tx, dataset.definition.target or "")
    columns = dataset.definition.partition_columns(target)
    known = partitions_at(tx, dataset.dataset_id, published.version)
    if reach.whole:
        return _all_of(dataset, known if columns else ())
    keys = {_spelled(dataset, columns, key) for key in reach.partitions}
    missing = sorted(keys - known.keys())
    if missing and known:
        raise UnknownRowRange(
            dataset=dataset.name, problem=f"v{published.version} has no partition {missing[0]}"
        )
    return RowRange(partitions=tuple(sorted(keys)))


def _all_of(dataset: RegisteredDataset, partitions: Collection[str]) -> RowRange:
    """A load that reads only new rows can be repaired by partition, if at all."""
    load = dataset.definition.load.type
    if load not in NEW_ROWS_ONLY:
        return WHOLE
    if not 0 < len(partitions) <= MOST_NAMED:
        raise NotFullyRebuilt(dataset=dataset.name, load=load)
    return RowRange(partitions=tuple(sorted(partitions)))


def _spelled(dataset: RegisteredDataset, columns: tuple[str, ...], key: str) -> str:
    if not columns:
        raise UnknownRowRange(dataset=dataset.name, problem="it is not partitioned")
    try:
        values = partition_values(key)
    except ValueError as error:
        raise UnknownRowRange(dataset=dataset.name, problem=str(error)) from None
    if set(values) != set(columns):
        problem = f"it is partitioned by {', '.join(columns)}, not by {', '.join(values)}"
        raise UnknownRowRange(dataset=dataset.name, problem=problem)
    return partition_key(values, columns)
