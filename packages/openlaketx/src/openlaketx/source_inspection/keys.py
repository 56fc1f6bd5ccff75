"""Proposes a key that is unique in the sampled rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from openlaketx.source_inspection.sample_rows import SampleRows

_SINGLE = re.compile(r"string|integer|long|date|decimal\([0-9]+,0\)")
_IN_PAIRS = re.compile(_SINGLE.pattern + r"|timestamp|timestamp_ntz")
_SOUNDS = re.compile(r"(^|[_ ])(id|key|code|no|nr|number|uuid|guid)$|[a-z]I[dD]$", re.IGNORECASE)
_MANY = 1_000
"""From this many rows on, a column may be a key even if its name does not suggest it."""
_WIDEST = 8
"""Columns that are tried in pairs."""


@dataclass(frozen=True)
class KeyColumn:
    """A column without NULLs, and its index among the sampled rows."""

    at: int
    name: str
    type: str

    @property
    def sounds_like_one(self) -> bool:
        return bool(_SOUNDS.search(self.name))


def find_keys(rows: SampleRows, columns: Sequence[KeyColumn]) -> tuple[str, ...]:
    """One column, else two, without duplicates; columns with a key-like name first.

    In few rows nearly everything is unique, so there a key needs a key-like name or must be the
    first column.
    """
    if rows.count < 2:
        return ()
    likely = sorted(columns, key=lambda column: (not column.sounds_like_one, column.at))
    for column in likely:
        believed = column.sounds_like_one or column.at == 0 or rows.count >= _MANY
        if believed and _SINGLE.fullmatch(column.type) and _unique(rows, column):
            return (column.name,)
    able = [column for column in likely if _IN_PAIRS.fullmatch(column.type)]
    for pair in combinations(able[:_WIDEST], 2):
        believed = pair[0].sounds_like_one or rows.count >= _MANY
        if believed and _unique(rows, *pair):
            return tuple(column.name for column in sorted(pair, key=lambda column: column.at))
    return ()


def _unique(rows: SampleRows, *columns: KeyColumn) -> bool:
    value = ", ".join(f"c{column.at:d}" for column in columns)
    about = rows.ask(f"SELECT approx_count_distinct(({value})) FROM seen")[0][0]  # noqa: S608
    if about < rows.count // 2:
        return False
    exact = rows.ask(f"SELECT count(DISTINCT ({value})) FROM seen")[0][0]  # noqa: S608
    return int(exact) == rows.count
