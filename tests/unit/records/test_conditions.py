"""Conditions and targets as a person writes them."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.records.conditions import BadCondition, parse_condition, parse_target


@pytest.mark.parametrize(
    ("text", "comparison", "value"),
    [
        ("payload.rows>=3", "ge", 3),
        ("payload.rows <= -1.5", "le", -1.5),
        ("payload.rows<3", "lt", 3),
        ("payload.rows>3", "gt", 3),
        ("payload.status=fail", "eq", "fail"),
        ('payload.status="fail"', "eq", "fail"),
        ('payload.code="3"', "eq", "3"),
        ("payload.sla_met=true", "eq", True),
        ("payload.status!=pass", "ne", "pass"),
        ('payload.status=["warn","fail"]', "in", ["warn", "fail"]),
        ("payload.filter=a=b", "eq", "a=b"),
        ("payload.filter=", "eq", ""),
        ("payload.filter=null", "eq", "null"),
        ("payload.x=NaN", "eq", "NaN"),
        ("extras.window_start?", "exists", True),
        ("extras.window_start!?", "exists", False),
        ("extras.window_start>=2026-01-01", "ge", "2026-01-01"),
    ],
)
def test_a_condition_is_read(text: str, comparison: str, value: Any) -> None:
    found = parse_condition(text)
    assert (found.comparison, found.value) == (comparison, value)
    assert type(found.value) is type(value)
    assert "." in found.path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "payload.rows",
        "rows=3",
        ">=3",
        "payload.x?y",
        "payload.x>>3",
        "payload.x==3",
        "payload.x<true",
        "payload.x!=[1]",
        'payload.x=["a",[1]]',
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadCondition):
        parse_condition(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("warehouse.public.flights", ("warehouse", "public", "flights")),
        ("files.flights", ("files", "", "flights")),
        ('files."a.csv"', ("files", "", "a.csv")),
        ('"a""b".c', ('a"b', "", "c")),
    ],
)
def test_a_target_is_read(text: str, names: tuple[str, str, str]) -> None:
    found = parse_target(text)
    assert (found.source_id, found.schema_, found.table) == names


@pytest.mark.parametrize("text", ["", "flights", "a.b.c.d", "a..b", ".a.b", 'a."b', "a.b\n"])
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(BadCondition):
        parse_target(text)
