"""Texts as people read them: what cannot be seen hides nothing."""

from __future__ import annotations

import sys
import unicodedata

import pyarrow as pa
import pytest

from openlaketx.engine.duckdb_reader import NFKC, duckdb_reader
from openlaketx.engine.nfkc_text import nfkc_text, nfkc_texts

LINES = "\t\n\r"
IGNORABLE = [
    *"\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0",
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xFFF0, 0xFFF9)),
    *map(chr, range(0xE0000, 0xE1000)),
]
"""Default_Ignorable_Code_Point of Unicode, besides format characters."""
BLANK = "\u2800\U00013441\U00013442\U0001d159"
HIDDEN = [
    *(
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf") and chr(code) not in LINES
    ),
    *IGNORABLE,
    *BLANK,
]


def test_what_cannot_be_seen_is_removed() -> None:
    assert [ascii(c) for c in HIDDEN if nfkc_text(f"123-45-6{c}789") != "123-45-6789"] == []


@pytest.mark.parametrize("text", ["", "a\tb", "a\r\nb", "~ plain!", "é", "\u4e2d", "1\u20282"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert nfkc_text(text) == text


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrays_are_changed_text_by_text(kind: pa.DataType) -> None:
    texts = ["plain", None, "a\x00b", "\uff11\u200b", "", "x\x7f", "a\tb", "\xe9"]
    changed = ["plain", None, "ab", "1", "", "x", "a\tb", "\xe9"]
    array = pa.array(["left out", *texts], kind).slice(1)
    assert nfkc_texts(array).to_pylist() == changed
    assert nfkc_texts(array).type == pa.string()
    assert nfkc_texts(array.slice(0, 2)).to_pylist() == ["plain", None]
    assert nfkc_texts(array.slice(0, 0)).to_pylist() == []
    assert nfkc_texts(pa.chunked_array([array, array])).to_pylist() == changed * 2


def test_duckdb_reads_texts_alike() -> None:
    texts = [f"1{c}2" for c in (*HIDDEN, *LINES, "a", "\xe9", "\uff11")]
    with duckdb_reader() as reader:
        found = reader.rows(f"SELECT {NFKC}(unnest($texts))", {"texts": texts})
    assert [row[0] for row in found] == [nfkc_text(text) for text in texts]
