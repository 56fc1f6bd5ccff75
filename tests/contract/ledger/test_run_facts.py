"""What a run said beside its verdict is told with its version, and with the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.evidence import Changes
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return numbers_project(tmp_path, LoadType.APPEND)


def test_notes_and_changes_are_those_of_the_run(client: Client) -> None:
    silent = run_by_hand(client, [1])
    reported = run_by_hand(client, [2, 3], notes={"model": "m1"}, changes=Changes(inserted=2))
    facts = client.reader.facts(reported.run_id)
    assert facts is not None
    assert (facts.rows, facts.changes, facts.notes) == (2, Changes(inserted=2), {"model": "m1"})
    before = client.reader.facts(silent.run_id)
    assert before is not None
    assert (before.rows, before.changes, before.notes) == (1, None, {})


def test_a_rollback_has_no_facts_of_its_own(client: Client) -> None:
    run_by_hand(client, [1], notes={"model": "m1"})
    run_by_hand(client, [2])
    client.operations.rollback(NUMBERS, 1, "back")
    last, *_ = client.reader.runs(NUMBERS)
    assert last.triggered_by.startswith("rollback")
    assert client.reader.facts(last.run_id) is None


def test_a_version_says_what_kind_of_build_made_it(client: Client) -> None:
    run_by_hand(client, [1])
    assert [row.built_by for row in client.reader.versions(NUMBERS)] == ["source"]
