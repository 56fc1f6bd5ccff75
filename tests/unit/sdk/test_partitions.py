"""What may be a partition column, and how its values are spelled."""

from __future__ import annotations

import pytest

from lakeguard_sdk.model.partitions import (
    partition_difference,
    partition_key,
    partition_problem,
    partition_values,
)
from lakeguard_sdk.types.schema import Column, TableSchema

SCHEMA = TableSchema(
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in {
            "s": "string", "i": "integer", "l": "long", "d": "date", "b": "boolean",
            "at": "timestamp", "x": "double", "p": "decimal(9,2)", "raw": "binary",
        }.items()
    )
)  # fmt: skip


@pytest.mark.parametrize("columns", [(), ("s",), ("s", "i", "l", "d", "b")])
def test_texts_whole_numbers_dates_and_truth_values_partition(columns: tuple[str, ...]) -> None:
    assert partition_problem(columns, SCHEMA) is None


@pytest.mark.parametrize("column", ["at", "x", "p", "raw"])
def test_other_types_are_refused_by_name(column: str) -> None:
    reported = partition_problem(("s", column), SCHEMA)
    assert reported is not None
    assert f"column {column} is {SCHEMA.type_of(column)}" in reported


def test_columns_that_cannot_be_are_refused() -> None:
    assert "column 'S' does not exist" in str(partition_problem(("S",), SCHEMA))
    assert "duplicate" in str(partition_problem(("s", "s"), SCHEMA))
    one = TableSchema(columns=SCHEMA.columns[:1])
    assert "at least one data column" in str(partition_problem(("s",), one))
    taken = TableSchema(columns=(*one.columns, Column(name="LG_partition", type="long")))
    assert "lg_partition" in str(partition_problem(("s",), taken))
    assert partition_problem((), taken) is None


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("s", ["a b", " ", "__HIVE_DEFAULT_PARTITION__", None], [""]),
        ("i", ["0", "-12", "2147483647", None], ["", "1.0", "+1", "01", "-0", "x", "1e3"]),
        ("l", ["-9223372036854775808"], ["12345678901234567890"]),
        ("d", ["0001-01-01", "9999-12-31"], ["", "2024-1-1", "20240101", "2024-02-30"]),
        ("b", ["true", "false"], ["", "True", "1"]),
    ],
)
def test_values_have_one_spelling(column: str, good: list[str | None], bad: list[str]) -> None:
    for text in good:
        assert partition_difference({column: text}, (column,), SCHEMA) is None
    for text in bad:
        assert column in str(partition_difference({column: text}, (column,), SCHEMA))


@pytest.mark.parametrize("values", [{}, {"s": "a", "i": "1"}, {"i": "1"}])
def test_a_file_has_a_value_for_each_column_and_no_other(values: dict[str, str | None]) -> None:
    assert "not (s)" in str(partition_difference(values, ("s",), SCHEMA))


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"s": "2026-01"}, "s=2026-01"),
        ({"s": None}, "s="),
        ({"i": "1", "s": "a/b=c%"}, "s=a%2Fb%3Dc%25/i=1"),
        ({"s": "é\n"}, "s=é%0A"),
    ],
)
def test_a_partition_has_one_name_that_can_be_read_again(
    values: dict[str, str | None], key: str
) -> None:
    assert partition_key(values, ["s", "i"] if "i" in values else ["s"]) == key
    assert partition_values(key) == values


@pytest.mark.parametrize("text", ["", "s", "=1", "s=1/", "s=1=2"])
def test_what_names_no_partition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid partition"):
        partition_values(text)
