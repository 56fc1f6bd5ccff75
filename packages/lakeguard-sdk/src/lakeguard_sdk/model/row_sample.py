"""A few of the rows that a rule counted as failing: enough to see what is wrong with them."""

from __future__ import annotations

from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.model.decision import Ruling
from lakeguard_sdk.types.schema import TableSchema, leaf_types

MOST_SAMPLED = 20
LONGEST_TEXT = 100
"""Characters of a value; what is longer is cut."""
MASKED = "***"
"""Stands in the place of a value that nobody may be told."""
_FORBIDS_PATTERN = "forbid pattern "
"""How such a policy begins, in the one form in which policies are kept."""


class RowSample(Noun):
    """At most ``MOST_SAMPLED`` failing rows of one rule, as text; None is NULL.

    They are taken after the decision, so no decision depends on them.
    """

    rule_id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    masked: tuple[str, ...] = ()
    """Columns of those whose values are not told."""


def untold_texts(ruling: Ruling, schema: TableSchema) -> tuple[str, ...]:
    """Every column that holds text, where a policy that forbids a pattern in texts did not pass:
    what it found, or could not look for, is in some of them. Else none."""
    passed = all(
        check.outcome is Outcome.PASS
        for check in ruling.checks
        if check.kind is CheckKind.POLICY and check.expression.startswith(_FORBIDS_PATTERN)
    )
    return () if passed else texts(schema)


def texts(schema: TableSchema) -> tuple[str, ...]:
    """Columns that are, or have inside of them, a text."""
    return tuple(column.name for column in schema.columns if "string" in leaf_types(column.type))
