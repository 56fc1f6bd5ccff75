"""Sketches: how many different values, and where they lie, in a form that can be merged.

The bytes are those of Apache DataSketches, so that Spark and other tools open them too. They do not
say what was put in: a sketch of long numbers reads as one of doubles, without a complaint. So each
has a tag, and only sketches with the same tag are merged.
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
"""As a power of two: with these an estimate is off by 1.6 % as a rule."""
_RETAINED = 400
"""With these a quantile is off by 0.7 % of the rows at most, as a rule."""
_AT_ONCE = 1_000_000


class DistinctSketch:
    """Fed with each value at least once; how often, makes no difference. DataSketches takes an
    empty text for nothing, in every language."""

    def __init__(self) -> None:
        self._sketch = hll_sketch(_REGISTERS)

    def feed(self, values: Iterable[int | float | str]) -> None:
        deque(map(self._sketch.update, values), maxlen=0)

    def told(self, type_tag: str) -> Sketch:
        return _told(HLL, type_tag, self._sketch.serialize_compact())


class QuantileSketch:
    """Fed with numbers and how many rows have each; NaN is none."""

    def __init__(self) -> None:
        self._sketch = kll_doubles_sketch(_RETAINED)

    def feed(self, numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
        for piece in _row_by_row(numbers, rows):
            self._sketch.update(piece)

    def quantiles(self, shares: Iterable[float]) -> list[float]:
        """Of no numbers, none."""
        return [] if self._sketch.is_empty() else _quantiles(self._sketch, shares)

    def told(self, type_tag: str) -> Sketch:
        return _told(KLL, type_tag, self._sketch.serialize())


def merged(first: Sketch, second: Sketch) -> Sketch:
    """The sketch of all that is in either; ValueError where they hold different things."""
    if (first.kind, first.type_tag) != (second.kind, second.type_tag):
        raise ValueError(
            f"a {first.kind} of {first.type_tag} and a {second.kind} of {second.type_tag}"
            " hold different things"
        )
    if first.kind == KLL:
        both = kll_doubles_sketch.deserialize(b64decode(first.data))
        both.merge(kll_doubles_sketch.deserialize(b64decode(second.data)))
        return _told(KLL, first.type_tag, both.serialize())
    union = hll_union(_REGISTERS)
    for sketch in (first, second):
        union.update(hll_sketch.deserialize(b64decode(sketch.data)))
    return _told(HLL, first.type_tag, union.get_result().serialize_compact())


def distinct_in(sketch: Sketch) -> float:
    """The estimate of different values."""
    return float(hll_sketch.deserialize(b64decode(sketch.data)).get_estimate())


def quantiles_in(sketch: Sketch, shares: Iterable[float]) -> list[float]:
    found = kll_doubles_sketch.deserialize(b64decode(sketch.data))
    return [] if found.is_empty() else _quantiles(found, shares)


def _quantiles(sketch: kll_doubles_sketch, shares: Iterable[float]) -> list[float]:
    """The least value that so large a share of the rows does not exceed."""
    return [float(sketch.get_quantile(share, True)) for share in shares]


def _row_by_row(
    numbers: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]
) -> Iterator[np.ndarray[Any, Any]]:
    """Each number as often as it has rows, never too many at once."""
    often = rows > _AT_ONCE // 10
    few_numbers, few = numbers[~often], rows[~often]
    places = np.cumsum(few) // _AT_ONCE
    for place in np.unique(places):
        here = places == place
        yield np.repeat(few_numbers[here], few[here])
    for number, count in zip(numbers[often], rows[often], strict=True):
        for done in range(0, int(count), _AT_ONCE):
            yield np.full(min(_AT_ONCE, int(count) - done), number)


def _told(kind: str, type_tag: str, data: bytes) -> Sketch:
    return Sketch(kind=kind, type_tag=type_tag, data=b64encode(data).decode())
