"""Models are built on first use; that may be in several threads, and no build fails that late."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier

import pytest
from pydantic import ValidationError

import lakeguard
import lakeguard_sdk
from lakeguard_sdk.core.frozen_model import Day, FrozenModel, Instant

THREADS = 8
ROUNDS = 25


def models(parent: type[FrozenModel] = FrozenModel) -> Iterator[type[FrozenModel]]:
    for model in parent.__subclasses__():
        yield model
        yield from models(model)


def test_every_model_can_be_built() -> None:
    for package in (lakeguard_sdk, lakeguard):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations." not in found.name and not found.name.endswith("__main__"):
                import_module(found.name)
    known = [model for model in models() if model.__module__.startswith("lakeguard")]
    assert len(known) > 200
    for model in known:
        model.model_rebuild()
        assert model.__pydantic_complete__, model


class Tree(FrozenModel):
    leaves: tuple[Leaf, ...]


class Leaf(FrozenModel):
    name: str


def test_names_of_the_first_caller_mean_nothing() -> None:
    class Leaf(FrozenModel):
        size: int

    data = {"leaves": [{"name": "oak"}]}
    assert Tree.model_validate(data).to_data() == data
    assert Leaf(size=1).to_data() == {"size": 1}


def test_threads_may_use_a_model_first_at_the_same_time() -> None:
    for _ in range(ROUNDS):

        class Part(FrozenModel):
            name: str

        class Whole(Part):
            parts: tuple[Part, ...] = ()

        barrier = Barrier(THREADS)

        def use(number: int, barrier: Barrier = barrier, whole: type[Whole] = Whole) -> str:
            text = f'{{"name":"{number}","parts":[{{"name":"part"}}]}}'
            barrier.wait()
            return whole.from_json(text).to_json()

        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(use, range(THREADS)))
        assert found == [
            f'{{"name":"{number}","parts":[{{"name":"part"}}]}}' for number in range(THREADS)
        ]


class Dated(FrozenModel):
    at: Instant | None = None
    day: Day | None = None


@pytest.mark.parametrize(
    "value",
    ["1", "1.5", "true", "1e300", '"1"', '"1767225600"', '"1767225600.5"', '"2026-01-01T00:00:00"',
     '"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-14:00"', "[]", "{}"],
)  # fmt: skip
@pytest.mark.parametrize("strict", [True, False])
def test_a_time_is_written_with_its_zone(value: str, strict: bool) -> None:
    """Never as a number, which may count anything."""
    with pytest.raises(ValidationError):
        Dated.model_validate_json(f'{{"at": {value}}}', strict=strict)
    with pytest.raises(ValidationError):
        Dated.model_validate_json(f'{{"day": {value}}}', strict=strict)
    with pytest.raises(ValidationError):
        Dated.model_validate_strings({"at": value.strip('"')}, strict=strict)


@pytest.mark.parametrize("strict", [True, False])
def test_times_are_read_as_they_are_written(strict: bool) -> None:
    dated = Dated(at=datetime(2026, 1, 1, 12, 30, 0, 5, UTC), day=date(2026, 1, 1))
    assert Dated.model_validate_json(dated.to_json(), strict=strict) == dated
    east = Dated.model_validate_json('{"at": "2026-01-01T14:30:00.000005+02:00"}', strict=strict)
    assert east.at == dated.at
