"""Documents are stored once by their content, however many are stored by one statement."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from lakeguard.ledger.documents import get_document, put_document, put_documents
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import documents, outbox
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.ids import new_id

AT = datetime(2026, 1, 1, tzinfo=UTC)
DATA = [{"b": 1, "a": "ä\\u0000"}, [], {}, [], {"a": None}, "text"]


@pytest.fixture
def org(state: Database) -> OrganisationState:
    """An organisation of its own."""
    return OrganisationState.of(state, new_id("state").lower())


def counts(org: OrganisationState) -> tuple[int, int]:
    """Stored documents, and outbox rows of them."""
    with org.read() as tx:
        return tuple(
            tx.scalar(select(func.count()).select_from(table).where(table.c.org_id == tx.org_id))
            for table in (documents, outbox)
        )


def test_several_have_the_hashes_that_each_has_alone(org: OrganisationState) -> None:
    together = org.transact(lambda tx: put_documents(tx, DATA, AT))
    alone = [org.transact(lambda tx, each=each: put_document(tx, each, AT)) for each in DATA]
    assert together == alone
    assert counts(org) == (5, 5), "equal ones once"
    with org.read() as tx:
        assert [get_document(tx, each) for each in together] == list(map(canonical_json, DATA))


def test_what_is_known_is_not_sent_again(org: OrganisationState) -> None:
    org.transact(lambda tx: put_document(tx, {}, AT))
    org.transact(lambda tx: put_documents(tx, [{}, {"new": True}], AT))
    org.transact(lambda tx: put_documents(tx, [{"new": True}, {}], AT))
    assert org.transact(lambda tx: put_documents(tx, [], AT)) == []
    assert counts(org) == (2, 2)
