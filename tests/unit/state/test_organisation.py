"""A transaction carries its organisation, clock and actor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.state.database import Database, sqlite_url
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.transaction import Transaction


@pytest.fixture
def state(tmp_path: Path) -> OrganisationState:
    ticks = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in count())
    database = Database(sqlite_url(tmp_path / "state.db"))
    return OrganisationState(database, "shop", lambda: next(ticks), "ada")


def test_a_transaction_is_of_its_organisation_and_actor(state: OrganisationState) -> None:
    with state.write() as tx:
        assert (tx.org_id, tx.actor) == ("shop", "ada")
        assert tx.scalar(text("SELECT 1")) == 1
    assert state.transact(lambda tx: (tx.org_id, tx.actor)) == ("shop", "ada")


def test_now_reads_the_clock_each_time(state: OrganisationState) -> None:
    with state.read() as tx:
        first = tx.now()
        assert tx.now() == first + timedelta(seconds=1)


def test_nothing_is_read_of_the_clock_where_nobody_asks(state: OrganisationState) -> None:
    with state.write() as tx:
        tx.execute(text("CREATE TABLE t (n INTEGER)"))
    with state.read() as tx:
        assert tx.now() == datetime(2026, 1, 1, tzinfo=UTC)


def test_what_raises_leaves_nothing(state: OrganisationState) -> None:
    def work(tx: Transaction) -> None:
        tx.execute(text("CREATE TABLE t (n INTEGER)"))
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        state.transact(work)
    with state.read() as tx:
        assert tx.scalars(text("SELECT name FROM sqlite_master")).all() == []


def test_the_clock_is_that_of_the_state_unless_another_is_given(state: OrganisationState) -> None:
    assert OrganisationState.of(state.database, "shop").clock is state.database.clock
    assert OrganisationState.of(state.database, "shop", state.clock).clock is state.clock
