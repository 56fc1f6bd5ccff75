"""Rows read back equal the rows written, in every format."""

from __future__ import annotations

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.registry.rows.row_files import Plain, good, plain, read, typed
from tests.unit.registry.rows.written_rows import (
    Table,
    csv_files,
    csv_text,
    json_text,
    json_values,
    sql_files,
    tables,
)

EXAMPLES = examples(150)


def expected(*written: Table) -> list[Plain]:
    return [
        (name, dict(zip(columns, row, strict=True)))
        for name, columns, rows in written
        for row in rows
    ]


@EXAMPLES
@given(st.data(), st.lists(tables(), min_size=1, max_size=3))
def test_as_inserts(data: st.DataObject, written: list[Table]) -> None:
    content = data.draw(sql_files(written))
    assert typed(plain(good("any.sql", content))) == typed(expected(*written))


@EXAMPLES
@given(st.data(), tables(min_columns=2))
def test_as_csv(data: st.DataObject, table: Table) -> None:
    name, columns, rows = table
    content = data.draw(csv_files(table))
    texts = [[csv_text(value) for value in row] for row in rows]
    assert plain(good(f"{name}.csv", content)) == expected((name, columns, texts))


@EXAMPLES
@given(st.data(), st.lists(tables(), min_size=1, max_size=3, unique_by=lambda table: table[0]))
def test_as_json_by_table(data: st.DataObject, written: list[Table]) -> None:
    values = [
        f"{json.dumps(table[0])}: {data.draw(json_values([v for _, v in expected(table)]))}"
        for table in written
    ]
    content = "{" + ",".join(values) + "}"
    assert typed(plain(good("any.json", content))) == typed(expected(*written))


@EXAMPLES
@given(st.data(), tables())
def test_as_json_lines(data: st.DataObject, table: Table) -> None:
    rows = [values for _, values in expected(table)]
    lines = [data.draw(json_values([row])).strip()[1:-1] for row in rows]
    content = "\n".join(" ".join(line.split("\r\n")).replace("\n", " ") for line in lines)
    assert typed(plain(good(f"{table[0]}.jsonl", content))) == typed(expected(table))


@EXAMPLES
@given(st.data(), tables())
def test_every_place_holds_the_value_that_was_written(data: st.DataObject, table: Table) -> None:
    """What stands at a value's place is how the value is written, and nothing else."""
    content = data.draw(sql_files([table]))
    lines = content.split("\n")
    for row in good("any.sql", content):
        for column, value in row.values.items():
            place = row.place_of(column)
            shown = lines[place.line - 1][place.column - 1 :][: place.length]
            inner = shown.lower().removeprefix("cast(").lstrip()
            if isinstance(value, str):
                assert inner.startswith(("'", "n'", "e'"))
            elif isinstance(value, int | Decimal) and not isinstance(value, bool):
                assert inner.startswith(f"{value:f}" if isinstance(value, Decimal) else str(value))
            else:
                assert inner.startswith("null" if value is None else str(value).lower())
            named = row.place_of_name(column)
            name = lines[named.line - 1][named.column - 1 :][: named.length]
            assert name[1:-1].lower() == column


@EXAMPLES
@given(st.data(), st.text(max_size=30))
def test_texts_written_by_the_library_are_read_or_refused(data: st.DataObject, text: str) -> None:
    """With every character there is: nothing is read as something else."""
    content = f'[{{"a": {json_text(data.draw, text)}}}]'
    rows, reported = read("t.json", content.encode("utf-8", "surrogatepass"))
    assert reported or [row.values["a"] for row in rows] == [text]
