"""The same machine on a table that somebody else made: first it is adopted, with deaths on the way.

What must hold beyond the rest: version 1 is exactly what the table showed when it was judged, and
until the gate has allowed it nothing is committed to the table.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from lakeguard.ledger.versions import pointer_rows
from lakeguard.promotion.moves.adoption import order_adoption
from lakeguard.promotion.moves.reap import reap
from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.errors import MoveError
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.model.table_operations import AdoptionPlan
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.property.move.machine import FAST, MoveMachine
from tests.support.fakes.killed_at import dying_at, meanwhile
from tests.support.lakes.foreign_tables import foreign_numbers, located_numbers
from tests.support.lakes.lakes import MemoryLake
from tests.support.projects.planes import ELSEWHERE, NUMBERS

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))
DEATHS = (
    "run.opened",
    "decision.recorded",
    "intent.recorded",
    "adopt.before_commit",
    "adopt.committed",
    "complete.before",
    "complete.recorded",
)
STRANGERS = ("run.opened", "decision.recorded", "adopt.before_commit")


class AdoptedMachine(MoveMachine):
    @initialize(
        load=st.sampled_from([LoadType.APPEND, LoadType.FULL]),
        there=st.integers(0, 3),
        tries=st.lists(
            st.tuples(st.sampled_from([None, *DEATHS]), st.sampled_from([None, *STRANGERS])),
            max_size=3,
        ),
    )
    def begin_world(  # type: ignore[override]
        self, load: LoadType, there: int, tries: list[tuple[str | None, str | None]]
    ) -> None:
        """A table with some numbers in it; some tries, and one that nothing disturbs."""
        self.folder = Path(tempfile.mkdtemp(prefix="adopt-", dir=FAST))
        self.lake = type(self).make_lake()
        place = self._foreign_table()
        self.theirs = 0
        for _ in range(there):
            self._write_theirs(place)
        self._make_plane(located_numbers(place, load=load))
        for dies, stranger in [*tries, (None, None)]:
            if not self._versions():
                self._try_to_adopt(dies, stranger)
        assert [item.version for item in self._versions()] == [1]
        with self.context.read() as tx:
            moves = pointer_rows(tx, self.dataset.dataset_id)
        assert [move.kind for move in moves] == [MoveKind.ADOPTION]

    def _foreign_table(self) -> str:
        if not isinstance(self.lake, MemoryLake):
            return foreign_numbers(self.folder, [])
        place = str(self.folder / "elsewhere")
        self.lake.memory.make_foreign(place, SCHEMA)
        return place

    def _write_theirs(self, place: str) -> None:
        self.lake.write_foreign(place, [-1 - self.theirs])
        self.theirs += 1

    def _try_to_adopt(self, dies: str | None, stranger: str | None) -> None:
        """Whoever is left behind is reaped, once its lease is over."""
        before = self.lake.tables.head_version(self.location)
        written = self.theirs
        with (
            dying_at(dies),
            meanwhile(stranger, lambda: self._write_theirs(self.location)),
        ):
            self._adopt()
        self.clock.pass_time(1000)
        reap(self.context)
        commits = self.lake.tables.commits_since(self.location, before)
        ours = [commit for commit in commits if commit.author is not None]
        assert len(ours) <= 1, "a commit or a fence, and never both"
        if dies == "run.opened" and not ours:
            assert len(commits) == self.theirs - written, "nothing was decided, nothing committed"

    def _adopt(self) -> None:
        task_id = order_adoption(self.context, NUMBERS, "machine")
        plan = self.runs.open_adoption(task_id, ELSEWHERE)
        assert isinstance(plan, AdoptionPlan)
        judged = self.lake.numbers(self.location, plan.commit)
        self.batches[plan.ticket.run_id] = (None, list(judged.elements()))
        try:
            ended = self.runs.submit_adoption(plan.ticket, self._judged(plan, judged))
        except MoveError as error:
            failure = Failure(code=error.code, message=str(error), retryable=error.retryable)
            self.runs.fail_run(plan.ticket, failure)
            return
        assert ended.version == 1, ended

    def _judged(self, plan: AdoptionPlan, numbers: Counter[int]) -> Evidence:
        """What is there, said truthfully."""
        files = [
            StagedFile(
                path=file.path,
                size=file.size,
                rows=len(self.lake.contents(self.location, file.path)),
                modified_ms=1,
                stats=file.stats,
                sha256=hashlib.sha256(file.path.encode()).hexdigest(),
                partition=file.partition,
            )
            for file in plan.files
        ]
        return Evidence(
            run_id=plan.ticket.run_id,
            dataset=plan.run.dataset,
            table_schema=plan.run.table_schema,
            rows=numbers.total(),
            table_rows=numbers.total(),
            files=tuple(files),
            removes=(),
            base_commit=plan.commit,
            measures={measure_key(RowCount()): numbers.total()},
            inputs=(),
            build_hash="sha256:0",
            engine="by hand",
        )
