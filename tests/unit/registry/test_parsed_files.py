"""Reading a folder again gives the same definitions, in any state of the cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeguard.registry.files import parse_cache
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import definition_hash
from tests.support.cases.every_definition_kind import EVERY_KIND
from tests.support.projects.definition_folders import (
    BRONZE,
    SHOP,
    SILVER,
    write_folder,
)

FILES = {**SHOP, **EVERY_KIND}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".lakeguard").mkdir()
    return write_folder(tmp_path, FILES)


def cache_of(folder: Path) -> Path:
    return folder / ".lakeguard" / "cache" / "definitions"


def test_a_folder_is_the_same_the_second_time(folder: Path, tmp_path: Path) -> None:
    first = load_folder(folder)
    kept = cache_of(folder).read_bytes()
    second = load_folder(folder)
    assert second == first
    assert cache_of(folder).read_bytes() == kept
    for item in second.datasets:
        assert definition_hash(item) == definition_hash(item.model_copy())
    assert sorted(os.listdir(cache_of(folder).parent)) == ["definitions"]


def test_what_is_known_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_folder(folder)
    monkeypatch.setattr("lakeguard.registry.text.yaml_documents.read_document", None)
    assert load_folder(folder) == first


def test_an_edit_counts_at_once(folder: Path) -> None:
    load_folder(folder)
    write_folder(folder, {"definitions/bronze/orders.yaml": BRONZE.replace("sales", "ops")})
    assert load_folder(folder).datasets[1].owner == "ops"
    write_folder(folder, {"sql/orders.sql": "select 1 as order_id, amount from bronze.orders\n"})
    assert "select 1" in load_folder(folder).datasets[2].build.text
    (folder / "definitions/jobs/load_customers.yaml").unlink()
    assert load_folder(folder).jobs == ()
    assert "load_customers" not in cache_of(folder).read_text()


def test_a_mistake_is_never_kept(folder: Path) -> None:
    write_folder(folder, {"definitions/bronze/orders.yaml": BRONZE.replace("double", "dobule")})
    for _ in range(2):
        with pytest.raises(InvalidDefinitions) as invalid:
            load_folder(folder)
        assert [error.code for error in invalid.value.errors] == ["LG-2018"]


def test_what_takes_two_files_is_looked_at_each_time(folder: Path) -> None:
    load_folder(folder)
    loop = SILVER.replace("[bronze.orders]", "[bronze.orders, silver.loop]")
    sql = "select a.* from bronze.orders a join silver.loop b on a.order_id = b.order_id\n"
    turned = SILVER.replace("silver.orders", "silver.loop").replace(
        "bronze.orders", "silver.orders"
    )
    turned = turned.replace("sql/orders", "sql/loop")
    write_folder(
        folder,
        {
            "definitions/silver/orders.yaml": loop,
            "definitions/silver/loop.yaml": turned,
            "sql/orders.sql": sql,
            "sql/loop.sql": "select * from silver.orders\n",
        },
    )
    for _ in range(2):
        with pytest.raises(InvalidDefinitions) as invalid:
            load_folder(folder)
        assert [error.code for error in invalid.value.errors] == ["LG-2010"]


def test_sql_that_leads_out_by_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    load_folder(folder)
    outside = tmp_path.parent / f"{tmp_path.name}-outside.sql"
    outside.write_text(SHOP["sql/orders.sql"])
    (folder / "sql/orders.sql").unlink()
    os.symlink(outside, folder / "sql/orders.sql")
    with pytest.raises(InvalidDefinitions, match="1 error"):
        load_folder(folder)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "binary", "folder", "other"])
def test_a_damaged_cache_is_not_read(folder: Path, damage: str) -> None:
    first = load_folder(folder)
    cache = cache_of(folder)
    data = cache.read_bytes()
    match damage:
        case "cut":
            cache.write_bytes(data[: len(data) // 2])
        case "flip":
            cache.write_bytes(data.replace(b'"owner":"sales"', b'"owner":"thief"'))
        case "empty":
            cache.write_bytes(b"")
        case "binary":
            cache.write_bytes(b"\xff\x00\n" * 99)
        case "folder":
            cache.unlink()
            cache.mkdir()
        case "other":
            cache.write_bytes(data.replace(data[:8], b"00000000", 1))
    assert load_folder(folder) == first


def test_other_code_reads_afresh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_folder(folder)
    before = cache_of(folder).read_bytes()
    monkeypatch.setattr(parse_cache, "_semantics", lambda: "another reader")
    load_folder(folder)
    assert cache_of(folder).read_bytes() != before
    assert cache_of(folder).read_bytes().startswith(b"another reader ")


def test_a_project_without_a_state_keeps_nothing(tmp_path: Path) -> None:
    load_folder(write_folder(tmp_path, FILES))
    assert not (tmp_path / ".lakeguard").exists()
