"""What data says, a terminal never obeys."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.cli.terminal.escape import inert, inert_lines


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for character in inert(text):
        assert character == " " or unicodedata.category(character) not in (
            "Cc", "Cf", "Cs", "Co", "Zl", "Zp",
        )  # fmt: skip


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert inert(text) == text


def test_escapes_are_spelt_out() -> None:
    assert inert("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert inert("a\nb\tc\r") == "a\\nb\\tc\\r"
    assert inert("a\u202eb\u2028c") == "a\\u202eb\\u2028c"
    assert inert("\x9b31m") == "\\x9b31m"
    assert inert("\U000e0041") == "\\U000e0041"


def test_lines_stay_lines_where_they_may() -> None:
    assert inert_lines("one\ntwo\x07") == ["one", "two\\x07"]
