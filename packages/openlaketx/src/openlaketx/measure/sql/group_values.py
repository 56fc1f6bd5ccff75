"""Checks the value of each group against bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from lakeguard_sdk.expressions.aggregates import holds
from lakeguard_sdk.expressions.measures import GroupBreach, GroupFaults, GroupPart, MeasureValue
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.aggregates import Question, ask, chosen_rows
from openlaketx.measure.sql.condition_sql import ConditionSql

MOST_GROUPS = 100_000
"""Group values are fetched and checked like single values."""


class Breach(NamedTuple):
    """The source of every part of a breach."""

    rows: int
    groups: int
    worst: MeasureValue

    def part(self, part: GroupPart) -> MeasureValue:
        return {GroupPart.ROWS: self.rows, GroupPart.GROUPS: self.groups}.get(part, self.worst)


def groups_query(
    measure: GroupBreach,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    extra: Sequence[str] = (),
) -> tuple[str, Question]:
    """The ``extra`` columns of every group, the parts of its value, then its row count."""
    question = ask(measure.of, sql, forms)
    rows = f"count(*){chosen_rows(sql, measure.where)}"
    named = ", ".join(forms.quoted(column.name) for column in measure.by)
    selected = ", ".join([*extra, *question.expressions, rows])
    query = (
        f"SELECT {selected} FROM {origin} GROUP BY {named}"  # noqa: S608 - names are quoted
        f" HAVING {rows} > 0 LIMIT {MOST_GROUPS + 1}"
    )
    return query, question


def breach(measure: GroupBreach, question: Question, found: Sequence[Sequence[Any]]) -> Breach:
    """OverflowError if there are too many groups, or a value cannot be represented."""
    if len(found) > MOST_GROUPS:
        raise OverflowError(f"there are more than {MOST_GROUPS:,} groups")
    low, high = _place(measure.low), _place(measure.high)
    failing = [
        (beyond, value, int(row[-1]))
        for row in found
        for value in (question.finish(row[:-1]),)
        for beyond in (_beyond(value, low, high),)
        if beyond is not None
    ]
    worst = max(failing, key=lambda item: item[0], default=(None, None, 0))[1]
    return Breach(sum(rows for _, _, rows in failing), len(failing), worst)


def is_failing(measure: GroupBreach, value: MeasureValue) -> bool:
    """Whether the measure counts a group with that value."""
    return _beyond(value, _place(measure.low), _place(measure.high)) is not None


def parts(measures: Iterable[GroupBreach]) -> dict[GroupBreach, list[GroupBreach]]:
    """Measures by what they are parts of: one query answers all of them."""
    found: dict[GroupBreach, list[GroupBreach]] = {}
    for measure in measures:
        of = measure.model_copy(update={"part": GroupPart.ROWS})
        found.setdefault(of, []).append(measure)
    return found


def _beyond(
    value: MeasureValue, low: Decimal | None, high: Decimal | None
) -> tuple[int, Decimal] | None:
    """The distance beyond the bound, worst last: no value, then values, then NaN."""
    place = _place(value)
    if place is None:
        return 0, Decimal(0)
    if place.is_nan():
        return 2, Decimal(0)
    if low is not None and place < low:
        return 1, low - place
    if high is not None and place > high:
        return 1, place - high
    return None


def _place(value: MeasureValue) -> Decimal | None:
    """A value of evidence as a number; dates and times in seconds."""
    if value is None:
        return None
    text = repr(value) if isinstance(value, float) else str(value)
    if text[4:5] == "-" and text[7:8] == "-":
        moment = datetime.fromisoformat(text)
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return Decimal(str(zoned.timestamp()))
    return Decimal(text)


# Groups that violate a condition over their aggregates.


def terms_query(
    measure: GroupFaults,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    extra: Sequence[str] = (),
) -> tuple[str, list[Question]]:
    """The ``extra`` columns of every group, the parts of its aggregates, then its row count."""
    questions = [ask(term, sql, forms) for term in measure.terms]
    rows = f"count(*){chosen_rows(sql, measure.where)}"
    named = ", ".join(forms.quoted(column.name) for column in measure.by)
    selected = [text for question in questions for text in question.expressions]
    query = (
        f"SELECT {', '.join([*extra, *selected, rows])} FROM {origin}"  # noqa: S608 - names are quoted
        f" GROUP BY {named} HAVING {rows} > 0 LIMIT {MOST_GROUPS + 1}"
    )
    return query, questions


def rows_of_faults(
    measure: GroupFaults, questions: Sequence[Question], found: Sequence[Sequence[Any]]
) -> int:
    """OverflowError if there are too many groups, or an aggregate cannot be represented."""
    if len(found) > MOST_GROUPS:
        raise OverflowError(f"there are more than {MOST_GROUPS:,} groups")
    return sum(int(row[-1]) for row in found if is_faulty(measure, questions, row))


def is_faulty(measure: GroupFaults, questions: Sequence[Question], parts: Sequence[Any]) -> bool:
    """Whether the condition is not TRUE for a group with these aggregates."""
    values, at = [], 0
    for question in questions:
        end = at + len(question.expressions)
        values.append(question.finish(parts[at:end]))
        at = end
    return holds(measure.condition, values) is not True
