"""YAML with positions: what is refused, and where."""

from __future__ import annotations

import pytest

from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_documents import MAX_BYTES, read_document
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Items,
    Scalar,
)


def read(text: str | bytes) -> tuple[Document | None, list[str]]:
    findings = Findings()
    data = text if isinstance(text, bytes) else text.encode()
    document = read_document("f.yaml", data, findings)
    described = [f"{e.place.line}:{e.place.column} {e.code} {e}" for e in findings.errors()]
    return document, described


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (BOMB, "1:4", "anchors are not supported"),
        ("a: b\nc: *x\n", "2:4", "aliases are not supported"),
        ("a: !!python/object:os.system x\n", "1:4", "tags are not supported"),
        ("a: !x {b: c}\n", "1:4", "tags are not supported"),
        ("a: b\n---\nc: d\n", "2:1", "a second document"),
        ("- a\n- b\n", "1:1", "a mapping"),
        ("just words\n", "1:1", "a mapping"),
        ("", "1:1", "a mapping"),
        ("# only a comment\n", "1:1", "a mapping"),
        ("a: b\n  c: d\n", "2:4", "mapping values"),
        ("a: [b\n", "2:1", ""),
        ("a: 'b\n", "2:1", "unexpected end"),
        ("\ta: b\n", "1:1", "cannot start any token"),
        ("a: {b: c\nd: e\n", "2:2", "expected"),
        ("[a]: b\n", "1:1", "a key must be a scalar"),
        ("a: " + "[" * 100_000, "1:19", "nested too deeply"),
        ("a: " + "{b: " * 20 + "}" * 20, "1:64", "nested too deeply"),
        (b"a: b\nc: \xff\xfe\n", "2:4", "not UTF-8"),
        ("a: b\n".encode("utf-16"), "1:1", "not UTF-8"),
        ("a: b\nc: \x00\n", "2:4", "U+0000"),
        ("a: \x1b[31mred\n", "1:4", "U+001B"),
        ("a: b\rc: d\n", "1:5", "U+000D"),
        ("a: x\u2028y\n", "1:5", "U+2028 LINE SEPARATOR"),
        ("a: \u202eevil\n", "1:4", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("# \u2066hidden\na: b\n", "1:3", "U+2066"),
        ('a: "x\\0y"\n', "1:4", "U+0000"),
        ('a: "\\u202ex"\n', "1:4", "U+202E"),
        ("a: b\n" + "#" * MAX_BYTES, "1:1", "larger than"),
        ("%YAML 9.9\n---\na: b\n", "1:1", "incompatible"),
    ],
)
def test_what_is_not_a_plain_document_is_refused(text: str | bytes, place: str, says: str) -> None:
    document, reported = read(text)
    assert document is None
    assert len(reported) == 1
    assert reported[0].startswith(f"{place} LG-2001")
    assert says in reported[0]


def test_duplicate_keys_are_told_and_the_first_counts() -> None:
    document, reported = read("a: 1\nb: {c: 2, c: 3}\na: 4\n")
    assert [line[:11] for line in reported] == ["2:11 LG-200", "3:1 LG-2005"]
    assert document is not None
    first = document.root.values["a"]
    assert isinstance(first, Scalar)
    assert first.value == "1"


def test_every_scalar_stays_the_text_it_was() -> None:
    words = ["no", "on", "1e3", "0x10", "1_000", "2026-01-31", ".inf", "12:30:00", "<<", "=", "~x"]
    document, reported = read("".join(f"k{i}: {word}\n" for i, word in enumerate(words)))
    assert reported == []
    assert document is not None
    assert [getattr(node, "value", None) for node in document.root.values.values()] == words


def test_only_what_is_written_as_nothing_is_null() -> None:
    document, _ = read("a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: nil\n")
    assert document is not None
    nulls = [k for k, node in document.root.values.items() if getattr(node, "is_null", False)]
    assert nulls == ["a", "b", "c"]


def test_a_byte_order_mark_and_windows_line_ends_are_read_past() -> None:
    document, reported = read("\ufeffa: b\r\nc: d\r\n".encode())
    assert reported == []
    assert document is not None
    assert document.locate(("c",)).line == 2
    assert document.place(document.root.values["a"]).length == 1


@pytest.mark.parametrize(
    ("path", "line", "column", "length"),
    [
        (("a",), 1, 4, 1),
        (("list", 1), 2, 11, 3),
        (("map", "inner"), 4, 10, 5),
        (("map",), 3, 1, 3),
        (("empty",), 5, 1, 5),
        (("map", "absent"), 3, 1, 3),
        (("list", 7), 2, 7, 11),
        (("absent",), 1, 1, 4),
    ],
)
def test_a_path_leads_to_its_place_or_the_nearest_above(
    path: tuple[str | int, ...], line: int, column: int, length: int
) -> None:
    document, _ = read("a: b\nlist: [x, 'y', z]\nmap:\n  inner: value\nempty:\n")
    assert document is not None
    place = document.locate(path)
    assert (place.line, place.column, place.length) == (line, column, length)


def test_the_tree_is_made_of_three_kinds() -> None:
    document, _ = read("a: [b, {c: d}]\n")
    assert document is not None
    items = document.root.values["a"]
    assert isinstance(items, Items)
    assert [type(item) for item in items.items] == [Scalar, Block]
