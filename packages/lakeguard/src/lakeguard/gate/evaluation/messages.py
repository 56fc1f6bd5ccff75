"""Numbers and limits formatted for messages, independent of the locale."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal

from lakeguard.gate.grammar.literals import EXACT, number_text
from lakeguard.gate.grammar.rule import Threshold
from lakeguard.gate.rules.thresholds import HOLDS
from lakeguard.gate.typecheck.checks import Bounds, Scalar
from lakeguard_sdk.expressions.conditions import Comparison

_VALUE_LIMITS = {
    Comparison.GT: "at most {}",
    Comparison.GE: "below {}",
    Comparison.LT: "at least {}",
    Comparison.LE: "above {}",
    Comparison.EQ: "anything but {}",
    Comparison.NE: "exactly {}",
}


def number_words(number: Decimal) -> str:
    """``51,180``, ``0.25``, ``NaN``."""
    if not number.is_finite():
        return "NaN" if number.is_nan() else "infinity" if number > 0 else "-infinity"
    text = number_text(number.copy_abs())
    if "e" not in text:
        whole, point, fraction = text.partition(".")
        text = f"{int(whole):,}{point}{fraction}"
    return f"-{text}" if number < 0 else text


def counted(number: Decimal | int, noun: str) -> str:
    """``1 new row``, ``2,000 new rows``."""
    return f"{number_words(Decimal(number))} {noun}{'' if number == 1 else 's'}"


def moment_words(at: datetime) -> str:
    """``2026-01-31 06:00 UTC``; seconds only where there are some."""
    plain = at.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    return f"{plain:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"


def scalar_words(value: Scalar, data_type: str) -> str:
    if isinstance(value, Decimal):
        return number_words(value)
    if isinstance(value, datetime):
        plain = value.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
        return plain if data_type == "timestamp_ntz" else f"{plain} UTC"
    return value.isoformat()


def share_words(failed: int, scope: int, limit: Threshold | None) -> str:
    """``51 %``, with enough digits to show which side of the limit it is on."""
    if scope == 0:
        return "0 %"
    exact = EXACT.divide(Decimal(100 * failed), Decimal(scope))
    shown = exact
    for digits in range(2, 12):
        shown = _significant(exact, digits)
        if _is_unambiguous(shown, exact, limit):
            break
    return f"{number_text(shown)} %"


def _significant(number: Decimal, digits: int) -> Decimal:
    if number == 0:
        return number
    quantum = Decimal(1).scaleb(number.adjusted() - digits + 1)
    if number >= 10 and digits == 2:
        quantum = Decimal(1)
    return number.quantize(quantum, ROUND_HALF_EVEN, EXACT)


def _is_unambiguous(shown: Decimal, exact: Decimal, limit: Threshold | None) -> bool:
    if (shown == 100) != (exact == 100):
        return False
    if limit is None or not limit.percent:
        return True
    return HOLDS[limit.op](shown, limit.number) == HOLDS[limit.op](exact, limit.number)


def rows_limit(threshold: Threshold | None) -> str:
    """How many rows may fail before the threshold is reached."""
    if threshold is None:
        return "0 rows"
    if threshold.percent:
        allowed = f"{number_words(threshold.number)} %"
    else:
        allowed = counted(threshold.number, "row")
    return allowed if threshold.op is Comparison.GT else f"below {allowed}"


def value_limit(threshold: Threshold) -> str:
    return _VALUE_LIMITS[threshold.op].format(number_words(threshold.number))


def bounds_words(bounds: Bounds) -> str:
    """``5 to 30``; empty where there are none."""
    low = None if bounds.low is None else scalar_words(bounds.low, bounds.data_type)
    high = None if bounds.high is None else scalar_words(bounds.high, bounds.data_type)
    if low is None:
        return "" if high is None else f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"exactly {low}" if low == high else f"{low} to {high}"
