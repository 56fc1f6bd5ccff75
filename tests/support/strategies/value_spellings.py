"""Texts at the borders of what spells a value."""

from __future__ import annotations

from functools import cache
from itertools import product

from openlaketx.source_inspection.sample_rows import sample_rows
from openlaketx.source_inspection.type_inference import text_facts

_NUMBERS = (
    "0", "-0", "1", "-1", "+1", "00", "01", "-01", "1.", ".5", "-.5", "1.50", "1.500000",
    "0.1234567", "1e5", "1E-5", "1e400", "-1e400", "1e", "e1", ".", "-", "+", "1_000", "1,5",
    "0x10", "1 ", " 1", "1\n", "\t1", "127", "128", "32768", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "9" * 38, "9" * 39, "1.7976931348623157e308", "1.8e308", "5e-324",
    "NaN", "Infinity", "-inf", "٣", "²",
)  # fmt: skip
_WORDS = ("true", "TRUE", "tRuE", "false", "t", "yes", "1true", "NULL", "null", "NA", "\x00", "é")
_DAYS = (
    "2026-01-05", "0001-01-01", "9999-12-31", "0000-01-01", "2026-02-29", "2024-02-29",
    "2026-13-01", "2026-1-5", "26-01-05", "2026/01/05", "2026-01-05x", "2026", "2026-01",
    "1582-10-10",
)  # fmt: skip
_TIMES = ("23:59:59", "24:00:00", "08:12", "08:12:30.1", "08:12:30.1234567", "08:12:30.")
_ZONES = ("", "Z", "z", "+00:00", "-14:59", "+15:00", "+0100", " UTC")
_MOMENTS = (
    *("2026-02-30 08:00:00", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00"),
    *("2026-01-05t08:00:00", "2026-01-05 23:60:00Z", "2026-01-05 08:12:30.123456-00:30"),
    *map("".join, product(("2026-01-05", "9999-12-31"), ("T", " "), _TIMES, _ZONES)),
)

SPELLINGS: tuple[str, ...] = tuple(dict.fromkeys((*_NUMBERS, *_WORDS, *_DAYS, *_MOMENTS)))


@cache
def looked_types() -> dict[str, str]:
    """The type that a look proposes for each text by itself."""
    with sample_rows() as rows:
        rows.add_texts([[text] for text in SPELLINGS])
        return {text: text_facts(rows, at).type for at, text in enumerate(SPELLINGS)}
