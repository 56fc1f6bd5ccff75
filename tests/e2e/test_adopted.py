"""A table that already exists, from the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.support.lakes.foreign_tables import fingerprint
from tests.support.projects.terminal import Terminal


@pytest.fixture
def shop(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    assert terminal.type("lakeguard init shop").code == 0
    terminal.type("cd shop")
    return terminal


@pytest.fixture
def customers(tmp_path: Path) -> Path:
    place = tmp_path / "data" / "customers"
    for low in (0, 40):
        rows = {
            "id": list(range(low, low + 40)),
            "country": ["DE", "FR"] * 20,
            "mail": [None, "x@example.org"] * 20,
        }
        write_deltalake(place, pa.table(rows), mode="append", partition_by=["country"])
    return place


def test_adopted_as_it_is(shop: Terminal, customers: Path) -> None:
    result = shop.type(f"lakeguard adopt silver.customers {customers}")
    assert result.code == 0, result.err
    assert "wrote definitions/silver/customers.yaml" in result.out
    assert "✓ ADOPTED  silver.customers v1   80 rows, 6 checks passed" in result.out
    written = (shop.folder / "definitions" / "silver" / "customers.yaml").read_text()
    for line in (
        f"location: {customers}",
        "load: {type: APPEND, partition_by: [country]}",
        "id: {type: long, required: true}",
        "mail: {type: string}",
        "- unique(id)",
    ):
        assert line in written
    assert "v1" in shop.type("lakeguard versions silver.customers").out
    assert shop.type("lakeguard plan").out.startswith("no changes")
    assert shop.type("lakeguard maintain").code == 0
    assert shop.type("lakeguard verify --replay").code == 0
    again = shop.type(f"lakeguard adopt silver.customers {customers} --json")
    assert (again.code, again.data["error"]["code"]) == (2, "LG-1204")


def test_blocked_then_edited_then_adopted(shop: Terminal, customers: Path) -> None:
    assert shop.type(f"lakeguard adopt silver.customers {customers}").code == 0
    other = customers.parent / "orders"
    write_deltalake(other, pa.table({"id": [1, 1, 2]}))
    file = shop.folder / "definitions" / "silver" / "orders.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = (
        "dataset: silver.orders\nowner: ann\ndomain: sales\nbuild: frame\n"
        f"location: {other}\nload: {{type: APPEND}}\ncolumns:\n  id: {{type: long}}\n"
    )
    file.write_text(f"{text}rules:\n- unique(id)\n")
    before = fingerprint(str(other))
    blocked = shop.type(f"lakeguard adopt silver.orders {other}")
    assert (blocked.code, "the table is unchanged" in blocked.out) == (3, True)
    assert "unique(id)" in blocked.out
    assert fingerprint(str(other)) == before
    why = shop.type("lakeguard why silver.orders")
    assert f"lakeguard adopt silver.orders {other}" in why.out
    file.write_text(text)
    adopted = shop.type(f"lakeguard adopt silver.orders {other} --json")
    assert (adopted.code, adopted.data["published"]) == (0, 1)
    assert DeltaTable(str(other)).version() == 1


def test_what_cannot_be_adopted_is_refused_before_anything_is_written(
    shop: Terminal, customers: Path
) -> None:
    nothing = shop.type(f"lakeguard adopt silver.customers {customers.parent}")
    assert (nothing.code, "it is not a Delta table" in nothing.err) == (3, True)
    DeltaTable(str(customers)).alter.set_table_properties({"delta.appendOnly": "true"})
    refused = shop.type(f"lakeguard adopt silver.customers {customers}")
    assert (refused.code, "it uses appendOnly" in refused.err) == (3, True)
    assert "'delta.appendOnly' = 'false'" in refused.err
    assert not (shop.folder / "definitions" / "silver").exists()
    assert "no datasets are registered" in shop.type("lakeguard status").out


def test_a_dataset_has_one_table(shop: Terminal, customers: Path) -> None:
    assert shop.type(f"lakeguard adopt silver.customers {customers}").code == 0
    other = customers.parent / "twin"
    write_deltalake(other, pa.table({"id": [1]}))
    refused = shop.type(f"lakeguard adopt silver.orders {customers}")
    assert (refused.code, "LG-3005" in refused.err) == (3, True)
    assert "the table of silver.customers" in refused.err
    assert not (shop.folder / "definitions" / "silver" / "orders.yaml").exists()
    assert shop.type("lakeguard plan").out.startswith("no changes")
    wrong = shop.type(f"lakeguard adopt silver.customers {other}")
    assert wrong.code == 2


def test_what_the_registry_refuses_leaves_no_definition_behind(
    shop: Terminal, customers: Path
) -> None:
    assert shop.type(f"lakeguard adopt silver.customers {customers}").code == 0
    write_deltalake(customers / "deeper", pa.table({"id": [1]}))
    refused = shop.type(f"lakeguard adopt silver.deeper {customers / 'deeper'}")
    assert (refused.code, "silver.customers" in refused.err) == (2, True), refused.err
    assert not (shop.folder / "definitions" / "silver" / "deeper.yaml").exists()
    assert shop.type("lakeguard plan").out.startswith("no changes")


def test_a_place_in_the_lake_leaves_no_definition_behind(shop: Terminal) -> None:
    inside = shop.folder / "data" / "odd"
    write_deltalake(inside, pa.table({"id": [1]}))
    refused = shop.type(f"lakeguard adopt silver.odd {inside}")
    why = "the folder is inside the lake; remove location"
    assert (refused.code, why in refused.err) == (2, True), refused.err
    assert not (shop.folder / "definitions" / "silver").exists()


def test_a_copy_of_an_adopted_table_leaves_all_as_it_was(shop: Terminal, customers: Path) -> None:
    copy = customers.parent / "copy"
    shutil.copytree(customers, copy)
    assert shop.type(f"lakeguard adopt silver.customers {customers}").code == 0
    before = fingerprint(str(copy))
    refused = shop.type(f"lakeguard adopt silver.copied {copy}")
    assert (refused.code, "LG-3005" in refused.err) == (3, True), refused.err
    assert fingerprint(str(copy)) == before
    assert not (shop.folder / "definitions" / "silver" / "copied.yaml").exists()
    assert shop.type("lakeguard maintain").code == 0


@pytest.mark.parametrize("harm", ["gone", "cut", "spoilt"])
def test_a_damaged_file_is_named(shop: Terminal, customers: Path, harm: str) -> None:
    file = sorted(customers.rglob("*.parquet"))[0]
    content = file.read_bytes()
    file.unlink()
    if harm != "gone":
        file.write_bytes(content[:-9] if harm == "cut" else bytes(len(content)))
    refused = shop.type(f"lakeguard adopt silver.customers {customers}")
    assert (refused.code, "LG-3005" in refused.err) == (3, True), refused.err
    assert file.name in refused.err
    assert "SELECT" not in refused.err
    assert not (shop.folder / "definitions" / "silver").exists()


def test_it_is_told_as_adopted(shop: Terminal, customers: Path) -> None:
    assert shop.type(f"lakeguard adopt silver.customers {customers}").code == 0
    result = shop.type("lakeguard versions silver.customers").out
    assert ("adopted" in result, "a program" in result) == (True, False)
