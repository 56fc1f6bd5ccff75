"""Texts as people read them: each character in its NFKC form, invisible characters removed.

The table comes from Python's Unicode data, so that every engine uses the same one.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import pyarrow as pa

_SURROGATES = range(0xD800, 0xE000)
_INVISIBLE = (
    range(0x034F, 0x0350),
    range(0x115F, 0x1161),
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x3164, 0x3165),
    range(0xFE00, 0xFE10),
    range(0xFFA0, 0xFFA1),
    range(0xE0000, 0xE1000),
)
"""Ignorable characters besides those of category Cf: joiners, fillers, variation selectors."""


@cache
def nfkc_table() -> dict[int, str]:
    """The characters that change, each with its replacement."""
    table: dict[int, str] = {}
    for code in range(0x80, 0x110000):
        if code in _SURROGATES:
            continue
        character = chr(code)
        if unicodedata.category(character) == "Cf" or any(code in part for part in _INVISIBLE):
            table[code] = ""
        elif (normal := unicodedata.normalize("NFKC", character)) != character:
            table[code] = normal
    return table


def nfkc_text(text: str) -> str:
    return text.translate(nfkc_table())


def nfkc_texts(texts: pa.Array) -> pa.Array:
    """``nfkc_text`` of every text; NULL stays NULL."""
    found = (None if text is None else nfkc_text(text) for text in texts.to_pylist())
    return pa.array(found, pa.string())
