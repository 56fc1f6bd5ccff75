"""Facts that launch gates need, read once for all jobs of a tick."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from lakeguard.dispatch.task_list import not_over
from lakeguard.gate.subject import InheritedTag
from lakeguard.promotion.opening.run_settings import target_problems
from lakeguard.promotion.privacy.tag_propagation import travelled_tags_of
from lakeguard.registry.store import current_policies, current_targets
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.graph.dataset_state import Made, Standing, made_of_all, standings
from lakeguard.scheduler.graph.store import StoredGraph, active_graph
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import (
    dataset_registry,
    decisions,
    run_history,
    run_openings,
    source_systems,
    tasks,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    CheckKind,
    Outcome,
    PolicyType,
    RunStatus,
    TaskKind,
)
from lakeguard_sdk.model.definitions import DatasetDefinition, PolicyDefinition
from lakeguard_sdk.scheduling.jobs import Overlap

_TIMELY = (PolicyType.CHANGE_FREEZE, PolicyType.SLA)


@dataclass(frozen=True)
class LastRun:
    """How a dataset's last build ended."""

    run_id: str
    status: RunStatus
    revision: int | None
    """The hash of its definition."""
    by_schema: bool = False
    """Whether a change of schema blocked it."""


@dataclass(frozen=True)
class GateFacts:
    at: datetime
    graph: StoredGraph | None = None
    datasets: Mapping[DatasetName, Standing] = field(default_factory=dict)
    runs: Mapping[str, LastRun] = field(default_factory=dict)
    """Keyed by dataset id."""
    off: Mapping[DatasetName, str] = field(default_factory=dict)
    """Datasets that cannot be built because of a source, target or mapping, with the reason."""
    policies: tuple[PolicyDefinition, ...] = ()
    travelled: Mapping[DatasetName, tuple[InheritedTag, ...]] = field(default_factory=dict)
    under_way: frozenset[str] = frozenset()
    """Ids of non-overlapping jobs with an open task."""


def read_facts(tx: Transaction, jobs: Collection[CurrentJob], at: datetime) -> GateFacts:
    built = {
        job.definition.dataset
        for job in jobs
        if job.controls.kind is TaskKind.BUILD and job.definition.dataset
    }
    found = standings(tx, built) if built else {}
    policies = _policies(tx) if built else ()
    return GateFacts(
        at=at,
        graph=active_graph(tx),
        datasets=found,
        runs=_last_runs(tx, found.values()),
        off=dict(_off(tx, [found[name] for name in built if name in found])),
        policies=policies,
        travelled=_travelled(tx, policies, found),
        under_way=under_way(tx, jobs),
    )


def _policies(tx: Transaction) -> tuple[PolicyDefinition, ...]:
    known = current_policies(tx)
    return tuple(policy for policy in known if policy.active and policy.type in _TIMELY)


def _travelled(
    tx: Transaction, policies: Iterable[PolicyDefinition], found: Mapping[DatasetName, Standing]
) -> dict[DatasetName, tuple[InheritedTag, ...]]:
    """Computed only if an SLA or freeze policy selects by tag."""
    wanted = {policy.applies_to_tag for policy in policies if policy.applies_to_tag}
    return _travelled_to(tx, found, wanted) if wanted else {}


def _last_runs(tx: Transaction, found: Iterable[Standing]) -> dict[str, LastRun]:
    of = {each.last_run: each.dataset_id for each in found if each.last_run}
    runs: dict[str, LastRun] = {}
    for some in in_pieces(sorted(of)):
        query = (
            select(
                run_history.c.run_id,
                run_history.c.status,
                run_openings.c.dataset_revision,
                decisions.c.ruling,
            )
            .outerjoin(run_openings, run_openings.c.run_id == run_history.c.run_id)
            .outerjoin(
                decisions,
                (decisions.c.run_id == run_history.c.run_id)
                & (run_history.c.status == RunStatus.BLOCKED.value),
            )
            .where(run_history.c.org_id == tx.org_id, run_history.c.run_id.in_(some))
        )
        for row in tx.execute(query):
            status = RunStatus(row.status)
            runs[of[row.run_id]] = LastRun(
                row.run_id, status, row.dataset_revision, _by_schema(row.ruling)
            )
    return runs


