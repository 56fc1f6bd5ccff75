"""Drafts rules for a dataset from its columns' profiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from math import ceil

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.typecheck.scalars import NotAValue, as_scalar
from lakeguard.insight.suggestions.low_cardinality import NO_SUCH
from lakeguard.insight.suggestions.numbers import limits, numbers
from lakeguard.insight.suggestions.rule_text import (
    call,
    counted_values,
    ends,
    literal,
    spelt,
    text,
)
from lakeguard.insight.suggestions.suggestion import (
    Draft,
    Earlier,
    Mutation,
    MutationKind,
    ProfileFacts,
    one_set,
)
from lakeguard.insight.suggestions.texts import texts
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import TIMES, is_nested, is_numeric

_ABOUT = {
    "presence": ("not_null", "null", "completeness"),
    "key": ("unique", "unique_ratio", "distinct_ratio"),
    "values": (
        *("range", "not_range", "ge", "gt", "le", "lt", "eq", "ne", "in_set", "not_in_set"),
        *("regex", "not_regex", "format", "length", "like", "date_format", "castable", "case"),
    ),
    "rows": ("row_count",),
    "age": ("freshness", "not_older_than"),
    "future": ("not_future",),
    "gaps": ("null_drift", "completeness"),
}


def drafts(facts: ProfileFacts) -> list[Draft]:
    """Drafts from the profile, one per column aspect, without duplicating existing rules. Redacted
    columns get no rules on values.
    """
    covered = {about for rule in facts.rules for about in _covered_aspect(rule)}
    existing = {rule.expression for rule in facts.rules}
    return [
        draft
        for draft in _all(facts)
        if draft.rule not in existing and (draft.about, _columns(draft)) not in covered
    ]


def _all(facts: ProfileFacts) -> Iterator[Draft]:
    unique = list(_keys(facts))
    single = {draft.column for draft in unique if draft.column}
    for column in facts.columns:
        yield from _filled(column, facts)
        yield from _gaps(column, facts)
        if not is_nested(column.type):
            yield from _references(column, facts) if column.column not in single else ()
            yield from _values(column, facts, column.column in single)
    yield from unique
    yield from _row_counts(facts)


def _values(column: ColumnProfile, facts: ProfileFacts, key: bool) -> Iterator[Draft]:
    if column.masked:
        return
    if is_numeric(column.type):
        yield from numbers(column, facts, key)
    elif column.type in TIMES:
        yield from _times(column, facts)
    elif column.type == "string":
        yield from texts(column, facts)


def _covered_aspect(definition: RuleDefinition) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The aspect that an existing rule covers."""
    try:
        rule = read_rule(definition.expression).rule
    except GrammarError:
        return
    for about, types in _ABOUT.items():
        if rule.rule_type in types:
            yield about, rule.columns
    if rule.rule_type == "foreign_key":
        yield "reference", rule.columns
        # the referenced dataset defines the allowed values
        yield "values", rule.columns


def _columns(draft: Draft) -> tuple[str, ...]:
    return read_rule(draft.rule).rule.columns


# Foreign keys.


def _references(column: ColumnProfile, facts: ProfileFacts) -> Iterator[Draft]:
    """``foreign_key`` to each dataset with a key of the same name and type."""
    values = facts.rows - column.nulls
    strange = _strange(column.type)
    if not values or strange is None:
        return
    name = column_text(column.column)
    for other in facts.others:
        if (other.column, other.type) == (column.column, column.type):
            yield Draft(
                rule=f"foreign_key({name} -> {other.dataset}({name}))",
                about="reference",
                severity=Severity.FAIL,
                why=f"{other.dataset} has each of {values:,} values as a key",
                support=values,
                strength=0.9,
                mutation=one_set(column, strange),
            )


def _strange(data_type: str) -> MeasureValue:
    """A value absent from the keys."""
    if data_type == "string":
        return NO_SUCH
    if data_type == "date":
        return "0001-01-01"
    smallest = limits(data_type)[0]
    return None if smallest is None else spelt(smallest, data_type)


# Dates and timestamps: lower bound, not in the future, freshness.

