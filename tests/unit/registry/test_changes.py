"""Differences in a plan, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from lakeguard.registry.planning.describe import describe
from lakeguard.registry.planning.diff import changes_between
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.core.enums import (
    Deletes,
    Enforcement,
    LateRows,
    LoadType,
    Malformed,
    NullWatermark,
    Severity,
    SourceFormat,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    Definitions,
    FromFrame,
    FromPython,
    FromSource,
    FromSql,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.plan import Change
from tests.support.projects.definitions import (
    dataset,
    policy,
    rule,
    shop,
    source,
)

SILVER = dataset("silver.orders", "bronze.orders")


def changes(**given: Any) -> list[tuple[str, str | None, str | None]]:
    return change_tuples(changes_between(SILVER, SILVER.model_copy(update=given)))


def change_tuples(found: tuple[Change, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(change.field, change.before, change.after) for change in found]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"owner": "ops"}, ("owner", "sales", "ops")),
        ({"domain": "d"}, ("domain", "shop", "d")),
        ({"description": "x"}, ("description", "", "x")),
        ({"active": False}, ("active", "true", "false")),
        ({"load": Load(type=LoadType.APPEND)}, ("load", "FULL", "APPEND")),
        ({"load": {"order_by": ("a", "b")}}, ("load order_by", None, "a, b")),
        ({"load": {"lag": "2 days"}}, ("load lag", None, "2 days")),
        ({"load": {"inclusive": True}}, ("load inclusive", None, "true")),
        ({"load": {"deletes": Deletes.SOFT}}, ("load deletes", None, "soft")),
        ({"load": {"null_watermark": NullWatermark.SKIP}}, ("load null_watermark", None, "skip")),
        ({"load": {"late": LateRows.SKIP}}, ("load late", None, "skip")),
        ({"load": {"operation": "op"}}, ("load operation", None, "op")),
        ({"load": {"effective": "at"}}, ("load effective", None, "at")),
        ({"load": {"allow_empty": True}}, ("load allow_empty", None, "true")),
        ({"load": {"skip_unchanged": True}}, ("load skip_unchanged", None, "true")),
        ({"load": {"watermark": "at"}}, ("load watermark", "", "at")),
        ({"load": {"keys": ("a",)}}, ("load keys", "", "a")),
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
def test_one_difference_is_one_change(given: dict[str, Any], expected: tuple[str, ...]) -> None:
    if isinstance(given.get("load"), dict):
        given = {"load": SILVER.load.model_copy(update=given["load"])}
    assert changes(**given) == [expected]


def test_every_field_of_a_load_is_told() -> None:
    """A field that is new fails here until a plan shows it."""
    other = {bool: True, str: "x", tuple: ("x",)}
    for name in Load.model_fields:
        value = getattr(SILVER.load, name)
        words = list(type(value)) if isinstance(value, StrEnum) else [other[type(value)]]
        changed = SILVER.load.model_copy(update={name: words[-1]})
        assert len(changes(load=changed)) == 1, name


def test_code_is_told_by_file_function_and_hash() -> None:
    before = FromPython(file="jobs/a.py", function="f", sha256="1" * 64)
    after = before.model_copy(update={"sha256": "2" * 64})
    held, changed = (SILVER.model_copy(update={"build": build}) for build in (before, after))
    assert change_tuples(changes_between(held, changed)) == [("python code", "1" * 12, "2" * 12)]
    assert changes(build=before)[1:] == [
        ("python file", None, "jobs/a.py"),
        ("function", None, "f"),
        ("python code", None, "1" * 12),
    ]
    assert changes(build=FromFrame())[-1] == ("frame", None, "published by a program")


def test_a_source_that_moves_to_the_web() -> None:
    after = source(
        path="",
        url="https://h.example/x?t={token}",
        secrets={"token": "env:TOKEN"},
        header=("a", "b"),
        malformed=Malformed.QUARANTINE,
        landing=True,
    )
    assert change_tuples(changes_between(source(), after)) == [
        ("path", "data/*.csv", ""),
        ("url", "", "https://h.example/x?t={token}"),
        ("header", "", "a, b"),
        ("malformed", "refuse", "quarantine"),
        ("landing", "false", "true"),
        ("secret token", None, "env:TOKEN"),
    ]
    (line,) = describe(make_plan(Definitions(sources=(after,)), RegistryState()))
    assert line.summary == "csv, https://h.example/x?t={token}"


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
    assert change_tuples(changes_between(before, other)) == [
        ("format", "csv", "parquet"),
        ("path", "data/*.csv", "x"),
        ("option delimiter", ";", None),
        ("active", "true", "false"),
    ]
    alert = policy(enforcement=Enforcement.ALERT)
    assert change_tuples(changes_between(policy(), alert)) == [("enforcement", "BLOCK", "ALERT")]


def test_a_plan_is_described_step_by_step() -> None:
    lines = describe(make_plan(shop(), RegistryState()))
    assert [f"{line.sign} {line.kind} {line.name}  {line.summary}" for line in lines] == [
        "+ source orders  csv, data/*.csv",
        "+ dataset bronze.orders  2 columns, 2 rules",
        "+ dataset silver.orders  2 columns, 2 rules",
        "+ dataset gold.revenue  2 columns, 2 rules",
        "+ policy no_pii  PII on gold: forbid tag:pii, BLOCK",
    ]
