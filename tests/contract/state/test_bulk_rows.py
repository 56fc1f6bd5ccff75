"""Rows that are written together, few or many, on each kind of State: as if one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DataError

from lakeguard.state.bulk_writes import (
    FEW_ROWS,
    NumberedUpdate,
    insert_all,
    insert_new,
    update_all,
    update_numbered,
)
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import outbox, tasks

AT = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
ODD = "'\"\\ {} %s :rows \n\t Ωß \N{SNOWMAN} $1"
"""Nothing in a value means anything to a statement."""
COUNTS = (FEW_ROWS - 1, 1_200)


@pytest.fixture
def migrated(database: Database) -> Database:
    database.migrate()
    return database


def task(number: int, **given: Any) -> dict[str, Any]:
    return {
        "task_id": f"task_{number}",
        "org_id": "o",
        "kind": "python",
        "dataset_id": "job_1",
        "dedupe_key": f"{ODD}{number}",
        "parameters": '{"set":{"a":"b\\\\c"}}',
        "triggered_by": ODD,
        "created_at": AT.astimezone(timezone(timedelta(hours=5))),
        "max_attempts": 3,
        "state": "queued",
        "attempt": 0,
        "due_at": None,
        "priority": 0,
        "labels": "",
        "changes": 1,
        **given,
    }


def stored(database: Database) -> dict[str, dict[str, Any]]:
    with database.read() as connection:
        rows = connection.execute(select(tasks))
        return {row.task_id: dict(row._mapping) for row in rows}


LONG = "x" * 301
"""One character more than PostgreSQL takes in a column of names."""


@pytest.mark.parametrize("count", [1, *COUNTS])
@pytest.mark.parametrize(
    "write", [insert_all, partial(insert_new, unique=["task_id"], answer="org_id")]
)
def test_a_long_text_is_stored_whole_or_refused(
    migrated: Database, count: int, write: Callable[..., Any]
) -> None:
    """Cut off, it would differ from the ledger's, and two keys could become the same."""
    rows = [task(number, triggered_by=LONG, dedupe_key=f"{number}") for number in range(count)]
    with suppress(DataError), OrganisationState.of(migrated, "default").write() as tx:
        write(tx, tasks, rows)
    assert {row["triggered_by"] for row in stored(migrated).values()} <= {LONG}


@pytest.mark.parametrize("count", COUNTS)
def test_rows_are_what_single_ones_would_be(migrated: Database, count: int) -> None:
    rows = [task(number) for number in range(count)]
    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, tasks, rows)
        tx.execute(insert(tasks), task(count))
    found = stored(migrated)
    alone = found.pop(f"task_{count}")
    own = {"task_id", "dedupe_key"}
    assert len(found) == count
    for row in rows:
        reported = found[row["task_id"]]
        assert reported["dedupe_key"] == row["dedupe_key"]
        assert {key: reported[key] for key in reported.keys() - own} == {
            key: alone[key] for key in alone.keys() - own
        }


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_are_given_in_the_order_of_the_rows(migrated: Database, count: int) -> None:
    rows = [
        {"org_id": "o", "topic": "tasks", "payload": str(number), "created_at": AT}
        for number in range(count)
    ]
    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, outbox, rows)
    with migrated.read() as connection:
        found = connection.scalars(select(outbox.c.payload).order_by(outbox.c.outbox_id))
        assert list(found) == [row["payload"] for row in rows]


@pytest.mark.parametrize("count", COUNTS)
def test_rows_that_are_all_the_same_are_as_many(migrated: Database, count: int) -> None:
    row = {"org_id": "o", "topic": ODD, "payload": "{}", "created_at": AT}
    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, outbox, [dict(row) for _ in range(count)])
    with migrated.read() as connection:
        found = connection.execute(select(*(outbox.c[name] for name in row))).mappings()
        assert [dict(each) for each in found] == [row] * count


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("count", COUNTS)
def test_every_kind_of_value_may_be_one_for_all(
    migrated: Database, count: int, shared: bool
) -> None:
    """Numbers, times, texts and nothing, as values of all rows and as values of each."""
    values = {"attempt": 7, "due_at": AT, "worker": ODD, "job_id": None, "priority": -(2**31)}

    def expected(number: int) -> dict[str, Any]:
        own = {} if shared else {"attempt": number, "due_at": AT + timedelta(hours=number)}
        return task(number, **values | own)

    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, tasks, [expected(number) for number in range(count)])
    found = stored(migrated)
    assert [
        {name: found[f"task_{number}"][name] for name in values} for number in range(count)
    ] == [{name: expected(number)[name] for name in values} for number in range(count)]


@pytest.mark.parametrize("count", COUNTS)
def test_rows_are_found_by_keys_that_they_share(migrated: Database, count: int) -> None:
    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, tasks, [task(number) for number in range(count)])
        insert_all(tx, tasks, [task(-1, org_id="other", task_id="task_x")])
        rows = [
            {"org_id": "o", "dedupe_key": f"{ODD}{number}", "due_at": AT, "state": "failed"}
            for number in range(count)
        ]
        update_all(tx, tasks, rows, ("org_id", "dedupe_key"))
    found = stored(migrated)
    assert found.pop("task_x")["state"] == "queued"
    assert {(row["state"], row["due_at"]) for row in found.values()} == {("failed", AT)}


@pytest.mark.parametrize("count", COUNTS)
def test_only_what_is_new_is_added(migrated: Database, count: int) -> None:
    unique = ("org_id", "dataset_id", "dedupe_key")
    first = [task(number) for number in range(0, 2 * count, 2)]
    again = [
        task(number, task_id=f"other_{number}", triggered_by="late") for number in range(2 * count)
    ]
    with OrganisationState.of(migrated, "default").write() as tx:
        added = insert_new(tx, tasks, first, unique, "task_id")
        assert added == {row["task_id"] for row in first}
    with OrganisationState.of(migrated, "default").write() as tx:
        added = insert_new(tx, tasks, again, unique, "task_id")
    assert added == {f"other_{number}" for number in range(1, 2 * count, 2)}
    late = [row for row in stored(migrated).values() if row["triggered_by"] == "late"]
    assert len(late) == count


@pytest.mark.parametrize("count", COUNTS)
def test_a_row_that_somebody_changed_is_left(migrated: Database, count: int) -> None:
    with OrganisationState.of(migrated, "default").write() as tx:
        insert_all(tx, tasks, [task(number) for number in range(count)])
        rows = [
            {"task_id": f"task_{number}", "state": "running", "changes": 2, "due_at": AT}
            for number in range(count)
        ]
        update = NumberedUpdate(tasks, rows, "task_id", "changes")
        assert (update_numbered(tx, update), update_numbered(tx, update)) == (count, 0)
    assert {(row["state"], row["changes"], row["due_at"]) for row in stored(migrated).values()} == {
        ("running", 2, AT)
    }


def test_a_time_without_a_zone_is_refused(migrated: Database) -> None:
    rows = [task(number, created_at=datetime(2026, 1, 1)) for number in range(FEW_ROWS)]  # noqa: DTZ001
    with (
        pytest.raises(Exception, match="a time needs a zone"),
        OrganisationState.of(migrated, "default").write() as tx,
    ):
        insert_all(tx, tasks, rows)
