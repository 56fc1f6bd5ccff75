"""Jobs that start when their time has come, on each kind of State."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from lakeguard.scheduler.graph.deploy import deploy
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.cron import follow_definitions
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.state.schema import job_schedules
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import (
    Plane,
    counted_statements,
    job,
    make_plane,
)

DAILY = {"schedule": "0 3 * * *", "time_zone": "Europe/Berlin"}


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def times(plane: Plane) -> list[str]:
    return [key.removeprefix("cron:")[:16] for key in plane.tasks()]


def test_a_job_starts_at_its_time_in_its_zone_and_not_before(plane: Plane) -> None:
    plane.apply(job("daily", **DAILY))
    plane.at("2026-01-01T00:10Z").tick()
    assert plane.at("2026-01-01T01:59Z").tick().scheduled == 0
    assert plane.at("2026-01-01T02:00Z").tick().scheduled == 1
    assert plane.tick().scheduled == 0, "once"
    assert plane.at("2026-07-01T01:00:30Z").tick().scheduled == 1
    assert times(plane) == ["2026-01-01T02:00", "2026-07-01T01:00"], "by the clock on the wall"


def test_a_new_schedule_starts_from_now(plane: Plane) -> None:
    plane.at("2026-06-01T12:00Z").apply(job("daily", schedule="daily", catch_up="all"))
    assert plane.tick().scheduled == 0
    assert plane.at("2026-06-02T00:00Z").tick().scheduled == 1


def test_the_task_knows_its_day_and_why(plane: Plane) -> None:
    plane.apply(job("late", schedule="30 23 * * *", time_zone="America/New_York"))
    plane.tick()
    plane.at("2026-01-02T04:30Z").tick()
    ((parameters, cause, by),) = plane.tasks("parameters", "cause", "triggered_by")
    assert '"day": "2026-01-01"' in parameters
    assert '"kind":"cron"' in cause
    assert '"at":"2026-01-02T04:30:00.000000Z"' in cause
    assert by == "trigger:cron"


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        ("none", []),
        ("latest", ["2026-01-04T02:00"]),
        ("all", ["2026-01-02T02:00", "2026-01-03T02:00", "2026-01-04T02:00"]),
    ],
)
def test_times_that_passed_are_made_up_for_as_the_job_says(
    plane: Plane, catch_up: str, expected: list[str]
) -> None:
    plane.at("2026-01-01T12:00Z").apply(job("daily", **DAILY, catch_up=catch_up))
    plane.tick()
    plane.at("2026-01-04T12:00Z").tick()
    assert times(plane) == expected
    plane.at("2026-01-05T02:00:59Z").tick()
    assert times(plane) == [*expected, "2026-01-05T02:00"], "a minute late is in time"


def test_of_years_of_minutes_the_latest_are_made_up_for_and_the_rest_told(plane: Plane) -> None:
    plane.apply(job("often", schedule="* * * * *", catch_up="all"))
    plane.tick()
    done = tick(plane.at("2029-01-01T00:00Z").context, plane.watch)
    assert done.scheduled == 100
    assert done.problems == ("often missed more than 100 times; the latest are made up for",)
    assert times(plane)[0] == "2028-12-31T22:21"
    assert times(plane)[-1] == "2029-01-01T00:00"


def test_a_changed_schedule_acts_at_the_next_turn_without_deploying(plane: Plane) -> None:
    plane.apply(job("one", schedule="0 3 * * *"))
    plane.tick()
    plane.apply(job("one", schedule="0 2 * * *"), deployed=False)
    assert plane.at("2026-01-01T02:00Z").tick().scheduled == 1
    assert plane.at("2026-01-01T03:00Z").tick().scheduled == 0
    plane.apply(job("one", schedule="0 2 * * *", time_zone="Asia/Tokyo"), deployed=False)
    plane.tick()
    assert plane.at("2026-01-01T17:00Z").tick().scheduled == 1
    plane.apply(job("one"), deployed=False)
    plane.tick()
    assert list(plane.next_at().values()) == [None]


def test_who_read_the_definitions_before_puts_no_old_schedule_back(plane: Plane) -> None:
    plane.apply(job("one", schedule="0 3 * * *"))
    plane.tick()
    before = plane.watch.roster
    assert before is not None
    plane.apply(job("one", schedule="0 2 * * *"), deployed=False)
    plane.tick()
    followed = plane.next_at()
    follow_definitions(plane.context, before)
    assert plane.next_at() == followed
    assert plane.at("2026-01-01T02:00Z").tick().scheduled == 1


def test_a_schedule_of_another_definition_is_looked_at_again(plane: Plane) -> None:
    plane.apply(job("one", schedule="0 3 * * *"))
    plane.tick()
    with plane.context.write() as tx:
        tx.execute(
            update(job_schedules)
            .where(job_schedules.c.org_id == plane.context.org_id)
            .values(definition_hash="another", applied=0)
        )
    assert plane.at("2026-01-01T03:00Z").tick().scheduled == 0
    assert plane.tick().scheduled == 1


def test_a_time_that_came_before_a_change_is_still_owed_if_it_is_named_still(plane: Plane) -> None:
    plane.apply(job("same", schedule="0 3 * * *"), job("other", schedule="0 3 * * *"))
    plane.tick()
    plane.at("2026-01-01T03:10Z")
    plane.apply(
        job("same", schedule="0 3 * * *", priority="5"),
        job("other", schedule="0 4 * * *"),
        deployed=False,
    )
    assert plane.tick().scheduled == 1
    assert times(plane) == ["2026-01-01T03:00"]


def test_a_job_that_is_off_lets_its_times_pass(plane: Plane) -> None:
    off = job("daily", schedule="daily", catch_up="all").model_copy(update={"active": False})
    plane.apply(off)
    plane.at("2026-02-01T00:00Z").tick()
    assert plane.tasks() == []
    plane.apply(off.model_copy(update={"active": True}), deployed=False)
    plane.tick()
    assert plane.at("2026-02-02T00:00Z").tick().scheduled == 1


def test_a_job_outside_of_the_active_graph_is_told_of_and_not_started(plane: Plane) -> None:
    plane.apply(job("daily", schedule="daily"), deployed=False)
    tick(plane.context, plane.watch)
    done = tick(plane.at("2026-01-02T00:00Z").context, plane.watch)
    assert done.scheduled == 0
    assert done.problems == (
        "not in the active graph as they are now, so nothing starts them: daily."
        " Next: lakeguard deploy",
    )


def test_a_job_that_changed_since_the_deployment_is_told_of_and_not_started(plane: Plane) -> None:
    """It would be refused each time, and every time would be a row."""
    daily = job("daily", schedule="daily")
    plane.apply(daily)
    plane.tick()
    plane.apply(daily.model_copy(update={"dataset": NUMBERS}), deployed=False)
    for day in (2, 3):
        done = tick(plane.at(f"2026-01-0{day}T00:00Z").context, plane.watch)
        assert (done.scheduled, done.refused) == (0, 0)
        assert done.problems == (
            "not in the active graph as they are now, so nothing starts them: daily."
            " Next: lakeguard deploy",
        )
    assert plane.tasks() == []
    deploy(plane.context)
    plane.tick()
    assert plane.at("2026-01-04T00:00Z").tick().scheduled == 1


def test_another_organisation_sees_and_starts_nothing(plane: Plane) -> None:
    plane.apply(job("daily", schedule="daily"))
    plane.tick()
    other = plane.elsewhere("other")
    plane.at("2026-01-02T00:00Z")
    assert other.tick().scheduled == 0
    assert other.tasks() == []
    assert plane.tick().scheduled == 1


def test_two_dispatchers_start_each_time_once(plane: Plane) -> None:
    names = [f"job_{number:02}" for number in range(30)]
    plane.apply(*(job(name, schedule="*/5 * * * *") for name in names))
    plane.tick()
    for moment in range(4):
        plane.at("2026-01-01T01:00Z").clock.now += timedelta(minutes=5 * moment)
        with ThreadPoolExecutor(4) as pool:
            turns = list(pool.map(lambda _: tick(plane.context, Watch()), range(4)))
        assert [turn.problems for turn in turns] == [()] * 4
        plane.tick()
    found = plane.tasks("job_id", "dedupe_key")
    assert len(found) == len(set(found)) == 30 * 4


def test_a_turn_of_many_jobs_sends_no_more_than_one_of_few(plane: Plane) -> None:
    """All due at once: the State is asked by sets, whatever their size."""
    counts = []
    for number in (10, 1000):
        plane.apply(*(job(f"job_{number}_{n}", schedule="0 * * * *") for n in range(number)))
        plane.at("2026-01-01T00:30Z" if number == 10 else "2026-01-01T01:30Z").tick()
        plane.clock.now += timedelta(minutes=30)
        with counted_statements(plane.context.database) as sent:
            assert plane.tick().scheduled == (10 if number == 10 else 1010)
        counts.append(len(sent))
    assert counts[1] <= counts[0] + 12, "drivers send a thousand rows in a few pieces"
    assert counts[0] <= 40
    with counted_statements(plane.context.database) as sent:
        plane.tick()
    assert len(sent) <= 8, sent


def test_many_that_are_due_are_launched_by_some_at_a_time(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "AT_ONCE", 3)
    monkeypatch.setattr(queries, "MOST_IN_A_TURN", 10)
    plane.apply(*(job(f"job_{number:02}", schedule="0 * * * *") for number in range(20)))
    plane.at("2026-01-01T00:30Z").tick()
    plane.at("2026-01-01T01:00Z")
    turns = [plane.tick() for _ in range(3)]
    assert [turn.scheduled for turn in turns] == [12, 8, 0], "a turn ends with whole transactions"
    found = plane.tasks("job_id", "dedupe_key")
    assert len(found) == len(set(found)) == 20


def test_what_fails_for_some_is_launched_for_the_others(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "AT_ONCE", 5)
    plane.apply(*(job(f"job_{number:02}", schedule="0 * * * *") for number in range(20)))
    plane.at("2026-01-01T00:30Z").tick()
    move, moved = queries.move_schedules, list[int]()

    def once_in_vain(connection: Any, rows: list[Any]) -> None:
        moved.append(len(rows))
        if len(moved) == 2:
            raise OSError("no more room")
        move(connection, rows)

    monkeypatch.setattr(queries, "move_schedules", once_in_vain)
    plane.at("2026-01-01T01:00Z")
    turn = tick(plane.context, plane.watch)
    assert turn.problems == ("schedules: OSError: no more room",)
    plane.tick()
    assert len(plane.tasks()) == 20


def test_a_clock_that_was_ahead_stops_no_schedule(plane: Plane) -> None:
    plane.apply(job("hourly", schedule="0 * * * *"))
    plane.at("2026-01-01T00:10Z").tick()
    assert plane.at("2026-01-03T01:00Z").tick().scheduled == 1, "two days ahead"
    found = tick(plane.at("2026-01-01T00:20Z").context, plane.watch)
    warning = "the clock went back; schedules that were ahead of it continue from now: 1"
    assert found.problems == (warning,)
    assert plane.at("2026-01-01T01:00Z").tick().scheduled == 1
    assert plane.tick().problems == ()


def test_a_new_dispatcher_sets_right_what_a_wrong_clock_left(plane: Plane) -> None:
    plane.apply(job("hourly", schedule="0 * * * *"))
    plane.at("2026-01-01T00:10Z").tick()
    plane.at("2026-01-03T01:00Z").tick()
    plane.at("2026-01-01T00:20Z")
    assert tick(plane.context, Watch()).problems
    assert plane.at("2026-01-01T01:00Z").tick().scheduled == 1
