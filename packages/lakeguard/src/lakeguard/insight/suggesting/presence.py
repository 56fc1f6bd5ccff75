"""Rules about whether there is a value, whether it comes twice, and how many rows there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakeguard.insight.suggesting.seen import Seen
from lakeguard.insight.suggesting.spelling import call
from lakeguard.insight.suggesting.suggestion import Draft, Mutation, MutationKind, one_set
from lakeguard_sdk.profile import ColumnProfile
from lakeguard_sdk.schema import is_nested
from lakeguard_sdk.words import Severity

_NAMES_ROWS = re.compile(r"string|integer|long|date|decimal\([0-9]+,0\)")
_SOUNDS = re.compile(r"(^|[_ ])(id|key|code|no|nr|number|uuid|guid)$|[a-z]I[dD]$", re.IGNORECASE)
_NEARLY = 0.9
"""Different values per row from which on a column may have none twice: sketches estimate."""
_MANY = 1_000
"""Rows from which on a column may be a key though its name does not sound like one."""
_ENOUGH_VERSIONS = 3
_POINTS = 5
_MOSTLY = 0.9
"""With fewer values than the rest, hardly any could be lost."""


def filled(column: ColumnProfile, seen: Seen) -> Iterator[Draft]:
    """``not_null`` of a column that always has a value."""
    if seen.rows and not column.nulls:
        yield Draft(
            rule=call("not_null", column.column),
            column=column.column,
            about="presence",
            severity=Severity.FAIL,
            why=f"a value in each of {seen.rows:,} rows",
            support=seen.rows,
            strength=0.95,
            mutation=one_set(column, None),
        )


def gaps(column: ColumnProfile, seen: Seen) -> Iterator[Draft]:
    """``null_drift`` of a column that has a value in some rows, over several versions."""
    if len(seen.versions) < _ENOUGH_VERSIONS or not 0 < column.nulls <= _MOSTLY * seen.rows:
        return
    yield Draft(
        rule=call("null_drift", column.column, max=f"{_POINTS}%"),
        column=column.column,
        about="gaps",
        why=f"{column.nulls:,} of {seen.rows:,} rows have no value, and {_POINTS} points more than"
        " in the version before are allowed",
        support=seen.rows,
        strength=0.8,
        mutation=Mutation(kind=MutationKind.SET_ALL, column=column.column, type=column.type),
    )


def keys(seen: Seen) -> Iterator[Draft]:
    """``unique`` of known keys, and of columns with nearly as many values as rows."""
    if seen.rows < 2:
        return
    by_name = {column.column: column for column in seen.columns}
    known = [key for key in seen.keys if all(_always(by_name.get(name)) for name in key)]
    for key in known:
        yield _unique(key, seen, "it is the key", 1.0)
    for column in seen.columns:
        if (column.column,) not in known and _likely(column, seen):
            about = f"about {column.distinct:,} different values in {seen.rows:,} rows"
            strength = 0.95 if sounds_like_key(column.column) else 0.75
            yield _unique((column.column,), seen, about, strength)


def _always(column: ColumnProfile | None) -> bool:
    """A row with a NULL in its key could come twice, and nobody would tell."""
    return column is not None and not column.nulls and not is_nested(column.type)


def _likely(column: ColumnProfile, seen: Seen) -> bool:
    believed = sounds_like_key(column.column) or seen.rows >= _MANY
    few = column.distinct is None or column.distinct < _NEARLY * seen.rows
    return believed and not few and not column.nulls and bool(_NAMES_ROWS.fullmatch(column.type))


def sounds_like_key(name: str) -> bool:
    return bool(_SOUNDS.search(name))


def _unique(key: tuple[str, ...], seen: Seen, found: str, strength: float) -> Draft:
    return Draft(
        rule=call("unique", *key),
        column=key[0] if len(key) == 1 else "",
        about="key",
        severity=Severity.FAIL,
        why=f"{found}, and none of {seen.rows:,} rows has the same as another",
        support=seen.rows,
        strength=strength,
        mutation=Mutation(kind=MutationKind.REPEAT_ONE),
    )


def row_counts(seen: Seen) -> Iterator[Draft]:
    """``row_count``: half of what the smallest of several runs brought, else at least a row."""
    if not seen.rows:
        return
    brought = [version.rows for version in seen.versions]
    least = min(brought, default=1) // 2
    if len(brought) >= _ENOUGH_VERSIONS and least > 1:
        why = f"each of the last {len(brought)} runs brought {min(brought):,} rows or more"
        why += ", and half of that is allowed"
        # a run may rightly bring little, so that it only warns
        yield _row_count(least, why, seen, Severity.WARN)
        return
    yield _row_count(1, f"{seen.rows:,} rows are there", seen, Severity.FAIL)


def _row_count(least: int, why: str, seen: Seen, severity: Severity) -> Draft:
    return Draft(
        rule=call("row_count", min=str(least)),
        about="rows",
        severity=severity,
        why=why,
        support=seen.rows,
        strength=0.9,
        mutation=Mutation(kind=MutationKind.KEEP, value=least - 1),
    )
