"""Compiled checks: the measures a rule needs and the limits they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from lakeguard_sdk.expressions.aggregates import TotalValue
from lakeguard_sdk.expressions.measures import Measure, measure_key

Scalar = Decimal | date | datetime
"""An exact value: numbers are Decimals; scalars of one column are comparable."""


@dataclass(frozen=True)
class MeasureRef:
    """A measure and its key in evidence."""

    measure: Measure

    @cached_property
    def key(self) -> str:
        return measure_key(self.measure)


def measure_ref(measure: Measure) -> MeasureRef:
    return MeasureRef(measure)


@dataclass(frozen=True)
class Bounds:
    """Inclusive bounds; None is open. ``data_type`` is the type of the compared value."""

    data_type: str
    low: Scalar | None = None
    high: Scalar | None = None
    summed: bool = False
    """Whether the value is a sum of doubles, which evidence rounds."""

    @property
    def crossed(self) -> bool:
        """Whether no value lies within the bounds."""
        low: Any = self.low
        return low is not None and self.high is not None and low > self.high


@dataclass(frozen=True)
class RowCheck:
    """Failing rows among the rows in scope; the extremes only name the worst value."""

    failed: MeasureRef
    scope: MeasureRef
    extremes: tuple[MeasureRef, MeasureRef] | None = None
    bounds: Bounds | None = None

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.failed, self.scope, *(self.extremes or ()))


BandKind = Literal["last", "mad", "weekday", "hour"]


@dataclass(frozen=True)
class Past:
    """Bounds from history: the last value plus or minus a share of it, or the median plus or minus
    ``k`` spreads."""

    band: BandKind
    change: Decimal = Decimal(0)
    """In per cent of the last value."""
    k: Decimal = Decimal(3)
    least: int = 1
    """With fewer earlier values there is no band, and the static bounds apply."""
    over: int = 1
    """How many versions to look back."""


@dataclass(frozen=True)
class ValueCheck:
    """One value compared with bounds, or with thresholds if there are no bounds."""

    subject: str
    value: MeasureRef
    bounds: Bounds
    past: Past | None = None

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.value,)


@dataclass(frozen=True)
class ShareCheck:
    """A percentage, or its complement; undefined for no rows."""

    subject: str
    part: MeasureRef
    whole: MeasureRef
    bounds: Bounds
    rest: bool = False
    past: Past | None = None

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.part, self.whole)


@dataclass(frozen=True)
class MostCommonCheck:
    """The most common value must be the one that ``held`` counts; its share is checked too."""

    share: ShareCheck
    held: MeasureRef
    value: str

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (*self.share.measures, self.held)


@dataclass(frozen=True)
class GroupCheck:
    """Rows of the groups whose value is out of bounds."""

    subject: str
    failed: MeasureRef
    scope: MeasureRef
    groups: MeasureRef
    worst: MeasureRef
    bounds: Bounds

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.failed, self.scope, self.groups, self.worst)


@dataclass(frozen=True)
class AgeCheck:
    """Age of the newest or oldest value at decision time; without ``most`` it only must not be in
    the future."""

    subject: str
    newest: MeasureRef
    data_type: str
    most: timedelta | None
    which: Literal["newest", "oldest"] = "newest"

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.newest,)


@dataclass(frozen=True)
class SetDriftCheck:
    """Values added or removed since the last published version."""

    subject: str
    values: MeasureRef
    new: int | None
    gone: int | None

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.values,)


LOOKBACK = 5
"""How many versions back to search for one with rows to compare with."""


LEAST_SHARE = Decimal("0.0001")
"""Share assumed for an empty bin of a distribution; the index would be infinite otherwise."""
HIGHEST_INDEX = Decimal("18.43")
"""No index reaches it: shares differ by 2 in total, and logarithms by ln(1 / LEAST_SHARE)."""


@dataclass(frozen=True)
class DistributionCheck:
    """Distance of the distribution from that of the last published version with values."""

    subject: str
    spread: MeasureRef
    data_type: str
    most: Decimal

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.spread,)


@dataclass(frozen=True)
class ShareGrowthCheck:
    """Growth of a share, in percentage points, since the last version with rows."""

    subject: str
    part: MeasureRef
    whole: MeasureRef
    most: Decimal

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return (self.part, self.whole)


@dataclass(frozen=True)
class FileCheck:
    """Files of the run: their number, or whether one belongs to a partition."""

    bounds: Bounds
    partition: tuple[str, str] | None = None

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return ()


@dataclass(frozen=True)
class SchemaCheck:
    """Answered by the declared columns alone."""

    holds: bool
    found: str
    bounds: Bounds | None = None
    """Of the number of columns."""

    @property
    def measures(self) -> tuple[MeasureRef, ...]:
        return ()


@dataclass(frozen=True)
class FormulaCheck:
    """A value computed from several measures, compared with bounds or thresholds."""

    subject: str
    measures: tuple[MeasureRef, ...]
    """Terms, in the order that the formula refers to."""
    formula: TotalValue
    bounds: Bounds


Check = (
    RowCheck
    | FormulaCheck
    | ValueCheck
    | ShareCheck
    | MostCommonCheck
    | GroupCheck
    | AgeCheck
    | SetDriftCheck
    | DistributionCheck
    | ShareGrowthCheck
    | FileCheck
    | SchemaCheck
)


def history_depth(check: Check) -> int:
    """How many earlier versions the check needs."""
    match check:
        case ValueCheck(past=Past(over=over)) | ShareCheck(past=Past(over=over)):
            return over
        case MostCommonCheck(share=share):
            return history_depth(share)
        case DistributionCheck() | ShareGrowthCheck():
            return LOOKBACK
        case SetDriftCheck():
            return 1
    return 0
