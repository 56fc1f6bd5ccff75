"""What data says, a terminal never obeys."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.services.plain_text import escaped, escaped_lines


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    for character in escaped(text):
        assert character == " " or unicodedata.category(character) not in (
            "Cc", "Cf", "Cs", "Co", "Zl", "Zp",
        )  # fmt: skip


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert escaped(text) == text


def test_escapes_are_spelt_out() -> None:
    assert escaped("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert escaped("a\nb\tc\r") == "a\\nb\\tc\\r"
    assert escaped("a\u202eb\u2028c") == "a\\u202eb\\u2028c"
    assert escaped("\x9b31m") == "\\x9b31m"
    assert escaped("\U000e0041") == "\\U000e0041"


def test_lines_stay_lines_where_they_may() -> None:
    assert escaped_lines("one\ntwo\x07") == ["one", "two\\x07"]
