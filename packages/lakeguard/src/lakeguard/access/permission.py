"""What a run may not do. A run reads, and reports on itself; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from lakeguard_sdk.errors import NotPermitted
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.profile import Profile, ProfilePlan
from lakeguard_sdk.model.row_sample import RowSample
from lakeguard_sdk.model.run import (
    Failure,
    Intent,
    RunPlan,
    RunResult,
    RunTicket,
    SchemaVerdict,
    WorkerIdentity,
)
from lakeguard_sdk.model.table_operations import AdoptionPlan, Compacted, CompactionPlan
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.types.schema import TableSchema


@dataclass(frozen=True)
class Refusing:
    """A port of which every method refuses."""

    holder: str
    port: str

    def __getattr__(self, method: str) -> Callable[..., NoReturn]:
        def refuse(*_args: object, **_fields: object) -> NoReturn:
            raise NotPermitted(holder=self.holder, method=f"{self.port}.{method}")

        return refuse


@dataclass(frozen=True)
class OwnRun:
    """The run port for one ticket: another's ticket, or a new run, is refused."""

    runs: Runs
    own: RunTicket

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult:
        raise NotPermitted(holder=f"run {self.own.run_id}", method="runs.open_run")

    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        return self.runs.open_claimed(self._checked(ticket, "open_claimed"))

    def heartbeat(self, ticket: RunTicket) -> float:
        return self.runs.heartbeat(self._checked(ticket, "heartbeat"))

    def submit_schema(self, ticket: RunTicket, live: TableSchema) -> SchemaVerdict:
        return self.runs.submit_schema(self._checked(ticket, "submit_schema"), live)

    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision:
        return self.runs.submit_evidence(self._checked(ticket, "submit_evidence"), evidence)

    def submit_samples(self, ticket: RunTicket, samples: tuple[RowSample, ...]) -> None:
        self.runs.submit_samples(self._checked(ticket, "submit_samples"), samples)

    def begin_move(self, ticket: RunTicket) -> Intent:
        return self.runs.begin_move(self._checked(ticket, "begin_move"))

    def complete_move(self, ticket: RunTicket, commit: int) -> RunResult:
        return self.runs.complete_move(self._checked(ticket, "complete_move"), commit)

    def finish_unchanged(self, ticket: RunTicket) -> RunResult:
        return self.runs.finish_unchanged(self._checked(ticket, "finish_unchanged"))

    def fail_run(self, ticket: RunTicket, failure: Failure) -> RunResult:
        return self.runs.fail_run(self._checked(ticket, "fail_run"), failure)

    def due_compaction(self, ticket: RunTicket) -> str | None:
        return self.runs.due_compaction(self._checked(ticket, "due_compaction"))

    def open_compaction(self, task_id: str, worker: WorkerIdentity) -> CompactionPlan | RunResult:
        raise NotPermitted(holder=f"run {self.own.run_id}", method="runs.open_compaction")

    def submit_compaction(self, ticket: RunTicket, compacted: Compacted) -> Intent:
        return self.runs.submit_compaction(self._checked(ticket, "submit_compaction"), compacted)

    def due_profile(self, ticket: RunTicket) -> ProfilePlan | None:
        return self.runs.due_profile(self._checked(ticket, "due_profile"))

    def submit_profile(self, ticket: RunTicket, profile: Profile) -> None:
        self.runs.submit_profile(self._checked(ticket, "submit_profile"), profile)

    def open_adoption(self, task_id: str, worker: WorkerIdentity) -> AdoptionPlan | RunResult:
        raise NotPermitted(holder=f"run {self.own.run_id}", method="runs.open_adoption")

    def submit_adoption(self, ticket: RunTicket, evidence: Evidence) -> RunResult:
        return self.runs.submit_adoption(self._checked(ticket, "submit_adoption"), evidence)

    def _checked(self, ticket: RunTicket, method: str) -> RunTicket:
        if ticket != self.own:
            raise NotPermitted(holder=f"run {self.own.run_id}", method=f"runs.{method} of another")
        return ticket