_MONTH = timedelta(days=31)
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_FRESH = timedelta(days=30)
_ENOUGH_VERSIONS = 3
_LATEST = {
    "date": "9999-12-31",
    "timestamp": "9999-12-31T00:00:00Z",
    "timestamp_ntz": "9999-12-31T00:00:00",
}


def _times(column: ColumnProfile, facts: ProfileFacts) -> Iterator[Draft]:
    values = facts.rows - column.nulls
    found = ends(column)
    if found is None or not values:
        return
    least, greatest = found
    if not isinstance(least, date) or not isinstance(greatest, date):
        return
    yield from _not_before(column, (least, greatest), values)
    if _moment(greatest) <= facts.at:
        yield from _not_future(column, greatest, values)
    yield from _fresh(column, facts, values)


def _not_before(column: ColumnProfile, found: tuple[date, date], values: int) -> Iterator[Draft]:
    """Half the range before the minimum, at least a month, rounded to the first of a month."""
    least, greatest = found
    try:
        early = least - max((greatest - least) / 2, _MONTH)
        low = early.replace(day=1)
        before = low - _DAY
    except (OverflowError, ValueError):
        return
    if isinstance(low, datetime) and isinstance(before, datetime):
        low = low.replace(hour=0, minute=0, second=0, microsecond=0)
        before = low - _HOUR
    period = f"{_day(least)} to {_day(greatest)}"
    yield Draft(
        rule=call("range", column.column, min=literal(low, column.type)),
        column=column.column,
        about="values",
        why=f"{counted_values(values)} of {period}, and half as long before is allowed",
        support=values,
        strength=0.72,
        mutation=one_set(column, spelt(before, column.type)),
    )


def _not_future(column: ColumnProfile, greatest: date, values: int) -> Iterator[Draft]:
    yield Draft(
        rule=call("not_future", column.column),
        column=column.column,
        about="future",
        why=f"{values:,} values lie in the past, the last of them {_day(greatest)}",
        support=values,
        strength=0.75,
        mutation=one_set(column, _LATEST[column.type]),
    )


def _fresh(column: ColumnProfile, facts: ProfileFacts, values: int) -> Iterator[Draft]:
    """Twice the maximum age of the newest value at publication."""
    ages = [age for version in facts.versions for age in _age(column, version)]
    if len(ages) < _ENOUGH_VERSIONS or min(ages) < timedelta(0) or max(ages) > _FRESH:
        return
    limit = max(2 * max(ages), _HOUR)
    hours = ceil(limit / _HOUR)
    max_age = f"{ceil(limit / _DAY)}d" if hours > 48 else f"{hours}h"
    stale = (facts.at - 2 * limit - _DAY).replace(microsecond=0)
    value = stale.date() if column.type == "date" else stale
    yield Draft(
        rule=call("freshness", column.column, max=text(max_age)),
        column=column.column,
        about="age",
        why=f"the newest value was at most {_span(max(ages))} old in each of {len(ages)} versions"
        ", and twice that is allowed",
        support=values,
        strength=0.8,
        mutation=Mutation(
            kind=MutationKind.SET_ALL,
            column=column.column,
            type=column.type,
            value=spelt(value, column.type),
        ),
    )


def _age(column: ColumnProfile, version: Earlier) -> Iterator[timedelta]:
    try:
        newest = as_scalar(version.greatest.get(column.column), column.type)
    except NotAValue:
        return
    if isinstance(newest, date):
        yield version.at - _moment(newest)


def _moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time(), UTC)


def _day(value: date) -> str:
    return value.strftime("%Y-%m-%d")


def _span(age: timedelta) -> str:
    hours = ceil(age / _HOUR)
    return f"{hours} h" if hours <= 48 else f"{ceil(age / _DAY)} d"


# Nulls, uniqueness and row counts.

_NAMES_ROWS = re.compile(r"string|integer|long|date|decimal\([0-9]+,0\)")
_SOUNDS = re.compile(r"(^|[_ ])(id|key|code|no|nr|number|uuid|guid)$|[a-z]I[dD]$", re.IGNORECASE)
_NEARLY = 0.9
"""Distinct ratio above which a column may be unique, allowing for sketch error."""
_MANY = 1_000
"""Minimum rows to suggest a key whose name does not suggest one."""
_POINTS = 5
_MOSTLY = 0.9
"""Maximum null share for null_drift."""


