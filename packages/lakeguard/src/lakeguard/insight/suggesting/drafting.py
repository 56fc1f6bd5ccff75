"""All drafts of rules for a dataset, by what its columns are."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.grammar import read_rule
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.insight.suggesting.numbers import numbers
from lakeguard.insight.suggesting.presence import filled, gaps, keys, row_counts
from lakeguard.insight.suggesting.references import references
from lakeguard.insight.suggesting.seen import Seen
from lakeguard.insight.suggesting.suggestion import Draft
from lakeguard.insight.suggesting.texts import texts
from lakeguard.insight.suggesting.times import times
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.profile import ColumnProfile
from lakeguard_sdk.schema import TIMES, is_nested, is_numeric

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


def drafts(seen: Seen) -> list[Draft]:
    """What the profile allows to say, each thing about a column once, and nothing that a rule of
    the dataset says already. Of a column that may not be told there is nothing about its values.
    """
    said = {about for rule in seen.rules for about in _said(rule)}
    texts_said = {rule.expression for rule in seen.rules}
    return [
        draft
        for draft in _all(seen)
        if draft.rule not in texts_said and (draft.about, _columns(draft)) not in said
    ]


def _all(seen: Seen) -> Iterator[Draft]:
    unique = list(keys(seen))
    single = {draft.column for draft in unique if draft.column}
    for column in seen.columns:
        yield from filled(column, seen)
        yield from gaps(column, seen)
        if not is_nested(column.type):
            yield from references(column, seen) if column.column not in single else ()
            yield from _values(column, seen, column.column in single)
    yield from unique
    yield from row_counts(seen)


def _values(column: ColumnProfile, seen: Seen, key: bool) -> Iterator[Draft]:
    if column.masked:
        return
    if is_numeric(column.type):
        yield from numbers(column, seen, key)
    elif column.type in TIMES:
        yield from times(column, seen)
    elif column.type == "string":
        yield from texts(column, seen)


def _said(definition: RuleDefinition) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What an existing rule is about."""
    try:
        rule = read_rule(definition.expression).rule
    except GrammarError:
        return
    for about, types in _ABOUT.items():
        if rule.rule_type in types:
            yield about, rule.columns
    if rule.rule_type == "foreign_key":
        yield "reference", rule.columns
        # the other dataset says which values there may be
        yield "values", rule.columns


def _columns(draft: Draft) -> tuple[str, ...]:
    return read_rule(draft.rule).rule.columns
