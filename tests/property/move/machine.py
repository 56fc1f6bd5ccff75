"""The move against a plain model: two publishers, a reaper, rollbacks and a foreign writer.

Any of them may die between any two steps. What must hold, always: versions without gaps, one
per task; each version holds exactly its base and its batch; nothing foreign in any of them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import func, select

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import TaskKind
from lakeguard.ledger.intents import committed_hashes, open_intent
from lakeguard.ledger.versions import StoredVersion, pointer, stored_versions
from lakeguard.promotion.reaping import reap
from lakeguard.promotion.rollback import roll_back
from lakeguard.promotion.runs import PromotionRuns
from lakeguard.registry.store import require_dataset
from lakeguard.state.tables import run_history, task_attempts
from lakeguard_sdk.errors import AlreadyPublished, Fenced, LakeGuardError, MoveError
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.run import Failure, Intent, RunPlan, RunResult
from lakeguard_sdk.words import LoadType, RunStatus
from tests.worlds.deaths import dying_at, meanwhile
from tests.worlds.hand_work import evidence_of
from tests.worlds.lakes import Lake
from tests.worlds.planes import ELSEWHERE, NUMBERS, Clock, make_heart, numbers_definitions

WHO = st.sampled_from([0, 1])
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Thousands of durable transactions want a disk that is none."""
GIVE_UP = Failure(code="LG-5004", message="gave up")


def deaths(*points: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, None, *points])


@dataclass
class Publisher:
    """A data plane, reduced to what it holds."""

    plan: RunPlan | None = None
    decided: bool = False
    intent: Intent | None = None
    commit: int | None = None


