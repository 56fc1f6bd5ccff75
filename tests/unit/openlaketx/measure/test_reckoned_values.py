"""Values that are reckoned out of columns, measured over files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure import Measured, take_measures
from openlaketx.measure.sql.condition_sql import ConditionSql
from tests.property.measure.staging import staged

SCHEMA = TableSchema(
    columns=(Column(name="n", type="long"), Column(name="m", type="long"),
             Column(name="s", type="string"))
)  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"n": 2, "m": 3, "s": "Ab"},
    {"n": 2**62, "m": 2**62, "s": "x"},
    {"n": None, "m": 1, "s": None},
]


def measured(rule: str, folder: Path) -> tuple[list[Any], Measured]:
    """The values of the rule's measures, None for one that has none."""
    asked = compile_text(rule, SCHEMA).measures
    found = take_measures(asked, staged(folder, ROWS, [], SCHEMA))
    return [found.values.get(measure_key(measure)) for measure in asked], found


def test_conditions_over_values(tmp_path: Path) -> None:
    assert measured("sql_row(n * m < 10)", tmp_path)[0] == [1, 3]
    assert measured("sql_row(lower(s) = 'ab')", tmp_path)[0] == [1, 3]


def test_what_has_too_many_digits_has_no_value(tmp_path: Path) -> None:
    values, found = measured("sql_row(n * m * n * m > 1)", tmp_path)
    assert values == [None, 3]
    assert [reason for reason in found.unmeasured.values() if "Overflow" in reason]


def test_rows_that_where_leaves_out_are_not_reckoned_with(tmp_path: Path) -> None:
    values, found = measured("sql_row(n * m * n * m > 1) where n < 10", tmp_path)
    assert values == [0, 1]
    assert found.unmeasured == {}


def test_aggregates_of_values(tmp_path: Path) -> None:
    values, _ = measured("sql_agg(sum(n * 2) + max(length(s)) - count(n - m), min=0)", tmp_path)
    assert values == [str(2**63 + 4), 2, 2]


TEXTS = ("ab", "AB", "zZ9", "", "straße", "ÉÀ", "ŉb", "ﬁ", "ǆa")
CASED = TableSchema(
    columns=(
        Column(name="s", type="string"),
        Column(name="at", type="timestamp"),
        Column(name="to", type="timestamp"),
    )
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
AT = (datetime(1500, 2, 28, 23, 59, 59, 999_999, UTC), datetime(1969, 12, 31, 23, 30, tzinfo=UTC))
MICROS = tuple((moment - EPOCH) // timedelta(microseconds=1) for moment in AT)


def _counted(rule: str, rows: list[dict[str, Any]], folder: Path) -> list[Any]:
    asked = compile_text(rule, CASED).measures
    found = take_measures(asked, staged(folder, rows, [], CASED))
    return [found.values.get(measure_key(measure)) for measure in asked]


@pytest.mark.parametrize("word", ["upper", "lower"])
def test_only_ascii_letters_change_case(word: str, tmp_path: Path) -> None:
    """Texts with other letters stay beside them in one batch."""
    small, capital = ascii_lowercase, ascii_uppercase
    table = str.maketrans(*((small, capital) if word == "upper" else (capital, small)))
    rows = [{"s": text, "at": None, "to": None} for text in TEXTS]
    unchanged = sum(text.translate(table) == text for text in TEXTS)
    assert _counted(f"sql_row({word}(s) = s)", rows, tmp_path) == [
        len(TEXTS) - unchanged,
        len(TEXTS),
    ]


def test_nested_calls_do_not_multiply(tmp_path: Path) -> None:
    text = "s"
    for word in ("upper", "lower") * 10:
        text = f"{word}({text})"
    rule = compile_text(f"sql_row({text} = s)", CASED).measures[0]
    assert isinstance(rule, CountIf)
    assert len(ConditionSql().condition(rule.condition)) < 10_000


def test_days_between_timestamps_are_counted_in_utc(tmp_path: Path) -> None:
    rows = [{"s": "", "at": MICROS[0], "to": MICROS[1]}, {"s": "", "at": None, "to": MICROS[1]}]
    days = (AT[1].date() - AT[0].date()).days
    assert _counted(f"sql_row(days_between(at, to) = {days})", rows, tmp_path) == [0, 2]
    assert _counted(f"sql_row(days_between(to, at) = {days})", rows, tmp_path) == [1, 2]


def test_counts_of_no_rows_are_zero(tmp_path: Path) -> None:
    assert _counted("sql_row(upper(s) = s)", [], tmp_path) == [0, 0]
