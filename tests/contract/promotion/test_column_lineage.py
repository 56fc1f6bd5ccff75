"""From which columns a column came: told with every version, on the State and on the lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import LoadType, RunStatus, TaskState
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromPython,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunResult, RunTicket
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    numbers,
    opened,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS, Clock
from tests.support.projects.shell import Shell

pytestmark = pytest.mark.usefixtures("each_state")

PARENT = numbers(
    columns=(ColumnDefinition(name="n", type="long"), ColumnDefinition(name="Mail", type="string"))
)
Arrows = dict[str, set[str]]


def silver(text: str, *columns: str, **changes: Any) -> DatasetDefinition:
    declared = tuple(ColumnDefinition(name=name, type="long") for name in columns)
    return built(text).model_copy(update={"columns": declared, **changes})


def publish(client: Client, live: TableSchema | None = None) -> RunResult:
    """A run of the silver dataset, by hand."""
    return client.runs.complete_move(*begin(client, live))


def begin(client: Client, live: TableSchema | None = None) -> tuple[RunTicket, int]:
    """As far as its commit."""
    plan, lake = opened(client, DOUBLED), DeltaLake()
    plan = plan.under(client.runs.submit_schema(plan.ticket, live or plan.declared))
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [1]))
    assert decision.allowed, decision.ruling.reasons
    return plan.ticket, lake.publish(client.runs.begin_move(plan.ticket))


def published(folder: Path, *datasets: DatasetDefinition, **more: Any) -> Client:
    client = world(folder, PARENT, *datasets, **more)
    run_by_hand(client, [1])
    assert publish(client).status is RunStatus.SUCCESS
    return client


def arrows(client: Client, version: int | None = None) -> Arrows:
    found: Arrows = {}
    for arrow in client.reader.column_lineage(DOUBLED, version):
        found.setdefault(arrow.column, set()).add(f"{arrow.input}.{arrow.input_column}")
    return found


def test_each_column_tells_what_it_is_made_of(tmp_path: Path) -> None:
    text = "SELECT n, n + length(mail) AS both, 7 AS seven FROM bronze.numbers WHERE n > 0"
    client = published(tmp_path, silver(text, "n", "both", "seven"))
    own = {"n": {"bronze.numbers.n"}, "both": {"bronze.numbers.n", "bronze.numbers.Mail"}}
    assert arrows(client) == own, "a constant is made of no column"
    assert client.reader.column_lineage(NUMBERS) == [], "a source is no dataset"


def test_of_a_function_of_python_only_the_input_is_known(tmp_path: Path) -> None:
    build = FromPython(file="builds/b.py", function="b", sha256="0" * 64)
    client = published(tmp_path, silver("", "n", build=build))
    (arrow,) = client.reader.column_lineage(DOUBLED)
    assert (arrow.column, arrow.input, arrow.input_column) == ("n", "bronze.numbers", None)


def test_what_a_transform_makes_anew_is_not_followed(tmp_path: Path) -> None:
    target = TargetDefinition(
        target="shop", location="shop", zone="silver", transform="SELECT m AS n, n AS m FROM batch"
    )
    swapped = silver("SELECT n, n + 1 AS m FROM bronze.numbers", "n", "m", target="shop")
    client = published(tmp_path, swapped, targets=(target,))
    assert arrows(client) == {name: {"bronze.numbers.None"} for name in ("n", "m")}


MADE_OF_ONE_VALUE = (
    "select k as n from (select posexplode(array(n)) as (p, k) from bronze.numbers)",
    "select b as n from (select stack(1, n, n) as (a, b) from bronze.numbers)",
    "select b as n from (select json_tuple(mail, 'a', 'b') as (a, b) from bronze.numbers)",
    "select b as n from (select inline(array(struct(n, n))) as (a, b) from bronze.numbers)",
    "with x as (select explode(map(n, n)) as (a, b) from bronze.numbers) select b as n from x",
    "select posexplode(array(n)) as (p, n) from bronze.numbers",
    "select hash(struct(*)) as n from bronze.numbers",
)


@pytest.mark.parametrize("text", MADE_OF_ONE_VALUE)
def test_each_column_of_several_comes_from_the_arguments(tmp_path: Path, text: str) -> None:
    client = published(tmp_path, silver(text, "n"))
    assert arrows(client)["n"] <= {"bronze.numbers.n", "bronze.numbers.Mail"}


NOT_FOLLOWED = (
    "select col as n from (select explode(array(n)) from bronze.numbers)",
    "select b as n from (select inline(array(named_struct('b', n))) from bronze.numbers)",
    "select size(collect_set(struct(n = 1))) as n from bronze.numbers",
)


@pytest.mark.parametrize("text", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_published_and_not_known(
    tmp_path: Path, text: str, shell: Shell
) -> None:
    client = published(tmp_path, silver(text, "n"))
    assert arrows(client) == {"n": {"bronze.numbers.None"}}
    result = shell("show", DOUBLED, "--project", tmp_path)
    assert "from bronze.numbers, columns unknown" in result.out


def test_a_run_that_died_after_its_commit_is_ended_whatever_its_text(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = world(tmp_path, PARENT, silver(MADE_OF_ONE_VALUE[0], "n"))
    run_by_hand(client, [1])
    begin(client)
    turned_clock.pass_time(3600)
    (ended,) = client.operations.reap()
    assert (ended.state, ended.version) == (TaskState.COMPLETED, 1)
    assert publish(client).version == 2


def test_no_fault_of_the_lineage_keeps_a_move_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("lakeguard.registry.sql.lineage.column_lineage", fault)
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n"))
    assert arrows(client) == {"n": {"bronze.numbers.None"}}


def test_what_the_load_writes_comes_from_no_column(tmp_path: Path) -> None:
    load = Load(type=LoadType.FULL, hash="ROW_HASH")
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n", load=load))
    assert arrows(client) == {"n": {"bronze.numbers.n"}}


def test_every_version_keeps_its_own(tmp_path: Path) -> None:
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n"))
    revise(client, silver("SELECT length(mail) AS n FROM bronze.numbers", "n"))
    publish(client)
    assert arrows(client) == arrows(client, 2) == {"n": {"bronze.numbers.Mail"}}
    assert arrows(client, 1) == {"n": {"bronze.numbers.n"}}
    client.operations.rollback(DOUBLED, 1, "it was better")
    assert arrows(client) == {"n": {"bronze.numbers.n"}}


def test_a_column_that_drifts_in_is_followed(tmp_path: Path) -> None:
    grown = silver("SELECT n, mail FROM bronze.numbers", "n", profile="additive")
    client = world(tmp_path, PARENT, grown)
    run_by_hand(client, [1])
    live = (Column(name="n", type="long"), Column(name="mail", type="string"))
    publish(client, TableSchema(columns=live))
    assert arrows(client)["mail"] == {"bronze.numbers.Mail"}


def test_an_input_is_told_by_the_name_that_it_has_now(tmp_path: Path) -> None:
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n"))
    name = DatasetName("bronze.figures")
    renamed = PARENT.model_copy(update={"dataset": name, "renamed_from": NUMBERS})
    child = silver("SELECT n FROM bronze.figures", "n").model_copy(update={"parents": (name,)})
    revise(client, renamed, child)
    assert arrows(client) == {"n": {"bronze.figures.n"}}


def test_the_lake_holds_it_and_it_is_proven(tmp_path: Path) -> None:
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n"))
    client.ledger.sync()
    table = DeltaTable(str(tmp_path / "_lakeguard" / "default" / "column_lineage"))
    (row,) = table.to_pyarrow_table().to_pylist()
    assert (row["version"], row["column_name"], row["input_column"]) == (1, "n", "n")
    assert client.ledger.verify(replay=True).findings == ()


def test_show_tells_it(tmp_path: Path, shell: Shell) -> None:
    text = "SELECT n, n + length(mail) AS both, 7 AS seven FROM bronze.numbers"
    published(tmp_path, silver(text, "n", "both", "seven"))
    result = shell("show", DOUBLED, "--project", tmp_path)
    lines = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
    assert "from bronze.numbers.Mail, bronze.numbers.n" in lines["both"]
    assert "from no column" in lines["seven"]
    found = shell("show", DOUBLED, "--project", tmp_path, "--json").data["lineage"]
    assert {"column": "n", "input": "bronze.numbers", "input_column": "n"} in found


def test_show_tells_columns_that_are_not_published(tmp_path: Path, shell: Shell) -> None:
    """A later run was blocked, or has not begun."""
    client = published(tmp_path, silver("SELECT n FROM bronze.numbers", "n"))
    revise(client, PARENT, silver("SELECT n, n AS more FROM bronze.numbers", "n", "more"))
    result = shell("show", DOUBLED, "--project", tmp_path)
    lines = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
    assert "from bronze.numbers.n" in lines["n"]
    assert "not in the published version" in lines["more"]


def test_show_says_what_is_not_known(tmp_path: Path, shell: Shell) -> None:
    build = FromPython(file="builds/b.py", function="b", sha256="0" * 64)
    published(tmp_path, silver("", "n", build=build))
    result = shell("show", DOUBLED, "--project", tmp_path)
    assert "from bronze.numbers, columns unknown" in result.out
