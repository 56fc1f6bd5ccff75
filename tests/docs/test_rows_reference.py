"""docs/reference/rows.md names every table and column that is loaded, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeguard.registry.rows.row_files import ENDINGS
from lakeguard.registry.rows.rule_forms import TYPE_NAMES
from lakeguard.registry.rows.tables import AUDIT_COLUMNS, TABLES
from lakeguard.registry.rows.vendor_types import SYNONYMS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "rows.md").read_text("utf-8")


def section(table: str) -> str:
    found = re.search(rf"^### `{table}`$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, table
    return found[1]


def first_table(text: str) -> set[str]:
    """The names in the first cells of the first table."""
    rows = text.partition("| column | means |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", rows, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_described_and_no_other(table: str) -> None:
    given = {"source_systems": {"system_name"}}.get(table, set())
    assert given <= set(re.findall(r"`([^`]+)`", section(table)))
    assert first_table(section(table)) == set(TABLES[table]) - given


def test_every_table_and_no_other_has_a_section() -> None:
    assert set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)) == set(TABLES)


def test_every_table_has_an_example() -> None:
    found = {path.stem for path in (ROOT / "metadata" / "dml").glob("*.sql")}
    assert found == set(TABLES)


def test_words_are_named() -> None:
    assert [ending for ending in ENDINGS if f"| `{ending}` |" not in PAGE] == []
    assert [name for name in TYPE_NAMES if f"`{name.upper()}`" not in PAGE] == []
    for ours, words in SYNONYMS.items():
        assert f"| `{ours}` | {', '.join(f'`{word}`' for word in words)} |" in PAGE
    assert {name.partition("_")[0] for name in AUDIT_COLUMNS} == {"created", "updated"}
    assert [name for name in AUDIT_COLUMNS[:4] if f"`{name}`" not in PAGE] == []
