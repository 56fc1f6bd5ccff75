"""Many rows of the State in many short readings: nobody who writes waits for what is done with
them in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Select

from lakeguard.state.database import Database


def in_pages(
    database: Database, asked: Select[Any], key: Column[str], size: int
) -> Iterator[Sequence[Any]]:
    """Every row that was there from first to last, in the order of ``key``, its first column."""
    last = ""
    while True:
        page = asked.where(key > last).order_by(key).limit(size)
        with database.read() as connection:
            rows = connection.execute(page).all()
        yield from rows
        if len(rows) < size:
            return
        last = rows[-1][0]
