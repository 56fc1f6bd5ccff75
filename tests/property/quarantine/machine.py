"""Histories of a dataset that quarantines rows, against a book of every row."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lakeguard.insight.reader.reader import StateReader
from lakeguard.insight.verification.quarantine import quarantine_findings
from lakeguard.promotion.quarantine.quarantine_tables import sync_quarantine_tables
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import Deletes, LoadType, RunStatus
from lakeguard_sdk.errors import AlreadyPublished, NothingQuarantined
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunPlan, Window
from tests.property.move.machine import FAST
from tests.property.quarantine.model import Filed, Model
from tests.support.fakes.killed_at import dying_at
from tests.support.fakes.memory_quarantine import MemoryQuarantineTables
from tests.support.lakes.lakes import MemoryLake
from tests.support.lakes.quarantined_by_hand import ByHand, definitions, failing
from tests.support.projects.planes import NUMBERS, Clock, make_context

KEYED = {"keys": ("n",), "order_by": ("n",)}
LOADS = (
    Load(type=LoadType.FULL),
    Load(type=LoadType.APPEND),
    Load(type=LoadType.APPEND, keys=("n",)),
    Load(type=LoadType.INCREMENTAL, **KEYED),
    Load(type=LoadType.SNAPSHOT, deletes=Deletes.HARD, **KEYED),
    Load(type=LoadType.SNAPSHOT, deletes=Deletes.SOFT, **KEYED),
    Load(type=LoadType.CDC, operation="op", **KEYED),
    Load(type=LoadType.SCD2, **KEYED),
)
ANEW = (LoadType.FULL, LoadType.SNAPSHOT)
FEW = st.integers(0, 3)
ENDS = st.sampled_from(["publish"] * 5 + ["block", "fail", "die"])
CHOICES = st.sampled_from(["all", "all", "run", "rule", "other"])


class QuarantineMachine(RuleBasedStateMachine):
    @initialize(load=st.sampled_from(LOADS))
    def begin_world(self, load: Load) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="quarantine-", dir=FAST))
        lake, clock = MemoryLake(), Clock()
        context = make_context(self.folder, lake.tables, clock, definitions(load))
        self.quarantine_tables = MemoryQuarantineTables()
        self.context = replace(context, quarantine_tables=self.quarantine_tables)
        used: dict[str, Any] = {
            "reader": StateReader(
                OrganisationState.of(context.database, "default", clock), str(self.folder)
            ),
            "runs": PromotionRuns(self.context),
            "operations": EmbeddedOperations(self.context),
            "lake": str(self.folder),
        }
        client = Client(**{**dict.fromkeys(port.name for port in fields(Client)), **used})
        self.world = ByHand(client, lake, clock)
        self.load, self.model, self.numbers = load, Model(), count(1)

    # -- what happens --------------------------------------------------------------------------

    @rule(good=FEW, small=FEW, large=FEW, malformed=FEW, end=ENDS, data=st.data())
    def run(
        self, good: int, small: int, large: int, malformed: int, end: str, data: st.DataObject
    ) -> None:
        window = None
        if self.model.shown is not None and data.draw(st.integers(0, 5), label="fill back") == 5:
            window = Window(column="n", start="0", end="9")
        task = self.world.client.operations.submit(NUMBERS, "machine", window=window)
        plan = self.world.opened(task)
        batch = [next(self.numbers) % 100 for _ in range(good)]
        batch += [-next(self.numbers) for _ in range(small)]
        batch += [100 + next(self.numbers) for _ in range(large)]
        changed: dict[str, Any] = {"rejected": malformed}
        published = good
        if plan.load.type not in (LoadType.FULL, LoadType.APPEND) and window is None:
            given, published = self._changes(plan, good, data)
            changed |= {"unseen": published - good, **given}
        if self._ends(plan, batch, end, changed):
            quarantined = self._filed(plan, batch)
            renews = self.load.type in ANEW and window is None
            version = self._last_version()
            self.model.publish(version, published, quarantined, malformed, renews=renews)

    run_more = run

    @rule(choice=CHOICES, mends=st.sampled_from([0, 1, 2]), end=ENDS, data=st.data())
    @precondition(lambda self: self.model.quarantined() or self.model.shown is not None)
    def replay(self, choice: str, mends: int, end: str, data: st.DataObject) -> None:
        chosen = self._choice(choice, data)
        taken = [key for key in self.model.quarantined() if chosen.takes(*key)]
        submit = self.world.client.operations.submit_replay
        try:
            task = submit(NUMBERS, "machine", chosen, as_newest=True)
        except NothingQuarantined:
            assert not taken
            return
        plan = self.world.opened(task)
        assert isinstance(plan.build, QuarantineBuild)
        assert {(file.run_id, file.rule_id) for file in plan.build.files} == set(taken)
        batch = [
            abs(number) % 100 if index % 3 < mends else number
            for index, number in enumerate(self.world.quarantined_in(plan))
        ]
        if self._ends(plan, batch, end, {}):
            self.model.replay(self._last_version(), taken, self._filed(plan, batch))

    replay_more = replay

    @rule(choice=CHOICES, data=st.data(), dies=st.sampled_from([False] * 5 + [True]))
    def discard(self, choice: str, data: st.DataObject, dies: bool) -> None:
        chosen = self._choice(choice, data)
        gone = {key for key in self.model.quarantined() if chosen.takes(*key)}
        try:
            with dying_at("quarantine.discarded" if dies else None):
                self.world.client.operations.discard(NUMBERS, chosen, "because")
        except NothingQuarantined:
            assert not gone
            return
        self.model.discarded |= gone

    @rule(choice=st.integers(0, 9))
    @precondition(lambda self: self.model.books)
    def roll_back(self, choice: int) -> None:
        versions = sorted(self.model.books)
        target = versions[choice % len(versions)]
        try:
            self.world.client.operations.rollback(NUMBERS, target, "because")
        except AlreadyPublished:
            return
        self.model.roll_back(target)

    roll_back_more = roll_back

    # -- what must hold ------------------------------------------------------------------------

    @invariant()
    def every_row_is_accounted_for(self) -> None:
        if not hasattr(self, "model"):
            return
        reader = self.world.client.reader
        reported = reader.quarantine_balance(NUMBERS)
        found = (
            reported.read,
            reported.published,
            reported.quarantined,
            reported.discarded,
            reported.malformed,
        )
        assert reported.adds_up
        assert (reported.version, found) == (self.model.shown, self.model.balance())
        quarantined = [
            row for row in reader.quarantine(NUMBERS) if row.state is QuarantineState.QUARANTINED
        ]
        assert {(r.run_id, r.rule_id): r.rows for r in quarantined} == dict(
            self.model.quarantined()
        )

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        sync_quarantine_tables(self.context)
        context = self.context
        found = quarantine_findings(
            OrganisationState.of(context.database, "default"),
            str(self.folder),
            self.quarantine_tables,
        )
        assert list(found) == []
        assert self.quarantine_tables.files == len(self.model.quarantined())
        context.database.close()
        shutil.rmtree(self.folder)

    # -- the machine's own hands ---------------------------------------------------------------

    def _changes(self, plan: RunPlan, good: int, data: st.DataObject) -> tuple[dict[str, Any], int]:
        """Good rows are inserted; beside them come others of every kind, and a file may go. Only
        rows of a change feed that delete are rows of the batch."""
        others = {kind: data.draw(FEW, label=kind) for kind in ("unchanged", "late", "duplicates")}
        published = good + sum(others.values())
        changes = Changes(inserted=good, **others)
        live = self.world.lake.files(plan.location, plan.base.commit) if plan.base else ()
        deletes = plan.load.type in (LoadType.SNAPSHOT, LoadType.CDC)
        if not (live and plan.base and deletes and data.draw(st.booleans(), label="deletes")):
            return {"changes": changes}, published
        gone = len(self.world.lake.contents(plan.location, live[0]))
        had = self.world.lake.numbers(plan.location, plan.base.commit).total()
        published += gone if plan.load.type is LoadType.CDC else 0
        changed = {"removes": live[:1], "table_rows": had + good - gone}
        return {"changes": changes.model_copy(update={"deleted": gone}), **changed}, published

    def _ends(self, plan: RunPlan, batch: list[int], end: str, changed: dict[str, Any]) -> bool:
        """Whether it was published; what is blocked, fails or dies before leaves nothing."""
        if end == "block":
            decision = self.world.decide(plan, batch, **{**changed, "table_rows": 999_999})
            assert not decision.allowed
            return False
        decision = self.world.decide(plan, batch, **changed)
        assert decision.allowed, decision.ruling.reasons
        if end == "fail":
            assert self.world.fail(plan).status is RunStatus.FAILED
            return False
        with dying_at("complete.recorded" if end == "die" else None):
            self.world.publish(plan)
        return True

    def _filed(self, plan: RunPlan, batch: list[int]) -> Counter[Filed]:
        run_id = plan.ticket.run_id
        return Counter((run_id, rules[0]) for number in batch if (rules := failing(number)))

    def _choice(self, choice: str, data: st.DataObject) -> QuarantineSelection:
        """Of what waits where something does."""
        quarantined = sorted(self.model.quarantined())
        if choice == "other":
            return QuarantineSelection(runs=("run_of_nobody",))
        if choice == "all" or not quarantined:
            return QuarantineSelection()
        run_id, rule_id = data.draw(st.sampled_from(quarantined), label="chosen")
        return (
            QuarantineSelection(runs=(run_id,))
            if choice == "run"
            else QuarantineSelection(rules=(rule_id,))
        )

    def _last_version(self) -> int:
        return max(row.version for row in self.world.client.reader.versions(NUMBERS))
