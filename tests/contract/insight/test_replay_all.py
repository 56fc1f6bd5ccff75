"""Every decision made again, on both databases; a planted difference is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.state.database import Database
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotRegistered, SemanticsUnknown
from tests.support.lakes.verified_lakes import ProvenLake, make_proven_lake
from tests.support.projects.planes import NUMBERS


@pytest.fixture
def lake(database: Database, tmp_path: Path) -> ProvenLake:
    return make_proven_lake(database, tmp_path)


def test_all_are_made_again_and_are_the_same(lake: ProvenLake) -> None:
    found = lake.client.history.replay_all()
    assert (found.decisions, found.differences, found.identical) == (5, (), True)


def test_a_ruling_that_was_changed_is_named(lake: ProvenLake) -> None:
    decision = lake.value("SELECT max(decision_id) FROM decisions")
    run = lake.value(f"SELECT run_id FROM decisions WHERE decision_id = '{decision}'")
    lake.sql("decisions", f"UPDATE decisions SET verdict = 'BLOCKED', ruling = '{{}}'"
             f" WHERE decision_id = '{decision}'")  # fmt: skip
    found = lake.client.history.replay_all(NUMBERS)
    (difference,) = found.differences
    assert (found.decisions, difference.run_id, difference.decision_id) == (5, run, decision)
    assert difference.dataset == NUMBERS
    assert difference.message == "recorded as BLOCKED, comes out as ALLOWED"


def test_evidence_that_was_changed_is_named_with_each_run_that_stood_on_it(
    lake: ProvenLake,
) -> None:
    first = lake.value("SELECT min(decision_id) FROM decisions")
    where = f"WHERE decision_id = '{first}'"
    evidence = lake.value(f"SELECT evidence_hash FROM decisions {where}")
    run = lake.value(f"SELECT run_id FROM decisions {where}")
    lake.sql(
        "documents",
        "UPDATE documents SET body = replace(body, '\"rows\":2', '\"rows\":7')"
        f" WHERE content_hash = '{evidence}'",
    )
    (difference,) = lake.client.history.replay_all().differences
    assert (difference.run_id, difference.message) == (
        run,
        "recorded as ALLOWED, comes out as BLOCKED",
    )


def test_semantics_of_a_later_version_are_named_as_such(lake: ProvenLake) -> None:
    first = lake.value("SELECT min(decision_id) FROM decisions")
    where = f"WHERE decision_id = '{first}'"
    run = lake.value(f"SELECT run_id FROM decisions {where}")
    later = "replace(ruling, '\"semantics\":', '\"semantics\":99')"
    lake.sql("decisions", f"UPDATE decisions SET semantics = 99, ruling = {later} {where}")
    (difference,) = lake.client.history.replay_all().differences
    assert difference.run_id == run
    assert "the decision uses semantics 99; this version knows 1" in difference.message
    with pytest.raises(SemanticsUnknown):
        lake.client.reader.replay(run)


def test_a_document_that_is_gone_is_named(lake: ProvenLake) -> None:
    evidence = lake.value("SELECT max(evidence_hash) FROM decisions")
    lake.sql("documents", f"DELETE FROM documents WHERE content_hash = '{evidence}'")
    found = lake.client.history.replay_all().differences
    assert {item.message for item in found} == {
        f"cannot be made again: document {evidence} is gone"
    }


def test_since_a_time_and_of_one_dataset(lake: ProvenLake) -> None:
    memory = lake.client.history
    later = datetime.now(UTC) + timedelta(minutes=1)
    assert memory.replay_all(since=later).decisions == 0
    assert memory.replay_all(since=later - timedelta(days=1)).decisions == 5
    with pytest.raises(NotRegistered):
        memory.replay_all(DatasetName("bronze.nothing"))
