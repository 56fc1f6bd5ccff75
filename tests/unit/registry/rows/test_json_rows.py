"""JSON and JSON lines: exact numbers, positions and errors."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lakeguard.registry.rows.json_cursor import MAX_DEPTH
from lakeguard.registry.rows.source_text import MAX_VALUE
from tests.unit.registry.rows.row_files import at, good, mistakes, plain, typed


def test_tables_by_name() -> None:
    content = '{"MD_Jobs": [{"Job_Id": 1, "on": true}], "meta.md_datasets": [{"x": null}, {}]}'
    assert plain(good("any.json", content)) == [
        ("md_jobs", {"job_id": 1, "on": True}),
        ("md_datasets", {"x": None}),
        ("md_datasets", {}),
    ]


def test_a_list_is_for_the_table_of_the_file() -> None:
    assert plain(good("md_jobs.json", '\ufeff [ {"a": "x"} ] ')) == [("md_jobs", {"a": "x"})]
    assert good("md_jobs.json", "[]") == []


def test_lines_are_rows_of_the_table_of_the_file() -> None:
    rows = good("md_jobs.jsonl", '{"a": 1}\r\n\n  {"a": [2, 3]}')
    assert plain(rows) == [("md_jobs", {"a": 1}), ("md_jobs", {"a": "[2, 3]"})]
    assert at(rows[1], "a") == (3, 9, 6)


def test_numbers_are_exact() -> None:
    written = {
        "a": "0.1", "b": "12345678901234567890123", "c": "1e3", "d": "-0.0", "e": "-7", "f": "1.50",
    }  # fmt: skip
    content = ", ".join(f'"{name}": {text}' for name, text in written.items())
    row = good("t.json", f"[{{{content}}}]")
    values = {name: Decimal(text) for name, text in written.items()}
    values |= {"b": 12345678901234567890123, "e": -7}
    assert typed(plain(row)) == typed([("t", values)])
    assert str(row[0].values["f"]) == "1.50"


def test_escapes_and_characters() -> None:
    row = good("t.json", r'[{"a": "\"\\\/\t\n\u00e9\ud83d\ude00", "b": "é😀"}]')[0]
    assert dict(row.values) == {"a": '"\\/\t\né😀', "b": "é😀"}


def test_nested_values_stay_the_text_they_are() -> None:
    rules = '[ {"type": "RANGE_CHECK", "min": 0.10}, {}, [[]] ]'
    row = good("t.json", f'[{{"dq_rule_set": {rules}, "x": {{"a": [1]}}}}]')[0]
    assert dict(row.values) == {"dq_rule_set": rules, "x": '{"a": [1]}'}
    assert at(row, "dq_rule_set") == (1, 18, len(rules))


def test_every_value_has_its_place() -> None:
    row = good("t.json", '[\n  {"A": "x",\n   "b": 12}\n]\n')[0]
    assert [at(row, name) for name in row.values] == [(2, 9, 3), (3, 9, 2)]
    named = row.place_of_name("b")
    assert (named.line, named.column, named.length) == (3, 4, 3)
    assert (row.place.line, row.place.column) == (2, 3)


DEEP = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "1:1 LG-2023 not valid JSON: unexpected end"),
        ("7", "1:1 LG-2023 not valid JSON: write a list of rows"),
        ("{", "1:2 LG-2023 not valid JSON: unexpected end: expected a key"),
        ("[{}", "1:4 LG-2023 not valid JSON: unexpected end: expected ,"),
        ('{"t": {}}', "1:7 LG-2023 not valid JSON: a table must be a list of rows"),
        ('{"t": [], "t": []}', "1:11 LG-2005 duplicate key 't'"),
        ("[1]", "1:2 LG-2023 not valid JSON: a row must be an object"),
        ('[{"a": 1, "A": 2}]', "1:11 LG-2005 duplicate key 'A'"),
        ('[{"a": {"b": 1, "b": 2}}]', "1:17 LG-2005 duplicate key 'b'"),
        ('[{"a": NaN}]', "1:8 LG-2023 not valid JSON: NaN is not a number"),
        ('[{"a": -Infinity}]', "1:8 LG-2023 not valid JSON: -Infinity is not a number"),
        ('[{"a": [Infinity]}]', "1:9 LG-2023 not valid JSON: Infinity is not a number"),
        ('[{"a": 01}]', "1:8 LG-2023 not valid JSON: '01' is not a value"),
        ('[{"a": 1.}]', "1:8 LG-2023 not valid JSON: '1.' is not a value"),
        ('[{"a": True}]', "1:8 LG-2023 not valid JSON: 'True' is not a value"),
        ("[{\"a\": 'x'}]", "1:8 LG-2023 not valid JSON: expected a value"),
        ('[{"a": 1,}]', "1:10 LG-2023 not valid JSON: expected a key in double quotes"),
        ('[{"a" 1}]', "1:7 LG-2023 not valid JSON: expected : after a key"),
        ('[{"a": 1 "b": 2}]', "1:10 LG-2023 not valid JSON: expected , after a value"),
        ('[{"a": [1 2]}]', "1:11 LG-2023 not valid JSON: expected , after a value"),
        ('[{"a": [1,]}]', "1:11 LG-2023 not valid JSON: expected a value"),
        ('[{"a": [}]', "1:9 LG-2023 not valid JSON: expected a value"),
        ('[{"": 1}]', "1:3 LG-2023 not valid JSON: empty column name"),
        ("[{a: 1}]", "1:3 LG-2023 not valid JSON: expected a key in double quotes"),
        ("[{}] x", "1:6 LG-2023 not valid JSON: unexpected text after the end"),
        ('[{"a": "x\n"}]', "1:8 LG-2023 not valid JSON: unterminated string"),
        ('[{"a": "x', "1:8 LG-2023 not valid JSON: unterminated string"),
        ('[{"a": "x\ty"}]', "1:10 LG-2023 not valid JSON: a tab in a string"),
        ('[{"a": "\\q"}]', "1:9 LG-2023 not valid JSON: invalid escape"),
        ('[{"a": "\\u12"}]', "1:10 LG-2023 not valid JSON: invalid escape"),
        ('[{"a": "\\u0000"}]', "1:8 LG-2023 not valid JSON: U+0000"),
        ('[{"a": "\\ud800"}]', "1:8 LG-2023 not valid JSON: U+D800"),
        ('[{"a": "\\u202e"}]', "1:8 LG-2023 not valid JSON: U+202E"),
        ('[{"a": "\x00"}]', "1:9 LG-2023 not valid JSON: U+0000"),
        (b'[{"a": "\xc3"}]', "1:9 LG-2023 not valid JSON: not UTF-8 text"),
        ("[{}]".encode("utf-16"), "1:1 LG-2023 not valid JSON: not UTF-8 text"),
        (f'[{{"a": {DEEP}}}]', f"1:{8 + MAX_DEPTH} LG-2024 the nesting is larger than 16 levels"),
        ('[{"a": ' + "[" * 1_000_000, "1:24 LG-2024 the nesting is larger than 16 levels"),
        ("[" * 1_000_000, "1:2 LG-2023 not valid JSON: a row must be an object"),
        ('[{"a": ' + "9" * 401 + "}]", "1:8 LG-2024 the number is larger than"),
        ('[{"a": 1e1000}]', "1:8 LG-2024 the number is larger than"),
        ('[{"a": 1e-' + "9" * 5000 + "}]", "1:8 LG-2024 the number is larger than"),
        (f'[{{"a": "{"x" * MAX_VALUE}"}}]', "1:8 LG-2024 the value is larger than"),
        (f'[{{"a": [{"1," * MAX_VALUE}1]}}]', "1:8 LG-2024 the value is larger than"),
    ],
)
def test_mistakes_and_their_places(content: str | bytes, expected: str) -> None:
    found = mistakes("t.json", content)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_every_line_with_a_mistake_is_told() -> None:
    content = '{"a": 1}\n{"a": }\n[1]\n{"a": 1, "a": 2}\n{"a": 1} {"a": 2}\n{"a":\n1}\n'
    assert mistakes("t.jsonl", content) == [
        "2:7 LG-2023 not valid JSON lines: expected a value",
        '3:1 LG-2023 not valid JSON lines: a row must be an object: {"column": value}',
        "4:10 LG-2005 duplicate key 'a'",
        "5:10 LG-2023 not valid JSON lines: unexpected text after the end",
        "6:6 LG-2023 not valid JSON lines: unexpected end: expected a value",
        '7:1 LG-2023 not valid JSON lines: a row must be an object: {"column": value}',
    ]
