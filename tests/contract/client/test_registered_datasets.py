"""The registered datasets are remembered until the next apply, by whatever process it was made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.registered_datasets import registered_datasets
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

PEOPLE = DatasetName("bronze.people")


def dataset(name: DatasetName, domain: str = "test") -> DatasetDefinition:
    (numbers,) = numbers_definitions(LoadType.APPEND).datasets
    return numbers.model_copy(update={"dataset": name, "domain": domain})


def apply(client: Client, *datasets: DatasetDefinition) -> None:
    client.registry.apply(client.registry.plan(Definitions(datasets=datasets)))


@pytest.fixture
def state(tmp_path: Path) -> OrganisationState:
    make_project(tmp_path, numbers_definitions(LoadType.APPEND))
    return OrganisationState.of(open_state(load_settings(tmp_path)), "default")


@pytest.fixture
def other(state: OrganisationState, tmp_path: Path) -> Client:
    """Another connection to the same State."""
    return connect(tmp_path)


def seen(state: OrganisationState) -> list[tuple[str, str]]:
    with state.read() as tx:
        return [(row.dataset_name, row.domain) for row in registered_datasets(tx).datasets]


@contextmanager
def reads_of_registry(state: OrganisationState) -> Iterator[list[str]]:
    """Statements that read the view of all datasets."""
    found: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM dataset_registry" in statement:
            found.append(statement)

    engine = state.database.engine
    event.listen(engine, "before_cursor_execute", note)
    yield found
    event.remove(engine, "before_cursor_execute", note)


def test_they_are_read_once_until_the_next_apply(state: OrganisationState, other: Client) -> None:
    with reads_of_registry(state) as reads:
        assert seen(state) == seen(state) == [(NUMBERS, "test")]
        assert len(reads) == 1
        apply(other, dataset(PEOPLE, "hr"))
        assert seen(state) == seen(state) == [(NUMBERS, "test"), (PEOPLE, "hr")]
        assert len(reads) == 2
        apply(other, dataset(PEOPLE, "people"))
        assert seen(state) == [(NUMBERS, "test"), (PEOPLE, "people")]
        assert len(reads) == 3


def test_an_apply_that_is_not_committed_is_not_remembered(state: OrganisationState) -> None:
    assert seen(state) == [(NUMBERS, "test")]
    with reads_of_registry(state) as reads, state.write() as tx:
        assert registered_datasets(tx) is not registered_datasets(tx)
    assert len(reads) == 2


def test_another_organisation_has_its_own(state: OrganisationState) -> None:
    assert seen(state) == [(NUMBERS, "test")]
    assert seen(OrganisationState.of(state.database, "another")) == []
    assert seen(state) == [(NUMBERS, "test")]
