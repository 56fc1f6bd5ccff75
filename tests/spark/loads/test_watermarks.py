"""Incremental reads of a database by watermark: the position belongs to the version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from tests.support.databases.databases import Server
from tests.support.projects.folders import applied, published
from tests.support.projects.folders import run as run_named

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

NAME = DatasetName("bronze.events")
ROLE = f"events_{uuid4().hex[:8]}"
PASSWORD = f"word-{uuid4().hex}"
FILES = {
    "definitions/sources/shop.yaml": """\
source: shop
format: jdbc
url: jdbc:postgresql://127.0.0.1:{port}/postgres
secrets: {{user: env:EVENTS_USER, password: env:EVENTS_PASSWORD}}
""",
    "definitions/bronze/events.yaml": """\
dataset: bronze.events
owner: tests
domain: shop
source: {{name: shop, object: {role}.events}}
load: {load}
columns:
  id: {{type: long}}
  changed_at: {{type: timestamp}}
""",
}


@dataclass
class Events:
    """An events table in a real database, and the dataset that reads it."""

    folder: Path
    server: Server

    def define(self, load: str) -> Client:
        given = {"port": self.server.port, "role": ROLE, "load": load}
        return applied(self.folder, {name: text.format(**given) for name, text in FILES.items()})

    def happen(self, *events: tuple[int, int | None]) -> None:
        """Each with its id and the day of January on which it changed."""
        for number, day in events:
            at = "NULL" if day is None else f"'2024-01-{day:02d} 12:00:00.000001+00'"
            self.server.sql(f"INSERT INTO {ROLE}.events VALUES ({number}, {at})")


@pytest.fixture
def events(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Events]:
    monkeypatch.setenv("EVENTS_USER", ROLE)
    monkeypatch.setenv("EVENTS_PASSWORD", PASSWORD)
    server.sql(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
    server.sql(f"CREATE SCHEMA {ROLE} AUTHORIZATION {ROLE}")
    server.sql(f"CREATE TABLE {ROLE}.events (id bigint, changed_at timestamptz)")
    server.sql(f"GRANT SELECT ON {ROLE}.events TO {ROLE}")
    yield Events(tmp_path, server)
    server.sql(f"DROP SCHEMA {ROLE} CASCADE")
    server.sql(f"DROP ROLE {ROLE}")


def run(client: Client) -> RunResult:
    return run_named(client, NAME)


def ids(client: Client) -> list[int]:
    return published(client, NAME, "id")


def test_only_rows_above_the_watermark_are_read_again_after_a_rollback(events: Events) -> None:
    client = events.define("{type: APPEND, watermark: changed_at}")
    events.happen((1, 1), (2, 2))
    assert run(client).version == 1
    events.happen((3, 3), (4, 2), (5, 1))
    assert run(client).version == 2
    assert ids(client) == [1, 2, 3]
    again = run(client)
    assert (again.status, again.version) == (RunStatus.SUCCESS, None)
    client.operations.rollback(NAME, 1, "to read it again")
    assert ids(client) == [1, 2]
    assert run(client).version == 3
    assert ids(client) == [1, 2, 3]


def test_a_lag_reads_late_rows_again_and_keys_keep_them_single(events: Events) -> None:
    client = events.define("{type: INCREMENTAL, keys: [id], watermark: changed_at, lag: 1 day}")
    events.happen((1, 1), (2, 3))
    run(client)
    events.happen((3, 3), (4, 2), (5, 1))
    assert run(client).version == 2
    assert ids(client) == [1, 2, 3]
    events.happen((6, 2))
    client = events.define(
        "{type: INCREMENTAL, keys: [id], watermark: changed_at, lag: 1 day, inclusive: true}"
    )
    run(client)
    assert ids(client) == [1, 2, 3, 4, 6]


def test_a_row_without_a_watermark_is_refused_left_out_or_read_each_time(events: Events) -> None:
    load = "{{type: INCREMENTAL, keys: [id], watermark: changed_at, null_watermark: {}}}"
    client = events.define(load.format("refuse"))
    events.happen((1, 1), (2, None))
    refused = run(client)
    assert refused.status is RunStatus.FAILED
    assert refused.error is not None
    assert "NULL in the watermark column changed_at" in refused.error.message
    client = events.define(load.format("skip"))
    run(client)
    assert ids(client) == [1]
    client = events.define(load.format("load"))
    run(client)
    assert ids(client) == [1, 2]
