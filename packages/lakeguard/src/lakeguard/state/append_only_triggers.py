"""Database triggers that enforce append-only tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import URL, Connection, Table
from sqlalchemy.sql.compiler import IdentifierPreparer

from lakeguard.state.tables.metadata import MUTABLE_COLUMNS, QUEUES, metadata

_FUNCTION = "lakeguard_refuse_change"
_POSTGRESQL = "postgresql"


def guard_statements(tables: list[Table], dialect: str) -> Iterator[str]:
    """DDL that forbids every DELETE, and every UPDATE of a column that is not listed as mutable.

    Queue tables allow DELETE. On PostgreSQL, TRUNCATE is forbidden too.
    """
    names = _names(dialect)
    if dialect == _POSTGRESQL:
        yield (
            f"CREATE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '23000'; END $$"
        )
    for table in tables:
        mutable = MUTABLE_COLUMNS.get(table.name, ())
        fixed = [names.quote(c.name) for c in table.columns if c.name not in mutable]
        update = f"UPDATE OF {', '.join(fixed)}" if mutable else "UPDATE"
        yield _trigger(table.name, "no_update", update, names, dialect)
        if table.name in QUEUES:
            continue
        yield _trigger(table.name, "no_delete", "DELETE", names, dialect)
        if dialect == _POSTGRESQL:
            yield _trigger(table.name, "no_truncate", "TRUNCATE", names, dialect)


def missing_guards(connection: Connection) -> dict[str, str]:
    """Missing triggers: name and the statement that restores each."""
    dialect = connection.dialect.name
    asked = (
        "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = current_schema() AND tgenabled <> 'D'"
        if dialect == _POSTGRESQL
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    there = set(connection.exec_driver_sql(asked).scalars())
    wanted = guard_statements(metadata.sorted_tables, dialect)
    named = {_name_of(each): each for each in wanted if each.startswith("CREATE TRIGGER")}
    return {name: statement for name, statement in named.items() if name not in there}


def _name_of(statement: str) -> str:
    return statement.split()[2].strip('"')


def _trigger(table: str, name: str, event: str, names: IdentifierPreparer, dialect: str) -> str:
    trigger = names.quote(f"{table}_{name}")
    head = f"CREATE TRIGGER {trigger} BEFORE {event} ON {names.quote(table)}"
    if dialect == _POSTGRESQL:
        each = "STATEMENT" if event == "TRUNCATE" else "ROW"
        return f"{head} FOR EACH {each} EXECUTE FUNCTION {_FUNCTION}()"
    return f"{head} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"


def _names(dialect: str) -> IdentifierPreparer:
    """Quote names that this dialect requires quoted."""
    return URL.create(dialect).get_dialect()().identifier_preparer
