"""Texts as people read them: each character in its NFKC form, invisible characters removed.

The table comes from Python's Unicode data, so that every engine uses the same one.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

_SURROGATES = range(0xD800, 0xE000)
_SEEN = "\t\n\r"
"""Control characters that separate words and lines."""
_INVISIBLE = (
    range(0x034F, 0x0350),
    range(0x115F, 0x1161),
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x2065, 0x2066),
    range(0x2800, 0x2801),
    range(0x3164, 0x3165),
    range(0xFE00, 0xFE10),
    range(0xFFA0, 0xFFA1),
    range(0xFFF0, 0xFFF9),
    range(0x13441, 0x13443),
    range(0x1D159, 0x1D15A),
    range(0xE0000, 0xE1000),
)
"""Besides control and format characters: all that Unicode has programs ignore by default (joiners,
fillers, variation selectors, unassigned ones), and characters that are blank."""
SPECIAL = r"[^\t\n\r -~]"
"""A text without such a character is plain and does not change. For any engine of patterns."""


@cache
def nfkc_table() -> dict[int, str]:
    """The characters that change, each with its replacement."""
    table: dict[int, str] = {}
    for code in range(0x110000):
        if code in _SURROGATES:
            continue
        character = chr(code)
        if _is_invisible(character):
            table[code] = ""
        elif (normal := unicodedata.normalize("NFKC", character)) != character:
            table[code] = normal
    return table


def _is_invisible(character: str) -> bool:
    if unicodedata.category(character) in ("Cc", "Cf"):
        return character not in _SEEN
    return any(ord(character) in part for part in _INVISIBLE)


def nfkc_text(text: str) -> str:
    return text.translate(nfkc_table())


def nfkc_texts(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """``nfkc_text`` of every text; NULL stays NULL. Plain texts take no time of Python."""
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    texts = texts.cast(pa.string())
    special = pc.fill_null(pc.match_substring_regex(texts, SPECIAL), False)
    if not special.true_count:
        return texts
    changed = [nfkc_text(text) for text in texts.filter(special).to_pylist()]
    return pc.replace_with_mask(texts, special, pa.array(changed, pa.string()))
