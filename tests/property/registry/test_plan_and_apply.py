"""After load, plan and apply, a new plan is empty, for any definitions in any order."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, definition_hash
from lakeguard_sdk.model.plan import Plan
from tests.support.examples import examples
from tests.support.projects.definition_folders import SHOP, load
from tests.support.projects.definitions import (
    dataset,
    policy,
    rule,
    source,
)
from tests.support.projects.registries import SmallRegistry, small_registry

RULES = [
    rule("unique(order_id)"),
    rule("not_null(order_id)"),
    rule("range(amount, min=0)"),
    rule("row_count(min=1)", severity=Severity.WARN),
    rule("mean(amount, min=1, max=2)", rule_id="mean_amount", active=False),
]
BRONZE = ("bronze.a", "bronze.b")
SILVER = ("silver.a", "silver.b", "silver.c")


@st.composite
def _datasets(draw: st.DrawFn) -> tuple[DatasetDefinition, ...]:
    found = [
        dataset(name, owner=draw(st.sampled_from("xyz")), rules=_rules(draw)) for name in BRONZE
    ]
    below: list[str] = list(BRONZE)
    for name in SILVER:
        parents = draw(st.lists(st.sampled_from(below), min_size=1, unique=True))
        found.append(dataset(name, *parents, active=draw(st.booleans()), rules=_rules(draw)))
        below.append(name)
    return tuple(draw(st.permutations(found)))


def _rules(draw: st.DrawFn) -> tuple[object, ...]:
    return tuple(draw(st.lists(st.sampled_from(RULES), unique=True)))


FOLDERS = st.builds(
    Definitions,
    sources=st.builds(lambda path: (source(path=path),), st.sampled_from(["a", "b/*.csv"])),
    datasets=_datasets(),
    policies=st.builds(lambda active: (policy(active=active),), st.booleans()),
)


def settled(registry: SmallRegistry, definitions: Definitions) -> None:
    """Once applied there is nothing to do, and doing it again adds no row."""
    applied = registry.apply(Plan.from_json(registry.plan(definitions).to_json()))
    state = registry.state()
    assert state.head == applied.registry_head
    again = registry.plan(definitions)
    assert again.steps == ()
    rows = registry.rows("dataset_registry_revisions")
    assert registry.apply(again).apply_id is None
    assert registry.rows("dataset_registry_revisions") == rows
    wanted = {item.dataset: definition_hash(item) for item in definitions.datasets}
    held = {name: entry.definition_hash for (_, name), entry in state.entries.items()}
    assert {name: held[name] for name in wanted} == wanted


@examples(20)
@given(st.lists(FOLDERS, min_size=1, max_size=3))
def test_an_applied_plan_leaves_nothing_to_do(folders: list[Definitions]) -> None:
    with TemporaryDirectory() as folder, small_registry(Path(folder)) as registry:
        for definitions in folders:
            settled(registry, definitions)


@examples(30)
@given(FOLDERS, st.randoms(use_true_random=False))
def test_the_head_does_not_depend_on_order(definitions: Definitions, chance: Random) -> None:
    shuffled = list(definitions.datasets)
    chance.shuffle(shuffled)
    turned = [item.model_copy(update={"rules": item.rules[::-1]}) for item in shuffled]
    assert {definition_hash(item) for item in turned} == {
        definition_hash(item) for item in definitions.datasets
    }


def test_a_folder_that_was_loaded_settles_too(tmp_path: Path) -> None:
    definitions = load(tmp_path, SHOP)
    with small_registry(tmp_path) as registry:
        settled(registry, definitions)
