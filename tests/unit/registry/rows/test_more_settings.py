"""Columns beyond the seeds, and fields that rows leave unchanged."""

from __future__ import annotations

import json

import pytest

from lakeguard_sdk.core.enums import (
    Deletes,
    LateRows,
    LoadType,
    Malformed,
    SourceFormat,
)
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definitions,
    FromFrame,
    FromPython,
    FromSql,
    SourceDefinition,
)
from lakeguard_sdk.model.load import Load
from tests.support.projects.definitions import dataset, shop, source
from tests.unit.registry.rows.loads import OBJECT, good, loaded, mistakes, only_dataset

HASH = "0f" * 32
PYTHON = FromPython(file="jobs/clean.py", function="clean", sha256=HASH)
CDC = Load(
    type=LoadType.CDC,
    keys=("order_id",),
    order_by=("amount",),
    operation="op",
    deletes=Deletes.SOFT,
    late=LateRows.LOAD,
)


def registered(**given: object) -> Definitions:
    silver = dataset("silver.orders", "bronze.orders", **given)
    return shop(datasets=(dataset("bronze.orders"), silver))


def silver_row(**columns: str) -> str:
    names = ", ".join(("dataset_id", "dataset_name", *columns))
    values = ", ".join(
        "'" + value.replace("'", "''") + "'"
        for value in ("silver.orders", "silver.orders", *columns.values())
    )
    return f"INSERT INTO dataset_registry ({names}) VALUES ({values});"


def silver(columns: dict[str, str], before: Definitions) -> DatasetDefinition:
    return only_dataset(good(silver_row(**columns), before))


def test_a_row_leaves_what_it_cannot_say() -> None:
    before = registered(load=CDC, build=PYTHON)
    found = silver({"owner": "ops", "hash_strategy": "ROW_HASH"}, before)
    assert found.load == CDC.model_copy(update={"hash": "ROW_HASH"})
    assert found.build == PYTHON
    assert found.owner == "ops"


def test_settings_of_a_load_are_said_one_by_one() -> None:
    settings = {"deletes": "HARD", "skip_unchanged": "yes", "order_by": ["order_id"], "lag": ""}
    found = silver({"load_settings": json.dumps(settings)}, registered(load=CDC))
    assert found.load == CDC.model_copy(
        update={"deletes": Deletes.HARD, "skip_unchanged": True, "order_by": ("order_id",)}
    )


def test_settings_name_columns_as_the_source_does() -> None:
    row = (
        "INSERT INTO dataset_registry (dataset_id, dataset_name, load_settings) VALUES"
        """ ('bronze.customers', 'bronze.customers', '{"order_by": ["Customer ID#"]}');"""
    )
    load = "INSERT INTO source_objects (source_object_id, source_system_id, object_name, layer,"
    text = OBJECT.replace(
        "INSERT INTO source_objects (source_object_id, source_system_id, object_name, layer,",
        f"{load} business_keys,",
    ).replace("'Customers', 'BRONZE',", "'Customers', 'BRONZE', 'Customer ID#',")
    assert only_dataset(good(text + row)).load.order_by == ("customer_id",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", "LG-2004 load_settings: write a mapping"),
        ("{", "LG-2004 load_settings: invalid JSON"),
        ('{"lags": "1"}', "LG-2002 unknown key 'lags'; did you mean lag?"),
        ('{"keys": ["a"]}', "LG-2002 unknown key 'keys'"),
        ('{"deletes": "maybe"}', "LG-2004 load_settings: deletes: write one of hard, soft"),
        ('{"inclusive": "maybe"}', "LG-2004 load_settings: inclusive: write true or false"),
        ('{"order_by": "amount"}', "LG-2004 load_settings: order_by: write a list of columns"),
        ('{"lag": ["1"]}', "LG-2004 load_settings: lag: write a single string"),
        ('{"allow_empty": true}', "LG-2004 allow_empty: allow_empty applies to SNAPSHOT only"),
    ],
)
def test_settings_that_are_refused(text: str, expected: str) -> None:
    (given,) = mistakes(silver_row(load_settings=text), registered(load=CDC))
    assert given.startswith(expected)


