"""A few of the rows that a rule counted as failing: enough to see what is wrong with them."""

from __future__ import annotations

from lakeguard_sdk.noun import Noun

MOST_SAMPLED = 20
LONGEST_TEXT = 100
"""Characters of a value; what is longer is cut."""
MASKED = "***"
"""Stands in the place of a value that nobody may be told."""


class RowSample(Noun):
    """At most ``MOST_SAMPLED`` failing rows of one rule, as text; None is NULL.

    They are taken after the decision, so no decision depends on them.
    """

    rule_id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    masked: tuple[str, ...] = ()
    """Columns of those whose values are not told."""