class MoveMachine(RuleBasedStateMachine):
    make_lake: Callable[[], Lake]

    @initialize(load=st.sampled_from([LoadType.APPEND, LoadType.FULL]))
    def begin_world(self, load: LoadType) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="move-", dir=FAST))
        self.clock = Clock()
        self.lake = type(self).make_lake()
        self.heart = make_heart(
            self.folder, self.lake.tables, self.clock, numbers_definitions(load)
        )
        self.runs = PromotionRuns(self.heart)
        with self.heart.database.read() as connection:
            self.dataset = require_dataset(connection, "default", NUMBERS)
        self.location = self.heart.location_of(self.dataset)
        self.publishers = [Publisher(), Publisher()]
        self.next_number = 0
        self.batches: dict[str, tuple[int | None, list[int]]] = {}
        self.foreign: set[int] = set()

    # -- the publishers ------------------------------------------------------------------------

    @rule(who=WHO, dies=deaths("run.opened"))
    def open_run(self, who: int, dies: str | None) -> None:
        self.publishers[who] = Publisher()
        with self.heart.database.write() as connection:
            task_id = tasks.submit(
                connection,
                "default",
                self.dataset.dataset_id,
                kind=TaskKind.BUILD,
                key=None,
                parameters="{}",
                triggered_by="machine",
                at=self.clock(),
            )
        with dying_at(dies):
            opened = self.runs.open_run(task_id, ELSEWHERE)
            if isinstance(opened, RunPlan):
                self.publishers[who] = Publisher(plan=opened)
            else:
                assert opened.status is RunStatus.BLOCKED
                assert self._foreign_since_published(), opened

    @rule(who=WHO, rows=st.integers(0, 3), dies=deaths("schema.submitted", "decision.recorded"))
    @precondition(lambda self: any(p.plan for p in self.publishers))
    def decide(self, who: int, rows: int, dies: str | None) -> None:
        publisher = self.publishers[who]
        if publisher.plan is None or publisher.decided:
            return
        evidence = self._evidence(publisher.plan, rows)
        self.publishers[who] = Publisher()
        with dying_at(dies):
            try:
                self.runs.submit_schema(publisher.plan.ticket, publisher.plan.declared)
                decision = self.runs.submit_evidence(publisher.plan.ticket, evidence)
            except Fenced:
                return
            assert decision.allowed, decision.ruling.reasons
            self.publishers[who] = Publisher(plan=publisher.plan, decided=True)

    @rule(who=WHO, dies=deaths("table.created", "intent.recorded"))
    @precondition(lambda self: any(p.decided for p in self.publishers))
    def take_intent(self, who: int, dies: str | None) -> None:
        publisher = self.publishers[who]
        if publisher.plan is None or not publisher.decided or publisher.intent:
            return
        self.publishers[who] = Publisher()
        with dying_at(dies):
            try:
                intent = self.runs.begin_move(publisher.plan.ticket)
            except MoveError as error:
                self._give_up(publisher, error)
                return
            self.publishers[who] = Publisher(publisher.plan, decided=True, intent=intent)

    @rule(
        who=WHO,
        dies=deaths("publish.before_commit", "publish.committed"),
        stranger=deaths("publish.before_commit"),
    )
    @precondition(lambda self: any(p.intent and p.commit is None for p in self.publishers))
    def commit(self, who: int, dies: str | None, stranger: str | None) -> None:
        publisher = self.publishers[who]
        if publisher.intent is None or publisher.commit is not None:
            return
        self.publishers[who] = Publisher()
        with dying_at(dies), meanwhile(stranger, self._write_foreign):
            try:
                landed = self.lake.publish(publisher.intent)
            except MoveError as error:
                self._give_up(publisher, error)
                return
            self.publishers[who] = Publisher(publisher.plan, True, publisher.intent, landed)

    @rule(who=WHO, dies=deaths("complete.before", "complete.recorded"))
    @precondition(lambda self: any(p.commit is not None for p in self.publishers))
    def complete(self, who: int, dies: str | None) -> None:
        publisher = self.publishers[who]
        if publisher.plan is None or publisher.commit is None:
            return
        self.publishers[who] = Publisher()
        with dying_at(dies):
            first = self.runs.complete_move(publisher.plan.ticket, publisher.commit)
            again = self.runs.complete_move(publisher.plan.ticket, publisher.commit)
            assert first.to_json() == again.to_json()
            assert first.status is RunStatus.SUCCESS

    @rule(who=WHO, dies=deaths("fence.before_commit", "fence.committed", "complete.before"))
    def report_failure(self, who: int, dies: str | None) -> None:
        publisher, self.publishers[who] = self.publishers[who], Publisher()
        if publisher.plan is None:
            return
        with dying_at(dies):
            ended = self.runs.fail_run(publisher.plan.ticket, GIVE_UP)
            if publisher.commit is not None:
                assert ended.status is RunStatus.SUCCESS, "its commit stands, so it is a version"

    @rule(who=WHO)
    def heartbeat(self, who: int) -> None:
        publisher = self.publishers[who]
        if publisher.plan is not None:
            try:
                self.runs.heartbeat(publisher.plan.ticket)
            except Fenced:
                if publisher.intent is None:
                    self.publishers[who] = Publisher()

    @rule(who=WHO)
    def vanish(self, who: int) -> None:
        self.publishers[who] = Publisher()

    # -- everybody else ------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([50, 200]))
    def pass_time(self, seconds: int) -> None:
        self.clock.pass_time(seconds)

    @rule(
        dies=deaths("fence.before_commit", "fence.committed", "complete.before"),
        stranger=deaths("fence.before_commit"),
    )
    def reap(self, dies: str | None, stranger: str | None) -> None:
        with dying_at(dies), meanwhile(stranger, self._write_foreign):
            reap(self.heart)

    @rule(
        choice=st.integers(0, 9),
        dies=deaths("intent.recorded", "restore.before_commit", "restore.committed"),
        stranger=deaths("restore.before_commit"),
    )
    def roll_back(self, choice: int, dies: str | None, stranger: str | None) -> None:
        versions = self._versions()
        if not versions:
            return
        target = versions[choice % len(versions)].version
        with dying_at(dies), meanwhile(stranger, self._write_foreign):
            try:
                ended = roll_back(self.heart, NUMBERS, target, "because")
            except (MoveError, AlreadyPublished):
                return
            assert ended.version == target

    @rule()
    def write_foreign(self) -> None:
        self._write_foreign()

    # -- what must hold ------------------------------------------------------------------------

    @invariant()
    def versions_are_whole(self) -> None:
        versions = sorted(self._versions(), key=lambda item: item.version)
        assert [item.version for item in versions] == list(range(1, len(versions) + 1))
        contents: dict[int | None, Counter[int]] = {None: Counter()}
        for item in versions:
            base, batch = self.batches[item.run_id]
            kept = contents[base] if self.dataset.definition.load is LoadType.APPEND else Counter()
            contents[item.version] = kept + Counter(batch)
            shown = self.lake.numbers(self.location, item.commit_version)
            assert shown == contents[item.version], "a version is its base and its batch"
            assert not self.foreign & set(shown), "nothing foreign is ever absorbed"
        self._pointer_shows(contents)

    @invariant()
    def runs_have_one_row(self) -> None:
        with self.heart.database.read() as connection:
            attempts = connection.scalar(select(func.count()).select_from(task_attempts))
            ended = connection.scalar(select(func.count()).select_from(run_history))
            running = len(tasks.running_tasks(connection, "default"))
        assert attempts == ended + running

    def teardown(self) -> None:
        if not hasattr(self, "heart"):
            return
        self.clock.pass_time(1000)
        reap(self.heart)
        self.versions_are_whole()
        with self.heart.database.read() as connection:
            assert open_intent(connection, self.dataset.dataset_id) is None
            assert not tasks.running_tasks(connection, "default")
            settled = committed_hashes(connection, self.dataset.dataset_id)
        if self.lake.tables.exists(self.location):
            for commit in self.lake.tables.commits_since(self.location, 0):
                if commit.author and commit.data_changing:
                    assert settled.get(commit.version) == commit.sha256, "ours, and not settled"
        self.heart.database.close()
        shutil.rmtree(self.folder)

    # -- the machine's own hands ---------------------------------------------------------------

    def _pointer_shows(self, contents: dict[int | None, Counter[int]]) -> None:
        with self.heart.database.read() as connection:
            published = pointer(connection, self.dataset.dataset_id)
            under_way = open_intent(connection, self.dataset.dataset_id)
        if published is None:
            return
        assert self.lake.numbers(self.location, published.commit) == contents[published.version]
        if under_way is None and not self._foreign_since_published():
            head = self.lake.tables.head_version(self.location)
            assert self.lake.numbers(self.location, head) == contents[published.version]

    def _give_up(self, publisher: Publisher, error: LakeGuardError) -> None:
        assert publisher.plan is not None
        failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
        ended: RunResult = self.runs.fail_run(publisher.plan.ticket, failure)
        assert ended.status is RunStatus.FAILED

    def _evidence(self, plan: RunPlan, rows: int) -> Evidence:
        numbers = list(range(self.next_number, self.next_number + rows))
        self.next_number += rows
        self.batches[plan.ticket.run_id] = (plan.base.version if plan.base else None, numbers)
        return evidence_of(self.lake, plan, numbers)

    def _write_foreign(self) -> None:
        if self.lake.tables.exists(self.location):
            number = 1_000_000 + len(self.foreign)
            self.foreign.add(number)
            self.lake.write_foreign(self.location, [number])

    def _foreign_since_published(self) -> bool:
        with self.heart.database.read() as connection:
            published = pointer(connection, self.dataset.dataset_id)
        since = 0 if published is None else published.commit
        later = self.lake.tables.commits_since(self.location, since)
        return any(commit.author is None for commit in later)

    def _versions(self) -> list[StoredVersion]:
        with self.heart.database.read() as connection:
            return stored_versions(connection, self.dataset.dataset_id)
