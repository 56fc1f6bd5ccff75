"""Mergeable sketches for distinct counts and quantiles.

The bytes are Apache DataSketches, so Spark and other tools can read them. They do not record the
input type: a sketch of longs can be read as one of doubles without an error. So each sketch has a
type tag, and only sketches with the same tag are merged.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from datasketches import hll_sketch, hll_union, kll_doubles_sketch

from lakeguard_sdk.model.profile import Sketch

HLL = "hll"
KLL = "kll"
_REGISTERS = 12
"""As a power of two: the usual error of an estimate is 1.6 %."""
_RETAINED = 400
"""The usual error of a quantile is at most 0.7 % of the rows."""
_AT_ONCE = 1_000_000


class DistinctSketch:
    """Feed each value at least once; repetitions do not matter. DataSketches ignores empty texts in
    every language."""

    def __init__(self) -> None:
        self._sketch = hll_sketch(_REGISTERS)

    def feed(self, values: Iterable[int | float | str]) -> None:
        deque(map(self._sketch.update, values), maxlen=0)

    def sketch(self, type_tag: str) -> Sketch:
        return _sketch(HLL, type_tag, self._sketch.serialize_compact())


class QuantileSketch:
    """Feed numbers with their row counts; NaN is ignored."""

    def __init__(self) -> None:
        self._sketch = kll_doubles_sketch(_RETAINED)

    def feed(self, numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
        for piece in _row_by_row(numbers, rows):
            self._sketch.update(piece)

    def quantiles(self, shares: Iterable[float]) -> list[float]:
        """Empty without numbers."""
        return [] if self._sketch.is_empty() else _quantiles(self._sketch, shares)

    def sketch(self, type_tag: str) -> Sketch:
        return _sketch(KLL, type_tag, self._sketch.serialize())


def merged(first: Sketch, second: Sketch) -> Sketch:
    """The sketch of the union; ValueError if kinds or type tags differ."""
    if (first.kind, first.type_tag) != (second.kind, second.type_tag):
        raise ValueError(
            f"cannot merge a {first.kind} sketch of {first.type_tag}"
            f" with a {second.kind} sketch of {second.type_tag}"
        )
    if first.kind == KLL:
        both = kll_doubles_sketch.deserialize(b64decode(first.data))
        both.merge(kll_doubles_sketch.deserialize(b64decode(second.data)))
        return _sketch(KLL, first.type_tag, both.serialize())
    union = hll_union(_REGISTERS)
    for sketch in (first, second):
        union.update(hll_sketch.deserialize(b64decode(sketch.data)))
    return _sketch(HLL, first.type_tag, union.get_result().serialize_compact())


def distinct_in(sketch: Sketch) -> float:
    """The estimated distinct count."""
    return float(hll_sketch.deserialize(b64decode(sketch.data)).get_estimate())


def quantiles_in(sketch: Sketch, shares: Iterable[float]) -> list[float]:
    found = kll_doubles_sketch.deserialize(b64decode(sketch.data))
    return [] if found.is_empty() else _quantiles(found, shares)


def _quantiles(sketch: kll_doubles_sketch, shares: Iterable[float]) -> list[float]:
    """The least value such that the given share of the rows does not exceed it."""
    return [float(sketch.get_quantile(share, True)) for share in shares]


def _row_by_row(
    numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]
) -> Iterator[np.ndarray[Any, Any]]:
    """Repeats each number by its row count, in chunks of limited size."""
    often = rows > _AT_ONCE // 10
    few_numbers, few = numbers[~often], rows[~often]
    places = np.cumsum(few) // _AT_ONCE
    for place in np.unique(places):
        here = places == place
        yield np.repeat(few_numbers[here], few[here])
    for number, count in zip(numbers[often], rows[often], strict=True):
        for done in range(0, int(count), _AT_ONCE):
            yield np.full(min(_AT_ONCE, int(count) - done), number)


def _sketch(kind: str, type_tag: str, data: bytes) -> Sketch:
    return Sketch(kind=kind, type_tag=type_tag, data=b64encode(data).decode())