def _by_schema(ruling: str | None) -> bool:
    checks = [] if ruling is None else json.loads(ruling)["checks"]
    return any(
        check["kind"] == CheckKind.SCHEMA and check["outcome"] in (Outcome.FAIL, Outcome.ERROR)
        for check in checks
    )


def _off(tx: Transaction, found: Collection[Standing]) -> Iterator[tuple[DatasetName, str]]:
    """The first missing or disabled part of each dataset."""
    sources = _sources(tx) if any(each.made.source for each in found) else {}
    targets = current_targets(tx) if any(each.made.target for each in found) else {}
    for each in found:
        source, target = each.made.source, each.made.target
        problems = []
        if source is not None and not sources.get(source, False):
            known = "disabled (active: false)" if source in sources else "not registered"
            problems.append(f"source {source} is {known}")
        if target is not None:
            problems += [
                problem for _, problem in target_problems(target, targets.get(target), source)
            ]
        if problems:
            yield each.name, problems[0]


def _sources(tx: Transaction) -> dict[str, bool]:
    view = source_systems.c
    query = select(view.source_name, view.active).where(view.org_id == tx.org_id)
    return {row.source_name: row.active for row in tx.execute(query)}


def under_way(tx: Transaction, jobs: Iterable[CurrentJob]) -> frozenset[str]:
    """Ids of non-overlapping jobs with an open task."""
    alone = sorted(job.job_id for job in jobs if job.controls.overlap is Overlap.SKIP)
    found: set[str] = set()
    for some in in_pieces(alone):
        query = select(tasks.c.job_id).where(
            tasks.c.org_id == tx.org_id, tasks.c.job_id.in_(some), not_over()
        )
        found |= set(tx.scalars(query.distinct()))
    return frozenset(found)


# Inherited tags of many datasets.

_MOST_NAMED = 500
"""Above this many, all are read instead of querying by id."""


def _travelled_to(
    tx: Transaction, names: Collection[DatasetName], wanted: Collection[str]
) -> dict[DatasetName, tuple[InheritedTag, ...]]:
    """Inherited tags by dataset, for datasets with a wanted tag upstream.

    The number of statements does not depend on the number of datasets.
    """
    made = made_of_all(tx)
    tags = {tag.lower() for tag in wanted}
    tagged = {name for name, each in made.items() if tags & _own_tags(each)}
    above = {name: _above(name, made) for name in names} if tagged else {}
    reached = [name for name in above if tagged & above[name]]
    if not reached:
        return {}
    needed = set(reached).union(*(above[name] for name in reached))
    return travelled_tags_of(tx, reached, _definitions(tx, needed))


def _own_tags(made: Made) -> set[str]:
    return {tag.lower() for tags in made.tags.values() for tag in tags}


def _above(name: DatasetName, made: Mapping[DatasetName, Made]) -> set[DatasetName]:
    """All ancestors of a dataset."""
    found: set[DatasetName] = set()
    coming = [name]
    while coming:
        known = made.get(coming.pop())
        new = set() if known is None else set(known.parents) - found
        found |= new
        coming += new
    return found


def _definitions(
    tx: Transaction, names: Collection[DatasetName]
) -> dict[DatasetName, DatasetDefinition]:
    view = dataset_registry.c
    query = select(view.dataset_name, view.definition).where(view.org_id == tx.org_id)
    if len(names) <= _MOST_NAMED:
        query = query.where(view.dataset_name.in_(sorted(names)))
    return {
        DatasetName(row.dataset_name): DatasetDefinition.from_json(row.definition)
        for row in tx.execute(query)
        if row.dataset_name in names
    }
