"""Files with different columns are reconciled; a misspelt column never counts as a missing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.load import Load
from openlaketx.extract.files.file_columns import (
    Declared,
    Misfit,
    joint_columns,
    with_absent_keys,
)
from tests.support.lakes.plans import csv, plan, schema

NAMES = ("id", "amount", "extra")
SHOP = Declared(NAMES, frozenset({"amount", "extra"}))


def test_every_column_once_in_the_order_of_the_files() -> None:
    found = joint_columns({"a": ("id", "amount"), "b": ("extra", "id", "amount")}, SHOP)
    assert found == ("id", "amount", "extra")
    assert joint_columns({"a": ("amount", "id"), "b": ("id", "amount")}, SHOP) == ("amount", "id")


@pytest.mark.parametrize(
    ("files", "about"),
    [
        ({"a": ("id", "amount"), "b": ("amount",)}, "b has no column 'id', which a has"),
        ({"a": ("amount",), "b": ("id", "amount")}, "a has no column 'id', which b has"),
        (
            {"a": ("id", "amount"), "b": ("id", "amuont")},
            "b has no column 'amount', which a has, but has the undeclared column 'amuont'",
        ),
        (
            {"a": ("id", "x", "amount"), "b": ("id", "x", "amuont"), "c": ("id", "x")},
            "b has no column 'amount', which a has, but has the undeclared column 'amuont'",
        ),
    ],
)
def test_what_a_file_must_not_lack(files: dict[str, tuple[str, ...]], about: str) -> None:
    with pytest.raises(Misfit) as refusal:
        joint_columns(files, SHOP)
    assert str(refusal.value) == about


@pytest.mark.parametrize(
    "files",
    [
        {"a": ("id",), "b": ("id", "unknown")},
        {"a": ("id", "note"), "b": ("id", "note", "amount")},
        {"a": ("id",), "b": ("id", "note"), "c": ("id", "note", "amount", "extra")},
    ],
)
def test_a_column_that_is_not_declared_is_for_the_gate_to_judge(
    files: dict[str, tuple[str, ...]],
) -> None:
    assert set(joint_columns(files, SHOP)) == {name for names in files.values() for name in names}


def test_before_a_transform_all_files_are_alike(tmp_path: Path) -> None:
    declared = Declared.of(plan(tmp_path, csv(), schema(id="long"), transform="SELECT 1 AS id"))
    assert joint_columns({"a": ("x", "y"), "b": ("y", "x")}, declared) == ("x", "y")
    with pytest.raises(Misfit, match=r"b has no column 'y', which a has"):
        joint_columns({"a": ("x", "y"), "b": ("x",)}, declared)


def test_what_a_load_needs_no_file_may_lack(tmp_path: Path) -> None:
    load = Load(
        type=LoadType.SCD2, keys=("k",), order_by=("n",), operation="op", effective="at",
        partition_by=("p",), watermark="w",
    )  # fmt: skip
    columns = schema(**dict.fromkeys(["k", "n", "at", "p", "w", "needed", "free"], "string"))
    made = plan(tmp_path, csv(), columns, load=load, required=("needed",))
    assert Declared.of(made).optional == {"free"}


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (("id",), NAMES),
        (("amount", "id"), ("amount", "id", "extra")),
        (("id", "amuont"), ("id", "amuont")),
        (("amount",), ("amount", "extra")),
        ((), ()),
    ],
)
def test_keys_that_no_line_has(found: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert with_absent_keys(found, SHOP) == names
