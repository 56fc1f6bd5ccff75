"""Applying plans is atomic, and the registry reads back what was applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.kinds import every, key_of
from lakeguard.registry.planning.describe import describe
from lakeguard.registry.snapshot import EMPTY_HEAD
from lakeguard.registry.store import (
    RegisteredDataset,
    current_definition,
    current_policies,
    current_source,
    dataset_by_id,
    require_dataset,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Enforcement
from lakeguard_sdk.errors import InvalidDefinitions, NotRegistered, PlanChanged, RegistryChanged
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.plan import Plan, Revise
from tests.support.projects.definitions import (
    dataset,
    policy,
    rule,
    shop,
    source,
)
from tests.support.projects.registries import NOON, SmallRegistry, small_registry

BRONZE = DatasetName("bronze.orders")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as made:
        yield made


def bronze(**given: object) -> DatasetDefinition:
    return dataset("bronze.orders", **given)


def registered(registry: SmallRegistry, name: str = BRONZE) -> RegisteredDataset:
    with OrganisationState.of(registry.database, registry.org_id).read() as tx:
        return require_dataset(tx, DatasetName(name))


def test_what_is_applied_is_registered(registry: SmallRegistry) -> None:
    applied = registry.register(shop())
    assert applied.steps == 5
    assert applied.registered == ("bronze.orders", "silver.orders", "gold.revenue")
    state = registry.state()
    assert state.head == applied.registry_head != EMPTY_HEAD
    assert sorted(state.entries) == sorted(key_of(item) for item in every(shop()))
    rows = registry.rows("dataset_registry")
    assert sorted(str(row["location"]) for row in rows) == [
        "bronze/orders", "gold/revenue", "silver/orders",
    ]  # fmt: skip
    (row,) = registry.rows("registry_applies")
    assert (row["ordinal"], row["steps"], row["applied_by"]) == (1, 5, "tester")
    assert row["registry_head"] == state.head
    reported = Counter(row["topic"] for row in registry.rows("outbox"))
    assert reported == {table: len(registry.rows(table)) for table in reported}
    assert len(reported) == 7, "five of the shop, two of what is built in"


def test_applying_the_same_twice_changes_nothing(registry: SmallRegistry) -> None:
    registry.register(shop())
    before = [registry.rows(table) for table in TABLES]
    again = registry.register(shop())
    assert (again.apply_id, again.steps) == (None, 0)
    assert [registry.rows(table) for table in TABLES] == before


TABLES = (
    "registry_applies", "dataset_registry_revisions", "quality_rules_revisions",
    "policy_rules_revisions", "source_systems_revisions", "outbox",
)  # fmt: skip


def test_an_empty_plan_on_an_empty_registry_writes_nothing(registry: SmallRegistry) -> None:
    applied = registry.apply(Plan(registry_head=EMPTY_HEAD, steps=()))
    assert (applied.apply_id, applied.registry_head) == (None, EMPTY_HEAD)
    assert [registry.rows(table) for table in TABLES] == [[]] * len(TABLES)


def test_a_registry_that_moved_is_refused(registry: SmallRegistry) -> None:
    stale = registry.plan(shop())
    registry.register(shop(datasets=(bronze(),), policies=()))
    rows = [registry.rows(table) for table in TABLES]
    with pytest.raises(RegistryChanged):
        registry.apply(stale)
    assert [registry.rows(table) for table in TABLES] == rows


def test_there_and_back_again_is_a_move_too(registry: SmallRegistry) -> None:
    registry.register(shop())
    stale = registry.plan(shop(datasets=(bronze(owner="other"),)))
    registry.register(shop(datasets=(bronze(owner="between"),)))
    registry.register(shop())
    assert registry.state().head == stale.registry_head
    with pytest.raises(RegistryChanged):
        registry.apply(stale)


def test_a_plan_that_was_tampered_with_is_refused(registry: SmallRegistry) -> None:
    registry.register(shop())
    plan = registry.plan(shop(datasets=(bronze(owner="other"),)))
    (step,) = plan.steps
    assert isinstance(step, Revise)
    gold = registered(registry, "gold.revenue")
    for forged in (
        step.model_copy(update={"key": gold.dataset_id}),
        step.model_copy(update={"changes": ()}),
    ):
        with pytest.raises(PlanChanged):
            registry.apply(plan.model_copy(update={"steps": (forged,)}))
    with pytest.raises(InvalidDefinitions):
        registry.apply(plan.model_copy(update={"steps": (step, step)}))
    later = plan.model_copy(update={"steps": (step.model_copy(update={"revision": 7}),)})
    with pytest.raises(RegistryChanged):
        registry.apply(later)


def test_a_forged_definition_is_held_to_the_invariants(registry: SmallRegistry) -> None:
    registry.register(shop())
    plan = registry.plan(shop(datasets=(bronze(owner="other"),)))
    forged = plan.steps[0].model_copy(update={"definition": bronze(rules=(rule("unique(no)"),))})
    with pytest.raises(InvalidDefinitions):
        registry.apply(plan.model_copy(update={"steps": (forged,)}))


def test_a_change_is_a_new_revision_and_the_old_one_stays(registry: SmallRegistry) -> None:
    registry.register(shop())
    first = registered(registry)
    plan = registry.plan(shop(datasets=(bronze(active=False),)))
    assert [(line.sign, line.name) for line in describe(plan)] == [("~", "bronze.orders")]
    registry.apply(plan)
    second = registered(registry)
    assert (second.dataset_id, second.revision) == (first.dataset_id, 2)
    assert (second.active, second.location) == (False, first.location)
    rows = registry.rows("dataset_registry_revisions")
    described = [(row["revision"], row["active"]) for row in rows if row["dataset_name"] == BRONZE]
    assert described == [(1, 1), (2, 0)]
    assert len(registry.rows("quality_rules_revisions")) == 6


def test_rules_have_revisions_of_their_own(registry: SmallRegistry) -> None:
    registry.register(shop())
    rules = (rule("row_count(min=1)"), rule("range(amount, min=5)"))
    registry.register(shop(datasets=(bronze(rules=rules),)))
    dataset_id = registered(registry).dataset_id
    rows = [r for r in registry.rows("quality_rules_revisions") if r["dataset_id"] == dataset_id]
    described = {(r["rule_id"], r["revision"], r["removed"]) for r in rows if r["revision"] == 2}
    assert described == {("unique.order_id", 2, 1), ("row_count", 2, 0), ("range.amount", 2, 0)}
    shown = [r for r in registry.rows("quality_rules") if r["dataset_id"] == dataset_id]
    assert {r["rule_expression"] for r in shown} == {rule.expression for rule in rules}


def test_a_removed_rule_can_come_back(registry: SmallRegistry) -> None:
    registry.register(shop())
    registry.register(shop(datasets=(bronze(rules=()),)))
    registry.register(shop(datasets=(bronze(),)))
    dataset_id = registered(registry).dataset_id
    shown = [r for r in registry.rows("quality_rules") if r["dataset_id"] == dataset_id]
    assert {(r["check_id"], r["revision"]) for r in shown} == {
        ("unique.order_id", 3), ("range.amount", 3),
    }  # fmt: skip


def test_sources_and_policies_are_revised_too(registry: SmallRegistry) -> None:
    registry.register(shop())
    changed = shop(
        sources=(source(path="other/*.csv"),), policies=(policy(enforcement=Enforcement.ALERT),)
    )
    registry.register(changed)
    with OrganisationState.of(registry.database, "default").read() as tx:
        found = current_source(tx, "orders")
        assert found is not None
        assert (found.revision, found.definition.path) == (2, "other/*.csv")
        assert current_policies(tx) == changed.policies
        assert current_source(tx, "other") is None


def test_organisations_do_not_see_each_other(registry: SmallRegistry, tmp_path: Path) -> None:
    registry.register(shop())
    with small_registry(tmp_path, "other") as other:
        assert other.state().head == EMPTY_HEAD
        other.register(shop(datasets=(bronze(owner="them"),), policies=()))
        assert [row["ordinal"] for row in other.rows("registry_applies")] == [1, 1]
    assert registered(registry).definition.owner == "sales"


def test_a_dataset_is_found_by_name_and_by_id(registry: SmallRegistry) -> None:
    registry.register(shop())
    with OrganisationState.of(registry.database, "default").read() as tx:
        found = require_dataset(tx, BRONZE)
        assert found.name == BRONZE
        assert dataset_by_id(tx, found.dataset_id) == found
        assert current_definition(tx, DatasetName("gold.x")) is None
        with pytest.raises(NotRegistered, match=r"did you mean bronze\.orders\?"):
            require_dataset(tx, DatasetName("bronze.order"))
        with pytest.raises(NotRegistered):
            dataset_by_id(replace(tx, org_id="other"), found.dataset_id)


def test_nothing_stays_of_an_apply_that_did_not_commit(registry: SmallRegistry) -> None:
    plan = registry.plan(shop())

    def apply_and_fail() -> None:
        with OrganisationState.of(registry.database, "default").write() as tx:
            apply_plan(tx, plan, "tester", NOON)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        apply_and_fail()
    assert registry.state().head == EMPTY_HEAD
