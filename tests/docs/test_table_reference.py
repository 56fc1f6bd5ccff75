"""tables.md names every table, view and column, and only guards that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from lakeguard.relay.tables import ledger_tables
from lakeguard.state.database import Database
from lakeguard.state.schema import metadata
from lakeguard.state.tables.metadata import MUTABLE_COLUMNS, QUEUES
from lakeguard.state.views.view_metadata import view_metadata
from tests.migration.listing import listing
from tests.migration.seed_tables import SEED_TABLES
from tools.docs.table_notes import NOTES
from tools.docs.tables import type_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "tables.md"
KNOWN = {**metadata.tables, **view_metadata.tables}
INVARIANTS = [each for note in NOTES.values() for each in note.invariants]
TYPES = {"string": "text", "long": "long", "boolean": "boolean", "timestamp": "timestamp"}


@cache
def sections() -> dict[str, str]:
    """What the page says under the name of each table and view."""
    parts = re.split(r"^### (\w+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def columns(name: str) -> list[tuple[str, str, bool]]:
    """Name, type and whether NULL is possible, row by row as the page has them."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (yes|no) \|", sections()[name], re.MULTILINE)
    return [(column, kind, null == "yes") for column, kind, null in rows]


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def imported_tables() -> set[str]:
    """What any module outside the State takes from it."""
    names = set()
    for path in (ROOT / "packages").rglob("*.py"):
        if "state" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "lakeguard.state"
            ):
                names |= {alias.name for alias in node.names}
    return names


def constraint_names(connection: Connection) -> set[str]:
    names = "SELECT k.conname FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace"
    return set(connection.scalars(text(f"{names} WHERE n.nspname = current_schema()")))


def test_every_table_and_view_is_there_and_no_other() -> None:
    assert set(NOTES) == set(KNOWN)
    assert sorted(sections()) == sorted(KNOWN)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_column_is_there_with_its_type(name: str) -> None:
    wanted = [(column.name, type_of(column)) for column in KNOWN[name].columns]
    assert [(column, kind) for column, kind, _ in columns(name)] == wanted


@pytest.mark.parametrize("name", sorted(metadata.tables))
def test_what_may_be_null_is_what_the_table_allows(name: str) -> None:
    wanted = {column.name for column in KNOWN[name].columns if column.nullable}
    assert {column for column, _, null in columns(name) if null} == wanted


@pytest.mark.parametrize("name", sorted(view_metadata.tables))
def test_keys_and_nulls_of_a_view_are_columns_of_it(name: str) -> None:
    note, names = NOTES[name], set(KNOWN[name].columns.keys())
    assert note.key
    assert {*note.key, *note.nullable} <= names
    assert not set(note.key) & set(note.nullable)


@pytest.mark.parametrize("name", sorted(SEED_TABLES))
def test_the_specified_columns_come_first_in_their_order(name: str) -> None:
    shown = [(column, kind) for column, kind, _ in columns(name)]
    wanted = [(column, TYPES[kind]) for column, kind in SEED_TABLES[name]]
    assert shown[: len(wanted)] == wanted


def test_what_may_change_is_told() -> None:
    for name in metadata.tables:
        (reported,) = re.findall(r"^- Changes: (.*)$", sections()[name], re.MULTILINE)
        assert ("append-only" in reported) is (name not in MUTABLE_COLUMNS)
        assert ("Rows leave" in reported) is (name in QUEUES)
        for column in MUTABLE_COLUMNS.get(name, ()):
            assert f"`{column}`" in reported


def test_what_the_ledger_does_not_hold_has_a_reason() -> None:
    absent = {name for name, note in NOTES.items() if note.not_in_lake}
    assert absent == set(KNOWN) - set(ledger_tables())
    for name in KNOWN:
        assert ("- Ledger: not there. " in sections()[name]) is (name in absent)


def test_what_nothing_writes_is_used_nowhere() -> None:
    unwritten = {name for name, note in NOTES.items() if note.unwritten}
    assert not unwritten & imported_tables()


def test_every_invariant_has_a_guard() -> None:
    assert [name for name, note in NOTES.items() if not note.invariants] == []
    bare = [each.says for each in INVARIANTS if not each.constraints + each.triggers + each.tests]
    assert bare == []


def test_every_trigger_exists(database: Database) -> None:
    database.migrate()
    with database.read() as connection:
        present = listing(connection)
    named = {name for each in INVARIANTS for name in each.triggers}
    guards = re.compile(r"`(\w+_no_(?:update|delete))`")
    named |= {name for section in sections().values() for name in guards.findall(section)}
    assert len(named) > len(metadata.tables)
    assert [name for name in sorted(named) if "TRIGGER" not in present.get(name, "")] == []


def test_every_constraint_exists(schema: Database) -> None:
    schema.migrate()
    with schema.read() as connection:
        present = constraint_names(connection)
    named = {name for each in INVARIANTS for name in each.constraints}
    assert sorted(named - present) == []


def test_a_constraint_with_a_name_of_ours_has_it_everywhere() -> None:
    ours = {one.name for table in metadata.sorted_tables for one in table.constraints if one.name}
    named = {name for each in INVARIANTS for name in each.constraints}
    assert {name for name in named if name.startswith(("pk_", "uq_", "ck_"))} <= ours


def test_every_test_exists() -> None:
    nodes = sorted({node for each in INVARIANTS for node in each.tests})
    missing = [
        node
        for node in nodes
        for path, _, name in [node.partition("::")]
        if not name.startswith("test_") or name not in functions(path)
    ]
    assert missing == []
