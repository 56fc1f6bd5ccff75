"""Registered rules stay valid even if new ones of the same form are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeguard.registry.editing.drift import drifted, undrifted
from lakeguard.registry.editing.schema_approval import approved_definition
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.planning.revisions import Revisions
from lakeguard.registry.store import read_state
from lakeguard.state import outbox
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import registry_applies
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    RuleDefinition,
)
from lakeguard_sdk.model.plan import Register
from lakeguard_sdk.model.read_models import ClassedDifference
from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.projects.definitions import dataset, rule, source
from tests.support.projects.registries import NOON, SmallRegistry, small_registry

OLD = (
    rule("sql_row(length(order_id) >= 0)"),
    rule("foreign_key(order_id -> bronze.nowhere(id))"),
    rule("json_schema(order_id, schema='{\"nothing\": 1}')"),
)
NEW = rule("sql_row(length(order_id) < 0)", rule_id="new")
SAID = TableSchema(
    columns=(Column(name="order_id", type="string"), Column(name="amount", type="double"))
)
FOUND = TableSchema(columns=(*SAID.columns, Column(name="extra", type="long")))


def orders(*rules: RuleDefinition, **given: Any) -> DatasetDefinition:
    return dataset("bronze.orders", rules=rules or OLD, **given)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    """What was applied before any of it was refused."""
    with small_registry(tmp_path) as made:
        with OrganisationState.of(made.database, "default").write() as tx:
            revisions = Revisions(made.state(), "default", "tester", "apl_1", NOON)
            for item in (source(), orders()):
                revisions.take(Register(definition=item))
            row = {
                "apply_id": "apl_1",
                "org_id": "default",
                "ordinal": 1,
                "registry_head": revisions.head,
                "steps": 2,
                "plan_hash": "sha256:0",
                "applied_at": NOON,
                "applied_by": "tester",
                "reason": None,
            }
            outbox.record(tx, registry_applies, [row], NOON)
            revisions.insert(tx)
        yield made


def only(found: DatasetDefinition) -> Definitions:
    return Definitions(datasets=(found,))


def test_columns_come_with_the_data_and_go_with_a_rollback(registry: SmallRegistry) -> None:
    grown = drifted(orders(), FOUND)
    assert registry.register(only(grown)).steps == 1
    with OrganisationState.of(registry.database, "default").read() as tx:
        state = read_state(tx)
        (step,) = make_plan(only(undrifted(grown, SAID)), state, keep_drift=False).steps
    assert step.definition == orders()


def test_a_schema_is_approved(registry: SmallRegistry) -> None:
    new = ClassedDifference(
        column="extra",
        change=SchemaChange.ADD_NULLABLE,
        found="long",
        declared=None,
        reactions={},
    )
    approved = approved_definition(orders(), FOUND, [new])
    assert approved.columns[-1] == ColumnDefinition(name="extra", type="long")
    assert registry.register(only(approved)).steps == 1


def test_another_edit_is_taken_and_another_rule_is_not(registry: SmallRegistry) -> None:
    assert registry.register(only(orders(owner="others"))).steps == 1
    with pytest.raises(InvalidDefinitions) as found:
        registry.plan(only(orders(*OLD, NEW)))
    (error,) = found.value.errors
    assert "this is FALSE for every row with a value" in str(error)


def test_a_renamed_dataset_keeps_its_rules(registry: SmallRegistry) -> None:
    before = DatasetName("bronze.orders")
    renamed = dataset("bronze.sales", rules=OLD, renamed_from=before)
    assert registry.register(only(renamed)).steps == 1


def test_another_rule_to_the_same_place_is_refused(registry: SmallRegistry) -> None:
    again = rule("not_in_reference(order_id -> bronze.nowhere(id))")
    with pytest.raises(InvalidDefinitions) as found:
        registry.plan(only(orders(*OLD, again)))
    (error,) = found.value.errors
    assert "dataset 'bronze.nowhere' does not exist" in str(error)
