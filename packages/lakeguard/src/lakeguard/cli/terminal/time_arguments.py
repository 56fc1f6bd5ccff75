"""Time arguments: a duration before now, a day, or a time with its zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from math import isfinite

import click

from lakeguard.gate.grammar.literals import duration, is_duration

_FORMATS = "write a duration such as 90d, a day such as 2026-01-31, or a time with its zone"


class Day(click.ParamType[date]):
    """A calendar day."""

    name = "day"

    def convert(
        self, value: str | date, param: click.Parameter | None, ctx: click.Context | None
    ) -> date:
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date()
        except ValueError:
            return self.fail(
                f"{value[:40]!r} is not a day; write one such as 2026-01-31", param, ctx
            )


class Seconds(click.FloatRange):
    """A finite number of seconds."""

    name = "seconds"

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return found


def moment_of(text: str, now: datetime) -> datetime:
    """The time it denotes; a day begins at midnight UTC."""
    if is_duration(text):
        try:
            return now - duration(text)
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        if len(text) == len("2026-01-31"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text[:40]!r}: {_FORMATS}") from None
    if found.tzinfo is None:
        raise click.BadParameter(f"{text[:40]!r}: {_FORMATS}")
    return found
