"""The extremes that name the worst value: of a column that carries a tag nobody asks for them.

They explain a rule about rows and decide nothing, and what is measured is kept for good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from lakeguard.gate.subject import Subject
from lakeguard.gate.typecheck.checks import Judgement, RowsJudged
from lakeguard_sdk.expressions.conditions import ColumnRef, FieldRef
from lakeguard_sdk.expressions.measures import Aggregate


def tagged_columns(tags: Mapping[str, Collection[str]], subject: Subject | None) -> tuple[str, ...]:
    """Columns that carry a tag of whatever kind, their own or one that came down to them."""
    found = {name for name, carried in tags.items() if carried}
    if subject is not None:
        found |= {item.column for item in subject.travelled}
    return tuple(sorted(found))


def without_extremes(judged: Judgement, tagged: Collection[str]) -> Judgement:
    """The same judgement, which then tells no value of such a column."""
    if not isinstance(judged, RowsJudged) or judged.extremes is None:
        return judged
    hidden = {name.casefold() for name in tagged}
    of = [_column(asked.measure) for asked in judged.extremes]
    return replace(judged, extremes=None) if hidden & set(of) else judged


def _column(measure: object) -> str:
    """The column of the table that is measured, or a field of which is."""
    if isinstance(measure, Aggregate) and isinstance(measure.column, ColumnRef | FieldRef):
        return measure.column.name.casefold()
    return ""
