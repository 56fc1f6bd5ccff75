"""Rows in any spelling are the same definitions, and are given back in that spelling."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.kinds import Key, every, hash_of, key_of
from lakeguard.registry.rows import Row
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.rows.write_rows import Written, cell_text, rows_of
from lakeguard_sdk.model.definitions import Definitions
from tests.support.examples import examples
from tests.support.projects.registries import small_registry
from tests.support.strategies.definitions import definitions
from tests.support.strategies.respelled_rows import respelled

Texts = dict[str, list[dict[str, str | None]]]


def hashes(found: Definitions) -> dict[Key, str]:
    return {key_of(item): hash_of(item) for item in every(found)}


def texts(tables: dict[str, list[Written]]) -> Texts:
    return {
        table: [{column: cell_text(row.get(column)) for column in TABLES[table]} for row in rows]
        for table, rows in tables.items()
    }


def in_order(found: Texts) -> Texts:
    return {table: sorted(rows, key=repr) for table, rows in found.items()}


def given_texts(rows: list[Row]) -> Texts:
    found: Texts = {table: [] for table in TABLES}
    for row in rows:
        found[row.table].append({c: None if v is None else str(v) for c, v in row.values.items()})
    return found


@given(found=definitions(), data=st.data())
@examples(24)
def test_rows_come_back_in_the_spelling_they_were_given(
    found: Definitions, data: st.DataObject
) -> None:
    rows = data.draw(respelled(rows_of(found)))
    with TemporaryDirectory() as folder, small_registry(Path(folder)) as registry:
        registry.load(rows)
        assert hashes(registry.definitions()) == hashes(found)
        exported = registry.export()
        assert in_order(texts(exported)) == in_order(given_texts(rows))
        assert registry.load(data.draw(respelled(exported))).steps == 0
