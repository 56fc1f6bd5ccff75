"""A plain model of tasks: what the queue must do, said once more and without a database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.model.run import RunTicket

LEASE = timedelta(seconds=120)
FIRST, LONGEST = 30, 600
LIMITS = {"wide": 100, "narrow": 1}
"""How many attempts of each job may run at once."""

AGAIN = (TaskState.FAILED, TaskState.BLOCKED, TaskState.CANCELED, TaskState.DEAD)
WITHDRAWN = (TaskState.QUEUED, TaskState.RUNNING, TaskState.FAILED)


@dataclass
class ModelTask:
    task_id: str
    job: str
    priority: int
    attempts: int
    due_at: datetime | None
    state: TaskState = TaskState.QUEUED
    attempt: int = 0
    changes: int = 1
    lease_until: datetime | None = None
    tickets: list[RunTicket] = field(default_factory=list)

    def move(self, state: TaskState, due_at: datetime | None = None) -> None:
        self.state, self.due_at = state, due_at
        self.changes += 1

    def begin(self, ticket: RunTicket, at: datetime) -> None:
        self.move(TaskState.RUNNING)
        self.attempt += 1
        self.lease_until = at + LEASE
        self.tickets.append(ticket)

    def fail(self, at: datetime, *, may_pass: bool) -> tuple[datetime, datetime] | None:
        """Between which moments it is due again; None where it is not."""
        spent = self.attempt >= self.attempts
        self.move(TaskState.DEAD if may_pass and spent else TaskState.FAILED)
        if spent or not may_pass:
            return None
        longest = min(FIRST * 2 ** (self.attempt - 1), LONGEST)
        return at + timedelta(seconds=longest / 2), at + timedelta(seconds=longest)

    def runs(self, ticket: RunTicket) -> bool:
        return self.state is TaskState.RUNNING and self.tickets[-1] == ticket

    def lapsed(self, at: datetime) -> bool:
        return self.lease_until is None or self.lease_until <= at


@dataclass
class Model:
    tasks: dict[str, ModelTask] = field(default_factory=dict)

    def next(self, limit: int, at: datetime) -> list[ModelTask]:
        """What a claim must bring, in its order."""
        free = dict(LIMITS)
        for task in self.tasks.values():
            free[task.job] -= task.state is TaskState.RUNNING
        taken: list[ModelTask] = []
        for task in sorted(self._due(at), key=_urgency):
            if free[task.job] > 0 and len(taken) < limit:
                free[task.job] -= 1
                taken.append(task)
        return taken

    def _due(self, at: datetime) -> list[ModelTask]:
        return [
            task
            for task in self.tasks.values()
            if task.state is TaskState.QUEUED and task.due_at is not None and task.due_at <= at
        ]

    def to_retry(self, at: datetime) -> list[ModelTask]:
        return [
            task
            for task in self.tasks.values()
            if task.state is TaskState.FAILED and task.due_at is not None and task.due_at <= at
        ]

    def lapsed(self, at: datetime) -> list[ModelTask]:
        return [
            task
            for task in self.tasks.values()
            if task.state is TaskState.RUNNING and task.lapsed(at)
        ]


def _urgency(task: ModelTask) -> tuple[int, datetime | None, str]:
    return -task.priority, task.due_at, task.task_id
