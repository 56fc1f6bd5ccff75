"""Jobs that follow others miss no end, also one that is committed after later ones were seen."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, update

from lakeguard.dispatch.report import report_all
from lakeguard.scheduler.triggers.queries import ends_until
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.bulk_writes import AT_ONCE, in_pieces, insert_all
from lakeguard.state.schema import tasks, trigger_cursors
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Assignment, TaskReport
from tests.support.databases.databases import KINDS
from tests.support.projects.triggered_jobs import (
    Plane,
    counted_statements,
    job,
    make_plane,
)

DONE = TaskReport(success=True)
FIRST = job("first", on_files="first/*", concurrency="9")
SECOND = job("second", on_files="second/*", concurrency="9")


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def begun(plane: Plane, *names: str) -> list[Assignment]:
    """Attempts of jobs, each started by a file of its own."""
    given: list[Assignment] = []
    for name in names:
        folder = Path(plane.context.lake, name)
        folder.mkdir(exist_ok=True)
        (folder / str(len(list(folder.iterdir())))).write_text("x")
        plane.tick()
        taken = EmbeddedDispatch(plane.context).claim(this_process("tests"), limit=9)
        given += [each for each in taken if each.job == name]
        plane.clock.pass_time(1)
    assert [each.job for each in given] == list(names)
    return given


def end(plane: Plane, assignment: Assignment) -> None:
    EmbeddedDispatch(plane.context).report(assignment.ticket, DONE)


def end_before(plane: Plane, assignment: Assignment, seconds: float) -> None:
    """As one that took its time so long ago, and is committed now."""
    plane.clock.pass_time(-seconds)
    end(plane, assignment)
    plane.clock.pass_time(seconds)


def started(plane: Plane) -> list[str]:
    return [key for key in plane.tasks() if key.startswith("after:")]


def test_an_end_that_comes_late_is_followed_once(plane: Plane) -> None:
    plane.apply(FIRST, job("last", after="first"))
    late, later, last = begun(plane, "first", "first", "first")
    end(plane, last)
    assert plane.tick().triggered == 1
    end_before(plane, late, 2)
    assert [plane.tick().triggered for _ in range(3)] == [1, 0, 0]
    end_before(plane, later, 1)
    assert [plane.tick().triggered for _ in range(3)] == [1, 0, 0]
    task = last.ticket.task_id
    assert started(plane) == [f"after:{task}", f"after:{task}#2", f"after:{task}#3"]


def test_ends_before_the_first_launch_are_none_that_come_late(plane: Plane) -> None:
    plane.apply(FIRST, job("last", after="first"))
    for each in begun(plane, "first", "first", "first"):
        end(plane, each)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]
    plane.clock.pass_time(1)
    (another,) = begun(plane, "first")
    end(plane, another)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]


def test_one_that_comes_late_beside_a_later_one_starts_nothing_of_its_own(plane: Plane) -> None:
    plane.apply(FIRST, job("last", after="first"))
    late, first, last = begun(plane, "first", "first", "first")
    end(plane, first)
    assert plane.tick().triggered == 1
    end_before(plane, late, 1)
    plane.clock.pass_time(1)
    end(plane, last)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]


def test_one_that_comes_late_counts_until_all_others_have_ended_too(plane: Plane) -> None:
    plane.apply(FIRST, SECOND, job("last", after="first, second"))
    late, first, second, another = begun(plane, "first", "first", "second", "second")
    for each in (first, second):
        end(plane, each)
    assert plane.tick().triggered == 1
    end_before(plane, late, 1)
    assert [plane.tick().triggered for _ in range(2)] == [0, 0]
    end(plane, another)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]


def test_each_who_follows_has_a_place_of_its_own(plane: Plane) -> None:
    plane.apply(FIRST, job("one", after="first"))
    late, first = begun(plane, "first", "first")
    end(plane, first)
    assert plane.tick().triggered == 1
    end_before(plane, late, 1)
    plane.apply(job("two", after="first"))
    assert [tick(plane.context, Watch()).triggered for _ in range(2)] == [2, 0]


def test_a_place_of_before_ends_were_counted_goes_on(plane: Plane) -> None:
    plane.apply(FIRST, job("last", after="first"))
    late, first, last = begun(plane, "first", "first", "first")
    end(plane, first)
    assert plane.tick().triggered == 1
    places = trigger_cursors.c
    with plane.context.write() as tx:
        tx.execute(
            update(trigger_cursors)
            .where(places.org_id == plane.context.org_id, places.watched.startswith("job:"))
            .values(position=func.substr(places.position, 1, func.length(places.position) - 2))
        )
    assert plane.tick().triggered == 0
    end(plane, last)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]
    end_before(plane, late, 1)
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]


def test_an_end_is_seen_whose_transaction_lasts_longer_than_that_of_a_later_one(
    tmp_path: Path,
) -> None:
    plane = make_plane("postgresql", tmp_path)
    context = plane.context
    plane.apply(FIRST, job("last", after="first"))
    slow, quick = begun(plane, "first", "first")
    with context.write() as tx:
        report_all(tx, [(slow.ticket, DONE)], context.dispatch)
        plane.clock.pass_time(1)
        end(plane, quick)
        assert [plane.tick().triggered for _ in range(2)] == [1, 0]
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]
    assert len(started(plane)) == 2


def test_ends_are_counted_for_all_jobs_at_once(plane: Plane) -> None:
    def asked() -> list[str]:
        with counted_statements(plane.context.database) as sent:
            plane.tick()
        return sent

    plane.apply(FIRST, job("last", after="first"))
    for each in begun(plane, "first"):
        end(plane, each)
    plane.tick()
    few = asked()
    names = [f"first_{number}" for number in range(8)]
    jobs = [job(name, on_files=f"{name}/*") for name in names]
    plane.apply(*jobs, *(job(f"last_{name}", after=name) for name in names))
    for each in begun(plane, *names):
        end(plane, each)
    assert plane.tick().triggered == 8
    assert sum("count(" in each for each in asked()) == sum("count(" in each for each in few)


def ended(org_id: str, number: int, at: datetime) -> dict[str, Any]:
    """One of many tasks of ten jobs, as a row."""
    return {
        "task_id": f"{org_id}_{number}",
        "org_id": org_id,
        "kind": "python",
        "dataset_id": f"job_{number % 10}",
        "dedupe_key": f"key_{number}",
        "parameters": "{}",
        "triggered_by": "tests",
        "created_at": at,
        "max_attempts": 1,
        "state": "completed",
        "attempt": 1,
        "job_id": f"job_{number % 10}",
        "priority": 0,
        "labels": "",
        "changes": 1,
        "ended_at": at + timedelta(minutes=number),
    }


def test_any_number_of_jobs_may_be_followed(plane: Plane) -> None:
    """Some at a time: neither database takes as many keys as there may be jobs in one text."""
    names = [f"first_{number}" for number in range(AT_ONCE + 100)]
    pieces = enumerate(in_pieces(names, 100))
    followers = [job(f"next_{number}", after=", ".join(some)) for number, some in pieces]
    plane.apply(*map(job, names), *followers)
    keys: list[int] = []

    def note(_connection: Any, _cursor: Any, text: str, given: Any, *_: Any) -> None:
        keys.append(len(given) if text.startswith("SELECT") else 0)

    event.listen(plane.context.database.engine, "before_cursor_execute", note)
    assert plane.tick().triggered == 0
    assert AT_ONCE <= max(keys) < AT_ONCE + 20, "a few beside the keys"


def test_ends_are_counted_in_an_index(plane: Plane) -> None:
    database, at, org_id = plane.context.database, plane.clock(), plane.context.org_id
    postgresql = database.engine.dialect.name == "postgresql"
    explain = "EXPLAIN " if postgresql else "EXPLAIN QUERY PLAN "

    def explained(_connection: Any, _cursor: Any, statement: str, given: Any, *_: Any) -> Any:
        return explain + statement, given

    with database.engine.connect() as connection:  # nothing of it is committed
        tx = Transaction(connection, org_id, plane.clock, "")
        insert_all(tx, tasks, [ended(org_id, number, at) for number in range(3_000)])
        if postgresql:
            connection.exec_driver_sql("ANALYZE tasks")
        asked = ends_until(org_id, [("job_1", at + timedelta(days=1)), ("job_2", at)])
        counted = {row.job_id: row.ends for row in connection.execute(asked)}
        assert counted == {"job_1": 1, "job_2": 0}
        event.listen(connection, "before_cursor_execute", explained, retval=True)
        plan = "\n".join(str(row[-1]) for row in connection.execute(asked))
    assert "ix_tasks_ended" in plan, plan
    assert ("(ended_at > " if postgresql else "ended_at>?") in plan, plan
    assert "Filter" not in plan, plan
    assert "SCAN tasks" not in plan, plan


def test_an_end_of_a_wrong_clock_hides_no_later_one(plane: Plane) -> None:
    plane.apply(FIRST, job("last", after="first"))
    ahead, later = begun(plane, "first", "first")
    end_before(plane, ahead, -86_400)
    plane.clock.pass_time(86_400)
    assert plane.tick().triggered == 1
    plane.clock.pass_time(-86_400)
    end(plane, later)
    assert [plane.tick().triggered for _ in range(3)] == [1, 0, 0]
