"""Mean and deviation of numbers that come in pieces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from openlaketx.measure.value_text import rounded


class Moments:
    """Of the rows fed so far; NaN is no number. Squares are taken from the mean of each piece, so
    that large numbers that lie close together keep their digits."""

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
        """None of no rows, and where it is no finite number."""
        return _finite(self._mean) if self._rows else None

    @property
    def deviation(self) -> float | None:
        """Of a sample: there is none of fewer than two rows."""
        return _finite(math.sqrt(self._squares / (self._rows - 1))) if self._rows > 1 else None


def _finite(value: float) -> float | None:
    told = rounded(value)
    return told if isinstance(told, float) else None
