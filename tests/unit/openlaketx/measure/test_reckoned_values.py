"""Values that are reckoned out of columns, measured over files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard.gate.rules.compile import compile_text
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure import Measured, take_measures
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
