"""Any file content gives rows or errors, in bounded time."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.registry.rows.row_files import mistakes, read
from tests.unit.registry.rows.written_rows import Table, sql_files, tables

ENDINGS = st.sampled_from([".csv", ".json", ".jsonl", ".sql"])
PIECES = st.sampled_from(
    ["INSERT", "INTO", "VALUES", "t", "(a)", "(", ")", ",", ";", "'", "''", "N'", "E'", "\\", '"',
     "[", "]", "{", "}", ":", "::", "text", "--", "/*", "*/", "\n", "\r\n", " ", "GO", "SET", "USE",
     "CAST", "AS", "NULL", "1", "-", ".5", "1e9", "$(", "${x}", "$$", "q'", ":setvar", "DATE",
     "BEGIN", "null", "true", "NaN", "\t", "|", "\u00e9", "\ufeff", "\x00", "now()", "SELECT"]
)  # fmt: skip
FUZZ = examples(300)


def rows_or_mistakes(name: str, content: str | bytes) -> None:
    rows, reported = read(name, content)
    assert not (rows and reported)
    for row in rows:
        assert row.place.line >= 1
        assert all(row.place_of(column).column >= 1 for column in row.values)


@FUZZ
@given(ENDINGS, st.binary(max_size=200))
def test_any_bytes(ending: str, content: bytes) -> None:
    rows_or_mistakes(f"t{ending}", content)


@FUZZ
@given(ENDINGS, st.text(max_size=200))
def test_any_text(ending: str, content: str) -> None:
    rows_or_mistakes(f"t{ending}", content.encode("utf-8", "surrogatepass"))


@FUZZ
@given(ENDINGS, st.lists(PIECES, max_size=40), st.sampled_from(["", " "]))
def test_any_heap_of_words(ending: str, pieces: list[str], between: str) -> None:
    rows_or_mistakes(f"t{ending}", between.join(pieces))


@FUZZ
@given(st.data(), st.lists(tables(), min_size=1, max_size=2), st.randoms(use_true_random=False))
def test_any_broken_insert(data: st.DataObject, written: list[Table], chance: Random) -> None:
    content = list(data.draw(sql_files(written)))
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(content))
        content[at : at + chance.randint(0, 2)] = chance.choice(["", "'", ")", "(", ";", ",", "x"])
    rows_or_mistakes("t.sql", "".join(content))


MANY = 200_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.sql", "(" * MANY),
        ("t.sql", "/*" * MANY),
        ("t.sql", "/**/" * MANY + "x"),
        ("t.sql", "--\n" * MANY + "x"),
        ("t.sql", "GO " * MANY),
        ("t.sql", "'" * (MANY + 1)),
        ("t.sql", "INSERT INTO t (a) VALUES (" + "-" * MANY),
        ("t.sql", "INSERT INTO t (a) VALUES (CAST(" + "(" * MANY),
        ("t.sql", "INSERT INTO t (a) VALUES (1" + "::int" * MANY + "x"),
        ("t.sql", "INSERT INTO " + "a." * MANY),
        ("t.sql", "INSERT INTO t (" + "a," * MANY),
        ("t.sql", "$" * MANY),
        ("t.sql", "${" * MANY),
        ("t.sql", "1" * MANY),
        ("t.sql", "SET " + "x " * MANY + "DROP"),
        ("t.sql", "DROP;" * MANY),
        ("t.csv", '"' * (MANY + 1)),
        ("t.csv", "a,b\n" + "1\n" * MANY),
        ("t.csv", "," * MANY),
        ("t.json", '[{"a":' + "[" * MANY),
        ("t.json", '[{"a":' + '{"a":' * MANY),
        ("t.json", '[{"a":"' + "\\" * (MANY + 1) + '"}]'),
        ("t.json", '[{"a":' + "-" * MANY),
        ("t.jsonl", "[\n" * MANY),
        ("t.jsonl", " " * MANY + "x"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_large_and_senseless_files_are_refused_soon(name: str, content: str) -> None:
    start = time.monotonic()
    mistakes(name, content)
    assert time.monotonic() - start < 20