def test_another_build_replaces_the_one_before() -> None:
    code = {"python_file": "jobs/clean.py", "python_function": "clean", "python_sha256": HASH}
    assert silver(code, registered()).build == PYTHON
    assert silver({"build_type": "frame"}, registered()).build == FromFrame()
    text = "select p0.* from bronze.orders p0"
    found = silver({"sql_text": text}, registered(build=PYTHON)).build
    assert found == FromSql(file="sql/silver/orders.sql", text=text)
    moved = silver({"python_function": "other"}, registered(build=PYTHON)).build
    assert moved == PYTHON.model_copy(update={"function": "other"})


def test_two_builds_contradict_each_other() -> None:
    row = silver_row(build_type="frame", sql_text="select * from bronze.orders")
    assert any("'sql' here, but 'frame' at" in given for given in mistakes(row, registered()))
    row = silver_row(python_file="../x.py", python_function="f", python_sha256=HASH)
    assert "inside the project" in mistakes(row, registered())[0]
    row = silver_row(python_file="x.py")
    assert {given[:7] for given in mistakes(row, registered())} == {"LG-2003"}


def details(*rows: tuple[str, str]) -> str:
    values = ", ".join(f"('orders', '{name}', '{value}')" for name, value in rows)
    return f"INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES {values};"


def test_a_source_of_the_web() -> None:
    rows = details(
        ("path", ""), ("url", "https://h.example/x?token={token}"), ("header", "a, b"),
        ("malformed", "QUARANTINE"), ("landing", "Y"), ("secret.token", "env:TOKEN"),
        ("detail.url", "elsewhere"),
    )  # fmt: skip
    (found,) = good(rows, shop()).sources
    assert found == SourceDefinition(
        source="orders",
        format=SourceFormat.CSV,
        url="https://h.example/x?token={token}",
        header=("a", "b"),
        malformed=Malformed.QUARANTINE,
        landing=True,
        secrets={"token": "env:TOKEN"},
        details={"url": "elsewhere"},
    )


def test_a_source_keeps_what_no_row_names() -> None:
    held = source(header=("a", "b"), malformed=Malformed.QUARANTINE, landing=True)
    (found,) = good(details(("delimiter", ";")), shop(sources=(held,))).sources
    assert found == held.model_copy(update={"options": {"delimiter": ";"}})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("secret.token", "hunter2", "LG-2021"),
        ("url", "https://me:hunter2@h.example/x", "LG-2021"),
        ("url", "https://h.example/x", "LG-2004 url: write path or url, not both"),
        ("malformed", "drop", "LG-2004 detail_value: invalid value"),
        ("landing", "maybe", "LG-2004 detail_value: 'maybe' is not a boolean"),
        ("header", "a,,b", "LG-2004 detail_value: duplicate or empty column"),
        ("path", "", "LG-2003 'path or url' is required here"),
    ],
)
def test_details_that_are_refused(name: str, value: str, expected: str) -> None:
    text = details((name, value))
    given = mistakes(text, shop())
    assert any(line.startswith(expected) for line in given), given
    assert "hunter2" not in str(loaded(text, shop())[1])


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("time", "did you mean string?"),
        ("year", "did you mean integer?"),
        ("timestmp", "did you mean timestamp?"),
        ("varbinry", "did you mean varbinary?"),
        ("age", ""),
    ],
)
def test_an_unknown_type_is_told_with_what_is_meant(given: str, hint: str) -> None:
    (told,) = (line for line in mistakes(OBJECT.replace("double", given)) if repr(given) in line)
    assert ("did you mean" in told) == bool(hint)
    assert hint in told
