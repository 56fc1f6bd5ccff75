"""Compares two profiles. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import ceil

from lakeguard.gate.evaluation.stability import (
    Place,
    Spread,
    place_of,
    stability,
)
from lakeguard.gate.typecheck.scalars import NotAValue
from lakeguard_sdk.model.profile import (
    ColumnChange,
    ColumnProfile,
    Profile,
    ProfileDiff,
)

_PSI = 0.2
_FEW = 100
"""Minimum rows for a meaningful stability index."""
_POINTS = 5.0
_TIMES = 2.0
_ROWS = 1.5


def compare_profiles(before: Profile, after: Profile) -> ProfileDiff:
    """Columns in the order of the later profile, then removed ones."""
    old = {column.column: column for column in before.columns}
    new = {column.column: column for column in after.columns}
    names = [*new, *(name for name in old if name not in new)]
    return ProfileDiff(
        before=without_sketches(before),
        after=without_sketches(after),
        columns=tuple(
            _change(name, old.get(name), new.get(name), (before.rows, after.rows)) for name in names
        ),
        much=_far(before.rows, after.rows, _ROWS),
    )


def without_sketches(profile: Profile) -> Profile:
    columns = (column.model_copy(update={"sketches": ()}) for column in profile.columns)
    return profile.model_copy(update={"columns": tuple(columns)})


def _change(
    name: str, old: ColumnProfile | None, new: ColumnProfile | None, rows: tuple[int, int]
) -> ColumnChange:
    if old is None or new is None:
        return ColumnChange(column=name, much=("it is new" if old is None else "it is gone",))
    index = _index(old, new, rows)
    appeared, gone = _listed_anew(old, new), _listed_anew(new, old)
    return ColumnChange(
        column=name,
        psi=index,
        new_values=appeared,
        gone_values=gone,
        much=tuple(_much(old, new, rows, index)),
    )


def _much(
    old: ColumnProfile, new: ColumnProfile, rows: tuple[int, int], index: float | None
) -> Iterator[str]:
    if old.type != new.type:
        yield f"it was {old.type}"
    shares = [
        c.nulls / total * 100 if total else 0.0 for c, total in zip((old, new), rows, strict=True)
    ]
    if abs(shares[1] - shares[0]) > _POINTS:
        yield f"NULL went from {_percent(shares[0])} to {_percent(shares[1])}"
    if index is not None and index > _PSI and min(rows) >= _FEW:
        yield f"its values are spread otherwise (PSI {index:.2f})"
    counts = (old.distinct, new.distinct)
    if None not in counts and _far(counts[0] or 0, counts[1] or 0, _TIMES):
        yield f"distinct values went from {counts[0]:,} to {counts[1]:,}"


def _percent(share: float) -> str:
    """As profiles show it: never rounded to 0 % or 100 %."""
    return f"{share:.0f} %" if share in (0.0, 100.0) else f"{min(max(share, 0.1), 99.9):.1f} %"


def _far(one: int, other: int, times: float) -> bool:
    """Whether the ratio exceeds a factor."""
    return max(one, other) > times * min(one, other)


def _listed_anew(old: ColumnProfile, new: ColumnProfile) -> tuple[str, ...]:
    """Frequent values missing from the other profile; certainly new if it listed all values."""
    if old.distinct != len(old.top):
        return ()
    known = {each.value for each in old.top}
    return tuple(
        each.value for each in new.top if each.value is not None and each.value not in known
    )


def _index(old: ColumnProfile, new: ColumnProfile, rows: tuple[int, int]) -> float | None:
    """The population stability index, from quantiles or from the most frequent values."""
    if old.masked or new.masked or old.type != new.type:
        return None
    try:
        found = stability(_spread(old, rows[0]), _spread(new, rows[1]))
    except NotAValue:
        return None
    return None if found is None else float(f"{found:.6g}")


def _spread(column: ColumnProfile, rows: int) -> Spread:
    there = rows - column.nulls - column.nans
    if column.quantiles:
        return Spread(there, tuple(_places(column, there)))
    if column.distinct is None or not column.top:
        return Spread(0)
    return Spread(there, values=tuple((each.value or "", each.rows) for each in column.top))


def _places(column: ColumnProfile, rows: int) -> Iterator[Place]:
    """A value repeated at several quantiles accounts for the rows between them."""
    values_at = {"0": column.least, **column.quantiles, "1": column.greatest}
    reached = {share: max(1, ceil(float(share) * rows)) for share in values_at}
    shares = groupby(values_at, key=lambda share: place_of(values_at[share], column.type))
    for at, group in shares:
        up_to = [reached[share] for share in group]
        yield Place(at, up_to[0] - 1, up_to[-1])
