"""Retention: which files must stay, for retained versions and for runs in progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lakeguard.dispatch import tasks
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.versions import pointer_rows, shown_at, stored_versions
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import RunPlan

LAST_VERSIONS = 2
"""Versions retained regardless of age."""


@dataclass(frozen=True)
class Retained:
    """What to retain, from the State alone: commits, versions and active runs."""

    commits: frozenset[int]
    versions: frozenset[int]
    others: dict[int, int]
    """Expired versions, each with its last commit."""
    running: frozenset[str]
    adopted: int | None
    """The adoption commit, if the table was adopted."""
    read: tuple[tuple[int, int], ...]
    """Commit ranges read by running children: the files added in between."""


def what_stays(tx: Transaction, context: PlaneContext, dataset: RegisteredDataset) -> Retained:
    """Published now or within the retention period, among the last versions, or being read."""
    since = tx.now() - timedelta(days=context.maintenance.retention_days)
    moves = pointer_rows(tx, dataset.dataset_id)
    at_first = [move for move in moves if move.moved_at < since][-1:]
    shown = [*at_first, *(move for move in moves if move.moved_at >= since)]
    stored = stored_versions(tx, dataset.dataset_id)
    versions = {move.version for move in shown}
    versions |= {item.version for item in stored[:LAST_VERSIONS]}
    versions |= {item.version for item in stored if item.promoted_at >= since}
    commits = {move.commit_version for move in shown}
    last = {item.version: shown_at(tx, item.dataset_id, item.version) for item in stored}
    plans = list(_running_plans(tx))
    read = tuple(_reads(plans, {item.table_id for item in stored}))
    running = tasks.running_tasks(tx)
    return Retained(
        commits=frozenset(
            commits | {last[version] for version in versions} | {until for _, until in read}
        ),
        versions=frozenset(versions),
        others={version: at for version, at in last.items() if version not in versions},
        running=frozenset(str(task.run_id) for task in running),
        adopted=next((m.commit_version for m in moves if m.kind == MoveKind.ADOPTION.value), None),
        read=read,
    )


def _running_plans(tx: Transaction) -> Iterator[RunPlan]:
    for task in tasks.running_tasks(tx):
        try:
            yield opening_of(tx, str(task.run_id)).plan
        except UnknownRun:  # not a reading run: a rollback, a compaction, or just opening
            continue


def _reads(plans: Iterable[RunPlan], table_ids: set[str]) -> Iterator[tuple[int, int]]:
    for plan in plans:
        if plan.base is not None and plan.base.table_id in table_ids:
            yield plan.base.commit, plan.base.commit
        for pin in plan.pins:
            if pin.snapshot.table_id in table_ids:
                since = pin.since or pin.snapshot
                yield since.commit, pin.snapshot.commit


def states_at(commits: Sequence[Commit], wanted: Iterable[int]) -> dict[int, frozenset[str]]:
    """Files of each wanted commit, in one pass through the log."""
    asked, shown = set(wanted), set[str]()
    found: dict[int, frozenset[str]] = {}
    for commit in commits:
        shown = (shown - set(commit.removes)) | set(commit.adds)
        if commit.version in asked:
            found[commit.version] = frozenset(shown)
    return found


def needed_files(retained: Retained, commits: Sequence[Commit]) -> frozenset[str]:
    """Every file of a retained commit, or being read."""
    shown = states_at(commits, retained.commits).values()
    between = (
        path
        for commit in commits
        if any(since < commit.version <= until for since, until in retained.read)
        for path in commit.adds
    )
    return frozenset().union(*shown, between)
