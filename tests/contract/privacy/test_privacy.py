"""A run is told which columns no message of its may show a value of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    Definitions,
    FromPython,
    FromSql,
    TargetDefinition,
)
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.definitions import dataset, policy, source
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


def column(name: str, *tags: str) -> ColumnDefinition:
    return ColumnDefinition(name=name, type="long", tags=tags)


def private(folder: Path, definitions: Definitions, name: str) -> tuple[str, ...]:
    client = make_project(folder, definitions)
    if name.startswith("silver."):
        run_by_hand(client, [1])
    return opened(client, DatasetName(name)).private


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
    assert private(tmp_path, made, "bronze.people") == ("a", "b", "c", "ssn_2")


@pytest.mark.parametrize("tag", ["pii", "secret"])
def test_what_a_build_reads_counts_though_it_is_left_out(tmp_path: Path, tag: str) -> None:
    first = dataset(str(NUMBERS), columns=(column("n", tag),), rules=(), load="APPEND")
    build = FromSql(file="sql/count.sql", text=f"select count(*) as rows from {NUMBERS}\n")
    second = dataset("silver.count", str(NUMBERS), columns=(column("rows"),), build=build, rules=())
    made = Definitions(sources=(source(),), datasets=(first, second))
    assert private(tmp_path, made, "silver.count") == ("n",)


BUILT = FromPython(file="build.py", function="build", sha256="0" * 64)
READ = FromSql(file="sql/read.sql", text="select n, 1 as who from bronze.numbers\n")
SWAPPING = TargetDefinition(
    target="shop",
    location="shop",
    zone="silver",
    transform="SELECT who AS n, n AS who FROM batch",
)


def derived(tag: str, **given: Any) -> Definitions:
    """A tagged column, what is made of it, and what is read from that."""
    first = dataset(str(NUMBERS), columns=(column("n", tag), column("m")), rules=())
    silver = dataset("silver.made", str(NUMBERS), columns=(column("n"), column("who")), rules=())
    gold = dataset("gold.last", "silver.made", columns=(column("who"),), rules=())
    return Definitions(
        sources=(source(),),
        targets=(SWAPPING,),
        datasets=(first, silver.model_copy(update=given), gold),
    )


@pytest.mark.parametrize(
    "given", [{"build": BUILT}, {"build": READ, "target": "shop"}], ids=["python", "transform"]
)
@pytest.mark.parametrize("tag", ["pii", "person"])
def test_what_is_made_out_of_sight_carries_all_that_was_read(
    tmp_path: Path, given: dict[str, Any], tag: str
) -> None:
    client = make_project(tmp_path, derived(tag, **given))
    run_by_hand(client, [1])
    name = DatasetName("silver.made")
    plan = opened(client, name)
    assert plan.masked == ("n", "who")
    assert plan.private == ("n", "who")
    client.runs.fail_run(plan.ticket, Failure(code="LG-0000", message="it was only a test"))
    run_by_hand(client, [1], client.operations.submit(name, "test"))
    plan = opened(client, DatasetName("gold.last"))
    assert plan.masked == ("who",)
    assert plan.private == ("who",)


def test_a_version_keeps_what_a_transform_of_then_made(tmp_path: Path) -> None:
    client = make_project(tmp_path, derived("pii", build=READ, target="shop"))
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DatasetName("silver.made"), "test"))
    plain = SWAPPING.model_copy(update={"transform": ""})
    client.registry.apply(client.registry.plan(Definitions(targets=(plain,))))
    assert opened(client, DatasetName("gold.last")).masked == ("who",)


def test_a_select_that_is_followed_carries_its_own_alone(tmp_path: Path) -> None:
    client = make_project(tmp_path, derived("pii", build=READ))
    run_by_hand(client, [1])
    assert opened(client, DatasetName("silver.made")).masked == ("n",)


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


@pytest.mark.parametrize("tag", ["pii", "contact"])
def test_a_new_name_for_a_tagged_column_is_masked(tmp_path: Path, tag: str) -> None:
    known = (column("a"), column("e_mail", tag))
    renaming = dataset("bronze.people", columns=known, rules=(), profile="permissive")
    made = Definitions(sources=(source(),), datasets=(renaming,))
    plan = widened(tmp_path, made, a="long", email="long")
    assert "email" in plan.masked
    assert "email" in plan.private
    assert "email" in plan.redacted_statistics


def under_verdict(folder: Path, definitions: Definitions, **live: str) -> tuple[str, ...]:
    return widened(folder, definitions, **live).private


def widened(folder: Path, definitions: Definitions, **live: str) -> RunPlan:
    client = make_project(folder, definitions)
    plan = opened(client, DatasetName("bronze.people"))
    found = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in live.items()))
    verdict = client.runs.submit_schema(plan.ticket, found)
    assert verdict.accepted, verdict.differences
    return plan.under(verdict)
