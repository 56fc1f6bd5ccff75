"""Folders of definitions: what is read, what is refused, and all errors at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType, Severity
from lakeguard_sdk.model.definitions import FromSource, FromSql
from tests.support.projects.definition_folders import (
    BRONZE,
    SHOP,
    SILVER,
    SOURCE,
    load,
    mistakes,
    places_and_codes,
)


def test_a_folder_becomes_definitions(tmp_path: Path) -> None:
    found = load(tmp_path, SHOP)
    assert [source.source for source in found.sources] == ["orders"]
    assert [d.dataset for d in found.datasets] == ["bronze.orders", "silver.orders", "gold.revenue"]
    assert [policy.expression for policy in found.policies] == ["forbid tag:pii"]
    bronze, silver, _ = found.datasets
    assert bronze.build == FromSource(source="orders")
    assert bronze.load.type is LoadType.FULL
    assert [(rule.rule_id, rule.severity) for rule in bronze.rules] == [
        ("not_null.order_id", Severity.FAIL),
        ("range.amount", Severity.FAIL),
    ]
    assert silver.build == FromSql(file="sql/orders.sql", text=SHOP["sql/orders.sql"])


def test_hybrid_is_append(tmp_path: Path) -> None:
    text = BRONZE + "load: {type: HYBRID}\n"
    found = load(tmp_path, {**SHOP, "definitions/bronze/orders.yaml": text})
    assert found.datasets[0].load.type is LoadType.APPEND


def test_a_rule_can_say_more_about_itself(tmp_path: Path) -> None:
    rule = "  - {rule: row_count(min=1), id: any_rows, severity: WARN, active: false}\n"
    found = load(tmp_path, {**SHOP, "definitions/silver/orders.yaml": SILVER + rule})
    last = found.datasets[1].rules[-1]
    assert (last.rule_id, last.severity, last.active) == ("any_rows", Severity.WARN, False)


def test_text_that_yaml_would_convert_stays_text(tmp_path: Path) -> None:
    text = BRONZE.replace("owner: sales", "owner: 007").replace("domain: shop", "domain: off")
    text += "description: no\n"
    found = load(tmp_path, {**SHOP, "definitions/bronze/orders.yaml": text})
    bronze = found.datasets[0]
    assert (bronze.owner, bronze.domain, bronze.description) == ("007", "off", "no")


def test_all_mistakes_are_told_in_reading_order(tmp_path: Path) -> None:
    files = {
        **SHOP,
        "definitions/silver/orders.yaml": SILVER.replace("owner", "ownr").replace("uniq", "uni"),
        "definitions/sources/orders.yaml": SOURCE.replace("csv", "cvs", 1),
        "definitions/bronze/broken.yaml": "a: [\n",
    }
    assert places_and_codes(mistakes(tmp_path, files)) == [
        "definitions/bronze/broken.yaml:2:1 LG-2001",
        "definitions/silver/orders.yaml:2:1 LG-2002",
        "definitions/silver/orders.yaml:10:5 LG-2013",
        "definitions/sources/orders.yaml:2:9 LG-2004",
    ]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("definitions/slver/x.yaml", "did you mean silver?"),
        ("definitions/Bronze/x.yaml", "did you mean bronze?"),
        ("definitions/orders.yaml", "belongs in a folder"),
        ("definitions/bronze/deep/x.yaml", "nested folders"),
        ("definitions/bronze/x.yml", "rename it to x.yaml"),
        ("definitions/bronze/x.YAML", "rename it to x.yaml"),
    ],
)
def test_what_stands_in_the_wrong_place_is_told(file: str, says: str, tmp_path: Path) -> None:
    (error,) = mistakes(tmp_path, {**SHOP, file: BRONZE})
    assert error.code == "LG-2004"
    assert file.startswith(error.place.file)
    assert says in str(error)


def test_what_is_not_a_definition_is_left_alone(tmp_path: Path) -> None:
    others = {
        "definitions/README.md": "# Notes\n",
        "definitions/bronze/notes.txt": "x",
        "definitions/bronze/.orders.yaml.swp": b"\0\0",
        "definitions/.git/x.yaml": ":",
    }
    assert mistakes(tmp_path, {**SHOP, **others}) == ()


def test_a_project_without_definitions_is_told(tmp_path: Path) -> None:
    (error,) = mistakes(tmp_path, {"lakeguard.toml": ""})
    assert (error.code, error.place.file) == ("LG-2007", "definitions")


def test_a_layer_and_a_name_are_where_the_file_stands(tmp_path: Path) -> None:
    files = {**SHOP, "definitions/silver/copy.yaml": BRONZE}
    (error,) = mistakes(tmp_path, files)
    assert str(error.place) == "definitions/silver/copy.yaml:1:10"
    assert "implies silver.copy, but it defines bronze.orders" in str(error)


def test_links_out_of_the_project_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.yaml").write_text(BRONZE)
    (outside / "secret.sql").write_text("select 1\n")
    inside = tmp_path / "inside"
    load(inside, SHOP)
    os.symlink(outside / "secret.yaml", inside / "definitions" / "bronze" / "secret.yaml")
    os.symlink(outside, inside / "definitions" / "gold2")
    os.symlink(outside / "secret.sql", inside / "sql" / "linked.sql")
    text = SILVER.replace("sql/orders.sql", "sql/linked.sql")
    errors = mistakes(inside, {"definitions/silver/orders.yaml": text})
    assert [error.place.file for error in errors] == [
        "definitions/bronze/secret.yaml",
        "definitions/gold2",
        "definitions/silver/orders.yaml",
    ]
    assert all("is a link" in str(error) for error in errors)


def test_links_inside_the_project_are_fine(tmp_path: Path) -> None:
    load(tmp_path, SHOP)
    os.rename(tmp_path / "sql", tmp_path / "queries")
    os.symlink(tmp_path / "queries", tmp_path / "sql")
    assert mistakes(tmp_path, {}) == ()


@pytest.mark.parametrize(
    ("sql", "place", "says"),
    [
        ("select order_id\nfrom bronze.order\n", "2:6", "did you mean bronze.orders?"),
        ("select 1;\n\ndrop table x\n", "1:9", "a second statement"),
        ("select * from parquet.`/etc/passwd`\n", "1:15", "not a dataset"),
        (b"select '\xff'\n", "1:9", "not UTF-8"),
        ("-- " + "x" * 1_000_000, "1:1", "longer than"),
        ("select 'ghp_" + "a1B2" * 10 + "'\n", "1:1", "looks like a secret"),
    ],
)
def test_mistakes_in_sql_stand_in_the_sql_file(
    sql: str | bytes, place: str, says: str, tmp_path: Path
) -> None:
    (error,) = mistakes(tmp_path, {**SHOP, "sql/orders.sql": sql})
    assert str(error.place) == f"sql/orders.sql:{place}"
    assert says in str(error)


def test_line_ends_do_not_change_what_a_build_is(tmp_path: Path) -> None:
    unix = load(tmp_path / "a", {**SHOP, "sql/orders.sql": "select *\nfrom bronze.orders\n"})
    windows = load(tmp_path / "b", {**SHOP, "sql/orders.sql": "select *\r\nfrom bronze.orders\r\n"})
    assert unix == windows
