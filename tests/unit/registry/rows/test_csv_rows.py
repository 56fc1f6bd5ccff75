"""CSV rows: values, positions and errors."""

from __future__ import annotations

import pytest

from lakeguard.registry.rows.source_text import MAX_COLUMNS, MAX_VALUE
from tests.unit.registry.rows.row_files import at, good, mistakes, plain


def test_the_file_names_the_table_and_the_first_line_the_columns() -> None:
    rows = good("Source_Objects.CSV", "Object_ID, Name\n1,orders\n2,TRUE\n")
    assert plain(rows) == [
        ("source_objects", {"object_id": "1", "name": "orders"}),
        ("source_objects", {"object_id": "2", "name": "TRUE"}),
    ]


def test_a_schema_before_the_name_is_dropped() -> None:
    assert plain(good("dbo.md_jobs.csv", "a,b\n1,2")) == [("md_jobs", {"a": "1", "b": "2"})]


def test_nothing_is_null_and_quotes_around_nothing_are_an_empty_text() -> None:
    rows = good("t.csv", 'a,b,c\n,"", \n')
    assert dict(rows[0].values) == {"a": None, "b": "", "c": " "}


def test_quotes_commas_and_line_ends_within_quotes() -> None:
    rows = good("t.csv", '\ufeffa,b\r\n"x ""y"", z","one\r\ntwo"\r\n\r\n"[""a"",""b""]",\r\n')
    assert [dict(row.values) for row in rows] == [
        {"a": 'x "y", z', "b": "one\ntwo"},
        {"a": '["a","b"]', "b": None},
    ]
    assert [at(rows[1], "a"), at(rows[1], "b")] == [(5, 1, 15), (5, 17, 1)]


def test_every_value_has_its_place() -> None:
    row = good("t.csv", 'a,b,"c c"\nx,"y\nz",\n')[0]
    assert [at(row, name) for name in row.values] == [(2, 1, 1), (2, 3, 2), (3, 4, 1)]
    assert (row.place.line, row.place.column) == (2, 1)
    assert row.place_of("absent") == row.place
    named = row.place_of_name("c c")
    assert (named.line, named.column, named.length) == (1, 5, 5)
    assert row.place.file.endswith("/t.csv")


def test_a_header_alone_has_no_rows() -> None:
    assert good("t.csv", "a,b\n") == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "1:1 LG-2026 the first line must be a header"),
        ("\n\n", "1:1 LG-2026 the first line must be a header"),
        ("a,b,A\n1,2,3\n", "1:5 LG-2026 duplicate column 'A'"),
        ("a,,c\n1,2,3\n", "1:3 LG-2026 empty column name"),
        ('a,"",c\n1,2,3\n', "1:3 LG-2026 empty column name"),
        ("a,b,\n1,2,3\n", "1:5 LG-2026 empty column name"),
        ("a;b\n1;2\n", "1:1 LG-2026 column 'a;b': columns are separated by commas"),
        ("a,b\n1,2\n3\n", "3:1 LG-2025 1 cell for 2 columns"),
        ("a,b\n\n1,2,3\n", "3:1 LG-2025 3 cells for 2 columns"),
        ("a\n1,\n", "2:1 LG-2025 2 cells for 1 column"),
        ('a,b\n1,"2\n3,4\n', "2:3 LG-2023 not valid CSV: unterminated quote"),
        ('a,b\n1,"2"x\n', "2:6 LG-2023 not valid CSV: text after a closing quote"),
        ('a,b\n1,2"x\n', "2:4 LG-2023 not valid CSV: a quote inside an unquoted cell"),
        ('a,b\n1, "x"\n', "2:4 LG-2023 not valid CSV: a quote inside an unquoted cell"),
        (b"a,b\n1,\xff\n", "2:3 LG-2023 not valid CSV: not UTF-8 text"),
        ("a,b\n1,x\x00\n", "2:4 LG-2023 not valid CSV: U+0000"),
        ("a,b\n1,\x1b[31m\n", "2:3 LG-2023 not valid CSV: U+001B"),
        ("a,b\n1,\u202ex\n", "2:3 LG-2023 not valid CSV: U+202E"),
        ("a,b\r1,2\n", "1:4 LG-2023 not valid CSV: U+000D"),
        (f"a,b\n1,{'x' * (MAX_VALUE + 1)}\n", "2:3 LG-2024 the value is larger than 1,000,000"),
        ("," * MAX_COLUMNS, f"1:{MAX_COLUMNS + 1} LG-2024 the row is larger than 1,000 columns"),
    ],
)
def test_mistakes_and_their_places(content: str | bytes, expected: str) -> None:
    found = mistakes("t.csv", content)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_all_rows_of_another_length_are_told() -> None:
    assert [line[:11] for line in mistakes("t.csv", "a,b\n1\n1,2\n1,2,3\n")] == [
        "2:1 LG-2025",
        "4:1 LG-2025",
    ]
