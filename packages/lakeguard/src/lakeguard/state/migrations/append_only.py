"""What migrations use to guard a table; frozen, as migrations are."""

from __future__ import annotations

from alembic import op

_FUNCTION = "lakeguard_refuse_change"


def forbid_changes(fixed_columns: dict[str, str]) -> None:
    """Triggers against every DELETE, and every UPDATE of the named columns (none: of all)."""
    postgres = op.get_bind().dialect.name == "postgresql"
    if postgres:
        op.execute(
            f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
        )
    for table, fixed in fixed_columns.items():
        update = f"UPDATE OF {fixed}" if fixed else "UPDATE"
        for event, name in ((update, "no_update"), ("DELETE", "no_delete")):
            head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}"
            op.execute(
                f"{head} FOR EACH ROW EXECUTE FUNCTION {_FUNCTION}()"
                if postgres
                else f"{head} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
