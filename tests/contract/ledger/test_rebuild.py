"""A State filled from the lake alone, on each kind of database."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.relay.attach import attach
from lakeguard.relay.owner import OWNER_FILE, ledger_root
from lakeguard.relay.rebuild import Rebuild
from lakeguard.relay.rows import from_arrow, state_rows
from lakeguard.relay.tables import derived_tables, fact_tables
from lakeguard.state.append_only_triggers import missing_guards
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import (
    LakeOwned,
    LedgerOrphaned,
    LedgerUnreadable,
    RebuildRefused,
)
from tests.faults.killed_apply import owned_by
from tests.support.databases.databases import discard, fresh_database
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.ledgers import (
    ORG,
    assert_in_step,
    heard,
    ledger_of,
    now,
    relay_of,
    tell,
)
from tests.support.projects.projects import location_of


def rebuild(database: Database, lake: Path, *, replace: bool = False) -> int:
    return (
        Rebuild(OrganisationState.of(database, ORG, now), location_of(lake))
        .run(replace=replace)
        .rows
    )


def contents(database: Database) -> dict[str, list[str]]:
    with OrganisationState.of(database, ORG).read() as tx:
        return {
            table.name: sorted(map(repr, state_rows(tx, table, table.source.c.org_id == ORG)))
            for table in fact_tables().values()
        }


@pytest.fixture
def lost(tmp_path: Path) -> dict[str, list[str]]:
    """A lake whose State is no more; what it held."""
    database = fresh_database("sqlite", tmp_path)
    relay = relay_of(database, tmp_path)
    for name in ("a", "b", "c"):
        tell(database, [name])
        relay.drain()
    held = contents(database)
    discard(database)
    return held


def test_an_empty_state_gets_everything_back(
    database: Database, lost: dict[str, list[str]], tmp_path: Path
) -> None:
    assert rebuild(database, tmp_path) == 4
    assert contents(database) == lost
    attach(OrganisationState.of(database, ORG, now), location_of(tmp_path))
    tell(database, ["d"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["a", "b", "c", "d"]
    assert_in_step(database, tmp_path)


def test_the_state_before_owns_the_lake_no_more(database: Database, tmp_path: Path) -> None:
    before = fresh_database("sqlite", tmp_path)
    relay_of(before, tmp_path).drain()
    rebuild(database, tmp_path)
    with pytest.raises(LakeOwned):
        attach(OrganisationState.of(before, ORG, now), location_of(tmp_path))
    discard(before)


@pytest.mark.usefixtures("lost")
def test_a_state_with_rows_is_not_filled_over(database: Database, tmp_path: Path) -> None:
    database.migrate()
    tell(database, ["mine"])
    with pytest.raises(RebuildRefused, match="is not empty"):
        rebuild(database, tmp_path)
    assert rebuild(database, tmp_path, replace=True) == 4
    assert "mine" not in str(contents(database))
    assert_in_step(database, tmp_path)
    with pytest.raises(Exception, match="append-only"), database.write() as connection:
        connection.execute(text("DELETE FROM documents"))


@pytest.mark.usefixtures("lost")
def test_tables_of_others_survive(database: Database, tmp_path: Path) -> None:
    database.migrate()
    with database.write() as connection:
        connection.execute(text("CREATE TABLE theirs (n INTEGER)"))
        connection.execute(text("INSERT INTO theirs VALUES (7)"))
        connection.execute(text("CREATE VIEW their_view AS SELECT n FROM theirs"))
    rebuild(database, tmp_path, replace=True)
    with database.read() as connection:
        assert connection.scalar(text("SELECT n FROM their_view")) == 7


def test_without_a_ledger_there_is_nothing_to_rebuild(database: Database, tmp_path: Path) -> None:
    with pytest.raises(RebuildRefused, match="no ledger"):
        rebuild(database, tmp_path)


@pytest.mark.usefixtures("lost")
def test_a_damaged_ledger_is_not_believed(database: Database, tmp_path: Path) -> None:
    files = ledger_of(tmp_path).files(fact_tables()["documents"])
    data = files.read()
    changed = data.set_column(data.schema.get_field_index("body"), "body", [["1", "2", "3"]])
    files.replace(changed, 1_000)
    with pytest.raises(LedgerUnreadable, match="do not match the audit chain"):
        rebuild(database, tmp_path)
    assert not any(contents(database).values()), "nothing is half restored"


@pytest.mark.usefixtures("lost")
def test_a_chain_that_is_not_the_one_of_the_owner_file_is_refused(
    database: Database, tmp_path: Path
) -> None:
    (file,) = tmp_path.rglob(OWNER_FILE)
    owner = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**owner, "head": f"sha256:{'0' * 64}"}), "utf-8")
    with pytest.raises(LedgerUnreadable, match="ends before batch"):
        rebuild(database, tmp_path)
    assert not any(contents(database).values()), "nothing is half restored"


def test_a_batch_that_never_became_whole_is_dropped(database: Database, tmp_path: Path) -> None:
    before = fresh_database("sqlite", tmp_path)
    relay = relay_of(before, tmp_path)
    tell(before, ["whole"])
    relay.drain()
    tell(before, ["half"])
    with dying_at("ledger.rows_sent"):
        relay.drain()
    discard(before)
    assert heard(tmp_path) == ["half", "whole"]
    rebuilt = Rebuild(OrganisationState.of(database, ORG, now), location_of(tmp_path)).run()
    assert rebuilt.dropped_rows == 1
    assert heard(tmp_path) == ["whole"]
    tell(database, ["next"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["next", "whole"]
    assert_in_step(database, tmp_path)


def test_a_relay_that_was_attached_before_is_refused(database: Database, tmp_path: Path) -> None:
    """Somebody rebuilt elsewhere while this process went on: it may not tell its story any more."""
    before = fresh_database("sqlite", tmp_path)
    relay = relay_of(before, tmp_path)
    tell(before, ["a"])
    relay.drain()
    rebuild(database, tmp_path)
    tell(before, ["from the old State"])
    with pytest.raises(LakeOwned):
        relay.drain()
    tell(database, ["from the new State"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["a", "from the new State"]
    assert_in_step(database, tmp_path)
    discard(before)


def test_definitions_are_shown_again_after_a_batch_was_dropped(
    database: Database, tmp_path: Path
) -> None:
    """The batch had replaced what the ledger's tables of current definitions show."""
    before = fresh_database("sqlite", tmp_path)
    relay = relay_of(before, tmp_path)
    apply_numbers(before, owner="first")
    relay.drain()
    apply_numbers(before, owner="second")
    with dying_at("ledger.rows_sent"):
        relay.drain()
    discard(before)
    rebuild(database, tmp_path)
    table = derived_tables()["dataset_registry"]
    shown = from_arrow(table, ledger_of(tmp_path).files(table).read())
    with OrganisationState.of(database, ORG).read() as tx:
        held = state_rows(tx, table, table.source.c.org_id == ORG)
    assert shown == held
    assert [row[table.columns.index("owner")] for row in shown] == ["first"]


