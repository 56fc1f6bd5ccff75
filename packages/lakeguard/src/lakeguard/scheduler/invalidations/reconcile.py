"""Reconciliation: launches datasets that can catch up, records those that have.

It is level-triggered: a missed event loses nothing, because the next tick sees the same facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, select

from lakeguard.dispatch.task_list import not_over
from lakeguard.ledger.invalidations import (
    Invalidation,
    Progress,
    open_invalidations,
    progress_of,
    record_end,
    record_progress,
)
from lakeguard.ledger.versions import latest_pointers
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.queries import current_datasets
from lakeguard.registry.store import current_targets
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.graph.store import active_graph
from lakeguard.scheduler.invalidations.catch_up import (
    Followed,
    Node,
    Stale,
    follow,
    undecided,
)
from lakeguard.scheduler.invalidations.run_cache import KnownRuns, RunsRequest
from lakeguard.scheduler.launch.gate_facts import read_facts
from lakeguard.scheduler.launch.gates import overlapping, refusal
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.locks import hold
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, TaskKind, TaskState
from lakeguard_sdk.errors import (
    Frozen,
    LaunchRefused,
    Overlapping,
    ParentFailed,
    ParentLate,
)
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.model.row_ranges import WHOLE, RowRange, joined, window_over
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import End, Standing

# Dataset histories: dependencies, and successful runs since the invalidation.

Wanted = Callable[[Mapping[str, Node]], Mapping[str, datetime]]
"""Datasets whose runs are needed, and since when, given what is known so far."""


class Histories(NamedTuple):
    nodes: dict[str, Node]
    definitions: dict[str, DatasetDefinition]
    """Keyed by dataset id."""

    def name(self, dataset_id: str) -> DatasetName:
        return self.definitions[dataset_id].dataset

    def window(self, dataset_id: str, reach: RowRange, *, own: bool) -> Window | None:
        """The window that rebuilds the range; None if only a full run does.

        A windowed APPEND reads its inputs only as far as before, to avoid duplicates: it repairs
        its own rows but does not see repairs upstream.
        """
        appends = self.definitions[dataset_id].load.type is LoadType.APPEND
        if appends and not own:
            return None
        return window_over(reach, self.nodes[dataset_id].schema)

    def with_runs(self, known: KnownRuns) -> Histories:
        nodes = {key: replace(node, runs=known.runs(key)) for key, node in self.nodes.items()}
        return self._replace(nodes=nodes)


def _read_histories(tx: Transaction, wanted: Wanted, known: KnownRuns) -> Histories:
    """All datasets with the runs that matter; cached runs are not read again.

    Which runs matter depends on those already read, so this repeats until none is missing.
    """
    found = _datasets(tx)
    known.read_on(tx)
    while True:
        found = found.with_runs(known)
        asked = {
            key: RunsRequest(since, found.definitions[key].load.type is LoadType.PARTITION)
            for key, since in wanted(found.nodes).items()
        }
        missing = known.missing(asked)
        if not missing:
            known.keep(asked)
            return found
        known.read(tx, missing)


def _datasets(tx: Transaction) -> Histories:
    rows = tx.execute(current_datasets(tx.org_id)).all()
    definitions = {row.dataset_id: _definition(row.definition) for row in rows}
    ids = {definition.dataset: key for key, definition in definitions.items()}
    targets = current_targets(tx)
    shown = latest_pointers(tx)
    building = _building(tx)
    nodes = {
        key: Node(
            dataset_id=key,
            parents=tuple(ids[name] for name in one.parents if name in ids),
            published=shown[key].version if key in shown else None,
            schema=one.declared,
            partition_by=one.partition_columns(targets.get(one.target or "")),
            watermark=one.load.watermark,
            reads_all=one.load.type not in NEW_ROWS_ONLY,
            active=one.active,
            building=key in building,
        )
        for key, one in definitions.items()
    }
    return Histories(nodes, definitions)


def _building(tx: Transaction) -> frozenset[str]:
    query = select(tasks.c.dataset_id).where(
        tasks.c.org_id == tx.org_id,
        tasks.c.state == TaskState.RUNNING.value,
        tasks.c.kind == TaskKind.BUILD.value,
    )
    return frozenset(tx.scalars(query))


@lru_cache(maxsize=20_000)
def _definition(text: str) -> DatasetDefinition:
    return DatasetDefinition.from_json(text)


ACTOR = "invalidation"
_KEY = "invalidation"
_OVER = (Standing.CAUGHT_UP, Standing.NOT_AFFECTED)
_PASSING = (Frozen, Overlapping, ParentFailed, ParentLate)
"""Why a launch must wait: a refused one would use up its key."""


@dataclass(frozen=True)
class Open:
    """An open invalidation and its progress."""

    invalidation: Invalidation
    followed: dict[str, Followed]
    known: dict[str, Progress]
    """Progress recorded so far."""

    @property
    def done(self) -> bool:
        return all(one.made.standing in _OVER for one in self.followed.values())

    @property
    def new_progress(self) -> list[Progress]:
        """Datasets that caught up since; at the end also those never affected."""
        reported = _OVER if self.done else (Standing.CAUGHT_UP,)
        made = (item.made for key, item in self.followed.items() if key not in self.known)
        return [one for one in made if one.standing in reported]


def reconcile(context: PlaneContext, known: KnownRuns | None = None) -> int:
    """Launch jobs and return how many; refusals do not count. Idempotent for the same facts.

    Repeated callers pass a run cache.
    """
    runs = KnownRuns() if known is None else known
    with context.read() as tx:  # usually nothing is new, so check without a lock
        if not any(_planned(tx, runs)):
            return 0
    with context.write() as tx:
        hold(tx, f"invalidations:{tx.org_id}")
        moved, requests = _planned(tx, runs)
        for one in moved:
            _record(tx, one)
        launched = launch(tx, context, requests)
    return sum(one.new and one.state is TaskState.QUEUED for one in launched)


def _planned(tx: Transaction, runs: KnownRuns) -> tuple[list[Open], list[LaunchRequest]]:
    """What to record for which invalidations, and what to launch."""
    histories, found = standing(tx, runs)
    requests = _requests(tx, histories, [one for one in found if not one.done])
    return [one for one in found if one.done or one.new_progress], requests


def standing(tx: Transaction, runs: KnownRuns) -> tuple[Histories, list[Open]]:
    """Every open invalidation with its current progress, oldest first."""
    found = open_invalidations(tx)
    if not found:
        runs.keep(())
        return Histories({}, {}), []
    known = progress_of(tx, [one.invalidation_id for one in found])
    followed = [(one, _stale(one, known[one.invalidation_id])) for one in found]

    def wanted(nodes: Mapping[str, Node]) -> dict[str, datetime]:
        """Runs of each dataset since the oldest invalidation that needs them."""
        since: dict[str, datetime] = {}
        for one, stale in followed:  # the oldest first
            for key in undecided(stale, nodes, known[one.invalidation_id]):
                since.setdefault(key, stale.since)
        return since

    histories = _read_histories(tx, wanted, runs)
    return histories, [
        _open(one, stale, histories, known[one.invalidation_id]) for one, stale in followed
    ]


def _stale(one: Invalidation, known: Mapping[str, Progress]) -> Stale:
    own = known.get(one.dataset_id)
    repaired = own.version if own is not None and one.caused_by is not None else None
    return Stale(one.dataset_id, one.reach, one.created_at, repaired)


def _open(
    one: Invalidation, stale: Stale, histories: Histories, known: dict[str, Progress]
) -> Open:
    """Recorded progress is final: a dataset that caught up stays so."""
    followed = {
        key: Followed(known.get(key, item.made), item.reach, () if key in known else item.waits_for)
        for key, item in follow(stale, histories.nodes).items()
    }
    return Open(one, followed, known)


def _record(tx: Transaction, one: Open) -> None:
    key = one.invalidation.invalidation_id
    record_progress(tx, key, one.new_progress, tx.now())
    if one.done:
        record_end(tx, key, End.DONE, actor=ACTOR, reason=None)


def jobs_by_dataset(tx: Transaction, histories: Histories) -> dict[str, CurrentJob]:
    """The job that builds each dataset, if deployed and enabled."""
    graph = active_graph(tx)
    if graph is None:
        return {}
    ids = {str(one.dataset): key for key, one in histories.definitions.items()}
    found: dict[str, CurrentJob] = {}
    for job in current_jobs(tx).values():
        builds = job.controls.kind is TaskKind.BUILD and graph.knows(job.definition)
        key = ids.get(str(job.definition.dataset))
        if builds and job.active and job.enabled and key is not None:
            found.setdefault(key, job)
    return found


def _requests(tx: Transaction, histories: Histories, found: Iterable[Open]) -> list[LaunchRequest]:
    """One launch for each dataset that can catch up now, over its whole backlog; none while a build
    for an invalidation is open, or its job is held back."""
    ready: dict[str, list[tuple[Open, Followed]]] = {}
    for one in found:
        for key, item in one.followed.items():
            if item.made.standing is Standing.READY:
                ready.setdefault(key, []).append((one, item))
    if not ready:
        return []
    jobs = jobs_by_dataset(tx, histories)
    keys = {
        key: [task_key(one.invalidation.invalidation_id, key) for one, _ in ready[key]]
        for key in ready
        if key in jobs
    }
    launched = launched_tasks(tx, keys)
    busy = _busy(tx, list(keys))
    requests = []
    for key in (key for key in keys if key not in busy):
        new = next((name for name in keys[key] if name not in launched), None)
        if new is not None:
            requests.append(_request(jobs[key], key, new, histories, ready[key]))
    requested = {request.job_id for request in requests}
    asked = [job for job in jobs.values() if job.job_id in requested]
    held = held_back(tx, asked, tx.now())
    return [request for request in requests if request.job_id not in held]


def held_back(
    tx: Transaction, jobs: Collection[CurrentJob], at: datetime
) -> dict[str, LaunchRefused]:
    """Ids of jobs that would be refused for a temporary reason."""
    if not jobs:
        return {}
    facts = read_facts(tx, jobs, at)
    held: dict[str, LaunchRefused] = {}
    for job in jobs:
        why = refusal(job, facts)
        if why is None and job.job_id in facts.under_way:
            why = overlapping(job)
        if isinstance(why, _PASSING):
            held[job.job_id] = why
    return held


def _request(
    job: CurrentJob,
    dataset_id: str,
    key: str,
    histories: Histories,
    lagging: list[tuple[Open, Followed]],
) -> LaunchRequest:
    reach = joined(item.reach for _, item in lagging)
    own = all(one.invalidation.dataset_id == dataset_id for one, _ in lagging)
    window = histories.window(dataset_id, reach, own=own)
    details = {
        "invalidations": [one.invalidation.invalidation_id for one, _ in lagging],
        "reach": (WHOLE if window is None else reach).to_data(),
    }
    return LaunchRequest(
        job_id=job.job_id,
        key=key,
        cause=Cause(kind=CauseKind.INVALIDATION, details=details),
        actor=ACTOR,
        window=window,
        waits_out=_PASSING,
    )


def task_key(invalidation_id: str, dataset_id: str) -> str:
    """The task key: one per invalidation and dataset, so its outcome stays visible."""
    return f"{_KEY}:{invalidation_id}:{dataset_id}"


def launched_for_some() -> ColumnElement[bool]:
    """Tasks launched for any invalidation."""
    return tasks.c.dedupe_key.startswith(f"{_KEY}:")


def launched_tasks(tx: Transaction, keys: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Tasks by key, for keys given by dataset."""
    pairs = [(dataset_id, key) for dataset_id, some in keys.items() for key in some]
    found: dict[str, str] = {}
    for piece in in_pieces(pairs):
        query = select(tasks.c.dedupe_key, tasks.c.task_id).where(
            tasks.c.org_id == tx.org_id,
            tasks.c.dataset_id.in_({dataset_id for dataset_id, _ in piece}),
            tasks.c.dedupe_key.in_([key for _, key in piece]),
        )
        found |= {row.dedupe_key: row.task_id for row in tx.execute(query)}
    return found


def _busy(tx: Transaction, dataset_ids: list[str]) -> set[str]:
    """Datasets with an open build for an invalidation."""
    found: set[str] = set()
    for piece in in_pieces(dataset_ids):
        query = select(tasks.c.dataset_id).where(
            tasks.c.org_id == tx.org_id,
            tasks.c.dataset_id.in_(piece),
            launched_for_some(),
            not_over(),
        )
        found |= set(tx.scalars(query))
    return found
