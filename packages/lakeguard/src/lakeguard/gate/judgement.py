"""What a compiled rule asks of the data, and what the answers are held against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from lakeguard_sdk.measure import Measure, measure_key

Scalar = Decimal | date | datetime
"""An exact value: every number is a Decimal; two scalars of one column compare."""


@dataclass(frozen=True)
class Asked:
    """A measure and the name under which evidence answers it."""

    measure: Measure

    @cached_property
    def key(self) -> str:
        return measure_key(self.measure)


def ask(measure: Measure) -> Asked:
    return Asked(measure)


@dataclass(frozen=True)
class Bounds:
    """Both ends belong to it; None is open. ``data_type`` is that of the value held to it."""

    data_type: str
    low: Scalar | None = None
    high: Scalar | None = None
    summed: bool = False
    """Whether the value comes of adding doubles, which evidence rounds."""

    @property
    def crossed(self) -> bool:
        """Whether nothing can lie between them."""
        low: Any = self.low
        return low is not None and self.high is not None and low > self.high


@dataclass(frozen=True)
class RowsJudged:
    """So many failing rows of so many rows; the extremes are there to name the worst value."""

    failed: Asked
    scope: Asked
    extremes: tuple[Asked, Asked] | None = None
    bounds: Bounds | None = None

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.failed, self.scope, *(self.extremes or ()))


@dataclass(frozen=True)
class ValueJudged:
    """One value against bounds, or against the rule's thresholds where there are none."""

    subject: str
    value: Asked
    bounds: Bounds

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.value,)


Judgement = RowsJudged | ValueJudged
