"""Samples of values that hold a pattern: the question of policies on personal data."""

from __future__ import annotations

import re
from hashlib import md5

from lakeguard_sdk.expressions.conditions import (
    ColumnRef,
    Compare,
    Comparison,
    Value,
)
from lakeguard_sdk.expressions.measures import SampleMatches
from tests.property.measure.macro_oracle import Data
from tests.property.measure.scalar_oracle import text_as_read

_PATTERNS = {"[0-9]{2}": r"[0-9]{2}", "[a-z]+@": r"[a-z]+@", "é": "é", "a[^\\n]": r"a[^\n]"}
_A = Compare(
    op=Comparison.EQ, left=ColumnRef(name="k", type="string"), right=Value(type="string", text="a")
)
_ASKED = (("s", "[0-9]{2}", 5, None), ("s", "é", 10_000, None), ("s", "a[^\\n]", 10_000, _A))
_ASKED += (("email", "[a-z]+@", 4, None), ("email", "[a-z]+@", 10_000, _A))
SAMPLES = [
    SampleMatches(
        column=ColumnRef(name=column, type="string"), pattern=pattern, sample=most, where=where
    )
    for column, pattern, most, where in _ASKED
]


def sampled(measure: SampleMatches, data: Data) -> int:
    """Of the different texts those with the lowest digests: how many hold the pattern."""
    rows = [row for row in data.batch if measure.where is None or row["k"] == "a"]
    texts = {row[measure.column.name] for row in rows} - {None}
    chosen = sorted(texts, key=lambda text: md5(text.encode()).hexdigest())[: measure.sample]  # noqa: S324 - an order, no secret
    pattern = _PATTERNS[measure.pattern]
    return sum(
        any(re.search(pattern, form) for form in (text, text_as_read(text))) for text in chosen
    )
