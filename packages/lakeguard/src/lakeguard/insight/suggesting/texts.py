"""Rules about texts: one of few, of a kind, of a shape, of a length, without blanks around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID

from lakeguard.gate.text_kinds import TEXT_KINDS
from lakeguard.gate.where_tree import column_text
from lakeguard.insight.suggesting.few import few_values
from lakeguard.insight.suggesting.seen import Seen
from lakeguard.insight.suggesting.shapes import shape_of
from lakeguard.insight.suggesting.spelling import call, text
from lakeguard.insight.suggesting.suggestion import Draft, one_set
from lakeguard_sdk.profile import ColumnProfile

_TELLING = ("email", "url", "uuid", "ipv4", "ipv6", "cidr", "iban", "mac", "phone")
"""Kinds that no text is of by chance; two capital letters may be many things besides a country."""
_DIFFERENT = 5
"""Different texts that a kind or a shape is believed from."""
_UUID = 36
_LONGEST = 1_000
STRANGE = "\N{SECTION SIGN}"
"""A text of no kind, and of no shape that is ever drafted."""


def texts(column: ColumnProfile, seen: Seen) -> Iterator[Draft]:
    """One rule about the values, and one about blanks where that does not say it."""
    values = seen.rows - column.nulls
    if not values:
        return
    found = few_values(column, values) or _kind(column, values) or _shape(column, values)
    if found is not None:
        yield found
        return
    yield from _length(column, values)
    yield from _trimmed(column, values)


def _kind(column: ColumnProfile, values: int) -> Draft | None:
    """``format``, where all texts that are told are of one kind."""
    told = _told(column)
    if (column.distinct or 0) < _DIFFERENT or not told:
        return None
    for word in _TELLING:
        if all(re.fullmatch(TEXT_KINDS[word].pattern, value) for value in told):
            meaning = TEXT_KINDS[word].meaning
            return Draft(
                rule=call("format", column.column, kind=text(word)),
                column=column.column,
                about="values",
                why=f"each of {values:,} texts is {meaning}",
                support=values,
                strength=0.9,
                mutation=one_set(column, STRANGE),
            )
    return None


def _told(column: ColumnProfile) -> list[str]:
    """Texts of the column; else their patterns, which are of the same kind as what they stand for
    where that is known by its form. Where every text is another, only its length is left."""
    found = [item.value for item in column.top or column.patterns if item.value is not None]
    if not found and column.lengths is not None and column.lengths[:2] == (_UUID, _UUID):
        return [str(UUID(int=0))]
    return found


def _shape(column: ColumnProfile, values: int) -> Draft | None:
    """``regex``, where all texts have one shape, or two or three."""
    told = [item for item in column.patterns if item.value is not None]
    complete = sum(item.rows for item in told) == values
    if not complete or (column.distinct or 0) < _DIFFERENT:
        return None
    pattern = shape_of([item.value or "" for item in told])
    if pattern is None:
        return None
    return Draft(
        rule=call("regex", column.column, pattern=text(pattern)),
        column=column.column,
        about="values",
        why=f"{values:,} texts have this shape",
        support=values,
        strength=0.8,
        mutation=one_set(column, STRANGE),
    )


def _length(column: ColumnProfile, values: int) -> Iterator[Draft]:
    """Texts of one length have that; others up to twice the longest, and are not empty."""
    if column.lengths is None:
        return
    shortest, longest, _ = column.lengths
    if longest > _LONGEST or not longest:
        return
    one = shortest == longest
    most = longest if one else 2 * longest
    bounds = {"max": str(most)}
    if shortest:
        bounds = {"min": str(shortest if one else 1), **bounds}
    has = f"{longest} characters" if one else f"{shortest} to {longest} characters"
    more = "" if one else ", and twice the longest is allowed"
    yield Draft(
        rule=call("length", column.column, **bounds),
        column=column.column,
        about="values",
        why=f"{values:,} texts have {has}{more}",
        support=values,
        strength=0.75 if one else 0.65,
        mutation=one_set(column, "x" * (most + 1)),
    )


def _trimmed(column: ColumnProfile, values: int) -> Iterator[Draft]:
    name = column_text(column.column)
    yield Draft(
        rule=f"sql_row(trim({name}) = {name})",
        about=f"blanks {column.column}",
        why=f"none of {values:,} texts begins or ends with a blank",
        support=values,
        strength=0.6,
        mutation=one_set(column, " x"),
    )
