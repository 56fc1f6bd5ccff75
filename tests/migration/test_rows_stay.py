"""A migration that makes a table anew keeps every row, its number and its guards."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, select, text
from sqlalchemy.exc import IntegrityError

from lakeguard.ledger.promotions import Way, record_registrations
from lakeguard.state.column_types import UtcTime
from lakeguard.state.database import Database
from lakeguard.state.head import SCHEMA_HEAD
from lakeguard.state.tables import data_profiling_results, promotion_status
from tests.worlds.told_definitions import ORG, define, minute
from tests.worlds.told_runs import run


def rows(connection: Connection) -> list[dict[str, Any]]:
    found = connection.execute(select(promotion_status).order_by(promotion_status.c.ordinal))
    return [dict(row._mapping) for row in found]


def test_promotion_states_from_before_registrations(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once on SQLite, once on PostgreSQL."""
    with monkeypatch.context() as older:
        older.setattr("lakeguard.state.migrating.SCHEMA_HEAD", "0008")
        older.setattr("lakeguard.state.migrating.create_views", lambda _: None)  # those of today
        database.migrate()
    assert database.revision() == "0008"
    with database.write() as connection:
        define(connection)
        run(connection)
    with database.read() as connection:
        before = rows(connection)
    assert [row["ordinal"] for row in before] == [1, 2, 3]
    database.migrate()
    assert database.revision() == SCHEMA_HEAD
    with database.write() as connection:
        assert rows(connection) == before
        ways = [Way("ds_1", "source", "bronze"), Way("ds_2", "source", "bronze")]
        record_registrations(connection, ORG, ways, minute(99))
        (new,) = rows(connection)[len(before) :]
    assert (new["dataset_id"], new["state"], new["ordinal"]) == ("ds_2", "REGISTERED", 4)
    for statement in (
        "UPDATE promotion_status SET reason = 'x'",
        "DELETE FROM promotion_status",
    ):
        with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
            connection.execute(text(statement))


def test_results_of_profiling_from_before_versions(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of before is the profile of its run; nobody knows of which version."""
    row = {
        "run_id": "run_1",
        "source_object_id": "ds_1",
        "column_name": "n",
        "metric_name": "MIN_MAX",
        "metric_value": "{}",
        "metric_params": "{}",
        "sample_size": 2**40,
        "profiled_at": minute(1),
        "org_id": ORG,
    }
    with monkeypatch.context() as older:
        older.setattr("lakeguard.state.migrating.SCHEMA_HEAD", "0010")
        older.setattr("lakeguard.state.migrating.create_views", lambda _: None)  # those of today
        database.migrate()
    with database.write() as connection:
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        statement = text(f"INSERT INTO data_profiling_results ({names}) VALUES ({values})")
        typed = (bindparam("profiled_at", type_=UtcTime()),)
        connection.execute(statement.bindparams(*typed), row)
    database.migrate()
    with database.write() as connection:
        (found,) = connection.execute(select(data_profiling_results))
        assert dict(found._mapping) == {**row, "profile_id": "run_1", "version": 0}
    with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
        connection.execute(text("DELETE FROM data_profiling_results"))


def test_no_answer_without_a_decision(database: Database) -> None:
    database.migrate()
    row = {
        **Way("ds_1", "source", "bronze")._asdict(),
        "allowed": True,
        "evaluated_at": minute(1),
        "reason": "because",
        "org_id": ORG,
        "state": "PROMOTED",
    }
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(promotion_status.insert(), row)
