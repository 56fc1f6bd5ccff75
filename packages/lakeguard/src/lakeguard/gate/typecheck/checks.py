"""What a compiled rule asks of the data, and what the answers are held against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from lakeguard_sdk.expressions.aggregates import TotalValue
from lakeguard_sdk.expressions.measures import Measure, measure_key

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


BandKind = Literal["last", "mad", "weekday", "hour"]


@dataclass(frozen=True)
class Past:
    """Bounds that earlier versions give: the last one's value and a share of it to either side,
    or the median of many and ``k`` spreads to either side."""

    band: BandKind
    change: Decimal = Decimal(0)
    """In per cent of the last value."""
    k: Decimal = Decimal(3)
    least: int = 1
    """With fewer earlier values there is no band, and the static bounds hold."""
    over: int = 1
    """How many versions it looks back."""


@dataclass(frozen=True)
class ValueJudged:
    """One value against bounds, or against the rule's thresholds where there are none."""

    subject: str
    value: Asked
    bounds: Bounds
    past: Past | None = None

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.value,)


@dataclass(frozen=True)
class ShareJudged:
    """So much of so much in per cent, or the rest of it; of nothing there is no share."""

    subject: str
    part: Asked
    whole: Asked
    bounds: Bounds
    rest: bool = False
    past: Past | None = None

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.part, self.whole)


@dataclass(frozen=True)
class CommonJudged:
    """The value that most rows have must be the one that ``held`` counts, besides its share."""

    share: ShareJudged
    held: Asked
    value: str

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (*self.share.asked, self.held)


@dataclass(frozen=True)
class GroupsJudged:
    """The rows of groups whose value is beyond the bounds, of so many rows."""

    subject: str
    failed: Asked
    scope: Asked
    groups: Asked
    worst: Asked
    bounds: Bounds

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.failed, self.scope, self.groups, self.worst)


@dataclass(frozen=True)
class AgeJudged:
    """The time from the greatest or least value to the decision, which may be so long; a most of
    None asks only that it has begun."""

    subject: str
    newest: Asked
    data_type: str
    most: timedelta | None
    which: Literal["newest", "oldest"] = "newest"

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.newest,)


@dataclass(frozen=True)
class DriftJudged:
    """Values that the last published version did not have, or that are gone since."""

    subject: str
    values: Asked
    new: int | None
    gone: int | None

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.values,)


REACH = 5
"""So many versions back the last one with rows is looked for, which a batch is compared with."""


@dataclass(frozen=True)
class SpreadJudged:
    """How far the spread of values is from that of the last published version with values."""

    subject: str
    spread: Asked
    data_type: str
    most: Decimal

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.spread,)


@dataclass(frozen=True)
class GrowthJudged:
    """By how much, in points of a per cent, a share is above that of the last version with rows."""

    subject: str
    part: Asked
    whole: Asked
    most: Decimal

    @property
    def asked(self) -> tuple[Asked, ...]:
        return (self.part, self.whole)


@dataclass(frozen=True)
class FilesJudged:
    """The files that a run brings: their number, or whether one is of a partition."""

    bounds: Bounds
    partition: tuple[str, str] | None = None

    @property
    def asked(self) -> tuple[Asked, ...]:
        return ()


@dataclass(frozen=True)
class Settled:
    """What the declared columns alone answer."""

    holds: bool
    found: str

    @property
    def asked(self) -> tuple[Asked, ...]:
        return ()


@dataclass(frozen=True)
class FormulaJudged:
    """A value that is reckoned out of several, against bounds or thresholds."""

    subject: str
    asked: tuple[Asked, ...]
    """The terms, in the order in which the formula counts them."""
    formula: TotalValue
    bounds: Bounds


Judgement = (
    RowsJudged
    | FormulaJudged
    | ValueJudged
    | ShareJudged
    | CommonJudged
    | GroupsJudged
    | AgeJudged
    | DriftJudged
    | SpreadJudged
    | GrowthJudged
    | FilesJudged
    | Settled
)


def looks_back(judgement: Judgement) -> int:
    """How many earlier versions it is held against."""
    match judgement:
        case ValueJudged(past=Past(over=over)) | ShareJudged(past=Past(over=over)):
            return over
        case CommonJudged(share=share):
            return looks_back(share)
        case SpreadJudged() | GrowthJudged():
            return REACH
        case DriftJudged():
            return 1
    return 0
