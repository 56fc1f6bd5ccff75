"""The operations port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.dispatch import tasks
from lakeguard.dispatch.assign import submit_build
from lakeguard.insight.reader.reader import StateReader
from lakeguard.ledger.invalidations import Invalidation
from lakeguard.ledger.runs import result_of_run
from lakeguard.ledger.streams import record_report
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.waivers import revoke, waive
from lakeguard.promotion.maintenance.profiles import keep_profile, plan_profile
from lakeguard.promotion.maintenance.remove_files import maintain
from lakeguard.promotion.moves.adoption import order_adoption
from lakeguard.promotion.moves.compaction import order_compaction
from lakeguard.promotion.moves.reap import reap
from lakeguard.promotion.moves.rollback import roll_back
from lakeguard.promotion.moves.undo import undo
from lakeguard.promotion.opening.input_damage import note_damage
from lakeguard.promotion.opening.table_ownership import examine_for
from lakeguard.promotion.opening.windows import window_parameters
from lakeguard.promotion.quarantine.discard import discard_rows
from lakeguard.promotion.quarantine.quarantine_tables import sync_quarantine_tables
from lakeguard.promotion.quarantine.replay import order_replay
from lakeguard.registry.store import require_dataset
from lakeguard.relay.owner import ledger_root, remove_left_copies
from lakeguard.scheduler.invalidations.invalidate import invalidate
from lakeguard.scheduler.invalidations.reconcile import reconcile
from lakeguard.scheduler.invalidations.withdraw import withdraw
from lakeguard.services.users import records_actor
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import ReasonNeeded, RollbackBlocked, SecretInReason
from lakeguard_sdk.model.decision import WaiverRow
from lakeguard_sdk.model.profile import Profile, ProfilePlan
from lakeguard_sdk.model.quarantine import QuarantineEntry, QuarantineSelection, ReplayParameters
from lakeguard_sdk.model.read_models import PointerMove
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import AbandonedAttempt, Window
from lakeguard_sdk.model.streams import StreamReport
from lakeguard_sdk.model.table_operations import AdoptableTable, Maintained, Undone
from lakeguard_sdk.scheduling.invalidations import InvalidationRow, Reason
from lakeguard_sdk.security.secret_values import holds_secret
from lakeguard_sdk.storage.fault_points import reached


@dataclass(frozen=True)
class EmbeddedOperations:
    context: PlaneContext

    @records_actor
    def submit(
        self,
        name: DatasetName,
        triggered_by: str,
        key: str | None = None,
        window: Window | None = None,
    ) -> str:
        context = self.context
        with context.write() as tx:
            dataset = require_dataset(tx, name)
            task_id = submit_build(
                tx,
                dataset,
                key=key,
                parameters=window_parameters(window),
                triggered_by=triggered_by,
                rules=context.dispatch,
            )
        reached("task.submitted")
        return task_id

    @records_actor
    def requeue(self, task_id: str) -> bool:
        """Whether the task is retried: its failure is retryable and attempts are left."""
        context = self.context
        with context.write() as tx:
            task = tasks.get_task(tx, task_id)
            ended = task.run_id and result_of_run(tx, task.run_id)
            if not ended or ended.error is None or not ended.error.retryable:
                return False
            return tasks.requeue(tx, task, rules=context.dispatch)

    @records_actor
    def resume(self, task_id: str) -> TaskState:
        context = self.context
        with context.write() as tx:
            task = tasks.get_task(tx, task_id)
            return tasks.resume(tx, task, rules=context.dispatch)

    @records_actor
    def submit_replay(
        self,
        name: DatasetName,
        triggered_by: str,
        choice: QuarantineSelection,
        *,
        as_newest: bool = False,
        key: str | None = None,
    ) -> str:
        order = ReplayParameters(choice=choice, as_newest=as_newest)
        task_id = order_replay(self.context, name, triggered_by, order, key)
        reached("task.submitted")
        return task_id

    @records_actor
    def discard(
        self, name: DatasetName, choice: QuarantineSelection, reason: str
    ) -> Sequence[QuarantineEntry]:
        return discard_rows(self.context, name, choice, reason)

    def submit_compaction(self, name: DatasetName, triggered_by: str) -> str:
        return order_compaction(self.context, name, triggered_by)

    def examine(self, location: str, name: DatasetName | None = None) -> AdoptableTable:
        return examine_for(self.context, location, name)

    @records_actor
    def submit_adoption(self, name: DatasetName, triggered_by: str, key: str | None = None) -> str:
        return order_adoption(self.context, name, triggered_by, key)

    def plan_profile(self, address: Address) -> ProfilePlan:
        return plan_profile(self.context, address)

    def record_profile(self, profile: Profile) -> Profile:
        return keep_profile(self.context, profile)

    @records_actor
    def maintain(self, name: DatasetName, *, dry_run: bool = False) -> Maintained:
        context = self.context
        if not dry_run:
            remove_left_copies(ledger_root(context.lake, context.org_id), context.clock())
        return maintain(context, name, dry_run=dry_run)

    def reap(self) -> Sequence[AbandonedAttempt]:
        """Also repairs quarantine tables that a crash left out of date."""
        ended = reap(self.context)
        sync_quarantine_tables(self.context)
        return ended

    def record_stream(self, name: DatasetName, report: StreamReport) -> None:
        with self.context.write() as tx:
            record_report(tx, require_dataset(tx, name).dataset_id, report)

    @records_actor
    def waive(
        self, name: DatasetName, check: str, *, approver: str, reason: str, until: datetime
    ) -> WaiverRow:
        return waive(self.context, name, check, approver=approver, reason=reason, until=until)

    @records_actor
    def revoke_waiver(self, waiver_id: str, reason: str) -> WaiverRow:
        return revoke(self.context, waiver_id, reason)

    @records_actor
    def invalidate(
        self, name: DatasetName, reach: RowRange, reason: Reason, why: str = ""
    ) -> InvalidationRow:
        return self._row(invalidate(self.context, name, reach, reason, why))

    @records_actor
    def withdraw_invalidation(self, invalidation_id: str, why: str) -> InvalidationRow:
        done = withdraw(self.context, invalidation_id, why)
        return self._row(done.invalidation).model_copy(update={"canceled": done.canceled})

    def reconcile(self) -> int:
        return reconcile(self.context)

    def _row(self, made: Invalidation) -> InvalidationRow:
        context = self.context
        reader = StateReader(context, context.lake)
        return reader.invalidation(made.invalidation_id)

    @records_actor
    def undo(self, name: DatasetName, reason: str) -> Undone:
        if not reason.strip():
            raise ReasonNeeded(dataset=name, version="VERSION")
        if holds_secret(reason):
            raise SecretInReason()
        reap(self.context)
        undone, result = undo(self.context, name, reason)
        if result is not None and result.status is not RunStatus.SUCCESS:
            reasons = result.decision.ruling.reasons if result.decision else ()
            raise RollbackBlocked(dataset=name, version=undone.version, reason="; ".join(reasons))
        return undone

    def record_damage(self, name: DatasetName) -> None:
        with self.context.read() as tx:
            dataset = require_dataset(tx, name)
        note_damage(self.context, {dataset.dataset_id}, by=self.context.actor)

    @records_actor
    def rollback(self, name: DatasetName, to: int, reason: str) -> PointerMove:
        if not reason.strip():
            raise ReasonNeeded(dataset=name, version=to)
        if holds_secret(reason):
            raise SecretInReason()
        reap(self.context)
        result = roll_back(self.context, name, to, reason)
        if result.status is not RunStatus.SUCCESS:
            reasons = result.decision.ruling.reasons if result.decision else ()
            raise RollbackBlocked(dataset=name, version=to, reason="; ".join(reasons))
        context = self.context
        return StateReader(context, context.lake).pointer_moves(name)[-1]
