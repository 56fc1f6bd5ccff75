"""Jobs that start by files, on each kind of State."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lakeguard.scheduler.triggers import file_watch, queries
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.scheduling.jobs import Ticked
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import (
    OTHERS,
    Plane,
    counted_statements,
    job,
    land,
    make_plane,
)

BOTH = f"{NUMBERS}, {OTHERS}"


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def test_each_file_starts_the_job_once_and_again_when_it_changed(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/**/*.csv"))
    land(plane, "landing/a.csv")
    land(plane, "landing/2026/b.csv")
    land(plane, "landing/_SUCCESS.csv")
    land(plane, "landing/.hidden.csv")
    land(plane, "landing/c.txt")
    assert plane.tick().triggered == 2
    assert plane.tick().triggered == 0
    land(plane, "landing/a.csv", "other")
    assert plane.tick().triggered == 1
    described = [parameters for (parameters,) in plane.tasks("parameters")]
    assert sorted(described) == [
        '{"set": {"file": "landing/2026/b.csv"}}',
        '{"set": {"file": "landing/a.csv"}}',
        '{"set": {"file": "landing/a.csv"}}',
    ]


def test_a_file_that_is_still_being_written_is_left_alone(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/*.csv"))
    moment = plane.patient(30)
    land(plane, "landing/a.csv", "half")
    assert plane.tick() == Ticked(settling=1), "seen for the first time"
    moment[0] += 29
    land(plane, "landing/a.csv", "half and more")
    assert plane.tick() == Ticked(settling=1), "it changed"
    moment[0] += 29
    assert plane.tick() == Ticked(settling=1), "it has not been quiet for long enough"
    moment[0] += 1
    assert plane.tick() == Ticked(triggered=1)
    assert plane.tick() == Ticked()


@pytest.mark.parametrize("modified", [0.0, 1e9, 4e9], ids=["never", "long ago", "in the future"])
def test_no_clock_of_the_day_says_that_a_file_is_whole(plane: Plane, modified: float) -> None:
    """Whoever writes it may have any: only two looks of one process are compared."""
    plane.apply(job("load", on_files="landing/*.csv"))
    moment = plane.patient(30)
    land(plane, "landing/a.csv", modified=modified)
    assert plane.tick() == Ticked(settling=1)
    moment[0] += 30
    assert plane.tick() == Ticked(triggered=1)


def test_a_state_that_answers_slowly_makes_no_second_look(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.apply(job("load", on_files="landing/*.csv"))
    moment, ask = plane.patient(30), queries.cursors_in

    def slowly(*asked: Any) -> dict[str, str]:
        moment[0] += 40
        return ask(*asked)

    monkeypatch.setattr(queries, "cursors_in", slowly)
    land(plane, "landing/a.csv")
    assert plane.tick() == Ticked(settling=1)
    assert plane.tick() == Ticked(triggered=1), "forty seconds after the first"


def test_a_file_that_grows_under_the_same_time_is_still_being_written(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/*.csv"))
    moment = plane.patient(30)
    for text in ("a", "ab", "abc"):
        land(plane, "landing/a.csv", text, modified=1e9)
        assert plane.tick() == Ticked(settling=1)
        moment[0] += 30
    assert plane.tick() == Ticked(triggered=1)


def test_the_next_dispatcher_waits_anew_and_launches_nothing_twice(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/*.csv"))
    moment = plane.patient(30)
    land(plane, "landing/a.csv")
    plane.tick()
    moment[0] += 30
    assert plane.tick() == Ticked(triggered=1)
    land(plane, "landing/b.csv")
    assert plane.tick() == Ticked(settling=1)
    plane.watch = Watch()
    moment = plane.patient(30)
    assert plane.tick() == Ticked(settling=1), "the first one is known, the second one is new"
    moment[0] += 30
    assert plane.tick() == Ticked(triggered=1)
    assert plane.tick() == Ticked()
    assert len(plane.tasks()) == 2


def test_of_many_files_only_new_ones_and_some_of_the_rest_are_looked_at(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of any of the rest is seen after as many turns as it takes to look at all."""
    monkeypatch.setattr("lakeguard.scheduler.triggers.file_watch.AGAIN_AT_ONCE", 2)
    plane.apply(job("load", on_files="landing/*.csv"))
    for number in range(10):
        land(plane, f"landing/{number}.csv")
    assert plane.tick().triggered == 10
    plane.tick()
    looked: list[str] = []
    look_at = file_watch._file_state
    monkeypatch.setattr(file_watch, "_file_state", lambda *of: looked.append(of[1]) or look_at(*of))
    land(plane, "landing/new.csv")
    assert plane.tick().triggered == 1
    assert (len(looked), "landing/new.csv" in looked) == (3, True)
    land(plane, "landing/7.csv", "changed")
    with counted_statements(plane.context.database) as sent:
        assert sum(plane.tick().triggered for _ in range(6)) == 1
    assert sum("FROM trigger_cursors" in each.replace('"', "") for each in sent) <= 6
    assert len(plane.tasks()) == 12


