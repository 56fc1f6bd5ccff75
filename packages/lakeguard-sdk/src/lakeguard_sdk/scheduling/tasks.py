"""Tasks, and the ports of dispatcher and workers: claim, heartbeat and report."""

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
    """A claimed attempt with everything the worker needs."""

    ticket: RunTicket
    kind: TaskKind
    job: Word | None = None
    dataset: DatasetName | None = None
    call: str = ""
    url: str = ""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Details of the job, the logical date, and the launch parameters."""
    secrets: dict[str, str] = Field(default_factory=dict)
    """Parameters that reference a secret, ``env:NAME`` or ``file:PATH``, from the job's definition
    or from the person who launched it. No other text is ever resolved."""
    outputs: tuple[Word, ...] = ()
    timeout_seconds: int
    lease_seconds: float
    token: str = Field(default="", repr=False, exclude_if=lambda token: not token)
    """The task token, for a job in another system."""


class RefusedTask(FrozenModel):
    """A queued task that was blocked when a worker tried to claim it."""

    task_id: str
    kind: TaskKind
    job: Word | None = None
    """None if it is no longer defined."""
    error: Failure


class Output(FrozenModel):
    """An output of an attempt outside governed tables."""

    location: str | None = None
    rows: int | None = Field(default=None, ge=0)
    bytes: int | None = Field(default=None, ge=0)
    notes: dict[str, Any] = Field(default_factory=dict)


class TaskReport(FrozenModel):
    """The report of an ended attempt."""

    success: bool
    outputs: dict[Word, Output] = Field(default_factory=dict)
    error: Failure | None = None

    @classmethod
    def failed(cls, error: LakeGuardError) -> TaskReport:
        """The attempt failed for this reason."""
        return cls(success=False, error=failure_of(error))


class TaskAnswer(FrozenModel):
    """The response to a report; the same report again returns the same bytes."""

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
    """Why a task was launched; stored with the task."""

    kind: CauseKind
    details: dict[str, Any] = Field(default_factory=dict)


class TaskRow(FrozenModel):
    """The current state of a task, with its cause and parameters."""

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
    """None if a dataset was run without a job."""
    day: date | None = None
    """The logical date."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """Launch parameters; possible secrets are masked."""
    window: Window | None = None
    dag_version_id: str | None = None
    """The graph version that launched it."""
    last: Transition | None = None
    """The last change of its state, with its reason."""
    dead: str = Field(default="", exclude_if=lambda reason: not reason)
    """Why its attempt can no longer end by itself: the process is gone, or its lease is over. The
    next command that writes, or the dispatcher, ends it."""

    @property
    def is_under_way(self) -> bool:
        """Queued, running or waiting for a retry: it can be canceled."""
        waits = self.state is TaskState.FAILED and self.due_at is not None
        return waits or self.state in (TaskState.QUEUED, TaskState.RUNNING)


class Dispatch(Protocol):
    """The queue for workers. The ticket of an ended attempt gets ``Fenced``."""

    def check(self) -> None:
        """Raises a ``StateError`` if the state database is unavailable; cheap."""

    def claim(
        self,
        worker: WorkerIdentity,
        *,
        limit: int = 1,
        labels: frozenset[str] = frozenset(),
        only: str | None = None,
        refused: Callable[[RefusedTask], None] = lambda _: None,
    ) -> tuple[Assignment, ...]:
        """Claims up to ``limit`` due tasks, highest priority first; each goes to one worker.

        ``only`` claims the task with this id, due or not. ``refused`` is called for each task that
        is now blocked because its job no longer allows it to start; more tasks may follow those.
        """

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        """Renews leases; returns their seconds by run. Ended attempts are absent, and handed over
        ones get the rest of the job's timeout."""

    def hand_over(self, ticket: RunTicket) -> None:
        """An external system continues the attempt until the job's timeout."""

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer: ...
    def report_all(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> tuple[TaskAnswer | Failure, ...]:
        """Many reports in one transaction, each on its own; a refusal is returned in its place."""

    def report_and_claim(
        self,
        reports: Sequence[tuple[RunTicket, TaskReport]],
        worker: WorkerIdentity,
        *,
        labels: frozenset[str] = frozenset(),
        refused: Callable[[RefusedTask], None] = lambda _: None,
    ) -> tuple[tuple[TaskAnswer | Failure, ...], tuple[Assignment, ...]]:
        """As ``report_all``, and claims in the same transaction: at most one task for each attempt
        that is over, as their slots are free. A report does not wait for other claims, so there may
        be fewer tasks than ``claim`` would find."""


class Jobs(Protocol):
    """Operator view and actions on graphs, jobs and tasks."""

    def deploy_plan(self, to: str | None = None) -> Deployed:
        """Dry run of ``deploy``."""

    def deploy(self, reason: str = "", *, to: str | None = None) -> Deployed:
        """Activates the graph of the current definitions, or an earlier one by id or hash."""

    def dag_versions(self, *, limit: int = 50) -> Sequence[DagVersion]:
        """Newest first."""

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
        """One task per key; a refusal is recorded and returned. With ``here`` this process runs it,
        and no worker claims it."""

    def tasks(
        self, *, state: TaskState | None = None, job: str | None = None, limit: int = 50
    ) -> Sequence[TaskRow]: ...
    def task(self, task_id: str) -> TaskRow:
        """By its id, or by the id of any of its runs."""

    def transitions(self, task_id: str) -> Sequence[Transition]: ...
    def retry(self, task_id: str, reason: str = "") -> TaskRow: ...
    def cancel(self, task_id: str, reason: str = "") -> TaskRow: ...
    def receive(self, body: bytes, *, shape: str | None = None) -> Sequence[Launch]:
        """Receives an external event; idempotent."""

    def tick(self, *, send_events: bool = True) -> Ticked:
        """One pass of every loop: schedules, triggers, dead attempts, retries, events.

        Pass ``send_events=False`` if another thread sends them, so that no pass waits for a
        receiver.
        """
