"""A cache of successful runs, which are immutable."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, RowMapping, and_, select

from lakeguard.scheduler.invalidations.catch_up import EndedRun
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import (
    documents,
    partition_versions,
    run_history,
    run_openings,
    tasks,
    version_inputs,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunPlan, Window

_LATEST_DELAY = timedelta(hours=1)
"""An end may become visible this long after its timestamp."""
_NEVER = datetime(1, 1, 2, tzinfo=UTC)


class RunsRequest(NamedTuple):
    """A request for runs of a dataset that opened after a time."""

    since: datetime
    replaces: bool
    """Whether its load replaces partitions, so that a run's partitions matter."""


@dataclass
class KnownRuns:
    """Cached runs by dataset; can be dropped at any time."""

    anew_after: int = 1000
    """Ticks until the cache is rebuilt, which catches ends that were committed very late."""
    _runs: dict[str, tuple[EndedRun, ...]] = field(default_factory=dict)
    _requested: dict[str, RunsRequest] = field(default_factory=dict)
    _until: datetime = _NEVER
    """The latest end seen so far."""
    _turns: int = 0

    def runs(self, dataset_id: str) -> tuple[EndedRun, ...]:
        """Runs by time of opening."""
        return self._runs.get(dataset_id, ())

    def missing(self, wanted: Mapping[str, RunsRequest]) -> dict[str, RunsRequest]:
        """Requests that the cache does not cover."""
        return {
            key: requested
            for key, requested in wanted.items()
            if key not in self._requested
            or requested.since < self._requested[key].since
            or requested.replaces is not self._requested[key].replaces
        }

    def read(self, tx: Transaction, wanted: Mapping[str, RunsRequest]) -> None:
        """Read all requested runs; a run ends after it opens, so ends are filtered alike."""
        for key in wanted:
            self._runs.pop(key, None)
        if wanted:
            self._until = max(self._until, min(one.since for one in wanted.values()))
        for some in in_pieces(sorted(wanted, key=lambda key: wanted[key].since)):
            requested = {key: wanted[key] for key in some}
            self._add(tx, requested, min(one.since for one in requested.values()))
        self._requested |= wanted

    def read_on(self, tx: Transaction) -> None:
        """Read runs of the cached datasets that ended since."""
        self._turns += 1
        if self._turns % self.anew_after == 0:
            self.keep(())
        until = self._until
        for some in in_pieces(sorted(self._requested)):
            self._add(tx, {key: self._requested[key] for key in some}, until)

    def keep(self, dataset_ids: Collection[str]) -> None:
        """Drop datasets that are no longer requested."""
        self._requested = {
            key: self._requested[key] for key in dataset_ids if key in self._requested
        }
        self._runs = {key: self._runs[key] for key in self._requested if key in self._runs}

    def _add(self, tx: Transaction, requested: Mapping[str, RunsRequest], after: datetime) -> None:
        found: dict[str, list[EndedRun]] = defaultdict(list)
        for row, run in _read(tx, requested, after - _LATEST_DELAY):
            found[row["dataset_id"]].append(run)
            self._until = max(self._until, row["end_time"])
        for key, runs in found.items():
            known = {run.run_id: run for run in self.runs(key)}
            every = known | {run.run_id: run for run in runs}
            if every != known:
                self._runs[key] = tuple(sorted(every.values(), key=lambda run: run.opened_at))


def _read(
    tx: Transaction, requested: Mapping[str, RunsRequest], after: datetime
) -> Iterator[tuple[RowMapping, EndedRun]]:
    ended, opened = run_history.c, run_openings.c
    chosen = and_(
        ended.org_id == tx.org_id,
        ended.dataset_id.in_(sorted(requested)),
        ended.end_time > after,
        ended.status == RunStatus.SUCCESS.value,
    )
    rows = tx.execute(
        select(
            ended.run_id,
            ended.dataset_id,
            ended.end_time,
            ended.version,
            opened.base_version,
            opened.opened_at,
            tasks.c.parameters,
        )
        .join(run_openings, opened.run_id == ended.run_id)
        .join(tasks, tasks.c.task_id == ended.task_id)
        .where(chosen)
    )
    ends = (
        rows.mappings().all()
    )  # a run's facts are committed with its end, so they are visible by now
    inputs, pins = _inputs(tx, chosen), _pins(tx, chosen)
    replacing = [key for key, one in requested.items() if one.replaces]
    brought = _partitions(tx, chosen, replacing) if replacing else {}
    for row in ends:
        read = (pins if row["version"] is None else inputs).get(row["run_id"], {})
        yield row, _ended_run(row, read, brought.get(row["run_id"], frozenset()))


def _ended_run(row: RowMapping, inputs: Mapping[str, int], partitions: frozenset[str]) -> EndedRun:
    parameters = json.loads(row["parameters"])
    window = parameters.get("window")
    return EndedRun(
        run_id=row["run_id"],
        opened_at=row["opened_at"],
        base=row["base_version"],
        version=row["version"],
        inputs=inputs,
        window=None if window is None else Window(**window),
        builds="replay" not in parameters,
        partitions=partitions,
    )


def _pins(tx: Transaction, chosen: ColumnElement[bool]) -> dict[str, dict[str, int]]:
    """Inputs of runs without a version, by run."""
    opened, ended = run_openings.c, run_history.c
    rows = tx.execute(
        select(ended.run_id, documents.c.body)
        .join(run_openings, opened.run_id == ended.run_id)
        .join(
            documents,
            (documents.c.org_id == opened.org_id) & (documents.c.content_hash == opened.plan_hash),
        )
        .where(chosen, ended.version.is_(None))
    )
    plans = ((row.run_id, RunPlan.from_json(row.body)) for row in rows)
    return {
        run_id: {pin.input.dataset_id: pin.input.version for pin in plan.pins}
        for run_id, plan in plans
    }


def _inputs(tx: Transaction, chosen: ColumnElement[bool]) -> dict[str, dict[str, int]]:
    """Input versions by run."""
    read, ended = version_inputs.c, run_history.c
    rows = tx.execute(
        select(ended.run_id, read.input_dataset_id, read.input_version)
        .join(
            version_inputs,
            (read.dataset_id == ended.dataset_id) & (read.version == ended.version),
        )
        .where(chosen)
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[row.run_id][row.input_dataset_id] = row.input_version
    return found


def _partitions(
    tx: Transaction, chosen: ColumnElement[bool], dataset_ids: Collection[str]
) -> dict[str, frozenset[str]]:
    """Partitions added or replaced, by run."""
    brought, ended = partition_versions.c, run_history.c
    rows = tx.execute(
        select(ended.run_id, brought.partition_key)
        .join(
            partition_versions,
            (brought.dataset_id == ended.dataset_id) & (brought.version == ended.version),
        )
        .where(chosen, ended.dataset_id.in_(sorted(dataset_ids)))
    )
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row.run_id].add(row.partition_key)
    return {run_id: frozenset(keys) for run_id, keys in found.items()}
