"""A control plane whose jobs start by themselves, on either database, with a clock to turn."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import event, select

from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.scheduler.graph.deploy import deploy
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.settings import DispatchSettings
from lakeguard.state.database import Database
from lakeguard.state.schema import job_schedules, tasks
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.jobs import Ticked
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.databases.databases import migrated_database
from tests.support.lakes.lakes import MemoryLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS, Clock, numbers_definitions

OTHERS = DatasetName("bronze.others")
AT_ONCE = DispatchSettings(quiet_seconds=0)
"""A file is whole as soon as it is seen."""
_numbers = count(1)
_FAILURE = Failure(code="LG-4651", message="it went wrong", retryable=False)


def job(name: str, **config: str) -> JobDefinition:
    """One that runs anywhere, so that only its triggers matter."""
    return JobDefinition(job=name, type="python", config={"call": "jobs:main", **config})


@dataclass
class Plane:
    """One organisation and a dispatcher of it."""

    context: PlaneContext
    clock: Clock
    lake: MemoryLake
    watch: Watch = field(default_factory=Watch)

    def apply(self, *jobs: JobDefinition, deployed: bool = True) -> None:
        """Nobody has to deploy because a job's settings changed."""
        with self.context.write() as tx:
            state = read_state(tx)
            plan = make_plan(Definitions(jobs=jobs), state)
            apply_plan(tx, plan, "tester", self.clock())
        if deployed:
            deploy(self.context, "tests")

    def tick(self) -> Ticked:
        """One turn; a loop that fails fails the test."""
        done = tick(self.context, self.watch)
        assert done.problems == (), done.problems
        return done

    def at(self, moment: str) -> Plane:
        self.clock.now = datetime.fromisoformat(moment)
        return self

    def tasks(self, *columns: str) -> list[Any]:
        """In the order of their creation; the key alone, or what is asked for."""
        chosen = [tasks.c[name] for name in columns or ("dedupe_key",)]
        query = select(*chosen).where(tasks.c.org_id == self.context.org_id)
        query = query.where(tasks.c.job_id.is_not(None)).order_by(
            tasks.c.created_at, tasks.c.task_id
        )
        with self.context.read() as tx:
            rows = tx.execute(query.where(tasks.c.triggered_by.like("trigger:%"))).all()
        return [tuple(row) if columns else row[0] for row in rows]

    def next_at(self) -> dict[str, datetime | None]:
        with self.context.read() as tx:
            rows = tx.execute(
                select(job_schedules).where(job_schedules.c.org_id == self.context.org_id)
            )
            return {row.job_id: row.next_at for row in rows}

    def publish(self, name: DatasetName = NUMBERS, position: SourcePosition | None = None) -> None:
        """One more version of a dataset, which has read its source up to a position."""
        runs = PromotionRuns(self.context)
        task_id = EmbeddedOperations(self.context).submit(name, "tests")
        plan = runs.open_run(task_id, this_process("tests"))
        assert isinstance(plan, RunPlan)
        runs.submit_schema(plan.ticket, plan.declared)
        evidence = evidence_of(self.lake, plan, [1]).model_copy(update={"position": position})
        runs.submit_evidence(plan.ticket, evidence)
        runs.complete_move(plan.ticket, self.lake.publish(runs.begin_move(plan.ticket)))

    def roll_back(self, name: DatasetName, version: int) -> None:
        EmbeddedOperations(self.context).rollback(name, version, "it was wrong")

    def work_off(self, *, fail: bool = False) -> list[str]:
        """A worker does all that is queued, well or ill; the jobs, in the order of their names."""
        dispatch = EmbeddedDispatch(self.context)
        claimed = dispatch.claim(this_process("tests"), limit=100)
        given = TaskReport(success=not fail, error=_FAILURE if fail else None)
        for assignment in claimed:
            dispatch.report(assignment.ticket, given)
        return sorted(str(assignment.job) for assignment in claimed)

    def patient(self, quiet_seconds: int) -> list[float]:
        """Files have to be quiet for so long from now on, on a clock that the test sets."""
        moment = [0.0]
        self.context = replace(self.context, dispatch=DispatchSettings(quiet_seconds=quiet_seconds))
        self.watch.file_watch.steady = lambda: moment[0]
        return moment

    def far_away(self, lake: str) -> PlaneContext:
        return replace(self.context, lake=lake)

    def elsewhere(self, org_id: str) -> Plane:
        """Another organisation in the same State."""
        other = Plane(
            replace(self.context, org_id=f"{self.context.org_id}_{org_id}"), self.clock, self.lake
        )
        _register(other)
        return other


@cache
def _shared_state(kind: str) -> Database:
    """One for all tests of a process: each has an organisation of its own in it."""
    folder = Path(tempfile.mkdtemp(prefix="lakeguard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return migrated_database(kind, folder)


def make_plane(kind: str, folder: Path) -> Plane:
    """An organisation that nobody has used yet; it is the first of January 2026, at midnight."""
    clock, lake = Clock(), MemoryLake()
    context = PlaneContext(
        database=_shared_state(kind),
        tables=lake.tables,
        org_id=f"org_{next(_numbers)}",
        lake=str(folder),
        clock=clock,
        actor="tester",
        dispatch=AT_ONCE,
    )
    plane = Plane(context, clock, lake)
    _register(plane)
    return plane


def _register(plane: Plane) -> None:
    given = numbers_definitions(LoadType.APPEND)
    (numbers,) = given.datasets
    both = (numbers, numbers.model_copy(update={"dataset": OTHERS}))
    with plane.context.write() as tx:
        state = read_state(tx)
        plan = make_plan(given.model_copy(update={"datasets": both}), state)
        apply_plan(tx, plan, "tester", plane.clock())


def body(**changes: Any) -> bytes:
    """An event as EventBridge sends it."""
    given = {
        "version": "0",
        "id": "e-1",
        "detail-type": "Order",
        "source": "shop",
        "detail": {"order": {"id": 7}, "state": "paid"},
    }
    return json.dumps({**given, **changes}).encode()


@contextmanager
def counted_statements(database: Database) -> Iterator[list[str]]:
    """Every statement that the block sends; one for many rows counts once."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        sent.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def land(plane: Plane, name: str, text: str = "x", modified: float | None = None) -> Path:
    path = Path(plane.context.lake, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if modified is not None:
        os.utime(path, (modified, modified))
    return path
