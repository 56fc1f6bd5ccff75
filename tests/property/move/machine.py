"""The move against a plain model: two publishers, a compactor, a reaper, rollbacks and a stranger.

Any of them may die between any two steps. What must hold, always: versions without gaps, one
per task; each version holds exactly its base and its batch; nothing foreign in any of them; a
compaction changes no row of any of them, and no number; what is removed was needed by none.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import func, select

from lakeguard.dispatch import tasks
from lakeguard.ledger.intents import committed_hashes, open_intent
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.versions import (
    StoredVersion,
    pointer,
    pointer_rows,
    shown_at,
    stored_versions,
)
from lakeguard.promotion.maintenance.remove_files import maintain
from lakeguard.promotion.moves.compaction import order_compaction
from lakeguard.promotion.moves.reap import reap
from lakeguard.promotion.moves.rollback import roll_back
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.registry.store import require_dataset
from lakeguard.settings import MaintenanceSettings
from lakeguard.state.schema import run_history, task_attempts
from lakeguard_sdk.core.enums import LoadType, MoveKind, RunStatus, TaskKind
from lakeguard_sdk.errors import (
    AlreadyPublished,
    Fenced,
    FilesRemoved,
    LakeGuardError,
    MaintenanceRefused,
    MoveError,
    NotApproved,
)
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.model.table_operations import CompactionPlan
from tests.property.move.workers import STEPS, Compactor, Publisher
from tests.support.fakes.killed_at import dying_at, meanwhile
from tests.support.lakes.lakes import DeltaLake, Lake
from tests.support.lakes.published_by_hand import compacted_of, evidence_of
from tests.support.projects import planes
from tests.support.projects.planes import ELSEWHERE, NUMBERS, Clock

WHO = st.sampled_from([0, 1])
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Thousands of durable transactions want a disk that is none."""
KEEPS_NOTHING = MaintenanceSettings(retention_days=0, inspection_days=0)
GIVE_UP = Failure(code="LG-5004", message="gave up")
DEATHS = {
    "open": ("run.opened",),
    "decide": ("schema.submitted", "decision.recorded"),
    "intent": ("table.created", "intent.recorded"),
    "commit": ("publish.before_commit", "publish.committed"),
    "complete": ("complete.before", "complete.recorded"),
    "reap": ("fence.before_commit", "fence.committed", "complete.before"),
    "rollback": ("intent.recorded", "restore.before_commit", "restore.committed"),
    "compact open": ("run.opened",),
    "compact intent": ("decision.recorded", "intent.recorded"),
}
"""Where each step can die."""


def seldom(data: st.DataObject, *points: str) -> str | None:
    """One of the points in one of eight cases."""
    return data.draw(st.sampled_from([None] * 7 * len(points) + list(points)), label="point")


