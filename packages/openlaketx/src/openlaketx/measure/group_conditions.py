"""Groups of rows for which a condition over their aggregates is not TRUE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeguard_sdk.measure import GroupFaults
from lakeguard_sdk.total_condition import holds
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.forms import Forms
from openlaketx.measure.group_values import MOST_GROUPS
from openlaketx.measure.questions import Question, ask, chosen_rows


def terms_query(
    measure: GroupFaults,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    beside: Sequence[str] = (),
) -> tuple[str, list[Question]]:
    """What stands ``beside`` every group, the parts of its aggregates, then its number of rows."""
    questions = [ask(term, sql, forms) for term in measure.terms]
    rows = f"count(*){chosen_rows(sql, measure.where)}"
    named = ", ".join(forms.quoted(column.name) for column in measure.by)
    told = [text for question in questions for text in question.expressions]
    query = (
        f"SELECT {', '.join([*beside, *told, rows])} FROM {origin}"  # noqa: S608 - names are quoted
        f" GROUP BY {named} HAVING {rows} > 0 LIMIT {MOST_GROUPS + 1}"
    )
    return query, questions


def rows_of_faults(
    measure: GroupFaults, questions: Sequence[Question], found: Sequence[Sequence[Any]]
) -> int:
    """OverflowError where there are too many groups, or an aggregate cannot be held."""
    if len(found) > MOST_GROUPS:
        raise OverflowError(f"there are more than {MOST_GROUPS:,} groups")
    return sum(int(row[-1]) for row in found if is_faulty(measure, questions, row))


def is_faulty(measure: GroupFaults, questions: Sequence[Question], parts: Sequence[Any]) -> bool:
    """Whether the condition is not TRUE for a group with those parts of its aggregates."""
    values, at = [], 0
    for question in questions:
        end = at + len(question.expressions)
        values.append(question.finish(parts[at:end]))
        at = end
    return holds(measure.condition, values) is not True
