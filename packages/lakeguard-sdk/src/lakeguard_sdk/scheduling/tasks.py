"""Tasks between the dispatcher and its workers: what is taken, kept alive and reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName, Word
from lakeguard_sdk.core.enums import (
    CauseKind,
    RunStatus,
    TaskKind,
    TaskState,
)
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import (
    Failure,
    RunTicket,
    Window,
    WorkerIdentity,
    failure_of,
)
from lakeguard_sdk.scheduling.jobs import (
    DagVersion,
    Deployed,
    JobRow,
    Launch,
    Ticked,
)


class Assignment(FrozenModel):
    """An attempt that a worker was given, with all that it may know."""

    ticket: RunTicket
    kind: TaskKind
    job: Word | None = None
    dataset: DatasetName | None = None
    call: str = ""
    url: str = ""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Details of the job, the date it is for, and what the launch set."""
    secrets: dict[str, str] = Field(default_factory=dict)
    """Those of the parameters that name a secret, ``env:NAME`` or ``file:PATH``: written by whoever
    defined the job, or by the person who launched it. No other text is ever looked up."""
    outputs: tuple[Word, ...] = ()
    timeout_seconds: int
    lease_seconds: float


class RefusedTask(FrozenModel):
    """A task that waited, and is blocked since a worker would have taken it."""

    task_id: str
    kind: TaskKind
    job: Word | None = None
    """None where it is no longer defined."""
    error: Failure


class Output(FrozenModel):
    """Something that an attempt brought forth outside of any governed table."""

    location: str | None = None
    rows: int | None = Field(default=None, ge=0)
    bytes: int | None = Field(default=None, ge=0)
    notes: dict[str, Any] = Field(default_factory=dict)


class TaskReport(FrozenModel):
    """What an attempt says of its own end."""

    success: bool
    outputs: dict[Word, Output] = Field(default_factory=dict)
    error: Failure | None = None

    @classmethod
    def failed(cls, error: LakeGuardError) -> TaskReport:
        """The attempt failed for this reason."""
        return cls(success=False, error=failure_of(error))


class TaskAnswer(FrozenModel):
    """What the dispatcher made of a report; the same report again gets the same bytes."""

    run_id: str
    task_id: str
    attempt: int
    status: RunStatus
    state: TaskState
    outputs: tuple[Word, ...] = ()
    error: Failure | None = None
    ended_at: Instant


class Transition(FrozenModel):
    number: int
    attempt: int
    from_state: TaskState | None
    to_state: TaskState
    at: Instant
    actor: str
    code: str | None = None
    message: str | None = None


class Cause(FrozenModel):
    """Why a task was launched; it is kept with the task."""

    kind: CauseKind
    details: dict[str, Any] = Field(default_factory=dict)


class TaskRow(FrozenModel):
    """A task as it stands now, and why it was started with what."""

    task_id: str
    kind: TaskKind
    job: Word | None = None
    dataset: DatasetName | None = None
    dedupe_key: str
    state: TaskState
    attempt: int
    max_attempts: int
    priority: int
    labels: tuple[str, ...] = ()
    run_id: str | None = None
    worker: WorkerIdentity | None = None
    created_at: Instant
    due_at: Instant | None = None
    lease_expires_at: Instant | None = None
    triggered_by: str
    cause: Cause | None = None
    """None where no job was launched: somebody ran a dataset."""
    day: date | None = None
    """The day that it is for."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """What the launch set; what may be a secret is masked."""
    window: Window | None = None
    dag_version_id: str | None = None
    """The version of the graph that it was launched under."""
    last: Transition | None = None
    """The last change of its state, with its reason."""

    @property
    def is_under_way(self) -> bool:
        """It waits, runs, or is due again: it can be canceled."""
        waits = self.state is TaskState.FAILED and self.due_at is not None
        return waits or self.state in (TaskState.QUEUED, TaskState.RUNNING)


class Dispatch(Protocol):
    """The queue as workers see it. A ticket of an attempt that is over gets ``Fenced``."""

    def check(self) -> None:
        """A ``StateError`` where the State cannot be used now; else nothing, at little cost."""

    def claim(
        self,
        worker: WorkerIdentity,
        *,
        limit: int = 1,
        labels: frozenset[str] = frozenset(),
        only: str | None = None,
        refused: Callable[[RefusedTask], None] = lambda _: None,
    ) -> tuple[Assignment, ...]:
        """At most so many tasks that are due, the most urgent first; each goes to one worker.

        ``only`` one task, where its id is given: it need not be due. ``refused`` hears of each that
        was found and is blocked from now on, because its job does not let it begin any more; more
        may wait behind those.
        """

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        """New leases from now, by run, in seconds; an attempt that is over is not among them, and
        one that was handed over has what is left of the job's time."""

    def hand_over(self, ticket: RunTicket) -> None:
        """Somebody outside goes on with it, and has until the job's time is over."""

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer: ...
    def report_all(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> tuple[TaskAnswer | Failure, ...]:
        """Many in one transaction, each judged alone; a refusal is told in its place."""


class Jobs(Protocol):
    """What an operator sees and does of graphs, jobs and tasks."""

    def deploy_plan(self, to: str | None = None) -> Deployed:
        """What ``deploy`` would come to; nothing is written."""

    def deploy(self, reason: str = "", *, to: str | None = None) -> Deployed:
        """The graph of what is defined now, or an earlier one by its id or hash."""

    def dag_versions(self, *, limit: int = 50) -> Sequence[DagVersion]:
        """The newest first."""

    def jobs(self) -> Sequence[JobRow]: ...
    def job(self, name: str) -> JobRow: ...
    def switch(self, name: str, *, enabled: bool, reason: str = "") -> JobRow: ...
    def trigger(
        self,
        name: str,
        triggered_by: str,
        *,
        day: date | None = None,
        set_to: Mapping[str, str] | None = None,
        key: str | None = None,
        here: bool = False,
    ) -> Launch:
        """One task for the key; a refusal is recorded with it, and told. With ``here`` the caller
        runs it, and workers leave it alone for the length of a lease."""

    def tasks(
        self, *, state: TaskState | None = None, job: str | None = None, limit: int = 50
    ) -> Sequence[TaskRow]: ...
    def task(self, task_id: str) -> TaskRow:
        """By its id, or by the id of any of its runs."""

    def transitions(self, task_id: str) -> Sequence[Transition]: ...
    def retry(self, task_id: str, reason: str = "") -> TaskRow: ...
    def cancel(self, task_id: str, reason: str = "") -> TaskRow: ...
    def receive(self, body: bytes, *, shape: str | None = None) -> Sequence[Launch]:
        """An event of another system; the same again launches nothing."""

    def tick(self, *, tell: bool = True) -> Ticked:
        """One turn of every loop: schedules, triggers, ends of the dead, retries, events out.

        Whoever tells events beside the turns, so that none waits for a receiver, says not to
        ``tell`` here.
        """
