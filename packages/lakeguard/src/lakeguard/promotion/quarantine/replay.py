"""Sending rows again that wait: a build of its own, which adds to what the table has."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lakeguard.dispatch.assign import submit_build
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.quarantine.load import chosen_of, quarantine_of
from lakeguard.ledger.quarantine.state import Holding, Quarantine
from lakeguard.ledger.versions import Pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
)
from lakeguard_sdk.errors import NothingQuarantined, NotReplayable, ReadsWholeSource
from lakeguard_sdk.model.load import KEYED_LOADS, Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineSelection, ReplayParameters

_ADDS = {
    LoadType.FULL: LoadType.APPEND,
    LoadType.PARTITION: LoadType.APPEND,
    LoadType.SNAPSHOT: LoadType.INCREMENTAL,
}
"""What replaces rows by those of a whole batch cannot do so by a few of them."""


def order_replay(
    context: PlaneContext,
    name: DatasetName,
    triggered_by: str,
    order: ReplayParameters,
    key: str | None = None,
) -> str:
    """Submit a replay; refused where nothing chosen waits, or nothing orders the rows."""
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        replayable_holdings(tx, dataset, order)
        return submit_build(
            tx,
            dataset,
            key=key,
            parameters=json.dumps({"replay": order.to_data()}),
            triggered_by=triggered_by,
            rules=context.dispatch,
        )


def task_replay(task: Task) -> ReplayParameters | None:
    parameters = json.loads(task.parameters).get("replay")
    return None if parameters is None else ReplayParameters.model_validate(parameters)


def replayable_holdings(
    tx: Transaction, dataset: RegisteredDataset, order: ReplayParameters
) -> tuple[Holding, ...]:
    """``NotReplayable``, with the way out, where it is not known which rows are newer, or whether
    the table has them already."""
    load, name = dataset.definition.load, dataset.name
    if load.type is LoadType.FULL and load.hash is HashStrategy.KEY_HASH:
        reason = "a FULL load with a key_hash adds no rows; it reads them all again"
        raise ReadsWholeSource(dataset=name, reason=reason)
    problem = None if order.as_newest else _unordered(load)
    if problem is not None:
        raise NotReplayable(dataset=name, reason=problem)
    quarantine = quarantine_of(tx, dataset.dataset_id)
    chosen = _chosen(quarantine, dataset, order.choice)
    problem = None if order.as_newest else _backfilled(load, quarantine, chosen)
    if problem is not None:
        raise NotReplayable(dataset=name, reason=problem)
    return chosen


def why_not_replayable(
    tx: Transaction, dataset: RegisteredDataset, choice: QuarantineSelection
) -> NotReplayable | None:
    """What a replay of what waits and is chosen would be refused with; None if it would not."""
    try:
        replayable_holdings(tx, dataset, ReplayParameters(choice=choice))
    except NotReplayable as error:
        return error
    return None


def chosen_holdings(
    tx: Transaction, dataset: RegisteredDataset, choice: QuarantineSelection
) -> tuple[Holding, ...]:
    """What waits and is chosen; ``NothingQuarantined`` where that is nothing."""
    return _chosen(quarantine_of(tx, dataset.dataset_id), dataset, choice)


def _chosen(
    quarantine: Quarantine, dataset: RegisteredDataset, choice: QuarantineSelection
) -> tuple[Holding, ...]:
    quarantined = quarantine.quarantined(quarantine.published)
    chosen = chosen_of(dataset.name, quarantined, choice)
    if not chosen:
        raise NothingQuarantined(dataset=dataset.name, choice="")
    return chosen


def plan_replay(
    tx: Transaction,
    dataset: RegisteredDataset,
    published: Pointer | None,
    order: ReplayParameters,
    findings: Findings,
) -> QuarantineBuild | None:
    """The files of what waits and is chosen, pinned; None, and why in the findings, if none is."""
    try:
        chosen = replayable_holdings(tx, dataset, order)
    except (NotReplayable, NothingQuarantined) as error:
        findings.refuse("quarantine", f"{error}; {error.next_step}")
        return None
    rows = sum(item.rows for item in chosen)
    findings.accept("quarantine", f"{rows:,} quarantined rows are replayed")
    return QuarantineBuild(files=tuple(file for item in chosen for file in item.quarantine_files))


def replay_load(load: Load) -> Load:
    """The load turned into one that adds; quarantined rows are not late, whatever was read."""
    by_key = load.hash is HashStrategy.KEY_HASH
    kind = _ADDS.get(load.type, load.type)
    if load.type is LoadType.PARTITION and by_key:
        kind = LoadType.INCREMENTAL  # adding by key would leave out keys that the table has
    update: dict[str, object] = {
        "type": kind,
        "watermark": "",
        "lag": "",
        "inclusive": False,
        "late": LateRows.LOAD,
        "skip_unchanged": False,
    }
    if load.type in (LoadType.FULL, LoadType.PARTITION) and not by_key:
        update |= {"keys": (), "order_by": ()}
    return load.model_copy(update=update)


def _unordered(load: Load) -> str | None:
    if load.type is LoadType.PARTITION:
        return "the partitions that they belong to may have been replaced since"
    ordered = load.effective if load.type is LoadType.SCD2 else load.order_by
    if load.type not in KEYED_LOADS:
        return None
    if ordered:
        return _deleted_for_good(load)
    missing = "effective" if load.type is LoadType.SCD2 else "order_by"
    return f"without {missing} it is not known whether the table has newer rows of their keys"


def _deleted_for_good(load: Load) -> str | None:
    """A key that was deleted leaves nothing to hold older rows of it against, unless it is marked.
    A history knows when a key ended only where it had a state of it."""
    marks = load.type is LoadType.CDC and load.deletes is Deletes.SOFT
    if not load.operation or marks:
        return None
    return "their keys may have been deleted since, and the table does not know of it"


def _backfilled(load: Load, quarantine: Quarantine, chosen: Iterable[Holding]) -> str | None:
    """Rows that meet the table's by key are there once, however often they come; but what a
    snapshot of a window lacks, it deletes."""
    deletes = load.type is LoadType.SNAPSHOT
    if not deletes and (load.type in KEYED_LOADS or load.keys):
        return None
    runs = sorted({item.run_id for item in chosen if quarantine.backfilled_since(item)})
    if not runs:
        return None
    may = "may have deleted their keys" if deletes else "may have brought rows of it already"
    return f"a back-fill came after run {runs[0]}, and {may}"
