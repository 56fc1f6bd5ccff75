"""Renamed datasets keep id, location and history; names are never reused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state import outbox
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import dataset_registry_revisions
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import InvalidDefinitions, NotRegistered
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, JobDefinition
from lakeguard_sdk.model.plan import Revise
from tests.support.projects.definitions import dataset, shop
from tests.support.projects.registries import NOON, SmallRegistry, small_registry

OLD, NEW = DatasetName("silver.orders"), DatasetName("silver.sales")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as made:
        made.register(shop())
        yield made


def renamed(name: str = NEW, before: str | None = OLD, **given: Any) -> DatasetDefinition:
    former = before and DatasetName(before)
    return dataset(name, "bronze.orders", renamed_from=former, **given)


def child(parent: str = NEW) -> DatasetDefinition:
    return dataset("gold.revenue", parent)


def both(**given: Any) -> Definitions:
    return Definitions(datasets=(renamed(**given), child()))


def registered(registry: SmallRegistry, name: str) -> RegisteredDataset:
    with OrganisationState.of(registry.database, "default").read() as tx:
        return require_dataset(tx, DatasetName(name))


def refused(registry: SmallRegistry, *datasets: Any) -> list[str]:
    with pytest.raises(InvalidDefinitions) as invalid:
        registry.plan(Definitions(datasets=datasets))
    return [str(error) for error in invalid.value.errors]


def test_a_renamed_dataset_keeps_its_id_and_its_place(registry: SmallRegistry) -> None:
    before = registered(registry, OLD)
    plan = registry.plan(both())
    step = plan.steps[0]
    assert isinstance(step, Revise)
    assert next((c.field, c.before, c.after) for c in step.changes) == ("dataset", OLD, NEW)
    applied = registry.apply(plan)
    assert applied.registered == ()
    assert registry.state().head == applied.registry_head
    now = registered(registry, NEW)
    assert (now.dataset_id, now.location) == (before.dataset_id, "silver/orders")
    assert now.revision == before.revision + 1
    with pytest.raises(NotRegistered):
        registered(registry, OLD)
    rules = [r for r in registry.rows("quality_rules") if r["dataset_id"] == now.dataset_id]
    assert len(rules) == len(now.definition.rules)


def test_renamed_from_left_standing_changes_nothing(registry: SmallRegistry) -> None:
    registry.register(both())
    assert registry.plan(both()).steps == ()
    assert registry.plan(Definitions(datasets=(renamed(before=None), child()))).steps == ()
    (step,) = registry.plan(both(owner="others")).steps
    assert step.definition.dataset == NEW


def test_a_name_can_come_back_to_its_owner(registry: SmallRegistry) -> None:
    registry.register(both())
    back = Definitions(datasets=(renamed(OLD, NEW), child(OLD)))
    registry.register(back)
    assert registered(registry, OLD).revision == 3
    assert registry.plan(back).steps == ()


def test_a_name_never_has_two_owners(registry: SmallRegistry) -> None:
    registry.register(both())
    text = "silver.orders is a former name of silver.sales and cannot be reused"
    lies = "the table of silver.orders at silver/orders would overlap the table of"
    assert refused(registry, renamed(OLD, None)) == [
        f"silver.orders: {text}", f"{lies} silver.sales",
    ]  # fmt: skip
    registry.register(Definitions(datasets=(dataset("silver.other", "bronze.orders"),)))
    assert refused(registry, renamed(OLD, "silver.other")) == [f"silver.orders: {text}"]


def test_the_database_stands_behind_it(registry: SmallRegistry) -> None:
    registry.register(both())
    (row, *_) = [
        row for row in registry.rows("dataset_registry_revisions") if row["dataset_name"] == OLD
    ]
    twin = {**row, "dataset_id": "ds_twin", "revised_at": NOON}
    with (
        pytest.raises(IntegrityError),
        OrganisationState.of(registry.database, "default").write() as tx,
    ):
        outbox.record(tx, dataset_registry_revisions, [twin], NOON)


def test_others_that_still_name_the_old_one_are_told(registry: SmallRegistry) -> None:
    job = JobDefinition(job="build_orders", dataset=OLD)
    registry.register(Definitions(jobs=(job,)))
    stale = "dataset 'silver.orders' does not exist; it is renamed to silver.sales"
    left = f"{stale}, update this definition too"
    assert refused(registry, renamed()) == [left, left]
    assert refused(registry, renamed(), child(OLD)) == [left, left], "unchanged, and yet wrong"
    changed = child(OLD).model_copy(update={"owner": "others"})
    assert sorted(refused(registry, renamed(), changed)) == [stale, left]
    moved = job.model_copy(update={"dataset": NEW})
    plan = registry.plan(Definitions(datasets=(renamed(), child()), jobs=(moved,)))
    assert registry.apply(plan).steps == 3


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (renamed(before="silver.ordrs"), "did you mean silver.orders?"),
        (
            renamed("gold.orders", "bronze.orders"),
            "bronze.orders is in layer bronze, which cannot change",
        ),
        (renamed(OLD, OLD), "it already has this name"),
        (renamed(OLD, "gold.revenue"), "gold.revenue belongs to another dataset"),
        (renamed(OLD, "gold.nothing"), "'gold.nothing' does not exist"),
    ],
)
def test_what_is_no_rename_is_told(
    registry: SmallRegistry, given: DatasetDefinition, text: str
) -> None:
    changed = given.model_copy(update={"owner": "others"})
    assert any(text in line for line in refused(registry, changed, child(OLD)))


def test_one_rename_at_a_time(registry: SmallRegistry) -> None:
    reported = refused(registry, renamed(), renamed("silver.turnover"), child())
    assert any("silver.orders is already renamed to silver.turnover" in line for line in reported)
    reported = refused(registry, renamed(), renamed(OLD, None), child())
    assert (
        reported[0] == "silver.orders: silver.orders is renamed to silver.sales; remove this file"
    )
    registry.register(both())
    (told_late,) = refused(registry, renamed("silver.turnover", OLD))
    assert told_late == "silver.turnover: silver.orders is now silver.sales"
