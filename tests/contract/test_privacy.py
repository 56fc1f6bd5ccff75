"""A run is told which columns no message of its may show a value of."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.definition import ColumnDefinition, Definitions
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.processes import this_process
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import Column, TableSchema
from tests.worlds.definitions import dataset, policy, source
from tests.worlds.hand_work import run_by_hand
from tests.worlds.planes import NUMBERS
from tests.worlds.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


def column(name: str, *tags: str) -> ColumnDefinition:
    return ColumnDefinition(name=name, type="long", tags=tags)


def private(folder: Path, definitions: Definitions, name: str) -> tuple[str, ...]:
    client = make_project(folder, definitions)
    if name.startswith("silver."):
        run_by_hand(client, [1])
    task = client.operations.submit(DatasetName(name), "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    return plan.private


def test_tags_say_it_and_policies_say_which(tmp_path: Path) -> None:
    tagged = (column("a", "pii"), column("b", "contact", "x"), column("c", "key"), column("ssn_2"))
    forbidding = (
        policy("no_contact", expression="forbid tag:contact"),
        policy("no_numbers", expression="forbid columns ['ssn_*']"),
    )
    made = Definitions(
        sources=(source(),),
        datasets=(dataset("bronze.people", columns=tagged, rules=()),),
        policies=forbidding,
    )
    assert private(tmp_path, made, "bronze.people") == ("a", "b", "ssn_2")


def test_what_a_build_reads_counts_though_it_is_left_out(tmp_path: Path) -> None:
    first = dataset(str(NUMBERS), columns=(column("n", "pii"),), rules=(), load="APPEND")
    second = dataset("silver.count", str(NUMBERS), columns=(column("rows"),), rules=())
    made = Definitions(sources=(source(),), datasets=(first, second))
    assert private(tmp_path, made, "silver.count") == ("n",)


def test_without_tags_nothing_is_private(tmp_path: Path) -> None:
    made = Definitions(
        sources=(source(),), datasets=(dataset("bronze.people", columns=(column("a"),), rules=()),)
    )
    assert private(tmp_path, made, "bronze.people") == ()


def test_a_column_that_drifts_in_is_private_where_a_policy_names_it(tmp_path: Path) -> None:
    numbered = dataset("bronze.people", columns=(column("a"),), rules=(), profile="additive")
    forbidding = policy("no_numbers", expression="forbid columns ['ssn_*']")
    made = Definitions(sources=(source(),), datasets=(numbered,), policies=(forbidding,))
    assert under_verdict(tmp_path, made, a="long", b="long", ssn_2="string") == ("ssn_2",)


def test_a_new_name_for_a_private_column_is_private(tmp_path: Path) -> None:
    known = (column("a"), column("e_mail", "pii"))
    renaming = dataset("bronze.people", columns=known, rules=(), profile="permissive")
    made = Definitions(sources=(source(),), datasets=(renaming,))
    assert under_verdict(tmp_path, made, a="long", email="long") == ("e_mail", "email")


def under_verdict(folder: Path, definitions: Definitions, **live: str) -> tuple[str, ...]:
    client = make_project(folder, definitions)
    task = client.operations.submit(DatasetName("bronze.people"), "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    found = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in live.items()))
    verdict = client.runs.submit_schema(plan.ticket, found)
    assert verdict.accepted, verdict.differences
    return plan.under(verdict).private
