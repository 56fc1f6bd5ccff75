"""What lies in a data database, held against the State: orphans and missing deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from lakeguard_sdk import Client, connect
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.verification import FindingKind
from tests.support.lakes.delivered_numbers import TABLE, deliver
from tests.support.lakes.delivered_tables import LiveSchema
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.postgresql_target import served_numbers
from tests.support.projects.projects import make_project


@dataclass(frozen=True)
class Served:
    """The numbers dataset with a target in PostgreSQL."""

    client: Client
    live: LiveSchema

    def publish(self, *rows: int, organisation: str = "default") -> None:
        run_by_hand(self.client, list(rows))
        deliver(self.client, self.live.table(TABLE, organisation=organisation))

    def findings(self, kind: FindingKind = FindingKind.DATA) -> list[tuple[str, str]]:
        """As ``verify --data`` finds them; all are of the kind."""
        places = self.client.ledger.data_places()
        worker = local_worker(self.client.for_worker(), spark_options={})
        found = self.client.ledger.judge_markers(worker.markers(places))
        assert {each.kind for each in found} <= {kind}
        return [(each.place, each.message) for each in found]

    def mark(self, change: str) -> None:
        self.live.sql(f"UPDATE {{markers}} SET {change}")


@pytest.fixture
def served(tmp_path: Path, live: LiveSchema) -> Served:
    definitions = served_numbers(live.url, live.name)
    return Served(make_project(tmp_path / "lake", definitions), live)


def test_what_is_delivered_is_found_in_order(served: Served) -> None:
    assert served.findings() == [], "nothing is published yet"
    served.publish(1, 2)
    assert served.findings() == []
    ((org, task, run),) = served.live.sql("SELECT org_id, task_id, run_id FROM {markers}")
    assert (org, served.client.reader.run(str(run)).task_id) == ("default", task)


def test_what_is_published_and_not_delivered_is_listed(served: Served) -> None:
    run_by_hand(served.client, [1])
    ((place, message),) = served.findings()
    assert place == f"serving: {served.live.name}.{TABLE}"
    assert message == "bronze.numbers is published as v1; delivered is nothing"
    served.publish(1, 2)
    run_by_hand(served.client, [3])
    assert [message for _, message in served.findings()] == [
        "bronze.numbers is published as v3; delivered is v2"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("org_id = 'gone'", "the State does not know organisation gone"),
        ("dataset_id = 'ds_gone'", "the State does not know dataset ds_gone"),
        ("run_id = 'run_gone'", "the State does not know run run_gone"),
        ("task_id = 'task_gone'", "the State does not know task task_gone"),
        ("job_id = 'job_gone'", "the State does not know job job_gone"),
        ("version = 7", "the State does not know bronze.numbers version 7"),
    ],
)
def test_an_id_that_the_state_does_not_know_is_an_orphan(
    change: str, message: str, served: Served
) -> None:
    served.publish(1, 2)
    served.mark(change)
    assert message in [given for _, given in served.findings()]


def test_a_marker_without_its_table_is_listed(served: Served) -> None:
    served.publish(1)
    served.live.sql("DROP TABLE {table}", TABLE)
    assert served.findings() == [
        (f"serving: {served.live.name}.{TABLE}", "its marker is there, the table is not")
    ]


def test_a_marker_that_lacks_a_column_is_named(served: Served) -> None:
    served.publish(1)
    served.live.sql("ALTER TABLE {markers} DROP COLUMN task_id")
    ((_, message),) = served.findings(FindingKind.UNSEEN)
    assert message.endswith(f"table_name {TABLE}: task_id: Field required")


def test_a_marker_that_cannot_be_read_is_named(served: Served) -> None:
    served.publish(1)
    served.live.sql("ALTER TABLE {markers} ALTER COLUMN version DROP NOT NULL")
    served.mark("version = NULL")
    ((place, message),) = served.findings(FindingKind.UNSEEN)
    assert place == f"serving: {served.live.name}"
    assert message.startswith(
        f"it cannot be looked at: lakeguard_delivered, table_name {TABLE}: version: "
    )


def test_a_database_that_cannot_be_asked_is_told_without_its_secrets(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELIVERY_PASSWORD", "hunter2hunter2")
    ((_, message),) = served.findings(FindingKind.UNSEEN)
    assert message.startswith("it cannot be looked at: ")
    assert "hunter2" not in message
    monkeypatch.delenv("DELIVERY_PASSWORD")
    assert "DELIVERY_PASSWORD" in str(served.findings(FindingKind.UNSEEN))


def test_a_run_of_a_dataset_goes_on_while_its_target_is_down(
    tmp_path: Path, served: Served
) -> None:
    """The version is published; what is missing is listed, and the next delivery brings it."""
    away = served.live.table(TABLE, url="postgresql://127.0.0.1:1/live")
    with pytest.raises(Exception, match="onnection"):
        deliver(served.client, away) if run_by_hand(served.client, [1]).version else None
    assert [
        row.version for row in served.client.reader.versions(DatasetName("bronze.numbers"))
    ] == [1]
    assert len(served.findings()) == 1
    deliver(connect(tmp_path / "lake"), served.live.table(TABLE, organisation="default"))
    assert served.findings() == []
