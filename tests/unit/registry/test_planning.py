"""Plans are deterministic and complete; invalid definitions are refused."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.registry.kinds import name_of
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import Opened, RegistryState, entry_of
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.errors import DefinitionError, InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
)
from lakeguard_sdk.model.plan import Plan
from tests.support.projects.definitions import (
    dataset,
    policy,
    rule,
    shop,
    source,
)

EMPTY = RegistryState()


def registered(*datasets: DatasetDefinition) -> RegistryState:
    held = {entry_of(source(), "src_1", 1): Opened(source())}
    for number, item in enumerate(datasets):
        place = f"{item.dataset.layer}/{item.dataset.name}"
        held[entry_of(item, f"ds_{number}", 3)] = Opened(item, place)
    return RegistryState.of(held)


def refusals(definitions: Definitions, current: RegistryState = EMPTY) -> list[DefinitionError]:
    with pytest.raises(InvalidDefinitions) as refused:
        make_plan(definitions, current)
    return list(refused.value.errors)


def test_sources_come_first_then_parents_before_children_then_policies() -> None:
    plan = make_plan(shop(), EMPTY)
    described = [name_of(step.definition) for step in plan.steps]
    assert described == ["orders", "bronze.orders", "silver.orders", "gold.revenue", "no_pii"]
    assert plan.registry_head == "empty"


def test_the_same_definitions_in_any_order_are_the_same_plan() -> None:
    one = shop()
    other = Definitions(
        sources=one.sources[::-1], datasets=one.datasets[::-1], policies=one.policies
    )
    assert make_plan(one, EMPTY).to_json() == make_plan(other, EMPTY).to_json()


def test_a_plan_reads_back_as_itself() -> None:
    plan = make_plan(shop(), EMPTY)
    assert Plan.from_json(plan.to_json()) == plan


def test_order_of_rules_and_tags_is_no_change() -> None:
    before = dataset("bronze.orders")
    columns = (before.columns[0], before.columns[1].model_copy(update={"tags": ("net", "money")}))
    after = before.model_copy(update={"rules": before.rules[::-1], "columns": columns})
    assert make_plan(Definitions(datasets=(after,)), registered(before)).steps == ()


def test_what_is_no_longer_defined_is_left_alone() -> None:
    current = registered(dataset("bronze.orders"), dataset("bronze.other"))
    assert make_plan(Definitions(datasets=(dataset("bronze.orders"),)), current).steps == ()


def test_parents_and_sources_may_be_registered_only() -> None:
    current = registered(dataset("bronze.orders", active=False))
    child = dataset("silver.orders", "bronze.orders")
    sibling = dataset("bronze.two")
    assert len(make_plan(Definitions(datasets=(child, sibling)), current).steps) == 2


def test_an_unknown_parent_is_refused_with_the_nearest_name() -> None:
    child = dataset("silver.orders", "bronze.order")
    (error,) = refusals(Definitions(datasets=(child,)), registered(dataset("bronze.orders")))
    assert error.code == "LG-2007"
    assert str(error) == "dataset 'bronze.order' does not exist; did you mean bronze.orders?"
    assert error.place.file == "definitions/silver/orders.yaml"


def test_an_unknown_source_is_refused() -> None:
    (error,) = refusals(Definitions(datasets=(dataset("bronze.orders"),)))
    assert str(error) == "source 'orders' does not exist"


def test_a_cycle_through_registered_datasets_is_refused() -> None:
    current = registered(dataset("silver.a", "silver.b"), dataset("silver.b", "bronze.orders"))
    (error,) = refusals(
        Definitions(datasets=(dataset("bronze.orders"), dataset("silver.b", "silver.a"))), current
    )
    assert (error.code, error.place.file) == ("LG-2010", "definitions/silver/b.yaml")
    assert "silver.a → silver.b → silver.a" in str(error)


def test_a_second_definition_of_one_name_is_refused() -> None:
    twice = (dataset("bronze.orders"), dataset("bronze.orders", owner="other"))
    codes = [error.code for error in refusals(shop(datasets=twice))]
    assert codes == ["LG-2006"]


SQL = FromSql(file="sql/x.sql", text="select * from parquet.`/etc/passwd`")


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (dataset("bronze.orders", owner=" "), "LG-2003"),
        (dataset("bronze.orders", domain="a\nb"), "LG-2004"),
        (dataset("bronze.orders", description="\u202e"), "LG-2004"),
        (dataset("bronze.orders", columns=(), rules=()), "LG-2003"),
        (dataset("bronze.orders", rules=(rule("not_null(nowhere)"),)), "LG-2014"),
        (dataset("bronze.orders", rules=(rule("unique(order_id)"),) * 2), "LG-2016"),
        (
            dataset("bronze.orders", rules=(
                rule("unique(order_id)").model_copy(update={"expression": "UNIQUE( order_id )"}),
            )),
            "LG-2015",
        ),
        (
            dataset("bronze.orders", rules=(
                rule("unique(order_id)").model_copy(update={"rule_type": "NOT_NULL"}),
            )),
            "LG-2015",
        ),
        (
            dataset("bronze.orders", rules=(
                rule("unique(order_id)").model_copy(update={"rule_id": "x" * 301}),
            )),
            "LG-2015",
        ),
        (
            dataset("bronze.orders", rules=(
                rule("range(amount, min=0) fail_if > 1").model_copy(
                    update={"severity": Severity.WARN}),
            )),
            "LG-2015",
        ),
        (dataset("gold.revenue", "bronze.orders"), "LG-2009"),
        (dataset("silver.orders", "bronze.orders", build=SQL), "LG-2019"),
        (dataset("silver.orders", "bronze.orders", build=FromSource(source="orders")), "LG-2004"),
        (
            dataset("bronze.orders", rules=(), columns=(
                ColumnDefinition(name="a", type="string"), ColumnDefinition(name="a", type="long"),
            )),
            "LG-2004",
        ),
    ],
)  # fmt: skip
def test_a_definition_from_a_strangers_hand_is_held_to_the_same(
    broken: DatasetDefinition, code: str
) -> None:
    current = registered(dataset("bronze.orders", owner="before"))
    assert code in {error.code for error in refusals(Definitions(datasets=(broken,)), current)}


@pytest.mark.parametrize(
    "given",
    [
        {"path": ""},
        {"path": "s3://bucket/x"},
        {"path": "ftp://a:b@c/d"},
        {"options": {"header": "x"}},
        {"options": {"delimiter": "ab"}},
        {"options": {"null_value": "ghp_" + "a1B2c3D4" * 5}},
    ],
)
def test_a_source_from_a_strangers_hand_is_held_to_the_same(given: dict[str, Any]) -> None:
    assert refusals(Definitions(sources=(source(**given),)))


@pytest.mark.parametrize("expression", ["forbid", "FORBID tag:pii ", "forbid  tag:pii"])
def test_a_policy_from_a_strangers_hand_is_held_to_the_same(expression: str) -> None:
    (error,) = refusals(Definitions(policies=(policy(expression=expression),)))
    assert error.code == "LG-2017"
