"""Executions of jobs in the lake ledger: each once, whatever ended it, and verify agrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.insight.verification import verify
from lakeguard.lake.delta import DeltaTables
from lakeguard.relay.relay import Relay
from lakeguard.relay.rows import from_arrow
from lakeguard.relay.tables import EXECUTIONS, derived_tables
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import md_job_execution
from tests.support.lakes.ledgers import ORG, ledger_of, relay_of
from tests.support.lakes.recorded_definitions import define
from tests.support.lakes.recorded_runs import run
from tests.support.lakes.recorded_tasks import launch


@pytest.fixture
def relay(database: Database, tmp_path: Path) -> Relay:
    """Of a State with executions of every kind, of which nothing is told yet."""
    made = relay_of(database, tmp_path)
    with OrganisationState.of(database, ORG).write() as tx:
        define(tx)
        run(tx)
        launch(tx)
    return made


def ended(database: Database) -> list[str]:
    table = md_job_execution.c
    with database.read() as connection:
        return sorted(
            connection.scalars(select(table.execution_id).where(table.end_time.is_not(None)))
        )


def in_ledger(lake: Path) -> list[str]:
    table = derived_tables()[EXECUTIONS]
    return sorted(row[0] for row in from_arrow(table, ledger_of(lake).files(table).read()))


def findings(database: Database, lake: Path) -> list[str]:
    report = verify(
        OrganisationState.of(database, ORG),
        str(lake),
        DeltaTables(),
        replay=False,
        head=None,
        progress=None,
    )
    return [each.place for each in report.findings if each.place.startswith(EXECUTIONS)]


def test_the_ledger_has_each_execution_once(
    relay: Relay, database: Database, tmp_path: Path
) -> None:
    relay.drain()
    assert in_ledger(tmp_path) == ended(database)
    assert len(in_ledger(tmp_path)) == 8
    assert findings(database, tmp_path) == []


def test_an_execution_is_told_once_however_its_rows_are_spread(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what one transaction wrote, every few rows come in a batch of their own."""
    relay = relay_of(database, tmp_path)
    with OrganisationState.of(database, ORG).write() as tx:
        define(tx)
    relay.drain()
    with OrganisationState.of(database, ORG).write() as tx:
        launch(tx)
    monkeypatch.setattr("lakeguard.relay.stamp._LARGEST_BATCH", 3)
    relay.drain()
    assert in_ledger(tmp_path) == ended(database)
    assert findings(database, tmp_path) == []


def test_an_execution_that_the_ledger_lacks_is_found(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = relay_of(database, tmp_path)
    monkeypatch.setattr("lakeguard.relay.deliver.ended_by", lambda *_: {})
    with OrganisationState.of(database, ORG).write() as tx:
        define(tx)
        launch(tx)
    relay.drain()
    assert sorted(findings(database, tmp_path)) == [
        f"{EXECUTIONS} {execution}" for execution in ("run_5", "run_6", "tsk_8", "tsk_9", "tsk_9.4")
    ]
