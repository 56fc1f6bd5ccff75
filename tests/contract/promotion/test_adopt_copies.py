"""A copy has the id of the table that it was copied from: one dataset alone may hold that id."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.ledger.intents import record_table
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.reap import reap
from lakeguard.registry.store import require_dataset
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk import Client
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import dying_at, meanwhile
from tests.support.lakes.foreign_tables import (
    adopt,
    fingerprint,
    foreign_project,
    located_numbers,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")
COPIED = DatasetName("bronze.copied")


@pytest.fixture
def client(tmp_path: Path, copy: str) -> Client:
    """A project with a table that may be adopted, and a copy of it that may be adopted too."""
    made, location = foreign_project(tmp_path, [1, 2])
    shutil.copytree(location, copy)
    twin = located_numbers(copy).datasets[0].model_copy(update={"dataset": COPIED})
    made.registry.apply(made.registry.plan(Definitions(datasets=(twin,))))
    return made


@pytest.fixture
def copy(tmp_path: Path) -> str:
    return str(tmp_path / "elsewhere" / "copied")


def context_of(client: Client) -> PlaneContext:
    assert isinstance(client.operations, EmbeddedOperations)
    return client.operations.context


def reasons(result: RunResult) -> str:
    assert (result.status, result.decision is None) == (RunStatus.BLOCKED, False)
    return "; ".join(result.decision.ruling.reasons) if result.decision else ""


def test_a_copy_of_a_governed_table_is_refused_as_it_was(client: Client, copy: str) -> None:
    assert adopt(client).version == 1
    before = fingerprint(copy)
    given = reasons(adopt(client, COPIED))
    assert f"it has the id of the table of {NUMBERS}" in given
    assert "CREATE TABLE" in given
    assert fingerprint(copy) == before
    assert run_by_hand(client, [3]).version == 2
    assert client.ledger.verify(replay=True).findings == ()


def test_a_look_at_it_says_the_same_before_anything_is_written(client: Client, copy: str) -> None:
    assert client.operations.examine(copy, COPIED).rows == 2
    adopt(client)
    with pytest.raises(NotAdoptable, match=f"id of the table of {NUMBERS}"):
        client.operations.examine(copy, COPIED)


def test_one_that_was_governed_while_its_copy_was_measured_is_found(
    client: Client, copy: str
) -> None:
    before = fingerprint(copy)
    with meanwhile("adopt.measured", lambda: _assert_adopted(client)):
        given = reasons(adopt(client, COPIED))
    assert f"it has the id of the table of {NUMBERS}" in given
    assert fingerprint(copy) == before


def _assert_adopted(client: Client) -> None:
    assert adopt(client).version == 1


def test_one_that_is_being_adopted_is_found_too(client: Client, copy: str) -> None:
    before = fingerprint(copy)
    with dying_at("adopt.before_commit"):
        adopt(client)
    assert f"the id of the table of {NUMBERS}" in reasons(adopt(client, COPIED))
    assert fingerprint(copy) == before


@pytest.mark.parametrize("point", ["adopt.committed", "complete.before"])
def test_a_commit_that_the_state_refuses_fails_its_own_run_alone(
    client: Client, copy: str, point: str
) -> None:
    """As if somebody else had come to hold the id after the gate said yes."""
    with meanwhile(point, lambda: _claim(client, copy)):
        ended = adopt(client, COPIED)
    assert (ended.status, ended.version) == (RunStatus.FAILED, None)
    assert ended.error is not None
    assert ended.error.code == "LG-4004", ended.error
    assert client.operations.reap() == []
    assert client.reader.versions(COPIED) == []


@pytest.mark.parametrize("point", ["reap.judged", "complete.before"])
def test_the_reaper_goes_on_after_a_run_that_it_cannot_publish(
    client: Client, copy: str, point: str
) -> None:
    """The copy's adoption died after its commit, and another run died as well."""
    first = client.operations.submit_adoption(COPIED, "test")
    second = client.operations.submit_adoption(NUMBERS, "test")
    client.runs.open_adoption(second, this_process("test"))
    with dying_at("adopt.committed"):
        local_worker(client.for_worker(), spark_options={}).run_adoption(first)
    late = context_of(client)
    late = replace(late, clock=lambda: datetime.now(UTC) + timedelta(days=1))
    with meanwhile(point, lambda: _claim(client, copy)):
        ended = reap(late)
    assert [(item.name, item.state) for item in ended] == [
        (COPIED, TaskState.FAILED),
        (NUMBERS, TaskState.FAILED),
    ]
    assert reap(late) == []


def _claim(client: Client, copy: str) -> None:
    context = context_of(client)
    with context.write() as tx:
        dataset = require_dataset(tx, NUMBERS)
        record_table(tx, dataset.dataset_id, dataset.location, str(DeltaTable(copy).metadata().id))
