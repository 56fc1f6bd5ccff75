"""What migrations use to guard a table; frozen, as migrations are."""

from __future__ import annotations

from collections.abc import Iterator

from alembic import op

_FUNCTION = "lakeguard_refuse_change"


def forbid_changes(fixed_columns: dict[str, str]) -> None:
    """Triggers against every DELETE, and every UPDATE of the named columns (none: of all).

    On PostgreSQL against TRUNCATE too. Names are written bare and quoted here where needed.
    """
    postgres = op.get_bind().dialect.name == "postgresql"
    if postgres:
        op.execute(
            f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '23000'; END $$"
        )
    for table, fixed in fixed_columns.items():
        for statement in _triggers(table, fixed, postgres):
            op.execute(statement)


def _triggers(table: str, fixed: str, postgres: bool) -> Iterator[str]:
    quote = op.get_bind().dialect.identifier_preparer.quote
    columns = ", ".join(quote(column.strip()) for column in fixed.split(","))
    events = {"no_update": f"UPDATE OF {columns}" if fixed else "UPDATE", "no_delete": "DELETE"}
    if postgres:
        events["no_truncate"] = "TRUNCATE"
    for name, event in events.items():
        head = f"CREATE TRIGGER {quote(f'{table}_{name}')} BEFORE {event} ON {quote(table)}"
        if postgres:
            each = "STATEMENT" if event == "TRUNCATE" else "ROW"
            yield f"{head} FOR EACH {each} EXECUTE FUNCTION {_FUNCTION}()"
        else:
            yield f"{head} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