def _filled(column: ColumnProfile, facts: ProfileFacts) -> Iterator[Draft]:
    """``not_null`` for a column without nulls."""
    if facts.rows and not column.nulls:
        yield Draft(
            rule=call("not_null", column.column),
            column=column.column,
            about="presence",
            severity=Severity.FAIL,
            why=f"a value in each of {facts.rows:,} rows",
            support=facts.rows,
            strength=0.95,
            mutation=one_set(column, None),
        )


def _gaps(column: ColumnProfile, facts: ProfileFacts) -> Iterator[Draft]:
    """``null_drift`` for a partly null column with several versions."""
    if len(facts.versions) < _ENOUGH_VERSIONS or not 0 < column.nulls <= _MOSTLY * facts.rows:
        return
    yield Draft(
        rule=call("null_drift", column.column, max=f"{_POINTS}%"),
        column=column.column,
        about="gaps",
        why=f"{column.nulls:,} of {facts.rows:,} rows have no value, and {_POINTS} points more than"
        " in the version before are allowed",
        support=facts.rows,
        strength=0.8,
        mutation=Mutation(kind=MutationKind.SET_ALL, column=column.column, type=column.type),
    )


def _keys(facts: ProfileFacts) -> Iterator[Draft]:
    """``unique`` for known keys, and for columns with nearly as many values as rows."""
    if facts.rows < 2:
        return
    by_name = {column.column: column for column in facts.columns}
    known = [key for key in facts.keys if all(_always(by_name.get(name)) for name in key)]
    for key in known:
        yield _unique(key, facts, "it is the key", 1.0)
    for column in facts.columns:
        if (column.column,) not in known and _likely(column, facts):
            about = f"about {column.distinct:,} different values in {facts.rows:,} rows"
            strength = 0.95 if _sounds_like_key(column.column) else 0.75
            yield _unique((column.column,), facts, about, strength)


def _always(column: ColumnProfile | None) -> bool:
    """Keys must not be null: duplicates with NULL would go unnoticed."""
    return column is not None and not column.nulls and not is_nested(column.type)


def _likely(column: ColumnProfile, facts: ProfileFacts) -> bool:
    believed = _sounds_like_key(column.column) or facts.rows >= _MANY
    few = column.distinct is None or column.distinct < _NEARLY * facts.rows
    return believed and not few and not column.nulls and bool(_NAMES_ROWS.fullmatch(column.type))


def _sounds_like_key(name: str) -> bool:
    return bool(_SOUNDS.search(name))


def _unique(key: tuple[str, ...], facts: ProfileFacts, found: str, strength: float) -> Draft:
    return Draft(
        rule=call("unique", *key),
        column=key[0] if len(key) == 1 else "",
        about="key",
        severity=Severity.FAIL,
        why=f"{found}, and none of {facts.rows:,} rows has the same as another",
        support=facts.rows,
        strength=strength,
        mutation=Mutation(kind=MutationKind.REPEAT_ONE),
    )


def _row_counts(facts: ProfileFacts) -> Iterator[Draft]:
    """``row_count``: half the smallest of several runs, else at least one row."""
    if not facts.rows:
        return
    brought = [version.rows for version in facts.versions]
    least = min(brought, default=1) // 2
    if len(brought) >= _ENOUGH_VERSIONS and least > 1:
        why = f"each of the last {len(brought)} runs brought {min(brought):,} rows or more"
        why += ", and half of that is allowed"
        # small runs may be legitimate, so it only warns
        yield _row_count(least, why, facts, Severity.WARN)
        return
    there = "1 row is there" if facts.rows == 1 else f"{facts.rows:,} rows are there"
    yield _row_count(1, there, facts, Severity.FAIL)


def _row_count(least: int, why: str, facts: ProfileFacts, severity: Severity) -> Draft:
    return Draft(
        rule=call("row_count", min=str(least)),
        about="rows",
        severity=severity,
        why=why,
        support=facts.rows,
        strength=0.9,
        mutation=Mutation(kind=MutationKind.KEEP, value=least - 1),
    )
