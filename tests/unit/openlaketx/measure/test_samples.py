"""Samples of distinct values: the same ones each time, and how many hold a pattern."""

from __future__ import annotations

import hashlib
import random
import re
import unicodedata
from pathlib import Path

import pytest

from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import SampleMatches, measure_key
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure import take_measures
from tests.property.measure.staging import staged

SCHEMA = TableSchema(columns=(Column(name="it's", type="string"),))
TEXT = ColumnRef(name="it's", type="string")
CHANCE = random.Random(7)
VALUES = [
    None,
    "",
    "123-45-6789",
    "call 123-45-6789 now",
    "line\n123-45-6789\nline",
    "ünïcode 123-45-6789 ☃",
    "12-345",
    "\uff11\uff12\uff13-\uff14\uff15-\uff16\uff17\uff18\uff19",
    "123\u200b-45\u2060-67\ufe0f89",
    "123\x01-45\x7f-67\u280089",
    "123-4\x085-6789",
    "ⅻ ﬁ ⑫",
    *(f"{CHANCE.randrange(1000):03d}-{CHANCE.randrange(100):02d}" for _ in range(40)),
]


def expected(values: list[str | None], pattern: str, sample: int) -> int:
    """By the letter of the measure's definition."""
    distinct = {value for value in values if value is not None}
    chosen = sorted(distinct, key=lambda value: (hashlib.md5(value.encode()).hexdigest(), value))  # noqa: S324 - no secret
    return sum(
        any(re.search(pattern, text, re.ASCII) for text in (value, as_read(value)))
        for value in chosen[:sample]
    )


def as_read(text: str) -> str:
    """Character by character, for those of the values."""
    shown = (c for c in text if c in "\t\n\r" or unicodedata.category(c) not in ("Cc", "Cf"))
    shown = (c for c in shown if c != "\u2800" and not "\ufe00" <= c <= "\ufe0f")
    return "".join(unicodedata.normalize("NFKC", c) for c in shown)


@pytest.mark.parametrize("sample", [1, 5, 20, 10_000])
@pytest.mark.parametrize(
    "pattern",
    ["[0-9]{3}-[0-9]{2}-[0-9]{4}", "[0-4]", "a|6", "☃", "fi 12", "xii", "\\n1", "no such text"],
)
def test_a_sample_is_the_same_in_whatever_order_rows_come(
    tmp_path: Path, pattern: str, sample: int
) -> None:
    measure = SampleMatches(column=TEXT, pattern=pattern, sample=sample)
    for turn, values in enumerate((VALUES, VALUES[::-1], [*VALUES, *VALUES])):
        subject = staged(tmp_path / str(turn), [{"it's": value} for value in values], [], SCHEMA)
        measured = take_measures([measure], subject)
        assert measured.values == {measure_key(measure): expected(values, pattern, sample)}


def test_no_row_is_no_value(tmp_path: Path) -> None:
    measure = SampleMatches(column=TEXT, pattern="[0-9]")
    assert take_measures([measure], staged(tmp_path, [], [], SCHEMA)).values == {
        measure_key(measure): 0
    }