def test_a_job_that_comes_later_has_the_files_that_another_had(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/*.csv"))
    land(plane, "landing/a.csv")
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]
    plane.apply(job("more", on_files="landing/*"))
    assert [plane.tick().triggered for _ in range(2)] == [1, 0]


def test_a_job_that_is_to_be_alone_takes_one_file_after_the_other(plane: Plane) -> None:
    plane.apply(job("load", on_files="landing/*.csv", overlap="skip"))
    for name in "abc":
        land(plane, f"landing/{name}.csv")
    for _ in "abc":
        assert plane.tick() == Ticked(triggered=1)
        assert plane.tick() == Ticked(), "it is under way"
        assert plane.work_off() == ["load"]
    assert plane.tick() == Ticked()
    document = [
        (state, json.loads(given)["set"]) for state, given in plane.tasks("state", "parameters")
    ]
    assert document == [("completed", {"file": f"landing/{name}.csv"}) for name in "abc"]


def test_a_file_waits_where_its_job_is_started_at_the_same_moment(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, after the turn has seen that the job is free."""
    plane.apply(job("load", on_files="landing/*.csv", overlap="skip"))
    land(plane, "landing/a.csv")
    with monkeypatch.context() as unseen:
        unseen.setattr("lakeguard.scheduler.triggers.files.under_way", lambda *_: frozenset())
        by_hand = EmbeddedJobs(plane.context).trigger("load", "ada")
        assert (by_hand.state, plane.tick()) == (TaskState.QUEUED, Ticked())
    assert plane.tasks() == []
    assert plane.work_off() == ["load"]
    assert plane.tick() == Ticked(triggered=1)


def test_a_link_out_of_the_lake_is_not_followed(plane: Plane, tmp_path: Path) -> None:
    plane.apply(job("load", on_files="landing/**/*.csv"))
    land(plane, "landing/a.csv")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "b.csv").write_text("x")
    Path(plane.context.lake, "landing", "b.csv").symlink_to(outside / "b.csv")
    Path(plane.context.lake, "landing", "folder").symlink_to(outside)
    assert plane.tick().triggered == 1


def test_a_file_that_comes_back_as_it_was_starts_nothing(plane: Plane) -> None:
    plane.apply(job("load", on_files="*.csv"))
    path = land(plane, "a.csv")
    stat = path.stat()
    assert plane.tick().triggered == 1
    path.unlink()
    assert plane.tick().triggered == 0
    land(plane, "a.csv")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert plane.tick().triggered == 0
    assert len(plane.tasks()) == 1


def test_a_lake_without_folders_is_told_and_stops_no_other_loop(plane: Plane) -> None:
    plane.apply(job("load", on_files="*.csv"), job("next", on_update=str(NUMBERS)))
    plane.publish()
    there = plane.context
    plane.context = plane.far_away("ftp://host/lake")
    done = tick(plane.context, plane.watch)
    assert done.triggered == 1
    assert done.problems == (
        "files: ValueError: ftp:// is not supported; use a folder or s3://BUCKET/FOLDER",
    )
    plane.context = there
