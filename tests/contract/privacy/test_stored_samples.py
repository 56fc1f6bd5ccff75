"""Samples in the lake ledger: told after the run that they are of, proven, and restored."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from lakeguard.relay.attach import attach
from lakeguard.relay.rebuild import Rebuild
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import data_quality_results
from lakeguard_sdk.model.verification import FindingKind
from tests.support.databases.databases import discard, fresh_database
from tests.support.lakes.sampled_runs import (
    FAILS,
    WARNS,
    blocked_run,
    sampled_definitions,
)
from tests.support.lakes.verified_lakes import ORG, ProvenLake


def now() -> datetime:
    return datetime.now(UTC)


def sampled_lake(database: Database, folder: Path) -> tuple[ProvenLake, str]:
    """A blocked run that the ledger was told of before its samples came."""
    database.migrate()
    attach(OrganisationState.of(database, ORG, now), str(folder))
    lake = ProvenLake(database, folder)
    client = lake.client
    client.registry.apply(client.registry.plan(sampled_definitions()))
    ticket = blocked_run(client)
    lake.relay.drain()
    client.runs.submit_samples(ticket, (FAILS, WARNS))
    lake.relay.drain()
    return lake, ticket.run_id


def test_samples_that_come_later_leave_state_and_ledger_alike(
    database: Database, tmp_path: Path
) -> None:
    lake, run_id = sampled_lake(database, tmp_path)
    assert lake.found(replay=True) == {}
    reported = lake.ledger_rows("rule_samples").to_pylist()
    assert sorted((row["run_id"], row["rule_id"], row["sample_rows"]) for row in reported) == [
        (run_id, "present", "[[null],[null]]"),
        (run_id, "small", '[["7"]]'),
    ]
    results = lake.ledger_rows("data_quality_results")
    assert "samples" not in results.column_names
    assert set(results["rule_type"].to_pylist()) == {"NOT_NULL", "RANGE", "ROW_COUNT"}
    lake.sql("rule_samples", "UPDATE rule_samples SET sample_rows = '[]' WHERE rule_id = 'small'")
    assert FindingKind.ROW in lake.found()


def test_a_result_shows_its_sample(database: Database, tmp_path: Path) -> None:
    sampled_lake(database, tmp_path)
    shown = data_quality_results.c
    with database.read() as connection:
        rows = connection.execute(select(shown.rule_id, shown.parameters, shown.samples))
        assert sorted(map(tuple, rows)) == [
            (
                "bronze.numbers.present",
                "{}",
                '{"columns":["n"],"masked":[],"rows":[[null],[null]]}',
            ),
            ("bronze.numbers.small", '{"max":"5"}', '{"columns":["n"],"masked":[],"rows":[["7"]]}'),
            ("bronze.numbers.some", '{"min":"1"}', None),
        ]


def test_samples_come_back_from_the_ledger(database: Database, tmp_path: Path) -> None:
    first = fresh_database("sqlite", tmp_path)
    lake, run_id = sampled_lake(first, tmp_path / "lake")
    discard(first)
    Rebuild(OrganisationState.of(database, ORG, now), str(lake.folder)).run()
    again = ProvenLake(database, lake.folder)
    assert again.client.reader.samples(run_id) == (FAILS, WARNS)
    assert again.found() == {}