class MoveMachine(RuleBasedStateMachine):
    make_lake: Callable[[], Lake]

    @initialize(
        load=st.sampled_from([LoadType.APPEND, LoadType.APPEND, LoadType.FULL]),
        start=st.integers(0, 3),
    )
    def begin_world(self, load: LoadType, start: int) -> None:
        """Begin with some versions, so that there is something to lose."""
        self.folder = Path(tempfile.mkdtemp(prefix="move-", dir=FAST))
        self.lake = type(self).make_lake()
        self._make_plane(planes.numbers_definitions(load))
        for _ in range(start):
            publisher = Publisher()
            for step in STEPS:
                publisher = self._step(step, publisher, 2)

    def _make_plane(self, definitions: Definitions) -> None:
        self.clock = Clock()
        self.context = planes.make_context(self.folder, self.lake.tables, self.clock, definitions)
        self.context = replace(self.context, maintenance=KEEPS_NOTHING)
        self.runs = PromotionRuns(self.context)
        with self.context.read() as tx:
            self.dataset = require_dataset(tx, NUMBERS)
        self.location = self.context.location_of(self.dataset)
        self.publishers = [Publisher(), Publisher()]
        self.compactor = Compactor()
        self.next_number = 0
        self.batches: dict[str, tuple[int | None, list[int]]] = {}
        self.foreign: set[int] = set()

    # -- the publishers ------------------------------------------------------------------------

    @rule(who=WHO, steps=st.integers(1, 5), data=st.data())
    def advance(self, who: int, steps: int, data: st.DataObject) -> None:
        """Some steps of one publisher; in each it may die, and a stranger may write."""
        for _ in range(steps):
            publisher = self.publishers[who]
            step = publisher.next_step
            dies = seldom(data, *DEATHS[step])
            stranger = seldom(data, "publish.before_commit") if step == "commit" else None
            other = seldom(data, "run.opened") if step == "open" else None
            rows = data.draw(st.integers(0, 3)) if step == "decide" else 0
            self.publishers[who] = Publisher()
            with (
                dying_at(dies),
                meanwhile(stranger, self._write_foreign),
                meanwhile(other, lambda: self._move_on(1 - who)),
            ):
                try:
                    self.publishers[who] = self._step(step, publisher, rows)
                except MoveError as error:
                    self._give_up(publisher, error)

    advance_more = advance
    advance_most = advance

    @rule(who=WHO, silently=st.booleans(), data=st.data())
    def abandon(self, who: int, silently: bool, data: st.DataObject) -> None:
        publisher, self.publishers[who] = self.publishers[who], Publisher()
        if publisher.plan is None or silently:
            return
        with dying_at(seldom(data, *DEATHS["reap"])):
            ended = self.runs.fail_run(publisher.plan.ticket, GIVE_UP)
            if publisher.commit is not None:
                assert ended.status is RunStatus.SUCCESS, "its commit stands, so it is a version"

    @rule(steps=st.sampled_from([4, 4, 3, 2, 1]), data=st.data())
    @precondition(lambda self: self._versions())
    def compact(self, steps: int, data: st.DataObject) -> None:
        """Some steps of the compactor; it may die in each, a stranger or a publisher come first."""
        for _ in range(steps):
            compactor, self.compactor = self.compactor, Compactor()
            step = compactor.next_step
            between = "publish.before_commit" if step == "commit" else "run.opened"
            moves = data.draw(st.sampled_from([None] * 6 + [0, 1]), label="moves on meanwhile")
            with (
                dying_at(seldom(data, *DEATHS[step])),
                meanwhile(seldom(data, between), self._write_foreign),
                meanwhile(between, lambda moves=moves: self._move_on(moves)),
            ):
                try:
                    self.compactor = self._compact_step(compactor)
                except (MoveError, NotApproved) as error:
                    self._stop_compacting(compactor, error)
            if self.compactor.plan is None:
                return

    # -- everybody else ------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([70, 200]), data=st.data())
    def reap_later(self, seconds: int, data: st.DataObject) -> None:
        """Living publishers have kept their lease, or not: a stopped process has not."""
        for worker in (*self.publishers, self.compactor):
            if worker.plan is not None and data.draw(st.booleans(), label="keeps its lease"):
                with suppress(Fenced):
                    self.runs.heartbeat(worker.plan.ticket)
        self.clock.pass_time(seconds)
        stranger = seldom(data, "fence.before_commit")
        moves = data.draw(st.sampled_from([None, 0, 1]), label="moves on meanwhile")
        with (
            dying_at(seldom(data, *DEATHS["reap"])),
            meanwhile(stranger, self._write_foreign),
            meanwhile("reap.judged", lambda: self._move_on(moves)),
        ):
            reap(self.context)

    @rule(choice=st.integers(0, 9), data=st.data())
    @precondition(lambda self: self._versions())
    def roll_back(self, choice: int, data: st.DataObject) -> None:
        versions = self._versions()
        target = versions[choice % len(versions)].version
        self.clock.pass_time(130)
        reap(self.context)
        stranger = seldom(data, "restore.before_commit")
        with dying_at(seldom(data, *DEATHS["rollback"])), meanwhile(stranger, self._write_foreign):
            try:
                ended = roll_back(self.context, NUMBERS, target, "because")
            except FilesRemoved:
                assert target in self._removed(), "what is whole can be shown again"
                return
            except (MoveError, AlreadyPublished):
                return
            assert ended.version == target

    roll_back_more = roll_back

    @rule(data=st.data())
    @precondition(lambda self: isinstance(self.lake, DeltaLake) and self._versions())
    def remove_what_nobody_needs(self, data: st.DataObject) -> None:
        """Nothing is kept for its age; it may die before a file went, and others move on."""
        moves = data.draw(st.sampled_from([None, 0, 1]), label="moves on meanwhile")
        dies = seldom(data, "maintain.recorded", "maintain.removed")
        with dying_at(dies), meanwhile("maintain.recorded", lambda: self._move_on(moves)):
            try:
                maintain(self.context, NUMBERS, dry_run=False)
            except (MoveError, MaintenanceRefused):
                return

    @rule(now=st.sampled_from([True, False, False]))
    @precondition(lambda self: any(item.plan for item in self.publishers))
    @precondition(lambda self: not self._foreign_since_published())
    def write_foreign(self, now: bool) -> None:
        """Most often while somebody works on the table: that is when it hurts."""
        if now:
            self._write_foreign()

    # -- what must hold ------------------------------------------------------------------------

    def _removed(self) -> frozenset[int]:
        with self.context.read() as tx:
            return frozenset(removed_versions(tx, self.dataset.dataset_id))

    @invariant()
    def versions_are_whole(self) -> None:
        versions = sorted(self._versions(), key=lambda item: item.version)
        removed = self._removed()
        with self.context.read() as tx:
            last = {v.version: shown_at(tx, v.dataset_id, v.version) for v in versions}
        assert [item.version for item in versions] == list(range(1, len(versions) + 1))
        contents: dict[int | None, Counter[int]] = {None: Counter()}
        for item in versions:
            base, batch = self.batches[item.run_id]
            appends = self.dataset.definition.load.type is LoadType.APPEND
            kept = contents[base] if appends else Counter()
            contents[item.version] = kept + Counter(batch)
            if item.version in removed:
                continue
            shown = self.lake.numbers(self.location, last[item.version])
            assert shown == contents[item.version], "a version is its base and its batch"
            assert not self.foreign & set(shown), "nothing foreign is ever absorbed"
        self._pointer_shows(contents)

    @invariant()
    def runs_have_one_row(self) -> None:
        with self.context.read() as tx:
            attempts = tx.scalar(select(func.count()).select_from(task_attempts))
            ended = tx.scalar(select(func.count()).select_from(run_history))
            running = len(tasks.running_tasks(tx))
        assert attempts == ended + running

    def teardown(self) -> None:
        if not hasattr(self, "context"):
            return
        self.clock.pass_time(1000)
        reap(self.context)
        self.versions_are_whole()
        with self.context.read() as tx:
            assert open_intent(tx, self.dataset.dataset_id) is None
            assert not tasks.running_tasks(tx)
            settled = committed_hashes(tx, self.dataset.dataset_id)
        if self.lake.tables.exists(self.location):
            for commit in self.lake.tables.commits_since(self.location, 0):
                if commit.author and commit.data_changing:
                    assert settled.get(commit.version) == commit.sha256, "ours, and not settled"
        self.context.database.close()
        shutil.rmtree(self.folder)

    # -- the machine's own hands ---------------------------------------------------------------

    def _step(self, step: str, publisher: Publisher, rows: int) -> Publisher:
        plan, intent = publisher.plan, publisher.intent
        if plan is None:
            return self._open()
        if step == "decide":
            self.runs.submit_schema(plan.ticket, plan.declared)
            decision = self.runs.submit_evidence(plan.ticket, self._evidence(plan, rows))
            assert decision.allowed, decision.ruling.reasons
            return Publisher(plan, decided=True)
        if intent is None:
            return Publisher(plan, decided=True, intent=self.runs.begin_move(plan.ticket))
        if publisher.commit is None:
            return Publisher(plan, True, intent, self.lake.publish(intent))
        first = self.runs.complete_move(plan.ticket, publisher.commit)
        again = self.runs.complete_move(plan.ticket, publisher.commit)
        assert first.to_json() == again.to_json()
        assert first.status is RunStatus.SUCCESS
        return Publisher()

    def _compact_step(self, compactor: Compactor) -> Compactor:
        plan, intent = compactor.plan, compactor.intent
        if plan is None:
            task_id = order_compaction(self.context, NUMBERS, "machine")
            opened = self.runs.open_compaction(task_id, ELSEWHERE)
            return Compactor(opened if isinstance(opened, CompactionPlan) else None)
        if intent is None:
            compacted = compacted_of(self.lake, plan)
            return Compactor(plan, self.runs.submit_compaction(plan.ticket, compacted))
        if compactor.commit is None:
            return Compactor(plan, intent, self.lake.publish(intent))
        ended = self.runs.complete_move(plan.ticket, compactor.commit)
        assert (ended.status, ended.version) == (RunStatus.SUCCESS, plan.base.version)
        with self.context.read() as tx:
            moves = pointer_rows(tx, self.dataset.dataset_id)
        described = {(move.kind, move.version, move.commit_version) for move in moves}
        assert (MoveKind.COMPACTION, plan.base.version, compactor.commit) in described
        return Compactor()

    def _stop_compacting(self, compactor: Compactor, error: LakeGuardError) -> None:
        assert compactor.plan is not None
        failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
        ended = self.runs.fail_run(compactor.plan.ticket, failure)
        assert ended.status is RunStatus.FAILED or isinstance(error, Fenced)

    def _open(self) -> Publisher:
        with self.context.write() as tx:
            task_id = tasks.submit(
                tx,
                self.dataset.dataset_id,
                kind=TaskKind.BUILD,
                key=None,
                parameters="{}",
                triggered_by="machine",
                at=self.clock(),
                rules=self.context.dispatch,
            )
        opened = self.runs.open_run(task_id, ELSEWHERE)
        rogue = self._foreign_since_published()
        assert isinstance(opened, RunPlan) is not rogue, "blocked by what is foreign, and only so"
        return Publisher(plan=opened) if isinstance(opened, RunPlan) else Publisher()

    def _pointer_shows(self, contents: dict[int | None, Counter[int]]) -> None:
        with self.context.read() as tx:
            published = pointer(tx, self.dataset.dataset_id)
            under_way = open_intent(tx, self.dataset.dataset_id)
        if published is None:
            return
        assert self.lake.numbers(self.location, published.commit) == contents[published.version]
        if under_way is None and not self._foreign_since_published():
            head = self.lake.tables.head_version(self.location)
            assert self.lake.numbers(self.location, head) == contents[published.version]

    def _move_on(self, who: int | None) -> None:
        """A publisher takes all the steps it can, while somebody else is half way.

        Where it dies on the way nobody holds what it held.
        """
        if who is None or self.publishers[who].plan is None:
            return
        publisher, self.publishers[who] = self.publishers[who], Publisher()
        try:
            while publisher.plan is not None:
                publisher = self._step(publisher.next_step, publisher, 1)
        except MoveError as error:
            self._give_up(publisher, error)

    def _give_up(self, publisher: Publisher, error: LakeGuardError) -> None:
        assert publisher.plan is not None
        failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
        ended = self.runs.fail_run(publisher.plan.ticket, failure)
        assert ended.status is RunStatus.FAILED or isinstance(error, Fenced)

    def _evidence(self, plan: RunPlan, rows: int) -> Evidence:
        numbers = list(range(self.next_number, self.next_number + rows))
        self.next_number += rows
        self.batches[plan.ticket.run_id] = (plan.base.version if plan.base else None, numbers)
        return evidence_of(self.lake, plan, numbers, files=2)

    def _write_foreign(self) -> None:
        if self.lake.tables.exists(self.location):
            number = 1_000_000 + len(self.foreign)
            self.foreign.add(number)
            self.lake.write_foreign(self.location, [number])

    def _foreign_since_published(self) -> bool:
        with self.context.read() as tx:
            published = pointer(tx, self.dataset.dataset_id)
        since = 0 if published is None else published.commit
        later = self.lake.tables.commits_since(self.location, since)
        return any(commit.author is None for commit in later)

    def _versions(self) -> list[StoredVersion]:
        with self.context.read() as tx:
            return stored_versions(tx, self.dataset.dataset_id)
