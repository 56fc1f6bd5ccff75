"""Deployment: activates the graph of what is registered, or an earlier version of it.

Equal content is the same version, so deploying it again is a no-op. Going back cancels the work of
newer versions: queued tasks in the same transaction, running ones right after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_list import not_over
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.ledger.left_graphs import graph_lock, left_graphs
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.cancel import cancel_left
from lakeguard.registry.files.job_settings import cannot_start
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.graph.dag import (
    Differences,
    Graph,
    differences,
    graph_of,
)
from lakeguard.scheduler.graph.dataset_state import Made, made_of_all
from lakeguard.scheduler.graph.store import (
    StoredGraph,
    activate,
    active_graph,
    find_graph,
    keep_graph,
)
from lakeguard.state.connections import is_reading
from lakeguard.state.locks import hold
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import (
    GraphRolledBack,
    LakeGuardError,
    NotCancelable,
    NotDeployable,
    NothingToDeploy,
    SecretInReason,
    StateError,
)
from lakeguard_sdk.scheduling.jobs import Deployed
from lakeguard_sdk.security.secret_values import holds_secret
from lakeguard_sdk.storage.fault_points import reached

_WAITING = (TaskState.QUEUED, TaskState.FAILED)


@dataclass(frozen=True)
class Superseded:
    """Tasks of abandoned versions: those ended, and those that could not be."""

    canceled: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def plan_deployment(tx: Transaction, to: str | None = None) -> Deployed:
    """What a deployment would change, as a dry run."""
    active = active_graph(tx)
    if to is not None:
        wanted = find_graph(tx, to)
        return _deployed(active, wanted.graph, wanted.dag_version_id)
    graph = defined_graph(tx)
    same = active is not None and active.content_hash == graph.content_hash()
    return _deployed(active, graph, active.dag_version_id if active and same else "")


def deploy(context: PlaneContext, reason: str = "", to: str | None = None) -> Deployed:
    """Concurrent deployments are serialised."""
    if holds_secret(reason):
        raise SecretInReason()
    with context.write() as tx:
        hold(tx, graph_lock(tx.org_id))
        at = tx.now()
        active = active_graph(tx)
        wanted = keep_graph(tx, defined_graph(tx), at) if to is None else find_graph(tx, to)
        done = _deployed(active, wanted.graph, wanted.dag_version_id)
        if done.changed:
            activate(tx, wanted, reason, at)
        waiting = _withdraw(tx, wanted)
    reached("graph.activated")
    running = _cancel_running(context)
    canceled = tuple(sorted({*waiting, *running.canceled}))
    return done.model_copy(update={"canceled": canceled, "problems": tuple(running.problems)})


def defined_graph(tx: Transaction) -> Graph:
    """The graph of everything registered; raises ``NothingToDeploy`` if empty, and
    ``NotDeployable`` if a job could never start."""
    jobs = current_jobs(tx).values()
    made = made_of_all(tx)
    _require_startable(jobs, made)
    parents = {str(name): each.parents for name, each in made.items()}
    graph = graph_of(parents, [job.definition for job in jobs])
    if graph == Graph():
        raise NothingToDeploy()
    return graph


def _require_startable(jobs: Iterable[CurrentJob], made: Mapping[DatasetName, Made]) -> None:
    problems = [problem for job in jobs if (problem := _cannot_start(job, made))]
    if problems:
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        raise NotDeployable(problem=f"{problems[0]}{more}")


def _cannot_start(job: CurrentJob, made: Mapping[DatasetName, Made]) -> str:
    problem = cannot_start(job.definition)
    dataset = job.definition.dataset
    if problem or not job.active or job.controls.kind is not TaskKind.BUILD or dataset is None:
        return problem
    if dataset in made and made[dataset].by_program:
        return f"job {job.name} builds {dataset}, which only a program publishes (build: frame)"
    return ""


def _cancel_running(context: PlaneContext) -> Superseded:
    """Best effort: the graph is active already, and a dispatcher finishes the rest."""
    try:
        return cancel_superseded(context)
    except StateError as error:
        return Superseded(problems=[f"work of newer versions may go on: {error}"])


def cancel_superseded(context: PlaneContext) -> Superseded:
    """End tasks still running under a version newer than the active one.

    Run by the deployment, and again by a dispatcher in case the deployment died. A task that
    cannot be ended now (its table is unreadable, say) is reported and does not stop the others.
    """
    with context.read() as tx:
        running = _newer(tx)
    found = Superseded()
    for task in running:
        try:
            ended = cancel_left(context, task.task_id)
        except NotCancelable:  # ended in the meantime
            continue
        except StateError:
            raise
        except (LakeGuardError, OSError) as error:
            found.problems.append(f"task {task.task_id} could not be canceled: {error}")
            continue
        if ended is not None and ended.state is TaskState.CANCELED:
            found.canceled.append(task.task_id)
    return found


def _withdraw(tx: Transaction, active: StoredGraph) -> list[str]:
    waiting = [task for task in _newer(tx) if task.state in _WAITING]
    changes = [
        Change(
            task,
            TaskState.CANCELED,
            tx.actor,
            code=GraphRolledBack.code,
            message=str(GraphRolledBack(version=active.dag_version_id)),
        )
        for task in waiting
    ]
    change(tx, changes, tx.now())
    return [task.task_id for task in waiting]


def _newer(tx: Transaction) -> Sequence[Task]:
    """Open tasks of versions newer than the active one.

    Tasks are queried only if such a version exists.
    """
    left = left_graphs(tx)
    if not left:
        return []
    query = (
        select(tasks)
        .where(tasks.c.org_id == tx.org_id, tasks.c.dag_version_id.in_(sorted(left)), not_over())
        .order_by(tasks.c.task_id)
    )
    if tx.dialect.name == "postgresql" and not is_reading(tx.connection):
        query = query.with_for_update()
    return [task_from(row) for row in tx.execute(query)]


def _deployed(active: StoredGraph | None, graph: Graph, dag_version_id: str) -> Deployed:
    found: Differences = differences(Graph() if active is None else active.graph, graph)
    digest = graph.content_hash()
    return Deployed(
        dag_version_id=dag_version_id,
        dag_hash=digest,
        changed=active is None or active.content_hash != digest,
        added=found.added,
        removed=found.removed,
        altered=found.altered,
    )
