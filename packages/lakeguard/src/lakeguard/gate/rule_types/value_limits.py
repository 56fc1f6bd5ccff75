"""Limits of rules about a value: bounds, thresholds or history."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import get_args

from lakeguard.gate.grammar.literals import Number, Text, number_text
from lakeguard.gate.grammar.rule import ParsedRule, Percent, Rule
from lakeguard.gate.rule_types.rule_type import ParameterSpec
from lakeguard.gate.typecheck.checks import (
    BandKind,
    Bounds,
    GroupCheck,
    Past,
    Scalar,
    measure_ref,
)
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard.gate.typecheck.scalars import at_evidence_precision
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    GroupBreach,
    GroupPart,
    Quantile,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS

PAST = (
    ParameterSpec(
        "change", "percent", "how far the value may be from that of the last published version"
    ),
    ParameterSpec(
        "band",
        "text",
        (
            "`'mad'`: within `k` spreads of the median of the last 30 published versions; "
            "`'weekday'` or `'hour'`: of those of the last 100 on the same weekday, or in the "
            "same hour of the day, in UTC"
        ),
    ),
    ParameterSpec(
        "k", "number", ("how many spreads of 1.4826 median absolute deviations; 3 by default")
    ),
    ParameterSpec("least", "whole", "minimum number of earlier values for a band; 8 by default"),
)
NUMBERS = (
    ParameterSpec("min", "number", "minimum, inclusive"),
    ParameterSpec("max", "number", "maximum, inclusive"),
    *PAST,
)
PERCENTS = (
    ParameterSpec("min", "percent", "minimum share, inclusive"),
    ParameterSpec("max", "percent", "maximum share, inclusive"),
    *PAST,
)
_BANDS = tuple(word for word in get_args(BandKind) if word != "last")
_LEAST, _K = 8, Decimal(3)
_RECENT, _SEASONAL = 30, 100


def check_limits(read: ParsedRule) -> None:
    """Bounds or thresholds, not both. Groups need bounds; their thresholds apply to rows. Bounds
    beside a band apply until there is enough history."""
    rule = read.rule
    low, high = rule.parameter("min"), rule.parameter("max")
    thresholds = rule.warn_if is not None or rule.fail_if is not None
    bounds = low is not None or high is not None
    past = has_past(rule)
    if rule.by:
        if not bounds:
            raise read.error("type", f"{rule.rule_type} of groups needs min, max or both")
        refuse_past(read, "groups cannot be compared with history")
    elif thresholds and (bounds or past):
        clause = "fail_if" if rule.fail_if else "warn_if"
        raise read.error(clause, "use min and max, or warn_if and fail_if, not both")
    elif not (thresholds or bounds or past):
        _check_past(read)
        raise read.error("type", f"{rule.rule_type} needs min, max, warn_if or fail_if")
    if _is_greater(low, high):
        raise read.error("parameter max", "max is less than min")
    _check_past(read)


def _is_greater(low: object, high: object) -> bool:
    if isinstance(low, Number) and isinstance(high, Number):
        return low.value > high.value
    return isinstance(low, Percent) and isinstance(high, Percent) and low.value > high.value


def _check_past(read: ParsedRule) -> None:
    rule = read.rule
    band = rule.parameter("band")
    if band is None:
        for name in ("k", "least"):
            if rule.parameter(name) is not None:
                message = f"{name} needs a band: add band="
                raise read.error(f"parameter {name}", message + " or ".join(_BANDS))
        return
    if rule.parameter("change") is not None:
        raise read.error("parameter band", "use change or band, not both")
    if not isinstance(band, Text) or band.value not in _BANDS:
        raise read.error("parameter band", f"band must be one of {', '.join(_BANDS)}")
    k, least = rule.parameter("k"), rule.parameter("least")
    if isinstance(k, Number) and k.value <= 0:
        raise read.error("parameter k", "k must be greater than 0")
    if isinstance(least, Number) and not 2 <= least.value <= _RECENT:
        raise read.error("parameter least", f"a band needs 2 to {_RECENT} earlier values")


def has_past(rule: Rule) -> bool:
    return any(rule.parameter(name) is not None for name in ("change", "band"))


def refuse_past(read: ParsedRule, reason: str) -> None:
    for spec in PAST:
        if read.rule.parameter(spec.name) is not None:
            raise read.error(f"parameter {spec.name}", reason)


def past_of(rule: Rule) -> Past | None:
    """The rule's comparison with earlier versions."""
    change, band = rule.parameter("change"), rule.parameter("band")
    if isinstance(change, Percent):
        return Past("last", change=change.value)
    if not isinstance(band, Text):
        return None
    k, least = rule.parameter("k"), rule.parameter("least")
    kind: BandKind = next(word for word in get_args(BandKind) if word == band.value)
    return Past(
        kind,
        k=k.value if isinstance(k, Number) else _K,
        least=int(least.value) if isinstance(least, Number) else _LEAST,
        over=_RECENT if kind == "mad" else _SEASONAL,
    )


def percent_bounds(rule: Rule) -> Bounds:
    """``min`` and ``max`` of a share, in per cent."""
    low, high = rule.parameter("min"), rule.parameter("max")
    return Bounds(
        "decimal(38,18)",
        low.value if isinstance(low, Percent) else None,
        high.value if isinstance(high, Percent) else None,
    )


def refuse_idle_share(read: ParsedRule) -> None:
    """Refuses bounds that every share satisfies, while the rule is being authored."""
    bounds = percent_bounds(read.rule)
    given = [end for end in (bounds.low, bounds.high) if end is not None]
    if not read.fresh or not given or has_past(read.rule):
        return
    if (bounds.low or 0) == 0 and bounds.high in (None, 100):
        part = "parameter min" if bounds.low is not None else "parameter max"
        raise read.error(part, "this always holds: every share is between 0% and 100%")


def by_groups(
    subject: str, value: RowCount | Aggregate | Quantile, bounds: Bounds, columns: Resolver
) -> GroupCheck:
    """The value of each group within the bounds."""
    failed, groups, worst = (
        measure_ref(
            GroupBreach(
                part=part,
                of=value,
                by=columns.by,
                low=_spelled(bounds.low, bounds),
                high=_spelled(bounds.high, bounds),
            )
        )
        for part in (GroupPart.ROWS, GroupPart.GROUPS, GroupPart.WORST)
    )
    scope = value.scope if isinstance(value, RowCount) else RowCount().scope
    rows = measure_ref(RowCount(scope=scope, where=columns.where))
    return GroupCheck(subject, failed, rows, groups, worst, bounds)


def _spelled(bound: Scalar | None, bounds: Bounds) -> str | None:
    """A bound spelled like a value in evidence, so that the two can be compared."""
    match bound:
        case None:
            return None
        case Decimal() if bounds.data_type in FLOATS:
            return number_text(at_evidence_precision(bound, bounds.data_type, summed=bounds.summed))
        case Decimal():
            return number_text(bound)
        case datetime():
            text = format_instant(bound)
            return text.removesuffix("Z") if bounds.data_type == "timestamp_ntz" else text
        case _:
            return bound.isoformat()
