"""Triggers that make append-only a property of the database, not a habit of its writers."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Table

from lakeguard.state.metadata import MUTABLE_COLUMNS

_FUNCTION = "lakeguard_refuse_change"


def guard_statements(tables: list[Table], dialect: str) -> Iterator[str]:
    """DDL that forbids every DELETE, and every UPDATE of a column that is not listed as mutable."""
    if dialect == "postgresql":
        yield (
            f"CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
        )
    for table in tables:
        fixed = [
            column.name
            for column in table.columns
            if column.name not in MUTABLE_COLUMNS.get(table.name, ())
        ]
        of = f"OF {', '.join(fixed)} " if table.name in MUTABLE_COLUMNS else ""
        for event, name in ((f"UPDATE {of}".strip(), "no_update"), ("DELETE", "no_delete")):
            yield _trigger(table.name, name, event, dialect)


def _trigger(table: str, name: str, event: str, dialect: str) -> str:
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}"
    if dialect == "postgresql":
        return f"{head} FOR EACH ROW EXECUTE FUNCTION {_FUNCTION}()"
    return f"{head} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
