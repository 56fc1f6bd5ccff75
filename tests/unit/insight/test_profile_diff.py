"""Two profiles side by side: what is told of each column, and what stands out."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import click

from lakeguard.cli.rendering.profile import profile_diff_lines, profile_lines
from lakeguard.cli.terminal.output import Screen
from lakeguard.insight.comparison.profiles import compare_profiles
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.profile import (
    SHARES,
    ColumnChange,
    ColumnProfile,
    Frequent,
    Profile,
    Sketch,
)

CHANCE = random.Random(5)
SKETCH = Sketch(kind="hll", type_tag="long", data="AAAA")


def numbers(name: str, values: list[float], **given: Any) -> ColumnProfile:
    ordered = sorted(values)
    quantiles = {share: ordered[int(float(share) * (len(ordered) - 1))] for share in SHARES}
    usual = {
        "nulls": 0,
        "distinct": len(set(values)),
        "least": ordered[0],
        "greatest": ordered[-1],
        "mean": sum(values) / len(values),
        "quantiles": quantiles,
        "sketches": (SKETCH,),
    }
    return ColumnProfile(column=name, type="double", **{**usual, **given})


def words(name: str, counts: dict[str, int], **given: Any) -> ColumnProfile:
    top = tuple(Frequent(value=value, rows=rows) for value, rows in counts.items())
    usual = {"nulls": 0, "distinct": len(counts), "least": min(counts), "greatest": max(counts)}
    return ColumnProfile(column=name, type="string", top=top, **{**usual, **given})


def profile(*columns: ColumnProfile, version: int = 1, rows: int = 1000) -> Profile:
    return Profile(
        dataset=DatasetName("silver.orders"),
        version=version,
        rows=rows,
        columns=columns,
        engine="duckdb",
        taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def change(old: ColumnProfile, new: ColumnProfile, rows: int = 1000) -> ColumnChange:
    (found,) = compare_profiles(profile(old, rows=rows), profile(new, rows=rows)).columns
    return found


NORMAL = [CHANCE.gauss(0, 1) for _ in range(1000)]
AGAIN = [CHANCE.gauss(0, 1) for _ in range(1000)]
MOVED = [value + 2 for value in AGAIN]


def test_the_same_population_does_not_stand_out() -> None:
    found = change(numbers("a", NORMAL), numbers("a", AGAIN))
    assert found.much == ()
    assert found.psi is not None
    assert found.psi < 0.1


def test_values_that_moved_stand_out() -> None:
    found = change(numbers("a", NORMAL), numbers("a", MOVED))
    assert found.psi is not None
    assert found.psi > 1
    assert found.much == (f"its values are spread otherwise (PSI {found.psi:.2f})",)


def test_of_few_rows_the_index_is_told_and_not_judged() -> None:
    found = change(numbers("a", NORMAL[:20]), numbers("a", MOVED[:20]), rows=20)
    assert found.psi is not None
    assert found.psi > 0.2
    assert found.much == ()


def test_new_and_gone_values_are_named_where_all_are_known() -> None:
    old, new = words("a", {"x": 600, "y": 400}), words("a", {"x": 590, "z": 410})
    found = change(old, new)
    assert (found.new_values, found.gone_values) == (("z",), ("y",))
    many = words("a", {"x": 600, "y": 400}, distinct=5000)
    assert change(many, new).new_values == ()


def test_columns_that_came_and_went() -> None:
    found = compare_profiles(profile(words("a", {"x": 9})), profile(words("b", {"x": 9})))
    assert [(each.column, each.much) for each in found.columns] == [
        ("b", ("it is new",)),
        ("a", ("it is gone",)),
    ]


def test_empty_rows_types_and_different_values_stand_out() -> None:
    old, new = words("a", {"x": 900}, nulls=100), words("a", {"x": 800}, nulls=200)
    assert change(old, new).much == ("NULL went from 10.0 % to 20.0 %",)
    retyped = numbers("a", NORMAL).model_copy(update={"type": "float"})
    assert change(numbers("a", NORMAL), retyped).much == ("it was double",)
    more = numbers("a", NORMAL, distinct=100), numbers("a", NORMAL, distinct=201)
    assert change(*more).much == ("distinct values went from 100 to 201",)


def test_nothing_is_reckoned_of_a_masked_column() -> None:
    hidden = ColumnProfile(column="a", type="double", nulls=0, masked=True)
    assert change(numbers("a", NORMAL), hidden) == ColumnChange(column="a")


def test_the_page_shows_what_differs_and_no_sketch() -> None:
    before = profile(numbers("a", NORMAL), words("b", {"x": 1000}), words("c", {"\x1b": 1000}))
    after = profile(
        numbers("a", MOVED), words("b", {"x": 2000}), words("c", {"y": 2000}), version=2, rows=2000
    )
    found = compare_profiles(before, after)
    assert "AAAA" not in found.to_json()
    text = click.unstyle("\n".join(profile_diff_lines(found, every=False)))
    assert text.startswith("silver.orders@v1 → silver.orders@v2   ! 1,000 → 2,000 rows\n")
    assert "! a: its values are spread otherwise" in text
    assert "\x1b" not in text
    assert text.endswith("1 column the same")
    assert "  b" in click.unstyle("\n".join(profile_diff_lines(found, every=True)))


def test_a_profile_has_one_line_for_each_column() -> None:
    hidden = ColumnProfile(column="email", type="string", nulls=1, masked=True)
    shown = profile(numbers("a", NORMAL), words("b", {"x": 700, "\x1b[31m": 300}), hidden)
    lines = [click.unstyle(line) for line in profile_lines(shown, Screen())]
    assert lines[0].startswith("silver.orders@v1   1,000 rows, 3 columns")
    assert len(lines) == 6
    assert "█" in lines[3]
    assert "x 70.0 %" in lines[4]
    assert "\x1b" not in lines[4]
    assert "masked: tagged column" in lines[5]
    assert "0.1 %" in lines[5]
