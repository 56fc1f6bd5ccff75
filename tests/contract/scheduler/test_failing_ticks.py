"""A turn of the dispatcher where something is wrong: it is told, and the rest goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.validation import kind_invariants
from lakeguard.scheduler.graph import deploy as deploying
from lakeguard.scheduler.triggers import tick as ticking
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.scheduler.triggers.triggerable_jobs import Roster
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import Ticked
from tests.support.databases.databases import KINDS
from tests.support.projects.triggered_jobs import Plane, job, make_plane

HOURLY = "0 * * * *"


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def well() -> Ticked:
    return Ticked(reaped=1)


def test_a_job_that_nothing_here_runs_is_told(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was applied and deployed before such jobs were refused."""
    monkeypatch.setattr(kind_invariants, "job_errors", lambda *_: iter(()))
    monkeypatch.setattr(deploying, "cannot_start", lambda _: "")
    glue = JobDefinition(job="glued", type="glue", config={"schedule": HOURLY})
    elsewhere = JobDefinition(job="kept", type="glue", config={"frequency#Type": "daily"})
    plane.apply(glue, elsewhere, job("ours", schedule=HOURLY))
    tick(plane.context, plane.watch)
    done = tick(plane.at("2026-01-01T01:00:00+00:00").context, plane.watch)
    text = "of a type that nothing here runs: glued. Next: lakeguard validate"
    assert (done.scheduled, done.refused, done.problems) == (1, 0, (text,))
    assert len(plane.tasks()) == 1


def test_definitions_that_cannot_be_read_leave_the_last_that_could_be(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> Roster:
        raise ValueError("written by a later release")

    plane.apply(job("ours", schedule=HOURLY))
    plane.tick()
    monkeypatch.setattr(ticking, "read_roster", unreadable)
    plane.at("2026-01-01T01:00:00+00:00")
    done = tick(plane.context, plane.watch, [("others", well)])
    assert (done.scheduled, done.reaped) == (1, 1)
    assert done.problems == ("definitions: ValueError: written by a later release",)
    assert tick(plane.context, Watch(), [("others", well)]).reaped == 1, "where none was ever read"


def test_a_state_that_is_away_ends_the_turn(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> Roster:
        raise StateUnavailable(place="somewhere", reason="no route")

    monkeypatch.setattr(ticking, "read_roster", away)
    with pytest.raises(StateUnavailable):
        tick(plane.context, plane.watch, [("others", well)])


def test_what_nobody_foresaw_is_told_with_its_type_and_logged_once(
    plane: Plane, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Ticked:
        raise KeyError("job_1")

    for _ in range(2):
        assert tick(plane.context, plane.watch, [("others", fail)]).problems == (
            "others: KeyError: 'job_1'",
        )
    (record,) = caplog.records
    assert record.exc_info is not None
    tick(plane.context, plane.watch, [("others", well)])
    tick(plane.context, plane.watch, [("others", fail)])
    assert len(caplog.records) == 2, "it is news again"
