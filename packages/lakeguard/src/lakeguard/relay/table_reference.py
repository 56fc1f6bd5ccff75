"""``docs/tables.md`` from tables and notes: ``python -m lakeguard.relay.table_reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from sqlalchemy import Column, Table, UniqueConstraint

from lakeguard.relay.catalogue import (
    BATCH,
    BY_RUN,
    CHAIN,
    CURRENT,
    LATER,
    ORDINAL,
    LedgerTable,
    fact_tables,
)
from lakeguard.state.metadata import MUTABLE_COLUMNS, QUEUES
from lakeguard.state.table_note import Family, Invariant, TableNote
from lakeguard.state.table_notes import NOTES
from lakeguard.state.tables import metadata
from lakeguard.state.view_metadata import view_metadata

_HEAD = f"""\
# Tables

Everything the control plane knows is in these tables and views, of a SQLite file or of one schema
of a PostgreSQL database. Other tables and views in that schema are left alone. This page is made
from the code: `python -m lakeguard.relay.table_reference > docs/tables.md`.

- **Table** or **view**: a view of definitions shows what counts now, one row per key; a view of
  runs shows what happened. Views hold no rows of their own.
- **Types** are text, long, boolean and timestamp (UTC, microseconds). Definitions, documents and
  rulings are canonical JSON, so that both databases give the same bytes.
- **Append-only** is kept by the database: `<table>_no_update` and `<table>_no_delete` are triggers
  that refuse, on PostgreSQL `<table>_no_truncate` too.
- **The ledger** is the Delta tables under `_lakeguard/<organisation>/` in the lake. There each row
  has two more columns: `{BATCH}`, the batch that brought it, and `{ORDINAL}`, its place.
- **Invariants** stand with what keeps them. Constraints have PostgreSQL's names; SQLite has the
  same constraints, and the same names where they begin with `pk_`, `uq_` or `ck_`.
"""

_TITLES = {
    Family.METADATA_MODEL: "The metadata model",
    Family.CONTROL: "Jobs, datasets, sources and targets",
    Family.INGESTION: "Ingestion",
    Family.ORCHESTRATION: "Orchestration and lineage",
    Family.RECORDS: "Records",
    Family.OURS: "Beneath them",
}
_WORDS = {"time": "timestamp", "flag": "boolean", "number": "long", "text": "text"}


def table_reference() -> str:
    """The page, the same bytes each time for the same tables."""
    parts = [_HEAD]
    for family, title in _TITLES.items():
        names = [name for name, note in NOTES.items() if note.family is family]
        parts.append(f"## {title}\n")
        parts.append(_overview(names))
        parts += [_section(name) for name in names]
    return "\n".join(parts)


def type_of(column: Column[object]) -> str:
    """``text``, ``long``, ``boolean`` or ``timestamp``."""
    return _WORDS[LedgerTable(column.table.name, column.table, ()).kind_of(column.name)]


def _overview(names: list[str]) -> str:
    lines = ["| name | is | for |", "|---|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {_kind(name)} | {NOTES[name].purpose} |" for name in names]
    return "\n".join([*lines, ""])


def _section(name: str) -> str:
    note = NOTES[name]
    lines = [f"### {name}", "", note.purpose]
    if note.unwritten:
        lines[-1] += " It stands ready: nothing of this version writes it."
    lines += ["", "| column | type | null | key |", "|---|---|---|---|"]
    lines += [_row(column, note) for column in _table(name).columns]
    lines += ["", f"- Is: {_kind(name)}.", f"- Changes: {_changes(name)}"]
    lines += [f"- Ledger: {_ledger(name, note)}", "- Always:"]
    lines += [f"  - {_invariant(each)}" for each in note.invariants]
    return "\n".join([*lines, ""])


def _table(name: str) -> Table:
    return {**metadata.tables, **view_metadata.tables}[name]


def _is_view(name: str) -> bool:
    return name in view_metadata.tables


def _kind(name: str) -> str:
    if not _is_view(name):
        return "table"
    return "view of definitions" if name in CURRENT else "view of runs"


def _row(column: Column[object], note: TableNote) -> str:
    if _is_view(column.table.name):
        null, keys = column.name in note.nullable, ["key"] if column.name in note.key else []
    else:
        null, keys = bool(column.nullable), list(_keys(column))
    cells = (f"`{column.name}`", type_of(column), "yes" if null else "no", ", ".join(keys))
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _keys(column: Column[object]) -> Iterator[str]:
    if column.primary_key:
        yield "key"
    constraints = column.table.constraints
    alone = [each for each in constraints if isinstance(each, UniqueConstraint)]
    if any([member.name for member in each.columns] == [column.name] for each in alone):
        yield "unique"
    for target in sorted(reference.target_fullname for reference in column.foreign_keys):
        yield f"of `{target}`"


def _changes(name: str) -> str:
    if _is_view(name):
        return "with the tables that it shows, which keep their own guards."
    guards = f"`{name}_no_update`"
    if name not in QUEUES:
        guards += f", `{name}_no_delete`"
    mutable = MUTABLE_COLUMNS.get(name)
    if mutable is None:
        return f"append-only ({guards})."
    columns = ", ".join(f"`{column}`" for column in mutable)
    leave = " Rows leave once they are delivered." if name in QUEUES else ""
    return f"only {columns}; every other column stays as it was written ({guards}).{leave}"


def _ledger(name: str, note: TableNote) -> str:
    if name in CURRENT:
        sources = ", ".join(f"`{source}`" for source in CURRENT[name])
        return f"written anew whenever rows came to {sources}."
    if name in BY_RUN:
        later = "".join(f", without `{column}`" for column in LATER.get(name, ()))
        return f"the rows of a run (`{BY_RUN[name]}`) are added when it has ended{later}."
    if name == CHAIN:
        return "one row after each batch, when the batch is whole."
    if name not in fact_tables():
        return f"not there. {note.not_in_lake}"
    changing = ", without the columns that change" if name in MUTABLE_COLUMNS else ""
    return f"told row by row{changing}."


def _invariant(each: Invariant) -> str:
    guards = [("constraint", each.constraints), ("trigger", each.triggers), ("test", each.tests)]
    told = [
        f"{word}{'s' if len(names) > 1 else ''} {', '.join(f'`{name}`' for name in names)}"
        for word, names in guards
        if names
    ]
    return f"{each.says} ({'; '.join(told)})"


if __name__ == "__main__":
    sys.stdout.write(table_reference())