def test_a_lake_that_was_only_claimed_can_be_rebuilt(database: Database, tmp_path: Path) -> None:
    """The first command was killed before it delivered, and its State was lost."""
    before = fresh_database("sqlite", tmp_path)
    relay_of(before, tmp_path)
    discard(before)
    assert rebuild(database, tmp_path) == 0
    tell(database, ["a"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["a"]


def test_a_folder_of_any_name(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "with space #ü?"
    before = fresh_database("sqlite", tmp_path)
    relay = relay_of(before, folder)
    tell(before, ["a"])
    relay.drain()
    discard(before)
    assert rebuild(database, folder) == 2
    assert_in_step(database, folder)


def test_a_ledger_without_its_owner_file_is_rebuilt_and_never_written_over(
    database: Database, lost: dict[str, list[str]], tmp_path: Path
) -> None:
    (Path(ledger_root(str(tmp_path), ORG)) / OWNER_FILE).unlink()
    database.migrate()
    with pytest.raises(LedgerOrphaned):
        attach(OrganisationState.of(database, ORG, now), location_of(tmp_path))
    rebuild(database, tmp_path)
    assert contents(database) == lost
    tell(database, ["d"])
    relay_of(database, tmp_path).drain()
    assert_in_step(database, tmp_path)


def test_a_state_that_can_still_deliver_is_not_emptied(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    relay.drain()
    tell(database, ["not told yet"])
    with pytest.raises(RebuildRefused, match="the ledger has not yet"):
        rebuild(database, tmp_path, replace=True)
    relay.drain()
    rebuild(database, tmp_path, replace=True)
    assert heard(tmp_path) == ["not told yet"]
    assert_in_step(database, tmp_path)


@pytest.mark.usefixtures("lost")
def test_guards_that_were_taken_away_come_back(database: Database, tmp_path: Path) -> None:
    database.migrate()
    with database.write() as connection:
        on = " ON documents" if connection.dialect.name == "postgresql" else ""
        connection.exec_driver_sql(f"DROP TRIGGER documents_no_update{on}")
        assert list(missing_guards(connection)) == ["documents_no_update"]
    rebuild(database, tmp_path, replace=True)
    with database.read() as connection:
        assert missing_guards(connection) == {}


def apply_numbers(database: Database, owner: str) -> None:
    definitions = owned_by(owner)
    with OrganisationState.of(database, ORG).write() as tx:
        plan = make_plan(definitions, read_state(tx))
        apply_plan(tx, plan, "tester", now())


def test_both_kinds_get_the_same(lost: dict[str, list[str]], tmp_path: Path) -> None:
    other = tmp_path.with_name(tmp_path.name + "-copy")
    shutil.copytree(tmp_path, other)
    one, two = fresh_database("sqlite", tmp_path), fresh_database("postgresql", tmp_path)
    rebuild(one, tmp_path)
    rebuild(two, other)
    assert contents(one) == contents(two) == lost
    discard(one)
    discard(two)
