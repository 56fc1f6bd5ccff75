"""``verify`` does not believe the queue: whoever writes into it hides nothing."""

from __future__ import annotations

import pytest

from lakeguard.relay.tables import CHAIN
from lakeguard_sdk.model.verification import FindingKind as Kind
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.ledgers import tell
from tests.support.lakes.verified_lakes import ProvenLake


@pytest.fixture
def lake(copied_lake: ProvenLake) -> ProvenLake:
    return copied_lake


def last_batch(lake: ProvenLake) -> int:
    return int(lake.value("SELECT max(batch) FROM audit_chain"))


@pytest.mark.parametrize("batch", [-1, 1, 3, 99])
def test_a_row_in_the_queue_hides_nothing(lake: ProvenLake, batch: int) -> None:
    """Whatever batch it says it is of: what was changed is found, and the row as well."""
    lake.sql("promotion_status", "DELETE FROM promotion_status WHERE ordinal = 3")
    lake.sql("dataset_registry_revisions", "UPDATE dataset_registry_revisions SET owner = 'me'")
    lake.rewrite_ledger("decisions", lambda data: data.slice(1))
    honest = lake.found()
    assert set(honest) == {Kind.ROW, Kind.CHAIN}
    for topic in ("run_history", "dataset_registry_revisions"):
        lake.queue(topic, '{"run_id":"run_x"}', batch)
    found = lake.found()
    assert found.pop(Kind.ROW) == ["outbox", *honest.pop(Kind.ROW)]
    assert found == honest


def test_a_changed_row_that_is_queued_once_more(lake: ProvenLake) -> None:
    """It would count as waiting, if the queue were believed."""
    lake.sql("documents", "UPDATE documents SET body = '{}'")
    payload = '{"body":"{}","content_hash":"sha256:x","org_id":"default"}'
    before = len(lake.found()[Kind.ROW])
    lake.queue("documents", payload, last_batch(lake))
    found = lake.found()[Kind.ROW]
    assert (found[0], len(found)) == ("outbox", before + 1)


@pytest.mark.parametrize("marked", [0, 1, 2, 99])
def test_a_mark_that_no_relay_has_left(lake: ProvenLake, marked: int) -> None:
    """One batch back is the queue's affair: its rows are not there to be sent again."""
    lake.sql("relay_cursors", f"UPDATE relay_cursors SET batch = {marked}")
    place = "outbox" if marked == last_batch(lake) - 1 else "relay_cursors"
    assert lake.found() == {Kind.ROW: [place]}
    lake.rewrite_ledger("decisions", lambda data: data.slice(1))
    assert set(lake.found()) == {Kind.ROW, Kind.CHAIN}


@pytest.mark.parametrize("point", ["relay.stamped", "ledger.rows_sent", "relay.sent"])
def test_a_relay_that_was_killed_leaves_no_finding(lake: ProvenLake, point: str) -> None:
    tell(lake.database, ["sha256:x"])
    with dying_at(point):
        lake.relay.drain()
    assert set(lake.found()) <= {Kind.DOCUMENT}
    lake.relay.drain()
    assert set(lake.found()) <= {Kind.DOCUMENT}


def test_the_last_link_taken_from_the_ledger(lake: ProvenLake) -> None:
    last = last_batch(lake)
    lake.rewrite_ledger(CHAIN, lambda data: data.sort_by("batch").slice(0, last - 1))
    assert lake.found() == {Kind.CHAIN: [f"batch {last}"]}


def test_a_waiting_batch_whose_rows_were_changed(lake: ProvenLake) -> None:
    tell(lake.database, ["sha256:x"])
    with dying_at("relay.stamped"):
        lake.relay.drain()
    assert Kind.ROW not in lake.found()
    lake.sql("outbox", "UPDATE outbox SET payload = replace(payload, 'sha256:x', 'sha256:y')")
    assert "outbox" in lake.found()[Kind.ROW]
