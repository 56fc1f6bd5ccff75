"""Approving what a load can take, and refusing what no run could then do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.promotion.opening.load_checks import load_problems
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.planes import NUMBERS
from tests.support.projects.terminal import Terminal

FILE = "definitions/bronze/numbers.yaml"
TEXT = """\
dataset: bronze.numbers
owner: tests
domain: test
source: numbers
load: {load}
schema: {{profile: STRICT}}
columns:
  n: {{type: long}}
  k: {{type: integer}}
  day: {{type: integer}}
  gone: {{type: string}}
"""
COLUMNS = {"n": "long", "k": "integer", "day": "integer", "gone": "string"}
KEYED = "{type: INCREMENTAL, keys: [k]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(
        tmp_path,
        {
            "lakeguard.toml": "[env.dev]\n",
            "definitions/sources/numbers.yaml": "source: numbers\nformat: parquet\npath: in/*\n",
        },
    )


def published(folder: Path, load: str = "APPEND") -> Client:
    """A version is there, made under an APPEND; then the load is what is asked for."""
    client = connect(folder)
    for given in dict.fromkeys(("APPEND", load)):
        write_folder(folder, {FILE: TEXT.format(load=given)})
        client.registry.apply(client.registry.plan(load_folder(folder)))
        if given == "APPEND":
            run_by_hand(client, [1])
    return client


def find(client: Client, **changed: str | None) -> None:
    """A run that finds the columns, these apart."""
    types = {name: kind for name, kind in {**COLUMNS, **changed}.items() if kind}
    plan = opened(client)
    live = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))
    verdict = client.runs.submit_schema(plan.ticket, live)
    assert not verdict.accepted


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"gone": None}, "gone"), ({"n": "string"}, "n"), ({"n": "integer"}, "n")],
)
def test_what_the_load_cannot_take_is_not_approved(
    folder: Path, changed: dict[str, str | None], named: str
) -> None:
    client = published(folder)
    find(client, **changed)
    before = (folder / FILE).read_text()
    result = Terminal(folder).type("lakeguard schema approve bronze.numbers --reason r")
    assert (result.code, "LG-1207" in result.err) == (2, True), result
    assert f"{named} of bronze.numbers changed since v1: APPEND can add columns" in result.err
    assert (folder / FILE).read_text() == before
    assert client.reader.dataset(NUMBERS).revision == 1


def test_the_other_columns_can_be_approved_alone(folder: Path) -> None:
    client = published(folder)
    find(client, gone=None, extra="string", k="long")
    terminal = Terminal(folder)
    assert terminal.type("lakeguard schema approve bronze.numbers --reason r").code == 2
    line = "lakeguard schema approve bronze.numbers --reason r --column extra --column k"
    assert terminal.type(line).code == 0
    assert isinstance(opened(client), RunPlan), "and a run takes it"


def test_a_load_that_builds_all_anew_takes_everything(folder: Path) -> None:
    client = published(folder, "FULL")
    find(client, gone=None, n="string")
    result = Terminal(folder).type("lakeguard schema approve bronze.numbers --reason r")
    assert result.code == 0, result.err
    assert isinstance(opened(client), RunPlan)


def test_a_local_time_is_not_approved_for_a_table_without_one(folder: Path) -> None:
    client = published(folder, "FULL")
    find(client, at="timestamp_ntz")
    result = Terminal(folder).type("lakeguard schema approve bronze.numbers --reason r")
    assert (result.code, "Delta takes none later" in result.err) == (2, True)


def test_a_key_of_another_type_is_not_approved(folder: Path) -> None:
    client = published(folder, KEYED)
    find(client, k="long")
    result = Terminal(folder).type("lakeguard schema approve bronze.numbers --reason r")
    assert (result.code, "k of bronze.numbers changed since v1" in result.err) == (2, True), result


def test_what_a_table_is_partitioned_by_stays_as_it_is(folder: Path) -> None:
    had = published(folder).reader.definition(NUMBERS)
    wider = (ColumnDefinition(name="day", type="long"), ColumnDefinition(name="k", type="long"))
    kept = [column for column in had.columns if column.name not in ("day", "k")]
    after = had.model_copy(update={"columns": (*kept, *wider)})
    assert list(load_problems(after, had.table_schema, 1, ())) == []
    (problem,) = load_problems(after, had.table_schema, 1, ("day",))
    assert problem.startswith("day of bronze.numbers changed since v1")
