"""The run port of the embedded control plane."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.dispatch import tasks
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.runs import result_of_run
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.submit_evidence import submit_evidence, submit_schema
from lakeguard.promotion.maintenance.profile_cadence import due_profile, submit_profile
from lakeguard.promotion.moves.adoption import open_adoption, submit_adoption
from lakeguard.promotion.moves.compaction import (
    due_compaction,
    end_unmerged,
    open_compaction,
    submit_compaction,
)
from lakeguard.promotion.moves.reap import fail_run
from lakeguard.promotion.open_run import open_claimed, open_run
from lakeguard.promotion.privacy.row_samples import submit_samples
from lakeguard.promotion.publishing.begin_move import begin_publish
from lakeguard.promotion.publishing.complete_move import complete
from lakeguard.promotion.readable_inputs import require_inputs
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import load_open_run
from lakeguard.promotion.records.task_tokens import issue_task_token
from lakeguard_sdk.core.enums import RunStatus, TaskKind
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.lineage import BatchLineage
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
from lakeguard_sdk.types.schema import TableSchema


@dataclass(frozen=True)
class PromotionRuns:
    """Runs report here; every call but ``open_run`` needs the ticket of the running attempt."""

    context: PlaneContext

    def open_run(self, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult:
        require_inputs(self.context, "runs.open_run", task_id)
        return open_run(self.context, task_id, worker)

    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        require_inputs(self.context, "runs.open_claimed", ticket.task_id)
        return open_claimed(self.context, ticket)

    def heartbeat(self, ticket: RunTicket) -> float:
        with self.context.write() as tx:
            context = self.context
            return tasks.extend(tx, ticket, context.dispatch.lease)

    def task_token(self, ticket: RunTicket) -> str:
        return issue_task_token(self.context, ticket)

    def submit_schema(
        self, ticket: RunTicket, live: TableSchema, lineage: BatchLineage | None = None
    ) -> SchemaVerdict:
        return submit_schema(self.context, ticket, live, lineage)

    def submit_evidence(self, ticket: RunTicket, evidence: Evidence) -> Decision:
        return submit_evidence(self.context, ticket, evidence)

    def submit_samples(self, ticket: RunTicket, samples: tuple[RowSample, ...]) -> None:
        submit_samples(self.context, ticket, samples)

    def begin_move(self, ticket: RunTicket) -> Intent:
        return begin_publish(self.context, ticket)

    def complete_move(self, ticket: RunTicket, commit: int) -> RunResult:
        return complete(self.context, ticket, commit)

    def finish_unchanged(self, ticket: RunTicket) -> RunResult:
        """Nothing new to read or to merge, or no row that waits passes: SUCCESS, and the published
        version stays."""
        context = self.context
        with context.write() as tx:
            tasks.require_holder(tx, ticket)
            known = result_of_run(tx, ticket.run_id)
            if known is not None:
                return known
            task = tasks.require(tx, ticket)
            if task.kind is TaskKind.COMPACTION:
                return end_unmerged(tx, context, task)
            run = load_open_run(tx, ticket)
            name = run.dataset.name
            if decision_of_run(tx, ticket.run_id, name) is not None:
                raise NotApproved(run=ticket.run_id, reason="it was decided, so it read something")
            return end_run(tx, context, run.task, run.dataset, RunStatus.SUCCESS, rows=0)

    def fail_run(self, ticket: RunTicket, failure: Failure) -> RunResult:
        return fail_run(self.context, ticket, failure)

    def due_compaction(self, ticket: RunTicket) -> str | None:
        return due_compaction(self.context, ticket)

    def open_compaction(self, task_id: str, worker: WorkerIdentity) -> CompactionPlan | RunResult:
        return open_compaction(self.context, task_id, worker)

    def submit_compaction(self, ticket: RunTicket, compacted: Compacted) -> Intent:
        return submit_compaction(self.context, ticket, compacted)

    def due_profile(self, ticket: RunTicket) -> ProfilePlan | None:
        return due_profile(self.context, ticket)

    def submit_profile(self, ticket: RunTicket, profile: Profile) -> None:
        submit_profile(self.context, ticket, profile)

    def open_adoption(self, task_id: str, worker: WorkerIdentity) -> AdoptionPlan | RunResult:
        return open_adoption(self.context, task_id, worker)

    def submit_adoption(self, ticket: RunTicket, evidence: Evidence) -> RunResult:
        return submit_adoption(self.context, ticket, evidence)
