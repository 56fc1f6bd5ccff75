"""Checks JSON texts.

Engines parse JSON differently, so distinct texts are fetched with their row counts and validated by
one function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from lakeguard_sdk.expressions.conditions import holds_pattern
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.expressions.measures import JsonFaults, SampleMatches
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.aggregates import chosen_rows
from openlaketx.measure.sql.condition_sql import ConditionSql


def texts_query(measure: JsonFaults, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """Each distinct text of the selected rows, with its row count."""
    text = forms.quoted(measure.column.name)
    return (
        "SELECT lg_text, lg_rows FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT {text} AS lg_text, count(*){chosen_rows(sql, measure.where)} AS lg_rows"
        f" FROM {origin} WHERE {text} IS NOT NULL GROUP BY {text}) WHERE lg_rows > 0"
    )


def faulty_rows(measure: JsonFaults, found: Iterable[Sequence[tuple[Any, ...]]]) -> int:
    """Rows with an invalid text; ValueError for an invalid schema."""
    holds = _holds(measure)
    return sum(rows for batch in found for text, rows in batch if not _is_right(text, holds))


def faulty_texts(
    measure: JsonFaults, found: Iterable[Sequence[tuple[Any, ...]]], most: int
) -> list[str]:
    """The first ``most`` invalid texts; stops reading after the last of them."""
    holds = _holds(measure)
    faulty = (text for batch in found for text, _ in batch if not _is_right(text, holds))
    return list(islice(faulty, most))


def judge_of(measure: JsonFaults) -> Callable[[str], bool]:
    """Whether a text is valid; ValueError for an invalid schema."""
    holds = _holds(measure)
    return lambda text: _is_right(text, holds)


def _is_right(text: str, holds: Callable[[Any], bool]) -> bool:
    try:
        return holds(read_json(text))
    except NotJson:
        return False


def _holds(measure: JsonFaults) -> Callable[[Any], bool]:
    """The check of the parsed value."""
    if measure.fits is not None:
        return _validator(read_json(measure.fits)).is_valid
    if measure.allowed is None and measure.required is None:
        return lambda value: True
    required = set(measure.required or ())
    allowed = None if measure.allowed is None else set(measure.allowed)

    def has_keys(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        return required <= value.keys() and (allowed is None or value.keys() <= allowed)

    return has_keys


def _validator(schema: Any) -> jsonschema_rs.Validator:
    """Fetches nothing, uses patterns with linear run time, and checks no formats."""
    return jsonschema_rs.validator_for(
        schema,
        offline=True,
        pattern_options=jsonschema_rs.RegexOptions(),
        validate_formats=False,
    )


# A stable sample of distinct values, and how many of them match a pattern.


def sample_query(measure: SampleMatches, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """One count. Ordered by MD5, which is the same in every engine and independent of content and
    position."""
    value = forms.quoted(measure.column.name)
    found = sql.condition(holds_pattern(measure.column, measure.pattern))
    chosen = "" if measure.where is None else f" AND {sql.condition(measure.where)}"
    distinct = f"SELECT DISTINCT {value} FROM {origin} WHERE {value} IS NOT NULL{chosen}"  # noqa: S608
    sample = f"SELECT {value} FROM ({distinct}) ORDER BY md5({value}), {value}"  # noqa: S608
    return f"SELECT count(*) FILTER (WHERE {found}) FROM ({sample} LIMIT {measure.sample})"  # noqa: S608 - names are quoted, patterns bound
