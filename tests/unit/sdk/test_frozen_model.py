"""Models are built on first use; that may be in several threads, and no build fails that late."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier

import lakeguard
import lakeguard_sdk
from lakeguard_sdk.core.frozen_model import FrozenModel

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
