"""Approving where columns came with the data before: what is listed is what gets declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.editing.drift import drifted
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.model.schema_changes import ColumnOrigin
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.planes import NUMBERS
from tests.support.projects.terminal import CommandResult, Terminal

ORDERS = DatasetName("bronze.orders")
FILE = "definitions/bronze/orders.yaml"
TEXT = """\
dataset: bronze.orders
owner: sales
domain: shop
source: orders
load: FULL
schema: {profile: BACKWARD}
columns:
  id: {type: integer}   # the key
  amt: {type: integer}
  st: {type: 'struct<a:integer>'}
"""
FILES: dict[str, str | bytes] = {
    "lakeguard.toml": "[env.dev]\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: parquet\npath: in/*.parquet\n",
    FILE: TEXT,
}
GREW = {"id": "integer", "amt": "long", "st": "struct<a:long>", "extra": "double"}


def schema(**types: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """The file as it was written; amt and st got wider with the data, and extra came with it."""
    client = connect(write_folder(tmp_path, FILES))
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    grew(client, ORDERS, schema(**GREW))
    return client


def grew(client: Client, name: DatasetName, found: TableSchema) -> None:
    definition = drifted(client.reader.definition(name), found)
    client.registry.apply(client.registry.plan(Definitions(datasets=(definition,))))


def accepts(client: Client, live: TableSchema, name: DatasetName = ORDERS) -> bool:
    """Whether a run goes on with what it finds."""
    plan = client.runs.open_run(client.operations.submit(name, "test"), this_process("test"))
    assert isinstance(plan, RunPlan), plan
    return client.runs.submit_schema(plan.ticket, live).accepted


def approve(folder: Path, more: str = "", name: str = ORDERS) -> CommandResult:
    return Terminal(folder).type(f"lakeguard schema approve {name} --reason r {more}")


@pytest.mark.parametrize(
    "live",
    [
        schema(id="integer", amt="string", st="struct<a:integer>"),
        schema(id="integer", amt="integer", st="struct<a:long>", extra="double"),
        schema(id="integer", amt="long", st="struct<a:integer>", extra="double"),
        schema(id="integer", amt="long", st="struct<a:string>", extra="string"),
    ],
)
@pytest.mark.parametrize("has_file", [True, False])
def test_all_that_blocks_is_declared_at_once(
    tmp_path: Path, client: Client, live: TableSchema, has_file: bool
) -> None:
    assert not accepts(client, live)
    if not has_file:
        (tmp_path / FILE).unlink()
    given = approve(tmp_path)
    assert given.code == 0, given.err
    assert client.reader.definition(ORDERS).declared == live
    assert accepts(client, live), "so the next run takes it"
    diff = client.reader.schema_diff(ORDERS)
    assert diff is not None
    assert diff.differences == ()
    again = approve(tmp_path)
    assert (again.code, "the latest schema is already declared" in again.err) == (2, True)
    if has_file:
        assert "# the key" in (tmp_path / FILE).read_text()
        assert not client.registry.plan(load_folder(tmp_path)).steps


def test_one_column_alone_leaves_what_drifted_as_it_was(tmp_path: Path, client: Client) -> None:
    accepts(client, schema(id="integer", amt="integer", st="struct<a:integer>"))
    assert approve(tmp_path, "--column st.a").code == 0
    columns = {column.name: column for column in client.reader.definition(ORDERS).columns}
    assert (columns["st"].type, columns["st"].widened_from) == ("struct<a:integer>", "")
    assert (columns["amt"].type, columns["amt"].widened_from) == ("long", "integer")
    assert columns["extra"].origin is ColumnOrigin.DRIFT
    assert (tmp_path / FILE).read_text() == TEXT
    assert not client.registry.plan(load_folder(tmp_path)).steps


def test_what_drifted_in_is_declared_when_nothing_else_differs(
    tmp_path: Path, client: Client
) -> None:
    assert accepts(client, schema(**GREW))
    assert approve(tmp_path).code == 0
    columns = client.reader.definition(ORDERS).columns
    assert {column.origin for column in columns} == {ColumnOrigin.DECLARED}
    assert client.reader.definition(ORDERS).declared == schema(**GREW)
    assert "extra: {type: double}" in (tmp_path / FILE).read_text()
    assert not client.registry.plan(load_folder(tmp_path)).steps


def test_a_load_that_rewrites_nothing_says_what_it_cannot_take(tmp_path: Path) -> None:
    text = TEXT.replace("orders", "numbers").replace("load: FULL", "load: APPEND")
    text = text.replace("source: numbers", "source: orders").replace("id:", "n:")
    file = "definitions/bronze/numbers.yaml"
    files = {name: data for name, data in FILES.items() if name != FILE}
    client = connect(write_folder(tmp_path, {**files, file: text}))
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    grew(client, NUMBERS, schema(n="integer", amt="long", st="struct<a:long>", extra="double"))
    run_by_hand(client, [1])
    live = schema(n="integer", amt="long", st="struct<a:integer>", new="string")
    assert not accepts(client, live, NUMBERS)
    given = approve(tmp_path, name=NUMBERS)
    assert (given.code, "LG-1207" in given.err) == (2, True), given
    assert "st of bronze.numbers changed since v1" in given.err, "extra stays: BACKWARD takes that"
    assert "load type FULL" in given.err
    assert (tmp_path / file).read_text() == text
