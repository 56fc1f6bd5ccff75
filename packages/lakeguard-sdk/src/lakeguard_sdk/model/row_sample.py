"""Samples of failing rows."""

from __future__ import annotations

from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.decision import Ruling
from lakeguard_sdk.types.schema import TableSchema, leaf_types

MOST_SAMPLED = 20
LONGEST_TEXT = 100
"""Longer values are truncated."""
MASKED = "***"
"""Replaces a protected value."""
_FORBIDS_PATTERN = "forbid pattern "
"""Start of the canonical expression of such a policy."""


class RowSample(FrozenModel):
    """At most ``MOST_SAMPLED`` failing rows of one rule, as text; None is NULL.

    Samples are taken after the decision, which does not depend on them.
    """

    rule_id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    masked: tuple[str, ...] = ()
    """Masked columns."""


def text_columns_to_mask(ruling: Ruling, schema: TableSchema) -> tuple[str, ...]:
    """All text columns if a policy that forbids a pattern did not pass, since some of them may
    contain it; otherwise none."""
    passed = all(
        check.outcome is Outcome.PASS
        for check in ruling.checks
        if check.kind is CheckKind.POLICY and check.expression.startswith(_FORBIDS_PATTERN)
    )
    return () if passed else texts(schema)


def texts(schema: TableSchema) -> tuple[str, ...]:
    """Columns that are or contain text."""
    return tuple(column.name for column in schema.columns if "string" in leaf_types(column.type))
