"""Profiles one column from its distinct values and their counts."""

from __future__ import annotations

import math
import string
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.profile import (
    SHARES,
    ColumnProfile,
    Frequent,
    Sketch,
)
from lakeguard_sdk.model.row_sample import LONGEST_TEXT
from lakeguard_sdk.types.schema import Column
from openlaketx.engine.duckdb_reader import DuckdbReader
from openlaketx.measure.runner import Relation
from openlaketx.measure.sql.condition_sql import quoted
from openlaketx.measure.sql.value_text import rounded
from openlaketx.profile.column_kinds import Kind
from openlaketx.profile.sketches import DistinctSketch, QuantileSketch

# Mean and standard deviation, computed in chunks.


class Moments:
    """Of the rows so far, without NaN. Squares are taken from the mean of each chunk, which keeps
    the precision of large numbers that are close together."""

    def __init__(self) -> None:
        self._rows = 0
        self._mean = 0.0
        self._squares = 0.0

    def feed(self, numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
        count = int(rows.sum())
        if not count:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(numbers @ (rows / count))
            squares = float(((numbers - mean) ** 2) @ rows)
        both = self._rows + count
        apart = mean - self._mean
        self._mean += apart * (count / both)
        try:
            between = apart**2 * (self._rows * count / both)
        except OverflowError:
            between = math.inf
        self._squares += squares + between
        self._rows = both

    @property
    def mean(self) -> float | None:
        """None without rows, or if it is not finite."""
        return _finite(self._mean) if self._rows else None

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation; None below two rows."""
        return _finite(math.sqrt(self._squares / (self._rows - 1))) if self._rows > 1 else None


def _finite(value: float) -> float | None:
    number = rounded(value)
    return number if isinstance(number, float) else None


# Text patterns: the shape of a text without its letters and digits.

LONGEST = 60
"""Characters of a text that form its pattern; longer texts end in ``…``."""

_START = f"left(value, {LONGEST})"
_PLAIN = (
    f"translate({_START}, '{string.ascii_lowercase}{string.ascii_uppercase}{string.digits}',"
    f" '{'a' * 26}{'A' * 26}{'9' * 10}')"
)
_ANY = (
    f"regexp_replace(regexp_replace(regexp_replace({_START}, '[\\p{{Lu}}\\p{{Lt}}]', 'A', 'g'),"
    " '[\\p{Ll}\\p{Lm}\\p{Lo}]', 'a', 'g'), '\\p{Nd}', '9', 'g')"
)
_PATTERN = (
    f"CASE WHEN strlen(value) = length(value) THEN {_PLAIN} ELSE {_ANY} END"
    f" || CASE WHEN length(value) > {LONGEST} THEN '…' ELSE '' END"
)
"""ASCII classes match many times faster."""

PATTERNS = f"SELECT {_PATTERN} AS value, sum(rows) AS rows FROM lg_values GROUP BY 1"  # noqa: S608
"""Over the counted values of a text column."""


MOST_LISTED = 10
_AT_ONCE = 200_000
_COUNTED = (
    "CREATE OR REPLACE TEMP TABLE lg_values AS SELECT {value} AS value, count(*) AS rows"
    " FROM {origin} WHERE {column} IS NOT NULL GROUP BY 1"
)
_TOTALS = "SELECT count(*), coalesce(sum(rows), 0) FROM lg_values"
_EXTREMES = "SELECT min(value), max(value), coalesce(sum(rows), 0) FROM lg_values WHERE {ordered}"
_VALUES = "SELECT value, rows FROM lg_values"
_FREQUENT = (
    "WITH lg_listed AS MATERIALIZED ({counts}) SELECT value, rows FROM lg_listed"
    " WHERE rows > 1 OR (SELECT count(*) FROM lg_listed) <= {most:d}"
    " ORDER BY rows DESC, value LIMIT {most:d}"
)
_LENGTHS = (
    "SELECT min(length(value)), max(length(value)), sum(length(value) * rows) / sum(rows)"
    " FROM lg_values"
)
_FED = "SELECT {hashed} AS hashed, {number} AS number, rows FROM lg_values"


def column_profile(
    reader: DuckdbReader, origin: Relation, total: int, column: Column, kind: Kind
) -> ColumnProfile:
    """All statistics of a column; ``total`` is the row count."""
    counted = _COUNTED.format(value=kind.value, origin=origin.text, column=quoted(column.name))
    reader.rows(counted, origin.parameters)
    distinct, present = map(int, reader.row(_TOTALS, {}))
    ordered = "NOT isnan(value)" if kind.floating else "TRUE"
    least, greatest, placed = reader.row(_EXTREMES.format(ordered=ordered), {})
    fed = _fed(reader, kind)
    return ColumnProfile(
        column=column.name,
        type=column.type,
        nulls=total - present,
        nans=present - int(placed),
        distinct=distinct,
        least=_shown(kind, least),
        greatest=_shown(kind, greatest),
        mean=fed.moments.mean if kind.averaged else None,
        deviation=fed.moments.deviation if kind.averaged else None,
        quantiles=_quantiles(kind, fed.quantiles),
        top=_frequent(reader, kind, _VALUES),
        lengths=_lengths(reader) if kind.text and distinct else None,
        patterns=_frequent(reader, kind, PATTERNS) if kind.text else (),
        sketches=_sketches(kind, fed),
    )


@dataclass(frozen=True)
class _Fed:
    """Accumulators that receive every distinct value."""

    distinct: DistinctSketch
    quantiles: QuantileSketch
    moments: Moments

    def feed(self, batch: pa.RecordBatch, *, numbers: bool) -> None:
        self.distinct.feed(batch.column("hashed").to_pylist())
        if numbers:
            found = batch.column("number").to_numpy(zero_copy_only=False)
            rows = batch.column("rows").to_numpy(zero_copy_only=False)
            there = ~np.isnan(found)
            self.quantiles.feed(found[there], rows[there])
            self.moments.feed(found[there], rows[there])


def _fed(reader: DuckdbReader, kind: Kind) -> _Fed:
    fed = _Fed(DistinctSketch(), QuantileSketch(), Moments())
    query = _FED.format(hashed=kind.hashed, number=kind.number or "0")
    for batch in reader.batches(query, {}, _AT_ONCE):
        fed.feed(batch, numbers=kind.number is not None)
    return fed


def _sketches(kind: Kind, fed: _Fed) -> tuple[Sketch, ...]:
    distinct = fed.distinct.sketch(kind.tag)
    return (distinct,) if kind.number is None else (distinct, fed.quantiles.sketch(kind.tag))


def _quantiles(kind: Kind, sketch: QuantileSketch) -> dict[str, MeasureValue]:
    """Empty without numbers."""
    if kind.number is None:
        return {}
    found = sketch.quantiles(map(float, SHARES))
    return {
        share: _formatted(kind.place, place) for share, place in zip(SHARES, found, strict=False)
    }


def _frequent(reader: DuckdbReader, kind: Kind, counts: str) -> tuple[Frequent, ...]:
    """The most frequent first, ties in value order. If the list is truncated, values with a single
    row are left out."""
    found = reader.rows(_FREQUENT.format(counts=counts, most=MOST_LISTED), {})
    shown = ((_shown(kind, value), rows) for value, rows in found)
    return tuple(Frequent(value=_text(value), rows=int(rows)) for value, rows in shown)


def _lengths(reader: DuckdbReader) -> tuple[int, int, float]:
    shortest, longest, mean = reader.row(_LENGTHS, {})
    return int(shortest), int(longest), float(rounded(float(mean)) or 0)


def _shown(kind: Kind, value: Any) -> MeasureValue:
    formatted = _formatted(kind.decode, value)
    return _text(formatted) if isinstance(value, str) else formatted


def _formatted(decode: Any, value: Any) -> MeasureValue:
    """None for a time outside the calendar."""
    try:
        decoded: MeasureValue = decode(value)
    except (OverflowError, ValueError):
        return None
    return decoded


def _text(value: MeasureValue) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
