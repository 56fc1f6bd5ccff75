"""What a plan says: field by field, in words."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.registry.changes import changes_between
from lakeguard.registry.current import RegistryState
from lakeguard.registry.describing import describe
from lakeguard.registry.planning import make_plan
from lakeguard_sdk.definition import ColumnDefinition, FromSource, FromSql
from lakeguard_sdk.load import Load
from lakeguard_sdk.planning import Change
from lakeguard_sdk.words import Enforcement, LoadType, Severity, SourceFormat
from tests.worlds.definitions import dataset, policy, rule, shop, source

SILVER = dataset("silver.orders", "bronze.orders")


def changes(**said: Any) -> list[tuple[str, str | None, str | None]]:
    return told(changes_between(SILVER, SILVER.model_copy(update=said)))


def told(found: tuple[Change, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(change.field, change.before, change.after) for change in found]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"owner": "ops"}, ("owner", "sales", "ops")),
        ({"domain": "d"}, ("domain", "shop", "d")),
        ({"description": "x"}, ("description", "", "x")),
        ({"active": False}, ("active", "true", "false")),
        ({"load": Load(type=LoadType.APPEND)}, ("load", "FULL", "APPEND")),
        ({"parents": ()}, ("parents", "bronze.orders", "")),
        ({"rules": SILVER.rules[:1]}, ("rule range.amount", "range(amount, min=0)", None)),
        (
            {"rules": (*SILVER.rules, rule("row_count(min=1)"))},
            ("rule row_count", None, "row_count(min=1)"),
        ),
        (
            {"rules": (SILVER.rules[0], rule("range(amount, min=1)", severity=Severity.WARN))},
            ("rule range.amount", "range(amount, min=0)", "range(amount, min=1) [WARN]"),
        ),
        (
            {"rules": (rule("unique(order_id)", active=False), SILVER.rules[1])},
            ("rule unique.order_id", "unique(order_id)", "unique(order_id) [inactive]"),
        ),
        (
            {"columns": SILVER.columns[::-1]},
            ("column order", "order_id, amount", "amount, order_id"),
        ),
        (
            {"build": FromSql(file="sql/orders.sql", text="select p0.*\nfrom bronze.orders p0\n")},
            ("sql", "1 lines", "2 lines, 2 changed"),
        ),
    ],
)
def test_one_difference_is_one_change(said: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert changes(**said) == [expected]


def test_columns_are_told_by_name() -> None:
    columns = (
        ColumnDefinition(name="order_id", type="long", description="key"),
        ColumnDefinition(name="placed_at", type="date"),
    )
    assert changes(columns=columns) == [
        ("column order_id", "string", "long"),
        ("column amount", "double", None),
        ("column amount tags", "money, net", None),
        ("column order_id description", None, "key"),
        ("column placed_at", None, "date"),
    ]


def test_another_kind_of_build_is_told() -> None:
    assert changes(build=FromSource(source="orders"), parents=()) == [
        ("parents", "bronze.orders", ""),
        ("sql file", "sql/orders.sql", None),
        ("source", None, "orders"),
    ]


def test_sources_and_policies_are_told_too() -> None:
    other = source(format=SourceFormat.PARQUET, path="x", options={}, active=False)
    before = source(options={"delimiter": ";"})
    assert told(changes_between(before, other)) == [
        ("format", "csv", "parquet"),
        ("path", "data/*.csv", "x"),
        ("option delimiter", ";", None),
        ("active", "true", "false"),
    ]
    alert = policy(enforcement=Enforcement.ALERT)
    assert told(changes_between(policy(), alert)) == [("enforcement", "BLOCK", "ALERT")]


def test_a_plan_is_described_step_by_step() -> None:
    lines = describe(make_plan(shop(), RegistryState()))
    assert [f"{line.sign} {line.kind} {line.name}  {line.summary}" for line in lines] == [
        "+ source orders  csv, data/*.csv",
        "+ dataset bronze.orders  2 columns, 2 rules",
        "+ dataset silver.orders  2 columns, 2 rules",
        "+ dataset gold.revenue  2 columns, 2 rules",
        "+ policy no_pii  PII on gold: forbid tag:pii, BLOCK",
    ]
