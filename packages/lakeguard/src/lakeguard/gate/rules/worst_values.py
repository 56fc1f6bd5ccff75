"""The extremes that name a rule's worst value are not measured for tagged columns.

They only explain a result, and measures are retained for good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from lakeguard.gate.subject import Subject
from lakeguard.gate.typecheck.checks import Check, RowCheck
from lakeguard_sdk.expressions.conditions import ColumnRef, FieldRef
from lakeguard_sdk.expressions.measures import Aggregate


def tagged_columns(tags: Mapping[str, Collection[str]], subject: Subject | None) -> tuple[str, ...]:
    """Columns with any tag, declared or inherited."""
    found = {name for name, carried in tags.items() if carried}
    if subject is not None:
        found |= {item.column for item in subject.travelled}
    return tuple(sorted(found))


def without_worst_values(judged: Check, tagged: Collection[str]) -> Check:
    """The same check without measures that reveal a value of a tagged column."""
    if not isinstance(judged, RowCheck) or judged.extremes is None:
        return judged
    hidden = {name.casefold() for name in tagged}
    of = [_column(ref.measure) for ref in judged.extremes]
    return replace(judged, extremes=None) if hidden & set(of) else judged


def _column(measure: object) -> str:
    """The measured column, or the column whose field is measured."""
    if isinstance(measure, Aggregate) and isinstance(measure.column, ColumnRef | FieldRef):
        return measure.column.name.casefold()
    return ""
