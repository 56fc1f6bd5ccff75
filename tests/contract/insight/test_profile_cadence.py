"""Profiles that are taken by themselves: when one is due, and that none makes a run fail."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lakeguard.promotion.maintenance import profile_cadence
from lakeguard_sdk import Client
from lakeguard_sdk.client import WorkerClient, profile
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import Fenced, ProfileRefused
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions
from lakeguard_sdk.model.profile import Profile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.pipeline.after_publish import profile_if_due
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.definitions import dataset, source
from tests.support.projects.planes import NUMBERS, Clock
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

DAY = 86_400


def world(folder: Path, every: str, *tags: str, **given: Any) -> Client:
    columns = (ColumnDefinition(name="n", type="long", tags=tags),)
    made = dataset(
        str(NUMBERS), columns=columns, rules=(), load=LoadType.APPEND, profile_every=every, **given
    )
    return make_project(folder, Definitions(sources=(source(),), datasets=(made,)))


def run(client: Client, *numbers: int) -> RunPlan:
    """A run that published, whose ticket is still held."""
    lake = DeltaLake()
    task = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    assert client.runs.due_profile(plan.ticket) is None, "it is still running"
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, list(numbers)))
    client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))
    return plan


def taken(client: Client, plan: RunPlan) -> Profile:
    due = client.runs.due_profile(plan.ticket)
    assert due is not None
    return profile(due.dataset, masked=due.masked)


def versions(client: Client) -> list[int]:
    return [kept.version for kept in client.reader.profiles(NUMBERS)]


def test_nothing_is_due_where_nothing_asks(tmp_path: Path) -> None:
    client = world(tmp_path, "")
    assert client.runs.due_profile(run(client, 1).ticket) is None


@pytest.mark.parametrize(("given", "asks"), [("true", True), ("1", True), ("false", False)])
def test_the_flag_of_a_source_object_asks_for_every_version(
    tmp_path: Path, given: str, asks: bool
) -> None:
    client = world(tmp_path, "", details={"profiling_enabled": given})
    assert (client.runs.due_profile(run(client, 1).ticket) is not None) is asks


def test_every_version_is_profiled_once(tmp_path: Path) -> None:
    client = world(tmp_path, "version")
    first = run(client, 3)
    profile_if_due(first, client.for_worker())
    assert client.runs.due_profile(first.ticket) is None
    profile_if_due(first, client.for_worker())
    assert versions(client) == [1]
    profile_if_due(run(client, 4), client.for_worker())
    assert versions(client) == [2, 1]
    assert client.reader.profiles(NUMBERS)[0].rows == 2


def test_one_is_due_when_enough_time_has_passed(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, "7d")
    profile_if_due(run(client, 1), client.for_worker())
    assert versions(client) == [1]
    turned_clock.pass_time(6 * DAY)
    early = run(client, 2)
    assert client.runs.due_profile(early.ticket) is None
    turned_clock.pass_time(DAY)
    assert client.runs.due_profile(early.ticket) is not None
    profile_if_due(run(client, 3), client.for_worker())
    assert versions(client) == [3, 1]


def test_a_profile_of_a_clock_that_was_ahead_delays_none(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = world(tmp_path, "7d")
    turned_clock.pass_time(30 * DAY)
    profile_if_due(run(client, 1), client.for_worker())
    turned_clock.pass_time(-30 * DAY)
    profile_if_due(run(client, 2), client.for_worker())
    assert sorted(versions(client)) == [1, 2]
    assert client.runs.due_profile(run(client, 3).ticket) is None


def test_a_version_that_has_one_by_now_keeps_it(tmp_path: Path) -> None:
    client = world(tmp_path, "version")
    plan = run(client, 3)
    found = taken(client, plan)
    client.runs.submit_profile(plan.ticket, found)
    client.runs.submit_profile(plan.ticket, found)
    assert versions(client) == [1]


def test_tags_hold_here_too(tmp_path: Path) -> None:
    client = world(tmp_path, "version", "contact")
    profile_if_due(run(client, 3), client.for_worker())
    (column,) = client.reader.profiles(NUMBERS)[0].columns
    assert (column.masked, column.least, column.sketches) == (True, None, ())


def test_only_the_holder_of_the_run_brings_one_and_of_its_dataset(tmp_path: Path) -> None:
    client = world(tmp_path, "version")
    plan = run(client, 3)
    found = taken(client, plan)
    forged = plan.ticket.model_copy(update={"lease_token": "lease_guessed"})
    for call in (
        lambda: client.runs.due_profile(forged),
        lambda: client.runs.submit_profile(forged, found),
    ):
        with pytest.raises(Fenced):
            call()
    other = found.model_copy(update={"dataset": DatasetName("bronze.others")})
    with pytest.raises(ProfileRefused, match="is one of"):
        client.runs.submit_profile(plan.ticket, other)


def test_a_profile_that_fails_is_told_and_changes_nothing(tmp_path: Path) -> None:
    """Its files are gone."""
    client = world(tmp_path, "version")
    plan = run(client, 3)
    for file in (tmp_path / "bronze" / "numbers" / "runs").rglob("*.parquet"):
        file.unlink()
    heard: list[str] = []
    worker: WorkerClient = client.for_worker()
    profile_if_due(plan, worker, lambda stage, facts: heard.append(stage))
    assert heard == ["profile", "unprofiled"]
    assert versions(client) == []
    assert client.reader.versions(NUMBERS)[0].published


def test_two_that_keep_at_once_keep_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both would find that there is none, if they could look at the same moment."""
    client = world(tmp_path, "version")
    plan = run(client, 1, 2)
    found = taken(client, plan)
    both, look = threading.Barrier(2), profile_cadence.profiled_versions

    def looked(*given: Any) -> frozenset[int]:
        seen = look(*given)
        with suppress(threading.BrokenBarrierError):
            both.wait(1)
        return seen

    monkeypatch.setattr(profile_cadence, "profiled_versions", looked)
    with ThreadPoolExecutor(2) as pool:
        for kept in [pool.submit(client.runs.submit_profile, plan.ticket, found) for _ in "12"]:
            kept.result()
    assert versions(client) == [1]
