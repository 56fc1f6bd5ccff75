"""Hostile names and values are refused with an error, and have no other effect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeguard.registry.text.error_rendering import render_errors
from tests.support.projects.definition_folders import (
    BRONZE,
    SHOP,
    SILVER,
    SOURCE,
    mistakes,
    write_folder,
)

HOSTILE_NAMES = [
    "..", "../x", "/etc/passwd", "a/b", "a\\b", "%2e%2e", "a b", "", " ", "con.x", "A", "é", "ﬁ",
    "a\u200b", "a\u00ad", "x" * 300, "1a", "_a", "a-b", "a;drop", "a'b", "<script>", "=cmd()",
    "\x00", "\x1b[2J", "a\u202eb", "\ud7ff", "nul\x00", "a\n", "\uff41",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_hostile_name_becomes_a_dataset(name: str, tmp_path: Path) -> None:
    for key in (f"silver.{name}", f"{name}.orders", name):
        text = SILVER.replace("silver.orders", json.dumps(key, ensure_ascii=False))
        errors = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
        assert errors
        assert {error.code for error in errors} <= {"LG-2001", "LG-2003", "LG-2004", "LG-2020"}
        assert_inert(list(render_errors(errors, tmp_path)))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_hostile_name_becomes_a_source_a_parent_or_a_tag(name: str, tmp_path: Path) -> None:
    quoted = json.dumps(name, ensure_ascii=False)
    for file, text in (
        ("definitions/sources/orders.yaml", SOURCE.replace("orders", quoted, 1)),
        ("definitions/bronze/orders.yaml", BRONZE.replace("source: orders", f"source: {quoted}")),
        ("definitions/silver/orders.yaml", SILVER.replace("[bronze.orders]", f"[{quoted}]")),
        ("definitions/bronze/orders.yaml", BRONZE.replace("double,", f"double, tags: [{quoted}],")),
        ("definitions/silver/orders.yaml", SILVER.replace("sql/orders.sql", quoted)),
    ):
        errors = mistakes(tmp_path, {**SHOP, file: text})
        assert errors
        assert_inert(list(render_errors(errors, tmp_path)))


def assert_inert(lines: list[str]) -> None:
    assert all(character.isprintable() for line in lines for character in line.replace("\n", ""))


TOKEN = "ghp_" + "a1B2c3D4" * 5
SECRETS = [
    TOKEN,
    "AKIAIOSFODNN7EXAMPLE",
    "postgresql://user:hunter2secret@host/db",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    "-----BEGIN RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("key", ["description", "owner", "domain"])
def test_a_secret_is_refused_anywhere_and_shown_nowhere(
    secret: str, key: str, tmp_path: Path
) -> None:
    text = "\n".join(line for line in SILVER.splitlines() if not line.startswith(f"{key}:"))
    text += f"\n{key}: {json.dumps(secret)}\n"
    errors = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
    assert [error.code for error in errors] == ["LG-2021"]
    shown = "\n".join(render_errors(errors, tmp_path)) + json.dumps([e.to_data() for e in errors])
    assert secret not in shown
    assert "hunter2" not in shown


def test_a_secret_beside_another_mistake_is_not_shown_either(tmp_path: Path) -> None:
    text = SOURCE + "options: {delimeter: x, password: hunter2}\n"
    errors = mistakes(tmp_path, {**SHOP, "definitions/sources/orders.yaml": text})
    assert [error.code for error in errors] == ["LG-2002", "LG-2021"]
    assert "hunter2" not in "\n".join(render_errors(errors, tmp_path))


@pytest.mark.parametrize(
    "value",
    [
        "data/550e8400-e29b-41d4-a716-446655440000/*.parquet",
        "exports/2026-01-31/customer_orders_full_export_v2.csv",
        "/mnt/lake/landing/orders/part-*.snappy.parquet",
        "https",
        "d41d8cd98f00b204e9800998ecf8427e/x.csv",
        "/srv/Delta/customers_of_the_north_2026/tables/Kunden1",
    ],
)
def test_ordinary_paths_are_not_taken_for_secrets(value: str, tmp_path: Path) -> None:
    text = SOURCE.replace("data/*.csv", value)
    assert mistakes(tmp_path, {**SHOP, "definitions/sources/orders.yaml": text}) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_refused(tmp_path: Path, data: bytes) -> None:
    errors = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": data})
    assert errors
    assert_inert(list(render_errors(errors, tmp_path)))


SCRAPS = st.sampled_from(
    [*" \n:-[]{},'\"#&*!|>%@`", "  ", "dataset", "columns", "rules", "type", "silver.orders",
     "unique(order_id)", "range(min=", "null", "true", "build: {sql: sql/orders.sql}", "é", "\t"]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(SCRAPS, max_size=40).map("".join), st.integers(0, len(SILVER)))
def test_any_scrap_in_a_definition_loads_or_is_refused(tmp_path: Path, scrap: str, at: int) -> None:
    text = SILVER[:at] + scrap + SILVER[at:]
    folder = write_folder(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
    errors = mistakes(folder, {})
    assert_inert(list(render_errors(errors, folder)))
