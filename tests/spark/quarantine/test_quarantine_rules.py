"""Every row-level rule quarantines exactly the failing rows, with either engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from tests.support.lakes.quarantining_tables import Row, SiftedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
APPEND = Load(type=LoadType.APPEND)
COLUMNS = {
    "id": "long",
    "parent": "long",
    "amount": "double",
    "text": "string",
    "kind": "string",
}
NAN = float("nan")


def row(number: int, **more: Any) -> Row:
    return {"id": number, "parent": None, "amount": 1.0, "text": "{}", "kind": "k", **more}


@pytest.fixture(params=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def table(folder: Path, engine: str, load: Load = APPEND, **rules: str) -> SiftedTable:
    things = SiftedTable(folder, load, COLUMNS, rules)
    things.runs.settings = {"measure_with": engine}
    return things


def test_every_kind_of_rule_at_once(tmp_path: Path, engine: str) -> None:
    things = table(
        tmp_path,
        engine,
        a_amount="ge(amount, value=0) where kind = 'k'",
        b_json="json_valid(text)",
        c_once="unique(id) scope batch",
        d_parent="foreign_key(parent -> bronze.things(id))",
    )
    things.land(
        row(1, amount=-1.0),
        row(2, amount=-1.0, kind="other"),
        row(3, amount=-1.0, kind=None),
        row(4, text="{"),
        row(5, text=None),
        row(6),
        row(6, text="["),
        row(7, parent=2),
        row(8, parent=99),
        row(9, amount=NAN),
        row(10, amount=None),
    )
    assert things.run().status is RunStatus.SUCCESS
    assert things.evidence.engine.startswith(engine)
    assert things.shown("id") == [10, 2, 3, 5, 7]
    assert things.filed() == {"a_amount": [1, 9], "b_json": [4, 6], "c_once": [6], "d_parent": [8]}
    assert {rule: things.before(rule) for rule in things.rules} == {
        "a_amount": (2, 9), "b_json": (2, 11), "c_once": (2, 11), "d_parent": (1, 11),
    }  # fmt: skip
    rules = sorted(map(tuple, things.kept().column("lg_rules").to_pylist()))
    assert rules == [
        ("a_amount",), ("a_amount",), ("b_json",), ("b_json", "c_once"), ("c_once",), ("d_parent",),
    ]  # fmt: skip
    assert all(things.left(rule) == 0 for rule in things.rules)


def test_children_of_rows_that_are_quarantined_have_no_parent(tmp_path: Path, engine: str) -> None:
    things = table(tmp_path, engine, parent="foreign_key(parent -> bronze.things(id))")
    things.land(row(1), row(2, parent=1), row(3, parent=99), row(4, parent=3), row(5, parent=4))
    assert things.run().status is RunStatus.SUCCESS
    assert things.shown("id") == [1, 2]
    assert things.filed() == {"parent": [3, 4, 5]}
    assert things.before("parent") == (3, 5)
    assert things.left("parent") == 0


def test_a_key_that_the_table_has_already(tmp_path: Path, engine: str) -> None:
    things = table(tmp_path, engine, once="unique(id)")
    things.land(row(1), row(2))
    things.run()
    things.land(row(2, kind="again"), row(3), row(4), row(4))
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed("kind") == {"once": ["again", "k", "k"]}
    assert things.shown("id", "kind") == [(1, "k"), (2, "k"), (3, "k")]
    assert things.left("once") == 0


def test_rows_of_the_table_that_fail_are_not_the_batch_s(tmp_path: Path, engine: str) -> None:
    things = table(tmp_path, engine)
    things.land(row(1), row(1), row(2))
    things.run()
    things.say({"once": "unique(id)"})
    things.land(row(3))
    things.run()
    assert things.evidence.quarantined is None
    assert things.left("once") == 2
    assert things.shown("id") == [1, 1, 2, 3]


def test_keys_that_are_no_number_are_one_key(tmp_path: Path, engine: str) -> None:
    things = table(tmp_path, engine, once="unique(amount) scope batch")
    nans = [row(n, amount=NAN) for n in (1, 2)]
    zeros = [row(3, amount=0.0), row(4, amount=-0.0)]
    things.land(*nans, *zeros, row(5, amount=2.0), row(6, amount=None), row(7, amount=None))
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed() == {"once": [1, 2, 3, 4]}
    assert things.shown("id") == [5, 6, 7]


def test_values_that_are_no_number_are_found_behind_bounds(tmp_path: Path, engine: str) -> None:
    """Statistics ignore NaN, both when reading and when writing."""
    things = table(tmp_path, engine, high="le(amount, value=5)")
    things.land(row(1), row(2, amount=NAN), row(3, amount=9.0), row(4, amount=NAN, kind=None))
    things.run()
    first = things.filed()
    things.say({"kind": "not_null(kind)"})
    things.land(row(5, amount=NAN), row(6, kind=None))
    things.run()
    assert things.filed() == {"kind": [6]}
    (file,) = things.evidence.files
    assert "amount" not in json.loads(file.stats)["maxValues"]
    assert things.shown("id") == [1, 5]
    assert first == {"high": [2, 3, 4]}


def test_a_column_by_the_name_of_the_engine_s_own(tmp_path: Path) -> None:
    columns = {"id": "long", "File_Row_Number": "long", "filename": "string"}
    things = SiftedTable(tmp_path, APPEND, columns, {"a": "ge(File_Row_Number, value=0)"})
    things.land(*({"id": n, "File_Row_Number": 1 - n, "filename": "x"} for n in range(4)))
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed() == {"a": [2, 3]}
    assert things.shown("id") == [0, 1]


def test_odd_names_of_folders_and_columns(tmp_path: Path, engine: str) -> None:
    columns = {"id": "long", "a b.c`d": "string", 'q"': "long"}
    rules = {"a": 'ge(`q"`, value=0)'}
    folder = tmp_path / "odd [lake] {1} é"
    things = SiftedTable(folder, APPEND, columns, rules)
    things.runs.settings = {"measure_with": engine}
    things.land({"id": 1, 'q"': 1}, {"id": 2, 'q"': -1, "a b.c`d": "x"})
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed("a b.c`d") == {"a": ["x"]}
    assert things.shown("id") == [1]
