"""The number of queries does not grow with the size of the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from lakeguard.insight.reader.reader import StateReader
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.model.definitions import Definitions
from tests.support.projects.definitions import dataset, source
from tests.support.projects.registries import SmallRegistry, small_registry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as made:
        made.register(many(3))
        yield made


def many(count: int, **given: object) -> Definitions:
    names = [f"bronze.orders_{number}" for number in range(2, count + 2)]
    return Definitions(sources=(source(),), datasets=tuple(dataset(n, **given) for n in names))


def asked(registry: SmallRegistry, work: Callable[[], object]) -> int:
    """How many statements the work takes."""
    reported: list[str] = []

    def hear(_c: object, _k: object, statement: str, *_rest: object) -> None:
        reported.append(statement)

    event.listen(registry.database.engine, "before_cursor_execute", hear)
    try:
        work()
    finally:
        event.remove(registry.database.engine, "before_cursor_execute", hear)
    return len([text for text in reported if text.lstrip().upper().startswith("SELECT")])


def test_lists_take_the_same_few_questions(registry: SmallRegistry) -> None:
    reader = StateReader(OrganisationState.of(registry.database, "default"), "/lake")
    few = [asked(registry, reader.status), asked(registry, reader.datasets)]
    registry.register(many(40))
    assert [asked(registry, reader.status), asked(registry, reader.datasets)] == few == [12, 1]
    assert len(reader.status()) == 40


def test_a_plan_for_one_dataset_takes_the_same_few_questions(registry: SmallRegistry) -> None:
    one = many(1, owner="others")
    few = asked(registry, lambda: registry.plan(one))
    registry.register(many(40))
    assert asked(registry, lambda: registry.plan(one)) == few
    assert asked(registry, lambda: registry.plan(many(40, owner="others"))) == few
