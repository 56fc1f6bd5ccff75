"""Positions in scalars are mapped to the file, for every quoting style."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_documents import read_document
from lakeguard.registry.text.yaml_nodes import Document, Scalar


def document_of(text: str) -> tuple[Document, Scalar]:
    document = read_document("f.yaml", text.encode(), Findings())
    assert document is not None
    scalar = document.root.values["a"]
    assert isinstance(scalar, Scalar)
    return document, scalar


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        ("a: one two\n", "two", 1, 8),
        ("a: 'one two'\n", "two", 1, 9),
        ("a: 'it''s two'\n", "two", 1, 11),
        ('a: "one two"\n', "two", 1, 9),
        ('a: "\\u00e9\\x41\\t two"\n', "two", 1, 18),
        ("a: one\n  two\n", "two", 2, 3),
        ("a: 'one\n\n   two'\n", "two", 3, 4),
        ("a: |\n  one\n  two\n", "two", 3, 3),
        ("a: >-\n  one\n  two\n", "two", 3, 3),
        ("a: >-\n  one\n\n  two\n", "two", 4, 3),
        ('a: "one \\\n  two"\n', "two", 2, 3),
        ("a: é🙂 two\n", "two", 1, 7),
    ],
)
def test_words_are_found_in_every_style(text: str, word: str, line: int, column: int) -> None:
    document, scalar = document_of(text)
    place = document.place_within(scalar, scalar.value.index(word), len(word))
    assert (place.line, place.column, place.length) == (line, column, len(word))


def test_a_place_past_the_end_is_the_end() -> None:
    document, scalar = document_of("a: 'one'\n")
    place = document.place_within(scalar, 3, 1)
    assert (place.column, place.length) == (8, 1)
    assert document.place_within(scalar, 99, 9).column == 8


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1)


@given(WORDS)
def test_single_quoted_text_is_aligned_character_by_character(value: str) -> None:
    quoted = value.replace("'", "''")
    document, scalar = document_of(f"a: '{quoted}'\n")
    assert scalar.value == value
    for offset, character in enumerate(value):
        place = document.place_within(scalar, offset, 1)
        assert document.text[place.column - 1] == character
