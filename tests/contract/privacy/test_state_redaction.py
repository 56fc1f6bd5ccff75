"""What a State says of an error holds no value: tokens and the bodies of events are among them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from lakeguard.state.database import Database

TOKEN = "lease_that_nobody_may_read"
INSERT = text("INSERT INTO documents (org_id, content_hash, body) VALUES (:org, :hash, :body)")


@pytest.mark.parametrize(
    "row",
    [
        {"org": "o", "hash": TOKEN, "body": "{}"},
        {"org": None, "hash": "h", "body": TOKEN},
        {"org": "o", "hash": TOKEN, "body": None},
    ],
    ids=["twice", "no key", "no value"],
)
@pytest.mark.parametrize("many", [False, True])
def test_an_error_tells_no_value(
    database: Database, caplog: pytest.LogCaptureFixture, row: dict[str, Any], many: bool
) -> None:
    database.migrate()
    with database.write() as connection:
        connection.execute(INSERT, {"org": "o", "hash": TOKEN, "body": "{}"})
    with pytest.raises(IntegrityError) as caught, database.write() as connection:
        connection.execute(INSERT, [row, {**row, "hash": "other"}] if many else row)
    logging.getLogger(__name__).error("a turn failed", exc_info=caught.value)
    assert "documents" in caplog.text, "it says where"
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(caught.value.orig)
