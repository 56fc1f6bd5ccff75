"""What a dispatcher asks of the State again and again to know what was not delivered."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.services.ports.ledger import EmbeddedLedger
from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.delivery import DataPlace, Marker, PlaceMarkers
from lakeguard_sdk.model.verification import FindingKind
from tests.support.lakes.delivered_numbers import TABLE
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.job_graphs import LOAD
from tests.support.projects.planes import NUMBERS
from tests.support.projects.postgresql_target import served_numbers
from tests.support.projects.projects import make_project, numbers_project
from tests.support.projects.triggered_jobs import counted_statements

pytestmark = pytest.mark.usefixtures("each_state")

URL = "postgresql://db.example/live"


def apply(client: Client, definitions: Definitions) -> None:
    client.registry.apply(client.registry.plan(definitions))


def others(count: int) -> Definitions:
    """Datasets with the same target."""
    served = served_numbers(URL)
    (one,) = served.datasets
    names = [DatasetName(f"bronze.others_{number}") for number in range(count)]
    datasets = tuple(one.model_copy(update={"dataset": name}) for name in names)
    return served.model_copy(update={"datasets": datasets})


def look(client: Client, version: int | None = None, place: DataPlace | None = None) -> list[str]:
    """The datasets to deliver, where the table of the numbers shows that version."""
    (only,) = client.ledger.data_places()
    marker = Marker(
        table_name=TABLE,
        dataset=NUMBERS,
        dataset_id="ds",
        version=version or 0,
        run_id="run",
        task_id="task",
    )
    markers = () if version is None else (marker,)
    found = PlaceMarkers(place=place or only, markers=markers)
    return [each.dataset for each in client.ledger.undelivered([found])]


def asked(client: Client, version: int) -> list[str]:
    assert isinstance(client.ledger, EmbeddedLedger)
    with counted_statements(client.ledger.context.database) as sent:
        assert look(client, version) == []
    return sent


def test_what_the_table_does_not_show_is_to_be_delivered(tmp_path: Path) -> None:
    client = make_project(tmp_path, served_numbers(URL))
    assert look(client) == [], "nothing is published"
    run_by_hand(client, [1])
    assert (look(client), look(client, 1)) == ([NUMBERS], [])
    run_by_hand(client, [1, 2])
    assert (look(client, 1), look(client, 2)) == ([NUMBERS], [])
    client.operations.rollback(NUMBERS, 1, "they were wrong")
    assert (look(client, 1), look(client, 2)) == ([], [NUMBERS])
    elsewhere = DataPlace(target="serving", url=URL, schema_name="elsewhere")
    assert look(client, 2, elsewhere) == [], "nothing is delivered there"


def test_a_place_is_named_once(tmp_path: Path) -> None:
    served = served_numbers(URL)
    (one,) = served.targets
    again = one.model_copy(update={"target": "again", "location": "zones/again"})
    client = make_project(tmp_path, served.model_copy(update={"targets": (one, again)}))
    assert [each.target for each in client.ledger.data_places()] == ["again"]


def test_questions_do_not_grow_with_the_datasets(tmp_path: Path) -> None:
    client = make_project(tmp_path, served_numbers(URL))
    run_by_hand(client, [1])
    few = len(asked(client, 1))
    apply(client, others(9))
    assert len(asked(client, 1)) == few


def test_jobs_are_not_read(tmp_path: Path) -> None:
    client = make_project(tmp_path, served_numbers(URL))
    apply(client, Definitions(jobs=(LOAD,)))
    run_by_hand(client, [1])
    assert [each for each in asked(client, 1) if "md_jobs" in each] == []


def test_without_a_database_among_the_targets_only_they_are_read(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    assert isinstance(client.ledger, EmbeddedLedger)
    with counted_statements(client.ledger.context.database) as sent:
        assert client.ledger.data_places() == []
    read = [each for each in sent if each.startswith("SELECT")]
    assert [each for each in read if "md_tgt_ctrl" in each] == read != []


def test_what_could_not_be_looked_at_is_told_apart_and_last(tmp_path: Path) -> None:
    client = make_project(tmp_path, served_numbers(URL))
    run_by_hand(client, [1])
    (place,) = client.ledger.data_places()
    away = place.model_copy(update={"url": "postgresql://away.example/live"})
    found = client.ledger.judge_markers(
        [PlaceMarkers(place=away, problem="no route"), PlaceMarkers(place=place)]
    )
    assert [(each.kind, each.message) for each in found] == [
        (FindingKind.DATA, "bronze.numbers is published as v1; delivered is nothing"),
        (FindingKind.UNSEEN, "it cannot be looked at: no route"),
    ]
