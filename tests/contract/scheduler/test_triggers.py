"""Jobs that start by versions and ends of other jobs, on each kind of State."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeguard.scheduler.triggers.queries import last_completed
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import (
    OTHERS,
    Plane,
    job,
    land,
    make_plane,
)

BOTH = f"{NUMBERS}, {OTHERS}"


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def test_a_job_follows_each_new_version_once(plane: Plane) -> None:
    plane.apply(job("next", on_update=str(NUMBERS)))
    assert plane.tick().triggered == 0, "there is no version yet"
    plane.publish()
    assert plane.tick().triggered == 1
    assert plane.tick().triggered == 0
    plane.publish()
    plane.publish()
    assert plane.tick().triggered == 1, "once for all that came meanwhile"
    assert plane.tasks() == [f"updated:{NUMBERS}@v1", f"updated:{NUMBERS}@v3"]


def test_all_of_several_have_to_be_new(plane: Plane) -> None:
    plane.apply(job("both", on_update=BOTH))
    plane.publish(NUMBERS)
    assert plane.tick().triggered == 0
    plane.publish(NUMBERS)
    plane.publish(OTHERS)
    assert plane.tick().triggered == 1
    plane.publish(OTHERS)
    assert plane.tick().triggered == 0
    plane.publish(NUMBERS)
    assert plane.tick().triggered == 1
    assert plane.tasks() == [
        f"updated:{NUMBERS}@v2,{OTHERS}@v1",
        f"updated:{NUMBERS}@v3,{OTHERS}@v2",
    ]


def test_any_of_several_will_do(plane: Plane) -> None:
    plane.apply(job("any", on_update_any=BOTH))
    plane.publish(OTHERS)
    assert plane.tick().triggered == 1
    plane.publish(NUMBERS)
    assert plane.tick().triggered == 1
    assert plane.tick().triggered == 0
    assert plane.tasks() == [f"updated:{OTHERS}@v1", f"updated:{NUMBERS}@v1,{OTHERS}@v1"]


def test_going_back_to_an_older_version_starts_nothing(plane: Plane) -> None:
    plane.apply(job("next", on_update=str(NUMBERS)))
    plane.publish()
    plane.publish()
    assert plane.tick().triggered == 1
    plane.roll_back(NUMBERS, 1)
    assert plane.tick().triggered == 0
    plane.publish()
    assert plane.tick().triggered == 1
    assert plane.tasks()[-1] == f"updated:{NUMBERS}@v3"


def test_a_version_that_nobody_heard_of_is_found_by_whoever_looks(plane: Plane) -> None:
    """No event is needed, and none can be lost: a dispatcher that never ran before sees it."""
    plane.apply(job("next", on_update=str(NUMBERS)))
    plane.publish()
    assert tick(plane.context, Watch()).triggered == 1
    assert tick(plane.context, Watch()).triggered == 0


def test_a_version_while_the_job_was_off_counts_when_it_is_on(plane: Plane) -> None:
    off = job("next", on_update=str(NUMBERS)).model_copy(update={"active": False})
    plane.apply(off)
    plane.publish()
    assert plane.tick().triggered == 0
    plane.apply(off.model_copy(update={"active": True}), deployed=False)
    assert plane.tick().triggered == 1


def test_a_job_follows_others_once_all_have_ended_well(plane: Plane) -> None:
    plane.apply(
        job("first", on_update=str(NUMBERS)),
        job("second", on_update=str(OTHERS)),
        job("last", after="first, second"),
    )
    plane.publish(NUMBERS)
    plane.tick()
    assert plane.work_off() == ["first"]
    assert plane.tick().triggered == 0, "the second has not ended yet"
    plane.publish(OTHERS)
    plane.tick()
    assert plane.work_off(fail=True) == ["second"]
    assert plane.tick().triggered == 0, "it failed"
    plane.publish(OTHERS)
    plane.tick()
    assert plane.work_off() == ["second"]
    assert plane.tick().triggered == 1
    assert plane.tick().triggered == 0
    assert plane.work_off() == ["last"]
    plane.publish(OTHERS)
    plane.tick()
    plane.work_off()
    assert plane.tick().triggered == 0, "the first has not ended again"


def test_a_job_follows_each_end_whichever_began_first(plane: Plane) -> None:
    plane.apply(job("first", on_files="*.csv", concurrency="2"), job("last", after="first"))
    for name in ("a.csv", "b.csv"):
        land(plane, name)
        plane.tick()
        plane.clock.pass_time(1)
    dispatch, done = EmbeddedDispatch(plane.context), TaskReport(success=True)
    older, newer = dispatch.claim(this_process("tests"), limit=2)
    dispatch.report(newer.ticket, done)
    assert plane.tick().triggered == 1
    plane.clock.pass_time(1)
    dispatch.report(older.ticket, done)
    assert plane.tick().triggered == 1, "it began before, and ended after"
    assert plane.tick().triggered == 0


def test_the_last_end_of_a_job_is_one_look_into_an_index(plane: Plane) -> None:
    database, explain = plane.context.database, "EXPLAIN QUERY PLAN "
    if database.engine.dialect.name == "postgresql":
        explain = "EXPLAIN "
    asked = last_completed(plane.context.org_id, {"one", "two"}, plane.clock()).compile(
        database.engine, compile_kwargs={"literal_binds": True}
    )
    with database.write() as connection:
        if explain == "EXPLAIN ":
            for way in ("seqscan", "bitmapscan", "sort"):  # an empty table is cheap in any way
                connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        plan = connection.exec_driver_sql(explain + str(asked)).all()
    looks = [str(row) for row in plan if " tasks" in str(row)]
    assert looks
    assert all("ix_tasks_ended" in look for look in looks), looks


def test_many_dispatchers_start_each_job_once(plane: Plane) -> None:
    plane.apply(
        job("next", on_update=str(NUMBERS)),
        job("load", on_files="*.csv"),
        job("any", on_update_any=BOTH),
    )
    plane.publish()
    land(plane, "a.csv")
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda _: tick(plane.context, Watch()), range(4)))
    assert [turn.problems for turn in turns] == [()] * 4
    assert sum(turn.triggered for turn in turns) == 3
    assert len(plane.tasks()) == 3


def test_another_organisation_sees_and_starts_nothing(plane: Plane) -> None:
    plane.apply(job("next", on_update=str(NUMBERS)), job("last", after="next"))
    plane.publish()
    plane.tick()
    other = plane.elsewhere("other")
    other.apply(job("next", on_update=str(NUMBERS)), job("last", after="next"))
    assert other.tick().triggered == 0
    plane.work_off()
    assert other.tick().triggered == 0
    assert plane.tick().triggered == 1


def test_a_refusal_is_recorded_and_not_tried_again_by_itself(plane: Plane) -> None:
    plane.apply(job("next", on_update=str(NUMBERS), overlap="skip"))
    plane.publish()
    plane.tick()
    plane.publish()
    done = plane.tick()
    assert (done.triggered, done.refused) == (0, 1)
    assert plane.tick().refused == 0
    states = [state for (state,) in plane.tasks("state")]
    assert states == [TaskState.QUEUED.value, TaskState.BLOCKED.value]
